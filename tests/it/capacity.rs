//! Scaling, capacity and accounting references, case by case as Liverpool's note of 2010 and the HEPscore23 migration
//! page work them out (LV and HS of the acceptance tables), and the command that prints them.

mod lake;

use std::fmt::Write as _;
use std::process::Command;

use gridtally::capacity::reference::warnings;
use gridtally::capacity::{CapacityQuestion, CapacityReport, ReferenceChoice, SitePower, limit};
use gridtally::diagnostics::Problems;
use gridtally::reference::node_type::{NodeType, NodeTypeTable};
use gridtally::reference::ratio::Ratio;

use crate::support::sample::run;

const HEADER: &str = "site,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,value_per_node,\
                      cpumult,wallmult,slot_n,valid_from,valid_to\n";

/// Ten systems of two CPUs with two cores each.
const C: &str = "LIV,C,10,2,4,hs06,5.32,,,,,,\n";
/// Five systems of four CPUs with one core each, 1.86 times as strong a core.
const D: &str = "LIV,D,5,4,4,hs06,9.8952,,,,,,\n";
/// The same, with `$cpumult 1.86` and `$wallmult 1.86`.
const D_SCALED: &str = "LIV,D,5,4,4,hs06,9.8952,,1.86,1.86,,,\n";
/// Liverpool's own cluster: one core per CPU.
const OWN: &str = "LIV,old,776,1,1,hs06,5.32,,,,,,\n";

fn read(rows: &[&str]) -> Result<NodeTypeTable, String> {
    let mut problems = Problems::default();
    let text = format!("{HEADER}{}", rows.concat());
    let table = NodeTypeTable::read(text.as_bytes(), "nodes.csv", &mut problems);
    problems.finish().map(|_| table).map_err(|why| why.to_string())
}

fn table(rows: &[&str]) -> NodeTypeTable {
    read(rows).unwrap()
}

fn power(rows: &[&str]) -> SitePower {
    let table = table(rows);
    SitePower::of(&table.rows.iter().collect::<Vec<&NodeType>>())
}

/// The report of one site that never changed.
fn report(rows: &[&str], reference: &str) -> gridtally::capacity::report::SiteReport {
    let question = CapacityQuestion {
        reference: ReferenceChoice::parse(reference).unwrap(),
        ..CapacityQuestion::default()
    };
    let mut report = CapacityReport::new(&table(rows), &question).unwrap();
    assert_eq!(report.sites.len(), 1);
    report.sites.remove(0)
}

fn hours(hours: i64, factor: &str) -> String {
    let e4 = gridtally::reference::decimal::ten_thousandths(factor).unwrap();
    limit::text(limit::effective_s(hours * 3600, Ratio::from_e4(e4)).unwrap())
}

#[test]
fn lv_01_a_limit_on_a_node_is_the_limit_over_its_factor() {
    assert_eq!(
        (hours(10, "1"), hours(10, "2")),
        ("10:00:00".to_owned(), "5:00:00".to_owned())
    );
}

#[test]
fn lv_02_accounted_time_is_time_times_factor() {
    let accounted = |hours: i64, factor: &str| {
        let factor = Ratio::from_e4(gridtally::reference::decimal::ten_thousandths(factor).unwrap());
        factor.times(Ratio::new(i128::from(hours), 1).unwrap()).text(4)
    };
    assert_eq!((accounted(4, "1"), accounted(2, "2")), ("4".to_owned(), "4".to_owned()));
}

#[test]
fn lv_03_slots_that_share_a_cpu_need_a_longer_wall_limit() {
    assert_eq!(limit::least_wall_s(3600, 2, 1), Some(7200));
    assert_eq!(limit::least_wall_s(3600, 1, 1), Some(3600));
    // Fewer slots than CPUs make no job faster.
    assert_eq!(limit::least_wall_s(3600, 1, 4), Some(3600));
}

#[test]
fn lv_04_one_core_per_cpu() {
    let own = report(&[OWN], "slowest");
    assert_eq!(
        (
            own.ce_physcpu,
            own.ce_logcpu,
            own.cores.as_str(),
            own.benchmark.as_str()
        ),
        (776, 776, "1", "5.32")
    );
}

