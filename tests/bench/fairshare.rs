//! What the daily history of fairshare adds to a run: a year of jobs of 5 000 associations in one go, then one more night with
//! its jobs and its listing of associations, each with `[[fairshare]]` and without.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use gridtally::time::instant::{instant_text_s, parse_instant_s};

use crate::generator::rng::Rng;
use crate::{Cost, gridtally_changing, gridtally_into, median, remove};

const DAY_S: i64 = 86_400;
const DAYS: i64 = 366;
const ACCOUNTS: i64 = 1_000;
const USERS_OF_ACCOUNT: i64 = 4;
const HEADER: &str =
    "JobIDRaw|Cluster|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|AllocTRES|TotalCPU\n";

/// Prints what a run of `jobs` jobs over a year costs with and without fairshare, and what the night after it does.
pub(crate) fn run(jobs: i64, runs: usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench/fairshare-mid-month-{jobs}"));
    make(&folder, jobs);
    println!(
        "| work, {jobs} jobs, 5 001 associations | wall s | CPU s | peak MB | wall, plain run = 1 |\n|---|---|---|---|---|"
    );
    let kinds = ["plain", "fairshare"];
    lines(
        "a year in one go",
        kinds.map(|kind| median(runs, || year(&folder, kind))),
    );
    lines(
        "one more night",
        kinds.map(|kind| median(runs, || night(&folder, kind))),
    );
}

fn lines(work: &str, [plain, fairshare]: [Cost; 2]) {
    for (kind, cost) in [("plain run", plain), ("with fairshare", fairshare)] {
        println!(
            "| {work}: {kind} | {:.2} | {:.2} | {:.0} | {:.2} |",
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            cost.wall_s / plain.wall_s
        );
    }
}

/// All days but the last into a fresh lake.
fn year(folder: &Path, kind: &str) -> Cost {
    let lake = folder.join(format!("lake-{kind}"));
    remove(&lake);
    hide_last(folder, true);
    gridtally_into(&folder.join(format!("{kind}.toml")), &lake)
}

/// The last day into the lake of the others.
fn night(folder: &Path, kind: &str) -> Cost {
    year(folder, kind);
    hide_last(folder, false);
    gridtally_changing(
        &folder.join(format!("{kind}.toml")),
        &folder.join(format!("lake-{kind}")),
    )
}

/// Takes what the last night brings away, or puts it back.
fn hide_last(folder: &Path, is_hidden: bool) {
    let (in_place, hidden) = (folder.join("dumps/last"), folder.join("hidden"));
    let (from, to) = if is_hidden {
        (in_place, hidden)
    } else {
        (hidden, in_place)
    };
    if from.exists() {
        fs::rename(from, to).unwrap();
    }
}

fn make(folder: &Path, jobs: i64) {
    let ready = folder.join("ready");
    if ready.exists() {
        return;
    }
    for part in ["dumps/year", "dumps/last"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    // So that the last night is in the middle of a month, as most nights are.
    let first_s = parse_instant_s("2025-01-15T00:00:00Z").unwrap();
    let mut rng = Rng::new(19);
    let mut number = 0;
    for day in 0..DAYS {
        let begins_s = first_s + day * DAY_S;
        let date = &instant_text_s(begins_s).unwrap()[..10];
        let is_last = day + 1 == DAYS;
        let part = if is_last { "dumps/last" } else { "dumps/year" };
        let mut file = create(&folder.join(part).join(format!("jobs-{date}.txt")));
        file.write_all(HEADER.as_bytes()).unwrap();
        let until = jobs * (day + 1) / DAYS;
        while number < until {
            number += 1;
            file.write_all(job(number, begins_s, &mut rng).as_bytes()).unwrap();
        }
        // A listing of associations at the beginning, and one of the last night.
        if day == 0 || is_last {
            let listing = folder.join(part).join(format!("shares-{date}.txt"));
            create(&listing).write_all(shares().as_bytes()).unwrap();
        }
    }
    let head = format!(
        "[pipeline]\nname = \"bench\"\noutput = \"lake\"\n\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
         paths = [\"{0}/dumps/*/jobs-*.txt\"]\nsite = \"FELL\"\ntimezone = \"UTC\"\n\
         vo = {{ column = \"account\" }}\n\n[[inventory]]\nname = \"shares\"\npaths = [\"{0}/dumps/*/shares-*.txt\"]\n\
         site = \"FELL\"\nas_of = \"path\"\n",
        folder.display()
    );
    let fairshare = "\n[[fairshare]]\nsite = \"FELL\"\ncluster = \"fell\"\nlisting = \"shares\"\nusage = \"recorded-billing\"\nhalf_life = \"7-00:00:00\"\n";
    fs::write(folder.join("plain.toml"), &head).unwrap();
    fs::write(folder.join("fairshare.toml"), head + fairshare).unwrap();
    fs::write(ready, "").unwrap();
}

fn create(path: &PathBuf) -> BufWriter<File> {
    BufWriter::with_capacity(1 << 20, File::create(path).unwrap())
}

fn job(number: i64, day_s: i64, rng: &mut Rng) -> String {
    let start_s = day_s + rng.between(0, DAY_S);
    let wall_s = rng.between(1, 40_000);
    let cores = rng.between(1, 65);
    let (account, user) = (rng.between(0, ACCOUNTS), rng.between(0, USERS_OF_ACCOUNT));
    let local = |unix_s: i64| instant_text_s(unix_s).unwrap().trim_end_matches('Z').to_owned();
    let (start, end) = (local(start_s), local(start_s + wall_s));
    format!(
        "{number}|fell|u{user}|a{account}|cpu|normal|COMPLETED|{start}|{start}|{end}|{wall_s}|{cores}|1|\
         billing={cores},cpu={cores},mem=1G,node=1|00:00:01\n"
    )
}

fn shares() -> String {
    let mut text = "Cluster|Account|ParentName|User|Partition|Share\nfell|root||||1\n".to_owned();
    for account in 0..ACCOUNTS {
        writeln!(text, "fell|a{account}|root|||{}", 1 + account % 17).unwrap();
        for user in 0..USERS_OF_ACCOUNT {
            writeln!(text, "fell|a{account}||u{user}||{}", 1 + user).unwrap();
        }
    }
    text
}
