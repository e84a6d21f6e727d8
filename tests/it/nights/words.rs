//! Messages that name the remedy.

use std::io;
use std::process::Command;

use gridtally::error::{Error, Kind, STATE_KEY};

use super::{Nights, jobs};

/// The output of `check` for a pipeline.
fn checked(head: &str, keys: &str) -> String {
    let nights = Nights::new(head, keys);
    nights.write("dumps/a.txt", &jobs(1, 2));
    nights.write("vo.csv", "account;vo\na;b\n");
    nights.write(
        "policy.toml",
        "id = \"x\"\nversion = \"1\"\ntitle = \"x\"\nsource = \"x\"\npool = \"cpu\"\nunit = \"core_hour\"\n\
         formula = \"cores * (hours\"\nbilling_is = \"who\"\n\n[[let]]\nname = \"who\"\nis = \"'me'\"\n",
    );
    String::from_utf8(nights.gridtally(&["check", "p.toml"]).stderr).unwrap()
}

#[test]
fn a_format_by_another_name_is_suggested() {
    for (wrong, right) in [
        ("slurm", "sacct"),
        ("torque", "pbs"),
        ("gratia", "gracc"),
        ("Condor", "htcondor"),
    ] {
        let source = format!("[[source]]\nname = \"t\"\nformat = \"{wrong}\"\npaths = [\"dumps\"]\nsite = \"X\"");
        let stated = checked("", &source);
        assert!(stated.contains(&format!("did you mean \"{right}\"?")), "{stated}");
    }
}

#[test]
fn a_zone_is_suggested_only_for_a_slip_of_the_pen() {
    let zone = |name: &str| checked(&format!("calendar_timezone = \"{name}\""), "");
    assert!(zone("Europe/Zurych").contains("did you mean \"Europe/Zurich\"?"));
    assert!(zone("europe/Pargue").contains("did you mean \"Europe/Prague\"?"));
    for name in ["Europe/Lausanne", "Europe/Bern", "Europe/Lyon", "America/Boston"] {
        let stated = zone(name);
        assert!(!stated.contains("did you mean") && stated.contains("IANA"), "{stated}");
    }
}

#[test]
fn a_text_without_quotes_is_reported_as_such() {
    let stated = checked("overlap = jobs", "");
    assert!(
        stated.contains("p.toml:4: overlap = jobs: text needs quotes: overlap = \"jobs\""),
        "{stated}"
    );
    assert!(checked("", "cluster = oak # ours").contains("cluster = oak: text needs quotes: cluster = \"oak\""));
    let stated = checked("overlap = [", "");
    assert!(!stated.contains("needs quotes"), "{stated}");
}

#[test]
fn a_table_of_semicolons_is_reported_as_such() {
    let source =
        "[[source]]\nname = \"t\"\nformat = \"sacct\"\npaths = [\"dumps\"]\nsite = \"X\"\nvo = { table = \"vo.csv\" }";
    let stated = checked("", source);
    assert!(
        stated.contains("vo.csv:1: the columns are separated by semicolons, commas are needed: account,vo"),
        "{stated}"
    );
    assert_eq!(stated.lines().count(), 1, "{stated}");
}

#[test]
fn listings_and_tables_of_sites_of_semicolons_are_reported_as_such() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 7));
    assert_eq!(nights.run(&[]).0, 0);
    nights.write("sites.csv", "site;federation\nOAK;F\n");
    let output = nights.gridtally(&["report", "wlcg", "lake", "--sites", "sites.csv"]);
    let stated = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(78), "{stated}");
    assert!(
        stated.contains("the columns are separated by semicolons, commas are needed: site,federation")
            && stated.contains("sites.csv:1"),
        "{stated}"
    );
    let tables = [
        (
            "auto",
            "node;cpu_n;memory_byte\na1;8;1000\na2;8;1000\n",
            "node,cpu_n,memory_byte",
        ),
        ("csv", "# of October\nnode\tcpu_n\na1\t8\n", "node,cpu_n"),
        (
            "auto",
            "reservation;start;end\nr;2026-10-01;2026-10-02\n",
            "reservation,start,end",
        ),
    ];
    let pipeline = std::fs::read_to_string(nights.folder().join("p.toml")).unwrap();
    for (format, table, commas) in tables {
        nights.write("nodes.csv", table);
        nights.write(
            "q.toml",
            &format!("{pipeline}[[inventory]]\nname = \"m\"\nformat = \"{format}\"\npaths = [\"nodes.csv\"]\nsite = \"OAK\"\n"),
        );
        let output = nights.gridtally(&["run", "q.toml"]);
        let stated = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(65), "{stated}");
        assert!(
            stated.contains("nodes.csv: nothing was read") && stated.contains(&format!("commas are needed: {commas}")),
            "{stated}"
        );
    }
}

