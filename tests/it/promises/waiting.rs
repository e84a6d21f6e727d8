//! Records that wait come back as they went, whatever they were packed to.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch, UInt32Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use gridtally::dedupe::columns::{Columns, DerivedFields};
use gridtally::dedupe::packed;
use gridtally::dedupe::packed::integer::{IntegerNumbers, IntegerPacking};
use gridtally::dedupe::packed::text::TextWords;
use gridtally::dedupe::packed::{GatherPart, GatherRun, Route, WaitingBatch, gather, gather_sorted, integer};
use gridtally::record::{JobRow, UnchangedColumns};
use gridtally::schema::batch::{id, identity, int, text, time};
use proptest::prelude::*;
use proptest::{collection, option};

fn packed(values: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut numbers = IntegerNumbers::default();
    for (row, value) in values.iter().enumerate() {
        numbers.push(row, *value);
    }
    let Some((field, array)) = numbers.finish("n", values.len()) else {
        return vec![None; values.len()];
    };
    let all = GatherRun {
        first: 0,
        len: values.len(),
    };
    let mut back = vec![0; values.len()];
    let packing = IntegerPacking::of(&field).unwrap();
    integer::unpack(packing, &array, &Route::of_runs(&[all], 0).unwrap(), &mut back).unwrap();
    let back = back.into_iter().enumerate();
    back.map(|(row, value)| array.is_valid(row).then_some(value)).collect()
}

proptest! {
    #[test]
    fn numbers_come_back_as_they_were_packed(
        values in collection::vec(option::of(prop_oneof![any::<i64>(), 0_i64..200, (0_i64..1 << 40).prop_map(|v| v * 1000), Just(i64::MIN)]), 0..200),
    ) {
        prop_assert_eq!(packed(&values), values);
    }

    /// Most columns have the same in row after row, and many have it in all rows of all batches.
    #[test]
    fn runs_of_numbers_come_back_from_several_batches(
        batches in collection::vec(collection::vec((option::of(prop_oneof![Just(0_i64), Just(5), any::<i64>()]), 1..30_usize), 1..4), 1..4),
    ) {
        let batches = batches.iter().map(|runs| runs.iter().flat_map(|(value, n)| vec![*value; *n]).collect());
        let batches: Vec<Vec<Option<i64>>> = batches.collect();
        let parts = batches.iter().map(|values| {
            let (mut numbers, mut instants) = (IntegerNumbers::default(), IntegerNumbers::default());
            for (row, value) in values.iter().enumerate() {
                numbers.push(row, *value);
                instants.push(row, Some(7));
            }
            let columns = [instants.finish("record_utc", values.len()), numbers.finish("wall_s", values.len())];
            let batch = packed::batch(columns.into_iter().flatten().collect()).unwrap();
            GatherPart::whole(WaitingBatch::of(batch).unwrap())
        });
        let gathered = gather(&parts.collect::<Vec<_>>()).unwrap();
        let found: Vec<Option<i64>> = match gathered.column_by_name("wall_s") {
            None => vec![None; gathered.num_rows()],
            Some(column) => column.as_primitive::<Int64Type>().iter().collect(),
        };
        prop_assert_eq!(found, batches.concat());
    }

    #[test]
    fn texts_come_back_as_they_were_packed(
        runs in collection::vec((option::of("[a-c]{0,2}|[a-zé]{0,9}"), prop_oneof![4 => Just(1), 1 => 1..40_usize]), 0..1500),
        cut in 0..3000_usize,
        is_coded in any::<bool>(),
    ) {
        let values: Vec<Option<String>> = runs.iter().flat_map(|(text, n)| vec![text.clone(); *n]).collect();
        let mut words = if is_coded { TextWords::coded() } else { TextWords::plain() };
        let mut parts = Vec::new();
        // Two batches, so that the dictionaries differ; only the odd rows are requested, so that some entries are not.
        for half in [&values[..cut.min(values.len())], &values[cut.min(values.len())..]] {
            for (row, value) in half.iter().enumerate() {
                words.push(row, value.as_deref()).unwrap();
            }
            let mut row_ids = IntegerNumbers::default();
            (0..half.len()).for_each(|row| row_ids.push(row, Some(7)));
            let mut columns: Vec<_> = row_ids.finish("record_utc", half.len()).into_iter().collect();
            columns.extend(words.finish("account", half.len()).unwrap());
            if !half.is_empty() {
                let runs = (0..half.len()).filter(|row| row % 2 == 1).map(|first| GatherRun { first, len: 1 }).collect();
                parts.push(GatherPart { batch: WaitingBatch::of(packed::batch(columns).unwrap()).unwrap(), runs });
            }
        }
        let halves = [&values[..cut.min(values.len())], &values[cut.min(values.len())..]];
        let expected: Vec<Option<String>> =
            halves.iter().flat_map(|half| half.iter().skip(1).step_by(2)).cloned().collect();
        let check = |gathered: &RecordBatch| -> Result<(), TestCaseError> {
            let found: Vec<Option<String>> = match gathered.column_by_name("account") {
                None => vec![None; gathered.num_rows()],
                Some(column) => {
                    let texts = cast(column, &DataType::Utf8).unwrap();
                    texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
                }
            };
            prop_assert_eq!(&found, &expected);
            Ok(())
        };
        if !parts.is_empty() {
            let gathered = gather(&parts).unwrap();
            check(&gathered)?;
            // And once more through what goes to disk.
            let batch = packed::pack(&gathered).unwrap();
            if batch.num_rows() > 0 {
                check(&gather(&[GatherPart::whole(WaitingBatch::of(batch).unwrap())]).unwrap())?;
            }
        }
    }
}

