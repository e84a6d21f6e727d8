//! Charges for those who bill: FOCUS by the rules of its specification, balances by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use gridtally::diagnostics::Problems;
use gridtally::reference::allocation::AllocationTable;
use gridtally::report::charges::{choose, read};
use gridtally::report::focus::{FocusBilling, report, unit_name};
use gridtally::report::lake::{Lake, Selection};
use gridtally::time::{DaySpan, Zone};

use super::scene::Scene;
use crate::support::python::python;
use crate::support::sample;

/// The sample's lake, charged in dollars, in service units of two kinds and by a policy that leaves jobs unpriced.
pub(super) fn charged(grain: &str) -> Scene {
    let scene = Scene::new();
    let policy = |id: &str, pool: &str, unit: &str, formula: &str, more: &str| {
        format!(
            "id = \"{id}\"\nversion = \"1\"\ntitle = \"{id}\"\nsource = \"invented\"\npool = \"{pool}\"\nunit = \"{unit}\"\n\
             formula = \"{formula}\"\n{more}[[example]]\nname = \"one\"\nin = {{ cores = 2, gpus = 1, hours = 2 }}\nexpect = {}\n",
            match pool {
                "gpu" => "2",
                "usd" => "0.12",
                _ => "4",
            }
        )
    };
    scene.write(
        "dollars.toml",
        &policy("dollars", "usd", "usd", "cores * 0.03 * seconds / 3600", ""),
    );
    scene.write(
        "cores.toml",
        &policy("cores", "cpu", "core_hour", "cores * seconds / 3600", ""),
    );
    scene.write(
        "gpus.toml",
        &policy("gpus", "gpu", "gpu_hour", "gpus * seconds / 3600", ""),
    );
    let text = sample::pipeline()
        .replace("\"../out\"", "\"lake\"")
        .replace("grain = \"month\"", &format!("grain = \"{grain}\""));
    let text = text + "\n[[charge]]\npolicies = [\"dollars.toml\", \"cores.toml\", \"gpus.toml\"]\n";
    scene.write("lake.toml", &text);
    scene.run("lake");
    scene
}

pub(super) fn gridtally(scene: &Scene, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .current_dir(scene.path(""))
        .args(arguments)
        .output()
        .unwrap()
}

pub(super) fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

type Row = BTreeMap<String, String>;

pub(super) fn rows(csv: &str) -> (Vec<String>, Vec<Row>) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.deserialize().map(Result::unwrap).collect();
    (header, rows)
}

/// A decimal as nine places; panics on what FOCUS calls no number.
pub(super) fn e9(text: &str) -> i128 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    assert!(
        places.len() <= 9 && (whole.to_owned() + places).bytes().all(|b| b.is_ascii_digit()),
        "{text}"
    );
    sign * format!("{whole}{places:0<9}").parse::<i128>().unwrap()
}

/// The requirements of FOCUS 1.3 on columns of the dataset "Cost and Usage" that a provider of batch computing meets.
fn assert_focus_columns(header: &[String]) {
    let mandatory = [
        "BilledCost",
        "BillingAccountId",
        "BillingAccountName",
        "BillingCurrency",
        "BillingPeriodEnd",
        "BillingPeriodStart",
        "ChargeCategory",
        "ChargeClass",
        "ChargeDescription",
        "ChargePeriodEnd",
        "ChargePeriodStart",
        "ContractedCost",
        "EffectiveCost",
        "HostProviderName",
        "InvoiceId",
        "InvoiceIssuerName",
        "ListCost",
        "PricingQuantity",
        "PricingUnit",
        "ProviderName",
        "PublisherName",
        "ServiceCategory",
        "ServiceName",
        "ServiceProviderName",
        "SkuPriceDetails",
    ];
    for column in mandatory {
        assert!(header.iter().any(|name| name == column), "{column}");
    }
    let first_custom = header.iter().position(|name| name.starts_with("x_")).unwrap();
    assert!(
        header[first_custom..].iter().all(|name| name.starts_with("x_")),
        "custom columns come last"
    );
    assert!(header[..first_custom].is_sorted());
    for name in header {
        let pascal = name.strip_prefix("x_").unwrap_or(name);
        assert!(
            pascal.len() <= 50 && pascal.starts_with(|c: char| c.is_ascii_uppercase()),
            "{name}"
        );
        assert!(pascal.bytes().all(|b| b.is_ascii_alphanumeric()), "{name}");
    }
}

