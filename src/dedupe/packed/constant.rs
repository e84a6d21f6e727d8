//! Columns of one value: what they store for each row is zero, and all of them share those zeros.

use std::sync::LazyLock;

use arrow::array::{AnyDictionaryArray, Array, ArrayRef, AsArray, PrimitiveArray, UInt8Array};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{Field, UInt8Type};

use super::integer::only_value;

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

/// Whether a packed column has the same in every row.
pub(super) fn is_constant(field: &Field, array: &ArrayRef) -> bool {
    let is_one_text = || {
        let entries = array.as_any_dictionary_opt().map(AnyDictionaryArray::values);
        entries.is_some_and(|entries| entries.len() == 1)
    };
    array.null_count() == 0 && (only_value(field).is_some() || is_one_text())
}

/// Bytes that a packed column keeps in memory for itself, about: shared zeros are nobody's.
pub(in crate::dedupe) fn own_byte_n(field: &Field, array: &ArrayRef) -> usize {
    let of_nulls = || array.nulls().map_or(0, |nulls| nulls.buffer().capacity());
    if only_value(field).is_some() {
        return of_nulls();
    }
    match array.as_any_dictionary_opt().map(AnyDictionaryArray::values) {
        Some(entries) if entries.len() == 1 => of_nulls() + entries.get_buffer_memory_size(),
        _ => array.get_buffer_memory_size(),
    }
}
