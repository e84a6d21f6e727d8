//! Charges of simulated jobs are of those that the lake counts.

use super::lake::{HEADER, JOBS, NODES, OVERHEAD, PRICES, Scene, pipeline, stdout};

#[test]
fn jobs_that_the_lake_does_not_count_are_charged_in_no_schedule() {
    // Summaries count in October, and the job of November has no benchmark.
    let jobs = format!("{HEADER}{JOBS}");
    let summary = "APEL-summary-job-message: v0.2\nSite: A\nMonth: 10\nYear: 2026\nVO: v\nSubmitHost: ce\nNodeCount: 1\n\
        Processors: 4\nWallDuration: 3600\nCpuDuration: 3600\nNumberOfJobs: 1\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nEarliestEndTime: 1793487600\n\
        LatestEndTime: 1793487600\n%%\n";
    let mut files = vec![("jobs.txt", jobs.as_str()), ("nodes.txt", NODES), ("sums", summary)];
    files.extend(PRICES);
    let of_sums = "[[source]]\nname = \"sums\"\nformat = \"apel\"\npaths = [\"sums\"]\n";
    for (normalise, charged) in [
        (
            "",
            "baseline,cores,core_hour,b,v,1,0,8.000000000,4.000000000,-4.000000000,-50.00\n",
        ),
        ("[normalise]\nmissing = \"reject\"\n", ""),
    ] {
        let more = format!("{of_sums}{OVERHEAD}{normalise}[[charge]]\npolicies = [\"old.toml\", \"new.toml\"]\n");
        let text = pipeline(&more).replacen(
            "[pipeline]\n",
            "[pipeline]\noverlap = \"summaries\"\nmax_rejected = 1.0\n",
            1,
        );
        let scene = Scene::new(&files, &text);
        let charges = stdout(&scene.simulate(&["lake", "--table", "charges", "--format", "csv"]));
        assert_eq!(charges.split_once('\n').unwrap().1, charged, "{normalise}");
    }
}
