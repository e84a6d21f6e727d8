//! The form of a record sent to a receiver, which decides how it is identified later.

use crate::report::apel::MessageKind;

/// A message of APEL, or the documents of GRACC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordFormat {
    /// Records of a message of APEL.
    Apel(MessageKind),
    /// Daily summary documents, one to a line.
    Gracc,
}

impl RecordFormat {
    /// The word of file names and of the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apel(kind) => kind.as_str(),
            Self::Gracc => "gracc-summary",
        }
    }

    /// What a word of the ledger means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let all = MessageKind::ALL.into_iter().map(Self::Apel).chain([Self::Gracc]);
        all.into_iter().find(|form| form.as_str() == word)
    }

    /// What files of it end with.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Apel(_) => "msg",
            Self::Gracc => "ndjson",
        }
    }

    /// Whether its records are single jobs.
    #[must_use]
    pub fn is_job(self) -> bool {
        matches!(self, Self::Apel(kind) if kind.is_job())
    }
}

impl RecordFormat {
    /// Whether the receiver sums its jobs; a sync record is only compared with that sum.
    #[must_use]
    pub fn counts(self) -> bool {
        self != Self::Apel(MessageKind::Sync)
    }
}

impl std::str::FromStr for RecordFormat {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::of_word(word).ok_or_else(|| {
            let all = MessageKind::ALL.into_iter().map(Self::Apel).chain([Self::Gracc]);
            let words: Vec<&str> = all.filter(|form| form.counts()).map(Self::as_str).collect();
            format!("one of {} is needed", words.join(", "))
        })
    }
}

impl From<MessageKind> for RecordFormat {
    fn from(kind: MessageKind) -> Self {
        Self::Apel(kind)
    }
}
