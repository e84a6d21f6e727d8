//! Energy and carbon of single jobs, by the rule of usage: for what explains or exports them.

use arrow_array::RecordBatch;

use super::rated_job::{CoreTime, EnergyColumns, EnergyRater};
use super::sums::MeasuredSums;
use super::view::RecordView;
use crate::energy::{ClassedEnergy, EnergyPlan, NodePart, OwnNodes, RunSpan, SiteMeans};
use crate::error::Result;
use crate::normalise::Scale;
use crate::schema::batch::{addend, number};

/// What is known of one job in all of its run.
#[derive(Clone, Debug)]
pub struct EnergyFigures {
    /// When it ran.
    pub run: RunSpan,
    /// Energy of its nodes for it, and what the figure is worth; `None` where it is unknown.
    pub energy: Option<ClassedEnergy>,
    /// The rows of its nodes.
    pub nodes: Vec<NodePart>,
    /// Why what was measured of its nodes is all its own; `None` where it is not, or nothing was measured.
    pub own_nodes: Option<OwnNodes>,
    /// What the tables of its site state while it ran.
    pub means: SiteMeans,
    /// Energy of the site for it, joules.
    pub energy_pue_j: Option<i64>,
    /// CO2 equivalent of the electricity, mg.
    pub operational_co2e_mg: Option<i64>,
    /// CO2 equivalent of its part of its nodes, mg.
    pub embodied_co2e_mg: Option<i64>,
}

/// Looks figures up for the jobs of one site.
pub struct EnergyFigureReader<'a>(EnergyRater<'a>);

impl<'a> EnergyFigureReader<'a> {
    /// By the tables of a lake.
    #[must_use]
    pub fn new(plan: &'a EnergyPlan, site: &'a str) -> Self {
        Self(EnergyRater::new(plan, site))
    }

    /// The figures of every row of a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub fn of(&mut self, batch: &RecordBatch) -> Result<Vec<EnergyFigures>> {
        let view = RecordView::new(batch)?;
        let columns = EnergyColumns::of(batch, &self.0)?;
        let figures = (0..batch.num_rows()).map(|row| {
            let job = self.0.rate(&view, &columns, row, &Scale::Missing);
            let core_n = addend(number(view.alloc_core_n, row));
            let time = CoreTime::new(view.wall_s.value(row), view.wall_fraction_ms.value(row), core_n);
            let mut sums = MeasuredSums::default();
            self.0.fill_whole(&job, time, &mut sums);
            EnergyFigures {
                run: job.run,
                energy: job.energy.energy,
                own_nodes: job.energy.own_nodes,
                nodes: job.energy.nodes.to_vec(),
                means: self.0.means(job.run),
                energy_pue_j: sums.energy_pue_j,
                operational_co2e_mg: sums.operational_co2e_mg,
                embodied_co2e_mg: sums.embodied_co2e_mg,
            }
        });
        Ok(figures.collect())
    }
}
