//! One line of every kind, of our own making, and exactly what it means.

use gridtally::ledger::Reason;
use gridtally::record::{Anomaly, JobRow};
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::dialect::Dialect;
use gridtally::sources::lines::LogLimits;
use gridtally::sources::swf;
use gridtally::sources::{blah, htcondor, lsf, pbs, sge};

use super::read;
use crate::support::collect::{Collected, Job, input, plan};

/// The one job of a text.
pub(super) fn one(format: Dialect, text: &str) -> JobRow<'static> {
    let all = read(format, text);
    assert_eq!((all.jobs.len(), all.rejects.len()), (1, 0), "{all:?}");
    all.jobs[0].row.clone()
}

/// Why the one row of a text is refused.
pub(super) fn refused(format: Dialect, text: &str) -> Reason {
    let all = read(format, text);
    assert_eq!((all.jobs.len(), all.rejects.len()), (0, 1), "{all:?}");
    all.rejects[0].reason
}

pub(super) const PBS: &str = "03/09/2024 10:00:00;E;77.batch.example.org;user=ada group=physics account=p1 jobname=my run queue=long ctime=1709970000 qtime=1709970000 etime=1709970010 start=1709971200 owner=ada@login exec_host=n1/0-3+n2/0*4 Resource_List.walltime=10:00:00 Resource_List.ngpus=2 session=1 end=1709974800 Exit_status=1 resources_used.cput=07:30:04 resources_used.mem=2gb resources_used.vmem=1mw resources_used.walltime=01:00:00";

#[test]
fn pbs() {
    let expected = JobRow {
        view: "batch",
        job_id: "77.batch.example.org",
        cluster: Some("batch.example.org"),
        account: Some("p1"),
        user: Some("ada"),
        user_group: Some("physics"),
        partition: Some("long"),
        job_name: Some("my"),
        submit_ms: Some(1_709_970_000_000),
        eligible_ms: Some(1_709_970_010_000),
        start_ms: Some(1_709_971_200_000),
        end_ms: Some(1_709_974_800_000),
        wall_ms: Some(3_600_000),
        cpu_ms: Some(27_004_000),
        alloc_core_n: Some(8),
        alloc_node_n: Some(2),
        alloc_gpu_n: Some(2),
        max_rss_byte: Some(2 << 30),
        max_virtual_byte: Some(8 << 20),
        time_limit_s: Some(36_000),
        node_list: Some("n1,n2"),
        exit_code: Some(1),
        ..JobRow::default()
    };
    assert_eq!(one(pbs::DIALECT, &format!("{PBS}\n")), expected);
    let line = |from: &str, to: &str| {
        assert!(PBS.contains(from), "{from}");
        format!("{}\n", PBS.replace(from, to))
    };
    for (from, to, core_n) in [
        ("n1/0-3+n2/0*4", "n1/0+n1/1+n3/7", Some(3)),
        ("n1/0-3+n2/0*4", "n1/0-3,8,10-11", Some(7)),
        // The counts of the server are used for hosts it did not name.
        ("exec_host=n1/0-3+n2/0*4", "total_execution_slots=6", Some(6)),
        ("exec_host=n1/0-3+n2/0*4", "session=2", None),
        // PBS Pro names the host, but none of its cores.
        (
            "exec_host=n1/0-3+n2/0*4",
            "exec_host=n1/0*0 resources_used.ncpus=12 Resource_List.ncpus=8",
            Some(12),
        ),
        (
            "exec_host=n1/0-3+n2/0*4",
            "exec_host=n1/0*0 resources_used.ncpus=0 Resource_List.ncpus=8",
            Some(8),
        ),
        ("exec_host=n1/0-3+n2/0*4", "exec_host=n1/0*0", None),
    ] {
        assert_eq!(one(pbs::DIALECT, &line(from, to)).alloc_core_n, core_n, "{to}");
    }
    assert_eq!(
        one(pbs::DIALECT, &line("Exit_status=1", "Exit_status=265")).exit_signal,
        Some(9)
    );
    assert_eq!(
        one(pbs::DIALECT, &line("cput=07:30:04", "cput=27004")).cpu_ms,
        Some(27_004_000)
    );
    for (from, to, reason) in [
        (" start=1709971200", "start=1709971200", Reason::MissingField),
        (" end=1709974800", "", Reason::MissingField),
        (
            "end=1709974800 Exit_status=1 resources_used.cput=07:30:04 resources_used.mem=2gb \
             resources_used.vmem=1mw resources_used.walltime=01:00:00",
            "end=1709971199",
            Reason::MissingField,
        ),
        ("walltime=01:00:00", "walltime=01:00:0x", Reason::BadDuration),
        ("start=1709971200", "start=yesterday", Reason::BadTime),
        ("n1/0-3+", "n1+", Reason::BadNumber),
        ("n1/0-3+", "n1/3-0+", Reason::BadNumber),
        (";77.batch.example.org;", ";;", Reason::BadJobId),
        ("03/09/2024", "2024-03-09", Reason::FieldCount),
    ] {
        assert_eq!(refused(pbs::DIALECT, &line(from, to)), reason, "{to}");
    }
    // Without a wall time it is the end less the start, and is marked so.
    let bare = one(pbs::DIALECT, &line(" resources_used.walltime=01:00:00", ""));
    assert_eq!((bare.wall_ms, bare.end_ms), (None, Some(1_709_974_800_000)));
    assert_eq!(bare.anomalies, Anomaly::TimeAssumed.bit());
    // Cut off in the last value: 01:00:0 would have been an hour less nine seconds, or anything.
    assert_eq!(refused(pbs::DIALECT, PBS), Reason::Truncated);
    let all = read(pbs::DIALECT, line(";E;", ";S;"));
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
}

