//! Summaries in a lake: which of them count, what they come to, and that order and jobs change nothing behind one's back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gridtally::audit::{summary_diff, verify};
use gridtally::config::Plan;
use gridtally::error::{Kind, Result};
use gridtally::record::{SiteMonth, Summary};
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages as pipeline};
use gridtally::runtime::progress::Silent;
use gridtally::store::{Manifest, Store, lake, read_table};
use gridtally::time::Month;

use super::{SYNC, V03, record};
use crate::support::collect::shared;
use crate::support::lake_rows::summary_number;

/// A folder with files and a pipeline.
pub(super) struct Scene(tempfile::TempDir);

impl Scene {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Runs a pipeline of one source over `paths`, and verifies the lake.
    pub(super) fn run(&self, lake: &str, head: &str, keys: &str, paths: &[&str]) -> Result<RunReport> {
        let mut text = format!("[pipeline]\nname = \"p\"\noutput = \"{lake}\"\nmax_rejected = 1.0\n{head}\n");
        let _ = writeln!(
            text,
            "[[source]]\nname = \"apel\"\nformat = \"apel\"\npaths = {paths:?}\n{keys}"
        );
        text.push_str("[normalise]\nmissing = { fallback = 10.0, benchmark = \"hs06\" }\n");
        let file = self.path().join("p.toml");
        fs::write(&file, text).unwrap();
        let (plan, _) = Plan::load(&file)?;
        let report = pipeline::run(&plan, &RunOptions::default(), &Silent)?;
        let verdict = verify::verify(self.path().join(lake).to_str().unwrap())?;
        assert!(verdict.is_sound(), "{}", verdict.text());
        Ok(report)
    }

    /// Hash of every published file.
    pub(super) fn bytes(&self, lake: &str) -> BTreeMap<String, String> {
        let store = Store::open_existing(self.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let files = manifest.files().filter(|file| file.dataset != "runs");
        files.map(|file| (file.path.clone(), file.blake3.clone())).collect()
    }

    /// The rows of `summary` or `summary_history`.
    pub(super) fn summaries(&self, lake: &str, dataset: &str) -> Vec<Summary> {
        let store = Store::open_existing(self.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let mut rows = Vec::new();
        for file in manifest.dataset(dataset) {
            let SiteMonth { site, month } = lake::parse_month_path(&file.path).unwrap();
            for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
                rows.extend(gridtally::dedupe::summary::from_batch(&batch.unwrap(), &site, month).unwrap());
            }
        }
        rows
    }

    /// Jobs, CPU seconds and HEPSPEC06 work of `usage`, by view.
    fn usage(&self, lake: &str) -> BTreeMap<String, (i64, i64, i128)> {
        use gridtally::schema::batch::{decimal, int, text};
        let store = Store::open_existing(self.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let mut sums: BTreeMap<String, (i64, i64, i128)> = BTreeMap::new();
        for file in manifest.dataset("usage") {
            for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
                let batch = batch.unwrap();
                let (view, jobs) = (text(&batch, "view").unwrap(), int(&batch, "job_n").unwrap());
                let (cpu, work) = (int(&batch, "cpu_ms").unwrap(), decimal(&batch, "cpu_hs06_s").unwrap());
                for row in 0..batch.num_rows() {
                    let sum = sums.entry(view.value(row).to_owned()).or_default();
                    sum.0 += jobs.value(row);
                    sum.1 += cpu.value(row) / 1000;
                    sum.2 += work.value(row) / 10_000_000;
                }
            }
        }
        sums
    }
}

pub(super) fn totals<'a>(rows: impl IntoIterator<Item = &'a Summary>) -> (usize, i64, i64) {
    rows.into_iter().fold((0, 0, 0), |(n, jobs, work), row| {
        let numbers = &row.numbers;
        (
            n + 1,
            jobs + numbers.job_n.unwrap_or(0),
            work + numbers.normalised_cpu_s.unwrap_or(0),
        )
    })
}

