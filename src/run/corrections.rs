//! The corrections of a lake: which were applied before, which partitions a new one touches, and what each came to.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::usage::UsagePart;
use crate::amounts;
use crate::config::plan::Plan;
use crate::error::Result;
use crate::record::SiteMonth;
use crate::reference::correction::{Action, Correction, CorrectionTable};
use crate::schema;
use crate::schema::batch::{counts, date, dates, int, ints, number, text, texts, word};
use crate::store::Publication;
use crate::store::lake::{self, LakeTable};
use crate::summarise::group::UsageGroup;
use crate::summarise::sums::Sums;
use crate::time::Day;

/// Where they are published.
pub(crate) const PATH: &str = "corrections/corrections.parquet";

/// One entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CorrectionEntryKey {
    correction_id: String,
    gives: bool,
    site: String,
    record_month: Day,
    month: Day,
    vo: Option<String>,
    account: Option<String>,
}

/// What an entry takes or gives.
#[derive(Clone, Copy, Default)]
struct CorrectionAmounts {
    job_n: i64,
    wall_s: i64,
    alloc_core_s: i64,
    cpu_ms: Option<i64>,
}

/// Stages `corrections`: what is published of partitions this run did not touch, and what it made of the others. Gives
/// the ids of those that match nothing. `charged` are those that charges have entries of: a reservation is charged, and
/// is not usage.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(crate) fn publish(
    plan: &Plan,
    publication: &Publication,
    parts: &[UsagePart],
    charged: &BTreeSet<String>,
    is_rebuild: bool,
) -> Result<Vec<String>> {
    let Some(table) = plan.corrections.as_deref().filter(|table| !table.rows.is_empty()) else {
        publication.remove(PATH);
        return Ok(Vec::new());
    };
    let mut entries = CorrectionEntries::default();
    if !is_rebuild {
        let rebuilt: BTreeMap<&str, BTreeSet<Day>> = parts.iter().fold(BTreeMap::new(), |mut rebuilt, part| {
            let days: &mut BTreeSet<Day> = rebuilt.entry(part.site.as_str()).or_default();
            days.insert(part.month.first_day());
            rebuilt
        });
        for batch in lake::batches(publication, PATH)?.into_iter().flatten() {
            carry_over(&batch?, table, &rebuilt, &mut entries.0)?;
        }
    }
    for part in parts {
        let place = SiteMonth::new(part.site.as_str(), part.month);
        entries.add_part(table, &place, &part.groups.groups()?)?;
    }
    let rows = entries.rows(table, charged);
    let unmatched = rows.iter().filter(|row| row.status == "no_match");
    let unmatched = unmatched.map(|row| row.correction.id.clone()).collect();
    let mut out = LakeTable::create(publication, "corrections", PATH)?;
    out.write(&to_batch(&rows)?)?;
    out.finish(&[])?;
    Ok(unmatched)
}

/// What corrections took and gave.
#[derive(Default)]
pub(crate) struct CorrectionEntries(BTreeMap<CorrectionEntryKey, CorrectionAmounts>);

impl CorrectionEntries {
    /// Adds the entries among what a site and month contributes.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit 63 bits.
    pub(crate) fn add_part(&mut self, table: &CorrectionTable, place: &SiteMonth, groups: &[UsageGroup]) -> Result<()> {
        for UsageGroup { key, sums } in groups {
            let Some(rule) = key.correction_id.as_deref().and_then(|id| table.get(id)) else {
                continue;
            };
            let account = key.borrow().account().map(str::to_owned);
            let gives = rule.gives(key.vo.as_deref(), account.as_deref());
            let record_month = place.month.first_day();
            let of = CorrectionEntryKey {
                correction_id: rule.id.clone(),
                gives,
                site: place.site.clone(),
                record_month,
                month: key.month,
                vo: key.vo.clone(),
                account,
            };
            add(self.0.entry(of).or_default(), amounts(sums))?;
        }
        Ok(())
    }

    /// The rows of `corrections`; `charged` are those that charges have entries of.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they do not fit the schema.
    pub(crate) fn batch(self, table: &CorrectionTable, charged: &BTreeSet<String>) -> Result<RecordBatch> {
        to_batch(&self.rows(table, charged))
    }

    fn rows<'t>(self, table: &'t CorrectionTable, charged: &BTreeSet<String>) -> Vec<CorrectionRow<'t>> {
        rows(table, self.0, charged)
    }
}

fn amounts(sums: &Sums) -> CorrectionAmounts {
    CorrectionAmounts {
        job_n: sums.counted.job_n,
        wall_s: sums.counted.wall_s,
        alloc_core_s: sums.counted.alloc_core_s,
        cpu_ms: sums.cpu_ms,
    }
}

/// Adds up what a correction did.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
fn add(into: &mut CorrectionAmounts, more: CorrectionAmounts) -> Result<()> {
    amounts::add(&mut into.job_n, more.job_n, "job_n")?;
    amounts::add(&mut into.wall_s, more.wall_s, "wall_s")?;
    amounts::add(&mut into.alloc_core_s, more.alloc_core_s, "alloc_core_s")?;
    amounts::add_known(&mut into.cpu_ms, more.cpu_ms, "cpu_ms")
}

