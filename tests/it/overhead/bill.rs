//! What jobs are billed of their nodes lands among the charges, to the last digit, and can be explained.

use std::fmt::Write as _;
use std::path::Path;

use gridtally::audit::explain::explain;
use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;

use super::lake::{BOTH, LISTED, UNITS, pipeline, scene};
use super::{OVERHEAD, Scene};

const CHARGED: [&str; 4] = ["charges", "job_charges", "charge_part", "policies"];

fn billed(scheme: &str) -> Scene {
    let scene = scene(&BOTH);
    scene.run(&pipeline(&format!("{LISTED}billing = \"{scheme}\"\n{UNITS}")));
    scene
}

/// Cores: what jobs are charged, what the ledger counts nodes bill, and what is left of the capacity.
const LEDGER: &str = "SELECT c.options, c.core = l.billed, l.capacity - l.billed FROM \
     (SELECT options, sum(charge) AS core FROM charges WHERE pool = 'core' GROUP BY options) c JOIN \
     (SELECT unit, sum(billed_core_s) AS billed, sum(capacity_core_s) AS capacity FROM overhead GROUP BY unit) l \
     ON c.options LIKE 'unit=' || l.unit || ' %' ORDER BY 1";

#[test]
fn jobs_and_the_providers_loss_are_the_capacity() {
    for scheme in ["overhead-aware", "usage-only", "whole-node"] {
        let scene = billed(scheme);
        let asked = scene.ask(LEDGER);
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert!(asked.iter().all(|row| row.contains(" True ")), "{scheme}: {asked:?}");
        let byte = scene.ask(
            "SELECT (SELECT sum(charge) FROM charges WHERE pool = 'memory' AND options LIKE 'unit=1c2g %') = \
             (SELECT sum(billed_memory_byte_s) FROM overhead WHERE unit = '1c2g')",
        );
        assert_eq!(byte, ["True"], "{scheme}");
        let kinds = scene.ask("SELECT DISTINCT policy, policy_version, pool, unit FROM charges ORDER BY pool");
        let id = format!("node-share/{scheme} 2");
        assert_eq!(
            kinds,
            [format!("{id} core core s"), format!("{id} memory byte s")],
            "no job holds a GPU"
        );
    }
    // Usage alone: what was held, no more and no less.
    let usage = billed("usage-only")
        .ask("SELECT DISTINCT charge = alloc_core_s FROM job_charges WHERE pool = 'core' AND charge IS NOT NULL");
    assert_eq!(usage, ["True"]);
}

#[test]
fn a_unit_of_a_model_has_the_overhead_of_the_gpus_it_takes() {
    // Six GPUs, four of them of the model; for a day, a job holds one of these.
    let node = "NodeName=g1 CPUTot=8 RealMemory=16384 Gres=gpu:a100:4,gpu:v100:2 Partitions=gpu State=IDLE\n";
    let job = "1|oak|u|a|gpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-31T00:00:00|86400|00:00:00|1|1|\
               cpu=1,mem=1G,node=1,gres/gpu=1,gres/gpu:a100=1|00:10:00|g1\n";
    let scene = scene(&[("10", job)]);
    scene.write("nodes.txt", node);
    let units = "[[overhead.unit]]\nname = \"any\"\ngpu = 1\n\
                 [[overhead.unit]]\nname = \"model\"\ngpu = 1\ngpu_model = \"a100\"\n";
    scene.run(&pipeline(&format!("{LISTED}billing = \"overhead-aware\"\n{units}")));
    let asked = scene.ask(
        "SELECT unit, unit_s // 86400, overhead_gpu_s // 86400, stranded_gpu_s // 86400, billed_gpu_s // 86400 \
         FROM overhead WHERE day = '2026-10-30' ORDER BY unit",
    );
    // The two of the other model are of no use to the unit of the first.
    assert_eq!(asked, ["any 5 5 0 1", "model 3 3 2 3"]);
    let charged =
        scene.ask("SELECT options, (charge / 86400)::INT FROM job_charges WHERE pool = 'gpu' ORDER BY options");
    assert_eq!(charged, ["unit=any gpu=1 1", "unit=model a100=1 3"]);
}

