//! Cores of jobs on their nodes, as their source states them.

use super::Scene;

const HEAD: &str = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"pbs\"\n\
    paths = [\"pbs.log\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n";
const UNIT: &str = "[[overhead.unit]]\nname = \"u\"\ncore = 1\n";
/// Nodes of four cores.
const NODES: &str = "node,cluster,cpu_n,memory_byte\n\"n[1-4]\",srv,4,17179869184\n";

/// A job of an hour, from midnight of 10 March 2026.
fn job(id: u32, exec_host: &str) -> String {
    format!(
        "03/10/2026 02:00:00;E;{id}.srv;user=ana group=g account=a queue=q ctime=1773100000 qtime=1773100000 \
         etime=1773100000 start=1773100800 owner=ana@h exec_host={exec_host} session=1 end=1773104400 Exit_status=0 \
         resources_used.cput=02:00:00 resources_used.walltime=01:00:00\n"
    )
}

fn scene() -> Scene {
    let jobs = job(101, "n1/0+n1/1+n1/2+n2/0") + &job(102, "n3/0*3+n4/0*1") + &job(103, "n2/1,3");
    Scene::new(&[("pbs.log", &jobs), ("nodes.csv", NODES)])
}

const EXPECTED: [&str; 4] = ["n1 10800", "n2 10800", "n3 10800", "n4 3600"];
const ALLOCATED: &str = "SELECT node, sum(allocated_core_s)::BIGINT FROM overhead GROUP BY ALL ORDER BY ALL";
/// The jobs do not state their memory.
const FOUND: &str = "SELECT kind, node FROM overhead_finding WHERE kind <> 'amount_unknown' ORDER BY ALL";

#[test]
fn cores_are_on_the_nodes_that_the_log_states() {
    let scene = scene();
    scene.run(&format!("{HEAD}[overhead]\nnodes = \"from-jobs\"\n{UNIT}"));
    assert_eq!(scene.ask(ALLOCATED), EXPECTED);
    assert_eq!(scene.ask(FOUND), [""; 0]);
}

#[test]
fn cores_of_listed_nodes_are_on_those_that_the_log_states() {
    let scene = scene();
    let period = "period = { from = 2026-03-10, to = 2026-03-11 }\n";
    scene.run(&format!("{HEAD}[overhead]\nnodes = [\"nodes.csv\"]\n{period}{UNIT}"));
    assert_eq!(scene.ask(ALLOCATED), EXPECTED);
    assert_eq!(scene.ask(FOUND), [""; 0]);
}
