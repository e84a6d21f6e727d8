//! Numbers that no job has are refused one by one, and so are jobs whose sums do not fit; no sum is cut.

use gridtally::report::apel::jobs::{JobMessageLeftOut, JobMessageWanted, LeftOutCounts, each_job};
use gridtally::report::lake::{Lake, Selection};
use gridtally::summarise::budget::{LoadClass, MonthBudget, VAST_JOB, load};

use super::{DUMPS, HEADER, Scene, assert_same_files, lake, pipeline, rejects, row, sum};

/// As much CPU time as a job may have: 10^12 s.
const MOST: &str = "11574074-01:46:40";

fn source() -> String {
    format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}")
}

/// A job of ten times as much was taken, and some ninety of a hundred times as much made the sum of their group wrong.
#[test]
fn more_cpu_time_than_any_job_has_is_refused() {
    let scene = Scene::new();
    let rows: String = [(1, MOST), (2, "115740740-01:46:40"), (3, "00:10:00")]
        .map(|(id, cpu)| row(id, &[("TotalCPU", cpu)]))
        .concat();
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    let report = scene.run(&pipeline(&source(), ""));
    let refused = &report.refused[0];
    assert_eq!((refused.rows_read_n, refused.rejected_n), (3, 1), "{}", report.text());
    let first = refused.reasons[0].first.as_ref().unwrap();
    assert_eq!(first.line, 3, "{}", report.text());
}

/// Sums of some 9 200 jobs of 10^15 ms was still at 2^63 - 1; later they ended the run. Nights are lakes in one go.
#[test]
fn jobs_that_the_sums_of_a_month_cannot_take_are_refused_by_line() {
    let (vast_n, plain_n, night_n) = (400_u32, 10_u32, 4_u32);
    let policy = "id = \"hours\"\nversion = \"1\"\ntitle = \"Hours\"\nsource = \"a test\"\npool = \"cpu\"\n\
                  unit = \"core_hour\"\nformula = \"cores * seconds / 3600\"\n\
                  [[example]]\nname = \"one\"\nin = { cores = 1, seconds = 3600 }\nexpect = 1\n";
    let nights = |at_once: bool| {
        let scene = Scene::new();
        scene.write("hours.toml", policy);
        let pipeline = pipeline(&source(), "[[charge]]\npolicies = [\"hours.toml\"]");
        for night in 0..night_n {
            let vast = (0..vast_n / night_n).map(|nth| row(1000 * night + nth, &[("TotalCPU", MOST)]));
            let plain = (0..plain_n).map(|nth| row(1000 * night + 900 + nth, &[]));
            let later = [("Submit", "2026-11-02T00:00:00"), ("Start", "2026-11-02T00:00:00")];
            let other = row(
                1000 * night + 999,
                &[&later[..], &[("End", "2026-11-02T01:00:00")]].concat(),
            );
            let rows: String = vast.chain(plain).chain([other]).collect();
            scene.write(&format!("dumps/2026-11-1{night}.txt"), HEADER.to_owned() + &rows);
            if !at_once {
                scene.run(&pipeline);
            }
        }
        let report = at_once.then(|| scene.run(&pipeline));
        (scene, report)
    };
    let (scene, report) = nights(true);
    let report = report.unwrap();
    // 2^57 over the load of such a job: 10^15 ms, an hour of wall, core and node seconds, and one job.
    let room = (1_u64 << 57) / (1_000_000_000_000_000 + 3 * 3600 + 1);
    let refused_n = u64::from(vast_n) - room;
    assert_eq!(
        report.reasons.get("rejected/sum_limit"),
        Some(&refused_n),
        "{}",
        report.text()
    );
    let counted = u64::from(vast_n + (plain_n + 1) * night_n) - refused_n;
    assert_eq!(sum(&scene, "usage", "job_n"), i128::from(counted));
    assert_eq!(sum(&scene, "charges", "job_n"), i128::from(counted));
    // No ordinary job is refused for the vast ones.
    let cpu_ms = i128::from(room) * 1_000_000_000_000_000 + i128::from((plain_n + 1) * night_n) * 600_000;
    assert_eq!(sum(&scene, "usage", "cpu_ms"), cpu_ms);
    let refused = rejects(&scene);
    assert_eq!(u64::try_from(refused.len()).unwrap(), refused_n);
    assert!(
        refused.iter().all(|(path, line, reason)| reason == "sum_limit"
            && path.contains("dumps/2026-11-1")
            && (2..=101).contains(line)),
        "{refused:?}"
    );
    assert_eq!(sent(&scene), (counted, refused_n));
    let (whole, nightly) = (lake(&scene.path("lake")), lake(&nights(false).0.path("lake")));
    assert_same_files(&whole, &nightly);
}

/// Jobs that messages are made of, and those left out of them because usage does not hold them.
fn sent(scene: &Scene) -> (u64, u64) {
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let (mut sent_n, mut left_out) = (0, LeftOutCounts::new());
    let everything = JobMessageWanted::Everything;
    each_job(&lake, &Selection::default(), everything, &mut left_out, |_, _| {
        sent_n += 1;
        Ok(())
    })
    .unwrap();
    let refused_n = left_out[&JobMessageLeftOut::SumLimit.into()];
    (sent_n, refused_n.unsigned_abs())
}

/// Usage that lies far from the instants of its records comes from any of 2 760 months: it has a room of its own.
#[test]
fn jobs_far_from_their_record_have_a_room_of_their_own() {
    let day_ms = 86_400_000;
    let near = LoadClass::of(10, VAST_JOB, 400 * day_ms, 101 * day_ms, 700 * day_ms);
    let far = LoadClass::of(10, VAST_JOB, 400 * day_ms, 99 * day_ms, 400 * day_ms);
    let vast = LoadClass::of(VAST_JOB, VAST_JOB, 0, 0, 0);
    assert_eq!(
        (near, far, vast),
        (LoadClass::Ordinary, LoadClass::Distant, LoadClass::Vast)
    );
    // Of 22 months the near, of 2 760 the far: together they fit a sum of 63 bits.
    let most = |class: LoadClass| {
        let mut budget = MonthBudget::default();
        let mut taken = 0_u64;
        for load in (0..63).rev().map(|bit| 1_u64 << bit) {
            while budget.admit(class, load) {
                taken += load;
            }
        }
        u128::from(taken)
    };
    let near = most(LoadClass::Ordinary) + most(LoadClass::Vast);
    assert!(22 * near + 2_760 * most(LoadClass::Distant) <= u128::from(i64::MAX.unsigned_abs()));
    // Ten million cores for a month have room, in milliseconds.
    assert!(near > 10_000_000 * 31 * 86_400_000);
    assert_eq!(load([i64::MIN, -1, 2]), (1 << 63) + 3);
    assert_eq!(load([i64::MIN, i64::MIN, 1]), u64::MAX);
}
