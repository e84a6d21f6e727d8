//! Sums of energy and carbon as `usage` has them, each with the core time it is known of.

use arrow_array::{Int64Array, RecordBatch};

use crate::amounts::{add, add_known};
use crate::energy::EnergyClass;
use crate::error::Result;
use crate::schema::batch::{int, number};

/// A sum, and the core time it is known of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoveredSum {
    /// The sum; `None` while nothing is known.
    pub sum: Option<i128>,
    /// Core time, seconds.
    pub core_s: i128,
}

impl CoveredSum {
    fn plus(&mut self, more: &Self, name: &str) -> Result<()> {
        add_known(&mut self.sum, more.sum, name)?;
        add(&mut self.core_s, more.core_s, name)
    }
}

/// Energy and carbon of some usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergySums {
    /// Core time of all jobs, seconds.
    pub alloc_core_s: i128,
    /// Joules by class, in the order of [`EnergyClass::ALL`].
    pub classes: [CoveredSum; 4],
    /// Joules of jobs whose `HEPscore23` is known; with seconds of score in place of core time.
    pub worked: CoveredSum,
    /// Joules of the site.
    pub pue: CoveredSum,
    /// mg of CO2 equivalent of the electricity.
    pub operational: CoveredSum,
    /// mg of CO2 equivalent of the nodes.
    pub embodied: CoveredSum,
}

impl EnergySums {
    /// Adds other usage.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum is too large.
    pub fn plus(&mut self, more: &Self) -> Result<()> {
        add(&mut self.alloc_core_s, more.alloc_core_s, "alloc_core_s")?;
        for ((sum, part), class) in self.classes.iter_mut().zip(&more.classes).zip(EnergyClass::ALL) {
            sum.plus(part, class.as_str())?;
        }
        self.worked.plus(&more.worked, "energy_worked_j")?;
        self.pue.plus(&more.pue, "energy_pue_j")?;
        self.operational.plus(&more.operational, "operational_co2e_mg")?;
        self.embodied.plus(&more.embodied, "embodied_co2e_mg")
    }

    /// Energy of nodes, of any class.
    #[must_use]
    pub fn nodes(&self) -> CoveredSum {
        let known = self.classes.iter().filter_map(|class| class.sum);
        let has_any = self.classes.iter().any(|class| class.sum.is_some());
        CoveredSum {
            sum: has_any.then(|| known.sum()),
            core_s: self.classes.iter().map(|class| class.core_s).sum(),
        }
    }

    /// Energy of nodes of one class.
    #[must_use]
    pub fn of_class(&self, class: EnergyClass) -> CoveredSum {
        let [exclusive, apportioned, node_meter, modelled] = self.classes;
        match class {
            EnergyClass::Exclusive => exclusive,
            EnergyClass::Apportioned => apportioned,
            EnergyClass::NodeMeter => node_meter,
            EnergyClass::Modelled => modelled,
        }
    }
}

/// A sum in a batch of `usage`, and the core time it is known of.
struct CoveredColumn<'a> {
    sum: &'a Int64Array,
    core_s: &'a Int64Array,
}

impl<'a> CoveredColumn<'a> {
    fn of(batch: &'a RecordBatch, sum: &str, core_s: &str) -> Result<Self> {
        Ok(Self {
            sum: int(batch, sum)?,
            core_s: int(batch, core_s)?,
        })
    }

    fn get(&self, row: usize) -> CoveredSum {
        CoveredSum {
            sum: number(self.sum, row).map(i128::from),
            core_s: number(self.core_s, row).map_or(0, i128::from),
        }
    }
}

/// The columns of energy and carbon of a batch of `usage`.
pub(super) struct EnergyColumns<'a> {
    alloc_core_s: &'a Int64Array,
    classes: [CoveredColumn<'a>; 4],
    worked: CoveredColumn<'a>,
    pue: CoveredColumn<'a>,
    operational: CoveredColumn<'a>,
    embodied: CoveredColumn<'a>,
}

impl<'a> EnergyColumns<'a> {
    /// Looks them up.
    pub(super) fn of(batch: &'a RecordBatch) -> Result<Self> {
        let of = |sum: &str, core_s: &str| CoveredColumn::of(batch, sum, core_s);
        Ok(Self {
            alloc_core_s: int(batch, "alloc_core_s")?,
            classes: [
                of("energy_exclusive_j", "energy_exclusive_core_s")?,
                of("energy_apportioned_j", "energy_apportioned_core_s")?,
                of("energy_node_meter_j", "energy_node_meter_core_s")?,
                of("energy_modelled_j", "energy_modelled_core_s")?,
            ],
            worked: of("energy_worked_j", "energy_worked_hs23_s")?,
            pue: of("energy_pue_j", "energy_pue_core_s")?,
            operational: of("operational_co2e_mg", "operational_core_s")?,
            embodied: of("embodied_co2e_mg", "embodied_core_s")?,
        })
    }

    /// What a row has.
    pub(super) fn sums(&self, row: usize) -> EnergySums {
        EnergySums {
            alloc_core_s: i128::from(self.alloc_core_s.value(row)),
            classes: self.classes.each_ref().map(|class| class.get(row)),
            worked: self.worked.get(row),
            pue: self.pue.get(row),
            operational: self.operational.get(row),
            embodied: self.embodied.get(row),
        }
    }
}
