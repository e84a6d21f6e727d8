//! Truncation and garbage at every level: each row ends in one place, and what is sound is kept.

use gridtally::ledger::Reason;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::gracc::{self, GraccLimits};
use proptest::prelude::*;

use super::read;
use crate::support::collect::{Collected, Job, input, plan, run};

fn hit(n: u32) -> String {
    format!(
        r#"{{"_index":"gracc.osg.raw2-2016.06","_id":"{n}","_source":{{"type":"JobUsageRecord","SiteName":"S","ProbeName":"p","LocalJobId":"{n}","StartTime":"2020-01-01T00:00:00Z","EndTime":"2020-01-01T01:00:00Z","WallDuration":3600,"CpuDuration":1800,"Processors":1,"RawXML":"<a b=\"c\">\n]}}"}}}}"#
    )
}

fn response(n: u32) -> String {
    let hits: Vec<String> = (0..n).map(hit).collect();
    format!(
        "{{\"took\":3,\"_shards\":{{\"failed\":0}},\"hits\":{{\"total\":{n},\"hits\":[{}]}}}}",
        hits.join(",")
    )
}

fn xml(n: u32) -> String {
    format!(
        "<JobUsageRecord xmlns=\"http://www.gridforum.org/2003/ur-wg\"><JobIdentity><LocalJobId>{n}</LocalJobId></JobIdentity>\
         <WallDuration>PT1H</WallDuration><CpuDuration>PT30M</CpuDuration><Processors>1</Processors>\
         <StartTime>2020-01-01T00:00:00Z</StartTime><EndTime>2020-01-01T01:00:00Z</EndTime></JobUsageRecord>"
    )
}

fn envelope(n: u32) -> String {
    let records: Vec<String> = (0..n).map(xml).collect();
    format!("<RecordEnvelope>\n{}\n</RecordEnvelope>\n", records.join("\n"))
}

fn ids(all: &Collected) -> Vec<&'static str> {
    all.rows().map(|row| row.job_id).collect()
}

#[test]
fn records_are_numbered_where_lines_mean_nothing() {
    for text in [response(3), envelope(3).replace('\n', "")] {
        let all = read(text.as_bytes());
        let lines: Vec<u64> = all.jobs.iter().map(|Job { at, .. }| at.line).collect();
        assert_eq!(lines, [1, 2, 3]);
        let at = usize::try_from(all.jobs[2].at.byte_offset).unwrap();
        assert!(text[at..].starts_with(&hit(2)) || text[at..].starts_with(&xml(2)));
    }
}

#[test]
fn a_response_that_was_cut_off_states_it() {
    let whole = response(3);
    let inside = whole.find("\"_id\":\"2\"").unwrap() + 50;
    let all = read(&whole.as_bytes()[..inside]);
    assert_eq!((ids(&all), all.reasons()), (vec!["0", "1"], vec![Reason::Truncated]));
    // Also when it was cut off between two documents, where nothing looks broken.
    let between = whole.find(&format!(",{}", hit(2))).unwrap();
    let all = read(&whole.as_bytes()[..between]);
    assert_eq!((ids(&all), all.reasons()), (vec!["0", "1"], vec![Reason::Truncated]));
}

#[test]
fn a_damaged_document_does_not_take_the_others_along() {
    // A lost bracket, a lost quote, a quote too many: brackets no longer match up to the end of the file.
    let whole = response(4);
    for (wrong, right) in [
        ("\"Processors\":1,\"RawXML\"", "\"Processors\":1,RawXML\""),
        ("\"SiteName\":\"S\"", "\"SiteName\":S\""),
        ("\"_source\":{", "\"_source\":{{"),
        ("\"_source\":{", "\"_source\":"),
    ] {
        let second = whole.find("\"_id\":\"1\"").unwrap();
        let (head, tail) = whole.split_at(second);
        let text = format!("{head}{}", tail.replacen(wrong, right, 1));
        let all = read(text.as_bytes());
        assert_eq!(ids(&all), ["0", "2", "3"], "{right}: {:?}", all.rejects);
        assert!(all.reasons().contains(&Reason::BadJson), "{right}");
    }
    // A response whose wrapping is damaged.
    let text = whole.replace("\"total\":4,", "\"total\":4;");
    let all = read(text.as_bytes());
    assert_eq!(
        (ids(&all), all.reasons()),
        (vec!["0", "1", "2", "3"], vec![Reason::BadJson])
    );
}

