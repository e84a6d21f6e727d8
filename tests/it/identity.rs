//! Identities and hashes of content: their bytes are in every lake, so that they stay as they are from version to version.

use gridtally::dedupe::hashed_bytes::HashedBytes;
use gridtally::dedupe::identity::{IdentityContent, job_hash, record_id};
use gridtally::ledger::{JobSample, JobSampler};
use gridtally::record::row::JobRow;
use gridtally::record::unchanged_columns::UnchangedColumns;
use gridtally::sources::sacct::DIALECT;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Texts of every length around those that are written in words, zeros at their ends among them.
fn texts() -> impl Iterator<Item = String> {
    let of_len = |len: usize| {
        let plain: String = ('a'..='z').cycle().take(len).collect();
        [plain.replace('a', "\0"), plain.replace('c', "\0"), plain]
    };
    (0..40).flat_map(of_len)
}

/// As a text is hashed: behind its length.
fn written(text: &str) -> Vec<u8> {
    let mut bytes = text.len().to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[test]
fn what_is_hashed_holds_every_byte_and_none_from_before() {
    let mut hashed = HashedBytes::default();
    for first in texts() {
        for second in texts() {
            hashed.clear();
            assert!(hashed.as_slice().is_empty());
            hashed.text(&first);
            hashed.push(*b"k");
            hashed.text(&second);
            hashed.number(-2);
            let mut expected = written(&first);
            expected.push(b'k');
            expected.extend(written(&second));
            expected.extend((-2_i64).to_le_bytes());
            assert_eq!(hashed.as_slice(), expected, "{first:?} and {second:?}");
        }
    }
    hashed.clear();
    hashed.put_first([1_i64.to_le_bytes(), [0xff; 8]]);
    hashed.text("behind");
    hashed.put_first([i64::MIN.to_le_bytes(), 7_i64.to_le_bytes()]);
    let mut expected = [i64::MIN.to_le_bytes(), 7_i64.to_le_bytes()].concat();
    expected.extend(written("behind"));
    assert_eq!(hashed.as_slice(), expected);
}

fn row() -> JobRow<'static> {
    JobRow {
        view: "batch",
        cluster: Some("fell"),
        job_id: "1277340_12",
        raw_job_id: Some("1277352"),
        account: Some("chemistry"),
        user: Some("dunya"),
        partition: Some("cpu"),
        qos: Some("normal"),
        state: Some("COMPLETED"),
        submit_ms: Some(1_767_225_600_000),
        start_ms: Some(1_767_227_296_000),
        end_ms: Some(1_767_232_153_500),
        suspended_s: Some(0),
        cpu_ms: Some(75_540_000),
        alloc_core_n: Some(16),
        alloc_node_n: Some(1),
        exit_code: Some(0),
        exit_signal: Some(0),
        ..JobRow::default()
    }
}

#[test]
fn the_identity_of_a_job_is_its_cluster_number_and_start() {
    let mut scratch = HashedBytes::default();
    let mut of = |row: &JobRow<'_>, record_ms: i64| record_id(DIALECT, "FELL", row, record_ms, &mut scratch);
    let started = [
        written("sacct"),
        written("FELL"),
        b"s".to_vec(),
        written("fell"),
        written("1277352"),
    ]
    .concat();
    let started = [started, 1_767_227_296_000_i64.to_le_bytes().to_vec()].concat();
    assert_eq!(of(&row(), 1_767_227_296_000), xxh3_128(&started));
    let waiting = JobRow {
        start_ms: None,
        raw_job_id: None,
        cluster: None,
        ..row()
    };
    let queued = [
        written("sacct"),
        written("FELL"),
        b"q".to_vec(),
        written(""),
        written("1277340_12"),
    ]
    .concat();
    let queued = [queued, 5_i64.to_le_bytes().to_vec()].concat();
    assert_eq!(of(&waiting, 5), xxh3_128(&queued));
    let keyed = JobRow {
        identity_key: Some("a key of a server"),
        ..row()
    };
    let by_key = [
        written("sacct"),
        written("FELL"),
        b"k".to_vec(),
        written("a key of a server"),
    ]
    .concat();
    assert_eq!(of(&keyed, 5), xxh3_128(&by_key));
    let mut times = written("1277352");
    times.extend(1_767_227_296_i64.to_le_bytes());
    times.extend(1_767_232_153_i64.to_le_bytes());
    assert_eq!(
        job_hash(&row(), 1_767_227_296_000, 1_767_232_153_500, &mut scratch),
        xxh3_64(&times)
    );
}

