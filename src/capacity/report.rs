//! The numbers of a table of nodes, by site and by the days on which anything changes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::limit::{effective_s, least_wall_s};
use super::reference::{ReferenceChoice, multiplier, warnings};
use super::site::{SitePower, in_hs06, installed, per_cpu_si00};
use crate::diagnostics::must_be_known;
use crate::error::{Error, Kind, Result};
use crate::reference::benchmark::{Each, Score};
use crate::reference::decimal;
use crate::reference::node_type::{NodeType, NodeTypeTable, day_text};
use crate::reference::ratio::Ratio;
use crate::time::Day;

/// Decimals of scores in HEPSPEC06 and of `Benchmark`.
pub(super) const HS06_DECIMALS: u32 = 5;
/// Decimals of scores in SI00.
pub(super) const SI00_DECIMALS: u32 = 2;
/// Decimals of quotients.
pub(super) const RATIO_DECIMALS: u32 = 4;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct CapacityQuestion {
    /// Only these sites; empty is all.
    pub sites: BTreeSet<String>,
    /// Only the nodes of this day.
    pub on: Option<Day>,
    /// The accounting reference.
    pub reference: ReferenceChoice,
    /// CPU time limit at the reference, seconds.
    pub cpu_limit_s: Option<i64>,
    /// Wall time limit at the reference, seconds.
    pub wall_limit_s: Option<i64>,
}

/// One node type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeLine {
    /// Cluster.
    pub cluster: Option<String>,
    /// Its name.
    pub node_type: String,
    /// Nodes.
    pub node_n: i128,
    /// Physical CPUs of all of them.
    pub physical_cpu_n: i128,
    /// Logical CPUs of all of them.
    pub logical_cpu_n: i128,
    /// What the scores are measured with.
    pub benchmark: &'static str,
    /// Score of a logical CPU.
    pub per_core: String,
    /// Score of all nodes.
    pub installed: String,
    /// What the nodes must multiply their times by to be equivalent to the reference.
    pub scaling_factor: String,
    /// What they do multiply them by.
    pub cpumult: String,
    /// SI00 hours delivered in one hour on a logical CPU.
    pub delivered_si00_h: String,
    /// SI00 hours accounted for it.
    pub accounted_si00_h: String,
    /// Accounted beyond what was delivered, in percent of that.
    pub misreported_percent: String,
    /// The CPU limit as the node must hold it, seconds.
    pub cpu_limit_s: Option<i64>,
    /// The wall limit as the node must hold it, seconds.
    pub wall_limit_s: Option<i64>,
    /// The shortest wall limit on this node under which its CPU limit can be reached, seconds.
    pub least_wall_limit_s: Option<i64>,
}

/// One site while its nodes do not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteReport {
    /// Site.
    pub site: String,
    /// First day; absent when it is open.
    pub valid_from: Option<String>,
    /// First day after it; absent when it is open.
    pub valid_to: Option<String>,
    /// Nodes.
    pub node_n: i128,
    /// `CE_PHYSCPU`.
    pub ce_physcpu: i128,
    /// `CE_LOGCPU`.
    pub ce_logcpu: i128,
    /// `Cores`.
    pub cores: String,
    /// `Benchmark`: mean score of a logical CPU, in the scale below.
    pub benchmark: String,
    /// What `Benchmark` is measured with.
    pub benchmark_scale: &'static str,
    /// Installed capacity in HEPSPEC06.
    pub installed_hs06: String,
    /// Installed capacity in SI00.
    pub installed_si00: String,
    /// `CE_SI00`: the physical power.
    pub ce_si00: String,
    /// `CPUScalingReferenceSI00`: what accounting multiplies by.
    pub cpu_scaling_reference_si00: String,
    /// The same in HEPSPEC06.
    pub cpu_scaling_reference_hs06: String,
    /// Its node types, as the table has them.
    pub types: Vec<TypeLine>,
    /// What the reference gets wrong.
    pub warnings: Vec<String>,
}

/// All sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CapacityReport {
    /// By site, then by day.
    pub sites: Vec<SiteReport>,
}

