//! Tables of `sacctmgr`, its dump, and billing weights.

use gridtally::ledger::Reason;
use gridtally::reference::inventory::tres::Tres;
use gridtally::reference::inventory::{NodeRow, gpus, quantity, weights};
use gridtally::sources::inventory::{InventoryKind, recognise};

use super::{read, read_as};

const EVENTS: &str = "Cluster|NodeName|Cluster Nodes|TimeStart|TimeEnd|State|Reason|User|TRES\n\
    zoo||ice[1-2]|2026-10-01T00:00:00|Unknown||Cluster Registered TRES||billing=7,cpu=128,gres/gpu:a100=2,gres/gpu=2,mem=62.50G,node=2\n\
    zoo|ice1||2026-10-25T02:30:00|2026-10-25T02:10:00|DRAIN*|a | in the reason|root(0)|cpu=64,mem=1T\n\
    zoo|ice2||2026-11-02T00:00:00|2026-11-01T00:00:00|DOWN|backwards|root(0)|\n\
    zoo|ice2||yesterday|Unknown|DOWN|x|root(0)|\n\
    zoo|ice2||2026-11-02T00:00:00\n";

#[test]
fn events_are_intervals_and_clocks_turned_back_are_reported() {
    let reported = read(EVENTS, InventoryKind::SacctmgrEvent);
    assert_eq!(
        reported.reasons(),
        [Reason::BadTime, Reason::BadTime, Reason::FieldCount]
    );
    let events = reported.events();
    let [cluster, drain] = events.as_slice() else {
        panic!("{events:#?}")
    };
    assert_eq!(
        (cluster.node.as_deref(), cluster.end_ms, cluster.state.as_deref()),
        (None, None, None)
    );
    assert_eq!(cluster.start_ms, 1_790_805_600_000);
    assert_eq!(
        (cluster.cpu_n, cluster.memory_byte, cluster.node_n),
        (Some(128), Some(67_108_864_000), Some(2))
    );
    assert_eq!(cluster.gpus.as_ref().unwrap().device_n(), 2);
    // 02:30 and 02:10 of that night come twice; only the second 02:10 is after the first 02:30.
    assert_eq!(
        (drain.start_ms, drain.end_ms),
        (1_792_888_200_000, Some(1_792_890_600_000))
    );
    assert!(drain.is_ambiguous && !cluster.is_ambiguous);
    assert_eq!(drain.reason.as_deref(), Some("a | in the reason"));
    assert_eq!(
        (drain.state.as_deref(), drain.state_flags.as_deref()),
        (Some("DRAIN"), Some("NOT_RESPONDING"))
    );
}

/// As 22.05 prints it with `format=Name,ID,Cluster,TimeStart,TimeEnd,TRES,NodeNames,Flags`.
const RESERVATIONS: &str = "Name|ID|Cluster|TimeStart|TimeEnd|TRES|NodeName|Flags\n\
    resA|1|zoo|2026-11-27T23:50:00|2026-11-28T00:05:00|cpu=32|ice[1-2]|SPEC_NODES\n";

#[test]
fn reservations_with_their_nodes_are_no_events() {
    for header in ["NodeName", "NodeNames"] {
        let text = RESERVATIONS.replace("NodeName", header);
        assert_eq!(recognise(text.as_bytes()), Some(InventoryKind::SacctmgrReservation));
        let reported = read(&text, InventoryKind::SacctmgrReservation);
        let reservations = reported.reservations();
        let [reservation] = reservations.as_slice() else {
            panic!("{reported:#?}")
        };
        assert_eq!(
            (
                reservation.reservation.as_str(),
                reservation.nodes.as_deref(),
                reservation.node_n
            ),
            ("resA", Some("ice[1-2]"), Some(2))
        );
        let as_events = read_as(InventoryKind::SacctmgrEvent, text.as_bytes(), Some("Europe/Zurich"));
        assert_eq!(as_events.events().len(), 0, "{as_events:#?}");
    }
}

