//! Energy of a job as its source states it.

/// More than any node draws, watts: the densest nodes of eight GPUs draw less than a third of it. A job whose mean power
/// exceeds it on each of its nodes has a counter that wrapped, was reset, or belongs to another job.
const NODE_LIMIT_W: i128 = 50_000;

/// What the source's figure is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyReading {
    /// A figure that can be true.
    Measured,
    /// Zero, which batch systems print for a job that nothing measured.
    Zero,
    /// A stand-in for a figure that is not known, such as 2^64 - 2.
    NotSet,
    /// More than the nodes of the job can have drawn.
    Impossible,
    /// Text that is no amount of energy.
    Unreadable,
}

impl EnergyReading {
    /// The word stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Zero => "zero",
            Self::NotSet => "not_set",
            Self::Impossible => "impossible",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Energy of a job. A job's counters are those of its nodes: what else ran on them is in the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Energy {
    /// What the figure is worth.
    pub reading: EnergyReading,
    /// Joules; `None` unless the reading is [`EnergyReading::Measured`]. Never zero.
    pub energy_j: Option<i64>,
}

impl Energy {
    /// A figure from which no energy is known.
    #[must_use]
    pub fn unknown(reading: EnergyReading) -> Self {
        Self {
            reading,
            energy_j: None,
        }
    }

    /// Joules stated of a job that held so many nodes for so long (milliseconds). Where neither nodes nor time are known, only
    /// zero and what does not fit 63 bits are not taken for a measurement.
    #[must_use]
    pub fn stated(joule: u64, node_n: Option<i64>, held_ms: Option<i64>) -> Self {
        let Ok(energy_j) = i64::try_from(joule) else {
            return Self::unknown(EnergyReading::Impossible);
        };
        let most_j = node_n.zip(held_ms).map(|(node_n, held_ms)| {
            // A counter is read up to a minute late.
            let held_ms = i128::from(held_ms) + 60_000;
            i128::from(node_n.max(1)) * held_ms * NODE_LIMIT_W / 1000
        });
        if energy_j == 0 {
            Self::unknown(EnergyReading::Zero)
        } else if most_j.is_some_and(|most_j| i128::from(energy_j) > most_j) {
            Self::unknown(EnergyReading::Impossible)
        } else {
            Self {
                reading: EnergyReading::Measured,
                energy_j: Some(energy_j),
            }
        }
    }
}
