//! What jobs are billed of their nodes as rows of `job_charges`, with what corrections make of them.
//!
//! A correction changes who pays, not what ran: the ledger of the nodes stays as it is, and what is taken from a payer is
//! to the last digit what was billed under that name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt32Array};

use super::bill::Bill;
use super::bill_room::BillRoom;
use super::bill_spill::{BillSpill, RUN_N, SortedBills};
use super::bills::{Biller, POOLS, options, policy_id, remove};
use super::facts::VERSION;
use super::job_amounts::EVERYTHING;
use super::job_spans::{JobColumns, SPAN_COLUMNS, span};
use super::jobs::SliceJob;
use super::record_files::RecordFile;
use super::stage::StagedFile;
use super::sweep::Sweep;
use crate::charge::policy::Subject;
use crate::error::{Error, Kind, Result};
use crate::numbers::{count_u64, tally};
use crate::occupancy::GPU_PLACE;
use crate::occupancy::billing::BILL_PLACES;
use crate::schema::batch::{dates, decimals, int, ints, number, text, texts, time, word};
use crate::store::lake::{self, LakeTable};
use crate::store::read_table;
use crate::summarise::charges::{ChargedPeriod, RECORDED, ReassignedEntry, Reassignments, job_charges, part};
use crate::time::{Month, SecondSpan};

/// The bills of a slice.
pub(crate) struct BillBills<'a> {
    bills: SortedBills,
    unbilled: &'a BTreeMap<u32, u8>,
    /// Jobs without room on some of their nodes.
    without_room: &'a BTreeSet<SliceJob>,
    /// Place of the slice.
    slice: usize,
}

/// Jobs of a slice that are billed nothing, and why.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnbilledJobs {
    /// Summaries count in their place.
    pub(crate) displaced_n: u64,
    /// The sums of the slice cannot take them.
    pub(crate) beyond_sums_n: u64,
}

/// One row of `job_charges`.
#[derive(Clone)]
struct BillRow {
    /// Place of the job in its batch.
    job: usize,
    /// Where its recorded columns stand: in the batch, or behind it among jobs under other names.
    record: usize,
    pool: usize,
    /// Rank of the unit.
    unit: usize,
    piece: usize,
    /// Jobs that end here.
    end_n: i64,
    core_s: i128,
    gpu_s: i128,
    charge: Option<i128>,
    why: Option<&'static str>,
    correction_id: Option<Arc<str>>,
}

impl BillRow {
    /// The same row as an entry of a correction.
    fn of(&self, entry: &ReassignedEntry) -> Self {
        let sign = if entry.is_taken { -1 } else { 1 };
        Self {
            record: entry.record,
            end_n: i64::from(sign) * self.end_n,
            core_s: i128::from(sign) * self.core_s,
            gpu_s: i128::from(sign) * self.gpu_s,
            charge: self.charge.map(|charge| i128::from(sign) * charge),
            correction_id: Some(Arc::clone(&entry.correction_id)),
            ..self.clone()
        }
    }

    /// The order of the rows of a file after the record, as in its schema.
    fn key(&self) -> (usize, usize, usize, Option<&str>) {
        (self.job, self.unit, self.piece, self.correction_id.as_deref())
    }
}

const WHY_JOB: &str = "its nodes, or its allocation on them, are unknown";
const WHY_NODE_ROOM: &str = "the sums of a node it ran on cannot take it";
const WHY_ROOM: &str = "the sums of the month cannot take it";
const WHY_NODE: &str = "what its node has is not known";

impl<'a> BillBills<'a> {
    /// Those of all nodes, and the jobs that cannot be billed.
    pub(crate) fn new(
        of_nodes: BillSpill,
        unbilled: &'a BTreeMap<u32, u8>,
        without_room: &'a BTreeSet<SliceJob>,
        slice: usize,
    ) -> Self {
        Self {
            bills: of_nodes.into_sorted(),
            unbilled,
            without_room,
            slice,
        }
    }

