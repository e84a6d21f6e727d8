//! The batch system's description of its own machine: every form of it, and the lake made of it.

mod changed;
mod damage;
mod formats;
mod lake;
mod machines;
mod real;
mod renderings;
mod scheduler;
mod scheduler_real;
mod tables;

use std::sync::Arc;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::reference::inventory::{
    AssociationRow, EventRow, InventoryPlaced, InventoryRow, NodeRow, PartitionRow, QosRow, QueuedJobRow,
    ReservationRow, SettingRow, ShareRow,
};
use gridtally::sources::inventory::{InventoryKind, pieces, recognise};
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::{Position, Sink};

/// All rows of a reader.
#[derive(Debug, Default)]
pub(crate) struct InventoryRows {
    rows_read: u64,
    rows: Vec<InventoryPlaced>,
    rejects: Vec<(Reason, u64, String)>,
    out_of_scope: Vec<(Reason, u64)>,
}

impl Sink for InventoryRows {
    fn rows_read(&mut self, n: u64) {
        self.rows_read += n;
    }

    fn job(&mut self, row: &JobRow<'_>, _: Position, _: u32) {
        panic!("an inventory has no jobs: {row:?}");
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, _: &[u8]) {
        assert_eq!(rows, 1);
        self.rejects.push((reason, at.line, detail.to_owned()));
    }

    fn inventory(&mut self, row: &InventoryRow, at: Position, rows: u64) {
        self.rows.push(InventoryPlaced {
            row: row.clone(),
            line: at.line,
            input_row_n: rows,
        });
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.out_of_scope.push((reason, rows));
    }
}

impl InventoryRows {
    fn nodes(&self) -> Vec<&NodeRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Node(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn events(&self) -> Vec<&EventRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Event(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn partitions(&self) -> Vec<&PartitionRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Partition(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn associations(&self) -> Vec<&AssociationRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Association(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn qualities(&self) -> Vec<&QosRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Qos(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn shares(&self) -> Vec<&ShareRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Share(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn reservations(&self) -> Vec<&ReservationRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Reservation(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn settings(&self) -> Vec<&SettingRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::Setting(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    fn queued_jobs(&self) -> Vec<&QueuedJobRow> {
        let of = |placed| match placed {
            &InventoryPlaced {
                row: InventoryRow::QueuedJob(ref row),
                ..
            } => Some(&**row),
            _ => None,
        };
        self.rows.iter().filter_map(of).collect()
    }

    pub(crate) fn reasons(&self) -> Vec<Reason> {
        self.rejects.iter().map(|(reason, ..)| *reason).collect()
    }
}

/// Reads a file as a form of inventory; every row must have one outcome.
pub(crate) fn read_as(kind: InventoryKind, bytes: &[u8], zone: Option<&str>) -> InventoryRows {
    let plan = ReaderOptions {
        format: kind.dialect().format(),
        ..crate::sacct::plan(zone)
    };
    let mut reported = InventoryRows::default();
    for work in pieces(kind, Box::new(std::io::Cursor::new(bytes.to_vec())), Arc::new(plan)).unwrap() {
        work.unwrap()(&mut reported);
    }
    let accounted: u64 = reported.rows.iter().map(|row| row.input_row_n).sum();
    let elsewhere: u64 = reported.out_of_scope.iter().map(|(_, rows)| rows).sum();
    let refused = u64::try_from(reported.rejects.len()).unwrap();
    assert_eq!(reported.rows_read, accounted + elsewhere + refused, "{reported:#?}");
    reported
}

/// Reads a file in the format recognised from its content.
fn read(text: &str, kind: InventoryKind) -> InventoryRows {
    assert_eq!(recognise(text.as_bytes()), Some(kind), "{text}");
    read_as(kind, text.as_bytes(), Some("Europe/Zurich"))
}

/// The only row of a kind.
fn only<T: Clone>(rows: &[&T]) -> T {
    assert_eq!(rows.len(), 1);
    rows.first().map(|row| (*row).clone()).unwrap()
}
