//! `gridtally publication`

use std::path::{Path, PathBuf};

use tracing::info;

use super::output;
use super::reading::reading;
use super::selection::SiteArgs;
use super::wait::WaitArgs;
use crate::diagnostics::must_be_known;
use crate::error::{Error, Kind, Result};
use crate::report::lake::Lake;
use crate::report::publication::diff::{diff, in_brief, table};
use crate::report::publication::lock::{self, LockEvent};
use crate::report::publication::message_record::MessageRecord;
use crate::report::publication::messages::MessageFile;
use crate::report::publication::{carry, ledger};
use crate::report::render::{TableFormat, render};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::runtime::clock;
use crate::store::{BookLock, CutOff, Heads, StatePart, lake};
use crate::time::Month;

/// Look at what was published to whom, compare publications, lock months.
///
/// `gridtally report apel --receiver NAME` keeps this book in the lake.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What was sent, when, with which content:
    gridtally publication list out

  What changed between two versions of a month, as files or folders of messages:
    gridtally publication diff may-1.msg may-2.msg

  Lock March against further changes:
    gridtally publication lock out --month 2026-03 --reason 'report of the board' --author 'E. Office'

  A lake was built again in another folder, and continues where the former one was:
    gridtally publication carry out new-out")]
pub(super) struct Args {
    #[command(subcommand)]
    action: PublicationAction,
}

#[derive(Debug, clap::Subcommand)]
enum PublicationAction {
    /// List the publications of a lake.
    List {
        /// Folder or URL results were published to.
        lake: String,
        /// Format on stdout.
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: TableFormat,
    },
    /// List what changed between two versions: files, or folders, of APEL messages or of GRACC's summary documents.
    Diff {
        /// The earlier version.
        before: PathBuf,
        /// The later version.
        after: PathBuf,
        /// Format on stdout.
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: TableFormat,
    },
    /// Lock a month: what differs from what was published is not sent any more.
    Lock(LockArgs),
    /// Unlock a month.
    Unlock(LockArgs),
    /// Take the books of publications and locks of a lake over into one that was built again.
    Carry {
        /// Folder or URL of the lake that has the books.
        from: String,
        /// Folder or URL of the lake that has none yet.
        to: String,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// List every lock and unlock of a lake.
    Locks {
        /// Folder or URL results were published to.
        lake: String,
        /// Format on stdout.
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: TableFormat,
    },
}

#[derive(Debug, clap::Args)]
struct LockArgs {
    /// Folder or URL results were published to.
    lake: String,

    /// Month.
    #[arg(long, value_name = "YYYY-MM")]
    month: Month,

    #[command(flatten)]
    sites: SiteArgs,

