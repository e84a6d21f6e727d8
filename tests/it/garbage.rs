//! Files that are not in the format of their source: each ends in counted refusals, never in a panic.

use std::fs;
use std::io::Write;
use std::process::{Command, Output};

use flate2::Compression;
use flate2::write::GzEncoder;
use gridtally::dedupe::reject_text;
use gridtally::record::{JobRow, SummaryRow};

const FORMATS: [(&str, &str); 4] = [
    ("sacct", "site = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n"),
    ("apel", ""),
    ("gracc", ""),
    ("auto", "site = \"A\"\nvo = { value = \"v\" }\n"),
];

const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU";

/// Runs a pipeline of one source over one file.
fn run(format: &str, keys: &str, contents: &[u8], limit: &str) -> Output {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("file"), contents).unwrap();
    let text = format!(
        "[pipeline]\nname = \"g\"\noutput = \"lake\"\n{limit}\n\
         [[source]]\nname = \"s\"\nformat = \"{format}\"\npaths = [\"file\"]\n{keys}"
    );
    fs::write(here.path().join("p.toml"), text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["run", "p.toml"])
        .current_dir(here.path())
        .output()
        .unwrap()
}

fn reported(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|text| String::from_utf8_lossy(text))
        .concat()
}

#[test]
fn garbage_is_refused_and_counted_under_every_format() {
    let utf16: Vec<u8> = HEADER.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 = [vec![0xff, 0xfe], utf16].concat();
    let noise = (0..30_000_u64).flat_map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7).to_le_bytes());
    let program: Vec<u8> = b"\x7fELF\x02\x01\x01\0\0\0\0\0".iter().copied().chain(noise).collect();
    for (format, keys) in FORMATS {
        for (what, contents) in [("UTF-16", &utf16), ("a program", &program)] {
            let output = run(format, keys, contents, "");
            assert_eq!(
                output.status.code(),
                Some(65),
                "{what} as {format}: {}",
                reported(&output)
            );
            let output = run(format, keys, contents, "max_rejected = 1.0");
            let text = reported(&output);
            assert_eq!(output.status.code(), Some(0), "{what} as {format}: {text}");
            assert!(text.contains("rejected: "), "{what} as {format}: {text}");
            let output = run(format, keys, contents, "max_rejected = 0");
            let text = reported(&output);
            assert_eq!(output.status.code(), Some(65), "{what} as {format}: {text}");
            assert!(!text.contains("panicked"), "{what} as {format}: {text}");
        }
        let output = run(format, keys, b"", "max_rejected = 0");
        assert_eq!(
            output.status.code(),
            Some(0),
            "nothing as {format}: {}",
            reported(&output)
        );
    }
    for end in ["\n", "\r\n"] {
        let header = format!("{HEADER}{end}");
        for (format, keys) in [FORMATS[0], FORMATS[3]] {
            let output = run(format, keys, header.as_bytes(), "max_rejected = 0");
            assert_eq!(
                output.status.code(),
                Some(0),
                "a header as {format}: {}",
                reported(&output)
            );
        }
    }
}

#[test]
fn a_line_that_unpacks_without_end_is_refused_for_its_length() {
    let block = vec![b'x'; 1 << 20];
    let bomb = |head: &str| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(head.as_bytes()).unwrap();
        for _ in 0..80 {
            packer.write_all(&block).unwrap();
        }
        packer.finish().unwrap()
    };
    let heads = [
        format!("{HEADER}\n"),
        "APEL-individual-job-message: v0.3\nSite: A\n".to_owned(),
        String::new(),
    ];
    for ((format, keys), head) in FORMATS.into_iter().zip(heads) {
        let output = run(format, keys, &bomb(&head), "max_rejected = 1.0");
        assert_eq!(output.status.code(), Some(0), "{format}: {}", reported(&output));
        let reasons = ["rejected: too_long", "rejected: bad_message"];
        assert!(
            reasons.iter().any(|reason| reported(&output).contains(reason)),
            "{format}: {}",
            reported(&output)
        );
    }
}

#[test]
fn what_is_refused_though_it_could_be_read_states_what_is_known_of_it_and_nothing_else() {
    let row = JobRow {
        view: "batch",
        job_id: "387",
        raw_job_id: Some("387"),
        user: Some("alice"),
        start_ms: Some(1000),
        ..JobRow::default()
    };
    assert_eq!(
        reject_text::job(&row),
        "understood as view=batch job_id=387 user=alice start_ms=1000"
    );
    let row = SummaryRow {
        view: "batch",
        site: Some("ALP"),
        job_n: Some(3),
        ..SummaryRow::default()
    };
    let kind = row.kind.as_str();
    assert_eq!(
        reject_text::summary(&row),
        format!("understood as kind={kind} view=batch site=ALP job_n=3")
    );
}
