//! A sink that keeps everything, for readers under test; sources to read from memory; the shared real data.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use gridtally::dedupe::options::IntakeOptions;
use gridtally::ledger::Reason;
use gridtally::record::{Anomaly, JobDetails, JobRow, SummaryRow};
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::format::Format;
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::{Pieces, Position, Sink};

/// A job as a reader handed it over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) row: JobRow<'static>,
    pub(crate) at: Position,
    pub(crate) step_n: u32,
}

impl Job {
    pub(crate) fn has(&self, anomaly: Anomaly) -> bool {
        self.row.anomalies & anomaly.bit() != 0
    }
}

/// A rejection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reject {
    pub(crate) reason: Reason,
    pub(crate) at: Position,
    pub(crate) rows: u64,
    pub(crate) detail: String,
    pub(crate) raw: Vec<u8>,
}

/// Keeps everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Collected {
    pub(crate) rows_read: u64,
    pub(crate) jobs: Vec<Job>,
    pub(crate) summaries: Vec<(SummaryRow<'static>, Position)>,
    pub(crate) rejects: Vec<Reject>,
    pub(crate) out_of_scope: BTreeMap<Reason, u64>,
}

impl Collected {
    /// Runs every piece in order.
    pub(crate) fn all(pieces: Pieces) -> gridtally::error::Result<Self> {
        let mut sink = Self::default();
        for work in pieces {
            work?(&mut sink);
        }
        Ok(sink)
    }

    /// Rows that were given an outcome; must equal `rows_read`.
    pub(crate) fn outcomes(&self) -> u64 {
        let jobs: u64 = self.jobs.iter().map(|job| 1 + u64::from(job.step_n)).sum();
        jobs + u64::try_from(self.summaries.len()).unwrap()
            + self.rejects.iter().map(|reject| reject.rows).sum::<u64>()
            + self.out_of_scope.values().sum::<u64>()
    }

    /// Rows out of scope for `reason`.
    pub(crate) fn out_of_scope_rows(&self, reason: Reason) -> u64 {
        self.out_of_scope.get(&reason).copied().unwrap_or_default()
    }

    pub(crate) fn reasons(&self) -> Vec<Reason> {
        self.rejects.iter().map(|reject| reject.reason).collect()
    }

    /// The values of the jobs.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &JobRow<'static>> {
        self.jobs.iter().map(|job| &job.row)
    }
}

fn keep(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn keep_details(details: &JobDetails<'_>) -> &'static JobDetails<'static> {
    let named = |named: &[(&str, i64)]| -> &'static [(&'static str, i64)] {
        let named: Vec<_> = named.iter().map(|(name, amount)| (keep(name), *amount)).collect();
        Box::leak(named.into_boxed_slice())
    };
    Box::leak(Box::new(JobDetails {
        dependency: details.dependency.map(keep),
        burst_buffers: named(details.burst_buffers),
        licenses: named(details.licenses),
        ..*details
    }))
}

impl Sink for Collected {
    fn rows_read(&mut self, n: u64) {
        self.rows_read += n;
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        let gpus: Vec<(&'static str, i64)> = row.gpus.iter().map(|(model, n)| (keep(model), *n)).collect();
        self.jobs.push(Job {
            row: JobRow {
                view: keep(row.view),
                site: row.site.map(keep),
                cluster: row.cluster.map(keep),
                submit_host: row.submit_host.map(keep),
                job_id: keep(row.job_id),
                raw_job_id: row.raw_job_id.map(keep),
                global_job_id: row.global_job_id.map(keep),
                identity_key: row.identity_key.map(keep),
                vo: row.vo.map(keep),
                fqan: row.fqan.map(keep),
                vo_name: row.vo_name.map(keep),
                reportable_vo: row.reportable_vo.map(keep),
                payload_site: row.payload_site.map(keep),
                vo_group: row.vo_group.map(keep),
                vo_role: row.vo_role.map(keep),
                account: row.account.map(keep),
                user: row.user.map(keep),
                user_group: row.user_group.map(keep),
                global_user: row.global_user.map(keep),
                partition: row.partition.map(keep),
                qos: row.qos.map(keep),
                wckey: row.wckey.map(keep),
                reservation: row.reservation.map(keep),
                infrastructure: row.infrastructure.map(keep),
                job_name: row.job_name.map(keep),
                node_list: row.node_list.map(keep),
                state: row.state.map(keep),
                benchmark: row.benchmark.map(keep),
                details: row.details.map(keep_details),
                gpus: Box::leak(gpus.into_boxed_slice()),
                // Of the text it was read from, not of the job.
                row_byte_n: None,
                ..*row
            },
            at,
            step_n,
        });
    }

    fn summary(&mut self, row: &SummaryRow<'_>, at: Position) {
        let row = SummaryRow {
            view: keep(row.view),
            site: row.site.map(keep),
            identity_key: row.identity_key.map(keep),
            vo: row.vo.map(keep),
            vo_name: row.vo_name.map(keep),
            reportable_vo: row.reportable_vo.map(keep),
            account: row.account.map(keep),
            cluster: row.cluster.map(keep),
            payload_site: row.payload_site.map(keep),
            vo_group: row.vo_group.map(keep),
            vo_role: row.vo_role.map(keep),
            global_user: row.global_user.map(keep),
            submit_host: row.submit_host.map(keep),
            infrastructure: row.infrastructure.map(keep),
            infrastructure_description: row.infrastructure_description.map(keep),
            service_level_type: row.service_level_type.map(keep),
            benchmark: row.benchmark.map(keep),
            ..*row
        };
        self.summaries.push((row, at));
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        assert!(!detail.is_empty());
        self.rejects.push(Reject {
            reason,
            at,
            rows,
            detail: detail.to_owned(),
            raw: raw.to_vec(),
        });
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        if rows > 0 {
            *self.out_of_scope.entry(reason).or_default() += rows;
        }
    }
}

/// Runs all pieces in order and checks that every row has one outcome.
pub(crate) fn balanced(pieces: Pieces) -> Collected {
    let all = Collected::all(pieces).unwrap();
    assert_eq!(all.rows_read, all.outcomes(), "{all:?}");
    all
}

/// The same of a source whose jobs have neither steps nor models of GPUs.
pub(crate) fn run(pieces: Pieces) -> Collected {
    let all = balanced(pieces);
    assert!(all.jobs.iter().all(|job| job.step_n == 0 && job.row.gpus.is_empty()));
    all
}

pub(crate) fn input(bytes: &[u8]) -> Box<dyn Read + Send> {
    Box::new(std::io::Cursor::new(bytes.to_vec()))
}

pub(crate) fn plan(format: Format, acceptance: Acceptance) -> Arc<ReaderOptions> {
    Arc::new(source(format, acceptance))
}

/// A source with default settings.
pub(crate) fn source(format: Format, acceptance: Acceptance) -> ReaderOptions {
    ReaderOptions {
        acceptance,
        ..ReaderOptions::new("test", format)
    }
}

/// The completion of records of a source with default settings.
pub(crate) fn intake(site: Option<&str>) -> Arc<IntakeOptions> {
    Arc::new(IntakeOptions {
        site: site.map(str::to_owned),
        ..IntakeOptions::new("test")
    })
}

/// A file or folder of the shared real data, or a loud line stating that a test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn shared(test: &str, path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("GRIDTALLY_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED {test}: {} is not there", path.display());
    None
}
