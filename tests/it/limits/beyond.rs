//! What `usage` refuses for its sums is in no report of the same lake, and can be explained.

use std::fmt::Write as _;

use gridtally::audit::explain::explain;
use gridtally::audit::reprice;
use gridtally::charge::Tariff;
use gridtally::compat::{PeerMode, PeerReportQuestion, report as published};
use gridtally::reference::site_rename::SiteRenames;
use gridtally::report::apel::users::Users;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::table::Cell;
use gridtally::report::{completeness, gracc};
use gridtally::schema::batch::text;

use super::{DUMPS, HEADER, Scene, pipeline, row, rows, sum};

const MOST: &str = "11574074-01:46:40";

fn scene() -> Scene {
    let mut dump = HEADER.to_owned();
    for id in 0..200 {
        let _ = write!(dump, "{}", row(id, &[("TotalCPU", MOST)]));
    }
    for id in 200..210 {
        let _ = write!(dump, "{}", row(id, &[]));
    }
    let scene = Scene::new();
    scene.write("dumps/a.txt", dump);
    scene.run(&pipeline(
        &format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}"),
        "",
    ));
    scene
}

/// Reports read `records`, and had more jobs than `usage`.
#[test]
fn reports_of_jobs_leave_out_what_usage_does_not_hold() {
    let scene = scene();
    let counted = sum(&scene, "usage", "job_n");
    assert!(counted < 210);
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let everything = Selection::default();
    let history = completeness::history(&lake, &everything).unwrap();
    let days = history.values().flat_map(|days| days.values());
    assert_eq!(days.map(|ended| i128::from(ended.job_n)).sum::<i128>(), counted);
    let documents = gracc::table(&lake, &everything, &Users::Withhold).unwrap().0;
    let job_n = documents.rows.iter().map(|cells| match cells.last() {
        Some(Cell::Int(job_n)) => *job_n,
        other => panic!("{other:?}"),
    });
    assert_eq!(job_n.sum::<i128>(), counted);
    let question = PeerReportQuestion {
        mode: PeerMode::Native,
        site_values: None,
        by: None,
        selection: &everything,
        renames: &SiteRenames::default(),
    };
    let cells = published(lake.store.url(), &question).unwrap().cells;
    let job_n = cells.iter().map(|cell| cell.measure("job_n").unwrap());
    assert_eq!(job_n.map(|n| n.parse::<i128>().unwrap()).sum::<i128>(), counted);
    let policy = "id = \"hours\"\nversion = \"1\"\ntitle = \"Hours\"\nsource = \"a test\"\npool = \"cpu\"\n\
                  unit = \"core_hour\"\nformula = \"cores * seconds / 3600\"\n\
                  [[example]]\nname = \"one\"\nin = { cores = 1, seconds = 3600 }\nexpect = 1\n";
    let tariff = Tariff::restored("p.toml", policy, "").unwrap();
    let priced = reprice::all(lake.store.url(), &[tariff]).unwrap();
    assert_eq!(i128::from(priced[0].job_n), counted);
}

/// An explanation showed usage that `usage` does not hold.
#[test]
fn a_refused_job_is_explained_with_its_refusal() {
    let scene = scene();
    let lake = scene.path("lake");
    let refused = rows(&scene, "rejects");
    let detail = text(&refused[0], "detail").unwrap().value(0);
    let job = detail
        .split_whitespace()
        .find_map(|word| word.parse::<u32>().ok())
        .unwrap();
    let explained = explain(lake.to_str().unwrap(), &job.to_string(), &scene.path("")).unwrap();
    assert_eq!(explained[0].refused, Some("sum_limit"));
    assert!(explained[0].usage.is_empty() && explained[0].charges.is_empty());
    let page = explained[0].text();
    assert!(page.contains("the record is refused (sum_limit"), "{page}");
    let plain = explain(lake.to_str().unwrap(), "205", &scene.path("")).unwrap();
    assert!(plain[0].refused.is_none() && plain[0].usage.len() == 1);
}
