//! Awards as a lake keeps them: entries and what they come to, and back.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};

use super::calendar_fact;
use crate::award::plan::AwardSetting;
use crate::award::unit::YearLength;
use crate::award::{Award, AwardLedger, AwardPlan, PeriodRule};
use crate::charge::charged_tariff::BalanceTariff;
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::reference::allocation::{Allocation, AllocationTable, EntryKind};
use crate::schema;
use crate::schema::batch::{date, dates, decimal, decimals, int, ints, number, text, texts, word};
use crate::store::lake::{AWARD_ENTRIES, AWARDS};
use crate::store::{Manifest, Store, read_table};
use crate::time::{Calendar, Day};

/// What users of an award are separated by.
const BETWEEN: &str = ";";

/// The entries, as a batch of `award_entry`.
///
/// # Errors
/// [`Kind::Internal`] when the schema declares a column no entry fills.
pub(crate) fn entries(table: &AllocationTable) -> Result<RecordBatch> {
    let dataset = schema::dataset("award_entry")?;
    let columns = dataset
        .columns
        .iter()
        .map(|column| entry_array(&column.name, &table.rows));
    dataset.batch(columns.collect::<Result<_>>()?)
}

fn entry_array(name: &str, rows: &[Allocation]) -> Result<ArrayRef> {
    let word = |of: fn(&Allocation) -> Option<&str>| Ok(texts(rows.iter().map(of)));
    match name {
        "line" => Ok(ints(rows.iter().map(|row| i64::try_from(row.line).ok()))),
        "kind" => word(|row| Some(row.kind.as_str())),
        "award" => word(|row| row.award.as_deref()),
        "account" => word(|row| Some(&row.account)),
        "user" => word(|row| row.user.as_deref()),
        "policy" => word(|row| Some(&row.policy)),
        "amount" => decimals(rows.iter().map(|row| row.kind.has_amount().then_some(row.amount_e9)), 9),
        "unit" => word(|row| row.unit.as_deref()),
        "valid_from" => Ok(dates(rows.iter().map(|row| Some(row.from)))),
        "valid_to" => Ok(dates(rows.iter().map(|row| row.until))),
        "site" => word(|row| row.site.as_deref()),
        "cluster" => word(|row| row.cluster.as_deref()),
        "parent" => word(|row| row.parent.as_deref()),
        "to_account" => word(|row| row.to_account.as_deref()),
        "author" => word(|row| row.author.as_deref()),
        "reason" => word(|row| row.reason.as_deref()),
        "project" => word(|row| row.project.as_deref()),
        "users" => {
            let users = rows
                .iter()
                .map(|row| (!row.users.is_empty()).then(|| row.users.join(BETWEEN)));
            Ok(texts(users))
        }
        "coldfront_attribute" => Ok(ints(rows.iter().map(|row| row.coldfront_attribute))),
        "period_rule" => word(|row| row.period_rule.as_deref()),
        other => Err(Error::internal(format!("no entry of awards fills the column {other}"))),
    }
}

/// The awards with all their entries applied, as a batch of `awards`.
///
/// # Errors
/// [`Kind::Internal`] when the schema declares a column no award fills.
pub(crate) fn awards(plan: &AwardPlan) -> Result<RecordBatch> {
    let dataset = schema::dataset("awards")?;
    let mut rows: Vec<&Award> = plan.ledger.awards.iter().collect();
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    let columns = dataset
        .columns
        .iter()
        .map(|column| award_array(plan, &column.name, &rows));
    dataset.batch(columns.collect::<Result<_>>()?)
}

fn award_array(plan: &AwardPlan, name: &str, rows: &[&Award]) -> Result<ArrayRef> {
    let word = |of: fn(&Award) -> Option<&str>| Ok(texts(rows.iter().map(|award| of(award))));
    let tariff = |of: fn(&BalanceTariff) -> &str| Ok(texts(rows.iter().map(|award| award.tariff.as_ref().map(of))));
    match name {
        "award" => word(|award| Some(&award.id)),
        "limit" => word(|award| Some(award.limit.as_str())),
        "site" => word(|award| award.site.as_deref()),
        "cluster" => word(|award| award.cluster.as_deref()),
        "account" => word(|award| Some(&award.account)),
        "user" => word(|award| award.user.as_deref()),
        "parent" => {
            let above = |award: &&Award| plan.ledger.awards.get(award.parent?).map(|parent| parent.id.as_str());
            Ok(texts(rows.iter().map(above)))
        }
        "level_n" => Ok(ints(rows.iter().map(|award| i64::try_from(award.level).ok()))),
        "pool" => tariff(|tariff| &tariff.pool),
        "policy" => tariff(|tariff| &tariff.policy),
        "options" => tariff(|tariff| &tariff.options),
        "charge_unit" => tariff(|tariff| &tariff.unit),
        "counted" => word(|award| award.measure.as_ref().map(|measure| measure.counted.as_str())),
        "unit" => word(|award| award.measure.as_ref().map(|measure| measure.unit.as_str())),
        "amount" => decimals(rows.iter().map(|award| Some(award.amount_e9(Day::MAX))), 9),
        "valid_from" => Ok(dates(rows.iter().map(|award| Some(award.from)))),
        "valid_to" => Ok(dates(rows.iter().map(|award| award.last_until()))),
        "reference_to" => Ok(dates(rows.iter().map(|award| award.reference_until))),
        "entry_n" => Ok(ints(rows.iter().map(|award| i64::try_from(award.changes.len()).ok()))),
        "project" => word(|award| award.project.as_deref()),
        "period_rule" => word(|award| award.period_rule.as_deref()),
        "period_rule_text" => {
            let rules = rows.iter().map(|award| plan.rule(award).map(|rule| rule.text.as_str()));
            Ok(texts(rules))
        }
        "year_length" => Ok(texts(rows.iter().map(|_| Some(plan.year_length.text())))),
        "window_day_n" => Ok(ints(rows.iter().map(|_| Some(i64::from(plan.window_days))))),
        other => Err(Error::internal(format!("no award fills the column {other}"))),
    }
}

