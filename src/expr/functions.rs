//! The functions formulas have.

use std::fmt::Write as _;

/// A function of formulas.
#[derive(Clone, Copy, Debug)]
pub struct FormulaFunction {
    /// Its name.
    pub name: &'static str,
    /// How it is called.
    pub call: &'static str,
    /// What it gives.
    pub doc: &'static str,
}

const fn function(name: &'static str, call: &'static str, doc: &'static str) -> FormulaFunction {
    FormulaFunction { name, call, doc }
}

/// All of them.
pub const FUNCTIONS: [FormulaFunction; 11] = [
    function(
        "greatest",
        "greatest(a, b, ...)",
        "The largest of one value or more; unknown when one of them is.",
    ),
    function(
        "least",
        "least(a, b, ...)",
        "The smallest of one value or more; unknown when one of them is.",
    ),
    function("ceil", "ceil(a)", "The next whole number that is not below `a`."),
    function("ceiling", "ceiling(a)", "The same as `ceil`."),
    function("floor", "floor(a)", "The next whole number that is not above `a`."),
    function(
        "round",
        "round(a), round(a, places)",
        "`a` to whole numbers, or to 0 to 12 places; halves go to the even digit: `round(2.345, 2)` is 2.34.",
    ),
    function("abs", "abs(a)", "`a` without its sign."),
    function(
        "coalesce",
        "coalesce(a, b, ...)",
        "The first of one value or more that is known.",
    ),
    function("ifnull", "ifnull(a, b)", "`a` where it is known, else `b`."),
    function(
        "nullif",
        "nullif(a, b)",
        "Unknown where `a = b` is true or unknown, else `a`.",
    ),
    function(
        "if",
        "if(condition, a, b)",
        "`a` where the condition is true, `b` where it is false; unknown where it is unknown.",
    ),
];

/// Their names.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

/// All of them as a table.
#[must_use]
pub fn functions_markdown() -> String {
    let mut table = String::from("| function | gives |\n|---|---|\n");
    for function in FUNCTIONS {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{}` | {} |", function.call, function.doc);
    }
    table
}
