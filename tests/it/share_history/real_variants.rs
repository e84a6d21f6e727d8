//! The seven variants of fair share of one real cluster: what sshare printed, from the dump of its jobs, its shares, and what
//! its site would state of that afternoon.
//!
//! The starts of the daemon are read from the decay of idle users, every 20 seconds: between two listings usage shrinks by the
//! seconds from one calculation to another, to a hundredth of one. Three things besides:
//!
//! * The calculation at 02:17:20 was listed once, and is not in what follows: usage at 02:17:59 is that of 02:16:45 with 74 seconds
//!   of decay and of running jobs. Its start left no state behind.
//! * At 02:18:34 usage was that of 02:17:59, and was aged from 02:18:34 on: 35 seconds of decay and of two running jobs are
//!   missing. A start that calculates and is killed before it saves usage leaves that behind (`priority_last_decay_ran` is new,
//!   `assoc_usage` is not); what else could have left it is in no listing.
//! * From 02:22:34 on it charged the largest resource of a job (`MAX_TRES`) in place of the sum, until all jobs had ended.

use std::path::Path;

use gridtally::audit::billing;
use gridtally::time::instant::instant_text_s;

use super::Scene;
use super::real::{self, with_decay};
use super::real_drift::tree_of;
use crate::support::collect::shared;

const VARIANTS: &str = "24.11-fairshare-variants";
const DUMP: &str = "24.11-history/sacct_months_D_P.txt.xz";

/// When the daemon started that served the first two variants: `scontrol show config` states that.
const STARTED: &str = "[[inventory]]\nname = \"config\"\npaths = [\"ROOT/24.11/scontrol_config.txt\"]\nsite = \"ZOO\"\n\
    timezone = \"Europe/Zurich\"\n";

/// The other starts of the afternoon.
const RUNS: &str = "daemon_runs = [\n\
    { start = \"2026-11-21T02:17:20Z\", end = \"2026-11-21T02:17:58Z\", ended = \"killed\", \
      last_calculation = \"2026-11-21T02:16:45Z\" },\n\
    { start = \"2026-11-21T02:17:59Z\" },\n\
    { start = \"2026-11-21T02:18:34Z\", end = \"2026-11-21T02:18:34Z\", ended = \"killed\" },\n\
    { start = \"2026-11-21T02:18:34Z\" },\n\
    { start = \"2026-11-21T02:20:18Z\" },\n\
    { start = \"2026-11-21T02:21:26Z\" },\n\
    { start = \"2026-11-21T02:22:34Z\" },\n\
    { start = \"2026-11-21T02:49:08Z\" },\n\
    { start = \"2026-11-21T02:51:19Z\" },\n\
    { start = \"2026-11-21T02:53:31Z\" },\n]\n";

/// When it charged the largest resource.
const LARGEST: &str = "dated_usage = [{ from = \"2026-11-21T02:22:34Z\", until = \"2026-11-21T02:24:34Z\", \
    usage = \"zoo24-billing[billing_from=untruncated rule=max_tres]\" }]\n";

/// One variant.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    /// Its algorithm.
    algorithm: &'static str,
    /// What is stated of its operation, before the sections that follow.
    operation: &'static [&'static str],
    /// Seconds from the instant of the listing back: two of them were printed in the second in which the daemon was stopped.
    earlier_s: i64,
}

impl Variant {
    /// With all that is stated of the afternoon.
    fn stated(name: &'static str, algorithm: &'static str, earlier_s: i64) -> Self {
        Self {
            name,
            algorithm,
            operation: &[RUNS, LARGEST, STARTED],
            earlier_s,
        }
    }
}

/// What one row of sshare states.
struct ListedRow {
    cells: Vec<String>,
}

impl ListedRow {
    fn of(text: &str) -> Vec<Self> {
        let rows = text.lines().skip(1);
        rows.map(|line| Self {
            cells: line.split('|').map(str::to_owned).collect(),
        })
        .collect()
    }

