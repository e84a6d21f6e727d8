//! Headers, delimiters and the types of columns.

use gridtally::error::Kind;
use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::sacct;

use super::{Collected, only, plan, read, read_in, try_read};

/// One finished job: `columns` and the indispensable ones.
fn with(columns: &str, values: &str) -> String {
    format!("JobIDRaw|State|Start|End|ElapsedRaw|{columns}\n7|COMPLETED|1000|1100|100|{values}\n")
}

#[test]
fn every_column_lands_in_its_place() {
    let job = only(
        "Cluster|JobIDRaw|JobID|JobName|Partition|QOS|Account|Group|GID|User|UID|Submit|Eligible|Start|End|ElapsedRaw|\
         Suspended|ExitCode|State|NNodes|NCPUS|ReqMem|AllocTRES|TimelimitRaw|NodeList|TotalCPU|UserCPU|SystemCPU|MaxRSS\n\
         zoo|9695|9690_5| a 'name' |gpu|high|atlas|hep|500|ada|1001|2026-10-01T00:00:00|2026-10-01T00:00:01|\
         2026-10-01T00:01:00|2026-10-01T02:01:06|7200|00:00:06|1:9|FAILED|2|8|6G|\
         billing=35,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=12.50G,node=2|150|n[1-2]|01:00:01|59:30.250|00:30.750|\n",
    );
    let row = &job.row;
    assert_eq!(
        (row.view, row.cluster, row.job_id, row.raw_job_id),
        ("batch", Some("zoo"), "9690_5", Some("9695"))
    );
    assert_eq!(
        (row.job_name, row.partition, row.qos),
        (Some(" a 'name' "), Some("gpu"), Some("high"))
    );
    assert_eq!(
        (row.account, row.user, row.user_group),
        (Some("atlas"), Some("ada"), Some("hep"))
    );
    assert_eq!(
        (row.submit_ms, row.eligible_ms),
        (Some(1_790_812_800_000), Some(1_790_812_801_000))
    );
    assert_eq!(
        (row.start_ms, row.end_ms),
        (Some(1_790_812_860_000), Some(1_790_820_066_000))
    );
    assert_eq!((row.wall_ms, row.suspended_s), (Some(7_200_000), Some(6)));
    assert_eq!(
        (row.cpu_ms, row.cpu_user_ms, row.cpu_system_ms),
        (Some(3_601_000), Some(3_570_250), Some(30_750))
    );
    assert_eq!(
        (row.alloc_core_n, row.alloc_node_n, row.alloc_gpu_n),
        (Some(8), Some(2), Some(2))
    );
    assert_eq!(row.gpus, &[("a100", 2)]);
    assert_eq!((row.alloc_billing_n, row.alloc_memory_byte), (Some(35), Some(25 << 29)));
    assert_eq!((row.requested_memory_byte, row.max_rss_byte), (Some(6 << 30), None));
    assert_eq!((row.time_limit_s, row.node_list), (Some(9000), Some("n[1-2]")));
    assert_eq!(
        (row.state, row.exit_code, row.exit_signal),
        (Some("FAILED"), Some(1), Some(9))
    );
    assert_eq!((row.anomalies, job.at.line, job.step_n), (0, 2, 0));
}

