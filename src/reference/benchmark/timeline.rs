//! The values of one scope and kind over time, as they are known.

/// One value and when it holds: `from_ms <= instant < until_ms`, Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimelineSpan {
    pub(super) from_ms: i64,
    pub(super) until_ms: i64,
    /// Per core as the jobs count them, in ten-thousandths.
    pub(super) value_e4: i64,
    /// Cores of a node, where the row states them.
    pub(super) core_n: Option<i64>,
    /// When it was learnt; the earliest instant when the row does not state it.
    pub(super) recorded_ms: i64,
    pub(super) line: usize,
    /// The jump from the value before is meant.
    pub(super) is_jump_accepted: bool,
}

/// Spans in order, free of overlaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline(Vec<TimelineSpan>);

impl Timeline {
    /// Of rows in any order: what was recorded later replaces what was recorded before, where both hold. Gives the
    /// pairs of lines that were recorded at once and hold at once, the later line last.
    pub(super) fn new(mut rows: Vec<TimelineSpan>) -> (Self, Vec<(usize, usize)>) {
        rows.sort_by_key(|span| (span.recorded_ms, span.from_ms, span.line));
        let mut clashes = Vec::new();
        let mut spans: Vec<TimelineSpan> = Vec::new();
        for row in rows {
            let mut kept = Vec::with_capacity(spans.len() + 2);
            for span in spans {
                let is_apart = span.until_ms <= row.from_ms || row.until_ms <= span.from_ms;
                if is_apart {
                    kept.push(span);
                    continue;
                }
                if span.recorded_ms == row.recorded_ms {
                    clashes.push((span.line.min(row.line), span.line.max(row.line)));
                }
                if span.from_ms < row.from_ms {
                    kept.push(TimelineSpan {
                        until_ms: row.from_ms,
                        ..span
                    });
                }
                if row.until_ms < span.until_ms {
                    kept.push(TimelineSpan {
                        from_ms: row.until_ms,
                        ..span
                    });
                }
            }
            kept.push(row);
            spans = kept;
        }
        spans.sort_by_key(|span| span.from_ms);
        clashes.sort_unstable();
        clashes.dedup();
        (Self(spans), clashes)
    }

    pub(super) fn spans(&self) -> &[TimelineSpan] {
        &self.0
    }

    /// The span that holds at an instant.
    pub(super) fn at(&self, at_ms: i64) -> Option<&TimelineSpan> {
        let after = self.0.partition_point(|span| span.from_ms <= at_ms);
        let span = self.0.get(after.checked_sub(1)?)?;
        (at_ms < span.until_ms).then_some(span)
    }
}
