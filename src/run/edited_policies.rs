//! When the text of a policy changes and its version does not: by how much the charges of past months change.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::charges::POLICIES;
use super::partition_context::PartitionContext;
use super::run_words::signed;
use crate::amounts::add;
use crate::charge::amount::CHARGE_SCALE;
use crate::charge::charged_view::is_counted;
use crate::error::Result;
use crate::reference::decimal::text as decimal_text;
use crate::schema::batch::{addend, date, decimal, number, text};
use crate::store::{lake, read_table};
use crate::time::Day;

/// A policy whose text is not that of the last run, under the same version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EditedPolicy {
    /// Id.
    pub policy: String,
    /// Version.
    pub version: String,
    /// Options chosen, as name=value; empty when it has none.
    pub options: String,
    /// What it charges in.
    pub unit: String,
    /// Months whose charges are others now.
    pub month_n: usize,
    /// Their charges before.
    pub former: String,
    /// Their charges now.
    pub now: String,
    /// Now less before.
    pub change: String,
    /// Files were read as well in this run: not all of the change is due to the text.
    pub has_new_records: bool,
}

impl EditedPolicy {
    /// A line for people.
    pub(crate) fn text(&self) -> String {
        let name = [self.policy.as_str(), &self.version, &self.options];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        let new_records = if self.has_new_records {
            ", new records included"
        } else {
            ""
        };
        format!(
            "policy {} is not the text of the last run, under the same version: charges of {} months change, {} {} become {} \
             ({}){new_records}",
            name.join(" "),
            self.month_n,
            self.former,
            self.unit,
            self.now,
            signed(&self.change)
        )
    }
}

/// A policy with its options.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PolicyName {
    policy: String,
    version: String,
    options: String,
}

/// Charges by policy and month, before and now, in billionths.
type PolicyMonths = BTreeMap<PolicyName, BTreeMap<Day, [i128; 2]>>;

/// The policies whose text changed and whose version did not, where charges change with it. All charges of the run must be staged.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Data`] when a sum does not fit.
pub(crate) fn compare(context: &PartitionContext<'_>) -> Result<Vec<EditedPolicy>> {
    let edited = edited(context)?;
    if edited.is_empty() {
        return Ok(Vec::new());
    }
    let mut months: PolicyMonths = edited.iter().map(|name| (name.clone(), BTreeMap::new())).collect();
    let published = context.publication.published().into_iter();
    let published = published.flat_map(|manifest| manifest.dataset("charge_part"));
    for file in published {
        add_up(context, &file.path, &mut months, 0)?;
    }
    for file in context.publication.current("charge_part") {
        add_up(context, &file.place, &mut months, 1)?;
    }
    let tariffs = &context.plan.tariffs;
    let mut rows = Vec::new();
    for (name, months) in months {
        let changed = months.values().filter(|[former, now]| former != now);
        let (mut sums, mut month_n) = ([0_i128; 2], 0);
        for charges in changed {
            month_n += 1;
            for (sum, charge) in sums.iter_mut().zip(charges) {
                add(sum, *charge, "charge")?;
            }
        }
        if month_n == 0 {
            continue;
        }
        let [former, now] = sums;
        let [former, now, change] = [former, now, now - former].map(|e9| decimal_text(e9, CHARGE_SCALE));
        let unit = tariffs.iter().find(|tariff| tariff.policy.id == name.policy);
        rows.push(EditedPolicy {
            policy: name.policy,
            version: name.version,
            options: name.options,
            unit: unit.map_or_else(String::new, |tariff| tariff.policy.unit.clone()),
            month_n,
            former,
            now,
            change,
            has_new_records: !context.fresh.is_empty(),
        });
    }
    Ok(rows)
}

/// The policies of the plan that the lake was charged by under another text.
fn edited(context: &PartitionContext<'_>) -> Result<BTreeSet<PolicyName>> {
    let mut edited = BTreeSet::new();
    for batch in lake::batches(context.publication, POLICIES)?.into_iter().flatten() {
        let batch = batch?;
        let of = |name: &str| text(&batch, name);
        let (ids, versions, options, texts) = (of("id")?, of("version")?, of("options")?, of("text")?);
        for row in 0..batch.num_rows() {
            let (policy, version, options) = (ids.value(row), versions.value(row), options.value(row));
            let mut tariffs = context.plan.tariffs.iter();
            let now = tariffs.find(|tariff| tariff.key() == (policy, version, options));
            if now.is_some_and(|now| now.policy.text != texts.value(row)) {
                edited.insert(PolicyName {
                    policy: policy.to_owned(),
                    version: version.to_owned(),
                    options: options.to_owned(),
                });
            }
        }
    }
    Ok(edited)
}

/// Adds the charges of a file to those before (0) or now (1).
fn add_up(context: &PartitionContext<'_>, place: &str, months: &mut PolicyMonths, nth: usize) -> Result<()> {
    for batch in read_table(context.publication.reader(place)?, None, 16_384)? {
        let batch = batch?;
        let of = |name: &str| text(&batch, name);
        let (policy, version, options) = (of("policy")?, of("policy_version")?, of("options")?);
        let (subject, view) = (of("subject")?, of("view")?);
        let (month, charge) = (date(&batch, "month")?, decimal(&batch, "charge")?);
        for row in (0..batch.num_rows()).filter(|row| is_counted(subject.value(*row), view.value(*row))) {
            let name = PolicyName {
                policy: policy.value(row).to_owned(),
                version: version.value(row).to_owned(),
                options: options.value(row).to_owned(),
            };
            let Some(months) = months.get_mut(&name) else { continue };
            if let Some(sum) = months.entry(month.value(row)).or_default().get_mut(nth) {
                add(sum, addend(number(charge, row)), "charge")?;
            }
        }
    }
    Ok(())
}
