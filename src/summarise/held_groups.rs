//! Groups of usage that wait for those of other months.

use arrow_array::RecordBatch;

use super::group::{Groups, UsageGroup, to_batch};
use crate::error::Result;
use crate::runtime::scratch::PackedBatch;
use crate::schema;

/// So few groups take less as they are.
const FEW: usize = 64;

/// The groups of a site and month, sorted. Where they are many they are packed: a lake has hundreds of months, and all of a run
/// wait until the last one is merged.
#[derive(Debug)]
pub struct HeldGroups(Held);

#[derive(Debug)]
enum Held {
    Few(Vec<UsageGroup>),
    /// As a `usage_part` batch.
    Packed(PackedBatch),
}

impl HeldGroups {
    /// Holds groups in their order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they do not make a `usage_part`.
    pub fn new(groups: Vec<UsageGroup>) -> Result<Self> {
        if groups.len() <= FEW {
            return Ok(Self(Held::Few(groups)));
        }
        Ok(Self(Held::Packed(PackedBatch::pack(&batch(&groups)?)?)))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Held::Few(groups) if groups.is_empty())
    }

    /// As a `usage_part` batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they do not make one.
    pub fn batch(&self) -> Result<RecordBatch> {
        match &self.0 {
            Held::Few(groups) => batch(groups),
            Held::Packed(packed) => packed.unpack(),
        }
    }

    /// The groups.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when what was packed is not a `usage_part`.
    pub fn groups(&self) -> Result<Vec<UsageGroup>> {
        match &self.0 {
            Held::Few(groups) => Ok(groups.clone()),
            Held::Packed(packed) => {
                let mut groups = Groups::default();
                groups.add_batch(&packed.unpack()?)?;
                Ok(groups.into_sorted())
            }
        }
    }
}

fn batch(groups: &[UsageGroup]) -> Result<RecordBatch> {
    to_batch(groups, schema::dataset("usage_part")?)
}
