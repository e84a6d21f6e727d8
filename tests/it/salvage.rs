//! The part of a packed file before damage is read, the loss is reported, and refused rows are tried again by
//! readers that know more.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use gridtally::sources::file_stamp::FileStamp;
use gridtally::store::{Fact, Publication, Store};

use super::support::forge::with_own_hash;
use super::support::tar::{entry, gzip, tar};

const HEAD: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n";

fn dump(job_n: u32) -> String {
    let mut text = HEAD.to_owned();
    let mut noise = 7_u32;
    for job in 1..=job_n {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let _ = writeln!(
            text,
            "{job}|oak|u{}|a{noise}|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|\
             cpu=1,node=1|00:10:00",
            noise % 97
        );
    }
    text
}

/// A folder with a pipeline that takes whatever becomes of its one file.
fn scene(file: &str, bytes: &[u8]) -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join(file), bytes).unwrap();
    let pipeline = format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 1.0\nmax_unread = 1.0\n[[source]]\nname = \"oak\"\n\
         format = \"sacct\"\nsite = \"OAK\"\ntimezone = \"UTC\"\npaths = [\"{file}\"]\n"
    );
    fs::write(here.path().join("oak.toml"), pipeline).unwrap();
    here
}

fn run(here: &Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    let output = command
        .args(["run", "oak.toml", "--report", "json"])
        .current_dir(here)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn accepted(report: &serde_json::Value) -> u64 {
    report["outcomes"]["accepted"].as_u64().unwrap_or_default()
}

/// Whole jobs that come out of a decoder, byte by byte until it fails.
fn jobs_of(mut decoder: impl Read) -> u64 {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while decoder.read(&mut byte).is_ok_and(|n| n == 1) {
        text.push(byte[0]);
    }
    let lines = memchr::memchr_iter(b'\n', &text).count();
    u64::try_from(lines.saturating_sub(1)).unwrap()
}

/// Counts the jobs that come out of packed bytes.
type Count = fn(&[u8]) -> u64;

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 6);
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn every_row_before_the_damage_is_read() {
    let text = dump(20_000);
    let packings: [(&str, Vec<u8>, Count); 4] = [
        ("gzip", gzip(text.as_bytes()), |bytes| {
            jobs_of(flate2::read::MultiGzDecoder::new(bytes))
        }),
        ("xz", xz(text.as_bytes()), |bytes| {
            jobs_of(liblzma::read::XzDecoder::new_multi_decoder(bytes))
        }),
        ("zstd", zstd::encode_all(text.as_bytes(), 3).unwrap(), |bytes| {
            jobs_of(zstd::stream::read::Decoder::new(bytes).unwrap())
        }),
        ("bzip2", bzip2(text.as_bytes()), |bytes| {
            jobs_of(bzip2::read::MultiBzDecoder::new(bytes))
        }),
    ];
    for (name, packed, count) in packings {
        let cut = &packed[..packed.len() / 2];
        let there = count(cut);
        assert!(there > 1_000, "{name}: {there}");
        let report = run(scene("jobs.packed", cut).path());
        assert_eq!(accepted(&report), there, "{name}: {}", report["refused"]);
        let refused = report["refused"].to_string();
        assert!(
            refused.contains("unreadable_file") && refused.contains(name),
            "{name}: {refused}"
        );
        let expected = format!("{} packed bytes gave ", cut.len());
        assert!(
            refused.contains(&expected) && refused.contains("is not there"),
            "{name}: {refused}"
        );
    }
}

#[test]
fn what_follows_a_whole_gzip_costs_none_of_its_rows() {
    let mut packed = gzip(dump(20_000).as_bytes());
    packed.extend_from_slice(&[b'#'; 777]);
    let report = run(scene("jobs.gz", &packed).path());
    assert_eq!(accepted(&report), 20_000);
    let refused = report["refused"].to_string();
    assert!(refused.contains("packed bytes behind them are lost"), "{refused}");

    // In a member of an archive, and in an archive that ends inside one.
    let inside = tar(&[("a.gz", &packed), ("b", dump(10).replace("|oak|", "|elm|").as_bytes())]);
    let report = run(scene("jobs.tar", &inside).path());
    assert_eq!(accepted(&report), 20_010, "{}", report["refused"]);
    let text = dump(5_000);
    let whole = tar(&[("a", text.as_bytes())]);
    let at = 512 + text.find("\n3001|").unwrap() + 10;
    let report = run(scene("jobs.tar", &whole[..at]).path());
    assert_eq!(accepted(&report), 3_000, "{}", report["refused"]);
    assert!(
        report["refused"].to_string().contains("before its end"),
        "{}",
        report["refused"]
    );
}

#[test]
fn a_sparse_member_is_refused_by_its_name() {
    let text = dump(3);
    let mut archive = entry("holes.txt", b'S', text.as_bytes());
    archive.extend(entry(
        "pax",
        b'x',
        b"22 GNU.sparse.major=1\n29 GNU.sparse.name=named.txt\n",
    ));
    archive.extend(entry("GNUSparseFile.0/named.txt", b'0', text.as_bytes()));
    archive.extend(tar(&[("plain.txt", text.as_bytes())]));
    let report = run(scene("jobs.tar", &archive).path());
    assert_eq!(accepted(&report), 3);
    let refused = &report["refused"][0];
    assert!(refused.to_string().contains("holes.txt: a sparse member"), "{refused}");
    assert_eq!(report["outcomes"]["rejected"], 2, "{report}");
}

