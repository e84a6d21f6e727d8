//! The nodes of a job, with its cores on each: one form, whatever the log.

use gridtally::sources::{lsf, pbs, swf};

use super::golden::{LSF, PBS, SWF, one};

#[test]
fn hosts_come_as_often_as_their_parts_of_the_cores() {
    for (exec_host, list, core_n) in [
        // As many cores on each: each once, in the order of the log.
        ("n2/0-3+n1/0*4", "n2,n1", 8),
        ("n1/0+n1/1+n1/2", "n1", 3),
        ("n1/0+n1/1+n1/2+n2/0", "n1,n1,n1,n2", 4),
        ("n1/0+n2/0+n1/1", "n1,n1,n2", 3),
        // 48 and 32 are three parts and two.
        ("n1/0*48+n2/0-31", "n1,n1,n1,n2,n2", 80),
        // The cores of n2 are not stated.
        ("n1/0*48+n2/0*0", "n1,n2", 48),
        // The list would be longer than that of any record.
        ("n1/0*20001+n2/0*1", "n1,n2", 20_002),
        ("n1/0*4294967295+n2/0*1", "n1,n2", 4_294_967_296),
    ] {
        let row = one(pbs::DIALECT, &format!("{}\n", PBS.replace("n1/0-3+n2/0*4", exec_host)));
        assert_eq!(
            (row.node_list, row.alloc_core_n),
            (Some(list), Some(core_n)),
            "{exec_host}"
        );
    }
    for (hosts, list) in [
        ("2 \"2*n1\" \"2*n2\"", "n1,n2"),
        ("3 \"n2\" \"n1\" \"n2\"", "n2,n2,n1"),
        ("2 \"6*n1\" \"4*n2\"", "n1,n1,n1,n2,n2"),
    ] {
        let row = one(lsf::DIALECT, &format!("{}\n", LSF.replace("2 \"2*n1\" \"n2\"", hosts)));
        assert_eq!((row.node_list, row.alloc_node_n), (Some(list), Some(2)), "{hosts}");
    }
    for (nodes, list, node_n) in [
        ("{1276,1276,1257,1257}", "1276,1257", 2),
        ("{1257,1276,1276,1278,1278}", "1257,1276,1276,1278,1278", 3),
    ] {
        let line = format!("{SWF}7 100 30 60 4 50.5 2048 4 120 512 1 12 4 -1 3 -1 -1 -1 {nodes} q_1d 4\n");
        let row = one(swf::DIALECT, &line);
        assert_eq!((row.node_list, row.alloc_node_n), (Some(list), Some(node_n)), "{nodes}");
    }
}
