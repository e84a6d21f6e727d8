//! The books of a lake, held against what is known of them elsewhere, and the last page of `runs` against the manifest.

use std::collections::BTreeMap;

use super::report::VerifyReport;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::text;
use crate::store::chain::Page;
use crate::store::seal::SEAL;
use crate::store::{Manifest, Seal, SealHead, Store, read_table};

/// Opens a lake, without its manifest where that is damaged: what is damaged is reported by path.
pub(crate) fn open(output: &str) -> Result<(Store, Option<Manifest>)> {
    let store = Store::open_existing(output)?;
    match Manifest::load(&store) {
        Ok(None) if store.get(SEAL)?.is_none() => {
            let message = format!("{output} is not a lake: it has no manifest.json");
            Err(Error::new(Kind::NoInput, message))
        }
        Ok(manifest) => Ok((store, manifest)),
        Err(why) if why.kind() == Kind::Data => Ok((store, None)),
        Err(why) => Err(why),
    }
}

/// Notes where the books end, and looks for the pages at which they ended once, and for the run that made the manifest.
pub(crate) fn check(
    store: &Store,
    books: &BTreeMap<String, Vec<Page>>,
    heads: &[String],
    report: &mut VerifyReport,
) -> Result<()> {
    for head in heads {
        if !books.values().flatten().any(|page| page.blake3 == *head) {
            let problem = format!(
                "no page of a book has the head {head}: this is not the lake that printed it, or not all of it"
            );
            report.find(SEAL, problem);
        }
    }
    for (book, pages) in books {
        let head = pages.last().map_or_else(SealHead::default, |last| SealHead {
            page_n: last.number,
            blake3: last.blake3.clone(),
        });
        report.books.insert(book.clone(), head);
    }
    let last = books.get("runs").and_then(|pages| pages.last());
    let (Some(last), true) = (last, report.is_sound()) else {
        return Ok(()); // what is damaged is named already
    };
    // Fallback: a lake without a seal is sealed to nothing, which differs from any manifest.
    let sealed = Seal::load(store)?.unwrap_or_default().manifest_blake3;
    for batch in read_table(store.reader(&last.path)?, Some(&["manifest_blake3"]), 16)? {
        let batch = batch?;
        if text(&batch, "manifest_blake3")?
            .iter()
            .any(|made| made != Some(&sealed))
        {
            report.find(
                &last.path,
                "the last run made another manifest than the one that is there",
            );
        }
    }
    Ok(())
}
