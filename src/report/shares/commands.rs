//! Changes of shares as lines for a shell, one call of sacctmgr for each account.

use std::fmt::Write as _;

use super::changes::ShareChanges;
use super::names::shell_word;
use crate::error::Result;

/// The lines, parents first; nothing where nothing changes.
///
/// # Errors
/// [`crate::error::Kind::Data`] for a name that sacctmgr cannot be given.
pub fn commands(changes: &ShareChanges, cluster: &str) -> Result<String> {
    let cluster = shell_word("cluster", cluster)?;
    let mut text = String::new();
    for change in &changes.accounts {
        let account = shell_word("account", &change.account)?;
        // Writing to a string cannot fail.
        let _ = write!(text, "sacctmgr -i modify account name={account} cluster={cluster} set");
        if let Some(to) = change.to {
            let _ = write!(text, " fairshare={to}");
        }
        if !change.minutes.is_empty() {
            let limits = change
                .minutes
                .iter()
                .map(|limit| format!("{}={}", limit.tres, limit.to));
            let _ = write!(text, " GrpTRESMins={}", limits.collect::<Vec<_>>().join(","));
        }
        text.push('\n');
    }
    Ok(text)
}
