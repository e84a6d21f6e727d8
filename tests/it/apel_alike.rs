//! Records of a message are compared with the one before them: the record before must never change the values of a
//! record.

use arrow_array::RecordBatch;
use gridtally::dedupe::{Intake, IntakeRows, Window};
use gridtally::ledger::Reason;
use gridtally::record::{JobRow, UnchangedColumns};
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::{Sink, apel};
use proptest::prelude::*;

use crate::apel::strict;
use crate::support::collect::{Collected, input, intake as options, plan, run};

const LINES: [&str; 14] = [
    "Site: S",
    "SubmitHost: ce1.example.org:9619/ce-condor",
    "Queue: q",
    "LocalJobId: 17.0",
    "LocalUserId: pat",
    "FQAN: /atlas/uk/Role=production/Capability=NULL",
    "WallDuration: 3600",
    "CpuDuration: 7000",
    "Processors: 8",
    "StartTime: 1500000000",
    "EndTime: 1500003600",
    "MemoryReal: 1024",
    "ServiceLevelType: HEPSPEC",
    "ServiceLevel: 10.5",
];

/// Another value for a line, some of them none at all.
const VALUES: [&str; 16] = [
    "",
    "null",
    "None",
    "0",
    "-1",
    "+4",
    "1_0",
    "10.0",
    "q",
    "Q",
    "1500003600",
    "2147483648",
    "2017-07-14T03:40:00Z",
    "\u{e9}t\u{e9}",
    "/cms/Role=NULL;/atlas",
    "a value much longer than sixteen bytes: with a colon",
];

#[derive(Clone, Debug)]
enum Change {
    /// A line has another value.
    Value(usize, usize),
    /// A line is not there.
    Drop(usize),
    /// A line comes once more, at the end, with another value.
    Again(usize, usize),
    /// Two lines change places.
    Swap(usize, usize),
    /// A line is written otherwise.
    Style(usize, usize),
    /// A line that most records do not have.
    More(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let (line, value) = (0..LINES.len(), 0..VALUES.len());
    prop_oneof![
        6 => (line.clone(), value.clone()).prop_map(|(line, value)| Change::Value(line, value)),
        1 => line.clone().prop_map(Change::Drop),
        1 => (line.clone(), value).prop_map(|(line, value)| Change::Again(line, value)),
        1 => (line.clone(), line.clone()).prop_map(|(one, other)| Change::Swap(one, other)),
        2 => (line.clone(), 0..9_usize).prop_map(|(line, style)| Change::Style(line, style)),
        1 => (line, 0..6_usize).prop_map(|(line, more)| Change::More(line, more)),
    ]
}

fn text(changes: &[Change]) -> String {
    let mut lines: Vec<String> = LINES.iter().map(|line| (*line).to_owned()).collect();
    let key = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
    for change in changes {
        let n = lines.len();
        match *change {
            Change::Value(at, value) => lines[at % n] = format!("{}: {}", key(&lines[at % n]), VALUES[value]),
            Change::Drop(at) if n > 2 => drop(lines.remove(at % n)),
            Change::Drop(_) => {}
            Change::Again(at, value) => lines.push(format!("{}:{}", key(&lines[at % n]), VALUES[value])),
            Change::Swap(one, other) => lines.swap(one % n, other % n),
            Change::Style(at, style) => {
                let line = lines[at % n].clone();
                let (key, value) = line.split_once(':').unwrap_or((&line, ""));
                lines[at % n] = match style {
                    0 => format!("{key}:{}", value.trim()),
                    1 => format!("{key} : {value}  "),
                    2 => format!("\t {line}"),
                    3 => format!("{line}\r"),
                    4 => line.replace('e', "E"),
                    5 => key.to_owned(),
                    6 => format!("{line}\n"),
                    7 => format!("{line}%"),
                    _ => format!("{key}:\u{a0}{value}\u{2003}"),
                };
            }
            Change::More(at, more) => {
                let more = [
                    "VO: v",
                    "VORole: Role=x",
                    "NodeCount: 2",
                    "UpdateTime: x",
                    "Foo: bar",
                    "UserFQAN: /old/x",
                ][more];
                lines.insert(at % n, more.to_owned());
            }
        }
    }
    lines.join("\n")
}

/// What became of each record, in order.
fn outcomes(all: &Collected) -> Vec<Result<JobRow<'static>, (Reason, String)>> {
    let jobs = all.jobs.iter().map(|job| (job.at.byte_offset, Ok(job.row.clone())));
    let rejects =
        (all.rejects.iter()).map(|reject| (reject.at.byte_offset, Err((reject.reason, reject.detail.clone()))));
    let mut found: Vec<_> = jobs.chain(rejects).collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, outcome)| outcome).collect()
}

