//! Inputs of the shapes, made once and kept.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::generator::dense::{self as rows, DenseDump, RowOrder};
use crate::input::to_file;
use crate::policies;

const DAY_S: i64 = 86_400;
const DAYS: i64 = 180;
const VOS: u32 = 120;

/// One input, with its pipelines beside it.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) folder: PathBuf,
    /// The file, or the folder of files.
    pub(crate) path: PathBuf,
    pub(crate) rows: u32,
    /// What the peer's program calls it.
    pub(crate) peer: &'static str,
}

/// A folder of the benchmark that `make` fills once.
fn folder(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench/shape-{name}"));
    let ready = folder.join("ready");
    if !ready.exists() {
        fs::create_dir_all(&folder).unwrap();
        make(&folder);
        fs::write(ready, "").unwrap();
    }
    folder
}

fn count(n: i64) -> u32 {
    u32::try_from(n).expect("a number of rows")
}

fn head() -> String {
    "[pipeline]\nname = \"bench\"\noutput = \"lake\"\nallocation_year_start = \"04-01\"\n\
     calendar_timezone = \"Europe/Zurich\"\nattribution = \"prorated\"\ngrain = \"month\"\n"
        .to_owned()
}

fn sacct_source(name: &str, site: &str, paths: &str) -> String {
    format!(
        "\n[[source]]\nname = \"{name}\"\nformat = \"sacct\"\npaths = [{paths}]\nsite = \"{site}\"\n\
         timezone = \"Europe/Zurich\"\nvo = {{ column = \"account\" }}\n"
    )
}

fn dump(jobs: i64, order: RowOrder) -> DenseDump {
    DenseDump {
        jobs,
        first_id: 1_000_000,
        from: rows::new_year(),
        days: DAYS,
        accounts: VOS,
        order,
    }
}

/// One row to a job, in the order of submission, of 120 VOs over six months; with pipelines that charge, that sweep the machine,
/// and that bring a night.
pub(crate) fn dense(jobs: i64) -> Shape {
    let whole = dump(jobs, RowOrder::Submitted);
    let folder = folder(&format!("dense-{jobs}"), |folder| {
        to_file(&folder.join("sacct.txt"), |to| rows::jobs(&whole, to));
        // A hundredth of the jobs, on the last day; a hundredth of these are three weeks late.
        let late = (jobs / 10_000).max(1);
        let night = DenseDump {
            jobs: (jobs / 100).max(1),
            first_id: whole.first_id + jobs,
            from: whole.from + (DAYS - 1) * DAY_S,
            days: 1,
            ..whole
        };
        let belated = DenseDump {
            jobs: late,
            first_id: night.first_id + night.jobs,
            from: night.from - 21 * DAY_S,
            ..night
        };
        let one = DenseDump {
            jobs: late,
            first_id: belated.first_id + late,
            accounts: 1,
            ..night
        };
        for (name, dump) in [("night.txt", night), ("late.txt", belated), ("one-account.txt", one)] {
            to_file(&folder.join(name), |to| rows::jobs(&dump, to));
        }
        nodes(folder);
    });
    pipelines(&folder);
    Shape {
        name: "dense",
        path: folder.join("sacct.txt"),
        folder,
        rows: count(jobs),
        peer: "sacct",
    }
}

fn nodes(folder: &Path) {
    let mut text = "node,cluster,cpu_n,memory_byte,partitions\n".to_owned();
    for node in 1..=400 {
        writeln!(text, "node{node:04},fell,128,549755813888,cpu").unwrap();
    }
    fs::write(folder.join("nodes.csv"), text).unwrap();
}

