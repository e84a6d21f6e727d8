//! What makes the dataset again, and what takes it away.

use gridtally::run::run_report::Status;

use super::{DumpJob, HEAD, LABS, NO_DECAY, Scene, fairshare, listing, pipeline};

fn scene() -> Scene {
    Scene::of_jobs(&[
        DumpJob::new(1, "lab", "ann", "2026-02-27T10:00:00", 7_200, 3),
        DumpJob::new(2, "inst", "cid", "2026-03-01T10:00:00", 7_200, 5),
    ])
}

#[test]
fn other_settings_make_the_dataset_again() {
    let scene = scene();
    scene.run(&pipeline(NO_DECAY));
    let mut former = scene.bytes("lake");
    assert_eq!(former.len(), 2);
    for keys in [
        "half_life = \"1-00:00:00\"",
        "half_life = \"1-00:00:00\"\ncalc_period = \"00:10:00\"",
        "half_life = \"1-00:00:00\"\ncalc_period = \"00:10:00\"\ncalc_anchor = \"2026-01-01T00:01:00Z\"",
        "half_life = \"1-00:00:00\"\ndecay = \"continuous\"",
        "half_life = \"1-00:00:00\"\ndecay = \"halving-steps\"",
        "half_life = \"none\"\nreset = \"monthly\"",
        "half_life = \"none\"\nalgorithm = \"classic\"",
        "half_life = \"none\"\nalgorithm = \"classic\"\ndampening_factor = 3",
        "half_life = \"none\"\npriority_weight = 1000",
        "half_life = \"none\"\nusage_factors = { normal = 1.5 }",
    ] {
        let report = scene.run(&pipeline(keys));
        assert_eq!((report.status, report.files_read_n), (Status::Published, 0), "{keys}");
        let bytes = scene.bytes("lake");
        for (path, bytes) in &bytes {
            assert!(former[path] != *bytes, "{keys}: {path} is as before");
        }
        assert_eq!(scene.run(&pipeline(keys)).status, Status::Unchanged, "{keys}");
        former = bytes;
    }
    scene.run(&pipeline(NO_DECAY));
    let again = scene.bytes("lake");
    scene.run_into(&pipeline(NO_DECAY), "other", None);
    assert!(again == scene.bytes("other"), "what was set before leaves no trace");
}

#[test]
fn another_listing_makes_the_dataset_again() {
    let scene = scene();
    scene.run(&pipeline(NO_DECAY));
    let share = |scene: &Scene| scene.row("2026-02-28", "lab").unwrap().share_n;
    assert_eq!(share(&scene), Some(30));
    scene.write(
        "shares.txt",
        &listing("oak", &LABS.replace("lab|root|||30", "lab|root|||31")),
    );
    scene.run(&pipeline(NO_DECAY));
    assert_eq!(share(&scene), Some(31), "a month without new jobs as well");
    assert_eq!(scene.run(&pipeline(NO_DECAY)).status, Status::Unchanged);
}

#[test]
fn a_listed_half_life_counts_until_the_pipeline_states_one() {
    let scene = scene();
    scene.write(
        "shares.conf",
        "ClusterName=oak\nPriorityDecayHalfLife=1-0\nNodeName=c1 CPUs=2\n",
    );
    let head = HEAD.replace("\"shares*.txt\"", "\"shares.txt\", \"shares.conf\"");
    let of = |keys: &str| format!("{head}{}", fairshare("oak", keys));
    scene.run(&of(""));
    let listed = scene.own_s("2026-03-01", "lab/ann").unwrap();
    // Of six hours of billing, two and a half half-lives before.
    assert!((3_600..3_900).contains(&listed), "{listed}");
    scene.run(&of(NO_DECAY));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(3 * 7_200));
    scene.write(
        "shares.conf",
        "ClusterName=oak\nPriorityDecayHalfLife=0\nNodeName=c1 CPUs=2\n",
    );
    scene.run(&of(""));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(3 * 7_200));
}

#[test]
fn without_the_section_the_dataset_is_taken_away() {
    let scene = scene();
    scene.run(&pipeline(NO_DECAY));
    let report = scene.run(HEAD);
    assert_eq!(
        report
            .removed
            .iter()
            .filter(|path| path.starts_with("fairshare/"))
            .count(),
        2
    );
    assert!(scene.bytes("lake").is_empty());
    assert_eq!(scene.run(HEAD).status, Status::Unchanged);
    let output = scene.gridtally(&["report", "sshare", "lake"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(66), "{stderr}");
    assert!(
        stderr.contains("the lake has no fairshare: its pipeline has no [[fairshare]]"),
        "{stderr}"
    );
}

#[test]
fn a_second_cluster_is_added_and_taken_away_alone() {
    let elm = DumpJob {
        cluster: "elm",
        ..DumpJob::new(3, "lab", "ann", "2026-03-01T10:00:00", 60, 1)
    };
    let scene = scene();
    scene.write("jobs-2.txt", &super::dump(&[elm]));
    scene.write("shares-elm.txt", &listing("elm", LABS));
    scene.run(&pipeline(NO_DECAY));
    let oak = scene.bytes("lake");
    let both = format!("{}{}", pipeline(NO_DECAY), fairshare("elm", NO_DECAY));
    let report = scene.run(&both);
    assert_eq!(
        report
            .written
            .iter()
            .filter(|path| path.starts_with("fairshare/"))
            .count(),
        1
    );
    assert_eq!(scene.bytes("lake").len(), 3);
    let output = scene.gridtally(&["report", "sshare", "lake"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("choose with --cluster (elm, oak)"), "{stderr}");
    let (elm, _) = scene.done(&["report", "sshare", "lake", "--cluster", "elm", "--parsable"]);
    assert!(elm.contains("root|||0.000000|60|1.000000|"), "{elm}");
    scene.run(&pipeline(NO_DECAY));
    assert!(scene.bytes("lake") == oak);
}
