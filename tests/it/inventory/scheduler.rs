//! What a scheduler states of itself: qualities of service, shares, settings and the queue, in every form of them.

use gridtally::ledger::Reason;
use gridtally::reference::inventory::{QosRow, ShareRow};
use gridtally::sources::inventory::InventoryKind;

use super::{only, read, read_as};

const E12: i128 = 1_000_000_000_000;

#[test]
fn a_quality_of_service_has_its_factors_and_flags() {
    let text = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageThres|UsageFactor|LimitFactor|GrpTRESMins|MaxWall\n\
                free|5|00:02:00|low,spare|cluster|DenyOnLimit,NoDecay|0.100000|0.000000|2.5|cpu=6000|1-00:00:00\n\
                plain|0|00:00:00||cluster||||||\n";
    let reported = read(text, InventoryKind::SacctmgrQos);
    let [free, plain] = reported.qualities()[..] else {
        panic!("{reported:#?}")
    };
    assert_eq!(
        *free,
        QosRow {
            qos: "free".to_owned(),
            priority_n: Some(5),
            usage_factor_e6: Some(0),
            usage_threshold_e6: Some(100_000),
            limit_factor_e6: Some(2_500_000),
            flags: Some("DenyOnLimit,NoDecay".to_owned()),
            is_no_decay: Some(true),
            is_usage_factor_safe: Some(false),
            preempt: Some("low,spare".to_owned()),
            preempt_mode: Some("cluster".to_owned()),
            grace_time_s: Some(120),
            grp_tres_mins: Some("cpu=6000".to_owned()),
            limits: Some("maxwall=1-00:00:00".to_owned()),
            ..QosRow::default()
        }
    );
    // A factor that is not stated is not one.
    assert_eq!((plain.usage_factor_e6, plain.is_no_decay), (None, Some(false)));
    let bad = "Name|UsageFactor\nq|-1\nr|2\n";
    let reported = read(bad, InventoryKind::SacctmgrQos);
    assert_eq!(reported.reasons(), [Reason::BadNumber]);
    let without_flags = only(&reported.qualities());
    assert_eq!(
        (without_flags.usage_factor_e6, without_flags.is_no_decay),
        (Some(2_000_000), None)
    );
}

#[test]
fn a_dump_since_2505_states_qualities_of_service_too() {
    let text = "QOS - 'spare':Description='what is left':GraceTime=90:UsageFactor=0.25:Flags='NoDecay'\n\
                Cluster - 'oak':Fairshare=1:QOS='normal'\nParent - 'root'\nAccount - 'phys':Fairshare=3\n";
    let reported = read(text, InventoryKind::SacctmgrDump);
    let qos = only(&reported.qualities());
    assert_eq!(
        (qos.qos.as_str(), qos.usage_factor_e6, qos.is_no_decay, qos.grace_time_s),
        ("spare", Some(250_000), Some(true), Some(90))
    );
    assert_eq!(qos.description.as_deref(), Some("what is left"));
    assert_eq!(reported.associations().len(), 2);
}

#[test]
fn an_account_or_qos_may_be_named_none() {
    let text = "Cluster|Account|Par Name|User|Share|Def QOS|QOS|Def Acct\noak|none|root||3|||\noak|none||none|1|none|none|none\noak|lab|none||1|||\n";
    let reported = read(text, InventoryKind::SacctmgrAssoc);
    let [none, user, lab] = reported.associations()[..] else {
        panic!("{reported:#?}")
    };
    let some = Some("none");
    assert_eq!(
        (none.account.as_str(), none.parent_account.as_deref()),
        ("none", Some("root"))
    );
    assert_eq!(
        (none.default_qos.as_deref(), none.qos.as_deref()),
        (None, None),
        "empty is absent"
    );
    assert_eq!(
        [
            user.user.as_deref(),
            user.default_qos.as_deref(),
            user.qos.as_deref(),
            user.default_account.as_deref()
        ],
        [some; 4]
    );
    assert_eq!(lab.parent_account.as_deref(), some);
    let text = "PartitionName=a\n   QoS=none TotalCPUs=8\n\nPartitionName=b\n   QoS=N/A TotalCPUs=8\n";
    let reported = read_as(InventoryKind::ScontrolPartition, text.as_bytes(), None);
    let qos: Vec<_> = reported.partitions().iter().map(|row| row.qos.clone()).collect();
    assert_eq!(qos, [Some("none".to_owned()), None]);
}

