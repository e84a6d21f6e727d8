//! What a whole APEL message does when one of its records is bad.

/// What a whole APEL message does when one of its records is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// The message is refused whole, as the APEL server does.
    #[default]
    StrictApel,
    /// Its good records are kept.
    Salvage,
}

impl Acceptance {
    /// Words of the pipeline file.
    pub const WORDS: &[(&str, Self)] = &[("strict-apel", Self::StrictApel), ("salvage", Self::Salvage)];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StrictApel => "strict-apel",
            Self::Salvage => "salvage",
        }
    }
}
