//! `sacctmgr -P show qos`: qualities of service, with the factors by which usage and limits count.

use super::fields::InventoryFields;
use super::table;
use crate::reference::inventory::scheduler::USAGE_PLACES;
use crate::reference::inventory::{InventoryRow, QosRow};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

/// Columns with a place of their own; a dump names its cluster in another line.
const KNOWN: &[&str] = &[
    "cluster",
    "name",
    "priority",
    "usagefactor",
    "usagethres",
    "usagethreshold",
    "limitfactor",
    "flags",
    "preempt",
    "preemptmode",
    "gracetime",
    "description",
    "descr",
    "grptresmins",
];

/// Whether a line is the header of a listing of qualities of service.
pub(super) fn is_header(line: &str) -> bool {
    let columns = table::columns(line);
    let has = |name: &str| columns.iter().any(|column| column == name);
    has("name") && (has("usagefactor") || has("priority") && (has("gracetime") || has("preempt")))
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    table::read(bytes, is_header, "", sink, |fields| {
        quality(fields).map(|row| InventoryRow::Qos(Box::new(row)))
    });
}

/// Reads a quality of service from fields by their names in lower case.
pub(super) fn quality(fields: &InventoryFields<'_>) -> Result<QosRow, Refusal> {
    let either = |long: &'static str, short: &'static str| if fields.has(long) { long } else { short };
    let flags = fields.has("flags").then(|| fields.value("flags"));
    let has_flag = |name: &str| {
        let mut words = flags?.split([',', '|']).map(str::trim);
        Some(words.any(|flag| flag.eq_ignore_ascii_case(name)))
    };
    let limits: Vec<String> = fields
        .0
        .keys()
        .filter(|key| !KNOWN.contains(key))
        .filter_map(|key| Some(format!("{key}={}", fields.get(key)?)))
        .collect();
    Ok(QosRow {
        cluster: fields.text("cluster"),
        qos: fields.required("name")?.to_owned(),
        priority_n: fields.int("priority")?,
        usage_factor_e6: fields.decimal("usagefactor", USAGE_PLACES)?,
        usage_threshold_e6: fields.decimal(either("usagethreshold", "usagethres"), USAGE_PLACES)?,
        limit_factor_e6: fields.decimal("limitfactor", USAGE_PLACES)?,
        flags: fields.text("flags"),
        is_no_decay: has_flag("NoDecay"),
        is_usage_factor_safe: has_flag("UsageFactorSafe"),
        preempt: fields.owned_name("preempt"),
        preempt_mode: fields.text("preemptmode"),
        grace_time_s: grace_time_s(fields)?,
        description: fields.text(either("description", "descr")),
        grp_tres_mins: fields.text("grptresmins"),
        limits: (!limits.is_empty()).then(|| limits.join(";")),
    })
}

/// Seconds where it is one number, as `sacctmgr` takes it, and a duration as it prints it.
fn grace_time_s(fields: &InventoryFields<'_>) -> Result<Option<i64>, Refusal> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match fields.get("gracetime") {
        Some(text) if is_plain(text) => fields.int("gracetime"),
        _ => fields.seconds("gracetime"),
    }
}
