//! Tables of federations against what was published, and against numbers worked by hand.

use std::collections::BTreeMap;

use gridtally::reference::federation_site::FederationSites;
use gridtally::reference::pledge::Pledges;
use gridtally::report::apel::users::Users;
use gridtally::report::federation::{gather, sums_by};
use gridtally::report::gracc::table;
use gridtally::report::lake::Selection;
use gridtally::report::render::{TableFormat, objects, render};
use gridtally::report::work_scale::WorkScale;
use gridtally::report::{osg, portal};
use gridtally::time::DaySpan;

use super::scene::Scene;
use crate::support::collect::shared;

/// Six months of per-user messages in hours: our report is the published one, line by line, but for one line that the
/// publisher's own script cut: it dropped the first record of the file.
#[test]
fn the_osg_report_is_the_published_one() {
    let Some(folder) = shared("the_osg_report_is_the_published_one", "data/gracc/gratia-monthly") else {
        return;
    };
    let scene = Scene::new();
    let mut differing = Vec::new();
    let mut lines = 0;
    for name in ["2012-11", "2013-03", "2013-06", "2013-09", "2014-01", "2014-06"] {
        let messages = folder.join(format!("{name}.apel-messages"));
        let published = std::fs::read_to_string(folder.join(format!("{name}.summary.dat"))).unwrap();
        let source = format!("format = \"apel\"\npaths = [{messages:?}]\nacceptance = \"salvage\"\n");
        let lake = scene.lake(name, &source, "");
        // The federation's data about its sites is printed next to its numbers.
        let mut sites = BTreeMap::new();
        for line in published.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let resources = fields[12].replace('"', "").replace(',', ";");
            sites.insert(
                fields[0],
                format!("{},{},{},{resources}\n", fields[0], fields[11], fields[1]),
            );
        }
        let table = sites
            .values()
            .fold("site,federation,norm_factor,resources\n".to_owned(), |text, site| {
                text + site
            });
        scene.write("sites.csv", &table);
        let sites = FederationSites::load(&scene.path("sites.csv")).unwrap();
        let usage = gather(&lake, &Selection::default()).unwrap();
        let at = published.lines().next().unwrap().split('\t').nth(10).unwrap();
        let ours = osg::summary_dat(&osg::report(&usage.groups, WorkScale::Hs06, &sites, at).unwrap());
        let key = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            (fields[0].to_owned(), fields[2].to_owned())
        };
        // The days of local midnights are compared apart: the messages name instants.
        let rest = |line: &str| {
            let mut fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
            fields.drain(8..11);
            fields
        };
        let ours: BTreeMap<_, _> = ours.lines().map(|line| (key(line), rest(line))).collect();
        assert_eq!(ours.len(), published.lines().count());
        for line in published.lines() {
            lines += 1;
            let mine = &ours[&key(line)];
            if *mine != rest(line) {
                differing.push((name, mine.clone(), rest(line)));
            }
        }
    }
    assert_eq!(lines, 188);
    let [(name, ours, published)] = differing.as_slice() else {
        panic!("{differing:?}");
    };
    let first = std::fs::read_to_string(folder.join(format!("{name}.apel-messages"))).unwrap();
    let first = first.split("%%").next().unwrap();
    let of_first = |key: &str| {
        let line = first.lines().find(|line| line.starts_with(&format!("{key}:"))).unwrap();
        line.split_once(": ").unwrap().1.trim().parse::<i64>().unwrap()
    };
    let keys = [
        (3, "NumberOfJobs"),
        (4, "CpuDuration"),
        (5, "WallDuration"),
        (6, "NormalisedCpuDuration"),
        (7, "NormalisedWallDuration"),
    ];
    for (at, key) in keys {
        let number = |row: &[String]| row[at].parse::<i64>().unwrap();
        assert_eq!(number(ours) - number(published), of_first(key), "{key}");
    }
    assert_eq!((ours[0].as_str(), ours[2].as_str()), ("AGLT2", "atlas"));
}

const MESSAGES: &str = "APEL-summary-job-message: v0.4\n\
    Site: S\nMonth: 2\nYear: 2025\nVO: Reef\nSubmitHost: ce1\nInfrastructureType: grid\nNodeCount: 1\nProcessors: 8\n\
    WallDuration: 360000\nCpuDuration: 2160000\nNumberOfJobs: 10\nServiceLevel: {hepspec: 10}\n%%\n\
    Site: S\nMonth: 2\nYear: 2025\nVO: Reef\nSubmitHost: ce2\nInfrastructureType: local\nNodeCount: 1\nProcessors: 0\n\
    WallDuration: 36000\nCpuDuration: 18000\nNumberOfJobs: 1\nServiceLevel: {HEPscore23: 20}\n%%\n\
    Site: S\nMonth: 4\nYear: 2025\nVO: Reef\nSubmitHost: ce1\nInfrastructureType: grid\nNodeCount: 1\nProcessors: 1\n\
    WallDuration: 3600\nCpuDuration: 3600\nNumberOfJobs: 1\nServiceLevel: {hepspec: 10}\n%%\n";

