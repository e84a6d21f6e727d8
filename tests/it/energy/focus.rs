//! Energy and carbon in the lines of FOCUS: each joule of usage once, whatever policies charge its jobs.

use std::collections::BTreeMap;
use std::fs;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int64Type};
use arrow_array::{Array, StringArray};

use super::lake::{Case, files};
use crate::support::forge::rows;

/// On 12 March the PUE is 1.4 and a kWh emits 250 g. `kelp` has job 1 with all cores of n1, 720 000 J, and job 2 with one of four cores of
/// n2, 360 000 / 4 = 90 000 J. `moss` has job 3 like job 1, job 4 on x1, of which nothing is known, job 5 on m1, two cores at 5 W for an
/// hour and a step of 10 W for an hour of CPU time, 72 000 J modelled; and job 6, which nothing is known of and which has half an hour
/// on each side of the 16th. Job 7 never ran.
const JOBS: &str = "\
JobIDRaw|JobID|Cluster|Account|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|NodeList|AllocTRES|TotalCPU|ConsumedEnergyRaw
1|1|oak|kelp|ana|cpu|2026-03-12T00:00:00|2026-03-12T00:00:00|2026-03-12T01:00:00|3600|COMPLETED|4|1|n1|billing=4,cpu=4,mem=4G,node=1|03:00:00|720000
2|2|oak|kelp|ana|gpu|2026-03-12T00:00:00|2026-03-12T00:00:00|2026-03-12T01:00:00|3600|COMPLETED|1|1|n2|billing=1,cpu=1,mem=1G,node=1|00:30:00|360000
3|3|oak|moss|bo|cpu|2026-03-12T02:00:00|2026-03-12T02:00:00|2026-03-12T03:00:00|3600|COMPLETED|4|1|n1|billing=4,cpu=4,mem=4G,node=1|03:00:00|720000
4|4|oak|moss|bo|cpu|2026-03-12T00:00:00|2026-03-12T00:00:00|2026-03-12T01:00:00|3600|COMPLETED|4|1|x1|billing=4,cpu=4,mem=4G,node=1|03:00:00|500000
5|5|oak|moss|bo|old|2026-03-12T00:00:00|2026-03-12T00:00:00|2026-03-12T01:00:00|3600|COMPLETED|2|1|m1|billing=2,cpu=2,mem=2G,node=1|01:00:00|0
6|6|oak|fern|cy|cpu|2026-03-15T23:30:00|2026-03-15T23:30:00|2026-03-16T00:30:00|3600|COMPLETED|4|1|n1|billing=4,cpu=4,mem=4G,node=1|03:00:00|800000
7|7|oak|moss|bo|gpu|2026-03-12T00:00:00|None|2026-03-12T00:00:00|0|CANCELLED by 7|0|0|None assigned||00:00:00|
";

const CORRECTIONS: &str = "id,action,site,month,account,to_account,job_id,undoes,author,reason,date
C1,void,OAK,2026-03,,,1,,E. Office,on a broken node,2026-04-02
C2,remap,OAK,2026-03,,kelp,3,,E. Office,wrong account,2026-04-02
";
const UNDONE: &str = "U1,undo,,,,,,C1,E. Office,it was sound,2026-04-03
U2,undo,,,,,,C2,E. Office,it was theirs,2026-04-03
";

/// Every figure of energy: the column of an export, how many of its units are one of usage's, and columns of usage.
const FIGURES: [(&str, f64, &[&str]); 15] = [
    (
        "x_EnergyNodeJoules",
        1.0,
        &[
            "energy_exclusive_j",
            "energy_apportioned_j",
            "energy_node_meter_j",
            "energy_modelled_j",
        ],
    ),
    (
        "x_EnergyNodeCoreSeconds",
        1.0,
        &[
            "energy_exclusive_core_s",
            "energy_apportioned_core_s",
            "energy_node_meter_core_s",
            "energy_modelled_core_s",
        ],
    ),
    ("x_EnergyExclusiveJoules", 1.0, &["energy_exclusive_j"]),
    ("x_EnergyExclusiveCoreSeconds", 1.0, &["energy_exclusive_core_s"]),
    ("x_EnergyApportionedJoules", 1.0, &["energy_apportioned_j"]),
    ("x_EnergyApportionedCoreSeconds", 1.0, &["energy_apportioned_core_s"]),
    ("x_EnergyModelledJoules", 1.0, &["energy_modelled_j"]),
    ("x_EnergyModelledCoreSeconds", 1.0, &["energy_modelled_core_s"]),
    ("x_EnergySiteJoules", 1.0, &["energy_pue_j"]),
    ("x_EnergySiteCoreSeconds", 1.0, &["energy_pue_core_s"]),
    ("x_OperationalCo2eGrams", 1000.0, &["operational_co2e_mg"]),
    ("x_OperationalCoreSeconds", 1.0, &["operational_core_s"]),
    ("x_EmbodiedCo2eGrams", 1000.0, &["embodied_co2e_mg"]),
    ("x_EmbodiedCoreSeconds", 1.0, &["embodied_core_s"]),
    ("x_EnergyUsageCoreSeconds", 1.0, &["alloc_core_s"]),
];

