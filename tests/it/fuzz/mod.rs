//! Fuzzing of every reader, by mutation of the inputs the other tests know.
//!
//! One number decides everything about one execution: target, input, mutations, how the bytes arrive. A failure prints
//! the number and writes the input next to it. The test runs for a few seconds; `GRIDTALLY_FUZZ_SECONDS=3600` for an
//! hour, `GRIDTALLY_FUZZ_START=n` elsewhere than at 0, `GRIDTALLY_FUZZ_ONLY=apel` only the targets with that in their
//! name, and `GRIDTALLY_FUZZ_SEED=n` that execution alone. With the shared real data there (`GRIDTALLY_SHARED`), pieces
//! of it are among the inputs, and numbers mean other executions. An execution that kills the process (a stack that
//! overflows) is the number in `gridtally-fuzz-now` of the temporary folder. Given how long to run, it takes the process
//! to itself, as in `GRIDTALLY_FUZZ_SECONDS=3600 cargo test --test it fuzz_every_reader -- --nocapture`, and bounds
//! memory tightly.
//!
//! What every execution is held to: no panic; every row framed has one outcome; the same rows however the input is cut
//! into pieces; an end within a time limit; no more rows, and no more memory, than the input can account for.

mod dialects;
mod found;
mod hand;
mod listings;
mod memory;
mod mutate;
mod pool;
mod run;
mod stream;
mod target;
mod watch;
mod whole_runs;

use std::time::Duration;

/// Seconds the test runs unless configured otherwise.
const SECONDS: u64 = 4;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Whether this process does nothing else, so that its memory measures the reader.
fn is_alone() -> bool {
    number("GRIDTALLY_FUZZ_SECONDS")
        .or(number("GRIDTALLY_FUZZ_SEED"))
        .is_some()
}

#[test]
fn fuzz_every_reader() {
    let pool = pool::Pool::load();
    pool.check_complete();
    if let Some(seed) = number("GRIDTALLY_FUZZ_SEED") {
        let reported = run::one(&pool, seed);
        assert_eq!(reported, None, "execution {seed}");
        return;
    }
    let seconds = Duration::from_secs(number("GRIDTALLY_FUZZ_SECONDS").unwrap_or(SECONDS));
    let start = number("GRIDTALLY_FUZZ_START").unwrap_or(0);
    let findings = run::many(pool, start, seconds);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
