//! Which row of a table holds for a job.

use std::fmt::Write as _;

use gridtally::diagnostics::Problems;
use gridtally::reference::benchmark::{AskedSpan, Benchmark, BenchmarkOrigin, BenchmarkPlace, BenchmarkTable};
use proptest::prelude::*;

use super::{DAY_MS, JAN_1_MS, cluster, find, nodes, on_nodes, read_on, sound, starts};

const SIX: &str = "site,cluster,benchmark,value_per_core,valid_from,valid_to\n";

#[test]
fn the_six_columns_of_old_still_do() {
    let table = sound(&format!(
        "{SIX}A,c1,hs06,4,2024-01-01,2024-02-01\nA,,hs06,3,,\n*,c1,hs06,2,,\n,,hs06,1,,\nA,c1,hs23,40,,\n"
    ));
    let at = |site, place, ms| find(&table, site, place, Benchmark::Hs06, ms);
    assert_eq!(
        at("A", cluster("c1"), JAN_1_MS),
        Some((40_000, BenchmarkOrigin::Cluster))
    );
    assert_eq!(
        at("A", cluster("c1"), JAN_1_MS - 1),
        Some((30_000, BenchmarkOrigin::Site))
    );
    assert_eq!(at("A", cluster("c2"), JAN_1_MS), Some((30_000, BenchmarkOrigin::Site)));
    assert_eq!(
        at("A", BenchmarkPlace::default(), JAN_1_MS),
        Some((30_000, BenchmarkOrigin::Site))
    );
    assert_eq!(
        at("B", cluster("c1"), JAN_1_MS),
        Some((20_000, BenchmarkOrigin::Cluster))
    );
    assert_eq!(
        at("B", BenchmarkPlace::default(), JAN_1_MS),
        Some((10_000, BenchmarkOrigin::AnySite))
    );
    assert_eq!(
        find(&table, "A", cluster("c1"), Benchmark::Hs23, 0),
        Some((400_000, BenchmarkOrigin::Cluster))
    );
    assert_eq!(find(&table, "A", cluster("c2"), Benchmark::Hs23, 0), None);
}

#[test]
fn days_are_half_open() {
    let table = sound(&format!(
        "{SIX}A,,HEPSPEC06,1,2024-01-01,2024-01-02\nA,,hepspec,2,2024-01-02,2024-01-03\n"
    ));
    let at = |ms| find(&table, "A", BenchmarkPlace::default(), Benchmark::Hs06, ms).map(|(e4, _)| e4);
    assert_eq!(at(JAN_1_MS - 1), None);
    assert_eq!(at(JAN_1_MS), Some(10_000));
    assert_eq!(at(JAN_1_MS + DAY_MS - 1), Some(10_000));
    assert_eq!(at(JAN_1_MS + DAY_MS), Some(20_000));
    assert_eq!(at(JAN_1_MS + 2 * DAY_MS), None);
}

#[test]
fn overlaps_are_refused_with_both_lines() {
    // The long first row overlaps the third although the second is between them.
    let (_, mistakes, _) = read_on(
        &format!(
            "{SIX}A,,hs06,1,2024-01-01,2025-01-01\nA,,hs06,2,2024-02-01,2024-03-01\nA,,hs06,2,2024-04-01,\nB,,hs06,2,,\n\
             A,x,hs06,2,,\n"
        ),
        None,
    );
    starts(
        &mistakes,
        &["b.csv:3: line 3 overlaps line 2", "b.csv:4: line 4 overlaps line 2"],
    );
}

