//! One `E` record to one job.

use super::PbsParts;
use super::values::PbsValues;
use crate::ledger::Reason;
use crate::numbers::tally;
use crate::record::{Anomaly, Energy, EnergyReading, JobRow};
use crate::reference::decimal::scaled;
use crate::sources::Sink;
use crate::sources::host_slots::HostSlots;
use crate::sources::lines::LogRecord;
use crate::sources::refusal::{Refusal, instant_ms, known, whole};
use crate::sources::truncate::clip;

/// Gives an `E` record its outcome.
///
/// Unlike APEL's parser, a job without `exec_host` is kept with its cores unknown, units of memory are believed
/// (`2gb` is not 2 kB) and a blank in a value does not break the line.
pub(super) fn take(parts: &PbsParts<'_>, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
    let job_id = known(parts.id).ok_or_else(|| Refusal::new(Reason::BadJobId, "the job id is empty"))?;
    let values = PbsValues::of(parts.message);
    if never_ran(&values)? {
        sink.out_of_scope(Reason::NotStarted, 1);
        return Ok(());
    }
    let time = |name: &str, value: Option<&str>| instant_ms(name, value.ok_or_else(|| Refusal::missing(name))?);
    let (start_ms, end_ms) = (time("start", values.start)?, time("end", values.end)?);
    let duration = |name: &str, value: Option<&str>| value.map(|text| clock_ms(name, text)).transpose();
    let wall_ms = duration("resources_used.walltime", values.walltime)?;
    let cpu_ms = duration("resources_used.cput", values.cput)?;
    let mut anomalies = record.anomalies();
    if wall_ms.is_none() {
        if end_ms < start_ms {
            let why = "resources_used.walltime is missing, and the job ends before it starts";
            return Err(Refusal::new(Reason::MissingField, why));
        }
        anomalies |= Anomaly::TimeAssumed.bit();
    }
    let placed = values.exec_host.map(placed_hosts).transpose()?;
    let stated = |name: &str, value: Option<&str>| value.map(|text| whole(name, text)).transpose();
    // Where no core of a host is named (`host/0*0`), the server still counts them.
    let named_n = placed.as_ref().map(HostSlots::slot_n).filter(|n| *n > 0);
    let core_n = match named_n {
        Some(core_n) => Some(core_n),
        None => [
            stated("total_execution_slots", values.slots)?,
            stated("resources_used.ncpus", values.used_ncpus)?,
            stated("Resource_List.ncpus", values.asked_ncpus)?,
        ]
        .into_iter()
        .flatten()
        .find(|n| *n > 0),
    };
    let node_n = match &placed {
        Some(placed) => Some(placed.host_n()),
        None => stated("unique_node_count", values.nodes)?,
    };
    let mut dropped = false;
    let mut optional = |value: Option<Result<i64, Refusal>>| match value {
        Some(Ok(value)) => Some(value),
        Some(Err(_)) => {
            dropped = true;
            None
        }
        None => None,
    };
    let submit_ms = optional(values.ctime.map(|text| instant_ms("ctime", text)));
    let eligible_ms = optional(values.etime.map(|text| instant_ms("etime", text)));
    let max_rss_byte = optional(values.mem.map(|text| size_byte("resources_used.mem", text)));
    let max_virtual_byte = optional(values.vmem.map(|text| size_byte("resources_used.vmem", text)));
    let limit_ms = optional(values.limit.map(|text| clock_ms("Resource_List.walltime", text)));
    let given_gpu_n = optional(values.exec_gpus.map(given_gpus));
    let asked_gpu_n = optional(values.gpus.map(|text| whole("Resource_List.ngpus", text)));
    let spec_gpu_n = optional(values.node_spec.and_then(asked_gpus));
    let status = optional(values.exit_status.map(|text| whole("Exit_status", text)));
    if dropped {
        anomalies |= Anomaly::ValueDropped.bit();
    }
    // A signal is reported as 256 plus its number; negative ones are the server's own ways to fail.
    let (exit_code, exit_signal) = match status {
        Some(status) if status > 256 => (None, Some(status - 256)),
        status => (status, None),
    };
    let node_list = placed.as_ref().map(HostSlots::list);
    let row = JobRow {
        view: "batch",
        job_id,
        cluster: job_id.split_once('.').map(|(_, server)| server),
        account: values.account,
        user: values.user,
        user_group: values.group,
        partition: values.queue,
        job_name: values.job_name,
        submit_ms,
        eligible_ms,
        start_ms: Some(start_ms),
        end_ms: Some(end_ms),
        // Without one it is the end less the start.
        wall_ms,
        cpu_ms,
        alloc_core_n: core_n,
        alloc_node_n: node_n,
        // What was given, where Torque states it; else what was requested: of PBS Pro, or for each node of Torque.
        alloc_gpu_n: given_gpu_n.or(asked_gpu_n).or(spec_gpu_n),
        max_rss_byte,
        max_virtual_byte,
        energy: values.energy.map(|text| energy(text, node_n, wall_ms)),
        time_limit_s: limit_ms.map(|ms| ms / 1000),
        node_list: node_list.as_deref(),
        exit_code,
        exit_signal,
        anomalies,
        ..JobRow::default()
    };
    sink.job(&row, record.at, 0);
    Ok(())
}

