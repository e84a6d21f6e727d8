//! What the scheduler itself counted against what is computed, and why both differ.

use std::collections::BTreeMap;

use super::lake::Lake;
use super::sshare::{ListedUsers, Sshare, SshareColumns, choose, fraction, thread_n};
use super::table::{Cell, ColumnKind, Table};
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Kind, Result};
use crate::fairshare::drift::{CounterFacts, DriftCause, DriftFacts, DriftFinding, EarlierInstant};
use crate::fairshare::{AssociationKey, AssociationScore, LevelFairshare};
use crate::share_history::LakeFairshare;
use crate::share_history::context::FairshareContext;
use crate::share_history::counters::{CounterListing, CounterPair, DatedCounters, StatedCounters, StatedFraction};
use crate::share_history::evidence::JobEvidence;
use crate::time::instant::instant_text_s;

/// Digits behind the point of every amount.
const DIGITS: u8 = 6;
/// What printing changes of a level, which has six digits behind the point.
const LEVEL_PRINTED: f64 = 1e-6;

/// What is requested.
#[derive(Clone, Copy, Debug)]
pub struct DriftRequest<'a> {
    /// The cluster; `None` where there is only one.
    pub cluster: Option<&'a str>,
    /// The instant of a listing, Unix seconds; `None` takes the newest.
    pub at_s: Option<i64>,
    /// The part of an amount by which two may differ and agree.
    pub tolerance: f64,
    /// Whether shares and factors are compared, or usage alone.
    pub columns: SshareColumns,
}

/// One counter of one association.
#[derive(Clone, Debug, PartialEq)]
struct DriftRow {
    key: AssociationKey,
    depth: usize,
    counter: &'static str,
    stated: Cell,
    computed: Cell,
    finding: DriftFinding,
}

/// All counters of one listing.
#[derive(Clone, Debug)]
pub struct DriftReport {
    /// The cluster.
    pub cluster: String,
    /// The instant of the listing, Unix seconds.
    pub at_s: i64,
    /// The instant of the listing before, which is evidence.
    pub earlier_s: Option<i64>,
    /// Rows of listings whose instant is unknown.
    pub undated_n: u64,
    /// What the pipeline states of the scheduler's operation, in words for people.
    pub stated_operation: Vec<String>,
    rows: Vec<DriftRow>,
}

impl DriftReport {
    /// Compares a listing of shares with what is computed for its instant.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when the lake has no listing of shares with usage, or none of the requested instant; [`Kind::Data`]
    /// when the listings do not state their instants; as [`Sshare::of_lake`].
    pub fn of_lake(
        lake: &Lake,
        request: DriftRequest<'_>,
        change: impl FnOnce(&mut FairsharePlan) -> Result<()>,
    ) -> Result<Self> {
        let known = LakeFairshare::of_manifest(&lake.manifest);
        let mut plan = choose(&known, request.cluster)?;
        change(&mut plan)?;
        let context = FairshareContext::read(&known, &lake.manifest, &lake.store, &lake.zone()?, plan)?;
        let counters = DatedCounters::read(&lake.store, &context.files, &context.plan)?.matched_to(&context.trees);
        let pair = counters
            .pair(request.at_s)
            .ok_or_else(|| no_listing(&counters, request))?;
        let sshare = Sshare::of_context(lake, context, pair.at_s)?;
        let mut facts = facts(&sshare, pair, request.tolerance);
        let has_fractions = request.columns.is_long();
        if has_fractions || facts.differs()? {
            let evidence = JobEvidence::read(&lake.store, &sshare.context, pair.at_s, thread_n())?;
            for (counter, jobs) in facts.counters.iter_mut().zip(evidence.associations) {
                counter.segments = jobs.segments;
                counter.running_e6 = jobs.running_e6;
            }
        }
        let mut report = Self {
            cluster: sshare.context.plan.cluster.clone(),
            at_s: pair.at_s,
            earlier_s: pair.earlier_s,
            undated_n: counters.undated_n,
            stated_operation: sshare.stated_operation(),
            rows: Vec::new(),
        };
        let findings = facts.findings()?;
        for (score, finding) in sshare.instant.scores.iter().zip(&findings) {
            report.add(&sshare, pair, score, finding);
        }
        if has_fractions {
            report.add_fractions(&sshare, pair, &facts, &findings);
        }
        report.add_unknown(&sshare, pair);
        Ok(report)
    }

