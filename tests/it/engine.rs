//! The expression engine: groups are complete and sorted, and sums are exact.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, Decimal128Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use gridtally::error::Kind;
use gridtally::expr::{GroupMeasure, How, add_up};
use gridtally::schema;
use gridtally::summarise::contributions::Contributions;
use gridtally::summarise::group::{Groups, Key, UsageGroup, to_batch};
use gridtally::summarise::held_groups::HeldGroups;
use gridtally::summarise::sums::{CountedSums, MeasuredSums, Sums, WorkSums};
use proptest::option;
use proptest::prelude::*;

fn sheet(rows: &[(Option<&str>, Option<i64>, Option<i128>)]) -> RecordBatch {
    let key: StringArray = rows.iter().map(|r| r.0).collect();
    let n: Int64Array = rows.iter().map(|r| r.1).collect();
    let d: Decimal128Array = rows.iter().map(|r| r.2).collect();
    let d = d.with_precision_and_scale(38, 7).unwrap();
    RecordBatch::try_new(sheet_schema(), vec![Arc::new(key), Arc::new(n), Arc::new(d)]).unwrap()
}

fn sheet_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
        Field::new("d", DataType::Decimal128(38, 7), true),
    ]))
}

fn sums(batches: &[RecordBatch]) -> gridtally::error::Result<RecordBatch> {
    let sum = |column| GroupMeasure { column, how: How::Sum };
    add_up(batches, &["key"], &[sum("n"), sum("d")], &sheet_schema())
}

#[test]
fn sums_of_nothing_known_are_unknown_and_null_is_a_key() {
    let a = sheet(&[
        (Some("b"), None, Some(5)),
        (None, Some(1), None),
        (Some(""), Some(0), Some(0)),
    ]);
    let b = sheet(&[
        (Some("b"), None, Some(-7)),
        (None, Some(2), None),
        (Some("B"), None, None),
        (Some("é"), Some(-1), None),
    ]);
    let expected = sheet(&[
        (None, Some(3), None),
        (Some(""), Some(0), Some(0)),
        (Some("B"), None, None),
        (Some("b"), None, Some(-2)),
        (Some("é"), Some(-1), None),
    ]);
    assert_eq!(sums(&[a.clone(), b.clone()]).unwrap(), expected);
    assert_eq!(sums(&[b, a]).unwrap(), expected);
    assert_eq!(sums(&[]).unwrap(), sheet(&[]));
    assert_eq!(sums(&[sheet(&[]), sheet(&[])]).unwrap(), sheet(&[]));
}

#[test]
fn sums_that_do_not_fit_are_refused_and_those_that_do_are_exact() {
    let top = 10_i128.pow(38) - 1;
    let wide = |n: Option<i64>, d: Option<i128>| sheet(&[(Some("k"), n, d)]);
    for (parts, column) in [
        ([wide(Some(i64::MAX), None), wide(Some(1), None)], "column n"),
        ([wide(Some(i64::MIN), None), wide(Some(-1), None)], "column n"),
        ([wide(None, Some(top)), wide(None, Some(1))], "column d"),
        ([wide(None, Some(top)), wide(None, Some(top))], "column d"),
        ([wide(None, Some(-top)), wide(None, Some(-1))], "column d"),
    ] {
        let error = sums(&parts).unwrap_err();
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.to_string().contains(column), "{error}");
    }
    // Beyond the width on the way, inside it at the end.
    let parts = [
        wide(Some(i64::MAX), Some(top)),
        wide(Some(i64::MAX), Some(top)),
        wide(Some(-i64::MAX), Some(-top)),
    ];
    let total = sums(&parts).unwrap();
    assert_eq!(total.column(1).as_primitive::<Int64Type>().value(0), i64::MAX);
    assert_eq!(total.column(2).as_primitive::<Decimal128Type>().value(0), top);
}

#[test]
fn what_is_not_there_cannot_be_added_up() {
    let rows = [sheet(&[(Some("k"), Some(1), None)])];
    let count = GroupMeasure {
        column: "n",
        how: How::Sum,
    };
    let text = GroupMeasure {
        column: "key",
        how: How::Sum,
    };
    for (keys, measures) in [
        (&[][..], &[count][..]),
        (&["key"], &[count]),
        (&["nothing"], &[count]),
        (&["n", "d"], &[text]),
    ] {
        let error = add_up(&rows, keys, measures, &sheet_schema()).unwrap_err();
        assert_eq!(error.kind(), Kind::Internal, "{keys:?}");
    }
    let keys = Arc::new(Schema::new(vec![Field::new("key", DataType::Utf8, true)]));
    let distinct = add_up(&rows, &["key"], &[], &keys).unwrap();
    assert_eq!((distinct.num_rows(), distinct.num_columns()), (1, 1));
}

/// Few words, so that keys meet; the tricky neighbours of byte order among them.
fn word() -> impl Strategy<Value = Option<String>> {
    const WORDS: [&str; 10] = [
        "",
        "a",
        "A",
        "a\u{0}",
        "aa",
        "atlas",
        "ä",
        "\u{ffff}",
        "\u{10000}",
        "a long word, over twelve",
    ];
    option::of(prop::sample::select(WORDS.as_slice()).prop_map(str::to_owned))
}