/// Whether a record without a start is of a job that was deleted before it ran: it ended, and was given no host, no session and no
/// time. A line that lost its start has some of these, or lost more.
fn never_ran(values: &PbsValues<'_>) -> Result<bool, Refusal> {
    let is_none = |value: Option<&str>| value.is_none_or(|text| text == "0");
    let had_nothing = values.exec_host.is_none() && values.exec_gpus.is_none() && is_none(values.session);
    let (true, true, Some(end), Some(_)) = (is_none(values.start), had_nothing, values.end, values.exit_status) else {
        return Ok(false);
    };
    let is_zero = |value: Option<&str>, read: fn(&str, &str) -> Result<i64, Refusal>| {
        value.is_none_or(|text| read("", text).is_ok_and(|amount| amount == 0))
    };
    let used_nothing = is_zero(values.cput, clock_ms)
        && is_zero(values.walltime, clock_ms)
        && is_zero(values.mem, size_byte)
        && is_zero(values.vmem, size_byte);
    // A start that is glued to the time before it.
    let mut times = [values.ctime, values.etime].into_iter().flatten();
    let is_sound = times.all(|text| instant_ms("", text).is_ok());
    instant_ms("end", end).map(|_| used_nothing && is_sound)
}

/// Energy of a job of so many nodes and so much wall time (milliseconds). PBS Professional states kilowatt hours with a point, as the
/// meters of its nodes give them; TORQUE's `energy_used` is of no stated unit, and is not read. A figure that cannot be read refuses
/// no job.
fn energy(text: &str, node_n: Option<i64>, wall_ms: Option<i64>) -> Energy {
    // Ten-millionths of a kWh are 0.36 J.
    let Ok(e7_kwh) = scaled(text, KWH_DIGITS) else {
        return Energy::unknown(EnergyReading::Unreadable);
    };
    match u64::try_from((e7_kwh * 36 + 50).div_euclid(100)) {
        Ok(joule) => Energy::stated(joule, node_n, wall_ms),
        Err(_) => Energy::unknown(EnergyReading::Impossible),
    }
}

/// Digits after the point that a figure of energy may have.
const KWH_DIGITS: u32 = 7;

/// The hosts of `exec_host`: `host/0+host/1` (one core each), `host/0-1,5+..` (Torque 5.1 and later: core numbers and ranges),
/// `host/0*4` (PBS Pro: four cores; `host/0*0`: unknown number).
fn placed_hosts(exec_host: &str) -> Result<HostSlots<'_>, Refusal> {
    let wrong = |part: &str| {
        Refusal::new(
            Reason::BadNumber,
            format!("exec_host part {:?} is not host/cores", clip(part)),
        )
    };
    let mut placed = HostSlots::default();
    for part in exec_host.split('+') {
        let (host, cores) = part.split_once('/').ok_or_else(|| wrong(part))?;
        cores_of(cores)
            .and_then(|n| placed.add(host, n))
            .ok_or_else(|| wrong(part))?;
    }
    Ok(placed)
}

