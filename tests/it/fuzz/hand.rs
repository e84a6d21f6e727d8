//! Files people write: tables, policies and pipelines, sound but in a few executions.

use std::fmt::Write as _;

use super::dialects::ODD;
use crate::generator::rng::Rng;

/// Who writes a file.
pub(super) struct Hand<'a> {
    rng: &'a mut Rng,
    /// Whether it errs.
    is_odd: bool,
}

impl<'a> Hand<'a> {
    /// One that errs now and then when it may.
    pub(super) fn new(rng: &'a mut Rng, may_err: bool) -> Self {
        let is_odd = may_err && rng.one_in(2);
        Self { rng, is_odd }
    }

    /// A usual value, or one in 12 times an odd one.
    pub(super) fn value(&mut self, usual: &impl ToString) -> String {
        if self.is_odd && self.rng.one_in(12) {
            self.rng.pick(ODD).to_owned()
        } else {
            usual.to_string()
        }
    }

    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.rng.between(low, high)
    }

    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        self.rng.pick(items)
    }

    pub(super) fn one_in(&mut self, n: i64) -> bool {
        self.rng.one_in(n)
    }
}

/// How a file is written.
pub(super) type File = fn(&mut Hand) -> String;

/// The files a pipeline may name.
pub(super) const FILES: &[(&str, File)] = &[
    ("nodes.csv", super::listings::table),
    ("vo.csv", accounts),
    ("vo-corrections.csv", vo_corrections),
    ("sites.csv", sites),
    ("benchmarks.csv", benchmarks),
    ("classes.csv", classes),
    ("types.csv", node_types),
    ("corrections.csv", corrections),
    ("policy.toml", policy),
];

fn accounts(hand: &mut Hand) -> String {
    let head = hand.pick(&["account,vo", "user,to_vo", "partition,vo"]);
    let (phys, atlas, other) = (hand.value(&"phys"), hand.value(&"atlas"), hand.value(&"other"));
    format!("{head}\n{phys},{atlas}\n*,{other}\n")
}

fn vo_corrections(hand: &mut Hand) -> String {
    let (from, to) = (hand.value(&"reef"), hand.value(&"coral"));
    format!("vo_name,reportable_vo,to_vo\n{from},ilc,{to}\n/ilc/Role=x,,ilc\n")
}

fn sites(hand: &mut Hand) -> String {
    let (to, other) = (hand.value(&"A"), hand.value(&"B"));
    format!("cluster,submit_host,to_site\noak,*,{to}\n*,*,{other}\n")
}

fn benchmarks(hand: &mut Hand) -> String {
    let (first, second) = (hand.value(&"10.84"), hand.value(&"17.5"));
    let (from, to) = (hand.value(&"2020-01-01"), hand.value(&"2026-10-20"));
    let cluster = hand.pick(&["", "oak"]);
    format!(
        "site,cluster,benchmark,value_per_core,valid_from,valid_to\nA,{cluster},hs06,{first},{from},{to}\n\
         A,{cluster},hs06,{second},{to},\nB,,hs23,{first},{from},\n"
    )
}

fn classes(hand: &mut Hand) -> String {
    let (old, new) = (hand.value(&"\"n[01-04]\""), hand.value(&"\"n[05-09]\""));
    let (cores, to) = (hand.value(&32), hand.value(&"2026-11-01"));
    format!(
        "site,cluster,nodes,node_class,cores,valid_from,valid_to\nA,oak,{old},old,{cores},2020-01-01,{to}\n\
         A,oak,{new},new,64,,\n"
    )
}

fn node_types(hand: &mut Hand) -> String {
    let (node_n, value) = (hand.value(&60), hand.value(&"11.20"));
    let to = hand.value(&"2026-11-01");
    format!(
        "site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to\n\
         A,oak,g-2019,{node_n},2,32,hs23,{value},2024-01-01,{to}\nA,oak,g-2026,30,2,64,hs23,14.9,{to},\n"
    )
}

