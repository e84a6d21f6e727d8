//! The nodes of a job, by name.

use std::borrow::Cow;

use crate::reference::hostlist::Hostlist;

/// The nodes of a list as Slurm or PBS writes it, each once and sorted; none when it is no list.
#[must_use]
pub fn job_hosts(text: &str) -> Vec<String> {
    let mut nodes: Vec<String> = if text.contains('/') {
        let parts = text.split('+').filter_map(|part| part.split('/').next());
        parts.map(str::to_owned).collect()
    } else {
        match Hostlist::parse(text) {
            Ok(list) => list.hosts().map(Cow::into_owned).collect(),
            Err(_) => Vec::new(),
        }
    };
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
