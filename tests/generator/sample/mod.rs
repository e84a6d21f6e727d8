//! The sample data: two invented sites, three dialects, five months. What is odd about which job, and what must become
//! of it, is in `sample-data/README.md`.

mod alp;
mod alp_odd;
mod bay_apel;
mod bay_gracc;
mod tables;
mod trace;

use std::collections::BTreeMap;

/// Every generated file: its path under `sample-data/` and its bytes.
pub(crate) fn files() -> BTreeMap<&'static str, Vec<u8>> {
    let mut files = BTreeMap::new();
    alp::dumps(&mut files);
    bay_apel::messages(&mut files);
    bay_gracc::dumps(&mut files);
    tables::tables(&mut files);
    trace::trace(&mut files);
    files
}

/// A gzip file without name and time. Its bytes are in the repository, so the packer is named here: another one packs
/// otherwise.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let mut packed = HEAD.to_vec();
    packed.extend(miniz_oxide::deflate::compress_to_vec(bytes, 9));
    packed.extend(crc.sum().to_le_bytes());
    packed.extend(crc.amount().to_le_bytes());
    packed
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 19).expect("memory takes bytes")
}
