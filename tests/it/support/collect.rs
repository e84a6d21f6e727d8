//! A sink that keeps everything, for readers under test.

use gridtally::ledger::Reason;
use gridtally::records::{Anomaly, JobRow};
use gridtally::sources::{Pieces, Position, Sink};

/// A job as a reader handed it over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) row: JobRow<'static>,
    pub(crate) line: u64,
    pub(crate) byte_offset: u64,
    pub(crate) step_n: u32,
}

impl Job {
    pub(crate) fn has(&self, anomaly: Anomaly) -> bool {
        self.row.anomalies & anomaly.bit() != 0
    }
}

/// A rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reject {
    pub(crate) reason: Reason,
    pub(crate) line: u64,
    pub(crate) byte_offset: u64,
    pub(crate) rows: u64,
    pub(crate) detail: String,
    pub(crate) raw: Vec<u8>,
}

/// Keeps everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Collect {
    pub(crate) rows_read: u64,
    pub(crate) jobs: Vec<Job>,
    pub(crate) rejects: Vec<Reject>,
    pub(crate) out_of_scope: Vec<(Reason, u64)>,
}

impl Collect {
    /// Runs every piece in order.
    pub(crate) fn all(pieces: Pieces) -> gridtally::error::Result<Self> {
        let mut sink = Self::default();
        for work in pieces {
            work?(&mut sink);
        }
        Ok(sink)
    }

    /// Rows that got an outcome.
    pub(crate) fn outcomes(&self) -> u64 {
        let jobs: u64 = self.jobs.iter().map(|job| 1 + u64::from(job.step_n)).sum();
        let rejects: u64 = self.rejects.iter().map(|reject| reject.rows).sum();
        jobs + rejects + self.out_of_scope.iter().map(|(_, rows)| rows).sum::<u64>()
    }

    /// Rows out of scope for `reason`.
    pub(crate) fn out_of_scope_rows(&self, reason: Reason) -> u64 {
        self.out_of_scope
            .iter()
            .filter(|(r, _)| *r == reason)
            .map(|(_, rows)| rows)
            .sum()
    }
}

fn keep(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl Sink for Collect {
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
                vo_name: row.vo_name.map(keep),
                payload_site: row.payload_site.map(keep),
                vo_group: row.vo_group.map(keep),
                vo_role: row.vo_role.map(keep),
                account: row.account.map(keep),
                user: row.user.map(keep),
                user_group: row.user_group.map(keep),
                global_user: row.global_user.map(keep),
                partition: row.partition.map(keep),
                qos: row.qos.map(keep),
                infrastructure: row.infrastructure.map(keep),
                job_name: row.job_name.map(keep),
                node_list: row.node_list.map(keep),
                state: row.state.map(keep),
                benchmark: row.benchmark.map(keep),
                gpus: Box::leak(gpus.into_boxed_slice()),
                ..*row
            },
            line: at.line,
            byte_offset: at.byte_offset,
            step_n,
        });
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        self.rejects.push(Reject {
            reason,
            line: at.line,
            byte_offset: at.byte_offset,
            rows,
            detail: detail.to_owned(),
            raw: raw.to_vec(),
        });
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.out_of_scope.push((reason, rows));
    }
}
