//! `cargo run --example generate -- sample-data` makes the sample data again, byte by byte;
//! `cargo run --release --example generate -- bench [--sacct-rows N] [--gracc-docs N] [--apel-records N] DIR` makes
//! inputs of any size.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a development tool may stop where it stands"
)]

#[path = "mod.rs"]
mod generator;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use generator::{bulk, sample};

const USAGE: &str =
    "usage: generate sample-data [DIR]\n       generate bench [--sacct-rows N] [--gracc-docs N] [--apel-records N] DIR";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["sample-data"] => sample_data(&Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data")),
        ["sample-data", dir] => sample_data(Path::new(dir)),
        ["bench", rest @ ..] => bench(rest),
        _ => panic!("{USAGE}"),
    }
}

fn sample_data(dir: &Path) {
    for (path, bytes) in sample::files() {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes).unwrap();
        eprintln!("{:>8} {}", bytes.len(), path.display());
    }
}

fn bench(words: &[&str]) {
    let (mut sacct_rows, mut gracc_docs, mut apel_records, mut dir) = (0, 0, 0, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> i64 {
            let text = words.next().unwrap_or_else(|| panic!("{word} needs a number\n{USAGE}"));
            text.parse()
                .unwrap_or_else(|_| panic!("{text:?} is not a number\n{USAGE}"))
        };
        match *word {
            "--sacct-rows" => sacct_rows = number(),
            "--gracc-docs" => gracc_docs = number(),
            "--apel-records" => apel_records = number(),
            other if dir.is_none() && !other.starts_with('-') => dir = Some(other),
            other => panic!("{other:?} is unexpected\n{USAGE}"),
        }
    }
    let dir = Path::new(dir.unwrap_or_else(|| panic!("{USAGE}")));
    fs::create_dir_all(dir).unwrap();
    let file = |name: &str| BufWriter::new(fs::File::create(dir.join(name)).unwrap());
    if sacct_rows > 0 {
        bulk::sacct(sacct_rows, &mut file("sacct.txt")).unwrap();
    }
    if gracc_docs > 0 {
        bulk::gracc(gracc_docs, &mut file("gracc.ndjson")).unwrap();
    }
    if apel_records > 0 {
        let spool = dir.join("apel");
        fs::create_dir_all(&spool).unwrap();
        for number in 0..(apel_records + 999) / 1_000 {
            let message = bulk::apel_message(number, apel_records - number * 1_000);
            let mut out = BufWriter::new(fs::File::create(spool.join(format!("{number:014x}"))).unwrap());
            out.write_all(&message).unwrap();
            out.flush().unwrap();
        }
    }
}
