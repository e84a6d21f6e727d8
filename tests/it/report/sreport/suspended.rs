//! Suspended jobs in Slurm's tables.

use gridtally::report::sreport::answer::SreportKind;

use super::{Job, MARCH, ask, hold, lake};
use crate::report::scene::Scene;

/// No dump states when a job was suspended: where an end of the period cuts it, a note has the number of such jobs.
#[test]
fn suspended_jobs_that_run_over_an_end_of_the_period_are_named() {
    let scene = Scene::new();
    let job = |id: u32, start: &str, end: &str, suspended: &str, elapsed_s: u32| {
        format!("{id}|oak|bea|yew|COMPLETED|{start}|{start}|{end}|{suspended}|{elapsed_s}|2|billing=2,cpu=2,node=1\n")
    };
    let lines = [
        job(2, "2026-03-31T23:00:00", "2026-04-01T01:00:00", "01:00:00", 3600),
        job(3, "2026-03-11T00:00:00", "2026-03-11T02:00:00", "01:00:00", 3600),
        job(4, "2026-02-28T23:00:00", "2026-03-01T01:00:00", "00:00:00", 7200),
    ];
    scene.write(
        "suspended.txt",
        &format!(
            "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|Suspended|ElapsedRaw|NCPUS|AllocTRES\n{}",
            lines.concat()
        ),
    );
    let source = "[[source]]\nname = \"suspended\"\nformat = \"sacct\"\npaths = [\"suspended.txt\"]\nsite = \"OAK\"\n\
                  timezone = \"UTC\"\nvo = { value = \"v\" }\n";
    let jobs = [Job::new(1, ("ann", "fir"), MARCH, "billing=2,cpu=2,node=1")];
    let lake = lake(&scene, &jobs, "", source);
    let accounts = ask(&lake, SreportKind::AccountUtilization, |_| {});
    // Half of one, all of another, and half of one that was not suspended.
    hold(&accounts, &[("oak|yew|cpu", &(3600 + 7200 + 7200).to_string())]);
    for kind in [
        SreportKind::AccountUtilization,
        SreportKind::TopUsage,
        SreportKind::SizesByAccount,
        SreportKind::Utilization,
    ] {
        let found = ask(&lake, kind, |_| {});
        let is_named = |note: &String| note.starts_with("1 jobs were suspended and run over an end of the period:");
        assert!(found.notes.iter().any(is_named), "{kind:?} {:#?}", found.notes);
    }
}
