//! Reading one repair file.

use std::io::{BufReader, Cursor};
use std::sync::Arc;

use super::entry::{RepairEntry, RepairKey, RepairOutcome};
use super::targets::Targets;
use crate::dedupe::spill::Spill;
use crate::dedupe::{Intake, IntakeRows, Window};
use crate::error::{Error, Kind, Result};
use crate::ingest::reading::{ReadFile, Reading};
use crate::ingest::summary_limits::SummaryLimits;
use crate::ledger::Reason;
use crate::numbers::{Extent, count_u64};
use crate::sources::dialect::Dialect;
use crate::sources::forwarding_sink::Relay;
use crate::sources::repair::{RepairUnit, Units};
use crate::sources::{Position, Sink, compression, registry};

/// Rows taken before they go to the spill.
const ROWS_HELD: usize = 8192;

struct RepairReader<'a> {
    reading: &'a Reading,
    dialect: Dialect,
    at: usize,
    window: Window,
    intake: Intake,
    held: usize,
    filled: ReadFile,
    spill: &'a Spill,
}

/// Reads a repair file; `at` is its place in the list of files, which represents its id in the spill.
///
/// # Errors
/// [`Kind::Io`] when reading fails. What is wrong with the file is a refusal.
pub(crate) fn read(
    reading: &Reading,
    at: usize,
    own: &str,
    window: Window,
    spill: &Spill,
    targets: &mut Targets<'_>,
) -> Result<(ReadFile, Vec<RepairEntry>)> {
    let mut entries = Vec::new();
    let opened = compression::decompress(reading.file.open()?)
        .and_then(|input| Units::open(Box::new(BufReader::new(input))))
        .and_then(|units| Ok((dialect_of(reading, &units)?, units)));
    let (dialect, mut units) = match opened {
        Ok(opened) => opened,
        Err(e) => {
            return Ok((
                unreadable(ReadFile::new(SummaryLimits::default().file_n), reading, e)?,
                entries,
            ));
        }
    };
    let mut filled = ReadFile::new(SummaryLimits::default().file_n);
    filled.dialect = Some(dialect);
    let mut reader = RepairReader {
        reading,
        dialect,
        at,
        window,
        intake: reading.intake(at, dialect, window, IntakeRows::default()),
        held: 0,
        filled,
        spill,
    };
    let file_id = units.title().file_id.clone();
    loop {
        let unit = match units.next_unit() {
            Ok(Some(unit)) => unit,
            Ok(None) => break,
            Err(e) => {
                reader.flush()?;
                return Ok((unreadable(reader.filled, reading, e)?, entries));
            }
        };
        let place = Position {
            line: unit.line,
            byte_offset: unit.byte_offset,
        };
        let key = unit.refused.as_ref().map_err(Clone::clone).and_then(|refused| {
            let reason = Reason::parse(&refused.reason).ok_or_else(|| format!("no reason {:?}", refused.reason))?;
            Ok(RepairKey {
                line: refused.line,
                byte_offset: refused.byte_offset,
                reason,
            })
        });
        let key = match key {
            Ok(key) => key,
            Err(why) => {
                reader.intake.rows_read(1);
                reader.intake.reject(
                    Reason::BadMessage,
                    place,
                    1,
                    &format!("control line: {why}"),
                    &unit.body,
                );
                continue;
            }
        };
        let mut entry = RepairEntry {
            source: reading.source.name.clone(),
            repair_file_id: own.to_owned(),
            repair_line: unit.line,
            file_id: file_id.clone(),
            key,
            effect: RepairOutcome::Unmatched,
            row_n: 0,
            repair_row_n: 0,
        };
        let target = targets.open(&reading.source.name, &file_id, key, own)?;
        let (effect, rows) = reader.take(&unit, target.is_some())?;
        entry.effect = effect;
        entry.repair_row_n = rows;
        if let (RepairOutcome::Repaired, Some(row_n)) = (effect, target) {
            targets.mend(&file_id, key, own, row_n);
            entry.row_n = row_n;
        }
        entries.push(entry);
    }
    reader.flush()?;
    Ok((reader.filled, entries))
}

/// The dialect of the rows, and that they are of this source.
fn dialect_of(reading: &Reading, units: &Units) -> Result<Dialect> {
    let title = units.title();
    let wrong = |message: String| Err(Error::new(Kind::Data, message));
    if title.source != reading.source.name {
        return wrong(format!("a repair file of the source {:?}", title.source));
    }
    let Some(dialect) = registry::named(&title.format).filter(|dialect| dialect.row().raw.is_some()) else {
        return wrong(format!(
            "a repair file of rows in {:?}, which nothing reads",
            title.format
        ));
    };
    match reading.source.format().dialect() {
        Some(declared) if declared != dialect => wrong(format!(
            "a repair file of rows in {}, and the source is {}",
            dialect.as_str(),
            declared.as_str()
        )),
        _ => Ok(dialect),
    }
}