/// The awards a lake was published with, resolved as then; `None` when it has none.
///
/// # Errors
/// [`Kind::Data`] when they are not what a run publishes; [`Kind::Io`] when they cannot be read.
pub fn of_lake(store: &Store, manifest: &Manifest) -> Result<Option<AwardPlan>> {
    if !manifest.dataset("award_entry").any(|file| file.path == AWARD_ENTRIES) {
        return Ok(None);
    }
    let batches = |path: &str| read_table(store.reader(path)?, None, 16_384)?.collect::<Result<Vec<_>>>();
    let mut entries = AllocationTable::default();
    for batch in batches(AWARD_ENTRIES)? {
        add_entries(&batch, &mut entries.rows)?;
    }
    let mut problems = Problems::default();
    let (mut year_length, mut window_days) = (YearLength::AllocationYear, crate::award::plan::WINDOW_DAYS);
    let (mut rules, mut tariffs) = (Vec::new(), BTreeSet::new());
    for batch in batches(AWARDS)? {
        let (lengths, windows) = (text(&batch, "year_length")?, int(&batch, "window_day_n")?);
        let rule_texts = text(&batch, "period_rule_text")?;
        let (pools, policies) = (text(&batch, "pool")?, text(&batch, "policy")?);
        let (options, units) = (text(&batch, "options")?, text(&batch, "charge_unit")?);
        for row in 0..batch.num_rows() {
            year_length = lengths
                .value(row)
                .parse()
                .map_or(YearLength::AllocationYear, YearLength::Hours);
            window_days = i32::try_from(windows.value(row)).map_err(|why| {
                Error::new(Kind::Data, "the window of the lake's projections is no number of days").because(why)
            })?;
            if let Some(rule) = word(rule_texts, row) {
                rules.extend(PeriodRule::parse(AWARDS, rule, &mut problems).map(Arc::new));
            }
            if let Some(policy) = word(policies, row) {
                tariffs.insert(BalanceTariff {
                    pool: pools.value(row).to_owned(),
                    policy: policy.to_owned(),
                    options: options.value(row).to_owned(),
                    unit: units.value(row).to_owned(),
                });
            }
        }
    }
    let calendar = calendar_fact::rule(&manifest.facts)?;
    let ledger = AwardLedger::of(&entries, AWARD_ENTRIES, &mut problems);
    let mut plan = AwardPlan {
        entries,
        ledger,
        rules,
        year_length,
        window_days,
    };
    let mut setting = AwardSetting {
        file: AWARD_ENTRIES,
        tariffs: &tariffs,
        calendar: &mut Calendar::new(calendar.zone, calendar.grain, calendar.year_start),
        grain: calendar.grain,
    };
    plan.resolve(&mut setting, &mut problems);
    problems.finish()?;
    Ok(Some(plan))
}

fn add_entries(batch: &RecordBatch, rows: &mut Vec<Allocation>) -> Result<()> {
    let column = |name| text(batch, name);
    let (line, kind, award) = (int(batch, "line")?, column("kind")?, column("award")?);
    let (account, user, policy) = (column("account")?, column("user")?, column("policy")?);
    let (amount, unit) = (decimal(batch, "amount")?, column("unit")?);
    let (from, until) = (date(batch, "valid_from")?, date(batch, "valid_to")?);
    let (site, cluster, parent) = (column("site")?, column("cluster")?, column("parent")?);
    let (to_account, author, reason) = (column("to_account")?, column("author")?, column("reason")?);
    let (project, users, rule) = (column("project")?, column("users")?, column("period_rule")?);
    let attribute = int(batch, "coldfront_attribute")?;
    for row in 0..batch.num_rows() {
        let of = |column| word(column, row).map(str::to_owned);
        let kind = EntryKind::WORDS.iter().find(|(word, _)| *word == kind.value(row));
        let line = usize::try_from(line.value(row)).ok();
        let (Some((_, kind)), Some(line)) = (kind, line) else {
            return Err(Error::new(Kind::Data, "an entry of awards is of no known kind").at("path", AWARD_ENTRIES));
        };
        rows.push(Allocation {
            kind: *kind,
            award: of(award),
            user: of(user),
            parent: of(parent),
            to_account: of(to_account),
            author: of(author),
            reason: of(reason),
            period_rule: of(rule),
            site: of(site),
            cluster: of(cluster),
            account: account.value(row).to_owned(),
            policy: policy.value(row).to_owned(),
            unit: of(unit),
            // Fallback: kinds of entries without an amount have none in the table.
            amount_e9: number(amount, row).unwrap_or_default(),
            from: from.value(row),
            until: number(until, row),
            project: of(project),
            users: word(users, row).map_or_else(Vec::new, |users| users.split(BETWEEN).map(str::to_owned).collect()),
            coldfront_attribute: number(attribute, row),
            line,
        });
    }
    Ok(())
}
