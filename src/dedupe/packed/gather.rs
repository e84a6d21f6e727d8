//! The rows of one bucket, unpacked from the batches they wait in.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMillisecondType, UInt64Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
    UInt64Array, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use arrow_select::interleave::interleave;

use super::integer::{self, IntegerPacking};
use super::key_order::places;
use super::kind::{PackedKind, batch, fields};
use super::route::{GatherRun, Route};
use super::text_gathering::TextGathering;
use super::waiting::{PackedColumn, WaitingBatch};
use crate::error::{Error, Result};
use crate::schema::batch::{codes, id};

/// Runs of rows of one waiting batch.
#[derive(Clone, Debug)]
pub struct GatherPart {
    /// The batch.
    pub batch: WaitingBatch,
    /// The runs, in order.
    pub runs: Vec<GatherRun>,
}

impl GatherPart {
    /// All rows of a batch.
    #[must_use]
    pub fn whole(batch: WaitingBatch) -> Self {
        let all = GatherRun {
            first: 0,
            len: batch.num_rows(),
        };
        Self { batch, runs: vec![all] }
    }

    /// All rows of a packed batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is not a waiting one.
    pub fn of(packed: RecordBatch) -> Result<Self> {
        Ok(Self::whole(WaitingBatch::of(packed)?))
    }
}

/// The rows of all `parts`, one after another: columns that none of them has are left out.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a batch is not a waiting one.
pub fn gather(from: &[GatherPart]) -> Result<RecordBatch> {
    collect(from, &routes(from)?)
}

/// The rows of all `parts` in the order of `records`, by instant and identity: then nothing has to be moved again.
///
/// # Errors
/// As [`gather`].
pub fn gather_sorted(from: &[GatherPart]) -> Result<RecordBatch> {
    let mut routes = routes(from)?;
    let (instants, ids) = keys_at(from, &routes)?;
    if let Some(places) = places(&instants, &ids)? {
        let mut places = places.into_iter();
        for (_, to) in routes.iter_mut().flat_map(|route| &mut route.0) {
            // Fallback: never taken, there is a place for each row of the routes.
            *to = places.next().unwrap_or_default();
        }
    }
    collect(from, &routes)
}

/// Instants and identities of the rows of all `parts`, one after another.
///
/// # Errors
/// As [`gather`].
pub fn keys(from: &[GatherPart]) -> Result<(Vec<i64>, Vec<u128>)> {
    keys_at(from, &routes(from)?)
}

fn keys_at(from: &[GatherPart], routes: &[Route]) -> Result<(Vec<i64>, Vec<u128>)> {
    let rows = routes.iter().map(Route::len).sum();
    let (mut instants, mut ids) = (vec![0; rows], vec![0; rows]);
    let nth = fields()?.iter().position(|(field, _)| field.name() == "record_utc");
    for (part, route) in from.iter().zip(routes) {
        let found = nth.and_then(|nth| part.batch.column(nth));
        let found = found.ok_or_else(|| Error::internal("a batch without instants"))?;
        integer_values(found, route, &mut instants)?;
        let (from, _) = id(part.batch.batch(), "record_id")?.value_data().as_chunks();
        for (row, place) in route.pairs() {
            if let (Some(id), Some(slot)) = (from.get(row), ids.get_mut(place)) {
                *slot = u128::from_be_bytes(*id);
            }
        }
    }
    Ok((instants, ids))
}

/// The rows of each part, one part after another.
fn routes(from: &[GatherPart]) -> Result<Vec<Route>> {
    let mut first = 0;
    let routes = from.iter().map(|part| {
        let route = Route::of_runs(&part.runs, first)?;
        first += route.len();
        Ok(route)
    });
    routes.collect()
}

fn collect(from: &[GatherPart], routes: &[Route]) -> Result<RecordBatch> {
    let rows = routes.iter().map(Route::len).sum();
    let mut columns = Vec::new();
    let mut alike = None;
    for (nth, (field, kind)) in fields()?.into_iter().enumerate() {
        let found: Vec<Option<PackedColumn<'_>>> = from.iter().map(|part| part.batch.column(nth)).collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let array: ArrayRef = match kind {
            PackedKind::Number => {
                let values = unpacked(&found, routes, rows)?;
                let nulls = nulls(&found, routes, rows);
                if matches!(field.data_type(), DataType::Timestamp(..)) {
                    Arc::new(TimestampMillisecondArray::new(values.into(), nulls))
                } else {
                    Arc::new(Int64Array::new(values.into(), nulls))
                }
            }
            PackedKind::Word => {
                let (entries, bytes) = room(&found, routes);
                let mut words = TextGathering::new(rows, entries, bytes);
                for (found, route) in found.iter().zip(routes) {
                    if let Some(found) = found {
                        words.take(found.array, route)?;
                    }
                }
                words.finish(nulls(&found, routes, rows), &mut alike)?
            }
            PackedKind::Whole => whole(&found, routes, rows, field.data_type())?,
        };
        columns.push((Field::new(field.name(), array.data_type().clone(), true), array));
    }
    batch(columns)
}

