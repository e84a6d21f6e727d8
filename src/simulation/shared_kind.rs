//! Kinds of resources that a cluster has as a whole and not on nodes: burst buffer and licences.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ListArray, RecordBatch};

use crate::amounts;
use crate::error::{Error, Result};
use crate::schema::batch::column;
use crate::simulate::machine::ResourceKind;

/// The kind of resource that is burst buffer.
pub const BURST_BUFFER: &str = "burst_buffer_gb";
/// What the kind of a licence begins with: `licenses:matlab`.
const OF_LICENSE: &str = "licenses:";
/// Bytes of a gigabyte.
const GB: i64 = 1_000_000_000;

/// A kind that a cluster has as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedKind {
    /// Burst buffer of all pools, gigabytes.
    BurstBuffer,
    /// Burst buffer of one pool, gigabytes.
    Pool(String),
    /// Licences of a name.
    License(String),
}

impl SharedKind {
    /// The kind that is called so; `None` for a kind that nodes have.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let of = |prefix: &str| {
            let rest = name.strip_prefix(prefix).filter(|rest| !rest.is_empty());
            rest.map(str::to_owned)
        };
        if name == BURST_BUFFER {
            return Some(Self::BurstBuffer);
        }
        let pool = of(BURST_BUFFER).and_then(|rest| rest.strip_prefix(':').map(str::to_owned));
        match pool.filter(|pool| !pool.is_empty()) {
            Some(pool) => Some(Self::Pool(pool)),
            None => of(OF_LICENSE).map(Self::License),
        }
    }

    /// The kinds among these that a cluster has as a whole, each once, in their order.
    #[must_use]
    pub fn among(kinds: &[ResourceKind]) -> Vec<Self> {
        let mut found = Vec::new();
        for kind in kinds.iter().filter_map(|kind| Self::named(&kind.name)) {
            if !found.contains(&kind) {
                found.push(kind);
            }
        }
        found
    }
}

/// The columns of records with what jobs have of the cluster as a whole.
pub(super) struct SharedColumns<'a> {
    burst_buffers: &'a ListArray,
    licenses: &'a ListArray,
}

impl<'a> SharedColumns<'a> {
    pub(super) fn of(batch: &'a RecordBatch) -> Result<Self> {
        let list = |name| {
            let list = column(batch, name)?.as_list_opt::<i32>();
            list.ok_or_else(|| Error::internal(format!("{name} is not a list")))
        };
        Ok(Self {
            burst_buffers: list("burst_buffer_byte")?,
            licenses: list("licenses")?,
        })
    }

    /// Whether a row has burst buffer, and whether it has licences.
    pub(super) fn has(&self, row: usize) -> [bool; 2] {
        [self.burst_buffers, self.licenses].map(|list| list.is_valid(row))
    }

    /// What a row has of each kind, in their order.
    pub(super) fn row(&self, row: usize, kinds: &[SharedKind]) -> Result<Vec<i64>> {
        kinds.iter().map(|kind| self.amount(row, kind)).collect()
    }

    fn amount(&self, row: usize, kind: &SharedKind) -> Result<i64> {
        match kind {
            SharedKind::BurstBuffer => gigabytes(self.burst_buffers, row, |_| true),
            SharedKind::Pool(pool) => gigabytes(self.burst_buffers, row, |name| name == pool),
            SharedKind::License(license) => sum(self.licenses, row, |name| name == license),
        }
    }
}

/// Bytes as gigabytes, rounded up.
fn gigabytes(list: &ListArray, row: usize, is_meant: impl Fn(&str) -> bool) -> Result<i64> {
    let byte = sum(list, row, is_meant)?;
    Ok(byte.div_euclid(GB) + i64::from(byte.rem_euclid(GB) > 0))
}

/// What a row has of the names that are meant.
fn sum(list: &ListArray, row: usize, is_meant: impl Fn(&str) -> bool) -> Result<i64> {
    if list.is_null(row) {
        return Ok(0);
    }
    let entries = list.value(row);
    let entries = entries.as_struct_opt();
    let entries = entries.ok_or_else(|| Error::internal("amounts with names are no structs"))?;
    let names = entries.column(0).as_string::<i32>();
    let amounts_of_names = entries.column(1).as_primitive::<Int64Type>();
    let mut all = 0;
    for (name, amount) in names.iter().zip(amounts_of_names.values()) {
        if name.is_some_and(&is_meant) {
            amounts::add(&mut all, *amount, "burst_buffer_byte or licenses")?;
        }
    }
    Ok(all)
}
