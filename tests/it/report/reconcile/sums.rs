//! Defects between accounts of which at least one has sums alone.

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::{ApelRequest, publish};
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::reconcile::compare::{ReconcileComparison, compare};
use gridtally::report::reconcile::difference_cause::Cause;
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::work_scale::WorkScale;

use super::super::scene::{Scene, texts};
use crate::support::collect::shared;

/// A real month: OSG's normalised summaries of August and September 2015, as last published.
fn real() -> Option<Vec<MessageRecord>> {
    let folder = shared("reconcile", "data/apel/real-2015")?;
    let mut reported = Vec::new();
    for name in ["send_07_2015.apel__2015-09-09", "send_08_2015.apel__2015-09-09_b0de"] {
        let mut files = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path());
        let file = files.find(|path| path.to_string_lossy().contains(name)).unwrap();
        reported.extend(MessageRecord::read(&std::fs::read_to_string(file).unwrap()).unwrap());
    }
    Some(reported)
}

fn side(reported: &[MessageRecord]) -> UsageSource {
    UsageSource::of_messages(reported, &Selection::default(), WorkScale::Hs23).unwrap()
}

fn set(reported: &mut MessageRecord, key: &str, value: i64) {
    reported.fields.insert(key.to_owned(), value.to_string());
}

const DURATIONS: [&str; 4] = [
    "WallDuration",
    "CpuDuration",
    "NormalisedWallDuration",
    "NormalisedCpuDuration",
];

/// Every record changed by a defect, against the good ones.
fn with_defect(good: &[MessageRecord], defect: impl Fn(&mut MessageRecord)) -> ReconcileComparison {
    let mut bad = good.to_vec();
    bad.iter_mut().for_each(defect);
    compare(&side(good), &side(&bad), 0).unwrap()
}

/// All causes, and how often each; cells too small to prove anything may be unexplained, but never wrongly explained.
fn assert_all(comparison: &ReconcileComparison, cause: Cause, at_least: usize) {
    let named = comparison.differences.iter().filter(|one| one.has(cause)).count();
    for one in &comparison.differences {
        let is_small = one.a.wall_s < 200_000 && one.has(Cause::Unexplained);
        assert!(one.has(cause) || is_small, "{one:?}");
        assert!(!one.shares[0].evidence.is_empty());
    }
    assert!(named >= at_least, "{named} of {}", comparison.differences.len());
}

#[test]
fn defects_of_every_record_are_named() {
    let Some(good) = real() else { return };
    let same = compare(&side(&good), &side(&good), 0).unwrap();
    assert!(same.compared_n > 100, "{}", same.compared_n);
    assert_eq!(same.differences, []);
    let scaled = |divide: i64| {
        with_defect(&good, |reported| {
            for key in ["NormalisedWallDuration", "NormalisedCpuDuration"] {
                let value = reported.number(key).unwrap();
                set(reported, key, value / divide);
            }
        })
    };
    assert_all(&scaled(250), Cause::By250, 70);
    assert_all(&scaled(4), Cause::OtherFactor, 70);
    let hours = with_defect(&good, |reported| {
        for key in DURATIONS {
            let value = reported.number(key).unwrap();
            set(reported, key, (value + 1800) / 3600);
        }
    });
    assert_all(&hours, Cause::HoursOrSeconds, 70);
    let cores = with_defect(&good, |reported| {
        let n = reported.number("Processors").unwrap();
        for key in ["WallDuration", "NormalisedWallDuration"] {
            let value = reported.number(key).unwrap();
            set(reported, key, value * n);
        }
    });
    assert_all(&cores, Cause::WallTimesCores, 20);
    let renamed = with_defect(&good, |reported| {
        if reported.site() == "AGLT2" {
            reported.fields.insert("Site".to_owned(), "AGLT2-NEW".to_owned());
        }
    });
    assert_all(&renamed, Cause::OtherName, 4);
    // A defect nobody wrote down: CPU time 7 % short.
    let odd = with_defect(&good, |reported| {
        let value = reported.number("CpuDuration").unwrap();
        set(reported, "CpuDuration", value * 93 / 100);
    });
    assert_all(&odd, Cause::Unexplained, 70);
    // And one that grows with what it spoils: times and jobs of each record by a share of its own.
    let uneven = with_defect(&good, |reported| {
        let share = 1_010 + reported.number("NumberOfJobs").unwrap() % 90;
        for key in ["WallDuration", "CpuDuration", "NumberOfJobs"] {
            let value = reported.number(key).unwrap();
            set(reported, key, value * share / 1_000 + 5);
        }
    });
    assert_all(&uneven, Cause::Unexplained, 70);
    let slack = {
        let mut bad = good.clone();
        for reported in &mut bad {
            let value = reported.number("CpuDuration").unwrap();
            set(reported, "CpuDuration", value * 9993 / 10_000);
        }
        compare(&side(&good), &side(&bad), 1_000).unwrap()
    };
    assert!(
        slack.differences.iter().all(|one| one.a.cpu_ms < 3_000_000),
        "{:?}",
        slack.differences
    );
}

