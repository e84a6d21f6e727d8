//! Dumps without a header, whose columns are in an order other tools have fixed.

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::sacct;
use gridtally::sources::sacct::FixedOrder;
use gridtally::sources::{diagnosis, registry};

use super::{plan, try_read};
use crate::support::collect::Collected;

const XDMOD: &str = "\
    31_4|35|zoo|gpu|normal|atlas|hep|500|ada|1001|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:05|2026-03-01T11:00:05|01:00:00|0:0|COMPLETED|1|4|4|16G|billing=4,cpu=4,mem=16G,node=1|billing=4,cpu=4,gres/gpu:a100_3g.20gb=1,gres/gpu=1,mem=16G,node=1|02:00:00|g1|plain\n\
    36|36|zoo|cpu|normal|chem||600||1002|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:05|2026-03-01T10:00:15|00:00:10|0:15|CANCELLED by 0|1|2|1|512M|billing=1,cpu=1,mem=512M,node=1|billing=2,cpu=2,mem=512M,node=1|Partition_Limit|n1|a|name|with\nmore lines|and pipes\n\
    37|37|zoo|cpu|normal|chem|ch|600|bob|1002|2026-03-01T10:00:00|Unknown|None|2026-03-01T10:00:15|00:00:00|0:0|CANCELLED by 1002|1|0|1|512M|billing=1,cpu=1,mem=512M,node=1||01:00:00|None assigned|never\n";

const XDMOD_8: &str = "\
    977|977|pie|long|apple|grp|104|tim|503|2016-12-21T21:43:34|2016-12-21T21:43:34|2016-12-22T07:03:30|2016-12-30T03:43:09|7-20:39:39|0:0|COMPLETED|1|12|12|4000Mc|gpu:2|cpu=12,mem=48000M,node=1|125-00:00:00|n-27|x\n";

const APEL: &str = "\
    41|a|name|ada|hep|2026-03-01T10:00:05|2026-03-01T11:00:05|01:00:00|59:30.250|long|4|1|n1|||COMPLETED\n\
    41.batch|batch|||2026-03-01T10:00:05|2026-03-01T11:00:05|01:00:00|59:30.250||4|1|n1|2048K|1G|COMPLETED\n\
    42|b|ada|hep|2026-03-01T10:00:05|2026-03-01T11:00:05|01:00:00|00:00:00|long|4|1|n1|||OUT_OF_MEMORY\n";

fn read(dump: &str, layout: FixedOrder) -> Collected {
    let mut source = plan(Some("UTC"));
    source.sacct.layout = Some(layout);
    let found = try_read(dump.as_bytes(), source).unwrap();
    assert_eq!(found.rows_read, found.outcomes(), "{found:#?}");
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    found
}

#[test]
fn xdmod_order_is_read() {
    for (dump, end) in [
        (XDMOD.to_owned(), "\n"),
        (XDMOD.replace('\n', "\r\n").replace("with\r\n", "with\n"), "\r\n"),
    ] {
        let found = read(&dump, FixedOrder::Xdmod);
        let [first, second, third] = &found.jobs[..] else {
            panic!("{found:#?}")
        };
        assert_eq!(
            (first.row.job_id, first.row.raw_job_id),
            ("31_4", Some("35")),
            "{end:?}"
        );
        assert_eq!(
            (first.row.account, first.row.user_group, first.row.user),
            (Some("atlas"), Some("hep"), Some("ada"))
        );
        assert_eq!(
            (first.row.wall_ms, first.row.time_limit_s),
            (Some(3_600_000), Some(7200))
        );
        assert_eq!(
            (first.row.alloc_gpu_n, first.row.gpus),
            (Some(1), &[("a100_3g.20gb", 1)][..])
        );
        assert_eq!((first.row.cpu_ms, first.has(Anomaly::CpuUnknown)), (None, true));
        assert_eq!(second.row.job_name, Some("a|name|with\nmore lines|and pipes"));
        assert_eq!(
            (second.row.user, second.row.alloc_core_n, second.row.exit_signal),
            (Some("1002"), Some(2), Some(15))
        );
        assert_eq!(
            (third.row.start_ms, third.row.node_list, third.row.job_name),
            (None, None, Some("never"))
        );
    }
    // `--parsable` instead of `--parsable2`.
    let lines = XDMOD.lines().take(1).chain(XDMOD.lines().skip(3));
    let trailing: String = lines.flat_map(|line| [line, "|\n"]).collect();
    let found = read(&trailing, FixedOrder::Xdmod);
    assert_eq!(
        found.jobs.iter().map(|job| job.row.job_name).collect::<Vec<_>>(),
        [Some("plain"), Some("never")]
    );
}

