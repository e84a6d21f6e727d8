//! Reading Parquet back.

use super::reader::ObjectReader;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::coded_type;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Fields, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ProjectionMask};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// A file tables are read from.
pub trait TableFile: ChunkReader + 'static {
    /// What errors about it call it; `None` where only the caller knows.
    fn path(&self) -> Option<&str>;
}

impl TableFile for File {
    fn path(&self) -> Option<&str> {
        None
    }
}

/// An error of the file of this name.
fn of_file(error: impl Into<Error>, path: Option<&str>) -> Error {
    let error = error.into();
    match path {
        Some(path) => error.at("path", path),
        None => error,
    }
}

/// Which rows and columns of a table are read, and how.
#[derive(Clone, Debug, Default)]
pub struct TableRows<'c> {
    /// The columns, in the order of the file; all of them when none are named.
    pub columns: Option<&'c [&'c str]>,
    /// Rows of a batch, at most.
    pub batch_rows: usize,
    /// Row groups; all of them when none are named.
    pub groups: Option<Range<usize>>,
    /// Whether texts that are stored as codes are returned as such, instead of each for itself.
    pub are_texts_coded: bool,
}

impl<'c> TableRows<'c> {
    /// All rows of these columns, texts as they are.
    #[must_use]
    pub fn of_columns(columns: &'c [&'c str], batch_rows: usize) -> Self {
        Self {
            columns: Some(columns),
            batch_rows,
            ..Self::default()
        }
    }
}

/// Reads a table in batches of at most `batch_rows` rows, all columns or the named ones (in the order of the file).
///
/// # Errors
/// As [`read_rows`].
pub fn read_table<R: TableFile>(
    reader: R,
    columns: Option<&[&str]>,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<R>> {
    let wanted = TableRows {
        columns,
        batch_rows,
        ..TableRows::default()
    };
    read_rows(reader, &wanted)
}

/// Reads some rows and columns of a table.
///
/// # Errors
/// `Data` when the file has no such column, `Io` when it is damaged. They name the file.
pub fn read_rows<R: TableFile>(
    reader: R,
    wanted: &TableRows<'_>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<R>> {
    let path = reader.path().map(str::to_owned);
    let metadata = ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new());
    let mut metadata = metadata.map_err(|e| of_file(e, path.as_deref()))?;
    if wanted.are_texts_coded {
        let options = ArrowReaderOptions::new().with_schema(coded(&metadata, wanted.columns));
        let as_codes = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options);
        metadata = as_codes.map_err(|e| of_file(e, path.as_deref()))?;
    }
    let mut builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata).with_batch_size(wanted.batch_rows.max(1));
    if let Some(groups) = &wanted.groups {
        builder = builder.with_row_groups(groups.clone().collect());
    }
    if let Some(names) = wanted.columns {
        let schema = builder.schema();
        let roots = names
            .iter()
            .map(|name| {
                schema.index_of(name).map_err(|e| {
                    let error = Error::new(Kind::Data, "the file does not have this column");
                    of_file(error.at("column", name).because(e), path.as_deref())
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        builder = builder.with_projection(mask);
    }
    let batches = builder.build().map_err(|e| of_file(e, path.as_deref()))?;
    let damaged = move |e| of_file(Error::io("a Parquet file is damaged").because(e), path.as_deref());
    Ok(batches.map(move |batch| batch.map_err(&damaged)))
}

/// The columns, with codes for those texts among `wanted` (all, if none are named) that are stored as such in all row groups:
/// of others the library would have to find them.
fn coded(metadata: &ArrowReaderMetadata, wanted: Option<&[&str]>) -> SchemaRef {
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(&name));
    let is_stored_as_codes = |name: &str| {
        let mut groups = metadata.metadata().row_groups().iter();
        groups.all(|group| chunk_of(group, name).is_some_and(|chunk| chunk.dictionary_page_offset().is_some()))
    };
    let schema = metadata.schema();
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 if is_wanted(field.name()) && is_stored_as_codes(field.name()) => {
            Arc::new(field.as_ref().clone().with_data_type(coded_type()))
        }
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Fields>(),
        schema.metadata().clone(),
    ))
}

/// The key-value pairs of the footer, sorted, without the Arrow schema.
pub fn footer<R: TableFile>(reader: &R) -> Result<Vec<(String, String)>> {
    Ok(footer_of(&metadata(reader)?))
}

/// The number of row groups.
///
/// # Errors
/// `Io` when the file is damaged.
pub fn row_groups<R: TableFile>(reader: &R) -> Result<usize> {
    Ok(metadata(reader)?.num_row_groups())
}

/// Whether a column may have nulls: by the statistics of the footer alone, and true where these do not state it.
pub fn has_nulls<R: TableFile>(reader: &R, column: &str) -> Result<bool> {
    let metadata = metadata(reader)?;
    let is_full = |group: &RowGroupMetaData| {
        let statistics = chunk_of(group, column).and_then(ColumnChunkMetaData::statistics);
        statistics.and_then(Statistics::null_count_opt) == Some(0)
    };
    Ok(!metadata.row_groups().iter().all(is_full))
}

/// The chunk of a plain column of a row group.
fn chunk_of<'g>(group: &'g RowGroupMetaData, column: &str) -> Option<&'g ColumnChunkMetaData> {
    let is_it = |chunk: &&ColumnChunkMetaData| matches!(chunk.column_path().parts(), [only] if only == column);
    group.columns().iter().find(is_it)
}

/// The number of rows.
pub fn rows<R: TableFile>(reader: &R) -> Result<u64> {
    rows_of(&metadata(reader)?, reader.path())
}

/// Footer and rows with one look at the file.
pub(super) fn describe(reader: &ObjectReader) -> Result<(Vec<(String, String)>, u64)> {
    let metadata = metadata(reader)?;
    Ok((footer_of(&metadata), rows_of(&metadata, reader.path())?))
}

fn metadata<R: TableFile>(reader: &R) -> Result<ParquetMetaData> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(reader);
    metadata.map_err(|e| of_file(e, reader.path()))
}

fn footer_of(metadata: &ParquetMetaData) -> Vec<(String, String)> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let mut footer: Vec<_> = pairs
        .filter(|pair| pair.key != ARROW_SCHEMA_META_KEY)
        // Fallback: a key of the footer without a value has the empty one.
        .map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()))
        .collect();
    footer.sort();
    footer
}

fn rows_of(metadata: &ParquetMetaData, path: Option<&str>) -> Result<u64> {
    u64::try_from(metadata.file_metadata().num_rows()).map_err(|e| {
        let error = Error::io("a Parquet file states a negative number of rows");
        of_file(error.because(e), path)
    })
}