#[test]
fn defects_of_single_records_are_named() {
    let Some(good) = real() else { return };
    // The first record dropped, as a publisher's script did for eleven months.
    let dropped = compare(&side(&good), &side(&good[1..]), 0).unwrap();
    assert_eq!(dropped.differences.len(), 1);
    assert_all(&dropped, Cause::MissingJobs, 1);
    assert!(
        dropped.differences[0].shares[0].evidence.contains("lacks 1 of"),
        "{dropped:?}"
    );
    // VO names compared with regard to case: half of the records fall under another spelling and are lost.
    let mut spelled = good.clone();
    for reported in spelled
        .iter_mut()
        .filter(|reported| reported.number("Processors") == Some(1) && reported.vo() == "cms")
    {
        reported.fields.insert("VO".to_owned(), "CMS".to_owned());
    }
    let folded = compare(&side(&good), &side(&spelled), 0).unwrap();
    assert_all(&folded, Cause::CaseOfNames, 5);
    let lower: Vec<MessageRecord> = spelled
        .iter()
        .filter(|reported| reported.vo() != "CMS")
        .cloned()
        .collect();
    let both = |reported: &MessageRecord| {
        let of = |reported: &MessageRecord| (reported.site().to_owned(), reported.month());
        lower.iter().any(|kept| of(kept) == of(reported) && kept.vo() == "cms")
    };
    let reported: Vec<MessageRecord> = spelled
        .iter()
        .filter(|reported| reported.vo() != "CMS" || both(reported))
        .cloned()
        .collect();
    let lost = compare(&side(&reported), &side(&lower), 0).unwrap();
    assert_all(&lost, Cause::CaseOfNames, 2);
    // A republished month under another number of nodes, and the old rows left behind.
    let mut stale = good.clone();
    for reported in good.iter().filter(|reported| reported.site() == "BNL-ATLAS") {
        let mut twin = reported.clone();
        set(&mut twin, "NodeCount", 0);
        stale.push(twin);
    }
    assert_all(&compare(&side(&good), &side(&stale), 0).unwrap(), Cause::StaleRows, 2);
    // Everything twice, under keys of its own.
    let mut twice = good.clone();
    for reported in &good {
        let mut twin = reported.clone();
        twin.fields.insert("SubmitHost".to_owned(), "elsewhere".to_owned());
        twin.fields.insert("VOGroup".to_owned(), "/other".to_owned());
        twice.push(twin);
    }
    assert_all(
        &compare(&side(&good), &side(&twice), 0).unwrap(),
        Cause::DoubleCounting,
        70,
    );
    // A site's factor of July used in August.
    let factor = |reported: &MessageRecord| {
        (
            reported.number("NormalisedWallDuration").unwrap(),
            reported.number("WallDuration").unwrap(),
        )
    };
    let (mut before, mut after) = (good.clone(), good.clone());
    for (list, is_stale) in [(&mut before, false), (&mut after, true)] {
        for reported in list
            .iter_mut()
            .filter(|reported| reported.site() == "MWT2" || reported.site() == "AGLT2")
        {
            let (_, wall) = factor(reported);
            let cpu = reported.number("CpuDuration").unwrap();
            let is_new = reported.number("Month") == Some(8) && !is_stale;
            let level = if is_new { 12 } else { 10 };
            set(reported, "NormalisedWallDuration", wall * level);
            set(reported, "NormalisedCpuDuration", cpu * level);
        }
    }
    assert_all(
        &compare(&side(&before), &side(&after), 0).unwrap(),
        Cause::StaleFactor,
        2,
    );
}

