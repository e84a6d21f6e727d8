//! Damage loses no row, invents no job, and stays where it is; where a file is cut into pieces does not matter.

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::sources::dialect::Dialect;
use gridtally::sources::htcondor;
use gridtally::sources::lines::LogLimits;
use proptest::prelude::*;

use super::{FORMATS, pieces, read};
use crate::support::collect::{Collected, balanced, input};

/// Six records of a format, after the text before them.
pub(super) fn sample(format: Dialect) -> Vec<u8> {
    let mut text = match format.as_str() {
        "swf" => "; Version: 2.2\n; UnixStartTime: 1700000000\n; Queue: 1 day\n".to_owned(),
        "sge" => "# Version: 8.1.9\n".to_owned(),
        "htcondor" => "[\n".to_owned(),
        _ => String::new(),
    };
    for nth in 0..6 {
        let (start, end) = (1_700_000_000 + nth * 100, 1_700_003_600 + nth * 1000);
        let record = match format.as_str() {
            "pbs" => format!(
                "11/14/2023 22:13:20;E;{nth}.b;user=u{nth} group=g jobname=a b queue=q ctime={start} etime={start} start={start} exec_host=n1/0-1+n2/3 end={end} Exit_status=0 resources_used.cput=00:10:00 resources_used.mem=10kb resources_used.walltime=01:00:00\n"
            ),
            "sge" => format!(
                "q:h:g:u:name:{nth}1:sge:0:{start}:{start}:{end}:0:0:3600:1:1:64:0:0:0:0:0:0:0:0:0:0:0:0:0:0:NONE:d:mpi:4:0:100.5:1:0:-q a,b:0:NONE:4096:0:0\n"
            ),
            "lsf" => format!(
                "\"JOB_FINISH\" \"9.1\" {end} {nth}5 10 33 1 {start} 0 0 {start} \"u\" \"q\" \"\" \"\" \"\" \"l\" \"\" \"\" \"\" \"\" \"f\" 0 2 \"h1\" \"2*h2\" 64 1.0 \"n\"\"q\" \"a\nb; \"\"c\"\"\nd\" 10.5 0.5 0 0 -1 0 0 0 0 0 0 0 -1 0 0 0 0 0 -1 \"\" \"p\" 0 3 \"\" \"\" 0 1024 2048 \"\" \"\"\n"
            ),
            "htcondor" => format!(
                "{}{{\n  \"GlobalJobId\": \"s#{nth}.0#1\",\n  \"JobStatus\": 4,\n  \"Owner\": \"a \\\"b\\\" {{\",\n  \"In\": {{ \"x\": [1, {{}}] }},\n  \"RemoteWallClockTime\": 3600.0,\n  \"RemoteUserCpu\": 5.5,\n  \"RemoteSysCpu\": 1,\n  \"JobStartDate\": {start},\n  \"EnteredCurrentStatus\": {end},\n  \"RequestCpus\": 2\n}}\n",
                if nth == 0 { "" } else { ",\n" }
            ),
            "blah" => format!(
                "\"timestamp=2023-11-14 22:1{nth}:20\" \"userDN=/DC=org/CN=A B\" \"userFQAN=/atlas/Role=x\" \"userFQAN=/atlas\" \"ceID=ce:8443/q\" \"jobID=J{nth}\" \"lrmsID={nth}.b\" \"localUser=1\"\n"
            ),
            _ => format!(
                "{nth} {} 30 3600 4 50.5 2048 8 7200 512 1 12 4 -1 1 -1 -1 -1\n",
                nth * 100
            ),
        };
        text.push_str(&record);
    }
    if format == htcondor::DIALECT {
        text.push_str("]\n");
    }
    text.into_bytes()
}

fn within(format: Dialect, text: &[u8], block: usize) -> Collected {
    let limits = LogLimits {
        block,
        record: 2000,
        kept: 100,
    };
    // Tasks of Grid Engine are steps of their job, and pieces of records are what they happen to be.
    balanced(pieces(format, input(text), limits))
}

fn rows(all: &Collected) -> Vec<JobRow<'static>> {
    all.rows().cloned().collect()
}

fn whole(format: Dialect) -> Collected {
    let all = read(format, sample(format));
    let stated: u64 = u64::try_from(all.jobs.len()).unwrap() + all.out_of_scope.values().sum::<u64>();
    assert_eq!((stated, all.rejects.len()), (6, 0), "{format:?} {:?}", all.rejects);
    all
}

