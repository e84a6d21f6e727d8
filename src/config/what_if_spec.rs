//! The file of a what-if: the words of `[[fairshare]]` that change, and the shares that do.

use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::charge_spec::{ChargeSpec, options};
use super::compiler::Compiler;
use super::fairshare_change::{FairshareChange, PriorityWeightChange, UsageChange};
use super::fairshare_plan::{DecayMode, HalfLifeSetting};
use super::fairshare_spec::{ALGORITHMS, RESETS, dampening_factor, usage_factors, whole};
use crate::diagnostics::Problems;
use crate::diagnostics::section::{Section, SectionSource, kind, root, table_of};
use crate::error::Result;
use crate::reference::share_change::{ShareAmount, ShareChange, ShareChangeTable};
use crate::small_file;

/// Its keys: those of `[[fairshare]]` that may change, and its own.
const KEYS: &[&str] = &[
    "usage",
    "policy",
    "options",
    "decay",
    "half_life",
    "calc_period",
    "calc_anchor",
    "reset",
    "algorithm",
    "dampening_factor",
    "priority_weight",
    "priority_weights",
    "usage_factors",
    "shares",
    "shares_table",
];

/// Keys of `[priority_weights]`.
const WEIGHT_KEYS: &[&str] = &["age", "association", "job_size", "partition", "qos"];

/// Reads the file at `path`.
///
/// # Errors
/// [`crate::error::Kind::Config`] with every mistake, each with its file and line.
pub fn load(path: &Path) -> Result<FairshareChange> {
    let label = path.to_string_lossy().into_owned();
    // Fallback: a path without a folder is in the present one.
    let base = path.parent().map_or(PathBuf::new(), Path::to_path_buf);
    let base = if base.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        base
    };
    let mut compiler = Compiler {
        label: label.clone(),
        base: base.to_string_lossy().into_owned(),
        problems: Problems::default(),
    };
    let change = match small_file::text(path) {
        Ok(text) => read(&text, &mut compiler),
        Err(why) => {
            compiler.problems.mistake(&label, 0, format!("cannot be read: {why}"));
            FairshareChange::default()
        }
    };
    compiler.problems.finish()?;
    Ok(change)
}

fn read(text: &str, compiler: &mut Compiler) -> FairshareChange {
    let label = compiler.label.clone();
    let source = SectionSource { file: &label, text };
    let Some(table) = table_of(source, &mut compiler.problems) else {
        return FairshareChange::default();
    };
    let mut problems = Problems::default();
    let top = root(source, &table, "the file of a what-if", KEYS, &mut problems);
    let half_life = top.text("half_life", &mut problems);
    let calc_period = top.text("calc_period", &mut problems);
    let calc_anchor = top.text("calc_anchor", &mut problems);
    let mut change = FairshareChange {
        decay: top.word("decay", DecayMode::WORDS, &mut problems).map(|at| at.value),
        reset: top.word("reset", RESETS, &mut problems).map(|at| at.value),
        algorithm: top.word("algorithm", ALGORITHMS, &mut problems).map(|at| at.value),
        dampening_factor: dampening_factor(&top, &mut problems),
        priority_weight: whole(&top, "priority_weight", &mut problems),
        usage_factors_e9: usage_factors(&top, &mut problems),
        weights: weights(&top, &mut problems),
        shares: shares(&top, &label, &mut problems),
        ..FairshareChange::default()
    };
    compiler.problems.append(problems);
    change.half_life = half_life.and_then(|text| match text.value.as_str() {
        "none" => Some(HalfLifeSetting::None),
        _ => compiler.duration("half_life", &text).map(HalfLifeSetting::Seconds),
    });
    change.calc_period_s = calc_period.and_then(|text| compiler.duration("calc_period", &text));
    change.calc_anchor_s = calc_anchor.and_then(|text| compiler.anchor_s(&text));
    change.usage = usage(&top, compiler);
    share_table(&top, compiler, &mut change.shares);
    change
}

/// What jobs are counted by: a name that the lake knows, or a policy file with its options.
fn usage(top: &Section<'_>, compiler: &mut Compiler) -> Option<UsageChange> {
    let mut problems = Problems::default();
    let named = top.text("usage", &mut problems);
    let policy = top.text("policy", &mut problems);
    let options = options(top, &mut problems);
    compiler.problems.append(problems);
    match (named, policy) {
        (Some(named), Some(_)) => {
            compiler.wrong(
                named.line,
                "usage and policy both state what jobs are counted by: leave one out",
            );
            None
        }
        (Some(named), None) => Some(UsageChange::Named {
            place: format!("{}:{}", compiler.label, named.line),
            name: named.value,
        }),
        (None, Some(policy)) => {
            let (line, written) = (policy.line, policy.value.clone());
            let tariffs = compiler.tariffs(&[ChargeSpec {
                policies: vec![policy],
                options,
            }]);
            match tariffs.as_slice() {
                [tariff] => Some(UsageChange::Priced(std::sync::Arc::clone(tariff))),
                [] => None,
                several => {
                    let message = format!("policy = \"{written}\" holds {} policies: name one", several.len());
                    compiler.wrong(line, message);
                    None
                }
            }
        }
        (None, None) => {
            if let Some((_, line)) = top.get("options") {
                compiler.wrong(line, "options are those of a policy, and none is named");
            }
            None
        }
    }
}

fn weights(top: &Section<'_>, problems: &mut Problems) -> PriorityWeightChange {
    let Some(section) = top.section("priority_weights", "[priority_weights]", WEIGHT_KEYS, problems) else {
        return PriorityWeightChange::default();
    };
    PriorityWeightChange {
        age: whole(&section, "age", problems),
        association: whole(&section, "association", problems),
        job_size: whole(&section, "job_size", problems),
        partition: whole(&section, "partition", problems),
        qos: whole(&section, "qos", problems),
    }
}

/// `[shares]`: a number, or a text such as `"+40"`.
fn shares(top: &Section<'_>, label: &str, problems: &mut Problems) -> Vec<ShareChange> {
    let mut changes = Vec::new();
    let stated = top.free_section("shares", "[shares]", problems);
    for (name, value, line) in stated.iter().flat_map(Section::entries) {
        let text = match value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().replace('_', ""),
            DeValue::String(text) => text.to_string(),
            other => kind(other).to_owned(),
        };
        let change =
            ShareAmount::parse(&text).and_then(|amount| ShareChange::named(name, amount, format!("{label}:{line}")));
        match change {
            Ok(change) => changes.push(change),
            Err(why) => top.wrong(line, format!("[shares]: {name}: {why}"), problems),
        }
    }
    changes
}

fn share_table(top: &Section<'_>, compiler: &mut Compiler, changes: &mut Vec<ShareChange>) {
    let Some(named) = top.text("shares_table", &mut compiler.problems) else {
        return;
    };
    let Some(path) = compiler.relative_path(&named, "shares_table") else {
        return;
    };
    let label = compiler.table_label(&named.value);
    let table = ShareChangeTable::load(Path::new(&path), &label, &mut compiler.problems);
    changes.extend(table.rows);
}
