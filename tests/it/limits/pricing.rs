//! A job whose charge does not fit is counted, and keeps no other job from its charge. What fits is charged, however much it is.

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
