//! The tree of accounts with new shares, as a file that `sacctmgr load` reads: parents first, one object a line.
//!
//! What holds of the format is taken from the code that reads it: `#` begins a comment and a backslash escapes, a line has at
//! most 4095 bytes, a colon inside quotes does not separate options, empty options are passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::associations::ListedAssociation;
use super::changes::{ShareChanges, tres_limits};
use super::day::DayShares;
use super::limits::{FAIRSHARE, GRP_TRES_MINS, ListedOptions};
use super::names::{file_text, file_word, is_quotable};
use crate::error::{Error, Kind, Result};
use crate::fairshare::RawShares;
use crate::reference::inventory::WITHHELD_USER;

/// Bytes of a line with its end that Slurm reads.
const LINE_BYTES: usize = 4095;
/// The shares of the parent, as `sacctmgr dump` writes them.
const PARENT: &str = "2147483647";

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadFile {
    /// Its text.
    pub text: String,
    /// Fields of the listing that are not in it, with the number of associations that have them.
    pub unknown: BTreeMap<String, usize>,
    /// Texts that are not in it because quotes in them cannot be written, with their number.
    pub unquotable: BTreeMap<&'static str, usize>,
    /// Accounts and users with limits of typed resources, which Slurm reads since 26.05.
    pub typed: BTreeSet<String>,
}

impl LoadFile {
    /// The file of a day: the whole tree as the listing has it, with what changes.
    ///
    /// # Errors
    /// [`Kind::Data`] when the lake withholds users, an association is listed twice or of no account, or something cannot be
    /// written so that Slurm reads it.
    pub fn of(shares: &DayShares, changes: &ShareChanges, cluster: &str) -> Result<Self> {
        let listing = &shares.listing;
        for (account, users) in &listing.users {
            if users.iter().any(|user| user.key.user.as_deref() == Some(WITHHELD_USER)) {
                let message = "the lake withholds the names of users, and a load file has them: use --for sacctmgr";
                return Err(Error::new(Kind::Data, message));
            }
            let twice = users
                .iter()
                .zip(users.iter().skip(1))
                .find(|(one, next)| one.key == next.key);
            if let Some((user, _)) = twice {
                let message = format!("the listing has the {} twice: choose one with --inventory", user.key);
                return Err(Error::new(Kind::Data, message));
            }
            if !listing.accounts.contains_key(account) {
                let message = format!("the listing has users of account {account}, and not the account");
                return Err(Error::new(Kind::Data, message));
            }
        }
        let mut file = Self::default();
        for (id, association) in listing.tree.iter() {
            let account = association.key.account.as_str();
            if id == listing.tree.root() {
                let root = listing.accounts.get(account);
                file.line("Cluster", cluster, root, changes)?;
            }
            let users = listing.users.get(account).map_or(&[][..], Vec::as_slice);
            if users.is_empty() && association.children.is_empty() {
                continue;
            }
            file.push(&format!("Parent - {}", file_word("account", account)?))?;
            for user in users {
                if let Some(name) = &user.key.user {
                    file.line("User", name, Some(user), changes)?;
                }
            }
            for child in association.children.iter().filter_map(|id| listing.tree.get(*id)) {
                let name = child.key.account.as_str();
                file.line("Account", name, listing.accounts.get(name), changes)?;
            }
        }
        Ok(file)
    }

    /// Adds the line of a cluster, an account or a user.
    fn line(
        &mut self,
        object: &'static str,
        name: &str,
        listed: Option<&ListedAssociation>,
        changes: &ShareChanges,
    ) -> Result<()> {
        let mut line = format!("{object} - {}", file_word(&object.to_lowercase(), name)?);
        let mut options = listed.map_or_else(ListedOptions::none, ListedOptions::of);
        let account = listed
            .filter(|row| !row.key.is_user())
            .map(|row| row.key.account.as_str());
        let change = account.and_then(|account| changes.of_account(account));
        let to = change.and_then(|change| change.to).map(|to| to.to_string());
        let own = listed.and_then(|row| row.shares).map(|shares| match shares {
            RawShares::Number(shares) => shares.to_string(),
            RawShares::Parent => PARENT.to_owned(),
        });
        if let Some(shares) = to.or(own) {
            options.set(FAIRSHARE, shares);
        }
        if let Some(change) = change.filter(|change| !change.minutes.is_empty()) {
            let former = options.value(GRP_TRES_MINS).map_or_else(String::new, str::to_owned);
            let mut limits: Vec<String> = Vec::new();
            for limit in tres_limits(&former) {
                if !change
                    .minutes
                    .iter()
                    .any(|new| new.tres.eq_ignore_ascii_case(limit.tres))
                {
                    limits.push(format!("{}={}", limit.tres, limit.amount));
                }
            }
            limits.extend(change.minutes.iter().map(|new| format!("{}={}", new.tres, new.to)));
            options.set(GRP_TRES_MINS, limits.join(","));
        }
        for unknown in options.unknown {
            *self.unknown.entry(unknown).or_default() += 1;
        }
        for option in options.options {
            if !is_quotable(&option.value) {
                if option.is_dispensable {
                    *self.unquotable.entry(option.name).or_default() += 1;
                    continue;
                }
                let message = format!(
                    "{} of {name} cannot be written to a load file: {:?}",
                    option.name, option.value
                );
                return Err(Error::new(Kind::Data, message));
            }
            let is_typed = option.name.contains("TRES") && option.value.contains(':');
            if is_typed {
                self.typed.insert(name.to_owned());
            }
            let value = if option.is_quoted || option.value.contains([':', '#', '\\']) {
                file_text(&option.value)
            } else {
                option.value
            };
            // Writing to a string cannot fail.
            let _ = write!(line, ":{}={value}", option.name);
        }
        self.push(&line)
    }

    fn push(&mut self, line: &str) -> Result<()> {
        if line.len() + 1 > LINE_BYTES {
            let begin: String = line.chars().take(60).collect();
            let message = format!(
                "the line of a load file has more than {LINE_BYTES} bytes, which Slurm does not read: {begin}..."
            );
            return Err(Error::new(Kind::Data, message));
        }
        self.text.push_str(line);
        self.text.push('\n');
        Ok(())
    }
}
