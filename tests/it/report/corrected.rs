//! Signed corrections in reports to federations: these equal `usage` with corrections.

use std::collections::BTreeMap;

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::{ApelRequest, publish};
use gridtally::report::apel::users::Users;
use gridtally::report::federation::{gather, site_vo_month, sums_by};
use gridtally::report::gracc::table;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::exporter::Exporter;
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::publication::plan::plan;
use gridtally::report::publication::terms::Terms;
use gridtally::report::render::objects;
use gridtally::report::work_scale::WorkScale;
use gridtally::time::DaySpan;

use super::scene::{Scene, send};
use crate::support::python::python;
use crate::support::sample;

/// The sample's lake by end in UTC, as APEL counts, with corrections of every kind.
pub(super) fn lake(scene: &Scene, corrections: &str) -> Lake {
    let text = sample::pipeline()
        .replace("\"../out\"", "\"lake\"\ncorrections = \"corrections.csv\"")
        .replace("\"prorated\"", "\"by-end\"")
        .replace("calendar_timezone = \"Europe/Zurich\"", "calendar_timezone = \"UTC\"");
    scene.write("lake.toml", &text);
    scene.write(
        "corrections.csv",
        &format!(
            "id,action,site,month,vo,account,job_id,to_vo,to_account,job_n,wall_s,alloc_core_s,cpu_ms,undoes,author,reason,date\n{corrections}"
        ),
    );
    scene.run("lake")
}

type Figures = BTreeMap<(String, String, String), (i128, i128, i128)>;

/// Jobs, core seconds and CPU milliseconds by site, VO and month, as `usage` holds them: by DuckDB.
fn of_usage(scene: &Scene) -> Figures {
    let answer = python(
        "import duckdb, sys\n\
         for row in duckdb.sql(f\"SELECT site, coalesce(vo, ''), strftime(month, '%Y-%m'), sum(job_n), sum(alloc_core_s), coalesce(sum(cpu_ms), 0) \
         FROM read_parquet('{sys.argv[1]}/usage/**/*.parquet', hive_partitioning = true) WHERE view = 'batch' GROUP BY ALL\").fetchall():\n\
         \x20   print(*row, sep='\\t')",
        &[scene.path("lake").to_str().unwrap()],
    );
    let mut figures = Figures::new();
    for line in answer.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse::<i128>().unwrap();
        let key = (cells[0].to_owned(), cells[1].to_owned(), cells[2].to_owned());
        figures.insert(key, (number(3), number(4), number(5)));
    }
    figures
}

fn of_report(lake: &Lake) -> Figures {
    let usage = gather(lake, &Selection::default()).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, site_vo_month).unwrap();
    let reported = sums.into_iter().map(|((site, vo, month), sums)| {
        (
            (site, vo, month.to_string()),
            (sums.job_n, sums.core_wall_ms / 1000, sums.cpu_ms),
        )
    });
    reported.collect()
}

/// A job of a site: its id, VO and month of end, by DuckDB.
pub(super) fn a_job(scene: &Scene, site: &str) -> (String, String, String) {
    let answer = python(
        "import duckdb, sys\n\
         print(*duckdb.sql(f\"SELECT job_id, vo, strftime(end_utc, '%Y-%m') FROM read_parquet('{sys.argv[1]}/records/**/*.parquet', hive_partitioning = true) \
         WHERE site = '{sys.argv[2]}' AND view = 'batch' AND vo IS NOT NULL AND hs23_per_core IS NOT NULL AND cpu_ms > 0 AND wall_s > 0 \
         AND strftime(end_utc, '%Y-%m') = '2026-03' ORDER BY job_id LIMIT 1\").fetchall()[0], sep='\\t')",
        &[scene.path("lake").to_str().unwrap(), site],
    );
    let cells: Vec<String> = answer.trim().split('\t').map(str::to_owned).collect();
    (cells[0].clone(), cells[1].clone(), cells[2].clone())
}

