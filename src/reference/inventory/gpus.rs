//! GPUs of nodes: by model, MIG slices distinguished from whole devices, typed and untyped counts never added together.

use crate::numbers::Part;

use std::collections::BTreeMap;

use super::quantity;

/// GPUs of one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpus {
    /// Devices by model, sorted, as Slurm names the type (`a100`, `a100_3g.20gb`).
    pub models: Vec<(String, i64)>,
    /// The count without a type, if there is one.
    pub untyped_n: Option<i64>,
}

impl Gpus {
    /// All devices. A count without a type and counts by type are two ways to name the same devices, so the former
    /// is used if it is present.
    #[must_use]
    pub fn device_n(&self) -> i64 {
        let typed = || self.models.iter().map(|(_, n)| n).sum();
        self.untyped_n.unwrap_or_else(typed)
    }

    /// Those among them that are slices of a device: their models end in a MIG profile.
    #[must_use]
    pub fn mig_device_n(&self) -> i64 {
        let slices = self.models.iter().filter(|(model, _)| mig_profile(model).is_some());
        slices.map(|(_, n)| n).sum()
    }

    /// Reads a node's `Gres`: `gpu:a100:2(S:0-1),gpu:t4:2,shard:8`. Other resources are passed over.
    ///
    /// # Errors
    /// The entry that is not valid.
    pub fn of_gres(text: &str) -> Result<Self, String> {
        Self::read(text, |_| Ok(()))
    }

    /// Reads a column that people fill, written as `Gres`: an entry that names no resource is an error, and so is one that looks
    /// like a model. Models have digits in their names (`h100`), the other resources of Slurm have none.
    ///
    /// # Errors
    /// The entry that is not valid.
    pub fn of_column(text: &str) -> Result<Self, String> {
        Self::read(text, |other| {
            // Fallback: never taken, the split of an entry has a first part.
            let name = other.split(':').next().unwrap_or_default();
            let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
                && !name.contains(|of: char| of.is_ascii_digit())
                && !other.contains('=');
            if is_name || other == "0" {
                return Ok(());
            }
            Err(format!(
                "\"{other}\" names no resource; 4 GPUs are gpu:4, or gpu:a100:4 with their model"
            ))
        })
    }

    /// Reads `Gres`; `other` looks at each entry that is no GPU.
    fn read(text: &str, other: impl Fn(&str) -> Result<(), String>) -> Result<Self, String> {
        let mut found = Builder::default();
        if super::absent::is_absent(text) {
            return Ok(Self::default());
        }
        for entry in outside_parentheses(text) {
            // Fallback: never taken, the split of an entry has a first part.
            let plain = entry.split('(').next().unwrap_or_default();
            let mut words = plain.split(':').filter(|word| *word != "no_consume");
            if words.next() != Some("gpu") {
                other(entry)?;
                continue;
            }
            let (model, count) = match (words.next(), words.next(), words.next()) {
                (None, ..) => (None, None),
                (Some(one), None, _) if one.starts_with(|c: char| c.is_ascii_digit()) && mig_profile(one).is_none() => {
                    (None, Some(one))
                }
                (Some(model), count, None) => (Some(model), count),
                _ => return Err(format!("\"{entry}\" is not a generic resource")),
            };
            let n = match count {
                None => 1,
                Some(count) => {
                    quantity::size(count, 1).ok_or_else(|| format!("\"{entry}\" does not state how many"))?
                }
            };
            found.add(model, n).ok_or_else(|| format!("\"{entry}\" is too many"))?;
        }
        Ok(found.finish())
    }
}

/// Adds up counts by model.
#[derive(Default)]
pub(super) struct Builder {
    models: BTreeMap<String, i64>,
    untyped_n: Option<i64>,
}

impl Builder {
    /// Adds devices; `None` when there are too many.
    pub(super) fn add(&mut self, model: Option<&str>, n: i64) -> Option<()> {
        let slot = match model {
            Some(model) => self.models.entry(model.to_owned()).or_default(),
            None => self.untyped_n.get_or_insert(0),
        };
        *slot = slot.checked_add(n)?;
        // So that no sum of all models overflows either.
        (*slot < 1 << 40).then_some(())
    }

    pub(super) fn finish(self) -> Gpus {
        Gpus {
            models: self.models.into_iter().collect(),
            untyped_n: self.untyped_n,
        }
    }
}

/// The MIG profile a model ends in: `3g.20gb` of `a100_3g.20gb`, `1g.10gb+me` alone.
#[must_use]
pub fn mig_profile(model: &str) -> Option<&str> {
    let last = model.rsplit(['_', '-']).next()?;
    let (slices, memory) = last.rsplit_once("g.")?;
    let slice_n = slices.rsplit('.').next()?;
    let size = memory.split('+').next()?.strip_suffix("gb")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(slice_n) && is_number(size)).then_some(last)
}

fn outside_parentheses(text: &str) -> Vec<&str> {
    let (mut entries, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            // Fallback: a parenthesis that closes nothing is part of the text.
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                entries.push(text.part(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    entries.push(text.part(start..));
    entries
}
