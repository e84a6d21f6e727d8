//! Files whose content was replaced under their name: the content that is there has the last word, whatever the hashes of both.

use std::collections::BTreeSet;
use std::fs;

use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};

use super::scene::{Scene, assert_same};
use super::tables::{all, sum, text};

/// As often as two contents are in the order of their hashes by chance.
const TRIALS: usize = 6;

const HEADER: &str = "JobIDRaw|Cluster|Account|User|State|Submit|Start|End|ElapsedRaw|NCPUS|TotalCPU\n";

const SACCT: &str = "[[source]]\nname = \"slurm\"\nformat = \"sacct\"\npaths = [\"in\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\n\
                     vo = { column = \"account\" }\n";

const APEL: &str = "[[source]]\nname = \"grid\"\nformat = \"apel\"\npaths = [\"in\"]\n";

/// One job of an account.
fn job(trial: usize, account: &str) -> String {
    let at = "2026-03-04T10:00";
    format!("{HEADER}{trial}|oak|{account}|wendeline|COMPLETED|{at}:00|{at}:00|{at}:40|40|2|00:00:30\n")
}

/// A summary of so many jobs.
fn summary(job_n: usize) -> String {
    format!(
        "APEL-summary-job-message: v0.4\nSite: OAK\nMonth: 3\nYear: 2026\nVO: plankton\nSubmitHost: ce1\n\
         InfrastructureType: grid\nServiceLevel: {{hepspec: 10.0}}\nNodeCount: 1\nProcessors: 4\n\
         EarliestEndTime: 1772409600\nLatestEndTime: 1774742400\nWallDuration: 5000\nCpuDuration: 4000\n\
         NumberOfJobs: {job_n}\n%%\n"
    )
}

/// A lake made night by night.
struct Nights(Scene);

impl Nights {
    fn begin(source: &str) -> Self {
        let scene = Scene::empty();
        let pipeline = format!("[pipeline]\nname = \"oak\"\noutput = \"lake\"\n{source}");
        scene.write("pipeline.toml", pipeline.as_bytes());
        Self(scene)
    }

    fn run(&self, lake: &str) -> RunReport {
        self.0.run_file("pipeline.toml", lake, RunOptions::default()).unwrap()
    }

    /// The night after a file was written.
    fn night(&self, file: &str, text: &str) {
        self.0.write(file, text.as_bytes());
        assert_eq!(self.run("lake").status, Status::Published, "{file}");
        assert_eq!(self.0.findings("lake"), [], "{file}");
        assert_eq!(self.run("lake").status, Status::Unchanged, "{file}");
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.0.path(from), self.0.path(to)).unwrap();
    }

    /// The account of the one job.
    fn account(&self, lake: &str) -> String {
        let usage = all(&self.0.path(lake), "usage");
        assert_eq!(sum(&usage, "job_n"), 1, "{lake}");
        let of = |row| text(&usage, "account", row).unwrap();
        let accounts: BTreeSet<String> = (0..usage.num_rows()).map(of).collect();
        accounts.into_iter().collect::<Vec<_>>().join(" ")
    }

    fn job_n(&self, lake: &str) -> i64 {
        sum(&all(&self.0.path(lake), "usage"), "job_n")
    }
}

#[test]
fn a_row_that_changed_in_place_supersedes_the_former_one() {
    for trial in 0..TRIALS {
        let nights = Nights::begin(SACCT);
        nights.night("in/jobs.txt", &job(trial, "wrong"));
        nights.night("in/jobs.txt", &job(trial, "right"));
        assert_eq!(nights.account("lake"), "right", "trial {trial}");
        let nights = Nights::begin(APEL);
        nights.night("in/march", &summary(10 + trial));
        nights.night("in/march", &summary(50 + trial));
        assert_eq!(
            nights.job_n("lake"),
            i64::try_from(50 + trial).unwrap(),
            "trial {trial}"
        );
    }
}

#[test]
fn a_content_that_was_put_back_has_the_last_word_again() {
    for trial in 0..TRIALS {
        let nights = Nights::begin(SACCT);
        for account in ["right", "wrong", "right", "other", "wrong", "right"] {
            nights.night("in/jobs.txt", &job(trial, account));
            assert_eq!(nights.account("lake"), account, "trial {trial}");
        }
        let nights = Nights::begin(APEL);
        for job_n in [10, 50, 10] {
            nights.night("in/march", &summary(job_n + trial));
            assert_eq!(
                nights.job_n("lake"),
                i64::try_from(job_n + trial).unwrap(),
                "trial {trial}"
            );
        }
    }
}

/// What counts after a rotation is what counts of the files as they are named then.
#[test]
fn rotated_files_are_in_the_order_of_their_present_names() {
    for trial in 0..TRIALS {
        let nights = Nights::begin(SACCT);
        nights.night("in/log.1", &job(trial, "wrong"));
        nights.rename("in/log.1", "in/log.2");
        nights.night("in/log.1", &job(trial, "right"));
        nights.run("fresh");
        assert_eq!(nights.account("lake"), nights.account("fresh"), "trial {trial}");
        let (lake, fresh) = (nights.0.path("lake"), nights.0.path("fresh"));
        for dataset in ["records", "usage"] {
            assert_eq!(all(&lake, dataset), all(&fresh, dataset), "trial {trial}: {dataset}");
        }
    }
}

#[test]
fn a_file_that_grows_is_the_lake_of_its_last_content() {
    let nights = Nights::begin(SACCT);
    let mut text = HEADER.to_owned();
    for number in 0..TRIALS {
        text += job(number, "right").strip_prefix(HEADER).unwrap();
        nights.night("in/jobs.txt", &text);
    }
    nights.run("fresh");
    let (lake, fresh) = (nights.0.path("lake"), nights.0.path("fresh"));
    assert_eq!(all(&lake, "usage"), all(&fresh, "usage"));
    assert_eq!(
        sum(&all(&nights.0.path("lake"), "inputs"), "content_n"),
        (1..=6).sum::<i64>()
    );
    let before = nights.0.lake("lake");
    nights.run("lake");
    assert_same(&before, &nights.0.lake("lake"), "nothing new");
}
