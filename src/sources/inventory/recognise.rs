//! Which form of inventory a file holds, from its first bytes.

use memchr::memmem;

use super::kind::InventoryKind;
use super::{
    assoc, assoc_mgr, csv_nodes, document, event, machines, qos, queued_job, reservation, setting, share, sinfo,
};

/// The format whose marks the first bytes (unpacked) bear.
#[must_use]
pub fn recognise(head: &[u8]) -> Option<InventoryKind> {
    let text = crate::byte_order_mark::without_mark(head);
    let text = text.trim_ascii_start();
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    if text.first()? == &b'{' || document::is_yaml(text) {
        let rendered = [
            (InventoryKind::SshareJson, ["shares", "shares_normalized"]),
            (InventoryKind::SinfoJson, ["sinfo", "partition"]),
            (InventoryKind::PartitionJson, ["partitions", "maximums"]),
            (InventoryKind::NodeJson, ["nodes", "real_memory"]),
        ];
        return rendered
            .into_iter()
            .find_map(|(kind, keys)| document::has_keys(text, &keys).then_some(kind));
    }
    if matches!(text.first()?, b'[' | b'<') {
        return None;
    }
    if text.starts_with(b"NodeName=") && (has("CPUTot=") || has(" CPUAlloc=")) {
        return Some(InventoryKind::ScontrolNode);
    }
    if text.starts_with(b"PartitionName=") && has("TotalCPUs=") {
        return Some(InventoryKind::ScontrolPartition);
    }
    if text.starts_with(b"ReservationName=") || text.starts_with(reservation::NONE.as_bytes()) {
        return Some(InventoryKind::ScontrolReservation);
    }
    if text.starts_with(assoc_mgr::TITLE.as_bytes()) {
        return Some(InventoryKind::ScontrolAssocMgr);
    }
    if text.starts_with(setting::TITLE.as_bytes()) {
        return Some(InventoryKind::ScontrolConfig);
    }
    // A log of ended jobs (jobcomp/filetxt) names the job otherwise.
    if text.starts_with(b"JobId=") && has(" JobName=") && has("JobState=")
        || text.starts_with(queued_job::NONE.as_bytes())
    {
        return Some(InventoryKind::ScontrolJob);
    }
    let lines = || text.split(|byte| *byte == b'\n').take(64).map(String::from_utf8_lossy);
    let first = lines().next()?;
    if let Some(line) = lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let is_either =
            |is_header: fn(&str) -> bool| is_header(&line) || csv_nodes::misread(&line, is_header).is_some();
        if is_either(csv_nodes::is_header) {
            return Some(InventoryKind::Csv);
        }
        if is_either(reservation::is_csv_header) {
            return Some(InventoryKind::CsvReservation);
        }
    }
    if machines::is_machines(text) {
        return Some(InventoryKind::SwfMachines);
    }
    if reservation::is_header(&first) {
        return Some(InventoryKind::SacctmgrReservation);
    }
    if event::is_header(&first) {
        return Some(InventoryKind::SacctmgrEvent);
    }
    // With the cluster among its columns, it has all that a listing of associations has.
    if lines().take(3).any(|line| share::is_header(&line)) {
        return Some(InventoryKind::Sshare);
    }
    if qos::is_header(&first) {
        return Some(InventoryKind::SacctmgrQos);
    }
    if assoc::is_header(&first) {
        return Some(InventoryKind::SacctmgrAssoc);
    }
    if lines().take(3).any(|line| sinfo::is_header(&line)) || sinfo::is_headerless(&first) {
        return Some(InventoryKind::Sinfo);
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
        "qos - '",
        "# to edit this file start with a cluster line",
    ]) {
        return Some(InventoryKind::SacctmgrDump);
    }
    is_one(&[
        "clustername=",
        "slurmctldhost=",
        "controlmachine=",
        "nodename=",
        "partitionname=",
        "prioritytype=",
    ])
    .then_some(InventoryKind::SlurmConf)
}
