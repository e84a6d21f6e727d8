//! What is written for sacctmgr: read by a shell, and as sacctmgr reads a file.

use std::collections::BTreeMap;
use std::process::Command;

use super::load::{Loaded, load, shares};
use super::{Site, USUAL};
use crate::support::sample::run;

/// What each call of sacctmgr sets, by account, in order; a shell reads the lines.
fn calls(site: &Site, lines: &str) -> Vec<(String, Vec<String>)> {
    site.write("shares.sh", lines);
    let script = "sacctmgr() { for word in \"$@\"; do printf '%s\\n' \"$word\"; done; echo; }; . ./shares.sh";
    let printed = run(Command::new("sh").args(["-euc", script]).current_dir(site.path()));
    let calls = printed.split("\n\n").filter(|call| !call.is_empty());
    let calls = calls.map(|call| {
        let words: Vec<&str> = call.lines().collect();
        assert_eq!(words[..3], ["-i", "modify", "account"], "{call}");
        let account = words[3].strip_prefix("name=").unwrap().to_owned();
        assert_eq!(words[4..6], ["cluster=oak", "set"], "{call}");
        (account, words[6..].iter().map(|word| (*word).to_owned()).collect())
    });
    calls.collect()
}

/// The golden site with another name for `lab_c`.
fn renamed(name: &str) -> Site {
    let site = Site::files();
    for file in ["january/associations.cfg", "july/associations.cfg"] {
        site.write(file, &site.read(file).replace("lab_c", name));
    }
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    for file in ["owners.csv", "limits.csv"] {
        let text = site.read(file);
        let lines = text.lines().map(|line| {
            let is_row = !line.starts_with('#');
            if is_row {
                line.replace("lab_c", &quoted) + "\n"
            } else {
                String::new()
            }
        });
        site.write(file, &lines.collect::<String>());
    }
    site.make();
    site
}

const LIMITS: &str = "--minutes limits.csv";

