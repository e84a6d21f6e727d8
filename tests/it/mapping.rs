//! VO and site by rules: which rule fires, and that nothing is made up.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::Command;

use gridtally::diagnostics::Problems;
use gridtally::record::JobRow;
use gridtally::reference::site::{SiteColumn, SiteRule, SiteTable};
use gridtally::reference::topology::{Topology, TopologyLevel};
use gridtally::reference::vo_corrections::{VoCorrections, VoOrigin};

use crate::support::collect::shared;
use crate::support::tar::{gzip, tar};

fn corrections(text: &str) -> (VoCorrections, Vec<String>) {
    let mut problems = Problems::default();
    let mut table = VoCorrections::default();
    table.read(text.as_bytes(), "vo.csv", &mut problems);
    (table, mistakes(problems))
}

fn mistakes(problems: Problems) -> Vec<String> {
    problems.finish().map_or_else(
        |error| error.to_string().lines().map(str::to_owned).collect(),
        |_| Vec::new(),
    )
}

#[test]
fn vo_names_are_put_right_by_the_first_rule_that_knows_them() {
    let (table, mistakes) = corrections(
        "vo_name,reportable_vo,to_vo\n\
         /nanohub/Role=NULL/Capability=NULL,nanohub,NanoHub\n\
         /osg/LocalGroup=external,,osg\n\
         osg.mab,mab,mab\n\
         osg.mab,*,other-mab\n",
    );
    assert_eq!(mistakes, Vec::<String>::new());
    for (name, reportable, vo, origin) in [
        (
            Some("/nanohub/Role=NULL/Capability=NULL"),
            Some("nanohub"),
            Some("NanoHub"),
            VoOrigin::Correction,
        ),
        // Both names must be those of the table, letter case included; then the path decides.
        (
            Some("/nanohub/Role=NULL/Capability=NULL"),
            Some("x"),
            Some("NanoHub"),
            VoOrigin::CaseFold,
        ),
        (
            Some("/osg/LocalGroup=external"),
            Some("anything"),
            Some("osg"),
            VoOrigin::Correction,
        ),
        (Some("osg.mab"), Some("mab"), Some("mab"), VoOrigin::Correction),
        (Some("osg.mab"), None, Some("other-mab"), VoOrigin::Correction),
        (Some("/osg/Role=pilot"), None, Some("osg"), VoOrigin::FirstPathElement),
        (Some("osg"), None, Some("osg"), VoOrigin::Known),
        (Some("OSG"), None, Some("osg"), VoOrigin::CaseFold),
        (Some("/OSG/x"), None, Some("osg"), VoOrigin::CaseFold),
        // Without known VOs other names stay as the record has them.
        (Some("minos"), Some("minos"), Some("minos"), VoOrigin::Unlisted),
        (Some("/atlas/usatlas"), Some("atlas"), Some("atlas"), VoOrigin::Unlisted),
        (Some("Unknown"), Some("Unknown"), None, VoOrigin::Sentinel),
        (Some("N/A"), None, None, VoOrigin::Sentinel),
        (None, Some("osg"), Some("osg"), VoOrigin::Known),
        (Some(" "), None, None, VoOrigin::Missing),
        (None, None, None, VoOrigin::Missing),
    ] {
        let row = JobRow {
            vo_name: name,
            vo: reportable,
            ..JobRow::default()
        };
        assert_eq!(table.resolve(&row), (vo, origin), "{name:?} {reportable:?}");
    }
    let mut table = table;
    let mut problems = Problems::default();
    table.read_known("VO\nminos\n".as_bytes(), "vos.csv", &mut problems);
    assert_eq!(self::mistakes(problems), Vec::<String>::new());
    for (name, reportable, vo, origin) in [
        ("minos", "minos", Some("minos"), VoOrigin::Known),
        ("kelp", "nanohub", Some("NanoHub"), VoOrigin::ReportableName),
        ("/atlas/usatlas", "atlas", None, VoOrigin::Unmapped),
    ] {
        let row = JobRow {
            vo_name: Some(name),
            reportable_vo: Some(reportable),
            vo: Some(name),
            ..JobRow::default()
        };
        assert_eq!(table.resolve(&row), (vo, origin), "{name} {reportable}");
    }
    let (_, mistakes) = corrections("vo_name,to_vo,extra\na,,\n,b,\n");
    assert_eq!(mistakes.len(), 3, "{mistakes:#?}");
    let (_, mistakes) = corrections("name,vo\na,b\n");
    assert_eq!(mistakes.len(), 4, "{mistakes:#?}");
}

