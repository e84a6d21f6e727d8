//! Awards in a lake: published by a run, made again when table or charges change, gone with the table.

use super::scene::{HEADER, Scene, job};

const TABLE: &str = "award,account,user,policy,amount,unit,valid_from,valid_to,cluster,parent\n\
    lab,rrg-ice,,ce,10,core_year,2025-04-01,2026-04-01,,\n\
    firn,def-firn,,ce,2,core_year,2025-04-01,2026-04-01,,lab\n\
    ,def-firn,ada,ce,1,core_year,2025-04-01,2026-04-01,,\n";

fn jobs() -> String {
    [
        HEADER.to_owned(),
        job(1, "ada", "def-firn", "cedar", "2025-05-01T00:00:00", 100, 1),
        job(2, "bo", "def-firn", "cedar", "2025-05-02T00:00:00", 10, 2),
        job(3, "cy", "rrg-ice", "graham", "2025-06-01T00:00:00", 5, 4),
        job(4, "dee", "def-moor", "cedar", "2025-06-01T00:00:00", 7, 1),
    ]
    .concat()
}

/// Sums of `used` in core-hours by award.
fn used(scene: &Scene) -> Vec<(String, String, String)> {
    let rows = scene.rows(&["--on", "2025-06-30"]);
    let cell = |row: &std::collections::BTreeMap<String, String>, name: &str| row[name].clone();
    rows.iter()
        .map(|row| (cell(row, "award"), cell(row, "level"), cell(row, "equivalent_years")))
        .collect()
}

/// Hours as years of 8760 hours, to nine places.
fn years(hours: i128) -> String {
    let e9 = gridtally::charge::span::times_over(hours * 1_000_000_000, 1, 8760).unwrap();
    format!("{}.{:09}", e9 / 1_000_000_000, e9 % 1_000_000_000)
}

#[test]
fn use_counts_at_every_level_and_once_in_a_sum() {
    let scene = Scene::new();
    scene.write("jobs.txt", &jobs());
    scene.write("awards.csv", TABLE);
    scene.pipeline("[awards]\ntable = \"awards.csv\"\n");
    scene.run();
    let of = |award: &str, level: &str, hours: i128| (award.to_owned(), level.to_owned(), years(hours));
    assert_eq!(
        used(&scene),
        [
            of("lab", "0", 100 + 20 + 20),
            of("firn", "1", 120),
            of("def-firn+ada ce 2025-04-01", "2", 100),
            of("", "0", 7),
        ]
    );
}

#[test]
fn the_use_of_awards_follows_table_and_charges_and_goes_with_the_table_to_the_byte() {
    let scene = Scene::new();
    scene.write("jobs.txt", &jobs());
    scene.write("awards.csv", TABLE);
    scene.pipeline("");
    scene.run();
    let without = scene.files();
    assert!(without.keys().any(|path| path.starts_with("charges/site=")));

    scene.pipeline("[awards]\ntable = \"awards.csv\"\n");
    scene.run();
    let with = scene.files();
    for dataset in [
        "awards/awards",
        "award_entry/award_entry",
        "award_use/site=",
        "award_part/site=",
    ] {
        assert!(with.keys().any(|path| path.starts_with(dataset)), "{dataset}");
    }
    // Nothing changed: nothing is made again.
    scene.run();
    assert_eq!(scene.files(), with);

    // Another table: other use of awards, the same charges.
    scene.write("awards.csv", &TABLE.replace("lab,rrg-ice,,ce,10", "lab,rrg-ice,,ce,20"));
    scene.run();
    let changed: Vec<String> = scene
        .files()
        .iter()
        .filter(|(path, bytes)| with.get(*path) != Some(*bytes))
        .map(|(path, _)| path.clone())
        .collect();
    assert_eq!(changed, ["award_entry/award_entry.parquet", "awards/awards.parquet"]);

    // A late dump: the use of its month, and not the parts of others.
    scene.write("awards.csv", TABLE);
    let late = HEADER.to_owned() + &job(9, "bo", "def-firn", "cedar", "2025-07-01T00:00:00", 3, 1);
    scene.write("jobs-late.txt", &late);
    scene.run();
    let later = scene.files();
    let parts = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        let parts = files.iter().filter(|(path, _)| path.starts_with("award_part/"));
        parts
            .map(|(path, bytes)| (path.clone(), bytes.clone()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let (before, after) = (parts(&with), parts(&later));
    assert!(
        before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)),
        "parts of other months stay"
    );
    assert_eq!(after.len(), before.len() + 1);
    let rows = scene.rows(&["--on", "2025-07-31", "--account", "def-firn"]);
    assert_eq!(rows[0]["equivalent_years"], years(123));

    // In one go it is the same, and without the table it is as if it had never been.
    std::fs::remove_dir_all(scene.path("lake")).unwrap();
    scene.run();
    assert_eq!(scene.files(), later);
    std::fs::remove_file(scene.path("jobs-late.txt")).unwrap();
    std::fs::remove_dir_all(scene.path("lake")).unwrap();
    scene.run();
    assert_eq!(scene.files(), with);
    scene.pipeline("");
    scene.run();
    assert_eq!(scene.files(), without);
}

