//! The report of `inspect` on a file, compared with the result of a pipeline.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::collect::shared;
use crate::support::sample::repository;

pub(crate) fn gridtally(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The reports of some files.
pub(crate) fn inspect(folder: &Path, files: &[&str]) -> Vec<Value> {
    let output = gridtally(folder, &[&["inspect", "--format", "json"], files].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a person puts where the proposal leaves a decision open.
pub(crate) fn decided(proposal: &str) -> String {
    let line = |line: &str| match line.split_once(" = \"\"") {
        Some(("timezone", _)) => "timezone = \"UTC\"".to_owned(),
        Some(("as_of", _)) => "as_of = 2026-11-21".to_owned(),
        Some((key, _)) => format!("{key} = \"HERE\""),
        None => line.to_owned(),
    };
    proposal.lines().map(|l| line(l) + "\n").collect()
}

/// Files of every format: those of the sample, and small ones of the others.
fn files(folder: &Path) -> Vec<PathBuf> {
    for (name, text) in [
        (
            "pbs.log",
            "03/09/2024 10:00:00;E;77.lrms;user=ada group=physics jobname=j queue=q ctime=1709970000 qtime=1709970000 \
             etime=1709970010 start=1709971200 exec_host=n1/0-3 end=1709974800 Exit_status=0 \
             resources_used.cput=02:00:00 resources_used.mem=2gb resources_used.vmem=2gb resources_used.walltime=01:00:00\n",
        ),
        (
            "swf.txt",
            "; UnixStartTime: 1709970000\n7 100 30 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1\n",
        ),
        (
            "swf-undated.txt",
            "7 100 30 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1\n",
        ),
        (
            "sync.msg",
            "APEL-sync-message: v0.1\nSite: S\nSubmitHost: ce\nNumberOfJobs: 3\nMonth: 2\nYear: 2025\n%%\n",
        ),
        (
            "summary.msg",
            "APEL-summary-job-message: v0.2\nSite: S\nMonth: 2\nYear: 2025\nVO: reef\nNodeCount: 1\nProcessors: 8\n\
             WallDuration: 100\nCpuDuration: 50\nNumberOfJobs: 2\nEarliestEndTime: 1739000000\n\
             LatestEndTime: 1739000000\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n",
        ),
        (
            "semicolons.txt",
            "JobIDRaw;Submit;Start;End;ElapsedRaw;State;NCPUS;TotalCPU;Account;User\n\
             1;2026-01-01T00:00:00;2026-01-01T00:00:00;2026-01-01T01:00:00;3600;COMPLETED;2;00:10:00;a;u\n",
        ),
        ("nodes", "NodeName=a1 CPUTot=4 RealMemory=1024 State=IDLE\n"),
        (
            "partitions",
            "PartitionName=p TotalCPUs=4 Nodes=a1 TRESBillingWeights=CPU=1.0\n",
        ),
        ("slurm.conf", "ClusterName=zoo\nNodeName=n[1-3] CPUs=2\n"),
        (
            "events",
            "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\nzoo|a1|2026-11-01T00:00:00|Unknown|DOWN|x\n",
        ),
        ("assoc", "Cluster|Account|User|Share\nzoo|root||1\nzoo|bio|ada|parent\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for part in ["alp/sacct-2026-01.txt", "bay/gracc/raw-2026.01.ndjson"] {
        files.push(repository("sample-data").join(part));
    }
    files
}

/// Real ones as well, where available.
fn real() -> Vec<PathBuf> {
    let Some(data) = shared("proposals_work_when_pasted", "data") else {
        return Vec::new();
    };
    [
        "slurm/24.11/sacct_all_D_P.txt.xz",
        "slurm/24.11/sacct_dupl_json.json.xz",
        "slurm/24.11/sacct_xdmod.txt",
        "slurm/24.11/scontrol_node.json",
        "slurm/24.11/scontrol_node.txt",
        "slurm/24.11/scontrol_part_o.txt",
        "slurm/24.11/sinfo_N_l.txt",
        "slurm/24.11/sinfo_N_P.txt",
        "slurm/24.11/slurm.conf",
        "slurm/24.11/sacctmgr_dump.cfg",
        "slurm/24.11/sacctmgr_event_P.txt",
        "apel/golden/messages/0001-job-v0.3-grid.msg",
        "apel/golden/messages/0009-car.xml",
        "apel/batch-logs/pbs.log",
        "apel/batch-logs/sge.log",
        "apel/batch-logs/lsf.log",
        "apel/batch-logs/htcondor.log",
        "gracc/es-dump/raw2-2016.06.ndjson.gz",
        "gracc/es-dump/raw0-2016.05.ndjson.gz",
        "gracc/collector-pairs/multiupdate-envelope.xml",
        "gracc/collector-pairs/replication-bundle.test.bundle",
    ]
    .map(|file| data.join(file))
    .into()
}

/// Pastes the proposal of a report and holds the run against what was promised.
pub(crate) fn pasted(here: &Path, report: &Value, nth: usize) {
    let path = report["path"].as_str().unwrap();
    let proposal = decided(
        report["proposal"]
            .as_str()
            .unwrap_or_else(|| panic!("{path}: {report}")),
    );
    let pipeline = format!(
        "[pipeline]\nname = \"p\"\noutput = \"lake-{nth}\"\nmax_rejected = 1.0\noverlap = \"jobs\"\n\n{proposal}"
    );
    fs::write(here.join("p.toml"), &pipeline).unwrap();
    let output = gridtally(here, &["run", "p.toml", "--report", "json"]);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{path}:\n{pipeline}\n{why}");
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sum = |outcomes: &Value| {
        outcomes
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_u64)
            .sum::<u64>()
    };
    assert_eq!(
        sum(&ran["outcomes"]),
        report["row_n"].as_u64().unwrap(),
        "{path}: {ran}"
    );
    let refused = |reason: &Value| reason["outcome"] == "rejected";
    let promised: u64 = report["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|reason| refused(reason))
        .filter_map(|reason| reason["row_n"].as_u64())
        .sum();
    assert_eq!(
        ran["outcomes"]["rejected"].as_u64().unwrap_or(0),
        promised,
        "{path}: {ran}"
    );
}

/// A proposal, pasted and decided on, gives the rows and jobs that were promised.
#[test]
fn proposals_work_when_pasted() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let mut paths = files(here);
    paths.extend(real());
    let words: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let reports = inspect(here, &words);
    assert_eq!(reports.len(), paths.len());
    for (nth, report) in reports.iter().enumerate() {
        pasted(here, report, nth);
    }
}

/// What a person should know of records before adding them up.
#[test]
fn views_spellings_and_ce_logs_are_reported() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let record = |id: u32, vo: &str, kind: &str| {
        format!(
            "{{\"type\":\"JobUsageRecord\",\"SiteName\":\"S\",\"ProbeName\":\"p\",\"LocalJobId\":\"{id}\",\"ReportableVOName\":\"{vo}\",\
             \"ResourceType\":\"{kind}\",\"WallDuration\":1,\"StartTime\":\"2020-01-01T00:00:00Z\",\
             \"EndTime\":\"2020-01-01T00:00:01Z\"}}\n"
        )
    };
    let records = [
        record(1, "reef", "Batch"),
        record(2, "REEF", "Payload"),
        record(3, "kelp", "Batch"),
    ];
    fs::write(here.join("g.ndjson"), records.concat()).unwrap();
    fs::write(
        here.join("ce.log"),
        "\"timestamp=2024-03-01 00:00:00\" \"userDN=/CN=x\" \"userFQAN=/reef\" \"ceID=ce\" \"jobID=1\" \"lrmsID=1\" \"localUser=1\"\n",
    )
    .unwrap();
    let reports = inspect(here, &["g.ndjson", "ce.log"]);
    let problems = reports[0]["problems"].to_string();
    assert!(problems.contains("two accounts of the same hours"), "{problems}");
    assert!(problems.contains("(REEF and reef)"), "{problems}");
    let proposal = reports[1]["proposal"].as_str().unwrap();
    assert!(
        proposal.contains("# blah = [\"ce.log\"]") && !proposal.contains("\n[["),
        "{proposal}"
    );
}

/// Evidence of a dump about the zone of its times.
#[test]
fn zones_leave_traces() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let dump = |file: &str, rows: &[[&str; 3]]| {
        let header = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|NCPUS|Account|Cluster|TotalCPU\n".to_owned();
        let rows = rows.iter().enumerate().map(|(nth, [start, end, elapsed])| {
            format!("{nth}|{start}|{start}|{end}|{elapsed}|COMPLETED|1|a|c|00:00:01\n")
        });
        let text: String = std::iter::once(header).chain(rows).collect();
        fs::write(here.join(file), text).unwrap();
    };
    dump(
        "local",
        &[
            ["2026-03-29T00:00:00", "2026-03-29T04:00:00", "10800"],
            ["2026-03-29T01:30:00", "2026-03-29T09:00:00", "23400"],
            ["2026-10-25T02:50:00", "2026-10-25T02:10:00", "1200"],
            ["2026-10-25T01:00:00", "2026-10-25T05:00:00", "18000"],
            ["2026-05-01T00:00:00", "2026-05-01T01:00:00", "3600"],
        ],
    );
    dump(
        "offsets",
        &[["2026-03-29T00:00:00+0100", "2026-03-29T04:00:00+0200", "10800"]],
    );
    dump("seconds", &[["1774738800", "1774749600", "10800"]]);
    let reports = inspect(here, &["local", "offsets", "seconds"]);
    let problems = reports[0]["problems"].to_string();
    for expected in [
        "2 jobs took an hour less than their times give: clocks went forward between 2026-03-29T01:30:00 and 2026-03-29T04:00:00",
        "2 jobs took an hour more than their times give: clocks went back between 2026-10-25T02:50:00 and 2026-10-25T03:10:00",
    ] {
        assert!(problems.contains(expected), "{expected}: {problems}");
    }
    let times: Vec<&str> = reports.iter().map(|report| report["times"].as_str().unwrap()).collect();
    assert_eq!(
        times,
        [
            "local, without an offset",
            "with an offset, such as +0100",
            "Unix seconds"
        ]
    );
    assert!(!reports[1]["problems"].to_string().contains("clocks"));
}

/// Listings that people take for dumps are reported by name, with what to give instead.
#[test]
fn listings_without_a_reader_are_named() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    for (nth, (text, expected)) in [
        (
            "JobId=53 UserId=u(1) GroupId=g(1) Name=x JobState=COMPLETED Partition=p TimeLimit=5\n",
            "jobcomp/filetxt",
        ),
        (
            "   JOBID PARTITION  USER ACCOUNT PRIORITY SITE AGE ASSOC FAIRSHARE\n 1 p u a 1 1 1 1 1\n",
            "sprio",
        ),
        (
            "JOBID|PARTITION|USER|ACCOUNT|STATE|SUBMIT_TIME|END_TIME\n1|p|u|a|RUNNING|x|y\n",
            "squeue",
        ),
        ("JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n", "squeue"),
        (
            "             Account       User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare\nroot  0 1 1\n",
            "sshare -a -l -m -P",
        ),
        ("-----\n", "no dialect"),
        ("----------\nCluster/Account/User Utilization x\n", "sreport"),
        (
            "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ncpu* up 1-0 1 idle n1\n",
            "sinfo without -N groups nodes: dump with sinfo -N -l",
        ),
        (
            "NODELIST   NODES PARTITION STATE \nn1             1      cpu* idle  \n",
            "dump with sinfo -N -l",
        ),
        (
            "%YAML 1.1\n---\njobs:\n- account: a\n  association:\n    id: 1\n  job_id: 3\n",
            "sacct --json has the same content",
        ),
        ("{\"jobs\": [{\"job_id\": 1, \"eligible_time\": 1}]}", "squeue"),
        ("Site: S\nLocalJobId: 1\nWallDuration: 3\n", "without its first line"),
        ("ClusterId = 11\nOwner = \"ann\"\nProcId = 0\n", "job ads of HTCondor as text are not read"),
        (
            "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n<c></c>\n",
            "job ads of HTCondor as XML are not read",
        ),
        (
            " ID     OWNER          SUBMITTED   RUN_TIME     ST COMPLETED   CMD\n 11.0 ann 3/1 0+01:00:00 C 3/1 x\n",
            "dump jobs with condor_history -json",
        ),
        (
            "000 (011.000.000) 2026-03-01 00:00:00 Job submitted from host: <192.0.2.1:9618>\n...\n",
            "the event log of HTCondor jobs is not read",
        ),
        (
            "==========\nqname        all.q\nhostname     n1\njobnumber    7\n",
            "take the accounting file of Grid Engine itself",
        ),
        ("0\tfat\t2\t80\t1\tlarge\n", "no dialect with a reader is recognised"),
    ]
    .iter()
    .enumerate()
    {
        let file = format!("listing-{nth}");
        fs::write(here.join(&file), text).unwrap();
        let report = inspect(here, &[&file]).remove(0);
        assert_eq!(report["dialect"], Value::Null, "{report}");
        assert!(
            report["problems"][0].as_str().unwrap().contains(expected),
            "{expected}: {report}"
        );
    }
}
