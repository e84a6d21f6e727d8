//! What the files of a table have in common: columns, encodings, and what their footers state.

use std::io::Write;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, TypePtr};

use super::table::{PAGE_ROWS, ROW_GROUP_ROWS};
use crate::error::{Error, Kind, Result};
use crate::schema;

/// Chance that a Bloom filter sends a reader to a row group without a match.
const BLOOM_FALSE_POSITIVES: f64 = 0.01;

/// What is packed are codes and ids, which come out hardly smaller at level 3, in up to three times the time.
const ZSTD_LEVEL: i32 = 1;

/// Metadata of a table other than its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions<'a> {
    /// Columns by which the caller has sorted the rows: ascending, nulls first. Stated in the file, not checked.
    pub sorting: Vec<&'a str>,
    /// Columns that are looked up by value and get a bloom filter.
    pub bloom: Vec<&'a str>,
    /// Columns for which a dictionary is not the best layout.
    pub encodings: Vec<(&'a str, schema::Encoding)>,
    /// Key-value pairs of the footer, in any order.
    pub footer: Vec<(String, String)>,
}

/// The form of the files of a table. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct TableForm {
    schema: SchemaRef,
    root: TypePtr,
    properties: WriterPropertiesPtr,
}

impl TableForm {
    /// Of tables with these columns.
    ///
    /// # Errors
    /// `Internal` when an option names a column the schema does not have, or a key twice.
    pub(super) fn new(schema: SchemaRef, options: &TableOptions<'_>) -> Result<Self> {
        let columns = ArrowSchemaConverter::new().convert(&schema)?;
        let mut properties = properties(&columns, options)?;
        add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
        Ok(Self {
            root: columns.root_schema_ptr(),
            schema,
            properties: Arc::new(properties),
        })
    }

    /// The columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Begins a file.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be begun.
    pub(super) fn begin<W: Write + Send>(&self, writer: W) -> Result<SerializedFileWriter<W>> {
        let (root, properties) = (TypePtr::clone(&self.root), WriterPropertiesPtr::clone(&self.properties));
        Ok(SerializedFileWriter::new(writer, root, properties)?)
    }
}

fn properties(columns: &SchemaDescriptor, options: &TableOptions<'_>) -> Result<WriterProperties> {
    let mut footer = options.footer.clone();
    footer.sort();
    if let Some([first, _]) = footer.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
        return Err(Error::internal("the footer of a table names a key twice").at("key", &first.0));
    }
    let footer = footer
        .into_iter()
        .map(|(key, value)| KeyValue::new(key, value))
        .collect();
    let sorting = options
        .sorting
        .iter()
        .map(|name| {
            let column_idx = i32::try_from(leaf(columns, name)?)
                .map_err(|e| Error::internal("a table has too many columns").because(e))?;
            Ok(SortingColumn {
                column_idx,
                descending: false,
                nulls_first: true,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let zstd = Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?);
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("gridtally ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(zstd)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_write_batch_size(PAGE_ROWS)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_key_value_metadata(Some(footer))
        .set_sorting_columns((!sorting.is_empty()).then_some(sorting));
    for name in &options.bloom {
        leaf(columns, name)?;
        let path = ColumnPath::from(*name);
        builder = builder
            .set_column_bloom_filter_enabled(path.clone(), true)
            .set_column_bloom_filter_fpp(path.clone(), BLOOM_FALSE_POSITIVES)
            .set_column_bloom_filter_max_ndv(path, ROW_GROUP_ROWS as u64);
    }
    for (name, encoding) in &options.encodings {
        let (encoding, packed) = match encoding {
            schema::Encoding::Dictionary => continue,
            schema::Encoding::Plain => (Encoding::PLAIN, zstd),
            schema::Encoding::Delta => (Encoding::DELTA_BINARY_PACKED, Compression::UNCOMPRESSED),
            schema::Encoding::Prefix => (Encoding::DELTA_BYTE_ARRAY, zstd),
            schema::Encoding::Hash => (Encoding::PLAIN, Compression::UNCOMPRESSED),
            schema::Encoding::Flag => (Encoding::RLE, Compression::UNCOMPRESSED),
        };
        leaf(columns, name)?;
        let path = ColumnPath::from(*name);
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path.clone(), encoding)
            .set_column_compression(path, packed);
    }
    Ok(builder.build())
}

/// The place of a plain column among the leaves of the schema.
fn leaf(columns: &SchemaDescriptor, name: &str) -> Result<usize> {
    columns
        .columns()
        .iter()
        .position(|column| matches!(column.path().parts(), [only] if only == name))
        .ok_or_else(|| Error::new(Kind::Internal, "a table has no such plain column").at("column", name))
}
