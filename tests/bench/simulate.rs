//! How fast schedules are simulated: the log of KTH (where `GRIDTALLY_SHARED` has it) with FCFS and EASY backfilling, the
//! eight methods over synthetic jobs, and what one window costs.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use gridtally::runtime::column::ColumnBudget;
use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::jobs::JobList;
use gridtally::simulate::machine::{Machine, ResourceKind};
use gridtally::simulate::rng::Rng;
use gridtally::simulate::schedule::{Schedule, SolverCounts};
use gridtally::simulate::settings::{Backfill, EventOrder, Settings};
use gridtally::simulate::swf::SwfLog;
use gridtally::simulate::trace::{SwfRules, Trace};
use gridtally::simulate::window::WindowSettings;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::front::generational_distance;
use gridtally::simulate::window::genetic::{self, GeneticSettings};
use gridtally::simulate::window::method::Method;
use gridtally::simulate::window::problem::{Solution, WindowJob, WindowProblem};
use gridtally::simulate::window::solve::exact_front;
use gridtally::simulate::workload::{BurstBufferPool, Workload, WorkloadKinds, generate};
use gridtally::sources::compression::decompress;

/// Nodes and gigabytes of burst buffer of Theta.
const NODE_N: i64 = 4_392;
const BURST_BUFFER_GB: i64 = 1_260_000;

/// Measures, with `job_n` synthetic jobs; the best of so many runs counts.
pub(crate) fn run(job_n: i64, runs: usize) {
    println!("| jobs | scheduler | wall s | thousand jobs/s | mean wait s |\n|---|---|---|---|---|");
    kth(runs);
    methods(job_n);
    println!(
        "\n| window | free | exact ms | genetic ms | same choice | generational distance |\n|---|---|---|---|---|---|"
    );
    for job_n in [20, 50] {
        for (name, nodes, buffer_tb) in [("idle", NODE_N, 1_260), ("a third", 1_500, 400), ("tight", 500, 150)] {
            windows(job_n, name, nodes, buffer_tb);
        }
    }
}

