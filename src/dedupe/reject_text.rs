//! What a row of a dump said, in words, for people who look at what this room refused: the reader has let go of the raw
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

    fn say(&mut self, key: &str, value: Option<impl Display>) {
        let Some(value) = value else { return };
        let gap = if self.0.len() == UNDERSTOOD.len() { "" } else { " " };
        // Writing to memory cannot fail.
        let _ = write!(self.0, "{gap}{key}={value}");
    }
}

/// `understood as job_id=387 user=alice start_ms=...`: the fields that tell which job it was and when it ran.
#[must_use]
pub fn job(row: &JobRow<'_>) -> String {
    let mut words = RejectWords::new();
    words.say("view", Some(row.view));
    words.say("site", row.site);
    words.say("cluster", row.cluster);
    words.say("submit_host", row.submit_host);
    words.say("payload_site", row.payload_site);
    words.say("job_id", Some(row.job_id));
    words.say("raw_job_id", row.raw_job_id.filter(|raw| *raw != row.job_id));
    words.say("global_job_id", row.global_job_id);
    words.say("vo", row.vo);
    words.say("vo_name", row.vo_name.filter(|name| Some(*name) != row.vo));
    words.say("reportable_vo", row.reportable_vo.filter(|name| Some(*name) != row.vo));
    words.say("account", row.account);
    words.say("user", row.user);
    words.say("global_user", row.global_user);
    words.say("wckey", row.wckey);
    words.say("job_name", row.job_name);
    words.say("state", row.state);
    words.say("submit_ms", row.submit_ms);
    words.say("start_ms", row.start_ms);
    words.say("end_ms", row.end_ms);
    words.say("wall_ms", row.wall_ms);
    words.say("suspended_s", row.suspended_s);
    words.say("cpu_ms", row.cpu_ms);
    words.say("alloc_core_n", row.alloc_core_n);
    words.say("alloc_node_n", row.alloc_node_n);
    words.say("alloc_gpu_n", row.alloc_gpu_n);
    words.say("alloc_billing_n", row.alloc_billing_n);
    words.0
}

/// The same of an aggregate.
#[must_use]
pub fn summary(row: &SummaryRow<'_>) -> String {
    let mut words = RejectWords::new();
    words.say("kind", Some(row.kind.as_str()));
    words.say("view", Some(row.view));
    words.say("site", row.site);
    words.say("cluster", row.cluster);
    words.say("payload_site", row.payload_site);
    words.say("month", row.month);
    words.say("vo", row.vo);
    words.say("vo_name", row.vo_name.filter(|name| Some(*name) != row.vo));
    words.say("reportable_vo", row.reportable_vo.filter(|name| Some(*name) != row.vo));
    words.say("vo_group", row.vo_group);
    words.say("vo_role", row.vo_role);
    words.say("account", row.account);
    words.say("global_user", row.global_user);
    words.say("submit_host", row.submit_host);
    words.say("infrastructure", row.infrastructure);
    words.say("service_level_type", row.service_level_type);
    words.say("earliest_end_ms", row.earliest_end_ms);
    words.say("latest_end_ms", row.latest_end_ms);
    words.say("job_n", row.job_n);
    words.say("wall_ms", row.wall_ms);
    words.say("cpu_ms", row.cpu_ms);
    words.0
}
