//! Lines of a log: every one becomes a job or is counted under a reason.

use std::collections::BTreeMap;

use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::JobEnd;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::predecessor::Predecessors;
use gridtally::simulate::replay::recorded;
use gridtally::simulate::replay_check::check;
use gridtally::simulate::settings::Settings;
use gridtally::simulate::trace::{NeverFitting, SwfRules, Trace, TraceChange, TraceReason};

use super::read_log;

const LOG: &str = "\
; Version: 2.2
; MaxProcs: 8
; MaxProcs: 9
; Note: a log for tests
;Installation:   nowhere
1 10 5 100 4 -1 -1 4 200 -1 1 7 3 -1 1 -1 -1 -1
; MaxNodes: 7 not of the header
2 20.5 -1 100.0 2 -1 -1 -1 -1 -1 0 7 3 -1 1 -1 1 30
3 30 0 -1 -1 -1 -1 4 200 -1 5 -1 -1 -1 1 -1 -1 -1
4 30 0 0 4 -1 -1 4 200 -1 1 -1 -1 -1 1 -1 -1 -1
5 40 0 50 0 -1 -1 -1 200 -1 1 -1 -1 -1 1 -1 -1 -1
6 -5 0 50 1 -1 -1 1 200 -1 1 -1 -1 -1 1 -1 -1 -1
7 50 0 50 1 -1 -1 1 200 -1 2 -1 -1 -1 1 -1 -1 -1
8 50 0 300 1 -1 -1 1 200 -1 1 -1 -1 -1 1 -1 99 -1
9 60 0 50 9 -1 -1 9 200 -1 1 -1 -1 -1 1 -1 -1 -1
10 70 0 50 1 -1 -1 1 200 -1 1 -1 -1
11 70 0 x 1 -1 -1 1 200 -1 1 -1 -1 -1 1 -1 -1 -1
8 45 0 10 1 -1 -1 1 200 -1 1 -1 -1 -1 1 -1 -1 -1 {4,5} more columns
12 80 0 1e3 1 -1 -1 1 200 -1 1 -1 -1 -1 1 -1 -1 -1
13 99999999999999999999 0 10 1 -1 -1 1 200 -1 1 -1 -1 -1 1 -1 -1 -1
";

fn counts<K: Ord + Copy>(counts: &[(K, u64)]) -> BTreeMap<K, u64> {
    counts.iter().copied().collect()
}

#[test]
fn the_header_is_what_is_before_the_first_job() {
    let log = read_log(LOG.as_bytes());
    assert_eq!((log.header.max_procs, log.header.max_nodes), (Some(8), None));
    assert_eq!(log.header.version.as_deref(), Some("2.2"));
    assert_eq!(log.lines.len(), 11);
    assert_eq!(log.fraction_n, 1);
}

#[test]
fn unreadable_lines_are_named_with_their_reason() {
    let log = read_log(LOG.as_bytes());
    let problems: Vec<_> = log
        .problems
        .iter()
        .map(|problem| (problem.line, problem.reason))
        .collect();
    let range = "a field is not a number, or is out of range";
    assert_eq!(
        problems,
        [(16, "it has fewer than 18 fields"), (17, range), (20, range)]
    );
}

#[test]
fn every_line_is_a_job_or_counted_under_a_reason() {
    let log = read_log(LOG.as_bytes());
    let trace = Trace::of_swf(&log, SwfRules::Standard).unwrap();
    let left_out = [
        (TraceReason::Unreadable, 3),
        (TraceReason::CancelledWaiting, 1),
        (TraceReason::DidNotRun, 1),
        (TraceReason::NoProcessors, 1),
        (TraceReason::SubmittedBefore, 1),
        (TraceReason::PartOfJob, 1),
    ];
    assert_eq!(trace.left_out, counts(&left_out));
    let changed = [
        (TraceChange::NoLimit, 1),
        (TraceChange::RanOverLimit, 2),
        (TraceChange::UnknownPredecessor, 1),
        (TraceChange::RepeatedNumber, 1),
    ];
    assert_eq!(trace.changed, counts(&changed));
    assert!(trace.is_closed());
    let jobs: Vec<_> = (trace.jobs.iter())
        .map(|job| (job.id, job.submit_s, job.run_s, job.limit_s, job.need.first()))
        .collect();
    assert_eq!(
        jobs,
        [
            (1, 10, 100, 200, 4),
            (2, 20, 100, 100, 2),
            (8, 45, 10, 200, 1),
            (8, 50, 200, 200, 1),
            (9, 60, 50, 200, 9),
            // 1e3 seconds, cut to the limit: a number as accounting reads it.
            (12, 80, 200, 200, 1)
        ]
    );
    assert_eq!(trace.jobs.get(0).unwrap().ended, JobEnd::Completed);
    assert_eq!(trace.jobs.get(0).unwrap().recorded_start_s, Some(15));
    assert_eq!(trace.jobs.get(1).unwrap().after, Predecessors::end_of(1, 30));
    assert_eq!(trace.jobs.get(1).unwrap().ended, JobEnd::Failed);
    assert_eq!(trace.jobs.get(1).unwrap().recorded_start_s, None);
}

#[test]
fn a_job_that_never_fits_is_listed_with_what_it_requests() {
    let log = read_log(LOG.as_bytes());
    let machine = Machine::of_one("processors", 8).unwrap();
    let trace = Trace::of_swf(&log, SwfRules::Standard).unwrap().on(&machine).unwrap();
    assert_eq!(
        trace.never_fitting,
        [NeverFitting {
            id: 9,
            kind: 0,
            requested: 9
        }]
    );
    assert_eq!(trace.left_out[&TraceReason::NeverFits], 1);
    assert_eq!(trace.changed[&TraceChange::RepeatedNumber], 1);
    assert!(trace.is_closed());
}

