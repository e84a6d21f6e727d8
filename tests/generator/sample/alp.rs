//! Site ALP-T2: two Slurm clusters, one dump a month and overlapping dumps of some nights.

use std::collections::BTreeMap;

use super::super::clock::zurich;
use super::super::rng::Rng;
use super::super::sacct::{Attempt, Gpus, HEADER, Person};

/// The people of the site.
pub(super) const PEOPLE: [Person; 6] = [
    person("anouk", 3101, "ice", "firn"),
    person("bastian", 3102, "ice", "firn"),
    person("chiara", 3103, "snow", "lawine"),
    person("jürg", 3104, "snow", "schnee-eis"),
    person("zoë", 3105, "rock", "moraene"),
    person("emil", 3106, "rock", "lawine"),
];

/// Belongs to an account no table knows.
pub(super) const STRANGER: Person = person("wanda", 3199, "guests", "wanderer");

const NAMES: [&str; 8] = [
    "melt_model",
    "firn-density",
    "calving_run",
    "train_segmentation",
    "postproc",
    "séracs",
    "regrid",
    "allocation",
];

type Models = &'static [(&'static str, i64)];

const fn person(user: &'static str, uid: i64, group: &'static str, account: &'static str) -> Person {
    Person {
        user,
        uid,
        group,
        account,
    }
}

/// A plain finished job; odd ones change fields of it.
pub(super) fn plain(raw_id: i64, submit: i64, wait: i64, span: i64) -> Attempt {
    Attempt {
        cluster: "glacier",
        raw_id,
        id: None,
        name: "melt_model".to_owned(),
        partition: "cpu",
        person: PEOPLE[0],
        submit,
        start: Some(submit + wait),
        end: Some(submit + wait + span),
        suspended: 0,
        exit: "0:0",
        state: "COMPLETED",
        nodes: 1,
        cpus: 4,
        memory_mib: 8_192,
        gpus: Gpus::None,
        limit_min: Some(1_440),
        node_list: "g007".to_owned(),
        user_ms: span * 3_211,
        system_ms: span * 97 + 13,
        max_rss_kib: 2_345_678,
        has_steps: true,
    }
}

/// The everyday jobs of January to May.
fn everyday() -> Vec<Attempt> {
    let mut rng = Rng::new(2_026);
    let mut jobs = Vec::new();
    let mut at = zurich(2026, 1, 1, 3, 0);
    let last = zurich(2026, 5, 31, 12, 0);
    let mut raw_id = 48_120;
    while at < last {
        jobs.push(everyday_job(&mut rng, raw_id, at));
        raw_id += rng.between(1, 9);
        at += rng.between(1_800, 50_000);
    }
    jobs
}

fn everyday_job(rng: &mut Rng, raw_id: i64, submit: i64) -> Attempt {
    let wait = rng.between(0, 7_200);
    let span = if rng.one_in(5) {
        rng.between(20, 900)
    } else {
        rng.between(900, 60_000)
    };
    let mut job = plain(raw_id, submit, wait, span);
    job.person = rng.pick(&PEOPLE);
    rng.pick(&NAMES).clone_into(&mut job.name);
    job.cpus = rng.pick(&[1, 2, 4, 8, 16, 32]);
    job.memory_mib = job.cpus * rng.pick(&[1_024, 2_000, 4_096]);
    // Draws that decide nothing keep the others what they are; nodes are found below.
    rng.between(1, 60);
    if rng.one_in(9) {
        job.nodes = 2;
        job.cpus = 64;
        rng.between(1, 59);
    }
    if rng.one_in(4) {
        job.cluster = "moraine";
        job.partition = "gpu";
        job.gpus = Gpus::Both(rng.pick::<Models>(&[&[("l40s", 1)], &[("l40s", 2)], &[("h100", 4)]]));
        rng.between(1, 13);
        job.nodes = 1;
        job.cpus = 16;
    }
    let (state, exit) = rng.pick(&[
        ("COMPLETED", "0:0"),
        ("COMPLETED", "0:0"),
        ("COMPLETED", "0:0"),
        ("COMPLETED", "0:0"),
        ("COMPLETED", "0:0"),
        ("FAILED", "1:0"),
        ("FAILED", "0:11"),
        ("TIMEOUT", "0:0"),
        ("CANCELLED by 3103", "0:15"),
        ("OUT_OF_MEMORY", "0:125"),
    ]);
    (job.state, job.exit) = (state, exit);
    job.limit_min = if rng.one_in(12) {
        None
    } else {
        Some(span / 60 + rng.between(1, 600))
    };
    let efficiency = rng.between(5, 98);
    job.user_ms = span * job.cpus * efficiency * 10 + rng.between(0, 1_000);
    job.system_ms = job.user_ms / 40 + rng.between(1, 1_000);
    job.max_rss_kib = job.memory_mib * rng.between(50, 900);
    job
}