    /// Stages what the jobs are charged, in the order of the records they were read from. Gives the jobs that are not.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read or written.
    pub(crate) fn publish(
        &mut self,
        sweep: &Sweep<'_>,
        biller: &Biller<'_>,
        site: &str,
        files: &[RecordFile],
        staged: &[StagedFile],
    ) -> Result<UnbilledJobs> {
        let mut unbilled = UnbilledJobs::default();
        let (month, year) = (biller.period.month, biller.period.allocation_year);
        remove(sweep.publication, |of, period| of == site && period == (month, year));
        let (Some(first), Some(last)) = (biller.pieces.first(), biller.pieces.last()) else {
            return Ok(unbilled);
        };
        let reassignments = Reassignments::new(sweep.plan.corrections.as_deref(), site);
        let columns = RECORDED.iter().chain(&SPAN_COLUMNS).chain(&["alloc_gpu_n"]);
        let columns: BTreeSet<&str> = columns.chain(reassignments.columns()).copied().collect();
        let columns: Vec<&str> = columns.into_iter().collect();
        let provenance = [("gridtally.pipeline".to_owned(), sweep.plan.name.clone())];
        let (mut parts, mut room) = (Vec::new(), BillRoom::default());
        let all_pieces = SecondSpan {
            start_s: first.span.start_s,
            end_s: last.span.end_s,
        };
        for StagedFile { place: nth, first_tag } in staged {
            let Some(file) = files.get(*nth) else { continue };
            let mut spans = [file.reach.span, file.reach.loose].into_iter().flatten();
            if !spans.any(|span| span.overlaps(all_pieces)) {
                continue;
            }
            let path = lake::bill_path("job_charges", site, file.month, month, year);
            let mut table: Option<LakeTable<'_>> = None;
            let mut tag = *first_tag;
            for batch in read_table(sweep.publication.store().reader(&file.place)?, Some(&columns), RUN_N)? {
                let batch = batch?;
                let mut rows = self.rows(&batch, tag, biller)?;
                tag += count_u64(batch.num_rows());
                if file.is_displaced {
                    let jobs = rows.chunk_by(|a, b| a.job == b.job);
                    unbilled.displaced_n += count_u64(jobs.count());
                    continue;
                }
                if rows.is_empty() {
                    continue;
                }
                unbilled.beyond_sums_n += hold_to(&mut room, &mut rows);
                let others = correct(&batch, &mut rows, biller, &reassignments)?;
                let records: Vec<&RecordBatch> = std::iter::once(&batch).chain(&others).collect();
                let charged = biller.batch(&records, &rows)?;
                parts.push(part(std::slice::from_ref(&charged))?);
                let table = match &mut table {
                    Some(table) => table,
                    none => none.insert(LakeTable::create(sweep.publication, "job_charges", &path)?),
                };
                table.write(&charged)?;
            }
            if let Some(table) = table {
                table.finish(&provenance)?;
            }
        }
        if let Some(of) = Month::of_day(month).filter(|_| !parts.is_empty()) {
            let path = lake::bill_path("charge_part", site, of, month, year);
            let mut table = LakeTable::create(sweep.publication, "charge_part", &path)?;
            table.write(&part(&parts)?)?;
            table.finish(&provenance)?;
        }
        Ok(unbilled)
    }

    /// The rows of a batch of records, of which the first has this number.
    fn rows(&mut self, batch: &RecordBatch, tag: u64, biller: &Biller<'_>) -> Result<Vec<BillRow>> {
        let columns = JobColumns::of(batch)?;
        let (end, partition) = (time(batch, "end_utc")?, text(batch, "partition")?);
        let gpu = int(batch, "alloc_gpu_n")?;
        let mut rows = Vec::new();
        for (job, tag) in (0..batch.num_rows()).zip(tag..) {
            let tag = u32::try_from(tag).map_err(|why| Error::internal("too many jobs").because(why))?;
            let Some(held) = span(&columns, job) else { continue };
            let has_no_room = self.without_room.contains(&SliceJob { slice: self.slice, tag });
            let unbilled = if has_no_room {
                EVERYTHING
            } else {
                tally(self.unbilled.get(&tag).copied())
            };
            // Jobs without GPUs do not mention them.
            let has_gpu = number(gpu, job).is_some_and(|gpu_n| gpu_n > 0);
            let unknown: Vec<Bill>;
            let of_job = if unbilled == EVERYTHING {
                unknown = biller.nothing(tag, held, word(partition, job));
                &unknown
            } else {
                self.bills.of(tag)?
            };
            for bill in of_job {
                let piece = biller.pieces.get(usize::from(bill.piece));
                // It counts where it held its nodes last.
                let is_last = piece.is_some_and(|piece| piece.span.has(held.end_s - 1));
                let is_end = is_last && number(end, job).is_some();
                let [core_s, _, gpu_s] = bill.held;
                for (at, (billed, held)) in bill.billed.into_iter().zip(bill.held).enumerate() {
                    let (is_of_job, is_of_node) = (unbilled >> at & 1 == 1, bill.unknown >> at & 1 == 1);
                    // A job that holds none of it is not charged for it.
                    let is_none = held == 0 && (!is_of_job || (at == GPU_PLACE && !has_gpu));
                    if is_none {
                        continue;
                    }
                    let why = match (is_of_job, is_of_node) {
                        (true, _) if has_no_room => Some(WHY_NODE_ROOM),
                        (true, _) => Some(WHY_JOB),
                        (_, true) => Some(WHY_NODE),
                        _ => None,
                    };
                    rows.push(BillRow {
                        job,
                        record: job,
                        pool: at,
                        unit: bill.unit.into(),
                        piece: bill.piece.into(),
                        end_n: i64::from(is_end),
                        core_s,
                        gpu_s,
                        charge: why.is_none().then_some(billed),
                        why,
                        correction_id: None,
                    });
                }
            }
        }
        Ok(rows)
    }
}

