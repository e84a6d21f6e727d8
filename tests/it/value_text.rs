//! Texts of values, held against those of `arrow-cast`.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Int32Array, Int64Array, StringArray,
    TimestampMillisecondArray, UInt64Array,
};
use arrow_cast::display::array_value_to_string;
use gridtally::audit::value_text::value_text;
use gridtally::schema::dataset::gpu_fields;

/// Two lists of devices, an empty one and none.
fn devices() -> ArrayRef {
    let builders: [Box<dyn arrow_array::builder::ArrayBuilder>; 2] =
        [Box::new(StringBuilder::new()), Box::new(Int64Builder::new())];
    let mut lists = ListBuilder::new(StructBuilder::new(gpu_fields(), Vec::from(builders)));
    for models in [&[("a100", 2), ("h100", 4)][..], &[("v100", 1)], &[]] {
        for (model, device_n) in models {
            let element = lists.values();
            element.field_builder::<StringBuilder>(0).unwrap().append_value(model);
            element
                .field_builder::<Int64Builder>(1)
                .unwrap()
                .append_value(*device_n);
            element.append(true);
        }
        lists.append(true);
    }
    lists.append(false);
    Arc::new(lists.finish())
}

fn identities() -> ArrayRef {
    let mut identities = FixedSizeBinaryBuilder::new(4);
    identities.append_value([0, 1, 0xab, 0xff]).unwrap();
    identities.append_null();
    Arc::new(identities.finish())
}

#[test]
fn values_have_the_texts_that_arrow_gives_them() {
    let decimals = Decimal128Array::from(vec![Some(0), Some(-1), Some(1_500), Some(i128::MAX / 10), None]);
    let instants = [0, -1, 1_700_000_000_000, 1_700_000_000_500, 1_700_000_000_050];
    let arrays: [ArrayRef; 10] = [
        Arc::new(StringArray::from(vec![Some("a, b"), Some(""), None])),
        Arc::new(DictionaryArray::<UInt32Type>::from_iter([
            Some("x"),
            Some("y"),
            None,
            Some("x"),
        ])),
        Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(0), None])),
        Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])),
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
        Arc::new(decimals.with_precision_and_scale(38, 3).unwrap()),
        Arc::new(Date32Array::from(vec![Some(0), Some(-1), Some(20_000), None])),
        Arc::new(TimestampMillisecondArray::from(
            [instants.map(Some).as_slice(), &[None]].concat(),
        )),
        devices(),
        identities(),
    ];
    for array in arrays {
        for row in 0..array.len() {
            let expected = array_value_to_string(&array, row).unwrap();
            let kind = array.data_type();
            // A half second is written with as many digits as it needs.
            let expected = if kind.is_temporal() && expected.contains('.') {
                expected.trim_end_matches('0').to_owned()
            } else {
                expected
            };
            assert_eq!(value_text(&array, row).unwrap(), expected, "{kind} {row}");
        }
    }
    let foreign: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    assert!(value_text(&foreign, 0).is_err());
}
