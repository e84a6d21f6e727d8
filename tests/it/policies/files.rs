//! Valid and invalid content of a policy file, and the reported mistakes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use gridtally::charge::Policy;
use gridtally::diagnostics::Problems;

use super::{GOOD, read};

/// Every mistake of `GOOD` with `from` replaced.
fn mistakes(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    read(&GOOD.replacen(from, to, 1))
        .map(|policy| policy.name())
        .unwrap_err()
}

#[test]
fn mistakes_are_reported_with_their_line_all_at_once() {
    let text = GOOD
        .replace("pool = \"cpu\"", "pol = \"cpu\"")
        .replace("memory / 4", "memry / 4")
        .replace("hours = 2", "hous = 2");
    let reported = read(&text).map(|policy| policy.name()).unwrap_err();
    for line in [
        "p.toml:5: unknown key \"pol\" in the policy file, did you mean \"pool\"?",
        "p.toml:1: the policy file has no pool",
        "p.toml:8: there is no \"memry\", did you mean \"memory\"?",
    ] {
        assert!(reported.contains(line), "{line} is not in\n{reported}");
    }
    let reported = mistakes("hours = 2", "hous = 2");
    assert!(
        reported.contains("p.toml:12: a job has no \"hous\", did you mean \"hours\"?"),
        "{reported}"
    );
}

/// Warnings of a policy that is sound.
fn warnings(text: &str) -> Vec<String> {
    let mut problems = Problems::default();
    assert!(Policy::read("p.toml", text, &mut problems).is_some(), "{text}");
    problems.finish().unwrap()
}

#[test]
fn whole_numbers_of_a_product_with_a_rounded_time_are_warned_of() {
    let of = |formula: &str| warnings(&GOOD.replace("greatest(cores, memory / 4) * hours", formula));
    assert!(of("greatest(cores, memory / 4) * hours").is_empty());
    for (formula, name) in [
        ("ceil(cores * hours)", "hours"),
        ("ceiling(2 + memory * (cores * hours))", "hours"),
        ("floor(hours / 2)", "hours"),
        ("ceil(cores * minutes / 60)", "minutes"),
    ] {
        let text = of(formula).join("\n");
        assert!(
            text.contains(&format!("rounds a product with {name}")),
            "{formula}: {text}"
        );
    }
    for formula in [
        "ceil(hours) * cores",
        "ceil(cores * seconds / 3600)",
        "cores * ceil(hours + 1)",
    ] {
        assert!(of(formula).is_empty(), "{formula}");
    }
}

/// The replaced text, its replacement, and the reported mistake.
const CASES: &[(&str, &str, &str)] = &[
    (
        "greatest(cores, memory / 4)",
        "max(cores, memory / 4)",
        "greatest(a, b)",
    ),
    (
        "greatest(cores, memory / 4)",
        "sqrt(cores)",
        "formulas have no function sqrt",
    ),
    (
        "greatest(cores, memory / 4)",
        "grestest(cores, 4)",
        "did you mean \"greatest\"?",
    ),
    (
        "\"greatest(cores, memory / 4) * hours\"",
        "\"cores > 3\"",
        "gives a truth value, not a number",
    ),
    (
        "greatest(cores, memory / 4)",
        "CAST(cores AS DOUBLE)",
        "no function CAST",
    ),
    (
        "greatest(cores, memory / 4)",
        "cores::double",
        "CAST (all numbers are decimals)",
    ),
    ("greatest(cores, memory / 4)", "cores // 4", "floor(a / b)"),
    ("greatest(cores, memory / 4)", "cores % 4", "floor(a / b)"),
    (
        "greatest(cores, memory / 4)",
        "0.1234567890123 * cores",
        "more than 12 decimals",
    ),
    ("greatest(cores, memory / 4)", "1e3 * cores", "written plainly"),
    (
        "greatest(cores, memory / 4)",
        "123456789012345678901234567.5 * cores",
        "no decimal that fits 38 digits",
    ),
    ("greatest(cores, memory / 4)", "cores +", "is not a formula"),
    ("greatest(cores, memory / 4)", "(SELECT 1)", "no"),
    (
        "memory_unit = \"GB\"",
        "memory_unit = \"Gb\"",
        "is not one of \"MB\", \"GB\"",
    ),
    ("memory_unit = \"GB\"\n", "", "there is no memory_unit"),
    ("expect = 4", "expect = \"free\"", "expect must be a number"),
    ("expect = 4", "", "has no expect"),
    (
        "id = \"zoo-core\"",
        "id = \"zoo-core\"\nvalid_to = \"2024\"",
        "valid_to must be a day",
    ),
    (
        "id = \"zoo-core\"",
        "id = \"zoo-core\"\nvalid_from = 2024-04-01\nvalid_to = 2024-04-01",
        "is not after",
    ),
    (
        "[[example]]",
        "[constants]\ncores = 3\n[[example]]",
        "the name \"cores\" is taken",
    ),
    (
        "[[example]]",
        "[[tier]]\nname = \"t\"\nby = \"cores\"\nsteps = [[1, 1]]\n[[example]]",
        "to which step a bound belongs",
    ),
    (
        "[[example]]",
        "[[tier]]\nname = \"t\"\nby = \"cores\"\nupper = \"included\"\nsteps = [[2, 1], [1, 2]]\n[[example]]",
        "must rise",
    ),
    (
        "[[example]]",
        "[[table]]\nby = [\"qos\"]\ngives = [\"f\"]\nrows = [[\"a\", 1], [\"a\", 2]]\n[[example]]",
        "same keys",
    ),
    (
        "[[example]]",
        "[[table]]\nby = [\"qos\"]\ngives = [\"f\"]\nrows = [[\"a\", 1, 2]]\n[[example]]",
        "3 cells, where 2",
    ),
    (
        "[[example]]",
        "[unknown]\ncore = 1\n[[example]]",
        "did you mean \"cores\"?",
    ),
    (
        "expect = 4",
        "expect = 4\nprinted_of = \"charge\"",
        "printed_of goes with printed",
    ),
    (
        "expect = 4",
        "expect = 4\nprinted = \"4\"\nprinted_of = \"charg\"",
        "works out no \"charg\", did you mean \"charge\"?",
    ),
    ("[[example]]", "[round]\ndigits = 12\n[[example]]", "from 0 to 9"),
    ("in = {", "options = { x = \"y\" }\nin = {", "has no option \"x\""),
];

