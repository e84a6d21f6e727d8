//! Finding, opening and unpacking inputs.

use gridtally::sources::{apel, gracc, sacct};
use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use gridtally::config::Plan;
use gridtally::error::Kind;
use gridtally::sources::diagnosis;
use gridtally::sources::dialect::Dialect;
use gridtally::sources::input::{Compression, InputFile, arrival_ms, decompress, discover};
use gridtally::sources::registry::recognise;
use tempfile::TempDir;

/// Files below a folder whose own name looks like a pattern.
fn house(files: &[&str]) -> TempDir {
    let folder = tempfile::Builder::new().prefix("a[b]").tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

fn find(folder: &TempDir, paths: &[&str]) -> gridtally::error::Result<Vec<InputFile>> {
    let list = paths
        .iter()
        .map(|path| format!("{path:?}"))
        .collect::<Vec<_>>()
        .join(", ");
    let text = format!(
        "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"src\"\nformat = \"apel\"\npaths = [{list}]\n"
    );
    fs::create_dir_all(folder.path().join("p")).unwrap();
    let file = folder.path().join("p/.p.toml");
    fs::write(&file, text).unwrap();
    let (plan, _) = Plan::load(&file).unwrap();
    discover(
        plan.sources.first().unwrap().search_paths(),
        plan.file.parent().unwrap(),
    )
}

fn names(folder: &TempDir, paths: &[&str]) -> Vec<String> {
    find(folder, paths).unwrap().into_iter().map(|file| file.path).collect()
}

#[test]
fn globs_folders_and_files_are_found_sorted_and_once() {
    let folder = house(&[
        "d/b.txt",
        "d/a.txt",
        "d/sub/c.txt",
        "d/.hidden",
        "d/.git/x",
        "d/x.lck",
        "d/y.tmp",
        "e/1.xz",
    ]);
    assert_eq!(
        names(&folder, &["../d"]),
        ["../d/a.txt", "../d/b.txt", "../d/sub/c.txt"]
    );
    assert_eq!(
        names(&folder, &["../d/*"]),
        ["../d/a.txt", "../d/b.txt", "../d/sub/c.txt"]
    );
    assert_eq!(names(&folder, &["../d/*.txt"]), ["../d/a.txt", "../d/b.txt"]);
    assert_eq!(
        names(&folder, &["../**/*.txt"]),
        ["../d/a.txt", "../d/b.txt", "../d/sub/c.txt"]
    );
    assert_eq!(
        names(&folder, &["../[de]/?.*"]),
        ["../d/a.txt", "../d/b.txt", "../e/1.xz"]
    );
    assert_eq!(
        names(&folder, &["../d/b.txt", "./../d/./b.txt", "../d", "../e"]).len(),
        4
    );
    // What is named outright is taken, whatever its name.
    assert_eq!(
        names(&folder, &["../d/x.lck", "../d/.hidden"]),
        ["../d/.hidden", "../d/x.lck"]
    );
    let absolute = folder.path().join("e/1.xz");
    assert_eq!(names(&folder, &[absolute.to_str().unwrap()]), ["../e/1.xz"]);
    let url = url::Url::from_file_path(&absolute).unwrap();
    assert_eq!(names(&folder, &[url.as_str()]), ["../e/1.xz"]);
}

#[test]
fn a_name_with_pattern_characters_is_taken_literally_if_it_exists() {
    let folder = house(&["d/x[1].txt", "d/x1.txt"]);
    assert_eq!(names(&folder, &["../d/x[1].txt"]), ["../d/x[1].txt"]);
}

#[test]
fn every_pattern_that_matches_nothing_is_named() {
    let folder = house(&["d/a.txt"]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let error = find(&folder, &["../d", "../nope.txt", "../d/*.xz", "../empty"]).unwrap_err();
    assert_eq!(error.kind(), Kind::NoInput);
    let reported = error.to_string();
    assert!(reported.lines().all(|line| line.contains("p.toml:7: ")), "{reported}");
    let after_line = |line: &str| line.split_once("p.toml:7: ").map(|(_, message)| message.to_owned());
    let lines: Vec<String> = reported.lines().filter_map(after_line).collect();
    assert_eq!(
        lines,
        [
            "source src: ../nope.txt matches no file",
            "source src: ../d/*.xz matches no file",
            "source src: ../empty matches no file",
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_round_in_circles_end() {
    let folder = house(&["d/sub/a.txt"]);
    std::os::unix::fs::symlink(folder.path().join("d"), folder.path().join("d/sub/up")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nowhere"), folder.path().join("d/dangling")).unwrap();
    // A link to nothing is named: who reads it finds that it cannot be opened.
    assert_eq!(names(&folder, &["../d"]), ["../d/dangling", "../d/sub/a.txt"]);
}

#[test]
fn patterns_end_in_circles_and_see_every_name() {
    let folder = house(&["d/sub/a.txt", "d/.hidden/a.txt", "d/sub/.b.txt"]);
    std::os::unix::fs::symlink(".", folder.path().join("d/here")).unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("d/there")).unwrap();
    // Names that are no UTF-8, which look the same but are two files, and a folder.
    for name in [&b"b\xff.txt"[..], b"b\xfe.txt", b"f\xff/c.txt"] {
        let path = folder.path().join("d").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let all = [
        "../d/b\\xfe.txt",
        "../d/b\\xff.txt",
        "../d/f\\xff/c.txt",
        "../d/sub/a.txt",
    ];
    assert_eq!(names(&folder, &["../d"]), all);
    assert_eq!(names(&folder, &["../d/**/*.txt"]), all);
    assert_eq!(names(&folder, &["../d/**"]), all);
    assert_eq!(
        names(&folder, &["../d/**/**/?.txt"]),
        ["../d/f\\xff/c.txt", "../d/sub/a.txt"]
    );
    assert_eq!(names(&folder, &["../d/*/c.txt", "../d/[b]*"]), all[..3]);
    assert_eq!(names(&folder, &["../d/su?/a.txt"]), all[3..]);
    for nothing in ["../d/none*/x", "../d/sub/a.txt/*", "../d/sub/b.txt"] {
        assert_eq!(
            find(&folder, &[nothing]).unwrap_err().kind(),
            Kind::NoInput,
            "{nothing}"
        );
    }
    for wrong in ["../d/a**", "../d/[b"] {
        assert_eq!(find(&folder, &[wrong]).unwrap_err().kind(), Kind::Config, "{wrong}");
    }
}

#[test]
fn a_spool_gives_the_bodies_of_its_messages() {
    let folder = house(&[
        "in/00000000/6b00ff7a2fe953/body",
        "in/00000000/6b00ff7a2fe953/signer",
        "in/00000000/6b00ff7a2fe953/empaid",
        "in/temporary/6b00ff7a2fe954/body",
        "in/obsolete/6b00ff7a2fe955/body",
        "out/6b00ff58/6b00ff7a3045a3",
        "out/6b00ff58/6b00ff7a3045a3.lck",
    ]);
    assert_eq!(
        names(&folder, &["../in", "../out"]),
        ["../in/00000000/6b00ff7a2fe953/body", "../out/6b00ff58/6b00ff7a3045a3"]
    );
}

#[test]
fn the_name_of_a_spooled_message_reports_its_arrival() {
    // 0x6b00ff7a seconds, 0x2fe95 = 196 245 microseconds.
    let expected = Some(0x6b00_ff7a_i64 * 1000 + 196);
    assert_eq!(arrival_ms("spool/in/00000000/6b00ff7a2fe953/body"), expected);
    assert_eq!(arrival_ms("00000000/6b00ff7a2fe953"), expected);
    for other in [
        "6b00ff7a2fe953",
        "0000000/6b00ff7a2fe953",
        "00000000/6b00ff7a2fe953/signer",
        "00000000/6b00ff7afffff3",
        "00000000/6b00ff7a2fe95",
        "00000000/6b00ff7a2fe95g",
    ] {
        assert_eq!(arrival_ms(other), None, "{other}");
    }
}

/// Packs a text; every packer here writes one complete member.
type Packer = fn(&[u8]) -> Vec<u8>;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut packer = liblzma::write::XzEncoder::new(Vec::new(), 6);
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).unwrap()
}

const PACKERS: &[(Compression, Packer)] = &[
    (Compression::None, <[u8]>::to_vec),
    (Compression::Gzip, gzip),
    (Compression::Zstd, zstd),
    (Compression::Bzip2, bzip2),
    (Compression::Xz, xz),
];

fn unpack(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    decompress(Box::new(Cursor::new(bytes)))
        .unwrap()
        .read_to_end(&mut out)?;
    Ok(out)
}

/// A text that does not pack to nothing.
fn noise(lines: u32) -> Vec<u8> {
    let mut state = 7_u32;
    let mut out = Vec::new();
    for _ in 0..lines {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        writeln!(out, "{state}|{}", state.rotate_left(7)).unwrap();
    }
    out
}

#[test]
fn packing_is_recognised_by_content_under_any_name() {
    let folder = house(&[]);
    let text = noise(2000);
    for &(compression, pack) in PACKERS {
        // Each under the name of another.
        let file = folder.path().join("wrong.txt.bz2.gz.xz.zst");
        fs::write(&file, pack(&text)).unwrap();
        let input = InputFile::local(&file, "shown".to_owned()).unwrap();
        assert_eq!(Compression::of(&pack(&text)), compression);
        let mut out = Vec::new();
        decompress(input.open().unwrap())
            .unwrap()
            .read_to_end(&mut out)
            .unwrap();
        assert_eq!(out, text, "{compression:?}");
        assert_eq!(
            input.content_hash().unwrap(),
            blake3::hash(&pack(&text)).to_hex().to_string()
        );
        assert_eq!(input.bytes, u64::try_from(pack(&text).len()).unwrap());
    }
}

#[test]
fn every_member_of_a_packed_file_is_read() {
    let (one, two) = (noise(500), noise(700));
    for &(compression, pack) in PACKERS {
        let packed = [pack(&one), pack(b""), pack(&two)].concat();
        assert_eq!(
            unpack(packed).unwrap(),
            [one.clone(), two.clone()].concat(),
            "{compression:?}"
        );
    }
    // A frame to skip, as parallel compressors put first.
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(&one)].concat();
    assert_eq!(unpack(skippable).unwrap(), one);
}

#[test]
fn a_packed_file_that_was_cut_off_fails_and_states_it() {
    let text = noise(3000);
    for &(compression, pack) in PACKERS
        .iter()
        .filter(|(compression, _)| *compression != Compression::None)
    {
        let whole = pack(&text);
        for cut in [whole.len() / 2, whole.len() - 1, 11] {
            let why = unpack(whole.get(..cut).unwrap().to_vec()).expect_err("a cut file must not look whole");
            let name = compression.as_str();
            assert!(
                why.to_string()
                    .starts_with(&format!("the {name} stream is cut off or damaged")),
                "{name} {cut}: {why}"
            );
        }
    }
}

#[test]
fn short_and_empty_files_are_plain() {
    for text in [&b""[..], b"B", b"BZh", b"BZh9 is not an archive", b"\x1f"] {
        assert_eq!(unpack(text.to_vec()).unwrap(), text);
    }
}

#[test]
fn dialects_are_recognised_by_content() {
    let cases: &[(&str, Option<Dialect>)] = &[
        ("JobID|JobIDRaw|State\n1|1|COMPLETED\n", Some(sacct::DIALECT)),
        ("\u{feff}Account;jobid;State;\n", Some(sacct::DIALECT)),
        ("JobIDRaw\u{1f}JobName\u{1f}State\n", Some(sacct::DIALECT)),
        ("JobID           JobName  Partition\n------------ ----------\n", None),
        ("State\nCOMPLETED\n", None),
        ("APEL-individual-job-message: v0.3\nSite: X\n", Some(apel::DIALECT)),
        (
            "<?xml version=\"1.0\"?>\n<urf:UsageRecord xmlns:urf=\"http://eu-emi.eu/namespaces/2012/11/computerecord\">",
            Some(apel::DIALECT),
        ),
        (
            "{\"_index\":\"gracc.osg.raw2-2016.06\",\"_source\":{}}\n",
            Some(gracc::DIALECT),
        ),
        ("{\n  \"jobs\": [ { \"job_id\": 1 } ] }", None),
        ("", None),
        ("hello world\n", None),
    ];
    for (text, dialect) in cases {
        assert_eq!(recognise(text.as_bytes()), *dialect, "{text:?}");
    }
}

#[test]
fn hints_report_version_and_what_is_missing() {
    let of = |text: &str| diagnosis::of(recognise(text.as_bytes()), text.as_bytes());
    let sacct = of("JobID|Start|End|State\n1|2026-03-01T00:00:00|2026-03-01T01:00:00|COMPLETED\n");
    assert!(sacct.naive_times && !sacct.has_cpu_column);
    assert!(sacct.problems.iter().any(|problem| problem.starts_with("no NodeList")));
    let offset = of("JobID|Start|End|State\n1|2026-03-01T00:00:00+0100|2026-03-01T01:00:00+0100|COMPLETED\n");
    assert!(!offset.naive_times);
    assert_eq!(
        of("APEL-individual-job-message: v0.3\n").version.as_deref(),
        Some("v0.3 individual-job")
    );
    assert_eq!(
        of("{\"_index\":\"gracc.osg.raw2-2016.06\",\"_source\":{}}\n")
            .version
            .as_deref(),
        Some("index gracc.osg.raw2-2016.06")
    );
    assert!(
        of("{\n  \"jobs\": [ { \"job_id\": 1 } ] }")
            .problems
            .iter()
            .any(|p| p.contains("not of sacct --json"))
    );
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped must print it")]
fn real_files_are_recognised() {
    let shared = std::env::var_os("GRIDTALLY_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        std::path::PathBuf::from,
    );
    let data = shared.join("data");
    if !data.is_dir() {
        eprintln!("SKIPPED real_files_are_recognised: no {}", data.display());
        return;
    }
    for (file, dialect) in [
        ("slurm/24.11-history/sacct_months_D_P.txt.xz", Some(sacct::DIALECT)),
        ("slurm/24.11/sacct_delim_P.txt", Some(sacct::DIALECT)),
        ("slurm/24.11/sacct_all_parsable.txt.xz", Some(sacct::DIALECT)),
        ("slurm/24.11/sacct_fixedwidth.txt", None),
        ("slurm/22.05/sacct_all.json.xz", Some(sacct::DIALECT)),
        ("slurm/24.11/sacct_dupl_json.json.xz", Some(sacct::DIALECT)),
        (
            "slurm/24.11/sinfo.json",
            Some(gridtally::sources::inventory::InventoryKind::SinfoJson.dialect()),
        ),
        (
            "slurm/24.11/scontrol_node.json",
            Some(gridtally::sources::inventory::InventoryKind::NodeJson.dialect()),
        ),
        ("slurm/24.11/sacct_xdmod.txt", Some(sacct::DIALECT)),
        ("slurm/24.11/sacct_states_only.txt", None),
        ("traces/sacct/xdmod-pozidriv.log.gz", Some(sacct::DIALECT)),
        ("apel/golden/messages/0001-job-v0.3-grid.msg", Some(apel::DIALECT)),
        ("apel/apel-xml/car_01_L23.xml", Some(apel::DIALECT)),
        ("apel/batch-logs/slurm.log", Some(sacct::DIALECT)),
        ("gracc/es-dump/raw0-2016.05.ndjson.gz", Some(gracc::DIALECT)),
        ("gracc/es-dump/stringtyped-2016.06.01.ndjson.gz", Some(gracc::DIALECT)),
    ] {
        let input = InputFile::local(&data.join(file), file.to_owned()).unwrap();
        let mut head = Vec::new();
        decompress(input.open().unwrap())
            .unwrap()
            .take(65_536)
            .read_to_end(&mut head)
            .unwrap();
        assert_eq!(recognise(&head), dialect, "{file}");
    }
}

#[test]
fn a_file_that_is_written_over_is_known() {
    let folder = house(&["over", "longer", "replaced"]);
    let at = |name: &str| folder.path().join(name);
    let found = |name: &str| InputFile::local(&at(name), name.to_owned()).unwrap();
    let [over, longer, replaced] = ["over", "longer", "replaced"].map(found);
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(at("over"), "OVER").unwrap();
    fs::write(at("longer"), "longer by far").unwrap();
    fs::write(at("new"), "REPLACED").unwrap();
    fs::rename(at("new"), at("replaced")).unwrap();
    assert!(over.is_overwritten());
    assert!(!longer.is_overwritten() && !replaced.is_overwritten());
}

/// Answers one file over HTTP, on loopback, until the test ends.
#[cfg(feature = "cloud")]
fn serve(body: Vec<u8>) -> std::net::SocketAddr {
    use std::io::{BufRead, BufReader};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let lines: Vec<String> = BufReader::new(connection.try_clone().unwrap())
                .lines()
                .map(Result::unwrap_or_default)
                .take_while(|line| !line.is_empty())
                .collect();
            let request = lines.first().cloned().unwrap_or_default();
            let known = request.contains(" /dumps/a.xz ");
            let status = if known { "200 OK" } else { "404 Not Found" };
            let bytes = if known { body.len() } else { 0 };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {bytes}\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
                 ETag: \"1\"\r\nConnection: close\r\n\r\n"
            );
            // A client that hangs up early is its own business.
            let _ = connection.write_all(head.as_bytes());
            if known && !request.starts_with("HEAD") {
                let _ = connection.write_all(&body);
            }
        }
    });
    address
}

#[cfg(feature = "cloud")]
#[test]
fn a_url_is_an_input_like_any_other() {
    let text = noise(50_000);
    let packed = xz(&text);
    let bytes = u64::try_from(packed.len()).unwrap();
    let url = format!("http://{}/dumps/a.xz", serve(packed.clone()));
    let folder = house(&[]);
    let files = find(&folder, &[&url]).unwrap();
    let [file] = files.as_slice() else {
        panic!("one file is expected")
    };
    assert_eq!((file.path.as_str(), file.bytes), (url.as_str(), bytes));
    let mut out = Vec::new();
    decompress(file.open().unwrap()).unwrap().read_to_end(&mut out).unwrap();
    assert_eq!(out, text);
    assert_eq!(file.content_hash().unwrap(), blake3::hash(&packed).to_hex().to_string());
    let error = find(&folder, &[&format!("{url}?token=x")]).unwrap_err();
    assert_eq!(error.kind(), Kind::Config);
}
