//! One row per kind of inventory.

use super::{
    InventoryKind, assoc, assoc_mgr, csv_nodes, dump, event, hints, machines, node_json, partition_json, qos,
    queued_job, read_whole, reservation, scontrol, setting, share, share_json, sinfo, sinfo_json, slurm_conf,
};
use crate::sources::dialect::{
    Content, Dialect, DialectRow, PlacingInstant, Reader, SiteNaming, StatedIdentity, UnfinishedJobs, VersionRule,
    VoNaming,
};
use crate::sources::hints::Hints;

/// Every kind of inventory, in the order of [`InventoryKind`].
pub static DIALECTS: [DialectRow; 21] = [
    row(
        "scontrol-node",
        InventoryKind::ScontrolNode,
        "scontrol show node",
        |input, options, _| read_whole(input, options, scontrol::nodes),
        |head| hints(InventoryKind::ScontrolNode, head),
    ),
    row(
        "scontrol-partition",
        InventoryKind::ScontrolPartition,
        "scontrol show partition",
        |input, options, _| read_whole(input, options, scontrol::partitions),
        |head| hints(InventoryKind::ScontrolPartition, head),
    ),
    row(
        "node-json",
        InventoryKind::NodeJson,
        "scontrol show node --json or --yaml",
        |input, options, _| read_whole(input, options, node_json::read),
        |head| hints(InventoryKind::NodeJson, head),
    ),
    row(
        "partition-json",
        InventoryKind::PartitionJson,
        "scontrol show partition --json or --yaml",
        |input, options, _| read_whole(input, options, partition_json::read),
        |head| hints(InventoryKind::PartitionJson, head),
    ),
    row(
        "sinfo",
        InventoryKind::Sinfo,
        "sinfo -N",
        |input, options, _| read_whole(input, options, sinfo::read),
        |head| hints(InventoryKind::Sinfo, head),
    ),
    row(
        "sinfo-json",
        InventoryKind::SinfoJson,
        "sinfo --json or --yaml since 23.02",
        |input, options, _| read_whole(input, options, sinfo_json::read),
        |head| hints(InventoryKind::SinfoJson, head),
    ),
    row(
        "csv",
        InventoryKind::Csv,
        "a CSV of nodes",
        |input, options, _| read_whole(input, options, csv_nodes::read),
        |head| hints(InventoryKind::Csv, head),
    ),
    row(
        "slurm-conf",
        InventoryKind::SlurmConf,
        "slurm.conf",
        |input, options, _| read_whole(input, options, slurm_conf::read),
        |head| hints(InventoryKind::SlurmConf, head),
    ),
    row(
        "sacctmgr-event",
        InventoryKind::SacctmgrEvent,
        "sacctmgr -P show event",
        |input, options, _| read_whole(input, options, event::read),
        |head| hints(InventoryKind::SacctmgrEvent, head),
    ),
    row(
        "sacctmgr-assoc",
        InventoryKind::SacctmgrAssoc,
        "sacctmgr -P show assoc",
        |input, options, _| read_whole(input, options, assoc::read),
        |head| hints(InventoryKind::SacctmgrAssoc, head),
    ),
    row(
        "sacctmgr-dump",
        InventoryKind::SacctmgrDump,
        "sacctmgr dump",
        |input, options, _| read_whole(input, options, dump::read),
        |head| hints(InventoryKind::SacctmgrDump, head),
    ),
    row(
        "scontrol-reservation",
        InventoryKind::ScontrolReservation,
        "scontrol show reservation",
        |input, options, _| read_whole(input, options, reservation::of_scontrol),
        |head| hints(InventoryKind::ScontrolReservation, head),
    ),
    row(
        "sacctmgr-reservation",
        InventoryKind::SacctmgrReservation,
        "sacctmgr -P show reservation",
        |input, options, _| read_whole(input, options, reservation::of_sacctmgr),
        |head| hints(InventoryKind::SacctmgrReservation, head),
    ),
    row(
        "csv-reservation",
        InventoryKind::CsvReservation,
        "a CSV of reservations",
        |input, options, _| read_whole(input, options, reservation::of_csv),
        |head| hints(InventoryKind::CsvReservation, head),
    ),
    row(
        "swf-machines",
        InventoryKind::SwfMachines,
        "the .machines file of an SWF workload",
        |input, options, _| read_whole(input, options, machines::read),
        |head| hints(InventoryKind::SwfMachines, head),
    ),
    row(
        "sacctmgr-qos",
        InventoryKind::SacctmgrQos,
        "sacctmgr -P show qos",
        |input, options, _| read_whole(input, options, qos::read),
        |head| hints(InventoryKind::SacctmgrQos, head),
    ),
    row(
        "sshare",
        InventoryKind::Sshare,
        "sshare -a -P, also -l and -m",
        |input, options, _| read_whole(input, options, share::read),
        |head| hints(InventoryKind::Sshare, head),
    ),
    row(
        "sshare-json",
        InventoryKind::SshareJson,
        "sshare -a --json or --yaml since 24.05",
        |input, options, _| read_whole(input, options, share_json::read),
        |head| hints(InventoryKind::SshareJson, head),
    ),
    row(
        "scontrol-assoc-mgr",
        InventoryKind::ScontrolAssocMgr,
        "scontrol show assoc_mgr",
        |input, options, _| read_whole(input, options, assoc_mgr::read),
        |head| hints(InventoryKind::ScontrolAssocMgr, head),
    ),
    row(
        "scontrol-config",
        InventoryKind::ScontrolConfig,
        "scontrol show config",
        |input, options, _| read_whole(input, options, setting::of_config),
        |head| hints(InventoryKind::ScontrolConfig, head),
    ),
    row(
        "scontrol-job",
        InventoryKind::ScontrolJob,
        "scontrol show job",
        |input, options, _| read_whole(input, options, queued_job::read),
        |head| hints(InventoryKind::ScontrolJob, head),
    ),
];

