//! The multifactor priority of a job, term by term as `sprio` prints it.
//!
//! Every factor is from 0 to 1 and is multiplied by its weight; the sum is cut to a whole number that is at least 1, because
//! 0 means held, and at most 2^32 - 1. (`priority/multifactor`; each term was derived again for real jobs.)

use super::float::of_integer;

/// The weights of a site (`PriorityWeight...`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorityWeights {
    /// `PriorityWeightAge`.
    pub age: u32,
    /// `PriorityWeightAssoc`.
    pub association: u32,
    /// `PriorityWeightFairshare`.
    pub fairshare: u32,
    /// `PriorityWeightJobSize`.
    pub job_size: u32,
    /// `PriorityWeightPartition`.
    pub partition: u32,
    /// `PriorityWeightQOS`.
    pub qos: u32,
    /// `PriorityWeightTRES`, in the order of their terms.
    pub tres: Vec<TresWeight>,
}

/// The weight of one kind of resource.
#[derive(Clone, Debug, PartialEq)]
pub struct TresWeight {
    /// The resource, such as `cpu`, `mem` or `gres/gpu`.
    pub name: String,
    /// Its weight.
    pub weight: f64,
}

/// Which jobs the size factor favours (`PriorityFavorSmall`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FavoredSize {
    /// Large ones.
    #[default]
    Large,
    /// Small ones.
    Small,
}

/// What the size of a job is (`PriorityFlags=SMALL_RELATIVE_TO_TIME`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeBasis {
    /// The mean of its part of the nodes and of the CPUs.
    #[default]
    Part,
    /// Its CPUs over its time limit in minutes.
    PerMinute,
}

/// What a configured priority counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityScale {
    /// Its part of the highest one that is configured; for resources, the part of what the partition has.
    OfHighest(u32),
    /// Itself (`NO_NORMAL_ASSOC`, `NO_NORMAL_PART`, `NO_NORMAL_QOS`).
    Plain,
}

impl PriorityScale {
    fn factor(self, priority: u32) -> f64 {
        match self {
            Self::OfHighest(0) => 0.0,
            Self::OfHighest(highest) => f64::from(priority) / f64::from(highest),
            Self::Plain => f64::from(priority),
        }
    }
}

/// What an amount of a resource counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TresScale {
    /// The part of what the partition has.
    #[default]
    OfPartition,
    /// The amount (`NO_NORMAL_TRES`).
    Plain,
}

/// How a site computes priorities, and the size of its cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityRule {
    /// The weights.
    pub weights: PriorityWeights,
    /// `PriorityMaxAge`, seconds.
    pub max_age_s: u32,
    /// Which jobs the size favours.
    pub favored_size: FavoredSize,
    /// What the size is.
    pub size_basis: SizeBasis,
    /// What priorities of associations count for.
    pub association_scale: PriorityScale,
    /// What `PriorityJobFactor` of partitions counts for.
    pub partition_scale: PriorityScale,
    /// What priorities of QOS count for.
    pub qos_scale: PriorityScale,
    /// What resources count for.
    pub tres_scale: TresScale,
    /// Nodes of the cluster.
    pub node_n: u32,
    /// CPUs of the cluster.
    pub cpu_n: u32,
}

/// An amount of a resource that a job requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TresAmount {
    /// The resource, as in [`TresWeight::name`].
    pub name: String,
    /// How much: CPUs, megabytes, devices.
    pub amount: u64,
    /// How much of it the partition has.
    pub of_partition: u64,
}

/// Whether a job may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriorityHold {
    /// It waits.
    #[default]
    Waiting,
    /// It is held: its priority is 0.
    Held,
}

/// A job in one of its partitions. A job of several partitions has a priority in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorityFacts {
    /// Seconds since age began to accrue.
    pub waiting_s: i64,
    /// The factor of its association.
    pub fairshare: f64,
    /// The fewest nodes it can run on.
    pub node_n: u32,
    /// Its CPUs; 0 when unknown.
    pub cpu_n: u32,
    /// Its time limit, or the one of the partition, minutes.
    pub limit_min: u32,
    /// Priority of its association.
    pub association_priority: u32,
    /// `PriorityJobFactor` of the partition.
    pub partition_priority: u32,
    /// Priority of its QOS.
    pub qos_priority: u32,
    /// What it requests.
    pub tres: Vec<TresAmount>,
    /// What the site added.
    pub site: i64,
    /// `Nice`, which is subtracted.
    pub nice: i64,
    /// Whether it is held.
    pub hold: PriorityHold,
}

/// The part of one resource.
#[derive(Clone, Debug, PartialEq)]
pub struct TresTerm {
    /// The resource.
    pub name: String,
    /// Its weighted part.
    pub term: f64,
}

