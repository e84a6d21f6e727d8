//! What corrections make of charges: what was charged is taken back to the last digit, and a job that pays from another
//! account or VO is priced again under that name.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take_record_batch;

use super::Charges;
use super::row::ChargeRow;
use crate::error::{Error, Result};
use crate::numbers::Part;
use crate::reference::correction::CorrectionTable;
use crate::schema::batch::{decoded, texts, words};
use crate::summarise::correct::{CorrectedNames, Corrector};
use crate::summarise::group::{DIMENSIONS, KeyRef};
use crate::summarise::view::RecordView;
use crate::time::calendar::Period;

/// A name usage is under: VO and account.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ReassignedPayer {
    vo: Option<String>,
    account: Option<String>,
}

/// One entry of a correction: a period of a job, taken from a payer or given to one.
pub(super) struct ReassignedMove {
    job: usize,
    piece: usize,
    correction_id: Arc<str>,
    payer: ReassignedPayer,
    is_taken: bool,
}

impl ReassignedMove {
    fn new(job: usize, piece: usize, under: KeyRef<'_>, is_taken: bool) -> Self {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Self {
            job,
            piece,
            // Fallback: never taken, a reassignment has the correction that made it.
            correction_id: Arc::from(under.correction_id.unwrap_or_default()),
            payer: ReassignedPayer {
                vo: own(under.vo),
                account: own(under.account()),
            },
            is_taken,
        }
    }

    fn renamed(&self) -> RenamedJob<'_> {
        RenamedJob {
            job: self.job,
            payer: &self.payer,
        }
    }
}

/// A job of a batch under a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RenamedJob<'m> {
    job: usize,
    payer: &'m ReassignedPayer,
}

/// A job of a batch in a period it is charged for.
#[derive(Clone, Copy, Debug)]
pub struct ChargedPeriod {
    /// Its place in the batch.
    pub job: usize,
    /// The period.
    pub period: Period,
}

/// Jobs of a batch under names that are not their own.
struct Renamed<'m> {
    /// In the order they are met.
    order: Vec<RenamedJob<'m>>,
    places: BTreeMap<RenamedJob<'m>, usize>,
}

impl<'m> Renamed<'m> {
    fn of(batch: &RecordBatch, moves: &'m [ReassignedMove]) -> Result<Self> {
        let (vo, account) = (words(batch, "vo")?, words(batch, "account")?);
        let mut renamed = Self {
            order: Vec::new(),
            places: BTreeMap::new(),
        };
        for moved in moves {
            let (own_vo, own_account) = (vo.get(moved.job), account.get(moved.job));
            if moved.payer.vo.as_deref() == own_vo && moved.payer.account.as_deref() == own_account {
                continue;
            }
            let job = moved.renamed();
            renamed.places.entry(job).or_insert_with(|| {
                renamed.order.push(job);
                renamed.order.len() - 1
            });
        }
        Ok(renamed)
    }

    /// The place of the name an entry is under; `None` for the job's own.
    fn place(&self, moved: &ReassignedMove) -> Option<usize> {
        self.places.get(&moved.renamed()).copied()
    }
}

/// Moves charges that do not depend on the payer from payer to payer, by the corrections of a site.
pub struct Reassignments<'a>(Corrector<'a>);

/// An entry of a correction about a charge.
pub struct ReassignedEntry {
    /// Place of the charge among those asked about.
    pub charge: usize,
    /// Where its recorded columns stand: in the batch, or behind it among jobs under other names.
    pub record: usize,
    /// The correction.
    pub correction_id: Arc<str>,
    /// Whether it is taken, not given.
    pub is_taken: bool,
}

impl<'a> Reassignments<'a> {
    /// Those of a site.
    #[must_use]
    pub fn new(table: Option<&'a CorrectionTable>, site: &str) -> Self {
        Self(Corrector::new(table, site))
    }