fn kth(runs: usize) {
    let root = std::env::var_os("GRIDTALLY_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let path = root.join("data/traces/swf/KTH-SP2-1996-2.1-cln.swf.gz");
    let Ok(file) = File::open(&path) else {
        return eprintln!("SKIPPED the log of KTH: {} is not there", path.display());
    };
    let mut bytes = Vec::new();
    decompress(Box::new(file)).unwrap().read_to_end(&mut bytes).unwrap();
    let machine = Machine::of_one("processors", 100).unwrap();
    for (name, backfill, events) in [
        ("FCFS, no backfilling", Backfill::None, EventOrder::Batched),
        ("FCFS, EASY", Backfill::Easy, EventOrder::Batched),
        ("FCFS, EASY, a pass after each event", Backfill::Easy, EventOrder::Pyss),
        ("FCFS, conservative", Backfill::Conservative, EventOrder::Batched),
    ] {
        let settings = Settings {
            backfill,
            events,
            ..Settings::default()
        };
        let mut best: Option<(f64, String)> = None;
        for _ in 0..runs {
            let start = Instant::now();
            let trace = Trace::of_swf(
                &SwfLog::read(bytes.as_slice(), ColumnBudget::default()).unwrap(),
                SwfRules::Standard,
            )
            .unwrap();
            let read_s = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let schedule = simulate(&trace.jobs, &machine, &settings).unwrap();
            let wall_s = start.elapsed().as_secs_f64();
            if best.as_ref().is_none_or(|(best_s, _)| wall_s < *best_s) {
                let name = format!("{name} (read in {:.0} ms)", read_s * 1e3);
                best = Some((wall_s, row("KTH", &name, wall_s, (&trace.jobs).into(), &schedule)));
            }
        }
        println!("{}", best.unwrap().1);
    }
}

fn row(jobs_name: &str, name: &str, wall_s: f64, jobs: JobList<'_>, schedule: &Schedule) -> String {
    let job_n = f64::from(u32::try_from(jobs.len()).unwrap());
    let started = schedule.started(jobs);
    let all_s: i64 = started.map(|one| one.wait_s()).sum();
    let wait_s = f64::from(u32::try_from(all_s / i64::try_from(jobs.len()).unwrap()).unwrap());
    format!(
        "| {jobs_name} {} | {name} | {wall_s:.3} | {:.0} | {wait_s:.0} |",
        jobs.len(),
        job_n / wall_s / 1_000.0
    )
}

/// Jobs like those of Theta: powers of two of nodes, short and long runs, a machine that is nearly full.
fn synthetic(job_n: i64) -> Vec<Job> {
    let mut rng = Rng::new(1);
    let mut submit_s = 0;
    let mut jobs = Vec::new();
    for id in 0..job_n {
        let nodes = (8_i64 << rng.below(8)).min(NODE_N) * rng.within(1, 2);
        let run_s = 60_i64 << rng.below(10);
        let limit_s = run_s * rng.within(1, 4);
        // At this rate about 85 % of the nodes are in use.
        submit_s += rng.within(0, 1_500);
        jobs.push(Job::new(id, submit_s, run_s, limit_s, Demand::of(&[nodes])));
    }
    jobs
}

fn methods(job_n: i64) {
    let kind = |name: &str, capacity| ResourceKind {
        name: name.to_owned(),
        capacity,
    };
    let machine = Machine::new(vec![kind("nodes", NODE_N), kind("burst_buffer_gb", BURST_BUFFER_GB)]).unwrap();
    let mut jobs = synthetic(job_n);
    let kinds = WorkloadKinds {
        burst_buffer: 1,
        large_ssd: None,
    };
    let pool = BurstBufferPool::LogUniform { most_gb: 285_000 };
    generate(&mut jobs, Workload::S4, &pool, kinds, 1).unwrap();
    let like = WindowSettings {
        second: Some("burst_buffer_gb".to_owned()),
        ..WindowSettings::default()
    };
    let start = Instant::now();
    for method in Method::EIGHT {
        let settings = Settings {
            window: method.window(false, Tradeoff::Paper, &like),
            ..Settings::default()
        };
        let start = Instant::now();
        let schedule = simulate(&jobs, &machine, &settings).unwrap();
        println!(
            "{}",
            row(
                "S4",
                method.word(),
                start.elapsed().as_secs_f64(),
                (&jobs).into(),
                &schedule
            )
        );
    }
    eprintln!(
        "eight methods over {job_n} jobs: {:.1} s",
        start.elapsed().as_secs_f64()
    );
}

/// Random windows of jobs that each fit: terabytes of burst buffer, as the log of Theta has them.
fn windows(job_n: usize, name: &str, nodes: i64, buffer_tb: i64) {
    let mut rng = Rng::new(2);
    let (mut exact_s, mut genetic_s, mut same_n, mut distance) = (0.0, 0.0, 0_u32, 0.0);
    let problem_n = 50;
    for nth in 0..problem_n {
        let jobs = (0..job_n).map(|_| WindowJob {
            need: Demand::of(&[
                rng.within(1, nodes / 3),
                if rng.happens(750_000) {
                    rng.within(5, buffer_tb / 3)
                } else {
                    0
                },
            ]),
            ssd_gb: 0,
        });
        let problem = WindowProblem {
            jobs: jobs.collect(),
            free: Demand::of(&[nodes, buffer_tb]),
            capacity: Demand::of(&[NODE_N, 1_260]),
            second_kind: Some(1),
            ssd: None,
        };
        let start = Instant::now();
        let exact = exact_front(&problem, &mut SolverCounts::default()).unwrap();
        exact_s += start.elapsed().as_secs_f64();
        let start = Instant::now();
        let found = genetic::solve(&problem, &GeneticSettings::default(), nth);
        genetic_s += start.elapsed().as_secs_f64();
        distance += generational_distance(&found, &exact, &problem.worth_of(&problem.capacity, 0));
        let best = |points: &[Solution]| points.iter().map(|one| one.worth).max();
        same_n += u32::from(best(&exact) == best(&found));
    }
    let of = f64::from(u32::try_from(problem_n).unwrap());
    println!(
        "| {job_n} | {name} | {:.2} | {:.2} | {:.0} % | {:.3} |",
        exact_s * 1e3 / of,
        genetic_s * 1e3 / of,
        100.0 * f64::from(same_n) / of,
        distance / of
    );
}
