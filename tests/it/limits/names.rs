//! Names that cannot be part of a folder name are refused where they are read.

use arrow_array::Array;
use arrow_array::cast::AsArray;

use super::{DUMPS, HEADER, Scene, pipeline, rejects, row, rows};

/// Most bytes of a name, once encoded.
const MOST: usize = 200;

#[test]
fn a_name_too_long_for_a_folder_is_refused_with_its_line() {
    let long = "v".repeat(MOST + 1);
    // An encoded byte takes three.
    let encoded = "é".repeat(MOST / 6 + 1);
    let fits = "w".repeat(MOST);
    for (key, is_site) in [("site = { column = \"partition\" }", true), ("site = \"S\"", false)] {
        let scene = Scene::new();
        let names = [
            long.as_str(),
            &encoded,
            &fits,
            ".",
            "..",
            "a/b",
            "a=b",
            "CON",
            " x ",
            "%2F",
        ];
        let rows: String = (1..)
            .zip(names)
            .map(|(id, name)| row(id, &[("Partition", name)]))
            .collect();
        scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
        let vo = if is_site {
            "vo = { value = \"v\" }"
        } else {
            "vo = { column = \"partition\" }"
        };
        let report = scene.run(&pipeline(&format!("{DUMPS}\n{key}\n{vo}"), ""));
        assert_eq!(
            report.reasons.get("rejected/name_too_long"),
            Some(&2),
            "{}",
            report.text()
        );
        assert_eq!(report.reasons.get("accepted/job"), Some(&8), "{}", report.text());
        let refused = &report.refused[0];
        let reported = serde_json::to_value(refused).unwrap();
        assert_eq!(reported["path"], "dumps/a.txt");
        assert_eq!(reported["reasons"][0]["reason"], "name_too_long");
        assert_eq!(reported["reasons"][0]["first"]["line"], 2);
        let detail = reported["reasons"][0]["first"]["detail"].as_str().unwrap();
        assert!(detail.contains(if is_site { "the site" } else { "the VO" }), "{detail}");
    }
}

/// Texts of 64 MiB were kept: 32 such rows did not fit a column of Arrow, and every later night of their month ended.
#[test]
fn a_job_with_more_text_than_any_job_has_is_refused_with_its_line() {
    let scene = Scene::new();
    let long = "n".repeat(30_001);
    let jobs = [("Cluster", &*long), ("User", &*long), ("User", &long[..29_000])];
    let jobs: String = (1..)
        .zip(jobs)
        .map(|(id, (column, text))| row(id, &[(column, text)]))
        .collect();
    scene.write("dumps/a.txt", HEADER.to_owned() + &jobs);
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    let report = scene.run(&pipeline(&source, ""));
    assert_eq!(report.reasons.get("rejected/too_long"), Some(&2), "{}", report.text());
    assert_eq!(report.reasons.get("accepted/job"), Some(&1), "{}", report.text());
    let reported = serde_json::to_value(&report.refused[0]).unwrap();
    assert_eq!(reported["reasons"][0]["first"]["line"], 2);
    let refused = |line| ("dumps/a.txt".to_owned(), line, "too_long".to_owned());
    assert_eq!(rejects(&scene), [refused(2), refused(3)]);
}

#[test]
fn a_list_of_nodes_too_long_is_dropped_and_its_job_is_marked() {
    let scene = Scene::new();
    let nodes = |n: u32| (0..n).map(|n| format!("node-{n:05}")).collect::<Vec<_>>().join(",");
    let lists = [nodes(2_500), nodes(3_500)];
    let jobs: String = lists
        .iter()
        .zip(1..)
        .map(|(list, id)| row(id, &[("NodeList", list)]))
        .collect();
    scene.write("dumps/a.txt", HEADER.to_owned() + &jobs);
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    let report = scene.run(&pipeline(&source, ""));
    assert_eq!(report.reasons.get("accepted/job"), Some(&2), "{}", report.text());
    let records = rows(&scene, "records");
    let dropped = records
        .iter()
        .map(|batch| batch["is_value_dropped"].as_boolean().true_count());
    let listed = records
        .iter()
        .map(|batch| batch.num_rows() - batch["node_list"].null_count());
    assert_eq!((dropped.sum::<usize>(), listed.sum::<usize>()), (1, 1));
}