fn policy(case: &Case, name: &str, more: &str, example: &str) {
    let text = format!(
        "id = \"{name}\"\nversion = \"1\"\ntitle = \"{name}\"\nsource = \"invented\"\npool = \"{name}\"\nunit = \"usd\"\n\
         formula = \"cores * 0.03 * seconds / 3600\"\n{more}\n[[example]]\nname = \"one\"\n\
         in = {{ cores = 4, hours = 1{example} }}\nexpect = 0.12\n"
    );
    fs::write(case.path(&format!("{name}.toml")), text).unwrap();
}

/// The case of energy, charged by one policy for a partition, one for two, one for wide jobs and one until the 15th.
fn charged(grain: &str) -> Case {
    let case = Case::of("energy");
    fs::write(case.path("sacct.txt"), JOBS).unwrap();
    fs::write(case.path("corrections.csv"), CORRECTIONS).unwrap();
    policy(
        &case,
        "cores",
        "[scope]\npartition = [\"cpu\"]\n",
        ", partition = \"cpu\"",
    );
    policy(
        &case,
        "both",
        "[scope]\npartition = [\"cpu\", \"gpu\"]\n",
        ", partition = \"gpu\"",
    );
    policy(&case, "wide", "[scope]\nwhen = \"cores > 3\"\n", "");
    policy(&case, "early", "valid_to = 2026-03-16\n", "");
    case.replace(
        "pipeline.toml",
        "vo = { column = \"account\" }",
        "vo = { value = \"eis\" }",
    );
    case.replace(
        "pipeline.toml",
        "attribution = \"prorated\"",
        &format!("attribution = \"prorated\"\ngrain = \"{grain}\""),
    );
    case.replace(
        "pipeline.toml",
        "[energy]",
        "[[charge]]\npolicies = [\"cores.toml\", \"both.toml\", \"wide.toml\", \"early.toml\"]\n\n[energy]",
    );
    case.run();
    case
}

type Line = serde_json::Map<String, serde_json::Value>;

fn exported(case: &Case, arguments: &[&str]) -> Vec<Line> {
    let all = [&["report", "focus", "lake", "--format", "json"][..], arguments].concat();
    serde_json::from_str(&case.gridtally(&all)).unwrap()
}

fn under<'p>(policies: &[&'p str]) -> Vec<&'p str> {
    policies.iter().flat_map(|policy| ["--policy", *policy]).collect()
}

/// Sums by account and month; a figure that is not there is null.
type Sums = BTreeMap<(String, String, &'static str), i64>;

fn sums_of_lines(lines: &[Line]) -> Sums {
    let mut sums = Sums::new();
    for line in lines {
        for (figure, unit, _) in FIGURES {
            if let Some(value) = line[figure].as_f64() {
                let account = line["SubAccountId"].as_str().unwrap().to_owned();
                let month = line["BillingPeriodStart"].as_str().unwrap()[..10].to_owned();
                let scaled = (value * unit).round();
                *sums.entry((account, month, figure)).or_default() += format!("{scaled}").parse::<i64>().unwrap();
            }
        }
    }
    sums
}

fn sums_of_usage(case: &Case) -> Sums {
    let mut sums = Sums::new();
    for path in files(&case.path("lake/usage")) {
        let batch = rows(&path);
        let text = |name: &str| -> StringArray { batch.column_by_name(name).unwrap().as_string::<i32>().clone() };
        let (accounts, views) = (text("account"), text("view"));
        let months = batch.column_by_name("month").unwrap().as_primitive::<Date32Type>();
        for row in (0..batch.num_rows()).filter(|row| views.value(*row) == "batch") {
            let month = months.value_as_date(row).unwrap().to_string();
            for (figure, _, columns) in FIGURES {
                for column in columns {
                    let values = batch.column_by_name(column).unwrap().as_primitive::<Int64Type>();
                    if values.is_valid(row) {
                        let key = (accounts.value(row).to_owned(), month.clone(), figure);
                        *sums.entry(key).or_default() += values.value(row);
                    }
                }
            }
        }
    }
    sums
}

/// Core time that is known of nothing is zero in an export, and null in usage.
fn without_zeros(sums: Sums) -> Sums {
    let is_core_time = |key: &(String, String, &str)| key.2.ends_with("CoreSeconds");
    sums.into_iter()
        .filter(|(key, sum)| *sum != 0 || !is_core_time(key))
        .collect()
}

fn line<'l>(lines: &'l [Line], account: &str, policy: Option<&str>) -> &'l Line {
    let mut found = lines.iter().filter(|line| {
        line["SubAccountId"] == account && line["x_Policy"].as_str() == policy && line["x_CorrectionId"].is_null()
    });
    let only = found
        .next()
        .unwrap_or_else(|| panic!("no line of {account} under {policy:?}"));
    assert!(found.next().is_none(), "{account} under {policy:?}");
    only
}

