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
