//! Refusals and summaries of files as blocks of a shard, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

use super::product::{NewBlock, ProductWriter, Section};
use crate::dedupe::Reject;
use crate::dedupe::keys::KeySample;
use crate::dedupe::summary::{from_batch, to_batch};
use crate::error::{Error, Kind, Result};
use crate::ingest::reject_buffer::{RejectBuffer, RejectOrigin};
use crate::ledger::Reason;
use crate::numbers::stored_u64;
use crate::record::{SiteMonth, Summary};
use crate::runtime::scratch::PackedBatch;
use crate::schema;
use crate::schema::batch::{int, text, word};
use crate::sources::Position;
use crate::time::{Day, Month};

/// Refusals of a block.
const REJECT_ROWS: usize = 4096;
/// Bytes of refusals that make a block, however few they are.
const REJECT_BYTES: usize = 4 << 20;
/// Summaries of a block.
const SUMMARY_ROWS: usize = 1 << 14;

/// Collects refusals of one file after another.
#[derive(Default)]
pub(crate) struct RejectBlocks {
    batches: Vec<RecordBatch>,
    row_n: usize,
    bytes: usize,
}

impl RejectBlocks {
    /// Takes the refusals of the file with this place in the list.
    ///
    /// # Errors
    /// [`Kind::Io`] when a temporary file cannot be read or written.
    pub(crate) fn take(&mut self, place: usize, rejects: RejectBuffer, into: &mut ProductWriter) -> Result<()> {
        if rejects.is_empty() {
            return Ok(());
        }
        let place = place.to_string();
        let origin = RejectOrigin {
            file_id: &place,
            ..RejectOrigin::default()
        };
        rejects.into_batches(origin, |batch| {
            self.row_n += batch.num_rows();
            self.bytes += batch.get_array_memory_size();
            self.batches.push(batch.clone());
            if self.row_n >= REJECT_ROWS || self.bytes >= REJECT_BYTES {
                self.write(into)?;
            }
            Ok(())
        })
    }

    /// Writes what is left as a block.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(crate) fn write(&mut self, into: &mut ProductWriter) -> Result<()> {
        let batches = std::mem::take(&mut self.batches);
        (self.row_n, self.bytes) = (0, 0);
        let Some(first) = batches.first() else {
            return Ok(());
        };
        let batch = concat_batches(&first.schema(), &batches)?;
        let new = NewBlock {
            section: Section::Rejects,
            site: "",
            day: 0,
            row_n: batch.num_rows(),
            keys: KeySample::default(),
        };
        into.push(new, &PackedBatch::pack(&batch)?)
    }
}

/// Calls `each` with the place in the list and the refusal of every row.
///
/// # Errors
/// [`Kind::Data`] when the rows are not those of a shard.
pub(crate) fn rejects_of(batch: &RecordBatch, mut each: impl FnMut(usize, Reject) -> Result<()>) -> Result<()> {
    let (files, reasons, details) = (text(batch, "file_id")?, text(batch, "reason")?, text(batch, "detail")?);
    let (lines, offsets) = (int(batch, "line")?, int(batch, "byte_offset")?);
    let (rows, lengths, raw) = (int(batch, "row_n")?, int(batch, "raw_byte_n")?, text(batch, "raw")?);
    for row in 0..batch.num_rows() {
        let reason = Reason::parse(reasons.value(row)).ok_or_else(|| damaged("reason"))?;
        let reject = Reject {
            reason,
            at: Position {
                line: stored_u64(lines.value(row), "line")?,
                byte_offset: stored_u64(offsets.value(row), "byte_offset")?,
            },
            rows: stored_u64(rows.value(row), "row_n")?,
            detail: details.value(row).to_owned(),
            raw_byte_n: stored_u64(lengths.value(row), "raw_byte_n")?,
            raw: word(raw, row).map(|raw| raw.as_bytes().to_vec()),
        };
        each(place_of(files.value(row))?, reject)?;
    }
    Ok(())
}

/// Writes summaries, each of the file with the place in the list that its `file_id` names, as blocks by site and month.
///
/// # Errors
/// [`Kind::Io`] when a temporary file cannot be written.
pub(crate) fn write_summaries(summaries: Vec<Summary>, into: &mut ProductWriter) -> Result<()> {
    let dataset = schema::dataset("summary_history")?;
    let mut by_place: BTreeMap<SiteMonth, Vec<Summary>> = BTreeMap::new();
    for summary in summaries {
        let place = SiteMonth::new(summary.site.as_str(), summary.month);
        by_place.entry(place).or_default().push(summary);
    }
    for (SiteMonth { site, month }, mut rows) in by_place {
        let order = |row: &Summary| Ok::<_, Error>((place_of(&row.file_id)?, row.line, row.byte_offset));
        let mut keyed = rows
            .drain(..)
            .map(|row| Ok((order(&row)?, row)))
            .collect::<Result<Vec<_>>>()?;
        keyed.sort_by_key(|(order, _)| *order);
        let rows: Vec<&Summary> = keyed.iter().map(|(_, row)| row).collect();
        for rows in rows.chunks(SUMMARY_ROWS) {
            let new = NewBlock {
                section: Section::Summaries,
                site: &site,
                day: month.first_day(),
                row_n: rows.len(),
                keys: KeySample::default(),
            };
            into.push(new, &PackedBatch::pack(&to_batch(rows, dataset)?)?)?;
        }
    }
    Ok(())
}

/// The summaries of a block, by place in the list.
///
/// # Errors
/// [`Kind::Data`] when they are not those of a shard.
pub(crate) fn summaries_of(batch: &RecordBatch, site: &str, day: Day) -> Result<Vec<(usize, Summary)>> {
    let month = Month::of_day(day).ok_or_else(|| damaged("month"))?;
    let rows = from_batch(batch, site, month)?.into_iter();
    rows.map(|row| Ok((place_of(&row.file_id)?, row))).collect()
}

/// How rows of these blocks name a file.
pub(crate) fn place_word(place: usize) -> Arc<str> {
    Arc::from(place.to_string())
}

fn place_of(word: &str) -> Result<usize> {
    word.parse().map_err(|_| damaged("file"))
}

fn damaged(what: &str) -> Error {
    Error::new(Kind::Data, format!("rows of a shard name no {what}: read it again"))
}
