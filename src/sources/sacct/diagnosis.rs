//! Facts from the first bytes of a dump, other than its dialect.

use super::{FixedOrder, json};
use crate::byte_order_mark::without_mark;
use crate::sources::hints::{Hints, SACCT_RELEASES, SacctHeader};

/// What the head of a dump states.
pub(super) fn hints(head: &[u8]) -> Hints {
    if json::recognise(without_mark(head)) {
        return Hints {
            version: Some(json::version(head)),
            ..Hints::default()
        };
    }
    of_text(head)
}

/// Whether a line is the header of a dump.
pub(super) fn is_header(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"JobID").is_some() && SacctHeader::find(line).is_some()
}

pub(crate) fn of_text(head: &[u8]) -> Hints {
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
        (
            &["Submit"],
            "no Submit: runs of one job id cannot be distinguished by it",
        ),
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

/// Whether a time such as `2026-03-01T12:00:00` occurs with neither offset nor `Z`.
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
