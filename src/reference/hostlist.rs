//! Lists of hosts as Slurm writes them: `n[001-004,007],rack[1-2]n[01-02]`.
//!
//! The rules were found by asking `scontrol show hostnames` of Slurm 22.05:
//!
//! * names are separated by commas or blanks outside brackets; empty names between separators mean nothing;
//! * numbers are padded with zeros to the width of the **low** end: `a[9-11]` is a9 a10 a11, `a[09-11]` a09 a10 a11;
//! * a name may have several brackets. The last one runs fastest, then the first, then the second, and so on:
//!   `a[1-2]b[1-2]c[1-2]` is a1b1c1 a1b1c2 a2b1c1 a2b1c2 a1b2c1 ...;
//! * repeated hosts are kept, descending and stepped ranges are refused, text behind the last bracket is refused;
//! * one range holds at most 65 536 hosts.
//!
//! Slurm takes a few texts for names that can only be damage (`n[1` is the host `n]`, `n[1-]` is n1, `n[1, 2]` is n1 and
//! n02); here they are refused.
//!
//! Published crates for this expand into memory without a limit and accept text behind brackets.

use crate::numbers::Part;

use std::borrow::Cow;
use std::fmt;

/// Most hosts of one range, as in Slurm.
pub const RANGE_LIMIT: u64 = 65_536;
/// Most hosts of one list: more than any cluster has.
pub const HOST_LIMIT: u64 = 1 << 20;
/// Longest list, bytes.
const TEXT_LIMIT: usize = 4 << 20;
/// Most brackets of one name.
const BRACKET_LIMIT: usize = 16;
/// Widest padded number.
const WIDTH_LIMIT: usize = 64;

/// Why a text is not a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostlistError {
    /// It is written in a way Slurm refuses, or that can only be damage.
    Syntax(String),
    /// It is well written and means more than the limit.
    Limit(String),
}

impl fmt::Display for HostlistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(why) | Self::Limit(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for HostlistError {}

/// Numbers from `low` to `high`, both included, padded to `width`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: u64,
    high: u64,
    width: usize,
}

impl Range {
    fn host_n(self) -> u64 {
        self.high - self.low + 1
    }
}

/// A bracket and the text before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bracket<'t> {
    prefix: &'t str,
    ranges: Vec<Range>,
    host_n: u64,
}

/// One comma-separated entry: brackets, or a plain name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostlistEntry<'t> {
    Plain(&'t str),
    /// In the order of the text; at least one.
    Brackets(Vec<Bracket<'t>>),
}

impl HostlistEntry<'_> {
    fn host_n(&self) -> Option<u64> {
        match self {
            Self::Plain(_) => Some(1),
            Self::Brackets(brackets) => brackets.iter().try_fold(1_u64, |n, b| n.checked_mul(b.host_n)),
        }
    }

    /// The `nth` host in Slurm's order.
    fn host(&self, nth: u64) -> Cow<'_, str> {
        let brackets = match self {
            Self::Plain(name) => return Cow::Borrowed(name),
            Self::Brackets(brackets) => brackets,
        };
        // The digits of `nth`, the fastest first: the last bracket, then the others from the left.
        let mut rest = nth;
        let mut place = |bracket: &Bracket<'_>| {
            let at = rest % bracket.host_n;
            rest /= bracket.host_n;
            at
        };
        let last = brackets.last().map(&mut place);
        let (_, others) = brackets.split_last().unwrap_or((&EMPTY, &[]));
        let places: Vec<u64> = others.iter().map(&mut place).chain(last).collect();
        let mut name = String::new();
        for (bracket, at) in brackets.iter().zip(places) {
            name.push_str(bracket.prefix);
            bracket.write(at, &mut name);
        }
        Cow::Owned(name)
    }
}

const EMPTY: Bracket<'static> = Bracket {
    prefix: "",
    ranges: Vec::new(),
    host_n: 0,
};

impl Bracket<'_> {
    fn write(&self, nth: u64, into: &mut String) {
        use fmt::Write as _;
        let mut rest = nth;
        for range in &self.ranges {
            if rest < range.host_n() {
                // Writing to a string cannot fail.
                let _ = write!(into, "{:0width$}", range.low + rest, width = range.width);
                return;
            }
            rest -= range.host_n();
        }
    }
}

/// A list of hosts that was read but not expanded: as large as its text, whatever it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostlist<'t> {
    entries: Vec<HostlistEntry<'t>>,
    host_n: u64,
}

impl<'t> Hostlist<'t> {
    /// Reads a list of at most [`HOST_LIMIT`] hosts.
    ///
    /// # Errors
    /// [`HostlistError`], also when it means more hosts than the limit; nothing is expanded to find out.
    pub fn parse(text: &'t str) -> Result<Self, HostlistError> {
        Self::parse_within(text, HOST_LIMIT)
    }

    /// Reads a list of at most `limit` hosts. The words that mean no hosts (`None assigned`, `(null)`,
    /// `(unknown)`, `N/A` and nothing at all) are the empty list.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_within(text: &'t str, limit: u64) -> Result<Self, HostlistError> {
        if text.len() > TEXT_LIMIT {
            return Err(HostlistError::Limit(format!("a host list of {} bytes", text.len())));
        }
        let mut list = Self {
            entries: Vec::new(),
            host_n: 0,
        };
        if is_none(text) {
            return Ok(list);
        }
        for name in names(text)? {
            let entry = entry(name)?;
            list.host_n = entry
                .host_n()
                .and_then(|n| n.checked_add(list.host_n))
                .filter(|n| *n <= limit)
                .ok_or_else(|| HostlistError::Limit(format!("{} means more than {limit} hosts", clip(text))))?;
            list.entries.push(entry);
        }
        Ok(list)
    }

    /// How many hosts it means, repeated ones included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.host_n
    }

    /// Whether it means no host.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.host_n == 0
    }

    /// The hosts in Slurm's order, made one at a time.
    pub fn hosts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.entries
            .iter()
            // Fallback: never taken, parsing refuses an entry of more hosts than can be counted.
            .flat_map(|entry| (0..entry.host_n().unwrap_or(0)).map(move |nth| entry.host(nth)))
    }
}

