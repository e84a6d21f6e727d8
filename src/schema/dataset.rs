//! One dataset: its columns, how it is partitioned and sorted, and the check at a room's door.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

use super::batch::is_coded;
use crate::error::{Error, Result};

/// Types a column can have. A closed list, so that every reader of the lake knows what to expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8.
    Text,
    /// 16 bytes, shown as a UUID.
    Uuid,
    /// Signed 64-bit integer.
    Int64,
    /// Unsigned 64-bit integer.
    UInt64,
    /// Truth value.
    Bool,
    /// Calendar date.
    Date,
    /// Milliseconds of UTC, stored without a zone.
    Timestamp,
    /// Exact decimal with precision and scale.
    Decimal(u8, i8),
    /// List of (model, number of devices).
    GpuList,
    /// List of (name, amount).
    AmountList,
}

impl ColumnType {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "text" => Self::Text,
            "uuid" => Self::Uuid,
            "int64" => Self::Int64,
            "uint64" => Self::UInt64,
            "bool" => Self::Bool,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            "list<gpu>" => Self::GpuList,
            "list<amount>" => Self::AmountList,
            other => {
                let inside = other.strip_prefix("decimal(")?.strip_suffix(')')?;
                let (precision, scale) = inside.split_once(',')?;
                Self::Decimal(precision.trim().parse().ok()?, scale.trim().parse().ok()?)
            }
        })
    }

    /// The Arrow type.
    #[must_use]
    pub fn arrow(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Uuid => DataType::FixedSizeBinary(16),
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Bool => DataType::Boolean,
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, None),
            Self::Decimal(precision, scale) => DataType::Decimal128(precision, scale),
            Self::GpuList => list_of(gpu_fields()),
            Self::AmountList => list_of(amount_fields()),
        }
    }

    /// The type's name in DuckDB, for views and the reference tables.
    #[must_use]
    pub fn sql(self) -> String {
        match self {
            Self::Text => "VARCHAR".to_owned(),
            Self::Uuid => "UUID".to_owned(),
            Self::Int64 => "BIGINT".to_owned(),
            Self::UInt64 => "UBIGINT".to_owned(),
            Self::Bool => "BOOLEAN".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::Timestamp => "TIMESTAMP".to_owned(),
            Self::Decimal(precision, scale) => format!("DECIMAL({precision},{scale})"),
            Self::GpuList => "STRUCT(model VARCHAR, device_n BIGINT)[]".to_owned(),
            Self::AmountList => "STRUCT(name VARCHAR, amount BIGINT)[]".to_owned(),
        }
    }
}

/// The fields of one element of `gpus`.
#[must_use]
pub fn gpu_fields() -> Fields {
    Fields::from(vec![
        Field::new("model", DataType::Utf8, false),
        Field::new("device_n", DataType::Int64, false),
    ])
}

/// The fields of one element of `burst_buffer_byte` and `licenses`.
#[must_use]
pub fn amount_fields() -> Fields {
    Fields::from(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("amount", DataType::Int64, false),
    ])
}

fn list_of(fields: Fields) -> DataType {
    DataType::List(Arc::new(Field::new("element", DataType::Struct(fields), false)))
}

/// How a column's values are laid out in Parquet, where the usual dictionary does not pay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Dictionary, for values that repeat.
    #[default]
    Dictionary,
    /// As they are, for values that hardly ever repeat.
    Plain,
    /// Differences of neighbours, for integers and times that rise; what is left cannot be packed further.
    Delta,
    /// What differs from the value before, for ids that begin alike.
    Prefix,
    /// As they are and not packed, for values without any pattern: hashes.
    Hash,
    /// Runs of equal values, for flags; what is left need not be packed further.
    Flag,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name, ending in its unit where it has one.
    pub name: String,
    /// Type.
    pub kind: ColumnType,
    /// Unit; empty for text and the like.
    pub unit: String,
    /// Whether it can be unknown.
    pub null: bool,
    /// Meaning.
    pub doc: String,
    /// Where it comes from, per source dialect.
    pub origin: BTreeMap<String, String>,
    /// Layout in Parquet.
    pub encoding: Encoding,
}

/// Text in the path of a file for an unknown partition value. No VO is called so: the name of none begins
/// with an underscore.
pub const UNKNOWN_PARTITION: &str = "__unknown__";

/// One change of a dataset.
#[derive(Clone, Debug)]
pub struct DatasetChange {
    /// Version that brought it.
    pub version: u32,
    /// What changed.
    pub note: String,
}

/// One dataset of the lake.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Name.
    pub name: String,
    /// Version; rises when a column changes.
    pub version: u32,
    /// Short title.
    pub title: String,
    /// Meaning.
    pub doc: String,
    /// What one row is.
    pub grain: String,
    /// Path pattern inside the lake.
    pub path: String,
    /// Columns held by the path instead of the file.
    pub partition: Vec<Column>,
    /// Columns held by the file.
    pub columns: Vec<Column>,
    /// Columns the rows are sorted by.
    pub sort: Vec<String>,
    /// Columns with a bloom filter.
    pub bloom: Vec<String>,
    /// History.
    pub changes: Vec<DatasetChange>,
    arrow: SchemaRef,
}