#[test]
fn the_parts_of_a_job_are_of_the_months_it_ran_in_and_one_without_its_node_has_no_price() {
    let scene = billed("overhead-aware");
    // Job 3: 4 cores of 4 from 18:00 to 6:00 of which its last 3 hours were suspended.
    let asked = scene.ask(
        "SELECT job_id, month, alloc_core_s // 3600, charge = 3600 * (alloc_core_s // 3600), job_n, record_month \
         FROM job_charges WHERE job_id = '3' AND pool = 'core' AND options LIKE 'unit=1c2g %' ORDER BY month",
    );
    assert_eq!(
        asked,
        ["3 2026-10-01 24 True 0 2026-10-01", "3 2026-11-01 12 True 1 2026-10-01"]
    );
    let asked = scene.ask(
        "SELECT DISTINCT charge, why_unpriced, unpriced_job_n FROM job_charges WHERE job_id = '5' AND pool = 'core'",
    );
    assert_eq!(asked, ["NULL its nodes, or its allocation on them, are unknown 1"]);
}

#[test]
fn night_by_night_charges_the_same_bytes_and_nothing_is_left_behind() {
    let text = pipeline(&format!("{LISTED}billing = \"overhead-aware\"\n{UNITS}"));
    let whole = scene(&BOTH);
    whole.run(&text);
    let expected = whole.bytes(&CHARGED);
    assert!(
        expected
            .keys()
            .any(|path| path.contains("record_month=2026-10-01/overhead-2026-11"))
    );
    for nights in [[BOTH[0], BOTH[1]], [BOTH[1], BOTH[0]]] {
        let nightly = scene(&nights[..1]);
        nightly.run(&text);
        let (name, rows) = nights[1];
        nightly.write(&format!("jobs-{name}.txt"), &format!("{}{rows}", super::lake::HEADER));
        nightly.run(&text);
        assert!(
            nightly.bytes(&CHARGED) == expected,
            "{:?}",
            nightly.bytes(&CHARGED).keys()
        );
        assert_eq!(nightly.run(&text).status, Status::Unchanged);
    }
    // Another scheme replaces them, none takes them away.
    whole.run(&text.replace("overhead-aware", "usage-only"));
    let policies = whole.ask("SELECT DISTINCT policy FROM charges UNION SELECT DISTINCT policy FROM job_charges");
    assert_eq!(policies, ["node-share/usage-only"]);
    let overhead = whole.bytes(&OVERHEAD);
    whole.run(&text.replace("billing = \"overhead-aware\"\n", ""));
    assert!(whole.bytes(&CHARGED).is_empty(), "{:?}", whole.bytes(&CHARGED).keys());
    assert_ne!(
        whole.bytes(&OVERHEAD),
        overhead,
        "the ledger bills by the default again"
    );
}

const CORRECTIONS: &str =
    "id,action,site,month,account,job_id,to_account,job_n,wall_s,alloc_core_s,undoes,author,reason,date\n";

