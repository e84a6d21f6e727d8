//! Documents of the summary index: raw documents of one UTC day with equal keys, added up by GRACC's summariser. Jobs are
//! added up by the day of their end; transfers by that of their start, under keys of their own.
//!
//! What the summariser writes for a missing text (`N/A`) is read as unknown again. Its site is `SiteName`, as that of raw
//! documents, so that the two are seen to overlap; what it looked up in the topology of its day is left to the
//! pipeline's own tables, but for the benchmark. Core hours and normalised durations follow from what is read. A summary
//! of transfers names no site: the pipeline's rule of sites does, by the probe for one.

use std::borrow::Cow;
use std::fmt::Write;

use super::document::Key;
use super::fields::GraccFields;
use super::usage::{GraccScratch, stated_cpu, view};
use crate::ledger::Reason;
use crate::numbers::Comparand;
use crate::record::{SummaryKind, SummaryRow};
use crate::sources::fqan::Fqan;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;
use crate::sources::{Position, Sink};
use crate::time::{DAY_MS, Month};

/// From this value on a factor is one of a whole node, entered by mistake: GRACC's own exporter to APEL does not believe
/// it either. Thousandths.
const NODE_FACTOR_MILLI: i64 = 200_000;

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Jobs, pilots, payloads.
    Jobs,
    /// Transfers of files.
    Transfers,
}

/// What the summariser's own id of a summary is made of besides day, VO and project, and what it writes where a raw
/// document has none. The site is a key, but not in the id.
const KEYS: [(Key, &str); 10] = [
    (Key::Dn, "N/A"),
    (Key::Processors, "1"),
    (Key::ResourceType, "N/A"),
    (Key::CommonName, "N/A"),
    (Key::HostDescription, "N/A"),
    (Key::ExitCode, "0"),
    (Key::Grid, "N/A"),
    (Key::ReportableVoName, "N/A"),
    (Key::ProbeName, "N/A"),
    (Key::Gpus, "0"),
];

/// The same of transfers.
const TRANSFER_KEYS: [(Key, &str); 8] = [
    (Key::Dn, "N/A"),
    (Key::CommonName, "N/A"),
    (Key::Grid, "N/A"),
    (Key::ProbeName, "N/A"),
    (Key::Protocol, "N/A"),
    (Key::Status, "N/A"),
    (Key::IsNew, "N/A"),
    (Key::NetworkUnit, "N/A"),
];

/// Sends one summary to the sink.
pub(super) fn take(
    of: Of,
    fields: &mut GraccFields<'_, '_>,
    at: Position,
    scratch: &mut GraccScratch,
    sink: &mut dyn Sink,
) -> Result<(), Refusal> {
    let day = match of {
        Of::Jobs => Key::EndTime,
        Of::Transfers => Key::StartTime,
    };
    let day_ms = fields.time_ms(day)?.ok_or_else(|| Refusal::missing(day.name()))?;
    let wall_ms = duration_ms(fields, Key::WallDuration)?;
    let (user_ms, system_ms) = (fields.duration_ms(Key::CpuUser)?, fields.duration_ms(Key::CpuSystem)?);
    let total_ms = fields.duration_ms(Key::CpuDuration)?;
    let has_parts = user_ms.is_some() && system_ms.is_some();
    let cpu_ms = stated_cpu(total_ms.filter(|total| *total > 0 || !has_parts), user_ms, system_ms);
    // Raw documents, each of which is a record here too; a few of them speak of several jobs.
    let job_n = match count(fields, Key::Count)? {
        None => count(fields, Key::Njobs)?,
        documents => documents,
    };
    let job_n = job_n.ok_or_else(|| Refusal::missing("Count or Njobs"))?;
    identify(of, fields, day_ms, &mut scratch.identity)?;
    let resource_type = match of {
        Of::Jobs => known(fields, Key::ResourceType)?,
        Of::Transfers => Some(Cow::Borrowed("Storage")),
    };
    let view = view(resource_type.as_deref(), &mut scratch.view);
    let (vo, raw_vo) = (known(fields, Key::VoName)?, known(fields, Key::RawVoName)?);
    // Not every name was corrected to a short one.
    let fqan = vo.as_deref().map(Fqan::parse);
    let raw_fqan = raw_vo.as_deref().map(Fqan::parse).or(fqan);
    let reportable_vo = known(fields, Key::ReportableVoName)?;
    let (dn, common_name) = (known(fields, Key::Dn)?, known(fields, Key::CommonName)?);
    let (site, probe) = (known(fields, Key::SiteName)?, known(fields, Key::ProbeName)?);
    let (payload_site, grid) = (known(fields, Key::HostDescription)?, known(fields, Key::Grid)?);
    let project = project(fields)?;
    let level_milli = fields.milli(Key::NormalFactor)?;
    let level_milli = level_milli.filter(|milli| (1..NODE_FACTOR_MILLI).contains(milli));
    let row = SummaryRow {
        kind: SummaryKind::Summary,
        view,
        site: site.as_deref(),
        month: Month::of_ms(day_ms),
        identity_key: Some(&scratch.identity),
        vo: fqan.map(|fqan| fqan.vo).or(reportable_vo.as_deref()),
        vo_name: raw_vo.as_deref().or(vo.as_deref()),
        reportable_vo: reportable_vo.as_deref(),
        vo_group: raw_fqan.and_then(|fqan| fqan.group),
        vo_role: raw_fqan.and_then(|fqan| fqan.role),
        account: project.as_deref(),
        global_user: dn.as_deref().or(common_name.as_deref()),
        cluster: probe.as_deref(),
        payload_site: payload_site.as_deref(),
        infrastructure: grid.as_deref(),
        benchmark: level_milli.map(|_| "hs06"),
        benchmark_milli_per_core: level_milli,
        alloc_core_n: count(fields, Key::Processors)?.filter(|&n| n > 0),
        alloc_gpu_n: count(fields, Key::Gpus)?,
        exit_code: fields.optional(Key::ExitCode, GraccFields::whole),
        network_byte: fields.network_byte()?.filter(|_| of == Of::Transfers),
        earliest_end_ms: Some(day_ms),
        latest_end_ms: Some(
            day_ms
                .difference_to_compare(day_ms.rem_euclid(DAY_MS))
                .sum_to_compare(DAY_MS - 1000),
        ),
        wall_ms: Some(wall_ms),
        cpu_ms,
        job_n: Some(job_n),
        ..SummaryRow::default()
    };
    sink.summary(&row, at);
    Ok(())
}

