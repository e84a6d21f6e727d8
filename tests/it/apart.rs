//! Inputs and output must not overlap, and an overlap is reported before anything is written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const JOBS: &str = "\
JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU
7|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00
";

fn run(here: &Path, input: &str, output: &str) -> Output {
    let pipeline = format!(
        "[pipeline]\nname = \"oak\"\noutput = \"{output}\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
         site = \"OAK\"\ntimezone = \"UTC\"\npaths = [\"{input}\"]\n"
    );
    fs::write(here.join("oak.toml"), pipeline).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(["run", "oak.toml"]).current_dir(here).output().unwrap()
}

#[test]
fn an_output_in_an_input_folder_is_refused_on_the_first_run() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    fs::create_dir_all(here.join("in/deep")).unwrap();
    fs::write(here.join("in/jobs.txt"), JOBS).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(here.join("in"), here.join("linked")).unwrap();
    let refused = [
        ("in", "in/lake", "the output is in the input"),
        ("in", "in", "the output is in the input"),
        ("in/*", "in/deep/lake", "the output is in the input"),
        ("in/**", "in/lake", "the output is in the input"),
        ("linked", "in/lake", "the output is in the input"),
        ("in", "linked/lake", "the output is in the input"),
        ("in/jobs.txt", ".", "the input is in the output"),
        ("s3://bucket/in", "s3://bucket/in/lake", "the output is in the input"),
        ("s3://bucket/in/*", "s3://bucket/in/lake/", "the output is in the input"),
        ("s3://bucket/lake/in", "s3://bucket/lake", "the input is in the output"),
    ];
    for (input, output, why) in refused {
        let ended = run(here, input, output);
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(78), "{input} {output}: {words}");
        assert!(
            words.contains(why) && words.contains("source oak"),
            "{input} {output}: {words}"
        );
        assert!(
            !here.join("in/lake").exists() && !here.join("in/deep/lake").exists(),
            "{input} {output}"
        );
    }
    for (input, output) in [
        ("in/*.txt", "in/lake"),
        ("in", "in/.lake"),
        ("in", "inner"),
        ("in", "out"),
    ] {
        let ended = run(here, input, output);
        fs::remove_dir_all(here.join(output)).unwrap();
        assert!(
            ended.status.success(),
            "{input} {output}: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}

#[test]
fn a_new_lake_in_a_folder_of_another_is_refused() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    fs::write(here.join("jobs.txt"), JOBS).unwrap();
    fs::write(here.join("manifest.json"), "{}").unwrap();
    let reported = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let made = run(here, "jobs.txt", "lake");
    assert!(
        made.status.success(),
        "a manifest of another program makes no lake: {}",
        reported(&made)
    );
    for inner in ["lake/usage", "lake/usage/deep/lake", "lake/new"] {
        let existed = here.join(inner).exists();
        let refused = run(here, "jobs.txt", inner);
        assert_eq!(refused.status.code(), Some(78), "{inner}: {}", reported(&refused));
        let words = reported(&refused);
        assert!(
            words.contains("another lake") && words.contains(inner),
            "{inner}: {words}"
        );
        assert_eq!(here.join(inner).exists(), existed, "{inner}");
    }
    let mut verify = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    let verified = verify.args(["verify", "lake"]).current_dir(here).output().unwrap();
    assert!(verified.status.success(), "{}", reported(&verified));
    assert!(run(here, "jobs.txt", "lake").status.success(), "the lake itself");
}
