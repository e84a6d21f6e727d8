//! Dumps of the benchmark in which every row is a job, and summaries.

use std::io::{self, Write};

use super::bulk::{BLOCK, PEOPLE, flush};
use super::clock::zurich;
use super::rng::Rng;
use super::sacct::{Attempt, Gpus, HEADER, Person};

/// In which order the rows of a dump come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowOrder {
    /// By submission.
    Submitted,
    /// Without any.
    Shuffled,
}

/// A dump of jobs without steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DenseDump {
    /// Jobs.
    pub(crate) jobs: i64,
    /// `JobIDRaw` of the first.
    pub(crate) first_id: i64,
    /// When the first is submitted, Unix seconds.
    pub(crate) from: i64,
    /// Days over which they are submitted.
    pub(crate) days: i64,
    /// Accounts they are of.
    pub(crate) accounts: u32,
    /// Order of the rows.
    pub(crate) order: RowOrder,
}

/// The first of January in the zone of these dumps, Unix seconds.
pub(crate) fn new_year() -> i64 {
    zurich(2026, 1, 1, 0, 0)
}

/// One row per job.
pub(crate) fn jobs(dump: &DenseDump, to: &mut dyn Write) -> io::Result<()> {
    /// No number of jobs of a benchmark is a multiple of it: its multiples meet every job once.
    const STRIDE: i64 = 1_299_709;
    let mut out = HEADER.as_bytes().to_vec();
    let accounts: Vec<&'static str> = (0..dump.accounts)
        .map(|n| &*Box::leak(format!("vo{n:03}").into_boxed_str()))
        .collect();
    let taken = dump.from + 800 * 86_400;
    for row in 0..dump.jobs {
        let n = match dump.order {
            RowOrder::Submitted => row,
            RowOrder::Shuffled => row * STRIDE % dump.jobs,
        };
        let mut rng = Rng::new(u64::try_from(dump.first_id + n).expect("not negative"));
        let span = rng.between(30, 40_000);
        let cpus = rng.pick(&[1, 2, 4, 8, 16]);
        let submit = dump.from + n * dump.days * 86_400 / dump.jobs;
        let start = submit + rng.between(0, 9_000);
        let user_ms = span * cpus * rng.between(100, 980);
        let job = Attempt {
            cluster: "fell",
            raw_id: dump.first_id + n,
            id: None,
            name: format!("run_{:04}", rng.between(0, 10_000)),
            partition: "cpu",
            person: Person {
                account: rng.pick(&accounts),
                ..rng.pick(&PEOPLE)
            },
            submit,
            start: Some(start),
            end: Some(start + span),
            suspended: 0,
            exit: "0:0",
            state: if rng.one_in(12) { "FAILED" } else { "COMPLETED" },
            nodes: 1,
            cpus,
            memory_mib: cpus * 2_000,
            gpus: Gpus::None,
            limit_min: Some(1_440),
            node_list: format!("node{:04}", rng.between(1, 401)),
            user_ms,
            system_ms: user_ms / 50 + 3,
            max_rss_kib: rng.between(3_000, 9_000_000),
            has_steps: false,
        };
        job.write(&mut out, taken);
        if out.len() >= BLOCK {
            flush(&mut out, to)?;
        }
    }
    flush(&mut out, to)
}

/// `summaries` monthly summaries of APEL, of 12 months, 120 VOs and as many users and hosts as it takes.
pub(crate) fn apel_summaries(summaries: i64, to: &mut dyn Write) -> io::Result<()> {
    let mut out = b"APEL-summary-job-message: v0.2\n".to_vec();
    for n in 0..summaries {
        let (month, vo, who) = (1 + n % 12, n / 12 % 120, n / (12 * 120));
        let jobs = 1 + n % 500;
        writeln!(
            out,
            "Site: REEF-A\nMonth: {month}\nYear: 2025\nGlobalUserName: /DC=example/CN=user {who}\nVO: vo{vo:03}\n\
             VOGroup: /vo{vo:03}\nVORole: Role=production\nSubmitHost: ce{}.reef.example\nInfrastructureType: grid\n\
             ServiceLevelType: HEPSPEC\nServiceLevel: 10.75\nNodeCount: 1\nProcessors: 8\nWallDuration: {}\n\
             CpuDuration: {}\nNumberOfJobs: {jobs}\n%%",
            who % 4,
            jobs * 3_600,
            jobs * 20_000,
        )?;
        if out.len() >= BLOCK {
            flush(&mut out, to)?;
        }
    }
    flush(&mut out, to)
}

/// `days` days of the summaries of Gratia, as GRACC exports them: 120 VOs at two sites.
pub(crate) fn gracc_summaries(days: i64, to: &mut dyn Write) -> io::Result<()> {
    let mut out = Vec::new();
    for day in 0..days {
        let (month, of_month) = (1 + day / 28 % 12, 1 + day % 28);
        for n in 0..240 {
            let (site, vo, jobs) = (["REEF-A", "REEF-B"][n % 2], n / 2, 1 + n % 90);
            writeln!(
                out,
                "{{\"_index\": \"gracc.osg.summary\", \"_type\": \"_doc\", \"_id\": \"s{day}-{n}\", \"_source\": {{\
                 \"EndTime\": \"2025-{month:02}-{of_month:02}T00:00:00.000Z\", \"VOName\": \"vo{vo:03}\", \
                 \"ReportableVOName\": \"vo{vo:03}\", \"ProjectName\": \"vo{vo:03}\", \"DN\": \"N/A\", \
                 \"CommonName\": \"Generic user\", \"Processors\": 8, \"ResourceType\": \"Batch\", \
                 \"Resource_ExitCode\": 0, \"Grid\": \"OSG\", \"ProbeName\": \"htcondor-ce:gate.example\", \
                 \"SiteName\": \"{site}\", \"WallDuration\": {}, \"CpuDuration\": {}, \"CpuDuration_user\": {}, \
                 \"CpuDuration_system\": 0, \"CoreHours\": {}.0, \"Njobs\": {jobs}, \"Count\": 1}}}}",
                jobs * 3_600,
                jobs * 20_000,
                jobs * 20_000,
                jobs * 8,
            )?;
        }
        if out.len() >= BLOCK {
            flush(&mut out, to)?;
        }
    }
    flush(&mut out, to)
}
