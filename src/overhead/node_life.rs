//! Which nodes there were, by listings one after another: a complete listing closes the life of the nodes it does not
//! name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Whether a listing names all nodes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Complete {
    /// It does not, by the pipeline or the file.
    No,
    /// It names all nodes of those listings with which it shares a node: listings of other parts of a machine are
    /// independent of it.
    OfItsPart,
    /// It does, by the pipeline.
    Yes,
}

/// The nodes listed at one instant.
struct NodeListed<'a> {
    nodes: BTreeSet<&'a str>,
    complete: Complete,
}

/// A node that a listing names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeMention<'a> {
    /// When the listing was made; `i64::MIN` without a date.
    pub(crate) as_of_s: i64,
    pub(crate) node: &'a str,
    pub(crate) complete: Complete,
}

/// When a node came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LifeChange {
    pub(crate) from_s: i64,
    /// Whether it is there from then on.
    pub(crate) is_there: bool,
}

impl LifeChange {
    /// A node that came later.
    pub(crate) const NOT_AT_FIRST: Self = Self {
        from_s: i64::MIN,
        is_there: false,
    };
}

/// When nodes came and went. A node that is not named here was always there.
pub(crate) type Lives<'a> = HashMap<&'a str, Vec<LifeChange>>;

/// Derives lives of nodes from listings. Rows without a date have no effect on them.
pub(crate) fn lives<'a>(mentions: impl Iterator<Item = NodeMention<'a>>) -> Lives<'a> {
    let mut at_instant: BTreeMap<i64, NodeListed<'a>> = BTreeMap::new();
    for NodeMention {
        as_of_s,
        node,
        complete,
    } in mentions
    {
        let listed = at_instant.entry(as_of_s).or_insert_with(|| NodeListed {
            nodes: BTreeSet::new(),
            complete,
        });
        listed.nodes.insert(node);
        listed.complete = listed.complete.max(complete);
    }
    let always = at_instant
        .remove(&i64::MIN)
        .map(|listed| listed.nodes)
        // Fallback: without undated listings no node is there always.
        .unwrap_or_default();
    let mut lives = Lives::new();
    // By node: the instant of the listing that named it last, while it is there.
    let mut named: BTreeMap<&str, i64> = BTreeMap::new();
    let mut is_closed: BTreeSet<&str> = BTreeSet::new();
    let mut whole: Option<i64> = None;
    // Instants of listings that are complete at least of their part.
    let mut complete_at: BTreeSet<i64> = BTreeSet::new();
    for (as_of_s, listed) in &at_instant {
        let shared: BTreeSet<i64> = listed
            .nodes
            .iter()
            .filter_map(|node| named.get(node).copied())
            .collect();
        for node in listed.nodes.iter().filter(|node| !named.contains_key(**node)) {
            let was_missing = whole.is_some() || shared.iter().any(|instant| complete_at.contains(instant));
            let came = LifeChange {
                from_s: *as_of_s,
                is_there: true,
            };
            if is_closed.remove(node) {
                lives.entry(node).or_default().push(came);
            } else if was_missing && !always.contains(node) {
                lives.insert(node, vec![LifeChange::NOT_AT_FIRST, came]);
            }
        }
        let is_gone = |node: &str, instant: i64| match listed.complete {
            _ if listed.nodes.contains(node) || always.contains(node) => false,
            Complete::No => false,
            Complete::OfItsPart => shared.contains(&instant),
            Complete::Yes => true,
        };
        named.retain(|node, instant| {
            let is_gone = is_gone(node, *instant);
            if is_gone {
                lives.entry(node).or_default().push(LifeChange {
                    from_s: *as_of_s,
                    is_there: false,
                });
                is_closed.insert(node);
            }
            !is_gone
        });
        named.extend(listed.nodes.iter().map(|node| (*node, *as_of_s)));
        if listed.complete == Complete::Yes {
            whole = Some(*as_of_s);
        }
        if listed.complete != Complete::No {
            complete_at.insert(*as_of_s);
        }
    }
    lives
}

/// Whether a node is there, given when it came and went.
pub(crate) fn is_there(changes: &[LifeChange], at_s: i64) -> bool {
    let last = changes.iter().rev().find(|change| change.from_s <= at_s);
    last.is_none_or(|change| change.is_there)
}
