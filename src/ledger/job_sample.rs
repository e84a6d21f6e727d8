//! A sample of the jobs of a file, by which a file with the same jobs is found whose bytes are others.
//!
//! Of each day that jobs ended on, the hashes of some are kept: those that end in as many zeros as it takes to leave few. Two files that
//! have a job both have its hash, or neither, wherever both keep that many zeros; so samples of files of any size can be compared. A sample
//! depends on the jobs alone, and not on their order.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::numbers::{Extent, count_u64};
use crate::time::Day;

/// Hashes that are kept of a day at most.
const DAY_MOST: usize = 32;

/// Bits of a hash that are kept: a chance in thousands of millions that two jobs of a day agree in them.
const HASH_BITS: u32 = 40;

/// The sample of a file, by the day on which jobs ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobSample(BTreeMap<Day, DaySample>);

/// The sample of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaySample {
    /// Jobs it was taken of.
    pub job_n: u64,
    /// Zeros that each hash ends in.
    pub level: u32,
    /// In order.
    pub hashes: Vec<u64>,
}

impl JobSample {
    /// Takes up the jobs of another part of the file.
    pub fn merge(&mut self, other: Self) {
        for (ended, sample) in other.0 {
            let day = self.0.entry(ended).or_default();
            day.job_n += sample.job_n;
            day.raise(sample.level);
            for hash in sample.hashes {
                day.keep(hash);
            }
        }
    }

    /// Whether it has no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The days, in order.
    pub fn days(&self) -> impl Iterator<Item = (Day, &DaySample)> {
        self.0.iter().map(|(day, sample)| (*day, sample))
    }

    /// A day.
    #[must_use]
    pub fn day(&self, day: Day) -> Option<&DaySample> {
        self.0.get(&day)
    }

    /// Jobs of all days.
    #[must_use]
    pub fn job_n(&self) -> u64 {
        self.0.values().map(|day| day.job_n).sum()
    }
}

/// Of samples of days, each day once.
impl FromIterator<(Day, DaySample)> for JobSample {
    fn from_iter<T: IntoIterator<Item = (Day, DaySample)>>(days: T) -> Self {
        Self(days.into_iter().collect())
    }
}

impl DaySample {
    /// Takes up a job.
    pub(super) fn add(&mut self, hash: u64) {
        self.job_n += 1;
        self.keep(hash & ((1 << HASH_BITS) - 1));
    }

    fn keep(&mut self, hash: u64) {
        if !is_of_level(hash, self.level) {
            return;
        }
        if let Err(at) = self.hashes.binary_search(&hash) {
            self.hashes.insert(at, hash);
        }
        while self.hashes.len() > DAY_MOST && self.level < HASH_BITS {
            self.raise(self.level + 1);
        }
    }

    fn raise(&mut self, level: u32) {
        if level > self.level {
            self.level = level;
            self.hashes.retain(|hash| is_of_level(*hash, level));
        }
    }

    /// How many of its jobs those are that are `found` elsewhere in a sample of this level, or of a lower one; about, where not all
    /// hashes are kept.
    #[must_use]
    pub fn stands_for(&self, found: &[u64], level: u32) -> u64 {
        let level = level.max(self.level);
        let of_level = |hashes: &[u64]| count_u64(hashes.iter().filter(|hash| is_of_level(**hash, level)).count());
        let all_n = of_level(&self.hashes);
        if all_n == 0 {
            return 0;
        }
        // Rounded to the nearest.
        (self.job_n.times(of_level(found).times(2)).further(all_n)) / all_n.times(2)
    }
}

/// Whether a hash ends in so many zeros.
fn is_of_level(hash: u64, level: u32) -> bool {
    hash.trailing_zeros() >= level
}

/// A word for each day: its number, its jobs, the level, and the hashes in hexadecimal.
impl fmt::Display for JobSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (day, DaySample { job_n, level, hashes })) in self.0.iter().enumerate() {
            let blank = if at == 0 { "" } else { " " };
            write!(f, "{blank}{day}:{job_n}:{level}:")?;
            for hash in hashes {
                write!(f, "{hash:0HASH_DIGITS$x}")?;
            }
        }
        Ok(())
    }
}

/// Hexadecimal digits of a hash.
const HASH_DIGITS: usize = 10;
const _: () = assert!(HASH_DIGITS * 4 == 40 && HASH_BITS == 40);

impl FromStr for JobSample {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::internal("a sample of the jobs of a file has another form");
        let mut sample = Self::default();
        for word in text.split_ascii_whitespace() {
            let mut parts = word.splitn(4, ':');
            let mut part = || parts.next().ok_or_else(wrong);
            let ended: Day = part()?.parse().map_err(|why| wrong().because(why))?;
            let job_n = part()?.parse().map_err(|why| wrong().because(why))?;
            let level = part()?.parse().map_err(|why| wrong().because(why))?;
            let digits = part()?;
            let mut hashes = Vec::with_capacity(digits.len() / HASH_DIGITS);
            for hash in digits.as_bytes().chunks(HASH_DIGITS) {
                let hash = std::str::from_utf8(hash).map_err(|why| wrong().because(why))?;
                hashes.push(u64::from_str_radix(hash, 16).map_err(|why| wrong().because(why))?);
            }
            sample.0.insert(ended, DaySample { job_n, level, hashes });
        }
        Ok(sample)
    }
}

impl TryFrom<String> for JobSample {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<JobSample> for String {
    fn from(sample: JobSample) -> Self {
        sample.to_string()
    }
}
