//! Pages that boards read: sections, terms, tables that sort by keyboard. One file that fetches nothing.

use std::fmt::Write as _;

use super::html::{escape, page};
use crate::store::{Fact, LakeFacts};

const SCRIPT: &str = include_str!("board.js");
const STYLE: &str = include_str!("board.css");

/// The whole page around sections that are HTML already.
#[must_use]
pub(super) fn board(title: &str, sections: &str) -> String {
    page(
        title,
        &format!("<style>\n{STYLE}</style>\n{sections}<script>\n{SCRIPT}</script>\n"),
    )
}

/// Adds a section; `inside` is HTML already.
pub(super) fn section(body: &mut String, id: &str, title: &str, inside: &str) {
    // Writing to a String cannot fail.
    let _infallible = write!(
        body,
        "<section id=\"{id}\">\n<h2>{}</h2>\n{inside}</section>\n",
        escape(title)
    );
}

/// A term and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageTerm<'t> {
    /// The term.
    pub(super) term: &'t str,
    /// What it means.
    pub(super) meaning: &'t str,
}

/// Terms and what they mean.
#[must_use]
pub(super) fn definitions<'t>(terms: impl IntoIterator<Item = PageTerm<'t>>) -> String {
    let mut inside = "<dl class=\"terms\">\n".to_owned();
    for PageTerm { term, meaning } in terms {
        // Writing to a String cannot fail.
        let _infallible = writeln!(inside, "<dt>{}</dt><dd>{}</dd>", escape(term), escape(meaning));
    }
    inside.push_str("</dl>\n");
    inside
}

/// What a lake was made under.
pub(super) fn lake_terms(facts: &LakeFacts) -> Vec<(String, String)> {
    let shown = [
        Fact::Pipeline,
        Fact::Plan,
        Fact::Attribution,
        Fact::CalendarTimezone,
        Fact::Schemas,
    ];
    let stated = shown
        .into_iter()
        .filter_map(|fact| Some((fact.name(), facts.get(fact)?)));
    stated
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}
