//! Who gains and who loses.

use std::collections::BTreeMap;

use super::{RULE, SIDES, assert_same, associations, number, scene, table};
use crate::share_history::NO_DECAY;

/// Every rule has the same identities.
const RULES: [&str; 4] = [
    RULE,
    "half_life = \"1-00:00:00\"\npriority_weight = 100",
    "half_life = \"1-00:00:00\"\ndecay = \"halving-steps\"\nalgorithm = \"depth-oblivious\"",
    "half_life = \"06:00:00\"\ndecay = \"continuous\"\nreset = \"daily\"\nalgorithm = \"fair-tree-merged-ties\"",
];

#[test]
fn a_what_if_that_states_what_the_pipeline_states_changes_no_cell() {
    for rule in RULES {
        let scene = scene(rule);
        scene.write("same.toml", &format!("{rule}\nusage = \"recorded-billing\"\n[shares]\nlab = 30\n\"lab/ann/gpu\" = 5\n\"inst/cid\" = \"parent\"\n"));
        let period = ["--from", "2026-03-01", "--to", "2026-03-06"];
        let what_if = ["--what-if", "same.toml"];
        for (name, row) in associations(&scene, &what_if) {
            for column in SIDES {
                assert_same(&row, column);
            }
            assert_eq!(row["outcome"], "same", "{name}");
            assert_eq!(number(&row, "factor_difference").to_bits(), 0, "{name}");
        }
        assert!(table(&scene, "assumptions", &what_if).is_empty());
        let days = table(&scene, "days", &[&what_if[..], &period].concat());
        assert_eq!(days.len(), 6 * 7);
        for row in days {
            assert_same(&row, "factor");
            assert_eq!(row["outcome"], "same");
        }
        for of in table(&scene, "totals", &what_if) {
            let [gains, loses, same] = ["gains", "loses", "same"].map(|word| of[word].as_i64().unwrap());
            assert_eq!((gains, loses), (0, 0));
            assert_eq!(same, if of["of"] == "accounts" { 2 } else { 4 });
        }
        let (text, _) = scene.done(&[&["report", "fairshare", "lake"][..], &what_if].concat());
        assert!(text.contains("Nothing is assumed to be other than it is."), "{text}");
    }
}

#[test]
fn three_times_all_shares_changes_nothing_else() {
    for rule in RULES {
        let scene = scene(rule);
        scene.write(
            "tripled.csv",
            "account,user,partition,shares\nlab,,,90\ninst,,,30\nlab,ann,,6\nlab,bob,,3\nlab,ann,gpu,15\n",
        );
        let tripled = ["--shares-table", "tripled.csv"];
        assert_eq!(table(&scene, "assumptions", &tripled).len(), 5);
        for (name, row) in associations(&scene, &tripled) {
            for column in &SIDES[1..] {
                assert_same(&row, column);
            }
            assert_eq!(row["outcome"], "same", "{name}");
        }
    }
}

#[test]
fn a_lab_that_doubles_its_shares_gains_and_the_others_lose() {
    let scene = scene(RULE);
    for shares in ["lab=60", "lab=+30"] {
        let doubled = associations(&scene, &["--shares", shares]);
        for (name, row) in &doubled {
            let is_of_lab = name.starts_with("lab");
            let expected = match name.as_str() {
                "root" => "same",
                _ if is_of_lab => "gains",
                _ => "loses",
            };
            assert_eq!(row["outcome"], expected, "{name}");
            let difference = number(row, "factor_after") - number(row, "factor_before");
            assert!((difference - number(row, "factor_difference")).abs() < 1e-9, "{name}");
            assert_same(row, "effective_usage");
        }
        // Shares of 30 and 10 become 60 and 10; the usage is as it was.
        let (lab, inst) = (&doubled["lab"], &doubled["inst"]);
        assert_eq!(
            (&lab["shares_before"], &lab["shares_after"]),
            (&"30".into(), &"60".into())
        );
        for (row, part) in [(lab, 6.0 / 7.0), (inst, 1.0 / 7.0)] {
            let expected = (-number(row, "effective_usage_after") / part).exp2();
            assert!((number(row, "factor_after") - expected).abs() < 1e-8);
        }
    }
    let stated = table(&scene, "assumptions", &["--shares", "lab=+30"]);
    assert_eq!(stated.len(), 1);
    let [what, before, after] = ["what", "before", "after"].map(|column| stated[0][column].as_str().unwrap());
    assert_eq!((what, before, after), ("shares.lab", "30", "60"));
}