/// Batches with runs that interleave come out sorted by instant and identity, each value with its row.
#[test]
fn gathered_rows_are_sorted_as_records_is() {
    let gpus = |job: i64| if job % 3 == 0 { vec![("t4", job)] } else { Vec::new() };
    let mut parts = Vec::new();
    for at in 0..3_i64 {
        let mut columns = Columns::new();
        for nth in 0..40_i64 {
            let job = (nth * 7 + at * 13) % 40 * 3 + at;
            let (job_id, account) = (job.to_string(), format!("a{}", job % 5));
            let gpus = gpus(job);
            let row = JobRow {
                view: "batch",
                job_id: &job_id,
                // One batch has no account at all, and some rows of another have none.
                account: (at != 1 && job % 4 != 0).then_some(account.as_str()),
                end_ms: Some(job / 4 * 1000),
                alloc_core_n: (job % 2 == 0).then_some(job),
                gpus: &gpus,
                ..JobRow::default()
            };
            let sealed = DerivedFields {
                record_id: u128::MAX - u128::try_from(job).unwrap(),
                record_ms: job / 4 * 1000,
                format: "apel",
                vo: None,
                wall_ms: 1,
                anomalies: 0,
                step_n: 0,
                file_id: ["f0", "f1", "f2"][usize::try_from(at.min(1) * nth / 15).unwrap()],
                is_file_repeated: nth % 15 != 0,
                line: job,
                byte_offset: 0,
                content_hash: u64::try_from(job).unwrap(),
                repeats: UnchangedColumns::default(),
            };
            columns.push(&row, &sealed).unwrap();
        }
        let batch = columns.finish("s").unwrap();
        let runs = (0..40).step_by(4).map(|first| GatherRun { first, len: 3 }).collect();
        let batch = WaitingBatch::of(batch).unwrap();
        parts.push(GatherPart { batch, runs });
    }
    let unsorted = packed::to_records(&gather(&parts).unwrap(), None).unwrap();
    let sorted = packed::to_records(&gather_sorted(&parts).unwrap(), None).unwrap();
    assert_eq!(sorted.num_rows(), 90);
    let keys = |batch: &RecordBatch| -> Vec<(i64, u128)> {
        let (ids, times) = (id(batch, "record_id").unwrap(), time(batch, "record_utc").unwrap());
        (0..batch.num_rows())
            .map(|row| (times.value(row), identity(ids, row).unwrap()))
            .collect()
    };
    assert!(keys(&sorted).is_sorted());
    let mut order: Vec<usize> = (0..90).collect();
    let unsorted_keys = keys(&unsorted);
    order.sort_by_key(|row| unsorted_keys[*row]);
    let order = UInt32Array::from_iter_values(order.into_iter().map(|row| u32::try_from(row).unwrap()));
    let expected = arrow_select::take::take_record_batch(&unsorted, &order).unwrap();
    assert_eq!(sorted, expected);
    assert!((0..90).all(|row| {
        let job = int(&sorted, "line").unwrap().value(row);
        text(&sorted, "job_id").unwrap().value(row) == job.to_string()
    }));
}
