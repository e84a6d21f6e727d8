//! Reservations are charged by their window, and the jobs inside not again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use arrow_array::Array;
use gridtally::config::Plan;
use gridtally::reference::decimal;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::{date, decimal as decimals, int, number, text, word};

use crate::support::lake_rows::lake_rows as rows;
use crate::support::sample::repository;

pub(super) const HEADER: &str =
    "JobID|Cluster|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES|Reservation\n";

pub(super) const JOBS: &str = "JobID|Cluster|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES|Reservation\n\
    1|frontier|batch|phys|ada|COMPLETED|2026-03-31T19:00:00|2026-03-31T20:00:00|2026-04-01T04:00:00|28800|cpu=64,node=1|big_run\n\
    2|frontier|batch|phys|ada|COMPLETED|2026-03-31T19:00:00|2026-03-31T20:00:00|2026-03-31T21:00:00|3600|cpu=384,node=6|\n";

/// What `scontrol -o show reservation` prints of one.
pub(super) fn listed(name: &str, window: (&str, &str), nodes: usize, flags: &str) -> String {
    let (start, end) = window;
    format!(
        "ReservationName={name} StartTime={start} EndTime={end} Duration=08:00:00 Nodes=f[1-{nodes}] NodeCnt={nodes} \
         CoreCnt={} Features=(null) PartitionName=batch Flags={flags} TRES=cpu={} Users=ada Groups=(null) Accounts=phys \
         Licenses=(null) State=ACTIVE BurstBuffer=(null) MaxStartDelay=(null)\n",
        nodes * 64,
        nodes * 64
    )
}

/// Eight hours over the end of the allocation year.
pub(super) const WINDOW: (&str, &str) = ("2026-03-31T20:00:00", "2026-04-01T04:00:00");

pub(super) fn pipeline(folder: &Path, policies: &[&str]) -> std::path::PathBuf {
    let out = folder.join("lake").to_str().unwrap().to_owned();
    let mut text = format!(
        "[pipeline]\nname = \"olcf\"\noutput = {out:?}\nallocation_year_start = \"04-01\"\ncorrections = \"corrections.csv\"\n\
         [[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"OLCF\"\ntimezone = \"UTC\"\n\
         vo = {{ value = \"phys\" }}\n[[inventory]]\nname = \"machine\"\npaths = [\"resv-*.txt\"]\nsite = \"OLCF\"\n\
         cluster = \"frontier\"\ntimezone = \"UTC\"\nas_of = \"path\"\nmax_rejected = 1\n"
    );
    if !policies.is_empty() {
        let files: Vec<String> = policies
            .iter()
            .map(|name| repository(&format!("pipelines/policies/{name}.toml")))
            .map(|path| path.to_str().unwrap().to_owned())
            .collect();
        let _ = writeln!(text, "[[charge]]\npolicies = {files:?}");
    }
    let path = folder.join("p.toml");
    fs::write(&path, text).unwrap();
    path
}

pub(super) fn go(pipeline: &Path) -> String {
    let (plan, _) = Plan::load(pipeline).unwrap();
    stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
    let report = gridtally::audit::verify::verify(&plan.output).unwrap();
    assert!(report.is_sound(), "{}", report.text());
    plan.output
}

/// Node hours by subject, name and month.
fn charged(out: &str) -> BTreeMap<(String, String, i32), String> {
    let mut charged = BTreeMap::new();
    for batch in rows(out, "job_charges") {
        let of = |name: &str| text(&batch, name).unwrap();
        let (charge, month) = (decimals(&batch, "charge").unwrap(), date(&batch, "month").unwrap());
        for row in 0..batch.num_rows() {
            let key = (
                of("subject").value(row).to_owned(),
                of("job_id").value(row).to_owned(),
                month.value(row),
            );
            let sum: &mut i128 = charged.entry(key).or_default();
            *sum += number(charge, row).unwrap();
        }
    }
    charged
        .into_iter()
        .map(|(key, sum)| (key, decimal::text(sum, 9)))
        .collect()
}

/// 2026-03-01 and 2026-04-01 as days since 1970.
const MARCH: i32 = 20_513;
const APRIL: i32 = 20_544;

fn of(rows: &[(&str, &str, i32, &str)]) -> BTreeMap<(String, String, i32), String> {
    rows.iter()
        .map(|(subject, name, month, charge)| {
            (
                ((*subject).to_owned(), (*name).to_owned(), *month),
                (*charge).to_owned(),
            )
        })
        .collect()
}

pub(super) const HEAD: &str = "id,action,job_id,author,reason,date,undoes\n";

