//! Sums of usage and money are exact, or an error that names them.

use std::collections::BTreeMap;

use gridtally::amounts::{add, add_known, finer, product, total};
use gridtally::error::{Error, Kind};
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::aggregate::{Aggregate, rows};
use gridtally::report::apel::jobs::LeftOutCounts;
use gridtally::report::apel::sums::ApelSums;
use gridtally::report::apel::sync_counts::{HostMonth, counts};
use gridtally::report::federation::sums_by;
use gridtally::report::lake::Selection;
use gridtally::report::publication::ledger::PublicationState;
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::publication::super_summaries::SuperSummaries;
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::render::{TableFormat, render};
use gridtally::report::table::{Cell, ColumnKind, Table};
use gridtally::report::work_scale::WorkScale;
use gridtally::time::Month;

fn assert_names(error: &Error, what: &str) {
    assert_eq!(error.kind(), Kind::Data);
    let text = error.to_string();
    assert!(text.contains("too large for an exact sum"), "{text}");
    assert!(text.contains(what), "{text}");
}

#[test]
fn a_sum_past_the_end_of_its_type_is_an_error_and_leaves_the_sum_as_it_was() {
    let mut wall_s = i64::MAX - 1;
    add(&mut wall_s, 1, "wall_s").unwrap();
    assert_eq!(wall_s, i64::MAX);
    assert_names(&add(&mut wall_s, 1, "wall_s").unwrap_err(), "wall_s");
    assert_eq!(wall_s, i64::MAX);
    let (mut job_n, mut row_n) = (i64::MIN, u64::MAX);
    assert_names(&add(&mut job_n, -1, "job_n").unwrap_err(), "job_n");
    assert_names(&add(&mut row_n, 1, "row_n").unwrap_err(), "row_n");
    assert_names(&total([i64::MAX, -1, 2], "job_n").unwrap_err(), "job_n");
    assert_eq!(total([i64::MAX, -2, 1], "job_n").unwrap(), i64::MAX - 1);
}

#[test]
fn a_sum_of_128_bits_keeps_room_for_finer_units() {
    let largest = (1_i128 << 117) - 1;
    for sign in [1, -1] {
        let mut charge = sign * (largest - 1);
        add(&mut charge, sign, "charge").unwrap();
        assert_eq!(finer(charge, 1000), sign * largest * 1000);
        assert_names(&add(&mut charge, sign, "charge").unwrap_err(), "charge");
    }
    assert_eq!(product(1 << 60, 1 << 56, "work").unwrap(), 1 << 116);
    assert_names(&product(1 << 60, 1 << 57, "work").unwrap_err(), "work");
    assert_names(&product(i128::MAX, -2, "work").unwrap_err(), "work");
}

#[test]
fn what_is_unknown_adds_nothing_and_stays_unknown_alone() {
    let mut cpu_ms: Option<i64> = None;
    add_known(&mut cpu_ms, None, "cpu_ms").unwrap();
    assert_eq!(cpu_ms, None);
    add_known(&mut cpu_ms, Some(i64::MAX), "cpu_ms").unwrap();
    add_known(&mut cpu_ms, None, "cpu_ms").unwrap();
    assert_eq!(cpu_ms, Some(i64::MAX));
    assert_names(&add_known(&mut cpu_ms, Some(1), "cpu_ms").unwrap_err(), "cpu_ms");
}

#[test]
fn a_total_that_is_too_large_is_an_error_in_every_form_that_shows_totals() {
    let mut table = Table::new("Charges", &[("charge", "EUR", ColumnKind::DecimalSum(9))]);
    let value = 1 << 116;
    table.push(vec![Cell::Decimal { value, scale: 9 }]);
    table.push(vec![Cell::Decimal { value, scale: 9 }]);
    for format in [TableFormat::Table, TableFormat::Markdown, TableFormat::Html] {
        assert_names(&render(&table, format).unwrap_err(), "charge");
    }
    // Rows as such are exact.
    let csv = String::from_utf8(render(&table, TableFormat::Csv).unwrap()).unwrap();
    assert_eq!(csv.lines().count(), 3);
}

