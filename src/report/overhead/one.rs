//! One table of the report, of all clusters and units: for programs.

use super::data::{OverheadPageCluster, OverheadPagePlace, OverheadView};
use super::{Overhead, tables};
use crate::report::table::{Cell, ColumnKind, Table, TableColumn};

/// A table of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OverheadTable {
    /// Capacity of each resource, and what became of it.
    Ledger,
    /// How much of the time how many units were free on a node.
    Histogram,
    /// Units free by the time of the week.
    Week,
    /// By partition.
    Partitions,
    /// Nodes with the most overhead.
    Nodes,
    /// By day.
    Days,
    /// Jobs that waited and would have fitted.
    Queue,
    /// The resources free together on a node.
    Shapes,
    /// What cannot be, by kind.
    FindingKinds,
    /// What cannot be.
    Findings,
}

impl OverheadTable {
    fn of_view(self, view: &OverheadView) -> Option<Table> {
        Some(match self {
            Self::Ledger => tables::ledger(view),
            Self::Histogram => tables::histogram(view),
            Self::Week if view.hours.is_empty() => return None,
            Self::Week => tables::hours_of_week(view),
            Self::Partitions => tables::partitions(view),
            Self::Nodes => tables::nodes(view),
            Self::Days => tables::days(view),
            Self::Queue | Self::Shapes | Self::FindingKinds | Self::Findings => return None,
        })
    }

    fn of_cluster(self, cluster: &OverheadPageCluster) -> Option<Table> {
        Some(match self {
            Self::Queue => tables::queues(cluster),
            Self::Shapes => tables::shapes(cluster),
            Self::FindingKinds => tables::finding_kinds(cluster),
            Self::Findings => tables::findings(cluster),
            _ => return None,
        })
    }
}

impl Overhead {
    /// One table: its rows of every cluster and unit, each with its cluster and unit. The subject of a part's title (of which
    /// resource it is) is in the column `table`.
    #[must_use]
    pub fn table(&self, which: OverheadTable) -> Table {
        let mut all = Table::default();
        for (place, cluster) in &self.clusters {
            for (unit, view) in &cluster.views {
                append(&mut all, place, unit.as_deref(), which.of_view(view));
            }
            append(&mut all, place, None, which.of_cluster(cluster));
        }
        all
    }
}

fn append(all: &mut Table, place: &OverheadPagePlace, unit: Option<&str>, part: Option<Table>) {
    let Some(part) = part else { return };
    let lead = ["site", "cluster", "canonical_unit", "table"].map(|name| TableColumn {
        name: name.to_owned(),
        unit: "",
        kind: ColumnKind::Text,
        has_all_digits: false,
    });
    // Nodes are in several tables, and units are of the same nodes: nothing has a total.
    let own = part.columns.iter().map(|column| TableColumn {
        kind: match column.kind {
            ColumnKind::Sum => ColumnKind::Number,
            ColumnKind::DecimalSum(scale) => ColumnKind::Decimal(scale),
            kind => kind,
        },
        ..column.clone()
    });
    let columns: Vec<TableColumn> = lead.into_iter().chain(own).collect();
    if all.columns.is_empty() {
        all.title.clone_from(&part.title);
        all.columns = columns;
    } else {
        for (known, column) in all.columns.iter_mut().zip(&columns) {
            if known.unit != column.unit {
                known.unit = "";
            }
        }
    }
    for row in part.rows {
        let of = [
            Cell::text(&place.site),
            Cell::text(&place.cluster),
            Cell::word(unit),
            Cell::text(&part.title),
        ];
        all.push(of.into_iter().chain(row).collect());
    }
}
