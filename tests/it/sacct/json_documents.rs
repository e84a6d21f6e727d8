//! Documents of `sacct --json` that are cut off, follow one another, or state what is missing.

use gridtally::ledger::Reason;

use super::json::{document, in_blocks, small};
use super::read;

#[test]
fn a_file_that_was_cut_off_keeps_the_sound_jobs() {
    let jobs: Vec<String> = (1..=3).map(|id| small(id, "")).collect();
    let whole = document(&jobs);
    let second = whole.find("\"j2\"").unwrap();
    let found = read(&whole[..second]);
    assert_eq!(found.jobs.len(), 1);
    let [reject] = &found.rejects[..] else {
        panic!("{found:#?}")
    };
    assert_eq!((reject.reason, reject.rows, reject.at.line), (Reason::Truncated, 1, 9));
    assert!(reject.raw.starts_with(b"{\n      \"job_id\": 2") && reject.raw.ends_with(b"\"name\": "));
    // Between two jobs: no intact row is lost, and possibly missing rows are reported.
    let found = read(&whole[..=whole.find("},\n    {").unwrap()]);
    assert_eq!((found.jobs.len(), found.rejects.len()), (1, 1));
    assert!(found.rejects.first().unwrap().detail.contains("some may be missing"));
    // Behind the list nothing is lost.
    let found = read(&whole[..whole.find("\"meta\"").unwrap() + 10]);
    assert_eq!((found.jobs.len(), found.rejects.len()), (3, 0));
}

#[test]
fn a_job_with_lost_text_is_truncated() {
    let whole = document(&(1..=3).map(|id| small(id, "")).collect::<Vec<_>>());
    let second = whole.find("\"j2\"").unwrap() + 1;
    let found = read(format!("{}\0\0{}", &whole[..second], &whole[second + 2..]));
    let reasons: Vec<_> = found
        .rejects
        .iter()
        .map(|reject| (reject.reason, reject.rows))
        .collect();
    assert_eq!((found.jobs.len(), reasons), (2, vec![(Reason::Truncated, 1)]));
}

/// What the tool could not print is not there: its own words say so.
#[test]
fn errors_that_the_tool_reports_are_refused_rows() {
    let error =
        "\"errors\":[{\"description\":\"Query result exceeds size limit\",\"error_number\":2003},{\"source\":\"x\"}]";
    let job = |id: u32| small(id, "");
    for text in [
        document(&[job(1), job(2)]).replace("\"errors\": []", error),
        format!(
            "{{{error}, \"meta\": {{\"errors\": [{{}}]}}, \"jobs\": [{}]}}",
            [job(1), job(2)].join(",")
        ),
    ] {
        let found = read(&text);
        assert_eq!(
            (found.jobs.len(), found.rows_read, found.outcomes()),
            (2, 4, 4),
            "{text}"
        );
        let details: Vec<&str> = found.rejects.iter().map(|reject| reject.detail.as_str()).collect();
        assert_eq!(found.reasons(), [Reason::Truncated; 2], "{text}");
        assert!(
            details[0].ends_with("jobs may be missing: Query result exceeds size limit"),
            "{details:?}"
        );
        assert!(details[1].ends_with("{\"source\":\"x\"}"), "{details:?}");
    }
}

#[test]
fn what_is_not_a_job_loses_no_job_on_one_line() {
    let job = |id: u32| {
        format!(
            "{{\"job_id\":{id},\"state\":{{\"current\":\"COMPLETED\"}},\"time\":{{\"start\":1,\"end\":9,\"elapsed\":8}}}}"
        )
    };
    let text = format!("{{\"jobs\":[{},null,{},-1.5e3,{},true]}}", job(1), job(2), job(3));
    for block in [1, 7, 1 << 20] {
        let found = in_blocks(text.as_bytes(), block);
        let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
        assert_eq!(ids, ["1", "2", "3"], "{block}: {:#?}", found.rejects);
        assert_eq!(found.reasons(), [Reason::BadJson; 3], "{block}");
        assert_eq!(found.rows_read, 6);
    }
}

#[test]
fn text_behind_a_document_is_refused() {
    let whole = document(&[small(1, "")]);
    for (behind, reason) in [
        ("{\"jo", Reason::Truncated),
        ("{\"meta\": {}", Reason::Truncated),
        ("trailing", Reason::BadJson),
    ] {
        for block in [1, 50, 1 << 20] {
            let found = in_blocks(format!("{whole}{behind}").as_bytes(), block);
            assert_eq!(found.jobs.len(), 1, "{behind}");
            assert_eq!(found.reasons(), [reason], "{behind}");
        }
    }
}

#[test]
fn documents_may_follow_one_another_and_are_on_one_line() {
    let pretty = document(&[small(1, ""), small(2, "")]);
    let compact = "{\"meta\":{\"jobs\":[1]},\"jobs\":[{\"job_id\":3,\"state\":{\"current\":\"COMPLETED\"},\"time\":{\"start\":1,\"end\":9,\"elapsed\":8}}],\"errors\":[]}";
    let found = read(format!("\u{feff}{pretty}{compact}{{\"jobs\":[]}}\n{pretty}"));
    let ids: Vec<_> = found.jobs.iter().map(|job| job.row.job_id).collect();
    assert_eq!(ids, ["1", "2", "3", "1", "2"], "{:#?}", found.rejects);
    assert_eq!((found.rows_read, found.rejects.len()), (5, 0));
    assert_eq!(
        found.jobs.first().unwrap().at.byte_offset,
        3 + pretty.find("{\n      \"job_id\"").unwrap() as u64
    );
}
