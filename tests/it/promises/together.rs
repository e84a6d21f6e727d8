//! Summaries and corrections in one lake: additions by hand count with either, what was taken from jobs goes with
//! the jobs.

use std::path::Path;

use gridtally::run::RunOptions;
use gridtally::run::run_report::RunReport;

use super::scene::{Scene, assert_same, lake_hash};
use super::tables::{all, int, text};

pub(super) const SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: B\nMonth: 3\nYear: 2026\nGlobalUserName: /CN=a\nVO: reef\n\
    VOGroup: /reef\nVORole: None\nSubmitHost: ce\nInfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n\
    NodeCount: 1\nProcessors: 1\nEarliestEndTime: 1772841600\nLatestEndTime: 1772850000\nWallDuration: 700\n\
    CpuDuration: 600\nNumberOfJobs: 7\n%%\n";
pub(super) const JOBS: &str = "APEL-individual-job-message: v0.3\nSite: B\nLocalJobId: 1\nFQAN: /reef\nWallDuration: 10\n\
    CpuDuration: 5\nProcessors: 2\nStartTime: 1772841600\nEndTime: 1772841610\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n\
    Site: B\nLocalJobId: 2\nFQAN: /reef\nWallDuration: 20\nCpuDuration: 5\nProcessors: 2\nStartTime: 1772841600\n\
    EndTime: 1772841620\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";
const CORRECTIONS: &str = "id,action,site,month,vo,account,job_id,job_n,wall_s,alloc_core_s,cpu_ms,undoes,author,reason,date\n\
    A,add,B,2026-03,reef,,,5,50,50,5000,,E. Office,log lost,2026-04-02\n\
    V,void,B,2026-03,reef,,1,,,,,,E. Office,broken node,2026-04-02\n";

fn run(scene: &Scene, overlap: &str, out: &str) -> RunReport {
    let pipeline = format!(
        "[pipeline]\nname = \"p\"\noutput = \"out\"\noverlap = \"{overlap}\"\ncorrections = \"corrections.csv\"\n\
         [[source]]\nname = \"s\"\nformat = \"apel\"\npaths = [\"in\"]\nacceptance = \"salvage\"\n"
    );
    scene.write("p.toml", pipeline.as_bytes());
    scene.run_file("p.toml", out, RunOptions::default()).unwrap()
}

