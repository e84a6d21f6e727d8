//! `gridtally.sql`: a DuckDB view per dataset.

use std::fmt::Write as _;

use super::dataset::Dataset;

/// The script for a lake in which `has(dataset)` says whether a dataset has files. It names no folder, so that equal
/// lakes have equal scripts: it finds the lake from the working directory, or takes the variable `gridtally_root`.
#[must_use]
pub fn script(pipeline: &str, datasets: &[Dataset], has: impl Fn(&str) -> bool) -> String {
    let marker = format!(
        "-- gridtally views of the pipeline {}",
        pipeline.replace(['\n', '\r'], " ")
    );
    let mut sql = format!("{marker}\n");
    sql.push_str(
        "-- Inside the lake, or up to three folders above it: duckdb -init gridtally.sql (or LAKE/gridtally.sql).\n\
         -- Anywhere else, first: SET VARIABLE gridtally_root = 'path or URL of the lake';\n\
         SET VARIABLE gridtally_root = coalesce(getvariable('gridtally_root'), (\n  \
         SELECT CASE WHEN file = 'gridtally.sql' THEN '.' ELSE regexp_replace(file, '/gridtally[.]sql$', '') END\n  \
         FROM (SELECT filename AS file, content FROM read_text(['gridtally.sql*', '*/gridtally.sql*', '*/*/gridtally.sql*', '*/*/*/gridtally.sql*']))\n",
    );
    let _ = writeln!(
        sql,
        "  WHERE starts_with(content, '{}') ORDER BY length(file), file LIMIT 1), '.');\n",
        marker.replace('\'', "''")
    );
    for dataset in datasets {
        view(&mut sql, dataset, has(&dataset.name));
    }
    sql
}

fn view(sql: &mut String, dataset: &Dataset, has_files: bool) {
    let name = &dataset.name;
    if has_files {
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
        let _ = writeln!(
            sql,
            "CREATE OR REPLACE VIEW \"{name}\" AS SELECT * FROM read_parquet(getvariable('gridtally_root') || '/{}', {hive});",
            dataset.path
        );
    } else {
        let columns = dataset.columns.iter().chain(&dataset.partition);
        let columns: Vec<String> = columns
            .map(|c| format!("NULL::{} AS \"{}\"", c.kind.sql(), c.name))
            .collect();
        let _ = writeln!(
            sql,
            "CREATE OR REPLACE VIEW \"{name}\" AS SELECT {} WHERE false;",
            columns.join(", ")
        );
    }
    let _ = writeln!(
        sql,
        "COMMENT ON VIEW \"{name}\" IS '{}';",
        dataset.doc.replace('\'', "''")
    );
}
