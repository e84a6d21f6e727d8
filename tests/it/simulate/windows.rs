//! Windows in a simulation: what is in them, what the bound on starvation does, and the invariants with every method.

use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::{simulate, simulate_with};
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::observer::{Observer, PassView};
use gridtally::simulate::predecessor::Predecessors;
use gridtally::simulate::schedule::{Schedule, Start, StartReason};
use gridtally::simulate::settings::{BaseOrder, Settings};
use gridtally::simulate::trace::Trace;
use gridtally::simulate::verify::{placements, verify};
use gridtally::simulate::wfp;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::method::Method;
use gridtally::simulate::window::solve::SolverChoice;
use gridtally::simulate::window::{StarvationBound, WindowSettings};
use proptest::prelude::*;

use super::{job, machine};

fn like() -> WindowSettings {
    WindowSettings {
        second: Some("burst_buffer_gb".to_owned()),
        ..WindowSettings::default()
    }
}

fn settings(method: Method, like: &WindowSettings) -> Settings {
    Settings {
        window: method.window(false, Tradeoff::Paper, like),
        ..Settings::default()
    }
}

fn start_of(schedule: &Schedule, at: usize) -> Start {
    schedule.starts.get(at).unwrap().unwrap()
}

#[test]
fn bb_10_the_window_is_the_front_of_the_base_order() {
    // The fifth and sixth job together would fill the machine; only a window that reaches them chooses them.
    let queue = [[70, 0], [60, 0], [55, 0], [51, 0], [49, 50], [51, 50]];
    let jobs: Vec<Job> = (1..)
        .zip(queue)
        .map(|(id, amounts)| job(id, 0, 10, 10, &amounts))
        .collect();
    let chosen = |size| {
        let like = WindowSettings { size, ..like() };
        let schedule = simulate(&jobs, &machine(100, 100), &settings(Method::Bbsched, &like)).unwrap();
        let first = schedule.started(&jobs).filter(|one| one.start.start_s == 0);
        let chosen = first.filter(|one| one.start.reason == StartReason::Chosen);
        chosen.map(|one| one.job.id).collect::<Vec<_>>()
    };
    assert_eq!(chosen(1), [1]);
    assert_eq!(chosen(4), [1]);
    assert_eq!(chosen(6), [5, 6]);
}

#[test]
fn bb_10_a_job_that_waits_for_another_takes_no_slot() {
    let mut jobs = vec![
        job(1, 0, 50, 50, &[100, 0]),
        job(2, 1, 10, 10, &[60, 0]),
        job(3, 1, 10, 10, &[60, 0]),
        job(4, 1, 10, 10, &[40, 100]),
    ];
    // The second waits for the fourth: with a window of two the third and the fourth are in it.
    jobs[1].after = Predecessors::end_of(4, 0);
    let jobs = Trace::of_jobs(jobs).unwrap().jobs.to_vec();
    let like = WindowSettings { size: 2, ..like() };
    let schedule = simulate(&jobs, &machine(100, 100), &settings(Method::Bbsched, &like)).unwrap();
    let starts: Vec<_> = schedule.starts.iter().map(|start| start.unwrap().start_s).collect();
    assert_eq!(starts, [0, 60, 50, 50]);
    assert_eq!(start_of(&schedule, 3).reason, StartReason::Chosen);
}

/// A wide job with little burst buffer in front of a stream of pairs that are better together.
fn stream() -> Vec<Job> {
    let wide = job(1, 0, 10, 10, &[90, 0]);
    let pairs = (0..400).map(|nth| job(nth + 2, nth / 2 * 10, 20, 20, &[40, 50]));
    std::iter::once(job(0, 0, 10, 10, &[100, 0]))
        .chain([wide])
        .chain(pairs)
        .collect()
}

#[test]
fn bb_11_a_job_that_is_never_chosen_must_start_after_the_bound() {
    let jobs = stream();
    let of = |bound| {
        let like = WindowSettings { bound, ..like() };
        simulate(&jobs, &machine(100, 100), &settings(Method::ConstrainedBb, &like)).unwrap()
    };
    let free = of(StarvationBound::None);
    // Without a bound it waits until the stream has ended.
    let last_s = free.starts.iter().map(|start| start.unwrap().start_s).max().unwrap();
    assert_eq!(start_of(&free, 1).start_s, last_s);
    let bounded = of(StarvationBound::Passes(50));
    let start = start_of(&bounded, 1);
    assert_eq!(start.reason, StartReason::Forced);
    assert!(start.start_s < last_s / 2, "{start:?}");
    let sooner = start_of(&of(StarvationBound::Passes(10)), 1);
    assert!(sooner.start_s < start.start_s, "{sooner:?}");
    let seconds = start_of(&of(StarvationBound::Seconds(200)), 1);
    assert_eq!(seconds.reason, StartReason::Forced);
    assert!((200..300).contains(&seconds.start_s), "{seconds:?}");
    for schedule in [bounded, of(StarvationBound::Seconds(200))] {
        let found = verify(&jobs, &machine(100, 100), &placements(&jobs, &schedule)).unwrap();
        assert_eq!(found.violations, []);
    }
}

