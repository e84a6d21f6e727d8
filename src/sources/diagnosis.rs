//! What the first bytes of a file tell people about it.

use memchr::memmem;

use super::byte_order_mark::without_mark;
use super::dialect::Dialect;
use super::hints::{Hints, SACCT_RELEASES, SacctHeader};
use super::sacct::FixedOrder;
use super::swf::SwfHeader;

/// Looks at the first bytes (unpacked) of a file.
#[must_use]
pub fn of(dialect: Option<Dialect>, head: &[u8]) -> Hints {
    match dialect {
        Some(Dialect::Sacct) if super::sacct::json::recognise(without_mark(head)) => Hints {
            version: Some(super::sacct::json::version(head)),
            ..Hints::default()
        },
        Some(Dialect::Sacct) => sacct(head),
        Some(Dialect::Apel) => Hints {
            version: apel_version(head),
            ..Hints::default()
        },
        Some(Dialect::Gracc) => Hints {
            version: quoted_after(head, "\"_index\"")
                .map(|index| format!("index {index}"))
                .or_else(|| gratia_version(head)),
            ..Hints::default()
        },
        Some(Dialect::Archive) => Hints {
            version: Some("tar".to_owned()),
            ..Hints::default()
        },
        Some(Dialect::Swf) => swf(head),
        Some(Dialect::Blah) => Hints {
            problems: vec![
                "a CE log holds no usage: name it in the blah = [..] of the source that reads the batch system's log"
                    .to_owned(),
            ],
            ..Hints::default()
        },
        Some(Dialect::Pbs | Dialect::Sge | Dialect::Lsf | Dialect::Htcondor) => Hints::default(),
        Some(Dialect::Inventory(kind)) => super::inventory::hints(kind, head),
        None => Hints {
            problems: vec![super::unsupported_files::problem(head).to_owned()],
            ..Hints::default()
        },
    }
}

pub(crate) fn sacct(head: &[u8]) -> Hints {
    let fixed = FixedOrder::recognise(head);
    let Some(header) = SacctHeader::find(head).or_else(|| fixed.map(SacctHeader::fixed)) else {
        return Hints::default();
    };
    let mut hints = Hints {
        version: SACCT_RELEASES
            .iter()
            .find(|(column, _)| header.has(column))
            .map(|&(_, release)| release.to_owned()),
        column_n: Some(header.columns.iter().filter(|column| !column.is_empty()).count()),
        layout: fixed.filter(|_| SacctHeader::find(head).is_none()),
        times: times(&header, head),
        naive_times: has_naive_time(head),
        has_cpu_column: header.has("TotalCPU")
            || header.has("CPUTimeRAW/TotalCPU")
            || (header.has("UserCPU") && header.has("SystemCPU")),
        ..Hints::default()
    };
    let wanted: &[(&[&str], &str)] = &[
        (
            &["NodeList"],
            "no NodeList: hosts stay unknown, and with them the true overhead",
        ),
        (&["Submit"], "no Submit: runs of one job id cannot be told apart by it"),
        (&["Start"], "no Start: usage cannot be split over periods"),
        (&["End"], "no End: usage has no period"),
        (
            &["Elapsed", "ElapsedRaw"],
            "no Elapsed or ElapsedRaw: wall time must come from Start and End",
        ),
        (
            &["AllocCPUS", "NCPUS", "AllocTRES"],
            "no AllocCPUS, NCPUS or AllocTRES: cores stay unknown",
        ),
        (&["State"], "no State: pending and finished jobs look alike"),
        (&["Account"], "no Account: usage has no account"),
        (&["Cluster"], "no Cluster: set cluster in the source"),
    ];
    for (columns, problem) in wanted {
        if !columns.iter().any(|column| header.has(column)) {
            hints.problems.push((*problem).to_owned());
        }
    }
    if hints.layout == Some(FixedOrder::Apel) {
        let (allocated, measured) = FixedOrder::cpu_columns(head);
        if allocated > 0 {
            hints.has_cpu_column = measured > 0;
            let problem = "rows with CPUTimeRAW, which is allocated time: their CPU time is unknown (dump TotalCPU)";
            hints.problems.push(problem.to_owned());
        }
    }
    if !hints.has_cpu_column {
        let problem = "no TotalCPU: CPU time unknown (CPUTime is allocated time, not used time)";
        hints.problems.push(problem.to_owned());
    }
    hints.delimiter = Some(header.delimiter);
    hints
}