const SHARES: &str = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins\n\
     root|||0.000000|900||1.000000||||cpu=7\n\
     \x20root|root|1|0.010000|0|0.000000|0.000000|1.000000|inf||cpu=0\n\
     \x20phys||30|0.300000|900|1.000000|1.000000||0.300000|cpu=6000|cpu=7\n\
     \x20\x20lab||1|1.000000|900|1.000000|1.000000||1.000000||cpu=7\n\
     \x20\x20\x20lab|ada|parent|1.000000|600|0.666667|0.666667|0.500000|||cpu=7\n\
     \x20chem||69|0.690000|0|0.000000|0.000000||inf||cpu=0\n";

fn parents(rows: &[&ShareRow]) -> Vec<(String, Option<String>, Option<String>)> {
    rows.iter()
        .map(|row| (row.account.clone(), row.user.clone(), row.parent_account.clone()))
        .collect()
}

#[test]
fn the_tree_of_shares_is_the_indentation_of_their_accounts() {
    let reported = read(SHARES, InventoryKind::Sshare);
    let rows = reported.shares();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        parents(&rows),
        [
            ("root".to_owned(), None, None),
            ("root".to_owned(), text("root"), text("root")),
            ("phys".to_owned(), None, text("root")),
            ("lab".to_owned(), None, text("phys")),
            ("lab".to_owned(), text("ada"), text("lab")),
            ("chem".to_owned(), None, text("root")),
        ]
    );
    let ada = rows[4];
    assert_eq!((ada.raw_share_n, ada.is_parent_share), (None, Some(true)));
    assert_eq!(ada.raw_usage_e6, Some(600_000_000));
    assert_eq!(ada.norm_usage_e12, Some(666_667_000_000));
    assert_eq!(ada.fairshare_factor_e12, Some(E12 / 2));
    // Blank is not infinite, and infinite is no number.
    assert_eq!((ada.level_fs_e12, ada.is_level_fs_infinite), (None, None));
    assert_eq!((rows[5].level_fs_e12, rows[5].is_level_fs_infinite), (None, Some(true)));
    assert_eq!(
        (rows[2].level_fs_e12, rows[2].is_level_fs_infinite),
        (Some(3 * E12 / 10), Some(false))
    );
    assert_eq!((rows[0].raw_share_n, rows[0].is_parent_share), (None, None));
    assert_eq!(rows[2].grp_tres_mins.as_deref(), Some("cpu=6000"));
}

#[test]
fn shares_of_a_part_of_the_tree_have_no_invented_parents() {
    let text = "Cluster|Account|User|Partition|RawShares|RawUsage|FairShare\n\
                oak|  lab||gpu|1|5|\noak|   lab|ada|gpu|1|5|0.5\n";
    let reported = read(text, InventoryKind::Sshare);
    let rows = reported.shares();
    assert_eq!(rows[0].parent_account, None);
    assert_eq!(rows[1].parent_account.as_deref(), Some("lab"));
    assert_eq!(rows[1].cluster.as_deref(), Some("oak"));
    assert_eq!(rows[1].partition.as_deref(), Some("gpu"));
}

