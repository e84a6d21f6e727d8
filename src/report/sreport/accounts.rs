//! What accounts used, each with those below it, and what users did in them.

use std::collections::BTreeMap;

use super::answer::{SreportAnswer, SreportKind, SreportRequest, Wholes, push_lines, table_of};
use super::gathered::Gathered;
use super::tree::Trees;
use super::used::{Used, names};
use crate::absent;
use crate::report::table::Cell;

/// Cluster, account and user, in the order of lines.
type SreportLine<'a> = (&'a str, &'a str, Option<&'a str>);

pub(super) fn answer(gathered: &Gathered, trees: &Trees, wholes: &Wholes, request: &SreportRequest) -> SreportAnswer {
    let has_users = request.kind == SreportKind::AccountUtilizationByUser;
    let mut lines: BTreeMap<SreportLine<'_>, Used> = BTreeMap::new();
    for (who, used) in &gathered.used {
        for account in trees.line(&who.cluster, &who.account) {
            lines.entry((&who.cluster, account, None)).or_default().add(used);
        }
        if has_users && let Some(user) = &who.user {
            lines.insert((&who.cluster, &who.account, Some(user)), used.clone());
        }
    }
    let (title, words) = if has_users {
        ("Cluster/Account/User Utilization", &["Cluster", "Account", "Login"][..])
    } else {
        ("Cluster/Account Utilization", &["Cluster", "Account"][..])
    };
    let mut table = table_of(title, words, request);
    let models = gathered.models();
    for ((cluster, account, user), used) in &lines {
        let mut words = vec![Cell::text(*cluster), Cell::text(*account)];
        if has_users {
            words.push(Cell::word(*user));
        }
        let names = absent::entry(models.get(cluster).map(names));
        push_lines(&mut table, &words, used, &names, wholes, cluster, request);
    }
    SreportAnswer {
        notes: trees.notes(gathered.used.keys()),
        table,
    }
}
