//! Publications that come in several messages.

use super::V03;
use super::lake::{Scene, normalised, totals};

/// A spool in which March was published twice, each time in two messages; the second time one user is gone, and one of
/// its messages contain nothing about the site B. Names carry seconds: the parts arrive 2 s apart, the publications a day.
fn in_parts() -> Scene {
    let scene = Scene::new();
    let message = |records: &[String]| format!("{V03}{}", records.concat());
    for (name, records) in [
        (
            "in/00000001/55d00000000000",
            vec![normalised("A", 3, "/CN=a", 5), normalised("B", 3, "/CN=a", 7)],
        ),
        ("in/00000001/55d00002000000", vec![normalised("B", 3, "/CN=b", 8)]),
        (
            "in/00000001/55d15180000000",
            vec![normalised("A", 3, "/CN=a", 6), normalised("B", 3, "/CN=a", 9)],
        ),
        ("in/00000001/55d15182000000", vec![normalised("A", 3, "/CN=c", 1)]),
    ] {
        scene.write(name, &message(&records));
    }
    scene
}

#[test]
fn a_publication_may_be_several_files() {
    let scene = in_parts();
    let of = |parts: &str| format!("publication = \"source\"\nsummaries = \"snapshot\"\n{parts}");
    let jobs = |lake: &str| totals(&scene.summaries(lake, "summary")).1;
    // File by file, the last message alone is March.
    scene.run("file", "", &of(""), &["in"]).unwrap();
    assert_eq!(jobs("file"), 1);
    let within = of("publication_parts = { within_s = 60 }");
    let report = scene.run("within", "", &within, &["in"]).unwrap();
    assert_eq!(jobs("within"), 6 + 9 + 1);
    // Rows of A and B that came again are replaced, that of B's second user is dropped.
    assert_eq!(report.reasons["superseded/stale_summary"], 1);
    assert_eq!(report.reasons["superseded/later_summary"], 2);
    // Pauses that are too short, exactly long enough, and so long that two days are one publication.
    for (within_s, expected) in [(1, 1), (2, 16), (86_398, 16 + 8), (86_397, 16)] {
        let lake = format!("within-{within_s}");
        let keys = of(&format!("publication_parts = {{ within_s = {within_s} }}"));
        scene.run(&lake, "", &keys, &["in"]).unwrap();
        assert_eq!(jobs(&lake), expected, "{within_s}");
    }
    // Where sites publish for themselves, the last of A spans both messages and that of B is one.
    let per_site = within.replace("source", "site");
    scene.run("per-site", "", &per_site, &["in"]).unwrap();
    assert_eq!(jobs("per-site"), 6 + 1 + 9);
    // Message by message, in any order: the same bytes as at once.
    let files = ["00000", "00002", "15180", "15182"].map(|at| format!("in/00000001/55d{at}000000"));
    for (lake, order) in [("forwards", [0, 1, 2, 3]), ("backwards", [3, 2, 1, 0])] {
        let mut seen: Vec<&str> = Vec::new();
        for at in order {
            seen.push(&files[at]);
            scene.run(lake, "", &within, &seen).unwrap();
        }
        scene.run(lake, "", &within, &["in"]).unwrap();
        assert_eq!(scene.bytes(lake), scene.bytes("within"), "{lake}");
    }
    // A change of mind is a rebuild.
    scene.run("file", "", &within, &["in"]).unwrap();
    assert_eq!(scene.bytes("file"), scene.bytes("within"));
}

#[test]
fn a_folder_may_be_a_publication() {
    let scene = Scene::new();
    for (name, site, user, n) in [
        ("2017-04-02/1.msg", "A", "/CN=a", 5),
        ("2017-04-02/2.msg", "B", "/CN=a", 7),
        ("2017-04-09/1.msg", "A", "/CN=a", 6),
        ("2017-04-09/2.msg", "A", "/CN=b", 1),
    ] {
        scene.write(&format!("in/{name}"), &format!("{V03}{}", normalised(site, 3, user, n)));
    }
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"\npublication_parts = \"folder\"";
    scene.run("out", "", keys, &["in"]).unwrap();
    assert_eq!(totals(&scene.summaries("out", "summary")).1, 7);
    // By arrivals these files have none: each is one of its own.
    let keys = keys.replace("\"folder\"", "{ within_s = 600 }");
    scene.run("within", "", &keys, &["in"]).unwrap();
    assert_eq!(totals(&scene.summaries("within", "summary")).1, 1);
    for (keys, stated) in [
        ("publication_parts = \"folder\"", "does nothing without publication"),
        ("publication = \"source\"\npublication_parts = \"batch\"", "\"folder\""),
        (
            "publication = \"source\"\npublication_parts = { within_s = 0 }",
            "within_s",
        ),
        (
            "publication = \"source\"\npublication_parts = { within = 9 }",
            "within_s",
        ),
    ] {
        let wrong = scene.run("wrong", "", keys, &["in"]).unwrap_err().to_string();
        assert!(wrong.contains(stated), "{wrong}");
    }
}
