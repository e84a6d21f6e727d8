//! Line breaks in names where the lines behind them look like rows, and jobs that never ran: dumps of Slurm 20.11.

use std::collections::BTreeMap;
use std::sync::Arc;

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::sacct;
use proptest::prelude::*;

use super::{plan, read, read_in};
use crate::support::collect::{Collected, shared};

/// `sacct -o ALL` of 20.11.
const ALL: &str = "Account|AdminComment|AllocCPUS|AllocNodes|AllocTRES|AssocID|AveCPU|AveCPUFreq|AveDiskRead|AveDiskWrite|\
    AvePages|AveRSS|AveVMSize|BlockID|Cluster|Comment|Constraints|ConsumedEnergy|ConsumedEnergyRaw|CPUTime|CPUTimeRAW|\
    DBIndex|DerivedExitCode|Elapsed|ElapsedRaw|Eligible|End|ExitCode|Flags|GID|Group|JobID|JobIDRaw|JobName|Layout|\
    MaxDiskRead|MaxDiskReadNode|MaxDiskReadTask|MaxDiskWrite|MaxDiskWriteNode|MaxDiskWriteTask|MaxPages|MaxPagesNode|\
    MaxPagesTask|MaxRSS|MaxRSSNode|MaxRSSTask|MaxVMSize|MaxVMSizeNode|MaxVMSizeTask|McsLabel|MinCPU|MinCPUNode|\
    MinCPUTask|NCPUS|NNodes|NodeList|NTasks|Priority|Partition|QOS|QOSRAW|Reason|ReqCPUFreq|ReqCPUFreqMin|\
    ReqCPUFreqMax|ReqCPUFreqGov|ReqCPUS|ReqMem|ReqNodes|ReqTRES|Reservation|ReservationId|Reserved|ResvCPU|ResvCPURAW|\
    Start|State|Submit|Suspended|SystemCPU|SystemComment|Timelimit|TimelimitRaw|TotalCPU|TRESUsageInAve|\
    TRESUsageInMax|TRESUsageInMaxNode|TRESUsageInMaxTask|TRESUsageInMin|TRESUsageInMinNode|TRESUsageInMinTask|\
    TRESUsageInTot|TRESUsageOutAve|TRESUsageOutMax|TRESUsageOutMaxNode|TRESUsageOutMaxTask|TRESUsageOutMin|\
    TRESUsageOutMinNode|TRESUsageOutMinTask|TRESUsageOutTot|UID|User|UserCPU|WCKey|WCKeyID|WorkDir";

/// Few columns of little evidence: what is behind a break in the name looks like a row of job 2002.
const FEW: &str = "AdminComment|End|JobID|JobIDRaw|JobName|Start|State|TRESUsageOutTot|UID";

/// The identifier first, as most people request it.
const ID_FIRST: &str = "JobIDRaw|JobID|Cluster|Comment|Submit|JobName|Start|Account|User|Partition|End|Elapsed|State|AllocCPUS|\
    NodeList|TotalCPU|WorkDir";

const LAYOUTS: &[&str] = &[ALL, FEW, ID_FIRST];

/// The texts of a job that may hold anything.
#[derive(Clone, Debug, Default)]
struct Texts {
    comment: String,
    name: String,
    system: String,
    folder: String,
}

/// The text of a column in the row of a job, or of its step.
fn value(column: &str, id: u32, is_step: bool, texts: &Texts) -> String {
    let text = match column {
        "Account" => "atlas",
        "AllocCPUS" | "AllocNodes" | "NCPUS" | "NNodes" | "ReqCPUS" | "ReqNodes" => "1",
        "AllocTRES" if is_step => "cpu=1,mem=512M,node=1",
        "AllocTRES" | "ReqTRES" if !is_step => "billing=1,cpu=1,mem=512M,node=1",
        "AssocID" => "11",
        "Cluster" => "zoo20",
        "ConsumedEnergy" | "ConsumedEnergyRaw" => "0",
        "CPUTime" | "Elapsed" => "00:00:02",
        "CPUTimeRAW" | "ElapsedRaw" => "2",
        "DerivedExitCode" if is_step => "",
        "DerivedExitCode" | "ExitCode" => "0:0",
        "End" => "2026-11-20T21:10:32",
        "Eligible" | "Submit" => "2026-11-20T21:10:29",
        "Start" => "2026-11-20T21:10:30",
        "MaxRSS" | "AveRSS" if is_step => "3496K",
        "NodeList" => "n001",
        "ReqMem" => "512Mc",
        "State" => "COMPLETED",
        "Suspended" => "00:00:00",
        "TotalCPU" => "00:00.004",
        "TRESUsageInTot" | "TRESUsageOutTot" if is_step => "energy=0,fs/disk=4727",
        "UID" | "GID" if !is_step => "2002",
        "User" | "Group" if !is_step => "bob",
        "Priority" if !is_step => "10753",
        "Partition" if !is_step => "cpu",
        "QOS" if !is_step => "normal",
        "QOSRAW" | "WCKeyID" if !is_step => "8",
        "Reason" if !is_step => "None",
        "ReqCPUFreq" | "ReqCPUFreqMin" | "ReqCPUFreqMax" | "ReqCPUFreqGov" if !is_step => "Unknown",
        "Timelimit" if !is_step => "00:10:00",
        "TimelimitRaw" if !is_step => "10",
        "WCKey" if !is_step => "*proj",
        "JobID" | "JobIDRaw" => return format!("{id}{}", if is_step { ".batch" } else { "" }),
        "JobName" if is_step => "batch",
        "JobName" => &texts.name,
        "Comment" if !is_step => &texts.comment,
        "SystemComment" if !is_step => &texts.system,
        "WorkDir" if !is_step => &texts.folder,
        _ => "",
    };
    text.to_owned()
}

