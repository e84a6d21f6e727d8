//! What each day adds to the usage of each association.

use std::collections::BTreeMap;

use super::days::DayRange;
use super::files::JobFile;
use super::job_associations::JobAssociations;
use super::jobs::read;
use super::listing::DatedTrees;
use super::settings::FairshareSettings;
use super::uncounted::UncountedJobs;
use super::usage_cuts::UsageCuts;
use crate::error::{Error, Kind, Result};
use crate::fairshare::usage::UsageRule;
use crate::fairshare::{AssociationKey, UsageDecay, UsageReset};
use crate::numbers::Extent;
use crate::runtime::pool;
use crate::store::Store;

/// By association: for every part of the days of the range what is added, 10^-6, as it counts at the end of that part. Under
/// halving steps it is not decayed; under all other rules a day is one part.
pub(super) type AddedUsage = BTreeMap<AssociationKey, Vec<i128>>;

/// What every day of a range adds.
pub(super) struct UsageDays {
    /// Where the parts of days begin and end.
    pub(super) cuts: UsageCuts,
    pub(super) added_e6: AddedUsage,
}

impl UsageDays {
    /// Reads the jobs of a range of days.
    ///
    /// # Errors
    /// [`Kind::Io`] when a file cannot be read, [`Kind::Data`] when a sum does not fit.
    pub(super) fn read(scan: &UsageScan<'_>, uncounted: &mut UncountedJobs) -> Result<Self> {
        let edges_s = scan.range.edges_s(&scan.settings.rule.zone);
        let cuts = UsageCuts::of(&scan.settings.rule, edges_s);
        let cuts_s = cuts.instants_s();
        let rule = added_rule(&scan.settings.rule);
        let of_files = pool::each(scan.files, scan.threads, |file| {
            let mut associations = JobAssociations::default();
            let mut added: Vec<BTreeMap<usize, i128>> = Vec::new();
            let uncounted = read(
                scan.store,
                file,
                scan.settings,
                scan.range.span_s(&scan.settings.rule.zone),
                |job| {
                    let number = associations.number(&job, scan.trees);
                    if added.len() <= number {
                        added.resize_with(number + 1, BTreeMap::new);
                    }
                    let Some(of_association) = added.get_mut(number) else {
                        return Ok(());
                    };
                    let first = cuts_s.partition_point(|cut_s| *cut_s <= job.segment.span.start_s);
                    for (part, cut) in cuts_s.windows(2).enumerate().skip(first.less(1)) {
                        let &[begins_s, ends_s] = cut else { continue };
                        // The last seconds of a job may count a calculation later.
                        if begins_s > job.segment.span.end_s {
                            break;
                        }
                        let added_e6 = rule.added_of_period_e6(&job.segment, begins_s, ends_s)?;
                        if added_e6 != 0 {
                            let sum = of_association.entry(part).or_default();
                            *sum = sum.checked_add(added_e6).ok_or_else(too_large)?;
                        }
                    }
                    Ok(())
                },
            )?;
            Ok((associations.keys, added, uncounted))
        })?;
        let part_n = cuts_s.len().less(1);
        let mut added_e6 = AddedUsage::new();
        for (keys, added, of_file) in of_files {
            uncounted.append(of_file);
            for (key, of_parts) in keys.into_iter().zip(added) {
                let sums = added_e6.entry(key).or_insert_with(|| vec![0; part_n]);
                for (part, of_part) in of_parts {
                    if let Some(sum) = sums.get_mut(part) {
                        *sum = sum.checked_add(of_part).ok_or_else(too_large)?;
                    }
                }
            }
        }
        Ok(Self { cuts, added_e6 })
    }
}

/// What usage of days is read from.
pub(super) struct UsageScan<'a> {
    pub(super) store: &'a Store,
    /// Those with jobs of the range.
    pub(super) files: &'a [&'a JobFile],
    pub(super) settings: &'a FairshareSettings,
    pub(super) trees: &'a DatedTrees,
    pub(super) range: DayRange,
    pub(super) threads: usize,
}

/// The rule by which a part of a day adds: that of the settings, but whole seconds where past usage cannot be aged.
fn added_rule(rule: &UsageRule) -> UsageRule {
    match rule.decay {
        UsageDecay::Chained(_) => rule.clone(),
        UsageDecay::HalvingSteps(_) => UsageRule {
            decay: UsageDecay::NONE,
            reset: UsageReset::None,
            zone: rule.zone.clone(),
            calculations: None,
            runs: None,
        },
    }
}

fn too_large() -> Error {
    Error::new(Kind::Data, "the usage of a day is too large for fairshare")
}
