//! A simulation of many jobs takes the memory of a simulation of some, and comes to the same wherever its jobs are.

use std::fmt::Write as _;

use gridtally::report::simulation::{SimulationTable, page};
use gridtally::runtime::column::{Column, ColumnBudget};
use gridtally::runtime::sorter::Sorter;
use gridtally::simulate::rng::Rng;
use gridtally::simulate::settings::Settings;
use gridtally::simulate::swf::SwfLog;
use gridtally::simulate::trace::SwfRules;
use gridtally::simulate::window::WindowSettings;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::method::Method;
use gridtally::simulate::workload::Workload;
use gridtally::simulation::dataset::write_simulated;
use gridtally::simulation::question::{MachineOutages, MeasuredTime, SimulationQuestion};
use gridtally::simulation::run::Simulation;
use gridtally::simulation::stated_priorities::StatedPriorities;
use proptest::prelude::*;

use super::machine;

/// A log of a machine with 64 processors that is nearly full: jobs that wait for others, two in a second, some without a start.
fn log(job_n: i64, with_predecessors: bool) -> String {
    let mut rng = Rng::new(7);
    let mut text = String::from("; MaxProcs: 64\n");
    let mut submit_s = 0;
    for id in 1..=job_n {
        submit_s += rng.within(0, 300);
        let (processors, run_s) = (1_i64 << rng.below(6), 60_i64 << rng.below(5));
        let limit_s = run_s * rng.within(1, 3);
        let wait_s = rng.within(0, 900);
        let before = if with_predecessors && rng.happens(100_000) {
            id - rng.within(1, 40)
        } else {
            -1
        };
        writeln!(
            text,
            "{id} {submit_s} {wait_s} {run_s} {processors} -1 -1 {processors} {limit_s} -1 1 {} {} -1 1 -1 {before} 30",
            id % 40,
            id % 7
        )
        .unwrap();
    }
    text
}

pub(super) fn question(methods: &[Method], workload: Option<Workload>) -> SimulationQuestion {
    let kinds = machine(64, 300_000).kinds().to_vec();
    SimulationQuestion {
        machine: kinds,
        added: Vec::new(),
        outages: MachineOutages::Recorded,
        rules: SwfRules::Standard,
        methods: methods.to_vec(),
        scheduler: Settings::default(),
        priorities: StatedPriorities::default(),
        limits: Vec::new(),
        window: WindowSettings::default(),
        decision: Tradeoff::Paper,
        workload,
        seed: 1,
        measured: MeasuredTime::Whole,
    }
}

/// All that is reported of a simulation, and its dataset.
fn answers(log: &str, budget: ColumnBudget) -> (Simulation, String, Vec<u8>) {
    let log = SwfLog::read(log.as_bytes(), budget).unwrap();
    let question = question(&Method::EIGHT, Some(Workload::S4));
    let simulation = Simulation::new(&question, question.input(&log).unwrap()).unwrap();
    let mut text = page(&simulation, "log").unwrap();
    for table in [
        SimulationTable::Methods,
        SimulationTable::Sizes,
        SimulationTable::Runtimes,
        SimulationTable::Requests,
        SimulationTable::Kiviat,
        SimulationTable::Schedule,
        SimulationTable::Lines,
        SimulationTable::Replay,
        SimulationTable::BackTest,
        SimulationTable::Agreement,
    ] {
        writeln!(text, "{:?}", table.of(&simulation).unwrap()).unwrap();
    }
    let dataset = write_simulated(&simulation, Vec::new()).unwrap();
    (simulation, text, dataset)
}

#[test]
fn jobs_of_a_temporary_file_come_to_what_those_in_memory_do() {
    let log = log(1_500, true);
    let (in_memory, text, dataset) = answers(&log, ColumnBudget::default());
    assert!(in_memory.input.trace.jobs.iter().any(|job| !job.after.is_empty()));
    assert_eq!(in_memory.runs.len(), 9);
    for byte_n in [1, 5_000, 60_000] {
        let (in_file, other_text, other_dataset) = answers(&log, ColumnBudget(byte_n));
        assert_eq!(in_memory.input.trace, in_file.input.trace);
        for (one, other) in in_memory.runs.iter().zip(&in_file.runs) {
            assert_eq!(one.schedule, other.schedule, "{}", one.word);
        }
        assert_eq!(text, other_text, "{byte_n}");
        assert!(dataset == other_dataset, "{byte_n}");
    }
}

/// Resident kilobytes of a simulation at most, with its page and dataset; `None` without python3.
fn peak_kb(log: &str) -> Option<u64> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.swf"), log).unwrap();
    crate::support::peak::peak_kb(folder.path(), &["simulate", "log.swf", "--out", "out"])
}

/// Some 700 bytes a job were held: 100 MB more for the larger log.
#[test]
fn more_jobs_take_no_more_memory() {
    let (Some(few), Some(many)) = (peak_kb(&log(50_000, false)), peak_kb(&log(200_000, false))) else {
        eprintln!("SKIPPED more_jobs_take_no_more_memory: no python3");
        return;
    };
    assert!(many.saturating_sub(few) < 24_000, "{few} kB, then {many} kB");
}

proptest! {
    #[test]
    fn values_are_sorted_however_little_memory_there_is(
        numbers in prop::collection::vec(-50_i64..50, 0..700),
        byte_n in 0_usize..400,
    ) {
        let mut sorter = Sorter::new(ColumnBudget(byte_n));
        for number in &numbers {
            sorter.push(*number).unwrap();
        }
        let mut sorted = numbers;
        sorted.sort_unstable();
        prop_assert_eq!(sorter.finish().unwrap().collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn a_column_has_its_values_wherever_they_are(
        numbers in prop::collection::vec(any::<i64>(), 0..20_000),
        byte_n in 0_usize..200_000,
        places in prop::collection::vec(0_usize..20_000, 0..60),
    ) {
        let column = Column::of(numbers.iter().copied(), ColumnBudget(byte_n)).unwrap();
        prop_assert_eq!(column.to_vec(), numbers.clone());
        let mut reader = column.reader();
        for place in places {
            prop_assert_eq!(reader.get(place), numbers.get(place));
        }
        prop_assert_eq!(&column, &Column::from(numbers));
    }
}
