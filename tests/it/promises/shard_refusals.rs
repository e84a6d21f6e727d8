//! What a merge of shards refuses, and where hosts have the files.

use std::fs;

use gridtally::config::Plan;
use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::runtime::progress::Silent;
use gridtally::shard::collected::CollectedShards;
use gridtally::shard::read::{ShardMeans, ShardNumber, read_shard};
use gridtally::shard::roots::Roots;

use super::scene::assert_same;
use super::shards::{Shared, means, nights};

#[test]
fn a_shard_that_is_missing_or_foreign_is_named_and_nothing_is_published() {
    let scene = nights();
    let shared = Shared::list(&scene, "p.toml", "lake", 4, &RunOptions::default());
    for shard in [1, 2, 4] {
        shared.read(shard);
    }
    let missing = shared.merge().unwrap_err();
    assert_eq!(missing.kind(), Kind::NoInput);
    let text = missing.to_string();
    assert!(
        text.contains("1 of 4 shards") && text.contains("shard 3 is missing"),
        "{text}"
    );
    assert!(!scene.path("lake/manifest.json").exists());
    // The manifest of a shard of another list.
    let other = Shared::list(&scene, "p.toml", "other", 3, &RunOptions::default());
    other.read(3);
    fs::copy(
        other.folder_path("shards/000003.json"),
        shared.folder_path("shards/000003.json"),
    )
    .unwrap();
    let text = shared.merge().unwrap_err().to_string();
    assert!(text.contains("shard 3 was read for another list"), "{text}");
    // Of another version.
    shared.read(3);
    let path = shared.folder_path("shards/000003.json");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        manifest.replacen("gridtally_version\": \"", "gridtally_version\": \"9", 1),
    )
    .unwrap();
    let text = shared.merge().unwrap_err().to_string();
    assert!(text.contains("shard 3 was read by gridtally 9"), "{text}");
    // Without its candidates, and with damaged ones.
    let read = shared.read(3);
    let path = shared.folder_path(&format!("candidates/{}.candidates", read.manifest.candidates));
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let text = shared.merge().unwrap_err().to_string();
    assert!(text.contains("shard 3 has lost its candidates"), "{text}");
    for at in [10, bytes.len() / 2, bytes.len() - 10] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let why = shared.merge().unwrap_err();
        assert_eq!(why.kind(), Kind::Data, "{at}: {why}");
        assert!(why.to_string().contains("shard 3"), "{why}");
        assert!(!scene.path("lake/manifest.json").exists());
    }
    fs::write(&path, &bytes).unwrap();
    shared.merge().unwrap();
    scene.run_file("p.toml", "whole", RunOptions::default()).unwrap();
    assert_same(&scene.lake("lake"), &scene.lake("whole"), "after all that");
}

#[test]
fn a_damaged_shard_is_read_again() {
    let scene = nights();
    let shared = Shared::list(&scene, "p.toml", "lake", 3, &RunOptions::default());
    let (first, second) = (shared.read(1), shared.read(2));
    shared.read(3);
    assert!(shared.read(2).is_unchanged);
    let path = shared.folder_path("shards/000002.json");
    let intact = fs::read(&path).unwrap();
    let of_another = fs::read(shared.folder_path("shards/000001.json")).unwrap();
    let text = String::from_utf8(intact.clone()).unwrap();
    let index_at = format!("\"at\": {}", second.manifest.index.at);
    assert!(text.contains(&index_at), "{text}");
    let far = text.replacen(&index_at, "\"at\": 18446744073709551615", 1);
    for (manifest, why) in [
        (Vec::new(), "shard 2 has a manifest that is damaged"),
        (intact[..intact.len() / 2].to_vec(), "shards/000002.json"),
        (of_another, "shard 2 has the manifest of shard 1"),
        (far.into_bytes(), "the candidates of shard 2 are damaged"),
    ] {
        fs::write(&path, manifest).unwrap();
        let refused = shared.merge().unwrap_err().to_string();
        assert!(refused.contains(why), "{why}: {refused}");
        assert!(!shared.read(2).is_unchanged, "{why}");
        assert_eq!(fs::read(&path).unwrap(), intact, "{why}");
    }
    // Bytes of the candidates that are flipped are found by who reads them.
    let candidates = shared.folder_path(&format!("candidates/{}.candidates", first.manifest.candidates));
    let mut bytes = fs::read(&candidates).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x55;
    fs::write(&candidates, &bytes).unwrap();
    let refused = shared.merge().unwrap_err().to_string();
    assert!(
        refused.contains("the candidates of shard 1 are damaged: read it again")
            && refused.contains(&first.manifest.candidates),
        "{refused}"
    );
    assert!(!shared.read(1).is_unchanged);
    assert!(shared.read(1).is_unchanged);
    shared.merge().unwrap();
    scene.run_file("p.toml", "whole", RunOptions::default()).unwrap();
    assert_same(&scene.lake("lake"), &scene.lake("whole"), "after all that");
}