    /// How many counters have each cause.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(row.finding.cause.as_str()).or_default() += 1;
        }
        counts
    }

    /// How many counters there are.
    #[must_use]
    pub fn counter_n(&self) -> usize {
        self.rows.len()
    }

    /// How many differ for another reason than running jobs.
    #[must_use]
    pub fn drift_n(&self) -> usize {
        self.rows.iter().filter(|row| row.finding.cause.is_drift()).count()
    }

    /// As a table. Users are named where it is requested.
    #[must_use]
    pub fn table(&self, users: ListedUsers) -> Table {
        let at = instant_text_s(self.at_s).unwrap_or_else(|| self.at_s.to_string());
        let mut table = Table::new(
            format!("Counters of {} at {at}", self.cluster),
            &[
                ("account", "", ColumnKind::Text),
                ("user", "", ColumnKind::Text),
                ("partition", "", ColumnKind::Text),
                ("counter", "", ColumnKind::Text),
                ("scheduler", "", ColumnKind::Decimal(DIGITS)),
                ("computed", "", ColumnKind::Decimal(DIGITS)),
                ("difference", "", ColumnKind::Decimal(DIGITS)),
                ("percent", "%", ColumnKind::Decimal(3)),
                ("cause", "", ColumnKind::Text),
                ("evidence", "", ColumnKind::Text),
            ],
        );
        let is_listed = |row: &&DriftRow| users == ListedUsers::All || !row.key.is_user();
        for row in self.rows.iter().filter(is_listed) {
            let difference = match (&row.stated, &row.computed) {
                (Cell::Decimal { value: stated, .. }, Cell::Decimal { value: computed, .. }) => Some(stated - computed),
                _ => None,
            };
            let percent = difference.map_or(Cell::Empty, |difference| percent_of(difference, &row.computed));
            let difference = difference.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: DIGITS });
            let evidence = Some(row.finding.evidence.as_str()).filter(|evidence| !evidence.is_empty());
            table.push(vec![
                Cell::text(format!("{}{}", " ".repeat(row.depth), row.key.account)),
                Cell::word(row.key.user.as_deref()),
                Cell::word(row.key.partition.as_deref()),
                Cell::text(row.counter),
                row.stated.clone(),
                row.computed.clone(),
                difference,
                percent,
                Cell::text(row.finding.cause.as_str()),
                Cell::word(evidence),
            ]);
        }
        table
    }

    fn add(&mut self, sshare: &Sshare, pair: CounterPair<'_>, score: &AssociationScore, finding: &DriftFinding) {
        let Some(association) = sshare.instant.tree.get(score.id) else {
            return;
        };
        let stated = pair.listing.associations.get(&association.key);
        self.rows.push(DriftRow {
            key: association.key.clone(),
            depth: association.depth,
            counter: "RawUsage",
            stated: usage(stated.and_then(|stated| stated.usage_e6)),
            computed: usage(Some(score.usage_e6)),
            finding: finding.clone(),
        });
    }

    /// Shares and factors: they follow from shares and usage of all associations.
    fn add_fractions(
        &mut self,
        sshare: &Sshare,
        pair: CounterPair<'_>,
        facts: &DriftFacts<'_>,
        of_usage: &[DriftFinding],
    ) {
        let differs = of_usage.iter().any(|finding| finding.cause != DriftCause::Agrees);
        let is_running = facts.counters.iter().any(|counter| counter.running_e6 > 0);
        let norm_shares = |stated: &StatedCounters, score: &AssociationScore| {
            let shares = stated.norm_shares?;
            Some(agree(facts, shares, score.norm_shares))
        };
        let has_other_shares = sshare.instant.scores.iter().any(|score| {
            let association = sshare.instant.tree.get(score.id);
            let stated = association.and_then(|association| pair.listing.associations.get(&association.key));
            stated.and_then(|stated| norm_shares(stated, score)) == Some(false)
        });
        let why = || match (has_other_shares, differs, is_running) {
            (true, _, _) => DriftFinding::with(
                DriftCause::Follows,
                "shares differ: the trees are of different instants",
            ),
            (_, true, _) => DriftFinding::with(DriftCause::Follows, "usage differs"),
            (_, _, true) => DriftFinding::with(
                DriftCause::Running,
                "while jobs run, accounts are listed as of the last calculation",
            ),
            _ => DriftFinding::plain(DriftCause::Unknown),
        };
        for score in &sshare.instant.scores {
            let Some(association) = sshare.instant.tree.get(score.id) else {
                continue;
            };
            let Some(stated) = pair.listing.associations.get(&association.key) else {
                continue;
            };
            for fraction_pair in fractions(stated, score) {
                let FractionPair {
                    counter,
                    stated,
                    computed,
                } = fraction_pair;
                let finding = if agree(facts, stated, computed) {
                    DriftFinding::plain(DriftCause::Agrees)
                } else if counter == "NormShares" {
                    DriftFinding::with(DriftCause::Follows, "the listings have other shares")
                } else {
                    why()
                };
                self.rows.push(DriftRow {
                    key: association.key.clone(),
                    depth: association.depth,
                    counter,
                    stated: fraction(stated.value).unwrap_or(Cell::Empty),
                    computed: fraction(computed).unwrap_or(Cell::Empty),
                    finding,
                });
            }
        }
    }

    /// What the scheduler lists and the tree does not have.
    fn add_unknown(&mut self, sshare: &Sshare, pair: CounterPair<'_>) {
        for (key, stated) in &pair.listing.associations {
            if sshare.instant.tree.find(key).is_none() {
                self.rows.push(DriftRow {
                    key: key.clone(),
                    depth: 0,
                    counter: "RawUsage",
                    stated: usage(stated.usage_e6),
                    computed: Cell::Empty,
                    finding: DriftFinding::with(
                        DriftCause::NotCompared,
                        "the listing of associations does not have it",
                    ),
                });
            }
        }
    }
}

