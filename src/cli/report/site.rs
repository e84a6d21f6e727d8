//! `gridtally report site`

use std::collections::BTreeSet;

use tracing::info;

use super::page_files::{PageFile, write_page};
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::{Error, Kind, Result};
use crate::report::lake::Lake;
use crate::report::site::data::SiteData;
use crate::report::site::page;
use crate::report::site::users::top_users;
use crate::report::table::Table;
use crate::store::StatePart;
use crate::store::lake::sites;

/// Write a page about one site that a resource board reads, and the same numbers as CSV next to it.
///
/// The lake's only site, or the one that --site names.
///
/// Usage and work by VO (by account where no job has a VO) and month, partitions, QOS, efficiency, capacity against what was delivered, charges and overhead in brief where the
/// lake has them, what is odd about the data, what the terms mean, where the numbers come from. One file that fetches nothing, with charts, tables that sort (also by keyboard), ready for print.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
    gridtally report site out --site ALP-T2 --from 2025-04 --to 2026-03 --out board

  With the users who used most:
    gridtally report site out --site ALP-T2 --users --out board")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Name users: those who used most.
    #[arg(long)]
    users: bool,

    /// Folder or URL to write to: index.html and the CSV files next to it.
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: String,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let (site, data) = reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || {
        let lake = Lake::open(args.as_of.place(&args.lake)?)?;
        let mut selection = args
            .selection
            .of(&lake, Finest::Month("a page is made of the months of the lake"))?;
        let site = one_site(&std::mem::take(&mut selection.sites), &lake)?;
        let mut data = SiteData::read(&lake, &site, &selection)?;
        if args.users {
            data.top_users = Some(top_users(&lake, &data.period)?);
        }
        Ok((site, data))
    })?;
    let supply = &data.supply;
    let file = |name, table: Option<Table>| PageFile { name, table };
    let files = [
        file("usage.csv", Some(data.table())),
        file(
            "capacity.csv",
            (!supply.installed.is_empty()).then(|| supply.capacity_table(&data.by_month())),
        ),
        file(
            "charges.csv",
            (!supply.charged.is_empty()).then(|| supply.charges_table(data.grouping)),
        ),
        file(
            "overhead.csv",
            (!supply.left_over.is_empty()).then(|| supply.overhead_table()),
        ),
        file("energy.csv", data.energy.clone()),
    ];
    let written = write_page(&args.out, page::write(&data)?, &files)?;
    info!("{site}: {} in {}", written.join(", "), args.out);
    Ok(())
}

/// The site the page is about: the one that is named, or the only one of the lake.
fn one_site(named: &BTreeSet<String>, lake: &Lake) -> Result<String> {
    let known = sites(&lake.manifest);
    let asked = if named.is_empty() { &known } else { named };
    let mut asked = asked.iter();
    if let (Some(site), None) = (asked.next(), asked.next()) {
        return Ok(site.clone());
    }
    if known.is_empty() {
        return Err(Error::new(Kind::NoInput, "the lake has no site").at("lake", lake.store.url()));
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let message = format!(
        "a page is about one site: --site NAME, once; the lake has {}",
        known.join(", ")
    );
    Err(Error::new(Kind::Usage, message))
}