#[test]
fn changes_are_those_of_the_jobs_that_are_simulated() {
    // Job 1 has no limit and never fits; job 2 waits for an unknown one, job 3 for job 1.
    let log = read_log(
        b"1 0 0 10 9 -1 -1 9 -1 -1 1 -1 -1 -1 1 -1 -1 -1\n\
          2 0 0 10 1 -1 -1 1 20 -1 1 -1 -1 -1 1 -1 7 -1\n\
          3 0 0 10 1 -1 -1 1 20 -1 1 -1 -1 -1 1 -1 1 -1\n",
    );
    let trace = Trace::of_swf(&log, SwfRules::Standard).unwrap();
    let all = [(TraceChange::NoLimit, 1), (TraceChange::UnknownPredecessor, 1)];
    assert_eq!(trace.changed, counts(&all));
    let machine = Machine::of_one("processors", 8).unwrap();
    let trace = trace.on(&machine).unwrap();
    assert_eq!(trace.changed, counts(&[(TraceChange::UnknownPredecessor, 2)]));
}

#[test]
fn a_recorded_run_is_as_long_as_it_was_beyond_its_limit() {
    // Job 1 ran 200 s of a limit of 100 s, and job 2 started on as many processors meanwhile.
    let log = read_log(
        b"; MaxProcs: 4\n1 0 0 200 4 -1 -1 4 100 -1 1 -1 -1 -1 1 -1 -1 -1\n\
          2 0 100 100 4 -1 -1 4 100 -1 1 -1 -1 -1 1 -1 -1 -1\n",
    );
    let machine = Machine::of_one("processors", 4).unwrap();
    for rules in [SwfRules::Standard, SwfRules::Pyss, SwfRules::Cqsim] {
        let jobs = Trace::of_swf(&log, rules).unwrap().jobs;
        let past = recorded(&jobs).unwrap().schedule;
        let found = check(&jobs, &machine, &past).unwrap()[0];
        assert_eq!(
            (found.peak, found.peak_s, found.beyond.length_s),
            (8, 100, 100),
            "{rules:?}"
        );
        // Simulated it ends at its limit.
        let schedule = simulate(&jobs, &machine, &Settings::default()).unwrap();
        let ends = schedule.started(&jobs).map(|started| started.end_s());
        assert_eq!(ends.collect::<Vec<_>>(), [100, 200], "{rules:?}");
    }
}

#[test]
fn the_rules_of_other_simulators_differ() {
    let log = read_log(LOG.as_bytes());
    let pyss = Trace::of_swf(&log, SwfRules::Pyss).unwrap();
    // Lines without a run, processors or limit run one second on one processor; none is left out.
    assert_eq!(pyss.left_out, counts(&[(TraceReason::Unreadable, 3)]));
    let minimal = pyss
        .jobs
        .iter()
        .filter(|job| (job.run_s, job.limit_s, job.need.first()) == (1, 1, 1));
    assert_eq!(
        minimal.map(|job| (job.id, job.submit_s)).collect::<Vec<_>>(),
        [(6, 1), (2, 20), (3, 30), (4, 30), (5, 40)]
    );
    // Who ran over the limit ends there, and is expected to end where it did.
    let over = pyss.jobs.iter().find(|job| job.id == 8 && job.submit_s == 50).unwrap();
    assert_eq!((over.run_s, over.limit_s), (200, 300));
    let cqsim = Trace::of_swf(&log, SwfRules::Cqsim).unwrap();
    // Only requested processors count.
    assert_eq!(cqsim.left_out[&TraceReason::NoProcessors], 2);
}

#[test]
fn an_empty_log_has_no_jobs() {
    for text in ["", "\n\n", "; Version: 2.2\n;\n"] {
        let log = read_log(text.as_bytes());
        let trace = Trace::of_swf(&log, SwfRules::Standard).unwrap();
        assert!(trace.jobs.is_empty() && trace.is_closed(), "{text:?}");
    }
}

#[test]
fn times_too_long_to_add_up_are_an_error() {
    let line = "1 1 0 1099511627776 1 -1 -1 1 1099511627776 -1 1 -1 -1 -1 1 -1 -1 -1\n";
    let log = read_log(line.repeat(3_000_000).as_bytes());
    let error = Trace::of_swf(&log, SwfRules::Standard).unwrap_err();
    assert!(error.to_string().contains("too many to simulate"), "{error}");
}

#[test]
fn burst_buffer_is_read_where_the_header_has_it() {
    let line = "1 0 0 10 4 -1 -1 4 20 -1 1 -1 -1 -1 1 -1 -1 -1 7000";
    let of = |text: &str| {
        let trace = Trace::of_swf(&read_log(text.as_bytes()), SwfRules::Standard).unwrap();
        (trace.jobs.len(), trace.jobs.first().map(|job| job.need.get(1)))
    };
    assert_eq!(of(line), (1, Some(0)));
    assert_eq!(of(&format!("; BurstBuffer: 9000\n{line}\n")), (1, Some(7_000)));
    assert_eq!(of(&format!("\u{feff}; BurstBuffer: 9000\n{line}x\n")), (0, None));
}

#[test]
fn a_number_in_column_19_of_a_log_without_its_header_is_counted() {
    let line = "1 0 0 10 4 -1 -1 4 20 -1 1 -1 -1 -1 1 -1 -1 -1";
    let of = |text: &str| read_log(text.as_bytes()).unread_column_n;
    assert_eq!(of(&format!("{line}\n{line} 7000\n{line} -1\n")), 2);
    assert_eq!(of(&format!("; BurstBuffer: 9000\n{line} 7000\n")), 0);
    // A list of nodes is none.
    assert_eq!(of(&format!("{line} {{4,5}} more columns\n")), 0);
}
