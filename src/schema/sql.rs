//! `gridtally.sql`: a DuckDB view per dataset, views of one account of hours each, and macros.

use std::fmt::Write as _;

use super::dataset::{Column, ColumnType, Dataset, UNKNOWN_PARTITION};

/// The script of a lake.
pub const SCRIPT: &str = "gridtally.sql";

/// Accounts of hours that have a view of `usage` of their own: `usage_batch`, ...
const ACCOUNTS: [&str; 4] = ["batch", "payload", "storage", "summary"];

/// Shorthands: their call, what they are, and what they mean.
const MACROS: &[(&str, &str, &str)] = &[
    (
        "core_hours(core_s)",
        "core_s / 3600",
        "Core seconds as core hours: core_hours(sum(alloc_core_s)).",
    ),
    (
        "gpu_hours(gpu_s)",
        "gpu_s / 3600",
        "GPU seconds as GPU hours: gpu_hours(sum(alloc_gpu_s)).",
    ),
    (
        "cpu_hours(cpu_ms)",
        "cpu_ms / 3600000",
        "Milliseconds of CPU time as hours: cpu_hours(sum(cpu_ms)).",
    ),
    (
        "cpu_percent(cpu_ms, core_s)",
        "100 * cpu_ms / 1000 / nullif(core_s, 0)",
        "CPU time in percent of core time: cpu_percent(sum(cpu_ms), sum(alloc_core_s)). Jobs of unknown CPU time (cpu_unknown_job_n) are in the core time.",
    ),
    ("gib(bytes)", "bytes / 1073741824", "Bytes as GiB."),
];

/// Rows of one choice, where a sum over several means nothing: their call, what they are, and what they mean.
const CHOICES: &[(&str, &str, &str)] = &[
    (
        "usage_of(one_view)",
        "SELECT * FROM \"usage\" WHERE view = one_view",
        "Usage of one account of hours.",
    ),
    (
        "charges_in(one_unit)",
        "SELECT * REPLACE (charge.amount AS charge) FROM \"charges\" WHERE unit = one_unit",
        "Charges in one unit, as numbers. Policies that charge in the same unit are two views of the same jobs: choose one of them, and one view.",
    ),
    (
        "job_charges_in(one_unit)",
        "SELECT * REPLACE (charge.amount AS charge) FROM \"job_charges\" WHERE unit = one_unit",
        "What each job costs in one unit, as numbers. Choose one policy and one view.",
    ),
    (
        "overhead_of(one_unit)",
        "SELECT * FROM \"overhead\" WHERE unit = one_unit",
        "Overhead by one canonical unit. Rows of several units describe the same nodes.",
    ),
    (
        "overhead_queue_of(one_unit)",
        "SELECT * FROM \"overhead_queue\" WHERE unit = one_unit",
        "How long jobs waited, by one canonical unit. Rows of several units describe the same jobs.",
    ),
];

/// The files of a dataset, below the lake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetFiles {
    /// All that have a path of this pattern, now and later.
    Pattern(String),
    /// These.
    List(Vec<String>),
}

impl DatasetFiles {
    /// The expression for them.
    fn sql(&self) -> String {
        let place = |path: &str| format!("getvariable('gridtally_lake') || {}", quoted(&format!("/{path}")));
        match self {
            Self::Pattern(pattern) => place(pattern),
            Self::List(paths) => {
                let places: Vec<String> = paths.iter().map(|path| place(&escaped(path))).collect();
                format!("[{}]", places.join(",\n  "))
            }
        }
    }
}

/// A path in which no letter is a wildcard.
fn escaped(path: &str) -> String {
    path.chars()
        .flat_map(|c| match c {
            '*' | '?' | '[' => vec!['[', c, ']'],
            c => vec![c],
        })
        .collect()
}

