//! Quality of the data of the site: what is odd about single jobs, and where the input rows went.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::numbers::count_i128;
use crate::report::lake::{Lake, Selection};
use crate::schema::batch::{flag, int, text, word};

/// What became of input rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowOutcome {
    /// Source, where rows are distinguished by it.
    pub source: Option<String>,
    /// Outcome.
    pub outcome: String,
    /// Reason.
    pub reason: String,
}

/// Records by what is odd about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagCount {
    /// The column of records.
    pub name: String,
    /// What it means.
    pub meaning: String,
    /// Records on which it is set.
    pub job_n: i128,
}

/// How good the data of the site is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteQuality {
    /// Flags that are set on any record of the selection.
    pub flags: Vec<FlagCount>,
    /// Input rows of the site.
    pub rows: BTreeMap<RowOutcome, i128>,
    /// Rows of which the ledger has no site, of sources that have rows of the site, by source: most were refused before their site
    /// was known.
    pub rows_without_site: BTreeMap<RowOutcome, i128>,
    /// Input files of the site, by source: how many.
    pub inputs: BTreeMap<String, usize>,
}

impl SiteQuality {
    /// Reads it of one site. Flags are those of the selected months and VOs; rows are all rows of the site.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub(super) fn read(lake: &Lake, site: &str, selection: &Selection) -> Result<Self> {
        let mut quality = Self {
            flags: flags(lake, site, selection)?,
            ..Self::default()
        };
        for file in lake.manifest.dataset("ledger") {
            for batch in lake.batches(&file.path, None)? {
                quality.add_rows(&batch?, site)?;
            }
        }
        let inputs = &quality.inputs;
        let is_of_site = |of: &RowOutcome| of.source.as_ref().is_some_and(|source| inputs.contains_key(source));
        quality.rows_without_site.retain(|of, _| is_of_site(of));
        Ok(quality)
    }

    /// Adds a batch of the ledger; rows without a site of every source.
    fn add_rows(&mut self, batch: &arrow_array::RecordBatch, site: &str) -> Result<()> {
        let (sites, sources) = (text(batch, "site")?, text(batch, "source")?);
        let (outcomes, reasons) = (text(batch, "outcome")?, text(batch, "reason")?);
        let (file_ids, row_ns) = (text(batch, "file_id")?, int(batch, "row_n")?);
        let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for row in 0..batch.num_rows() {
            let source = sources.value(row);
            let of = |source: Option<&str>| RowOutcome {
                source: source.map(str::to_owned),
                outcome: outcomes.value(row).to_owned(),
                reason: reasons.value(row).to_owned(),
            };
            let row_n = i128::from(row_ns.value(row));
            match word(sites, row) {
                None => *self.rows_without_site.entry(of(Some(source))).or_default() += row_n,
                Some(own) if own == site => {
                    *self.rows.entry(of(None)).or_default() += row_n;
                    files.entry(source).or_default().insert(file_ids.value(row));
                }
                Some(_) => {}
            }
        }
        for (source, files) in files {
            *self.inputs.entry(source.to_owned()).or_default() += files.len();
        }
        Ok(())
    }
}

/// The flags that are set on records of a site, of the selected months and VOs.
fn flags(lake: &Lake, site: &str, selection: &Selection) -> Result<Vec<FlagCount>> {
    let dataset = crate::schema::dataset("records")?;
    let mut counts: Vec<FlagCount> = (dataset.columns.iter())
        .filter(|column| column.name.starts_with("is_"))
        .map(|column| FlagCount {
            name: column.name.clone(),
            meaning: column.doc.clone(),
            job_n: 0,
        })
        .collect();
    let names = counts.iter().map(|flag| flag.name.clone()).chain(["vo".to_owned()]);
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (of, month, path) in lake.months("records")? {
        if of != site || !selection.has_month(month) {
            continue;
        }
        for batch in lake.record_batches(&path, &names)? {
            let batch = batch?;
            let vos = text(&batch, "vo")?;
            for count in &mut counts {
                let set = flag(&batch, &count.name)?;
                count.job_n += if selection.vos.is_empty() {
                    count_i128(set.true_count())
                } else {
                    let is_counted = |row: &usize| set.value(*row) && selection.has_vo(word(vos, *row));
                    count_i128((0..batch.num_rows()).filter(is_counted).count())
                };
            }
        }
    }
    counts.retain(|count| count.job_n > 0);
    Ok(counts)
}