#[test]
fn under_fair_tree_an_account_stands_for_its_users() {
    let scene = scene(NO_DECAY);
    let rows = associations(&scene, &["--shares", "inst=+1000"]);
    // cid becomes the first of four users, the others are one place lower.
    let factors: BTreeMap<&str, f64> = rows
        .iter()
        .map(|(name, row)| (name.as_str(), number(row, "factor_after")))
        .collect();
    assert!((factors["inst/cid"] - 1.0).abs() < 1e-9);
    assert!((factors["inst"] - 1.0).abs() < 1e-9);
    assert!((factors["lab"] - 0.5).abs() < 1e-9, "{factors:?}");
    assert_eq!(rows["inst"]["rank_after"], 1);
    assert_eq!(rows["lab"]["rank_after"], 2);
    let totals = table(&scene, "totals", &["--shares", "inst=+1000"]);
    for of in totals {
        let n: i64 = ["gains", "loses", "same", "without_factor"]
            .iter()
            .map(|word| of[*word].as_i64().unwrap())
            .sum();
        let is_of_users = of["of"] == "users";
        assert_eq!(n, if is_of_users { 4 } else { 2 });
        let counted = |outcome: &str| {
            let alike = rows
                .values()
                .filter(|row| row["outcome"] == outcome && row["account"] != "root");
            alike.filter(|row| row["user"].is_string() == is_of_users).count()
        };
        for outcome in ["gains", "loses", "same"] {
            assert_eq!(
                usize::try_from(of[outcome].as_i64().unwrap()).unwrap(),
                counted(outcome)
            );
        }
    }
}

/// Factors of two algorithms are not compared: who was first remains first.
#[test]
fn between_two_algorithms_the_order_decides_who_gains() {
    let scene = scene(NO_DECAY);
    let (text, notes) = scene.done(&["report", "fairshare", "lake", "--algorithm", "classic"]);
    assert!(text.contains("algorithm  fair-tree  classic"), "{text}");
    assert!(notes.contains("who gains and who loses follows from ranks"), "{notes}");
    for (name, row) in associations(&scene, &["--algorithm", "classic"]) {
        let ranks = ["rank_before", "rank_after"].map(|column| row[column].as_i64());
        let expected = match ranks {
            [Some(before), Some(after)] if after < before => "gains",
            [Some(before), Some(after)] if after > before => "loses",
            [Some(_), Some(_)] => "same",
            _ => {
                assert_eq!(name, "root");
                continue;
            }
        };
        assert_eq!(row["outcome"], expected, "{name}");
    }
}

#[test]
fn users_are_named_only_where_it_is_requested_and_the_output_is_the_same_each_time() {
    let scene = scene(RULE);
    for format in ["table", "markdown", "html", "json", "ndjson"] {
        let args = [
            "report",
            "fairshare",
            "lake",
            "--shares",
            "lab=1",
            "--from",
            "2026-03-01",
            "--format",
            format,
        ];
        let (text, _) = scene.done(&args);
        assert_eq!(scene.done(&args).0, text);
        for user in ["ann", "bob", "cid"] {
            assert!(
                !text.contains(&format!("{user}<")) && !text.contains(&format!("\"{user}\"")),
                "{format}: {user}"
            );
            assert!(!text.contains(&format!(" {user} ")), "{format}: {user}");
        }
        let named = scene.done(&[&args[..], &["--users"]].concat()).0;
        assert!(named.contains("ann"), "{format}");
    }
}

#[test]
fn the_page_draws_factors_and_fetches_nothing() {
    let scene = scene(RULE);
    let (page, _) = scene.done(&[
        "report",
        "fairshare",
        "lake",
        "--shares",
        "lab=+30",
        "--users",
        "--from",
        "2026-03-01",
        "--format",
        "html",
    ]);
    assert_eq!(page.matches("<svg width=").count(), 3, "accounts, users, days");
    assert!(page.contains("<circle") && page.contains("<polyline"), "{page}");
    for far in ["http://", "https://", "@import", "<link rel=\"stylesheet\""] {
        assert!(!page.contains(far), "{far}");
    }
    for text in [
        "shares.lab",
        "users gain",
        "Factors of accounts before and after",
        "What the terms mean",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
