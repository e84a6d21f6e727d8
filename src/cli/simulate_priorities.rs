//! Options of `gridtally simulate` for the priorities of jobs.

use std::path::PathBuf;

use super::report::fairshare_rule::FairshareRuleArgs;
use crate::config::fairshare_change::FairshareChange;
use crate::config::fairshare_spec::duration_s;
use crate::config::what_if_spec;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::FavoredSize;
use crate::simulate::settings::BaseOrder;
use crate::simulation::stated_priorities::StatedPriorities;

/// Options of the order of priorities.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PriorityArgs {
    /// A weight of the order multifactor: of age, association, fairshare, `job_size`, partition or qos; may be given again. A lake
    /// has the others from its listings of settings.
    #[arg(long, value_name = "TERM=WEIGHT", value_parser = weight)]
    weight: Vec<StatedWeight>,

    /// After how long a job does not age further (D-HH:MM:SS); that of the listings of a lake, else seven days.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    max_age: Option<u32>,

    /// Which jobs the weight of `job_size` favours.
    #[arg(long, value_name = "SIZE")]
    favored_size: Option<FavoredSize>,

    /// File of what is assumed.
    #[arg(long, value_name = "TOML")]
    what_if: Option<PathBuf>,

    #[command(flatten)]
    rule: FairshareRuleArgs,
}

/// A term of priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PriorityTerm {
    Age,
    Association,
    Fairshare,
    JobSize,
    Partition,
    Qos,
}

impl PriorityTerm {
    const WORDS: [(&'static str, Self); 6] = [
        ("age", Self::Age),
        ("association", Self::Association),
        ("fairshare", Self::Fairshare),
        ("job_size", Self::JobSize),
        ("partition", Self::Partition),
        ("qos", Self::Qos),
    ];
}

/// A weight of the command line.
#[derive(Clone, Copy, Debug)]
struct StatedWeight {
    term: PriorityTerm,
    weight: u32,
}

impl PriorityArgs {
    /// What is stated.
    ///
    /// # Errors
    /// [`Kind::Usage`] when jobs do not wait in the order of priorities; [`Kind::Config`] for mistakes of the file.
    pub(super) fn stated(&self, order: BaseOrder) -> Result<StatedPriorities> {
        let stated = self.read()?;
        if order != BaseOrder::Multifactor && (stated.is_any() || self.what_if.is_some()) {
            let why =
                "--weight, --max-age, --favored-size, --what-if and rules of fairshare are of --order multifactor";
            return Err(Error::new(Kind::Usage, why));
        }
        Ok(stated)
    }

    /// Refuses what a log has no use for.
    ///
    /// # Errors
    /// [`Kind::Usage`].
    pub(super) fn refuse_file(&self) -> Result<()> {
        if self.what_if.is_some() {
            let why = "--what-if changes the fairshare of a lake: state --weight, --half-life, --decay and --algorithm for a log";
            return Err(Error::new(Kind::Usage, why));
        }
        Ok(())
    }

    fn read(&self) -> Result<StatedPriorities> {
        let mut change = match &self.what_if {
            Some(file) => what_if_spec::load(file)?,
            None => FairshareChange::default(),
        };
        self.rule.add_to(&mut change);
        for stated in &self.weight {
            let weights = &mut change.weights;
            let weight = match stated.term {
                PriorityTerm::Age => &mut weights.age,
                PriorityTerm::Association => &mut weights.association,
                PriorityTerm::Fairshare => &mut change.priority_weight,
                PriorityTerm::JobSize => &mut weights.job_size,
                PriorityTerm::Partition => &mut weights.partition,
                PriorityTerm::Qos => &mut weights.qos,
            };
            *weight = Some(stated.weight);
        }
        Ok(StatedPriorities {
            change,
            max_age_s: self.max_age,
            favored_size: self.favored_size,
        })
    }
}

fn weight(text: &str) -> Result<StatedWeight, String> {
    let (name, weight) = text
        .split_once('=')
        .ok_or_else(|| "not a term and a weight, such as age=1000".to_owned())?;
    let term = PriorityTerm::WORDS.iter().find(|(word, _)| *word == name);
    let (_, term) = term.ok_or_else(|| {
        let words: Vec<&str> = PriorityTerm::WORDS.iter().map(|(word, _)| *word).collect();
        format!("the terms are {}", words.join(", "))
    })?;
    let weight = weight
        .parse()
        .map_err(|_| format!("{weight:?} is not a whole number"))?;
    Ok(StatedWeight { term: *term, weight })
}

fn duration(text: &str) -> Result<u32, String> {
    let seconds = duration_s(text).filter(|seconds| *seconds > 0);
    seconds.ok_or_else(|| "not a duration such as 7-00:00:00 (D-HH:MM:SS)".to_owned())
}
