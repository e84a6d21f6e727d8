//! Shards and their merge publish what one run publishes, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gridtally::config::Plan;
use gridtally::error::{Kind, Result};
use gridtally::ingest::summary_limits::SummaryLimits;
use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};
use gridtally::run::stages::{list_shards, merge_into};
use gridtally::runtime::progress::Silent;
use gridtally::shard::collected::CollectedShards;
use gridtally::shard::folder::ShardFolder;
use gridtally::shard::list::{ListedFile, ShardList};
use gridtally::shard::read::{ReadShard, ShardMeans, ShardNumber, read_shard};
use gridtally::shard::roots::Roots;

use super::joined;
use super::repair;
use super::scene::{Pipeline, Scene, assert_same};
use super::together::{JOBS, SUMMARY};

/// A list of a pipeline file, and the folder it is in.
pub(super) struct Shared<'a> {
    pub(super) scene: &'a Scene,
    pub(super) plan: Plan,
    options: RunOptions,
    pub(super) folder: ShardFolder,
    pub(super) list: ShardList,
}

pub(super) fn means(threads: usize, memory_byte_n: usize) -> ShardMeans {
    ShardMeans {
        roots: Roots::default(),
        threads,
        memory_byte_n,
        summary_limits: SummaryLimits::default(),
    }
}

impl<'a> Shared<'a> {
    pub(super) fn list(scene: &'a Scene, file: &str, out: &str, shard_n: u32, options: &RunOptions) -> Self {
        let (plan, _) = Plan::load(&scene.path(file)).unwrap();
        let options = RunOptions {
            out: Some(scene.path(out).to_str().unwrap().to_owned()),
            ..options.clone()
        };
        let place = scene.path(&format!("{out}.shards"));
        let folder = ShardFolder::create(place.to_str().unwrap()).unwrap();
        let list = list_shards(&plan, &options, shard_n, &Silent).unwrap_or_else(|why| panic!("{why}"));
        folder.put_list(&list).unwrap();
        Self {
            scene,
            plan,
            options,
            folder,
            list,
        }
    }

    pub(super) fn read_with(&self, shard: u32, means: &ShardMeans) -> Result<ReadShard> {
        let shard_n = self.list.head.shard_n;
        read_shard(&self.plan, &self.folder, ShardNumber { shard, shard_n }, means, &Silent)
    }

    pub(super) fn read(&self, shard: u32) -> ReadShard {
        self.read_with(shard, &means(2, 1 << 26))
            .unwrap_or_else(|why| panic!("{why}"))
    }

    pub(super) fn merge(&self) -> Result<RunReport> {
        let shards = CollectedShards::open(&self.folder, &self.plan, Roots::default())?;
        let mut report = RunReport::new(&self.plan, &self.options);
        merge_into(&self.plan, &self.options, shards, &Silent, &mut report)?;
        Ok(report)
    }

    fn all(&self) -> RunReport {
        for shard in 1..=self.list.head.shard_n {
            self.read(shard);
        }
        self.merge().unwrap_or_else(|why| panic!("{why}"))
    }

    pub(super) fn folder_path(&self, path: &str) -> std::path::PathBuf {
        self.folder.local_root().unwrap().join(path)
    }
}

/// Runs a pipeline file by shards into a lake.
fn sharded(scene: &Scene, file: &str, out: &str, shard_n: u32) -> RunReport {
    Shared::list(scene, file, out, shard_n, &RunOptions::default()).all()
}

/// What a report holds of the content of a run, and nothing of its times.
fn content(report: &RunReport) -> String {
    let mut value = serde_json::to_value(report).unwrap();
    let of = value.as_object_mut().unwrap();
    for name in [
        "run_id",
        "run_uuid",
        "started_utc",
        "finished_utc",
        "seconds",
        "phases",
        "runs_head",
        "output",
        "manifest_blake3",
    ] {
        of.remove(name);
    }
    serde_json::to_string_pretty(&value).unwrap()
}

