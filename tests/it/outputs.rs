//! What other programs open: spreadsheets, terminals, logs; and what nobody else may read.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::promises::scene::keep_private;

const HEAD: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n";

/// Names that a spreadsheet would compute or a terminal obey, and numbers.
const NAMES: [&str; 6] = ["=1+cmd", "+sum", "-5", "-5x", "@now", "red\u{1b}[31m\u{85}\u{202e}ward"];

fn job(id: usize, account: &str) -> String {
    format!(
        "{id}|oak|wendeline|{account}|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|\
         cpu=1,node=1|00:10:00\n"
    )
}

fn gridtally(args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(args).current_dir(folder).output().unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn pipeline(more: &str) -> String {
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 1.0\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
         site = \"OAK\"\ntimezone = \"UTC\"\nvo = {{ column = \"account\" }}\npaths = [\"jobs*.txt\"]\n{more}"
    )
}

fn scene(more: &str) -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    let jobs: String = NAMES.iter().enumerate().map(|(nth, name)| job(nth + 1, name)).collect();
    let bad = "9|oak|wendeline|a|COMPLETED|yesterday|2026-10-30T00:00:00|x|3600|1|cpu=1,node=1|00:10:00\n";
    fs::write(here.path().join("jobs.txt"), format!("{HEAD}{jobs}{bad}")).unwrap();
    fs::write(here.path().join("oak.toml"), pipeline(more)).unwrap();
    here
}

fn run(here: &Path) {
    let output = gridtally(&["run", "oak.toml"], here);
    assert!(output.status.success(), "{}", words(&output));
}

