//! Jobs of a lake: the same schedule as of the log it was made of, and answers worked out by hand.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

use gridtally::schema;
use gridtally::schema::batch::{int, text};
use gridtally::store::{Store, read_table};
use tempfile::TempDir;

use crate::support::sample::repository;

pub(super) const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NCPUS|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList\n";

/// A folder with a pipeline and its lake.
pub(super) struct Scene {
    pub(super) folder: TempDir,
}

impl Scene {
    pub(super) fn new(files: &[(&str, &str)], pipeline: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::write(folder.path().join("p.toml"), pipeline).unwrap();
        let scene = Self { folder };
        let output = scene.command("run", &["p.toml"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        scene
    }

    pub(super) fn command(&self, command: &str, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .arg(command)
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    pub(super) fn simulate(&self, args: &[&str]) -> Output {
        self.command("simulate", args)
    }
}

pub(super) fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The rows of a CSV below its header.
pub(super) fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip(1);
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn pipeline_of_swf() -> &'static str {
    "[pipeline]\nname = \"log\"\noutput = \"lake\"\n[[source]]\nname = \"log\"\nformat = \"swf\"\npaths = [\"log.swf\"]\n\
     site = \"A\"\nvo = { value = \"v\" }\n"
}

/// Job, start less the beginning of the log, end, reason, pass: all that a schedule is.
fn schedule(text: &str, begins_s: i64) -> Vec<(i64, i64, i64, String, String)> {
    let mut jobs: Vec<_> = rows(text)
        .iter()
        .filter(|row| row[0] != "recorded")
        .map(|row| {
            let second = |text: &str| text.parse::<i64>().unwrap() - begins_s;
            let [.., reason, pass, _] = row.as_slice() else {
                panic!("{row:?}")
            };
            (
                row[1].parse().unwrap(),
                second(&row[3]),
                second(&row[4]),
                reason.clone(),
                pass.clone(),
            )
        })
        .collect();
    jobs.sort();
    jobs
}

const WAYS: [&[&str]; 4] = [
    &[],
    &["--order", "wfp"],
    &["--backfill", "conservative"],
    &["--methods", "bin_packing"],
];

fn same_from_log_and_lake(log: &str, core_n: i64, begins_s: i64) {
    let scene = Scene::new(&[("log.swf", log)], pipeline_of_swf());
    let table = ["--table", "schedule", "--format", "csv"];
    let (cores, processors) = (format!("cores={core_n}"), format!("processors={core_n}"));
    for way in WAYS {
        let of_log = scene.simulate(&[&["log.swf", "--machine", &processors], way, &table[..]].concat());
        let of_lake = scene.simulate(&[&["lake", "--machine", &cores], way, &table[..]].concat());
        let (of_log, of_lake) = (stdout(&of_log), stdout(&of_lake));
        assert_eq!(schedule(&of_log, 0), schedule(&of_lake, begins_s), "{way:?}");
    }
}

#[test]
fn a_log_and_the_lake_made_of_it_give_the_same_schedule() {
    let log = fs::read_to_string(repository("sample-data/trace.swf")).unwrap();
    same_from_log_and_lake(&log, 64, 1_767_225_600);
}

#[test]
fn random_logs_and_the_lakes_made_of_them_give_the_same_schedules() {
    // A generator of its own: equal seeds give equal logs.
    let mut state = 20_261_125_u64;
    let mut next = move |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for _ in 0..3 {
        let mut log = "; Version: 2.2\n; UnixStartTime: 1000000000\n; MaxProcs: 16\n".to_owned();
        let mut submit_s = 0;
        for id in 1..=120 {
            submit_s += next(200);
            let (core_n, run_s) = (next(20) + 1, next(900) + 1);
            let limit_s = run_s + next(600);
            let wait_s = next(300);
            let _ = writeln!(
                log,
                "{id} {submit_s} {wait_s} {run_s} {core_n} -1 -1 {core_n} {limit_s} -1 1 1 1 -1 1 -1 -1 -1"
            );
        }
        same_from_log_and_lake(&log, 16, 1_000_000_000);
    }
}

/// Two jobs of all four cores, the second of which waited an hour too long, over the edge of a year's prices.
pub(super) const JOBS: &str = "1|oak|u|a|cpu|COMPLETED|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T23:00:00|3600|01:00:00|4|1|cpu=4,mem=4G,node=1|3600000|o1\n\
    2|oak|u|b|cpu|COMPLETED|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-11-01T00:00:00|2026-11-01T01:00:00|3600|01:00:00|4|1|cpu=4,mem=4G,node=1|7200000|o1\n";
pub(super) const NODES: &str =
    "NodeName=o1 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=16384 Partitions=cpu State=IDLE\n";
pub(super) const PRICES: [(&str, &str); 2] = [
    (
        "old.toml",
        "id = \"cores\"\nversion = \"1\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"cpu\"\nunit = \"core_hour\"\n\
         valid_to = 2026-11-01\nformula = \"cores * seconds / 3600\"\n[[example]]\nname = \"one\"\nin = { cores = 2, hours = 2 }\nexpect = 4\n",
    ),
    (
        "new.toml",
        "id = \"cores\"\nversion = \"2\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"cpu\"\nunit = \"core_hour\"\n\
         valid_from = 2026-11-01\nformula = \"2 * cores * seconds / 3600\"\n[[example]]\nname = \"one\"\nin = { cores = 2, hours = 2 }\nexpect = 8\n",
    ),
];

pub(super) fn pipeline(more: &str) -> String {
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
         site = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n{more}"
    )
}

pub(super) const OVERHEAD: &str =
    "[overhead]\nnodes = [\"nodes.txt\"]\n[[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n";

fn priced() -> Scene {
    let jobs = format!("{HEADER}{JOBS}");
    let mut files = vec![("jobs.txt", jobs.as_str()), ("nodes.txt", NODES)];
    files.extend(PRICES);
    let more = format!("{OVERHEAD}[[charge]]\npolicies = [\"old.toml\", \"new.toml\"]\n");
    Scene::new(&files, &pipeline(&more))
}

#[test]
fn prices_of_the_day_follow_the_simulated_start() {
    let scene = priced();
    let text = stdout(&scene.simulate(&["lake"]));
    for line in [
        // The first waits nothing, the second an hour in place of two.
        "baseline would have saved 50.0 % of waits (a mean of 1800.0 s in place of 3600.0 s), cost b, whose charge changes \
         most, 4 core_hour less under cores and freed 0.0 node-days.",
        "recorded starts held against the machine",
        "back-test: baseline against what happened",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let charges = stdout(&scene.simulate(&["lake", "--table", "charges", "--format", "csv"]));
    // Four core hours each: the second job at the price of October in place of that of November.
    assert_eq!(
        charges,
        "method,policy,unit,account,vo,job_n,unpriced_job_n,recorded_charge,charge,change,change_percent\n\
         baseline,cores,core_hour,a,v,1,0,4.000000000,4.000000000,0.000000000,0.00\n\
         baseline,cores,core_hour,b,v,1,0,8.000000000,4.000000000,-4.000000000,-50.00\n"
    );
}

#[test]
fn awards_are_used_when_jobs_run_in_the_schedule() {
    let jobs = format!("{HEADER}{JOBS}");
    // b has an award for October and one for November; a has one for both, which lab contains.
    let awards = "award,account,policy,amount,unit,valid_from,valid_to,parent\n\
        lab,lab,cores,100,core_hour,2026-10-01,2026-12-01,\n\
        all,a,cores,50,core_hour,2026-10-01,2026-12-01,lab\n\
        oct,b,cores,10,core_hour,2026-10-01,2026-11-01,\n\
        nov,b,cores,20,core_hour,2026-11-01,2026-12-01,\n";
    let mut files = vec![
        ("jobs.txt", jobs.as_str()),
        ("nodes.txt", NODES),
        ("awards.csv", awards),
    ];
    files.extend(PRICES);
    let more =
        format!("{OVERHEAD}[[charge]]\npolicies = [\"old.toml\", \"new.toml\"]\n[awards]\ntable = \"awards.csv\"\n");
    let scene = Scene::new(&files, &pipeline(&more));
    let used = stdout(&scene.simulate(&["lake", "--table", "awards", "--format", "csv"]));
    // Job 1 costs a four core-hours of October under both. Job 2 ran in November for eight, at the new price; simulated it runs
    // an hour after job 1, in October, for four.
    assert_eq!(
        used,
        "method,award,unit,recorded_used,used,change\n\
         baseline,all,core_hour,4.000000000,4.000000000,0.000000000\n\
         baseline,lab,core_hour,4.000000000,4.000000000,0.000000000\n\
         baseline,nov,core_hour,8.000000000,0.000000000,-8.000000000\n\
         baseline,oct,core_hour,0.000000000,4.000000000,4.000000000\n"
    );
    // What happened is what the lake itself reports.
    let report = scene.command("report", &["awards", "lake", "--on", "2026-11-30", "--format", "csv"]);
    let text = stdout(&report);
    let rows = rows(&text);
    let used: Vec<(&str, &str)> = rows.iter().map(|row| (row[2].as_str(), row[11].as_str())).collect();
    assert_eq!(
        used,
        [
            ("lab", "4.000000000"),
            ("all", "4.000000000"),
            ("oct", "0.000000000"),
            ("nov", "8.000000000")
        ]
    );
}

#[test]
fn free_units_and_energy_are_those_of_the_recorded_time() {
    let scene = priced();
    // Three hours of a node of four cores and 16 GiB: one of them idle, four units of a core and 2 GiB in it.
    let overhead = stdout(&scene.simulate(&["lake", "--table", "overhead", "--format", "csv"]));
    assert_eq!(
        overhead,
        "method,unit,free_unit_h,free_unit_change_h,overhead_core_h,stranded_core_h,allocated_core_h,unavailable_core_h,capacity_core_h,idle_node_d,without_place_job_n\n\
         recorded,1c2g,4.00,0.00,4.00,0.00,8.00,0.00,12.00,0.04,0\n\
         baseline,1c2g,4.00,0.00,4.00,0.00,8.00,0.00,12.00,0.04,0\n"
    );
    let energy = stdout(&scene.simulate(&["lake", "--table", "energy", "--format", "csv"]));
    assert_eq!(
        energy,
        "method,known_job_n,job_n,energy_kwh,within_recorded_time_kwh,after_recorded_end_kwh\n\
         recorded,2,2,3.000,3.000,0.000\nbaseline,2,2,3.000,3.000,0.000\n"
    );
    // Of a log nothing of this is known.
    fs::write(
        scene.folder.path().join("log.swf"),
        "1 0 0 9 1 -1 -1 1 9 -1 1 1 1 -1 1 -1 -1 -1\n",
    )
    .unwrap();
    let refused = scene.simulate(&["log.swf", "--machine", "cores=4", "--table", "charges"]);
    assert!(stderr(&refused).contains("of jobs of a lake"), "{}", stderr(&refused));
}

#[test]
fn what_a_record_lacks_is_counted() {
    let jobs = format!(
        "{HEADER}\
         1|oak|u|a|cpu|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:30:00|2026-10-01T01:00:00|2026-10-01T02:00:00|3600|UNLIMITED|4|1|cpu=4,mem=4G,node=1||o1\n\
         2|oak|u|a|cpu|TIMEOUT|Unknown|Unknown|2026-10-01T02:00:00|2026-10-01T03:00:00|3600|00:30:00|1|1|cpu=1,node=1||o1\n\
         3|oak|u|a|cpu|CANCELLED by 1|2026-10-01T00:00:00|2026-10-01T00:00:00|None|2026-10-01T00:10:00|0|01:00:00|0|0|||None assigned\n\
         4|oak|u|a|cpu|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T03:00:00|2026-10-01T04:00:00|3600|01:00:00|99|1|cpu=99,mem=4G,node=1||o1\n"
    );
    let scene = Scene::new(&[("jobs.txt", &jobs), ("nodes.txt", NODES)], &pipeline(OVERHEAD));
    let output = scene.simulate(&["lake", "--format", "csv"]);
    let notes = stderr(&output);
    for note in [
        "the machine is that of the inventory: 1 nodes with 4 cores, 16384 memory_mib",
        "left out, cancelled_waiting: 1 of 4 records",
        "left out, never_fits: 1 of 4 records",
        "simulated other than written, no_limit: 1 jobs",
        "simulated other than written, limit_raised: 1 jobs",
        "simulated other than written, no_submission: 1 jobs",
        "simulated other than written, held_until_eligible: 1 jobs",
        "simulated other than written, no_memory: 1 jobs",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let lines = stdout(&scene.simulate(&["lake", "--table", "lines", "--format", "csv"]));
    assert_eq!(
        lines,
        "outcome,line_n,of_simulated_n\nsimulated,2,\ncancelled_waiting,1,\nnever_fits,1,\nno_limit,,1\nlimit_raised,,1\n\
         no_submission,,1\nheld_until_eligible,,1\nno_memory,,1\n"
    );
    let explained = stdout(&scene.simulate(&["lake", "--explain", "1"]));
    assert!(explained.contains("4 cores, 4096 memory_mib"), "{explained}");
    // With a hundred cores more the job of 99 fits.
    let more = stdout(&scene.simulate(&["lake", "--add", "cores=100", "--table", "lines", "--format", "csv"]));
    assert!(
        more.starts_with("outcome,line_n,of_simulated_n\nsimulated,3,\ncancelled_waiting,1,\nno_limit,,1\n"),
        "{more}"
    );
}

#[test]
fn nodes_that_are_down_take_no_jobs() {
    let jobs = format!("{HEADER}{JOBS}");
    let events = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n\
        oak|o1|2026-10-31T22:30:00|2026-10-31T23:30:00|DRAIN|fan\n\
        oak|o1|2026-10-31T23:10:00|2026-10-31T23:40:00|DOWN|board\n";
    let inventory =
        "[[inventory]]\nname = \"state\"\npaths = [\"events.txt\"]\ntimezone = \"UTC\"\nas_of = \"2026-10-01\"\n";
    let scene = Scene::new(
        &[("jobs.txt", &jobs), ("nodes.txt", NODES), ("events.txt", events)],
        &pipeline(&format!("{inventory}{OVERHEAD}")),
    );
    let starts = |args: &[&str]| {
        let args = [&["lake", "--table", "schedule", "--format", "csv"], args].concat();
        let output = scene.simulate(&args);
        let text = stdout(&output);
        let simulated = rows(&text).into_iter().filter(|row| row[0] == "baseline");
        let starts: Vec<i64> = simulated
            .map(|row| row[3].parse::<i64>().unwrap() - 1_793_484_000)
            .collect();
        (starts, stderr(&output))
    };
    // From 22:00 in seconds: the second job starts when the later of the two outages ends.
    let (with_outages, notes) = starts(&[]);
    assert_eq!(with_outages, [0, 6000]);
    assert!(notes.contains("nodes took no jobs 1 times"), "{notes}");
    assert!(
        notes.contains("1 events of nodes begin before an earlier event"),
        "{notes}"
    );
    let explained = stdout(&scene.simulate(&["lake", "--explain", "2"]));
    assert_eq!(
        explained,
        "job 2: 4 cores, 4096 memory_mib, submitted at 2026-10-31T22:00:00Z, ran 3600 s of 3600 s\n\
         recorded: it started at 2026-11-01T00:00:00Z and waited 7200 s\n\
         baseline: it starts at 2026-10-31T23:40:00Z, in pass 4, after 6000 s: it was first in the order and fitted\n  \
         its first pass, 1 at 2026-10-31T22:00:00Z: free 4 of 4 cores, 16384 of 16384 memory_mib; job 1 was ahead\n    \
         promised to start at 2026-10-31T23:00:00Z at the latest\n  \
         in 1 pass it did not start: there were not enough cores\n  \
         in 1 pass it did not start: there would have been enough cores, had all of the machine taken jobs\n  \
         in 1 pass it did not start: it fitted at first, and jobs ahead took what was free\n    \
         an outage held it in 1 pass: from 2026-10-31T22:30:00Z to 2026-10-31T23:40:00Z 4 of 4 cores, 16384 of 16384 \
         memory_mib took no jobs: o1 down or drained\n  \
         its last pass, 4 at 2026-10-31T23:40:00Z: free 4 of 4 cores, 16384 of 16384 memory_mib; no job was ahead\n  \
         in that second 4 cores took jobs again\n  \
         in that second 16384 memory_mib took jobs again\n"
    );
    let (without, _) = starts(&["--outages", "none"]);
    assert_eq!(without, [0, 3600]);
    let replay = stdout(&scene.simulate(&["lake", "--table", "replay", "--format", "csv"]));
    // The first job ran on while its node drained.
    assert!(
        replay.contains("cores,4,4,available,1,1800,16.67,2026-10-31T22:30:00Z"),
        "{replay}"
    );
}

/// Two GPUs of a stated model, two of an unstated one, and a core alone.
#[test]
fn the_order_of_a_stated_machine_makes_no_difference() {
    let job = |id: u32, gpus: &str| {
        format!(
            "{id}|oak|u|a|gpu|COMPLETED|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T23:00:00|3600|01:00:00|1|1|cpu=1,{gpus}node=1|1|o1\n"
        )
    };
    let jobs = [
        HEADER.to_owned(),
        job(1, "gres/gpu:a100=2,gres/gpu=2,"),
        job(2, "gres/gpu=2,"),
        job(3, ""),
    ];
    let scene = Scene::new(&[("jobs.txt", &jobs.concat())], &pipeline(""));
    let answer = |kinds: &[&str], table: &str| {
        let machine = kinds.iter().flat_map(|kind| ["--machine", *kind]);
        let common = ["lake", "--table", table, "--format", "csv"];
        stdout(&scene.simulate(&common.into_iter().chain(machine).collect::<Vec<_>>()))
    };
    for kinds in [
        ["cores=8", "gpus=2", "licenses:x=3", "memory_mib=100"],
        ["cores=8", "gpus:a100=2", "gpus:h100=1", "nodes=4"],
    ] {
        let mut turned = kinds;
        for _ in 0..4 {
            turned.rotate_left(1);
            for table in ["schedule", "lines", "methods"] {
                assert_eq!(answer(&turned, table), answer(&kinds, table), "{turned:?}");
            }
        }
        assert!(answer(&kinds, "lines").starts_with("outcome,line_n,of_simulated_n\nsimulated,3,\n"));
    }
    assert_eq!(
        answer(&["gpus:a100=2", "cores=8"], "lines"),
        "outcome,line_n,of_simulated_n\nsimulated,3,\nno_gpu_model,,1\n"
    );
    // Without cores jobs are counted by their GPUs, of whichever model.
    assert_eq!(
        answer(&["gpus:h100=2", "gpus:a100=2"], "lines"),
        "outcome,line_n,of_simulated_n\nsimulated,1,\nno_processors,2,\n"
    );
}

#[test]
fn options_of_a_lake_are_refused_for_a_log_and_the_reverse() {
    let scene = priced();
    let refused = |args: &[&str]| {
        let output = scene.simulate(args);
        assert!(!output.status.success());
        stderr(&output)
    };
    assert!(refused(&["p.toml", "--cluster", "oak"]).contains("select of a lake"));
    assert!(refused(&["lake", "--cluster", "elm"]).contains("it has oak"));
    assert!(refused(&["lake", "--site", "B"]).contains("no site B"));
    assert!(refused(&["lake", "--workload", "s1"]).contains("jobs of a lake have their own"));
    assert!(refused(&["lake", "--machine", "licences=3"]).contains("gpus:MODEL"));
    assert!(refused(&["lake", "--add", "gpus=20"]).contains("--machine gpus=N"));
    assert!(refused(&["lake", "--from", "2027-01"]).contains("nothing to simulate"));
    let one = stdout(&scene.simulate(&["lake", "--from", "2026-11-01", "--table", "lines", "--format", "csv"]));
    assert_eq!(one, "outcome,line_n,of_simulated_n\nsimulated,1,\noutside_period,1,\n");
}

#[test]
fn a_page_tables_and_the_dataset_are_written() {
    let scene = priced();
    stdout(&scene.simulate(&["lake", "--out", "page", "--methods", "baseline,bin_packing"]));
    let folder = scene.folder.path().join("page");
    let html = fs::read_to_string(folder.join("index.html")).unwrap();
    for words in [
        "What if: lake",
        "id=\"replay\"",
        "id=\"back-test\"",
        "id=\"charges\"",
        "id=\"overhead\"",
        "cores in use",
        "bin_packing would have saved 50.0 % of waits",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert_eq!(html.matches("<figure").count(), 2);
    assert!(!html.contains("http"), "the page fetches nothing");
    let methods = fs::read_to_string(folder.join("methods.csv")).unwrap();
    assert_eq!(rows(&methods).len(), 3);
    assert!(folder.join("charges.csv").exists() && !folder.join("awards.csv").exists());
    let store = Store::open_existing(folder.to_str().unwrap()).unwrap();
    let dataset = schema::dataset("simulate").unwrap();
    let mut found = Vec::new();
    for batch in read_table(store.reader("simulate.parquet").unwrap(), None, 1024).unwrap() {
        let batch = batch.unwrap();
        dataset.admit(&batch).unwrap();
        let (methods, jobs, decisions) = (
            text(&batch, "method").unwrap(),
            text(&batch, "job_id").unwrap(),
            text(&batch, "decision").unwrap(),
        );
        let starts = int(&batch, "start_s").unwrap();
        for row in 0..batch.num_rows() {
            let since_s = starts.value(row) - 1_793_484_000;
            found.push(format!(
                "{} {} {since_s} {}",
                methods.value(row),
                jobs.value(row),
                decisions.value(row)
            ));
        }
    }
    assert_eq!(
        found,
        [
            "baseline 1 0 in_order",
            "baseline 2 3600 in_order",
            "bin_packing 1 0 chosen",
            "bin_packing 2 3600 chosen",
            "recorded 1 0 recorded",
            "recorded 2 7200 recorded",
        ]
    );
}

#[test]
fn rules_for_the_lines_of_logs_are_refused() {
    let refused = priced().simulate(&["lake", "--rules", "pyss"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("a lake has records"), "{}", stderr(&refused));
}
