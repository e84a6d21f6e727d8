//! Jobs a policy is not for, jobs that never ran, and additions that do not state where they ran.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

use gridtally::config::Plan;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use serde_json::Value;

/// Two clusters; a job that was cancelled before it ran, and one of unknown memory.
const JOBS: &str = "\
JobID|User|Account|Cluster|Partition|Submit|Start|End|Elapsed|State|NCPUS|NNodes|AllocTRES
1|ada|eis|firnfeld|short|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|01:00:00|COMPLETED|2|1|billing=2,cpu=2,mem=4G,node=1
2|ada|eis|firnfeld|long|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|01:00:00|COMPLETED|2|1|billing=2,cpu=2,mem=4G,node=1
3|ada|eis|karst|short|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|01:00:00|COMPLETED|2|1|billing=2,cpu=2,mem=4G,node=1
4|ada|eis|firnfeld|short|2026-01-01T00:00:00|None|2026-01-01T02:00:00|00:00:00|CANCELLED by 1000|0|1|
";

/// Memory hours of one cluster's partition, with a fee for every job.
const POLICY: &str = r#"
id = "memory-of-firnfeld"
version = "1"
title = "Memory"
source = "invented"
pool = "memory"
unit = "gib_hour"
memory_unit = "GiB"
formula = "memory * seconds / 3600"
minimum_charge = 0.5
[scope]
cluster = ["firnfeld"]
partition = ["short"]
[[example]]
name = "one"
in = { cluster = "firnfeld", partition = "short", memory = 2, hours = 2 }
expect = 4
"#;

struct Lake(tempfile::TempDir);

impl Lake {
    /// The lake of these jobs with these corrections.
    fn new(corrections: &str) -> (Self, RunReport) {
        Self::charged_by(corrections, &[("memory.toml", POLICY)])
    }