#[test]
fn what_is_no_policy_is_refused() {
    for (from, to, reported) in CASES {
        let all = mistakes(from, to);
        assert!(all.contains(reported), "{to}: {reported:?} is not in\n{all}");
    }
    let bare = GOOD.split("[[example]]").next().unwrap();
    assert!(
        read(bare)
            .map(|policy| policy.name())
            .unwrap_err()
            .contains("there is no [[example]]")
    );
}

/// A charge is rounded after the minimum.
#[test]
fn a_minimum_that_rounding_undercuts_is_a_mistake() {
    let formula = "formula =";
    let with = |minimum: &str, round: &str| {
        let text = GOOD.replacen(formula, &format!("{minimum}\n{formula}"), 1);
        read(&format!("{text}[round]\n{round}\n")).map(|policy| policy.name())
    };
    for (minimum, round, below) in [
        ("0.25", "digits = 1", "0.2"),
        ("0.5", "digits = 0", "0"),
        ("1.99", "digits = 0\nmode = \"down\"", "1"),
    ] {
        let reported = with(&format!("minimum_charge = {minimum}"), round).unwrap_err();
        let wanted =
            format!("minimum_charge is rounded to {below}, as charges of this policy are, and that is below it");
        assert!(reported.contains(&wanted), "{reported}");
    }
    for (minimum, round) in [
        ("0.25", "digits = 2"),
        ("0.25", "digits = 1\nmode = \"up\""),
        ("0.5", "digits = 0\nmode = \"half-up\""),
        ("0", "digits = 0"),
    ] {
        with(&format!("minimum_charge = {minimum}"), round).unwrap();
    }
    let reported = with("minimum_charge = -5", "digits = 1").unwrap_err();
    assert!(reported.contains("minimum_charge is below zero"), "{reported}");
    let reported = with("minimum_seconds = -1", "digits = 1").unwrap_err();
    assert!(reported.contains("minimum_seconds is below zero"), "{reported}");
}

/// Bytes of every sort are a mistake or a policy, never a panic.
#[test]
fn damaged_files_are_reported() {
    for cut in 0..GOOD.len() {
        let _ = read(&GOOD[..cut]);
        let mut damaged = GOOD.as_bytes().to_vec();
        damaged[cut] = b"\"[]{}=,.0x'"[cut % 11];
        let _ = read(&String::from_utf8_lossy(&damaged)).map(|policy: Policy| policy.test());
    }
}

fn gridtally(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn a_failing_example_is_shown_with_its_numbers_and_exit_65() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("policies")).unwrap();
    fs::write(here.path().join("policies/zoo.toml"), GOOD).unwrap();
    let output = gridtally(&["policy", "test"], here.path());
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 of 1 examples hold"));

    fs::write(
        here.path().join("policies/zoo.toml"),
        GOOD.replace("expect = 4", "expect = 5"),
    )
    .unwrap();
    let output = gridtally(&["policy", "test", "policies/zoo.toml"], here.path());
    assert_eq!(output.status.code(), Some(65));
    let table = String::from_utf8_lossy(&output.stdout);
    for line in [
        "FAILED policies/zoo.toml:10",
        "expected 5, but the policy gives 4",
        "cores = 1, hours = 2, memory = 8",
        "charge = greatest(cores, memory / 4) * hours = greatest(1, 8 / 4) * 2 = 4",
        "0 of 1 examples hold",
    ] {
        assert!(table.contains(line), "{line} is not in\n{table}");
    }
    let output = gridtally(&["policy", "test", "--report", "json", "policies"], here.path());
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows[0]["computed"], "4");
    assert_eq!(rows[0]["failures"].as_array().unwrap().len(), 5);

    let output = gridtally(&["policy", "show", "policies/zoo.toml"], here.path());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("# Cores of the zoo"));
    let output = gridtally(&["policy", "columns"], here.path());
    assert!(String::from_utf8_lossy(&output.stdout).contains("cores"));
    let output = gridtally(&["policy", "test", "none.toml"], here.path());
    assert_eq!(output.status.code(), Some(78));
}