/// Marks the lake as written by earlier readers.
fn forge(lake: &Path, knew: &str) {
    let store = Store::open(&lake.to_string_lossy()).unwrap();
    let publication = Publication::begin(&store).unwrap();
    let mut facts = publication.published().unwrap().facts.clone();
    assert!(facts.has(Fact::Readers));
    facts.insert(Fact::Readers, knew);
    publication.commit(facts).unwrap();
}

#[test]
fn what_earlier_readers_took_for_all_of_a_file_is_hashed_again() {
    let whole = gzip(dump(500).as_bytes());
    let mut part = whole[..whole.len() / 2].to_vec();
    part.resize(whole.len(), 0);
    let here = scene("jobs.packed", &part);
    let here = here.path();
    // Until then its stamp vouches for nothing.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let first = run(here);
    assert!(accepted(&first) < 500);
    // As it was left when a store failed within an object: the hash of a part, and the stamp of the whole.
    let input = here.join("jobs.packed");
    fs::write(&input, &whole).unwrap();
    let hashes = here.join("lake/.gridtally/input_hashes.json");
    let stamp = FileStamp::of_file(&fs::metadata(&input).unwrap()).unwrap();
    let stamp = serde_json::to_string(&stamp).unwrap();
    let stamped = with_own_hash(&fs::read_to_string(&hashes).unwrap(), |text| {
        let (head, known) = text.split_once("\"stamp\":").expect("it has the stamp of the file");
        let (_, hash) = known.split_once(",\"blake3\"").unwrap();
        format!("{head}\"stamp\":{stamp},\"blake3\"{hash}")
    });
    fs::write(&hashes, stamped).unwrap();
    assert_eq!(run(here)["status"], "unchanged");
    forge(&here.join("lake"), "2");
    assert_eq!(accepted(&run(here)), 500);
}

#[test]
fn what_earlier_readers_refused_is_kept_where_the_file_was_replaced() {
    let whole = gzip(dump(500).as_bytes());
    let here = scene("jobs.packed", &whole[..whole.len() / 2]);
    let here = here.path();
    let first = run(here);
    assert!((1..500).contains(&accepted(&first)), "{first}");
    fs::write(here.join("jobs.packed"), gzip(dump(3).as_bytes())).unwrap();
    forge(&here.join("lake"), "1");
    let again = run(here);
    assert_eq!(
        (&again["files_read_n"], accepted(&again)),
        (&1.into(), accepted(&first))
    );
}

#[test]
fn what_earlier_readers_refused_is_read_again_once() {
    let packed = gzip(dump(500).as_bytes());
    for (bytes, rows) in [
        (b"nothing a reader knows\n".to_vec(), 0),
        (packed[..packed.len() / 2].to_vec(), 1),
    ] {
        let here = scene("jobs.packed", &bytes);
        let here = here.path();
        let first = run(here);
        assert_eq!(accepted(&first) > 0, rows > 0);
        let again = run(here);
        assert_eq!(
            (&again["status"], &again["files_read_n"]),
            (&"unchanged".into(), &0.into())
        );
        for knew in ["1", "unknown"] {
            forge(&here.join("lake"), knew);
            let again = run(here);
            assert_eq!(again["files_read_n"], 1, "{knew}");
            assert_eq!(again["outcomes"], first["outcomes"], "{knew}");
            let again = run(here);
            assert_eq!(again["files_read_n"], 0, "{knew}: once is enough");
        }
    }
    // Of an archive, earlier readers took the first end for that of the file.
    let archive = [tar(&[("a", dump(5).as_bytes())]), tar(&[("b", dump(9).as_bytes())])].concat();
    let here = scene("jobs.tar", &archive);
    assert_eq!(accepted(&run(here.path())), 9);
    forge(&here.path().join("lake"), "3");
    let again = run(here.path());
    assert_eq!((&again["files_read_n"], accepted(&again)), (&1.into(), 9));
    assert_eq!(run(here.path())["files_read_n"], 0);
    // What was read whole is not read again.
    let here = scene("jobs.txt", dump(5).as_bytes());
    run(here.path());
    forge(&here.path().join("lake"), "1");
    assert_eq!(run(here.path())["files_read_n"], 0);
}

/// What comes out of a decoder, byte by byte until it fails.
fn bytes_of(mut decoder: impl Read) -> Vec<u8> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while decoder.read(&mut byte).is_ok_and(|n| n == 1) {
        bytes.push(byte[0]);
    }
    bytes
}