    fn name(&self) -> String {
        format!("{}/{}", self.cells[0].trim(), self.cells[1])
    }

    /// The number of a column, if it has one.
    fn number(&self, at: usize) -> Option<f64> {
        self.cells[at].parse().ok()
    }
}

const RAW_USAGE: usize = 4;
const NORM_USAGE: usize = 5;
const EFFECTIVE_USAGE: usize = 6;
const FAIR_SHARE: usize = 7;
const LEVEL_FS: usize = 8;

/// The listing that a variant printed and its instant.
fn printed(root: &Path, variant: Variant) -> (String, String) {
    let folder = root.join(VARIANTS).join(variant.name);
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let epoch: i64 = text("EPOCH").trim().parse().unwrap();
    (
        text("sshare_l_P.txt"),
        instant_text_s(epoch - variant.earlier_s).unwrap(),
    )
}

/// The lake of a variant, from the dump and its shares.
fn lake(root: &Path, variant: Variant) -> Scene {
    let of = with_decay();
    let folder = root.join(VARIANTS).join(variant.name);
    let (listing, at) = printed(root, variant);
    let scene = Scene::new(&[("tree.txt", &tree_of(&listing))]);
    let file = |path: &Path| path.to_str().unwrap().to_owned();
    let (conf, shares) = (file(&folder.join("slurm.conf")), file(&folder.join("sshare_l_P.txt")));
    let head = real::head(&[file(&root.join(DUMP))], of.timezone, "tree.txt", &conf, &shares, &at);
    scene.run(&head);
    let policy = billing::policy(scene.path("lake").to_str().unwrap(), None).unwrap();
    scene.write("weights.toml", &policy);
    let charge = |rule: &str| {
        format!(
            "[[charge]]\npolicies = [\"weights.toml\"]\noptions = {{ billing_from = \"untruncated\", rule = \"{rule}\" }}\n"
        )
    };
    scene.run(&format!(
        "{head}{}{}[[fairshare]]\nsite = \"ZOO\"\ncluster = \"zoo24\"\nlisting = \"assoc\"\n\
         usage = \"zoo24-billing[billing_from=untruncated rule=listed]\"\nusage_factors = {{ high = 2, low = 0.5 }}\n\
         half_life = \"00:30:00\"\ncalc_period = \"00:01:00\"\nalgorithm = \"{}\"\n{}\n",
        charge("listed"),
        charge("max_tres"),
        variant.algorithm,
        variant.operation.concat().replace("ROOT", root.to_str().unwrap())
    ));
    scene
}

/// How far the rows that are made are from those that were printed.
struct Compared {
    made: Vec<ListedRow>,
    printed: Vec<ListedRow>,
}

impl Compared {
    fn of(scene: &Scene, listing: &str, at: &str) -> Self {
        let command = [
            "report",
            "sshare",
            "lake",
            "--users",
            "--long",
            "--parsable",
            "--at",
            at,
        ];
        let (made, _) = scene.done(&command);
        let compared = Self {
            made: ListedRow::of(&made),
            printed: ListedRow::of(listing),
        };
        let names = |rows: &[ListedRow]| rows.iter().map(ListedRow::name).collect::<Vec<_>>();
        assert_eq!(names(&compared.made), names(&compared.printed));
        assert_eq!(compared.made.len(), 17);
        for (made, printed) in compared.made.iter().zip(&compared.printed) {
            assert_eq!(made.cells[2], printed.cells[2], "shares of {}", made.name());
            assert_eq!(made.cells[3], printed.cells[3], "shares of {}", made.name());
        }
        compared
    }