#[test]
fn summaries_with_a_name_too_long_are_refused() {
    let scene = Scene::new();
    let long = "v".repeat(MOST + 1);
    let record = |site: &str, vo: &str| {
        format!(
            "Site: {site}\nMonth: 3\nYear: 2017\nVO: {vo}\nNodeCount: 1\nProcessors: 8\nWallDuration: 100\n\
             CpuDuration: 50\nNumberOfJobs: 2\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
        )
    };
    let text = format!(
        "APEL-summary-job-message: v0.2\n{}{}{}",
        record("S", "v"),
        record(&long, "v"),
        record("S", &long)
    );
    scene.write("dumps/a", text);
    let report = scene.run(&pipeline("format = \"apel\"\npaths = [\"dumps\"]", ""));
    assert_eq!(
        report.reasons.get("rejected/name_too_long"),
        Some(&2),
        "{}",
        report.text()
    );
    assert_eq!(
        report.reasons.get("accepted/summary_record"),
        Some(&1),
        "{}",
        report.text()
    );
}

#[test]
fn inspect_counts_names_that_are_too_long() {
    let scene = Scene::new();
    let long = "v".repeat(MOST + 1);
    let text = format!(
        "APEL-individual-job-message: v0.3\nSite: {long}\nSubmitHost: h\nMachineName: m\nLocalJobId: 1\nLocalUserId: u\n\
         WallDuration: 10\nCpuDuration: 5\nStartTime: 1769608257\nEndTime: 1769608267\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
    );
    scene.write("a", text);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["inspect", "a"])
        .current_dir(scene.path("."))
        .output()
        .unwrap();
    let reported = String::from_utf8(output.stdout).unwrap();
    assert!(reported.contains("name_too_long"), "{reported}");
}

#[test]
fn names_of_the_configuration_that_are_too_long_are_mistakes() {
    let long = "n".repeat(MOST + 1);
    let tables = [
        ("vo.csv", format!("account,to_vo\na,{long}\n")),
        ("site.csv", format!("cluster,to_site\noak,{long}\n")),
        ("fix.csv", format!("vo_name,to_vo\nx,{long}\n")),
        ("known.csv", format!("VO\n{long}\n")),
        (
            "topology.csv",
            format!("Facility,Site,ResourceGroup,Resource,FQDN\nf,s,{long},r,h\n"),
        ),
        (
            "corrections.csv",
            format!("id,action,author,reason,date,account,to_vo\n1,remap,me,why,2026-01-01,a,{long}\n"),
        ),
        (
            "nodes.csv",
            format!(
                "site,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core\n{long},t,1,1,1,hs06,10\n"
            ),
        ),
    ];
    let source = |keys: &str| format!("{DUMPS}\n{keys}");
    let vo = "vo = { value = \"v\" }";
    for (text, place) in [
        (pipeline(&source(&format!("site = \"{long}\"\n{vo}")), ""), "p.toml:10:"),
        (
            pipeline(&source(&format!("site = \"S\"\nvo = {{ value = \"{long}\" }}")), ""),
            "p.toml:11:",
        ),
        (
            pipeline(&source(&format!("site = \"S\"\n{vo}")), "").replacen(
                "name = \"oak\"\nformat",
                &format!("name = \"{long}\"\nformat"),
                1,
            ),
            "p.toml:6:",
        ),
        (
            pipeline(&source("site = \"S\"\nvo = { table = \"vo.csv\" }"), ""),
            "vo.csv:2:",
        ),
        (
            pipeline(&source(&format!("site = {{ table = \"site.csv\" }}\n{vo}")), ""),
            "site.csv:2:",
        ),
        (
            pipeline(&source("site = \"S\"\nvo = { corrections = \"fix.csv\" }"), ""),
            "fix.csv:2:",
        ),
        (
            pipeline(&source("site = \"S\"\nvo = { known = \"known.csv\" }"), ""),
            "known.csv:2:",
        ),
        (
            pipeline(&source(&format!("site = {{ topology = \"topology.csv\" }}\n{vo}")), ""),
            "topology.csv:2:",
        ),
        (
            pipeline(&source(&format!("site = \"S\"\n{vo}")), "")
                .replace("\"lake\"", "\"lake\"\ncorrections = \"corrections.csv\""),
            "corrections.csv:2:",
        ),
        (
            pipeline(
                &source(&format!("site = \"S\"\n{vo}")),
                "[capacity]\nnode_types = \"nodes.csv\"",
            ),
            "nodes.csv:2:",
        ),
        (
            pipeline(
                &source(&format!("site = \"S\"\n{vo}")),
                &format!("[[inventory]]\nname = \"nodes\"\npaths = [\"dumps\"]\nsite = \"{long}\""),
            ),
            "p.toml:15:",
        ),
    ] {
        let scene = Scene::new();
        for (name, table) in &tables {
            scene.write(name, table);
        }
        scene.write("dumps/a.txt", HEADER.to_owned() + &row(1, &[]));
        let reported = scene.try_run(&text).unwrap_err();
        assert_eq!(reported.kind(), gridtally::error::Kind::Config, "{reported}");
        let reported = reported.to_string();
        assert!(
            reported.contains(place) && reported.contains("is too long to name a folder"),
            "{place}: {reported}"
        );
    }
}
