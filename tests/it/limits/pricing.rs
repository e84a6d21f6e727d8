//! A job whose charge does not fit is counted, and keeps no other job from its charge. What fits is charged, however much it is.

use std::collections::BTreeSet;

use gridtally::audit::billing_comparison;
use gridtally::charge::Tariff;
use gridtally::schema::batch::{decimal, text};

use super::{DUMPS, HEADER, Scene, pipeline, row};

const POLICY: &str = "id = \"steep\"\nversion = \"1\"\ntitle = \"Steep\"\nsource = \"a test\"\npool = \"cpu\"\n\
                      unit = \"point\"\nmemory_unit = \"MB\"\nformula = \"cores * cores * cores * cores * seconds\"\n\
                      [[example]]\nname = \"one\"\nin = { cores = 1, seconds = 3600 }\nexpect = 3600\n";

#[test]
fn a_charge_that_does_not_fit_is_unpriced_and_named() {
    let scene = Scene::new();
    let mut rows = String::new();
    for id in 1..=40 {
        // 10^32 core^4 fit, times the seconds they do not; 10^20 units fit, and are more than a charge may be.
        let cores = match id {
            7 => "90000000",
            23 => "100000",
            _ => "2",
        };
        rows += &row(id, &[("NCPUS", cores), ("AllocTRES", &format!("cpu={cores},node=1"))]);
    }
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    scene.write("steep.toml", POLICY);
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    let report = scene.run(&pipeline(&source, "[[charge]]\npolicies = [\"steep.toml\"]"));
    let policy = &report.policies[0];
    assert_eq!(
        (policy.job_n, policy.unpriced_job_n, policy.misfit_job_n),
        (38, 2, 2),
        "{}",
        report.text()
    );
    // The records of a day are in the order of their identities: either may be the first.
    assert!(
        matches!(policy.first_misfit.as_deref(), Some("7" | "23")),
        "{:?}",
        policy.first_misfit
    );
    let reported = report.text();
    assert!(
        reported.contains("steep 1: 38 jobs charged, charge unknown for 2, of them 2 because a number does not fit"),
        "{reported}"
    );
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["explain", "lake", "7"])
        .current_dir(scene.path("."))
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(reported.contains("a number of the formula does not fit"), "{reported}");
}

#[test]
fn memory_of_hundreds_of_terabytes_is_charged() {
    let scene = Scene::new();
    let large = row(1, &[("AllocTRES", "cpu=2,mem=400T,node=1")]);
    scene.write("dumps/a.txt", HEADER.to_owned() + &large);
    let policy = POLICY
        .replace("cores * cores * cores * cores * seconds", "memory * seconds / 3600")
        .replace(
            "{ cores = 1, seconds = 3600 }\nexpect = 3600",
            "{ memory = 2, seconds = 3600 }\nexpect = 2",
        );
    scene.write("large.toml", policy);
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    let report = scene.run(&pipeline(&source, "[[charge]]\npolicies = [\"large.toml\"]"));
    let policy = &report.policies[0];
    assert_eq!((policy.job_n, policy.unpriced_job_n), (1, 0), "{}", report.text());
}

/// What is made of a job stands in a row of its own, behind a job of which nothing is made as well.
#[test]
fn values_of_jobs_around_one_that_does_not_fit_are_theirs() {
    let scene = Scene::new();
    let cores = |id: u32| if id == 7 { 90_000_000 } else { id };
    let rows = (1..=40).map(|id| {
        let n = cores(id);
        let tres = format!("billing={n},cpu={n},node=1");
        row(id, &[("NCPUS", &n.to_string()), ("AllocTRES", &tres)])
    });
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows.collect::<String>());
    scene.run(&pipeline(
        &format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}"),
        "",
    ));
    let billed = POLICY
        .replace("formula =", "billing_is = \"billed\"\nformula =")
        .replace(
            "[[example]]",
            "[[let]]\nname = \"billed\"\nis = \"cores + 0\"\n[[example]]",
        );
    let tariff = Tariff::restored("steep", &billed, "").unwrap();
    let compared = billing_comparison::compare(scene.path("lake").to_str().unwrap(), &tariff, None).unwrap();
    let [sum] = compared.partitions.as_slice() else {
        panic!("{}", compared.text());
    };
    assert_eq!(
        (sum.job_n, sum.equal_n, sum.different_n),
        (40, 39, 0),
        "{}",
        compared.text()
    );
    let unknown = compared.unknown.iter().map(|job| job.job_id.as_str());
    assert_eq!(unknown.collect::<Vec<_>>(), ["7"]);
}

/// Memory is converted once for all policies of a unit: what each charges is what it charges alone, of the jobs in its scope.
#[test]
fn policies_that_share_a_unit_of_memory_charge_as_each_alone() {
    let of = |id: &str, unit: &str, scope: &str| {
        let policy = POLICY.replace("cores * cores * cores * cores * seconds", "memory * seconds");
        let policy = policy.replace("\"steep\"", &format!("{id:?}")).replace("\"MB\"", unit);
        let example = "in = { memory = 1, seconds = 3600, partition = \"p3\" }\nexpect = 3600";
        let policy = policy.replace("in = { cores = 1, seconds = 3600 }\nexpect = 3600", example);
        policy.replace("[[example]]", &format!("{scope}[[example]]"))
    };
    let policies = [
        ("all", of("all", "\"GiB\"", "")),
        ("some", of("some", "\"GiB\"", "[scope]\npartition = [\"p1\", \"p3\"]\n")),
        ("decimal", of("decimal", "\"GB\"", "")),
    ];
    let charges = |of: &[&str]| {
        let scene = Scene::new();
        let rows = (1..=60_u32).map(|id| {
            let tres = format!("cpu=1,mem={}M,node=1", id * 333);
            let partition = format!("p{}", id % 5);
            row(id, &[("AllocTRES", &tres), ("Partition", &partition)])
        });
        scene.write("dumps/a.txt", HEADER.to_owned() + &rows.collect::<String>());
        for (id, text) in &policies {
            scene.write(&format!("{id}.toml"), text);
        }
        let files: Vec<String> = of.iter().map(|id| format!("{id}.toml")).collect();
        let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
        scene.run(&pipeline(&source, &format!("[[charge]]\npolicies = {files:?}")));
        let mut found = BTreeSet::new();
        for batch in super::rows(&scene, "job_charges") {
            let (policy, job) = (text(&batch, "policy").unwrap(), text(&batch, "job_id").unwrap());
            let charge = decimal(&batch, "charge").unwrap();
            found.extend((0..batch.num_rows()).map(|nth| {
                let name = format!("{} {}", policy.value(nth), job.value(nth));
                (name, charge.value(nth))
            }));
        }
        found
    };
    let together = charges(&["all", "some", "decimal"]);
    let alone = policies.iter().flat_map(|(id, _)| charges(&[id]));
    assert_eq!(together, alone.collect());
    assert_eq!(together.len(), 60 + 24 + 60);
    // 333 MiB for an hour, in GiB and in GB.
    for (name, charge) in [("all 1", 1_170_703_125_000), ("decimal 1", 1_257_032_908_800)] {
        assert!(together.contains(&(name.to_owned(), charge)), "{name}: {together:?}");
    }
}
