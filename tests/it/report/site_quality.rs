//! What the page of a site states about its data: of which VOs flags are, and where rows went of which no site is known.

use gridtally::report::lake::{Lake, Selection};
use gridtally::report::site::data::SiteData;
use gridtally::report::site::page;

use super::scene::Scene;

const HEADER: &str = "JobIDRaw|Cluster|User|Account|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU\n";

/// A job of one core that ran for an hour.
fn job(id: u32, account: &str, elapsed: &str, cpu: &str) -> String {
    format!(
        "{id}|ice|u|{account}|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|{elapsed}|COMPLETED|1|cpu=1,node=1|{cpu}\n"
    )
}

fn source(name: &str, site: &str) -> String {
    format!(
        "format = \"sacct\"\npaths = [\"{name}.txt\"]\nsite = \"{site}\"\ntimezone = \"UTC\"\nvo = {{ column = \"account\" }}\n"
    )
}

/// The page of S, limited to VOs.
fn board(lake: &Lake, vos: &[&str]) -> String {
    let selection = Selection {
        vos: vos.iter().map(|vo| (*vo).to_owned()).collect(),
        ..Selection::default()
    };
    page::write(&SiteData::read(lake, "S", &selection).unwrap()).unwrap()
}

#[test]
fn rows_refused_before_their_site_was_known_are_listed_by_source() {
    let scene = Scene::new();
    let rows = [job(1, "kelp", "3600", "00:10:00"), job(2, "kelp", "x5", "00:10:00")];
    scene.write("s.txt", &(HEADER.to_owned() + &rows.concat()));
    scene.write(
        "other.txt",
        &(HEADER.to_owned() + &job(3, "kelp", "3600", "00:10:00") + &job(4, "kelp", "x6", "00:10:00")),
    );
    // Refused rows of a source that has no row of the site are of other sites.
    let rest = format!("[[source]]\nname = \"other\"\n{}", source("other", "T"));
    let lake = scene.lake("lake", &source("s", "S"), &rest);
    let page = board(&lake, &[]);
    let (_, refused) = page
        .split_once("<h3>Rows without a site of the same sources</h3>")
        .unwrap();
    let (refused, _) = refused.split_once("</section>").unwrap();
    let row = "<td>s</td><td>rejected</td><td>bad_number</td><td class=\"n\">1</td>";
    assert!(refused.contains(row), "{refused}");
    assert_eq!(refused.matches("<td>rejected</td>").count(), 1, "{refused}");
    // Without refused rows there is no such table.
    scene.write("s.txt", &(HEADER.to_owned() + &rows[0]));
    let lake = scene.lake("clean", &source("s", "S"), "");
    assert!(!board(&lake, &[]).contains("Rows without a site"));
}

#[test]
fn a_page_that_is_limited_to_vos_names_them_and_counts_their_flags() {
    let scene = Scene::new();
    let rows = [
        job(1, "kelp", "3600", ""),
        job(2, "kelp", "3600", "00:10:00"),
        job(3, "moss", "3600", ""),
        job(4, "moss", "3600", "09:00:00"),
    ];
    scene.write("s.txt", &(HEADER.to_owned() + &rows.concat()));
    let lake = scene.lake("lake", &source("s", "S"), "");
    let flag = |page: &str, name: &str| {
        let (_, rest) = page.split_once(&format!("<td>{name}</td><td class=\"n\">"))?;
        Some(rest.split_once('<').unwrap().0.to_owned())
    };
    let count = |n: &str| Some(n.to_owned());
    let all = board(&lake, &[]);
    assert_eq!(flag(&all, "is_cpu_unknown"), count("2"));
    assert_eq!(flag(&all, "is_cpu_above_core_wall"), count("1"));
    assert!(all.contains("<title>S: usage and work</title>") && all.contains("<dd>all VOs, 2026-03</dd>"));
    assert!(!all.contains("This page is limited to"), "{all}");
    let kelp = board(&lake, &["KELP"]);
    assert_eq!(flag(&kelp, "is_cpu_unknown"), count("1"));
    assert_eq!(flag(&kelp, "is_cpu_above_core_wall"), None);
    for stated in [
        "<title>S, VO KELP: usage and work</title>",
        "This page is limited to VO KELP: other usage of the site is not in it.",
        "<dt>selection</dt><dd>VO KELP, 2026-03</dd>",
        "All that was read for the site, whatever its month and VO.",
    ] {
        assert!(kelp.contains(stated), "{stated} is not in {kelp}");
    }
    assert!(board(&lake, &["kelp", "moss"]).contains("<title>S, VOs kelp, moss: usage and work</title>"));
}
