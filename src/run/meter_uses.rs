//! Meters of nodes, held against the jobs of all months of a site.
//!
//! A job is with the month that its record is placed in, and may have run in others: who used a meter is known of all months together.

use std::collections::{BTreeMap, BTreeSet};

use super::partition::{PartitionResult, counting};
use super::partition_context::PartitionContext;
use crate::energy::{MeterUses, SharedMeter};
use crate::error::{Error, Kind, Result};
use crate::lake::energy_fact;
use crate::lake::state::State;
use crate::lake::views::folded;
use crate::normalise::{Normaliser, factors_of};
use crate::record::SiteMonth;
use crate::reference::benchmark::AskedSpan;
use crate::schema::batch::words;
use crate::store::Fact;
use crate::store::lake;
use crate::summarise::Usage;

/// Months of a site that this run has built.
#[derive(Default)]
struct BuiltMonths {
    uses: Vec<MeterUses>,
    places: BTreeSet<SiteMonth>,
    asked: Option<AskedSpan>,
}

impl BuiltMonths {
    fn add(&mut self, done: &mut PartitionResult) {
        self.places.insert(SiteMonth::new(done.site.as_str(), done.month));
        let Some(uses) = done.meter_uses.take().filter(|uses| !uses.is_empty()) else {
            return;
        };
        self.uses.push(uses);
        if let Some(of_month) = done.energy_asked {
            let all = self.asked.map(|all| all.with(of_month.first_ms).with(of_month.last_ms));
            self.asked = all.or(Some(of_month));
        }
    }

    /// Whether jobs of a published month that stays may have used the same meters at the same time.
    fn concerns(&self, context: &PartitionContext<'_>, state: &State, place: &SiteMonth) -> Result<bool> {
        let asked = (state.fact(Fact::JobEnergy(&place.site, place.month))).and_then(energy_fact::asked_of);
        let is_same_time = |(built, of_place): (AskedSpan, AskedSpan)| {
            built.first_ms < of_place.last_ms && of_place.first_ms < built.last_ms
        };
        if self.places.contains(place) || !self.asked.zip(asked).is_some_and(is_same_time) {
            return Ok(false);
        }
        let mut clusters: BTreeSet<Option<String>> = BTreeSet::new();
        let of_built = self.uses.iter().flat_map(MeterUses::clusters);
        clusters.extend(of_built.map(|cluster| cluster.map(str::to_owned)));
        let path = lake::month_path("usage_part", &place.site, place.month);
        let published = lake::column_batches(context.publication, &path, Some(&["cluster"]))?;
        for batch in published.into_iter().flatten() {
            let batch = batch?;
            let of_rows = words(&batch, "cluster")?;
            clusters.extend((0..batch.num_rows()).map(|row| of_rows.get(row).map(str::to_owned)));
        }
        Ok(clusters.len() > 1)
    }
}

/// Refuses a meter that counted for jobs of two clusters at the same time: the table does not state whose node it is of.
///
/// # Errors
/// [`Kind::Config`] when there is one, [`Kind::Io`] when the lake cannot be read.
pub(crate) fn hold(context: &PartitionContext<'_>, state: &State, done: &mut [PartitionResult]) -> Result<()> {
    let mut sites: BTreeMap<String, BuiltMonths> = BTreeMap::new();
    for done in done {
        sites.entry(done.site.clone()).or_default().add(done);
    }
    for (site, mut built) in sites {
        for place in state.partitions().iter().filter(|place| place.site == site) {
            if built.concerns(context, state, place)? {
                built.uses.extend(of_published(context, place)?);
            }
        }
        if let Some(shared) = MeterUses::shared(built.uses)? {
            return Err(refusal(&shared).at("site", &site));
        }
    }
    Ok(())
}

/// Who used meters in a published month.
fn of_published(context: &PartitionContext<'_>, place: &SiteMonth) -> Result<Option<MeterUses>> {
    let mut usage = Usage::new(context.plan.summing(), &place.site);
    let mut normaliser = Normaliser::new(&context.plan.normalise, &place.site);
    let displaced = context.displaced.get(&folded(place));
    let records = lake::batches(
        context.publication,
        &lake::month_path("records", &place.site, place.month),
    )?;
    for batch in records.into_iter().flatten() {
        let batch = batch?;
        let scales = factors_of(&batch, &mut normaliser)?;
        let (batch, scales) = counting(displaced, batch, scales, &mut normaliser)?;
        usage.add(&batch, &scales)?;
    }
    usage.take_meter_uses()
}

fn refusal(shared: &SharedMeter) -> Error {
    let SharedMeter {
        node,
        clusters: [one, other],
    } = shared;
    let message = format!(
        "[energy] meters: jobs of the clusters \"{one}\" and \"{other}\" ran on the node {node} at the same time, and what its \
         meter counted would count for both: take the rows of such nodes out of the table"
    );
    Error::new(Kind::Config, message)
}