fn row(header: &str, id: u32, is_step: bool, texts: &Texts) -> String {
    let values: Vec<String> = header
        .split('|')
        .map(|column| value(column, id, is_step, texts))
        .collect();
    values.join("|") + "\n"
}

fn named(name: &str) -> Texts {
    Texts {
        name: name.to_owned(),
        ..Texts::default()
    }
}

/// The values of a job that a wrong cut would change.
fn reported(found: &Collected) -> Vec<(String, String, u32)> {
    let jobs = found.jobs.iter();
    jobs.map(|job| {
        let name = job.row.job_name.unwrap_or_default();
        assert_eq!(
            (job.row.start_ms, job.row.state),
            (Some(1_795_209_030_000), Some("COMPLETED"))
        );
        (job.row.job_id.to_owned(), name.to_owned(), job.step_n)
    })
    .collect()
}

#[test]
fn lines_that_add_up_to_the_columns_are_one_row() {
    for header in LAYOUTS {
        for name in [
            "line1\nline2",
            "a\nb\nc",
            "\n",
            "run\n42",
            "a|b\nc",
            "a\nb|c",
            "1\n2\n3",
        ] {
            let mut dump = format!("{header}\n");
            for id in 1..=3 {
                dump += &row(header, id, false, &named(name));
                dump += &row(header, id, true, &named(name));
            }
            let found = read(&dump);
            assert!(found.rejects.is_empty(), "{name:?}, {header}: {:#?}", found.rejects);
            let expected = [1, 2, 3].map(|id: u32| (id.to_string(), name.to_owned(), 1));
            assert_eq!(reported(&found), expected, "{header}");
            assert!(found.jobs.iter().all(|job| job.has(Anomaly::Reassembled)));
        }
    }
}