#[test]
fn shares_of_several_clusters_have_theirs() {
    let text = "CLUSTER: oak\nAccount|User|RawShares|RawUsage\nroot|||5\n phys||1|5\nCLUSTER: elm\n\
                Account|User|RawShares|RawUsage\n bio||1|7\nsshare: error: no more\n";
    let reported = read_as(InventoryKind::Sshare, text.as_bytes(), None);
    let of: Vec<_> = reported
        .shares()
        .iter()
        .map(|row| {
            (
                row.cluster.clone().unwrap(),
                row.account.clone(),
                row.parent_account.clone(),
            )
        })
        .collect();
    let named = |cluster: &str, account: &str, parent: Option<&str>| {
        (cluster.to_owned(), account.to_owned(), parent.map(str::to_owned))
    };
    assert_eq!(
        of,
        [
            named("oak", "root", None),
            named("oak", "phys", Some("root")),
            named("elm", "bio", None)
        ]
    );
    assert_eq!(reported.out_of_scope, [(Reason::ToolMessage, 1)]);
}

#[test]
fn what_is_no_share_is_refused_with_its_column() {
    let text = "Account|User|RawShares|RawUsage|LevelFS\na||many|1|\n|u|1|1|\nb||1|-4|\nc||1|1|nan\nd||1\ne||1|1|2\n";
    let reported = read(text, InventoryKind::Sshare);
    assert_eq!(
        reported.reasons(),
        [
            Reason::BadNumber,
            Reason::MissingField,
            Reason::BadNumber,
            Reason::BadNumber,
            Reason::FieldCount
        ]
    );
    assert_eq!(only(&reported.shares()).account, "e");
}

#[test]
fn shares_as_json_have_the_digits_of_their_doubles_and_no_factors_of_accounts() {
    let text = r#"{"shares": {"shares": [
        {"id": 1, "cluster": "oak", "name": "lab", "parent": "root", "partition": "", "type": ["ASSOCIATION"],
         "shares": {"set": true, "infinite": false, "number": 3}, "usage": 900,
         "shares_normalized": {"set": true, "infinite": false, "number": 0.1986754966887417},
         "usage_normalized": {"set": false, "infinite": false, "number": 0.0},
         "fairshare": {"factor": {"set": true, "infinite": false, "number": 0.0},
                       "level": {"set": false, "infinite": true, "number": 0.0}}},
        {"id": 2, "cluster": "oak", "name": "ada", "parent": "lab", "partition": "gpu", "type": ["USER"],
         "shares": {"set": true, "infinite": false, "number": 2147483647}, "usage": 600,
         "shares_normalized": {"set": true, "infinite": false, "number": 1.0},
         "fairshare": {"factor": {"set": true, "infinite": false, "number": 0.3333333333333333},
                       "level": {"set": false, "infinite": true, "number": 0.0}},
         "tres": {"run_seconds": [{"name": "cpu", "value": {"set": true, "infinite": false, "number": 119}}],
                  "group_minutes": [{"name": "cpu", "value": {"set": false, "infinite": true, "number": 0}}]}},
        {"name": "x", "parent": "lab", "type": ["USER"], "usage": "much"},
        {"name": "x", "parent": "lab"}
    ]}}"#;
    let reported = read(text, InventoryKind::SshareJson);
    assert_eq!(reported.reasons(), [Reason::BadNumber, Reason::MissingField]);
    let rows = reported.shares();
    let (lab, ada) = (rows[0], rows[1]);
    assert_eq!(lab.norm_shares_e12, Some(198_675_496_689));
    assert_eq!((lab.fairshare_factor_e12, lab.norm_usage_e12), (None, None));
    assert_eq!((lab.level_fs_e12, lab.is_level_fs_infinite), (None, Some(true)));
    assert_eq!(lab.parent_account.as_deref(), Some("root"));
    assert_eq!((ada.account.as_str(), ada.user.as_deref()), ("lab", Some("ada")));
    assert_eq!((ada.raw_share_n, ada.is_parent_share), (None, Some(true)));
    assert_eq!(ada.is_level_fs_infinite, None);
    assert_eq!(ada.fairshare_factor_e12, Some(333_333_333_333));
    assert_eq!(ada.tres_run_mins.as_deref(), Some("cpu=1"));
    assert_eq!((ada.grp_tres_mins.as_deref(), ada.association_id), (None, Some(2)));
}

