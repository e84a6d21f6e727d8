//! `[capacity]` of the pipeline file, and what is published of it.

use super::compile::Compiler;
use super::plan::Plan;
use super::section::{At, Section};
use super::state::State;
use crate::capacity::monthly::{monthly, to_batch};
use crate::error::Result;
use crate::problems::Problems;
use crate::reference::node_type::NodeTypeTable;
use crate::schema::batch::{decimal, int, number, time};
use crate::store::lake::{self, LakeTable};
use crate::store::{Manifest, Publication, Store, read_table};
use crate::time::Month;

/// The table of nodes the published capacity was made of.
pub(super) const FACT: &str = "capacity";

/// Reads the table: its path.
pub(super) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<At<String>> {
    let section = top.section("capacity", "[capacity]", &["node_types"], problems)?;
    section.required_text("node_types", "the table of node types", problems)
}

impl Compiler {
    /// The table of node types that `[capacity]` names.
    pub(super) fn node_types(&mut self, path: &At<String>) -> Option<NodeTypeTable> {
        let place = self.beside(path, "a table of node types")?;
        let label = self.table_label(&path.value);
        Some(NodeTypeTable::load(place.as_ref(), &label, &mut self.problems))
    }
}

/// What of a plan decides capacity; `None` when it says nothing of it.
pub(super) fn fingerprint(plan: &Plan) -> Option<String> {
    let table = plan.capacity.as_ref()?;
    let text = format!("{:?}\n{}", plan.calendar_zone, table.canonical());
    Some(blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// Whether what is published was made of another table.
pub(super) fn is_changed(plan: &Plan, state: &State) -> bool {
    state.fact(FACT) != fingerprint(plan).as_deref()
}

/// Stages the capacity of every site, from the month the table begins with to the month after the last one with usage;
/// takes away that of sites the table no longer has.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be staged.
pub(super) fn publish(plan: &Plan, publication: &Publication) -> Result<()> {
    for file in publication
        .published()
        .into_iter()
        .flat_map(|lake| lake.dataset("capacity"))
    {
        // What is added below stays.
        publication.remove(&file.path);
    }
    let Some(table) = &plan.capacity else {
        return Ok(());
    };
    let months = publication.paths("usage_part");
    let months = months.iter().filter_map(|path| lake::parse_month_path(path));
    let months: Vec<Month> = months.map(|(_, month)| month).collect();
    let (Some(first), Some(last)) = (months.iter().min(), months.iter().max()) else {
        return Ok(());
    };
    for site in table.sites() {
        let lines = monthly(table, site, &plan.calendar_zone, *first, last.next());
        if lines.is_empty() {
            continue;
        }
        let mut file = LakeTable::create(publication, "capacity", &lake::capacity_path(site))?;
        file.write(&to_batch(&lines)?)?;
        file.finish(&[])?;
    }
    Ok(())
}

/// Holds every row against itself: capacity is what is installed times how long. Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(super) fn verify(store: &Store, manifest: &Manifest) -> Result<Vec<(String, String)>> {
    let declared = crate::schema::dataset("capacity")?;
    let mut findings = Vec::new();
    for file in manifest.dataset("capacity") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            if let Err(why) = declared.admit(&batch) {
                findings.push((file.path.clone(), why.to_string()));
                break;
            }
            let (from, until) = (time(&batch, "from_utc")?, time(&batch, "until_utc")?);
            let (logical_n, logical_s) = (int(&batch, "logical_cpu_n")?, int(&batch, "logical_cpu_s")?);
            let mut pairs = Vec::new();
            for benchmark in ["hs06", "hs23", "si00"] {
                let installed = decimal(&batch, &format!("installed_{benchmark}"))?;
                pairs.push((installed, decimal(&batch, &format!("capacity_{benchmark}_s"))?));
            }
            for row in 0..batch.num_rows() {
                let ms = until.value(row).saturating_sub(from.value(row));
                let is_told = pairs.iter().all(|(installed, capacity)| {
                    let expected = number(installed, row).map(|e4| e4.saturating_mul(i128::from(ms)));
                    number(capacity, row) == expected
                });
                if ms <= 0 || !is_told || logical_s.value(row) != logical_n.value(row).saturating_mul(ms / 1000) {
                    findings.push((
                        file.path.clone(),
                        format!("row {row} is not what is installed times how long"),
                    ));
                    break;
                }
            }
        }
    }
    Ok(findings)
}