fn assert_equal(scene: &Scene, file: &str, shard_n: &[u32]) {
    let whole = scene
        .run_file(file, "whole", RunOptions::default())
        .unwrap_or_else(|why| panic!("{why}"));
    let expected = scene.lake("whole");
    for n in shard_n {
        let out = format!("by-{n}");
        let report = sharded(scene, file, &out, *n);
        assert_same(&scene.lake(&out), &expected, &format!("{n} shards"));
        assert_eq!(content(&report), content(&whole), "{n} shards");
        assert_eq!(scene.findings(&out), []);
        // A run of its own finds nothing to do.
        let again = scene.run_file(file, &out, RunOptions::default()).unwrap();
        assert_eq!(again.status, Status::Unchanged);
    }
}

#[test]
fn shards_of_sacct_apel_and_gracc_publish_the_bytes_of_one_run() {
    let scene = Scene::sample();
    scene.file(&Pipeline::sample());
    assert_equal(&scene, "pipeline.toml", &[1, 2, 7]);
}

#[test]
fn a_list_has_every_file_once_and_is_balanced() {
    let scene = Scene::sample();
    scene.file(&Pipeline::sample());
    let shared = Shared::list(&scene, "pipeline.toml", "out", 4, &RunOptions::default());
    let text = shared.list.to_text().unwrap();
    let again = Shared::list(&scene, "pipeline.toml", "out", 4, &RunOptions::default());
    assert_eq!(again.list.to_text().unwrap(), text);
    assert_eq!(ShardList::parse(&text).unwrap(), shared.list);
    let files: Vec<(String, String)> = (shared.list.files.iter())
        .map(|file| (file.source.clone(), file.path.clone()))
        .collect();
    let expected = Pipeline::sample().files().len();
    assert_eq!(files.iter().collect::<BTreeSet<_>>().len(), expected);
    assert_eq!(files.len(), expected);
    // A second copy of a file is in no shard.
    let (known, read): (Vec<_>, Vec<_>) = shared.list.files.iter().partition(|file| file.is_known);
    assert!(read.iter().all(|file| file.shard.is_some_and(|n| (1..=4).contains(&n))));
    assert!(known.iter().all(|file| file.shard.is_none()));
    for copy in &known {
        let is_same = |file: &&&ListedFile| file.blake3 == copy.blake3 && file.source == copy.source;
        assert_eq!(read.iter().filter(is_same).count(), 1, "{copy:?}");
    }
    let largest = shared.list.files.iter().map(|file| file.bytes).max().unwrap();
    let bytes = shared.list.bytes();
    let (least, most) = (*bytes.iter().min().unwrap(), *bytes.iter().max().unwrap());
    assert!(least > 0 && most - least <= largest, "{bytes:?}");
    // There are no more shards than files.
    let many = Shared::list(&scene, "pipeline.toml", "out", 1000, &RunOptions::default());
    assert_eq!(usize::try_from(many.list.head.shard_n).unwrap(), read.len());
    let cut = text.lines().take(3).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(ShardList::parse(&cut).unwrap_err().kind(), Kind::Data);
}

/// Three overlapping nights, one of them under two names, a file of messages, an empty one, rows that are refused, and listings.
pub(super) fn nights() -> Scene {
    const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n";
    let row = |id: u32, hours: u32, day: u32| {
        let state = if hours > 2 { "COMPLETED" } else { "RUNNING" };
        format!(
            "{id}|oak|u{}|a|{state}|2026-10-{day:02}T00:00:00|2026-10-{day:02}T00:00:00|2026-10-{day:02}T0{hours}:00:00|{}|2|\
             cpu=2,node=1|00:10:00\n",
            id % 7,
            hours * 3600
        )
    };
    let scene = Scene::empty();
    let night = |night: u32| {
        let rows = (0..400)
            .map(|n| row(night * 200 + n, 1 + night, 1 + n % 20))
            .collect::<String>();
        let bad = format!("{}|oak|u|a|COMPLETED|x|y|never|1|1|cpu=1|00:00:01\n", 9000 + night);
        format!("{HEADER}{rows}{bad}{}", row(77, 3, 2))
    };
    for n in 1..=3 {
        scene.write(&format!("dumps/night-2026-10-2{n}.txt"), night(n).as_bytes());
    }
    scene.write("dumps/copy-of-2.txt", night(2).as_bytes());
    scene.write("dumps/empty.txt", b"");
    scene.write("dumps/failed.txt", b"sacct: error: slurmdbd: Connection refused\n");
    scene.write("dumps/odd.txt", b"\x00\x01\x02 nothing that is known \xff\n");
    scene.write(
        "p.toml",
        b"[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 1.0\ncopied_jobs = \"keep\"\n[[source]]\nname = \"oak\"\n\
          format = \"sacct\"\npaths = [\"dumps\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n",
    );
    scene
}

