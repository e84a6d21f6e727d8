//! Balances of a tree of accounts, on days that are over, and of accounts nobody has.

use super::money::{gridtally, rows, stdout};
use super::scene::Scene;
use crate::support::policy::{CHARGE_CORES, CORES};

const JOBS: &str = "\
JobID|User|Account|Cluster|Partition|Submit|Start|End|Elapsed|State|NCPUS|NNodes|AllocTRES
1|ada|firn|glacier|cpu|2026-01-10T00:00:00|2026-01-10T00:00:00|2026-01-10T01:00:00|01:00:00|COMPLETED|1|1|billing=1,cpu=1,mem=1G,node=1
2|bo|serac|glacier|cpu|2026-01-20T00:00:00|2026-01-20T00:00:00|2026-01-20T01:00:00|01:00:00|COMPLETED|2|1|billing=2,cpu=2,mem=1G,node=1
3|cy|serac|karst|cpu|2026-01-20T00:00:00|2026-01-20T00:00:00|2026-01-20T01:00:00|01:00:00|COMPLETED|4|1|billing=4,cpu=4,mem=1G,node=1
4|ada|firn|glacier|cpu|2026-02-10T00:00:00|2026-02-10T00:00:00|2026-02-10T01:00:00|01:00:00|COMPLETED|8|1|billing=8,cpu=8,mem=1G,node=1
5|dee|moor|glacier|cpu|2026-02-10T00:00:00|2026-02-10T00:00:00|2026-02-10T01:00:00|01:00:00|COMPLETED|16|1|billing=16,cpu=16,mem=1G,node=1
";

/// On glacier firn and serac are below ice; on karst serac is below root.
const TREE: &str = "\
Cluster|Account|User|ParentName|Share
glacier|root|||1
glacier|ice||root|1
glacier|firn||ice|1
glacier|serac||firn|1
glacier|new||ice|1
glacier|moor||root|1
glacier|firn|ada||1
glacier|serac|bo||1
glacier|moor|dee||1
karst|root|||1
karst|serac||root|1
karst|serac|cy||1
";

fn lake(grain: &str, tree: Option<&str>) -> Scene {
    lake_of(JOBS, grain, tree)
}

fn lake_of(jobs: &str, grain: &str, tree: Option<&str>) -> Scene {
    let scene = Scene::new();
    scene.write("jobs.txt", jobs);
    scene.write("cores.toml", CORES);
    let mut pipeline = format!(
        "[pipeline]\nname = \"p\"\noutput = \"lake\"\ngrain = \"{grain}\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\n\
         paths = [\"jobs.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\nvo = {{ value = \"eis\" }}\n\
         {CHARGE_CORES}"
    );
    if let Some(tree) = tree {
        scene.write("assoc.txt", tree);
        pipeline.push_str(
            "[[inventory]]\nname = \"accounts\"\npaths = [\"assoc.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\nas_of = 2026-01-01\n",
        );
    }
    scene.write("lake.toml", &pipeline);
    scene.run("lake");
    scene
}

/// What was charged, by account, and the notes.
fn charged(scene: &Scene, allocations: &str, more: &[&str]) -> Result<Vec<(String, String)>, String> {
    scene.write("allocations.csv", allocations);
    let mut all = vec![
        "report",
        "balance",
        "lake",
        "--allocations",
        "allocations.csv",
        "--format",
        "csv",
    ];
    all.extend(more);
    let output = gridtally(scene, &all);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let (_, rows) = rows(&stdout(&output));
    let cell = |row: &std::collections::BTreeMap<String, String>, name: &str| row[name].clone();
    Ok(rows
        .iter()
        .map(|row| (cell(row, "account"), cell(row, "charged")))
        .collect())
}

