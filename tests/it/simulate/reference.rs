//! The schedules of `PySS` and `CQSim`, job by job.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use gridtally::simulate::engine::simulate;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::settings::{Backfill, Estimate, EventOrder, Settings};
use gridtally::simulate::trace::{SwfRules, Trace};
use gridtally::simulate::verify::{placements, verify};
use gridtally::simulate::verify_easy::head_delays;
use gridtally::sources::compression::decompress;

use super::read_log;
use crate::support::collect::shared;

const KTH: &str = "KTH-SP2-1996-2.1-cln";
const SDSC: &str = "SDSC-SP2-5K-sample";
const HPC2N: &str = "HPC2N-2002-2.1-cln";

/// A schedule of another simulator, and how it is made here.
struct Reference {
    test: &'static str,
    trace: &'static str,
    processor_n: i64,
    /// Only so many jobs of the log, where the reference has no more.
    first_n: Option<usize>,
    schedule: &'static str,
    rules: SwfRules,
    settings: Settings,
    /// Mean wait in hundredths of a second.
    mean_wait_cs: i64,
}

fn unpacked(test: &str, path: &str) -> Option<Vec<u8>> {
    let path = shared(test, path)?;
    let mut bytes = Vec::new();
    let mut reader = decompress(Box::new(File::open(path).unwrap())).unwrap();
    reader.read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

fn pyss(backfill: Backfill) -> Settings {
    Settings {
        backfill,
        events: EventOrder::Pyss,
        ..Settings::default()
    }
}

fn cqsim() -> Settings {
    Settings {
        events: EventOrder::Cqsim,
        estimate: Estimate::CqsimMixed,
        ..Settings::default()
    }
}

impl Reference {
    fn trace(&self) -> Option<Trace> {
        let bytes = unpacked(self.test, &format!("data/traces/swf/{}.swf.gz", self.trace))?;
        let mut log = read_log(&bytes);
        assert!(log.problems.is_empty(), "{:?}", log.problems);
        if let Some(first_n) = self.first_n {
            log.lines = log.lines.iter().take(first_n).collect::<Vec<_>>().into();
        }
        let machine = Machine::of_one("processors", self.processor_n).unwrap();
        Some(Trace::of_swf(&log, self.rules).unwrap().on(&machine).unwrap())
    }

    /// The starts of the reference by number of the job, on the clock of the log.
    fn starts(&self, first_submit_s: i64) -> BTreeMap<i64, i64> {
        let path = format!("data/traces/reference/{}.txt.gz", self.schedule);
        let text = String::from_utf8(unpacked(self.test, &path).unwrap()).unwrap();
        let is_rebased = self.rules == SwfRules::Cqsim;
        let rows = text.lines().map(|line| {
            let row: Vec<i64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
            (row[0], row[2] + if is_rebased { first_submit_s } else { 0 })
        });
        rows.collect()
    }

    fn check(&self) {
        let Some(trace) = self.trace() else { return };
        let jobs = &trace.jobs;
        let machine = Machine::of_one("processors", self.processor_n).unwrap();
        let schedule = simulate(jobs, &machine, &self.settings).unwrap();
        let starts = self.starts(jobs.first().unwrap().submit_s);
        assert_eq!(starts.len(), jobs.len());
        let same = schedule
            .started(jobs)
            .filter(|started| starts[&started.job.id] == started.start.start_s);
        assert_eq!(same.count(), jobs.len(), "{}", self.schedule);
        let wait_s: i64 = schedule.started(jobs).map(|started| started.wait_s()).sum();
        let job_n = i64::try_from(jobs.len()).unwrap();
        assert_eq!((wait_s * 200 + job_n) / (2 * job_n), self.mean_wait_cs);
        let verification = verify(&jobs.to_vec(), &machine, &placements(jobs, &schedule)).unwrap();
        assert_eq!(verification.violations, []);
    }
}

#[test]
fn pyss_fcfs_kth_starts_are_equal_job_by_job() {
    Reference {
        test: "pyss_fcfs_kth_starts_are_equal_job_by_job",
        trace: KTH,
        processor_n: 100,
        first_n: None,
        schedule: "pyss-KTH-fcfs",
        rules: SwfRules::Pyss,
        settings: pyss(Backfill::None),
        mean_wait_cs: 21_898_058,
    }
    .check();
}

#[test]
fn pyss_easy_kth_starts_are_equal_job_by_job() {
    Reference {
        test: "pyss_easy_kth_starts_are_equal_job_by_job",
        trace: KTH,
        processor_n: 100,
        first_n: None,
        schedule: "pyss-KTH-easy",
        rules: SwfRules::Pyss,
        settings: pyss(Backfill::Easy),
        mean_wait_cs: 641_224,
    }
    .check();
}

#[test]
fn pyss_easy_sdsc_sample_starts_are_equal_job_by_job() {
    Reference {
        test: "pyss_easy_sdsc_sample_starts_are_equal_job_by_job",
        trace: SDSC,
        processor_n: 128,
        first_n: None,
        schedule: "pyss-5K_sample-easy",
        rules: SwfRules::Pyss,
        settings: pyss(Backfill::Easy),
        mean_wait_cs: 337_291,
    }
    .check();
}

#[test]
fn pyss_easy_hpc2n_starts_are_equal_job_by_job() {
    Reference {
        test: "pyss_easy_hpc2n_starts_are_equal_job_by_job",
        trace: HPC2N,
        processor_n: 240,
        first_n: Some(40_000),
        schedule: "pyss-HPC2N-first40k-easy",
        rules: SwfRules::Pyss,
        settings: pyss(Backfill::Easy),
        mean_wait_cs: 385_866,
    }
    .check();
}

#[test]
fn cqsim_easy_kth_starts_are_equal_job_by_job() {
    Reference {
        test: "cqsim_easy_kth_starts_are_equal_job_by_job",
        trace: KTH,
        processor_n: 100,
        first_n: None,
        schedule: "cqsim-KTH-easy",
        rules: SwfRules::Cqsim,
        settings: cqsim(),
        mean_wait_cs: 537_503,
    }
    .check();
}

#[test]
fn cqsim_easy_hpc2n_starts_are_equal_job_by_job() {
    Reference {
        test: "cqsim_easy_hpc2n_starts_are_equal_job_by_job",
        trace: HPC2N,
        processor_n: 240,
        first_n: Some(40_000),
        schedule: "cqsim-HPC2N-first40k-easy",
        rules: SwfRules::Cqsim,
        settings: cqsim(),
        mean_wait_cs: 339_897,
    }
    .check();
}

/// One pass a second in place of one an event, and what the oracle of `CQSim` is worth.
#[test]
fn kth_in_batches_differs_from_pyss_in_two_of_a_hundred_starts() {
    let reference = Reference {
        test: "kth_in_batches_differs_from_pyss_in_two_of_a_hundred_starts",
        trace: KTH,
        processor_n: 100,
        first_n: None,
        schedule: "pyss-KTH-easy",
        rules: SwfRules::Pyss,
        settings: Settings::default(),
        mean_wait_cs: 641_903,
    };
    let Some(trace) = reference.trace() else { return };
    let machine = Machine::of_one("processors", 100).unwrap();
    let schedule = simulate(&trace.jobs, &machine, &reference.settings).unwrap();
    let starts = reference.starts(0);
    let same = schedule
        .started(&trace.jobs)
        .filter(|one| starts[&one.job.id] == one.start.start_s);
    assert_eq!(same.count(), 27_469);
    assert_eq!(head_delays(&trace.jobs, &machine, &schedule), []);
    let wait_s: i64 = schedule.started(&trace.jobs).map(|started| started.wait_s()).sum();
    assert_eq!((wait_s * 200 + 27_992) / (2 * 27_992), reference.mean_wait_cs);
}

/// Conservative backfilling on a whole log, held by the verifier.
#[test]
fn kth_with_conservative_backfilling_is_a_valid_schedule() {
    let test = "kth_with_conservative_backfilling_is_a_valid_schedule";
    let Some(bytes) = unpacked(test, &format!("data/traces/swf/{KTH}.swf.gz")) else {
        return;
    };
    let machine = Machine::of_one("processors", 100).unwrap();
    let trace = Trace::of_swf(&read_log(&bytes), SwfRules::Standard).unwrap();
    assert_eq!(trace.jobs.len(), 27_992);
    let settings = Settings {
        backfill: Backfill::Conservative,
        ..Settings::default()
    };
    let schedule = simulate(&trace.jobs, &machine, &settings).unwrap();
    let verification = verify(&trace.jobs.to_vec(), &machine, &placements(&trace.jobs, &schedule)).unwrap();
    assert_eq!(verification.violations, []);
    assert_eq!(verification.peak.first(), 100);
}
