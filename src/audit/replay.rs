//! Refused rows written out for mending.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::rejects::RejectFilter;
use crate::dedupe::reject_text::UNDERSTOOD;
use crate::error::{Error, Kind, Result};
use crate::hive::segment;
use crate::ledger::Reason;
use crate::numbers::stored_u64;
use crate::schema::batch::{int, text, word};
use crate::sources::compression::decompress;
use crate::sources::dialect::Dialect;
use crate::sources::input::{InputFile, clean, find};
use crate::sources::location::is_url;
use crate::sources::raw_rows::{Excerpt, RawExtent, RawWanted, closed, excerpts};
use crate::sources::registry;
use crate::sources::repair::{RefusedUnit, RepairWriter, Title, VERSION, is_repair};
use crate::store::lake::inputs_path;
use crate::store::{Manifest, Outgoing, Store, read_table};

/// Refusals of one file handled, and written into one file, at once.
const BATCH_ROWS: usize = 8192;

/// The instructions at the head of a file, for the person who repairs it.
const NOTES: [&str; 3] = [
    "Each row below was refused for the reason above it. Mend it, or delete what cannot be mended.",
    "Leave the lines that begin with #gridtally as they are.",
    "Then put this file among the paths of its source and run the pipeline. Keep it there afterwards.",
];

/// What to write out.
pub struct Replay<'a> {
    /// Lake.
    pub output: &'a str,
    /// Folder or URL to write to.
    pub export: &'a str,
    /// Folder in which relative paths of inputs begin.
    pub inputs: &'a Path,
    /// Which refusals.
    pub filter: RejectFilter,
}

/// A file written.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// Its path below the folder.
    pub path: String,
    /// Source.
    pub source: String,
    /// Refusals in it.
    pub refusal_n: u64,
    /// Rows these cover.
    pub row_n: u64,
}

/// Refusals that cannot be mended row by row.
#[derive(Clone, Debug, Serialize)]
pub struct NotExported {
    /// Source.
    pub source: String,
    /// Input file.
    pub path: String,
    /// Code of the reason.
    pub reason: String,
    /// Why they are not written out.
    pub why: &'static str,
    /// Refusals.
    pub refusal_n: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplayReport {
    /// Lake.
    pub output: String,
    /// Where files were written.
    pub export: String,
    /// Files written, or found there as they would be written.
    pub files: Vec<Exported>,
    /// What was not.
    pub left: Vec<NotExported>,
}

impl ReplayReport {
    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            let _ = writeln!(text, "{}: {} rows of source {}", file.path, file.row_n, file.source);
        }
        for left in &self.left {
            let _ = writeln!(
                text,
                "not written: {} {} of {}: {}",
                left.refusal_n, left.reason, left.path, left.why
            );
        }
        let rows: u64 = self.files.iter().map(|file| file.row_n).sum();
        let _ = writeln!(
            text,
            "{}: {rows} refused rows in {} files",
            self.export,
            self.files.len()
        );
        text
    }
}

/// One refusal.
struct Item {
    refused: RefusedUnit,
    raw: Option<String>,
    raw_byte_n: u64,
}

impl Item {
    /// The raw text, if it is the text of the file and all of it.
    fn whole_raw(&self) -> Option<&str> {
        let raw = self
            .raw
            .as_deref()
            .filter(|raw| !self.is_rendering() && !raw.is_empty())?;
        (u64::try_from(raw.len()).ok() == Some(self.raw_byte_n)).then_some(raw)
    }

    /// Whether the raw text is the record as it was read, because a row that can be read was refused all the same.
    fn is_rendering(&self) -> bool {
        self.raw.as_deref().is_some_and(|raw| raw.starts_with(UNDERSTOOD))
    }

    fn wanted(&self) -> RawWanted {
        let extent = if self.is_rendering() || self.raw_byte_n == 0 {
            RawExtent::Rows(self.refused.row_n.max(1))
        } else {
            RawExtent::Bytes(self.raw_byte_n)
        };
        RawWanted {
            byte_offset: self.refused.byte_offset,
            extent,
        }
    }

    /// Whether the file still contains the refused row.
    fn is_of(&self, excerpt: &Excerpt) -> bool {
        match &self.raw {
            Some(raw) if !self.is_rendering() => {
                let text = String::from_utf8_lossy(&excerpt.body);
                // The lake keeps the beginning of long texts; its last character may be cut.
                let kept = raw.trim_end_matches('\u{fffd}');
                text.starts_with(kept)
            }
            _ => !excerpt.body.trim_ascii().is_empty(),
        }
    }
}

/// An input file as the ledger knows it.
struct ReplayInput {
    source: String,
    path: String,
    dialect: Option<Dialect>,
    blake3: String,
}

/// A local folder by its whole path; `None` for a URL.
fn folder(path: &str) -> Option<PathBuf> {
    let path = Some(path).filter(|path| !is_url(path))?;
    // Fallback: a path that has no whole form contains no other folder.
    std::path::absolute(path).ok().map(|path| clean(&path))
}

