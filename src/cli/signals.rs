//! SIGINT and SIGTERM: the process ends within a second, where nothing is half done, and reports the state left behind.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libc::SIGXFSZ;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::error::{Error, Kind};
use crate::runtime::interruption;

/// Longest time to print the last words: a pipe without a reader may be full.
const PRINTING: Duration = Duration::from_millis(100);

/// What a command still does when a signal ends it: it gets the reason, and gives a line for stdout.
pub(super) type End = Box<dyn FnOnce(&Error) -> Option<String> + Send>;

static END: Mutex<Option<End>> = Mutex::new(None);

/// How long that may take.
static PATIENCE: Mutex<Duration> = Mutex::new(PRINTING);

/// From now on signals end the process in order. Those that were ignored when it began stay so, as `nohup` and the shell's
/// jobs in the background want it.
pub(super) fn watch() {
    // A write beyond the limit of the size of files fails then, and is reported as any other that fails.
    drop(flag::register(SIGXFSZ, Arc::default()));
    let wanted = [(SIGINT, Kind::Interrupted), (SIGTERM, Kind::Terminated)];
    let ignored = ignored();
    let wanted: Vec<_> = wanted
        .into_iter()
        .filter(|(signal, _)| ignored & (1 << (signal - 1)) == 0)
        .collect();
    let Ok(mut signals) = Signals::new(wanted.iter().map(|(signal, _)| signal)) else {
        // The system's own way of ending is still there, and a killed run is finished by the next one.
        return;
    };
    let watching = std::thread::Builder::new().name("gridtally-signals".to_owned());
    drop(watching.spawn(move || {
        let first = signals.forever().next();
        let kind = wanted.iter().find(|(signal, _)| Some(*signal) == first);
        if let Some((_, kind)) = kind {
            end(*kind);
        }
    }));
}

/// The signals that were ignored when the process began, as a mask; none on systems that do not list them.
fn ignored() -> u64 {
    // Fallback: systems without this file do not list what they ignore.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        // Fallback: a system that does not list ignored signals ignores none.
        .unwrap_or(0)
}

/// Has something done when a signal ends the process, in place of what was to be done before. It is cut off after a time.
pub(super) fn at_end(act: End, patience: Duration) {
    *PATIENCE.lock().unwrap_or_else(PoisonError::into_inner) = patience;
    *END.lock().unwrap_or_else(PoisonError::into_inner) = Some(act);
}

/// The command ends by itself.
pub(super) fn no_end() {
    END.lock().unwrap_or_else(PoisonError::into_inner).take();
}

fn end(kind: Kind) -> ! {
    let standing = interruption::end();
    let name = if kind == Kind::Interrupted { "SIGINT" } else { "SIGTERM" };
    let rest = if standing.is_tidy {
        ""
    } else {
        "; what was staged is cleared away by the next run"
    };
    let why = Error::new(kind, format!("ended by {name}: {}{rest}", standing.words));
    let (done, is_done) = channel();
    let printing = std::thread::Builder::new().spawn(move || {
        print(&why);
        // The receiver is gone when this took too long.
        let _ = done.send(());
    });
    let patience = *PATIENCE.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = printing.map(|_| is_done.recv_timeout(patience));
    std::process::exit(i32::from(kind.exit_code()))
}

/// Prints past output that is held back. A failure cannot be reported anywhere.
fn print(why: &Error) {
    let mut people = stderr();
    // A line of progress may precede it.
    let start = if people.is_terminal() { "\n" } else { "" };
    drop(writeln!(people, "{start}gridtally: {why}"));
    let act = END.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(line) = act.and_then(|act| act(why)) {
        let mut data = stdout();
        drop(writeln!(data, "{line}").and_then(|()| data.flush()));
    }
}
