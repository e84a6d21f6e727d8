//! The program as people and schedulers meet it.

use std::fs;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn gridtally(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A dump of one job.
const JOBS: &str = "\
JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU
7|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00
";

const SUBCOMMANDS: &[&str] = &[
    "run",
    "check",
    "inspect",
    "schema",
    "sql",
    "policy",
    "verify",
    "completions",
    "man",
];

#[test]
fn help_teaches_every_subcommand_with_an_example() {
    let here = tempfile::tempdir().unwrap();
    let help = gridtally(&["--help"], here.path());
    assert_eq!(help.status.code(), Some(0));
    assert_eq!(stdout(&gridtally(&["help"], here.path())), stdout(&help));
    for (kind, meaning) in gridtally::error::Kind::ALL {
        assert!(stdout(&help).contains(&kind.exit_code().to_string()), "{meaning}");
    }
    for subcommand in SUBCOMMANDS {
        let help = gridtally(&["help", subcommand], here.path());
        assert_eq!(help.status.code(), Some(0));
        assert!(stdout(&help).contains("Example"), "{subcommand}");
        assert!(
            stdout(&help).contains(&format!("gridtally {subcommand}")),
            "{subcommand}"
        );
        let page = gridtally(&["man", subcommand], here.path());
        assert!(stdout(&page).contains(".SH NAME"), "{subcommand}");
    }
}

#[test]
fn the_pipeline_file_in_the_help_of_check_can_be_copied() {
    let here = tempfile::tempdir().unwrap();
    let help = stdout(&gridtally(&["help", "check"], here.path()));
    let (_, rest) = help.split_once("A pipeline file:\n").unwrap();
    let (example, _) = rest.split_once("\nColumns of a VO table").unwrap();
    let table: toml::Table = toml::from_str(example).unwrap_or_else(|why| panic!("{why}\n{example}"));
    for key in [
        "pipeline",
        "source",
        "inventory",
        "overhead",
        "normalise",
        "charge",
        "capacity",
        "privacy",
    ] {
        assert!(table.contains_key(key), "{key}");
    }
}

#[test]
fn the_manual_and_the_completions_are_data_on_stdout() {
    let here = tempfile::tempdir().unwrap();
    let man = stdout(&gridtally(&["man"], here.path()));
    assert!(man.contains(".TH gridtally") && man.contains("Exit codes:"), "{man}");
    for subcommand in SUBCOMMANDS {
        assert!(man.contains(&format!("gridtally\\-{subcommand}")), "{subcommand}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = gridtally(&["completions", shell], here.path());
        assert!(
            script.status.success() && stdout(&script).contains("inspect"),
            "{shell}"
        );
    }
    assert!(stdout(&gridtally(&["--version"], here.path())).starts_with("gridtally "));
}

#[test]
fn a_wrong_command_line_is_exit_2_with_words_on_stderr() {
    let here = tempfile::tempdir().unwrap();
    let wrong: &[&[&str]] = &[
        &[],
        &["rum"],
        &["run"],
        &["run", "x.toml", "--from", "2026-13"],
        &["run", "x.toml", "--from", "2026-03", "--to", "2026-02"],
        &["run", "x.toml", "--threads", "0"],
        &["inspect"],
        &["man", "nothing"],
    ];
    for args in wrong {
        let output = gridtally(args, here.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn inspect_continues_where_a_folder_cannot_be_looked_into() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("in");
    fs::create_dir_all(folder.join("b")).unwrap();
    fs::write(folder.join("a.txt"), JOBS).unwrap();
    fs::write(folder.join("b/c.txt"), JOBS).unwrap();
    // One link that leads to itself, and one to a folder that contains it, which is not read twice.
    std::os::unix::fs::symlink("around", folder.join("around")).unwrap();
    std::os::unix::fs::symlink("..", folder.join("b/up")).unwrap();
    for words in [&["in"][..], &["in", "in/a.txt"]] {
        let output = gridtally(&[&["inspect"], words].concat(), here.path());
        assert_eq!(output.status.code(), Some(74), "{}", stderr(&output));
        let reported = stderr(&output);
        assert!(
            reported.contains("in/around cannot be read: Too many levels of symbolic links"),
            "{reported}"
        );
        assert_eq!(reported.lines().count(), 1, "{reported}");
        let shown = stdout(&output);
        let count = |path: &str| shown.lines().filter(|line| line.starts_with(path)).count();
        assert_eq!((count("in/a.txt"), count("in/b/c.txt")), (words.len(), 1), "{shown}");
    }
}

/// Names on a disk are bytes: a file of any name can be looked into, and a command that needs text reports it.
#[cfg(unix)]
#[test]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let here = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(here.path().join(odd), JOBS).unwrap();
    let run = |word: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.arg(word).arg(odd).current_dir(here.path()).output().unwrap()
    };
    let output = run("inspect");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("caf\\xe9.txt"), "{}", stdout(&output));
    let output = run("verify");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("the argument caf\\xe9.txt is not UTF-8"),
        "{}",
        stderr(&output)
    );
}

