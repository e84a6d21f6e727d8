//! Parse, run, translate an error into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridtally::cli::main()
}