#[test]
fn portals_show_hours_work_both_efficiencies_and_pledges() {
    let scene = Scene::new();
    scene.write("in/1.msg", MESSAGES);
    scene.write("sites.csv", "site,federation,country,ngi,tier\nS,F,Coral,NGI_C,2\n");
    scene.write(
        "pledges.csv",
        "federation,vo,pledge_year,power\nF,reef,2024,100\nF,reef,2025,10\n",
    );
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    let usage = gather(&lake, &Selection::default()).unwrap();
    let csv = |table| String::from_utf8(render(&table, TableFormat::Csv).unwrap()).unwrap();
    // 100 h on 8 cores of 10, 600 h of CPU; 10 h on unknown cores of 20, 5 h of CPU.
    let egi = csv(portal::egi(&usage.groups, WorkScale::Hs23).unwrap());
    let lines: Vec<&str> = egi.lines().collect();
    assert_eq!(
        lines[1],
        "S,Reef,2025-02,11,605.00,6100.00,110.00,1200.00,810.00,8200.00,74.4,74.7,0,1,0"
    );
    assert_eq!(
        lines[2],
        "S,Reef,2025-04,1,1.00,10.00,1.00,10.00,1.00,10.00,100.0,100.0,0,0,0"
    );
    let hs06 = csv(portal::egi(&usage.groups, WorkScale::Hs06).unwrap());
    assert!(
        hs06.contains("S,Reef,2025-02,11,605.00,6000.00,110.00,1000.00,810.00,8000.00,75.0,74.7,1,1"),
        "{hs06}"
    );
    let sites = FederationSites::load(&scene.path("sites.csv")).unwrap();
    let pledges = Pledges::load(&scene.path("pledges.csv")).unwrap();
    let wlcg = csv(portal::wlcg(&usage.groups, WorkScale::Hs23, &sites, &pledges).unwrap());
    let lines: Vec<&str> = wlcg.lines().collect();
    // February 2025 is of the pledge year that began in April 2024: 100 x 28 x 24 h; April of the next: 10 x 30 x 24.
    assert_eq!(
        lines[1],
        "F,S,Reef,2024,2025-02,11,605.00,6100.00,810.00,8200.00,8000.00,200.00,0.00,74.7,74.4,67200,12.2,0"
    );
    assert_eq!(
        lines[2],
        "F,S,Reef,2025,2025-04,1,1.00,10.00,1.00,10.00,10.00,0.00,0.00,100.0,100.0,7200,0.1,0"
    );
    // Work is named by unit and scale.
    let table = portal::egi(&usage.groups, WorkScale::Hs23).unwrap();
    let units: Vec<&str> = table.columns.iter().map(|column| column.unit).collect();
    assert_eq!(
        units.iter().filter(|unit| **unit == "HS23-hours").count(),
        3,
        "{units:?}"
    );
    // What no job of a row could be scaled to is blank, not zero.
    let osg = osg::summary_dat(&osg::report(&usage.groups, WorkScale::Hs23Only, &sites, "now").unwrap());
    let april = osg.lines().nth(1).unwrap();
    assert!(april.starts_with("S\t\tReef\t1\t1\t1\t\t\t"), "{april}");
    let export = csv(portal::export(&usage.groups, WorkScale::Hs23, &sites).unwrap());
    assert_eq!(
        export.lines().nth(2).unwrap(),
        "2025-02-01T00:00:00Z,hs23,ce2,Coral,F,Grid-Local,S,2,Reef,NGI_C,1,50.0,5.00,100.00,10.00,200.00"
    );
}

