//! The worked numbers of Liverpool's page of 2010 on scaling and accounting, and of `HEPscore23` in WLCG, case by case.
//! Where the page prints 1300 it means 1330: 5.32 x 250 is 1330, and so is 1.33 x 1000.

use gridtally::reference::benchmark::{Hs06, Hs23, OneToOne, Power, SI00_PER_HS06, Si00, WorkQuantity};

const HOUR_S: i64 = 3600;

fn si00(value: i64) -> Power<Si00> {
    Power::from_e4(value * 10_000)
}

/// The page's node: 5.32 HS06 a core.
fn node() -> Power<Hs06> {
    Power::from_e4(53_200)
}

#[test]
fn lv_02_four_hours_on_a_node_of_one_are_two_on_a_node_of_two() {
    assert_eq!(si00(1000).over_s(4 * HOUR_S), si00(2000).over_s(2 * HOUR_S));
}

#[test]
fn lv_09_one_hs06_is_250_si00() {
    assert_eq!(SI00_PER_HS06, 250);
    assert_eq!(node().in_si00(), si00(1330));
}

#[test]
fn lv_10_a_thousand_si00_are_four_hs06() {
    assert_eq!(si00(1000).in_hs06(), Power::from_e4(40_000));
    // The factor of the node to that reference: 1.33 of it.
    assert_eq!(node().in_si00().times(100), si00(1000).times(133));
}

#[test]
fn lv_13_unscaled_times_on_one_kind_of_nodes() {
    assert_eq!(
        node().in_si00().over_s(HOUR_S),
        WorkQuantity::from_scaled(1330 * 3600 * 10_000_000)
    );
}

#[test]
fn lv_14_the_same_nodes_scaled_to_a_round_reference() {
    // An hour becomes 1.33 hours.
    assert_eq!(si00(1000).over_s(HOUR_S * 133 / 100), node().in_si00().over_s(HOUR_S));
}

#[test]
fn lv_15_faster_nodes_scaled_to_the_old_ones() {
    // A node 1.86 times as fast needs 1/1.86 of the time, which is logged as the hour of the old node.
    let raw_s = 5000;
    let fast = Power::<Si00>::from_e4(1330 * 18_600);
    assert_eq!(si00(1330).over_s(raw_s * 186 / 100), fast.over_s(raw_s));
    assert_eq!(si00(1330).over_s(HOUR_S), node().in_si00().over_s(HOUR_S));
}

#[test]
fn lv_16_any_notional_reference_gives_the_same_work() {
    let (raw_s, own) = (HOUR_S * 1000, si00(1330));
    for reference in [250, 1000, 1330, 4000] {
        let scaled_s = raw_s * 1330 / reference;
        assert_eq!(si00(reference).over_s(scaled_s), own.over_s(raw_s), "{reference}");
    }
}

#[test]
fn lv_18_the_slowest_node_as_reference_under_reports_the_fast_ones() {
    let (slow, fast) = (node(), Power::<Hs06>::from_e4(98_952));
    let (true_work, reported) = (fast.over_s(HOUR_S), slow.over_s(HOUR_S));
    // -46.2 %, in thousandths.
    let off = (reported - true_work).scaled() * 1000;
    assert_eq!((off - true_work.scaled() / 2) / true_work.scaled(), -462);
}

#[test]
fn lv_19_the_mean_as_reference_over_reports_the_slow_ones() {
    // 410.704 HS06 over 60 logical CPUs: the mean of twenty fast and forty slow ones.
    let total = node().times(40) + Power::<Hs06>::from_e4(98_952).times(20);
    assert_eq!(total, Power::from_e4(4_107_040));
    let mean = total.shared_by(60).unwrap();
    let (true_work, reported) = (node().over_s(HOUR_S), mean.over_s(HOUR_S));
    // +28.7 %, in thousandths.
    let off = (reported - true_work).scaled() * 1000;
    assert_eq!((off + true_work.scaled() / 2) / true_work.scaled(), 287);
}

#[test]
fn hs_01_a_site_of_old_and_new_nodes() {
    let total = |old: Power<Hs06>, new: Power<Hs23>| OneToOne::WLCG.pool(old, new).total_scaled() / 10_000;
    let node = |score: i64| score * 10_000;
    let (old, new) = (
        Power::from_e4(node(2643)).times(29),
        Power::from_e4(node(2972)).times(188),
    );
    assert_eq!(old.scaled() / 10_000, 76_647);
    assert_eq!(new.scaled() / 10_000, 558_736);
    assert_eq!(total(old, new), 635_383);
    // Measured again, the old ones are HEPscore23 as well and need no policy to be added.
    let all_new = Power::<Hs23>::from_e4(node(2546)).times(29) + new;
    assert_eq!(all_new.scaled() / 10_000, 632_570);
}
