//! The cells that formulas compute: one value for all rows, or a column of them.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, UInt32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, StringArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;

use super::value::Type;
use crate::error::{Error, Result};

/// A type of cells.
pub(super) trait Cell: Clone + Debug + 'static {
    /// A cell of a column.
    type Ref<'a>: Copy + Ord;
    /// A column.
    type Array: Clone + Debug;

    fn as_cell(&self) -> Self::Ref<'_>;

    fn owned(cell: Self::Ref<'_>) -> Self;

    /// The cell of a row; `None` is unknown.
    fn get(array: &Self::Array, row: usize) -> Option<Self::Ref<'_>>;

    /// Which cells are known; `None` when all are.
    fn known(array: &Self::Array) -> Option<NullBuffer>;

    /// The column of these cells.
    fn column<'a>(cells: impl Iterator<Item = Option<Self::Ref<'a>>>) -> Self::Array;

    /// A column of a batch.
    fn read(array: &ArrayRef) -> Result<Self::Array>;

    /// A column as batches have it.
    fn write(array: &Self::Array) -> Result<ArrayRef>;

    fn of(cells: &AnyCells) -> Option<&Cells<Self>>;
}

/// The cells of all rows.
#[derive(Clone, Debug)]
pub(super) enum Cells<T: Cell> {
    /// The same in every row; `None` is unknown.
    One(Option<T>),
    /// A column.
    Each(T::Array),
}

impl<T: Cell> Cells<T> {
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<T::Ref<'_>> {
        match self {
            Self::One(cell) => cell.as_ref().map(T::as_cell),
            Self::Each(array) => T::get(array, row),
        }
    }

    /// A column of `row_n` rows as batches have it.
    pub(super) fn write(&self, row_n: usize) -> Result<ArrayRef> {
        match self {
            Self::One(cell) => T::write(&T::column(std::iter::repeat_n(cell.as_ref().map(T::as_cell), row_n))),
            Self::Each(array) => T::write(array),
        }
    }
}

/// Cells of any type.
#[derive(Clone, Debug)]
pub(super) enum AnyCells {
    Number(Cells<i128>),
    Text(Cells<String>),
    Truth(Cells<bool>),
}

impl AnyCells {
    pub(super) fn write(&self, row_n: usize) -> Result<ArrayRef> {
        match self {
            Self::Number(cells) => cells.write(row_n),
            Self::Text(cells) => cells.write(row_n),
            Self::Truth(cells) => cells.write(row_n),
        }
    }
}

/// A column of texts.
#[derive(Clone, Debug)]
pub(super) enum TextArray {
    /// A text for each row.
    Plain(StringArray),
    /// A code for each row, and the texts.
    Coded(UInt32Array, StringArray),
}

fn other_type(array: &ArrayRef) -> Error {
    Error::internal("a formula reads a column of another type").at("type", array.data_type())
}

impl Cell for i128 {
    type Ref<'a> = i128;
    type Array = Decimal128Array;

    fn as_cell(&self) -> i128 {
        *self
    }

    fn owned(cell: i128) -> Self {
        cell
    }

    #[inline]
    fn get(array: &Decimal128Array, row: usize) -> Option<i128> {
        let value = array.values().get(row)?;
        array.is_valid(row).then_some(*value)
    }

    fn known(array: &Decimal128Array) -> Option<NullBuffer> {
        array.nulls().cloned()
    }

    fn column<'a>(cells: impl Iterator<Item = Option<Self::Ref<'a>>>) -> Decimal128Array {
        cells.collect()
    }

    fn read(array: &ArrayRef) -> Result<Decimal128Array> {
        let is_number = array.data_type() == &Type::Number.arrow();
        let numbers = array.as_primitive_opt::<Decimal128Type>().filter(|_| is_number);
        numbers.cloned().ok_or_else(|| other_type(array))
    }

    fn write(array: &Decimal128Array) -> Result<ArrayRef> {
        let array = array.clone().with_data_type(Type::Number.arrow());
        Ok(Arc::new(array))
    }

    fn of(cells: &AnyCells) -> Option<&Cells<Self>> {
        match cells {
            AnyCells::Number(cells) => Some(cells),
            AnyCells::Text(_) | AnyCells::Truth(_) => None,
        }
    }
}

impl Cell for String {
    type Ref<'a> = &'a str;
    type Array = TextArray;

    fn as_cell(&self) -> &str {
        self
    }