pub(super) fn normalised(site: &str, month: u8, user: &str, jobs: u32) -> String {
    record(
        month,
        &format!(
            "Site: {site}\nGlobalUserName: {user}\nNumberOfJobs: {jobs}\nNormalisedWallDuration: 1000\n\
             NormalisedCpuDuration: 500\n"
        ),
    )
}

const FIRST: &str = "in/00000001/55d0000000000a";
const SECOND: &str = "in/00000001/55e0000000000b";

/// Two publications of March: the second renames a site, repeats a row and changes another; April comes once.
fn publications() -> Scene {
    let scene = Scene::new();
    let first = [
        normalised("OLD-NAME", 3, "/CN=a", 5),
        normalised("B", 3, "/CN=a", 7),
        normalised("B", 3, "/CN=b", 8),
        normalised("B", 4, "/CN=a", 1),
    ];
    let second = [
        normalised("NEW-NAME", 3, "/CN=a", 5),
        normalised("B", 3, "/CN=A", 7).replace("/CN=A", "/CN=a"),
        normalised("B", 3, "/cn=B", 9),
    ];
    // Names in the opposite of their order: the arrival in the name decides.
    scene.write(FIRST, &format!("{V03}{}", first.concat()));
    scene.write(SECOND, &format!("{V03}{}", second.concat()));
    scene.write("in/00000001/55e0000000000b.lck", "in use");
    scene
}

#[test]
fn upsert_keeps_what_snapshot_drops_and_states_which() {
    let scene = publications();
    let upsert = scene.run("upsert", "", "publication = \"source\"", &["in"]).unwrap();
    assert_eq!(upsert.reasons["accepted/summary_record"], 5);
    assert_eq!(upsert.reasons["duplicate/same_summary"], 1);
    assert_eq!(upsert.reasons["superseded/later_summary"], 1);
    let rows = scene.summaries("upsert", "summary");
    assert_eq!(totals(&rows).1, 5 + 5 + 7 + 9 + 1);
    let stale: Vec<&str> = rows
        .iter()
        .filter(|row| row.is_stale == Some(true))
        .map(|row| row.site.as_str())
        .collect();
    assert_eq!(stale, ["OLD-NAME"]);
    let snapshot = scene
        .run(
            "snapshot",
            "",
            "publication = \"source\"\nsummaries = \"snapshot\"",
            &["in"],
        )
        .unwrap();
    assert_eq!(snapshot.reasons["superseded/stale_summary"], 1);
    assert_eq!(totals(&scene.summaries("snapshot", "summary")).1, 5 + 7 + 9 + 1);
    // Where every site publishes for itself, one that is not named again stays.
    let per_site = scene
        .run(
            "per-site",
            "",
            "publication = \"site\"\nsummaries = \"snapshot\"",
            &["in"],
        )
        .unwrap();
    assert_eq!(per_site.reasons["accepted/summary_record"], 5);
    // For both lakes both totals are reported and the row that makes the difference.
    for lake in ["upsert", "snapshot"] {
        let text = summary_diff::report(scene.path().join(lake).to_str().unwrap())
            .unwrap()
            .text();
        assert!(
            text.contains("upsert    4 rows, 26 jobs") && text.contains("snapshot  3 rows, 21 jobs"),
            "{text}"
        );
        assert!(
            text.contains("stale: OLD-NAME reef /CN=a -: 5 jobs, 100 s wall"),
            "{text}"
        );
    }
    // Without the declaration it is unknown what is stale.
    scene.run("unsaid", "", "", &["in"]).unwrap();
    assert!(
        scene
            .summaries("unsaid", "summary")
            .iter()
            .all(|row| row.is_stale.is_none())
    );
    let none = scene.run("none", "", "summaries = \"snapshot\"", &["in"]).unwrap_err();
    assert!(none.to_string().contains("publication"), "{none}");
}

