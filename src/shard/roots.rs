//! Mapped roots: the same files under other paths on other hosts.

use std::fmt;
use std::str::FromStr;

/// A folder or URL of the host where the list was made, and what it is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRoot {
    from: String,
    to: String,
}

impl FromStr for MappedRoot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').map(|(from, to)| (trimmed(from), trimmed(to)));
        match parts {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok(Self {
                from: from.to_owned(),
                to: to.to_owned(),
            }),
            _ => Err("FROM=TO is needed, such as /data=/mnt/data".to_owned()),
        }
    }
}

impl fmt::Display for MappedRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.from, self.to)
    }
}

/// A root without a slash at its end; `/` itself stays.
fn trimmed(root: &str) -> &str {
    let short = root.trim_end_matches('/');
    if short.is_empty() {
        root.get(..1).unwrap_or(root)
    } else {
        short
    }
}

/// All mapped roots of this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots(Vec<MappedRoot>);

impl Roots {
    /// Of these.
    #[must_use]
    pub fn new(roots: Vec<MappedRoot>) -> Self {
        Self(roots)
    }

    /// Where a location of the list is here: the longest root that it is in decides.
    #[must_use]
    pub fn here(&self, location: &str) -> String {
        let inside = |root: &&MappedRoot| {
            let rest = location.strip_prefix(&root.from);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.from.ends_with('/'))
        };
        let root = self.0.iter().filter(inside).max_by_key(|root| root.from.len());
        let Some(MappedRoot { from, to }) = root else {
            return location.to_owned();
        };
        // Fallback: never taken, the root is the beginning of the location.
        let rest = location.strip_prefix(from.as_str()).unwrap_or_default();
        format!("{to}/{}", rest.trim_start_matches('/'))
    }
}
