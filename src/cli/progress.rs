//! Progress for people: a bar on a terminal, a plain line every few seconds in a log.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use crate::runtime::Progress;

/// How often a log hears of long work.
const LOG_EVERY: Duration = Duration::from_secs(5);

/// Progress on stderr.
#[derive(Debug)]
pub struct Terminal {
    is_terminal: bool,
    state: Mutex<Option<Phase>>,
}

#[derive(Debug)]
struct Phase {
    name: String,
    unit: String,
    total: u64,
    done: u64,
    told: Instant,
    bar: ProgressBar,
}

impl Terminal {
    /// Looks at stderr to decide between bar and lines.
    #[must_use]
    pub fn new() -> Self {
        Self {
            is_terminal: stderr().is_terminal(),
            state: Mutex::new(None),
        }
    }

    fn with(&self, act: impl FnOnce(&mut Option<Phase>)) {
        // A panic elsewhere leaves nothing here that could mislead.
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
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
                told: Instant::now(),
                bar: if self.is_terminal {
                    bar(phase, total, unit)
                } else {
                    ProgressBar::hidden()
                },
            });
        });
    }

    fn add(&self, n: u64) {
        self.with(|state| {
            let Some(phase) = state else { return };
            phase.done = phase.done.saturating_add(n);
            phase.bar.inc(n);
            if !self.is_terminal && phase.told.elapsed() >= LOG_EVERY {
                phase.told = Instant::now();
                output::people(&phase.line());
            }
        });
    }

    fn note(&self, line: &str) {
        self.with(|state| match state {
            Some(phase) => phase.bar.suspend(|| output::people(line)),
            None => output::people(line),
        });
    }

    fn end(&self) {
        self.with(|state| {
            if let Some(phase) = state.take() {
                phase.bar.finish_and_clear();
            }
        });
    }
}