#[test]
fn the_association_manager_is_read_on_one_line_or_several() {
    let one = "Current Association Manager state\nUser Records\nUserName=ada(7) DefAccount=lab AdminLevel=Not Set\n\
               Association Records\nClusterName=oak Account=lab UserName= Partition= Priority=0 ID=3 \
               SharesRaw/Norm/Level/Factor=30/0.20/151/0.00 UsageRaw/Norm/Efctv=4162.98/0.37/0.41 ParentAccount=root(1) Lft=6 \
               GrpTRESMins=cpu=6000(88),mem=N(75140) GrpTRESRunMins=cpu=N(59),mem=N(30677) MinPrioThresh= Comment=a b\n\
               ClusterName=oak Account=lab UserName=ada(7) Partition=gpu Priority=0 ID=4 \
               SharesRaw/Norm/Level/Factor=2147483647/1.00/1/0.50 UsageRaw/Norm/Efctv=4162.98/0.37/1.00 ParentAccount= \
               GrpTRESMins=cpu=N(0) GrpTRESRunMins=cpu=N(0)\nQOS Records\nQOS=normal(1) UsageRaw=5.5 GrpJobs=N(1)\n";
    let reported = read(one, InventoryKind::ScontrolAssocMgr);
    let rows = reported.shares();
    let (lab, ada) = (rows[0], rows[1]);
    assert_eq!(lab.raw_usage_e6, Some(4_162_980_000));
    assert_eq!((lab.raw_share_n, lab.level_share_n), (Some(30), Some(151)));
    assert_eq!(lab.parent_account.as_deref(), Some("root"));
    assert_eq!(
        (lab.fairshare_factor_e12, ada.fairshare_factor_e12),
        (None, Some(E12 / 2))
    );
    assert_eq!(lab.grp_tres_mins.as_deref(), Some("cpu=6000"));
    assert_eq!(lab.tres_run_mins.as_deref(), Some("cpu=59,mem=30677"));
    assert_eq!(ada.user.as_deref(), Some("ada"));
    assert_eq!(ada.partition.as_deref(), Some("gpu"));
    assert_eq!(
        reported.out_of_scope,
        [(Reason::OtherListed, 1), (Reason::OtherListed, 1)]
    );
    let several = one
        .replace(" SharesRaw", "\n    SharesRaw")
        .replace(" UsageRaw", "\n    UsageRaw")
        .replace(" ParentAccount", "\n    ParentAccount")
        .replace(" Grp", "\n    Grp")
        .replace("Records\n", "Records\n\n");
    let again = read(&several, InventoryKind::ScontrolAssocMgr);
    assert_eq!(again.shares(), rows);
    assert_eq!(again.out_of_scope, reported.out_of_scope);
}

/// Settings as (name, value, seconds).
fn settings(text: &str, kind: InventoryKind) -> Vec<(String, Option<String>, Option<i64>)> {
    let reported = read(text, kind);
    assert!(reported.rejects.is_empty(), "{:?}", reported.rejects);
    let of = |row: &&gridtally::reference::inventory::SettingRow| (row.setting.clone(), row.value.clone(), row.value_s);
    reported.settings().iter().map(of).collect()
}

fn setting(name: &str, value: Option<&str>, value_s: Option<i64>) -> (String, Option<String>, Option<i64>) {
    (name.to_owned(), value.map(str::to_owned), value_s)
}

