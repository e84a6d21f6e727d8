//! Progress for people: a bar on a terminal, an event every few seconds in a log.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use tracing::info;

use crate::numbers::Extent;
use crate::runtime::Progress;

/// How often a log hears of long work.
const LOG_EVERY: Duration = Duration::from_secs(5);

/// What is shown of progress, unless a command sets another way.
static SHOWN: Mutex<ProgressShown> = Mutex::new(ProgressShown::Bars);

/// The bar on the terminal at the moment.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// What is shown of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgressShown {
    /// A bar on a terminal, events where stderr is not a terminal.
    Bars,
    /// Events.
    Events,
    /// Nothing.
    Nothing,
}

/// Sets what is shown of progress from now on.
pub(super) fn show(shown: ProgressShown) {
    *held(&SHOWN) = shown;
}

/// Writes to stderr above the bar.
pub(super) fn above_bar(write: impl FnOnce()) {
    let bar = held(&BAR).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// A panic elsewhere leaves nothing in these that could mislead.
fn held<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Progress on stderr.
#[derive(Debug)]
pub struct Terminal {
    shown: ProgressShown,
    state: Mutex<Option<Phase>>,
}

#[derive(Debug)]
struct Phase {
    name: String,
    unit: String,
    total: u64,
    done: u64,
    reported: Instant,
    bar: ProgressBar,
}

impl Terminal {
    /// Looks at stderr to decide between bar and lines.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shown: match *held(&SHOWN) {
                ProgressShown::Bars if !stderr().is_terminal() => ProgressShown::Events,
                shown => shown,
            },
            state: Mutex::new(None),
        }
    }

    fn with(&self, act: impl FnOnce(&mut Option<Phase>)) {
        act(&mut held(&self.state));
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Phase {
    fn line(&self) -> String {
        let Self {
            name,
            unit,
            total,
            done,
            ..
        } = self;
        if *total > 0 {
            let percent = u128::from(*done) * 100 / u128::from(*total);
            format!("{name}: {done} of {total} {unit} ({percent} %)")
        } else {
            format!("{name}: {done} {unit}")
        }
    }
}

fn bar(phase: &str, total: u64, unit: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let (bar, template) = match (total, unit) {
        (0, _) => (
            ProgressBar::no_length(),
            "{prefix} {spinner} {human_pos} {msg} {elapsed}",
        ),
        (_, "bytes") => (
            ProgressBar::new(total),
            "{prefix} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        ),
        _ => (
            ProgressBar::new(total),
            "{prefix} [{bar:30}] {human_pos}/{human_len} {msg} {eta}",
        ),
    };
    bar.set_draw_target(target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(phase.to_owned());
    bar.set_message(unit.to_owned());
    bar
}

impl Progress for Terminal {
    fn begin(&self, phase: &str, total: u64, unit: &str) {
        self.with(|state| {
            *state = Some(Phase {
                name: phase.to_owned(),
                unit: unit.to_owned(),
                total,
                done: 0,
                reported: Instant::now(),
                bar: if self.shown == ProgressShown::Bars {
                    let bar = bar(phase, total, unit);
                    *held(&BAR) = Some(bar.clone());
                    bar
                } else {
                    ProgressBar::hidden()
                },
            });
        });
    }

    fn add(&self, n: u64) {
        self.with(|state| {
            let Some(phase) = state else { return };
            phase.done = phase.done.further(n);
            phase.bar.inc(n);
            if self.shown == ProgressShown::Events && phase.reported.elapsed() >= LOG_EVERY {
                phase.reported = Instant::now();
                info!(
                    phase = phase.name,
                    done = phase.done,
                    total = phase.total,
                    unit = phase.unit,
                    "{}",
                    phase.line()
                );
            }
        });
    }

    fn end(&self) {
        self.with(|state| {
            if let Some(phase) = state.take() {
                phase.bar.finish_and_clear();
                held(&BAR).take();
            }
        });
    }
}
