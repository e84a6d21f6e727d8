//! Small random lakes against plain loops.

use std::collections::BTreeMap;

use gridtally::fairshare::AssociationKey;
use gridtally::report::lake::Lake;
use gridtally::report::sshare::Sshare;
use gridtally::time::Day;

use super::plain::{PlainRule, PlainUsage};
use super::{DAY_S, DumpJob, HEAD, LABS, Scene, at, day, dump, fairshare, listing, real};

/// A generator of small numbers.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % n
    }
}

/// The days of a lake, in Zurich: clocks change on 2026-03-29, which has 23 hours.
const FIRST: &str = "2026-03-24";
const DAY_N: i32 = 12;

/// The first second of each local day, and of the one after the last.
fn edges_s(first: Day, last: Day) -> Vec<i64> {
    let is_summer = |of: Day| of > day("2026-03-29");
    let midnight = |of: Day| i64::from(of) * DAY_S - if is_summer(of) { 7_200 } else { 3_600 };
    (first..=last + 1).map(midnight).collect()
}

fn random_jobs(cluster: &'static str, random: &mut Lcg) -> Vec<DumpJob> {
    let begin_s = edges_s(day(FIRST), day(FIRST))[0];
    let who = [
        ("lab", "ann"),
        ("lab", "bob"),
        ("inst", "cid"),
        ("lab", "gus"),
        ("guest", "eva"),
    ];
    let mut jobs: Vec<DumpJob> = (0_u32..14)
        .map(|id| {
            let (account, user) = who[usize::try_from(random.below(5)).unwrap()];
            // Some begin and end at midnights, whole hours and calculations.
            let raster = [1, 300, 3_600, DAY_S / 4][usize::try_from(random.below(4)).unwrap()];
            let start_s = begin_s + random.below(i64::from(DAY_N - 3) * DAY_S / raster) * raster;
            let wall_s = (1 + random.below(50_000 / raster.min(25_000))) * raster;
            DumpJob {
                cluster,
                start_s,
                end_s: Some(start_s + wall_s),
                ..DumpJob::new(
                    id + 1,
                    account,
                    user,
                    "2026-01-01T00:00:00",
                    wall_s,
                    1 + random.below(40),
                )
            }
        })
        .collect();
    // Of the first day and the last, so that all lakes have the same days.
    jobs.push(DumpJob {
        cluster,
        start_s: begin_s,
        end_s: Some(begin_s + 7),
        ..DumpJob::new(100, "lab", "ann", "2026-01-01T00:00:00", 7, 1)
    });
    let end_s = begin_s + i64::from(DAY_N - 1) * DAY_S;
    jobs.push(DumpJob {
        cluster,
        start_s: end_s,
        end_s: Some(end_s + 7),
        ..DumpJob::new(101, "lab", "bob", "2026-01-01T00:00:00", 7, 1)
    });
    jobs
}

/// A cluster, the keys of its section, and the same in plain numbers.
struct RuleCase {
    cluster: &'static str,
    keys: &'static str,
    usage: PlainUsage,
}

fn cases() -> Vec<RuleCase> {
    let midnight = |date: &str| edges_s(day(date), day(date))[0];
    let daily: Vec<i64> = edges_s(day(FIRST), day(FIRST) + DAY_N);
    // Sundays.
    let weekly = vec![midnight("2026-03-22"), midnight("2026-03-29"), midnight("2026-04-05")];
    let monthly = vec![midnight("2026-03-01"), midnight("2026-04-01")];
    let case = |cluster, keys, rule, resets_s: &[i64]| RuleCase {
        cluster,
        keys,
        usage: PlainUsage {
            rule,
            resets_s: resets_s.to_vec(),
        },
    };
    let steps = |half_life_s, period_s, anchor: &str| PlainRule::Steps {
        half_life_s,
        period_s,
        anchor_s: at(anchor),
    };
    let continuous = |half_life_s| PlainRule::Continuous { half_life_s };
    vec![
        case("plain", "half_life = \"none\"", PlainRule::None, &[]),
        case(
            "plain-daily",
            "half_life = \"none\"\nreset = \"daily\"",
            PlainRule::None,
            &daily,
        ),
        // A half-life so long that its factor is one.
        case(
            "plain-calculated",
            "half_life = \"none\"\ncalc_period = \"01:07:00\"\ncalc_anchor = \"2026-03-25T10:11:12Z\"\nreset = \"daily\"",
            steps(i64::MAX, 4_020, "2026-03-25T10:11:12"),
            &daily,
        ),
        case(
            "continuous",
            "half_life = \"1-06:00:00\"\ndecay = \"continuous\"",
            continuous(DAY_S + 21_600),
            &[],
        ),
        case(
            "continuous-monthly",
            "half_life = \"10:00:00\"\ndecay = \"continuous\"\nreset = \"monthly\"",
            continuous(36_000),
            &monthly,
        ),
        case(
            "steps",
            "half_life = \"12:00:00\"\ncalc_period = \"00:05:00\"",
            steps(43_200, 300, "1970-01-01T00:00:00"),
            &[],
        ),
        case(
            "steps-weekly",
            "half_life = \"1-00:00:00\"\ncalc_period = \"01:07:00\"\ncalc_anchor = \"2026-03-25T10:11:12Z\"\nreset = \"weekly\"",
            steps(DAY_S, 4_020, "2026-03-25T10:11:12"),
            &weekly,
        ),
        case(
            "steps-daily",
            "half_life = \"1-00:00:00\"\ncalc_period = \"00:30:00\"\nreset = \"daily\"",
            steps(DAY_S, 1_800, "1970-01-01T00:00:00"),
            &daily,
        ),
        case(
            "halving",
            "half_life = \"2-00:00:00\"\ndecay = \"halving-steps\"",
            PlainRule::HalvingDays { half_life_day: 2 },
            &[],
        ),
        case(
            "halving-monthly",
            "half_life = \"1-00:00:00\"\ndecay = \"halving-steps\"\nreset = \"monthly\"",
            PlainRule::HalvingDays { half_life_day: 1 },
            &monthly,
        ),
    ]
}

