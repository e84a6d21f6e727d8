//! `gridtally report check-apel`

use std::path::{Path, PathBuf};

use super::print;
use crate::error::{Error, Kind, Result};
use crate::pipeline::clock;
use crate::report::apel::check::message;
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

/// Every file below a path, sorted; what writers have not finished is passed over.
fn files(path: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    let told = |why: std::io::Error| {
        let kind = match why.kind() {
            std::io::ErrorKind::NotFound => Kind::NoInput,
            _ => Kind::Io,
        };
        Error::new(kind, format!("{} cannot be read", path.display())).because(why)
    };
    if !std::fs::metadata(path).map_err(told)?.is_dir() {
        into.push(path.to_owned());
        return Ok(());
    }
    let mut entries = std::fs::read_dir(path)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .map_err(told)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_unfinished = [".lck", ".tmp"].iter().any(|end| name.ends_with(end)) || name.starts_with('.');
        // Beside the body of a received message lie its sender's name and number.
        if !is_unfinished && !["signer", "empaid", "error", "locked"].contains(&&*name) {
            files(&entry.path(), into)?;
        }
    }
    Ok(())
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut found = Vec::new();
    for path in &args.paths {
        files(path, &mut found)?;
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
    for file in &found {
        let bytes =
            std::fs::read(file).map_err(|why| Error::io(format!("{} cannot be read", file.display())).because(why))?;
        for finding in message(&String::from_utf8_lossy(&bytes), Some(now_s)) {
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
