//! Trackable resources as nodes, partitions and events list them: `cpu=32,mem=250G,billing=169,gres/gpu=4`.

use super::gpus::{Builder, Gpus};
use super::quantity;

/// Bytes of a unit of memory where none is printed.
pub const MIB: i64 = 1 << 20;

/// What is listed. A name that is not in the list is unknown here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tres {
    /// CPUs.
    pub cpu_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// Nodes.
    pub node_n: Option<i64>,
    /// Weighted sum of the others.
    pub billing_n: Option<i64>,
    /// GPUs.
    pub gpus: Gpus,
}

impl Tres {
    /// Reads a list; the words for "none" give the empty list.
    ///
    /// # Errors
    /// The entry that is not valid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Self::default();
        let mut gpus = Builder::default();
        if super::absent::is_absent(text) {
            return Ok(found);
        }
        for entry in text.split(',') {
            let wrong = || format!("\"{entry}\" is not an amount of a resource");
            let (name, value) = entry.split_once('=').ok_or_else(wrong)?;
            let base = if name == "mem" { MIB } else { 1 };
            let amount = || quantity::size(value, base).ok_or_else(wrong);
            match name {
                "cpu" => found.cpu_n = Some(amount()?),
                "mem" => found.memory_byte = Some(amount()?),
                "node" => found.node_n = Some(amount()?),
                "billing" => found.billing_n = Some(amount()?),
                "gres/gpu" => gpus.add(None, amount()?).ok_or_else(wrong)?,
                _ => {
                    if let Some(model) = name.strip_prefix("gres/gpu:") {
                        gpus.add(Some(model), amount()?).ok_or_else(wrong)?;
                    }
                }
            }
        }
        found.gpus = gpus.finish();
        Ok(found)
    }
}