    /// The largest difference in a column, with the row it is in.
    fn worst(&self, column: usize) -> (f64, String) {
        let mut worst = (0.0, String::new());
        for (made, printed) in self.made.iter().zip(&self.printed) {
            let difference = match (made.number(column), printed.number(column)) {
                (Some(made), Some(printed)) if made.is_finite() && printed.is_finite() => (made - printed).abs(),
                _ => {
                    assert_eq!(made.cells[column], printed.cells[column], "{}", made.name());
                    continue;
                }
            };
            if difference > worst.0 {
                worst = (
                    difference,
                    format!("{}: {} {}", made.name(), made.cells[column], printed.cells[column]),
                );
            }
        }
        worst
    }

    /// Every digit of every column as printed, but in the cells that are named: the row, its column, and how far it may be off.
    #[track_caller]
    fn assert_as_printed_but(&self, but: &[(&str, usize, f64)]) {
        let mut differing = Vec::new();
        for (made, printed) in self.made.iter().zip(&self.printed) {
            for column in RAW_USAGE..=LEVEL_FS {
                let difference = made
                    .number(column)
                    .zip(printed.number(column))
                    .map(|(made, printed)| (made - printed).abs());
                let is_named = but.iter().any(|(name, named, most)| {
                    made.name() == *name && column == *named && difference.is_some_and(|difference| difference <= *most)
                });
                if made.cells[column] != printed.cells[column] && !is_named {
                    let name = made.name();
                    differing.push(format!(
                        "{name} {column}: {} {}",
                        made.cells[column], printed.cells[column]
                    ));
                }
            }
        }
        assert!(differing.is_empty(), "{differing:#?}");
    }

    #[track_caller]
    fn assert_within(&self, column: usize, tolerance: f64) {
        let (difference, row) = self.worst(column);
        assert!(difference <= tolerance, "column {column}: {difference} in {row}");
    }

    /// Users whose usage differs by more than one calculation ages it, in percent of a whole.
    fn users_apart(&self) -> Vec<String> {
        let rows = self.made.iter().zip(&self.printed);
        let apart = rows.filter(|(made, printed)| {
            let (is, expected) = (made.number(RAW_USAGE).unwrap(), printed.number(RAW_USAGE).unwrap());
            !printed.cells[1].is_empty() && (is - expected).abs() > 1.0 + expected * 0.0229
        });
        apart.map(|(made, _)| made.name()).collect()
    }
}

fn compared(test: &str, variant: Variant) -> Option<Compared> {
    let root = shared(test, "data/slurm")?;
    let (listing, at) = printed(&root, variant);
    Some(Compared::of(&lake(&root, variant), &listing, &at))
}

/// Everything as printed, but for the last digits of `LevelFS` of the user whose usage is five billing seconds.
#[track_caller]
fn assert_as_printed(compared: &Compared) {
    for column in [RAW_USAGE, NORM_USAGE, EFFECTIVE_USAGE, FAIR_SHARE] {
        compared.assert_within(column, 0.0);
    }
    compared.assert_within(LEVEL_FS, 5e-6);
}

#[test]
fn variant_1_fair_tree_is_what_sshare_printed() {
    let variant = Variant::stated("1-fairtree", "fair-tree", 0);
    if let Some(compared) = compared("variant_1_fair_tree_is_what_sshare_printed", variant) {
        assert_as_printed(&compared);
    }
}

#[test]
fn variant_2_fair_tree_with_tied_accounts_is_what_sshare_printed() {
    let variant = Variant::stated("2-fairtree-tied-accounts-share0", "fair-tree", 0);
    let test = "variant_2_fair_tree_with_tied_accounts_is_what_sshare_printed";
    if let Some(compared) = compared(test, variant) {
        assert_as_printed(&compared);
    }
}

#[test]
fn variant_3_classic_while_a_job_runs_lists_accounts_as_of_the_calculation_before() {
    let test = "variant_3_classic_while_a_job_runs";
    let variant = Variant::stated("3-classic", "classic", 1);
    let Some(found) = compared(test, variant) else { return };
    found.assert_as_printed_but(&[]);
    // Without what is stated of the afternoon one user has more usage than Slurm counted: 16 CPUs for 35 seconds.
    let plain = compared(
        test,
        Variant {
            operation: &[],
            ..variant
        },
    )
    .unwrap();
    assert_eq!(plain.users_apart(), ["chem/frank"]);
    assert!(plain.worst(FAIR_SHARE).0 > 0.01, "{:?}", plain.worst(FAIR_SHARE));
}

