//! Small lakes with tables of energy: what they refuse, what they warn of, and what a run reports of months.

use super::lake::Case;

const SACCT: &str = "JobIDRaw|JobID|Cluster|Account|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|\
                     NodeList|AllocTRES|TotalCPU|ConsumedEnergyRaw\n";

/// A job of four cores of n1 that ran for some days of March 2024.
fn job(id: u32, cluster: &str, from: &str, until: &str, joules: &str) -> String {
    let day = |text: &str| text.parse::<i64>().unwrap();
    let seconds = (day(until) - day(from)) * 86_400;
    format!(
        "{id}|{id}|{cluster}|a|ana|cpu|2024-03-{from}T00:00:00|2024-03-{from}T00:00:00|2024-03-{until}T00:00:00|{seconds}|\
         COMPLETED|4|1|n1|cpu=4,mem=4G,node=1|1:00:00|{joules}\n"
    )
}

fn source(name: &str, site: &str) -> String {
    format!(
        "[[source]]\nname = \"{name}\"\nformat = \"sacct\"\npaths = [\"{name}.txt\"]\nsite = \"{site}\"\n\
         timezone = \"UTC\"\nvo = {{ column = \"account\" }}\n"
    )
}

fn case(sources: &[(&str, &str, &[String])], rest: &str) -> Case {
    let case = Case::empty();
    let mut pipeline = "[pipeline]\nname = \"p\"\noutput = \"lake\"\n".to_owned();
    for (name, site, jobs) in sources {
        case.write(&format!("{name}.txt"), &(SACCT.to_owned() + &jobs.concat()));
        pipeline.push_str(&source(name, site));
    }
    case.write("types.csv", "site,node_type,cores\n*,x,4\n");
    case.write("pipeline.toml", &(pipeline + rest));
    case
}

const METERED: &str = "[energy]\nmeters = \"meters.csv\"\nnodes = \"types.csv\"\nshared = \"allocated_cores\"\n";
const OVERHEAD: &str = "[[inventory]]\nname = \"nodes\"\nformat = \"csv\"\npaths = [\"nodes.csv\"]\nsite = \"OAK\"\n\
                        as_of = 2024-01-01\n[overhead]\n[[overhead.unit]]\nname = \"u\"\ncore = 1\n";

#[test]
fn a_meter_of_a_node_that_two_clusters_have_is_refused() {
    let jobs = |elm: (&str, &str)| [job(1, "oak", "05", "07", ""), job(2, "elm", elm.0, elm.1, "")];
    let at_once = jobs(("05", "07"));
    let case = case(&[("dump", "OAK", &at_once)], METERED);
    case.write(
        "meters.csv",
        "node,valid_from,valid_to,joules\nn1,2024-03-01,2024-03-31,30000\n",
    );
    let reported = case.stderr(&["run", "pipeline.toml"]);
    assert!(
        reported.contains("jobs of the clusters \"elm\" and \"oak\" ran on the node n1 at the same time"),
        "{reported}"
    );
    assert!(!case.path("lake/usage").exists());
    // A node that went from one cluster to the other has one meter, of which each has its days.
    case.write("dump.txt", &(SACCT.to_owned() + &jobs(("07", "09")).concat()));
    case.run();
    let sums = case.sums("energy_node_meter_j");
    assert_eq!(sums.values().copied().sum::<Option<i64>>(), Some(4000));
}

