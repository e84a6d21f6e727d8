//! What the newest listings of a cluster state: a value by name, such as the priority of a QOS.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::settings::READ_ROWS;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::Result;
use crate::schema::batch::{number, text, time, word};
use crate::store::{Current, Store, read_table};

/// What the newest listings of a cluster state, by a name; of listings of one instant the first file counts.
pub(crate) fn newest<T>(
    store: &Store,
    files: &[Current],
    of: &FairsharePlan,
    name_column: &str,
    value: impl Fn(&RecordBatch, usize) -> Result<T>,
) -> Result<BTreeMap<String, T>> {
    let mut newest: BTreeMap<String, (Option<i64>, T)> = BTreeMap::new();
    for file in files {
        for batch in read_table(store.reader(&file.place)?, None, READ_ROWS)? {
            let batch = batch?;
            let (site, cluster) = (text(&batch, "site")?, text(&batch, "cluster")?);
            let (names, as_of) = (text(&batch, name_column)?, time(&batch, "as_of_utc")?);
            for row in 0..batch.num_rows() {
                if !of.may_be_of(word(site, row), word(cluster, row)) {
                    continue;
                }
                let Some(name) = word(names, row) else { continue };
                let at = number(as_of, row);
                if newest.get(name).is_none_or(|(known, _)| at > *known) {
                    newest.insert(name.to_owned(), (at, value(&batch, row)?));
                }
            }
        }
    }
    Ok(newest.into_iter().map(|(name, (_, value))| (name, value)).collect())
}
