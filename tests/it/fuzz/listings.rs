//! Listings of the machine, as its tools print them.

use std::fmt::Write as _;

use super::hand::{File, Hand};

/// The format an inventory declares, and how it is written.
pub(super) const LISTINGS: &[(&str, File)] = &[
    ("scontrol-node", scontrol_node),
    ("scontrol-partition", scontrol_partition),
    ("sinfo", sinfo),
    ("sinfo", long_sinfo),
    ("csv", table),
    ("node-json", node_json),
    ("slurm-conf", slurm_conf),
    ("sacctmgr-event", events),
    ("sacctmgr-assoc", associations),
    ("scontrol-reservation", reservations),
    ("csv-reservation", reservation_table),
    ("sacctmgr-qos", qualities),
    ("sshare", shares),
    ("sshare-json", share_json),
    ("scontrol-assoc-mgr", assoc_mgr),
    ("scontrol-config", scontrol_config),
    ("scontrol-job", queue),
    ("auto", scontrol_node),
];

/// How many nodes a listing has; its nodes are `n01`, `n02`, ...
fn node_n(hand: &mut Hand) -> i64 {
    hand.between(1, 9)
}

fn scontrol_node(hand: &mut Hand) -> String {
    let mut text = String::new();
    for nth in 1..=node_n(hand) {
        let (cpu_n, memory) = (hand.value(&64), hand.value(&256_000));
        let gres = hand.pick(&["(null)", "gpu:4", "gpu:a100:2(S:0-1)"]);
        let (state, tres) = (hand.value(&"IDLE+DRAIN"), hand.value(&"cpu=64,mem=250G,billing=64"));
        writeln!(
            text,
            "NodeName=n{nth:02} Arch=x86_64 CoresPerSocket=16 CPUAlloc=0 CPUEfctv=62 CPUTot={cpu_n} CPULoad=5.92\n   \
             AvailableFeatures=zen4,ib Gres={gres}\n   RealMemory={memory} AllocMem=0 Sockets=2 Boards=1\n   \
             State={state} ThreadsPerCore=2 Weight=7 Partitions=cpu,all\n   CfgTRES={tres}\n   \
             Reason=set by hand [root@2026-11-21T02:04:51]\n"
        )
        .unwrap();
    }
    text
}

fn scontrol_partition(hand: &mut Hand) -> String {
    let (nodes, weights) = (hand.value(&"n[01-08]"), hand.value(&"CPU=1.0,Mem=0.25G,GRES/gpu=32"));
    let (limit, shared) = (hand.value(&"1-00:00:00"), hand.pick(&["NO", "EXCLUSIVE", "FORCE:4"]));
    format!(
        "PartitionName=cpu\n   AllowGroups=ALL Default=YES MaxTime={limit} OverSubscribe={shared}\n   Nodes={nodes}\n   \
         State=UP TotalCPUs=512 TotalNodes=8\n   TRES=cpu=512,mem=2000G,node=8\n   TRESBillingWeights={weights}\n\n"
    )
}

fn sinfo(hand: &mut Hand) -> String {
    let mut text = String::new();
    for nth in 1..=node_n(hand) {
        for partition in ["cpu*", "all"] {
            let (state, cpu_n, memory) = (
                hand.pick(&["idle", "down*", "mix"]),
                hand.value(&64),
                hand.value(&256_000),
            );
            let (features, reason) = (hand.value(&"zen4"), hand.value(&"none"));
            writeln!(
                text,
                "n{nth:02}|{partition}|{state}|{cpu_n}|2|16|2|{memory}|gpu:a100:2|{features}|7|{reason}"
            )
            .unwrap();
        }
    }
    text
}

fn long_sinfo(hand: &mut Hand) -> String {
    let mut text = String::from(
        "Sat Nov 21 02:05:54 2026\n\
         NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON              \n",
    );
    for nth in 1..=node_n(hand) {
        let (cpu_n, memory) = (hand.value(&64), hand.value(&25_600));
        writeln!(
            text,
            "n{nth:02}            1       cpu       idle* {cpu_n}     2:16:2  {memory}     1000      7     zen4 none                "
        )
        .unwrap();
    }
    text
}

/// A listing as people write it.
pub(super) fn table(hand: &mut Hand) -> String {
    let mut text = "node,cluster,cpu_n,memory_byte,gpus,partitions\n".to_owned();
    for nth in 0..hand.between(1, 6) {
        let nodes = hand.value(&format!("n[{:02}-{:02}]", 2 * nth + 1, 2 * nth + 2));
        let (cpu_n, memory) = (hand.value(&64), hand.value(&137_438_953_472_i64));
        let (gpus, cluster) = (hand.pick(&["", "gpu:4", "gpu:a100:2"]), hand.value(&"oak"));
        let partition = hand.value(&"cpu");
        writeln!(text, "{nodes},{cluster},{cpu_n},{memory},{gpus},{partition}").unwrap();
    }
    text
}

