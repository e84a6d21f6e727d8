//! What signed corrections add: usage without a job and without a benchmark.

use super::aggregate::{Aggregate, Works, server_number};
use super::sums::ApelSums;
use crate::error::Result;
use crate::reference::correction::Correction;
use crate::reference::decimal;
use crate::report::lake::{Lake, Selection};
use crate::report::table::divide;
use crate::schema::batch::addend;
use crate::summarise::correction_effect::{Corrections, added_view};
use crate::time::Month;

/// What corrections add to a selection.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// One for each correction.
    pub groups: Vec<Aggregate>,
    /// Corrections among them that state no wall time: it counts as nothing.
    pub wall_unknown_n: usize,
}

/// What signed corrections add to a selection.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Usage`] when days of a month are requested
/// to which something is added.
pub fn additions(lake: &Lake, selection: &Selection) -> Result<Additions> {
    let corrections = lake.corrections()?;
    let mut added = Additions::default();
    for (site, month, rule) in asked(&corrections, selection) {
        selection.must_be_whole(month, ADDED)?;
        added.groups.push(of_addition(site, month, rule));
        added.wall_unknown_n += usize::from(rule.adds("wall_s").is_none());
    }
    Ok(added)
}

/// What is known of whole months.
const ADDED: &str = "the hours that corrections add";

/// The same in words, each with the jobs it adds: which correction, and how many hours.
///
/// # Errors
/// As [`additions`].
pub fn additions_in_words(lake: &Lake, selection: &Selection) -> Result<Vec<(String, i64)>> {
    let corrections = lake.corrections()?;
    for (_, month, _) in asked(&corrections, selection) {
        selection.must_be_whole(month, ADDED)?;
    }
    Ok(requested_in_words(&corrections, selection).collect())
}

/// The same, also of months of which only some days are requested.
pub fn requested_in_words<'a>(
    corrections: &'a Corrections,
    selection: &'a Selection,
) -> impl Iterator<Item = (String, i64)> + use<'a> {
    let hours = |amount: Option<i64>, a_second: i128| {
        let hundredths = amount.and_then(|amount| divide(i128::from(amount) * 100, 3600 * a_second));
        hundredths.map_or_else(|| "unknown".to_owned(), |hundredths| decimal::text(hundredths, 2))
    };
    asked(corrections, selection).map(move |(site, month, rule)| {
        let (wall, core, cpu) = (rule.adds("wall_s"), rule.adds("alloc_core_s"), rule.adds("cpu_ms"));
        let stated = format!(
            "correction {} of {site} {month}: wall hours {}, core hours {}, CPU hours {}",
            rule.id,
            hours(wall, 1),
            hours(core, 1),
            hours(cpu, 1000)
        );
        (stated, addend(rule.adds("job_n")))
    })
}

fn asked<'a>(
    corrections: &'a Corrections,
    selection: &'a Selection,
) -> impl Iterator<Item = (&'a str, Month, &'a Correction)> {
    corrections.additions().filter(|(site, month, rule)| {
        let vo = rule.filter("vo").flatten();
        added_view(rule) == "batch" && selection.has_site(site) && selection.has_month(*month) && selection.has_vo(vo)
    })
}

/// What a correction adds. The number of cores is known where the core time is a multiple of the wall time.
fn of_addition(site: &str, month: Month, rule: &Correction) -> Aggregate {
    let amount = |name: &str| addend(rule.adds(name));
    let (wall_s, core_s) = (amount("wall_s"), rule.adds("alloc_core_s"));
    let multiple = core_s.filter(|core_s| core_s.checked_rem(wall_s) == Some(0));
    let core_n = multiple.and_then(|core_s| core_s.checked_div(wall_s));
    Aggregate {
        site: site.to_owned(),
        month,
        words: [
            None,
            rule.filter("vo").flatten().map(str::to_owned),
            None,
            None,
            None,
            None,
        ],
        node_n: 0,
        core_n: server_number(core_n.filter(|core_n| *core_n > 0)),
        stated_core_s: core_s,
        levels_e3: [None; 3],
        works: Works::default(),
        sums: ApelSums {
            job_n: amount("job_n"),
            wall_s,
            wall_fraction_ms: 0,
            cpu_ms: amount("cpu_ms"),
            cpu_unknown_job_n: rule.unknown_job_n("cpu_ms"),
            ..ApelSums::default()
        },
    }
}
