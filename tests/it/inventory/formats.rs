//! Nodes and partitions in every form: one machine, one answer.

use gridtally::ledger::Reason;
use gridtally::reference::inventory::NodeRow;
use gridtally::sources::inventory::InventoryKind;

use super::{only, read, read_as};

const GIB: i64 = 1 << 30;

/// A node with two sockets, two kinds of GPUs and a reason that looks like fields.
const NODE_O: &str = "NodeName=ice1 Arch=x86_64 CoresPerSocket=16  CPUAlloc=0 CPUEfctv=62 CPUTot=64 CPULoad=5.92 \
    AvailableFeatures=zen4,ib ActiveFeatures=zen4,ib Gres=gpu:a100:2(S:0-1),gpu:a100_3g.20gb:4,shard:8 \
    NodeAddr=10.0.0.1 NodeHostName=ice1 Version=24.11.5 OS=Linux 6.1 #1 SMP @0  RealMemory=256000 AllocMem=0 \
    FreeMem=12454 Sockets=2 Boards=1 MemSpecLimit=2048 State=DOWN*+DRAIN+NOT_RESPONDING ThreadsPerCore=2 TmpDisk=1000 \
    Weight=7 Owner=N/A MCS_label=N/A Partitions=gpu,all  BootTime=2026-11-21T01:27:43 \
    CfgTRES=cpu=64,mem=250G,billing=169,gres/gpu=6,gres/gpu:a100=2 AllocTRES= CurrentWatts=0 AveWatts=0 \
    Reason=set State=down Foo=bar by hand [root@2026-11-21T02:04:51]\n";

fn ice1() -> NodeRow {
    let row = only(&read(NODE_O, InventoryKind::ScontrolNode).nodes());
    assert_eq!(row.node, "ice1");
    row
}

#[test]
fn a_node_of_scontrol_is_typed_and_its_reason_is_no_field() {
    let row = ice1();
    assert_eq!(
        (row.cpu_n, row.effective_cpu_n, row.core_n()),
        (Some(64), Some(62), Some(32))
    );
    assert_eq!(
        (row.socket_n, row.core_per_socket_n, row.thread_per_core_n),
        (Some(2), Some(16), Some(2))
    );
    assert_eq!(row.memory_byte, Some(250 * GIB));
    assert_eq!(
        (row.system_memory_byte, row.disk_byte),
        (Some(2 * GIB), Some(1000 << 20))
    );
    assert_eq!(
        (row.state.as_deref(), row.state_flags.as_deref()),
        (Some("DOWN"), Some("DRAIN+NOT_RESPONDING"))
    );
    assert_eq!(row.reason.as_deref(), Some("set State=down Foo=bar by hand"));
    assert_eq!(row.partitions.as_deref(), Some("all,gpu"));
    assert_eq!((row.billing_n, row.weight_n), (Some(169), Some(7)));
    assert_eq!(row.slurm_version.as_deref(), Some("24.11.5"));
}

#[test]
fn gpus_are_reported_by_model_and_slice_and_never_counted_twice() {
    let gpus = ice1().gpus.unwrap();
    assert_eq!(gpus.models, [("a100".to_owned(), 2), ("a100_3g.20gb".to_owned(), 4)]);
    // gres/gpu=6 and the two models are the same six devices.
    assert_eq!((gpus.device_n(), gpus.mig_device_n()), (6, 4));
    let untyped = NODE_O.replace("gpu:a100:2(S:0-1),gpu:a100_3g.20gb:4,shard:8", "gpu:4");
    let untyped = untyped.replace(",gres/gpu=6,gres/gpu:a100=2", "");
    let gpus = only(&read(&untyped, InventoryKind::ScontrolNode).nodes()).gpus.unwrap();
    assert_eq!((gpus.models.len(), gpus.device_n()), (0, 4));
    let none = untyped.replace("gpu:4", "(null)");
    assert_eq!(
        only(&read(&none, InventoryKind::ScontrolNode).nodes())
            .gpus
            .unwrap()
            .device_n(),
        0
    );
}

