//! Executions, one after the other, and somebody who watches the clock.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::memory;
use super::mutate::mutate;
use super::pool::Pool;
use super::target::{self, Target};
use crate::generator::rng::Rng;

/// An execution takes milliseconds; on a machine that has other things to do, too, it has this long.
const HANG: Duration = Duration::from_secs(90);
/// Time is counted in these: a process that was stopped for a while has neither fuzzed nor hung meanwhile.
const TICK: Duration = Duration::from_millis(50);
/// How much more memory an execution may need, kilobytes. Other tests of this process run concurrently.
const GROWTH_KB: u64 = 768 << 10;
/// Distinct findings after which the run stops.
const ENOUGH: usize = 40;

/// One execution.
struct Case {
    target: Target,
    input: Vec<u8>,
    rng: Rng,
}

/// What the number of an execution means.
fn case(pool: &Pool, seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    rng.bits();
    let target = rng.pick(&target::all());
    let of_any = |rng: &mut Rng| pool.any(rng.bits()).to_vec();
    let mut input = match target.kind() {
        Some(kind) if !rng.one_in(12) => pool.of(kind, rng.bits()).to_vec(),
        _ => of_any(&mut rng),
    };
    let other = match target.kind() {
        Some(kind) if !rng.one_in(3) => pool.of(kind, rng.bits()).to_vec(),
        _ => of_any(&mut rng),
    };
    // Short inputs are quick, and every byte of them matters.
    if input.len() > 3000 && !rng.one_in(4) {
        input.truncate(3000);
    }
    mutate(&mut rng, &mut input, &other);
    Case { target, input, rng }
}

/// Runs one; what is wrong with it.
pub(super) fn one(pool: &Pool, seed: u64) -> Option<String> {
    let here = tempfile::tempdir().unwrap();
    execute(case(pool, seed), here.path())
}

fn execute(case: Case, here: &Path) -> Option<String> {
    let Case { target, input, mut rng } = case;
    let done = catch_unwind(AssertUnwindSafe(|| target.run(&mut rng, input, here)));
    match done {
        Ok(Ok(())) => None,
        Ok(Err(why)) => Some(why),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Some(format!("a panic: {}", text.unwrap_or_default()))
        }
    }
}

/// What the worker is at, for who watches the clock.
struct State {
    seed: AtomicU64,
    ticks: AtomicU64,
    is_over: AtomicBool,
    findings: Mutex<Vec<String>>,
}

/// Runs from number `start` on for some time; what was found.
pub(super) fn many(pool: Pool, start: u64, time: Duration) -> Vec<String> {
    let state = Arc::new(State {
        seed: AtomicU64::new(start),
        ticks: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        findings: Mutex::default(),
    });
    eprintln!(
        "fuzzing from {start} for {time:?}: {} targets, {}",
        target::all().len(),
        pool.reported()
    );
    let pool = Arc::new(pool);
    let worker = std::thread::spawn({
        let (state, pool) = (Arc::clone(&state), Arc::clone(&pool));
        move || work(&state, &pool, start, ticks_in(time))
    });
    let (mut seen, mut since) = (start, 0);
    while !state.is_over.load(Ordering::Acquire) && !worker.is_finished() {
        std::thread::sleep(TICK);
        let ticks = state.ticks.fetch_add(1, Ordering::AcqRel) + 1;
        let now = state.seed.load(Ordering::Acquire);
        if now != seen {
            (seen, since) = (now, ticks);
        }
        if ticks - since > ticks_in(HANG) {
            let finding = finding_text(&pool, seen, &format!("no end within {HANG:?}"));
            return [state.findings.lock().unwrap().clone(), vec![finding]].concat();
        }
        if ticks.is_multiple_of(ticks_in(Duration::from_mins(1))) {
            eprintln!(
                "{} executions, {} findings",
                seen - start,
                state.findings.lock().unwrap().len()
            );
        }
    }
    worker.join().unwrap();
    state.findings.lock().unwrap().clone()
}

fn ticks_in(time: Duration) -> u64 {
    u64::try_from(time.as_millis() / TICK.as_millis()).unwrap()
}

fn work(state: &State, pool: &Pool, start: u64, ticks: u64) {
    let here = tempfile::tempdir().unwrap();
    let only = std::env::var("GRIDTALLY_FUZZ_ONLY").unwrap_or_default().to_lowercase();
    let mut known = BTreeSet::new();
    let mut seed = start;
    let mut n = 0;
    // At least one round however slow the machine is.
    while state.ticks.load(Ordering::Acquire) < ticks || seed - start < 200 {
        state.seed.store(seed, Ordering::Release);
        let case = case(pool, seed);
        let target = case.target;
        if !format!("{target:?}").to_lowercase().contains(&only) {
            seed += 1;
            continue;
        }
        n += 1;
        if super::is_alone() {
            std::fs::write(std::env::temp_dir().join("gridtally-fuzz-now"), seed.to_string()).unwrap();
        }
        memory::forget();
        let before = memory::peak_kb();
        let mut wrong = execute(case, here.path());
        let grown = memory::peak_kb()
            .unwrap_or(0)
            .saturating_sub(before.unwrap_or(u64::MAX));
        if wrong.is_none() && grown > GROWTH_KB {
            wrong = Some(format!("{grown} kB more memory"));
        }
        if let Some(wrong) = wrong {
            // The same thing found again has other numbers in its words.
            let words: String = wrong.chars().filter(|char| !char.is_ascii_digit()).take(60).collect();
            if known.insert(format!("{target:?}{words}")) {
                let finding = finding_text(pool, seed, &wrong);
                let mut findings = state.findings.lock().unwrap();
                findings.push(finding);
                if findings.len() >= ENOUGH {
                    break;
                }
            }
        }
        seed += 1;
    }
    let seconds = (TICK * u32::try_from(state.ticks.load(Ordering::Acquire)).unwrap())
        .as_secs()
        .max(1);
    eprintln!("{n} executions in {seconds} s, {} a second", n / seconds);
    state.is_over.store(true, Ordering::Release);
}

/// Writes the input of an execution to a file and returns a text that names it.
fn finding_text(pool: &Pool, seed: u64, wrong: &str) -> String {
    let case = case(pool, seed);
    let path: PathBuf = std::env::temp_dir().join(format!("gridtally-fuzz-{seed}"));
    std::fs::write(&path, &case.input).unwrap();
    let wrong: String = wrong.chars().take(600).collect();
    let reported = format!(
        "execution {seed} ({:?}): {wrong}; its input is in {}",
        case.target,
        path.display()
    );
    eprintln!("FOUND {reported}");
    reported
}
