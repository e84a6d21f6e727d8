//! Shares, settings and queues of real clusters, where they are at hand: all forms of one moment agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gridtally::ledger::Reason;
use gridtally::reference::inventory::ShareRow;
use gridtally::sources::inventory::{InventoryKind, recognise};

use super::{InventoryRows, read_as};

const CLUSTERS: [&str; 3] = ["22.05", "24.11", "24.11-history"];

const VARIANTS: [&str; 7] = [
    "1-fairtree",
    "2-fairtree-tied-accounts-share0",
    "3-classic",
    "4-depth-oblivious",
    "5-classic-quiet",
    "6-depth-oblivious-quiet",
    "7-fairtree-quiet",
];

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

/// Rows by account and user.
fn by_name(reported: &InventoryRows) -> BTreeMap<(String, Option<String>), ShareRow> {
    let rows = reported.shares();
    let found: BTreeMap<_, _> = rows
        .iter()
        .map(|row| ((row.account.clone(), row.user.clone()), (*row).clone()))
        .collect();
    assert_eq!(found.len(), rows.len(), "each account and user once");
    found
}

/// Whether two decimals differ by no more than their digits let them.
#[track_caller]
fn near(what: &str, a: Option<i128>, b: Option<i128>, by: i128) {
    match (a, b) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= by, "{what}: {a} is not {b}"),
        (a, b) => assert_eq!(a, b, "{what}"),
    }
}

#[test]
fn every_variant_of_fair_share_states_the_same_shares_in_every_form() {
    let Some(root) = shared("every_variant_of_fair_share_states_the_same_shares_in_every_form") else {
        return;
    };
    let folder = root.join("24.11-fairshare-variants");
    for variant in VARIANTS {
        let folder = folder.join(variant);
        let long = by_name(&reported(&folder, "sshare_l_P.txt", InventoryKind::Sshare));
        let short = by_name(&reported(&folder, "sshare_P.txt", InventoryKind::Sshare));
        let json = by_name(&reported(&folder, "sshare.json", InventoryKind::SshareJson));
        let manager = by_name(&reported(&folder, "assoc_mgr.txt", InventoryKind::ScontrolAssocMgr));
        assert_eq!(long.len(), 17, "{variant}");
        let is_fair_tree = variant.contains("fairtree");
        for (key, row) in &long {
            let what = format!("{variant} {key:?}");
            let (short, json, manager) = (&short[key], &json[key], &manager[key]);
            assert_eq!(short.parent_account, row.parent_account, "{what}");
            assert_eq!(json.parent_account, row.parent_account, "{what}");
            assert_eq!(json.is_parent_share, row.is_parent_share, "{what}");
            assert_eq!(json.raw_share_n, row.raw_share_n, "{what}");
            assert_eq!(json.tres_run_mins, row.tres_run_mins, "{what}");
            assert_eq!(json.raw_usage_e6, row.raw_usage_e6, "{what}");
            assert_eq!(short.raw_usage_e6, row.raw_usage_e6, "{what}");
            assert_eq!(json.association_id, manager.association_id, "{what}");
            assert_eq!(json.cluster.as_deref(), Some("zoo24"), "{what}");
            near(&what, json.norm_shares_e12, row.norm_shares_e12, 500_000);
            near(&what, json.norm_usage_e12, row.norm_usage_e12, 500_000);
            near(&what, json.effective_usage_e12, row.effective_usage_e12, 500_000);
            if is_fair_tree {
                near(&what, json.fairshare_factor_e12, row.fairshare_factor_e12, 500_000);
                near(&what, json.level_fs_e12, row.level_fs_e12, 500_000);
                assert_eq!(json.is_level_fs_infinite, row.is_level_fs_infinite, "{what}");
                near(
                    &what,
                    manager.fairshare_factor_e12,
                    row.fairshare_factor_e12,
                    5_000_000_000,
                );
            } else {
                // Only sshare computes them, and does so as it prints.
                assert_eq!(json.fairshare_factor_e12, None, "{what}");
                assert_eq!(manager.fairshare_factor_e12, None, "{what}");
                assert!(row.fairshare_factor_e12.is_some(), "{what}");
                assert_eq!((row.level_fs_e12, row.is_level_fs_infinite), (None, None), "{what}");
            }
            if key.0 != "root" || key.1.is_some() {
                assert_eq!(manager.parent_account, row.parent_account, "{what}");
                assert_eq!(manager.raw_share_n, row.raw_share_n, "{what}");
                near(
                    &what,
                    manager.norm_shares_e12,
                    row.norm_shares_e12,
                    5_000_000_000 + 500_000,
                );
            }
            // The forms were listed within two seconds, in which a calculation may fall.
            near(&what, manager.raw_usage_e6, row.raw_usage_e6, 1_000_000_000);
        }
    }
}

