//! The policies a lake charges jobs by, as it keeps them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::charge::Tariff;
use crate::charge::charged_tariff::is_of_nodes;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::text;
use crate::store::{Manifest, Store, read_table};

/// Rows read at once.
const READ_ROWS: usize = 65_536;

/// The policies of a lake.
#[derive(Clone, Debug, Default)]
pub(crate) struct LakeTariffs {
    /// Those that can be read, ordered by policy, version and options.
    pub(crate) tariffs: Vec<Arc<Tariff>>,
    /// Those that cannot, and why.
    pub(crate) unreadable: Vec<String>,
}

impl LakeTariffs {
    /// Those of a lake. Shares of nodes are none: what a job is billed of its nodes depends on the jobs next to it.
    ///
    /// # Errors
    /// [`Kind::Data`] when the text of a policy is that of another; [`Kind::Io`] when they cannot be read.
    pub(crate) fn read(store: &Store, manifest: &Manifest) -> Result<Self> {
        let (mut tariffs, mut unreadable) = (BTreeMap::new(), Vec::new());
        for file in manifest.dataset("policy") {
            for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
                let batch = batch?;
                let of = |name: &str| text(&batch, name);
                let (ids, versions, options, texts) = (of("id")?, of("version")?, of("options")?, of("text")?);
                for row in (0..batch.num_rows()).filter(|row| !is_of_nodes(ids.value(*row))) {
                    let key = [ids, versions, options].map(|column| column.value(row).to_owned());
                    match Tariff::restored(&file.path, texts.value(row), options.value(row)) {
                        Ok(tariff) => {
                            let reported = [&tariff.policy.id, &tariff.policy.version, &tariff.chosen];
                            if reported.into_iter().ne(&key) {
                                let why = "the text of a policy is not that of its name";
                                return Err(Error::new(Kind::Data, why).at("policy", key.join(" ")));
                            }
                            tariffs.insert(key, Arc::new(tariff));
                        }
                        Err(why) => unreadable.push(format!("policy {}: {why}", key.join(" "))),
                    }
                }
            }
        }
        Ok(Self {
            tariffs: tariffs.into_values().collect(),
            unreadable,
        })
    }
}
