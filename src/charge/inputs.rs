//! The columns a formula may read.

use std::collections::BTreeSet;

use crate::expr::Type;

/// A column every job has.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name in formulas, tables and examples.
    pub name: &'static str,
    /// Its type.
    pub kind: Type,
    /// What it means.
    pub doc: &'static str,
    /// The column of `records` it is taken from; empty when it is worked out.
    pub record: &'static str,
}

const fn number(name: &'static str, record: &'static str, doc: &'static str) -> Input {
    Input {
        name,
        kind: Type::Number,
        doc,
        record,
    }
}

const fn text(name: &'static str, record: &'static str, doc: &'static str) -> Input {
    Input {
        name,
        kind: Type::Text,
        doc,
        record,
    }
}

/// The input that states how the energy of a job is known.
pub const ENERGY_CLASS: &str = "energy_class";

/// A number that is worked out by the tables of `[energy]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyInput {
    /// Energy of the job, joules.
    JobJoules,
    /// Energy of the site for it, joules.
    SiteJoules,
    /// CO2 equivalent of the electricity, grams.
    OperationalGrams,
    /// CO2 equivalent of its nodes, grams.
    EmbodiedGrams,
}

impl EnergyInput {
    /// All of them.
    pub const NUMBERS: [Self; 4] = [
        Self::JobJoules,
        Self::SiteJoules,
        Self::OperationalGrams,
        Self::EmbodiedGrams,
    ];

    /// Its name in formulas.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobJoules => "job_joules",
            Self::SiteJoules => "site_joules",
            Self::OperationalGrams => "operational_co2e_grams",
            Self::EmbodiedGrams => "embodied_co2e_grams",
        }
    }

    /// Decimals of the whole numbers it is known in: mg of grams.
    #[must_use]
    pub const fn decimals(self) -> u32 {
        match self {
            Self::JobJoules | Self::SiteJoules => 0,
            Self::OperationalGrams | Self::EmbodiedGrams => 3,
        }
    }

    /// Whether any of them, or their class, is among the inputs in `reads`.
    #[must_use]
    pub fn is_read(reads: &BTreeSet<&str>) -> bool {
        reads.contains(ENERGY_CLASS) || Self::NUMBERS.into_iter().any(|input| reads.contains(input.name()))
    }
}

/// Every input, in the order they are documented.
pub const INPUTS: [Input; 33] = [
    number("cores", "alloc_core_n", "Cores allocated."),
    number("nodes", "alloc_node_n", "Nodes allocated."),
    number("gpus", "alloc_gpu_n", "GPUs allocated, of any model."),
    number(
        "memory",
        "alloc_memory_byte",
        "Memory allocated, in the policy's memory_unit.",
    ),
    number(
        "requested_memory",
        "requested_memory_byte",
        "Memory requested, in the policy's memory_unit.",
    ),
    number(
        "seconds",
        "wall_s",
        "Elapsed time of the job, suspension taken off, at least minimum_seconds.",
    ),
    number(
        "minutes",
        "",
        "seconds / 60, to 12 decimals: multiply by seconds and divide last to keep every digit.",
    ),
    number(
        "hours",
        "",
        "seconds / 3600, to 12 decimals: multiply by seconds and divide last to keep every digit.",
    ),
    number(
        "suspended_seconds",
        "suspended_s",
        "Time suspended between start and end.",
    ),
    number("limit_seconds", "time_limit_s", "Time limit of the job."),
    number(
        "billing",
        "alloc_billing_n",
        "Slurm's recorded billing; 0 where the allocated TRES have none, because Slurm leaves out a TRES of 0.",
    ),
    number(
        "energy_joules",
        "energy_j",
        "Energy of the job's nodes as the batch system measured it: the job's own where it had its nodes to itself.",
    ),
    number(
        EnergyInput::JobJoules.name(),
        "",
        "Energy of the job by the tables of [energy]: measured, its part of what was measured of shared nodes, or modelled.",
    ),
    text(
        ENERGY_CLASS,
        "",
        "How job_joules is known: exclusive, apportioned, node meter or modelled.",
    ),
    number(
        EnergyInput::SiteJoules.name(),
        "",
        "Energy of the site for it: job_joules times the PUE while the job ran.",
    ),
    number(
        EnergyInput::OperationalGrams.name(),
        "",
        "CO2 equivalent of that electricity in grams, by the carbon intensity while the job ran.",
    ),
    number(
        EnergyInput::EmbodiedGrams.name(),
        "",
        "The part of the job in the CO2 equivalent of making its nodes, in grams.",
    ),
    number(
        "hepscore23",
        "hs23_per_core",
        "HEPscore23 per core that scales the job, as the pipeline's benchmarks state.",
    ),
    number(
        "hepspec",
        "hs06_per_core",
        "HEP-SPEC06 per core that scales the job, as the pipeline's benchmarks state.",
    ),
    number(
        "si2k",
        "si00_per_core",
        "SI2K per core that scales the job, as the pipeline's benchmarks state.",
    ),
    text("gpu_model", "", "Model of the job's GPUs, when all are of one model."),
    text("source", "source", "Name of the pipeline's source."),
    text("site", "site", "Site."),
    text("cluster", "cluster", "Cluster."),
    text("partition", "partition", "Partition or queue."),
    text("qos", "qos", "Quality of service."),
    text(
        "reservation",
        "reservation",
        "Reservation the job ran in; unknown outside of any. Of a reservation: its name.",
    ),
    text("account", "account", "Account or project."),
    text("username", "user", "Local user name."),
    text("vo", "vo", "Virtual organisation."),
    text("state", "state", "State word of the source."),
    text("view", "view", "Account of hours: batch, payload, ..."),
    text(
        "submit_host",
        "submit_host",
        "CE or host the job was submitted through.",
    ),
];

/// Columns of text a scope can name.
pub const SCOPES: [&str; 7] = ["site", "cluster", "partition", "qos", "account", "state", "view"];

/// The input called `name`.
#[must_use]
pub fn input(name: &str) -> Option<&'static Input> {
    INPUTS.iter().find(|input| input.name == name)
}