/// With a checksum: without one, damage may unpack to other bytes unnoticed.
fn zstd_checked(bytes: &[u8]) -> Vec<u8> {
    let mut out = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    out.include_checksum(true).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn damage_costs_no_byte_that_can_be_unpacked() {
    type Unpack = fn(&[u8]) -> Vec<u8>;
    let text = dump(3_000);
    let packings: [(&str, Vec<u8>, Unpack); 4] = [
        ("gzip", gzip(text.as_bytes()), |bytes| {
            bytes_of(flate2::read::MultiGzDecoder::new(bytes))
        }),
        ("xz", xz(text.as_bytes()), |bytes| {
            bytes_of(liblzma::read::XzDecoder::new_multi_decoder(bytes))
        }),
        ("zstd", zstd_checked(text.as_bytes()), |bytes| {
            bytes_of(zstd::stream::read::Decoder::new(bytes).unwrap())
        }),
        ("bzip2", bzip2(text.as_bytes()), |bytes| {
            bytes_of(bzip2::read::MultiBzDecoder::new(bytes))
        }),
    ];
    let mut damaged_n = 0;
    for (name, packed, unpack) in packings {
        for nth in 1..8 {
            let mut packed = packed.clone();
            let at = packed.len() * nth / 8;
            packed[at..at + 3].fill(0xff);
            let there = unpack(&packed);
            let raw = std::io::Cursor::new(packed.clone());
            let (mut input, damage) = gridtally::sources::compression::salvage(Box::new(raw)).unwrap();
            let mut read = Vec::new();
            input.read_to_end(&mut read).unwrap();
            // Such a decoder itself drops the byte before which it finds the damage.
            assert!(
                read.starts_with(&there),
                "{name} {at}: {} of {}",
                read.len(),
                there.len()
            );
            assert!(
                read.len() <= there.len() + 1,
                "{name} {at}: {} of {}",
                read.len(),
                there.len()
            );
            if let Some(lost) = damage.take() {
                let expected = format!("gave {} bytes, which are read", read.len());
                assert!(lost.to_string().contains(&expected), "{name} {at}: {lost}");
                damaged_n += 1;
            } else {
                assert!(read == text.as_bytes(), "{name} {at}: no loss reported");
            }
        }
    }
    assert!(damaged_n > 20, "{damaged_n}");
}

/// Packed bytes of which all that is before is unpacked, and nothing behind; and where the damage is.
fn gzip_damaged(before: &[u8], behind: &[u8]) -> (Vec<u8>, usize) {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(before).unwrap();
    out.flush().unwrap();
    let at = out.get_ref().len();
    out.write_all(behind).unwrap();
    let mut packed = out.finish().unwrap();
    // A block of a kind there is none of.
    packed[at] = 7;
    (packed, at)
}

#[test]
fn rows_before_damage_are_read_and_the_loss_is_reported() {
    let text = dump(3_000);
    let half = text.find("\n1501|").unwrap() + 20;
    let archive = tar(&[
        ("a", dump(10).replace("|oak|", "|elm|").as_bytes()),
        ("b", text.as_bytes()),
    ]);
    let in_archive = archive.len() - 1024 - text.len().next_multiple_of(512) + half;
    for (name, whole, at, jobs) in [
        ("jobs.gz", text.as_bytes(), half, 1_500),
        ("jobs.tar.gz", &archive, in_archive, 1_510),
    ] {
        let (packed, damage) = gzip_damaged(&whole[..at], &whole[at..]);
        let here = scene(name, &packed);
        let report = run(here.path());
        assert_eq!(accepted(&report), jobs, "{name}: {}", report["refused"]);
        let refused = report["refused"].to_string();
        let gave = format!("gave {at} bytes, which are read, and ");
        assert!(
            refused.contains(&gave) && refused.contains("packed bytes behind them are lost"),
            "{name}: {refused}"
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        let output = command
            .args(["inspect", name])
            .current_dir(here.path())
            .output()
            .unwrap();
        let reported = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(65), "{reported}");
        assert!(
            reported.contains(&gave) && reported.contains("FAILURE"),
            "{damage}: {reported}"
        );
        assert!(
            reported.contains("[[source]]") && reported.contains(&jobs.to_string()),
            "{reported}"
        );
    }
}

#[test]
fn inspect_proposes_to_salvage_a_damaged_message() {
    let mut text = String::from("APEL-individual-job-message: v0.3\n");
    for job in 1..=300 {
        let _ = write!(
            text,
            "Site: OAK\nSubmitHost: ce.example.org\nLocalJobId: {job}\nLocalUserId: u\nWallDuration: 3600\n\
             CpuDuration: 3000\nProcessors: 1\nStartTime: 1790812800\nEndTime: 1790816400\n\
             InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10.0\n%%\n"
        );
    }
    let half = text.find("LocalJobId: 201\n").unwrap() + 5;
    let (packed, _) = gzip_damaged(&text.as_bytes()[..half], &text.as_bytes()[half..]);
    let here = scene("message", &packed);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    let output = command
        .args(["inspect", "message"])
        .current_dir(here.path())
        .output()
        .unwrap();
    let reported = String::from_utf8(output.stdout).unwrap();
    assert!(
        reported.contains("acceptance = \"salvage\"") && reported.contains("keeps 200 good rows"),
        "{reported}"
    );
    assert!(reported.contains("FAILURE"), "{reported}");
}
