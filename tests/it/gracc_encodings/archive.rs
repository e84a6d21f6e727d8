//! Archives of every dialect.

use gridtally::error::Kind;
use gridtally::ledger::Reason;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::archive::{self, ArchiveLimits};
use gridtally::sources::format::Format;
use gridtally::sources::{Pieces, compression};

use super::read;
use crate::support::collect::{Collected, Job, input, plan, run};
use crate::support::tar::{entry, gzip, tar};

const DOCUMENT: &str = r#"{
    "CpuDuration": 1800,
    "EndTime": "2020-01-01T01:00:00Z",
    "LocalJobId": "7",
    "ProbeName": "condor:ce.example.org",
    "Processors": "8",
    "SiteName": "S",
    "StartTime": "2020-01-01T00:00:00Z",
    "WallDuration": 1.485786e+06,
    "type": "JobUsageRecord"
}"#;
const MESSAGE: &str = "APEL-cloud-message: v0.4\nVMUUID: a\n%%\n";
const BUNDLE: &str = "replication|<StorageElement/>|||";

fn within(bytes: &[u8], limits: ArchiveLimits) -> Pieces {
    archive::pieces_within(input(bytes), plan(Format::Auto, Acceptance::StrictApel), limits).unwrap()
}

/// The rows before the archive fails, and why it does.
fn failing(pieces: Pieces) -> (Vec<Reason>, usize, gridtally::error::Error) {
    let mut all = Collected::default();
    for work in pieces {
        match work {
            Ok(work) => work(&mut all),
            Err(why) => return (all.reasons(), all.jobs.len(), why),
        }
    }
    panic!("the archive was read to its end");
}

#[test]
fn members_are_read_one_after_another_each_as_what_it_is() {
    let long = format!("gracc/{}/record-2-{}", "x".repeat(90), "0".repeat(64));
    let inner = tar(&[("inner.json", DOCUMENT.as_bytes())]);
    let mut bytes = entry("gracc/", b'5', b"");
    bytes.extend(entry("gracc/link", b'2', b""));
    bytes.extend(tar(&[
        ("gracc/2020/01/02/03/record-1-abc", DOCUMENT.as_bytes()),
        (&long, &gzip(DOCUMENT.as_bytes())),
        ("./empty", b""),
        ("spool/.hidden", b"garbage"),
        ("spool/5e0d0000/5e0d00000f4240.lck", b"garbage"),
        ("spool/5e0d0000/5e0d00000f4240", MESSAGE.as_bytes()),
        ("spool/5e0d0001/5e0d00000f4241/body", MESSAGE.as_bytes()),
        ("spool/5e0d0001/5e0d00000f4241/signer", b"/CN=somebody"),
        ("spool/obsolete/5e0d0001/5e0d00000f4242", b"garbage"),
        ("spool/temporary/5e0d00000f4243/body", b"garbage"),
        ("bundle", BUNDLE.as_bytes()),
        ("notes.txt", b"what is this?"),
        ("inner.tar.gz", &gzip(&inner)),
        (
            "last.ndjson",
            format!("{{\"type\":\"JobUsageRecord\"}}\n{}", DOCUMENT.replace('\n', "")).as_bytes(),
        ),
    ]));
    let all = read(&bytes);
    let ids: Vec<_> = all
        .rows()
        .map(|row| (row.job_id, row.alloc_core_n, row.received_ms))
        .collect();
    let other = ("7", Some(8), None);
    assert_eq!(ids, [("7", Some(8), Some(1_577_934_000_000)), other, other, other]);
    assert_eq!(all.jobs[0].row.wall_ms, Some(1_485_786_000));
    // Lines and offsets grow through the archive, so that no two rows have the same.
    let places: Vec<_> = all
        .jobs
        .iter()
        .map(|Job { at, .. }| (at.line, at.byte_offset))
        .collect();
    assert!(
        places.is_sorted() && places.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "{places:?}"
    );
    let details: Vec<_> = all
        .rejects
        .iter()
        .map(|reject| (reject.reason, reject.detail.as_str()))
        .collect();
    let [notes, last, ..] = details.as_slice() else {
        panic!("{details:?}")
    };
    assert_eq!(
        *notes,
        (
            Reason::UnreadableFile,
            "notes.txt: no dialect with a reader is recognised"
        )
    );
    assert_eq!(last.0, Reason::NotARecord);
    assert!(last.1.starts_with("last.ndjson, line 1: "), "{}", last.1);
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
    assert_eq!(all.out_of_scope.get(&Reason::CloudRecord), Some(&2));
}

#[test]
fn a_member_is_read_wherever_its_path_leads() {
    let members = [
        ("./a", DOCUMENT),
        ("../../dumps/b", DOCUMENT),
        ("/var/c", DOCUMENT),
        ("x/../d", DOCUMENT),
        ("x/.hidden", DOCUMENT),
    ];
    let all = read(&tar(&members.map(|(name, text)| (name, text.as_bytes()))));
    assert_eq!((all.jobs.len(), all.rejects.len()), (4, 0));
}

