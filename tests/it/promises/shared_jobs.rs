//! The dump of one cluster that is read for two sites, in files that differ by a byte or by many rows.

use gridtally::ingest::shared_jobs::SharedJobs;
use gridtally::run::run_report::{RunReport, Status};

use super::copies::{HEADER, HOUR, NIGHT, job, night};
use super::scene::{Pipeline, Scene, Source, assert_same};

const DAY: i64 = 24 * HOUR;

/// Each source reads what is in its folder, for a site of its own.
fn pipeline(folders: &[&'static str]) -> Pipeline {
    let mut pipeline = Pipeline::of(Source {
        name: "",
        paths: Vec::new(),
        keys: String::new(),
    });
    pipeline.sources = folders
        .iter()
        .map(|folder| Source {
            name: folder,
            paths: vec![format!("data/{folder}")],
            keys: format!("format = \"sacct\"\nsite = \"{}\"\n", folder.to_uppercase()),
        })
        .collect();
    pipeline
}

fn scene(files: &[(&str, &[u8])]) -> Scene {
    let scene = Scene::empty();
    for (path, bytes) in files {
        scene.write(&format!("data/{path}"), bytes);
    }
    scene
}

/// The one report of shared jobs that a run has.
fn only(report: &RunReport) -> &SharedJobs {
    let [shared] = &report.shared_jobs[..] else {
        panic!("{:?}", report.shared_jobs)
    };
    shared
}

/// Jobs that end on several days.
fn days(first: i64, n: i64, day_n: i64) -> String {
    let jobs = (first..first + n).map(|id| job("zoo", id, NIGHT + (id % day_n) * DAY + id % 3600, 100 + id % 3600, 0));
    HEADER.to_owned() + &jobs.collect::<String>()
}

fn packed(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 3).unwrap()
}

#[test]
fn a_dump_in_the_folder_of_another_site_is_reported() {
    let dump = night("zoo", (100, 12), NIGHT, 0);
    let longer = night("zoo", (100, 30), NIGHT, 0);
    for (what, other) in [
        ("packed", packed(&dump)),
        ("a newline more", format!("{dump}\n").into_bytes()),
        ("longer", longer.into_bytes()),
        ("equal", dump.clone().into_bytes()),
    ] {
        let files: [(&str, &[u8]); 2] = [("elm/1.txt", dump.as_bytes()), ("oak/2.txt", &other)];
        let at_once = scene(&files);
        let report = at_once.run(&pipeline(&["elm", "oak"]), "lake");
        let shared = only(&report);
        assert_eq!(
            (
                shared.site.as_str(),
                shared.of_site.as_str(),
                shared.job_n,
                shared.is_estimate
            ),
            ("OAK", "ELM", 12, false),
            "{what}"
        );
        assert_eq!(
            (shared.file.as_str(), shared.of_files.as_slice()),
            ("data/oak/2.txt", &["data/elm/1.txt".to_owned()][..]),
            "{what}"
        );
        let last = report.text();
        let line = last.lines().find(|line| line.contains("counted twice: ")).unwrap();
        for word in ["data/oak/2.txt", "data/elm/1.txt", "OAK", "ELM", "12 of "] {
            assert!(line.contains(word), "{what}: {line}");
        }
        // Night by night, in either order.
        for (first, second) in [("elm", "oak"), ("oak", "elm")] {
            let scene = scene(&files);
            assert!(scene.run(&pipeline(&[first]), "lake").shared_jobs.is_empty());
            let report = scene.run(&pipeline(&["elm", "oak"]), "lake");
            assert_eq!(only(&report).site, second.to_uppercase(), "{what}");
            assert_eq!(only(&report).job_n, 12, "{what}");
            assert_same(&at_once.lake("lake"), &scene.lake("lake"), what);
            let again = scene.run(&pipeline(&["elm", "oak"]), "lake");
            assert!(
                again.status == Status::Unchanged && again.shared_jobs.is_empty(),
                "{what}"
            );
        }
    }
}

/// Of large files a sample is compared.
#[test]
fn large_files_that_overlap_are_reported_as_far_as_a_sample_shows() {
    for (what, own, other, expected) in [
        ("half", days(0, 6000, 3), days(3000, 6000, 3), 3000_u64),
        ("a fifth", days(0, 2000, 2), days(1600, 2000, 2), 400),
        ("all", days(0, 3000, 1), days(0, 3000, 1) + "\n", 3000),
    ] {
        let scene = scene(&[("elm/1.txt", own.as_bytes()), ("oak/2.txt", other.as_bytes())]);
        let report = scene.run(&pipeline(&["elm", "oak"]), "lake");
        let shared = only(&report);
        assert!(shared.is_estimate, "{what}");
        assert!(
            shared.job_n.abs_diff(expected) <= expected / 2,
            "{what}: {} for {expected}",
            shared.job_n
        );
        assert!(report.text().contains("about "), "{what}");
    }
}

