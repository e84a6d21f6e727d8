//! The factors of a batch of `records`, and the columns that record them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch, new_null_array};

use super::normaliser::{Normaliser, StatedBenchmark};
use super::scale::{Scale, ScaleReference};
use crate::absent;
use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, index};
use crate::reference::benchmark::{Benchmark, BenchmarkOrigin, BenchmarkPlace, Factors, KnownFactor};
use crate::schema;
use crate::schema::batch::{ColumnWords, addend, coded_texts, column, decimal, flag, int, number, time, words};

/// A benchmark and where its value came from, as they are reported; `none` where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScaledBy {
    /// The word of the benchmark.
    pub benchmark: &'static str,
    /// The word of the origin.
    pub origin: &'static str,
}

/// Records by benchmark and where its value came from.
pub type Origins = BTreeMap<ScaledBy, u64>;

/// The scale of every row of a batch: most rows share one.
#[derive(Debug)]
pub struct Scales {
    distinct: Vec<(Scale, Option<ScaleReference>)>,
    /// Which of them each row has; empty where all rows have the only one.
    of_row: Vec<u32>,
    row_n: usize,
}

impl Scales {
    /// The scale of a row, and the reference its times arrived scaled to.
    #[must_use]
    #[inline]
    pub fn of(&self, row: usize) -> &(Scale, Option<ScaleReference>) {
        const MISSING: &(Scale, Option<ScaleReference>) = &(Scale::Missing, None);
        self.distinct.get(self.place(row)).unwrap_or(MISSING)
    }

    #[inline]
    fn code(&self, row: usize) -> u32 {
        // Fallback: a row without a scale of its own has the first, as `all` writes them.
        self.of_row.get(row).copied().unwrap_or(0)
    }

    #[inline]
    fn place(&self, row: usize) -> usize {
        index(self.code(row))
    }

    /// Of no row yet, with room for so many.
    fn with_room(row_n: usize) -> Self {
        Self {
            distinct: Vec::new(),
            of_row: Vec::with_capacity(row_n),
            row_n,
        }
    }

    /// All rows have this scale.
    fn all(scale: Scale, row_n: usize) -> Self {
        Self {
            distinct: vec![(scale, None)],
            of_row: Vec::new(),
            row_n,
        }
    }

    /// Counts where the values of the rows came from.
    pub fn count(&self, into: &mut Origins) {
        let mut rows = vec![0_u64; self.distinct.len()];
        for row in 0..self.row_n {
            if let Some(n) = rows.get_mut(self.place(row)) {
                *n += 1;
            }
        }
        for ((scale, _), n) in self.distinct.iter().zip(rows) {
            let factors = scale.factors();
            if factors.is_empty() && n > 0 {
                let none = ScaledBy {
                    benchmark: "none",
                    origin: "none",
                };
                *into.entry(none).or_default() += n;
            }
            for (kind, origin) in Benchmark::ALL.into_iter().zip(factors.origins) {
                if let Some(origin) = origin {
                    let scaled_by = ScaledBy {
                        benchmark: kind.as_str(),
                        origin: origin.as_str(),
                    };
                    *into.entry(scaled_by).or_default() += n;
                }
            }
        }
    }

    fn push(&mut self, scale: Scale, reference: Option<ScaleReference>) {
        let scale = (scale, reference);
        // Fallback: before the first row, the first code is compared and not found.
        let last = self.of_row.last().copied().unwrap_or(0);
        let is_last = |code: u32| {
            usize::try_from(code).is_ok_and(|place| self.distinct.get(place).is_some_and(|known| *known == scale))
        };
        let code = if is_last(last) {
            last
        } else {
            // Not looked for further back than a neighbourhood: a scale that comes again is only written twice.
            let near = self.distinct.len().less(16);
            let known = self.distinct.iter().skip(near).position(|known| *known == scale);
            let place = known.map_or(self.distinct.len(), |at| near + at);
            if known.is_none() {
                self.distinct.push(scale);
            }
            // Fallback: never taken, a batch has fewer rows than 32 bits count.
            u32::try_from(place).unwrap_or(u32::MAX)
        };
        self.of_row.push(code);
    }
}

