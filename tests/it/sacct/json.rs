//! `sacct --json`: the shapes of the plugins, and what happens to a stream that is damaged.

use std::sync::Arc;

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::sacct;
use proptest::prelude::*;

use super::{plan, read, try_read};
use crate::support::collect::Collected;

/// One job as the plugin of 22.05 prints it: bare numbers, `null`, the job's own CPU time zero.
pub(crate) const OLD: &str = r#"    {
      "account": "atlas",
      "comment": {"administrator": null, "job": "a } in ] a text", "system": null},
      "allocation_nodes": 1,
      "array": {"job_id": 140, "limits": {"max": {"running": {"tasks": 0}}}, "task": null, "task_id": 3},
      "association": {"account": "atlas", "cluster": "zoo", "partition": null, "user": "ada"},
      "cluster": "zoo",
      "time": {
        "elapsed": 7200, "eligible": 1790812801, "end": 1790820066, "start": 1790812860, "submission": 1790812800,
        "suspended": 6, "limit": 150,
        "system": {"seconds": 0, "microseconds": 0}, "total": {"seconds": 0, "microseconds": 0},
        "user": {"seconds": 0, "microseconds": 0}
      },
      "exit_code": {"status": "SIGNALED", "return_code": null, "signal": {"signal_id": 9, "name": "Killed"}},
      "group": "hep",
      "het": {"job_id": 0, "job_offset": null},
      "job_id": 143,
      "name": "two\nlines \"and\" a | pipe",
      "nodes": "n[1-2]",
      "partition": "gpu",
      "priority": 7042,
      "qos": "high",
      "required": {"CPUs": 8, "memory": 6144},
      "state": {"current": "FAILED", "reason": "None"},
      "steps": [
        {"time": {"elapsed": 1, "total": {"seconds": 3600, "microseconds": 250700},
                  "user": {"seconds": 3570, "microseconds": 250100}, "system": {"seconds": 30, "microseconds": 600}},
         "state": "CANCELLED", "step": {"job_id": 143, "het": {"component": null}, "id": "batch", "name": "batch"},
         "tres": {"requested": {"max": [{"type": "mem", "name": null, "id": 2, "count": 1048576, "task": 0},
                                        {"type": "vmem", "name": null, "id": 7, "count": 4194304}],
                                "total": [{"type": "cpu", "name": null, "id": 1, "count": 3600000}]},
                  "consumed": {"max": [{"type": "mem", "count": 99999999999}]}, "allocated": []}},
        {"time": {"total": {"seconds": 0, "microseconds": 1200}, "user": {"seconds": 0, "microseconds": 1200},
                  "system": {"seconds": 0, "microseconds": 0}},
         "tres": {"requested": {"max": [{"type": "mem", "name": null, "id": 2, "count": 2097152}], "total": []}}}
      ],
      "tres": {
        "allocated": [
          {"type": "cpu", "name": null, "id": 1, "count": 8}, {"type": "mem", "name": null, "id": 2, "count": 12800},
          {"type": "energy", "name": null, "id": 3, "count": null},
          {"type": "node", "name": null, "id": 4, "count": 2}, {"type": "billing", "name": null, "id": 5, "count": 35},
          {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 2},
          {"type": "gres", "name": "gpu", "id": 1001, "count": 2}
        ],
        "requested": [{"type": "mem", "name": null, "id": 2, "count": 6144}]
      },
      "user": "ada",
      "wckey": {"wckey": "proj1", "flags": ["ASSIGNED_DEFAULT"]}
    }"#;