fn corrections(hand: &mut Hand) -> String {
    let (job, cpu_ms) = (hand.value(&7), hand.value(&43_000_000));
    let (core_s, job_n) = (hand.value(&432_000), hand.value(&12));
    let account = hand.pick(&["phys", "snow"]);
    format!(
        "id,action,site,month,vo,account,job_id,to_account,job_n,alloc_core_s,cpu_ms,undoes,author,reason,date\n\
         C1,void,A,2026-10,,{account},{job},,,,,,Ada,broken,2026-12-02\nC2,remap,A,,-,{account},,firn,,,,,Ada,none,2026-12-02\n\
         C3,add,A,2026-10,v,{account},,,{job_n},{core_s},{cpu_ms},,Ada,lost,2026-12-03\n\
         C4,undo,,,,,,,,,,C1,Ada,it was fine,2026-12-09\n"
    )
}

/// A formula that is multiplied with a factor, the facts of its example besides one hour, and what that costs
/// by the factor.
const FORMULAS: &[(&str, &str, i64)] = &[
    ("cores * seconds", "cores = 2", 7200),
    ("greatest(cores, gpus * 16) * hours", "cores = 2, gpus = 1", 16),
    (
        "greatest(cores, memory / 4, gpus * 16) * seconds / 3600",
        "cores = 2, memory = 16, gpus = 0",
        4,
    ),
    ("cores * cores * cores * cores * seconds", "cores = 2", 16 * 3600),
    (
        "CASE WHEN gpus > 0 THEN gpus ELSE cores END * hours",
        "cores = 2, gpus = 0",
        2,
    ),
    ("hours / (cores - 1)", "cores = 2", 1),
    ("ceil(cores / 4) * step * hours", "cores = 8", 6),
    ("cores * weight * minutes", "cores = 2, partition = 'cpu'", 360),
];

fn policy(hand: &mut Hand) -> String {
    let (formula, known, cost) = hand.pick(FORMULAS);
    let factor = hand.pick(&[1, 2, 3, 1_000, 1_000_000_000]);
    let (above, weight) = (hand.value(&5), hand.value(&3));
    let mut text = format!(
        "id = \"made\"\nversion = \"1\"\ntitle = \"Made\"\nsource = \"nobody\"\npool = \"core\"\nunit = \"core_second\"\n\
         memory_unit = \"{}\"\nformula = \"({formula}) * {}\"\n",
        hand.pick(&["GiB", "GB"]),
        hand.value(&factor)
    );
    if hand.one_in(3) {
        text.push_str(hand.pick(&[
            "minimum_seconds = 60\n",
            "minimum_charge = 1\n",
            "valid_from = 2026-10-15\n",
        ]));
    }
    if hand.one_in(3) {
        writeln!(
            text,
            "[round]\ndigits = {}\nmode = \"half-up\"",
            hand.pick(&["0", "2", "9"])
        )
        .unwrap();
    }
    if hand.one_in(2) {
        text.push_str("[unknown]\ngpus = 0\nmemory = 1\npartition = \"\"\n");
    }
    if formula.contains("step") {
        writeln!(
            text,
            "[[tier]]\nname = \"step\"\nby = \"cores\"\nupper = \"included\"\nsteps = [[4, 1], [16, 3]]\nabove = {above}"
        )
        .unwrap();
    }
    if formula.contains("weight") {
        writeln!(
            text,
            "[[table]]\nby = [\"partition\"]\ngives = [\"weight\"]\nrows = [[\"cpu\", {weight}]]\nmissing = [1]"
        )
        .unwrap();
    }
    let cost = cost * factor;
    let known = known.replace('\'', "\"");
    writeln!(
        text,
        "[[example]]\nname = \"an hour\"\nin = {{ {known}, hours = 1 }}\nexpect = {}",
        hand.value(&cost)
    )
    .unwrap();
    text
}

