//! The lock of an output in an object store: an object that is there as long as somebody writes.
//!
//! It is made with a conditional write (`If-None-Match: *`), so of two runs one gets it. Its owner renews it every few
//! seconds with another (`If-Match`), so a killed owner is detected without comparing clocks: a lock that is not
//! renewed while [`LEASE`] passes has no owner any more and is taken over, by one run again. On the owner's own machine
//! a look at its process settles the question at once. An owner that was only stopped finds its lock gone before it
//! touches anything published, and ends.
//!
//! A store that ignores the conditions answers every such write with success, to two runs at once. It is found out when the lock
//! is taken: the same write once more must be refused.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use object_store::{Error as StoreError, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};
use serde::{Deserialize, Serialize};

use super::location::{Store, parse};
use super::lock_holder::LockHolder;
use super::machinery::LOCK;
use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;

/// How long a lock of an owner elsewhere must stay as it is before it counts as abandoned.
const LEASE: Duration = Duration::from_secs(20);

/// How often an owner renews its lock: often enough that one lost request does not lose the lock.
const RENEWAL: Duration = Duration::from_secs(4);

/// How often a lock is looked at while it is not known whether its owner lives.
const POLL: Duration = Duration::from_millis(500);

/// The locks this process holds, by token.
static HELD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The content of the lock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Claim {
    /// Differs in every run.
    token: String,
    /// The owner's process, for runs on its machine; see [`super::process`].
    process: Option<String>,
    /// Who that is, for people.
    #[serde(flatten)]
    holder: LockHolder,
    /// Makes every renewal another object, also to stores that name versions by their contents.
    renewals: u64,
}

/// A lock that is held. Dropped, it is given back.
pub(super) struct Lease {
    held: Arc<LeaseHeld>,
    stop: Option<Sender<()>>,
    heart: Option<JoinHandle<()>>,
    token: String,
}

struct LeaseHeld {
    store: Store,
    state: Mutex<LeaseState>,
}

struct LeaseState {
    claim: Claim,
    version: UpdateVersion,
    is_lost: bool,
}

impl Lease {
    /// Takes the lock; `None` where the store knows no conditional writes (`WebDAV`).
    ///
    /// # Errors
    /// `Busy` when another run holds it, which takes [`LEASE`] at most to find out; `Config` where the store ignores the conditions of
    /// conditional writes.
    pub(super) fn take(store: &Store) -> Result<Option<Self>> {
        let claim = Claim::new();
        let version = match put(store, &claim, PutMode::Create)? {
            Ok(version) => {
                if !refuses(store, &claim, PutMode::Create)? {
                    // What it would lock out is not locked out, and the next run shall find none.
                    store.delete(LOCK)?;
                    return Err(ignored(store, "If-None-Match"));
                }
                version
            }
            Err(StoreError::NotImplemented { .. }) => return Ok(None),
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => take_over(store, &claim)?,
            Err(why) => return Err(at(why)),
        };
        let token = claim.token.clone();
        HELD.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(token.clone());
        let held = Arc::new(LeaseHeld {
            store: store.clone(),
            state: Mutex::new(LeaseState {
                claim,
                version,
                is_lost: false,
            }),
        });
        let (stop, stopped) = channel();
        let mut lease = Self {
            held: Arc::clone(&held),
            stop: Some(stop),
            heart: None,
            token,
        };
        let heart = std::thread::Builder::new()
            .name("gridtally-lock".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                    // A request that fails is repeated; a lock that is lost is noticed by who relies on it.
                    drop(held.renew());
                }
            })?;
        lease.heart = Some(heart);
        Ok(Some(lease))
    }

    /// Makes sure that it is still held, for another while.
    ///
    /// # Errors
    /// `Busy` when another run has taken it over.
    pub(super) fn renew(&self) -> Result<()> {
        self.held.renew()
    }

    /// Releases it while its owner still runs.
    pub(super) fn releaser(&self) -> impl Fn() + Send + Sync + use<> {
        let held = Arc::clone(&self.held);
        move || held.give_back()
    }

    /// A word no other run uses.
    pub(super) fn token(&self) -> &str {
        &self.token
    }
}

impl LeaseHeld {
    /// What cannot be given back is taken over by the next run.
    fn give_back(&self) {
        if self.renew().is_ok() {
            drop(self.store.delete(LOCK));
        }
    }

    fn renew(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_lost {
            return Err(lost());
        }
        state.claim.renewals = state.claim.renewals.further(1);
        match put(&self.store, &state.claim, PutMode::Update(state.version.clone()))? {
            Ok(version) => state.version = version,
            Err(why) if is_refused(&why) => match read(&self.store)? {
                // Our own write, whose answer was lost on the way.
                Some((claim, version)) if claim.token == state.claim.token => state.version = version,
                _ => {
                    state.is_lost = true;
                    return Err(lost());
                }
            },
            Err(why) => return Err(at(why)),
        }
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(heart) = self.heart.take() {
            drop(heart.join());
        }
        self.held.give_back();
        HELD.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

impl Claim {
    fn new() -> Self {
        Self {
            token: random_token(),
            process: super::process::own(),
            holder: LockHolder::own(),
            renewals: 0,
        }
    }

    /// Whether its owner lives; `None` when that cannot be seen from here.
    fn is_alive(&self) -> Option<bool> {
        let process = self.process.as_deref()?;
        if super::process::own().as_deref() == Some(process) {
            let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            return Some(held.contains(&self.token));
        }
        super::process::is_alive(process)
    }
}

/// A unique word.
pub(super) fn random_token() -> String {
    // The standard library seeds these from the system's randomness.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// Who holds the lock of an output, as far as it can be seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// No owner, or only one that is gone.
    Nobody,
    /// Somebody does.
    Somebody,
    /// A lock is there, and not long enough was it looked at to know whether its owner lives.
    Unknown,
}

/// Polls a lock: one in an object store that is not renewed has no owner any more.
pub struct LockWatch<'a> {
    store: &'a Store,
    seen: Option<(UpdateVersion, Instant)>,
}

impl<'a> LockWatch<'a> {
    /// Nothing was looked at yet.
    #[must_use]
    pub fn new(store: &'a Store) -> Self {
        Self { store, seen: None }
    }

