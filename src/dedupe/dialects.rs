//! The dialects of the rows of a batch: looked up by word once for each word, not for each row.

use arrow_array::RecordBatch;

use crate::error::Result;
use crate::schema::batch::{ColumnWords, number, words};
use crate::sources::dialect::Dialect;
use crate::sources::registry;

/// The dialect a row was read as.
pub(super) struct RowDialects<'a> {
    words: ColumnWords<'a>,
    /// By code, where texts are coded.
    coded: Vec<Option<Dialect>>,
    /// Of the row looked up last.
    last: Option<(&'a str, Option<Dialect>)>,
}

impl<'a> RowDialects<'a> {
    /// Of the rows of `batch`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it has no formats.
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self> {
        let words = words(batch, "format")?;
        let coded = match words {
            ColumnWords::Coded(_, entries) => entries.iter().map(|word| registry::named(word?)).collect(),
            ColumnWords::Plain(_) => Vec::new(),
        };
        Ok(Self {
            words,
            coded,
            last: None,
        })
    }

    /// The dialect of a row, `None` for an unknown word.
    #[inline]
    pub(super) fn of(&mut self, row: usize) -> Option<Dialect> {
        if let ColumnWords::Coded(codes, _) = self.words {
            let code = number(codes, row).and_then(|code| usize::try_from(code).ok())?;
            return self.coded.get(code).copied().flatten();
        }
        let word = self.words.value(row);
        match self.last {
            Some((last, dialect)) if last == word => dialect,
            _ => self.last.insert((word, registry::named(word))).1,
        }
    }
}
