//! Work that records and summaries state themselves counts, with or without a table of benchmarks.

use gridtally::report::federation::{gather, sums_by};
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::work_scale::WorkScale;

use super::scene::{Pipeline, Scene, Source, assert_same};
use super::tables::{all, decimal, int, sum, text};

const HEADER: &str = "site,benchmark,value_per_core,valid_from,valid_to\n";

/// One job that states its service level, one that states none; summaries of other sites, plain and normalised.
const MESSAGES: [(&str, &str); 3] = [
    (
        "jobs",
        "APEL-individual-job-message: v0.3\n\
         Site: FELS\nVO: reef\nLocalJobId: 1\nProcessors: 4\nWallDuration: 100\nCpuDuration: 300\n\
         StartTime: 1772366400\nEndTime: 1772366500\nServiceLevelType: HEPSPEC\nServiceLevel: 10.5\n%%\n\
         Site: FELS\nVO: reef\nLocalJobId: 2\nProcessors: 2\nWallDuration: 100\nCpuDuration: 60\n\
         StartTime: 1772366400\nEndTime: 1772366500\nServiceLevelType: HEPSPEC\nServiceLevel: 0\n%%\n",
    ),
    (
        "summaries",
        "APEL-summary-job-message: v0.2\n\
         Site: TANG\nMonth: 3\nYear: 2026\nVO: reef\nNodeCount: 1\nProcessors: 8\nWallDuration: 1000\n\
         CpuDuration: 500\nNumberOfJobs: 5\nServiceLevelType: HEPscore23\nServiceLevel: 12\n%%\n",
    ),
    (
        "normalised",
        "APEL-summary-job-message: v0.3\n\
         Site: WATT\nMonth: 3\nYear: 2026\nVO: reef\nNodeCount: 1\nProcessors: 8\nWallDuration: 1000\n\
         CpuDuration: 500\nNormalisedWallDuration: 11000\nNormalisedCpuDuration: 5500\nNumberOfJobs: 7\n%%\n",
    ),
];

fn scene() -> (Scene, Pipeline) {
    let scene = Scene::empty();
    for (name, text) in MESSAGES {
        scene.write(&format!("data/{name}"), text.as_bytes());
    }
    let pipeline = Pipeline::of(Source {
        name: "apel",
        paths: vec!["data".to_owned()],
        keys: "format = \"apel\"\n".to_owned(),
    });
    (scene, pipeline)
}

/// By site: HEPSPEC06 and `HEPscore23` times core wall time, in units of 10^-7, and jobs of no benchmark.
type Stated = (String, Option<i128>, Option<i128>, Option<i64>);

fn work(scene: &Scene, lake: &str) -> Vec<Stated> {
    let mut rows = Vec::new();
    for file in super::tables::files(&scene.path(lake), "usage") {
        let site = ["FELS", "TANG", "WATT"]
            .into_iter()
            .find(|site| file.to_str().unwrap().contains(site));
        let usage = super::tables::read(&file);
        for row in 0..usage.num_rows() {
            rows.push((
                site.unwrap().to_owned(),
                decimal(&usage, "core_wall_hs06_s", row),
                decimal(&usage, "core_wall_hs23_s", row),
                int(&usage, "benchmark_missing_job_n", row),
            ));
        }
    }
    rows.sort();
    rows
}

#[test]
fn stated_work_needs_no_table() {
    const E7: i128 = 10_000_000;
    let (scene, mut pipeline) = scene();
    scene.run(&pipeline, "none");
    let expected = [
        ("FELS".to_owned(), Some(4200 * E7), None, Some(1)),
        ("TANG".to_owned(), None, Some(96_000 * E7), Some(0)),
        ("WATT".to_owned(), Some(88_000 * E7), None, Some(0)),
    ];
    assert_eq!(work(&scene, "none"), expected);
    let records = all(&scene.path("none"), "records");
    let origins: Vec<_> = (0..2).map(|row| text(&records, "hs06_origin", row)).collect();
    assert!(
        origins.contains(&Some("record".to_owned())) && origins.contains(&None),
        "{origins:?}"
    );
    assert_eq!(scene.findings("none"), []);

    // A table without rows, and a [normalise] without a table, have the same effect.
    scene.write("empty.csv", HEADER.as_bytes());
    for (lake, keys) in [
        ("empty", "benchmarks = \"empty.csv\"\nmissing = \"null\"\n"),
        ("bare", "missing = \"null\"\n"),
    ] {
        pipeline.normalise = Some(keys.to_owned());
        scene.run(&pipeline, lake);
        // Only the manifest records what was requested.
        let bytes = |lake| {
            let mut files = scene.lake(lake);
            files.remove("manifest.json");
            files
        };
        assert_same(&bytes("none"), &bytes(lake), lake);
    }
    // A job without a benchmark is refused where that is configured, and only such a job.
    pipeline.normalise = Some("missing = \"reject\"\n".to_owned());
    let report = scene.run(&pipeline, "none");
    assert_eq!(report.reasons["rejected/benchmark_missing"], 1);
    assert_eq!(sum(&all(&scene.path("none"), "usage"), "job_n"), 13);
}

#[test]
fn lake_and_federation_reports_agree_on_stated_work() {
    let (scene, pipeline) = scene();
    scene.run(&pipeline, "out");
    let lake = Lake::open(scene.path("out").to_str().unwrap()).unwrap();
    let groups = gather(&lake, &Selection::default()).unwrap().groups;
    for (scale, at) in [(WorkScale::Hs06, 0), (WorkScale::Hs23Only, 1)] {
        let reported = sums_by(&groups, scale, |group| group.site.clone()).unwrap();
        for (site, hs06, hs23, missing) in work(&scene, "out") {
            let sums = &reported[&site];
            let of_lake = if at == 0 { hs06 } else { hs23 };
            assert_eq!(sums.core_wall_work_e9, of_lake.unwrap_or(0) * 100, "{site} {scale:?}");
            if of_lake.is_some() {
                assert_eq!(sums.unscaled_job_n, i128::from(missing.unwrap()), "{site} {scale:?}");
            }
        }
    }
}