/// Jobs by (view, correction).
fn jobs(lake: &Path) -> Vec<(String, Option<String>, i64)> {
    let usage = all(lake, "usage");
    let mut rows: Vec<_> = (0..usage.num_rows())
        .map(|row| {
            let view = text(&usage, "view", row).unwrap_or_default();
            (
                view,
                text(&usage, "correction_id", row),
                int(&usage, "job_n", row).unwrap(),
            )
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn corrections_keep_to_what_counts() {
    let scene = Scene::empty();
    scene.write("in/summary.msg", SUMMARY.as_bytes());
    scene.write("in/jobs.msg", JOBS.as_bytes());
    scene.write("corrections.csv", CORRECTIONS.as_bytes());
    let of = |rows: &[(String, Option<String>, i64)], id: Option<&str>| -> i64 {
        rows.iter().filter(|row| row.1.as_deref() == id).map(|row| row.2).sum()
    };
    let report = run(&scene, "jobs", "by-jobs");
    assert_eq!(report.unmatched_corrections, Vec::<String>::new());
    let rows = jobs(&scene.path("by-jobs"));
    assert_eq!(
        (of(&rows, None), of(&rows, Some("A")), of(&rows, Some("V"))),
        (2, 5, -1),
        "{rows:?}"
    );
    assert_eq!(scene.findings("by-jobs"), []);

    let report = run(&scene, "summaries", "by-summaries");
    assert_eq!(
        report.unmatched_corrections,
        ["V"],
        "the job it would take away does not count"
    );
    let rows = jobs(&scene.path("by-summaries"));
    assert_eq!(
        (of(&rows, None), of(&rows, Some("A")), of(&rows, Some("V"))),
        (7, 5, 0),
        "{rows:?}"
    );
    assert_eq!(scene.findings("by-summaries"), []);
    // A change of mind comes to what a fresh start comes to.
    run(&scene, "jobs", "by-summaries");
    let hashes = |out: &str| lake_hash(&scene.path(out));
    assert_same(&hashes("by-summaries"), &hashes("by-jobs"), "after a change of mind");
}

/// Additions by hand count with summaries whichever comes first, and a summary that comes again replaces the
/// summary alone.
#[test]
fn additions_and_summaries_of_a_month_do_not_replace_each_other() {
    let header = CORRECTIONS.lines().next().unwrap();
    let addition = CORRECTIONS.lines().nth(1).unwrap();
    let changed = "A2,add,B,2026-03,reef,,,3,30,30,3000,,E. Office,another log lost,2026-04-03";
    let undone = "U,undo,,,,,,,,,,A,E. Office,the log was found,2026-04-04";
    let fuller = SUMMARY
        .replace("NumberOfJobs: 7", "NumberOfJobs: 9")
        .replace("WallDuration: 700", "WallDuration: 900");
    let table = |rows: &[&str]| [&[header], rows].concat().join("\n") + "\n";
    // What is there after each run: rows of the table, publications of the summary.
    let (none, first): (&[&str], &[&str]) = (&[], &[addition]);
    let (one, both) = ([SUMMARY].to_vec(), [SUMMARY, &fuller].to_vec());
    let orders = [
        [(first, vec![]), (first, one.clone()), (first, both.clone())],
        [(none, one.clone()), (first, one.clone()), (first, both.clone())],
        [(none, one.clone()), (none, both.clone()), (first, both.clone())],
    ];
    let counted = |rows: &[(String, Option<String>, i64)]| {
        let of = |id: Option<&str>| -> i64 { rows.iter().filter(|row| row.1.as_deref() == id).map(|row| row.2).sum() };
        [of(None), of(Some("A")), of(Some("A2"))]
    };
    for overlap in ["summaries", "jobs"] {
        let scene = Scene::empty();
        let night = |rows: &[&str], messages: &[&str], out: &str| {
            let _ = std::fs::remove_dir_all(scene.path("in"));
            // Another site's, so that there is always something to read.
            scene.write("in/0.msg", SUMMARY.replace("Site: B", "Site: C").as_bytes());
            for (nth, message) in messages.iter().enumerate() {
                scene.write(&format!("in/{}.msg", nth + 1), message.as_bytes());
            }
            scene.write("corrections.csv", table(rows).as_bytes());
            run(&scene, overlap, out);
            assert_eq!(scene.findings(out), []);
            let rows = jobs(&scene.path(out));
            let of_other: i64 = 7;
            let [reported, a, a2] = counted(&rows);
            [reported - of_other, a, a2]
        };
        assert_eq!(night(first, &both, "at-once"), [9, 5, 0]);
        let expected = lake_hash(&scene.path("at-once"));
        for (nth, order) in orders.iter().enumerate() {
            let out = format!("order-{nth}");
            for (rows, messages) in order {
                let reported = i64::try_from(messages.len()).unwrap();
                let expected = [[0, 7, 9][messages.len()], if rows.is_empty() { 0 } else { 5 }, 0];
                assert_eq!(night(rows, messages, &out), expected, "{overlap} {nth} {reported}");
            }
            assert_same(
                &lake_hash(&scene.path(&out)),
                &expected,
                &format!("{overlap}, order {nth}"),
            );
        }
        // One more addition, and the first undone: the summary stays as it is.
        assert_eq!(night(&[addition, changed], &both, "order-0"), [9, 5, 3]);
        assert_eq!(night(&[addition, changed, undone], &both, "order-0"), [9, 0, 3]);
        assert_eq!(night(&[addition, changed, undone], &both, "again"), [9, 0, 3]);
        assert_same(
            &lake_hash(&scene.path("order-0")),
            &lake_hash(&scene.path("again")),
            "undone",
        );
    }
}
