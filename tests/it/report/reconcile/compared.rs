//! What is compared of two accounts, and what is reported as not compared.

use std::collections::BTreeSet;

use gridtally::report::lake::Selection;
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