/// About how many texts of how many bytes are taken from columns without codes.
fn room(found: &[Option<PackedColumn<'_>>], routes: &[Route]) -> (usize, usize) {
    let plain = found.iter().zip(routes).filter_map(|(found, route)| {
        let texts = (*found)?.array.as_string_opt::<i32>()?;
        let bytes = texts.values().len() / texts.len().max(1) + 1;
        Some((route.len(), bytes * route.len()))
    });
    plain.fold((0, 0), |(entries, bytes), more| (entries + more.0, bytes + more.1))
}

/// The numbers of a column in their places; those of null rows are arbitrary.
fn unpacked(found: &[Option<PackedColumn<'_>>], routes: &[Route], rows: usize) -> Result<Vec<i64>> {
    let mut packings = found.iter().flatten().map(|found| found.packing);
    if let Some(Some(first @ IntegerPacking::Constant(value))) = packings.next()
        && packings.all(|other| other == Some(first))
    {
        return Ok(vec![value; rows]);
    }
    let mut values = vec![0; rows];
    for (found, route) in found.iter().zip(routes) {
        if let Some(found) = found {
            integer_values(*found, route, &mut values)?;
        }
    }
    Ok(values)
}

/// Puts the numbers of a column of a part into their places.
fn integer_values(found: PackedColumn<'_>, route: &Route, into: &mut [i64]) -> Result<()> {
    let packing = found
        .packing
        .ok_or_else(|| Error::internal("a column of numbers is none"))?;
    integer::unpack(packing, found.array, route, into)
}

/// Which of the gathered rows have a value; `None` when all have.
fn nulls(found: &[Option<PackedColumn<'_>>], routes: &[Route], rows: usize) -> Option<NullBuffer> {
    let has_nulls = |found: &Option<PackedColumn<'_>>| found.is_none_or(|found| found.array.null_count() > 0);
    if !found.iter().any(has_nulls) {
        return None;
    }
    let mut valid = BooleanBufferBuilder::new(rows);
    valid.append_n(rows, true);
    for (found, route) in found.iter().zip(routes) {
        let nulls = found.map(|found| found.array.nulls());
        for (row, place) in route.pairs() {
            match nulls {
                Some(None) => break,
                Some(Some(nulls)) if nulls.is_valid(row) => {}
                _ => valid.set_bit(place, false),
            }
        }
    }
    Some(NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0)
}

/// Columns that wait as they are.
fn whole(found: &[Option<PackedColumn<'_>>], routes: &[Route], rows: usize, data_type: &DataType) -> Result<ArrayRef> {
    const ID_BYTES: usize = 16;
    match data_type {
        DataType::FixedSizeBinary(_) => {
            let mut ids = vec![[0; ID_BYTES]; rows];
            for (found, route) in found.iter().zip(routes) {
                let from = found.and_then(|found| found.array.as_fixed_size_binary_opt());
                let from = from.ok_or_else(|| Error::internal("a batch without identities"))?;
                let (from, _) = from.value_data().as_chunks::<ID_BYTES>();
                scatter(from, route, &mut ids);
            }
            let ids = FixedSizeBinaryArray::try_new(16, ids.into_flattened().into(), None)?;
            Ok(Arc::new(ids))
        }
        DataType::UInt64 => {
            let mut hashes = vec![0; rows];
            for (found, route) in found.iter().zip(routes) {
                let from = found.and_then(|found| found.array.as_primitive_opt::<UInt64Type>());
                let from = from.ok_or_else(|| Error::internal("a batch without hashes"))?;
                scatter(from.values(), route, &mut hashes);
            }
            Ok(Arc::new(UInt64Array::from(hashes)))
        }
        _ => {
            // A batch without the column is one null, over and over.
            let missing = new_null_array(data_type, 1);
            let arrays: Vec<&dyn Array> = found
                .iter()
                .map(|found| found.map_or(&*missing, |found| &**found.array))
                .collect();
            let mut places = vec![(0, 0); rows];
            for (at, (found, route)) in found.iter().zip(routes).enumerate() {
                for (row, place) in route.pairs() {
                    if let Some(slot) = places.get_mut(place) {
                        *slot = (at, if found.is_some() { row } else { 0 });
                    }
                }
            }
            Ok(interleave(&arrays, &places)?)
        }
    }
}

/// Copies rows to their places.
fn scatter<T: Copy>(from: &[T], route: &Route, into: &mut [T]) {
    for (row, place) in route.pairs() {
        if let (Some(value), Some(slot)) = (from.get(row), into.get_mut(place)) {
            *slot = *value;
        }
    }
}

/// The values of a gathered column of integers or instants; those of null rows are arbitrary.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not one.
pub(in crate::dedupe) fn numbers(gathered: &ArrayRef) -> Result<&[i64]> {
    let ints = gathered.as_primitive_opt::<Int64Type>().map(|array| &**array.values());
    let times = || {
        gathered
            .as_primitive_opt::<TimestampMillisecondType>()
            .map(|array| &**array.values())
    };
    ints.or_else(times)
        .ok_or_else(|| Error::internal("a gathered column of numbers is of another type"))
}

/// A gathered batch with every text of a column replaced.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when there is no such column.
pub fn with_words<'a>(
    gathered: &'a RecordBatch,
    name: &str,
    replace: impl Fn(&'a str) -> &'a str,
) -> Result<RecordBatch> {
    let at = gathered.schema_ref().index_of(name)?;
    let mut columns = gathered.columns().to_vec();
    if let (Some(column), Some(old)) = (columns.get_mut(at), gathered.columns().get(at)) {
        let (_, entries) = codes(old)?;
        // Fallback: entries of a dictionary are not null, rows are.
        let entries = StringArray::from_iter_values(entries.iter().map(|entry| replace(entry.unwrap_or_default())));
        *column = old.as_any_dictionary().with_values(Arc::new(entries));
    }
    Ok(RecordBatch::try_new(gathered.schema(), columns)?)
}
