//! All differences beyond a tolerance, each with its causes.

use std::collections::{BTreeMap, BTreeSet};

use super::amount::{Amount, WORK_UNITS_PER_S};
use super::difference_cause::{Cause, CauseShare};
use super::job_population::KnownJobs;
use super::population::spellings;
use super::proof::Proof;
use super::relation::Which;
use super::sums::{SumRule, rounded_n};
use super::usage_source::{CellKey, SourceCell, UsageSource};
use crate::amounts::finer;
use crate::error::Result;
use crate::numbers::Comparand;
use crate::reference::benchmark::Benchmark;
use crate::time::Month;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Site as it is spelled.
    pub site: String,
    /// VO as it is spelled; empty where only jobs of the site are counted.
    pub vo: String,
    /// Month.
    pub month: Month,
    /// What A has.
    pub a: Amount,
    /// What B has.
    pub b: Amount,
    /// Whether only jobs are known.
    pub is_count: bool,
    /// Why: what the causes make adds up to B less A.
    pub shares: Vec<CauseShare>,
}

impl Difference {
    /// Whether it has a cause.
    #[must_use]
    pub fn has(&self, cause: Cause) -> bool {
        self.shares.iter().any(|share| share.cause == cause)
    }
}

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReconcileComparison {
    /// Names of both sides.
    pub names: [String; 2],
    /// Sites, VOs and months that were compared.
    pub compared_n: usize,
    /// Those that differ.
    pub differences: Vec<Difference>,
    /// Work is not compared: one side knows none at all.
    pub is_without_work: bool,
    /// Wall time times cores is not compared: one side knows no cores at all.
    pub is_without_cores: bool,
    /// What could not be read of either side, and what is not compared.
    pub notes: Vec<String>,
}

/// What is compared besides jobs, wall and CPU time: what both sides know of anything.
#[derive(Clone, Copy)]
struct Compared {
    work: bool,
    cores: bool,
    tolerance_e6: i128,
}

impl Compared {
    /// The part of an amount that is compared.
    fn part(self, amount: Amount) -> Amount {
        let amount = if self.work { amount } else { amount.without_work() };
        Amount {
            core_wall_s: if self.cores { amount.core_wall_s } else { 0 },
            core_cpu_ms: 0,
            ..amount
        }
    }

    /// Whether two cells are the same, when so many durations may have been rounded.
    fn is_same(self, a: Amount, b: Amount, rounded_n: i128) -> bool {
        let near = |a: i128, b: i128, slack: i128| {
            let off = (a - b).abs();
            off <= slack || off.product_to_compare(1_000_000) <= self.tolerance_e6.product_to_compare(a.max(b))
        };
        let (a, b) = (self.part(a), self.part(b));
        near(a.job_n, b.job_n, 0)
            && near(a.wall_s, b.wall_s, 0)
            && near(a.core_wall_s, b.core_wall_s, 0)
            && near(a.cpu_ms, b.cpu_ms, finer(rounded_n, 500))
            && near(a.wall_work, b.wall_work, Amount::wall_work_slack(rounded_n))
            && near(a.cpu_work, b.cpu_work, a.cpu_work_slack(rounded_n))
    }
}

/// Compares two sides. Sums that differ by at most `tolerance_e6` millionths of the larger are the same; names that differ
/// in letter case are a difference all the same.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the jobs of a lake cannot be read.
pub fn compare(a: &UsageSource, b: &UsageSource, tolerance_e6: i128) -> Result<ReconcileComparison> {
    // A side that only counts jobs contains nothing about VOs.
    let only_counts = a.is_counts_alone() || b.is_counts_alone();
    let mut comparison = ReconcileComparison {
        names: [a.name.clone(), b.name.clone()],
        notes: a.notes.iter().chain(&b.notes).cloned().collect(),
        ..ReconcileComparison::default()
    };
    if let (Some(of_a), Some(of_b)) = (&a.usage_rule, &b.usage_rule)
        && of_a != of_b
    {
        comparison.notes.push(format!(
            "usage of A is {of_a}; that of B {of_b}; here both are compared by the UTC month in which jobs ended"
        ));
    }
    let compared = Compared {
        work: a.has_work() && b.has_work(),
        cores: a.has_cores() && b.has_cores(),
        tolerance_e6,
    };
    if !only_counts {
        (comparison.is_without_work, comparison.is_without_cores) = (!compared.work, !compared.cores);
        comparison.notes.extend(not_compared(a, b));
    }
    let keys: BTreeSet<&CellKey> = a.cells.keys().chain(b.cells.keys()).collect();
    let mut by_month: BTreeMap<Month, Vec<&CellKey>> = BTreeMap::new();
    let mut scored_apart = [0_usize; 3];
    let nothing = SourceCell::default();
    for key in keys.into_iter().filter(|_| !only_counts) {
        comparison.compared_n += 1;
        let (of_a, of_b) = (
            a.cells.get(key).unwrap_or(&nothing),
            b.cells.get(key).unwrap_or(&nothing),
        );
        let spelled_alike = of_a.spelled().eq(of_b.spelled());
        let is_same = compared.is_same(of_a.amount(), of_b.amount(), rounded_n(of_a, of_b));
        if !(spelled_alike && is_same) {
            by_month.entry(key.month).or_default().push(key);
            continue;
        }
        for ((apart, of_a), of_b) in scored_apart.iter_mut().zip(of_a.scores).zip(of_b.scores) {
            *apart += usize::from(of_a > 0 && of_b > 0 && of_a != of_b);
        }
    }
    for (kind, apart) in Benchmark::ALL
        .into_iter()
        .zip(scored_apart)
        .filter(|(_, apart)| *apart > 0)
    {
        comparison.notes.push(format!(
            "work in {} differs in {apart} of those that are the same here: compare it with --work {}",
            kind.as_str(),
            kind.as_str()
        ));
    }
    for (month, keys) in by_month {
        comparison.differences.extend(of_month(month, &keys, [a, b], compared)?);
    }
    let order = |one: &Difference| (one.site.to_lowercase(), one.vo.to_lowercase(), one.month);
    comparison.differences.sort_by_key(order);
    counts(a, b, tolerance_e6, only_counts, &mut comparison);
    Ok(comparison)
}

