//! `report awards`: the views and columns of the portal, and the files of other programs.

use std::collections::BTreeMap;

use gridtally::report::lake::Lake;
use gridtally::report::running_use::RunningJobs;
use gridtally::store::has_nulls;
use gridtally::time::month::day_of;

use super::scene::{HEADER, Scene, job, job_with};

type Row = BTreeMap<String, String>;

const TABLE: &str = "award,account,policy,amount,unit,valid_from,valid_to,cluster,period_rule\n\
    A,rrg-ice,ce,0.2,core_year,2025-04-01,2026-04-01,cedar,archer2-halves\n\
    B,rrg-ice,ce,0.2,core_year,2024-04-01,2025-04-01,cedar,\n\
    D,rpp-tarn,storage,10,TB,2025-04-01,2026-04-01,,\n";

/// 438 core-hours are a twentieth of a core-year of 8760 hours.
fn scene() -> Scene {
    let scene = Scene::new();
    let jobs = [
        HEADER.to_owned(),
        job(1, "ada", "rrg-ice", "cedar", "2025-05-01T00:00:00", 200, 1),
        job(2, "bo", "rrg-ice", "cedar", "2025-06-01T00:00:00", 238, 1),
        // Two hours over midnight of the first of April.
        job(3, "ada", "rrg-ice", "cedar", "2025-03-31T23:00:00", 2, 1),
        // One core with the memory of two.
        job_with(4, "cy", "def-moor", "graham", "2025-05-01T00:00:00", 73, 1, "8G"),
    ];
    scene.write("jobs.txt", &jobs.concat());
    scene.write("awards.csv", TABLE);
    let rule = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/pipelines/period-rules/archer2-halves.toml"
    );
    scene.pipeline(&format!(
        "[awards]\ntable = \"awards.csv\"\nperiod_rules = [\"{rule}\"]\n"
    ));
    scene.run();
    scene
}

fn of<'r>(rows: &'r [Row], award: &str) -> &'r Row {
    rows.iter().find(|row| row["award"] == award).unwrap()
}

fn e9(text: &str) -> i128 {
    let (whole, places) = text.split_once('.').unwrap();
    assert_eq!(places.len(), 9);
    format!("{whole}{places}").parse().unwrap()
}

#[test]
fn cc_16_cc_19_the_project_view_has_the_columns_of_the_portal() {
    let scene = scene();
    // 73 of 365 days went by: a fifth.
    let rows = scene.rows(&["--on", "2025-06-12"]);
    let row = of(&rows, "A");
    for (column, value) in [
        ("account", "rrg-ice"),
        ("kind", "rrg"),
        ("cluster", "cedar"),
        ("unit", "core_year"),
        ("limit", "average"),
        ("allocated", "0.200000000"),
        // 439 of 8760 hours: one of the job over midnight is of this year.
        ("used", "0.050114155"),
        ("utilisation", "25.1"),
        ("projected", "0.250570776"),
        ("projected_utilisation", "125.3"),
        ("remaining", "0.149885845"),
        ("days_left", "218"),
        ("target_to_date", "0.040000000"),
        ("in_flight", ""),
        ("unpriced_jobs", "0"),
    ] {
        assert_eq!(row[column], value, "{column}: {row:?}");
    }
    // One row for each cluster an account used; accounts without an award have rows of what they used.
    let moor = rows.iter().find(|row| row["account"] == "def-moor").unwrap();
    assert_eq!([&moor["kind"], &moor["award"], &moor["allocated"]], ["def", "", ""]);
    assert_eq!(rows.len(), 3, "{rows:?}");
}

