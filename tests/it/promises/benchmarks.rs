//! Benchmarks on whole lakes: each record contains its factor and its origin, and a correction changes what it
//! concerns, by the reported amount, and can be undone to the byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};

use super::scene::{Pipeline, Scene, assert_same, lake_times};
use super::tables::{files, int, read, text};

const HEAD: &str =
    "site,cluster,partition,nodes,benchmark,value_per_core,cores,valid_from,valid_to,recorded_at,source\n";
const ROWS: &str = "ALP-T2,glacier,,,hs06,10.84,,2024-01-01,2026-03-01,2024-01-10,tender\n\
                    ALP-T2,glacier,,,hs06,12.40,,2026-03-01,,2026-03-05,tender\n\
                    ALP-T2,glacier,,,hs23,11.20,,2024-01-01,,2024-01-10,tender\n\
                    ALP-T2,moraine,,,hs23,17.5,,2025-10-01,,2025-10-01,tender\n\
                    BAY/GRID,,,,hs06,9,,2024-01-01,,2024-01-01,survey\n";
/// The second quarter was measured again: glacier's February and half of March.
const CORRECTION: &str = "ALP-T2,glacier,,,hs06,11.02,,2026-02-01,2026-03-16,2026-07-01,measured again\n";

struct House {
    scene: Scene,
    pipeline: Pipeline,
}

impl House {
    fn new() -> Self {
        let mut pipeline = Pipeline::sample();
        pipeline.normalise = Some("benchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n".to_owned());
        let house = Self {
            scene: Scene::sample(),
            pipeline,
        };
        house.write(ROWS);
        house
    }

    fn write(&self, rows: &str) {
        self.scene.write("benchmarks.csv", format!("{HEAD}{rows}").as_bytes());
    }

    fn run(&self, out: &str) -> RunReport {
        self.scene.run(&self.pipeline, out)
    }
}

const WORK: [&str; 9] = [
    "cpu_hs06_s",
    "wall_hs06_s",
    "core_wall_hs06_s",
    "cpu_hs23_s",
    "wall_hs23_s",
    "core_wall_hs23_s",
    "cpu_si00_s",
    "wall_si00_s",
    "core_wall_si00_s",
];

/// All work in usage by site and month, in units of 10^-7.
fn work(lake: &Path) -> BTreeMap<(String, i64, &'static str), i128> {
    let mut sums = BTreeMap::new();
    for path in files(lake, "usage") {
        let site = if path.to_str().unwrap().contains("ALP") {
            "ALP-T2"
        } else {
            "BAY/GRID"
        };
        let batch = read(&path);
        for name in WORK {
            let column = batch.column_by_name(name).unwrap().as_primitive::<Decimal128Type>();
            for row in (0..batch.num_rows()).filter(|row| column.is_valid(*row)) {
                let key = (site.to_owned(), int(&batch, "month", row).unwrap(), name);
                *sums.entry(key).or_default() += column.value(row);
            }
        }
    }
    sums
}

/// A decimal of at most seven places, in units of 10^-7.
fn e7(text: &str) -> i128 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    sign * format!("{whole}{part:0<7}").parse::<i128>().unwrap()
}

/// Days since 1970.
fn days(year: i16, month: i8, day: i8) -> i64 {
    i64::from(gridtally::time::month::day_of(
        gridtally::time::Date::new(year, month, day).unwrap(),
    ))
}

fn changed(before: &BTreeMap<String, std::time::SystemTime>, lake: &Path) -> BTreeSet<String> {
    let after = lake_times(lake);
    let changed = after.into_iter().filter(|(path, time)| before.get(path) != Some(time));
    changed.map(|(path, _)| path).collect()
}

