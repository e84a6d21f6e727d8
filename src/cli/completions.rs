//! `gridtally completions`

use clap::CommandFactory;

use super::{Cli, output};
use crate::error::Result;

/// Print the completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  gridtally completions bash > ~/.local/share/bash-completion/completions/gridtally")]
pub(super) struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gridtally", &mut script);
    output::data(&script)
}
