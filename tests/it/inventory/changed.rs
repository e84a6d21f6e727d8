//! Settings of inventories that change: their listings are read again, or leave the lake, and never count as before unnoticed.

use std::fs;
use std::process::Command;

use gridtally::schema::batch::{text, time};

use super::lake::{Scene, without_runs};

/// Listings of four days; those of two have the same bytes.
const LISTINGS: [(&str, &str); 4] = [
    (
        "nodes-2026-10-25.txt",
        "NodeName=a1 CPUTot=4 RealMemory=1024 State=IDLE\n",
    ),
    (
        "nodes-2026-10-26.txt",
        "NodeName=a1 CPUTot=8 RealMemory=1024 State=IDLE\n",
    ),
    (
        "nodes-2026-10-27.txt",
        "NodeName=a1 CPUTot=4 RealMemory=1024 State=IDLE\n",
    ),
    (
        "nodes-2026-10-28.txt",
        "NodeName=a1 CPUTot=six State=IDLE\nNodeName=a2 CPUTot=6 State=IDLE\n",
    ),
];

/// A pipeline whose inventory has these settings; none where they are empty.
fn pipeline(inventory: &str) -> String {
    let inventory = if inventory.is_empty() {
        String::new()
    } else {
        format!("[[inventory]]\npaths = [\"in\"]\nsite = \"A\"\ncluster = \"zoo\"\n{inventory}\n")
    };
    format!(
        "[pipeline]\nname = \"zoo\"\noutput = \"lake\"\nmax_rejected = 1.0\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
         paths = [\"jobs.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n{inventory}"
    )
}

fn scene() -> Scene {
    let scene = Scene::new();
    fs::create_dir(scene.folder.path().join("in")).unwrap();
    for (name, text) in LISTINGS {
        scene.write(&format!("in/{name}"), text);
    }
    scene
}

/// Nodes and when they were listed.
fn listed(scene: &Scene) -> Vec<(String, String)> {
    let mut listed = Vec::new();
    for batch in scene.rows("node") {
        let (names, times) = (text(&batch, "node").unwrap(), time(&batch, "as_of_utc").unwrap());
        listed.extend((0..batch.num_rows()).map(|row| {
            let at = jiff::Timestamp::from_millisecond(times.value(row)).unwrap();
            (at.to_string(), names.value(row).to_owned())
        }));
    }
    listed.sort();
    listed
}

/// What a run warns of.
fn run_warned(scene: &Scene, pipeline: &str) -> String {
    scene.write("p.toml", pipeline);
    let run = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["run", "p.toml"])
        .current_dir(scene.folder.path())
        .output()
        .unwrap();
    let words = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success(), "{words}");
    words
}

/// However the dates of listings were set before, the lake is the one that was made with the settings of now.
#[test]
fn listings_that_are_dated_otherwise_are_read_again() {
    let zurich = "name = \"machine\"\nas_of = \"path\"\ntimezone = \"Europe/Zurich\"";
    let settings = [
        zurich,
        "name = \"machine\"\nas_of = \"path\"\ntimezone = \"UTC\"",
        "name = \"machine\"\nas_of = 2026-10-29\ntimezone = \"UTC\"",
        "name = \"machine\"\nas_of = \"path\"",
        "name = \"machine\"\nas_of = 2026-10-30",
        "name = \"machine\"",
        zurich,
    ];
    let changed = scene();
    for settings in settings {
        let warned = run_warned(&changed, &pipeline(settings));
        assert!(!warned.contains("settings changed"), "{settings}: {warned}");
        changed.run(&pipeline(settings));
        let fresh = scene();
        fresh.run(&pipeline(settings));
        assert_eq!(without_runs(changed.bytes()), without_runs(fresh.bytes()), "{settings}");
    }
    let days = ["24", "25", "26", "27"].map(|day| {
        let hour = if day == "24" { "22" } else { "23" };
        format!("2026-10-{day}T{hour}:00:00Z")
    });
    let nodes = ["a1", "a1", "a1", "a2"].map(str::to_owned);
    assert_eq!(listed(&changed), days.into_iter().zip(nodes).collect::<Vec<_>>());
}