fn cores_of(text: &str) -> Option<i64> {
    let number = |text: &str| text.parse::<u32>().ok().map(i64::from);
    if let Some((index, n)) = text.split_once('*') {
        number(index)?;
        return number(n);
    }
    text.split(',').try_fold(0_i64, |sum, part| {
        let n = match part.split_once('-') {
            Some((first, last)) => {
                let n = number(last)? - number(first)? + 1;
                (n > 0).then_some(n)?
            }
            None => number(part).map(|_| 1)?,
        };
        sum.checked_add(n)
    })
}

/// The GPUs of `exec_gpus`: `host-gpu/0+host-gpu/1`, one each, or more as cores of `exec_host`.
fn given_gpus(exec_gpus: &str) -> Result<i64, Refusal> {
    let given = exec_gpus.split('+').try_fold(0_i64, |sum, part| {
        let (_, gpus) = part.split_once('/')?;
        sum.checked_add(cores_of(gpus)?)
    });
    given.ok_or_else(|| {
        let detail = format!("exec_gpus {:?} is not host-gpu/numbers", clip(exec_gpus));
        Refusal::new(Reason::BadNumber, detail)
    })
}

/// The GPUs of `Resource_List.nodes`: `2:ppn=2:gpus=1+n7:gpus=2` are two nodes of one GPU, and one of two. `None` where none of its
/// nodes names any.
fn asked_gpus(node_spec: &str) -> Option<Result<i64, Refusal>> {
    let mut sum = None;
    for part in node_spec.split('+') {
        let mut words = part.split(':');
        let nodes = words.next()?;
        // A host, or a property of one, is one node.
        let is_number = !nodes.is_empty() && nodes.bytes().all(|byte| byte.is_ascii_digit());
        let Some(gpus) = words.find_map(|word| word.strip_prefix("gpus=")) else {
            continue;
        };
        let product = || {
            let node_n = if is_number { whole("nodes", nodes)? } else { 1 };
            let gpu_n = whole("gpus of nodes", gpus)?;
            let so_far = tally(sum);
            let added = node_n.checked_mul(gpu_n).and_then(|n| n.checked_add(so_far));
            added.ok_or_else(|| {
                Refusal::new(
                    Reason::BadNumber,
                    "Resource_List.nodes has more GPUs than can be counted",
                )
            })
        };
        match product() {
            Ok(n) => sum = Some(n),
            Err(why) => return Some(Err(why)),
        }
    }
    sum.map(Ok)
}

/// `h:m:s`, `m:s` or seconds, as milliseconds. Minutes and seconds may have one digit (`19:23:4`).
fn clock_ms(name: &str, text: &str) -> Result<i64, Refusal> {
    let wrong = || {
        Refusal::new(
            Reason::BadDuration,
            format!("{name} {:?} is neither h:m:s nor seconds", clip(text)),
        )
    };
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 3 {
        return Err(wrong());
    }
    let mut seconds = 0_i64;
    for part in parts {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let value: i64 = part.parse().ok().filter(|_| is_number).ok_or_else(wrong)?;
        seconds = seconds
            .checked_mul(60)
            .and_then(|seconds| seconds.checked_add(value))
            .ok_or_else(wrong)?;
    }
    seconds.checked_mul(1000).ok_or_else(wrong)
}

/// `2031040kb`, `15gb`, `512b`, `3mw` (words of eight bytes) in bytes.
fn size_byte(name: &str, text: &str) -> Result<i64, Refusal> {
    let wrong = || {
        Refusal::new(
            Reason::BadNumber,
            format!("{name} {:?} is not a size such as 2031040kb", clip(text)),
        )
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).ok_or_else(wrong)?;
    let value: i64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.to_ascii_lowercase();
    let (scale, word) = match unit.as_bytes() {
        [] | [b'b'] => (1, 1),
        [b'w'] => (1, 8),
        [prefix, kind @ (b'b' | b'w')] => {
            let shift = match prefix {
                b'k' => 10,
                b'm' => 20,
                b'g' => 30,
                b't' => 40,
                b'p' => 50,
                _ => return Err(wrong()),
            };
            (1_i64 << shift, if *kind == b'w' { 8 } else { 1 })
        }
        _ => return Err(wrong()),
    };
    value
        .checked_mul(scale)
        .and_then(|bytes| bytes.checked_mul(word))
        .ok_or_else(wrong)
}
