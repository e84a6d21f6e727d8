//! What every report does with corrections, names of people, jobs over the end of a month and what is unknown: measured
//! on a lake of five jobs whose hours are powers of two, so that a sum shows which are in it.

mod fairshare;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::policy::{CHARGE_CORES, CORES};

/// Hours of a job that nothing is odd about, of one that a correction takes out, of one whose CPU time is unknown at the
/// one site and whose cores are at the other, of what a correction adds, and of what a job over the end of March did in
/// March.
const PLAIN: i64 = 1;
const VOID: i64 = 2;
const UNKNOWN: i64 = 8;
const ADDED: i64 = 16;
const OVER: i64 = 32;

/// The jobs: id, VO and account, day of March, hours.
const JOBS: [(u32, &str, i64, i64); 4] = [
    (1, "fern", 10, PLAIN),
    (2, "fern", 11, VOID),
    (4, "mist", 13, UNKNOWN),
    (5, "fern", 31, 3 * OVER),
];

/// One report.
struct Report {
    /// As the table names it.
    name: &'static str,
    /// Words behind the lake.
    words: &'static str,
    /// What has it name people, if anything does.
    named: Option<&'static str>,
    /// Column with the site's hours, and what it is to be divided by.
    hours: (&'static str, i64),
    /// Column with CPU time, if there is one.
    cpu: Option<&'static str>,
    /// How its rows are distinguished by VO or account.
    of: &'static str,
}

const MONTH: &str = "--from 2026-03 --to 2026-03";

const REPORTS: [Report; 14] = [
    report(
        "`apel`, jobs",
        "apel --message job-v0.4 --leave-out",
        Some("--users keep"),
        ("wall_s", 3600),
        None,
        "",
    ),
    report(
        "`apel`, summaries",
        "apel --message summary-v0.4 --leave-out",
        Some("--users keep"),
        ("wall_s", 3600),
        None,
        "",
    ),
    report(
        "`apel`, normalised",
        "apel --message normalised-v0.4 --leave-out",
        Some("--users keep"),
        ("wall_s", 3600),
        None,
        "",
    ),
    report(
        "`gracc`",
        "gracc",
        Some("--users keep"),
        ("CoreHours", 1),
        Some("CpuDuration"),
        "VOName",
    ),
    report(
        "`egi`",
        "egi",
        None,
        ("sum_elapsed_processors", 1),
        Some("sum_cpu"),
        "vo",
    ),
    report("`wlcg`", "wlcg", None, ("wallclock_time", 1), Some("cpu_time"), "vo"),
    report("`osg`", "osg", None, ("wall_hours", 1), Some("cpu_hours"), "vo"),
    report(
        "`focus`",
        "focus --currency EUR --leave-out",
        None,
        ("PricingQuantity", 1),
        None,
        "",
    ),
    report(
        "`balance`",
        "balance --allocations allocations.csv --on 2026-03-31",
        None,
        ("charged", 1),
        None,
        "",
    ),
    report(
        "`site`",
        "site",
        Some("--users"),
        ("core_hours", 1),
        Some("cpu_hours"),
        "vo",
    ),
    report(
        "`sreport`, accounts",
        "sreport --time hours --tres cpu",
        None,
        ("Used", 1),
        None,
        "",
    ),
    report(
        "`sreport`, users",
        "sreport top-usage --users --time hours --tres cpu",
        Some(""),
        ("Used", 1),
        None,
        "",
    ),
    report(
        "`sreport`, sizes",
        "sreport sizes-by-account --time hours",
        None,
        ("Total Count", 1),
        None,
        "",
    ),
    report(
        "`sreport`, utilization",
        "sreport utilization --time hours --tres cpu",
        None,
        ("Allocated", 1),
        None,
        "",
    ),
];

const fn report(
    name: &'static str,
    words: &'static str,
    named: Option<&'static str>,
    hours: (&'static str, i64),
    cpu: Option<&'static str>,
    of: &'static str,
) -> Report {
    Report {
        name,
        words,
        named,
        hours,
        cpu,
        of,
    }
}

/// A folder with a lake of each attribution, and one of them without names.
struct Lakes(tempfile::TempDir);

impl Lakes {
    fn new() -> Self {
        let lakes = Self(tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| fs::write(lakes.path().join(name), text).unwrap();
        let (mut jobs, mut messages) = (
            "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|NodeList|AllocTRES|TotalCPU\n"
                .to_owned(),
            "APEL-individual-job-message: v0.3\n".to_owned(),
        );
        for (id, who, day, hours) in JOBS {
            let hour = if id == 5 { 24 - OVER } else { 0 };
            let start_s = 1_772_323_200 + (day - 1) * 86_400 + hour * 3600;
            let end_s = start_s + hours * 3600;
            let printed = |unix_s: i64| {
                let time = jiff::Timestamp::from_second(unix_s).unwrap();
                time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
            };
            let is_known = hours != UNKNOWN;
            let cpu = if is_known {
                format!("{hours}:00:00")
            } else {
                "INVALID".to_owned()
            };
            let (start, end, wall_s) = (printed(start_s), printed(end_s), hours * 3600);
            let _ = writeln!(
                jobs,
                "{id}|oak|anna|{who}|COMPLETED|{start}|{start}|{end}|{wall_s}|1|n1|billing=1,cpu=1,mem=1M,node=1|{cpu}"
            );
            let cores = if is_known { "Processors: 1\nNodeCount: 1\n" } else { "" };
            let _ = write!(
                messages,
                "Site: ELM\nSubmitHost: ce.elm.example\nMachineName: elm\nLocalJobId: {id}\nLocalUserId: anna\n\
                 GlobalUserName: /DC=org/CN=anna\nVO: {who}\nWallDuration: {wall_s}\nCpuDuration: {wall_s}\n\
                 StartTime: {start_s}\nEndTime: {end_s}\n{cores}ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
            );
        }
        write("jobs.txt", &jobs);
        write("elm.msg", &messages);
        write(
            "corrections.csv",
            "id,action,site,month,vo,account,job_id,job_n,wall_s,alloc_core_s,cluster,author,reason,date\n\
             C1,void,OAK,,,,2,,,,,E. Office,ran on a broken node,2026-04-02\n\
             C2,add,OAK,2026-03,fern,fern,,1,57600,57600,oak,E. Office,log lost,2026-04-02\n",
        );
        write(
            "benchmarks.csv",
            "site,cluster,benchmark,value_per_core,valid_from,valid_to\nOAK,oak,hs06,10,2024-01-01,\n",
        );
        write(
            "nodes.csv",
            "node,cluster,cpu_n,memory_byte,as_of\nn1,oak,4,4194304,2026-03-01\n",
        );
        write("cores.toml", CORES);
        write(
            "allocations.csv",
            "account,policy,amount,valid_from,valid_to\nfern,cores,1000,2026-03-01,2026-04-01\nmist,cores,1000,2026-03-01,2026-04-01\n",
        );
        let withheld = "[privacy]\nuser = \"drop\"\nglobal_user = \"drop\"\n";
        for (lake, attribution, privacy) in [
            ("prorated", "prorated", ""),
            ("by-end", "by-end", ""),
            ("private", "prorated", withheld),
        ] {
            write(
                &format!("{lake}.toml"),
                &format!(
                    "[pipeline]\nname = \"p\"\noutput = \"{lake}\"\ncalendar_timezone = \"UTC\"\nattribution = \"{attribution}\"\n\
                     corrections = \"corrections.csv\"\nmax_rejected = 1.0\n\
                     [[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\n\
                     vo = {{ column = \"account\" }}\n\
                     [[source]]\nname = \"elm\"\nformat = \"apel\"\npaths = [\"elm.msg\"]\n\
                     [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n\
                     {CHARGE_CORES}\
                     [overhead]\nnodes = [\"nodes.csv\"]\n[[overhead.unit]]\nname = \"one\"\ncore = 1\n{privacy}"
                ),
            );
            lakes.run(&["run", &format!("{lake}.toml")]);
        }
        lakes
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// What the program prints on stdout and stderr.
    fn run(&self, words: &[&str]) -> (String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(words)
            .current_dir(self.path())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (reported, stated) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{words:?}: {stated}");
        (reported, stated)
    }

    /// A report of a lake: its rows, and all it prints and writes.
    fn ask(&self, report: &Report, lake: &str, more: &str) -> (Vec<Value>, String) {
        let mut words: Vec<&str> = report.words.split_whitespace().collect();
        words.insert(0, "report");
        words.insert(2, lake);
        words.extend(more.split_whitespace());
        if words[1] != "balance" {
            words.extend(MONTH.split_whitespace());
        }
        let writes = matches!(words[1], "apel" | "site");
        let folder = self.path().join("written");
        if writes {
            let _ = fs::remove_dir_all(&folder);
            words.extend(["--out", "written"]);
        }
        if words[1] != "site" {
            words.extend(["--format", "json"]);
        }
        let (reported, stated) = self.run(&words);
        let mut all = format!("{reported}{stated}");
        let mut rows = Vec::new();
        if writes {
            for file in fs::read_dir(&folder).unwrap() {
                let path = file.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                if path.ends_with("usage.csv") {
                    rows = of_csv(&text);
                }
                all += &text;
            }
        }
        if words[1] != "site" {
            rows = serde_json::from_str(&reported).unwrap_or_else(|why| panic!("{words:?}: {why}: {reported}"));
        }
        (rows, all)
    }
}

fn of_csv(text: &str) -> Vec<Value> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let row = |cells: Vec<&str>| {
        let cells = cells
            .into_iter()
            .map(|cell| if cell.is_empty() { Value::Null } else { cell.into() });
        Value::Object(header.iter().map(|name| (*name).to_owned()).zip(cells).collect())
    };
    lines.map(row).collect()
}

/// A cell as the digits it was printed with.
fn digits(cell: &Value) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
}

/// The hours of a site in March.
fn hours(report: &Report, rows: &[Value]) -> i64 {
    let (column, unit) = report.hours;
    let whole = |row: &Value| -> i64 {
        let cell = row
            .get(column)
            .unwrap_or_else(|| panic!("{}: no {column} in {row}", report.name));
        let text = digits(cell);
        let text = text.split('.').next().unwrap();
        if text == "null" {
            0
        } else {
            text.parse().unwrap_or_else(|_| panic!("{}: {cell}", report.name))
        }
    };
    rows.iter().map(whole).sum::<i64>() / unit
}

fn line(lakes: &Lakes, report: &Report) -> String {
    let site = if report.name == "`balance`" { "" } else { "--site OAK" };
    let (rows, stated) = lakes.ask(report, "prorated", site);
    let (prorated, by_end) = (
        hours(report, &rows),
        hours(report, &lakes.ask(report, "by-end", site).0),
    );
    let has = |hours: i64, part: i64| hours & part != 0;
    assert!(has(prorated, PLAIN), "{}: {rows:#?}", report.name);
    let corrections = match (has(prorated, VOID), has(prorated, ADDED)) {
        (false, true) => "in",
        (false, false) if stated.contains("left out") => "in; additions are left out, which is reported",
        (false, false) => "in; additions are left out",
        (true, _) => "not in",
    };
    let over = match (has(prorated, OVER), has(by_end, OVER)) {
        (true, true) => "cut to the period",
        (true, false) => "as the lake attributes it",
        (false, false) => "whole, in the month of its end",
        (false, true) => "wrong",
    };
    let of_unknown = rows
        .iter()
        .find(|row| row.get(report.of).and_then(Value::as_str) == Some("mist"));
    let cpu = match (report.cpu, of_unknown.and_then(|row| row.get(report.cpu?))) {
        (None, _) if has(prorated, UNKNOWN) => "–",
        (_, Some(Value::Null)) if stated.contains("cpu_unknown") => "empty, with the number of jobs",
        (_, Some(Value::Null)) => "empty",
        (_, Some(_)) if stated.contains("cpu_unknown") => "zero, with the number of jobs",
        (_, Some(_)) => "zero",
        (_, None) if stated.contains("cpu_unknown") || stated.contains("unknown") => "job left out, which is reported",
        (_, None) => "job left out",
    };
    // Only one of the two sites has accounts, of which balances are.
    let cores = if site.is_empty() {
        "–"
    } else {
        let (rows, stated) = lakes.ask(report, "prorated", "--site ELM");
        let is_stated = ["is unknown are not in", "left out", "charge unknown"]
            .iter()
            .any(|word| stated.contains(word));
        match (has(hours(report, &rows), UNKNOWN), stated.contains("Processors: 0")) {
            (_, true) => "reported as unknown",
            (true, false) => "taken for one",
            (false, false) if is_stated => "left out, which is reported",
            (false, false) => "left out",
        }
    };
    // A name that is not requested appears nowhere, and one that the lake does not have cannot be requested.
    let words = if report.named == Some("") {
        ""
    } else {
        report.named.unwrap_or_default()
    };
    let of_both = |lake: &str, more: &str| {
        let sites = if report.words == "site" {
            vec!["--site OAK", "--site ELM"]
        } else {
            vec![""]
        };
        let texts = sites
            .iter()
            .map(|site| lakes.ask(report, lake, &format!("{more} {site}")).1);
        texts.collect::<String>().contains("anna")
    };
    let people = match (
        of_both("prorated", ""),
        report.named.is_some() && of_both("prorated", words),
    ) {
        (false, false) => "none",
        (false, true) if words == "--users" => "none; with `--users`",
        (false, true) => "withheld; `--users keep`",
        (true, _) if report.named == Some("") => "only with `--users`",
        (true, _) => "named",
    };
    assert!(
        !of_both("private", words),
        "{} names who is withheld from the lake",
        report.name
    );
    format!(
        "| {} | {corrections} | {over} | {cpu} | {cores} | {people} |\n",
        report.name
    )
}

/// The table of the README.
pub(crate) fn table() -> String {
    let lakes = Lakes::new();
    let mut table = "| report | corrections | job over a month's end | unknown CPU time | unknown cores | people |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for report in &REPORTS {
        table += &line(&lakes, report);
    }
    table += &lakes.fairshare_line();
    // These two look at the machine and at what was read, and not at what is accounted.
    let (reported, _) = lakes.run(&[
        "report", "overhead", "prorated", "--table", "ledger", "--format", "json",
    ]);
    let rows: Vec<Value> = serde_json::from_str(&reported).unwrap();
    let cores = rows.iter().find(|row| row["resource"] == "cores").unwrap();
    let share = digits(&cores["allocated"]).parse::<f64>().unwrap() / 100.0;
    let held = digits(&cores["capacity"]).parse::<f64>().unwrap() * share;
    let recorded = f64::from(i32::try_from(PLAIN + VOID + UNKNOWN + 3 * OVER).unwrap());
    assert!(
        (held - recorded).abs() < 2.0,
        "{held} of {recorded} hours that nodes gave"
    );
    for row in [
        "| `greendigit` | in; additions are left out, which is reported | whole, in the month of its end | empty | empty | none |",
        "| `sshare` | not in: shares follow what ran | by the second, whatever the month | – | those of the recorded billing or the policy | none; with `--users` |",
        "| `sprio` | not in: it looks at jobs that wait | – | – | an error | none; with `--users` |",
        "| `shares` | not in: it looks at nodes | – | – | – | none; users in files of `--for` |",
        "| `awards`, also as CSV and JSON | in | as the lake attributes it | – | – | those to whom an award is given; submitters with `--view submitter` |",
        "| `awards`, page and its CSV files | in | as the lake attributes it | – | – | those to whom an award is given |",
        "| `awards`, files of `--for` | in | as the lake attributes it | – | – | submitters, where the receiver's file has users |",
    ] {
        table += row;
        table += "\n";
    }
    table += "| `overhead` | not in: nodes gave the time | – | – | – | none |\n";
    assert!(!reported.contains("anna"));
    let (reported, _) = lakes.run(&["report", "completeness", "prorated", "--format", "json"]);
    assert!(!reported.contains("anna"));
    table += "| `completeness` | not in: it looks at what was read | – | – | – | none |\n";
    table
}

/// People are named by nothing that was not asked to, and nothing doubles or loses a job over the end of a month.
#[test]
fn every_report_keeps_its_word() {
    let table = table();
    for line in table.lines() {
        for word in ["| named |", "| wrong |"] {
            assert!(!line.contains(word), "{table}");
        }
    }
}
