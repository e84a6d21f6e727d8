//! Writing Parquet: the same rows and options give the same bytes, however the rows arrive.
//!
//! The library's writer looks at its page limits once per call and per mini-batch, and it makes the mini-batches larger
//! for a column without nulls in the slice at hand. So the bytes would depend on how rows are cut into batches. Here
//! every call gets exactly [`PAGE_ROWS`] rows (the last one fewer), and the mini-batch and the page have the same
//! number of rows, so neither depends on the caller any more. A row group is six such pages.

use std::io::Write;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;

use super::parquet::{FileBuffers, PageBuffers, ParquetColumn};
use super::table_form::{TableForm, TableOptions};
use crate::error::{Error, Result};
use crate::numbers::Extent;
use crate::schema::batch::is_coded;

/// Rows of a row group: what `DuckDB` hands to one thread.
pub const ROW_GROUP_ROWS: usize = 122_880;

/// Rows of a page.
pub const PAGE_ROWS: usize = ROW_GROUP_ROWS / 6;

/// Key of the footer entry that holds the schema version of a file, a plain number.
pub const SCHEMA_VERSION_KEY: &str = "gridtally.schema_version";

/// Writes one Parquet file.
pub struct TableWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    schema: SchemaRef,
    /// The row group under construction; empty before its first page.
    columns: Vec<ParquetColumn>,
    bench: FileBuffers,
    /// Of the second thread, while there is one.
    second: Option<FileBuffers>,
    group_rows: usize,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    rows: u64,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file in `writer`.
    ///
    /// # Errors
    /// `Internal` when an option names a column the schema does not have, or a key twice.
    pub fn create(writer: W, schema: SchemaRef, options: &TableOptions<'_>) -> Result<Self> {
        Self::of_form(writer, &TableForm::new(schema, options)?)
    }

    /// Starts a file of a form in `writer`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be begun.
    pub(super) fn of_form(writer: W, form: &TableForm) -> Result<Self> {
        Ok(Self {
            writer: form.begin(writer)?,
            schema: SchemaRef::clone(form.schema()),
            columns: Vec::new(),
            bench: FileBuffers::default(),
            second: None,
            group_rows: 0,
            pending: Vec::new(),
            pending_rows: 0,
            rows: 0,
        })
    }

    /// Adds rows. Texts may come as codes of 32 bits.
    ///
    /// # Errors
    /// `Internal` when they do not have the types of the schema, or nulls where it allows none.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write_hurried(batch, || false)
    }

    /// As [`TableWriter::write`]. Before every page it is asked whether two threads are to make it, as pays where one of two
    /// has nothing else to do.
    ///
    /// # Errors
    /// As [`TableWriter::write`].
    pub fn write_hurried(&mut self, batch: &RecordBatch, is_hurried: impl Fn() -> bool) -> Result<()> {
        self.admit(batch)?;
        let mut start = 0;
        while start < batch.num_rows() {
            let length = (batch.num_rows() - start).min(PAGE_ROWS - self.pending_rows);
            self.pending.push(batch.slice(start, length));
            self.pending_rows += length;
            self.rows = self.rows.further(length as u64);
            start += length;
            if self.pending_rows == PAGE_ROWS {
                self.write_pending(is_hurried())?;
            }
        }
        Ok(())
    }

    /// The file's schema holds, with its metadata; batches only have to agree in types.
    fn admit(&self, batch: &RecordBatch) -> Result<()> {
        let fields = self.schema.fields();
        if batch.num_columns() != fields.len() {
            return Err(Error::internal("a batch has other columns than its table"));
        }
        for (field, array) in fields.iter().zip(batch.columns()) {
            let wrong = |what: &str| Err(Error::internal(what.to_owned()).at("column", field.name()));
            if !is_of(field, array) {
                return wrong("a column is of another type than its table has");
            }
            if !field.is_nullable() && array.null_count() > 0 {
                return wrong("a column has nulls and must not");
            }
        }
        Ok(())
    }

    /// Adds a key-value pair to the footer: provenance that is only known once the rows are.
    pub fn note(&mut self, key: &str, value: &str) {
        self.writer
            .append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
    }

    /// Ends the file; gives the number of its rows and the writer it went to.
    pub fn finish(mut self) -> Result<(u64, W)> {
        self.write_pending(false)?;
        self.write_group()?;
        Ok((self.rows, self.writer.into_inner()?))
    }

    /// Adds a page to each column.
    fn write_pending(&mut self, is_hurried: bool) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        if self.columns.is_empty() {
            self.begin_group()?;
        }
        let columns = self.schema.fields().iter().zip(&mut self.columns).enumerate();
        let columns = Mutex::new(columns);
        // Fallback: a panic of another thread poisons the lock, and ends the run itself.
        let next = || columns.lock().ok().and_then(|mut columns| columns.next());
        let pages = |bench: &mut PageBuffers| {
            while let Some((at, (field, column))) = next() {
                let arrays = pending.iter().filter_map(|batch| batch.columns().get(at).cloned());
                column.page(field, &arrays.collect::<Vec<_>>(), bench)?;
            }
            Ok(())
        };
        if is_hurried {
            let (bench, second) = (&mut self.bench, self.second.get_or_insert_default());
            std::thread::scope(|scope| {
                let other = std::thread::Builder::new().spawn_scoped(scope, || pages(second));
                let made = pages(bench);
                let dead = |_| Err(Error::internal("a writing thread died"));
                // Where the machine gives no thread, all pages are made by this one.
                match other {
                    Ok(other) => made.and(other.join().unwrap_or_else(dead)),
                    Err(_) => made,
                }
            })?;
        } else {
            pages(&mut self.bench)?;
        }
        self.group_rows += std::mem::take(&mut self.pending_rows);
        if self.group_rows == ROW_GROUP_ROWS {
            self.write_group()?;
        }
        Ok(())
    }

    fn begin_group(&mut self) -> Result<()> {
        let properties = Arc::clone(self.writer.properties());
        let mut leaves = self.writer.schema_descr().columns();
        for field in self.schema.fields() {
            let is_its = |leaf: &&_| matches!(path(leaf), [first, ..] if first == field.name());
            let n = leaves.iter().take_while(is_its).count();
            // Fallback: never taken, as many leaves were counted just before.
            let (own, others) = leaves.split_at_checked(n).unwrap_or_default();
            leaves = others;
            self.columns.push(ParquetColumn::new(field, own, &properties)?);
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        self.group_rows = 0;
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            column.finish(&mut self.bench, &mut group)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Whether an array can be written as `field`.
fn is_of(field: &Field, array: &ArrayRef) -> bool {
    match (field.data_type(), array.data_type()) {
        (DataType::Utf8, found) if is_coded(found) => true,
        (declared, found) => declared == found,
    }
}

fn path(leaf: &ColumnDescPtr) -> &[String] {
    leaf.path().parts()
}
