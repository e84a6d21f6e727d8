//! What holds for all modes: parts add up to the whole, order changes nothing, and exact work is that of `usage`.

use std::collections::BTreeMap;

use arrow_array::Array as _;
use gridtally::compat::{PeerMode, PeerReportQuestion, WorkReport, report};
use gridtally::reference::benchmark::Benchmark;
use gridtally::reference::site_rename::SiteRenames;
use gridtally::report::lake::Selection;
use gridtally::schema::batch::{decimal, text};
use gridtally::store::{Manifest, Store, read_table};
use gridtally::time::{DaySpan, Month};

use super::{Lake, columns};
use crate::apel_summaries::record;
use crate::support::sample;

/// Asks the lake of the sample data.
fn ask(selection: &Selection, mode: PeerMode) -> WorkReport {
    let renames = SiteRenames::default();
    let asked = PeerReportQuestion {
        mode,
        site_values: None,
        by: None,
        selection,
        renames: &renames,
    };
    report(sample::lake().to_str().unwrap(), &asked).unwrap()
}

/// Every cell as text.
fn cells(report: &WorkReport) -> Vec<BTreeMap<&'static str, String>> {
    report.cells.iter().map(|cell| columns(report, cell)).collect()
}

#[test]
fn parts_add_up_to_the_whole() {
    for mode in PeerMode::ALL {
        let whole = cells(&ask(&Selection::default(), mode));
        assert!(whole.len() > 20, "{mode:?}");
        let months = ["2026-01", "2026-02", "2026-03", "2026-04", "2026-05", "2026-06"];
        let by_month = months.iter().flat_map(|month| {
            let month: Option<Month> = Some(month.parse().unwrap());
            let days = DaySpan::of_months(month, month);
            cells(&ask(
                &Selection {
                    days,
                    ..Selection::default()
                },
                mode,
            ))
        });
        let mut by_month: Vec<_> = by_month.collect();
        by_month.sort_by_key(|row| (row["site"].clone(), row["month"].clone()));
        assert_eq!(by_month, whole, "{mode:?}");
        let by_site = ["ALP-T2", "BAY/GRID"].iter();
        let by_site = by_site.flat_map(|site| {
            let sites = [(*site).to_owned()].into();
            cells(&ask(
                &Selection {
                    sites,
                    ..Selection::default()
                },
                mode,
            ))
        });
        assert_eq!(by_site.collect::<Vec<_>>(), whole, "{mode:?}");
        // VOs are named whatever the case of their letters.
        let vos = ["FIRN".to_owned()].into();
        let of_firn = cells(&ask(
            &Selection {
                vos,
                ..Selection::default()
            },
            mode,
        ));
        let expected: Vec<_> = whole.iter().filter(|row| row["vo"] == "firn").cloned().collect();
        assert!(of_firn == expected && !expected.is_empty(), "{mode:?}");
    }
}

/// The jobs of APEL messages state one benchmark each, so that a scale in `usage` is the value of mode native.
#[test]
fn exact_work_is_that_of_usage() {
    let store = Store::open_existing(sample::lake().to_str().unwrap()).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let mut usage: BTreeMap<&str, i128> = BTreeMap::new();
    for file in manifest.dataset("usage").filter(|file| file.path.contains("site=BAY")) {
        for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
            let batch = batch.unwrap();
            let source = text(&batch, "source").unwrap();
            for kind in Benchmark::ALL {
                let work = decimal(&batch, &format!("cpu_{}_s", kind.as_str())).unwrap();
                // The value in place of an unknown is not used.
                let rows = (0..batch.num_rows()).filter(|row| source.value(*row) == "bay-apel" && work.is_valid(*row));
                for row in rows {
                    *usage.entry(kind.as_str()).or_default() += work.value(row);
                }
            }
        }
    }
    let native = ask(
        &Selection {
            sites: ["BAY/GRID".to_owned()].into(),
            ..Selection::default()
        },
        PeerMode::Native,
    );
    let mut reported: BTreeMap<String, i128> = BTreeMap::new();
    for row in cells(&native) {
        let (whole, rest) = row["native_cpu_s"]
            .split_once('.')
            .unwrap_or((&row["native_cpu_s"], ""));
        *reported.entry(row["benchmark"].clone()).or_default() += format!("{whole}{rest:0<7}").parse::<i128>().unwrap();
    }
    for benchmark in ["hs06", "hs23"] {
        assert!(
            usage[benchmark] > 0 && usage[benchmark] == reported[benchmark],
            "{benchmark}: {usage:?} {reported:?}"
        );
    }
}

#[test]
fn order_and_files_change_nothing() {
    let job = |id: u32, user: u32, value: &str| {
        super::modes::job(
            id,
            i64::from(id) * 7 + 1,
            i64::from(id) * 3,
            &super::modes::level("HEPSPEC", value),
            &format!("GlobalUserName: /CN={user}\nProcessors: {}\n", id % 3),
        )
    };
    let values = ["10.5", "11.25", "9.999"];
    let jobs: Vec<String> = (0..60)
        .zip(values.iter().cycle())
        .map(|(id, value)| job(id, id % 4, value))
        .collect();
    let message = |jobs: &[String]| format!("{}{}", super::modes::V03, jobs.concat());
    let once = Lake::new(&[("in/1.msg", &message(&jobs))], super::modes::SOURCE);
    let backwards: Vec<String> = jobs.iter().rev().cloned().collect();
    let parts: Vec<String> = backwards.chunks(7).map(message).collect();
    let names: Vec<String> = (0..parts.len()).map(|n| format!("in/{n}.msg")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(String::as_str)
        .zip(parts.iter().map(String::as_str))
        .collect();
    let pieces = Lake::new(&files, super::modes::SOURCE);
    for mode in PeerMode::ALL {
        for by in ["vo", "all"] {
            assert_eq!(cells(&once.work(mode, by)), cells(&pieces.work(mode, by)), "{mode:?}");
        }
    }
}

/// A benchmark nobody knows counts as HEPSPEC06, and at an old server as SI00. Work that arrives normalised stays as it is.
#[test]
fn summaries_continue_as_they_arrived() {
    let stated = record(3, "ServiceLevelType: weird\nServiceLevel: 10.25\nSubmitHost: a\n");
    let normalised = record(
        3,
        "NormalisedWallDuration: 1201\nNormalisedCpuDuration: 600\nSubmitHost: b\n",
    );
    let lake = Lake::new(
        &[
            ("in/1.msg", &format!("APEL-summary-job-message: v0.2\n{stated}")),
            ("in/2.msg", &format!("APEL-summary-job-message: v0.3\n{normalised}")),
        ],
        super::modes::SOURCE,
    );
    for (mode, expected) in [
        (PeerMode::Native, ["1025", "1201"]),
        (PeerMode::Apel, ["1025", "1201"]),
        (PeerMode::ApelPre23, ["4", "1201"]),
    ] {
        let rows = cells(&lake.work(mode, "submit_host"));
        let reported: Vec<&str> = rows.iter().map(|row| row["normalised_wall_s"].as_str()).collect();
        assert_eq!(reported, expected, "{mode:?}");
    }
    // These publish jobs alone.
    assert!(lake.work(PeerMode::Gracc, "vo").cells.is_empty() && lake.work(PeerMode::Auditor, "vo").cells.is_empty());
}
