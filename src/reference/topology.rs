//! Resources of a grid and the groups, sites and facilities they belong to, as OSG's topology lists them.

use std::io::Read;
use std::path::Path;

use ahash::AHashMap;

use super::csv_table::{self, CsvTable};
use crate::diagnostics::Problems;
use crate::hive::check_value;
use crate::record::JobRow;

/// What of the topology becomes the site of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TopologyLevel {
    /// The resource group: what OSG reports to APEL as site.
    #[default]
    ResourceGroup,
    /// The site.
    Site,
    /// The facility.
    Facility,
}

/// The levels by the word people write.
pub(crate) const LEVELS: &[(&str, TopologyLevel)] = &[
    ("resource_group", TopologyLevel::ResourceGroup),
    ("site", TopologyLevel::Site),
    ("facility", TopologyLevel::Facility),
];

impl TopologyLevel {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ResourceGroup => "resource_group",
            Self::Site => "site",
            Self::Facility => "facility",
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct TopologyResource {
    facility: String,
    site: String,
    group: String,
}

/// The resources by what records name them with. Of several with one name the first in the file counts, as in GRACC.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    resources: Vec<TopologyResource>,
    names: Vec<String>,
    by_fqdn: AHashMap<String, usize>,
    by_name: AHashMap<String, usize>,
    by_site: AHashMap<String, usize>,
    by_group: AHashMap<String, usize>,
}

impl Topology {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table with the columns `Facility`, `Site`, `ResourceGroup`, `Resource` and `FQDN`; others are ignored.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let places =
            ["Facility", "Site", "ResourceGroup", "Resource", "FQDN"].map(|name| csv.column(name, file, problems));
        let mut topology = Self::default();
        let [Some(facility), Some(site), Some(group), Some(name), Some(fqdn)] = places else {
            return topology;
        };
        for (line, cells) in &csv.rows {
            // Fallback: a row that is too short has empty cells, which the check below refuses.
            let cell = |place: usize| cells.get(place).cloned().unwrap_or_default();
            let names = [("facility", facility), ("site", site), ("resource group", group)];
            let too_long = names.map(|(noun, place)| check_value(noun, &cell(place)));
            if let Some(why) = too_long.into_iter().find_map(Result::err) {
                problems.mistake(file, *line, why);
                continue;
            }
            let nth = topology.resources.len();
            for (index, key) in [
                (&mut topology.by_fqdn, cell(fqdn)),
                (&mut topology.by_name, cell(name)),
                (&mut topology.by_site, cell(site)),
                (&mut topology.by_group, cell(group)),
            ] {
                if !key.is_empty() {
                    index.entry(key.to_lowercase()).or_insert(nth);
                }
            }
            topology.names.push(format!("{} {}", cell(name), cell(fqdn)));
            topology.resources.push(TopologyResource {
                facility: cell(facility),
                site: cell(site),
                group: cell(group),
            });
        }
        topology
    }

    /// Where a job ran, and how that was found, by GRACC's rules: a payload by the site it names, as resource, site or
    /// resource group; any other record by the host of its probe, or else by its site name, as resource.
    #[must_use]
    pub fn find(&self, row: &JobRow<'_>, level: TopologyLevel) -> Option<(&str, &'static str)> {
        let ways: &[(&AHashMap<String, usize>, Option<&str>, &'static str)] = if row.view == "payload" {
            &[
                (&self.by_name, row.payload_site, "payload_resource"),
                (&self.by_site, row.payload_site, "payload_site"),
                (&self.by_group, row.payload_site, "payload_resource_group"),
            ]
        } else {
            let host = row.cluster.and_then(|probe| probe.rsplit(':').next());
            &[
                (&self.by_fqdn, host, "probe_fqdn"),
                (&self.by_name, row.site, "resource_name"),
            ]
        };
        ways.iter().find_map(|(index, key, rule)| {
            let resource = self.resources.get(*index.get(&key.as_ref()?.trim().to_lowercase())?)?;
            let name = match level {
                TopologyLevel::Facility => &resource.facility,
                TopologyLevel::Site => &resource.site,
                TopologyLevel::ResourceGroup => &resource.group,
            };
            (!name.is_empty()).then_some((name.as_str(), *rule))
        })
    }

    /// The content of the table, in its order: all that decides results.
    #[must_use]
    pub fn canonical(&self) -> String {
        format!("{:?}\n{:?}", self.resources, self.names)
    }
}
