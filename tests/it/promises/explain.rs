//! The numbers that `explain` prints of a job can be recomputed by hand from its output.

use gridtally::audit::explain::{cell, charged_entries, explain, usage};
use gridtally::error::Kind;
use gridtally::schema::batch::{decimal, number};

use super::charges::{charged, scene};
use super::tables::{all, text};

#[test]
fn every_number_on_the_page_follows_from_the_page() {
    let scene = scene();
    scene.run(&charged(), "lake");
    let lake = scene.path("lake");
    let records = all(&lake, "records");
    let out = lake.to_str().unwrap();
    let mut charges = 0;
    for row in (0..records.num_rows()).step_by(97) {
        let job = text(&records, "job_id", row).unwrap();
        let pages = explain(out, &job, &scene.path("")).unwrap();
        assert!(!pages.is_empty(), "{job}");
        for page in &pages {
            let reported = page.text();
            let field = |name: &str| {
                page.fields
                    .iter()
                    .find(|field| field.name == name)
                    .map(|field| field.value.clone())
            };
            // The row that is shown is the row of the job.
            let raw = page.raw.as_ref().map(|[_, row]| row.clone()).unwrap_or_default();
            assert!(
                raw.contains(job.split(['_', '.']).next().unwrap()) || page.raw_missing.is_some(),
                "{reported}"
            );
            let cores: Option<i64> = field("alloc_core_n").map(|cores| cores.parse().unwrap());
            let wall: i64 = field("wall_s").unwrap().parse().unwrap();
            let priced = page
                .charges
                .iter()
                .filter(|charge| charge.pieces.iter().all(|piece| piece.charge.is_some()));
            for charge in priced.filter(|charge| charge.policy == "cores") {
                let price = if charge.version == "winter" { 1 } else { 2 };
                let exact = cores.unwrap() * price * wall * 1_000_000_000;
                let last = charge.steps.last().unwrap();
                let line = format!("= {} * {price} * {wall} / 3600 = ", cores.unwrap());
                assert!(
                    charge.steps.iter().any(|step| step.contains(&line)),
                    "{line} is not in\n{reported}"
                );
                let result = last
                    .split(['=', ':'])
                    .next_back()
                    .unwrap()
                    .trim()
                    .split(' ')
                    .next()
                    .unwrap()
                    .to_owned();
                let billionths = (result.parse::<f64>().unwrap() * 1e9).round();
                assert!(
                    (billionths * 3600.0 - f64::from(u32::try_from(exact / 1_000_000_000).unwrap()) * 1e9).abs()
                        < 3.6e3,
                    "{reported}"
                );
                for piece in &charge.pieces {
                    assert!(lake.join(&piece.cell).is_file(), "{reported}");
                }
                charges += 1;
            }
        }
    }
    assert!(charges > 5, "{charges}");
    assert!(explain(out, "no such job", &scene.path("")).unwrap().is_empty());
    let error = charged_entries(out, "no such job").unwrap_err();
    assert_eq!(error.kind(), Kind::NoInput);
}

/// A job that is attributed by its end has no parts in proportion to time.
#[test]
fn a_job_by_its_end_is_whole_in_one_period() {
    let scene = scene();
    scene.run(&charged().with("attribution", "\"by-end\""), "by-end");
    let lake = scene.path("by-end");
    let job = text(&all(&lake, "records"), "job_id", 0).unwrap();
    let pages = explain(lake.to_str().unwrap(), &job, &scene.path("")).unwrap();
    let reported = pages.first().unwrap().text();
    assert!(
        reported.contains("\nUsage: all of it in one period, as recorded\n") && reported.contains(": all of it: "),
        "{reported}"
    );
    assert!(!reported.contains(" of 0 ms"), "{reported}");
}