/// Looks up the factors of every row of a batch of `records`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not of `records`.
pub fn factors_of(batch: &RecordBatch, normaliser: &mut Normaliser<'_>) -> Result<Scales> {
    let row_n = batch.num_rows();
    let is_silent = |name: &str| Ok::<_, Error>(column(batch, name)?.null_count() == row_n);
    if let Some(scale) = normaliser.unstated()
        && is_silent("scaled_cpu_ms")?
        && is_silent("scaled_wall_ms")?
    {
        if is_silent("benchmark")? {
            return Ok(Scales::all(scale, row_n));
        }
        return of_records_alone(batch, normaliser);
    }
    let mut scales = Scales::with_room(row_n);
    let [cluster, submit_host, partition, node_list, benchmark] =
        ["cluster", "submit_host", "partition", "node_list", "benchmark"].map(|name| words(batch, name));
    let (cluster, submit_host, partition) = (cluster?, submit_host?, partition?);
    let (node_list, benchmark) = (node_list?, benchmark?);
    let per_core = decimal(batch, "benchmark_per_core")?;
    let (record, end) = (time(batch, "record_utc")?, time(batch, "end_utc")?);
    let (wall, suspended) = (int(batch, "wall_s")?, int(batch, "suspended_s")?);
    let (scaled_cpu, scaled_wall) = (int(batch, "scaled_cpu_ms")?, int(batch, "scaled_wall_ms")?);
    let source = words(batch, "source")?;
    for row in 0..row_n {
        let stated = stated(benchmark, per_core, row);
        let place = BenchmarkPlace {
            cluster: cluster.get(row),
            submit_host: submit_host.get(row),
            partition: partition.get(row),
            node_list: node_list.get(row),
        };
        // The end, or the last moment known of a running job.
        let at_ms = number(end, row).unwrap_or_else(|| {
            // Fallback: `dedupe::limits` bounds both, far below 63 bits.
            let held_s = wall.value(row).saturating_add(addend(number(suspended, row)));
            // Fallback: an instant beyond 63 bits has the benchmark of the last instant.
            record.value(row).saturating_add(held_s.saturating_mul(1000))
        });
        let scale = normaliser.scale(place, at_ms, stated);
        if scaled_cpu.is_null(row) && scaled_wall.is_null(row) {
            scales.push(scale, None);
            continue;
        }
        let reference = normaliser.reference(source.value(row), place, at_ms);
        let arrived = reference.map_or_else(Factors::default, |reference| Factors {
            per_core: reference.per_core,
            origins: reference
                .per_core
                .scaled()
                .map(|value| value.map(|_| BenchmarkOrigin::ScaledTo)),
        });
        // What the reference scales is known, whatever else is.
        let scale = if arrived.is_empty() {
            scale
        } else {
            Scale::Known(arrived.or(scale.factors()))
        };
        scales.push(scale, reference);
    }
    Ok(scales)
}

/// What the record of a row states.
fn stated<'a>(names: ColumnWords<'a>, per_core: &Decimal128Array, row: usize) -> Option<StatedBenchmark<'a>> {
    let (name, milli) = names.get(row).zip(number(per_core, row))?;
    let e3 = i64::try_from(milli).ok()?;
    Some(StatedBenchmark { name, e3 })
}

