//! Checks requested names against those a lake contains.

use std::collections::BTreeSet;

use super::lake::{Lake, Selection};
use crate::diagnostics::{did_you_mean, must_be_known};
use crate::error::Result;
use crate::schema::batch::{text, word};
use crate::store::lake::{parse_usage_path, sites};

/// Names of sites and VOs that somebody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownNames {
    /// Sites.
    pub sites: BTreeSet<String>,
    /// VOs.
    pub vos: BTreeSet<String>,
}

impl KnownNames {
    /// Those of a lake; of its VOs those of usage, all of them where the selection requests no others.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read.
    pub fn of_lake(lake: &Lake, selection: &Selection) -> Result<Self> {
        let mut vos = published_vos(lake);
        if selection.vos.iter().any(|vo| !has(&vos, vo)) {
            // Jobs that used nothing are in no usage.
            vos.extend(vos_of_records(lake)?);
        }
        Ok(Self {
            sites: sites(&lake.manifest),
            vos,
        })
    }

    /// Adds what somebody else knows.
    pub fn extend(&mut self, other: &Self) {
        self.sites.extend(other.sites.iter().cloned());
        self.vos.extend(other.vos.iter().cloned());
    }

    /// Checks the sites and VOs of a selection against them, VOs regardless of letter case. `who_has` names
    /// who knows them, such as `the lake has`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] for an unknown one, with the nearest name.
    pub fn must_have(&self, selection: &Selection, who_has: &str) -> Result<()> {
        for site in &selection.sites {
            must_be_known(who_has, "site", site, &self.sites)?;
        }
        let unknown = selection.vos.iter().find(|vo| !has(&self.vos, vo));
        unknown.map_or(Ok(()), |vo| must_be_known(who_has, "VO", vo, &self.vos))
    }
}

fn has(known: &BTreeSet<String>, vo: &str) -> bool {
    known.iter().any(|other| other.eq_ignore_ascii_case(vo))
}

/// VOs that folders are named after.
fn published_vos(lake: &Lake) -> BTreeSet<String> {
    let files = ["usage", "charges"]
        .into_iter()
        .flat_map(|dataset| lake.manifest.dataset(dataset));
    files.filter_map(|file| parse_usage_path(&file.path)?.1).collect()
}

fn vos_of_records(lake: &Lake) -> Result<BTreeSet<String>> {
    let mut known = BTreeSet::new();
    for dataset in ["records", "summary"] {
        for file in lake.manifest.dataset(dataset) {
            for batch in lake.batches(&file.path, Some(&["vo"]))? {
                let batch = batch?;
                let vos = text(&batch, "vo")?;
                for vo in (0..batch.num_rows()).filter_map(|row| word(vos, row)) {
                    if !known.contains(vo) {
                        known.insert(vo.to_owned());
                    }
                }
            }
        }
    }
    Ok(known)
}

/// The note about a receiver that nothing was sent to before, where the book has others.
#[must_use]
pub fn note_of_new_receiver<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: BTreeSet<&str> = known.into_iter().collect();
    if known.is_empty() || known.contains(name) {
        return None;
    }
    let hint = did_you_mean(name, known.iter().copied());
    let others: Vec<&str> = known.into_iter().collect();
    Some(format!(
        "nothing was sent to a receiver called \"{name}\" before{hint}; the book has {}",
        others.join(", ")
    ))
}