pub(super) const SGE: &str = "long.q:n7:physics:ada:fit:4711:sge:0:1709970000:1709971200:1709974800:0:137:3600:1:1:2048:0:0:0:0:0:0:0:0:0:0:0:0:0:0:astro:defaultdepartment:mpi:4:0:13000.5:12.5:0.1:-pe mpi 4:0.000000:NONE:1048576.000000:0:0";

#[test]
fn sge() {
    let expected = JobRow {
        view: "batch",
        job_id: "4711",
        account: Some("astro"),
        user: Some("ada"),
        user_group: Some("physics"),
        partition: Some("long.q"),
        job_name: Some("fit"),
        submit_ms: Some(1_709_970_000_000),
        start_ms: Some(1_709_971_200_000),
        end_ms: Some(1_709_974_800_000),
        wall_ms: Some(3_600_000),
        cpu_ms: Some(13_000_500),
        alloc_core_n: Some(4),
        max_rss_byte: Some(2 << 20),
        max_virtual_byte: Some(1 << 20),
        node_list: Some("n7"),
        exit_signal: Some(9),
        ..JobRow::default()
    };
    let text = format!("# Version: 8.1.9\n# comments are no rows\n{SGE}\n");
    assert_eq!(one(sge::DIALECT, &text), expected);
    assert_eq!(read(sge::DIALECT, &text).rows_read, 1);
    let line = |from: &str, to: &str| {
        assert!(SGE.contains(from), "{from}");
        format!("{}\n", SGE.replace(from, to))
    };
    // Milliseconds are recognised by their size; a fraction of a second is kept.
    let ms = line(
        "1709970000:1709971200:1709974800",
        "1709970000001:1709971200002:1709974800003",
    );
    let row = one(sge::DIALECT, &ms);
    assert_eq!(
        (row.start_ms, row.end_ms),
        (Some(1_709_971_200_002), Some(1_709_974_800_003))
    );
    // Tasks of an array are jobs of their own, though they share the number and may end together.
    assert_eq!(one(sge::DIALECT, &line("mpi:4:0:", "mpi:4:3:")).job_id, "4711.3");
    for (from, to, reason) in [
        ("1709974800:0:137", "0:0:137", Reason::TimeUnknown),
        ("13000.5", "-1", Reason::BadDuration),
        ("mpi:4:0", "mpi:four:0", Reason::BadNumber),
        (":4711:", ":0:", Reason::BadJobId),
        ("long.q:n7:physics", "physics", Reason::BadJobId),
    ] {
        assert_eq!(refused(sge::DIALECT, &line(from, to)), reason, "{to}");
    }
    let all = read(sge::DIALECT, line("1709971200:1709974800:0:137", "0:0:21:0"));
    assert_eq!(all.out_of_scope.get(&Reason::NotStarted), Some(&1));
    assert_eq!(
        refused(sge::DIALECT, &line(":NONE:1048576", ":1.n8:1048576")),
        Reason::StepWithoutJob
    );
    // A field behind the last that is looked at has begun, so that one is whole; else it may be cut.
    assert_eq!(read(sge::DIALECT, SGE).jobs.len(), 1);
    assert_eq!(refused(sge::DIALECT, SGE.trim_end_matches(":0:0")), Reason::Truncated);
}

