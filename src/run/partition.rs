//! One (site, month) of records: what is published is merged with what was read, day by day, in bounded memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::RandomState;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_select::filter::filter_record_batch;
use crossbeam_channel::bounded;

use super::charges::ChargePart;
use super::days::DayBatches;
use super::fresh_days::FreshDays;
use super::merge_queue::MergeQueue;
use super::partition_context::PartitionContext;
use super::partition_tables::{PartitionRows, PartitionTables};
use super::pieces::{DayMerge, PublishedRows};
use super::usage::{UsagePart, publish_part};
use super::usage_rejects::UsageRejects;
use crate::charge::policy::Subject;
use crate::dedupe::copies::Copies;
use crate::dedupe::merge::Loser;
use crate::dedupe::moved_starts::MonthStarts;
use crate::dedupe::reduced::ReducedJobs;
use crate::dedupe::voided::VoidedJobs;
use crate::dedupe::{copies, history};
use crate::energy::MeterUses;
use crate::error::{Error, Result};
use crate::lake::views::folded;
use crate::ledger::{FileReason, Reason, RowReasons};
use crate::normalise::{Normaliser, Origins, Scales, factors_of, with_factors};
use crate::record::SiteMonth;
use crate::reference::benchmark::AskedSpan;
use crate::schema::batch::{ColumnWords, int, words};
use crate::store::lake::{self, LakeTable};
use crate::summarise::Usage;
use crate::summarise::charges::{ChargeTally, Charges, UnpricedAddition};
use crate::summarise::held_groups::HeldGroups;
use crate::summarise::sums;
use crate::time::{Day, Month};

/// Rows of one partition by file and reason.
pub(crate) type Settled = BTreeMap<FileReason, u64>;

/// One partition, done.
pub(crate) struct PartitionResult {
    /// Site.
    pub(crate) site: String,
    /// Month.
    pub(crate) month: Month,
    /// The outcomes to enter into the ledger.
    pub(crate) settled: Settled,
    /// The views of its jobs.
    pub(crate) views: BTreeSet<String>,
    /// What it contributes to usage.
    pub(crate) part: UsagePart,
    /// What its jobs were charged.
    pub(crate) charges: ChargePart,
    /// How many jobs each policy charged, and additions whose charge is unknown.
    pub(crate) tallies: (Vec<ChargeTally>, Vec<UnpricedAddition>),
    /// Between which instants benchmarks were looked for.
    pub(crate) asked: Option<AskedSpan>,
    /// Between which instants the tables of energy were asked.
    pub(crate) energy_asked: Option<AskedSpan>,
    /// Who used the meters of nodes; `None` without tables of energy.
    pub(crate) meter_uses: Option<MeterUses>,
    /// Records by benchmark and where its value came from.
    pub(crate) origins: Origins,
    /// Jobs that two files contain under two identities.
    pub(crate) copies: copies::CopyFound,
    /// Jobs whose accepted rows have less than others of them.
    pub(crate) reduced: ReducedJobs,
    /// When its jobs started, as far as that may have moved.
    pub(crate) starts: MonthStarts,
    /// The inputs of its files.
    provenance: Vec<(String, String)>,
}

/// Merges, publishes and summarises one partition. With no `days` to merge, the published records are only
/// summarised again; they are written where their factors may have changed.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(crate) fn process(
    context: &PartitionContext<'_>,
    queue: &MergeQueue,
    of: &SiteMonth,
    days: &[Day],
) -> Result<PartitionResult> {
    let are_records_written = !days.is_empty() || context.selection.outdated.jobs.contains(of);
    let mut tables = PartitionTables::new(context, of, are_records_written)?;
    // Encoding and compressing is most of the work: it runs concurrently with the merging and charging of the next day.
    let (send, receive) = bounded::<PartitionRows>(1);
    let is_merged = AtomicBool::new(false);
    let (done, tables) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let receive = receive;
            while let Ok(rows) = receive.recv() {
                // Who merges has nothing to do while writing is behind, or when all is merged.
                tables.write(&rows, || receive.is_full() || is_merged.load(Ordering::Relaxed))?;
            }
            Ok::<_, Error>(tables)
        });
        let fresh = FreshDays::new(scope, context, queue, &of.site, days);
        let done = merge_days(context, of, days, fresh, &mut |rows| {
            // A writer that failed has closed its channel, and returns its error below.
            let _ = send.send(rows);
        });
        is_merged.store(true, Ordering::Relaxed);
        drop(send);
        let tables = writer
            .join()
            .unwrap_or_else(|_| Err(Error::internal("a writing thread died")));
        (done, tables)
    });
    let (done, tables) = (done?, tables?);
    tables.finish(&done.provenance)?;
    Ok(done)
}

