//! A lake as one side of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use super::amount::{Amount, WORK_UNITS_PER_S};
use super::lake_jobs::LakeJobs;
use super::level::DifferenceLevel;
use super::usage_source::{CellKey, Fine, InUse, JobStore, LevelKey, UsageOrigin, UsageSource};
use crate::absent;
use crate::amounts::add;
use crate::error::Result;
use crate::record::SummaryKind;
use crate::report::apel::additions::additions;
use crate::report::apel::aggregate::{Aggregate, ApelGathering, VoNames, of_summary};
use crate::report::apel::jobs::{JobMessageWanted, LeftOutCounts, each_job_of, job_pieces};
use crate::report::apel::users::Users;
use crate::report::known_names::KnownNames;
use crate::report::lake::{Lake, Selection, on_all_processors};
use crate::report::work_scale::WorkScale;
use crate::schema::batch::addend;
use crate::store::Fact;
use crate::time::{DAY_MS, Month};

impl UsageSource {
    /// A lake, or one of its sources.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read.
    pub fn of_lake(lake: Lake, source: Option<&str>, selection: &Selection, scale: WorkScale) -> Result<Self> {
        let mut side = Self {
            known: KnownNames::of_lake(&lake, selection)?,
            ..Self::default()
        };
        let corrections = lake.corrections()?;
        let parts = on_all_processors(&job_pieces(&lake, selection)?, |piece| {
            let (mut gathering, mut unknown) = (ApelGathering::default(), LeftOutCounts::new());
            let mut months = BTreeSet::new();
            let wanted = JobMessageWanted::Everything;
            each_job_of(&lake, piece, selection, wanted, &corrections, &mut unknown, |job| {
                if source.is_none_or(|source| source == job.source) {
                    months.insert(job.month);
                    gathering.add(&piece.site, job, &Users::Keep)?;
                }
                Ok(())
            })?;
            Ok((gathering, piece.month, months))
        })?;
        let mut all = ApelGathering::default();
        for (gathering, filed, months) in parts {
            all.absorb(gathering);
            for month in months {
                side.held.entry(month).or_default().insert(filed);
            }
        }
        for group in all.finish(VoNames::AsServer)? {
            side.add_group(&group, scale, UsageOrigin::Jobs)?;
        }
        if source.is_none() {
            for group in additions(&lake, selection)?.groups {
                side.add_group(&group, scale, UsageOrigin::Additions)?;
            }
        }
        for row in lake.summaries(selection)? {
            if source.is_some_and(|source| source != row.source) {
                continue;
            }
            if row.kind == SummaryKind::Sync {
                let job_n = i128::from(addend(row.numbers.sync_job_n));
                side.add_count(&row.site, row.month, job_n, selection);
            } else {
                side.add_group(&of_summary(&row, &Users::Keep)?, scale, UsageOrigin::Sums)?;
            }
        }
        let facts = &lake.manifest.facts;
        let rule = facts.get(Fact::Attribution).zip(facts.get(Fact::CalendarTimezone));
        side.usage_rule = rule.map(|(attribution, zone)| format!("{attribution}, in months of {zone}"));
        side.jobs = Some(JobStore::Lake(Box::new(LakeJobs::new(lake, source, scale)?)));
        Ok(side)
    }

    fn add_group(&mut self, group: &Aggregate, scale: WorkScale, origin: UsageOrigin) -> Result<()> {
        let [user, vo, vo_group, vo_role, host, infrastructure] = &group.words;
        let sums = &group.sums;
        let level = DifferenceLevel::chosen(&group.levels_e3, scale);
        let [job_n, wall_s, cpu_ms] = [sums.job_n, sums.wall_s, sums.cpu_ms].map(i128::from);
        let mut amount = Amount::of_jobs(job_n, wall_s, cpu_ms, group.core_n, level)?;
        if let Some(core_s) = group.stated_core_s {
            amount.core_wall_s = i128::from(core_s);
        }
        if let (None, Some(work)) = (level, scale.of_works(&group.works)) {
            amount.wall_work = i128::from(work.wall_s) * WORK_UNITS_PER_S;
            amount.cpu_work = i128::from(work.cpu_s) * WORK_UNITS_PER_S;
        }
        let mut key = BTreeMap::new();
        for (name, value) in [
            ("user", user.clone()),
            ("vo_group", vo_group.clone()),
            ("vo_role", vo_role.clone()),
            ("submit_host", host.clone()),
            ("infrastructure", infrastructure.clone()),
            ("nodes", Some(group.node_n.to_string())),
            ("cores", Some(group.core_n.to_string())),
            ("benchmark", level.map(DifferenceLevel::in_words)),
        ] {
            if let Some(value) = value {
                key.insert(name, value.to_lowercase());
            }
        }
        let row = Fine { key, amount };
        let vo = absent::text(vo.as_deref());
        self.add([&group.site, vo], group.month, row, origin)?;
        let of = CellKey::new([&group.site, vo], group.month);
        if let Some(cell) = self.cells.get_mut(&of) {
            for (score, e3) in cell.scores.iter_mut().zip(group.levels_e3) {
                // An unknown value has no part in the mean of those that are known.
                if let Some(e3) = e3 {
                    add(score, wall_s * i128::from(e3), "wall work")?;
                }
            }
        }
        if let Some(level) = level {
            self.note_level(
                [&group.site, absent::text(host.as_deref())],
                level,
                group.month,
                sums.earliest_end_ms,
                sums.latest_end_ms,
            );
        }
        Ok(())
    }

    /// Notes that a value was in use; without known ends, in the whole month.
    pub(super) fn note_level(
        &mut self,
        [site, host]: [&str; 2],
        level: DifferenceLevel,
        month: Month,
        first_ms: Option<i64>,
        last_ms: Option<i64>,
    ) {
        let from_ms = first_ms.unwrap_or(i64::from(month.first_day()) * DAY_MS);
        let until_ms = last_ms.unwrap_or(i64::from(month.next().first_day()) * DAY_MS - 1);
        let of = LevelKey {
            site: site.to_lowercase(),
            submit_host: host.to_lowercase(),
            level,
            month,
        };
        let in_use = self.levels.entry(of).or_insert(InUse { from_ms, until_ms });
        in_use.from_ms = in_use.from_ms.min(from_ms);
        in_use.until_ms = in_use.until_ms.max(until_ms);
    }
}