#[test]
fn overlapping_nights_copies_and_files_of_nothing_are_as_in_one_run() {
    let scene = nights();
    assert_equal(&scene, "p.toml", &[1, 2, 5]);
}

#[test]
fn a_lake_that_knows_some_files_takes_the_others_from_shards() {
    let scene = nights();
    scene.run_file("p.toml", "whole", RunOptions::default()).unwrap();
    let late = scene.path("dumps/night-2026-10-22.txt");
    let (copy, bytes) = (scene.path("dumps/copy-of-2.txt"), fs::read(&late).unwrap());
    fs::remove_file(&late).unwrap();
    fs::remove_file(&copy).unwrap();
    scene.run_file("p.toml", "lake", RunOptions::default()).unwrap();
    scene.write("dumps/night-2026-10-22.txt", &bytes);
    scene.write("dumps/copy-of-2.txt", &bytes);
    let shared = Shared::list(&scene, "p.toml", "lake", 9, &RunOptions::default());
    assert_eq!(shared.list.shared_out_n(), 1, "one of the two equal files");
    let report = shared.all();
    assert_eq!(report.files_read_n, 1);
    assert_same(&scene.lake("lake"), &scene.lake("whole"), "the rest by shards");
    // The lake is now another than that of the list: nothing is left to be done, and what shards have is not taken twice.
    assert_eq!(shared.merge().unwrap().status, Status::Unchanged);
}

#[test]
fn what_a_lake_took_since_the_list_was_made_is_left_out() {
    let scene = nights();
    scene.run_file("p.toml", "whole", RunOptions::default()).unwrap();
    let shared = Shared::list(&scene, "p.toml", "lake", 2, &RunOptions::default());
    for shard in 1..=2 {
        shared.read(shard);
    }
    // One of the files comes into the lake on another way.
    let pipeline = fs::read_to_string(scene.path("p.toml")).unwrap();
    let one = pipeline.replace("\"dumps\"", "\"dumps/night-2026-10-21.txt\"");
    scene.write("one.toml", one.as_bytes());
    scene.run_file("one.toml", "lake", RunOptions::default()).unwrap();
    let report = shared.merge().unwrap();
    assert!(report.files_read_n > 0);
    assert_same(&scene.lake("lake"), &scene.lake("whole"), "all but one by shards");
    assert_eq!(scene.findings("lake"), []);
}

#[test]
fn months_of_a_list_are_those_of_its_merge() {
    let scene = Scene::sample();
    scene.file(&Pipeline::sample());
    let options = RunOptions {
        from: Some("2026-02".parse().unwrap()),
        to: Some("2026-03".parse().unwrap()),
        ..RunOptions::default()
    };
    scene.run_file("pipeline.toml", "whole", options.clone()).unwrap();
    let shared = Shared::list(&scene, "pipeline.toml", "by-shards", 3, &options);
    shared.all();
    assert_eq!(shared.list.window().unwrap().from, Some("2026-02".parse().unwrap()));
    assert_same(&scene.lake("by-shards"), &scene.lake("whole"), "two months");
}

#[test]
fn logs_of_a_ce_complete_the_jobs_of_every_shard() {
    let (scene, ce, batch) = joined::scene();
    scene.file(&joined::pipeline(&ce, &batch));
    assert_equal(&scene, "pipeline.toml", &[1, 3, 6]);
}

#[test]
fn repair_files_mend_rows_that_shards_have_read() {
    let scene = repair::scene();
    scene.write("night.toml", repair::PIPELINE.as_bytes());
    repair::prepare_mended(&scene);
    assert_equal(&scene, "night.toml", &[1, 4]);
}