/// Merges the days of a partition in order and hands the records of each day, and what they are charged, to `write`.
fn merge_days(
    context: &PartitionContext<'_>,
    of: &SiteMonth,
    days: &[Day],
    mut fresh: FreshDays<'_, '_>,
    write: &mut dyn FnMut(PartitionRows),
) -> Result<PartitionResult> {
    let (site, month) = (of.site.as_str(), of.month);
    let published = |dataset: &str| {
        if context.selection.extent.is_rebuild() {
            return Ok(None);
        }
        let path = lake::month_path(dataset, site, month);
        lake::batches(context.publication, &path)
    };
    let records = DayBatches::new(published("records")?);
    let mut published = PublishedRows::new(records, DayBatches::new(published("history")?));
    let mut usage = Usage::new(context.plan.summing(), site);
    let mut charges = Charges::new(context.plan.summing(), site, Subject::Jobs);
    let mut is_charged = false;
    let mut charge = |rows: Option<RecordBatch>, write: &mut dyn FnMut(PartitionRows)| {
        let Some(rows) = rows else { return };
        is_charged = true;
        write(PartitionRows::Charges(rows));
    };
    let mut normaliser = Normaliser::new(&context.plan.normalise, site);
    let (mut origins, mut reduced) = (Origins::default(), ReducedJobs::default());
    let mut refusals = UsageRejects::new(context.paths);
    let (mut settled, mut views) = (Settled::new(), BTreeSet::new());
    let displaced = context.displaced.get(&folded(of));
    let is_merge = !days.is_empty();
    let history_path = lake::month_path("history", site, month);
    let mut history_table: Option<LakeTable<'_>> = None;
    // Additions of corrections precede the jobs of the month.
    charge(charges.add_corrections(month)?, write);
    let voided = VoidedJobs::of_site(context.plan.corrections.as_deref(), site);
    let mut copies = Copies::new(context.order, context.fresh, days, voided);
    let mut starts = MonthStarts::new(month);
    while let Some(day) = earlier(published.next_day()?, fresh.peek()) {
        let mut pieces = DayMerge::new(context, day, fresh.next_if(day)?, &mut published);
        copies.begin(day);
        while let Some(mut piece) = pieces.next_piece()? {
            reduced.add(std::mem::take(&mut piece.reduced));
            for batch in &piece.batches {
                look_for_twice(context, site, batch, &mut copies, &mut starts)?;
                settle(batch, displaced, &mut settled, &mut views)?;
                let scales = factors_of(batch, &mut normaliser)?;
                scales.count(&mut origins);
                let batch = with_factors(batch, &scales)?;
                write(PartitionRows::Records(batch.clone()));
                let (batch, scales) = counting(displaced, batch, scales, &mut normaliser)?;
                let refused = usage.add(&batch, &scales)?;
                charge(charges.add(&batch, &refused)?, write);
                for refused in refused {
                    refusals.push(&batch, refused)?;
                }
            }
            pieces.take_losers(piece, &mut |losers| {
                settle_losers(losers, &mut settled)?;
                if is_merge && !losers.is_empty() {
                    let table = match &mut history_table {
                        Some(table) => table,
                        none => none.insert(LakeTable::create(context.publication, "history", &history_path)?),
                    };
                    table.write(&history::to_batch(losers)?)?;
                }
                Ok(())
            })?;
        }
        copies.end();
    }
    published.finish().map_err(|e| e.at("site", site).at("month", month))?;
    refusals.settle(&mut settled)?;
    let provenance = provenance(context, &settled);
    match history_table {
        Some(table) => table.finish(&provenance).map(|_| ())?,
        None if is_merge => context.publication.remove(&history_path),
        None => {}
    }
    refusals.publish(context.publication, &lake::refused_records_path(site, month))?;
    usage.add_corrections(month);
    let energy_asked = usage.energy_asked();
    let meter_uses = usage.take_meter_uses()?;
    let groups = usage.into_groups().into_sorted();
    sums::check(&groups).map_err(|e| e.at("month", month).at("site", site))?;
    let part = UsagePart {
        site: site.to_owned(),
        month,
        groups: HeldGroups::new(groups)?,
    };
    publish_part(context, &part)?;
    Ok(PartitionResult {
        site: site.to_owned(),
        month,
        settled,
        views,
        part,
        tallies: charges.take_tallies(),
        charges: stage_charges(context, of, is_charged.then_some(charges))?,
        asked: normaliser.asked(),
        energy_asked,
        meter_uses,
        origins,
        copies: copies.into_found(),
        reduced,
        starts,
        provenance,
    })
}

