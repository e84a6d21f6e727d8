//! Listings of real clusters, where they are at hand: all forms of one machine agree.
#![expect(clippy::print_stdout, reason = "a test that is skipped prints it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gridtally::reference::hostlist::{Hostlist, compress};
use gridtally::reference::inventory::{AssociationRow, Gpus, NodeRow};
use gridtally::sources::inventory::{InventoryKind, recognise};

use super::{InventoryRows, read_as};

fn shared(test: &str) -> Option<PathBuf> {
    crate::support::collect::shared(test, "data/slurm")
}

/// Reads a file as what it is, without a refusal.
fn reported(folder: &Path, name: &str, kind: InventoryKind) -> InventoryRows {
    let bytes = std::fs::read(folder.join(name)).unwrap();
    assert_eq!(recognise(&bytes), Some(kind), "{name}");
    let reported = read_as(kind, &bytes, Some("Europe/Zurich"));
    assert!(reported.rejects.is_empty(), "{name}: {:#?}", reported.rejects);
    reported
}

/// Nodes by name without the columns that only some forms contain.
fn hardware(reported: &InventoryRows) -> BTreeMap<String, NodeRow> {
    let strip = |row: &NodeRow| NodeRow {
        cluster: None,
        as_of_ms: None,
        effective_cpu_n: None,
        billing_n: None,
        slurm_version: None,
        state: None,
        state_flags: None,
        reason: None,
        disk_byte: None,
        // Only some forms have a count next to the models.
        gpus: row.gpus.as_ref().map(|gpus| Gpus {
            untyped_n: Some(gpus.device_n()),
            models: gpus.models.clone(),
        }),
        ..row.clone()
    };
    reported
        .nodes()
        .into_iter()
        .map(|row| (row.node.clone(), strip(row)))
        .collect()
}

#[test]
fn every_form_of_a_real_cluster_reports_the_same_nodes() {
    let Some(root) = shared("every_form_of_a_real_cluster_tells_the_same_nodes") else {
        return;
    };
    for (version, json) in [
        ("22.05", "sinfo.json"),
        ("24.11", "scontrol_node.json"),
        ("24.11-history", "scontrol_node.json"),
    ] {
        let folder = root.join(version);
        let one_line = reported(&folder, "scontrol_node_o.txt", InventoryKind::ScontrolNode);
        let nodes = hardware(&one_line);
        assert_eq!(nodes.len(), 11, "{version}");
        let sum = |of: fn(&NodeRow) -> Option<i64>| nodes.values().filter_map(of).sum::<i64>();
        // What the cluster registered with its database: cpu=272, mem=1312.50G, gres/gpu=8.
        let registered = reported(&folder, "sacctmgr_event_P.txt", InventoryKind::SacctmgrEvent);
        let cluster = registered
            .events()
            .into_iter()
            .find(|event| event.node.is_none())
            .cloned()
            .unwrap();
        assert_eq!(Some(sum(|node| node.cpu_n)), cluster.cpu_n);
        assert_eq!(Some(sum(|node| node.memory_byte)), cluster.memory_byte);
        assert_eq!(
            sum(|node| node.gpus.as_ref().map(Gpus::device_n)),
            cluster.gpus.as_ref().unwrap().device_n()
        );
        assert_eq!(sum(NodeRow::core_n), 208);
        let list = cluster.cluster_nodes.unwrap();
        assert_eq!(compress(nodes.keys()), list, "{version}");
        assert_eq!(
            Hostlist::parse(&list).unwrap().hosts().collect::<Vec<_>>(),
            nodes.keys().cloned().collect::<Vec<_>>()
        );
        for name in ["scontrol_node.txt", "scontrol_node_d.txt"] {
            let several = reported(&folder, name, InventoryKind::ScontrolNode);
            assert_eq!(hardware(&several), nodes, "{version} {name}");
        }
        let json = reported(&folder, json, InventoryKind::NodeJson);
        assert_eq!(hardware(&json), nodes, "{version} JSON");
        let states = |reported: &InventoryRows| -> Vec<_> {
            reported
                .nodes()
                .iter()
                .map(|row| (row.state.clone(), row.state_flags.clone(), row.billing_n))
                .collect()
        };
        assert_eq!(states(&json), states(&one_line), "{version}");
        let sinfo = reported(&folder, "sinfo_N_P.txt", InventoryKind::Sinfo);
        assert_eq!(hardware(&sinfo), nodes, "{version} sinfo");
        assert_eq!(sinfo.rows_read, 27, "{version}: a line per node and partition");
        let long = reported(&folder, "sinfo_N_l.txt", InventoryKind::Sinfo);
        for (name, row) in hardware(&long) {
            let node = &nodes[&name];
            assert_eq!(
                (row.cpu_n, row.core_n(), &row.partitions),
                (node.cpu_n, node.core_n(), &node.partitions)
            );
            assert!(
                row.memory_byte.is_none_or(|byte| Some(byte) == node.memory_byte),
                "{version} {name}"
            );
        }
        let conf = hardware(&reported(&folder, "slurm.conf", InventoryKind::SlurmConf));
        assert_eq!(conf, nodes, "{version} slurm.conf");
        println!("{version}: 11 nodes, 272 CPUs, 208 cores, 8 GPUs agree in seven forms");
    }
}

