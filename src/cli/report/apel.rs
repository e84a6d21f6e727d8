//! `gridtally report apel`

use tracing::{info, warn};

use super::print::print;
use super::receiver::{Destination, ReceiverArgs};
use super::users::UsersArgs;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::{Error, Kind, Result};
use crate::reference::benchmark::Benchmark;
use crate::report::apel::MessageKind;
use crate::report::apel::message::{BATCH_RECORDS, MAX_BATCH_RECORDS};
use crate::report::apel::publish::{ApelRequest, Published, publish};
use crate::report::apel::server_sites;
use crate::report::lake::Lake;
use crate::report::publication::exporter::Exporter;
use crate::report::publication::outbox::{Outbox, OutboxLayout};
use crate::report::render::TableFormat;
use crate::runtime::clock;
use crate::store::StatePart;

/// Write the messages of the APEL accounting system: jobs, summaries, normalised summaries, sync records.
///
/// Each job counts completely in the UTC month of its end, as everywhere in APEL. Only the view `batch` is reported, and where
/// received summaries count they are sent on in place of jobs. Every record is held against the rules of APEL's server
/// before it leaves, because one bad record would make it refuse the whole message. The same lake gives the same messages. The
/// server compares names without regard to letter case: with --site every spelling of that site is reported, and VOs whose names
/// differ in letter case alone are one record where all else is equal, under the spelling of the job that ended first. It
/// stores benchmarks with three decimals: so do the messages, rounded half up. Both are reported on stderr where they occur.
///
/// APEL's server has no message that deletes: it replaces records by their keys. So what is gone from the lake is taken back
/// by records of the same key: a summary or a count of no jobs, a job without usage, which it still counts as a job. People
/// who run it can delete what --delete-list names.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Look at the summaries of a site and month, names withheld:
    gridtally report apel out --site ALP-T2 --from 2026-03 --to 2026-03 --message summary-v0.2

  Put summaries and sync records of a quarter where APEL's sender takes them from:
    gridtally report apel out --from 2026-01 --to 2026-03 --message summary-v0.4 --message sync \\
        --out /var/spool/apel/outgoing --layout spool

  The same every day: only differences are sent, removed records are retracted, and the lake records what was sent:
    gridtally report apel out --message summary-v0.4 --message sync --receiver apel \
        --out /var/spool/apel/outgoing --layout spool")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Kind of message; may be given several times.
    #[arg(long, value_name = "KIND", required = true)]
    message: Vec<MessageKind>,

    /// The only benchmark to name: hs06, hs23 or si00. Otherwise a dictionary names all that are known, and a message
    /// that has none names the one the server would pick: HEPscore23, else HEPSPEC06, else SI00.
    #[arg(long, value_name = "NAME", value_parser = benchmark)]
    benchmark: Option<Benchmark>,

    #[command(flatten)]
    users: UsersArgs,

    /// Records of a message.
    #[arg(long, value_name = "N", default_value_t = BATCH_RECORDS, value_parser = batch)]
    batch: usize,

    /// Leave out and count what is unknown, in place of failing: usage that the messages cannot express, without CPU time or
    /// benchmark. Without it nothing is written where there is such usage.
    #[arg(long)]
    leave_out: bool,

    /// Folder or URL to write to: the messages. Without it they go to stdout, one after the other.
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: Option<String>,

    /// Layout of the messages in that folder.
    #[arg(long, value_name = "LAYOUT", default_value = "files", requires = "out")]
    layout: OutboxLayout,

    #[command(flatten)]
    receiver: ReceiverArgs,

    /// Format on stdout: of the list of what was written, or of the difference, as a table unless it is given.
    #[arg(long, value_name = "FORMAT")]
    format: Option<TableFormat>,
}

fn benchmark(text: &str) -> Result<Benchmark, String> {
    Benchmark::parse(text).ok_or_else(|| "one of hs06, hs23, si00 is needed".to_owned())
}

fn batch(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MAX_BATCH_RECORDS) => Ok(n),
        _ => Err(format!("a number from 1 to {MAX_BATCH_RECORDS} is needed")),
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.format.is_some() && args.out.is_none() && args.receiver.receiver().is_none() {
        return Err(Error::new(
            Kind::Usage,
            "--format does nothing without --out or --receiver",
        ));
    }
    // Fallback: the format that the manual states is taken where none is given.
    let format = args.format.unwrap_or_default();
    if let Some(receiver) = args.receiver.receiver() {
        let to = Destination {
            out: args.out.as_deref(),
            layout: args.layout,
            format,
        };
        args.as_of.refuse_receiver()?;
        return args.receiver.run(receiver, &args.lake, &to, |lake| {
            let request = request(args, lake)?;
            Ok((request.selection.clone(), Exporter::Apel(request)))
        });
    }
    let (outbox, published) = reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || export(args))?;
    if let Some(outbox) = outbox {
        outbox.deliver()?;
        print(&published.table(), format)?;
    }
    for line in published.lines() {
        info!("{line}");
    }
    Ok(())
}

/// What is to be reported of a lake.
fn request(args: &Args, lake: &Lake) -> Result<ApelRequest> {
    let mut kinds = args.message.clone();
    kinds.sort_unstable();
    kinds.dedup();
    args.receiver.refuse_idle(&kinds)?;
    args.receiver.refuse_doubles(&kinds)?;
    let finest = if args.receiver.receiver().is_some() {
        Finest::Month("a receiver holds months as a whole")
    } else if kinds.iter().all(|kind| kind.is_job()) {
        Finest::Day
    } else {
        Finest::Month("summaries and sync records are of a month, and replace what the server has of it")
    };
    let selection = args.selection.of(lake, finest)?;
    if let Some(note) = server_sites::note(lake, &selection) {
        info!("{note}");
    }
    if kinds.contains(&MessageKind::Sync) && !selection.vos.is_empty() {
        warn!(
            "sync records count all jobs of a site, whatever their VO: those of --vo replace the whole count there with a \
             part of it"
        );
    }
    Ok(ApelRequest {
        selection,
        kinds,
        benchmark: args.benchmark,
        users: args.users.users()?,
        batch_records: args.batch,
        is_leaving_out: args.leave_out,
        now_s: Some(clock::now_ms().div_euclid(1000)),
        ..ApelRequest::default()
    })
}

/// Reports all of it: to stdout, which is held back until all is known, or to an outbox that still waits to be delivered.
fn export(args: &Args) -> Result<(Option<Outbox>, Published)> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let request = request(args, &lake)?;
    let Some(out) = &args.out else {
        let published = publish(&lake, &request, &mut |_, _, _, _, text| output::text(&text));
        if published.is_err() {
            output::discard_data()?;
        }
        return Ok((None, published?));
    };
    let mut outbox = Outbox::open(out, args.layout, clock::now_ms(), lake.store.url())?;
    let published = publish(&lake, &request, &mut |kind, site, month, number, text| {
        outbox.put(kind.into(), site, month, number, text).map(drop)
    })?;
    Ok((Some(outbox), published))
}