#[test]
fn a_table_with_the_wrong_columns_is_refused() {
    let mut problems = Problems::default();
    let text = "site,cluster,benchmark,value,valid_from,valid_to\nA,,hs06,1,,\nA,,hs06\n";
    BenchmarkTable::read(text.as_bytes(), "b.csv", None, &mut problems);
    let error = problems.finish().unwrap_err().to_string();
    for wanted in [
        "b.csv:1: unknown column \"value\"",
        "b.csv:1: the header has no column \"value_per_core\"",
        "b.csv:3: 3 cells where the header has 6",
    ] {
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn the_closest_scope_counts() {
    let table = sound(
        "site,cluster,submit_host,partition,node_class,nodes,benchmark,value_per_core,valid_from,valid_to\n\
         A,,,,,,hs06,1,,\n\
         A,c,,,,,hs06,2,,\n\
         A,,ce1,,,,hs06,3,,\n\
         A,c,ce1,,,,hs06,4,,\n\
         A,,,p,,,hs06,5,,\n\
         A,,,p,genoa,,hs06,6,,\n\
         A,,,,,\"g[01-02]\",hs06,7,,\n\
         A,c,,,,\"g[02-03]\",hs06,8,,\n\
         ,c,ce1,p,,,hs06,9,,\n",
    )
    .with_nodes(nodes("site,nodes,node_class\nA,\"g[01-99]\",genoa\n"));
    let at = |cluster, submit_host, partition, node_list| {
        let place = BenchmarkPlace {
            cluster,
            submit_host,
            partition,
            node_list,
        };
        find(&table, "A", place, Benchmark::Hs06, 0)
    };
    assert_eq!(at(None, None, None, None), Some((10_000, BenchmarkOrigin::Site)));
    assert_eq!(
        at(Some("c"), None, None, None),
        Some((20_000, BenchmarkOrigin::Cluster))
    );
    assert_eq!(
        at(Some("d"), Some("ce1"), None, None),
        Some((30_000, BenchmarkOrigin::SubmitHost))
    );
    assert_eq!(
        at(Some("c"), Some("ce1"), None, None),
        Some((40_000, BenchmarkOrigin::SubmitHost))
    );
    // A partition is closer than a CE, also than a CE of a cluster.
    assert_eq!(
        at(Some("c"), Some("ce1"), Some("p"), None),
        Some((50_000, BenchmarkOrigin::Partition))
    );
    assert_eq!(
        at(None, None, Some("p"), Some("g07")),
        Some((60_000, BenchmarkOrigin::Node))
    );
    // Without the partition the class does not hold, and nothing else names the node.
    assert_eq!(at(None, None, None, Some("g07")), Some((10_000, BenchmarkOrigin::Site)));
    // Nodes are closer than their class; with their domain they are the same.
    assert_eq!(
        at(None, None, Some("p"), Some("g01.example.org")),
        Some((70_000, BenchmarkOrigin::Node))
    );
    assert_eq!(
        at(Some("c"), None, None, Some("g02")),
        Some((80_000, BenchmarkOrigin::Node))
    );
    assert_eq!(
        at(Some("d"), None, None, Some("g02")),
        Some((70_000, BenchmarkOrigin::Node))
    );
    // Rows of the site come before rows of any site, however close those are.
    let place = BenchmarkPlace {
        cluster: Some("c"),
        submit_host: Some("ce1"),
        partition: Some("p"),
        node_list: None,
    };
    assert_eq!(
        find(&table, "B", place, Benchmark::Hs06, 0),
        Some((90_000, BenchmarkOrigin::Partition))
    );
}

#[test]
fn a_value_is_of_a_core_a_cpu_or_a_system() {
    let table = sound(
        "site,benchmark,value_per_core,value_per_cpu,cpus_per_core,value_per_system,cores,valid_from,valid_to\n\
         CORE,hs06,10.5,,,,,,\n\
         CPU,hs06,,10.5,,,,,\n\
         THREADS,hs06,,5.25,2,,,,\n\
         SYSTEM,hs06,,,,410.704,60,,\n",
    );
    let at = |site| find(&table, site, BenchmarkPlace::default(), Benchmark::Hs06, 0).map(|(e4, _)| e4);
    assert_eq!(at("CORE"), Some(105_000));
    assert_eq!(at("CPU"), Some(105_000));
    assert_eq!(at("THREADS"), Some(105_000));
    // 410.704 over 60 is 6.84506.., rounded half up.
    assert_eq!(at("SYSTEM"), Some(68_451));
    let (_, mistakes, _) = read_on(
        "site,benchmark,value_per_core,value_per_system,cores,valid_from,valid_to\nA,hs06,,400,,,\nA,hs06,1,2,3,,\n\
         A,hs06,,,,,\nA,hs06,,400,0,,\nA,hs06,0,,,,\nA,hs6,1,,,2024-02-30,x\n",
        None,
    );
    starts(
        &mistakes,
        &[
            "b.csv:2: value_per_system needs cores",
            "b.csv:3: value_per_core and value_per_system at once",
            "b.csv:4: no value (one of",
            "b.csv:5: cores: \"0\" is not a count above zero",
            "b.csv:6: value_per_core: \"0\" must be above zero",
            "b.csv:7: \"hs6\" is not a benchmark",
            "b.csv:7: valid_from: \"2024-02-30\" is not a day",
            "b.csv:7: valid_to: \"x\" is not a day",
        ],
    );
}

#[test]
fn a_job_on_two_kinds_of_nodes_gets_the_mean_over_their_cores() {
    let text = "site,cluster,nodes,benchmark,value_per_core,cores,valid_from,valid_to\n\
                A,c,\"old[1-9]\",hs06,5.32,16,,\n\
                A,c,\"new[1-9]\",hs06,9.8952,64,,\n\
                A,c,odd1,hs06,7,,,\n\
                A,c,,hs06,6,,,\n";
    let table = sound(text);
    let at = |node_list| find(&table, "A", on_nodes("c", node_list), Benchmark::Hs06, 0);
    assert_eq!(at("old[1-3]"), Some((53_200, BenchmarkOrigin::Node)));
    // (2 x 16 x 5.32 + 64 x 9.8952) / 96 = 8.3701333..
    assert_eq!(at("old[1-2],new4"), Some((83_701, BenchmarkOrigin::Node)));
    // As PBS lists them, each core by its own.
    assert_eq!(
        at("old1/0+old1/1+old2/0*16+new4.example.org/3"),
        Some((83_701, BenchmarkOrigin::Node))
    );
    // One node whose cores are unknown is not an obstacle alone or among its like, and it is one next to others.
    assert_eq!(at("odd1"), Some((70_000, BenchmarkOrigin::Node)));
    assert_eq!(at("odd1,new1"), Some((60_000, BenchmarkOrigin::Cluster)));
    // Nor does the mean of some nodes stand for all.
    assert_eq!(at("new1,unheard1"), Some((60_000, BenchmarkOrigin::Cluster)));
    assert_eq!(at("(null)"), Some((60_000, BenchmarkOrigin::Cluster)));
    // Facts of the nodes themselves take precedence over the row.
    let table = sound(text).with_nodes(nodes("site,cluster,nodes,cores\nA,c,\"old[1-9],odd1\",32\n"));
    let at = |node_list| find(&table, "A", on_nodes("c", node_list), Benchmark::Hs06, 0);
    // (32 x 5.32 + 64 x 9.8952) / 96 = 8.37013.., and (32 x 7 + 64 x 9.8952) / 96 = 8.93013..
    assert_eq!(at("old1,new1"), Some((83_701, BenchmarkOrigin::Node)));
    assert_eq!(at("odd1,new1"), Some((89_301, BenchmarkOrigin::Node)));
}

#[test]
fn two_patterns_that_name_one_node_are_refused() {
    let (_, mistakes, _) = read_on(
        "site,nodes,benchmark,value_per_core,valid_from,valid_to\n\
         A,\"n[1-4]\",hs06,5,,2024-01-01\nA,\"n[4-6]\",hs06,6,2023-01-01,\nA,\"n[5-7]\",hs06,6,,2023-01-01\n\
         A,\"n[1-\",hs06,5,,\n",
        None,
    );
    starts(
        &mistakes,
        &[
            "b.csv:3: line 3 overlaps line 2: both name one node",
            "b.csv:5: nodes: ",
        ],
    );
}

#[test]
fn what_was_known_on_a_day_is_what_was_recorded_by_then() {
    let text = "site,benchmark,value_per_core,valid_from,valid_to,recorded_at,source\n\
                A,hs06,10,2024-01-01,,2024-01-05,bought\n\
                A,hs06,11,2024-02-01,2024-03-01,2024-06-01,measured again\n\
                A,hs06,12,2024-02-10,2024-02-20,2024-07-01,and again\n";
    let known = |on: Option<i64>, day: i64| {
        let (table, mistakes, _) = read_on(text, on.map(|day| JAN_1_MS + day * DAY_MS));
        assert_eq!(mistakes, Vec::<String>::new());
        let at_ms = JAN_1_MS + day * DAY_MS;
        find(&table, "A", BenchmarkPlace::default(), Benchmark::Hs06, at_ms).map(|(e4, _)| e4)
    };
    // 5 January, 1 June and 1 July are days 4, 152 and 182; 1 February is day 31, 1 March day 60.
    assert_eq!(known(Some(3), 40), None);
    assert_eq!(known(Some(4), 40), Some(100_000));
    assert_eq!(known(Some(151), 40), Some(100_000));
    assert_eq!(known(Some(152), 40), Some(110_000));
    assert_eq!(known(Some(182), 40), Some(120_000));
    assert_eq!(known(None, 30), Some(100_000));
    assert_eq!(known(None, 31), Some(110_000));
    assert_eq!(known(None, 49), Some(120_000));
    assert_eq!(known(None, 50), Some(110_000));
    assert_eq!(known(None, 60), Some(100_000));
}

#[test]
fn what_does_not_hold_between_two_instants_does_not_matter_there() {
    let expected = |rows: &str| {
        sound(&format!("{SIX}{rows}"))
            .site("A")
            .relevant(AskedSpan::at(JAN_1_MS).with(JAN_1_MS + 10 * DAY_MS))
    };
    let plain = expected("A,,hs06,10,2023-01-01,\n");
    assert_eq!(expected("A,,hs06,10,2022-01-01,2025-01-01\n"), plain);
    assert_eq!(expected("B,,hs06,9,,\nA,,hs06,10,2023-01-01,\n"), plain);
    assert_eq!(expected("A,,hs06,9,,2024-01-01\nA,,hs06,10,2024-01-01,\n"), plain);
    assert_eq!(expected("A,,hs06,10,,2024-01-05\nA,,hs06,10,2024-01-05,\n"), plain);
    for other in [
        "A,,hs06,10,2024-01-02,\n",
        "A,,hs06,10.1,2023-01-01,\n",
        "A,,hs23,10,2023-01-01,\n",
        "A,c,hs06,10,2023-01-01,\n",
        ",,hs06,10,2023-01-01,\n",
        "A,,hs06,10,2023-01-01,\nA,c,hs06,10,2023-01-01,\n",
        "A,,hs06,10,2023-01-01,2024-01-11\nA,,hs06,9,2024-01-11,\n",
    ] {
        assert_ne!(expected(other), plain, "{other}");
    }
}

/// A row of the table as the brute force sees it.
#[derive(Clone, Debug)]
struct Plain {
    is_own: bool,
    cluster: Option<u8>,
    partition: Option<u8>,
    days: (i64, i64),
    recorded: i64,
    value: i64,
}

fn plain() -> impl Strategy<Value = Plain> {
    let word = || prop::option::of(0_u8..2);
    (any::<bool>(), word(), word(), 0_i64..20, 1_i64..15, 100_i64..190).prop_map(
        |(is_own, cluster, partition, from, days, value)| Plain {
            is_own,
            cluster,
            partition,
            days: (from, from + days),
            recorded: 0,
            value,
        },
    )
}

proptest! {
    /// The table against a search through all rows for each question.
    #[test]
    fn the_table_answers_as_brute_force_does(
        mut rows in prop::collection::vec(plain(), 0..12),
        asked in prop::collection::vec((prop::option::of(0_u8..2), prop::option::of(0_u8..2), 0_i64..36), 1..20),
        known_on in 0_i64..14,
    ) {
        let mut text = "site,cluster,partition,benchmark,value_per_core,valid_from,valid_to,recorded_at,accept\n".to_owned();
        for (nth, row) in (0..).zip(&mut rows) {
            row.recorded = nth;
            let day = |days: i64| {
                let from = jiff::civil::date(2024, 1, 1);
                from.checked_add(jiff::Span::new().days(days)).unwrap()
            };
            let word = |word: Option<u8>| word.map_or_else(String::new, |word| format!("w{word}"));
            writeln!(
                text,
                "{},{},{},hs06,{},{},{},{},range jump",
                if row.is_own { "A" } else { "" }, word(row.cluster), word(row.partition), row.value,
                day(row.days.0), day(row.days.1), day(row.recorded)
            ).unwrap();
        }
        let (table, mistakes, _) = read_on(&text, Some(JAN_1_MS + known_on * DAY_MS));
        prop_assert_eq!(mistakes, Vec::<String>::new());
        for (cluster, partition, day) in asked {
            let holds = |row: &&Plain| {
                row.recorded <= known_on && (row.days.0..row.days.1).contains(&day)
                    && (row.cluster.is_none() || row.cluster == cluster)
                    && (row.partition.is_none() || row.partition == partition)
            };
            let rank = |row: &&Plain| (row.is_own, row.partition.is_some(), row.cluster.is_some(), row.recorded);
            let best = rows.iter().filter(holds).max_by_key(rank);
            let words = [cluster, partition].map(|word| word.map(|word| format!("w{word}")));
            let place = BenchmarkPlace { cluster: words[0].as_deref(), partition: words[1].as_deref(), ..BenchmarkPlace::default() };
            let found = find(&table, "A", place, Benchmark::Hs06, JAN_1_MS + day * DAY_MS);
            prop_assert_eq!(found.map(|(e4, _)| e4), best.map(|row| i128::from(row.value) * 10_000));
        }
    }
}
