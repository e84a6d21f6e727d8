//! Steps folded into their jobs, and what CPU time is.

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;

use super::{only, read};

const HEADER: &str =
    "JobIDRaw|State|Submit|Start|End|ElapsedRaw|NCPUS|CPUTimeRAW|TotalCPU|UserCPU|SystemCPU|MaxRSS|TRESUsageInTot\n";

#[test]
fn steps_of_every_kind_stay_with_their_job() {
    let found = read(format!(
        "{HEADER}\
         20|COMPLETED|1|10|70|60|4|240|01:00.500|01:00.000|00:00.500||\n\
         20.batch|CANCELLED|10|10|70|60|4|240|00:30.500|||3248K|\n\
         20.extern|COMPLETED|10|10|71|61|4|244|00:00:00|||100K|\n\
         20.interactive|COMPLETED|10|10|70|60|4|240|00:10.000|||9M|\n\
         20.0|FAILED|10|10|70|60|4|240|00:10.000|||1M|\n\
         20.0+1|COMPLETED|10|10|70|60|4|240|00:10.000|||1M|\n\
         20.TBD|COMPLETED|10|10|70|60|4|240|00:00.000||||\n\
         21|COMPLETED|1|10|70|60|1|60|00:05.000||||\n"
    ));
    assert!(found.rejects.is_empty());
    let [first, second] = &found.jobs[..] else {
        panic!("{found:#?}")
    };
    assert_eq!((first.step_n, first.row.max_rss_byte), (6, Some(9 << 20)));
    assert_eq!((first.row.cpu_ms, first.row.cpu_user_ms), (Some(60_500), Some(60_000)));
    assert_eq!(first.row.state, Some("COMPLETED"));
    assert_eq!((second.step_n, second.row.cpu_ms), (0, Some(5000)));
}

#[test]
fn attempts_of_one_id_keep_their_own_steps() {
    let found = read(format!(
        "{HEADER}\
         20|REQUEUED|1|10|20|10|1|10|00:01.000||||\n\
         20.batch|CANCELLED|10|10|20|10|1|10|00:01.000|||1K|\n\
         20|COMPLETED|1|30|70|40|1|40|00:09.000||||\n\
         20.batch|COMPLETED|30|30|70|40|1|40|00:08.000|||2K|\n\
         20.0|COMPLETED|30|30|70|40|1|40|00:01.000|||3K|\n"
    ));
    let runs: Vec<_> = found
        .jobs
        .iter()
        .map(|j| (j.row.start_ms, j.step_n, j.row.cpu_ms, j.row.max_rss_byte))
        .collect();
    assert_eq!(
        runs,
        [
            (Some(10_000), 1, Some(1000), Some(1024)),
            (Some(30_000), 2, Some(9000), Some(3072))
        ]
    );
}

#[test]
fn allocations_of_a_resized_job_follow_each_other() {
    // As Slurm 22.05 prints it: all rows start with the job, the later ones were submitted when the job was resized.
    let found = read(
        "JobIDRaw|State|Submit|Eligible|Start|End|ElapsedRaw|Suspended|NCPUS|TotalCPU\n\
         104|RESIZING|1000|1000|1001|1016|15|00:00:00|4|00:01.000\n\
         104.batch|RESIZING|1001||1001|1016|15|00:00:00|3|00:01.000\n\
         104|RESIZING|1016|1000|1001|1026|25|00:00:00|3|00:02.000\n\
         104|COMPLETED|1026|1000|1001|1040|35|00:00:04|2|00:03.000\n\
         104.batch|COMPLETED|1026||1026|1040|14|00:00:00|2|00:03.000\n\
         105|RUNNING|1020|1000|1001|Unknown|59|00:00:00|2|00:00:00\n\
         106|COMPLETED|1050|1000|1001|1040|39|00:00:00|2|00:01.000\n",
    );
    assert!(found.rejects.is_empty(), "{found:#?}");
    let allocations: Vec<_> = found
        .jobs
        .iter()
        .map(|job| {
            let seconds = |ms: Option<i64>| ms.map(|ms| ms / 1000);
            let row = &job.row;
            let times = [row.submit_ms, row.eligible_ms, row.start_ms, row.end_ms].map(seconds);
            (
                times.map(Option::unwrap_or_default),
                seconds(row.wall_ms),
                row.alloc_core_n,
                job.step_n,
            )
        })
        .collect();
    assert_eq!(
        allocations,
        [
            ([1000, 1000, 1001, 1016], Some(15), Some(4), 1),
            ([1016, 1016, 1016, 1026], Some(10), Some(3), 0),
            ([1026, 1026, 1026, 1040], Some(10), Some(2), 1),
            ([1020, 1020, 1020, 0], Some(40), Some(2), 0),
            // A submission after the end is none of a resize.
            ([1050, 1000, 1001, 1040], Some(39), Some(2), 0),
        ]
    );
}

