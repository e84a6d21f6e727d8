//! The report on the overhead: its tables, and a page that needs nothing but itself.

use super::lake::{BOTH, LISTED, UNITS, pipeline, scene};
use clap::ValueEnum;
use gridtally::error::Kind;
use gridtally::report::overhead::one::OverheadTable;
use gridtally::report::overhead::read;
use gridtally::report::render::{TableFormat, render};
use gridtally::report::table::Cell;

#[test]
fn tables_tell_the_ledger_the_distribution_and_what_cannot_be() {
    let scene = scene(&BOTH);
    scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    let lake = scene.path("lake");
    let report = read(lake.to_str().unwrap(), None).unwrap();
    let text = report.text();
    for expected in [
        "A, oak: unit 1c2g, 2026-10-30 to 2026-11-02",
        "Units free on a node, share of the time",
        "Nodes with the most overhead (cores)",
        "Top wasted shapes",
        "node_unknown",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    // The same sums, asked of the lake.
    let core_h = scene.ask("SELECT round(sum(capacity_core_s) / 3600, 1) FROM overhead WHERE unit = '1c2g'");
    assert!(text.contains(&core_h[0]), "{core_h:?}\n{text}");
    for object in report.objects().unwrap() {
        let row: serde_json::Value = serde_json::from_str(&object).unwrap();
        assert_eq!((&row["site"], &row["cluster"]), (&"A".into(), &"oak".into()));
    }
    // Every table goes into every format: alone, its rows say what they are of.
    let markdown = report.markdown();
    for which in OverheadTable::value_variants() {
        let table = report.table(*which);
        assert!(table.columns.len() > 4, "{which:?}");
        for row in &table.rows {
            assert_eq!(row[..2], [Cell::text("A"), Cell::text("oak")], "{which:?}");
        }
        for format in TableFormat::value_variants() {
            assert!(
                !render(&table, *format).unwrap().is_empty() || table.rows.is_empty(),
                "{which:?} {format:?}"
            );
        }
        let is_shown = table.rows.is_empty() || *which == OverheadTable::Days || markdown.contains(&table.title);
        assert!(is_shown, "{}", table.title);
    }
    // Shares that are rounded one by one would come to 99.9 or 100.1.
    let tenths = |cell: &Cell| match cell {
        Cell::Decimal { value, scale: 1 } => Some(*value),
        _ => None,
    };
    for (which, names) in [
        (
            OverheadTable::Ledger,
            &["allocated", "overhead", "stranded", "down", "reserved"][..],
        ),
        (
            OverheadTable::Nodes,
            &["allocated", "overhead", "stranded", "down", "reserved"],
        ),
        (
            OverheadTable::Days,
            &["allocated", "overhead", "stranded", "down", "reserved"],
        ),
    ] {
        let table = report.table(which);
        let of = |name: &&str| table.columns.iter().position(|column| column.name == *name).unwrap();
        let at: Vec<usize> = names.iter().map(of).collect();
        let mut whole_n = 0;
        for row in &table.rows {
            let shares: Option<Vec<i128>> = at.iter().map(|at| tenths(&row[*at])).collect();
            if let Some(shares) = shares {
                assert_eq!(shares.iter().sum::<i128>(), 1000, "{which:?} {row:?}");
                whole_n += 1;
            }
        }
        assert!(whole_n > 0, "{which:?}");
    }
    let histogram = report.table(OverheadTable::Histogram);
    let share = histogram
        .columns
        .iter()
        .position(|column| column.name == "share")
        .unwrap();
    let mut sums = std::collections::BTreeMap::<String, i128>::new();
    for row in &histogram.rows {
        *sums.entry(row[2].to_string()).or_default() += tenths(&row[share]).unwrap();
    }
    assert!(!sums.is_empty() && sums.values().all(|sum| *sum == 1000), "{sums:?}");
    let ledger = report.table(OverheadTable::Ledger);
    let capacity: Vec<&Cell> = ledger
        .rows
        .iter()
        .filter(|row| row[2] == Cell::text("1c2g"))
        .map(|row| &row[6])
        .collect();
    assert_eq!(capacity[0].to_string(), core_h[0]);
    let wrong = read(lake.to_str().unwrap(), Some("B")).err().unwrap();
    assert_eq!(wrong.kind(), Kind::NoInput);
}

#[test]
fn the_page_is_one_file_that_asks_nothing_of_a_network() {
    let scene = scene(&BOTH);
    let units = UNITS.replace("\"gpu\"", "\"<gpu> & more\"");
    scene.run(&pipeline(&format!("{LISTED}{units}")));
    let page = read(scene.path("lake").to_str().unwrap(), None)
        .unwrap()
        .html()
        .unwrap();
    let plain = page.replace("http://www.w3.org/2000/svg", "");
    for forbidden in ["http", "<script", "url(", "@import", "<img", "unit <gpu>", "#F1D0"] {
        assert!(!plain.contains(forbidden), "{forbidden}");
    }
    assert_eq!(
        page.matches("<figure>").count(),
        6,
        "histogram, ledger and heat map of two units"
    );
    assert!(page.contains("unit &lt;gpu&gt; &amp; more"));
    assert!(
        page.contains("fill=\"var(--overhead)\""),
        "colours follow the scheme of the page"
    );
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
    assert_eq!(
        page,
        read(scene.path("lake").to_str().unwrap(), None)
            .unwrap()
            .html()
            .unwrap()
    );
}