#[test]
fn several_lines_and_one_line_state_the_same() {
    // 24.11 prints a line of blanks inside a record.
    let lines = NODE_O
        .replace(" FreeMem", "\n   \n   FreeMem")
        .replace(" CPUAlloc", "\n   CPUAlloc")
        .replace(" OS=", "\n   OS=")
        .replace(" Reason=", "\n   Reason=");
    let two = format!("{lines}\n{}\n", lines.replace("ice1", "ice2"));
    let reported = read(&two, InventoryKind::ScontrolNode);
    assert_eq!(reported.rows_read, 2);
    assert_eq!(reported.nodes().first().copied(), Some(&ice1()));
}

#[test]
fn json_states_the_same() {
    let json = r#"{"nodes": [{"name": "ice1", "cpus": 64, "effective_cpus": 62, "sockets": 2, "cores": 16, "threads": 2,
        "real_memory": 256000, "specialized_memory": 2048, "temporary_disk": 1000, "weight": 7, "cluster_name": "",
        "gres": "gpu:a100:2(S:0-1),gpu:a100_3g.20gb:4,shard:8", "features": ["zen4", "ib"], "partitions": ["gpu", "all"],
        "tres": "cpu=64,mem=250G,billing=169,gres/gpu=6,gres/gpu:a100=2", "state": ["DOWN", "NOT_RESPONDING", "DRAIN"],
        "reason": "set State=down Foo=bar by hand", "version": "24.11.5", "cpu_load": 1.5e300}, 7, {"cpus": 1}],
        "last_update": {"set": true, "infinite": false, "number": 1795227243},
        "meta": {"slurm": {"cluster": "zoo"}}}"#;
    let reported = read(json, InventoryKind::NodeJson);
    assert_eq!(reported.reasons(), [Reason::NotARecord, Reason::MissingField]);
    let row = only(&reported.nodes());
    assert_eq!(
        (row.cluster.as_deref(), row.as_of_ms),
        (Some("zoo"), Some(1_795_227_243_000))
    );
    let undated = NodeRow {
        cluster: None,
        as_of_ms: None,
        ..row
    };
    assert_eq!(undated, ice1());
    // 22.05: a word and flags, features as text, no date.
    let old = r#"{"meta": {}, "nodes": [{"name": "a", "cpus": 2, "real_memory": 1, "state": "idle", "features": "x,y",
        "state_flags": ["RESERVED", "MAINTENANCE"], "gres": null}]}"#;
    let row = only(&read(old, InventoryKind::NodeJson).nodes());
    assert_eq!(
        (row.state.as_deref(), row.state_flags.as_deref()),
        (Some("IDLE"), Some("MAINTENANCE+RESERVED"))
    );
    assert_eq!((row.features.as_deref(), row.as_of_ms), (Some("x,y"), None));
}

#[test]
fn lines_of_sinfo_are_folded_by_node() {
    let text = "ice1|gpu*|idle|64|2|16|2|256000|gpu:a100:2|zen4|7|none\nice1|all|idle|64|2|16|2|256000|gpu:a100:2|zen4|7|none\n\
                ice1|odd|idle|32|2|16|2|256000|gpu:a100:2|zen4|7|none\nsinfo: error: slow\nice2|gpu|down*|64|2|16|2|1|(null)|x|1|a | b\n";
    let reported = read(text, InventoryKind::Sinfo);
    assert_eq!(reported.reasons(), [Reason::Contradiction]);
    assert_eq!(reported.out_of_scope, [(Reason::ToolMessage, 1)]);
    let nodes = reported.nodes();
    let [ice1, ice2] = nodes.as_slice() else {
        panic!("{nodes:#?}")
    };
    assert_eq!(
        (ice1.partitions.as_deref(), ice1.memory_byte),
        (Some("all,gpu"), Some(250 * GIB))
    );
    assert_eq!(ice2.state_flags.as_deref(), Some("NOT_RESPONDING"));
    assert_eq!(ice2.reason.as_deref(), Some("a | b"));
    assert_eq!(
        reported.rows.iter().map(|row| row.input_row_n).collect::<Vec<_>>(),
        [2, 1]
    );
    let named = format!("NODELIST|PARTITION|STATE|CPUS|MEMORY\n{}", "a|p|idle|4|100\n");
    assert_eq!(only(&read(&named, InventoryKind::Sinfo).nodes()).cpu_n, Some(4));
}

