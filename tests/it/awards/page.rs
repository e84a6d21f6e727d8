//! The page of awards: its numbers are those of the datasets, its charts have bounds, and input is text on it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::scene::{HEADER, Scene, job};
use crate::support::python::python;

type Row = BTreeMap<String, String>;

const HEAD: &str = "kind,award,account,policy,amount,unit,valid_from,valid_to,cluster,reason,to_account,author\n";
const TABLE: &str = "award,A,rrg-ice,ce,1000,core_equivalent_hour,2025-04-01,2026-04-01,cedar,,,\n\
    supplement,A,rrg-ice,ce,200,,2025-05-15,,,more time,,\n\
    award,B,def-moor,ce,1000,core_equivalent_hour,2025-04-01,2026-04-01,cedar,,,\n\
    award,C,rpp-tarn,ce,1000,core_equivalent_hour,2025-04-01,2026-04-01,cedar,,,\n\
    expiry,C,rpp-tarn,ce,,,2025-06-10,,,,,\n\
    award,S,rpp-tarn,storage,10,TB,2025-04-01,2026-04-01,,,,\n\
    award,P,rrg-ice,ce,100,core_equivalent_hour,2024-04-01,2025-04-01,cedar,,,\n";

/// A job a day of so many cores, from April to the middle of July.
fn jobs(who: &str, account: &str, first: u32, cores: u32) -> String {
    let begin: chrono::NaiveDate = "2025-04-01".parse().unwrap();
    let days = (0..100).filter(|day| !(40..47).contains(day));
    days.map(|day| {
        let from = format!("{}T06:00:00", begin + chrono::TimeDelta::days(day.into()));
        job(first + day, who, account, "cedar", &from, 3, cores)
    })
    .collect()
}

fn scene_with(table: &str, rest: &str) -> Scene {
    let scene = Scene::new();
    let jobs = [
        HEADER.to_owned(),
        job(1, "ada", "rrg-ice", "cedar", "2025-03-01T00:00:00", 20, 1),
        jobs("ada", "rrg-ice", 1000, 1),
        jobs("di", "def-moor", 2000, 3),
        jobs("eve", "rpp-tarn", 3000, 1),
    ];
    scene.write("jobs.txt", &jobs.concat());
    scene.write("awards.csv", &format!("{HEAD}{table}"));
    scene.pipeline(&format!("[awards]\ntable = \"awards.csv\"\n{rest}"));
    scene.run();
    scene
}

fn write(scene: &Scene, rest: &[&str], folder: &str) -> String {
    let all = [&["report", "awards", "lake", "--page", folder][..], rest].concat();
    scene.stdout(&all);
    fs::read_to_string(scene.path(folder).join("index.html")).unwrap()
}

fn file(scene: &Scene, name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(scene.path(name)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn of<'r>(rows: &'r [Row], award: &str) -> &'r Row {
    rows.iter().find(|row| row["award"] == award).unwrap()
}

fn e9(text: &str) -> i128 {
    let (whole, places) = text.split_once('.').unwrap();
    assert_eq!(places.len(), 9, "{text}");
    format!("{whole}{places}").parse().unwrap()
}

/// As the page shows an amount below a thousand: three places.
fn shown(text: &str) -> String {
    let value = e9(text);
    let thousandths = (value.abs() + 500_000) / 1_000_000;
    let sign = if value < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}.{:03}", thousandths / 1000, thousandths % 1000)
}