fn node_json(hand: &mut Hand) -> String {
    let mut nodes = Vec::new();
    for nth in 1..=node_n(hand) {
        let (gres, state) = (hand.value(&"gpu:a100:2(S:0-1)"), hand.value(&"IDLE"));
        let (cpu_n, memory) = (hand.value(&64), hand.value(&256_000));
        nodes.push(format!(
            "{{\"name\": \"n{nth:02}\", \"cpus\": {cpu_n}, \"sockets\": 2, \"cores\": 16, \"threads\": 2, \
             \"real_memory\": {memory}, \"gres\": \"{gres}\", \"state\": [\"{state}\"], \"partitions\": [\"cpu\"]}}"
        ));
    }
    format!(
        "{{\"nodes\": [{}], \"last_update\": {{\"set\": true, \"number\": {}}}}}\n",
        nodes.join(",\n"),
        hand.value(&1_795_227_243)
    )
}

fn slurm_conf(hand: &mut Hand) -> String {
    let (memory, nodes) = (hand.value(&64_000), hand.value(&"n[01-08]"));
    let weights = hand.value(&"CPU=1.0,Mem=0.25G,GRES/gpu:a100=32.5");
    format!(
        "ClusterName=oak\nNodeName=DEFAULT Sockets=2 CoresPerSocket=8 RealMemory={memory}\nNodeName={nodes} ThreadsPerCore=1\n\
         PartitionName=DEFAULT MaxTime=1-00:00:00\nPartitionName=cpu Nodes={nodes} Default=YES \
         TRESBillingWeights=\"{weights}\"\n"
    )
}

fn events(hand: &mut Hand) -> String {
    let mut text = String::from("Cluster|NodeName|Cluster Nodes|TimeStart|TimeEnd|State|Reason|User|TRES\n");
    let tres = hand.value(&"billing=7,cpu=128,gres/gpu=2,mem=62.50G,node=8");
    writeln!(text, "oak||n[01-08]|2026-10-01T00:00:00|Unknown||Registered||{tres}").unwrap();
    for nth in 1..=node_n(hand) {
        let from = hand.value(&format!("2026-10-{:02}T02:30:00", nth + 1));
        let to = hand.value(&format!("2026-10-{:02}T02:10:00", nth + 12));
        writeln!(text, "oak|n{nth:02}||{from}|{to}|DRAIN*|a|root(0)|cpu=64,mem=1T").unwrap();
    }
    text
}

fn associations(hand: &mut Hand) -> String {
    let mut text =
        String::from("Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|GrpTRESMins|MaxWall|QOS|Def QOS\n");
    text.push_str("oak|root|||1||||||\n");
    for nth in 0..hand.between(1, 6) {
        let (share, minutes) = (hand.value(&"parent"), hand.value(&"cpu=6000"));
        writeln!(
            text,
            "oak|phys|user{nth}||{share}|5|cpu=100|{minutes}|1-00:00:00|high,low|"
        )
        .unwrap();
    }
    text
}

fn reservations(hand: &mut Hand) -> String {
    let (from, to) = (hand.value(&"2026-10-05T02:30:00"), hand.value(&"2026-10-09T02:10:00"));
    let (nodes, tres) = (hand.value(&"n[01-03]"), hand.value(&"cpu=12"));
    format!(
        "ReservationName=r StartTime={from} EndTime={to} Duration=4-00:00:00\n   Nodes={nodes} NodeCnt=3 CoreCnt=6\n   \
         Flags=MAINT TRES={tres} Accounts=a,b State=ACTIVE\n\n"
    )
}

fn reservation_table(hand: &mut Hand) -> String {
    let (from, to) = (hand.value(&"2026-10-05T00:00:00Z"), hand.value(&"2026-10-09T00:00:00Z"));
    format!(
        "reservation,start,end,node_n,gpus\nr,{from},{to},{},gpu:t4:2\n",
        hand.value(&3)
    )
}

fn qualities(hand: &mut Hand) -> String {
    let mut text =
        String::from("Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageThres|UsageFactor|LimitFactor\n");
    for nth in 0..hand.between(1, 4) {
        let (priority, grace) = (hand.value(&10), hand.value(&"00:01:00"));
        let (flags, factor) = (
            hand.pick(&["", "NoDecay", "DenyOnLimit,NoDecay"]),
            hand.value(&"0.500000"),
        );
        writeln!(text, "q{nth}|{priority}|{grace}||cluster|{flags}||{factor}|").unwrap();
    }
    text
}

