//! The content of a dump's row as text, for people who inspect refusals of this room: the reader has released the raw
//! text by then.

use std::fmt::{Display, Write as _};

use crate::record::SummaryRow;
use crate::record::row::JobRow;

/// How such a text begins, which no row of any dialect does.
pub const UNDERSTOOD: &str = "understood as ";

struct RejectWords(String);

impl RejectWords {
    fn new() -> Self {
        let mut text = String::with_capacity(256);
        text.push_str(UNDERSTOOD);
        Self(text)
    }

    fn add(&mut self, key: &str, value: Option<impl Display>) {
        let Some(value) = value else { return };
        let gap = if self.0.len() == UNDERSTOOD.len() { "" } else { " " };
        // Writing to memory cannot fail.
        let _ = write!(self.0, "{gap}{key}={value}");
    }
}

/// `understood as job_id=387 user=alice start_ms=...`: the fields that identify the job and when it ran.
#[must_use]
pub fn job(row: &JobRow<'_>) -> String {
    let mut words = RejectWords::new();
    words.add("view", Some(row.view));
    words.add("site", row.site);
    words.add("cluster", row.cluster);
    words.add("submit_host", row.submit_host);
    words.add("payload_site", row.payload_site);
    words.add("job_id", Some(row.job_id));
    words.add("raw_job_id", row.raw_job_id.filter(|raw| *raw != row.job_id));
    words.add("global_job_id", row.global_job_id);
    words.add("vo", row.vo);
    words.add("vo_name", row.vo_name.filter(|name| Some(*name) != row.vo));
    words.add("reportable_vo", row.reportable_vo.filter(|name| Some(*name) != row.vo));
    words.add("account", row.account);
    words.add("user", row.user);
    words.add("global_user", row.global_user);
    words.add("wckey", row.wckey);
    words.add("job_name", row.job_name);
    words.add("state", row.state);
    words.add("submit_ms", row.submit_ms);
    words.add("start_ms", row.start_ms);
    words.add("end_ms", row.end_ms);
    words.add("wall_ms", row.wall_ms);
    words.add("suspended_s", row.suspended_s);
    words.add("cpu_ms", row.cpu_ms);
    words.add("alloc_core_n", row.alloc_core_n);
    words.add("alloc_node_n", row.alloc_node_n);
    words.add("alloc_gpu_n", row.alloc_gpu_n);
    words.add("alloc_billing_n", row.alloc_billing_n);
    words.0
}

/// The same of an aggregate.
#[must_use]
pub fn summary(row: &SummaryRow<'_>) -> String {
    let mut words = RejectWords::new();
    words.add("kind", Some(row.kind.as_str()));
    words.add("view", Some(row.view));
    words.add("site", row.site);
    words.add("cluster", row.cluster);
    words.add("payload_site", row.payload_site);
    words.add("month", row.month);
    words.add("vo", row.vo);
    words.add("vo_name", row.vo_name.filter(|name| Some(*name) != row.vo));
    words.add("reportable_vo", row.reportable_vo.filter(|name| Some(*name) != row.vo));
    words.add("vo_group", row.vo_group);
    words.add("vo_role", row.vo_role);
    words.add("account", row.account);
    words.add("global_user", row.global_user);
    words.add("submit_host", row.submit_host);
    words.add("infrastructure", row.infrastructure);
    words.add("service_level_type", row.service_level_type);
    words.add("earliest_end_ms", row.earliest_end_ms);
    words.add("latest_end_ms", row.latest_end_ms);
    words.add("job_n", row.job_n);
    words.add("wall_ms", row.wall_ms);
    words.add("cpu_ms", row.cpu_ms);
    words.0
}
