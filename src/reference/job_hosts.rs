//! The nodes of a job, by name, with their parts of its cores.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::numbers::count_i64;
use crate::reference::hostlist::Hostlist;

/// A node of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobHost<'t> {
    /// Its name.
    pub name: Cow<'t, str>,
    /// How often the list has it: of so many parts of the job's cores, which all have the same size, this node has so many.
    pub part_n: i64,
}

/// The nodes of a list in its order, each once.
#[must_use]
pub fn listed_hosts<'t>(list: &'t Hostlist<'_>) -> Vec<JobHost<'t>> {
    let mut hosts: Vec<JobHost<'t>> = Vec::new();
    let mut places: HashMap<Cow<'t, str>, usize> = HashMap::new();
    for name in list.hosts() {
        match places.entry(name) {
            Entry::Occupied(place) => {
                if let Some(host) = hosts.get_mut(*place.get()) {
                    host.part_n += 1;
                }
            }
            Entry::Vacant(place) => {
                let name = place.key().clone();
                place.insert(hosts.len());
                hosts.push(JobHost { name, part_n: 1 });
            }
        }
    }
    hosts
}

/// The nodes of a text, each once and sorted; none when it is no list. Records that were read before nodes of PBS had the form of
/// Slurm's have `n1/0+n1/1+n2/0*4`, a host before each slash: its cores are not looked at.
#[must_use]
pub fn job_hosts(text: &str) -> Vec<JobHost<'_>> {
    if text.contains('/') {
        let mut names: Vec<&str> = text.split('+').filter_map(|part| part.split('/').next()).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name| JobHost {
            name: Cow::Borrowed(name),
            part_n: 1,
        };
        return names.into_iter().map(of).collect();
    }
    let Ok(list) = Hostlist::parse(text) else {
        return Vec::new();
    };
    let mut names: Vec<Cow<'_, str>> = list.hosts().collect();
    names.sort_unstable();
    let same = names.chunk_by(|one, other| one == other);
    let of = |same: &[Cow<'_, str>]| {
        let name = same.first()?.clone().into_owned();
        Some(JobHost {
            name: Cow::Owned(name),
            part_n: count_i64(same.len()),
        })
    };
    same.filter_map(of).collect()
}
