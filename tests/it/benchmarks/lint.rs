//! Values that are well written and look wrong.

use gridtally::diagnostics::Problems;

use super::{nodes, read_on, sound, starts};

const SIX: &str = "site,cluster,benchmark,value_per_core,valid_from,valid_to\n";

#[test]
fn values_of_the_wrong_scale_are_mistakes() {
    let (_, mistakes, _) = read_on(
        &format!(
            "{SIX}A,,hs06,2500,,\nB,,si00,10,,\nC,,hs23,200,,\nD,,si00,60000,,\nE,,hs06,199.9999,,\nE,,si00,200,,\n"
        ),
        None,
    );
    starts(
        &mistakes,
        &[
            "b.csv:2: 2500 hs06 per core is not the score of a core: 200 and more is the score of a whole node, or SI00",
            "b.csv:3: 10 si00 per core looks like HS06 in a row of si00",
            "b.csv:4: 200 hs23 per core is not the score of a core",
            "b.csv:5: 60000 si00 per core is not the score of a core",
        ],
    );
}

#[test]
fn unusual_values_are_reported_and_may_be_right() {
    let (_, mistakes, warnings) = read_on(
        &format!("{SIX}A,,hs06,50,,\nB,,hs06,50.5,,\nC,,hs06,0.9,,\nD,,si00,12501,,\nE,,si00,250,,\n"),
        None,
    );
    assert_eq!(mistakes, Vec::<String>::new());
    starts(
        &warnings,
        &[
            "b.csv:3: 50.5 hs06 per core is outside the usual 1 to 50",
            "b.csv:4: 0.9 hs06 per core is outside",
            "b.csv:5: 12501 si00 per core is outside the usual 250 to 12500",
        ],
    );
}

#[test]
fn gaps_and_jumps_are_reported() {
    let (_, mistakes, warnings) = read_on(
        &format!(
            "{SIX}A,,hs06,10,,2024-01-01\nA,,hs06,12,2024-02-01,2024-03-01\nA,,hs06,37,2024-03-01,\nB,c,hs06,10,,2024-01-01\n\
             B,c,hs06,30,2024-01-01,\n"
        ),
        None,
    );
    assert_eq!(mistakes, Vec::<String>::new());
    starts(
        &warnings,
        &[
            "b.csv:3: no hs06 value holds from 2024-01-01 to 2024-02-01 for all of A (line 2 ends)",
            "b.csv:4: 12 hs06 (line 3) becomes 37: more than 3 times apart",
        ],
    );
}

#[test]
fn a_switch_of_units_within_one_series_is_a_mistake() {
    let (_, mistakes, _) = read_on(
        &format!(
            "{SIX}A,,si00,2125,,2012-01-01\nA,,si00,8500,2012-01-01,\nB,,hs06,40,,2012-01-01\nB,,hs06,10,2012-01-01,\n\
             C,,si00,3000,,2012-01-01\nC,,hs06,12,2012-01-01,\n"
        ),
        None,
    );
    starts(
        &mistakes,
        &[
            "b.csv:3: 2125 si00 (line 2) becomes 8500, exactly 4 times as much: a switch of units",
            "b.csv:5: 40 hs06 (line 4) becomes 10, exactly 4 times as little: a switch of units",
        ],
    );
}

#[test]
fn two_kinds_of_one_scope_must_agree_on_the_decree() {
    let (_, mistakes, _) = read_on(&format!("{SIX}A,,hs06,200.5,,\nA,,si00,200.5,,\n"), None);
    starts(
        &mistakes,
        &[
            "b.csv:2: 200.5 hs06 per core is not the score of a core",
            "b.csv:3: 200.5 is the value of all of A in hs06 and in si00",
        ],
    );
    let (_, mistakes, warnings) = read_on(
        &format!(
            "{SIX}A,,hs06,10,,\nA,,si00,2500,,\nB,,hs06,10,,\nB,,si00,2900,,\nC,,hs06,10,,2020-01-01\nC,,si00,900,2020-01-01,\n"
        ),
        None,
    );
    assert_eq!(mistakes, Vec::<String>::new());
    starts(
        &warnings,
        &["b.csv:5: 2900 si00 is far from 250 times the 10 hs06 of all of B"],
    );
}

#[test]
fn what_looks_wrong_and_is_right_can_be_stated() {
    let (_, mistakes, warnings) = read_on(
        "site,benchmark,value_per_core,valid_from,valid_to,accept\n\
         A,hs06,250,,2024-01-01,range\nA,hs06,62.5,2024-01-01,,range jump\n",
        None,
    );
    assert_eq!((mistakes, warnings), (Vec::new(), Vec::new()));
    let (_, mistakes, _) = read_on(
        "site,benchmark,value_per_core,valid_from,valid_to,accept\nA,hs06,250,,,rnge\n",
        None,
    );
    starts(
        &mistakes,
        &["b.csv:2: accept: \"rnge\" is not one of range, jump, did you mean \"range\"?"],
    );
}

/// The mean over nodes of two values needs their cores, which a row or the table of nodes states.
#[test]
fn rows_of_nodes_without_cores_are_reported_where_values_differ() {
    let warned = |rows: &str, of_nodes: &str| {
        let header = "site,cluster,node_class,nodes,benchmark,value_per_core,cores,valid_from,valid_to\n";
        let table = sound(&format!("{header}{rows}"));
        let mut problems = Problems::default();
        let table = table.with_nodes(nodes(of_nodes));
        table.check_cores("b.csv", &mut problems);
        problems.finish().unwrap()
    };
    let none = "site,nodes,node_class,cores\n";
    let two = "A,oak,,g[1-2],hs23,10,,,\nA,oak,,k1,hs23,20,64,,\n";
    starts(
        &warned(two, none),
        &[
            "b.csv:2: cluster \"oak\" nodes \"g[1-2]\" has no cores, and line 3 gives other nodes another hs23 value: a job on both",
        ],
    );
    starts(&warned(two, &format!("{none}A,g1,,8\n")), &["b.csv:2: "]);
    let silent = Vec::<String>::new();
    assert_eq!(warned(two, &format!("{none}A,\"g[1-2]\",,8\n")), silent);
    assert_eq!(warned(&two.replace(",20,64,", ",10,,"), none), silent, "equal values");
    assert_eq!(
        warned(&two.replace(",10,,,", ",10,8,,"), none),
        silent,
        "both have cores"
    );
    assert_eq!(
        warned(&two.replace("A,oak,,k1", "A,elm,,k1"), none),
        silent,
        "other clusters"
    );
    assert_eq!(
        warned(
            &two.replace(",10,,,", ",10,,,2024-01-01")
                .replace(",20,64,,", ",20,64,2024-01-01,"),
            none
        ),
        silent
    );
    let classes = "A,,old,,hs23,10,,,\nA,,new,,hs23,20,,,\n";
    let of_old = format!("{none}A,g1,old,8\n");
    starts(
        &warned(classes, &format!("{of_old}A,k1,new,\n")),
        &["b.csv:3: node_class \"new\" has no cores"],
    );
    assert_eq!(warned(classes, &format!("{of_old}A,k1,new,64\n")), silent);
}