pub(super) const LSF: &str = r#""JOB_FINISH" "10.1" 1709974800 900 1001 33554482 4 1709970000 0 0 1709971200 "ada" "long" "span[hosts=1]" "" "" "login1" "run" "" "out" "err" "1709970000.900" 1 "n1" 2 "2*n1" "n2" 32 60.0 "say ""hi""" "echo ""a
b"" done" 7200.5 99.5 -1 0 -1 0 0 0 0 0 0 0 -1 0 0 0 0 0 -1 "" "astro" 256 4 "" "" 7 2048 4096 "" """#;

#[test]
fn lsf() {
    let expected = JobRow {
        view: "batch",
        job_id: "900[7]",
        submit_host: Some("login1"),
        account: Some("astro"),
        user: Some("ada"),
        partition: Some("long"),
        job_name: Some("say \"hi\""),
        submit_ms: Some(1_709_970_000_000),
        start_ms: Some(1_709_971_200_000),
        end_ms: Some(1_709_974_800_000),
        wall_ms: Some(3_600_000),
        cpu_ms: Some(7_300_000),
        cpu_user_ms: Some(7_200_500),
        cpu_system_ms: Some(99_500),
        // A host once per slot, or with its slots in front.
        alloc_core_n: Some(3),
        alloc_node_n: Some(2),
        max_rss_byte: Some(2 << 20),
        max_virtual_byte: Some(4 << 20),
        node_list: Some("n1,n1,n2"),
        exit_code: Some(1),
        anomalies: Anomaly::Reassembled.bit(),
        ..JobRow::default()
    };
    assert_eq!(one(lsf::DIALECT, &format!("{LSF}\n")), expected);
    let line = |from: &str, to: &str| {
        assert!(LSF.contains(from), "{from}");
        format!("{}\n", LSF.replace(from, to))
    };
    assert_eq!(
        one(lsf::DIALECT, &line("\"astro\" 256", "\"astro\" 9")).exit_signal,
        Some(9)
    );
    let unmeasured = one(lsf::DIALECT, &line("7200.5 99.5", "-1 -1"));
    assert_eq!(unmeasured.cpu_ms, None);
    let unmeasured = one(lsf::DIALECT, &line(" 2048 4096 ", " 0 0 "));
    assert_eq!((unmeasured.max_rss_byte, unmeasured.max_virtual_byte), (None, None));
    // Taken back before it was dispatched: it held nothing.
    let pending = line("0 0 1709971200", "0 0 0").replace("2 \"2*n1\" \"n2\" 32", "0 32");
    let pending = one(lsf::DIALECT, &pending);
    assert_eq!(
        (pending.start_ms, pending.wall_ms, pending.alloc_core_n),
        (None, Some(0), None)
    );
    for (from, to, reason) in [
        (
            "1709970000.900\" 1 \"n1\"",
            "1709970000.900\" 70 \"n1\"",
            Reason::FieldCount,
        ),
        (
            "1709970000.900\" 1 \"n1\"",
            "1709970000.900\" -1 \"n1\"",
            Reason::BadNumber,
        ),
        ("7200.5", "fast", Reason::BadDuration),
        ("done\"", "done", Reason::BadDuration),
    ] {
        assert_eq!(refused(lsf::DIALECT, &line(from, to)), reason, "{to}");
    }
    // A text that is never closed ends where the next event begins.
    let open = line("done\"", "done");
    let all = read(
        lsf::DIALECT,
        format!("{open}{LSF}\n{}", line("JOB_FINISH", "JOB_RESIZE")),
    );
    assert_eq!(all.reasons(), [Reason::BadDuration]);
    assert_eq!(all.jobs.len(), 1);
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
}

