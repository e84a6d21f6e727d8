//! The sample data: two invented sites, three dialects, five months. What is odd about which job, and what must become
//! of it, stands in `sample-data/README.md`.

mod alp;
mod alp_odd;
mod bay_apel;
mod bay_gracc;
mod tables;

use std::collections::BTreeMap;
use std::io::Write;

/// Every generated file: its path under `sample-data/` and its bytes.
pub(crate) fn files() -> BTreeMap<&'static str, Vec<u8>> {
    let mut files = BTreeMap::new();
    alp::dumps(&mut files);
    bay_apel::messages(&mut files);
    bay_gracc::dumps(&mut files);
    tables::tables(&mut files);
    files
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::new(9));
    encoder.write_all(bytes).expect("memory takes bytes");
    encoder.finish().expect("memory takes bytes")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 19).expect("memory takes bytes")
}
