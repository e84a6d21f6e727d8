//! Two years of four sites under two policies: the first fill, one more night, and nothing new. The night brings jobs of the last
//! day, and a few of three weeks before.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::generator::dense::{self as rows, DenseDump, RowOrder};
use crate::input::to_file;
use crate::python::run as output_of;
use crate::{Cost, gridtally_changing, gridtally_into, median, policies, remove};

const DAY_S: i64 = 86_400;
const DAYS: i64 = 730;
const SITES: i64 = 4;
/// Of so many jobs of the lake one is new.
const NEW_SHARE: i64 = 727;
/// Of so many new jobs one is late.
const LATE_SHARE: i64 = 33;

/// Prints what each of them costs.
pub(crate) fn run(jobs: i64, runs: usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench/years-{jobs}"));
    let new_n = dumps(&folder, jobs);
    println!("| {jobs} jobs, {SITES} sites, two years, two policies | wall s | CPU s | peak MB |\n|---|---|---|---|");
    let line = |work: &str, cost: Cost| {
        println!(
            "| {work} | {:.2} | {:.2} | {:.0} |",
            cost.wall_s, cost.cpu_s, cost.peak_mb
        );
    };
    let (whole, night) = (folder.join("pipeline.toml"), folder.join("night.toml"));
    let (kept, lake) = (folder.join("kept"), folder.join("lake"));
    line(
        "first fill",
        median(runs, || {
            remove(&kept);
            gridtally_into(&whole, &kept)
        }),
    );
    let again = || {
        remove(&lake);
        output_of(Command::new("cp").arg("-a").arg(&kept).arg(&lake));
        // A night does not wait for the disk to take what was copied.
        output_of(&mut Command::new("sync"));
    };
    again();
    line("nothing new", median(runs, || gridtally_into(&whole, &lake)));
    line(
        &format!("one more night, {new_n} new jobs"),
        median(runs, || {
            again();
            gridtally_changing(&night, &lake)
        }),
    );
    remove(&lake);
    remove(&kept);
}

/// Makes the dumps and their pipelines once, and gives the number of new jobs.
fn dumps(folder: &Path, jobs: i64) -> i64 {
    let of_site = jobs / SITES;
    let new_n = (of_site / NEW_SHARE).max(LATE_SHARE);
    let late_n = new_n / LATE_SHARE;
    let from = rows::new_year() - (DAYS - 180) * DAY_S;
    let ready = folder.join("ready");
    if !ready.exists() {
        fs::create_dir_all(folder).unwrap();
        for site in 0..SITES {
            let whole = DenseDump {
                jobs: of_site,
                first_id: 1_000_000 + site * 2 * of_site,
                from,
                days: DAYS,
                accounts: 120,
                order: RowOrder::Submitted,
            };
            let night = DenseDump {
                jobs: new_n - late_n,
                first_id: whole.first_id + of_site,
                from: from + (DAYS - 1) * DAY_S,
                days: 1,
                ..whole
            };
            let late = DenseDump {
                jobs: late_n,
                first_id: night.first_id + new_n,
                from: night.from - 21 * DAY_S,
                ..night
            };
            for (name, dump) in [("whole", whole), ("night", night), ("late", late)] {
                to_file(&named(folder, name, site), |to| rows::jobs(&dump, to));
            }
        }
        policies::write(folder);
        for (name, dumps) in [
            ("pipeline.toml", &["whole"][..]),
            ("night.toml", &["whole", "night", "late"]),
        ] {
            fs::write(folder.join(name), pipeline(dumps)).unwrap();
        }
        fs::write(ready, "").unwrap();
    }
    SITES * new_n
}

fn named(folder: &Path, name: &str, site: i64) -> PathBuf {
    folder.join(format!("{name}-{site}.txt"))
}

fn pipeline(dumps: &[&str]) -> String {
    let mut text = "[pipeline]\nname = \"bench\"\noutput = \"lake\"\nallocation_year_start = \"04-01\"\n\
                    calendar_timezone = \"Europe/Zurich\"\nattribution = \"prorated\"\ngrain = \"month\"\n\
                    [[charge]]\npolicies = [\"largest.toml\", \"sum.toml\"]\n"
        .to_owned();
    for site in 0..SITES {
        let paths: Vec<String> = dumps.iter().map(|name| format!("\"{name}-{site}.txt\"")).collect();
        write!(
            text,
            "\n[[source]]\nname = \"s{site}\"\nformat = \"sacct\"\npaths = [{}]\nsite = \"S{site}\"\n\
             timezone = \"Europe/Zurich\"\nvo = {{ column = \"account\" }}\n",
            paths.join(", ")
        )
        .unwrap();
    }
    text
}
