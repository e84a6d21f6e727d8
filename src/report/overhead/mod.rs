//! What the nodes could still have run: tables for the terminal and for programs, and a page with drawings.

mod data;
mod drawings;
pub mod one;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use self::data::{OverheadPageCluster, OverheadPagePlace, OverheadView};
use super::drawing::details;
use super::html::{self, escape};
use super::render::{json_object, markdown, text as plain};
use super::table::Table;
use crate::diagnostics::must_be_known;
use crate::error::{Error, Result};
use crate::store::Manifest;
use crate::store::lake::sites;

/// The overhead datasets of a lake, prepared for display.
pub struct Overhead {
    clusters: BTreeMap<OverheadPagePlace, OverheadPageCluster>,
}

/// Reads the overhead datasets of the lake at a path or URL, of some sites; of all where none is named.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] when there is no lake or it has no overhead; [`crate::error::Kind::Io`] when it cannot
/// be read.
pub fn read(output: &str, asked: &BTreeSet<String>) -> Result<Overhead> {
    let (store, manifest) = Manifest::open(output)?;
    let known = sites(&manifest);
    for site in asked {
        must_be_known("the lake has", "site", site, &known)?;
    }
    let clusters = data::read(&store, &manifest, asked)?;
    Ok(Overhead { clusters })
}

/// The days of a view in words.
fn span(view: &OverheadView) -> String {
    let day = |day: Option<&i32>| day.map_or_else(String::new, |day| tables::day_name(*day));
    let days = &view.days;
    format!("{} to {}", day(days.keys().next()), day(days.keys().next_back()))
}

fn title(place: &OverheadPagePlace, unit: Option<&str>) -> String {
    let OverheadPagePlace { site, cluster } = place;
    let unit = unit.map_or_else(|| "nodes no unit is for".to_owned(), |unit| format!("unit {unit}"));
    format!("{site}, {cluster}: {unit}")
}

/// What must be known before anything is believed.
fn cautions(view: &OverheadView) -> Vec<String> {
    let mut cautions = Vec::new();
    if view.is_from_jobs {
        cautions.push(
            "The capacity of the nodes is unknown: the most that jobs held at one time is used instead, so what was never used \
             is not counted as overhead."
                .to_owned(),
        );
    }
    // Where no node states it, there is no row that could be taken for all of them.
    let all = view.nodes.len();
    let partly = |n: &usize| 0 < *n && *n < all;
    let unknown = view
        .unknown
        .iter()
        .map(BTreeSet::len)
        .enumerate()
        .filter(|(_, n)| partly(n));
    cautions.extend(unknown.map(|(at, n)| {
        let what = tables::resource_name(at);
        format!("Nodes with unknown {what}: {n} of {all}. They are in no sum of {what}.")
    }));
    cautions
}

