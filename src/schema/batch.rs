//! Columns of a batch by name and type, and arrays from iterators: what every room does at its door.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Int64Array,
    PrimitiveArray, RecordBatch, StringArray, TimestampMillisecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take;

use super::dataset::Dataset;
use crate::error::{Error, Result};
use crate::numbers::counted_i64;

/// The column called `name`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when there is none: the batch came through a door that should have checked.
pub fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let found = batch.column_by_name(name);
    found.ok_or_else(|| Error::internal(format!("a batch lacks the column {name}")))
}

macro_rules! typed {
    ($($(#[doc = $doc:literal])+ $name:ident -> $array:ty, $cast:ident;)+) => {$(
        $(#[doc = $doc])+
        ///
        /// # Errors
        /// [`crate::error::Kind::Internal`] when there is none, or it is of another type.
        pub fn $name<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a $array> {
            let found = column(batch, name)?.$cast();
            found.ok_or_else(|| Error::internal(format!("the column {name} is of another type")))
        }
    )+};
}

typed! {
    /// A text column.
    text -> StringArray, as_string_opt;
    /// An integer column.
    int -> Int64Array, as_primitive_opt;
    /// An unsigned integer column.
    uint -> UInt64Array, as_primitive_opt;
    /// A column of instants, Unix milliseconds.
    time -> TimestampMillisecondArray, as_primitive_opt;
    /// A column of dates.
    date -> Date32Array, as_primitive_opt;
    /// A column of decimals.
    decimal -> Decimal128Array, as_primitive_opt;
    /// A column of truth values.
    flag -> BooleanArray, as_boolean_opt;
    /// A column of identities.
    id -> FixedSizeBinaryArray, as_fixed_size_binary_opt;
}

/// The text of a row, `None` when null.
pub fn word(column: &StringArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}

/// The text of a row, empty when null: for keys and tables, in which a name that is unknown stands as an empty one.
pub fn word_or_empty(column: &StringArray, row: usize) -> &str {
    // Fallback: an unknown name is empty, as the function states.
    word(column, row).unwrap_or_default()
}

/// A column of texts, as declared or as codes of a dictionary.
#[derive(Clone, Copy, Debug)]
pub enum ColumnWords<'a> {
    /// A text for each row.
    Plain(&'a StringArray),
    /// A code for each row, and the texts.
    Coded(&'a UInt32Array, &'a StringArray),
}

impl<'a> ColumnWords<'a> {
    /// The text of a row, `None` when null.
    #[inline]
    pub fn get(self, row: usize) -> Option<&'a str> {
        match self {
            Self::Plain(texts) => word(texts, row),
            Self::Coded(codes, entries) => {
                let code = number(codes, row).and_then(|code| usize::try_from(code).ok())?;
                (code < entries.len()).then(|| entries.value(code))
            }
        }
    }

    /// The text of a row, empty when null.
    #[inline]
    pub fn value(self, row: usize) -> &'a str {
        // Fallback: empty when null, as the method states.
        self.get(row).unwrap_or_default()
    }
}

/// A column of texts, coded or not.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when there is none, or it is of another type.
pub fn words<'a>(batch: &'a RecordBatch, name: &str) -> Result<ColumnWords<'a>> {
    words_of(column(batch, name)?)
}

/// An array of texts, coded or not.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is of another type.
pub fn words_of(array: &ArrayRef) -> Result<ColumnWords<'_>> {
    if let Some(texts) = array.as_string_opt::<i32>() {
        return Ok(ColumnWords::Plain(texts));
    }
    codes(array).map(|(codes, entries)| ColumnWords::Coded(codes, entries))
}

/// Codes and entries of a coded column of texts.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not one.
pub fn codes(array: &ArrayRef) -> Result<(&UInt32Array, &StringArray)> {
    let array = array.as_dictionary_opt::<UInt32Type>();
    let parts = array.and_then(|array| Some((array.keys(), array.values().as_string_opt::<i32>()?)));
    parts.ok_or_else(|| Error::internal("a column of texts is neither plain nor coded"))
}

/// The type of a column that holds codes of texts.
#[must_use]
pub fn coded_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

/// Whether a column of this type holds codes of texts.
pub fn is_coded(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(key, entries) if **key == DataType::UInt32 && **entries == DataType::Utf8)
}

/// The texts of a coded array, whatever its codes; another array as it is.
///
/// # Errors
/// [`crate::error::Kind::Internal`] never: codes always stand for texts.
pub fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    match array.as_any_dictionary_opt() {
        Some(coded) => Ok(take(coded.values(), coded.keys(), None)?),
        None => Ok(ArrayRef::clone(array)),
    }
}

