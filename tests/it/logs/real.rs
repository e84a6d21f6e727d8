//! The real logs of the shared data, and what is known of them.

use gridtally::sources::{blah, htcondor, lsf, pbs, sge, swf};
use std::path::Path;

use gridtally::ledger::Reason;
use gridtally::record::{Anomaly, JobRow};
use gridtally::sources::compression::decompress;
use gridtally::sources::dialect::Dialect;
use gridtally::sources::lines::LogLimits;

use super::{pieces, read};
use crate::support::collect::{Collected, run, shared};

fn log(test: &str, name: &str, format: Dialect) -> Option<Collected> {
    let path = shared(test, &format!("data/apel/batch-logs/{name}.log"))?;
    Some(read(format, std::fs::read(path).unwrap()))
}

/// (job, wall ms, CPU ms, cores, nodes)
type Usage<'a> = (&'a str, i64, Option<i64>, Option<i64>, Option<i64>);

fn usage(all: &Collected) -> Vec<Usage<'_>> {
    let jobs = all.rows();
    jobs.map(|row| {
        (
            row.job_id,
            row.wall_ms.unwrap(),
            row.cpu_ms,
            row.alloc_core_n,
            row.alloc_node_n,
        )
    })
    .collect()
}

#[test]
fn pbs() {
    let Some(all) = log("logs::real::pbs", "pbs", pbs::DIALECT) else {
        return;
    };
    assert_eq!(
        usage(&all),
        [
            // 19:23:4 is 19 h 23 min 4 s.
            (
                "21048463.lcgbatch01.gridpp.rl.ac.uk",
                69_784_000,
                Some(65_724_000),
                Some(1),
                Some(1)
            ),
            ("21010040.lcgbatch01.gridpp.rl.ac.uk", 0, Some(0), Some(8), Some(1)),
            ("24940336.b0", 12_767_000, Some(12_722_000), Some(1), Some(1)),
            ("24940336.b0", 12_767_000, Some(12_722_000), Some(1), Some(1)),
            ("21414868.b0", 12_144_000, Some(46_899_000), Some(4), Some(1)),
            ("37803854.b0", 56_000, Some(9_000), Some(1), Some(1)),
            // Ends before it starts; without exec_host.
            ("24940336.b0", 12_767_000, Some(12_722_000), Some(1), Some(1)),
            ("21010040.lcgbatch01.gridpp.rl.ac.uk", 0, Some(0), None, None),
        ]
    );
    // One line lacks `start`, glued to the value before it; one is no `E` record.
    assert_eq!(all.reasons(), [Reason::MissingField]);
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
    let last = &all.jobs[2].row;
    assert_eq!((last.exit_code, last.exit_signal), (None, Some(15)));
    assert_eq!(last.max_rss_byte, Some(2_574_308 * 1024));
}

#[test]
fn sge() {
    let Some(all) = log("logs::real::sge", "sge", sge::DIALECT) else {
        return;
    };
    assert_eq!(
        usage(&all),
        [
            ("1630912", 20_365_780, Some(1_272_619), Some(1), None),
            ("3294013", 359_000, Some(50_796), Some(1), None),
            ("3872561", 220_488, Some(12_770), Some(1), None),
            ("43", 1000, Some(90), Some(1), None),
            // Jobs of several slots wait for their tasks.
            ("6972834", 180_001_000, Some(1_026_706_540), Some(9), None),
            ("6972834", 180_001_000, Some(1_026_706_540), Some(9), None),
        ]
    );
    let ms = &all.jobs[2].row;
    assert_eq!(
        (ms.start_ms, ms.end_ms),
        (Some(1_412_932_865_141), Some(1_412_933_085_629))
    );
    let first = &all.jobs[4].row;
    assert_eq!((first.exit_code, first.exit_signal), (None, Some(10)));
    assert_eq!(first.max_virtual_byte, Some(821_923_840));
    assert_eq!(all.rejects, []);
}

#[test]
fn lsf() {
    let Some(all) = log("logs::real::lsf", "lsf", lsf::DIALECT) else {
        return;
    };
    assert_eq!(
        usage(&all),
        [
            ("699195", 544_000, Some(294_490), Some(1), Some(1)),
            ("436491[23]", 16_000, Some(1_586), Some(16), Some(2)),
            ("31255091", 25_000, all.jobs[2].row.cpu_ms, Some(1), Some(1)),
            // Ends before it starts.
            ("699195", 0, Some(294_490), Some(1), Some(1)),
            ("699195", 544_000, Some(294_490), Some(1), Some(1)),
        ]
    );
    // A line end in the middle of a text does not end the event.
    assert!(all.jobs[1].row.anomalies & Anomaly::Reassembled.bit() != 0);
    assert_eq!(all.jobs[1].row.exit_code, Some(255));
    // One event counts more hosts than it names.
    assert_eq!(all.reasons(), [Reason::FieldCount]);
    assert_eq!(all.out_of_scope.get(&Reason::OtherRecordType), Some(&1));
}

