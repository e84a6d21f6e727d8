//! Counters that were set to zero, as far as one or two listings show it.

use super::super::{DumpJob, at};
use super::{ALL, Counters, DriftScene, NO_DECAY, ONE_DAY, assert_causes, jobs, row};

/// What was used from a day on, by a lake of the jobs since then.
fn since(jobs: &[DumpJob], date: &str, keys: &str) -> Counters {
    let begin = at(&format!("{date}T00:00:00"));
    let later: Vec<DumpJob> = jobs.iter().filter(|job| job.start_s >= begin).cloned().collect();
    DriftScene::new(&later, keys).computed("2026-03-11", &[])
}

#[test]
fn usage_since_one_instant_in_all_associations_is_a_reset() {
    for keys in [NO_DECAY, ONE_DAY, "half_life = \"2-00:00:00\""] {
        let scene = DriftScene::new(&jobs(), keys);
        scene.states("2026-03-11", &since(&jobs(), "2026-03-06", keys));
        let rows = scene.drift(&[]);
        for name in ALL {
            assert_eq!(row(&rows, name).cause, "reset", "{keys} {rows:#?}");
        }
        let of = row(&rows, "lab/ann");
        // The last job before it ended at 2026-03-05T07:18:20 or later, the first one after it began at 06:10:00.
        assert!(
            of.evidence.contains("between 2026-03-05T0") && of.evidence.contains(" and 2026-03-06T06:1"),
            "{of:?}"
        );
    }
}

#[test]
fn a_counter_that_fell_since_a_listing_that_agrees_is_a_reset() {
    let scene = DriftScene::new(&jobs(), ONE_DAY);
    scene.states("2026-03-05", &scene.computed("2026-03-05", &[]));
    let mut counters = scene.computed("2026-03-11", &[]);
    let reset = since(&jobs(), "2026-03-10", ONE_DAY);
    counters.insert("bob", reset["bob"]);
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    let of = row(&rows, "lab/bob");
    assert_eq!(of.cause, "reset", "{rows:#?}");
    assert!(of.evidence.contains("the listing before agrees"), "{of:?}");
    assert_eq!(row(&rows, "lab/ann").cause, "agrees");
    // Without that listing one association alone shows nothing.
    std::fs::remove_file(scene.scene.path("sshare-2026-03-05.txt")).unwrap();
    let mut alone = DriftScene::new(&jobs(), ONE_DAY);
    alone.keys = ONE_DAY.to_owned();
    let early = since(&jobs(), "2026-03-09", ONE_DAY);
    let mut counters = alone.computed("2026-03-11", &[]);
    counters.insert("bob", i64::midpoint(counters["bob"], early["bob"]));
    alone.states("2026-03-11", &counters);
    assert_causes(&alone.causes(), &[("lab/bob", "unknown")]);
}

#[test]
fn a_counter_of_zero_with_jobs_is_a_reset() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    counters.insert("ann", 0);
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    assert_eq!(row(&rows, "lab/ann").cause, "reset");
    assert!(
        row(&rows, "lab/ann").evidence.contains("the counter is zero"),
        "{rows:#?}"
    );
    assert_eq!(row(&rows, "lab/").cause, "reset");
}

/// 2026-03-08 is a Sunday.
#[test]
fn a_reset_on_the_first_instant_of_a_period_is_one() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    counters.insert("ann", since(&jobs(), "2026-03-08", NO_DECAY)["ann"]);
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    let of = row(&rows, "lab/ann");
    assert_eq!(of.cause, "reset");
    assert!(of.evidence.contains("a reset of period WEEKLY falls on it"), "{of:?}");
}
