//! Programs of a batch system: asked and given jobs.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// Most tasks of an array where Slurm does not state it: the default of `MaxArraySize` is 1001, and the largest index is less.
const ARRAY_SIZE: u32 = 1001;

/// What Slurm allows of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLimits {
    /// The largest index of a task.
    pub index_most: u32,
    /// Most tasks of one array.
    pub task_n: u32,
}

impl ArrayLimits {
    /// Reads them from `scontrol show config`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when this Slurm has no arrays.
    pub fn parse(config: &str) -> Result<Self> {
        let values = |key: &'static str| {
            config.lines().filter_map(move |line| {
                let (name, value) = line.split_once('=')?;
                (name.trim() == key).then(|| value.trim())
            })
        };
        let size = values("MaxArraySize").next().and_then(|value| value.parse().ok());
        let index_most = size.unwrap_or(ARRAY_SIZE).checked_sub(1).filter(|most| *most > 0);
        let Some(index_most) = index_most else {
            return Err(Error::config(
                "this Slurm takes no job arrays: its MaxArraySize is 0 or 1",
            ));
        };
        let parameters = values("SchedulerParameters").flat_map(|list| list.split(','));
        let tasks = parameters.filter_map(|parameter| parameter.trim().strip_prefix("max_array_tasks="));
        let tasks = tasks.filter_map(|value| value.parse().ok()).filter(|most| *most > 0);
        Ok(Self {
            index_most,
            // An array without a limit of its own has as many tasks as indexes.
            task_n: tasks.min().map_or(index_most, |most| index_most.min(most)),
        })
    }
}

/// Runs a program with these words, gives it a text, and returns what it prints.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be started or fails, with what it printed to stderr.
pub fn answer(program: &str, words: &[String], input: &str) -> Result<String> {
    let failed = |why: std::io::Error| Error::io(format!("{program} cannot be run")).because(why);
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input has no use for it; whether it failed is seen next.
        let _ = stdin.write_all(input.as_bytes());
    }
    let ended = child.wait_with_output().map_err(failed)?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    let reported = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(Error::io(format!("{program} failed ({}): {reported}", ended.status)))
}
