//! The centres whose policies ship: who they are, what they print, and what each needs of the format.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gridtally::charge::Policy;
use gridtally::charge::example::{Expected, Printing};
use gridtally::charge::policy::Subject;

use super::shipped::shipped;
use crate::support::sample::repository;

/// A centre and how the ids of its policies begin.
const CENTRES: &[(&str, &[&str])] = &[
    ("ACENET", &["acenet-"]),
    ("Argonne Leadership Computing Facility", &["alcf-"]),
    ("ARCHER2 (EPCC)", &["archer2"]),
    ("CINECA", &["cineca-"]),
    ("CSC", &["csc-"]),
    ("CSCS", &["cscs-"]),
    ("CU Boulder Research Computing", &["curc-"]),
    ("Cyfronet", &["cyfronet-"]),
    ("Digital Research Alliance of Canada", &["compute-canada-", "drac-"]),
    ("ECMWF", &["ecmwf-"]),
    ("FAS Research Computing, Harvard", &["fasrc-"]),
    ("Jetstream2 (Indiana)", &["jetstream2-"]),
    ("Kennesaw State University", &["kennesaw-"]),
    ("LUMI", &["lumi-"]),
    ("MetaCentrum", &["metacentrum"]),
    ("NCAR", &["ncar-"]),
    ("NCI", &["nci-"]),
    ("NCSA", &["ncsa-"]),
    ("NERSC", &["nersc-"]),
    ("NeSI", &["nesi-"]),
    ("NREL", &["nrel-"]),
    ("Oak Ridge Leadership Computing Facility", &["olcf-"]),
    ("Ohio Supercomputer Center", &["osc-"]),
    ("PATh Facility", &["path-"]),
    ("Pawsey", &["pawsey-"]),
    ("Purdue RCAC", &["purdue-"]),
    ("Sigma2", &["sigma2-"]),
    ("TACC", &["tacc"]),
    ("University of Houston", &["houston"]),
    ("University of Kentucky", &["kentucky-"]),
    ("University of Luxembourg", &["ulhpc"]),
    ("University of Pittsburgh", &["pitt-"]),
    ("Vega (IZUM)", &["vega"]),
];

/// Rules that are no centre's.
const COMMON: &[(&str, &[&str])] = &[
    ("any site", &["carbon-"]),
    ("any site of Slurm", &["slurm-"]),
    ("sites of the WLCG", &["wlcg-"]),
];

fn centre(policy: &Policy) -> &'static str {
    let all = CENTRES.iter().chain(COMMON);
    let own: Vec<&str> = all
        .filter(|(_, ids)| ids.iter().any(|id| policy.id.starts_with(id)))
        .map(|(centre, _)| *centre)
        .collect();
    assert_eq!(own.len(), 1, "{} is of {own:?}", policy.id);
    own[0]
}

fn prints(policy: &Policy) -> usize {
    policy
        .examples
        .iter()
        .filter(|example| example.printed.is_some())
        .count()
}

#[test]
fn at_least_25_centres_ship_with_examples_they_print() {
    let policies = shipped();
    let of: BTreeSet<&str> = policies.iter().map(centre).collect();
    for (name, _) in CENTRES.iter().chain(COMMON) {
        assert!(of.contains(name), "no policy of {name}");
    }
    let printing: BTreeSet<&str> = policies
        .iter()
        .filter(|policy| prints(policy) > 0)
        .map(centre)
        .collect();
    let printing = CENTRES.iter().filter(|(name, _)| printing.contains(name)).count();
    assert!(printing >= 25, "{printing} centres with printed examples");
    let page = std::fs::read_to_string(repository("docs/guides/policies.md")).unwrap();
    let reported = format!("those of {} centres", CENTRES.len());
    assert!(
        page.contains(&reported),
        "docs/guides/policies.md does not contain \"{reported}\""
    );
}

/// Where a page is wrong, or prints nothing, the arithmetic is written next to the example.
#[test]
fn what_no_page_proves_is_worked_out_in_a_note() {
    let mut wrong = 0;
    for policy in shipped() {
        for example in &policy.examples {
            let note = example.note.as_deref().unwrap_or_default();
            if example.printing == Printing::Wrong {
                wrong += 1;
                let is_arithmetic = note.contains(|c: char| c.is_ascii_digit()) && note.contains(['=', 'x', '+']);
                assert!(is_arithmetic, "{}: {} is not proven wrong", policy.file, example.name);
            }
        }
        let is_worked = policy.examples.iter().any(|example| {
            let is_charge = matches!(example.expected, Expected::Charge { .. });
            is_charge
                && example
                    .note
                    .as_ref()
                    .is_some_and(|note| note.contains(|c: char| c.is_ascii_digit()))
        });
        assert!(
            prints(&policy) > 0 || is_worked,
            "{} has nothing to believe",
            policy.file
        );
    }
    assert!(wrong >= 4, "{wrong} printed examples are wrong");
}

