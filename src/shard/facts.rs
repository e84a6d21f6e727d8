//! What reading a file came to, besides its rows: as one process notes it for its ledger and its report.

use serde::{Deserialize, Serialize};

use crate::dedupe::{ContradictoryTimes, MappingCounts, ToolMessage, UnknownCores};
use crate::error::{Error, Result};
use crate::ingest::read_file::ReadFile;
use crate::ledger::{JobSample, Reason, RowPlace};
use crate::sources::registry;

/// The outcome of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FileFacts {
    /// Its place in the list.
    pub(crate) place: usize,
    /// BLAKE3 of the bytes that were read; empty for a file that could not be opened.
    pub(crate) blake3: String,
    dialect: Option<String>,
    rows_read_n: u64,
    candidate_n: u64,
    is_repair: bool,
    tally: Vec<TalliedRows>,
    mapping: MappingCounts,
    #[serde(default)]
    times: ContradictoryTimes,
    #[serde(default)]
    cores: UnknownCores,
    #[serde(default)]
    sample: JobSample,
    tool_message: Option<ToolMessage>,
}

/// Rows that are no candidates.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TalliedRows {
    site: Option<String>,
    month: Option<String>,
    reason: String,
    row_n: u64,
}

impl FileFacts {
    /// Of the file with this place in the list.
    pub(crate) fn of(place: usize, read: &ReadFile) -> Self {
        let tally = read.tally.iter().map(|(place, rows)| TalliedRows {
            site: place.site.clone(),
            month: place.month.map(|month| month.to_string()),
            reason: place.reason.code().to_owned(),
            row_n: *rows,
        });
        Self {
            place,
            blake3: read.blake3.clone(),
            dialect: read.dialect.map(|dialect| dialect.as_str().to_owned()),
            rows_read_n: read.rows_read,
            candidate_n: read.rows_candidate,
            is_repair: read.is_repair,
            tally: tally.collect(),
            mapping: read.mapping.clone(),
            times: read.times,
            cores: read.cores,
            sample: read.sample.clone(),
            tool_message: read.tool_message.clone(),
        }
    }

    /// Puts them where one process has them after reading the file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for words of another version.
    pub(crate) fn put_into(&self, read: &mut ReadFile) -> Result<()> {
        let unknown = |what: &str, word: &str| Error::internal(format!("a shard names an unknown {what} {word:?}"));
        let dialect = self.dialect.as_deref();
        let dialect = dialect.map(|word| registry::named(word).ok_or_else(|| unknown("dialect", word)));
        read.dialect = dialect.transpose()?;
        read.rows_read = self.rows_read_n;
        read.rows_candidate = self.candidate_n;
        read.is_repair = self.is_repair;
        read.blake3.clone_from(&self.blake3);
        read.mapping.clone_from(&self.mapping);
        read.times = self.times;
        read.cores = self.cores;
        read.sample.clone_from(&self.sample);
        read.tool_message.clone_from(&self.tool_message);
        for TalliedRows {
            site,
            month,
            reason,
            row_n,
        } in &self.tally
        {
            let month = month.as_deref();
            let month = month.map(|word| word.parse().map_err(|_| unknown("month", word)));
            let place = RowPlace {
                site: site.clone(),
                month: month.transpose()?,
                reason: Reason::parse(reason).ok_or_else(|| unknown("reason", reason))?,
            };
            read.tally.add(place, *row_n);
        }
        Ok(())
    }
}
