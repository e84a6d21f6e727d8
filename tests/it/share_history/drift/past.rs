//! Jobs that the records lack, usage from before them, and other factors.

use super::super::{DumpJob, at};
use super::{ALL, DriftScene, NO_DECAY, ONE_DAY, assert_causes, jobs, row};

#[test]
fn usage_of_a_user_without_a_job_is_of_lost_jobs() {
    let jobs: Vec<DumpJob> = jobs().into_iter().filter(|job| job.user != "cid").collect();
    let scene = DriftScene::new(&jobs, NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    *counters.get_mut("cid").unwrap() = 7200;
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    let of = row(&rows, "inst/cid");
    assert_eq!(
        (of.cause.as_str(), of.evidence.as_str()),
        ("jobs_lost", "the records have no job of it")
    );
    assert_eq!(of.difference.parse(), Ok(7200.0));
    assert_eq!(row(&rows, "inst/").cause, "jobs_lost");
    assert_eq!(row(&rows, "root/").cause, "jobs_lost");
    assert_eq!(row(&rows, "lab/").cause, "agrees");
}

#[test]
fn usage_that_grew_since_the_listing_before_is_of_lost_jobs() {
    let scene = DriftScene::new(&jobs(), ONE_DAY);
    scene.states("2026-03-08", &scene.computed("2026-03-08", &[]));
    let mut counters = scene.computed("2026-03-11", &[]);
    *counters.get_mut("bob").unwrap() += 50_000;
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    let of = row(&rows, "lab/bob");
    assert_eq!(of.cause, "jobs_lost");
    assert!(of.evidence.contains("since the listing before"), "{of:?}");
    assert_eq!(row(&rows, "lab/ann").cause, "agrees");
    assert!(
        row(&rows, "lab/")
            .evidence
            .starts_with("of the user in it that differs most: "),
        "{rows:#?}"
    );
}

#[test]
fn usage_that_was_missing_before_and_decayed_is_of_lost_jobs() {
    let scene = DriftScene::new(&jobs(), ONE_DAY);
    let mut counters = scene.computed("2026-03-10", &[]);
    *counters.get_mut("bob").unwrap() += 80_000;
    scene.states("2026-03-10", &counters);
    let mut counters = scene.computed("2026-03-11", &[]);
    *counters.get_mut("bob").unwrap() += 40_000;
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    let of = row(&rows, "lab/bob");
    assert_eq!(of.cause, "jobs_lost");
    assert!(of.evidence.contains("the same usage was missing"), "{of:?}");
}

/// Bob's jobs run for 80 500 seconds: of each second less than one billing second is truncated, and no listing before shows that
/// jobs are lost.
#[test]
fn what_whole_numbers_of_billing_may_lack_is_truncated() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    for (date, more) in [("2026-03-10", 70_000), ("2026-03-11", 80_000)] {
        let mut counters = scene.computed(date, &[]);
        *counters.get_mut("bob").unwrap() += more;
        scene.states(date, &counters);
    }
    let rows = scene.drift(&[]);
    for name in ["lab/bob", "lab/", "root/"] {
        let of = row(&rows, name);
        assert_eq!(of.cause, "truncated", "{rows:#?}");
        assert!(of.evidence.contains("up to 80500 billing seconds"), "{of:?}");
    }
    assert_eq!(row(&rows, "lab/ann").cause, "agrees");
    // Everyone has more: it is not usage from before the records either.
    let mut counters = scene.computed("2026-03-11", &[]);
    for (nth, counter) in counters.values_mut().enumerate() {
        *counter += 5000 + 777 * i64::try_from(nth).unwrap();
    }
    scene.states("2026-03-11", &counters);
    assert_causes(&scene.causes(), &ALL.map(|name| (name, "truncated")));
}

#[test]
fn without_another_listing_more_usage_of_one_user_with_jobs_is_unknown() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    *counters.get_mut("bob").unwrap() += 90_000;
    scene.states("2026-03-11", &counters);
    assert_causes(
        &scene.causes(),
        &[
            ("lab/bob", "unknown"),
            ("lab/", "unknown"),
            ("lab/ann", "agrees"),
            ("inst/", "agrees"),
        ],
    );
}

#[test]
fn more_usage_of_everyone_is_of_purged_jobs_unless_it_would_be_gone() {
    let keys = "half_life = \"7-00:00:00\"\ndecay = \"continuous\"";
    // Records of five days; the counters hold those of ten.
    let kept: Vec<DumpJob> = jobs()
        .into_iter()
        .filter(|job| job.start_s >= at("2026-03-06T00:00:00"))
        .collect();
    let complete = DriftScene::new(&jobs(), keys).computed("2026-03-11", &[]);
    let scene = DriftScene::new(&kept, keys);
    scene.states("2026-03-11", &complete);
    let rows = scene.drift(&[]);
    for name in ALL {
        assert_eq!(row(&rows, name).cause, "purge", "{rows:#?}");
    }
    assert!(
        row(&rows, "lab/bob").evidence.contains("2026-03-06T06:10:00Z"),
        "{rows:#?}"
    );
    // With a half-life of minutes nothing of the time before is left: the rule of purged jobs does not hold.
    let fast = DriftScene::new(&kept, "half_life = \"00:30:00\"\ndecay = \"continuous\"");
    let mut counters = fast.computed("2026-03-11", &[]);
    for (nth, counter) in counters.values_mut().enumerate() {
        *counter += 100 + 57 * i64::try_from(nth).unwrap();
    }
    fast.states("2026-03-11", &counters);
    assert_causes(&fast.causes(), &[("lab/ann", "unknown"), ("inst/cid", "unknown")]);
}

#[test]
fn one_ratio_of_all_associations_is_another_factor() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    for counter in counters.values_mut() {
        *counter /= 4;
    }
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    for name in ALL {
        assert_eq!(row(&rows, name).cause, "factor_change", "{rows:#?}");
    }
    let of = row(&rows, "lab/ann");
    assert!(
        of.evidence.contains("0.250 times the computed usage in all 3"),
        "{of:?}"
    );
}

#[test]
fn another_half_life_is_found() {
    for (keys, other, expected) in [
        (ONE_DAY, "3-00:00:00", "a half-life of 3-00:00:00 explains it"),
        (
            "half_life = \"2-00:00:00\"",
            "12:00:00",
            "a half-life of 0-12:00:00 explains it",
        ),
        (ONE_DAY, "none", "usage without decay explains it"),
    ] {
        let scene = DriftScene::new(&jobs(), keys);
        scene.states("2026-03-11", &scene.computed("2026-03-11", &["--half-life", other]));
        let rows = scene.drift(&[]);
        let of = row(&rows, "lab/ann");
        assert_eq!(of.cause, "factor_change", "{rows:#?}");
        assert!(of.evidence.contains(expected), "{of:?}");
        // The report with that half-life agrees.
        let rows = scene.drift(&["--half-life", other]);
        assert!(rows.iter().all(|row| row.cause == "agrees"), "{rows:#?}");
    }
}
