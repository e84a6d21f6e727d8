//! How a lake attributes jobs to periods, as its manifest states it: without the pipeline file a part of a job can be
//! computed again.

use crate::config::plan::Plan;
use crate::error::{Error, Kind, Result};
use crate::store::{Fact, LakeFacts};
use crate::summarise::attribution::Attribution;
use crate::time::grain::Grain;
use crate::time::{Calendar, YearStart, Zone};

/// The value of [`Fact::Calendar`] for a plan.
pub(crate) fn of_plan(plan: &Plan) -> String {
    let YearStart { month, day } = plan.allocation_year_start;
    let grain = match plan.grain {
        Grain::Month => "month",
        Grain::Day => "day",
    };
    format!("{} {month:02}-{day:02} {grain}", plan.calendar_zone.name())
}

/// How a lake attributes jobs to periods.
#[derive(Clone, Debug)]
pub(crate) struct CalendarRule {
    /// How a job is attributed to periods.
    pub(crate) attribution: Attribution,
    /// Zone in which days, months and allocation years are cut.
    pub(crate) zone: Zone,
    /// Finest period.
    pub(crate) grain: Grain,
    /// First month and day of an allocation year.
    pub(crate) year_start: YearStart,
}

/// Attribution and calendar of a lake.
///
/// # Errors
/// As [`rule`].
pub(crate) fn restored(facts: &LakeFacts) -> Result<(Attribution, Calendar)> {
    let rule = rule(facts)?;
    Ok((rule.attribution, Calendar::new(rule.zone, rule.grain, rule.year_start)))
}

/// The attribution and calendar a lake records.
///
/// # Errors
/// [`Kind::Data`] when an earlier version published it: a run writes the fact down.
pub(crate) fn rule(facts: &LakeFacts) -> Result<CalendarRule> {
    let unstated = || {
        Error::new(
            Kind::Data,
            "the lake does not record its calendar: a run of this version records it",
        )
    };
    let attribution = Attribution::of_lake(facts).ok_or_else(unstated)?;
    let fact = facts.get(Fact::Calendar).ok_or_else(unstated)?;
    let mut words = fact.split(' ');
    let (zone, start, grain) = (words.next(), words.next(), words.next());
    let zone = Zone::named(zone.ok_or_else(unstated)?)?;
    let (month, day) = start.and_then(|start| start.split_once('-')).ok_or_else(unstated)?;
    let start = month.parse().ok().zip(day.parse().ok());
    let year_start = start
        .map(|(month, day)| YearStart { month, day })
        .ok_or_else(unstated)?;
    let grain = if grain == Some("day") { Grain::Day } else { Grain::Month };
    Ok(CalendarRule {
        attribution,
        zone,
        grain,
        year_start,
    })
}
