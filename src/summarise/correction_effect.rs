//! Effects of corrections on single records, for reports of single jobs: the table is read from the lake, so
//! that their results equal `usage` after corrections.

use std::collections::BTreeSet;

use arrow_array::{FixedSizeBinaryArray, RecordBatch, StringArray};

use super::correct::{CorrectedPayer, lead, rule_value};
use crate::error::{Error, Kind, Result};
use crate::reference::correction::{Action, Correction, CorrectionTable};
use crate::schema::batch::{date, id, text, word};
use crate::store::{Fact, Manifest, Store, read_table};
use crate::time::{Month, Zone};

/// Rows read at once.
const READ_ROWS: usize = 16_384;

/// The corrections a lake was published with.
#[derive(Clone, Debug, Default)]
pub struct Corrections {
    table: CorrectionTable,
    /// The zone in which the lake cuts months; `None` only where no correction is about one month.
    zone: Option<Zone>,
}

impl Corrections {
    /// Reads them from the lake.
    ///
    /// # Errors
    /// [`Kind::Data`] when the lake was published before it kept the rules of its corrections, or the zone in which its months
    /// are cut; [`Kind::Io`] when it cannot be read.
    pub fn read(store: &Store, manifest: &Manifest) -> Result<Self> {
        let mut table = CorrectionTable::default();
        for file in manifest.dataset("corrections") {
            for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
                let batch = batch?;
                if batch.column_by_name("rule").is_none() {
                    let message = "the lake keeps no rules of its corrections yet: run its pipeline again";
                    return Err(Error::new(Kind::Data, message).at("path", &file.path));
                }
                let words = |name| text(&batch, name);
                let (ids, action, author) = (words("correction_id")?, words("action")?, words("author")?);
                let (reason, rule) = (words("reason")?, words("rule")?);
                let signed_on = date(&batch, "signed_on")?;
                for row in 0..batch.num_rows() {
                    let id = ids.value(row);
                    // One correction has a row for each of its entries.
                    if table.get(id).is_some() {
                        continue;
                    }
                    let day = crate::time::month::date_of(signed_on.value(row)).map(|day| day.to_string());
                    // Fallback: never taken, the day of a signature can be written.
                    let day = day.unwrap_or_default();
                    let signed = [
                        ("id", id),
                        ("action", action.value(row)),
                        ("author", author.value(row)),
                        ("reason", reason.value(row)),
                        ("date", day.as_str()),
                    ];
                    let damaged = |why: String| Error::new(Kind::Data, why).at("path", &file.path).at("correction", id);
                    table.add_kept(signed, rule.value(row)).map_err(damaged)?;
                }
            }
        }
        let zone = manifest
            .facts
            .get(Fact::CalendarTimezone)
            .map(Zone::named)
            .transpose()?;
        if zone.is_none() && table.active().any(|rule| rule.month.is_some()) {
            let message = "the lake does not state in which zone its months are cut: run its pipeline again";
            return Err(Error::new(Kind::Data, message).at("lake", store.url()));
        }
        Ok(Self { table, zone })
    }

    /// All of them, in their order.
    #[must_use]
    pub fn table(&self) -> &CorrectionTable {
        &self.table
    }

    /// Those that take from, or move, records of a site.
    #[must_use]
    pub fn of_site<'a>(&'a self, site: &str) -> CorrectionEffects<'a> {
        let own = self.table.of_site(site);
        CorrectionEffects {
            rules: own.filter(|rule| rule.action != Action::Add).collect(),
            zone: self.zone.as_ref(),
        }
    }

    /// Usage without a record: site, month and the values of the correction.
    pub fn additions(&self) -> impl Iterator<Item = (&str, Month, &Correction)> {
        let added = self.table.active().filter(|rule| rule.action == Action::Add);
        added.filter_map(|rule| Some((rule.site.as_deref()?, rule.month?, rule)))
    }
}

/// The view of an addition.
#[must_use]
pub fn added_view(rule: &Correction) -> &str {
    // Fallback: an addition that states no view is of the empty one.
    rule_value(rule, "view").unwrap_or_default()
}

/// The corrections of one site, in their order.
#[derive(Clone, Debug, Default)]
pub struct CorrectionEffects<'a> {
    rules: Vec<&'a Correction>,
    /// The zone in which the lake cuts months.
    zone: Option<&'a Zone>,
}