/// Effects of corrections on bills: none on what ran, and none on jobs other than the named one.
#[test]
fn corrections_take_bills_from_their_payers_and_give_them_to_others() {
    let plain = pipeline(&format!("{LISTED}billing = \"overhead-aware\"\n{UNITS}"));
    let text = plain.replace(
        "output = \"lake\"\n",
        "output = \"lake\"\ncorrections = \"corrections.csv\"\n",
    );
    let scene = scene(&BOTH);
    let write = |rows: &str| scene.write("corrections.csv", &format!("{CORRECTIONS}{rows}"));
    write("");
    scene.run(&text);
    let (charged, ran) = (scene.bytes(&CHARGED), scene.bytes(&OVERHEAD));
    let by_account = "SELECT account, sum(job_n), sum(alloc_core_s), sum(charge) FROM charges WHERE pool = 'core' AND \
        options LIKE 'unit=1c2g %' GROUP BY ALL ORDER BY ALL";
    let of_job = |job: u32| {
        scene.ask(&format!(
            "SELECT charge, alloc_core_s FROM job_charges WHERE job_id = '{job}' AND pool = 'core' AND \
             options LIKE 'unit=1c2g %' AND correction_id IS NULL ORDER BY month"
        ))
    };
    let one = of_job(1);
    let sum_before = scene.ask("SELECT sum(charge) FROM charges");
    // Job 1 is void; of job 3, which runs into November, only what is counted in November is paid by b.
    let void = "C1,void,A,,,1,,,,,,E,broken node,2026-11-03\n";
    let remap = "C2,remap,A,2026-11,,3,b,,,,,E,theirs,2026-11-03\n";
    write(&format!("{void}{remap}"));
    scene.run(&text);
    assert_eq!(scene.bytes(&OVERHEAD), ran, "what ran is as it was");
    let taken = scene.ask(
        "SELECT correction_id, account, -charge, -alloc_core_s, job_n FROM job_charges WHERE pool = 'core' AND \
         options LIKE 'unit=1c2g %' AND job_id = '1' AND correction_id IS NOT NULL ORDER BY ALL",
    );
    assert_eq!(taken, [format!("C1 a {} -1", one[0])]);
    // In November it had four cores for three hours before it was suspended, and the node had no others.
    let moved = scene.ask(
        "SELECT correction_id, month, account, alloc_core_s // 3600, charge = alloc_core_s, job_n FROM job_charges \
         WHERE pool = 'core' AND options LIKE 'unit=1c2g %' AND job_id = '3' AND correction_id IS NOT NULL ORDER BY ALL",
    );
    assert_eq!(moved, ["C2 2026-11-01 a -12 True -1", "C2 2026-11-01 b 12 True 1"]);
    // Every pool and unit alike: with its entries a void job comes to nothing, and one that moved to what it was.
    let left = scene.ask(
        "SELECT job_id, count(*) FILTER (charge != 0) FROM (SELECT job_id, pool, options, month, sum(charge) AS charge \
         FROM job_charges WHERE job_id = '1' GROUP BY ALL) GROUP BY job_id",
    );
    assert_eq!(left, ["1 0"]);
    assert_eq!(scene.ask(by_account).last().unwrap(), "b 1 43200 43200.000000000");
    // In one go and night by night: the same bytes.
    let corrected = scene.bytes(&CHARGED);
    let anew = super::lake::scene(&BOTH);
    anew.write("corrections.csv", &format!("{CORRECTIONS}{void}{remap}"));
    anew.run(&text);
    assert!(anew.bytes(&CHARGED) == corrected, "{:?}", anew.ask(by_account));
    assert_eq!(scene.run(&text).status, Status::Unchanged);
    // Applied: the table records it, and nothing is unmatched.
    let reported = scene.ask("SELECT DISTINCT correction_id, status FROM corrections ORDER BY ALL");
    assert_eq!(reported, ["C1 applied", "C2 applied"]);
    let explained = explain(scene.path("lake").to_str().unwrap(), "1", Path::new("/nowhere")).unwrap();
    assert!(explained[0].text().contains("C1"), "{}", explained[0].text());
    // Undone, all is as it was.
    let undo = "C3,undo,,,,,,,,,C1,E,it was fine,2026-11-04\nC4,undo,,,,,,,,,C2,E,not theirs,2026-11-04\n";
    write(&format!("{void}{remap}{undo}"));
    scene.run(&text);
    assert_eq!(scene.bytes(&CHARGED), charged);
    assert_eq!(scene.ask("SELECT sum(charge) FROM charges"), sum_before);
}

/// Records of another site now: a sweep must not find those that go away with the same run.
#[test]
fn nothing_is_left_of_a_site_that_has_another_name_now() {
    let everything = [&OVERHEAD[..], &CHARGED].concat();
    let text = pipeline(&format!("{LISTED}billing = \"overhead-aware\"\n{UNITS}"));
    let renamed = text.replace("site = \"A\"", "site = \"B\"");
    let (turned, anew) = (scene(&BOTH), scene(&BOTH));
    turned.run(&text);
    turned.run(&renamed);
    anew.run(&renamed);
    let (turned, anew) = (turned.bytes(&everything), anew.bytes(&everything));
    assert!(!anew.is_empty() && turned == anew, "{:?}", turned.keys());
}

