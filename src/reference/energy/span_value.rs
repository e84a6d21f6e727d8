//! Values that hold one after another: rows in any order, free of overlaps as they are known.

use std::collections::BTreeMap;

use super::cells::WrittenSpan;

/// A value and when it holds, `from_ms <= instant < until_ms`; without a value it is stated to be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanValue {
    /// First instant, Unix milliseconds.
    pub from_ms: i64,
    /// The instant after the last.
    pub until_ms: i64,
    /// In ten-thousandths.
    pub value_e4: Option<i64>,
    /// Line of the table.
    pub line: usize,
}

/// A row, and when it was learnt.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenValue {
    pub(super) span: WrittenSpan,
    pub(super) value_e4: Option<i64>,
    pub(super) line: usize,
}

/// What is wrong with rows of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpanFault {
    /// Both hold at once, and were recorded at once.
    Overlap {
        /// The earlier line.
        first: usize,
        /// The later line.
        second: usize,
    },
    /// No row holds between two.
    Gap {
        /// The row before.
        before: usize,
        /// The row behind.
        behind: usize,
        /// First instant without a row.
        from_ms: i64,
        /// The instant after the last without one.
        until_ms: i64,
    },
}

/// The values in the order of time: of rows that hold at once the one recorded last counts.
pub(super) fn resolve(rows: &[WrittenValue]) -> (Vec<SpanValue>, Vec<SpanFault>) {
    let mut edges: Vec<i64> = rows
        .iter()
        .flat_map(|row| [row.span.from_ms, row.span.until_ms])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut starts: Vec<&WrittenValue> = rows.iter().collect();
    starts.sort_by_key(|row| (row.span.from_ms, row.line));
    let mut starts = starts.into_iter().peekable();
    // Rows that hold, the one recorded last at the end.
    let mut holding: BTreeMap<(i64, usize), &WrittenValue> = BTreeMap::new();
    let (mut values, mut faults): (Vec<SpanValue>, Vec<SpanFault>) = (Vec::new(), Vec::new());
    for edge in edges.windows(2) {
        let [from_ms, until_ms] = *edge else { continue };
        holding.retain(|_, row| row.span.until_ms > from_ms);
        while let Some(row) = starts.next_if(|row| row.span.from_ms <= from_ms) {
            holding.insert((row.span.learnt_at, row.line), row);
        }
        let mut latest = holding.values().rev();
        let Some(row) = latest.next() else {
            if let (Some(before), Some(behind)) = (values.last(), starts.peek()) {
                faults.push(SpanFault::Gap {
                    before: before.line,
                    behind: behind.line,
                    from_ms,
                    until_ms,
                });
            }
            continue;
        };
        if let Some(other) = latest.next().filter(|other| other.span.learnt_at == row.span.learnt_at) {
            let (first, second) = (row.line.min(other.line), row.line.max(other.line));
            faults.push(SpanFault::Overlap { first, second });
        }
        match values
            .last_mut()
            .filter(|last| last.line == row.line && last.until_ms == from_ms)
        {
            Some(last) => last.until_ms = until_ms,
            None => values.push(SpanValue {
                from_ms,
                until_ms,
                value_e4: row.value_e4,
                line: row.line,
            }),
        }
    }
    faults.sort_unstable();
    faults.dedup();
    (values, faults)
}
