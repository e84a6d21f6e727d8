//! One cluster dumped in every way there is: the same jobs, one answer, job by job.
//!
//! The measure is `sacct -a -D -P -o ALL`. Every other rendering must agree with it on every column it carries. What a
//! rendering cannot contain, or contains for another moment, is in [`EXCUSES`] with the reason; nothing else may differ.
#![expect(
    clippy::print_stdout,
    reason = "a test that is skipped prints it, and the figures are worth seeing"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gridtally::record::{Anomaly, JobRow};
use gridtally::sources::sacct::FixedOrder;

use super::real::{bytes, read, shared};
use super::{plan, try_read};
use crate::support::collect::{Collected, Job};

const CLUSTERS: &[(&str, &str)] = &[
    ("22.05", "UTC"),
    ("24.11", "Europe/Zurich"),
    ("24.11-history", "Europe/Zurich"),
];

const TIMES: &[&str] = &["submit_ms", "start_ms", "end_ms", "state"];
const WHO: &[&str] = &[
    "cluster",
    "job_id",
    "account",
    "user",
    "user_group",
    "partition",
    "qos",
    "job_name",
    "node_list",
];
const WHEN: &[&str] = &["eligible_ms", "wall_ms", "time_limit_s", "exit_code", "exit_signal"];
const HOW_MUCH: &[&str] = &[
    "alloc_core_n",
    "alloc_node_n",
    "alloc_gpu_n",
    "gpus",
    "alloc_memory_byte",
    "requested_memory_byte",
    "alloc_billing_n",
];
const MEASURED: &[&str] = &[
    "cpu_ms",
    "cpu_user_ms",
    "cpu_system_ms",
    "max_rss_byte",
    "max_virtual_byte",
    "step_n",
];

/// Which jobs a query lists of those the measure lists.
#[derive(Clone, Copy, PartialEq)]
enum Population {
    /// Every run of every job.
    Runs,
    /// The last run of every job.
    Jobs,
    /// Every run that ended.
    Ended,
}

struct Rendering {
    file: &'static str,
    /// Zone of its times, if it is not that of the cluster.
    zone: Option<&'static str>,
    layout: Option<FixedOrder>,
    population: Population,
    columns: &'static [&'static [&'static str]],
}

const ALL: &[&[&str]] = &[TIMES, WHO, WHEN, HOW_MUCH, MEASURED, &["suspended_s", "wckey"]];

const fn rendering(
    file: &'static str,
    population: Population,
    columns: &'static [&'static [&'static str]],
) -> Rendering {
    Rendering {
        file,
        zone: None,
        layout: None,
        population,
        columns,
    }
}

const RENDERINGS: &[Rendering] = &[
    rendering("sacct_all_P.txt", Population::Jobs, ALL),
    rendering("sacct_all_parsable.txt", Population::Jobs, ALL),
    rendering(
        "sacct_all_X_P.txt",
        Population::Jobs,
        &[TIMES, WHO, WHEN, HOW_MUCH, &["suspended_s", "wckey"]],
    ),
    rendering("sacct_all.json", Population::Jobs, ALL),
    rendering("sacct_dupl_json.json", Population::Runs, ALL),
    rendering(
        "sacct_epoch_P.txt",
        Population::Runs,
        &[TIMES, &["eligible_ms", "wall_ms", "suspended_s"]],
    ),
    Rendering {
        zone: Some("Europe/Zurich"),
        ..rendering(
            "sacct_zurich_P.txt",
            Population::Runs,
            &[TIMES, &["eligible_ms", "wall_ms"]],
        )
    },
    Rendering {
        zone: Some("Europe/Zurich"),
        ..rendering("sacct_tzoff_P.txt", Population::Runs, &[TIMES])
    },
    Rendering {
        zone: Some("UTC"),
        layout: Some(FixedOrder::Xdmod),
        ..rendering("sacct_xdmod.txt", Population::Ended, &[TIMES, WHO, WHEN, HOW_MUCH])
    },
    rendering(
        "sacct_months_D_P.txt",
        Population::Runs,
        &[
            TIMES,
            WHO,
            WHEN,
            HOW_MUCH,
            &[
                "suspended_s",
                "cpu_ms",
                "cpu_user_ms",
                "cpu_system_ms",
                "max_rss_byte",
                "step_n",
            ],
        ],
    ),
];

/// Differences a rendering cannot avoid: release, file, column, whether it applies to this pair, why.
type Excuse = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Job, &Job) -> bool,
    &'static str,
);