#[test]
fn lv_05_mixed_site() {
    let mixed = report(&[C, D], "slowest");
    assert_eq!(
        (mixed.ce_physcpu, mixed.ce_logcpu, mixed.cores.as_str()),
        (40, 60, "1.5")
    );
}

#[test]
fn lv_06_cores_times_physical_is_logical() {
    let power = power(&[C, D]);
    let physical = Ratio::new(power.physical_cpu_n, 1).unwrap();
    assert_eq!(power.cores().unwrap().times(physical), Ratio::new(60, 1).unwrap());
    // Cores times Benchmark is the mean power of a physical CPU.
    let of_a_chip = power.cores().unwrap().times(power.mean_hs06().unwrap());
    assert_eq!(of_a_chip, power.installed_hs06().over(physical).unwrap());
}

#[test]
fn lv_07_mean_benchmark_of_a_mixed_site() {
    let mixed = report(&[C, D], "slowest");
    assert_eq!(mixed.installed_hs06, "410.704");
    assert_eq!(
        (mixed.benchmark.as_str(), mixed.ce_si00.as_str()),
        ("6.84507", "1711.27")
    );
    // The same where the score of the whole node is known instead.
    let by_node = report(&["LIV,C,10,2,4,hs06,,21.28,,,,,\n", D], "slowest");
    assert_eq!(by_node.benchmark, "6.84507");
}

#[test]
fn lv_08_installed_capacity_whatever_the_batch_system_scales() {
    for cpumult in ["", "1.86"] {
        let own = report(
            &[&OWN.replace("5.32,,,,", &format!("5.32,,{cpumult},{cpumult},"))],
            "slowest",
        );
        assert_eq!(
            (own.installed_hs06.as_str(), own.installed_si00.as_str()),
            ("4128.32", "1032080")
        );
    }
}

#[test]
fn lv_09_one_hs06_is_250_si00_by_decree() {
    assert_eq!(report(&[OWN], "slowest").ce_si00, "1330");
}

#[test]
fn lv_10_factor_to_a_round_reference() {
    let own = report(&[OWN], "1000si00");
    assert_eq!(own.cpu_scaling_reference_hs06, "4");
    assert_eq!(own.types[0].scaling_factor, "1.33");
}

#[test]
fn lv_11_factor_of_a_new_type_is_the_quotient_of_powers() {
    let mixed = report(&[C, D], "5.32hs06");
    let factors: Vec<&str> = mixed.types.iter().map(|one| one.scaling_factor.as_str()).collect();
    assert_eq!(factors, ["1", "1.86"]);
}

#[test]
fn lv_12_multipliers_are_known_to_be_in_the_times_already() {
    let mixed = report(&[C, D_SCALED], "slowest");
    assert_eq!(mixed.types[1].cpumult, "1.86");
    assert_eq!(
        (mixed.cpu_scaling_reference_si00.as_str(), mixed.warnings.as_slice()),
        ("1330", &[][..])
    );
    // Both times are scaled, or neither.
    let half = report(&[C, "LIV,D,5,4,4,hs06,9.8952,,1.86,,,,\n"], "slowest");
    assert!(
        half.warnings
            .iter()
            .any(|stated| stated.contains("cpumult and wallmult differ")),
        "{:?}",
        half.warnings
    );
}

/// The note prints 1300 here, three times, for what comes to 1330.
#[test]
fn lv_13_alike_nodes_that_do_not_scale() {
    assert_eq!(report(&[OWN], "1330si00").types[0].accounted_si00_h, "1330");
}

#[test]
fn lv_14_alike_nodes_scaled_to_a_round_reference() {
    let scaled = OWN.replace("5.32,,,,", "5.32,,1.33,1.33,");
    let report = report(&[&scaled], "1000si00");
    assert_eq!(
        (report.types[0].accounted_si00_h.as_str(), report.warnings.len()),
        ("1330", 0)
    );
}

#[test]
fn lv_15_faster_nodes_scaled_to_the_old_ones() {
    let mixed = report(&[C, D_SCALED], "1330si00");
    let accounted: Vec<_> = mixed
        .types
        .iter()
        .map(|one| (&*one.accounted_si00_h, &*one.delivered_si00_h))
        .collect();
    assert_eq!(accounted, [("1330", "1330"), ("2473.8", "2473.8")]);
    assert_eq!(mixed.types[1].misreported_percent, "0");
}