/// What centres need of the format, each with a policy and its text for it.
const NEEDS: &[(&str, &str, &str)] = &[
    ("the largest of resources", "pawsey-setonix-cpu", "greatest(cores"),
    ("a weighted sum", "csc-puhti-cpu", "cores + 0.1 * memory"),
    ("GPUs added to the largest of the rest", "slurm-tres", "max_tres_gres"),
    ("lookup by node", "metacentrum", "by = [\"node_kind\"]"),
    ("whole slices", "lumi-c", "ceil(memory / 2)"),
    ("a stored integer", "sigma2-saga", "floor(greatest("),
    (
        "flat tiers, a bound being of its own step",
        "path-cpu",
        "upper = \"included\"",
    ),
    ("a least charge", "purdue-anvil", "minimum_charge = 1"),
    ("a least duration", "tacc", "minimum_seconds = 900"),
    ("whole nodes by partition", "lumi-c", "nodes * 128"),
    ("whole nodes when there are several", "osc-core-hours", "nodes > 1"),
    ("a factor by partition", "tacc", "[\"frontera\", \"rtx\", 3]"),
    (
        "a factor by quality of service",
        "curc-alpine",
        "[\"gpu-testing\", 0.1]",
    ),
    ("a factor by priority", "ncar-cpu", "[\"premium\", 1.5]"),
    ("a factor by date", "acenet-siku", "valid_from = 2024-04-16"),
    ("a price by date", "cscs-alps", "valid_from = 2026-07-01"),
    ("a pool for jobs with GPUs", "ncar-gpu", "when = \"gpus > 0\""),
    ("a pool for jobs without", "ncar-cpu", "when = \"gpus = 0\""),
    ("slices of GPUs, tabulated", "drac-rgu", "[\"a100-40_1g.5gb\", 0.57]"),
    ("memory in decimal units", "ncsa-delta-cpu", "memory_unit = \"GB\""),
    ("memory in binary units", "sigma2-saga", "memory_unit = \"GiB\""),
    ("memory in MB", "compute-canada-gpu", "values = [\"MB\", \"MiB\"]"),
    (
        "reservations by window",
        "olcf-frontier-reservation",
        "charges_for = \"reservations\"",
    ),
    ("reservations at a premium", "archer2-reservation", "1.5 * nodes"),
    ("free classes", "archer2", "[\"lowpriority\", 0]"),
    ("a factor by state", "jetstream2-cpu", "[\"SUSPENDED\", 0.75]"),
    ("storage", "csc-roihu-storage", "charges_for = \"storage\""),
    ("free storage", "csc-scratch-storage", "greatest(0, stored_tib - 1)"),
    ("the speed of a node", "metacentrum", "spec * processor_equivalents"),
    ("price and performance apart", "kentucky-lcc", "work_core_hours"),
    ("refunds", "ncar-cpu", "hours = -1"),
    ("who may exceed an award", "alcf-node-hours", "stays_in_prod"),
];

#[test]
fn every_need_is_some_centres() {
    let policies = shipped();
    for (need, id, expected) in NEEDS {
        let mut own = policies.iter().filter(|policy| policy.id == *id).peekable();
        assert!(own.peek().is_some(), "{need}: there is no {id}");
        assert!(
            own.any(|policy| policy.text.contains(expected)),
            "{need}: {id} lacks {expected}"
        );
    }
}

/// Where a centre keeps two pools, no job is of both.
#[test]
fn a_gpu_job_and_a_cpu_job_are_of_one_pool_each() {
    let policies = shipped();
    for id in [
        "ncar",
        "path",
        "csc-roihu",
        "csc-mahti",
        "csc-puhti",
        "purdue-anvil",
        "ncsa-delta",
        "pawsey-setonix",
        "cyfronet-helios",
    ] {
        let find = |end: &str| {
            policies
                .iter()
                .find(|policy| policy.id == format!("{id}-{end}"))
                .unwrap()
        };
        let (cpu, gpu) = (find("cpu"), find("gpu"));
        assert_ne!(cpu.pool, gpu.pool, "{id}");
        assert!(cpu.text.contains("when = \"gpus = 0\""), "{id}");
        assert!(gpu.text.contains("when = \"gpus > 0\""), "{id}");
    }
}

/// The list of policies in their folder.
fn list() -> String {
    let mut page = "# Charge policies of real centres\n\nEach file is a policy with its source, its tables and worked examples; \
        `gridtally policy show FILE` prints one as a page, `gridtally policy test` runs all examples. A number under \
        *printed* counts examples whose result the centre prints itself. Policies for reservations charge the windows an \
        inventory lists; those for storage can be tested, not run: no input describes it.\n\n| centre | policy | of | unit | examples | printed |\n|---|---|---|---|---|---|\n"
        .to_owned();
    let policies = shipped();
    let mut rows: Vec<(&str, &Policy)> = policies.iter().map(|policy| (centre(policy), policy)).collect();
    rows.sort_by_key(|(centre, policy)| (centre.to_lowercase(), policy.file.clone()));
    for (centre, policy) in rows {
        let of = match policy.subject {
            Subject::Jobs => policy.pool.as_str(),
            other => other.as_str(),
        };
        let wrong = policy
            .examples
            .iter()
            .filter(|example| example.printing == Printing::Wrong)
            .count();
        let wrong = if wrong > 0 {
            format!(", {wrong} wrongly")
        } else {
            String::new()
        };
        let _ = writeln!(
            page,
            "| {centre} | [{}]({}) | {of} | {} | {} | {}{wrong} |",
            policy.title,
            policy.file,
            policy.unit,
            policy.examples.len(),
            prints(policy)
        );
    }
    page
}

#[test]
fn the_list_of_policies_is_the_rendered_one() {
    let path = repository("pipelines/policies/README.md");
    let page = list();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed, page,
        "UPDATE_README=1 cargo test policies renders pipelines/policies/README.md"
    );
}