/// The same job as the plugin of 24.11 prints it: numbers that may be unset, lists of states, sums in the job.
pub(crate) const NEW: &str = r#"    {
      "account": "atlas",
      "comment": {"administrator": "", "job": "a } in ] a text", "system": ""},
      "allocation_nodes": 1,
      "array": {"job_id": 140, "limits": {"max": {"running": {"tasks": 0}}},
                "task_id": {"set": true, "infinite": false, "number": 3}, "task": ""},
      "association": {"account": "atlas", "cluster": "zoo", "partition": "", "user": "ada", "id": 10},
      "cluster": "zoo",
      "time": {
        "elapsed": 7200, "eligible": 1790812801, "end": 1790820066,
        "planned": {"set": true, "infinite": false, "number": 0},
        "start": 1790812860, "submission": 1790812800, "suspended": 6,
        "limit": {"set": true, "infinite": false, "number": 150},
        "system": {"seconds": 30, "microseconds": 600}, "total": {"seconds": 3600, "microseconds": 251900},
        "user": {"seconds": 3570, "microseconds": 251300}
      },
      "exit_code": {"status": ["SIGNALED"], "return_code": {"set": false, "infinite": false, "number": 0},
                    "signal": {"id": {"set": true, "infinite": false, "number": 9}, "name": "Killed"}},
      "group": "hep",
      "het": {"job_id": 0, "job_offset": {"set": false, "infinite": false, "number": 0}},
      "job_id": 143,
      "name": "two\nlines \"and\" a | pipe",
      "nodes": "n[1-2]",
      "partition": "gpu",
      "priority": {"set": true, "infinite": false, "number": 753},
      "qos": "high",
      "required": {"CPUs": 8, "memory_per_cpu": {"set": true, "infinite": false, "number": 768}},
      "state": {"current": ["FAILED"], "reason": "None"},
      "steps": [
        {"time": {"elapsed": 1, "end": {"set": true, "infinite": false, "number": 1790820066},
                  "total": {"seconds": 3600, "microseconds": 250700}},
         "state": ["CANCELLED"], "step": {"id": "143.batch", "name": "batch"},
         "statistics": {"CPU": {"actual_frequency": 4657927079445135360}},
         "tres": {"requested": {"max": [{"type": "mem", "name": "", "id": 2, "count": 1048576, "task": 0},
                                        {"type": "vmem", "name": "", "id": 7, "count": 4194304}],
                                "total": [{"type": "cpu", "name": "", "id": 1, "count": 3600000}]},
                  "consumed": {"max": [{"type": "mem", "count": 99999999999}]}}},
        {"time": {"total": {"seconds": 0, "microseconds": 1200}},
         "tres": {"requested": {"max": [{"type": "mem", "name": "", "id": 2, "count": 2097152}], "total": []}}}
      ],
      "tres": {
        "allocated": [
          {"type": "cpu", "name": "", "id": 1, "count": 8}, {"type": "mem", "name": "", "id": 2, "count": 12800},
          {"type": "energy", "name": "", "id": 3, "count": -2},
          {"type": "node", "name": "", "id": 4, "count": 2}, {"type": "billing", "name": "", "id": 5, "count": 35},
          {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 2},
          {"type": "gres", "name": "gpu", "id": 1001, "count": 2}
        ],
        "requested": [{"type": "mem", "name": "", "id": 2, "count": 6144}]
      },
      "user": "ada",
      "wckey": {"wckey": "proj1", "flags": ["ASSIGNED_DEFAULT"]}
    }"#;

/// A job with these fields and no more.
pub(super) fn small(id: u32, more: &str) -> String {
    format!(
        "    {{\n      \"job_id\": {id},\n      \"state\": {{\"current\": [\"COMPLETED\"]}},\n      \"name\": \"j{id}\",\n      \
         \"time\": {{\"start\": 1790812860, \"end\": 1790812870, \"elapsed\": 10}}{more}\n    }}"
    )
}

pub(super) fn document(jobs: &[String]) -> String {
    format!(
        "{{\n  \"jobs\": [\n{}\n  ],\n  \"meta\": {{\"plugin\": {{\"data_parser\": \"data_parser\\/v0.0.42\"}}}},\n  \"errors\": []\n}}\n",
        jobs.join(",\n")
    )
}

