//! What names a person, and what becomes of it before anything is written.
//!
//! The intake asks [`Privacy::mask`] before it makes a record of a row, so nothing behind it (the spill on disk,
//! records, history, usage, the footers of files, refusals, reports) ever holds a name.

mod key;
mod mask;

use std::fmt::Write as _;

pub use key::{KeyPlace, MIN_KEY_BYTES, PrivacyKey};
pub use mask::Masked;

/// The value APEL's own client writes for a subject that it withholds.
pub const WITHHELD: &str = "withheld";

/// What becomes of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrivacyAction {
    /// It stays as the source has it.
    #[default]
    Keep,
    /// It is unknown (null).
    Drop,
    /// A keyed pseudonym replaces it.
    Pseudonym,
}

impl PrivacyAction {
    /// Every action by its word in the pipeline file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("keep", Self::Keep),
        ("drop", Self::Drop),
        ("pseudonym", Self::Pseudonym),
    ];

    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
            Self::Pseudonym => "pseudonym",
        }
    }
}

/// How long a pseudonym represents the same name. Across periods nothing links the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// A calendar year.
    Year,
    /// A calendar quarter.
    Quarter,
    /// A calendar month.
    Month,
}

impl Rotation {
    /// Every rotation by its word in the pipeline file.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("year", Self::Year), ("quarter", Self::Quarter), ("month", Self::Month)];

    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
        }
    }
}

/// A field that names a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Certificate or token subject.
    GlobalUser,
    /// Local user name.
    User,
    /// Local group.
    UserGroup,
    /// Job name.
    JobName,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 4] = [Self::GlobalUser, Self::User, Self::UserGroup, Self::JobName];

    /// The column of `records`, and the key in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GlobalUser => "global_user",
            Self::User => "user",
            Self::UserGroup => "user_group",
            Self::JobName => "job_name",
        }
    }

    /// Whether the same name means the same thing at every site. A certificate subject does; a user `anna` of one
    /// site is not the `anna` of another, and their pseudonyms must not be equal.
    #[must_use]
    pub fn is_global(self) -> bool {
        self == Self::GlobalUser
    }
}

/// Pseudonyms: the key, and how long they last.
#[derive(Clone, Debug)]
pub struct Pseudonyms {
    /// The key.
    pub key: PrivacyKey,
    /// How long a pseudonym represents the same name.
    pub rotation: Rotation,
    /// The check value of the key that this one replaces.
    pub replaces: Option<String>,
}

/// `[privacy]`, resolved.
#[derive(Clone, Debug, Default)]
pub struct Privacy {
    /// In the order of [`Field::ALL`].
    pub actions: [PrivacyAction; 4],
    /// There whenever an action is [`PrivacyAction::Pseudonym`].
    pub pseudonyms: Option<Pseudonyms>,
}

impl Privacy {
    /// What becomes of a field.
    #[must_use]
    pub fn action(&self, field: Field) -> PrivacyAction {
        let at = Field::ALL.iter().position(|known| *known == field);
        // Fallback: never taken, every field has its action.
        at.and_then(|at| self.actions.get(at)).copied().unwrap_or_default()
    }

    /// Whether a field stays as the source has it.
    #[must_use]
    pub fn keeps(&self, field: Field) -> bool {
        Field::ALL
            .iter()
            .zip(self.actions)
            .any(|(own, action)| *own == field && action == PrivacyAction::Keep)
    }

    /// Whether anything is withheld at all. If so, no raw text is kept either: it may hold any field.
    #[must_use]
    pub fn withholds(&self) -> bool {
        self.actions.iter().any(|action| *action != PrivacyAction::Keep)
    }

    /// What decides results, for fingerprints. Another key gives another text, and the text does not reveal the key.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::from("privacy 1");
        for (field, action) in Field::ALL.iter().zip(self.actions) {
            // Writing to a string cannot fail.
            let _ = write!(text, " {}={}", field.as_str(), action.as_str());
        }
        if let Some(pseudonyms) = &self.pseudonyms {
            let (rotation, key) = (pseudonyms.rotation.as_str(), pseudonyms.key.fingerprint());
            let _ = write!(text, " rotate={rotation} key={key}");
        }
        text
    }
}