    fn owned(cell: &str) -> Self {
        cell.to_owned()
    }

    #[inline]
    fn get(array: &TextArray, row: usize) -> Option<&str> {
        let at = |texts: &'_ StringArray, row: usize| row < texts.len() && texts.is_valid(row);
        match array {
            TextArray::Plain(texts) => at(texts, row).then(|| texts.value(row)),
            TextArray::Coded(codes, texts) => {
                let code = codes.values().get(row).filter(|_| codes.is_valid(row))?;
                let place = usize::try_from(*code).ok()?;
                at(texts, place).then(|| texts.value(place))
            }
        }
    }

    fn known(array: &TextArray) -> Option<NullBuffer> {
        match array {
            TextArray::Plain(texts) => texts.nulls().cloned(),
            TextArray::Coded(codes, texts) if texts.null_count() == 0 => codes.nulls().cloned(),
            TextArray::Coded(codes, _) => {
                let known = (0..codes.len()).map(|row| Self::get(array, row).is_some());
                Some(known.collect::<NullBuffer>())
            }
        }
    }

    fn column<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> TextArray {
        TextArray::Plain(cells.collect())
    }

    fn read(array: &ArrayRef) -> Result<TextArray> {
        if let Some(texts) = array.as_string_opt::<i32>() {
            return Ok(TextArray::Plain(texts.clone()));
        }
        if let Some(coded) = array.as_dictionary_opt::<UInt32Type>()
            && let Some(texts) = coded.values().as_string_opt::<i32>()
        {
            return Ok(TextArray::Coded(coded.keys().clone(), texts.clone()));
        }
        let texts = foreign_texts(array)?;
        texts.map(TextArray::Plain).ok_or_else(|| other_type(array))
    }

    fn write(array: &TextArray) -> Result<ArrayRef> {
        match array {
            TextArray::Plain(texts) => Ok(Arc::new(texts.clone())),
            TextArray::Coded(codes, texts) => Ok(take(texts, codes, None)?),
        }
    }

    fn of(cells: &AnyCells) -> Option<&Cells<Self>> {
        match cells {
            AnyCells::Text(cells) => Some(cells),
            AnyCells::Number(_) | AnyCells::Truth(_) => None,
        }
    }
}

impl Cell for bool {
    type Ref<'a> = bool;
    type Array = BooleanArray;

    fn as_cell(&self) -> bool {
        *self
    }

    fn owned(cell: bool) -> Self {
        cell
    }

    #[inline]
    fn get(array: &BooleanArray, row: usize) -> Option<bool> {
        (row < array.len() && array.is_valid(row)).then(|| array.value(row))
    }

    fn known(array: &BooleanArray) -> Option<NullBuffer> {
        array.nulls().cloned()
    }

    fn column<'a>(cells: impl Iterator<Item = Option<Self::Ref<'a>>>) -> BooleanArray {
        cells.collect()
    }

    fn read(array: &ArrayRef) -> Result<BooleanArray> {
        array.as_boolean_opt().cloned().ok_or_else(|| other_type(array))
    }

    fn write(array: &BooleanArray) -> Result<ArrayRef> {
        Ok(Arc::new(array.clone()))
    }

    fn of(cells: &AnyCells) -> Option<&Cells<Self>> {
        match cells {
            AnyCells::Truth(cells) => Some(cells),
            AnyCells::Number(_) | AnyCells::Text(_) => None,
        }
    }
}

/// A column whose texts are no codes.
pub(super) fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    match array.as_any_dictionary_opt() {
        Some(coded) => Ok(take(coded.values(), coded.keys(), None)?),
        None => Ok(ArrayRef::clone(array)),
    }
}

/// Texts as other writers of Parquet store them; `None` of another type, and of more bytes than a column of texts has.
fn foreign_texts(array: &ArrayRef) -> Result<Option<StringArray>> {
    /// Copies texts.
    fn copied<'a>(texts: impl Iterator<Item = Option<&'a str>> + Clone) -> Option<StringArray> {
        let byte_n: usize = texts.clone().flatten().map(str::len).sum();
        i32::try_from(byte_n).is_ok().then(|| texts.collect())
    }
    let array = plain(array)?;
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>().cloned(),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().and_then(|texts| copied(texts.iter())),
        DataType::Utf8View => array.as_string_view_opt().and_then(|texts| copied(texts.iter())),
        _ => None,
    })
}