#[test]
fn orders_of_older_releases_are_read() {
    let found = read(XDMOD_8, FixedOrder::Xdmod8);
    let job = found.jobs.first().unwrap();
    // Per CPU, as before 21.08.
    assert_eq!(
        (job.row.requested_memory_byte, job.row.alloc_core_n),
        (Some(48_000 << 20), Some(12))
    );
    assert_eq!(
        (job.row.qos, job.row.account, job.row.node_list),
        (None, Some("apple"), Some("n-27"))
    );
    let newer = XDMOD_8.replace(
        "|gpu:2|cpu=12,mem=48000M,node=1|",
        "|cpu=12,mem=48000M,node=1|cpu=12,mem=48000M,node=1|",
    );
    assert_eq!(
        read(&newer, FixedOrder::Xdmod95)
            .jobs
            .first()
            .unwrap()
            .row
            .alloc_memory_byte,
        Some(48_000 << 20)
    );
}

#[test]
fn apel_order_is_read() {
    let found = read(APEL, FixedOrder::Apel);
    let [first, second] = &found.jobs[..] else {
        panic!("{found:#?}")
    };
    assert_eq!(
        (first.row.job_id, first.row.job_name, first.step_n),
        ("41", Some("a|name"), 1)
    );
    assert_eq!(
        (first.row.cpu_ms, first.row.max_rss_byte),
        (Some(3_570_250), Some(2 << 20))
    );
    assert_eq!((second.row.state, second.row.cpu_ms), (Some("OUT_OF_MEMORY"), None));
    // Allocated time is not used time.
    let allocated = APEL
        .replace("|59:30.250|", "|14400|")
        .replace("|00:00:00|long", "|14400|long");
    let found = read(&allocated, FixedOrder::Apel);
    assert!(
        found
            .jobs
            .iter()
            .all(|job| job.row.cpu_ms.is_none() && job.has(Anomaly::CpuUnknown))
    );
}

#[test]
fn a_header_wins_over_the_layout() {
    let mut source = plan(Some("UTC"));
    source.sacct.layout = Some(FixedOrder::Xdmod);
    let found = try_read(b"JobID|State|End|ElapsedRaw\n1|COMPLETED|100|5\n", source).unwrap();
    assert_eq!((found.jobs.len(), found.rejects.len()), (1, 0));
}

#[test]
fn a_row_that_breaks_off_is_truncated() {
    let mut source = plan(Some("UTC"));
    source.sacct.layout = Some(FixedOrder::Xdmod);
    let cut = XDMOD.trim_end_matches("never\n");
    let found = try_read(cut.as_bytes(), source).unwrap();
    assert_eq!(found.jobs.len(), 2);
    assert_eq!(found.rejects.first().unwrap().reason, Reason::Truncated);
}