const PIPED: &str = "ce#42.0#1709970000|ada|3600|7000|300|1709971200|1709974800|2048|4096|2\n";

const HISTORY: &str = r#"[
{
  "GlobalJobId": "ce#42.0#1709970000",
  "ClusterId": 42,
  "ProcId": 0,
  "JobStatus": 4,
  "Owner": "ada",
  "RemoteWallClockTime": 3.600000000000000E+03,
  "RemoteUserCpu": 7000.0,
  "RemoteSysCpu": 300.0,
  "JobStartDate": 1709971200,
  "EnteredCurrentStatus": 1709974800,
  "QDate": 1709970000,
  "RequestCpus": 2,
  "RequestMemory": "\/Expr(ifthenelse(true,1,2))\/",
  "ResidentSetSize_RAW": 2048,
  "ImageSize_RAW": 4096,
  "Requirements": "\/Expr((TARGET.Arch == \"X86_64\") && { 1 })\/",
  "Nested": { "a": { "b": "}" } },
  "x509userproxysubject": "/DC=org/CN=Ada",
  "x509UserProxyFirstFQAN": "/atlas/uk/Role=production/Capability=NULL",
  "ExitBySignal": false,
  "ExitCode": 3
}
,
{
  "ClusterId": 43,
  "ProcId": 1,
  "JobStatus": 3,
  "Owner": "bob",
  "RemoteWallClockTime": 0.0,
  "RemoteUserCpu": 0.0,
  "RemoteSysCpu": 0.0,
  "EnteredCurrentStatus": 1709974801,
  "RequestCpus": 1
}
,
{ "GlobalJobId": "ce#44.0#1", "JobStatus": 2, "Owner": "eve" }
]
"#;

