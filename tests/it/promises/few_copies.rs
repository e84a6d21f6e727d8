//! Few jobs that are recorded under two identities: one is proof, a few over many files are, and the others are a warning.

use gridtally::run::RunOptions;

use super::copies::{HEADER, HOUR, NIGHT, job, night, pipeline, scene, stopped};

/// A dump without the column of the cluster.
pub(super) fn without_cluster(dump: &str) -> String {
    let rows = dump.lines().map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let kept = cells.iter().enumerate().filter(|(at, _)| *at != 2);
        kept.map(|(_, cell)| *cell).collect::<Vec<_>>().join("|") + "\n"
    });
    rows.collect()
}

/// An overlap of any size, in a dump whose columns lack the cluster.
#[test]
fn one_job_of_a_dump_without_its_cluster_stops_the_run() {
    for overlap_n in [1, 2, 33] {
        let first = night("zoo", (100, 300), NIGHT, 0);
        let second = night("zoo", (400 - overlap_n, 300), NIGHT + (300 - overlap_n) * 211, 0);
        for (a, b) in [(&first, &without_cluster(&second)), (&without_cluster(&first), &second)] {
            let scene = scene(&[("1.txt", a.clone()), ("2.txt", b.clone())]);
            let why = stopped(&scene, &["1.txt", "2.txt"]);
            assert!(why.contains(&format!("2.txt: {overlap_n} of 300 jobs of ZOO")), "{why}");
            assert!(why.contains("without a name"), "{why}");
            scene.run(&pipeline(&["1.txt"]), "nightly");
            assert!(
                scene
                    .try_run(&pipeline(&["1.txt", "2.txt"]), "nightly", RunOptions::default())
                    .is_err()
            );
        }
    }
}

/// The jobs of a month, and two of them a night in dumps that were printed in another zone.
fn month_and_nights() -> Vec<(String, String)> {
    let of = |id: i64, shift_s| job("zoo", id, NIGHT + id * 40_000, 3000 + id * 7, shift_s);
    let month = HEADER.to_owned() + &(0..40).map(|id| of(id, 0)).collect::<String>();
    let nights = (0..20).map(|nth| {
        let jobs = of(2 * nth, HOUR) + &of(2 * nth + 1, HOUR);
        (format!("night{nth}.txt"), HEADER.to_owned() + &jobs)
    });
    std::iter::once(("month.txt".to_owned(), month)).chain(nights).collect()
}

#[test]
fn few_copies_in_each_of_many_files_stop_the_run() {
    let files = month_and_nights();
    let texts: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let scene = scene(&texts);
    // In one go.
    let why = stopped(&scene, &names);
    assert!(
        why.contains("2 of 2 jobs of ZOO") && why.contains("1:00 h earlier there"),
        "{why}"
    );
    // Run by run: two jobs are a warning, and with those of the next file they are no coincidence.
    scene.run(&pipeline(&names[..1]), "nightly");
    let report = scene.run(&pipeline(&names[..2]), "nightly");
    let [possible] = &report.possible_copies[..] else {
        panic!("{:?}", report.possible_copies)
    };
    assert_eq!((possible.job_n, possible.of_job_n, possible.shift_s), (2, 2, HOUR));
    let last = report.text();
    assert!(
        last.contains("perhaps counted twice: ") && report.copied_jobs.is_empty(),
        "{last}"
    );
    let stopped = scene
        .try_run(&pipeline(&names[..3]), "nightly", RunOptions::default())
        .unwrap_err();
    assert!(
        stopped.to_string().contains("night1.txt: 2 of 2 jobs of ZOO"),
        "{stopped}"
    );
}

#[test]
fn a_small_share_of_a_file_is_a_warning() {
    let scene = scene(&[
        ("1.txt", night("zoo", (100, 300), NIGHT, 0)),
        ("2.txt", night("zoo", (370, 400), NIGHT + 270 * 211, HOUR)),
    ]);
    let report = scene.run(&pipeline(&["1.txt", "2.txt"]), "lake");
    let [possible] = &report.possible_copies[..] else {
        panic!("{:?}", report.possible_copies)
    };
    assert_eq!((possible.job_n, possible.of_job_n), (30, 400));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json.pointer("/possible_copies/0/job_n"), Some(&serde_json::json!(30)));
}

/// A job that a scheduler of its own starts each hour under one number, in a dump an hour.
#[test]
fn one_job_that_comes_back_stops_no_run() {
    let files: Vec<(String, String)> = (0..24)
        .map(|hour| {
            let row = job("zoo", 7, NIGHT + hour * HOUR, 5 + hour % 3, 0);
            (format!("{hour}.txt"), HEADER.to_owned() + &row)
        })
        .collect();
    let texts: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let scene = scene(&texts);
    scene.run(&pipeline(&names), "lake");
    for n in 1..=names.len() {
        let report = scene.run(&pipeline(&names[..n]), "nightly");
        assert!(report.copied_jobs.is_empty(), "{}", report.text());
    }
}