#[test]
fn orphan_steps_are_refused() {
    let found = read(format!(
        "{HEADER}19.batch|COMPLETED|1|10|70|60|1|60|00:01.000||||\n\
         20|COMPLETED|1|10|70|60|1|60|00:01.000||||\n\
         21.0|COMPLETED|1|10|70|60|1|60|00:01.000||||\n\
         20.0|COMPLETED|1|10|70|60|1|60|00:01.000||||\n"
    ));
    let orphans: Vec<_> = found
        .rejects
        .iter()
        .map(|reject| (reject.reason, reject.at.line))
        .collect();
    assert_eq!(orphans, [(Reason::StepWithoutJob, 2), (Reason::StepWithoutJob, 4)]);
    assert_eq!(found.jobs.first().unwrap().step_n, 1);
}

#[test]
fn an_identifier_that_begins_like_the_open_job_is_another() {
    let row = |id: &str| format!("{id}|COMPLETED|1|10|70|60|1|60|00:01.000||||\n");
    let ids = [
        "20",
        "20.batch",
        "20.9",
        "20.batchx",
        "20_1.0",
        "20+1",
        "20.0",
        "20+1.0",
        "200.1",
        "200",
        "200.extern",
    ];
    let found = read(format!("{HEADER}{}", ids.map(row).concat()));
    let orphans = found.rejects.iter().map(|reject| (reject.reason, reject.at.line));
    let orphans: Vec<_> = orphans.collect();
    let lines = [6, 8, 10].map(|line| (Reason::StepWithoutJob, line));
    assert_eq!(orphans, lines, "{:#?}", found.rejects);
    let jobs: Vec<_> = found.jobs.iter().map(|job| (job.row.job_id, job.step_n)).collect();
    assert_eq!(jobs, [("20", 3), ("20+1", 1), ("200", 1)]);
    for bad in ["20.", "20.ba tch", "20batch", "20. batch"] {
        let found = read(format!("{HEADER}{}{}", row("20"), row(bad)));
        assert_eq!((found.jobs.len(), found.rejects.len()), (1, 1), "{bad}");
        assert_eq!(found.rejects.first().unwrap().reason, Reason::BadJobId, "{bad}");
    }
}

#[test]
fn steps_share_the_lot_of_their_job_row() {
    let found = read(format!(
        "{HEADER}20|NO_STATE|1|10|70|60|1|60|00:01.000||||\n\
         20.batch|COMPLETED|1|10|70|60|1|60|00:01.000||||\n\
         20.0|COMPLETED|1|10|70|60|1|60|00:01.000||||\n\
         21|PENDING|1|Unknown|Unknown|0|1|0|||||\n\
         21.extern|COMPLETED|1|10|70|60|1|60|00:01.000||||\n"
    ));
    let reject = found.rejects.first().unwrap();
    assert_eq!(
        (reject.reason, reject.rows, found.rejects.len()),
        (Reason::UnknownState, 3, 1)
    );
    assert_eq!(reject.raw.split(|b| *b == b'\n').count(), 4);
    assert_eq!(found.out_of_scope_rows(Reason::NotStarted), 2);
}

#[test]
fn a_bad_step_is_refused_alone() {
    let found = read(format!(
        "{HEADER}20|COMPLETED|1|10|70|60|1|60|00:01.000||||\n\
         20.batch|COMPLETED|1|10|70|60|1|60|quick||||\n\
         20.0|COMPLETED|1|10|70|60|1|60|00:01.000|||5K|\n"
    ));
    assert_eq!(
        found.rejects.first().unwrap().detail,
        "TotalCPU: \"quick\" is not a duration ([D-]HH:MM:SS)"
    );
    let job = found.jobs.first().unwrap();
    assert_eq!(
        (job.step_n, job.row.cpu_ms, job.row.max_rss_byte),
        (1, Some(1000), Some(5 << 10))
    );
}

