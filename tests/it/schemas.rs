//! The schema files are the single source: everything rendered from them agrees, and a change raises a version.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use gridtally::schema::{self, ColumnType, Dataset, render};
use gridtally::store::{Manifest, Store, read_table};

use crate::support::sample;

fn folder() -> PathBuf {
    sample::repository("schemas")
}

/// One line per dataset: name, version, hash of what its columns are.
fn lock_line(dataset: &Dataset) -> String {
    let mut text = format!("{:?} {:?} {:?}", dataset.sort, dataset.path, dataset.bloom);
    for column in dataset.partition.iter().chain(&dataset.columns) {
        let _ = write!(
            text,
            "\n{} {:?} {} {}",
            column.name, column.kind, column.unit, column.null
        );
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    format!("{} {} {}", dataset.name, dataset.version, &hash[..16])
}

#[test]
fn the_reference_page_is_the_rendered_one() {
    let page = render::reference(schema::datasets().unwrap());
    let path = folder().join("../docs/reference/columns.md");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed, page,
        "docs/reference/columns.md drifted; UPDATE_README=1 cargo test schemas renders it"
    );
}

#[test]
fn a_changed_dataset_has_a_new_version() {
    let path = folder().join("versions.lock");
    let now: Vec<String> = schema::datasets().unwrap().iter().map(lock_line).collect();
    let locked = fs::read_to_string(&path).unwrap_or_default();
    for line in &now {
        let mut words = line.split(' ');
        let (name, version, hash) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let before = locked.lines().find(|l| l.starts_with(&format!("{name} {version} ")));
        if let Some(before) = before {
            assert!(
                before.ends_with(hash),
                "{name} changed but is still version {version}: raise it and add a [[change]]"
            );
        }
    }
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, now.join("\n") + "\n").unwrap();
    }
    let locked = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        locked.lines().collect::<Vec<_>>(),
        now,
        "UPDATE_README=1 cargo test schemas locks new versions"
    );
}

#[test]
fn every_schema_file_is_compiled_in() {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let names = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let files: BTreeSet<String> = names
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let compiled: BTreeSet<String> = schema::datasets()
        .unwrap()
        .iter()
        .map(|dataset| dataset.name.clone())
        .collect();
    assert_eq!(compiled, files, "src/schema/registry.rs has a row for each");
}

#[test]
fn listings_fill_the_datasets_of_a_folder_per_source() {
    let names: Vec<&str> = schema::listing_datasets()
        .map(|dataset| dataset.name.as_str())
        .collect();
    // The order is part of the fingerprint of an inventory.
    assert_eq!(
        names,
        [
            "node",
            "node_event",
            "partition",
            "billing_weight",
            "association",
            "reservation",
            "qos",
            "share",
            "scheduler_setting",
            "queued_job"
        ]
    );
}

#[test]
fn every_column_is_described() {
    for dataset in schema::datasets().unwrap() {
        assert!(!dataset.doc.is_empty() && !dataset.title.is_empty());
        assert_eq!(
            dataset.changes.last().map(|c| c.version),
            Some(dataset.version),
            "{}",
            dataset.name
        );
        for name in dataset.sort.iter().chain(&dataset.bloom) {
            assert!(
                dataset.columns.iter().any(|c| &c.name == name),
                "{}: no column {name}",
                dataset.name
            );
        }
        for column in dataset.partition.iter().chain(&dataset.columns) {
            let name = &column.name;
            assert!(
                column.doc.ends_with('.'),
                "{}.{name}: the meaning is a sentence",
                dataset.name
            );
            let suffix = match column.unit.as_str() {
                "s" | "core s" | "gpu s" | "node s" | "billing s" | "HS06 s" | "HEPscore23 s" | "SI00 s" => "_s",
                "ms" => "_ms",
                "J" => "_j",
                "mg" => "_mg",
                "byte" if name == "bytes" => "bytes",
                "byte" if name == "byte_offset" => "byte_offset",
                "byte" => {
                    if name.ends_with("_n") {
                        "_n"
                    } else {
                        "_byte"
                    }
                }
                "UTC" => "_utc",
                "1" if ["gpus", "licenses", "exit_code", "exit_signal", "line"].contains(&name.as_str()) => "",
                "1" => "_n",
                _ => "",
            };
            assert!(
                name.ends_with(suffix),
                "{}.{name} is in {:?} but does not end in {suffix}",
                dataset.name,
                column.unit
            );
            if column.kind == ColumnType::Bool {
                assert!(name.starts_with("is_"), "{}.{name}", dataset.name);
            }
        }
        for column in &dataset.columns {
            assert!(
                !column.origin.is_empty(),
                "{}.{}: from where?",
                dataset.name,
                column.name
            );
        }
    }
}

#[test]
fn published_files_carry_the_declared_columns() {
    let store = Store::open_existing(sample::lake().to_str().unwrap()).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let mut seen = 0;
    for dataset in schema::datasets().unwrap() {
        for file in manifest.dataset(&dataset.name) {
            for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
                let batch = batch.unwrap();
                dataset.admit(&batch).unwrap();
                for (field, column) in batch.schema().fields().iter().zip(&dataset.columns) {
                    assert_eq!(
                        field.metadata().get("description"),
                        Some(&column.doc),
                        "{}",
                        column.name
                    );
                    assert_eq!(
                        field.metadata().get("unit").map_or("", String::as_str),
                        column.unit,
                        "{}",
                        column.name
                    );
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 10);
}

#[test]
fn the_door_names_what_drifted() {
    let usage = schema::dataset("usage").unwrap();
    let ledger = schema::dataset("ledger").unwrap();
    let empty = arrow_array::RecordBatch::new_empty(ledger.arrow());
    assert!(ledger.admit(&empty).is_ok());
    assert!(
        usage
            .admit(&empty)
            .unwrap_err()
            .to_string()
            .contains("columns, declared are")
    );
    let turned = empty.project(&[1, 0, 2, 3, 4, 5, 6, 7]).unwrap();
    assert!(
        ledger
            .admit(&turned)
            .unwrap_err()
            .to_string()
            .contains("column path where source is declared")
    );
}
