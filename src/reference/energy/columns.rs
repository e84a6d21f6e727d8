//! Columns of the tables of energy and carbon.

use crate::reference::table_columns::{
    ANY_CLUSTER, ANY_NODES, ANY_PARTITION, ANY_SITE, TEXT, TableColumn, optional, required,
};

const SINCE: &str = "day or instant";
const DECIMAL: &str = "decimal, at most 4 places";
const SITE: &str = "Site; empty or `*` is any that has no rows of its own.";
const FROM: &str = "First day, from midnight UTC, or first instant (`2026-03-01T13:00:00Z`); empty is always.";
const TO: &str = "First day or instant no longer; empty is open.";
const RECORDED: &str = "When it became known, for `known_on`; empty is always.";
const SOURCE: &str = "Where the value is from; kept with the lake.";

/// Of `pue`.
pub const PUE: &[TableColumn] = &[
    required("site", TEXT, SITE),
    required(
        "pue",
        DECIMAL,
        "Energy of the site for each joule of its nodes, at least 1; empty is unknown.",
    ),
    required("valid_from", SINCE, FROM),
    required("valid_to", SINCE, TO),
    optional("recorded_at", SINCE, RECORDED),
    optional("source", TEXT, SOURCE),
];

/// Of `intensity`.
pub const CARBON_INTENSITY: &[TableColumn] = &[
    required("site", TEXT, SITE),
    required(
        "basis",
        "`location` or `market`",
        "By the grid at the place of the site, or by its contracts.",
    ),
    required(
        "g_per_kwh",
        DECIMAL,
        "CO2 equivalent of a kilowatt hour; empty is unknown.",
    )
    .of("g/kWh"),
    required("valid_from", SINCE, FROM),
    required("valid_to", SINCE, TO),
    optional("recorded_at", SINCE, RECORDED),
    optional("source", TEXT, SOURCE),
];

/// Of `nodes` of `[energy]`.
pub const NODE_ENERGY: &[TableColumn] = &[
    required("site", TEXT, ANY_SITE),
    required("node_type", TEXT, "What the site calls the type."),
    optional("cluster", TEXT, ANY_CLUSTER),
    optional("partition", TEXT, ANY_PARTITION),
    optional("nodes", "host list", ANY_NODES),
    optional(
        "cores",
        "whole number above 0",
        "Cores of one node, as jobs count them; empty is unknown.",
    ),
    optional(
        "exclusive",
        "`yes` or `no`",
        "Whether each node is given to one job at a time; empty is `no`.",
    ),
    optional(
        "core_idle_w",
        DECIMAL,
        "What a core that is held draws while it is idle.",
    )
    .of("W"),
    optional("core_full_w", DECIMAL, "What a busy core draws.").of("W"),
    optional("gpu_idle_w", DECIMAL, "What a GPU that is held draws while it is idle.").of("W"),
    optional("gpu_full_w", DECIMAL, "What a busy GPU draws.").of("W"),
    optional("memory_w_per_gb", DECIMAL, "What each 10^9 byte of memory held draws.").of("W"),
    optional(
        "embodied_kg",
        DECIMAL,
        "CO2 equivalent of making, bringing and scrapping a node; needs `cores` and `lifetime_years`.",
    )
    .of("kg"),
    optional(
        "lifetime_years",
        DECIMAL,
        "How long a node is kept, in years of 365 days.",
    )
    .of("years"),
    optional("valid_from", SINCE, FROM),
    optional("valid_to", SINCE, TO),
    optional("recorded_at", SINCE, RECORDED),
    optional("source", TEXT, SOURCE),
];

/// Of meters of nodes.
pub const NODE_METERS: &[TableColumn] = &[
    required("node", TEXT, "Node, as listings of the machine name it."),
    required(
        "valid_from",
        SINCE,
        "When the meter was read before: day (midnight UTC) or instant.",
    ),
    required("valid_to", SINCE, "When it was read."),
    required("joules", "whole number", "What the node took in between.").of("J"),
    optional("site", TEXT, ANY_SITE),
    optional(
        "recorded_at",
        SINCE,
        "When it became known, for `known_on`; of rows of one node and the same times the one recorded last counts.",
    ),
    optional("source", TEXT, SOURCE),
];
