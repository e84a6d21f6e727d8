//! The keys of the pipeline file that only logs have.

use gridtally::config::Plan;
use gridtally::record::Anomaly;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::lines::LogLimits;
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::swf;

use crate::support::collect::{Collected, input, plan};

/// The mistakes or remarks of loading a source with these keys.
fn reported(keys: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.toml");
    let text =
        format!("[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"a\"\npaths = [\"in\"]\n{keys}\n");
    std::fs::write(&file, text).unwrap();
    Plan::load(&file)
        .map(|(_, remarks)| remarks)
        .map_err(|why| why.to_string())
}

#[test]
fn logs_of_batch_systems_need_a_site() {
    for format in ["pbs", "sge", "lsf", "htcondor", "swf"] {
        let why = reported(&format!("format = \"{format}\"")).unwrap_err();
        assert!(why.contains(&format!("{format} names no site")), "{why}");
        let remarks = reported(&format!("format = \"{format}\"\nsite = \"S\"")).unwrap();
        assert_eq!(remarks, [""; 0], "{format}");
    }
    assert_eq!(reported("format = \"blah\"").unwrap(), [""; 0]);
}

#[test]
fn keys_that_do_nothing_are_reported() {
    for (keys, stated) in [
        ("format = \"apel\"\nblah = [\"x\"]", "blah does nothing for apel"),
        (
            "format = \"swf\"\nsite = \"S\"\nblah = [\"x\"]",
            "blah does nothing for swf",
        ),
        ("format = \"pbs\"\nsite = \"S\"\nblah = []", "blah is empty"),
        (
            "format = \"pbs\"\nsite = \"S\"\nblah = \"x\"",
            "blah must be a list of texts",
        ),
        (
            "format = \"swf\"\nsite = \"S\"\nunix_start_time = \"2001-01-01\"",
            "unix_start_time must be a whole number",
        ),
    ] {
        let why = reported(keys).unwrap_err();
        assert!(why.contains(stated), "{why}");
    }
    for (keys, stated) in [
        ("unix_start_time = 0", "unix_start_time does nothing for pbs"),
        ("timezone = \"Europe/Zurich\"", "timezone does nothing for pbs"),
        ("start_from = \"submit\"", "start_from does nothing for pbs"),
        ("delimiter = \"|\"", "delimiter does nothing for pbs"),
    ] {
        let remarks = reported(&format!("format = \"pbs\"\nsite = \"S\"\n{keys}")).unwrap();
        assert!(remarks.iter().any(|remark| remark.contains(stated)), "{remarks:?}");
    }
}

#[test]
fn lv_20_what_arrives_scaled_is_not_scaled_again() {
    let with = |rows: &str, keys: &str, format: &str| {
        let folder = tempfile::tempdir().unwrap();
        let head = "site,cluster,nodes,node_class,benchmark,value_per_core,valid_from,valid_to\n";
        std::fs::write(folder.path().join("b.csv"), format!("{head}{rows}")).unwrap();
        let file = folder.path().join("p.toml");
        let text = format!(
            "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"a\"\npaths = [\"in\"]\nsite = \"S\"\n\
             format = \"{format}\"\n{keys}\n[normalise]\nbenchmarks = \"b.csv\"\nmissing = \"null\"\n"
        );
        std::fs::write(&file, text).unwrap();
        Plan::load(&file)
            .map(|(_, remarks)| remarks)
            .map_err(|why| why.to_string())
    };
    let plain = "scaled_to = { benchmark = \"si00\", value = 1000 }";
    let back = "scaled_to = { benchmark = \"si00\", value = 1000, unscale = true }";
    assert_eq!(with("S,,,,si00,1330,,\n", plain, "pbs").unwrap(), [""; 0]);
    for rows in ["S,,n1,,si00,1330,,\n", ",,,old,si00,1330,,\n"] {
        for format in ["pbs", "sge", "lsf", "htcondor"] {
            let why = with(rows, plain, format).unwrap_err();
            assert!(
                why.contains("p.toml:9: scaled twice: the times of a arrive scaled"),
                "{why}"
            );
            assert!(
                why.contains("line 2 of the benchmarks scales nodes in si00 again"),
                "{why}"
            );
            assert_eq!(with(rows, back, format).unwrap(), [""; 0]);
        }
    }
    // Nodes of another site, or in another benchmark, are no second scaling.
    assert_eq!(
        with("T,,n1,,si00,1330,,\nS,,n1,,hs06,5.32,,\n", plain, "pbs").unwrap(),
        [""; 0]
    );
    let remarks = with("S,,,,si00,1330,,\n", back, "pbs").unwrap();
    assert!(remarks[0].contains("unscale = true does nothing"), "{remarks:?}");
    for (keys, format, stated) in [
        (plain, "sacct", "scaled_to does nothing for sacct"),
        (
            "scaled_to = { benchmark = \"si0\", value = 1 }",
            "pbs",
            "benchmark = \"si0\" is not one of",
        ),
        ("scaled_to = { benchmark = \"si00\" }", "pbs", "scaled_to has no value"),
        (
            "scaled_to = { benchmark = \"si00\", value = 0 }",
            "pbs",
            "value: \"0\" must be above zero",
        ),
        (
            "scaled_to = { benchmark = \"si00\", value = 1, times = \"all\" }",
            "pbs",
            "times = \"all\" is not one of",
        ),
        (
            "scaled_to = { benchmark = \"si00\", value = 1, unscale = 1 }",
            "pbs",
            "unscale must be true or false",
        ),
        ("scaled_to = 1000", "pbs", "scaled_to"),
    ] {
        let why = with("S,,,,si00,1330,,\n", keys, format).unwrap_err();
        assert!(why.contains(stated), "{why}");
    }
    let why = reported(&format!("format = \"pbs\"\nsite = \"S\"\n{plain}")).unwrap_err();
    assert!(why.contains("scaled_to needs a [normalise]"), "{why}");
}

#[test]
fn swf_without_wait_times_may_start_when_submitted() {
    let text = "; UnixStartTime: 1000000\n7 100 -1 60 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n";
    let mut source = ReaderOptions::clone(&plan(swf::DIALECT.format(), Acceptance::default()));
    source.swf.unix_start_time = None;
    source.swf.is_start_submit = true;
    let all = Collected::all(swf::pieces(input(text.as_bytes()), &source, LogLimits::default()).unwrap()).unwrap();
    let row = &all.jobs[0].row;
    assert_eq!((row.submit_ms, row.start_ms), (None, Some(1_000_100_000)));
    assert_eq!(
        (row.end_ms, row.anomalies),
        (Some(1_000_160_000), Anomaly::TimeAssumed.bit())
    );
    // A wait time that is stated holds.
    let known = text.replace("100 -1 60", "100 30 60");
    let all = Collected::all(swf::pieces(input(known.as_bytes()), &source, LogLimits::default()).unwrap()).unwrap();
    let row = &all.jobs[0].row;
    assert_eq!(
        (row.submit_ms, row.start_ms),
        (Some(1_000_100_000), Some(1_000_130_000))
    );
    assert!(swf::lacks_waits(text.as_bytes()) && !swf::lacks_waits(known.as_bytes()));
}
