//! What a lake does not count has no price: `policy price` takes the jobs that the lake charges.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gridtally::audit::reprice;
use gridtally::charge::Tariff;
use gridtally::config::Plan;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::{decimal, number, text, word};
use gridtally::store::{Manifest, Store, read_table};

use crate::support::policy::{CHARGE_CORES, CORES};

const HEADER: &str =
    "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|AllocTRES\n";

/// Jobs of two cores and an hour: of a month that summaries cover and of one that they do not, of a cluster without a benchmark,
/// and one that runs.
const JOBS: [&str; 4] = [
    "1|fir|ada|a|batch|COMPLETED|2026-01-05T00:00:00|2026-01-05T00:00:00|2026-01-05T01:00:00|3600|2|1|cpu=2\n",
    "2|fir|ada|a|batch|COMPLETED|2026-02-05T00:00:00|2026-02-05T00:00:00|2026-02-05T01:00:00|3600|2|1|cpu=2\n",
    "3|elm|ada|a|batch|COMPLETED|2026-02-05T00:00:00|2026-02-05T00:00:00|2026-02-05T01:00:00|3600|2|1|cpu=2\n",
    "4|fir|eve|b|batch|RUNNING|2026-02-06T00:00:00|2026-02-06T00:00:00|Unknown|3600|2|1|cpu=2\n",
];

const SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: ZOO\nMonth: 1\nYear: 2026\nVO: zoo\nSubmitHost: fir\nNodeCount: 1\n\
     Processors: 2\nWallDuration: 3600\nCpuDuration: 1800\nNumberOfJobs: 1\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nEarliestEndTime: 1767571200\nLatestEndTime: 1767574800\n%%\n";

const BENCHMARKS: &str = "site,cluster,benchmark,value_per_core,valid_from,valid_to\nZOO,fir,hs06,10,2020-01-01,\n";

fn lake(folder: &Path, attribution: &str) -> String {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("jobs.txt", &format!("{HEADER}{}", JOBS.concat()));
    write("sums", SUMMARY);
    write("benchmarks.csv", BENCHMARKS);
    write("cores.toml", CORES);
    let out = folder.join("lake").to_str().unwrap().to_owned();
    let pipeline = format!(
        "[pipeline]\nname = \"zoo\"\noutput = {out:?}\nmax_rejected = 1.0\nattribution = \"{attribution}\"\noverlap = \"summaries\"\n\
         [[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"ZOO\"\ntimezone = \"UTC\"\n\
         vo = {{ value = \"zoo\" }}\n[[source]]\nname = \"sums\"\nformat = \"apel\"\npaths = [\"sums\"]\n\
         [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"reject\"\n{CHARGE_CORES}"
    );
    write("p.toml", &pipeline);
    let (plan, _) = Plan::load(&folder.join("p.toml")).unwrap();
    stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
    out
}

/// Charges of the lake by view and account, in billionths.
fn charged(out: &str) -> BTreeMap<(String, Option<String>), i128> {
    let store = Store::open_existing(out).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let mut sums = BTreeMap::new();
    for file in manifest.dataset("charges") {
        for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
            let batch = batch.unwrap();
            let (views, accounts) = (text(&batch, "view").unwrap(), text(&batch, "account").unwrap());
            let charges = decimal(&batch, "charge").unwrap();
            for row in 0..batch.num_rows() {
                let name = (views.value(row).to_owned(), word(accounts, row).map(str::to_owned));
                *sums.entry(name).or_default() += number(charges, row).unwrap();
            }
        }
    }
    sums
}

#[test]
fn priced_are_the_jobs_that_the_lake_charges() {
    // A running job counts for the time it ran so far, or when it has ended.
    for (attribution, job_n, uncounted_n) in [("prorated", 2, 2), ("by-end", 1, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let out = lake(folder.path(), attribution);
        let cores = Tariff::restored("cores.toml", CORES, "").unwrap();
        let priced = reprice::all(&out, std::slice::from_ref(&cores)).unwrap().remove(0);
        let sums = priced.accounts.iter().map(|of| {
            let charge = gridtally::expr::decimal::parse(&of.charge).unwrap() / 1000;
            ((of.view.clone(), of.account.clone()), charge)
        });
        assert_eq!(sums.collect::<BTreeMap<_, _>>(), charged(&out), "{attribution}");
        assert_eq!(
            (priced.job_n, priced.uncounted_job_n),
            (job_n, uncounted_n),
            "{attribution}"
        );
        let compared = reprice::compare(&out, &cores, &cores).unwrap();
        assert_eq!(compared.job_n, [job_n, 0, 0, 0], "{attribution}");
        assert_eq!(compared.uncounted_job_n, uncounted_n, "{attribution}");
    }
}