/// What one side alone knows, and so is not compared.
fn not_compared(a: &UsageSource, b: &UsageSource) -> Vec<String> {
    let alone = |[of_a, of_b]: [bool; 2], what: &str, compared: &str| {
        let (knows, lacks) = if of_a { ("A", "B") } else { ("B", "A") };
        (of_a != of_b).then(|| format!("{knows} knows {what} and {lacks} does not: {compared} is not compared"))
    };
    let work = alone([a, b].map(UsageSource::has_work), "benchmarks or work", "work");
    let cores = alone([a, b].map(UsageSource::has_cores), "cores", "wall time times cores");
    [work, cores].into_iter().flatten().collect()
}

/// The differing cells of a month.
fn of_month(month: Month, keys: &[&CellKey], [a, b]: [&UsageSource; 2], compared: Compared) -> Result<Vec<Difference>> {
    let mut proof = Proof::read(month, a, b)?;
    if a.jobs.is_some() && b.jobs.is_some() {
        proof.pair();
    }
    let nothing = SourceCell::default();
    let mut found = Vec::new();
    for key in keys {
        let (of_a, of_b) = (
            a.cells.get(*key).unwrap_or(&nothing),
            b.cells.get(*key).unwrap_or(&nothing),
        );
        let place = proof.place(key);
        let has_jobs = |which: Which, side: &UsageSource, cell: &SourceCell| {
            side.jobs.is_some() && (!cell.has_sums() || proof.has_summarised(which, place))
        };
        let is_by_jobs =
            has_jobs(Which::A, a, of_a) && has_jobs(Which::B, b, of_b) && !(of_a.has_sums() && of_b.has_sums());
        let mut shares = if is_by_jobs {
            let mut shares = proof.shares.of(place, [a, b], &proof.names);
            shares.extend(shares_other_than_jobs(&proof, place, of_a, of_b));
            shares
        } else {
            let known = [(Which::A, [a, b], of_a), (Which::B, [b, a], of_b)]
                .into_iter()
                .zip(&proof.jobs);
            let known = known.filter(|((_, [side, _], cell), _)| side.jobs.is_some() && !cell.has_sums());
            let rule = SumRule {
                key,
                a,
                b,
                jobs: known
                    .map(|((which, [side, other], _), jobs)| KnownJobs {
                        which,
                        side,
                        other,
                        jobs,
                        names: &proof.names,
                        place,
                    })
                    .collect(),
                has_work: compared.work,
                has_cores: compared.cores,
            };
            rule.shares()
        };
        for share in &mut shares {
            share.amount = compared.part(share.amount);
        }
        shares.retain(|share| share.amount != Amount::default() || share.cause == Cause::CaseOfNames);
        let spelled_alike = of_a.spelled().eq(of_b.spelled());
        let is_both = of_a.spelled().next().is_some() && of_b.spelled().next().is_some();
        // A spelling that only jobs missing on the other side have is not a separate cause.
        let is_apart = !is_by_jobs && !of_a.spelled().any(|name| of_b.spelled().any(|other| other == name));
        if is_both
            && !spelled_alike
            && (shares.is_empty() || is_apart)
            && !shares.iter().any(|share| share.cause == Cause::CaseOfNames)
        {
            shares.push(CauseShare {
                cause: Cause::CaseOfNames,
                job_n: of_b.amount().job_n,
                amount: Amount::default(),
                evidence: spellings(of_a, of_b),
            });
        }
        let (amount_a, amount_b) = (compared.part(of_a.amount()), compared.part(of_b.amount()));
        shares.extend(rest(amount_b.minus(amount_a), &shares));
        shares.sort_by_key(|share| share.cause);
        let spelled = of_a.spelled().chain(of_b.spelled()).next();
        let (site, vo) = spelled.cloned().unwrap_or_else(|| (key.site.clone(), key.vo.clone()));
        found.push(Difference {
            site,
            vo,
            month,
            a: of_a.amount(),
            b: of_b.amount(),
            is_count: false,
            shares,
        });
    }
    Ok(found)
}

