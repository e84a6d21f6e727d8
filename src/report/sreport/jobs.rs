//! Jobs of a lake, cut to the period, after corrections.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array, ListArray, RecordBatch, StringArray};

use super::period::SreportPeriod;
use super::used::{TRES, Used};
use crate::absent;
use crate::error::{Error, Result};
use crate::report::lake::{Lake, LakePiece, Selection};
use crate::report::table::divide;
use crate::schema::batch::{addend, column, int, number, text, time, word, word_or_empty};
use crate::summarise::Attribution;
use crate::summarise::correction_effect::{CorrectionEffect, CorrectionEffects, Corrections, EffectColumns};
use crate::time::{Month, MsSpan, Zone};

const COLUMNS: [&str; 16] = [
    "view",
    "vo",
    "cluster",
    "account",
    "user",
    "reservation",
    "start_utc",
    "end_utc",
    "wall_s",
    "suspended_s",
    AMOUNTS[0],
    AMOUNTS[1],
    AMOUNTS[2],
    AMOUNTS[3],
    AMOUNTS[4],
    "gpus",
];

/// The amounts of jobs by resource, in the order of [`TRES`].
const AMOUNTS: [&str; TRES.len()] = [
    "alloc_core_n",
    "alloc_memory_byte",
    "alloc_node_n",
    "alloc_billing_n",
    "alloc_gpu_n",
];

/// Place of memory, which jobs record in bytes and sreport in MiB.
const MEMORY: usize = 1;

/// Place of the cores, the one resource that a suspended job gives back.
const CORES: usize = 0;

/// A part of a job that is in the period and is counted for one account.
#[derive(Clone, Copy)]
pub(super) struct PeriodPart<'a> {
    /// Cluster; empty when unknown.
    pub(super) cluster: &'a str,
    /// Account after corrections; empty when unknown.
    pub(super) account: &'a str,
    /// User; empty when unknown.
    pub(super) user: &'a str,
    /// The reservation it ran in.
    pub(super) reservation: Option<&'a str>,
    /// The part, Unix milliseconds.
    pub(super) span: MsSpan,
    /// Start and end of the whole.
    whole: MsSpan,
    /// Seconds of the whole without suspension, and with it.
    seconds: [i64; 2],
    /// In the order of [`TRES`].
    amounts: [Option<i64>; TRES.len()],
    models: Models<'a>,
}

impl<'a> PeriodPart<'a> {
    /// A part of it, counted for an account.
    fn counted_for(mut self, account: &'a str, span: MsSpan) -> Self {
        (self.account, self.span) = (account, span);
        self
    }

    /// How many of a resource it held.
    pub(super) fn amount(&self, place: usize) -> Option<i64> {
        self.amounts.get(place).copied().flatten()
    }

    /// GPUs by model.
    pub(super) fn models(&self) -> impl Iterator<Item = (&str, i64)> {
        self.models.iter()
    }

    /// Seconds without suspension in a span. Spans that make up the job add up to its time.
    pub(super) fn wall_s(&self, span: MsSpan) -> i128 {
        self.share(self.seconds[0], span)
    }

    fn share(&self, total_s: i64, span: MsSpan) -> i128 {
        let until = |ms: i64| {
            let whole_ms = i128::from(self.whole.length_ms());
            // Fallback: a job without length has no part in any period.
            divide(i128::from(total_s) * i128::from(ms - self.whole.from_ms), whole_ms).unwrap_or(0)
        };
        until(span.until_ms) - until(span.from_ms)
    }

    /// What it used in a span.
    pub(super) fn used(&self, span: MsSpan) -> Used {
        let (wall_s, held_s) = (self.wall_s(span), self.share(self.seconds[1], span));
        let mut used = Used::default();
        for (place, amount) in self.amounts.into_iter().enumerate() {
            let seconds = if place == CORES { wall_s } else { held_s };
            // Nothing of something unknown is nothing.
            let known = match amount {
                Some(amount) => Some(seconds * i128::from(amount)),
                None => (seconds == 0).then_some(0),
            };
            used.add_at(place, known);
            if known.is_none() {
                used.lack(place);
            }
        }
        for (model, n) in self.models.iter() {
            used.add_model(model, held_s * i128::from(n));
        }
        used
    }
}

