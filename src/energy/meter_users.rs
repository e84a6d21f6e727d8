//! Which clusters used the meters of nodes, and when: a meter of a node that two clusters have would count for both.

use std::collections::BTreeMap;

use super::job_load::RunSpan;

/// The jobs of one cluster and view that used a meter.
#[derive(Clone, Debug)]
struct MeterUser {
    view: Option<String>,
    cluster: Option<String>,
    /// From the first second of them to the last.
    run: RunSpan,
}

/// A node whose meter jobs of two clusters used at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMeter {
    /// The node, as the table names it.
    pub node: String,
    /// Both clusters; empty is a job without one.
    pub clusters: [String; 2],
}

/// Who used the meters of the nodes of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct MeterUsers<'a> {
    nodes: BTreeMap<&'a str, Vec<MeterUser>>,
}

impl<'a> MeterUsers<'a> {
    /// Adds a job of a view and cluster that used the meter of a node.
    pub(super) fn add(&mut self, node: &'a str, view: Option<&str>, cluster: Option<&str>, run: RunSpan) {
        let users = self.nodes.entry(node).or_default();
        let mut same = users.iter_mut();
        match same.find(|user| user.view.as_deref() == view && user.cluster.as_deref() == cluster) {
            Some(user) => {
                user.run.from_ms = user.run.from_ms.min(run.from_ms);
                user.run.until_ms = user.run.until_ms.max(run.until_ms);
            }
            None => users.push(MeterUser {
                view: view.map(str::to_owned),
                cluster: cluster.map(str::to_owned),
                run,
            }),
        }
    }

    /// The first node, in the order of names, whose meter jobs of two clusters used at the same time. Views describe the same
    /// hours and are never added up.
    pub(super) fn shared(&self) -> Option<SharedMeter> {
        let is_shared = |one: &MeterUser, other: &MeterUser| {
            one.view == other.view && one.run.from_ms < other.run.until_ms && other.run.from_ms < one.run.until_ms
        };
        self.nodes.iter().find_map(|(node, users)| {
            let mut pairs = users
                .iter()
                .enumerate()
                .flat_map(|(nth, one)| users.iter().take(nth).map(move |other| [one, other]));
            let pair = pairs.find(|[one, other]| is_shared(one, other))?;
            // Fallback: a job without a cluster has an empty name.
            let mut clusters = pair.map(|user| user.cluster.clone().unwrap_or_default());
            clusters.sort();
            Some(SharedMeter {
                node: (*node).to_owned(),
                clusters,
            })
        })
    }
}
