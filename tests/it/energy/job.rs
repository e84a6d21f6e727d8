//! The class of a job's energy, and its figure, worked out by hand.

use gridtally::energy::{EnergyClass, EnergyPlan, EnergyTables, JobLoad, OwnNodes, RunSpan, SharedRule, SiteEnergy};
use gridtally::reference::energy::node_rows::NodePlace;

use super::{HOUR_MS, named, plan_of};

fn plan(rows: &str, shared: SharedRule) -> EnergyPlan {
    let head = "site,node_type,partition,nodes,cores,exclusive,core_idle_w,core_full_w,gpu_idle_w,gpu_full_w,memory_w_per_gb,\
                embodied_kg,lifetime_years\n";
    let tables = EnergyTables {
        nodes: Some(named("nodes.csv", &format!("{head}{rows}"))),
        ..EnergyTables::default()
    };
    plan_of(tables, shared)
}

/// An hour of two cores on a node, half of whose time they computed, that used 1 kWh meanwhile.
fn load() -> JobLoad<'static> {
    JobLoad {
        place: NodePlace {
            site: "OAK",
            cluster: None,
            partition: Some("cpu"),
            node_list: Some("n1"),
            at_ms: 0,
        },
        core_n: Some(2),
        node_n: Some(1),
        gpu_n: Some(0),
        memory_byte: Some(8_000_000_000),
        wall_ms: HOUR_MS,
        held_ms: HOUR_MS,
        cpu_ms: Some(HOUR_MS),
        gpu_busy_ms: None,
        gpu_stated_ms: None,
        has_requested_own_nodes: false,
        stated_j: Some(3_600_000),
        metered_uj: None,
    }
}

const RUN: RunSpan = RunSpan {
    from_ms: 0,
    until_ms: HOUR_MS,
};

/// Class and joules.
fn rated(rows: &str, shared: SharedRule, load: JobLoad<'_>) -> Option<(EnergyClass, i64)> {
    let plan = plan(rows, shared);
    let job = SiteEnergy::new(&plan, "OAK").job(&load, RUN);
    job.energy.map(|energy| (energy.class, energy.energy_j))
}

#[test]
fn a_reading_is_the_jobs_own_where_it_had_its_nodes_to_itself() {
    let own = Some((EnergyClass::Exclusive, 3_600_000));
    assert_eq!(
        rated("OAK,t,,,2,,,,,,,,\n", SharedRule::Unused, load()),
        own,
        "all cores"
    );
    assert_eq!(
        rated("OAK,t,,,,yes,,,,,,,\n", SharedRule::Unused, load()),
        own,
        "by the table"
    );
    let two = JobLoad {
        node_n: Some(2),
        core_n: Some(4),
        place: NodePlace {
            node_list: Some("n[1-2]"),
            ..load().place
        },
        ..load()
    };
    assert_eq!(rated("OAK,t,,,2,,,,,,,,\n", SharedRule::Unused, two), own, "two nodes");
    assert_eq!(
        rated("OAK,t,,n1,2,,,,,,,,\nOAK,u,,n2,4,,,,,,,,\n", SharedRule::Unused, two),
        None,
        "6 cores"
    );
}

#[test]
fn of_a_reading_of_a_shared_node_the_job_has_its_share() {
    let rows = "OAK,t,,,16,,,,,,,,\n";
    // 2 of 16 cores of 3.6 MJ.
    let by_cores = Some((EnergyClass::Apportioned, 450_000));
    assert_eq!(rated(rows, SharedRule::AllocatedCores, load()), by_cores);
    // 1 of 16 core hours of 3.6 MJ.
    let by_cpu = Some((EnergyClass::Apportioned, 225_000));
    assert_eq!(rated(rows, SharedRule::CpuTime, load()), by_cpu);
    assert_eq!(rated(rows, SharedRule::Unused, load()), None);
    let without_cpu = JobLoad { cpu_ms: None, ..load() };
    assert_eq!(rated(rows, SharedRule::CpuTime, without_cpu), None, "unknown CPU time");
    let without_cores = JobLoad { core_n: None, ..load() };
    assert_eq!(
        rated(rows, SharedRule::AllocatedCores, without_cores),
        None,
        "unknown cores"
    );
    // One joule of three cores of eight: 0.375 is rounded down, 1.5 of four joules up.
    let joules = |stated_j: i64| {
        let load = JobLoad {
            stated_j: Some(stated_j),
            core_n: Some(3),
            ..load()
        };
        rated("OAK,t,,,8,,,,,,,,\n", SharedRule::AllocatedCores, load).map(|(_, energy_j)| energy_j)
    };
    assert_eq!((joules(1), joules(4)), (Some(0), Some(2)));
}

