//! The kinds of benchmark, as data name them.

/// Kinds of benchmark. They are different scales and are never added to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Benchmark {
    /// HEPSPEC06.
    Hs06,
    /// `HEPscore23`.
    Hs23,
    /// `SPECint2000` (SI00, Si2k).
    Si00,
}

impl Benchmark {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Hs06, Self::Hs23, Self::Si00];

    /// The word stored in `records` and used in column names.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hs06 => "hs06",
            Self::Hs23 => "hs23",
            Self::Si00 => "si00",
        }
    }

    /// The kind people mean by `name`, upper or lower case: `hs06`, `hepspec06`, `hepspec`; `hs23`, `hepscore23`;
    /// `si00`, `si2k`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|&(_, kind)| kind)
    }

    /// Its place in [`Benchmark::ALL`].
    #[must_use]
    pub fn place(self) -> usize {
        match self {
            Self::Hs06 => 0,
            Self::Hs23 => 1,
            Self::Si00 => 2,
        }
    }
}

/// Every spelling.
pub(super) const NAMES: &[(&str, Benchmark)] = &[
    ("hs06", Benchmark::Hs06),
    ("hepspec06", Benchmark::Hs06),
    ("hepspec", Benchmark::Hs06),
    ("hs23", Benchmark::Hs23),
    ("hepscore23", Benchmark::Hs23),
    ("si00", Benchmark::Si00),
    ("si2k", Benchmark::Si00),
];