impl CapacityReport {
    /// Answers a question from a table.
    ///
    /// # Errors
    /// [`Kind::Usage`] when the table has no such site, or none on that day.
    pub fn new(table: &NodeTypeTable, question: &CapacityQuestion) -> Result<Self> {
        let known = table.sites().into_iter().map(str::to_owned).collect();
        for site in &question.sites {
            must_be_known("the table has", "site", site, &known)?;
        }
        let mut sites = Vec::new();
        for site in table.sites() {
            if !question.sites.is_empty() && !question.sites.contains(site) {
                continue;
            }
            let changes = table.changes(site);
            for (nth, from) in changes.iter().enumerate() {
                let until = changes.get(nth + 1).copied().flatten();
                if let Some(on) = question.on
                    && !(from.is_none_or(|from| from <= on) && until.is_none_or(|until| on < until))
                {
                    continue;
                }
                // Fallback: a site whose nodes never change has them on any day.
                let day = from.or_else(|| until.map(|until| until - 1)).unwrap_or_default();
                let of_site = table.rows.iter().filter(|row| row.site == site);
                let types: Vec<&NodeType> = of_site.filter(|row| row.is_there(day)).collect();
                sites.extend(site_report(site, *from, until, &types, question));
            }
        }
        if sites.is_empty() {
            let site = if question.sites.is_empty() {
                "any site".to_owned()
            } else {
                let names: Vec<&str> = question.sites.iter().map(String::as_str).collect();
                format!("site {}", names.join(", "))
            };
            let on = question
                .on
                .map_or_else(String::new, |on| format!(" on {}", day_text(Some(on), "")));
            return Err(Error::new(Kind::Usage, format!("the table has no nodes of {site}{on}")));
        }
        Ok(Self { sites })
    }
}

fn site_report(
    site: &str,
    from: Option<Day>,
    until: Option<Day>,
    types: &[&NodeType],
    question: &CapacityQuestion,
) -> Option<SiteReport> {
    let power = SitePower::of(types);
    let reference = question.reference.of(types)?;
    let day = |day: Option<Day>| day.map(|day| day_text(Some(day), ""));
    Some(SiteReport {
        site: site.to_owned(),
        valid_from: day(from),
        valid_to: day(until),
        node_n: power.node_n,
        ce_physcpu: power.physical_cpu_n,
        ce_logcpu: power.logical_cpu_n,
        cores: power.cores()?.text(RATIO_DECIMALS),
        benchmark: power.mean_hs06()?.text(HS06_DECIMALS),
        benchmark_scale: power.scale_name(),
        installed_hs06: power.installed_hs06().text(HS06_DECIMALS),
        installed_si00: power.installed_si00().text(SI00_DECIMALS),
        ce_si00: power.mean_si00()?.text(SI00_DECIMALS),
        cpu_scaling_reference_si00: reference.si00.text(SI00_DECIMALS),
        cpu_scaling_reference_hs06: reference.hs06().text(HS06_DECIMALS),
        types: types
            .iter()
            .filter_map(|one| type_line(one, question, reference))
            .collect(),
        warnings: warnings(question.reference, reference, types),
    })
}

fn type_line(one: &NodeType, question: &CapacityQuestion, reference: super::Reference) -> Option<TypeLine> {
    let power = SitePower::of(&[one]);
    let factor = reference.scaling_factor(one)?;
    let per_cpu = per_cpu_si00(one)?;
    let is_si00 = power.installed.si00.is_some();
    let (own, decimals) = if is_si00 {
        (per_cpu, SI00_DECIMALS)
    } else {
        (in_hs06(per_cpu), HS06_DECIMALS)
    };
    let limit = |limit_s: Option<i64>| limit_s.and_then(|limit_s| effective_s(limit_s, factor));
    let cpu_limit_s = limit(question.cpu_limit_s);
    Some(TypeLine {
        cluster: one.cluster.clone(),
        node_type: one.name.clone(),
        node_n: power.node_n,
        physical_cpu_n: power.physical_cpu_n,
        logical_cpu_n: power.logical_cpu_n,
        benchmark: one.benchmark.as_str(),
        per_core: own.text(decimals),
        installed: scores(installed(one)),
        scaling_factor: factor.text(RATIO_DECIMALS),
        cpumult: multiplier(one).text(RATIO_DECIMALS),
        delivered_si00_h: per_cpu.text(SI00_DECIMALS),
        accounted_si00_h: reference.accounted_si00(one).text(SI00_DECIMALS),
        misreported_percent: reference.misreported(one)?.times(Ratio::from_e4(1_000_000)).text(1),
        cpu_limit_s,
        wall_limit_s: limit(question.wall_limit_s),
        least_wall_limit_s: cpu_limit_s.and_then(|cpu_s| least_wall_s(cpu_s, one.slot_n, one.logical_cpu_n)),
    })
}

/// The one score there is, exactly.
fn scores(power: Each<Score>) -> String {
    let known = power.scaled().into_iter().flatten();
    known.map(|e4| decimal::text(e4, 4)).collect()
}