/// What became of one record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorrectionEffect<'a> {
    /// It does not count.
    pub is_void: bool,
    /// Its VO now.
    pub vo: Option<&'a str>,
    /// Its account now.
    pub account: Option<&'a str>,
}

/// An entry that a correction posts of a part of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectionEntry<'a> {
    /// The correction.
    pub rule: &'a Correction,
    /// Whether the part is taken from the VO and account; else it is given to them.
    pub is_taken: bool,
    /// VO.
    pub vo: Option<&'a str>,
    /// Account.
    pub account: Option<&'a str>,
}

impl<'a> CorrectionEntry<'a> {
    fn new(rule: &'a Correction, payer: CorrectedPayer<'a>, is_taken: bool) -> Self {
        Self {
            rule,
            is_taken,
            vo: payer.vo,
            account: payer.account,
        }
    }
}

/// The columns of a batch that corrections look at.
pub struct EffectColumns<'a> {
    words: Vec<(&'static str, &'a StringArray)>,
    record_id: Option<&'a FixedSizeBinaryArray>,
}

impl<'a> EffectColumns<'a> {
    fn word(&self, name: &str, row: usize) -> Option<&'a str> {
        let column = self.words.iter().find(|(known, _)| *known == name);
        column.and_then(|(_, column)| word(column, row))
    }
}

impl CorrectionEffects<'_> {
    /// Columns of `records` they look at, sorted; none when there are no corrections.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<&'static str> {
        let mut columns: BTreeSet<&'static str> = BTreeSet::new();
        if !self.rules.is_empty() {
            columns.extend(["vo", "account"]);
        }
        for rule in &self.rules {
            columns.extend(rule.filters.iter().map(|(name, _)| *name));
        }
        columns
    }

    /// Looks their columns up.
    ///
    /// # Errors
    /// [`Kind::Internal`] when a column was not read.
    pub fn of_batch<'b>(&self, batch: &'b RecordBatch) -> Result<EffectColumns<'b>> {
        let mut words = Vec::new();
        let mut record_id = None;
        for name in self.columns() {
            if name == "record_id" {
                record_id = Some(id(batch, name)?);
            } else {
                words.push((name, text(batch, name)?));
            }
        }
        Ok(EffectColumns { words, record_id })
    }

    /// What becomes of a row of usage that counts at an instant: the end of a whole job, or an instant of a part of it. A
    /// correction of one month concerns what counts in that month of the lake's calendar, whatever months a report counts in.
    #[must_use]
    pub fn of<'v>(&'v self, columns: &EffectColumns<'v>, row: usize, counted_at_ms: i64) -> CorrectionEffect<'v> {
        let mut effect = CorrectionEffect {
            is_void: false,
            vo: columns.word("vo", row),
            account: columns.word("account", row),
        };
        self.steps(columns, row, counted_at_ms, |_, _, to| match to {
            None => effect.is_void = true,
            Some(payer) => (effect.vo, effect.account) = (payer.vo, payer.account),
        });
        effect
    }

    /// The entries that corrections post of such a row, in their order.
    #[must_use]
    pub fn entries<'v>(
        &'v self,
        columns: &EffectColumns<'v>,
        row: usize,
        counted_at_ms: i64,
    ) -> Vec<CorrectionEntry<'v>> {
        let mut entries = Vec::new();
        self.steps(columns, row, counted_at_ms, |rule, from, to| {
            entries.push(CorrectionEntry::new(rule, from, true));
            entries.extend(to.map(|to| CorrectionEntry::new(rule, to, false)));
        });
        entries
    }

    /// Each correction that takes such a row, the former and the new payer.
    fn steps<'v>(
        &'v self,
        columns: &EffectColumns<'v>,
        row: usize,
        counted_at_ms: i64,
        step: impl FnMut(&'v Correction, CorrectedPayer<'v>, Option<CorrectedPayer<'v>>),
    ) {
        let month = self.zone.and_then(|zone| zone.month_of(counted_at_ms));
        let own = CorrectedPayer {
            vo: columns.word("vo", row),
            account: columns.word("account", row),
        };
        let id = columns.record_id.map(|ids| ids.value(row));
        let takes = |rule: &Correction, payer: CorrectedPayer<'_>| {
            rule.takes(month.map(Month::first_day), id, |name| match name {
                "vo" => payer.vo,
                "account" => payer.account,
                name => columns.word(name, row),
            })
        };
        lead(&self.rules, own, takes, step);
    }

    /// Whether there is nothing to correct.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}