/// Columns of energy and carbon, which a lake may not have.
const ENERGY: [&str; 3] = ["x_Energy", "x_Operational", "x_Embodied"];

/// The requirements on values.
pub(super) fn assert_focus(header: &[String], rows: &[Row]) {
    assert_focus_columns(header);
    let nullable = [
        "ChargeClass",
        "InvoiceId",
        "ResourceId",
        "ResourceName",
        "ResourceType",
        "SubAccountId",
        "SubAccountName",
        "SubAccountType",
        "x_CorrectionId",
        "x_PolicyOptions",
        "x_VirtualOrganisation",
    ];
    let mut skus: BTreeMap<&str, &str> = BTreeMap::new();
    for row in rows {
        for name in header {
            assert!(
                !row[name].is_empty()
                    || nullable.contains(&name.as_str())
                    || ENERGY.iter().any(|of| name.starts_with(of)),
                "{name} is null in {row:?}"
            );
        }
        assert_eq!(row["ChargeCategory"], "Usage");
        let is_correction = !row["x_CorrectionId"].is_empty();
        assert_eq!(row["ChargeClass"], if is_correction { "Correction" } else { "" });
        assert_eq!(row["InvoiceId"], "", "nobody has invoiced it");
        let details: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&row["SkuPriceDetails"]).unwrap();
        assert!(details.keys().all(|key| key.starts_with("x_")), "{details:?}");
        assert_eq!(
            (row["ChargeFrequency"].as_str(), row["PricingCategory"].as_str()),
            ("Usage-Based", "Standard")
        );
        assert_eq!(
            (row["ServiceCategory"].as_str(), row["ServiceSubcategory"].as_str()),
            ("Compute", "Other (Compute)")
        );
        assert!(row["BillingCurrency"].len() == 3 && row["BillingCurrency"].bytes().all(|b| b.is_ascii_uppercase()));
        for name in [
            "BillingPeriodStart",
            "BillingPeriodEnd",
            "ChargePeriodStart",
            "ChargePeriodEnd",
        ] {
            let at: jiff::Timestamp = row[name].parse().unwrap();
            assert_eq!(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), row[name]);
        }
        assert!(
            row["BillingPeriodStart"] <= row["ChargePeriodStart"] && row["ChargePeriodStart"] < row["ChargePeriodEnd"]
        );
        assert!(row["ChargePeriodEnd"] <= row["BillingPeriodEnd"]);
        // A unit price times the quantity is the cost, exactly.
        let product = |price: &str| e9(&row[price]) * e9(&row["PricingQuantity"]) / 1_000_000_000;
        for (price, cost) in [
            ("ListUnitPrice", "ListCost"),
            ("ContractedUnitPrice", "ContractedCost"),
            ("PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost"),
        ] {
            assert!(e9(&row[price]) >= 0);
            assert_eq!(product(price), e9(&row[cost]), "{cost} in {row:?}");
        }
        assert_eq!(row["BilledCost"], row["EffectiveCost"]);
        assert!((is_correction || e9(&row["ConsumedQuantity"]) >= 0) && row["ConsumedUnit"] == "Core-Seconds");
        for (id, of) in [
            ("ResourceId", ["ResourceName", "ResourceType"]),
            ("SubAccountId", ["SubAccountName", "SubAccountType"]),
        ] {
            assert!(
                of.iter().all(|name| row[*name].is_empty() == row[id].is_empty()),
                "{row:?}"
            );
        }
        // One price belongs to one thing sold.
        assert_eq!(*skus.entry(&row["SkuPriceId"]).or_insert(&row["SkuId"]), row["SkuId"]);
    }
}