#[test]
fn numbers_on_the_page_are_those_of_the_report_and_of_the_datasets() {
    let scene = scene_with(TABLE, "");
    let on = ["--on", "2025-07-03"];
    let page = write(&scene, &on, "board");
    let awards = fs::read_to_string(scene.path("board/awards.csv")).unwrap();
    let report = scene.stdout(&[&["report", "awards", "lake", "--format", "csv"][..], &on].concat());
    assert_eq!(awards, report, "one table, in two places");
    // Use without an award is by policy: a row of each.
    assert!(page.contains("<th scope=\"col\">policy</th><th scope=\"col\">unit</th>"));
    let rows = scene.rows(&on);
    for award in ["A", "B", "C"] {
        for column in ["used", "remaining"] {
            let number = shown(&of(&rows, award)[column]);
            assert!(page.contains(&format!(">{number}</td>")), "{award} {column} {number}");
        }
    }
    // Every day of the file is the sum of the dataset up to that day.
    let answer = python(
        "import duckdb, sys\n\
         lake, board = sys.argv[1:]\n\
         print(duckdb.sql(f\"\"\"WITH use AS (SELECT award, day, sum(used) AS used FROM read_parquet('{lake}/award_use/**/*.parquet') GROUP BY ALL)\n\
         SELECT count(*), count(*) FILTER (p.used::DECIMAL(38,9) = (SELECT coalesce(sum(used), 0) FROM use u WHERE u.award = p.award AND u.day <= p.day))\n\
         , count(*) FILTER (p.remaining::DECIMAL(38,9) = p.granted::DECIMAL(38,9) - p.used::DECIMAL(38,9)) FROM read_csv('{board}/burn_down.csv', all_varchar = false) p\"\"\").fetchall()[0])",
        &[
            scene.path("lake").to_str().unwrap(),
            scene.path("board").to_str().unwrap(),
        ],
    );
    let counts: Vec<usize> = (answer.trim().trim_matches(['(', ')']).split(", "))
        .map(|count| count.parse().unwrap())
        .collect();
    assert!(
        counts[0] > 200 && counts.iter().all(|count| *count == counts[0]),
        "{answer}"
    );
    // The last day of an award is its row of the report, and an entry is a step.
    let points = file(&scene, "board/burn_down.csv");
    for award in ["A", "B", "C"] {
        let last = points.iter().rfind(|point| point["award"] == award).unwrap();
        for (own, column) in [("granted", "allocated"), ("used", "used"), ("remaining", "remaining")] {
            assert_eq!(last[own], of(&rows, award)[column], "{award} {column}");
        }
    }
    let day = |award: &str, day: &str| {
        points
            .iter()
            .find(|point| point["award"] == award && point["day"] == day)
            .unwrap()
    };
    assert_eq!(day("A", "2025-05-15")["entries"], "supplement");
    assert_eq!(e9(&day("A", "2025-05-15")["granted"]), 1200 * 1_000_000_000);
    assert_eq!(day("C", "2025-06-09")["granted"], "1000.000000000");
    assert!(
        !points.iter().any(|point| point["award"] == "S"),
        "stored bytes are unknown"
    );
}

#[test]
fn bands_are_the_projection_by_the_errors_of_the_back_test() {
    let scene = scene_with(TABLE, "");
    let on = ["--on", "2025-07-03"];
    write(&scene, &on, "board");
    let forecasts = file(&scene, "board/projections.csv");
    let tests = scene.rows(&[&on[..], &["--back-test"]].concat());
    for method in ["constant-rate", "recent-window"] {
        let rows = scene.rows(&[&on[..], &["--method", method]].concat());
        for award in ["A", "B"] {
            let own = |row: &&Row| row["award"] == award && row["method"] == method;
            let forecast = forecasts.iter().find(own).unwrap();
            assert_eq!(forecast["projected"], of(&rows, award)["projected"]);
            let errors: Vec<(i128, i128)> = (tests.iter().filter(own))
                .map(|test| (e9(&test["error"]), e9(&test["used"])))
                .collect();
            assert_eq!(forecast["past_months"], errors.len().to_string());
            let projected = e9(&forecast["projected"]);
            let bound = |sign: i128| {
                let most = errors
                    .iter()
                    .map(|(error, used)| projected * (sign * error).max(0) / used);
                most.max().unwrap()
            };
            let used = e9(&of(&rows, award)["used"]);
            for (column, value) in [
                ("low", (projected - bound(1)).max(used)),
                ("high", projected + bound(-1)),
            ] {
                let apart = e9(&forecast[column]) - value;
                assert!(apart.abs() <= 2, "{award} {method} {column}: {apart}");
            }
        }
    }
    assert!(
        !forecasts.iter().any(|row| row["award"] == "C"),
        "what is over is not projected"
    );
    assert!(
        !forecasts.iter().any(|row| row["method"] == "jobs-to-limits"),
        "no dump states running jobs"
    );
}

