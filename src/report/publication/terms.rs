//! How a receiver is dealt with.

use std::collections::{BTreeMap, BTreeSet};

use super::exporter::Exporter;
use super::ledger::{PublicationEntry, PublicationPlace, PublicationState};
use super::record_format::RecordFormat;
use crate::amounts::{add, total};
use crate::error::Result;
use crate::report::apel::server_key::folded;
use crate::time::Month;

/// What was agreed with a receiver, and what it is asked to do itself.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Forms the receiver may count in addition to another of the same site and month.
    pub also_counted: BTreeSet<RecordFormat>,
    /// People of the receiver delete what they are given a list of; else what is gone is taken back by zeros.
    pub is_listing: bool,
    /// Summaries are put over the rows of the server's super-summaries that its jobs no longer give.
    pub is_repairing: bool,
}

impl Terms {
    /// Of one site and month a receiver counts one form: another would count the same jobs once more. A sentence where
    /// that is not so, and not agreed.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when the jobs of a site and month are too many.
    pub fn doubled(
        &self,
        exporter: &Exporter,
        sent: &BTreeMap<PublicationPlace, i64>,
        held: &BTreeMap<PublicationPlace, Vec<&PublicationEntry>>,
    ) -> Result<Option<String>> {
        let mut forms: BTreeMap<(String, Month), BTreeMap<RecordFormat, i64>> = BTreeMap::new();
        let new = sent.iter().map(|(place, job_n)| Ok((place, *job_n)));
        // Held records of the forms sent now are replaced.
        let kept = held.iter().filter(|(place, _)| !exporter.covers(place));
        let kept = kept.map(|(place, entries)| {
            let live = entries.iter().filter(|entry| entry.state == PublicationState::Sent);
            total(live.map(|entry| entry.record.job_n()), "job_n").map(|job_n| (place, job_n))
        });
        for counted in new.chain(kept) {
            let (PublicationPlace { form, site, month }, job_n) = counted?;
            if form.counts() && job_n > 0 {
                let place = (folded(site).into_owned(), *month);
                add(
                    forms.entry(place).or_default().entry(*form).or_default(),
                    job_n,
                    "job_n",
                )?;
            }
        }
        let is_new = |form: &RecordFormat, site: &str, month: Month| {
            let is_it = |(place, job_n): (&PublicationPlace, &i64)| {
                place.form == *form && place.month == month && *job_n > 0 && folded(&place.site) == site
            };
            sent.iter().any(is_it)
        };
        for ((site, month), forms) in &forms {
            let unagreed: Vec<_> = forms
                .iter()
                .filter(|(form, _)| !self.also_counted.contains(form))
                .collect();
            if unagreed.len() < 2 || !forms.keys().any(|form| is_new(form, site, *month)) {
                continue;
            }
            let reported: Vec<String> = unagreed
                .iter()
                .map(|(form, job_n)| {
                    let word = if is_new(form, site, *month) {
                        "to be sent"
                    } else {
                        "sent before"
                    };
                    format!("{job_n} jobs as {} ({word})", form.as_str())
                })
                .collect();
            return Ok(Some(format!(
                "{site} {month}: the receiver would count the same jobs more than once: {}; send one kind, the one that was \
                 sent before, or name with --beside KIND what it may count as well",
                reported.join(", ")
            )));
        }
        Ok(None)
    }
}
