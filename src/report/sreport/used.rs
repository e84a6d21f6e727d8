//! What was used of each trackable resource.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::table::known_sum;

/// Trackable resources in sreport's order; memory in MiB. GPUs by model follow them.
pub(super) const TRES: [&str; 5] = ["cpu", "mem", "node", "billing", "gres/gpu"];

/// The prefix of the model in the name of a typed GPU.
const MODEL: &str = "gres/gpu:";

/// Seconds of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// In the order of [`TRES`]; `None` until a job states how much it held.
    sums: [Option<i128>; TRES.len()],
    /// Of GPUs by model.
    models: BTreeMap<String, i128>,
    /// Jobs whose amount is unknown.
    unknown_n: [u64; TRES.len()],
}

impl Used {
    /// Adds what something else used.
    pub(super) fn add(&mut self, more: &Self) {
        for (sum, part) in self.sums.iter_mut().zip(more.sums) {
            *sum = known_sum(*sum, part);
        }
        for (model, seconds) in &more.models {
            self.add_model(model, *seconds);
        }
        for (sum, part) in self.unknown_n.iter_mut().zip(more.unknown_n) {
            *sum += part;
        }
    }

    /// Notes a job whose amount of the resource at a place is unknown.
    pub(super) fn lack(&mut self, place: usize) {
        if let Some(sum) = self.unknown_n.get_mut(place) {
            *sum += 1;
        }
    }

    /// Jobs a sum is without, though it holds others.
    pub(super) fn lacking(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let lines = TRES.into_iter().zip(self.sums).zip(self.unknown_n);
        lines.filter_map(|((name, sum), unknown_n)| (sum.is_some() && unknown_n > 0).then_some((name, unknown_n)))
    }

    /// Adds to the resource at a place of [`TRES`].
    pub(super) fn add_at(&mut self, place: usize, seconds: Option<i128>) {
        if let Some(sum) = self.sums.get_mut(place) {
            *sum = known_sum(*sum, seconds);
        }
    }

    /// Adds to a model of GPU.
    pub(super) fn add_model(&mut self, model: &str, seconds: i128) {
        match self.models.get_mut(model) {
            Some(sum) => *sum += seconds,
            None => {
                self.models.insert(model.to_owned(), seconds);
            }
        }
    }

    /// Adds to a resource by its name.
    pub(super) fn add_named(&mut self, name: &str, seconds: i128) {
        match (TRES.iter().position(|tres| *tres == name), model_of(name)) {
            (Some(place), _) => self.add_at(place, Some(seconds)),
            (None, Some(model)) => self.add_model(model, seconds),
            (None, None) => {}
        }
    }

    /// Seconds of a resource by its name.
    pub(super) fn named(&self, name: &str) -> Option<i128> {
        if let Some(place) = TRES.iter().position(|tres| *tres == name) {
            return self.sums.get(place).copied().flatten();
        }
        // Of a model that nothing names, none was used where it is known how many GPUs were.
        let gpus = self.sums.last().copied().flatten();
        self.models.get(model_of(name)?).copied().or(gpus.map(|_| 0))
    }

    /// The models it names.
    pub(super) fn models(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }
}

/// The names of all resources of a cluster with these models of GPUs.
pub(super) fn names<S: AsRef<str>>(models: &BTreeSet<S>) -> Vec<String> {
    let typed = models.iter().map(|model| model_name(model.as_ref()));
    TRES.iter().map(|name| (*name).to_owned()).chain(typed).collect()
}

/// The name of a model as a trackable resource.
pub(super) fn model_name(model: &str) -> String {
    format!("{MODEL}{model}")
}

/// The model in the name of a typed GPU.
pub(super) fn model_of(name: &str) -> Option<&str> {
    name.strip_prefix(MODEL)
}

/// Whether a lake can contain a resource that sreport knows by this name.
pub(super) fn is_name(name: &str) -> bool {
    TRES.contains(&name) || model_of(name).is_some_and(|model| !model.is_empty())
}