#[test]
fn an_allocation_that_replaced_another_begins_where_it_did() {
    for job in [OLD, NEW] {
        let resized = job.replace("\"submission\": 1790812800", "\"submission\": 1790816000");
        let found = read(document(&[resized]));
        let row = &found.jobs[0].row;
        assert_eq!(row.start_ms, Some(1_790_816_000_000));
        assert_eq!((row.submit_ms, row.eligible_ms), (row.start_ms, row.start_ms));
        assert_eq!((row.end_ms, row.wall_ms), (Some(1_790_820_066_000), Some(4_060_000)));
    }
}

#[test]
fn a_job_that_never_ran_used_nothing() {
    let bare = |more: &str| {
        small(26, more).replace(
            "\"end\": 1790812870, \"elapsed\": 10",
            "\"end\": 1790812860, \"elapsed\": 0",
        )
    };
    for (more, job_n) in [
        (", \"nodes\": \"None assigned\", \"tres\": {\"allocated\": []}", 0),
        (", \"nodes\": \"n1\", \"tres\": {\"allocated\": []}", 1),
        (
            ", \"nodes\": \"None assigned\", \"tres\": {\"allocated\": [{\"type\": \"cpu\", \"name\": null, \"id\": 1, \"count\": 1}]}",
            1,
        ),
    ] {
        let found = read(document(&[bare(more)]));
        assert_eq!(found.jobs.len(), job_n, "{more}");
        assert_eq!(
            found.out_of_scope_rows(Reason::NotStarted),
            1 - u64::try_from(job_n).unwrap(),
            "{more}"
        );
    }
}

fn only(job: &str) -> crate::support::collect::Job {
    let found = read(document(&[job.to_owned()]));
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    assert_eq!(found.jobs.len(), 1, "{found:#?}");
    found.jobs.into_iter().next().unwrap()
}

#[test]
fn both_plugins_state_the_same() {
    for job in [OLD, NEW] {
        let job = only(job);
        let row = &job.row;
        assert_eq!((row.job_id, row.raw_job_id), ("140_3", Some("143")));
        assert_eq!(row.job_name, Some("two\nlines \"and\" a | pipe"));
        assert_eq!(
            (row.cluster, row.account, row.user),
            (Some("zoo"), Some("atlas"), Some("ada"))
        );
        assert_eq!(
            (row.user_group, row.partition, row.qos, row.wckey),
            (Some("hep"), Some("gpu"), Some("high"), Some("proj1"))
        );
        assert_eq!(
            (row.submit_ms, row.eligible_ms),
            (Some(1_790_812_800_000), Some(1_790_812_801_000))
        );
        assert_eq!(
            (row.start_ms, row.end_ms),
            (Some(1_790_812_860_000), Some(1_790_820_066_000))
        );
        assert_eq!(
            (row.wall_ms, row.suspended_s, row.time_limit_s),
            (Some(7_200_000), Some(6), Some(9000))
        );
        assert_eq!(
            (row.cpu_ms, row.cpu_user_ms, row.cpu_system_ms),
            (Some(3_600_251), Some(3_570_251), Some(30_000))
        );
        assert_eq!(
            (row.alloc_core_n, row.alloc_node_n, row.alloc_gpu_n),
            (Some(8), Some(2), Some(2))
        );
        assert_eq!(row.gpus, &[("a100", 2)]);
        assert_eq!((row.alloc_billing_n, row.alloc_memory_byte), (Some(35), Some(25 << 29)));
        assert_eq!(
            (row.requested_memory_byte, row.max_rss_byte),
            (Some(6 << 30), Some(2 << 20))
        );
        assert_eq!((row.max_virtual_byte, row.node_list), (Some(4 << 20), Some("n[1-2]")));
        assert_eq!(
            (row.state, row.exit_code, row.exit_signal),
            (Some("FAILED"), Some(0), Some(9))
        );
        assert_eq!((row.anomalies, job.step_n, job.at.line), (0, 2, 3));
    }
}