fn swf(head: &[u8]) -> Hints {
    let header = SwfHeader::of(head);
    let mut hints = Hints {
        version: header.version.clone(),
        ..Hints::default()
    };
    if header.unix_start_s.is_none() {
        let problem = "no UnixStartTime in the header: set unix_start_time in the source (counted here as if times \
                       were Unix seconds)";
        hints.problems.push(problem.to_owned());
    }
    if super::swf::lacks_waits(head) {
        hints.lacks_waits = true;
        let problem = "no wait times: when jobs ran is not known; set start_from = \"submit\" in the source if its \
                       submit times are starts (counted here as if they were)";
        hints.problems.push(problem.to_owned());
    }
    if header.has_burst_buffer {
        let problem = "the column of burst buffer requests is not kept";
        hints.problems.push(problem.to_owned());
    }
    hints
}

/// `v0.3 individual-job`, or the namespace of an XML record.
fn apel_version(head: &[u8]) -> Option<String> {
    let text = without_mark(head).trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next()?;
    if let Some(header) = line.strip_prefix(b"APEL-") {
        let header = String::from_utf8_lossy(header);
        let (kind, version) = header.split_once(':')?;
        let kind = kind.trim().trim_end_matches("-message");
        return Some(format!("{} {kind}", version.trim()));
    }
    // The namespace of the records themselves, not that of XML Schema.
    let mut from = text;
    while let Some(at) = memmem::find(from, b"xmlns") {
        from = from.get(at + 5..)?;
        let namespace = quoted(from)?;
        if !namespace.contains("www.w3.org") {
            return Some(format!("XML, {namespace}"));
        }
    }
    None
}

/// What XML records of Gratia come in.
fn gratia_version(head: &[u8]) -> Option<String> {
    let text = without_mark(head).trim_ascii_start();
    let what = if text.starts_with(b"replication|") {
        "Gratia XML, replication bundle"
    } else if memmem::find(text, b"<RecordEnvelope").is_some() {
        "Gratia XML, envelope"
    } else if text.starts_with(b"<") {
        "Gratia XML"
    } else {
        return None;
    };
    Some(what.to_owned())
}

/// The quoted text that follows a key.
fn quoted_after(head: &[u8], key: &str) -> Option<String> {
    let at = memmem::find(head, key.as_bytes())?;
    quoted(head.get(at + key.len()..)?)
}

fn quoted(text: &[u8]) -> Option<String> {
    let open = memchr::memchr(b'"', text)?;
    let inner = text.get(open + 1..)?;
    let inner = inner.get(..memchr::memchr(b'"', inner)?)?;
    Some(String::from_utf8_lossy(inner).into_owned())
}

/// How the first times of a dump are printed.
pub(crate) fn times(header: &SacctHeader, head: &[u8]) -> Option<String> {
    /// Lines looked at.
    const FIRST: usize = 64;
    let is_time = |name: &str| {
        ["Submit", "Eligible", "Start", "End"]
            .iter()
            .any(|time| name.eq_ignore_ascii_case(time))
    };
    let text = String::from_utf8_lossy(head);
    text.lines().take(FIRST).find_map(|line| {
        let values = header.columns.iter().zip(line.split(&header.delimiter));
        let mut times = values.filter(|(name, _)| is_time(name)).map(|(_, value)| value);
        times.find_map(|value| {
            if value.len() >= 9 && value.bytes().all(|byte| byte.is_ascii_digit()) {
                return Some("Unix seconds".to_owned());
            }
            let (time, zone) = value.split_at_checked("0000-00-00T00:00:00".len())?;
            let is_printed = time.starts_with(|digit: char| digit.is_ascii_digit()) && time.contains('T');
            is_printed.then(|| match zone {
                "" => "local, without an offset".to_owned(),
                zone => format!("with an offset, such as {zone}"),
            })
        })
    })
}

/// Whether a time such as `2026-03-01T12:00:00` stands there with neither offset nor `Z` behind it.
fn has_naive_time(head: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    head.windows(SHAPE.len() + 1).any(|window| {
        let (time, next) = window.split_at(SHAPE.len());
        let like = |(&byte, &shape): (&u8, &u8)| match shape {
            b'0' => byte.is_ascii_digit(),
            _ => byte == shape,
        };
        time.iter().zip(SHAPE).all(like) && !matches!(next, [b'+' | b'-' | b'Z' | b'.' | b'0'..=b'9'])
    })
}
