//! Messages that are cut off, or of which text was lost, invent nothing.

use gridtally::ledger::Reason;
use gridtally::sources::apel::acceptance::Acceptance;

use crate::apel::{HEADER, one, read, record, strict};

#[test]
fn a_cut_off_file_states_it() {
    let text = format!("{HEADER}{}{}", record("1", ""), record("2", ""));
    let cut = &text[..text.len() - 60];
    assert_eq!(read(cut, Acceptance::Salvage).reasons(), [Reason::Truncated]);
    assert_eq!(strict(cut).reasons(), [Reason::MessageRefused, Reason::Truncated]);
    // A message without the last separator, or without the line end behind it, is whole.
    assert_eq!(strict(text.trim_end().trim_end_matches('%')).jobs.len(), 2);
    assert_eq!(strict(text.trim_end()).jobs.len(), 2);
}

/// Where a page was never written, the begin of one record and the end of another are one.
#[test]
fn lost_text_makes_no_record_of_two() {
    let text = format!(
        "{HEADER}{}{}{}{HEADER}{}",
        record("1", ""),
        record("2", ""),
        record("3", ""),
        record("4", "")
    );
    let inside = |id: &str| text.find(&format!("LocalJobId: {id}")).unwrap();
    let hole = |from: usize, to: usize| format!("{}{}{}", &text[..from], "\0".repeat(to - from), &text[to..]);
    // From the start time of one to that of another, whose other values would be taken for its own.
    let within = hole(inside("1") + 50, inside("2") + 50);
    let all = read(&within, Acceptance::Salvage);
    assert_eq!(all.rows().map(|row| row.job_id).collect::<Vec<_>>(), ["3", "4"]);
    assert_eq!(all.reasons(), [Reason::Truncated]);
    assert_eq!(strict(&within).reasons(), [Reason::Truncated, Reason::MessageRefused]);
    // Across the header of the next message.
    let across = hole(inside("3") + 50, inside("4") + 50);
    assert_eq!(
        strict(across).reasons(),
        [Reason::MessageRefused, Reason::MessageRefused, Reason::Truncated]
    );
    // In a header, and in a record that nothing else is wrong with.
    let header = text.replacen("APEL-ind", "APEL-i\0d", 1);
    let all = strict(header);
    assert!(all.reasons().contains(&Reason::Truncated), "{:?}", all.reasons());
    assert_eq!(one("LocalUserId: a\0b\n").err(), Some(Reason::Truncated));
}

/// Half of a number is a number as well.
#[test]
fn a_last_value_that_may_be_a_part_of_one_is_refused() {
    let summary = "APEL-summary-job-message: v0.2\nSite: S\nMonth: 3\nYear: 2026\nVO: v\nServiceLevelType: HEPSPEC\n\
                   ServiceLevel: 10\nNodeCount: 1\nProcessors: 1\nWallDuration: 1000000\nCpuDuration: 900000\n\
                   NumberOfJobs: 1200";
    let job = format!("{HEADER}{}", record("1", ""));
    let job = job.trim_end_matches(['%', '\n']);
    for whole in [summary, job] {
        for cut in [whole, &whole[..whole.len() - 2], format!("{whole} ").as_str()] {
            for acceptance in [Acceptance::StrictApel, Acceptance::Salvage] {
                let all = read(cut, acceptance);
                assert_eq!((all.jobs.len(), all.summaries.len()), (0, 0), "{cut}");
                assert_eq!(all.reasons(), [Reason::Truncated], "{cut}");
                assert!(all.rejects[0].detail.contains("may be cut short"), "{:?}", all.rejects);
            }
        }
        for end in ["\n", "\r", "\r\n", "\n  ", "%%", "\n%%", "\n%%\n"] {
            let all = strict(format!("{whole}{end}"));
            assert_eq!(
                (all.jobs.len() + all.summaries.len(), all.rejects.len()),
                (1, 0),
                "{end:?}"
            );
        }
    }
}
