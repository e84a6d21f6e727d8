//! The Debian package: its bytes, what is in it, and that its binary runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clap::CommandFactory as _;

use super::site::{Site, words_of};
use super::skipped;
use crate::support::sample::{repository, run};

/// 2026-09-21.
const RELEASE_S: &str = "1790000000";

fn build(binary: &Path, folder: &Path, epoch: Option<&str>) -> Output {
    fs::create_dir_all(folder).unwrap();
    let mut command = Command::new(repository("pipelines/deploy/debian/build"));
    command
        .arg(binary)
        .arg(folder)
        .env("COMPRESSION", "none")
        .env_remove("SOURCE_DATE_EPOCH");
    if let Some(epoch) = epoch {
        command.env("SOURCE_DATE_EPOCH", epoch);
    }
    command.output().unwrap()
}

pub(super) fn package(binary: &Path, folder: &Path) -> PathBuf {
    let built = build(binary, folder, Some(RELEASE_S));
    assert!(built.status.success(), "{}", words_of(&built));
    PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end())
}

/// The binary of this test without what a debugger needs, which is most of it.
pub(super) fn small_binary(site: &Site) -> PathBuf {
    let small = site.path("gridtally");
    let stripped = Command::new("strip")
        .arg("-o")
        .arg(&small)
        .arg(env!("CARGO_BIN_EXE_gridtally"))
        .output();
    if stripped.is_ok_and(|output| output.status.success()) {
        return small;
    }
    PathBuf::from(env!("CARGO_BIN_EXE_gridtally"))
}

/// The commands of the program.
fn commands() -> Vec<String> {
    let mut program = gridtally::cli::Cli::command();
    program.build();
    let names = program.get_subcommands().map(|command| command.get_name().to_owned());
    names.filter(|name| name != "help").collect()
}

fn has_dpkg(test: &str) -> bool {
    let is_there = Command::new("dpkg-deb").arg("--version").output().is_ok();
    if !is_there {
        skipped(test, "there is no dpkg-deb");
    }
    is_there
}

#[test]
fn the_package_installs_what_it_should() {
    if !has_dpkg("the_package_installs_what_it_should") {
        return;
    }
    let site = Site::new();
    let binary = small_binary(&site);
    let made = package(&binary, &site.path("one"));
    // Another folder, another time of the files: the same bytes.
    let again = package(&binary, &site.path("two"));
    assert_eq!(made.file_name(), again.file_name());
    let same = Command::new("cmp").arg(&made).arg(&again).output().unwrap();
    assert!(same.status.success(), "{}", words_of(&same));
    fs::remove_file(again).unwrap();

    let deb = |words: &[&str]| run(Command::new("dpkg-deb").args(words).arg(&made));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        deb(&["--show", "--showformat", "${Package} ${Version}"]),
        format!("gridtally {version}-1")
    );
    let control = deb(&["--field"]);
    if cfg!(all(target_env = "gnu", target_os = "linux")) {
        assert!(control.contains("\nDepends: libc6 (>= 2."), "{control}");
    }
    let listing = deb(&["--contents"]);
    let owners: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert!(owners.iter().all(|owner| *owner == "root/root"));

    let root = site.path("root");
    run(Command::new("dpkg-deb").arg("--extract").arg(&made).arg(&root));
    assert_eq!(
        run(Command::new(root.join("usr/bin/gridtally")).arg("--version")),
        format!("gridtally {version}\n")
    );
    let page = |name: &str| {
        run(Command::new("gzip")
            .arg("-dc")
            .arg(root.join(format!("usr/share/man/man1/{name}.1.gz"))))
    };
    assert!(page("gridtally").contains(".TH gridtally 1"));
    let commands = commands();
    for command in &commands {
        let text = page(&format!("gridtally-{command}"));
        assert!(
            text.contains(&format!(".TH gridtally-{command} 1")),
            "{command}: {}",
            &text[..200]
        );
    }
    assert_eq!(
        fs::read_dir(root.join("usr/share/man/man1")).unwrap().count(),
        commands.len() + 1
    );
    for file in [
        "usr/lib/systemd/system/gridtally@.service",
        "usr/lib/systemd/system/gridtally@.timer",
        "usr/lib/systemd/system/gridtally-failure@.service",
        "usr/lib/sysusers.d/gridtally.conf",
        "usr/lib/tmpfiles.d/gridtally.conf",
        "usr/share/bash-completion/completions/gridtally",
        "usr/share/zsh/vendor-completions/_gridtally",
        "usr/share/fish/vendor_completions.d/gridtally.fish",
        "usr/share/doc/gridtally/copyright",
        "usr/share/doc/gridtally/examples/cron/gridtally",
    ] {
        assert!(
            fs::metadata(root.join(file))
                .unwrap_or_else(|e| panic!("{file}: {e}"))
                .len()
                > 0
        );
    }
    assert!(root.join("etc/gridtally").is_dir());
    // Every file is in the sums, with its own.
    let sums = deb(&["--info"]);
    assert!(sums.contains("md5sums"), "{sums}");
    run(Command::new("dpkg-deb")
        .arg("--control")
        .arg(&made)
        .arg(site.path("control")));
    run(Command::new("md5sum")
        .args(["--check", "--quiet"])
        .arg(site.path("control/md5sums"))
        .current_dir(&root));
    for hook in ["postinst", "postrm"] {
        run(Command::new("sh").arg("-n").arg(site.path("control").join(hook)));
    }
}

#[test]
fn the_package_needs_a_binary_and_a_time() {
    let site = Site::new();
    let binary = site.path("bin/gridtally");
    let untimed = build(&binary, &site.path("none"), None);
    assert_eq!(untimed.status.code(), Some(2));
    assert!(words_of(&untimed).contains("SOURCE_DATE_EPOCH is not set"));
    let missing = build(&site.path("bin/other"), &site.path("none"), Some(RELEASE_S));
    assert_eq!(missing.status.code(), Some(2));
    assert!(words_of(&missing).contains("usage: build BINARY"));
    site.program("script", "echo gridtally 0.1.0");
    let script = build(&site.path("bin/script"), &site.path("none"), Some(RELEASE_S));
    assert_eq!(script.status.code(), Some(1));
    assert!(
        words_of(&script).contains("is for none of amd64"),
        "{}",
        words_of(&script)
    );
    assert_eq!(fs::read_dir(site.path("none")).unwrap().count(), 0);
}
