//! The nodes of the list of a job.

use super::waiting::WaitingPlace;
use crate::summarise::apportion::apportion;

/// Nodes, each once, with their parts of the job's cores.
#[derive(Default)]
pub(crate) struct ListedPlaces {
    pub(crate) places: Vec<WaitingPlace>,
    parts: Vec<i64>,
    part_n: i64,
}

impl ListedPlaces {
    /// Adds a node with so many parts.
    pub(crate) fn push(&mut self, place: WaitingPlace, part_n: i64) {
        self.places.push(place);
        self.parts.push(part_n);
        self.part_n += part_n;
    }

    /// Every node with its parts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&WaitingPlace, i64)> {
        self.places.iter().zip(self.parts.iter().copied())
    }

    /// Whole cores of a node of so many parts, of a job of so many cores.
    pub(crate) fn whole_cores(&self, part_n: i64, core_n: i64) -> i64 {
        core_n * part_n / self.part_n.max(1)
    }

    /// The cores of a job on each of its nodes, all of them; `None` where every node has the same part.
    pub(crate) fn cores(&self, core_n: i64) -> Option<Vec<i64>> {
        let first = self.parts.first()?;
        if self.parts.iter().all(|part_n| part_n == first) {
            return None;
        }
        let mut cores = Vec::new();
        apportion(core_n, &self.parts, &mut cores);
        Some(cores)
    }
}