/// The script for a lake; `files` names the files of a dataset below the lake, and is `None` where it has
/// none. It names no folder: equal lakes have equal scripts, and a lake can be copied and moved.
#[must_use]
pub fn script(pipeline: &str, datasets: &[Dataset], files: impl Fn(&Dataset) -> Option<DatasetFiles>) -> String {
    let marker = format!(
        "-- gridtally views of the pipeline {}",
        pipeline.replace(['\n', '\r'], " ")
    );
    let mut sql = format!("{marker}\n");
    sql.push_str(
        "-- DuckDB gives a script no path of its own, and this lake may be a copy of another: set which one is meant.\n\
         --   gridtally sql LAKE > lake.sql, then: duckdb -init lake.sql       (LAKE is a folder or URL)\n\
         --   duckdb -cmd \"SET VARIABLE gridtally_root = 'LAKE'\" -cmd \".read LAKE/gridtally.sql\"\n\
         --   con.execute(\"SET VARIABLE gridtally_root = 'LAKE'\"); con.execute(open('LAKE/gridtally.sql').read())\n\
         SET VARIABLE gridtally_lake = NULL;\n\
         -- Its path as a pattern, in which no letter is a wildcard.\n\
         SET VARIABLE gridtally_lake = (CASE WHEN getvariable('gridtally_root') IS NULL THEN error(\
         'gridtally.sql cannot know which lake it is in. Set it first: SET VARIABLE gridtally_root = ''folder or URL of the lake''; \
         or let gridtally sql LAKE write a script that sets it.') \
         ELSE regexp_replace(getvariable('gridtally_root'), '([*?[])', '[\\1]', 'g') END);\n\
         SET VARIABLE gridtally_lake = (SELECT CASE WHEN count(*) = 1 THEN getvariable('gridtally_lake') ELSE error(\
         'This script is not that of the lake at ' || getvariable('gridtally_root') || ': there is no lake of its pipeline.') END\n",
    );
    let _ = writeln!(
        sql,
        "  FROM read_text(getvariable('gridtally_lake') || '/{SCRIPT}*') WHERE parse_filename(filename) = '{SCRIPT}' \
         AND starts_with(content, {}));\n\
         -- The setting holds for one script: the next one requires it again.\n\
         SET VARIABLE gridtally_root = NULL;\n",
        quoted(&marker)
    );
    for dataset in datasets {
        view(&mut sql, dataset, files(dataset).as_ref());
    }
    sql.push_str("\n-- One account of hours each: those of two views are never added up.\n");
    for account in ACCOUNTS {
        let _ = writeln!(
            sql,
            "CREATE OR REPLACE VIEW \"usage_{account}\" AS SELECT * FROM \"usage\" WHERE view = '{account}';\n\
             COMMENT ON VIEW \"usage_{account}\" IS 'Usage of the view {account} alone.';"
        );
    }
    sql.push_str(
        "\n-- What there is to choose from, one row for each policy and unit; charges_in(unit) has the charges.\n\
         CREATE OR REPLACE VIEW \"charge_units\" AS SELECT unit, pool, policy, policy_version, options, subject, view, \
         sum(job_n) AS job_n, sum(unpriced_job_n) AS unpriced_job_n, sum(charge.amount) AS amount, \
         coalesce(sum(alloc_core_s) FILTER (charge.amount IS NULL), 0) AS unpriced_core_s \
         FROM \"charges\" GROUP BY ALL ORDER BY ALL;\n\
         COMMENT ON VIEW \"charge_units\" IS 'What each policy charged, by unit and view. Amounts of two rows are never added up.';\n\n",
    );
    for (kind, of, list) in [("MACRO", "", MACROS), ("MACRO TABLE", "TABLE ", CHOICES)] {
        for (call, body, doc) in list {
            // Fallback: never taken, the split of a call has a first part.
            let name = call.split('(').next().unwrap_or_default();
            let _ = writeln!(
                sql,
                "CREATE OR REPLACE MACRO {call} AS {of}{body};\nCOMMENT ON {kind} {name} IS {};",
                quoted(doc)
            );
        }
    }
    sql
}

/// The script of the lake at `root`, wherever it is called from.
#[must_use]
pub fn script_at(root: &str, script: &str) -> String {
    format!("SET VARIABLE gridtally_root = {};\n{script}", quoted(root))
}

fn view(sql: &mut String, dataset: &Dataset, files: Option<&DatasetFiles>) {
    let name = &dataset.name;
    let has = |column: &str| dataset.columns.iter().any(|c| c.name == column);
    // A charge carries its unit, so that sum(charge) over several is refused, and charge.amount makes the intent explicit.
    let is_charged = has("charge") && has("unit");
    let mut replaced = Vec::new();
    if is_charged {
        replaced.push("{'amount': charge, 'unit': unit} AS charge".to_owned());
    }
    if files.is_some() {
        let unknown = dataset.partition.iter().filter(|column| column.null);
        replaced.extend(unknown.map(|c| format!("nullif(\"{0}\", '{UNKNOWN_PARTITION}') AS \"{0}\"", c.name)));
    }
    let all = match replaced.as_slice() {
        [] => "*".to_owned(),
        replaced => format!("* REPLACE ({})", replaced.join(", ")),
    };
    let from = if let Some(files) = files {
        let types: Vec<String> = dataset
            .partition
            .iter()
            .map(|c| format!("'{}': {}", c.name, c.kind.sql()))
            .collect();
        let hive = if types.is_empty() {
            "hive_partitioning = false".to_owned()
        } else {
            format!("hive_partitioning = true, hive_types = {{{}}}", types.join(", "))
        };
        format!("read_parquet({}, {hive})", files.sql())
    } else {
        let columns = dataset.columns.iter().chain(&dataset.partition);
        let columns: Vec<String> = columns
            .map(|c| format!("NULL::{} AS \"{}\"", c.kind.sql(), c.name))
            .collect();
        format!("(SELECT {} WHERE false)", columns.join(", "))
    };
    let _ = writeln!(
        sql,
        "CREATE OR REPLACE VIEW \"{name}\" AS SELECT {all} FROM {from};\nCOMMENT ON VIEW \"{name}\" IS {};",
        quoted(&dataset.doc)
    );
    for column in dataset.columns.iter().chain(&dataset.partition) {
        let _ = writeln!(
            sql,
            "COMMENT ON COLUMN \"{name}\".\"{}\" IS {};",
            column.name,
            quoted(&meaning(column, is_charged))
        );
    }
}

/// What a column means, with its unit where its name does not end in one.
fn meaning(column: &Column, is_charged: bool) -> String {
    let doc = &column.doc;
    if is_charged && column.name == "charge" {
        return format!("{doc} Add up charge.amount, of one unit, policy and view: charges_in(unit) has them.");
    }
    let states_unit = column.unit.is_empty() || column.unit == "1" || column.unit == "UTC";
    if states_unit || column.kind == ColumnType::GpuList {
        doc.clone()
    } else {
        format!("{doc} [{}]", column.unit)
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
