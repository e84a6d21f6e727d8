//! Fair share: what a site's accounts are granted, what they used lately, and what priority follows.
//!
//! In come a tree of associations (account, user, partition) with their shares, and the usage of jobs as segments of a
//! constant rate. Out come decayed usage per association, the columns of `sshare` and a factor per user, the terms of a
//! job's priority as `sprio` has them, and when an association that stays idle has recovered. A pure computation: it
//! reads no file and knows no lake.
//!
//! What it promises:
//! * Usage is held as integers, 10^-6 billing seconds, rounded once per contribution of a job. A sum of them does not
//!   depend on the order of jobs, and the usage of an account is exactly the sum of its children.
//! * A contribution is a closed form. Its cost does not depend on how long a job ran or how long ago that was.
//! * Usage can be aged day by day ([`ChainedDecay`]) with the same result as from the jobs directly, up to the rounding
//!   of each step. The one mode for which that is impossible has no such type.
//! * Factors are `f64`, computed in the order of the tree from integers, with functions whose results do not depend on
//!   the machine (`libm`).
//! * What Slurm does is taken from its code and from real runs, not from its manual; where both differ the code is
//!   followed and the other rule is an option ([`TieRule`]).
//!
//! ```text
//! association  what one association is called and granted
//! tree         rows -> tree in the order of sshare, or every mistake in it
//! calculation_times  when a scheduler calculates priorities
//! daemon_runs  runs of a scheduler's daemon: their calculations, and what a killed one lost
//! decay        weights of past seconds: none, continuous, Slurm's steps, halving steps
//! reset        instants at which usage begins again at zero
//! usage        segments of jobs -> decayed usage, own and of subtrees
//! algorithm    tree + usage -> shares, usage, level fair share and factor per association
//! listed       the same as a scheduler lists it between its calculations
//! regime       a factor as a word
//! priority     weights and facts of a job -> its terms and its priority
//! standing     factors and places, and who gains and loses under another rule
//! recovery     when a factor is back at a threshold
//! shares       nodes and who owns them -> shares per account
//! drift        counters of a scheduler, computed usage and jobs -> why they differ
//! ```

pub mod algorithm;
pub mod association;
pub mod calculation_times;
mod classic;
pub mod daemon_runs;
pub mod decay;
mod decay_steps;
mod depth_oblivious;
pub mod drift;
mod fair_tree;
pub(crate) mod float;
mod level_shares;
pub mod listed;
pub mod priority;
pub mod recovery;
pub mod regime;
pub mod reset;
pub mod shares;
pub mod standing;
pub mod tree;
pub mod tree_problem;
pub mod two_term;
pub mod usage;

pub use algorithm::{AssociationScore, FairshareAlgorithm, FairshareMethod, LevelFairshare, TieRule};
pub use association::{AssociationKey, RawShares, TreeRow};
pub use calculation_times::CalculationTimes;
pub use daemon_runs::{DaemonRun, DaemonRuns, RunEnd};
pub use decay::{ChainedDecay, HalfLife, UsageDecay};
pub use decay_steps::DecaySteps;
pub use listed::ListedUsage;
pub use regime::FairshareRegime;
pub use reset::UsageReset;
pub use tree::{Association, AssociationId, AssociationTree, ParentlessAccounts};
pub use tree_problem::TreeProblem;
pub use usage::{TreeUsage, UsageRule, UsageSegment};