#[test]
fn who_is_owed_is_sorted_by_what_is_missing_of_even_use() {
    let scene = scene_with(TABLE, "");
    let on = ["--on", "2025-07-03"];
    let page = write(&scene, &on, "board");
    let rows = scene.rows(&on);
    let owed = file(&scene, "board/owed.csv");
    let order: Vec<&str> = owed.iter().map(|row| row["award"].as_str()).collect();
    assert_eq!(order, ["A", "C", "B"], "stored bytes are not in it");
    let uses: Vec<&str> = owed.iter().map(|row| row["use"].as_str()).collect();
    assert_eq!(uses, ["under", "under", "over"]);
    for row in &owed {
        let award = of(&rows, &row["award"]);
        assert_eq!(row["target_to_date"], award["target_to_date"]);
        assert_eq!(row["used"], award["used"]);
        assert_eq!(e9(&row["owed"]), e9(&row["target_to_date"]) - e9(&row["used"]));
    }
    // 94 of 365 days went by.
    assert_eq!(of(&owed, "A")["elapsed"], "25.8");
    for sentence in ["It is no debt", "because they have no end or are a maximum: 1."] {
        assert!(page.contains(sentence), "{sentence}");
    }
}

#[test]
fn past_years_have_no_projection() {
    let scene = scene_with(TABLE, "");
    let page = write(&scene, &["--on", "2025-07-03", "--year", "2024"], "board");
    assert!(file(&scene, "board/projections.csv").is_empty());
    assert!(!page.contains("with its past errors") && page.contains("Nothing is projected."));
    assert_eq!(file(&scene, "board/owed.csv")[0]["elapsed"], "100.0");
}

#[test]
fn maintenance_the_end_and_running_jobs_are_drawn() {
    let listing = "[[inventory]]\nname = \"res\"\npaths = [\"res.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\nas_of = \"2025-05-20\"\n";
    let scene = scene_with(TABLE, "");
    let plain = write(&scene, &["--on", "2025-07-12"], "before");
    assert!(!plain.contains("maintenance</li>") && plain.contains("no job used anything</li>"));
    assert!(plain.contains("end of the award</li>"), "the award that expired");
    scene.write(
        "res.txt",
        "ReservationName=m StartTime=2025-05-11T00:00:00 EndTime=2025-05-18T00:00:00 Duration=7-00:00:00\n   Nodes=n[1-4] NodeCnt=4 \
         CoreCnt=96 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES\n   TRES=cpu=96\n   Users=root Groups=(null) \
         Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null)\n\n",
    );
    scene.write(
        "jobs-running.txt",
        "JobID|User|Account|Cluster|Partition|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES|TimelimitRaw\n\
         90|ada|rrg-ice|cedar|cpu|2025-07-12T00:00:00|2025-07-12T00:00:00|Unknown|21600|RUNNING|2|1|billing=2,cpu=2,mem=8G,node=1|1440\n",
    );
    scene.pipeline(&format!("[awards]\ntable = \"awards.csv\"\n{listing}"));
    scene.run();
    let page = write(&scene, &["--on", "2025-07-12"], "board");
    assert!(page.contains("maintenance</li>"));
    let forecasts = file(&scene, "board/projections.csv");
    let to_limits = forecasts
        .iter()
        .find(|row| row["award"] == "A" && row["method"] == "jobs-to-limits")
        .unwrap();
    // 93 days of three hours; two cores for six hours, and for 18 more.
    assert_eq!([&to_limits["projected"], &to_limits["low"]], ["327.000000000", ""]);
    assert!(page.contains("jobs-to-limits, not tested on the past</li>"));
}

