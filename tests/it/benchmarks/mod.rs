//! Benchmarks: units that do not mix, dated tables, and the factors jobs get.

mod units;