#[test]
fn an_exit_code_22_05_does_not_print_is_unknown() {
    let exit = |code: &str, state: &str| {
        let job = small(
            1,
            &format!(", \"exit_code\": {{\"status\": \"SUCCESS\", \"return_code\": {code}}}"),
        );
        let job = only(&job.replace("[\"COMPLETED\"]", state));
        (job.row.exit_code, job.row.exit_signal)
    };
    assert_eq!(exit("0", "\"FAILED\""), (None, Some(0)));
    assert_eq!(exit("0", "\"DEADLINE\""), (None, Some(0)));
    assert_eq!(exit("0", "\"COMPLETED\""), (Some(0), Some(0)));
    // 23.02 and later do print it, and the text takes 128 off.
    assert_eq!(
        exit("{\"set\": true, \"infinite\": false, \"number\": 0}", "[\"FAILED\"]"),
        (Some(0), Some(0))
    );
    assert_eq!(
        exit("{\"set\": true, \"infinite\": false, \"number\": 139}", "[\"FAILED\"]"),
        (Some(11), Some(0))
    );
}

/// 22.05 prints a number of its memory for the name.
#[test]
fn a_reservation_whose_name_cannot_be_read_is_a_dropped_value() {
    let of = |reservation: &str| {
        let job = only(&small(1, &format!(", \"reservation\": {reservation}")));
        (job.row.reservation.map(str::to_owned), job.has(Anomaly::ValueDropped))
    };
    assert_eq!(of("{\"id\": 1, \"name\": 2283027776}"), (None, true));
    assert_eq!(of("{\"id\": 1, \"name\": null}"), (None, true));
    assert_eq!(of("{\"id\": 0, \"name\": 0}"), (None, false));
    assert_eq!(of("{\"id\": 0, \"name\": \"\"}"), (None, false));
    assert_eq!(of("{\"id\": 1, \"name\": \"resA\"}"), (Some("resA".to_owned()), false));
}

#[test]
fn numbers_states_and_identifiers_in_every_shape() {
    let job = only(&small(
        7,
        ", \"het\": {\"job_id\": 6, \"job_offset\": {\"set\": true, \"infinite\": false, \"number\": 1}}",
    ));
    assert_eq!((job.row.job_id, job.row.raw_job_id), ("6+1", Some("7")));
    // No step contains its CPU time: unknown, not zero.
    assert_eq!((job.row.cpu_ms, job.has(Anomaly::CpuUnknown)), (None, true));
    // A flag stands for the job as in the text; flags the text never shows do not.
    for (states, word) in [
        ("[\"RUNNING\", \"COMPLETING\"]", "COMPLETING"),
        ("[\"COMPLETED\", \"LAUNCH_FAILED\"]", "COMPLETED"),
        ("\"REQUEUED\"", "REQUEUED"),
        ("[\"PENDING\", \"REQUEUED\", \"REQUEUE_HOLD\"]", "REQUEUED"),
    ] {
        assert_eq!(
            only(&small(1, "").replace("[\"COMPLETED\"]", states)).row.state,
            Some(word),
            "{states}"
        );
    }
    for (limit, second) in [
        ("{\"set\": false, \"infinite\": true, \"number\": 0}", None),
        ("{\"set\": true, \"infinite\": false, \"number\": 5}", Some(300)),
        ("4294967295", None),
        ("\"5\"", Some(300)),
        ("null", None),
        ("5.0", Some(300)),
    ] {
        let job = only(&small(1, "").replace("\"elapsed\": 10", &format!("\"elapsed\": 10, \"limit\": {limit}")));
        assert_eq!(
            (job.row.time_limit_s, job.has(Anomaly::ValueDropped)),
            (second, false),
            "{limit}"
        );
    }
    for (wrong, reason, words) in [
        ("\"start\": \"soon\"", Reason::BadTime, "time.start: \"soon\""),
        ("\"start\": 999999999999", Reason::BadTime, "999999999999"),
        (
            "\"start\": 1790812860, \"suspended\": [3]",
            Reason::BadNumber,
            "time.suspended: a list or an object",
        ),
    ] {
        let found = read(document(&[
            small(1, ", \"steps\": [{}, {}]").replace("\"start\": 1790812860", wrong)
        ]));
        let [reject] = &found.rejects[..] else {
            panic!("{found:#?}")
        };
        // The steps are refused with their job.
        assert_eq!((reject.reason, reject.rows, found.rows_read), (reason, 3, 3));
        assert!(reject.detail.contains(words), "{}", reject.detail);
    }
    let of = |from: &str, to: &str| read(document(&[small(1, "").replace(from, to)]));
    assert_eq!(
        of("[\"COMPLETED\"]", "[\"HAPPY\"]").rejects.first().unwrap().reason,
        Reason::UnknownState
    );
    assert_eq!(
        of("\"job_id\"", "\"job\"").rejects.first().unwrap().reason,
        Reason::MissingField
    );
    assert_eq!(
        of("[\"COMPLETED\"]", "[\"PENDING\"]").out_of_scope_rows(Reason::NotStarted),
        1
    );
}

