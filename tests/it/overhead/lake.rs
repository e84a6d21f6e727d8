//! What the datasets hold, worked by hand, and that they are the same however they came to be.

use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;

use super::{OVERHEAD, Scene};

pub(super) const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Suspended|NCPUS|NNodes|AllocTRES|TotalCPU|NodeList\n";
/// Two jobs of October and one that runs into November.
const OCTOBER: &str = "1|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T12:00:00|43200|00:00:00|2|1|cpu=2,mem=4G,node=1|00:10:00|o1\n\
    2|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T06:00:00|2026-10-30T18:00:00|43200|00:00:00|3|2|cpu=3,mem=6G,node=2|00:10:00|o[1-2]\n\
    3|oak|u|a|cpu|COMPLETED|2026-10-31T00:00:00|2026-10-31T18:00:00|2026-11-01T06:00:00|32400|03:00:00|4|1|cpu=4,mem=1G,node=1|00:10:00|o2\n";
const NOVEMBER: &str = "4|oak|u|a|excl|COMPLETED|2026-11-02T00:00:00|2026-11-02T00:00:00|2026-11-02T01:00:00|3600|00:00:00|4|1|cpu=4,mem=1G,node=1|00:10:00|o1\n\
    5|oak|u|a|cpu|COMPLETED|2026-11-02T00:00:00|2026-11-02T02:00:00|2026-11-02T03:00:00|3600|00:00:00|1|1|cpu=1,mem=1G,node=1|00:10:00|lost\n";
const NODES: &str = "NodeName=o1 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=16384 Partitions=cpu,excl State=IDLE\n\
    NodeName=o2 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=8192 Gres=gpu:t4:2 Partitions=cpu State=IDLE\n";
const PARTITIONS: &str = "PartitionName=excl TotalCPUs=4 TotalNodes=1 Nodes=o1 OverSubscribe=EXCLUSIVE State=UP\n";
const EVENTS: &str = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n\
    oak|o1|2026-10-30T15:00:00|2026-10-30T20:00:00|DRAIN|fan\n\
    oak|o2|2026-10-30T20:00:00|2026-10-30T22:00:00|MAINT|firmware\n";

