//! What a table of Delta Lake is: its files, its columns and its id.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::hive;
use crate::schema::Dataset;
use crate::schema::dataset::{Column, ColumnType};
use crate::store::lake_facts::{Fact, LakeFacts};
use crate::store::machinery::KEPT;
use crate::store::manifest::{FileEntry, Manifest};
use crate::store::snapshots::kept_path;

/// Files of a table, by the path that a log spells. Two files of a dataset never have one path here: the rows of files in
/// one folder name what they are of (an input file, a policy), so that no two have one content.
pub(in crate::store) type DeltaFiles = BTreeMap<String, DeltaFile>;

/// A file as a log names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct DeltaFile {
    pub(super) bytes: u64,
    pub(super) partition: Value,
}

/// What the files of a dataset are stored as, and what its table is named by.
pub(super) struct DeltaTable<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) facts: &'a LakeFacts,
}

impl DeltaTable<'_> {
    /// The action that states what a table is.
    pub(super) fn metadata(&self, made_ms: i64) -> Result<Value> {
        let dataset = self.dataset;
        let columns = dataset.columns.iter().chain(&dataset.partition);
        let fields: Vec<Value> = columns.filter_map(field).collect();
        let schema = json!({ "type": "struct", "fields": fields }).to_string();
        let partition: Vec<&str> = dataset.partition.iter().map(|column| column.name.as_str()).collect();
        Ok(json!({ "metaData": {
            "id": self.id()?,
            "name": dataset.name,
            "description": dataset.doc,
            "format": { "provider": "parquet", "options": {} },
            "schemaString": schema,
            "partitionColumns": partition,
            // What is kept is for `gc` to decide: a VACUUM or a clean-up by another program finds nothing that is old enough.
            "configuration": {
                "delta.deletedFileRetentionDuration": "interval 36500 days",
                "delta.logRetentionDuration": "interval 36500 days",
            },
            "createdTime": made_ms,
        } }))
    }

    /// The id of a table: the same in every version.
    fn id(&self) -> Result<String> {
        let pipeline = self.facts.get(Fact::Pipeline);
        let pipeline = pipeline.ok_or_else(|| Error::internal("a lake has no pipeline"))?;
        let hash = blake3::hash(format!("{pipeline}/{}", self.dataset.name).as_bytes()).to_hex();
        let mut id = String::new();
        for (nth, digit) in hash.chars().take(32).enumerate() {
            if [8, 12, 16, 20].contains(&nth) {
                id.push('-');
            }
            // A UUID of version 8, made by its own rule.
            id.push(match nth {
                12 | 16 => '8',
                _ => digit,
            });
        }
        Ok(id)
    }
}

/// The files of a dataset that have rows, as its log names them.
pub(in crate::store) fn files_of(manifest: &Manifest, dataset: &Dataset) -> DeltaFiles {
    let files = tables(manifest, dataset).map(|file| {
        let named = DeltaFile {
            bytes: file.bytes,
            partition: partition(file),
        };
        (place(file), named)
    });
    files.collect()
}

/// The tables of a dataset that have rows.
pub(super) fn tables<'a>(manifest: &'a Manifest, dataset: &'a Dataset) -> impl Iterator<Item = &'a FileEntry> {
    manifest.dataset(&dataset.name).filter(|file| file.rows > 0)
}

/// The path of a kept file in its table, as a log spells it: percent-encoded once more.
pub(super) fn place(file: &FileEntry) -> String {
    let kept = kept_path(&file.path, &file.blake3);
    let below = kept
        .strip_prefix(KEPT)
        .and_then(|path| path.strip_prefix('/')?.split_once('/'));
    below
        .map_or(kept.as_str(), |(_folder, below)| below)
        .replace('%', "%25")
}

/// The root of a table: where the files of a dataset are kept, in the folder that they are published in.
pub(super) fn root(dataset: &Dataset) -> String {
    let folder = dataset
        .path
        .split_once('/')
        .map_or(dataset.path.as_str(), |(folder, _)| folder);
    format!("{KEPT}/{folder}")
}

/// Where a file is below the root of the lake that a log of a dataset names.
pub(super) fn kept_at(dataset: &Dataset, place: &str) -> String {
    format!("{}/{}", root(dataset), place.replace("%25", "%"))
}

/// The values of the partition that a file is in; null where one is unknown.
pub(super) fn partition(file: &FileEntry) -> Value {
    let segments = file.path.split('/').filter_map(hive::parse);
    Value::Object(
        segments
            .map(|(key, value)| (key, value.map_or(Value::Null, Value::String)))
            .collect::<Map<_, _>>(),
    )
}

/// A column of the schema; `None` where Delta has no type for it.
fn field(column: &Column) -> Option<Value> {
    Some(json!({
        "name": column.name,
        "type": delta_type(column.kind)?,
        "nullable": true,
        "metadata": { "comment": column.doc, "unit": column.unit },
    }))
}

/// A list of texts with a whole number each.
fn list_of(text: &str, number: &str) -> Value {
    let field = |name: &str, kind: &str| json!({ "name": name, "type": kind, "nullable": true, "metadata": {} });
    json!({
        "type": "array",
        "elementType": { "type": "struct", "fields": [field(text, "string"), field(number, "long")] },
        "containsNull": true,
    })
}

/// The type of a column; `None` where Delta has none.
fn delta_type(kind: ColumnType) -> Option<Value> {
    Some(match kind {
        ColumnType::Text => json!("string"),
        // The 16 bytes of it: Delta has no UUIDs.
        ColumnType::Uuid => json!("binary"),
        ColumnType::Int64 => json!("long"),
        ColumnType::Bool => json!("boolean"),
        ColumnType::Date => json!("date"),
        ColumnType::Timestamp => json!("timestamp_ntz"),
        ColumnType::Decimal(precision, scale) => json!(format!("decimal({precision},{scale})")),
        ColumnType::GpuList => list_of("model", "device_n"),
        ColumnType::AmountList => list_of("name", "amount"),
        // A `long` cannot hold the larger half of the values, and not all readers give them as a decimal.
        ColumnType::UInt64 => return None,
    })
}