#[test]
fn lv_16_any_reference_delivers_the_same_work() {
    let nodes = table(&[C, D]);
    let types: Vec<&NodeType> = nodes.rows.iter().collect();
    for reference in [
        "250si00",
        "1000si00",
        "1330si00",
        "4000si00",
        "0.0001hs06",
        "77.7777hs23",
    ] {
        let reference = ReferenceChoice::parse(reference).unwrap().of(&types).unwrap();
        for one in &types {
            // Scaled by its own factor, t x (p / R) x R is t x p.
            let accounted = reference.scaling_factor(one).unwrap().times(reference.si00);
            assert_eq!(accounted, SitePower::of(&[one]).mean_si00().unwrap());
        }
    }
}

#[test]
fn lv_17_power_and_reference_are_published_apart() {
    let own = report(&[OWN], "slowest");
    assert_eq!((&*own.ce_si00, &*own.cpu_scaling_reference_si00), ("1330", "1330"));
    let mixed = report(&[C, D_SCALED], "slowest");
    assert_eq!(
        (&*mixed.ce_si00, &*mixed.cpu_scaling_reference_si00),
        ("1711.27", "1330")
    );
}

#[test]
fn lv_18_the_slowest_as_reference_reports_too_little() {
    let mixed = report(&[C, D], "slowest");
    let wrong: Vec<&str> = mixed.types.iter().map(|one| one.misreported_percent.as_str()).collect();
    assert_eq!(wrong, ["0", "-46.2"]);
    let warning = "the slowest node type as reference under-reports jobs on D by 46.2 %: its nodes scale by 1 and \
                   would have to by 1.86";
    assert_eq!(mixed.warnings, [warning]);
}

#[test]
fn lv_19_the_mean_as_reference_reports_too_much() {
    let mixed = report(&[C, D], "mean");
    assert_eq!(mixed.types[0].misreported_percent, "28.7");
    let over = "the mean as reference over-reports jobs on C by 28.7 %";
    assert!(mixed.warnings[0].starts_with(over), "{:?}", mixed.warnings);
    let types = table(&[C, D_SCALED]);
    let types: Vec<&NodeType> = types.rows.iter().collect();
    let mean = ReferenceChoice::Mean;
    assert_eq!(
        warnings(mean, mean.of(&types).unwrap(), &types).len(),
        2,
        "scaled nodes have one reference"
    );
}

#[test]
fn hs_01_old_nodes_in_hs06_and_new_ones_in_hs23_add_up() {
    let old = "T2,old,29,2,128,hs06,,2643,,,,,\n";
    let new = "T2,new,188,2,128,hs23,,2972,,,,,\n";
    let both = report(&[old, new], "slowest");
    assert_eq!(both.installed_hs06, "635383");
    let installed: Vec<_> = both.types.iter().map(|one| (&*one.installed, one.benchmark)).collect();
    assert_eq!(installed, [("76647", "hs06"), ("558736", "hs23")]);
    assert_eq!(both.benchmark_scale, "HEP-SPEC06 and HEPscore23, 1:1");
    let measured_again = report(&["T2,old,29,2,128,hs23,,2546,,,,,\n", new], "slowest");
    assert_eq!(
        (&*measured_again.installed_hs06, measured_again.benchmark_scale),
        ("632570", "HEPscore23")
    );
}

#[test]
fn nodes_come_and_go() {
    let rows = [
        "A,old,10,2,32,hs06,10,,,,,,2024-04-01\n",
        "A,old,8,2,32,hs06,10,,,,,2024-04-01,2026-01-01\n",
        "A,new,4,2,256,hs23,16,,,,,2025-06-15,\n",
    ];
    let spans: Vec<_> = CapacityReport::new(&table(&rows), &CapacityQuestion::default())
        .unwrap()
        .sites
        .into_iter()
        .map(|site| (site.valid_from.unwrap_or_default(), site.ce_logcpu, site.installed_hs06))
        .collect();
    let expected = [
        ("", 320, "3200"),
        ("2024-04-01", 256, "2560"),
        ("2025-06-15", 256 + 1024, "18944"),
        ("2026-01-01", 1024, "16384"),
    ];
    assert_eq!(
        spans,
        expected.map(|(from, n, score)| (from.to_owned(), n, score.to_owned()))
    );
    let nobody = CapacityQuestion {
        sites: ["B".to_owned()].into(),
        ..CapacityQuestion::default()
    };
    assert!(CapacityReport::new(&table(&rows), &nobody).is_err());
}

