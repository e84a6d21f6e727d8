//! Arrays of Slurm: a task for each shard, and a merge when all have ended well.

use std::fmt::Write as _;

use super::calls::ProgramCalls;
use super::controller::ArrayLimits;
use super::shell::{line, quoted};
use crate::error::{Error, Result};

/// How jobs are submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmSettings {
    /// Options of `sbatch`, as they are given to it.
    pub options: Vec<String>,
    /// Most tasks of an array that run at once.
    pub running_most: Option<u32>,
    /// Folder that jobs write their output to; without one Slurm decides.
    pub log_folder: Option<String>,
}

/// One array, or the merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmJob {
    /// Name of its script.
    pub script_name: String,
    /// Its script.
    pub script: String,
    /// Options of `sbatch` that are not in the script.
    pub words: Vec<String>,
}

/// The arrays that read these shards, in order. An index is the number of a shard less an offset, so that every index is one
/// that Slurm allows.
#[must_use]
pub fn arrays(calls: &ProgramCalls, shards: &[u32], limits: ArrayLimits, settings: &SlurmSettings) -> Vec<SlurmJob> {
    let offset = |shard: u32| (shard - 1) / limits.index_most * limits.index_most;
    let groups = shards.chunk_by(|a, b| offset(*a) == offset(*b));
    let groups = groups.flat_map(|group| group.chunks(crate::numbers::index(limits.task_n).max(1)));
    let arrays = groups.zip(1..).map(|(group, nth)| {
        let offset = group.first().map_or(0, |first| offset(*first));
        let indexes = ranges(&group.iter().map(|shard| shard - offset).collect::<Vec<_>>());
        let most = settings
            .running_most
            .map_or_else(String::new, |most| format!("%{most}"));
        let number = if offset == 0 {
            "${SLURM_ARRAY_TASK_ID}".to_owned()
        } else {
            format!("$(({offset} + SLURM_ARRAY_TASK_ID))")
        };
        let mut script = head(calls, "shard", settings, "%A_%a");
        // Writing to a string cannot fail.
        let _ = writeln!(script, "#SBATCH --array={indexes}{most}");
        let _ = writeln!(script, "shard={number}");
        let words = calls.read("@");
        let words: Vec<String> = words.iter().map(|word| quoted_shard(word, calls.shard_n)).collect();
        let _ = writeln!(
            script,
            "exec {} {} --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"",
            quoted(&calls.program),
            words.join(" ")
        );
        SlurmJob {
            script_name: format!("shards-{nth}.sbatch"),
            script,
            words: settings.options.clone(),
        }
    });
    arrays.collect()
}

/// The word of the shard's number, which the shell fills in; other words as they are.
fn quoted_shard(word: &str, shard_n: u32) -> String {
    if word == format!("@/{shard_n}") {
        format!("\"${{shard}}/{shard_n}\"")
    } else {
        quoted(word)
    }
}

/// The merge, which begins when all these arrays have ended well.
#[must_use]
pub fn merge(calls: &ProgramCalls, arrays: &[String], settings: &SlurmSettings) -> SlurmJob {
    let mut script = head(calls, "merge", settings, "%j");
    // Writing to a string cannot fail.
    let _ = writeln!(
        script,
        "exec {} {} --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"",
        quoted(&calls.program),
        line(&calls.merge())
    );
    let mut words = settings.options.clone();
    if !arrays.is_empty() {
        words.push(format!("--dependency=afterok:{}", arrays.join(":")));
        // A merge whose shards failed would wait for ever.
        words.push("--kill-on-invalid-dep=yes".to_owned());
    }
    SlurmJob {
        script_name: "merge.sbatch".to_owned(),
        script,
        words,
    }
}

fn head(calls: &ProgramCalls, what: &str, settings: &SlurmSettings, number: &str) -> String {
    let mut script = format!("#!/bin/sh\n#SBATCH --job-name=gridtally-{}-{what}\n", calls.job_name());
    if let Some(folder) = &settings.log_folder {
        // Slurm fills in its own patterns where a path has a percent sign.
        let folder = folder.replace('%', "%%");
        let _ = writeln!(script, "#SBATCH --output=\"{folder}/{what}-{number}.log\"");
    }
    script
}

impl SlurmJob {
    /// The words after `sbatch`.
    #[must_use]
    pub fn sbatch(&self) -> Vec<String> {
        [vec!["--parsable".to_owned()], self.words.clone()].concat()
    }
}

/// The id of a job in the answer of `sbatch --parsable`, which may name the cluster behind it.
///
/// # Errors
/// [`crate::error::Kind::Io`] when there is none.
pub fn job_id(answer: &str) -> Result<String> {
    let id = answer
        .lines()
        .rev()
        .find_map(|line| line.split(';').next())
        .map(str::trim);
    let is_number = |id: &&str| !id.is_empty() && id.chars().all(|c| c.is_ascii_digit());
    let id = id.filter(is_number);
    id.map(str::to_owned)
        .ok_or_else(|| Error::io(format!("sbatch names no job: {}", answer.trim())))
}

/// Numbers in order as Slurm lists them: `1-64`, or `3,7,60-64`.
#[must_use]
pub fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let words = runs.filter_map(|run| match run {
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
        [] => None,
    });
    words.collect::<Vec<_>>().join(",")
}