#[test]
fn mistakes_of_the_section_and_of_its_table_are_found_by_check() {
    let scene = Scene::new();
    scene.write("jobs.txt", &jobs());
    scene.write(
        "awards.csv",
        "account,policy,amount,unit,valid_from,valid_to,period_rule\n\
         a,nopolicy,1,,2025-04-01,,\nb,ce,1,rgu_year,2025-04-01,,\nc,ce,1,,2025-04-01,2026-04-01,halfs\n\
         d,ce,1,,2025-04-01,,\nd,ce (pool cpu),1,,2025-04-01,,\n",
    );
    scene.pipeline("[awards]\ntable = \"awards.csv\"\ncore_year = \"8761\"\nprojection_window = \"28\"\n");
    let reported = scene.refused(&["check", "p.toml"]);
    for why in [
        "awards.csv:2: nothing is charged under \"nopolicy\"; there is ce (pool cpu)",
        "awards.csv:3: its policy counts in core_equivalent_hour, not in rgu_year",
        "awards.csv:4: period_rule: there is no rule \"halfs\"",
        "awards.csv:6: counts the same use as the award of line 5",
        "core_year = \"8761\" is not one of",
        "projection_window = \"28\" is not a number of days",
    ] {
        assert!(reported.contains(why), "{why}: {reported}");
    }
    // Where charges are by month, awards begin and end with months.
    scene.write(
        "awards.csv",
        "account,policy,amount,valid_from,valid_to\na,ce,1,2025-04-15,2026-04-01\n",
    );
    scene.pipeline("[awards]\ntable = \"awards.csv\"\n");
    let text = std::fs::read_to_string(scene.path("p.toml")).unwrap();
    scene.write("p.toml", &text.replace("grain = \"day\"\n", ""));
    let reported = scene.refused(&["check", "p.toml"]);
    assert!(
        reported.contains("awards.csv:2: 2025-04-15 is inside a month"),
        "{reported}"
    );
}

/// A rule changes what may be used, and neither use nor anything else that is published: with every shipped rule and without them
/// again the lake has the bytes of before.
#[test]
fn undoing_every_period_rule_restores_the_bytes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/period-rules");
    let mut rules: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    rules.sort();
    assert!(rules.len() >= 9, "{rules:?}");
    let scene = Scene::new();
    let jobs = rules.iter().zip(1..).map(|(rule, id)| {
        let hours = 10 * id;
        job(
            id,
            "ada",
            &format!("acc-{rule}"),
            "cedar",
            "2025-05-01T00:00:00",
            hours,
            1,
        )
    });
    scene.write("jobs.txt", &(HEADER.to_owned() + &jobs.collect::<String>()));
    let table = |rule_of: fn(&str) -> &str| {
        let rows = rules.iter().map(|rule| {
            let of_award = rule_of(rule);
            format!("acc-{rule},ce,1000,core_equivalent_hour,2025-04-01,2026-04-01,{of_award}\n")
        });
        format!(
            "account,policy,amount,unit,valid_from,valid_to,period_rule\n{}",
            rows.collect::<String>()
        )
    };
    let files = rules
        .iter()
        .map(|rule| format!("\"{folder}/{rule}.toml\""))
        .collect::<Vec<_>>();
    scene.pipeline(&format!(
        "[awards]\ntable = \"awards.csv\"\nperiod_rules = [{}]\n",
        files.join(", ")
    ));
    scene.write("awards.csv", &table(|_| ""));
    scene.run();
    let before = scene.files();
    scene.write("awards.csv", &table(|rule| rule));
    scene.run();
    let with = scene.files();
    assert_ne!(with.get("awards/awards.parquet"), before.get("awards/awards.parquet"));
    // What was used is the same whatever the rule.
    let uses = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        let uses = files.iter().filter(|(path, _)| path.starts_with("award_use/"));
        uses.map(|(path, bytes)| (path.clone(), bytes.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(uses(&with), uses(&before));
    let rows = scene.rows(&["--on", "2025-06-30"]);
    assert!(rows.iter().all(|row| !row["available_now"].is_empty()), "{rows:?}");
    scene.write("awards.csv", &table(|_| ""));
    scene.run();
    assert_eq!(scene.files(), before);
}
