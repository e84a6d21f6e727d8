//! What the cores of nodes did, day by day, as `overhead` has it.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{Int64Array, RecordBatch};

use crate::amounts::add_known;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::{addend, date, int, number, text, word};
use crate::time::Day;

/// Seconds of a day on which clocks are set back by an hour.
const LONGEST_DAY_S: i64 = 25 * 3600;

/// What cores of a node did, in the order of the parts of its energy.
pub const PARTS: [&str; 5] = [
    "allocated_core_s",
    "overhead_core_s",
    "stranded_core_s",
    "down_core_s",
    "reserved_core_s",
];

/// What the cores of a node did on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreDay {
    /// Core seconds in the order of [`PARTS`]; zero where the capacity is unknown.
    pub core_s: [i64; PARTS.len()],
    /// What jobs bear under the billing of the pipeline, core seconds; `None` where it is unknown.
    pub billed_core_s: Option<i64>,
    /// Seconds in which there was such a node.
    pub listed_s: i64,
}

impl CoreDay {
    /// Adds what the node was on that day in another cluster.
    fn add(&mut self, more: &Self) -> Result<()> {
        let too_large = || Error::internal("the core time of a node and day does not fit 63 bits");
        for (sum, part) in self.core_s.iter_mut().zip(more.core_s) {
            *sum = sum.checked_add(part).ok_or_else(too_large)?;
        }
        let mut billed = self.billed_core_s.map(i128::from);
        add_known(&mut billed, more.billed_core_s.map(i128::from), "billed_core_s")?;
        self.billed_core_s = billed.map(i64::try_from).transpose().map_err(|_| too_large())?;
        self.listed_s = self.listed_s.checked_add(more.listed_s).ok_or_else(too_large)?;
        Ok(())
    }
}

/// Of one node: by canonical unit, and by day; no unit on nodes that none is for.
pub(crate) type UnitDays = BTreeMap<Option<String>, BTreeMap<Day, CoreDay>>;

/// Of the nodes of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeDays {
    nodes: BTreeMap<String, UnitDays>,
    /// Nodes that two clusters have at the same time.
    shared: BTreeSet<String>,
}

impl NodeDays {
    /// Adds a batch of `overhead`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is none, or a sum does not fit.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let (node, unit, day) = (text(batch, "node")?, text(batch, "unit")?, date(batch, "day")?);
        let parts: Vec<&Int64Array> = PARTS.iter().map(|name| int(batch, name)).collect::<Result<_>>()?;
        let (billed, node_s) = (int(batch, "billed_core_s")?, int(batch, "node_s")?);
        for row in 0..batch.num_rows() {
            let mut core_s = [0; PARTS.len()];
            for (value, column) in core_s.iter_mut().zip(&parts) {
                *value = addend(number(column, row));
            }
            let given = CoreDay {
                core_s,
                billed_core_s: number(billed, row),
                listed_s: node_s.value(row),
            };
            let units = self.nodes.entry(node.value(row).to_owned()).or_default();
            let days = units.entry(word(unit, row).map(str::to_owned)).or_default();
            let of_day = days.entry(day.value(row)).or_default();
            of_day.add(&given)?;
            if of_day.listed_s > LONGEST_DAY_S {
                self.shared.insert(node.value(row).to_owned());
            }
        }
        Ok(())
    }

    /// Refuses a node that two clusters have at the same time: its meter would be split over both.
    ///
    /// # Errors
    /// [`Kind::Config`] when it is one.
    pub(crate) fn hold_single(&self, node: &str) -> Result<()> {
        if !self.shared.contains(node) {
            return Ok(());
        }
        let message = format!(
            "[energy] meters: several clusters have a node {node} at the same time, and what its meter counted would be split \
             over both: take the rows of such nodes out of the table"
        );
        Err(Error::new(Kind::Config, message))
    }

    /// The names of the nodes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// The units of a node; no unit alone where none is for it, or the node is not listed.
    pub(crate) fn units(&self, node: &str) -> BTreeSet<Option<String>> {
        let named = self.nodes.get(node).into_iter().flat_map(BTreeMap::keys);
        let units: BTreeSet<Option<String>> = named.filter(|unit| unit.is_some()).cloned().collect();
        if units.is_empty() {
            BTreeSet::from([None])
        } else {
            units
        }
    }

    /// The days of a node under a unit, with those on which no unit was for it.
    pub(crate) fn days(&self, node: &str, unit: Option<&String>) -> BTreeMap<Day, CoreDay> {
        let mut days = BTreeMap::new();
        let Some(units) = self.nodes.get(node) else { return days };
        for key in [None, unit.cloned()] {
            days.extend(units.get(&key).into_iter().flatten().map(|(day, cores)| (*day, *cores)));
        }
        days
    }
}
