//! Jobs that waited although they would have fitted, and why as far as that can be determined.

use std::collections::BTreeSet;

use super::Scene;

const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Suspended|NCPUS|NNodes|AllocTRES|TotalCPU|NodeList|TimelimitRaw\n";
const NODE: &str = "NodeName=o1 CPUTot=6 RealMemory=16384 Partitions=cpu State=IDLE\n";
/// Half of the node for ten hours: 3 cores and 4 GiB stay free, two units of 1 core and 2 GiB.
const RUNNING: &str = "1|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T10:00:00|36000|00:00:00|3|1|cpu=3,mem=12G,node=1|00:10:00|o1|900\n";

/// A job that is eligible and starts at these hours, with cores and GiB, and a time limit in minutes.
fn job(id: u32, (eligible, start): (u32, u32), (core_n, gib_n): (u32, u32), limit: &str) -> String {
    let end = start + 1;
    format!(
        "{id}|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T{eligible:02}:00:00|2026-10-30T{start:02}:00:00|\
         2026-10-30T{end:02}:00:00|3600|00:00:00|{core_n}|1|cpu={core_n},mem={gib_n}G,node=1|00:10:00|o1|{limit}\n"
    )
}

fn scene(jobs: &str, events: &str) -> Scene {
    scene_on(NODE, jobs, events)
}

fn scene_on(nodes: &str, jobs: &str, events: &str) -> Scene {
    scene_of(nodes, &format!("{HEADER}{RUNNING}{jobs}"), events)
}

