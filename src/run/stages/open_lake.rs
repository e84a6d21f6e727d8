//! First stage: the lake, locked and loaded.

use std::sync::Arc;

use tracing::warn;

use super::context::RunContext;
use crate::error::Result;
use crate::ingest::output_overlap::hold_outside_lakes;
use crate::lake::moment::shown;
use crate::lake::new_corrections;
use crate::lake::state::State;
use crate::reference::correction::Correction;
use crate::runtime::clock;
use crate::store::snapshots::names;
use crate::store::{Fact, LakeLock, Manifest, Publication, Store, TemporaryFolder};

/// A lake that this run alone writes to, as it was published last.
pub(super) struct OpenLake<'a> {
    /// What is staged for it; holds its lock.
    pub(super) publication: Publication,
    /// What it knows.
    pub(super) state: State,
    /// Corrections that it does not have yet.
    pub(super) new_corrections: &'a [Correction],
    /// The folder of a dry run without an existing lake; it is removed last.
    _temporary: Option<TemporaryFolder>,
}

impl<'a> OpenLake<'a> {
    /// Opens the output, takes its lock and loads its state. Reports where no lock keeps a second run out.
    ///
    /// # Errors
    /// [`crate::error::Kind::Busy`] while another run holds the lake, and to a dry run also where the last commit was cut off,
    /// [`crate::error::Kind::Config`] when the lake is that of another pipeline, a new one is in a folder of another lake, or a
    /// correction that was applied is changed, [`crate::error::Kind::Io`] when the lake cannot be read.
    pub(super) fn open(context: RunContext<'a>) -> Result<Self> {
        let RunContext { plan, options, .. } = context;
        let output = options.output(plan);
        let is_new = !Manifest::is_there(output)?;
        if is_new {
            hold_outside_lakes(output)?;
        }
        let (store, temporary) = if options.dry_run && is_new {
            let (store, folder) = Store::temporary()?;
            (store, Some(folder))
        } else {
            (Store::open(output)?, None)
        };
        let lock = if options.dry_run {
            LakeLock::take_settled(&store, options.wait)?
        } else {
            LakeLock::take(&store, options.wait)?
        };
        if !lock.is_exclusive() {
            let place = store.url();
            warn!("{place} knows no lock: see to it that one run at a time writes there");
        }
        let publication = Publication::under(Arc::new(lock))?;
        if publication
            .published()
            .is_some_and(|published| published.facts.has(Fact::Keep))
        {
            warn_of_clock(&store)?;
        }
        let state = State::load(&publication)?;
        state.hold_pipeline(plan)?;
        let new_corrections = new_corrections::fresh(plan, &state)?;
        Ok(Self {
            publication,
            state,
            new_corrections,
            _temporary: temporary,
        })
    }
}

/// Warns where the last snapshot is of a time that is still to come: the clock of this machine or of the one before is wrong, and
/// times do not name the states of the lake.
fn warn_of_clock(store: &Store) -> Result<()> {
    if let Some(last) = names(store)?.last().filter(|last| last.made_ms > clock::now_ms()) {
        let last = shown(last);
        warn!(
            "{last} is of a time that is still to come: look at the clock of this machine, and of the one that made it"
        );
    }
    Ok(())
}
