//! Reference tables: what holds when, what matches first, and how mistakes are told.

use gridtally::problems::Problems;
use gridtally::records::JobRow;
use gridtally::reference::benchmark::{Benchmark, BenchmarkTable};
use gridtally::reference::decimal::ten_thousandths;
use gridtally::reference::vo::VoTable;

fn starts(lines: &[String], expected: &[&str]) {
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "{line:?} does not start with {start:?}");
    }
}

#[test]
fn decimals_are_read_without_a_float() {
    assert_eq!(ten_thousandths("10"), Ok(100_000));
    assert_eq!(ten_thousandths("9.8765"), Ok(98_765));
    assert_eq!(ten_thousandths("0.000100"), Ok(1));
    for wrong in [
        "",
        ".",
        "1.",
        ".5",
        "-1",
        "1e3",
        "1,5",
        "0",
        "0.00001",
        "99999999999999999999",
        "nan",
    ] {
        assert!(ten_thousandths(wrong).is_err(), "{wrong}");
    }
}

fn benchmarks(rows: &str) -> (BenchmarkTable, Vec<String>) {
    let text = format!("site,cluster,benchmark,value_per_core,valid_from,valid_to\n{rows}");
    let mut problems = Problems::default();
    let table = BenchmarkTable::read(text.as_bytes(), "b.csv", &mut problems);
    let mistakes = problems.finish().map_or_else(
        |error| error.to_string().lines().map(str::to_owned).collect(),
        |_| Vec::new(),
    );
    (table, mistakes)
}

const DAY_MS: i64 = 86_400_000;
const JAN_1_2024_MS: i64 = 19_723 * DAY_MS;

#[test]
fn the_most_specific_benchmark_that_holds_counts() {
    let (table, mistakes) =
        benchmarks("A,c1,hs06,4,2024-01-01,2024-02-01\nA,,hs06,3,,\n*,c1,hs06,2,,\n,,hs06,1,,\nA,c1,hs23,40,,\n");
    assert_eq!(mistakes, Vec::<String>::new());
    let at = |site, cluster, ms| table.value(site, cluster, Benchmark::Hs06, ms);
    assert_eq!(at(Some("A"), Some("c1"), JAN_1_2024_MS), Some(40_000));
    assert_eq!(at(Some("A"), Some("c1"), JAN_1_2024_MS - 1), Some(30_000));
    assert_eq!(at(Some("A"), Some("c2"), JAN_1_2024_MS), Some(30_000));
    assert_eq!(at(Some("A"), None, JAN_1_2024_MS), Some(30_000));
    assert_eq!(at(Some("B"), Some("c1"), JAN_1_2024_MS), Some(20_000));
    assert_eq!(at(Some("B"), None, JAN_1_2024_MS), Some(10_000));
    assert_eq!(at(None, None, JAN_1_2024_MS), Some(10_000));
    assert_eq!(table.value(Some("A"), Some("c1"), Benchmark::Hs23, 0), Some(400_000));
    assert_eq!(table.value(Some("A"), Some("c2"), Benchmark::Hs23, 0), None);
}

#[test]
fn benchmark_days_are_half_open() {
    let (table, mistakes) = benchmarks("A,,HEPSPEC06,1,2024-01-01,2024-01-02\nA,,hepspec,2,2024-01-02,2024-01-03\n");
    assert_eq!(mistakes, Vec::<String>::new());
    let at = |ms| table.value(Some("A"), None, Benchmark::Hs06, ms);
    assert_eq!(at(JAN_1_2024_MS - 1), None);
    assert_eq!(at(JAN_1_2024_MS), Some(10_000));
    assert_eq!(at(JAN_1_2024_MS + DAY_MS - 1), Some(10_000));
    assert_eq!(at(JAN_1_2024_MS + DAY_MS), Some(20_000));
    assert_eq!(at(JAN_1_2024_MS + 2 * DAY_MS), None);
}

#[test]
fn overlapping_benchmarks_are_refused_with_both_lines() {
    // The long first row overlaps the third although the second lies between them.
    let (_, mistakes) = benchmarks(
        "A,,hs06,1,2024-01-01,2025-01-01\nA,,hs06,2,2024-02-01,2024-03-01\nA,,hs06,2,2024-04-01,\nB,,hs06,2,,\nA,x,hs06,2,,\n",
    );
    starts(
        &mistakes,
        &["b.csv:3: line 3 overlaps line 2", "b.csv:4: line 4 overlaps line 2"],
    );
}

#[test]
fn a_table_with_the_wrong_columns_is_refused() {
    let mut problems = Problems::default();
    let text = "site,cluster,benchmark,value,valid_from,valid_to\nA,,hs06,1,,\nA,,hs06\n";
    BenchmarkTable::read(text.as_bytes(), "b.csv", &mut problems);
    let error = problems.finish().unwrap_err().to_string();
    assert!(error.contains("b.csv:1: unknown column \"value\""), "{error}");
    assert!(
        error.contains("b.csv:1: the header has no column \"value_per_core\""),
        "{error}"
    );
    assert!(error.contains("b.csv:3: 3 cells where the header has 6"), "{error}");
}

fn vo_table(text: &str) -> VoTable {
    let mut problems = Problems::default();
    let table = VoTable::read(text.as_bytes(), "vo.csv", &mut problems);
    problems.finish().unwrap();
    table
}

#[test]
fn the_first_matching_row_names_the_vo() {
    let table = vo_table("account,vo\na,ATLAS\nb,CMS\n*,other\na,never\n");
    let of = |account| {
        let row = JobRow {
            account,
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of(Some("a")).as_deref(), Some("ATLAS"));
    assert_eq!(of(Some("b")).as_deref(), Some("CMS"));
    assert_eq!(of(Some("z")).as_deref(), Some("other"));
    assert_eq!(of(None).as_deref(), Some("other"));

    let table = vo_table("vo,partition,to_vo\n,grid,wlcg\natlas,,ATLAS\natlas,gpu,never\n");
    let of = |vo, partition| {
        let row = JobRow {
            vo,
            partition,
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of(Some("atlas"), Some("grid")).as_deref(), Some("wlcg"));
    assert_eq!(of(Some("atlas"), Some("gpu")).as_deref(), Some("ATLAS"));
    assert_eq!(of(Some("cms"), Some("gpu")), None);

    let table = vo_table("global_user,vo\n/DC=org/CN=Robot: fit,fit\n");
    let of = |global_user| {
        let row = JobRow {
            global_user: Some(global_user),
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of("/DC=org/CN=Robot: fit").as_deref(), Some("fit"));
    assert_eq!(of("/DC=org/CN=Pat"), None);
}

#[test]
fn a_vo_table_without_a_result_is_refused() {
    for (text, wanted) in [
        ("account,user\na,b\n", "names no result"),
        ("vo\na\n", "no column to match"),
        ("acount,vo\na,b\n", "did you mean \"account\"?"),
        ("account,vo\na,\n", "vo.csv:2: the row names no VO"),
    ] {
        let mut problems = Problems::default();
        VoTable::read(text.as_bytes(), "vo.csv", &mut problems);
        let error = problems.finish().unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
