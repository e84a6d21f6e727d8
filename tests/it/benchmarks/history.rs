//! Six years of the factors GRACC's forerunner published per site, with a switch from SI2K to thousandths of HS06 at the
//! start of 2012 that only a comment contains.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gridtally::config::Plan;
use gridtally::reference::benchmark::{Benchmark, BenchmarkPlace, SI00_PER_HS06};
use jiff::civil::{Date, date};

use super::{find, read_on, sound};
use crate::support::collect::shared;

/// First month in HS06.
const SWITCH: Date = date(2012, 1, 1);

/// Value of each site by month, as published.
fn published(folder: &Path) -> BTreeMap<Date, BTreeMap<String, i64>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let month = |path: &Path| {
        let (year, month) = path.extension().unwrap().to_str().unwrap().split_at(4);
        date(year.parse().unwrap(), month.parse().unwrap(), 1)
    };
    let values = |path: &Path| -> BTreeMap<String, i64> {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let pairs = lines.filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().unwrap()))
        });
        pairs.collect()
    };
    files.map(|path| (month(&path), values(&path))).collect()
}

/// The months as a dated table: one row for every site and run of months of one value. `unit` gives the benchmark of a
/// month, and by what its numbers are divided.
fn table(months: &BTreeMap<Date, BTreeMap<String, i64>>, unit: impl Fn(Date) -> (&'static str, i64)) -> String {
    let sites: BTreeSet<&String> = months.values().flat_map(BTreeMap::keys).collect();
    let mut text = "site,benchmark,value_per_core,valid_from,valid_to,source\n".to_owned();
    let next = |month: Date| month.checked_add(jiff::Span::new().months(1)).unwrap();
    for site in sites {
        let mut runs: Vec<(Date, Date, &str, String)> = Vec::new();
        for (month, values) in months {
            let Some(value) = values.get(site) else { continue };
            let (benchmark, divisor) = unit(*month);
            let value = format!("{}.{:03}", value / divisor, value % divisor * (1000 / divisor));
            match runs.last_mut() {
                Some(last) if last.1 == *month && (last.2, &last.3) == (benchmark, &value) => last.1 = next(*month),
                _ => runs.push((*month, next(*month), benchmark, value)),
            }
        }
        for (from, to, benchmark, value) in runs {
            writeln!(text, "{site},{benchmark},{value},{from},{to},lcg-reportableSites").unwrap();
        }
    }
    text
}

fn careful(month: Date) -> (&'static str, i64) {
    if month < SWITCH { ("si00", 1) } else { ("hs06", 1000) }
}

fn careless(_: Date) -> (&'static str, i64) {
    ("si00", 1)
}

#[test]
fn seventy_months_are_a_dated_table() {
    let Some(folder) = shared("seventy_months_are_a_dated_table", "data/gracc/factor-history") else {
        return;
    };
    let months = published(&folder);
    assert_eq!(months.len(), 70);
    let table = sound(&table(&months, careful));
    let mut switched = BTreeSet::new();
    for (month, values) in &months {
        let (name, divisor) = careful(*month);
        let kind = Benchmark::parse(name).unwrap();
        let noon = month.at(12, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap();
        let at_ms = noon.timestamp().as_millisecond();
        for (site, value) in values {
            let found = find(&table, site, BenchmarkPlace::default(), kind, at_ms).map(|(e4, _)| e4);
            assert_eq!(
                found,
                Some(i128::from(*value) * 10_000 / i128::from(divisor)),
                "{site} {month}"
            );
            // Each site is the same machine before and after the switch, by the decree.
            if *month == SWITCH
                && let Some((e4, _)) = find(
                    &table,
                    site,
                    BenchmarkPlace::default(),
                    Benchmark::Si00,
                    at_ms - 86_400_000,
                )
            {
                assert_eq!(e4, found.unwrap() * i128::from(SI00_PER_HS06), "{site}");
                switched.insert(site);
            }
        }
    }
    assert_eq!(switched.len(), 25);
    assert_eq!(
        find(
            &table,
            "AGLT2",
            BenchmarkPlace::default(),
            Benchmark::Hs06,
            1_326_000_000_000
        )
        .map(|(e4, _)| e4),
        Some(85_000)
    );
}

#[test]
fn the_switch_of_2012_is_found_for_every_site_and_no_true_change_is_taken_for_one() {
    let Some(folder) = shared("the_switch_of_2012_is_found", "data/gracc/factor-history") else {
        return;
    };
    let months = published(&folder);
    let careless = table(&months, careless);
    let (_, mistakes, _) = read_on(&careless, None);
    assert_eq!(mistakes.len(), 25, "{mistakes:#?}");
    for mistake in &mistakes {
        assert!(
            mistake.contains("exactly 4 times as much: a switch of units"),
            "{mistake}"
        );
        let line: usize = mistake.split(':').nth(1).unwrap().parse().unwrap();
        let row = careless.lines().nth(line - 1).unwrap();
        assert!(row.contains(",2012-01-01,"), "{row}");
    }
    // Thousandths taken for units, and for SI00 where they are HS06, are of the wrong scale on every line.
    let (_, mistakes, _) = read_on(&table(&months, |_| ("hs06", 1)), None);
    let rows = table(&months, |_| ("hs06", 1)).lines().count() - 1;
    let of_scale = mistakes
        .iter()
        .filter(|mistake| mistake.contains("is not the score of a core"))
        .count();
    assert_eq!(of_scale, rows);
}

#[test]
fn a_pipeline_that_ignores_the_switch_is_refused() {
    let Some(folder) = shared(
        "a_pipeline_that_ignores_the_switch_is_refused",
        "data/gracc/factor-history",
    ) else {
        return;
    };
    let months = published(&folder);
    let place = tempfile::tempdir().unwrap();
    let check = |unit: fn(Date) -> (&'static str, i64)| {
        fs::write(place.path().join("benchmarks.csv"), table(&months, unit)).unwrap();
        fs::write(
            place.path().join("osg.toml"),
            "[pipeline]\nname = \"osg\"\noutput = \"out\"\n[[source]]\nname = \"gratia\"\nformat = \"apel\"\n\
             paths = [\"messages\"]\n[normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n",
        )
        .unwrap();
        Plan::load(&place.path().join("osg.toml"))
    };
    check(careful).unwrap();
    let error = check(careless).unwrap_err();
    assert_eq!(error.kind(), gridtally::error::Kind::Config);
    assert_eq!(error.to_string().lines().count(), 25, "{error}");
}