#[test]
fn an_account_uses_what_it_is_granted_with_those_below_it() {
    let scene = lake("month", Some(TREE));
    let head = "account,policy,amount,valid_from,site,cluster\n";
    let sums = |row: &str| charged(&scene, &format!("{head}{row}\n"), &[]).unwrap();
    let one = |account: &str, sum: &str| vec![(account.to_owned(), format!("{sum}.000000000"))];
    assert_eq!(sums("ice,cores,100,2026-01-01,,"), one("ice", "11"));
    assert_eq!(sums("firn,cores,100,2026-01-01,,glacier"), one("firn", "11"));
    assert_eq!(sums("serac,cores,100,2026-01-01,,"), one("serac", "6"));
    assert_eq!(sums("root,cores,100,2026-01-01,ALP,glacier"), one("root", "27"));
    assert_eq!(sums("root,cores,100,2026-01-01,ALP,karst"), one("root", "4"));
    assert_eq!(sums("root,cores,100,2026-01-01,,"), one("root", "31"));
    // An account that is listed and has no jobs yet used nothing.
    assert_eq!(sums("new,cores,100,2026-01-01,,"), one("new", "0"));
    // Those below see it, too.
    scene.write("allocations.csv", &format!("{head}ice,cores,100,2026-01-01,,\n"));
    let arguments = [
        "report",
        "balance",
        "lake",
        "--allocations",
        "allocations.csv",
        "--for",
        "ondemand",
    ];
    let ondemand: serde_json::Value = serde_json::from_str(&stdout(&gridtally(&scene, &arguments))).unwrap();
    let users: Vec<&str> = ondemand["balances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["user"].as_str().unwrap())
        .collect();
    assert_eq!(users, ["ada", "bo"]);
}

#[test]
fn an_account_nobody_has_is_an_error_with_the_nearest_name() {
    let head = "account,policy,amount,valid_from,site,cluster\n";
    for tree in [None, Some(TREE)] {
        let scene = lake("month", tree);
        let why = |row: &str| charged(&scene, &format!("{head}{row}\n"), &[]).unwrap_err();
        let reported = why("Firn,cores,100,2026-01-01,,");
        assert!(
            reported.contains("names the account \"Firn\", did you mean \"firn\"?")
                && reported.contains("(line 2, file allocations.csv)"),
            "{reported}"
        );
        let reported = why("srac,cores,100,2026-01-01,,");
        assert!(reported.contains("did you mean \"serac\"?"), "{reported}");
        let reported = why("xyz,cores,100,2026-01-01,,");
        assert!(
            reported.contains("; there are firn") && reported.contains("sacctmgr show assoc"),
            "{reported}"
        );
        let reported = why("moor,cores,100,2026-01-01,,karst");
        assert!(
            reported.contains("\"moor\" at karst; there is one at ALP glacier"),
            "{reported}"
        );
        // One that is no longer good is nobody's business.
        let over =
            "account,policy,amount,valid_from,valid_to\nxyz,cores,1,2025-01-01,2025-02-01\nfirn,cores,1,2026-01-01,\n";
        assert_eq!(charged(&scene, over, &[]).unwrap().len(), 1);
    }
}

#[test]
fn a_balance_of_a_day_that_is_over_counts_no_later_charges() {
    let allocations = "account,policy,amount,valid_from\nfirn,cores,100,2026-01-01\n";
    let one = |sum: &str| vec![("firn".to_owned(), format!("{sum}.000000000"))];
    let scene = lake("day", None);
    for (on, sum) in [
        ("2026-01-09", "0"),
        ("2026-01-10", "1"),
        ("2026-02-09", "1"),
        ("2026-02-10", "9"),
    ] {
        assert_eq!(charged(&scene, allocations, &["--on", on]).unwrap(), one(sum), "{on}");
    }
    assert_eq!(charged(&scene, allocations, &[]).unwrap(), one("9"));
    // By month, a day inside a month with charges is not a day of a balance.
    let scene = lake("month", None);
    assert_eq!(charged(&scene, allocations, &["--on", "2026-01-31"]).unwrap(), one("1"));
    assert_eq!(charged(&scene, allocations, &["--on", "2026-03-05"]).unwrap(), one("9"));
    assert_eq!(charged(&scene, allocations, &[]).unwrap(), one("9"));
    let reported = charged(&scene, allocations, &["--on", "2026-02-05"]).unwrap_err();
    assert!(reported.contains("2026-02-05 is inside 2026-02"), "{reported}");
}

/// A clock that is ahead, or a calendar beyond it: what ends after the day of a balance is not of its days, though the day is not over.
#[test]
fn a_balance_of_today_or_later_counts_no_later_charges() {
    let ahead = JOBS.to_owned()
        + "6|ada|firn|glacier|cpu|2099-06-10T00:00:00|2099-06-10T00:00:00|2099-06-10T01:00:00|01:00:00|COMPLETED|32|1|billing=32,cpu=32,mem=1G,node=1\n";
    let allocations = "account,policy,amount,valid_from\nfirn,cores,100,2026-01-01\n";
    let one = |sum: &str| vec![("firn".to_owned(), format!("{sum}.000000000"))];
    let scene = lake_of(&ahead, "day", None);
    assert_eq!(charged(&scene, allocations, &[]).unwrap(), one("9"));
    assert_eq!(charged(&scene, allocations, &["--on", "2099-06-09"]).unwrap(), one("9"));
    assert_eq!(
        charged(&scene, allocations, &["--on", "2099-06-10"]).unwrap(),
        one("41")
    );
    let scene = lake_of(&ahead, "month", None);
    assert_eq!(charged(&scene, allocations, &[]).unwrap(), one("9"));
    assert_eq!(
        charged(&scene, allocations, &["--on", "2099-06-30"]).unwrap(),
        one("41")
    );
}

/// Codes of currencies are meant in either letters.
#[test]
fn a_currency_is_meant_in_small_letters_too() {
    let scene = lake("month", None);
    let focus = |code: &str| {
        let arguments = ["report", "focus", "lake", "--currency", code];
        stdout(&gridtally(&scene, &arguments))
    };
    assert_eq!(focus("eur"), focus("EUR"));
}

/// Files have every digit, people those that matter.
#[test]
fn the_table_for_people_fits_and_the_file_is_exact() {
    let scene = lake("month", None);
    scene.write(
        "allocations.csv",
        "account,policy,amount,valid_from\nfirn,cores,123456.5,2026-01-01\nmoor,cores,20,2026-01-01\n",
    );
    let run = |format: &str| {
        let arguments = [
            "report",
            "balance",
            "lake",
            "--allocations",
            "allocations.csv",
            "--format",
            format,
        ];
        stdout(&gridtally(&scene, &arguments))
    };
    let reported = run("table");
    assert!(reported.lines().all(|line| line.chars().count() <= 100), "{reported}");
    let cells: Vec<Vec<&str>> = reported.lines().map(|line| line.split_whitespace().collect()).collect();
    let firn = [
        "firn",
        "cores",
        "core",
        "hour",
        "123457",
        "9",
        "123448",
        "0.0",
        "2026-01-01",
        "1",
    ];
    assert!(cells.iter().any(|line| line == &firn), "{reported}");
    let html = run("html");
    assert!(
        html.contains("<td class=\"n\" data-v=\"123457\">123\u{202f}457</td>"),
        "{html}"
    );
    let (header, exact) = rows(&run("csv"));
    assert_eq!(header.len(), 15);
    assert_eq!(exact[0]["balance"], "123447.500000000");
}

/// A period without charges has a table without rows; a policy that the lake does not have is a mistake.
#[test]
fn nothing_charged_is_no_mistake() {
    let scene = lake("month", None);
    let focus = |words: &[&str]| {
        gridtally(
            &scene,
            &[&["report", "focus", "lake", "--currency", "EUR"], words].concat(),
        )
    };
    let (header, empty) = rows(&stdout(&focus(&[
        "--policy", "cores", "--from", "2025-11", "--to", "2025-11",
    ])));
    assert!(header.contains(&"BilledCost".to_owned()) && empty.is_empty());
    let refused = focus(&["--policy", "nope", "--from", "2025-11", "--to", "2025-11"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let stated = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        stated.contains("nothing is charged under \"nope\"; there is cores (pool cpu)"),
        "{stated}"
    );
}

#[test]
fn a_day_without_allocations_has_no_balances() {
    let scene = lake("month", None);
    let allocations = "account,policy,amount,valid_from\nfirn,cores,100,2026-01-01\n";
    assert_eq!(charged(&scene, allocations, &["--on", "2025-12-31"]).unwrap(), []);
    let run = |words: &[&str]| {
        let all = [
            &["report", "balance", "lake", "--allocations", "allocations.csv"],
            words,
        ]
        .concat();
        gridtally(&scene, &all)
    };
    let stated = |words: &[&str]| String::from_utf8_lossy(&run(words).stderr).into_owned();
    let warning = "no allocation of allocations.csv is good on 2025-12-31: there are no balances";
    assert!(stated(&["--on", "2025-12-31"]).contains(warning));
    assert_eq!(run(&["--policy", "nope"]).status.code(), Some(2));
    assert!(stated(&["--policy", "nope"]).contains("nothing is charged under \"nope\"; there is cores (pool cpu)"));
}

/// By day a job of unknown charge has a part of it on every day it ran.
#[test]
fn parts_of_jobs_of_unknown_charge_are_named() {
    let scene = lake("day", None);
    let over =
        "6|ada|firn|glacier|cpu|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-03T01:00:00|2-01:00:00|COMPLETED||1|\n";
    scene.write("jobs.txt", &format!("{JOBS}{over}"));
    scene.run("lake");
    scene.write(
        "allocations.csv",
        "account,policy,amount,valid_from\nfirn,cores,100,2026-01-01\n",
    );
    let reported = gridtally(
        &scene,
        &["report", "balance", "lake", "--allocations", "allocations.csv"],
    );
    let stated = String::from_utf8_lossy(&reported.stderr).into_owned();
    let unknown = "firn: the charge is unknown of 1 jobs, 2 sums of parts of jobs that end in another period or under another version of \
                   the policy";
    assert!(stated.contains(unknown), "{stated}");
    assert!(stated.contains(", so that less is left than is reported"), "{stated}");
}
