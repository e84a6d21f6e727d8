//! Formulas against arithmetic in whole numbers, and what SQL leaves open.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, UInt32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, RecordBatch, StringArray};
use arrow_buffer::i256;
use arrow_schema::DataType;
use gridtally::charge::amount::{self, RoundingMode};
use gridtally::error::Kind;
use gridtally::expr::decimal::parse;
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

/// Columns of every type, as a batch has them: `t` as codes.
fn mixed() -> (RecordBatch, BTreeMap<String, Type>) {
    let number: ArrayRef = {
        let array: Decimal128Array = [Some(2 * ONE), None, Some(5 * ONE), Some(0)].into_iter().collect();
        Arc::new(array.with_data_type(DataType::Decimal128(38, 12)))
    };
    let texts = [Some("cpu"), Some("gpu"), None, Some("cpu")];
    let coded: DictionaryArray<UInt32Type> = texts.into_iter().collect();
    let truth: BooleanArray = [Some(true), Some(false), None, Some(true)].into_iter().collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("n", number),
        ("t", Arc::new(coded)),
        (
            "u",
            Arc::new(StringArray::from(vec![Some("cpu"), None, Some("x"), Some("gpu")])),
        ),
        ("is", Arc::new(truth)),
    ];
    let kinds = [
        ("n", Type::Number),
        ("t", Type::Text),
        ("u", Type::Text),
        ("is", Type::Truth),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
    (batch, kinds.map(|(name, kind)| (name.to_owned(), kind)).into())
}

/// What `sql` gives over [`mixed`], in words; `-` is unknown.
fn mixed_words(sql: &str) -> String {
    let (batch, columns) = mixed();
    let formula = Formula::compile(sql, &columns).unwrap_or_else(|why| panic!("{sql}: {why:?}"));
    let given = evaluate(&batch, &[("x", &formula)], &["x"]).unwrap();
    let array = given.column(0);
    let word = |row: usize| {
        if array.is_null(row) {
            return "-".to_owned();
        }
        match formula.kind() {
            Type::Number => decimal::text(array.as_primitive::<Decimal128Type>().value(row), SCALE),
            Type::Text => array.as_string::<i32>().value(row).to_owned(),
            Type::Truth => array.as_boolean().value(row).to_string(),
        }
    };
    (0..array.len()).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn texts_and_truth_values_are_computed_as_sql_does() {
    for (sql, words) in [
        ("t = 'cpu'", "true false - true"),
        ("'cpu' <> t", "false true - false"),
        ("t = u", "true - - false"),
        ("t < u", "false - - true"),
        ("u < t", "false - - false"),
        ("t IN ('gpu', 'x')", "false true - false"),
        ("u NOT IN ('gpu', 'x')", "true - false false"),
        ("n IN (2, -3, 0)", "true - false true"),
        ("n BETWEEN 0 AND 2", "true - false true"),
        ("n NOT BETWEEN 0 AND 2", "false - true false"),
        ("is AND n > 1", "true false - false"),
        ("is OR n > 1", "true - true true"),
        ("NOT is", "false true - false"),
        ("is = (n > 1)", "true - - false"),
        ("is IS TRUE", "true false false true"),
        ("is IS NOT FALSE", "true false true true"),
        ("t IS NULL", "false false true false"),
        ("n IS NOT NULL AND t IS NOT NULL", "true false false true"),
        ("coalesce(t, u)", "cpu gpu x cpu"),
        ("coalesce(u, 'none')", "cpu none x gpu"),
        ("coalesce(n, NULL, 7)", "2 7 5 0"),
        ("greatest(t, u)", "cpu - - gpu"),
        ("least(t, 'd')", "cpu d - cpu"),
        ("nullif(t, 'gpu')", "cpu - - cpu"),
        ("nullif(n, 0)", "2 - 5 -"),
        ("CASE t WHEN 'cpu' THEN u ELSE 'other' END", "cpu other - gpu"),
        ("CASE WHEN t = 'cpu' THEN 1 END", "1 - - 1"),
        // From the first condition on that is unknown, the choice is.
        ("CASE WHEN n > 3 THEN 'a' WHEN is THEN 'b' ELSE 'c' END", "b - a b"),
        ("CASE WHEN TRUE THEN n ELSE 1 / 0 END", "2 - 5 0"),
        ("CASE WHEN 1 > 2 THEN n ELSE 3 END", "3 3 3 3"),
        ("if(1 = NULL, n, 3)", "- - - -"),
        ("6 / n", "3 - 1.2 -"),
        ("round(n / 4) + round(0.125 * n, 2) - (+n)", "-1.75 - -3.38 0"),
        ("-(-n) * ceiling(-0.5) + abs(floor(-0.5))", "1 - 1 1"),
    ] {
        assert_eq!(mixed_words(sql), words, "{sql}");
    }
}

#[test]
fn values_of_different_types_do_not_meet() {
    let (_, columns) = mixed();
    for (sql, why) in [
        ("n = 'cpu'", "'cpu' is a text where a number belongs"),
        ("t + 1", "t is a text where a number belongs"),
        ("n AND is", "n is a number where a truth value belongs"),
        (
            "CASE WHEN is THEN n ELSE 'x' END",
            "a value of CASE is a text where a number belongs",
        ),
        ("coalesce(t, 1)", "a value of coalesce is a number where a text belongs"),
        ("t IN (1)", "1 is a number where a text belongs"),
        ("n IN (n)", "n is no value to look for with IN"),
        ("is < is", "an order of truth values has no place in a formula"),
        ("round(n, 13)", "round takes 0 to 12 places, not 13"),
        ("if(is, 1)", "if takes three values, not 2"),
        ("coalesce(NULL, NULL)", "it gives nothing but NULL"),
        ("n || t", "|| has no place in a formula"),
        ("n 2", "2 has no place behind an expression"),
    ] {
        assert_eq!(
            Formula::compile(sql, &columns).unwrap_err(),
            Mistake::Wrong(why.to_owned()),
            "{sql}"
        );
    }
    let (number, date) = (Formula::compile("n", &columns).unwrap(), "t");
    let wrong = RecordBatch::try_from_iter([("n", mixed().0.column_by_name(date).unwrap().clone())]).unwrap();
    let error = evaluate(&wrong, &[("x", &number)], &["x"]).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal);
}

