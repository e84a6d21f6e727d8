//! The names of one row, masked.

use super::{Field, Privacy, PrivacyAction, Rotation, WITHHELD};
use crate::numbers::Part;
use crate::record::{JobRow, UnchangedColumns};
use crate::time::Month;

/// Bytes of a pseudonym: at 96 bits, ten million names collide with a probability below 10^-14.
const PSEUDONYM_BYTES: usize = 12;

/// The replacements for the names of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masked {
    /// In the order of [`Field::ALL`]; `None` where it has no replacement.
    masks: [Option<String>; 4],
    /// Which fields keep what the source has.
    kept: [bool; 4],
    /// The grid-wide id holds a name that is withheld.
    is_in_id: bool,
}

impl Privacy {
    /// Masks the names of a row. Without a `month`, which a row that cannot be placed lacks, pseudonyms are left out.
    #[must_use]
    pub fn mask(&self, row: &JobRow<'_>, site: &str, month: Option<Month>) -> Masked {
        let mut masked = Masked::default();
        for ((field, action), (mask, kept)) in Field::ALL
            .into_iter()
            .zip(self.actions)
            .zip(masked.masks.iter_mut().zip(&mut masked.kept))
        {
            *kept = action == PrivacyAction::Keep;
            let is_withheld = |name| row.global_job_id.is_some_and(|id| holds_word(id, name));
            masked.is_in_id |= !*kept && field.of(row).is_some_and(is_withheld);
            if let (PrivacyAction::Pseudonym, Some(name), Some(month)) = (action, field.of(row), month) {
                *mask = self.pseudonym(field, name, site, month);
            }
        }
        masked
    }

    /// The pseudonym of a name in the period of `month`: `2026-Q1:` and 24 hexadecimal digits. A subject that was withheld
    /// before is nobody's name, and stays what it is.
    #[must_use]
    pub fn pseudonym(&self, field: Field, name: &str, site: &str, month: Month) -> Option<String> {
        if field.is_global() && name == WITHHELD {
            return Some(WITHHELD.to_owned());
        }
        let pseudonyms = self.pseudonyms.as_ref()?;
        let period = pseudonyms.rotation.period(month);
        let site = if field.is_global() { "" } else { site };
        let parts = ["gridtally pseudonym", field.as_str(), &period, site, name];
        let code = pseudonyms.key.code(&parts, PSEUDONYM_BYTES);
        Some(format!("{period}:{code}"))
    }
}

impl Masked {
    /// The row with its names masked.
    #[must_use]
    pub fn apply<'a>(&'a self, row: &JobRow<'a>) -> JobRow<'a> {
        let mut row = row.clone();
        for ((field, mask), kept) in Field::ALL.into_iter().zip(&self.masks).zip(self.kept) {
            if !kept {
                *field.of_mut(&mut row) = mask.as_deref();
            }
        }
        row.global_job_id = row.global_job_id.filter(|_| !self.is_in_id);
        // The same name is another one in another period.
        row.repeats = UnchangedColumns::default();
        row
    }
}

/// Whether a word is a separate part of an id, as the owner's name does in `condor.anna@host#1.0#7`.
fn holds_word(id: &str, word: &str) -> bool {
    let ends = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    id.match_indices(word).any(|(at, found)| {
        let (before, rest) = id.split_at(at);
        let behind = rest.part(found.len()..);
        ends(before.chars().next_back()) && ends(behind.chars().next())
    })
}

impl Field {
    fn of<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        let value = match self {
            Self::GlobalUser => row.global_user,
            Self::User => row.user,
            Self::UserGroup => row.user_group,
            Self::JobName => row.job_name,
        };
        // An empty name is no name.
        value.filter(|name| !name.is_empty())
    }

    fn of_mut<'r, 'a>(self, row: &'r mut JobRow<'a>) -> &'r mut Option<&'a str> {
        match self {
            Self::GlobalUser => &mut row.global_user,
            Self::User => &mut row.user,
            Self::UserGroup => &mut row.user_group,
            Self::JobName => &mut row.job_name,
        }
    }
}

impl Rotation {
    /// The period a month is in.
    #[must_use]
    pub fn period(self, month: Month) -> String {
        let text = month.to_string();
        let (year, number) = text.split_once('-').unwrap_or((&text, "01"));
        match self {
            Self::Year => year.to_owned(),
            Self::Quarter => format!("{year}-Q{}", (number.parse::<u8>().unwrap_or(1).max(1) - 1) / 3 + 1),
            Self::Month => text,
        }
    }
}
