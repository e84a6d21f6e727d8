//! `Key=value` pairs of `scontrol`, whose values may hold blanks.

use crate::numbers::Part;

use std::collections::BTreeMap;

/// Keys of `scontrol show node` and `show partition` over all releases: what begins a new pair. Anything else that looks
/// like one belongs to the value before it (`Reason=set State=down by hand`).
const KEYS: &[&str] = &[
    "ActiveFeatures",
    "AllocMem",
    "AllocNodes",
    "AllocTRES",
    "AllowAccounts",
    "AllowGroups",
    "AllowQos",
    "Alternate",
    "Arch",
    "AvailableFeatures",
    "AveWatts",
    "BcastAddr",
    "Boards",
    "BootTime",
    "CPUAlloc",
    "CPUEfctv",
    "CPUErr",
    "CPULoad",
    "CPUSpecList",
    "CPUTot",
    "CapWatts",
    "CfgTRES",
    "CertFlags",
    "Comment",
    "CoreSpecCount",
    "CoresPerSocket",
    "CpuBind",
    "CurrentWatts",
    "DefMemPerCPU",
    "DefMemPerNode",
    "Default",
    "DefaultTime",
    "DenyAccounts",
    "DenyQos",
    "DisableRootJobs",
    "DynamicNode",
    "ExclusiveTopo",
    "ExclusiveUser",
    "ExtSensorsJoules",
    "ExtSensorsTemp",
    "ExtSensorsWatts",
    "Extra",
    "FreeMem",
    "GpuSpec",
    "GraceTime",
    "Gres",
    "GresDrain",
    "GresUsed",
    "Hidden",
    "InstanceId",
    "InstanceType",
    "JobDefaults",
    "LLN",
    "LastBusyTime",
    "MCS_label",
    "MaxCPUsPerNode",
    "MaxCPUsPerSocket",
    "MaxMemPerCPU",
    "MaxMemPerNode",
    "MaxNodes",
    "MaxTime",
    "MemSpecLimit",
    "MinNodes",
    "NodeAddr",
    "NodeHostName",
    "NodeName",
    "NodeSets",
    "Nodes",
    "OS",
    "OverSubscribe",
    "OverTimeLimit",
    "Owner",
    "Parameters",
    "PartitionName",
    "Partitions",
    "Port",
    "PowerDownOnIdle",
    "PreemptMode",
    "PriorityJobFactor",
    "PriorityTier",
    "QoS",
    "RealMemory",
    "Reason",
    "ReqResv",
    "ReservationName",
    "ResumeAfterTime",
    "ResumeTimeout",
    "ResumeTime",
    "RestrictedCoresPerGPU",
    "RootOnly",
    "SelectTypeParameters",
    "Shared",
    "SlurmdStartTime",
    "Sockets",
    "State",
    "SuspendTime",
    "SuspendTimeout",
    "TLSCertLastRenewal",
    "TRES",
    "TRESBillingWeights",
    "ThreadsPerCore",
    "TmpDisk",
    "TopoPath",
    "Topology",
    "TotalCPUs",
    "TotalNodes",
    "Version",
    "Weight",
];

/// Keys of `scontrol show reservation`. One of cores names those of each node (`NodeName=n1 CoreIDs=0-3`).
pub(super) const RESERVATION_KEYS: &[&str] = &[
    "Accounts",
    "AllowedPartitions",
    "BurstBuffer",
    "Comment",
    "CoreCnt",
    "CoreIDs",
    "Duration",
    "EndTime",
    "Features",
    "Flags",
    "Groups",
    "Licenses",
    "MaxStartDelay",
    "NodeCnt",
    "NodeName",
    "Nodes",
    "PartitionName",
    "PurgeComp",
    "QOS",
    "ReservationName",
    "StartTime",
    "State",
    "TRES",
    "Users",
    "Watts",
];

/// The pairs of a record of nodes or partitions.
pub(super) fn pairs(text: &str) -> BTreeMap<&str, &str> {
    pairs_of(text, KEYS)
}

/// The pairs of a record. A key that occurs again is part of the value before it.
pub(super) fn pairs_of<'t>(text: &'t str, keys: &[&str]) -> BTreeMap<&'t str, &'t str> {
    let mut found: BTreeMap<&'t str, &'t str> = BTreeMap::new();
    // (key, where its value begins)
    let mut open: Option<(&'t str, usize)> = None;
    let mut at = 0;
    for word in text.split(' ') {
        let start = at;
        at += word.len() + 1;
        let Some((key, _)) = word.split_once('=') else {
            continue;
        };
        if !keys.contains(&key) || found.contains_key(key) || open.is_some_and(|(before, _)| before == key) {
            continue;
        }
        if let Some((before, from)) = open {
            found.insert(before, text.part(from..start).trim());
        }
        open = Some((key, start + key.len() + 1));
    }
    if let Some((before, from)) = open {
        found.insert(before, text.part(from..).trim());
    }
    found
}
