//! `[awards]` of the pipeline file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::compiler::Compiler;
use crate::award::plan::{AwardSetting, WINDOW_DAYS};
use crate::award::unit::YearLength;
use crate::award::{AwardLedger, AwardPlan, PeriodRule};
use crate::charge::Tariff;
use crate::charge::charged_tariff::BalanceTariff;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::reference::allocation::AllocationTable;
use crate::time::{Calendar, Grain};

/// Days the recent window has at most.
const MAX_WINDOW_DAYS: i32 = 366;

/// `[awards]`
#[derive(Debug)]
pub struct AwardsSpec {
    /// `table`
    pub table: Option<At<String>>,
    /// `period_rules`
    pub period_rules: Vec<At<String>>,
    /// `core_year`
    pub core_year: Option<At<YearLength>>,
    /// `projection_window`
    pub window: Option<At<String>>,
}

/// Reads the section.
pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<AwardsSpec> {
    let keys = &["table", "period_rules", "core_year", "projection_window"];
    let section = top.section("awards", "[awards]", keys, problems)?;
    Some(AwardsSpec {
        table: section.required_text("table", "the table of awards", problems),
        period_rules: section
            .texts("period_rules", problems)
            .map_or_else(Vec::new, |at| at.value),
        core_year: section.word("core_year", YearLength::WORDS, problems),
        window: section.text("projection_window", problems),
    })
}

impl Compiler {
    /// The awards of the section, resolved; what is wrong with table and rules is reported by line.
    pub(crate) fn awards(
        &mut self,
        spec: &AwardsSpec,
        tariffs: &[Arc<Tariff>],
        calendar: Calendar,
        grain: Grain,
    ) -> Option<AwardPlan> {
        let path = spec.table.as_ref()?;
        let place = self.relative_path(path, "the table of awards")?;
        let label = self.table_label(&path.value);
        let entries = AllocationTable::load(place.as_ref(), &label, &mut self.problems);
        let ledger = AwardLedger::of(&entries, &label, &mut self.problems);
        let mut rules: Vec<Arc<PeriodRule>> = Vec::new();
        for named in &spec.period_rules {
            let Some(rule) = self.period_rule(named) else { continue };
            if rules.iter().any(|other| other.id == rule.id) {
                self.wrong(named.line, format!("there are two period rules \"{}\"", rule.id));
            }
            rules.push(Arc::new(rule));
        }
        if tariffs.is_empty() {
            self.wrong(
                path.line,
                "[awards] needs [[charge]]: the use of an award is what its policy charges",
            );
        }
        let tariffs: BTreeSet<BalanceTariff> = tariffs
            .iter()
            .map(|tariff| BalanceTariff {
                pool: tariff.policy.pool.clone(),
                policy: tariff.policy.id.clone(),
                options: tariff.chosen.clone(),
                unit: tariff.policy.unit.clone(),
            })
            .collect();
        let mut plan = AwardPlan {
            entries,
            ledger,
            rules,
            year_length: spec.core_year.as_ref().map_or_else(YearLength::default, |at| at.value),
            window_days: self.window_days(spec.window.as_ref()),
        };
        let mut calendar = calendar;
        let mut setting = AwardSetting {
            file: &label,
            tariffs: &tariffs,
            calendar: &mut calendar,
            grain,
        };
        if !tariffs.is_empty() {
            plan.resolve(&mut setting, &mut self.problems);
        }
        Some(plan)
    }

    /// A rule whose examples hold.
    fn period_rule(&mut self, named: &At<String>) -> Option<PeriodRule> {
        let label = self.table_label(&named.value);
        let place = self.resolve(&named.value);
        let rule = PeriodRule::load(Path::new(&place), &label, &mut self.problems)?;
        match rule.test() {
            Ok(verdicts) => {
                for verdict in verdicts.iter().filter(|verdict| !verdict.failures.is_empty()) {
                    let why = verdict.failures.first().map_or("", String::as_str);
                    let message = format!("example \"{}\" fails: {why}", verdict.name);
                    self.problems.mistake(&label, verdict.line, message);
                }
            }
            Err(why) => self.problems.mistake(&label, 0, why.to_string()),
        }
        Some(rule)
    }

    fn window_days(&mut self, stated: Option<&At<String>>) -> i32 {
        let Some(stated) = stated else { return WINDOW_DAYS };
        let days = stated
            .value
            .strip_suffix(" days")
            .and_then(|days| days.parse::<i32>().ok());
        if let Some(days) = days.filter(|days| (1..=MAX_WINDOW_DAYS).contains(days)) {
            return days;
        }
        let message = format!(
            "projection_window = \"{}\" is not a number of days such as \"28 days\", at most {MAX_WINDOW_DAYS}",
            stated.value
        );
        self.wrong(stated.line, message);
        WINDOW_DAYS
    }
}
