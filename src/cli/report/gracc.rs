//! `gridtally report gracc`

use tracing::warn;

use super::print::print;
use super::receiver::{Destination, ReceiverArgs};
use super::users::UsersArgs;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::Result;
use crate::report::gracc::{export, table};
use crate::report::lake::Lake;
use crate::report::publication::exporter::Exporter;
use crate::report::publication::outbox::{Outbox, OutboxLayout};
use crate::report::publication::record_format::RecordFormat;
use crate::report::render::TableFormat;
use crate::runtime::clock;
use crate::store::StatePart;

/// Write GRACC's daily summary documents.
///
/// By UTC day of the end, VO, project, subject, processors, GPUs, resource type, exit code, grid, probe and site. Resource
/// types (Batch, Payload, Storage) describe the same hours: never add them up. Where received summaries count they are
/// exported in place of batch jobs; those of more than one day fit no document, and are counted. Subjects are withheld
/// unless `--users` sets otherwise.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  The documents of a month, one to a line:
    gridtally report gracc out --from 2026-03 --to 2026-03 > summary-2026.03.ndjson

  Only what differs from what was sent before, a file for each site and month; what is gone is taken back by documents of
  the same key with zeros, because GRACC replaces by key and deletes nothing:
    gridtally report gracc out --receiver gracc --out outgoing")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    users: UsersArgs,

    /// Folder or URL to write to: the documents, a file for each site and month. Without it they go to stdout.
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: Option<String>,

    #[command(flatten)]
    receiver: ReceiverArgs,

    /// Format on stdout: of the documents; with --receiver that of the difference, as a table unless it is given.
    #[arg(long, value_name = "FORMAT")]
    format: Option<TableFormat>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if let Some(receiver) = args.receiver.receiver() {
        let to = Destination {
            out: args.out.as_deref(),
            layout: OutboxLayout::Files,
            // Fallback: the format that the manual states is taken where none is given.
            format: args.format.unwrap_or_default(),
        };
        args.as_of.refuse_receiver()?;
        return args.receiver.run(receiver, &args.lake, &to, |lake| {
            let selection = args
                .selection
                .of(lake, Finest::Month("a receiver holds months as a whole"))?;
            let exporter = Exporter::Gracc {
                selection: selection.clone(),
                users: args.users.users()?,
            };
            Ok((selection, exporter))
        });
    }
    let outbox = reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || {
        documents(args)
    })?;
    outbox.map_or(Ok(()), Outbox::deliver)
}

/// Writes all of it: to stdout, or to an outbox that still waits to be delivered.
fn documents(args: &Args) -> Result<Option<Outbox>> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = args.selection.of(&lake, Finest::Day)?;
    let users = args.users.users()?;
    let Some(out) = &args.out else {
        let format = args.format.unwrap_or(TableFormat::Ndjson);
        let (documents, left_out) = table(&lake, &selection, &users)?;
        print(&documents, format)?;
        note(&left_out);
        return Ok(None);
    };
    let mut outbox = Outbox::open(out, OutboxLayout::Files, clock::now_ms(), lake.store.url())?;
    let left_out = export(&lake, &selection, &users, |site, month, text, _| {
        outbox.put(RecordFormat::Gracc, site, month, 1, text).map(drop)
    })?;
    note(&left_out);
    Ok(Some(outbox))
}

/// Reports what no document can hold.
fn note(left_out: &[String]) {
    for line in left_out {
        warn!("{line}");
    }
}
