//! Which part of a lake a command is about.

use std::collections::BTreeSet;

use crate::error::{Error, Kind, Result};
use crate::report::known_names::KnownNames;
use crate::report::lake::{Lake, Selection};
use crate::time::month::day_of;
use crate::time::{Day, DaySpan, Month, MonthOrDay};

/// Resolution of a report in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finest {
    /// Days.
    Day,
    /// Whole months; with the reason.
    Month(&'static str),
}

/// A day, as it is written.
pub(super) fn day(text: &str) -> Result<Day, String> {
    let date: Option<crate::time::Date> = text.parse().ok();
    date.map(day_of)
        .ok_or_else(|| format!("\"{text}\" is not a day such as 2026-04-01"))
}

/// From when to when.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PeriodArgs {
    /// First month (2026-03) or day (2026-03-01), included.
    #[arg(long, value_name = "MONTH-OR-DAY")]
    from: Option<MonthOrDay>,

    /// Last month (2026-03) or day (2026-03-31), included.
    #[arg(long, value_name = "MONTH-OR-DAY")]
    to: Option<MonthOrDay>,
}

impl PeriodArgs {
    /// The days they name.
    ///
    /// # Errors
    /// [`Kind::Usage`] when there are none, or where they cut a month of what knows whole months alone.
    pub(super) fn days(&self, finest: Finest) -> Result<DaySpan> {
        let days = DaySpan {
            from: self.from.map(MonthOrDay::first_day),
            to: self.to.map(MonthOrDay::last_day),
        };
        if let (Some(from), Some(to)) = (self.from, self.to)
            && to.last_day() < from.first_day()
        {
            return Err(Error::new(Kind::Usage, format!("--to {to} is before --from {from}")));
        }
        match finest {
            Finest::Month(why) if !days.is_of_months() => Err(Error::new(
                Kind::Usage,
                format!("{days} is not made of whole months, as it must be here: {why}; write months, such as 2026-03"),
            )),
            _ => Ok(days),
        }
    }
}

/// From when to when, in whole months.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct MonthsArgs {
    /// First month (2026-03), included. A day must be the first of its month (2026-03-01).
    #[arg(long, value_name = "MONTH")]
    from: Option<MonthOrDay>,

    /// Last month (2026-03), included. A day must be the last of its month (2026-03-31).
    #[arg(long, value_name = "MONTH")]
    to: Option<MonthOrDay>,
}

impl MonthsArgs {
    /// The months they name.
    ///
    /// # Errors
    /// [`Kind::Usage`] when there are none, or where they cut a month, with the reason `why` months are needed.
    pub(super) fn months(&self, why: &'static str) -> Result<(Option<Month>, Option<Month>)> {
        let Self { from, to } = *self;
        let days = PeriodArgs { from, to }.days(Finest::Month(why))?;
        Ok((days.first_month(), days.last_month()))
    }
}

/// Which sites.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SiteArgs {
    /// Only this site, by its exact name; may be given several times.
    #[arg(long, value_name = "SITE")]
    site: Vec<String>,
}

impl SiteArgs {
    /// The sites; every one when there is none.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.site.iter().cloned().collect()
    }
}

/// Options every report understands.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SelectionArgs {
    #[command(flatten)]
    sites: SiteArgs,

    /// Only this VO, whatever the case of its letters; may be given several times.
    #[arg(long, value_name = "VO")]
    vo: Vec<String>,

    #[command(flatten)]
    period: PeriodArgs,
}

impl SelectionArgs {
    /// What they select of a lake, which must have the sites and VOs.
    ///
    /// # Errors
    /// [`Kind::Usage`] for one it does not have, with the nearest name, and for days where `finest` are months.
    pub(super) fn of(&self, lake: &Lake, finest: Finest) -> Result<Selection> {
        let selection = self.selection(finest)?;
        KnownNames::of_lake(lake, &selection)?.must_have(&selection, "the lake has")?;
        Ok(selection)
    }

    /// What they select.
    ///
    /// # Errors
    /// [`Kind::Usage`] for days where `finest` are months.
    pub(super) fn selection(&self, finest: Finest) -> Result<Selection> {
        Ok(Selection {
            sites: self.sites.names(),
            vos: self.vo.iter().cloned().collect(),
            days: self.period.days(finest)?,
        })
    }
}
