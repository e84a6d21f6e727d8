//! Where the numbers of a site come from: its input files, and the settings the lake was made under.

use std::fmt::Write as _;

use super::data::SiteData;
use super::page::period;
use crate::report::board::lake_terms;
use crate::report::html::escape;

/// The files read and the settings of the lake, as a list of terms.
pub(super) fn terms(data: &SiteData) -> String {
    let mut inside = String::from("<dl class=\"terms\">\n");
    let mut line = |term: &str, meaning: &str| {
        // Writing to a String cannot fail.
        let _infallible = writeln!(inside, "<dt>{}</dt><dd>{}</dd>", escape(term), escape(meaning));
    };
    line("written by", concat!("gridtally ", env!("CARGO_PKG_VERSION")));
    line("BLAKE3 over the hashes of the files read", &data.blake3);
    let vos = data.vos().unwrap_or_else(|| "all VOs".to_owned());
    line("selection", &format!("{vos}, {}", period(data)));
    for (source, n) in &data.quality.inputs {
        line(
            &format!("source {source}"),
            &format!("{n} input files with rows of the site"),
        );
    }
    for (name, value) in lake_terms(&data.facts) {
        line(&name, &value);
    }
    inside.push_str("</dl>\n<p>The lake holds every record behind these numbers with file and line, and a ledger of every input row.</p>\n");
    inside
}
