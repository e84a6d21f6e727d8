//! Three policies of the kinds centres have, for any cluster.

use std::fs;
use std::path::{Path, PathBuf};

/// The larger of cores and memory, by a bundle.
const LARGEST: &str = r#"
id = "largest"
version = "1"
title = "Core-equivalents"
source = "invented"
pool = "cpu"
unit = "core_equivalent_hour"
memory_unit = "GiB"
formula = "greatest(cores, memory / 4) * seconds / 3600"
[[example]]
name = "by memory"
in = { cores = 1, memory = 8, seconds = 3600 }
expect = 2
"#;

/// Everything weighed and added up, GPUs by model.
const SUM: &str = r#"
id = "sum"
version = "1"
title = "Weighed resources"
source = "invented"
pool = "all"
unit = "billing_hour"
memory_unit = "GiB"
formula = "floor(cores + memory * 0.25 + gpu_units) * seconds / 3600"
[unknown]
gpus = 0
[[devices]]
gives = ["gpu_units"]
rows = [["h100", 40], ["a100", 18]]
missing = [10]
[[example]]
name = "a core"
in = { cores = 1, memory = 8, gpus = 0, seconds = 3600 }
expect = 3
"#;

/// A price by quality of service, steps by size, and at least so much.
const STEPS: &str = r#"
id = "steps"
version = "1"
title = "Dearer when larger"
source = "invented"
pool = "cpu"
unit = "credit"
formula = "cores * rate * size_factor * seconds / 3600"
minimum_charge = 0.01
[round]
digits = 2
mode = "up"
[[table]]
by = ["qos"]
gives = ["rate"]
rows = [["premium", 1.5], ["economy", 0.7]]
missing = [1]
[[tier]]
name = "size_factor"
by = "cores"
upper = "included"
steps = [[1, 1], [8, 1.2], [32, 1.5]]
above = 2
[[example]]
name = "sixteen cores"
in = { cores = 16, qos = "economy", seconds = 3600 }
expect = 16.8
"#;

/// Writes them into a folder.
pub(crate) fn write(folder: &Path) -> Vec<PathBuf> {
    let policies = [("largest", LARGEST), ("sum", SUM), ("steps", STEPS)];
    let paths = policies.map(|(name, text)| {
        let path = folder.join(format!("{name}.toml"));
        fs::write(&path, text).unwrap();
        path
    });
    paths.into()
}
