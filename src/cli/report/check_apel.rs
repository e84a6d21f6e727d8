//! `gridtally report check-apel`

use std::path::PathBuf;

use tracing::info;

use super::print::print;
use crate::error::{Error, Kind, Result};
use crate::numbers::count_i128;
use crate::report::apel::check::message;
use crate::report::publication::messages::{MessageFile, texts};
use crate::report::publication::replaced::{RecordPlace, load};
use crate::report::render::TableFormat;
use crate::report::table::{Cell, ColumnKind, Table};
use crate::runtime::clock;

/// Hold APEL text messages against the rules of APEL's server.
///
/// Lists every record the server would refuse, and with it, as it does, the whole message; and every record that another
/// one replaces there, because both have the same key to the server: it compares texts without case, and of several
/// benchmarks in a record it counts by HEPscore23, else HEPSPEC06, else SI00. `replaced`: two facts become one. `republished`:
/// a later message contains the same key again, as from publishers that correct themselves. Messages are loaded in the order of
/// their names. Exit code 65 when anything would be refused or replaced.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Before messages are sent, and after they were received:
    gridtally report check-apel outgoing
    gridtally report check-apel incoming --format csv > refused.csv")]
pub(super) struct Args {
    /// Messages, or folders of them, whatever their depth.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut found = Vec::new();
    for path in &args.paths {
        found.append(&mut texts(path)?);
    }
    let now_s = clock::now_ms().div_euclid(1000);
    let mut table = Table::new(
        "What APEL's server would refuse or replace",
        &[
            ("file", "", ColumnKind::Text),
            ("record", "", ColumnKind::Number),
            ("rule", "", ColumnKind::Text),
            ("detail", "", ColumnKind::Text),
        ],
    );
    for MessageFile { path: file, text } in &found {
        for finding in message(text, Some(now_s)) {
            table.push(vec![
                Cell::text(file.display().to_string()),
                Cell::Int(count_i128(finding.record)),
                Cell::text(finding.rule.as_str()),
                Cell::text(finding.detail),
            ]);
        }
    }
    let refused = table.rows.len();
    let messages: Vec<&str> = found.iter().map(|file| file.text.as_str()).collect();
    let loaded = load(&messages);
    for replaced in &loaded.replaced {
        let name = |place: RecordPlace| found.get(place.message).map(|file| file.path.display().to_string());
        let (before, after) = replaced.job_n;
        table.push(vec![
            // Fallback: never taken, every place is that of a message that was found.
            Cell::text(name(replaced.at).unwrap_or_default()),
            Cell::Int(count_i128(replaced.at.record)),
            Cell::text(if replaced.is_reported_again {
                "republished"
            } else {
                "replaced"
            }),
            Cell::text(format!(
                "has the key of record {} of {}, which the server keeps in its place: {after} jobs for {before}",
                replaced.by.record,
                // Fallback: never taken, as for the place of the replaced record.
                name(replaced.by).unwrap_or_default()
            )),
        ]);
    }
    print(&table, args.format)?;
    for (server_table, jobs) in loaded.tables.iter().filter(|(_, jobs)| jobs.held_n != jobs.sent_n) {
        info!(
            "{}: the server would hold {} of {} jobs",
            server_table.as_str(),
            jobs.held_n,
            jobs.sent_n
        );
    }
    let replaced = loaded
        .replaced
        .iter()
        .filter(|replaced| !replaced.is_reported_again)
        .count();
    if refused + replaced == 0 {
        return Ok(());
    }
    let message = format!(
        "{refused} records of {} files would be refused, {replaced} replaced by others",
        found.len()
    );
    Err(Error::new(Kind::Data, message))
}
