//! Objects larger than one part of an upload.

use super::*;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

/// Bytes that cannot be compressed, the same in every run.
pub(super) fn noise(bytes: usize) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().update(b"noise").finalize_xof().fill(&mut noise);
    noise
}

/// A dump with as many jobs, whose names fill a table that cannot be compressed well.
pub(crate) fn dump(jobs: usize) -> String {
    const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const NAME_BYTES: usize = 256;
    let noise = noise(jobs * NAME_BYTES);
    let mut text = String::from(
        "JobIDRaw|JobID|JobName|Partition|Account|User|Submit|Start|End|ElapsedRaw|State|NNodes|NCPUS|AllocTRES|TotalCPU\n",
    );
    for (n, name) in noise.chunks(NAME_BYTES).enumerate() {
        let name: String = name
            .iter()
            .map(|byte| char::from(SYMBOLS[usize::from(byte % 64)]))
            .collect();
        writeln!(
            text,
            "{n}|{n}|{name}|cpu|firn|anouk|2026-01-10T10:00:00|2026-01-10T11:00:00|2026-01-10T12:00:00|3600|COMPLETED|1|1|cpu=1,node=1|00:59:00"
        )
        .unwrap();
    }
    text
}

/// A pipeline of one such dump.
pub(crate) fn of_dump(input: &str) -> String {
    format!(
        "[pipeline]\nname = \"large\"\noutput = \"lake\"\ncalendar_timezone = \"Europe/Zurich\"\n\
         [[source]]\nname = \"alp\"\nformat = \"sacct\"\npaths = [\"{input}\"]\n\
         site = \"ALP-T2\"\ncluster = \"glacier\"\ntimezone = \"Europe/Zurich\"\nvo = {{ table = \"{vo}\" }}\n",
        vo = repository("sample-data/vo.csv").display()
    )
}

#[test]
fn large_inputs_come_in_ranges_and_large_tables_leave_in_parts() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let dump = dump(50_000);
    std::fs::write(here.join("large.txt"), &dump).unwrap();
    std::fs::write(
        here.join("local.toml"),
        of_dump(here.join("large.txt").to_str().unwrap()),
    )
    .unwrap();
    std::fs::write(here.join("remote.toml"), of_dump("s3://bucket/in/large.txt")).unwrap();
    s3.put("in/large.txt", dump.as_bytes());
    run(&s3, &["run", "local.toml", "--out", "lake"], here);

    run(&s3, &["run", "remote.toml", "--out", "s3://bucket/lake"], here);
    let asked = s3.log();
    let ranges = s3.answered("GET /bucket/in/large.txt", 206);
    assert!(ranges >= dump.len() >> 22, "{ranges} ranges of {} bytes", dump.len());
    assert_eq!(
        s3.answered("GET /bucket/in/large.txt", 200),
        0,
        "never requested as a whole"
    );
    assert!(asked.contains("partNumber=2"), "a table is larger than a part");
    assert_eq!(s3.uploads(), 0, "every upload has ended");
    let (local, remote) = (lake_hash(&here.join("lake")), published(&s3, "lake"));
    assert!(!figures(&local).is_empty());
    assert_eq!(figures(&local), figures(&remote));
    let sound = run(&s3, &["verify", "s3://bucket/lake"], here);
    assert!(sound.contains("sound"), "{sound}");
}

#[test]
fn an_upload_that_is_dropped_is_aborted() {
    let s3 = S3::start();
    let store = s3.bucket();
    let noise = noise(20_000_000);
    let mut writer = store.writer("large").unwrap();
    writer.write_all(&noise).unwrap();
    assert_eq!(s3.uploads(), 1, "under way");
    drop(writer);
    assert_eq!(s3.uploads(), 0, "aborted");
    assert!(!store.exists("large").unwrap());

    let mut writer = store.writer("large").unwrap();
    writer.write_all(&noise).unwrap();
    let written = writer.finish().unwrap();
    assert_eq!((written.bytes, s3.uploads()), (20_000_000, 0));
    let mut back = Vec::new();
    store
        .reader("large")
        .unwrap()
        .sequential()
        .read_to_end(&mut back)
        .unwrap();
    assert!(back == noise);
}

/// An upload that a signal comes upon is aborted: its parts would stay in the bucket, invisible and billed. A signal
/// leaves a second for that: on a machine too busy, the last line states that something was left, and it is tried again.
#[test]
fn a_signal_aborts_the_uploads_under_way() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    std::fs::write(here.join("large.txt"), dump(150_000)).unwrap();
    let input = here.join("large.txt");
    std::fs::write(here.join("local.toml"), of_dump(input.to_str().unwrap())).unwrap();
    let is_aborted = (0..8).any(|_| {
        let s3 = S3::start();
        let output = ended_by_a_signal(&s3, here);
        let reported = reported(&output);
        assert_eq!(output.status.code(), Some(143), "{reported}");
        assert!(reported.contains("the lake is as before"), "{reported}");
        let is_left = reported.contains("what was staged is cleared away by the next run");
        assert!(is_left || s3.uploads() == 0, "aborted: {reported}");
        assert!(is_left || published(&s3, "lake").is_empty(), "removed: {reported}");
        !is_left
    });
    assert!(is_aborted, "eight times a signal left something behind");
}

/// A run into a bucket that a signal ends when the first part of an upload is on its way.
fn ended_by_a_signal(s3: &S3, here: &Path) -> Output {
    let mut run = gridtally(s3, &["run", "local.toml", "--out", "s3://bucket/lake"], here);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let patience = Instant::now();
    while !s3.log().contains("partNumber=1") {
        assert!(run.try_wait().unwrap().is_none(), "it ended before an upload began");
        assert!(patience.elapsed().as_secs() < 900, "an upload begins");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let pid = run.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    run.wait_with_output().unwrap()
}
