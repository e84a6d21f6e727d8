//! The page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::burn_down::{by_month, entries};
use super::chart::burn_down;
use super::data::{AwardPage, PageAward};
use super::shares;
use super::shares_chart::used_shares;
use super::tables::forecast_table;
use super::terms::TERMS;
use crate::award::AwardLimit;
use crate::error::Result;
use crate::numbers::count_i128;
use crate::reference::node_type::day_text;
use crate::report::board::{PageTerm, board, definitions as terms_of, lake_terms, section};
use crate::report::drawing::details;
use crate::report::html::{escape, table};
use crate::report::shown::{grouped, hours};
use crate::report::table::Table;

/// Awards that are drawn, at most.
pub const DRAWN_AWARDS: usize = 24;
/// Accounts whose shares are drawn, at most.
pub const DRAWN_ACCOUNTS: usize = 12;
/// Digits after the point of amounts.
const DIGITS: u8 = 3;

/// Columns of the report that the page shows; the file has all.
const SHOWN: [&str; 17] = [
    "account",
    "award",
    "user",
    "cluster",
    "policy",
    "unit",
    "allocated",
    "used",
    "peak",
    "in_flight",
    "pending",
    "remaining",
    "days_left",
    "projected",
    "utilisation",
    "projected_utilisation",
    "available_now",
];

const OWED: &str = "What is owed is the amount that an award should have used by now at an even rate over the days it was granted \
    for, less what was used of it: above zero the account used less than its award so far, below zero more. It is no debt. An award \
    is a target, days on which nothing could run count as days, and nobody is compensated; time that is left is best assigned from \
    the top.";

/// The whole page: one file that fetches nothing.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a chart cannot be drawn; as [`crate::report::awards::states`].
pub fn write(page: &AwardPage<'_>) -> Result<String> {
    let mut body = String::new();
    overview(&mut body, page)?;
    owed(&mut body, page)?;
    burn_downs(&mut body, page)?;
    fairshare(&mut body, page)?;
    definitions(&mut body);
    provenance(&mut body, page);
    let title = format!("Awards of the allocation year {}", page.question.year);
    Ok(board(&title, &body))
}

fn shown(table_of: &Table) -> Result<String> {
    table(&table_of.without_empty_columns())
}

fn file(name: &str, what: &str) -> String {
    format!("<p>{what} in <a href=\"{name}\">{name}</a>, with all their digits.</p>\n")
}

/// As of when the numbers are.
fn basis(page: &AwardPage<'_>) -> String {
    let of_days = if page.lake.is_by_day {
        ""
    } else {
        " Use is known by month, and counts on the last day of its month."
    };
    format!(
        "<p class=\"basis\">Allocation year {} to {}. Settled use of jobs up to {}. Projected: {}.{of_days}</p>\n",
        day_text(Some(page.first), ""),
        day_text(Some(page.after - 1), ""),
        day_text(Some(page.question.on), ""),
        page.question.method.as_str()
    )
}

