//! Quantities of different benchmarks do not mix; the ways between them are few and exact.

use std::marker::PhantomData;
use std::ops::{Add, Sub};

use gridtally::reference::benchmark::{Benchmark, Each, Hs06, Hs23, OneToOne, Power, Score, Si00, WorkQuantity};
use proptest::prelude::*;

/// Whether an operation exists between two types: an inherent constant hides the trait's of the same name, and is
/// there only where its bound holds.
struct Probe<A, B>(PhantomData<(A, B)>);

trait Unknown {
    const ADDS: bool = false;
    const SUBTRACTS: bool = false;
    const COMPARES: bool = false;
    const CONVERTS: bool = false;
}

impl<A, B> Unknown for Probe<A, B> {}

impl<A: Add<B>, B> Probe<A, B> {
    const ADDS: bool = true;
}

impl<A: Sub<B>, B> Probe<A, B> {
    const SUBTRACTS: bool = true;
}

impl<A: PartialEq<B>, B> Probe<A, B> {
    const COMPARES: bool = true;
}

impl<A: Into<B>, B> Probe<A, B> {
    const CONVERTS: bool = true;
}

macro_rules! mixes {
    ($a:ty, $b:ty) => {
        [
            Probe::<$a, $b>::ADDS,
            Probe::<$a, $b>::SUBTRACTS,
            Probe::<$a, $b>::COMPARES,
            Probe::<$a, $b>::CONVERTS,
        ]
    };
}

/// What the compiler lets one do with two of a kind: add, subtract, compare, and hand one over as the other.
const SAME: [bool; 4] = [true; 4];

#[test]
fn work_and_power_of_one_benchmark_go_together() {
    assert_eq!(mixes!(WorkQuantity<Hs06>, WorkQuantity<Hs06>), SAME);
    assert_eq!(mixes!(WorkQuantity<Hs23>, WorkQuantity<Hs23>), SAME);
    assert_eq!(mixes!(WorkQuantity<Si00>, WorkQuantity<Si00>), SAME);
    assert_eq!(mixes!(Power<Hs06>, Power<Hs06>), SAME);
}

#[test]
fn mixing_benchmarks_does_not_compile() {
    assert_eq!(mixes!(WorkQuantity<Hs06>, WorkQuantity<Hs23>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Hs23>, WorkQuantity<Hs06>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Hs06>, WorkQuantity<Si00>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Si00>, WorkQuantity<Hs06>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Hs23>, WorkQuantity<Si00>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Si00>, WorkQuantity<Hs23>), [false; 4]);
    assert_eq!(mixes!(Power<Hs06>, Power<Hs23>), [false; 4]);
    assert_eq!(mixes!(Power<Hs23>, Power<Hs06>), [false; 4]);
    assert_eq!(mixes!(Power<Hs06>, Power<Si00>), [false; 4]);
    assert_eq!(mixes!(Power<Si00>, Power<Hs06>), [false; 4]);
    assert_eq!(mixes!(Power<Hs23>, Power<Si00>), [false; 4]);
}

#[test]
fn power_and_work_and_bare_numbers_do_not_mix() {
    assert_eq!(mixes!(Power<Hs06>, WorkQuantity<Hs06>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Hs06>, Power<Hs06>), [false; 4]);
    assert_eq!(mixes!(WorkQuantity<Hs06>, i64), [false; 4]);
    assert_eq!(mixes!(i64, WorkQuantity<Hs06>), [false; 4]);
    assert_eq!(mixes!(i128, Power<Hs23>), [false; 4]);
}

#[test]
fn one_hs06_is_250_si00_by_decree() {
    let core = Power::<Hs06>::from_e4(53_200);
    assert_eq!(core.in_si00(), Power::<Si00>::from_e4(13_300_000));
    assert_eq!(core.in_si00().in_hs06(), core);
    // 1000 SI00 are 4 HS06, and the factor of such a core to that reference is 1.33.
    assert_eq!(
        Power::<Si00>::from_e4(10_000_000).in_hs06(),
        Power::<Hs06>::from_e4(40_000)
    );
    // Halves go up: 0.0125 SI00 are 0.00005 HS06, which is 0.0001 in four decimals; a little less rounds to zero.
    assert_eq!(Power::<Si00>::from_e4(125).in_hs06(), Power::<Hs06>::from_e4(1));
    assert_eq!(Power::<Si00>::from_e4(124).in_hs06(), Power::<Hs06>::ZERO);
}

#[test]
fn hs06_and_hs23_add_up_only_where_a_policy_states_it_and_stay_known() {
    let old = Power::<Hs06>::from_e4(26_430_000).times(29);
    let new = Power::<Hs23>::from_e4(29_720_000).times(188);
    let site = OneToOne::WLCG.pool(old, new);
    assert_eq!(site.total_scaled(), 6_353_830_000);
    assert_eq!((site.hs06, site.hs23), (old, new));
    assert_eq!(site.policy.source(), "WLCG Management Board, 20 December 2022");
}

#[test]
fn kinds_are_what_their_types_state() {
    let values = Each::<Score>::only(Benchmark::Hs23, 175_000);
    assert_eq!(values.hs23, Some(Power::from_e4(175_000)));
    assert_eq!((values.hs06, values.si00), (None, None));
    let known = Each::<Score>::from_scaled([Some(1), None, Some(3)]);
    assert_eq!(known.or(values).scaled(), [Some(1), Some(175_000), Some(3)]);
    let mut sum = known;
    sum.add(known);
    sum.add(values.negated());
    assert_eq!(sum.scaled(), [Some(2), Some(-175_000), Some(6)]);
    assert!(Each::<Score>::default().is_empty() && !values.is_empty());
}

proptest! {
    #[test]
    fn work_of_parts_is_the_work_of_the_whole(e4 in 1_i64..10_000_000, parts in prop::collection::vec(0_i64..100_000_000, 1..6)) {
        let core = Power::<Hs23>::from_e4(e4);
        let whole = core.over_ms(parts.iter().sum());
        prop_assert_eq!(parts.iter().map(|ms| core.over_ms(*ms)).sum::<WorkQuantity<Hs23>>(), whole);
        prop_assert_eq!(whole.scaled(), i128::from(e4) * i128::from(parts.iter().sum::<i64>()));
    }

    #[test]
    fn shares_are_off_by_at_most_half_a_decimal(e4 in 0_i64..1_000_000_000, cores in 1_i64..10_000) {
        let node = Power::<Si00>::from_e4(e4);
        let core = node.shared_by(cores).unwrap();
        prop_assert!((core.times(cores) - node).scaled().abs() * 2 <= i128::from(cores));
        prop_assert_eq!(node.shared_by(0), None);
    }
}
