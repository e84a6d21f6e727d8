//! Reservations of lakes: which jobs run inside, what is theirs, and what is counted.

use super::lake::{Scene, rows, stderr, stdout};

pub(super) const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NCPUS|NNodes|AllocTRES|NodeList|Reservation\n";

/// A record of a day in October 2026, submitted, started and ended at these times of day, with whole nodes of four cores.
pub(super) fn record(
    id: u32,
    account: &str,
    times: [&str; 3],
    limit: &str,
    nodes: &[&str],
    reservation: &str,
) -> String {
    let [submit, start, end] = times.map(|time| format!("2026-10-31T{time}:00"));
    let second = |time: &str| {
        let (hour, minute) = time.split_once(':').unwrap();
        hour.parse::<u32>().unwrap() * 3600 + minute.parse::<u32>().unwrap() * 60
    };
    let (run_s, core_n) = (second(times[2]) - second(times[1]), nodes.len() * 4);
    format!(
        "{id}|oak|u{account}|{account}|cpu|COMPLETED|{submit}|{submit}|{start}|{end}|{run_s}|{limit}|{core_n}|{}|cpu={core_n},mem={core_n}G,node={}|{}|{reservation}\n",
        nodes.len(),
        nodes.len(),
        nodes.join(",")
    )
}

/// A reservation as `scontrol show reservation` prints it.
pub(super) fn listed(name: &str, times: [&str; 2], nodes: &str, core_n: u32, flags: &str) -> String {
    let [start, end] = times.map(|time| format!("2026-10-31T{time}:00"));
    format!(
        "ReservationName={name} StartTime={start} EndTime={end} Duration=02:00:00 Nodes={nodes} NodeCnt=1 CoreCnt={core_n} \
         Features=(null) PartitionName=(null) Flags={flags} TRES=cpu={core_n} Users=(null) Groups=(null) Accounts=b \
         Licenses=(null) State=INACTIVE BurstBuffer=(null) MaxStartDelay=(null)\n\n"
    )
}

pub(super) fn scene_of(jobs: &str, reservations: &str) -> Scene {
    let nodes = ["o1", "o2"].map(|name| {
        format!("NodeName={name} CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=16384 Partitions=cpu State=IDLE\n\n")
    });
    scene_on(jobs, &nodes.concat(), reservations, "2026-10-31T23:30:00Z")
}

/// A lake whose reservations were listed at an instant.
fn scene_on(jobs: &str, nodes: &str, reservations: &str, as_of: &str) -> Scene {
    let pipeline = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
        site = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n[[inventory]]\nname = \"state\"\npaths = [\"resv.txt\"]\n\
        timezone = \"UTC\"\nas_of = \"AS_OF\"\n[overhead]\nnodes = [\"nodes.txt\"]\n[[overhead.unit]]\nname = \"1c\"\ncore = 1\n";
    Scene::new(
        &[("jobs.txt", jobs), ("nodes.txt", nodes), ("resv.txt", reservations)],
        &pipeline.replace("AS_OF", as_of),
    )
}

/// Starts of the baseline in minutes of the day, by number of job, and the notes.
fn starts(scene: &Scene, more: &[&str]) -> (Vec<(u32, i64)>, String) {
    let args = [&["lake", "--table", "schedule", "--format", "csv"], more].concat();
    let output = scene.simulate(&args);
    let text = stdout(&output);
    let of = rows(&text).into_iter().filter(|row| row[0] == "baseline");
    let mut starts: Vec<(u32, i64)> = of
        .map(|row| {
            let start_s = row[3].parse::<i64>().unwrap() - 1_793_404_800;
            assert_eq!(start_s % 60, 0);
            (row[1].parse().unwrap(), start_s / 60)
        })
        .collect();
    starts.sort_unstable();
    (starts, stderr(&output))
}

const fn at(hour: i64, minute: i64) -> i64 {
    hour * 60 + minute
}