#[test]
fn running_jobs_are_in_flight_to_their_limits_at_their_rate_so_far() {
    let scene = scene();
    // Two cores that ran 6 of at most 24 hours: 36 core hours are to come. The other has no limit.
    let running = "JobID|User|Account|Cluster|Partition|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES|TimelimitRaw\n\
        90|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|2025-06-12T00:00:00|Unknown|21600|RUNNING|2|1|billing=2,cpu=2,mem=8G,node=1|1440\n\
        91|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|2025-06-12T00:00:00|Unknown|21600|RUNNING|2|1|billing=2,cpu=2,mem=8G,node=1|UNLIMITED\n";
    scene.write("jobs-running.txt", running);
    scene.run();
    let rows = scene.rows(&["--on", "2025-06-12"]);
    // 36 of 8760 hours.
    assert_eq!(of(&rows, "A")["in_flight"], "0.004109589");
    // 439 hours before, 24 of the two so far.
    assert_eq!(of(&rows, "A")["used"], "0.052853881");
    let to_limits = scene.rows(&["--on", "2025-06-12", "--method", "jobs-to-limits"]);
    assert_eq!(of(&to_limits, "A")["projected"], "0.056963470");
    // On the days before, they are not known.
    let before = scene.rows(&["--on", "2025-06-11"]);
    assert_eq!(of(&before, "A")["in_flight"], "");
    // Months without running jobs are recognised by the footers of their records, so that they are not read.
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let files = lake.months("records").unwrap().into_iter();
    let found: Vec<(String, bool)> = files
        .map(|(_, month, path)| {
            let reader = lake.store.reader(&path).unwrap();
            (month.to_string(), has_nulls(&reader, "end_utc").unwrap())
        })
        .collect();
    let month = |month: &str, has_running: bool| (month.to_owned(), has_running);
    assert_eq!(found.last(), Some(&month("2025-06", true)), "{found:?}");
    assert!(found.contains(&month("2025-05", false)), "{found:?}");
    let months = RunningJobs::read(&lake, "2025-06-11".parse().map(day_of).unwrap()).unwrap();
    assert!(months.uses.is_empty() && months.known_on.is_some());
}

#[test]
fn cc_14_cc_15_years_begin_in_april_and_jobs_over_the_edge_are_split() {
    let scene = scene();
    let used = |year: &str| {
        let rows = scene.rows(&["--view", "resource", "--year", year, "--on", "2025-06-12"]);
        let cedar = rows.into_iter().find(|row| row["cluster"] == "cedar").unwrap();
        cedar["used"].clone()
    };
    assert_eq!([used("2024"), used("2025")], ["1.000000000", "439.000000000"]);
}

#[test]
fn cc_17_cc_20_cc_22_clusters_have_raw_and_equivalent_years_and_past_years_no_projection() {
    let scene = scene();
    let rows = scene.rows(&["--view", "resource", "--on", "2025-06-12"]);
    let graham = rows.iter().find(|row| row["cluster"] == "graham").unwrap();
    for (column, value) in [
        // 73 of 8760 hours with one core are a 120th, and twice as much with the memory of two.
        ("raw_core_years", "0.008333333"),
        ("equivalent_years", "0.016666667"),
        ("equivalent_unit", "core_equivalent_year"),
        ("projected_raw_core_years", "0.041666667"),
        ("projected_equivalent_years", "0.083333333"),
        ("raw_gpu_years", "0.000000000"),
    ] {
        assert_eq!(graham[column], value, "{column}: {graham:?}");
    }
    let past = scene.rows(&["--view", "resource", "--year", "2024", "--on", "2025-06-12"]);
    assert_eq!(past.len(), 1);
    for column in ["projected_raw_core_years", "projected_equivalent_years"] {
        assert_eq!(past[0][column], "", "{column}");
    }
    let past = scene.rows(&["--year", "2024", "--on", "2025-06-12"]);
    let row = of(&past, "B");
    assert_eq!(
        [&row["projected"], &row["projected_utilisation"], &row["days_left"]],
        ["", "", ""]
    );
    assert_eq!(row["used"], "0.000114155");
}

#[test]
fn cc_16_cc_21_drill_downs_by_month_and_submitter_add_up_to_the_row() {
    let scene = scene();
    let whole = scene.rows(&["--on", "2025-06-12"]);
    for detail in ["monthly", "submitter"] {
        let parts = scene.rows(&["--on", "2025-06-12", "--detail", detail]);
        let own: Vec<&Row> = parts.iter().filter(|row| row["award"] == "A").collect();
        assert!(own.len() >= 2, "{detail}: {parts:?}");
        let sum: i128 = own.iter().map(|row| e9(&row["used"])).sum();
        assert_eq!(sum, e9(&of(&whole, "A")["used"]), "{detail}");
    }
    let by_submitter = scene.rows(&["--view", "submitter", "--on", "2025-06-12"]);
    let submitters: Vec<&str> = by_submitter.iter().map(|row| row["submitter"].as_str()).collect();
    assert_eq!(submitters, ["ada", "bo", "cy"]);
    let resources = scene.rows(&["--view", "resource", "--on", "2025-06-12"]);
    let sum = |rows: &[Row]| rows.iter().map(|row| e9(&row["used"])).sum::<i128>();
    assert_eq!(sum(&by_submitter), sum(&resources));
    let monthly = scene.rows(&["--view", "resource", "--on", "2025-06-12", "--detail", "monthly"]);
    assert_eq!(sum(&monthly), sum(&resources));
}