const fn row(
    word: &'static str,
    kind: InventoryKind,
    help: &'static str,
    reader: Reader,
    hints: fn(&[u8]) -> Hints,
) -> DialectRow {
    DialectRow {
        word,
        aliases: &[],
        help,
        page: help,
        content: Content::Inventory(kind),
        // All kinds are distinguished at once, by `inventory::recognise`.
        recognise: |_| None,
        reader,
        hints,
        site: SiteNaming::Source,
        vo: VoNaming::Record,
        identity: StatedIdentity::Nothing,
        placed_by: PlacingInstant::StartOrSubmit,
        version_rule: VersionRule::LastRead,
        unfinished: UnfinishedJobs::ABSENT,
        has_job_numbers: false,
        options: &[],
        proposal: &[],
        raw: None,
        fingerprint: &[],
    }
}

impl InventoryKind {
    /// Its dialect.
    #[must_use]
    pub fn dialect(self) -> Dialect {
        let [
            scontrol_node,
            scontrol_partition,
            node_json,
            partition_json,
            sinfo,
            sinfo_json,
            csv,
            slurm_conf,
            sacctmgr_event,
            sacctmgr_assoc,
            sacctmgr_dump,
            scontrol_reservation,
            sacctmgr_reservation,
            csv_reservation,
            swf_machines,
            sacctmgr_qos,
            sshare,
            sshare_json,
            scontrol_assoc_mgr,
            scontrol_config,
            scontrol_job,
        ] = &DIALECTS;
        Dialect::of(match self {
            Self::ScontrolNode => scontrol_node,
            Self::ScontrolPartition => scontrol_partition,
            Self::NodeJson => node_json,
            Self::PartitionJson => partition_json,
            Self::Sinfo => sinfo,
            Self::SinfoJson => sinfo_json,
            Self::Csv => csv,
            Self::SlurmConf => slurm_conf,
            Self::SacctmgrEvent => sacctmgr_event,
            Self::SacctmgrAssoc => sacctmgr_assoc,
            Self::SacctmgrDump => sacctmgr_dump,
            Self::ScontrolReservation => scontrol_reservation,
            Self::SacctmgrReservation => sacctmgr_reservation,
            Self::CsvReservation => csv_reservation,
            Self::SwfMachines => swf_machines,
            Self::SacctmgrQos => sacctmgr_qos,
            Self::Sshare => sshare,
            Self::SshareJson => sshare_json,
            Self::ScontrolAssocMgr => scontrol_assoc_mgr,
            Self::ScontrolConfig => scontrol_config,
            Self::ScontrolJob => scontrol_job,
        })
    }

    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        DIALECTS.iter().filter_map(|row| Dialect::of(row).inventory())
    }

    /// The word of the pipeline file, and of the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.dialect().as_str()
    }
}
