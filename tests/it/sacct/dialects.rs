//! One cluster dumped in every way there is: the same jobs, one answer.
#![expect(
    clippy::print_stdout,
    reason = "a test that is skipped says so loudly, and the figures are worth seeing"
)]

use std::collections::BTreeMap;
use std::path::Path;

use gridtally::records::JobRow;

use super::real::{bytes, read, shared};
use crate::support::collect::{Collect, Job};

type Key = (String, Option<i64>, Option<i64>);

fn by_key(found: &Collect) -> BTreeMap<Key, &Job> {
    found
        .jobs
        .iter()
        .map(|job| {
            let row = &job.row;
            let raw = row.raw_job_id.unwrap().to_owned();
            ((raw, row.submit_ms, row.start_ms), job)
        })
        .collect()
}

/// The columns in which two rows differ.
fn differences(a: &JobRow<'_>, b: &JobRow<'_>) -> Vec<String> {
    let mut found = Vec::new();
    macro_rules! compare {
        ($($field:ident)+) => {
            $(if a.$field != b.$field {
                found.push(format!("{}: {:?} {:?}", stringify!($field), a.$field, b.$field));
            })+
        };
    }
    compare!(view cluster job_id raw_job_id account user user_group partition qos job_name submit_ms eligible_ms
        start_ms end_ms wall_ms suspended_s cpu_ms cpu_user_ms cpu_system_ms alloc_core_n alloc_node_n alloc_gpu_n gpus
        alloc_memory_byte requested_memory_byte max_rss_byte max_virtual_byte alloc_billing_n time_limit_s node_list
        state exit_code exit_signal anomalies);
    found
}

#[test]
fn probe() {
    let Some(folder) = shared("probe") else { return };
    for (release, zone) in [("22.05", "UTC"), ("24.11", "Europe/Zurich"), ("24.11-history", "Europe/Zurich")] {
        for (t, j) in [("sacct_all_D_P.txt.xz", "sacct_dupl_json.json.xz"), ("sacct_all_P.txt.xz", "sacct_all.json.xz")] {
            let text = read(&folder.join(release).join(t), zone);
            let json = read(&folder.join(release).join(j), "UTC");
            println!("{release} {t}: {} {} jobs, rows {} {}, rejects {:?}, oos {:?} {:?}", text.jobs.len(), json.jobs.len(), text.rows_read, json.rows_read, json.rejects, text.out_of_scope, json.out_of_scope);
            let (a, b) = (by_key(&text), by_key(&json));
            for key in a.keys().filter(|k| !b.contains_key(*k)) { println!("  only text {key:?} {:?}", a[key].row.state); }
            for key in b.keys().filter(|k| !a.contains_key(*k)) { println!("  only json {key:?} {:?}", b[key].row.state); }
            for (key, x) in &a {
                if let Some(y) = b.get(key) {
                    let d = differences(&x.row, &y.row);
                    if !d.is_empty() || x.step_n != y.step_n { println!("  {key:?} {:?} steps {} {} {d:?}", x.row.state, x.step_n, y.step_n); }
                }
            }
        }
    }
    let _ = (bytes as fn(&Path) -> Vec<u8>, 0);
}
