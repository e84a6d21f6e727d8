//! Delimiters and line breaks in names, broken lines, mixed streams, and cutting anywhere.

use std::sync::Arc;

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::sacct;
use proptest::prelude::*;

use super::{plan, read, try_read};
use crate::support::collect::Collected;

/// Names first in the middle, as `--format` lists usually have them.
const HEADER: &str =
    "Cluster|JobIDRaw|JobID|JobName|Partition|Account|User|WCKey|Submit|Start|End|ElapsedRaw|State|NCPUS|TotalCPU\n";

fn job(id: u32, name: &str) -> String {
    format!("zoo|{id}|{id}|{name}|cpu|atlas|ada|*proj|1|10|70|60|COMPLETED|2|00:05.000\n")
}

fn step(id: u32, name: &str) -> String {
    format!("zoo|{id}.0|{id}.0|{name}||atlas|||10|10|70|60|COMPLETED|2|00:05.000\n")
}

#[test]
fn names_may_hold_delimiters_line_breaks_and_anything_else() {
    for name in [
        "pipe|in|name",
        "line1\nline2",
        "a|b\nc|d",
        "\n",
        "|",
        "\n\n",
        "tab\tin",
        "cr\rin",
        "cr lf\r\nin",
        "`quoted` 'it' \\ \"",
        " blanks ",
        "emoji \u{1f980}",
        "x,y;z=1",
        "sbatch: hello\nworld",
    ] {
        let dump = [HEADER, &job(1, "first"), &job(2, name), &step(2, name), &job(3, "last")].concat();
        let found = read(&dump);
        assert!(found.rejects.is_empty(), "{name:?}: {:#?}", found.rejects);
        assert_eq!((found.rows_read, found.jobs.len()), (4, 3), "{name:?}");
        let damaged = found.jobs.get(1).unwrap();
        assert_eq!((damaged.row.job_name, damaged.step_n), (Some(name), 1));
        assert_eq!(
            (damaged.row.account, damaged.row.alloc_core_n),
            (Some("atlas"), Some(2))
        );
        assert_eq!(
            damaged.has(Anomaly::Reassembled),
            name.contains(['|', '\n']),
            "{name:?}"
        );
        let last = found.jobs.get(2).unwrap();
        assert_eq!(
            usize::try_from(last.at.byte_offset).unwrap(),
            dump.find("zoo|3|").unwrap()
        );
        assert_eq!(usize::try_from(last.at.line).unwrap(), dump.lines().count());
    }
}

