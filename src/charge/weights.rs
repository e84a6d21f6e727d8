//! Slurm's billing weights of a cluster as a policy file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::amount::whole;
use crate::expr::SCALE;
use crate::reference::decimal::text;

/// What one partition bills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightBilling {
    /// How weighted resources become one number: `sum`, `max_tres` or `max_tres_gres`.
    pub rule: String,
    /// By resource in lower case: the weight, and the bytes or pieces it is for. Without any, CPUs are billed.
    pub weights: BTreeMap<String, (i128, i64)>,
}

/// Bytes of the policy's unit of memory.
const GIB: i64 = 1 << 30;

/// The policy file of a cluster's partitions.
///
/// # Errors
/// A sentence when a weight cannot be expressed in 12 decimals.
pub fn policy(cluster: &str, partitions: &BTreeMap<String, WeightBilling>) -> Result<String, String> {
    let tres: BTreeSet<&str> = partitions
        .values()
        .flat_map(|billing| billing.weights.keys().map(String::as_str))
        .collect();
    let models: Vec<&str> = tres.iter().filter_map(|tres| tres.strip_prefix("gres/gpu:")).collect();
    let globals: Vec<&str> = tres.iter().copied().filter(|tres| is_unreported(tres)).collect();
    let mut file = format!(
        "# Billing of {cluster}'s partitions, from their TRESBillingWeights.\n\
         id = \"{id}-billing\"\nversion = \"1\"\ntitle = \"TRES billing of {cluster}\"\n\
         source = \"TRESBillingWeights and PriorityFlags of {cluster}\"\npool = \"tres\"\nunit = \"billing_second\"\n\
         memory_unit = \"GiB\"\nformula = \"taken * seconds\"\nbilling_is = \"stored\"\n\n[scope]\ncluster = [{cluster:?}]\n\n[unknown]\ngpus = 0\n\n\
         [[option]]\nname = \"billing_from\"\nvalues = [\"recorded\", \"weights\", \"untruncated\"]\ndefault = \"recorded\"\n\
         doc = \"What is charged: the billing Slurm recorded (0 for an allocation that has none), or what the weights give for every job.\"\n\n\
         [[option]]\nname = \"rule\"\nvalues = [\"listed\", \"sum\", \"max_tres\", \"max_tres_gres\"]\ndefault = \"listed\"\n\
         doc = \"How weighted resources become one number: as listed of each partition, or for a time of other PriorityFlags.\"\n\n",
        id = name(cluster)
    );
    if !models.is_empty() {
        let gives: Vec<String> = models.iter().map(|model| format!("\"n_{}\"", name(model))).collect();
        let _ = writeln!(
            file,
            "[[devices]]\ntitle = \"GPUs by model\"\ngives = [{}]\nrows = [",
            gives.join(", ")
        );
        for model in &models {
            let ones: Vec<&str> = models
                .iter()
                .map(|other| if other == model { "1" } else { "0" })
                .collect();
            let _ = writeln!(file, "  [\"{model}\", {}],", ones.join(", "));
        }
        let zeros = vec!["0"; models.len()].join(", ");
        let _ = writeln!(file, "]\nmissing = [{zeros}]\n");
    }
    for global in &globals {
        let _ = writeln!(
            file,
            "[[input]]\nname = \"n_{}\"\ndoc = \"{global}, which job records do not contain.\"\nabsent = 0\n",
            name(global)
        );
    }
    let gives: Vec<String> = tres.iter().map(|tres| format!("\"w_{}\"", name(tres))).collect();
    let _ = writeln!(
        file,
        "[[table]]\ntitle = \"Weights; of memory per GiB\"\nby = [\"partition\"]\ngives = [\"billing_rule\", \"w_cores\"{}]\nrows = [",
        gives.iter().fold(String::new(), |list, name| list + ", " + name)
    );
    for (partition, billing) in partitions {
        let cores = if billing.weights.is_empty() { "1" } else { "0" };
        let rule = if billing.rule.is_empty() { "sum" } else { &billing.rule };
        let mut row = format!("  [{partition:?}, {rule:?}, {cores}");
        for tres in &tres {
            let _ = write!(row, ", {}", text(per_unit(billing, tres)?, SCALE));
        }
        let _ = writeln!(file, "{row}],");
    }
    let _ = writeln!(file, "]\n");
    steps(&mut file, &tres);
    for (partition, billing) in partitions {
        example(&mut file, cluster, partition, billing)?;
    }
    Ok(file)
}

