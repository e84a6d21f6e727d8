//! One job as publishers see it, from a batch of `records`.

use arrow_array::{Decimal128Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};

use super::group::{PeerGroups, PeerKey, WORDS};
use super::mode::{PRIORITY, PeerMode, WORK, e10};
use super::names::PeerNames;
use super::report::Left;
use super::rules::rounded_work;
use crate::amounts::{add, product};
use crate::error::Result;
use crate::numbers::Comparand;
use crate::reference::benchmark::Benchmark;
use crate::report::lake::Selection;
use crate::schema::batch::{addend, decimal, int, number, text, time, word};
use crate::summarise::correction_effect::{CorrectionEffects, EffectColumns};
use crate::time::Month;

/// The columns that are read.
pub(super) const COLUMNS: [&str; 20] = [
    "view",
    "submit_host",
    "vo",
    "vo_group",
    "vo_role",
    "global_user",
    "infrastructure",
    "end_utc",
    "wall_s",
    "wall_fraction_ms",
    "cpu_ms",
    "cpu_user_ms",
    "cpu_system_ms",
    "alloc_core_n",
    "alloc_node_n",
    "benchmark",
    "benchmark_per_core",
    "hs06_per_core",
    "hs23_per_core",
    "si00_per_core",
];

/// Columns of a batch.
struct PeerJobColumns<'a> {
    view: &'a StringArray,
    words: [&'a StringArray; 6],
    end_utc: &'a TimestampMillisecondArray,
    wall_s: &'a Int64Array,
    wall_fraction_ms: &'a Int64Array,
    cpu_ms: &'a Int64Array,
    cpu_user_ms: &'a Int64Array,
    cpu_system_ms: &'a Int64Array,
    alloc_core_n: &'a Int64Array,
    alloc_node_n: &'a Int64Array,
    benchmark: &'a StringArray,
    benchmark_per_core: &'a Decimal128Array,
    /// What the pipeline scales the job by, in the order of [`Benchmark::ALL`].
    factors: [&'a Decimal128Array; 3],
}

impl<'a> PeerJobColumns<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Self> {
        let [vo, vo_group, vo_role, global_user, submit_host, infrastructure] = WORDS.map(|name| text(batch, name));
        Ok(Self {
            view: text(batch, "view")?,
            words: [vo?, vo_group?, vo_role?, global_user?, submit_host?, infrastructure?],
            end_utc: time(batch, "end_utc")?,
            wall_s: int(batch, "wall_s")?,
            wall_fraction_ms: int(batch, "wall_fraction_ms")?,
            cpu_ms: int(batch, "cpu_ms")?,
            cpu_user_ms: int(batch, "cpu_user_ms")?,
            cpu_system_ms: int(batch, "cpu_system_ms")?,
            alloc_core_n: int(batch, "alloc_core_n")?,
            alloc_node_n: int(batch, "alloc_node_n")?,
            benchmark: text(batch, "benchmark")?,
            benchmark_per_core: decimal(batch, "benchmark_per_core")?,
            factors: [
                decimal(batch, "hs06_per_core")?,
                decimal(batch, "hs23_per_core")?,
                decimal(batch, "si00_per_core")?,
            ],
        })
    }

    /// What the pipeline scales a job by on one scale, in ten-thousandths per core.
    fn factor_e4(&self, kind: Benchmark, row: usize) -> Option<i64> {
        let (_, column) = Benchmark::ALL
            .into_iter()
            .zip(self.factors)
            .find(|(each, _)| *each == kind)?;
        i64::try_from(number(column, row)?).ok()
    }
}

/// The benchmark of a job, in ten-thousandths per core.
#[derive(Clone, Copy)]
struct PublishedLevel {
    kind: Benchmark,
    e4: i64,
}

/// What a job is grouped by.
struct GroupedJob<'j> {
    /// Its place in the batch.
    row: usize,
    vo: Option<&'j str>,
    month: Month,
    level: Option<PublishedLevel>,
    core_n: i64,
}

