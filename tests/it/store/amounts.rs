//! Amounts as they are: packed at a level of their own, and otherwise written as the library does.

use std::sync::Arc;

use arrow_array::{Array, Decimal128Array};
use gridtally::store::table::{PAGE_ROWS, ROW_GROUP_ROWS};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};

use super::columns::{by_library, comes_back, one, statistics};

/// All of the only column of a file that does not depend on how far its pages are packed: each page, what the footer states of it and of
/// each chunk, and the indexes of both.
fn unpacked(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let options = ReadOptionsBuilder::new().with_page_index().build();
    let file = SerializedFileReader::new_with_options(bytes, options).unwrap();
    let metadata = file.metadata();
    let mut found = vec![format!("{:?}", metadata.file_metadata())];
    for at in 0..file.num_row_groups() {
        let chunk = metadata.row_group(at).column(0);
        found.push(format!(
            "{} rows, {} values, {} bytes, {:?}, {:?}, {:?}, {:?}",
            metadata.row_group(at).num_rows(),
            chunk.num_values(),
            chunk.uncompressed_size(),
            chunk.compression(),
            chunk.encodings().collect::<Vec<_>>(),
            chunk.page_encoding_stats(),
            chunk.statistics()
        ));
        let index = metadata.page_index_for_row_group(at);
        found.push(format!("{:?}", index.column_index(0).unwrap()));
        let places = index.offset_index(0).unwrap().page_locations();
        let first_rows: Vec<i64> = places.iter().map(|place| place.first_row_index).collect();
        found.push(format!("{first_rows:?}"));
        for page in file.get_row_group(at).unwrap().get_column_page_reader(0).unwrap() {
            found.push(format!("{:?}", page.unwrap()));
        }
    }
    found
}

#[test]
fn amounts_are_written_as_the_library_does() {
    let patterns: [fn(usize) -> Option<i128>; 5] = [
        |i| Some(i as i128 * 1_000_000_007 - 5_000_000_000_000),
        |i| (i % 7 != 3).then_some(-(i as i128)),
        |i| (i == 0 || i > 3 * PAGE_ROWS).then_some(i128::from(i64::MAX) * i as i128),
        |i| {
            Some(if i % 2 == 0 {
                10_i128.pow(37)
            } else {
                -(10_i128.pow(37))
            })
        },
        |_| None,
    ];
    for n in [1, 33, PAGE_ROWS, ROW_GROUP_ROWS + PAGE_ROWS + 5] {
        for (nth, pattern) in patterns.iter().enumerate() {
            let amounts: Decimal128Array = (0..n).map(pattern).collect();
            let amounts = amounts.with_precision_and_scale(38, 9).unwrap();
            let is_whole = amounts.null_count() == 0;
            let batch = one("amount", Arc::new(amounts), true);
            let packed = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
            let library = by_library(&batch, parquet::basic::Encoding::PLAIN, packed);
            let own = comes_back(&batch);
            // They are packed at a level of their own, and which rows are null is in fewer runs than the library's.
            assert!(
                !is_whole || unpacked(&own) == unpacked(&library),
                "pattern {nth} of {n}"
            );
            assert_eq!(statistics(own), statistics(library), "pattern {nth} of {n}");
        }
    }
}