#[test]
fn without_a_reading_the_type_of_the_nodes_models_it() {
    let unread = JobLoad {
        stated_j: None,
        ..load()
    };
    // Two cores at 5 W for an hour, and 10 W more for the hour of CPU time.
    let rows = "OAK,t,,,16,,5,15,,,,,\n";
    assert_eq!(
        rated(rows, SharedRule::Unused, unread),
        Some((EnergyClass::Modelled, 36_000 + 36_000))
    );
    // 8 GB at 0.375 W for an hour.
    let rows = "OAK,t,,,16,,5,15,,,0.375,,\n";
    assert_eq!(
        rated(rows, SharedRule::Unused, unread),
        Some((EnergyClass::Modelled, 72_000 + 10_800))
    );
    let without_memory = JobLoad {
        memory_byte: None,
        ..unread
    };
    assert_eq!(rated(rows, SharedRule::Unused, without_memory), None, "unknown memory");
    // Three GPUs of 300 W, a third of their time busy; and at full power where that is not stated.
    let gpus = JobLoad {
        gpu_n: Some(3),
        gpu_busy_ms: Some(HOUR_MS),
        gpu_stated_ms: Some(3 * HOUR_MS),
        ..unread
    };
    let rows = "OAK,t,,,16,,5,15,50,300,,,\n";
    let busy = 72_000 + 3 * 50 * 3600 + 250 * 3600;
    assert_eq!(
        rated(rows, SharedRule::Unused, gpus),
        Some((EnergyClass::Modelled, busy))
    );
    let unstated = JobLoad {
        gpu_busy_ms: None,
        gpu_stated_ms: None,
        ..gpus
    };
    let full = 72_000 + 3 * 300 * 3600;
    assert_eq!(
        rated(rows, SharedRule::Unused, unstated),
        Some((EnergyClass::Modelled, full))
    );
    assert_eq!(
        rated("OAK,t,,,16,,5,15,,,,,\n", SharedRule::Unused, gpus),
        None,
        "GPUs of unknown power"
    );
    let without_cpu = JobLoad { cpu_ms: None, ..unread };
    assert_eq!(
        rated("OAK,t,,,16,,5,15,,,,,\n", SharedRule::Unused, without_cpu),
        None,
        "unknown CPU time"
    );
    // CPU time above that of the cores counts as that of the cores.
    let above = JobLoad {
        cpu_ms: Some(9 * HOUR_MS),
        ..unread
    };
    let rows = "OAK,t,,,16,,5,15,,,,,\n";
    assert_eq!(
        rated(rows, SharedRule::Unused, above),
        Some((EnergyClass::Modelled, 2 * 15 * 3600))
    );
}

#[test]
fn nodes_of_two_types_share_a_job_by_their_cores() {
    let rows = "OAK,t,,n1,2,,1,1,,,,315.36,5\nOAK,u,,n2,6,,9,9,,,,630.72,5\n";
    let two = JobLoad {
        place: NodePlace {
            node_list: Some("n[1-2]"),
            ..load().place
        },
        node_n: Some(2),
        core_n: Some(4),
        stated_j: None,
        ..load()
    };
    // A quarter of four core hours at 1 W, three quarters at 9 W.
    assert_eq!(
        rated(rows, SharedRule::Unused, two),
        Some((EnergyClass::Modelled, 3600 + 3 * 9 * 3600))
    );
    let plan = plan(rows, SharedRule::Unused);
    let job = SiteEnergy::new(&plan, "OAK").job(&two, RUN);
    // 2 mg a second over 2 cores, and 4 over 6: 3600 s of one core, and 10 800 s of the others.
    assert_eq!(job.embodied_mg(4 * HOUR_MS), Some(3600 + 7200));
}

