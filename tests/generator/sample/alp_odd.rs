//! The odd jobs of ALP-T2, one lesson each. Their job numbers are from 900001 on.

use super::super::clock::zurich;
use super::super::sacct::{Attempt, Gpus, HEADER};
use super::alp::{PEOPLE, STRANGER, plain};

/// All of them.
pub(super) fn jobs() -> Vec<Attempt> {
    let mut jobs = edges();
    jobs.extend(attempts());
    jobs.extend(names());
    jobs.extend(devices());
    jobs.extend(unfinished());
    jobs
}

/// Jobs that cross something.
fn edges() -> Vec<Attempt> {
    // Over the end of January.
    let month = plain(900_001, zurich(2026, 1, 31, 19, 0), 3_600, 36_000);
    // Over the end of the allocation year.
    let mut year = plain(900_002, zurich(2026, 3, 31, 11, 30), 1_800, 2 * 86_400);
    year.cpus = 128;
    year.nodes = 2;
    "g[011-012]".clone_into(&mut year.node_list);
    year.user_ms = 2 * 86_400 * 128 * 913;
    year.limit_min = Some(4_320);
    // Over the hour that does not exist: 00:30 to 04:30 is three hours.
    let summer = plain(900_003, zurich(2026, 3, 29, 0, 20), 600, 3 * 3_600);
    // Suspended for an hour and a half.
    let mut suspended = plain(900_004, zurich(2026, 2, 10, 8, 0), 60, 21_600);
    suspended.suspended = 5_400;
    suspended.gpus = Gpus::Untyped(2);
    suspended.cluster = "moraine";
    suspended.partition = "gpu";
    // Suspended across the end of February: wall time is shorter than the span it is spread over.
    let mut both = plain(900_005, zurich(2026, 2, 28, 20, 0), 0, 30_001);
    both.suspended = 1_000;
    // Ends on the stroke of the month.
    let stroke = plain(900_006, zurich(2026, 4, 30, 20, 0), 0, 4 * 3_600);
    vec![month, year, summer, suspended, both, stroke]
}

/// Jobs with several attempts, or none.
fn attempts() -> Vec<Attempt> {
    // Requeued: one number, three attempts.
    let mut first = plain(900_010, zurich(2026, 4, 8, 9, 0), 300, 7_200);
    (first.state, first.exit) = ("REQUEUED", "0:0");
    let mut second = plain(900_010, zurich(2026, 4, 8, 9, 0), 10_800, 1_234);
    (second.state, second.exit) = ("NODE_FAIL", "1:0");
    second.user_ms = 0;
    second.system_ms = 0;
    let third = plain(900_010, zurich(2026, 4, 8, 9, 0), 18_000, 14_400);
    // Cancelled before it started.
    let mut never = plain(900_011, zurich(2026, 1, 20, 10, 0), 0, 0);
    never.start = None;
    never.end = Some(zurich(2026, 1, 20, 11, 17));
    never.state = "CANCELLED by 3101";
    // Cancelled by root.
    let mut root = plain(900_012, zurich(2026, 1, 21, 10, 0), 45, 5_000);
    root.state = "CANCELLED by 0";
    root.exit = "0:15";
    // Purged steps: CPU time is unknown, not zero.
    let mut purged = plain(900_013, zurich(2026, 1, 22, 10, 0), 45, 50_000);
    purged.has_steps = false;
    purged.user_ms = 0;
    purged.system_ms = 0;
    // Two tasks of an array, two components of a heterogeneous job.
    let mut tasks = Vec::new();
    for (raw_id, id) in [
        (900_020, "900020_1"),
        (900_021, "900020_2"),
        (900_022, "900022+0"),
        (900_023, "900022+1"),
    ] {
        let mut task = plain(raw_id, zurich(2026, 2, 17, 6, 0), 90, 3_000);
        task.id = Some(id.to_owned());
        tasks.push(task);
    }
    let mut jobs = vec![first, second, third, never, root, purged];
    jobs.extend(tasks);
    jobs
}

