//! Parquet: the bytes depend on the rows and the options, and on nothing else.

use super::memory;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Int32Array, Int64Array,
    ListArray, RecordBatch, StringArray, StringViewArray, StructArray, TimestampMillisecondArray, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use gridtally::error::Kind;
use gridtally::store::table::{PAGE_ROWS, ROW_GROUP_ROWS};
use gridtally::store::{TableOptions, TableWriter, footer, read_table, row_groups, rows};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// One of each kind of column gridtally publishes, `n` rows, with nulls in some stretches and not in others.
pub(super) fn sample(n: usize) -> RecordBatch {
    let rows = || 0..i64::try_from(n).unwrap();
    let ids = rows().map(|i| blake3::hash(&i.to_le_bytes()).as_bytes()[..16].to_vec());
    let ids: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_iter(ids.chain((n == 0).then(|| vec![0; 16]))).unwrap());
    let site: DictionaryArray<Int32Type> = rows()
        .map(|i| (!sparse(i, 0)).then_some(["CERN-PROD", "UKI-SCOTGRID", "é"][usize::try_from(i % 3).unwrap()]))
        .collect();
    let gpus = gpus(n);
    let tags = tags(n);
    let columns: Vec<(Field, ArrayRef)> = vec![
        (
            Field::new("record_id", DataType::FixedSizeBinary(16), false).with_metadata(HashMap::from([(
                "ARROW:extension:name".to_owned(),
                "arrow.uuid".to_owned(),
            )])),
            ids.slice(0, n),
        ),
        (
            plain("site", DataType::Utf8),
            arrow_cast::cast(&site, &DataType::Utf8).unwrap(),
        ),
        (
            plain("vo", DataType::Utf8View),
            Arc::new(
                rows()
                    .map(|i| Some(format!("a-rather-long-vo-name-{}", if i % 3 == 0 { 0 } else { i })))
                    .collect::<StringViewArray>(),
            ),
        ),
        (
            plain("user", DataType::Utf8),
            Arc::new(
                rows()
                    .map(|i| (!sparse(i, 1)).then(|| "x".repeat(usize::try_from(i % 90).unwrap())))
                    .collect::<StringArray>(),
            ),
        ),
        (
            unit(
                "end_utc",
                DataType::Timestamp(arrow_schema::TimeUnit::Millisecond, None),
                "ms",
                "when it ended",
            ),
            Arc::new(TimestampMillisecondArray::from_iter_values(
                rows().map(|i| 1_700_000_000_000 + i),
            )),
        ),
        (
            plain("day", DataType::Date32),
            Arc::new(
                rows()
                    .map(|i| (!sparse(i, 2)).then(|| i32::try_from(i % 31).unwrap()))
                    .collect::<Date32Array>(),
            ),
        ),
        (
            unit("charge", DataType::Decimal128(38, 6), "core-h", "what it cost"),
            Arc::new(
                rows()
                    .map(|i| (!sparse(i, 0)).then(|| i128::from(i) * 1_000_003))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(38, 6)
                    .unwrap(),
            ),
        ),
        (
            unit("wall_ms", DataType::Int64, "ms", "elapsed"),
            Arc::new(
                rows()
                    .map(|i| (!sparse(i, 1)).then_some(i * 7919))
                    .collect::<Int64Array>(),
            ),
        ),
        (
            plain("cores", DataType::Int32),
            Arc::new(
                rows()
                    .map(|i| (i > 40_000).then(|| i32::try_from(i % 128).unwrap()))
                    .collect::<Int32Array>(),
            ),
        ),
        (plain("gpus", gpus.data_type().clone()), Arc::new(gpus)),
    ];
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    fields.push(plain("tags", tags.data_type().clone()));
    arrays.push(Arc::new(tags));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// Where a column has nulls: whole stretches of rows, and scattered ones.
fn sparse(i: i64, kind: i64) -> bool {
    (i / 30_000) % 3 == kind || (i % 7 == kind && i > 50_000)
}

fn gpus(n: usize) -> ListArray {
    let gpu_fields = Fields::from(vec![
        Field::new("model", DataType::Utf8, false),
        Field::new("gpu_n", DataType::Int64, false),
    ]);
    let lengths: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let gpu_n: usize = lengths.iter().sum();
    let gpus = StructArray::new(
        gpu_fields.clone(),
        vec![
            Arc::new(StringArray::from_iter_values((0..gpu_n).map(|i| format!("a{}", i % 5)))),
            Arc::new(Int64Array::from_iter_values(
                (0..gpu_n).map(|i| i64::try_from(i % 8).unwrap()),
            )),
        ],
        None,
    );
    ListArray::new(
        Arc::new(Field::new("item", DataType::Struct(gpu_fields), false)),
        OffsetBuffer::from_lengths(lengths),
        Arc::new(gpus),
        None,
    )
}