/// What changed. Jobs that never started, and jobs of unknown cores, are counted otherwise in reports than in usage: the sample
/// has some, which are no matter of corrections.
fn difference(before: &Figures, after: &Figures) -> Figures {
    let mut keys: Vec<_> = before.keys().chain(after.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let of = |figures: &Figures, key: &(String, String, String)| figures.get(key).copied().unwrap_or_default();
    keys.into_iter()
        .map(|key| {
            let (a, b) = (of(before, &key), of(after, &key));
            (key, (b.0 - a.0, b.1 - a.1, b.2 - a.2))
        })
        .filter(|(_, change)| *change != (0, 0, 0))
        .collect()
}

/// Jobs of GRACC's documents by site, VO and month.
fn of_documents(lake: &Lake) -> BTreeMap<(String, String, String), i128> {
    let mut jobs: BTreeMap<_, i128> = BTreeMap::new();
    for line in objects(&table(lake, &Selection::default(), &Users::Keep).unwrap().0).unwrap() {
        let document: serde_json::Value = serde_json::from_str(&line).unwrap();
        if document["ResourceType"] == "Batch" {
            let word = |name: &str| document[name].as_str().unwrap().replace("N/A", "");
            let key = (word("SiteName"), word("VOName"), word("EndTime")[..7].to_owned());
            *jobs.entry(key).or_default() += i128::from(document["Njobs"].as_i64().unwrap());
        }
    }
    jobs
}

#[test]
fn reports_equal_usage_after_corrections() {
    let scene = Scene::new();
    let plain = lake(&scene, "");
    let (usage, report) = (of_usage(&scene), of_report(&plain));
    let documents_before = of_documents(&plain);
    let (job, vo, _) = a_job(&scene, "ALP-T2");

    let corrected = lake(
        &scene,
        &format!(
            "C1,void,ALP-T2,,,,{job},,,,,,,,E. Office,ran on a broken node,2026-04-02\n\
             C2,remap,ALP-T2,2026-03,{vo},,,drift,,,,,,,E. Office,moved for a month,2026-04-02\n\
             C3,remap,ALP-T2,,drift,,,ice;field=1%,,,,,,,E. Office,renamed at once,2026-04-02\n\
             C4,add,ALP-T2,2026-02,{vo},a,,,,12,3600,28800,1000,,E. Office,log lost,2026-04-03\n\
             C5,add,BAY/GRID,2026-02,kelp,a,,,,1,,100,7,,E. Office,wall time unknown,2026-04-03\n\
             C6,void,BAY/GRID,,kelp,,,,,,,,,,E. Office,a mistake,2026-04-03\n\
             C7,undo,,,,,,,,,,,,C6,E. Office,that was one,2026-04-04\n"
        ),
    );
    let (usage_now, report_now) = (of_usage(&scene), of_report(&corrected));
    let changed = difference(&usage, &usage_now);
    assert!(changed.keys().any(|(_, vo, _)| vo == "ice;field=1%"), "{changed:?}");
    assert!(changed.len() >= 4, "{changed:?}");
    assert_eq!(changed, difference(&report, &report_now));

    // GRACC's documents change by the same jobs.
    let of_documents = of_documents(&corrected);
    for (key, (jobs, ..)) in &changed {
        let before = documents_before.get(key).copied().unwrap_or_default();
        assert_eq!(
            of_documents.get(key).copied().unwrap_or_default() - before,
            *jobs,
            "{key:?}"
        );
    }
    let sum = |figures: &BTreeMap<_, i128>| figures.values().sum::<i128>();
    assert_eq!(
        sum(&of_documents) - sum(&documents_before),
        changed.values().map(|change| change.0).sum::<i128>()
    );

    let rules: Vec<_> = corrected
        .corrections()
        .unwrap()
        .additions()
        .map(|(site, ..)| site.to_owned())
        .collect();
    assert_eq!(rules, ["ALP-T2", "BAY/GRID"]);
}

#[test]
fn a_job_that_was_sent_and_taken_out_is_taken_back() {
    let scene = Scene::new();
    let plain = lake(&scene, "");
    let (job, ..) = a_job(&scene, "ALP-T2");
    let month = Some("2026-03".parse().unwrap());
    let request = ApelRequest {
        selection: Selection {
            sites: std::iter::once("ALP-T2".to_owned()).collect(),
            days: DaySpan::of_months(month, month),
            ..Selection::default()
        },
        kinds: vec![MessageKind::JobV04],
        users: Users::Withhold,
        batch_records: 1000,
        is_leaving_out: true,
        ..ApelRequest::default()
    };
    let exporter = Exporter::Apel(request.clone());
    let hand_over = |lake: &Lake, now_ms: i64| {
        let mut text = String::new();
        let planned = plan(lake, &exporter, "apel", &Terms::default()).unwrap();
        send(
            lake,
            "apel",
            &planned,
            now_ms,
            &mut |_, _, _| Ok(()),
            &mut |_, _, _, _, message| {
                text.push_str(&message);
                Ok(())
            },
        )
        .unwrap();
        MessageRecord::read(&text).unwrap()
    };
    let before = hand_over(&plain, 1_000);
    let of = |reported: &[MessageRecord]| -> Vec<(i64, i64)> {
        let own = reported
            .iter()
            .filter(|reported| reported.word("LocalJobId") == Some(&job));
        own.map(|reported| (reported.wall_s().unwrap(), reported.cpu_s().unwrap()))
            .collect()
    };
    assert!(
        matches!(of(&before).as_slice(), [(wall_s, _)] if *wall_s > 0),
        "{:?}",
        of(&before)
    );

    let corrected = lake(
        &scene,
        &format!("C1,void,ALP-T2,,,,{job},,,,,,,,E. Office,ran on a broken node,2026-04-02\n"),
    );
    // A receiver without records needs no retraction.
    let mut fresh = String::new();
    publish(&corrected, &request, &mut |_, _, _, _, message| {
        fresh.push_str(&message);
        Ok(())
    })
    .unwrap();
    assert!(of(&MessageRecord::read(&fresh).unwrap()).is_empty());
    // A receiver with the record gets the same job without usage, which APEL's server accepts.
    let after = hand_over(&corrected, 2_000);
    assert_eq!(of(&after), [(0, 0)]);
    assert_eq!(after.len(), before.len());
    assert!(hand_over(&corrected, 3_000).is_empty(), "nothing changed since");
}

/// Wall time and core time of additions are what they state, whether the one is a multiple of the other or not.
#[test]
fn additions_keep_wall_time_and_core_time_as_stated() {
    let scene = Scene::new();
    let added = [
        ("even", "9000", "36000", (9000, 36_000, 0)),
        ("odd", "9001", "36000", (9001, 36_000, 0)),
        ("less", "-1000", "-3500", (-1000, -3500, 0)),
        ("core", "", "36000", (0, 36_000, 0)),
        // Without a core time a core each is taken, as of jobs, and the jobs are counted.
        ("wall", "3600", "", (3600, 3600, 10)),
    ];
    let rows = added.map(|(vo, wall_s, core_s, _)| {
        let job_n = if vo == "less" { -10 } else { 10 };
        format!("{vo},add,ALP-T2,2026-02,{vo},a,,,,{job_n},{wall_s},{core_s},,,E. Office,log lost,2026-04-03\n")
    });
    let usage = gather(&lake(&scene, &rows.concat()), &Selection::default()).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, site_vo_month).unwrap();
    for (vo, _, _, expected) in added {
        let sums = sums[&("ALP-T2".to_owned(), vo.to_owned(), "2026-02".parse().unwrap())];
        assert_eq!(
            (sums.wall_ms / 1000, sums.core_wall_ms / 1000, sums.core_unknown_job_n),
            expected,
            "{vo}"
        );
    }
    let noted = "1 corrections add usage without a wall time, which counts as nothing";
    assert!(usage.notes.iter().any(|note| note == noted), "{:?}", usage.notes);
}