#[test]
fn summaries_and_listings_are_as_in_one_run() {
    let scene = Scene::empty();
    for day in 1..=5 {
        let later = SUMMARY.replace("NumberOfJobs: 7", &format!("NumberOfJobs: {}", 7 + day));
        let other = SUMMARY.replace("VO: reef", &format!("VO: reef{day}"));
        scene.write(
            &format!("in/2026040{day}-summary.msg"),
            format!("{later}{}\n", other.lines().skip(1).collect::<Vec<_>>().join("\n")).as_bytes(),
        );
    }
    scene.write("in/jobs.msg", JOBS.as_bytes());
    scene.write(
        "nodes/nodes-2026-03-01.txt",
        b"NodeName=a CPUTot=4 RealMemory=1000 CfgTRES=cpu=4,mem=1000M State=IDLE\n",
    );
    scene.write(
        "nodes/nodes-2026-03-02.txt",
        b"NodeName=a CPUTot=many\nNodeName=b CPUTot=8 RealMemory=1000 State=IDLE\n",
    );
    for (overlap, name) in [("jobs", "jobs.toml"), ("summaries", "summaries.toml")] {
        let pipeline = format!(
            "[pipeline]\nname = \"p\"\noutput = \"out\"\noverlap = \"{overlap}\"\nmax_rejected = 1.0\n[[source]]\nname = \"s\"\n\
             format = \"apel\"\npaths = [\"in\"]\nacceptance = \"salvage\"\n[[inventory]]\nname = \"nodes\"\npaths = [\"nodes\"]\n\
             site = \"B\"\ncluster = \"c\"\nas_of = \"path\"\ntimezone = \"UTC\"\n"
        );
        scene.write(name, pipeline.as_bytes());
        let shared = Shared::list(&scene, name, &format!("list-{overlap}"), 3, &RunOptions::default());
        // The merge reads the listings itself.
        assert_eq!((shared.list.shared_out_n(), shared.list.others_n()), (6, 2));
        for lake in ["whole", "by-1", "by-4"] {
            let _ = fs::remove_dir_all(scene.path(lake));
        }
        assert_equal(&scene, name, &[1, 4]);
    }
}

#[test]
fn withheld_names_are_as_in_one_run() {
    let scene = nights();
    let text = fs::read_to_string(scene.path("p.toml")).unwrap();
    scene.write("p.toml", format!("{text}[privacy]\nuser = \"drop\"\n").as_bytes());
    assert_equal(&scene, "p.toml", &[3]);
}

#[test]
fn shards_may_be_in_a_bucket() {
    let scene = nights();
    scene.run_file("p.toml", "whole", RunOptions::default()).unwrap();
    let mut shared = Shared::list(&scene, "p.toml", "lake", 3, &RunOptions::default());
    shared.folder = ShardFolder::create("memory://shards-may-be-in-a-bucket/zoo").unwrap();
    shared.folder.put_list(&shared.list).unwrap();
    assert_eq!(shared.folder.local_root(), None);
    let missing = shared.merge().unwrap_err();
    assert!(missing.to_string().contains("3 of 3 shards"), "{missing}");
    shared.all();
    assert_same(&scene.lake("lake"), &scene.lake("whole"), "by way of a bucket");
}

/// Names and bytes of what shards have written.
fn products(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for below in ["shards", "candidates"] {
        for entry in fs::read_dir(folder.join(below)).unwrap() {
            let path = entry.unwrap().path();
            let hash = blake3::hash(&fs::read(&path).unwrap()).to_hex().to_string();
            found.insert(format!("{below}/{}", path.file_name().unwrap().to_str().unwrap()), hash);
        }
    }
    found
}

#[test]
fn a_shard_is_the_same_bytes_whatever_its_threads_and_memory() {
    let scene = Scene::sample();
    scene.file(&Pipeline::sample());
    let mut all = Vec::new();
    for (threads, memory) in [(1, 1 << 27), (3, 1 << 27), (4, 1 << 15), (1, 1 << 13)] {
        let out = format!("by-{threads}-{memory}");
        let shared = Shared::list(&scene, "pipeline.toml", &out, 2, &RunOptions::default());
        for shard in 1..=2 {
            let read = shared.read_with(shard, &means(threads, memory)).unwrap();
            assert!(!read.is_unchanged);
            let name = format!("candidates/{}.candidates", read.manifest.candidates);
            let bytes = fs::read(shared.folder_path(&name)).unwrap();
            assert_eq!(blake3::hash(&bytes).to_hex().to_string(), read.manifest.candidates);
            // Again, and nothing happens.
            assert!(shared.read(shard).is_unchanged);
        }
        all.push(products(&shared.folder_path("")));
    }
    for (at, other) in all.iter().enumerate().skip(1) {
        assert_eq!(all[0], *other, "{at}");
    }
    assert_eq!(all[0].len(), 4);
}