#[test]
fn explain_integrates_the_rate_over_the_life_of_a_job() {
    let scene = billed("overhead-aware");
    let lake = scene.path("lake");
    let jobs = explain(lake.to_str().unwrap(), "1", Path::new("/nowhere")).unwrap();
    let text = jobs[0].text();
    // o1 has 4 cores and 16 GiB. To 6:00 the job is alone with 2 cores: 2 more could run. Then both jobs hold all cores, and
    // 9 GiB of memory are of no use to anybody.
    for expected in [
        "node-share/overhead-aware 2 (unit=1c2g core=1 memory_byte=2147483648)",
        "o1 2026-10-30T00:00:00Z to 2026-10-30T06:00:00Z: 2 of 2 core held, 2 overhead, 0 stranded, 2 billable of 4: rate \
         1, times 2 core times 21600 s = 43200",
        "o1 2026-10-30T06:00:00Z to 2026-10-30T12:00:00Z: 4294967296 of 7516192768 byte held, 0 overhead, 9663676416 \
         stranded, 17179869184 billable of 17179869184: rate 2.285714285714",
        "2026-10-01: 86400 core s, a -> charges/site=A/vo=v/allocation_year=2026/charges.parquet",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    // The parts are what the lake holds.
    let charged = scene.ask(
        "SELECT sum(charge) FROM job_charges WHERE job_id = '1' AND pool = 'memory' AND options LIKE 'unit=1c2g %'",
    );
    let charged = charged[0].trim_end_matches('0');
    assert!(text.contains(&format!("{charged} byte s")), "{charged}\n{text}");
    // ... to the last place, with what rounding the rate left of the node.
    for line in [
        "o1: rounded down to 9 places 490362551851859.20820183; of 46.385646798 that rounding leaves of the node, its part by \
         what is billed: 27.62605926",
        &format!("sum = {charged}"),
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

const SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: A\nMonth: 10\nYear: 2026\nVO: v\nSubmitHost: ce\n\
    InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\nProcessors: 1\n\
    EarliestEndTime: 1793318400\nLatestEndTime: 1793361600\nWallDuration: 700\nCpuDuration: 600\nNumberOfJobs: 7\n%%\n";

/// Charges are about what counts: jobs in whose place summaries count ran, and pay nothing.
#[test]
fn jobs_displaced_by_summaries_are_in_the_ledger_and_are_not_billed() {
    let with = |overlap: &str| {
        let text = pipeline(&format!("{LISTED}billing = \"overhead-aware\"\n{UNITS}"));
        let head = format!("output = \"lake\"\noverlap = \"{overlap}\"\n");
        text.replace("output = \"lake\"\n", &head)
            + "[[source]]\nname = \"sums\"\nformat = \"apel\"\npaths = [\"sums-*\"]\nacceptance = \"salvage\"\n"
    };
    let other = SUMMARY.replace("Site: A", "Site: Z");
    let whole = |overlap: &str| {
        let scene = scene(&BOTH);
        scene.write("sums-0", &other);
        scene.write("sums-1", SUMMARY);
        let report = scene.run(&with(overlap));
        (scene, report.overhead.unwrap())
    };
    let (by_jobs, report) = whole("jobs");
    assert_eq!(report.displaced_job_n, 0);
    let (by_summaries, report) = whole("summaries");
    assert_eq!(report.displaced_job_n, 4, "jobs 1 to 3, and 3 again in November");
    let charged = |scene: &Scene| scene.ask("SELECT DISTINCT job_id, record_month FROM job_charges ORDER BY ALL");
    let october = ["1 2026-10-01", "2 2026-10-01", "3 2026-10-01"];
    let november = ["4 2026-11-01", "5 2026-11-01"];
    assert_eq!(charged(&by_jobs), [&october[..], &november].concat());
    assert_eq!(charged(&by_summaries), november);
    assert_eq!(
        by_summaries.ask("SELECT DISTINCT month FROM charges ORDER BY ALL"),
        ["2026-11-01"]
    );
    let (ran, paid) = (by_jobs.bytes(&OVERHEAD), by_jobs.bytes(&CHARGED));
    assert_eq!(by_summaries.bytes(&OVERHEAD), ran, "what ran is as it was");
    let reported = |scene: &Scene| {
        let jobs = explain(scene.path("lake").to_str().unwrap(), "1", Path::new("/nowhere")).unwrap();
        jobs[0].text()
    };
    let why = "none: summaries of its site, month and view count in its place; it is not charged either";
    assert!(
        reported(&by_summaries).contains(why) && !reported(&by_jobs).contains(why),
        "{}",
        reported(&by_summaries)
    );
    // The summary comes after the jobs, or before them, or the rule changes: the same lake.
    let expected = by_summaries.bytes(&CHARGED);
    let jobs_first = scene(&BOTH);
    jobs_first.write("sums-0", &other);
    jobs_first.run(&with("summaries"));
    assert_eq!(charged(&jobs_first).len(), 5);
    jobs_first.write("sums-1", SUMMARY);
    let report = jobs_first.run(&with("summaries"));
    assert_eq!(report.overhead.unwrap().displaced_job_n, 4);
    assert!(jobs_first.bytes(&CHARGED) == expected, "{:?}", charged(&jobs_first));
    assert_eq!(jobs_first.run(&with("summaries")).status, Status::Unchanged);
    let sums_first = scene(&BOTH[1..]);
    sums_first.write("sums-0", &other);
    sums_first.write("sums-1", SUMMARY);
    sums_first.run(&with("summaries"));
    let (name, rows) = BOTH[0];
    sums_first.write(&format!("jobs-{name}.txt"), &format!("{}{rows}", super::lake::HEADER));
    sums_first.run(&with("summaries"));
    assert!(sums_first.bytes(&CHARGED) == expected, "{:?}", charged(&sums_first));
    // The other rule again: what was paid before is paid again, to the byte.
    by_summaries.run(&with("jobs"));
    assert!(by_summaries.bytes(&CHARGED) == paid, "{:?}", charged(&by_summaries));
    by_jobs.run(&with("summaries"));
    assert!(by_jobs.bytes(&CHARGED) == expected, "{:?}", charged(&by_jobs));
}

/// More records than wait together, jobs on several nodes, no memory to speak of: the same bytes, and usage is usage.
#[test]
fn bills_wait_in_runs_of_records_wherever_they_wait() {
    /// More than two runs.
    const JOB_N: usize = 40_000;
    let mut rows = String::from(super::lake::HEADER);
    for job in 0..JOB_N {
        // Four in a minute, one second each on one or both of two nodes.
        let (minute, node) = (job / 4 % 60, ["o1", "o2", "o[1-2]"][job % 3]);
        let (day, hour) = (1 + job / 4 / 1440, job / 4 / 60 % 24);
        let (node_n, second) = (if job % 3 == 2 { 2 } else { 1 }, job % 4);
        let time = |second: usize| format!("2026-11-{day:02}T{hour:02}:{minute:02}:{second:02}");
        let times = format!("{}|{}|{}", time(second), time(second), time(second + 10));
        let tres = format!("cpu={node_n},mem=2G,node={node_n}");
        let (id, account) = (job + 1, job % 7);
        writeln!(
            rows,
            "{id}|oak|u|a{account}|cpu|COMPLETED|{times}|10|00:00:00|{node_n}|{node_n}|{tres}|00:00:10|{node}"
        )
        .unwrap();
    }
    let text = pipeline(&format!("{LISTED}billing = \"overhead-aware\"\n{UNITS}"));
    let mut lakes = Vec::new();
    for memory_byte_n in [None, Some(3)] {
        let scene = scene(&[]);
        scene.write("jobs-11.txt", &rows);
        let options = RunOptions {
            memory_byte_n,
            threads: Some(3),
            ..RunOptions::default()
        };
        scene.run_with(&text, &options);
        lakes.push(scene);
    }
    let asked = lakes[0].ask(LEDGER);
    assert!(asked.iter().all(|row| row.contains(" True ")), "{asked:?}");
    let jobs = lakes[0].ask(
        "SELECT count(DISTINCT job_id), sum(alloc_core_s) FILTER (pool = 'core') FROM job_charges WHERE options LIKE 'unit=1c2g %'",
    );
    let core_n: usize = (0..JOB_N).map(|job| if job % 3 == 2 { 2 } else { 1 }).sum();
    assert_eq!(jobs, [format!("{JOB_N} {}", 10 * core_n)]);
    assert!(lakes[0].bytes(&CHARGED) == lakes[1].bytes(&CHARGED));
}
