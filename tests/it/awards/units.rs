//! How long a core-year is, and what is counted in it.

use gridtally::award::unit::{AwardMeasure, CountedUse, YearLength};
use gridtally::time::{Calendar, Grain, YearStart, Zone};

use super::ledger::day;
use super::scene::{HEADER, Scene, job};

const YEAR_S: i64 = 8760 * 3600;

fn calendar() -> Calendar {
    Calendar::new(Zone::utc(), Grain::Day, YearStart { month: 4, day: 1 })
}

#[test]
fn cc_i4_the_length_of_a_core_year_is_stated() {
    let hours = |length: YearLength, on: &str| length.seconds(&mut calendar(), day(on)).unwrap() / 3600;
    assert_eq!(hours(YearLength::AllocationYear, "2025-04-01"), 8760);
    assert_eq!(
        hours(YearLength::AllocationYear, "2023-04-01"),
        8784,
        "with 29 February 2024"
    );
    assert_eq!(
        hours(YearLength::AllocationYear, "2024-03-31"),
        8784,
        "still the year of 2023"
    );
    assert_eq!(hours(YearLength::AllocationYear, "2024-04-01"), 8760);
    assert_eq!(hours(YearLength::Hours(8760), "2023-04-01"), 8760);
    assert_eq!(hours(YearLength::Hours(8766), "2023-04-01"), 8766);
    assert_eq!(YearLength::default(), YearLength::AllocationYear);
}

#[test]
fn cc_14_the_allocation_year_begins_on_the_first_of_april() {
    let mut calendar = calendar();
    let mut year = |on: &str| {
        let ms = calendar.begins_ms(day(on));
        calendar.period(ms).unwrap().allocation_year
    };
    assert_eq!([year("2020-03-31"), year("2020-04-01")], [2019, 2020]);
}

#[test]
fn cc_22_one_core_with_eight_gigabytes_for_a_year_is_one_raw_year_and_two_equivalents() {
    // A core equivalent is a core with 4 GB: the policy charges two for the memory.
    let charge_e9 = 2 * 8760 * 1_000_000_000_i128;
    let core_ms = i128::from(YEAR_S) * 1000;
    let equivalent = AwardMeasure::of(Some("core_year"), "core_equivalent_hour", YEAR_S).unwrap();
    let raw = AwardMeasure::of(Some("raw_core_year"), "core_equivalent_hour", YEAR_S).unwrap();
    assert_eq!(
        (equivalent.counted, equivalent.in_units_e9(charge_e9)),
        (CountedUse::Charge, Some(2_000_000_000))
    );
    assert_eq!(
        (raw.counted, raw.in_units_e9(core_ms)),
        (CountedUse::RawCore, Some(1_000_000_000))
    );
}

#[test]
fn units_are_those_of_the_policy_its_years_or_raw_use() {
    let counted =
        |unit: Option<&str>, charged_in: &str| AwardMeasure::of(unit, charged_in, YEAR_S).map(|of| of.counted);
    for (unit, charged_in, is) in [
        (None, "service_unit", CountedUse::Charge),
        (Some("service_unit"), "service_unit", CountedUse::Charge),
        (Some("CHF"), "chf", CountedUse::Charge),
        (Some("gpu_year"), "gpu_equivalent_hour", CountedUse::Charge),
        (Some("rgu_year"), "rgu_hour", CountedUse::Charge),
        (Some("node_year"), "node_hour", CountedUse::Charge),
        (Some("raw_gpu_hour"), "rgu_hour", CountedUse::RawGpu),
    ] {
        assert_eq!(counted(unit, charged_in), Ok(is), "{unit:?} of {charged_in}");
    }
    let why = counted(Some("core_year"), "rgu_hour").unwrap_err();
    assert!(
        why.contains("counts in rgu_hour, not in core_year") && why.contains("rgu_year"),
        "{why}"
    );
    assert!(
        counted(Some("core_year"), "service_unit").is_err(),
        "a price has no years"
    );
    // An RGU-year is so many RGU-hours, to the billionth.
    let rgu = AwardMeasure::of(Some("rgu_year"), "rgu_hour", YEAR_S).unwrap();
    assert_eq!(
        rgu.in_units_e9(52 * 8760 * 1_000_000_000),
        Some(52_000_000_000),
        "RG-06"
    );
    assert_eq!(rgu.counted(52_000_000_000), Some(52 * 8760 * 1_000_000_000));
}

#[test]
fn units_of_storage_are_of_thousands_or_of_1024() {
    use gridtally::award::unit::bytes_of;
    let known = [
        ("byte", 1),
        ("B", 1),
        ("GB", 1_000_000_000),
        ("kB", 1000),
        ("KiB", 1024),
        ("TiB", 1 << 40),
        ("PB", 10_i128.pow(15)),
    ];
    for (unit, bytes) in known {
        assert_eq!(bytes_of(unit), Some(bytes), "{unit}");
    }
    for unit in ["", "T", "iB", "core_year", "Tb", "XB"] {
        assert_eq!(bytes_of(unit), None, "{unit}");
    }
}

/// A policy that charges in minutes, and from July on in hours.
#[test]
fn an_award_counts_the_versions_that_charge_in_its_unit() {
    let scene = Scene::new();
    let version = |version: u32, days: &str, unit: &str, expect: u32| {
        format!(
            "id = \"ce\"\nversion = \"{version}\"\ntitle = \"Cores\"\nsource = \"invented\"\n{days}\npool = \"cpu\"\nunit = \"{unit}\"\n\
             formula = \"cores * hours * {expect}\"\n[[example]]\nname = \"one\"\nin = {{ cores = 1, hours = 1 }}\nexpect = {expect}\n"
        )
    };
    scene.write("ce.toml", &version(1, "valid_to = 2025-07-01", "core_minute", 60));
    scene.write("later.toml", &version(2, "valid_from = 2025-07-01", "core_hour", 1));
    let jobs = [
        job(1, "ada", "fern", "cedar", "2025-06-01T00:00:00", 2, 1),
        job(2, "ada", "fern", "cedar", "2025-07-01T00:00:00", 3, 1),
    ];
    scene.write("jobs.txt", &format!("{HEADER}{}", jobs.concat()));
    let charged = |awards: &str| {
        scene.write(
            "awards.csv",
            &format!("award,account,policy,amount,unit,valid_from,valid_to\n{awards}"),
        );
        scene.pipeline("[[charge]]\npolicies = [\"later.toml\"]\n[awards]\ntable = \"awards.csv\"\n");
    };
    charged("A,fern,ce,100,,2025-04-01,2026-04-01\n");
    let reported = scene.refused(&["check", "p.toml"]);
    let [hours, minutes] = ["ce (pool cpu, unit core_hour)", "ce (pool cpu, unit core_minute)"];
    assert!(
        reported.contains(&format!("\"ce\" may be any of {hours}, {minutes}")),
        "{reported}"
    );
    for awards in [
        format!("A,fern,\"{minutes}\",1000,,2025-04-01,2026-04-01\nB,fern,\"{hours}\",100,,2025-04-01,2026-04-01\n"),
        "A,fern,ce,1000,core_minute,2025-04-01,2025-07-01\nB,fern,ce,100,core_hour,2025-07-01,2026-04-01\n".to_owned(),
    ] {
        charged(&awards);
        scene.run();
        for (on, award, used) in [("2025-06-30", "A", "120.000000000"), ("2025-07-31", "B", "3.000000000")] {
            let rows = scene.rows(&["--on", on]);
            let row = rows.iter().find(|row| row["award"] == award).unwrap();
            assert_eq!(row["used"], used, "{awards}");
        }
    }
}