#[test]
fn the_same_duration_is_minutes_in_slurm_conf_and_printed_with_seconds() {
    let conf = "ClusterName=oak\npriorityweightfairshare=100 PriorityMaxAge=7-0\nPriorityDecayHalfLife=30 # minutes\n\
                PriorityCalcPeriod=00:04:30\nPriorityFlags=MAX_TRES,NO_FAIR_TREE\nSlurmdPort=5\nPriorityNewThing=x\n";
    assert_eq!(
        settings(conf, InventoryKind::SlurmConf),
        [
            setting("PriorityCalcPeriod", Some("00:04:30"), Some(300)),
            setting("PriorityDecayHalfLife", Some("30"), Some(1800)),
            setting("PriorityFlags", Some("MAX_TRES,NO_FAIR_TREE"), None),
            setting("PriorityMaxAge", Some("7-0"), Some(604_800)),
            setting("PriorityNewThing", Some("x"), None),
            setting("PriorityWeightFairShare", Some("100"), None),
        ]
    );
    let shown = "Configuration data as of 2026-10-25T02:30:00\nClusterName             = oak\n\
                 PriorityCalcPeriod      = 00:04:30\nPriorityDecayHalfLife   = 7-00:00:00\nPriorityFlags           = \n\
                 PriorityParameters      = (null)\nSlurmdPort              = 5\n\nCgroup Support Configuration:\n\
                 CgroupPlugin            = autodetect\n\nSlurmctld(primary) at m is UP\n";
    assert_eq!(
        settings(shown, InventoryKind::ScontrolConfig),
        [
            setting("PriorityCalcPeriod", Some("00:04:30"), Some(270)),
            setting("PriorityDecayHalfLife", Some("7-00:00:00"), Some(604_800)),
            setting("PriorityFlags", None, None),
            setting("PriorityParameters", None, None),
        ]
    );
    let reported = read(shown, InventoryKind::ScontrolConfig);
    // The first of the two 02:30 of that night in Zurich.
    assert!(
        reported
            .settings()
            .iter()
            .all(|row| row.as_of_ms == Some(1_792_888_200_000) && row.cluster.as_deref() == Some("oak"))
    );
}

#[test]
fn when_the_daemon_started_is_an_instant_by_its_clock() {
    let started = |instant: &str| {
        let text = format!("Configuration data as of 2026-11-21T03:14:03\nBOOT_TIME               = {instant}\n");
        settings(&text, InventoryKind::ScontrolConfig)
    };
    let at = |text: &'static str, value_s| [setting("BOOT_TIME", Some(text), value_s)];
    assert_eq!(
        started("2026-11-21T03:06:45"),
        at("2026-11-21T03:06:45", Some(1_795_226_805))
    );
    // Of the hour that is there twice it is not known which.
    assert_eq!(started("2026-10-25T02:30:00"), at("2026-10-25T02:30:00", None));
    let reported = read(
        "Configuration data as of 2026-11-21T03:14:03\nBOOT_TIME = soon\n",
        InventoryKind::ScontrolConfig,
    );
    assert_eq!(reported.reasons(), [Reason::BadTime]);
}

#[test]
fn of_a_setting_stated_twice_the_last_counts_and_accounts_for_both_lines() {
    let conf = "ClusterName=oak\nPriorityWeightAge=1\nPriorityWeightAge=2\nPriorityMaxAge=soon\n";
    let reported = read(conf, InventoryKind::SlurmConf);
    assert_eq!(reported.reasons(), [Reason::BadDuration]);
    let [placed] = &reported.rows[..] else {
        panic!("{reported:#?}")
    };
    assert_eq!((placed.line, placed.input_row_n), (3, 2));
    assert_eq!(only(&reported.settings()).value.as_deref(), Some("2"));
}

const QUEUE: &str = "JobId=11 ArrayJobId=10 ArrayTaskId=1-9%2 JobName=night run\n   UserId=ada(7) GroupId=domain users(513) MCS_label=N/A\n   \
     Priority=4200 Nice=-5 Account=lab QOS=high WCKey=*\n   JobState=PENDING Reason=Resources Dependency=(null)\n   \
     RunTime=00:00:00 TimeLimit=1-02:00:00 TimeMin=N/A\n   SubmitTime=2026-10-25T02:30:00 EligibleTime=2026-10-25T02:10:00\n   \
     AccrueTime=Unknown\n   Partition=cpu,gpu AllocNode:Sid=m:1\n   NumNodes=2-4 NumCPUs=8 NumTasks=8\n   \
     ReqTRES=cpu=16,mem=40G,node=2,billing=90,gres/gpu=2\n   AllocTRES=(null)\n   Command=/x Priority=1\n\n\
     JobId=12 JobName=a\n   UserId=bob(8) GroupId=g(1)\n   Priority=0 Nice=0 Account=lab QOS=low\n   \
     JobState=PENDING Reason=JobHeldUser\n   TimeLimit=UNLIMITED\n   SubmitTime=1795226817 EligibleTime=Unknown\n   \
     NumNodes=1 NumCPUs=4\n   TRES=cpu=4,mem=1M\n\n\
     JobId=13 JobName=b\n   UserId=bob(8) GroupId=g(1)\n   JobState=RUNNING Reason=None\n";

