//! Listings of real clusters: `scontrol show assoc_mgr`, `sshare -l -P`, `scontrol -o show job`.

use std::collections::BTreeMap;
use std::path::Path;

use gridtally::fairshare::{AssociationKey, AssociationTree, RawShares, TreeRow, TreeUsage};

use super::{UNIT_E6, id, tree};

/// Slurm's number for `parent`.
const USE_PARENT: &str = "2147483647";

pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words `key=value` of a line.
pub(super) fn fields(line: &str) -> BTreeMap<&str, &str> {
    line.split_whitespace()
        .filter_map(|word| word.split_once('='))
        .collect()
}

/// A name without the number behind it: `alice(2001)`.
pub(super) fn name(text: &str) -> &str {
    text.split('(').next().unwrap_or_default()
}

/// A decimal with at most six places, in units of 10^-6.
pub(super) fn decimal_e6(text: &str) -> i128 {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let whole: i128 = whole.parse().unwrap();
    whole * UNIT_E6 + format!("{places:0<6}").parse::<i128>().unwrap()
}

/// The associations of `scontrol show assoc_mgr` with the usage of its users.
pub(super) struct AssocMgr {
    pub(super) tree: AssociationTree,
    pub(super) usage: TreeUsage,
    /// Usage of every association as it prints it, 10^-6, by account and user.
    pub(super) printed_e6: BTreeMap<(String, String), i128>,
}

pub(super) fn assoc_mgr(path: &Path) -> AssocMgr {
    let text = read(path);
    let (mut rows, mut printed_e6) = (Vec::new(), BTreeMap::new());
    for line in text.lines().filter(|line| line.starts_with("ClusterName=")) {
        let of = fields(line);
        let (account, user) = (of["Account"], name(of["UserName"]));
        let shares = of["SharesRaw/Norm/Level/Factor"].split('/').next().unwrap();
        let parent = Some(name(of["ParentAccount"])).filter(|parent| !parent.is_empty());
        let key = if user.is_empty() {
            AssociationKey::account(account)
        } else {
            AssociationKey::user(account, user)
        };
        rows.push(TreeRow {
            key,
            parent_account: parent.map(str::to_owned),
            shares: if shares == USE_PARENT {
                RawShares::Parent
            } else {
                RawShares::Number(shares.parse().unwrap())
            },
        });
        let usage = of["UsageRaw/Norm/Efctv"].split('/').next().unwrap();
        printed_e6.insert((account.to_owned(), user.to_owned()), decimal_e6(usage));
    }
    assert_eq!(rows.len(), 17, "{}", path.display());
    let tree = tree(&rows);
    let mut usage = TreeUsage::none(&tree);
    for ((account, user), usage_e6) in printed_e6.iter().filter(|((_, user), _)| !user.is_empty()) {
        usage.add(id(&tree, account, user), *usage_e6).unwrap();
    }
    AssocMgr {
        tree,
        usage,
        printed_e6,
    }
}

/// A row of `sshare -l -P`, by the names of its header.
pub(super) struct SshareRow {
    pub(super) account: String,
    pub(super) user: String,
    pub(super) depth: usize,
    columns: BTreeMap<String, String>,
}

impl SshareRow {
    /// What it prints; none where it prints nothing.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        self.columns
            .get(column)
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    }

    pub(super) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).map(|text| text.parse().unwrap())
    }
}

pub(super) fn sshare(path: &Path) -> Vec<SshareRow> {
    let text = read(path);
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split('|').collect();
    let rows: Vec<SshareRow> = lines
        .map(|line| {
            let cells = line.split('|').map(|cell| cell.trim().to_owned());
            let columns: BTreeMap<String, String> = header.iter().map(|name| (*name).to_owned()).zip(cells).collect();
            SshareRow {
                account: columns["Account"].clone(),
                user: columns["User"].clone(),
                depth: line.len() - line.trim_start().len(),
                columns,
            }
        })
        .collect();
    assert_eq!(rows.len(), 17, "{}", path.display());
    rows
}
