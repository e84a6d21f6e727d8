//! A real Slurm cluster, and a real workload with a node for every processor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Scene;

fn shared(test: &str, folder: &str) -> Option<PathBuf> {
    crate::support::collect::shared(test, folder)
}

/// Allocated, down and reported seconds of a resource, as `sreport cluster utilization -T ALL -t seconds` prints them.
/// In 24.11 the heading of the columns is wrong, their order is not: Allocated, Down, Planned Down, Idle, Planned, Reported.
fn sreport(file: &Path) -> BTreeMap<String, [i128; 3]> {
    let text = std::fs::read_to_string(file).unwrap();
    let rows = text.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let rows = rows.filter(|cells| cells.len() == 8 && cells[0] != "Cluster");
    rows.map(|cells| {
        let number = |at: usize| cells[at].parse().unwrap();
        (cells[1].to_owned(), [number(2), number(3), number(7)])
    })
    .collect()
}

#[test]
fn allocated_and_down_are_what_sreport_states_about_the_month_and_the_day_of_25_hours() {
    let test = "allocated_and_down_are_what_sreport_says_of_the_month_and_the_day_of_25_hours";
    let Some(root) = shared(test, "data/slurm/24.11-history") else {
        return;
    };
    let root = root.display();
    let pipeline = format!(
        "[pipeline]\nname = \"zoo\"\noutput = \"lake\"\ncalendar_timezone = \"Europe/Zurich\"\nmax_rejected = 1.0\n\
         [[source]]\nname = \"zoo\"\nformat = \"sacct\"\npaths = [\"{root}/sacct_months_D_P.txt.xz\"]\nsite = \"ZOO\"\n\
         timezone = \"Europe/Zurich\"\nvo = {{ column = \"account\" }}\n\
         [[inventory]]\nname = \"machine\"\npaths = [\"{root}/sacctmgr_event_P.txt\", \"{root}/scontrol_part_o.txt\"]\n\
         site = \"ZOO\"\ncluster = \"zoo24\"\ntimezone = \"Europe/Zurich\"\nas_of = \"2026-11-21\"\n\
         [overhead]\nnodes = [\"{root}/scontrol_node_o.txt\"]\nperiod = {{ from = \"2026-10-01\", to = \"2026-11-01\" }}\n\
         [[overhead.unit]]\nname = \"1core+2GiB\"\ncore = 1\nmemory = \"2GiB\"\n"
    );
    let scene = Scene::new(&[]);
    scene.run(&pipeline);
    for (days, file) in [
        ("day <= '2026-10-31'", "sreport_cluster_utilization.txt"),
        ("day = '2026-10-25'", "sreport_dstday_cluster_utilization.txt"),
    ] {
        let truth = sreport(&PathBuf::from(format!("{root}/{file}")));
        for (resource, name, per) in [
            ("core", "cpu", 1),
            ("memory_byte", "mem", 1 << 20),
            ("gpu", "gres/gpu", 1),
        ] {
            // Jobs overlap for a second where one starts in the second in which another ends: Slurm counts both.
            let rows = scene.ask(&format!(
                "SELECT sum(allocated_{resource}_s + over_allocated_{resource}_s), sum(down_{resource}_s), \
                 sum(capacity_{resource}_s) FROM overhead WHERE {days}"
            ));
            let ours: Vec<i128> = rows[0].split(' ').map(|n| n.parse::<i128>().unwrap() / per).collect();
            assert_eq!(ours, truth[name], "{name} {file}");
        }
    }
    let over = scene.ask("SELECT sum(over_allocated_core_s), sum(capacity_core_s) FROM overhead");
    assert_eq!(over, ["180 729504000"]);
}

/// Nodes of the workload as its machine file has them: cores, memory and the numbers the jobs name. The file states how
/// many there are of each kind, the jobs which ones.
const WAGAP_NODES: &str = "node,cpu_n,memory_byte,partitions\n\
    \"1129,1130,1131,1132,1133,1134,1135,1238,1239,1240,1241,1242,1243,1244,1245,1246,1247,1248\",80,542132666368,zewura\n\
    \"1255,1256,1257,1259,1260,1261,1262,1264,1267,1269,1270,1271,1272,1273,1274,1275,1276,1277,1278,1279,1281,1282,1284,\
    1285,1286,1288\",12,96292831232,zegox\n";

#[test]
fn a_year_of_placed_processors_closes_and_names_what_the_log_cannot_mean() {
    let test = "a_year_of_placed_processors_closes_and_names_what_the_log_cannot_mean";
    let Some(file) = shared(test, "data/traces/swf/wagap-2013.swf.gz") else {
        return;
    };
    let pipeline = format!(
        "[pipeline]\nname = \"wagap\"\noutput = \"lake\"\ncalendar_timezone = \"Europe/Prague\"\nmax_rejected = 1.0\n\
         [[source]]\nname = \"wagap\"\nformat = \"swf\"\npaths = [\"{}\"]\nsite = \"CZ\"\nunix_start_time = 0\n\
         vo = {{ value = \"meta\" }}\n[overhead]\nnodes = [\"nodes.csv\"]\n\
         [[overhead.unit]]\nname = \"1core+2GiB\"\ncore = 1\nmemory = \"2GiB\"\n",
        file.display()
    );
    let scene = Scene::new(&[("nodes.csv", WAGAP_NODES)]);
    let report = scene.run(&pipeline);
    let swept = report.overhead.as_ref().unwrap();
    assert!(swept.month_n == 4, "{} months", swept.month_n);
    // The identity, row by row and resource by resource.
    for resource in ["core", "memory_byte", "gpu"] {
        let open = scene.ask(&format!(
            "SELECT count(*) FROM overhead WHERE capacity_{resource}_s <> allocated_{resource}_s + overhead_{resource}_s \
             + stranded_{resource}_s + down_{resource}_s + reserved_{resource}_s"
        ));
        assert_eq!(open, ["0"], "{resource}");
    }
    let found = scene.ask(
        "SELECT round(sum(capacity_core_s) / 3.6e9, 2), round(100 * sum(allocated_core_s) / sum(capacity_core_s), 1), \
         round(100 * sum(overhead_core_s) / sum(capacity_core_s), 1), \
         round(100 * sum(stranded_core_s) / sum(capacity_core_s), 1) FROM overhead",
    );
    assert_eq!(found, ["4.67 57.4 34.8 7.7"]);
    // More than a node has is listed by node and time, none of it is cut off in silence.
    let over = scene.ask(
        "SELECT count(DISTINCT node), sum(over_s) = (SELECT sum(over_allocated_core_s) + sum(over_allocated_memory_byte_s) \
         FROM overhead), bool_and(used_n > capacity_n) FROM overhead_finding WHERE kind = 'over_allocated'",
    );
    assert_eq!(over, ["11 True True"]);
}