#[test]
fn what_long_sinfo_may_have_cut_off_is_unknown() {
    let text = "Sat Nov 21 02:05:54 2026\n\
        NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON              \n\
        ice1           1       all       idle* 64     2:16:2 256000     1000      7 zen4,ib, none                \n\
        ice2           1 averylong        down 64     2:16:2  99999        0      1     zen4 not good at all     \n";
    let reported = read(text, InventoryKind::Sinfo);
    let nodes = reported.nodes();
    let [ice1, ice2] = nodes.as_slice() else {
        panic!("{nodes:#?}")
    };
    // Six digits may be seven: 256 000 MB cannot be distinguished from 2.5 TB.
    assert_eq!((ice1.memory_byte, ice1.features.as_deref()), (None, None));
    assert_eq!((ice1.core_n(), ice1.as_of_ms), (Some(32), Some(1_795_223_154_000)));
    assert_eq!(ice1.state_flags.as_deref(), Some("NOT_RESPONDING"));
    assert_eq!(
        (ice2.memory_byte, ice2.features.as_deref()),
        (Some(99_999 << 20), Some("zen4"))
    );
    assert_eq!(ice2.partitions, None);
}

const CONF: &str = r#"# a machine
ClusterName=zoo   # its name
slurmctldhost = boss
Include /etc/slurm/nothing.conf
PriorityFlags=MAX_TRES,SMALL_RELATIVE_TO_TIME
nodename=DEFAULT Sockets=2 CoresPerSocket=8 RealMemory=64000 \
    Feature="skylake,ib"
NodeName=n[001-002,007] ThreadsPerCore=1 State=UNKNOWN
NODENAME=rack[1-2]n[01-02] threadspercore=2 Weight=5 RealMemory=128000
NodeName=gpu1 CPUs=32 Sockets=1 CoresPerSocket=16 Gres=gpu:a100:4
NodeName=n002 CPUs=4
NodeName=bad[1-999999999]
NodeSet=racks Nodes=rack1n[01-02]
PartitionName=DEFAULT MaxTime=1-00:00:00
PartitionName=cpu Nodes=n[001-002,007],racks Default=YES TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu:a100=32.5"
PartitionName=excl Nodes=n007 OverSubscribe=EXCLUSIVE MaxTime=UNLIMITED
this is not a pair
"#;

#[test]
fn slurm_conf_gives_nodes_with_defaults_and_partitions_with_weights() {
    let reported = read(CONF, InventoryKind::SlurmConf);
    assert_eq!(
        reported.reasons(),
        [Reason::FieldCount, Reason::Contradiction, Reason::BadHostlist]
    );
    let nodes = reported.nodes();
    let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(
        names,
        [
            "n001", "n002", "n007", "rack1n01", "rack1n02", "rack2n01", "rack2n02", "gpu1"
        ]
    );
    let node = |name: &str| nodes.iter().find(|node| node.node == name).copied().unwrap();
    assert_eq!((node("n001").cpu_n, node("n001").core_n()), (Some(16), Some(16)));
    assert_eq!(
        (node("rack2n02").cpu_n, node("rack2n02").core_n()),
        (Some(32), Some(16))
    );
    assert_eq!(node("rack2n02").memory_byte, Some(125 * GIB));
    assert_eq!(node("n001").features.as_deref(), Some("skylake,ib"));
    assert_eq!((node("gpu1").cpu_n, node("gpu1").core_n()), (Some(32), Some(16)));
    assert_eq!(node("gpu1").gpus.as_ref().unwrap().device_n(), 4);
    assert!(nodes.iter().all(|node| node.cluster.as_deref() == Some("zoo")));
    // Another file is included: a partition of it may hold any node.
    assert!(nodes.iter().all(|node| node.partitions.is_none()));
    assert!(reported.out_of_scope.contains(&(Reason::Include, 1)));
    let partitions = reported.partitions();
    let [cpu, excl] = partitions.as_slice() else {
        panic!("{partitions:#?}")
    };
    assert_eq!(
        (cpu.node_n, cpu.cpu_n, cpu.billing_rule),
        (Some(5), Some(112), Some("max_tres"))
    );
    assert_eq!(
        (cpu.is_default, cpu.max_time_s, cpu.weights.len()),
        (Some(true), Some(86_400), 3)
    );
    assert_eq!((excl.is_exclusive, excl.max_time_s), (Some(true), None));
    let alone = CONF
        .replace("Include /etc/slurm/nothing.conf\n", "")
        .replace("PriorityFlags=MAX_TRES,", "PriorityFlags=");
    let reported = read_as(InventoryKind::SlurmConf, alone.as_bytes(), None);
    let nodes = reported.nodes();
    let node = |name: &str| nodes.iter().find(|node| node.node == name).copied().unwrap();
    assert_eq!(node("n007").partitions.as_deref(), Some("cpu,excl"));
    assert_eq!(
        reported
            .partitions()
            .first()
            .and_then(|partition| partition.billing_rule),
        Some("sum")
    );
}