fn group(sums: ApelSums, core_n: i64) -> Aggregate {
    let word = |word: &str| Some(word.to_owned());
    Aggregate {
        site: "REEF".to_owned(),
        month: Month::new(2026, 3).unwrap(),
        words: [None, word("kelp"), None, None, word("ce1"), word("grid")],
        node_n: 1,
        core_n,
        stated_core_s: None,
        levels_e3: [Some(10_000), None, None],
        works: [None; 4],
        sums,
    }
}

#[test]
fn months_of_apel_that_are_too_large_are_errors() {
    let most = ApelSums {
        job_n: i64::MAX,
        wall_s: i64::MAX,
        ..ApelSums::default()
    };
    let one = ApelSums {
        job_n: 1,
        ..ApelSums::default()
    };
    let of = |sums| [group(most, 1), group(sums, 1)];
    let mut left_out = LeftOutCounts::new();
    let merged = rows(&of(one), MessageKind::SummaryV02, None, &mut left_out);
    assert_names(&merged.unwrap_err(), "job_n");
    let longer = ApelSums {
        wall_s: 1,
        ..ApelSums::default()
    };
    let merged = rows(&of(longer), MessageKind::SummaryV02, None, &mut left_out);
    assert_names(&merged.unwrap_err(), "wall_s");
    assert!(left_out.is_empty());
    let more: BTreeMap<HostMonth, i64> = BTreeMap::new();
    assert_eq!(counts(&of(ApelSums::default()), &more).unwrap().len(), 1);
    assert_names(&counts(&of(one), &more).unwrap_err(), "job_n");
    let wide = [group(most, i64::MAX)];
    assert_names(&sums_by(&wide, WorkScale::Hs23, |_| ()).unwrap_err(), "core_wall_ms");
}

fn summary(wall_s: i64, level: &str) -> String {
    format!(
        "APEL-summary-job-message: v0.2\nSite: REEF\nMonth: 3\nYear: 2026\nVO: kelp\nSubmitHost: ce1\nInfrastructure: grid\n\
         ServiceLevelType: hepspec\nServiceLevel: {level}\nNodeCount: 1\nProcessors: 8\nWallDuration: {wall_s}\n\
         CpuDuration: 1\nNumberOfJobs: 1\n%%\n"
    )
}

#[test]
fn messages_whose_work_is_too_large_cannot_be_compared() {
    let read = |text: &str| MessageRecord::read(text).unwrap();
    let side = |text: &str| UsageSource::of_messages(&read(text), &Selection::default(), WorkScale::Hs23);
    assert_eq!(side(&summary(i64::MAX, "10.5")).unwrap().cells.len(), 1);
    // 63 bits of seconds, ten for milliseconds, and more than 44 of the benchmark.
    let vast = format!("{}.000", 1_i64 << 40);
    assert_names(&side(&summary(i64::MAX, &vast)).unwrap_err(), "wall work");
    // Each record by itself fits; all of them do not.
    let large = format!("{}.000", 1_i64 << 25);
    side(&summary(i64::MAX, &large)).unwrap();
    let hosts = (0..64).map(|n| summary(i64::MAX, &large).replace("ce1", &format!("ce{n}")));
    assert_names(&side(&hosts.collect::<String>()).unwrap_err(), "wall work");
}

#[test]
fn rows_a_server_makes_of_jobs_are_not_followed_past_the_end_of_their_sums() {
    let job = |id: &str, wall_s: i64| {
        format!(
            "Site: REEF\nSubmitHost: ce1\nLocalJobId: {id}\nVO: kelp\nServiceLevelType: hepspec\nServiceLevel: 10.5\n\
             WallDuration: {wall_s}\nCpuDuration: 1\nNodeCount: 1\nProcessors: 1\nStartTime: 1772000000\nEndTime: 1772600000"
        )
    };
    let mut made = SuperSummaries::default();
    made.see(PublicationState::Sent, &job("1", i64::MAX)).unwrap();
    assert_names(
        &made.see(PublicationState::Sent, &job("2", 1)).unwrap_err(),
        "WallDuration",
    );
    // A job that takes the place of the same one takes its time out first.
    let mut made = SuperSummaries::default();
    made.see(PublicationState::Sent, &job("1", i64::MAX)).unwrap();
    made.see(PublicationState::Sent, &job("1", i64::MAX)).unwrap();
}