#[test]
fn a_correction_recomputes_what_it_concerns_states_by_how_much_and_can_be_undone() {
    let house = House::new();
    house.run("lake");
    let out = house.scene.path("lake");
    let (bytes, former, times) = (house.scene.lake("lake"), work(&out), lake_times(&out));

    house.write(&format!("{ROWS}{CORRECTION}"));
    let report = house.run("lake");
    assert_eq!((report.status, report.files_read_n), (Status::Published, 0));
    let now = work(&out);
    let changed = changed(&times, &out);
    let months = |dataset: &str| -> BTreeSet<String> {
        let of = changed.iter().filter(|path| path.starts_with(&format!("{dataset}/")));
        of.map(|path| {
            path.split('/')
                .filter(|part| part.contains('='))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
    };
    // Those with a job of glacier that ended while the row holds, and no others: not the other site, nor its history.
    let held = days(2026, 2, 1)..days(2026, 3, 16);
    let mut concerned = BTreeSet::new();
    for path in files(&out, "records") {
        let batch = read(&path);
        let is_concerned = (0..batch.num_rows()).any(|row| {
            let ended = int(&batch, "end_utc", row).map(|ms| ms.div_euclid(86_400_000));
            text(&batch, "cluster", row).as_deref() == Some("glacier") && ended.is_some_and(|day| held.contains(&day))
        });
        if is_concerned {
            let path = path.strip_prefix(&out).unwrap().to_str().unwrap().to_owned();
            let parts: Vec<&str> = path.split('/').filter(|part| part.contains('=')).collect();
            concerned.insert(parts.join(" "));
        }
    }
    assert_eq!(concerned.len(), 3, "{concerned:?}");
    assert_eq!(months("records"), concerned);
    assert_eq!(months("usage_part"), concerned);
    assert!(changed.iter().all(|path| !path.contains("BAY")), "{changed:?}");
    assert!(changed.iter().all(|path| !path.starts_with("history/")), "{changed:?}");

    // The table balances: by site, month and benchmark, before and change are after, and nothing else changed.
    let mut reported = BTreeSet::new();
    for row in &report.recomputed {
        assert!(!row.has_new_records);
        let day = row.month.parse::<gridtally::time::Month>().unwrap().first_day();
        for (measure, [was, is, change]) in [
            ("cpu", [&row.former.cpu_s, &row.now.cpu_s, &row.change.cpu_s]),
            ("wall", [&row.former.wall_s, &row.now.wall_s, &row.change.wall_s]),
            (
                "core_wall",
                [&row.former.core_wall_s, &row.now.core_wall_s, &row.change.core_wall_s],
            ),
        ] {
            assert_eq!(e7(was) + e7(change), e7(is), "{row:?}");
            let name = WORK
                .iter()
                .find(|name| **name == format!("{measure}_{}_s", row.benchmark))
                .unwrap();
            let key = (row.site.clone(), i64::from(day), *name);
            assert_eq!(now[&key] - former[&key], e7(change), "{row:?}");
            reported.insert(key);
        }
    }
    assert!(!reported.is_empty());
    for (key, value) in &now {
        assert!(
            reported.contains(key) || former[key] == *value,
            "{key:?} changed without a report"
        );
    }
    assert_eq!(former.len(), now.len());
    assert!(report.text().contains("ALP-T2 2026-02 hs06: CPU "), "{}", report.text());

    // As a lake that never knew otherwise, and back.
    house.run("fresh");
    assert_same(&house.scene.lake("fresh"), &house.scene.lake("lake"), "corrected");
    house.write(ROWS);
    let undone = house.run("lake");
    assert_same(&house.scene.lake("lake"), &bytes, "undone");
    assert_eq!(undone.recomputed.len(), report.recomputed.len());
    assert_eq!(house.run("lake").status, Status::Unchanged);
    assert_eq!(house.scene.findings("lake"), []);
}

#[test]
fn a_lake_can_be_made_as_it_was_known_on_a_day() {
    let mut house = House::new();
    house.run("then");
    house.write(&format!("{ROWS}{CORRECTION}"));
    house.run("now");
    let known_on = |day: &str| {
        Some(format!(
            "benchmarks = \"benchmarks.csv\"\nmissing = \"null\"\nknown_on = {day}\n"
        ))
    };
    house.pipeline.normalise = known_on("2026-06-30");
    house.run("june");
    assert_same(&house.scene.lake("june"), &house.scene.lake("then"), "as known in June");
    house.pipeline.normalise = known_on("\"2026-07-01\"");
    house.run("july");
    assert_same(&house.scene.lake("july"), &house.scene.lake("now"), "as known in July");
}

#[test]
fn rows_that_concern_nobody_change_nothing() {
    let house = House::new();
    house.run("lake");
    let times = lake_times(&house.scene.path("lake"));
    house.write(&format!(
        "{ROWS}ELSEWHERE,,,,hs06,12,,,,,\nALP-T2,glacier,,,hs06,9,,2019-01-01,2020-01-01,,\n"
    ));
    assert_eq!(house.run("lake").status, Status::Unchanged);
    assert_eq!(lake_times(&house.scene.path("lake")), times);
}

#[test]
fn each_record_reports_its_factor_and_where_it_came_from() {
    let mut house = House::new();
    let rows = format!(
        "{ROWS}ALP-T2,glacier,,\"g[001-400]\",hs06,13,64,2024-01-01,,,\nALP-T2,moraine,,,hs06,16,,2024-01-01,,,\n\
         BAY/GRID,ce01.bay.example,,,hs06,8,,2024-01-01,,,\n"
    );
    house.write(&rows);
    let report = house.run("lake");
    let mut counted: BTreeMap<(String, String), u64> = BTreeMap::new();
    for path in files(&house.scene.path("lake"), "records") {
        let batch = read(&path);
        for kind in ["hs06", "hs23", "si00"] {
            let (value, origin) = (format!("{kind}_per_core"), format!("{kind}_origin"));
            let values = batch.column_by_name(&value).unwrap().as_primitive::<Decimal128Type>();
            for row in 0..batch.num_rows() {
                let origin = text(&batch, &origin, row);
                assert_eq!(values.is_valid(row), origin.is_some());
                let Some(origin) = origin else { continue };
                let stated = text(&batch, "benchmark", row).as_deref() == Some(kind);
                assert_eq!(origin == "record", stated, "a record's own value comes first");
                if origin == "node" {
                    assert_eq!(values.value(row), 130_000);
                    assert!(text(&batch, "node_list", row).unwrap().starts_with('g'));
                }
                *counted.entry((kind.to_owned(), origin)).or_default() += 1;
            }
        }
    }
    let reported = report.benchmarks.iter().filter(|(kind, _)| *kind != "none");
    let reported: BTreeMap<_, _> = reported
        .flat_map(|(kind, origins)| origins.iter().map(|(origin, n)| ((kind.clone(), origin.clone()), *n)))
        .collect();
    assert_eq!(reported, counted);
    for origin in ["record", "node", "cluster", "site"] {
        assert!(
            counted.contains_key(&("hs06".to_owned(), origin.to_owned())),
            "{origin}: {counted:?}"
        );
    }
    // In another order others come first, and a step that is left out never counts.
    house.pipeline.normalise = Some(
        "benchmarks = \"benchmarks.csv\"\nmissing = \"null\"\norder = [\"cluster\", \"site\", \"node\"]\n".to_owned(),
    );
    let report = house.run("lake");
    let origins: Vec<&String> = report.benchmarks["hs06"].keys().collect();
    assert_eq!(origins, ["cluster", "site"]);
}

#[test]
fn work_is_time_times_the_factor_of_each_record() {
    let mut house = House::new();
    house.pipeline.head.insert("attribution", "\"by-end\"".to_owned());
    house.run("lake");
    let out = house.scene.path("lake");
    let mut expected: BTreeMap<&str, i128> = BTreeMap::new();
    for path in files(&out, "records") {
        let batch = read(&path);
        for kind in ["hs06", "hs23", "si00"] {
            let values = batch.column_by_name(&format!("{kind}_per_core")).unwrap();
            let values = values.as_primitive::<Decimal128Type>();
            for row in (0..batch.num_rows()).filter(|row| values.is_valid(*row)) {
                let of = |name: &str| int(&batch, name, row).map(i128::from);
                // Running jobs have no end to be counted by.
                if of("end_utc").is_none() {
                    continue;
                }
                let e4 = values.value(row);
                let wall = of("wall_s").unwrap() * 1000 * e4;
                for (measure, e7) in [
                    ("cpu", of("cpu_ms").unwrap_or(0) * e4),
                    ("wall", wall),
                    ("core_wall", wall * of("alloc_core_n").unwrap_or(0)),
                ] {
                    let name = WORK
                        .iter()
                        .find(|name| **name == format!("{measure}_{kind}_s"))
                        .unwrap();
                    *expected.entry(name).or_default() += e7;
                }
            }
        }
    }
    let mut found: BTreeMap<&str, i128> = BTreeMap::new();
    for ((_, _, name), e7) in work(&out) {
        *found.entry(name).or_default() += e7;
    }
    assert_eq!(found, expected);
    // Cut into days and months it is the same work.
    let whole = found;
    for attribution in ["\"prorated\"", "\"by-end\""] {
        for grain in ["\"month\"", "\"day\""] {
            house.pipeline.head.insert("attribution", attribution.to_owned());
            house.pipeline.head.insert("grain", grain.to_owned());
            let options = RunOptions {
                threads: Some(1),
                ..RunOptions::default()
            };
            let lake = format!("{attribution}-{grain}").replace('"', "");
            house.scene.run_with(&house.pipeline, &lake, options);
            let mut cut: BTreeMap<&str, i128> = BTreeMap::new();
            for ((_, _, name), e7) in work(&house.scene.path(&lake)) {
                *cut.entry(name).or_default() += e7;
            }
            assert_eq!(cut.len(), whole.len());
            for (name, e7) in &whole {
                // Jobs that still run count where time is prorated.
                assert!(
                    cut[name] == *e7 || attribution == "\"prorated\"" && cut[name] > *e7,
                    "{lake} {name}"
                );
            }
        }
    }
    fs::remove_dir_all(out).unwrap();
}
