//! What the batch system states of its own scheduling: qualities of service, shares, settings, and the jobs that wait.

use super::gpus::Gpus;

/// Decimal places of shares of usage and of fair-share factors. Slurm prints six; JSON has doubles.
pub const SHARE_PLACES: u32 = 12;
/// Decimal places of raw usage, and of the factors of a quality of service.
pub const USAGE_PLACES: u32 = 6;

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QosRow {
    /// Cluster whose dump states it; the database has one list for all.
    pub cluster: Option<String>,
    /// Name.
    pub qos: String,
    /// Priority before it is normalised.
    pub priority_n: Option<i64>,
    /// Factor by which usage counts, millionths; `None` where the file does not state it.
    pub usage_factor_e6: Option<i128>,
    /// Lowest fair-share factor with which a job may run, millionths.
    pub usage_threshold_e6: Option<i128>,
    /// Factor by which limits of associations count, millionths.
    pub limit_factor_e6: Option<i128>,
    /// Flags as printed.
    pub flags: Option<String>,
    /// Its usage does not decay; `None` where the file has no flags at all.
    pub is_no_decay: Option<bool>,
    /// The usage factor counts in the check of limits; `None` where the file has no flags at all.
    pub is_usage_factor_safe: Option<bool>,
    /// What it may preempt, comma-separated.
    pub preempt: Option<String>,
    /// What becomes of a preempted job.
    pub preempt_mode: Option<String>,
    /// Time a preempted job has, seconds.
    pub grace_time_s: Option<i64>,
    /// Description.
    pub description: Option<String>,
    /// Limit of resource minutes.
    pub grp_tres_mins: Option<String>,
    /// Every other field that is set, as in associations.
    pub limits: Option<String>,
}

/// Shares and usage of an account, or of a user in an account, as Slurm computed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareRow {
    /// Cluster, if the file names it.
    pub cluster: Option<String>,
    /// Account.
    pub account: String,
    /// User; `None` for the account itself.
    pub user: Option<String>,
    /// Partition it is restricted to.
    pub partition: Option<String>,
    /// The account above it.
    pub parent_account: Option<String>,
    /// Number of the association in the database.
    pub association_id: Option<i64>,
    /// Shares; `None` when those of the parent count.
    pub raw_share_n: Option<i64>,
    /// The parent's shares count.
    pub is_parent_share: Option<bool>,
    /// Shares of all siblings together.
    pub level_share_n: Option<i64>,
    /// Normalised shares, 10^-[`SHARE_PLACES`].
    pub norm_shares_e12: Option<i128>,
    /// Decayed usage, millionths of billing seconds.
    pub raw_usage_e6: Option<i128>,
    /// Share of the cluster's usage.
    pub norm_usage_e12: Option<i128>,
    /// Usage that counts.
    pub effective_usage_e12: Option<i128>,
    /// Fair-share factor.
    pub fairshare_factor_e12: Option<i128>,
    /// Shares by usage among siblings.
    pub level_fs_e12: Option<i128>,
    /// The former is infinite; `None` where it is not stated.
    pub is_level_fs_infinite: Option<bool>,
    /// Limits of resource minutes.
    pub grp_tres_mins: Option<String>,
    /// Minutes running jobs may still take.
    pub tres_run_mins: Option<String>,
}

/// A setting of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingRow {
    /// Cluster, if the file names it.
    pub cluster: Option<String>,
    /// Name as Slurm writes it.
    pub setting: String,
    /// When this was true, Unix milliseconds, if the file states it.
    pub as_of_ms: Option<i64>,
    /// Value as stated.
    pub value: Option<String>,
    /// Value of a duration, seconds.
    pub value_s: Option<i64>,
}

/// A job that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedJobRow {
    /// Number of the job.
    pub job_id: String,
    /// Number of its array.
    pub array_job_id: Option<String>,
    /// Its tasks of the array, as printed.
    pub array_tasks: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Partitions it may run in, comma-separated.
    pub partitions: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Submitted, Unix milliseconds.
    pub submit_ms: Option<i64>,
    /// May start from here on, Unix milliseconds.
    pub eligible_ms: Option<i64>,
    /// Its age counts from here, Unix milliseconds.
    pub accrue_ms: Option<i64>,
    /// A printed time happened twice (clocks were turned back); the first was taken.
    pub is_ambiguous: bool,
    /// Time limit, seconds; `None` without one.
    pub time_limit_s: Option<i64>,
    /// Fewest nodes.
    pub min_node_n: Option<i64>,
    /// Most nodes, where the file states both.
    pub max_node_n: Option<i64>,
    /// Requested CPUs.
    pub cpu_n: Option<i64>,
    /// Requested memory, bytes.
    pub memory_byte: Option<i64>,
    /// Requested GPUs; `None` where the resources are not stated.
    pub gpus: Option<Gpus>,
    /// Weighted sum of what is requested.
    pub billing_n: Option<i64>,
    /// Requested resources as printed.
    pub req_tres: Option<String>,
    /// Priority as listed.
    pub priority_n: Option<i64>,
    /// Adjustment by the user.
    pub nice_n: Option<i64>,
    /// Why it waits.
    pub reason: Option<String>,
    /// A person holds it.
    pub is_held: Option<bool>,
}