#[test]
fn a_meter_is_refused_whatever_the_months_of_its_jobs_and_the_run_they_came_in() {
    // A job that began on the last day of February, and one of another cluster that began within it.
    let oak = job(1, "oak", "01", "05", "")
        .replace("2024-03-01T00:00:00|2024-03-01T", "2024-02-29T00:00:00|2024-02-29T")
        .replace("|345600|", "|432000|");
    let elm = job(2, "elm", "02", "04", "");
    let two_runs = |first: &str, second: &str| {
        let case = case(&[("one", "OAK", &[first.to_owned()]), ("two", "OAK", &[])], METERED);
        case.write(
            "meters.csv",
            "node,valid_from,valid_to,joules\nn1,2024-02-01,2024-03-31,59000\n",
        );
        if !second.is_empty() {
            assert_eq!(case.run()["status"], "published");
            case.write("two.txt", &(SACCT.to_owned() + second));
        }
        case.stderr(&["run", "pipeline.toml"])
    };
    for (first, second) in [(oak.clone() + &elm, ""), (oak.clone(), &*elm), (elm.clone(), &*oak)] {
        let reported = two_runs(&first, second);
        assert!(
            reported.contains("jobs of the clusters \"elm\" and \"oak\" ran on the node n1 at the same time"),
            "{reported}"
        );
    }
    let later = job(2, "elm", "05", "07", "");
    let reported = two_runs(&oak, &later);
    assert!(!reported.contains("at the same time"), "{reported}");
}

#[test]
fn a_node_may_go_to_another_cluster_and_back() {
    let jobs = [
        job(1, "oak", "01", "02", ""),
        job(2, "elm", "03", "04", ""),
        job(3, "oak", "05", "06", ""),
        job(4, "oak", "06", "07", ""),
        job(5, "elm", "07", "08", ""),
    ];
    let case = case(&[("dump", "OAK", &jobs)], METERED);
    case.write(
        "meters.csv",
        "node,valid_from,valid_to,joules\nn1,2024-03-01,2024-03-31,30000\n",
    );
    case.run();
    let sums = case.sums("energy_node_meter_j");
    assert_eq!(sums.values().copied().sum::<Option<i64>>(), Some(5000));
}

#[test]
fn the_row_of_nodes_that_holds_at_the_start_counts_for_all_of_the_run() {
    let jobs = [job(1, "oak", "05", "07", "")];
    let rest = "[energy]\nnodes = \"types.csv\"\nshared = \"unused\"\n";
    let case = case(&[("dump", "OAK", &jobs)], rest);
    case.write(
        "types.csv",
        "site,node_type,cores,core_idle_w,core_full_w,valid_from,valid_to\nOAK,old,4,100,100,2024-01-01,2024-03-06\n\
         OAK,new,4,10,10,2024-03-06,\n",
    );
    case.run();
    let explained = case.gridtally(&["explain", "lake", "1"]);
    let line = "node type old: 4 cores, as of 2024-03-05T00:00:00Z for all of its run   (types.csv line 2)";
    assert!(explained.contains(line), "{explained}");
    let sums = case.sums("energy_modelled_j");
    assert_eq!(sums.values().copied().sum::<Option<i64>>(), Some(4 * 100 * 2 * 86_400));
}

#[test]
fn a_meter_is_not_split_over_two_nodes_of_one_name() {
    let jobs = [job(1, "oak", "05", "07", "")];
    let case = case(&[("dump", "OAK", &jobs)], &format!("{OVERHEAD}{METERED}"));
    case.write(
        "meters.csv",
        "node,valid_from,valid_to,joules\nn1,2024-03-01,2024-03-31,30000\n",
    );
    case.write("nodes.csv", "node,cluster,cpu_n\nn1,oak,4\nn1,elm,4\n");
    // The second cluster has jobs on other nodes alone.
    let other = job(2, "elm", "05", "07", "").replace("|n1|", "|n2|");
    case.write("dump.txt", &(SACCT.to_owned() + &jobs.concat() + &other));
    let reported = case.stderr(&["run", "pipeline.toml"]);
    assert!(
        reported.contains("several clusters have a node n1 at the same time"),
        "{reported}"
    );
}