/// A node has a line in `gres.conf` for each kind of its devices; none of them makes it another node.
#[test]
fn lines_of_gres_conf_configure_no_nodes() {
    let text = "AutoDetect=off\nNodeName=gpu1 Name=gpu Type=a100 File=/dev/gpu[0-3]\n\
                NodeName=gpu2 Name=gpu Type=a100 File=/dev/gpu[0-1]\nNodeName=gpu2 Name=gpu Type=t4 File=/dev/gpu[2-3]\n";
    let reported = read_as(InventoryKind::SlurmConf, text.as_bytes(), None);
    assert_eq!(reported.reasons(), []);
    assert!(reported.nodes().is_empty());
    assert_eq!(reported.out_of_scope.iter().map(|(_, rows)| rows).sum::<u64>(), 4);
}

#[test]
fn the_association_manager_is_no_slurm_conf() {
    let text = "Current Association Manager state\n\nUser Records\n\nAssociation Records\n\n\
                ClusterName=alp Account=root UserName= Partition= Priority=0 ID=1\n";
    assert_eq!(
        gridtally::sources::inventory::recognise(text.as_bytes()),
        Some(InventoryKind::ScontrolAssocMgr)
    );
}

#[test]
fn a_csv_of_nodes_is_read_by_the_names_of_the_lake() {
    let text = "# ours\nnode,cpu_n,memory_byte,gpus,partitions,as_of\n\"o[1-2],p1\",4,1024,,b a,2026-10-01\nq1,8,,gpu:t4:2,,\n\
                q2,eight,,,,\nq3,8\n,1,1,,,\n";
    assert_eq!(
        gridtally::sources::inventory::recognise(text.as_bytes()),
        Some(InventoryKind::Csv)
    );
    let reported = read(text, InventoryKind::Csv);
    let nodes = reported.nodes();
    let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["o1", "o2", "p1", "q1"]);
    assert_eq!((nodes[2].cpu_n, nodes[2].memory_byte), (Some(4), Some(1024)));
    assert_eq!(nodes[0].partitions.as_deref(), Some("a,b"));
    assert_eq!(nodes[0].as_of_ms, Some(1_790_805_600_000));
    assert_eq!(
        nodes[3]
            .gpus
            .as_ref()
            .map(gridtally::reference::inventory::Gpus::device_n),
        Some(2)
    );
    assert_eq!((nodes[3].memory_byte, nodes[3].as_of_ms), (None, None));
    let why: Vec<&str> = reported.rejects.iter().map(|reject| reject.0.code()).collect();
    assert_eq!(why, ["bad_number", "field_count", "missing_field"]);
}

#[test]
fn a_csv_that_lists_a_node_twice_and_otherwise_contradicts_itself() {
    let text = "node,cpu_n,as_of\n\"n[1-2]\",4,2026-10-01\nn2,4,2026-10-01\nn2,16,2026-10-01\nn2,16,2026-11-01\n\"n[1,3]\",8,2026-10-01\n";
    let reported = read(text, InventoryKind::Csv);
    let nodes = reported.nodes();
    let listed: Vec<_> = nodes.iter().map(|node| (node.node.as_str(), node.cpu_n)).collect();
    // The same again is no contradiction, and another instant is another listing.
    assert_eq!(
        listed,
        [("n1", Some(4)), ("n2", Some(4)), ("n2", Some(4)), ("n2", Some(16))]
    );
    let why: Vec<_> = reported.rejects.iter().map(|reject| reject.0.code()).collect();
    assert_eq!(why, ["contradiction", "contradiction"]);
}
