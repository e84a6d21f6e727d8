//! `scontrol show assoc_mgr`, one line per record (`-o`) or several: shares and usage as the daemon keeps them. Usage has two
//! decimals where `sshare` prints none, shares and factors two where it prints six.
//!
//! Records of users and qualities of service in the same listing are counted, not kept.

use super::fields::{InventoryFields, decimal};
use super::lines::{InventoryRecord, records};
use super::pairs::pairs_of;
use super::scontrol::is_message;
use super::share::{drop_unstated_factors, of_number, required_account, without_number};
use super::trouble::{cut_off, missing, settle};
use crate::ledger::Reason;
use crate::reference::inventory::scheduler::{SHARE_PLACES, USAGE_PLACES};
use crate::reference::inventory::{InventoryRow, ShareRow, quantity};
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// The first line.
pub(super) const TITLE: &str = "Current Association Manager state";

/// What begins the record of an association.
const ASSOCIATION: &str = "ClusterName=";

/// What begins records of other things.
const OTHERS: [&str; 2] = ["UserName=", "QOS="];

const SHARES: &str = "SharesRaw/Norm/Level/Factor";
const USAGE: &str = "UsageRaw/Norm/Efctv";

/// Keys of the record of an association over all releases.
const KEYS: &[&str] = &[
    "Account",
    "ClusterName",
    "Comment",
    "DefAssoc",
    "GrpJobs",
    "GrpJobsAccrue",
    "GrpSubmitJobs",
    "GrpTRES",
    "GrpTRESMins",
    "GrpTRESRunMins",
    "GrpWall",
    "ID",
    "Lft",
    "Lineage",
    "MaxJobs",
    "MaxJobsAccrue",
    "MaxSubmitJobs",
    "MaxTRESMinsPJ",
    "MaxTRESPJ",
    "MaxTRESPN",
    "MaxWallPJ",
    "MinPrioThresh",
    "ParentAccount",
    "Partition",
    "Priority",
    SHARES,
    USAGE,
    "UserName",
];

/// The outcome of a record of an association, and where it begins.
struct ReadShare {
    at: Position,
    raw: String,
    row: Result<ShareRow, Refusal>,
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let mut shares: Vec<ReadShare> = Vec::new();
    for record in records(bytes, ASSOCIATION) {
        if is_heading(&record.text) {
            continue;
        }
        sink.rows_read(1);
        if is_message(&record.text) {
            sink.tool_message(record.at, record.text.as_bytes());
        } else if is_empty_notice(&record.text) {
            sink.out_of_scope(Reason::ToolMessage, 1);
        } else if OTHERS.iter().any(|start| record.text.starts_with(start)) && record.is_ended {
            sink.out_of_scope(Reason::OtherListed, 1);
        } else {
            shares.push(ReadShare {
                at: record.at,
                row: share(&record),
                raw: record.text,
            });
        }
    }
    // Fallback: refused rows are settled with their reason below.
    drop_unstated_factors(shares.iter_mut().filter_map(|share| share.row.as_mut().ok()));
    for share in shares {
        let row = share.row.map(|row| InventoryRow::Share(Box::new(row)));
        settle(row, share.at, share.raw.as_bytes(), sink);
    }
}

/// The title, and the line above each kind of records.
fn is_heading(text: &str) -> bool {
    text == TITLE || text.ends_with(" Records") && !text.contains('=')
}

/// What stands in the place of records of a kind that has none.
fn is_empty_notice(text: &str) -> bool {
    text.starts_with("No ") && text.trim_end().ends_with("currently cached in Slurm.")
}

fn share(record: &InventoryRecord) -> Result<ShareRow, Refusal> {
    if record.is_too_long {
        let detail = "the record is longer than a record can be";
        return Err(Refusal::new(Reason::TooLong, detail));
    }
    if !record.is_ended {
        return Err(cut_off());
    }
    if !record.text.starts_with(ASSOCIATION) {
        let detail = format!("the record does not begin with {ASSOCIATION}");
        return Err(Refusal::new(Reason::FieldCount, detail));
    }
    let fields = InventoryFields(pairs_of(&record.text, KEYS));
    let shares = parts::<4>(&fields, SHARES)?;
    let usage = parts::<3>(&fields, USAGE)?;
    let account = required_account(fields.name("Account"))?;
    let user = fields.name("UserName").map(|name| without_number(name).to_owned());
    let share = |text: &str| decimal(SHARES, text, SHARE_PLACES);
    let usage_share = |text: &str| decimal(USAGE, text, SHARE_PLACES);
    let count = |text: &str| {
        let wrong = || Refusal::new(Reason::BadNumber, format!("{SHARES} {text:?} is not a number"));
        quantity::count(text).ok_or_else(wrong)
    };
    let [raw_share, norm_shares, level, factor] = shares;
    let [raw_usage, norm_usage, effective_usage] = usage;
    let (raw_share_n, is_parent_share) = of_number(count(raw_share)?);
    let (grp_tres_mins, _) = limits_and_use(fields.get("GrpTRESMins"))?;
    let (_, tres_run_mins) = limits_and_use(fields.get("GrpTRESRunMins"))?;
    Ok(ShareRow {
        cluster: fields.text("ClusterName"),
        parent_account: match &user {
            Some(_) => Some(account.clone()),
            None => fields.name("ParentAccount").map(|name| without_number(name).to_owned()),
        },
        account,
        user,
        partition: fields.name("Partition").map(str::to_owned),
        association_id: fields.int("ID")?,
        raw_share_n,
        is_parent_share,
        level_share_n: Some(count(level)?),
        norm_shares_e12: Some(share(norm_shares)?),
        raw_usage_e6: Some(decimal(USAGE, raw_usage, USAGE_PLACES)?),
        norm_usage_e12: Some(usage_share(norm_usage)?),
        effective_usage_e12: Some(usage_share(effective_usage)?),
        fairshare_factor_e12: Some(share(factor)?),
        level_fs_e12: None,
        is_level_fs_infinite: None,
        grp_tres_mins,
        tres_run_mins,
    })
}

/// The parts of a value between slashes.
fn parts<'t, const N: usize>(fields: &InventoryFields<'t>, key: &str) -> Result<[&'t str; N], Refusal> {
    let text = fields.get(key).ok_or_else(|| missing(key))?;
    let parts: Vec<&str> = text.split('/').collect();
    parts
        .try_into()
        .map_err(|_| Refusal::new(Reason::FieldCount, format!("{key} {text:?} does not have {N} parts")))
}

/// The limits and what is used of `cpu=6000(88),mem=N(75140)`, each as a list; `N` is no limit.
fn limits_and_use(text: Option<&str>) -> Result<(Option<String>, Option<String>), Refusal> {
    let (mut limits, mut used) = (Vec::new(), Vec::new());
    for entry in text.into_iter().flat_map(|text| text.split(',')) {
        let wrong = || {
            Refusal::new(
                Reason::BadNumber,
                format!("\"{entry}\" is not a resource with its limit and use"),
            )
        };
        let (name, value) = entry.split_once('=').ok_or_else(wrong)?;
        let (limit, use_n) = value
            .strip_suffix(')')
            .and_then(|value| value.split_once('('))
            .ok_or_else(wrong)?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(use_n) || limit != "N" && !is_number(limit) {
            return Err(wrong());
        }
        if limit != "N" {
            limits.push(format!("{name}={limit}"));
        }
        used.push(format!("{name}={use_n}"));
    }
    let list = |entries: Vec<String>| (!entries.is_empty()).then(|| entries.join(","));
    Ok((list(limits), list(used)))
}
