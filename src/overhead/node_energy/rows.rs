//! The rows of `node_energy`.

use std::cmp::Ordering;

use arrow_array::RecordBatch;

use super::split::NodeEnergy;
use crate::error::{Error, Kind, Result};
use crate::schema;
use crate::schema::batch::{int, ints, number, text, texts, word};

/// Energy of a node under a canonical unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEnergyRow {
    /// Node.
    pub node: String,
    /// Canonical unit; `None` where no unit is for the node, or it is not listed.
    pub unit: Option<String>,
    /// Its energy.
    pub energy: NodeEnergy,
}

impl NodeEnergyRow {
    /// The order of the rows.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        (&self.node, &self.unit).cmp(&(&other.node, &other.unit))
    }
}

/// A column of numbers, and where it is kept.
struct EnergyColumn {
    name: &'static str,
    get: fn(&NodeEnergy) -> Option<i128>,
    set: fn(&mut NodeEnergy, Option<i128>),
}

/// The columns after node and unit, in the order of the dataset.
const COLUMNS: [EnergyColumn; 13] = [
    sum("meter_j", |of| Some(of.meter_j), |of, n| of.meter_j = whole(n)),
    sum("jobs_j", |of| Some(of.parts_j[0]), |of, n| of.parts_j[0] = whole(n)),
    sum("overhead_j", |of| Some(of.parts_j[1]), |of, n| of.parts_j[1] = whole(n)),
    sum("stranded_j", |of| Some(of.parts_j[2]), |of, n| of.parts_j[2] = whole(n)),
    sum("down_j", |of| Some(of.parts_j[3]), |of, n| of.parts_j[3] = whole(n)),
    sum("reserved_j", |of| Some(of.parts_j[4]), |of, n| of.parts_j[4] = whole(n)),
    sum("unlisted_j", |of| Some(of.unlisted_j), |of, n| of.unlisted_j = whole(n)),
    sum(
        "cpu_known_j",
        |of| Some(of.cpu_known_j),
        |of, n| of.cpu_known_j = whole(n),
    ),
    sum("jobs_cpu_j", |of| of.jobs_cpu_j, |of, n| of.jobs_cpu_j = n),
    sum("idle_j", |of| of.idle_j, |of, n| of.idle_j = n),
    sum("billed_j", |of| of.billed_j, |of, n| of.billed_j = n),
    sum("metered_ms", |of| Some(of.metered_ms), |of, n| of.metered_ms = whole(n)),
    sum("node_s", |of| Some(of.node_s), |of, n| of.node_s = whole(n)),
];

const fn sum(
    name: &'static str,
    get: fn(&NodeEnergy) -> Option<i128>,
    set: fn(&mut NodeEnergy, Option<i128>),
) -> EnergyColumn {
    EnergyColumn { name, get, set }
}

/// A number of a column that is never null.
fn whole(number: Option<i128>) -> i128 {
    crate::absent::entry(number)
}

/// The rows as a batch of the dataset.
///
/// # Errors
/// [`Kind::Data`] naming node and column of a sum that is too large.
pub(super) fn to_batch(rows: &[NodeEnergyRow]) -> Result<RecordBatch> {
    let mut columns = vec![
        texts(rows.iter().map(|row| Some(&row.node))),
        texts(rows.iter().map(|row| row.unit.as_ref())),
    ];
    for column in COLUMNS {
        let values = rows.iter().map(|row| {
            let value = (column.get)(&row.energy).map(i64::try_from).transpose();
            value.map_err(|_| {
                let message = format!("{} of node {} does not fit 63 bits", column.name, row.node);
                Error::new(Kind::Data, message)
            })
        });
        columns.push(ints(values.collect::<Result<Vec<_>>>()?));
    }
    schema::dataset("node_energy")?.batch(columns)
}

/// The rows of a batch of the dataset.
///
/// # Errors
/// [`Kind::Internal`] when it is none.
pub fn of_batch(batch: &RecordBatch) -> Result<Vec<NodeEnergyRow>> {
    let (node, unit) = (text(batch, "node")?, text(batch, "unit")?);
    let mut rows: Vec<NodeEnergyRow> = (0..batch.num_rows())
        .map(|row| NodeEnergyRow {
            node: node.value(row).to_owned(),
            unit: word(unit, row).map(str::to_owned),
            energy: NodeEnergy::default(),
        })
        .collect();
    for column in COLUMNS {
        let values = int(batch, column.name)?;
        for (nth, row) in rows.iter_mut().enumerate() {
            (column.set)(&mut row.energy, number(values, nth).map(i128::from));
        }
    }
    Ok(rows)
}

/// The first column in which two rows differ, with both values.
pub(super) fn difference(was: &NodeEnergy, is: &NodeEnergy) -> Option<String> {
    let shown = |value: Option<i128>| value.map_or("unknown".to_owned(), |value| value.to_string());
    let differs = |column: &EnergyColumn| (column.get)(was) != (column.get)(is);
    COLUMNS.iter().find(|column| differs(column)).map(|column| {
        let (was, is) = (shown((column.get)(was)), shown((column.get)(is)));
        format!("{} is {was}, but comes to {is}", column.name)
    })
}