/// GPUs by model of one row.
#[derive(Clone, Copy)]
struct Models<'a> {
    names: &'a StringArray,
    counts: &'a Int64Array,
    /// Their range: the first index, and the one after the last.
    places: (usize, usize),
}

impl<'a> Models<'a> {
    fn iter(self) -> impl Iterator<Item = (&'a str, i64)> {
        (self.places.0..self.places.1).filter_map(move |at| Some((word(self.names, at)?, self.counts.value(at))))
    }
}

/// Reads jobs for reports of a selection and period.
pub(crate) struct SreportJobs<'l> {
    pub(super) lake: &'l Lake,
    pub(super) selection: &'l Selection,
    pub(super) period: SreportPeriod,
    pub(super) zone: Zone,
    pub(super) corrections: Corrections,
    /// Whether usage counts in the month its job ended in: corrections of a month mean such jobs then.
    is_by_end: bool,
}

impl<'l> SreportJobs<'l> {
    pub(super) fn new(lake: &'l Lake, selection: &'l Selection, period: SreportPeriod) -> Result<Self> {
        Ok(Self {
            lake,
            selection,
            period,
            zone: lake.zone()?,
            corrections: lake.corrections()?,
            is_by_end: Attribution::of_lake(&lake.manifest.facts) == Some(Attribution::ByEnd),
        })
    }

    /// The pieces to read. Jobs that ended after the period are in a later month; they are read too and cut to the period.
    pub(super) fn pieces(&self) -> Result<Vec<LakePiece>> {
        self.lake.record_pieces(&Selection {
            sites: self.selection.sites.clone(),
            ..Selection::default()
        })
    }

    /// Every part of a job of a piece that counts. Returns how many of the jobs were suspended and run over an end of the period.
    pub(super) fn each(&self, piece: &LakePiece, mut visit: impl FnMut(&PeriodPart<'_>)) -> Result<u64> {
        let mut cut_suspended_n = 0;
        let effects = self.corrections.of_site(&piece.site);
        let columns: BTreeSet<&str> = COLUMNS.into_iter().chain(effects.columns()).collect();
        let columns: Vec<&str> = columns.into_iter().collect();
        for batch in self.lake.piece_batches(piece, &columns)? {
            let batch = batch?;
            let looked_at = effects.of_batch(&batch)?;
            let words = |name| text(&batch, name);
            let (view, vo, cluster) = (words("view")?, words("vo")?, words("cluster")?);
            let (account, user, reservation) = (words("account")?, words("user")?, words("reservation")?);
            let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
            let (wall, suspended) = (int(&batch, "wall_s")?, int(&batch, "suspended_s")?);
            let mut amounts = Vec::with_capacity(AMOUNTS.len());
            for name in AMOUNTS {
                amounts.push(int(&batch, name)?);
            }
            let typed = models(&batch)?;
            for row in 0..batch.num_rows() {
                let Some(start_ms) = number(start, row) else { continue };
                let wall_s = wall.value(row);
                let held_s = wall_s + addend(number(suspended, row));
                let end_ms = number(end, row).unwrap_or(start_ms + held_s * 1000);
                let Some(span) = self.period.clip(start_ms, end_ms) else {
                    continue;
                };
                if view.value(row) != "batch" {
                    continue;
                }
                let amount = |place: usize| {
                    let amount = amounts.get(place).and_then(|column| number(column, row));
                    amount.map(|amount| if place == MEMORY { amount >> 20 } else { amount })
                };
                let part = PeriodPart {
                    cluster: word_or_empty(cluster, row),
                    account: "",
                    user: word_or_empty(user, row),
                    reservation: word(reservation, row),
                    span,
                    whole: MsSpan {
                        from_ms: start_ms,
                        until_ms: end_ms,
                    },
                    seconds: [wall_s, held_s],
                    amounts: std::array::from_fn(amount),
                    models: typed.row(row),
                };
                let mut is_counted = false;
                let mut visit = |effect: CorrectionEffect<'_>, span| {
                    if !effect.is_void && self.selection.has_vo(effect.vo) {
                        let account = absent::text(effect.account);
                        visit(&part.counted_for(account, span));
                        is_counted = true;
                    }
                };
                if effects.is_empty() {
                    let own = CorrectionEffect {
                        is_void: false,
                        vo: word(vo, row),
                        account: word(account, row),
                    };
                    visit(own, span);
                } else {
                    self.fates_of(&effects, &looked_at, row, span, end_ms, visit);
                }
                let is_cut = held_s != wall_s && span != part.whole;
                cut_suspended_n += u64::from(is_counted && is_cut);
            }
        }
        Ok(cut_suspended_n)
    }