#[test]
fn htcondor() {
    let expected = JobRow {
        view: "batch",
        job_id: "ce#42.0#1709970000",
        global_job_id: Some("ce#42.0#1709970000"),
        user: Some("ada"),
        start_ms: Some(1_709_971_200_000),
        end_ms: Some(1_709_974_800_000),
        wall_ms: Some(3_600_000),
        cpu_ms: Some(7_300_000),
        cpu_user_ms: Some(7_000_000),
        cpu_system_ms: Some(300_000),
        alloc_core_n: Some(2),
        max_rss_byte: Some(2 << 20),
        max_virtual_byte: Some(4 << 20),
        ..JobRow::default()
    };
    assert_eq!(one(htcondor::DIALECT, PIPED), expected);
    // The other layout of the same job contains more, without contradiction.
    let all = read(htcondor::DIALECT, HISTORY);
    assert_eq!((all.rows_read, all.jobs.len(), all.rejects.len()), (3, 2, 0), "{all:?}");
    let marked = read(htcondor::DIALECT, format!("\u{feff}{HISTORY}"));
    assert!(marked.rows().eq(all.rows()) && marked.rejects.is_empty(), "{marked:?}");
    assert_eq!(marked.jobs[0].at.byte_offset, all.jobs[0].at.byte_offset + 3);
    let fuller = JobRow {
        submit_ms: Some(1_709_970_000_000),
        fqan: Some("/atlas/uk/Role=production/Capability=NULL"),
        vo: Some("atlas"),
        vo_group: Some("/atlas/uk"),
        vo_role: Some("Role=production"),
        global_user: Some("/DC=org/CN=Ada"),
        requested_core_n: Some(2),
        state: Some("COMPLETED"),
        exit_code: Some(3),
        ..expected
    };
    assert_eq!(all.jobs[0].row, fuller);
    let Job { row: removed, at, .. } = &all.jobs[1];
    assert_eq!(
        (removed.job_id, removed.state, removed.start_ms),
        ("43.1", Some("CANCELLED"), None)
    );
    assert_eq!(at.line, 26);
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
    // In one line, in lines, or as printed: one answer.
    let values: Vec<serde_json::Value> = serde_json::from_str(HISTORY).unwrap();
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    let rows = |all: Collected| all.rows().cloned().collect::<Vec<_>>();
    let as_printed = rows(all);
    assert_eq!(rows(read(htcondor::DIALECT, lines.join("\n"))), as_printed);
    assert_eq!(
        rows(read(htcondor::DIALECT, format!("[{}]", lines.join(",")))),
        as_printed
    );

    let scaled = one(htcondor::DIALECT, &PIPED.replace("|2\n", "|2|1.25\n"));
    assert_eq!(
        (scaled.wall_ms, scaled.cpu_ms, scaled.cpu_user_ms),
        (Some(4_500_000), Some(9_125_000), None)
    );
    assert_eq!(
        one(htcondor::DIALECT, &PIPED.replace("|2\n", "|2|\n")).wall_ms,
        Some(3_600_000)
    );
    for (from, to, reason) in [
        ("|2\n", "\n", Reason::FieldCount),
        ("|2\n", "|2|1|1\n", Reason::FieldCount),
        ("|2\n", "|2|0\n", Reason::BadNumber),
        ("|2\n", "|2", Reason::Truncated),
        ("|3600|", "|-1|", Reason::BadDuration),
        ("ce#42.0#1709970000|", "|", Reason::BadJobId),
    ] {
        assert_eq!(refused(htcondor::DIALECT, &PIPED.replace(from, to)), reason, "{to:?}");
    }
    let cut = HISTORY.split_at(HISTORY.find("43").unwrap()).0;
    assert_eq!(read(htcondor::DIALECT, cut).reasons(), [Reason::Truncated]);
    let all = read(htcondor::DIALECT, HISTORY.replacen("\n}\n,", "\n,", 1));
    assert_eq!(all.reasons(), [Reason::BadJson]);
    assert_eq!(all.jobs.len(), 1);
}

#[test]
fn blah() {
    let line = "\"timestamp=2024-03-09 09:00:00\" \"userDN=/DC=org/CN=Ada\" \"userFQAN=/atlas\" \"lrmsID=77\"\n";
    let all = read(blah::DIALECT, line);
    assert_eq!(all.out_of_scope.get(&Reason::GridIdentity), Some(&1));
    for (from, to, reason) in [
        ("\"lrmsID=77\"", "\"lrmsID=\"", Reason::MissingField),
        ("timestamp=2024-03-09 09:00:00", "clientID=1", Reason::MissingField),
        ("2024-03-09 09", "2024-02-30 09", Reason::BadTime),
        ("\"userFQAN=/atlas\"", "\"atlas\"", Reason::FieldCount),
        ("77\"\n", "77", Reason::Truncated),
        ("\"timestamp", "timestamp", Reason::FieldCount),
    ] {
        assert_eq!(refused(blah::DIALECT, &line.replace(from, to)), reason, "{to:?}");
    }
}

pub(super) const SWF: &str = "; Version: 2.2\n; UnixStartTime: 1000000\n; Queue: 3 normal\n;\n";