#[test]
fn cc_24_storage_is_a_maximum_whose_use_no_job_states() {
    let scene = scene();
    let rows = scene.rows(&["--on", "2025-06-12"]);
    let row = of(&rows, "D");
    assert_eq!(
        [&row["limit"], &row["allocated"], &row["unit"]],
        ["maximum", "10.000000000", "TB"]
    );
    for column in [
        "used",
        "utilisation",
        "projected",
        "remaining",
        "days_left",
        "target_to_date",
    ] {
        assert_eq!(row[column], "", "{column} is unknown, and not nothing");
    }
}

#[test]
fn a_table_of_stored_bytes_gives_awards_of_storage_their_latest_use_and_their_peak() {
    let scene = scene();
    scene.write(
        "stored.csv",
        "account,day,stored_byte,site\nrpp-tarn,2025-03-31,9900000000000,\nrpp-tarn,2025-05-01,8000000000000,ALP\n\
         rpp-tarn,2025-05-01,500000000000,BAY\nrpp-tarn,2025-06-01,2500000000000,ALP\nrpp-tarn,2025-06-13,9000000000000,ALP\n\
         rrg-ice,2025-06-01,1,\n",
    );
    let rows = scene.rows(&["--on", "2025-06-12", "--stored", "stored.csv"]);
    let row = of(&rows, "D");
    // Of the days of the award up to the day: two sites on one day are a sum.
    for (column, value) in [
        ("used", "2.500000000"),
        ("peak", "8.500000000"),
        ("remaining", "7.500000000"),
        ("utilisation", "25.0"),
        ("projected", ""),
        ("days_left", ""),
    ] {
        assert_eq!(row[column], value, "{column}: {row:?}");
    }
    assert_eq!(of(&rows, "A")["peak"], "");
    // Before the first day it is unknown.
    let before = scene.rows(&["--on", "2025-04-30", "--stored", "stored.csv"]);
    assert_eq!([&of(&before, "D")["used"], &of(&before, "D")["peak"]], ["", ""]);
    let page = [
        "report",
        "awards",
        "lake",
        "--on",
        "2025-06-12",
        "--stored",
        "stored.csv",
        "--page",
        "board",
    ];
    scene.stdout(&page);
    let page = std::fs::read_to_string(scene.path("board/index.html")).unwrap();
    assert!(page.contains(">8.500</td>") && !page.contains("Awards of storage whose use is unknown"));
    scene.write(
        "stored.csv",
        "account,day,stored_byte\na,2025-13-01,5\nb,2025-01-01,-5\nc,2025-01-01,5\nc,2025-01-01,6\n,2025-01-01,1\n",
    );
    let refused = scene.refused(&["report", "awards", "lake", "--stored", "stored.csv"]);
    for why in [
        "stored.csv:2: day: \"2025-13-01\" is not a day",
        "stored.csv:3: stored_byte: \"-5\" is not a whole number of bytes",
        "stored.csv:5: a second row of the account \"c\" on that day",
        "stored.csv:6: account is missing",
    ] {
        assert!(refused.contains(why), "{why}: {refused}");
    }
}

#[test]
fn cc_25_use_beyond_the_award_is_reported_and_refuses_nothing() {
    let scene = scene();
    scene.write("awards.csv", &TABLE.replace("A,rrg-ice,ce,0.2,", "A,rrg-ice,ce,0.01,"));
    scene.run();
    let rows = scene.rows(&["--on", "2025-06-12"]);
    let row = of(&rows, "A");
    assert_eq!([&row["utilisation"], &row["days_left"]], ["501.1", "0"]);
    assert_eq!(row["remaining"], "-0.040114155");
}

#[test]
fn period_rules_state_what_may_be_used_now_and_what_is_lost() {
    let scene = scene();
    // The rule hands out whole units, and core-years are too large for that.
    scene.write(
        "awards.csv",
        &TABLE.replace("A,rrg-ice,ce,0.2,core_year", "A,rrg-ice,ce,1000,core_equivalent_hour"),
    );
    scene.run();
    let now = |on: &str| {
        let rows = scene.rows(&["--on", on]);
        let row = of(&rows, "A").clone();
        [row["available_now"].clone(), row["lost"].clone()]
    };
    assert_eq!(now("2025-06-12"), ["61.000000000", "0.000000000"]);
    assert_eq!(now("2025-10-01"), ["500.000000000", "61.000000000"]);
}

