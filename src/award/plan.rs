//! Awards a pipeline states, resolved: each with what its use is counted under and in.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::award::{Award, AwardLimit};
use super::ledger::AwardLedger;
use super::rule::PeriodRule;
use super::unit::{AwardMeasure, YearLength, bytes_of};
use crate::charge::charged_tariff::{BalanceTariff, called};
use crate::diagnostics::{Problems, did_you_mean};
use crate::reference::allocation::AllocationTable;
use crate::reference::node_type::day_text;
use crate::time::{Calendar, Day, Grain, Month};

/// Days that the recent window has where the pipeline does not state them.
pub const WINDOW_DAYS: i32 = 28;

/// The awards of a pipeline.
#[derive(Clone, Debug)]
pub struct AwardPlan {
    /// The table, entry by entry.
    pub entries: AllocationTable,
    /// What the entries come to.
    pub ledger: AwardLedger,
    /// The period rules that awards name.
    pub rules: Vec<Arc<PeriodRule>>,
    /// How long years of awards are.
    pub year_length: YearLength,
    /// Days that the recent window of projections has.
    pub window_days: i32,
}

/// What awards are resolved by.
pub struct AwardSetting<'s> {
    /// Name of the table in reported mistakes.
    pub file: &'s str,
    /// What jobs are charged by.
    pub tariffs: &'s BTreeSet<BalanceTariff>,
    /// The pipeline's calendar.
    pub calendar: &'s mut Calendar,
    /// Its grain.
    pub grain: Grain,
}

impl AwardPlan {
    /// Finds for every award the policy that counts it and the measure of its unit, and holds its days against the grain:
    /// where charges are by month, use of a month is of one award. Every mistake is reported with its line.
    pub fn resolve(&mut self, setting: &mut AwardSetting<'_>, problems: &mut Problems) {
        let all: BTreeSet<&BalanceTariff> = setting.tariffs.iter().collect();
        for award in &mut self.ledger.awards {
            let line = award.line;
            if let Err(why) = resolve(award, &all, self.year_length, setting) {
                problems.mistake(setting.file, line, why);
            }
            if setting.grain == Grain::Month {
                for day in [Some(award.from), award.last_until()].into_iter().flatten() {
                    if !begins_period(setting.calendar, day) {
                        let message = format!(
                            "{} is inside a month, and charges are by month: awards begin and end with months, or grain = \
                             \"day\" in [pipeline]",
                            day_text(Some(day), "")
                        );
                        problems.mistake(setting.file, line, message);
                    }
                }
            }
            if let Some(id) = &award.period_rule
                && !self.rules.iter().any(|rule| rule.id == *id)
            {
                let hint = did_you_mean(id, self.rules.iter().map(|rule| rule.id.as_str()));
                problems.mistake(
                    setting.file,
                    line,
                    format!("period_rule: there is no rule \"{id}\" in period_rules{hint}"),
                );
            } else if award.period_rule.is_some()
                && (award.last_until().is_none() || award.limit == AwardLimit::Maximum)
            {
                let message = "period_rule: rules divide awards of use that have an end";
                problems.mistake(setting.file, line, message);
            }
        }
        self.refuse_doubles(setting.file, problems);
        self.refuse_open_parts(setting.file, problems);
    }

    /// Two awards that count the same use would count it twice, however they name its policy.
    fn refuse_doubles(&self, file: &str, problems: &mut Problems) {
        for (at, award) in self.ledger.awards.iter().enumerate() {
            let double = self.ledger.awards.iter().take(at).find(|other| {
                (&other.account, &other.user) == (&award.account, &award.user)
                    && other.tariff.is_some()
                    && other.tariff == award.tariff
                    && other.meets(award)
            });
            if let Some(double) = double {
                let message = format!(
                    "counts the same use as the award of line {}, under the same policy",
                    double.line
                );
                problems.mistake(file, award.line, message);
            }
        }
    }

