//! The paper's genetic algorithm: a population of sets, of which those that no other dominates live on, and then the young.

use super::problem::{JobSet, Objectives, Solution, WindowProblem};
use crate::simulate::rng::Rng;

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneticSettings {
    /// Generations.
    pub generation_n: u32,
    /// Sets of a generation.
    pub population_n: usize,
    /// Of a million genes of children so many are flipped.
    pub mutation_per_million: u32,
    /// What the random numbers depend on, together with the pass.
    pub seed: u64,
}

impl Default for GeneticSettings {
    /// As in the paper: 500 generations of 20, 0.05 % mutations.
    fn default() -> Self {
        Self {
            generation_n: 500,
            population_n: 20,
            mutation_per_million: 500,
            seed: 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Chromosome {
    set: JobSet,
    worth: Objectives,
    age: u32,
}

/// The sets of the last generation that none of it dominates, each once; nearest the front of the window first.
#[must_use]
pub fn solve(problem: &WindowProblem, settings: &GeneticSettings, stream: u64) -> Vec<Solution> {
    let mut rng = Rng::of(settings.seed, stream);
    let mut evolution = Evolution {
        problem,
        settings,
        rng: &mut rng,
    };
    let mut population = evolution.first_generation();
    for _ in 0..settings.generation_n {
        let children = evolution.children(&population);
        population.extend(children);
        population = survivors(population, settings.population_n);
    }
    let mut found: Vec<Solution> = Vec::new();
    for one in non_dominated(&population).0 {
        if found.iter().all(|other| other.set != one.set) {
            found.push(Solution {
                set: one.set,
                worth: one.worth,
            });
        }
    }
    found.sort_by_key(|solution| std::cmp::Reverse(solution.set.bits().reverse_bits()));
    found
}

struct Evolution<'a> {
    problem: &'a WindowProblem,
    settings: &'a GeneticSettings,
    rng: &'a mut Rng,
}

impl Evolution<'_> {
    fn first_generation(&mut self) -> Vec<Chromosome> {
        let gene_n = self.problem.jobs.len();
        let all = JobSet::first(gene_n).bits();
        let mut generation = Vec::with_capacity(self.settings.population_n);
        for _ in 0..self.settings.population_n {
            let set = JobSet::of_bits(self.rng.number() & all);
            generation.push(self.repaired(set));
        }
        generation
    }

    /// As many children as parents: pairs of random parents swap their genes from a random place on.
    fn children(&mut self, parents: &[Chromosome]) -> Vec<Chromosome> {
        let gene_n = self.problem.jobs.len();
        let mut children = Vec::with_capacity(parents.len() + 1);
        while children.len() < self.settings.population_n {
            let pair = [self.rng.index(parents.len()), self.rng.index(parents.len())];
            let [Some(one), Some(other)] = pair.map(|at| parents.get(at)) else {
                return children;
            };
            let front = JobSet::first(1 + self.rng.index(gene_n.max(2) - 1)).bits();
            let (one, other) = (one.set.bits(), other.set.bits());
            for genes in [one & front | other & !front, other & front | one & !front] {
                if children.len() < self.settings.population_n {
                    let mutated = self.mutated(JobSet::of_bits(genes));
                    children.push(self.repaired(mutated));
                }
            }
        }
        children
    }

    fn mutated(&mut self, set: JobSet) -> JobSet {
        (0..self.problem.jobs.len()).fold(set, |set, slot| {
            match self.rng.happens(self.settings.mutation_per_million) {
                false => set,
                true if set.has(slot) => set.without(slot),
                true => set.with(slot),
            }
        })
    }

    /// The set, without random jobs of it until it fits.
    fn repaired(&mut self, mut set: JobSet) -> Chromosome {
        let mut demand = self.problem.demand(set);
        while !demand.fits_in(&self.problem.free) {
            let slot_n = set.slots().count();
            let Some(slot) = set.slots().nth(self.rng.index(slot_n)) else {
                break;
            };
            if let Some(job) = self.problem.jobs.get(slot) {
                demand.take(&job.need);
            }
            set = set.without(slot);
        }
        Chromosome {
            set,
            worth: self.problem.worth(set),
            age: 0,
        }
    }
}

/// Those that none of the others dominates, and the rest; both in order.
fn non_dominated(pool: &[Chromosome]) -> (Vec<Chromosome>, Vec<Chromosome>) {
    let is_dominated = |one: &Chromosome| pool.iter().any(|other| other.worth.dominates(&one.worth));
    pool.iter().partition(|one| !is_dominated(one))
}

/// The next generation: the non-dominated, filled with the youngest of the rest, or the youngest non-dominated. A set is in
/// it once.
fn survivors(mut pool: Vec<Chromosome>, population_n: usize) -> Vec<Chromosome> {
    // Children come last; of equal sets the youngest stays.
    pool.sort_by_key(|one| one.age);
    let mut distinct: Vec<Chromosome> = Vec::with_capacity(pool.len());
    let mut repeated = Vec::new();
    for one in pool {
        let is_known = distinct.iter().any(|other| other.set == one.set);
        if is_known { &mut repeated } else { &mut distinct }.push(one);
    }
    let (mut next, rest) = non_dominated(&distinct);
    next.sort_by_key(|one| one.age);
    // Repeated sets only fill what would be missing.
    next.extend(rest.into_iter().chain(repeated));
    next.truncate(population_n);
    for one in &mut next {
        one.age += 1;
    }
    next
}
