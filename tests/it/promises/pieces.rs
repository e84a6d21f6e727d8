//! The parts the promises rest on, for any input.

use gridtally::sources::sacct;
use std::sync::Arc;

use arrow_array::RecordBatch;
use gridtally::dedupe::file_order::{ArrivedFile, FileOrder};
use gridtally::dedupe::merge::{Loser, Merged, merge};
use gridtally::dedupe::packed::{GatherPart, WaitingBatch, gather_sorted};
use gridtally::dedupe::{Intake, IntakeRows, Window};
use gridtally::record::JobRow;
use gridtally::schema::batch::decoded;
use gridtally::sources::{Position, Sink};
use gridtally::summarise::apportion::apportion;
use gridtally::time::grain::Grain;
use gridtally::time::{Calendar, YearStart, Zone};
use proptest::prelude::*;

use super::scene::shuffle;
use crate::support::collect::intake;

proptest! {
    #[test]
    fn shares_add_up_and_are_fair(total in 0_i64..1 << 50, weights in prop::collection::vec(0_i64..1 << 40, 1..20)) {
        let mut shares = Vec::new();
        apportion(total, &weights, &mut shares);
        prop_assert_eq!(shares.len(), weights.len());
        prop_assert_eq!(shares.iter().sum::<i64>(), total);
        let sum: i128 = weights.iter().map(|w| i128::from(*w)).sum();
        if sum == 0 {
            prop_assert_eq!(shares.last(), Some(&total));
            return Ok(());
        }
        for (share, weight) in shares.iter().zip(&weights) {
            // Never a whole unit away from the exact share, and nothing for nothing.
            let off = i128::from(*share) * sum - i128::from(total) * i128::from(*weight);
            prop_assert!(off.abs() < sum, "{share} of {total} for {weight} of {sum}");
            prop_assert!(*weight > 0 || *share == 0);
        }
        for a in 0..weights.len() {
            for b in 0..weights.len() {
                // More weight never gives less; among equals the earlier is not worse off.
                prop_assert!(weights[a] <= weights[b] || shares[a] >= shares[b]);
                prop_assert!(weights[a] != weights[b] || a > b || shares[a] >= shares[b]);
            }
        }
    }

    #[test]
    fn periods_tile_time(
        zone in 0..ZONES.len(),
        start_s in 0_i64..2_500_000_000,
        is_day in any::<bool>(),
        month in 1_i8..=12,
        day in 1_i8..=28,
    ) {
        let zone = Zone::named(ZONES[zone]).unwrap();
        let grain = if is_day { Grain::Day } else { Grain::Month };
        check_tiling(&zone, grain, YearStart { month, day }, start_s * 1000, 80)?;
    }

    #[test]
    fn the_same_rows_win_in_any_order_and_any_split(
        rows in prop::collection::vec((0_i64..4, any::<bool>(), 0_i64..3, prop::option::of(0_i64..3), 0_usize..4, 1_u64..50), 1..40),
        seed in any::<u64>(),
        runs in 1_usize..6,
    ) {
        let mut rows = rows;
        // One line of one file gives one outcome.
        rows.sort_by_key(|row| (row.4, row.5));
        rows.dedup_by_key(|row| (row.4, row.5));
        let expected = outcome(nights(&[&rows]));
        let mut mixed = rows.clone();
        shuffle(&mut mixed, seed);
        prop_assert_eq!(&outcome(nights(&[&mixed])), &expected);
        let size = mixed.len().div_ceil(runs);
        let split: Vec<_> = mixed.chunks(size).collect();
        prop_assert_eq!(&outcome(nights(&split)), &expected);
        // And when some are read again.
        let again: Vec<_> = split.iter().copied().chain([mixed.as_slice(), split[0]]).collect();
        prop_assert_eq!(&outcome(nights(&again)), &expected);
    }
}

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Zurich",
    "America/New_York",
    "America/Sao_Paulo", // clocks changed at midnight until 2019
    "Asia/Beirut",       // at midnight
    "Asia/Kolkata",
    "Australia/Lord_Howe", // by half an hour
    "Pacific/Apia",        // one day was left out
];