fn pipelines(folder: &Path) {
    let of = |paths: &str| head() + &sacct_source("dumps", "FELL", paths);
    let whole = of("\"sacct.txt\"");
    let charge = |files: &str| format!("{whole}\n[[charge]]\npolicies = [{files}]\n");
    policies::write(folder);
    for (name, text) in [
        ("pipeline.toml", whole.clone()),
        ("one-policy.toml", charge("\"largest.toml\"")),
        ("two-policies.toml", charge("\"largest.toml\", \"sum.toml\"")),
        (
            "overhead.toml",
            whole.clone()
                + "\n[overhead]\nnodes = [\"nodes.csv\"]\nperiod = { from = 2026-01-01, to = 2026-06-29 }\n\
                   [[overhead.unit]]\nname = \"1core+4GiB\"\ncore = 1\nmemory = \"4GiB\"\n",
        ),
        ("night.toml", of("\"sacct.txt\", \"night.txt\", \"late.txt\"")),
        ("one-account.toml", of("\"sacct.txt\", \"one-account.txt\"")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// The same jobs in no order.
pub(crate) fn shuffled(jobs: i64) -> Shape {
    of_one_dump("shuffled", dump(jobs, RowOrder::Shuffled))
}

/// As many jobs, all of them submitted on one day.
pub(crate) fn one_day(jobs: i64) -> Shape {
    let dump = DenseDump {
        days: 1,
        ..dump(jobs, RowOrder::Submitted)
    };
    of_one_dump("one day", dump)
}

fn of_one_dump(name: &'static str, dump: DenseDump) -> Shape {
    let folder = folder(&format!("{}-{}", name.replace(' ', "-"), dump.jobs), |folder| {
        to_file(&folder.join("sacct.txt"), |to| rows::jobs(&dump, to));
    });
    let text = head() + &sacct_source("dumps", "FELL", "\"sacct.txt\"");
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    Shape {
        name,
        path: folder.join("sacct.txt"),
        folder,
        rows: count(dump.jobs),
        peer: "sacct",
    }
}

/// Ten sites with 120 VOs over six months each: 60 months of records and 2 400 files of usage.
pub(crate) fn partitions(jobs: i64) -> Shape {
    const SITES: i64 = 10;
    let folder = folder(&format!("partitions-{jobs}"), |folder| {
        fs::create_dir_all(folder.join("dumps")).unwrap();
        for site in 0..SITES {
            let of_site = DenseDump {
                first_id: 1_000_000 + site * jobs,
                ..dump(jobs / SITES, RowOrder::Submitted)
            };
            to_file(&folder.join(format!("dumps/{site}.txt")), |to| rows::jobs(&of_site, to));
        }
    });
    let mut text = head();
    for site in 0..SITES {
        text += &sacct_source(
            &format!("s{site}"),
            &format!("S{site}"),
            &format!("\"dumps/{site}.txt\""),
        );
    }
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    Shape {
        name: "small partitions",
        path: folder.join("dumps"),
        folder,
        rows: count(jobs),
        peer: "sites",
    }
}

/// Monthly summaries of APEL.
pub(crate) fn apel_summaries(summaries: i64) -> Shape {
    let folder = folder(&format!("apel-summaries-{summaries}"), |folder| {
        to_file(&folder.join("summaries"), |to| rows::apel_summaries(summaries, to));
    });
    let text = head() + "\n[[source]]\nname = \"apel\"\nformat = \"apel\"\npaths = [\"summaries\"]\n";
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    Shape {
        name: "APEL summaries",
        path: folder.join("summaries"),
        folder,
        rows: count(summaries),
        peer: "apel-summaries",
    }
}

/// Daily summaries of Gratia.
pub(crate) fn gracc_summaries(days: i64) -> Shape {
    let folder = folder(&format!("gracc-summaries-{days}"), |folder| {
        to_file(&folder.join("summaries.ndjson"), |to| rows::gracc_summaries(days, to));
    });
    let text = head() + "\n[[source]]\nname = \"gracc\"\nformat = \"gracc\"\npaths = [\"summaries.ndjson\"]\n";
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    Shape {
        name: "Gratia rows",
        path: folder.join("summaries.ndjson"),
        folder,
        rows: count(240 * days),
        peer: "gratia-rows",
    }
}

/// Dumps of ten jobs each.
pub(crate) fn small_files(files: i64) -> Shape {
    const JOBS: i64 = 10;
    let folder = folder(&format!("small-files-{files}"), |folder| {
        fs::create_dir_all(folder.join("dumps")).unwrap();
        for file in 0..files {
            let of_file = DenseDump {
                jobs: JOBS,
                first_id: 1_000_000 + file * JOBS,
                from: rows::new_year() + file * DAYS * DAY_S / files,
                days: 1,
                ..dump(JOBS, RowOrder::Submitted)
            };
            to_file(&folder.join(format!("dumps/{file:06}.txt")), |to| {
                rows::jobs(&of_file, to)
            });
        }
    });
    let text = head() + &sacct_source("dumps", "FELL", "\"dumps\"");
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    Shape {
        name: "small files",
        path: folder.join("dumps"),
        folder,
        rows: count(files * JOBS),
        peer: "sacct",
    }
}
