//! The note of the last run in a lake: how it ended, and when one ended well. The dataset `runs` has only those that changed
//! something.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::run::run_report::{RunReport, Status};
use crate::store::Store;

/// The version of the form.
const FORMAT_VERSION: u32 = 1;

/// The last run of a lake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// The version of this form.
    pub format_version: u32,
    /// Its id.
    pub run_id: String,
    /// Pipeline.
    pub pipeline: String,
    /// Start, UTC.
    pub started_utc: String,
    /// End, UTC.
    pub finished_utc: String,
    /// How it ended: `published`, `unchanged` or `failed`.
    pub status: String,
    /// Exit code.
    pub exit_code: u8,
    /// Why it failed; null where it did not.
    pub message: Option<String>,
    /// Its warnings.
    #[serde(default)]
    pub warning_n: u64,
    /// The first hundred of them; none of a pipeline that withholds names, for a warning may have some.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// End of the last run that ended well, UTC; null while there is none.
    pub last_success_utc: Option<String>,
}

impl LastRun {
    /// What a lake notes; `None` where it notes nothing.
    ///
    /// # Errors
    /// [`Kind::Data`] when the note is damaged or of a later version.
    pub fn load(store: &Store) -> Result<Option<Self>> {
        let Some(bytes) = store.run_note()? else {
            return Ok(None);
        };
        Self::parse(&bytes).map(Some).map_err(|why| why.at("lake", store.url()))
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let damaged = || {
            Error::new(
                Kind::Data,
                "the note of the last run (.gridtally/last_run.json) is damaged",
            )
        };
        let note: Self = serde_json::from_slice(bytes).map_err(|why| damaged().because(why))?;
        if note.format_version != FORMAT_VERSION {
            return Err(damaged().at("format_version", note.format_version));
        }
        Ok(note)
    }

    /// Of a run that has ended, after another one.
    fn after(former: Option<Self>, report: &RunReport) -> Self {
        let finished_utc = report.ending.finished_utc.clone();
        // Fallback: a run whose end is not stated ended when it began.
        let finished_utc = finished_utc.unwrap_or_else(|| report.identity.started_utc.clone());
        let is_success = report.status != Status::Failed;
        Self {
            format_version: FORMAT_VERSION,
            run_id: report.identity.run_id.clone(),
            pipeline: report.pipeline.clone(),
            started_utc: report.identity.started_utc.clone(),
            status: report.status.as_str().to_owned(),
            // Fallback: a run that has ended well without a code of its own ended with 0.
            exit_code: report.ending.exit_code.unwrap_or(0),
            message: report.error.as_ref().map(|failure| failure.message.clone()),
            warning_n: report.ending.warning_n,
            warnings: if report.are_names_withheld {
                Vec::new()
            } else {
                report.ending.warnings.clone()
            },
            last_success_utc: if is_success {
                Some(finished_utc.clone())
            } else {
                former.and_then(|former| former.last_success_utc)
            },
            finished_utc,
        }
    }

    /// Notes the end of a run in its lake. A run that did not get the lake leaves no note: the one that holds it does.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written.
    pub fn note(store: &Store, report: &RunReport) -> Result<()> {
        store.replace_run_note(|former| {
            // A damaged note is replaced; what it had of an earlier success is lost.
            let former = former.and_then(|bytes| Self::parse(&bytes).ok());
            let note = serde_json::to_vec_pretty(&Self::after(former, report));
            let note = note.map_err(|why| Error::internal("a note cannot be written").because(why))?;
            Ok(note.into())
        })?;
        Ok(())
    }
}