#[test]
fn the_order_of_reading_changes_no_byte() {
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
    let scene = publications();
    scene.run("once", "", keys, &["in"]).unwrap();
    scene.run("twice", "", keys, &[FIRST]).unwrap();
    scene.run("twice", "", keys, &["in"]).unwrap();
    scene.run("backwards", "", keys, &[SECOND]).unwrap();
    scene.run("backwards", "", keys, &["in"]).unwrap();
    let again = scene.run("backwards", "", keys, &["in"]).unwrap();
    assert_eq!(again.written, Vec::<String>::new());
    assert_eq!(scene.bytes("once"), scene.bytes("twice"));
    assert_eq!(scene.bytes("once"), scene.bytes("backwards"));
    // A change of mind is a rebuild.
    scene.run("backwards", "", "", &["in"]).unwrap();
    scene.run("plain", "", "", &["in"]).unwrap();
    assert_eq!(scene.bytes("backwards"), scene.bytes("plain"));
}

const JOB: &str = "APEL-individual-job-message: v0.3\nSite: B\nLocalJobId: 1\nVO: reef\nWallDuration: 10\nCpuDuration: 5\n\
    Processors: 2\nStartTime: 1489000000\nEndTime: 1489000010\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";

#[test]
fn jobs_and_summaries_are_never_added_up() {
    let scene = publications();
    scene.write("jobs", JOB);
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
    let none = scene.run("none", "", keys, &["in", "jobs"]).unwrap_err();
    assert_eq!(none.kind(), Kind::Config);
    assert!(none.to_string().contains("B 2017-03"), "{none}");
    assert!(!scene.path().join("none/manifest.json").exists());
    // March of B has 16 jobs in summaries and 1 by itself; the rest is only in summaries.
    for (overlap, batch, summary, lost, n) in [
        (
            "jobs",
            Some((1, 5, 50)),
            Some((6, 100, 1000)),
            "out_of_scope/jobs_count",
            2,
        ),
        (
            "reject",
            Some((1, 5, 50)),
            Some((6, 100, 1000)),
            "rejected/overlaps_jobs",
            2,
        ),
        (
            "summaries",
            None,
            Some((22, 200, 2000)),
            "out_of_scope/summaries_count",
            1,
        ),
    ] {
        let by = format!("by-{overlap}");
        let head = format!("overlap = \"{overlap}\"");
        let report = scene.run(&by, &head, keys, &["in", "jobs"]).unwrap();
        assert_eq!(report.reasons[lost], n, "{overlap}");
        let usage = scene.usage(&by);
        assert_eq!(usage.get("batch").copied(), batch, "{overlap}");
        assert_eq!(usage.get("summary").copied(), summary, "{overlap}");
        // Whichever comes first.
        for (lake, before) in [("jobs-first", ["jobs"]), ("summaries-first", ["in"])] {
            let lake = format!("{by}-{lake}");
            scene.run(&lake, &head, keys, &before).unwrap();
            scene.run(&lake, &head, keys, &["in", "jobs"]).unwrap();
            assert_eq!(scene.bytes(&by), scene.bytes(&lake), "{lake}");
        }
    }
    // Case makes no second site of a name.
    scene.write("jobs", &JOB.replace("Site: B", "Site: b"));
    let shouted = scene
        .run("case", "overlap = \"summaries\"", keys, &["in", "jobs"])
        .unwrap();
    assert_eq!(shouted.reasons["out_of_scope/summaries_count"], 1);
    assert_eq!(scene.usage("case"), scene.usage("by-summaries"));
    scene.run("case", "overlap = \"jobs\"", keys, &["in", "jobs"]).unwrap();
    assert_eq!(scene.usage("case"), scene.usage("by-jobs"));
    scene
        .run("case", "overlap = \"summaries\"", keys, &["in", "jobs"])
        .unwrap();
    assert_eq!(scene.usage("case"), scene.usage("by-summaries"));
    scene.write("jobs", JOB);
    // A change of mind changes what counts, both ways.
    scene
        .run("by-reject", "overlap = \"summaries\"", keys, &["in", "jobs"])
        .unwrap();
    assert_eq!(scene.bytes("by-reject"), scene.bytes("by-summaries"));
    scene
        .run("by-reject", "overlap = \"jobs\"", keys, &["in", "jobs"])
        .unwrap();
    assert_eq!(scene.bytes("by-reject"), scene.bytes("by-jobs"));
}

