//! Words of `gridtally simulate` for values of the simulator, each with its meaning.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::fairshare::priority::FavoredSize;
use crate::simulate::settings::{Backfill, BaseOrder, Estimate, EventOrder};
use crate::simulate::trace::SwfRules;
use crate::simulate::window::decide::Tradeoff;
use crate::simulate::workload::Workload;

/// By which means windows are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SolverWord {
    Exact,
    Genetic,
    Auto,
}

/// Words of the command line for values of the simulator, each with its meaning.
macro_rules! words {
    ($($type:ty { $($value:path => $word:literal, $help:literal;)* })*) => {$(
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$($value),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $($value => PossibleValue::new($word).help($help),)*
                })
            }
        }
    )*};
}

words! {
    BaseOrder {
        BaseOrder::Fcfs => "fcfs", "First come, first served";
        BaseOrder::Wfp => "wfp", "By the utility of ALCF: (queued / limit)^3 times nodes, the highest first";
        BaseOrder::Multifactor => "multifactor", "By the priority of Slurm: age, fairshare, size, partition, QOS and association by weight";
    }
    FavoredSize {
        FavoredSize::Large => "large", "Large ones";
        FavoredSize::Small => "small", "Small ones";
    }
    Backfill {
        Backfill::None => "none", "None";
        Backfill::Easy => "easy", "Those that do not delay the first waiting job";
        Backfill::Conservative => "conservative", "Those that do not delay any waiting job";
    }
    Estimate {
        Estimate::Requested => "requested", "Its time limit";
        Estimate::Actual => "actual", "How long it will run, as no scheduler knows";
        Estimate::CqsimMixed => "cqsim-mixed", "How long it will run when it is considered for backfilling, its limit once it runs, as in CQSim";
    }
    EventOrder {
        EventOrder::Batched => "batched", "All ends of a second, then all submissions, then one pass";
        EventOrder::Cqsim => "cqsim", "A pass after each event, ends first, as in CQSim";
        EventOrder::Pyss => "pyss", "A pass after each event, submissions first, as in PySS";
    }
    SwfRules {
        SwfRules::Standard => "standard", "Requested processors, else allocated ones; lines without a run are left out";
        SwfRules::Pyss => "pyss", "Allocated processors; lines without a run take a second on one, as in PySS";
        SwfRules::Cqsim => "cqsim", "Requested processors only, as in CQSim";
    }
    SolverWord {
        SolverWord::Exact => "exact", "All sets, depth first or by sums; what is too large for both genetically, counted";
        SolverWord::Genetic => "ga", "The genetic algorithm of the paper";
        SolverWord::Auto => "auto", "Exactly within --budget steps a window; else the best of what was found and of the genetic algorithm, counted";
    }
    Tradeoff {
        Tradeoff::Paper => "paper", "When the gain is more than twice the loss";
        Tradeoff::Cqsim => "cqsim", "As the authors' code: a rise by more than 30 %, less than 10 points of nodes lost";
    }
    Workload {
        Workload::S1 => "s1", "Half of the jobs request more than 5 TB of burst buffer";
        Workload::S2 => "s2", "Three quarters request more than 5 TB";
        Workload::S3 => "s3", "Half request more than 20 TB";
        Workload::S4 => "s4", "Three quarters request more than 20 TB";
        Workload::S5 => "s5", "As s2, and 80 % of the jobs request up to 128 GB of local storage, 20 % more";
        Workload::S6 => "s6", "As s2, and half of the jobs request up to 128 GB, half more";
        Workload::S7 => "s7", "As s2, and 20 % of the jobs request up to 128 GB, 80 % more";
    }
}