/// A pipeline of these sources, and of these listings with the names of their files.
pub(super) fn pipeline(hand: &mut Hand, sources: &[&str], listings: &[(&str, String)]) -> String {
    let mut text = String::from(
        "[pipeline]\nname = \"made\"\noutput = \"lake\"\nmax_rejected = 1.0\nmax_unread = 1.0\noverlap = \"jobs\"\n\
         copied_jobs = \"keep\"\n",
    );
    writeln!(text, "grain = \"{}\"", hand.pick(&["month", "day"])).unwrap();
    writeln!(text, "attribution = \"{}\"", hand.pick(&["prorated", "by-end"])).unwrap();
    writeln!(text, "calendar_timezone = \"{}\"", hand.pick(&["UTC", "Europe/Zurich"])).unwrap();
    if hand.one_in(3) {
        text.push_str("corrections = \"corrections.csv\"\n");
    }
    for format in sources {
        source(hand, &mut text, format);
    }
    for (nth, (format, file)) in listings.iter().enumerate() {
        writeln!(
            text,
            "[[inventory]]\nname = \"listing{nth}\"\nformat = \"{format}\"\npaths = [\"{file}\"]\nsite = \"A\"\n\
             cluster = \"oak\"\nas_of = {}\ntimezone = \"UTC\"",
            hand.pick(&["2026-10-01", "2026-11-01"])
        )
        .unwrap();
    }
    stages(hand, &mut text, listings);
    text
}

fn source(hand: &mut Hand, text: &mut String, format: &str) {
    let name = hand.value(&format);
    writeln!(
        text,
        "[[source]]\nname = \"{name}\"\nformat = \"{format}\"\npaths = [\"{format}-*\"]"
    )
    .unwrap();
    // The records of the grid name their site and VO.
    let vo = if matches!(format, "apel" | "gracc") {
        hand.pick(&["", "{ column = \"vo\" }", "{ corrections = \"vo-corrections.csv\" }"])
    } else {
        let site = hand.pick(&["\"A\"", "\"B\"", "{ table = \"sites.csv\" }"]);
        let site = if format == "sacct" { site } else { "\"A\"" };
        writeln!(text, "site = {site}\ncluster = \"oak\"").unwrap();
        hand.pick(&[
            "{ column = \"account\" }",
            "{ table = \"vo.csv\" }",
            "{ value = \"v\" }",
        ])
    };
    if !vo.is_empty() {
        writeln!(text, "vo = {vo}").unwrap();
    }
    match format {
        "sacct" => {
            let zone = hand.pick(&["UTC", "Europe/Zurich", "Asia/Kathmandu"]);
            writeln!(text, "timezone = \"{zone}\"").unwrap();
        }
        "apel" => writeln!(text, "acceptance = \"{}\"", hand.pick(&["salvage", "strict-apel"])).unwrap(),
        _ => {}
    }
}

/// What is done with what was read.
fn stages(hand: &mut Hand, text: &mut String, listings: &[(&str, String)]) {
    if !hand.one_in(3) {
        let nodes = if listings.is_empty() || hand.one_in(2) {
            hand.pick(&["nodes = \"from-jobs\"\n", "nodes = [\"nodes.csv\"]\n"])
        } else {
            "nodes = [\"nodes.csv\"]\n"
        };
        let billing = hand.pick(&["overhead-aware", "usage-only", "whole-node"]);
        writeln!(
            text,
            "[overhead]\n{nodes}billing = \"{billing}\"\n[[overhead.unit]]\nname = \"u\"\ncore = 1\nmemory = \"{}\"",
            hand.value(&"2GiB")
        )
        .unwrap();
    }
    if hand.one_in(2) {
        text.push_str("[[charge]]\npolicies = [\"policy.toml\"]\n");
    }
    if hand.one_in(2) {
        let nodes = hand.pick(&["", "nodes = \"classes.csv\"\n"]);
        let missing = hand.pick(&["\"null\"", "\"reject\"", "{ fallback = 10.0, benchmark = \"hs06\" }"]);
        writeln!(
            text,
            "[normalise]\nbenchmarks = \"benchmarks.csv\"\n{nodes}missing = {missing}"
        )
        .unwrap();
    }
    if hand.one_in(3) {
        text.push_str("[capacity]\nnode_types = \"types.csv\"\n");
    }
    if hand.one_in(4) {
        text.push_str(hand.pick(&[
            "[privacy]\nuser = \"drop\"\n",
            "[privacy]\nuser = \"pseudonym\"\nrotate = \"month\"\nkey = { file = \"key\", readable_by = \"all\" }\n",
        ]));
    }
}
