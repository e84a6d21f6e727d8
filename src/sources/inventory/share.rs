//! `sshare -P`: shares, decayed usage and fair-share factor of accounts and users, as Slurm computed them.
//!
//! Each account is indented by one blank for every account above it, and a user by one more than its account: that is the
//! tree. A listing of several clusters has a line `CLUSTER: name` before the header of each.

use super::fields::InventoryFields;
use super::lines::lines;
use super::scontrol::is_message;
use super::table;
use super::trouble::{cut_off, missing, settle};
use crate::ledger::Reason;
use crate::reference::inventory::scheduler::{SHARE_PLACES, USAGE_PLACES};
use crate::reference::inventory::{InventoryRow, ShareRow, quantity};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

/// Stands for the parent's shares inside Slurm.
const PARENT_SHARE: i64 = 2_147_483_647;

/// Before the header of each of several clusters.
const CLUSTER_LINE: &str = "CLUSTER: ";

/// Deepest tree of accounts.
const DEPTH_LIMIT: usize = 256;

/// Whether a line is the header of a listing of shares.
pub(super) fn is_header(line: &str) -> bool {
    let columns = table::columns(line);
    let has = |name: &str| columns.iter().any(|column| column == name);
    let shows_shares = ["rawshares", "normshares", "rawusage", "effectvusage", "levelfs"];
    has("account") && has("user") && shows_shares.into_iter().any(has)
}

/// The accounts from the root to the last one read, by depth; `None` where the listing begins below the root.
#[derive(Default)]
struct AccountPath(Vec<Option<String>>);

impl AccountPath {
    /// The account above a depth.
    fn parent(&self, depth: usize) -> Option<String> {
        self.0.get(depth.checked_sub(1)?).cloned().flatten()
    }

    /// Enters an account.
    fn enter(&mut self, depth: usize, account: &str) {
        self.0.resize(depth, None);
        self.0.push(Some(account.to_owned()));
    }
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let mut header: Option<Vec<String>> = None;
    let mut cluster: Option<String> = None;
    let mut path = AccountPath::default();
    for line in lines(bytes) {
        if line.is_blank() {
            continue;
        }
        let text = line.text();
        if let Some(name) = text.strip_prefix(CLUSTER_LINE) {
            cluster = Some(name.trim().to_owned());
            continue;
        }
        if is_header(&text) {
            header = Some(table::columns(&text));
            path = AccountPath::default();
            continue;
        }
        sink.rows_read(1);
        if is_message(&text) {
            sink.tool_message(line.at, line.bytes);
            continue;
        }
        let row = match &header {
            _ if !line.is_ended => Err(cut_off()),
            None => Err(Refusal::new(Reason::FieldCount, "no header precedes this row")),
            Some(columns) => share(&text, columns, &mut path).map(|row| ShareRow {
                cluster: row.cluster.or_else(|| cluster.clone()),
                ..row
            }),
        };
        settle(
            row.map(|row| InventoryRow::Share(Box::new(row))),
            line.at,
            line.bytes,
            sink,
        );
    }
}

fn share(text: &str, columns: &[String], path: &mut AccountPath) -> Result<ShareRow, Refusal> {
    let mut cells = table::cells(text, columns, "")?;
    // Fallback: a row without an account is refused by the lines below.
    let indented = cells.get("account").copied().unwrap_or_default();
    let depth = indented.len() - indented.trim_start_matches(' ').len();
    for cell in cells.values_mut() {
        *cell = cell.trim();
    }
    let fields = InventoryFields(cells);
    let account = fields.required("account")?.to_owned();
    if depth > DEPTH_LIMIT {
        let detail = format!("Account is indented by more than {DEPTH_LIMIT} blanks");
        return Err(Refusal::new(Reason::LimitExceeded, detail));
    }
    let user = fields.name("user").map(str::to_owned);
    let parent_account = match &user {
        Some(_) => Some(account.clone()),
        None => path.parent(depth),
    };
    if user.is_none() {
        path.enter(depth, &account);
    }
    let (raw_share_n, is_parent_share) = raw_share(fields.get("rawshares"))?;
    let (level_fs_e12, is_level_fs_infinite) = match fields.get("levelfs") {
        None => (None, None),
        Some("inf") => (None, Some(true)),
        Some(_) => (fields.decimal("levelfs", SHARE_PLACES)?, Some(false)),
    };
    Ok(ShareRow {
        cluster: fields.text("cluster"),
        account,
        user,
        partition: fields.name("partition").map(str::to_owned),
        parent_account,
        association_id: fields.int("id")?,
        raw_share_n,
        is_parent_share,
        level_share_n: None,
        norm_shares_e12: fields.decimal("normshares", SHARE_PLACES)?,
        raw_usage_e6: fields.decimal("rawusage", USAGE_PLACES)?,
        norm_usage_e12: fields.decimal("normusage", SHARE_PLACES)?,
        effective_usage_e12: fields.decimal("effectvusage", SHARE_PLACES)?,
        fairshare_factor_e12: fields.decimal("fairshare", SHARE_PLACES)?,
        level_fs_e12,
        is_level_fs_infinite,
        grp_tres_mins: fields.text("grptresmins"),
        tres_run_mins: fields.text("tresrunmins"),
    })
}

/// Shares, and whether they are those of the parent.
fn raw_share(text: Option<&str>) -> Result<(Option<i64>, Option<bool>), Refusal> {
    match text {
        None => Ok((None, None)),
        Some("parent") => Ok((None, Some(true))),
        Some(text) => match quantity::count(text) {
            Some(n) => Ok(of_number(n)),
            None => Err(Refusal::new(
                Reason::BadNumber,
                format!("shares {text:?} are not a number"),
            )),
        },
    }
}

/// The same of a number of Slurm's.
pub(super) fn of_number(share_n: i64) -> (Option<i64>, Option<bool>) {
    if share_n == PARENT_SHARE {
        (None, Some(true))
    } else {
        (Some(share_n), Some(false))
    }
}

/// Takes the factors of accounts away, which only users have, and all of them where nobody has one: Slurm writes zero for
/// both, and only Fair Tree keeps factors where these forms read them.
pub(super) fn drop_unstated_factors<'r>(rows: impl Iterator<Item = &'r mut ShareRow>) {
    let mut rows: Vec<&mut ShareRow> = rows.collect();
    let is_stated = rows
        .iter()
        .any(|row| row.user.is_some() && row.fairshare_factor_e12.is_some_and(|factor| factor > 0));
    for row in &mut rows {
        if !is_stated || row.user.is_none() {
            row.fairshare_factor_e12 = None;
        }
        if !is_stated {
            (row.level_fs_e12, row.is_level_fs_infinite) = (None, None);
        }
    }
}

/// A name without the number behind it: `bob(2002)`, `physics(3)`.
pub(super) fn without_number(text: &str) -> &str {
    let numbered = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    numbered
        .filter(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(text, |(name, _)| name)
}

/// The account a row must name.
pub(super) fn required_account(text: Option<&str>) -> Result<String, Refusal> {
    text.filter(|name| !name.is_empty())
        .map(str::to_owned)
        .ok_or_else(|| missing("Account"))
}