#[test]
fn a_reservation_of_cores_has_its_own_flags() {
    for (separator, end) in [(" ", "\n"), ("\n   ", "\n\n")] {
        let text = [
            "ReservationName=resCore StartTime=2026-11-27T23:51:00 EndTime=2026-11-27T23:59:00 Duration=00:08:00",
            "Nodes=ice[1-2] NodeCnt=2 CoreCnt=6 Features=(null) PartitionName=cpu Flags=MAINT,SPEC_NODES",
            "  NodeName=ice1 CoreIDs=0-3",
            "  NodeName=ice2 CoreIDs=0-1",
            "TRES=cpu=12",
            "Users=root Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE",
        ];
        let reported = read(&(text.join(separator) + end), InventoryKind::ScontrolReservation);
        let reservations = reported.reservations();
        let [reservation] = reservations.as_slice() else {
            panic!("{reported:#?}")
        };
        assert_eq!(
            (
                reservation.flags.as_deref(),
                reservation.core_n,
                reservation.nodes.as_deref()
            ),
            (Some("MAINT,SPEC_NODES"), Some(12), Some("ice[1-2]"))
        );
    }
}

#[test]
fn local_times_need_a_zone_and_others_do_not() {
    let reported = read_as(InventoryKind::SacctmgrEvent, EVENTS.as_bytes(), None);
    assert_eq!(reported.events().len(), 0);
    assert!(
        reported
            .rejects
            .iter()
            .any(|(_, _, detail)| detail.contains("no `timezone`")),
        "{reported:#?}"
    );
    let epoch = "Cluster|NodeName|Start|End\nzoo|a|1790805600|1790805601\nzoo|b|2026-10-01T00:00:00+02:00|Unknown\n";
    let reported = read_as(InventoryKind::SacctmgrEvent, epoch.as_bytes(), None);
    assert!(
        reported
            .events()
            .iter()
            .all(|event| event.start_ms == 1_790_805_600_000),
        "{reported:#?}"
    );
    assert_eq!(reported.events().len(), 2);
}

const ASSOC: &str = "Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|GrpTRESMins|MaxWall|QOS|Def QOS\n\
    zoo|root|||1||||||\nzoo| physics|||60|5|cpu=100|cpu=6000|1-00:00:00|high,low|\n\
    zoo|physics|ada||parent|||||normal|normal\nzoo|physics|none|gpu|2147483647|||||normal|\nzoo||ada||1|||||normal|\n\
    zoo|physics|bob||many|||||normal|\n";

#[test]
fn associations_have_shares_and_limits() {
    let reported = read(ASSOC, InventoryKind::SacctmgrAssoc);
    assert_eq!(reported.reasons(), [Reason::MissingField, Reason::BadNumber]);
    let rows = reported.associations();
    let [root, physics, ada, none] = rows.as_slice() else {
        panic!("{rows:#?}")
    };
    assert_eq!(
        (root.account.as_str(), root.user.as_deref(), root.share_n),
        ("root", None, Some(1))
    );
    assert_eq!(
        (physics.account.as_str(), physics.share_n, physics.is_parent_share),
        ("physics", Some(60), Some(false))
    );
    assert_eq!(physics.limits.as_deref(), Some("grpjobs=5;maxwall=1-00:00:00"));
    assert_eq!(
        (physics.grp_tres.as_deref(), physics.grp_tres_mins.as_deref()),
        (Some("cpu=100"), Some("cpu=6000"))
    );
    assert_eq!(
        (ada.share_n, ada.is_parent_share, ada.parent_account.as_deref()),
        (None, Some(true), Some("physics"))
    );
    // A user may be called like a word for nothing.
    assert_eq!(
        (none.user.as_deref(), none.partition.as_deref(), none.share_n),
        (Some("none"), Some("gpu"), None)
    );
}

#[test]
fn a_dump_gives_the_tree() {
    let text = "# To edit this file start with a cluster line for the new cluster\nCluster - 'zoo':Fairshare=1:QOS='normal'\n\
        Parent - 'root'\nAccount - 'bio':Description='it's a: lab':Organization='uni':Fairshare=30\nParent - 'bio'\n\
        Account - 'gen':Fairshare=parent:MaxJobs=4\nParent - 'gen'\n\
        User - 'ada':DefaultAccount='gen':DefaultQOS='low':Fairshare=2147483647:QOS='high,low'\nUser - ada\nTeam - 'x'\n";
    let reported = read(text, InventoryKind::SacctmgrDump);
    assert_eq!(reported.reasons(), [Reason::FieldCount, Reason::UnknownField]);
    assert_eq!(reported.out_of_scope, [(Reason::Setting, 1); 3]);
    let rows = reported.associations();
    let [root, bio, genes, ada] = rows.as_slice() else {
        panic!("{rows:#?}")
    };
    assert_eq!(
        (root.account.as_str(), root.share_n, root.parent_account.as_deref()),
        ("root", Some(1), None)
    );
    assert_eq!(
        (bio.description.as_deref(), bio.parent_account.as_deref()),
        (Some("it's a: lab"), Some("root"))
    );
    assert_eq!(
        (genes.parent_account.as_deref(), genes.is_parent_share),
        (Some("bio"), Some(true))
    );
    assert_eq!(genes.limits.as_deref(), Some("maxjobs=4"));
    assert_eq!(
        (ada.account.as_str(), ada.user.as_deref(), ada.is_parent_share),
        ("gen", Some("ada"), Some(true))
    );
    assert_eq!(
        (ada.default_qos.as_deref(), ada.default_account.as_deref()),
        (Some("low"), Some("gen"))
    );
    assert!(rows.iter().all(|row| row.cluster.as_deref() == Some("zoo")));
}

