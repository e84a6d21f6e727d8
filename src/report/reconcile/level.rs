//! The value that scales a job, and which of several is compared.

use arrow_array::cast::AsArray;
use arrow_array::{Array, Decimal128Array, RecordBatch, StringArray};

use crate::amounts::finer;
use crate::error::Result;
use crate::reference::benchmark::{Benchmark, SI00_PER_HS06};
use crate::report::apel::jobs::Levels;
use crate::report::work_scale::WorkScale;
use crate::schema::batch::{decimal, number, text, word};

/// A value per core of one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DifferenceLevel {
    /// Place of the benchmark in [`Benchmark::ALL`].
    place: u8,
    /// Thousandths per core.
    e3: i64,
}

impl DifferenceLevel {
    /// A value of a benchmark.
    #[must_use]
    pub fn new(kind: Benchmark, e3: i64) -> Self {
        // Fallback: never taken, there are three benchmarks.
        let place = u8::try_from(kind.place()).unwrap_or(u8::MAX);
        Self { place, e3 }
    }

    /// Which of several is compared.
    #[must_use]
    pub fn chosen(levels_e3: &Levels, scale: WorkScale) -> Option<Self> {
        let order: &[Benchmark] = match scale {
            WorkScale::Hs23 => &[Benchmark::Hs23, Benchmark::Hs06, Benchmark::Si00],
            WorkScale::Hs23Only => &[Benchmark::Hs23],
            WorkScale::Hs06 => &[Benchmark::Hs06],
        };
        let of = |kind: &Benchmark| {
            levels_e3
                .get(kind.place())
                .copied()
                .flatten()
                .map(|e3| Self::new(*kind, e3))
        };
        order.iter().find_map(of)
    }

    /// Which benchmark.
    #[must_use]
    pub fn kind(self) -> Option<Benchmark> {
        Benchmark::ALL
            .into_iter()
            .find(|kind| kind.place() == usize::from(self.place))
    }

    /// Thousandths per core.
    #[must_use]
    pub fn e3(self) -> i64 {
        self.e3
    }

    /// Parts of a second of work that a millisecond comes to.
    #[must_use]
    pub fn work_units(self) -> i128 {
        let is_si00 = self.kind() == Some(Benchmark::Si00);
        finer(i128::from(self.e3), if is_si00 { 1 } else { i128::from(SI00_PER_HS06) })
    }

    /// `hs06 10.500`.
    #[must_use]
    pub fn in_words(self) -> String {
        let value = crate::report::table::Cell::Decimal {
            value: i128::from(self.e3),
            scale: 3,
        };
        format!("{} {value}", self.kind().map_or("benchmark", Benchmark::as_str))
    }
}

/// The columns of records that record the benchmark of a job.
pub(super) struct LevelColumns<'a> {
    factors: [Option<&'a Decimal128Array>; 3],
    benchmark: &'a StringArray,
    stated: &'a Decimal128Array,
}

/// Their names; records of before version [`FACTORS_SINCE`] have only the last two.
pub(super) const LEVEL_COLUMNS: [&str; 5] = [
    "hs06_per_core",
    "hs23_per_core",
    "si00_per_core",
    "benchmark",
    "benchmark_per_core",
];

/// The first version of `records` that records the benchmark of each job.
pub(super) const FACTORS_SINCE: u32 = 2;

impl<'a> LevelColumns<'a> {
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self> {
        let [hs06, hs23, si00, benchmark, stated] = LEVEL_COLUMNS;
        Ok(Self {
            factors: [hs06, hs23, si00].map(|name| batch.column_by_name(name)?.as_primitive_opt()),
            benchmark: text(batch, benchmark)?,
            stated: decimal(batch, stated)?,
        })
    }

    /// The values by which the lake scales a job, to thousandths as APEL's server stores them; where it scales nothing,
    /// what the job states itself.
    pub(super) fn of(&self, row: usize) -> Levels {
        let scaled = self.factors.map(|column| {
            let e4 = column.filter(|column| column.is_valid(row))?.value(row);
            i64::try_from((e4 + 5).div_euclid(10)).ok()
        });
        if scaled.iter().any(Option::is_some) {
            return scaled;
        }
        let stated = word(self.benchmark, row).zip(number(self.stated, row));
        Benchmark::ALL.map(|kind| {
            let own = stated.filter(|(name, milli)| *name == kind.as_str() && *milli > 0);
            own.and_then(|(_, milli)| i64::try_from(milli).ok())
        })
    }
}
