//! Meters of nodes: the part of a job by both shares, worked out by hand, and lakes whose readings arrive late.

use std::fs;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use gridtally::diagnostics::Problems;
use gridtally::energy::{EnergyClass, EnergyPlan, EnergyTables, JobLoad, RunSpan, SharedRule, SiteEnergy};
use gridtally::reference::energy::NodeMeterTable;
use gridtally::reference::energy::meter_readings::UJ_PER_J;
use gridtally::reference::energy::node_rows::NodePlace;
use gridtally::store::Manifest;
use proptest::prelude::*;

use super::lake::Case;
use super::{HOUR_MS, named, plan_of};
use crate::support::forge::forge_rows;

/// Half an hour at 1000 W and an hour at 500 W of n1, two hours at 250 W of n2, and nothing of n3.
const METERS: &str = "OAK,n1,1970-01-01T00:00:00Z,1970-01-01T00:30:00Z,1800000\n\
                      OAK,n1,1970-01-01T00:30:00Z,1970-01-01T01:30:00Z,1800000\n\
                      ,n2,1970-01-01T00:00:00Z,1970-01-01T02:00:00Z,1800000\n\
                      ELM,n2,1970-01-01T00:00:00Z,1970-01-01T02:00:00Z,7\n";

fn plan(shared: SharedRule) -> EnergyPlan {
    let tables = EnergyTables {
        nodes: Some(named("nodes.csv", "site,node_type,cores\nOAK,epyc,4\n")),
        meters: Some(named(
            "meters.csv",
            &format!("site,node,valid_from,valid_to,joules\n{METERS}"),
        )),
        ..EnergyTables::default()
    };
    plan_of(tables, shared)
}

/// Two cores of a node for the first hour, which computed for an hour in all.
fn load(node_list: &str) -> JobLoad<'_> {
    JobLoad {
        place: NodePlace {
            site: "OAK",
            cluster: None,
            partition: None,
            node_list: Some(node_list),
            at_ms: 0,
        },
        core_n: Some(2),
        node_n: Some(1),
        gpu_n: None,
        memory_byte: None,
        wall_ms: HOUR_MS,
        held_ms: HOUR_MS,
        cpu_ms: Some(HOUR_MS),
        gpu_busy_ms: None,
        gpu_stated_ms: None,
        has_requested_own_nodes: false,
        stated_j: None,
        metered_uj: None,
    }
}

/// Class and joules of a job of the first hours.
fn rated(shared: SharedRule, load: &JobLoad<'_>) -> Option<(EnergyClass, i64)> {
    let plan = plan(shared);
    let run = RunSpan {
        from_ms: 0,
        until_ms: load.wall_ms,
    };
    let job = SiteEnergy::new(&plan, "OAK").job(load, run);
    job.energy.map(|energy| (energy.class, energy.energy_j))
}

#[test]
fn a_job_has_its_share_of_the_meter_by_cores_and_by_cpu_time() {
    // In its hour n1 took 1 800 000 + 1 800 000 / 2 = 2 700 000 J.
    let of = |energy_j| Some((EnergyClass::NodeMeter, energy_j));
    let one = load("n1");
    assert_eq!(rated(SharedRule::AllocatedCores, &one), of(1_350_000), "2 of 4 cores");
    assert_eq!(rated(SharedRule::CpuTime, &one), of(675_000), "1 of 4 hours");
    assert_eq!(rated(SharedRule::Unused, &one), None, "no power is stated either");
    let whole = JobLoad { core_n: Some(4), ..one };
    assert_eq!(
        rated(SharedRule::Unused, &whole),
        of(2_700_000),
        "nothing else ran there"
    );
    // n2 took 900 000 J meanwhile: 3 600 000 J, of which 6 of 8 cores have three quarters.
    let two = JobLoad {
        core_n: Some(6),
        node_n: Some(2),
        ..load("n[1-2]")
    };
    assert_eq!(rated(SharedRule::AllocatedCores, &two), of(2_700_000));
    assert_eq!(rated(SharedRule::CpuTime, &two), of(450_000), "1 of 8 hours");
}

