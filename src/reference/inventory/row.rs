//! What is known about the machine behind the jobs, row by row. `None` is unknown and stays distinguishable from zero.

use super::gpus::Gpus;
use super::scheduler::{QosRow, QueuedJobRow, SettingRow, ShareRow};
use super::weights::Weight;

/// A row of an inventory.
#[derive(Clone, Debug, PartialEq)]
pub enum InventoryRow {
    /// A node as it was at an instant.
    Node(Box<NodeRow>),
    /// Something that happened to a node or to the cluster.
    Event(Box<EventRow>),
    /// A partition as it was at an instant.
    Partition(Box<PartitionRow>),
    /// An account or a user in an account.
    Association(Box<AssociationRow>),
    /// A window in which resources are set aside.
    Reservation(Box<ReservationRow>),
    /// A quality of service.
    Qos(Box<QosRow>),
    /// Shares and usage of an account or a user, as Slurm computed them.
    Share(Box<ShareRow>),
    /// A setting of the scheduler.
    Setting(Box<SettingRow>),
    /// A job that waits.
    QueuedJob(Box<QueuedJobRow>),
}

impl InventoryRow {
    /// The dataset it belongs to.
    #[must_use]
    pub fn dataset(&self) -> &'static str {
        match self {
            Self::Node(_) => "node",
            Self::Event(_) => "node_event",
            Self::Partition(_) => "partition",
            Self::Association(_) => "association",
            Self::Reservation(_) => "reservation",
            Self::Qos(_) => "qos",
            Self::Share(_) => "share",
            Self::Setting(_) => "scheduler_setting",
            Self::QueuedJob(_) => "queued_job",
        }
    }

    /// Whether its date is missing in the file.
    #[must_use]
    pub fn is_undated(&self) -> bool {
        match self {
            Self::Node(node) => node.as_of_ms.is_none(),
            Self::Partition(partition) => partition.as_of_ms.is_none(),
            Self::Reservation(reservation) => reservation.as_of_ms.is_none(),
            Self::Event(_) => false,
            Self::Setting(setting) => setting.as_of_ms.is_none(),
            Self::Association(_) | Self::Qos(_) | Self::Share(_) | Self::QueuedJob(_) => true,
        }
    }

    /// Removes names of people, and free text that may contain one. A user of an account stays one: it states
    /// `withheld`, because without a user the row would be the account's own. There is no period a pseudonym could
    /// belong to.
    pub fn withhold_users(&mut self) {
        match self {
            Self::Node(node) => node.reason = None,
            Self::Event(event) => (event.user, event.reason) = (None, None),
            Self::Reservation(reservation) => reservation.users = None,
            Self::Partition(_) | Self::Setting(_) => {}
            Self::Association(association) => {
                (association.description, association.organization) = (None, None);
                withhold(association.user.as_mut());
            }
            Self::Qos(qos) => qos.description = None,
            Self::Share(share) => withhold(share.user.as_mut()),
            Self::QueuedJob(job) => withhold(job.user.as_mut()),
        }
    }
}

/// What stands for a user whose name is withheld.
pub const WITHHELD_USER: &str = "withheld";