#[test]
fn an_archive_of_a_killed_writer_keeps_what_it_holds() {
    let whole = tar(&[("a", DOCUMENT.as_bytes()), ("b", DOCUMENT.as_bytes())]);
    // Without the end of an archive: behind its members, in the padding of the last one, and between two of them.
    for (end, jobs) in [(2048, 2), (1536 + DOCUMENT.len() + 10, 2), (1024, 1)] {
        let all = read(&whole[..end]);
        assert_eq!(
            (all.jobs.len(), all.reasons()),
            (jobs, vec![Reason::Truncated]),
            "{end}"
        );
        let detail = &all.rejects[0].detail;
        assert!(detail.contains("members may be missing"), "{detail}");
    }
    // No member begins with zeros: a part of the end is one.
    for end in [whole.len() - 512, whole.len() - 1000] {
        let all = read(&whole[..end]);
        assert_eq!((all.jobs.len(), all.rejects.len()), (2, 0), "{end}");
    }
    // Inside the second member, its padding, its header; and behind a header that is damaged.
    for (end, jobs) in [(1024 + 512 + 200, 1), (1024 + 100, 1), (512 + 100, 0)] {
        let (_, n, why) = failing(within(&whole[..end], ArchiveLimits::default()));
        assert_eq!((n, why.kind()), (jobs, Kind::Data), "{end}: {why}");
    }
    let mut wrong = whole.clone();
    wrong[1024 + 3] ^= 1;
    let (_, n, why) = failing(within(&wrong, ArchiveLimits::default()));
    assert!(n == 1 && why.to_string().contains("checksum"), "{why}");
    // A member that is damaged is one thing, the archive another.
    let packed = gzip(DOCUMENT.as_bytes());
    let cut = &packed[..packed.len() - 12];
    let all = read(&tar(&[("a.gz", cut), ("b", DOCUMENT.as_bytes())]));
    let reasons = vec![Reason::Truncated, Reason::UnreadableFile];
    assert_eq!((all.jobs.len(), all.reasons()), (1, reasons));
    assert!(all.rejects[1].detail.starts_with("a.gz: "), "{}", all.rejects[1].detail);
}

#[test]
fn archives_one_after_the_other_are_read_as_one() {
    let (one, other) = (tar(&[("a", DOCUMENT.as_bytes())]), tar(&[("b", DOCUMENT.as_bytes())]));
    // As tar itself fills them up.
    let mut filled = one.clone();
    filled.resize(10_240, 0);
    let whole = |parts: &[&[u8]]| {
        let all = read(&parts.concat());
        assert_eq!(all.rejects, []);
        all.jobs.len()
    };
    assert_eq!(whole(&[&one, &other]), 2);
    assert_eq!(whole(&[&filled, &filled, &other, &[0; 300]]), 3);
    assert_eq!(whole(&[&[0; 10_240], &one]), 1);
    let inner = [filled.as_slice(), other.as_slice()].concat();
    assert_eq!(whole(&[&tar(&[("inner.tar", &inner), ("c", DOCUMENT.as_bytes())])]), 3);
    // A name that an archive ends behind is not that of a member of the next.
    let name = entry("././@LongLink", b'L', b".hidden\0");
    assert_eq!(whole(&[&name, &[0; 1024], &one]), 1);
    for behind in [MESSAGE.as_bytes(), &[b'#'; 2000]] {
        let (_, jobs, why) = failing(within(&[&filled[..], behind].concat(), ArchiveLimits::default()));
        assert!(jobs == 1 && why.to_string().contains("what follows its end"), "{why}");
    }
}

#[test]
fn bombs_are_refused_with_the_limit_they_break() {
    let limits = ArchiveLimits {
        members: 3,
        bytes: 10_000,
        depth: 1,
    };
    let small: Vec<(&str, &[u8])> = ["a", "b", "c", "d"]
        .iter()
        .map(|name| (*name, DOCUMENT.as_bytes()))
        .collect();
    let all = run(within(&tar(&small), limits));
    assert_eq!((all.jobs.len(), all.reasons()), (3, vec![Reason::LimitExceeded]));
    assert!(
        all.rejects[0].detail.contains("more than 3 members"),
        "{}",
        all.rejects[0].detail
    );

    let zeros = gzip(&vec![b'\n'; 1 << 20]);
    let all = run(within(
        &tar(&[
            ("a", DOCUMENT.as_bytes()),
            ("zeros.gz", &zeros),
            ("b", DOCUMENT.as_bytes()),
        ]),
        limits,
    ));
    assert_eq!((all.jobs.len(), all.reasons()), (1, vec![Reason::LimitExceeded]));
    assert!(
        all.rejects[0].detail.contains("10000 bytes"),
        "{}",
        all.rejects[0].detail
    );

    let mut nested = tar(&[("a", DOCUMENT.as_bytes())]);
    for _ in 0..2 {
        nested = tar(&[("inner.tar", &nested)]);
    }
    let all = run(within(&nested, limits));
    assert!(
        all.jobs.is_empty() && all.rejects[0].detail.contains("nested too deeply"),
        "{:?}",
        all.rejects
    );
}

#[test]
fn input_that_unpacks_beyond_all_measure_is_refused() {
    // A gigabyte of nothing in a few kilobytes of xz.
    let mut packed = Vec::new();
    let mut encoder = liblzma::read::XzEncoder::new(std::io::Read::take(std::io::repeat(b' '), 1 << 29), 1);
    std::io::Read::read_to_end(&mut encoder, &mut packed).unwrap();
    let mut unpacked = compression::decompress(input(&packed)).unwrap();
    let why = std::io::copy(&mut unpacked, &mut std::io::sink()).unwrap_err();
    assert!(why.to_string().contains("more than"), "{why}");
}
