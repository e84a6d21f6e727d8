//! What is wrong with a table of energy is reported by file and line; what was recorded later counts.

use gridtally::diagnostics::Problems;
use gridtally::reference::energy::node_rows::NodePlace;
use gridtally::reference::energy::{CarbonBasis, IntensityTable, NodeEnergyTable, PueTable};

const DAY_MS: i64 = 86_400_000;

fn told(check: impl FnOnce(&mut Problems)) -> String {
    let mut problems = Problems::default();
    check(&mut problems);
    problems.finish().err().map(|why| why.to_string()).unwrap_or_default()
}

fn pue(rows: &str, known_on_ms: Option<i64>) -> (PueTable, String) {
    let text = format!("site,pue,valid_from,valid_to,recorded_at\n{rows}");
    let mut table = PueTable::default();
    let wrong = told(|problems| table = PueTable::read(text.as_bytes(), "pue.csv", known_on_ms, problems));
    (table, wrong)
}

/// Midnight of 2026-03-01.
fn march() -> i64 {
    20_513 * DAY_MS
}

#[test]
fn a_pue_below_one_a_gap_and_an_overlap_name_their_lines() {
    let (_, wrong) = pue("OAK,0.98,,,\n", None);
    assert!(wrong.contains("pue.csv:2: pue: \"0.98\" is below 1"), "{wrong}");
    let (_, wrong) = pue("OAK,-1.2,,,\n", None);
    assert!(wrong.contains("pue.csv:2: pue: \"-1.2\""), "{wrong}");
    let (_, wrong) = pue("OAK,1.2,,2026-03-01,\nOAK,1.3,2026-03-02,,\n", None);
    assert!(
        wrong.contains(
            "pue.csv:3: no row states PUE from 2026-03-01T00:00:00Z to 2026-03-02T00:00:00Z, between line 2 and line 3"
        ),
        "{wrong}"
    );
    let (_, wrong) = pue("OAK,1.2,,2026-03-02,\nOAK,1.3,2026-03-01,,\n", None);
    assert!(wrong.contains("pue.csv:3: line 3 overlaps line 2"), "{wrong}");
    let (_, wrong) = pue("OAK,1.2,2026-03-02,2026-03-01,\n", None);
    assert!(
        wrong.contains("pue.csv:2: valid_to 2026-03-01 is not after valid_from 2026-03-02"),
        "{wrong}"
    );
    let (_, wrong) = pue("OAK,1.2,yesterday,,\n", None);
    assert!(
        wrong.contains("pue.csv:2: valid_from: \"yesterday\" is neither a day"),
        "{wrong}"
    );
}

#[test]
fn a_row_recorded_later_replaces_part_of_an_earlier_one_and_known_on_takes_it_back() {
    let rows = "OAK,1.4,2026-01-01,,2026-01-05\nOAK,1.25,2026-03-01,,2026-03-20\n";
    let at = |known_on_ms: Option<i64>| {
        let (table, wrong) = pue(rows, known_on_ms);
        assert_eq!(wrong, "");
        let spans = table.values.of("OAK").to_vec();
        spans
            .iter()
            .map(|span| (span.from_ms, span.value_e4))
            .collect::<Vec<_>>()
    };
    let january = march() - 59 * DAY_MS;
    assert_eq!(at(None), [(january, Some(14_000)), (march(), Some(12_500))]);
    assert_eq!(at(Some(march())), [(january, Some(14_000))]);
}

#[test]
fn an_empty_value_states_that_it_is_unknown() {
    let (table, wrong) = pue("OAK,1.4,,2026-03-01,\nOAK,,2026-03-01,,\n", None);
    assert_eq!(wrong, "");
    let values: Vec<_> = table.values.of("OAK").iter().map(|span| span.value_e4).collect();
    assert_eq!(values, [Some(14_000), None]);
    assert!(table.values.of("ELM").is_empty());
}

