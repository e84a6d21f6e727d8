//! Shards whose folder, inputs and lake are in a bucket: the lake that one run makes there, and what is missing is named.

use super::{gridtally, published, reported, run, sample, upload_sample};
use crate::promises::scene::assert_same;
use crate::support::s3::S3;

#[test]
fn shards_in_a_bucket_make_the_lake_of_one_run() {
    let s3 = S3::start();
    let here = sample("s3://bucket/in");
    let here = here.path();
    upload_sample(&s3.bucket());
    run(&s3, &["run", "remote.toml", "--out", "s3://bucket/whole"], here);
    let folder = "--shard-folder=s3://bucket/shards";
    let out = "--out=s3://bucket/by-shards";

    let planned = run(&s3, &["plan", "remote.toml", "--shards", "3", folder, out], here);
    assert!(planned.contains("in 3 shards"), "{planned}");
    for shard in ["1/3", "3/3"] {
        run(&s3, &["run", "remote.toml", "--shard", shard, folder], here);
    }
    let merge = ["merge", "remote.toml", folder, out];
    let early = gridtally(&s3, &merge, here).output().unwrap();
    assert_eq!(early.status.code(), Some(66), "{}", reported(&early));
    assert!(reported(&early).contains("shard 2"), "{}", reported(&early));
    assert!(published(&s3, "by-shards").is_empty(), "nothing is published");

    let progress = run(&s3, &["submit", "progress", "remote.toml", folder], here);
    assert!(progress.contains("2 of 3"), "{progress}");
    run(&s3, &["run", "remote.toml", "--shard", "2/3", folder], here);
    let before = s3.changes();
    let again = run(&s3, &["run", "remote.toml", "--shard", "2/3", folder], here);
    assert!(again.contains("is there already"), "{again}");
    assert_eq!(s3.changes(), before, "a shard that is there is not written again");

    run(&s3, &merge, here);
    assert_same(
        &published(&s3, "whole"),
        &published(&s3, "by-shards"),
        "by shards in a bucket",
    );
    assert!(run(&s3, &["verify", "s3://bucket/by-shards"], here).contains("sound"));
}