/// Counts the passes in which a job is in the window and is not started.
struct InWindow<'a> {
    job: u32,
    passed_n: u32,
    /// Whether a job was chosen after the bound while this one waited.
    bound: u32,
    chosen_after: &'a mut u32,
    is_started: bool,
}

impl Observer for InWindow<'_> {
    fn pass(&mut self, view: &PassView<'_>) {
        if view.waiting.iter().take(20).any(|waiting| *waiting == self.job) {
            self.passed_n += 1;
        }
    }

    fn started(&mut self, job: u32, start: &Start) {
        self.is_started |= job == self.job;
        if !self.is_started && self.passed_n > self.bound && start.reason == StartReason::Chosen {
            *self.chosen_after += 1;
        }
    }
}

#[test]
fn bb_11_nothing_is_chosen_while_a_job_that_must_start_does_not_fit() {
    let jobs = stream();
    let mut chosen_after = 0;
    let mut observer = InWindow {
        job: 1,
        passed_n: 0,
        bound: 50,
        chosen_after: &mut chosen_after,
        is_started: false,
    };
    let settings = settings(Method::ConstrainedBb, &like());
    simulate_with(&jobs, &machine(100, 100), &settings, &mut observer).unwrap();
    assert!(observer.is_started && observer.passed_n >= 50);
    assert_eq!(chosen_after, 0);
}

#[test]
fn bb_18_there_are_eight_methods_in_the_order_of_the_paper() {
    let words: Vec<_> = Method::EIGHT.iter().map(|method| method.word()).collect();
    let paper = [
        "baseline",
        "weighted",
        "weighted_cpu",
        "weighted_bb",
        "constrained_cpu",
        "constrained_bb",
        "bin_packing",
        "bbsched",
    ];
    assert_eq!(words, paper);
}

#[test]
fn bb_18_all_methods_start_the_same_jobs_and_use_the_same_amounts() {
    let jobs = stream();
    let machine = machine(100, 100);
    for base in [BaseOrder::Fcfs, BaseOrder::Wfp] {
        let mut used = None;
        for method in Method::EIGHT {
            let settings = Settings {
                base,
                ..settings(method, &like())
            };
            let schedule = simulate(&jobs, &machine, &settings).unwrap();
            let found = verify(&jobs, &machine, &placements(&jobs, &schedule)).unwrap();
            assert_eq!(found.violations, [], "{method:?}");
            assert_eq!(*used.get_or_insert(found.used_s.clone()), found.used_s);
        }
    }
}

#[test]
fn bb_19_there_are_seven_methods_with_local_storage() {
    assert_eq!(Method::SEVEN_WITH_SSD.len(), 7);
    assert!(Method::SEVEN_WITH_SSD.contains(&Method::ConstrainedSsd));
    for absent in [Method::WeightedCpu, Method::WeightedBb] {
        assert!(!Method::SEVEN_WITH_SSD.contains(&absent));
    }
}

#[test]
fn bb_19_small_requests_take_small_nodes_first_and_spill_over() {
    let machine = machine(10, 100).with_ssd(5, 128, 256).unwrap();
    let with_ssd = |id, submit_s, nodes, gb| Job {
        ssd_gb: gb,
        ..job(id, submit_s, 10, 10, &[nodes, 0, if gb > 128 { nodes } else { 0 }])
    };
    let jobs = [
        with_ssd(1, 0, 4, 100),
        with_ssd(2, 1, 4, 100),
        with_ssd(3, 2, 3, 200),
        with_ssd(4, 3, 2, 200),
    ];
    let schedule = simulate(&jobs, &machine, &Settings::default()).unwrap();
    let large: Vec<_> = schedule
        .starts
        .iter()
        .map(|start| start.unwrap().large_node_n)
        .collect();
    // The second takes the last small node and three large ones; the third waits for the large ones it needs.
    assert_eq!(large, [0, 3, 3, 2]);
    let starts: Vec<_> = schedule.starts.iter().map(|start| start.unwrap().start_s).collect();
    assert_eq!(starts, [0, 1, 11, 3]);
    let found = verify(&jobs, &machine, &placements(&jobs, &schedule)).unwrap();
    assert_eq!(found.violations, []);
}