/// Usage of the last poll where a step's own figure is zero (Slurm 25.05), and only there.
#[test]
fn a_step_without_a_figure_of_its_own_counts_as_polled() {
    let step = |total: u64, polled_ms: u64| {
        format!(
            "{{\"time\": {{\"total\": {{\"seconds\": {total}, \"microseconds\": 0}}}}, \"tres\": {{\"requested\": \
             {{\"total\": [{{\"type\": \"cpu\", \"count\": {polled_ms}}}]}}}}}}"
        )
    };
    for (total, steps, cpu_ms) in [
        (0, vec![step(0, 5000), step(0, 700)], 5700),
        (3, vec![step(3, 2000), step(0, 700)], 3700),
        (3, vec![step(3, 2000)], 3000),
    ] {
        let list = steps.join(",");
        let job = small(1, &format!(", \"steps\": [{list}]")).replace(
            "\"elapsed\": 10",
            &format!("\"elapsed\": 10, \"total\": {{\"seconds\": {total}, \"microseconds\": 0}}"),
        );
        assert_eq!(only(&job).row.cpu_ms, Some(cpu_ms), "{list}");
    }
}

/// What follows the damage is read; what is damaged is one row of its own.
#[test]
fn damage_stays_local() {
    let jobs: Vec<String> = (1..=5).map(|id| small(id, ", \"steps\": [{}]")).collect();
    let third = jobs.get(2).unwrap().clone();
    let damages = [
        (
            "a bracket too few",
            third.replace("{\"start\"", "\"start\""),
            Reason::BadJson,
        ),
        (
            "a bracket too many",
            third.replace("\"steps\": [{}]", "\"steps\": [{}]}"),
            Reason::BadJson,
        ),
        (
            "never closed",
            third.strip_suffix('}').unwrap().to_owned(),
            Reason::BadJson,
        ),
        ("a quote lost", third.replace("\"j3\"", "\"j3"), Reason::BadJson),
        ("a control character", third.replace("j3", "j\u{1}3"), Reason::BadJson),
        ("something else", "    garbage".to_owned(), Reason::BadJson),
        ("not an object", "    17".to_owned(), Reason::BadJson),
        ("nothing in it", "    {\n    }".to_owned(), Reason::MissingField),
    ];
    for (what, damaged, reason) in damages {
        let mut all = jobs.clone();
        *all.get_mut(2).unwrap() = damaged;
        let found = read(document(&all));
        let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
        assert_eq!(ids, ["1", "2", "4", "5"], "{what}: {:#?}", found.rejects);
        let [reject] = &found.rejects[..] else {
            panic!("{what}: {found:#?}")
        };
        assert_eq!((reject.reason, reject.rows), (reason, 1), "{what}: {}", reject.detail);
    }
}

