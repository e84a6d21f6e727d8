//! The nodes of a lake as their last listings describe them.

use std::collections::BTreeMap;

use crate::energy::{EnergyCoreGap, EnergyPlan, ListedNode};
use crate::error::Result;
use crate::schema::batch::{int, number, text, time, word};
use crate::store::{Publication, read_table};

/// What is read of a listing.
const COLUMNS: [&str; 6] = ["site", "cluster", "node", "as_of_utc", "cpu_n", "effective_cpu_n"];

/// Rows of the energy table of nodes that state other cores than the last listings of these nodes.
pub(crate) fn core_gaps(publication: &Publication, energy: &EnergyPlan) -> Result<Vec<EnergyCoreGap>> {
    if energy.nodes.is_empty() {
        return Ok(Vec::new());
    }
    Ok(energy.core_gaps(&listed_nodes(publication)?))
}

/// The last dated listing of each node of a site.
fn listed_nodes(publication: &Publication) -> Result<Vec<ListedNode>> {
    let mut last: BTreeMap<(String, Option<String>, String), ListedNode> = BTreeMap::new();
    for file in publication.current("node") {
        for batch in read_table(publication.reader(&file.place)?, Some(&COLUMNS), 16_384)? {
            let batch = batch?;
            let (sites, clusters, nodes) = (text(&batch, "site")?, text(&batch, "cluster")?, text(&batch, "node")?);
            let (as_of, cpu) = (time(&batch, "as_of_utc")?, int(&batch, "cpu_n")?);
            let effective = int(&batch, "effective_cpu_n")?;
            for row in 0..batch.num_rows() {
                let (Some(site), Some(at_ms), Some(cpu_n)) = (word(sites, row), number(as_of, row), number(cpu, row))
                else {
                    continue;
                };
                let listed = ListedNode {
                    site: site.to_owned(),
                    cluster: word(clusters, row).map(str::to_owned),
                    node: nodes.value(row).to_owned(),
                    at_ms,
                    cpu_n,
                    effective_cpu_n: number(effective, row).unwrap_or(cpu_n),
                };
                let name = (listed.site.clone(), listed.cluster.clone(), listed.node.clone());
                if last.get(&name).is_none_or(|known| at_ms > known.at_ms) {
                    last.insert(name, listed);
                }
            }
        }
    }
    Ok(last.into_values().collect())
}
