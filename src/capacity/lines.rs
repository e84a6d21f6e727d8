//! The report as text and as CSV.

use std::fmt::Write as _;

use super::limit;
use super::report::{CapacityReport, SiteReport, TypeLine};
use crate::error::Result;
use crate::lines;

const HEADER: [&str; 13] = [
    "node type",
    "nodes",
    "chips",
    "logical",
    "scale",
    "per logical",
    "installed",
    "factor",
    "cpumult",
    "wrong by %",
    "CPU limit",
    "wall limit",
    "at least",
];

impl CapacityReport {
    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (nth, site) in self.sites.iter().enumerate() {
            if nth > 0 {
                text.push('\n');
            }
            one_site(&mut text, site);
        }
        text
    }

    /// A line for each node type with the numbers of its site, as CSV.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be written into memory.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let header = [
            "site",
            "valid_from",
            "valid_to",
            "ce_physcpu",
            "ce_logcpu",
            "cores",
            "benchmark",
            "installed_hs06",
            "installed_si00",
            "ce_si00",
            "cpu_scaling_reference_si00",
            "cluster",
            "node_type",
            "node_n",
            "physical_cpu_n",
            "logical_cpu_n",
            "type_benchmark",
            "type_per_core",
            "type_installed",
            "scaling_factor",
            "cpumult",
            "delivered_si00_h",
            "accounted_si00_h",
            "misreported_percent",
            "cpu_limit_s",
            "wall_limit_s",
            "least_wall_limit_s",
        ];
        let rows = self
            .sites
            .iter()
            .flat_map(|site| site.types.iter().map(move |one| cells(site, one)));
        lines::csv(header, rows)
    }
}

fn cells(site: &SiteReport, one: &TypeLine) -> Vec<String> {
    // Fallback: an unknown word is an empty cell of the table.
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let seconds = |seconds: Option<i64>| seconds.map_or_else(String::new, |s| s.to_string());
    vec![
        site.site.clone(),
        word(&site.valid_from),
        word(&site.valid_to),
        site.ce_physcpu.to_string(),
        site.ce_logcpu.to_string(),
        site.cores.clone(),
        site.benchmark.clone(),
        site.installed_hs06.clone(),
        site.installed_si00.clone(),
        site.ce_si00.clone(),
        site.cpu_scaling_reference_si00.clone(),
        word(&one.cluster),
        one.node_type.clone(),
        one.node_n.to_string(),
        one.physical_cpu_n.to_string(),
        one.logical_cpu_n.to_string(),
        one.benchmark.to_owned(),
        one.per_core.clone(),
        one.installed.clone(),
        one.scaling_factor.clone(),
        one.cpumult.clone(),
        one.delivered_si00_h.clone(),
        one.accounted_si00_h.clone(),
        one.misreported_percent.clone(),
        seconds(one.cpu_limit_s),
        seconds(one.wall_limit_s),
        seconds(one.least_wall_limit_s),
    ]
}

fn one_site(text: &mut String, site: &SiteReport) {
    let since = site
        .valid_from
        .as_ref()
        .map_or_else(String::new, |day| format!(" from {day}"));
    let until = site
        .valid_to
        .as_ref()
        .map_or_else(String::new, |day| format!(" until {day}"));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{since}{until}", site.site);
    table(text, &site.types);
    let _ = writeln!(text, "  CE_PHYSCPU={}", site.ce_physcpu);
    let _ = writeln!(text, "  CE_LOGCPU={}", site.ce_logcpu);
    let _ = writeln!(text, "  Cores={}", site.cores);
    let _ = writeln!(text, "  Benchmark={} ({})", site.benchmark, site.benchmark_scale);
    let _ = writeln!(text, "  CE_SI00={}", site.ce_si00);
    let (si00, hs06) = (&site.cpu_scaling_reference_si00, &site.cpu_scaling_reference_hs06);
    let _ = writeln!(text, "  CPUScalingReferenceSI00={si00} ({hs06} HS06)");
    let (hs06, si00) = (&site.installed_hs06, &site.installed_si00);
    let _ = writeln!(text, "  installed capacity {hs06} HS06 = {si00} SI00");
    for warning in &site.warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
}

/// The node types, aligned; columns that were not requested are left out.
fn table(text: &mut String, types: &[TypeLine]) {
    let mut rows = vec![HEADER.map(str::to_owned).to_vec()];
    rows.extend(types.iter().map(|one| {
        let seconds = |seconds: Option<i64>| seconds.map_or_else(String::new, limit::text);
        let place = one
            .cluster
            .as_ref()
            .map_or_else(String::new, |cluster| format!("{cluster} "));
        vec![
            format!("{place}{}", one.node_type),
            one.node_n.to_string(),
            one.physical_cpu_n.to_string(),
            one.logical_cpu_n.to_string(),
            one.benchmark.to_owned(),
            one.per_core.clone(),
            one.installed.clone(),
            one.scaling_factor.clone(),
            one.cpumult.clone(),
            one.misreported_percent.clone(),
            seconds(one.cpu_limit_s),
            seconds(one.wall_limit_s),
            seconds(one.least_wall_limit_s),
        ]
    }));
    let is_asked: Vec<bool> = (0..HEADER.len())
        .map(|column| {
            let mut cells = rows.iter().skip(1).filter_map(|row| row.get(column));
            cells.any(|cell| !cell.is_empty())
        })
        .collect();
    for row in &mut rows {
        let mut is_asked = is_asked.iter();
        row.retain(|_| is_asked.next() == Some(&true));
    }
    let widths = lines::widths(&rows);
    for row in &rows {
        let _ = writeln!(text, "  {}", lines::aligned(row, &widths, |column| column > 0));
    }
}
