//! Damaged files: each row is refused with a reason, nothing panics.

use gridtally::ledger::Reason;
use gridtally::sources::inventory::{InventoryKind, recognise};
use proptest::prelude::*;

use super::read_as;

const SEEDS: &[&str] = &[
    "NodeName=a CPUTot=4 RealMemory=1 Gres=gpu:x:2(S:0) CfgTRES=cpu=4,mem=1M State=IDLE+DRAIN Reason=x [r@t]\n",
    "PartitionName=p Nodes=n[1-4],m[01-02] TotalCPUs=8 TRES=cpu=8 TRESBillingWeights=CPU=1,Mem=.5G MaxTime=1-00:00:00\n",
    "{\"nodes\":[{\"name\":\"a\",\"cpus\":4,\"real_memory\":1,\"tres\":\"cpu=4\",\"state\":[\"IDLE\"]}],\"last_update\":5}",
    "{\"partitions\":[{\"name\":\"p\",\"nodes\":{\"configured\":\"n[1-4]\"},\"maximums\":{\"time\":{\"set\":true,\"number\":5}}}]}",
    "a|p*|idle|4|1|4|1|100|gpu:1|f|1|none\na|q|idle|4|1|4|1|100|gpu:1|f|1|none\n",
    "NODELIST NODES PARTITION STATE CPUS S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON\na 1 p idle 4 1:4:1 100 0 1 f none\n",
    "---\n!!str sinfo: !!seq\n- !!map\n  !!str nodes: !!map\n    !!str nodes: !!seq\n    - !!str a\n  !!str partition: !!map\n    !!str name: !!str p\n",
    "node,cluster,cpu_n,gpus\n\"n[1-2],m\",z,4,gpu:t4:2\n",
    "ClusterName=z\nNodeName=DEFAULT CPUs=4\nNodeName=n[1-3] \\\n RealMemory=5\nPartitionName=p Nodes=ALL\nInclude x\n",
    "Cluster|NodeName|TimeStart|TimeEnd|Reason|TRES\nz|n|2026-10-25T02:30:00|Unknown|a|cpu=1\n",
    "Cluster|Account|User|Share\nz|a|u|parent\n",
    "Cluster - 'z':Fairshare=1\nParent - 'root'\nUser - 'u':Fairshare=2:QOS='a,b'\n",
    "ReservationName=r StartTime=2026-10-25T02:30:00 EndTime=2026-10-25T02:10:00 Nodes=n[1-3] NodeCnt=3 CoreCnt=6\n   \
     Flags=MAINT TRES=cpu=12 Accounts=a,b State=ACTIVE\n",
    "Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall\nz|r|cpu=12|2026-10-25T00:00:00|2026-10-26T00:00:00|5\n",
    "reservation,start,end,node_n,gpus\nr,2026-10-25T00:00:00Z,2026-10-26T00:00:00Z,3,gpu:t4:2\n",
    "1\tfat\t2\t80\t1\t1024\n",
    "Name|Priority|GraceTime|Preempt|Flags|UsageFactor|LimitFactor\nq|5|00:01:00|p|NoDecay|0.5|\n",
    "Account|User|RawShares|NormShares|RawUsage|FairShare|LevelFS\nroot|||0.0|7|1.0|\n a|u|parent|0.5|3|0.25|inf\n",
    "{\"shares\":{\"shares\":[{\"id\":1,\"name\":\"u\",\"parent\":\"a\",\"shares_normalized\":{\"set\":true,\"number\":0.5},\
     \"usage\":7,\"fairshare\":{\"factor\":0.5,\"level\":1e300},\"type\":[\"USER\"],\
     \"tres\":{\"run_seconds\":[{\"name\":\"cpu\",\"value\":{\"set\":true,\"number\":61}}]}}]}}",
    "Current Association Manager state\nAssociation Records\nClusterName=z Account=a UserName=u(5) ID=1\n  \
     SharesRaw/Norm/Level/Factor=1/0.50/2/0.25 UsageRaw/Norm/Efctv=3.25/0.10/0.20\n  \
     ParentAccount= GrpTRESMins=cpu=5(3) GrpTRESRunMins=cpu=N(4)\nQOS Records\nQOS=q(1) UsageRaw=5\n",
    "Configuration data as of 2026-10-25T02:30:00\nClusterName = z\nPriorityMaxAge = 1-02:00:00\nPriorityFlags = \n\n\
     Slurmctld(primary) at m is UP\n",
    "JobId=5 ArrayJobId=4 ArrayTaskId=1-9%2 JobName=a b\n   UserId=u(5) GroupId=g h(5)\n   Priority=0 Nice=-5 Account=a \
     QOS=q\n   JobState=PENDING Reason=JobHeldUser\n   TimeLimit=1-00:00:00\n   SubmitTime=2026-10-25T02:30:00 \
     EligibleTime=Unknown\n   NumNodes=1-4 NumCPUs=8\n   ReqTRES=cpu=8,mem=4G,gres/gpu=1\n",
];

