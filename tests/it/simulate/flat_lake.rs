//! Jobs of a lake come to the same wherever they are, and more of them take no more memory.

use std::fmt::Write as _;

use gridtally::report::lake::Lake;
use gridtally::report::simulation::{SimulationTable, page, sentences};
use gridtally::runtime::column::ColumnBudget;
use gridtally::simulate::rng::Rng;
use gridtally::simulate::window::method::Method;
use gridtally::simulation::answers::Answers;
use gridtally::simulation::dataset::write_simulated;
use gridtally::simulation::group_limits::LimitRequest;
use gridtally::simulation::lake_input::lake_input;
use gridtally::simulation::lake_rows::LakeSelection;
use gridtally::simulation::run::Simulation;

use super::flat::question;
use super::lake::{PRICES, Scene, pipeline};

const HEADER: &str = "JobIDRaw|JobID|Cluster|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NCPUS|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList|JobName|SubmitLine\n";

/// Jobs of eight nodes with 16 cores each; some are tasks of arrays, wait for others or until they are alone.
fn dump(job_n: i64, has_arrays: bool) -> String {
    let mut rng = Rng::new(5);
    let mut text = HEADER.to_owned();
    let mut submit_s = 0;
    for id in 1..=job_n {
        submit_s += rng.within(0, 90);
        let (cores, run_s) = (1_i64 << rng.below(5), 60_i64 << rng.below(6));
        let start_s = submit_s + rng.within(0, 900);
        let at = |s: i64| {
            let (day, s) = (1 + s / 86_400, s % 86_400);
            let (month, day) = (10 + (day - 1) / 30, (day - 1) % 30 + 1);
            format!(
                "2026-{month:02}-{day:02}T{:02}:{:02}:{:02}",
                s / 3_600,
                s / 60 % 60,
                s % 60
            )
        };
        let name = if has_arrays && id % 5 == 0 {
            format!("{}_{}", id - id % 10, id % 10)
        } else {
            id.to_string()
        };
        let command = match rng.below(12) {
            0 => format!("sbatch -d afterok:{} x", id - rng.within(1, 30)),
            1 => "sbatch -d singleton x".to_owned(),
            _ => "sbatch x".to_owned(),
        };
        let command = if has_arrays { command } else { String::new() };
        let limit_s = run_s * rng.within(1, 3);
        let node = rng.within(1, 8);
        writeln!(
            text,
            "{id}|{name}|oak|u{}|a{}|cpu|COMPLETED|{}|{}|{}|{}|{run_s}|{:02}:{:02}:{:02}|{cores}|1|cpu={cores},mem={cores}G,node=1|{}|o{node}|n{}|{command}",
            id % 9,
            id % 4,
            at(submit_s),
            at(submit_s),
            at(start_s),
            at(start_s + run_s),
            limit_s / 3_600,
            limit_s / 60 % 60,
            limit_s % 60,
            cores * run_s,
            id % 6
        )
        .unwrap();
    }
    text
}

fn scene(jobs: &str) -> Scene {
    let mut nodes = String::new();
    for n in 1..=8 {
        writeln!(
            nodes,
            "NodeName=o{n} CPUTot=16 Sockets=2 CoresPerSocket=8 RealMemory=65536 Partitions=cpu State=IDLE"
        )
        .unwrap();
    }
    let mut files = vec![("jobs.txt", jobs), ("nodes.txt", nodes.as_str())];
    files.extend(PRICES);
    let more = "[overhead]\nnodes = [\"nodes.txt\"]\n[[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n\
                [[charge]]\npolicies = [\"old.toml\", \"new.toml\"]\n";
    Scene::new(&files, &pipeline(more))
}

/// All that is reported of a simulation, and its dataset.
fn answers(scene: &Scene, budget: ColumnBudget) -> (Simulation, String, Vec<u8>) {
    let lake = Lake::open(scene.folder.path().join("lake").to_str().unwrap()).unwrap();
    let mut question = question(&[Method::Baseline, Method::BinPacking], None);
    question.machine.clear();
    question.limits = vec![LimitRequest::parse("account/a1:cores=64").unwrap()];
    let selection = LakeSelection {
        budget,
        ..LakeSelection::default()
    };
    let input = lake_input(&lake.store, &lake.manifest, &selection, &question).unwrap();
    let mut simulation = Simulation::new(&question, input).unwrap();
    let known = Answers::of(&lake.store, &lake.manifest, &simulation).unwrap();
    let mut text = sentences(&known) + &known.notes.join("\n") + &simulation.input.notes.join("\n");
    simulation.answers = Some(known);
    text += &page(&simulation, "lake").unwrap();
    for table in SimulationTable::TRIAL
        .into_iter()
        .chain(SimulationTable::OF_LAKE)
        .chain([
            SimulationTable::Methods,
            SimulationTable::Sizes,
            SimulationTable::Schedule,
            SimulationTable::Lines,
        ])
    {
        writeln!(text, "{:?}", table.of(&simulation).unwrap()).unwrap();
    }
    let dataset = write_simulated(&simulation, Vec::new()).unwrap();
    (simulation, text, dataset)
}

#[test]
fn records_of_a_temporary_file_come_to_what_those_in_memory_do() {
    for has_arrays in [true, false] {
        let scene = scene(&dump(900, has_arrays));
        let (in_memory, text, dataset) = answers(&scene, ColumnBudget::default());
        let waits = in_memory.input.trace.jobs.iter().any(|job| !job.after.is_empty());
        assert_eq!(waits, has_arrays);
        for byte_n in [1, 20_000, 200_000] {
            let (in_file, other_text, other_dataset) = answers(&scene, ColumnBudget(byte_n));
            assert_eq!(in_memory.input.trace, in_file.input.trace);
            assert_eq!(text, other_text, "{byte_n}");
            assert!(dataset == other_dataset, "{byte_n}");
        }
    }
}

/// Resident kilobytes of a simulation of a lake at most, with all answers and the dataset; `None` without python3.
fn peak_kb(job_n: i64) -> Option<u64> {
    let scene = scene(&dump(job_n, false));
    crate::support::peak::peak_kb(scene.folder.path(), &["simulate", "lake", "--out", "out"])
}

/// More than a kilobyte a job was held: 130 MB more for the larger lake.
#[test]
fn more_records_take_no_more_memory() {
    let (Some(few), Some(many)) = (peak_kb(30_000), peak_kb(120_000)) else {
        eprintln!("SKIPPED more_records_take_no_more_memory: no python3");
        return;
    };
    assert!(many.saturating_sub(few) < 32_000, "{few} kB, then {many} kB");
}