#[test]
fn swf() {
    let row = |line: &str| one(swf::DIALECT, &format!("{SWF}{line}\n"));
    let expected = JobRow {
        view: "batch",
        job_id: "7",
        user: Some("12"),
        user_group: Some("4"),
        partition: Some("normal"),
        submit_ms: Some(1_000_100_000),
        start_ms: Some(1_000_130_000),
        end_ms: Some(1_000_190_000),
        wall_ms: Some(60_000),
        // The average per processor, times processors.
        cpu_ms: Some(202_000),
        alloc_core_n: Some(4),
        max_rss_byte: Some(2048 * 1024),
        requested_memory_byte: Some(8 * 512 * 1024),
        time_limit_s: Some(120),
        state: Some("COMPLETED"),
        ..JobRow::default()
    };
    assert_eq!(row("7 100 30 60 4 50.5 2048 8 120 512 1 12 4 -1 3 -1 -1 -1"), expected);
    let bare = row("7 100 30 60 -1 -1 -1 8 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
    assert_eq!(
        (bare.alloc_core_n, bare.anomalies),
        (Some(8), Anomaly::CoreAssumed.bit())
    );
    assert_eq!(
        (bare.cpu_ms, bare.user, bare.partition, bare.state),
        (None, None, None, None)
    );
    // Cancelled or failed without a run time: no job to count.
    for status in ["0", "5"] {
        let line = format!("{SWF}7 100 30 -1 -1 -1 -1 8 -1 -1 {status} -1 -1 -1 -1 -1 -1 -1\n");
        let all = read(swf::DIALECT, line);
        assert_eq!(
            (all.jobs.len(), all.out_of_scope_rows(Reason::NoRunTime)),
            (0, 1),
            "{status}"
        );
    }
    // Alea: the node of every processor, bytes of memory on every node, and fillers for what it does not know.
    let nodes = row("7 100 30 60 4 1 1024 4 120 1000 1 12 4 -1 1 1 1 1 {11,11,12,12} q_2h 2:ppn=2");
    assert_eq!((nodes.alloc_node_n, nodes.node_list), (Some(2), Some("11,12")));
    assert_eq!(
        (nodes.partition, nodes.cpu_ms, nodes.max_rss_byte),
        (Some("q_2h"), None, None)
    );
    assert_eq!(nodes.requested_memory_byte, Some(2000));
    // Columns of more resources are let through.
    assert_eq!(
        row("7 100 30 60 4 50.5 2048 8 120 512 1 12 4 -1 3 -1 -1 -1 40 -1"),
        expected
    );
    let line = "7 100 30 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1";
    for (from, to, reason) in [
        (" -1 -1 -1", " -1 -1", Reason::FieldCount),
        ("7 100 30 60", "-1 100 30 60", Reason::BadJobId),
        ("7 100 30 60", "7 -1 30 60", Reason::TimeUnknown),
        ("7 100 30 60", "7 100 -1 60", Reason::TimeUnknown),
        ("7 100 30 60", "7 100 30 -1", Reason::BadDuration),
        ("7 100 30 60", "7 100 30 1h", Reason::BadDuration),
        ("512 1 12", "512 9 12", Reason::UnknownState),
        ("-1 -1 -1", "-1 -1 -1 {11,x}", Reason::BadNumber),
    ] {
        let text = format!("{SWF}{}\n", line.replacen(from, to, 1));
        assert_eq!(refused(swf::DIALECT, &text), reason, "{to}");
    }
    // Between two checkpoints: the line of the complete job contains all of it.
    let all = read(swf::DIALECT, format!("{SWF}{}\n", line.replace("512 1 12", "512 3 12")));
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
}

/// Without a start the times of a workload have no date, and nothing is made up.
#[test]
fn swf_without_a_start_needs_one() {
    let text = "7 100 30 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1\n";
    let plain = plan(swf::DIALECT.format(), Acceptance::StrictApel);
    let why = swf::pieces(input(text.as_bytes()), &plain, LogLimits::default())
        .err()
        .expect("an error");
    assert_eq!(why.kind(), gridtally::error::Kind::Data);
    assert!(why.to_string().contains("set unix_start_time"), "{why}");
    assert_eq!(one(swf::DIALECT, text).submit_ms, Some(100_000));
}