/// Real jobs of a lake against summaries of the same jobs whose months were cut in local time, and with one record lost.
#[test]
fn a_lake_is_held_against_what_was_received() {
    let Some(folder) = shared("a_lake_is_held_against_what_was_received", "data/apel/golden/messages") else {
        return;
    };
    let scene = Scene::new();
    let jobs = folder.join("0001-job-v0.3-grid.msg");
    let lake = scene.of_messages("lake", &[&jobs]);
    scene.send(&lake, MessageKind::SummaryV02, "sent");
    scene.send(&lake, MessageKind::Sync, "sync");
    let a = UsageSource::of_lake(
        Lake::open(lake.store.url()).unwrap(),
        None,
        &Selection::default(),
        WorkScale::Hs23,
    )
    .unwrap();
    let received = |folder: &str| {
        let path = scene.path(folder);
        UsageSource::open(path.to_str().unwrap(), None, &Selection::default(), WorkScale::Hs23).unwrap()
    };
    let same = compare(&a, &received("sent"), 0).unwrap();
    assert!(
        same.compared_n > 20 && same.differences.is_empty(),
        "{:?}",
        same.differences.first()
    );
    assert_eq!(compare(&a, &received("sync"), 0).unwrap().differences, []);
    // The same jobs, ended five hours and a half later by a clock that is not UTC.
    let mut local = String::from("APEL-individual-job-message: v0.3\n");
    for mut reported in MessageRecord::read(&std::fs::read_to_string(&jobs).unwrap()).unwrap() {
        for key in ["StartTime", "EndTime"] {
            let value = reported.number(key).unwrap();
            set(&mut reported, key, value + 19_800);
        }
        local.push_str(&reported.text());
        local.push_str("%%\n");
    }
    scene.write("local.msg", &local);
    let moved = scene.of_messages("local-lake", &[&scene.path("local.msg")]);
    scene.send(&moved, MessageKind::SummaryV02, "local");
    let cut = compare(&a, &received("local"), 0).unwrap();
    assert!(!cut.differences.is_empty());
    for one in &cut.differences {
        assert_eq!(one.shares[0].cause, Cause::MonthBoundary, "{one:?}");
    }
    // The zone of the clock is among those that every single one names, or between two of them.
    let minutes = |zone: &str| -> i64 {
        let (hours, quarter) = zone.trim_start_matches("UTC").split_once(':').unwrap();
        let minutes = hours[1..].parse::<i64>().unwrap() * 60 + quarter.parse::<i64>().unwrap();
        if hours.starts_with('-') { -minutes } else { minutes }
    };
    for one in &cut.differences {
        let (_, reported) = one.shares[0].evidence.split_once("are cut at ").unwrap();
        let has_it = reported.split(", or ").any(|run| {
            let (first, last) = run.split_once(" to ").unwrap_or((run, run));
            (minutes(first)..=minutes(last)).contains(&330)
        });
        assert!(has_it, "{one:?}");
    }
    // A sync record that counts one job more.
    let text = texts(&scene.path("sync")).concat();
    let mut counts = MessageRecord::read(&text).unwrap();
    let n = counts[0].job_n();
    set(&mut counts[0], "NumberOfJobs", n + 1);
    let short = compare(&a, &side(&counts), 0).unwrap();
    assert_eq!(short.differences.len(), 1);
    assert_eq!(short.differences[0].shares[0].cause, Cause::MissingJobs);
}

/// Messages without names, whose benchmarks are dictionaries, against the lake they were made of; and one record short.
#[test]
fn what_one_side_withholds_hides_no_cause() {
    let Some(folder) = shared("what_one_side_withholds_hides_no_cause", "data/apel/golden/messages") else {
        return;
    };
    let scene = Scene::new();
    let lake = scene.of_messages("lake", &[&folder.join("0001-job-v0.3-grid.msg")]);
    let a = UsageSource::of_lake(
        Lake::open(lake.store.url()).unwrap(),
        None,
        &Selection::default(),
        WorkScale::Hs23,
    )
    .unwrap();
    // A dictionary of benchmarks is read as the server does; without names and without one record of them all.
    let request = ApelRequest {
        kinds: vec![MessageKind::SummaryV04],
        batch_records: 10_000,
        ..ApelRequest::default()
    };
    let mut nameless = Vec::new();
    publish(&lake, &request, &mut |_, _, _, _, text| {
        nameless.extend(MessageRecord::read(&text)?);
        Ok(())
    })
    .unwrap();
    // Without names, rows of users with another spelling of a VO become one row in one spelling: that is reported.
    let causes = |reported: &[MessageRecord]| -> Vec<Cause> {
        let differences = compare(&a, &side(reported), 0).unwrap().differences;
        let causes = differences.iter().map(|one| one.shares[0].cause);
        causes.filter(|cause| *cause != Cause::CaseOfNames).collect()
    };
    assert_eq!(causes(&nameless), []);
    let largest = nameless
        .iter()
        .position(|reported| reported.vo() == "lhcb" && reported.job_n() > 0)
        .unwrap();
    nameless.remove(largest);
    assert_eq!(causes(&nameless), [Cause::MissingJobs]);
}
