//! The fairshare of a lake: the `fairshare` dataset and `report sshare`, against real clusters, plain loops and by hand.

mod altered;
mod changes;
mod counts;
mod daemon;
mod drift;
mod former;
mod listings;
mod nights;
mod oracle;
mod plain;
mod priorities;
mod real;
mod real_drift;
mod real_variants;
mod refusals;
mod resets;
mod resources;
mod what_if;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::error::Result;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::{date, decimal, flag, int, number, text, word};
use gridtally::store::lake::parse_fairshare_path;
use gridtally::store::{Manifest, Store, read_table};
use gridtally::time::Day;
use gridtally::time::instant::{instant_text_s, parse_instant_s};
use tempfile::TempDir;

use crate::support::events::messages;

/// Columns of the dumps.
const HEADER: &str =
    "JobIDRaw|Cluster|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|AllocTRES|TotalCPU\n";
/// Columns of the listings of associations.
const LISTING_HEADER: &str = "Cluster|Account|ParentName|User|Partition|Share\n";
/// One billing second, in the unit of usage.
const E6: i128 = 1_000_000;
/// Seconds of an hour.
const HOUR_S: i64 = 3600;
/// Seconds of a day.
const DAY_S: i64 = 86_400;

/// A job to be written into a dump.
#[derive(Clone, Debug)]
struct DumpJob {
    id: u32,
    cluster: &'static str,
    account: &'static str,
    user: &'static str,
    partition: &'static str,
    qos: &'static str,
    start_s: i64,
    /// None while it runs; then it ran so far for `wall_s`.
    end_s: Option<i64>,
    wall_s: i64,
    billing: i64,
}

impl DumpJob {
    fn new(id: u32, account: &'static str, user: &'static str, start: &str, wall_s: i64, billing: i64) -> Self {
        let start_s = at(start);
        Self {
            id,
            cluster: "oak",
            account,
            user,
            partition: "cpu",
            qos: "normal",
            start_s,
            end_s: Some(start_s + wall_s),
            wall_s,
            billing,
        }
    }

    /// As a row of a dump in UTC.
    fn row(&self) -> String {
        let local = |unix_s: i64| instant_text_s(unix_s).unwrap().trim_end_matches('Z').to_owned();
        let start = local(self.start_s);
        let (state, end) = self
            .end_s
            .map_or(("RUNNING", "Unknown".to_owned()), |end_s| ("COMPLETED", local(end_s)));
        format!(
            "{}|{}|{}|{}|{}|{}|{state}|{start}|{start}|{end}|{}|1|1|billing={},cpu=1,mem=1G,node=1|00:00:01\n",
            self.id, self.cluster, self.user, self.account, self.partition, self.qos, self.wall_s, self.billing
        )
    }
}

/// A number as a double.
#[expect(clippy::cast_precision_loss, reason = "numbers of tests are below 2^53")]
fn real(number: impl Into<i128>) -> f64 {
    number.into() as f64
}

/// The second of an instant such as `2026-03-01T00:00:00`, UTC.
fn at(instant: &str) -> i64 {
    parse_instant_s(&format!("{instant}Z")).unwrap_or_else(|| panic!("{instant} is not an instant"))
}

/// The day of a date.
fn day(date: &str) -> Day {
    Day::try_from(at(&format!("{date}T00:00:00")).div_euclid(DAY_S)).unwrap()
}

fn dump(jobs: &[DumpJob]) -> String {
    jobs.iter().fold(HEADER.to_owned(), |mut text, job| {
        text.push_str(&job.row());
        text
    })
}

/// Two labs with two users each; one user has shares of a partition.
const LABS: &str =
    "root||||1\nlab|root|||30\ninst|root|||10\nlab||ann||2\nlab||bob||1\nlab||ann|gpu|5\ninst||cid||parent\n";

/// A listing of rows without their cluster.
fn listing(cluster: &str, rows: &str) -> String {
    rows.lines().fold(LISTING_HEADER.to_owned(), |mut text, row| {
        // The account, its parent, the user, the partition and the shares.
        let _ = writeln!(text, "{cluster}|{row}");
        text
    })
}

/// Fairshare of one association at the end of one day, as it is published.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    day: Day,
    account: String,
    user: Option<String>,
    partition: Option<String>,
    parent_account: Option<String>,
    is_listed: bool,
    share_n: Option<i64>,
    added_e6: i128,
    own_e6: i128,
    usage_e6: i128,
    norm_shares_e9: Option<i128>,
    factor_e9: Option<i128>,
    priority_n: Option<i64>,
}

impl Row {
    /// `account`, `account/user` or `account/user/partition`.
    fn name(&self) -> String {
        let parts = [Some(&self.account), self.user.as_ref(), self.partition.as_ref()];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        parts.join("/")
    }
}

