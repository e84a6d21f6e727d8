//! Received summaries as documents of GRACC, where they count in place of jobs.

use std::collections::BTreeMap;

use super::apel::users::Users;
use super::gracc::{GraccKey, GraccSums, MISSING, resource_type, sorted};
use super::group_index::Owned;
use super::lake::Selection;
use crate::absent;
use crate::amounts::add;
use crate::error::Result;
use crate::record::Summary;
use crate::schema::batch::addend;
use crate::time::{DAY_MS, Month};

/// The view of what summaries count in place of.
const BATCH: &str = "batch";

/// Adds the summaries that count. Those of more than one day fit no document, and those of other views count next to jobs:
/// their jobs are counted by site and month.
pub(super) fn add_summaries(
    rows: &[Summary],
    selection: &Selection,
    users: &Users,
    groups: &mut BTreeMap<GraccKey, GraccSums>,
) -> Result<Vec<String>> {
    let mut left_out: BTreeMap<(&str, Month), i64> = BTreeMap::new();
    let mut other_views: BTreeMap<(&str, Month, &str), i64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_usage() && is_wanted(row, selection)) {
        let view = absent::text(row.words.view.as_deref());
        let job_n = if view != BATCH {
            other_views.entry((&row.site, row.month, view)).or_default()
        } else if let Some(day) = day(row) {
            let (key, sums) = document(row, day);
            groups.entry(sorted(key, users)?).or_default().add(&sums);
            continue;
        } else {
            left_out.entry((&row.site, row.month)).or_default()
        };
        add(job_n, addend(row.numbers.job_n), "job_n")?;
    }
    let lines = left_out.into_iter().filter(|(_, job_n)| *job_n != 0);
    let lines = lines.map(|((site, month), job_n)| {
        format!("{site} {month}: {job_n} jobs left out: their summaries are not of one day, and GRACC's documents are")
    });
    let other_views = other_views.into_iter().filter(|(_, job_n)| *job_n != 0);
    let other_views = other_views.map(|((site, month, view), job_n)| {
        format!("{site} {month}: {job_n} jobs left out: their summaries are of the view {view}, and those of {BATCH} alone are written")
    });
    Ok(lines.chain(other_views).collect())
}

/// Whether a summary is of the days of a selection; one of more than a day is of those of its month.
fn is_wanted(row: &Summary, selection: &Selection) -> bool {
    day(row).is_none_or(|day| i32::try_from(day).is_ok_and(|day| selection.days.has(day)))
}

/// The day on which all jobs of a summary ended.
fn day(row: &Summary) -> Option<i64> {
    let (first_ms, last_ms) = row.numbers.earliest_end_utc.zip(row.numbers.latest_end_utc)?;
    let day = first_ms.div_euclid(DAY_MS);
    (last_ms.div_euclid(DAY_MS) == day).then_some(day)
}

/// The document of a summary of one day.
fn document(row: &Summary, day: i64) -> (Owned<8, 4>, GraccSums) {
    let (words, numbers) = (&row.words, &row.numbers);
    let of = |word: &Option<String>| word.clone().unwrap_or_else(|| MISSING.to_owned());
    // Fallback: GRACC takes unknown cores for one.
    let core_n = numbers.alloc_core_n.filter(|n| *n > 0).unwrap_or(1);
    let key = Owned {
        words: [
            of(&words.vo),
            words.reportable_vo.clone().unwrap_or_else(|| of(&words.vo)),
            of(&words.account),
            of(&words.global_user),
            resource_type(absent::text(words.view.as_deref())),
            of(&words.infrastructure),
            of(&words.cluster),
            row.site.clone(),
        ],
        numbers: [day, core_n, addend(numbers.alloc_gpu_n), addend(numbers.exit_code)],
    };
    let wall_ms = i128::from(addend(numbers.wall_s)) * 1000 + i128::from(addend(numbers.wall_fraction_ms));
    let sums = GraccSums {
        job_n: i128::from(addend(numbers.job_n)),
        wall_ms,
        cpu_ms: numbers.cpu_ms.map(i128::from),
        is_split_unknown: numbers.cpu_ms.is_some(),
        core_wall_ms: wall_ms * i128::from(core_n),
        ..GraccSums::default()
    };
    (key, sums)
}