/// Entries of corrections that still hold, of partitions that stay as they are.
fn carry_over(
    batch: &RecordBatch,
    table: &CorrectionTable,
    rebuilt: &BTreeMap<&str, BTreeSet<Day>>,
    into: &mut BTreeMap<CorrectionEntryKey, CorrectionAmounts>,
) -> Result<()> {
    let (correction, entry, site) = (
        text(batch, "correction_id")?,
        text(batch, "entry")?,
        text(batch, "site")?,
    );
    let (record_month, month) = (date(batch, "record_month")?, date(batch, "month")?);
    let (vo, account) = (text(batch, "vo")?, text(batch, "account")?);
    let (jobs, wall) = (int(batch, "job_n")?, int(batch, "wall_s")?);
    let (cores, cpu) = (int(batch, "alloc_core_s")?, int(batch, "cpu_ms")?);
    for row in 0..batch.num_rows() {
        let id = correction.value(row);
        let (Some(site), Some(record_month)) = (word(site, row), number(record_month, row)) else {
            continue;
        };
        let holds = table.get(id).is_some_and(Correction::is_active);
        if !holds || rebuilt.get(site).is_some_and(|months| months.contains(&record_month)) {
            continue;
        }
        let own = |column| word(column, row).map(str::to_owned);
        let key = CorrectionEntryKey {
            correction_id: id.to_owned(),
            gives: entry.value(row) == "given",
            site: site.to_owned(),
            record_month,
            month: month.value(row),
            vo: own(vo),
            account: own(account),
        };
        let amounts = CorrectionAmounts {
            job_n: jobs.value(row),
            wall_s: wall.value(row),
            alloc_core_s: cores.value(row),
            cpu_ms: number(cpu, row),
        };
        add(into.entry(key).or_default(), amounts)?;
    }
    Ok(())
}

struct CorrectionRow<'a> {
    position: u64,
    correction: &'a Correction,
    status: &'static str,
    entry: Option<(CorrectionEntryKey, CorrectionAmounts)>,
}

fn rows<'t>(
    table: &'t CorrectionTable,
    entries: BTreeMap<CorrectionEntryKey, CorrectionAmounts>,
    charged: &BTreeSet<String>,
) -> Vec<CorrectionRow<'t>> {
    let mut of: BTreeMap<String, Vec<(CorrectionEntryKey, CorrectionAmounts)>> = BTreeMap::new();
    for (key, amounts) in entries {
        of.entry(key.correction_id.clone()).or_default().push((key, amounts));
    }
    let mut rows = Vec::new();
    for (position, correction) in (1..).zip(&table.rows) {
        // Fallback: a correction without entries changed nothing.
        let own = of.remove(&correction.id).unwrap_or_default();
        if own.is_empty() {
            let status = match (correction.action, correction.is_undone) {
                (Action::Undo, _) => "undo",
                (_, true) => "undone",
                _ if charged.contains(&correction.id) => "applied",
                (_, false) => "no_match",
            };
            rows.push(CorrectionRow {
                position,
                correction,
                status,
                entry: None,
            });
        }
        rows.extend(own.into_iter().map(|(key, amounts)| CorrectionRow {
            position,
            correction,
            status: "applied",
            entry: Some((key, amounts)),
        }));
    }
    // As the schema sorts: "given" before "taken".
    rows.sort_by_key(|row| (row.position, row.entry.as_ref().map(|(key, _)| !key.gives)));
    rows
}

fn to_batch(rows: &[CorrectionRow<'_>]) -> Result<RecordBatch> {
    let key = |row: &CorrectionRow<'_>| row.entry.as_ref().map(|(key, _)| key.clone());
    let amounts = |row: &CorrectionRow<'_>| {
        let amounts = row.entry.as_ref().map(|(_, amounts)| *amounts);
        // Fallback: a correction without an entry has amounts of none.
        amounts.unwrap_or_default()
    };
    schema::dataset("corrections")?.batch(vec![
        counts(rows.iter().map(|row| row.position)),
        texts(rows.iter().map(|row| Some(&row.correction.id))),
        texts(rows.iter().map(|row| Some(row.correction.action.as_str()))),
        texts(rows.iter().map(|row| Some(row.status))),
        texts(rows.iter().map(|row| Some(&row.correction.author))),
        texts(rows.iter().map(|row| Some(&row.correction.reason))),
        dates(rows.iter().map(|row| Some(row.correction.signed_on))),
        texts(rows.iter().map(|row| row.correction.undoes.as_ref())),
        texts(rows.iter().map(|row| Some(row.correction.rule()))),
        texts(
            rows.iter()
                .map(|row| Some(if key(row)?.gives { "given" } else { "taken" })),
        ),
        texts(rows.iter().map(|row| Some(key(row)?.site))),
        dates(rows.iter().map(|row| Some(key(row)?.record_month))),
        dates(rows.iter().map(|row| Some(key(row)?.month))),
        texts(rows.iter().map(|row| key(row)?.vo)),
        texts(rows.iter().map(|row| key(row)?.account)),
        ints(rows.iter().map(|row| Some(amounts(row).job_n))),
        ints(rows.iter().map(|row| Some(amounts(row).wall_s))),
        ints(rows.iter().map(|row| Some(amounts(row).alloc_core_s))),
        ints(rows.iter().map(|row| amounts(row).cpu_ms)),
    ])
}