const EXCUSES: &[Excuse] = &[
    (
        "",
        "",
        "wall_ms",
        |base, _| base.row.end_ms.is_none(),
        "it ran at capture, and the queries are seconds apart",
    ),
    (
        "22.05",
        "json",
        "exit_code",
        |base, _| base.row.state == Some("FAILED"),
        "the plugin of 22.05 prints 0 for every exit code",
    ),
];

fn column(job: &Job, name: &str) -> String {
    let row: &JobRow<'_> = &job.row;
    macro_rules! pick {
        ($($field:ident)+) => {
            match name {
                "step_n" => format!("{}", job.step_n),
                $(stringify!($field) => format!("{:?}", row.$field),)+
                _ => panic!("{name} is not a column"),
            }
        };
    }
    pick!(cluster job_id account user user_group partition qos wckey job_name submit_ms eligible_ms start_ms end_ms wall_ms
        suspended_s cpu_ms cpu_user_ms cpu_system_ms alloc_core_n alloc_node_n alloc_gpu_n gpus alloc_memory_byte
        requested_memory_byte max_rss_byte max_virtual_byte alloc_billing_n time_limit_s node_list state exit_code
        exit_signal)
}

/// One run of a job, in every rendering.
fn key(job: &Job) -> (String, Option<i64>) {
    let raw = job.row.raw_job_id.unwrap_or(job.row.job_id);
    (raw.to_owned(), job.row.start_ms.or(job.row.submit_ms))
}

fn by_run(found: &Collected) -> BTreeMap<(String, Option<i64>), &Job> {
    let runs: BTreeMap<_, _> = found.jobs.iter().map(|job| (key(job), job)).collect();
    assert_eq!(runs.len(), found.jobs.len(), "two rows of one run");
    runs
}

fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = folder.join(name);
    let packed = folder.join(format!("{name}.xz"));
    [packed, plain].into_iter().find(|path| path.is_file())
}

fn measure(folder: &Path, zone: &str) -> Collected {
    let found = read(&folder.join("sacct_all_D_P.txt.xz"), zone);
    assert_eq!(found.rejects, []);
    found
}

#[test]
fn same_jobs_many_dialects_one_answer() {
    let Some(folder) = shared("same_jobs_many_dialects_one_answer") else {
        return;
    };
    let (mut pairs, mut files) = (0, 0);
    let mut excused: BTreeMap<&str, u64> = BTreeMap::new();
    for (release, zone) in CLUSTERS {
        let folder = folder.join(release);
        let base = measure(&folder, zone);
        let runs = by_run(&base);
        for rendering in RENDERINGS {
            let Some(path) = file(&folder, rendering.file) else {
                assert_eq!(rendering.file, "sacct_months_D_P.txt", "{release} lacks it");
                continue;
            };
            files += 1;
            let mut source = plan(Some(rendering.zone.unwrap_or(zone)));
            source.sacct.layout = rendering.layout;
            let found = try_read(&bytes(&path), source).unwrap();
            let place = format!("{release}/{}", rendering.file);
            assert_eq!(found.rows_read, found.outcomes(), "{place}");
            assert_eq!(found.rejects, [], "{place}");
            let others = by_run(&found);
            for (run, base) in &runs {
                let Some(other) = others.get(run) else {
                    missing(base, &runs, rendering.population, &place);
                    continue;
                };
                pairs += 1;
                for name in rendering.columns.iter().copied().flatten() {
                    let (theirs, ours) = (column(base, name), column(other, name));
                    if theirs == ours {
                        continue;
                    }
                    let excuse = EXCUSES.iter().find(|(of, file, column, applies, _)| {
                        release.starts_with(of)
                            && rendering.file.contains(file)
                            && column == name
                            && applies(base, other)
                    });
                    let Some((.., why)) = excuse else {
                        panic!("{place} {run:?} {name}: {theirs} is {ours}");
                    };
                    *excused.entry(why).or_default() += 1;
                }
            }
            for (run, job) in others.iter().filter(|(run, _)| !runs.contains_key(*run)) {
                // Only a query by state lists jobs that were never eligible.
                let is_never_eligible = job.row.eligible_ms.is_none() && rendering.population == Population::Ended;
                // The measure of the history is two days, the bulk of it months.
                let is_longer = rendering.file.contains("months") || rendering.file.contains("xdmod");
                let is_outside = is_longer && *release == "24.11-history";
                assert!(is_never_eligible || is_outside, "{place}: {run:?} is more");
            }
        }
    }
    assert!(files >= 28 && pairs > 11_000, "{files} files, {pairs} pairs");
    assert_eq!(excused.len(), EXCUSES.len(), "an excuse nobody needs: {excused:?}");
    println!("{files} files, {pairs} pairs of jobs compared; excused {excused:?}");
}