/// What cannot be read again is not lost: the warning names it.
#[test]
fn listings_that_are_gone_keep_their_rows_and_are_named() {
    let scene = scene();
    let of = |zone: &str| pipeline(&format!("name = \"machine\"\nas_of = \"path\"\ntimezone = \"{zone}\""));
    scene.run(&of("Europe/Zurich"));
    // The same bytes are there under another day: they are not those of this one.
    fs::remove_file(scene.folder.path().join("in/nodes-2026-10-25.txt")).unwrap();
    // A file that moved is still there.
    fs::create_dir(scene.folder.path().join("in/old")).unwrap();
    let moved = |path: &str| scene.folder.path().join("in").join(path);
    fs::rename(moved("nodes-2026-10-26.txt"), moved("old/2026-10-26.txt")).unwrap();
    let warned = run_warned(&scene, &of("UTC"));
    let wanted = "inventory machine: its settings changed, and not all of its listings can be read again. Those that are gone or were \
                  overwritten keep the rows that were read under the former settings: in/nodes-2026-10-25.txt\n";
    assert!(warned.contains(wanted), "{warned}");
    let wanted = [
        ("2026-10-24T22:00:00Z", "a1"),
        ("2026-10-26T00:00:00Z", "a1"),
        ("2026-10-27T00:00:00Z", "a1"),
        ("2026-10-28T00:00:00Z", "a2"),
    ];
    assert_eq!(
        listed(&scene),
        wanted.map(|(at, node)| (at.to_owned(), node.to_owned()))
    );
    // Once.
    assert!(!run_warned(&scene, &of("UTC")).contains("settings changed"));
}

/// A listing that is overwritten each day, whose day is set by hand, leaves the former one in the lake: nothing to warn of.
#[test]
fn the_next_day_of_an_overwritten_listing_is_no_correction() {
    let scene = Scene::new();
    fs::create_dir(scene.folder.path().join("in")).unwrap();
    let of = |day: &str, zone: &str| {
        pipeline(&format!(
            "name = \"machine\"\nas_of = 2026-10-{day}\ntimezone = \"{zone}\""
        ))
    };
    scene.write("in/nodes.txt", LISTINGS[0].1);
    assert!(!run_warned(&scene, &of("25", "UTC")).contains("settings changed"));
    scene.write("in/nodes.txt", LISTINGS[1].1);
    assert!(!run_warned(&scene, &of("26", "UTC")).contains("settings changed"));
    assert_eq!(scene.count("node"), 2);
    // Another zone would date the former one otherwise.
    let warned = run_warned(&scene, &of("26", "Europe/Zurich"));
    assert!(warned.contains("under the former settings: in/nodes.txt\n"), "{warned}");
    assert_eq!(scene.count("node"), 2);
}

/// An inventory that is taken out, or renamed, counts no longer, and the run names what left.
#[test]
fn an_inventory_that_is_taken_out_leaves_the_lake() {
    let scene = scene();
    let of = |name: &str| pipeline(&format!("name = \"{name}\"\nas_of = \"path\"\ntimezone = \"UTC\""));
    let left = "inventory machine: the pipeline no longer names it. What it listed is no longer in force: in/nodes-2026-10-25.txt, \
                in/nodes-2026-10-26.txt, in/nodes-2026-10-27.txt, in/nodes-2026-10-28.txt; rows of node 4\n";
    for next in [of("nodes"), pipeline("")] {
        scene.run(&of("machine"));
        assert_eq!(scene.count("node"), 4);
        let warned = run_warned(&scene, &next);
        assert!(warned.contains(left), "{warned}");
        let warned = run_warned(&scene, &next);
        assert!(!warned.contains("no longer"), "{warned}");
        scene.run(&next);
        let fresh = self::scene();
        fresh.run(&next);
        assert_eq!(without_runs(scene.bytes()), without_runs(fresh.bytes()));
    }
    assert_eq!((scene.count("node"), scene.count("records")), (0, 1));
}

/// What could not be read again is kept: a machine that is no more was there once.
#[test]
fn an_inventory_that_is_taken_out_keeps_listings_that_are_gone() {
    let scene = scene();
    let machine = pipeline("name = \"machine\"\nas_of = \"path\"\ntimezone = \"UTC\"");
    scene.run(&machine);
    let place = |name: &str| scene.folder.path().join("in").join(name);
    fs::rename(place("nodes-2026-10-25.txt"), place("gone")).unwrap();
    scene.write(
        "in/nodes-2026-10-26.txt",
        "NodeName=a1 CPUTot=9 RealMemory=1024 State=IDLE\n",
    );
    let warned = run_warned(&scene, &pipeline(""));
    let left = "no longer in force: in/nodes-2026-10-27.txt, in/nodes-2026-10-28.txt; rows of node 2\n";
    assert!(warned.contains(left), "{warned}");
    let kept = "Listings that are gone or were overwritten stay in force; to take them out, bring them back for one run: \
                in/nodes-2026-10-25.txt, in/nodes-2026-10-26.txt\n";
    assert!(warned.contains(kept), "{warned}");
    assert_eq!(scene.count("node"), 2);
    // Once, until one of them is there again.
    let warned = run_warned(&scene, &pipeline(""));
    assert!(!warned.contains("no longer"), "{warned}");
    fs::rename(place("gone"), place("nodes-2026-10-25.txt")).unwrap();
    let warned = run_warned(&scene, &pipeline(""));
    assert!(
        warned.contains("no longer in force: in/nodes-2026-10-25.txt; rows of node 1\n"),
        "{warned}"
    );
    assert_eq!(scene.count("node"), 1);
}