/// Figures of a line: node joules by class (exclusive, apportioned, modelled), of the site, grams, and core seconds of usage.
fn assert_figures(line: &Line, figures: [Option<f64>; 7]) {
    let columns = [
        "x_EnergyExclusiveJoules",
        "x_EnergyApportionedJoules",
        "x_EnergyModelledJoules",
        "x_EnergySiteJoules",
        "x_OperationalCo2eGrams",
        "x_EmbodiedCo2eGrams",
        "x_EnergyUsageCoreSeconds",
    ];
    let found = columns.map(|column| line[column].as_f64());
    assert_eq!(found, figures, "{columns:?} of {line:#?}");
}

#[test]
fn the_line_that_charges_all_usage_under_its_keys_has_its_energy() {
    let case = charged("month");
    let lines = exported(&case, &under(&["both", "cores"]));
    // Both charge jobs 1, 3, 4 and 6: the first has their energy. It is the only one that charges job 2.
    assert_figures(
        line(&lines, "kelp", Some("both")),
        [
            Some(720_000.0),
            Some(90_000.0),
            None,
            // 1 008 000 and 126 000 J, at 250 g a kWh 70 and 8.75 g; 18 000 core seconds at 0.5 mg.
            Some(1_134_000.0),
            Some(78.75),
            Some(9.0),
            Some(18_000.0),
        ],
    );
    assert_figures(line(&lines, "kelp", Some("cores")), [None; 7]);
    // The energy of job 4 is unknown: 14 400 of 28 800 core seconds have none.
    let moss = line(&lines, "moss", Some("both"));
    assert_figures(
        moss,
        [
            Some(720_000.0),
            None,
            None,
            Some(1_008_000.0),
            Some(70.0),
            Some(7.2),
            Some(28_800.0),
        ],
    );
    assert_eq!(moss["x_EnergyNodeCoreSeconds"].as_f64(), Some(14_400.0));
    assert_eq!(moss["x_EnergyNodeKwh"].as_f64(), Some(0.2));
    assert_eq!(moss["x_EnergySiteKwh"].as_f64(), Some(0.28));
    // Nobody charges job 5. Of its carbon what making its node took is unknown.
    let uncharged = line(&lines, "moss", None);
    assert_figures(
        uncharged,
        [
            None,
            None,
            Some(72_000.0),
            Some(100_800.0),
            Some(7.0),
            None,
            Some(7_200.0),
        ],
    );
    assert_eq!(uncharged["ChargeCategory"], "Adjustment");
    assert_eq!(uncharged["BilledCost"].as_f64(), Some(0.0));
    assert_eq!(uncharged["BillingCurrency"], "USD");
    for null in [
        "ConsumedQuantity",
        "PricingQuantity",
        "SkuId",
        "SkuPriceId",
        "x_JobCount",
    ] {
        assert!(uncharged[null].is_null(), "{null}");
    }
    assert!(uncharged["x_EmbodiedCo2eGrams"].is_null() && uncharged["x_EmbodiedCoreSeconds"] == 0);

    // A policy for wide jobs charges jobs 1, 3, 4 and 6 whole, and no job of the other partitions.
    let lines = exported(&case, &under(&["wide"]));
    assert_eq!(line(&lines, "kelp", None)["x_EnergyApportionedJoules"], 90_000);
    assert_eq!(line(&lines, "kelp", Some("wide"))["x_EnergyExclusiveJoules"], 720_000);

    // A policy that ends on the 15th charges half of job 6: the lake has its energy by the month, which no line has whole.
    let lines = exported(&case, &under(&["early"]));
    assert_figures(line(&lines, "fern", Some("early")), [None; 7]);
    assert_eq!(line(&lines, "fern", None)["x_EnergyExclusiveJoules"], 800_000);
    // By the day it has: half of it with a PUE of 1.4.
    let case = charged("day");
    let lines = exported(&case, &under(&["early"]));
    let fern = line(&lines, "fern", Some("early"));
    assert_eq!(fern["x_EnergyExclusiveJoules"], 400_000);
    assert_eq!(fern["x_EnergySiteJoules"], 560_000);
    assert_eq!(line(&lines, "fern", None)["x_EnergySiteJoules"], 500_000);
}