fn key() -> impl Strategy<Value = Key> {
    let dimensions = (word(), word(), word());
    (word(), 2023_i64..2026, 0_i32..3, option::of(0_i32..3), dimensions).prop_map(
        |(vo, allocation_year, month, day, (account, partition, role))| {
            let mut dimensions: [Option<String>; 10] = Default::default();
            dimensions[0] = Some("source".to_owned());
            dimensions[2] = account;
            dimensions[3] = Some("batch".to_owned());
            dimensions[4] = partition;
            dimensions[8] = role;
            Key {
                vo,
                allocation_year,
                month,
                day,
                dimensions,
                correction_id: None,
            }
        },
    )
}

fn measured() -> impl Strategy<Value = Sums> {
    let work = option::of(0..10_i128.pow(35));
    let time = -1_000_000_i64..2_000_000_000_000;
    (
        prop::array::uniform13(0..i64::MAX / 1000),
        option::of(0..i64::MAX / 1000),
        prop::array::uniform6(option::of(0..i64::MAX / 1000)),
        prop::array::uniform9(work),
        option::of(time.clone()),
        option::of(time),
    )
        .prop_map(|(numbers, cpu_ms, stated, work_e7, earliest_end_ms, latest_end_ms)| {
            let mut counted = CountedSums::default();
            for (sum, number) in counted.each_mut().into_iter().zip(numbers) {
                *sum = number;
            }
            let mut measured = MeasuredSums::default();
            for (sum, number) in measured.each_mut().into_iter().zip(stated) {
                *sum = number;
            }
            Sums {
                counted,
                cpu_ms,
                measured,
                work: WorkSums::from_e7(work_e7),
                earliest_end_ms,
                latest_end_ms,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_engine_adds_up_as_the_groups_do(
        // Few keys, so that they meet.
        keys in prop::collection::vec(key(), 1..30),
        parts in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), measured()), 0..40), 0..6),
        cut in 0_usize..20,
    ) {
        let part = schema::dataset("usage_part").unwrap();
        let mut groups = Groups::default();
        let mut contributions = Contributions::default();
        for rows in &parts {
            let rows: Vec<_> = rows.iter().map(|(at, sums)| UsageGroup {
                key: at.get(&keys).clone(),
                sums: sums.clone(),
            }).collect();
            let batch = to_batch(&rows, part).unwrap();
            groups.add_batch(&batch).unwrap();
            // In two pieces, as a reader may give them.
            let cut = cut.min(batch.num_rows());
            contributions.add(batch.slice(cut, batch.num_rows() - cut)).unwrap();
            contributions.add(batch.slice(0, cut)).unwrap();
        }
        let groups = groups.into_sorted();
        let expected = to_batch(&groups, part).unwrap();
        come_back(groups, &expected);
        let total = contributions.finish().unwrap();
        prop_assert_eq!(&total, &expected);
        prop_assert_eq!(total.schema(), part.arrow());
    }
}

/// Groups that wait for those of other months are what they were, few as many.
fn come_back(groups: Vec<UsageGroup>, batch: &RecordBatch) {
    let held = HeldGroups::new(groups).unwrap();
    assert_eq!(held.is_empty(), batch.num_rows() == 0);
    assert_eq!(&held.batch().unwrap(), batch);
    let dataset = schema::dataset("usage_part").unwrap();
    assert_eq!(&to_batch(&held.groups().unwrap(), dataset).unwrap(), batch);
}

#[test]
fn many_contributions_are_added_up_on_the_way() {
    let part = schema::dataset("usage_part").unwrap();
    let rows: Vec<UsageGroup> = (0..30_000_i32)
        .map(|at| {
            let mut sums = Sums::default();
            sums.counted.job_n = i64::from(at);
            sums.cpu_ms = (at % 2 == 0).then_some(1);
            let mut dimensions: [Option<String>; 10] = Default::default();
            dimensions[0] = Some("source".to_owned());
            dimensions[2] = Some(format!("account {at:05}"));
            dimensions[3] = Some("batch".to_owned());
            let key = Key {
                vo: None,
                allocation_year: 2024,
                month: 0,
                day: None,
                dimensions,
                correction_id: None,
            };
            UsageGroup { key, sums }
        })
        .collect();
    let batch = to_batch(&rows, part).unwrap();
    come_back(rows.clone(), &batch);
    let mut contributions = Contributions::default();
    for _ in 0..20 {
        contributions.add(batch.clone()).unwrap();
    }
    let total = contributions.finish().unwrap();
    assert_eq!(total.num_rows(), rows.len());
    let at = |name: &str, row: usize| {
        let column = total.column_by_name(name).unwrap().as_primitive::<Int64Type>();
        column.is_valid(row).then(|| column.value(row))
    };
    assert_eq!((at("job_n", 29_999), at("cpu_ms", 29_999)), (Some(20 * 29_999), None));
    assert_eq!((at("job_n", 4), at("cpu_ms", 4)), (Some(80), Some(20)));
}