#[test]
fn sync_records_are_kept_and_are_no_usage() {
    let scene = Scene::new();
    scene.write("sync", &format!("{SYNC}Site: B\nSubmitHost: ce\nNumberOfJobs: 27\nMonth: 3\nYear: 2017\n%%\nSite: B\nNumberOfJobs: 1\nMonth: 99\nYear: 2017\n"));
    scene.write("jobs", JOB);
    let report = scene.run("out", "", "", &["sync", "jobs"]).unwrap();
    assert_eq!(report.reasons["accepted/sync_record"], 1);
    assert_eq!(report.reasons["rejected/bad_time"], 1);
    let rows = scene.summaries("out", "summary");
    assert_eq!((rows[0].numbers.job_n, rows[0].numbers.sync_job_n), (None, Some(27)));
    assert_eq!(scene.usage("out").into_keys().collect::<Vec<_>>(), ["batch"]);
}

/// Real messages of before 2014, in hours, and the report published from them.
#[test]
fn real_months_in_hours() {
    let Some(folder) = shared("real_months_in_hours", "data/gracc/gratia-monthly") else {
        return;
    };
    let scene = Scene::new();
    let messages = format!("{}/*.apel-messages", folder.display());
    scene.run("out", "", "acceptance = \"salvage\"", &[&messages]).unwrap();
    let rows = scene.summaries("out", "summary");
    for name in ["2012-11", "2013-03", "2013-06", "2013-09", "2014-01", "2014-06"] {
        let month: Month = name.parse().unwrap();
        let sum = |column| -> i64 {
            rows.iter()
                .filter(|row| row.month == month)
                .filter_map(|row| summary_number(row, column))
                .sum()
        };
        let report = fs::read_to_string(folder.join(format!("{name}.summary.dat"))).unwrap();
        let stated = |at: usize| -> i64 {
            report
                .lines()
                .map(|line| line.split('\t').nth(at).unwrap().parse::<i64>().unwrap())
                .sum()
        };
        // CPU and wall hours of all sites.
        assert_eq!(
            (sum("cpu_ms") / 1000, sum("wall_s")),
            (stated(4) * 3600, stated(5) * 3600),
            "{name}"
        );
        // The messages hold a few jobs of no length that the report leaves out.
        assert!(
            (0..100).contains(&(sum("job_n") - stated(3))),
            "{name}: {} and {}",
            sum("job_n"),
            stated(3)
        );
    }
}

/// Real months in several versions: the totals of the real server for both ways.
#[test]
fn real_months_in_several_versions() {
    let Some(folder) = shared("real_months_in_several_versions", "data/apel/real-2015") else {
        return;
    };
    let scene = Scene::new();
    let folder = format!("{}/*.msg", folder.display());
    let upsert = scene.run("upsert", "", "publication = \"source\"", &[&folder]).unwrap();
    // Six files are refused whole: five with a latest end outside their month, one with a record without a site.
    assert_eq!(upsert.outcomes["rejected"], 1586);
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
    scene.run("snapshot", "", keys, &[&folder]).unwrap();
    let (upserted, snapped) = (
        scene.summaries("upsert", "summary"),
        scene.summaries("snapshot", "summary"),
    );
    // (month, rows, jobs, normalised CPU) with upsert, then with snapshot.
    for (month, upsert, snapshot) in [
        (
            5,
            (300, 10_890_670, 1_499_345_074_562),
            (294, 10_890_306, 1_499_284_801_443),
        ),
        (
            6,
            (325, 10_625_679, 1_544_307_599_503),
            (315, 10_622_941, 1_544_264_126_916),
        ),
        (
            7,
            (316, 14_777_767, 1_844_887_529_405),
            (316, 14_777_767, 1_844_887_529_405),
        ),
        (
            8,
            (313, 12_944_271, 1_709_754_766_406),
            (276, 11_001_806, 1_478_468_621_344),
        ),
        (
            9,
            (279, 17_819_140, 1_930_568_162_115),
            (279, 17_819_140, 1_930_568_162_115),
        ),
        (
            10,
            (244, 13_188_748, 1_977_583_015_797),
            (244, 13_188_748, 1_977_583_015_797),
        ),
    ] {
        let month = Month::new(2015, month).unwrap();
        let of = |rows: &'_ [Summary]| {
            rows.iter()
                .filter(|row| row.month == month)
                .cloned()
                .collect::<Vec<_>>()
        };
        let (upserted, snapped) = (of(&upserted), of(&snapped));
        assert_eq!(totals(&upserted), upsert, "{month}");
        assert_eq!(totals(&snapped), snapshot, "{month}");
        // The difference is named.
        let key = |row: &Summary| (row.site.clone(), row.summary_id);
        let kept: BTreeSet<_> = snapped.iter().map(key).collect();
        let stale = upserted.iter().filter(|row| row.is_stale == Some(true));
        let missing = upserted.iter().filter(|row| !kept.contains(&key(row)));
        assert_eq!(
            stale.map(key).collect::<BTreeSet<_>>(),
            missing.map(key).collect(),
            "{month}"
        );
    }
}

