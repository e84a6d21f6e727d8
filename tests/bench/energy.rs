//! What energy and carbon add to a run: a year of jobs in one go, plain, with an intensity of the year, and with one of every hour.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use gridtally::time::instant::{instant_text_s, parse_instant_s};

use crate::generator::rng::Rng;
use crate::{gridtally_into, median, remove};

const DAY_S: i64 = 86_400;
const HOUR_S: i64 = 3_600;
const DAYS: i64 = 365;
const CORES: i64 = 64;
const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|NodeList|\
                      AllocTRES|TotalCPU|ConsumedEnergyRaw\n";

/// Prints what a run of `jobs` jobs over a year costs without energy and with it.
pub(crate) fn run(jobs: i64, runs: usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench/energy-{jobs}"));
    make(&folder, jobs);
    println!(
        "| work, {jobs} jobs over a year | wall s | CPU s | peak MB | CPU, plain run = 1 |\n|---|---|---|---|---|"
    );
    let mut plain_s = None;
    for (kind, work) in [
        ("plain", "plain run"),
        ("yearly", "energy, an intensity of the year"),
        ("hourly", "energy, an intensity of every hour"),
    ] {
        let lake = folder.join(format!("lake-{kind}"));
        let cost = median(runs, || {
            remove(&lake);
            gridtally_into(&folder.join(format!("{kind}.toml")), &lake)
        });
        let plain_s = *plain_s.get_or_insert(cost.cpu_s);
        println!(
            "| {work} | {:.2} | {:.2} | {:.0} | {:.3} |",
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            cost.cpu_s / plain_s
        );
    }
}

fn make(folder: &Path, jobs: i64) {
    let ready = folder.join("ready");
    if ready.exists() {
        return;
    }
    fs::create_dir_all(folder).unwrap();
    let first_s = parse_instant_s("2025-01-01T00:00:00Z").unwrap();
    let mut rng = Rng::new(23);
    let mut file = BufWriter::new(File::create(folder.join("jobs.txt")).unwrap());
    file.write_all(HEADER.as_bytes()).unwrap();
    for number in 0..jobs {
        let start_s = first_s + number * (DAYS * DAY_S - 2 * DAY_S) / jobs;
        file.write_all(job(number, start_s, &mut rng).as_bytes()).unwrap();
    }
    file.flush().unwrap();
    let at = |s: i64| instant_text_s(s).unwrap();
    let mut hours = "site,basis,g_per_kwh,valid_from,valid_to\n".to_owned();
    for hour in 0..DAYS * 24 {
        let (from, until) = (first_s + hour * HOUR_S, first_s + (hour + 1) * HOUR_S);
        let _ = writeln!(
            hours,
            "FELL,location,{},{},{}",
            rng.between(20, 600),
            at(from),
            at(until)
        );
    }
    fs::write(folder.join("hourly.csv"), hours).unwrap();
    let year = "site,basis,g_per_kwh,valid_from,valid_to\nFELL,location,310,2025-01-01,2026-01-01\n";
    fs::write(folder.join("yearly.csv"), year).unwrap();
    fs::write(folder.join("pue.csv"), "site,pue,valid_from,valid_to\nFELL,1.3,,\n").unwrap();
    let nodes = format!(
        "site,node_type,partition,cores,core_idle_w,core_full_w,embodied_kg,lifetime_years\n\
         FELL,epyc,,{CORES},1.5,4.5,1300,5\n"
    );
    fs::write(folder.join("nodes.csv"), nodes).unwrap();
    let head = format!(
        "[pipeline]\nname = \"bench\"\noutput = \"lake\"\n\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
         paths = [\"{}/jobs.txt\"]\nsite = \"FELL\"\ntimezone = \"UTC\"\nvo = {{ column = \"account\" }}\n",
        folder.display()
    );
    fs::write(folder.join("plain.toml"), &head).unwrap();
    for kind in ["yearly", "hourly"] {
        let energy = format!(
            "\n[energy]\npue = \"pue.csv\"\nintensity = \"{kind}.csv\"\nbasis = \"location\"\nnodes = \"nodes.csv\"\n\
             shared = \"allocated_cores\"\n"
        );
        fs::write(folder.join(format!("{kind}.toml")), format!("{head}{energy}")).unwrap();
    }
    fs::write(ready, "").unwrap();
}

/// A job of minutes to two days; one in three states no energy.
fn job(number: i64, start_s: i64, rng: &mut Rng) -> String {
    let wall_s = if rng.one_in(10) {
        rng.between(10_000, 170_000)
    } else {
        rng.between(60, 10_000)
    };
    let cores = rng.pick(&[1, 2, 4, 8, 16, CORES]);
    let account = rng.between(0, 200);
    let node = rng.between(1, 400);
    let energy = if rng.one_in(3) {
        0
    } else {
        wall_s * rng.between(120, 700)
    };
    let cpu_s = wall_s * cores * rng.between(30, 99) / 100;
    let (start, end) = (
        instant_text_s(start_s).unwrap(),
        instant_text_s(start_s + wall_s).unwrap(),
    );
    let (start, end) = (start.trim_end_matches('Z'), end.trim_end_matches('Z'));
    format!(
        "{number}|fell|u{account}|a{account}|cpu|normal|COMPLETED|{start}|{start}|{end}|{wall_s}|{cores}|1|n{node}|\
         billing={cores},cpu={cores},mem={cores}G,node=1|{}|{energy}\n",
        clock(cpu_s)
    )
}

/// As Slurm prints a duration.
fn clock(s: i64) -> String {
    let (days, rest) = (s / DAY_S, s % DAY_S);
    format!("{days}-{:02}:{:02}:{:02}", rest / HOUR_S, rest / 60 % 60, rest % 60)
}
