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
