//! One error type for the whole pipeline: a kind that decides the exit code, a sentence for people, and the
//! places it passed on its way out.

use std::fmt;

use crate::display_text::without_passwords;

/// Result of everything that can fail in gridtally.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as far as an orchestrator needs to know. Each kind is one stable exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line is wrong.
    Usage,
    /// The data broke a limit the pipeline set, or a published lake does not verify.
    Data,
    /// An input named by the pipeline does not exist.
    NoInput,
    /// gridtally contradicts itself: a ledger that does not close, a schema that drifted. A bug, never the input's fault.
    Internal,
    /// The machine gives no more memory or threads.
    Memory,
    /// Reading or writing failed.
    Io,
    /// Another run or publication holds the output; try again later.
    Busy,
    /// The pipeline file, or a table it names, is wrong, or an object store cannot keep a second writer out.
    Config,
    /// SIGINT ended it.
    Interrupted,
    /// SIGTERM ended it.
    Terminated,
}

impl Kind {
    /// The process exit code: after `sysexits.h`, and as a shell names the end by a signal.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Data => 65,
            Self::NoInput => 66,
            Self::Internal => 70,
            Self::Memory => 71,
            Self::Io => 74,
            Self::Busy => 75,
            Self::Config => 78,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// All kinds with the sentence the manual prints next to the code.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Usage, "the command line is wrong"),
        (
            Self::Data,
            "more was refused than the pipeline allows (max_rejected, max_unread), or the data is not what the command takes it for: verify \
             found damage, a command with --strict a finding, policy test or policy billing a difference, report apel usage that no \
             message can express (without --leave-out)",
        ),
        (
            Self::NoInput,
            "an input named by the pipeline does not exist, a shard of the list is missing, or the lake lacks a dataset or a listing that \
             the command needs",
        ),
        (
            Self::Internal,
            "gridtally contradicts itself (a ledger that does not close); please report it",
        ),
        (Self::Memory, "the machine gives no more memory or threads"),
        (Self::Io, "reading or writing failed"),
        (
            Self::Busy,
            "another run or publication holds the output; try again later",
        ),
        (
            Self::Config,
            "the pipeline file, or a table it names, is wrong, or an object store ignores the conditions of writes",
        ),
        (Self::Interrupted, "ended by SIGINT; the state left behind is reported"),
        (Self::Terminated, "ended by SIGTERM; the state left behind is reported"),
    ];
}

/// The key of the context that reports what the lake is after a failure; the message ends with it.
pub const STATE_KEY: &str = "state";

/// An error with its kind, a sentence, where it happened and what caused it.
pub struct Error {
    kind: Kind,
    message: String,
    context: Vec<(&'static str, String)>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A new error of `kind`, stating `message`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
        }
    }

    /// Shorthand for [`Kind::Config`].
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(Kind::Config, message)
    }

    /// Shorthand for [`Kind::Io`].
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(Kind::Io, message)
    }

    /// Shorthand for [`Kind::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// Adds where it happened, such as `("file", path)`.
    #[must_use]
    pub fn at(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.context.push((key, value.to_string()));
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// For a run that could not read or write: reports what the lake is, where a commit that had begun has not reported it
    /// (context [`STATE_KEY`]).
    #[must_use]
    pub fn of_state(self, state: &'static str) -> Self {
        let is_stated = self.context.iter().any(|(key, _)| *key == STATE_KEY);
        if self.kind == Kind::Io && !is_stated {
            return self.at(STATE_KEY, state);
        }
        self
    }

    /// For work that could not write for lack of space: names the full disk.
    #[must_use]
    pub fn of_full_disk(self, output: &str) -> Self {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let mut is_stored = self.context.iter().any(|(_, place)| place.starts_with(".gridtally/"));
        let mut cause = self
            .source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static));
        let mut trouble = None;
        while let Some(inner) = cause {
            is_stored |= inner.is::<object_store::Error>() || inner.is::<parquet::errors::ParquetError>();
            let io = inner.downcast_ref::<std::io::Error>();
            trouble = trouble.or(io
                .map(std::io::Error::kind)
                .filter(|kind| matches!(kind, StorageFull | QuotaExceeded | FileTooLarge)));
            // What an I/O error wraps is not its source, but its source's source is.
            cause = match io.and_then(std::io::Error::get_ref) {
                Some(wrapped) => Some(wrapped),
                None => inner.source(),
            };
        }
        let Some(trouble) = trouble else { return self };
        let why = match trouble {
            QuotaExceeded => "the quota is used up",
            FileTooLarge => "files may not become that large (see ulimit -f)",
            _ => "no space left",
        };
        let place = if is_stored {
            output.to_owned()
        } else {
            format!(
                "the folder of temporary files, {} (TMPDIR names another)",
                std::env::temp_dir().display()
            )
        };
        Self {
            context: self.context,
            ..Self::io(format!("{why} on {place}"))
        }
    }

    /// The kind, hence the exit code.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut whole = String::new();
        self.write_chain(&mut whole)?;
        f.write_str(&without_passwords(&whole))
    }
}

impl Error {
    fn write_chain(&self, f: &mut impl fmt::Write) -> fmt::Result {
        f.write_str(&self.message)?;
        let (states, places): (Vec<_>, Vec<_>) = self.context.iter().partition(|(key, _)| *key == STATE_KEY);
        if !places.is_empty() {
            f.write_str(" (")?;
            for (i, (key, value)) in places.into_iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{key} {value}")?;
            }
            f.write_str(")")?;
        }
        let mut cause = self.source.as_deref().map(|s| s as &dyn std::error::Error);
        let mut reported = String::new();
        while let Some(inner) = cause {
            // Many libraries repeat their causes in their own sentence.
            let text = inner.to_string();
            if !reported.contains(&text) {
                write!(f, ": {text}")?;
                reported = text;
            }
            cause = inner.source();
        }
        for (_, state) in states {
            write!(f, "; {state}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|s| s as _)
    }
}

macro_rules! from_error {
    ($($source:ty => $kind:ident, $message:literal;)*) => {$(
        impl From<$source> for Error {
            fn from(source: $source) -> Self {
                Self::new(Kind::$kind, $message).because(source)
            }
        }
    )*};
}

from_error! {
    std::io::Error => Io, "reading or writing failed";
    arrow_schema::ArrowError => Internal, "an Arrow operation failed";
    parquet::errors::ParquetError => Io, "a Parquet file could not be read or written";
    object_store::Error => Io, "the object store refused";
}
