//! Files without a reader that are often stored with dumps: their kind, and what to use instead.

use memchr::memmem;

use super::hints::SacctHeader;
use crate::byte_order_mark::without_mark;

/// What a file bears.
enum FileMark {
    /// Its first line begins with this.
    Begins(&'static str),
    /// One of its first lines has all of these words, whatever is between them.
    Words(&'static [&'static str]),
    /// Lines of it begin with all of these.
    Lines(&'static [&'static str]),
    /// It is JSON with all of these keys.
    Json(&'static [&'static str]),
    /// It is YAML with all of these keys.
    Yaml(&'static [&'static str]),
}

use FileMark::{Begins, Json, Lines, Words, Yaml};

const KNOWN: &[(FileMark, &str)] = &[
    (
        Begins("JobId="),
        "a log of ended jobs, as jobcomp/filetxt writes it, is not read: dump jobs with sacct -P",
    ),
    (
        Words(&["JOBID", "PRIORITY", "FAIRSHARE"]),
        "sprio shows the priority of jobs that wait: list them with scontrol -o show job, or dump ended ones with sacct -P",
    ),
    (
        Words(&["JOBID", "PARTITION", "SUBMIT_TIME"]),
        "squeue lists jobs that have not ended: dump ended ones with sacct -P",
    ),
    (
        Words(&["JOBID", "PARTITION", "NODELIST(REASON)"]),
        "squeue lists jobs that have not ended: dump ended ones with sacct -P",
    ),
    (
        Words(&["RawShares", "FairShare"]),
        "sshare with columns of fixed width cuts names off: list shares with sshare -a -l -m -P",
    ),
    (
        Begins("--------"),
        "a report that is already added up, as sreport prints: dump jobs with sacct -P",
    ),
    (
        Words(&["PARTITION", "AVAIL", "NODES", "NODELIST"]),
        "sinfo without -N groups nodes: dump with sinfo -N -l, or scontrol -o show node",
    ),
    (
        Words(&["NODELIST", "NODES", "PARTITION", "STATE"]),
        "sinfo -N alone does not show the resources of nodes: dump with sinfo -N -l, or scontrol -o show node",
    ),
    (
        Words(&["ControlHost", "ControlPort"]),
        "sacctmgr show cluster is not read: name the cluster in the pipeline",
    ),
    (
        Words(&["Type", "Name", "ID"]),
        "sacctmgr show tres is not read: dumps name trackable resources themselves",
    ),
    (Words(&["WCKey", "Cluster", "User"]), "sacctmgr show wckey is not read"),
    (Begins("Runaway Jobs:"), "sacctmgr show runawayjobs is not read"),
    (
        Yaml(&["jobs", "job_id", "association"]),
        "sacct --yaml is not read: sacct --json has the same content",
    ),
    (
        Json(&["jobs", "job_id"]),
        "a list of jobs, but not of sacct --json: squeue and scontrol know no ended jobs",
    ),
    (
        Lines(&["ClusterId = ", "ProcId = "]),
        "job ads of HTCondor as text are not read: dump jobs with condor_history -json",
    ),
    (
        Lines(&["<classads>"]),
        "job ads of HTCondor as XML are not read: dump jobs with condor_history -json",
    ),
    (
        Words(&["ID", "OWNER", "SUBMITTED", "RUN_TIME"]),
        "a table of condor_history or condor_q cuts its values off: dump jobs with condor_history -json",
    ),
    (
        Begins("000 ("),
        "the event log of HTCondor jobs is not read: dump jobs with condor_history -json",
    ),
    (
        Lines(&["qname ", "jobnumber "]),
        "qacct -j prints records for people: take the accounting file of Grid Engine itself",
    ),
];

impl FileMark {
    fn is_in(&self, text: &[u8]) -> bool {
        match self {
            Begins(start) => text.starts_with(start.as_bytes()),
            Words(words) => text.split(|&byte| byte == b'\n').take(4).any(|line| {
                let mut found = line.split(|&byte| byte == b'|' || byte.is_ascii_whitespace());
                words.iter().all(|word| found.any(|found| found == word.as_bytes()))
            }),
            Lines(starts) => starts.iter().all(|start| {
                let mut lines = text.split(|&byte| byte == b'\n');
                lines.any(|line| line.starts_with(start.as_bytes()))
            }),
            Json(keys) => text.starts_with(b"{") && keys.iter().all(|key| has(text, &format!("\"{key}\""))),
            Yaml(keys) => {
                let starts = ["%YAML", "---\n", "meta:", keys.first().copied().unwrap_or("---")];
                starts.iter().any(|start| text.starts_with(start.as_bytes()))
                    && keys.iter().all(|key| has(text, &format!("{key}:")))
            }
        }
    }
}

/// Why a file has no reader, as far as one can see.
pub(super) fn problem(head: &[u8]) -> &'static str {
    let text = without_mark(head).trim_ascii_start();
    if text.is_empty() {
        return "the file is empty";
    }
    if let Some((_, what)) = KNOWN.iter().find(|(mark, _)| mark.is_in(text)) {
        return what;
    }
    if SacctHeader::any(head).is_some() {
        return "columns of fixed width cut their values off: dump with sacct -P (--parsable2)";
    }
    if has(text, "multipart/signed") || has(text, "application/pkcs7") {
        return "an S/MIME message: unpack it first, the spool keeps the plain text";
    }
    let is_record = ["LocalJobId: ", "NumberOfJobs: ", "VMUUID: "]
        .iter()
        .any(|key| has(text, key));
    if is_record && (has(text, "Site: ") || has(text, "SiteName: ")) {
        return "records of a message without its first line, such as APEL-individual-job-message: v0.3";
    }
    let lines = text.split(|&byte| byte == b'\n').take(5);
    let with_bars = lines.filter(|line| memchr::memchr_iter(b'|', line).count() >= 4);
    if with_bars.count() >= 2 {
        return "a table without a header and of no known order: dump with sacct -P and without --noheader (-n)";
    }
    "no dialect with a reader is recognised"
}

fn has(text: &[u8], word: &str) -> bool {
    memmem::find(text, word.as_bytes()).is_some()
}
