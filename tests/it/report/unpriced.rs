//! Parts of jobs whose charge is unknown: no report takes them for free, whatever they share a row with.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

use gridtally::audit::verify::verify;

use super::money::rows;

const HEADER: &str = "JobID|Cluster|Partition|QOS|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES\n";

const PIPELINE: &str = "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
     site = \"X\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n[[charge]]\npolicies = [\"policies\"]\n[awards]\n\
     table = \"awards.csv\"\n";

/// 100 francs for February.
const AWARDS: &str = "account,policy,amount,valid_from,valid_to\na1,p,100,2026-02-01,2026-03-01\n";

fn policy(version: &str, more: &str) -> String {
    format!(
        "id = \"p\"\nversion = \"{version}\"\ntitle = \"p\"\nsource = \"invented\"\npool = \"x\"\nunit = \"chf\"\nmemory_unit = \"GiB\"\n{more}"
    )
}

/// The larger of cores and GiB by the hour: without memory the charge is unknown.
fn by_memory() -> String {
    policy(
        "1",
        "formula = \"greatest(cores, memory) * seconds / 3600\"\n[[example]]\nname = \"a\"\n\
         in = { cores = 3, seconds = 3600, memory = 1 }\nexpect = 3\n",
    )
}

/// GPU hours by model.
fn by_model(version: &str, validity: &str, models: &str) -> String {
    policy(
        version,
        &format!(
            "{validity}\nformula = \"w * seconds / 3600\"\n[[devices]]\ngives = [\"w\"]\nrows = [{models}]\n[[example]]\nname = \"a\"\n\
             in = {{ gpus = {{ a100 = 1 }}, seconds = 3600 }}\nexpect = 1\n"
        ),
    )
}

struct Charged(TempDir);

impl Charged {
    /// A lake of these jobs under these policies.
    fn new(jobs: &[&str], policies: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("jobs.txt", &format!("{HEADER}{}\n", jobs.join("\n")));
        write("awards.csv", AWARDS);
        write("p.toml", PIPELINE);
        fs::create_dir(folder.path().join("policies")).unwrap();
        for (nth, policy) in policies.iter().enumerate() {
            write(&format!("policies/{nth}.toml"), policy);
        }
        let charged = Self(folder);
        assert!(charged.go(&["run", "p.toml"]).status.success());
        let findings = verify(charged.0.path().join("out").to_str().unwrap()).unwrap();
        assert!(findings.is_sound());
        charged
    }

    fn go(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// The rows of a report, and what it prints beside them.
    fn report(&self, arguments: &[&str]) -> (Vec<BTreeMap<String, String>>, String) {
        let output = self.go(&[&["report"], arguments].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        (rows(&String::from_utf8(output.stdout).unwrap()).1, stderr)
    }

    /// Every report of February states that the charge of `core_hours` and `gpu_hours` is unknown, and leaves their time out of what
    /// is billed: one core second for each of `billed_core_s`.
    fn assert_unpriced(&self, core_hours: &str, gpu_hours: &str, billed_core_s: &str) {
        let focus = ["report", "focus", "out", "--from", "2026-02", "--to", "2026-02"];
        let refused = self.go(&focus);
        assert!(!refused.status.success());
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        let unknown = format!(
            "the charge of {core_hours} core hours and {gpu_hours} GPU hours is unknown, in 1 sums with 0 jobs that ended"
        );
        assert!(why.contains(&unknown), "{why}");
        let (lines, stderr) = self.report(&[&focus[1..], &["--leave-out"]].concat());
        assert!(stderr.contains(&unknown), "{stderr}");
        let billed: Vec<&str> = lines.iter().map(|line| line["ConsumedQuantity"].as_str()).collect();
        assert_eq!(billed, [format!("{billed_core_s}.000000000")]);
        let on = ["--on", "2026-02-28", "--format", "csv"];
        let (balances, stderr) = self.report(&[&["balance", "out", "--allocations", "awards.csv"], &on[..]].concat());
        assert_eq!(balances[0]["unpriced_core_hours"], format!("{core_hours}.00"));
        assert!(
            stderr.contains(&format!(
                "1 sums of parts of jobs that end in another period or under another version of the policy ({core_hours} core hours)"
            )),
            "{stderr}"
        );
        let (awards, _) = self.report(&[&["awards", "out"], &on[..]].concat());
        assert_eq!(awards[0]["unpriced_core_hours"], format!("{core_hours}.000000000"));
        let board = [
            "report", "site", "out", "--site", "X", "--from", "2026-02", "--to", "2026-02", "--out", "board",
        ];
        assert!(self.go(&board).status.success());
        let page = fs::read_to_string(self.0.path().join("board/index.html")).unwrap();
        let note =
            format!("Jobs without a price, which are not in these sums: 0 that ended, and {core_hours} core hours.");
        assert!(page.contains(&note), "{page}");
    }
}

#[test]
fn a_job_that_ends_in_a_later_month_is_not_free_in_the_month_before() {
    for qos in ["normal", "long"] {
        let jobs = [
            "1|cl|cpu|normal|a1|u|COMPLETED|2026-02-10T01:00:00|2026-02-10T01:00:00|2026-02-10T02:00:00|3600|cpu=4,mem=8G,node=1",
            &format!(
                "2|cl|cpu|{qos}|a1|u|COMPLETED|2026-02-20T01:00:00|2026-02-20T01:00:00|2026-03-05T01:00:00|1123200|cpu=4,node=1"
            ),
        ];
        Charged::new(&jobs, &[by_memory()]).assert_unpriced("860", "0", "14400");
    }
}

#[test]
fn a_job_without_a_price_under_the_version_it_began_under_is_not_free() {
    let jobs = [
        "1|cl|gpu|normal|a1|u|COMPLETED|2026-02-10T00:00:00|2026-02-10T00:00:00|2026-02-10T01:00:00|3600|cpu=4,gres/gpu:a100=1,node=1",
        "2|cl|gpu|normal|a1|u|COMPLETED|2026-02-19T00:00:00|2026-02-19T00:00:00|2026-03-01T00:00:01|864001|cpu=4,gres/gpu:h100=4,node=1",
    ];
    let policies = [
        by_model("1", "valid_to = 2026-03-01", "[\"a100\", 1]"),
        by_model("2", "valid_from = 2026-03-01", "[\"a100\", 1], [\"h100\", 2]"),
    ];
    Charged::new(&jobs, &policies).assert_unpriced("960", "960", "14400");
}
