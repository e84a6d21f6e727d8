//! Inventories in a pipeline: published, accounted for, not written again, and never in the way of the records.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use arrow_array::RecordBatch;
use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::run::run_report::{RunReport, Status};
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::{date, decimal, int, text, time};
use gridtally::store::{Manifest, Store, read_table};
use tempfile::TempDir;

const NODES: &str = "NodeName=a1 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=1024 Partitions=p CfgTRES=cpu=4 State=IDLE\n\
    NodeName=a2 CPUTot=four State=IDLE\nNodeName=a3 CPUTot=8 RealMemory=2048 Gres=gpu:t4:2 State=DOWN\n";
const CONF: &str =
    "ClusterName=zoo\nNodeName=n[1-3] CPUs=2\nPartitionName=p Nodes=ALL TRESBillingWeights=\"CPU=1.0,Mem=0.25G\"\n";
const EVENTS: &str = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\nzoo|a1|2026-11-01T00:00:00|Unknown|DOWN|x\n";
const ASSOC: &str = "Cluster|Account|User|Share\nzoo|root||1\nzoo|bio|ada|parent\n";
const JOBS: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU\n\
    1|zoo|u|a|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|2|00:10:00\n";

pub(super) struct Scene {
    pub(super) folder: TempDir,
}

impl Scene {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scene = Self { folder };
        for (name, text) in [
            ("nodes.txt", NODES),
            ("slurm.conf", CONF),
            ("events.txt", EVENTS),
            ("assoc.txt", ASSOC),
            ("jobs.txt", JOBS),
        ] {
            scene.write(name, text);
        }
        scene
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// A pipeline with one source and one inventory.
    fn pipeline(as_of: &str, vo: &str, paths: &str) -> String {
        format!(
            "[pipeline]\nname = \"zoo\"\noutput = \"lake\"\nmax_rejected = 1.0\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
             paths = [\"jobs.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"{vo}\" }}\n[[inventory]]\nname = \"machine\"\n\
             paths = [{paths}]\nsite = \"A\"\ncluster = \"other\"\ntimezone = \"Europe/Zurich\"\nas_of = {as_of}\n"
        )
    }

    pub(super) fn run(&self, pipeline: &str) -> RunReport {
        self.write("p.toml", pipeline);
        let (plan, _) = Plan::load(&self.folder.path().join("p.toml")).unwrap();
        let report = stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
        let found = verify::verify(self.lake().to_str().unwrap()).unwrap();
        assert!(found.is_sound(), "{}", found.text());
        report
    }

    pub(super) fn lake(&self) -> std::path::PathBuf {
        self.folder.path().join("lake")
    }

    pub(super) fn rows(&self, dataset: &str) -> Vec<RecordBatch> {
        let store = Store::open_existing(self.lake().to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let files = manifest.dataset(dataset);
        files
            .flat_map(|file| read_table(store.reader(&file.path).unwrap(), None, 1000).unwrap())
            .map(Result::unwrap)
            .collect()
    }

    pub(super) fn count(&self, dataset: &str) -> usize {
        self.rows(dataset).iter().map(RecordBatch::num_rows).sum()
    }

    /// Hash of every published file but the log of runs.
    pub(super) fn bytes(&self) -> BTreeMap<String, String> {
        let store = Store::open_existing(self.lake().to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        manifest
            .files()
            .map(|file| (file.path.clone(), file.blake3.clone()))
            .collect()
    }
}

/// The files that equal inputs have in common, however many runs read them.
pub(super) fn without_runs(bytes: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_of_lake = |path: &str| !path.starts_with("runs/") && path != "seal.json";
    bytes.into_iter().filter(|(path, _)| is_of_lake(path)).collect()
}

const ALL: &str = "\"nodes.txt\", \"slurm.conf\", \"events.txt\", \"assoc.txt\"";

#[test]
fn every_row_is_published_or_accounted_for() {
    let scene = Scene::new();
    let report = scene.run(&Scene::pipeline("2026-11-01", "v", ALL));
    let counts = ["node", "node_event", "partition", "billing_weight", "association"].map(|name| scene.count(name));
    assert_eq!(counts, [5, 1, 1, 2, 2]);
    assert_eq!(report.reasons.get("rejected/bad_number"), Some(&1));
    assert_eq!(
        report.reasons.get("accepted/inventory"),
        Some(&7),
        "{:?}",
        report.reasons
    );
    assert_eq!(report.reasons.get("out_of_scope/setting"), Some(&1));
    assert_eq!(report.reasons.get("accepted/job"), Some(&1));
    let nodes = scene.rows("node");
    for batch in &nodes {
        let (cluster, names) = (text(batch, "cluster").unwrap(), text(batch, "node").unwrap());
        for row in 0..batch.num_rows() {
            let expected = if names.value(row).starts_with('n') {
                "zoo"
            } else {
                "other"
            };
            assert_eq!(cluster.value(row), expected, "the file's own word wins");
            assert_eq!(text(batch, "site").unwrap().value(row), "A");
            // Midnight in Zurich.
            assert_eq!(time(batch, "as_of_utc").unwrap().value(row), 1_793_487_600_000);
        }
    }
    let weights = scene.rows("billing_weight");
    let batch = weights.first().unwrap();
    assert_eq!(text(batch, "tres").unwrap().value(1), "mem");
    assert_eq!(decimal(batch, "weight").unwrap().value(1), 250_000_000_000);
    assert_eq!(int(batch, "per_n").unwrap().value(1), 1 << 30);
    assert_eq!(date(scene.rows("usage").first().unwrap(), "month").unwrap().len(), 1);
}

#[test]
fn nothing_is_written_again_and_equal_inputs_give_equal_bytes() {
    let scene = Scene::new();
    let pipeline = Scene::pipeline("2026-11-01", "v", ALL);
    scene.run(&pipeline);
    let before = scene.bytes();
    assert_eq!(scene.run(&pipeline).status, Status::Unchanged);
    assert_eq!(scene.bytes(), before);
    // Night by night, in another order: the same lake.
    let other = Scene::new();
    for paths in ["\"assoc.txt\"", "\"assoc.txt\", \"events.txt\"", ALL] {
        other.run(&Scene::pipeline("2026-11-01", "v", paths));
    }
    assert_eq!(without_runs(other.bytes()), without_runs(before));
}

#[test]
fn a_new_day_is_added_and_settings_of_the_machine_leave_records_alone() {
    let scene = Scene::new();
    scene.run(&Scene::pipeline("2026-11-01", "v", ALL));
    // The listing is overwritten in place, as a nightly job does: the former one stays, dated.
    scene.write("nodes.txt", &NODES.replace("CPUTot=4", "CPUTot=6"));
    let report = scene.run(&Scene::pipeline("2026-11-02", "v", ALL));
    assert!(
        report.written.iter().all(|path| !path.starts_with("records/")),
        "{:?}",
        report.written
    );
    assert_eq!(scene.count("node"), 7);
    let mut seen: Vec<(String, i64, i64)> = Vec::new();
    for batch in scene.rows("node") {
        let (names, cpus, days) = (
            text(&batch, "node").unwrap(),
            int(&batch, "cpu_n").unwrap(),
            time(&batch, "as_of_utc").unwrap(),
        );
        seen.extend((0..batch.num_rows()).map(|row| {
            (
                names.value(row).to_owned(),
                cpus.value(row),
                days.value(row) / 86_400_000,
            )
        }));
    }
    seen.sort();
    assert_eq!(seen.first(), Some(&("a1".to_owned(), 4, 20_757)));
    assert_eq!(seen.get(1), Some(&("a1".to_owned(), 6, 20_758)));
    // Records are rebuilt when their source changes, although an inventory file is gone.
    let report = scene.run(&Scene::pipeline("2026-11-02", "w", ALL));
    assert!(
        report.written.iter().any(|path| path.starts_with("records/")),
        "{:?}",
        report.written
    );
    assert_eq!((scene.count("node"), scene.count("records")), (7, 1));
    assert_eq!(
        scene.run(&Scene::pipeline("2026-11-02", "w", ALL)).status,
        Status::Unchanged
    );
}

#[test]
fn jobs_and_machines_are_not_mixed_up() {
    let scene = Scene::new();
    let report = scene.run(&Scene::pipeline("2026-11-01", "v", "\"nodes.txt\", \"jobs.txt\""));
    assert_eq!(report.reasons.get("rejected/unreadable_file"), Some(&1));
    assert_eq!(scene.count("records"), 1);
    scene.write("junk", "no such thing\n");
    let report = scene.run(&Scene::pipeline("2026-11-01", "v", "\"nodes.txt\", \"junk\""));
    assert_eq!(report.reasons.get("rejected/unreadable_file"), Some(&2));
}

#[test]
fn mistakes_of_an_inventory_are_reported_at_once() {
    let scene = Scene::new();
    let text = Scene::pipeline("\"November\"", "v", ALL)
        .replace("name = \"machine\"", "name = \"jobs\"\nformat = \"scontrol\"");
    scene.write("p.toml", &text);
    let reported = Plan::load(&scene.folder.path().join("p.toml")).unwrap_err().to_string();
    for part in ["as_of = \"November\"", "is also called \"jobs\"", "\"scontrol-node\""] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let bare = "[pipeline]\nname = \"m\"\noutput = \"lake\"\n[[inventory]]\nname = \"m\"\npaths = [\"nodes.txt\"]\n";
    // Whether a file of the others states when it was true is known when it is read.
    for (format, is_warned) in [("scontrol-node", true), ("scontrol-config", false), ("auto", false)] {
        scene.write("p.toml", &format!("{bare}format = \"{format}\"\n"));
        let (_, warnings) = Plan::load(&scene.folder.path().join("p.toml")).unwrap();
        assert_eq!(
            warnings.iter().any(|warning| warning.contains("no as_of")),
            is_warned,
            "{format}: {warnings:?}"
        );
    }
}

#[test]
fn rows_without_a_date_are_a_warning_of_the_run_that_reads_them() {
    const CONFIG: &str = "ClusterName = zoo\nPriorityFlags = MAX_TRES\nPriorityType = priority/multifactor\n";
    let scene = Scene::new();
    let pipeline = "[pipeline]\nname = \"zoo\"\noutput = \"lake\"\n[[inventory]]\nname = \"machine\"\npaths = [\"config.txt\"]\n\
                    site = \"A\"\ntimezone = \"UTC\"\n";
    scene.write("p.toml", pipeline);
    for (title, is_warned) in [
        ("Configuration data as of 2026-11-27T23:43:29\n", false),
        ("Configuration data as of some day\n", true),
    ] {
        scene.write("config.txt", &(title.to_owned() + CONFIG));
        let run = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["run", "p.toml"])
            .current_dir(scene.folder.path())
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{words}");
        assert_eq!(
            words.contains(
                "inventory machine: no as_of, and the files do not state when they were true: 2 rows have no date"
            ),
            is_warned,
            "{words}"
        );
    }
}

#[test]
fn the_path_of_a_listing_may_state_when_it_was_true() {
    let scene = Scene::new();
    let paths = [
        ("nodes-2026-10-25.txt", "2026-10-24T22:00:00Z"),
        ("20261026/nodes.txt", "2026-10-25T23:00:00Z"),
        ("2026/10/27/2026-nodes-11111111.txt", "2026-10-26T23:00:00Z"),
        ("old-2020-01-01/2026.10.28T0600.txt", "2026-10-27T23:00:00Z"),
    ];
    for (nth, (path, _)) in paths.iter().enumerate() {
        fs::create_dir_all(scene.folder.path().join("in").join(path).parent().unwrap()).unwrap();
        scene.write(&format!("in/{path}"), &format!("NodeName=a{nth} CPUTot=4 State=IDLE\n"));
    }
    scene.run(&Scene::pipeline("\"path\"", "v", "\"in\""));
    let mut reported = BTreeMap::new();
    for batch in scene.rows("node") {
        for row in 0..batch.num_rows() {
            let ms = time(&batch, "as_of_utc").unwrap().value(row);
            let node = text(&batch, "node").unwrap().value(row).to_owned();
            reported.insert(node, jiff::Timestamp::from_millisecond(ms).unwrap().to_string());
        }
    }
    let wanted = paths
        .iter()
        .enumerate()
        .map(|(nth, (_, at))| (format!("a{nth}"), (*at).to_owned()));
    assert_eq!(reported, wanted.collect());

    // A machine may be again what it was: the same bytes of another day are another listing.
    let nodes = "NodeName=a9 CPUTot=4 State=IDLE\n";
    scene.write("in/nodes-2026-11-01.txt", nodes);
    scene.write("in/nodes-2026-11-02.txt", &nodes.replace('4', "8"));
    scene.write("in/nodes-2026-11-03.txt", nodes);
    scene.write("in/copy-2026-11-03.txt", nodes);
    scene.run(&Scene::pipeline("\"path\"", "v", "\"in\""));
    assert_eq!(scene.count("node"), paths.len() + 3);

    // No date is invented for a path without one.
    for path in [
        "nodes.txt",
        "in/2026-13-01.txt",
        "in/12026-10-01.txt",
        "in/2026-1001.txt",
    ] {
        scene.write(path, NODES);
        scene.write("p.toml", &Scene::pipeline("\"path\"", "v", &format!("{path:?}")));
        let (plan, _) = Plan::load(&scene.folder.path().join("p.toml")).unwrap();
        let why = stages::run(&plan, &RunOptions::default(), &Silent).unwrap_err();
        assert!(why.to_string().contains("names no day"), "{path}: {why}");
    }
    // Events have their own times.
    scene.run(&Scene::pipeline("\"path\"", "v", "\"events.txt\""));
}

#[test]
fn inspect_knows_an_inventory_and_proposes_one() {
    let scene = Scene::new();
    let inspect = |name: &str| -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .arg("inspect")
            .arg(Path::new(name))
            .current_dir(scene.folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let seen = inspect("nodes.txt");
    for part in [
        "scontrol-node",
        "cpu_n 12",
        "gpu_n 2",
        "node 2",
        "[[inventory]]",
        "set as_of",
        "1 bad_number",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let seen = inspect("slurm.conf");
    assert!(seen.contains("billing_weight 2") && seen.contains("zoo"), "{seen}");
    let seen = inspect("events.txt");
    assert!(seen.contains("node_event 1") && seen.contains("timezone ="), "{seen}");
}
