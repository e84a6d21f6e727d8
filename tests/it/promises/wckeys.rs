//! Workload keys of Slurm: a dimension of usage, without the star that marks a user's default key.

use std::collections::BTreeMap;

use gridtally::run::RunOptions;

use super::scene::Scene;
use super::tables::{all, int, text};

const DUMP: &str = "JobIDRaw|User|Account|WCKey|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU\n\
    1|ann|snow|tide|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|COMPLETED|2|cpu=2,node=1|00:10:00\n\
    2|ann|snow|*tide|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|COMPLETED|3|cpu=3,node=1|00:10:00\n\
    3|ann|snow|*|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|COMPLETED|5|cpu=5,node=1|00:10:00\n\
    4|ann|snow||2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|COMPLETED|7|cpu=7,node=1|00:10:00\n\
    5|ann|snow|a b|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|COMPLETED|11|cpu=11,node=1|00:10:00\n";

#[test]
fn usage_is_distinguished_by_workload_key() {
    let scene = Scene::empty();
    scene.write("dump.txt", DUMP.as_bytes());
    let pipeline = "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\n\
                    paths = [\"dump.txt\"]\nsite = \"S\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n";
    scene.write("p.toml", pipeline.as_bytes());
    scene.run_file("p.toml", "out", RunOptions::default()).unwrap();
    for dataset in ["usage", "usage_part"] {
        let batch = all(&scene.path("out"), dataset);
        let found: BTreeMap<_, _> = (0..batch.num_rows())
            .map(|row| {
                (
                    text(&batch, "wckey", row),
                    int(&batch, "alloc_core_s", row).unwrap() / 3600,
                )
            })
            .collect();
        let expected = [(None, 12), (Some("a b".to_owned()), 11), (Some("tide".to_owned()), 5)];
        assert_eq!(found, BTreeMap::from(expected), "{dataset}");
    }
}
