//! Sources that a pipeline no longer names: their files do not count twice, and their names do not stay where names are
//! withheld.

use std::fs;
use std::process::Command;

use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};

use super::scene::{Scene, assert_same};
use super::tables::{all, sum};

const HEADER: &str = "JobIDRaw|Cluster|Account|User|JobName|State|Submit|Start|End|ElapsedRaw|NCPUS|TotalCPU\n";

/// A dump of ten jobs, and one row that is refused.
fn dump(first: usize) -> String {
    let rows = (first..first + 10).map(|number| {
        let at = format!("2026-03-{:02}T10:00", 1 + number % 28);
        format!("{number}|oak|phys|wendeline|thesis|COMPLETED|{at}:00|{at}:00|{at}:40|40|2|00:00:30\n")
    });
    let refused = format!("{}|oak|phys|wendeline|thesis|COMPLETED|x|x|x|40|2|0\n", first + 10);
    HEADER.to_owned() + &rows.collect::<String>() + &refused
}

fn source(name: &str, file: &str, site: &str) -> String {
    format!(
        "[[source]]\nname = \"{name}\"\nformat = \"sacct\"\npaths = [\"in/{file}.txt\"]\nsite = \"{site}\"\n\
         timezone = \"UTC\"\nvo = {{ column = \"account\" }}\n"
    )
}

fn scene() -> Scene {
    let scene = Scene::empty();
    scene.write("in/a.txt", dump(0).as_bytes());
    scene.write("in/b.txt", dump(100).as_bytes());
    let both = [source("first", "a", "OAK"), source("second", "b", "OAK")].concat();
    run(&scene, &both, "lake").unwrap();
    scene
}

fn run(scene: &Scene, sections: &str, lake: &str) -> gridtally::error::Result<RunReport> {
    let pipeline = format!("[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 10\n{sections}");
    scene.write("pipeline.toml", pipeline.as_bytes());
    scene.run_file("pipeline.toml", lake, RunOptions::default())
}

const DROPS: &str = "[privacy]\nuser = \"drop\"\njob_name = \"drop\"\n";

#[test]
fn files_of_a_source_under_another_name_count_once() {
    for (what, renamed) in [
        ("another name", source("renamed", "a", "OAK")),
        ("another name and site", source("renamed", "a", "ELM")),
    ] {
        let scene = scene();
        let sections = [renamed, source("second", "b", "OAK")].concat();
        assert_eq!(run(&scene, &sections, "lake").unwrap().status, Status::Published);
        run(&scene, &sections, "fresh").unwrap();
        assert_same(&scene.lake("fresh"), &scene.lake("lake"), what);
        assert_eq!(sum(&all(&scene.path("lake"), "usage"), "job_n"), 20, "{what}");
        assert_eq!(scene.findings("lake"), [], "{what}");
        assert_eq!(
            run(&scene, &sections, "lake").unwrap().status,
            Status::Unchanged,
            "{what}"
        );
    }
}

/// A dump that was in the wrong folder.
#[test]
fn a_file_that_moves_to_another_source_that_is_named_counts_once() {
    let scene = Scene::empty();
    scene.write("in/a.txt", dump(0).as_bytes());
    scene.write("in/b.txt", dump(100).as_bytes());
    scene.write("in/c.txt", dump(200).as_bytes());
    let source = |name, files, site| source(name, "FILES", site).replace("\"in/FILES.txt\"", files);
    let both = |first, second| [source("first", first, "OAK"), source("second", second, "ELM")].concat();
    run(&scene, &both("\"in/a.txt\", \"in/b.txt\"", "\"in/c.txt\""), "lake").unwrap();
    let moved = both("\"in/b.txt\"", "\"in/c.txt\", \"in/d.txt\"");
    fs::rename(scene.path("in/a.txt"), scene.path("in/d.txt")).unwrap();
    assert_eq!(run(&scene, &moved, "lake").unwrap().status, Status::Published);
    run(&scene, &moved, "fresh").unwrap();
    assert_eq!(sum(&all(&scene.path("lake"), "usage"), "job_n"), 30);
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "moved");
    assert_eq!(scene.findings("lake"), []);
}

#[test]
fn a_file_that_grew_while_its_source_was_renamed_does_not_count_twice() {
    let scene = scene();
    scene.write(
        "in/a.txt",
        (dump(0) + dump(40).strip_prefix(HEADER).unwrap()).as_bytes(),
    );
    let before = scene.lake("lake");
    let sections = [source("renamed", "a", "ELM"), source("second", "b", "OAK")].concat();
    let why = run(&scene, &sections, "lake").unwrap_err();
    assert_eq!(why.kind(), Kind::Config, "{why}");
    for word in ["first", "renamed", "in/a.txt", "replaced or extended"] {
        assert!(why.to_string().contains(word), "{word}: {why}");
    }
    assert_same(&before, &scene.lake("lake"), "after the refusal");
}

