//! Which of the inventory formats a file has, judged by its content.

use memchr::memmem;

use super::assoc;
use super::csv_nodes;
use super::document;
use super::event;
use super::machines;
use super::reservation;
use super::sinfo;

/// A format of an inventory file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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

impl Kind {
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

/// The format whose marks the first bytes (unpacked) bear.
#[must_use]
pub fn recognise(head: &[u8]) -> Option<Kind> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    if text.first()? == &b'{' || document::is_yaml(text) {
        let rendered = [
            (Kind::SinfoJson, ["sinfo", "partition"]),
            (Kind::PartitionJson, ["partitions", "maximums"]),
            (Kind::NodeJson, ["nodes", "real_memory"]),
        ];
        return rendered
            .into_iter()
            .find_map(|(kind, keys)| document::has_keys(text, &keys).then_some(kind));
    }
    if matches!(text.first()?, b'[' | b'<') {
        return None;
    }
    if text.starts_with(b"NodeName=") && (has("CPUTot=") || has(" CPUAlloc=")) {
        return Some(Kind::ScontrolNode);
    }
    if text.starts_with(b"PartitionName=") && has("TotalCPUs=") {
        return Some(Kind::ScontrolPartition);
    }
    if text.starts_with(b"ReservationName=") || text.starts_with(reservation::NONE.as_bytes()) {
        return Some(Kind::ScontrolReservation);
    }
    if text.starts_with(b"Current Association Manager state") {
        // `scontrol show assoc_mgr`: usage and limits of the moment, not the tree.
        return None;
    }
    let lines = || text.split(|byte| *byte == b'\n').take(64).map(String::from_utf8_lossy);
    let first = lines().next()?;
    if let Some(line) = lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let is_either =
            |is_header: fn(&str) -> bool| is_header(&line) || csv_nodes::misread(&line, is_header).is_some();
        if is_either(csv_nodes::is_header) {
            return Some(Kind::Csv);
        }
        if is_either(reservation::is_csv_header) {
            return Some(Kind::CsvReservation);
        }
    }
    if machines::is_machines(text) {
        return Some(Kind::SwfMachines);
    }
    if reservation::is_header(&first) {
        return Some(Kind::SacctmgrReservation);
    }
    if event::is_header(&first) {
        return Some(Kind::SacctmgrEvent);
    }
    if assoc::is_header(&first) {
        return Some(Kind::SacctmgrAssoc);
    }
    if lines().take(3).any(|line| sinfo::is_header(&line)) || sinfo::is_headerless(&first) {
        return Some(Kind::Sinfo);
    }
    let is_one = |marks: &[&str]| {
        lines().any(|line| {
            let line = line.trim_start().to_ascii_lowercase();
            marks.iter().any(|mark| line.starts_with(mark))
        })
    };
    if is_one(&[
        "cluster - '",
        "parent - '",
        "# to edit this file start with a cluster line",
    ]) {
        return Some(Kind::SacctmgrDump);
    }
    is_one(&[
        "clustername=",
        "slurmctldhost=",
        "controlmachine=",
        "nodename=",
        "partitionname=",
    ])
    .then_some(Kind::SlurmConf)
}
