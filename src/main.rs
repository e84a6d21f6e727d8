//! Parse, run, translate an error into an exit code.

fn main() {}
