//! Dumps of real clusters, where they are at hand.
#![expect(
    clippy::print_stdout,
    reason = "a test that is skipped prints it, and the figures are worth seeing"
)]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gridtally::error::Kind;
use gridtally::record::JobRow;
use gridtally::sources::sacct;
use gridtally::time::{Local, Zone};

use super::{plan, try_read};
use crate::support::collect::Collected;

/// The folder of real data, or a loud line.
pub(super) fn shared(test: &str) -> Option<PathBuf> {
    crate::support::collect::shared(test, "data/slurm")
}

pub(super) fn bytes(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap();
    let mut text = Vec::new();
    if path.extension().is_some_and(|e| e == "xz") {
        liblzma::read::XzDecoder::new(file).read_to_end(&mut text).unwrap();
    } else {
        std::io::BufReader::new(file).read_to_end(&mut text).unwrap();
    }
    text
}

pub(super) fn read(path: &Path, zone: &str) -> Collected {
    let found = try_read(&bytes(path), plan(Some(zone))).unwrap();
    assert_eq!(found.rows_read, found.outcomes(), "{}", path.display());
    found
}

#[test]
fn every_dump_of_the_real_clusters_reads_whole() {
    let Some(folder) = shared("every_dump_of_the_real_clusters_reads_whole") else {
        return;
    };
    let names = [
        "sacct_all_P.txt.xz",
        "sacct_all_parsable.txt.xz",
        "sacct_all_D_P.txt.xz",
        "sacct_all_X_P.txt.xz",
        "sacct_epoch_P.txt",
        "sacct_epoch_P.txt.xz",
        "sacct_zurich_P.txt",
        "sacct_zurich_P.txt.xz",
        "sacct_tzoff_P.txt",
        "sacct_tzoff_P.txt.xz",
        "sacct_months_D_P.txt.xz",
    ];
    let mut files = 0;
    let mut rejects = 0;
    for (release, zone) in [
        ("22.05", "UTC"),
        ("24.11", "Europe/Zurich"),
        ("24.11-history", "Europe/Zurich"),
    ] {
        for name in names {
            let path = folder.join(release).join(name);
            if !path.is_file() {
                continue;
            }
            files += 1;
            let zone = if name.contains("zurich") { "Europe/Zurich" } else { zone };
            let found = read(&path, zone);
            println!(
                "{release}/{name}: {} rows, {} jobs, {} rejects, out of scope {:?}",
                found.rows_read,
                found.jobs.len(),
                found.rejects.len(),
                found.out_of_scope
            );
            for reject in &found.rejects {
                println!("  line {}: {} {}", reject.at.line, reject.reason, reject.detail);
            }
            rejects += found.rejects.len();
        }
    }
    assert!(files >= 20, "{files} files");
    assert_eq!(rejects, 0);
}

#[test]
fn both_ways_of_writing_one_query_read_the_same() {
    let Some(folder) = shared("both_ways_of_writing_one_query_read_the_same") else {
        return;
    };
    for (release, zone) in [
        ("22.05", "UTC"),
        ("24.11", "Europe/Zurich"),
        ("24.11-history", "Europe/Zurich"),
    ] {
        let with_trailing = read(&folder.join(release).join("sacct_all_parsable.txt.xz"), zone);
        let without = read(&folder.join(release).join("sacct_all_P.txt.xz"), zone);
        assert_eq!(with_trailing.jobs.len(), without.jobs.len());
        for (a, b) in with_trailing.jobs.iter().zip(&without.jobs) {
            // Rows that ran at capture differ between the two queries.
            if a.row.end_ms.is_some() && b.row.end_ms.is_some() {
                assert_eq!(a.row, b.row);
            }
        }
        let allocations = read(&folder.join(release).join("sacct_all_X_P.txt.xz"), zone);
        assert!(allocations.jobs.iter().all(|job| job.step_n == 0));
        assert!(
            allocations
                .jobs
                .iter()
                .filter(|job| job.row.cpu_ms.is_some_and(|ms| ms > 0))
                .count()
                == 0
        );
        assert!(
            allocations.jobs.iter().filter(|job| job.row.cpu_ms.is_none()).count() * 10 > allocations.jobs.len() * 9
        );
    }
}

