//! Entries that end or follow an award, as the report counts them.

use std::collections::BTreeMap;

use super::scene::{HEADER, Scene, job};

const COLUMNS: &str = "kind,award,account,user,policy,amount,valid_from,valid_to,cluster,period_rule\n";

/// The account fern used 100 on 10 May and 10 on 10 August.
fn scene(entries: &str) -> Scene {
    let scene = Scene::new();
    let jobs = [
        HEADER.to_owned(),
        job(1, "ann", "fern", "cedar", "2025-05-10T00:00:00", 1, 100),
        job(2, "ann", "fern", "cedar", "2025-08-10T00:00:00", 1, 10),
        job(3, "bo", "moss", "cedar", "2025-05-10T00:00:00", 1, 7),
    ];
    scene.write("jobs.txt", &jobs.concat());
    scene.write("awards.csv", &format!("{COLUMNS}{entries}"));
    let rule = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/pipelines/period-rules/archer2-halves.toml"
    );
    scene.pipeline(&format!(
        "[awards]\ntable = \"awards.csv\"\nperiod_rules = [\"{rule}\"]\n"
    ));
    scene
}

/// Columns of the row of an award.
fn amounts(rows: &[BTreeMap<String, String>], award: &str, columns: &[&str]) -> Vec<String> {
    let row = rows.iter().find(|row| row["award"] == award).unwrap();
    columns
        .iter()
        .map(|column| row[*column].trim_end_matches(".000000000").to_owned())
        .collect()
}

#[test]
fn an_award_under_a_period_rule_that_expires_loses_the_rest_on_its_day() {
    let scene = scene(
        "award,F1,fern,,ce,1000,2025-04-01,2026-04-01,,archer2-halves\n\
         award,O,moss,,ce,50,2025-04-01,2026-04-01,,\n\
         supplement,F1,fern,,ce,100,2025-07-01,,,\n\
         expiry,F1,fern,,ce,,2025-07-01,,,\n",
    );
    scene.run();
    let columns = ["allocated", "used", "available_now", "lost", "valid_to"];
    let before = scene.rows(&["--on", "2025-06-30"]);
    assert_eq!(
        amounts(&before, "F1", &columns),
        ["1000", "100", "400", "0", "2026-04-01"]
    );
    // The supplement of the day on which the award ends is lost with the rest.
    for on in ["2025-07-01", "2025-09-01"] {
        let rows = scene.rows(&["--on", on]);
        assert_eq!(
            amounts(&rows, "F1", &columns),
            ["1100", "100", "0", "1000", "2025-07-01"]
        );
        assert_eq!(amounts(&rows, "O", &["used"]), ["7"], "other awards are as they were");
    }
}

