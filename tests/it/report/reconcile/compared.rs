//! What is compared of two accounts, and what is reported as not compared.

use std::collections::BTreeSet;

use gridtally::report::lake::Selection;
use gridtally::report::reconcile::amount::Amount;
use gridtally::report::reconcile::compare::{ReconcileComparison, compare};
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::work_scale::WorkScale;

use super::super::scene::Scene;

/// A summary of a VO at a site, with more fields.
fn summary(site: &str, vo: &str, job_n: u32, more: &str) -> String {
    let (wall_s, cpu_s) = (3600 * job_n, 1800 * job_n);
    format!(
        "Site: {site}\nMonth: 3\nYear: 2026\nVO: {vo}\nSubmitHost: ce\nInfrastructure: grid\nWallDuration: {wall_s}\n\
         CpuDuration: {cpu_s}\nNumberOfJobs: {job_n}\n{more}%%\n"
    )
}

const LEVEL: &str = "ServiceLevelType: HEPSPEC\nServiceLevel: 10\n";
const CORES: &str = "NodeCount: 1\nProcessors: 8\n";

fn compared(a: &str, b: &str, vos: &[&str]) -> ReconcileComparison {
    let scene = Scene::new();
    let selection = Selection {
        vos: vos.iter().map(|vo| (*vo).to_owned()).collect::<BTreeSet<_>>(),
        ..Selection::default()
    };
    let [a, b] = [("a", a), ("b", b)].map(|(name, text)| {
        scene.write(&format!("{name}/1.msg"), text);
        let path = scene.path(name);
        UsageSource::open(path.to_str().unwrap(), None, &selection, WorkScale::Hs06).unwrap()
    });
    compare(&a, &b, 0).unwrap()
}

fn summaries(rows: &[String]) -> String {
    format!("APEL-summary-job-message: v0.2\n{}", rows.concat())
}

/// Sync records have no VO: they are not held against the jobs of one.
#[test]
fn counts_of_sites_are_not_compared_with_one_vo() {
    let usage = summaries(&[summary("S", "reef", 2, LEVEL), summary("S", "kelp", 3, LEVEL)]);
    let sync = "APEL-sync-message: v0.1\nSite: S\nSubmitHost: ce\nNumberOfJobs: 5\nMonth: 3\nYear: 2026\n%%\n";
    let all = compared(&usage, sync, &[]);
    assert_eq!((all.compared_n, all.differences.len(), all.notes.len()), (1, 0, 0));
    for (a, b) in [(usage.as_str(), sync), (sync, usage.as_str())] {
        let one = compared(a, b, &["reef"]);
        assert_eq!((one.compared_n, one.differences.len()), (0, 0));
        assert!(one.notes.iter().any(|note| note.contains("--vo")), "{:?}", one.notes);
    }
}

/// What one side knows nothing of is not compared, and that is reported; what it knows of some is.
#[test]
fn what_one_side_does_not_know_is_reported() {
    let whole = [LEVEL, CORES].concat();
    let rows = |more: [&str; 2]| summaries(&[summary("S", "reef", 2, more[0]), summary("T", "reef", 3, more[1])]);
    let a = rows([&whole, &whole]);
    for (b, differ_n, without, noted) in [
        ([whole.as_str(), &whole], 0, [false, false], vec![]),
        ([CORES, CORES], 0, [true, false], vec!["work is not compared"]),
        (
            [LEVEL, LEVEL],
            0,
            [false, true],
            vec!["wall time times cores is not compared"],
        ),
        ([CORES, &whole], 1, [false, false], vec![]),
        ([LEVEL, &whole], 1, [false, false], vec![]),
    ] {
        for (one, other) in [(&a, &rows(b)), (&rows(b), &a)] {
            let found = compared(one, other, &[]);
            assert_eq!((found.compared_n, found.differences.len()), (2, differ_n), "{b:?}");
            assert_eq!([found.is_without_work, found.is_without_cores], without, "{b:?}");
            assert_eq!(found.notes.len(), noted.len(), "{:?}", found.notes);
            assert!(found.notes.iter().zip(&noted).all(|(note, part)| note.contains(part)));
        }
    }
    // The columns of what is not compared have no differences.
    let less = summaries(&[summary("S", "reef", 2, CORES)]);
    let table = compared(&a, &less, &[]).table();
    let cell = |name: &str| {
        let at = table.columns.iter().position(|column| column.name == name).unwrap();
        table.rows[0][at].to_string()
    };
    assert_eq!(
        (cell("job_n_more"), cell("core_wall_s_more"), cell("wall_work_s_more")),
        ("-3".into(), "-86400".into(), String::new())
    );
}

/// An account of nothing lacks all of the other, work and cores as well.
#[test]
fn an_empty_account_lacks_everything() {
    let a = summaries(&[summary("S", "reef", 2, &[LEVEL, CORES].concat())]);
    let none = summaries(&[summary("S", "reef", 0, &[LEVEL, CORES].concat())]);
    let found = compared(&a, &none, &[]);
    let [one] = found.differences.as_slice() else {
        panic!("{found:?}")
    };
    let [share] = one.shares.as_slice() else {
        panic!("{one:?}")
    };
    let whole = Amount {
        core_cpu_ms: 0,
        ..one.b.minus(one.a)
    };
    assert_eq!(share.amount, whole);
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

/// Records of no jobs, as of what was taken back, are no difference.
#[test]
fn records_of_no_jobs_are_no_difference() {
    let row = summary("S", "reef", 2, LEVEL);
    let zero = |site: &str, vo: &str| summary(site, vo, 0, LEVEL);
    let a = summaries(std::slice::from_ref(&row));
    for more in [
        zero("T", "reef"),
        zero("S", "kelp"),
        zero("S", "REEF").replace("SubmitHost: ce", "SubmitHost: other"),
    ] {
        let b = summaries(&[row.clone(), more]);
        for (one, other) in [(&a, &b), (&b, &a)] {
            assert_eq!(compared(one, other, &[]).differences, []);
        }
    }
}