/// A fraction on both sides.
struct FractionPair {
    counter: &'static str,
    stated: StatedFraction,
    computed: f64,
}

fn fractions(stated: &StatedCounters, score: &AssociationScore) -> Vec<FractionPair> {
    let level = |level: Option<LevelFairshare>| match level {
        Some(LevelFairshare::Finite(level)) => Some(level),
        Some(LevelFairshare::Infinite) => Some(f64::INFINITY),
        Some(LevelFairshare::Blank) | None => None,
    };
    let pairs = [
        ("NormShares", stated.norm_shares, Some(score.norm_shares)),
        ("EffectvUsage", stated.effective_usage, Some(score.effective_usage)),
        ("FairShare", stated.factor, score.factor),
        (
            "LevelFS",
            level(stated.level_fs).map(|value| StatedFraction {
                value,
                printed: LEVEL_PRINTED,
            }),
            level(Some(score.level_fs)),
        ),
    ];
    let known = pairs.into_iter().filter_map(|(counter, stated, computed)| {
        Some(FractionPair {
            counter,
            stated: stated?,
            computed: computed?,
        })
    });
    known.collect()
}

/// Whether two fractions agree. Those that are infinite on both sides do.
fn agree(facts: &DriftFacts<'_>, stated: StatedFraction, computed: f64) -> bool {
    let StatedFraction { value, printed } = stated;
    if value.is_infinite() || computed.is_infinite() {
        return value.is_infinite() && computed.is_infinite();
    }
    (value - computed).abs() <= printed + value.max(computed) * facts.relative_tolerance()
}

fn usage(usage_e6: Option<i128>) -> Cell {
    usage_e6.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: DIGITS })
}

fn percent_of(difference: i128, of: &Cell) -> Cell {
    match of {
        Cell::Decimal { value, .. } => Cell::ratio(difference * 100, *value, 3),
        _ => Cell::Empty,
    }
}

/// What is known of each association before its jobs are read.
fn facts<'a>(sshare: &'a Sshare, pair: CounterPair<'_>, tolerance: f64) -> DriftFacts<'a> {
    let instant = &sshare.instant;
    let counters = instant.tree.iter().map(|(_, association)| {
        let of = |listing: Option<&CounterListing>| listing?.associations.get(&association.key)?.usage_e6;
        CounterFacts {
            stated_e6: of(Some(pair.listing)),
            earlier_e6: of(pair.earlier),
            uncounted_n: instant.uncounted.of(&association.key),
            ..CounterFacts::default()
        }
    });
    DriftFacts {
        tree: &instant.tree,
        rule: &sshare.context.settings.rule,
        is_whole_billing: sshare.context.settings.is_recorded_billing(),
        usage: &instant.usage,
        at_s: pair.at_s,
        earlier: pair.earlier_s.map(|at_s| EarlierInstant { at_s }),
        counters: counters.collect(),
        tolerance,
    }
}

fn no_listing(counters: &DatedCounters, request: DriftRequest<'_>) -> Error {
    let known: Vec<String> = counters
        .listings
        .keys()
        .filter_map(|at_s| instant_text_s(*at_s))
        .collect();
    if request.at_s.is_some() && !known.is_empty() {
        let message = format!(
            "the lake has no listing of shares at that instant; it has those of {}",
            known.join(", ")
        );
        return Error::new(Kind::NoInput, message);
    }
    if counters.undated_n > 0 {
        let message = "the listings of shares do not state when they were made: set as_of in their [[inventory]]";
        return Error::new(Kind::Data, message);
    }
    let message = "the lake has no listing of shares of the cluster: add an [[inventory]] of sshare -a -l -m -P";
    Error::new(Kind::NoInput, message)
}
