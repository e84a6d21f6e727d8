//! The container file: by its linter, by the files that it copies, and by a build where a builder is there.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::htcondor::tools;
use super::site::{Site, deployed, words_of};
use super::skipped;
use crate::support::sample::repository;

const FILE: &str = "container/Containerfile";

#[test]
fn the_linter_accepts_the_container_file() {
    let programs = match tools() {
        Ok(programs) => programs,
        Err(why) => return skipped("the_linter_accepts_the_container_file", &why),
    };
    let site = Site::new();
    let lint = |text: &str| -> Output {
        let file = site.path("Containerfile");
        fs::write(&file, text).unwrap();
        Command::new(programs.join("hadolint")).arg(file).output().unwrap()
    };
    let text = deployed(FILE);
    let accepted = lint(&text);
    assert!(
        accepted.status.success() && accepted.stdout.is_empty(),
        "{}",
        words_of(&accepted)
    );
    for (written, wrong) in [
        ("USER 65532:65532", "USER root"),
        ("COPY Cargo.toml", "COPPY Cargo.toml"),
    ] {
        assert!(text.contains(written));
        assert!(!lint(&text.replace(written, wrong)).status.success(), "{wrong}");
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            copy(&path, &to.join(path.file_name().unwrap()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Cargo reads the package from what the build stage copies, and the sources include no file that is not copied.
#[test]
fn the_build_stage_has_what_cargo_needs() {
    let text = deployed(FILE);
    let (stage, _) = text.split_once("RUN cargo build").unwrap();
    let tree = tempfile::tempdir().unwrap();
    let mut copied = Vec::new();
    for line in stage.lines().filter_map(|line| line.strip_prefix("COPY ")) {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.pop();
        copied.extend(words);
    }
    for name in &copied {
        copy(&repository(name), &tree.path().join(name));
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "metadata",
        "--offline",
        "--locked",
        "--format-version",
        "1",
        "--no-deps",
    ]);
    let read = cargo.current_dir(tree.path()).stdout(Stdio::null()).output().unwrap();
    assert!(read.status.success(), "{}", words_of(&read));
    included(&repository("src"), &copied);
    let manifest = fs::read_to_string(repository("Cargo.toml")).unwrap();
    assert!(!manifest.contains("build = "), "a build script may need more");
}

fn included(folder: &Path, copied: &[&str]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            included(&path, copied);
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (_, rest) in text
            .match_indices("include_str!(\"")
            .map(|(at, head)| text.split_at(at + head.len()))
        {
            let file = path.parent().unwrap().join(rest.split('"').next().unwrap());
            let file = file.canonicalize().unwrap();
            let inside = file.strip_prefix(repository("").canonicalize().unwrap()).unwrap();
            assert!(
                copied.iter().any(|name| inside.starts_with(name)),
                "{} is not copied",
                inside.display()
            );
        }
    }
}

/// A builder that works here: docker with its daemon, or buildah.
fn builder() -> Option<[&'static str; 2]> {
    let works = |program: &str| {
        let asked = Command::new(program).arg("info").output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    if works("docker") {
        return Some(["docker", "image"]);
    }
    works("buildah").then_some(["buildah", ""])
}

/// The stage with a binary that is there already: no image of a registry is needed for it.
#[test]
fn the_image_is_built_without_a_compiler() {
    let Some([program, noun]) = builder() else {
        return skipped(
            "the_image_is_built_without_a_compiler",
            "neither docker's daemon nor buildah is here",
        );
    };
    let site = Site::new();
    let file = site.path("Containerfile");
    fs::write(&file, deployed(FILE)).unwrap();
    // What is in the file does not matter, but that it is copied does.
    fs::write(site.path("gridtally"), "a binary").unwrap();
    let name = format!("gridtally-test-{}", std::process::id());
    let mut build = Command::new(program);
    build.arg("build").arg("--file").arg(&file).args([
        "--tag",
        &name,
        "--target",
        "prebuilt",
        "--build-arg",
        "RUNTIME=scratch",
    ]);
    let done = build.arg(site.path("")).output().unwrap();
    assert!(done.status.success(), "{}", words_of(&done));
    let mut inspect = Command::new(program);
    if noun.is_empty() {
        inspect.args(["inspect", "--type", "image", "--format", "{{.OCIv1.Config}}", &name]);
    } else {
        inspect.args([
            noun,
            "inspect",
            "--format",
            "{{.Config.User}} {{.Config.Entrypoint}} {{.Config.Cmd}}",
            &name,
        ]);
    }
    let found = inspect.output().unwrap();
    let removed = Command::new(program).args(["rmi", &name]).output().unwrap();
    let words = words_of(&found);
    for part in ["65532:65532", "[/usr/bin/gridtally]", "[--help]"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(removed.status.success(), "{}", words_of(&removed));
}