fn steps(file: &mut String, tres: &BTreeSet<&str>) {
    // What a partition does not weigh adds nothing, known or not.
    let weighed = |amount: &str, weight: &str| format!("CASE WHEN {weight} = 0 THEN 0 ELSE {amount} * {weight} END");
    let part = |tres: &str| {
        let weight = format!("w_{}", name(tres));
        let amount = match tres {
            "cpu" => "cores".to_owned(),
            "mem" => "memory".to_owned(),
            "node" => "nodes".to_owned(),
            "gres/gpu" => "gpus".to_owned(),
            other => {
                let Some(model) = other.strip_prefix("gres/gpu:") else {
                    return weighed(&format!("n_{}", name(other)), &weight);
                };
                let amount = format!("n_{}", name(model));
                // Slurm bills the entries of AllocTRES: the weight of a model takes no GPU that it names no model of, as of jobs
                // of 20.11 that requested any model.
                return weighed(&format!("coalesce({amount}, 0)"), &weight);
            }
        };
        weighed(&amount, &weight)
    };
    let of = |wanted: fn(&str) -> bool| -> Vec<String> {
        tres.iter().copied().filter(|tres| wanted(tres)).map(part).collect()
    };
    let node_parts = of(|tres| matches!(tres, "cpu" | "mem" | "node"));
    let gres_parts = of(|tres| tres.starts_with("gres/"));
    let global_parts = of(|tres| !matches!(tres, "cpu" | "mem" | "node") && !tres.starts_with("gres/"));
    let sum = |parts: &[String]| {
        if parts.is_empty() {
            "0".to_owned()
        } else {
            parts.join(" + ")
        }
    };
    let largest = |parts: &[&[String]]| {
        let all: Vec<&str> = parts.iter().flat_map(|part| part.iter().map(String::as_str)).collect();
        format!("greatest({})", [all.as_slice(), &["0"]].concat().join(", "))
    };
    let _ = writeln!(
        file,
        "[[let]]\nname = \"sum_of_all\"\nis = \"{} + {}\"\n",
        sum(&node_parts),
        sum(&gres_parts)
    );
    let _ = writeln!(
        file,
        "[[let]]\nname = \"largest\"\nis = \"{}\"\n",
        largest(&[&node_parts, &gres_parts])
    );
    let _ = writeln!(
        file,
        "[[let]]\nname = \"largest_and_gres\"\nis = \"{} + {}\"\n",
        largest(&[&node_parts]),
        sum(&gres_parts)
    );
    let _ = writeln!(
        file,
        "[[let]]\nname = \"billed\"\nis = \"CASE WHEN w_cores = 0 THEN 0 ELSE cores * w_cores END + {} + CASE CASE WHEN rule = 'listed' THEN billing_rule ELSE rule END WHEN 'max_tres' THEN largest WHEN \
         'max_tres_gres' THEN largest_and_gres ELSE sum_of_all END\"\n",
        sum(&global_parts)
    );
    let _ = writeln!(
        file,
        "# Slurm stores a whole number.\n[[let]]\nname = \"stored\"\nis = \"floor(billed)\"\n\n[[let]]\nname = \"taken\"\n\
         is = \"CASE WHEN billing_from = 'recorded' THEN coalesce(billing, stored) WHEN billing_from = 'untruncated' THEN billed ELSE stored END\"\n"
    );
}

/// An example worked out here, not by the formula: three cores and 5 GiB on one node for ten seconds.
fn example(file: &mut String, cluster: &str, partition: &str, billing: &WeightBilling) -> Result<(), String> {
    let amounts = [("cpu", 3), ("mem", 5), ("node", 1)];
    let mut parts = Vec::new();
    for (tres, amount) in amounts {
        parts.push(per_unit(billing, tres)? * amount);
    }
    let billed = if billing.weights.is_empty() {
        whole(3)
    } else if billing.rule.starts_with("max_tres") {
        // Fallback: never taken, the example has three amounts.
        parts.iter().copied().max().unwrap_or(0)
    } else {
        parts.iter().sum()
    };
    let _ = writeln!(
        file,
        "[[example]]\nname = \"three cores and 5 GiB in {partition}\"\nin = {{ cluster = {cluster:?}, partition = {partition:?}, cores = 3, \
         memory = 5, nodes = 1, seconds = 10 }}\nexpect = {}\n",
        billed / whole(1) * 10
    );
    Ok(())
}

/// The weight of one core, GiB or piece of a resource.
fn per_unit(billing: &WeightBilling, tres: &str) -> Result<i128, String> {
    let Some((weight, per_n)) = billing.weights.get(tres) else {
        return Ok(0);
    };
    if tres != "mem" {
        return Ok(*weight);
    }
    let scaled = weight.checked_mul(i128::from(GIB));
    let exact = scaled.filter(|scaled| scaled % i128::from(*per_n) == 0);
    exact
        .map(|scaled| scaled / i128::from(*per_n))
        .ok_or_else(|| format!("a weight of {tres} has more than 12 decimals per GiB"))
}

fn is_unreported(tres: &str) -> bool {
    !matches!(tres, "cpu" | "mem" | "node" | "gres/gpu") && !tres.starts_with("gres/gpu:")
}

/// A resource as a name in formulas.
fn name(tres: &str) -> String {
    tres.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}