/// Writes refused rows out. Running it twice writes the same bytes.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake; [`Kind::Usage`] when it would be written into it; [`Kind::Data`] when a file
/// with other content is in the way; [`Kind::Io`] when reading or writing fails.
pub fn export(replay: &Replay<'_>) -> Result<ReplayReport> {
    let (report, outgoing) = stage(replay)?;
    outgoing.map_or(Ok(()), Outgoing::deliver)?;
    Ok(report)
}

/// As [`export`], but what is to be written still waits to be delivered.
///
/// # Errors
/// As [`export`].
pub fn stage(replay: &Replay<'_>) -> Result<(ReplayReport, Option<Outgoing>)> {
    let (store, manifest) = Manifest::open(replay.output)?;
    if let (Some(export), Some(lake)) = (folder(replay.export), folder(replay.output))
        && export.starts_with(lake)
    {
        let message = format!(
            "{} is in the lake, which may contain published files only",
            replay.export
        );
        return Err(Error::new(Kind::Usage, message));
    }
    let inputs = inputs(&store, &manifest)?;
    let mut export = ReplayExport {
        replay,
        target: None,
        left: BTreeMap::new(),
        report: ReplayReport {
            output: store.url().to_owned(),
            export: replay.export.to_owned(),
            ..ReplayReport::default()
        },
    };
    for file in manifest.dataset("rejects") {
        let mut part = 0;
        for batch in read_table(store.reader(&file.path)?, None, BATCH_ROWS)? {
            let mut items: BTreeMap<String, Vec<Item>> = BTreeMap::new();
            read_items(&batch?, &replay.filter, &mut items)?;
            for (file_id, items) in items {
                part += 1;
                let input = inputs.get(&file_id);
                let input =
                    input.ok_or_else(|| Error::new(Kind::Data, "refusals of a file the ledger does not know"))?;
                export.file(&file_id, input, items, part)?;
            }
        }
    }
    export
        .report
        .files
        .sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
    let left = export.left.into_iter();
    export.report.left = left
        .map(|((source, path, reason, why), refusal_n)| NotExported {
            source,
            path,
            reason,
            why,
            refusal_n,
        })
        .collect();
    Ok((export.report, export.target))
}

fn inputs(store: &Store, manifest: &Manifest) -> Result<BTreeMap<String, ReplayInput>> {
    let mut inputs = BTreeMap::new();
    for batch in read_table(store.reader(inputs_path(manifest))?, None, 16_384)? {
        let batch = batch?;
        let (source, path, id) = (text(&batch, "source")?, text(&batch, "path")?, text(&batch, "file_id")?);
        let (format, blake3) = (text(&batch, "format")?, text(&batch, "blake3")?);
        for row in 0..batch.num_rows() {
            // Rows are accounted to the first path, and paths are in order.
            inputs.entry(id.value(row).to_owned()).or_insert_with(|| ReplayInput {
                source: source.value(row).to_owned(),
                path: path.value(row).to_owned(),
                dialect: registry::named(format.value(row)),
                blake3: blake3.value(row).to_owned(),
            });
        }
    }
    Ok(inputs)
}

fn read_items(
    batch: &arrow_array::RecordBatch,
    filter: &RejectFilter,
    into: &mut BTreeMap<String, Vec<Item>>,
) -> Result<()> {
    let (source, file_id) = (text(batch, "source")?, text(batch, "file_id")?);
    let (line, offset) = (int(batch, "line")?, int(batch, "byte_offset")?);
    let (reason, detail, raw) = (text(batch, "reason")?, text(batch, "detail")?, text(batch, "raw")?);
    let (rows, raw_bytes) = (int(batch, "row_n")?, int(batch, "raw_byte_n")?);
    // Fallback: lakes of earlier versions lack the column until their files change.
    let repaired = text(batch, "repaired_by").ok();
    for row in 0..batch.num_rows() {
        let is_mended = repaired.is_some_and(|repaired| word(repaired, row).is_some());
        if is_mended || !filter.takes(source.value(row), reason.value(row)) {
            continue;
        }
        into.entry(file_id.value(row).to_owned()).or_default().push(Item {
            refused: RefusedUnit {
                line: stored_u64(line.value(row), "line")?,
                byte_offset: stored_u64(offset.value(row), "byte_offset")?,
                reason: reason.value(row).to_owned(),
                row_n: stored_u64(rows.value(row), "row_n")?,
                detail: detail.value(row).to_owned(),
            },
            raw: word(raw, row).map(str::to_owned),
            raw_byte_n: stored_u64(raw_bytes.value(row), "raw_byte_n")?,
        });
    }
    Ok(())
}

struct ReplayExport<'a> {
    replay: &'a Replay<'a>,
    target: Option<Outgoing>,
    /// (source, path, reason, why) -> refusals.
    left: BTreeMap<(String, String, String, &'static str), u64>,
    report: ReplayReport,
}