#[test]
fn variant_4_depth_oblivious_while_a_job_runs_mixes_three_instants() {
    let variant = Variant::stated("4-depth-oblivious", "depth-oblivious", 1);
    let Some(found) = compared("variant_4_depth_oblivious_while_a_job_runs", variant) else {
        return;
    };
    // A user is computed when a waiting job first needs the factor after a calculation, with siblings as they are then, and sshare
    // prints that. A job of erin waited, and no listing states when it was looked at.
    found.assert_as_printed_but(&[
        ("genomics/alice", EFFECTIVE_USAGE, 3e-5),
        ("genomics/alice", FAIR_SHARE, 6e-4),
        ("genomics/erin", EFFECTIVE_USAGE, 3e-5),
        ("genomics/erin", FAIR_SHARE, 6e-5),
    ]);
}

#[test]
fn variant_5_classic_quiet_is_what_sshare_printed() {
    let variant = Variant::stated("5-classic-quiet", "classic", 0);
    if let Some(found) = compared("variant_5_classic_quiet", variant) {
        found.assert_as_printed_but(&[]);
    }
}

#[test]
fn variant_6_depth_oblivious_quiet_is_what_sshare_printed() {
    let variant = Variant::stated("6-depth-oblivious-quiet", "depth-oblivious", 0);
    if let Some(found) = compared("variant_6_depth_oblivious_quiet", variant) {
        found.assert_as_printed_but(&[]);
    }
}

#[test]
fn variant_7_fair_tree_quiet_has_every_rank_that_sshare_printed() {
    let variant = Variant::stated("7-fairtree-quiet", "fair-tree", 0);
    if let Some(found) = compared("variant_7_fair_tree_quiet", variant) {
        // Two billing seconds, summed up in millionths: a part of 5e-7.
        found.assert_as_printed_but(&[("genomics/alice", LEVEL_FS, 5e-5)]);
    }
}

/// Every listing of sshare that was made every 20 seconds while one daemon ran: half-life 30 minutes, one calculation a minute,
/// jobs that start, end, are requeued and suspended.
#[test]
fn every_snapshot_of_sshare_while_one_daemon_ran_is_reproduced() {
    let test = "every_snapshot_of_sshare_while_one_daemon_ran_is_reproduced";
    let Some(root) = shared(test, "data/slurm") else { return };
    let variant = Variant {
        operation: &[STARTED],
        ..Variant::stated("1-fairtree", "fair-tree", 0)
    };
    let scene = lake(&root, variant);
    let folder = root.join(VARIANTS).join("decay-snapshots");
    let mut snapshots: Vec<i64> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".sshare")?
                .parse()
                .ok()
        })
        // From the first calculation with usage until the shares of a variant were changed. In the second of one listing a job
        // ended, which is in its record and not in the listing yet.
        .filter(|second| (1_795_226_872..1_795_227_380).contains(second) && *second != 1_795_226_893)
        .collect();
    snapshots.sort_unstable();
    assert!(snapshots.len() >= 24, "{snapshots:?}");
    for second in snapshots {
        let listing = std::fs::read_to_string(folder.join(format!("{second}.sshare"))).unwrap();
        let at = instant_text_s(second).unwrap();
        let found = Compared::of(&scene, &listing, &at);
        for column in [RAW_USAGE, NORM_USAGE, EFFECTIVE_USAGE, FAIR_SHARE] {
            let (difference, row) = found.worst(column);
            assert!(difference <= 0.0, "{at} column {column}: {difference} in {row}");
        }
    }
}