#[test]
fn focus_reports_money_as_money_and_units_as_a_virtual_currency() {
    let scene = charged("month");
    let run = |arguments: &[&str]| {
        let mut all = vec!["report", "focus", "lake"];
        all.extend(arguments);
        gridtally(&scene, &all)
    };
    // Nobody adds up two views of the same jobs by accident, and nobody is billed in service units.
    let why = refused(&run(&[]));
    assert!(why.contains("--policy") && why.contains("dollars (pool usd)"), "{why}");
    let why = refused(&run(&["--policy", "cores", "--leave-out"]));
    assert!(why.contains("--currency"), "{why}");
    let why = refused(&run(&["--policy", "cores", "--currency", "EURO", "--leave-out"]));
    assert!(why.contains("ISO 4217"), "{why}");
    let why = refused(&run(&["--policy", "core", "--currency", "EUR"]));
    assert!(why.contains("nothing is charged under \"core\""), "{why}");

    // The sample has jobs of unknown cores: their charge is unknown, and that is reported.
    let why = refused(&run(&["--policy", "dollars"]));
    assert!(why.contains("is unknown, in 3 sums with 3 jobs that ended"), "{why}");

    let (header, dollars) = rows(&stdout(&run(&["--policy", "dollars", "--leave-out"])));
    assert_focus(&header, &dollars);
    assert!(
        dollars
            .iter()
            .all(|row| row["BillingCurrency"] == "USD" && row["PricingUnit"] == "USD")
    );
    assert!(
        dollars
            .iter()
            .any(|row| row["BillingAccountId"] == "vo:firn" && row["BillingAccountName"] == "firn")
    );
    // Who is of no VO is the site's own business; and months begin at midnight in Zurich.
    assert!(
        dollars
            .iter()
            .any(|row| row["BillingAccountId"] == "site:ALP-T2" && row["x_VirtualOrganisation"].is_empty())
    );
    assert!(
        dollars
            .iter()
            .any(|row| row["BillingPeriodStart"] == "2026-02-28T23:00:00Z"
                && row["BillingPeriodEnd"] == "2026-03-31T22:00:00Z")
    );

    let units = run(&[
        "--policy",
        "cores",
        "--policy",
        "gpus",
        "--currency",
        "EUR",
        "--leave-out",
    ]);
    let (header, units) = rows(&stdout(&units));
    assert_focus(&header, &units);
    assert!(
        units
            .iter()
            .all(|row| row["BillingCurrency"] == "EUR" && e9(&row["BilledCost"]) == 0)
    );
    let spelled: BTreeSet<&str> = units.iter().map(|row| row["PricingUnit"].as_str()).collect();
    assert_eq!(spelled, BTreeSet::from(["Core-Hours", "GPU-Hours"]));

    // The same by DuckDB: what is billed is what was charged, to the last decimal, and Parquet has its types.
    let parquet = run(&["--policy", "dollars", "--leave-out", "--format", "parquet"]);
    assert!(parquet.status.success());
    std::fs::write(scene.path("focus.parquet"), &parquet.stdout).unwrap();
    let answer = python(
        "import duckdb, sys\n\
         types = dict((name, kind) for name, kind, *_ in duckdb.sql(f\"DESCRIBE SELECT * FROM '{sys.argv[1]}/focus.parquet'\").fetchall())\n\
         assert types['BilledCost'] == 'DECIMAL(38,9)', types\n\
         assert types['ChargePeriodStart'] == 'TIMESTAMP WITH TIME ZONE', types\n\
         focus = duckdb.sql(f\"SELECT sum(BilledCost), sum(x_JobCount) FROM '{sys.argv[1]}/focus.parquet'\").fetchall()\n\
         lake = duckdb.sql(f\"SELECT sum(charge), sum(job_n) FROM '{sys.argv[1]}/lake/charges/**/*.parquet' WHERE policy = 'dollars' AND view = 'batch'\").fetchall()\n\
         assert focus == lake, (focus, lake)\n\
         print(focus[0][0] > 0)",
        &[scene.path("").to_str().unwrap()],
    );
    assert_eq!(answer.trim(), "True");
    let sum: i128 = dollars.iter().map(|row| e9(&row["BilledCost"])).sum();
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let charged = choose(read(&lake, &Selection::default()).unwrap(), &["dollars".to_owned()]).unwrap();
    assert_eq!(sum, charged.iter().filter_map(|row| row.charge_e9).sum::<i128>());
}

