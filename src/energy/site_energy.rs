//! The tables of one site, asked job by job.

use std::sync::Arc;

use ahash::RandomState;
use hashbrown::HashTable;

use super::energy_plan::EnergyPlan;
use super::job_energy::JobEnergy;
use super::job_load::{JobLoad, RunSpan};
use super::meter_users::{MeterUsers, MeterUses};
use super::node_part::NodePart;
use super::site_means::SiteMeans;
use crate::error::Result;
use crate::reference::benchmark::AskedSpan;
use crate::reference::energy::Course;
use crate::reference::energy::node_rows::NodePlace;
use crate::reference::job_hosts::job_hosts;

/// Answers that are kept. Nodes make nearly every job of many nodes a place of its own.
const KEPT: usize = 8192;
/// Ten-thousandths of one.
const ONE_E4: i128 = 10_000;
/// Ten-thousandths of a PUE times ten-thousandths of g/kWh times joules, of a mg: 10^8 x 3 600 000 J/kWh / 1000 mg/g.
const UNITS_PER_MG: i128 = 100_000_000 * 3_600_000 / 1000;

/// The nodes of a place for some time.
struct Answer {
    season: usize,
    words: [Option<String>; 3],
    nodes: Arc<[NodePart]>,
}

impl Answer {
    fn is_of(&self, season: usize, words: &[Option<&str>; 3]) -> bool {
        self.season == season && self.words.each_ref().map(Option::as_deref) == *words
    }
}

/// What is known of energy and carbon at one site.
pub struct SiteEnergy<'a> {
    plan: &'a EnergyPlan,
    site: &'a str,
    pue: Course,
    intensity: Course,
    /// PUE times intensity.
    carbon: Course,
    boundaries: Vec<i64>,
    names_nodes: bool,
    answers: Vec<Answer>,
    kept: HashTable<usize>,
    hasher: RandomState,
    last: usize,
    asked: Option<AskedSpan>,
    /// Nodes whose meters the job that was asked last used, as the table names them.
    metered: Vec<&'a str>,
    users: MeterUsers<'a>,
}

impl<'a> SiteEnergy<'a> {
    /// For one site.
    #[must_use]
    pub fn new(plan: &'a EnergyPlan, site: &'a str) -> Self {
        let pue = Course::new(plan.pue.of(site));
        let intensity = Course::new(plan.intensity.of(site));
        let carbon = pue.times(&intensity);
        Self {
            plan,
            site,
            pue,
            intensity,
            carbon,
            boundaries: plan.nodes.boundaries(site),
            names_nodes: plan.nodes.names_nodes(site),
            answers: Vec::new(),
            kept: HashTable::new(),
            hasher: RandomState::with_seeds(1, 2, 3, 4),
            last: 0,
            asked: None,
            metered: Vec::new(),
            users: MeterUsers::new(),
        }
    }

    /// Between which instants the tables were asked; `None` when they were not.
    #[must_use]
    pub fn asked(&self) -> Option<AskedSpan> {
        self.asked
    }

    /// Whether the nodes of a job make a difference, so that they have to be looked up.
    #[must_use]
    pub fn needs_node_lists(&self) -> bool {
        self.names_nodes || !self.plan.meters.is_empty()
    }

    /// The energy of a job.
    pub fn job(&mut self, load: &JobLoad<'_>, run: RunSpan) -> JobEnergy {
        let asked = AskedSpan::at(load.place.at_ms).with(run.from_ms).with(run.until_ms);
        self.asked = Some(
            self.asked
                .map_or(asked, |former| former.with(asked.first_ms).with(asked.last_ms)),
        );
        let shared = self.plan.settings.shared;
        let nodes = self.nodes(&load.place);
        let metered_uj = match load.stated_j {
            None => self.metered_uj(&load.place, run),
            Some(_) => None,
        };
        JobEnergy::of(&JobLoad { metered_uj, ..*load }, nodes, shared)
    }

    /// Notes that the job that was asked last, of a view, counts by the meters of its nodes.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when what does not fit memory cannot be put away.
    pub fn note_meters(&mut self, view: Option<&str>, cluster: Option<&str>, run: RunSpan) -> Result<()> {
        (self.metered.iter()).try_for_each(|node| self.users.add(node, view, cluster, run))
    }

