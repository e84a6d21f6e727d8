//! The mean of a value over any span is that of its steps, added up one by one.

use gridtally::reference::energy::Course;
use gridtally::reference::energy::course::CourseMean;
use gridtally::reference::energy::span_value::SpanValue;
use proptest::prelude::*;

/// Steps of some length each, unknown where a value is `None`, from `start_ms` on.
fn steps(start_ms: i64, written: &[(i64, Option<i64>)]) -> Vec<SpanValue> {
    let mut from_ms = start_ms;
    let spans = written.iter().enumerate().map(|(line, (length, value_e4))| {
        let span = SpanValue {
            from_ms,
            until_ms: from_ms + length,
            value_e4: *value_e4,
            line,
        };
        from_ms += length;
        span
    });
    spans.collect()
}

/// Value times milliseconds, millisecond by millisecond.
fn one_by_one(spans: &[SpanValue], from_ms: i64, until_ms: i64) -> Option<i128> {
    let at = |ms: i64| {
        spans
            .iter()
            .find(|span| (span.from_ms..span.until_ms).contains(&ms))?
            .value_e4
    };
    (from_ms..until_ms).map(|ms| at(ms).map(i128::from)).sum()
}

proptest! {
    #[test]
    fn a_mean_is_the_sum_of_its_milliseconds(
        written in prop::collection::vec((1_i64..9, prop::option::weighted(0.8, 0_i64..50)), 1..12),
        start in -20_i64..20,
        from in -30_i64..60,
        length in 1_i64..60,
    ) {
        let spans = steps(start, &written);
        let until = from + length;
        let wanted = one_by_one(&spans, from, until).map(|sum| CourseMean { sum, ms: i128::from(length) });
        prop_assert_eq!(Course::new(&spans).mean(from, until), wanted);
    }

    #[test]
    fn a_product_is_that_of_both_values_at_every_instant(
        a in prop::collection::vec((1_i64..9, prop::option::weighted(0.8, 0_i64..50)), 0..8),
        b in prop::collection::vec((1_i64..9, prop::option::weighted(0.8, 0_i64..50)), 0..8),
        at in -10_i64..60,
    ) {
        let (a, b) = (Course::new(&steps(0, &a)), Course::new(&steps(3, &b)));
        let wanted = a.at(at).zip(b.at(at)).map(|(a, b)| a * b);
        prop_assert_eq!(a.times(&b).at(at), wanted);
        prop_assert_eq!(a.times(&b).mean(at, at), wanted.map(|sum| CourseMean { sum: i128::from(sum), ms: 1 }));
    }
}

#[test]
fn an_amount_is_rounded_half_up_once() {
    let mean = CourseMean { sum: 3, ms: 2 };
    assert_eq!(mean.of(1, 1), Some(2), "1.5");
    assert_eq!(mean.of(3, 1), Some(5), "4.5");
    assert_eq!(mean.of(1, 4), Some(0), "0.375");
    assert_eq!(
        CourseMean {
            sum: i128::MAX / 2,
            ms: 1
        }
        .of(9, 1),
        None
    );
}
