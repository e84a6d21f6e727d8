//! Formulas against arithmetic in whole numbers, and what SQL leaves open.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type};
use gridtally::charge::amount::{self, RoundingMode};
use gridtally::error::Kind;
use gridtally::expr::formula::parse;
use gridtally::expr::{Formula, Mistake, SCALE, Type, evaluate};
use gridtally::reference::decimal;
use proptest::prelude::*;

const ONE: i128 = 10_i128.pow(SCALE);

fn columns() -> BTreeMap<String, Type> {
    ["a", "b", "c"].map(|name| (name.to_owned(), Type::Number)).into()
}

fn table(rows: &[[Option<i128>; 3]]) -> RecordBatch {
    let column = |nth: usize| -> ArrayRef {
        let array: Decimal128Array = rows.iter().map(|row| row[nth]).collect();
        Arc::new(array.with_data_type(DataType::Decimal128(38, 12)))
    };
    RecordBatch::try_from_iter_with_nullable([("a", column(0), true), ("b", column(1), true), ("c", column(2), true)])
        .unwrap()
}

fn compute(sql: &str, rows: &[[Option<i128>; 3]]) -> gridtally::error::Result<Vec<Option<i128>>> {
    let formula = Formula::compile(sql, &columns()).unwrap();
    assert_eq!(formula.kind(), Type::Number, "{sql}");
    let given = evaluate(&table(rows), &[("x", &formula)], &["x"])?;
    let values = given.column(0).as_primitive::<Decimal128Type>();
    Ok((0..values.len())
        .map(|row| values.is_valid(row).then(|| values.value(row)))
        .collect())
}

/// One value of `sql` with a, b and c as written.
fn one(sql: &str, a: &str, b: &str, c: &str) -> Option<String> {
    let cell = |text: &str| (!text.is_empty()).then(|| parse(text).unwrap());
    compute(sql, &[[cell(a), cell(b), cell(c)]]).unwrap()[0].map(|value| decimal::text(value, SCALE))
}

#[test]
fn numbers_stay_decimals() {
    let gives = |sql: &str, a, b, c, value: &str| assert_eq!(one(sql, a, b, c).as_deref(), Some(value), "{sql}");
    gives("0.1 + 0.2", "1", "1", "1", "0.3");
    gives("a / 3", "1", "", "", "0.333333333333");
    gives("2 * a / 3", "1", "", "", "0.666666666667");
    gives("a / 3.0 * 3", "1", "", "", "0.999999999999");
    gives("0.2577031 * a", "167.96875", "", "", "43.286067578125");
    gives("round(a, 2)", "2.345", "", "", "2.34");
    gives("ceil(a / 2) + floor(b)", "3", "2.9", "", "4");
    gives("-a + abs(-b)", "3", "5", "", "2");
    gives("CASE WHEN a > 2 THEN 1 ELSE 0.5 END", "3", "", "", "1");
    gives("if(a BETWEEN 1 AND 3, b, c)", "3", "7", "8", "7");
    gives("greatest(a, b, 1.5) + least(a, b)", "1", "0.5", "", "2");
    gives("12345678901234 * a", "10", "", "", "123456789012340");
}

#[test]
fn unknown_stays_unknown_until_something_is_reported_of_it() {
    for sql in [
        "greatest(a, b)",
        "least(1, b)",
        "a + b",
        "CASE WHEN b > 1 THEN a ELSE 7 END",
        "if(b > 1, a, 7)",
        "a / 0",
        "a / (a - a)",
    ] {
        assert_eq!(one(sql, "3", "", "1"), None, "{sql}");
    }
    assert_eq!(one("greatest(a, coalesce(b, 0))", "3", "", "").as_deref(), Some("3"));
    assert_eq!(
        one("CASE WHEN b IS NULL THEN a ELSE 7 END", "3", "", "").as_deref(),
        Some("3")
    );
    // A branch that is not taken may divide by zero.
    assert_eq!(
        one("CASE WHEN b = 0 THEN 5 ELSE a / b END", "3", "0", "").as_deref(),
        Some("5")
    );
}

#[test]
fn what_is_no_formula_is_refused() {
    for sql in [
        "SUM(a)",
        "count(*)",
        "a AS b",
        "a, b",
        "*",
        "NULL",
        "'x'::date",
        "a; b",
        "a -- b",
        "now()",
        "'unended",
    ] {
        let refused = Formula::compile(sql, &columns());
        assert!(refused.is_err(), "{sql}: {refused:?}");
    }
    let unknown = Formula::compile("a + d", &columns()).unwrap_err();
    assert_eq!(unknown, Mistake::NoColumn("d".to_owned()));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let large = Some(10_i128.pow(37));
    let error = compute("a * b", &[[large, large, None]]).unwrap_err();
    assert_eq!(error.kind(), Kind::Data);
    assert!(error.to_string().contains("overflow"), "{error}");
}

/// `n / d`, a tie to the even number.
fn nearest(n: i128, d: i128) -> i128 {
    let (whole, rest) = (n.div_euclid(d), n.rem_euclid(d));
    match (rest * 2).cmp(&d) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole.rem_euclid(2),
    }
}

proptest! {
    #[test]
    fn products_and_quotients_are_rounded_once_half_to_even(
        rows in prop::collection::vec((-10_i128.pow(17)..10_i128.pow(17), -10_i128.pow(17)..10_i128.pow(17), 1..10_i128.pow(17)), 1..50)
    ) {
        let cells: Vec<[Option<i128>; 3]> = rows.iter().map(|(a, b, c)| [Some(*a), Some(*b), Some(*c)]).collect();
        let products = compute("a * b", &cells).unwrap();
        let quotients = compute("a / c", &cells).unwrap();
        for (row, (a, b, c)) in rows.iter().enumerate() {
            prop_assert_eq!(products[row], Some(nearest(a * b, ONE)));
            prop_assert_eq!(quotients[row], Some(nearest(a * ONE, *c)));
        }
    }

    #[test]
    fn amounts_are_rounded_as_they_are_reported(value in any::<i64>(), digits in 0_u32..12) {
        let value = i128::from(value);
        let unit = 10_i128.pow(12 - digits);
        let at = |mode| amount::round(value, 12, digits, mode) * unit;
        prop_assert!((value - at(RoundingMode::Down)).abs() < unit && at(RoundingMode::Down).abs() <= value.abs());
        prop_assert!((value - at(RoundingMode::Up)).abs() < unit && at(RoundingMode::Up).abs() >= value.abs());
        for mode in [RoundingMode::HalfEven, RoundingMode::HalfUp] {
            prop_assert!(2 * (value - at(mode)).abs() <= unit);
        }
        let text = decimal::text(value, 12);
        prop_assert_eq!(parse(&text), Some(value));
    }
}