fn check_tiling(
    zone: &Zone,
    grain: Grain,
    year_start: YearStart,
    start_ms: i64,
    periods: usize,
) -> Result<(), TestCaseError> {
    let mut calendar = Calendar::new(zone.clone(), grain, year_start);
    let mut at_ms = start_ms;
    let mut last: Option<gridtally::time::calendar::Period> = None;
    for _ in 0..periods {
        let period = calendar.period(at_ms).unwrap();
        prop_assert!(
            period.from_ms <= at_ms && at_ms < period.until_ms,
            "{period:?} at {at_ms}"
        );
        if let Some(last) = last {
            prop_assert_eq!(period.from_ms, last.until_ms);
            prop_assert!(period.month >= last.month && period.allocation_year >= last.allocation_year);
            prop_assert!(period.allocation_year - last.allocation_year <= 1);
            if grain == Grain::Day {
                prop_assert!(period.day > last.day);
            } else {
                prop_assert!(period.month > last.month || period.allocation_year > last.allocation_year);
            }
        }
        // A calendar that was asked no other instant gives the same anywhere in the period.
        for ms in [
            period.from_ms,
            i64::midpoint(period.from_ms, period.until_ms),
            period.until_ms - 1,
        ] {
            let mut fresh = Calendar::new(zone.clone(), grain, year_start);
            prop_assert_eq!(fresh.period(ms), Some(period));
        }
        at_ms = period.until_ms;
        last = Some(period);
    }
    Ok(())
}

/// Every day and month of the years in which clocks changed oddly.
#[test]
fn periods_tile_the_years_of_odd_clocks() {
    for (zone, from, until) in [
        ("Europe/Zurich", 2024, 2027),
        ("America/New_York", 2024, 2027),
        ("America/Sao_Paulo", 2016, 2020),
        ("Asia/Beirut", 2022, 2025),
        ("Pacific/Apia", 2010, 2013),
    ] {
        let zone = Zone::named(zone).unwrap();
        let start_ms = (from - 1970) * 365 * 86_400_000;
        let days = usize::try_from((until - from) * 366).unwrap();
        check_tiling(&zone, Grain::Day, YearStart::from([4, 1]), start_ms, days).unwrap();
        check_tiling(&zone, Grain::Month, YearStart::from([4, 1]), start_ms, days / 30).unwrap();
        check_tiling(&zone, Grain::Month, YearStart::from([10, 15]), start_ms, days / 30).unwrap();
    }
}

/// A version of a job: (job, ended, wall s, CPU s, file, line).
type Version = (i64, bool, i64, Option<i64>, usize, u64);

const FILES: [&str; 4] = ["file-a", "file-b", "file-c", "file-d"];

/// The output of the spill for these rows, read from four files.
fn gathered(versions: &[Version]) -> Option<RecordBatch> {
    let options = intake(Some("S"));
    let batch = |(at, file): (usize, &&str)| {
        let mut intake = Intake::new(
            Arc::clone(&options),
            sacct::DIALECT,
            Arc::from(*file),
            Window::default(),
            IntakeRows::default(),
        );
        for (job, ended, wall_s, cpu_s, _, line) in versions.iter().filter(|version| version.4 == at) {
            let job_id = job.to_string();
            let row = JobRow {
                view: "batch",
                job_id: &job_id,
                start_ms: Some(1_000_000_000_000 + job * 1000),
                end_ms: ended.then_some(1_000_000_000_000 + (job + wall_s) * 1000),
                wall_ms: Some(wall_s * 1000),
                cpu_ms: cpu_s.map(|s| s * 1000),
                alloc_core_n: Some(1),
                ..JobRow::default()
            };
            let at = Position {
                line: *line,
                ..Position::default()
            };
            intake.job(&row, at, u32::try_from(*line % 3).unwrap());
        }
        let batch = intake.harvest().unwrap().1.finish("source").unwrap().batch;
        GatherPart::whole(WaitingBatch::of(batch).unwrap())
    };
    let parts: Vec<GatherPart> = FILES.iter().enumerate().map(batch).collect();
    let parts: Vec<GatherPart> = parts.into_iter().filter(|part| part.batch.num_rows() > 0).collect();
    (!parts.is_empty()).then(|| gather_sorted(&parts).unwrap())
}

fn nights(nights: &[&[Version]]) -> Merged {
    let arrivals = FILES.map(|file| ArrivedFile::new(file, None, file));
    let order = FileOrder::new(arrivals.into());
    let mut lake = merge(&[], None, Vec::new(), &order).unwrap();
    for night in nights {
        let fresh = gathered(night);
        let published = if lake.winners.num_rows() == 0 {
            vec![]
        } else {
            vec![lake.winners]
        };
        lake = merge(&published, fresh.as_ref(), lake.losers, &order).unwrap();
    }
    lake
}

fn outcome(merged: Merged) -> (RecordBatch, Vec<Loser>) {
    (decoded(&merged.winners).unwrap(), merged.losers)
}
