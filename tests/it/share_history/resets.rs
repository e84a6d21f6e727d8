//! Resets and halving steps, by hand.

use super::{DAY_S, DumpJob, NO_DECAY, Scene, pipeline};

/// One billing second every second of 2026-02-25 to 2026-03-03, in seven jobs.
fn steady() -> Scene {
    let days = ["02-25", "02-26", "02-27", "02-28", "03-01", "03-02", "03-03"];
    let jobs = days.iter().zip(1_u32..);
    let job = |(day, id)| DumpJob::new(id, "lab", "ann", &format!("2026-{day}T00:00:00"), DAY_S, 1);
    Scene::of_jobs(&jobs.map(job).collect::<Vec<_>>())
}

fn days_of_ann(scene: &Scene) -> Vec<i128> {
    let rows = scene.rows("lake", "oak");
    let ann = rows.iter().filter(|row| row.name() == "lab/ann");
    ann.map(|row| row.own_e6.div_euclid(super::E6 * i128::from(DAY_S)))
        .collect()
}

fn added_of_ann(scene: &Scene) -> Vec<i128> {
    let rows = scene.rows("lake", "oak");
    let ann = rows.iter().filter(|row| row.name() == "lab/ann");
    ann.map(|row| row.added_e6.div_euclid(super::E6 * i128::from(DAY_S)))
        .collect()
}

/// The last job ends at a midnight, so that the day it begins has a row as well.
#[test]
fn a_reset_at_midnight_belongs_to_the_day_it_begins() {
    let scene = steady();
    // 2026-03-01 is a Sunday and the first of a month.
    for (reset, expected) in [
        ("none", [1, 2, 3, 4, 5, 6, 7, 7]),
        ("daily", [1, 1, 1, 1, 1, 1, 1, 0]),
        ("weekly", [1, 2, 3, 4, 1, 2, 3, 3]),
        ("monthly", [1, 2, 3, 4, 1, 2, 3, 3]),
        ("quarterly", [1, 2, 3, 4, 5, 6, 7, 7]),
    ] {
        scene.run(&pipeline(&format!("{NO_DECAY}\nreset = \"{reset}\"")));
        assert_eq!(days_of_ann(&scene), expected, "{reset}");
        assert_eq!(added_of_ann(&scene), [1, 1, 1, 1, 1, 1, 1, 0], "{reset}");
    }
    // At the instant itself the reset is done.
    scene.run(&pipeline(&format!("{NO_DECAY}\nreset = \"monthly\"")));
    let usage = |at: &str| {
        let (text, _) = scene.done(&["report", "sshare", "lake", "--parsable", "--at", at]);
        text.lines()
            .nth(1)
            .unwrap()
            .split('|')
            .nth(4)
            .unwrap()
            .parse::<i64>()
            .unwrap()
    };
    assert_eq!(usage("2026-02-28T23:59:59Z"), 4 * DAY_S - 1);
    assert_eq!(usage("2026-03-01T00:00:00Z"), 0);
    assert_eq!(usage("2026-03-01T00:00:01Z"), 1);
}

#[test]
fn yearly_and_quarterly_resets_are_at_new_year() {
    let jobs = [
        DumpJob::new(1, "lab", "ann", "2025-12-31T00:00:00", 2 * DAY_S, 1),
        DumpJob::new(2, "lab", "ann", "2026-01-02T06:00:00", DAY_S / 2, 2),
    ];
    let scene = Scene::of_jobs(&jobs);
    for (reset, expected) in [("yearly", [1, 1, 2]), ("quarterly", [1, 1, 2]), ("none", [1, 2, 3])] {
        scene.run(&pipeline(&format!("{NO_DECAY}\nreset = \"{reset}\"")));
        assert_eq!(days_of_ann(&scene), expected, "{reset}");
    }
}

#[test]
fn in_halving_steps_the_last_half_life_counts_in_full() {
    let scene = steady();
    scene.run(&pipeline("half_life = \"2-00:00:00\"\ndecay = \"halving-steps\""));
    // In halves of days of full use: 1, 2, then a half of the first day, and so on.
    let rows = scene.rows("lake", "oak");
    let halves: Vec<i128> = (rows.iter())
        .filter(|row| row.name() == "lab/ann")
        .map(|row| row.own_e6 * 8 / (super::E6 * i128::from(DAY_S)))
        .collect();
    // Eighths of a day: two days of 8, two of 4, two of 2, two of 1.
    assert_eq!(halves, [8, 16, 20, 24, 26, 28, 29, 22]);
    scene.run(&pipeline(
        "half_life = \"2-00:00:00\"\ndecay = \"halving-steps\"\nreset = \"weekly\"",
    ));
    let rows = scene.rows("lake", "oak");
    let of_march: Vec<i128> = (rows.iter())
        .filter(|row| row.name() == "lab/ann")
        .map(|row| row.own_e6 * 8 / (super::E6 * i128::from(DAY_S)))
        .collect();
    assert_eq!(of_march, [8, 16, 20, 24, 8, 16, 20, 16]);
}

