//! Every log is recognised from its content.

use gridtally::sources::diagnosis;
use gridtally::sources::registry::recognise;
use gridtally::sources::{blah, htcondor, lsf, pbs, sge, swf};

use super::damage::sample;
use super::{FORMATS, reported};
use crate::support::collect::shared;

#[test]
fn from_content_alone() {
    for format in FORMATS {
        let text = sample(format);
        assert_eq!(recognise(&text), Some(format), "{format:?}");
        assert_eq!(reported(format).format.as_str(), recognise(&text).unwrap().as_str());
    }
    let array = b"[{\"ClusterId\":1,\"ProcId\":0,\"JobStatus\":4}]";
    assert_eq!(recognise(array), Some(htcondor::DIALECT));
    for other in ["a:b:c\n", "a|b|c|d\n", "1 2 3\n", "; a comment\n", "\"JOB\n", "[1,2]"] {
        assert_eq!(recognise(other.as_bytes()), None, "{other:?}");
    }
}

#[test]
fn a_workload_without_a_start_is_reported() {
    let text = b"1 0 0 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1\n";
    let problems = diagnosis::of(recognise(text), text).problems;
    assert!(
        problems.iter().any(|problem| problem.contains("unix_start_time")),
        "{problems:?}"
    );
}

#[test]
fn a_workload_without_wait_times_is_reported() {
    let text = b"; UnixStartTime: 0\n1 0 -1 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1\n";
    let found = diagnosis::of(recognise(text), text);
    assert!(
        found.needed.contains(&swf::START_FROM) && found.problems.iter().any(|problem| problem.contains("start_from"))
    );
}

#[test]
fn real_logs() {
    for (file, dialect) in [
        ("apel/batch-logs/pbs.log", pbs::DIALECT),
        ("apel/batch-logs/sge.log", sge::DIALECT),
        ("apel/batch-logs/lsf.log", lsf::DIALECT),
        ("apel/batch-logs/htcondor.log", htcondor::DIALECT),
        ("apel/batch-logs/blah.log", blah::DIALECT),
        // The kind of a file follows from its first line.
        ("apel/batch-logs/mixed.log", blah::DIALECT),
    ] {
        let Some(path) = shared("logs::recognised::real_logs", &format!("data/{file}")) else {
            return;
        };
        assert_eq!(recognise(&std::fs::read(path).unwrap()), Some(dialect), "{file}");
    }
}
