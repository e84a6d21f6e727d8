//! Machine files of workloads: kinds and counts, while the pipeline names the nodes.

use std::sync::Arc;

use gridtally::config::Plan;
use gridtally::ledger::Reason;
use gridtally::sources::inventory::{InventoryKind, pieces, recognise};
use gridtally::sources::options::ReaderOptions;

use super::InventoryRows;
use crate::support::collect::shared;

const MACHINES: &str = "0\tfat\t2\t80\t1\t1048576\n1\tthin\t3\t12\t1.5\t524288\n";

fn read(text: &str, nodes: &[(&str, &str)]) -> InventoryRows {
    let plan = ReaderOptions {
        format: InventoryKind::SwfMachines.dialect().format(),
        nodes_by_kind: nodes
            .iter()
            .map(|(kind, list)| ((*kind).to_owned(), (*list).to_owned()))
            .collect(),
        ..crate::sacct::plan(None)
    };
    let input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    let mut reported = InventoryRows::default();
    for work in pieces(InventoryKind::SwfMachines, input, Arc::new(plan)).unwrap() {
        work.unwrap()(&mut reported);
    }
    reported
}

#[test]
fn kinds_get_the_nodes_the_pipeline_names() {
    assert_eq!(recognise(MACHINES.as_bytes()), Some(InventoryKind::SwfMachines));
    let reported = read(MACHINES, &[("fat", "7,9"), ("thin", "n[1-2],spare")]);
    assert!(reported.rejects.is_empty(), "{reported:#?}");
    let nodes: Vec<_> = reported
        .nodes()
        .iter()
        .map(|node| (node.node.clone(), node.cpu_n, node.memory_byte, node.features.clone()))
        .collect();
    let node = |name: &str, cpu_n, memory_byte, kind: &str| {
        (name.to_owned(), Some(cpu_n), Some(memory_byte), Some(kind.to_owned()))
    };
    let thin = ["n1", "n2", "spare"].map(|name| node(name, 12, 512 << 20, "thin"));
    let fat = ["7", "9"].map(|name| node(name, 80, 1 << 30, "fat"));
    assert_eq!(nodes, [&fat[..], &thin[..]].concat());
    // A line is one row, however many nodes it stands for.
    let counted: Vec<u64> = reported.rows.iter().map(|row| row.input_row_n).collect();
    assert_eq!((reported.rows_read, counted), (2, vec![1, 0, 1, 0, 0]));
}

#[test]
fn kinds_without_exactly_their_nodes_are_refused() {
    for (nodes, reason, word) in [
        (
            &[("fat", "7,9")][..],
            Reason::MissingField,
            "name all 3 in the [[inventory]]",
        ),
        (&[("fat", "7,9"), ("thin", "n[1-2]")], Reason::BadHostlist, "names 2"),
        (&[("fat", "7,9"), ("thin", "n[1-4]")], Reason::BadHostlist, "names 4"),
    ] {
        let reported = read(MACHINES, nodes);
        let [(found, line, detail)] = &reported.rejects[..] else {
            panic!("{reported:#?}")
        };
        assert_eq!((*found, *line, reported.nodes().len()), (reason, 2, 2), "{detail}");
        assert!(detail.contains(word), "{detail}");
    }
    for (text, reason) in [
        ("0\tfat\t2\t80\t1\n", Reason::FieldCount),
        ("0\tfat\tmany\t80\t1\t1024\n", Reason::BadNumber),
        ("0\tfat\t2\t80\t1\t99999999999999999\n", Reason::BadNumber),
        ("0\tfat\t2\t80\t1\t1024", Reason::Truncated),
    ] {
        assert_eq!(read(text, &[("fat", "7,9")]).reasons(), [reason], "{text}");
    }
}

#[test]
fn lists_that_cannot_be_and_other_formats_are_refused_in_the_pipeline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml");
    let reported = |format: &str, nodes: &str| {
        let pipeline = format!(
            "[pipeline]\nname = \"t\"\noutput = \"lake\"\n[[inventory]]\nname = \"nodes\"\nformat = \"{format}\"\n\
             paths = [\"w.machines\"]\nas_of = \"2026-01-01\"\nnodes = {{ fat = \"{nodes}\" }}\n"
        );
        std::fs::write(&path, pipeline).unwrap();
        Plan::load(&path).map_or_else(|e| e.to_string(), |_| String::new())
    };
    assert!(reported("auto", "n[1-").contains("nodes.fat = \"n[1-\" is not a list of nodes"));
    assert!(reported("csv", "n[1-2]").contains("kinds of a machine file"));
    assert_eq!(reported("swf-machines", "n[1-2]"), "");
}

/// Which numbers jobs name, and the nodes of both kinds no job ran on.
const NAMED: [(&str, &str); 2] = [
    ("zewura", "[1129-1135,1238-1248],zewura-[1-2]"),
    (
        "zegox",
        "[1255-1257,1259-1262,1264,1267,1269-1279,1281-1282,1284-1286,1288],zegox-[1-22]",
    ),
];

#[test]
fn the_machine_file_of_a_real_workload_is_read_whole() {
    let test = "the_machine_file_of_a_real_workload_is_read_whole";
    let Some(path) = shared(test, "data/traces/swf/wagap-2013.swf.machines") else {
        return;
    };
    let machines = std::fs::read_to_string(path).unwrap();
    assert_eq!(recognise(machines.as_bytes()), Some(InventoryKind::SwfMachines));
    let reported = read(&machines, &NAMED);
    assert!(reported.rejects.is_empty(), "{:#?}", reported.rejects);
    let nodes = reported.nodes();
    let cpu_n: i64 = nodes.iter().filter_map(|node| node.cpu_n).sum();
    assert_eq!((nodes.len(), cpu_n), (68, 20 * 80 + 48 * 12));
}
