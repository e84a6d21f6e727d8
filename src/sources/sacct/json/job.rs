//! One job object becomes one job row.

use std::borrow::Cow;

use super::fields::{CpuTime, SacctJsonFields};
use super::value::{self, Number};
use crate::ledger::Reason;
use crate::numbers::Comparand;
use crate::record::{Anomaly, JobDetails, JobRow, JobstatsOutcome};
use crate::schema::batch::addend;
use crate::sources::json::JsonText;
use crate::sources::sacct::cpu::CpuMeasured;
use crate::sources::sacct::energy;
use crate::sources::sacct::job::{array_rest_ran, is_no_node, waits};
use crate::sources::sacct::jobstats;
use crate::sources::sacct::later_allocation::LaterAllocation;
use crate::sources::sacct::refusal::Refusal;
use crate::sources::sacct::state;
use crate::sources::sacct::step::Steps;
use crate::sources::sacct::submit_line::SubmitOptions;
use crate::sources::sacct::tres;
use crate::sources::{Position, Sink};

/// Gives one object its outcome. It counts as one row, and each of its steps as one more.
pub(super) fn take(raw: &[u8], at: Position, sink: &mut dyn Sink) {
    let fields = match SacctJsonFields::read(raw) {
        Ok(fields) => fields,
        Err(malformed) => {
            sink.rows_read(1);
            let detail = format!("byte {} of the job: {}", malformed.at + 1, malformed.what);
            return sink.reject(Reason::BadJson, at, 1, &detail, raw);
        }
    };
    let row_n = 1 + u64::from(fields.steps.count);
    sink.rows_read(row_n);
    match SacctJsonJob::read(&fields) {
        Ok(Some(job)) => job.emit(&fields, at, sink),
        Ok(None) => sink.out_of_scope(Reason::NotStarted, row_n),
        Err(refusal) => sink.reject(refusal.reason, at, row_n, &refusal.detail, raw),
    }
}

/// What has to be worked out of the fields.
#[derive(Debug, Default)]
struct SacctJsonJob {
    raw_id: i64,
    id: String,
    state: Option<&'static str>,
    submit_s: Option<i64>,
    eligible_s: Option<i64>,
    start_s: Option<i64>,
    end_s: Option<i64>,
    wall_s: Option<i64>,
    suspended_s: Option<i64>,
    limit_minute: Option<i64>,
    exit: Option<(Option<i64>, i64)>,
    anomalies: u32,
}

impl SacctJsonJob {
    /// `Ok(None)` is a job that has not started.
    fn read(fields: &SacctJsonFields<'_>) -> Result<Option<Self>, Refusal> {
        let mut job = Self::default();
        let Some(raw_id) = job.int("job_id", fields.job_id)? else {
            return Err(Refusal {
                reason: Reason::MissingField,
                detail: "job_id is missing".to_owned(),
            });
        };
        job.raw_id = raw_id;
        job.id = job.shown_id(fields)?;
        job.state = state(&fields.states)?;
        if job.state == Some("PENDING") {
            return Ok(None);
        }
        job.times(fields)?;
        let is_given_nothing = fields.allocated.is_nothing() && fields.names_no_node();
        if fields.array_rest.is_some() && fields.array_task_id.known().is_none() {
            let has_time = job.start_s.is_some() && job.wall_s.is_some_and(|second| second > 0);
            return if has_time && !is_given_nothing {
                Err(array_rest_ran(job.id.as_bytes()))
            } else {
                Ok(None)
            };
        }
        if job.start_s.is_none() && job.end_s.is_none() {
            return match job.state {
                Some(state) if !waits(state) => Err(Refusal {
                    reason: Reason::TimeUnknown,
                    detail: format!("time.start and time.end: neither is known of a job that is {state}"),
                }),
                _ => Ok(None),
            };
        }
        // Slurm up to 20.11 has the end for the start of a job that never ran.
        if job.start_s == job.end_s && is_given_nothing {
            return Ok(None);
        }
        if let Some((name, value)) = &fields.allocated.bad {
            return Err(Refusal {
                reason: Reason::BadNumber,
                detail: format!("tres.allocated, {name}: {value} is not a count"),
            });
        }
        job.exit = job.exit(fields)?;
        Ok(Some(job))
    }

