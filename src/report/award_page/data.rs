//! What the page is about: the awards of a year as of a day, with what becomes of them.

use super::burn_down::{BurnPoint, points};
use super::downtime::{Downtime, downtimes};
use super::forecast::{Forecast, forecasts};
use super::owed::EvenUse;
use super::shares::AwardShares;
use crate::award::Award;
use crate::error::Result;
use crate::report::award_use::{LakeAwards, by_day, of_days};
use crate::report::awards::{AwardDetail, AwardQuestion, AwardState, AwardView, end_of, states, table, year_days};
use crate::report::lake::Lake;
use crate::report::table::Table;
use crate::store::LakeFacts;
use crate::time::Day;

/// Datasets that the page is made of.
const MADE_OF: [&str; 5] = ["awards", "award_entry", "award_use", "fairshare", "reservation"];

/// One award on the page.
pub struct PageAward<'a> {
    /// What was made of it by the day.
    pub state: AwardState<'a>,
    /// First day no longer, as it is known on the day; of an award without an end that of the allocation year.
    pub end: Day,
    /// What is left, day by day; empty for stored bytes.
    pub points: Vec<BurnPoint>,
    /// Where use will end, by every method that has what it needs; empty when the award is over.
    pub forecasts: Vec<Forecast>,
    /// What should have been used by now at an even rate; `None` for stored bytes and without an end.
    pub even: Option<EvenUse>,
}

/// All that the page and the files next to it state.
pub struct AwardPage<'a> {
    /// What is requested.
    pub question: &'a AwardQuestion,
    /// The awards of the lake.
    pub lake: &'a LakeAwards,
    /// First day of the allocation year.
    pub first: Day,
    /// First day of the next one.
    pub after: Day,
    /// The awards of the year, in the order of their table.
    pub awards: Vec<PageAward<'a>>,
    /// The fairshare of their accounts.
    pub shares: AwardShares,
    /// When nothing could run, or nothing did.
    pub downtimes: Vec<Downtime>,
    /// What the lake was made under.
    pub facts: LakeFacts,
    /// Published files the page was made of, by their hash.
    pub blake3: String,
}

impl<'a> AwardPage<'a> {
    /// Reads what the awards do not state themselves.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Data`] when an amount does not fit.
    pub fn read(lake: &Lake, awards: &'a LakeAwards, question: &'a AwardQuestion) -> Result<Self> {
        let (first, after) = year_days(awards, question.year)?;
        let mut page_awards = Vec::new();
        for state in states(awards, question)? {
            page_awards.push(page_award(awards, question, state)?);
        }
        let mut hasher = blake3::Hasher::new();
        for dataset in MADE_OF {
            for file in lake.manifest.dataset(dataset) {
                hasher.update(file.blake3.as_bytes());
            }
        }
        let last = question.on.min(after - 1);
        let ledger: Vec<&Award> = page_awards.iter().map(|award| award.state.award).collect();
        Ok(Self {
            shares: AwardShares::read(lake, &ledger, first..=last)?,
            downtimes: downtimes(lake, awards, first..=last)?,
            question,
            lake: awards,
            first,
            after,
            awards: page_awards,
            facts: lake.manifest.facts.clone(),
            blake3: hasher.finalize().to_hex().to_string(),
        })
    }

    /// The rows of `report awards`, with so many digits after the point.
    ///
    /// # Errors
    /// As [`states`].
    pub fn overview(&self, digits: u8) -> Result<Table> {
        let question = AwardQuestion {
            view: AwardView::Project,
            detail: None::<AwardDetail>,
            digits,
            ..self.question.clone()
        };
        table(self.lake, &question)
    }
}

fn page_award<'a>(lake: &LakeAwards, question: &AwardQuestion, state: AwardState<'a>) -> Result<PageAward<'a>> {
    let end = end_of(lake, question, state.award)?;
    let even = EvenUse::of(&state, question.on);
    let used = by_day(state.rows.iter().copied(), state.measure.counted);
    let of_award = of_days(state.award.from, end, &used, lake.is_by_day);
    Ok(PageAward {
        end,
        points: points(&state, &of_award, question.on)?,
        forecasts: forecasts(lake, &state, &of_award, question.on)?,
        even,
        state,
    })
}
