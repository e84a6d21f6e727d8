//! Dated benchmark values per site and cluster.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use ahash::AHashMap;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::kind::{Benchmark, NAMES};
use super::quantity::{Each, Score};
use crate::problems::{Problems, did_you_mean};
use crate::reference::csv_table::{self, CsvTable, is_any};
use crate::reference::decimal::ten_thousandths;

const COLUMNS: &[&str] = &[
    "site",
    "cluster",
    "benchmark",
    "value_per_core",
    "valid_from",
    "valid_to",
];

/// One value and when it holds: `from_ms <= instant < until_ms`, Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from_ms: i64,
    until_ms: i64,
    value_e4: i64,
    line: usize,
}

/// The values of one scope, by kind, each list ascending and free of overlaps.
#[derive(Clone, Debug, Default)]
struct Dated([Vec<Span>; 3]);

impl Dated {
    fn at(&self, kind: Benchmark, at_ms: i64) -> Option<i64> {
        let spans = self.0.get(kind.place())?;
        let after = spans.partition_point(|span| span.from_ms <= at_ms);
        let span = spans.get(after.checked_sub(1)?)?;
        (at_ms < span.until_ms).then_some(span.value_e4)
    }
}

/// The scopes of one site: itself, and its clusters.
#[derive(Clone, Debug, Default)]
struct Site {
    whole: Dated,
    clusters: AHashMap<String, Dated>,
}

/// The rows of `benchmarks.csv`: `site,cluster,benchmark,value_per_core,valid_from,valid_to`.
///
/// An empty or `*` site or cluster means any. Days are `YYYY-MM-DD`, midnight UTC; `valid_from` is included,
/// `valid_to` is not, an empty one is open. Of the rows that hold at an instant the most specific counts: site and
/// cluster, then site, then cluster at any site, then any.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkTable {
    sites: AHashMap<String, Site>,
    anywhere: Site,
    canonical: String,
}

