//! Installed capacity in a lake: by site and month, so that delivered work can be divided by it.

use std::fs;

use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages as pipeline};
use gridtally::runtime::progress::Silent;

use crate::support::python::python;

const JOBS: &str = "\
Cluster|JobIDRaw|JobID|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU|Account|User
a|1|1|2026-02-10T00:00:00|2026-02-10T00:00:00|2026-02-11T00:00:00|86400|COMPLETED|28|billing=1,cpu=28,mem=1G,node=1|1-00:00:00|a|u
a|2|2|2026-03-10T00:00:00|2026-03-10T00:00:00|2026-03-11T00:00:00|86400|COMPLETED|31|billing=1,cpu=31,mem=1G,node=1|1-00:00:00|a|u
";

const NODES: &str = "\
site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to
S,a,old,1,2,100,hs06,10,,2026-03-11
S,a,new,1,2,100,hs23,20,2026-03-11,
S,,spare,2,1,1,si00,2500,2026-01-31,2026-02-02
T,,other,1,1,1,hs06,10,2026-02-01,9999-12-31
";

/// Answers a question asked in SQL, one row a line.
const ASK: &str = "
import sys, duckdb
lake = duckdb.connect()
lake.execute(\"SET VARIABLE gridtally_root = '\" + sys.argv[1] + \"'\")
lake.execute(open(sys.argv[1] + '/gridtally.sql').read())
for row in lake.execute(sys.argv[2]).fetchall():
    print(' '.join(str(value) for value in row))
";

struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        scene.write("jobs.txt", JOBS);
        scene.write("nodes.csv", NODES);
        scene
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn run(&self, capacity: &str) -> RunReport {
        self.write(
            "p.toml",
            &format!(
                "[pipeline]\nname = \"p\"\noutput = \"out\"\ncalendar_timezone = \"Europe/Zurich\"\n\
                 [[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"S\"\n\
                 timezone = \"Europe/Zurich\"\nvo = {{ value = \"reef\" }}\n{capacity}"
            ),
        );
        let (plan, _) = Plan::load(&self.0.path().join("p.toml")).unwrap();
        let report = pipeline::run(&plan, &RunOptions::default(), &Silent).unwrap();
        let verdict = verify::verify(&self.out()).unwrap();
        assert!(verdict.is_sound(), "{}", verdict.text());
        report
    }

    fn out(&self) -> String {
        self.0.path().join("out").to_str().unwrap().to_owned()
    }

    fn ask(&self, question: &str) -> Vec<String> {
        python(ASK, &[&self.out(), question])
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

const WITH: &str = "[capacity]\nnode_types = \"nodes.csv\"\n";

#[test]
fn delivered_work_is_divided_by_what_could_be() {
    let scene = Scene::new();
    scene.run(WITH);
    // 28 cores for a day of 100 for February's 28 days are a hundredth; likewise 31 cores in March, which is one hour
    // shorter for the clocks.
    let used = scene.ask(
        "SELECT month, round(100 * sum(alloc_core_s) / any_value(could), 4) FROM usage JOIN
           (SELECT site, month, sum(logical_cpu_s) AS could FROM capacity WHERE cluster = 'a' GROUP BY ALL)
         USING (site, month) GROUP BY ALL ORDER BY ALL",
    );
    assert_eq!(used, ["2026-02-01 1.0", "2026-03-01 1.0013"]);
    let of_a = scene.ask(
        "SELECT month, node_type, from_utc, until_utc, logical_cpu_s, capacity_hs06_s, capacity_hs23_s FROM capacity
         WHERE cluster = 'a' ORDER BY ALL",
    );
    assert_eq!(
        of_a,
        [
            // What is open begins with the first month of usage or of a dated row of the site, in the pipeline's zone ...
            "2026-01-01 old 2025-12-31 23:00:00 2026-01-31 23:00:00 267840000 2678400000.0000000 None",
            "2026-02-01 old 2026-01-31 23:00:00 2026-02-28 23:00:00 241920000 2419200000.0000000 None",
            // ... changes on the day of the table, at midnight UTC ...
            "2026-03-01 new 2026-03-11 00:00:00 2026-03-31 22:00:00 180720000 None 3614400000.0000000",
            "2026-03-01 old 2026-02-28 23:00:00 2026-03-11 00:00:00 86760000 867600000.0000000 None",
            // ... and ends with the month after the last one.
            "2026-04-01 new 2026-03-31 22:00:00 2026-04-30 22:00:00 259200000 None 5184000000.0000000",
        ]
    );
    let spare = scene.ask("SELECT month, node_n, until_utc - from_utc, capacity_si00_s FROM capacity WHERE node_type = 'spare' ORDER BY ALL");
    assert_eq!(
        spare,
        [
            "2026-01-01 2 23:00:00 414000000.0000000",
            "2026-02-01 2 1 day, 1:00:00 450000000.0000000"
        ]
    );
    assert_eq!(scene.ask("SELECT count(*) FROM capacity WHERE site = 'T'"), ["3"]);
}

#[test]
fn only_capacity_follows_its_table() {
    let scene = Scene::new();
    let without = scene.run("");
    assert!(without.written.iter().all(|path| !path.starts_with("capacity/site=")));
    assert_eq!(scene.ask("SELECT count(*) FROM capacity"), ["0"]);
    let data = |report: &RunReport| -> Vec<String> {
        let paths = report.written.iter().chain(&report.removed);
        paths
            .filter(|path| {
                path.ends_with(".parquet") && !path.starts_with("runs/") && !path.ends_with("/empty.parquet")
            })
            .cloned()
            .collect()
    };
    let files = ["capacity/site=S/capacity.parquet", "capacity/site=T/capacity.parquet"];
    assert_eq!(data(&scene.run(WITH)), files);
    assert_eq!(data(&scene.run(WITH)), <[&str; 0]>::default());
    // One site has new nodes, the other goes.
    let nodes = NODES
        .replace("S,a,new,1,", "S,a,new,2,")
        .replace("T,,other,1,1,1,hs06,10,2026-02-01,9999-12-31\n", "");
    scene.write("nodes.csv", &nodes);
    assert_eq!(data(&scene.run(WITH)), files);
    assert_eq!(scene.ask("SELECT count(DISTINCT site) FROM capacity"), ["1"]);
    // The table as it was gives the bytes as they were; no table, no capacity.
    scene.write("nodes.csv", NODES);
    scene.run(WITH);
    let first = fs::read(scene.0.path().join("out").join(files[0])).unwrap();
    let other = Scene::new();
    other.run(WITH);
    assert!(first == fs::read(other.0.path().join("out").join(files[0])).unwrap());
    assert_eq!(data(&scene.run("")), files);
}