#[test]
fn a_cell_is_its_jobs() {
    let scene = scene();
    scene.run(&charged(), "lake");
    let lake = scene.path("lake");
    let file = super::tables::files(&lake, "charges").remove(0);
    let path = file.strip_prefix(&lake).unwrap().to_str().unwrap();
    let cells = cell(lake.to_str().unwrap(), path, 3).unwrap();
    let batch = super::tables::read(&file);
    let sum = |cell: &gridtally::audit::explain::ExplainedCell| -> i128 {
        let charge = decimal(&batch, "charge").unwrap();
        (0..batch.num_rows())
            .filter(|row| {
                let is = |name: &str, value: &str| text(&batch, name, *row).as_deref() == Some(value);
                is("policy", &cell.policy) && is("policy_version", &cell.version) && is("options", &cell.options)
            })
            .filter_map(|row| number(charge, row))
            .sum()
    };
    assert!(!cells.is_empty());
    for cell in &cells {
        assert_eq!(gridtally::reference::decimal::text(sum(cell), 9), cell.charge);
        assert!(cell.top.len() <= 3 && cell.text().contains(&cell.top[0].job_id));
    }
    assert!(cell(lake.to_str().unwrap(), "charges/site=NONE/vo=x/allocation_year=2026", 3).is_err());
}

#[test]
fn a_cell_of_usage_is_its_jobs_and_what_corrections_made_of_it() {
    let scene = scene();
    scene.write(
        "corrections.csv",
        b"id,action,site,month,account,to_account,author,reason,date\n\
          C1,void,ALP-T2,2026-03,firn,,E. Office,broken node,2026-06-01\n\
          C2,remap,ALP-T2,,lawine,moraene,E. Office,moved,2026-06-01\n",
    );
    let pipeline = super::scene::Pipeline::sample().with("corrections", "\"corrections.csv\"");
    scene.run(&pipeline, "lake");
    let lake = scene.path("lake");
    let out = lake.to_str().unwrap();
    let (mut corrected, mut scaled) = (0, 0);
    for file in super::tables::files(&lake, "usage") {
        let path = file.strip_prefix(&lake).unwrap().to_str().unwrap();
        let cell = usage(out, path, 3).unwrap();
        let batch = super::tables::read(&file);
        let recorded = |view: &str, row: usize| {
            text(&batch, "view", row).as_deref() == Some(view) && text(&batch, "correction_id", row).is_none()
        };
        for view in cell.views.iter().filter(|view| view.name != "summary") {
            assert_eq!(view.recorded, view.of_jobs, "{}", cell.text());
            assert!(!view.top.is_empty() && view.top.len() <= 3, "{}", cell.text());
            assert!(view.top.is_sorted_by(|a, b| a.part.alloc_core_s >= b.part.alloc_core_s));
            let changed: i64 = view.corrections.iter().map(|touch| touch.change.alloc_core_s).sum();
            assert_eq!(view.total.alloc_core_s, view.recorded.alloc_core_s + changed);
            for touch in &view.corrections {
                assert_eq!(touch.author, "E. Office");
                corrected += 1;
            }
            // The work of the cell is that of its values, each times the core time it scales.
            for kind in ["hs06", "hs23"] {
                let work = decimal(&batch, &format!("core_wall_{kind}_s")).unwrap();
                let rows = (0..batch.num_rows()).filter(|row| recorded(&view.name, *row));
                let held: i128 = rows.filter_map(|row| number(work, row)).sum();
                let reported = view.benchmarks.iter().filter(|used| used.benchmark == kind);
                let reported: i128 = reported
                    .map(|used| gridtally::expr::decimal::parse(&used.core_wall_s).unwrap() / 100_000)
                    .sum();
                assert_eq!(held, reported, "{kind}\n{}", cell.text());
                scaled += i32::from(held > 0);
            }
        }
    }
    assert!(corrected > 2 && scaled > 4, "{corrected} {scaled}");
    assert!(usage(out, "usage/site=NONE/vo=x/allocation_year=2026", 3).is_err());
}
