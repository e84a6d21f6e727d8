//! Which benchmark values scale one job.

use ahash::RandomState;
use hashbrown::HashTable;

use super::plan::{MissingBenchmark, NormalisePlan};
use super::scale::{Scale, ScaleReference};
use crate::reference::benchmark::{
    AskedSpan, Benchmark, BenchmarkLevel, BenchmarkOrigin, BenchmarkPlace, Each, Factors, SiteBenchmarks,
};

/// Answers that are kept. Nodes make nearly every job of many nodes a place of its own.
const KEPT: usize = 8192;

/// The benchmark a record states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedBenchmark<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value per core, in thousandths.
    pub e3: i64,
}

/// Looks factors up for the jobs of one site. Jobs mostly share theirs, so answers are kept.
pub struct Normaliser<'a> {
    plan: &'a NormalisePlan,
    site: SiteBenchmarks<'a>,
    /// The step of the record's own value.
    at_record: Option<usize>,
    kept: HashTable<usize>,
    answers: Vec<Answer>,
    hasher: RandomState,
    last: usize,
    /// Earliest and latest instant that can be looked up.
    asked: Option<AskedSpan>,
}

/// What the table knows of one place for some time.
struct Answer {
    season: usize,
    words: [Option<String>; 4],
    /// Of the steps before the record's own value.
    before: Factors,
    /// Of the steps behind it.
    after: Factors,
}

fn words<'p>(place: &BenchmarkPlace<'p>) -> [Option<&'p str>; 4] {
    [place.cluster, place.submit_host, place.partition, place.node_list]
}

impl Answer {
    fn is_of(&self, season: usize, words: &[Option<&str>; 4]) -> bool {
        self.season == season && self.words.each_ref().map(Option::as_deref) == *words
    }
}

impl<'a> Normaliser<'a> {
    /// For one site.
    #[must_use]
    pub fn new(plan: &'a NormalisePlan, site: &'a str) -> Self {
        Self {
            plan,
            site: plan.table.site(site),
            at_record: plan.order.iter().position(|level| *level == BenchmarkLevel::Record),
            kept: HashTable::new(),
            answers: Vec::new(),
            hasher: RandomState::with_seeds(1, 2, 3, 4),
            last: 0,
            asked: None,
        }
    }

    /// The scale of all jobs that state no benchmark, where one holds for all of them.
    #[must_use]
    pub fn unstated(&self) -> Option<Scale> {
        self.plan.is_of_records_alone().then(|| self.missing())
    }

    /// The scale of a job of which nothing is known.
    fn missing(&self) -> Scale {
        match &self.plan.missing {
            MissingBenchmark::Null => Scale::Missing,
            MissingBenchmark::Reject => Scale::Rejected,
            MissingBenchmark::Fallback {
                benchmark,
                value_e4_per_core,
            } => Scale::Fallback(Factors::only(*benchmark, *value_e4_per_core, BenchmarkOrigin::Fallback)),
        }
    }

    /// For which instants the table was asked; `None` when it was not.
    #[must_use]
    pub fn asked(&self) -> Option<AskedSpan> {
        self.asked
    }

    /// The scale of a job that ran at `place` and ended at `at_ms`, by the steps of the pipeline's order; `stated` is
    /// the benchmark its record states. Each kind is looked for on its own: they are never
    /// converted into one another.
    pub fn scale(&mut self, place: BenchmarkPlace<'_>, at_ms: i64, stated: Option<StatedBenchmark<'_>>) -> Scale {
        let (before, after) = self.answer(place, at_ms);
        let stated = stated
            .filter(|stated| stated.e3 > 0 && self.at_record.is_some())
            .and_then(|stated| Some((Benchmark::parse(stated.name)?, stated.e3.checked_mul(10)?)));
        let stated = stated.map_or_else(Factors::default, |(kind, e4)| {
            Factors::only(kind, e4, BenchmarkOrigin::Record)
        });
        let factors = before.or(stated).or(after);
        if factors.is_empty() {
            self.missing()
        } else {
            Scale::Known(factors)
        }
    }

    /// The reference that times of a source arrive scaled to, for a job that ran at `place` and ended at `at_ms`.
    pub fn reference(&mut self, source: &str, place: BenchmarkPlace<'_>, at_ms: i64) -> Option<ScaleReference> {
        let scaled_to = self.plan.scaled.get(source)?;
        let kind = scaled_to.benchmark;
        let nodes = scaled_to.unscale.then(|| {
            let place = self.site.distinguished_by(place);
            self.site
                .factors(&[BenchmarkLevel::Node], &place, at_ms)
                .per_core
                .scaled()
        });
        let of_kind = Benchmark::ALL.iter().position(|each| *each == kind);
        let node_e4 = nodes
            .zip(of_kind)
            .and_then(|(nodes, at)| nodes.get(at).copied().flatten());
        Some(ScaleReference {
            per_core: Each::only(kind, i128::from(scaled_to.value_e4_per_core)),
            kind,
            node_e4: node_e4.and_then(|e4| i64::try_from(e4).ok()),
        })
    }

    /// What the table knows before and behind the step of the record.
    fn answer(&mut self, place: BenchmarkPlace<'_>, at_ms: i64) -> (Factors, Factors) {
        if self.plan.is_of_records_alone() {
            return (Factors::default(), Factors::default());
        }
        let (plan, site) = (self.plan, &self.site);
        self.asked = Some(self.asked.unwrap_or(AskedSpan::at(at_ms)).with(at_ms));
        let place = site.distinguished_by(place);
        let (season, words) = (site.season(at_ms), words(&place));
        if let Some(answer) = self
            .answers
            .get(self.last)
            .filter(|answer| answer.is_of(season, &words))
        {
            return (answer.before, answer.after);
        }
        let hash = self.hasher.hash_one((season, words));
        let answers = &self.answers;
        let is_same = |at: &usize| answers.get(*at).is_some_and(|answer| answer.is_of(season, &words));
        if let Some(at) = self.kept.find(hash, is_same).copied() {
            self.last = at;
            if let Some(answer) = self.answers.get(at) {
                return (answer.before, answer.after);
            }
        }
        let (before, after) = plan.order.split_at(self.at_record.unwrap_or(plan.order.len()));
        let answer = Answer {
            season,
            words: words.map(|word| word.map(str::to_owned)),
            before: site.factors(before, &place, at_ms),
            after: site.factors(after, &place, at_ms),
        };
        if self.answers.len() >= KEPT {
            self.answers.clear();
            self.kept.clear();
        }
        self.last = self.answers.len();
        let found = (answer.before, answer.after);
        self.answers.push(answer);
        let (answers, hasher) = (&self.answers, &self.hasher);
        self.kept.insert_unique(hash, self.last, |at| {
            answers.get(*at).map_or(0, |answer| {
                hasher.hash_one((answer.season, answer.words.each_ref().map(Option::as_deref)))
            })
        });
        found
    }
}