#[test]
fn dumps_that_lack_columns_state_which() {
    let Some(folder) = shared("dumps_that_lack_columns_say_which") else {
        return;
    };
    for (name, words) in [
        ("sacct_delim_P.txt", "Elapsed"),
        ("sacct_noconvert_P.txt", "State or End"),
        ("sacct_fixedwidth.txt", "fixed-width"),
        ("sacct_xdmod.txt", "layout = \"xdmod\""),
    ] {
        let error = try_read(&bytes(&folder.join("24.11").join(name)), plan(Some("UTC"))).unwrap_err();
        assert_eq!(error.kind(), Kind::Data, "{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}

/// CPU seconds per account and user in October 2026 are those of Slurm's own report, to the second.
#[test]
fn october_is_what_sreport_states() {
    let Some(folder) = shared("october_is_what_sreport_says") else {
        return;
    };
    let folder = folder.join("24.11-history");
    let found = read(&folder.join("sacct_months_D_P.txt.xz"), "Europe/Zurich");
    let zone = Zone::named("Europe/Zurich").unwrap();
    let instant_ms = |local_s: i64| match zone.resolve(local_s) {
        Local::Unique(unix_s) => unix_s * 1000,
        other => panic!("{other:?}"),
    };
    let (from_ms, until_ms) = (instant_ms(1_790_812_800), instant_ms(1_793_491_200));
    assert_eq!((until_ms - from_ms) / 1000, 745 * 3600);
    let mut ours: BTreeMap<(String, String), i64> = BTreeMap::new();
    for job in &found.jobs {
        let row = &job.row;
        let (Some(start_ms), Some(end_ms)) = (row.start_ms, row.end_ms) else {
            continue;
        };
        let overlap_s = (end_ms.min(until_ms) - start_ms.max(from_ms)) / 1000;
        if overlap_s <= 0 {
            continue;
        }
        let used_s = overlap_s - row.suspended_s.unwrap_or(0);
        let key = (row.account.unwrap().to_owned(), row.user.unwrap().to_owned());
        *ours.entry(key).or_default() += used_s * row.alloc_core_n.unwrap();
    }
    let report = String::from_utf8(bytes(&folder.join("sreport_acct_util_by_user.txt"))).unwrap();
    let mut theirs: BTreeMap<(String, String), i64> = BTreeMap::new();
    for line in report.lines() {
        if let [_, account, user, _, "cpu", used] = line.split('|').collect::<Vec<_>>()[..]
            && !user.is_empty()
        {
            theirs.insert((account.to_owned(), user.to_owned()), used.parse().unwrap());
        }
    }
    assert_eq!(theirs.get(&("atlas".to_owned(), "alice".to_owned())), Some(&18_120));
    assert_eq!(theirs.get(&("chem".to_owned(), "frank".to_owned())), Some(&269_910));
    assert_eq!(ours, theirs);
}

/// A number that newer releases wrap as `{"set": true, "infinite": false, "number": 5}`.
fn number(value: &serde_json::Value) -> Option<i64> {
    value.as_i64().or_else(|| value.get("number")?.as_i64())
}

/// The same query as JSON, where names are escaped and nothing needs putting together, has the same content for every job.
#[test]
fn the_text_states_what_the_json_states() {
    let Some(folder) = shared("the_text_says_what_the_json_says") else {
        return;
    };
    let mut compared = 0;
    for (release, zone) in [
        ("22.05", "UTC"),
        ("24.11", "Europe/Zurich"),
        ("24.11-history", "Europe/Zurich"),
    ] {
        let found = read(&folder.join(release).join("sacct_all_D_P.txt.xz"), zone);
        let json: serde_json::Value =
            serde_json::from_slice(&bytes(&folder.join(release).join("sacct_all.json.xz"))).unwrap();
        for job in json.pointer("/jobs").and_then(|jobs| jobs.as_array()).unwrap() {
            let at = |path: &str| job.pointer(path).unwrap_or(&serde_json::Value::Null);
            let id = at("/job_id").to_string();
            let time = |path: &str| number(at(path)).filter(|s| *s != 4_294_967_294).unwrap_or(0);
            let (start_s, end_s) = (time("/time/start"), time("/time/end"));
            let ours: Vec<_> = found
                .jobs
                .iter()
                .map(|job| &job.row)
                .filter(|row| row.raw_job_id == Some(&id) && row.start_ms.unwrap_or(0) == start_s * 1000)
                .filter(|row| row.end_ms.unwrap_or(0) == end_s * 1000 && end_s > 0)
                .collect();
            let [row] = ours[..] else {
                // Running at capture, or pending.
                assert!(end_s == 0 || ours.len() > 1, "{release} {id}: {ours:#?}");
                continue;
            };
            compared += 1;
            let name = at("/name").as_str().unwrap();
            // The text turns what is not UTF-8 into a question mark, JSON into an escape of its own.
            if name.is_ascii() {
                assert_eq!(row.job_name.unwrap_or(""), name, "{release} {id}");
            }
            assert_eq!(
                row.account.unwrap_or(""),
                at("/account").as_str().unwrap_or(""),
                "{release} {id}"
            );
            assert_eq!(
                row.user.unwrap_or(""),
                at("/user").as_str().unwrap_or(""),
                "{release} {id}"
            );
            assert_eq!(
                row.partition.unwrap_or(""),
                at("/partition").as_str().unwrap_or(""),
                "{release} {id}"
            );
            assert_eq!(
                row.wall_ms.unwrap() / 1000,
                number(at("/time/elapsed")).unwrap(),
                "{release} {id}"
            );
            assert_eq!(row.suspended_s, number(at("/time/suspended")), "{release} {id}");
            assert_eq!(
                row.submit_ms.unwrap() / 1000,
                number(at("/time/submission")).unwrap(),
                "{release} {id}"
            );
            allocation_is(row, job, &format!("{release} {id}"));
            cpu_is(row, job, &format!("{release} {id}"));
        }
    }
    assert!(compared > 1000, "{compared}");
    println!("{compared} jobs compared");
}

fn allocation_is(row: &JobRow<'_>, job: &serde_json::Value, place: &str) {
    let allocated = job.pointer("/tres/allocated").and_then(|tres| tres.as_array()).unwrap();
    let count = |kind: &str, name: &str| {
        allocated
            .iter()
            .find(|tres| {
                let is = |key: &str, word: &str| tres.get(key).and_then(|v| v.as_str()).unwrap_or("") == word;
                is("type", kind) && is("name", name)
            })
            .and_then(|tres| number(tres.get("count")?))
    };
    if allocated.is_empty() {
        return;
    }
    assert_eq!(row.alloc_core_n, count("cpu", ""), "{place}");
    assert_eq!(row.alloc_node_n, count("node", "").or(Some(0)), "{place}");
    assert_eq!(row.alloc_billing_n, Some(count("billing", "").unwrap_or(0)), "{place}");
    assert_eq!(row.alloc_memory_byte, count("mem", "").map(|mib| mib << 20), "{place}");
    assert_eq!(row.alloc_gpu_n, Some(count("gres", "gpu").unwrap_or(0)), "{place}");
}

/// The job's own figure is zero in 22.05: the steps' add up to it.
fn cpu_is(row: &JobRow<'_>, job: &serde_json::Value, place: &str) {
    let steps = job.pointer("/steps").and_then(|steps| steps.as_array()).unwrap();
    let cpu_ms: i64 = steps
        .iter()
        .filter_map(|step| {
            let part = |unit: &str| step.pointer(&format!("/time/total/{unit}")).and_then(number);
            Some(part("seconds")? * 1000 + part("microseconds")? / 1000)
        })
        .sum();
    if !steps.is_empty() {
        let slack_ms = i64::try_from(steps.len()).unwrap();
        assert!(
            (row.cpu_ms.unwrap() - cpu_ms).abs() <= slack_ms,
            "{place}: {cpu_ms} {row:#?}"
        );
    }
}

#[test]
fn real_dumps_read_the_same_in_pieces() {
    let Some(folder) = shared("real_dumps_read_the_same_in_pieces") else {
        return;
    };
    for (release, name) in [
        ("22.05", "sacct_all_D_P.txt.xz"),
        ("24.11", "sacct_all_parsable.txt.xz"),
        ("24.11", "sacct_all_X_P.txt.xz"),
        ("24.11-history", "sacct_months_D_P.txt.xz"),
    ] {
        let text = bytes(&folder.join(release).join(name));
        let in_blocks = |block_byte: usize| {
            let input = Box::new(std::io::Cursor::new(text.clone()));
            let plan = Arc::new(plan(Some("Europe/Zurich")));
            Collected::all(sacct::pieces_with_block(input, plan, block_byte).unwrap()).unwrap()
        };
        let whole = in_blocks(usize::MAX);
        for block_byte in [1, 3000, 70_001] {
            if block_byte == 1 && text.len() > 5_000_000 {
                continue;
            }
            assert!(
                whole == in_blocks(block_byte),
                "{release}/{name} in blocks of {block_byte}"
            );
        }
    }
}
