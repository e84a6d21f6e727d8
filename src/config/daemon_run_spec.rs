//! `daemon_runs` of `[[fairshare]]` as they are written, and what they mean.

use super::compiler::Compiler;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::fairshare::{DaemonRun, RunEnd};
use crate::time::instant::parse_instant_s;

/// Keys of a run.
pub(super) const KEYS: &[&str] = &[
    "start",
    "first_calculation",
    "end",
    "ended",
    "usage_saved",
    "last_calculation",
];

/// How a run may have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndWord {
    /// It saved its usage.
    Stopped,
    /// It did not.
    Killed,
}

impl EndWord {
    /// The words of `ended`.
    pub const WORDS: &'static [(&'static str, Self)] = &[("stopped", Self::Stopped), ("killed", Self::Killed)];
}

/// One run.
#[derive(Debug)]
pub struct DaemonRunSpec {
    line: usize,
    start: Option<At<String>>,
    first_calculation: Option<At<String>>,
    end: Option<At<String>>,
    ended: Option<At<EndWord>>,
    usage_saved: Option<At<String>>,
    last_calculation: Option<At<String>>,
}

/// Reads the runs of a cluster.
pub(super) fn read(section: &Section<'_>, problems: &mut Problems) -> Vec<DaemonRunSpec> {
    let runs = section.sections("daemon_runs", "[[fairshare.daemon_runs]]", KEYS, problems);
    let specs = runs.iter().map(|run| DaemonRunSpec {
        line: run.line(),
        start: run.required_text(
            "start",
            "when the daemon started, such as 2026-11-21T02:13:50Z",
            problems,
        ),
        first_calculation: run.text("first_calculation", problems),
        end: run.text("end", problems),
        ended: run.word("ended", EndWord::WORDS, problems),
        usage_saved: run.text("usage_saved", problems),
        last_calculation: run.text("last_calculation", problems),
    });
    specs.collect()
}

impl Compiler {
    /// The runs of a daemon; `None` when one is wrong.
    pub(super) fn daemon_runs(&mut self, specs: &[DaemonRunSpec]) -> Option<Vec<DaemonRun>> {
        let runs: Option<Vec<DaemonRun>> = specs.iter().map(|spec| self.daemon_run(spec)).collect();
        let runs = runs?;
        if let Some((at, why)) = DaemonRun::contradiction(&runs) {
            let line = specs.get(at).map_or(0, |spec| spec.line);
            self.wrong(
                line,
                format!("daemon_runs: {why}: state each run once, in the order of time"),
            );
            return None;
        }
        Some(runs)
    }

    fn daemon_run(&mut self, spec: &DaemonRunSpec) -> Option<DaemonRun> {
        let start_s = self.instant_s("start", spec.start.as_ref()?)?;
        let calculated_s = match &spec.first_calculation {
            Some(text) => self.instant_s("first_calculation", text)?,
            None => start_s,
        };
        let mut stated = |key: &str, text: Option<&At<String>>| match text {
            Some(text) => self.instant_s(key, text).map(Some),
            None => Some(None),
        };
        let end_s = stated("end", spec.end.as_ref())?;
        let saved_s = stated("usage_saved", spec.usage_saved.as_ref())?;
        let last_s = stated("last_calculation", spec.last_calculation.as_ref())?;
        let ended = spec.ended.as_ref().map(|at| at.value);
        let wrong = match (end_s, ended) {
            (None, Some(_)) => Some("ended states how a run ended: state end, when it did, as well"),
            (_, None | Some(EndWord::Stopped)) if saved_s.is_some() || last_s.is_some() => {
                Some("usage_saved and last_calculation are of a run that was killed: ended = \"killed\"")
            }
            _ => None,
        };
        if let Some(why) = wrong {
            self.wrong(spec.line, format!("daemon_runs: {why}"));
            return None;
        }
        let end = end_s.map(|at_s| match ended {
            Some(EndWord::Killed) => RunEnd::Killed {
                at_s,
                // Fallback: without a stated save it is the last one that Slurm makes by itself.
                saved_s: saved_s.unwrap_or_else(|| DaemonRun::last_save_s(start_s, at_s)),
                calculated_s: last_s,
            },
            Some(EndWord::Stopped) | None => RunEnd::Stopped { at_s },
        });
        Some(DaemonRun {
            start_s,
            calculated_s,
            end,
        })
    }

    /// The Unix second of an instant.
    pub(super) fn instant_s(&mut self, key: &str, text: &At<String>) -> Option<i64> {
        let unix_s = parse_instant_s(&text.value);
        if unix_s.is_none() {
            let message = format!(
                "{key} = \"{}\" is not an instant such as 2026-11-21T02:13:50Z",
                text.value
            );
            self.wrong(text.line, message);
        }
        unix_s
    }
}
