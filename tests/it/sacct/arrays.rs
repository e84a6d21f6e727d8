//! Rows for the tasks of an array that have not started.

use gridtally::ledger::Reason;

use super::json::{OLD, document};
use super::read;
use crate::support::collect::Collected;

fn reasons(found: &Collected) -> Vec<Reason> {
    found.rejects.iter().map(|reject| reject.reason).collect()
}

/// A row that states that they ran contradicts itself, and is no job that merely waits.
#[test]
fn an_array_range_with_the_times_of_a_job_that_ran_is_refused() {
    let found = read(
        "JobIDRaw|JobID|State|Start|End|ElapsedRaw|AllocTRES|NodeList\n\
         3|3_[1-4]|COMPLETED|1000|4600|3600|cpu=7|n1\n\
         3.batch|3_[1-4].batch|COMPLETED|1000|4600|3600|cpu=7|n1\n\
         4|4_[1-4]|PENDING|Unknown|Unknown|0||None assigned\n\
         5|5_[1-4]|CANCELLED by 7|Unknown|60|0||None assigned\n\
         6|6_[1-4]|CANCELLED by 7|60|60|0||None assigned\n\
         7|7_[1-4]|CANCELLED by 7|50|60|10||None assigned\n",
    );
    assert_eq!(reasons(&found), [Reason::Contradiction]);
    assert!(found.rejects[0].detail.contains("3_[1-4]"), "{:?}", found.rejects[0]);
    assert_eq!(found.out_of_scope_rows(Reason::NotStarted), 4);
    assert!(found.jobs.is_empty());
}

#[test]
fn so_is_such_an_object_of_json() {
    let rest = OLD.replace("\"task\": null, \"task_id\": 3", "\"task\": \"1-4\", \"task_id\": null");
    assert_ne!(OLD, rest);
    let found = read(document(std::slice::from_ref(&rest)));
    assert_eq!((reasons(&found), found.jobs.len()), (vec![Reason::Contradiction], 0));
    let waits = rest.replace("\"current\": \"FAILED\"", "\"current\": \"PENDING\"");
    assert_eq!(reasons(&read(document(&[waits]))), []);
    let cancelled = rest.replace("\"elapsed\": 7200", "\"elapsed\": 0");
    let found = read(document(&[cancelled]));
    assert_eq!((reasons(&found), found.jobs.len()), (vec![], 0));
}