/// A non-empty text. `N/A` is what the summariser writes for a missing one.
fn known<'a>(fields: &mut GraccFields<'_, 'a>, key: Key) -> Result<Option<Cow<'a, str>>, Refusal> {
    Ok(fields
        .text(key)?
        .filter(|text| !text.trim().eq_ignore_ascii_case("n/a")))
}

/// The project, unless it is the VO written in place of a missing project.
fn project<'a>(fields: &mut GraccFields<'_, 'a>) -> Result<Option<Cow<'a, str>>, Refusal> {
    let is_stand_in = match fields.text(Key::RawProjectName)? {
        Some(raw) => ["n/a", "unknown"]
            .iter()
            .any(|word| raw.trim().eq_ignore_ascii_case(word)),
        None => false,
    };
    Ok(known(fields, Key::ProjectName)?.filter(|_| !is_stand_in))
}

fn duration_ms(fields: &mut GraccFields<'_, '_>, key: Key) -> Result<i64, Refusal> {
    fields.duration_ms(key)?.ok_or_else(|| Refusal::missing(key.name()))
}

/// A whole number of at least 0.
fn count(fields: &mut GraccFields<'_, '_>, key: Key) -> Result<Option<i64>, Refusal> {
    match fields.whole(key)? {
        Some(n) if n < 0 => {
            let detail = format!("{} {} is negative", key.name(), clip(&n.to_string()));
            Err(Refusal::new(Reason::BadNumber, detail))
        }
        n => Ok(n),
    }
}

/// Its key among all others of its site. VO and project are those before corrections, where they are given: a
/// summary that was corrected again replaces the one before.
fn identify(of: Of, fields: &mut GraccFields<'_, '_>, day_ms: i64, out: &mut String) -> Result<(), Refusal> {
    out.clear();
    let (word, keys) = match of {
        Of::Jobs => ("", &KEYS[..]),
        Of::Transfers => ("transfers|", &TRANSFER_KEYS[..]),
    };
    // Writing to a string cannot fail.
    let _ = write!(out, "{word}{day_ms}");
    for (raw, corrected) in [(Key::RawVoName, Key::VoName), (Key::RawProjectName, Key::ProjectName)] {
        let name = match fields.text(raw)? {
            None => fields.text(corrected)?,
            name => name,
        };
        let _ = write!(out, "|{:?}", name.as_deref().unwrap_or("N/A"));
    }
    for &(key, missing) in keys {
        let text = fields.text(key)?;
        let _ = write!(out, "|{:?}", text.as_deref().unwrap_or(missing));
    }
    Ok(())
}
