//! What a run leaves for those who watch over runs, however it ends: its JSON, its metrics, and the note in its lake.

use std::collections::BTreeMap;
use std::time::Duration;

use tracing::{debug, warn};

use super::unchanged_code::UnchangedCode;
use super::{output, warnings};
use crate::config::Plan;
use crate::error::{Error, Kind, Result};
use crate::ingest::output_overlap::hold_file_apart;
use crate::monitor::lake_standing::LakeStanding;
use crate::monitor::last_run::LastRun;
use crate::monitor::lineage::{EventType, LineageRun, RequestLimits};
use crate::monitor::textfile::{Textfile, TextfileContent};
use crate::report::lake::Lake;
use crate::run::RunOptions;
use crate::run::run_report::{RunReport, Status};
use crate::run::run_summary::RunSummary;
use crate::runtime::clock;
use crate::store::{Manifest, Store};
use crate::time::instant::{instant_text, parse_instant_s};

/// Longest time to print the last words of a run that a signal ends: a pipe without a reader may be full.
const PRINTING: Duration = Duration::from_millis(100);

/// Longest time a server has to take the last event of such a run.
const LAST_REQUEST: Duration = Duration::from_millis(700);

/// The JSON of a run on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunJson {
    /// None.
    None,
    /// All of the report.
    Report,
    /// The summary, a part of the report.
    Summary,
}

/// What is made of a run that ends.
#[derive(Clone, Debug)]
pub(super) struct RunWatch {
    pub(super) json: RunJson,
    pub(super) textfile: Option<Textfile>,
    pub(super) lineage: Option<LineageRun>,
    /// The exit code of a run that changes nothing, where it is not 0.
    pub(super) unchanged: Option<UnchangedCode>,
    /// Whether the lake notes the run: not of one that publishes nothing anyway.
    pub(super) is_noted: bool,
}

impl RunWatch {
    /// The exit code of a run.
    pub(super) fn exit_code(&self, report: &RunReport, ended: &Result<()>) -> u8 {
        match ended {
            Err(why) => why.kind().exit_code(),
            Ok(()) => match (report.status, self.unchanged) {
                (Status::Unchanged, Some(UnchangedCode(code))) => code,
                _ => 0,
            },
        }
    }

    /// Refuses files that would be written over what the run reads or publishes; none is written then.
    ///
    /// # Errors
    /// [`Kind::Usage`] naming the first of them.
    pub(super) fn hold_files_apart(&mut self, plan: &Plan, options: &RunOptions) -> Result<()> {
        let metrics = self.textfile.as_ref().map(|textfile| ("metrics", textfile.path()));
        let events = self.lineage.as_ref().and_then(LineageRun::file);
        let mut files = metrics.into_iter().chain(events.map(|file| ("lineage events", file)));
        let held = files.try_for_each(|(what, file)| hold_file_apart(plan, options.output(plan), what, file));
        if held.is_err() {
            (self.textfile, self.lineage) = (None, None);
        }
        held
    }

    /// Sends what is to be sent of a run that begins.
    pub(super) fn begin(&mut self, plan: &Plan, options: &RunOptions, report: &RunReport) {
        if let Some(lineage) = &mut self.lineage {
            lineage.begin(plan, options, report);
        }
    }

    /// How long the end by a signal may take.
    pub(super) fn patience(&self) -> Duration {
        match &self.lineage {
            Some(lineage) if lineage.is_remote() => PRINTING + LAST_REQUEST,
            _ => PRINTING,
        }
    }

    /// Completes the report of a run that has ended, and writes what others read but the JSON.
    pub(super) fn end(&mut self, report: &mut RunReport, ended: &Result<()>) {
        if let Err(why) = ended {
            report.fail(why);
        }
        let exit_code = self.exit_code(report, ended);
        let finished_ms = clock::now_ms();
        stamp(report, exit_code, finished_ms);
        let place = self.place(report, ended);
        let lake = place.as_deref().and_then(|place| self.lake(place));
        let standing = lake.as_ref().and_then(|lake| standing(lake, finished_ms));
        if let Some(standing) = &standing {
            report.ending.newest_records = instants(standing);
        }
        keep_warnings(report);
        let noted_success_ms = place.and_then(|place| note(&place, report, ended));
        self.write_textfile(&TextfileContent {
            report,
            finished_ms,
            lake: standing.as_ref(),
            noted_success_ms,
        });
        let kind = if ended.is_ok() {
            EventType::Complete
        } else {
            EventType::Fail
        };
        self.send_end(kind, report, lake.as_ref());
        keep_warnings(report);
    }

    /// The same for a run that a signal ends, in the time there is: the lake is not read. Gives the line for stdout.
    pub(super) fn end_by_signal(&mut self, report: &mut RunReport, why: &Error) -> Option<String> {
        report.fail(why);
        let finished_ms = clock::now_ms();
        stamp(report, why.kind().exit_code(), finished_ms);
        self.write_textfile(&TextfileContent {
            report,
            finished_ms,
            lake: None,
            noted_success_ms: None,
        });
        self.send_end(EventType::Abort, report, None);
        keep_warnings(report);
        let line = match self.json {
            RunJson::None => return None,
            RunJson::Report => serde_json::to_string(&*report),
            RunJson::Summary => serde_json::to_string(&RunSummary::of(report)),
        };
        // Fallback: a report that cannot be written has no line, and the error of the run is on stderr.
        line.ok()
    }

