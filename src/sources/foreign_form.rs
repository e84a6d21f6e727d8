//! Files that are packed or encoded as no reader takes them, recognised by their first bytes.

/// What packs files and is not unpacked: how it begins, and its name.
const PACKINGS: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"PK\x07\x08", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\x04\x22\x4d\x18", "an lz4 file"),
    (b"\x02\x21\x4c\x18", "an lz4 file"),
    (b"\x89LZO\x00\r\n\x1a\n", "an lzop file"),
    (b"LZIP\x01", "an lzip file"),
    (b"\x5d\x00\x00", "an lzma file"),
    (b"\xff\x06\x00\x00sNaPpY", "a snappy file"),
    (b"\x1f\x9d", "a file of compress (.Z)"),
    (b"\x1f\xa0", "a file of compress (.Z)"),
    (b"\x1f\x1e", "a file of pack (.z)"),
];

/// The marks before text in two bytes a character, of either order.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Why unpacked bytes that begin so are not read, and what helps; `None` where a reader may know them. Ten bytes are enough.
pub(super) fn refusal(head: &[u8]) -> Option<String> {
    if let Some((_, name)) = PACKINGS.iter().find(|(mark, _)| head.starts_with(mark)) {
        let message = format!("{name} is not read: unpack it, or pack it as gzip, bzip2, xz, Zstandard or tar");
        return Some(message);
    }
    let is_utf_16 = UTF_16.iter().any(|mark| head.starts_with(mark));
    is_utf_16.then(|| "text in UTF-16 is not read: make it UTF-8 (iconv -f UTF-16 -t UTF-8)".to_owned())
}