#[test]
fn what_a_centre_prints_must_be_what_it_is_stated_to_be() {
    let stated = |printed: &str| {
        let text = GOOD
            .replace("hours = 2", "hours = 0.6666")
            .replace("expect = 4", &format!("expect = 1.3332\n{printed}"));
        let verdicts = read(&text).unwrap().test().unwrap();
        verdicts[0].failures.is_empty()
    };
    assert!(stated("printed = \"1.33\""));
    assert!(stated("printed = \"1.333\"\nprinted_is = \"rounded\""));
    assert!(!stated("printed = \"1.34\""));
    assert!(stated("printed = \"1.34\"\nprinted_is = \"wrong\""));
    assert!(!stated("printed = \"1.33\"\nprinted_is = \"wrong\""));
    assert!(
        !stated("printed = \"1.33\"\nprinted_is = \"truncated\""),
        "rounding gives the same"
    );
}

#[test]
fn a_centre_may_print_a_value_on_the_way() {
    let stated = |rate: &str, expected: &str, printed: &str| {
        let text = GOOD
            .replace("greatest(cores, memory / 4) * hours", "rate * hours")
            .replace(
                "[[example]]",
                &format!("[[let]]\nname = \"rate\"\nis = \"{rate}\"\n\n[[example]]"),
            )
            .replace("expect = 4", &format!("expect = {expected}\n{printed}"));
        read(&text).unwrap().test().unwrap()[0].failures.join("\n")
    };
    assert_eq!(stated("memory / 4", "4", "printed = \"2\"\nprinted_of = \"rate\""), "");
    assert_eq!(
        stated("memory / 4", "4", "printed = \"4\"\nprinted_of = \"charge\""),
        ""
    );
    let wrong = stated("memory / 4", "4", "printed = \"4\"\nprinted_of = \"rate\"");
    assert!(
        wrong.contains("prints 4, declared as rounded of the rate 2, which it is not"),
        "{wrong}"
    );
    assert_eq!(
        stated(
            "memory / 4",
            "4",
            "printed = \"4\"\nprinted_of = \"rate\"\nprinted_is = \"wrong\""
        ),
        ""
    );
    // What nobody can work out proves nothing.
    let unknown = stated("billing", "\"unknown\"", "printed = \"4\"\nprinted_of = \"rate\"");
    assert!(unknown.contains("prints 4, but the rate is unknown"), "{unknown}");
    let unknown = stated("billing", "\"unknown\"", "printed = \"4\"");
    assert!(unknown.contains("prints 4, but the charge is unknown"), "{unknown}");
}

#[test]
fn an_option_that_no_policy_has_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let policy = "id = \"cores\"\nversion = \"1\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"cpu\"\nunit = \"core_hour\"\n\
        formula = \"CASE WHEN fee = 'yes' THEN 2 ELSE 1 END * cores * hours\"\n\
        [[option]]\nname = \"fee\"\nvalues = [\"yes\", \"no\"]\ndefault = \"no\"\n\
        [[example]]\nname = \"one\"\nin = { cores = 1, hours = 2 }\nexpect = 2\n";
    fs::write(here.join("fee.toml"), policy).unwrap();
    let plain = policy.replace("CASE WHEN fee = 'yes' THEN 2 ELSE 1 END * ", "");
    let plain = plain.replace(
        "[[option]]\nname = \"fee\"\nvalues = [\"yes\", \"no\"]\ndefault = \"no\"\n",
        "",
    );
    fs::write(here.join("plain.toml"), plain).unwrap();
    for args in [
        &["diff", "fee.toml", "plain.toml", "--from", "none"][..],
        &["price", "fee.toml", "plain.toml", "--from", "none"],
        &["billing", "none", "fee.toml"],
    ] {
        let reported = |option: &str| {
            let output = gridtally(&[&["policy"], args, &["--option", option]].concat(), here);
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, text) = reported("fees=yes");
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(
            text.contains("no policy here has the option fees=yes"),
            "{args:?}: {text}"
        );
        // One of them has it: what is missing is something else.
        let (_, text) = reported("fee=yes");
        assert!(!text.contains("has the option"), "{args:?}: {text}");
    }
    // Weights of an inventory have no options.
    let output = gridtally(&["policy", "billing", "none", "--option", "fee=yes"], here);
    assert_eq!(output.status.code(), Some(2));
}