    fn times(&mut self, fields: &SacctJsonFields<'_>) -> Result<(), Refusal> {
        self.submit_s = instant("time.submission", fields.submit)?;
        self.eligible_s = instant("time.eligible", fields.eligible)?;
        self.start_s = instant("time.start", fields.start)?;
        self.end_s = instant("time.end", fields.end)?;
        self.wall_s = self.int("time.elapsed", fields.elapsed)?;
        self.suspended_s = self.int("time.suspended", fields.suspended)?;
        // A limit of the partition is a stand-in here and a word in the text: no limit of the job's own.
        self.limit_minute = match fields.limit {
            Number::StandIn => None,
            limit => self.int("time.limit", limit)?,
        };
        if let (None, Some(start_s), Some(end_s)) = (self.wall_s, self.start_s, self.end_s) {
            let second = end_s
                .difference_to_compare(start_s)
                .difference_to_compare(addend(self.suspended_s));
            self.wall_s = (second >= 0).then_some(second);
            if second < 0 {
                self.note(Anomaly::ValueDropped);
            }
        }
        if let Some(later) = LaterAllocation::of(self.submit_s, self.start_s, self.end_s, self.wall_s) {
            (self.start_s, self.wall_s) = (Some(later.start_s), later.wall_s);
            self.eligible_s = self.submit_s;
        }
        Ok(())
    }

    /// `123`, `123_4` or `123+0`, as the text has it.
    fn shown_id(&mut self, fields: &SacctJsonFields<'_>) -> Result<String, Refusal> {
        let parent = |number: Option<i64>| number.filter(|&id| id > 0);
        if let Some(array) = parent(self.int("array.job_id", fields.array_job_id)?)
            && let Some(task) = fields.array_task_id.known()
        {
            return Ok(format!("{array}_{task}"));
        }
        if let Some(het) = parent(self.int("het.job_id", fields.het_job_id)?)
            && let Some(offset) = fields.het_offset.known()
        {
            return Ok(format!("{het}+{offset}"));
        }
        Ok(self.raw_id.to_string())
    }

    /// Exit code and signal as the text prints them: of a code above 127, 128 are taken off.
    ///
    /// The plugin of 22.05 prints `return_code` 0 and `SUCCESS` for every job no signal ended, whatever its code was:
    /// for a job that failed, or was ended by its deadline, that is not an exit code.
    fn exit(&mut self, fields: &SacctJsonFields<'_>) -> Result<Option<(Option<i64>, i64)>, Refusal> {
        let code = self.int("exit_code.return_code", fields.return_code)?;
        let signal = self.int("exit_code.signal", fields.signal)?;
        if code.is_none() && signal.is_none() {
            return Ok(None);
        }
        let has_other_code = matches!(self.state, Some("FAILED" | "DEADLINE"));
        if code == Some(0) && fields.is_code_bare && signal.is_none() && has_other_code {
            return Ok(Some((None, 0)));
        }
        // Fallback: a job that was ended by a signal states no code, as Slurm prints 0:9.
        let code = code.unwrap_or(0);
        let code = if code >= 128 { code - 128 } else { code };
        // Fallback: a job that no signal ended has signal 0 in Slurm's text.
        Ok(Some((Some(code), signal.unwrap_or(0))))
    }

    fn note(&mut self, anomaly: Anomaly) {
        self.anomalies |= anomaly.bit();
    }

    /// A whole number; a stand-in is noted and unknown.
    fn int(&mut self, name: &str, number: Number<'_>) -> Result<Option<i64>, Refusal> {
        match number {
            Number::Absent | Number::Infinite => Ok(None),
            Number::Is(value) => Ok(Some(value)),
            Number::StandIn => {
                self.note(Anomaly::ValueDropped);
                Ok(None)
            }
            Number::Bad(value) => Err(Refusal {
                reason: Reason::BadNumber,
                detail: format!(
                    "{name}: {} is not a whole number that fits 64 bits",
                    value::shown(value)
                ),
            }),
        }
    }

