//! Real clusters: what their dumps, listings and weights come to equals what their own sshare printed.

use std::path::Path;

use gridtally::audit::billing;

use super::Scene;
use crate::support::collect::shared;

/// One cluster of the real data.
pub(super) struct RealCluster {
    pub(super) release: &'static str,
    pub(super) cluster: &'static str,
    pub(super) timezone: &'static str,
    /// Keys of `[[fairshare]]`.
    pub(super) keys: &'static str,
    /// When its sshare ran.
    pub(super) at: &'static str,
}

/// The part of a pipeline that reads dumps, associations, settings, and shares as the cluster printed them at an instant.
pub(super) fn head(dumps: &[String], timezone: &str, tree: &str, conf: &str, shares: &str, at: &str) -> String {
    format!(
        "[pipeline]\nname = \"zoo\"\noutput = \"lake\"\n[[source]]\nname = \"zoo\"\nformat = \"sacct\"\npaths = {dumps:?}\n\
         site = \"ZOO\"\ntimezone = {timezone:?}\nvo = {{ column = \"account\" }}\n\
         [[inventory]]\nname = \"assoc\"\npaths = [{tree:?}]\nsite = \"ZOO\"\n\
         [[inventory]]\nname = \"machine\"\npaths = [{conf:?}]\nsite = \"ZOO\"\n\
         [[inventory]]\nname = \"counters\"\npaths = [{shares:?}]\nsite = \"ZOO\"\nas_of = {at:?}\n"
    )
}

/// Runs it, first for the weights of the cluster, then with the fairshare by the billing that they give; `keys` may be
/// followed by more sections.
pub(super) fn run(scene: &Scene, head: &str, cluster: &str, keys: &str) {
    scene.run(head);
    let policy = billing::policy(scene.path("lake").to_str().unwrap(), None).unwrap();
    scene.write("weights.toml", &policy);
    scene.run(&format!(
        "{head}[[charge]]\npolicies = [\"weights.toml\"]\noptions = {{ billing_from = \"untruncated\" }}\n\
         [[fairshare]]\nsite = \"ZOO\"\ncluster = \"{cluster}\"\nlisting = \"assoc\"\nusage = \"{cluster}-billing\"\n\
         usage_factors = {{ high = 2, low = 0.5 }}\n{keys}\n"
    ));
}

/// The lake of a cluster.
pub(super) fn lake(folder: &Path, of: &RealCluster) -> Scene {
    let scene = Scene::new(&[]);
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let head = head(
        &[file("sacct_all_D_P.txt.xz")],
        of.timezone,
        &file("sacctmgr_dump.cfg"),
        &file("slurm.conf"),
        &file("sshare_l_P.txt"),
        of.at,
    );
    run(&scene, &head, of.cluster, of.keys);
    scene
}

/// The lines of `report sshare`, and what the cluster printed.
fn compared(of: &RealCluster) -> Option<(Vec<String>, Vec<String>)> {
    let folder = shared("report_sshare", &format!("data/slurm/{}", of.release))?;
    let printed = std::fs::read_to_string(folder.join("sshare_l_P.txt")).unwrap();
    let printed: Vec<String> = printed.lines().map(str::to_owned).collect();
    let scene = lake(&folder, of);
    let command = [
        "report",
        "sshare",
        "lake",
        "--users",
        "--long",
        "--parsable",
        "--at",
        of.at,
    ];
    let (made, _) = scene.done(&command);
    Some((made.lines().map(str::to_owned).collect(), printed))
}

/// The cluster without decay.
pub(super) fn without_decay() -> RealCluster {
    RealCluster {
        release: "22.05",
        cluster: "zoo",
        timezone: "UTC",
        keys: "half_life = \"none\"\nreset = \"yearly\"",
        at: "2026-11-21T02:05:06Z",
    }
}

#[test]
fn report_sshare_of_a_cluster_without_decay_is_line_for_line_what_sshare_printed() {
    let of = without_decay();
    let Some((made, printed)) = compared(&of) else { return };
    assert!(printed.len() > 15, "{printed:?}");
    assert_eq!(made, printed);
}

