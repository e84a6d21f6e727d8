//! Options of `gridtally simulate` for the windows that methods choose from.

use super::simulate_words::SolverWord;
use crate::error::{Error, Kind, Result};
use crate::simulate::window::decide::Tradeoff;
use crate::simulate::window::genetic::GeneticSettings;
use crate::simulate::window::method::Method;
use crate::simulate::window::solve::{SolverChoice, StepBudget};
use crate::simulate::window::{StarvationBound, WindowSettings};

/// Most jobs of the window, where nothing else is stated.
const WINDOW: usize = 20;
/// How many passes a job may be passed over in, where nothing else is stated.
const BOUND: StarvationBound = StarvationBound::Passes(50);

/// Options of windows.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WindowArgs {
    /// Most jobs of the window.
    #[arg(long, value_name = "JOBS", default_value_t = WINDOW)]
    window: usize,

    /// How long a job may be in the window without being chosen: passes (`50`), seconds (`3600s`) or `none`.
    #[arg(long, value_name = "BOUND", default_value = "50", value_parser = bound)]
    bound: StarvationBound,

    /// By which means windows are solved.
    #[arg(long, value_name = "SOLVER", default_value = "exact")]
    solver: SolverWord,

    /// Most steps of --solver auto for one window: branches of the search, or words of the table of sums. Work, not time, so that
    /// every machine finds the same schedule.
    #[arg(long, value_name = "STEPS", default_value_t = StepBudget::default().0)]
    budget: u64,

    /// When bbsched gives up nodes for burst buffer.
    #[arg(long, value_name = "RULE", default_value = "paper")]
    pub(super) decision: Tradeoff,
}

impl WindowArgs {
    /// The windows of methods that have one.
    pub(super) fn settings(&self, seed: u64) -> WindowSettings {
        WindowSettings {
            size: self.window,
            bound: self.bound,
            solver: match self.solver {
                SolverWord::Exact => SolverChoice::Exact,
                SolverWord::Genetic => SolverChoice::Genetic,
                SolverWord::Auto => SolverChoice::Auto(StepBudget(self.budget)),
            },
            genetic: GeneticSettings {
                seed,
                ..GeneticSettings::default()
            },
            ..WindowSettings::default()
        }
    }

    /// Refuses what the methods have no use for.
    ///
    /// # Errors
    /// [`Kind::Usage`].
    pub(super) fn refuse_unused(&self, methods: &[Method]) -> Result<()> {
        let has_window = methods.iter().any(|method| *method != Method::Baseline);
        let stated = [
            ("--window", self.window != WINDOW),
            ("--bound", self.bound != BOUND),
            ("--solver", self.solver != SolverWord::Exact),
            ("--budget", self.budget != StepBudget::default().0),
            ("--decision", self.decision != Tradeoff::Paper),
        ];
        let unused = stated.iter().find(|(_, is_stated)| *is_stated && !has_window);
        let why = match unused {
            Some((option, _)) => format!("{option} is of methods that choose from a window: name one by --methods"),
            None if self.budget != StepBudget::default().0 && self.solver != SolverWord::Auto => {
                "--budget is of --solver auto".to_owned()
            }
            None if self.decision != Tradeoff::Paper && !methods.contains(&Method::Bbsched) => {
                "--decision is of the method bbsched: name it by --methods".to_owned()
            }
            None => return Ok(()),
        };
        Err(Error::new(Kind::Usage, why))
    }
}

/// Refuses a seed that nothing depends on.
///
/// # Errors
/// [`Kind::Usage`].
pub(super) fn refuse_seed(methods: &[Method]) -> Result<()> {
    if methods.iter().any(|method| *method != Method::Baseline) {
        return Ok(());
    }
    let why = "--seed is of drawn requests and of methods that choose from a window: name a --workload or --methods";
    Err(Error::new(Kind::Usage, why))
}

fn bound(text: &str) -> Result<StarvationBound, String> {
    if text == "none" {
        return Ok(StarvationBound::None);
    }
    let bound = match text.strip_suffix('s') {
        Some(seconds) => seconds.parse().ok().filter(|n| *n >= 0).map(StarvationBound::Seconds),
        None => text.parse().ok().map(StarvationBound::Passes),
    };
    bound.ok_or_else(|| "not a number of passes such as 50, of seconds such as 3600s, or none".to_owned())
}
