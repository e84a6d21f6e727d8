//! One job as read, before `dedupe` makes a record of it.

use super::details::JobDetails;
use super::energy::Energy;
use super::jobstats::Jobstats;
use super::unchanged_columns::UnchangedColumns;

/// What the list of nodes of a job may come to, bytes: a longer one is left out.
pub const NODE_LIST_BYTES: usize = 30_000;

/// One job attempt as a source states it: borrowed, typed, in the units of the names. `None` is unknown and stays
/// distinguishable from zero. Readers fill what their dialect carries and leave the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobRow<'a> {
    /// `batch`, `payload`, `storage`, ...: accounts of the same hours that must never be added up.
    pub view: &'a str,
    /// Site as the record names it; the pipeline's `site` wins.
    pub site: Option<&'a str>,
    /// Slurm cluster, or the LRMS server (APEL `MachineName`), or the GRACC probe.
    pub cluster: Option<&'a str>,
    /// CE or host the job was submitted through.
    pub submit_host: Option<&'a str>,
    /// Site where a payload reports it ran, as opposed to the site that reports it.
    pub payload_site: Option<&'a str>,
    /// Job id as people know it (`123_4`, `1277340`). Never empty.
    pub job_id: &'a str,
    /// The plain number behind it where the source has both (Slurm `JobIDRaw`).
    pub raw_job_id: Option<&'a str>,
    /// Grid-wide id.
    pub global_job_id: Option<&'a str>,
    /// The key of this record among all others, in place of cluster, job id and time: the key of APEL's server, or what all
    /// encodings of a GRACC record share.
    /// With a key present, the key alone (with site and source kind) is the identity.
    pub identity_key: Option<&'a str>,
    /// VO as the record names it (already cut out of an FQAN); the pipeline's `vo` wins.
    pub vo: Option<&'a str>,
    /// The VO's name as the record prints it, an FQAN or not, where it also states a short one.
    pub vo_name: Option<&'a str>,
    /// The short name of the VO that the record states next to it.
    pub reportable_vo: Option<&'a str>,
    /// VOMS name as the record states it, one or several separated by `;`.
    pub fqan: Option<&'a str>,
    /// VO group (`/atlas/uk`).
    pub vo_group: Option<&'a str>,
    /// VO role (`Role=production`).
    pub vo_role: Option<&'a str>,
    /// Account or project that pays.
    pub account: Option<&'a str>,
    /// Local user name.
    pub user: Option<&'a str>,
    /// Local (Unix) group.
    pub user_group: Option<&'a str>,
    /// Certificate subject or token subject.
    pub global_user: Option<&'a str>,
    /// Slurm partition or LRMS queue.
    pub partition: Option<&'a str>,
    /// Quality of service.
    pub qos: Option<&'a str>,
    /// Workload characterisation key of Slurm, without the mark of a default one.
    pub wckey: Option<&'a str>,
    /// Reservation it ran in.
    pub reservation: Option<&'a str>,
    /// `grid`, `local`, ... (APEL infrastructure type, GRACC Grid).
    pub infrastructure: Option<&'a str>,
    /// Job name.
    pub job_name: Option<&'a str>,
    /// Submitted, Unix milliseconds.
    pub submit_ms: Option<i64>,
    /// Became eligible, Unix milliseconds.
    pub eligible_ms: Option<i64>,
    /// Started, Unix milliseconds.
    pub start_ms: Option<i64>,
    /// Ended, Unix milliseconds; `None` while it runs.
    pub end_ms: Option<i64>,
    /// Received by the accounting service, Unix milliseconds (GRACC `@received`).
    pub received_ms: Option<i64>,
    /// Elapsed wall-clock time, **not** times cores, suspension taken off, milliseconds.
    pub wall_ms: Option<i64>,
    /// Time suspended, seconds.
    pub suspended_s: Option<i64>,
    /// Measured CPU time, user + system, summed over cores. Unknown (not zero) when the dump cannot know it.
    pub cpu_ms: Option<i64>,
    /// User part.
    pub cpu_user_ms: Option<i64>,
    /// System part.
    pub cpu_system_ms: Option<i64>,
    /// Cores (Slurm CPUs, grid processors) allocated.
    pub alloc_core_n: Option<i64>,
    /// Cores requested.
    pub requested_core_n: Option<i64>,
    /// Nodes allocated.
    pub alloc_node_n: Option<i64>,
    /// GPUs allocated, all models.
    pub alloc_gpu_n: Option<i64>,
    /// GPUs by model, where named: `[("a100", 4)]`, sorted by model.
    pub gpus: &'a [(&'a str, i64)],
    /// Memory allocated, bytes.
    pub alloc_memory_byte: Option<i64>,
    /// Memory requested for the whole job, bytes.
    pub requested_memory_byte: Option<i64>,
    /// Largest resident set of any task, bytes.
    pub max_rss_byte: Option<i64>,
    /// Largest virtual memory size, bytes.
    pub max_virtual_byte: Option<i64>,
    /// What Jobstats measured of it; `None` where the source has nothing of Jobstats.
    pub jobstats: Option<Jobstats>,
    /// Bytes of the row it was read from, where every text of it is a part of that row; `None` where texts may be longer.
    pub row_byte_n: Option<usize>,
    /// Energy it used; `None` where the source has nothing of energy.
    pub energy: Option<Energy>,
    /// What few jobs have; `None` where the source states none of it.
    pub details: Option<&'a JobDetails<'a>>,
    /// Bytes sent and received over the network.
    pub network_byte: Option<i64>,
    /// Slurm's recorded `billing` TRES.
    pub alloc_billing_n: Option<i64>,
    /// Time limit, seconds.
    pub time_limit_s: Option<i64>,
    /// Hosts it was given, as Slurm lists them, not expanded. Where the source states the cores on each, and they differ, each
    /// comes so often that the parts are those of its cores.
    pub node_list: Option<&'a str>,
    /// State word: `COMPLETED`, `CANCELLED`, `RUNNING`, ...; grid records that only have an exit status leave it out.
    pub state: Option<&'a str>,
    /// Exit code.
    pub exit_code: Option<i64>,
    /// Signal that ended it.
    pub exit_signal: Option<i64>,
    /// CPU time that worker nodes scaled to a reference, milliseconds: set by `dedupe`, where a source states it.
    pub scaled_cpu_ms: Option<i64>,
    /// Wall time that worker nodes scaled to a reference, milliseconds: set by `dedupe`, where a source states it.
    pub scaled_wall_ms: Option<i64>,
    /// Benchmark the record states: `hs06`, `hs23` or `si00`.
    pub benchmark: Option<&'a str>,
    /// Value per core of that benchmark, in thousandths.
    pub benchmark_milli_per_core: Option<i64>,
    /// What the reader noticed (see [`super::anomaly::Anomaly`]); the records room adds what it can see itself.
    pub anomalies: u32,
    /// Texts that are equal to those of the row this sink received before.
    pub repeats: UnchangedColumns,
}