#[test]
fn a_comment_may_break_before_the_identifier() {
    let texts = Texts {
        comment: "see\nticket".to_owned(),
        name: "two\nlines".to_owned(),
        ..Texts::default()
    };
    let dump = [
        format!("{ALL}\n"),
        row(ALL, 7, false, &texts),
        row(ALL, 7, true, &texts),
    ]
    .concat();
    let found = read(&dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    assert_eq!(reported(&found), [("7".to_owned(), "two\nlines".to_owned(), 1)]);
}

/// A row that lost its second line is refused; the next one, of several lines as well, is whole.
#[test]
fn a_row_that_lost_a_line_does_not_take_the_next_one() {
    for header in LAYOUTS {
        let whole = row(header, 1, false, &named("cut\noff"));
        let (first, _) = whole.split_once('\n').unwrap();
        let dump = [
            format!("{header}\n{first}\n"),
            row(header, 2, false, &named("line1\nline2")),
        ]
        .concat();
        let found = read(&dump);
        assert_eq!(
            reported(&found),
            [("2".to_owned(), "line1\nline2".to_owned(), 0)],
            "{header}"
        );
        assert_eq!(found.reasons(), [Reason::FieldCount], "{header}: {:#?}", found.rejects);
    }
}

/// One row lost the line with its identifier, the next one its first line: what is left of both has as many columns as one row,
/// each with a text of its type, and a field of the first one where the identifier would be.
#[test]
fn what_is_left_of_two_damaged_rows_is_no_row() {
    let first = Texts {
        comment: "a|a\na".to_owned(),
        name: "a|a\na".to_owned(),
        ..Texts::default()
    };
    let second = Texts {
        name: "\n\n0".to_owned(),
        system: "\n\na".to_owned(),
        ..Texts::default()
    };
    let lines = |id: u32, texts: &Texts, lost: usize| -> String {
        let whole = row(ALL, id, false, texts);
        let lines = whole.split_inclusive('\n').enumerate();
        lines.filter(|(nth, _)| *nth != lost).map(|(_, line)| line).collect()
    };
    let dump = [
        format!("{ALL}\n"),
        row(ALL, 100, false, &named("before")),
        lines(101, &first, 1),
        lines(102, &second, 0),
        row(ALL, 103, false, &named("behind")),
    ]
    .concat();
    let found = read(&dump);
    let expected = [("100", "before"), ("103", "behind")].map(|(id, name)| (id.to_owned(), name.to_owned(), 0));
    assert_eq!(reported(&found), expected);
    assert_eq!(found.rows_read, found.outcomes());
    let reasons = found.reasons();
    assert!(
        reasons.iter().all(|reason| *reason == Reason::FieldCount),
        "{reasons:?}"
    );
}

/// An array whose every task has two lines and no steps: no line of a megabyte holds a row.
#[test]
fn a_long_run_of_broken_rows_is_cut_between_rows() {
    let rows: String = (1..=6000)
        .map(|id| row(ALL, id, false, &named("line1\nline2")))
        .collect();
    let dump = format!("{ALL}\n{rows}");
    assert!(dump.len() > 2 << 20);
    let found = read(&dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects.first());
    assert_eq!(found.jobs.len(), 6000);
}

#[test]
fn jobs_that_never_ran_used_nothing() {
    const HEADER: &str = "JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocCPUS|AllocTRES|NodeList|ReqTRES\n";
    let found = read(format!(
        "{HEADER}\
         1|DEADLINE|2026-11-20T21:10:30|2026-11-20T21:11:55|2026-11-20T21:11:55|0|1||None assigned|cpu=1,node=1\n\
         2|CANCELLED by 0|2026-11-20T21:10:30|2026-11-20T21:11:55|2026-11-20T21:11:55|0|1||None assigned|cpu=1\n\
         3|FAILED|2026-11-20T21:10:30|2026-11-20T21:11:55|2026-11-20T21:11:55|0|1|cpu=1,mem=1M,node=1|n1|cpu=1\n\
         4|COMPLETED|2026-11-20T21:10:30|2026-11-20T21:11:55|2026-11-20T21:11:56|1|1||None assigned|cpu=1\n"
    ));
    let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
    // A job that ran for less than a second ran.
    assert_eq!(ids, ["3", "4"]);
    assert_eq!(found.out_of_scope_rows(Reason::NotStarted), 2);
    let only_nodes =
        "JobIDRaw|State|Start|End|ElapsedRaw|NodeList\n5|CANCELLED|70|70|0|None assigned\n6|FAILED|70|70|0|n1\n";
    let only_tres = "JobIDRaw|State|Start|End|ElapsedRaw|AllocTRES\n5|CANCELLED|70|70|0|\n6|FAILED|70|70|0|cpu=1\n";
    for dump in [only_nodes, only_tres] {
        let found = read(dump);
        assert_eq!(
            (found.jobs.len(), found.out_of_scope_rows(Reason::NotStarted)),
            (1, 1),
            "{dump}"
        );
    }
    // Without either it cannot be determined.
    let found = read("JobIDRaw|State|Start|End|ElapsedRaw\n5|CANCELLED|70|70|0\n");
    assert_eq!(found.jobs.len(), 1);
}

#[test]
fn the_real_cuts_of_20_11_are_whole() {
    let Some(folder) = shared("the_real_cuts_of_20_11_are_whole", "cases/slurm-20.11") else {
        return;
    };
    let cut = |name: &str| read_in(std::fs::read(folder.join(name)).unwrap(), "UTC");
    for name in ["full-width-newline.txt", "min-newline.txt"] {
        let found = cut(name);
        assert!(found.rejects.is_empty(), "{name}: {:#?}", found.rejects);
        assert_eq!(
            reported(&found),
            [("7".to_owned(), "line1\nline2".to_owned(), 1)],
            "{name}"
        );
    }
    let never = cut("never-started.txt");
    assert_eq!((never.jobs.len(), never.out_of_scope_rows(Reason::NotStarted)), (0, 1));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => Just(String::new()),
        3 => Just("plain".to_owned()),
        3 => "[a-z0-9 ]{0,6}\n[a-z0-9 ]{0,6}",
        1 => "[a-z0-9]{0,4}\n[a-z0-9]{0,4}\n[a-z0-9]{1,4}",
        1 => "[a-z]{1,4}\\|[a-z]{1,4}\n[a-z]{1,4}",
        1 => Just("7\n2002".to_owned()),
    ]
}

