//! `gridtally schema`

use super::output;
use crate::charge::description::policy_file;
use crate::config::description::pipeline_file;
use crate::error::Result;
use crate::report::render::TableFormat;
use crate::schema::{self, render};

/// Show the columns of the datasets, or the JSON Schema of a file that people write.
///
/// Without a dataset, all of them are shown: type, unit, meaning and origin of each column.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  All columns of the published usage:
    gridtally schema usage

  The same for a program:
    gridtally schema usage --format json

  So that an editor completes and checks a pipeline file:
    gridtally schema --json-schema pipeline > pipeline.schema.json")]
pub(super) struct Args {
    /// The dataset, such as `usage`.
    dataset: Option<String>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "markdown", value_parser = super::formats::only(FORMATS))]
    format: TableFormat,

    /// Print the JSON Schema of this kind of file.
    #[arg(long, value_name = "FILE", value_parser = ["pipeline", "policy"], conflicts_with_all = ["dataset", "format"])]
    json_schema: Option<String>,
}

/// What schemas are printed in.
const FORMATS: &[TableFormat] = &[TableFormat::Markdown, TableFormat::Json];

pub(super) fn run(args: &Args) -> Result<()> {
    match args.json_schema.as_deref() {
        Some("policy") => return output::json(&policy_file().json_schema("policy.schema.json")),
        Some(_) => return output::json(&pipeline_file().json_schema("pipeline.schema.json")),
        None => {}
    }
    let one;
    let datasets = match &args.dataset {
        Some(name) => {
            one = [schema::dataset(name)?.clone()];
            &one[..]
        }
        None => schema::datasets()?,
    };
    match args.format {
        TableFormat::Json => match (args.dataset.is_some(), datasets) {
            (true, [dataset]) => output::json(&render::json(dataset)),
            _ => output::json(&datasets.iter().map(render::json).collect::<Vec<_>>()),
        },
        // What else there is was refused with the command line.
        _ => output::text(&datasets.iter().map(render::markdown).collect::<Vec<_>>().join("\n")),
    }
}
