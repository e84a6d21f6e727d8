//! A graph of HTCondor's `DAGMan`: a node for each shard, and a merge when all are done. A node that fails is tried again, and a
//! rescue file names those that are left.

use std::fmt::Write as _;

use super::calls::ProgramCalls;

/// How often a node is tried again.
const RETRIES: u32 = 2;

/// A file of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CondorFile {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// Name of the graph's file.
pub const DAG: &str = "scale-out.dag";

/// The graph that reads these shards and merges all, and the descriptions of its jobs. `lines` are added to both descriptions.
#[must_use]
pub fn files(calls: &ProgramCalls, shards: &[u32], lines: &[String]) -> Vec<CondorFile> {
    let mut dag = format!("# Shards of {}, and their merge\n", calls.job_name());
    // Writing to a string cannot fail.
    for shard in shards {
        let _ = writeln!(dag, "JOB shard{shard} shard.sub");
        let _ = writeln!(dag, "VARS shard{shard} shard=\"{shard}\"");
        let _ = writeln!(dag, "RETRY shard{shard} {RETRIES}");
    }
    let _ = writeln!(dag, "JOB merge merge.sub");
    for shard in shards {
        let _ = writeln!(dag, "PARENT shard{shard} CHILD merge");
    }
    vec![
        CondorFile { name: DAG, text: dag },
        CondorFile {
            name: "shard.sub",
            text: description(calls, "shard-$(shard)", &calls.read("$(shard)"), lines),
        },
        CondorFile {
            name: "merge.sub",
            text: description(calls, "merge", &calls.merge(), lines),
        },
    ]
}

fn description(calls: &ProgramCalls, what: &str, words: &[String], lines: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| argument(word)).collect();
    let mut text = format!(
        "universe = vanilla\nexecutable = {}\narguments = \"{}\"\nlog = scale-out.log\noutput = {what}.out\nerror = {what}.err\n\
         should_transfer_files = NO\nrequest_cpus = 1\n",
        literal(&calls.program),
        words.join(" ")
    );
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text.push_str("queue\n");
    text
}

/// An argument as the new syntax of HTCondor takes it.
fn argument(word: &str) -> String {
    let word = if word.starts_with("$(shard)/") {
        word.to_owned()
    } else {
        literal(word)
    };
    let word = word.replace('"', "\"\"");
    let is_plain = !word.is_empty() && !word.contains([' ', '\t', '\'']);
    if is_plain {
        word
    } else {
        format!("'{}'", word.replace('\'', "''"))
    }
}

/// A text in which HTCondor fills in nothing.
fn literal(text: &str) -> String {
    text.replace('$', "$(DOLLAR)")
}