/// A millionth for every job and every day, each rounded to one, and what a sum of seconds is off an integral.
fn assert_usage(is_e6: i128, expected: f64, what: &str) {
    let is = real(is_e6) / 1e6;
    let tolerance = 2e-5 + expected.abs() * 2e-9;
    assert!((is - expected).abs() <= tolerance, "{what}: {is} is not {expected}");
}

fn by_association(jobs: &[DumpJob]) -> BTreeMap<String, Vec<&DumpJob>> {
    let mut found: BTreeMap<String, Vec<&DumpJob>> = BTreeMap::new();
    for job in jobs {
        found
            .entry(format!("{}/{}", job.account, job.user))
            .or_default()
            .push(job);
    }
    found
}

fn assert_lake_is_as_plain_loops_give(seed: u64) {
    let cases = cases();
    let mut random = Lcg(seed);
    let jobs: Vec<DumpJob> = random_jobs("", &mut random);
    let of = |cluster: &'static str, nth: u32| {
        jobs.iter().map(move |job| DumpJob {
            id: job.id + 1_000 * nth,
            cluster,
            ..job.clone()
        })
    };
    let all: Vec<DumpJob> = cases
        .iter()
        .zip(0..)
        .flat_map(|(case, nth)| of(case.cluster, nth))
        .collect();
    let scene = Scene::new(&[("jobs-1.txt", &dump(&all))]);
    let mut pipeline = HEAD.replace("max_rejected", "calendar_timezone = \"Europe/Zurich\"\nmax_rejected");
    for case in &cases {
        scene.write(&format!("shares-{}.txt", case.cluster), &listing(case.cluster, LABS));
        pipeline.push_str(&fairshare(case.cluster, case.keys));
    }
    scene.run(&pipeline);
    let (first, last) = (day(FIRST), day(FIRST) + DAY_N - 1);
    let edges = edges_s(first, last);
    let of_association = by_association(&jobs);
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    for case in &cases {
        let rows = scene.rows("lake", case.cluster);
        let days: Vec<Day> = rows.iter().map(|row| row.day).collect();
        assert_eq!(
            (days.first(), days.last()),
            (Some(&first), Some(&last)),
            "{} of {seed}",
            case.cluster
        );
        for (name, jobs) in &of_association {
            let expected = case.usage.days(jobs, &edges);
            for (day, expected) in (first..=last).zip(expected) {
                let row = rows.iter().find(|row| row.day == day && row.name() == *name);
                let what = format!("{} of {seed}, {name} on day {}", case.cluster, day - first);
                assert_usage(row.map_or(0, |row| row.own_e6), expected, &what);
            }
        }
        for _ in 0..4 {
            let at_s = edges[0] + random.below(i64::from(DAY_N) * DAY_S);
            assert_instant(&lake, case, &of_association, at_s);
        }
        assert_instant(&lake, case, &of_association, edges[7]);
    }
}

/// `account/user`; nothing is restricted to a partition here.
fn name_of(key: &AssociationKey) -> String {
    format!("{}/{}", key.account, key.user.as_deref().unwrap_or_default())
}

/// The report of one instant.
fn assert_instant(lake: &Lake, case: &RuleCase, jobs: &BTreeMap<String, Vec<&DumpJob>>, at_s: i64) {
    let sshare = Sshare::of_lake(lake, Some(case.cluster), Some(at_s), |_| Ok(())).unwrap();
    for (name, jobs) in jobs {
        let expected = case.usage.instant(jobs, at_s);
        let what = format!("{} at {at_s}, {name}", case.cluster);
        let tree = &sshare.instant.tree;
        let id = tree.iter().find(|(_, association)| name_of(&association.key) == *name);
        let is_e6 = if let Some((id, _)) = id {
            sshare.instant.usage.own_e6(id).unwrap()
        } else {
            let unlisted = sshare.instant.unlisted_e6.iter();
            unlisted
                .filter(|(key, _)| name_of(key) == *name)
                .map(|(_, usage_e6)| *usage_e6)
                .sum()
        };
        assert_usage(is_e6, expected, &what);
    }
}

#[test]
fn random_lakes_are_as_plain_loops_give() {
    for seed in [1, 20_261_124, 77_777] {
        assert_lake_is_as_plain_loops_give(seed);
    }
}
