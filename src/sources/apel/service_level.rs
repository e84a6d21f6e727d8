//! The benchmark an individual job record states.

use super::python_scalars;
use crate::ledger::Reason;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;

/// `DECIMAL(10,3)` in thousandths.
const LIMIT_MILLI: i64 = 9_999_999_999;

/// A benchmark per core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ServiceLevel {
    /// `hs06`, `hs23` or `si00`.
    pub(super) benchmark: &'static str,
    /// Thousandths. Zero and negative values pass, as they do at the server.
    pub(super) milli_per_core: i64,
}

/// v0.3: a type and a number, in practice both required: with neither, the server substitutes the type `custom` and
/// its own second check refuses that.
pub(super) fn plain(kind: Option<&str>, level: Option<&str>) -> Result<ServiceLevel, Refusal> {
    let (Some(kind), Some(level)) = (kind, level) else {
        let missing = if kind.is_none() {
            "ServiceLevelType"
        } else {
            "ServiceLevel"
        };
        return Err(Refusal::new(
            Reason::MissingField,
            format!("{missing} is missing: the server requires both ServiceLevelType and ServiceLevel"),
        ));
    };
    let benchmark = benchmark(kind).ok_or_else(|| {
        Refusal::new(
            Reason::BadBenchmark,
            format!(
                "ServiceLevelType {:?} is not one of Si2k, HEPSPEC, HEPscore23",
                clip(kind)
            ),
        )
    })?;
    Ok(ServiceLevel {
        benchmark,
        milli_per_core: value(level)?,
    })
}

/// v0.4: `{hepspec: 10.5, HEPscore23: 12.25}`, of which hepscore23 is preferred to hepspec and that to si2k.
pub(super) fn dictionary(kind: Option<&str>, level: Option<&str>) -> Result<ServiceLevel, Refusal> {
    let Some(text) = level else {
        return Err(Refusal::new(Reason::MissingField, "ServiceLevel is missing".to_owned()));
    };
    let bad = |why: &str| Refusal::new(Reason::BadBenchmark, format!("ServiceLevel {:?}: {why}", clip(text)));
    let (found, number) = pick(text).map_err(bad)?;
    if kind.is_some_and(|kind| benchmark(kind) != Some(found)) {
        return Err(bad("ServiceLevelType names another benchmark"));
    }
    Ok(ServiceLevel {
        benchmark: found,
        milli_per_core: value(number)?,
    })
}

/// Of a dictionary `{name: number, ..}` the benchmark that is preferred, and its number.
pub(super) fn pick(text: &str) -> Result<(&'static str, &str), &'static str> {
    let mut names: Vec<&str> = Vec::new();
    let mut best: Option<(&'static str, &str)> = None;
    for entry in text.trim().trim_matches(['{', '}']).split(',') {
        let mut parts = entry.split(':');
        let (Some(name), Some(number), None) = (parts.next(), parts.next(), parts.next()) else {
            return Err("a v0.4 value must be a dictionary such as {hepspec: 10.5}");
        };
        let name = name.trim();
        if names.contains(&name) {
            return Err("a benchmark is named twice");
        }
        names.push(name);
        let Some(found) = benchmark(name) else { continue };
        // Names that differ only in case count as one, of which the last holds.
        if best.is_none_or(|(held, _)| preference(found) >= preference(held)) {
            best = Some((found, number));
        }
    }
    best.ok_or("it names none of hepscore23, hepspec, si2k")
}

pub(super) fn benchmark(name: &str) -> Option<&'static str> {
    [("hepspec", "hs06"), ("hepscore23", "hs23"), ("si2k", "si00")]
        .into_iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, benchmark)| benchmark)
}

fn preference(benchmark: &str) -> u8 {
    match benchmark {
        "hs23" => 2,
        "hs06" => 1,
        _ => 0,
    }
}

pub(super) fn value(text: &str) -> Result<i64, Refusal> {
    python_scalars::thousandths(text)
        .filter(|milli| milli.abs() <= LIMIT_MILLI)
        .ok_or_else(|| {
            Refusal::new(
                Reason::BadBenchmark,
                format!(
                    "ServiceLevel {:?} is not a number of at most seven digits before the point",
                    clip(text.trim())
                ),
            )
        })
}
