//! Usage that truncated billing lacks, usage from before the records, and jobs that are missing in them.

use super::cause::{DriftCause, DriftFinding};
use super::facts::{AmountPair, DriftFacts, billing_s};
use crate::error::Result;
use crate::time::instant::instant_text_s;

/// What became of the excess of one association since the listing before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExcessSince {
    /// There is none to compare with, or usage does not shrink by one factor.
    Unknown,
    /// It is what the decay left of the excess then.
    Decayed,
    /// It is more than that.
    Grew,
}

/// What the associations with more on the side of the scheduler are due to; `pairs` are those no other rule explains.
pub(super) fn past(facts: &DriftFacts<'_>, pairs: &[AmountPair]) -> Result<Vec<(AmountPair, DriftFinding)>> {
    let more: Vec<AmountPair> = pairs.iter().copied().filter(|pair| pair.is_more()).collect();
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for pair in &more {
        match truncated(facts, *pair)? {
            Some(evidence) => found.push((*pair, DriftFinding::new(DriftCause::Truncated, evidence))),
            None => open.push(*pair),
        }
    }
    if open.is_empty() {
        return Ok(found);
    }
    if let Some(evidence) = purge(facts, pairs, &more)? {
        let of_all = |pair| (pair, DriftFinding::new(DriftCause::Purge, evidence.clone()));
        return Ok(more.into_iter().map(of_all).collect());
    }
    for pair in open {
        let evidence = jobs_lost(facts, pair)?;
        found.extend(evidence.map(|evidence| (pair, DriftFinding::new(DriftCause::JobsLost, evidence))));
    }
    Ok(found)
}

/// The words about what truncated billing lacks, if that may be as much as the excess.
fn truncated(facts: &DriftFacts<'_>, pair: AmountPair) -> Result<Option<String>> {
    let truncated_s = facts.truncated_s(pair.id)?;
    let running_s = facts
        .counter(pair.id)
        .map_or(0.0, |counter| billing_s(counter.running_e6));
    let is_enough = truncated_s > 0.0 && pair.excess() <= pair.tolerance + running_s + truncated_s;
    Ok(is_enough.then(|| truncated_words(truncated_s)))
}

/// The words about what truncated billing lacks at most.
pub(super) fn truncated_words(truncated_s: f64) -> String {
    format!("recorded billing is a whole number: up to {truncated_s:.0} billing seconds of its jobs may be truncated")
}

/// The words about usage from before the first record, if it explains all that is more: nobody has less, everyone with jobs
/// has more, usage of then is not gone by now, and it shrank since the listing before as old usage does.
fn purge(facts: &DriftFacts<'_>, pairs: &[AmountPair], more: &[AmountPair]) -> Result<Option<String>> {
    let Some(first_s) = facts.first_job_s() else {
        return Ok(None);
    };
    let Some(left) = facts.left_since(first_s) else {
        return Ok(None);
    };
    let with_jobs = |pair: &&AmountPair| !facts.segments(pair.id).is_empty();
    let everyone =
        pairs.iter().all(|pair| !pair.is_less()) && pairs.iter().filter(with_jobs).all(|pair| pair.is_more());
    let several = more.iter().filter(with_jobs).count() >= 2;
    if !everyone || !several || left < facts.tolerance {
        return Ok(None);
    }
    for pair in more {
        if since_then(facts, *pair)? == ExcessSince::Grew {
            return Ok(None);
        }
    }
    let excess: f64 = more.iter().map(|pair| pair.excess()).sum();
    let first = instant_text_s(first_s).unwrap_or_else(|| first_s.to_string());
    Ok(Some(format!(
        "all associations with jobs have more; {:.0} billing seconds at the first record, {first}, explain it ({:.1} % of \
         them are left)",
        excess / left,
        left * 100.0
    )))
}

/// The words about jobs that the records lack, if something shows it.
fn jobs_lost(facts: &DriftFacts<'_>, pair: AmountPair) -> Result<Option<String>> {
    let since = since_then(facts, pair)?;
    if since == ExcessSince::Grew {
        return Ok(Some(
            "the scheduler counted more since the listing before than the records hold".to_owned(),
        ));
    }
    if facts.segments(pair.id).is_empty() {
        return Ok(Some("the records have no job of it".to_owned()));
    }
    if since == ExcessSince::Decayed {
        return Ok(Some("the same usage was missing at the listing before".to_owned()));
    }
    Ok(None)
}

fn since_then(facts: &DriftFacts<'_>, pair: AmountPair) -> Result<ExcessSince> {
    let Some(earlier) = facts.earlier else {
        return Ok(ExcessSince::Unknown);
    };
    let (Some(then), Some(left)) = (facts.earlier_pair(pair.id)?, facts.left_since(earlier.at_s)) else {
        return Ok(ExcessSince::Unknown);
    };
    let expected = then.excess().max(0.0) * left;
    let beyond = pair.excess() - expected;
    Ok(if beyond > pair.tolerance + then.tolerance {
        ExcessSince::Grew
    } else {
        ExcessSince::Decayed
    })
}
