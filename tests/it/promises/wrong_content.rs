//! A dump that was wrong as a whole, put right in place or under another name: the lake keeps what it contained, and a void of
//! that content takes it out.

use std::fmt::Write as _;

use gridtally::run::RunOptions;
use gridtally::run::run_report::RunReport;

use super::copies::{HEADER, HOUR, NIGHT, job, night, pipeline};
use super::scene::Scene;
use super::tables::{all, files, read, sum, text};

/// A job that the wrong content has as the right one has it.
fn unchanged() -> String {
    job("zoo", 900, NIGHT + 1000, 4000, 0)
}

/// The jobs of the second night, printed in a zone with such a shift.
fn second(shift_s: i64) -> String {
    night("zoo", (200, 5), NIGHT + 24 * HOUR, shift_s) + &unchanged()
}

/// What counts: jobs and core seconds of usage with its corrections.
fn counted(scene: &Scene, lake: &str) -> (i64, i64) {
    let usage = files(&scene.path(lake), "usage");
    let sums = usage.iter().map(|path| read(path));
    sums.fold((0, 0), |(job_n, core_s), batch| {
        (job_n + sum(&batch, "job_n"), core_s + sum(&batch, "alloc_core_s"))
    })
}

fn stop(scene: &Scene, names: &[&str]) -> String {
    let stopped = scene.try_run(&pipeline(names), "lake", RunOptions::default());
    stopped.unwrap_err().to_string()
}

/// Runs with voids of such filters, a column and its values.
fn run_with_voids(scene: &Scene, names: &[&str], column: &str, values: &[String]) -> RunReport {
    let mut table = format!("id,action,{column},author,reason,date\n");
    for (at, value) in values.iter().enumerate() {
        writeln!(table, "C{at},void,{value},E. Office,printed in another zone,2026-04-01").unwrap();
    }
    scene.write("corrections.csv", table.as_bytes());
    scene.run(&pipeline(names).with("corrections", "\"corrections.csv\""), "lake")
}

/// The lake holds what one of the right files alone holds.
fn holds_what_is_right(scene: &Scene, names: &[&str], jobs: i64) {
    scene.run(&pipeline(names), "right");
    let right = counted(scene, "right");
    assert_eq!((counted(scene, "lake"), right.0), (right, jobs));
    assert_eq!(scene.findings("lake"), []);
    std::fs::remove_dir_all(scene.path("right")).unwrap();
}

/// A lake of a right night and of one that was printed in another zone.
fn wrong_lake() -> Scene {
    let scene = Scene::empty();
    scene.write("data/1.txt", night("zoo", (100, 5), NIGHT, 0).as_bytes());
    scene.write("data/2.txt", second(HOUR).as_bytes());
    scene.run(&pipeline(&["1.txt"]), "lake");
    scene.run(&pipeline(&["1.txt", "2.txt"]), "lake");
    scene
}

/// The id of a file that a message names.
fn named_file_id(why: &str) -> String {
    let (_, rest) = why.split_once("2.txt (file_id ").unwrap_or_else(|| panic!("{why}"));
    let (file_id, rest) = rest.split_once(')').unwrap();
    assert!(
        rest.starts_with(" contained, which is no longer among the inputs,"),
        "{why}"
    );
    assert!(
        why.contains(&format!(
            "void them by a correction with action void, their file_id and no other filter ({file_id}"
        )),
        "{why}"
    );
    file_id.to_owned()
}