fn unreadable(mut filled: ReadFile, reading: &Reading, e: Error) -> Result<ReadFile> {
    if matches!(e.kind(), Kind::Config | Kind::NoInput | Kind::Internal) {
        return Err(e);
    }
    filled.refuse_file(&e, reading.privacy.is_some())?;
    Ok(filled)
}

impl RepairReader<'_> {
    fn intake(&self) -> Intake {
        self.reading
            .intake(self.at, self.dialect, self.window, IntakeRows::default())
    }

    /// Takes the rows of one text: all of them, or none.
    fn take(&mut self, unit: &RepairUnit, is_open: bool) -> Result<(RepairOutcome, u64)> {
        let mut trial = self.intake();
        let failure = read_into(self.reading, self.dialect, unit, &mut trial)?;
        let (tried, _) = trial.harvest()?;
        let rows = tried.rows_read.max(u64::from(failure.is_some()));
        let place = Position {
            line: unit.line,
            byte_offset: unit.byte_offset,
        };
        let is_later = tried.tally.keys().any(|place| place.reason == Reason::OutsidePeriod);
        if !is_open {
            self.intake.rows_read(rows);
            if rows > 0 {
                self.intake.out_of_scope(Reason::RepairUnmatched, rows);
            }
            return Ok((RepairOutcome::Unmatched, rows));
        }
        let refused = tried
            .rejects
            .first()
            .map(|reject| (reject.reason, reject.detail.clone()))
            .or_else(|| failure.map(|why| (Reason::UnreadableFile, why)))
            .or_else(|| (rows == 0).then(|| (Reason::NotARecord, "the text holds no row".to_owned())));
        if let Some((reason, detail)) = refused {
            let rows = rows.max(1);
            self.intake.rows_read(rows);
            self.intake.reject(reason, place, rows, &detail, &unit.body);
            return Ok((RepairOutcome::Refused, rows));
        }
        read_into(self.reading, self.dialect, unit, &mut self.intake)?;
        self.held += 1;
        if self.held >= ROWS_HELD {
            self.flush()?;
        }
        Ok((
            if is_later {
                RepairOutcome::Later
            } else {
                RepairOutcome::Repaired
            },
            rows,
        ))
    }

    fn flush(&mut self) -> Result<()> {
        self.held = 0;
        let none_yet = self.intake();
        let intake = std::mem::replace(&mut self.intake, none_yet);
        let (harvest, mut rows) = self.reading.harvest(intake)?;
        self.reading.store(&mut rows, self.spill)?;
        self.filled.take(harvest)
    }
}

/// Reads a text with its header; returns the objection of the dialect's reader.
fn read_into(reading: &Reading, dialect: Dialect, unit: &RepairUnit, intake: &mut Intake) -> Result<Option<String>> {
    let mut text = unit.header.to_vec();
    text.extend_from_slice(&unit.body);
    let lines = memchr::memchr_iter(b'\n', &unit.header).count();
    let mut sink = Moved {
        intake,
        header_lines: count_u64(lines),
        header_bytes: count_u64(unit.header.len()),
        line: unit.line,
        byte_offset: unit.byte_offset,
    };
    let options = Arc::clone(&reading.source.reader);
    let stated = |e: Error| match e.kind() {
        // A missing time zone is the pipeline's fault in a repair file as in any other.
        Kind::Config | Kind::Internal => Err(e),
        _ => Ok(Some(e.to_string())),
    };
    let pieces = match dialect.pieces(Box::new(Cursor::new(text)), options) {
        Ok(pieces) => pieces,
        Err(e) => return stated(e),
    };
    for work in pieces {
        match work {
            Ok(work) => reading.send_to(work, &mut sink),
            Err(e) => return stated(e),
        }
    }
    Ok(None)
}

/// Gives an intake the position of a row in the repair file: a row is identified by its file and line.
struct Moved<'a> {
    intake: &'a mut Intake,
    header_lines: u64,
    header_bytes: u64,
    line: u64,
    byte_offset: u64,
}

impl Relay for Moved<'_> {
    fn inner(&mut self) -> &mut dyn Sink {
        self.intake
    }

    fn place(&self, at: Position) -> Position {
        Position {
            line: self.line + at.line.less(self.header_lines + 1),
            byte_offset: self.byte_offset + at.byte_offset.less(self.header_bytes),
        }
    }
}