#[test]
fn every_mistake_of_a_table_is_reported_at_once() {
    let rows = [
        ",C,10,2,4,hs06,5.32,,,,,,\n",
        "A,C,0,2,4,hs60,5.32,,,,,,\n",
        "A,C,10,2,4,hs06,,,,,,,\n",
        "A,C,10,2,4,hs06,5.32,21.29,,,,,\n",
        "A,C,10,2,4,hs06,0,,1.23456,,,2026-02-30,\n",
        "A,C,10,2,4,hs06,5.32,,,,,2026-02-01,2026-01-01\n",
        "A,E,10,2,4,hs06,5.32,,,,,2026-01-01,\n",
        "A,E,10,2,4,hs23,5.32,,,,,2025-01-01,2026-01-02\n",
    ];
    let stated = read(&rows).unwrap_err();
    for (line, what) in [
        (2, "site: is empty"),
        (3, "node_n: \"0\" is not a number from 1 to"),
        (3, "benchmark: \"hs60\" is not one of hs06, hs23, si00"),
        (4, "neither value_per_core nor value_per_node is given"),
        (5, "value_per_core times logical_cpu_n is not value_per_node"),
        (6, "value_per_core: \"0\" must be above zero"),
        (6, "cpumult: \"1.23456\" has more than 4 decimals"),
        (6, "valid_from: \"2026-02-30\" is not a day"),
        (7, "valid_to: is not after valid_from"),
        (9, "line 9 overlaps line 8"),
    ] {
        let found = stated
            .lines()
            .any(|reported| reported.starts_with(&format!("nodes.csv:{line}: ")) && reported.contains(what));
        assert!(found, "line {line}: {what}\n{stated}");
    }
}

#[test]
fn quotients_are_rounded_once() {
    let ratio = |number, divisor| Ratio::new(number, divisor).unwrap();
    assert_eq!(
        (ratio(1, 8).text(2), ratio(-1, 8).text(2), ratio(2, 3).text(4)),
        ("0.13".into(), "-0.13".into(), "0.6667".into())
    );
    assert_eq!(
        (ratio(1, 2).scaled(0), ratio(-1, 2).scaled(0), ratio(9, 10).text(0)),
        (1, -1, "1".into())
    );
    assert!(Ratio::new(1, 0).is_none() && ratio(1, 3) < ratio(1, 2));
}

#[test]
fn the_command_prints_what_a_site_publishes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nodes.csv");
    let mut text = String::from(HEADER);
    let _ = write!(text, "{C}{D}");
    std::fs::write(&file, text).unwrap();
    let capacity = |options: &[&str]| {
        run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .arg("capacity")
            .arg(&file)
            .args(options))
    };
    let text = capacity(&["--cpu-limit", "10h"]);
    for line in [
        "  CE_PHYSCPU=40",
        "  CE_LOGCPU=60",
        "  Cores=1.5",
        "  Benchmark=6.84507 (HEP-SPEC06)",
        "  CE_SI00=1711.27",
        "  CPUScalingReferenceSI00=1330 (5.32 HS06)",
        "  installed capacity 410.704 HS06 = 102676 SI00",
    ] {
        assert!(text.lines().any(|reported| reported == line), "{line}\n{text}");
    }
    assert!(text.contains("5:22:35"), "10 hours over 1.86\n{text}");
    let csv = capacity(&["--format", "csv", "--reference", "mean"]);
    assert_eq!(csv.lines().count(), 3);
    let json: serde_json::Value = serde_json::from_str(&capacity(&["--format", "json"])).unwrap();
    assert_eq!(json["sites"][0]["types"][1]["misreported_percent"], "-46.2");
}
