//! Tables, device catalogues, tiers and named values of a policy file.

use toml::Spanned;
use toml::de::DeValue;

use super::policy::{PolicyOrigin, Step};
use super::read::{PolicyNames, exact, value};
use super::table::{Devices, WeightTable};
use crate::diagnostics::section::{Section, kind};
use crate::diagnostics::{Problems, did_you_mean};
use crate::expr::{Formula, Mistake, TierStep, Type, Value};
use crate::numbers::Part;

/// The rows of a table as lists of cells, with their lines.
fn rows(section: &Section<'_>, width: usize, problems: &mut Problems) -> Vec<(usize, Vec<Value>)> {
    let Some((found, line)) = section.get("rows") else {
        section.wrong(section.line(), "the table has no rows", problems);
        return Vec::new();
    };
    let Some(array) = found.as_array() else {
        section.wrong(
            line,
            format!("rows must be a list of lists, not {}", kind(found)),
            problems,
        );
        return Vec::new();
    };
    let mut rows = Vec::new();
    for row in array {
        let line = section.line_of(row);
        match cells(row.get_ref()) {
            Some(cells) if cells.len() == width => rows.push((line, cells)),
            Some(cells) => {
                section.wrong(
                    line,
                    format!("a row of {} cells, where {width} are named", cells.len()),
                    problems,
                );
            }
            None => section.wrong(
                line,
                "a row is a list of texts and numbers of at most 12 decimals",
                problems,
            ),
        }
    }
    if array.is_empty() {
        section.wrong(line, "rows is empty", problems);
    }
    rows
}

fn cells(row: &DeValue<'_>) -> Option<Vec<Value>> {
    row.as_array()?.iter().map(|cell| value(cell.get_ref())).collect()
}

/// The values of `missing`, one for each column given.
fn missing(section: &Section<'_>, types: &[Type], problems: &mut Problems) -> Option<Vec<Value>> {
    let (found, line) = section.get("missing")?;
    let values = cells(found)
        .filter(|cells| cells.len() == types.len() && cells.iter().zip(types).all(|(cell, kind)| cell.kind() == *kind));
    if values.is_none() {
        section.wrong(
            line,
            "missing must be a list of one value for each column the table gives",
            problems,
        );
    }
    values
}

fn list(section: &Section<'_>, key: &str, what: &str, problems: &mut Problems) -> Vec<(String, usize)> {
    if !section.has(key) {
        section.wrong(section.line(), format!("the table has no {key} ({what})"), problems);
    }
    let texts = section.texts(key, problems).map_or_else(Vec::new, |at| at.value);
    texts.into_iter().map(|at| (at.value, at.line)).collect()
}

/// Every `[[table]]`.
pub(super) fn tables(top: &Section<'_>, names: &mut PolicyNames, problems: &mut Problems) -> Vec<WeightTable> {
    const KEYS: &[&str] = &["title", "by", "gives", "rows", "missing"];
    let sections = top.sections("table", "[[table]]", KEYS, problems);
    let tables = sections.iter().filter_map(|section| {
        let mut by = Vec::new();
        for (name, line) in list(section, "by", "the columns it is looked up by", problems) {
            if let Some(kind) = names.types.get(&name) {
                by.push((name, *kind));
            } else {
                let hint = did_you_mean(&name, names.types.keys().map(String::as_str));
                section.wrong(line, format!("there is no \"{name}\" to look up by{hint}"), problems);
            }
        }
        let gives = list(section, "gives", "names of the columns it gives", problems);
        let rows = rows(section, by.len() + gives.len(), problems);
        let (_, first) = rows.first()?;
        let types: Vec<Type> = first.iter().map(Value::kind).collect();
        for (line, row) in &rows {
            if !row.iter().map(Value::kind).eq(types.iter().copied()) {
                section.wrong(
                    *line,
                    "a cell is a text here and a number in the first row, or the other way",
                    problems,
                );
            }
        }
        for ((name, kind), found) in by.iter().zip(&types) {
            if kind != found {
                section.wrong(section.line(), format!("{name} is {}", kind.as_str()), problems);
            }
        }
        let types = types.part(by.len()..).to_vec();
        let missing = missing(section, &types, problems);
        for ((name, line), kind) in gives.iter().zip(&types) {
            names.add(section, *line, name, *kind, problems);
        }
        let lines: Vec<usize> = rows.iter().map(|(line, _)| *line).collect();
        let table = WeightTable {
            title: section.text("title", problems).map(|at| at.value),
            by,
            gives: gives.into_iter().map(|(name, _)| name).zip(types).collect(),
            rows: rows.into_iter().map(|(_, row)| row).collect(),
            missing,
        };
        if let Err(at) = table.index() {
            // Fallback: never taken, every row of the table has its line in the list.
            let line = lines.get(at).copied().unwrap_or(0);
            section.wrong(line, "a row above has the same keys", problems);
        }
        Some(table)
    });
    tables.collect()
}