    /// The CPU time it used; of its parts only what its own row, or the sum of its steps, measured.
    fn used_cpu(&self, fields: &SacctJsonFields<'_>) -> CpuMeasured {
        let steps = &fields.steps;
        // 22.05 leaves the job's own figure at zero and fills in the steps, which is where later plugins get it from.
        let own = fields.cpu.total_us.filter(|&us| us > 0);
        let cpu = if own.is_some() { fields.cpu } else { steps.cpu };
        let cpu = if steps.count == 0 { fields.cpu } else { cpu };
        let folded = Steps {
            count: steps.count,
            cpu_ms: steps.cpu.total_us.map(|us| (us / 1000).sum_to_compare(steps.polled_ms)),
            polled_ms: steps.polled_ms,
            ..Steps::default()
        };
        let has_run = self.start_s.is_some() && self.wall_s != Some(0);
        let measured = measured(cpu);
        let (total_ms, is_measured) = measured.used_ms(has_run, self.end_s.is_some(), &folded);
        CpuMeasured {
            total_ms,
            user_ms: measured.user_ms.filter(|_| is_measured),
            system_ms: measured.system_ms.filter(|_| is_measured),
        }
    }

    fn emit(&self, fields: &SacctJsonFields<'_>, at: Position, sink: &mut dyn Sink) {
        let mut anomalies = self.anomalies;
        let steps = &fields.steps;
        let cpu = self.used_cpu(fields);
        if cpu.total_ms.is_none() {
            anomalies |= Anomaly::CpuUnknown.bit();
        }
        let mut is_invalid = false;
        let mut text = |text: Option<JsonText<'_>>| value::decode(text, &mut is_invalid).map(Cow::into_owned);
        let (cluster, account) = (text(fields.cluster), text(fields.account));
        let user = text(fields.user.or(fields.association_user));
        let (group, partition, qos) = (text(fields.group), text(fields.partition), text(fields.qos));
        let wckey = text(fields.wckey);
        let wckey = wckey.as_deref().map(|key| key.strip_prefix('*').unwrap_or(key));
        let reservation = text(fields.reservation);
        if fields.lacks_a_value() {
            anomalies |= Anomaly::ValueDropped.bit();
        }
        let name = text(fields.name);
        let nodes = text(fields.nodes).filter(|nodes| !is_no_node(nodes.as_bytes()));
        if is_invalid {
            anomalies |= Anomaly::InvalidText.bit();
        }
        let alloc = fields.allocated.alloc;
        let gpus = tres::borrowed(&fields.allocated.gpus);
        let of_cluster = fields.allocated_or_requested();
        let (pools, licenses) = (
            tres::borrowed(&of_cluster.burst_buffers),
            tres::borrowed(&of_cluster.licenses),
        );
        let raw_id = self.raw_id.to_string();
        let ms = |second: Option<i64>| second.and_then(|s| s.checked_mul(1000));
        // What is beyond 63 bits is beyond the limit of a wall time, which refuses it.
        let wall_ms = self.wall_s.map(|second| second.product_to_compare(1000));
        let held_ms = jobstats::held_ms(wall_ms, self.suspended_s);
        let jobstats = fields
            .admin_comment
            .and_then(|comment| jobstats::read(comment.decode().0.as_bytes(), held_ms));
        if jobstats.is_some_and(|found| found.outcome == JobstatsOutcome::Damaged) {
            anomalies |= Anomaly::JobstatsDamaged.bit();
        }
        let line = fields.submit_line.map(|line| line.decode().0);
        let submitted = line.and_then(|line| SubmitOptions::read(line.as_bytes()));
        if submitted.as_ref().is_some_and(|found| found.is_dropped) {
            anomalies |= Anomaly::ValueDropped.bit();
        }
        let details = JobDetails {
            burst_buffers: &pools,
            licenses: &licenses,
            ..SubmitOptions::details(submitted.as_ref())
        };
        let requested = fields.requested.alloc;
        let alloc_node_n = alloc.and_then(|alloc| alloc.node).or(fields.allocation_nodes.known());
        let row = JobRow {
            view: "batch",
            cluster: cluster.as_deref(),
            job_id: &self.id,
            raw_job_id: Some(&raw_id),
            account: account.as_deref(),
            user: user.as_deref(),
            user_group: group.as_deref(),
            partition: partition.as_deref(),
            qos: qos.as_deref(),
            wckey: wckey.filter(|key| !key.is_empty()),
            reservation: reservation.as_deref(),
            job_name: name.as_deref(),
            submit_ms: ms(self.submit_s),
            eligible_ms: ms(self.eligible_s),
            start_ms: ms(self.start_s),
            end_ms: ms(self.end_s),
            wall_ms,
            suspended_s: self.suspended_s,
            cpu_ms: cpu.total_ms,
            cpu_user_ms: cpu.user_ms,
            cpu_system_ms: cpu.system_ms,
            // Without an allocation the text prints 0 CPUs, and the nodes requested.
            alloc_core_n: alloc.map_or(Some(0), |alloc| alloc.cpu),
            alloc_node_n,
            alloc_gpu_n: alloc.and_then(|alloc| alloc.gpu),
            gpus: &gpus,
            alloc_memory_byte: alloc.and_then(|alloc| alloc.memory_byte),
            requested_core_n: fields
                .required_core_n
                .known()
                .or(requested.and_then(|requested| requested.cpu)),
            requested_memory_byte: requested.and_then(|requested| requested.memory_byte),
            max_rss_byte: steps.max_rss_byte,
            max_virtual_byte: steps.max_virtual_byte,
            jobstats,
            energy: energy::of_job(alloc.and_then(|alloc| alloc.energy), alloc_node_n, held_ms),
            details: details.known(),
            // Slurm leaves out a billing that truncates to zero.
            alloc_billing_n: alloc.and_then(|alloc| alloc.billing.known()),
            time_limit_s: self.limit_minute.and_then(|minute| minute.checked_mul(60)),
            node_list: nodes.as_deref(),
            state: self.state,
            exit_code: self.exit.and_then(|(code, _)| code),
            exit_signal: self.exit.map(|(_, signal)| signal),
            anomalies,
            ..JobRow::default()
        };
        sink.job(&row, at, steps.count);
    }
}