fn tags(n: usize) -> ListArray {
    let mut tags = ListBuilder::new(StringBuilder::new());
    for i in 0..i64::try_from(n).unwrap() {
        for k in 0..(i % 4) {
            tags.values().append_option((!sparse(i, 1)).then(|| format!("tag{k}")));
        }
        tags.append(!sparse(i, 2));
    }
    tags.finish()
}

fn plain(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, true)
}

fn unit(name: &str, kind: DataType, unit: &str, description: &str) -> Field {
    let pairs = [("unit", unit), ("description", description)].map(|(k, v)| (k.to_owned(), v.to_owned()));
    plain(name, kind).with_metadata(HashMap::from(pairs))
}

pub(super) fn options() -> TableOptions<'static> {
    TableOptions {
        sorting: vec!["end_utc", "record_id"],
        bloom: vec!["record_id"],
        footer: vec![
            ("z".to_owned(), "last".to_owned()),
            ("a".to_owned(), "first".to_owned()),
        ],
        ..TableOptions::default()
    }
}

pub(super) fn write(schema: SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Vec<u8> {
    let mut writer = TableWriter::create(Vec::new(), schema, &options()).unwrap();
    for batch in batches {
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap().1
}

/// The same rows in another physical form: copied, or a slice of something larger that has nulls elsewhere.
fn disguised(batch: &RecordBatch, how: u8) -> RecordBatch {
    let columns = batch.columns().iter().map(|column| match how {
        0 => Arc::clone(column),
        1 => {
            let nulls = new_null_array(column.data_type(), 9);
            let larger = arrow_select::concat::concat(&[&nulls, column, &nulls]).unwrap();
            larger.slice(9, column.len())
        }
        _ => {
            let all = Int32Array::from_iter_values(0..i32::try_from(column.len()).unwrap());
            arrow_select::take::take(column, &all, None).unwrap()
        }
    });
    RecordBatch::try_new(batch.schema(), columns.collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn slicing_does_not_change_a_byte(
        n in prop_oneof![Just(0_usize), 1..3000_usize, Just(PAGE_ROWS), 60_000..200_000_usize],
        cuts in prop::collection::vec((1..60_000_usize, 0..3_u8), 1..20),
    ) {
        let all = sample(n);
        let whole = write(all.schema(), [all.clone()]);
        let mut start = 0;
        let slices = cuts.iter().cycle().map_while(|&(length, how)| {
            let length = length.min(n - start);
            let slice = (length > 0).then(|| disguised(&all.slice(start, length), how));
            start += length;
            slice
        });
        let sliced = write(all.schema(), slices);
        prop_assert!(whole == sliced, "{} rows give different bytes", n);
    }
}

#[test]
fn tiny_slices_and_one_slice_are_the_same_file() {
    let all = sample(45_000);
    let whole = write(all.schema(), [all.clone()]);
    assert!(
        write(all.schema(), [disguised(&all, 1)]) == whole,
        "a slice of something with nulls"
    );
    for step in [13, 1000, PAGE_ROWS - 1, PAGE_ROWS, PAGE_ROWS + 1] {
        let slices = (0..all.num_rows())
            .step_by(step)
            .map(|start| all.slice(start, step.min(all.num_rows() - start)));
        assert!(write(all.schema(), slices) == whole, "slices of {step} rows");
    }
}

#[test]
fn rows_come_back_as_written() {
    let all = sample(130_000);
    let store = memory();
    store
        .put("t.parquet", write(all.schema(), [all.clone()]).into())
        .unwrap();
    let reader = store.reader("t.parquet").unwrap();
    assert_eq!(rows(&reader).unwrap(), 130_000);
    let pairs = [("a", "first"), ("z", "last")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(footer(&reader).unwrap(), pairs);
    let batches: Vec<RecordBatch> = read_table(reader.clone(), None, 4096)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(batches.iter().all(|batch| batch.num_rows() <= 4096));
    let back = arrow_select::concat::concat_batches(&all.schema(), &batches).unwrap();
    assert!(back == all);
    assert_eq!(
        batches[0].schema().fields(),
        all.schema().fields(),
        "units and descriptions included"
    );

    let some: Vec<RecordBatch> = read_table(reader.clone(), Some(&["wall_ms", "site"]), usize::MAX)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(some.iter().all(|batch| {
        batch
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().as_str())
            .eq(["site", "wall_ms"])
    }));
    assert_eq!(
        read_table(reader, Some(&["nonsense"]), 1).err().unwrap().kind(),
        Kind::Data
    );

    store
        .put("bad.parquet", "PAR1 this is not Parquet PAR1".into())
        .unwrap();
    assert_eq!(
        rows(&store.reader("bad.parquet").unwrap()).unwrap_err().kind(),
        Kind::Io
    );
}

/// An error of one among a hundred files names the damaged one, wherever the damage is.
#[test]
fn errors_of_damaged_files_name_them() {
    let all = sample(20_000);
    let whole = write(all.schema(), [all.clone()]);
    let store = memory();
    let reported = |path: &str, bytes: Vec<u8>, columns: Option<&[&str]>| {
        store.put(path, bytes.into()).unwrap();
        let read = read_table(store.reader(path).unwrap(), columns, 1000);
        let error = read.and_then(Iterator::collect::<Result<Vec<_>, _>>).err().unwrap();
        assert_eq!(error.to_string().matches(path).count(), 1, "{error}");
        (error.kind(), error.to_string())
    };
    let mut page = whole.clone();
    page[4..5000].fill(0xff);
    assert_eq!(reported("a/page.parquet", page, None).0, Kind::Io);
    let mut footer = whole.clone();
    let end = footer.len() - 8;
    footer[end - 300..end].fill(0xff);
    assert_eq!(reported("a/footer.parquet", footer, None).0, Kind::Io);
    assert_eq!(reported("a/short.parquet", whole[..7].to_vec(), None).0, Kind::Io);
    assert_eq!(
        reported("a/column.parquet", whole.clone(), Some(&["nonsense"])).0,
        Kind::Data
    );

    let short = store.reader("a/short.parquet").unwrap();
    for error in [rows(&short).unwrap_err(), row_groups(&short).unwrap_err()] {
        assert!(error.to_string().contains("(path a/short.parquet)"), "{error}");
    }
}

#[test]
fn the_layout_is_as_promised() {
    let all = sample(ROW_GROUP_ROWS + 1);
    let bytes = bytes::Bytes::from(write(all.schema(), [all.clone()]));
    let options = parquet::arrow::arrow_reader::ArrowReaderOptions::new()
        .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(&bytes, options).unwrap();
    let metadata = metadata.metadata();
    assert_eq!(
        metadata.file_metadata().created_by(),
        Some(concat!("gridtally ", env!("CARGO_PKG_VERSION")))
    );
    let groups: Vec<i64> = metadata
        .row_groups()
        .iter()
        .map(parquet::file::metadata::RowGroupMetaData::num_rows)
        .collect();
    assert_eq!(groups, [122_880, 1]);
    let group = metadata.row_group(0);
    let sorting: Vec<i32> = group
        .sorting_columns()
        .unwrap()
        .iter()
        .map(|column| column.column_idx)
        .collect();
    assert_eq!(sorting, [4, 0]);
    for column in group.columns() {
        assert_eq!(
            column.bloom_filter_offset().is_some(),
            column.column_path().string() == "record_id"
        );
        assert!(column.statistics().is_some());
        // (Pages of a nested column that hold no value at all have no bounds, and then there is no column index.)
        let plain = column.column_path().parts().len() == 1;
        assert!(!plain || column.column_index_offset().is_some());
        assert!(column.offset_index_offset().is_some());
    }
    let index = metadata.page_index_for_row_group(0);
    assert!(index.column_index(7).is_some());
    let wall = index.offset_index(7).unwrap();
    let starts: Vec<i64> = wall.page_locations().iter().map(|page| page.first_row_index).collect();
    assert_eq!(starts, [0, 20_480, 40_960, 61_440, 81_920, 102_400]);
}

#[test]
fn wrong_options_and_batches_are_refused() {
    let all = sample(3);
    let with = |change: fn(&mut TableOptions<'static>)| {
        let mut options = options();
        change(&mut options);
        TableWriter::create(Vec::new(), all.schema(), &options)
            .err()
            .map(|e| e.kind())
    };
    assert_eq!(with(|_| ()), None);
    assert_eq!(with(|o| o.bloom.push("nonsense")), Some(Kind::Internal));
    assert_eq!(with(|o| o.sorting.push("gpus")), Some(Kind::Internal));
    assert_eq!(
        with(|o| o.footer.push(("a".to_owned(), "again".to_owned()))),
        Some(Kind::Internal)
    );
    let mut writer = TableWriter::create(Vec::new(), all.schema(), &options()).unwrap();
    let other = RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]).unwrap();
    assert_eq!(writer.write(&other).unwrap_err().kind(), Kind::Internal);
}