/// Every `[[devices]]`.
pub(super) fn devices(top: &Section<'_>, names: &mut PolicyNames, problems: &mut Problems) -> Vec<Devices> {
    const KEYS: &[&str] = &["title", "gives", "rows", "missing"];
    let sections = top.sections("devices", "[[devices]]", KEYS, problems);
    let catalogues = sections.iter().map(|section| {
        let gives = list(section, "gives", "names of the columns it gives", problems);
        for (name, line) in &gives {
            names.add(section, *line, name, Type::Number, problems);
        }
        let mut catalogue = Devices {
            title: section.text("title", problems).map(|at| at.value),
            gives: gives.into_iter().map(|(name, _)| name).collect(),
            rows: Vec::new(),
            missing: None,
        };
        let width = catalogue.gives.len();
        for (line, row) in rows(section, width + 1, problems) {
            let mut cells = row.into_iter();
            let Some(Value::Text(model)) = cells.next() else {
                section.wrong(line, "the first cell is the model, a text", problems);
                continue;
            };
            let values: Option<Vec<i128>> = cells.map(|cell| plain(&cell)).collect();
            let Some(values) = values else {
                section.wrong(line, "the values of a device are numbers", problems);
                continue;
            };
            if catalogue.rows.iter().any(|(known, _)| *known == model) {
                section.wrong(line, format!("\"{model}\" is already listed above"), problems);
            }
            catalogue.rows.push((model, values));
        }
        let missing = missing(section, &vec![Type::Number; width], problems);
        catalogue.missing = missing.and_then(|values| values.iter().map(plain).collect());
        catalogue
    });
    catalogues.collect()
}

fn plain(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    }
}

/// Every `[[let]]` and `[[tier]]`, in the order of the file: each may read those above it.
pub(super) fn steps(top: &Section<'_>, names: &mut PolicyNames, problems: &mut Problems) -> Vec<Step> {
    let lets = top.sections("let", "[[let]]", &["name", "is", "doc"], problems);
    let tiers = top.sections(
        "tier",
        "[[tier]]",
        &["name", "by", "upper", "steps", "above", "doc"],
        problems,
    );
    let lets = lets.iter().map(|section| (section, false));
    let mut all: Vec<_> = lets.chain(tiers.iter().map(|section| (section, true))).collect();
    all.sort_by_key(|(section, _)| section.line());
    let mut steps = Vec::new();
    for (section, is_tier) in all {
        let name = section.required_text("name", "what formulas below call it", problems);
        let step = if is_tier {
            tier(section, names, problems)
        } else {
            let sql = section.required_text("is", "an SQL expression", problems);
            sql.and_then(|sql| {
                let formula = names.compile(section, &sql, problems)?;
                Some((PolicyOrigin::Expression(sql.value), formula))
            })
        };
        let Some(name) = name else { continue };
        // A value that could not be compiled still has a name: what reads it is not wrong for that.
        let kind = step.as_ref().map_or(Type::Number, |(_, formula)| formula.kind());
        names.add(section, name.line, &name.value, kind, problems);
        if let Some((origin, formula)) = step {
            steps.push(Step {
                name: name.value,
                origin,
                formula,
            });
        }
    }
    steps
}

fn tier(section: &Section<'_>, names: &PolicyNames, problems: &mut Problems) -> Option<(PolicyOrigin, Formula)> {
    const OWNERS: &[(&str, bool)] = &[("included", true), ("excluded", false)];
    let by = section.required_text("by", "the number that is looked up", problems);
    if !section.has("upper") {
        let message = "[[tier]] does not state to which step a bound belongs: upper = \"included\" (a bound belongs to its own step) or \
                       \"excluded\" (to the next)";
        section.wrong(section.line(), message, problems);
    }
    let upper = section.word("upper", OWNERS, problems);
    let steps = bounds(section, problems);
    let above = section.get("above").and_then(|(found, line)| {
        let number = exact(found);
        if number.is_none() {
            section.wrong(
                line,
                "above must be a number: the value beyond the last bound",
                problems,
            );
        }
        number
    });
    let (by, upper, steps) = (by?, upper?.value, steps?);
    let compiled = names.compile(section, &by, problems)?;
    match Formula::tier(&compiled, &steps, above, upper) {
        Ok(formula) => Some((
            PolicyOrigin::Tier {
                by: by.value,
                steps,
                above,
                is_upper_included: upper,
            },
            formula,
        )),
        Err(Mistake::Wrong(why)) => {
            section.wrong(by.line, why, problems);
            None
        }
        Err(_) => None,
    }
}

fn bounds(section: &Section<'_>, problems: &mut Problems) -> Option<Vec<TierStep>> {
    let Some((found, line)) = section.get("steps") else {
        section.wrong(section.line(), "[[tier]] has no steps ([[bound, value], ..])", problems);
        return None;
    };
    let pair = |step: &Spanned<DeValue<'_>>| match step.get_ref().as_array()?.iter().as_slice() {
        [bound, value] => Some(TierStep {
            bound: exact(bound.get_ref())?,
            value: exact(value.get_ref())?,
        }),
        _ => None,
    };
    let steps: Option<Vec<TierStep>> = found.as_array().and_then(|steps| steps.iter().map(pair).collect());
    let Some(steps) = steps.filter(|steps| !steps.is_empty()) else {
        section.wrong(line, "steps must be a list of [bound, value], both numbers", problems);
        return None;
    };
    if steps
        .windows(2)
        .any(|pair| matches!(pair, [first, second] if first.bound >= second.bound))
    {
        section.wrong(line, "the bounds of a tier must rise", problems);
        return None;
    }
    Some(steps)
}