/// Whether a text means no hosts.
#[must_use]
pub fn is_none(text: &str) -> bool {
    matches!(
        text.trim(),
        "" | "None assigned" | "None" | "(null)" | "(unknown)" | "N/A" | "n/a"
    )
}

fn clip(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// The names between separators outside brackets.
fn names(text: &str) -> Result<Vec<&str>, HostlistError> {
    let mut names = Vec::new();
    let (mut start, mut is_inside) = (0, false);
    let bad = || HostlistError::Syntax(format!("{}: brackets do not match", clip(text)));
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' if is_inside => return Err(bad()),
            b'[' => is_inside = true,
            b']' if !is_inside => return Err(bad()),
            b']' => is_inside = false,
            b',' | b' ' | b'\t' | b'\n' if !is_inside => {
                names.push(text.part(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    if is_inside {
        return Err(bad());
    }
    names.push(text.part(start..));
    names.retain(|name| !name.is_empty());
    Ok(names)
}

fn entry(name: &str) -> Result<HostlistEntry<'_>, HostlistError> {
    let wrong = |why: &str| HostlistError::Syntax(format!("{}: {why}", clip(name)));
    let mut brackets = Vec::new();
    let mut rest = name;
    while let Some((prefix, behind)) = rest.split_once('[') {
        let (inside, behind) = behind.split_once(']').ok_or_else(|| wrong("brackets do not match"))?;
        let ranges = inside.split(',').map(range).collect::<Result<Vec<_>, _>>()?;
        let host_n = ranges.iter().map(|range| range.host_n()).sum();
        brackets.push(Bracket { prefix, ranges, host_n });
        if brackets.len() > BRACKET_LIMIT {
            return Err(HostlistError::Limit(format!("{}: too many brackets", clip(name))));
        }
        rest = behind;
    }
    if brackets.is_empty() {
        return Ok(HostlistEntry::Plain(name));
    }
    if !rest.is_empty() {
        return Err(wrong("text behind the last bracket"));
    }
    Ok(HostlistEntry::Brackets(brackets))
}

fn range(text: &str) -> Result<Range, HostlistError> {
    let wrong = || HostlistError::Syntax(format!("[{}] is not a range of numbers", clip(text)));
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if digits.len() > WIDTH_LIMIT {
            return Err(wrong());
        }
        is_number
            .then(|| digits.parse::<u64>().ok())
            .flatten()
            .ok_or_else(wrong)
    };
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let range = Range {
        low: number(low)?,
        high: number(high)?,
        width: low.len(),
    };
    if range.high < range.low {
        return Err(wrong());
    }
    if range.high - range.low >= RANGE_LIMIT {
        let why = format!("[{}] is a range of more than {RANGE_LIMIT} hosts", clip(text));
        return Err(HostlistError::Limit(why));
    }
    Ok(range)
}

/// Writes hosts as a list, in their order: neighbours with the same letters before a last number share a bracket, as
/// Slurm writes them. What is written means exactly these hosts, if none of them holds a separator or bracket.
#[must_use]
pub fn compress<S: AsRef<str>>(hosts: impl IntoIterator<Item = S>) -> String {
    let mut list = HostlistForm::default();
    for host in hosts {
        list.push(host.as_ref());
    }
    list.close();
    list.text
}

#[derive(Default)]
struct HostlistForm {
    text: String,
    prefix: String,
    ranges: Vec<Range>,
}

impl HostlistForm {
    fn push(&mut self, host: &str) {
        let digits = host.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = host.split_at(host.len() - digits);
        let Some(value) = number.parse::<u64>().ok().filter(|_| digits <= WIDTH_LIMIT) else {
            self.close();
            self.separate();
            self.text.push_str(host);
            return;
        };
        if self.ranges.is_empty() || prefix != self.prefix {
            self.close();
            prefix.clone_into(&mut self.prefix);
        }
        if let Some(last) = self.ranges.last_mut()
            && last.high.checked_add(1) == Some(value)
            && last.host_n() < RANGE_LIMIT
            && format!("{value:0width$}", width = last.width) == number
        {
            last.high = value;
            return;
        }
        self.ranges.push(Range {
            low: value,
            high: value,
            width: digits,
        });
    }

    fn separate(&mut self) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
    }

    /// Writes what waits.
    fn close(&mut self) {
        let ranges = std::mem::take(&mut self.ranges);
        if ranges.is_empty() {
            return;
        }
        self.separate();
        self.text.push_str(&self.prefix);
        let written: Vec<String> = ranges
            .iter()
            .map(|&Range { low, high, width }| {
                if low == high {
                    format!("{low:0width$}")
                } else {
                    format!("{low:0width$}-{high:0width$}")
                }
            })
            .collect();
        match ranges.as_slice() {
            [one] if one.low == one.high => self.text.push_str(&written.concat()),
            _ => {
                self.text.push('[');
                self.text.push_str(&written.join(","));
                self.text.push(']');
            }
        }
    }
}