/// Only what is wanted is computed: another formula may have numbers that do not fit.
#[test]
fn formulas_read_what_came_before_them_and_only_as_far_as_wanted() {
    let columns: BTreeMap<String, Type> = ["a", "b", "c", "x", "y"]
        .map(|name| (name.to_owned(), Type::Number))
        .into();
    let formula = |sql: &str| Formula::compile(sql, &columns).unwrap();
    let large = "100000000000000000000";
    let overflowing = formula(&format!("{large} * {large} * a"));
    let (first, second, third) = (formula("a + 1"), formula("x * 10"), formula("x + y"));
    let formulas = [("y", &overflowing), ("x", &first), ("y", &second), ("x", &third)];
    let batch = table(&[[Some(2 * ONE), None, None]]);
    let given = evaluate(&batch, &formulas, &["x", "a"]).unwrap();
    let at = |nth: usize| given.column(nth).as_primitive::<Decimal128Type>().value(0);
    assert_eq!((at(0), at(1)), (33 * ONE, 2 * ONE));
    let error = evaluate(&batch, &formulas[..1], &["y"]).unwrap_err();
    assert_eq!(error.kind(), Kind::Data);
    assert_eq!(
        evaluate(&batch, &formulas, &["nothing"]).unwrap_err().kind(),
        Kind::Internal
    );
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

    /// Beyond what 128 bits hold on the way, checked by multiplication alone: the result is no further from the exact one than
    /// half a place, and even where it is as far.
    #[test]
    fn products_and_quotients_beyond_128_bits_are_rounded_once_half_to_even(
        a in -10_i128.pow(37)..10_i128.pow(37), b in -10_i128.pow(13)..10_i128.pow(13), c in 1..10_i128.pow(26)
    ) {
        let wide = i256::from_i128;
        let is_nearest = |given: i128, exact: i256, divisor: i128| {
            let off = (exact - wide(given) * wide(divisor)).wrapping_abs() * wide(2);
            off < wide(divisor) || off == wide(divisor) && given % 2 == 0
        };
        let given = compute("a * b", &[[Some(a), Some(b), None]]);
        match given {
            Ok(given) => prop_assert!(is_nearest(given[0].unwrap(), wide(a) * wide(b), ONE)),
            Err(why) => {
                prop_assert_eq!(why.kind(), Kind::Data);
                prop_assert!((wide(a) * wide(b)).wrapping_abs() > wide(10_i128.pow(37)) * wide(ONE));
            }
        }
        // Sizes of memory, which are divided by in another way.
        for power in [1, 2, 10, 30, 40] {
            let size = ONE << power;
            if let Ok(given) = compute("a / c", &[[Some(a), None, Some(size)]]) {
                prop_assert!(is_nearest(given[0].unwrap(), wide(a) * wide(ONE), size));
            }
        }
        // Weights whose reciprocals are whole, which are divided by as well.
        for divisor in [2, 4, 5, 64, 1000, ONE] {
            let weight = ONE / divisor;
            for cells in [[Some(a), Some(weight), None], [Some(weight), Some(a), None]] {
                let given = compute("a * b", &[cells]).unwrap();
                prop_assert!(is_nearest(given[0].unwrap(), wide(a) * wide(weight), ONE));
            }
        }
        for sign in [1, -1] {
            match compute("a / c", &[[Some(a), None, Some(sign * c)]]) {
                Ok(given) => prop_assert!(is_nearest(sign * given[0].unwrap(), wide(a) * wide(ONE), c)),
                Err(why) => {
                    prop_assert_eq!(why.kind(), Kind::Data);
                    prop_assert!((wide(a) * wide(ONE)).wrapping_abs() > wide(10_i128.pow(37)) * wide(c));
                }
            }
        }
    }

    #[test]
    fn amounts_are_rounded_as_they_are_reported(
        value in prop_oneof![any::<i64>().prop_map(i128::from), -10_i128.pow(37)..10_i128.pow(37)],
        digits in 0_u32..12,
    ) {
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
