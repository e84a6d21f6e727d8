//! The keys of the pipeline file that only logs have.

use gridtally::pipeline::Plan;

/// What loading a source with these keys says: mistakes, or remarks.
fn told(keys: &str) -> Result<Vec<String>, String> {
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
        let why = told(&format!("format = \"{format}\"")).unwrap_err();
        assert!(why.contains(&format!("{format} names no site")), "{why}");
        let remarks = told(&format!("format = \"{format}\"\nsite = \"S\"")).unwrap();
        assert_eq!(remarks, [""; 0], "{format}");
    }
    assert_eq!(told("format = \"blah\"").unwrap(), [""; 0]);
}

#[test]
fn keys_that_do_nothing_are_told() {
    for (keys, said) in [
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
        let why = told(keys).unwrap_err();
        assert!(why.contains(said), "{why}");
    }
    for (keys, said) in [
        ("unix_start_time = 0", "unix_start_time does nothing for pbs"),
        ("timezone = \"Europe/Zurich\"", "timezone does nothing for pbs"),
        ("delimiter = \"|\"", "delimiter does nothing for pbs"),
    ] {
        let remarks = told(&format!("format = \"pbs\"\nsite = \"S\"\n{keys}")).unwrap();
        assert!(remarks.iter().any(|remark| remark.contains(said)), "{remarks:?}");
    }
}