/// A device named by mistake must not keep the machine busy until it has no memory left.
#[cfg(unix)]
#[test]
fn files_that_never_end_are_refused() {
    let here = tempfile::tempdir().unwrap();
    for args in [
        &["check", "/dev/zero"][..],
        &["run", "/dev/zero"],
        &["policy", "test", "/dev/zero"],
    ] {
        let output = gridtally(args, here.path());
        assert_eq!(output.status.code(), Some(78), "{args:?} {}", stderr(&output));
        let message = "it is larger than 64 MiB, the most such a file may have";
        assert!(stderr(&output).contains(message), "{args:?} {}", stderr(&output));
    }
    let pipeline = |path: &str, vo: &str| {
        let text = format!(
            "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"a\"\nformat = \"sacct\"\npaths = [\"{path}\"]\n\
             site = \"A\"\ntimezone = \"UTC\"\nvo = {{ {vo} }}\n"
        );
        fs::write(here.path().join("p.toml"), text).unwrap();
    };
    pipeline("jobs.txt", "table = \"/dev/zero\"");
    let output = gridtally(&["check", "p.toml"], here.path());
    assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("/dev/zero: cannot be read: it is larger than 256 MiB"),
        "{}",
        stderr(&output)
    );

    fs::create_dir(here.path().join("in")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(here.path().join("in/socket")).unwrap();
    for path in ["/dev/zero", "in/socket"] {
        pipeline(path, "value = \"v\"");
        for command in [&["check", "p.toml"][..], &["run", "p.toml"], &["inspect", path]] {
            let output = gridtally(command, here.path());
            assert_eq!(output.status.code(), Some(66), "{command:?} {}", stderr(&output));
            assert!(
                stderr(&output).contains(&format!("{path} is not a regular file")),
                "{command:?} {}",
                stderr(&output)
            );
        }
    }
    // Among others it is passed over, as other things are that are no dumps.
    fs::write(here.path().join("in/jobs.txt"), JOBS).unwrap();
    pipeline("in", "value = \"v\"");
    let output = gridtally(&["check", "p.toml"], here.path());
    assert!(
        stdout(&output).contains("source a: sacct, 1 file"),
        "{}",
        stderr(&output)
    );
}