#[test]
fn htcondor() {
    let Some(all) = log("logs::real::htcondor", "htcondor", htcondor::DIALECT) else {
        return;
    };
    let times: Vec<_> = usage(&all)
        .iter()
        .map(|job| (job.1 / 1000, job.2.unwrap() / 1000))
        .collect();
    let raw = [(19, 26), (287, 118), (4, 0), (2, 0), (287, 118)];
    // With a multiplier of 1.5 both are multiplied and cut.
    let scaled = [(28, 39), (430, 178), (6, 0), (3, 0)];
    assert_eq!(times, [&raw[..], &scaled[..]].concat());
    assert_eq!(all.rejects, []);
}

#[test]
fn blah() {
    let Some(all) = log("logs::real::blah", "blah", blah::DIALECT) else {
        return;
    };
    assert_eq!(all.rows_read, 2);
    assert_eq!(all.out_of_scope.get(&Reason::GridIdentity), Some(&2));
}

/// A file of everything is read as each of the formats: its own lines, and no others, become jobs.
#[test]
fn mixed() {
    for (format, jobs, out_of_scope) in [
        (pbs::DIALECT, 1, 0),
        (sge::DIALECT, 1, 0),
        (lsf::DIALECT, 1, 1),
        (htcondor::DIALECT, 1, 0),
        (blah::DIALECT, 0, 1),
        (swf::DIALECT, 0, 0),
    ] {
        let Some(all) = log("logs::real::mixed", "mixed", format) else {
            return;
        };
        let others: u64 = all.out_of_scope.values().sum();
        assert_eq!(
            (all.jobs.len(), others),
            (jobs, out_of_scope),
            "{format:?} {:?}",
            all.rejects
        );
        assert_eq!(all.rows_read, 8, "{format:?}");
    }
}

fn workload(path: &Path) -> Collected {
    let file = std::fs::File::open(path).unwrap();
    run(pieces(
        swf::DIALECT,
        decompress(Box::new(file)).unwrap(),
        LogLimits::default(),
    ))
}

/// Jobs, rejects, wall s, core s and CPU ms as plain arithmetic over the same columns gives them.
#[test]
fn workloads() {
    for (name, jobs, rejects, wall_s, core_s, cpu_ms) in [
        ("KTH-SP2-1996-2.1-cln", 27_992, 0, 239_978_322_i64, 1_972_976_954_i64, 0),
        ("SDSC-SP2-5K-sample", 4606, 0, 38_291_757, 387_596_226, 274_456_183_450),
        // Of two jobs the end is missing, so their run time is less than nothing.
        ("wagap-2013", 17_898, 2, 897_261_525, 9_647_254_226, 0),
    ] {
        let Some(path) = shared("logs::real::workloads", &format!("data/traces/swf/{name}.swf.gz")) else {
            return;
        };
        let all = workload(&path);
        assert_eq!((all.jobs.len(), all.rejects.len()), (jobs, rejects), "{name}");
        let sum = |of: fn(&JobRow<'_>) -> i64| all.rows().map(|row| of(row)).sum::<i64>();
        assert_eq!(sum(|row| row.wall_ms.unwrap() / 1000), wall_s, "{name}");
        let core = sum(|row| row.wall_ms.unwrap() / 1000 * row.alloc_core_n.unwrap_or(0));
        assert_eq!(core, core_s, "{name}");
        assert_eq!(sum(|row| row.cpu_ms.unwrap_or(0)), cpu_ms, "{name}");
    }
}

/// The first job of the cleaned log of KTH, whose header places it, and those that were taken back in San Diego's.
#[test]
fn jobs_of_workloads() {
    let test = "logs::real::jobs_of_workloads";
    let Some(path) = shared(test, "data/traces/swf/KTH-SP2-1996-2.1-cln.swf.gz") else {
        return;
    };
    let submit_s = 843_480_031 + 599_850;
    let expected = JobRow {
        view: "batch",
        job_id: "15",
        user: Some("12"),
        user_group: Some("12"),
        submit_ms: Some(submit_s * 1000),
        start_ms: Some((submit_s + 192_180) * 1000),
        end_ms: Some((submit_s + 192_180 + 3477) * 1000),
        wall_ms: Some(3_477_000),
        alloc_core_n: Some(4),
        time_limit_s: Some(53_940),
        state: Some("COMPLETED"),
        ..JobRow::default()
    };
    assert_eq!(workload(&path).jobs[0].row, expected);
    let Some(path) = shared(test, "data/traces/swf/SDSC-SP2-5K-sample.swf.gz") else {
        return;
    };
    let all = workload(&path);
    // Taken back before they ran: no run time, and no job.
    assert_eq!(all.out_of_scope_rows(Reason::NoRunTime), 355);
    assert!(all.rows().all(|row| row.start_ms.is_some()));
    let Some(path) = shared(test, "data/traces/swf/wagap-2013.swf.gz") else {
        return;
    };
    let all = workload(&path);
    let row = &all.jobs[6].row;
    assert_eq!((row.alloc_core_n, row.alloc_node_n), (Some(64), Some(8)));
    assert_eq!(row.requested_memory_byte, Some(8 * 8_589_934_592));
    assert_eq!((row.partition, row.cpu_ms), (Some("q_1d"), None));
    assert_eq!(row.node_list, Some("1273,1255,1264,1274,1286,1262,1259,1256"));
    assert_eq!(all.reasons(), [Reason::BadDuration, Reason::BadDuration]);
}
