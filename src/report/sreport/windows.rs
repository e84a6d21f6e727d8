//! Windows of reservations as the last listing of each describes them.

use std::collections::BTreeMap;

use super::jobs::models;
use super::period::SreportPeriod;
use super::tree::{AssociationMember, Trees};
use super::used::model_name;
use crate::absent;
use crate::error::Result;
use crate::numbers::count_i128;
use crate::report::lake::{Lake, Selection};
use crate::schema::batch::{int, number, text, time, word};
use crate::time::MsSpan;

/// A window that had begun when a listing last contained it.
#[derive(Clone, Debug)]
pub(super) struct ReservationWindow {
    /// Cluster; `None` where nothing names one.
    pub(super) cluster: Option<String>,
    pub(super) name: String,
    /// Its part in the period, Unix milliseconds.
    pub(super) span: MsSpan,
    /// What is set aside, in the order of trackable resources.
    pub(super) amounts: Vec<(String, i64)>,
    /// Nodes as a host list.
    pub(super) nodes: Option<String>,
    /// Set aside for maintenance: planned down time.
    pub(super) is_maintenance: bool,
    /// Jobs that are not of the reservation may run on.
    pub(super) ignores_jobs: bool,
    pub(super) allowed: Allowed,
}

/// Who may run jobs in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// These associations, of so many that the reservation names: what is denied is named as well.
    Some {
        members: Vec<(String, Option<String>)>,
        named_n: i128,
    },
    /// It names neither accounts nor users.
    Unnamed,
    /// It names users, and no listing of associations states their accounts.
    Unlisted,
}

/// Cluster, name and start: what distinguishes windows.
type WindowKey = (Option<String>, String, i64);

/// Which listing of a window is the last: when it was true, then the later end, then the input file.
type ReservationRank = (Option<i64>, i64, String);

/// The windows of a selection that are in a period, in the order of their starts.
pub(super) fn read(
    lake: &Lake,
    selection: &Selection,
    period: SreportPeriod,
    trees: &Trees,
) -> Result<Vec<ReservationWindow>> {
    let mut last: BTreeMap<WindowKey, (ReservationRank, Option<ReservationWindow>)> = BTreeMap::new();
    for file in lake.manifest.dataset("reservation") {
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let words = |name| text(&batch, name);
            let (site, cluster, name) = (words("site")?, words("cluster")?, words("reservation")?);
            let (nodes, flags, files) = (words("nodes")?, words("flags")?, words("file_id")?);
            let (accounts, users) = (words("accounts")?, words("users")?);
            let (as_of, start, end) = (
                time(&batch, "as_of_utc")?,
                time(&batch, "start_utc")?,
                time(&batch, "end_utc")?,
            );
            let counts = [
                ("cpu", int(&batch, "core_n")?, 0),
                ("mem", int(&batch, "memory_byte")?, 20),
                ("gres/gpu", int(&batch, "gpu_n")?, 0),
            ];
            let typed = models(&batch)?;
            for row in 0..batch.num_rows() {
                if word(site, row).is_some_and(|site| !selection.has_site(site)) {
                    continue;
                }
                let (start_ms, end_ms) = (start.value(row), end.value(row));
                let key = (
                    word(cluster, row).map(str::to_owned),
                    name.value(row).to_owned(),
                    start_ms,
                );
                let rank = (number(as_of, row), end_ms, files.value(row).to_owned());
                let mut amounts: Vec<(String, i64)> = (counts.iter())
                    .filter_map(|(tres, column, shift)| Some(((*tres).to_owned(), number(column, row)? >> shift)))
                    .collect();
                amounts.extend(typed.of(row).map(|(model, n)| (model_name(model), n)));
                amounts.retain(|(_, n)| *n > 0);
                let has = |flag: &str| word(flags, row).is_some_and(|flags| flags.split(',').any(|own| own == flag));
                // What had not begun when it was last listed was a plan.
                let is_begun = rank.0.is_none_or(|as_of_ms| start_ms <= as_of_ms);
                let span = period.clip(start_ms, end_ms).filter(|_| is_begun);
                let window = span.map(|span| ReservationWindow {
                    cluster: key.0.clone(),
                    name: key.1.clone(),
                    span,
                    amounts,
                    nodes: word(nodes, row).map(str::to_owned),
                    is_maintenance: has("MAINT"),
                    ignores_jobs: has("IGNORE_JOBS"),
                    allowed: allowed(
                        word(accounts, row),
                        word(users, row),
                        trees.members(absent::text(key.0.as_deref())),
                    ),
                });
                let known = last.entry(key).or_insert_with(|| (rank.clone(), window.clone()));
                if rank > known.0 {
                    *known = (rank, window);
                }
            }
        }
    }
    let mut windows: Vec<ReservationWindow> = last.into_values().filter_map(|(_, window)| window).collect();
    windows.sort_by_key(|window| window.span);
    Ok(windows)
}

/// The associations that the accounts and users of a reservation expand to, as slurmctld makes them.
fn allowed(accounts: Option<&str>, users: Option<&str>, members: Option<&[AssociationMember]>) -> Allowed {
    let listed = |text: Option<&str>| -> Vec<(String, bool)> {
        let names = text.into_iter().flat_map(|text| text.split(','));
        let names = names.map(str::trim).filter(|name| !name.is_empty());
        names
            .map(|name| (name.trim_start_matches('-').to_owned(), name.starts_with('-')))
            .collect()
    };
    let (accounts, users) = (listed(accounts), listed(users));
    if accounts.is_empty() && users.is_empty() {
        return Allowed::Unnamed;
    }
    let of_user = |user: &str| {
        let own = members.into_iter().flatten().filter(move |member| member.user == user);
        own.map(|member| (member.account.clone(), Some(member.user.clone())))
            .collect::<Vec<_>>()
    };
    if !users.is_empty() && members.is_none() {
        return Allowed::Unlisted;
    }
    let is_denied = |names: &[(String, bool)]| names.iter().any(|(_, is_denied)| *is_denied);
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut denied_n = 0;
    let mut take = |own: Vec<(String, Option<String>)>, is_denied: bool| {
        if is_denied {
            denied_n += own.len();
        } else {
            found.extend(own);
        }
    };
    if accounts.is_empty() || users.is_empty() || is_denied(&accounts) || is_denied(&users) {
        for (user, is_denied) in &users {
            take(of_user(user), *is_denied);
        }
        for (account, is_denied) in accounts {
            take(vec![(account, None)], is_denied);
        }
    } else {
        // Of both, a user in an account.
        for (user, _) in &users {
            for (account, _) in &accounts {
                let own = of_user(user).into_iter().filter(|(own, _)| own == account).collect();
                take(own, false);
            }
        }
    }
    let named_n = count_i128(found.len() + denied_n);
    Allowed::Some {
        members: found,
        named_n,
    }
}