/// `RawUsage` of every listing of the afternoon, through all starts, kills and the minute of other charges.
#[test]
fn usage_of_every_snapshot_of_the_afternoon_is_reproduced() {
    let test = "usage_of_every_snapshot_of_the_afternoon_is_reproduced";
    let Some(root) = shared(test, "data/slurm") else { return };
    let scene = lake(&root, Variant::stated("7-fairtree-quiet", "fair-tree", 0));
    let folder = root.join(VARIANTS).join("decay-snapshots");
    let mut compared_n = 0;
    for second in (1_795_227_380..1_795_227_860).filter(|second| folder.join(format!("{second}.sshare")).exists()) {
        let at_s = match second {
            // It was waited for until the daemon was up.
            1_795_227_469 => second + 11,
            // Printed before the daemon was stopped, and before it calculated, in that second.
            1_795_227_754 | 1_795_227_814 => second - 1,
            _ => second,
        };
        let listing = std::fs::read_to_string(folder.join(format!("{second}.sshare"))).unwrap();
        let at = instant_text_s(at_s).unwrap();
        let command = [
            "report",
            "sshare",
            "lake",
            "--users",
            "--long",
            "--parsable",
            "--at",
            &at,
        ];
        let (made, words) = scene.done(&command);
        let usage = |text: &str| -> Vec<(String, String)> {
            let rows = ListedRow::of(text);
            rows.iter()
                .map(|row| (row.name(), row.cells[RAW_USAGE].clone()))
                .collect()
        };
        assert_eq!(usage(&made), usage(&listing), "{second} {at}: {words}");
        compared_n += 1;
    }
    assert!(compared_n >= 22, "{compared_n}");
}

/// From the dump as it is the report finds the users whose jobs Slurm did not count in full, and nobody else.
#[test]
fn the_drift_of_quiet_variants_is_of_two_users_until_the_afternoon_is_stated() {
    let test = "the_drift_of_quiet_variants";
    let Some(root) = shared(test, "data/slurm") else { return };
    for (name, algorithm) in [
        ("5-classic-quiet", "classic"),
        ("6-depth-oblivious-quiet", "depth-oblivious"),
        ("7-fairtree-quiet", "fair-tree"),
    ] {
        let variant = Variant {
            operation: &[],
            ..Variant::stated(name, algorithm, 0)
        };
        let scene = lake(&root, variant);
        let command = ["report", "sshare", "lake", "--drift", "--users", "--format", "csv"];
        let (csv, _) = scene.done(&command);
        let drifting: Vec<Vec<&str>> = csv
            .lines()
            .skip(1)
            .map(|line| line.split(',').collect::<Vec<_>>())
            .filter(|cells| cells[8] != "agrees")
            .collect();
        let users: Vec<(&str, &str)> = drifting
            .iter()
            .filter(|cells| !cells[1].is_empty())
            .map(|cells| (cells[1], cells[8]))
            .collect();
        assert_eq!(users, [("erin", "unknown"), ("frank", "unknown")], "{name}: {csv}");
        for cells in &drifting {
            let difference: f64 = cells[6].parse().unwrap();
            assert!(difference < 0.0, "Slurm has less: {cells:?}");
            if cells[1] == "frank" {
                // 16 CPUs for 35 seconds, aged since.
                assert!((-300.0..-200.0).contains(&difference), "{name}: {difference}");
            }
        }
        let strict = scene.gridtally(&["report", "sshare", "lake", "--drift", "--strict"]);
        assert_eq!(strict.status.code(), Some(65), "{name}");
        // With what is stated of the afternoon all counters agree.
        let scene = lake(&root, Variant::stated(name, algorithm, 0));
        let (_, words) = scene.done(&["report", "sshare", "lake", "--drift", "--long", "--users", "--strict"]);
        assert!(
            words
                .contains("runs of the daemon, listings of settings 1 more; runs that were killed left out 35 seconds"),
            "{words}"
        );
        assert!(words.contains("dated_usage states 1 times"), "{words}");
    }
}
