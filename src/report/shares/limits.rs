//! Fields of an association under the names and in the order of `sacctmgr dump`.

use std::collections::BTreeMap;

use super::associations::ListedAssociation;

/// What a field of the listing is for a load file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoadOption {
    /// Its name in the file.
    name: &'static str,
    /// Its names in listings, in lower case.
    listed: &'static [&'static str],
    /// Whether its value stands in quotes.
    is_quoted: bool,
}

const fn plain(name: &'static str, listed: &'static [&'static str]) -> LoadOption {
    LoadOption {
        name,
        listed,
        is_quoted: false,
    }
}

const fn quoted(name: &'static str, listed: &'static [&'static str]) -> LoadOption {
    LoadOption {
        is_quoted: true,
        ..plain(name, listed)
    }
}

/// The name of shares in the file.
pub(super) const FAIRSHARE: &str = "Fairshare";
/// The name of limits of minutes in the file.
pub(super) const GRP_TRES_MINS: &str = "GrpTRESMins";

/// All options in their order.
const OPTIONS: [LoadOption; 29] = [
    quoted("Partition", &["partition"]),
    quoted("DefaultAccount", &["default_account"]),
    quoted("AdminLevel", &["adminlevel", "admin"]),
    quoted("Coordinator", &["coordinator", "coordinators"]),
    quoted("DefaultWCKey", &["defaultwckey", "defwckey"]),
    quoted("WCKeys", &["wckeys"]),
    quoted("Description", &["description"]),
    quoted("Organization", &["organization"]),
    quoted("Classification", &["classification"]),
    quoted("DefaultQOS", &["default_qos"]),
    plain(FAIRSHARE, &[]),
    plain(GRP_TRES_MINS, &["grp_tres_mins"]),
    plain("GrpTRESRunMins", &["grptresrunmins"]),
    plain("GrpTRES", &["grp_tres"]),
    plain("GrpJobs", &["grpjobs"]),
    plain("GrpJobsAccrue", &["grpjobsaccrue"]),
    plain("GrpSubmitJobs", &["grpsubmitjobs", "grpsubmit"]),
    plain("GrpWall", &["grpwall"]),
    plain("MaxTRESMinsPerJob", &["maxtresminsperjob", "maxtresmins"]),
    plain("MaxTRESRunMins", &["maxtresrunmins"]),
    plain("MaxTRESPerJob", &["maxtresperjob", "maxtres"]),
    plain("MaxTRESPerNode", &["maxtrespernode"]),
    plain("MaxJobs", &["maxjobs"]),
    plain("MaxJobsAccrue", &["maxjobsaccrue"]),
    plain("MaxSubmitJobs", &["maxsubmitjobs", "maxsubmit"]),
    plain("MaxWallDurationPerJob", &["maxwalldurationperjob", "maxwall"]),
    plain("MinPrioThresh", &["minpriothresh", "minpriothreshold"]),
    plain("Priority", &["priority"]),
    quoted("QOS", &["qos"]),
];

/// Texts for people, which may have any character; without them `load` keeps those that are there.
const DISPENSABLE: [&str; 2] = ["Description", "Organization"];

/// One option of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OptionValue {
    /// Its name in the file.
    pub(super) name: &'static str,
    /// Its value.
    pub(super) value: String,
    /// Whether the value stands in quotes.
    pub(super) is_quoted: bool,
    /// Whether the line can do without it.
    pub(super) is_dispensable: bool,
}

/// The options of an association in their order, without its shares; and the fields that no load file has.
pub(super) struct ListedOptions {
    pub(super) options: Vec<OptionValue>,
    pub(super) unknown: Vec<String>,
}

impl ListedOptions {
    /// No options: of a root that the listing does not have.
    pub(super) fn none() -> Self {
        Self {
            options: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Those that a listing states.
    pub(super) fn of(association: &ListedAssociation) -> Self {
        let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
        if let Some(partition) = &association.key.partition {
            fields.insert("partition", partition);
        }
        for (name, value) in &association.fields {
            if *name == "limits" {
                fields.extend(value.split(';').filter_map(|limit| limit.split_once('=')));
            } else {
                fields.insert(name, value);
            }
        }
        let mut options = Vec::new();
        for option in &OPTIONS {
            let found = option.listed.iter().find_map(|name| fields.remove(name));
            if let Some(value) = found.filter(|value| !value.is_empty()) {
                options.push(OptionValue {
                    name: option.name,
                    value: value.to_owned(),
                    is_quoted: option.is_quoted,
                    is_dispensable: DISPENSABLE.contains(&option.name),
                });
            }
        }
        Self {
            options,
            unknown: fields.into_keys().map(str::to_owned).collect(),
        }
    }

    /// Puts an option where it belongs, in the place of one of this name.
    pub(super) fn set(&mut self, name: &'static str, value: String) {
        let rank = |name: &str| OPTIONS.iter().position(|option| option.name == name);
        self.options.retain(|option| option.name != name);
        let at = self.options.iter().position(|option| rank(option.name) > rank(name));
        self.options.insert(
            at.unwrap_or(self.options.len()),
            OptionValue {
                name,
                value,
                is_quoted: false,
                is_dispensable: false,
            },
        );
    }

    /// The value of an option.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|option| option.name == name);
        found.map(|option| option.value.as_str())
    }
}