#[test]
fn wfp_prefers_long_waits_short_limits_and_wide_jobs() {
    let at = |submit_s, limit_s, nodes| wfp::utility(&job(1, submit_s, 1, limit_s, &[nodes]), 100);
    assert!((at(0, 50, 3) - 24.0).abs() < 1e-12);
    assert!(at(0, 50, 3) > at(50, 50, 3));
    assert!(at(0, 50, 3) > at(0, 100, 3));
    assert!(at(0, 50, 3) > at(0, 50, 2));
    // The wide job is submitted last and starts first.
    let jobs = [
        job(1, 0, 10, 10, &[4]),
        job(2, 1, 10, 10, &[1]),
        job(3, 1, 10, 10, &[4]),
    ];
    let settings = Settings {
        base: BaseOrder::Wfp,
        ..Settings::default()
    };
    let schedule = simulate(&jobs, &machine(4, 0), &settings).unwrap();
    let starts: Vec<_> = schedule.starts.iter().map(|start| start.unwrap().start_s).collect();
    assert_eq!(starts, [0, 20, 10]);
}

#[test]
fn a_window_that_is_not_possible_is_refused() {
    for size in [0, 65] {
        let like = WindowSettings { size, ..like() };
        let error = simulate(&[], &machine(1, 1), &settings(Method::Bbsched, &like)).unwrap_err();
        assert!(error.to_string().contains("1 to 64"), "{error}");
    }
    let like = WindowSettings {
        second: Some("gpus".to_owned()),
        ..like()
    };
    let error = simulate(&[], &machine(1, 1), &settings(Method::Bbsched, &like)).unwrap_err();
    assert!(error.to_string().contains("gpus"), "{error}");
}

fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let one = (0_i64..40, 1_i64..30, 0_i64..20, 1_i64..=16, 0_i64..=40, 0_i64..=256);
    prop::collection::vec(one, 0..40).prop_map(|rows| {
        let jobs = (1..)
            .zip(rows)
            .map(|(id, (submit_s, run_s, more_s, nodes, buffer, ssd_gb))| Job {
                ssd_gb,
                ..job(id, submit_s, run_s, run_s + more_s, &[nodes, buffer])
            });
        Trace::of_jobs(jobs.collect()).unwrap().jobs.to_vec()
    })
}

fn with_large(jobs: &[Job]) -> Vec<Job> {
    let of = |job: &Job| Job {
        need: Demand::of(&[
            job.need.first().min(8),
            job.need.get(1),
            if job.ssd_gb > 128 { job.need.first().min(8) } else { 0 },
        ]),
        ..job.clone()
    };
    jobs.iter().map(of).collect()
}

fn check(jobs: &[Job], machine: &Machine, settings: &Settings) {
    let schedule = simulate(jobs, machine, settings).unwrap();
    let found = verify(jobs, machine, &placements(jobs, &schedule)).unwrap();
    assert_eq!(found.violations, [], "{settings:?}");
    assert_eq!(simulate(jobs, machine, settings).unwrap(), schedule);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_method_makes_a_valid_schedule(
        jobs in any_jobs(),
        method in prop::sample::select(Method::EIGHT.to_vec()),
        base in prop::sample::select(vec![BaseOrder::Fcfs, BaseOrder::Wfp]),
        size in 1_usize..25,
        passes in 0_u32..20,
    ) {
        let like = WindowSettings { size, bound: StarvationBound::Passes(passes), ..like() };
        let settings = Settings { base, ..settings(method, &like) };
        check(&jobs, &machine(16, 40), &settings);
    }

    #[test]
    fn any_method_makes_a_valid_schedule_with_local_storage(
        jobs in any_jobs(),
        method in prop::sample::select(Method::SEVEN_WITH_SSD.to_vec()),
        size in 1_usize..10,
    ) {
        let machine = machine(16, 40).with_ssd(8, 128, 256).unwrap();
        let like = WindowSettings { size, ..like() };
        let window = method.window(true, Tradeoff::Paper, &like);
        check(&with_large(&jobs), &machine, &Settings { window, ..Settings::default() });
    }

    #[test]
    fn the_genetic_algorithm_makes_a_valid_schedule(jobs in any_jobs()) {
        let mut like = WindowSettings { solver: SolverChoice::Genetic, ..like() };
        like.genetic.generation_n = 5;
        check(&jobs, &machine(16, 40), &settings(Method::Bbsched, &like));
    }

    /// A window of one in which a job is chosen if it fits is the baseline.
    #[test]
    fn a_window_of_one_is_the_baseline(jobs in any_jobs()) {
        let like = WindowSettings { size: 1, bound: StarvationBound::None, ..like() };
        let of = |method| {
            let schedule = simulate(&jobs, &machine(16, 40), &settings(method, &like)).unwrap();
            schedule.starts.iter().map(|start| start.unwrap().start_s).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(Method::Bbsched), of(Method::Baseline));
    }
}
