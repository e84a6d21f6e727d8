//! What fuzzing found, as small as it can be.

use std::io::Read;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::{Position, Sink, apel, gracc, lines, lsf, pbs, sacct};

use crate::support::collect::{Collected, input, plan, run};

/// A header without an end was counted once per block, and all of it was kept.
#[test]
fn a_header_line_without_end_is_one_row() {
    for acceptance in [Acceptance::StrictApel, Acceptance::Salvage] {
        for end in ["", "\n", "\n%%\nSite: A\n"] {
            let text = format!("APEL-summary-job-message: v0.{}{end}", "3".repeat(3000));
            let limits = |block| apel::ApelLimits {
                block,
                message: 400,
                record: 100,
                kept: 10,
            };
            let read = |block| {
                run(apel::pieces_within(
                    input(text.as_bytes()),
                    plan(apel::DIALECT.format(), acceptance),
                    limits(block),
                )
                .unwrap())
            };
            let whole = read(1 << 20);
            for block in [1, 7, 64, 150] {
                assert_eq!(read(block), whole, "{acceptance:?} {end:?} {block}");
            }
            assert_eq!(whole.rejects[0].reason, Reason::BadMessage, "{whole:?}");
        }
    }
    let endless = std::io::Cursor::new("APEL-summary-job-message: v0.").chain(std::io::repeat(b'3').take(40 << 20));
    let all = run(apel::pieces(Box::new(endless), plan(apel::DIALECT.format(), Acceptance::StrictApel)).unwrap());
    assert_eq!((all.rows_read, all.rejects.len()), (1, 1));
}

/// A header line that is too long is not a header; a mark in it made one of its beginning when a piece ended there.
#[test]
fn a_mark_in_a_header_line_too_long_makes_no_header_of_its_beginning() {
    let limits = |block| apel::ApelLimits {
        block,
        message: 256,
        record: 64,
        kept: 64,
    };
    let header = "APEL-individual-job-message: v0.3";
    for acceptance in [Acceptance::StrictApel, Acceptance::Salvage] {
        for (front, rows) in [
            ("", 3),
            ("%%\n", 3),
            ("Site: A\n", 4),
            ("\nAPEL-sync-message: v0.1\nSite: A\n", 4),
        ] {
            let line = format!("{header}%%Site: A%%{}\n", ";".repeat(150));
            let text = format!("{front}{line}APEL-cloud-message: v0.4\nSite: A\n%%\n");
            let read = |block| {
                run(apel::pieces_within(
                    input(text.as_bytes()),
                    plan(apel::DIALECT.format(), acceptance),
                    limits(block),
                )
                .unwrap())
            };
            let whole = read(1 << 20);
            for block in 1..text.len() {
                assert_eq!(read(block), whole, "{acceptance:?} {front:?} {block}");
            }
            assert_eq!(whole.rows_read, rows + 1, "{whole:?}");
            let reasons = whole.rejects.iter().map(|reject| reject.reason);
            assert!(
                reasons.filter(|reason| *reason == Reason::BadMessage).count() >= 3,
                "{whole:?}"
            );
        }
    }
}

/// Among lines that begin nothing, an event that began just before the end of a piece was cut off from its continuation
/// with.
#[test]
fn an_event_behind_lines_that_begin_nothing_continues() {
    let event = "\"EVENT_FIND\" \"9.1\" 1 \"a\nb\"\n";
    let text = format!("{}{event}{}", "x\n".repeat(150), "y\n".repeat(150));
    let read = |block| {
        let limits = lines::LogLimits {
            block,
            record: 64,
            kept: 64,
        };
        run(lsf::pieces(input(text.as_bytes()), limits))
    };
    let whole = read(1 << 20);
    for block in 1..text.len() {
        assert_eq!(read(block), whole, "{block}");
    }
    assert_eq!((whole.rows_read, whole.rejects.len()), (301, 300));
}

/// Of a line too long at the start of a file, what was kept began with the byte order mark or not.
#[test]
fn a_line_too_long_behind_a_byte_order_mark_is_kept_without_it() {
    let text = format!("\u{feff}{}\n", "x".repeat(500));
    for block in [1, 50, 200, 1000] {
        let limits = lines::LogLimits {
            block,
            record: 64,
            kept: 8,
        };
        let all = run(pbs::pieces(input(text.as_bytes()), limits));
        assert_eq!(all.rejects[0].raw, b"xxxxxxxx", "{block}");
    }
}

