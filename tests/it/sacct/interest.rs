//! A projection of columns gives the same values as reading all of them.

use std::sync::Arc;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::sources::projection::{ColumnPart, Interest};
use gridtally::sources::{Position, Sink, sacct};

use super::{plan, read};
use crate::support::collect::Collected;

const DUMP: &str = "\
JobIDRaw|JobID|Cluster|JobName|Account|User|UID|Group|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Suspended|State|ExitCode|NNodes|NCPUS|ReqCPUS|ReqMem|AdminComment|SubmitLine|AllocTRES|TimelimitRaw|NodeList|TotalCPU|UserCPU|SystemCPU|MaxRSS|MaxVMSize
1|1|zoo|a|b|chem|ada|7|hep|cpu|normal|2026-03-01T10:00:00|2026-03-01T10:00:01|2026-03-01T10:00:05|2026-03-01T11:00:05|3600|00:00:00|COMPLETED|1:9|2|8|6|4G|JS1:Short||billing=9,cpu=10,gres/gpu:t4=2,gres/gpu=2,mem=7G,node=3|60|n[1-2]|00:00:00|00:00:00|00:00:00||
1.0|1.0|zoo|s|chem||||||2026-03-01T10:00:05|2026-03-01T10:00:05|2026-03-01T10:00:05|2026-03-01T11:00:05|3600|00:00:00|COMPLETED|0:0|2|8|8||||cpu=10|||00:59:00|00:58:00|00:01:00|3M|5M
2|2_1|zoo|x|bio||1002|ag|gpu|high|2026-03-01T10:00:00|Unknown|2026-03-01T10:00:05|Unknown|30|00:00:00|RUNNING|0:0|1|2|2|512M||sbatch --exclusive -d 7 x.sh|||n1|00:00:00||||
3|3|zoo|never|bio|bob|1003|ag|gpu|high|2026-03-01T10:00:00|Unknown|Unknown|Unknown|0|00:00:00|PENDING|0:0|1|2|2|512M|||||None assigned|00:00:00||||
4|4|zoo|split
name|bio|bob|1003|ag|gpu|high|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T23:59:59|2026-03-02T00:00:09|10|00:00:00|FAILED|2:0|1|2|2|512M|||cpu=2|10|n1|00:07.500|00:05.000|00:02.500||
5|5|zoo|odd|bio|bob|1003|ag|gpu|high|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T23:59:59|2026-03-02T00:00:09|10|00:00:00|FAILED|2:0|1|2|2|512M|||cpu=2|10|n1|00:07.500|00:05.000|00:02.500|much|
";

const PARTS: [ColumnPart; 23] = [
    ColumnPart::Cluster,
    ColumnPart::Account,
    ColumnPart::User,
    ColumnPart::Partition,
    ColumnPart::Qos,
    ColumnPart::Wckey,
    ColumnPart::Reservation,
    ColumnPart::JobName,
    ColumnPart::NodeList,
    ColumnPart::Queueing,
    ColumnPart::Cpu,
    ColumnPart::CpuParts,
    ColumnPart::Cores,
    ColumnPart::Nodes,
    ColumnPart::Allocation,
    ColumnPart::RequestedCores,
    ColumnPart::RequestedMemory,
    ColumnPart::PeakMemory,
    ColumnPart::Jobstats,
    ColumnPart::Energy,
    ColumnPart::Submission,
    ColumnPart::TimeLimit,
    ColumnPart::Exit,
];

struct Listener {
    interest: Interest,
    projected: Collected,
}

impl Sink for Listener {
    fn interest(&mut self) -> Interest {
        self.interest
    }

    fn rows_read(&mut self, n: u64) {
        self.projected.rows_read(n);
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        self.projected.job(row, at, step_n);
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        self.projected.reject(reason, at, rows, detail, raw);
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.projected.out_of_scope(reason, rows);
    }
}

fn listen(dump: &str, parts: &[ColumnPart]) -> Collected {
    let input = Box::new(std::io::Cursor::new(dump.as_bytes().to_vec()));
    let mut listener = Listener {
        interest: Interest::only(parts),
        projected: Collected::default(),
    };
    for work in sacct::pieces(input, Arc::new(plan(Some("UTC")))).unwrap() {
        work.unwrap()(&mut listener);
    }
    let projected = listener.projected;
    assert_eq!(projected.rows_read, projected.outcomes(), "{parts:?}: {projected:#?}");
    projected
}