#[test]
fn a_last_row_that_was_cut_off_is_refused() {
    for (kind, text) in [
        (
            InventoryKind::ScontrolNode,
            "NodeName=a CPUTot=4\nNodeName=b CPUTot=4 Real",
        ),
        (
            InventoryKind::SacctmgrAssoc,
            "Cluster|Account|User|Share\nz|a|u|1\nz|a|v|1",
        ),
        (InventoryKind::SacctmgrEvent, "Cluster|NodeName|TimeStart\nz|n|5\nz|n|5"),
        (InventoryKind::Csv, "node,cpu_n\na,4\nb,4"),
        (
            InventoryKind::Sinfo,
            "a|p|idle|4|1|4|1|100|x|f|1|none\nb|p|idle|4|1|4|1|100|x|f|1|no",
        ),
        (InventoryKind::SacctmgrQos, "Name|UsageFactor\np|1\nq|0"),
        (InventoryKind::Sshare, "Account|User|RawShares\nroot||1\n a||1"),
        (
            InventoryKind::ScontrolConfig,
            "PriorityType = priority/multifactor\nPriorityMaxAge = 1-0",
        ),
        (
            InventoryKind::ScontrolJob,
            "JobId=1 JobState=PENDING SubmitTime=5\nJobId=2 JobState=PENDING Sub",
        ),
    ] {
        let reported = read_as(kind, text.as_bytes(), None);
        assert_eq!(reported.reasons(), [Reason::Truncated], "{kind:?}");
        assert_eq!(reported.rows.len(), 1, "{kind:?}");
    }
    assert_eq!(
        read_as(InventoryKind::NodeJson, b"{\"nodes\": [{\"name\": ", None).reasons(),
        [Reason::BadJson]
    );
}

#[test]
fn what_is_no_number_or_list_is_refused_with_its_field() {
    for (text, reason, field) in [
        ("NodeName=a CPUTot=many\n", Reason::BadNumber, "CPUTot"),
        ("NodeName=a\n", Reason::MissingField, "CPUTot"),
        ("NodeName= CPUTot=1\n", Reason::MissingField, "NodeName"),
        (
            "NodeName=a CPUTot=1 RealMemory=99999999999999999\n",
            Reason::BadNumber,
            "RealMemory",
        ),
        ("NodeName=a CPUTot=1 Gres=gpu:a:b:c\n", Reason::BadNumber, "Gres"),
        ("NodeName=a CPUTot=1 CfgTRES=cpu\n", Reason::BadNumber, "CfgTRES"),
        ("hello\n", Reason::FieldCount, "NodeName"),
    ] {
        let reported = read_as(InventoryKind::ScontrolNode, text.as_bytes(), None);
        assert_eq!(reported.reasons(), [reason], "{text}");
        assert!(
            reported.rejects.iter().all(|(_, _, detail)| detail.contains(field)),
            "{reported:#?}"
        );
    }
    let list = "PartitionName=p Nodes=n[1-999999999] TotalCPUs=1\n";
    assert_eq!(
        read_as(InventoryKind::ScontrolPartition, list.as_bytes(), None).reasons(),
        [Reason::BadHostlist]
    );
}

#[test]
fn accounting_is_not_taken_for_an_inventory_nor_the_other_way_round() {
    for text in [
        "JobID|Account|User|Cluster|State|Start|End\n",
        "APEL-individual-job-message: v0.3\nSite: a\n",
        "{\"_source\": {\"ProbeName\": \"slurm\"}}\n",
        "   Account   User  RawShares  NormShares  RawUsage\n",
        "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n",
        "",
    ] {
        assert_eq!(recognise(text.as_bytes()), None, "{text}");
    }
    // The seeds are in the order of the forms; sinfo has two.
    let seeds = SEEDS
        .iter()
        .enumerate()
        .filter(|(nth, _)| *nth != 5)
        .map(|(_, seed)| seed);
    for (seed, kind) in seeds.zip(InventoryKind::all()) {
        assert_eq!(recognise(seed.as_bytes()), Some(kind), "{seed}");
    }
}

proptest! {
    #[test]
    fn damage_never_panics_and_every_row_has_an_outcome(
        seed in 0..SEEDS.len(),
        kind in 0..InventoryKind::all().count(),
        cuts in prop::collection::vec((0_usize..400, any::<u8>()), 0..6),
        end in 0_usize..500,
    ) {
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        for (at, byte) in cuts {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        bytes.truncate(end);
        let _ = recognise(&bytes);
        // The reader of any form, given any other.
        read_as(InventoryKind::all().nth(kind).unwrap(), &bytes, Some("Europe/Zurich"));
    }

    #[test]
    fn noise_never_panics(kind in 0..InventoryKind::all().count(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = recognise(&bytes);
        read_as(InventoryKind::all().nth(kind).unwrap(), &bytes, None);
    }
}
