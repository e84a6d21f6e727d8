//! The status in `corrections` of a correction without an entry in usage: applied, where charges have one, or no match.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, StringArray};
use gridtally::config::Plan;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;

use super::scene::findings;
use crate::support::forge::{copy_lake, forge_rows, rows};

const HEADER: &str = "JobID|Cluster|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES|Reservation\n";
const JOB: &str =
    "1|oak|cpu|a|u|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|cpu=4,node=1|\n";
const WINDOW: &str = "reservation,cluster,start,end,node_n,core_n,gpus,accounts,as_of\n\
                      workshop,oak,2026-03-02T00:00:00Z,2026-03-02T08:00:00Z,1,4,,a,2026-03-03\n";
const POLICY: &str = "id = \"windows\"\nversion = \"1\"\ntitle = \"Windows\"\nsource = \"a test\"\n\
                      charges_for = \"reservations\"\npool = \"node_hours\"\nunit = \"node_hour\"\n\
                      formula = \"nodes * seconds / 3600\"\n\
                      [[example]]\nname = \"one\"\nin = { nodes = 2, seconds = 3600 }\nexpect = 2\n";
const CORRECTIONS: &str = "id,action,job_id,author,reason,date\n\
                           JOB,void,1,E. Office,node failed,2026-03-05\n\
                           NONE,void,99,E. Office,node failed,2026-03-05\n\
                           WINDOW,void,workshop,E. Office,power cut,2026-03-05\n";

/// The rows with another status of one correction.
fn with_status(batch: &RecordBatch, id: &str, status: &str) -> RecordBatch {
    let ids = batch.column_by_name("correction_id").unwrap().as_string::<i32>();
    let old = batch.column_by_name("status").unwrap().as_string::<i32>();
    let new: StringArray = (ids.iter().zip(old))
        .map(|(of, old)| if of == Some(id) { Some(status) } else { old })
        .collect();
    let mut columns = batch.columns().to_vec();
    columns[batch.schema().index_of("status").unwrap()] = Arc::new(new);
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

#[test]
fn a_correction_that_did_not_match_is_not_taken_for_an_applied_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("jobs.txt", &format!("{HEADER}{JOB}"));
    write("windows.csv", WINDOW);
    write("windows.toml", POLICY);
    write("corrections.csv", CORRECTIONS);
    write(
        "p.toml",
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\ncorrections = \"corrections.csv\"\n\
         [[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\n\
         vo = { value = \"v\" }\n\
         [[inventory]]\nname = \"machine\"\npaths = [\"windows.csv\"]\nsite = \"A\"\ncluster = \"oak\"\ntimezone = \"UTC\"\n\
         [[charge]]\npolicies = [\"windows.toml\"]\n",
    );
    let (plan, _) = Plan::load(&folder.path().join("p.toml")).unwrap();
    stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
    let lake = folder.path().join("lake");
    assert_eq!(findings(&lake), []);
    let path = "corrections/corrections.parquet";
    let held = rows(&lake.join(path));
    let of = |name: &str| held.column_by_name(name).unwrap().as_string::<i32>().iter();
    let statuses: Vec<_> = of("correction_id")
        .zip(of("status"))
        .map(|(id, is)| (id.unwrap(), is.unwrap()))
        .collect();
    assert_eq!(
        statuses,
        [("JOB", "applied"), ("NONE", "no_match"), ("WINDOW", "applied")]
    );
    // The job is in usage, the window in charges alone.
    let entries: Vec<bool> = of("entry").map(|entry| entry.is_some()).collect();
    assert_eq!(entries, [true, false, false]);
    for (id, status) in [("NONE", "applied"), ("WINDOW", "no_match"), ("JOB", "no_match")] {
        let forged = folder.path().join(format!("forged-{id}"));
        copy_lake(&lake, &forged);
        forge_rows(&forged, path, |batch| with_status(&batch, id, status));
        let found = findings(&forged);
        let reported = format!("status is {status}, computed ");
        assert!(
            found
                .iter()
                .any(|(of, problem)| of == path && problem.contains(id) && problem.contains(&reported)),
            "{id}: {found:?}"
        );
    }
}