/// A job on each node, and one on both that waited for the end of the reservation of the second node.
fn jobs(reservation: &str) -> String {
    [
        HEADER.to_owned(),
        record(1, "a", ["20:30", "20:30", "22:30"], "02:00:00", &["o1"], ""),
        record(2, "b", ["20:00", "21:00", "22:00"], "01:00:00", &["o2"], reservation),
        record(3, "a", ["20:00", "23:00", "23:30"], "00:30:00", &["o1", "o2"], ""),
    ]
    .concat()
}

#[test]
fn jobs_of_a_reservation_run_inside_it_and_no_others_do() {
    let gold = listed("gold", ["21:00", "23:00"], "o2", 4, "SPEC_NODES");
    let scene = scene_of(&jobs("gold"), &gold);
    let (found, notes) = starts(&scene, &[]);
    assert_eq!(found, [(1, at(20, 30)), (2, at(21, 0)), (3, at(20, 0))]);
    for note in [
        "1 reservations are machines of their own, 1 times in all: what they have takes no other jobs then",
        "1 jobs run inside the reservations they ran in, and on nothing else while these last",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    // Recorded, it ran inside as well: nothing is beyond what takes jobs.
    let text = stdout(&scene.simulate(&["lake"]));
    let available: Vec<&str> = text.lines().filter(|line| line.contains(" available ")).collect();
    assert_eq!(available.len(), 2, "{text}");
    assert!(
        available
            .iter()
            .all(|line| line.contains("nothing ran on what took no jobs")),
        "{text}"
    );
    let explained = stdout(&scene.simulate(&["lake", "--explain", "2"]));
    assert_eq!(
        explained,
        "job 2: 4 cores, 4096 memory_mib, submitted at 2026-10-31T20:00:00Z, ran 3600 s of 3600 s\n\
         recorded: it started at 2026-10-31T21:00:00Z and waited 3600 s\n\
         baseline: it starts at 2026-10-31T21:00:00Z, in pass 3, after 3600 s: it was first in the order and fitted\n  \
         its first pass, 1 at 2026-10-31T20:00:00Z: free 0 of 0 cores, 0 of 0 memory_mib; no job was ahead\n  \
         in 2 passes it did not start: its reservation gold was not in force\n    \
         it waited for reservation gold in 2 passes: that lasts from 2026-10-31T21:00:00Z to 2026-10-31T23:00:00Z\n  \
         its last pass, 3 at 2026-10-31T21:00:00Z: free 4 of 4 cores, 16384 of 16384 memory_mib; no job was ahead\n  \
         in that second reservation gold began\n"
    );
    // Slurm calls a job eligible from the beginning of its reservation on: that wait is simulated, and is no hold.
    let stated = record(2, "b", ["20:00", "21:00", "22:00"], "01:00:00", &["o2"], "gold");
    let held = stated.replacen("T20:00:00|2026-10-31T20:00:00", "T20:00:00|2026-10-31T21:00:00", 1);
    assert_ne!(stated, held);
    let of_held = scene_of(&jobs("gold").replace(&stated, &held), &gold);
    assert_eq!(stdout(&of_held.simulate(&["lake", "--explain", "2"])), explained);
    assert!(!starts(&of_held, &[]).1.contains("held_until_eligible"));
    // Without reservations it starts at once, and the third has to wait for it.
    let (found, notes) = starts(&scene, &["--outages", "none"]);
    assert_eq!(found, [(1, at(21, 30)), (2, at(20, 0)), (3, at(21, 0))]);
    assert!(
        notes.contains("1 records state a reservation: none is simulated"),
        "{notes}"
    );
    let refused = scene.simulate(&["lake", "--backfill", "conservative"]);
    assert_eq!(refused.status.code(), Some(78), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("--backfill easy, or --outages none"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn whether_a_job_ran_inside_is_not_guessed() {
    let gold = listed("gold", ["21:00", "23:00"], "o2", 4, "SPEC_NODES");
    // Its node was reserved: no other job started there.
    let by_nodes = scene_of(&jobs(""), &gold);
    let (found, notes) = starts(&by_nodes, &[]);
    assert_eq!(found, [(1, at(20, 30)), (2, at(21, 0)), (3, at(20, 0))]);
    assert!(
        notes.contains("1 jobs whose records state no reservation started on nodes of one while it was in force"),
        "{notes}"
    );
    // Of an account that may not use it: it was over before its listed end.
    let (found, notes) = starts(&scene_of(&jobs("").replace("|ub|b|", "|uc|c|"), &gold), &[]);
    assert_eq!(found[1], (2, at(20, 0)));
    assert!(!notes.contains("ran inside it"), "{notes}");
    let scene = scene_of(&jobs("").replace("|o2|", "||"), &gold);
    let (found, notes) = starts(&scene, &[]);
    // Outside, the second starts at once and has ended when the reservation begins; the third waits for the end of that.
    assert_eq!(found, [(1, at(20, 30)), (2, at(20, 0)), (3, at(23, 0))]);
    assert!(
        notes.contains(
            "no record states a reservation, and 1 started while one was in force that names their account or user"
        ),
        "{notes}"
    );
    let text = stdout(&scene.simulate(&["lake"]));
    assert!(text.contains("jobs that ran on when their nodes went down"), "{text}");
}

#[test]
fn what_no_listing_knows_runs_outside_and_is_counted() {
    let jobs = [
        HEADER.to_owned(),
        record(1, "b", ["20:00", "21:00", "22:00"], "01:00:00", &["o2"], "gold"),
        // Not in its time; of another name; of more than it has; of one that is a plan.
        record(2, "b", ["20:00", "20:10", "20:20"], "00:10:00", &["o1"], "gold"),
        record(3, "b", ["20:00", "20:20", "20:30"], "00:10:00", &["o1"], "brass"),
        record(4, "b", ["20:00", "22:00", "22:10"], "00:10:00", &["o1", "o2"], "gold"),
        record(5, "b", ["20:00", "22:10", "22:20"], "00:10:00", &["o1"], "later"),
    ];
    let listing = [
        listed("gold", ["21:00", "23:00"], "o[2,9]", 4, "SPEC_NODES"),
        listed("later", ["23:40", "23:50"], "o2", 4, "SPEC_NODES"),
        listed("licence", ["21:00", "23:00"], "(null)", 0, "ANY_NODES"),
    ];
    let scene = scene_of(&jobs.concat(), &listing.concat());
    let (_, notes) = starts(&scene, &[]);
    for note in [
        "simulated other than written, reservation_unlisted: 3 jobs",
        "simulated other than written, beyond_reservation: 1 jobs",
        "1 listed times of reservations had not begun when they were last listed: plans are left out",
        "1 listed times of reservations have neither nodes of the inventory nor cores",
        "1 jobs run inside the reservations",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
}

#[test]
fn a_reservation_of_cores_has_them_on_any_node() {
    // Two of eight cores, with memory in proportion.
    let half = listed("half", ["21:00", "23:00"], "o2", 2, "");
    let jobs = [
        HEADER.to_owned(),
        record(1, "a", ["21:00", "21:00", "22:00"], "01:00:00", &["o1"], ""),
        record(2, "a", ["21:01", "22:00", "22:30"], "00:30:00", &["o2"], ""),
        record(3, "b", ["20:00", "21:00", "22:00"], "01:00:00", &["o2"], "half")
            .replace("cpu=4,mem=4G", "cpu=2,mem=2G")
            .replace("|4|1|", "|2|1|"),
    ];
    let scene = scene_of(&jobs.concat(), &half);
    let (found, notes) = starts(&scene, &[]);
    // Of eight cores six take other jobs: four and no more four.
    assert_eq!(found, [(1, at(21, 0)), (2, at(22, 0)), (3, at(21, 0))]);
    assert!(notes.contains("1 jobs run inside"), "{notes}");
    let explained = stdout(&scene.simulate(&["lake", "--explain", "3"]));
    assert!(
        explained.contains("free 2 of 2 cores, 8192 of 8192 memory_mib"),
        "{explained}"
    );
}

#[test]
fn a_node_of_several_reservations_is_of_one() {
    let listing = [
        listed("gold", ["21:00", "23:00"], "o[1-2]", 8, "SPEC_NODES"),
        listed("repair", ["22:00", "22:30"], "o2", 4, "MAINT,IGNORE_JOBS,SPEC_NODES"),
    ];
    let jobs = [
        HEADER.to_owned(),
        record(1, "b", ["20:00", "21:00", "21:50"], "00:50:00", &["o1", "o2"], "gold"),
        // Eight cores: gold has four of them while the repair lasts.
        record(2, "b", ["20:01", "22:30", "22:40"], "00:30:00", &["o1", "o2"], "gold"),
        record(3, "b", ["21:55", "22:00", "22:10"], "00:10:00", &["o2"], "repair"),
        record(4, "b", ["21:55", "22:00", "22:10"], "00:10:00", &["o1"], "gold"),
    ];
    let scene = scene_of(&jobs.concat(), &listing.concat());
    let (found, notes) = starts(&scene, &[]);
    assert!(
        notes.contains("1 nodes are of several reservations at a time"),
        "{notes}"
    );
    // The second starts at 21:50 on both nodes and keeps them: it is ignored, and the repair has its node when it ends at 22:00.
    assert_eq!(found, [(1, at(21, 0)), (2, at(21, 50)), (3, at(22, 0)), (4, at(22, 0))]);
}

#[test]
fn a_reservation_that_repeats_is_one_with_several_times() {
    let listing = [
        listed("daily", ["20:00", "20:30"], "o2", 4, "DAILY,SPEC_NODES"),
        listed("daily", ["22:00", "22:30"], "o2", 4, "DAILY,SPEC_NODES"),
    ];
    let jobs = [
        HEADER.to_owned(),
        record(1, "b", ["20:00", "20:00", "20:30"], "00:30:00", &["o2"], "daily"),
        record(2, "b", ["20:01", "22:00", "22:30"], "00:30:00", &["o2"], "daily"),
        record(3, "a", ["20:40", "20:40", "22:40"], "02:00:00", &["o1"], ""),
        record(4, "a", ["20:41", "22:40", "23:30"], "02:00:00", &["o2"], ""),
    ];
    let scene = scene_of(&jobs.concat(), &listing.concat());
    let (found, notes) = starts(&scene, &[]);
    // The fourth would have the second node at 22:00.
    assert_eq!(
        found,
        [(1, at(20, 0)), (2, at(22, 0)), (3, at(20, 40)), (4, at(22, 30))]
    );
    assert!(
        notes.contains("1 reservations are machines of their own, 2 times in all"),
        "{notes}"
    );
}

/// What a real Slurm 22.05.8 did with six jobs submitted at 09:43:35 and reservations of two of five nodes from 09:44:35 to
/// 09:48:35, as its `sacct`, `scontrol show reservation` and `scontrol show node` printed it.
const REAL_JOBS: &str = "\
    1|resv|alice|atlas|cpu|COMPLETED|2026-11-26T09:43:35|2026-11-26T09:44:35|2026-11-26T09:44:35|2026-11-26T09:45:21|46|01:00:00|16|1|billing=18,cpu=16,mem=8G,node=1|n001|\n\
    2|resv|alice|atlas|cpu|COMPLETED|2026-11-26T09:43:35|2026-11-26T09:44:35|2026-11-26T09:45:21|2026-11-26T09:45:41|20|00:01:00|16|1|billing=18,cpu=16,mem=8G,node=1|n001|gold\n\
    3|resv|frank|chem|plain|COMPLETED|2026-11-26T09:43:35|2026-11-26T09:43:35|2026-11-26T09:49:24|2026-11-26T09:49:45|21|00:03:00|16|1|billing=16,cpu=16,mem=8G,node=1|n001|\n\
    4|resv|alice|atlas|plain|COMPLETED|2026-11-26T09:43:35|2026-11-26T09:43:35|2026-11-26T09:43:35|2026-11-26T09:44:05|30|00:10:00|16|1|billing=16,cpu=16,mem=8G,node=1|n002|\n\
    5|resv|alice|atlas|cpu|TIMEOUT|2026-11-26T09:43:35|2026-11-26T09:45:35|2026-11-26T09:45:41|2026-11-26T09:49:03|202|01:00:00|16|1|billing=18,cpu=16,mem=8G,node=1|n001|gold\n\
    6|resv|frank|chem|plain|COMPLETED|2026-11-26T09:43:35|2026-11-26T09:43:35|2026-11-26T09:49:04|2026-11-26T09:49:24|20|00:02:00|80|5|billing=80,cpu=80,mem=40G,node=5|n[001-004,007]|\n";
const REAL_RESERVATIONS: &str = "\
    ReservationName=gold StartTime=2026-11-26T09:44:35 EndTime=2026-11-26T09:48:35 Duration=00:04:00 Nodes=n001 NodeCnt=1 CoreCnt=16 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=16 Users=(null) Groups=(null) Accounts=atlas Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n\
    ReservationName=soft StartTime=2026-11-26T09:44:35 EndTime=2026-11-26T09:48:35 Duration=00:04:00 Nodes=n002 NodeCnt=1 CoreCnt=16 Features=(null) PartitionName=(null) Flags=FLEX,SPEC_NODES TRES=cpu=16 Users=(null) Groups=(null) Accounts=atlas Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n";

#[test]
fn a_real_slurm_started_the_same_jobs_at_the_same_times() {
    let nodes = ["n001", "n002", "n003", "n004", "n007"].map(|name| {
        format!(
            "NodeName={name} CPUTot=16 Sockets=2 CoresPerSocket=8 RealMemory=64000 Partitions=cpu,plain State=IDLE\n\n"
        )
    });
    let jobs = format!("{HEADER}{REAL_JOBS}");
    let scene = scene_on(&jobs, &nodes.concat(), REAL_RESERVATIONS, "2026-11-26T09:45:21Z");
    let output = scene.simulate(&["lake", "--table", "schedule", "--format", "csv"]);
    let of = |word: &str| -> Vec<i64> {
        let of_word = rows(&stdout(&output)).into_iter().filter(|row| row[0] == word);
        let mut starts: Vec<(u32, i64)> = of_word
            .map(|row| (row[1].parse().unwrap(), row[3].parse::<i64>().unwrap()))
            .collect();
        starts.sort_unstable();
        // From the submission at 09:43:35 on.
        starts.iter().map(|(_, start_s)| start_s - 1_795_686_215).collect()
    };
    let (recorded, baseline) = (of("recorded"), of("baseline"));
    // The first starts although its limit passes the end, the second after it, the fifth to run on after the end, and the last,
    // of all nodes, when that has ended. Only the third was bound to the reserved node, which a schedule of amounts is not.
    assert_eq!(recorded, [60, 106, 349, 0, 126, 329]);
    assert_eq!(baseline, [60, 106, 0, 0, 126, 328]);
    // This Slurm states no reservation of the first, which started in its first second.
    let remarks = stderr(&output);
    assert!(
        remarks.contains("1 jobs whose records state no reservation started on nodes of one"),
        "{remarks}"
    );
    assert!(
        remarks.contains("3 jobs run inside the reservations they ran in"),
        "{remarks}"
    );
    let text = stdout(&scene.simulate(&["lake"]));
    assert!(!text.contains("jobs that ran on when their nodes went down"), "{text}");
}