#[test]
fn a_reading_of_the_source_precedes_and_a_gap_is_unknown() {
    let stated = JobLoad {
        stated_j: Some(1000),
        ..load("n1")
    };
    let apportioned = Some((EnergyClass::Apportioned, 500));
    assert_eq!(rated(SharedRule::AllocatedCores, &stated), apportioned);
    let longer = JobLoad {
        wall_ms: 2 * HOUR_MS,
        ..load("n1")
    };
    assert_eq!(rated(SharedRule::AllocatedCores, &longer), None, "read until 01:30");
    let unread = JobLoad {
        node_n: Some(2),
        ..load("n[1,3]")
    };
    assert_eq!(rated(SharedRule::AllocatedCores, &unread), None, "n3 has no meter");
}

fn meters(rows: &str, known_on_ms: Option<i64>) -> Result<NodeMeterTable, String> {
    let mut problems = Problems::default();
    let text = format!("node,valid_from,valid_to,joules,recorded_at\n{rows}");
    let table = NodeMeterTable::read(text.as_bytes(), "meters.csv", known_on_ms, &mut problems);
    problems.finish().map(|_| table).map_err(|why| why.to_string())
}

#[test]
fn the_row_recorded_last_counts_as_it_was_known() {
    const DAY_MS: i64 = 86_400_000;
    let rows = "n1,1970-01-01,1970-01-02,10,1970-01-03\nn1,1970-01-01,1970-01-02,12,1970-01-09\n";
    let of = |known_on_ms| {
        let table = meters(rows, known_on_ms).unwrap();
        table.of("OAK", "n1").and_then(|readings| readings.energy_uj(0, DAY_MS))
    };
    assert_eq!(of(None), Some(12 * UJ_PER_J));
    assert_eq!(of(Some(5 * DAY_MS)), Some(10 * UJ_PER_J));
    assert_eq!(of(Some(DAY_MS)), None);
    let wrong = meters("n1,1970-01-01,1970-01-02,10,\nn1,1970-01-01,1970-01-02,12,\n", None).unwrap_err();
    assert!(wrong.contains("line 3 overlaps line 2"), "{wrong}");
}

proptest! {
    #[test]
    fn a_span_of_readings_is_the_sum_of_its_parts(
        written in prop::collection::vec((1_i64..50, 0_i64..1000, prop::bool::weighted(0.8)), 1..12),
        from in 0_i64..200,
        length in 1_i64..200,
    ) {
        use gridtally::reference::energy::meter_readings::{MeterReading, MeterReadings};

        let (mut at_ms, mut readings) = (0, Vec::new());
        for (line, (length, energy_j, is_read)) in written.into_iter().enumerate() {
            if is_read {
                // Whole microjoules for each millisecond, so that nothing is rounded.
                let energy_j = energy_j * length;
                readings.push(MeterReading { from_ms: at_ms, until_ms: at_ms + length, energy_j, learnt_at_ms: 0, line });
            }
            at_ms += length;
        }
        let until = from + length;
        let of_ms = |ms: i64| {
            let reading = readings.iter().find(|of| (of.from_ms..of.until_ms).contains(&ms))?;
            Some(i128::from(reading.energy_j / (reading.until_ms - reading.from_ms)) * UJ_PER_J)
        };
        let wanted: Option<i128> = (from..until).map(of_ms).sum();
        prop_assert_eq!(MeterReadings::new(readings.clone()).energy_uj(from, until), wanted);
    }
}

/// 9 March 2024 and what follows is in this month: its first day.
const MARCH: i32 = 19_783;

#[test]
fn both_shares_add_up_to_the_split_of_the_node() {
    let case = Case::of("node-energy");
    case.run();
    let of = |vo: &str| (vo.to_owned(), MARCH);
    assert_eq!(case.sums("energy_node_meter_j")[&of("kelp")], Some(6_480_000));
    assert_eq!(case.sums("energy_node_meter_j")[&of("moss")], Some(2_160_000));
    case.replace("pipeline.toml", "\"allocated_cores\"", "\"cpu_time\"");
    case.run();
    assert_eq!(
        case.sums("energy_node_meter_j")[&of("kelp")],
        Some(1_800_000 + 4_320_000)
    );
    assert_eq!(
        case.sums("energy_node_meter_j")[&of("moss")],
        None,
        "its CPU time is unknown"
    );
    assert!(case.gridtally(&["explain", "lake", "1"]).contains("(node meter)"));
}

