//! Every policy in `pipelines/policies`.

use gridtally::charge::{Policy, page};
use gridtally::diagnostics::Problems;

use crate::support::sample::repository;

pub(super) fn shipped() -> Vec<Policy> {
    let mut problems = Problems::default();
    let mut files: Vec<_> = std::fs::read_dir(repository("pipelines/policies"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let policies: Vec<Policy> = files
        .iter()
        .filter_map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            Policy::load(path, &name, &mut problems)
        })
        .collect();
    problems.finish().unwrap();
    policies
}

#[test]
fn every_example_holds() {
    let mut failures = Vec::new();
    for policy in shipped() {
        for verdict in policy.test().unwrap() {
            for failure in &verdict.failures {
                failures.push(format!("{}:{} {}: {failure}", policy.file, verdict.line, verdict.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The tables people check a policy language against, each row an example of that name.
#[test]
fn every_row_of_the_acceptance_tables_is_an_example() {
    let rows = [
        "CC-03", "CC-04", "CC-05", "CC-06", "CC-08", "CC-09", "CC-10", "CC-11", "CC-12", "CC-13", "CC-22", "CC-I1",
        "CC-I2", "CC-I3", "RG-01", "RG-02", "RG-03", "RG-04", "RG-05", "RG-06", "FS-01", "FS-03", "FS-04", "FS-05",
        "FS-06", "FS-07", "SL-01", "SL-02", "SL-03", "SL-04", "SL-05", "SL-06", "SL-07", "SL-11",
    ];
    let policies = shipped();
    let names: Vec<&str> = policies
        .iter()
        .flat_map(|policy| &policy.examples)
        .map(|example| example.name.as_str())
        .collect();
    for row in rows {
        assert!(names.iter().any(|name| name.starts_with(row)), "no example {row}");
    }
}

#[test]
fn versions_of_one_policy_do_not_overlap() {
    let policies = shipped();
    for (at, policy) in policies.iter().enumerate() {
        for other in policies.iter().skip(at + 1).filter(|other| other.id == policy.id) {
            let (from, to) = (
                |p: &Policy| p.valid_from.unwrap_or(i32::MIN),
                |p: &Policy| p.valid_to.unwrap_or(i32::MAX),
            );
            assert!(to(policy) <= from(other) || to(other) <= from(policy), "{}", policy.id);
            assert_ne!(policy.version, other.version, "{}", policy.id);
        }
    }
}

#[test]
fn pages_show_formula_tables_and_examples() {
    for policy in shipped() {
        let page = page::page(&policy).unwrap();
        for part in [&policy.title, &policy.id, &policy.unit, &policy.source] {
            assert!(page.contains(part), "{} lacks {part}", policy.file);
        }
        assert!(page.contains("## Formula") && page.contains("## Examples"));
        for example in &policy.examples {
            assert!(page.contains(&example.name), "{} lacks {}", policy.file, example.name);
        }
    }
}

/// The examples of one row of FASRC's page: so many there are, and all hold.
fn assert_examples(row: &str, example_n: usize) {
    let policy = shipped().into_iter().find(|policy| policy.id == "fasrc-tres").unwrap();
    let verdicts = policy.test().unwrap();
    let of_row: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.name.starts_with(&format!("{row}:")))
        .collect();
    assert_eq!(of_row.len(), example_n, "{row}");
    for verdict in of_row {
        assert!(verdict.failures.is_empty(), "{}: {:?}", verdict.name, verdict.failures);
    }
}

#[test]
fn fs_02_a_gigabyte_is_the_tres_of_all_cores_over_the_gigabytes_of_the_node() {
    let text = std::fs::read_to_string(repository("pipelines/policies/fasrc-tres-2018.toml")).unwrap();
    // 48 Skylake cores of 1.2 and 192 GB.
    let more = text.replace(
        "  [\"abudhabi\",",
        "  [\"skylake\", \"Skylake\", 48, 192, \"no\"],\n  [\"abudhabi\",",
    );
    assert_ne!(more, text);
    let more = more
        + "\n[[example]]\nname = \"FS-02: a GB\"\nin = { partition = \"skylake\", cores = 0, memory = 1, seconds = 1 }\n\
           expect = 0.3\nshows = { memory_tres = 0.3 }\n";
    let mut problems = Problems::default();
    let policy = Policy::read("fasrc.toml", &more, &mut problems).unwrap();
    problems.finish().unwrap();
    let verdicts = policy.test().unwrap();
    let verdict = verdicts.iter().find(|verdict| verdict.name == "FS-02: a GB").unwrap();
    assert!(verdict.failures.is_empty(), "{:?}", verdict.failures);
}

#[test]
fn fs_03_four_gigabytes_of_a_broadwell_node_are_a_core() {
    assert_examples("FS-03", 1);
}

#[test]
fn fs_04_a_gigabyte_of_an_abu_dhabi_node_is_a_sixteenth() {
    assert_examples("FS-04", 1);
}

#[test]
fn fs_05_all_memory_of_a_node_costs_as_much_as_all_its_cores() {
    assert_examples("FS-05", 3);
}

#[test]
fn fs_06_requeue_partitions_cost_the_same_whatever_the_hardware() {
    assert_examples("FS-06", 2);
}

#[test]
fn fs_07_equal_work_costs_the_same_on_processors_of_any_speed() {
    assert_examples("FS-07", 2);
}