    /// Prints the JSON: the last line of stdout.
    pub(super) fn print(&self, report: &RunReport) -> Result<()> {
        match self.json {
            RunJson::None => Ok(()),
            RunJson::Report => output::json_line(report),
            RunJson::Summary => output::json_line(&RunSummary::of(report)),
        }
    }

    /// Where the lake of the run is; `None` where there is none, and for a run that publishes nothing anyway. A store that a run
    /// failed to reach is not waited for once more.
    fn place(&self, report: &RunReport, ended: &Result<()>) -> Option<String> {
        let output = &report.output;
        let is_out_of_reach = matches!(ended, Err(why) if why.kind() == Kind::Io) && output.contains("://");
        if !self.is_noted || output.is_empty() || is_out_of_reach {
            return None;
        }
        // Fallback: a place that cannot be looked at is none; what fails there is the error of the run.
        let is_lake = Manifest::is_there(output).unwrap_or(false);
        is_lake.then(|| output.clone())
    }

    /// The lake as it is now, where anybody wants to know it.
    fn lake(&self, place: &str) -> Option<Lake> {
        let is_wanted = self.json != RunJson::None || self.textfile.is_some() || self.lineage.is_some();
        if !is_wanted {
            return None;
        }
        Lake::open(place).map_or_else(|why| unknown(&why), Some)
    }

    fn send_end(&mut self, kind: EventType, report: &RunReport, lake: Option<&Lake>) {
        let Some(lineage) = &mut self.lineage else { return };
        let limits = match kind {
            EventType::Abort => RequestLimits::AtMost(LAST_REQUEST),
            _ => RequestLimits::OfSettings,
        };
        if let Err(why) = lineage.end(kind, report, lake, limits) {
            warn!("the last lineage event could not be made: {why}");
        }
    }

    fn write_textfile(&self, content: &TextfileContent<'_>) {
        let Some(textfile) = &self.textfile else { return };
        match textfile.write(content) {
            Ok(()) => debug!(file = %textfile.path().display(), "metrics written"),
            Err(why) => warn!("the metrics of the run could not be written: {why}"),
        }
    }
}

/// How the lake is.
fn standing(lake: &Lake, now_ms: i64) -> Option<LakeStanding> {
    LakeStanding::read(lake, now_ms).map_or_else(|why| unknown(&why), Some)
}

/// What was published has not failed because it could not be looked at afterwards.
fn unknown<T>(why: &Error) -> Option<T> {
    warn!("the state of the lake could not be looked at: {why}");
    None
}

/// Notes the end in the report.
fn stamp(report: &mut RunReport, exit_code: u8, finished_ms: i64) {
    report.ending.exit_code = Some(exit_code);
    report.ending.finished_utc = instant_text(finished_ms);
    report.time_taken();
}

/// Takes the warnings of the process, and those that the report itself makes, into the report.
fn keep_warnings(report: &mut RunReport) {
    let mut kept = warnings::kept();
    let text = report.warnings_text();
    let mut whole = String::new();
    for line in text.lines() {
        // Lines that are indented more belong to the one above them.
        let is_new = line.strip_prefix("  ").is_some_and(|rest| !rest.starts_with(' '));
        if is_new && !whole.is_empty() {
            kept.add(&std::mem::take(&mut whole));
        }
        if !whole.is_empty() {
            whole.push_str("; ");
        }
        whole.push_str(line.trim_start().trim_start_matches("warning: "));
    }
    if !whole.is_empty() {
        kept.add(&whole);
    }
    report.ending.warning_n = kept.warning_n;
    report.ending.warnings = kept.messages;
}

/// The newest record of each source as text.
fn instants(lake: &LakeStanding) -> BTreeMap<String, String> {
    let newest = lake.newest_ms.iter();
    newest
        .filter_map(|(source, ms)| Some((source.clone(), instant_text(*ms)?)))
        .collect()
}

/// Notes the run in its lake, but one that another writer kept out: that one notes its own. Gives when a run ended well before,
/// Unix milliseconds.
fn note(place: &str, report: &RunReport, ended: &Result<()>) -> Option<i64> {
    let is_kept_out = matches!(ended, Err(why) if why.kind() == Kind::Busy);
    let noted = Store::open_existing(place).and_then(|store| {
        let former = LastRun::load(&store);
        if !is_kept_out {
            LastRun::note(&store, report)?;
        }
        former
    });
    let noted = noted.inspect_err(|why| {
        if why.kind() == Kind::Data {
            warn!("{why}; it is replaced");
        } else {
            warn!("the lake could not note how the run ended: {why}");
        }
    });
    // Fallback: what could not be read was reported just now.
    let success = noted.ok().flatten()?.last_success_utc?;
    parse_instant_s(&success)?.checked_mul(1000)
}

/// The report of a run whose plan is known now: it stays the run that began.
pub(super) fn report_of(plan: &Plan, options: &RunOptions, begun: &RunReport) -> RunReport {
    RunReport {
        identity: begun.identity.clone(),
        ..RunReport::new(plan, options)
    }
}
