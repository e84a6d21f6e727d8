//! One dataset, one folder: whoever opens it with the usual readers finds its columns and its rows.

use std::fs;
use std::path::Path;
use std::process::Command;

use gridtally::store::{Fact, FileEntry};

use super::support::forge::forge_manifest;
use super::support::python::python;
use super::support::sample::{self, run};

/// Every dataset of a lake as a folder, by four readers: rows, and the sums of all whole numbers and decimals.
const READERS: &str = r#"
import glob, os, re, sys
from collections import Counter
from decimal import Decimal
import duckdb, pandas, polars, pyarrow.parquet as parquet, pyarrow.types as types
lake = sys.argv[1]
views = duckdb.connect()
views.execute(f"SET VARIABLE gridtally_root = '{lake}'")
views.execute(open(lake + "/gridtally.sql").read())
def total(values):
    known = [Decimal(str(int(value)) if isinstance(value, float) else str(value)) for value in values if value is not None and value == value]
    return sum(known) if known else None
folders = sorted(name for name in os.listdir(lake) if os.path.isdir(f"{lake}/{name}") and not name.startswith("."))
for name in folders:
    folder = f"{lake}/{name}"
    arrow = parquet.read_table(folder)
    numbers = [f.name for f in arrow.schema if (types.is_integer(f.type) or types.is_decimal(f.type)) and "=" not in f.name]
    want = {column: total(arrow[column].to_pylist()) for column in numbers}
    frame = pandas.read_parquet(folder)
    lazy = polars.read_parquet(folder)
    duck = duckdb.connect()
    table = duck.execute(f"SELECT * FROM read_parquet('{folder}/**/*.parquet')")
    names = [column[0] for column in table.description]
    rows = table.fetchall()
    columns = dict(zip(names, zip(*rows))) if rows else {column: () for column in names}
    readers = {
        "pandas": (len(frame), set(frame.columns), lambda column: frame[column].tolist()),
        "polars": (lazy.height, set(lazy.columns), lambda column: lazy[column].to_list()),
        "duckdb": (len(rows), set(names), lambda column: columns[column]),
    }
    for reader, (height, held, values) in readers.items():
        assert height == arrow.num_rows, (name, reader, height, arrow.num_rows)
        assert held == set(arrow.schema.names), (name, reader, held ^ set(arrow.schema.names))
        for column in numbers:
            assert total(values(column)) == want[column], (name, reader, column)
        # Of which VO how many rows are: unknown is a word in every folder, and null in the view.
        if "vo=" in str(list(os.walk(folder))):
            vos = Counter(arrow["vo"].to_pylist())
            assert vos["__unknown__"] > 0 and None not in vos, (name, vos)
            assert Counter(values("vo")) == vos, (name, reader)
            viewed = views.execute(f'SELECT vo FROM "{name}"').fetchall()
            assert Counter("__unknown__" if vo is None else vo for vo, in viewed) == vos and (None,) in viewed, name
            # A VO that is requested is looked for in its own folders.
            plan = views.execute(f"EXPLAIN ANALYZE SELECT count(*) FROM \"{name}\" WHERE vo = 'firn'").fetchall()[0][1]
            own = len(glob.glob(f"{folder}/*/vo=firn/*/*.parquet"))
            assert re.search(rf"(Total Files Read|Scanning Files): {own}\b", plan), plan
print(" ".join(folders))
"#;

#[test]
fn every_reader_opens_every_folder() {
    let lake = sample::lake();
    let folders = python(READERS, &[lake.to_str().unwrap()]);
    for name in [
        "usage",
        "charges",
        "ledger",
        "inputs",
        "records",
        "history",
        "corrections",
        "repairs",
        "summary",
    ] {
        assert!(
            folders.split_whitespace().any(|folder| folder == name),
            "{name}: {folders}"
        );
    }
}

const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU";
const JOB: &str = "1|c|u|a|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|2|00:10:00";

struct House(tempfile::TempDir);