#[test]
fn real_qualities_of_service_and_settings_are_read() {
    let Some(root) = shared("real_qualities_of_service_and_settings_are_read") else {
        return;
    };
    for version in CLUSTERS {
        let folder = root.join(version);
        let listed = reported(&folder, "sacctmgr_qos_P.txt", InventoryKind::SacctmgrQos);
        let factors: Vec<_> = listed
            .qualities()
            .iter()
            .map(|row| (row.qos.clone(), row.priority_n, row.usage_factor_e6))
            .collect();
        assert_eq!(
            factors,
            [
                ("normal".to_owned(), Some(10), Some(1_000_000)),
                ("high".to_owned(), Some(100), Some(2_000_000)),
                ("low".to_owned(), Some(0), Some(500_000)),
            ]
        );
        let settings = |name: &str, kind| -> BTreeMap<String, (Option<String>, Option<i64>)> {
            let reported = reported(&folder, name, kind);
            let rows = reported.settings();
            let of = |row: &&gridtally::reference::inventory::SettingRow| {
                (row.setting.clone(), (row.value.clone(), row.value_s))
            };
            rows.iter().map(of).collect()
        };
        let conf = settings("slurm.conf", InventoryKind::SlurmConf);
        let shown = settings("scontrol_config.txt", InventoryKind::ScontrolConfig);
        for (name, (value, value_s)) in &conf {
            let (shown_value, shown_s) = shown.get(name).unwrap_or_else(|| panic!("{version} {name}"));
            assert_eq!(shown_s, value_s, "{version} {name}");
            if value_s.is_none() && name.starts_with("PriorityWeight") {
                assert_eq!(shown_value, value, "{version} {name}");
            }
        }
        assert_eq!(conf["PriorityMaxAge"].1, Some(3600));
        // Both are read by one clock, whatever that of the cluster was.
        let started_s = shown["BOOT_TIME"].1.unwrap();
        assert!(
            (1_795_222_000..1_795_230_000).contains(&started_s),
            "{version}: {started_s}"
        );
        assert!(shown.len() >= 18, "{version}: {shown:#?}");
    }
    let half_life = |version: &str| {
        let conf = reported(&root.join(version), "slurm.conf", InventoryKind::SlurmConf);
        let rows = conf.settings();
        rows.iter()
            .find(|row| row.setting == "PriorityDecayHalfLife")
            .unwrap()
            .value_s
    };
    assert_eq!((half_life("22.05"), half_life("24.11")), (Some(0), Some(1800)));
}