const HEAD: &str = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
    paths = [\"jobs-*.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n\
    [[inventory]]\nname = \"state\"\npaths = [\"events.txt\", \"partitions.txt\"]\ntimezone = \"UTC\"\nas_of = \"2026-10-01\"\n";

pub(super) fn pipeline(overhead: &str) -> String {
    format!("{HEAD}[overhead]\n{overhead}\n")
}

pub(super) const UNITS: &str =
    "[[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n[[overhead.unit]]\nname = \"gpu\"\ngpu = 1\n";
pub(super) const LISTED: &str = "nodes = [\"nodes.txt\"]\n";

pub(super) fn scene(months: &[(&str, &str)]) -> Scene {
    let scene = Scene::new(&[
        ("nodes.txt", NODES),
        ("partitions.txt", PARTITIONS),
        ("events.txt", EVENTS),
    ]);
    for (name, rows) in months {
        scene.write(&format!("jobs-{name}.txt"), &format!("{HEADER}{rows}"));
    }
    scene
}

pub(super) const BOTH: [(&str, &str); 2] = [("10", OCTOBER), ("11", NOVEMBER)];

#[test]
fn a_day_of_two_nodes_by_hand() {
    let scene = scene(&BOTH);
    let report = scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    assert_eq!(report.overhead.as_ref().map(|overhead| overhead.month_n), Some(2));
    // Hours of 2026-10-30. o1 has 4 cores, 16 GiB: job 1 holds 2 cores and 4 GiB to 12:00, half of job 2 (the first of two
    // nodes takes the odd core) 2 cores and 3 GiB from 6:00 to 18:00; from 15:00 to 20:00 it drains. o2 has 4 cores, 8 GiB
    // and 2 GPUs: the other half, 1 core and 3 GiB; from 20:00 to 22:00 it is in maintenance.
    let asked = scene.ask(
        "SELECT node, unit, up_s // 3600, unit_s // 3600, capacity_core_s // 3600, allocated_core_s // 3600, \
         overhead_core_s // 3600, stranded_core_s // 3600, down_core_s // 3600, reserved_core_s // 3600 \
         FROM overhead WHERE day = '2026-10-30' ORDER BY node, unit",
    );
    assert_eq!(
        asked,
        [
            // Free on o1: 2 cores to 6:00, none to 12:00, 2 to 15:00, then (2 drained to 18:00, 4 to 20:00) 4 to midnight.
            "o1 1c2g 19 34 96 48 34 0 14 0",
            "o1 gpu 19 0 96 48 0 34 14 0",
            // Free on o2: 4 cores to 6:00, 3 cores and 5 GiB (2 units) to 18:00, 4 cores but for the maintenance.
            "o2 1c2g 22 64 96 12 64 12 0 8",
            "o2 gpu 22 44 96 12 0 76 0 8",
        ]
    );
    // Three hours of job 3 were suspended: its cores are given back at its end, its memory is not.
    let asked = scene.ask(
        "SELECT day, allocated_core_s // 3600, allocated_memory_byte_s::HUGEINT // 3600 // 1073741824 FROM overhead \
         WHERE node = 'o2' AND unit = '1c2g' AND day BETWEEN '2026-10-31' AND '2026-11-01' ORDER BY day",
    );
    assert_eq!(asked, ["2026-10-31 24 6", "2026-11-01 12 6"]);
    // The job that has o1 to itself leaves room for nothing, and holds what Slurm gave it.
    let asked = scene.ask(
        "SELECT unit_s // 3600, allocated_memory_byte_s::HUGEINT // 3600 // 1073741824, overhead_core_s // 3600 FROM overhead \
         WHERE node = 'o1' AND unit = '1c2g' AND day = '2026-11-02'",
    );
    assert_eq!(asked, ["92 1 92"]);
    let asked = scene.ask("SELECT kind, node, job_n, over_s FROM overhead_finding ORDER BY ALL");
    assert_eq!(asked, ["node_unknown lost 1 3600"]);
    let asked = scene.ask(
        "SELECT units_n, sum(time_s) // 3600 FROM overhead_histogram WHERE unit = 'gpu' AND partition = 'cpu' \
         AND month = '2026-10-01' GROUP BY ALL ORDER BY ALL",
    );
    assert_eq!(
        asked,
        ["2 46"],
        "the two hours of maintenance are none of a node that takes jobs"
    );
}

#[test]
fn cu_16_other_thresholds_leave_the_bytes_of_usage_and_records_alone() {
    let scene = scene(&BOTH);
    scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    let (usage, overhead) = (scene.bytes(&["usage", "records"]), scene.bytes(&OVERHEAD));
    let other = UNITS.replace("core = 1", "core = 2");
    let report = scene.run(&pipeline(&format!("{LISTED}{other}")));
    assert_eq!(report.status, Status::Published);
    assert_eq!(report.files_read_n, 0, "no input is read again");
    assert_eq!(scene.bytes(&["usage", "records"]), usage);
    assert_ne!(scene.bytes(&OVERHEAD), overhead);
    let report = scene.run(HEAD);
    assert!(scene.bytes(&OVERHEAD).is_empty(), "{:?}", report.removed);
    assert_eq!(scene.bytes(&["usage", "records"]), usage);
}

#[test]
fn cu_10_what_was_allocated_counts_never_what_was_used() {
    // Both jobs are given 8 GiB and 4 cores for a day of 24 hours; one uses it all, the other 1 GiB and hardly any CPU.
    let of = |rss: &str, cpu: &str| {
        let scene = Scene::new(&[(
            "nodes.txt",
            "NodeName=o1 CPUTot=8 RealMemory=16384 Partitions=cpu State=IDLE\n",
        )]);
        let header = HEADER.replace("|NodeList", "|NodeList|MaxRSS");
        let row = format!(
            "1|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-31T00:00:00|86400|00:00:00|4|1|\
             cpu=4,mem=8G,node=1|{cpu}|o1|{rss}\n"
        );
        scene.write("jobs-10.txt", &format!("{header}{row}"));
        let inventories = HEAD.find("[[inventory]]").unwrap();
        scene.run(&format!("{}[overhead]\n{LISTED}{UNITS}", &HEAD[..inventories]));
        scene.ask(
            "SELECT allocated_core_s // 86400, allocated_memory_byte_s::HUGEINT // 86400 // 1073741824, unit_s // 86400 \
             FROM overhead WHERE unit = '1c2g'",
        )
    };
    assert_eq!(of("8388608K", "4-00:00:00"), ["4 8 4"]);
    assert_eq!(of("1048576K", "00:00:05"), ["4 8 4"]);
}

#[test]
fn night_by_night_gives_the_bytes_of_one_go_whatever_the_threads() {
    let pipeline = pipeline(&format!("{LISTED}{UNITS}"));
    let whole = scene(&BOTH);
    whole.run(&pipeline);
    let expected = whole.bytes(&OVERHEAD);
    assert!(expected.len() >= 7, "{:?}", expected.keys());
    for (nights, threads) in [([BOTH[0], BOTH[1]], 1), ([BOTH[1], BOTH[0]], 3)] {
        let nightly = scene(&nights[..1]);
        let options = RunOptions {
            threads: Some(threads),
            ..RunOptions::default()
        };
        nightly.run_with(&pipeline, &options);
        nightly.write(
            &format!("jobs-{}.txt", nights[1].0),
            &format!("{HEADER}{}", nights[1].1),
        );
        nightly.run_with(&pipeline, &options);
        assert!(
            nightly.bytes(&OVERHEAD) == expected,
            "{:?}",
            nightly.bytes(&OVERHEAD).keys()
        );
        assert_eq!(nightly.run_with(&pipeline, &options).status, Status::Unchanged);
    }
}

#[test]
fn another_listing_changes_all_that_depends_on_it() {
    let scene = scene(&BOTH);
    let pipeline = pipeline(&format!("{LISTED}{UNITS}"));
    scene.run(&pipeline);
    let capacity = "SELECT sum(capacity_core_s) // 3600 FROM overhead WHERE unit = 'gpu' AND day = '2026-10-30'";
    assert_eq!(scene.ask(capacity), ["192"]);
    scene.write(
        "nodes.txt",
        &NODES.replace(
            "CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=8192",
            "CPUTot=8 Sockets=1 CoresPerSocket=8 RealMemory=8192",
        ),
    );
    scene.run(&pipeline);
    // The former listing is in the lake, but without a date it only holds while the file was there.
    assert_eq!(scene.ask(capacity), ["288"]);
}

#[test]
fn a_dated_listing_holds_until_the_next() {
    let scene = scene(&BOTH);
    let listing = |cpu_n: i64| format!("NodeName=o1 CPUTot={cpu_n} Partitions=cpu State=IDLE\n");
    scene.write("before.txt", &listing(4));
    scene.write("after.txt", &listing(6));
    let inventory = |name: &str, as_of: &str| {
        format!("[[inventory]]\nname = \"{name}\"\npaths = [\"{name}.txt\"]\ntimezone = \"UTC\"\nas_of = \"{as_of}\"\n")
    };
    let pipeline = format!(
        "{HEAD}{}{}[overhead]\nperiod = {{ from = 2026-10-30, to = \"2026-11-03\" }}\n{UNITS}",
        inventory("before", "2026-10-31"),
        inventory("after", "2026-11-02"),
    );
    scene.run(&pipeline);
    let asked =
        scene.ask("SELECT day, capacity_core_s // 86400 FROM overhead WHERE node = 'o1' AND unit = 'gpu' ORDER BY day");
    assert_eq!(asked, ["2026-10-30 4", "2026-10-31 4", "2026-11-01 4", "2026-11-02 6"]);
    // Nodes without a listing are unknown, not empty.
    let asked =
        scene.ask("SELECT DISTINCT unit_s, overhead_core_s, capacity_memory_byte_s FROM overhead WHERE unit = '1c2g'");
    assert_eq!(asked, ["NULL NULL NULL"]);
    let asked =
        scene.ask("SELECT kind, node, resource FROM overhead_finding WHERE kind = 'capacity_unknown' GROUP BY ALL");
    assert_eq!(asked, ["capacity_unknown o1 memory"]);
}

#[test]
fn jobs_substitute_for_an_inventory_when_asked_to_and_it_is_reported() {
    let scene = scene(&BOTH);
    let report = scene.run(&pipeline(&format!(
        "nodes = \"from-jobs\"\nbilling = \"whole-node\"\n{UNITS}"
    )));
    assert!(report.overhead.as_ref().is_some_and(|overhead| overhead.is_from_jobs));
    assert!(report.text().contains("most that jobs held"), "{}", report.text());
    let asked = scene.ask(
        "SELECT node, is_from_jobs, capacity_core_s // 86400, capacity_memory_byte_s::HUGEINT // 86400 // 1073741824, \
         billed_core_s // 3600 FROM overhead WHERE unit = '1c2g' AND day = '2026-10-30' ORDER BY node",
    );
    assert_eq!(asked, ["lost True 1 1 0", "o1 True 4 7 72", "o2 True 4 3 48"]);
    assert!(scene.ask("SELECT * FROM overhead_finding").is_empty());
}

#[test]
fn an_inventory_of_no_site_belongs_to_the_only_one() {
    let scene = scene(&BOTH);
    scene.write("jobs-b.txt", &format!("{HEADER}{}", NOVEMBER.replace("|oak|", "|elm|")));
    let two = HEAD.replace("jobs-*.txt", "jobs-1*.txt")
        + "[[source]]\nname = \"other\"\nformat = \"sacct\"\npaths = [\"jobs-b.txt\"]\nsite = \"B\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n";
    let error = scene
        .try_run(&format!("{two}[overhead]\n{LISTED}{UNITS}"), &RunOptions::default())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("names no site, and jobs are of several (A, B)"),
        "{error}"
    );
}