/// A coded array of texts.
#[must_use]
pub fn encoded(texts: &StringArray) -> ArrayRef {
    Arc::new(texts.iter().collect::<DictionaryArray<UInt32Type>>())
}

/// The batch with all coded texts as texts.
///
/// # Errors
/// [`crate::error::Kind::Internal`] never: codes always stand for texts.
pub fn decoded(batch: &RecordBatch) -> Result<RecordBatch> {
    if !batch.columns().iter().any(|array| is_coded(array.data_type())) {
        return Ok(batch.clone());
    }
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| {
        let array = plain(array)?;
        Ok((Field::clone(field).with_data_type(array.data_type().clone()), array))
    });
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}

/// The number of a row, `None` when null.
pub fn number<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

/// What a number adds to a sum: an unknown one adds nothing, and is counted where the schema counts what is unknown.
#[must_use]
pub fn addend<N: Default>(number: Option<N>) -> N {
    // Fallback: what is unknown adds nothing, and is counted as unknown elsewhere.
    number.unwrap_or_default()
}

/// The identity of a row.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the column does not hold 16 bytes.
pub fn identity(column: &FixedSizeBinaryArray, row: usize) -> Result<u128> {
    let bytes = <[u8; 16]>::try_from(column.value(row));
    bytes
        .map(u128::from_be_bytes)
        .map_err(|_| Error::internal("an identity is not 16 bytes long"))
}

/// The identity that a text states, as people write it: hexadecimal, with or without dashes.
#[must_use]
pub fn stated_identity(text: &str) -> Option<u128> {
    let digits = text.replace('-', "");
    let is_whole = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let identity = is_whole.then(|| u128::from_str_radix(&digits, 16))?;
    // Fallback: never taken, 32 hexadecimal digits are a number of the type.
    identity.ok()
}

/// An array of texts.
pub fn texts<S: AsRef<str>>(values: impl IntoIterator<Item = Option<S>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<StringArray>())
}

/// An array of texts that repeat: those of `entries` by their place, as often as `codes` names them.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a code has no text.
pub fn coded_texts<S: AsRef<str>>(
    entries: impl IntoIterator<Item = Option<S>>,
    codes: impl IntoIterator<Item = Option<u32>>,
) -> Result<ArrayRef> {
    let codes: UInt32Array = codes.into_iter().collect();
    Ok(Arc::new(DictionaryArray::try_new(codes, texts(entries))?))
}

/// An array of integers.
pub fn ints(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int64Array>())
}

/// An array of counts.
pub fn counts(values: impl IntoIterator<Item = u64>) -> ArrayRef {
    ints(values.into_iter().map(|n| Some(counted_i64(n))))
}

/// An array of unsigned integers.
pub fn uints(values: impl IntoIterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

/// An array of instants.
pub fn times(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<TimestampMillisecondArray>())
}

/// An array of dates.
pub fn dates(values: impl IntoIterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Date32Array>())
}

/// An array of decimals of 38 digits, in units of 10^-`scale`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when there are no such decimals.
pub fn decimals(values: impl IntoIterator<Item = Option<i128>>, scale: i8) -> Result<ArrayRef> {
    let array: Decimal128Array = values.into_iter().collect();
    Ok(Arc::new(array.with_data_type(DataType::Decimal128(38, scale))))
}

/// An array of identities.
///
/// # Errors
/// Never for 16 bytes; the builder checks all the same.
pub fn identities(values: impl IntoIterator<Item = Option<u128>>) -> Result<ArrayRef> {
    let mut builder = FixedSizeBinaryBuilder::new(16);
    for value in values {
        match value {
            Some(value) => builder.append_value(value.to_be_bytes())?,
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

impl Dataset {
    /// A batch of this dataset from its columns, after the check at the door. Texts may be coded.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] naming what is not as declared.
    pub fn batch(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        let declared = self.arrow();
        let schema = if columns.iter().any(|array| is_coded(array.data_type())) {
            let fields = declared.fields().iter().zip(&columns).map(|(field, array)| {
                if is_coded(array.data_type()) {
                    Arc::new(Field::clone(field).with_data_type(array.data_type().clone()))
                } else {
                    Arc::clone(field)
                }
            });
            Arc::new(Schema::new_with_metadata(
                fields.collect::<Vec<_>>(),
                declared.metadata().clone(),
            ))
        } else {
            declared
        };
        let batch = RecordBatch::try_new(schema, columns)?;
        self.admit(&batch)?;
        Ok(batch)
    }
}