/// Looks for jobs that are there twice.
fn look_for_twice(
    context: &PartitionContext<'_>,
    site: &str,
    batch: &RecordBatch,
    copies: &mut Copies<'_>,
    starts: &mut MonthStarts,
) -> Result<()> {
    copies.add(batch)?;
    starts.add(batch, context.fresh)?;
    context.shifted.map_or(Ok(()), |shifted| shifted.add(site, batch))
}

fn earlier(a: Option<Day>, b: Option<Day>) -> Option<Day> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

/// Stages what the jobs of a partition were charged; `None` where none is charged anything.
fn stage_charges(context: &PartitionContext<'_>, of: &SiteMonth, charges: Option<Charges<'_>>) -> Result<ChargePart> {
    let (site, month) = (of.site.as_str(), of.month);
    if charges.is_none() {
        context
            .publication
            .remove(&lake::month_path("job_charges", site, month));
    }
    let rows = charges.map(Charges::into_part).transpose()?;
    ChargePart::stage(context, Subject::Jobs, site, month, rows)
}

/// The inputs of a file: the hashes that `b3sum` prints, and the pipeline's name.
fn provenance(context: &PartitionContext<'_>, settled: &Settled) -> Vec<(String, String)> {
    let mut inputs: Vec<&str> = settled
        .keys()
        .filter_map(|of| context.hashes.get(&of.file_id).map(|blake3| &**blake3))
        .collect();
    inputs.sort_unstable();
    inputs.dedup();
    vec![
        ("gridtally.pipeline".to_owned(), context.plan.name.clone()),
        ("gridtally.inputs_blake3".to_owned(), inputs.join(" ")),
    ]
}

/// Which jobs of a batch are of these views.
fn is_of(views: &BTreeSet<String>, batch: &RecordBatch) -> Result<BooleanArray> {
    let of = words(batch, "view")?;
    Ok((0..batch.num_rows())
        .map(|row| Some(views.contains(of.value(row))))
        .collect())
}

/// The jobs of a batch that are of none of these views.
fn not_of(views: &BTreeSet<String>, batch: &RecordBatch) -> Result<RecordBatch> {
    let is_of = is_of(views, batch)?;
    Ok(filter_record_batch(batch, &BooleanArray::new(!is_of.values(), None))?)
}

/// The jobs that count, and what scales them. Those of `displaced` views are neither counted nor charged, nor in need of a
/// benchmark.
pub(super) fn counting(
    displaced: Option<&BTreeSet<String>>,
    batch: RecordBatch,
    scales: Scales,
    normaliser: &mut Normaliser<'_>,
) -> Result<(RecordBatch, Scales)> {
    let Some(displaced) = displaced else {
        return Ok((batch, scales));
    };
    let batch = not_of(displaced, &batch)?;
    let scales = factors_of(&batch, normaliser)?;
    Ok((batch, scales))
}

