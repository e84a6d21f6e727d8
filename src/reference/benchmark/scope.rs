//! What a row of the table holds for, and which of two rows is the more specific.

/// How closely a scope describes a job: the steps of a pipeline's `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BenchmarkLevel {
    /// The value the record states itself (APEL's `ServiceLevel`).
    Record,
    /// Rows that name nodes or a class of nodes.
    Node,
    /// Rows that name a cluster, a CE or a partition.
    Cluster,
    /// Rows that do not name one of these.
    Site,
}

impl BenchmarkLevel {
    /// From the closest to the widest: the order where the pipeline states none.
    pub const ALL: [Self; 4] = [Self::Record, Self::Node, Self::Cluster, Self::Site];

    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Node => "node",
            Self::Cluster => "cluster",
            Self::Site => "site",
        }
    }
}

/// Where the value that scales a job came from, as recorded in `records`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BenchmarkOrigin {
    /// The record states it.
    Record,
    /// Its times arrive scaled to the reference its source declares.
    ScaledTo,
    /// Rows of its nodes; of several nodes, the mean over their cores.
    Node,
    /// A row of its partition.
    Partition,
    /// A row of its CE.
    SubmitHost,
    /// A row of its cluster.
    Cluster,
    /// A row of its site.
    Site,
    /// A row for any site.
    AnySite,
    /// The pipeline's fallback.
    Fallback,
}

impl BenchmarkOrigin {
    /// The word in `records`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::ScaledTo => "scaled_to",
            Self::Node => "node",
            Self::Partition => "partition",
            Self::SubmitHost => "submit_host",
            Self::Cluster => "cluster",
            Self::Site => "site",
            Self::AnySite => "any_site",
            Self::Fallback => "fallback",
        }
    }

    /// The origin of this word in `records`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let all = [
            Self::Record,
            Self::ScaledTo,
            Self::Node,
            Self::Partition,
            Self::SubmitHost,
            Self::Cluster,
            Self::Site,
            Self::AnySite,
            Self::Fallback,
        ];
        all.into_iter().find(|origin| origin.as_str() == word)
    }
}

/// Where a job ran, in the words of its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BenchmarkPlace<'a> {
    /// Cluster.
    pub cluster: Option<&'a str>,
    /// CE or submit host.
    pub submit_host: Option<&'a str>,
    /// Partition or queue.
    pub partition: Option<&'a str>,
    /// Its nodes, as listed.
    pub node_list: Option<&'a str>,
}

/// What a row holds for; `None` is any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BenchmarkScope {
    pub(super) cluster: Option<String>,
    pub(super) submit_host: Option<String>,
    pub(super) partition: Option<String>,
    pub(super) node_class: Option<String>,
    /// A hostlist as Slurm writes them.
    pub(super) nodes: Option<String>,
}

impl BenchmarkScope {
    /// The closer of two scopes that hold for a job has the larger number: nodes, then node class, partition, CE and
    /// cluster; what one of them names in addition decides between two that name the same closest thing.
    pub(super) fn closeness(&self) -> u8 {
        [
            self.nodes.is_some(),
            self.node_class.is_some(),
            self.partition.is_some(),
            self.submit_host.is_some(),
            self.cluster.is_some(),
        ]
        .into_iter()
        .fold(0, |sum, is_named| sum * 2 + u8::from(is_named))
    }

    pub(super) fn level(&self) -> BenchmarkLevel {
        if self.nodes.is_some() || self.node_class.is_some() {
            BenchmarkLevel::Node
        } else if self.partition.is_some() || self.submit_host.is_some() || self.cluster.is_some() {
            BenchmarkLevel::Cluster
        } else {
            BenchmarkLevel::Site
        }
    }

    pub(super) fn origin(&self, is_any_site: bool) -> BenchmarkOrigin {
        match self {
            _ if self.level() == BenchmarkLevel::Node => BenchmarkOrigin::Node,
            _ if self.partition.is_some() => BenchmarkOrigin::Partition,
            _ if self.submit_host.is_some() => BenchmarkOrigin::SubmitHost,
            _ if self.cluster.is_some() => BenchmarkOrigin::Cluster,
            _ if is_any_site => BenchmarkOrigin::AnySite,
            _ => BenchmarkOrigin::Site,
        }
    }

    /// Whether a job is in it, nodes and their class apart.
    pub(super) fn holds(&self, place: &BenchmarkPlace<'_>) -> bool {
        let holds = |own: &Option<String>, of: Option<&str>| own.is_none() || own.as_deref() == of;
        holds(&self.cluster, place.cluster)
            && holds(&self.submit_host, place.submit_host)
            && holds(&self.partition, place.partition)
    }

    /// The same in one line, for people and for comparing tables.
    pub(super) fn text(&self) -> String {
        let named = [
            ("cluster", &self.cluster),
            ("submit_host", &self.submit_host),
            ("partition", &self.partition),
            ("node_class", &self.node_class),
            ("nodes", &self.nodes),
        ];
        let named = named
            .into_iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value:?}")));
        let text = named.collect::<Vec<_>>().join(" ");
        if text.is_empty() { "all".to_owned() } else { text }
    }
}