#[test]
fn sites_come_from_columns_and_tables() {
    let row = JobRow {
        view: "batch",
        site: Some("AGLT2_CE_2"),
        cluster: Some("htcondor-ce:gate02.example.org"),
        submit_host: Some("gate02.example.org"),
        ..JobRow::default()
    };
    let mut problems = Problems::default();
    let table = SiteTable::read(
        "cluster,view,to_site\nhtcondor-ce:gate02.example.org,payload,P\nhtcondor-ce:gate02.example.org,,AGLT2\n*,storage,S\n"
            .as_bytes(),
        "sites.csv",
        &mut problems,
    );
    assert_eq!(mistakes(problems), Vec::<String>::new());
    assert_eq!(table.lookup(&row), Some("AGLT2"));
    assert_eq!(
        table.lookup(&JobRow {
            view: "payload",
            ..row.clone()
        }),
        Some("P")
    );
    let elsewhere = JobRow {
        cluster: Some("x"),
        ..row.clone()
    };
    assert_eq!(table.lookup(&elsewhere), None);
    assert_eq!(
        table.lookup(&JobRow {
            view: "storage",
            ..elsewhere.clone()
        }),
        Some("S")
    );
    let rule = SiteRule::Table(table.into());
    assert_eq!(rule.site(&row), (Some("AGLT2"), Some("table")));
    // What no row knows keeps its own name, and is counted.
    assert_eq!(rule.site(&elsewhere), (Some("AGLT2_CE_2"), Some("unmapped")));
    assert_eq!(SiteRule::Record.site(&row), (Some("AGLT2_CE_2"), None));
    let rule = SiteRule::Column(SiteColumn::SubmitHost);
    assert_eq!(rule.site(&row), (Some("gate02.example.org"), Some("submit_host")));
}

const RESOURCES: &str = "Facility,Site,ResourceGroup,Resource,FQDN,Active\n\
    Uni A,A-Site,A-Group,A-CE,ce.a.example.org,True\n\
    Uni B,B-Site,B-Group,B-CE,ce.b.example.org,True\n\
    Uni C,B-Site,C-Group,C-CE,ce.a.example.org,True\n";

#[test]
fn a_topology_finds_resources_as_gracc_does() {
    let mut problems = Problems::default();
    let topology = Topology::read(RESOURCES.as_bytes(), "resources.csv", &mut problems);
    assert_eq!(mistakes(problems), Vec::<String>::new());
    let batch = |probe, site| JobRow {
        view: "batch",
        cluster: Some(probe),
        site: Some(site),
        ..JobRow::default()
    };
    let payload = |site| JobRow {
        view: "payload",
        cluster: Some("condor:ce.a.example.org"),
        site: Some("A-CE"),
        payload_site: site,
        ..JobRow::default()
    };
    for (row, level, found) in [
        // The host of the probe, in any letter case; of two resources with one host the first.
        (
            batch("htcondor-ce:CE.a.example.org", "B-CE"),
            TopologyLevel::ResourceGroup,
            Some(("A-Group", "probe_fqdn")),
        ),
        (
            batch("slurm:elsewhere", "b-ce"),
            TopologyLevel::ResourceGroup,
            Some(("B-Group", "resource_name")),
        ),
        (
            batch("slurm:elsewhere", "b-ce"),
            TopologyLevel::Facility,
            Some(("Uni B", "resource_name")),
        ),
        (batch("slurm:elsewhere", "B-Site"), TopologyLevel::Site, None),
        // A payload ran at the site it names, not at that of its submit host.
        (
            payload(Some("C-CE")),
            TopologyLevel::ResourceGroup,
            Some(("C-Group", "payload_resource")),
        ),
        (
            payload(Some("b-site")),
            TopologyLevel::Site,
            Some(("B-Site", "payload_site")),
        ),
        (
            payload(Some("A-Group")),
            TopologyLevel::Site,
            Some(("A-Site", "payload_resource_group")),
        ),
        (payload(Some("wisc.edu")), TopologyLevel::Site, None),
        (payload(None), TopologyLevel::Site, None),
    ] {
        assert_eq!(topology.find(&row, level), found, "{row:?}");
    }
}

