//! Records that wait come back as they went, whatever they were packed to.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use gridtally::records::waiting::number::{self, Numbers};
use gridtally::records::waiting::word::Words;
use gridtally::records::waiting::{self, Part, Run, gather};
use proptest::prelude::*;
use proptest::{collection, option};

fn packed(values: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut numbers = Numbers::default();
    for value in values {
        numbers.push(*value);
    }
    let Some((field, array)) = numbers.finish("n") else {
        return vec![None; values.len()];
    };
    let all = Run {
        first: 0,
        len: values.len(),
    };
    let mut back = Vec::new();
    number::unpack(&field, &array, &[all], &mut back).unwrap();
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

    #[test]
    fn texts_come_back_as_they_were_packed(
        values in collection::vec(option::of("[a-c]{0,2}|[a-zé]{0,9}"), 0..3000),
        cut in 0..3000_usize,
        is_coded in any::<bool>(),
    ) {
        let mut words = if is_coded { Words::coded() } else { Words::plain() };
        let mut parts = Vec::new();
        // Two batches, so that the dictionaries differ; only the odd rows are asked for, so that some entries are not.
        for half in [&values[..cut.min(values.len())], &values[cut.min(values.len())..]] {
            for value in half {
                words.push(value.as_deref()).unwrap();
            }
            let mut row_ids = Numbers::default();
            (0..half.len()).for_each(|_| row_ids.push(Some(7)));
            let mut columns: Vec<_> = row_ids.finish("record_utc").into_iter().collect();
            columns.extend(words.finish("account").unwrap());
            if !half.is_empty() {
                let runs = (0..half.len()).filter(|row| row % 2 == 1).map(|first| Run { first, len: 1 }).collect();
                parts.push(Part { batch: waiting::batch(columns).unwrap(), runs });
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
            let batch = waiting::pack(&gathered).unwrap();
            if batch.num_rows() > 0 {
                let all = Run { first: 0, len: batch.num_rows() };
                check(&gather(&[Part { batch, runs: vec![all] }]).unwrap())?;
            }
        }
    }
}
