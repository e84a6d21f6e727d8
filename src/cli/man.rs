//! `gridtally man`

use clap::CommandFactory;

use super::{Cli, output};
use crate::error::{Error, Kind, Result};

/// Print the manual page, or that of a subcommand.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  gridtally man | man -l -
  gridtally man check > gridtally-check.1")]
pub(super) struct Args {
    /// The subcommand.
    subcommand: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut command = Cli::command();
    command.build();
    let page = match &args.subcommand {
        None => command,
        Some(name) => command
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Error::new(Kind::Usage, format!("there is no subcommand \"{name}\"")))?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .source(concat!("gridtally ", env!("CARGO_PKG_VERSION")))
        .manual("gridtally manual")
        .render(&mut text)?;
    output::data(&text)
}
