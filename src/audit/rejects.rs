//! What was refused, summed up for those who will see to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::error::Result;
use crate::ledger::Reason;
use crate::lines;
use crate::schema::batch::{int, text, word};
use crate::store::{Manifest, read_table};

/// Characters of raw text an example shows.
const SHOWN: usize = 200;

/// The requested refusals; `None` means all.
#[derive(Clone, Debug, Default)]
pub struct RejectFilter {
    /// Of this source.
    pub source: Option<String>,
    /// For these reasons; empty is all.
    pub reasons: Vec<Reason>,
}

impl RejectFilter {
    /// Whether a refusal is requested.
    #[must_use]
    pub fn takes(&self, source: &str, reason: &str) -> bool {
        self.source.as_deref().is_none_or(|wanted| wanted == source)
            && (self.reasons.is_empty() || self.reasons.iter().any(|wanted| wanted.code() == reason))
    }
}

/// One refusal as an example.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RejectExample {
    /// Line in the file.
    pub line: i64,
    /// Byte offset in the file.
    pub byte_offset: i64,
    /// Field, value and why.
    pub detail: String,
    /// The beginning of the raw text; `None` when it is withheld, or the row is in records.
    pub raw: Option<String>,
}

/// The refusals of one file for one reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RejectGroup {
    /// Source.
    pub source: String,
    /// File.
    pub path: String,
    /// Its id.
    pub file_id: String,
    /// Code of the reason.
    pub reason: String,
    /// What the reason means.
    pub meaning: &'static str,
    /// Refusals that are not repaired.
    pub refusal_n: i64,
    /// Rows they cover.
    pub row_n: i64,
    /// Rows that were mended.
    pub repaired_row_n: i64,
    /// The first ones, in the order of the file.
    pub examples: Vec<RejectExample>,
}

/// The refusals of a lake, by source, file and reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RejectReport {
    /// Lake.
    pub output: String,
    /// Rows refused and not mended.
    pub row_n: i64,
    /// Rows mended.
    pub repaired_row_n: i64,
    /// Sorted by source, path and reason.
    pub groups: Vec<RejectGroup>,
}

/// Sums up the refusals of a lake, with at most `example_n` examples each.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] when there is no lake; [`crate::error::Kind::Io`] when it cannot be read.
pub fn summarise(output: &str, filter: &RejectFilter, example_n: usize) -> Result<RejectReport> {
    let (store, manifest) = Manifest::open(output)?;
    let mut groups: BTreeMap<(String, String, String, String), RejectGroup> = BTreeMap::new();
    let mut report = RejectReport {
        output: store.url().to_owned(),
        ..RejectReport::default()
    };
    for file in manifest.dataset("rejects") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (source, file_id, path) = (text(&batch, "source")?, text(&batch, "file_id")?, text(&batch, "path")?);
            let (reason, detail, raw) = (text(&batch, "reason")?, text(&batch, "detail")?, text(&batch, "raw")?);
            let (line, offset, rows) = (int(&batch, "line")?, int(&batch, "byte_offset")?, int(&batch, "row_n")?);
            // Fallback: lakes of before have no such column until their files change.
            let repaired = text(&batch, "repaired_by").ok();
            for row in 0..batch.num_rows() {
                if !filter.takes(source.value(row), reason.value(row)) {
                    continue;
                }
                let [source, path, file_id, reason] =
                    [&source, &path, &file_id, &reason].map(|c| c.value(row).to_owned());
                let key = (source.clone(), path.clone(), file_id.clone(), reason.clone());
                let group = groups.entry(key).or_insert_with(|| RejectGroup {
                    meaning: Reason::parse(&reason).map_or("", Reason::meaning),
                    source,
                    path,
                    file_id,
                    reason,
                    ..RejectGroup::default()
                });
                if repaired.is_some_and(|repaired| word(repaired, row).is_some()) {
                    group.repaired_row_n += rows.value(row);
                    report.repaired_row_n += rows.value(row);
                    continue;
                }
                group.refusal_n += 1;
                group.row_n += rows.value(row);
                report.row_n += rows.value(row);
                group.examples.push(RejectExample {
                    line: line.value(row),
                    byte_offset: offset.value(row),
                    detail: detail.value(row).to_owned(),
                    raw: word(raw, row).map(|raw| raw.chars().take(SHOWN).collect()),
                });
                if group.examples.len() > 2 * example_n + 64 {
                    group.examples.sort();
                    group.examples.truncate(example_n);
                }
            }
        }
    }
    report.groups = groups.into_values().collect();
    for group in &mut report.groups {
        group.examples.sort();
        group.examples.truncate(example_n);
    }
    Ok(report)
}

impl RejectReport {
    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut last: Option<(&str, &str)> = None;
        for group in &self.groups {
            let file = (group.source.as_str(), group.path.as_str());
            if last != Some(file) {
                let _ = writeln!(text, "{}: {}", group.source, group.path);
                last = Some(file);
            }
            let mended = match group.repaired_row_n {
                0 => String::new(),
                rows => format!(", {rows} mended"),
            };
            let _ = writeln!(
                text,
                "  {:>8} {}{mended} - {}",
                group.row_n, group.reason, group.meaning
            );
            for example in &group.examples {
                let _ = match example.line {
                    // The file as a whole.
                    0 => writeln!(text, "           {}", example.detail),
                    line => writeln!(text, "           line {line}: {}", example.detail),
                };
                if let Some(raw) = example.raw.as_ref().filter(|raw| !raw.is_empty()) {
                    let _ = writeln!(text, "             {}", raw.trim_end().escape_debug());
                }
            }
        }
        let _ = writeln!(
            text,
            "{}: {} rows refused, {} mended",
            self.output, self.row_n, self.repaired_row_n
        );
        text
    }

    /// One line per group, with its first example, as CSV.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be written into memory.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let header = [
            "source",
            "path",
            "file_id",
            "reason",
            "meaning",
            "refusal_n",
            "row_n",
            "repaired_row_n",
            "first_line",
            "first_detail",
        ];
        let rows = self.groups.iter().map(|group| {
            let first = group.examples.first();
            vec![
                group.source.clone(),
                group.path.clone(),
                group.file_id.clone(),
                group.reason.clone(),
                group.meaning.to_owned(),
                group.refusal_n.to_string(),
                group.row_n.to_string(),
                group.repaired_row_n.to_string(),
                // Fallback: a reason without an example has an empty place.
                first.map(|example| example.line.to_string()).unwrap_or_default(),
                // Fallback: a reason without an example has an empty detail.
                first.map(|example| example.detail.clone()).unwrap_or_default(),
            ]
        });
        lines::csv(header, rows)
    }
}
