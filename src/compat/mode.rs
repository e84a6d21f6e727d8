//! The publishers whose rules for work are applied.

use crate::amounts::product;
use crate::error::Result;
use crate::reference::benchmark::Benchmark;

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerMode {
    /// Our own: exact for each job, rounded nowhere.
    Native,
    /// APEL's server since 2.3.0.
    Apel,
    /// APEL's server before 2.3.0, which took every benchmark but HEPSPEC for SI00.
    ApelPre23,
    /// OSG's exporter from GRACC to APEL.
    Gracc,
    /// AUDITOR's APEL plugin.
    Auditor,
}

impl PeerMode {
    /// Every mode.
    pub const ALL: [Self; 5] = [Self::Native, Self::Apel, Self::ApelPre23, Self::Gracc, Self::Auditor];

    /// The word on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Apel => "apel",
            Self::ApelPre23 => "apel-pre-2.3",
            Self::Gracc => "gracc",
            Self::Auditor => "auditor",
        }
    }

    /// What it does, in a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Native => "Exact work of each job, added up and rounded nowhere.",
            Self::Apel => {
                "Benchmarks of three decimals, one for each job (HEPscore23, else HEPSPEC06, else SI00); work is rounded \
                 half up once for each group of equal users, hosts, benchmark, nodes and cores."
            }
            Self::ApelPre23 => {
                "As apel, but every benchmark other than HEPSPEC06 is divided by 250, which was right for SI00 alone."
            }
            Self::Gracc => {
                "The unweighted mean of the distinct benchmarks of a site, VO, user and number of cores, 12 when none is \
                 known or it is 200 and more; seconds and work are cut off."
            }
            Self::Auditor => "Work is rounded to whole seconds for each job and then added up.",
        }
    }

    /// The mode called `name`.
    ///
    /// # Errors
    /// A sentence for people.
    pub fn parse(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str);
            format!("\"{name}\" is not one of {}", names.join(", "))
        })
    }

    /// Whether it takes part in what APEL's server does with texts: letter case and blanks at the end do not count.
    pub(super) fn folds_case(self) -> bool {
        matches!(self, Self::Apel | Self::ApelPre23)
    }

    /// Whether summaries that arrive are published by it too.
    pub(super) fn takes_summaries(self) -> bool {
        matches!(self, Self::Native | Self::Apel | Self::ApelPre23)
    }

    /// Whether a job is published: views describe the same hours, so that only one can be.
    pub(super) fn takes_view(self, view: &str, infrastructure: Option<&str>) -> bool {
        match self {
            // Jobs on the submit site's own machines have no pilot that would report them.
            Self::Gracc => view == "batch" || view == "payload" && infrastructure == Some("Local"),
            _ => view == "batch",
        }
    }

    /// Whole CPU seconds of a job.
    pub(super) fn cpu_s(self, cpu_ms: i64) -> i64 {
        let (whole, rest) = (cpu_ms.div_euclid(1000), cpu_ms.rem_euclid(1000));
        match self {
            // Python's round: halves to the even neighbour.
            Self::Auditor if rest == 500 => whole + whole.rem_euclid(2),
            _ => whole + i64::from(rest >= 500),
        }
    }
}

/// What one of a HEPSPEC second is counted in, in parts of 10^-10.
pub(super) const E10: i128 = 10_000_000_000;

/// What sums of work are called where they are too large. Seconds of cores of a month have at most 63 bits
/// (`summarise::budget`), a level 30 (`dedupe::limits`) and the units that its thousandths leave 24: the work of a month
/// fits, but a lake may hold more.
pub(super) const WORK: &str = "work";

/// Work in units of 10^-7 of a benchmark in units of 10^-10 of HEPSPEC06 or `HEPscore23`; SI00 at 250 to 1, exactly.
///
/// # Errors
/// [`crate::error::Kind::Data`] when it is too large.
pub(super) fn e10(work_e7: i128, kind: Benchmark) -> Result<i128> {
    let unit = match kind {
        Benchmark::Hs06 | Benchmark::Hs23 => 1000,
        Benchmark::Si00 => 4,
    };
    product(work_e7, unit, WORK)
}

/// Of the benchmarks known of a job the one that is published.
pub(super) const PRIORITY: [Benchmark; 3] = [Benchmark::Hs23, Benchmark::Hs06, Benchmark::Si00];
