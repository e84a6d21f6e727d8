//! What columns of one value store for each row: zero, and all of them share those zeros.

use std::sync::LazyLock;

use arrow_array::types::UInt8Type;
use arrow_array::{PrimitiveArray, UInt8Array};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};

/// Rows of a column that the shared zeros suffice for: more than a batch that waits has.
const SHARED_ROWS: usize = 1 << 15;

static SHARED: LazyLock<Buffer> = LazyLock::new(|| Buffer::from(vec![0_u8; SHARED_ROWS]));

/// What a column of one value stores.
pub(super) fn zeros(rows: usize, nulls: Option<NullBuffer>) -> UInt8Array {
    let zeros = if rows <= SHARED_ROWS {
        SHARED.slice_with_length(0, rows)
    } else {
        Buffer::from(vec![0_u8; rows])
    };
    PrimitiveArray::<UInt8Type>::new(ScalarBuffer::new(zeros, 0, rows), nulls)
}