/// What the nodes have: cores and MiB of memory. GPUs are not looked at, so that a node may be given too many.
struct Machine {
    cluster: &'static str,
    partition: &'static str,
    nodes: &'static [&'static str],
    has: [i64; 2],
}

const MACHINES: [Machine; 2] = [
    Machine {
        cluster: "glacier",
        partition: "cpu",
        nodes: &["g001", "g002"],
        has: [64, 131_072],
    },
    Machine {
        cluster: "moraine",
        partition: "gpu",
        nodes: &["m01", "m02"],
        has: [32, 131_072],
    },
];

/// Puts every job on the first nodes that have room for all of its time, or on the least full ones. One job of `moraine`
/// states that it ran on `g007`, and keeps stating it.
fn place(jobs: &mut [Attempt]) {
    for machine in &MACHINES {
        // By node: beginning, end and what is held.
        let mut held: Vec<Vec<(i64, i64, [i64; 2])>> = vec![Vec::new(); machine.nodes.len()];
        for job in jobs.iter_mut() {
            let is_ours = (job.cluster, job.partition) == (machine.cluster, machine.partition);
            let is_odd = job.cluster == "moraine" && job.raw_id > 900_000;
            let (Some(start), true, false) = (job.start, is_ours, is_odd) else {
                continue;
            };
            let end = job.end.unwrap_or(start + 86_400);
            let share = [job.cpus, job.memory_mib].map(|amount| (amount + job.nodes - 1) / job.nodes);
            let excess = |of: &Vec<(i64, i64, [i64; 2])>| {
                let beside = of.iter().filter(|(from, until, _)| *from < end && start < *until);
                let sums = beside.fold(share, |sum, (_, _, held)| [sum[0] + held[0], sum[1] + held[1]]);
                (sums[0] - machine.has[0]).max(0) + (sums[1] - machine.has[1]).max(0) / 2_048
            };
            let mut order: Vec<usize> = (0..held.len()).collect();
            order.sort_by_key(|at| (excess(&held[*at]), *at));
            order.truncate(usize::try_from(job.nodes).expect("a few nodes"));
            order.sort_unstable();
            for at in &order {
                held[*at].push((start, end, share));
            }
            job.node_list = match order.as_slice() {
                [only] => machine.nodes[*only].to_owned(),
                _ => "g[001-002]".to_owned(),
            };
        }
    }
}

/// One dump: what `sacct -D -S from -E until` shows at `taken`.
fn dump(jobs: &[Attempt], from: i64, until: i64, taken: i64) -> Vec<u8> {
    let mut out = HEADER.as_bytes().to_vec();
    for job in jobs {
        let is_over = job.end.is_some_and(|end| end < from);
        if job.submit < until && !is_over {
            job.write(&mut out, taken);
        }
    }
    out
}

fn month(jobs: &[Attempt], month: i64) -> Vec<u8> {
    let next = zurich(2026, month + 1, 1, 0, 0);
    dump(jobs, zurich(2026, month, 1, 0, 0), next, next + 4 * 3_600 + 600)
}

/// The dump of a night reaches back two days.
fn night(jobs: &[Attempt], month: i64, day: i64) -> Vec<u8> {
    let taken = zurich(2026, month, day, 4, 10);
    let until = zurich(2026, month, day, 0, 0);
    dump(jobs, until - 2 * 86_400, until, taken)
}

/// Adds every dump of the site.
pub(super) fn dumps(files: &mut BTreeMap<&'static str, Vec<u8>>) {
    let mut jobs = everyday();
    jobs.extend(super::alp_odd::jobs());
    jobs.sort_by_key(|job| (job.submit, job.raw_id, job.start));
    place(&mut jobs);

    files.insert("alp/sacct-2026-01.txt", month(&jobs, 1));
    files.insert("alp/sacct-2026-02.txt.gz", super::gzip(&month(&jobs, 2)));
    let mut march = month(&jobs, 3);
    super::alp_odd::break_a_line(&mut march);
    files.insert("alp/sacct-2026-03.txt", march);
    files.insert("alp/sacct-2026-04.txt.zst", super::zstd(&month(&jobs, 4)));
    let mut may = month(&jobs, 5);
    super::alp_odd::add_tool_talk(&mut may);
    files.insert("alp/sacct-2026-05.txt", may);

    files.insert("alp/sacct-night-2026-03-29.txt", night(&jobs, 3, 29));
    files.insert("alp/sacct-night-2026-03-30.txt", night(&jobs, 3, 30));
    files.insert("alp/sacct-night-2026-03-31.txt", night(&jobs, 3, 31));
    files.insert("alp/sacct-night-2026-04-01.txt", night(&jobs, 4, 1));
    files.insert("alp/sacct-night-2026-04-02.txt", night(&jobs, 4, 2));
    let mut cut = night(&jobs, 6, 2);
    super::alp_odd::cut_the_end(&mut cut);
    files.insert("alp/sacct-night-2026-06-02.txt", cut);
}