#[test]
fn a_meter_without_a_site_is_refused_where_there_are_two() {
    let [oak, elm] = ["oak", "elm"].map(|cluster| [job(1, cluster, "05", "07", "")]);
    let case = case(&[("oak", "OAK", &oak), ("elm", "ELM", &elm)], METERED);
    case.write(
        "meters.csv",
        "node,valid_from,valid_to,joules\nn1,2024-03-01,2024-03-31,30000\n",
    );
    let reported = case.stderr(&["run", "pipeline.toml"]);
    assert!(
        reported.contains("the row of node n1 names no site, and 2 sites"),
        "{reported}"
    );
    case.write(
        "meters.csv",
        "site,node,valid_from,valid_to,joules\nOAK,n1,2024-03-01,2024-03-31,30000\n",
    );
    case.run();
}

#[test]
fn months_in_which_a_meter_counted_and_nothing_was_swept_have_rows() {
    let jobs = [job(1, "oak", "05", "07", "")];
    let case = case(&[("dump", "OAK", &jobs)], &format!("{OVERHEAD}{METERED}"));
    case.write(
        "meters.csv",
        "node,valid_from,valid_to,joules\nn1,2024-02-01,2024-03-01,2900\nn1,2024-03-01,2024-04-01,3100\n\
         n1,2024-04-01,2024-05-02,3001\n",
    );
    case.write("nodes.csv", "node,cluster,cpu_n\nn1,oak,4\n");
    case.run();
    let table = case.gridtally(&["report", "node-energy", "lake", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<std::collections::BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let of = |column: &str| rows.iter().map(|row| row[column].as_str()).collect::<Vec<_>>();
    assert_eq!(of("month"), ["2024-02", "2024-03", "2024-04", "2024-05"]);
    assert_eq!(of("meter_j"), ["2900", "3100", "2905", "96"]);
    assert_eq!(of("jobs_j"), ["0", "200", "0", "0"]);
    assert_eq!(of("unlisted_j"), ["2900", "2900", "2905", "96"]);
    assert!(
        case.gridtally(&["verify", "lake"])
            .contains("node_energy from energy_table")
    );
    let former = case.bytes("node_energy");
    assert_eq!(case.run()["status"], "unchanged");
    // A late job sweeps its month, and the others stay.
    case.write(
        "dump.txt",
        &(SACCT.to_owned() + &jobs.concat() + &job(2, "oak", "08", "09", "")),
    );
    case.run();
    let later = case.bytes("node_energy");
    let changed = later.iter().filter(|(path, bytes)| former.get(*path) != Some(bytes));
    assert_eq!(changed.count(), 1);
}

#[test]
fn what_was_recorded_on_the_day_itself_was_known_on_it() {
    let jobs = [job(1, "oak", "05", "07", "1000")];
    let pipeline = |day: &str| {
        format!("[energy]\npue = \"pue.csv\"\nnodes = \"types.csv\"\nshared = \"unused\"\nknown_on = {day}\n")
    };
    let case = case(&[("dump", "OAK", &jobs)], &pipeline("2026-06-30"));
    case.write(
        "pue.csv",
        "site,pue,valid_from,valid_to,recorded_at\nOAK,1.3,2020-01-01,,2026-01-01\nOAK,1.5,2024-03-01,,2026-06-30T12:00:00Z\n",
    );
    case.run();
    let of = || case.sums("energy_pue_j").values().copied().sum::<Option<i64>>();
    assert_eq!(of(), Some(1500));
    case.replace("pipeline.toml", "2026-06-30", "2026-06-29");
    case.run();
    assert_eq!(of(), Some(1300));
}

#[test]
fn without_a_table_of_nodes_the_energy_of_requested_nodes_is_known_and_nothing_warns_of_the_contrary() {
    let jobs = [job(1, "oak", "05", "07", "1000")];
    let case = case(&[("dump", "OAK", &jobs)], "[energy]\nmeters = \"meters.csv\"\n");
    case.write(
        "meters.csv",
        "node,valid_from,valid_to,joules\nn1,2024-03-01,2024-03-31,30000\n",
    );
    let warned = case.stderr(&["check", "pipeline.toml"]);
    assert!(
        warned.contains("energy is known only of jobs that requested nodes of their own"),
        "{warned}"
    );
    for wrong in ["all energy is unknown", "no part of a meter is known"] {
        assert!(!warned.contains(wrong), "{warned}");
    }
}

#[test]
fn a_recomputed_month_is_reported_with_all_its_energy() {
    // A row of PUE concerns the second job alone. The last one began in January, and is of other records.
    let january = job(3, "oak", "01", "02", "31000000")
        .replace("2024-03-01T00:00:00|2024-03-01T", "2024-01-31T00:00:00|2024-01-31T")
        .replace("|86400|", "|2678400|");
    let jobs = [
        job(1, "oak", "30", "31", "2000000").replace("2024-03-31T00:00:00|86400", "2024-04-01T00:00:00|172800"),
        job(2, "oak", "05", "06", "1000000"),
        january,
    ];
    let rest = "[energy]\npue = \"pue.csv\"\nnodes = \"types.csv\"\nshared = \"unused\"\n";
    let case = case(&[("dump", "OAK", &jobs)], rest);
    case.write(
        "pue.csv",
        "site,pue,valid_from,valid_to\nOAK,2,,2024-03-04\nOAK,1.2,2024-03-04,2024-03-15\nOAK,1.3,2024-03-15,\n",
    );
    case.run();
    case.replace("pue.csv", "OAK,1.2", "OAK,1.5");
    let report = case.run();
    let [month] = report["recomputed_energy"].as_array().unwrap().as_slice() else {
        panic!("{report:#}")
    };
    let of = |side: &str| month[side]["energy_pue_j"].as_i64();
    let usage = case.sums("energy_pue_j").values().copied().sum::<Option<i64>>();
    let others = 2_600_000 + 2_000_000;
    assert_eq!(
        (of("former"), of("now")),
        (Some(1_200_000 + others), Some(1_500_000 + others))
    );
    // Of January and February as well.
    assert_eq!(usage, Some(1_500_000 + others + 30 * 2_000_000));
}

#[test]
fn a_table_of_misspelt_sites_or_without_rows_is_named() {
    let jobs = [job(1, "oak", "05", "07", "1000")];
    let rest = "[energy]\npue = \"pue.csv\"\nintensity = \"intensity.csv\"\nbasis = \"location\"\nnodes = \"types.csv\"\n\
                shared = \"unused\"\n";
    let case = case(&[("dump", "OAK", &jobs)], rest);
    case.write("pue.csv", "site,pue,valid_from,valid_to\noak,1.2,,\nelm,1.3,,\n");
    case.write("intensity.csv", "site,basis,g_per_kwh,valid_from,valid_to\n");
    let reported = case.gridtally(&["run", "pipeline.toml"]);
    for line in [
        "pue.csv: no row is of OAK, and rows are of sites that the lake does not have: elm, oak",
        "intensity.csv: has no row, and states nothing of OAK",
    ] {
        assert!(reported.contains(line), "{reported}");
    }
    assert!(!reported.contains("types.csv"), "{reported}");
    // Tables of a federation have rows of other sites.
    case.write("pue.csv", "site,pue,valid_from,valid_to\nOAK,1.2,,\nelm,1.3,,\n");
    case.write(
        "intensity.csv",
        "site,basis,g_per_kwh,valid_from,valid_to\n*,location,30,,\nelm,location,30,,\n",
    );
    let report = case.run();
    assert!(report["energy_table_gaps"].is_null(), "{report:#}");
}

#[test]
fn cores_that_are_not_those_of_the_listing_are_named() {
    let jobs = [job(1, "oak", "05", "07", "1000")];
    let energy = "[energy]\nnodes = \"types.csv\"\nshared = \"unused\"\n";
    let case = case(&[("dump", "OAK", &jobs)], &format!("{OVERHEAD}{energy}"));
    case.write(
        "nodes.csv",
        "node,cluster,cpu_n\nn1,oak,4\nn2,oak,4\nn3,oak,8\nn4,oak,8\nn5,oak,16\n",
    );
    let reported = case.gridtally(&["run", "pipeline.toml"]);
    for line in [
        "[energy] types.csv:2: 4 cores, where the last listing of 2 nodes such as n3 has 8 CPUs",
        "[energy] types.csv:2: 4 cores, where the last listing of n5 has 16 CPUs",
    ] {
        assert!(reported.contains(line), "{reported}");
    }
    case.write(
        "types.csv",
        "site,node_type,nodes,cores\n*,x,\"n[1-2]\",4\n*,y,\"n[3-4]\",8\n*,z,n5,\n",
    );
    let report = case.run();
    assert!(report["energy_core_gaps"].is_null(), "{report:#}");
}

#[test]
fn a_list_that_names_a_node_twice_does_not_overlap_itself() {
    let jobs = [job(1, "oak", "05", "07", "1000")];
    let rest = "[energy]\nnodes = \"types.csv\"\nshared = \"unused\"\n";
    let case = case(&[("dump", "OAK", &jobs)], rest);
    case.write("types.csv", "site,node_type,nodes,cores\nOAK,x,\"n1,n1\",4\n");
    let reported = case.stderr(&["check", "pipeline.toml"]);
    assert!(!reported.contains("overlaps"), "{reported}");
    case.run();
}

/// A correction that takes out more core time than is left of jobs with energy leaves no part of a whole.
#[test]
fn a_percentage_is_empty_where_a_correction_leaves_no_part_of_a_whole() {
    let jobs = [job(1, "oak", "05", "07", "1000"), job(2, "oak", "05", "07", "")];
    let rest = "[energy]\nnodes = \"types.csv\"\nshared = \"unused\"\n";
    let case = case(&[("dump", "OAK", &jobs)], rest);
    case.replace(
        "pipeline.toml",
        "output = \"lake\"\n",
        "output = \"lake\"\ncorrections = \"c.csv\"\n",
    );
    let columns = [
        "core_h",
        "node_kwh",
        "known_percent",
        "exclusive_percent",
        "modelled_percent",
        "unknown_percent",
    ];
    let head = "id,action,site,month,vo,job_id,to_vo,job_n,wall_s,alloc_core_s,author,reason,date\n";
    // Both jobs had 192 core hours.
    for (added_s, expected) in [
        ("-345600", ["288.000", "0.000", "66.7", "66.7", "0.0", "33.3"]),
        ("-1000800", ["106.000", "0.000", "", "", "", ""]),
        ("-1386000", ["-1.000", "0.000", "", "", "", ""]),
    ] {
        case.write(
            "c.csv",
            &format!("{head}C1,add,OAK,2024-03,a,,,-1,-3600,{added_s},E. Office,log counted twice,2024-05-01\n"),
        );
        // A correction that was applied is not changed: each has a lake of its own.
        let _none_at_first = std::fs::remove_dir_all(case.path("lake"));
        case.run();
        let table = case.gridtally(&["report", "energy", "lake", "--group-by", "vo", "--format", "csv"]);
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let row: std::collections::BTreeMap<String, String> = reader.deserialize().next().unwrap().unwrap();
        assert_eq!(columns.map(|column| row[column].as_str()), expected, "{table}");
        // The file next to the page of the site has the same rows, with more digits.
        case.gridtally(&["report", "site", "lake", "--out", "board"]);
        let csv = std::fs::read_to_string(case.path("board/energy.csv")).unwrap();
        let known = expected[2];
        let amounts = format!(",{}000000,0.000277778,{known},", expected[0]);
        assert!(csv.contains(&amounts), "{amounts} is not in {csv}");
    }
}