impl Dataset {
    /// Reads one `schemas/*.toml`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`]: the files are compiled in, so a mistake in one is a bug.
    pub fn parse(text: &str) -> Result<Self> {
        let file: raw::File = toml::from_str(text).map_err(|e| Error::internal("a schema file is wrong").because(e))?;
        let head = file.dataset;
        let wrong = |what: &str| Error::internal(what.to_owned()).at("dataset", &head.name);
        let mut columns = Vec::with_capacity(file.column.len());
        for column in file.column {
            columns.push(column.resolve().ok_or_else(|| wrong("unknown column type"))?);
        }
        let mut partition = Vec::with_capacity(head.partition.len());
        for column in &head.partition {
            partition.push(
                column
                    .clone()
                    .resolve()
                    .ok_or_else(|| wrong("unknown partition type"))?,
            );
        }
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let metadata = HashMap::from([
            ("gridtally.dataset".to_owned(), head.name.clone()),
            ("gridtally.schema_version".to_owned(), head.version.to_string()),
        ]);
        Ok(Self {
            arrow: Arc::new(Schema::new_with_metadata(fields, metadata)),
            name: head.name,
            version: head.version,
            title: head.title,
            doc: head.doc,
            grain: head.grain,
            path: head.path,
            partition,
            columns,
            sort: head.sort,
            bloom: head.bloom,
            changes: file
                .change
                .into_iter()
                .map(|c| DatasetChange {
                    version: c.version,
                    note: c.note,
                })
                .collect(),
        })
    }

    /// The Arrow schema of its files; fields carry `unit` and `description`.
    #[must_use]
    pub fn arrow(&self) -> SchemaRef {
        Arc::clone(&self.arrow)
    }

    /// The position of a column, for callers that look columns up once.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when there is no such column.
    pub fn position(&self, column: &str) -> Result<usize> {
        self.columns
            .iter()
            .position(|c| c.name == column)
            .ok_or_else(|| Error::internal(format!("dataset {} has no column {column}", self.name)))
    }

    /// The check at a room's door: names, types, order and nullability are the declared ones; texts may be coded.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] naming the first difference.
    pub fn admit(&self, batch: &RecordBatch) -> Result<()> {
        let drift = |what: String| Err(Error::internal(what).at("dataset", &self.name));
        if batch.num_columns() != self.columns.len() {
            return drift(format!(
                "{} columns, declared are {}",
                batch.num_columns(),
                self.columns.len()
            ));
        }
        for (field, (declared, array)) in batch
            .schema_ref()
            .fields()
            .iter()
            .zip(self.columns.iter().zip(batch.columns()))
        {
            if field.name() != &declared.name {
                return drift(format!("column {} where {} is declared", field.name(), declared.name));
            }
            let is_coded_text = declared.kind == ColumnType::Text && is_coded(array.data_type());
            if !is_coded_text && array.data_type() != &declared.kind.arrow() {
                return drift(format!(
                    "column {} is {}, declared is {:?}",
                    declared.name,
                    array.data_type(),
                    declared.kind
                ));
            }
            if !declared.null && array.null_count() > 0 {
                return drift(format!("column {} has nulls and must not", declared.name));
            }
        }
        Ok(())
    }
}

/// The Arrow field of a column, with `unit` and `description`.
pub(crate) fn field(column: &Column) -> Field {
    let mut metadata = HashMap::from([("description".to_owned(), column.doc.clone())]);
    if !column.unit.is_empty() {
        metadata.insert("unit".to_owned(), column.unit.clone());
    }
    if column.kind == ColumnType::Uuid {
        metadata.insert("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
    }
    Field::new(&column.name, column.kind.arrow(), column.null).with_metadata(metadata)
}

/// The files as they are written.
mod raw {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct File {
        pub(super) dataset: Head,
        pub(super) column: Vec<Column>,
        pub(super) change: Vec<DatasetChange>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Head {
        pub(super) name: String,
        pub(super) version: u32,
        pub(super) title: String,
        pub(super) doc: String,
        pub(super) grain: String,
        pub(super) path: String,
        pub(super) partition: Vec<Column>,
        pub(super) sort: Vec<String>,
        pub(super) bloom: Vec<String>,
    }

    #[derive(Clone, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Column {
        name: String,
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        unit: String,
        null: bool,
        doc: String,
        #[serde(default, rename = "from")]
        origin: BTreeMap<String, String>,
        #[serde(default)]
        encoding: String,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct DatasetChange {
        pub(super) version: u32,
        pub(super) note: String,
    }

    impl Column {
        pub(super) fn resolve(self) -> Option<super::Column> {
            let kind = super::ColumnType::parse(&self.kind)?;
            Some(super::Column {
                name: self.name,
                unit: self.unit,
                null: self.null,
                doc: self.doc,
                origin: self.origin,
                kind,
                encoding: match self.encoding.as_str() {
                    "" if kind == super::ColumnType::Bool => super::Encoding::Flag,
                    "" => super::Encoding::Dictionary,
                    "hash" => super::Encoding::Hash,
                    "prefix" => super::Encoding::Prefix,
                    "plain" => super::Encoding::Plain,
                    "delta" => super::Encoding::Delta,
                    _ => return None,
                },
            })
        }
    }
}
