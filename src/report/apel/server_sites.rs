//! Sites as APEL's server distinguishes them. Names that differ in letter case alone are one site there: their jobs are in
//! one row, which the row of some of them would replace.

use std::collections::BTreeSet;

use super::server_key::folded;
use crate::report::lake::{Lake, Selection};
use crate::store::lake::sites;

/// The selection with every site of the lake that the server takes for a requested one.
#[must_use]
pub fn with_same_sites(lake: &Lake, selection: &Selection) -> Selection {
    let mut whole = selection.clone();
    if !selection.sites.is_empty() {
        let known = sites(&lake.manifest).into_iter();
        whole.sites.extend(known.filter(|site| has_same_site(selection, site)));
    }
    whole
}

/// Whether a site is requested, or one that the server takes for it.
#[must_use]
pub fn has_same_site(selection: &Selection, site: &str) -> bool {
    let is_same = |requested: &String| folded(requested) == folded(site);
    selection.has_site(site) || selection.sites.iter().any(is_same)
}

/// The note about sites that are reported although they were not requested; `None` where there are none.
#[must_use]
pub fn note(lake: &Lake, selection: &Selection) -> Option<String> {
    let whole = with_same_sites(lake, selection).sites;
    let more: BTreeSet<&str> = whole.difference(&selection.sites).map(String::as_str).collect();
    if more.is_empty() {
        return None;
    }
    let more: Vec<&str> = more.into_iter().collect();
    Some(format!(
        "{} is reported as well: APEL's server compares sites without regard to letter case, and a part of their common rows \
         would replace the whole there",
        more.join(", ")
    ))
}