#[test]
fn a_late_reading_recomputes_its_month_and_is_undone_to_the_byte() {
    const DATASETS: [&str; 4] = ["usage", "usage_part", "energy_tables", "node_energy"];
    let case = Case::of("node-energy");
    let all = fs::read_to_string(case.path("meters.csv")).unwrap();
    let early: String = all
        .lines()
        .filter(|line| !line.contains("2024-03-20"))
        .flat_map(|line| [line, "\n"])
        .collect();
    fs::write(case.path("meters.csv"), &early).unwrap();
    case.run();
    let of = ("moss".to_owned(), MARCH);
    assert_eq!(
        case.sums("energy_node_meter_j")[&of],
        None,
        "n2 was read for half a day"
    );
    let former = DATASETS.map(|dataset| case.bytes(dataset));
    let others = ["records", "overhead"].map(|dataset| case.bytes(dataset));
    assert_eq!(case.run()["status"], "unchanged");

    fs::write(case.path("meters.csv"), &all).unwrap();
    let report = case.run();
    let recomputed = report["recomputed_energy"].as_array().unwrap();
    assert_eq!(recomputed.len(), 1, "{recomputed:#?}");
    assert_eq!(recomputed[0]["former"]["energy_j"].as_i64(), Some(6_480_000));
    assert_eq!(recomputed[0]["now"]["energy_j"].as_i64(), Some(6_480_000 + 2_160_000));
    assert_ne!(case.bytes("node_energy"), former[3]);
    assert!(
        case.gridtally(&["verify", "lake"])
            .contains("node_energy from energy_table, overhead and records")
    );

    fs::write(case.path("meters.csv"), &early).unwrap();
    case.run();
    for (dataset, former) in DATASETS.into_iter().zip(former) {
        assert_eq!(case.bytes(dataset), former, "{dataset}");
    }
    for (dataset, former) in ["records", "overhead"].into_iter().zip(others) {
        assert_eq!(case.bytes(dataset), former, "{dataset}");
    }
    case.replace("pipeline.toml", "meters = \"meters.csv\"\n", "");
    case.run();
    assert!(
        case.bytes("node_energy")
            .keys()
            .all(|path| path.ends_with("empty.parquet"))
    );
}

#[test]
fn verify_finds_every_figure_that_is_not_what_it_comes_to() {
    let case = Case::of("node-energy");
    case.run();
    let lake = case.path("lake");
    let lake_text = lake.to_str().unwrap().to_owned();
    let (_, manifest) = Manifest::open(&lake_text).unwrap();
    let path = manifest.dataset("node_energy").next().unwrap().path.clone();
    let changed = |batch: &RecordBatch, column: &str, by: i64| -> ArrayRef {
        let was = batch.column_by_name(column).unwrap().as_primitive::<Int64Type>();
        let mut rows: Vec<Option<i64>> = was.iter().collect();
        rows[0] = Some(rows[0].unwrap_or(0) + by);
        std::sync::Arc::new(Int64Array::from(rows))
    };
    let forged = |changes: &[(&str, i64)]| {
        forge_rows(&lake, &path, |batch| {
            let mut columns = batch.columns().to_vec();
            for (column, by) in changes {
                columns[batch.schema().index_of(column).unwrap()] = changed(&batch, column, *by);
            }
            RecordBatch::try_new(batch.schema(), columns).unwrap()
        });
        let found = gridtally::audit::verify::verify(&lake_text).unwrap().text();
        let back: Vec<(&str, i64)> = changes.iter().map(|(column, by)| (*column, -by)).collect();
        forge_rows(&lake, &path, |batch| {
            let mut columns = batch.columns().to_vec();
            for (column, by) in &back {
                columns[batch.schema().index_of(column).unwrap()] = changed(&batch, column, *by);
            }
            RecordBatch::try_new(batch.schema(), columns).unwrap()
        });
        found
    };
    let found = forged(&[("jobs_j", 1)]);
    assert!(
        found.contains("node n1: the meter counted 8640000 J, 8640001 J are accounted for"),
        "{found}"
    );
    // What still adds up is found by computing it again.
    let found = forged(&[("overhead_j", 1), ("stranded_j", -1)]);
    assert!(
        found.contains("node n1, unit 1core+4GiB: overhead_j is 1080001, but comes to 1080000"),
        "{found}"
    );
    let found = forged(&[("idle_j", 1), ("jobs_cpu_j", -1)]);
    assert!(found.contains("jobs_cpu_j is 3959999, but comes to 3960000"), "{found}");
    let found = forged(&[("billed_j", 1)]);
    assert!(found.contains("billed_j is"), "{found}");
    assert!(gridtally::audit::verify::verify(&lake_text).unwrap().is_sound());
}
