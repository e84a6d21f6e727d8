//! Rows of `rejects`: one way to write them, whichever room refused them.

use std::borrow::Cow;

use arrow_array::RecordBatch;

use crate::error::Result;
use crate::ledger::Reason;
use crate::schema;
use crate::schema::batch::{identities, ints, texts};

/// A refusal as the table holds it.
pub(crate) struct RefusedRow<'a> {
    /// Name of the pipeline's source.
    pub(crate) source: &'a str,
    /// Input file.
    pub(crate) file_id: &'a str,
    /// Its path.
    pub(crate) path: &'a str,
    /// Line on which the row starts.
    pub(crate) line: i64,
    /// Offset at which it starts.
    pub(crate) byte_offset: i64,
    /// Why.
    pub(crate) reason: Reason,
    /// Why, in a sentence.
    pub(crate) detail: Cow<'a, str>,
    /// Input rows refused together.
    pub(crate) rows: i64,
    /// Length of the raw text.
    pub(crate) raw_byte_n: i64,
    /// The raw text: of rows that readers refuse, unless it is withheld.
    pub(crate) raw: Option<Cow<'a, str>>,
    /// The record, or the summary, where the row became one before it was refused.
    pub(crate) record_id: Option<u128>,
}

/// The rows as a batch of `rejects`, none of them repaired yet.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the schema is not as written here.
pub(crate) fn batch(rows: &[RefusedRow<'_>]) -> Result<RecordBatch> {
    schema::dataset("rejects")?.batch(vec![
        texts(rows.iter().map(|row| Some(row.source))),
        texts(rows.iter().map(|row| Some(row.file_id))),
        texts(rows.iter().map(|row| Some(row.path))),
        ints(rows.iter().map(|row| Some(row.line))),
        ints(rows.iter().map(|row| Some(row.byte_offset))),
        texts(rows.iter().map(|row| Some(row.reason.code()))),
        texts(rows.iter().map(|row| Some(&row.detail))),
        ints(rows.iter().map(|row| Some(row.rows))),
        ints(rows.iter().map(|row| Some(row.raw_byte_n))),
        texts(rows.iter().map(|row| row.raw.as_deref())),
        identities(rows.iter().map(|row| row.record_id))?,
        texts(rows.iter().map(|_| None::<&str>)),
    ])
}