fn hit(n: u32, vo: &str, probe: &str) -> String {
    format!(
        r#"{{"_index":"gracc.osg.raw3-2020.01","_id":"{n}","_source":{{"type":"JobUsageRecord","SiteName":"B-CE","ProbeName":"{probe}","LocalJobId":"{n}","VOName":"{vo}","StartTime":"2020-01-01T00:00:00Z","EndTime":"2020-01-01T01:00:00Z","WallDuration":3600,"CpuDuration":1800,"Processors":1}}}}"#
    )
}

/// End to end: a packed archive in a pipeline with rules, and the report of the rules that matched.
#[test]
fn a_run_counts_the_rules_that_fired_and_the_does_not_name_one_knew() {
    let house = tempfile::tempdir().unwrap();
    let path = |name: &str| house.path().join(name);
    let lines = [
        hit(1, "/osg/LocalGroup=external", "condor:ce.a.example.org"),
        hit(2, "OSG", "condor:ce.a.example.org"),
        hit(3, "/osg/Role=NULL", "condor:nowhere"),
        hit(4, "nobody", "condor:ce.a.example.org"),
        hit(5, "Unknown", "condor:ce.a.example.org"),
        "garbage".to_owned(),
    ]
    .join("\n");
    let element = br#"{"_index":"gracc.osg.raw3-2020.01","_source":{"type":"StorageElement","SiteName":"B-CE"}}"#;
    let archive = gzip(&tar(&[
        ("day/raw.ndjson", lines.as_bytes()),
        ("day/element.ndjson", element),
    ]));
    std::fs::write(path("day.tar.gz"), archive).unwrap();
    std::fs::write(path("vo.csv"), "vo_name,to_vo\n/osg/LocalGroup=external,osg\n").unwrap();
    std::fs::write(path("resources.csv"), RESOURCES).unwrap();
    let pipeline = "[pipeline]\nname = \"m\"\noutput = \"out\"\nmax_rejected = 1\n[[source]]\nname = \"g\"\nformat = \"auto\"\n\
                    paths = [\"day.tar.gz\"]\nvo = { corrections = \"vo.csv\" }\n\
                    site = { topology = \"resources.csv\", level = \"resource_group\" }\n";
    std::fs::write(path("m.toml"), pipeline).unwrap();
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["run", "m.toml", "--report", "json"])
            .current_dir(house.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report
    };
    let report = run();
    let counts =
        |value: &serde_json::Value| -> BTreeMap<String, u64> { serde_json::from_value(value.clone()).unwrap() };
    let of = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
        pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
    };
    let mapping = &report["sources"]["g"]["mapping"];
    let expected = of(&[
        ("case_fold", 1),
        ("correction", 1),
        ("first_path_element", 1),
        ("sentinel", 1),
        ("unlisted", 1),
    ]);
    assert_eq!(counts(&mapping["vo_rules"]), expected);
    assert_eq!(counts(&mapping["vo_unmapped"]), of(&[("Unknown", 1)]));
    assert_eq!(
        counts(&mapping["site_rules"]),
        of(&[("probe_fqdn", 4), ("resource_name", 1)])
    );
    assert_eq!(counts(&mapping["site_unmapped"]), of(&[]));
    let outcomes = of(&[
        ("accepted/job", 5),
        ("out_of_scope/other_record_type", 1),
        ("rejected/bad_json", 1),
    ]);
    // The last line of a member has no end; that it is garbage is reported as a cut-off.
    let mut found = counts(&report["reasons"]);
    if let Some(n) = found.remove("rejected/truncated") {
        found.insert("rejected/bad_json".to_owned(), n);
    }
    assert_eq!(found, outcomes);
    for (site, n) in [("A-Group", 4), ("B-Group", 1)] {
        let there = path("out/records").join(format!("site={site}"));
        assert!(there.is_dir(), "{site} {n}");
    }
    assert_eq!(run()["status"], "unchanged");
}