    /// Looks.
    ///
    /// # Errors
    /// [`Kind::Io`] when the lock cannot be looked at.
    pub fn look(&mut self) -> Result<Holder> {
        if self.store.local_root().is_some() || self.store.is_past() {
            let is_locked = self.store.is_locked()?;
            return Ok(if is_locked { Holder::Somebody } else { Holder::Nobody });
        }
        let Some((claim, version)) = read(self.store)? else {
            return Ok(Holder::Nobody);
        };
        match claim.is_alive() {
            Some(true) => return Ok(Holder::Somebody),
            Some(false) => return Ok(Holder::Nobody),
            None => {}
        }
        let (first, since) = self.seen.get_or_insert_with(|| (version.clone(), Instant::now()));
        if *first != version {
            self.seen = Some((version, Instant::now()));
            return Ok(Holder::Somebody);
        }
        Ok(if since.elapsed() < LEASE {
            Holder::Unknown
        } else {
            Holder::Nobody
        })
    }
}

/// Takes the place of an owner that is gone.
fn take_over(store: &Store, claim: &Claim) -> Result<UpdateVersion> {
    let busy = |theirs: &Claim| {
        Error::new(Kind::Busy, "another run or publication holds the output")
            .at("lock", format!("{}/{LOCK}", store.url()))
            .at("held by", theirs.holder.words())
    };
    let mut seen: Option<(UpdateVersion, Instant)> = None;
    loop {
        let mode = match read(store)? {
            // Given back this moment.
            None => PutMode::Create,
            // Our own write, whose answer was lost on the way.
            Some((theirs, version)) if theirs.token == claim.token => return Ok(version),
            Some((theirs, version)) => {
                let (first, since) = seen.get_or_insert_with(|| (version.clone(), Instant::now()));
                match theirs.is_alive() {
                    Some(true) => return Err(busy(&theirs)),
                    None if *first != version => return Err(busy(&theirs)),
                    None if since.elapsed() < LEASE => {
                        std::thread::sleep(POLL);
                        continue;
                    }
                    Some(false) | None => PutMode::Update(version),
                }
            }
        };
        let replaced = match &mode {
            PutMode::Update(former) => Some(former.clone()),
            PutMode::Create | PutMode::Overwrite => None,
        };
        return match put(store, claim, mode)? {
            Ok(version) => {
                if let Some(former) = replaced
                    && !refuses(store, claim, PutMode::Update(former))?
                {
                    return Err(ignored(store, "If-Match"));
                }
                Ok(version)
            }
            Err(why) if is_refused(&why) => match read(store)? {
                Some((now, version)) if now.token == claim.token => Ok(version),
                Some((now, _)) => Err(busy(&now)),
                None => Err(busy(&Claim::default())),
            },
            Err(why) => Err(at(why)),
        };
    }
}

fn put(store: &Store, claim: &Claim, mode: PutMode) -> Result<object_store::Result<UpdateVersion>> {
    let text = serde_json::to_vec(claim).map_err(|why| Error::internal("a lock cannot be written").because(why))?;
    let location = parse(LOCK)?;
    let written = store.wait(store.objects().put_opts(&location, text.into(), PutOptions::from(mode)));
    Ok(written.map(UpdateVersion::from))
}

/// Whether the store refuses a write of the lock whose condition does not hold.
fn refuses(store: &Store, claim: &Claim, mode: PutMode) -> Result<bool> {
    match put(store, claim, mode)? {
        Ok(_) => Ok(false),
        Err(why) if is_refused(&why) => Ok(true),
        Err(why) => Err(at(why)),
    }
}

fn read(store: &Store) -> Result<Option<(Claim, UpdateVersion)>> {
    let location = parse(LOCK)?;
    let read = store.wait(async {
        let found = store.objects().get(&location).await?;
        let version = UpdateVersion {
            e_tag: found.meta.e_tag.clone(),
            version: found.meta.version.clone(),
        };
        Ok((found.bytes().await?, version))
    });
    match read {
        // Fallback: an empty or damaged lock is still a lock, of an unknown holder.
        Ok((text, version)) => Ok(Some((serde_json::from_slice(&text).unwrap_or_default(), version))),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(why) => Err(at(why)),
    }
}

/// Whether the store reports that another writer was first.
fn is_refused(why: &StoreError) -> bool {
    matches!(
        why,
        StoreError::Precondition { .. } | StoreError::AlreadyExists { .. } | StoreError::NotFound { .. }
    )
}

fn at(why: StoreError) -> Error {
    Error::from(why).at("path", LOCK)
}

fn ignored(store: &Store, condition: &str) -> Error {
    let message = format!(
        "the object store ignores the condition of a write ({condition}), so that two runs at once would both hold the lake: nothing \
         was published, the lake is as before. Take a store that has conditional writes; or, where you see to it yourself that \
         one run or publication at a time writes there, set AWS_CONDITIONAL_PUT=disabled: no lock is taken then"
    );
    Error::config(message).at("store", store.url())
}

fn lost() -> Error {
    Error::new(
        Kind::Busy,
        "another run has taken the output over, because this one was still for too long",
    )
}
