//! One job as two accounts of it are held against each other.

use hashbrown::HashMap;

use super::amount::Amount;
use super::level::DifferenceLevel;
use crate::error::Result;
use crate::time::Month;

/// No instant, and no CPU time.
pub const UNKNOWN: i64 = i64::MIN;

/// Texts, and the numbers that represent them on both sides.
#[derive(Default)]
pub struct JobIdentityNames {
    ids: HashMap<Box<str>, u32, ahash::RandomState>,
    texts: Vec<Box<str>>,
    folded: Vec<u32>,
}

impl JobIdentityNames {
    /// The number of a text.
    pub fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // Fallback: more texts than 32 bits count do not fit memory.
        let id = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.ids.insert(text.into(), id);
        self.texts.push(text.into());
        self.folded.push(id);
        let lower = text.to_lowercase();
        if lower != text {
            let folded = self.id(&lower);
            if let Some(known) = usize::try_from(id).ok().and_then(|at| self.folded.get_mut(at)) {
                *known = folded;
            }
        }
        id
    }

    /// The number of the text in lower case.
    #[must_use]
    pub fn folded(&self, id: u32) -> u32 {
        let known = usize::try_from(id).ok().and_then(|at| self.folded.get(at));
        known.copied().unwrap_or(id)
    }

    /// The text of a number.
    #[must_use]
    pub fn text(&self, id: u32) -> &str {
        let known = usize::try_from(id).ok().and_then(|at| self.texts.get(at));
        known.map_or("", |text| text)
    }
}

/// Site and VO in lower case, and the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobIdentityPlace {
    /// Site.
    pub site: u32,
    /// VO; of the empty text when it is unknown.
    pub vo: u32,
    /// UTC month of the end.
    pub month: Month,
}

/// Whether an account counts a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobIdentityStanding {
    /// It is counted.
    Counted,
    /// A correction took it out.
    Void,
    /// It belongs to another view of the hours.
    OtherView,
    /// It had not ended when it was last seen.
    Running,
    /// It never started.
    NeverStarted,
    /// Received summaries count in its place.
    Summarised,
    /// The sums of its month cannot take it.
    BeyondSums,
}

impl JobIdentityStanding {
    /// Whether it is counted, or would be without summaries.
    #[must_use]
    pub fn is_counted(self) -> bool {
        matches!(self, Self::Counted | Self::Summarised)
    }
}

/// One job. Texts are numbers of [`JobIdentityNames`]; instants are Unix milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct JobIdentityJob {
    /// Identity in a lake; 0 where there is none.
    pub record: u128,
    /// Hash of the job id in lower case.
    pub number: u64,
    /// Hash of the grid-wide job id; 0 where there is none.
    pub global: u64,
    /// Where it counts.
    pub place: JobIdentityPlace,
    /// VO before corrections, in lower case.
    pub own_vo: u32,
    /// Site and VO as they are spelled.
    pub spelled: (u32, u32),
    /// Slurm cluster or LRMS server.
    pub cluster: u32,
    /// CE.
    pub host: u32,
    /// Source of the pipeline.
    pub source: u32,
    /// Input file.
    pub file: u32,
    /// Line of that file.
    pub line: i64,
    /// Submitted.
    pub submit_ms: i64,
    /// Started.
    pub start_ms: i64,
    /// Ended.
    pub end_ms: i64,
    /// Wall time, not times cores, seconds.
    pub wall_s: i64,
    /// CPU time, milliseconds.
    pub cpu_ms: i64,
    /// User part of it.
    pub cpu_user_ms: i64,
    /// Cores; 0 when unknown.
    pub core_n: i64,
    /// What scales it.
    pub level: Option<DifferenceLevel>,
    /// Whether it is counted.
    pub standing: JobIdentityStanding,
}

impl JobIdentityJob {
    /// What it comes to, for a job that is comparable (see [`JobIdentityJob::check`]).
    #[must_use]
    pub fn amount(&self) -> Amount {
        // Fallback: never taken, jobs were checked when they were read.
        self.checked_amount().unwrap_or_default()
    }

    /// Checks that what it comes to is within the bounds of exact sums.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the product that is too large.
    pub fn check(&self) -> Result<()> {
        self.checked_amount().map(|_| ())
    }

    fn checked_amount(&self) -> Result<Amount> {
        let cpu_ms = if self.cpu_ms == UNKNOWN {
            0
        } else {
            i128::from(self.cpu_ms)
        };
        Amount::of_jobs(1, i128::from(self.wall_s), cpu_ms, self.core_n, self.level)
    }
}

/// Hash of an id, whatever the case of its letters; 0 where there is none.
#[must_use]
pub fn id_hash(id: &str) -> u64 {
    match id.trim() {
        "" => 0,
        id if id.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            xxhash_rust::xxh3::xxh3_64(id.to_lowercase().as_bytes())
        }
        id => xxhash_rust::xxh3::xxh3_64(id.as_bytes()),
    }
}
