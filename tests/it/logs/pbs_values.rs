//! Values of records of PBS as its versions write them: with quotes, or without.

use gridtally::ledger::Reason;
use gridtally::record::{Anomaly, JobRow};
use gridtally::sources::pbs;

use super::golden::{PBS, one, refused};
use super::read;

/// The job of the line with other text in place of `from`.
fn job(from: &str, to: &str) -> JobRow<'static> {
    assert!(PBS.contains(from), "{from}");
    one(pbs::DIALECT, &format!("{}\n", PBS.replace(from, to)))
}

/// PBS Pro and `OpenPBS` put every account in quotes, and mark no quote within it.
#[test]
fn quotes_around_an_account_are_no_part_of_it() {
    for (text, account) in [
        ("p1", Some("p1")),
        ("\"p1\"", Some("p1")),
        ("\"Climate Model 2\"", Some("Climate Model 2")),
        ("\"a\tb\"", Some("a\tb")),
        ("'the \"big\" one'", Some("the \"big\" one")),
        ("\"the \"big\" one\"", Some("the \"big\" one")),
        ("\"it's\"", Some("it's")),
        // What is in quotes is no key.
        (
            "\"a user=root queue=none start=1 b\"",
            Some("a user=root queue=none start=1 b"),
        ),
        ("\"\"", None),
        ("\" \"", None),
        // Torque knows no quotes: one that nothing closes is part of the account, which ends at a blank.
        ("\"Climate Model 2", Some("\"Climate")),
        ("'s", Some("'s")),
        ("p\"1 \"", Some("p\"1")),
    ] {
        let row = job("account=p1", &format!("account={text}"));
        let rest = (row.user, row.partition, row.job_name, row.start_ms);
        assert_eq!(row.account, account, "{text}");
        assert_eq!(
            rest,
            (Some("ada"), Some("long"), Some("my"), Some(1_709_971_200_000)),
            "{text}"
        );
    }
}

#[test]
fn resources_in_quotes_hold_no_keys() {
    let queue = |text: &str| job("session=1", text).partition;
    assert_eq!(
        queue("Resource_List.place=\"pack queue=x\" project=\"q queue=y\""),
        Some("long")
    );
    assert_eq!(queue("resources_used.io='{\"a\": \"b queue=x\"}'"), Some("long"));
    assert_eq!(queue("project=\"q queue=y"), Some("y"), "nothing closes it");
}

/// The owner of a job may choose a name that begins with a quote: it takes nothing else along.
#[test]
fn the_name_of_a_job_is_never_in_quotes() {
    let row = job("jobname=my run", "jobname=\"my queue=none");
    assert_eq!(row.job_name, Some("\"my"));
    let row = job("jobname=my run", "jobname='my Resource_List.software=x'");
    assert_eq!((row.job_name, row.partition), (Some("'my"), Some("long")));
}

/// A line of nothing but open quotes is searched for what closes them once.
#[test]
fn open_quotes_are_searched_once() {
    let line = format!("03/09/2024 10:00:00;E;77.b;{}\n", "a=\"b c='d ".repeat(300_000));
    let all = read(pbs::DIALECT, line);
    assert_eq!(all.reasons(), [Reason::MissingField]);
}

/// Torque states the GPUs of a job by name, and those it requested for each node.
#[test]
fn gpus_of_torque_are_those_given_or_requested() {
    for (text, gpu_n) in [
        ("exec_gpus=n1-gpu/0+n2-gpu/0", Some(2)),
        ("exec_gpus=n1-gpu/0-3+n2-gpu/1,3", Some(6)),
        ("exec_gpus=n1-gpu/0 Resource_List.nodes=2:gpus=2", Some(1)),
        ("Resource_List.nodes=2:ppn=2:gpus=1", Some(2)),
        (
            "Resource_List.nodes=2:ppn=2:gpus=3:exclusive_thread+n7:ppn=1:gpus=1+3:ppn=8",
            Some(7),
        ),
        ("Resource_List.nodes=1:gpus=0", Some(0)),
        ("Resource_List.nodes=2:ppn=2", None),
        ("Resource_List.nodes=n1+n2:a100", None),
        ("session=1", None),
    ] {
        let row = job("Resource_List.ngpus=2", text);
        assert_eq!((row.alloc_gpu_n, row.anomalies), (gpu_n, 0), "{text}");
    }
    for text in [
        "exec_gpus=n1",
        "exec_gpus=n1-gpu/x",
        "Resource_List.nodes=2:gpus=all",
        "Resource_List.nodes=9000000000000000000:gpus=9",
    ] {
        let row = job("Resource_List.ngpus=2", text);
        assert_eq!(
            (row.alloc_gpu_n, row.anomalies),
            (None, Anomaly::ValueDropped.bit()),
            "{text}"
        );
    }
    assert_eq!(
        job("session=1", "Resource_List.nodes=2:gpus=4").alloc_gpu_n,
        Some(2),
        "ngpus is the number of all"
    );
}

/// The end of a job that was deleted before it ran: it has no start, was given no host and used nothing.
const DELETED: &str = "03/09/2024 10:00:00;E;77.batch.example.org;user=ada group=physics account=p1 jobname=my run queue=long \
                       ctime=1709970000 qtime=1709970000 etime=1709970010 Resource_List.walltime=10:00:00 session=0 \
                       end=1709974800 Exit_status=271";

#[test]
fn a_job_that_was_deleted_before_it_ran_is_out_of_scope() {
    for used in [
        "",
        " start=0",
        " resources_used.cput=00:00:00 resources_used.walltime=00:00:00",
        " resources_used.cput=0 resources_used.mem=0kb resources_used.vmem=0kb",
    ] {
        let all = read(pbs::DIALECT, format!("{DELETED}{used}\n"));
        assert_eq!(all.out_of_scope.get(&Reason::NotStarted), Some(&1), "{used}");
        assert!(all.jobs.is_empty() && all.reasons().is_empty(), "{used}");
    }
}

/// A line that lost its start shows that the job ran, or how it ended is lost too.
#[test]
fn a_job_that_ran_and_has_no_start_is_refused() {
    for (line, reason) in [
        (format!("{DELETED} exec_host=n1/0"), Reason::MissingField),
        (
            format!("{DELETED} resources_used.walltime=00:00:01"),
            Reason::MissingField,
        ),
        (format!("{DELETED} resources_used.cput=00:00:01"), Reason::MissingField),
        (format!("{DELETED} resources_used.cput=00:00:0x"), Reason::MissingField),
        (format!("{DELETED} resources_used.mem=12kb"), Reason::MissingField),
        (DELETED.replace("session=0", "session=4711"), Reason::MissingField),
        (
            DELETED.replace("etime=1709970010", "etime=1709970010start=1709971200"),
            Reason::MissingField,
        ),
        (DELETED.replace(" end=1709974800", ""), Reason::MissingField),
        (DELETED.replace(" Exit_status=271", ""), Reason::MissingField),
        (DELETED.replace("end=1709974800", "end=soon"), Reason::BadTime),
    ] {
        assert_eq!(refused(pbs::DIALECT, &format!("{line}\n")), reason, "{line}");
    }
}
