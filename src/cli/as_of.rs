//! `--as-of`: the lake as it was.

use std::sync::OnceLock;

use tracing::info;

use crate::error::{Error, Kind, Result};
use crate::lake::moment::{LakeMoment, shown};

/// The option of every command that reads a lake.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct AsOfArgs {
    /// The lake as it was: a day (2026-05-03, at its end), a time, a run, a snapshot by its number, a tag, or latest. See
    /// `gridtally snapshots`.
    #[arg(long, value_name = "MOMENT")]
    as_of: Option<LakeMoment>,

    /// What was found; looked for once, so that all of a command reads one state.
    #[arg(skip)]
    place: OnceLock<String>,
}

impl AsOfArgs {
    /// The place to open: that of the lake, or of a snapshot of it. Reports which one it is.
    ///
    /// # Errors
    /// As [`LakeMoment::find`].
    pub(super) fn place<'a>(&'a self, lake: &'a str) -> Result<&'a str> {
        let Some(moment) = &self.as_of else { return Ok(lake) };
        if self.place.get().is_none() {
            let name = moment.find(lake)?;
            info!("as of {moment}: {}", shown(&name));
            let _is_first = self.place.set(name.place(lake));
        }
        let missing = || Error::internal("a snapshot that was found has no place");
        self.place.get().map(String::as_str).ok_or_else(missing)
    }

    /// The moment that is meant; `None` for the lake as it is.
    pub(super) fn moment(&self) -> Option<&LakeMoment> {
        self.as_of.as_ref()
    }

    /// What a receiver holds is compared with the lake as it is: the book of what was sent to it is the newest.
    ///
    /// # Errors
    /// [`Kind::Usage`] when it is the lake as it was.
    pub(super) fn refuse_receiver(&self) -> Result<()> {
        if self.as_of.is_none() {
            return Ok(());
        }
        let message =
            "--as-of and --receiver exclude one another: a receiver holds what the book of the lake as it is states";
        Err(Error::new(Kind::Usage, message))
    }
}