#[test]
fn a_window_is_charged_whole_and_its_jobs_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("jobs.txt", JOBS);
    write("corrections.csv", HEAD);
    // A day before, it was planned shorter and another day; maintenance is nobody's.
    let planned = listed(
        "big_run",
        ("2026-03-31T22:00:00", "2026-04-01T04:00:00"),
        1000,
        "SPEC_NODES",
    );
    let maintenance = listed(
        "pm",
        ("2026-03-01T00:00:00", "2026-03-02T00:00:00"),
        9000,
        "MAINT,SPEC_NODES",
    );
    write("resv-2026-03-30.txt", &(planned + &maintenance));
    write("resv-2026-04-01.txt", &listed("big_run", WINDOW, 2000, "SPEC_NODES"));
    write("resv-2026-04-02.txt", "No reservations in the system\n");
    let both = pipeline(folder.path(), &["olcf-frontier", "olcf-frontier-reservation"]);
    let out = go(&both);
    // 2,000 nodes for eight hours, half of them in each year; six nodes for an hour outside.
    let whole = of(&[
        ("jobs", "2", MARCH, "6"),
        ("reservations", "big_run", MARCH, "8000"),
        ("reservations", "big_run", APRIL, "8000"),
    ]);
    assert_eq!(charged(&out), whole);
    // Usage is that of jobs alone: idle time of a window is charged, not used.
    let used: i64 = rows(&out, "usage")
        .iter()
        .flat_map(|batch| int(batch, "wall_s").unwrap().iter().flatten().collect::<Vec<_>>())
        .sum();
    assert_eq!(used, 28_800 + 3600);
    for batch in rows(&out, "charges") {
        for row in 0..batch.num_rows() {
            assert_eq!(word(text(&batch, "account").unwrap(), row), Some("phys"));
        }
    }
    // The same once more, read again from nothing, and in one go with a later listing that ends it earlier.
    write(
        "resv-2026-04-03.txt",
        &listed(
            "big_run",
            ("2026-03-31T20:00:00", "2026-03-31T23:00:00"),
            2000,
            "SPEC_NODES",
        ),
    );
    go(&both);
    let cut = of(&[("jobs", "2", MARCH, "6"), ("reservations", "big_run", MARCH, "6000")]);
    assert_eq!(charged(&out), cut);
    // Given back for a failure of the system: a signed row, and all of it.
    write(
        "corrections.csv",
        &format!("{HEAD}R1,void,big_run,E. Office,power cut,2026-04-05,\n"),
    );
    go(&both);
    let mut refunded = cut.clone();
    refunded.insert(("reservations".to_owned(), "big_run".to_owned(), MARCH), "0".to_owned());
    assert_eq!(charged(&out), refunded);
    let status = rows(&out, "corrections");
    assert_eq!(text(&status[0], "status").unwrap().value(0), "applied");
    write(
        "corrections.csv",
        &format!("{HEAD}R1,void,big_run,E. Office,power cut,2026-04-05,\nU1,undo,,E. Office,no,2026-04-06,R1\n"),
    );
    go(&both);
    assert_eq!(charged(&out), cut);
    // Without the policy nothing of it is left.
    go(&pipeline(folder.path(), &["olcf-frontier"]));
    assert_eq!(charged(&out), of(&[("jobs", "2", MARCH, "6")]));
    assert!(rows(&out, "charge_part").iter().all(|batch| batch.num_rows() == 1));
}

#[test]
fn other_listings_report_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("jobs.txt", JOBS);
    write("corrections.csv", HEAD);
    let several_lines = listed("a", WINDOW, 10, "SPEC_NODES").replace(" Nodes=", "\n   Nodes=");
    write("resv-2026-04-01.txt", &several_lines);
    write(
        "resv-sacctmgr-2026-04-01.txt",
        "Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall|NodeNames\n\
         frontier|b|cpu=640|2026-03-31T20:00:00|2026-04-01T04:00:00|3600|f[1-10]\n",
    );
    write(
        "resv-own-2026-04-01.txt",
        "reservation,start,end,node_n,cluster\nc,2026-03-31T20:00:00Z,2026-04-01T04:00:00Z,10,frontier\nd,late,2026-04-01T04:00:00Z,10,frontier\n",
    );
    let out = go(&pipeline(folder.path(), &["olcf-frontier-reservation"]));
    let halves: Vec<(&str, &str, i32, &str)> = ["a", "b", "c"]
        .iter()
        .flat_map(|name| [MARCH, APRIL].map(|month| ("reservations", *name, month, "40")))
        .collect();
    assert_eq!(charged(&out), of(&halves));
    let refused = rows(&out, "rejects");
    assert_eq!(text(&refused[0], "reason").unwrap().value(0), "bad_time");
    assert_eq!(text(&refused[0], "raw").unwrap().null_count(), 0);
}
