//! A run does not carry damage of published files over into what it publishes.

use std::fs;

use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;

use super::scene::{Scene, assert_same};

const HEADER: &str = "JobIDRaw|Cluster|Account|User|State|Submit|Start|End|ElapsedRaw|NCPUS|TotalCPU\n";
const RECORDS: &str = "records/site=OAK/record_month=2026-03-01/records.parquet";

fn jobs(numbers: std::ops::Range<usize>) -> String {
    let rows = numbers.map(|number| {
        let at = format!("2026-03-{:02}T10:{:02}", 1 + number % 28, number % 60);
        format!("{number}|oak|phys|ana|COMPLETED|{at}:00|{at}:10|{at}:50|40|2|00:00:30\n")
    });
    HEADER.to_owned() + &rows.collect::<String>()
}

fn scene() -> Scene {
    let scene = Scene::empty();
    let pipeline = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n\
        [[source]]\nname = \"dumps\"\nformat = \"sacct\"\npaths = [\"in/*.txt\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\n\
        vo = { column = \"account\" }\n";
    scene.write("pipeline.toml", pipeline.as_bytes());
    scene.write("in/1.txt", jobs(0..2000).as_bytes());
    scene
}

#[test]
fn a_month_is_not_merged_with_damaged_records() {
    let scene = scene();
    let run = || scene.run_file("pipeline.toml", "lake", RunOptions::default());
    run().unwrap();
    let records = scene.path("lake").join(RECORDS);
    let whole = fs::read(&records).unwrap();
    scene.write("in/2.txt", jobs(2000..2010).as_bytes());
    // Most of these are pages of columns, which read as other values.
    for at in (whole.len() / 20..whole.len()).step_by(whole.len() / 10) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(&records, &flipped).unwrap();
        let before = scene.lake("lake");
        let why = run().unwrap_err();
        assert_eq!(why.kind(), Kind::Data, "byte {at}: {why}");
        assert!(why.to_string().contains(RECORDS), "byte {at}: {why}");
        assert_same(&before, &scene.lake("lake"), "after the refusal");
    }
    let longer = [whole.as_slice(), b"PAR1"].concat();
    fs::write(&records, longer).unwrap();
    assert_eq!(run().unwrap_err().kind(), Kind::Data);
    // What is as the manifest names it is merged.
    fs::write(&records, &whole).unwrap();
    assert_eq!(run().unwrap().status, Status::Published);
    assert_eq!(scene.findings("lake"), []);
}
