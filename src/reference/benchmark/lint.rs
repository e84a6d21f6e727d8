//! Values that are read without a mistake and look wrong: of another scale, of a whole node, or with a hole in time.

use super::kind::Benchmark;
use super::quantity::SI00_PER_HS06;
use super::row::BenchmarkRow;
use super::table::{BenchmarkEntry, BenchmarkTable};
use super::timeline::TimelineSpan;
use crate::diagnostics::Problems;
use crate::numbers::Comparand;
use crate::reference::decimal::text;
use crate::time::month::date_of;
use crate::time::{DAY_MS, Day};

/// Ten-thousandths of one.
const ONE_E4: i64 = 10_000;

/// GRACC distrusts a score per core from here on: it is that of a whole node, or in SI00.
const NODE_SCORE_E4: i64 = 200 * ONE_E4;

/// Cores measured so far score between these in HEPSPEC06 and `HEPscore23`.
const USUAL_E4: [i64; 2] = [ONE_E4, 50 * ONE_E4];

/// Ratios between two units people publish the same power in: kSI2K and HS06, SI2K and HS06, units and thousandths.
const UNIT_SWITCHES: [i64; 3] = [4, SI00_PER_HS06, 1000];

/// A true change of hardware has stayed below this ratio (2.95 is the largest of 73 in six years of GRACC's sites).
const JUMP: i64 = 3;

/// Reports values that are not plausible for a core in their unit.
pub(super) fn ranges(rows: &[BenchmarkRow], file: &str, problems: &mut Problems) {
    for row in rows.iter().filter(|row| !row.is_range_accepted) {
        let (line, e4, kind) = (row.span.line, row.span.value_e4, row.kind.as_str());
        let value = decimal(e4);
        let is_si00 = row.kind == Benchmark::Si00;
        let unit = if is_si00 { SI00_PER_HS06 } else { 1 };
        let [least, most] = USUAL_E4.map(|usual| usual.product_to_compare(unit));
        let wrong = if is_si00 && e4 < NODE_SCORE_E4 {
            Some("looks like HS06 in a row of si00 (1 HS06 is 250 SI00)")
        } else if e4 >= NODE_SCORE_E4.product_to_compare(unit) {
            Some(if is_si00 {
                "is not the score of a core: 200 HS06 and more is the score of a whole node"
            } else {
                "is not the score of a core: 200 and more is the score of a whole node, or SI00"
            })
        } else {
            None
        };
        if let Some(why) = wrong {
            let message = format!("{value} {kind} per core {why}; if it is right, set accept = range");
            problems.mistake(file, line, message);
        } else if !(least..=most).contains(&e4) {
            let (least, most) = (decimal(least), decimal(most));
            problems.warning(
                file,
                line,
                format!("{value} {kind} per core is outside the usual {least} to {most}"),
            );
        }
    }
}

/// Reports gaps, jumps and unit switches within the values of one scope, and scopes whose kinds contradict one another.
pub(super) fn series(table: &BenchmarkTable, file: &str, problems: &mut Problems) {
    for (site, part) in table.parts() {
        for entry in &part.entries {
            let of = format!("{} of {}", entry.scope.text(), site.unwrap_or("any site"));
            for (kind, timeline) in Benchmark::ALL.into_iter().zip(&entry.timelines) {
                for pair in timeline.spans().windows(2) {
                    if let [before, after] = pair {
                        step(kind, &of, before, after, file, problems);
                    }
                }
            }
            kinds(entry, &of, file, problems);
        }
    }
}

fn step(kind: Benchmark, of: &str, before: &TimelineSpan, after: &TimelineSpan, file: &str, problems: &mut Problems) {
    let kind = kind.as_str();
    let line = after.line;
    if before.until_ms < after.from_ms {
        let (from, to) = (day(before.until_ms), day(after.from_ms));
        let message = format!(
            "no {kind} value holds from {from} to {to} for {of} (line {} ends)",
            before.line
        );
        problems.warning(file, line, message);
    }
    if after.is_jump_accepted || before.line == after.line {
        return;
    }
    let [low, high] = [before.value_e4.min(after.value_e4), before.value_e4.max(after.value_e4)];
    let (was, is) = (decimal(before.value_e4), decimal(after.value_e4));
    let switch = UNIT_SWITCHES
        .into_iter()
        .find(|ratio| low.checked_mul(*ratio) == Some(high));
    if let Some(ratio) = switch {
        let message = format!(
            "{was} {kind} (line {}) becomes {is}, exactly {ratio} times as {}: a switch of units; write the values in \
             their actual unit, or set accept = jump if it is a change of hardware",
            before.line,
            if before.value_e4 < after.value_e4 {
                "much"
            } else {
                "little"
            }
        );
        problems.mistake(file, line, message);
    } else if low.product_to_compare(JUMP) < high {
        let message = format!(
            "{was} {kind} (line {}) becomes {is}: more than {JUMP} times apart",
            before.line
        );
        problems.warning(file, line, message);
    }
}

/// A core that has both scores should have them 250 apart, more or less.
fn kinds(entry: &BenchmarkEntry, of: &str, file: &str, problems: &mut Problems) {
    let spans = |kind: Benchmark| {
        entry
            .timelines
            .get(kind.place())
            .map_or(&[][..], |timeline| timeline.spans())
    };
    for hs06 in spans(Benchmark::Hs06) {
        for si00 in spans(Benchmark::Si00) {
            if hs06.until_ms <= si00.from_ms || si00.until_ms <= hs06.from_ms {
                continue;
            }
            let (score, bogo) = (decimal(hs06.value_e4), decimal(si00.value_e4));
            let line = hs06.line.max(si00.line);
            if hs06.value_e4 == si00.value_e4 {
                problems.mistake(
                    file,
                    line,
                    format!("{score} is the value of {of} in hs06 and in si00; one of them is in the wrong unit"),
                );
                continue;
            }
            let by_decree = hs06.value_e4.product_to_compare(SI00_PER_HS06);
            let tenth = by_decree / 10;
            if (si00.value_e4 - by_decree).abs() > tenth {
                let message = format!("{bogo} si00 is far from 250 times the {score} hs06 of {of}");
                problems.warning(file, line, message);
            }
        }
    }
}

/// Ten-thousandths as people write them.
fn decimal(e4: i64) -> String {
    text(i128::from(e4), 4)
}

fn day(ms: i64) -> String {
    let day = Day::try_from(ms.div_euclid(DAY_MS)).ok();
    day.and_then(date_of)
        .map_or_else(|| "ever".to_owned(), |date| date.to_string())
}