/// Differences other than single jobs: additions of corrections, and summaries in place of jobs.
fn shares_other_than_jobs(
    proof: &Proof<'_>,
    place: super::job::JobIdentityPlace,
    a: &SourceCell,
    b: &SourceCell,
) -> Vec<CauseShare> {
    let mut found = Vec::new();
    if a.added != b.added {
        let [in_a, in_b] = [a.added, b.added].map(Amount::in_words);
        found.push(CauseShare {
            cause: Cause::Correction,
            job_n: b.added.minus(a.added).job_n.abs(),
            amount: b.added.minus(a.added),
            evidence: format!("corrections add {in_a} in A, {in_b} in B"),
        });
    }
    for (which, cell) in [(Which::A, a), (Which::B, b)] {
        let jobs = proof.summarised(which, place);
        let more = cell.of_sums.minus(jobs);
        if more == Amount::default() {
            continue;
        }
        found.push(CauseShare {
            cause: Cause::SummariesForJobs,
            job_n: cell.of_sums.job_n,
            amount: match which {
                Which::A => Amount::default().minus(more),
                Which::B => more,
            },
            evidence: format!(
                "{} counts summaries, {}, in place of the jobs it holds, {}",
                which.as_str(),
                cell.of_sums.in_words(),
                jobs.in_words()
            ),
        });
    }
    found
}

/// What the causes leave of a difference.
fn rest(difference: Amount, shares: &[CauseShare]) -> Option<CauseShare> {
    let explained = shares
        .iter()
        .fold(Amount::default(), |sum, share| sum.plus(share.amount));
    let rest = difference.minus(explained);
    (rest != Amount::default()).then(|| {
        // Fallback: never taken, a second has work units.
        let seconds = |work: i128| crate::report::table::divide(work, WORK_UNITS_PER_S).unwrap_or(0);
        CauseShare {
            cause: Cause::Unexplained,
            job_n: rest.job_n.abs(),
            amount: rest,
            evidence: format!(
                "no rule proves why B is more than A by {} jobs, {} s wall, {} s wall times cores, {} ms CPU, {} s CPU work",
                rest.job_n,
                rest.wall_s,
                rest.core_wall_s,
                rest.cpu_ms,
                seconds(rest.cpu_work)
            ),
        }
    })
}

/// Numbers of jobs by site and month, where one side counts them (sync records).
fn counts(
    a: &UsageSource,
    b: &UsageSource,
    tolerance_e6: i128,
    only_counts: bool,
    comparison: &mut ReconcileComparison,
) {
    let keys: BTreeSet<&(String, Month)> = a.counts.keys().chain(b.counts.keys()).collect();
    let jobs = |side: &UsageSource, key: &(String, Month)| {
        side.counts.get(key).copied().unwrap_or_else(|| {
            let of = side
                .cells
                .iter()
                .filter(|(of, _)| of.site == key.0 && of.month == key.1);
            of.map(|(_, cell)| cell.amount().job_n).sum()
        })
    };
    let of_cells = a
        .cells
        .keys()
        .chain(b.cells.keys())
        .map(|key| (key.site.clone(), key.month));
    let all: BTreeSet<(String, Month)> = keys
        .into_iter()
        .cloned()
        .chain(of_cells.filter(|_| only_counts && a.skipped_count_n + b.skipped_count_n == 0))
        .collect();
    for key in all {
        comparison.compared_n += 1;
        let (of_a, of_b) = (jobs(a, &key), jobs(b, &key));
        if (of_a - of_b).abs().product_to_compare(1_000_000) <= tolerance_e6.product_to_compare(of_a.max(of_b)) {
            continue;
        }
        let amount = |job_n| Amount {
            job_n,
            ..Amount::default()
        };
        let less = if of_a < of_b { "A" } else { "B" };
        let share = CauseShare {
            cause: Cause::MissingJobs,
            job_n: (of_a - of_b).abs(),
            amount: amount(of_b - of_a),
            evidence: format!("counts alone: {less} has {} jobs fewer", (of_a - of_b).abs()),
        };
        let cells = a.cells.iter().chain(&b.cells).find(|(of, _)| of.site == key.0);
        let spelled = cells.and_then(|(_, cell)| cell.spellings.keys().next());
        comparison.differences.push(Difference {
            site: spelled.map_or(key.0, |(site, _)| site.clone()),
            vo: String::new(),
            month: key.1,
            a: amount(of_a),
            b: amount(of_b),
            is_count: true,
            shares: vec![share],
        });
    }
}
