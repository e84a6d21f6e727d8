//! Which policy an allocation means: one of its pools, or a version of it that charges in another unit.

use super::money::{gridtally, rows, stdout};
use super::scene::Scene;

/// An hour of a core in each of two months.
const JOBS: &str = "\
JobID|User|Account|Cluster|Partition|Submit|Start|End|Elapsed|State|NCPUS|NNodes|AllocTRES
1|ada|firn|glacier|cpu|2026-01-10T00:00:00|2026-01-10T00:00:00|2026-01-10T01:00:00|01:00:00|COMPLETED|1|1|billing=1,cpu=1,mem=1G,node=1
2|ada|firn|glacier|cpu|2026-02-10T00:00:00|2026-02-10T00:00:00|2026-02-10T01:00:00|01:00:00|COMPLETED|1|1|billing=1,cpu=1,mem=1G,node=1
";

/// The policy `ch`, of which each month has a version, with pool and unit.
fn lake(versions: [[&str; 2]; 2]) -> Scene {
    let scene = Scene::new();
    scene.write("jobs.txt", JOBS);
    let days = ["valid_to = 2026-02-01", "valid_from = 2026-02-01"];
    for (([pool, unit], days), nth) in versions.into_iter().zip(days).zip(1..) {
        let seconds = if unit == "core_minute" { 60 } else { 3600 };
        let text = format!(
            "id = \"ch\"\nversion = \"{nth}\"\ntitle = \"Cores\"\nsource = \"invented\"\n{days}\npool = \"{pool}\"\nunit = \"{unit}\"\n\
             formula = \"cores * seconds / {seconds}\"\n[[example]]\nname = \"one\"\nin = {{ cores = 1, hours = 1 }}\nexpect = {}\n",
            3600 / seconds
        );
        scene.write(&format!("ch{nth}.toml"), &text);
    }
    scene.write(
        "lake.toml",
        "[pipeline]\nname = \"p\"\noutput = \"lake\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
         site = \"ALP\"\ntimezone = \"UTC\"\nvo = { value = \"eis\" }\n[[charge]]\npolicies = [\"ch1.toml\", \"ch2.toml\"]\n",
    );
    scene.run("lake");
    scene
}

/// What is charged to allocations, `policy,unit` each, on the last day of both months; and what is printed on stderr.
fn charged(scene: &Scene, allocations: &[&str], policies: &[&str]) -> (Result<Vec<String>, ()>, String) {
    let rows_of = allocations.iter().map(|row| {
        let (policy, unit) = row.rsplit_once(';').unwrap();
        format!("firn,\"{policy}\",1000,2026-01-01,{unit}\n")
    });
    let table = format!("account,policy,amount,valid_from,unit\n{}", rows_of.collect::<String>());
    scene.write("allocations.csv", &table);
    let mut arguments = vec!["report", "balance", "lake", "--allocations", "allocations.csv"];
    arguments.extend(["--on", "2026-02-28", "--format", "csv"]);
    arguments.extend(policies.iter().flat_map(|policy| ["--policy", policy]));
    let output = gridtally(scene, &arguments);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return (Err(()), notes);
    }
    let (_, rows) = rows(&stdout(&output));
    let cells = rows.iter().map(|row| format!("{} {}", row["charged"], row["unit"]));
    (Ok(cells.collect()), notes)
}

#[test]
fn a_policy_is_all_its_pools_and_a_pool_is_itself() {
    let scene = lake([["cpu", "core_hour"], ["gpu", "core_hour"]]);
    let hours = |n: usize| Ok(vec!["1.000000000 core_hour".to_owned(); n]);
    let both = ["ch (pool cpu);", "ch (pool gpu);"];
    for (allocations, policies, n) in [
        (&both[..], &["ch"][..], 2),
        (&both[..], &["ch (pool gpu)"][..], 1),
        (&both[..], &["ch (pool cpu)", "ch (pool gpu)"][..], 2),
        // A pool that the table leaves open.
        (&["ch;"][..], &["ch (pool gpu)"][..], 1),
    ] {
        let (found, notes) = charged(&scene, allocations, policies);
        assert_eq!(found, hours(n), "{allocations:?} {policies:?}: {notes}");
    }
    let (found, notes) = charged(&scene, &["ch;"], &[]);
    assert_eq!(found, Err(()));
    assert!(
        notes.contains("\"ch\" may be any of ch (pool cpu), ch (pool gpu)"),
        "{notes}"
    );
}

#[test]
fn a_version_in_another_unit_has_its_own_allocations() {
    let scene = lake([["cpu", "core_minute"], ["cpu", "core_hour"]]);
    let (minutes, hours) = (
        "60.000000000 core_minute".to_owned(),
        "1.000000000 core_hour".to_owned(),
    );
    let (found, notes) = charged(&scene, &["ch;"], &[]);
    assert_eq!(found, Err(()));
    let names = ["ch (pool cpu, unit core_hour)", "ch (pool cpu, unit core_minute)"];
    assert!(
        notes.contains(&format!("\"ch\" may be any of {}", names.join(", "))),
        "{notes}"
    );
    // Every choice works where it was asked for, and on the command line.
    for (name, found) in names.iter().zip([&hours, &minutes]) {
        assert_eq!(
            charged(&scene, &[&format!("{name};")], &[]).0,
            Ok(vec![found.clone()]),
            "{name}"
        );
        assert_eq!(charged(&scene, &["ch;"], &[name]).0, Ok(vec![found.clone()]), "{name}");
    }
    // So does the unit.
    let (found, notes) = charged(&scene, &["ch;core_hour"], &[]);
    assert_eq!(found, Ok(vec![hours.clone()]));
    assert!(
        notes.contains(
            "a version of ch charged its jobs in core_minute as well; an allocation in core_hour does not count that"
        ),
        "{notes}"
    );
    assert_eq!(
        charged(&scene, &["ch;core_hour", "ch;core_minute"], &["ch"]).0,
        Ok(vec![hours, minutes])
    );
    let (found, notes) = charged(&scene, &["ch;usd"], &["ch"]);
    assert_eq!(found, Err(()));
    assert!(notes.contains("may be any of ch (pool cpu, unit core_hour)"), "{notes}");
}

#[test]
fn versions_in_two_units_are_one_invoice() {
    let scene = lake([["cpu", "core_minute"], ["cpu", "core_hour"]]);
    let billed = |policies: &[&str]| {
        let mut arguments = vec!["report", "focus", "lake", "--currency", "EUR"];
        arguments.extend(policies.iter().flat_map(|policy| ["--policy", policy]));
        let (_, rows) = rows(&stdout(&gridtally(&scene, &arguments)));
        rows.len()
    };
    assert_eq!(billed(&[]), 2);
    assert_eq!(billed(&["ch"]), 2);
    assert_eq!(billed(&["ch (pool cpu, unit core_hour)"]), 1);
}
