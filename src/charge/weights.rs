//! Slurm's billing weights of a cluster as a policy file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::amount::whole;
use crate::expr::SCALE;
use crate::reference::decimal::text;

/// What one partition bills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightBilling {
    /// How weighted resources become one number: `sum`, `max_tres` or `max_tres_gres`; `None` where no listing states it.
    pub rule: Option<String>,
    /// By resource in lower case: the weight, and the bytes or pieces it is for. Without any, CPUs are billed.
    pub weights: BTreeMap<String, (i128, i64)>,
}

impl WeightBilling {
    /// Whether the billing depends on the rule, which no listing states.
    #[must_use]
    pub fn needs_rule(&self) -> bool {
        self.rule.is_none() && self.weights.len() > 1
    }

    fn rule(&self) -> &str {
        // Fallback: one weight, or the CPUs of a partition without any, is the same under each rule.
        self.rule.as_deref().unwrap_or("sum")
    }
}

/// Bytes of the policy's unit of memory.
const GIB: i64 = 1 << 30;

/// The policy file of a cluster's partitions, none of which [needs a rule](WeightBilling::needs_rule).
///
/// # Errors
/// A sentence when a weight cannot be expressed in 12 decimals.
pub fn policy(cluster: &str, partitions: &BTreeMap<String, WeightBilling>) -> Result<String, String> {
    let tres: BTreeSet<&str> = partitions
        .values()
        .flat_map(|billing| billing.weights.keys().map(String::as_str))
        .collect();
    let models: Vec<&str> = tres.iter().filter_map(|tres| tres.strip_prefix("gres/gpu:")).collect();
    let inputs: Vec<&str> = tres.iter().copied().filter(|tres| is_input(tres)).collect();
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
    for tres in &inputs {
        let keys = match tres.strip_prefix(LICENSE) {
            Some(license) => {
                format!(
                    "doc = \"Licences allocated; Slurm leaves out a TRES of 0.\"\nlicense = {license:?}\nabsent = 0"
                )
            }
            None => format!("doc = \"{tres} allocated: unknown, unless absent = 0 states that no job has any.\""),
        };
        let _ = writeln!(file, "[[input]]\nname = \"n_{}\"\n{keys}\n", name(tres));
    }
    let gives: Vec<String> = tres.iter().map(|tres| format!("\"w_{}\"", name(tres))).collect();
    let _ = writeln!(
        file,
        "[[table]]\ntitle = \"Weights; of memory per GiB\"\nby = [\"partition\"]\ngives = [\"billing_rule\", \"w_cores\"{}]\nrows = [",
        gives.iter().fold(String::new(), |list, name| list + ", " + name)
    );
    for (partition, billing) in partitions {
        let cores = if billing.weights.is_empty() { "1" } else { "0" };
        let mut row = format!("  [{partition:?}, {:?}, {cores}", billing.rule());
        for tres in &tres {
            let _ = write!(row, ", {}", text(per_unit(billing, tres)?, SCALE));
        }
        let _ = writeln!(file, "{row}],");
    }
    let _ = writeln!(file, "]\n");
    steps(&mut file, &tres);
    for (partition, billing) in partitions {
        let example = WeightExample {
            cluster,
            partition,
            billing,
            inputs: &inputs,
        };
        example.write(&mut file)?;
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
                // Slurm bills the entries of AllocTRES: the weight of a model takes no GPU that it names no model of, as of jobs
                // of 20.11 that requested any model: they are none by `missing`.
                return weighed(&format!("n_{}", name(model)), &weight);
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
struct WeightExample<'a> {
    cluster: &'a str,
    partition: &'a str,
    billing: &'a WeightBilling,
    /// Resources that are inputs of the policy: it has none of them.
    inputs: &'a [&'a str],
}

impl WeightExample<'_> {
    fn write(&self, file: &mut String) -> Result<(), String> {
        let (cluster, partition) = (self.cluster, self.partition);
        let amounts = [("cpu", 3), ("mem", 5), ("node", 1)];
        let mut parts = Vec::new();
        for (tres, amount) in amounts {
            parts.push(per_unit(self.billing, tres)? * amount);
        }
        let billed = if self.billing.weights.is_empty() {
            whole(3)
        } else if self.billing.rule().starts_with("max_tres") {
            // Fallback: never taken, the example has three amounts.
            parts.iter().copied().max().unwrap_or(0)
        } else {
            parts.iter().sum()
        };
        let mut none = String::new();
        for tres in self.inputs {
            let _ = write!(none, ", n_{} = 0", name(tres));
        }
        let _ = writeln!(
            file,
            "[[example]]\nname = \"three cores and 5 GiB in {partition}\"\nin = {{ cluster = {cluster:?}, partition = {partition:?}, \
             cores = 3, memory = 5, nodes = 1, seconds = 10{none} }}\nexpect = {}\n",
            billed / whole(1) * 10
        );
        Ok(())
    }
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

/// What a licence as a resource begins with.
const LICENSE: &str = "license/";

/// Whether a resource is an input of the policy: one of the licences of jobs, or what their records do not contain.
fn is_input(tres: &str) -> bool {
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
