//! Reserved time in which nothing ran: Slurm hands it, hour by hour, to those who might have used it.

use std::collections::{BTreeMap, BTreeSet};

use super::gathered::SreportWho;
use super::jobs::PeriodPart;
use super::period::SreportPeriod;
use super::used::{TRES, Used, model_of};
use super::windows::{Allowed, ReservationWindow};
use crate::numbers::tally;
use crate::time::MsSpan;

/// The windows of a period.
pub(super) struct Reserved {
    pub(super) windows: Vec<ReservationWindow>,
    period: SreportPeriod,
    /// Places in `windows` by cluster and name.
    places: BTreeMap<String, BTreeMap<String, Vec<usize>>>,
}

/// How long jobs sat in windows: milliseconds by window, resource and hour.
#[derive(Debug, Default)]
pub(super) struct Sitting {
    ms: BTreeMap<(usize, usize, i64), i64>,
    /// Clusters and names of reservations that no listing describes.
    unlisted: BTreeSet<(String, String)>,
}

impl Sitting {
    pub(super) fn absorb(&mut self, more: Self) {
        for (key, ms) in more.ms {
            *self.ms.entry(key).or_default() += ms;
        }
        self.unlisted.extend(more.unlisted);
    }
}

impl Reserved {
    pub(super) fn new(windows: Vec<ReservationWindow>, period: SreportPeriod) -> Self {
        let mut places: BTreeMap<String, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
        for (place, window) in windows.iter().enumerate() {
            if let Some(cluster) = &window.cluster {
                let names = places.entry(cluster.clone()).or_default();
                names.entry(window.name.clone()).or_default().push(place);
            }
        }
        Self {
            windows,
            period,
            places,
        }
    }

    /// The windows of a job's reservation, with what of the job is in each; `None` when it ran in none that is listed.
    pub(super) fn of<'r>(
        &'r self,
        part: &PeriodPart<'_>,
    ) -> Option<impl Iterator<Item = (usize, &'r ReservationWindow, MsSpan)> + use<'r>> {
        let span = part.span;
        let places = self.places.get(part.cluster)?.get(part.reservation?)?;
        Some(places.iter().filter_map(move |place| {
            let window = self.windows.get(*place)?;
            let within = window.span.common(span)?;
            Some((*place, window, within))
        }))
    }

    /// Notes how long a part of a job sat in its reservation.
    pub(super) fn sit(&self, part: &PeriodPart<'_>, sitting: &mut Sitting) {
        let Some(name) = part.reservation else { return };
        let Some(windows) = self.of(part) else {
            let key = (part.cluster.to_owned(), name.to_owned());
            sitting.unlisted.insert(key);
            return;
        };
        for (place, window, within) in windows {
            for (nth, (tres, _)) in window.amounts.iter().enumerate() {
                if !holds(part, tres) {
                    continue;
                }
                for (hour, from_ms, until_ms) in self.period.hours(within) {
                    *sitting.ms.entry((place, nth, hour)).or_default() += until_ms - from_ms;
                }
            }
        }
    }

    /// What was handed to whom, and what people have to know of it.
    pub(super) fn idle(&self, sitting: &Sitting) -> (BTreeMap<SreportWho, Used>, Vec<String>) {
        let mut handed: BTreeMap<SreportWho, Used> = BTreeMap::new();
        let mut left_out: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (place, window) in self.windows.iter().enumerate() {
            let (cluster, members, named_n) = match (&window.cluster, &window.allowed) {
                (None, _) => {
                    let why = "the listing names no cluster (give its [[inventory]] a cluster)";
                    left_out.entry(why).or_default().insert(&window.name);
                    continue;
                }
                (_, Allowed::Unnamed) => {
                    let why = "the listing does not state who may use them (scontrol show reservation does)";
                    left_out.entry(why).or_default().insert(&window.name);
                    continue;
                }
                (_, Allowed::Unlisted) => {
                    let why = "no listing of associations states the accounts of their users";
                    left_out.entry(why).or_default().insert(&window.name);
                    continue;
                }
                (Some(cluster), Allowed::Some { members, named_n }) => (cluster, members, *named_n),
            };
            for (hour, from_ms, until_ms) in self.period.hours(window.span) {
                for (nth, (tres, n)) in window.amounts.iter().enumerate() {
                    let sat_ms = tally(sitting.ms.get(&(place, nth, hour)).copied());
                    // A job counts as if it held all that is reserved.
                    let idle_s = i128::from(*n) * i128::from((until_ms - from_ms - sat_ms) / 1000);
                    if idle_s <= 0 {
                        break;
                    }
                    for (account, user) in members {
                        let who = SreportWho {
                            cluster: cluster.clone(),
                            account: account.clone(),
                            user: user.clone(),
                        };
                        handed.entry(who).or_default().add_named(tres, idle_s / named_n);
                    }
                }
            }
        }
        let mut notes = Vec::new();
        let cores = handed.values().filter_map(|used| used.named("cpu")).sum::<i128>();
        if cores > 0 {
            notes.push(format!(
                "{cores} core seconds of idle reserved time are handed to those who might have used it, as Slurm does"
            ));
        }
        let unlisted = sitting.unlisted.iter().map(|(_, name)| name.as_str());
        let unlisted: BTreeSet<&str> = unlisted.collect();
        if !unlisted.is_empty() {
            left_out.insert(
                "no listing describes them (add scontrol show reservation under [[inventory]])",
                unlisted,
            );
        }
        notes.extend(left_out.into_iter().map(|(why, names)| {
            let shown: Vec<&str> = names.iter().take(3).copied().collect();
            let more = names.len() - shown.len();
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!(
                "reservations {}{more}: {why}; idle time in them, which Slurm hands to those who may use it, is not in \
                 these numbers",
                shown.join(", ")
            )
        }));
        (handed, notes)
    }
}

/// Whether a job holds any of a resource.
fn holds(part: &PeriodPart<'_>, tres: &str) -> bool {
    match TRES.iter().position(|name| *name == tres) {
        Some(place) => part.amount(place).is_some_and(|n| n > 0),
        None => part.models().any(|(model, n)| n > 0 && model_of(tres) == Some(model)),
    }
}