/// A folder with dumps, listings, a pipeline of them and its lake.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let scene = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            scene.write(name, text);
        }
        scene
    }

    /// One cluster with the two labs, and one dump.
    fn of_jobs(jobs: &[DumpJob]) -> Self {
        Self::new(&[("shares.txt", &listing("oak", LABS)), ("jobs-1.txt", &dump(jobs))])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Runs a pipeline into the lake `lake`.
    fn try_run(&self, pipeline: &str, options: &RunOptions) -> Result<RunReport> {
        self.write("p.toml", pipeline);
        let (plan, _) = Plan::load(&self.path("p.toml"))?;
        stages::run(&plan, options, &Silent)
    }

    /// The same into another lake, which must be sound after it.
    fn run_into(&self, pipeline: &str, lake: &str, threads: Option<usize>) -> RunReport {
        let options = RunOptions {
            out: Some(self.path(lake).to_str().unwrap().to_owned()),
            threads,
            ..RunOptions::default()
        };
        let report = self.try_run(pipeline, &options).unwrap_or_else(|why| panic!("{why}"));
        let found = verify::verify(self.path(lake).to_str().unwrap()).unwrap();
        assert!(found.is_sound(), "{}", found.text());
        report
    }

    fn run(&self, pipeline: &str) -> RunReport {
        self.run_into(pipeline, "lake", None)
    }

    /// What a run prints for people.
    fn run_messages(&self, pipeline: &str) -> Vec<String> {
        messages(|| {
            self.run_into(pipeline, "lake", Some(1));
        })
    }

    fn gridtally(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(args).current_dir(self.folder.path()).output().unwrap()
    }

    /// Runs a command that must succeed: what it prints as its result, and for people.
    fn done(&self, args: &[&str]) -> (String, String) {
        let output = self.gridtally(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {stderr}");
        (String::from_utf8(output.stdout).unwrap(), stderr)
    }

    /// The rows of the fairshare of one cluster.
    fn rows(&self, lake: &str, cluster: &str) -> Vec<Row> {
        let store = Store::open_existing(self.path(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let mut rows = Vec::new();
        for file in manifest.dataset("fairshare") {
            let place = parse_fairshare_path(&file.path);
            if place.is_none_or(|(_, of, _)| of != cluster) {
                continue;
            }
            for batch in read_table(store.reader(&file.path).unwrap(), None, 8192).unwrap() {
                let batch = batch.unwrap();
                let owned = |column: &str, row| word(text(&batch, column).unwrap(), row).map(str::to_owned);
                let decimal_of = |column: &str, row| number(decimal(&batch, column).unwrap(), row);
                for row in 0..batch.num_rows() {
                    rows.push(Row {
                        day: date(&batch, "day").unwrap().value(row),
                        account: owned("account", row).unwrap(),
                        user: owned("user", row),
                        partition: owned("partition", row),
                        parent_account: owned("parent_account", row),
                        is_listed: flag(&batch, "is_listed").unwrap().value(row),
                        share_n: number(int(&batch, "share_n").unwrap(), row),
                        added_e6: decimal_of("added_usage_s", row).unwrap(),
                        own_e6: decimal_of("own_usage_s", row).unwrap(),
                        usage_e6: decimal_of("usage_s", row).unwrap(),
                        norm_shares_e9: decimal_of("norm_shares", row),
                        factor_e9: decimal_of("fairshare_factor", row),
                        priority_n: number(int(&batch, "priority_n").unwrap(), row),
                    });
                }
            }
        }
        rows
    }

    /// The row of an association on a day, by [`Row::name`].
    fn row(&self, date: &str, name: &str) -> Option<Row> {
        let of_day = self.rows("lake", "oak").into_iter();
        let mut found = of_day.filter(|row| row.day == day(date) && row.name() == name);
        let row = found.next();
        assert!(found.next().is_none(), "{name} has two rows on {date}");
        row
    }

    /// Billing seconds of an association itself at the end of a day, cut; none without a row.
    fn own_s(&self, date: &str, name: &str) -> Option<i128> {
        self.row(date, name).map(|row| row.own_e6.div_euclid(E6))
    }

    /// Every file of the dataset with its bytes, but for the one that holds columns and no rows.
    fn bytes(&self, lake: &str) -> BTreeMap<String, Vec<u8>> {
        let lake = self.path(lake);
        let mut found = BTreeMap::new();
        let mut folders = vec![lake.join("fairshare")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("empty.parquet") {
                    let name = path.strip_prefix(&lake).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(path).unwrap());
                }
            }
        }
        found
    }
}

/// The part of a pipeline that reads dumps in UTC and listings.
const HEAD: &str = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 1.0\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
    paths = [\"jobs-*.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n\
    [[inventory]]\nname = \"shares\"\npaths = [\"shares*.txt\"]\nsite = \"A\"\nas_of = \"2026-01-01\"\n";

/// The section of one cluster, with more keys.
fn fairshare(cluster: &str, keys: &str) -> String {
    format!(
        "[[fairshare]]\nsite = \"A\"\ncluster = \"{cluster}\"\nlisting = \"shares\"\nusage = \"recorded-billing\"\n{keys}\n"
    )
}

/// A pipeline with the fairshare of `oak`.
fn pipeline(keys: &str) -> String {
    format!("{HEAD}{}", fairshare("oak", keys))
}

/// No decay, so that numbers can be added up by hand.
const NO_DECAY: &str = "half_life = \"none\"";
