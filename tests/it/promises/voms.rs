//! VOMS names: in the records as their source states them, whatever else is withheld, joined or superseded.

use std::collections::BTreeMap;

use gridtally::run::RunOptions;

use super::scene::Scene;
use super::tables::{all, text};

const PBS: &str = "03/01/2024 00:00:00;E;1.lrms;user=u group=g jobname=j queue=q ctime=1709251200 etime=1709251200 \
    start=1709251200 exec_host=n1/0 end=1709254800 Exit_status=0 resources_used.cput=01:00:00 \
    resources_used.walltime=01:00:00\n";

/// A line of the CE about that job.
fn line(fqan: &str) -> String {
    format!(
        "\"timestamp=2024-03-01 00:00:10\" \"userDN=/CN=Ada\" \"userFQAN={fqan}\" \"userFQAN=/other\" \
         \"ceID=ce.example.org:8443/q\" \"jobID=CE1\" \"lrmsID=1.lrms\" \"localUser=1\"\n"
    )
}

fn message(fqan: &str, memory: u32) -> String {
    format!(
        "Site: B\nLocalJobId: m1\nLocalUserId: ada\nGlobalUserName: /CN=Ada\nFQAN: {fqan}\nWallDuration: 10\n\
         CpuDuration: 5\nProcessors: 2\nStartTime: 1772841600\nEndTime: 1772841610\nMemoryReal: {memory}\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
    )
}

fn source(name: &str, format: &str, path: &str, more: &str) -> String {
    format!("[[source]]\nname = \"{name}\"\nformat = \"{format}\"\npaths = [\"{path}\"]\n{more}\n")
}

fn pipeline(sources: &[String], more: &str) -> String {
    format!("[pipeline]\nname = \"p\"\noutput = \"out\"\n{}{more}", sources.concat())
}

/// Names by job.
fn names(scene: &Scene, out: &str) -> BTreeMap<String, Option<String>> {
    let records = all(&scene.path(out), "records");
    (0..records.num_rows())
        .map(|row| (text(&records, "job_id", row).unwrap(), text(&records, "fqan", row)))
        .collect()
}

fn run(scene: &Scene, text: &str, out: &str) {
    scene.write("p.toml", text.as_bytes());
    scene.run_file("p.toml", out, RunOptions::default()).unwrap();
}

const PRODUCTION: &str = "/atlas/uk/Role=production/Capability=NULL";

#[test]
fn a_voms_name_is_in_the_records_as_it_was_stated() {
    let scene = Scene::empty();
    let header = "APEL-individual-job-message: v0.3\n";
    let several = format!("{PRODUCTION};/atlas/Role=NULL/Capability=NULL");
    scene.write("apel/1", format!("{header}{}", message(&several, 1)).as_bytes());
    scene.write("pbs/1", PBS.as_bytes());
    scene.write("blahp.log", line(PRODUCTION).as_bytes());
    let condor = |id: u32, more: &str| {
        format!(
            "{{\"GlobalJobId\":\"c{id}\",\"JobStatus\":4,\"Owner\":\"ada\",\"JobStartDate\":1772366400,\
             \"EnteredCurrentStatus\":1772370000,\"RemoteWallClockTime\":3600,\"RemoteUserCpu\":60,\"RemoteSysCpu\":1,\
             \"RequestCpus\":1{more}}}\n"
        )
    };
    let stated = format!(",\"x509UserProxyFirstFQAN\":\"{PRODUCTION}\"");
    scene.write("condor/1", [condor(1, &stated), condor(2, "")].concat().as_bytes());
    let document = |id: &str, vo: &str| {
        format!(
            "{{\"type\":\"JobUsageRecord\",\"SiteName\":\"G\",\"ProbeName\":\"p\",\"LocalJobId\":\"{id}\",\
             \"VOName\":\"{vo}\",\"StartTime\":\"2026-03-01T00:00:00Z\",\"EndTime\":\"2026-03-01T01:00:00Z\",\
             \"Processors\":4,\"WallDuration\":3600,\"CpuDuration\":60}}\n"
        )
    };
    scene.write(
        "gracc/1",
        [document("g1", PRODUCTION), document("g2", "kelp")].concat().as_bytes(),
    );
    let sources = [
        source("apel", "apel", "apel", ""),
        source("pbs", "pbs", "pbs", "site = \"FELL\"\nblah = [\"blahp.log\"]"),
        source("condor", "htcondor", "condor", "site = \"FELL\""),
        source("gracc", "gracc", "gracc", ""),
    ];
    let expected: BTreeMap<String, Option<String>> = [
        ("m1", Some(several.as_str())),
        ("1.lrms", Some(PRODUCTION)),
        ("c1", Some(PRODUCTION)),
        ("c2", None),
        ("g1", Some(PRODUCTION)),
        ("g2", None),
    ]
    .map(|(id, name)| (id.to_owned(), name.map(str::to_owned)))
    .into();
    // It names a group and no person: what is withheld of people does not touch it.
    let privacy = "[privacy]\nglobal_user = \"drop\"\nuser = \"drop\"\n";
    for (out, more) in [("open", ""), ("private", privacy)] {
        run(&scene, &pipeline(&sources, more), out);
        assert_eq!(names(&scene, out), expected, "{out}");
    }
}

#[test]
fn the_version_of_a_job_that_counts_brings_its_name() {
    let scene = Scene::empty();
    let header = "APEL-individual-job-message: v0.3\n";
    let later = "/atlas/uk/Role=production/Capability=x";
    let texts = [message(PRODUCTION, 1), message(PRODUCTION, 1), message(later, 1)];
    scene.write("apel/1", format!("{header}{}", texts.concat()).as_bytes());
    scene.write("p.toml", pipeline(&[source("apel", "apel", "apel", "")], "").as_bytes());
    let report = scene.run_file("p.toml", "out", RunOptions::default()).unwrap();
    assert_eq!(names(&scene, "out")["m1"].as_deref(), Some(later));
    // A record with another name is another version, not a duplicate.
    let count = |reason: &str| report.reasons.get(reason).copied();
    assert_eq!(
        (count("accepted/job"), count("superseded/fuller_record")),
        (Some(1), Some(2)),
        "{:?}",
        report.reasons
    );
}

/// A line that comes a night late counts though VO, group and role stay what they were.
#[test]
fn a_late_line_of_the_ce_brings_its_name() {
    let scene = Scene::empty();
    let later = "/atlas/uk/Role=production/Capability=x";
    scene.write("pbs/1", PBS.as_bytes());
    scene.write("blah/1", line(PRODUCTION).as_bytes());
    let text = pipeline(
        &[source("pbs", "pbs", "pbs", "site = \"FELL\"\nblah = [\"blah/*\"]")],
        "",
    );
    run(&scene, &text, "out");
    assert_eq!(names(&scene, "out")["1.lrms"].as_deref(), Some(PRODUCTION));
    scene.write("blah/2", line(later).replace("00:00:10", "00:00:20").as_bytes());
    run(&scene, &text, "out");
    assert_eq!(names(&scene, "out")["1.lrms"].as_deref(), Some(later));
}
