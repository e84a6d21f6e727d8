//! Burst buffer and licences, which jobs have of the cluster and not of nodes.

use gridtally::record::Anomaly;

use super::json::document;
use super::{only, read};
use crate::support::collect::Job;

const MIB: i64 = 1 << 20;

fn job(allocated: &str, requested: &str) -> Job {
    only(format!(
        "JobIDRaw|State|Start|End|ElapsedRaw|AllocTRES|ReqTRES|NCPUS\n7|COMPLETED|10|110|100|{allocated}|{requested}|4\n"
    ))
}

type Named = Vec<(&'static str, i64)>;

/// Burst buffer and licences.
fn of(job: &Job) -> (Named, Named) {
    job.row.details.map_or_else(Default::default, |details| {
        (details.burst_buffers.to_vec(), details.licenses.to_vec())
    })
}

#[test]
fn burst_buffer_and_licences_are_kept_by_name() {
    let both = job(
        "bb/datawarp=20G,billing=4,cpu=4,gres/gpu:a100=1,license/matlab=3,license/ansys@srv:2=1,mem=1G,node=1",
        "bb/datawarp=99G,cpu=4",
    );
    let (pools, licenses) = of(&both);
    assert_eq!(pools, [("datawarp", 20 * 1024 * MIB)]);
    assert_eq!(licenses, [("ansys@srv:2", 1), ("matlab", 3)]);
    assert_eq!(both.row.gpus, [("a100", 1)]);
    assert_eq!(of(&job("bb/lua=1536,cpu=4", "")).0, [("lua", 1536 * MIB)]);
    assert_eq!(
        of(&job("bb/lua=1.50G,bb/cray=1T,cpu=4", "")).0,
        [("cray", MIB * MIB), ("lua", 1536 * MIB)]
    );
    // An allocation without any is one without any.
    assert_eq!(
        of(&job("cpu=4,node=1", "bb/lua=5,license/x=1,cpu=4")),
        Default::default()
    );
    assert!(job("cpu=4,gres/bb/lua=1,xbb/lua=1", "").row.details.is_none());
}

#[test]
fn a_request_stands_for_an_allocation_that_is_not_stated() {
    let requested = "license/x=2,bb/lua=5,cpu=4";
    assert_eq!(of(&job("", requested)), (vec![("lua", 5 * MIB)], vec![("x", 2)]));
    let without = only(format!(
        "JobIDRaw|State|Start|End|ElapsedRaw|ReqTRES|NCPUS\n7|COMPLETED|10|110|100|{requested}|4\n"
    ));
    assert_eq!(of(&without), (vec![("lua", 5 * MIB)], vec![("x", 2)]));
}

#[test]
fn an_amount_that_cannot_be_is_noted_and_refuses_no_job() {
    for bad in [
        "bb/lua=much",
        "license/x=-1",
        "license/x=9000000000000000000",
        "bb/lua=9999999999P",
        "license/x=",
    ] {
        let job = job(&format!("{bad},cpu=4,license/y=1"), "");
        assert!(job.has(Anomaly::ValueDropped), "{bad}");
        assert_eq!(of(&job), (vec![], vec![("y", 1)]), "{bad}");
    }
}

#[test]
fn nothing_of_one_job_is_left_for_the_next() {
    let found = read(
        "JobIDRaw|State|Start|End|ElapsedRaw|AllocTRES|NCPUS\n7|COMPLETED|10|110|100|bb/a=1,license/b=1,cpu=4|4\n\
         8|COMPLETED|10|110|100|cpu=4|4\n",
    );
    let all: Vec<_> = found.jobs.iter().map(of).collect();
    assert_eq!(all, [(vec![("a", MIB)], vec![("b", 1)]), Default::default()]);
}

#[test]
fn the_json_of_a_dump_has_the_same() {
    let entry = |kind: &str, name: &str, count: i64| {
        format!("{{\"type\": \"{kind}\", \"name\": \"{name}\", \"id\": 1001, \"count\": {count}}}")
    };
    let lists = |allocated: &[String], requested: &[String]| {
        only(document(&[format!(
            "{{\"job_id\": 7, \"state\": {{\"current\": [\"COMPLETED\"]}}, \"tres\": {{\"allocated\": [{}], \"requested\": [{}]}}, \
             \"time\": {{\"start\": 10, \"end\": 110, \"elapsed\": 100}}}}",
            allocated.join(","),
            requested.join(",")
        )]))
    };
    let held = [entry("cpu", "", 4), entry("license", "x", 2), entry("bb", "lua", 5)];
    let asked = [entry("cpu", "", 3), entry("mem", "", 7), entry("bb", "lua", 9)];
    let both = lists(&held, &asked);
    assert_eq!(of(&both), (vec![("lua", 5 * MIB)], vec![("x", 2)]));
    assert_eq!(
        (both.row.requested_core_n, both.row.requested_memory_byte),
        (Some(3), Some(7 * MIB))
    );
    assert_eq!(of(&lists(&[], &asked)), (vec![("lua", 9 * MIB)], vec![]));
}

#[test]
fn an_allocation_that_comes_again_is_read_as_alone() {
    const HEADER: &str = "JobIDRaw|State|Start|End|ElapsedRaw|AllocTRES|NCPUS\n";
    let mut texts: Vec<String> = (0..200)
        .map(|n| format!("billing={n},cpu={},mem={}M,node=1", n % 7 + 1, n * 13))
        .collect();
    texts.extend(
        [
            "cpu=4,energy=77000,mem=1G,node=1",
            "billing=4,cpu=4,gres/gpu:a100=1,gres/gpu=1,mem=1G,node=1",
            "billing=4,cpu=4,license/matlab=3,mem=1G,node=1",
            "billing=4,cpu=4,license/matlab=?,mem=1G,node=1",
            "cpu=4",
            "",
        ]
        .map(str::to_owned),
    );
    let row = |id: usize, text: &str| format!("{id}|COMPLETED|10|110|100|{text}|4\n");
    // Each comes three times, at first right behind itself.
    let order = (0..texts.len()).flat_map(|nth| [nth, nth]).chain(0..texts.len());
    let rows: Vec<String> = order.enumerate().map(|(id, nth)| row(id + 1, &texts[nth])).collect();
    let together = read(format!("{HEADER}{}", rows.concat()));
    assert_eq!(together.jobs.len(), rows.len());
    for (job, row) in together.jobs.iter().zip(&rows) {
        let alone = only(format!("{HEADER}{row}"));
        assert_eq!((&job.row, job.step_n), (&alone.row, alone.step_n), "{row}");
    }
    let damaged = read(format!("{HEADER}{0}{0}", row(1, "billing=9,cpu=9,what,mem=900M")));
    assert_eq!(damaged.rejects.len(), 2);
}

#[test]
fn a_billing_or_gpus_that_are_not_set_are_unknown_and_not_none() {
    let entry = |kind: &str, name: &str, count: u64| {
        format!("{{\"type\": \"{kind}\", \"name\": \"{name}\", \"id\": 1001, \"count\": {count}}}")
    };
    let listed = |entries: &[String]| {
        only(document(&[format!(
            "{{\"job_id\": 7, \"state\": {{\"current\": [\"COMPLETED\"]}}, \"tres\": {{\"allocated\": [{}]}}, \
             \"time\": {{\"start\": 10, \"end\": 110, \"elapsed\": 100}}}}",
            entries.join(",")
        )]))
    };
    let amounts = |job: &Job| {
        (
            job.row.alloc_billing_n,
            job.row.alloc_gpu_n,
            job.has(Anomaly::ValueDropped),
        )
    };
    for unset in [u64::MAX - 1, u64::MAX, 4_294_967_294] {
        for (text, list, expected) in [
            (
                format!("billing={unset},cpu=4"),
                vec![entry("billing", "", unset)],
                (None, Some(0), true),
            ),
            (
                format!("billing=8,cpu=4,gres/gpu={unset}"),
                vec![entry("billing", "", 8), entry("gres", "gpu", unset)],
                (Some(8), None, true),
            ),
            (
                format!("cpu=4,gres/gpu:a100=2,gres/gpu={unset}"),
                vec![entry("gres", "gpu", unset), entry("gres", "gpu:a100", 2)],
                (Some(0), Some(2), false),
            ),
        ] {
            assert_eq!(amounts(&job(&text, "")), expected, "{text}");
            assert_eq!(amounts(&listed(&list)), expected, "{list:?}");
        }
    }
    assert_eq!(amounts(&job("cpu=4", "")), (Some(0), Some(0), false));
}
