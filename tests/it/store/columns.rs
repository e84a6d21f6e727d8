//! Columns that are encoded here and not by the library: read back by the library, whatever is in them.

use super::memory;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Int64Array,
    RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use gridtally::schema::Encoding;
use gridtally::store::table::{PAGE_ROWS, ROW_GROUP_ROWS};
use gridtally::store::{TableOptions, TableWriter, read_table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::{EnabledStatistics, ReaderProperties, WriterProperties};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::sync::Arc;

pub(super) fn written(schema: &SchemaRef, batches: &[RecordBatch]) -> Vec<u8> {
    let mut options = TableOptions::default();
    for (name, encoding) in [
        ("flag", Encoding::Flag),
        ("step", Encoding::Delta),
        ("id", Encoding::Hash),
        ("hash", Encoding::Hash),
        ("name", Encoding::Prefix),
        ("amount", Encoding::Plain),
    ] {
        if schema.index_of(name).is_ok() {
            options.encodings.push((name, encoding));
        }
    }
    if schema.index_of("id").is_ok() {
        options.bloom.push("id");
    }
    let mut writer = TableWriter::create(Vec::new(), Arc::clone(schema), &options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap().1
}

fn read(bytes: &[u8]) -> RecordBatch {
    let store = memory();
    store.put("t.parquet", bytes.to_vec().into()).unwrap();
    let batches: Vec<RecordBatch> = read_table(store.reader("t.parquet").unwrap(), None, 10_000)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap()
}

pub(super) fn one(name: &str, array: ArrayRef, is_nullable: bool) -> RecordBatch {
    let field = Field::new(name, array.data_type().clone(), is_nullable);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

/// Written as it is and read back.
pub(super) fn comes_back(batch: &RecordBatch) -> Vec<u8> {
    let bytes = written(&batch.schema(), std::slice::from_ref(batch));
    assert!(read(&bytes).columns() == batch.columns());
    bytes
}

pub(super) fn statistics(bytes: Vec<u8>) -> Vec<Statistics> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(&bytes::Bytes::from(bytes), options).unwrap();
    let groups = metadata.metadata().row_groups().iter();
    groups
        .map(|group| group.column(0).statistics().unwrap().clone())
        .collect()
}

/// What the library makes of one column without a dictionary, given a page at a time.
pub(super) fn by_library(batch: &RecordBatch, encoding: parquet::basic::Encoding, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("gridtally ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(compression)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_write_batch_size(PAGE_ROWS)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_enabled(false)
        .set_encoding(encoding)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_key_value_metadata(Some(Vec::new()))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    let rows = batch.num_rows();
    for at in (0..rows).step_by(PAGE_ROWS) {
        writer.write(&batch.slice(at, PAGE_ROWS.min(rows - at))).unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn names_that_begin_alike_are_written_as_the_library_does() {
    let long = "a name of a job that a federation made unique by all it knew of it, \u{e9}cole after \u{e9}cole";
    let patterns: [fn(usize, &str) -> Option<String>; 7] = [
        |i, _| Some(format!("{}.0", 3_000_000 + i)),
        |i, _| (i % 7 != 3).then(|| format!("{}_[{}]", i / 50, i % 50)),
        |_, _| Some(String::new()),
        |i, long| Some(long.get(..i % 60).unwrap_or_default().to_owned()),
        // Few that are longer than a bound, and so many that the library cuts the page, at once or later.
        |i, long| (i % 9 == 0).then(|| format!("{long}{i}")),
        |i, long| Some(format!("{long}{i}")),
        |i, long| (i == 0 || i > 3 * PAGE_ROWS).then(|| format!("{long}{}", i % 1000)),
    ];
    for n in [1, 33, 129, PAGE_ROWS, ROW_GROUP_ROWS + PAGE_ROWS + 5] {
        for (nth, pattern) in patterns.iter().enumerate() {
            let names: StringArray = (0..n).map(|i| pattern(i, long)).collect();
            let batch = one("name", Arc::new(names), true);
            let packed = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
            let library = by_library(&batch, parquet::basic::Encoding::DELTA_BYTE_ARRAY, packed);
            assert!(comes_back(&batch) == library, "pattern {nth} of {n}");
        }
    }
}

#[test]
fn names_in_codes_are_the_same_file_as_texts() {
    let n = ROW_GROUP_ROWS + PAGE_ROWS + 5;
    let long = "x".repeat(200);
    // Each twice, some twice with another between, some missing, and so long that the library writes them.
    let patterns: [fn(usize, &str) -> Option<String>; 4] = [
        |i, _| Some(format!("{}.0", 3_000_000 + i)),
        |i, _| Some(format!("{}", i % 3)),
        |i, _| (i % 7 != 3).then(|| format!("{}_[{}]", i / 50, i % 50)),
        |i, long| Some(format!("{long}{i}")),
    ];
    for (nth, pattern) in patterns.iter().enumerate() {
        let entries: StringArray = (0..n.div_ceil(2)).map(|i| pattern(i, &long)).collect();
        let is_known = |i: usize| pattern(i / 2, &long).is_some();
        let keys: UInt32Array = (0..n)
            .map(|i| is_known(i).then(|| u32::try_from(i / 2).unwrap()))
            .collect();
        let texts: StringArray = (0..n).map(|i| pattern(i / 2, &long)).collect();
        let coded = DictionaryArray::<UInt32Type>::new(keys, Arc::new(entries));
        let coded: ArrayRef = Arc::new(coded);
        let texts = one("name", Arc::new(texts), true);
        let field = Field::new("name", coded.data_type().clone(), true);
        let coded = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![coded]).unwrap();
        let pieces: Vec<RecordBatch> = (0..n).step_by(777).map(|at| coded.slice(at, 777.min(n - at))).collect();
        assert!(written(&texts.schema(), &pieces) == comes_back(&texts), "pattern {nth}");
    }
}

#[test]
fn hashes_are_written_as_the_library_does() {
    let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for (n, from) in [
        (1, 0),
        (PAGE_ROWS, 1),
        (ROW_GROUP_ROWS + PAGE_ROWS + 5, 7),
        (3, u64::MAX - 1),
    ] {
        let hashes: UInt64Array = (0..n as u64).map(|i| spread(from.wrapping_add(i))).collect();
        let batch = one("hash", Arc::new(hashes), false);
        let library = by_library(&batch, parquet::basic::Encoding::PLAIN, Compression::UNCOMPRESSED);
        assert!(comes_back(&batch) == library, "{n} from {from}");
    }
}

#[test]
fn codes_and_texts_are_the_same_file() {
    let texts = [
        "",
        "atlas",
        "cms",
        "\u{e9}cole",
        "atlas",
        "a much longer name that is there as well",
    ];
    let row = |i: usize| (i % 11 != 3).then(|| (i * i / 7 + i / 5000) % texts.len());
    let n = 2 * PAGE_ROWS + 5;
    let plain: StringArray = (0..n).map(|i| row(i).map(|at| texts[at])).collect();
    // The codes of a null name no entry, and one text has two codes.
    let keys: UInt32Array = (0..n).map(|i| row(i).map(|at| u32::try_from(at).unwrap())).collect();
    let coded = DictionaryArray::<UInt32Type>::new(keys, Arc::new(StringArray::from(texts.to_vec())));
    let coded: ArrayRef = Arc::new(coded);
    let field = Field::new("coded", coded.data_type().clone(), true);
    let coded = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![coded]).unwrap();
    let plain = one("text", Arc::new(plain), true);
    let whole = comes_back(&plain);
    let pieces: Vec<RecordBatch> = (0..n).step_by(777).map(|at| coded.slice(at, 777.min(n - at))).collect();
    assert!(written(&plain.schema(), &pieces) == whole);
}

#[test]
fn texts_too_many_for_a_dictionary_come_back() {
    let text =
        |i: usize| (!i.is_multiple_of(5)).then(|| format!("node[{:04}-{:04}],gpu{i:09}", i % 4000, i % 4000 + 64));
    let texts: StringArray = (0..ROW_GROUP_ROWS + 3 * PAGE_ROWS).map(text).collect();
    let bytes = comes_back(&one("text", Arc::new(texts), true));
    for found in statistics(bytes) {
        let (low, high) = (found.min_bytes_opt().unwrap(), found.max_bytes_opt().unwrap());
        assert_eq!((&low[..9], &high[..9]), (&b"node[0001"[..], &b"node[3999"[..]));
    }
}

#[test]
fn bounds_of_long_texts_hold_and_are_short() {
    for last in ["a", "\u{10ffff}", "\u{7f}", "\u{d7ff}"] {
        let long = format!("{}{}", "x".repeat(63), last.repeat(40));
        let batch = one(
            "text",
            Arc::new(StringArray::from(vec![long.as_str(), "b", "zz"])),
            false,
        );
        let batch = batch.slice(0, 2);
        let found = statistics(comes_back(&batch)).remove(0);
        let (low, high) = (found.min_bytes_opt().unwrap(), found.max_bytes_opt().unwrap());
        assert_eq!(low, b"b");
        assert!(high >= long.as_bytes() && high.len() <= 64, "{last:?}: {high:?}");
        assert!(std::str::from_utf8(high).is_ok());
    }
}

#[test]
fn flags_come_back_in_every_pattern() {
    let patterns: [fn(usize) -> bool; 6] = [
        |_| false,
        |_| true,
        |i| i % 2 == 0,
        |i| i % 1000 < 3,
        |i| i > PAGE_ROWS,
        |i| (i / 8) % 3 == 0,
    ];
    for n in [1, 7, 8, 9, 31, 33, PAGE_ROWS - 1, PAGE_ROWS + 13] {
        for (nth, pattern) in patterns.iter().enumerate() {
            let flags: BooleanArray = (0..n).map(|i| Some(pattern(i))).collect();
            let batch = one("flag", Arc::new(flags.clone()), false);
            let found = statistics(comes_back(&batch)).remove(0);
            let (any, all) = ((0..n).any(pattern), (0..n).all(pattern));
            let bound = |bytes: Option<&[u8]>| bytes == Some(&[1]);
            assert_eq!(
                (bound(found.min_bytes_opt()), bound(found.max_bytes_opt())),
                (all, any),
                "pattern {nth} of {n}"
            );
            // A slice that begins within a byte is the same flags.
            let padded: BooleanArray = (0..n + 3).map(|i| Some(i >= 3 && pattern(i - 3))).collect();
            let padded = one("flag", Arc::new(padded), false).slice(3, n);
            assert!(written(&batch.schema(), &[padded]) == written(&batch.schema(), &[batch]));
        }
    }
}

#[test]
fn numbers_come_back_with_their_bounds() {
    let few = |i: usize| [0, -1, i64::MIN, i64::MAX, 42][i * i % 5];
    let many = |i: usize| i64::try_from(i).unwrap() * -7_919;
    for number in [few as fn(usize) -> i64, many] {
        let n = PAGE_ROWS + 100;
        let numbers: Int64Array = (0..n).map(|i| (i % 3 != 1).then(|| number(i))).collect();
        let known = || (0..n).filter(|i| i % 3 != 1).map(number);
        let found = statistics(comes_back(&one("number", Arc::new(numbers), true))).remove(0);
        let Statistics::Int64(found) = found else {
            panic!("of numbers")
        };
        assert_eq!(
            (found.min_opt(), found.max_opt()),
            (known().min().as_ref(), known().max().as_ref())
        );
        assert_eq!(found.null_count_opt(), Some(n as u64 / 3));
    }
}

#[test]
fn days_come_back_with_their_bounds() {
    let few = |i: usize| [0, -1, i32::MIN, i32::MAX, 20_454][i * i % 5];
    let many = |i: usize| i32::try_from(i).unwrap() * -7_919;
    for day in [few as fn(usize) -> i32, many, |_| 20_454] {
        let n = PAGE_ROWS + 100;
        for is_nullable in [false, true] {
            let is_known = |i: &usize| !is_nullable || i % 3 != 1;
            let days: Date32Array = (0..n).map(|i| is_known(&i).then(|| day(i))).collect();
            let known = || (0..n).filter(is_known).map(day);
            let batch = one("day", Arc::new(days), is_nullable);
            let found = statistics(comes_back(&batch)).remove(0);
            let Statistics::Int32(found) = found else {
                panic!("of days")
            };
            assert_eq!(
                (found.min_opt(), found.max_opt()),
                (known().min().as_ref(), known().max().as_ref())
            );
            assert_eq!(found.null_count_opt(), Some((n - known().count()) as u64));
        }
    }
}

#[test]
fn short_decimals_come_back_with_their_bounds() {
    let few = |i: usize| [0_i128, -1, 999_999_999, -999_999_999, 42_500][i * i % 5];
    let many = |i: usize| i128::try_from(i).unwrap() * -7_919;
    for (precision, scale) in [(9, 2), (12, 3), (18, 0)] {
        for decimal in [few as fn(usize) -> i128, many, |_| 10_750] {
            let n = PAGE_ROWS + 100;
            let decimals: Decimal128Array = (0..n).map(|i| (i % 3 != 1).then(|| decimal(i))).collect();
            let decimals = decimals.with_precision_and_scale(precision, scale).unwrap();
            let known = || (0..n).filter(|i| i % 3 != 1).map(decimal);
            let bounds = (known().min().unwrap(), known().max().unwrap());
            let found = statistics(comes_back(&one("decimal", Arc::new(decimals), true))).remove(0);
            let stated = match &found {
                Statistics::Int32(found) => (
                    found.min_opt().map(|n| (*n).into()),
                    found.max_opt().map(|n| (*n).into()),
                ),
                Statistics::Int64(found) => (
                    found.min_opt().map(|n| (*n).into()),
                    found.max_opt().map(|n| (*n).into()),
                ),
                _ => panic!("of numbers"),
            };
            assert_eq!(stated, (Some(bounds.0), Some(bounds.1)));
            assert_eq!(found.null_count_opt(), Some((n - known().count()) as u64));
        }
    }
}

#[test]
fn steps_come_back_with_their_bounds() {
    // The library packs them in the same layout, and reads what it has not written.
    let patterns: [fn(i64) -> Option<i64>; 8] = [
        Some,
        |_| Some(-7),
        |i| (i % 5 != 2).then_some(i * i % 977 - 400),
        |i| Some(if i % 2 == 0 { i64::MIN } else { i64::MAX }),
        |i| (i % 300 == 0).then_some(1_700_000_000_000 + i * 1000),
        |i| Some(i % 256 * (1 << (i / 256 % 55))),
        |i| Some((i64::MAX / 3).wrapping_mul(i)),
        |i| (i > 30_000).then_some(i),
    ];
    let page = i64::try_from(PAGE_ROWS).unwrap();
    for n in [1, 2, 64, 65, 256, 257, 258, 321, 513, page, 2 * page + 700] {
        for (nth, pattern) in patterns.iter().enumerate() {
            let steps: Int64Array = (0..n).map(pattern).collect();
            let batch = one("step", Arc::new(steps), true);
            let bytes = comes_back(&batch);
            // Pieces make no difference.
            let (rows, piece) = (batch.num_rows(), 611);
            let pieces: Vec<RecordBatch> = (0..rows)
                .step_by(piece)
                .map(|at| batch.slice(at, piece.min(rows - at)))
                .collect();
            assert!(written(&batch.schema(), &pieces) == bytes, "pattern {nth} of {n}");
            let found = statistics(bytes).remove(0);
            let bound = |bytes: Option<&[u8]>| bytes.map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()));
            let known = || (0..n).filter_map(pattern);
            assert_eq!(
                (bound(found.min_bytes_opt()), bound(found.max_bytes_opt())),
                (known().min(), known().max()),
                "pattern {nth} of {n}"
            );
        }
    }
}

#[test]
fn identities_come_back_and_their_filter_knows_them() {
    let n = u64::try_from(ROW_GROUP_ROWS + PAGE_ROWS + 3).unwrap();
    let id = |i: u64| (u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(i)).to_be_bytes();
    let ids = FixedSizeBinaryArray::try_from_iter((0..n).map(id)).unwrap();
    let batch = one("id", Arc::new(ids), false);
    let bytes = bytes::Bytes::from(comes_back(&batch));
    let found = statistics(bytes.to_vec()).remove(0);
    let group = u64::try_from(ROW_GROUP_ROWS).unwrap();
    let bounds = |pick: fn(&mut dyn Iterator<Item = [u8; 16]>) -> Option<[u8; 16]>| pick(&mut (0..group).map(id));
    assert_eq!(
        found.min_bytes_opt(),
        bounds(|ids| ids.min()).as_ref().map(<[u8; 16]>::as_slice)
    );
    assert_eq!(
        found.max_bytes_opt(),
        bounds(|ids| ids.max()).as_ref().map(<[u8; 16]>::as_slice)
    );
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    let reader = SerializedFileReader::new_with_options(bytes, options).unwrap();
    let filter = |at| {
        let group = reader.get_row_group(at).unwrap();
        group.get_column_bloom_filter(0).unwrap().clone()
    };
    let (first, second) = (filter(0), filter(1));
    for i in 0..n {
        assert!(
            (if i < group { &first } else { &second }).check(id(i).as_slice()),
            "{i}"
        );
    }
    let wrong = (group..n).filter(|i| first.check(id(*i).as_slice())).count();
    assert!(wrong < PAGE_ROWS / 20, "{wrong}");
}

#[test]
fn identities_that_repeat_come_back_in_less_room() {
    let ids = |each: usize| {
        let id = |row: usize| (u128::try_from(row / each).unwrap() * (u128::MAX / 1_000_003)).to_be_bytes();
        let rows = 2 * PAGE_ROWS + 77;
        let ids = FixedSizeBinaryArray::try_from_iter((0..rows).map(id)).unwrap();
        one("id", Arc::new(ids), false)
    };
    let bounds = |bytes: &[u8]| {
        let found = statistics(bytes.to_vec()).remove(0);
        let bound = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        (bound(found.min_bytes_opt()), bound(found.max_bytes_opt()))
    };
    let plain = comes_back(&ids(1));
    for each in [2, 3, 7] {
        let batch = ids(each);
        let bytes = comes_back(&batch);
        // The identities once, and codes of at most 17 bits.
        let once = plain.len() / each;
        assert!(bytes.len() < once + plain.len() / 6, "{each}: {}", bytes.len());
        // Rows that come in other pieces are the same file.
        let pieces: Vec<RecordBatch> = (0..batch.num_rows())
            .step_by(611)
            .map(|at| batch.slice(at, 611.min(batch.num_rows() - at)))
            .collect();
        assert!(written(&batch.schema(), &pieces) == bytes);
        let known = batch.column(0).as_fixed_size_binary();
        let last = known.value(known.len() - 1).to_vec();
        assert_eq!(bounds(&bytes), (Some(known.value(0).to_vec()), Some(last)));
    }
}

#[test]
fn columns_without_a_value_come_back_and_may_fill_late() {
    for data_type in [
        DataType::Int64,
        DataType::Utf8,
        DataType::Decimal128(38, 7),
        DataType::Date32,
    ] {
        let none = arrow_array::new_null_array(&data_type, 2 * PAGE_ROWS);
        let found = statistics(comes_back(&one("empty", none, true))).remove(0);
        assert_eq!(
            (found.null_count_opt(), found.min_bytes_opt()),
            (Some(2 * PAGE_ROWS as u64), None)
        );
    }
    let late: Int64Array = (0..3 * PAGE_ROWS).map(|i| (i > 2 * PAGE_ROWS).then_some(5)).collect();
    let bytes = comes_back(&one("late", Arc::new(late), true));
    assert_eq!(
        read(&bytes)
            .column(0)
            .as_primitive::<arrow_array::types::Int64Type>()
            .value(2 * PAGE_ROWS + 1),
        5
    );
}