#[test]
fn a_dump_that_was_put_right_in_place_counts_once_its_former_content_is_void() {
    let scene = wrong_lake();
    scene.write("data/2.txt", second(0).as_bytes());
    let both = ["1.txt", "2.txt"];
    let why = stop(&scene, &both);
    assert!(!why.contains("in the same file once more"), "{why}");
    assert!(
        why.contains("2.txt: 5 of 6 jobs of ZOO") && why.contains("1:00 h later there"),
        "{why}"
    );
    let file_id = named_file_id(&why);
    let report = run_with_voids(&scene, &both, "file_id", &[file_id]);
    assert!(
        report.copied_jobs.is_empty() && report.unmatched_corrections.is_empty(),
        "{}",
        report.text()
    );
    // The job that both contents have counts as one of the right content.
    holds_what_is_right(&scene, &both, 11);
    // The next nights.
    scene.write("data/3.txt", night("zoo", (300, 5), NIGHT + 48 * HOUR, 0).as_bytes());
    let three = ["1.txt", "2.txt", "3.txt"];
    scene.run(&pipeline(&three).with("corrections", "\"corrections.csv\""), "lake");
    holds_what_is_right(&scene, &three, 16);
    // What is wrong later is found as before.
    scene.write("data/4.txt", second(2 * HOUR).as_bytes());
    let keep = pipeline(&["1.txt", "2.txt", "3.txt", "4.txt"]).with("corrections", "\"corrections.csv\"");
    let why = scene
        .try_run(&keep, "lake", RunOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("4.txt: 5 of 6 jobs of ZOO") && why.contains("2:00 h earlier there"),
        "{why}"
    );
}

#[test]
fn a_dump_that_came_right_under_another_name_counts_once_the_wrong_one_is_void() {
    let scene = wrong_lake();
    scene.write("data/2b.txt", second(0).as_bytes());
    let names = ["1.txt", "2b.txt"];
    let file_id = named_file_id(&stop(&scene, &names));
    run_with_voids(&scene, &names, "file_id", &[file_id]);
    holds_what_is_right(&scene, &names, 11);
}

#[test]
fn a_wrong_dump_that_is_still_there_is_named_as_it_is() {
    let scene = wrong_lake();
    scene.write("data/3.txt", second(0).as_bytes());
    let why = stop(&scene, &["1.txt", "2.txt", "3.txt"]);
    assert!(why.contains("2.txt with the same number and duration"), "{why}");
    assert!(!why.contains("file_id"), "{why}");
}

/// A cluster was renamed while jobs ran: those of the former name are taken out one by one.
#[test]
fn void_rows_without_an_end_are_no_copies() {
    let row = |cluster: &str, id: i64, end: &str, elapsed_s: i64, state: &str| {
        let start_s = NIGHT + id * 60;
        format!(
            "{id}|{id}|{cluster}|u1|bio|{}|{start_s}|{end}|{elapsed_s}|{state}|4|00:01.000\n",
            start_s - id
        )
    };
    let dump = |rows: &dyn Fn(i64) -> String| HEADER.to_owned() + &(1..6).map(rows).collect::<String>();
    let scene = Scene::empty();
    let first = dump(&|id| row("zoo", id, "Unknown", 600, "RUNNING"));
    let second = dump(&|id| {
        row(
            "tierpark",
            id,
            &(NIGHT + id * 60 + 90_000).to_string(),
            90_000,
            "COMPLETED",
        )
    });
    scene.write("data/1.txt", first.as_bytes());
    scene.write("data/2.txt", second.as_bytes());
    scene.run(&pipeline(&["1.txt"]), "lake");
    let both = ["1.txt", "2.txt"];
    assert!(stop(&scene, &both).contains("2.txt: 5 of 5 jobs of ZOO"));
    let records = all(&scene.path("lake"), "records");
    assert!((0..records.num_rows()).all(|row| text(&records, "cluster", row).as_deref() == Some("zoo")));
    let ids = records.column_by_name("record_id").unwrap();
    let ids = arrow_array::cast::AsArray::as_fixed_size_binary(ids);
    let ids: Vec<String> = ids
        .iter()
        .flatten()
        .map(|bytes| format!("{:032x}", u128::from_be_bytes(bytes.try_into().unwrap())))
        .collect();
    run_with_voids(&scene, &both, "record_id", &ids);
    holds_what_is_right(&scene, &["2.txt"], 5);
}