#[test]
fn real_listings_of_shares_agree_with_the_associations() {
    let Some(root) = shared("real_listings_of_shares_agree_with_the_associations") else {
        return;
    };
    for version in CLUSTERS {
        let folder = root.join(version);
        let dumped = reported(&folder, "sacctmgr_dump.cfg", InventoryKind::SacctmgrDump);
        let shares = by_name(&reported(&folder, "sshare_l_P.txt", InventoryKind::Sshare));
        let partitions = by_name(&reported(&folder, "sshare_part_P.txt", InventoryKind::Sshare));
        assert_eq!(partitions.len(), shares.len());
        let associations = dumped.associations();
        assert_eq!(associations.len(), shares.len());
        for row in associations {
            let share = &shares[&(row.account.clone(), row.user.clone())];
            assert_eq!(share.parent_account, row.parent_account, "{version} {share:?}");
            if share.raw_share_n.is_some() || share.is_parent_share == Some(true) {
                assert_eq!(share.raw_share_n, row.share_n, "{version} {share:?}");
                assert_eq!(share.is_parent_share, row.is_parent_share, "{version} {share:?}");
            }
        }
        let managed = reported(&folder, "scontrol_assoc_mgr.txt", InventoryKind::ScontrolAssocMgr);
        let listed: u64 = managed.out_of_scope.iter().map(|(_, n)| n).sum();
        // 17 associations; 8 users and 3 qualities of service are counted.
        assert_eq!((managed.rows.len(), listed), (17, 11), "{version}");
        let usage = by_name(&managed)[&("root".to_owned(), None)].raw_usage_e6;
        if version == "22.05" {
            assert_eq!(usage, Some(11_379_690_000));
        }
    }
}

#[test]
fn snapshots_of_decay_are_read_whole() {
    let Some(root) = shared("snapshots_of_decay_are_read_whole") else {
        return;
    };
    let folder = root.join("24.11-fairshare-variants/decay-snapshots");
    let mut read_n = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if std::fs::metadata(&path).unwrap().len() == 0 {
            continue;
        }
        let kind = match path.extension().and_then(|extension| extension.to_str()) {
            Some("assoc") => InventoryKind::ScontrolAssocMgr,
            _ => InventoryKind::Sshare,
        };
        let name = path.file_name().unwrap().to_str().unwrap();
        let rows = by_name(&reported(&folder, name, kind));
        assert_eq!(rows.len(), 17, "{name}");
        read_n += 1;
    }
    assert_eq!(read_n, 100);
}

#[test]
fn real_queues_keep_the_jobs_that_wait() {
    let Some(root) = shared("real_queues_keep_the_jobs_that_wait") else {
        return;
    };
    for (name, file, waiting_n, other_n) in [
        ("22.05", "scontrol_job_d.txt", 3, 8),
        ("24.11", "scontrol_job_d.txt", 2, 13),
        ("24.11-history", "scontrol_job_d.txt", 2, 18),
        ("24.11-fairshare-variants/1-fairtree", "jobs.txt", 8, 12),
        (
            "24.11-fairshare-variants/2-fairtree-tied-accounts-share0",
            "jobs.txt",
            8,
            10,
        ),
        ("24.11-fairshare-variants/3-classic", "jobs.txt", 8, 9),
        ("24.11-fairshare-variants/4-depth-oblivious", "jobs.txt", 8, 9),
    ] {
        let reported = reported(&root.join(name), file, InventoryKind::ScontrolJob);
        let others: u64 = reported.out_of_scope.iter().map(|(_, n)| n).sum();
        let is_named = |(reason, _): &(Reason, u64)| *reason == Reason::NotWaiting;
        assert!(reported.out_of_scope.iter().all(is_named));
        assert_eq!((reported.rows.len(), others), (waiting_n, other_n), "{name}");
    }
    // What sprio computed of the same moment.
    let folder = root.join("24.11-fairshare-variants/1-fairtree");
    let reported = reported(&folder, "jobs.txt", InventoryKind::ScontrolJob);
    let sprio = std::fs::read_to_string(folder.join("sprio_l.txt")).unwrap();
    let mut compared_n = 0;
    for job in reported.queued_jobs() {
        // A job of several partitions has a priority in each, and one of them is listed.
        let computed: Vec<i64> = sprio
            .lines()
            .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
            .filter(|words| words.first() == Some(&job.job_id.as_str()))
            .filter_map(|words| words.get(4)?.parse::<i64>().ok())
            .collect();
        let is_waiting = !computed.is_empty();
        assert_eq!(job.is_held, Some(!is_waiting), "{}", job.job_id);
        if is_waiting {
            let listed = job.priority_n.unwrap();
            assert!(computed.contains(&listed), "{}: {listed} of {computed:?}", job.job_id);
            compared_n += 1;
        }
    }
    assert_eq!(compared_n, 6);
}
