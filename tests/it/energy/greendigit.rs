//! Jobs in the fields of `GreenDIGIT`'s records, with corrections.

use serde_json::Value;

use super::lake::Case;

const CORRECTIONS: &str = "id,action,site,month,vo,job_id,to_vo,job_n,wall_s,alloc_core_s,author,reason,date\n\
                           C1,void,OAK,2026-03,,1,,,,,E. Office,on a broken node,2026-04-02\n\
                           C2,remap,OAK,2026-03,,3,moss,,,,E. Office,of another VO,2026-04-02\n\
                           C3,add,OAK,2026-03,kelp,,,2,7200,14400,E. Office,lost,2026-04-02\n";

fn jobs_of(case: &Case, rest: &[&str]) -> Vec<(String, Value)> {
    let text = case.gridtally(&[&["report", "greendigit", "lake"], rest].concat());
    let documents = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of = |document: Value| {
        (
            document["execunitid"].as_str().unwrap().to_owned(),
            document["owner"].clone(),
        )
    };
    documents.map(of).collect()
}

#[test]
fn corrections_are_in_the_jobs_and_additions_are_reported() {
    let case = Case::of("energy");
    case.run();
    let recorded = jobs_of(&case, &[]);
    case.write("corrections.csv", CORRECTIONS);
    case.replace(
        "pipeline.toml",
        "output = \"lake\"",
        "output = \"lake\"\ncorrections = \"corrections.csv\"",
    );
    case.run();
    let corrected = jobs_of(&case, &[]);
    let mut expected = recorded;
    expected.retain(|(job, _)| job != "1");
    for (_, owner) in expected.iter_mut().filter(|(job, _)| job == "3") {
        *owner = "moss".into();
    }
    assert_eq!(corrected, expected);
    // A job is of the VO it was moved to.
    let of_moss = jobs_of(&case, &["--vo", "moss"]);
    assert!(of_moss.iter().any(|(job, _)| job == "3"), "{of_moss:?}");
    let reported = case.stderr(&[
        "report",
        "greendigit",
        "lake",
        "--from",
        "2026-03-10",
        "--to",
        "2026-03-12",
    ]);
    assert!(
        reported.contains(
            "correction C3 of OAK 2026-03: wall hours 2, core hours 4, CPU hours unknown: 2 jobs are left out"
        ),
        "{reported}"
    );
}

/// The intensity of the electricity is known of a site whose PUE is not.
#[test]
fn intensity_is_stated_where_no_pue_is_known() {
    let case = Case::of("energy");
    case.run();
    let figures = |case: &Case| -> Vec<[Value; 4]> {
        let text = case.gridtally(&["report", "greendigit", "lake"]);
        let documents = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let of = |document: Value| ["execunitid", "CI_g", "PUE", "CFP_g"].map(|field| document[field].clone());
        documents.map(of).collect()
    };
    let known = figures(&case);
    case.write("pue.csv", "site,pue,valid_from,valid_to\nOAK,,2020-01-01,2030-01-01\n");
    case.run();
    let unknown = figures(&case);
    assert_eq!(known.len(), unknown.len());
    assert!(known.iter().any(|[_, intensity, ..]| !intensity.is_null()), "{known:?}");
    for ([job, with_pue, ..], [_, intensity, pue, footprint]) in known.iter().zip(&unknown) {
        assert_eq!(with_pue.is_null(), intensity.is_null(), "job {job}");
        assert!(pue.is_null() && footprint.is_null(), "job {job}");
    }
}