#[test]
fn fairshare_of_the_accounts_is_the_datasets() {
    let scene = Scene::new();
    scene.write("shares.txt", "Cluster|Account|Par Name|User|Partition|Share\ncedar|root||||1\ncedar|rrg-ice|root|||30\ncedar|none|root|||20\n\
        cedar|def-moor|root|||50\ncedar|rrg-ice||ada||1\ncedar|none||eve||1\ncedar|def-moor||di||1\n");
    let parts = [
        HEADER.to_owned(),
        jobs("ada", "rrg-ice", 1000, 1),
        jobs("di", "def-moor", 2000, 3),
        jobs("eve", "none", 3000, 1),
    ];
    scene.write("jobs.txt", &parts.concat());
    scene.write(
        "awards.csv",
        &format!(
            "{HEAD}{}",
            TABLE.replace("rpp-tarn,ce", "none,ce").replace("rpp-tarn", "none")
        ),
    );
    let rest = "[awards]\ntable = \"awards.csv\"\n[[inventory]]\nname = \"shares\"\npaths = [\"shares.txt\"]\nsite = \"ALP\"\nas_of = \"2025-04-01\"\n\
        [[fairshare]]\nsite = \"ALP\"\ncluster = \"cedar\"\nlisting = \"shares\"\nusage = \"recorded-billing\"\nhalf_life = \"14-00:00:00\"\n\
        calc_period = \"00:05:00\"\n";
    scene.pipeline(rest);
    scene.run();
    let page = write(&scene, &["--on", "2025-07-03"], "board");
    let answer = python(
        "import duckdb, sys\n\
         lake, board = sys.argv[1:]\n\
         same = ' AND '.join(f'd.{c}::VARCHAR IS NOT DISTINCT FROM p.{c}' for c in 'norm_shares norm_usage effective_usage fairshare_factor level_fs usage_s regime'.split())\n\
         print(*duckdb.sql(f\"\"\"WITH d AS (SELECT * FROM read_parquet('{lake}/fairshare/**/*.parquet', hive_partitioning = true) WHERE \"user\" IS NULL AND parent_account IS NOT NULL AND day <= DATE '2025-07-03')\n\
         SELECT (SELECT count(*) FROM d), count(*), count(*) FILTER ({same}) FROM read_csv('{board}/fairshare.csv', all_varchar = true) p JOIN d ON d.account = p.account AND d.day = p.day::DATE\"\"\").fetchall()[0])",
        &[
            scene.path("lake").to_str().unwrap(),
            scene.path("board").to_str().unwrap(),
        ],
    );
    let counts: Vec<usize> = answer.split_whitespace().map(|count| count.parse().unwrap()).collect();
    assert!(
        counts[0] > 200 && counts.iter().all(|count| *count == counts[0]),
        "{answer}"
    );
    // What is owed to siblings by shares comes to nothing in the sum.
    let owed = file(&scene, "board/owed_shares.csv");
    let accounts: Vec<&str> = owed.iter().map(|row| row["account"].as_str()).collect();
    assert_eq!(
        accounts,
        ["rrg-ice", "none", "def-moor"],
        "an account may be named none: {owed:?}"
    );
    let tenths: i64 = owed
        .iter()
        .map(|row| row["owed"].replace('.', "").parse::<i64>().unwrap())
        .sum();
    assert!(tenths.abs() <= 2, "{owed:?}");
    assert_eq!(page.matches("<figcaption>").count(), 3 + 3);
    // A page of a lake without shares leaves no file of this one.
    scene.pipeline("[awards]\ntable = \"awards.csv\"\n");
    scene.run();
    let page = write(&scene, &["--on", "2025-07-03"], "board");
    assert!(page.contains("<p>Absent: the lake has no fairshare"));
    assert!(!scene.path("board/fairshare.csv").exists() && !scene.path("board/owed_shares.csv").exists());
}

