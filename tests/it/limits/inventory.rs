//! An amount in a listing or table beyond that of any machine is refused by line, or left unpriced: it ends no run.

use super::{DUMPS, HEADER, Scene, pipeline, rejects, row};

/// Seconds of 10^15 cores do not fit a day's sum of a node: the run ended with 65.
#[test]
fn a_node_of_more_cores_than_any_machine_has_is_refused() {
    let scene = Scene::new();
    scene.write("dumps/a.txt", HEADER.to_owned() + &row(1, &[]));
    scene.write(
        "nodes.txt",
        "NodeName=o1 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=16384 Partitions=cpu State=IDLE\n\
         NodeName=o2 CPUTot=1000000000000000 RealMemory=16384 Partitions=cpu State=IDLE\n\
         NodeName=o3 CPUTot=4 RealMemory=16384 Gres=gpu:t4:900000000 Partitions=cpu State=IDLE\n",
    );
    let more = "[[inventory]]\nname = \"state\"\npaths = [\"nodes.txt\"]\ntimezone = \"UTC\"\nas_of = \"2026-10-01\"\n\
                site = \"S\"\ncluster = \"oak\"\n[overhead]\nbilling = \"overhead-aware\"\n\
                [[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"";
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    scene.run(&pipeline(&source, more));
    let refused: Vec<(i64, String)> = rejects(&scene).into_iter().map(|(_, line, why)| (line, why)).collect();
    assert_eq!(refused, [(2, "bad_number".to_owned()), (3, "bad_number".to_owned())]);
}

const STEEP: &str = "id = \"steep\"\nversion = \"1\"\ntitle = \"Steep\"\nsource = \"a test\"\npool = \"cpu\"\n\
                     unit = \"point\"\nformula = \"cores * 10000000 * 100000000\"\n\
                     [[example]]\nname = \"one\"\nin = { cores = 1, seconds = 3600 }\nexpect = 1000000000000000\n";

/// A charge of 10^15 units times 9 x 10^16 jobs does not fit 38 digits: the run ended with 65.
#[test]
fn an_addition_whose_charge_does_not_fit_is_unpriced_and_named() {
    let scene = Scene::new();
    scene.write("dumps/a.txt", HEADER.to_owned() + &row(1, &[]));
    scene.write("steep.toml", STEEP);
    let head = "id,action,site,month,vo,account,job_n,wall_s,alloc_core_s,cpu_ms,author,reason,date\n";
    let add = |amounts: &str| format!("{head}C1,add,S,2026-10,v,a,{amounts},E. Office,log lost,2026-11-05\n");
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    let text = pipeline(&source, "[[charge]]\npolicies = [\"steep.toml\"]")
        .replace("[[source]]", "corrections = \"corrections.csv\"\n[[source]]");
    scene.write(
        "corrections.csv",
        add("90000000000000000,90000000000000000,90000000000000000,"),
    );
    let report = scene.run(&text);
    let unpriced: Vec<(&str, &str)> = (report.unpriced_corrections.iter())
        .map(|of| (of.correction_id.as_str(), of.why.as_str()))
        .collect();
    assert!(
        matches!(unpriced[..], [("C1", why)] if why.starts_with("a number of the formula does not fit")),
        "{unpriced:?}"
    );
    let beyond = scene.path("corrections.csv");
    std::fs::write(&beyond, add("1,1,1,900000000000000000")).unwrap();
    let why = scene.try_run(&text).unwrap_err().to_string();
    assert!(why.contains("cpu_ms: 900000000000000000 is beyond 10^17"), "{why}");
}

/// The number of GPUs that a row means is not known: taken as none, all that jobs held of them would be held of nothing.
#[test]
fn a_number_in_the_column_of_gpus_is_refused() {
    let scene = Scene::new();
    scene.write("dumps/a.txt", HEADER.to_owned() + &row(1, &[]));
    let cells = ["4", "-1", "4x", "a100=4", "gpu:4", "0", "shard:8", "gpu:a100:2"];
    let nodes = cells.iter().enumerate();
    let nodes = nodes.map(|(nth, cell)| format!("n{nth},oak,64,{cell},cpu,2026-10-01\n"));
    let header = "node,cluster,cpu_n,gpus,partitions,as_of\n".to_owned();
    scene.write("nodes.csv", header + &nodes.collect::<String>());
    let more = "[[inventory]]\nname = \"state\"\npaths = [\"nodes.csv\"]\ntimezone = \"UTC\"\nsite = \"S\"\n\
                [overhead]\nbilling = \"overhead-aware\"\n[[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"";
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    scene.run(&pipeline(&source, more));
    let refused: Vec<(i64, String)> = rejects(&scene).into_iter().map(|(_, line, why)| (line, why)).collect();
    assert_eq!(refused, [2, 3, 4, 5].map(|line| (line, "bad_number".to_owned())));
}