/// The dump of a month, and those of its nights in the folder of another site.
#[test]
fn nights_of_a_month_are_reported_with_it() {
    let month = days(0, 900, 10);
    let rows: Vec<&str> = month.lines().skip(1).collect();
    let nights: Vec<String> = (0..10)
        .map(|night| {
            let own = rows.iter().enumerate().filter(|(at, _)| at % 10 == night);
            own.fold(HEADER.to_owned(), |text, (_, row)| text + row + "\n")
        })
        .collect();
    let scene = scene(&[("elm/month.txt", month.as_bytes())]);
    scene.run(&pipeline(&["elm"]), "lake");
    for (at, night) in nights.iter().enumerate() {
        scene.write(&format!("data/oak/{at}.txt"), night.as_bytes());
        let report = scene.run(&pipeline(&["elm", "oak"]), "lake");
        let shared = only(&report);
        assert_eq!(shared.file, format!("data/oak/{at}.txt"));
        assert_eq!((shared.job_n, shared.of_job_n), (90, 90));
    }
    // The other way round the month has the jobs of all nights.
    let scene = Scene::empty();
    for (at, night) in nights.iter().enumerate() {
        scene.write(&format!("data/oak/{at}.txt"), night.as_bytes());
    }
    scene.run(&pipeline(&["oak"]), "lake");
    scene.write("data/elm/month.txt", month.as_bytes());
    let report = scene.run(&pipeline(&["elm", "oak"]), "lake");
    let shared = only(&report);
    assert_eq!(shared.of_files.len(), 10);
    assert_eq!((shared.job_n, shared.of_job_n), (900, 900));
    assert!(
        report.text().contains("data/oak/0.txt and 9 more files"),
        "{}",
        report.text()
    );
}

/// Two clusters that count their jobs from 1 have the same numbers, and few that also start and end in one second.
#[test]
fn clusters_with_the_same_job_numbers_share_no_jobs() {
    let own = night("zoo", (1, 400), NIGHT, 0);
    let other = night("zoo", (1, 400), NIGHT + 1, 0);
    let alike = night("zoo", (1, 2), NIGHT, 0);
    let few = format!("{alike}{}", night("zoo", (3, 200), NIGHT + 7, 0).replace(HEADER, ""));
    for other in [other, few] {
        let scene = scene(&[("elm/1.txt", own.as_bytes()), ("oak/2.txt", other.as_bytes())]);
        let report = scene.run(&pipeline(&["elm", "oak"]), "lake");
        assert!(report.shared_jobs.is_empty(), "{}", report.text());
    }
}

/// In two sources of one site the jobs are duplicates and count once.
#[test]
fn jobs_of_one_site_are_no_shared_ones() {
    let dump = night("zoo", (100, 12), NIGHT, 0);
    let newline = format!("{dump}\n");
    let scene = scene(&[("elm/1.txt", dump.as_bytes()), ("oak/2.txt", newline.as_bytes())]);
    let mut pipeline = pipeline(&["elm", "oak"]);
    for source in &mut pipeline.sources {
        source.keys = "format = \"sacct\"\nsite = \"ELM\"\n".to_owned();
    }
    let report = scene.run(&pipeline, "lake");
    assert!(report.shared_jobs.is_empty(), "{}", report.text());
}

/// Jobs that a correction takes out do not count twice.
#[test]
fn a_file_that_is_void_shares_no_jobs() {
    let dump = night("zoo", (100, 12), NIGHT, 0);
    let newline = format!("{dump}\n");
    let scene = scene(&[("elm/1.txt", dump.as_bytes()), ("oak/2.txt", newline.as_bytes())]);
    let pipeline = pipeline(&["elm", "oak"]);
    let file_id = only(&scene.run(&pipeline, "lake")).file_id.clone();
    let voids = format!("id,action,file_id,author,reason,date\nC1,void,{file_id},E. Office,wrong folder,2026-04-10\n");
    scene.write("corrections.csv", voids.as_bytes());
    let report = scene.run(&pipeline.with("corrections", "\"corrections.csv\""), "fresh");
    assert!(report.shared_jobs.is_empty(), "{}", report.text());
}