fn overview(body: &mut String, page: &AwardPage<'_>) -> Result<()> {
    let mut inside = basis(page);
    let count =
        |is: &dyn Fn(&PageAward<'_>) -> bool| grouped(count_i128(page.awards.iter().filter(|award| is(award)).count()));
    let owed = |award: &PageAward<'_>| award.even.map(|even| even.owed_e9);
    let figures = [
        ("awards", grouped(count_i128(page.awards.len()))),
        (
            "used less than even",
            count(&|award| owed(award).is_some_and(|owed| owed > 0)),
        ),
        (
            "used more than even",
            count(&|award| owed(award).is_some_and(|owed| owed < 0)),
        ),
        (
            "used beyond the award",
            count(&|award| award.state.remaining_e9().is_some_and(|left| left < 0)),
        ),
        ("ended", count(&|award| award.end <= page.question.on)),
    ];
    inside.push_str("<dl class=\"figures\">\n");
    for (name, value) in figures {
        // Writing to a String cannot fail.
        let _infallible = writeln!(inside, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    inside.push_str("</dl>\n");
    for note in notes(page) {
        let _infallible = writeln!(inside, "<p class=\"note\">{}</p>", escape(&note));
    }
    let table_of = page.overview(DIGITS)?;
    let columns = table_of.with_columns(|_, column| SHOWN.contains(&column.name.as_str()));
    inside.push_str(&shown(&columns)?);
    inside.push_str(&file(
        "awards.csv",
        "The same rows with all columns of <code>gridtally report awards</code> are",
    ));
    section(body, "awards", "Awards", &inside);
    Ok(())
}

fn notes(page: &AwardPage<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let stored = page
        .awards
        .iter()
        .filter(|award| award.state.award.limit == AwardLimit::Maximum && award.state.used_e9.is_none())
        .count();
    if stored > 0 {
        notes.push(format!(
            "Awards of storage whose use is unknown: {stored}. No job states what is stored, and no table (--stored) does for them."
        ));
    }
    let running = &page.lake.running;
    if running.known_on.is_none_or(|known_on| page.question.on < known_on) {
        notes.push("No dump of this day states running jobs: what is in flight is unknown.".to_owned());
    } else if running.unknown_n > 0 {
        notes.push(format!(
            "Running jobs without a time limit, an account or a charge: {}. What they will use is unknown.",
            running.unknown_n
        ));
    }
    let amounts = page.awards.iter().map(|award| award.state.amounts);
    let unpriced: i128 = amounts.clone().map(|amounts| amounts.unpriced_job_n).sum();
    let unpriced_core_ms: i128 = amounts.map(|amounts| amounts.unpriced_core_ms).sum();
    if unpriced != 0 || unpriced_core_ms != 0 {
        notes.push(format!(
            "Jobs whose charge is unknown: {unpriced} that ended, and {} core hours, also of jobs that end later or under another \
             version of the policy. They are in no use of an award that counts charges.",
            hours(unpriced_core_ms)
        ));
    }
    notes
}

fn owed(body: &mut String, page: &AwardPage<'_>) -> Result<()> {
    let mut inside = basis(page);
    let _infallible = writeln!(inside, "<p>{OWED}</p>\n<h3>By awards</h3>");
    let of_awards = page.owed(DIGITS);
    if of_awards.rows.is_empty() {
        inside.push_str("<p>No award of use has an end.</p>\n");
    } else {
        inside.push_str(&shown(&of_awards)?);
    }
    let open = page.awards.iter().filter(|award| award.even.is_none()).count();
    if open > 0 {
        let _infallible = writeln!(
            inside,
            "<p>Not in this table, because they have no end or are a maximum: {open}.</p>"
        );
    }
    inside.push_str(&file("owed.csv", "The same rows are"));
    let of_shares = page.shares.owed();
    if !of_shares.rows.is_empty() {
        inside.push_str(
            "<h3>By shares</h3>\n<p>By shares an account is owed what its share is above its part of the decayed usage, on the last day \
             of the dataset. Under Fair Tree both are among siblings. Amounts are of that usage.</p>\n",
        );
        inside.push_str(&shown(&of_shares)?);
    }
    section(body, "owed", "Who is owed", &inside);
    Ok(())
}

/// The awards that are drawn: those furthest from even use, in the order of the table.
fn drawn_awards<'p, 'a>(page: &'p AwardPage<'a>) -> Vec<&'p PageAward<'a>> {
    let can_be: Vec<&PageAward<'a>> = page.awards.iter().filter(|award| !award.points.is_empty()).collect();
    let mut by_distance: Vec<&PageAward<'a>> = can_be.clone();
    by_distance.sort_by_key(|award| {
        let part = award.even.and_then(|even| even.part_e9);
        (std::cmp::Reverse(part.map(i128::abs)), award.state.award.id.as_str())
    });
    let chosen: BTreeSet<&str> = by_distance
        .iter()
        .take(DRAWN_AWARDS)
        .map(|award| award.state.award.id.as_str())
        .collect();
    can_be
        .into_iter()
        .filter(|award| chosen.contains(award.state.award.id.as_str()))
        .collect()
}

fn burn_downs(body: &mut String, page: &AwardPage<'_>) -> Result<()> {
    let drawn = drawn_awards(page);
    let mut inside = basis(page);
    let _infallible = writeln!(
        inside,
        "<p>Drawn are {} of {} awards: at most {DRAWN_AWARDS}, those furthest from even use in per cent of the award. \
         <code>--account</code> selects others; the files have all. A band is what a method projects, less its largest \
         overestimate and more its largest underestimate of past months, in per cent of what was used then, and never below what was \
         used so far. What is over has no projection.</p>",
        drawn.len(),
        page.awards.len()
    );
    for award in drawn {
        let state = &award.state;
        let place: Vec<&str> = [state.award.site.as_deref(), state.award.cluster.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" on {}", place.join(" "))
        };
        let user = state
            .award
            .user
            .as_ref()
            .map_or_else(String::new, |user| format!(", part of {user}"));
        let title = format!("{} of {}{user}{place}", state.award.id, state.award.account);
        let _infallible = write!(inside, "<h3>{}</h3>\n{}", escape(&title), burn_down(page, award)?);
        let forecasts = forecast_table(std::iter::once(award), DIGITS);
        if !forecasts.rows.is_empty() {
            inside.push_str(&shown(&forecasts.with_columns(|_, column| column.name != "award"))?);
        }
        let unit = state.measure.unit.replace('_', " ");
        let of_ledger = format!(
            "<p>Entries, in {}:</p>\n{}",
            escape(&unit),
            shown(&entries(state.award, page.question.on))?
        );
        let of_months = format!(
            "<p>At the end of months, in {}:</p>\n{}",
            escape(&unit),
            shown(&by_month(&award.points, DIGITS))?
        );
        inside.push_str(&details(
            "Entries of the ledger, and what is left by month",
            &(of_ledger + &of_months),
        ));
    }
    inside.push_str(&file("burn_down.csv", "All awards day by day are"));
    inside.push_str(&file("projections.csv", "All projections are"));
    section(body, "burn-down", "What is left over time", &inside);
    Ok(())
}

fn fairshare(body: &mut String, page: &AwardPage<'_>) -> Result<()> {
    const TITLE: &str = "Fairshare over time";
    let accounts = &page.shares.accounts;
    if accounts.is_empty() {
        let why =
            "<p>Absent: the lake has no fairshare of these accounts and days (its pipeline needs [[fairshare]]).</p>\n";
        section(body, "fairshare", TITLE, why);
        return Ok(());
    }
    let drawn: BTreeSet<&str> = drawn_awards(page)
        .iter()
        .map(|award| award.state.award.account.as_str())
        .collect();
    let chosen: Vec<_> = accounts
        .iter()
        .filter(|(account, _)| drawn.contains(account.name.as_str()))
        .take(DRAWN_ACCOUNTS)
        .collect();
    let mut inside = format!(
        "<p class=\"basis\">At the end of every day, in the zone of the lake.</p>\n<p>Drawn are {} of {} accounts with shares: at most \
         {DRAWN_ACCOUNTS}, of the awards drawn above. Used is effective usage under Fair Tree, among siblings as the share is; otherwise \
         usage of the cluster.</p>\n",
        chosen.len(),
        accounts.len()
    );
    for (account, days) in chosen {
        if let Some(chart) = used_shares(&page.shares, account, days)? {
            inside.push_str(&chart);
            inside.push_str(&details("On the last day of months", &shown(&shares::by_month(days))?));
        }
    }
    inside.push_str(&file("fairshare.csv", "All accounts of awards day by day are"));
    section(body, "fairshare", TITLE, &inside);
    Ok(())
}

fn definitions(body: &mut String) {
    section(
        body,
        "definitions",
        "What the terms mean",
        &terms_of(TERMS.map(|(term, meaning)| PageTerm { term, meaning })),
    );
}

fn provenance(body: &mut String, page: &AwardPage<'_>) {
    let mut terms = vec![(
        "BLAKE3 over the hashes of the files read".to_owned(),
        page.blake3.clone(),
    )];
    terms.extend(lake_terms(&page.facts));
    let written = [PageTerm {
        term: "written by",
        meaning: concat!("gridtally ", env!("CARGO_PKG_VERSION")),
    }];
    let stated = terms.iter().map(|(term, meaning)| PageTerm { term, meaning });
    let inside = terms_of(written.into_iter().chain(stated));
    section(body, "provenance", "Where the numbers come from", &inside);
}