impl BenchmarkTable {
    /// Reads the table at `path`; `file` is the name mistakes are told with. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        csv.refuse_unknown(COLUMNS, file, problems);
        let mut places = [0; 6];
        let mut complete = true;
        for (place, name) in places.iter_mut().zip(COLUMNS) {
            match csv.column(name, file, problems) {
                Some(found) => *place = found,
                None => complete = false,
            }
        }
        let mut table = Self::default();
        if !complete {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |nth: usize| {
                let place = places.get(nth).copied().unwrap_or_default();
                cells.get(place).map_or("", String::as_str)
            };
            table.add(*line, cell, file, problems);
        }
        table.order(file, problems);
        table
    }

    fn add<'c>(&mut self, line: usize, cell: impl Fn(usize) -> &'c str, file: &str, problems: &mut Problems) {
        let (site, cluster) = (cell(0), cell(1));
        let mut tell = |message: String| problems.mistake(file, line, message);
        let kind = Benchmark::parse(cell(2));
        if kind.is_none() {
            let hint = did_you_mean(cell(2), NAMES.iter().map(|&(name, _)| name));
            tell(format!("\"{}\" is no benchmark (hs06, hs23, si00){hint}", cell(2)));
        }
        let value = ten_thousandths(cell(3)).map_err(|why| tell(format!("value_per_core: {why}")));
        let from = day_ms(cell(4), i64::MIN).map_err(|why| tell(format!("valid_from: {why}")));
        let until = day_ms(cell(5), i64::MAX).map_err(|why| tell(format!("valid_to: {why}")));
        let (Some(kind), Ok(value_e4), Ok(from_ms), Ok(until_ms)) = (kind, value, from, until) else {
            return;
        };
        if until_ms <= from_ms {
            tell(format!("valid_to {} is not after valid_from {}", cell(5), cell(4)));
            return;
        }
        let place = if is_any(site) {
            &mut self.anywhere
        } else {
            self.sites.entry(site.to_owned()).or_default()
        };
        let dated = if is_any(cluster) {
            &mut place.whole
        } else {
            place.clusters.entry(cluster.to_owned()).or_default()
        };
        if let Some(spans) = dated.0.get_mut(kind.place()) {
            spans.push(Span {
                from_ms,
                until_ms,
                value_e4,
                line,
            });
        }
    }

    /// Sorts every list, tells overlaps and writes the canonical text.
    fn order(&mut self, file: &str, problems: &mut Problems) {
        let mut lines = Vec::new();
        let sites = self.sites.iter_mut().map(|(name, site)| (name.as_str(), site));
        for (site_name, site) in sites.chain([("", &mut self.anywhere)]) {
            let clusters = site.clusters.iter_mut().map(|(name, dated)| (name.as_str(), dated));
            for (cluster_name, dated) in clusters.chain([("", &mut site.whole)]) {
                for (kind, spans) in Benchmark::ALL.into_iter().zip(&mut dated.0) {
                    spans.sort_by_key(|span| (span.from_ms, span.line));
                    tell_overlaps(spans, kind, file, problems);
                    for span in spans {
                        let Span {
                            from_ms,
                            until_ms,
                            value_e4,
                            ..
                        } = span;
                        let kind = kind.as_str();
                        lines.push(format!(
                            "{site_name:?} {cluster_name:?} {kind} {value_e4} {from_ms} {until_ms}"
                        ));
                    }
                }
            }
        }
        lines.sort();
        for line in lines {
            // Writing to a string cannot fail.
            let _ = writeln!(self.canonical, "{line}");
        }
    }

    /// The value per core, in ten-thousandths, that holds for a job that ran on `cluster` of `site` at an instant.
    #[must_use]
    pub fn value(&self, site: Option<&str>, cluster: Option<&str>, benchmark: Benchmark, at_ms: i64) -> Option<i64> {
        let own = site.and_then(|name| self.sites.get(name));
        [own, Some(&self.anywhere)].into_iter().flatten().find_map(|place| {
            cluster
                .and_then(|name| place.clusters.get(name))
                .and_then(|dated| dated.at(benchmark, at_ms))
                .or_else(|| place.whole.at(benchmark, at_ms))
        })
    }

    /// Every kind's value per core for a job that ran on `cluster` of `site` at an instant.
    #[must_use]
    pub fn values(&self, site: Option<&str>, cluster: Option<&str>, at_ms: i64) -> Each<Score> {
        Each::from_scaled(Benchmark::ALL.map(|kind| self.value(site, cluster, kind, at_ms).map(i128::from)))
    }

    /// The kinds the table names, in their own order.
    #[must_use]
    pub fn kinds(&self) -> Vec<Benchmark> {
        let has = |kind: &Benchmark| {
            self.sites.values().chain([&self.anywhere]).any(|site| {
                site.clusters
                    .values()
                    .chain([&site.whole])
                    .any(|dated| dated.0.get(kind.place()).is_some_and(|spans| !spans.is_empty()))
            })
        };
        Benchmark::ALL.into_iter().filter(has).collect()
    }

    /// What the table says, independent of the order and spelling of its rows: what decides results.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }
}

fn tell_overlaps(spans: &[Span], kind: Benchmark, file: &str, problems: &mut Problems) {
    // Compared with the span that reaches furthest so far, not only with the one before.
    let mut furthest: Option<&Span> = None;
    for span in spans {
        if let Some(earlier) = furthest.filter(|earlier| span.from_ms < earlier.until_ms) {
            let (first, second) = (earlier.line.min(span.line), earlier.line.max(span.line));
            let kind = kind.as_str();
            let message =
                format!("line {second} overlaps line {first}: two {kind} values of one site and cluster hold at once");
            problems.mistake(file, second, message);
        }
        if furthest.is_none_or(|earlier| span.until_ms > earlier.until_ms) {
            furthest = Some(span);
        }
    }
}

/// Midnight UTC of `YYYY-MM-DD`, Unix milliseconds; `open` for an empty cell.
fn day_ms(cell: &str, open: i64) -> Result<i64, String> {
    if cell.is_empty() {
        return Ok(open);
    }
    let wrong = || format!("\"{cell}\" is no day such as 2024-04-01");
    let shape = cell.len() == 10
        && cell.bytes().enumerate().all(|(nth, byte)| match nth {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shape {
        return Err(wrong());
    }
    let day: Date = cell.parse().map_err(|_| wrong())?;
    let midnight = day.to_zoned(TimeZone::UTC).map_err(|_| wrong())?;
    Ok(midnight.timestamp().as_millisecond())
}