#[test]
fn verify_finds_a_ledger_that_does_not_close() {
    use arrow_array::{ArrayRef, Int64Array};
    use gridtally::store::{Manifest, Store, read_table};

    let scene = scene(&BOTH);
    scene.run(&pipeline(&format!("{LISTED}{UNITS}")));
    let lake = scene.path("lake");
    let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let path = manifest.dataset("overhead").next().unwrap().path.clone();
    let batch = read_table(store.reader(&path).unwrap(), None, 10_000)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let at = batch.schema().index_of("down_core_s").unwrap();
    let mut columns = batch.columns().to_vec();
    let wrong: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![7; batch.num_rows()]));
    columns[at] = wrong;
    let batch = arrow_array::RecordBatch::try_new(batch.schema(), columns).unwrap();
    crate::support::forge::forge_rows(&lake, &path, |_| batch.clone());
    let found = gridtally::audit::verify::verify(lake.to_str().unwrap()).unwrap();
    assert!(found.text().contains("are accounted for"), "{}", found.text());
}

#[test]
fn a_machine_file_states_what_a_csv_states_once_its_nodes_are_named() {
    const MACHINES: &str = "0\tfat\t1\t4\t1\t16777216\n1\tthin\t1\t4\t1\t8388608\n";
    const CSV: &str = "node,cpu_n,memory_byte\no1,4,17179869184\no2,4,8589934592\n";
    let rows = |file: &str, nodes: &str| {
        let scene = scene(&BOTH);
        scene.write("oak.machines", MACHINES);
        scene.write("oak.csv", CSV);
        scene.run(&format!(
            "{HEAD}[[inventory]]\nname = \"nodes\"\npaths = [\"{file}\"]\nas_of = \"2026-10-01\"\n{nodes}[overhead]\n{UNITS}"
        ));
        scene.ask("SELECT * FROM overhead ORDER BY ALL")
    };
    let of_machines = rows("oak.machines", "nodes = { fat = \"o1\", thin = \"o2\" }\n");
    assert!(of_machines.len() > 4, "{of_machines:#?}");
    assert_eq!(of_machines, rows("oak.csv", ""));
}
