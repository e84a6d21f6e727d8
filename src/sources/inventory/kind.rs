//! Which of the inventory formats a file has, judged by its content.

/// A format of an inventory file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InventoryKind {
    /// Recognised per file from its content.
    Auto,
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
    /// The `.machines` file beside a workload.
    SwfMachines,
}

impl InventoryKind {
    /// Every format with a reader, and its word.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("scontrol-node", Self::ScontrolNode),
        ("scontrol-partition", Self::ScontrolPartition),
        ("node-json", Self::NodeJson),
        ("partition-json", Self::PartitionJson),
        ("sinfo", Self::Sinfo),
        ("sinfo-json", Self::SinfoJson),
        ("csv", Self::Csv),
        ("slurm-conf", Self::SlurmConf),
        ("sacctmgr-event", Self::SacctmgrEvent),
        ("sacctmgr-assoc", Self::SacctmgrAssoc),
        ("sacctmgr-dump", Self::SacctmgrDump),
        ("scontrol-reservation", Self::ScontrolReservation),
        ("sacctmgr-reservation", Self::SacctmgrReservation),
        ("csv-reservation", Self::CsvReservation),
        ("swf-machines", Self::SwfMachines),
    ];

    /// The word of the pipeline file, and of the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let known = Self::ALL.iter().find(|(_, kind)| *kind == self);
        known.map_or("inventory", |(word, _)| word)
    }

    /// Whether `format`, as the ledger has it, is that of an inventory.
    #[must_use]
    pub fn is_format(format: &str) -> bool {
        format == Self::Auto.as_str() || Self::ALL.iter().any(|(word, _)| *word == format)
    }
}