    /// What became of a row: of all of it where jobs count in the month they ended in, else month by month.
    pub(super) fn fates_of(
        &self,
        effects: &CorrectionEffects<'_>,
        columns: &EffectColumns<'_>,
        row: usize,
        span: MsSpan,
        end_ms: i64,
        mut visit: impl FnMut(CorrectionEffect<'_>, MsSpan),
    ) {
        if self.is_by_end {
            visit(effects.of(columns, row, end_ms), span);
            return;
        }
        let mut begun: Option<(CorrectionEffect<'_>, i64)> = None;
        let part = |from_ms: i64, until_ms: i64| MsSpan { from_ms, until_ms };
        let mut at_ms = span.from_ms;
        while at_ms < span.until_ms {
            let Some(month) = self.zone.month_of(at_ms) else {
                return;
            };
            let effect = effects.of(columns, row, at_ms);
            match begun {
                Some((known, _)) if known == effect => {}
                Some((known, since_ms)) => {
                    visit(known, part(since_ms, at_ms));
                    begun = Some((effect, at_ms));
                }
                None => begun = Some((effect, at_ms)),
            }
            at_ms = self.begins_ms(month.next()).max(at_ms + 1);
        }
        if let Some((effect, since_ms)) = begun {
            visit(effect, part(since_ms, span.until_ms));
        }
    }

    fn begins_ms(&self, month: Month) -> i64 {
        self.zone.begins_ms(month.first_day())
    }
}

/// The note about jobs that were suspended and run over an end of the period.
pub(super) fn cut_suspended(job_n: u64) -> Option<String> {
    (job_n > 0).then(|| {
        format!(
            "{job_n} jobs were suspended and run over an end of the period: dumps do not state when, so that their cpu is \
             divided in proportion to time, which Slurm does not"
        )
    })
}

/// The GPUs by model of the rows of a batch.
#[derive(Clone, Copy)]
pub(super) struct ModelColumn<'a> {
    lists: &'a ListArray,
    names: &'a StringArray,
    counts: &'a Int64Array,
}

impl<'a> ModelColumn<'a> {
    fn row(self, row: usize) -> Models<'a> {
        let at = |row: usize| {
            self.lists
                .value_offsets()
                .get(row)
                .and_then(|at| usize::try_from(*at).ok())
        };
        let places = match at(row).zip(at(row + 1)) {
            Some(places) if self.lists.is_valid(row) => places,
            _ => (0, 0),
        };
        Models {
            names: self.names,
            counts: self.counts,
            places,
        }
    }

    /// Models and counts of a row.
    pub(super) fn of(self, row: usize) -> impl Iterator<Item = (&'a str, i64)> {
        self.row(row).iter()
    }
}

/// The column `gpus` of a batch.
pub(super) fn models(batch: &RecordBatch) -> Result<ModelColumn<'_>> {
    let odd = || Error::internal("the column gpus is of another type");
    let lists = column(batch, "gpus")?.as_list_opt::<i32>().ok_or_else(odd)?;
    let devices = lists.values().as_struct_opt().ok_or_else(odd)?;
    let mut columns = devices.columns().iter();
    let names = columns.next().and_then(|names| names.as_string_opt::<i32>());
    let counts = columns.next().and_then(|counts| counts.as_primitive_opt::<Int64Type>());
    let (names, counts) = names.zip(counts).ok_or_else(odd)?;
    Ok(ModelColumn { lists, names, counts })
}