#[test]
fn what_is_not_there_is_reported_with_the_line_that_names_it() {
    let source = "[[source]]\nname = \"t\"\nformat = \"sacct\"\npaths = [\"dumps\",\n  \"other/*.txt\"]\nsite = \"X\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }";
    let stated = checked("", source);
    assert!(
        stated.contains("p.toml:16: source t: other/*.txt matches no file"),
        "{stated}"
    );
    let source = "corrections = \"gone.csv\"";
    let stated = checked(source, "");
    assert!(
        stated.contains("gone.csv: cannot be read") && stated.contains("(named in p.toml:4)"),
        "{stated}"
    );
}

#[test]
fn a_formula_with_an_open_bracket_is_reported_with_its_place() {
    let stated = checked("", "[[charge]]\npolicies = [\"policy.toml\"]");
    assert!(
        stated.contains("\"cores * (hours\" is not a formula: the bracket at character 9 is not closed"),
        "{stated}"
    );
    assert!(
        stated.contains("billing_is names a number, and \"who\" is a text"),
        "{stated}"
    );
    assert!(!stated.contains("as Expr"), "{stated}");
}

#[test]
fn a_full_disk_is_reported_as_such() {
    const AS_BEFORE: &str = "nothing was published, the lake is as before";
    let full = |kind: io::ErrorKind| object_store_error(io::Error::from(kind));
    let stated = full(io::ErrorKind::StorageFull)
        .of_full_disk("/data/out")
        .of_state(AS_BEFORE);
    assert_eq!(stated.kind(), Kind::Io);
    assert_eq!(
        stated.to_string(),
        "no space left on /data/out (path .gridtally/staging/00000007); nothing was published, the lake is as before"
    );
    let begun = full(io::ErrorKind::StorageFull).at(STATE_KEY, "it has begun");
    let begun = begun.of_full_disk("/data/out").of_state(AS_BEFORE).to_string();
    assert!(
        !begun.contains("as before") && begun.ends_with("00000007); it has begun"),
        "{begun}"
    );
    let other = full(io::ErrorKind::PermissionDenied)
        .of_full_disk("/data/out")
        .to_string();
    assert!(!other.contains("space"), "{other}");
    let spilled = Error::from(io::Error::from(io::ErrorKind::StorageFull)).of_full_disk("/data/out");
    assert!(spilled.to_string().contains("temporary files"), "{spilled}");
}

fn object_store_error(why: io::Error) -> Error {
    let refused = object_store::Error::Generic {
        store: "LocalFileSystem",
        source: Box::new(io::Error::other(why)),
    };
    Error::from(refused).at("path", ".gridtally/staging/00000007")
}

/// A limit on the size of files stands for a disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_run_without_room_states_it_and_changes_nothing() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 2));
    assert_eq!(nights.run(&[]).0, 0);
    let before = std::fs::read(nights.folder().join("lake/manifest.json")).unwrap();
    nights.write("dumps/b.txt", &jobs(100, 20_000));
    // The signal of the limit ends a process that does not expect it.
    for trap in ["", "trap '' XFSZ; "] {
        let script = format!("{trap}ulimit -f 8; exec {} run p.toml", env!("CARGO_BIN_EXE_gridtally"));
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(nights.folder())
            .output()
            .unwrap();
        let stated = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{trap}: {stated}");
        assert!(
            stated.contains("nothing was published, the lake is as before"),
            "{stated}"
        );
    }
    assert_eq!(
        before,
        std::fs::read(nights.folder().join("lake/manifest.json")).unwrap()
    );
}