#[test]
fn input_is_text_on_the_page_and_nothing_is_fetched() {
    const HOSTILE: &str = "\"</title></svg></style></script><script>alert(1)</script>'&\u{202e}";
    let quoted = format!("\"{}\"", HOSTILE.replace('"', "\"\""));
    let mut table = String::new();
    // Each is of an account of its own: the first is used.
    let _ = write!(
        table,
        "award,{quoted},rrg-ice,ce,1000,core_equivalent_hour,2025-04-01,2026-04-01,cedar,,,\n\
         supplement,{quoted},rrg-ice,ce,1,,2025-05-01,,,{quoted},,\n\
         award,N,{quoted},ce,1000,core_equivalent_hour,2025-04-01,2026-04-01,cedar,,,\n"
    );
    let scene = scene_with(&table, "");
    let page = write(&scene, &["--on", "2025-07-03"], "board");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;\u{fffd}"));
    assert!(!page.contains("<script>alert") && !page.contains('\u{202e}'));
    for (tag, n) in [
        ("<script>", 1),
        ("</script>", 1),
        ("</title>", 1 + 2),
        ("<style>", 2),
        ("</style>", 2),
    ] {
        assert_eq!(page.matches(tag).count(), n, "{tag}");
    }
    for tag in ["table", "svg", "section", "figure", "details"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        assert_eq!(page.matches(&open).count(), page.matches(&close).count(), "{tag}");
    }
    let page = page.replace("<link rel=\"icon\" href=\"data:,\">", "");
    for forbidden in ["http:", "https:", "src=", "@import", "url(", "<link", "NaN"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    // Every chart has a title and a description inside, and a table behind it.
    let charts: Vec<&str> = page.split("<svg width").skip(1).collect();
    assert_eq!(charts.len(), 2);
    for chart in charts {
        let (svg, behind) = chart.split_once("</svg>").unwrap();
        assert!(svg.contains("><title>") && svg.contains("</title><desc>"), "{svg}");
        assert!(behind.split("<figure>").next().unwrap().contains("<table>"));
    }
}

#[test]
fn the_same_lake_makes_the_same_bytes_and_people_are_not_named() {
    let table = format!("{TABLE}adjustment,A,rrg-ice,ce,-5,,2025-06-01,,,wrong node,,Signe Signer\n");
    let scene = scene_with(&table, "");
    let first = write(&scene, &["--on", "2025-07-03"], "one");
    assert_eq!(first, write(&scene, &["--on", "2025-07-03"], "two"));
    for name in ["awards.csv", "owed.csv", "burn_down.csv", "projections.csv"] {
        let read = |folder: &str| fs::read(scene.path(folder).join(name)).unwrap();
        assert_eq!(read("one"), read("two"), "{name}");
    }
    assert!(first.contains("wrong node") && !first.contains("Signe Signer"));
    // Submitters of jobs.
    assert!(!first.contains(">ada<"));
}

#[test]
fn of_hundreds_of_awards_some_are_drawn_by_a_stated_rule_and_all_are_in_the_tables() {
    let mut table = TABLE.to_owned();
    for nth in 0..300 {
        let _ = writeln!(
            table,
            "award,X{nth:03},acc{nth:03},ce,{},core_equivalent_hour,2025-04-01,2026-04-01,cedar,,,",
            nth + 1
        );
    }
    let scene = scene_with(&table, "");
    let page = write(&scene, &["--on", "2025-07-03"], "board");
    assert!(page.contains("Drawn are 24 of 304 awards: at most 24, those furthest from even use"));
    assert_eq!(page.matches("<figure>").count(), 24);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert_eq!(file(&scene, "board/owed.csv").len(), 303);
    let overview = page
        .split("id=\"awards\"")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    assert!(overview.contains(">X000<") && overview.contains(">X299<"));
    // One account: one chart.
    let one = write(&scene, &["--on", "2025-07-03", "--account", "acc007"], "one");
    assert_eq!(one.matches("<figure>").count(), 1);
}