#[test]
fn a_job_that_waits_is_kept_and_any_other_is_counted() {
    let reported = read(QUEUE, InventoryKind::ScontrolJob);
    assert_eq!(reported.out_of_scope, [(Reason::NotWaiting, 1)]);
    let rows = reported.queued_jobs();
    let (night, held) = (rows[0], rows[1]);
    assert_eq!(night.job_id, "11");
    assert_eq!(
        (night.array_job_id.as_deref(), night.array_tasks.as_deref()),
        (Some("10"), Some("1-9%2"))
    );
    assert_eq!(
        (night.user.as_deref(), night.account.as_deref()),
        (Some("ada"), Some("lab"))
    );
    assert_eq!((night.priority_n, night.nice_n), (Some(4200), Some(-5)));
    assert_eq!(night.partitions.as_deref(), Some("cpu,gpu"));
    assert_eq!(night.time_limit_s, Some(93_600));
    // Clocks were turned back between the two.
    assert_eq!(night.submit_ms, Some(1_792_888_200_000));
    assert_eq!(night.eligible_ms, Some(1_792_890_600_000));
    assert_eq!((night.accrue_ms, night.is_ambiguous), (None, true));
    assert_eq!(
        (night.min_node_n, night.max_node_n, night.cpu_n),
        (Some(2), Some(4), Some(16))
    );
    assert_eq!(night.memory_byte, Some(40 << 30));
    assert_eq!((night.billing_n, night.is_held), (Some(90), Some(false)));
    assert_eq!(
        night.gpus.as_ref().map(gridtally::reference::inventory::Gpus::device_n),
        Some(2)
    );
    assert_eq!((held.priority_n, held.is_held), (Some(0), Some(true)));
    assert_eq!((held.submit_ms, held.time_limit_s), (Some(1_795_226_817_000), None));
    assert_eq!((held.min_node_n, held.cpu_n), (Some(1), Some(4)));
    let one_line: String = QUEUE.replace("\n   ", " ").replace("\n\n", "\n");
    assert_eq!(read(&one_line, InventoryKind::ScontrolJob).queued_jobs(), rows);
}

#[test]
fn a_name_of_a_job_that_looks_like_a_field_is_refused() {
    let job = |name: &str| {
        format!(
            "JobId=1 JobName={name}\n   UserId=ada(7) GroupId=g(1)\n   Priority=5 Nice=0 Account=lab QOS=q\n   \
             JobState=PENDING Reason=None\n   SubmitTime=5\n"
        )
    };
    for name in ["x UserId=bob(8)", "x Priority=9", "x JobState=RUNNING"] {
        let reported = read(&job(name), InventoryKind::ScontrolJob);
        assert_eq!(reported.reasons(), [Reason::Contradiction], "{name}");
    }
    assert_eq!(read(&job("x=y z"), InventoryKind::ScontrolJob).queued_jobs().len(), 1);
    let unknown = job("x").replace("PENDING", "DREAMING");
    assert_eq!(
        read(&unknown, InventoryKind::ScontrolJob).reasons(),
        [Reason::UnknownState]
    );
    let without_zone = read_as(
        InventoryKind::ScontrolJob,
        job("x")
            .replace("SubmitTime=5", "SubmitTime=2026-10-25T12:00:00")
            .as_bytes(),
        None,
    );
    assert_eq!(without_zone.reasons(), [Reason::BadTime]);
    let none = read("No jobs in the system\n", InventoryKind::ScontrolJob);
    assert_eq!(none.out_of_scope, [(Reason::ToolMessage, 1)]);
}