#[test]
fn commands_set_what_differs_parents_first() {
    let site = Site::new();
    let calls = calls(&site, &site.report(&format!("{USUAL} {LIMITS} --for sacctmgr")));
    let expected: [(&str, &[&str]); 4] = [
        ("bio", &["fairshare=117"]),
        ("lab_a", &["fairshare=83", "GrpTRESMins=billing=600000"]),
        ("lab_b", &["fairshare=35"]),
        ("lab_c", &["fairshare=35", "GrpTRESMins=gres/gpu=60"]),
    ];
    let found: Vec<(&str, Vec<&str>)> = calls
        .iter()
        .map(|(account, set)| (account.as_str(), set.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(found, expected.map(|(account, set)| (account, set.to_vec())));
}

#[test]
fn people_read_what_would_change_and_that_nothing_is_applied() {
    let site = Site::new();
    for reader in ["sacctmgr", "sacctmgr-load"] {
        let words = site.stderr(&format!("{USUAL} {LIMITS} --for {reader}"));
        for line in [
            "bio: fairshare 100 -> 117",
            "lab_a: fairshare 35 -> 83, minutes of billing none -> 600000",
            "lab_b: fairshare parent -> 35",
            "lab_c: fairshare 27 -> 35, minutes of gres/gpu 50 -> 60",
            "nothing is applied; accounts: 1 added (their listing has no number of shares), 3 changed, 0 unchanged, 1 left as they are",
        ] {
            assert!(words.contains(line), "{line} is not in\n{words}");
        }
        assert_eq!(words.contains("without clean"), reader == "sacctmgr-load");
    }
}

#[test]
fn a_shell_and_sacctmgr_read_names_as_they_are() {
    let name = "lab c$(id)#\\`x!*;&|";
    let site = renamed(name);
    let lines = site.report(&format!("{USUAL} --for sacctmgr"));
    let calls = calls(&site, &lines);
    let (_, set) = calls.iter().find(|(account, _)| account == name).unwrap();
    assert_eq!(*set, ["fairshare=35"]);
    let loaded = load(&site.report(&format!("{USUAL} --for sacctmgr-load")));
    assert_eq!(shares(&loaded)[name], "35");
    let user = loaded.iter().find(|of| of.name == "cyd").unwrap();
    assert_eq!(
        (user.parent.as_str(), user.option("DefaultAccount")),
        (name, Some(name))
    );
}

#[test]
fn names_that_sacctmgr_would_read_as_something_else_are_refused() {
    for name in ["lab,c", "lab=c", "o\"lab", "o'lab"] {
        let site = renamed(name);
        for reader in ["sacctmgr", "sacctmgr-load"] {
            let output = site.output(&format!("{USUAL} --for {reader}"));
            let words = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(65), "{name}: {words}");
            assert!(words.contains("sacctmgr cannot be given the account"), "{words}");
        }
        // A table for people has the name.
        assert!(site.report(USUAL).contains(name));
    }
}

/// The listing of the site, as sacctmgr reads it.
fn listed(site: &Site) -> Vec<Loaded> {
    // A dump does not escape the # of a description.
    load(&site.read("july/associations.cfg").replace("lab #3", "lab \\#3"))
}

#[test]
fn a_load_file_is_the_listing_with_the_new_shares() {
    let site = Site::new();
    let loaded = load(&site.report(&format!("{USUAL} {LIMITS} --for sacctmgr-load")));
    let granted = site.accounts(USUAL);
    let mut expected = listed(&site);
    for of in &mut expected {
        let is_account = of.object == "Account";
        let new = granted.get(&of.name).filter(|_| is_account).map(|row| row[6].clone());
        for (option, value) in &mut of.options {
            if option == "Fairshare" {
                let own = if value == "parent" {
                    "2147483647"
                } else {
                    value.as_str()
                };
                *value = new.clone().unwrap_or_else(|| own.to_owned());
            }
            if option == "GrpTRESMins" {
                "cpu=1000,gres/gpu=60".clone_into(value);
            }
        }
        if of.name == "lab_a" && is_account {
            let at = of.options.iter().position(|(option, _)| option == "GrpJobs").unwrap();
            let limit = ("GrpTRESMins".to_owned(), "billing=600000".to_owned());
            of.options.insert(at, limit);
        }
    }
    assert_eq!(loaded, expected);
}

#[test]
fn what_was_loaded_leaves_nothing_to_change() {
    let site = Site::new();
    let file = site.report(&format!("{USUAL} {LIMITS} --for sacctmgr-load"));
    std::fs::create_dir(site.path().join("august")).unwrap();
    site.write("august/associations.cfg", &file);
    let inventory = "\n[[inventory]]\nname = \"august\"\npaths = [\"august/*\"]\nsite = \"OAK\"\ncluster = \"oak\"\n\
                     as_of = \"2026-07-31T04:00:00Z\"\n";
    site.write("pipeline.toml", &format!("{}{inventory}", site.read("pipeline.toml")));
    site.make();
    assert_eq!(site.report(&format!("{USUAL} {LIMITS} --for sacctmgr")), "");
    let words = site.stderr(&format!("{USUAL} {LIMITS} --for sacctmgr"));
    assert!(
        words.contains("0 added (their listing has no number of shares), 0 changed, 4 unchanged"),
        "{words}"
    );
}

#[test]
fn what_a_load_file_cannot_hold_is_named() {
    let site = Site::files();
    let dump = site.read("july/associations.cfg");
    let dump = dump.replace("Description='operators'", "Description='the operators' room'");
    let dump = dump.replace(":MaxJobs=4", ":MaxJobs=4:Colour=red:GrpTRES='cpu=4,gres/gpu:a100=2'");
    site.write("july/associations.cfg", &dump);
    site.make();
    let options = format!("{USUAL} --for sacctmgr-load");
    let loaded = load(&site.report(&options));
    let of = |name: &str| loaded.iter().find(|of| of.name == name).unwrap().clone();
    assert_eq!(of("staff").option("Description"), None);
    assert_eq!(of("staff").option("Organization"), Some("oak"));
    assert_eq!(of("bob").option("GrpTRES"), Some("cpu=4,gres/gpu:a100=2"));
    let words = site.stderr(&options);
    for line in [
        "not in the file, so that it stays: colour of 1 associations",
        "not in the file because of quotes, so that it stays: Description of 1 associations",
        "limits of typed resources, which sacctmgr load reads since Slurm 26.05: bob",
    ] {
        assert!(words.contains(line), "{line} is not in\n{words}");
    }
}

#[test]
fn a_lake_that_withholds_users_gives_commands_and_no_load_file() {
    let site = Site::files();
    site.write(
        "pipeline.toml",
        &format!("{}\n[privacy]\nuser = \"drop\"\n", site.read("pipeline.toml")),
    );
    site.make();
    let names: BTreeMap<_, _> = calls(&site, &site.report(&format!("{USUAL} --for sacctmgr")))
        .into_iter()
        .collect();
    assert_eq!(names.len(), 4);
    let output = site.output(&format!("{USUAL} --for sacctmgr-load"));
    assert_eq!(output.status.code(), Some(65));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("the lake withholds the names of users"), "{words}");
}