#[test]
fn back_tests_state_how_wrong_a_method_would_have_been() {
    let scene = scene();
    let rows = scene.rows(&["--on", "2025-06-30", "--back-test"]);
    let test = |method: &str, month: &str| {
        let found = rows
            .iter()
            .find(|row| row["award"] == "A" && row["method"] == method && row["month"] == month);
        [found.unwrap()["projected"].clone(), found.unwrap()["error"].clone()]
    };
    // One hour in 30 days, 201 in 61, of 439 in 91 days.
    assert_eq!(test("constant-rate", "2025-04"), ["0.000346271", "-0.049767884"]);
    assert_eq!(test("constant-rate", "2025-05")[0], "0.034229733");
}

/// Reads a balance file as the dashboard of Open `OnDemand` does: `value` by Ruby's `to_i`, one unit a file.
fn ondemand(json: &str) -> (String, Vec<(String, String, i64)>) {
    let file: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(file["version"], 1);
    assert!(file["timestamp"].as_i64().unwrap() > 0);
    assert_eq!(file["config"]["project_type"], "project");
    let balances = file["balances"].as_array().unwrap().iter().map(|entry| {
        let text = entry["value"].to_string();
        // `to_i` cuts fractions: what is written is whole, so that nothing is cut.
        assert!(text.parse::<i64>().is_ok(), "{text}");
        let word = |name: &str| entry[name].as_str().unwrap().to_owned();
        (word("user"), word("project"), text.parse().unwrap())
    });
    (file["config"]["unit"].as_str().unwrap().to_owned(), balances.collect())
}

