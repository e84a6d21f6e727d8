//! The paper's workloads: requests of burst buffer and of local storage drawn for the jobs of a trace.

use super::demand::Demand;
use super::job::Job;
use super::rng::Rng;
use crate::error::{Error, Result};

/// Gigabytes of a terabyte.
pub const TB_GB: i64 = 1_000;

/// A workload of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// Half of the jobs request more than 5 TB of burst buffer.
    S1,
    /// Three quarters request more than 5 TB.
    S2,
    /// Half request more than 20 TB.
    S3,
    /// Three quarters request more than 20 TB.
    S4,
    /// S2, and 80 % of the jobs request up to 128 GB of local storage, 20 % more.
    S5,
    /// S2, and half of the jobs request up to 128 GB, half more.
    S6,
    /// S2, and 20 % of the jobs request up to 128 GB, 80 % more.
    S7,
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::S1, Self::S2, Self::S3, Self::S4, Self::S5, Self::S6, Self::S7];

    /// The word of the command line and of tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::S1 => "s1",
            Self::S2 => "s2",
            Self::S3 => "s3",
            Self::S4 => "s4",
            Self::S5 => "s5",
            Self::S6 => "s6",
            Self::S7 => "s7",
        }
    }

    /// Of a million jobs so many request burst buffer.
    #[must_use]
    pub fn burst_buffer_per_million(self) -> u32 {
        match self {
            Self::S1 | Self::S3 => 500_000,
            _ => 750_000,
        }
    }

    /// Requests are more than this many gigabytes of burst buffer.
    #[must_use]
    pub fn burst_buffer_above_gb(self) -> i64 {
        match self {
            Self::S3 | Self::S4 => 20 * TB_GB,
            _ => 5 * TB_GB,
        }
    }

    /// Of a million jobs so many request no more local storage than the small nodes have; none where no job requests any.
    #[must_use]
    pub fn small_ssd_per_million(self) -> Option<u32> {
        match self {
            Self::S5 => Some(800_000),
            Self::S6 => Some(500_000),
            Self::S7 => Some(200_000),
            _ => None,
        }
    }
}

/// Where requests of burst buffer come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BurstBufferPool {
    /// The requests of a trace, gigabytes.
    Requests(Vec<i64>),
    /// No trace has any: each power of two of a range is as likely as another, and each amount within one.
    LogUniform {
        /// The largest request, gigabytes.
        most_gb: i64,
    },
}

/// Where a workload puts its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadKinds {
    /// The kind of resource that is burst buffer, in gigabytes.
    pub burst_buffer: usize,
    /// The kind that counts nodes with large local storage.
    pub large_ssd: Option<usize>,
}

/// Local storage of nodes, gigabytes: as in the paper.
pub const SMALL_SSD_GB: i64 = 128;
/// Local storage of large nodes, gigabytes: as in the paper.
pub const LARGE_SSD_GB: i64 = 256;

/// Draws the requests of a workload. What a job gets depends on the seed and its number alone: a part of a trace has the same
/// requests as the whole. Jobs that are not drawn request no burst buffer.
///
/// # Errors
/// As [`WorkloadDraw::new`].
pub fn generate(
    jobs: &mut [Job],
    workload: Workload,
    pool: &BurstBufferPool,
    kinds: WorkloadKinds,
    seed: u64,
) -> Result<()> {
    let draw = WorkloadDraw::new(workload, pool, kinds, seed)?;
    for job in jobs {
        draw.give(job);
    }
    Ok(())
}

/// The requests of a workload, drawn job by job.
#[derive(Debug)]
pub struct WorkloadDraw {
    workload: Workload,
    range: RequestRange,
    ssd: Option<SsdDraw>,
    kinds: WorkloadKinds,
    seed: u64,
}

/// What requests of burst buffer are drawn from.
#[derive(Debug)]
enum RequestRange {
    /// These, sorted.
    Among(Vec<i64>),
    /// Up to so much.
    UpTo(i64),
}

impl WorkloadDraw {
    /// Of a workload.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when there is no request in the range, or no kind for local storage.
    pub fn new(workload: Workload, pool: &BurstBufferPool, kinds: WorkloadKinds, seed: u64) -> Result<Self> {
        let above_gb = workload.burst_buffer_above_gb();
        let range = match pool {
            BurstBufferPool::Requests(all) => {
                let mut requests: Vec<i64> = all.iter().copied().filter(|gb| *gb > above_gb).collect();
                requests.sort_unstable();
                RequestRange::Among(requests)
            }
            BurstBufferPool::LogUniform { most_gb } => RequestRange::UpTo(*most_gb),
        };
        let has_range = match &range {
            RequestRange::Among(requests) => !requests.is_empty(),
            RequestRange::UpTo(most_gb) => *most_gb > above_gb,
        };
        if !has_range {
            return Err(Error::config(format!(
                "the workload {} draws requests of more than {above_gb} GB of burst buffer, and there are none",
                workload.word()
            )));
        }
        let ssd = match (workload.small_ssd_per_million(), kinds.large_ssd) {
            (None, _) => None,
            (Some(small), Some(kind)) => Some(SsdDraw { small, kind }),
            (Some(_), None) => {
                return Err(Error::config(format!(
                    "the workload {} needs a machine whose nodes differ in local storage",
                    workload.word()
                )));
            }
        };
        Ok(Self {
            workload,
            range,
            ssd,
            kinds,
            seed,
        })
    }

    /// Gives a job its requests.
    pub fn give(&self, job: &mut Job) {
        let above_gb = self.workload.burst_buffer_above_gb();
        let mut rng = Rng::of(self.seed, job.id.cast_unsigned());
        let request_gb = match &self.range {
            _ if !rng.happens(self.workload.burst_buffer_per_million()) => 0,
            // Fallback: never taken, the list has at least one request.
            RequestRange::Among(requests) => requests.get(rng.index(requests.len())).copied().unwrap_or(0),
            RequestRange::UpTo(most_gb) => log_uniform(&mut rng, above_gb + 1, *most_gb),
        };
        job.need = job.need.with(self.kinds.burst_buffer, request_gb);
        if let Some(ssd) = &self.ssd {
            let is_small = rng.happens(ssd.small);
            job.ssd_gb = if is_small {
                rng.within(0, SMALL_SSD_GB)
            } else {
                rng.within(SMALL_SSD_GB + 1, LARGE_SSD_GB)
            };
            job.need = large_need(job.need, ssd.kind, is_small);
        }
    }
}

#[derive(Debug)]
struct SsdDraw {
    small: u32,
    kind: usize,
}

/// A job with a large request needs as many large nodes as it has nodes.
fn large_need(need: Demand, kind: usize, is_small: bool) -> Demand {
    need.with(kind, if is_small { 0 } else { need.first() })
}

/// A whole number from `low` to `high`: a power of two first, each as likely, then a number within it.
fn log_uniform(rng: &mut Rng, low: i64, high: i64) -> i64 {
    let bits = |number: i64| i64::from(number.max(1).ilog2());
    let power = rng.within(bits(low), bits(high));
    let from = u32::try_from(power).map_or(low, |power| 1_i64 << power);
    rng.within(from.max(low), (2 * from - 1).min(high))
}