#[test]
fn a_row_states_nothing_about_the_rows_before_it() {
    let header = "Cluster|JobIDRaw|JobID|JobName|Partition|QOS|Account|Group|User|Reservation|Submit|Eligible|Start|End|\
                  ElapsedRaw|Suspended|ExitCode|State|NNodes|NCPUS|ReqMem|AllocTRES|TimelimitRaw|NodeList|TotalCPU|\
                  UserCPU|SystemCPU|MaxRSS|MaxVMSize";
    let full = "zoo|9695|9690_5|name|gpu|high|atlas|hep|ada|kept|1790812800|1790812801|1790812860|1790820066|7200|00:00:06|\
                1:9|FAILED|2|8|6G|billing=35,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=12.50G,node=2|150|n[1-2]|01:00:01|\
                59:30.250|00:30.750|100K|200K";
    let full: Vec<&[u8]> = full.split('|').map(str::as_bytes).collect();
    let mut rows = Vec::new();
    for column in 0..full.len() {
        for text in [full[column], b"sm\xf8rbr\xf8d", b"", b"00:00:00"] {
            let mut row = full.clone();
            row[column] = text;
            rows.push(row.join(&b'|'));
        }
    }
    let dump = |rows: &[Vec<u8>]| [header.as_bytes(), &rows.join(&b'\n'), b""].join(&b'\n');
    let together = read(dump(&rows));
    let alone: Vec<_> = rows.chunks(1).map(|row| read(dump(row))).collect();
    assert!(alone.iter().flat_map(|found| &found.jobs).count() > rows.len() / 2);
    assert!(together.rows().eq(alone.iter().flat_map(Collected::rows)));
    assert_eq!(
        together.reasons(),
        alone.iter().flat_map(Collected::reasons).collect::<Vec<_>>()
    );
}

#[test]
fn any_delimiter_trailing_or_not_is_found() {
    for delimiter in ["|", "^|^", ";|;", "\u{1f}", "\t", ",", "|||", "~"] {
        for is_trailing in [false, true] {
            for end in ["\n", "\r\n"] {
                let rows = [
                    "JobID|JobName|State|ElapsedRaw|End|Account",
                    "12|first^name|COMPLETED|60|1060|atlas",
                    "12.batch|batch|COMPLETED|60|1060|",
                    "13||CANCELLED by 0|0|1070|",
                ];
                let dump: String = rows
                    .iter()
                    .map(|row| row.replace('|', delimiter) + if is_trailing { delimiter } else { "" } + end)
                    .collect();
                for bom in ["", "\u{feff}"] {
                    let found = read(format!("{bom}{dump}"));
                    assert!(
                        found.rejects.is_empty(),
                        "{delimiter:?} {is_trailing} {end:?}: {:#?}",
                        found.rejects
                    );
                    assert_eq!(found.rows_read, 3);
                    let [first, second] = &found.jobs[..] else {
                        panic!("{found:#?}")
                    };
                    assert_eq!((first.row.job_id, first.row.job_name), ("12", Some("first^name")));
                    assert_eq!((first.row.account, first.step_n), (Some("atlas"), 1));
                    assert_eq!((second.row.account, second.row.state), (None, Some("CANCELLED")));
                    assert_eq!(
                        usize::try_from(first.at.byte_offset).unwrap(),
                        bom.len() + dump.find("12").unwrap()
                    );
                }
                assert!(sacct::recognise(dump.as_bytes()));
            }
        }
    }
}

#[test]
fn a_declared_delimiter_wins() {
    let mut source = plan(Some("UTC"));
    source.sacct.delimiter = Some("xx".to_owned());
    let found = try_read(b"JobIDxxStatexxEndxxElapsedRaw\n1xxCOMPLETEDxx100xx5\n", source).unwrap();
    assert_eq!(found.jobs.len(), 1);
}

#[test]
fn names_are_taken_in_any_case_order_and_release() {
    let job = only("end|PLANNED|elapsedraw|STATE|Reserved|jobid|SomethingNew\n90|00:00:01|30|TIMEOUT||4|x y\n");
    assert_eq!(
        (job.row.job_id, job.row.start_ms, job.row.end_ms),
        ("4", Some(60_000), Some(90_000))
    );
}