/// The terms of a priority, weighted, and the priority. `sprio -l` prints every term rounded ([`printed`]).
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityTerms {
    /// `AGE`
    pub age: f64,
    /// `ASSOC`
    pub association: f64,
    /// `FAIRSHARE`
    pub fairshare: f64,
    /// `JOBSIZE`
    pub job_size: f64,
    /// `PARTITION`
    pub partition: f64,
    /// `QOS`
    pub qos: f64,
    /// `TRES`
    pub tres: Vec<TresTerm>,
    /// `SITE`
    pub site: i64,
    /// `NICE`
    pub nice: i64,
    /// `PRIORITY`
    pub priority: u32,
}

/// A term as `sprio` prints it: to a whole number, a tie to the even one.
#[must_use]
pub fn printed(term: f64) -> f64 {
    term.round_ties_even()
}

impl PriorityRule {
    /// The priority of a job, with its terms.
    #[must_use]
    pub fn terms(&self, job: &PriorityFacts) -> PriorityTerms {
        let weights = &self.weights;
        let mut terms = PriorityTerms {
            age: self.age_factor(job.waiting_s) * f64::from(weights.age),
            association: self.association_scale.factor(job.association_priority) * f64::from(weights.association),
            fairshare: job.fairshare * f64::from(weights.fairshare),
            job_size: self.size_factor(job) * f64::from(weights.job_size),
            partition: self.partition_scale.factor(job.partition_priority) * f64::from(weights.partition),
            qos: self.qos_scale.factor(job.qos_priority) * f64::from(weights.qos),
            tres: weights.tres.iter().map(|weight| self.tres_term(weight, job)).collect(),
            site: job.site,
            nice: job.nice,
            priority: 0,
        };
        if job.hold == PriorityHold::Waiting {
            terms.priority = whole(terms.sum());
        }
        terms
    }

    /// The priority of a job again, at another age and with another factor of its association; its other terms are known.
    #[must_use]
    pub fn priority_again(&self, terms: &PriorityTerms, waiting_s: i64, fairshare: f64) -> u32 {
        let weights = &self.weights;
        let age = self.age_factor(waiting_s) * f64::from(weights.age);
        whole(terms.sum_with(age, fairshare * f64::from(weights.fairshare)))
    }

    fn age_factor(&self, waiting_s: i64) -> f64 {
        let max_age_s = i64::from(self.max_age_s);
        if waiting_s < max_age_s {
            of_integer(i128::from(waiting_s.max(0))) / of_integer(i128::from(max_age_s))
        } else {
            1.0
        }
    }

    fn size_factor(&self, job: &PriorityFacts) -> f64 {
        let (node_n, cpu_n) = (f64::from(self.node_n.max(1)), f64::from(self.cpu_n.max(1)));
        let of_nodes = f64::from(job.node_n) / node_n;
        let of_cpus = f64::from(job.cpu_n) / cpu_n;
        let large = match self.size_basis {
            SizeBasis::PerMinute => {
                let cpus = (f64::from(job.node_n) * cpu_n / node_n).max(f64::from(job.cpu_n));
                cpus / f64::from(job.limit_min.max(1)) / cpu_n
            }
            SizeBasis::Part if job.cpu_n == 0 => of_nodes,
            SizeBasis::Part => f64::midpoint(of_nodes, of_cpus),
        };
        let factor = match self.favored_size {
            FavoredSize::Large => large,
            FavoredSize::Small => 1.0 - large,
        };
        factor.clamp(0.0, 1.0)
    }

    fn tres_term(&self, weight: &TresWeight, job: &PriorityFacts) -> TresTerm {
        let amount = job
            .tres
            .iter()
            .find(|amount| amount.name.eq_ignore_ascii_case(&weight.name));
        let factor = match (amount, self.tres_scale) {
            (Some(amount), TresScale::Plain) => of_integer(i128::from(amount.amount)),
            (None, _) | (Some(TresAmount { of_partition: 0, .. }), TresScale::OfPartition) => 0.0,
            (Some(amount), TresScale::OfPartition) => {
                of_integer(i128::from(amount.amount)) / of_integer(i128::from(amount.of_partition))
            }
        };
        TresTerm {
            name: weight.name.clone(),
            term: factor * weight.weight,
        }
    }
}

impl PriorityTerms {
    fn sum(&self) -> f64 {
        self.sum_with(self.age, self.fairshare)
    }

    /// The sum with other terms of age and fairshare.
    fn sum_with(&self, age: f64, fairshare: f64) -> f64 {
        let tres: f64 = self.tres.iter().map(|of| of.term).sum();
        let fixed = of_integer(i128::from(self.site)) - of_integer(i128::from(self.nice));
        age + self.association + fairshare + self.job_size + self.partition + self.qos + tres + fixed
    }
}

/// The sum as a priority: cut to a whole number from 1 to 2^32 - 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is from 1 to 2^32 - 1, and Slurm cuts it as well"
)]
fn whole(sum: f64) -> u32 {
    sum.clamp(1.0, f64::from(u32::MAX)) as u32
}