    /// The columns of `records` that are read besides [`super::RECORDED`].
    #[must_use]
    pub fn columns(&self) -> &'static [&'static str] {
        if self.0.has_rules() {
            &["user", "file_id", "wckey", "vo_group", "vo_role", "submit_host"]
        } else {
            &[]
        }
    }

    /// The entries about charges, each with its job in a batch of `records` and by its period; and the jobs under
    /// other names.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a column was not read.
    pub fn lead(
        &self,
        batch: &RecordBatch,
        charges: &[ChargedPeriod],
    ) -> Result<(Vec<ReassignedEntry>, Option<RecordBatch>)> {
        let Some(names) = self.0.names(batch)? else {
            return Ok((Vec::new(), None));
        };
        let vo = words(batch, "vo")?;
        let columns = DIMENSIONS.iter().map(|name| words(batch, name));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut moves = Vec::new();
        for (nth, ChargedPeriod { job, period }) in charges.iter().enumerate() {
            let mut dimensions = [None; DIMENSIONS.len()];
            for (value, column) in dimensions.iter_mut().zip(&columns) {
                *value = column.get(*job);
            }
            let key = KeyRef {
                vo: vo.get(*job),
                allocation_year: period.allocation_year,
                month: period.month,
                day: period.day,
                dimensions,
                correction_id: None,
            };
            self.0.moves(&names, *job, key, |under, is_taken| {
                moves.push(ReassignedMove::new(*job, nth, under, is_taken));
            });
        }
        let renamed = Renamed::of(batch, &moves)?;
        let entries = moves.iter().map(|moved| ReassignedEntry {
            charge: moved.piece,
            record: renamed.place(moved).map_or(moved.job, |at| batch.num_rows() + at),
            correction_id: Arc::clone(&moved.correction_id),
            is_taken: moved.is_taken,
        });
        let others = if renamed.order.is_empty() {
            None
        } else {
            Some(under(batch, &renamed.order)?)
        };
        Ok((entries.collect(), others))
    }
}

impl Charges<'_> {
    /// The entries corrections post about the job that was cut last.
    pub(super) fn moves(
        &self,
        view: &RecordView<'_>,
        names: &CorrectedNames<'_>,
        job: usize,
        moves: &mut Vec<ReassignedMove>,
    ) {
        let dimensions = view.dimensions.map(|column| column.get(job));
        for (piece, period) in self.charger.cutter.pieces.iter().enumerate() {
            let key = KeyRef {
                vo: view.vo.get(job),
                allocation_year: period.allocation_year,
                month: period.month,
                day: period.day,
                dimensions,
                correction_id: None,
            };
            self.corrector.moves(names, job, key, |under, is_taken| {
                moves.push(ReassignedMove::new(job, piece, under, is_taken));
            });
        }
    }

    /// Adds the rows of corrections to those of the jobs; gives the jobs under the names they were moved to.
    pub(super) fn correct(
        &mut self,
        batch: &RecordBatch,
        moves: &[ReassignedMove],
        rows: &mut Vec<ChargeRow>,
    ) -> Result<Option<RecordBatch>> {
        if moves.is_empty() {
            return Ok(None);
        }
        let renamed = Renamed::of(batch, moves)?;
        let order = &renamed.order;
        let others = under(batch, order)?;
        let mut rebuilt: Vec<Vec<ChargeRow>> = Vec::with_capacity(order.len());
        if !order.is_empty() {
            let jobs = self.charger.jobs(&others)?;
            for (at, RenamedJob { job, .. }) in order.iter().enumerate() {
                let mut own = self.charger.rows(&jobs, at)?;
                for row in &mut own {
                    (row.job, row.figures.record) = (*job, batch.num_rows() + at);
                }
                rebuilt.push(own);
            }
        }
        let mut entries = Vec::new();
        for moved in moves {
            let standing = match renamed.place(moved) {
                Some(at) => rebuilt.get(at).map_or(&[][..], Vec::as_slice),
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
fn own_rows(rows: &[ChargeRow], job: usize) -> &[ChargeRow] {
    let from = rows.partition_point(|row| row.job < job);
    let until = rows.partition_point(|row| row.job <= job);
    rows.part(from..until)
}

/// These jobs of a batch of `records`, each under the name of another payer.
fn under(batch: &RecordBatch, jobs: &[RenamedJob<'_>]) -> Result<RecordBatch> {
    let mut at = Vec::with_capacity(jobs.len());
    for job in jobs {
        let place = u32::try_from(job.job);
        at.push(place.map_err(|why| Error::internal("a batch of 4 billion rows").because(why))?);
    }
    let taken = decoded(&take_record_batch(batch, &UInt32Array::from(at))?)?;
    let schema = taken.schema();
    let columns = schema.fields().iter().zip(taken.columns());
    let columns = columns.map(|(field, array)| match field.name().as_str() {
        "vo" => texts(jobs.iter().map(|job| job.payer.vo.as_deref())),
        "account" => texts(jobs.iter().map(|job| job.payer.account.as_deref())),
        _ => ArrayRef::clone(array),
    });
    Ok(RecordBatch::try_new(SchemaRef::clone(&schema), columns.collect())?)
}
