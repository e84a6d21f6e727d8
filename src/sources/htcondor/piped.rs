//! The layout APEL's client asks `condor_history` for: ten columns with bars between them, and perhaps a multiplier.

use crate::ledger::Reason;
use crate::numbers::{Comparand, Part};
use crate::record::{Anomaly, JobRow};
use crate::schema::batch::addend;
use crate::sources::lines::{Grammar, LogRecord};
use crate::sources::refusal::{Refusal, instant_ms, known, seconds_ms, whole};
use crate::sources::truncate::clip;
use crate::sources::{Sink, decimal};

/// `GlobalJobId|Owner|RemoteWallClockTime|RemoteUserCpu|RemoteSysCpu|JobStartDate|EnteredCurrentStatus|
/// ResidentSetSize_RAW|ImageSize_RAW|RequestCpus`, then `|cputmult` where the site scales time, or nothing.
pub(super) struct Piped;

/// Whether a line is such a row: ten columns, all but the first two numbers.
pub(super) fn is_row(line: &str) -> bool {
    let columns: Vec<&str> = line.trim_end().split('|').collect();
    let numbers = columns.part(2..10);
    (10..=12).contains(&columns.len())
        && numbers.len() == 8
        && columns.first().is_some_and(|id| known(id).is_some())
        && numbers.iter().all(|text| decimal::scaled(text, 3).is_some())
}

impl Grammar for Piped {
    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        let mut columns: Vec<&str> = record.text.split('|').collect();
        // A bar at the end closes the last column.
        if columns.len() > 10 && columns.last().is_some_and(|last| last.trim().is_empty()) {
            columns.pop();
        }
        let (job_id, owner, numbers, more) = match columns.as_slice() {
            [id, owner, numbers @ ..] if numbers.len() == 8 => (*id, *owner, numbers, None),
            [id, owner, numbers @ .., more] if numbers.len() == 8 => (*id, *owner, numbers, Some(*more)),
            _ => {
                return Err(Refusal::new(
                    Reason::FieldCount,
                    format!("{} columns with bars between them, not 10 or 11", columns.len()),
                ));
            }
        };
        record.whole(false)?;
        let [wall, user, system, start, end, rss, image, cores] = numbers else {
            return Err(Refusal::new(Reason::FieldCount, "not eight numbers"));
        };
        let job_id = known(job_id).ok_or_else(|| Refusal::new(Reason::BadJobId, "GlobalJobId is empty"))?;
        let mut wall_ms = seconds_ms("RemoteWallClockTime", wall)?;
        let (mut user_ms, mut system_ms) = (
            Some(seconds_ms("RemoteUserCpu", user)?),
            Some(seconds_ms("RemoteSysCpu", system)?),
        );
        let mut cpu_ms = addend(user_ms).sum_to_compare(addend(system_ms));
        if let Some(text) = more {
            // The site's machines are scaled to one speed: time is what it would have been there, cut to seconds.
            let factor_e6 = decimal::scaled(text.trim(), 6)
                .filter(|factor| factor.value > 0)
                .ok_or_else(|| {
                    Refusal::new(
                        Reason::BadNumber,
                        format!("cputmult {:?} is not a multiplier", clip(text)),
                    )
                })?;
            wall_ms = times(wall_ms, factor_e6.value)?;
            cpu_ms = times(cpu_ms, factor_e6.value)?;
            if factor_e6.value != 1_000_000 {
                (user_ms, system_ms) = (None, None);
            }
        }
        let start_ms = Some(instant_ms("JobStartDate", start)?).filter(|ms| *ms != 0);
        let end_ms = instant_ms("EnteredCurrentStatus", end)?;
        let mut anomalies = record.anomalies();
        let mut kb = |name: &str, text: &str| {
            // Fallback: a size that cannot be read is noted as a dropped value.
            let value = whole(name, text).ok().filter(|kb| *kb >= 0);
            if value.is_none() {
                anomalies |= Anomaly::ValueDropped.bit();
            }
            // 0 is a size that was never taken.
            value.filter(|kb| *kb > 0).and_then(|kb| kb.checked_mul(1024))
        };
        let row = JobRow {
            view: "batch",
            job_id,
            global_job_id: Some(job_id),
            user: known(owner),
            start_ms,
            end_ms: Some(end_ms),
            wall_ms: Some(wall_ms),
            cpu_ms: Some(cpu_ms),
            cpu_user_ms: user_ms,
            cpu_system_ms: system_ms,
            alloc_core_n: Some(whole("RequestCpus", cores)?),
            max_rss_byte: kb("ResidentSetSize_RAW", rss),
            max_virtual_byte: kb("ImageSize_RAW", image),
            anomalies,
            ..JobRow::default()
        };
        sink.job(&row, record.at, 0);
        Ok(())
    }
}

/// Milliseconds times millionths, cut to whole seconds as APEL's parser does.
fn times(ms: i64, factor_e6: i64) -> Result<i64, Refusal> {
    let seconds = i128::from(ms) * i128::from(factor_e6) / 1_000_000_000;
    i64::try_from(seconds * 1000)
        .map_err(|_| Refusal::new(Reason::BadDuration, "a duration times its cputmult does not fit"))
}
