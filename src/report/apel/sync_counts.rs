//! Jobs by site, month and submit host, as sync records count them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::aggregate::Aggregate;
use super::kind::MessageKind;
use super::server_key::ServerKey;
use crate::amounts::add;
use crate::error::Result;
use crate::time::Month;

/// A month of a submit host of a site: what a sync record is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostMonth {
    /// Site.
    pub site: String,
    /// Month.
    pub month: Month,
    /// Submit host.
    pub host: Option<String>,
}

/// Jobs by site, month and submit host: the content of a sync message. `more` are added to them.
///
/// # Errors
/// [`crate::error::Kind::Data`] when the jobs of a host and month are too many.
pub fn counts(groups: &[Aggregate], more: &BTreeMap<HostMonth, i64>) -> Result<BTreeMap<HostMonth, i64>> {
    let mut counts: BTreeMap<ServerKey, (HostMonth, i64)> = BTreeMap::new();
    let own = groups.iter().map(|group| {
        let [.., host, _] = &group.words;
        ((&group.site, group.month, host), group.sums.job_n)
    });
    let more = more.iter().map(|(of, n)| ((&of.site, of.month, &of.host), *n));
    for ((site, month, host), n) in own.chain(more) {
        let count = counts.entry(sync_key(site, month, host.as_deref())).or_insert_with(|| {
            let of = HostMonth {
                site: site.clone(),
                month,
                host: host.clone(),
            };
            (of, 0)
        });
        add(&mut count.1, n, "job_n")?;
    }
    Ok(counts.into_values().collect())
}

fn sync_key(site: &str, month: Month, host: Option<&str>) -> ServerKey {
    let field = |name: &str| match name {
        "Site" => Some(Cow::Borrowed(site)),
        "Year" => Some(month.year().to_string().into()),
        "Month" => Some(month.number().to_string().into()),
        _ => host.map(Cow::Borrowed),
    };
    ServerKey::new(MessageKind::Sync, field, None, None)
}
