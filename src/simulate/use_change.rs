//! What is taken and given back while a schedule is looked at in the order of time.

use super::demand::Demand;
use crate::runtime::column_value::{ByteFields, ColumnValue};

/// An amount that is taken or given back; what is given back comes first in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UseChange {
    pub(super) at_s: i64,
    pub(super) is_start: bool,
    pub(super) amounts: Demand,
}

impl ColumnValue for UseChange {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.at_s.to_le_bytes());
        bytes.push(u8::from(self.is_start));
        self.amounts.encode(bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            at_s: bytes.signed(),
            is_start: bytes.byte() == 1,
            amounts: Demand::decode(bytes),
        }
    }
}
