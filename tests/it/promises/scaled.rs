//! Times that worker nodes scaled before they were logged: the work is the same whatever the reference, and raw times
//! come back where the nodes are known.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use gridtally::run::run_report::Status;
use proptest::prelude::*;

use super::scene::{Pipeline, Scene, Source};
use super::tables::{files, int, read, text};

/// A job of a Torque log: its node, its start and length in seconds, and both times as they are logged.
struct Job {
    node: &'static str,
    start_s: i64,
    wall_s: i64,
    logged: [i64; 2],
}

fn hours(s: i64) -> String {
    format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

fn log(jobs: &[Job]) -> String {
    let line = |(nth, job): (usize, &Job)| {
        let end_s = job.start_s + job.wall_s;
        let [cpu, wall] = job.logged.map(hours);
        let printed = jiff::Timestamp::from_second(end_s)
            .unwrap()
            .strftime("%m/%d/%Y %H:%M:%S");
        format!(
            "{printed};E;{nth}.server;user=u group=g jobname=j queue=q ctime={0} qtime={0} etime={0} start={0} owner=u@h \
             exec_host={1}/0 Resource_List.nodes=1 session=1 end={end_s} Exit_status=0 resources_used.cput={cpu} \
             resources_used.mem=1kb resources_used.vmem=1kb resources_used.walltime={wall}\n",
            job.start_s, job.node
        )
    };
    jobs.iter().enumerate().map(line).collect()
}

fn pipeline(keys: &str) -> Pipeline {
    let mut pipeline = Pipeline::of(Source {
        name: "torque",
        paths: vec!["log".to_owned()],
        keys: format!("format = \"pbs\"\nsite = \"LIV\"\nvo = {{ value = \"v\" }}\n{keys}\n"),
    });
    pipeline.normalise = Some("benchmarks = \"b.csv\"\nmissing = \"null\"\n".to_owned());
    pipeline
}

const HEAD: &str = "site,nodes,benchmark,value_per_core,cores,valid_from,valid_to\n";

/// CPU, wall and core wall work, and CPU and wall time, summed over usage; `None` where nothing is known.
fn usage(scene: &Scene, out: &str, kind: &str) -> ([Option<i128>; 3], Option<i64>, i64) {
    let (mut work, mut cpu_ms, mut wall_s) = ([None; 3], None, 0);
    for path in files(&scene.path(out), "usage") {
        let batch = read(&path);
        for row in 0..batch.num_rows() {
            for (sum, measure) in work.iter_mut().zip(["cpu", "wall", "core_wall"]) {
                let column = batch.column_by_name(&format!("{measure}_{kind}_s")).unwrap();
                let column = column.as_primitive::<Decimal128Type>();
                if column.is_valid(row) {
                    *sum = Some(sum.unwrap_or(0) + column.value(row));
                }
            }
            cpu_ms = int(&batch, "cpu_ms", row).map_or(cpu_ms, |ms| Some(cpu_ms.unwrap_or(0) + ms));
            wall_s += int(&batch, "wall_s", row).unwrap();
        }
    }
    (work, cpu_ms, wall_s)
}

/// 2026-03-31 20:00 UTC: long jobs end in the next month.
const START_S: i64 = 1_774_987_200;
/// 1330 SI00, the node of Liverpool's page.
const NODE: i64 = 1330;

#[test]
fn any_reference_gives_the_same_work() {
    // 400 000 s of wall and 300 000 s of CPU on such a node, in units of 10^-7 SI00 s.
    let (wall_s, cpu_s) = (400_000, 300_000);
    let done = [cpu_s, wall_s, wall_s].map(|s: i64| Some(i128::from(s * NODE) * 10_000_000));
    for reference in [250, 1000, 1330, 4000] {
        let scene = Scene::empty();
        let job = Job {
            node: "n1",
            start_s: START_S,
            wall_s,
            logged: [cpu_s, wall_s].map(|s| s * NODE / reference),
        };
        scene.write("log", log(&[job]).as_bytes());
        for (unscale, rows) in [
            ("", "LIV,,hs06,5.32,,,\n"),
            (", unscale = true", "LIV,n1,si00,1330,1,,\n"),
        ] {
            scene.write("b.csv", format!("{HEAD}{rows}").as_bytes());
            let keys = format!("scaled_to = {{ benchmark = \"si00\", value = {reference}{unscale} }}");
            let out = format!("out{reference}{}", unscale.len());
            scene.run(&pipeline(&keys), &out);
            let (work, raw_cpu_ms, raw_wall_s) = usage(&scene, &out, "si00");
            assert_eq!(work, done, "{reference}");
            // Start and end are instants: wall time is known. CPU time is, where the node's value is.
            assert_eq!(
                (raw_wall_s, raw_cpu_ms),
                (wall_s, (!unscale.is_empty()).then_some(cpu_s * 1000)),
                "{reference}"
            );
            assert_eq!(scene.findings(&out), []);
        }
    }
}

#[test]
fn raw_times_come_back_by_the_value_of_the_nodes_as_it_is_known() {
    let scene = Scene::empty();
    let job = |node, logged| Job {
        node,
        start_s: START_S,
        wall_s: 1000,
        logged,
    };
    scene.write(
        "log",
        log(&[job("n1", [1330, 1330]), job("n2", [1330, 1330])]).as_bytes(),
    );
    let keys = "scaled_to = { benchmark = \"si00\", value = 1000, times = \"cpu\", unscale = true }";
    let cpu = || -> Vec<(Option<i64>, Option<String>)> {
        let batch = read(&files(&scene.path("out"), "records")[0]);
        let mut rows: Vec<_> = (0..batch.num_rows())
            .map(|row| {
                assert_eq!(int(&batch, "scaled_cpu_ms", row), Some(1_330_000));
                assert_eq!(int(&batch, "scaled_wall_ms", row), None);
                assert_eq!(int(&batch, "wall_s", row), Some(1330), "wall time is raw here");
                assert_eq!(text(&batch, "si00_origin", row).as_deref(), Some("scaled_to"));
                (int(&batch, "cpu_ms", row), text(&batch, "node_list", row))
            })
            .collect();
        rows.sort_by(|a, b| a.1.cmp(&b.1));
        rows
    };
    scene.write("b.csv", format!("{HEAD}LIV,n1,si00,1330,1,,\n").as_bytes());
    scene.run(&pipeline(keys), "out");
    let bytes = scene.lake("out");
    assert_eq!(
        cpu().iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(),
        [Some(1_000_000), None]
    );
    // Wall time is raw, so its work is that of the node; of the unknown node it is unknown, and CPU work is not.
    let (work, ..) = usage(&scene, "out", "si00");
    let e7 = |si00_s: i128| Some(si00_s * 10_000_000);
    assert_eq!(work, [e7(2 * 1330 * 1000), e7(1330 * 1330), e7(1330 * 1330)]);
    // A node measured otherwise changes the raw time, not the work, and back.
    scene.write("b.csv", format!("{HEAD}LIV,n[1-2],si00,2660,1,,\n").as_bytes());
    assert_eq!(scene.run(&pipeline(keys), "out").status, Status::Published);
    assert_eq!(
        cpu().iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(),
        [Some(500_000), Some(500_000)]
    );
    assert_eq!(usage(&scene, "out", "si00").0[0], e7(2 * 1330 * 1000));
    scene.write("b.csv", format!("{HEAD}LIV,n1,si00,1330,1,,\n").as_bytes());
    scene.run(&pipeline(keys), "out");
    super::scene::assert_same(&scene.lake("out"), &bytes, "undone");
    assert_eq!(scene.findings("out"), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]
    /// However usage is cut in time, the parts of scaled and raw work are the whole, exactly.
    #[test]
    fn parts_are_the_whole(
        jobs in prop::collection::vec((0_i64..5_000_000, 1_i64..9_000_000, 0_i64..900_000, 0_i64..900_000), 1..6),
        is_scaled in any::<bool>(),
    ) {
        let scene = Scene::empty();
        let jobs: Vec<Job> = jobs.into_iter().map(|(start, wall_s, cpu, wall)| Job {
            node: "n1", start_s: START_S + start, wall_s, logged: [cpu, wall],
        }).collect();
        scene.write("log", log(&jobs).as_bytes());
        let rows = if is_scaled { "LIV,,hs06,5.3213,,,\n" } else { "LIV,n1,si00,1330.0771,1,,\nLIV,,hs06,5.3213,,,\n" };
        scene.write("b.csv", format!("{HEAD}{rows}").as_bytes());
        let keys = if is_scaled { "scaled_to = { benchmark = \"si00\", value = 1330.0771 }" } else { "" };
        let si00 = |s: i64| i128::from(s) * 13_300_771 * 1000;
        for grain in ["\"month\"", "\"day\""] {
            for attribution in ["\"prorated\"", "\"by-end\""] {
                let cut = pipeline(keys).with("grain", grain).with("attribution", attribution);
                let out = format!("{grain}{attribution}").replace('"', "");
                scene.run(&cut, &out);
                let [cpu, wall, _] = usage(&scene, &out, "si00").0;
                prop_assert_eq!(cpu, Some(jobs.iter().map(|job| si00(job.logged[0])).sum()));
                prop_assert_eq!(wall, Some(jobs.iter().map(|job| si00(job.logged[1])).sum()));
            }
        }
    }
}
