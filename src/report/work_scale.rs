//! The benchmark in which a report counts work, and its name next to the numbers.

use super::apel::aggregate::{Aggregate, BenchmarkWork, Works};
use crate::reference::benchmark::Benchmark;

/// In which benchmark work is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WorkScale {
    /// `HEPscore23` where it is known, else HEPSPEC06, else SI00 divided by 250: they add up one to one, as WLCG decided.
    /// Named by the benchmarks that were found.
    #[default]
    Hs23,
    /// `HEPscore23` alone.
    Hs23Only,
    /// HEPSPEC06 alone; work of an unnamed benchmark is HEPSPEC06, as for APEL's server.
    Hs06,
}

/// Wall and CPU work of a group, in seconds of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkColumns {
    /// Wall time, not times cores.
    pub wall_s: i64,
    /// CPU time.
    pub cpu_s: i64,
    /// The benchmark: HEPscore23 or HEPSPEC06. SI00 and unnamed benchmarks count as HEPSPEC06.
    pub benchmark: Benchmark,
}

/// Of work in several benchmarks the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenWork {
    /// Its place in [`Works`].
    pub place: usize,
    /// The work.
    pub work: BenchmarkWork,
    /// The benchmark it counts as.
    pub benchmark: Benchmark,
}

impl WorkScale {
    /// Of work in several benchmarks the one that counts, in whole seconds.
    #[must_use]
    pub fn of_works(self, works: &Works) -> Option<WorkColumns> {
        self.chosen(works).map(|chosen| WorkColumns {
            wall_s: chosen.work.wall_s,
            cpu_s: chosen.work.cpu_s,
            benchmark: chosen.benchmark,
        })
    }

    /// Of work in several benchmarks the one that counts.
    #[must_use]
    pub fn chosen(self, works: &Works) -> Option<ChosenWork> {
        let of = |place: usize, benchmark: Benchmark| {
            let work = works.get(place).copied().flatten()?;
            Some(ChosenWork { place, work, benchmark })
        };
        let hs23 = of(Benchmark::Hs23.place(), Benchmark::Hs23);
        let hs06 = of(Benchmark::Hs06.place(), Benchmark::Hs06);
        let si00 = of(Benchmark::Si00.place(), Benchmark::Hs06);
        let unnamed = of(Benchmark::ALL.len(), Benchmark::Hs06);
        match self {
            Self::Hs23 => hs23.or(hs06).or(si00).or(unnamed),
            Self::Hs23Only => hs23,
            Self::Hs06 => hs06.or(unnamed),
        }
    }

    /// What the work of these groups is in.
    #[must_use]
    pub fn found_in(self, groups: &[Aggregate]) -> WorkBenchmarks {
        let found = groups.iter().filter_map(|group| self.chosen(&group.works));
        found.fold(WorkBenchmarks::default(), |all, work| all.and(work.benchmark))
    }

    /// The unit of hours of work of these groups, and the scale in a title.
    #[must_use]
    pub fn label(self, groups: &[Aggregate]) -> WorkLabel {
        let found = self.found_in(groups);
        match self {
            Self::Hs23 if found.hs23 && found.hs06 => WorkLabel {
                unit: "HS23-hours",
                title: "HEPscore23 (HS06 counts as it, one to one)",
            },
            Self::Hs23 if found.hs06 => WorkLabel {
                unit: "HS06-hours",
                title: "HEPSPEC06 (no HEPscore23 is known)",
            },
            Self::Hs23 => WorkLabel {
                unit: "HS23-hours",
                title: "HEPscore23",
            },
            Self::Hs23Only => WorkLabel {
                unit: "HS23-hours",
                title: "HEPscore23 alone",
            },
            Self::Hs06 => WorkLabel {
                unit: "HS06-hours",
                title: "HEPSPEC06 alone",
            },
        }
    }
}

/// How work is called in the head of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLabel {
    /// Unit of hours of work.
    pub unit: &'static str,
    /// The benchmark, with what counts as it.
    pub title: &'static str,
}

/// Benchmarks that work was found in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkBenchmarks {
    /// Some is in `HEPscore23`.
    pub hs23: bool,
    /// Some is in HEPSPEC06.
    pub hs06: bool,
}

impl WorkBenchmarks {
    /// With another one.
    #[must_use]
    pub fn and(self, benchmark: Benchmark) -> Self {
        Self {
            hs23: self.hs23 || benchmark == Benchmark::Hs23,
            hs06: self.hs06 || benchmark != Benchmark::Hs23,
        }
    }

    /// The word in a column that names the benchmark of a row: `hs23` where any work is in it; empty where there is none.
    #[must_use]
    pub fn word(self) -> &'static str {
        match (self.hs23, self.hs06) {
            (true, _) => "hs23",
            (false, true) => "hs06",
            (false, false) => "",
        }
    }
}