impl House {
    fn new() -> Self {
        let house = Self(tempfile::tempdir().unwrap());
        fs::write(house.path("one"), format!("{HEADER}\n{JOB}\n")).unwrap();
        let pipeline = "[pipeline]\nname = \"p\"\noutput = \"lake\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\n\
                        paths = [\"one*\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n";
        fs::write(house.path("p.toml"), pipeline).unwrap();
        house
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn gridtally(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        run(command.args(args).current_dir(self.0.path()))
    }
}

/// Columns and rows of a folder, and those of its view.
const EMPTY: &str = r#"
import duckdb, sys
lake, *datasets = sys.argv[1:]
con = duckdb.connect()
con.execute(f"SET VARIABLE gridtally_root = '{lake}'")
con.execute(open(lake + "/gridtally.sql").read())
for name in datasets:
    folder = con.execute(f"SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet('{lake}/{name}/**/*.parquet'))").fetchall()
    view = con.execute(f"SELECT column_name, column_type FROM (DESCRIBE \"{name}\")").fetchall()
    assert folder == view, (name, set(folder) ^ set(view))
    assert con.execute(f"SELECT count(*) FROM read_parquet('{lake}/{name}/**/*.parquet')").fetchone() == (0,), name
print("typed")
"#;

#[test]
fn a_dataset_without_rows_has_its_columns() {
    let house = House::new();
    house.gridtally(&["run", "p.toml"]);
    let lake = house.path("lake");
    let lake = lake.to_str().unwrap();
    let datasets = [
        "history",
        "rejects",
        "summary",
        "corrections",
        "repairs",
        "overhead",
        "node",
        "summary_history",
    ];
    assert_eq!(python(EMPTY, &[&[lake][..], &datasets].concat()), "typed\n");
    let empty = |name: &str| house.path(&format!("lake/{name}/empty.parquet")).is_file();
    assert!(empty("history") && empty("charges") && !empty("usage") && !empty("publication"));
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
    // The first row sends the file away.
    fs::write(house.path("one-again"), format!("{HEADER}\n{JOB}\n")).unwrap();
    fs::write(
        house.path("one-more"),
        format!("{HEADER}\n{}\n", JOB.replace("00:10:00", "00:20:00")),
    )
    .unwrap();
    house.gridtally(&["run", "p.toml"]);
    assert!(!empty("history") && empty("rejects"));
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
    let rows = "import duckdb, sys\nprint(*duckdb.sql(f\"SELECT site FROM '{sys.argv[1]}/history/**/*.parquet'\").fetchall()[0])";
    assert_eq!(python(rows, &[lake]), "A\n");
}

/// An earlier version gave an unknown VO the name that Hive has for null.
#[test]
fn the_folders_of_an_unknown_vo_are_renamed() {
    let house = House::new();
    let pipeline = fs::read_to_string(house.path("p.toml")).unwrap();
    fs::write(house.path("p.toml"), pipeline.replace("vo = { value = \"v\" }\n", "")).unwrap();
    house.gridtally(&["run", "p.toml"]);
    let fresh = listing(&house.path("lake"));
    let usage = house.path("lake/usage/site=A");
    let (now, then) = ("vo=__unknown__", "vo=__HIVE_DEFAULT_PARTITION__");
    fs::rename(usage.join(now), usage.join(then)).unwrap();
    forge_manifest(&house.path("lake"), |manifest| {
        let path = format!("usage/site=A/{now}/allocation_year=2026/usage.parquet");
        let entry = manifest.remove(&path).unwrap();
        manifest.insert(FileEntry {
            path: path.replace(now, then),
            ..entry
        });
        manifest.facts.insert(Fact::Layout, "2");
    });
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
    let stated = house.gridtally(&["run", "p.toml", "--report", "json"]);
    assert!(stated.contains("\"files_read_n\":0"), "{stated}");
    assert_eq!(listing(&house.path("lake")), fresh);
    assert!(!usage.join(then).exists());
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
}

/// An earlier version put the list of inputs next to the ledger.
#[test]
fn the_list_of_inputs_moves_out_of_the_folder_of_the_ledger() {
    let house = House::new();
    house.gridtally(&["run", "p.toml"]);
    let fresh = listing(&house.path("lake"));
    fs::rename(
        house.path("lake/inputs/inputs.parquet"),
        house.path("lake/ledger/inputs.parquet"),
    )
    .unwrap();
    fs::remove_dir(house.path("lake/inputs")).unwrap();
    forge_manifest(&house.path("lake"), |manifest| {
        let inputs = manifest.remove("inputs/inputs.parquet").unwrap();
        manifest.insert(FileEntry {
            path: "ledger/inputs.parquet".to_owned(),
            ..inputs
        });
        manifest.facts.insert(Fact::Layout, "1");
    });
    // It is read where it is ...
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
    assert!(
        house
            .gridtally(&["explain", "lake", "1", "--inputs", "."])
            .contains("record_id")
    );
    assert!(house.gridtally(&["sql", "lake"]).contains("/ledger/inputs.parquet'"));
    // ... and the next run moves it, and reads nothing again.
    let stated = house.gridtally(&["run", "p.toml", "--report", "json"]);
    assert!(stated.contains("\"files_read_n\":0"), "{stated}");
    assert_eq!(listing(&house.path("lake")), fresh);
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
}

/// An earlier version put a file without rows of a dataset into the lake that is written elsewhere.
#[test]
fn a_dataset_that_is_no_part_of_the_lake_leaves_it() {
    let house = House::new();
    house.gridtally(&["run", "p.toml"]);
    let fresh = listing(&house.path("lake"));
    assert!(!fresh.iter().any(|path| path.contains("simulate")), "{fresh:?}");
    let views = fs::read_to_string(house.path("lake/gridtally.sql")).unwrap();
    assert!(!views.contains("VIEW \"simulate\""));
    let (folder, path) = (house.path("lake/simulate.parquet"), "simulate.parquet/empty.parquet");
    fs::create_dir(&folder).unwrap();
    fs::copy(house.path("lake/charges/empty.parquet"), folder.join("empty.parquet")).unwrap();
    forge_manifest(&house.path("lake"), |manifest| {
        let entry = manifest.file("charges/empty.parquet").unwrap().clone();
        manifest.insert(FileEntry {
            path: path.to_owned(),
            ..entry
        });
    });
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
    // The next run that publishes anything takes it away.
    fs::write(
        house.path("one-more"),
        format!("{HEADER}\n{}\n", JOB.replace("1|", "2|")),
    )
    .unwrap();
    house.gridtally(&["run", "p.toml"]);
    assert_eq!(listing(&house.path("lake")), fresh);
    assert!(!folder.exists());
    assert!(house.gridtally(&["verify", "lake"]).contains("sound"));
}

/// The tables of a lake by path, but for the runs.
fn listing(lake: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![lake.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(lake).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.retain(|path| path.ends_with(".parquet") && !path.starts_with("runs/"));
    found.sort();
    found
}

#[test]
fn no_two_datasets_share_a_folder() {
    let datasets = gridtally::schema::datasets().unwrap();
    let mut folders: Vec<&str> = datasets.iter().map(|d| d.path.split('/').next().unwrap()).collect();
    folders.sort_unstable();
    folders.dedup();
    assert_eq!(folders.len(), datasets.len());
}
