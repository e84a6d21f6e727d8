//! The report on the overhead: its tables, and a page that needs nothing but itself.

use std::collections::BTreeSet;

use super::lake::{BOTH, LISTED, UNITS, pipeline, scene};
use clap::ValueEnum;
use gridtally::error::Kind;
use gridtally::report::overhead::one::OverheadTable;
use gridtally::report::overhead::{Overhead, read};
use gridtally::report::render::{TableFormat, render};
use gridtally::report::table::Cell;

#[test]
fn tables_report_the_ledger_the_distribution_and_what_cannot_be() {
    let scene = scene(&BOTH);
    scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    let lake = scene.path("lake");
    let report = read(lake.to_str().unwrap(), &BTreeSet::new()).unwrap();
    let text = report.text().unwrap();
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
    // Every table goes into every format: alone, its rows name their cluster and unit.
    let markdown = report.markdown().unwrap();
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
    let wrong = read(lake.to_str().unwrap(), &["B".to_owned()].into()).err().unwrap();
    assert_eq!(wrong.kind(), Kind::Usage);
}

/// The rows of a table under one unit: `names` of their columns, between blanks.
fn shown(report: &Overhead, which: OverheadTable, names: &[&str]) -> BTreeSet<String> {
    let table = report.table(which);
    let of = |name: &&str| table.columns.iter().position(|column| column.name == *name).unwrap();
    let at: Vec<usize> = names.iter().map(of).collect();
    let rows = table.rows.iter().filter(|row| row[2] == Cell::text("1c2g"));
    rows.map(|row| at.iter().map(|at| row[*at].to_string()).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn shares_are_the_digits_duckdb_gives() {
    // Of three cores one is held, and 2 of 6 GiB: with one unit of 1 core and 2.5 GiB free, a third each is given to jobs,
    // overhead and stranded. That comes to 99.9, and no share is bent to make it 100.
    let scene = scene(&[(
        "10",
        "1|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-31T00:00:00|86400|00:00:00|1|1|cpu=1,mem=2G,node=1|00:10:00|o1\n",
    )]);
    scene.write(
        "nodes.txt",
        "NodeName=o1 CPUTot=3 RealMemory=6144 Partitions=cpu State=IDLE\n\
         NodeName=o2 CPUTot=7 RealMemory=8192 Partitions=cpu State=IDLE\n",
    );
    scene.write("events.txt", "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n");
    scene.run(&pipeline(&format!("{LISTED}{}", UNITS.replace("2GiB", "2560MiB"))));
    let report = read(scene.path("lake").to_str().unwrap(), &BTreeSet::new()).unwrap();
    let share = |part: &str| format!("round(100 * sum({part}_core_s) / sum(capacity_core_s), 1) AS {part}");
    let shares = ["allocated", "overhead", "stranded", "down", "reserved"]
        .map(share)
        .join(", ");
    let asked = |by: &str| -> BTreeSet<String> {
        let query = format!("SELECT {by}, {shares} FROM overhead WHERE unit = '1c2g' GROUP BY ALL");
        scene.ask(&query).into_iter().collect()
    };
    let names = |by| [by, "allocated", "overhead", "stranded", "down", "reserved"];
    let nodes = shown(&report, OverheadTable::Nodes, &names("node"));
    assert!(nodes.contains("o1 33.3 33.3 33.3 0.0 0.0"), "{nodes:?}");
    assert_eq!(nodes, asked("node"));
    let days = shown(&report, OverheadTable::Days, &names("day"));
    assert_eq!(days, asked("day"));
    let histogram = scene.ask(
        "SELECT units_n, round(100 * sum(time_s) / (SELECT sum(time_s) FROM overhead_histogram WHERE unit = '1c2g'), 1) \
         FROM overhead_histogram WHERE unit = '1c2g' GROUP BY ALL",
    );
    let histogram: BTreeSet<String> = histogram.into_iter().collect();
    let bars = shown(&report, OverheadTable::Histogram, &["units_free", "share"]);
    assert!(bars.is_superset(&histogram), "{bars:?} {histogram:?}");
}

#[test]
fn nodes_that_do_not_state_what_they_have_are_reported() {
    let scene = scene(&BOTH);
    scene.write(
        "nodes.txt",
        "node,cpu_n,memory_byte,partitions\no1,4,17179869184,cpu\no2,4,,cpu\n",
    );
    scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    let report = read(scene.path("lake").to_str().unwrap(), &BTreeSet::new()).unwrap();
    let caution = "Nodes with unknown memory: 1 of 2. They are in no sum of memory.";
    for text in [
        report.text().unwrap(),
        report.markdown().unwrap(),
        report.html().unwrap(),
    ] {
        assert!(text.contains(caution), "{text}");
        // Nothing is known of GPUs, and nothing is shown.
        assert!(!text.contains("Nodes with unknown GPUs"), "{text}");
        assert!(text.contains("what more could have run is not known."), "{text}");
    }
    let nodes = shown(
        &report,
        OverheadTable::Nodes,
        &["node", "overhead", "stranded", "units_free"],
    );
    assert!(nodes.contains("o2   "), "{nodes:?}");
}

#[test]
fn the_page_is_one_file_that_asks_nothing_of_a_network() {
    let scene = scene(&BOTH);
    let units = UNITS.replace("\"gpu\"", "\"<gpu> & more\"");
    scene.run(&pipeline(&format!("{LISTED}{units}")));
    let page = read(scene.path("lake").to_str().unwrap(), &BTreeSet::new())
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
        read(scene.path("lake").to_str().unwrap(), &BTreeSet::new())
            .unwrap()
            .html()
            .unwrap()
    );
}

/// Bars that each are rounded up do not add up to more hours than there were.
#[test]
fn the_total_of_a_distribution_is_rounded_once() {
    let job = |id: u32, from: &str, until: &str, core_n: u32| {
        format!(
            "{id}|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T{from}|2026-10-30T{until}|180|00:00:00|{core_n}|1|\
             cpu={core_n},mem=1G,node=1|00:01:00|o1\n"
        )
    };
    let jobs = job(1, "00:00:00", "00:03:00", 1) + &job(2, "00:03:00", "00:06:00", 2);
    let scene = scene(&[("10", &jobs)]);
    scene.write(
        "nodes.txt",
        "NodeName=o1 CPUTot=4 RealMemory=16384 Partitions=cpu State=IDLE\n",
    );
    scene.write("events.txt", "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n");
    scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    let report = read(scene.path("lake").to_str().unwrap(), &BTreeSet::new()).unwrap();
    let bars = shown(&report, OverheadTable::Histogram, &["units_free", "node_time"]);
    let expected = ["0 0.0", "1 0.0", "2 0.1", "3 0.1", "4 23.9"];
    assert_eq!(bars, expected.map(str::to_owned).into());
    let text = report.text().unwrap();
    let (_, distribution) = text.split_once("Units free on a node, share of the time").unwrap();
    let total = distribution.lines().find(|line| line.starts_with("total")).unwrap();
    assert_eq!(
        total.split_whitespace().collect::<Vec<_>>(),
        ["total", "24.0"],
        "{text}"
    );
}