#[test]
fn a_file_may_be_cut_anywhere_into_pieces() {
    for format in FORMATS {
        let text = sample(format);
        let all = whole(format);
        for block in 1..400 {
            assert_eq!(within(format, &text, block), all, "{format:?} in blocks of {block}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_invents_nothing() {
    for format in FORMATS {
        let text = sample(format);
        let all = rows(&whole(format));
        for end in 0..text.len() {
            let cut = read(format, &text[..end]);
            // What is left is what was there, in order, and at most the last record is lost.
            assert_eq!(rows(&cut), all[..cut.jobs.len()], "{format:?} cut at {end}");
            assert!(cut.rejects.len() <= 1, "{format:?} cut at {end} {:?}", cut.rejects);
        }
    }
}

#[test]
fn a_record_that_is_too_long_is_one_row() {
    for format in FORMATS {
        let text = sample(format);
        let long = match format.as_str() {
            "htcondor" => format!("{{\n\"Owner\": \"{}\"\n}}\n", "x".repeat(5000)),
            "lsf" => format!("\"JOB_FINISH\" \"9.1\" 17000 {}\n", "x".repeat(5000)),
            _ => format!("{}\n", "x".repeat(5000)),
        };
        let (before, after) = text.split_at(first_record(format, &text));
        let damaged = [before, long.as_bytes(), after].concat();
        let expected = within(format, &damaged, 1 << 20);
        assert_eq!(rows(&expected), rows(&whole(format)), "{format:?}");
        let [reject] = expected.rejects.as_slice() else {
            panic!("{format:?} {:?}", expected.rejects);
        };
        assert_eq!(reject.reason, Reason::TooLong, "{format:?}");
        assert_eq!(reject.raw.len(), 2000, "{format:?}");
        for block in [1, 7, 64, 700, 3000, 6000] {
            assert_eq!(
                within(format, &damaged, block),
                expected,
                "{format:?} in blocks of {block}"
            );
        }
    }
}

#[test]
fn lost_text_makes_no_record_of_two() {
    for format in FORMATS {
        let text = sample(format);
        let all = rows(&whole(format));
        let from = first_record(format, &text);
        for (start, end) in (from..text.len()).step_by(7).zip((from + 900..text.len()).step_by(7)) {
            let mut damaged = text.clone();
            damaged[start..end].fill(0);
            let found = read(format, damaged);
            let is_warned = found.rejects.iter().any(|reject| reject.reason == Reason::Truncated);
            assert!(is_warned, "{format:?} {start} {:?}", found.rejects);
            let left = rows(&found);
            assert!(left.iter().all(|row| all.contains(row)), "{format:?} {start}");
        }
    }
}

/// Where damage may be without changing what all records mean.
fn first_record(format: Dialect, text: &[u8]) -> usize {
    match format.as_str() {
        "swf" => text.windows(2).position(|pair| pair == b"\n0").unwrap() + 1,
        // Its first byte states which of two layouts a history has.
        "htcondor" => 1,
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_stays_where_it_is(nth in 0..FORMATS.len(), place in 0.0..1.0_f64, byte: u8, block in 1_usize..3000) {
        let format = FORMATS[nth];
        let mut text = sample(format);
        let from = first_record(format, &text);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
                 reason = "a place in a small text")]
        let at = from + ((text.len() - from) as f64 * place) as usize;
        text[at] = byte;
        let all = within(format, &text, block);
        prop_assert_eq!(&all, &within(format, &text, 1 << 20));
        // A line end may have joined or split two records; the others are as they were.
        let kept = rows(&all);
        let lost = rows(&whole(format)).into_iter().filter(|row| !kept.contains(row)).count();
        prop_assert!(lost <= 2, "{format:?} lost {lost}: {:?}", all.rejects);
    }

    #[test]
    fn any_bytes_are_accounted_for(nth in 0..FORMATS.len(), garbage in prop::collection::vec(any::<u8>(), 0..600), block in 1_usize..700) {
        let format = FORMATS[nth];
        let all = within(format, &garbage, block);
        prop_assert_eq!(&all, &within(format, &garbage, 1 << 20));
    }

    #[test]
    fn pieces_of_records_in_any_order(nth in 0..FORMATS.len(), parts in prop::collection::vec((0.0..1.0_f64, 0_usize..300), 1..12), block in 1_usize..700) {
        let format = FORMATS[nth];
        let text = sample(format);
        let mut shuffled = Vec::new();
        for (place, len) in parts {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
                     reason = "a place in a small text")]
            let at = (text.len() as f64 * place) as usize;
            shuffled.extend_from_slice(&text[at..(at + len).min(text.len())]);
        }
        let all = within(format, &shuffled, block);
        prop_assert_eq!(&all, &within(format, &shuffled, 1 << 20));
    }
}