fn withhold(user: Option<&mut String>) {
    if let Some(user) = user {
        WITHHELD_USER.clone_into(user);
    }
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRow {
    /// Cluster, if the file names it.
    pub cluster: Option<String>,
    /// Name.
    pub node: String,
    /// When this was true, Unix milliseconds, if the file states it.
    pub as_of_ms: Option<i64>,
    /// Schedulable CPUs as configured (threads or cores, as the site chose).
    pub cpu_n: Option<i64>,
    /// CPUs left for jobs when some are set aside for the system.
    pub effective_cpu_n: Option<i64>,
    /// Sockets.
    pub socket_n: Option<i64>,
    /// Cores of one socket.
    pub core_per_socket_n: Option<i64>,
    /// Threads of one core.
    pub thread_per_core_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// Memory set aside for the system, bytes.
    pub system_memory_byte: Option<i64>,
    /// Local scratch disk, bytes.
    pub disk_byte: Option<i64>,
    /// GPUs; `None` where the file does not state them.
    pub gpus: Option<Gpus>,
    /// Generic resources as printed.
    pub gres: Option<String>,
    /// Features as printed.
    pub features: Option<String>,
    /// Scheduling weight.
    pub weight_n: Option<i64>,
    /// Partitions, comma-separated, sorted.
    pub partitions: Option<String>,
    /// First word of the state, upper case.
    pub state: Option<String>,
    /// The other words and marks of the state, `+` between them, sorted.
    pub state_flags: Option<String>,
    /// Why it is down or drained.
    pub reason: Option<String>,
    /// Largest weighted sum of all its resources.
    pub billing_n: Option<i64>,
    /// Release of Slurm on the node.
    pub slurm_version: Option<String>,
}

impl NodeRow {
    /// Physical cores.
    #[must_use]
    pub fn core_n(&self) -> Option<i64> {
        self.socket_n?.checked_mul(self.core_per_socket_n?)
    }
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventRow {
    /// Cluster.
    pub cluster: Option<String>,
    /// Node; `None` for an event of the cluster.
    pub node: Option<String>,
    /// Nodes of the cluster, as a host list.
    pub cluster_nodes: Option<String>,
    /// Began, Unix milliseconds.
    pub start_ms: i64,
    /// Ended, Unix milliseconds; `None` while it lasts.
    pub end_ms: Option<i64>,
    /// A printed time happened twice (clocks were turned back); the first time that fits was taken.
    pub is_ambiguous: bool,
    /// State (`DOWN`, `DRAIN`), upper case.
    pub state: Option<String>,
    /// The other words and marks of the state.
    pub state_flags: Option<String>,
    /// Reason.
    pub reason: Option<String>,
    /// User who set it.
    pub user: Option<String>,
    /// Resources as printed.
    pub tres: Option<String>,
    /// CPUs.
    pub cpu_n: Option<i64>,
    /// Nodes.
    pub node_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// Weighted sum.
    pub billing_n: Option<i64>,
    /// GPUs.
    pub gpus: Option<Gpus>,
}

/// A partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionRow {
    /// Cluster, if the file names it.
    pub cluster: Option<String>,
    /// Name.
    pub partition: String,
    /// When this was true, Unix milliseconds, if the file states it.
    pub as_of_ms: Option<i64>,
    /// Nodes, as a host list.
    pub nodes: Option<String>,
    /// How many.
    pub node_n: Option<i64>,
    /// CPUs.
    pub cpu_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// GPUs.
    pub gpus: Option<Gpus>,
    /// State, upper case.
    pub state: Option<String>,
    /// Jobs go here when they do not name one.
    pub is_default: Option<bool>,
    /// A job takes whole nodes.
    pub is_exclusive: Option<bool>,
    /// Sharing of resources, upper case.
    pub over_subscribe: Option<String>,
    /// Longest job, seconds; `None` without a limit.
    pub max_time_s: Option<i64>,
    /// Factor of the job's priority.
    pub priority_job_factor_n: Option<i64>,
    /// Tier.
    pub priority_tier_n: Option<i64>,
    /// Quality of service of the partition.
    pub qos: Option<String>,
    /// Weights as printed.
    pub billing_weights: Option<String>,
    /// The same, read.
    pub weights: Vec<Weight>,
    /// How weighted amounts become one number: `sum`, `max_tres` or `max_tres_gres`; `None` where the file does not state it.
    pub billing_rule: Option<&'static str>,
}

/// A reservation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReservationRow {
    /// Cluster, if the file names it.
    pub cluster: Option<String>,
    /// Name.
    pub reservation: String,
    /// When this was true, Unix milliseconds, if the file states it.
    pub as_of_ms: Option<i64>,
    /// Begins, Unix milliseconds.
    pub start_ms: i64,
    /// Ends, Unix milliseconds.
    pub end_ms: i64,
    /// A printed time happened twice (clocks were turned back); the first time that fits was taken.
    pub is_ambiguous: bool,
    /// Nodes, as a host list.
    pub nodes: Option<String>,
    /// How many.
    pub node_n: Option<i64>,
    /// CPUs as Slurm counts those of jobs; cores where the resources contain none.
    pub core_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// GPUs.
    pub gpus: Option<Gpus>,
    /// Partition.
    pub partition: Option<String>,
    /// Accounts that may use it, as printed.
    pub accounts: Option<String>,
    /// Users that may use it, as printed.
    pub users: Option<String>,
    /// Flags as printed, upper case.
    pub flags: Option<String>,
    /// State, upper case.
    pub state: Option<String>,
}

/// An association.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssociationRow {
    /// Cluster.
    pub cluster: Option<String>,
    /// Account.
    pub account: String,
    /// The account above it.
    pub parent_account: Option<String>,
    /// User; `None` for the account itself.
    pub user: Option<String>,
    /// Partition it is restricted to.
    pub partition: Option<String>,
    /// Shares; `None` when those of the parent count.
    pub share_n: Option<i64>,
    /// The parent's shares count.
    pub is_parent_share: Option<bool>,
    /// The user's default account.
    pub default_account: Option<String>,
    /// Default quality of service.
    pub default_qos: Option<String>,
    /// Allowed ones, comma-separated.
    pub qos: Option<String>,
    /// Description of an account.
    pub description: Option<String>,
    /// Organisation of an account.
    pub organization: Option<String>,
    /// Every limit that is set, `name=value`, `;` between them, sorted by name in lower case.
    pub limits: Option<String>,
    /// Limit of resource minutes of the whole association.
    pub grp_tres_mins: Option<String>,
    /// Limit of resources at one time.
    pub grp_tres: Option<String>,
}
