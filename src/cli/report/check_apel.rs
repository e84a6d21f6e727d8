//! `gridtally report check-apel`

use std::path::PathBuf;

use super::print;
use crate::error::{Error, Kind, Result};
use crate::pipeline::clock;
use crate::report::apel::check::message;
use crate::report::publication::messages::texts;
use crate::report::render::TableFormat;
use crate::report::table::{Cell, ColumnKind, Table};

/// Hold APEL text messages against the rules of APEL's server.
///
/// Lists every record the server would refuse, and with it, as it does, the whole message. Exit code 65 when there is
/// any.
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
        "What APEL's server would refuse",
        &[
            ("file", "", ColumnKind::Text),
            ("record", "", ColumnKind::Number),
            ("rule", "", ColumnKind::Text),
            ("detail", "", ColumnKind::Text),
        ],
    );
    for (file, text) in &found {
        for finding in message(text, Some(now_s)) {
            table.push(vec![
                Cell::text(file.display().to_string()),
                Cell::Int(i128::try_from(finding.record).unwrap_or(0)),
                Cell::text(finding.rule.as_str()),
                Cell::text(finding.detail),
            ]);
        }
    }
    let refused = table.rows.len();
    print(&table, args.format)?;
    if refused == 0 {
        return Ok(());
    }
    let message = format!("{refused} records of {} files would be refused", found.len());
    Err(Error::new(Kind::Data, message))
}
