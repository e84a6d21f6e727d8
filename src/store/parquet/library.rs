//! Columns as the Parquet library writes them.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, compute_leaves};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedRowGroupWriter;

use crate::error::Result;
use crate::schema::batch::plain;

/// A column of one field, with a writer of the library for each of its leaves.
///
/// The writers are made when the first page comes. Each has a compressor and a decompressor of its own, and to make them for
/// every column of a file of few rows costs more than to write it.
pub(in crate::store) struct LibraryColumn {
    properties: Arc<WriterProperties>,
    writers: Vec<ArrowColumnWriter>,
}

impl LibraryColumn {
    /// An empty column of a file with these properties.
    pub(super) fn new(properties: Arc<WriterProperties>) -> Self {
        Self {
            properties,
            writers: Vec::new(),
        }
    }

    /// Adds a page: all rows of the arrays, one after another.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are not of the type of the field.
    pub(super) fn page(&mut self, field: &Field, arrays: &[ArrayRef]) -> Result<()> {
        if self.writers.is_empty() {
            self.writers = self.writers_of(field)?;
        }
        let arrays = arrays.iter().map(plain).collect::<Result<Vec<_>>>()?;
        let array = match arrays.as_slice() {
            [one] => ArrayRef::clone(one),
            several => concat(&several.iter().map(|array| &**array as &dyn Array).collect::<Vec<_>>())?,
        };
        for (writer, leaf) in self.writers.iter_mut().zip(compute_leaves(field, &array)?) {
            writer.write(&leaf)?;
        }
        Ok(())
    }

    /// The library gives writers for all columns of a file at once: here, of a file that has this column alone.
    fn writers_of(&self, field: &Field) -> Result<Vec<ArrowColumnWriter>> {
        let alone = Arc::new(Schema::new(vec![field.clone()]));
        let properties = WriterProperties::clone(&self.properties);
        let file = ArrowWriter::try_new(std::io::sink(), alone, Some(properties))?;
        let (_, factory) = file.into_serialized_writer()?;
        Ok(factory.create_column_writers(0)?)
    }

    /// Ends the column and writes it behind those before it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be written.
    pub(super) fn finish<W: Write + Send>(self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        for writer in self.writers {
            writer.close()?.append_to_row_group(group)?;
        }
        Ok(())
    }
}