#[test]
fn billing_weights_are_exact_and_keep_their_unit() {
    let found = weights::parse("CPU=.75,Mem=0.0625G,GRES/gpu:A100=32.5,node=3,bb/cray=1T,license/x=1e-3").unwrap();
    let seen: Vec<_> = found.iter().map(|w| (w.tres.as_str(), w.weight_e12, w.per_n)).collect();
    assert_eq!(
        seen,
        [
            ("cpu", 750_000_000_000, 1),
            ("mem", 62_500_000_000, 1 << 30),
            ("gres/gpu:a100", 32_500_000_000_000, 1),
            ("node", 3_000_000_000_000, 1),
            ("bb/cray", 1_000_000_000_000, 1 << 40),
            ("license/x", 1_000_000_000, 1),
        ]
    );
    // Without a unit the weight of memory is per MiB: the classic mistake is seen, not repaired.
    assert_eq!(
        weights::parse("mem=0.25").unwrap().first().map(|w| w.per_n),
        Some(1 << 20)
    );
    assert_eq!(weights::parse("(null)").unwrap(), []);
    for bad in [
        "cpu",
        "cpu=",
        "cpu=x",
        "cpu=-1",
        "cpu=1,CPU=2",
        "=1",
        "cpu=0.0000000000001",
        "cpu=1e99",
        "mem=1GB",
    ] {
        assert!(weights::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_column_of_gpus_refuses_models_without_their_resource() {
    let count = |text: &str| gpus::Gpus::of_column(text).map(|gpus| gpus.device_n());
    for (text, device_n) in [
        ("gpu:h100:4", 4),
        ("gpu:4,craynetwork:2", 4),
        ("shard:h100:8", 0),
        ("(null)", 0),
        ("0", 0),
    ] {
        assert_eq!(count(text), Ok(device_n), "{text}");
    }
    for text in ["4", "h100:4", "gpu:a100:2,l40s:2", "gres/gpu=4"] {
        let wrong = count(text).unwrap_err();
        assert!(wrong.contains("names no resource"), "{text}: {wrong}");
    }
}

#[test]
fn sizes_and_resources_are_typed() {
    for (text, base, value) in [
        ("62.50G", 1 << 20, Some(67_108_864_000)),
        ("512M", 1 << 20, Some(512 << 20)),
        ("4611", 1 << 20, Some(4611 << 20)),
        ("1.5", 2, Some(3)),
        ("8K", 1, Some(8192)),
        ("", 1, None),
        ("G", 1, None),
        ("9223372036854775808", 1, None),
        ("é", 1, None),
    ] {
        assert_eq!(quantity::size(text, base), value, "{text}");
    }
    let tres = Tres::parse("cpu=32,mem=250G,billing=169,gres/gpu=4,gres/gpu:a100=4,license/x=3").unwrap();
    assert_eq!(
        (tres.cpu_n, tres.billing_n, tres.gpus.device_n()),
        (Some(32), Some(169), 4)
    );
    assert!(Tres::parse("cpu").is_err() && Tres::parse("cpu=x").is_err());
    for (model, profile) in [
        ("a100_3g.20gb", Some("3g.20gb")),
        ("nvidia_a100-sxm4-40gb", None),
        ("1g.10gb+me", Some("1g.10gb+me")),
        ("nvidia_h100_80gb_hbm3_1g.10gb", Some("1g.10gb")),
        ("1c.3g.20gb", Some("1c.3g.20gb")),
        ("a100", None),
        ("g.gb", None),
    ] {
        assert_eq!(gpus::mig_profile(model), profile, "{model}");
    }
    let node = NodeRow {
        socket_n: Some(i64::MAX),
        core_per_socket_n: Some(2),
        ..NodeRow::default()
    };
    assert_eq!(node.core_n(), None);
}