/// The values a job always has, and one part.
fn stated(row: &JobRow<'static>, part: Option<ColumnPart>) -> JobRow<'static> {
    let mut stated = JobRow {
        view: row.view,
        job_id: row.job_id,
        raw_job_id: row.raw_job_id,
        submit_ms: row.submit_ms,
        start_ms: row.start_ms,
        end_ms: row.end_ms,
        wall_ms: row.wall_ms,
        suspended_s: row.suspended_s,
        state: row.state,
        ..JobRow::default()
    };
    macro_rules! hear {
        ($($field:ident)+) => {{ $(stated.$field = row.$field;)+ }};
    }
    match part {
        None => {}
        Some(ColumnPart::Cluster) => hear!(cluster),
        Some(ColumnPart::Account) => hear!(account),
        Some(ColumnPart::User) => hear!(user user_group),
        Some(ColumnPart::Partition) => hear!(partition),
        Some(ColumnPart::Qos) => hear!(qos),
        Some(ColumnPart::Wckey) => hear!(wckey),
        Some(ColumnPart::Reservation) => hear!(reservation),
        Some(ColumnPart::JobName) => hear!(job_name),
        Some(ColumnPart::NodeList) => hear!(node_list),
        Some(ColumnPart::Queueing) => hear!(eligible_ms),
        Some(ColumnPart::Cpu) => hear!(cpu_ms),
        Some(ColumnPart::CpuParts) => hear!(cpu_user_ms cpu_system_ms),
        Some(ColumnPart::Cores) => hear!(alloc_core_n),
        Some(ColumnPart::Nodes) => hear!(alloc_node_n),
        Some(ColumnPart::Allocation) => hear!(alloc_gpu_n gpus alloc_memory_byte alloc_billing_n),
        Some(ColumnPart::RequestedCores) => hear!(requested_core_n),
        Some(ColumnPart::RequestedMemory) => hear!(requested_memory_byte),
        Some(ColumnPart::PeakMemory) => hear!(max_rss_byte max_virtual_byte),
        Some(ColumnPart::Jobstats) => hear!(jobstats),
        Some(ColumnPart::Energy) => hear!(energy),
        Some(ColumnPart::Submission) => hear!(details),
        Some(ColumnPart::TimeLimit) => hear!(time_limit_s),
        Some(ColumnPart::Exit) => hear!(exit_code exit_signal),
    }
    stated
}

#[test]
fn every_part_is_heard_as_in_the_whole() {
    let whole = read(DUMP);
    assert_eq!((whole.jobs.len(), whole.reasons()), (3, vec![Reason::BadNumber]));
    for part in PARTS {
        let projected = listen(DUMP, &[part]);
        assert_eq!(projected.rows_read, whole.rows_read, "{part:?}");
        assert_eq!(projected.out_of_scope, whole.out_of_scope, "{part:?}");
        for job in &whole.jobs {
            let same = projected.jobs.iter().find(|projected| projected.at == job.at).unwrap();
            assert_eq!(stated(&same.row, Some(part)), stated(&job.row, Some(part)), "{part:?}");
            assert_eq!(same.step_n, job.step_n, "{part:?}");
        }
    }
}

#[test]
fn what_nobody_listens_to_is_unknown_and_not_looked_into() {
    let whole = read(DUMP);
    let projected = listen(DUMP, &[]);
    // The name of job 4 runs over two lines, and nobody wants it: the rows are framed all the same.
    assert_eq!(projected.jobs.len(), 4);
    for job in &projected.jobs {
        let bare = JobRow {
            anomalies: 0,
            ..job.row.clone()
        };
        assert_eq!(bare, stated(&job.row, None));
    }
    for job in &whole.jobs {
        let same = projected.jobs.iter().find(|projected| projected.at == job.at).unwrap();
        assert_eq!(stated(&same.row, None), stated(&job.row, None));
    }
    // Job 5 has a peak that is not a number.
    assert_eq!(
        listen(DUMP, &[ColumnPart::PeakMemory]).reasons(),
        vec![Reason::BadNumber]
    );
}

#[test]
fn a_header_in_the_middle_is_seen_wherever_it_stands() {
    let row = "1|2026-03-01T10:00:05|2026-03-01T11:00:05|3600|COMPLETED|";
    for spelling in ["JobID", "jobid", "JOBID", "JobId"] {
        for padding in 0..40 {
            let name = "n".repeat(padding);
            let dump = format!(
                "JobID|Start|End|ElapsedRaw|State|JobName\n{row}{name}\n\
                 State|ElapsedRaw|End|Start|JobName|{spelling}\nCOMPLETED|10|20|10|x|7\n"
            );
            let found = read(&dump);
            let ids: Vec<&str> = found.rows().map(|row| row.job_id).collect();
            assert_eq!(ids, ["1", "7"], "{spelling} behind {padding} letters");
        }
    }
}
