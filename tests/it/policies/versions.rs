//! A job under several versions of a policy: what they charge it for adds up to the job, whatever the number of versions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gridtally::config::Plan;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::{addend, date, decimal, int, number, text};
use gridtally::time::Day;
use gridtally::time::instant::second_text;

use crate::generator::rng::Rng;
use crate::support::lake_rows::lake_rows;

/// Core time, GPU time and charge by job, month and day.
type Parts = BTreeMap<(String, Day, Option<Day>), [i128; 3]>;

fn version(id: &str, nth: usize, validity: &str) -> String {
    format!(
        "id = \"{id}\"\nversion = \"{nth}\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"{id}\"\nunit = \"core_hour\"\n{validity}\
         formula = \"cores * seconds / 3600\"\n[[example]]\nname = \"one\"\nin = {{ cores = 1, hours = 2 }}\nexpect = 2\n"
    )
}

/// Writes `cut` in as many versions as there are edges and one, and `whole` in one.
fn write_policies(folder: &Path, edges: &[&str]) {
    let _none = fs::remove_dir_all(folder);
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("whole.toml"), version("whole", 0, "")).unwrap();
    for nth in 0..=edges.len() {
        let from = nth
            .checked_sub(1)
            .map_or_else(String::new, |at| format!("valid_from = {}\n", edges[at]));
        let to = edges
            .get(nth)
            .map_or_else(String::new, |edge| format!("valid_to = {edge}\n"));
        fs::write(
            folder.join(format!("{nth}.toml")),
            version("cut", nth, &format!("{from}{to}")),
        )
        .unwrap();
    }
}

/// Jobs from February to April, of odd lengths, some of which were suspended, end on midnight or never ran.
fn jobs() -> String {
    let mut text =
        "JobID|Cluster|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|Suspended|AllocTRES\n".to_owned();
    let mut rng = Rng::new(29);
    // 2026-02-01 in UTC.
    let first_s = 1_769_904_000;
    let stamp = |second: i64| {
        let stamp = second_text(second * 1000).unwrap();
        stamp.trim_end_matches('Z').to_owned()
    };
    for job in 0..400 {
        let midnight = |second: i64| second - second.rem_euclid(86_400);
        let mut start = first_s + rng.between(0, 60 * 86_400);
        let mut length = rng.between(0, 40 * 86_400);
        match job % 5 {
            1 => start = midnight(start),
            2 => length = (midnight(start + length) - start).max(0),
            3 => length = rng.between(0, 3),
            _ => {}
        }
        let suspended = if job % 3 == 0 { rng.between(0, length) } else { 0 };
        let (hour, minute, second) = (suspended / 3600, suspended / 60 % 60, suspended % 60);
        writeln!(
            text,
            "{job}|c|p|a{}|u|COMPLETED|{begin}|{begin}|{end}|{wall}|{hour:02}:{minute:02}:{second:02}|cpu={},gres/gpu={},node=1",
            job % 4,
            rng.between(1, 255),
            rng.between(0, 8),
            begin = stamp(start),
            end = stamp(start + length),
            wall = length - suspended,
        )
        .unwrap();
    }
    text
}

/// What a policy charged jobs for, and how many.
fn charged(out: &str, policy: &str) -> (Parts, i64) {
    let (mut parts, mut job_n) = (Parts::new(), 0);
    for batch in lake_rows(out, "job_charges") {
        let (job, policies) = (text(&batch, "job_id").unwrap(), text(&batch, "policy").unwrap());
        let (month, day) = (date(&batch, "month").unwrap(), date(&batch, "day").unwrap());
        let [cores, gpus, jobs] = ["alloc_core_s", "alloc_gpu_s", "job_n"].map(|name| int(&batch, name).unwrap());
        let charge = decimal(&batch, "charge").unwrap();
        for row in (0..batch.num_rows()).filter(|row| policies.value(*row) == policy) {
            let key = (job.value(row).to_owned(), month.value(row), number(day, row));
            let sums = parts.entry(key).or_default();
            let own = [
                cores.value(row).into(),
                gpus.value(row).into(),
                addend(number(charge, row)),
            ];
            for (sum, amount) in sums.iter_mut().zip(own) {
                *sum += amount;
            }
            job_n += jobs.value(row);
        }
    }
    (parts, job_n)
}

#[test]
fn versions_of_a_policy_charge_for_all_of_a_job_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("jobs.txt", &jobs());
    let edges = [
        "2026-02-11",
        "2026-02-12",
        "2026-03-01",
        "2026-03-11",
        "2026-03-29",
        "2026-04-07",
    ];
    for grain in ["month", "day"] {
        for edge_n in [1, 3, edges.len()] {
            write_policies(&folder.path().join("policies"), &edges[edges.len() - edge_n..]);
            let name = format!("{grain}-{edge_n}");
            write(
                "p.toml",
                &format!(
                    "[pipeline]\nname = \"p\"\noutput = \"{name}\"\ngrain = \"{grain}\"\ncalendar_timezone = \"Europe/Zurich\"\n\
                     [[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"ALP\"\n\
                     timezone = \"UTC\"\nvo = {{ value = \"eis\" }}\n[[charge]]\npolicies = [\"policies\"]\n"
                ),
            );
            let (plan, _) = Plan::load(&folder.path().join("p.toml")).unwrap();
            stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
            let (whole, job_n) = charged(&plan.output, "whole");
            let (cut, cut_n) = charged(&plan.output, "cut");
            assert_eq!((job_n, cut_n), (400, 400), "{name}");
            assert!(whole.len() > 400);
            for (key, sums) in &whole {
                assert_eq!(cut.get(key), Some(sums), "{name} {key:?}");
            }
            assert_eq!(whole.len(), cut.len(), "{name}");
        }
    }
}
