//! The energy of a node is that of jobs, overhead, stranded, down and reserved, exactly.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use gridtally::diagnostics::Problems;
use gridtally::reference::energy::NodeMeterTable;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::node_energy::{NodeEnergy, NodeEnergyRows, NodeMonth, gather, table};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::sample::{repository, run};

/// The lake of the golden case `overhead-night`: one day of two nodes.
fn lake() -> &'static PathBuf {
    static LAKE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, lake) = LAKE.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let golden = repository("tests/golden/overhead-night");
        for file in fs::read_dir(golden)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
        {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
        let command = &mut Command::new(env!("CARGO_BIN_EXE_gridtally"));
        run(command.current_dir(folder.path()).args(["run", "pipeline.toml"]));
        let lake = folder.path().join("lake");
        (folder, lake)
    });
    lake
}

fn meters(rows: &str) -> Result<NodeMeterTable, String> {
    let mut problems = Problems::default();
    let text = format!("node,valid_from,valid_to,joules\n{rows}");
    let table = NodeMeterTable::read(text.as_bytes(), "meters.csv", None, &mut problems);
    problems.finish().map(|_| table).map_err(|why| why.to_string())
}

/// Month, node and energy of each row.
fn split(rows: &str) -> Vec<(String, String, NodeEnergy)> {
    let lake = Lake::open(lake().to_str().unwrap()).unwrap();
    let rows = gather(&lake, &Selection::default(), &meters(rows).unwrap(), None).unwrap();
    rows.into_iter()
        .map(|(of, energy)| (of.month.to_string(), of.node, energy))
        .collect()
}

#[test]
fn a_meter_is_split_by_what_cores_did_and_by_who_bears_it() {
    let rows = split("n1,2024-03-09,2024-03-10,8000000\nn2,2024-03-09,2024-03-10,77\nn9,2024-03-09,2024-03-10,5\n");
    let [(_, n1, of_n1), (_, n2, of_n2), (_, n9, of_n9)] = rows.try_into().unwrap();
    // The unlisted node has no site, and comes first in the order of sites.
    assert_eq!([n1.as_str(), n2.as_str(), n9.as_str()], ["n9", "n1", "n2"]);
    assert_eq!((of_n1.unlisted_j, of_n1.billed_j), (5, None));
    // A quarter allocated, five eighths overhead, an eighth stranded; three eighths are billed to the job.
    assert_eq!(of_n2.parts_j, [2_000_000, 5_000_000, 1_000_000, 0, 0]);
    assert_eq!(of_n2.billed_j, Some(3_000_000));
    assert_eq!(of_n9.parts_j, [0, 77, 0, 0, 0]);
    assert_eq!(of_n9.billed_j, Some(0));
}

#[test]
fn a_reading_over_days_is_spread_over_them() {
    // Half of the two days is of a day that the lake does not know.
    let rows = split("n1,2024-03-09,2024-03-11,16000001\n");
    let sums: i128 = rows.iter().map(|(_, _, energy)| energy.meter_j).sum();
    assert_eq!(sums, 16_000_001);
    let listed = rows.iter().find(|(_, _, energy)| energy.unlisted_j == 0).unwrap();
    assert_eq!(listed.2.meter_j, 8_000_001, "the first part takes what is left");
    assert_eq!(listed.2.metered_ms, 86_400_000);
}

#[test]
fn a_meter_that_counts_twice_and_one_without_a_time_are_mistakes() {
    let wrong = meters("n1,2024-03-09,2024-03-11,1\nn1,2024-03-10,2024-03-12,1\n").unwrap_err();
    assert!(
        wrong.contains("meters.csv:3: line 3 overlaps line 2: energy of node n1 would count twice"),
        "{wrong}"
    );
    let wrong = meters("n1,,2024-03-11,1\n").unwrap_err();
    assert!(
        wrong.contains("meters.csv:2: valid_from and valid_to: both are needed"),
        "{wrong}"
    );
    let wrong = meters("n1,2024-03-09,2024-03-11,-1\n").unwrap_err();
    assert!(
        wrong.contains("meters.csv:2: joules: \"-1\" is not a whole number of joules"),
        "{wrong}"
    );
}

/// Totals are of the joules and times of all nodes, rounded once.
#[test]
fn totals_are_rounded_once() {
    let energy = NodeEnergy {
        meter_j: 1600,
        parts_j: [1600, 0, 0, 0, 0],
        metered_ms: 120_000,
        node_s: 170,
        ..NodeEnergy::default()
    };
    let node = |n: u32| NodeMonth {
        month: "2024-03".parse().unwrap(),
        site: "S".to_owned(),
        node: format!("n{n}"),
    };
    let rows: NodeEnergyRows = (1..=40).map(|n| (node(n), energy)).collect();
    let table = table(&rows).unwrap();
    let totals = table.totals().unwrap().unwrap();
    let shown = |name: &str| {
        let at = table.columns.iter().position(|column| column.name == name).unwrap();
        [table.rows[0][at].to_string(), totals[at].to_string()]
    };
    assert_eq!(shown("meter_kwh"), ["0.000", "0.018"]);
    assert_eq!(shown("meter_j"), ["1600", "64000"]);
    assert_eq!(shown("metered_h"), ["0.0", "1.3"]);
    assert_eq!(shown("listed_h"), ["0.0", "1.9"]);
    assert_eq!(shown("cpu_known_percent"), ["0.0", ""]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_is_lost_of_any_meter(
        readings in prop::collection::vec((0_u8..3, 1_i64..60, 0_i64..i64::from(u32::MAX)), 1..12),
    ) {
        // Hours after the day before, one after another for each node.
        let mut until_h = [0_i64; 3];
        let mut rows = String::new();
        let mut total = 0_i128;
        for (node, hours, joules) in readings {
            let from = until_h[usize::from(node)];
            let until = from + hours;
            until_h[usize::from(node)] = until;
            let at = |h: i64| format!("2024-03-{:02}T{:02}:00:00Z", 8 + h / 24, h % 24);
            if until < 23 * 24 {
                let _ = writeln!(rows, "n{node},{},{},{joules}", at(from), at(until));
                total += i128::from(joules);
            }
        }
        let split = split(&rows);
        for (_, node, energy) in &split {
            let parts: i128 = energy.parts_j.iter().sum();
            prop_assert_eq!(parts + energy.unlisted_j, energy.meter_j, "{}", node);
        }
        prop_assert_eq!(split.iter().map(|(_, _, energy)| energy.meter_j).sum::<i128>(), total);
    }
}
