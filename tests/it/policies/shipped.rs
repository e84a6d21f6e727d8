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
