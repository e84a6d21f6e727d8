//! Benchmarks: units that do not mix, dated tables, and the factors jobs get.

mod history;
mod lint;
mod liverpool;
mod table;
mod units;

use gridtally::diagnostics::Problems;
use gridtally::reference::benchmark::{
    Benchmark, BenchmarkLevel, BenchmarkOrigin, BenchmarkPlace, BenchmarkTable, NodeTable,
};

const DAY_MS: i64 = 86_400_000;
/// 2024-01-01.
const JAN_1_MS: i64 = 19_723 * DAY_MS;

/// The table, its mistakes and its warnings.
fn read_on(text: &str, known_on_ms: Option<i64>) -> (BenchmarkTable, Vec<String>, Vec<String>) {
    let mut problems = Problems::default();
    let table = BenchmarkTable::read(text.as_bytes(), "b.csv", known_on_ms, &mut problems);
    match problems.finish() {
        Ok(warnings) => (table, Vec::new(), warnings),
        Err(error) => (
            table,
            error.to_string().lines().map(str::to_owned).collect(),
            Vec::new(),
        ),
    }
}

/// A table without a mistake.
fn sound(text: &str) -> BenchmarkTable {
    let (table, mistakes, _) = read_on(text, None);
    assert_eq!(mistakes, Vec::<String>::new());
    table
}

fn nodes(text: &str) -> NodeTable {
    let mut problems = Problems::default();
    let table = NodeTable::read(text.as_bytes(), "n.csv", &mut problems);
    problems.finish().unwrap();
    table
}

/// Value in ten-thousandths and origin.
fn find(
    table: &BenchmarkTable,
    site: &str,
    place: BenchmarkPlace<'_>,
    kind: Benchmark,
    at_ms: i64,
) -> Option<(i128, BenchmarkOrigin)> {
    let site = table.site(site);
    let factors = site.factors(&BenchmarkLevel::ALL, &site.distinguished_by(place), at_ms);
    let at = Benchmark::ALL.iter().position(|each| *each == kind).unwrap();
    factors.per_core.scaled()[at].zip(factors.origins[at])
}

fn cluster(name: &str) -> BenchmarkPlace<'_> {
    BenchmarkPlace {
        cluster: Some(name),
        ..BenchmarkPlace::default()
    }
}

fn on_nodes<'p>(cluster: &'p str, node_list: &'p str) -> BenchmarkPlace<'p> {
    BenchmarkPlace {
        cluster: Some(cluster),
        node_list: Some(node_list),
        ..BenchmarkPlace::default()
    }
}

#[track_caller]
fn starts(lines: &[String], expected: &[&str]) {
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "{line:?} does not start with {start:?}");
    }
}
