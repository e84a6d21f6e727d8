//! Charge policies: the shipped ones by their own examples, what is refused, and formulas against plain arithmetic.

mod billing;
mod centres;
mod counted;
mod devices;
mod edited;
mod files;
mod formulas;
mod properties;
mod repriced;
mod reservations;
mod reserved;
mod scope;
mod shipped;
mod slurm_weights;
mod versions;
mod years;

use gridtally::charge::Policy;
use gridtally::diagnostics::Problems;

/// A small policy that holds, to be spoiled.
const GOOD: &str = r#"id = "zoo-core"
version = "1"
title = "Cores of the zoo"
source = "invented"
pool = "cpu"
unit = "core_hour"
memory_unit = "GB"
formula = "greatest(cores, memory / 4) * hours"

[[example]]
name = "by memory"
in = { cores = 1, memory = 8, hours = 2 }
expect = 4
"#;

/// The policy in `text`, or every mistake of it.
fn read(text: &str) -> Result<Policy, String> {
    let mut problems = Problems::default();
    let policy = Policy::read("p.toml", text, &mut problems);
    match problems.finish() {
        Ok(_) => Ok(policy.unwrap()),
        Err(why) => Err(why.to_string()),
    }
}
