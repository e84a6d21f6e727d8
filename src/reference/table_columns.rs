//! Columns of the tables people write. Readers check headers by them, and the page of the reference shows them.

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its name in the header.
    pub name: &'static str,
    /// What its cells hold.
    pub value: &'static str,
    /// Unit of that; empty where there is none.
    pub unit: &'static str,
    /// Whether the header must name it.
    pub is_required: bool,
    /// What it states, and what an empty cell means.
    pub doc: &'static str,
}

pub(crate) const fn required(name: &'static str, value: &'static str, doc: &'static str) -> TableColumn {
    TableColumn {
        name,
        value,
        unit: "",
        is_required: true,
        doc,
    }
}

pub(crate) const fn optional(name: &'static str, value: &'static str, doc: &'static str) -> TableColumn {
    TableColumn {
        is_required: false,
        ..required(name, value, doc)
    }
}

impl TableColumn {
    pub(crate) const fn of(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

const DAY: &str = "day, `YYYY-MM-DD`";
const COUNT: &str = "whole number above 0";
pub(crate) const TEXT: &str = "text";
const DECIMAL: &str = "decimal above 0, at most 4 places";
const PER_CORE: &str = "HS06, HEPscore23 or SI00 per core";
pub(crate) const ANY_SITE: &str = "Site; empty or `*` is any.";
pub(crate) const ANY_CLUSTER: &str = "Cluster; empty or `*` is any.";
pub(crate) const ANY_PARTITION: &str = "Partition or queue; empty or `*` is any.";
pub(crate) const ANY_NODES: &str = "Nodes; empty or `*` is any.";

/// Of `benchmarks`.
pub const BENCHMARKS: &[TableColumn] = &[
    required("site", TEXT, ANY_SITE),
    optional("cluster", TEXT, ANY_CLUSTER),
    optional("submit_host", TEXT, "CE; empty or `*` is any."),
    optional("partition", TEXT, ANY_PARTITION),
    optional(
        "node_class",
        TEXT,
        "Class of nodes, as the table of nodes names it; empty or `*` is any.",
    ),
    optional("nodes", "host list", ANY_NODES),
    required("benchmark", "`hs06`, `hs23` or `si00`", "The scale of the value."),
    optional(
        "value_per_core",
        DECIMAL,
        "The value of a core. A row has exactly one of the three values.",
    )
    .of(PER_CORE),
    optional(
        "value_per_cpu",
        DECIMAL,
        "The value of a logical CPU; times `cpus_per_core`.",
    )
    .of("the same, per logical CPU"),
    optional(
        "cpus_per_core",
        COUNT,
        "Logical CPUs of what jobs count as a core; empty is 1.",
    ),
    optional(
        "value_per_system",
        DECIMAL,
        "The value of a whole node; shared by its `cores`.",
    )
    .of("the same, per node"),
    optional(
        "cores",
        COUNT,
        "Cores of the node; needed with `value_per_system`, and for the mean of a job on nodes of several values where the table of nodes \
         does not state them.",
    ),
    required("valid_from", DAY, "First day, from midnight UTC; empty is always."),
    required("valid_to", DAY, "First day no longer; empty is open."),
    optional(
        "recorded_at",
        DAY,
        "When it became known, for `known_on`; empty is always.",
    ),
    optional("source", TEXT, "Where the value is from; not read."),
    optional(
        "accept",
        "`range`, `jump`, or both",
        "That a value is meant which is out of the usual range, or far from the one before.",
    ),
];

/// Columns of which a header of [`BENCHMARKS`] has one.
pub(crate) const BENCHMARK_VALUES: &[&str] = &["value_per_core", "value_per_cpu", "value_per_system"];

/// Of `nodes`, used with `benchmarks`.
pub const BENCHMARK_NODES: &[TableColumn] = &[
    required("site", TEXT, ANY_SITE),
    optional("cluster", TEXT, ANY_CLUSTER),
    required(
        "nodes",
        "host list",
        "The nodes, as Slurm writes lists: `n[01-20]`; at most 100 000 a row.",
    ),
    optional("node_class", TEXT, "Their class. A row has this, `cores`, or both."),
    optional("cores", COUNT, "Cores of each node."),
    optional("valid_from", DAY, "First day, from midnight UTC; empty is always."),
    optional("valid_to", DAY, "First day no longer; empty is open."),
];

/// Of `node_types`.
pub const NODE_TYPES: &[TableColumn] = &[
    required("site", TEXT, "Site."),
    required("node_type", TEXT, "What the site calls the type."),
    required("node_n", COUNT, "Nodes of the type.").of("nodes"),
    required("physical_cpu_n", COUNT, "Chips of one node.").of("chips"),
    required(
        "logical_cpu_n",
        COUNT,
        "What the batch system counts as cores of one node.",
    )
    .of("cores"),
    required("benchmark", "`hs06`, `hs23` or `si00`", "The scale of the value."),
    optional(
        "cluster",
        TEXT,
        "Cluster; empty or `*` where the site does not state it.",
    ),
    optional(
        "value_per_core",
        DECIMAL,
        "The value of a logical CPU. A row has one of the two values, or both where they agree.",
    )
    .of(PER_CORE),
    optional("value_per_node", DECIMAL, "The value of a whole node.").of("the same, per node"),
    optional(
        "slot_n",
        COUNT,
        "Job slots of one node; empty is as many as logical CPUs.",
    )
    .of("slots"),
    optional("cpumult", DECIMAL, "What the node multiplies CPU time by (`$cpumult`)."),
    optional(
        "wallmult",
        DECIMAL,
        "What the node multiplies wall time by (`$wallmult`).",
    ),
    optional("valid_from", DAY, "First day, from midnight UTC; empty is always."),
    optional("valid_to", DAY, "First day no longer; empty is open."),
];

/// Of `corrections`.
pub const CORRECTIONS: &[TableColumn] = &[
    required("id", "text of 1 to 100 bytes", "Its own name, never used twice."),
    required(
        "action",
        "`add`, `void`, `remap` or `undo`",
        "Adds usage, takes out what it matches, moves it, or takes back a row.",
    ),
    required("author", TEXT, "Who signs; not empty."),
    required("reason", TEXT, "Why; not empty."),
    required("date", DAY, "When it was signed."),
    optional("site", TEXT, "Filter, or the site of what is added."),
    optional(
        "month",
        "`YYYY-MM`",
        "Filter: month of usage, cut in `calendar_timezone`, or that of what is added.",
    ),
    optional("source", TEXT, "Filter: name of the source."),
    optional("view", TEXT, "Filter: view of the usage, such as `batch`."),
    optional(
        "vo",
        TEXT,
        "Filter. In filters an empty or `*` cell takes anything, `-` what has no value.",
    ),
    optional("account", TEXT, "Filter."),
    optional("user", TEXT, "Filter."),
    optional("cluster", TEXT, "Filter."),
    optional("job_id", TEXT, "Filter."),
    optional("record_id", TEXT, "Filter: the id of one record."),
    optional(
        "file_id",
        TEXT,
        "Filter: the id of one content of an input file, as in `inputs`: the jobs whose rows that count are of it.",
    ),
    optional("partition", TEXT, "Filter."),
    optional("qos", TEXT, "Filter."),
    optional("to_vo", TEXT, "Of `remap`: the VO it moves to."),
    optional("to_account", TEXT, "Of `remap`: the account it moves to."),
    optional("job_n", "whole number", "Of `add`: jobs.").of("jobs"),
    optional("wall_s", "whole number", "Of `add`: wall time.").of("s"),
    optional("alloc_core_s", "whole number", "Of `add`: allocated core time.").of("core s"),
    optional("cpu_ms", "whole number", "Of `add`: CPU time.").of("ms"),
    optional("alloc_gpu_s", "whole number", "Of `add`: allocated GPU time.").of("GPU s"),
    optional("alloc_node_s", "whole number", "Of `add`: allocated node time.").of("node s"),
    optional(
        "alloc_memory_byte",
        "whole number",
        "Of `add`: memory of each of its jobs, for policies that charge it.",
    )
    .of("bytes"),
    optional("gpu_model", TEXT, "Of `add`: model of its GPUs."),
    optional("undoes", TEXT, "Of `undo`: the id of a row before it."),
];

/// Of `table` in `vo = { corrections = .. }`.
pub const VO_CORRECTIONS: &[TableColumn] = &[
    required("vo_name", TEXT, "VO or FQAN as the record prints it."),
    optional(
        "reportable_vo",
        TEXT,
        "The short name next to it; empty or `*` matches any.",
    ),
    required("to_vo", TEXT, "The VO."),
];

/// Of `known` in `vo = { .. }`.
pub const KNOWN_VOS: &[TableColumn] = &[required(
    "VO",
    TEXT,
    "A VO as it is spelled; a row without one is passed over.",
)];

/// Of `topology` in `site = { .. }`.
pub const TOPOLOGY: &[TableColumn] = &[
    required("Facility", TEXT, "Facility."),
    required("Site", TEXT, "Site of the facility."),
    required(
        "ResourceGroup",
        TEXT,
        "Group of the site: what OSG reports to APEL as site.",
    ),
    required("Resource", TEXT, "Name of the resource; letter case does not matter."),
    required("FQDN", TEXT, "Host of the resource; letter case does not matter."),
];

/// Of `--allocations`, and of `table` in `[awards]`.
pub const ALLOCATIONS: &[TableColumn] = &[
    required("account", TEXT, "Account whose jobs use it."),
    required(
        "policy",
        TEXT,
        "Policy that counts the use, with its options in brackets where it has several; for `[awards]` also `storage`, a maximum of stored bytes.",
    ),
    required(
        "amount",
        "decimal, at most 9 places",
        "How much was granted; negative in an `adjustment` that takes away, empty in an `extension` or `expiry`.",
    )
    .of("`unit`"),
    required(
        "valid_from",
        DAY,
        "First day; of another entry than an award the day it takes effect.",
    ),
    optional(
        "valid_to",
        DAY,
        "First day no longer; empty is open. Of an `extension` the new end.",
    ),
    optional("site", TEXT, ANY_SITE),
    optional("cluster", TEXT, ANY_CLUSTER),
    optional(
        "unit",
        TEXT,
        "Unit of the policy, to be held against it, or of the versions that count where these charge in different units; for `[awards]` also years of it (`core_year`, `gpu_year`, `rgu_year`), or raw use (`raw_core_year`, `raw_core_hour`, `raw_gpu_year`, `raw_gpu_hour`). Empty is the policy's.",
    ),
    optional("project", TEXT, "What people call it; empty is the account."),
    optional("users", "texts between `;`", "Who sees it."),
    optional(
        "coldfront_attribute",
        "whole number",
        "Primary key of its attribute in ColdFront.",
    ),
    optional(
        "kind",
        "`award`, `supplement`, `transfer`, `adjustment`, `extension` or `expiry`",
        "What the entry does; empty is `award`.",
    ),
    optional(
        "award",
        TEXT,
        "Own name of an award, or the award that another entry is about; empty there is the award of that account, policy, place and user on `valid_from`.",
    ),
    optional(
        "user",
        TEXT,
        "User whose part of the account's award it is; empty is the account.",
    ),
    optional(
        "parent",
        TEXT,
        "Award above it, which its use counts for as well; empty for a user's part is the award of the account.",
    ),
    optional("to_account", TEXT, "Of `transfer`: account it goes to."),
    optional("author", TEXT, "Who signs; needed by `adjustment`."),
    optional("reason", TEXT, "Why; needed by `adjustment`."),
    optional("period_rule", TEXT, "Id of the period rule the award is used under."),
];

/// Of `--stored`.
pub const STORED: &[TableColumn] = &[
    required("account", TEXT, "Account it is stored for."),
    required("day", DAY, "The day it was measured on."),
    required("stored_byte", "whole number", "What was stored on that day.").of("byte"),
    optional("site", TEXT, ANY_SITE),
];

/// Of `--owners`.
pub const NODE_OWNERS: &[TableColumn] = &[
    required("account", TEXT, "Account that owns it."),
    optional(
        "nodes",
        "host list",
        "Nodes; quote a list. A row has either nodes or a partition.",
    ),
    optional("partition", TEXT, "Partition: all of its nodes."),
    optional(
        "part",
        "`1/3`, `25%` or `0.25`",
        "Part of each node, where several own it; empty is the whole.",
    ),
    optional("cluster", TEXT, ANY_CLUSTER),
    optional("valid_from", DAY, "First day; empty is always."),
    optional("valid_to", DAY, "First day no longer; empty is open."),
    optional("purchase", TEXT, "Order or grant it was bought by; not read."),
];

/// Of `--core-tres`.
pub const CPU_TRES: &[TableColumn] = &[
    optional(
        "feature",
        TEXT,
        "One of the features of the node, as Slurm lists them; empty or `*` is any.",
    ),
    optional("nodes", "host list", ANY_NODES),
    required(
        "tres_per_core",
        "decimal, at most 6 places",
        "What a core of the node counts for.",
    )
    .of("CPU TRES per core"),
    optional("valid_from", DAY, "First day; empty is always."),
    optional("valid_to", DAY, "First day no longer; empty is open."),
];

/// Of `--minutes`.
pub const MINUTE_LIMITS: &[TableColumn] = &[
    required("account", TEXT, "Account whose jobs use it."),
    required(
        "tres",
        "`billing`, `cpu`, `gres/gpu`, ...",
        "The resource, as Slurm names it.",
    ),
    required("minutes", "whole number", "The limit.").of("minutes of the resource"),
    optional("valid_from", DAY, "First day; empty is always."),
    optional("valid_to", DAY, "First day no longer; empty is open."),
];

/// Of `--shares-table`.
pub const SHARE_CHANGES: &[TableColumn] = &[
    required("account", TEXT, "Account."),
    optional("user", TEXT, "User in the account; empty is the account itself."),
    optional(
        "partition",
        TEXT,
        "Partition, where a user has shares of one; empty is any.",
    ),
    required(
        "shares",
        "`40`, `+40`, `-10` or `parent`",
        "Number of shares, or what is added to the listed number.",
    ),
    optional("parent", TEXT, "As `report shares` prints it; not read."),
    optional("gratis", TEXT, "As `report shares` prints it; not read."),
    optional("lab", TEXT, "As `report shares` prints it; not read."),
    optional("communal", TEXT, "As `report shares` prints it; not read."),
    optional("total", TEXT, "As `report shares` prints it; not read."),
    optional("listed", TEXT, "As `report shares` prints it; not read."),
    optional("difference", TEXT, "As `report shares` prints it; not read."),
];

/// Of `--rename`.
pub const SITE_RENAMES: &[TableColumn] = &[
    required("site", TEXT, ANY_SITE),
    required("vo", TEXT, "VO; empty or `*` is any. One of the two is stated."),
    required("to_site", TEXT, "The name it is published under."),
];

/// Of a CSV listing of nodes.
pub const NODE_LISTING: &[TableColumn] = &[
    required("node", "host list", "Nodes; quote a list."),
    optional("cluster", TEXT, "Cluster; empty is that of the `[[inventory]]`."),
    optional(
        "as_of",
        "day or instant",
        "When it was so; empty is `as_of` of the `[[inventory]]`.",
    ),
    optional(
        "cpu_n",
        "whole number",
        "Cores of each node. A listing has one of the four amounts.",
    )
    .of("cores"),
    optional("memory_byte", "whole number", "Memory of each node.").of("bytes"),
    optional("gpu_n", "whole number", "GPUs of each node, of no stated model.").of("GPUs"),
    optional("gpus", "as Slurm's `Gres`", "GPUs with their models: `gpu:a100:4`."),
    optional(
        "partitions",
        "texts between blanks or `;`",
        "Partitions the nodes are in.",
    ),
    optional(
        "state",
        TEXT,
        "State, as Slurm writes it: `idle`, `down*`, `mixed+drain`.",
    ),
];

/// Of a CSV listing of reservations.
pub const RESERVATION_LISTING: &[TableColumn] = &[
    required("reservation", TEXT, "Its name."),
    optional("cluster", TEXT, "Cluster; empty is that of the `[[inventory]]`."),
    required(
        "start",
        "instant",
        "Begin; without an offset in `timezone` of the `[[inventory]]`.",
    ),
    required("end", "instant", "End, likewise; not before the begin."),
    optional(
        "node_n",
        "whole number",
        "Nodes set aside; empty is as many as `nodes` lists.",
    )
    .of("nodes"),
    optional("core_n", "whole number", "Cores set aside.").of("cores"),
    optional("memory_byte", "whole number", "Memory set aside.").of("bytes"),
    optional("gpus", "as Slurm's `Gres`", "GPUs set aside: `gpu:a100:4`."),
    optional("nodes", "host list", "Nodes set aside."),
    optional("partition", TEXT, "Partition."),
    optional(
        "accounts",
        TEXT,
        "Accounts that may use it, between commas and in quotes.",
    ),
    optional("flags", TEXT, "Flags, as Slurm writes them."),
    optional(
        "as_of",
        "day or instant",
        "When it was so; empty is `as_of` of the `[[inventory]]`.",
    ),
];

/// The names of columns.
pub(crate) fn names(columns: &[TableColumn]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}