#[test]
fn what_cannot_be_accounted_is_reported_at_once() {
    for (dump, words) in [
        ("User|State|Elapsed\nada|FAILED|00:00:01\n", "JobID or JobIDRaw"),
        ("JobID|User|Elapsed\n1|ada|00:00:01\n", "State or End"),
        (
            "JobID|State|Start\n1|FAILED|5\n",
            "ElapsedRaw, Elapsed, or both Start and End",
        ),
        (
            "JobID           JobName  State\n------------ ---------- ----------\n1 a COMPLETED\n",
            "fixed-width",
        ),
        ("1|COMPLETED|100|5\n", "name its columns"),
    ] {
        let error = try_read(dump.as_bytes(), plan(Some("UTC"))).unwrap_err();
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(sacct::recognise(b"JobID           JobName  State\n------------"));
    assert!(!sacct::recognise(b"site: X\ncpu: 12\n%%\n"));
    assert!(!sacct::recognise(b"{\"JobID\": 1}"));
    assert!(!sacct::recognise(b"User,Account\n"));
    assert_eq!(read("").rows_read, 0);
    assert_eq!(read("JobID|State|Elapsed\n").rows_read, 0);
}

#[test]
fn local_times_need_a_zone() {
    let dump = "JobID|State|Start|End\n1|COMPLETED|2026-07-01T12:00:00|2026-07-01T12:00:09\n";
    let error = try_read(dump.as_bytes(), plan(None)).unwrap_err();
    assert_eq!(error.kind(), Kind::Config);
    assert!(error.to_string().contains("`timezone`"), "{error}");
    let found = read_in(dump, "Europe/Zurich");
    assert_eq!(found.jobs.first().unwrap().row.start_ms, Some(1_782_900_000_000));
    assert_eq!(found.jobs.first().unwrap().row.wall_ms, Some(9000));
    for same in [
        "1782900000",
        "2026-07-01T12:00:00+0200",
        "2026-07-01T12:00:00+02:00",
        "2026-07-01T10:00:00Z",
    ] {
        let dump = format!("JobID|State|Start|End\n1|COMPLETED|{same}|{same}\n");
        let found = try_read(dump.as_bytes(), plan(None)).unwrap();
        assert_eq!(
            found.jobs.first().unwrap().row.start_ms,
            Some(1_782_900_000_000),
            "{same}"
        );
    }
}

#[test]
fn relative_and_impossible_times_are_refused_with_a_reason() {
    for (value, words) in [
        ("Ystday 12:00", "SLURM_TIME_FORMAT"),
        ("12:00:03", "SLURM_TIME_FORMAT"),
        ("Fri 12:00", "is a relative time"),
        ("21 Nov 12:00", "is a relative time"),
        ("27.11.26 17:00:05", "is not a time"),
        ("2026-02-29T00:00:00", "is not a time"),
        ("2026-01-01T24:00:00", "is not a time"),
        ("2026-01-01T00:00:00+2", "is not a time"),
        ("soon", "is not a time"),
    ] {
        let found = read(format!(
            "JobID|State|Start|End\n1|COMPLETED|{value}|99\n2|COMPLETED|1|2\n"
        ));
        let reject = found.rejects.first().unwrap();
        assert_eq!(reject.reason, Reason::BadTime);
        assert!(
            reject.detail.starts_with(&format!("Start: {value:?}")),
            "{}",
            reject.detail
        );
        assert!(reject.detail.contains(words), "{}", reject.detail);
        assert_eq!(found.jobs.len(), 1);
    }
}

#[test]
fn folds_are_decided_by_the_length() {
    let job = |start: &str, end: &str, length: &str| {
        let dump = format!("JobID|State|Start|End|ElapsedRaw|Suspended\n1|COMPLETED|{start}|{end}|{length}\n");
        let found = read_in(dump, "Europe/Zurich");
        let job = found.jobs.into_iter().next().unwrap();
        let (start, end) = (job.row.start_ms.unwrap() / 1000, job.row.end_ms.unwrap() / 1000);
        // Seconds after 2026-10-25T00:00:00Z: the clocks go back at 3600.
        (
            start - 1_792_886_400,
            end - 1_792_886_400,
            job.has(Anomaly::AmbiguousTime),
        )
    };
    let (at_0130, at_0230, at_0245, at_0330) = (
        "2026-10-25T01:30:00",
        "2026-10-25T02:30:00",
        "2026-10-25T02:45:00",
        "2026-10-25T03:30:00",
    );
    assert_eq!(job(at_0130, at_0230, "3600|00:00:00"), (-1800, 1800, false));
    assert_eq!(job(at_0130, at_0230, "7140|00:01:00"), (-1800, 5400, false));
    assert_eq!(job(at_0230, at_0330, "7200|00:00:00"), (1800, 9000, false));
    assert_eq!(job(at_0230, at_0330, "3600|00:00:00"), (5400, 9000, false));
    assert_eq!(job(at_0230, at_0245, "4500|00:00:00"), (1800, 6300, false));
    assert_eq!(job(at_0230, at_0245, "900|00:00:00"), (1800, 2700, true));
    assert_eq!(job(at_0230, at_0330, "5|00:00:00"), (1800, 9000, true));
}

#[test]
fn a_local_time_that_never_was_is_marked() {
    let dump = "JobID|State|Start|End|ElapsedRaw\n1|COMPLETED|2026-03-29T02:30:00|2026-03-29T03:40:00|600\n";
    let found = read_in(dump, "Europe/Zurich");
    assert!(found.jobs.first().unwrap().has(Anomaly::SkippedTime));
}

#[test]
fn durations_of_two_and_three_parts() {
    for (text, ms) in [
        ("00:00.004", 4),
        ("12:34.567", 754_567),
        ("00:12:34", 754_000),
        ("12:34", 754_000),
        ("1-00:00:01", 86_401_000),
        ("100-23:59:59", 8_726_399_000),
        ("49:00:00", 176_400_000),
    ] {
        assert_eq!(only(with("TotalCPU", text)).row.cpu_ms, Some(ms), "{text}");
        let suspended = format!("JobID|State|End|Elapsed\n1|FAILED|0900000000|{text}\n");
        assert_eq!(only(suspended).row.wall_ms, Some(ms / 1000 * 1000), "{text}");
    }
    for bad in [
        "12:xx",
        "1:2:3:4",
        "00:61:00",
        "1-02:03",
        "12",
        "-1:00:00",
        "99999999999999999999-00:00:00",
    ] {
        let found = read(format!("JobID|State|End|Elapsed\n1|FAILED|900|{bad}\n"));
        let reject = found.rejects.first().unwrap();
        assert_eq!(reject.reason, Reason::BadDuration, "{bad}");
        assert_eq!(
            reject.detail,
            format!("Elapsed: {bad:?} is not a duration ([D-]HH:MM:SS)")
        );
    }
    assert!(only("JobID|State|Start|End|Elapsed\n1|FAILED|1|9|INVALID\n").has(Anomaly::ValueDropped));
}

#[test]
fn a_duration_with_any_one_byte_changed_is_read_as_it_should_be() {
    let expected = |text: &str| -> Option<i64> {
        let parts: Vec<Option<i64>> = text
            .split(':')
            .map(|part| {
                Some(part)
                    .filter(|part| part.chars().all(|c| c.is_ascii_digit()))?
                    .parse()
                    .ok()
            })
            .collect();
        match *parts.as_slice() {
            [Some(hour), Some(minute @ 0..60), Some(second @ 0..60)] => Some((hour * 60 + minute) * 60 + second),
            _ => None,
        }
    };
    let sound = "19:28:37";
    let changed: Vec<String> = (0..sound.len())
        .flat_map(|at| (b' '..0x7f).map(move |byte| (at, char::from(byte))))
        .filter(|(_, c)| !"|-.".contains(*c))
        .map(|(at, c)| format!("{}{c}{}", sound.split_at(at).0, sound.split_at(at + 1).1))
        // One digit less is two parts.
        .filter(|text| text.split(':').all(|part| part.len() == 2))
        .collect();
    let rows = changed.iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(nth, text)| format!("{}|FAILED|900000000|{text}\n", nth + 1))
        .collect();
    let found = read(format!("JobID|State|End|Elapsed\n{}", rows.concat()));
    assert_eq!(found.jobs.len() + found.rejects.len(), changed.len());
    let mut jobs = found.jobs.iter();
    for (nth, text) in changed.iter().enumerate() {
        let Some(second) = expected(text) else { continue };
        let job = jobs.next().unwrap();
        assert_eq!(job.row.job_id, (nth + 1).to_string(), "{text}");
        assert_eq!(job.row.wall_ms, Some(second * 1000), "{text}");
    }
    assert!(jobs.next().is_none());
    assert!(found.rejects.iter().all(|reject| reject.reason == Reason::BadDuration));
}

