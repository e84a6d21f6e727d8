//! Which of the inventory formats a file has, judged by its content.

/// A format of an inventory file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InventoryKind {
    /// `scontrol show node`, one line per node (`-o`) or several.
    ScontrolNode,
    /// `scontrol show partition`, one line per partition (`-o`) or several.
    ScontrolPartition,
    /// `scontrol show node --json`, and `sinfo --json` before 23.02; or `--yaml`.
    NodeJson,
    /// `scontrol show partition --json`; or `--yaml`.
    PartitionJson,
    /// `sinfo -N`, long (`-l`) or with a format of columns between `|`.
    Sinfo,
    /// `sinfo --json` since 23.02; or `--yaml`.
    SinfoJson,
    /// A CSV of a site's own.
    Csv,
    /// `slurm.conf`.
    SlurmConf,
    /// `sacctmgr -P show event`.
    SacctmgrEvent,
    /// `sacctmgr -P show assoc`.
    SacctmgrAssoc,
    /// `sacctmgr dump`.
    SacctmgrDump,
    /// `scontrol show reservation`, one line per reservation (`-o`) or several.
    ScontrolReservation,
    /// `sacctmgr -P show reservation`.
    SacctmgrReservation,
    /// A CSV of reservations of a site's own.
    CsvReservation,
    /// The `.machines` file of a workload.
    SwfMachines,
    /// `sacctmgr -P show qos`.
    SacctmgrQos,
    /// `sshare -P`, with any of its options and columns.
    Sshare,
    /// `sshare --json`; or `--yaml`.
    SshareJson,
    /// `scontrol show assoc_mgr`, one line per record (`-o`) or several.
    ScontrolAssocMgr,
    /// `scontrol show config`.
    ScontrolConfig,
    /// `scontrol show job`, one line per job (`-o`) or several, with or without details (`-d`).
    ScontrolJob,
}

impl InventoryKind {
    /// Whether its files may state when they were true, or have rows that need no such date.
    #[must_use]
    pub fn may_state_date(self) -> bool {
        matches!(
            self,
            Self::NodeJson
                | Self::PartitionJson
                | Self::Sinfo
                | Self::Csv
                | Self::SacctmgrEvent
                | Self::CsvReservation
                | Self::ScontrolConfig
        )
    }
}
