//! A lake opened for a report: which sites, months and VOs are requested, and the batches that may hold them.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;

use crate::dedupe::summary::from_batch;
use crate::error::{Error, Kind, Result};
use crate::lake::refused_records::{RefusedRecords, summed_records};
use crate::record::{SiteMonth, Summary};
use crate::schema::batch::text;
use crate::store::Fact;
use crate::store::table::ROW_GROUP_ROWS;
use crate::store::{Manifest, Store, TableRows, lake, read_rows, read_table};
use crate::summarise::correction_effect::Corrections;
use crate::time::{Day, DaySpan, Month, Zone};

/// Row groups a thread takes at once.
const PIECE_GROUPS: usize = 8;

/// Rows read at once: no batch spans two row groups, which have dictionaries of their own.
const BATCH_ROWS: usize = ROW_GROUP_ROWS / 8;

/// Which part of a lake a report is about. An empty selection means everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Sites, by their exact names.
    pub sites: BTreeSet<String>,
    /// VOs, whatever the case of their letters.
    pub vos: BTreeSet<String>,
    /// Days, each in the zone a report counts in.
    pub days: DaySpan,
}

impl Selection {
    /// Whether a site is requested.
    #[must_use]
    pub fn has_site(&self, site: &str) -> bool {
        self.sites.is_empty() || self.sites.contains(site)
    }

    /// Whether a month is requested, or some days of it.
    #[must_use]
    pub fn has_month(&self, month: Month) -> bool {
        self.days.touches(month)
    }

    /// Refuses a month of which only some days are requested, where `what` exists by complete month only.
    ///
    /// # Errors
    /// [`Kind::Usage`] when it is such a month.
    pub fn must_be_whole(&self, month: Month, what: &str) -> Result<()> {
        if !self.days.cuts(month) {
            return Ok(());
        }
        let message = format!("{what} are known of {month} as a whole, not of its days: take whole months");
        Err(Error::new(Kind::Usage, message))
    }

    /// The month of a row of usage or of charges, where the row is requested.
    ///
    /// # Errors
    /// [`Kind::Usage`] when the row is of a complete month and only some days of it are requested.
    pub fn month_of(&self, first_day: Day, day: Option<Day>, what: &str) -> Result<Option<Month>> {
        let Some(month) = Month::of_day(first_day).filter(|month| self.has_month(*month)) else {
            return Ok(None);
        };
        match day {
            Some(day) => Ok(self.days.has(day).then_some(month)),
            None => self.must_be_whole(month, what).map(|()| Some(month)),
        }
    }

    /// Whether a VO is requested; unknown ones only when none is named.
    #[must_use]
    pub fn has_vo(&self, vo: Option<&str>) -> bool {
        self.vos.is_empty() || vo.is_some_and(|vo| self.vos.iter().any(|wanted| wanted.eq_ignore_ascii_case(vo)))
    }
}

/// Row groups of one file of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LakePiece {
    /// Site.
    pub site: String,
    /// Month by which the records are filed.
    pub month: Month,
    /// The file.
    pub path: String,
    /// Its row groups.
    pub groups: std::ops::Range<usize>,
}

/// Does `work` for every piece on all processors; the results are in the order of the pieces.
///
/// # Errors
/// The first error in that order.
pub fn on_all_processors<R: Send>(
    pieces: &[LakePiece],
    work: impl Fn(&LakePiece) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    crate::runtime::pool::each(pieces, threads, work)
}

/// A published lake.
#[derive(Debug)]
pub struct Lake {
    /// Its path or URL.
    pub store: Store,
    /// What is published.
    pub manifest: Manifest,
}

impl Lake {
    /// Opens the lake at a path or URL.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is none; [`Kind::Io`] when it cannot be read.
    pub fn open(output: &str) -> Result<Self> {
        let (store, manifest) = Manifest::open(output)?;
        Ok(Self { store, manifest })
    }

    /// The zone in which its months are cut.
    ///
    /// # Errors
    /// [`Kind::Data`] when it does not state it.
    pub fn zone(&self) -> Result<Zone> {
        let name = self.manifest.facts.get(Fact::CalendarTimezone).ok_or_else(|| {
            let message = "the lake does not state in which zone its months are cut: run its pipeline again";
            Error::new(Kind::Data, message).at("lake", self.store.url())
        })?;
        Zone::named(name)
    }

    /// The corrections it was published with.
    ///
    /// # Errors
    /// As [`Corrections::read`].
    pub fn corrections(&self) -> Result<Corrections> {
        Corrections::read(&self.store, &self.manifest)
    }

    /// The published files of records of some sites, up to a month, in pieces that threads take one by one: site, path,
    /// row groups.
    ///
    /// # Errors
    /// [`Kind::Io`] when a file cannot be read.
    pub fn record_pieces(&self, selection: &Selection) -> Result<Vec<LakePiece>> {
        let mut pieces = Vec::new();
        for (site, month, path) in self.months("records")? {
            // A job is in the month of its start, or of its end: never in a later one than that in which it ended.
            if !selection.has_site(&site) || selection.days.last_month().is_some_and(|to| to < month) {
                continue;
            }
            let group_n = crate::store::row_groups(&self.store.reader(&path)?)?;
            for from in (0..group_n).step_by(PIECE_GROUPS) {
                pieces.push(LakePiece {
                    site: site.clone(),
                    month,
                    path: path.clone(),
                    groups: from..(from + PIECE_GROUPS).min(group_n),
                });
            }
        }
        Ok(pieces)
    }

