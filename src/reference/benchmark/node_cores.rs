//! Rows of nodes without their cores, which a mean over nodes of several values needs.

use super::kind::Benchmark;
use super::nodes::hosts;
use super::scope::{BenchmarkLevel, BenchmarkScope};
use super::table::{BenchmarkEntry, BenchmarkPart, BenchmarkTable};
use super::timeline::{Timeline, TimelineSpan};
use crate::diagnostics::Problems;

/// A value of nodes.
#[derive(Clone, Copy)]
struct NodeValue<'a> {
    scope: &'a BenchmarkScope,
    span: &'a TimelineSpan,
}

impl NodeValue<'_> {
    /// Whether a job may run on nodes of both, and the mean of both values is another one than either.
    fn differs_from(&self, other: &Self) -> bool {
        let is_apart = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
        self.span.value_e4 != other.span.value_e4
            && self.span.from_ms < other.span.until_ms
            && other.span.from_ms < self.span.until_ms
            && !is_apart(&self.scope.cluster, &other.scope.cluster)
            && !is_apart(&self.scope.submit_host, &other.scope.submit_host)
            && !is_apart(&self.scope.partition, &other.scope.partition)
    }
}

/// Reports rows of nodes whose cores nothing states, where other nodes have another value at the same time: a job on both
/// has no mean, and the next step of the order decides.
pub(super) fn check(table: &BenchmarkTable, file: &str, problems: &mut Problems) {
    for (site, part) in table.parts() {
        for kind in Benchmark::ALL {
            let values: Vec<NodeValue<'_>> = values(part, kind).collect();
            for value in &values {
                let has_cores = value.span.core_n.is_some() || states_cores(table, site, value.scope);
                let other = values.iter().find(|other| value.differs_from(other));
                if let (false, Some(other)) = (has_cores, other) {
                    let (line, kind) = (value.span.line, kind.as_str());
                    let message = format!(
                        "{} has no cores, and line {} gives other nodes another {kind} value: a job on both gets no mean \
                         over its cores, but the value of its cluster or site, or none",
                        value.scope.text(),
                        other.span.line
                    );
                    problems.warning(file, line, message);
                }
            }
        }
    }
}

fn values(part: &BenchmarkPart, kind: Benchmark) -> impl Iterator<Item = NodeValue<'_>> {
    let entries = part.entries.iter();
    let of_nodes = entries.filter(|entry| entry.level == BenchmarkLevel::Node);
    of_nodes.flat_map(move |entry: &BenchmarkEntry| {
        let spans = entry.timelines.get(kind.place()).into_iter();
        let spans = spans.flat_map(Timeline::spans);
        spans.map(|span| NodeValue {
            scope: &entry.scope,
            span,
        })
    })
}

/// Whether the table of nodes states the cores of all nodes of a scope.
fn states_cores(table: &BenchmarkTable, site: Option<&str>, scope: &BenchmarkScope) -> bool {
    match (&scope.nodes, &scope.node_class) {
        (Some(pattern), _) => {
            // A pattern that names no nodes is a mistake that is reported where it is read.
            hosts(pattern).is_ok_and(|hosts| hosts.iter().all(|host| table.nodes.states_cores(site, host)))
        }
        (None, Some(class)) => table.nodes.states_cores_of_class(site, class),
        (None, None) => true,
    }
}