/// Adds the jobs of one site up as a mode groups them.
pub(super) struct PeerJobs<'a> {
    pub(super) mode: PeerMode,
    pub(super) selection: &'a Selection,
    /// What corrections make of the jobs.
    pub(super) effects: CorrectionEffects<'a>,
    /// Summaries count in place of its batch jobs.
    pub(super) is_summarised: bool,
}

impl PeerJobs<'_> {
    /// Adds a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is not one of them; [`crate::error::Kind::Data`] when a sum is too large.
    pub(super) fn add(
        &self,
        batch: &RecordBatch,
        names: &mut PeerNames,
        groups: &mut PeerGroups,
        left: &mut Left,
    ) -> Result<()> {
        let columns = PeerJobColumns::new(batch)?;
        let looked_at = self.effects.of_batch(batch)?;
        for row in 0..batch.num_rows() {
            self.add_row(&columns, &looked_at, row, names, groups, left)?;
        }
        Ok(())
    }

    fn add_row(
        &self,
        columns: &PeerJobColumns<'_>,
        looked_at: &EffectColumns<'_>,
        row: usize,
        names: &mut PeerNames,
        groups: &mut PeerGroups,
        left: &mut Left,
    ) -> Result<()> {
        let [mut vo, .., infrastructure] = columns.words.map(|column| word(column, row));
        let Some(end_ms) = number(columns.end_utc, row) else {
            left.not_ended_job_n += u64::from(self.has_vo(vo));
            return Ok(());
        };
        let Some(month) = Month::of_ms(end_ms) else {
            return Ok(());
        };
        if !self.selection.days.has_ms(end_ms) {
            return Ok(());
        }
        if !self.effects.is_empty() {
            let effect = self.effects.of(looked_at, row, end_ms);
            if effect.is_void {
                return Ok(());
            }
            vo = effect.vo;
        }
        if !self.has_vo(vo) {
            return Ok(());
        }
        if !self.mode.takes_view(columns.view.value(row), infrastructure) {
            left.other_view_job_n += 1;
            return Ok(());
        }
        if self.is_summarised && columns.view.value(row) == "batch" {
            return Ok(());
        }
        let wall_s = columns.wall_s.value(row).max(0);
        if self.mode == PeerMode::Auditor && wall_s == 0 {
            left.no_wall_job_n += 1;
            return Ok(());
        }
        let level = self.level(columns, row);
        // A job without a benchmark never becomes one of their records.
        if level.is_none() && !matches!(self.mode, PeerMode::Native | PeerMode::Gracc) {
            left.benchmark_missing_job_n += 1;
            return Ok(());
        }
        let core_n = addend(number(columns.alloc_core_n, row)).max(0);
        let job = GroupedJob {
            row,
            vo,
            month,
            level,
            core_n,
        };
        let key = self.key(columns, &job, names);
        let sums = groups.entry(key).or_default();
        let cpu_ms = addend(number(columns.cpu_ms, row)).max(0);
        let exact_wall_ms = i128::from(wall_s) * 1000 + i128::from(columns.wall_fraction_ms.value(row));
        let whole_cpu_s = self.mode.cpu_s(cpu_ms);
        let part = |column: &Int64Array| i128::from(addend(number(column, row)).max(0));
        sums.job_n += 1;
        sums.wall_s += i128::from(wall_s);
        sums.wall_ms += exact_wall_ms;
        sums.cpu_s += i128::from(whole_cpu_s);
        sums.cpu_ms += i128::from(cpu_ms);
        sums.cpu_parts_ms += part(columns.cpu_user_ms) + part(columns.cpu_system_ms);
        sums.note_end(Some(end_ms), Some(end_ms));
        let Some(PublishedLevel { kind, e4 }) = level else {
            sums.native_unknown_job_n += 1;
            return Ok(());
        };
        // The exact value is the pipeline's, also where it prefers another to the record's own. One that its order excludes
        // gives no work, but for zero, which is none by any.
        match columns.factor_e4(kind, row).or((e4 == 0).then_some(0)) {
            Some(exact_e4) => {
                let work = |ms: i128| e10(product(ms, i128::from(exact_e4), WORK)?, kind);
                let core_wall_ms = product(exact_wall_ms, i128::from(core_n.max(1)), "core_wall_ms")?;
                add(&mut sums.native_wall_e10, work(exact_wall_ms)?, WORK)?;
                add(&mut sums.native_cpu_e10, work(i128::from(cpu_ms))?, WORK)?;
                add(&mut sums.native_core_wall_e10, work(core_wall_ms)?, WORK)?;
            }
            None => sums.native_unknown_job_n += 1,
        }
        match self.mode {
            PeerMode::Auditor => {
                add(&mut sums.rounded_wall, rounded_work(wall_s, kind, e4)?, WORK)?;
                add(&mut sums.rounded_cpu, rounded_work(whole_cpu_s, kind, e4)?, WORK)?;
            }
            PeerMode::Gracc => sums.note_factor(match kind {
                Benchmark::Si00 => e4 / 250,
                Benchmark::Hs06 | Benchmark::Hs23 => e4,
            }),
            PeerMode::Native | PeerMode::Apel | PeerMode::ApelPre23 => {}
        }
        Ok(())
    }

    fn has_vo(&self, vo: Option<&str>) -> bool {
        self.selection.has_vo(vo)
    }

    /// The benchmark that is published of a job: what its record states, else what the pipeline scales it by, and of
    /// several kinds the first of [`PRIORITY`]. In ten-thousandths per core. Our own is always one the pipeline scales by.
    fn level(&self, columns: &PeerJobColumns<'_>, row: usize) -> Option<PublishedLevel> {
        let stated = word(columns.benchmark, row)
            .and_then(Benchmark::parse)
            .zip(number(columns.benchmark_per_core, row).and_then(|e3| i64::try_from(e3).ok()));
        let is_published = |kind| self.mode != PeerMode::Native || columns.factor_e4(kind, row).is_some();
        if let Some((kind, e3)) = stated.filter(|(kind, _)| is_published(*kind)) {
            // Zero is published as zero; a negative one would stop APEL's server.
            let is_shown = self.mode.folds_case() && e3 == 0;
            let e4 = e3.product_to_compare(10);
            return (e3 > 0 || is_shown).then_some(PublishedLevel { kind, e4 });
        }
        let known = |kind| {
            let e4 = columns.factor_e4(kind, row)?;
            Some(PublishedLevel { kind, e4 })
        };
        PRIORITY.into_iter().find_map(known)
    }

    fn key(&self, columns: &PeerJobColumns<'_>, job: &GroupedJob<'_>, names: &mut PeerNames) -> PeerKey {
        let (row, level) = (job.row, job.level);
        let mut words = [0; 6];
        for ((number, column), name) in words.iter_mut().zip(columns.words).zip(WORDS) {
            let is_grouped = self.mode != PeerMode::Gracc || matches!(name, "vo" | "global_user");
            if is_grouped {
                *number = names.number(if name == "vo" { job.vo } else { word(column, row) });
            }
        }
        let is_gracc = self.mode == PeerMode::Gracc;
        PeerKey {
            month: job.month,
            words,
            kind: level.map(|level| level.kind).filter(|_| !is_gracc),
            level_e3: match (self.mode, level) {
                (PeerMode::Gracc | PeerMode::Auditor, _) | (_, None) => 0,
                // Three decimals, halves up.
                (_, Some(level)) => (level.e4 + 5).div_euclid(10),
            },
            node_n: if is_gracc {
                1
            } else {
                addend(number(columns.alloc_node_n, row)).max(0)
            },
            core_n: job.core_n,
        }
    }
}
