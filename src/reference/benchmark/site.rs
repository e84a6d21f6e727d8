//! The rows of a table for one site.

use std::cell::OnceCell;

use super::asked_span::AskedSpan;
use super::factors::{Factors, KnownFactor};
use super::kind::Benchmark;
use super::nodes::named;
use super::scope::{BenchmarkLevel, BenchmarkOrigin, BenchmarkPlace};
use super::table::{BenchmarkEntry, BenchmarkPart, BenchmarkTable};
use super::timeline::Timeline;
use crate::reference::job_hosts::job_hosts;
use crate::schema::batch::addend;

/// The rows that may hold for jobs of one site.
#[derive(Debug)]
pub struct SiteBenchmarks<'a> {
    table: &'a BenchmarkTable,
    site: &'a str,
    own: Option<&'a BenchmarkPart>,
    /// Instants at which some answer may change, in order.
    boundaries: Vec<i64>,
    uses: Uses,
}

/// Which words of a place make a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a flag for each word of a place")]
struct Uses {
    cluster: bool,
    submit_host: bool,
    partition: bool,
    nodes: bool,
}

impl<'a> SiteBenchmarks<'a> {
    pub(super) fn new(table: &'a BenchmarkTable, site: &'a str) -> Self {
        let own = table.sites.get(site);
        let mut boundaries = Vec::new();
        let mut uses = Uses::default();
        for entry in own.into_iter().chain([&table.anywhere]).flat_map(|part| &part.entries) {
            let spans = entry.timelines.iter().flat_map(Timeline::spans);
            boundaries.extend(spans.flat_map(|span| [span.from_ms, span.until_ms]));
            uses.cluster |= entry.scope.cluster.is_some();
            uses.submit_host |= entry.scope.submit_host.is_some();
            uses.partition |= entry.scope.partition.is_some();
            uses.nodes |= entry.level == BenchmarkLevel::Node;
        }
        if uses.nodes {
            // The class and cores of a node may differ from cluster to cluster.
            uses.cluster = true;
            table.nodes.boundaries(site, &mut boundaries);
        }
        boundaries.sort_unstable();
        boundaries.dedup();
        Self {
            table,
            site,
            own,
            boundaries,
            uses,
        }
    }