#[test]
fn a_job_of_hostile_size_is_refused_and_the_next_is_read() {
    let jobs = [
        small(1, ""),
        small(2, &format!(", \"comment\": {{\"job\": \"{}\"}}", "x".repeat(5000))),
        small(3, ""),
    ];
    for block in [1, 100, 1 << 20] {
        let input = Box::new(std::io::Cursor::new(document(&jobs).into_bytes()));
        let pieces = sacct::pieces_with_limit(input, Arc::new(plan(None)), block, 2000).unwrap();
        let found = Collected::all(pieces).unwrap();
        let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
        assert_eq!(ids, ["1", "3"], "{block}: {:#?}", found.rejects);
        let [reject] = &found.rejects[..] else {
            panic!("{found:#?}")
        };
        assert_eq!(
            (reject.reason, found.rows_read, found.outcomes()),
            (Reason::TooLong, 3, 3)
        );
    }
    // Brackets without end are no deeper than anybody can count, and the text behind them is not held.
    let deep = format!("{{\"jobs\": [{}", "[{".repeat(100_000));
    let found = read(deep);
    assert_eq!((found.rows_read, found.rejects.len()), (1, 1));
    let deep = document(&[small(1, &format!(", \"x\": {}{}", "[".repeat(500), "]".repeat(500)))]);
    assert_eq!(read(deep).rejects.first().unwrap().reason, Reason::BadJson);
}

#[test]
fn json_of_something_else_is_no_dump() {
    let error = try_read(b"{\"nodes\": [{\"name\": \"n1\"}]}", plan(None)).unwrap_err();
    assert!(error.to_string().contains("no list of jobs"), "{error}");
    assert!(!sacct::recognise(b"{\"_index\": \"gracc\", \"_source\": {}}"));
    assert!(sacct::recognise(document(&[NEW.to_owned()]).as_bytes()));
    assert!(sacct::recognise(
        format!("\u{feff}{}", document(&[OLD.to_owned()])).as_bytes()
    ));
}

pub(super) fn in_blocks(text: &[u8], block: usize) -> Collected {
    let input = Box::new(std::io::Cursor::new(text.to_vec()));
    Collected::all(sacct::pieces_with_block(input, Arc::new(plan(None)), block).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    /// Any byte changed, the file cut anywhere, read in blocks of any size: every row has one outcome and the same.
    #[test]
    fn damage_and_block_size_change_no_outcome(at in 0_usize..100_000, byte in any::<u8>(), cut in 0_usize..100_000, block in 1_usize..4000) {
        let mut text = document(&[small(1, ""), OLD.to_owned(), small(2, ", \"steps\": [{}]"), NEW.to_owned(), small(3, "")]).into_bytes();
        let len = text.len();
        if let Some(slot) = text.get_mut(at % len) {
            *slot = byte;
        }
        text.truncate(len - cut % (len / 2));
        let input = Box::new(std::io::Cursor::new(text.clone()));
        let Ok(whole) = Collected::all(sacct::pieces_with_block(input, Arc::new(plan(Some("UTC"))), usize::MAX >> 8).unwrap_or_else(|_| Box::new(std::iter::empty()))) else {
            return Ok(());
        };
        prop_assert_eq!(whole.rows_read, whole.outcomes());
        if whole.rows_read > 0 {
            prop_assert_eq!(&in_blocks(&text, block), &whole);
        }
    }

    /// Brackets, quotes and line breaks in any order: no panic, no hang, every row one outcome.
    #[test]
    fn any_brackets_are_accounted_for(body in "[\\[\\]{}\",:\\\\\n j1]{0,300}", margin in 0_usize..5, block in 1_usize..200) {
        let text = format!("{{\"jobs\": [\n{}{{\n      \"a\": 1}},{body}", " ".repeat(margin));
        let whole = in_blocks(text.as_bytes(), 1 << 20);
        prop_assert_eq!(whole.rows_read, whole.outcomes());
        prop_assert!(whole.rows_read > 0);
        prop_assert_eq!(&in_blocks(text.as_bytes(), block), &whole);
    }
}
