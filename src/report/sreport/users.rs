//! Users and their accounts, those who used most first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::answer::{SreportAnswer, SreportKind, SreportRequest, Wholes, push_lines, table_of};
use super::gathered::{Gathered, SreportWho};
use super::used::{Used, names};
use crate::absent;
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
    let (mut nobody_s, mut is_nobody_unknown) = (0, false);
    for (who, used) in &gathered.used {
        match &who.user {
            Some(user) => clusters.entry(&who.cluster).or_default().push((who, user, used)),
            None => match used.named("cpu") {
                Some(core_s) => nobody_s += core_s,
                None => is_nobody_unknown = true,
            },
        }
    }
    for (cluster, mut lines) in clusters {
        let names = absent::entry(models.get(cluster).map(names));
        let first = names.iter().find(|name| request.has_tres(name));
        lines.sort_by_key(|(who, user, used)| {
            // Fallback: who used an unknown amount comes after those who used any.
            let most = first.and_then(|name| used.named(name)).unwrap_or_default();
            (Reverse(most), *user, &who.account)
        });
        let top_n = if is_top { request.top_n } else { usize::MAX };
        for (who, user, used) in lines.into_iter().take(top_n) {
            let words = [Cell::text(cluster), Cell::text(user), Cell::text(&who.account)];
            push_lines(&mut table, &words, used, &names, wholes, cluster, request);
        }
    }
    let known = (nobody_s > 0).then(|| format!("{nobody_s} core seconds of which nothing names the user are left out"));
    let unknown = "usage of an unknown number of core seconds of which nothing names the user is left out";
    let unknown = is_nobody_unknown.then(|| unknown.to_owned());
    SreportAnswer {
        table,
        notes: known.into_iter().chain(unknown).collect(),
    }
}