/// A run may be missing only from a query that did not request it.
fn missing(job: &Job, runs: &BTreeMap<(String, Option<i64>), &Job>, population: Population, place: &str) {
    let (raw, at) = key(job);
    let is_earlier = runs.keys().any(|(other, start)| *other == raw && *start > at);
    let is_excused = match population {
        Population::Runs => false,
        Population::Jobs => is_earlier,
        Population::Ended => job.row.end_ms.is_none(),
    };
    assert!(is_excused, "{place} lacks {:#?}", job.row);
}

/// Without steps a dump cannot know CPU time: it is reported as unknown, not as zero.
#[test]
fn a_dump_of_allocations_does_not_know_cpu_time() {
    let Some(folder) = shared("a_dump_of_allocations_does_not_know_cpu_time") else {
        return;
    };
    for (release, zone) in CLUSTERS {
        let folder = folder.join(release);
        for (name, layout, zone) in [
            ("sacct_all_X_P.txt", None, *zone),
            ("sacct_xdmod.txt", Some(FixedOrder::Xdmod), "UTC"),
        ] {
            let mut source = plan(Some(zone));
            source.sacct.layout = layout;
            let found = try_read(&bytes(&file(&folder, name).unwrap()), source).unwrap();
            for job in &found.jobs {
                let has_run = job.row.start_ms.is_some() && job.row.wall_ms != Some(0);
                assert_eq!(job.row.cpu_ms, (!has_run).then_some(0), "{release} {:?}", job.row);
                assert_eq!(job.has(Anomaly::CpuUnknown), has_run);
            }
        }
    }
}

/// Puts columns that are missing for a job before every line that begins a row, which no name can look like here.
fn completed(text: &[u8], delimiter: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.split_inclusive('\n');
    let header = lines.next().unwrap();
    let mut out = format!("ElapsedRaw{delimiter}End{delimiter}{header}");
    for line in lines {
        let id: String = line
            .chars()
            .take_while(|letter| letter.is_ascii_alphanumeric() || "._+".contains(*letter))
            .collect();
        let is_row = id.starts_with(|letter: char| letter.is_ascii_digit())
            && line.strip_prefix(&id).is_some_and(|rest| rest.starts_with(delimiter));
        if is_row {
            out.extend(["60", delimiter, "2026-01-01T00:00:00", delimiter]);
        }
        out += line;
    }
    out.into_bytes()
}

const SIZES: &[&str] = &[
    "requested_memory_byte",
    "max_rss_byte",
    "max_virtual_byte",
    "alloc_memory_byte",
];
const COUNTS: &[&str] = &["alloc_core_n", "alloc_node_n", "alloc_gpu_n", "gpus", "alloc_billing_n"];