/// Our documents of the real dumps come to the golden totals of each resource type.
#[test]
fn gracc_documents_add_up_to_the_dump() {
    let Some(folder) = shared("gracc_documents_add_up_to_the_dump", "data/gracc/es-dump") else {
        return;
    };
    let mut found: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
    found.sort();
    let dump = found.iter().find(|path| {
        let name = path.to_string_lossy();
        name.contains("raw2-2016.06") && !name.contains("transfer")
    });
    let dump = dump.expect("the dump of June 2016");
    let scene = Scene::new();
    let lake = scene.lake("lake", &format!("format = \"gracc\"\npaths = [{dump:?}]\n"), "");
    let mut totals: BTreeMap<String, (i64, f64, f64, f64)> = BTreeMap::new();
    let documents = objects(&table(&lake, &Selection::default(), &Users::Keep).unwrap().0).unwrap();
    for line in &documents {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        // Unknown CPU time is null.
        let number = |key: &str| document[key].as_f64().unwrap_or_default();
        let of = totals
            .entry(document["ResourceType"].as_str().unwrap().to_owned())
            .or_default();
        of.0 += document["Count"].as_i64().unwrap();
        of.1 += number("WallDuration");
        of.2 += number("CpuDuration");
        of.3 += number("CoreHours");
        assert!(document["EndTime"].as_str().unwrap().ends_with("T00:00:00.000Z"));
    }
    assert!(documents.len() > 150, "{}", documents.len());
    for (kind, expected) in [
        ("Batch", (355, 6_813_777.0, 8_577_071.9, 3_334.506_944)),
        ("Payload", (433, 1_503_854.0, 724_732.0, 425.457_222)),
    ] {
        let ours = totals[kind];
        assert_eq!(ours.0, expected.0);
        for (mine, golden) in [(ours.1, expected.1), (ours.2, expected.2), (ours.3, expected.3)] {
            assert!((mine - golden).abs() < 0.001, "{kind}: {mine} {golden}");
        }
    }
    assert_eq!(totals["Storage"].0, 212);
}

/// Months that were published in several versions: the numbers in reports, counted row by row as APEL's server does and
/// by publication. The totals are the real server's.
#[test]
fn months_in_several_versions_are_reported_by_upsert_or_by_snapshot() {
    let test = "months_in_several_versions_are_told_by_upsert_or_by_snapshot";
    let Some(folder) = shared(test, "data/apel/real-2015") else {
        return;
    };
    let scene = Scene::new();
    let paths = format!("{}/*.msg", folder.display());
    // Jobs and normalised CPU seconds of May, June and August.
    for (way, expected) in [
        (
            "upsert",
            [
                (5, 10_890_670, 1_499_345_074_562),
                (6, 10_625_679, 1_544_307_599_503),
                (8, 12_944_271, 1_709_754_766_406),
            ],
        ),
        (
            "snapshot",
            [
                (5, 10_890_306, 1_499_284_801_443),
                (6, 10_622_941, 1_544_264_126_916),
                (8, 11_001_806, 1_478_468_621_344),
            ],
        ),
    ] {
        let source = format!(
            "format = \"apel\"\npaths = [{paths:?}]\nacceptance = \"strict-apel\"\npublication = \"source\"\nsummaries = \"{way}\"\n"
        );
        let lake = scene.lake(way, &source, "");
        for (number, jobs, cpu_work_s) in expected {
            let month = gridtally::time::Month::new(2015, number);
            let selection = Selection {
                days: DaySpan::of_months(month, month),
                ..Selection::default()
            };
            let usage = gather(&lake, &selection).unwrap();
            let all = sums_by(&usage.groups, WorkScale::Hs06, |_| ()).unwrap();
            assert_eq!(
                (all[&()].job_n, all[&()].cpu_work_e9),
                (jobs, cpu_work_s * 1_000_000_000),
                "{way} {number}"
            );
            // The tables contain the same.
            let table = portal::egi(&usage.groups, WorkScale::Hs06).unwrap();
            assert_eq!(table.totals().unwrap().unwrap()[3].to_string(), jobs.to_string());
            let report = osg::report(&usage.groups, WorkScale::Hs06, &FederationSites::default(), "now").unwrap();
            assert_eq!(report.totals().unwrap().unwrap()[3].to_string(), jobs.to_string());
        }
    }
}

#[test]
fn every_mistake_of_the_tables_of_a_federation_has_its_line() {
    let scene = Scene::new();
    scene.write("sites.csv", "site,tier\nS,2\n,1\nS,1\n");
    scene.write(
        "pledges.csv",
        "federation,vo,pledge_year,power\nF,reef,2025,1\nF,Reef,2025,2\nF,,2025,2\nF,reef,next,2\nF,reef,2024,-1\n",
    );
    let sites = FederationSites::load(&scene.path("sites.csv")).unwrap_err().to_string();
    for mistake in [
        "sites.csv:3: the row names no site",
        "sites.csv:4: the site \"S\" is named twice",
    ] {
        assert!(sites.contains(mistake), "{sites}");
    }
    let pledges = Pledges::load(&scene.path("pledges.csv")).unwrap_err().to_string();
    for mistake in [
        "pledges.csv:3: F pledges for reef in 2025 twice",
        "pledges.csv:4: vo is missing",
        "pledges.csv:5: pledge_year: \"next\" is not a year",
        "pledges.csv:6: power: \"-1\" is not a whole number",
    ] {
        assert!(pledges.contains(mistake), "{pledges}");
    }
}
