//! What `inspect` advises and proposes works: every advice is read, every proposal runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gridtally::sources::registry;

use crate::inspect::{gridtally, inspect, pasted};
use crate::support::sample::repository;
use crate::support::tar;

/// Every command and file that inspect advises to dump or give, with the first lines of what it prints.
const ADVISED: [(&str, &str); 7] = [
    (
        "sinfo -N -l",
        "Fri Nov 20 10:00:00 2026\nNODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON\n\
         n1             1      cpu*        idle 4       1:4:1  16000        0      1   (null) none\n",
    ),
    (
        "scontrol -o show node",
        "NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUTot=4 RealMemory=16000 State=IDLE\n",
    ),
    (
        "sacctmgr -P show assoc",
        "Cluster|Account|User|Partition|Share\nreef|root|||1\nreef|root|ann||1\n",
    ),
    (
        "sacct --json",
        "{\"meta\": {\"plugin\": {}, \"slurm\": {}}, \"jobs\": [{\"account\": \"a\", \"association\": {}, \"job_id\": 1, \"steps\": []}]}",
    ),
    (
        "sacct -P",
        "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n1|x|cpu|a|4|COMPLETED|0:0\n",
    ),
    (
        "condor_history -json",
        "[\n{\n  \"ClusterId\": 11,\n  \"ProcId\": 0,\n  \"JobStatus\": 4\n}\n]\n",
    ),
    ("slurm.conf", "ClusterName=reef\nNodeName=n[1-3] CPUs=2\n"),
];

#[test]
fn what_is_advised_is_read() {
    for (command, output) in ADVISED {
        assert!(registry::recognise(output.as_bytes()).is_some(), "{command}");
    }
}

/// All files of a folder, those that belong to the machinery of a spool left out.
fn below(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            below(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// Files of one folder, dialect and version that are alike: the first of them are pasted.
const ALIKE: usize = 2;

#[test]
fn every_proposal_runs() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let mut paths = Vec::new();
    below(&repository("sample-data"), &mut paths);
    let words: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let reports = inspect(here, &words);
    assert!(!reports.is_empty());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut tried = 0;
    for (nth, report) in reports.iter().enumerate() {
        let path = report["path"].as_str().unwrap();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let alike = seen
            .entry(format!("{folder} {} {}", report["dialect"], report["version"]))
            .or_default();
        *alike += 1;
        // The log of a CE is not a source, and the nodes of each kind of a machine file cannot be guessed.
        let proposal = report["proposal"].as_str().unwrap_or_default();
        if *alike <= ALIKE && proposal.starts_with("[[") && !proposal.contains("nodes = {}") {
            pasted(here, report, nth);
            tried += 1;
        }
    }
    assert!(tried > 0, "{tried}");
}

const DOCUMENT: &str = "{\"type\":\"JobUsageRecord\",\"SiteName\":\"REEF\",\"ProbeName\":\"p\",\"LocalJobId\":\"1\",\
    \"VOName\":\"reef\",\"WallDuration\":3600,\"CpuDuration\":60,\"StartTime\":\"2020-01-01T00:00:00Z\",\
    \"EndTime\":\"2020-01-01T01:00:00Z\",\"Processors\":1}\n";

#[test]
fn an_archive_of_documents_that_name_their_site_needs_none() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    fs::write(here.join("gracc.tar"), tar::tar(&[("a.json", DOCUMENT.as_bytes())])).unwrap();
    let report = inspect(here, &["gracc.tar"]).remove(0);
    assert!(!report["proposal"].as_str().unwrap().contains("site = "), "{report}");
    pasted(here, &report, 0);
}

#[test]
fn salvage_is_proposed_where_it_keeps_rows() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let job = |id: u32, more: &str| {
        format!(
            "Site: REEF\nVO: reef\nLocalJobId: {id}\nWallDuration: 100\nCpuDuration: 60\nStartTime: 1772366400\n\
             EndTime: 1772366500\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n{more}%%\n"
        )
    };
    let header = "APEL-individual-job-message: v0.3\n";
    fs::write(
        here.join("bad"),
        [header, &job(1, ""), &job(2, "EndTime: never\n"), &job(3, "")].concat(),
    )
    .unwrap();
    fs::write(here.join("good"), [header, &job(1, "")].concat()).unwrap();
    let reports = inspect(here, &["bad", "good"]);
    assert_eq!(reports[0]["salvaged_row_n"], 2, "{}", reports[0]);
    assert!(
        reports[0]["proposal"]
            .as_str()
            .unwrap()
            .contains("\nacceptance = \"salvage\"")
    );
    assert!(!reports[1]["proposal"].as_str().unwrap().contains("acceptance"));
    for (nth, report) in reports.iter().enumerate() {
        pasted(here, report, nth);
    }
}

#[test]
fn a_complete_dump_that_lacks_columns_is_not_called_cut_off() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    fs::write(here.join("dump"), "JobID|Account|User\n1|a|u\n").unwrap();
    let output = gridtally(here, &["inspect", "dump"]);
    let (text, reported) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(65), "{reported}");
    assert!(
        reported.contains("nothing can be accounted of: dump") && !reported.contains("to the end"),
        "{reported}"
    );
    assert!(text.contains("lacks columns") && !text.contains("[[source]]"), "{text}");
}

#[test]
fn a_dump_is_not_a_pipeline_and_that_is_all_that_is_reported() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    fs::write(here.join("dump.txt"), ADVISED[4].1).unwrap();
    fs::write(here.join("documents.json"), DOCUMENT).unwrap();
    for (file, dialect) in [("dump.txt", "sacct"), ("documents.json", "gracc")] {
        for command in ["check", "run"] {
            let output = gridtally(here, &[command, file]);
            let reported = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(78), "{reported}");
            assert_eq!(reported.lines().count(), 1, "{reported}");
            assert!(
                reported.contains(&format!("{file} is a dump ({dialect}), not a pipeline")),
                "{reported}"
            );
        }
    }
}