#[test]
fn a_name_in_the_last_column_continues() {
    let dump = "JobID|State|End|ElapsedRaw|JobName\n1|COMPLETED|70|60|a|b\nc\n\nd\n2|COMPLETED|70|60|x\n";
    let found = read(dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    let names: Vec<_> = found.jobs.iter().map(|job| job.row.job_name.unwrap()).collect();
    assert_eq!(names, ["a|b\nc\n\nd", "x"]);
    assert_eq!(found.rows_read, 2);
}

#[test]
fn several_free_texts_are_distinguished_by_the_columns_between() {
    let header = "Account|AdminComment|AllocCPUS|AllocNodes|AllocTRES|AssocID|Cluster|Comment|Constraints|ConsumedEnergy|\
                  ElapsedRaw|End|JobID|JobIDRaw|JobName|Layout|NNodes|Start|State|Submit|SubmitLine|Suspended|TotalCPU|WorkDir\n";
    let row = |id: u32, comment: &str, name: &str, line: &str, dir: &str| {
        format!(
            "atlas||1|1|billing=1,cpu=1,mem=512M,node=1|10|zoo|{comment}||0|3|2026-10-01T00:00:03|{id}|{id}|{name}||1|\
             2026-10-01T00:00:00|COMPLETED|2026-10-01T00:00:00|{line}|00:00:00|00:00.005|{dir}\n"
        )
    };
    let dump = [
        header,
        &row(1, "com|ment", "pipe|in|name", "sbatch -J pipe|in|name", "/home"),
        &row(
            2,
            "multi\nline|comment",
            "allocation",
            "sbatch --comment=multi\nline|comment",
            "/home/dir|pipe",
        ),
        &row(3, "", "line1\nline2", "sbatch -J line1\nline2", "/home"),
        &row(
            4,
            "",
            "oomer",
            "sbatch --wrap python3 -c \"\nimport time\nb=1\n\"",
            "/home",
        ),
        &row(5, "", "plain", "sbatch", "/home"),
    ]
    .concat();
    let found = read(dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    let names: Vec<_> = found
        .jobs
        .iter()
        .map(|job| (job.row.job_id, job.row.job_name.unwrap(), job.row.cpu_ms))
        .collect();
    assert_eq!(
        names,
        [
            ("1", "pipe|in|name", Some(5)),
            ("2", "allocation", Some(5)),
            ("3", "line1\nline2", Some(5)),
            ("4", "oomer", Some(5)),
            ("5", "plain", Some(5)),
        ]
    );
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    let dump = "JobID|JobName|Comment|State|End|ElapsedRaw\n1|a|b|c|COMPLETED|70|60\n1.0|x|||COMPLETED|70|60\n2|a|b|COMPLETED|70|60\n";
    let found = read(dump);
    let reject = found.rejects.first().unwrap();
    assert_eq!((reject.reason, reject.rows), (Reason::FieldCount, 2));
    assert!(reject.detail.contains("more than one way"), "{}", reject.detail);
    assert_eq!(found.jobs.len(), 1);
}

#[test]
fn a_bad_row_never_takes_its_neighbours_along() {
    for bad in [
        "zoo|2|2|cut off\n",
        "zoo|2|2|cut\noff\n",
        "zoo|x2|2|name|cpu|atlas|ada|*proj|1|10|70|60|COMPLETED|2|00:05.000\n",
        "garbage\n",
        "zoo|2|2|name|cpu|atlas|ada|*proj|1|10|70|60|COMPLETED|2|00:05.000|surplus\n",
        "zoo|2|2|name|cpu|atlas|ada|*proj|1|noon|70|60|COMPLETED|2|00:05.000\n",
        "|||||||||||||||||||||||\n",
        "\0\0\0\0\n",
    ] {
        let found = read([HEADER, &job(1, "a"), &step(1, "s"), bad, &job(3, "c"), &step(3, "s")].concat());
        let ids: Vec<_> = found.jobs.iter().map(|job| (job.row.job_id, job.step_n)).collect();
        assert_eq!(ids, [("1", 1), ("3", 1)], "{bad:?}: {found:#?}");
        assert_eq!(found.rejects.len(), 1, "{bad:?}: {:#?}", found.rejects);
        assert_eq!(found.rejects.first().unwrap().raw, bad.as_bytes());
        assert_eq!(found.rejects.first().unwrap().at.line, 4);
    }
}

/// The begin of `first` and the end of `last` as one line, as a file has it where a page of it was never written.
fn with_hole(first: &str, kept: usize, last: &str, from: usize) -> String {
    format!(
        "{}{}{}",
        first.get(..kept).unwrap_or(first),
        "\0".repeat(40),
        last.get(from..).unwrap_or(last)
    )
}

#[test]
fn text_that_was_lost_makes_no_job_of_two() {
    let (first, last) = (job(2, "b"), job(9, "z"));
    for kept in 0..first.len() {
        for from in [0, 1, 8, last.len() - 12, last.len() - 1] {
            let hole = with_hole(&first, kept, &last, from);
            let found = read(
                [
                    HEADER,
                    &job(1, "a"),
                    &step(1, "s"),
                    &hole,
                    &job(10, "c"),
                    &step(10, "s"),
                ]
                .concat(),
            );
            let ids: Vec<_> = found.jobs.iter().map(|job| (job.row.job_id, job.step_n)).collect();
            assert_eq!(ids, [("1", 1), ("10", 1)], "{kept} {from}");
            let [reject] = found.rejects.as_slice() else {
                panic!("{kept} {from} {:#?}", found.rejects)
            };
            assert_eq!((reject.reason, reject.at.line), (Reason::Truncated, 4), "{kept} {from}");
            assert_eq!(reject.raw, hole.as_bytes(), "{kept} {from}");
        }
    }
}

#[test]
fn steps_of_a_job_row_with_lost_text_are_refused_with_it() {
    let hole = with_hole(&job(2, "b"), 12, &job(9, "z"), 20);
    let found = read([HEADER, &hole, &step(2, "s"), &step(9, "s"), &job(10, "c")].concat());
    let reasons: Vec<_> = found
        .rejects
        .iter()
        .map(|reject| (reject.reason, reject.rows))
        .collect();
    assert_eq!(reasons, [(Reason::StepWithoutJob, 1), (Reason::Truncated, 2)]);
    assert_eq!(found.jobs.len(), 1);
}

#[test]
fn cpu_time_of_steps_is_unknown_where_one_may_be_lost() {
    let header = "JobID|State|End|ElapsedRaw|TotalCPU\n";
    let dump =
        |lost: &str| format!("{header}1|COMPLETED|70|60|\n1.0|COMPLETED|70|60|00:05\n{lost}2|COMPLETED|70|60|00:01\n");
    let cpu = |lost: &str| read(dump(lost)).jobs.first().unwrap().row.cpu_ms;
    assert_eq!(cpu(""), Some(5000));
    assert_eq!(cpu("\0\0\0\n"), None);
    assert_eq!(cpu("1.1|COMPL\0\0\0|00:05\n"), None);
    // It begins another job.
    assert_eq!(cpu("2|COMPL\0\0\0|00:05\n"), Some(5000));
}

#[test]
fn lost_text_is_part_of_no_row_around_it() {
    let broken = "zoo|3|3|two\n";
    let rest = "lines|cpu|atlas|ada|*proj|1|10|70|60|COMPLETED|2|00:05.000\n";
    let found = read([HEADER, &job(1, "a"), broken, "\0\0\0\0\n", rest, &job(4, "d")].concat());
    let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
    assert_eq!(ids, ["1", "4"]);
    assert!(found.rejects.iter().any(|reject| reject.reason == Reason::Truncated));
    assert_eq!(found.rejects.len(), 3, "{:#?}", found.rejects);
}

#[test]
fn nul_may_be_the_delimiter() {
    let mut nul = plan(Some("UTC"));
    nul.sacct.delimiter = Some("\0".to_owned());
    let dump = [HEADER, &job(1, "a"), &step(1, "s"), &job(2, "b")]
        .concat()
        .replace('|', "\0");
    let found = try_read(dump.as_bytes(), nul).unwrap();
    assert_eq!((found.jobs.len(), found.rejects.len()), (2, 0), "{:#?}", found.rejects);
}

#[test]
fn a_cut_off_file_is_noticed() {
    let whole = [HEADER, &job(1, "a"), &job(2, "b")].concat();
    for cut in HEADER.len() + job(1, "a").len() + 1..whole.len() {
        let found = read(whole.get(..cut).unwrap());
        assert_eq!((found.jobs.len(), found.rejects.len()), (1, 1), "{cut}");
        assert_eq!(found.rejects.first().unwrap().reason, Reason::Truncated);
    }
    let found = read([HEADER, &job(1, "a"), "zoo|2|2|two\nlines"].concat());
    assert_eq!(found.rejects.first().unwrap().reason, Reason::Truncated);
    assert_eq!(found.rejects.first().unwrap().raw, b"zoo|2|2|two\nlines");
}

#[test]
fn messages_blank_lines_and_headers_are_no_jobs() {
    let message = "sacct: error: slurmdbd is away\n";
    let dump = [
        message,
        "\n",
        HEADER,
        &job(1, "a"),
        message,
        &step(1, "s"),
        "Conversion error: x\n",
        "\n",
        HEADER,
        &job(2, "b"),
        "JobID|State|End|ElapsedRaw|\n",
        "3|COMPLETED|70|60|\n",
        "3.batch|COMPLETED|70|60|\n",
    ]
    .concat();
    let found = read(dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    let ids: Vec<_> = found
        .jobs
        .iter()
        .map(|job| (job.row.job_id, job.step_n, job.at.line))
        .collect();
    assert_eq!(ids, [("1", 1, 4), ("2", 0, 10), ("3", 1, 12)]);
    assert_eq!(found.out_of_scope_rows(Reason::ToolMessage), 4);
}

#[test]
fn a_second_header_that_lacks_columns_stops_the_file() {
    let dump = [HEADER, &job(1, "a"), "JobID|State|JobName\n", "2|FAILED|x\n"].concat();
    let error = try_read(dump.as_bytes(), plan(Some("UTC"))).unwrap_err();
    assert!(
        error.to_string().contains("ElapsedRaw") && error.to_string().contains("line 3"),
        "{error}"
    );
}

#[test]
fn text_that_is_not_utf8_is_kept_and_marked() {
    let mut dump = [HEADER, &job(1, "caf?")].concat().into_bytes();
    let at = dump.iter().position(|b| *b == b'?').unwrap();
    *dump.get_mut(at).unwrap() = 0xe9;
    let found = read(dump);
    let job = found.jobs.first().unwrap();
    assert_eq!(job.row.job_name, Some("caf\\xE9"));
    assert!(job.has(Anomaly::InvalidText));
}

/// A damaged header in the middle may stop the file: then always with the same words.
fn read_in_blocks(dump: &[u8], block_byte: usize) -> Result<Collected, String> {
    let input = Box::new(std::io::Cursor::new(dump.to_vec()));
    sacct::pieces_with_block(input, Arc::new(plan(Some("UTC"))), block_byte)
        .and_then(Collected::all)
        .map_err(|error| error.to_string())
}

fn read_with_limit(dump: &str, limit_byte: usize) -> Collected {
    let input = Box::new(std::io::Cursor::new(dump.to_owned()));
    let pieces = sacct::pieces_with_limit(input, Arc::new(plan(Some("UTC"))), 256, limit_byte).unwrap();
    let found = Collected::all(pieces).unwrap();
    assert_eq!(found.rows_read, found.outcomes());
    found
}

#[test]
fn a_row_without_end_is_too_long_and_the_next_one_is_read() {
    let long = format!("zoo|2|2|{}\n", "x".repeat(100_000));
    let found = read_with_limit(&[HEADER, &job(1, "a"), &long, &job(3, "c")].concat(), 2000);
    let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
    assert_eq!(ids, ["1", "3"]);
    assert_eq!(found.rejects.len(), 1);
    let reject = found.rejects.first().unwrap();
    assert_eq!(reject.reason, Reason::TooLong);
    assert!(reject.raw.len() >= 2000 && long.as_bytes().starts_with(&reject.raw));
    assert_eq!(
        usize::try_from(found.jobs.get(1).unwrap().at.byte_offset).unwrap(),
        HEADER.len() + job(1, "a").len() + long.len()
    );
}

#[test]
fn a_job_with_more_steps_than_the_limit_keeps_its_row() {
    let steps: String = (0..100).map(|_| step(2, "s")).collect();
    let found = read_with_limit(
        &[HEADER, &job(1, "a"), &job(2, "b"), &steps, &job(3, "c")].concat(),
        2000,
    );
    assert_eq!(found.jobs.len(), 3);
    let folded = found.jobs.get(1).unwrap().step_n;
    assert!(folded > 10, "{folded}");
    assert!(found.rejects.iter().all(|reject| reject.reason == Reason::TooLong));
    assert_eq!(found.rejects.len() + usize::try_from(folded).unwrap(), 100);
}

/// Lines of a dump: mostly sound, some not.
fn dump() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        8 => Just("name".to_owned()),
        1 => "[a-z|\n\r0-9. ]{0,12}",
        1 => Just("a|b\nc".to_owned()),
    ];
    let line = (1..6_u32, name, 0..27_u32).prop_map(|(id, name, kind)| match kind {
        0..=8 => job(id, &name),
        9..=17 => step(id, &name),
        18 => "sacct: error: x\n".to_owned(),
        19 => format!("zoo|{id}|{id}|{name}\n"),
        20 => format!("{name}\n"),
        21 => HEADER.to_owned(),
        23 => "\0\0\n".to_owned(),
        24 => with_hole(&job(id, &name), 20, &step(id, "s"), 9),
        25 => with_hole(&step(id, &name), 5, &job(id, "s"), 0),
        22 => format!("JobIDRaw|JobName|State|End|ElapsedRaw\n{id}|{name}|COMPLETED|70|60\n"),
        _ => "\n".to_owned(),
    });
    proptest::collection::vec(line, 0..40).prop_map(|lines| HEADER.to_owned() + &lines.concat())
}

/// Job number, whether a step, two comments, name, folder, and what to make of it.
type WideRow = (u32, bool, String, String, String, String, u8);

/// The same with the names before the identifier and at the end of the row, and perhaps a delimiter behind it.
fn wide_dump() -> impl Strategy<Value = String> {
    let header =
        "Account|AdminComment|AllocCPUS|AllocNodes|AllocTRES|Comment|End|JobID|JobIDRaw|JobName|Start|State|WorkDir";
    let name = prop_oneof![8 => Just("name".to_owned()), 1 => "[a-z|\n\r0-9. ]{0,12}", 1 => Just("a|b\nc".to_owned())];
    let row = (
        1..6_u32,
        any::<bool>(),
        name.clone(),
        name.clone(),
        name.clone(),
        name,
        0..12_u8,
    );
    (proptest::collection::vec(row, 0..30), any::<bool>()).prop_map(move |(rows, is_trailing): (Vec<WideRow>, bool)| {
        let end = if is_trailing { "|\n" } else { "\n" };
        let line = |(id, is_step, admin, comment, name, dir, kind)| {
            let step = if is_step { ".0" } else { "" };
            match kind {
                0 => format!("{comment}\n"),
                1 => format!("{header}{end}"),
                _ => format!(
                    "atlas|{admin}|1|1|cpu=1,node=1|{comment}|2026-10-01T00:01:00|{id}{step}|{id}{step}|{name}|\
                     2026-10-01T00:00:00|COMPLETED|{dir}{end}"
                ),
            }
        };
        let lines: String = rows.into_iter().map(line).collect();
        header.to_owned() + end + &lines
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_into_pieces_changes_nothing(dump in dump(), block_byte in 1..3000_usize) {
        let whole = read_in_blocks(dump.as_bytes(), 1 << 20);
        prop_assert!(whole.as_ref().is_ok_and(|found| found.rows_read == found.outcomes()));
        prop_assert_eq!(&whole, &read_in_blocks(dump.as_bytes(), block_byte));
    }

    #[test]
    fn cutting_wide_dumps_changes_nothing(dump in wide_dump(), block_byte in 1..3000_usize) {
        let whole = read_in_blocks(dump.as_bytes(), 1 << 20);
        prop_assert!(whole.as_ref().is_ok_and(|found| found.rows_read == found.outcomes()));
        prop_assert_eq!(&whole, &read_in_blocks(dump.as_bytes(), block_byte));
    }

    #[test]
    fn damage_never_loses_a_row(dump in dump(), flips in proptest::collection::vec((0..8000_usize, any::<u8>()), 0..6), cut in 0..9000_usize) {
        let mut dump = dump.into_bytes();
        let rows = HEADER.len();
        for (at, byte) in flips {
            if let Some(slot) = dump.get_mut(rows + at) {
                *slot = byte;
            }
        }
        dump.truncate(rows.max(cut));
        let whole = read_in_blocks(&dump, 1 << 20);
        prop_assert!(whole.as_ref().map_or(true, |found| found.rows_read == found.outcomes()));
        prop_assert_eq!(&whole, &read_in_blocks(&dump, 700));
    }

    #[test]
    fn bytes_of_any_kind_never_panic(head in proptest::collection::vec(any::<u8>(), 0..200), rest in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = sacct::recognise(&head);
        let _ = try_read(&head, plan(None));
        let mut dump = HEADER.as_bytes().to_vec();
        dump.extend_from_slice(&rest);
        if let Ok(found) = try_read(&dump, plan(Some("Europe/Zurich"))) {
            prop_assert_eq!(found.rows_read, found.outcomes());
        }
    }
}
