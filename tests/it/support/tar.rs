//! Archives for tests, written byte by byte.

/// A tar of plain files with a proper end.
pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out: Vec<u8> = members
        .iter()
        .flat_map(|(name, data)| entry(name, b'0', data))
        .collect();
    out.extend([0; 1024]);
    out
}

/// One header with its data, filled up to whole blocks. A name of more than 100 bytes gets a GNU header of its own.
pub(crate) fn entry(name: &str, kind: u8, data: &[u8]) -> Vec<u8> {
    if name.len() > 100 {
        let mut long = entry("././@LongLink", b'L', format!("{name}\0").as_bytes());
        long.extend(entry(&name[..100], kind, data));
        return long;
    }
    let mut header = vec![0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..136].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
    header[148..156].copy_from_slice(b"        ");
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend_from_slice(data);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

/// As gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}
