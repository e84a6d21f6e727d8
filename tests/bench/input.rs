//! Inputs of the benchmark, made once and kept.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::generator::bulk;

/// Values by cluster, partition and node, in two kinds, that change within the months of the input.
const BENCHMARKS: &str = "\
site,cluster,partition,nodes,benchmark,value_per_core,cores,valid_from,valid_to
,,,,hs06,10.84,,,2026-02-01
,,,,hs06,12.4,,2026-02-01,
,,,,hs23,11.2,,,
,fell,,,hs06,11.1,,,
,,gpu,,hs06,13.3,,,
,,,\"node[0001-0450]\",hs23,17.5,64,,
,,,\"node[0451-0900]\",hs23,13.05,64,,
";

/// What is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dialect {
    /// Slurm text.
    Sacct,
    /// GRACC documents.
    Gracc,
    /// APEL messages.
    Apel,
}

/// How an input is packed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Packing {
    /// gzip at its usual level.
    Gzip,
    /// xz, fast: unpacking takes as long at any level.
    Xz,
}

/// One input on disk.
pub(crate) struct Input {
    /// What it is.
    pub(crate) dialect: Dialect,
    /// Rows, documents or records.
    pub(crate) records: u64,
    /// Where it and its pipeline are.
    pub(crate) folder: PathBuf,
    /// The file, or the folder of messages.
    pub(crate) path: PathBuf,
    /// Its size.
    pub(crate) bytes: u64,
}

/// The input of a dialect with `n` records.
pub(crate) fn make(dialect: Dialect, n: i64) -> Input {
    let name = format!("{dialect:?}").to_lowercase();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench/{name}-{n}"));
    let path = folder.join(match dialect {
        Dialect::Sacct => "sacct.txt",
        Dialect::Gracc => "gracc.ndjson",
        Dialect::Apel => "apel",
    });
    let ready = folder.join("ready");
    if !ready.exists() {
        fs::create_dir_all(&folder).unwrap();
        match dialect {
            Dialect::Sacct => to_file(&path, |to| bulk::sacct(n, to)),
            Dialect::Gracc => to_file(&path, |to| bulk::gracc(n, to)),
            Dialect::Apel => messages(&path, n),
        }
        fs::write(ready, "").unwrap();
    }
    let text = pipeline(dialect, &path);
    let normalise = "\n[normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n";
    fs::write(folder.join("benchmarks.csv"), BENCHMARKS).unwrap();
    fs::write(folder.join("normalised.toml"), format!("{text}{normalise}")).unwrap();
    fs::write(folder.join("pipeline.toml"), text).unwrap();
    Input {
        dialect,
        records: u64::try_from(n).expect("not negative"),
        bytes: files(&path).iter().map(|file| fs::metadata(file).unwrap().len()).sum(),
        folder,
        path,
    }
}

/// The same input, packed, with a pipeline of its own. Its size is that of the plain one.
pub(crate) fn pack(plain: &Input, packing: Packing) -> Input {
    let (ending, folder) = match packing {
        Packing::Gzip => ("gz", plain.folder.join("gzip")),
        Packing::Xz => ("xz", plain.folder.join("xz")),
    };
    let name = plain.path.file_name().expect("a file").display();
    let path = folder.join(format!("{name}.{ending}"));
    let ready = folder.join("ready");
    if !ready.exists() {
        fs::create_dir_all(&folder).unwrap();
        let mut from = File::open(&plain.path).unwrap();
        to_file(&path, |to| match packing {
            Packing::Gzip => {
                let mut packed = flate2::write::GzEncoder::new(to, flate2::Compression::default());
                std::io::copy(&mut from, &mut packed)?;
                packed.finish().map(|_| ())
            }
            Packing::Xz => {
                let mut packed = liblzma::write::XzEncoder::new(to, 1);
                std::io::copy(&mut from, &mut packed)?;
                packed.finish().map(|_| ())
            }
        });
        fs::write(ready, "").unwrap();
    }
    fs::write(folder.join("pipeline.toml"), pipeline(plain.dialect, &path)).unwrap();
    Input { folder, path, ..*plain }
}

pub(crate) fn to_file(path: &Path, make: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    // In large writes: the system then keeps the file in memory in large pieces, as it does what it has read from a disk.
    let mut to = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    make(&mut to).unwrap();
    to.flush().unwrap();
}

/// A folder of messages, a thousand records each.
fn messages(folder: &Path, n: i64) {
    fs::create_dir_all(folder).unwrap();
    for number in 0..(n + 999) / 1_000 {
        let message = bulk::apel_message(number, n - number * 1_000);
        fs::write(folder.join(format!("{number:014x}")), message).unwrap();
    }
}

/// The files of an input: itself, or what the folder holds.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn pipeline(dialect: Dialect, path: &Path) -> String {
    let name = format!("{dialect:?}").to_lowercase();
    let path = path.display();
    let stated = match dialect {
        Dialect::Sacct => "site = \"FELL\"\ntimezone = \"Europe/Zurich\"\nvo = { column = \"account\" }\n",
        Dialect::Gracc | Dialect::Apel => "",
    };
    format!(
        "[pipeline]\nname = \"bench\"\noutput = \"lake\"\nallocation_year_start = \"04-01\"\n\
         calendar_timezone = \"Europe/Zurich\"\nattribution = \"prorated\"\ngrain = \"month\"\n\n\
         [[source]]\nname = \"{name}\"\nformat = \"{name}\"\npaths = [\"{path}\"]\n{stated}"
    )
}