#[test]
fn partitions_of_a_real_cluster_agree_in_every_form() {
    let Some(root) = shared("partitions_of_a_real_cluster_agree_in_every_form") else {
        return;
    };
    for version in ["22.05", "24.11", "24.11-history"] {
        let folder = root.join(version);
        let one_line = reported(&folder, "scontrol_part_o.txt", InventoryKind::ScontrolPartition);
        let several = reported(&folder, "scontrol_part.txt", InventoryKind::ScontrolPartition);
        assert_eq!(one_line.partitions(), several.partitions(), "{version}");
        let conf = reported(&folder, "slurm.conf", InventoryKind::SlurmConf);
        assert_eq!(conf.partitions().len(), 6);
        for (shown, configured) in one_line.partitions().into_iter().zip(conf.partitions()) {
            assert_eq!(shown.partition, configured.partition);
            assert_eq!(
                (
                    shown.node_n,
                    shown.cpu_n,
                    shown.memory_byte,
                    &shown.weights,
                    shown.is_exclusive,
                    shown.is_default
                ),
                (
                    configured.node_n,
                    configured.cpu_n,
                    configured.memory_byte,
                    &configured.weights,
                    configured.is_exclusive,
                    configured.is_default
                ),
                "{version} {}",
                shown.partition
            );
            assert_eq!((shown.max_time_s, configured.max_time_s), (Some(86_400), Some(86_400)));
            assert_eq!(configured.billing_rule, Some("sum"));
        }
    }
}

#[test]
fn a_real_dump_and_a_real_listing_have_the_same_associations() {
    let Some(root) = shared("a_real_dump_and_a_real_listing_have_the_same_associations") else {
        return;
    };
    for version in ["22.05", "24.11"] {
        let folder = root.join(version);
        let listed = reported(&folder, "sacctmgr_assoc_P.txt", InventoryKind::SacctmgrAssoc);
        let dumped = reported(&folder, "sacctmgr_dump.cfg", InventoryKind::SacctmgrDump);
        let shares = |reported: &InventoryRows| -> BTreeMap<_, _> {
            let key = |row: &AssociationRow| (row.account.clone(), row.user.clone());
            let rows = reported.associations().into_iter();
            rows.map(|row| (key(row), (row.share_n, row.is_parent_share))).collect()
        };
        assert_eq!(shares(&listed), shares(&dumped), "{version}");
        assert_eq!(listed.associations().len(), 17);
        let dave = listed
            .associations()
            .into_iter()
            .find(|row| row.user.as_deref() == Some("dave"))
            .cloned()
            .unwrap();
        assert_eq!((dave.share_n, dave.is_parent_share), (None, Some(true)));
        let users = reported(&folder, "sacctmgr_user_P.txt", InventoryKind::SacctmgrAssoc);
        assert!(users.associations().iter().all(|row| row.user.is_some()));
    }
}
