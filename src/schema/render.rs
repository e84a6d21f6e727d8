//! Reference tables and JSON, from the same declaration.

use serde_json::{Value, json};

use super::dataset::{Column, Dataset};

/// The reference page of one dataset.
#[must_use]
pub fn markdown(dataset: &Dataset) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        page.push_str(&text);
        page.push('\n');
    };
    line(format!(
        "## {} (`{}`, version {})",
        dataset.title, dataset.name, dataset.version
    ));
    line(String::new());
    line(dataset.doc.clone());
    line(String::new());
    line(format!(
        "Path `{}`; {}; sorted by {}.",
        dataset.path,
        dataset.grain,
        quoted(&dataset.sort)
    ));
    line(String::new());
    line("| column | type | unit | null | meaning | from |".to_owned());
    line("|---|---|---|---|---|---|".to_owned());
    for column in &dataset.partition {
        line(row(column, "path"));
    }
    for column in &dataset.columns {
        let origin: Vec<String> = column
            .origin
            .iter()
            .map(|(source, field)| format!("{source}: {field}"))
            .collect();
        line(row(column, &origin.join("; ")));
    }
    line(String::new());
    for change in &dataset.changes {
        line(format!("* version {}: {}", change.version, change.note));
    }
    page
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

fn row(column: &Column, origin: &str) -> String {
    format!(
        "| `{}` | {} | {} | {} | {} | {} |",
        column.name,
        column.kind.sql(),
        column.unit,
        if column.null { "yes" } else { "no" },
        column.doc.replace('|', "\\|"),
        origin.replace('|', "\\|"),
    )
}

/// One dataset for tools.
#[must_use]
pub fn json(dataset: &Dataset) -> Value {
    let column = |c: &Column| {
        json!({
            "name": c.name, "type": c.kind.sql(), "unit": c.unit, "null": c.null, "doc": c.doc, "from": c.origin,
        })
    };
    json!({
        "name": dataset.name,
        "version": dataset.version,
        "title": dataset.title,
        "doc": dataset.doc,
        "grain": dataset.grain,
        "path": dataset.path,
        "sort": dataset.sort,
        "partition": dataset.partition.iter().map(column).collect::<Vec<_>>(),
        "columns": dataset.columns.iter().map(column).collect::<Vec<_>>(),
        "changes": dataset.changes.iter().map(|c| json!({"version": c.version, "note": c.note})).collect::<Vec<_>>(),
    })
}

/// `docs/reference/columns.md`: every reference page.
#[must_use]
pub fn reference(datasets: &[Dataset]) -> String {
    let mut page = String::from(
        "# Every column of every dataset\n\nRendered from the files in `schemas`; `gridtally schema` prints the same. Times are UTC, stored\nwithout a zone and named `_utc`. Periods are half-open. Unknown is null and never zero.\n",
    );
    for dataset in datasets {
        page.push('\n');
        page.push_str(&markdown(dataset));
    }
    page
}