const MIB: i64 = 1 << 20;

#[test]
fn memory_of_every_release() {
    let requested = |value: &str| {
        let columns = "ReqMem|ReqCPUS|ReqNodes|AllocCPUS|NNodes";
        only(with(columns, &format!("{value}|4|2|8|2")))
            .row
            .requested_memory_byte
    };
    assert_eq!(requested("1000Mc"), Some(4000 * MIB));
    assert_eq!(requested("3Gn"), Some(6 * 1024 * MIB));
    assert_eq!(requested("62.50Gn"), Some(125 * 1024 * MIB));
    assert_eq!(requested("0n"), Some(0));
    assert_eq!(requested("4611M"), Some(4611 * MIB));
    assert_eq!(requested("10240"), Some(10_240 * MIB));
    assert_eq!(requested(""), None);
    // Two nodes were given where one was requested, or one would have been enough.
    let by_tres = |value: &str, asked: &str| {
        let columns = "ReqMem|ReqTRES|AllocCPUS|NNodes";
        only(with(columns, &format!("{value}|{asked}|8|2")))
            .row
            .requested_memory_byte
    };
    let asked = "billing=4,cpu=4,mem=2211M,node=1";
    assert_eq!(by_tres("2211Mn", asked), Some(2211 * MIB));
    assert_eq!(by_tres("500Mc", "cpu=4,mem=2000M,node=1"), Some(2000 * MIB));
    assert_eq!(by_tres("2211Mn", "cpu=4,node=1"), Some(2211 * MIB));
    assert_eq!(by_tres("500Mc", "cpu=4"), Some(2000 * MIB));
    let rss = |value: &str| only(with("MaxRSS", value));
    assert_eq!(rss("3248K").row.max_rss_byte, Some(3248 << 10));
    assert_eq!(rss("1.50G").row.max_rss_byte, Some(3 << 29));
    assert_eq!(rss("1234567").row.max_rss_byte, Some(1_234_567));
    assert_eq!(rss("0").row.max_rss_byte, Some(0));
    for unknown in ["0.00T", "16?", "18446744073709551614"] {
        assert!(rss(unknown).row.max_rss_byte.is_none() && rss(unknown).has(Anomaly::ValueDropped));
    }
    let unset = only(with("ReqMem", "18446744073709551614M"));
    assert!(unset.row.requested_memory_byte.is_none() && unset.has(Anomaly::ValueDropped));
    for bad in ["12X", "K", "1.2.3G", "9999999999E", "-5K"] {
        let found = read(with("MaxRSS", bad));
        assert_eq!(found.rejects.first().unwrap().reason, Reason::BadNumber, "{bad}");
    }
}

