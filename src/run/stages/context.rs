//! What all stages of a run share: the plan, the options, the means of the machine, and what is reported meanwhile.

use tracing::debug;

use crate::config::Plan;
use crate::dedupe::Window;
use crate::dedupe::spill::MEMORY_BUDGET;
use crate::run::options::RunOptions;
use crate::run::run_report::RunReport;
use crate::runtime::clock::Stopwatch;
use crate::runtime::progress::Progress;

/// What a run is asked to do, and with what means.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    pub(super) plan: &'a Plan,
    pub(super) options: &'a RunOptions,
    /// The months of records to take.
    pub(super) window: Window,
    /// Threads, at least one.
    pub(super) threads: usize,
    /// Bytes of records kept in memory before they go to a temporary file.
    pub(super) memory_byte_n: usize,
    /// Months of sites that are merged at the same time.
    pub(super) merged_at_once: usize,
    pub(super) progress: &'a dyn Progress,
}

impl<'a> RunContext<'a> {
    /// Threads and memory are what the options name, or what the machine has and suits it.
    pub(super) fn new(plan: &'a Plan, options: &'a RunOptions, progress: &'a dyn Progress) -> Self {
        // Fallback: where the machine does not state its threads, one is used.
        let available = || std::thread::available_parallelism().ok().map(Into::into);
        // A machine with an unknown number of threads gets one.
        let threads = options.threads.or_else(available).unwrap_or(1).max(1);
        Self {
            plan,
            options,
            window: Window {
                from: options.from,
                to: options.to,
            },
            threads,
            memory_byte_n: options.memory_byte_n.unwrap_or(MEMORY_BUDGET),
            // Each has a writer that takes a second thread where one has nothing to do.
            merged_at_once: options.merged_at_once.map_or(threads, |most| threads.min(most.get())),
            progress,
        }
    }
}

/// The report of a run, and the clock that measures its phases.
pub(super) struct RunMonitor<'a> {
    pub(super) report: &'a mut RunReport,
    pub(super) stopwatch: Stopwatch,
}

impl<'a> RunMonitor<'a> {
    /// Begins the first phase, by the clock of the run: that began before its pipeline file was read.
    pub(super) fn start(report: &'a mut RunReport) -> Self {
        Self {
            stopwatch: report.identity.clock.with_new_lap(),
            report,
        }
    }

    /// Notes how long the phase took that ends now.
    pub(super) fn end_phase(&mut self, name: &str) {
        let seconds = self.stopwatch.lap();
        debug!(phase = name, seconds, "phase ended");
        self.report.phases.insert(name.to_owned(), seconds);
    }
}