fn shares(hand: &mut Hand) -> String {
    let mut text =
        String::from("Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n");
    text.push_str("root|||0.000000|900||1.000000||\n");
    for nth in 0..hand.between(1, 5) {
        let (share, usage) = (hand.value(&"parent"), hand.value(&450));
        let (factor, level) = (hand.value(&"0.500000"), hand.pick(&["inf", "1.500000", ""]));
        writeln!(text, " acc{nth}||1|0.500000|{usage}|0.500000|0.500000||{level}").unwrap();
        writeln!(
            text,
            "  acc{nth}|user{nth}|{share}|1.000000|{usage}|0.500000|1.000000|{factor}|{level}"
        )
        .unwrap();
    }
    text
}

fn share_json(hand: &mut Hand) -> String {
    let mut shares = Vec::new();
    for nth in 0..hand.between(1, 5) {
        let (id, usage, norm) = (hand.value(&nth), hand.value(&450), hand.value(&0.25));
        let name = hand.value(&"user");
        shares.push(format!(
            "{{\"id\": {id}, \"name\": \"{name}\", \"parent\": \"phys\", \"type\": [\"USER\"], \"usage\": {usage}, \
             \"shares\": {{\"set\": true, \"infinite\": false, \"number\": 1}}, \
             \"shares_normalized\": {{\"set\": true, \"infinite\": false, \"number\": {norm}}}, \
             \"fairshare\": {{\"factor\": {{\"set\": true, \"number\": 0.5}}, \"level\": {{\"set\": false, \"infinite\": true}}}}}}"
        ));
    }
    format!("{{\"shares\": {{\"shares\": [{}]}}}}\n", shares.join(",\n"))
}

fn assoc_mgr(hand: &mut Hand) -> String {
    let mut text = String::from("Current Association Manager state\n\nAssociation Records\n\n");
    for nth in 0..hand.between(1, 5) {
        let (shares, usage) = (hand.value(&"1/0.50/2/0.25"), hand.value(&"450.25/0.10/0.20"));
        let minutes = hand.value(&"cpu=6000(88),mem=N(75140)");
        writeln!(
            text,
            "ClusterName=oak Account=phys UserName=user{nth}({nth}) Partition= Priority=0 ID={nth}\n    \
             SharesRaw/Norm/Level/Factor={shares}\n    UsageRaw/Norm/Efctv={usage}\n    ParentAccount= Lft=1 DefAssoc=No\n    \
             GrpTRESMins={minutes}\n    GrpTRESRunMins={minutes}"
        )
        .unwrap();
    }
    text.push_str("\nQOS Records\n\nQOS=normal(1)\n    UsageRaw=450.0\n");
    text
}

fn scontrol_config(hand: &mut Hand) -> String {
    let (half_life, weight) = (hand.value(&"7-00:00:00"), hand.value(&10_000));
    format!(
        "Configuration data as of {}\nClusterName             = oak\nPriorityDecayHalfLife   = {half_life}\n\
         PriorityFlags           = \nPriorityWeightFairShare = {weight}\nSlurmdPort              = 6818\n\n\
         Slurmctld(primary) at m is UP\n",
        hand.value(&"2026-10-25T02:30:00")
    )
}

fn queue(hand: &mut Hand) -> String {
    let mut text = String::new();
    for nth in 1..=hand.between(1, 6) {
        let (state, reason) = (
            hand.pick(&["PENDING", "RUNNING", "COMPLETED"]),
            hand.value(&"Resources"),
        );
        let (name, priority) = (hand.value(&"a job"), hand.value(&4_294_901_000_i64));
        let (submit, limit) = (hand.value(&"2026-10-25T02:30:00"), hand.value(&"1-00:00:00"));
        let (tres, nodes) = (hand.value(&"cpu=8,mem=4G,node=1,billing=8"), hand.value(&"1-4"));
        writeln!(
            text,
            "JobId={nth} JobName={name}\n   UserId=user{nth}({nth}) GroupId=g(1) MCS_label=N/A\n   Priority={priority} Nice=0 \
             Account=phys QOS=normal\n   JobState={state} Reason={reason} Dependency=(null)\n   TimeLimit={limit} \
             TimeMin=N/A\n   SubmitTime={submit} EligibleTime={submit}\n   NumNodes={nodes} NumCPUs=8\n   ReqTRES={tres}\n"
        )
        .unwrap();
    }
    text
}
