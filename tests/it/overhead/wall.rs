//! Jobs whose wall time is shorter than from start to end hold, use and pay for their wall time.

use std::path::Path;

use gridtally::audit::explain::explain;

use super::Scene;

const NODES: &str = "node,cluster,cpu_n,memory_byte,gpus,partitions,as_of\n\
    n7,k,4,17179869184,gpu:0,p,2026-02-01\n";

/// Two cores from 2026-03-31T12:00 for an hour, then held for ten days and removed.
const REMOVED: &str = r#"[{"GlobalJobId":"s#3.0#1","JobStatus":3,"Owner":"ann","QDate":1774954800,"JobStartDate":1774958400,
    "EnteredCurrentStatus":1775822400,"CompletionDate":0,"RemoteWallClockTime":3600.0,"RemoteUserCpu":1800.0,
    "RemoteSysCpu":0.0,"RequestCpus":2,"LastRemoteHost":"slot1@n7"}]"#;

fn pipeline(format: &str, rest: &str) -> String {
    format!(
        "[pipeline]\nname = \"w\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"{format}\"\n\
         paths = [\"jobs\"]\nsite = \"C\"\ncluster = \"k\"\n[[inventory]]\nname = \"n\"\nformat = \"csv\"\n\
         paths = [\"nodes.csv\"]\nsite = \"C\"\n[overhead]\nbilling = \"usage-only\"\n\
         [[overhead.unit]]\nname = \"u\"\ncore = 1\n{rest}"
    )
}

fn scene(jobs: &str) -> Scene {
    Scene::new(&[("jobs", jobs), ("nodes.csv", NODES)])
}

const HELD: &str = "SELECT (SELECT sum(alloc_core_s) FROM usage), (SELECT sum(allocated_core_s) FROM overhead), \
     sum(alloc_core_s), sum(charge)::BIGINT, sum(job_n) FROM charges WHERE pool = 'core'";

#[test]
fn a_job_that_was_held_and_removed_holds_its_nodes_for_its_wall_time() {
    let scene = scene(REMOVED);
    scene.run(&pipeline("htcondor", ""));
    assert_eq!(scene.ask(HELD), ["7200 7200 7200 7200 1"]);
    let months = scene.ask("SELECT month, alloc_core_s, job_n FROM charges WHERE pool = 'core'");
    assert_eq!(months, ["2026-03-01 7200 1"], "it counts where it held its nodes last");
    let lake = scene.path("lake");
    let text = explain(lake.to_str().unwrap(), "s#3.0#1", Path::new("/nowhere")).unwrap()[0].text();
    for expected in [
        "n7 2026-03-31T12:00:00Z to 2026-03-31T13:00:00Z: 2 of 2 core held",
        "2026-03-01: 43200000 of 864000000 ms from start to end",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn what_meters_count_after_the_wall_time_of_a_job_is_not_its_own() {
    let april = (1..10).map(|day| format!("n7,2026-04-0{day},2026-04-{:02},8640000\n", day + 1));
    let march = "node,valid_from,valid_to,joules\nn7,2026-03-31,2026-04-01,8640000\n".to_owned();
    let meters = std::iter::once(march).chain(april).collect::<Vec<String>>().concat();
    let scene = scene(REMOVED);
    scene.write("m.csv", &meters);
    scene.write("en.csv", "site,node_type,nodes,cores\nC,a,n7,4\n");
    scene.write(
        "pue.csv",
        "site,pue,valid_from,valid_to\nC,1.5,,2026-03-31T13:00:00Z\nC,2,2026-03-31T13:00:00Z,\n",
    );
    let energy = "[energy]\nnodes = \"en.csv\"\nmeters = \"m.csv\"\npue = \"pue.csv\"\nshared = \"allocated_cores\"\n";
    scene.run(&pipeline("htcondor", energy));
    // Half of the cores of a node of 100 W, for an hour.
    let asked = scene.ask("SELECT sum(energy_node_meter_j), sum(energy_pue_j) FROM usage");
    assert_eq!(asked, ["180000 270000"]);
    let jobs = scene.ask("SELECT sum(jobs_j) FROM node_energy");
    assert_eq!(jobs, ["180000"]);
}

#[test]
fn a_job_of_pbs_that_was_suspended_holds_its_nodes_for_its_wall_time() {
    let job = "03/01/2026 15:00:00;E;1.srv;user=ann group=g jobname=j queue=p ctime=1772350000 etime=1772350000 \
               start=1772359200 exec_host=n7/0*2 Resource_List.ncpus=2 end=1772377200 Exit_status=0 \
               resources_used.cput=00:30:00 resources_used.walltime=01:00:00\n";
    let scene = scene(job);
    scene.write("nodes.csv", &NODES.replace(",k,", ",srv,"));
    scene.run(&pipeline("pbs", ""));
    assert_eq!(scene.ask(HELD), ["7200 7200 7200 7200 1"]);
}
