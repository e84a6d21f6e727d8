//! `sacctmgr -P show assoc` (and `show user withassoc`): accounts, users in accounts, shares and limits. What it prints
//! unasked names no account above another: only with `ParentName` among its columns is there a tree.

use super::fields::InventoryFields;
use super::table;
use crate::ledger::Reason;
use crate::reference::inventory::{AssociationRow, InventoryRow, quantity};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

/// What lists associations with their tree.
pub const ASSOC_COMMAND: &str =
    "sacctmgr -P show assoc format=Cluster,Account,ParentName,User,Partition,Share,DefaultQOS,QOS,GrpTRES,GrpTRESMins";

/// Columns with the account above, as releases head them.
const PARENT: [&str; 2] = ["parentname", "parname"];

/// Columns with a place of their own.
const KNOWN: &[&str] = &[
    "cluster",
    "account",
    "user",
    "partition",
    "share",
    "fairshare",
    PARENT[0],
    PARENT[1],
    "defaultaccount",
    "defacct",
    "defqos",
    "defaultqos",
    "qos",
    "description",
    "descr",
    "organization",
    "org",
    "grptres",
    "grptresmins",
];

/// Stands for the parent's shares inside Slurm.
const PARENT_SHARE: i64 = 2_147_483_647;

/// Whether a line is the header of a listing of associations.
pub(super) fn is_header(line: &str) -> bool {
    let columns = table::columns(line);
    let has = |name: &str| columns.iter().any(|column| column == name);
    has("cluster") && has("account") && has("user") && (has("share") || has("fairshare"))
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    table::read(bytes, is_header, "", sink, |fields| {
        association(fields).map(|row| InventoryRow::Association(Box::new(row)))
    });
}

/// Reads an association from fields by their names in lower case.
pub(super) fn association(fields: &InventoryFields<'_>) -> Result<AssociationRow, Refusal> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| fields.text(key));
    // An account or QOS may be named "none".
    let first_name = |keys: &[&str]| keys.iter().find_map(|key| fields.owned_name(key));
    let account = fields.required("account")?.to_owned();
    let user = fields.name("user").map(str::to_owned);
    let (share_n, is_parent_share) = share(first(&["share", "fairshare"]).as_deref())?;
    let limits: Vec<String> = fields
        .0
        .keys()
        .filter(|key| !KNOWN.contains(key))
        .filter_map(|key| Some(format!("{key}={}", fields.get(key)?)))
        .collect();
    Ok(AssociationRow {
        cluster: fields.text("cluster"),
        parent_account: if user.is_some() {
            Some(account.clone())
        } else {
            first_name(&PARENT)
        },
        account,
        user,
        partition: fields.name("partition").map(str::to_owned),
        share_n,
        is_parent_share,
        default_account: first_name(&["defaultaccount", "defacct"]),
        default_qos: first_name(&["defqos", "defaultqos"]),
        qos: fields.owned_name("qos"),
        description: first(&["description", "descr"]),
        organization: first(&["organization", "org"]),
        limits: (!limits.is_empty()).then(|| limits.join(";")),
        grp_tres_mins: fields.text("grptresmins"),
        grp_tres: fields.text("grptres"),
    })
}

fn share(text: Option<&str>) -> Result<(Option<i64>, Option<bool>), Refusal> {
    let Some(text) = text else {
        return Ok((None, None));
    };
    if text.eq_ignore_ascii_case("parent") {
        return Ok((None, Some(true)));
    }
    match quantity::count(text) {
        Some(PARENT_SHARE) => Ok((None, Some(true))),
        Some(share_n) => Ok((Some(share_n), Some(false))),
        None => Err(Refusal::new(
            Reason::BadNumber,
            format!("share {text:?} is neither a whole number from 0 on nor parent"),
        )),
    }
}