    /// Who used the meters of nodes, of all jobs that were noted.
    ///
    /// # Errors
    /// As [`Self::note_meters`].
    pub fn into_meter_uses(self) -> Result<MeterUses> {
        self.users.finish()
    }

    /// What the meters of the nodes of a place counted in a span, microjoules; `None` unless all did for all of it.
    fn metered_uj(&mut self, place: &NodePlace<'_>, run: RunSpan) -> Option<i128> {
        self.metered.clear();
        if self.plan.meters.is_empty() {
            return None;
        }
        let hosts = job_hosts(place.node_list?);
        let mut sum = (!hosts.is_empty()).then_some(0_i128);
        for host in &hosts {
            let meter = self.plan.meters.meter_of(self.site, &host.name);
            let of_node = meter.and_then(|meter| meter.readings.energy_uj(run.from_ms, run.until_ms));
            self.metered.extend(meter.map(|meter| meter.node));
            sum = sum.zip(of_node).and_then(|(sum, of_node)| sum.checked_add(of_node));
        }
        sum
    }

    /// The means of PUE and intensity over a span.
    #[must_use]
    pub fn means(&self, run: RunSpan) -> SiteMeans {
        let of = |course: &Course| course.mean(run.from_ms, run.until_ms);
        SiteMeans {
            pue: of(&self.pue),
            intensity: of(&self.intensity),
            carbon: of(&self.carbon),
        }
    }

    /// Energy of the site (joules) for so much of its nodes in a span; `None` where a PUE is unknown.
    #[must_use]
    pub fn pue_j(&self, energy_j: i64, run: RunSpan) -> Option<i64> {
        self.pue.mean(run.from_ms, run.until_ms)?.of(energy_j, ONE_E4)
    }

    /// CO2 equivalent (mg) of the electricity for so much energy of nodes in a span; `None` where a PUE or an intensity is unknown.
    #[must_use]
    pub fn operational_mg(&self, energy_j: i64, run: RunSpan) -> Option<i64> {
        self.carbon.mean(run.from_ms, run.until_ms)?.of(energy_j, UNITS_PER_MG)
    }

    /// The rows of the nodes of a place.
    fn nodes(&mut self, place: &NodePlace<'_>) -> Arc<[NodePart]> {
        if self.plan.nodes.is_empty() {
            return Arc::default();
        }
        let season = self.boundaries.partition_point(|edge| *edge <= place.at_ms);
        let node_list = place.node_list.filter(|_| self.names_nodes);
        let words = [place.cluster, place.partition, node_list];
        let is_last = (self.answers.get(self.last)).is_some_and(|answer| answer.is_of(season, &words));
        if !is_last {
            let hash = self.hasher.hash_one((season, words));
            let answers = &self.answers;
            let is_same = |at: &usize| answers.get(*at).is_some_and(|answer| answer.is_of(season, &words));
            self.last = match self.kept.find(hash, is_same).copied() {
                Some(at) => at,
                None => self.look_up(place, season, words, hash),
            };
        }
        self.answers
            .get(self.last)
            .map_or_else(Arc::default, |answer| Arc::clone(&answer.nodes))
    }

    fn look_up(&mut self, place: &NodePlace<'_>, season: usize, words: [Option<&str>; 3], hash: u64) -> usize {
        if self.answers.len() >= KEPT {
            self.answers.clear();
            self.kept.clear();
        }
        let place = NodePlace {
            site: self.site,
            ..*place
        };
        let rows = self.plan.nodes.rows_of(&place).into_iter();
        let nodes = rows.map(|of| NodePart {
            row: of.row.clone(),
            node_n: of.node_n,
        });
        let at = self.answers.len();
        self.answers.push(Answer {
            season,
            words: words.map(|word| word.map(str::to_owned)),
            nodes: nodes.collect(),
        });
        let (answers, hasher) = (&self.answers, &self.hasher);
        self.kept.insert_unique(hash, at, |at| {
            answers.get(*at).map_or(0, |answer| {
                hasher.hash_one((answer.season, answer.words.each_ref().map(Option::as_deref)))
            })
        });
        at
    }
}
