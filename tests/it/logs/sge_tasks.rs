//! Parallel jobs of Grid Engine without `accounting_summary`: the row of a job, and those of its tasks on its hosts.

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::lines::LogLimits;
use gridtally::sources::{Pieces, sge};

use crate::support::collect::{Collected, Job, input};

/// A row of job `number` on a host: `task` is `NONE` for that of the job itself. Times are seconds after the first start.
#[derive(Clone, Copy)]
struct Row {
    number: i64,
    task: &'static str,
    host: &'static str,
    start_s: i64,
    end_s: i64,
    cpu: &'static str,
}

impl Row {
    const JOB: Self = Self {
        number: 100,
        task: "NONE",
        host: "h1",
        start_s: 0,
        end_s: 3600,
        cpu: "3500.5",
    };
    const TASK: Self = Self {
        task: "1.h2",
        host: "h2",
        start_s: 5,
        end_s: 3590,
        cpu: "14000",
        ..Self::JOB
    };

    fn line(&self) -> String {
        let Self {
            number,
            task,
            host,
            cpu,
            ..
        } = self;
        let (start, end) = (1_772_359_200 + self.start_s, 1_772_359_200 + self.end_s);
        // The submission of a task is not that of its job.
        let submit = if *task == "NONE" { 1_772_350_000 } else { 0 };
        format!(
            "all.q:{host}:grp:ann:mpi:{number}:sge:0:{submit}:{start}:{end}:0:0:3600:10:1:1000:0:0:0:0:0:0:0:0:0:0:0:0:0:0:NONE:\
             defaultdepartment:mpi:8:0:{cpu}:1.0:0.0:-u ann -l h_rt=24:00:00 -pe mpi 8:0.000000:{task}:1000000.000000:0:0\n"
        )
    }
}

fn text(rows: &[Row]) -> String {
    rows.iter().map(Row::line).collect()
}

/// Runs every piece in order; each row has one outcome.
fn folded(pieces: Pieces) -> Collected {
    let all = Collected::all(pieces).unwrap();
    assert_eq!(all.outcomes(), all.rows_read);
    all
}

fn read(text: impl AsRef<[u8]>) -> Collected {
    folded(sge::pieces(input(text.as_ref()), LogLimits::default()))
}

/// CPU time in milliseconds, hosts, and tasks of each job.
fn jobs(all: &Collected) -> Vec<(Option<i64>, &str, u32)> {
    let job = |job: &Job| (job.row.cpu_ms, job.row.node_list.unwrap_or_default(), job.step_n);
    all.jobs.iter().map(job).collect()
}

#[test]
fn tasks_are_part_of_their_job_whichever_row_comes_first() {
    let other = Row {
        number: 101,
        ..Row::JOB
    };
    for rows in [
        [Row::JOB, Row::TASK, other],
        [Row::TASK, Row::JOB, other],
        [Row::TASK, other, Row::JOB],
        [Row::JOB, other, Row::TASK],
    ] {
        let text = text(&rows);
        let all = read(&text);
        let mut found = jobs(&all);
        found.sort_unstable();
        assert_eq!(
            found,
            [(Some(3_500_500), "h1", 0), (Some(17_500_500), "h1,h2", 1)],
            "{text}"
        );
        assert_eq!((all.rows_read, all.rejects.len()), (3, 0));
        for block in [1, 100, 700, 1000] {
            let limits = LogLimits {
                block,
                ..LogLimits::default()
            };
            assert_eq!(folded(sge::pieces(input(text.as_bytes()), limits)), all, "{block}");
        }
    }
}

/// Several tasks on a host, also on that of the job; and sizes are those of the largest task.
#[test]
fn hosts_come_once_and_sizes_are_the_largest() {
    let on = |task, host, cpu| Row {
        task,
        host,
        cpu,
        ..Row::TASK
    };
    let rows = [
        on("1.h3", "h3", "1"),
        on("1.h1", "h1", "2"),
        on("2.h3", "h3", "3"),
        Row::TASK,
        Row::JOB,
    ];
    let text = text(&rows).replacen(":1000000.000000:", ":3000000.000000:", 1);
    let all = read(text);
    assert_eq!(jobs(&all), [(Some(17_506_500), "h1,h3,h2", 4)]);
    assert_eq!(all.jobs[0].row.max_virtual_byte, Some(3_000_000));
}