/// Counts accepted rows into the ledger's terms, and notes the views of the jobs. Those of `displaced` views do not count.
fn settle(
    winners: &RecordBatch,
    displaced: Option<&BTreeSet<String>>,
    into: &mut Settled,
    views: &mut BTreeSet<String>,
) -> Result<()> {
    note_views(winners, views)?;
    let Some(displaced) = displaced else {
        return count_jobs(winners, ACCEPTED, into);
    };
    count_jobs(&not_of(displaced, winners)?, ACCEPTED, into)?;
    let lost = filter_record_batch(winners, &is_of(displaced, winners)?)?;
    count_jobs(&lost, DISPLACED, into)
}

/// Counts rows that lost into the ledger's terms.
fn settle_losers(losers: &[Loser], into: &mut Settled) -> Result<()> {
    losers.iter().try_for_each(|loser| {
        let rows = RowCounts {
            job_n: 1,
            step_n: loser.step_n,
        };
        count(&loser.file_id, Reason::of_rows(loser.outcome), rows, into)
    })
}

/// The reasons of records.
const ACCEPTED: RowReasons = RowReasons {
    job: Reason::Job,
    step: Reason::Step,
};

/// The reasons of records that do not count because summaries do.
const DISPLACED: RowReasons = RowReasons {
    job: Reason::SummariesCount,
    step: Reason::SummariesCount,
};

/// Rows of jobs and of their steps.
#[derive(Clone, Copy, Debug, Default)]
struct RowCounts {
    job_n: u64,
    step_n: i64,
}

/// Adds rows of a file under the reasons of jobs and of steps.
fn count(file_id: &Arc<str>, reasons: RowReasons, rows: RowCounts, into: &mut Settled) -> Result<()> {
    *into.entry(FileReason::new(file_id, reasons.job)).or_default() += rows.job_n;
    if rows.step_n != 0 {
        let step_n =
            u64::try_from(rows.step_n).map_err(|_| Error::internal(format!("a job has {} steps", rows.step_n)))?;
        *into.entry(FileReason::new(file_id, reasons.step)).or_default() += step_n;
    }
    Ok(())
}

/// Adds the jobs of a batch, with their steps, by file.
fn count_jobs(batch: &RecordBatch, reasons: RowReasons, into: &mut Settled) -> Result<()> {
    let (files, steps) = (words(batch, "file_id")?, int(batch, "step_n")?);
    // Rows of many small files alternate: they are counted by file before a name is made of each.
    match files {
        ColumnWords::Coded(codes, names) => {
            let mut by_code = vec![RowCounts::default(); names.len()];
            for (code, steps) in codes.values().iter().zip(steps.values()) {
                if let Some(rows) = by_code.get_mut(code.as_usize()) {
                    rows.job_n += 1;
                    rows.step_n += steps;
                }
            }
            for (name, n) in names.iter().flatten().zip(by_code).filter(|(_, n)| n.job_n > 0) {
                count(&Arc::from(name), reasons, n, into)?;
            }
        }
        ColumnWords::Plain(names) => {
            let mut by_file: HashMap<&str, RowCounts, RandomState> = HashMap::default();
            for row in 0..batch.num_rows() {
                let rows = by_file.entry(names.value(row)).or_default();
                rows.job_n += 1;
                rows.step_n += steps.value(row);
            }
            for (name, n) in by_file {
                count(&Arc::from(name), reasons, n, into)?;
            }
        }
    }
    Ok(())
}

/// Adds the views of the jobs of a batch.
fn note_views(batch: &RecordBatch, views: &mut BTreeSet<String>) -> Result<()> {
    let of = words(batch, "view")?;
    // Nearly all jobs are of the view of the job before.
    let mut last = None;
    for row in 0..batch.num_rows() {
        let view = of.value(row);
        if last != Some(view) {
            if !views.contains(view) {
                views.insert(view.to_owned());
            }
            last = Some(view);
        }
    }
    Ok(())
}
