//! Whole runs of the program: files made from the grammar of every dialect, damaged, read into a lake twice.
//!
//! `GRIDTALLY_FUZZ_RUN_SECONDS=3600` runs for an hour, `GRIDTALLY_FUZZ_START=n` from another number,
//! `GRIDTALLY_FUZZ_RUN_SEED=n` one number alone, whose folder is kept, and `GRIDTALLY_FUZZ_PROGRAM=path` another build of the
//! program. Every run must end within a time limit and a memory limit, with a code of the manual that is not a
//! mistake of ours, and a lake that was published is sound.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::dialects::DIALECTS;
use super::hand::{self, FILES, File, Hand};
use super::listings::LISTINGS;
use super::mutate::mutate;
use super::{SECONDS, number};
use crate::generator::rng::Rng;

/// A run takes a fraction of a second; on a machine that has other things to do, too, it has this long.
const HANG: Duration = Duration::from_mins(10);
/// Seconds of the processor a run may take.
const PROCESSOR_S: u64 = 90;
/// Kilobytes of addresses a run may take.
const ADDRESS_KB: u64 = 6 << 20;
/// What is asked of a lake after a night.
const READERS: &[&str] = &[
    "report apel lake --message summary-v0.2 --out spool --layout spool --receiver r --leave-out",
    "report apel lake --message job-v0.4 --leave-out --out apel",
    "report egi lake",
    "report wlcg lake",
    "report osg lake",
    "report gracc lake",
    "report overhead lake",
    "report sreport lake",
    "report completeness lake",
    "report site lake --out pages --site A",
    "replay lake --export mended",
    "rejects lake",
    "summaries lake",
    "sql lake",
    "inspect *-1 *-2",
    "check p.toml",
    "policy weights lake",
    "policy billing lake",
    "policy price policy.toml --lake lake",
];

/// Writes the files of an execution; which formats.
fn write(rng: &mut Rng, folder: &Path, night: i64) -> Vec<&'static str> {
    let mut formats = Vec::new();
    for (format, header, line) in DIALECTS {
        if !rng.one_in(3) {
            continue;
        }
        formats.push(*format);
        let first = if rng.one_in(2) { night * 100 } else { 0 };
        let lines: String = (0..rng.between(1, 40)).map(|id| line(rng, first + id)).collect();
        let mut bytes = format!("{header}{lines}").into_bytes();
        if !rng.one_in(3) {
            let other = line(rng, 1).into_bytes();
            mutate(rng, &mut bytes, &other);
        }
        fs::write(folder.join(format!("{format}-{night}")), bytes).unwrap();
    }
    formats
}

