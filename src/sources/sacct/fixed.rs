//! Fixed orders of columns: dumps that other accounting tools request without a header.

use super::column::{self, SacctKind};
use super::fields::RowFields;
use super::start;

/// An order of columns that goes without a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedOrder {
    /// Open XDMoD 10 and later: 26 columns.
    Xdmod,
    /// Open XDMoD 9.5: 25 columns, no QOS.
    Xdmod95,
    /// Open XDMoD 9.0: 26 columns, with `ReqGRES` and no QOS.
    Xdmod90,
    /// Open XDMoD up to 8.5: 25 columns, with `ReqGRES` and without `AllocTRES`.
    Xdmod8,
    /// APEL's Slurm parser: 15 columns. The eighth is measured CPU time, or allocated time in whole seconds, as APEL's
    /// documentation had it for years; that is not taken for measured.
    Apel,
}

const XDMOD: &str = "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|GID|User|UID|Submit|Eligible|Start|End|Elapsed|\
    ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|Timelimit|NodeList|JobName";
const XDMOD_9_5: &str = "JobID|JobIDRaw|Cluster|Partition|Account|Group|GID|User|UID|Submit|Eligible|Start|End|Elapsed|\
    ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|Timelimit|NodeList|JobName";
const XDMOD_9_0: &str = "JobID|JobIDRaw|Cluster|Partition|Account|Group|GID|User|UID|Submit|Eligible|Start|End|Elapsed|\
    ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqGRES|ReqTRES|AllocTRES|Timelimit|NodeList|JobName";
const XDMOD_8: &str = "JobID|JobIDRaw|Cluster|Partition|Account|Group|GID|User|UID|Submit|Eligible|Start|End|Elapsed|\
    ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqGRES|ReqTRES|Timelimit|NodeList|JobName";
const APEL: &str = "JobID|JobName|User|Group|Start|End|Elapsed|CPUTimeRAW/TotalCPU|Partition|NCPUS|NNodes|NodeList|\
    MaxRSS|MaxVMSize|State";

impl FixedOrder {
    /// Words of the pipeline file. Of two orders a row fits equally well, the first is the more likely.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("xdmod", Self::Xdmod),
        ("xdmod-9.0", Self::Xdmod90),
        ("xdmod-8", Self::Xdmod8),
        ("xdmod-9.5", Self::Xdmod95),
        ("apel", Self::Apel),
    ];

    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, order)| *order == self)
            .map_or("", |&(word, _)| word)
    }

    /// The names of the columns.
    pub fn columns(self) -> impl Iterator<Item = &'static str> {
        let columns = match self {
            Self::Xdmod => XDMOD,
            Self::Xdmod95 => XDMOD_9_5,
            Self::Xdmod90 => XDMOD_9_0,
            Self::Xdmod8 => XDMOD_8,
            Self::Apel => APEL,
        };
        columns.split('|')
    }

    /// The order in which the first rows of `head` have their columns, judged by number and types. Only rows with
    /// Slurm's own delimiter are looked at.
    #[must_use]
    pub fn recognise(head: &[u8]) -> Option<Self> {
        /// Rows looked at.
        const FIRST: usize = 32;
        let head = crate::byte_order_mark::without_mark(head);
        let whole = memchr::memrchr(b'\n', head).map_or(head, |end| head.get(..end).unwrap_or(head));
        let rows: Vec<&[u8]> = whole
            .split(|&b| b == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| !line.trim_ascii().is_empty() && !start::is_tool_message(line))
            .take(FIRST)
            .collect();
        let mut best: Option<(usize, Self)> = None;
        for &(_, order) in Self::WORDS {
            let found: Vec<usize> = rows.iter().filter_map(|row| order.evidence(row)).collect();
            let evidence: usize = found.iter().sum();
            // A name with a line break or a delimiter in an inner column spoils a row here and there.
            if found.len() * 2 > rows.len() && best.is_none_or(|(most, _)| evidence > most) {
                best = Some((evidence, order));
            }
        }
        best.map(|(_, order)| order)
    }

    /// Of a dump in APEL's order: how many of its first rows have allocated time where CPU time is expected, and how
    /// many have a duration there.
    #[must_use]
    pub fn cpu_columns(head: &[u8]) -> (usize, usize) {
        // Counted from the right, because a name may hold the delimiter.
        let nth = APEL.split('|').rev().take_while(|name| !name.ends_with("/TotalCPU"));
        let from_right = nth.count() + 1;
        let cpu = head.split(|&b| b == b'\n').filter_map(|line| {
            let fields = RowFields::split(line, b"|");
            fields
                .len()
                .checked_sub(from_right)
                .and_then(|nth| fields.get(nth).copied())
        });
        let (mut allocated, mut measured) = (0, 0);
        for text in cpu.filter(|text| !text.is_empty()) {
            allocated += usize::from(SacctKind::Int.accepts(text));
            measured += usize::from(SacctKind::Duration.accepts(text));
        }
        (allocated, measured)
    }

    /// How many columns of strict types hold something, if the row has this order at all.
    fn evidence(self, row: &[u8]) -> Option<usize> {
        let kinds: Vec<SacctKind> = self.kinds();
        let fields = RowFields::split(row, b"|");
        let is_last_free = kinds.last().is_some_and(|kind| kind.is_free());
        let is_trailing = fields.len() == kinds.len() + 1 && fields.last().is_some_and(|last| last.is_empty());
        if fields.len() != kinds.len() && !(is_last_free && fields.len() > kinds.len()) && !is_trailing {
            return None;
        }
        let is_typed = kinds.iter().zip(&fields).all(|(kind, text)| kind.accepts(text));
        let has_id = fields.first().is_some_and(|id| !id.is_empty());
        (is_typed && has_id).then(|| {
            kinds
                .iter()
                .zip(&fields)
                .filter(|(kind, text)| kind.is_strict() && !text.is_empty())
                .count()
        })
    }

    fn kinds(self) -> Vec<SacctKind> {
        self.columns()
            .map(|name| column::lookup(name.as_bytes()).map_or(SacctKind::Free, |(kind, _)| kind))
            .collect()
    }
}

/// Whether every row that is whole in `head` ends with the delimiter.
pub(super) fn is_trailing(head: &[u8], delimiter: &[u8]) -> bool {
    let mut lines = head
        .split_inclusive(|&b| b == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| line.first().is_some_and(u8::is_ascii_digit))
        .peekable();
    lines.peek().is_some() && lines.all(|line| line.ends_with(delimiter))
}