/// A record that the table of sites does not have keeps its own site, and is named by what the table matches.
#[test]
fn a_site_that_a_table_does_not_have_is_named_by_what_it_matches() {
    for (table, expected) in [
        ("site,to_site\nB-CE,B\n", "U 1"),
        ("site,view,to_site\nB-CE,batch,B\n", "U, batch 1"),
        ("cluster,to_site\ncondor:b,B\n", "condor:u 1"),
    ] {
        let house = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(house.path().join(name), text).unwrap();
        let lines = [
            hit(1, "osg", "condor:b"),
            hit(2, "osg", "condor:u").replace("B-CE", "U"),
        ];
        write("day.ndjson", &(lines.join("\n") + "\n"));
        write("sites.csv", table);
        write(
            "m.toml",
            "[pipeline]\nname = \"m\"\noutput = \"out\"\n[[source]]\nname = \"g\"\nformat = \"gracc\"\npaths = [\"day.ndjson\"]\n\
             site = { table = \"sites.csv\" }\n",
        );
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["run", "m.toml"])
            .current_dir(house.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{text}");
        let line = format!("  g: unmapped, so that the site of the record holds where it states one: {expected}\n");
        assert!(
            text.contains("  g: site by table 1, unmapped 1\n") && text.contains(&line),
            "{line} is not in\n{text}"
        );
        for site in ["B", "U"] {
            let there = house.path().join(format!("out/records/site={site}"));
            assert!(there.is_dir(), "{site}: {table}");
        }
    }
}

/// Real resources and VOs against real documents.
#[test]
fn real_documents_are_found_in_the_real_topology() {
    let Some(folder) = shared("real_documents_are_found_in_the_real_topology", "data/gracc") else {
        return;
    };
    let mut problems = Problems::default();
    let topology = Topology::load(&folder.join("topology/resources.csv"), "resources.csv", &mut problems);
    let mut vos = VoCorrections::default();
    vos.load_known(
        &folder.join("topology/virtual-organizations.csv"),
        "vos.csv",
        &mut problems,
    );
    assert_eq!(mistakes(problems), Vec::<String>::new());
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(folder.join("es-dump/raw2-2016.06.ndjson.gz")).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let (mut by_vo_rule, mut by_site_rule) = (BTreeMap::new(), BTreeMap::new());
    let all = crate::gracc::read(bytes);
    for row in all.rows() {
        let (vo, origin) = vos.resolve(row);
        assert_eq!(
            vo.is_none(),
            matches!(origin, VoOrigin::Unmapped | VoOrigin::Sentinel | VoOrigin::Missing)
        );
        *by_vo_rule.entry(origin.as_str()).or_insert(0_u32) += 1;
        let rule = topology
            .find(row, TopologyLevel::ResourceGroup)
            .map_or("unmapped", |(_, rule)| rule);
        *by_site_rule.entry(rule).or_insert(0_u32) += 1;
    }
    eprintln!("{by_vo_rule:?} {by_site_rule:?}");
    assert_eq!(by_vo_rule.values().sum::<u32>(), 1000);
    assert_eq!(by_site_rule.values().sum::<u32>(), 1000);
}