    /// A user's part counts for the award of its account as well. Where it is not inside that award, its use would count next to
    /// it, or for an award that is over.
    fn refuse_open_parts(&self, file: &str, problems: &mut Problems) {
        let is_inside = |own: &Option<String>, above: &Option<String>| above.is_none() || above == own;
        let awards = &self.ledger.awards;
        for part in awards.iter().filter(|award| award.user.is_some()) {
            let wholes = awards.iter().enumerate().filter(|(_, whole)| {
                whole.user.is_none()
                    && whole.account == part.account
                    && whole.tariff.is_some()
                    && whole.tariff == part.tariff
                    && whole.meets(part)
            });
            for (at, whole) in wholes {
                let ends = whole
                    .last_until()
                    .is_none_or(|end| part.last_until().is_some_and(|own| own <= end));
                let above = format!("\"{}\" of line {}", whole.id, whole.line);
                let why = if part.from < whole.from || !ends {
                    format!("the days of {above} do not include those of \"{}\"", part.id)
                } else if !is_inside(&part.site, &whole.site) || !is_inside(&part.cluster, &whole.cluster) {
                    format!("the place of {above} does not include that of \"{}\"", part.id)
                } else if part.parent != Some(at) {
                    format!(
                        "the policy of {above} is named in other words than that of \"{}\"",
                        part.id
                    )
                } else {
                    continue;
                };
                let message = format!("{why}: a user's part lies inside one award of its account");
                problems.mistake(file, part.line, message);
            }
        }
    }

    /// The rule an award is used under.
    #[must_use]
    pub fn rule(&self, award: &Award) -> Option<&Arc<PeriodRule>> {
        let id = award.period_rule.as_ref()?;
        self.rules.iter().find(|rule| rule.id == *id)
    }

    /// All that decides what is published of awards, as text.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = format!("{} {}\n", self.year_length.text(), self.window_days);
        for rule in &self.rules {
            let _ = writeln!(text, "{} {:?}", rule.id, rule.text);
        }
        for row in &self.entries.rows {
            let _ = writeln!(text, "{row:?}");
        }
        text
    }
}

fn resolve(
    award: &mut Award,
    all: &BTreeSet<&BalanceTariff>,
    year_length: YearLength,
    setting: &mut AwardSetting<'_>,
) -> Result<(), String> {
    if award.limit == AwardLimit::Maximum {
        // Fallback: an award of storage without a unit is measured in nothing that is known.
        let unit = award.unit.as_deref().unwrap_or_default();
        if bytes_of(unit).is_none() {
            return Err(format!(
                "unit: a maximum of storage is not counted in \"{unit}\", but in a unit of bytes such as TB or TiB"
            ));
        }
        award.measure = Some(AwardMeasure::stored(unit));
        return Ok(());
    }
    let year_s = year_length.seconds(setting.calendar, award.from);
    let year_s = year_s.ok_or_else(|| "valid_from is in no year of the calendar".to_owned())?;
    let measure_of = |tariff: &BalanceTariff| AwardMeasure::of(award.unit.as_deref(), &tariff.unit, year_s);
    // Versions of one policy may charge in several units: an award counts those of its own.
    let tariff = called(&award.policy, all, |tariff| measure_of(tariff).is_ok())?;
    let measure = measure_of(tariff)?;
    award.tariff = Some((*tariff).clone());
    award.measure = Some(measure);
    Ok(())
}

/// Whether a period of the calendar begins on a day.
fn begins_period(calendar: &mut Calendar, day: Day) -> bool {
    /// People write days of this year for an open end.
    const OPEN_YEAR: i16 = 9999;
    let Some(month) = Month::of_day(day) else { return false };
    if month.year() == OPEN_YEAR {
        return true;
    }
    let begins_ms = calendar.begins_ms(day);
    let period = calendar.period(begins_ms);
    period.map_or(month.first_day() == day, |period| period.from_ms == begins_ms)
}