/// The factors of records where nothing else states any: those of one batch state few.
fn of_records_alone(batch: &RecordBatch, normaliser: &mut Normaliser<'_>) -> Result<Scales> {
    /// Statements that are compared with that of a row.
    const NEAR: usize = 16;
    let (names, per_core) = (words(batch, "benchmark")?, decimal(batch, "benchmark_per_core")?);
    let row_n = batch.num_rows();
    let mut scales = Scales::with_room(row_n);
    let mut near: Vec<(Option<StatedBenchmark<'_>>, u32)> = Vec::with_capacity(NEAR);
    for row in 0..row_n {
        let stated = stated(names, per_core, row);
        if let Some((_, code)) = near.iter().find(|(known, _)| *known == stated) {
            scales.of_row.push(*code);
            continue;
        }
        scales.push(normaliser.scale(BenchmarkPlace::default(), 0, stated), None);
        if near.len() == NEAR {
            near.clear();
        }
        near.extend(scales.of_row.last().map(|code| (stated, *code)));
    }
    Ok(scales)
}

/// The factors recorded in a batch of published `records`. The reference of times that arrived scaled is not
/// among them.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not of `records`; [`crate::error::Kind::Data`] when a factor has no
/// known origin.
pub fn kept_factors(batch: &RecordBatch) -> Result<Scales> {
    let row_n = batch.num_rows();
    let mut scales = Scales::with_room(row_n);
    let mut kept = Vec::with_capacity(Benchmark::ALL.len());
    for kind in Benchmark::ALL {
        let values = decimal(batch, &format!("{}_per_core", kind.as_str()))?;
        kept.push((values, words(batch, &format!("{}_origin", kind.as_str()))?));
    }
    for row in 0..row_n {
        let mut known = [None; 3];
        for (known, (values, origins)) in known.iter_mut().zip(&kept) {
            let Some(value) = number(values, row) else { continue };
            let reported = origins.get(row).and_then(BenchmarkOrigin::parse);
            let value = i64::try_from(value).ok().zip(reported);
            *known = value.map(|(e4, origin)| KnownFactor { e4, origin });
            if known.is_none() {
                return Err(Error::new(Kind::Data, "a value per core whose origin is unknown").at("row", row));
            }
        }
        let factors = Factors::from_known(known);
        let is_from = |origin: BenchmarkOrigin| factors.origins.contains(&Some(origin));
        let scale = if factors.is_empty() {
            Scale::Missing
        } else if is_from(BenchmarkOrigin::Fallback) && !is_from(BenchmarkOrigin::ScaledTo) {
            Scale::Fallback(factors)
        } else {
            Scale::Known(factors)
        };
        scales.push(scale, None);
    }
    Ok(scales)
}

/// The batch with the columns that record the factor of each row and where it came from.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not of `records`.
pub fn with_factors(batch: &RecordBatch, scales: &Scales) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let mut columns = batch.columns().to_vec();
    let factors: Vec<Factors> = scales.distinct.iter().map(|(scale, _)| scale.factors()).collect();
    for (place, kind) in Benchmark::ALL.into_iter().enumerate() {
        let known = factors.iter().map(|factors| {
            let value = factors.per_core.scaled().get(place).copied().flatten();
            (value, factors.origins.get(place).copied().flatten())
        });
        let known: Vec<_> = known.collect();
        let is_known = known.iter().any(|(value, _)| value.is_some());
        let of = |row: usize| known.get(scales.place(row)).copied().unwrap_or((None, None));
        let value_column = format!("{}_per_core", kind.as_str());
        let origin_column = format!("{}_origin", kind.as_str());
        for name in [value_column, origin_column] {
            let at = batch.schema_ref().index_of(&name)?;
            let Some(column) = columns.get_mut(at) else { continue };
            if !is_known {
                if column.null_count() < rows {
                    *column = new_null_array(column.data_type(), rows);
                }
                continue;
            }
            let made: ArrayRef = if name.ends_with("_origin") {
                let origins = known.iter().map(|(_, origin)| origin.map(BenchmarkOrigin::as_str));
                // A scale without an origin has no text, and its rows no code.
                let origins = origins.map(|origin| Some(absent::text(origin)));
                let codes = (0..rows).map(|row| of(row).1.map(|_| scales.code(row)));
                coded_texts(origins, codes)?
            } else {
                let values: Decimal128Array = if known.iter().all(|(value, _)| value.is_some()) {
                    Decimal128Array::from_iter_values((0..rows).filter_map(|row| of(row).0))
                } else {
                    (0..rows).map(|row| of(row).0).collect()
                };
                let (precision, scale) = match column.data_type() {
                    arrow_schema::DataType::Decimal128(precision, scale) => (*precision, *scale),
                    _ => return Err(Error::internal("a factor is a decimal").at("column", &name)),
                };
                Arc::new(values.with_precision_and_scale(precision, scale)?)
            };
            *column = made;
        }
    }
    if int(batch, "scaled_cpu_ms")?.null_count() < rows {
        raw_cpu(batch, scales, &mut columns)?;
    }
    schema::dataset("records")?.batch(columns)
}

/// CPU time as it was before worker nodes scaled it, where that is known.
fn raw_cpu(batch: &RecordBatch, scales: &Scales, columns: &mut [ArrayRef]) -> Result<()> {
    let logged = int(batch, "scaled_cpu_ms")?;
    let (cpu, is_unknown) = (int(batch, "cpu_ms")?, flag(batch, "is_cpu_unknown")?);
    let raw = |row: usize| match number(logged, row) {
        Some(logged_ms) => scales
            .of(row)
            .1
            .as_ref()
            .and_then(|reference| reference.raw_ms(logged_ms)),
        None => number(cpu, row),
    };
    let rows = batch.num_rows();
    let cpu_ms: Int64Array = (0..rows).map(raw).collect();
    let unknown = |row: usize| match number(logged, row) {
        Some(_) => cpu_ms.is_null(row),
        None => is_unknown.value(row),
    };
    let is_unknown: BooleanArray = (0..rows).map(|row| Some(unknown(row))).collect();
    for (name, made) in [
        ("cpu_ms", Arc::new(cpu_ms) as ArrayRef),
        ("is_cpu_unknown", Arc::new(is_unknown)),
    ] {
        let at = batch.schema_ref().index_of(name)?;
        if let Some(column) = columns.get_mut(at) {
            *column = made;
        }
    }
    Ok(())
}