    /// The batches of a piece: the named columns of the records that `usage` can take.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn piece_batches(
        &self,
        piece: &LakePiece,
        columns: &[&str],
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let wanted = TableRows {
            groups: Some(piece.groups.clone()),
            ..TableRows::of_columns(columns, BATCH_ROWS)
        };
        summed_records(&self.store, &self.manifest, &piece.path, &wanted)
    }

    /// The same of one published file of records.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn record_batches(
        &self,
        path: &str,
        columns: &[&str],
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        summed_records(
            &self.store,
            &self.manifest,
            path,
            &TableRows::of_columns(columns, BATCH_ROWS),
        )
    }

    /// The same, with texts as codes where they are stored as such.
    ///
    /// # Errors
    /// As [`Self::record_batches`].
    pub fn coded_record_batches(
        &self,
        path: &str,
        columns: &[&str],
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let wanted = TableRows {
            are_texts_coded: true,
            ..TableRows::of_columns(columns, BATCH_ROWS)
        };
        summed_records(&self.store, &self.manifest, path, &wanted)
    }

    /// The refused records of the month of a piece.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub fn refused_records(&self, piece: &LakePiece) -> Result<RefusedRecords> {
        RefusedRecords::of_file(&self.store, &self.manifest, &piece.path)
    }

    /// The batches of a piece: the named columns of all records, those that are refused included.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn whole_piece_batches(
        &self,
        piece: &LakePiece,
        columns: &[&str],
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let reader = self.store.reader(&piece.path)?;
        let wanted = TableRows {
            groups: Some(piece.groups.clone()),
            ..TableRows::of_columns(columns, BATCH_ROWS)
        };
        read_rows(reader, &wanted)
    }

    /// The batches of one published file: all columns, or the named ones.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn batches(
        &self,
        path: &str,
        columns: Option<&[&str]>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        read_table(self.store.reader(path)?, columns, BATCH_ROWS)
    }

    /// The files of a dataset that is partitioned by site and record month: (site, month, path), sorted.
    ///
    /// # Errors
    /// [`Kind::Data`] when a path names neither.
    pub fn months(&self, dataset: &str) -> Result<Vec<(String, Month, String)>> {
        let mut files = Vec::new();
        for file in self.manifest.dataset(dataset) {
            let SiteMonth { site, month } = lake::parse_month_path(&file.path)
                .ok_or_else(|| Error::new(Kind::Data, "the path names no site and month").at("path", &file.path))?;
            files.push((site, month, file.path.clone()));
        }
        files.sort();
        Ok(files)
    }

    /// The summaries and sync records of the selection that count, of batch jobs: other views describe the same hours.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read; [`Kind::Usage`] when days of their months are requested.
    pub fn summaries(&self, selection: &Selection) -> Result<Vec<Summary>> {
        let rows = self.summaries_of_months(selection)?;
        for row in &rows {
            selection.must_be_whole(row.month, &format!("the summaries of {}", row.site))?;
        }
        Ok(rows)
    }

    /// The same of all months of which days are requested.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub fn summaries_of_months(&self, selection: &Selection) -> Result<Vec<Summary>> {
        let mut rows = self.summaries_of_all_views(selection)?;
        rows.retain(|row| row.words.view.as_deref() == Some("batch"));
        Ok(rows)
    }

    /// The same of every view.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub fn summaries_of_all_views(&self, selection: &Selection) -> Result<Vec<Summary>> {
        let mut rows = Vec::new();
        for (site, month, path) in self.months("summary")? {
            if selection.has_site(&site) && selection.has_month(month) {
                for batch in self.batches(&path, None)? {
                    let read = from_batch(&batch?, &site, month)?.into_iter();
                    rows.extend(read.filter(|row| !row.is_usage() || selection.has_vo(row.words.vo.as_deref())));
                }
            }
        }
        Ok(rows)
    }

    /// Sites (in lower case) and months in which summaries of batch jobs count, so that the jobs do not.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub fn summarised_places(&self) -> Result<BTreeSet<(String, Month)>> {
        let mut places = BTreeSet::new();
        for (site, month, path) in self.months("summary")? {
            for batch in self.batches(&path, Some(&["kind", "view"]))? {
                let batch = batch?;
                let (kinds, views) = (text(&batch, "kind")?, text(&batch, "view")?);
                if kinds
                    .iter()
                    .zip(views)
                    .any(|(kind, view)| kind != Some("sync") && view == Some("batch"))
                {
                    places.insert((site.to_lowercase(), month));
                    break;
                }
            }
        }
        Ok(places)
    }
}
