//! What happens to work that a signal ends: steps that must be whole are waited for, what was staged is taken away, and
//! the state left behind can be reported.

use crate::numbers::Extent;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Longest time a step is waited for that has begun.
const STEP_PATIENCE: Duration = Duration::from_millis(500);

/// Longest time for taking away what was staged.
const TIDY_PATIENCE: Duration = Duration::from_millis(300);

/// The state when nothing was committed.
const AS_BEFORE: &str = "nothing was published, the lake is as before";

type Act = Arc<dyn Fn() + Send + Sync>;

static STATE: Mutex<InterruptionState> = Mutex::new(InterruptionState::new());
static CHANGED: Condvar = Condvar::new();

struct InterruptionState {
    is_ending: bool,
    /// Whether the end of the process has something to report: the lock of a lake was taken.
    is_writing: bool,
    /// Objects that are being written at the moment.
    object_n: usize,
    /// Commits under way, the outermost first.
    commits: Vec<&'static Commit>,
    /// The last commit that was made.
    made: Option<&'static Commit>,
    tidies: BTreeMap<u64, Act>,
    next: u64,
}

/// A step that others may see half of, in words.
#[derive(Debug)]
pub(crate) struct Commit {
    /// The state once it is made.
    pub(crate) made: &'static str,
    /// The state when it was interrupted.
    pub(crate) cut: &'static str,
}

/// The state when work is ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InterruptionStanding {
    /// In words.
    pub(crate) words: &'static str,
    /// Whether what was staged is taken away; the next writer does it where not.
    pub(crate) is_tidy: bool,
}

impl InterruptionState {
    const fn new() -> Self {
        Self {
            is_ending: false,
            is_writing: false,
            object_n: 0,
            commits: Vec::new(),
            made: None,
            tidies: BTreeMap::new(),
            next: 0,
        }
    }

    fn is_busy(&self) -> bool {
        self.object_n > 0 || !self.commits.is_empty()
    }

    fn standing(&self) -> &'static str {
        match (self.commits.first(), self.made) {
            (Some(commit), _) => commit.cut,
            (None, Some(commit)) => commit.made,
            (None, None) if self.is_writing => AS_BEFORE,
            (None, None) => "nothing was written",
        }
    }
}

fn state() -> MutexGuard<'static, InterruptionState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, once something new may begin: never again when the process is ending, but for what belongs to a commit.
fn begin() -> MutexGuard<'static, InterruptionState> {
    let mut state = state();
    while state.is_ending && state.commits.is_empty() {
        state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state
}

/// Takes something away when the process is ended, until it is dropped.
#[must_use]
pub(crate) struct Tidying(u64);

/// Registers what takes away that which is staged in a lake.
pub(crate) fn tidy_with(act: impl Fn() + Send + Sync + 'static) -> Tidying {
    let mut state = begin();
    state.is_writing = true;
    state.next += 1;
    let id = state.next;
    state.tidies.insert(id, Arc::new(act));
    Tidying(id)
}

impl Drop for Tidying {
    fn drop(&mut self) {
        // Once the process is ending registered work is finished: a lock under which it runs is not released meanwhile.
        begin().tidies.remove(&self.0);
    }
}

/// An object that is being written, until it is dropped.
#[must_use]
pub(crate) struct Writing(());

/// Begins to write an object, out of sight or by itself.
pub(crate) fn writing() -> Writing {
    begin().object_n += 1;
    Writing(())
}

/// Registers what aborts that which is being written. Unlike [`tidy_with`] it never waits: an end waits for this step.
pub(crate) fn abort_with(_step: &Writing, act: impl Fn() + Send + Sync + 'static) -> Aborting {
    let mut state = state();
    state.next += 1;
    let id = state.next;
    state.tidies.insert(id, Arc::new(act));
    Aborting(id)
}

/// Aborts what is being written when the process is ended, until it is dropped.
#[must_use]
pub(crate) struct Aborting(u64);

impl Drop for Aborting {
    fn drop(&mut self) {
        state().tidies.remove(&self.0);
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut state = state();
        state.object_n = state.object_n.less(1);
        CHANGED.notify_all();
    }
}

/// A commit under way. Dropped before it is made, there was none.
#[must_use]
pub(crate) struct Committing(bool);

/// Begins a commit, which may be part of another.
pub(crate) fn committing(commit: &'static Commit) -> Committing {
    begin().commits.push(commit);
    Committing(false)
}

impl Committing {
    /// What another one had begun is done: of this process nothing is committed yet.
    pub(crate) fn finished(self) {
        drop(self);
    }

    /// It is made.
    pub(crate) fn made(mut self) {
        self.0 = true;
    }
}

impl Drop for Committing {
    fn drop(&mut self) {
        let mut state = state();
        let commit = state.commits.pop();
        if self.0 {
            state.made = commit;
        }
        CHANGED.notify_all();
    }
}

/// Ends all work: from now on nothing new begins. Waits for what must be whole, takes away what was staged, and reports
/// the state left behind. Only for callers that then end the process.
pub(crate) fn end() -> InterruptionStanding {
    let since = Instant::now();
    let mut state = state();
    state.is_ending = true;
    while state.is_busy() {
        let Some(left) = STEP_PATIENCE.checked_sub(since.elapsed()) else {
            break;
        };
        let waited = CHANGED.wait_timeout(state, left);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    let words = state.standing();
    let is_cut = !state.commits.is_empty();
    let is_cut_off = state.object_n > 0;
    // What was begun last goes first: a lock is given back when nothing is left under it.
    let tidies: Vec<Act> = state.tidies.values().rev().cloned().collect();
    drop(state);
    // What is staged for a commit that was cut off is needed by who finishes it.
    let is_tidied = !is_cut && tidy(tidies);
    InterruptionStanding {
        words,
        is_tidy: is_tidied && !is_cut_off,
    }
}

/// The state left behind by an end that does not wait, in words; `None` where it is changed at this moment. It takes no memory
/// and waits for no lock.
pub(crate) fn standing_now() -> Option<&'static str> {
    match STATE.try_lock() {
        Ok(state) => Some(state.standing()),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner().standing()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The state that work leaves which failed, and no commit of which was cut off, in words.
pub(crate) fn standing_of_failure() -> &'static str {
    state().made.map_or(AS_BEFORE, |commit| commit.made)
}

fn tidy(tidies: Vec<Act>) -> bool {
    let (done, is_done) = std::sync::mpsc::channel();
    let tidying = std::thread::Builder::new().spawn(move || {
        for tidy in tidies {
            tidy();
        }
        // The receiver is gone when this took too long.
        let _ = done.send(());
    });
    tidying.is_ok() && is_done.recv_timeout(TIDY_PATIENCE).is_ok()
}