/// Two sources had the file, and one of them stays.
#[test]
fn a_file_that_grows_in_a_source_that_had_it_before_has_not_moved() {
    let scene = Scene::empty();
    scene.write("in/a.txt", dump(0).as_bytes());
    let both = [source("first", "a", "OAK"), source("second", "a", "ELM")].concat();
    run(&scene, &both, "lake").unwrap();
    let grown = dump(0) + dump(40).strip_prefix(HEADER).unwrap();
    scene.write("in/a.txt", grown.as_bytes());
    assert_eq!(
        run(&scene, &source("second", "a", "ELM"), "lake").unwrap().status,
        Status::Published
    );
    assert_eq!(sum(&all(&scene.path("lake"), "usage"), "job_n"), 30);
}

#[test]
fn a_source_under_another_name_is_not_rebuilt_from_files_that_are_gone() {
    let scene = scene();
    fs::remove_file(scene.path("in/b.txt")).unwrap();
    let before = scene.lake("lake");
    let why = run(&scene, &source("renamed", "a", "ELM"), "lake").unwrap_err();
    assert_eq!(why.kind(), Kind::Config, "{why}");
    for word in ["first", "in/a.txt", "one of them is no longer there", "in/b.txt"] {
        assert!(why.to_string().contains(word), "{word}: {why}");
    }
    assert_same(&before, &scene.lake("lake"), "after the refusal");
}

#[test]
fn names_that_a_former_source_gave_are_withheld_or_the_run_stops() {
    let scene = scene();
    let both = [source("renamed", "a", "OAK"), source("second", "b", "OAK")].concat() + DROPS;
    run(&scene, &both, "lake").unwrap();
    run(&scene, &both, "fresh").unwrap();
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "withheld");

    // More is withheld of a source from now on, and its files are in no source.
    let scene = self::scene();
    run(&scene, &source("second", "b", "OAK"), "lake").unwrap();
    let third = source("third", "c", "OAK") + DROPS;
    scene.write("in/c.txt", dump(200).as_bytes());
    let before = scene.lake("lake");
    let why = run(&scene, &third, "lake").unwrap_err();
    assert_eq!(why.kind(), Kind::Config, "{why}");
    for word in ["[privacy]", "2 of them are no longer there, or in no source"] {
        assert!(why.to_string().contains(word), "{word}: {why}");
    }
    assert_same(&before, &scene.lake("lake"), "after the refusal");
}

#[test]
fn records_of_a_source_that_is_gone_stay() {
    let scene = scene();
    let report = run(&scene, &source("second", "b", "OAK"), "lake").unwrap();
    assert_eq!(report.status, Status::Unchanged);
    assert_eq!(sum(&all(&scene.path("lake"), "usage"), "job_n"), 20);
    // A source of that name may come again.
    let both = [source("first", "a", "OAK"), source("second", "b", "OAK")].concat();
    assert_eq!(run(&scene, &both, "lake").unwrap().status, Status::Unchanged);
}

/// A night in which a dump was in two sources, and the morning after.
#[test]
fn a_file_that_was_in_two_sources_for_a_night_counts_once() {
    let one = source("first", "a", "OAK");
    let two = source("second", "a", "ELM");
    for (what, nights) in [
        (
            "another source",
            vec![one.clone(), [one.clone(), two.clone()].concat(), two.clone()],
        ),
        (
            "and back",
            vec![
                one.clone(),
                [one.clone(), two.clone()].concat(),
                two.clone(),
                one.clone(),
            ],
        ),
    ] {
        let scene = Scene::empty();
        scene.write("in/a.txt", dump(0).as_bytes());
        for sections in &nights {
            run(&scene, sections, "lake").unwrap();
        }
        let last = nights.last().unwrap();
        run(&scene, last, "fresh").unwrap();
        assert_same(&scene.lake("fresh"), &scene.lake("lake"), what);
        assert_eq!(scene.findings("lake"), [], "{what}");
        assert_eq!(run(&scene, last, "lake").unwrap().status, Status::Unchanged, "{what}");
    }
}

