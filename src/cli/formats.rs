//! Output formats of commands.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::report::render::TableFormat;

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The formats of a report that has no other: the others are refused with their names.
pub(crate) fn only(formats: &'static [TableFormat]) -> impl TypedValueParser<Value = TableFormat> {
    let values = formats.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).try_map(|word| TableFormat::from_str(&word, false))
}

/// What reports have that are more than a table.
pub(crate) const PLAIN: &[TableFormat] = &[TableFormat::Table, TableFormat::Csv, TableFormat::Json];

/// What pages of text have.
pub(crate) const PAGES: &[TableFormat] = &[TableFormat::Table, TableFormat::Json];