#[test]
fn units_are_spelled_as_focus_spells_them() {
    for (unit, spelled) in [
        ("service_unit", "Service Units"),
        ("core_hour", "Core-Hours"),
        ("gpu_equivalent_hour", "GPU Equivalent-Hours"),
        ("tb_hour", "TB-Hours"),
        ("billing_second", "Billing-Seconds"),
        ("hour", "Hours"),
        ("", "Units"),
    ] {
        assert_eq!(unit_name(unit), spelled);
    }
}

fn total(scene: &Scene, policy: &str, account: &str, from: &str, to: &str) -> i128 {
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let selection = Selection {
        days: DaySpan::of_months(Some(from.parse().unwrap()), Some(to.parse().unwrap())),
        ..Selection::default()
    };
    let charged = choose(read(&lake, &selection).unwrap(), &[policy.to_owned()]).unwrap();
    let own = charged.iter().filter(|row| row.account.as_deref() == Some(account));
    own.filter_map(|row| row.charge_e9).sum()
}

#[test]
fn balances_are_what_was_granted_less_what_was_charged() {
    let scene = charged("month");
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let all = choose(read(&lake, &Selection::default()).unwrap(), &["cores".to_owned()]).unwrap();
    let mut accounts: BTreeMap<&str, i128> = BTreeMap::new();
    for row in &all {
        *accounts.entry(row.account.as_deref().unwrap_or_default()).or_default() += row.charge_e9.unwrap_or(0);
    }
    let (account, _) = accounts
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .max_by_key(|(_, sum)| **sum)
        .unwrap();
    let used = total(&scene, "cores", account, "2026-02", "2026-04");
    assert!(used > 0);
    // The year before is over, what comes is not there yet, and a supplement adds to its allocation.
    scene.write(
        "allocations.csv",
        &format!(
            "account,policy,amount,valid_from,valid_to,unit,project,users,coldfront_attribute\n\
             {account},cores,1,2025-02-01,2026-02-01,core_hour,P,ada,\n\
             {account},cores,20000.5,2026-02-01,2026-05-01,core_hour,P,ada;bo,17\n\
             {account},cores,0.000000001,2026-02-01,2026-05-01,core_hour,P,cy,\n\
             {account},cores,5,2026-05-01,,core_hour,P,ada,\n"
        ),
    );
    let run = |more: &[&str]| {
        let mut all = vec![
            "report",
            "balance",
            "lake",
            "--allocations",
            "allocations.csv",
            "--on",
            "2026-04-30",
        ];
        all.extend(more);
        gridtally(&scene, &all)
    };
    let (_, table) = rows(&stdout(&run(&["--format", "csv"])));
    assert_eq!(table.len(), 1);
    assert_eq!(e9(&table[0]["allocated"]), 20_000_500_000_001);
    assert_eq!(e9(&table[0]["charged"]), used);
    assert_eq!(e9(&table[0]["balance"]), 20_000_500_000_001 - used);
    let ondemand: serde_json::Value = serde_json::from_str(&stdout(&run(&["--for", "ondemand"]))).unwrap();
    assert_eq!(
        (&ondemand["version"], &ondemand["config"]["unit"]),
        (&1.into(), &"core hour".into())
    );
    assert!(ondemand["timestamp"].as_i64().unwrap() > 1_700_000_000);
    let entries = ondemand["balances"].as_array().unwrap();
    let users: Vec<&str> = entries.iter().map(|entry| entry["user"].as_str().unwrap()).collect();
    assert_eq!(users, ["ada", "bo", "cy"]);
    assert!(
        entries
            .iter()
            .all(|entry| entry["project"] == "P" && entry["value"].is_number())
    );
    let coldfront: serde_json::Value = serde_json::from_str(&stdout(&run(&["--for", "coldfront"]))).unwrap();
    assert_eq!(coldfront[0]["model"], "allocation.allocationattributeusage");
    assert_eq!(coldfront[0]["pk"], 17);
    // Without names in the table, those who had jobs see it.
    scene.write(
        "allocations.csv",
        &format!("account,policy,amount,valid_from\n{account},cores,20000,2026-02-01\n"),
    );
    let ondemand: serde_json::Value = serde_json::from_str(&stdout(&run(&["--for", "ondemand"]))).unwrap();
    assert!(!ondemand["balances"].as_array().unwrap().is_empty());

    // Charges by month cannot be cut inside a month.
    scene.write(
        "allocations.csv",
        &format!("account,policy,amount,valid_from\n{account},cores,20000,2026-02-10\n"),
    );
    let why = refused(&run(&[]));
    assert!(why.contains("inside 2026-02") && why.contains("grain"), "{why}");
    scene.write(
        "allocations.csv",
        "account,policy,amount,valid_from,unit\na,cores,1,2026-01-01,gpu_hour\n",
    );
    assert!(refused(&run(&[])).contains("counts in core_hour, not in gpu_hour"));
    scene.write(
        "allocations.csv",
        "account,policy,amount,valid_from\na,coers,1,2026-01-01\n",
    );
    assert!(refused(&run(&[])).contains("nothing is charged under \"coers\""));
}