/// 44 seconds after a calculation, when a job ran that had begun 5 seconds before it: its 49 seconds are in the dump, and 5 in
/// what sshare printed.
#[test]
fn a_listing_between_calculations_counts_running_jobs_up_to_the_last_one_without_decay_too() {
    const LEVEL_FS: usize = 8;
    let of = RealCluster {
        keys: "half_life = \"none\"\nreset = \"yearly\"\ncalc_period = \"00:01:00\"\n\
               calc_anchor = \"2026-11-21T02:05:06Z\"",
        at: "2026-11-21T02:05:50Z",
        ..without_decay()
    };
    let Some((made, printed)) = compared(&of) else { return };
    assert_eq!(made.len(), printed.len());
    for (made, printed) in made.iter().zip(&printed) {
        let cells = |line: &str| {
            line.split('|')
                .take(LEVEL_FS + 1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(cells(made), cells(printed));
    }
}

/// The tree and the usage of the cluster with decay.
pub(super) fn with_decay() -> RealCluster {
    RealCluster {
        release: "24.11",
        cluster: "zoo24",
        timezone: "Europe/Zurich",
        keys: "half_life = \"00:30:00\"\ncalc_period = \"00:01:00\"\ncalc_anchor = \"2026-11-21T02:13:45Z\"",
        at: "2026-11-21T02:13:57Z",
    }
}

/// All columns are as printed but `LevelFS` of one user, the last digit of eight. Its usage is 5.4 billing seconds. Here the
/// contribution of each job is rounded to 10^-6 billing seconds, so that a sum of a few jobs may be off by 10^-6, a part of
/// 2 * 10^-7 of it; `LevelFS` divides by it. Slurm adds unrounded doubles.
#[test]
fn report_sshare_of_a_cluster_with_decay_is_what_sshare_printed_but_for_one_rounding() {
    const LEVEL_FS: usize = 8;
    const USAGE_ROUNDING: f64 = 2e-7;
    let Some((made, printed)) = compared(&with_decay()) else {
        return;
    };
    assert!(printed.len() > 15, "{printed:?}");
    assert_eq!(made.len(), printed.len());
    let mut differing = Vec::new();
    for (is, expected) in made.iter().zip(&printed).filter(|(is, expected)| is != expected) {
        let (cells, printed): (Vec<&str>, Vec<&str>) = (is.split('|').collect(), expected.split('|').collect());
        assert_eq!(cells[..LEVEL_FS], printed[..LEVEL_FS], "{is}");
        assert_eq!(cells[LEVEL_FS + 1..], printed[LEVEL_FS + 1..], "{is}");
        let number = |cells: &[&str]| cells[LEVEL_FS].parse::<f64>().unwrap();
        let (is, expected) = (number(&cells), number(&printed));
        assert!(
            (is - expected).abs() <= expected * USAGE_ROUNDING,
            "{is} is not {expected}"
        );
        assert!(
            cells[4].parse::<u32>().unwrap() < 10,
            "only small usage may differ: {cells:?}"
        );
        differing.push(cells[1].to_owned());
    }
    assert!(differing.len() <= 1, "{differing:?}");
}

/// Calculations of another daemon: the default period, from the epoch on.
#[test]
fn unknown_instants_of_calculation_move_usage_by_less_than_the_decay_of_a_period() {
    // All jobs have ended: while they run, usage also lacks what they used since the last calculation.
    let ended = |keys: &'static str| RealCluster {
        keys,
        at: "2026-11-21T04:00:00Z",
        ..with_decay()
    };
    let unknown = ended("half_life = \"00:30:00\"\ncalc_period = \"00:01:00\"");
    let (Some((made, _)), Some((known, _))) = (compared(&unknown), compared(&ended(with_decay().keys))) else {
        return;
    };
    let usage = |line: &String| line.split('|').nth(4).unwrap().parse::<f64>().unwrap();
    assert!(usage(&known[1]) > 100.0, "{known:?}");
    for (is, expected) in made.iter().zip(&known).skip(1) {
        let (is, expected) = (usage(is), usage(expected));
        // One minute of a half-life of thirty, and the digits that are cut off.
        let most = expected * (60.0_f64 / 1800.0).exp2() - expected + 1.0;
        assert!((is - expected).abs() <= most, "{is} is not {expected} within {most}");
    }
}
