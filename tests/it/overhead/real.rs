//! A real Slurm cluster and a real trace with a node for every processor.

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
fn allocated_and_down_are_what_sreport_says_of_the_month_and_the_day_of_25_hours() {
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