/// Writes the files of an execution that people or the tools of the machine write; in one of six, one or two are damaged.
fn write_by_hand(rng: &mut Rng, folder: &Path, formats: &[&str]) {
    let mut listings = Vec::new();
    let mut texts: Vec<(String, File)> = FILES.iter().map(|(name, file)| ((*name).to_owned(), *file)).collect();
    for nth in 0..rng.between(0, 4).max(1) - 1 {
        let (format, listing) = rng.pick(LISTINGS);
        listings.push((format, format!("listing-{nth}")));
        texts.push((format!("listing-{nth}"), listing));
    }
    let may_err = rng.one_in(6);
    let mut files = vec![("key".to_owned(), "c".repeat(64))];
    for (name, file) in texts {
        let errs = may_err && rng.one_in(4);
        files.push((name, file(&mut Hand::new(rng, errs))));
    }
    let errs = may_err && rng.one_in(4);
    let pipeline = hand::pipeline(&mut Hand::new(rng, errs), formats, &listings);
    files.push(("p.toml".to_owned(), pipeline));
    for (name, text) in files {
        let mut bytes = text.into_bytes();
        // The listings are correct, but cut off and mixed up.
        let is_hurt = may_err && rng.one_in(6) || name.starts_with("listing") && rng.one_in(3);
        if is_hurt {
            let other = bytes.clone();
            mutate(rng, &mut bytes, &other);
        }
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Runs the program in a folder; its code, and its output.
fn program(folder: &Path, words: &str) -> (Option<i32>, String) {
    let program = std::env::var("GRIDTALLY_FUZZ_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_gridtally").to_owned());
    let stated = folder.join("stated");
    let mut child = Command::new("sh")
        .args([
            "-c",
            &format!("ulimit -v {ADDRESS_KB}; ulimit -t {PROCESSOR_S}; exec \"$0\" {words}"),
            &program,
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&stated).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if begun.elapsed() > HANG {
            child.kill().unwrap();
            child.wait().unwrap();
            break Some(-1);
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (code, String::from_utf8_lossy(&fs::read(&stated).unwrap()).into_owned())
}

/// One execution: two nights, the second with more files. What is wrong with it, and how the nights ended.
fn execute(seed: u64, folder: &Path) -> (Option<String>, Vec<i32>) {
    let mut rng = Rng::new(seed);
    rng.bits();
    let rng = &mut rng;
    let mut formats = write(rng, folder, 1);
    if formats.is_empty() {
        let (format, header, line) = DIALECTS[0];
        fs::write(folder.join(format!("{format}-1")), format!("{header}{}", line(rng, 1))).unwrap();
        formats.push(format);
    }
    write_by_hand(rng, folder, &formats);
    let mut codes = Vec::new();
    for night in 1..=2 {
        if night == 2 {
            write(rng, folder, night);
        }
        let (code, stated) = program(folder, "run p.toml --threads 2");
        codes.push(code.unwrap_or(-2));
        if !matches!(code, Some(0 | 64 | 65 | 66 | 78)) {
            return (Some(format!("night {night} ended with {code:?}: {stated}")), codes);
        }
        if code == Some(0) && folder.join("lake").is_dir() {
            let (code, stated) = program(folder, "verify lake");
            if code != Some(0) {
                return (
                    Some(format!("night {night}, verify ended with {code:?}: {stated}")),
                    codes,
                );
            }
            let words = rng.pick(READERS);
            let (code, stated) = program(folder, words);
            // With 2 where the lake does not contain the request.
            if !matches!(code, Some(0 | 2 | 65 | 66 | 78)) {
                let wrong = format!("night {night}, {words} ended with {code:?}: {stated}");
                return (Some(wrong), codes);
            }
        }
    }
    (None, codes)
}

/// Where the suite begins. Execution 1 makes a lake of many days for one job, which takes a minute to verify: it is for the
/// long runs.
const START: u64 = 2;

#[test]
fn fuzz_whole_runs() {
    if let Some(seed) = number("GRIDTALLY_FUZZ_RUN_SEED") {
        let folder = tempfile::tempdir().unwrap().keep();
        eprintln!("execution {seed} in {}", folder.display());
        assert_eq!(execute(seed, &folder).0, None);
        return;
    }
    let time = Duration::from_secs(number("GRIDTALLY_FUZZ_RUN_SECONDS").unwrap_or(SECONDS));
    let start = number("GRIDTALLY_FUZZ_START").unwrap_or(START);
    let begun = Instant::now();
    let (mut findings, mut codes) = (BTreeMap::new(), BTreeMap::<i32, u64>::new());
    let mut seed = start;
    // At least a few however slow the machine is.
    while begun.elapsed() < time || seed - start < 3 {
        let folder = tempfile::tempdir().unwrap();
        let (wrong, ended) = execute(seed, folder.path());
        for code in ended {
            *codes.entry(code).or_default() += 1;
        }
        if let Some(wrong) = wrong {
            // The same thing found again has other numbers in its words.
            let words: String = wrong.chars().filter(|char| !char.is_ascii_digit()).take(160).collect();
            let (n, _) = findings.entry(words).or_insert_with(|| {
                eprintln!("FOUND execution {seed}: {wrong}");
                (0_u64, format!("execution {seed}: {wrong}"))
            });
            *n += 1;
        }
        seed += 1;
        if seed.is_multiple_of(500) {
            eprintln!(
                "{} executions, {} findings, codes {codes:?}",
                seed - start,
                findings.len()
            );
        }
    }
    eprintln!("{} executions in {:?}, codes {codes:?}", seed - start, begun.elapsed());
    let nights: u64 = codes.values().sum();
    let refused: u64 = [64, 66, 78].iter().filter_map(|code| codes.get(code)).sum();
    assert!(nights < 100 || refused * 5 < nights, "most nights read: {codes:?}");
    let reported: Vec<String> = findings
        .values()
        .map(|(n, reported)| format!("{n} times, first {reported}"))
        .collect();
    assert!(reported.is_empty(), "{}", reported.join("\n"));
}