/// Takes the bills from the jobs that the sums of the slice have no room for, and what they held; gives how many these are.
fn hold_to(room: &mut BillRoom, rows: &mut [BillRow]) -> u64 {
    let mut without_room_n = 0;
    for rows in rows.chunk_by_mut(|a, b| a.job == b.job) {
        let mut charges = rows.iter().filter_map(|row| row.charge);
        let charge = charges.try_fold(0_i128, i128::checked_add);
        if room.admit(rows.iter().flat_map(|row| [row.core_s, row.gpu_s]), charge) {
            continue;
        }
        without_room_n += 1;
        for row in rows {
            (row.core_s, row.gpu_s, row.charge, row.why) = (0, 0, None, Some(WHY_ROOM));
        }
    }
    without_room_n
}

/// Posts the amounts that corrections take and give as additional rows; returns the jobs under the names they were moved to.
fn correct(
    batch: &RecordBatch,
    rows: &mut Vec<BillRow>,
    biller: &Biller<'_>,
    reassignments: &Reassignments<'_>,
) -> Result<Option<RecordBatch>> {
    let charges = rows.iter().map(|row| {
        let piece = biller.pieces.get(row.piece);
        Some(ChargedPeriod {
            job: row.job,
            period: piece?.period,
        })
    });
    let charges = charges.collect::<Option<Vec<_>>>();
    let charges = charges.ok_or_else(|| Error::internal("a bill of no period"))?;
    let (entries, others) = reassignments.lead(batch, &charges)?;
    let posted: Vec<BillRow> = (entries.iter())
        .filter_map(|entry| Some(rows.get(entry.charge)?.of(entry)))
        .collect();
    if !posted.is_empty() {
        rows.extend(posted);
        rows.sort_by(|a, b| a.key().cmp(&b.key()));
    }
    Ok(others)
}

impl Biller<'_> {
    fn batch(&self, records: &[&RecordBatch], rows: &[BillRow]) -> Result<RecordBatch> {
        let unit = |row: &BillRow| {
            let unit = self.ranks.get(row.unit).and_then(|at| self.overhead.units.get(*at));
            unit.map(options)
        };
        let period = |row: &BillRow| self.pieces.get(row.piece).map(|piece| &piece.period);
        let pool = |row: &BillRow| POOLS.get(row.pool);
        let id = policy_id(self.overhead.scheme);
        let every = |text: &str| texts(rows.iter().map(|_| Some(text)));
        let count = |is_priced: bool| {
            let of = |row: &BillRow| {
                if row.charge.is_some() == is_priced {
                    row.end_n
                } else {
                    0
                }
            };
            ints(rows.iter().map(|row| Some(of(row))))
        };
        let amount = |of: fn(&BillRow) -> i128| {
            let amounts = rows.iter().map(|row| i64::try_from(of(row)));
            let too_large = |why| Error::new(Kind::Data, "what a job held is larger than can be stored").because(why);
            amounts.collect::<std::result::Result<Vec<i64>, _>>().map_err(too_large)
        };
        let at: std::result::Result<Vec<u32>, _> = rows.iter().map(|row| u32::try_from(row.record)).collect();
        let at = at.map_err(|why| Error::internal("a batch of 4 billion rows").because(why))?;
        // Fallback: never taken, bills have twelve places at most.
        let places = i8::try_from(BILL_PLACES).unwrap_or(0);
        let made = [
            ("subject", every(Subject::Jobs.as_str())),
            ("pool", texts(rows.iter().map(|row| pool(row).map(|pool| pool.0)))),
            ("policy", every(&id)),
            ("policy_version", every(VERSION)),
            ("options", texts(rows.iter().map(unit))),
            ("unit", texts(rows.iter().map(|row| pool(row).map(|pool| pool.1)))),
            (
                "allocation_year",
                ints(rows.iter().map(|row| period(row).map(|period| period.allocation_year))),
            ),
            (
                "year_s",
                ints(
                    rows.iter()
                        .map(|row| self.calendar.year_s(period(row)?.allocation_year)),
                ),
            ),
            (
                "month",
                dates(rows.iter().map(|row| period(row).map(|period| period.month))),
            ),
            ("day", dates(rows.iter().map(|row| period(row)?.day))),
            ("job_n", count(true)),
            ("unpriced_job_n", count(false)),
            ("alloc_core_s", ints(amount(|row| row.core_s)?.into_iter().map(Some))),
            // Nodes are swept in whole seconds.
            ("alloc_core_fraction_ms", ints(rows.iter().map(|_| Some(0)))),
            ("alloc_gpu_s", ints(amount(|row| row.gpu_s)?.into_iter().map(Some))),
            ("charge", decimals(rows.iter().map(|row| row.charge), places)?),
            ("why_unpriced", texts(rows.iter().map(|row| row.why))),
            (
                "correction_id",
                texts(rows.iter().map(|row| row.correction_id.as_deref())),
            ),
        ];
        job_charges(records, &UInt32Array::from(at), &made)
    }
}