/// Text that tries a reader.
fn names() -> Vec<Attempt> {
    let mut jobs = Vec::new();
    for (raw_id, name) in [
        (900_030, "fit|stage 2|final"),
        (900_031, "first line\nsecond line"),
        (900_032, "Gletscher-Säule ❄ 氷河"),
        (900_033, " leading, 'quoted' and `ticked` "),
    ] {
        let mut job = plain(raw_id, zurich(2026, 2, 19, 12, 0), 30, 4_000);
        name.clone_into(&mut job.name);
        job.person = PEOPLE[3];
        jobs.push(job);
    }
    let mut stranger = plain(900_034, zurich(2026, 3, 5, 12, 0), 30, 40_000);
    stranger.person = STRANGER;
    jobs.push(stranger);
    jobs
}

/// GPUs in every spelling, and a great deal of memory.
fn devices() -> Vec<Attempt> {
    let mut jobs = Vec::new();
    for (raw_id, gpus) in [
        (900_040, Gpus::Untyped(3)),
        (900_041, Gpus::Typed(&[("h100", 2), ("l40s", 1)])),
        (900_042, Gpus::Both(&[("h100", 4)])),
    ] {
        let mut job = plain(raw_id, zurich(2026, 5, 6, 7, 0), 10, 9_000);
        job.gpus = gpus;
        job.cluster = "moraine";
        job.partition = "gpu";
        "m02".clone_into(&mut job.node_list);
        job.person = PEOPLE[4];
        jobs.push(job);
    }
    let mut huge = plain(900_043, zurich(2026, 5, 7, 7, 0), 10, 9_000);
    huge.partition = "himem";
    huge.memory_mib = 12 * 1_048_576;
    huge.cpus = 192;
    "fat1".clone_into(&mut huge.node_list);
    huge.max_rss_kib = 11 * 1_073_741_824;
    jobs.push(huge);
    jobs
}

/// Jobs some dump saw before they were over.
fn unfinished() -> Vec<Attempt> {
    // Pending on one night, running on the next, finished on the one after.
    let mut late = plain(900_050, zurich(2026, 3, 30, 22, 0), 8 * 3_600, 20 * 3_600);
    late.person = PEOPLE[2];
    // Still running when the last dump was taken; started in May.
    let mut running = plain(900_051, zurich(2026, 5, 30, 9, 0), 60, 10 * 86_400);
    running.cpus = 32;
    // Still pending when the last dump was taken.
    let pending = plain(900_052, zurich(2026, 5, 31, 9, 0), 30 * 86_400, 3_600);
    vec![late, running, pending]
}

/// Cuts a row of March in its middle: the rest of the line is lost, the next row is sound.
pub(super) fn break_a_line(dump: &mut Vec<u8>) {
    let sound = b"glacier|900060|900060|half_a_row|cpu|normal|firn|ice|3101|anouk|3101|*|2026-03-11T0\n";
    let marker = b"glacier|900034|";
    let at = dump
        .windows(marker.len())
        .position(|window| window == marker)
        .expect("the stranger's job is in March");
    dump.splice(at..at, sound.iter().copied());
}

/// What the tool states into its own output: an error line, and a second header where two dumps were joined.
pub(super) fn add_tool_talk(dump: &mut Vec<u8>) {
    let marker = b"moraine|900040|";
    let at = dump
        .windows(marker.len())
        .position(|window| window == marker)
        .expect("the first GPU job is in May");
    let mut talk = b"sacct: error: slurm_persist_conn_open: Something happened with the receiving/sending\n".to_vec();
    talk.extend_from_slice(HEADER.as_bytes());
    dump.splice(at..at, talk);
}

/// A row of a job no other dump has, cut off by a full disk: no line end.
pub(super) fn cut_the_end(dump: &mut Vec<u8>) {
    dump.extend_from_slice(
        b"glacier|900061|900061|cut_off|cpu|normal|firn|ice|3101|anouk|3101|*|2026-06-01T09:00:00|2026-06",
    );
}