/// Whether a job that is too long was cut off by the end of the file depended on the size of the pieces.
#[test]
fn a_job_too_long_is_that_also_at_the_end_of_a_file() {
    let text = format!("{{\"jobs\": [{{\"comment\": \"{}", "x".repeat(1000));
    for block in [1, 100, 700, 5000] {
        let pieces = sacct::pieces_with_limit(input(text.as_bytes()), crate::sacct::plan(None).into(), block, 700);
        let all = Collected::all(pieces.unwrap()).unwrap();
        let reasons: Vec<Reason> = all.rejects.iter().map(|reject| reject.reason).collect();
        assert_eq!((all.rows_read, reasons), (1, vec![Reason::TooLong]), "{block}");
    }
}

/// Whether a job that lost a bracket was too long depended on how far behind its end the next one was recognised.
#[test]
fn a_broken_job_just_below_the_limit_is_broken_in_pieces_of_any_size() {
    let broken = format!("{{\n    \"comment\": \"{}\"", "x".repeat(660));
    let text = format!("{{\"jobs\": [\n  {broken}\n  {{\n    \"job_id\": 7\n  }}\n]}}\n");
    for block in [1, 9, 100, 5000] {
        let pieces = sacct::pieces_with_limit(input(text.as_bytes()), crate::sacct::plan(None).into(), block, 700);
        let all = Collected::all(pieces.unwrap()).unwrap();
        assert_eq!(all.rejects[0].reason, Reason::BadJson, "{block}: {:?}", all.rejects);
    }
}

/// The name of a tag was read to its end, however far that was, and all of it was kept.
#[test]
fn a_tag_whose_name_does_not_end_is_damaged() {
    let limits = gracc::GraccLimits {
        line: 1000,
        ..gracc::GraccLimits::default()
    };
    for (name_byte, reasons) in [(900, vec![]), (5000, vec![Reason::BadXml])] {
        let text = format!("<?xml version=\"1.0\"?>\n<{}>\n", "x".repeat(name_byte));
        let all = run(gracc::pieces_within(
            input(text.as_bytes()),
            &plan(gracc::DIALECT.format(), Acceptance::default()),
            limits,
        )
        .unwrap());
        let found: Vec<Reason> = all.rejects.iter().map(|reject| reject.reason).collect();
        assert_eq!(found, reasons, "{name_byte}");
    }
}

/// Whether a job was sent before or after the refusal of the next row depended on the size of the pieces, where the
/// identifier of that row follows a free text.
#[test]
fn a_job_is_reported_before_the_row_of_another_one_is_refused() {
    let header = "JobName|JobID|WorkDir|State|Start|End|ElapsedRaw";
    let row = |id: u32, folder: &str| format!("a|{id}|{folder}|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:01:00|60\n");
    let text = format!(
        "{header}\n{}{}{}",
        row(1, "/w"),
        row(2, &"|x".repeat(5000)),
        row(3, "/w")
    );
    for block in [1, 100, 20_000, 1 << 20] {
        let plan = crate::sacct::plan(Some("UTC"));
        let pieces = sacct::pieces_with_block(input(text.as_bytes()), plan.into(), block).unwrap();
        let mut order = Order::default();
        pieces.for_each(|work| work.unwrap()(&mut order));
        assert_eq!(order.0, [2, 3, 4], "{block}");
    }
}

/// Each blank line before the header had all that was read tested for being blank: a megabyte of them took minutes.
#[test]
fn a_dump_may_begin_with_a_million_blank_lines() {
    let dump = "JobName|JobID|State|Start|End|ElapsedRaw\na|1|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:01:00|60\n";
    for blank in ["\n", " \r\n"] {
        let text = blank.repeat(1_000_000) + "  \t\n" + dump;
        let plan = crate::sacct::plan(Some("UTC"));
        let pieces = sacct::pieces(input(text.as_bytes()), plan.into()).unwrap();
        let mut order = Order::default();
        pieces.for_each(|work| work.unwrap()(&mut order));
        assert_eq!(order.0, [1_000_003]);
    }
    let blank = sacct::pieces(input(&vec![b'\n'; 1_000_000]), crate::sacct::plan(Some("UTC")).into()).unwrap();
    assert_eq!(Collected::all(blank).unwrap().rows_read, 0);
}

/// The lines of jobs and refusals in the order they are sent.
#[derive(Default)]
struct Order(Vec<u64>);

impl Sink for Order {
    fn rows_read(&mut self, _: u64) {}

    fn job(&mut self, _: &JobRow<'_>, at: Position, _: u32) {
        self.0.push(at.line);
    }

    fn reject(&mut self, _: Reason, at: Position, _: u64, _: &str, _: &[u8]) {
        self.0.push(at.line);
    }

    fn out_of_scope(&mut self, _: Reason, _: u64) {}
}