#[test]
fn lines_add_up_to_usage_whatever_the_policies() {
    for grain in ["month", "day"] {
        let case = charged(grain);
        for corrections in [false, true] {
            if corrections {
                case.replace(
                    "pipeline.toml",
                    "output = \"lake\"",
                    "output = \"lake\"\ncorrections = \"corrections.csv\"",
                );
                case.run();
            }
            let usage = without_zeros(sums_of_usage(&case));
            assert!(usage.len() > 30, "{usage:?}");
            for policies in [
                &["cores"][..],
                &["both"],
                &["wide"],
                &["early"],
                &["cores", "both"],
                &["early", "wide", "cores", "both"],
            ] {
                let lines = exported(&case, &under(policies));
                assert_eq!(
                    without_zeros(sums_of_lines(&lines)),
                    usage,
                    "{policies:?} by the {grain}"
                );
            }
        }
    }
}

#[test]
fn corrections_carry_the_energy_they_move_and_are_undone() {
    let case = charged("month");
    let owed = sums_of_lines(&exported(&case, &under(&["cores"])));
    case.replace(
        "pipeline.toml",
        "output = \"lake\"",
        "output = \"lake\"\ncorrections = \"corrections.csv\"",
    );
    case.run();
    let lines = exported(&case, &under(&["cores"]));
    let of = |id: &str, account: &str| {
        let mut found = lines
            .iter()
            .filter(|line| line["x_CorrectionId"] == id && line["SubAccountId"] == account);
        let only = found.next().unwrap();
        assert!(found.next().is_none());
        assert_eq!(only["ChargeClass"], "Correction");
        (
            only["x_EnergySiteJoules"].clone(),
            only["x_OperationalCo2eGrams"].as_f64(),
        )
    };
    // Job 1 is taken from kelp, and job 3 from moss for kelp, with all they emitted.
    assert_eq!(of("C1", "kelp"), ((-1_008_000).into(), Some(-70.0)));
    assert_eq!(of("C2", "moss"), ((-1_008_000).into(), Some(-70.0)));
    assert_eq!(of("C2", "kelp"), (1_008_000.into(), Some(70.0)));
    fs::write(case.path("corrections.csv"), format!("{CORRECTIONS}{UNDONE}")).unwrap();
    case.run();
    let lines = exported(&case, &under(&["cores"]));
    assert_eq!(
        sums_of_lines(&lines),
        owed,
        "what was taken is given back, to the joule"
    );
}

#[test]
fn a_late_row_of_a_table_changes_lines_and_is_undone_to_the_byte() {
    let case = charged("month");
    let export = |case: &Case| case.gridtally(&["report", "focus", "lake", "--policy", "cores"]);
    let former = export(&case);
    // Job 4 had all four cores of x1.
    let nodes = fs::read_to_string(case.path("nodes.csv")).unwrap();
    fs::write(case.path("nodes.csv"), format!("{nodes}OAK,x,,x1,4,,,,,,,maker\n")).unwrap();
    case.run();
    let lines = exported(&case, &under(&["cores"]));
    assert_eq!(
        line(&lines, "moss", Some("cores"))["x_EnergyExclusiveJoules"],
        1_220_000
    );
    fs::write(case.path("nodes.csv"), nodes).unwrap();
    case.run();
    assert_eq!(export(&case), former);
}

#[test]
fn a_lake_without_energy_has_no_energy_in_its_lines() {
    let case = charged("month");
    let text = fs::read_to_string(case.path("pipeline.toml")).unwrap();
    fs::write(case.path("pipeline.toml"), text.split("[energy]").next().unwrap()).unwrap();
    case.run();
    let lines = exported(&case, &under(&["cores"]));
    for line in &lines {
        assert_eq!(line["ChargeCategory"], "Usage");
        assert!(FIGURES.iter().all(|(figure, ..)| line[*figure].is_null()), "{line:#?}");
    }
    assert_eq!(lines.len(), 3);
}