/// Dumps of a few columns each: sizes in every unit, names, identifiers.
#[test]
fn dumps_of_a_few_columns_agree_on_those() {
    let Some(folder) = shared("dumps_of_a_few_columns_agree_on_those") else {
        return;
    };
    let number = |text: String| {
        text.trim_matches(|letter: char| !letter.is_ascii_digit())
            .parse::<i64>()
            .ok()
    };
    let mut pairs = 0;
    for (release, zone) in CLUSTERS {
        let folder = folder.join(release);
        let base = measure(&folder, zone);
        let mut runs: BTreeMap<&str, Vec<&Job>> = BTreeMap::new();
        for job in &base.jobs {
            runs.entry(job.row.raw_job_id.unwrap()).or_default().push(job);
        }
        // Two decimals of a gibibyte: half of the last one may be lost.
        for (name, delimiter, columns, slack) in [
            ("sacct_noconvert_P.txt", "|", &[SIZES, COUNTS][..], 0),
            ("sacct_units_K_P.txt", "|", &[SIZES, COUNTS], 0),
            ("sacct_units_G_P.txt", "|", &[SIZES, COUNTS], (1 << 30) / 200 + 1),
            ("sacct_delim_P.txt", "\u{1f}", &[&["job_name", "state"]], 0),
            ("sacct_array_P.txt", "|", &[&["job_id", "job_name", "state"]], 0),
        ] {
            let Some(path) = file(&folder, name) else {
                assert_eq!((name, *release), ("sacct_array_P.txt", "22.05"));
                continue;
            };
            let found = try_read(&completed(&bytes(&path), delimiter), plan(Some("UTC"))).unwrap();
            assert_eq!(found.rejects, [], "{release} {name}");
            let mut seen = BTreeSet::new();
            for job in &found.jobs {
                let of_id = runs.get(job.row.raw_job_id.unwrap()).unwrap();
                seen.insert(job.row.raw_job_id.unwrap());
                pairs += 1;
                for column_name in columns.iter().copied().flatten() {
                    let ours = column(job, column_name);
                    // Of a job that never started only AllocCPUS and AllocNodes contain it, which these dumps lack.
                    let has_started = of_id.iter().any(|base| base.row.start_ms.is_some());
                    if ours == "None" && !has_started && COUNTS.contains(column_name) {
                        continue;
                    }
                    // A size below half of the last decimal is printed as nothing, and unknown.
                    if ours == "None" && slack > 0 && SIZES.contains(column_name) {
                        let mut theirs = of_id.iter().map(|base| number(column(base, column_name)));
                        assert!(
                            theirs.any(|byte| byte.is_none_or(|byte| byte.unsigned_abs() <= slack)),
                            "{name}"
                        );
                        continue;
                    }
                    let is_near = |theirs: &str| {
                        number(theirs.to_owned())
                            .zip(number(ours.clone()))
                            .is_some_and(|(a, b)| a.abs_diff(b) <= slack)
                    };
                    let agrees = of_id.iter().any(|base| {
                        let theirs = column(base, column_name);
                        theirs == ours || slack > 0 && SIZES.contains(column_name) && is_near(&theirs)
                    });
                    let theirs: Vec<_> = of_id.iter().map(|base| column(base, column_name)).collect();
                    assert!(
                        agrees,
                        "{release} {name} {} {column_name}: {ours} {theirs:?}",
                        job.row.job_id
                    );
                }
            }
            assert_eq!(seen.len(), runs.len(), "{release} {name}");
        }
        // One column and no header, `-X -D -n -o State`: not a dump to account, but the states are these.
        let states = String::from_utf8(bytes(&folder.join("sacct_states_only.txt"))).unwrap();
        let mut theirs: Vec<&str> = states.lines().filter_map(|line| line.split(' ').next()).collect();
        let mut ours: Vec<&str> = base.jobs.iter().filter_map(|job| job.row.state).collect();
        theirs.sort_unstable();
        ours.sort_unstable();
        assert_eq!(ours, theirs, "{release}");
    }
    assert!(pairs > 5000, "{pairs}");
    println!("{pairs} pairs of jobs compared");
}

/// Fixed-width columns cut their values off: refused, and the reason is reported.
#[test]
fn fixed_width_is_refused() {
    let Some(folder) = shared("fixed_width_is_refused") else {
        return;
    };
    for (release, _) in CLUSTERS {
        for name in ["sacct_fixedwidth.txt", "sacct_long.txt"] {
            let path = file(&folder.join(release), name).unwrap();
            let error = try_read(&bytes(&path), plan(Some("UTC"))).unwrap_err();
            assert!(error.to_string().contains("fixed-width"), "{error}");
        }
    }
}