    fn charged_by(corrections: &str, policies: &[(&str, &str)]) -> (Self, RunReport) {
        let lake = Self(tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| fs::write(lake.0.path().join(name), text).unwrap();
        write("jobs.txt", JOBS);
        for (name, text) in policies {
            write(name, text);
        }
        let names: Vec<&str> = policies.iter().map(|(name, _)| *name).collect();
        let mut pipeline = "[pipeline]\nname = \"p\"\noutput = \"out\"\n".to_owned();
        if !corrections.is_empty() {
            write("corrections.csv", corrections);
            pipeline.push_str("corrections = \"corrections.csv\"\n");
        }
        let _ = write!(
            pipeline,
            "[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\n\
             vo = {{ value = \"eis\" }}\n[[charge]]\npolicies = {names:?}\n"
        );
        write("p.toml", &pipeline);
        let (plan, _) = Plan::load(&lake.0.path().join("p.toml")).unwrap();
        let report = stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
        (lake, report)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let reported = self.run(arguments);
        assert!(reported.status.success(), "{reported:?}");
        serde_json::from_slice(&reported.stdout).unwrap()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_job_that_never_ran_costs_nothing() {
    let (lake, report) = Lake::new("");
    assert_eq!((report.policies[0].job_n, report.policies[0].unpriced_job_n), (2, 0));
    // Nothing is unknown, so that whoever bills need not leave anything out.
    let focus = lake.json(&["report", "focus", "out", "--currency", "chf", "--format", "json"]);
    let rows = focus.as_array().unwrap();
    assert_eq!(rows.len(), 1, "{focus}");
    assert_eq!(rows[0]["PricingQuantity"].to_string(), "4.0");
    assert_eq!(
        (&rows[0]["x_JobCount"], &rows[0]["BillingCurrency"]),
        (&2.into(), &"CHF".into())
    );
    let priced = lake.json(&["policy", "price", "memory.toml", "--from", "out", "--report", "json"]);
    assert_eq!(
        (&priced[0]["job_n"], &priced[0]["unpriced_job_n"]),
        (&2.into(), &0.into())
    );
    let reported = text(&lake.run(&["explain", "out", "4"]));
    assert!(reported.contains("the job never ran: it costs nothing"), "{reported}");
}

#[test]
fn a_policy_states_how_many_jobs_it_is_not_for_and_why() {
    let (lake, report) = Lake::new("");
    let by_column: Vec<(&str, u64)> = report.policies[0]
        .out_of_scope
        .iter()
        .map(|(column, n)| (column.as_str(), *n))
        .collect();
    assert_eq!(by_column, [("cluster", 1), ("partition", 1)]);
    let line = "memory-of-firnfeld 1: 2 jobs charged, out of its scope 2 (by cluster 1, partition 1)";
    assert!(report.text().contains(line), "{}", report.text());
    let reported = text(&lake.run(&["policy", "price", "memory.toml", "--from", "out"]));
    let why = "2 jobs are out of its scope: 1 by cluster (jobs: karst 1; the policy is for firnfeld); \
               1 by partition (jobs: long 1; the policy is for short)";
    assert!(reported.contains(why), "{reported}");
    let reported = text(&lake.run(&["policy", "diff", "memory.toml", "memory.toml", "--from", "out"]));
    assert!(reported.contains(&format!("A: {why}\nB: {why}\n")), "{reported}");
    let priced = lake.json(&["policy", "price", "memory.toml", "--from", "out", "--report", "json"]);
    let first = &priced[0]["out_of_scope"][0];
    assert_eq!(
        (&first["column"], &first["value"], &first["job_n"]),
        (&"cluster".into(), &"karst".into(), &1.into())
    );
}

/// Whoever reads the run must not take a policy that charged every job for one that was not applied.
#[test]
fn a_policy_that_charged_every_job_is_reported_like_the_others() {
    let everywhere = POLICY
        .replace("memory-of-firnfeld", "everywhere")
        .replace("cluster = [\"firnfeld\"]", "cluster = [\"firnfeld\", \"karst\"]")
        .replace("partition = [\"short\"]", "partition = [\"short\", \"long\"]");
    let (_lake, report) = Lake::charged_by("", &[("memory.toml", POLICY), ("everywhere.toml", &everywhere)]);
    let lines = report.text();
    assert!(lines.contains("\n  everywhere 1: 4 jobs charged\n"), "{lines}");
    assert!(
        lines.contains("\n  memory-of-firnfeld 1: 2 jobs charged, out of its scope 2"),
        "{lines}"
    );
}

/// The page of a site has a table for the policy that charged, and a line for those that did not.
#[test]
fn policies_without_a_price_are_left_out_of_the_page_and_named() {
    let nowhere = POLICY
        .replace("memory-of-firnfeld", "nowhere")
        .replace("\"firnfeld\"", "\"karst-2\"");
    let unknown = POLICY
        .replace("memory-of-firnfeld", "unknown")
        .replace("memory * seconds", "limit_seconds * seconds")
        .replace("memory = 2, hours = 2 }", "limit_seconds = 2, hours = 2 }")
        .replace("minimum_charge = 0.5", "");
    let policies = [
        ("memory.toml", POLICY),
        ("nowhere.toml", &nowhere),
        ("unknown.toml", &unknown),
    ];
    let (lake, _) = Lake::charged_by("", &policies);
    let reported = lake.run(&["report", "site", "out", "--site", "ALP", "--out", "board"]);
    assert!(reported.status.success(), "{reported:?}");
    let page = fs::read_to_string(lake.0.path().join("board/index.html")).unwrap();
    let charges = page
        .split("id=\"charges\"")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    assert!(
        charges.contains("<h3>memory-of-firnfeld</h3>") && !charges.contains("<h3>nowhere"),
        "{charges}"
    );
    let line = "no job of these months is in their scope or has a price: nowhere.";
    assert!(charges.contains(line), "{charges}");
    // The job that never ran has a price: nothing. The other has none.
    assert!(
        charges.contains("<h3>unknown</h3>") && charges.contains("not in these sums: 1 that ended, and 2 core hours."),
        "{charges}"
    );
}

#[test]
fn an_addition_that_does_not_state_where_it_ran_is_unpriced_and_named() {
    let head = "id,action,site,month,cluster,partition,vo,account,job_n,wall_s,alloc_core_s,alloc_memory_byte,author,reason,date\n";
    let signed = "E. Office,agreed,2026-06-01\n";
    let rows = [
        // The cluster is unknown, and for one the partition.
        format!("C1,add,ALP,2026-01,,,eis,eis,3,3600,7200,1073741824,{signed}"),
        format!("C2,add,ALP,2026-01,firnfeld,,eis,eis,,3600,3600,1073741824,{signed}"),
        // This one is of another cluster, and this one is known.
        format!("C3,add,ALP,2026-01,karst,,eis,eis,1,3600,3600,1073741824,{signed}"),
        format!("C4,add,ALP,2026-01,firnfeld,short,eis,eis,1,3600,3600,1073741824,{signed}"),
    ];
    let (lake, report) = Lake::new(&format!("{head}{}", rows.concat()));
    let unpriced: Vec<(&str, &str)> = report
        .unpriced_corrections
        .iter()
        .map(|addition| (addition.correction_id.as_str(), addition.why.as_str()))
        .collect();
    let mut unpriced = unpriced;
    unpriced.sort_unstable();
    assert_eq!(
        unpriced,
        [("C1", "cluster, partition are unknown"), ("C2", "partition is unknown")]
    );
    let reported = text(&lake.run(&["report", "focus", "out", "--currency", "CHF"]));
    let unknown = "the charge of 3 core hours and 0 GPU hours is unknown, in 2 sums with 3 jobs that ended";
    assert!(reported.contains(unknown), "{reported}");
    let left_out = lake.run(&["report", "focus", "out", "--currency", "CHF", "--leave-out"]);
    assert!(
        text(&left_out).contains(&format!("left out: {unknown}")),
        "{left_out:?}"
    );
    fs::write(
        lake.0.path().join("allocations.csv"),
        "account,policy,amount,valid_from\neis,memory-of-firnfeld,100,2026-01-01\n",
    )
    .unwrap();
    let reported = text(&lake.run(&["report", "balance", "out", "--allocations", "allocations.csv"]));
    assert!(
        reported.contains("eis: the charge is unknown of 3 jobs, 1 corrections without jobs"),
        "{reported}"
    );
}

/// Jobs are priced again as they were recorded, and whoever compares that with charges is warned.
#[test]
fn corrections_left_out_of_a_price_are_counted() {
    let head = "id,action,site,job_id,undoes,author,reason,date\n";
    let signed = "E. Office,as agreed,2026-06-01";
    let rows = format!("C1,void,ALP,1,,{signed}\nC2,void,ALP,2,,{signed}\nC3,undo,,,C2,{signed}\n");
    let (lake, _) = Lake::new(&format!("{head}{rows}"));
    let warning = "1 corrections of the lake are left out: jobs are priced as they were recorded";
    for words in [&["price", "memory.toml"][..], &["diff", "memory.toml", "memory.toml"]] {
        let reported = text(&lake.run(&[&["policy"], words, &["--lake", "out"]].concat()));
        assert!(reported.contains(warning), "{reported}");
    }
    let priced = lake.json(&["policy", "price", "memory.toml", "--lake", "out", "--report", "json"]);
    assert_eq!(priced[0]["left_out_correction_n"], 1);
    let (lake, _) = Lake::new("");
    let reported = text(&lake.run(&["policy", "price", "memory.toml", "--lake", "out"]));
    assert!(!reported.contains("corrections"), "{reported}");
}

/// Billing that no job of a cluster has was not recorded: what is charged by it is zero, which a run warns of.
#[test]
fn a_policy_of_billing_warns_where_no_job_has_any() {
    const BILLED: &str = r#"
id = "billed"
version = "1"
title = "Billing"
source = "invented"
pool = "tres"
unit = "billing_hour"
formula = "taken * seconds / 3600"
billing_is = "stored"
[[option]]
name = "billing_from"
values = ["recorded", "weights"]
default = "recorded"
[[let]]
name = "stored"
is = "cores"
[[let]]
name = "taken"
is = "CASE WHEN billing_from = 'recorded' THEN coalesce(billing, stored) ELSE stored END"
[[example]]
name = "one"
in = { cores = 2, hours = 1 }
expect = 2
"#;
    let without = JOBS
        .replace("karst|short", "karst|bare")
        .replace("billing=2,cpu=2,mem=4G", "cpu=2,mem=4G");
    let run = |jobs: &str, options: &str| {
        let lake = Lake(tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| fs::write(lake.0.path().join(name), text).unwrap();
        write("jobs.txt", jobs);
        write("billed.toml", BILLED);
        write(
            "p.toml",
            &format!(
                "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
                 site = \"ALP\"\ntimezone = \"UTC\"\nvo = {{ value = \"eis\" }}\n[[charge]]\npolicies = [\"billed.toml\"]\n{options}"
            ),
        );
        let reported = text(&lake.run(&["run", "p.toml"]));
        (lake, reported)
    };
    let warning = |n: u32, cluster: &str| {
        format!("billed 1 reads billing, and none of the {n} jobs it charges of ALP {cluster} has any")
    };
    let (lake, reported) = run(&without, "");
    assert!(
        reported.contains(&warning(2, "firnfeld")) && reported.contains(&warning(1, "karst")),
        "{reported}"
    );
    let compared = lake.run(&["policy", "billing", "out", "billed.toml", "--report", "json"]);
    let compared: Value = serde_json::from_slice(&compared.stdout).unwrap();
    let zeros = compared["partitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sum| sum["zero_n"].as_u64().unwrap());
    assert_eq!(zeros.sum::<u64>(), 3, "{compared}");
    // One job with a billing shows that billing is recorded there.
    let (_, reported) = run(&without.replacen("cpu=2,mem=4G", "billing=2,cpu=2,mem=4G", 1), "");
    assert!(
        !reported.contains(&warning(2, "firnfeld")) && reported.contains(&warning(1, "karst")),
        "{reported}"
    );
    let (_, reported) = run(&without, "options = { billing_from = \"weights\" }\n");
    assert!(!reported.contains("reads billing"), "{reported}");
}

/// What a formula reads only to know whether it is known is no reason for an unknown charge.
#[test]
fn a_charge_is_unknown_for_what_must_be_known() {
    let limit = POLICY
        .replace(
            "memory * seconds / 3600",
            "coalesce(energy_joules, 0) + part * limit_seconds",
        )
        .replace("minimum_charge = 0.5\n", "")
        .replace(
            "cluster = [\"firnfeld\"]\n",
            "when = \"reservation IS NULL AND coalesce(qos, 'normal') <> 'low'\"\n",
        )
        .replace(
            "[scope]",
            "[[let]]\nname = \"part\"\nis = \"CASE WHEN reservation IS NULL THEN cores ELSE 0 END\"\n[scope]",
        )
        .replace("cluster = \"firnfeld\", ", "")
        .replace("memory = 2, hours = 2", "cores = 2, limit_seconds = 2");
    let (lake, _) = Lake::charged_by("", &[("limit.toml", &limit)]);
    let reported = text(&lake.run(&["explain", "out", "1"]));
    assert!(reported.contains("unknown, limit_seconds is unknown"), "{reported}");
}