/// What `check` reports of a table of entries.
fn mistakes(entries: &str) -> String {
    let scene = scene(entries);
    let output = scene.gridtally(&["check", "p.toml"]);
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_part_of_a_user_lies_inside_one_award_of_its_account() {
    let whole = "award,F,fern,,ce,1000,2025-04-01,2026-04-01,,\n";
    let part = "award,FA,fern,ann,ce,500,2025-04-01,2026-04-01,,\n";
    for (entries, expected) in [
        (
            "award,F1,fern,,ce,1000,2025-04-01,2025-07-01,,\naward,F2,fern,,ce,1000,2025-07-01,2026-04-01,,\n\
             award,FA,fern,ann,ce,500,2025-05-01,2026-04-01,,\n"
                .to_owned(),
            vec![
                "awards.csv:4: the days of \"F1\" of line 2 do not include those of \"FA\"",
                "awards.csv:4: the days of \"F2\" of line 3 do not include those of \"FA\"",
            ],
        ),
        (
            format!("award,F,fern,,ce,1000,2025-05-01,2026-04-01,,\n{part}"),
            vec!["awards.csv:3: the days of \"F\" of line 2"],
        ),
        (
            format!("{whole}award,FA,fern,ann,ce,500,2025-04-01,,,\n"),
            vec!["awards.csv:3: the days of \"F\" of line 2"],
        ),
        (
            format!("{whole}{part}expiry,F,fern,,ce,,2025-07-01,,,\n"),
            vec!["awards.csv:3: the days of \"F\" of line 2"],
        ),
        (
            format!("{whole}{part}extension,FA,fern,ann,ce,,2025-07-01,2026-05-01,,\n"),
            vec!["awards.csv:3: the days of \"F\" of line 2"],
        ),
        (
            format!("award,F,fern,,ce,1000,2025-04-01,2026-04-01,cedar,\n{part}"),
            vec!["awards.csv:3: the place of \"F\" of line 2 does not include that of \"FA\""],
        ),
        (
            format!("{whole}award,FA,fern,ann,ce (pool cpu),500,2025-04-01,2026-04-01,,\n"),
            vec!["awards.csv:3: the policy of \"F\" of line 2 is named in other words than that of \"FA\""],
        ),
    ] {
        let reported = mistakes(&entries);
        for why in expected {
            assert!(reported.contains(why), "{why}: {reported}");
        }
    }
}

#[test]
fn a_part_for_each_award_of_the_account_counts_use_once() {
    let scene = scene(
        "award,F1,fern,,ce,1000,2025-04-01,2025-07-01,,\naward,F2,fern,,ce,1000,2025-07-01,2026-04-01,,\n\
         award,FA1,fern,ann,ce,500,2025-05-01,2025-07-01,,\naward,FA2,fern,ann,ce,500,2025-07-01,2026-04-01,,\n",
    );
    scene.run();
    let rows = scene.rows(&["--on", "2025-09-01"]);
    let used = ["F1", "FA1", "F2", "FA2"].map(|award| amounts(&rows, award, &["used"]).concat());
    assert_eq!(used, ["100", "100", "10", "10"]);
    let rows = scene.rows(&["--on", "2025-09-01", "--view", "resource", "--account", "fern"]);
    assert_eq!(
        rows.iter().map(|row| row["used"].as_str()).collect::<Vec<_>>(),
        ["110.000000000"]
    );
}

#[test]
fn an_award_that_expired_is_followed_by_a_new_one() {
    let ended = "award,F1,fern,,ce,1000,2025-04-01,2026-04-01,,\naward,FA1,fern,ann,ce,500,2025-04-01,2026-04-01,,\n";
    let new = "award,F2,fern,,ce,2000,2025-07-01,2026-04-01,,\naward,FA2,fern,ann,ce,500,2025-07-01,2026-04-01,,\n";
    // An expiry without a name is not about the award that begins on its day.
    let expiry = "expiry,,fern,,ce,,2025-07-01,,,\nexpiry,FA1,fern,ann,ce,,2025-07-01,,,\n";
    let scene = scene(&format!("{ended}{new}{expiry}"));
    scene.run();
    let rows = scene.rows(&["--on", "2025-09-01"]);
    let used = ["F1", "FA1", "F2", "FA2"].map(|award| amounts(&rows, award, &["used", "valid_to"]));
    assert_eq!(
        used,
        [
            ["100", "2025-07-01"],
            ["100", "2025-07-01"],
            ["10", "2026-04-01"],
            ["10", "2026-04-01"]
        ]
    );
    // One day too late, and not at all.
    let late = mistakes(&format!(
        "{ended}{new}{}",
        expiry.replace("07-01", "07-02").replace(",,fern,,", ",F1,fern,,")
    ));
    let overlap =
        "awards.csv:4: overlaps the award of line 2, which with all its entries is from 2025-04-01 to 2025-07-02";
    assert!(late.contains(overlap), "{late}");
    let open = mistakes(&format!("{ended}{new}"));
    assert!(
        open.contains("awards.csv:4: overlaps the allocation of line 2"),
        "{open}"
    );
}

#[test]
fn what_a_period_rule_took_is_not_left() {
    let scene = scene("award,F1,fern,,ce,1000,2025-04-01,2026-04-01,,archer2-halves\n");
    scene.run();
    // Of 500 in the first half 110 are used and 390 are lost.
    let rows = scene.rows(&["--on", "2025-10-01"]);
    let columns = ["remaining", "available_now", "lost", "days_left"];
    // 110 in 184 days: 500 last for 836.
    assert_eq!(amounts(&rows, "F1", &columns), ["890", "500", "390", "836"]);
    let report = ["report", "awards", "lake", "--on", "2025-10-01", "--for", "ondemand"];
    let json: serde_json::Value = serde_json::from_str(&scene.stdout(&report)).unwrap();
    assert_eq!(json["balances"][0]["value"], 500);
}