/// Two publications of March with one row each and so many jobs; what each states of when it was made is put behind.
fn stated(first: &str, second: &str) -> Scene {
    let scene = Scene::new();
    for (path, jobs, made) in [("in/a", 5, first), ("in/b", 9, second)] {
        let row = normalised("B", 3, "/CN=a", jobs);
        scene.write(path, &format!("{V03}{}", row.replace("%%", &format!("{made}%%"))));
    }
    scene
}

/// What was made last counts, whatever its path; where nothing states when, the order of paths decides.
#[test]
fn the_time_a_summary_states_decides_which_is_the_last() {
    let (older, newer) = (
        "UpdateTime: 2017-04-01T00:00:00Z\n",
        "UpdateTime: 2017-05-01T00:00:00Z\n",
    );
    let cases = [
        ("", "", 9),
        (older, newer, 9),
        (newer, older, 5),
        // Unix seconds, and as a database prints it.
        ("UpdateTime: 1493596800\n", "UpdateTime: 2017-04-01 00:00:00\n", 5),
        // A time wins over none.
        (older, "", 5),
        // A text that is not a time counts as none.
        ("UpdateTime: soon\n", "", 9),
        // The same time: paths again.
        (older, older, 9),
    ];
    for (first, second, expected) in cases {
        let scene = stated(first, second);
        for keys in ["", "publication = \"source\"\nsummaries = \"snapshot\""] {
            scene.run("lake", "", keys, &["in"]).unwrap();
            let rows = scene.summaries("lake", "summary");
            assert_eq!(totals(&rows).1, expected, "{first:?} {second:?} {keys:?}");
            assert_eq!(scene.summaries("lake", "summary_history").len(), 1);
        }
        // In two nights, the last first.
        let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
        scene.run("nightly", "", keys, &["in/b"]).unwrap();
        scene.run("nightly", "", keys, &["in"]).unwrap();
        assert_eq!(scene.bytes("nightly"), scene.bytes("lake"));
    }
}

/// The time in a name is of its arrival: it stands for the time a file does not state.
#[test]
fn the_arrival_of_a_file_stands_for_a_time_it_does_not_state() {
    let (first, second) = ("in/00000001/58e0000000000a", "in/00000001/58f0000000000b");
    let row = |jobs, made: &str| {
        let row = normalised("B", 3, "/CN=a", jobs).replace("%%", &format!("{made}%%"));
        format!("{V03}{row}")
    };
    // The second arrived on 2017-04-13; the first states a time before that, or behind it.
    for (made, expected) in [
        ("UpdateTime: 2017-04-12T00:00:00Z\n", 9),
        ("UpdateTime: 2017-04-20T00:00:00Z\n", 5),
    ] {
        let scene = Scene::new();
        scene.write(first, &row(5, made));
        scene.write(second, &row(9, ""));
        scene.run("lake", "", "", &["in"]).unwrap();
        assert_eq!(totals(&scene.summaries("lake", "summary")).1, expected, "{made}");
    }
}