/// A job that is started again has its number, and its tasks, once more; a log that is there twice as well.
#[test]
fn tasks_belong_to_the_start_they_ran_in() {
    let again = |row: Row| Row {
        start_s: row.start_s + 4000,
        end_s: row.end_s + 4000,
        cpu: "1",
        ..row
    };
    for rows in [
        [Row::JOB, Row::TASK, again(Row::TASK), again(Row::JOB)],
        [Row::JOB, again(Row::TASK), again(Row::JOB), Row::TASK],
        [Row::TASK, again(Row::TASK), Row::JOB, again(Row::JOB)],
    ] {
        let all = read(text(&rows));
        assert_eq!(jobs(&all), [(Some(17_500_500), "h1,h2", 1), (Some(2_000), "h1,h2", 1)]);
    }
    for rows in [
        [Row::TASK, Row::JOB, Row::TASK, Row::JOB],
        [Row::JOB, Row::TASK, Row::JOB, Row::TASK],
        [Row::TASK, Row::TASK, Row::JOB, Row::JOB],
    ] {
        let all = read(text(&rows));
        assert_eq!(jobs(&all), [(Some(17_500_500), "h1,h2", 1); 2]);
    }
}

/// A task without its job is refused, where it can be seen.
#[test]
fn tasks_without_a_job_are_refused() {
    let elsewhere = Row { number: 7, ..Row::TASK };
    let later = Row {
        start_s: 3601,
        end_s: 3700,
        ..Row::TASK
    };
    for alone in [elsewhere, later] {
        let line = alone.line();
        let all = read(text(&[alone, Row::JOB]));
        assert_eq!(
            (jobs(&all), all.reasons()),
            (vec![(Some(3_500_500), "h1", 0)], vec![Reason::StepWithoutJob])
        );
        assert_eq!(all.rejects[0].raw, line.trim_end().as_bytes());
    }
    let refused = Row { cpu: "-1", ..Row::JOB };
    let all = read(text(&[Row::TASK, refused]));
    assert_eq!(all.reasons(), [Reason::BadDuration, Reason::StepWithoutJob]);
    assert_eq!(all.jobs.len(), 0);
}

/// Of a task whose CPU time cannot be read, that of its job is not known.
#[test]
fn the_cpu_time_of_a_job_with_a_damaged_task_is_unknown() {
    let damaged = Row {
        cpu: "much",
        ..Row::TASK
    };
    let all = read(text(&[damaged, Row::JOB]));
    assert_eq!(jobs(&all), [(None, "h1", 0)]);
    assert!(all.jobs[0].has(Anomaly::CpuUnknown));
    assert_eq!(all.reasons(), [Reason::BadDuration]);
}

/// Rows wait within a limit: the oldest jobs first wait no longer, then the oldest tasks.
#[test]
fn rows_wait_within_a_limit() {
    let of = |number: i64, row: Row| Row { number, ..row };
    let rows: Vec<Row> = (1..=20)
        .map(|n| of(n, Row::JOB))
        .chain([of(20, Row::TASK), of(1, Row::TASK)])
        .collect();
    let text = text(&rows);
    for (held_byte, joined, alone) in [(1 << 20, vec![1, 20], 0), (3000, vec![20], 1), (1, vec![], 2)] {
        for block in [1, 5000, 1 << 20] {
            let limits = LogLimits {
                block,
                ..LogLimits::default()
            };
            let all = folded(sge::held_pieces(input(text.as_bytes()), limits, held_byte));
            let mut with_tasks: Vec<i64> = (all.jobs.iter())
                .filter(|job| job.step_n == 1)
                .map(|job| job.row.job_id.parse().unwrap())
                .collect();
            with_tasks.sort_unstable();
            assert_eq!(
                (with_tasks, all.rejects.len()),
                (joined.clone(), alone),
                "{held_byte} {block}"
            );
            assert_eq!((all.jobs.len(), all.outcomes()), (20, 22));
        }
    }
}

/// What waits when a file cannot be read on is not lost.
#[test]
fn rows_that_wait_are_read_where_a_file_ends() {
    let text = text(&[Row::TASK, Row::JOB]);
    let limits = LogLimits {
        block: 64,
        record: 600,
        kept: 10,
    };
    // It ends within a line that is too long.
    let long = format!("{text}{}", "x".repeat(5000));
    let all = folded(sge::pieces(input(long.as_bytes()), limits));
    assert_eq!(jobs(&all), [(Some(17_500_500), "h1,h2", 1)]);
    assert_eq!(all.reasons(), [Reason::TooLong]);
    let broken: Box<dyn std::io::Read + Send> = Box::new(std::io::Read::chain(
        std::io::Cursor::new(format!("{text}{}", "x".repeat(300)).into_bytes()),
        Broken,
    ));
    let mut all = Collected::default();
    let mut failures = 0;
    for work in sge::pieces(
        broken,
        LogLimits {
            block: 64,
            ..LogLimits::default()
        },
    ) {
        match work {
            Ok(work) => work(&mut all),
            Err(_) => failures += 1,
        }
    }
    assert_eq!((jobs(&all), failures), (vec![(Some(17_500_500), "h1,h2", 1)], 1));
}

/// A disk that fails.
struct Broken;

impl std::io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk fails"))
    }
}