/// The rows of the file that moves are in another one as well, which counts.
#[test]
fn a_file_of_duplicates_that_moves_and_comes_back_counts_as_before() {
    let scene = Scene::empty();
    scene.write("in/one/j.txt", dump(0).as_bytes());
    scene.write("in/one/m.txt", (dump(0) + &dump(20).replace(HEADER, "")).as_bytes());
    scene.write("in/two/other.txt", dump(100).as_bytes());
    let sections = [source("first", "one/*", "OAK"), source("second", "two/*", "ELM")].concat();
    run(&scene, &sections, "lake").unwrap();
    let before = scene.lake("lake");
    let place = |folder: &str| scene.path(&format!("in/{folder}/j.txt"));
    for (from, to) in [("one", "two"), ("two", "one")] {
        fs::rename(place(from), place(to)).unwrap();
        run(&scene, &sections, "lake").unwrap();
    }
    assert_same(&before, &scene.lake("lake"), "a file that came back");
    assert_eq!(scene.findings("lake"), []);
}

/// Nights in which nothing ran, and dumps whose rows are in others as well.
#[test]
fn a_source_with_files_without_accepted_rows_can_be_renamed() {
    let scene = Scene::empty();
    scene.write("in/a1.txt", dump(0).as_bytes());
    scene.write("in/a2.txt", HEADER.as_bytes());
    scene.write("in/a3.txt", (dump(0) + "\n").as_bytes());
    run(&scene, &source("first", "a*", "OAK"), "lake").unwrap();
    let renamed = source("renamed", "a*", "OAK");
    assert_eq!(run(&scene, &renamed, "lake").unwrap().status, Status::Published);
    run(&scene, &renamed, "fresh").unwrap();
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "another name");
}

/// Where records cannot be rebuilt, a file that counts in both does not stop the nights.
#[test]
fn a_file_that_counts_in_both_stops_no_night() {
    let scene = Scene::empty();
    scene.write("in/a.txt", dump(0).as_bytes());
    scene.write("in/b.txt", dump(100).as_bytes());
    let both = [source("first", "*", "OAK"), source("second", "a", "ELM")].concat();
    run(&scene, &both, "lake").unwrap();
    fs::remove_file(scene.path("in/b.txt")).unwrap();
    let report = run(&scene, &source("second", "a", "ELM"), "lake").unwrap();
    assert_eq!(report.status, Status::Unchanged);
    assert_eq!(sum(&all(&scene.path("lake"), "usage"), "job_n"), 30);
}

/// Equal files in two sources are reported where their jobs count in both, and only there: by their jobs, or by their bytes where
/// these are too few.
#[test]
fn a_file_that_counts_in_both_sources_is_reported() {
    let two = |site: &str| [source("first", "a", "OAK"), source("second", "a", site)].concat();
    let also_listed = "[[inventory]]\nname = \"n1\"\nformat = \"csv\"\npaths = [\"in/nodes.csv\"]\nsite = \"OAK\"\nas_of = 2026-01-01\n\
                       [[inventory]]\nname = \"n2\"\nformat = \"csv\"\npaths = [\"in/nodes.csv\"]\nsite = \"ELM\"\nas_of = 2026-01-01\n";
    for (site, job_n, expected) in [
        ("OAK", 10, None),
        (
            "ELM",
            10,
            Some(
                "  counted twice: in/a.txt of source second: 10 of 10 jobs of ELM are in in/a.txt of source first with",
            ),
        ),
        (
            "ELM",
            2,
            Some(
                "warning: files that are in two sources and have jobs that count in both, of two sites or clusters: 1 (the first: \
                 in/a.txt of ",
            ),
        ),
    ] {
        let scene = Scene::empty();
        let rows: Vec<String> = dump(0).lines().take(1 + job_n).map(|row| format!("{row}\n")).collect();
        scene.write("in/a.txt", rows.concat().as_bytes());
        scene.write("in/nodes.csv", b"node,cpu_n\nn1,4\n");
        let sections = two(site) + also_listed;
        let pipeline = format!("[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 10\n{sections}");
        scene.write("pipeline.toml", pipeline.as_bytes());
        let warnings = || -> Vec<String> {
            let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
            let output = command
                .current_dir(scene.path(""))
                .args(["run", "pipeline.toml"])
                .output()
                .unwrap();
            let text = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
            assert!(output.status.success(), "{text}");
            text.lines()
                .filter(|line| line.contains("two sources") || line.contains("counted twice"))
                .map(str::to_owned)
                .collect()
        };
        let reported = warnings();
        match (expected, reported.as_slice()) {
            (None, []) => {}
            (Some(expected), [only]) => assert!(only.starts_with(expected), "{only}"),
            _ => panic!("{site}: {reported:?}"),
        }
        let counted_n = usize::try_from(sum(&all(&scene.path("lake"), "usage"), "job_n")).unwrap();
        assert_eq!(counted_n, if expected.is_some() { 2 * job_n } else { job_n }, "{site}");
        assert_eq!(warnings(), [""; 0], "nothing was read");
    }
}
