//! `TRESBillingWeights`: what a partition charges for each resource, exactly as written, and how it adds them up.

use super::quantity;
use super::tres::MIB;

/// Decimal places of a stored weight.
pub const WEIGHT_PLACES: u32 = 12;
/// Largest weight: it fits 38 digits with its decimals and leaves room for products.
const WEIGHT_LIMIT: i128 = 1_000_000_000_000_000_000_000_000;

/// How weighted resources become one number by `PriorityFlags`: `sum`, `max_tres` or `max_tres_gres`.
#[must_use]
pub fn billing_rule(priority_flags: &str) -> &'static str {
    let has = |word: &str| {
        let mut flags = priority_flags.split(',');
        flags.any(|flag| flag.trim().eq_ignore_ascii_case(word))
    };
    if has("MAX_TRES_GRES") {
        "max_tres_gres"
    } else if has("MAX_TRES") {
        "max_tres"
    } else {
        "sum"
    }
}

/// One weight: `weight` is charged for every `per_n` of the resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weight {
    /// The resource in lower case (`cpu`, `mem`, `gres/gpu:a100`): Slurm does not distinguish upper from lower here.
    pub tres: String,
    /// Ten to the power of [`WEIGHT_PLACES`] times the weight.
    pub weight_e12: i128,
    /// What the weight is for: bytes of memory and of burst buffers, 1 of anything else.
    pub per_n: i64,
}

/// Reads the weights of a partition: `CPU=1.0,Mem=0.25G,GRES/gpu:a100=32.5`. A unit behind the weight of memory or of a
/// burst buffer means "per that unit", powers of 1024; without one the weight is per MiB. The words for "none" give no
/// weights: such a partition charges its CPUs.
///
/// # Errors
/// A sentence about the entry that is not valid.
pub fn parse(text: &str) -> Result<Vec<Weight>, String> {
    let mut weights: Vec<Weight> = Vec::new();
    if super::absent::is_absent(text) {
        return Ok(weights);
    }
    for entry in text.split(',').map(str::trim) {
        let wrong = || format!("\"{entry}\" is not a billing weight");
        let (name, value) = entry.split_once('=').ok_or_else(wrong)?;
        let tres = name.trim().to_ascii_lowercase();
        let is_size = tres == "mem" || tres.starts_with("bb/");
        let value = value.trim();
        let last = value.chars().last().ok_or_else(wrong)?;
        let (digits, unit) = match quantity::unit(last) {
            Some(unit) => (value.strip_suffix(last).unwrap_or(value), Some(unit)),
            None => (value, None),
        };
        let weight_e12 = quantity::decimal(digits, WEIGHT_PLACES)
            .filter(|weight| *weight < WEIGHT_LIMIT)
            .ok_or_else(wrong)?;
        if tres.is_empty() || weights.iter().any(|weight| weight.tres == tres) {
            return Err(format!("\"{entry}\": the resource is not named, or occurs twice"));
        }
        weights.push(Weight {
            tres,
            weight_e12,
            per_n: unit.unwrap_or(if is_size { MIB } else { 1 }),
        });
    }
    Ok(weights)
}