impl ReplayExport<'_> {
    fn leave(&mut self, input: &ReplayInput, item: &Item, why: &'static str) {
        let key = (
            input.source.clone(),
            input.path.clone(),
            item.refused.reason.clone(),
            why,
        );
        *self.left.entry(key).or_default() += 1;
    }

    fn file(&mut self, file_id: &str, input: &ReplayInput, items: Vec<Item>, part: usize) -> Result<()> {
        let mut rows: Vec<Item> = Vec::new();
        for item in items {
            if item.refused.reason == Reason::BenchmarkMissing.code() {
                self.leave(input, &item, "the row is sound; the table of benchmarks lacks a value");
            } else if item.refused.reason == Reason::SumLimit.code() {
                self.leave(input, &item, "the jobs of its month come to more than any site has");
            } else if item.refused.reason == Reason::ReservationSumLimit.code() {
                self.leave(
                    input,
                    &item,
                    "the reservations of its month come to more than any site has",
                );
            } else if item.refused.reason == Reason::UnreadableFile.code() {
                self.leave(input, &item, "the file as a whole is refused");
            } else {
                rows.push(item);
            }
        }
        let Some((dialect, layout)) = input
            .dialect
            .and_then(|dialect| Some((dialect, dialect.row().raw.as_ref()?)))
        else {
            for item in &rows {
                self.leave(input, item, "no reader knows the rows of this file one by one");
            }
            return Ok(());
        };
        rows.sort_by_key(|item| item.refused.byte_offset);
        let texts = match self.open(input)? {
            Opened::Repair => {
                for item in &rows {
                    self.leave(
                        input,
                        item,
                        "it is in a repair file; the original row is written instead",
                    );
                }
                return Ok(());
            }
            Opened::Input(bytes) => {
                let wanted: Vec<RawWanted> = rows.iter().map(Item::wanted).collect();
                excerpts(layout, bytes, &wanted)?
            }
            Opened::Gone => rows.iter().map(|_| None).collect(),
        };
        let title = Title {
            version: VERSION,
            source: input.source.clone(),
            format: dialect.as_str().to_owned(),
            file_id: file_id.to_owned(),
            path: input.path.clone(),
        };
        let mut writer = RepairWriter::new(&title, &NOTES)?;
        let mut exported = Exported {
            path: String::new(),
            source: input.source.clone(),
            refusal_n: 0,
            row_n: 0,
        };
        for (item, found) in rows.iter().zip(texts) {
            let found = found.filter(|found| item.is_of(found)).or_else(|| {
                let raw = item.whole_raw().filter(|_| !layout.needs_header())?;
                Some(Excerpt {
                    header: Vec::new(),
                    body: raw.as_bytes().to_vec(),
                })
            });
            let Some(found) = found else {
                self.leave(
                    input,
                    item,
                    "the input file is not where it was, or not what it was (see --inputs)",
                );
                continue;
            };
            writer.row(&item.refused, &found.header, &closed(layout, found.body))?;
            exported.refusal_n += 1;
            exported.row_n += item.refused.row_n;
        }
        if exported.refusal_n > 0 {
            let source = segment("", Some(&input.source));
            let part = if part > 1 { format!("-{part}") } else { String::new() };
            exported.path = format!("{}/{file_id}{part}.repair", source.trim_start_matches('='));
            self.write(&exported.path, writer.finish())?;
            self.report.files.push(exported);
        }
        Ok(())
    }

    /// The unpacked bytes of an input, if they are what they were.
    fn open(&self, input: &ReplayInput) -> Result<Opened> {
        let file = if is_url(&input.path) {
            find(&input.path, self.replay.inputs)?.into_iter().next()
        } else {
            let path = self.replay.inputs.join(&input.path);
            path.is_file()
                .then(|| InputFile::local(&path, input.path.clone()))
                .transpose()?
        };
        let Some(file) = file else {
            return Ok(Opened::Gone);
        };
        if file.content_hash()? != input.blake3 {
            return Ok(Opened::Gone);
        }
        let mut head = Vec::new();
        let mut bytes = decompress(file.open()?)?;
        bytes.by_ref().take(64).read_to_end(&mut head)?;
        if is_repair(&head) {
            return Ok(Opened::Repair);
        }
        Ok(Opened::Input(decompress(file.open()?)?))
    }

    /// Writes a file, unless it is there. What somebody has begun to mend is not overwritten.
    fn write(&mut self, path: &str, bytes: Vec<u8>) -> Result<()> {
        let target = if let Some(target) = &mut self.target {
            target
        } else {
            // Raw text names people, whom the lake may withhold.
            let mut target = Outgoing::open(self.replay.export)?;
            target.keep_private()?;
            self.target.insert(target)
        };
        if let Some(there) = target.store().get(path)? {
            if there == bytes {
                return Ok(());
            }
            return Err(Error::new(
                Kind::Data,
                "a file is in the way that has other content; it may hold what somebody has mended: take it away, or \
                 export to another folder",
            )
            .at("file", path)
            .at("folder", self.replay.export));
        }
        target.put(path, bytes.into())
    }
}

enum Opened {
    Input(Box<dyn Read + Send>),
    Repair,
    Gone,
}
