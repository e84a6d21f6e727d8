//! Users and their accounts, those who used most first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::answer::{SreportAnswer, SreportKind, SreportRequest, Wholes, push_lines, table_of};
use super::gathered::{Gathered, SreportWho};
use super::used::{Used, names};
use crate::report::table::Cell;

pub(super) fn answer(gathered: &Gathered, wholes: &Wholes, request: &SreportRequest) -> SreportAnswer {
    let is_top = request.kind == SreportKind::TopUsage;
    let title = if is_top {
        "Top Users"
    } else {
        "Cluster/User/Account Utilization"
    };
    let mut table = table_of(title, &["Cluster", "Login", "Account"], request);
    let models = gathered.models();
    let mut clusters: BTreeMap<&str, Vec<(&SreportWho, &str, &Used)>> = BTreeMap::new();
    let mut nobody_s = 0;
    for (who, used) in &gathered.used {
        match &who.user {
            Some(user) => clusters.entry(&who.cluster).or_default().push((who, user, used)),
            None => nobody_s += used.named("cpu").unwrap_or_default(),
        }
    }
    for (cluster, mut lines) in clusters {
        let names = models.get(cluster).map(names).unwrap_or_default();
        let first = names.iter().find(|name| request.has_tres(name));
        lines.sort_by_key(|(who, user, used)| {
            let most = first.and_then(|name| used.named(name)).unwrap_or_default();
            (Reverse(most), *user, &who.account)
        });
        let top_n = if is_top { request.top_n } else { usize::MAX };
        for (who, user, used) in lines.into_iter().take(top_n) {
            let words = [Cell::text(cluster), Cell::text(user), Cell::text(&who.account)];
            push_lines(&mut table, &words, used, &names, wholes, cluster, request);
        }
    }
    let notes = (nobody_s > 0).then(|| format!("{nobody_s} core seconds of which nothing names the user are left out"));
    SreportAnswer {
        table,
        notes: notes.into_iter().collect(),
    }
}