#[test]
fn damaged_xml_costs_the_record_it_is_in() {
    for (wrong, right) in [
        ("</LocalJobId>", "<LocalJobId>"),
        ("</JobUsageRecord>", ""),
        ("</JobUsageRecord>", "</JobUsageRecorX>"),
        ("PT1H", "-PT1H"),
        ("PT1H", "an hour"),
        ("PT30M", "PT30X"),
        ("2020-01-01T00:00:00Z", "yesterday"),
        ("xmlns=\"", "xmlns=\"<"),
        ("<Processors>1", "<Processors>one"),
    ] {
        let whole = envelope(3);
        let second = whole.find(&xml(1)).unwrap();
        let (head, tail) = whole.split_at(second);
        let text = format!("{head}{}", tail.replacen(wrong, right, 1));
        let all = read(text.as_bytes());
        assert_eq!(ids(&all), ["0", "2"], "{right}: {:?}", all.rejects);
        assert_eq!(all.rows_read, 3, "{right}: {:?}", all.rejects);
    }
    let whole = envelope(3);
    let all = read(&whole.as_bytes()[..whole.rfind("PT30M").unwrap()]);
    assert_eq!((ids(&all), all.reasons()), (vec!["0", "1"], vec![Reason::Truncated]));
    let text = whole.replacen(
        "</JobUsageRecord>\n",
        "</JobUsageRecord>\ngarbage\n<!-- <JobUsageRecord> -->",
        1,
    );
    let all = read(text.as_bytes());
    assert_eq!(
        (ids(&all), all.reasons()),
        (vec!["0", "1", "2"], vec![Reason::NotARecord])
    );
}

#[test]
fn records_with_lost_text_are_truncated() {
    let lines: String = (0..3).map(|n| hit(n) + "\n").collect();
    for (whole, within) in [
        (lines, "\"p\""),
        (response(3), "\"p\""),
        (envelope(3), "2020-01-01T00:00:00Z"),
    ] {
        for lost in ["\0", &"\0".repeat(within.len())] {
            let second = whole.match_indices(within).nth(1).unwrap().0 + 1;
            let text = format!("{}{lost}{}", &whole[..second], &whole[second + lost.len()..]);
            let all = read(text.as_bytes());
            assert_eq!(all.reasons(), [Reason::Truncated], "{text:?}");
            assert_eq!(ids(&all), ["0", "2"], "{text:?}");
        }
    }
    // A name may hold anything but that.
    let text = envelope(1).replacen(">0<", ">a\0b<", 1);
    assert_eq!(read(text.as_bytes()).reasons(), [Reason::Truncated]);
}

#[test]
fn what_holds_records_must_have_an_end() {
    let (records, bundle) = ([xml(0), xml(1)].concat(), format!("replication|{0}|{0}||", xml(0)));
    for text in [
        format!("<?xml version=\"1.0\"?><RecordEnvelope>{records}"),
        format!("<RecordEnvelope>{records}\n</RecordEnv"),
        format!("<RecordEnvelope>{records}\n<"),
        format!("<RecordEnvelope>{records}<JobUsageRecord xmlns"),
        format!("<RecordEnvelope>{records}<!-- </RecordEnvelope>"),
        format!("<a><RecordEnvelope></RecordEnvelope><RecordEnvelope>{records}</a>"),
        format!("{bundle}replication|{}", xml(1)),
        format!("{bundle}replication|{}|", xml(1)),
        format!("{bundle}replication|{0}|{0}|extra", xml(1)),
        format!("{bundle}replication|{}|{}", xml(1), &xml(1)[..90]),
    ] {
        let all = read(text.as_bytes());
        assert_eq!(ids(&all), ["0", "1"], "{text}: {:?}", all.rejects);
        assert_eq!(all.reasons(), [Reason::Truncated], "{text}: {:?}", all.rejects);
    }
    let all = read(format!("{bundle}replication|").as_bytes());
    assert_eq!((ids(&all), all.reasons()), (vec!["0"], vec![Reason::Truncated]));
    for whole in [
        format!("<RecordEnvelope/>{records}"),
        format!("<RecordEnvelope>{records}</RecordEnvelope>\n"),
        format!(
            "<RecordEnvelope>{}</RecordEnvelope><RecordEnvelope>{}</RecordEnvelope>",
            xml(0),
            xml(1)
        ),
        format!("{bundle}replication|{0}|||\n", xml(1)),
    ] {
        let all = read(whole.as_bytes());
        assert_eq!((ids(&all), all.rejects.len()), (vec!["0", "1"], 0), "{whole}");
    }
}