#[test]
fn by_day_an_allocation_begins_on_any_day() {
    let scene = charged("day");
    scene.write(
        "allocations.csv",
        "account,policy,amount,valid_from,valid_to,users\nfirn,cores,100000,2026-03-10,2026-03-20,ada\n",
    );
    let (_, table) = rows(&stdout(&gridtally(
        &scene,
        &[
            "report",
            "balance",
            "lake",
            "--allocations",
            "allocations.csv",
            "--on",
            "2026-03-15",
            "--format",
            "csv",
        ],
    )));
    let answer = python(
        "import duckdb, sys\n\
         print(duckdb.sql(f\"SELECT coalesce(sum(charge), 0) FROM '{sys.argv[1]}/charges/**/*.parquet' WHERE policy = 'cores' AND view = 'batch' \
         AND account = 'firn' AND day >= DATE '2026-03-10' AND day <= DATE '2026-03-15'\").fetchall()[0][0])",
        &[scene.path("lake").to_str().unwrap()],
    );
    assert_eq!(e9(&table[0]["charged"]), e9(answer.trim()));
}

#[test]
fn mistakes_in_allocations_are_reported_with_their_lines() {
    let mut problems = Problems::default();
    let text = "account,policy,amount,valid_from,valid_to,site\n\
                a,p,10,2026-01-01,2027-01-01,S\n\
                a,p,10,2026-06-01,2027-01-01,\n\
                a,p,-1,2026-01-01,,T\n\
                a,p,1.0000000001,2026-01-01,,T\n\
                a,p,1,2026-02-30,,T\n\
                a,p,1,2026-02-01,2026-02-01,T\n\
                ,p,1,2026-02-01,,T\n";
    AllocationTable::read(text.as_bytes(), "a.csv", &mut problems);
    let error = problems.finish().unwrap_err().to_string();
    for reported in [
        "a.csv:3: overlaps the allocation of line 2",
        "a.csv:4: amount",
        "a.csv:5: amount",
        "a.csv:6: valid_from",
        "a.csv:7: valid_to",
        "a.csv:8: account",
    ] {
        assert!(error.contains(reported), "{reported}: {error}");
    }
}

/// Parts of core seconds are consumed as well.
#[test]
fn focus_reports_parts_of_core_seconds() {
    let scene = charged("month");
    let charged = read(
        &Lake::open(scene.path("lake").to_str().unwrap()).unwrap(),
        &Selection::default(),
    )
    .unwrap();
    let mut charged = choose(charged, &["dollars".to_owned()]).unwrap();
    charged.retain(|row| row.charge_e9.is_some() && row.unpriced_job_n == 0);
    charged.truncate(1);
    charged[0].alloc_core_ms = 7_250;
    let (table, _) = report(&charged, &[], &Zone::utc(), &FocusBilling::default()).unwrap();
    let at = table
        .columns
        .iter()
        .position(|column| column.name == "ConsumedQuantity");
    assert_eq!(table.rows[0][at.unwrap()].to_string(), "7.250000000");
}