/// The tables of a unit: the ledger, then the others.
fn of_view(view: &OverheadView) -> Vec<Table> {
    let mut tables = vec![tables::ledger(view), tables::histogram(view)];
    if !view.hours.is_empty() {
        tables.push(tables::hours_of_week(view));
    }
    tables.extend([tables::partitions(view), tables::nodes(view)]);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// The tables of a cluster whatever the unit.
fn of_cluster(cluster: &OverheadPageCluster) -> Vec<Table> {
    let mut tables = vec![
        tables::queues(cluster),
        tables::shapes(cluster),
        tables::finding_kinds(cluster),
        tables::findings(cluster),
    ];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn titled(table: &Table) -> Result<String> {
    Ok(format!("<h3>{}</h3>\n{}", escape(&table.title), html::table(table)?))
}

impl Overhead {
    /// The tables for a terminal.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the column whose total is too large.
    pub fn text(&self) -> Result<String> {
        let mut text = String::new();
        let table = |text: &mut String, table: &Table| -> Result<()> {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}\n{}", table.title, plain(table)?);
            Ok(())
        };
        for (place, cluster) in &self.clusters {
            for (unit, view) in &cluster.views {
                let separator = if text.is_empty() { "" } else { "\n" };
                let _ = writeln!(text, "{separator}{}, {}", title(place, unit.as_deref()), span(view));
                let _ = writeln!(text, "{}", tables::sentence(view));
                for caution in cautions(view) {
                    let _ = writeln!(text, "{caution}");
                }
                for of in of_view(view) {
                    table(&mut text, &of)?;
                }
            }
            for of in of_cluster(cluster) {
                table(&mut text, &of)?;
            }
        }
        Ok(text)
    }

    /// The page: one file that needs no other.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a chart cannot be drawn; [`crate::error::Kind::Data`] as for [`Overhead::text`].
    pub fn html(&self) -> Result<String> {
        let mut sections: Vec<(String, String)> = Vec::new();
        for (place, cluster) in &self.clusters {
            for (unit, view) in &cluster.views {
                let mut body = format!("<p>{}. {}</p>\n", span(view), escape(&tables::sentence(view)));
                for caution in cautions(view) {
                    let _ = writeln!(body, "<p><strong>{}</strong></p>", escape(&caution));
                }
                let mut of_view = of_view(view).into_iter();
                body.extend(of_view.next().as_ref().map(titled).transpose()?);
                if unit.is_some() {
                    body.push_str(&drawings::histogram(view)?);
                }
                body.push_str(&drawings::ledger(view)?);
                body.push_str(&details("By day, in numbers", &html::table(&tables::days(view))?));
                if unit.is_some() {
                    body.push_str(&drawings::heat(view)?);
                }
                for table in of_view {
                    body.push_str(&titled(&table)?);
                }
                sections.push((title(place, unit.as_deref()), body));
            }
            let body = of_cluster(cluster).iter().map(titled).collect::<Result<String>>()?;
            if !body.is_empty() {
                let OverheadPagePlace { site, cluster } = place;
                sections.push((format!("{site}, {cluster}: queue, free shapes and findings"), body));
            }
        }
        let mut body = String::from(
            "<p>For every node and resource, second by second: capacity = allocated to jobs + overhead (canonical units that \
             were free: one more job of that shape would have fitted) + stranded (free, and of no use to the unit) + down + \
             reserved. The rate is what jobs are billed of what they were given; the rest of the capacity is the provider's \
             loss. A job that waited would have fitted when enough nodes had everything it requested free; nodes that were reserved \
             or drained are separate causes; otherwise the cause is unknown. Such shares are of the time waited on days of which that \
             is known; that of the other days is unknown. An empty cell is not known.</p>\n<nav aria-label=\"Sections\"><ul class=\"legend\">",
        );
        for (nth, (title, _)) in sections.iter().enumerate() {
            let _ = write!(body, "<li><a href=\"#s{nth}\">{}</a></li>", escape(title));
        }
        body.push_str("</ul></nav>\n");
        for (nth, (title, section)) in sections.iter().enumerate() {
            let _ = write!(
                body,
                "<section id=\"s{nth}\">\n<h2>{}</h2>\n{section}</section>\n",
                escape(title)
            );
        }
        Ok(html::page("What the nodes could still have run", &body))
    }

    /// The tables for wikis.
    ///
    /// # Errors
    /// As [`Overhead::text`].
    pub fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        let table = |text: &mut String, table: &Table| -> Result<()> {
            // Writing to a string cannot fail.
            let _ = write!(text, "### {}\n\n{}\n", table.title, markdown(table)?);
            Ok(())
        };
        for (place, cluster) in &self.clusters {
            for (unit, view) in &cluster.views {
                let title = title(place, unit.as_deref());
                let _ = write!(text, "## {title}\n\n{}. {}\n\n", span(view), tables::sentence(view));
                for caution in cautions(view) {
                    let _ = write!(text, "**{caution}**\n\n");
                }
                for of in of_view(view) {
                    table(&mut text, &of)?;
                }
            }
            for of in of_cluster(cluster) {
                table(&mut text, &of)?;
            }
        }
        Ok(text)
    }

    /// The tables for programs: an object for every row, with what it is of.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be written.
    pub fn objects(&self) -> Result<Vec<String>> {
        let quoted = |text: &str| {
            serde_json::to_string(text)
                .map_err(|why| Error::internal("a report cannot be written as JSON").because(why))
        };
        let mut objects = Vec::new();
        for (place, cluster) in &self.clusters {
            let (site, name) = (quoted(&place.site)?, quoted(&place.cluster)?);
            let of_units = cluster
                .views
                .iter()
                .map(|(unit, view)| (unit.as_deref(), of_view(view)));
            for (unit, tables) in of_units.chain([(None, of_cluster(cluster))]) {
                let unit = unit.map_or(Ok("null".to_owned()), quoted)?;
                for table in &tables {
                    for row in &table.rows {
                        objects.push(format!(
                            "{{\"site\": {site}, \"cluster\": {name}, \"unit\": {unit}, \"table\": {}, \"row\": {}}}",
                            quoted(&table.title)?,
                            json_object(&table.columns, row)?
                        ));
                    }
                }
            }
        }
        Ok(objects)
    }
}