#[test]
fn gpus_are_counted_once() {
    let gpus = |tres: &str| {
        let job = only(with("AllocTRES", tres));
        (job.row.alloc_gpu_n, job.row.gpus.to_vec(), job.row.alloc_billing_n)
    };
    assert_eq!(
        gpus("billing=4,cpu=1,gres/gpu:t4=1,gres/gpu:a100=2,gres/gpu=3,mem=1M,node=1"),
        (Some(3), vec![("a100", 2), ("t4", 1)], Some(4))
    );
    assert_eq!(
        gpus("cpu=1,gres/gpu:a100=2,gres/gpu:t4=1"),
        (Some(3), vec![("a100", 2), ("t4", 1)], Some(0))
    );
    assert_eq!(gpus("cpu=1,gres/gpu=2"), (Some(2), vec![], Some(0)));
    assert_eq!(
        gpus("cpu=1,gres/gpu:a100_1g.5gb=1"),
        (Some(1), vec![("a100_1g.5gb", 1)], Some(0))
    );
    assert_eq!(
        gpus("cpu=1,gres/gpumem=5G,gres/gpuutil=40,license/x=2"),
        (Some(0), vec![], Some(0))
    );
    assert_eq!(gpus(""), (None, vec![], None));
    let found = read(with("AllocTRES", "cpu=1,what"));
    assert_eq!(found.rejects.first().unwrap().reason, Reason::BadNumber);
}