#[test]
fn the_content_of_a_row_is_all_that_is_accounted() {
    let none = i64::MIN;
    let numbers = |cpu_ms: i64| {
        let of_times = [
            1_767_225_600_000,
            1_767_227_296_000,
            1_767_232_153_500,
            4_857_500,
            0,
            cpu_ms,
        ];
        let of_amounts = [16, 1, none, none, none, none, none, 0, 0, none];
        [&of_times[..], &of_amounts[..]]
            .concat()
            .into_iter()
            .flat_map(i64::to_le_bytes)
    };
    let texts = [
        "biology",
        "\0",
        "\0",
        "chemistry",
        "dunya",
        "cpu",
        "normal",
        "COMPLETED",
        "\0",
        "batch",
    ];
    let texts = || texts.into_iter().flat_map(written);
    let plain: Vec<u8> = numbers(75_540_000).chain(texts()).collect();
    let mut content = IdentityContent::default();
    let mut of = |row: &JobRow<'_>, repeats| content.hash(row, 4_857_500, Some("biology"), repeats);
    assert_eq!(of(&row(), UnchangedColumns::default()), xxh3_64(&plain));
    let all = [
        UnchangedColumns::VO,
        UnchangedColumns::FQAN,
        UnchangedColumns::VO_GROUP,
        UnchangedColumns::VO_ROLE,
        UnchangedColumns::ACCOUNT,
        UnchangedColumns::USER,
        UnchangedColumns::PARTITION,
        UnchangedColumns::QOS,
        UnchangedColumns::WCKEY,
        UnchangedColumns::STATE,
        UnchangedColumns::BENCHMARK,
        UnchangedColumns::VIEW,
    ];
    let all = all.into_iter().fold(UnchangedColumns::default(), UnchangedColumns::and);
    let more = JobRow {
        cpu_ms: Some(75_541_000),
        ..row()
    };
    let numbered: Vec<u8> = numbers(75_541_000).chain(texts()).collect();
    assert_eq!(of(&more, all), xxh3_64(&numbered), "the texts of the row before");
    let reserved = JobRow {
        reservation: Some("maintenance"),
        gpus: &[("a100", 4)],
        ..row()
    };
    let behind = [written("a100"), 4_i64.to_le_bytes().to_vec(), written("maintenance")].concat();
    let reserved_bytes: Vec<u8> = plain.iter().copied().chain(behind).collect();
    assert_eq!(of(&reserved, all), xxh3_64(&reserved_bytes));
    assert_eq!(of(&row(), all), xxh3_64(&plain), "a row behind one with more");
}

#[test]
fn a_sample_depends_on_the_jobs_and_not_on_their_order() {
    let jobs: Vec<(i32, u64)> = (0..20_000_u64)
        .map(|n| {
            let hash = xxh3_64(&n.to_le_bytes());
            (i32::try_from(n * 7 % 90).unwrap() - 20, hash)
        })
        .collect();
    let sample = |jobs: &mut dyn Iterator<Item = &(i32, u64)>| {
        let mut sampler = JobSampler::default();
        jobs.for_each(|(day, hash)| sampler.add(*day, *hash));
        sampler.finish()
    };
    let whole = sample(&mut jobs.iter());
    assert_eq!(whole.job_n(), 20_000);
    assert_eq!(whole.days().count(), 90);
    let mut by_day = jobs.clone();
    by_day.sort_unstable();
    assert_eq!(sample(&mut by_day.iter()), whole);
    let mut parts = JobSample::default();
    for part in jobs.chunks(333) {
        parts.merge(sample(&mut part.iter().rev()));
    }
    assert_eq!(parts, whole);
    assert!(sample(&mut [].iter()).is_empty());
}