#[test]
fn intensities_of_two_bases_are_two_series() {
    let text = "site,basis,g_per_kwh,valid_from,valid_to\nOAK,location,300,,\nOAK,market,0,,\n*,market,12.5,,\n";
    let mut table = IntensityTable::default();
    let wrong = told(|problems| table = IntensityTable::read(text.as_bytes(), "ci.csv", None, problems));
    assert_eq!(wrong, "");
    let value =
        |basis: CarbonBasis, site: &str| table.of(basis).unwrap().of(site).first().and_then(|span| span.value_e4);
    assert_eq!(value(CarbonBasis::Location, "OAK"), Some(3_000_000));
    assert_eq!(value(CarbonBasis::Market, "OAK"), Some(0));
    assert_eq!(value(CarbonBasis::Market, "ELM"), Some(125_000));
    assert_eq!(value(CarbonBasis::Location, "ELM"), None);
    let text = "site,basis,g_per_kwh,valid_from,valid_to\nOAK,locaton,300,,\nOAK,location,-3,,\n";
    let wrong = told(|problems| drop(IntensityTable::read(text.as_bytes(), "ci.csv", None, problems)));
    assert!(
        wrong.contains("ci.csv:2: basis: \"locaton\" is not one of location, market, did you mean"),
        "{wrong}"
    );
    assert!(wrong.contains("ci.csv:3: g_per_kwh: \"-3\""), "{wrong}");
}

fn nodes(rows: &str) -> (NodeEnergyTable, String) {
    let head = "site,node_type,cluster,partition,nodes,cores,exclusive,core_idle_w,core_full_w,embodied_kg,lifetime_years,valid_from,\
                valid_to,recorded_at\n";
    let mut table = NodeEnergyTable::default();
    let text = format!("{head}{rows}");
    let wrong = told(|problems| table = NodeEnergyTable::read(text.as_bytes(), "nodes.csv", None, problems));
    (table, wrong)
}

#[test]
fn the_closest_row_of_each_node_counts() {
    let (table, wrong) = nodes(
        "OAK,any,,,,1,,,,,,,,\nOAK,part,,cpu,,2,,,,,,,,\nOAK,named,,,\"n[1-2]\",4,,,,,,,,\nOAK,newer,,,n2,8,,,,,,2026-03-01,,2026-03-01\n",
    );
    assert_eq!(wrong, "");
    let types = |partition: &str, node_list: &str, at_ms: i64| {
        let place = NodePlace {
            site: "OAK",
            cluster: None,
            partition: Some(partition),
            node_list: Some(node_list),
            at_ms,
        };
        let rows = table.rows_of(&place);
        let types = rows.iter().map(|of| (of.row.node_type.clone(), of.node_n));
        types.collect::<Vec<_>>()
    };
    let of = |name: &str, n: i64| (name.to_owned(), Some(n));
    assert_eq!(types("cpu", "n[1-3]", 0), [of("part", 1), of("named", 2)]);
    assert_eq!(
        types("gpu", "n[1-3]", march()),
        [of("any", 1), of("named", 1), of("newer", 1)]
    );
    assert_eq!(types("gpu", "n2.oak.example", march()), [of("newer", 1)]);
}

#[test]
fn half_a_power_and_carbon_without_a_lifetime_are_mistakes() {
    for (row, wanted) in [
        ("OAK,t,,,,4,,5,,,,,,", "nodes.csv:2: core_idle_w needs core_full_w"),
        ("OAK,t,,,,4,,9,5,,,,,", "nodes.csv:2: core_idle_w is above core_full_w"),
        ("OAK,t,,,,4,,,,100,,,,", "nodes.csv:2: embodied_kg needs lifetime_years"),
        ("OAK,t,,,,,,,,100,5,,,", "nodes.csv:2: embodied_kg needs cores"),
        (
            "OAK,t,,,,0,,,,,,,,",
            "nodes.csv:2: cores: \"0\" is not a whole number above zero",
        ),
        (
            "OAK,t,,,,4,maybe,,,,,,,",
            "nodes.csv:2: exclusive: \"maybe\" is neither yes nor no",
        ),
        (
            "OAK,t,,,,4,,5,30000,,,,,",
            "nodes.csv:2: core_full_w: \"30000\" is more than 20000",
        ),
        ("OAK,,,,,4,,,,,,,,", "nodes.csv:2: node_type: is empty"),
        (
            "OAK,t,,,,4,,,,,,,,\nOAK,u,,,,8,,,,,,,,",
            "nodes.csv:3: line 3 overlaps line 2",
        ),
        (
            "OAK,t,,,\"n[1-3]\",4,,,,,,,,\nOAK,u,,,n3,8,,,,,,,,",
            "nodes.csv:3: line 3 overlaps line 2",
        ),
    ] {
        let (_, wrong) = nodes(&format!("{row}\n"));
        assert!(wrong.contains(wanted), "{row}: {wrong}");
    }
}