#[test]
fn another_pipeline_or_changed_files_need_another_list() {
    let scene = nights();
    let shared = Shared::list(&scene, "p.toml", "lake", 2, &RunOptions::default());
    let text = fs::read_to_string(scene.path("p.toml")).unwrap();
    scene.write("p.toml", text.replace("site = \"OAK\"", "site = \"ASH\"").as_bytes());
    let (plan, _) = Plan::load(&scene.path("p.toml")).unwrap();
    let number = ShardNumber { shard: 1, shard_n: 2 };
    let why = read_shard(&plan, &shared.folder, number, &means(1, 1 << 26), &Silent).unwrap_err();
    assert_eq!(why.kind(), Kind::Config, "{why}");
    let why = CollectedShards::open(&shared.folder, &plan, Roots::default())
        .err()
        .unwrap();
    assert!(why.to_string().contains("another one than that of the list"), "{why}");
    let wrong = ShardNumber { shard: 1, shard_n: 3 };
    let why = read_shard(&shared.plan, &shared.folder, wrong, &means(1, 1 << 26), &Silent).unwrap_err();
    assert_eq!(why.kind(), Kind::Usage, "{why}");
    // A file that grew, and one that is gone.
    let dump = shared.scene.path("dumps/night-2026-10-21.txt");
    let bytes = fs::read(&dump).unwrap();
    fs::write(&dump, [bytes.as_slice(), b"x"].concat()).unwrap();
    let whys = || {
        (1..=2)
            .filter_map(|shard| shared.read_with(shard, &means(1, 1 << 26)).err())
            .collect::<Vec<_>>()
    };
    let grown = whys();
    assert_eq!(grown.len(), 1);
    assert!(
        grown[0].to_string().contains("when the list of shards was made"),
        "{}",
        grown[0]
    );
    fs::remove_file(&dump).unwrap();
    let gone = whys();
    assert_eq!(gone[0].kind(), Kind::NoInput, "{}", gone[0]);
    assert!(gone[0].to_string().contains("--map"), "{}", gone[0]);
}

#[test]
fn limits_of_refused_rows_hold_over_all_shards() {
    let scene = nights();
    let text = fs::read_to_string(scene.path("p.toml")).unwrap();
    scene.write(
        "p.toml",
        text.replace("max_rejected = 1.0", "max_rejected = 3").as_bytes(),
    );
    let whole = scene.run_file("p.toml", "whole", RunOptions::default()).unwrap_err();
    let shared = Shared::list(&scene, "p.toml", "lake", 3, &RunOptions::default());
    for shard in 1..=3 {
        shared.read(shard);
    }
    let by_shards = shared.merge().unwrap_err();
    assert_eq!(by_shards.kind(), Kind::Data);
    assert_eq!(by_shards.to_string(), whole.to_string());
    assert!(!scene.path("lake/manifest.json").exists());
}

#[test]
fn mapped_roots_find_the_files_of_another_host() {
    let scene = nights();
    scene.run_file("p.toml", "whole", RunOptions::default()).unwrap();
    let shared = Shared::list(&scene, "p.toml", "lake", 2, &RunOptions::default());
    fs::rename(scene.path("dumps"), scene.path("elsewhere")).unwrap();
    assert_eq!(
        shared.read_with(1, &means(1, 1 << 26)).unwrap_err().kind(),
        Kind::NoInput
    );
    let root = |path: &str| scene.path(path).to_str().unwrap().to_owned();
    let map = format!("{}={}", root("dumps"), root("elsewhere"));
    let roots = Roots::new(vec![map.parse().unwrap()]);
    for shard in 1..=2 {
        let means = ShardMeans {
            roots: roots.clone(),
            ..means(2, 1 << 26)
        };
        shared.read_with(shard, &means).unwrap();
    }
    // The merge needs none of them.
    fs::remove_dir_all(scene.path("elsewhere")).unwrap();
    shared.merge().unwrap();
    assert_same(&scene.lake("lake"), &scene.lake("whole"), "on another host");
}

#[test]
fn the_longest_root_decides_and_names_are_not_cut() {
    let roots = ["/data=/mnt/data/", "/data/deep=s3://bucket/deep", "/=/media"].map(|text| text.parse().unwrap());
    let roots = Roots::new(roots.to_vec());
    assert_eq!(roots.here("/data/a.txt"), "/mnt/data/a.txt");
    assert_eq!(roots.here("/data/deep/a"), "s3://bucket/deep/a");
    assert_eq!(roots.here("/database/a"), "/media/database/a");
    assert_eq!(Roots::default().here("/data/a"), "/data/a");
    for wrong in ["", "a", "=a", "a="] {
        assert!(wrong.parse::<gridtally::shard::roots::MappedRoot>().is_err(), "{wrong}");
    }
}