#[test]
fn a_bundle_counts_a_record_once_whatever_is_in_addition_to_it() {
    let (a, b) = (xml(1), xml(2));
    let quoted = xml(3).replace("<Processors>", "<JobName a=\"|x|\">a \"|\" b</JobName><Processors>");
    let text = format!(
        "replication|{a}|{a}|extra \"|replication|{b}|||replication|{quoted}|{quoted}||replication|{}",
        &b[..90]
    );
    let all = read(text.as_bytes());
    assert_eq!(
        (ids(&all), all.reasons()),
        (vec!["1", "2", "3"], vec![Reason::Truncated])
    );
}

#[test]
fn what_is_too_long_is_refused_and_passed_over() {
    let limits = GraccLimits {
        block: 100,
        line: 2000,
        kept: 50,
    };
    let long = "x".repeat(600_000);
    let fat = hit(1).replace("\"SiteName\":\"S\"", &format!("\"SiteName\":\"{long}\""));
    let hits = format!("{{\"took\":1,\"hits\":{{\"hits\":[{},{fat},{}]}}}}", hit(0), hit(2));
    let fat = xml(1).replace("<Processors>", &format!("<JobName>{long}</JobName><Processors>"));
    let records = format!("<RecordEnvelope>{}{fat}{}</RecordEnvelope>", xml(0), xml(2));
    for text in [hits, records] {
        let all = run(gracc::pieces_within(
            input(text.as_bytes()),
            &plan(gracc::DIALECT.format(), Acceptance::StrictApel),
            limits,
        )
        .unwrap());
        assert_eq!((ids(&all), all.reasons()), (vec!["0", "2"], vec![Reason::TooLong]));
        assert!(all.rejects[0].raw.len() <= 50);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any flips and any cut: no panic, no row without an outcome (`run` counts them), no dependence on block sizes.
    #[test]
    fn any_damage_is_accounted_for(
        which in 0_usize..4,
        n in 1_u32..5,
        flips in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            any::<u8>(),
            prop::sample::select(&b"{}[]\",:\\<>/|!&;' \n"[..]),
        ]), 0..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
        block in 1_usize..3000,
    ) {
        let mut bytes = match which {
            0 => response(n),
            1 => envelope(n),
            2 => {
                let entries: Vec<String> = (0..n).map(|n| format!("replication|{0}|{0}||", xml(n))).collect();
                entries.concat()
            }
            _ => format!("[{}]", (0..n).map(hit).collect::<Vec<_>>().join("\n,")),
        }
        .into_bytes();
        // The first bytes decide what the file is taken for.
        let start = 60;
        for (at, byte) in flips {
            let at = start + at.index(bytes.len() - start);
            bytes[at] = byte;
        }
        if is_cut {
            let at = start + cut.index(bytes.len() - start);
            bytes.truncate(at);
        }
        let read = |block| {
            let limits = GraccLimits { block, line: 4000, kept: 100 };
            run(gracc::pieces_within(input(&bytes), &plan(gracc::DIALECT.format(), Acceptance::StrictApel), limits).unwrap())
        };
        prop_assert_eq!(read(block), read(1 << 20));
    }
}