#[test]
fn limits_exits_and_sentinels() {
    let limit = |columns: &str, value: &str| only(with(columns, value)).row.time_limit_s;
    assert_eq!(limit("TimelimitRaw", "10"), Some(600));
    assert_eq!(limit("Timelimit", "1-00:10:00"), Some(87_000));
    for word in ["UNLIMITED", "Partition_Limit", ""] {
        assert_eq!(limit("TimelimitRaw", word), None);
        assert_eq!(limit("Timelimit", word), None);
    }
    let job = only(with(
        "TimelimitRaw|AllocCPUS|ExitCode|NodeList",
        "4294967294|4294967294||None assigned",
    ));
    assert_eq!((job.row.time_limit_s, job.row.alloc_core_n), (None, None));
    assert_eq!((job.row.exit_code, job.row.node_list), (None, None));
    assert!(job.has(Anomaly::ValueDropped));
    assert_eq!(only(with("AllocNodes", "2K")).row.alloc_node_n, Some(2048));
    assert_eq!(only(with("DBIndex", "10283556261563750400")).row.job_id, "7");
}

#[test]
fn a_user_that_left_keeps_the_number() {
    let job = only(with("User|UID|Group|GID", "|1001||500"));
    assert_eq!((job.row.user, job.row.user_group), (Some("1001"), Some("500")));
}

#[test]
fn states() {
    let found = read(
        "JobID|State|Start|End|ElapsedRaw\n\
         1|CANCELLED by 1000|Unknown|50|0\n\
         2|CANCELLED by 0|None|50|0\n\
         3|PENDING|Unknown|Unknown|0\n\
         4_[5-9%2]|PENDING|Unknown|Unknown|0\n\
         5_[1,3,0x0F|CANCELLED|Unknown|60|0\n\
         6|RUNNING|10|Unknown|40\n\
         7|SUSPENDED|10|Unknown|40\n\
         8|CANCELLED+|10|20|10\n\
         9|FLYING|10|20|10\n\
         10||10|20|10\n\
         11|COMPLETED|Unknown|Unknown|0\n\
         12+0|OUT_OF_MEMORY|10|20|10\n\
         x|COMPLETED|10|20|10\n\
         13|REQUEUED|10|20|10\n\
         14|CONFIGURING|Unknown|Unknown|0\n",
    );
    assert_eq!(found.rows_read, 15);
    let jobs: Vec<_> = found
        .jobs
        .iter()
        .map(|job| (job.row.job_id, job.row.start_ms, job.row.end_ms))
        .collect();
    assert_eq!(
        jobs,
        [
            ("1", None, Some(50_000)),
            ("2", None, Some(50_000)),
            ("6", Some(10_000), None),
            ("7", Some(10_000), None),
            ("12+0", Some(10_000), Some(20_000)),
            ("13", Some(10_000), Some(20_000)),
        ]
    );
    assert_eq!(found.out_of_scope_rows(Reason::NotStarted), 4);
    let reasons: Vec<_> = found
        .rejects
        .iter()
        .map(|reject| (reject.reason, reject.at.line))
        .collect();
    assert_eq!(
        reasons,
        [
            (Reason::UnknownState, 9),
            (Reason::UnknownState, 10),
            (Reason::MissingField, 11),
            (Reason::TimeUnknown, 12),
            (Reason::BadJobId, 14),
        ]
    );
    assert_eq!(
        found.rejects.last().unwrap().detail,
        "JobID: \"x\" is not a job identifier"
    );
}