#[test]
fn balance_files_are_whole_units_rounded_down_of_one_unit_and_of_days() {
    let scene = scene();
    scene.write(
        "awards.csv",
        "award,account,policy,amount,unit,valid_from,valid_to,users\n\
         A,rrg-ice,ce,439.9,core_equivalent_hour,2025-04-01,2026-04-01,\n\
         B,def-moor,ce,0.5,core_equivalent_hour,2025-04-01,2026-04-01,zoe;cy\n\
         C,def-none,ce,1,core_year,2025-04-01,2026-04-01,eve\n",
    );
    scene.run();
    let common = ["report", "awards", "lake", "--on", "2025-06-12", "--for"];
    let run = |rest: &[&'static str]| [&common[..], rest].concat();
    let (unit, balances) = ondemand(&scene.stdout(&run(&["ondemand", "--unit", "core_equivalent_hour"])));
    assert_eq!(unit, "core equivalent hour");
    let entry = |user: &str, project: &str, value| (user.to_owned(), project.to_owned(), value);
    // 0.9 left is 0; 145.5 too much is -146, and not -145.
    assert_eq!(
        balances,
        [
            entry("ada", "rrg-ice", 0),
            entry("bo", "rrg-ice", 0),
            entry("cy", "def-moor", -146),
            entry("zoe", "def-moor", -146),
        ]
    );
    let refused = scene.refused(&run(&["ondemand"]));
    assert!(
        refused.contains("core_equivalent_hour, core_year: select one by --unit"),
        "{refused}"
    );
    let (unit, days) = ondemand(&scene.stdout(&run(&["ondemand-days"])));
    assert_eq!(unit, "days");
    assert_eq!(days[0], entry("ada", "rrg-ice", 0));
    assert!(
        !days.iter().any(|(user, ..)| user == "eve"),
        "at no rate it lasts for ever"
    );
}

#[test]
fn usage_for_waldur_is_read_as_its_api_takes_it() {
    let scene = scene();
    let json = scene.stdout(&["report", "awards", "lake", "--on", "2025-06-12", "--for", "waldur"]);
    let file: serde_json::Value = serde_json::from_str(&json).unwrap();
    let [usage] = file["usages"].as_array().unwrap().as_slice() else {
        panic!("{json}")
    };
    assert_eq!(usage["resource"], "rrg-ice");
    assert_eq!(usage["date"], "2025-06-12");
    assert_eq!(
        usage["usages"][0],
        serde_json::json!({"type": "core_year", "amount": "0.05"})
    );
    let users: Vec<(&str, &str)> = file["user_usages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| (user["username"].as_str().unwrap(), user["usage"].as_str().unwrap()))
        .collect();
    assert_eq!(users, [("ada", "0.02"), ("bo", "0.03")]);
}

#[test]
fn the_coldfront_script_sets_usage_by_the_account_name() {
    let scene = scene();
    let script = scene.stdout(&["report", "awards", "lake", "--on", "2025-06-12", "--for", "coldfront"]);
    scene.write("usage.py", &script);
    // What the script calls of ColdFront, and nothing else: two accounts are known, one of them twice.
    scene.write("coldfront/__init__.py", "");
    scene.write("coldfront/core/__init__.py", "");
    scene.write("coldfront/core/allocation/__init__.py", "");
    scene.write(
        "coldfront/core/allocation/models.py",
        "class Found(list):\n    def distinct(self):\n        return self\n    def count(self):\n        return len(self)\n    \
         def get(self):\n        return self[0]\n\nclass Allocation:\n    def __init__(self, name):\n        self.name = name\n    \
         def set_usage(self, attribute, value):\n        print(self.name, attribute, value)\n\n\
         class Objects:\n    def filter(self, **by):\n        \
         assert by['status__name'] == 'Active'\n        \
         assert by['allocationattribute__allocation_attribute_type__name'] == 'slurm_account_name'\n        \
         name = by['allocationattribute__value']\n        \
         return Found([Allocation(name)] if name == 'rrg-ice' else [])\n\nAllocation.objects = Objects()\n",
    );
    let folder = scene.path("");
    let run = "import sys\nsys.path.insert(0, sys.argv[1])\nexec(open(sys.argv[1] + '/usage.py').read())";
    let printed = crate::support::python::python(run, &[folder.to_str().unwrap()]);
    assert_eq!(printed, "rrg-ice Core Usage (Hours) 0.050114155\n");
}

/// The account's award of which one user has a part.
fn scene_of_parts() -> Scene {
    let scene = scene();
    scene.write(
        "awards.csv",
        "award,account,user,policy,amount,unit,valid_from,valid_to\n\
         A,rrg-ice,,ce,500,core_equivalent_hour,2025-04-01,2026-04-01\n\
         P,rrg-ice,ada,ce,210,core_equivalent_hour,2025-04-01,2026-04-01\n\
         Q,rrg-ice,bo,ce,1000,core_equivalent_hour,2025-04-01,2026-04-01\n",
    );
    scene.run();
    scene
}

#[test]
fn a_part_of_a_user_is_no_resource_of_its_own_for_waldur() {
    let scene = scene_of_parts();
    let json = scene.stdout(&["report", "awards", "lake", "--on", "2025-06-12", "--for", "waldur"]);
    let file: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(file["usages"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(file["usages"][0]["usages"][0]["amount"], "439.00");
    let users = file["user_usages"].as_array().unwrap();
    let users: Vec<_> = users.iter().map(|user| (&user["username"], &user["usage"])).collect();
    assert_eq!(users.len(), 2, "{json}");
    assert_eq!((users[0].0, users[0].1), (&"ada".into(), &"201.00".into()));
}

#[test]
fn a_user_with_a_part_has_the_smaller_of_both_balances() {
    let scene = scene_of_parts();
    let report = ["report", "awards", "lake", "--on", "2025-06-12", "--for", "ondemand"];
    let (_, mut balances) = ondemand(&scene.stdout(&report));
    balances.sort();
    // 9 of ada's part are left; of bo's 762, but 61 of all.
    let entry = |user: &str, value| (user.to_owned(), "rrg-ice".to_owned(), value);
    assert_eq!(balances, [entry("ada", 9), entry("bo", 61)]);
}

#[test]
fn a_unit_that_no_award_has_is_refused() {
    let scene = scene_of_parts();
    let report = [
        "report",
        "awards",
        "lake",
        "--on",
        "2025-06-12",
        "--for",
        "ondemand",
        "--unit",
    ];
    let reported = scene.refused(&[&report[..], &["foo"]].concat());
    assert!(
        reported.contains("the awards have no unit called \"foo\""),
        "{reported}"
    );
}

#[test]
fn a_maximum_of_storage_in_another_unit_than_of_bytes_is_a_mistake() {
    let scene = scene();
    scene.write(
        "awards.csv",
        "account,policy,amount,unit,valid_from,valid_to\n\
         rrg-ice,storage,10,TB,2025-04-01,2026-04-01\n\
         def-moor,storage,10,Tb,2025-04-01,2026-04-01\n\
         def-none,storage,10,core_hour,2025-04-01,2026-04-01\n",
    );
    let reported = scene.refused(&["check", "p.toml"]);
    assert!(!reported.contains("awards.csv:2:"), "{reported}");
    for line in ["awards.csv:3: unit: ", "awards.csv:4: unit: "] {
        assert!(reported.contains(line), "{reported}");
    }
}
