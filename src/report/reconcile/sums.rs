//! The least set of causes that explains a difference of sums exactly.

use crate::numbers::count_i128;

use std::collections::BTreeMap;

use super::amount::Amount;
use super::difference_cause::{Cause, CauseShare};
use super::elsewhere::{month_boundary, other_name};
use super::job_population::KnownJobs;
use super::population::{Population, missing_rows, of_rows};
use super::sum_durations::{DurationFinding, Durations};
use super::sum_factor::FactorRule;
use super::usage_source::{CellKey, SourceCell, UsageSource};

/// Two cells of which at least one has no single jobs.
pub struct SumRule<'s> {
    /// The cell.
    pub key: &'s CellKey,
    /// The first account.
    pub a: &'s UsageSource,
    /// The second account.
    pub b: &'s UsageSource,
    /// The single jobs of a side that knows them.
    pub jobs: Vec<KnownJobs<'s>>,
    /// Whether work is compared.
    pub has_work: bool,
    /// Whether cores are compared.
    pub has_cores: bool,
}

impl SumRule<'_> {
    /// Causes that add up to the difference; [`Cause::Unexplained`] where none are proven.
    #[must_use]
    pub fn shares(&self) -> Vec<CauseShare> {
        let nothing = SourceCell::default();
        let of_a = self.a.cells.get(self.key).unwrap_or(&nothing);
        let of_b = self.b.cells.get(self.key).unwrap_or(&nothing);
        let (a, b) = (of_a.amount(), of_b.amount());
        let mut populations = of_rows(of_a, of_b);
        for known in &self.jobs {
            populations.extend(known.zones(a, b));
        }
        populations.extend(month_boundary(self.key, self.a, self.b));
        populations.extend(other_name(self.key, self.a, self.b));
        populations.extend(missing_rows(of_a, of_b));
        for known in &self.jobs {
            populations.extend(known.parts(a, b));
        }
        let rounded_n = rounded_n(of_a, of_b);
        let proofs = populations.iter().filter_map(|population| {
            let mut shares = Vec::new();
            if let Some(cause) = population.cause {
                shares.push(CauseShare {
                    cause,
                    job_n: population.job_n,
                    amount: population.amount.minus(a),
                    evidence: population.evidence.clone(),
                });
            }
            shares.extend(self.values(population, b, rounded_n)?);
            Some(shares)
        });
        // The first of those with the fewest causes.
        if let Some(shares) = proofs.min_by_key(Vec::len) {
            return shares;
        }
        let share = |cause, evidence: String| CauseShare {
            cause,
            job_n: (b.job_n - a.job_n).abs(),
            amount: b.minus(a),
            evidence,
        };
        let (cause, evidence) = one_side_only(a, b).unwrap_or((Cause::Unexplained, "no rule proves why".to_owned()));
        vec![share(cause, evidence)]
    }

    /// What turns the values of a population into those of B; `None` when no rule does.
    fn values(&self, population: &Population, b: Amount, rounded_n: i128) -> Option<Vec<CauseShare>> {
        let p = population.amount;
        if p.job_n != b.job_n || (p.job_n == 0 && population.cause.is_none()) {
            return None;
        }
        let mut shares: BTreeMap<Cause, CauseShare> = BTreeMap::new();
        let mut add = |(cause, evidence): (Cause, String), amount: Amount| {
            let share = shares.entry(cause).or_insert_with(|| CauseShare {
                cause,
                job_n: b.job_n,
                amount: Amount::default(),
                evidence: evidence.clone(),
            });
            share.amount = share.amount.plus(amount);
            if share.evidence != evidence {
                share.evidence = format!("{}; {evidence}", share.evidence);
            }
        };
        let whole = b.minus(p);
        let durations = Durations { p, b, rounded_n };
        let wall = durations.wall();
        let cpu = durations.cpu(&wall);
        if wall == DurationFinding::Unproven || cpu == DurationFinding::Unproven {
            return None;
        }
        let is_factor_looked_at = wall == DurationFinding::Same && cpu == DurationFinding::Same;
        let work_of = |work: i128| if is_factor_looked_at { 0 } else { work };
        if let DurationFinding::Named(named) = wall {
            let amount = Amount {
                wall_s: whole.wall_s,
                core_wall_s: whole.core_wall_s,
                wall_work: work_of(whole.wall_work),
                ..Amount::default()
            };
            add((named.cause, named.words), amount);
        } else if self.has_cores && p.core_wall_s != b.core_wall_s {
            let amount = Amount {
                core_wall_s: whole.core_wall_s,
                ..Amount::default()
            };
            let [in_a, in_b] = [p, b].map(|amount| amount.core_wall_s);
            let words = format!("wall time is the same, times cores it is {in_a} s in A, {in_b} s in B");
            add((Cause::OtherCores, words), amount);
        }
        if let DurationFinding::Named(named) = cpu {
            let amount = Amount {
                cpu_ms: whole.cpu_ms,
                core_cpu_ms: whole.core_cpu_ms,
                cpu_work: work_of(whole.cpu_work),
                ..Amount::default()
            };
            add((named.cause, named.words), amount);
        }
        let is_off = whole.wall_work.abs() > Amount::wall_work_slack(rounded_n)
            || whole.cpu_work.abs() > p.cpu_work_slack(rounded_n);
        if self.has_work && is_factor_looked_at && is_off {
            let rule = FactorRule {
                key: self.key,
                a: self.a,
                b: self.b,
            };
            let amount = Amount {
                wall_work: whole.wall_work,
                cpu_work: whole.cpu_work,
                ..Amount::default()
            };
            add(rule.named(p, b)?, amount);
        }
        Some(shares.into_values().collect())
    }
}

/// How many durations of two cells may have been rounded.
#[must_use]
pub fn rounded_n(a: &SourceCell, b: &SourceCell) -> i128 {
    let of_sums = a.has_sums() || b.has_sums();
    let rows = count_i128(a.rows.len().max(b.rows.len()));
    a.rounded_n.max(b.rounded_n).max(if of_sums { rows } else { 0 })
}

fn one_side_only(a: Amount, b: Amount) -> Option<(Cause, String)> {
    for (there, here, which) in [(a, b, "B"), (b, a, "A")] {
        if here == Amount::default() && there.job_n > 0 {
            let words = format!("{which} has nothing of it; the other has {} jobs", there.job_n);
            return Some((Cause::MissingJobs, words));
        }
    }
    None
}