fn read(records: &[String], version: &str, acceptance: Acceptance) -> Collected {
    let text = format!(
        "APEL-individual-job-message: {version}\n{}\n%%\n",
        records.join("\n%%\n")
    );
    run(apel::pieces(input(text.as_bytes()), plan(apel::DIALECT.format(), acceptance)).unwrap())
}

/// The records `dedupe` makes of the jobs, with or without the reader's marks of repeated texts.
fn taken_in(all: &Collected, is_reported: bool) -> RecordBatch {
    let mut intake = Intake::new(
        options(None),
        apel::DIALECT,
        "0".into(),
        Window::default(),
        IntakeRows::default(),
    );
    for job in &all.jobs {
        let repeats = job.row.repeats.when(is_reported);
        intake.job(
            &JobRow {
                repeats,
                ..job.row.clone()
            },
            job.at,
            job.step_n,
        );
    }
    intake.harvest().unwrap().1.finish("source").unwrap().batch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_record_states_the_same_whatever_is_before_it(
        records in prop::collection::vec((prop::collection::vec(change(), 0..4), 1..4_usize), 1..8),
        is_v04 in prop::bool::weighted(0.2),
        is_strict in any::<bool>(),
    ) {
        // Some come more than once: the ones after them are read in passing.
        let records: Vec<String> = records.iter().flat_map(|(changes, n)| vec![text(changes); *n]).collect();
        let version = if is_v04 { "v0.4" } else { "v0.3" };
        let acceptance = if is_strict { Acceptance::StrictApel } else { Acceptance::Salvage };
        let all = read(&records, version, acceptance);
        prop_assert_eq!(taken_in(&all, true), taken_in(&all, false));
        let together = outcomes(&all);
        let alone: Vec<_> =
            records.iter().flat_map(|record| outcomes(&read(std::slice::from_ref(record), version, acceptance))).collect();
        if is_strict && alone.iter().any(Result::is_err) {
            prop_assert_eq!(together.len(), alone.len());
            for (together, alone) in together.iter().zip(&alone) {
                if alone.is_ok() {
                    prop_assert!(matches!(together, Err((Reason::MessageRefused, _))), "{:?}", together);
                } else {
                    prop_assert_eq!(together, alone);
                }
            }
        } else {
            prop_assert_eq!(together, alone);
        }
    }

    #[test]
    fn whole_numbers_are_what_they_are(text in "[0-9]{1,20}|[0-9]{0,9}[/:a +_-]?[0-9]{0,9}") {
        let kb = text.trim().replace('_', "");
        let is_sound = !text.contains("__") && !text.trim().starts_with('_') && !text.trim().ends_with('_')
            && !text.contains("+_") && !text.contains("-_");
        let kb = kb.parse::<i32>().ok().filter(|_| is_sound);
        let record = LINES.map(|line| if line.starts_with("MemoryReal") { format!("MemoryReal: {text}") } else { line.to_owned() });
        let all = strict(format!("APEL-individual-job-message: v0.3\n{}\n%%\n", record.join("\n")));
        let found = all.jobs.first().map(|job| job.row.max_rss_byte);
        let expected = match (text.trim().is_empty(), kb) {
            (true, _) => Some(None),
            (_, Some(kb)) => Some((kb >= 0).then_some(i64::from(kb) * 1024)),
            (_, None) => None,
        };
        prop_assert_eq!(found, expected, "{:?}", text);
    }
}

#[test]
fn texts_that_did_not_change_are_stated_to_be_repeated() {
    let records = [text(&[]), text(&[Change::Value(1, 8)]), text(&[Change::Value(4, 8)])];
    let jobs = read(&records, "v0.3", Acceptance::StrictApel).jobs;
    let stated = jobs.iter().map(|job| {
        let of = |texts| job.row.repeats.has(texts);
        [
            UnchangedColumns::SUBMIT_HOST,
            UnchangedColumns::USER,
            UnchangedColumns::VO.and(UnchangedColumns::BENCHMARK),
        ]
        .map(of)
    });
    assert_eq!(
        stated.collect::<Vec<_>>(),
        [[false, false, false], [false, true, true], [false, false, true]]
    );
}

#[test]
fn an_end_of_ten_characters_is_its_digits_in_the_key() {
    let key = |end: &str| {
        let record = LINES.map(|line| {
            if line.starts_with("EndTime") {
                format!("EndTime: {end}")
            } else {
                line.to_owned()
            }
        });
        let all = strict(format!(
            "APEL-individual-job-message: v0.3\n{}\n%%\n",
            record.join("\n")
        ));
        all.jobs[0].row.identity_key.map(str::to_owned)
    };
    for end in [
        "1500003600",
        "+1500003600",
        "15_0000_3600",
        "01500003600",
        "2017-07-14T03:40:00Z",
    ] {
        assert_eq!(key(end).as_deref(), Some("17.0|1500003600"), "{end}");
    }
}
