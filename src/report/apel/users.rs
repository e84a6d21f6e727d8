//! What becomes of the names of people in messages.

use std::borrow::Cow;

use crate::privacy::{Field, Privacy, WITHHELD};
use crate::time::Month;

/// What becomes of subjects and local users.
#[derive(Clone, Debug, Default)]
pub enum Users {
    /// A subject is `withheld`, a local user left out.
    #[default]
    Withhold,
    /// Keyed pseudonyms replace both.
    Pseudonym(Box<Privacy>),
    /// Both as the lake has them.
    Keep,
}

impl Users {
    /// The subject as it is written.
    #[must_use]
    pub fn subject<'a>(&self, name: Option<&'a str>, site: &str, month: Month) -> Option<Cow<'a, str>> {
        let name = name.filter(|name| !name.is_empty())?;
        match self {
            Self::Withhold => Some(Cow::Borrowed(WITHHELD)),
            Self::Pseudonym(privacy) => privacy.pseudonym(Field::GlobalUser, name, site, month).map(Cow::Owned),
            Self::Keep => Some(Cow::Borrowed(name)),
        }
    }

    /// The local user as it is written.
    #[must_use]
    pub fn local<'a>(&self, name: Option<&'a str>, site: &str, month: Month) -> Option<Cow<'a, str>> {
        let name = name.filter(|name| !name.is_empty())?;
        match self {
            Self::Withhold => None,
            Self::Pseudonym(privacy) => privacy.pseudonym(Field::User, name, site, month).map(Cow::Owned),
            Self::Keep => Some(Cow::Borrowed(name)),
        }
    }
}