#[test]
fn cpu_time_of_allocations_only_is_unknown_not_zero() {
    let found = read(format!(
        "{HEADER}20|COMPLETED|1|10|70|60|4|240|00:00:00|00:00:00|00:00:00||\n\
         21|CANCELLED by 0|1|None|70|0|4|0|00:00:00|00:00:00|00:00:00||\n\
         22|RUNNING|1|10|Unknown|60|4|240|00:00:00|00:00:00|00:00:00||\n\
         23|NODE_FAIL|1|10|70|60|4|240|00:00:00|00:00:00|00:00:00||\n\
         23.batch|CANCELLED|1|10|70|60|4|240|00:00:00|00:00:00|00:00:00||\n"
    ));
    let cpu: Vec<_> = found
        .jobs
        .iter()
        .map(|job| (job.row.cpu_ms, job.has(Anomaly::CpuUnknown)))
        .collect();
    assert_eq!(cpu, [(None, true), (Some(0), false), (None, true), (Some(0), false)]);
    assert_eq!(found.jobs.first().unwrap().row.cpu_user_ms, None);
}

#[test]
fn steps_supply_what_the_job_row_does_not() {
    let job = only(
        "JobID|State|End|ElapsedRaw|TRESUsageInTot\n\
         5|COMPLETED|900|100|\n\
         5.batch|COMPLETED|900|100|cpu=00:01:00,mem=5K\n\
         5.0|COMPLETED|900|100|cpu=1-00:00:00\n",
    );
    assert_eq!((job.row.cpu_ms, job.step_n), (Some(86_460_000), 2));
    let job = only(
        "JobID|State|End|ElapsedRaw|TotalCPU|TRESUsageInTot\n\
         5|COMPLETED|900|100|00:00:00|\n\
         5.batch|COMPLETED|900|100|00:00:00|cpu=00:01:00,mem=5K\n\
         5.0|COMPLETED|900|100|00:02.000|cpu=00:00:01\n",
    );
    assert_eq!(job.row.cpu_ms, Some(62_000));
    let job = only("JobID|State|End|ElapsedRaw|CPUTimeRAW\n5|COMPLETED|900|100|400\n5.0|COMPLETED|900|100|400\n");
    assert_eq!((job.row.cpu_ms, job.has(Anomaly::CpuUnknown)), (None, true));
}

/// Slurm 25.05 prints no `TotalCPU` for some steps: what was polled of those is not in the sum of the job row.
#[test]
fn a_step_with_only_a_poll_adds_to_the_job_row() {
    let row = |id: &str, total: &str, usage: &str| {
        format!("{id}|COMPLETED|0|1000|4600|3600|4|14400|{total}|00:00:00|{total}||{usage}\n")
    };
    let dump = HEADER.to_owned()
        + &row("7", "00:03.500", "")
        + &row("7.batch", "00:03.500", "cpu=00:00:02,mem=1M")
        + &row("7.0", "00:00:00", "cpu=01:00:05,mem=1M");
    let job = only(dump);
    assert_eq!(job.row.cpu_ms, Some(3_500 + 3_605_000));
    // The parts of the row no longer add up to it.
    assert_eq!(
        (job.row.cpu_user_ms, job.row.cpu_system_ms, job.step_n),
        (None, None, 2)
    );
    // All steps only polled: the row itself is zero.
    let dump = HEADER.to_owned() + &row("7", "00:00:00", "") + &row("7.0", "00:00:00", "cpu=00:00:05");
    assert_eq!(only(dump).row.cpu_ms, Some(5000));
}

#[test]
fn nodes_a_job_only_requested_are_not_allocated() {
    let header = "JobID|State|Submit|Start|End|ElapsedRaw|NNodes|NCPUS|AllocTRES\n";
    let never = only(format!("{header}9|CANCELLED by 0|1000|None|1100|0|3|0|\n"));
    assert_eq!((never.row.alloc_node_n, never.row.alloc_core_n), (Some(0), Some(0)));
    let ran = only(format!(
        "{header}9|COMPLETED|1000|1050|1100|50|3|6|gres/gpu:a100_1g.5gb=2,gres/gpu:t4=1\n"
    ));
    assert_eq!((ran.row.alloc_node_n, ran.row.alloc_gpu_n), (Some(3), Some(3)));
    assert_eq!(ran.row.gpus, &[("a100_1g.5gb", 2), ("t4", 1)]);
}