/// What another program prints can be looked at on its way.
#[cfg(unix)]
#[test]
fn inspect_reads_a_pipe_that_is_open() {
    let here = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(["inspect", "/dev/stdin"]).current_dir(here.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(JOBS.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output).contains("rows         1 (1 jobs, 0 steps)"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_lake_that_lost_a_file_is_damaged() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("jobs.txt"), JOBS).unwrap();
    let pipeline = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"a\"\nformat = \"sacct\"\n\
                    paths = [\"jobs.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n";
    fs::write(here.path().join("oak.toml"), pipeline).unwrap();
    assert_eq!(gridtally(&["run", "oak.toml"], here.path()).status.code(), Some(0));
    fs::remove_file(here.path().join("lake/inputs/inputs.parquet")).unwrap();
    let output = gridtally(&["run", "oak.toml"], here.path());
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    let message = "a file the manifest names is gone: the lake is damaged (path inputs/inputs.parquet)";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
}

#[test]
fn check_states_good_wrong_or_without_input() {
    let here = tempfile::tempdir().unwrap();
    let good = "[pipeline]\nname = \"zoo\"\noutput = \"out\"\n\
                [[source]]\nname = \"a\"\nformat = \"gracc\"\npaths = [\"in/*.json\"]\n";
    fs::write(here.path().join("zoo.toml"), good).unwrap();

    let output = gridtally(&["check", "zoo.toml"], here.path());
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(
        stderr(&output),
        "gridtally: zoo.toml:7: source a: in/*.json matches no file\n"
    );

    fs::create_dir(here.path().join("in")).unwrap();
    fs::write(here.path().join("in/1.json"), "{}\n").unwrap();
    let output = gridtally(&["check", "zoo.toml"], here.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("source a: gracc, 1 file, 3 bytes"),
        "{}",
        stdout(&output)
    );
    assert!(!here.path().join("out").exists());

    fs::write(
        here.path().join("bad.toml"),
        format!("{good}tmezone = \"UTC\"\nsite = 3\n"),
    )
    .unwrap();
    let output = gridtally(&["check", "bad.toml"], here.path());
    assert_eq!(output.status.code(), Some(78));
    assert!(output.stdout.is_empty());
    let lines = stderr(&output);
    assert!(
        lines.contains("bad.toml:8: unknown key \"tmezone\" in [[source]], did you mean \"timezone\"?"),
        "{lines}"
    );
    assert!(
        lines.contains("bad.toml:9: site must be a text in quotes, not an integer"),
        "{lines}"
    );

    // A job's usage in two places, a log that is not there, and the lake among its own inputs.
    let source = |name: &str, keys: &str| {
        format!("[[source]]\nname = \"{name}\"\nformat = \"pbs\"\nsite = \"{name}\"\ntimezone = \"UTC\"\n{keys}\n")
    };
    let head = "[pipeline]\nname = \"zoo\"\noutput = \"out\"\n";
    let twice = [source("a", "paths = [\"in\"]"), source("b", "paths = [\"in/../in/*\"]")].concat();
    let output = head.replace("\"out\"", "\"./in/../out\"");
    fs::write(here.path().join("twice.toml"), format!("{output}{twice}")).unwrap();
    let output = gridtally(&["check", "twice.toml"], here.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let warning =
        "sources a and b read 1 of the same files, such as in/1.json: if their sites differ, its jobs count twice";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    let place = format!("publishes to {}\n", here.path().join("out").display());
    assert!(stdout(&output).contains(&place), "{}", stdout(&output));
    let stopped = |pipeline: &str, code: i32, words: &str| {
        for command in ["check", "run"] {
            let output = gridtally(&[command, pipeline], here.path());
            assert_eq!(output.status.code(), Some(code), "{command}: {}", stderr(&output));
            assert!(stderr(&output).contains(words), "{}", stderr(&output));
        }
    };
    let logs = source("a", "paths = [\"in\"]\nblah = [\"blahp-*\"]");
    fs::write(here.path().join("logs.toml"), format!("{head}{logs}")).unwrap();
    stopped("logs.toml", 66, "source a: blahp-* matches no file");
    let inside = format!(
        "{}{}",
        head.replace("\"out\"", "\"./in/../in\""),
        source("a", "paths = [\"in/*\"]")
    );
    fs::write(here.path().join("inside.toml"), inside).unwrap();
    stopped("inside.toml", 78, "source a: the input is in the output");

    let output = gridtally(&["check", "none.toml"], here.path());
    assert_eq!(output.status.code(), Some(78));
}

#[test]
fn inspect_reports_unknown_files_and_continues_after_missing_ones() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("odd.bin"), b"\x00\x01odd").unwrap();
    let output = gridtally(&["inspect", "none", "odd.bin", "--format", "json"], here.path());
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("none cannot be read"));
    let reports: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let report = reports.get(0).unwrap();
    assert_eq!(report.get("path").unwrap(), "odd.bin");
    assert!(report.get("dialect").unwrap().is_null());
    assert_eq!(report.get("first_bytes").unwrap(), "\\x00\\x01odd");

    fs::create_dir_all(here.path().join("d/e")).unwrap();
    fs::write(here.path().join("d/e/f"), b"x").unwrap();
    let output = gridtally(&["inspect", "odd.bin", "d"], here.path());
    assert!(output.status.success());
    assert!(stdout(&output).contains("\n\nd/e/f\n"), "{}", stdout(&output));

    fs::write(here.path().join("empty"), b"").unwrap();
    let empty = stdout(&gridtally(&["inspect", "empty"], here.path()));
    assert!(
        empty.contains("the file is empty") && !empty.contains("begins with"),
        "{empty}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let here = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["completions", "zsh"])
        .current_dir(here.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!((child.wait().unwrap().code(), words.as_str()), (Some(0), ""));
}

#[test]
fn a_cause_that_was_already_reported_is_not_reported_again() {
    let inner = std::io::Error::other("disk on fire");
    let outer = gridtally::error::Error::io("cannot write").because(gridtally::error::Error::from(inner));
    assert_eq!(
        outer.to_string(),
        "cannot write: reading or writing failed: disk on fire"
    );
}
