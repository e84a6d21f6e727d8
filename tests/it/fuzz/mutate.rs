//! How inputs are damaged.

use crate::generator::rng::Rng;

/// What readers may stumble over.
const TOKENS: &[&[u8]] = &[
    b"|",
    b"||",
    b"%%",
    b"\n%%\n",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x92",
    b"\t",
    b" ",
    b":",
    b"::",
    b",",
    b";",
    b"=",
    b"\"",
    b"'",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b"{[",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":",
    b"null",
    b"true",
    b"-",
    b"+",
    b"-0",
    b"0",
    b"-1",
    b".",
    b"1.5",
    b"1e400",
    b"1e-400",
    b"-1e308",
    b"NaN",
    b"inf",
    b"2147483647",
    b"2147483648",
    b"4294967295",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"340282366920938463463374607431768211456",
    b"99999999999999999999999999999999999999999999999999",
    b"0000000000000000000000000000000000000000000000000001",
    b"n[1-999999999]",
    b"n[1-9999999999999999999]",
    b"n[1-9][1-9][1-9][1-9][1-9][1-9][1-9][1-9][1-9]",
    b"n[9-1]",
    b"n[",
    b"[1_2-3%4]",
    b"1-00:00:00",
    b"99999999-23:59:59",
    b"00:00:00.999999999",
    b"9999-12-31T23:59:59",
    b"0000-00-00T00:00:00",
    b"1970-01-01T00:00:00",
    b"2026-03-29T02:30:00",
    b"2026-02-30T25:61:61",
    b"-009999-01-01T00:00:00Z",
    b"PT999999999999999999H",
    b"P1Y2M3DT4H5M6.7S",
    b"-PT1S",
    b"Unknown",
    b"None",
    b"(null)",
    b"UNLIMITED",
    b"INFINITE",
    b"99999999999T",
    b"16.5Gn",
    b"gres/gpu:a100=999999999999",
    b"billing=9223372036854775807",
    b"<!DOCTYPE a [<!ENTITY b \"cccccccccc\"><!ENTITY d \"&b;&b;&b;\">]>",
    b"&b;",
    b"&#0;",
    b"&#x110000;",
    b"&amp;",
    b"<a>",
    b"</a>",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"<?xml version=\"1.0\" encoding=\"UTF-16\"?>",
    b"APEL-individual-job-message: v0.3\n",
    b"APEL-summary-job-message: v0.2\n",
    b"replication|",
    b"#gridtally row {\"line\":18446744073709551615,\"byte_offset\":0,\"reason\":\"x\"}\n",
    b"#gridtally header\n",
    b"; UnixStartTime: 9223372036854775807\n",
    b"; TimeZoneString: Europe/Zurich\n",
    b"*** Offset = 99999999999 ClusterId = 1 ProcId = 0 Owner = \"a\" CompletionDate = 1\n",
    b"cluster.batch",
    b".extern",
    b"+1",
    b"_[0-4294967295]",
    b"\"JOB_FINISH\" \"10.1\" ",
];

/// Damages `input` up to a few times. `other` is what it may be spliced with.
pub(super) fn mutate(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8]) {
    // Undamaged inputs too: how they arrive and are cut is a mutation of its own.
    for _ in 0..rng.between(0, 9) {
        once(rng, input, other);
    }
}

/// A place in `bytes`, its end included.
fn place(rng: &mut Rng, bytes: &[u8]) -> usize {
    below(rng, bytes.len() + 1)
}

/// A number below `n`.
pub(super) fn below(rng: &mut Rng, n: usize) -> usize {
    usize::try_from(rng.bits() % u64::try_from(n.max(1)).unwrap()).unwrap()
}

/// A range of at most `longest` bytes.
fn range(rng: &mut Rng, bytes: &[u8], longest: usize) -> std::ops::Range<usize> {
    let start = place(rng, bytes);
    let length = below(rng, longest.min(bytes.len() - start) + 1);
    start..start + length
}

/// A whole line of `bytes`, its end included.
fn line(rng: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let at = place(rng, bytes);
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1);
    start..end
}

/// A run of letters and digits of `bytes`: what a value or a name is in most dialects.
fn word(rng: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let at = place(rng, bytes);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.' || *byte >= 0x80;
    let start = at - bytes[..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    start..end
}

fn once(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8]) {
    match rng.between(0, 14) {
        0 => {
            let at = place(rng, input);
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << below(rng, 8);
            }
        }
        1 => {
            let at = place(rng, input);
            if let Some(byte) = input.get_mut(at) {
                *byte = u8::try_from(below(rng, 256)).unwrap();
            }
        }
        2 => input.truncate(place(rng, input)),
        3 => {
            input.drain(range(rng, input, 64));
        }
        4 => {
            let copied = input[range(rng, input, 400)].to_vec();
            let at = place(rng, input);
            input.splice(at..at, copied);
        }
        5 => {
            let copied = input[line(rng, input)].to_vec();
            let at = line(rng, input).start;
            input.splice(at..at, copied);
        }
        6 => {
            input.drain(line(rng, input));
        }
        7 => {
            let at = place(rng, input);
            input.splice(at..at, rng.pick(TOKENS).iter().copied());
        }
        8..=10 => {
            let at = word(rng, input);
            input.splice(at, rng.pick(TOKENS).iter().copied());
        }
        11 => {
            let taken = other[range(rng, other, 1000)].to_vec();
            let at = range(rng, input, 1000);
            input.splice(at, taken);
        }
        12 => {
            let taken = other[line(rng, other)].to_vec();
            let at = line(rng, input).start;
            input.splice(at..at, taken);
        }
        _ => {
            // One byte, or one short piece, very often.
            let repeated = if rng.one_in(4) {
                rng.pick(TOKENS).to_vec()
            } else {
                input[range(rng, input, 12)].to_vec()
            };
            let at = place(rng, input);
            let most = if rng.one_in(20) { 20_000 } else { 300 };
            let times = below(rng, most);
            input.splice(at..at, repeated.repeat(times));
        }
    }
}
