//! What corrections make of charges: what was charged is taken back to the last digit, and a job that pays from another
//! account or VO is priced anew under that name.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;

use super::row::Row;
use super::{Charges, Jobs};
use crate::error::{Error, Result};
use crate::schema::batch::texts;
use crate::summarise::correct::Names;
use crate::summarise::group::KeyRef;
use crate::summarise::view::RecordView;

/// A name usage is under: VO and account.
type Payer = (Option<String>, Option<String>);

/// One entry of a correction: a period of a job, taken from a payer or given to one.
pub(super) struct Move {
    job: usize,
    piece: usize,
    correction_id: Arc<str>,
    payer: Payer,
    is_taken: bool,
}

impl Charges<'_> {
    /// The entries corrections post about the job that was cut last.
    pub(super) fn moves(&self, view: &RecordView<'_>, names: &Names<'_>, job: usize, moves: &mut Vec<Move>) {
        let dimensions = view.dimensions.map(|column| column.get(job));
        for (piece, period) in self.cutter.pieces.iter().enumerate() {
            let key = KeyRef {
                vo: view.vo.get(job),
                allocation_year: period.allocation_year,
                month: period.month,
                day: period.day,
                dimensions,
                correction_id: None,
            };
            self.corrector.moves(names, job, key, |key, is_taken| {
                let own = |text: Option<&str>| text.map(str::to_owned);
                moves.push(Move {
                    job,
                    piece,
                    correction_id: Arc::from(key.correction_id.unwrap_or_default()),
                    payer: (own(key.vo), own(key.account())),
                    is_taken,
                });
            });
        }
    }

    /// Adds the rows of corrections to those of the jobs; gives the jobs under the names they were moved to.
    pub(super) fn correct(
        &mut self,
        batch: &RecordBatch,
        moves: &[Move],
        rows: &mut Vec<Row>,
    ) -> Result<Option<RecordBatch>> {
        if moves.is_empty() {
            return Ok(None);
        }
        let view = RecordView::new(batch)?;
        let account = |job: usize| view.dimension("account").and_then(|column| column.get(job));
        let is_own =
            |own: &Move| own.payer.0.as_deref() == view.vo.get(own.job) && own.payer.1.as_deref() == account(own.job);
        // Jobs under a name that is not their own, in the order they are met.
        let mut order: Vec<(usize, &Payer)> = Vec::new();
        let mut renamed: BTreeMap<(usize, &Payer), usize> = BTreeMap::new();
        for moved in moves.iter().filter(|moved| !is_own(moved)) {
            renamed.entry((moved.job, &moved.payer)).or_insert_with(|| {
                order.push((moved.job, &moved.payer));
                order.len() - 1
            });
        }
        let others = under(batch, &order)?;
        let mut anew: Vec<Vec<Row>> = Vec::with_capacity(order.len());
        if !order.is_empty() {
            let jobs = Jobs::new(&others, self)?;
            for (at, (job, _)) in order.iter().enumerate() {
                let mut own = Vec::new();
                self.charge(&jobs, at, &mut own)?;
                for row in &mut own {
                    (row.job, row.record) = (*job, batch.num_rows() + at);
                }
                anew.push(own);
            }
        }
        let mut entries = Vec::new();
        for moved in moves {
            let standing = match renamed.get(&(moved.job, &moved.payer)) {
                Some(at) => anew.get(*at).map_or(&[][..], Vec::as_slice),
                None => own_rows(rows, moved.job),
            };
            let pieces = standing.iter().filter(|row| row.piece == moved.piece);
            entries.extend(pieces.map(|row| {
                if moved.is_taken {
                    row.taken(&moved.correction_id)
                } else {
                    row.given(&moved.correction_id)
                }
            }));
        }
        rows.append(&mut entries);
        rows.sort_by(|a, b| a.key().cmp(&b.key()));
        Ok((!order.is_empty()).then_some(others))
    }
}

/// The rows of a job as it was recorded. Rows are in the order of jobs.
fn own_rows(rows: &[Row], job: usize) -> &[Row] {
    let from = rows.partition_point(|row| row.job < job);
    let until = rows.partition_point(|row| row.job <= job);
    rows.get(from..until).unwrap_or_default()
}

/// These jobs of a batch of `records`, each under the name of another payer.
fn under(batch: &RecordBatch, jobs: &[(usize, &Payer)]) -> Result<RecordBatch> {
    let mut at = Vec::with_capacity(jobs.len());
    for (job, _) in jobs {
        let place = u32::try_from(*job);
        at.push(place.map_err(|why| Error::internal("a batch of 4 billion rows").because(why))?);
    }
    let taken = take_record_batch(batch, &UInt32Array::from(at))?;
    let schema = taken.schema();
    let columns = schema.fields().iter().zip(taken.columns());
    let columns = columns.map(|(field, array)| match field.name().as_str() {
        "vo" => texts(jobs.iter().map(|(_, (vo, _))| vo.as_deref())),
        "account" => texts(jobs.iter().map(|(_, (_, account))| account.as_deref())),
        _ => ArrayRef::clone(array),
    });
    Ok(RecordBatch::try_new(SchemaRef::clone(&schema), columns.collect())?)
}