/// A layout, and jobs with how many steps they have.
fn jobs() -> impl Strategy<Value = (&'static str, Vec<(Texts, u32)>)> {
    let texts = (text(), text(), text(), text()).prop_map(|(comment, name, system, folder)| Texts {
        comment,
        name,
        system,
        folder,
    });
    (0..LAYOUTS.len(), proptest::collection::vec((texts, 0..3_u32), 1..25))
        .prop_map(|(nth, jobs)| (*LAYOUTS.get(nth).unwrap(), jobs))
}

fn dump_of(header: &str, jobs: &[(Texts, u32)]) -> Vec<(u32, String)> {
    let mut rows = Vec::new();
    for (id, (texts, step_n)) in (100..).zip(jobs) {
        rows.push((id, row(header, id, false, texts)));
        rows.extend((0..*step_n).map(|_| (id, row(header, id, true, texts))));
    }
    rows
}

fn pieces_of(dump: &str, block_byte: usize) -> Vec<Collected> {
    let input = Box::new(std::io::Cursor::new(dump.to_owned()));
    let pieces = sacct::pieces_with_block(input, Arc::new(plan(Some("UTC"))), block_byte).unwrap();
    // As threads may: the last one first.
    let works: Vec<_> = pieces.map(Result::unwrap).collect();
    let mut found: Vec<Collected> = works
        .into_iter()
        .rev()
        .map(|work| {
            let mut sink = Collected::default();
            work(&mut sink);
            sink
        })
        .collect();
    found.reverse();
    found
}

fn joined(parts: Vec<Collected>) -> Collected {
    parts.into_iter().fold(Collected::default(), |mut sum, part| {
        sum.rows_read += part.rows_read;
        sum.jobs.extend(part.jobs);
        sum.rejects.extend(part.rejects);
        for (reason, n) in part.out_of_scope {
            *sum.out_of_scope.entry(reason).or_default() += n;
        }
        sum
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_with_breaks_anywhere_are_the_truth((header, jobs) in jobs(), block_byte in 1..6000_usize) {
        let rows = dump_of(header, &jobs);
        let dump = format!("{header}\n{}", rows.iter().map(|(_, row)| row.as_str()).collect::<String>());
        let found = joined(pieces_of(&dump, block_byte));
        prop_assert_eq!(found.rows_read, found.outcomes());
        prop_assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
        let truth: Vec<_> = (100..)
            .zip(&jobs)
            .map(|(id, (texts, step_n)): (u32, _)| (id.to_string(), texts.name.clone(), *step_n))
            .collect();
        prop_assert_eq!(reported(&found), truth);
    }

    /// Lines that are lost cost their own row and never another one's name or steps.
    #[test]
    fn rows_are_never_merged((header, jobs) in jobs(), lost in proptest::collection::vec(0..200_usize, 1..5), block_byte in 1..6000_usize) {
        let rows = dump_of(header, &jobs);
        let lines: Vec<(u32, &str)> =
            rows.iter().flat_map(|(id, row)| row.split_inclusive('\n').map(|line| (*id, line))).collect();
        let is_lost = |nth: usize| lost.iter().any(|at| at % lines.len() == nth);
        let kept = lines.iter().enumerate().filter(|(nth, _)| !is_lost(*nth)).map(|(_, (_, line))| *line);
        let dump = format!("{header}\n{}", kept.collect::<String>());
        let found = joined(pieces_of(&dump, block_byte));
        prop_assert_eq!(found.rows_read, found.outcomes());
        prop_assert_eq!(&found, &joined(pieces_of(&dump, 1 << 20)));
        let truth: BTreeMap<String, &str> = (100..)
            .zip(&jobs)
            .map(|(id, (texts, _)): (u32, _)| (id.to_string(), texts.name.as_str()))
            .collect();
        let damaged: Vec<String> =
            lines.iter().enumerate().filter(|(nth, _)| is_lost(*nth)).map(|(_, (id, _))| id.to_string()).collect();
        let reported: BTreeMap<String, String> = reported(&found).into_iter().map(|(id, name, _)| (id, name)).collect();
        for (id, name) in &truth {
            match reported.get(id) {
                Some(reported) if !damaged.contains(id) => prop_assert_eq!(reported, name),
                None => prop_assert!(damaged.contains(id), "job {} is lost: {:#?}", id, found.rejects),
                Some(_) => {}
            }
        }
        prop_assert!(reported.keys().all(|id| truth.contains_key(id)));
    }
}