    /// Why.
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// Who.
    #[arg(long, value_name = "NAME")]
    author: String,

    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    match &args.action {
        PublicationAction::List { lake, format } => reading(&[lake], StatePart::Book, || list(lake, *format)),
        PublicationAction::Diff { before, after, format } => {
            let changes = diff(&read(before)?, &read(after)?);
            let title = format!("From {} to {}", before.display(), after.display());
            output::data(&render(&table(&title, &changes), *format)?)?;
            info!("{}", in_brief(&changes));
            Ok(())
        }
        PublicationAction::Lock(args) => lock_month(args, true),
        PublicationAction::Unlock(args) => lock_month(args, false),
        PublicationAction::Carry { from, to, wait } => carry_books(from, to, wait),
        PublicationAction::Locks { lake, format } => reading(&[lake], StatePart::Book, || locks(lake, *format)),
    }
}

/// Every record of the messages or documents at a path.
fn read(path: &Path) -> Result<Vec<MessageRecord>> {
    let mut reported = Vec::new();
    for MessageFile { path: file, text } in crate::report::publication::messages::texts(path)? {
        reported.append(&mut MessageRecord::read_file(&text).map_err(|e| e.at("file", file.display()))?);
    }
    Ok(reported)
}

fn instant(ms: i64) -> Cell {
    crate::time::instant::spaced_text(ms).map_or(Cell::Empty, Cell::text)
}

fn list(lake: &str, format: TableFormat) -> Result<()> {
    let lake = Lake::open(lake)?;
    let mut found = Table::new(
        "Publications",
        &[
            ("published_utc", "UTC", ColumnKind::Text),
            ("receiver", "", ColumnKind::Text),
            ("message", "", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("month", "", ColumnKind::Text),
            ("sent_n", "1", ColumnKind::Sum),
            ("retracted_n", "1", ColumnKind::Sum),
            ("job_n", "1", ColumnKind::Number),
            ("content", "BLAKE3", ColumnKind::Text),
        ],
    );
    let entries = ledger::load(&lake.store)?;
    let same = |a: &ledger::PublicationEntry, b: &ledger::PublicationEntry| {
        (&a.publication_id, &a.receiver, &a.place) == (&b.publication_id, &b.receiver, &b.place)
    };
    for place in entries.chunk_by(same) {
        let Some(first) = place.first() else { continue };
        let of = |is_sent: bool| {
            let entries = place.iter();
            entries.filter(move |entry| (entry.state == ledger::PublicationState::Sent) == is_sent)
        };
        let count = |is_sent: bool| -> i64 { of(is_sent).map(ledger::PublicationEntry::record_n).sum() };
        let jobs: i64 = of(true).map(|entry| entry.record.job_n()).sum();
        found.push(vec![
            instant(first.published_ms),
            Cell::text(&first.receiver),
            Cell::text(first.place.form.as_str()),
            Cell::text(&first.place.site),
            Cell::text(first.place.month.to_string()),
            Cell::int(count(true)),
            Cell::int(count(false)),
            Cell::int(jobs),
            Cell::text(first.content.get(..16).unwrap_or(&first.content)),
        ]);
    }
    output::data(&render(&found, format)?)
}

fn lock_month(args: &LockArgs, is_locked: bool) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    for (what, text) in [("reason", &args.reason), ("author", &args.author)] {
        if text.trim().is_empty() {
            return Err(Error::new(Kind::Usage, format!("a lock needs a {what}")));
        }
    }
    // Before the locks are read: one that was cut off is finished with it.
    let book = BookLock::take(&lake.store, args.wait.or(0))?;
    note_cut_off(&book);
    let events = lock::load(&lake.store)?;
    let mut known = lake::sites(&lake.manifest);
    // What was locked can be unlocked, whatever became of the site.
    known.extend(events.into_iter().filter_map(|event| event.site));
    let asked = args.sites.names();
    for site in &asked {
        must_be_known("the lake has", "site", site, &known)?;
    }
    let every = asked.is_empty().then_some(None);
    for site in asked.into_iter().map(Some).chain(every) {
        let event = LockEvent {
            at_ms: clock::now_ms(),
            site,
            month: args.month,
            is_locked,
            reason: args.reason.clone(),
            author: args.author.clone(),
        };
        note_heads(&lock::append(&book, &event)?);
    }
    Ok(())
}

fn carry_books(from: &str, to: &str, wait: &WaitArgs) -> Result<()> {
    let ends = reading(&[from], StatePart::Book, || {
        let (from, to) = (Lake::open(from)?, Lake::open(to)?);
        let book = BookLock::take(&to.store, wait.or(0))?;
        note_cut_off(&book);
        carry::carry(&from.store, &book)
    })?;
    note_heads(&ends);
    Ok(())
}

/// Reports the end of each book of a lake that was written to.
pub(super) fn note_heads(ends: &Heads) {
    for (book, head) in ends {
        info!("head of {book}: {}", head.blake3);
    }
}

/// Reports the outcome of a publication that was interrupted.
pub(super) fn note_cut_off(book: &BookLock) {
    match book.cut_off() {
        Some(CutOff::Finished(n)) => info!("a publication that was cut off was finished: {n} messages and lists"),
        Some(CutOff::TakenBack) => {
            info!(
                "{}",
                "a publication that was cut off was taken back: nothing of it had been sent"
            );
        }
        None => {}
    }
}

fn locks(lake: &str, format: TableFormat) -> Result<()> {
    let lake = Lake::open(lake)?;
    let mut found = Table::new(
        "Locks of months",
        &[
            ("at_utc", "UTC", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("month", "", ColumnKind::Text),
            ("event", "", ColumnKind::Text),
            ("reason", "", ColumnKind::Text),
            ("author", "", ColumnKind::Text),
        ],
    );
    for event in lock::load(&lake.store)? {
        found.push(vec![
            instant(event.at_ms),
            Cell::word(event.site.as_deref()),
            Cell::text(event.month.to_string()),
            Cell::text(if event.is_locked { "locked" } else { "unlocked" }),
            Cell::text(event.reason),
            Cell::text(event.author),
        ]);
    }
    output::data(&render(&found, format)?)
}