    /// The words of a place that make a difference here.
    #[must_use]
    pub fn distinguished_by<'p>(&self, place: BenchmarkPlace<'p>) -> BenchmarkPlace<'p> {
        BenchmarkPlace {
            cluster: place.cluster.filter(|_| self.uses.cluster),
            submit_host: place.submit_host.filter(|_| self.uses.submit_host),
            partition: place.partition.filter(|_| self.uses.partition),
            node_list: place.node_list.filter(|_| self.uses.nodes),
        }
    }

    /// A number that is the same for two instants only if no row changes between them.
    #[must_use]
    pub fn season(&self, at_ms: i64) -> usize {
        self.boundaries.partition_point(|boundary| *boundary <= at_ms)
    }

    /// What `levels` know of a job at an instant, the first level first: rows of the site, then rows of any site.
    #[must_use]
    pub fn factors(&self, levels: &[BenchmarkLevel], place: &BenchmarkPlace<'_>, at_ms: i64) -> Factors {
        let nodes = OnceCell::new();
        Factors::from_known(Benchmark::ALL.map(|kind| {
            self.parts().find_map(|part| {
                levels.iter().find_map(|level| match level {
                    BenchmarkLevel::Record => None,
                    BenchmarkLevel::Node => {
                        self.of_nodes(part, kind, place, nodes.get_or_init(|| expand(place)), at_ms)
                    }
                    BenchmarkLevel::Cluster | BenchmarkLevel::Site => {
                        let mut of_level = part.entries.iter().filter(|entry| entry.level == *level);
                        of_level.find_map(|entry| {
                            let span = entry.scope.holds(place).then(|| entry.at(kind, at_ms))??;
                            Some(KnownFactor {
                                e4: span.value_e4,
                                origin: entry.origin,
                            })
                        })
                    }
                })
            })
        }))
    }

    fn parts(&self) -> impl Iterator<Item = &'a BenchmarkPart> {
        self.own.into_iter().chain([&self.table.anywhere])
    }

    /// The mean over the cores of all nodes of a job, rounded half up to four decimals. Unknown when a node is, or when
    /// nodes differ in value and the cores of one are unknown.
    fn of_nodes(
        &self,
        part: &BenchmarkPart,
        kind: Benchmark,
        place: &BenchmarkPlace<'_>,
        nodes: &[String],
        at_ms: i64,
    ) -> Option<KnownFactor> {
        let known = |e4: i64| KnownFactor {
            e4,
            origin: BenchmarkOrigin::Node,
        };
        let mut first = None;
        let mut is_uniform = true;
        let (mut sum, mut core_sum) = (0_i128, Some(0_i128));
        for node in nodes {
            let class = self.table.nodes.class(self.site, place.cluster, node, at_ms);
            let span = closest(part, place, node, class, |entry| entry.at(kind, at_ms).is_some())?.at(kind, at_ms)?;
            is_uniform &= *first.get_or_insert(span.value_e4) == span.value_e4;
            let reported = self.table.nodes.core_n(self.site, place.cluster, node, at_ms);
            let core_n = reported.or(span.core_n).map(i128::from);
            sum += i128::from(span.value_e4) * addend(core_n);
            core_sum = core_sum.zip(core_n).map(|(sum, core_n)| sum + core_n);
        }
        if is_uniform {
            return first.map(known);
        }
        let core_sum = core_sum?;
        let mean_e4 = (2 * sum + core_sum).div_euclid(2 * core_sum);
        i64::try_from(mean_e4).ok().map(known)
    }

    /// What decides the answers to what was asked: equal texts, equal answers.
    #[must_use]
    pub fn relevant(&self, asked: AskedSpan) -> String {
        let (from_ms, until_ms) = (asked.first_ms, asked.last_ms);
        let mut stated = Vec::new();
        let of_parts = self.own.iter().map(|_| "site").chain(["any"]);
        for (part, of) in self.parts().zip(of_parts) {
            for entry in &part.entries {
                let scope = entry.scope.text();
                for (kind, timeline) in Benchmark::ALL.into_iter().zip(&entry.timelines) {
                    let held = timeline.spans().iter();
                    let held = held.filter(|span| span.from_ms <= until_ms && span.until_ms > from_ms);
                    stated.extend(held.map(|span| StatedBenchmark {
                        of,
                        scope: scope.clone(),
                        kind: kind.as_str(),
                        from_ms: span.from_ms.max(from_ms),
                        // Fallback: a span that holds to the end of time has no instant after it.
                        until_ms: span.until_ms.min(until_ms.saturating_add(1)),
                        value: (span.value_e4, span.core_n),
                    }));
                }
            }
        }
        stated.sort();
        // Two equal adjoining rows count as one.
        stated.dedup_by(|next, last| {
            let is_same = (next.of, &next.scope, next.kind, next.value)
                == (last.of, &last.scope, last.kind, last.value)
                && last.until_ms == next.from_ms;
            if is_same {
                last.until_ms = next.until_ms;
            }
            is_same
        });
        let mut lines: Vec<String> = stated.iter().map(|stated| format!("{stated:?}")).collect();
        if self.uses.nodes {
            self.table.nodes.relevant(self.site, asked, &mut lines);
            lines.sort();
        }
        lines.join("\n")
    }
}

/// A value that holds between two instants.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StatedBenchmark {
    of: &'static str,
    scope: String,
    kind: &'static str,
    from_ms: i64,
    until_ms: i64,
    /// In ten-thousandths, and the cores it weighs.
    value: (i64, Option<i64>),
}

/// The closest entry that names a node or its class and satisfies `is_there`.
fn closest<'p>(
    part: &'p BenchmarkPart,
    place: &BenchmarkPlace<'_>,
    node: &str,
    class: Option<&str>,
    is_there: impl Fn(&BenchmarkEntry) -> bool,
) -> Option<&'p BenchmarkEntry> {
    let by_name = named(&part.nodes, node).map_or(&[][..], Vec::as_slice);
    part.entries.iter().enumerate().find_map(|(at, entry)| {
        let is_node = entry.level == BenchmarkLevel::Node
            && entry.scope.nodes.as_ref().is_none_or(|_| by_name.contains(&at))
            && entry.scope.node_class.as_deref().is_none_or(|of| class == Some(of))
            && entry.scope.holds(place)
            && is_there(entry);
        is_node.then_some(entry)
    })
}

/// The nodes of a place, each once; none when the list is none or means more than any cluster has.
fn expand(place: &BenchmarkPlace<'_>) -> Vec<String> {
    let hosts = place.node_list.map_or_else(Vec::new, job_hosts);
    hosts.into_iter().map(|host| host.name.into_owned()).collect()
}