/// A half-life of seven days ends at another hour of local time across a change of clocks, in the dataset as in the report.
#[test]
fn halvings_are_counted_in_hours_where_clocks_change() {
    let instants = [
        // The day ends at 22:00Z, 168 hours after 2026-03-26T22:00:00Z; at that of autumn at 23:00Z.
        ("2026-03-26T22:00:00", "2026-04-02", "2026-04-02T22:00:00Z", 36_000),
        ("2026-03-26T21:00:00", "2026-04-02", "2026-04-02T22:00:00Z", 18_000),
        ("2026-10-20T22:00:00", "2026-10-27", "2026-10-27T23:00:00Z", 18_000),
        ("2026-10-20T23:00:00", "2026-10-27", "2026-10-27T23:00:00Z", 36_000),
    ];
    for (start, date, ends, expected) in instants {
        let jobs = [
            DumpJob::new(1, "lab", "ann", start, 3600, 10),
            // So that there is a row of the day.
            DumpJob::new(2, "lab", "bob", &format!("{date}T12:00:00"), 3600, 10),
        ];
        let scene = Scene::of_jobs(&jobs);
        let in_utc = pipeline("half_life = \"7-00:00:00\"\ndecay = \"halving-steps\"");
        let in_zurich = in_utc.replace("max_rejected", "calendar_timezone = \"Europe/Zurich\"\nmax_rejected");
        assert_ne!(in_utc, in_zurich);
        scene.run(&in_zurich);
        let own_e6 = scene.row(date, "lab/ann").map(|row| row.own_e6);
        assert_eq!(own_e6, Some(expected * super::E6), "{start}");
        let (text, _) = scene.done(&["report", "sshare", "lake", "--users", "--parsable", "--at", ends]);
        let of_ann = text.lines().filter(|line| line.contains("|ann|"));
        let raw_usage = of_ann.map(|line| line.split('|').nth(4).unwrap().parse::<i128>().unwrap());
        assert_eq!(raw_usage.sum::<i128>(), expected, "{start}: {text}");
    }
}

/// Calculations every 6 hours from 03:00 on: the reset of midnight is done at 03:00, which counts the complete period before.
#[test]
fn under_steps_the_first_calculation_after_midnight_resets() {
    let scene = Scene::of_jobs(&[DumpJob::new(1, "lab", "ann", "2026-02-28T12:00:00", DAY_S, 1)]);
    // So long a half-life that decay is below the seconds that are compared.
    scene.run(&pipeline(
        "half_life = \"49000-00:00:00\"\ncalc_period = \"06:00:00\"\ncalc_anchor = \"2026-01-01T03:00:00Z\"\nreset = \"monthly\"",
    ));
    // Up to the calculation of 21:00, nine hours.
    let own = |date: &str| super::real(scene.row(date, "lab/ann").unwrap().own_e6) / 1e6;
    assert!((own("2026-02-28") - 9.0 * 3600.0).abs() < 1.0, "{}", own("2026-02-28"));
    // From 21:00 to the end at 12:00.
    assert!((own("2026-03-01") - 15.0 * 3600.0).abs() < 1.0, "{}", own("2026-03-01"));
}

/// Calculations every 30 minutes from 00:20 on: the first one after midnight resets, in the report and in the dataset, with a
/// half-life so long that nothing decays in a day and with none.
#[test]
fn without_decay_the_first_calculation_after_midnight_resets_too() {
    let jobs = [
        DumpJob::new(1, "lab", "ann", "2026-03-02T22:00:00", 5 * 3600, 1),
        DumpJob::new(2, "inst", "cid", "2026-03-03T00:05:00", 600, 1),
    ];
    let scene = Scene::of_jobs(&jobs);
    for half_life in ["30000-00:00:00", "none"] {
        scene.run(&pipeline(&format!(
            "half_life = \"{half_life}\"\nreset = \"daily\"\ncalc_period = \"00:30:00\"\n\
             calc_anchor = \"2026-01-01T00:20:00Z\""
        )));
        // What decays in hours of so long a half-life is less than a second, which is cut off.
        let is_near = |found: i64, expected: i64| found == expected || (half_life != "none" && found + 1 == expected);
        for (at, ann_s, cid_s) in [
            ("2026-03-02T23:59:59Z", 6600, 0),
            ("2026-03-03T00:00:00Z", 6600, 0),
            ("2026-03-03T00:10:00Z", 6600, 0),
            ("2026-03-03T00:19:59Z", 6600, 600),
            ("2026-03-03T00:20:00Z", 1800, 0),
            ("2026-03-03T00:25:00Z", 1800, 0),
            ("2026-03-03T04:00:00Z", 11_400, 0),
        ] {
            let (text, _) = scene.done(&["report", "sshare", "lake", "--users", "--parsable", "--at", at]);
            for (user, expected) in [("|ann|", ann_s), ("|cid|", cid_s)] {
                let of_user = text.lines().filter(|line| line.contains(user));
                let raw_usage = of_user.map(|line| line.split('|').nth(4).unwrap().parse::<i64>().unwrap());
                let found: i64 = raw_usage.sum();
                assert!(
                    is_near(found, expected),
                    "{half_life} at {at}, {user}: {found} is not {expected}"
                );
            }
        }
        let own_s = |date: &str, name: &str| {
            let own_e6 = scene.row(date, name).map_or(0, |row| row.own_e6);
            i64::try_from((own_e6 + super::E6 / 2).div_euclid(super::E6)).unwrap()
        };
        for (date, ann_s, cid_s) in [("2026-03-02", 6600, 0), ("2026-03-03", 11_400, 0)] {
            assert!(is_near(own_s(date, "lab/ann"), ann_s), "{half_life} on {date}");
            assert_eq!(own_s(date, "inst/cid"), cid_s, "{half_life} on {date}");
        }
    }
}