#[test]
fn carbon_of_nodes_is_rounded_once_whatever_the_rows() {
    // Half a mg a second on each of four nodes, of one lifetime or of several.
    let load = JobLoad {
        place: NodePlace {
            node_list: Some("n[1-4]"),
            ..load().place
        },
        node_n: Some(4),
        core_n: Some(4),
        ..load()
    };
    let of = |rows: &str| {
        let plan = plan(rows, SharedRule::Unused);
        SiteEnergy::new(&plan, "OAK").job(&load, RUN).embodied_mg(4 * 1000)
    };
    let row = |node: &str, kg: &str, years: &str| format!("OAK,t,,{node},1,,,,,,,{kg},{years}\n");
    assert_eq!(of(&row("n[1-4]", "15.768", "1")), Some(2));
    let each = ["n1", "n2", "n3", "n4"].map(|node| row(node, "15.768", "1"));
    assert_eq!(of(&each.concat()), Some(2));
    let several = [
        row("n1", "15.768", "1"),
        row("n2", "47.304", "3"),
        row("n3", "110.376", "7"),
        row("n4", "23.652", "1.5"),
    ];
    assert_eq!(of(&several.concat()), Some(2));
}

#[test]
fn archer2_states_such_figures_of_scope_3() {
    // 4 400 000 kg over 5860 nodes of 128 cores and six years: 64 nodes for 870 s are 15.467 CU, at .0142856 kg each.
    let rows = "OAK,t,,,128,,,,,,,750.8532,6\n";
    let plan = plan(rows, SharedRule::Unused);
    let job = SiteEnergy::new(&plan, "OAK").job(&load(), RUN);
    assert_eq!(job.embodied_mg(64 * 128 * 870 * 1000), Some(220_951));
}

#[test]
fn a_node_without_a_row_leaves_all_unknown() {
    let rows = "OAK,t,,n2,2,,5,15,,,,100,5\n";
    assert_eq!(rated(rows, SharedRule::AllocatedCores, load()), None);
    let plan = plan(rows, SharedRule::AllocatedCores);
    let job = SiteEnergy::new(&plan, "OAK").job(&load(), RUN);
    assert_eq!(job.embodied_mg(HOUR_MS), None);
}

/// What a job was given counts more than what it requested; what it requested counts where nothing states the cores of its nodes.
#[test]
fn a_request_for_own_nodes_counts_where_their_cores_are_not_known() {
    let requested = JobLoad {
        has_requested_own_nodes: true,
        ..load()
    };
    let rate = |rows: &str, load: JobLoad<'_>| {
        let plan = plan(rows, SharedRule::AllocatedCores);
        let job = SiteEnergy::new(&plan, "OAK").job(&load, RUN);
        (job.energy.map(|energy| (energy.class, energy.energy_j)), job.own_nodes)
    };
    let own = Some((EnergyClass::Exclusive, 3_600_000));
    // No row, and a row without cores: without the request the reading is nobody's.
    for rows in ["OAK,t,,n2,2,,,,,,,,\n", "OAK,t,,,,,,,,,,,\n"] {
        assert_eq!(rate(rows, load()), (None, None), "{rows}");
        assert_eq!(rate(rows, requested), (own, Some(OwnNodes::Requested)), "{rows}");
    }
    // Two of four cores are a half, whatever was requested; all of two are all.
    let half = Some((EnergyClass::Apportioned, 1_800_000));
    assert_eq!(rate("OAK,t,,,4,,,,,,,,\n", requested), (half, None));
    assert_eq!(rate("OAK,t,,,2,,,,,,,,\n", requested), (own, Some(OwnNodes::AllCores)));
    // The table of the site precedes both.
    let rows = "OAK,t,,,4,yes,,,,,,,\n";
    assert_eq!(rate(rows, load()), (own, Some(OwnNodes::OneJobAtATime)));
    // Without a reading there is nothing to have.
    let unread = JobLoad {
        stated_j: None,
        ..requested
    };
    assert_eq!(rate("OAK,t,,n2,2,,,,,,,,\n", unread), (None, None));
}