#[test]
fn no_cell_of_csv_is_computed_and_no_character_is_obeyed() {
    let here = scene("");
    run(here.path());
    let csv = |args: &[&str]| {
        let output = gridtally(
            &[&["report", "egi", "lake", "--format", "csv"], args].concat(),
            here.path(),
        );
        assert!(output.status.success(), "{}", words(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let vos = |csv: &str| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let at = reader.headers().unwrap().iter().position(|name| name == "vo").unwrap();
        let mut vos: Vec<String> = reader.records().map(|row| row.unwrap()[at].to_owned()).collect();
        vos.sort();
        vos
    };
    let text = csv(&[]);
    let red = "red\u{fffd}[31m\u{fffd}\u{fffd}ward";
    assert_eq!(vos(&text), ["'+sum", "'-5x", "'=1+cmd", "'@now", "-5", red]);
    let left = csv(&["--leave-formulas"]);
    assert_eq!(vos(&left), ["+sum", "-5", "-5x", "=1+cmd", "@now", red]);
    for format in ["table", "csv", "html", "markdown"] {
        let output = gridtally(&["report", "egi", "lake", "--format", format], here.path());
        let text = words(&output);
        assert!(text.contains("[31m"), "{format}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{85}', '\u{202e}']), "{format}: {text:?}");
    }
    // A name in the messages of a run, and one of a missing file.
    let odd = "odd\u{1b}[2J\u{9b}31m.toml";
    let output = gridtally(&["run", odd], here.path());
    assert!(
        words(&output).contains("[2J") && !words(&output).contains(['\u{1b}', '\u{9b}']),
        "{:?}",
        words(&output)
    );
}

#[cfg(unix)]
#[test]
fn what_replay_writes_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let here = scene("");
    run(here.path());
    let output = gridtally(&["replay", "lake", "--export", "todo"], here.path());
    assert!(output.status.success(), "{}", words(&output));
    let folder = here.path().join("todo/source=oak");
    let files: Vec<_> = fs::read_dir(&folder)
        .or_else(|_| fs::read_dir(here.path().join("todo/oak")))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(fs::read_to_string(&files[0]).unwrap().contains("wendeline"));
    let mode = fs::metadata(&files[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    assert!(!here.path().join("todo/.gridtally").exists());
}

const PRIVACY: &str = "[privacy]\nuser = \"pseudonym\"\nrotate = \"year\"\nkey = { file = \"key\" }\n";

#[cfg(unix)]
#[test]
fn a_key_that_everybody_may_read_is_refused_unless_that_is_meant() {
    use std::os::unix::fs::PermissionsExt as _;
    let here = scene(PRIVACY);
    let key = here.path().join("key");
    fs::write(&key, "a key that is long enough to be one").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let output = gridtally(&["run", "oak.toml"], here.path());
    assert_eq!(output.status.code(), Some(78), "{}", words(&output));
    assert!(
        words(&output).contains("oak.toml:") && words(&output).contains("chmod o-rwx"),
        "{}",
        words(&output)
    );
    let meant = PRIVACY.replace("\"key\" }", "\"key\", readable_by = \"all\" }");
    fs::write(here.path().join("oak.toml"), pipeline(&meant)).unwrap();
    run(here.path());

    let report = |more: &[&str]| {
        let args = [
            "report",
            "apel",
            "lake",
            "--message",
            "job-v0.3",
            "--leave-out",
            "--users",
            "pseudonym",
            "--key-file",
            "key",
        ];
        gridtally(&[&args, more].concat(), here.path())
    };
    assert!(words(&report(&[])).contains("chmod o-rwx"), "{}", words(&report(&[])));
    let output = report(&["--key-readable-by-all"]);
    assert!(!words(&output).contains("chmod"), "{}", words(&output));
}

#[test]
fn another_key_than_that_of_the_lake_stops_the_run() {
    let here = scene(PRIVACY);
    let key = here.path().join("key");
    let write = |text: &str| {
        fs::write(&key, text).unwrap();
        keep_private(&key);
    };
    write("the key of the first year, well kept");
    run(here.path());
    let manifest = || fs::read_to_string(here.path().join("lake/manifest.json")).unwrap();
    let before = manifest();
    assert!(!before.contains("well kept"));
    // More to read: a run that looked at nothing would change nothing either.
    fs::write(here.path().join("jobs-late.txt"), format!("{HEAD}{}", job(77, "snow"))).unwrap();
    write("a key that somebody rebuilt by mistake");
    let output = gridtally(&["run", "oak.toml"], here.path());
    let reported = words(&output);
    assert_eq!(output.status.code(), Some(78), "{reported}");
    assert!(
        reported.contains("the privacy key is another one") && reported.contains("oak.toml"),
        "{reported}"
    );
    assert_eq!(manifest(), before);
    let (_, rest) = reported.split_once("replaces = \"").unwrap();
    let former = rest.split('"').next().unwrap();
    let meant = PRIVACY.replace("\"key\" }", &format!("\"key\", replaces = \"{former}\" }}"));
    fs::write(here.path().join("oak.toml"), pipeline(&meant)).unwrap();
    run(here.path());
    assert_ne!(manifest(), before);
    run(here.path());
}

#[test]
fn a_password_in_a_url_is_refused_and_printed_nowhere() {
    let here = scene("");
    let secret = "hunter2";
    for (output, input) in [
        ("s3://user:hunter2@bucket/lake", "jobs.txt"),
        ("lake", "https://user:hunter2@host.example/jobs.txt"),
        ("lake", "https://hunter2@host.example/jobs.txt"),
        ("az://user:hunter2@account/lake", "s3://user:hunter2@bucket/*"),
    ] {
        let text = pipeline("")
            .replace("\"lake\"", &format!("\"{output}\""))
            .replace("jobs*.txt", input);
        fs::write(here.path().join("oak.toml"), text).unwrap();
        for args in [&["run", "oak.toml", "--report", "json"][..], &["check", "oak.toml"]] {
            let ended = gridtally(args, here.path());
            assert_eq!(
                ended.status.code(),
                Some(78),
                "{args:?} {output} {input}: {}",
                words(&ended)
            );
            assert!(words(&ended).contains("must hold no password"), "{}", words(&ended));
            assert!(
                !words(&ended).contains(secret),
                "{args:?} {output} {input}: {}",
                words(&ended)
            );
        }
    }
    fs::write(here.path().join("oak.toml"), pipeline("")).unwrap();
    let url = "https://user:hunter2@host.example/lake";
    let signed = "https://host.example/jobs.txt?sig=hunter2";
    for args in [
        &["run", "oak.toml", "--out", url, "--report", "json"][..],
        &["verify", url],
        &["sql", url],
        &["report", "egi", url],
        &["explain", url, "7"],
        &["rejects", url],
        &["replay", url, "--export", "todo"],
        &["replay", "lake", "--export", url],
        &["reconcile", url, url],
        &["publication", "list", url],
        &["inspect", url],
        &["run", signed],
    ] {
        let ended = gridtally(args, here.path());
        assert!(!ended.status.success(), "{args:?}");
        assert!(!words(&ended).contains(secret), "{args:?}: {}", words(&ended));
    }
    let text = pipeline("").replace("jobs*.txt", signed);
    fs::write(here.path().join("oak.toml"), text).unwrap();
    let ended = gridtally(&["run", "oak.toml"], here.path());
    assert!(
        !ended.status.success() && !words(&ended).contains(secret),
        "{}",
        words(&ended)
    );
}

#[test]
fn a_query_or_a_fragment_of_an_output_is_refused_and_not_cut_off() {
    let here = scene("");
    let here = here.path();
    for url in ["s3://bucket/lake#2025", "s3://bucket/lake?2025", "memory://lake#2025"] {
        let text = pipeline("").replace("\"lake\"", &format!("\"{url}\""));
        fs::write(here.join("named.toml"), text).unwrap();
        for args in [
            &["run", "oak.toml", "--out", url][..],
            &["run", "named.toml"],
            &["check", "named.toml"],
            &["status", url],
            &["verify", url],
            &["plan", "oak.toml", "--shards", "2", "--shard-folder", url],
        ] {
            let ended = gridtally(args, here);
            assert_eq!(ended.status.code(), Some(78), "{args:?}: {}", words(&ended));
            assert!(
                words(&ended).contains(url) && words(&ended).contains("%23"),
                "{args:?}: {}",
                words(&ended)
            );
        }
    }
}