fn scene_of(nodes: &str, table: &str, events: &str) -> Scene {
    let scene = Scene::new(&[("nodes.txt", nodes)]);
    scene.write("jobs.txt", table);
    scene.write(
        "events.txt",
        &format!("Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n{events}"),
    );
    scene.run(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
         paths = [\"jobs.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n\
         [[inventory]]\nname = \"state\"\npaths = [\"events.txt\"]\ntimezone = \"UTC\"\n\
         [overhead]\nnodes = [\"nodes.txt\"]\n[[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n",
    );
    scene
}

const ASK: &str = "SELECT job_n, fitting_job_n, (wait_s / 3600)::INT, (vector_unknown_s / 3600)::INT, \
     (vector_reservation_s / 3600)::INT, (vector_drain_s / 3600)::INT, (unit_unknown_s / 3600)::INT, \
     (unit_reservation_s / 3600)::INT, (unit_drain_s / 3600)::INT, (both_s / 3600)::INT, (vector_moment_s / 3600)::INT \
     FROM overhead_queue";

#[test]
fn cu_14_a_job_that_waits_in_addition_to_free_units_is_flagged() {
    // 1 core and 2 GiB: it fits by all means, for three hours.
    let scene = scene(&job(2, (2, 5), (1, 2), "60"), "");
    assert_eq!(scene.ask(ASK), ["1 1 3 3 0 0 3 0 0 3 3"]);
}

#[test]
fn cu_14_the_job_of_exactly_the_free_units_fits_too() {
    // "Less than 2 CPUs and 4 GB" would leave it out.
    let scene = scene(&job(2, (2, 5), (2, 4), "60"), "");
    assert_eq!(scene.ask(ASK), ["1 1 3 3 0 0 3 0 0 3 3"]);
}

#[test]
fn cu_14_units_and_what_is_requested_are_distinguished() {
    // 3 cores and 3 GiB take three units and fit into 3 cores and 4 GiB; 1 core and 4 GiB take two units.
    let scene_of = |shape| scene(&job(2, (2, 5), shape, "60"), "");
    assert_eq!(scene_of((3, 3)).ask(ASK), ["1 1 3 3 0 0 0 0 0 0 3"]);
    assert_eq!(scene_of((1, 4)).ask(ASK), ["1 1 3 3 0 0 3 0 0 3 3"]);
    assert_eq!(scene_of((4, 1)).ask(ASK), ["1 0 3 0 0 0 0 0 0 0 0"]);
}

#[test]
fn cu_15_a_reservation_is_a_cause_and_so_is_a_drain() {
    // Waits from 2:00 to 8:00; from 4:00 to 6:00 the node is reserved, from 6:00 on it drains.
    let events = "oak|o1|2026-10-30T04:00:00|2026-10-30T06:00:00|MAINT|firmware\n\
        oak|o1|2026-10-30T06:00:00|2026-10-30T07:00:00|DRAIN|fan\n";
    let jobs = job(2, (2, 8), (1, 2), "60");
    let scene = scene(&jobs, events);
    // It may run for an hour, so from 3:00 on the reservation is in its way.
    assert_eq!(scene.ask(ASK), ["1 1 6 2 3 1 2 3 1 6 6"]);
    let unlimited = super::waiting::scene(&job(2, (2, 8), (1, 2), ""), events);
    // Without a limit this cannot be determined before the reservation begins.
    assert_eq!(unlimited.ask(ASK), ["1 1 6 3 2 1 3 2 1 6 6"]);
}

#[test]
fn what_a_job_requested_is_reported_or_the_job_is_counted_as_unknown() {
    let never = "2|oak|u|a|cpu|CANCELLED|2026-10-30T00:00:00|2026-10-30T02:00:00|Unknown|2026-10-30T04:00:00|0|00:00:00|0|1||00:00:00|None assigned|60\n";
    let scene = scene(never, "");
    assert!(scene.ask(ASK).is_empty());
    let found = scene
        .ask("SELECT kind, resource, job_n, start_utc, end_utc FROM overhead_finding WHERE kind = 'request_unknown'");
    assert_eq!(
        found,
        ["request_unknown core 1 2026-10-30 02:00:00 2026-10-30 04:00:00"]
    );
}

#[test]
fn a_job_that_never_started_waits_by_the_request_that_its_record_states() {
    let header = HEADER.replace("TimelimitRaw", "TimelimitRaw|ReqCPUS|ReqMem");
    let running = RUNNING.replace("|900", "|900|3|12G");
    let never = |id: u32, partition: &str, core_n: u32| {
        format!(
            "{id}|oak|u|a|{partition}|CANCELLED|2026-10-30T00:00:00|2026-10-30T02:00:00|Unknown|2026-10-30T04:00:00|0|\
             00:00:00|0|1||00:00:00|None assigned|60|{core_n}|2G\n"
        )
    };
    // Records do not state how many nodes were requested, nor how many GPUs.
    let jobs = [never(2, "cpu", 1), never(3, "cpu", 2), never(4, "gpu", 1)].concat();
    let nodes = format!("{NODE}NodeName=g1 CPUTot=6 RealMemory=16384 Gres=gpu:t4:2 Partitions=gpu State=IDLE\n");
    let scene = scene_of(&nodes, &format!("{header}{running}{jobs}"), "");
    assert_eq!(scene.ask(ASK), ["1 1 2 2 0 0 2 0 0 2 2"]);
    let found =
        scene.ask("SELECT resource, job_n FROM overhead_finding WHERE kind = 'request_unknown' ORDER BY resource");
    assert_eq!(found, ["gpu 1", "NULL 1"]);
}

#[test]
fn where_no_node_is_known_it_cannot_be_determined() {
    // A partition no listed node is in, and two GPUs of a node that does not state whether it has any; job 5 is of the same
    // partition on another day, and all about it is known.
    let of = |row: String, partition: &str| row.replace("|cpu|COMPLETED", &format!("|{partition}|COMPLETED"));
    let gpus = job(3, (2, 5), (1, 2), "60").replace("cpu=1,", "cpu=1,gres/gpu=2,");
    let jobs = [
        of(job(2, (2, 5), (1, 2), "60"), "himem"),
        gpus,
        job(5, (2, 5), (1, 2), "60").replace("2026-10-30", "2026-10-31"),
    ];
    let nodes = "node,cpu_n,memory_byte,partitions\no1,6,17179869184,cpu\n";
    let scene = scene_on(nodes, &jobs.concat(), "");
    let asked = format!(
        "{} ORDER BY partition, day",
        ASK.replace("SELECT ", "SELECT partition, ")
    );
    assert_eq!(
        scene.ask(&asked),
        [
            // By units the job with GPUs fits next to the running jobs: the unit does not name them.
            "cpu 1 NULL 3 NULL NULL NULL 3 0 0 NULL NULL",
            "cpu 1 1 3 3 0 0 3 0 0 3 3",
            "himem 1 NULL 3 NULL NULL NULL NULL NULL NULL NULL NULL",
        ]
    );
    let report = gridtally::report::overhead::read(scene.path("lake").to_str().unwrap(), &BTreeSet::new()).unwrap();
    let text = report.text().unwrap();
    let row = |name: &str| {
        let row = text.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(row("himem"), ["himem", "1c2g", "1", "3.0", "100.0", "100.0"], "{text}");
    // Of the six hours three are known, and in all of these the job would have fitted: it is not reported as half of them.
    assert_eq!(
        row("cpu "),
        [
            "cpu", "1c2g", "2", "1", "6.0", "50.0", "0.0", "100.0", "100.0", "100.0", "0.0", "0.0", "3.0"
        ],
        "{text}"
    );
    let share = "SELECT partition, sum(vector_unknown_s) / sum(wait_s) FILTER (vector_unknown_s IS NOT NULL) FROM overhead_queue \
         GROUP BY ALL ORDER BY ALL";
    assert_eq!(scene.ask(share), ["cpu 1.0", "himem NULL"]);
    assert!(report.objects().unwrap().concat().contains("\"would_fit\": null"));
    let page = report.html().unwrap();
    assert!(page.contains("An empty cell is not known."));
    assert!(page.contains("<td>himem</td><td>1c2g</td><td class=\"n\">1</td><td class=\"n\"></td>"));
}

#[test]
fn the_report_describes_the_queue() {
    let scene = scene(&job(2, (2, 5), (1, 2), "60"), "");
    let report = gridtally::report::overhead::read(scene.path("lake").to_str().unwrap(), &BTreeSet::new()).unwrap();
    let text = report.text().unwrap();
    assert!(text.contains("Jobs that waited and would have fitted"), "{text}");
    let row = text.lines().find(|line| line.starts_with("cpu")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "cpu", "1c2g", "1", "1", "3.0", "0.0", "0.0", "100.0", "100.0", "100.0", "0.0", "0.0", "3.0"
        ],
        "{text}"
    );
    assert!(
        report
            .html()
            .unwrap()
            .contains("Jobs that waited and would have fitted")
    );
    assert!(
        report
            .objects()
            .unwrap()
            .concat()
            .contains("\"table\": \"Jobs that waited and would have fitted\"")
    );
}
