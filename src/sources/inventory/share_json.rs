//! `sshare --json` (24.05 and later), or `--yaml`: the shares of `sshare`, with numbers that are not cut to six decimals.

use serde::Deserialize;
use serde_json::Value;

use super::document::{self, number, word};
use super::fields::decimal;
use super::share::{drop_unstated_factors, of_number, required_account};
use super::trouble::{missing, settle};
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::inventory::scheduler::{SHARE_PLACES, USAGE_PLACES};
use crate::reference::inventory::{InventoryRow, ShareRow};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

#[derive(Deserialize)]
struct ShareDocument {
    shares: ShareList,
    #[serde(default)]
    meta: Value,
}

#[derive(Deserialize)]
struct ShareList {
    shares: Vec<Value>,
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let Some(document) = document::read::<ShareDocument>(bytes, "shares", sink) else {
        return;
    };
    let elements = &document.shares.shares;
    sink.rows_read(count_u64(elements.len()));
    let cluster = document::cluster(&document.meta);
    let mut rows: Vec<Result<ShareRow, Refusal>> = elements.iter().map(|element| share(element, cluster)).collect();
    // Fallback: refused rows are settled with their reason by the caller.
    drop_unstated_factors(rows.iter_mut().filter_map(|row| row.as_mut().ok()));
    for (nth, row) in rows.into_iter().enumerate() {
        let row = row.map(|row| InventoryRow::Share(Box::new(row)));
        settle(row, document::element(nth), b"", sink);
    }
}

fn share(value: &Value, cluster: Option<&str>) -> Result<ShareRow, Refusal> {
    let at = |path: &str| value.pointer(path).unwrap_or(&Value::Null);
    let name = |path: &str| at(path).as_str().filter(|name| !name.is_empty());
    let share = |path: &str| scaled(path, at(path), SHARE_PLACES);
    let kinds = at("/type").as_array().ok_or_else(|| missing("type"))?;
    let is_user = kinds.iter().filter_map(Value::as_str).any(|kind| kind == "USER");
    let (account, user) = if is_user {
        (name("/parent"), Some(name("/name").ok_or_else(|| missing("name"))?))
    } else {
        (name("/name"), None)
    };
    let (raw_share_n, is_parent_share) = match number(at("/shares")) {
        Some(n) if n < 0 => {
            return Err(Refusal::new(Reason::BadNumber, format!("shares {n} are negative")));
        }
        n => n.map_or((None, None), of_number),
    };
    let level = at("/fairshare/level");
    let is_infinite = level.get("infinite").and_then(Value::as_bool) == Some(true);
    let level_fs_e12 = share("/fairshare/level")?;
    // Slurm writes infinity for a user without shares of its own, for whom sshare prints none.
    let is_level_fs_infinite = match level_fs_e12 {
        _ if is_parent_share == Some(true) => None,
        Some(_) => Some(false),
        None => is_infinite.then_some(true),
    };
    Ok(ShareRow {
        cluster: word(at("/cluster")).or(cluster).map(str::to_owned),
        account: required_account(account)?,
        user: user.map(str::to_owned),
        partition: name("/partition").map(str::to_owned),
        parent_account: name("/parent").map(str::to_owned),
        association_id: number(at("/id")),
        raw_share_n,
        is_parent_share,
        level_share_n: None,
        norm_shares_e12: share("/shares_normalized")?,
        raw_usage_e6: scaled("/usage", at("/usage"), USAGE_PLACES)?,
        norm_usage_e12: share("/usage_normalized")?,
        effective_usage_e12: share("/effective_usage")?,
        fairshare_factor_e12: share("/fairshare/factor")?,
        level_fs_e12: level_fs_e12.filter(|_| is_parent_share != Some(true)),
        is_level_fs_infinite,
        grp_tres_mins: amounts(at("/tres/group_minutes"), 1)?,
        tres_run_mins: amounts(at("/tres/run_seconds"), 60)?,
    })
}

/// A number, plain or with whether it is set, times ten to the power of `places` and rounded to an integer.
fn scaled(key: &str, value: &Value, places: u32) -> Result<Option<i128>, Refusal> {
    let key = key.trim_start_matches('/');
    let wrong = || Refusal::new(Reason::BadNumber, format!("{key} {value} is not a number"));
    let plain = match value {
        Value::Null => return Ok(None),
        Value::Object(members) => {
            if members.get("set").and_then(Value::as_bool) != Some(true) {
                return Ok(None);
            }
            members.get("number").ok_or_else(wrong)?
        }
        plain => plain,
    };
    if let Some(n) = plain.as_u64() {
        return decimal(key, &n.to_string(), places).map(Some);
    }
    let number = plain.as_f64().filter(|number| number.is_finite()).ok_or_else(wrong)?;
    let width = usize::try_from(places).map_err(|_| wrong())?;
    if number == 0.0 {
        // Zero may have a sign.
        return Ok(Some(0));
    }
    // The digits of the double itself, rounded once.
    decimal(key, &format!("{number:.width$}"), places).map(Some)
}

/// A list of resources as sshare prints it: what is set, in units of `unit`, cut to whole ones.
fn amounts(value: &Value, unit: i64) -> Result<Option<String>, Refusal> {
    let mut found: Vec<String> = Vec::new();
    for entry in value.as_array().into_iter().flatten() {
        let name = entry.get("name").and_then(word).ok_or_else(|| missing("tres/name"))?;
        if let Some(n) = number(entry.get("value").unwrap_or(&Value::Null)) {
            found.push(format!("{name}={}", n.div_euclid(unit)));
        }
    }
    Ok((!found.is_empty()).then(|| found.join(",")))
}