fn measured(cpu: CpuTime) -> CpuMeasured {
    let ms = |us: Option<i64>| us.map(|us| us / 1000);
    CpuMeasured {
        total_ms: ms(cpu.total_us),
        user_ms: ms(cpu.user_us),
        system_ms: ms(cpu.system_us),
    }
}

/// An instant; zero and stand-ins mean that it is not known, as everywhere in Slurm.
fn instant(name: &str, number: Number<'_>) -> Result<Option<i64>, Refusal> {
    match number {
        Number::Absent | Number::Infinite | Number::StandIn | Number::Is(0) => Ok(None),
        Number::Is(second) if second <= crate::sources::instant::LAST_S => Ok(Some(second)),
        Number::Is(second) => Err(Refusal {
            reason: Reason::BadTime,
            detail: format!("{name}: {second} is not a time (Unix seconds)"),
        }),
        Number::Bad(value) => Err(Refusal {
            reason: Reason::BadTime,
            detail: format!("{name}: {} is not a time (Unix seconds)", value::shown(value)),
        }),
    }
}

/// The word the text would print: the flag shown for the job when there is one, else the base state.
fn state(words: &[JsonText<'_>]) -> Result<Option<&'static str>, Refusal> {
    let mut found: Option<&'static str> = None;
    for word in words {
        let (word, _) = word.decode();
        if state::is_silent_flag(&word) {
            continue;
        }
        let Some(known) = state::known(word.as_bytes()) else {
            return Err(Refusal {
                reason: Reason::UnknownState,
                detail: format!("state.current: {word:?} is not a state of any known release"),
            });
        };
        if found.is_none_or(|found| state::precedence(known) > state::precedence(found)) {
            found = Some(known);
        }
    }
    match found {
        Some(state) => Ok(Some(state)),
        None => Err(Refusal {
            reason: Reason::MissingField,
            detail: "state.current is empty".to_owned(),
        }),
    }
}