#[test]
fn the_order_is_recognised_and_named() {
    let newer = XDMOD_8.replace(
        "|gpu:2|cpu=12,mem=48000M,node=1|",
        "|cpu=12,mem=48000M,node=1|cpu=12,mem=48000M,node=1|",
    );
    let between = XDMOD_8.replace("|125-", "|cpu=12,mem=48000M,node=1|125-");
    let none = XDMOD_8.replace("|gpu:2|", "||");
    let allocated = APEL
        .replace("|59:30.250|", "|14400|")
        .replace("|00:00:00|long", "|14400|long");
    for (dump, word) in [
        (XDMOD, "xdmod"),
        (XDMOD_8, "xdmod-8"),
        (&none, "xdmod-8"),
        (&between, "xdmod-9.0"),
        (&newer, "xdmod-9.5"),
        (APEL, "apel"),
        (&allocated, "apel"),
    ] {
        assert_eq!(
            FixedOrder::recognise(dump.as_bytes()).map(FixedOrder::as_str),
            Some(word)
        );
        assert_eq!(registry::recognise(dump.as_bytes()), Some(sacct::DIALECT), "{word}");
        let found = diagnosis::of(Some(sacct::DIALECT), dump.as_bytes());
        assert_eq!(found.layout.map(FixedOrder::as_str), Some(word));
        // Without the key the run names the one to set.
        let error = try_read(dump.as_bytes(), plan(Some("UTC"))).unwrap_err();
        assert!(error.to_string().contains(&format!("layout = \"{word}\"")), "{error}");
    }
    for other in [
        "a|b|c\n",
        "1|2|3|4|5|6\n",
        "",
        "{\"jobs\": []}",
        "JobID|State|End\n1|COMPLETED|5\n",
    ] {
        assert_eq!(FixedOrder::recognise(other.as_bytes()), None, "{other}");
    }
}

/// The report on a file, and that a run with what it proposes accounts every row.
#[test]
fn inspect_proposes_a_source_that_runs() {
    let here = tempfile::tempdir().unwrap();
    let gridtally = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(args)
            .current_dir(here.path())
            .output()
            .unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let allocated = APEL
        .replace("|59:30.250|", "|14400|")
        .replace("|00:00:00|long", "|14400|long");
    let json = format!(
        "{{\n  \"jobs\": [\n{},\n{}\n  ]\n}}\n",
        super::json::OLD,
        super::json::NEW
    );
    for (dump, layout, reported) in [
        (XDMOD, "xdmod", "fixed order of layout = \"xdmod\""),
        (APEL, "apel", "columns      15"),
        (&allocated, "apel", "CPUTimeRAW, which is allocated time"),
        (&json, "", "JSON, Slurm 23.11 or later"),
    ] {
        std::fs::write(here.path().join("dump"), dump).unwrap();
        let (code, text) = gridtally(&["inspect", "dump"]);
        assert!(code == Some(0) && text.contains(reported), "{text}");
        assert!(!text.contains("-X dump"), "{text}");
        let proposed = text.split("[[source]]").nth(1).unwrap().replace("\n  ", "\n");
        assert_eq!(proposed.contains("layout = "), !layout.is_empty(), "{text}");
        assert!(
            proposed.contains(&format!("layout = \"{layout}\"")) || layout.is_empty(),
            "{text}"
        );
        let decided = proposed
            .replace("site = \"\"", "site = \"A\"")
            .replace("cluster = \"\"", "cluster = \"zoo\"")
            .replace("timezone = \"\"", "timezone = \"UTC\"");
        let pipeline = format!("[pipeline]\nname = \"p\"\noutput = \"lake\"\nmax_rejected = 0\n[[source]]{decided}");
        std::fs::write(here.path().join("p.toml"), &pipeline).unwrap();
        let (code, text) = gridtally(&["run", "p.toml"]);
        assert_eq!(code, Some(0), "{pipeline}\n{text}");
        std::fs::remove_dir_all(here.path().join("lake")).unwrap();
        let misspelt = pipeline.replace("layout = \"", "layout = \"x");
        if misspelt != pipeline {
            std::fs::write(here.path().join("p.toml"), &misspelt).unwrap();
            let (code, text) = gridtally(&["check", "p.toml"]);
            assert!(code == Some(78) && text.contains("is not one of \"xdmod\""), "{text}");
        }
    }
}
