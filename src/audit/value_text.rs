//! The text of one value of a published column, as people read it.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Int64Type, TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, StructArray};
use arrow_schema::{DataType, TimeUnit};

use crate::error::{Error, Result};
use crate::schema::batch;
use crate::time::instant::instant_text;
use crate::time::month::date_of;

/// The value of a row, empty where it is null: decimals with all their places, instants in UTC without a mark of the zone,
/// identifiers as hexadecimal digits, lists as `[{name: value, name: value}, ..]`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] for a type that no dataset declares.
pub fn value_text(array: &dyn Array, row: usize) -> Result<String> {
    if array.is_null(row) {
        return Ok(String::new());
    }
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        kind if batch::is_coded(kind) => {
            let coded = array.as_dictionary::<UInt32Type>();
            let place = coded
                .key(row)
                .ok_or_else(|| Error::internal("a code beyond its column"))?;
            return value_text(coded.values(), place);
        }
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::FixedSizeBinary(_) => hex(array.as_fixed_size_binary().value(row)),
        DataType::Date32 => {
            let day = array.as_primitive::<Date32Type>().value(row);
            date_of(day).map_or_else(|| format!("day {day}"), |date| date.to_string())
        }
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            let ms = array.as_primitive::<TimestampMillisecondType>().value(row);
            instant_text(ms).map_or_else(|| format!("{ms} ms"), |text| text.trim_end_matches('Z').to_owned())
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            let elements = (0..list.len()).map(|element| value_text(&list, element));
            format!("[{}]", elements.collect::<Result<Vec<_>>>()?.join(", "))
        }
        DataType::Struct(_) => fields(array.as_struct(), row)?,
        kind => return Err(Error::internal(format!("no text of a {kind}"))),
    })
}

fn fields(element: &StructArray, row: usize) -> Result<String> {
    let named = element.fields().iter().zip(element.columns());
    let texts = named.map(|(field, array)| Ok(format!("{}: {}", field.name(), value_text(array, row)?)));
    Ok(format!("{{{}}}", texts.collect::<Result<Vec<_>>>()?.join(", ")))
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
