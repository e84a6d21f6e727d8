//! Windows of reservations, charged by the policies that charge for them: whether jobs used them or not.
//!
//! A window is listed in an inventory, usually several times. The last one holds; one that had not begun when the
//! last listing contained it was a plan, and is not charged. Windows of maintenance have no owner and are not charged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use super::charges::ChargePart;
use super::partition_context::PartitionContext;
use super::refused_reservations::{RefusedWindows, WindowOrigin, beyond_sums};
use super::reservation_report::{PlannedWindow, ReservationReport};
use crate::charge::charged_view::RESERVATION_VIEW;
use crate::charge::policy::Subject;
use crate::error::{Error, Kind, Result};
use crate::ledger::Book;
use crate::record::SiteMonth;
use crate::schema;
use crate::schema::batch::{column, id, identities, int, ints, number, text, texts, time, word};
use crate::store::lake::{self, LakeTable};
use crate::store::{Manifest, ObjectReader, Store, read_table};
use crate::summarise::charges::Charges;
use crate::time::Month;
use crate::time::instant::second_text;

/// The key of a window.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ChargedWindow {
    site: String,
    cluster: Option<String>,
    name: String,
    start_ms: i64,
}

impl ChargedWindow {
    /// Of a window that had not begun when it was last listed.
    fn planned(self, as_of_ms: i64) -> PlannedWindow {
        // Fallback: a time that no year can be named for is shown as a number.
        let utc = |ms: i64| second_text(ms).unwrap_or_else(|| ms.to_string());
        PlannedWindow {
            start_utc: utc(self.start_ms),
            reservation: self.name,
            cluster: self.cluster,
            listed_utc: utc(as_of_ms),
        }
    }
}

/// What makes one listing of a window the last: when it was true, then the later end, then the input file.
type ChargedRank = (Option<i64>, i64, String);

/// Start, identity and row of a window: its place among the windows of a month.
type ReservationPlace = (i64, u128, u32);

/// What the windows of a lake were charged.
pub(crate) struct ChargedReservations {
    /// By site and month.
    pub(crate) parts: Vec<ChargePart>,
    /// How many there are; `None` where no policy charges for them.
    pub(crate) report: Option<ReservationReport>,
}

/// Charges every window the lake knows of, and takes away what is no longer charged. Windows that the sums of their month
/// cannot take are refused.
///
/// # Errors
/// [`Kind::Config`] when an inventory contains reservations without a site; [`Kind::Data`] when a number does not
/// fit; [`Kind::Io`] when the lake cannot be read or written.
pub(crate) fn charge(context: &PartitionContext<'_>, book: &mut Book) -> Result<ChargedReservations> {
    let subject = Subject::Reservations;
    let is_charged = context
        .plan
        .tariffs
        .iter()
        .any(|tariff| tariff.policy.subject == subject);
    let ListedWindows { begun, planned } = if is_charged {
        let mut rows = ListedRows::default();
        for file in context.publication.current("reservation") {
            rows.add(&file.path, context.publication.reader(&file.place)?)?;
        }
        windows(&rows)?
    } else {
        ListedWindows::default()
    };
    let (mut parts, mut charged_n) = (Vec::new(), 0);
    let (mut kept, mut all_refused) = (BTreeSet::new(), RefusedWindows::default());
    for (place, ChargedWindows { records, origins }) in begun {
        let refused = beyond_sums(&records)?;
        let of_refused = refused.iter().filter_map(|refused| origins.get(refused.row).cloned());
        all_refused.add(&place, of_refused);
        let SiteMonth { site, month } = place;
        let mut charges = Charges::new(context.plan.summing(), &site, subject);
        let rows = charges.add(&records, &refused)?;
        if let Some(rows) = rows {
            charged_n += id(&rows, "record_id")?.iter().collect::<BTreeSet<_>>().len();
            let path = path(&site, month);
            let mut table = LakeTable::create(context.publication, "job_charges", &path)?;
            table.write(&rows)?;
            table.finish(&[("gridtally.pipeline".to_owned(), context.plan.name.clone())])?;
            parts.push(ChargePart::stage(
                context,
                subject,
                &site,
                month,
                Some(charges.into_part()?),
            )?);
            kept.insert(SiteMonth { site, month });
        }
    }
    all_refused.publish(context, book)?;
    let published = context.publication.published();
    for file in published
        .into_iter()
        .flat_map(|manifest| manifest.dataset("job_charges"))
    {
        let Some(place) =
            lake::parse_month_path(&file.path).filter(|place| path(&place.site, place.month) == file.path)
        else {
            continue;
        };
        if !kept.contains(&place) {
            context.publication.remove(&file.path);
            parts.push(ChargePart::stage(context, subject, &place.site, place.month, None)?);
        }
    }
    let report = is_charged.then(|| ReservationReport::new(charged_n, planned));
    Ok(ChargedReservations { parts, report })
}

/// Where the charges of a month's windows stand one by one.
fn path(site: &str, month: Month) -> String {
    lake::subject_path("job_charges", Subject::Reservations.as_str(), site, month)
}

/// The windows of a site and month, in the order of their start.
pub(crate) struct ChargedWindows {
    /// With the columns of `records`.
    pub(crate) records: RecordBatch,
    /// Row for row.
    pub(crate) origins: Vec<WindowOrigin>,
}

/// The windows that listings contain; those of maintenance are not among them.
#[derive(Default)]
struct ListedWindows {
    /// Those that had begun when they were last listed, by site and month of their start.
    begun: BTreeMap<SiteMonth, ChargedWindows>,
    /// Those that had not.
    planned: Vec<PlannedWindow>,
}

/// The windows of a published lake that are charged where a policy is for them, by site and month of their start.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read.
pub(crate) fn published(store: &Store, manifest: &Manifest) -> Result<BTreeMap<SiteMonth, ChargedWindows>> {
    let mut rows = ListedRows::default();
    for file in manifest.dataset("reservation") {
        rows.add(&file.path, store.reader(&file.path)?)?;
    }
    Ok(windows(&rows)?.begun)
}

/// The rows of all listings.
#[derive(Default)]
struct ListedRows {
    batches: Vec<RecordBatch>,
    /// The source of each row.
    sources: Vec<String>,
}

impl ListedRows {
    /// Adds those of a file of `reservation`.
    fn add(&mut self, path: &str, file: ObjectReader) -> Result<()> {
        let source = path.split('/').nth(1).and_then(crate::hive::parse);
        // Fallback: the folder of an unknown source has the empty name.
        let source = source.and_then(|(_, source)| source).unwrap_or_default();
        for batch in read_table(file, None, 16_384)? {
            let batch = batch?;
            self.sources
                .extend(std::iter::repeat_n(source.clone(), batch.num_rows()));
            self.batches.push(batch);
        }
        Ok(())
    }
}

/// The windows of listings.
fn windows(rows: &ListedRows) -> Result<ListedWindows> {
    let ListedRows { batches, sources } = rows;
    let all = concat_batches(&schema::dataset("reservation")?.arrow(), batches)?;
    let mut by_place: BTreeMap<SiteMonth, Vec<ReservationPlace>> = BTreeMap::new();
    let LastListings { begun, planned } = last(&all)?;
    for (window, at) in begun {
        let day = window.start_ms.div_euclid(86_400_000);
        let month = i32::try_from(day).ok().and_then(Month::of_day);
        let month = month.ok_or_else(|| Error::new(Kind::Data, "a reservation begins in no year that can be named"))?;
        let own = by_place.entry(SiteMonth::new(window.site.as_str(), month)).or_default();
        own.push((window.start_ms, identity(&window), at));
    }
    let mut windows = BTreeMap::new();
    for (place, mut own) in by_place {
        own.sort_unstable();
        let rows = arrow_array::UInt32Array::from_iter_values(own.iter().map(|(.., at)| *at));
        let ids = identities(own.iter().map(|(_, id, _)| Some(*id)))?;
        let named = own.iter().map(|(.., at)| sources.get(*at as usize));
        let listed = take_record_batch(&all, &rows)?;
        let sources: Vec<&str> = named.map(|source| source.map_or("", String::as_str)).collect();
        let records = records(&listed, &ids, &texts(sources.iter().copied().map(Some)))?;
        let origins = origins(&listed, &sources)?;
        windows.insert(place, ChargedWindows { records, origins });
    }
    Ok(ListedWindows {
        begun: windows,
        planned,
    })
}

/// Where windows were read.
fn origins(listed: &RecordBatch, sources: &[&str]) -> Result<Vec<WindowOrigin>> {
    let (files, names) = (text(listed, "file_id")?, text(listed, "reservation")?);
    let (line, input_row_n) = (int(listed, "line")?, int(listed, "input_row_n")?);
    let origins = sources.iter().enumerate().map(|(row, source)| WindowOrigin {
        file_id: Arc::from(files.value(row)),
        line: line.value(row),
        source: (*source).to_owned(),
        name: names.value(row).to_owned(),
        input_row_n: input_row_n.value(row),
    });
    Ok(origins.collect())
}

/// The last listing of every window.
struct LastListings {
    /// Its row, where the window had begun by then.
    begun: BTreeMap<ChargedWindow, u32>,
    /// Windows that had not.
    planned: Vec<PlannedWindow>,
}

/// The last listing of every window but those of maintenance.
fn last(all: &RecordBatch) -> Result<LastListings> {
    let of = |name: &str| text(all, name);
    let (site, cluster, name) = (of("site")?, of("cluster")?, of("reservation")?);
    let (flags, files) = (of("flags")?, of("file_id")?);
    let (as_of, start) = (time(all, "as_of_utc")?, time(all, "start_utc")?);
    let end = time(all, "end_utc")?;
    let mut last: BTreeMap<ChargedWindow, (ChargedRank, u32)> = BTreeMap::new();
    for row in 0..all.num_rows() {
        let own_site = word(site, row).ok_or_else(|| {
            let message = "an [[inventory]] describes reservations, and a policy charges for them: it needs a site";
            Error::new(Kind::Config, message).at("reservation", name.value(row))
        })?;
        let window = ChargedWindow {
            site: own_site.to_owned(),
            cluster: word(cluster, row).map(str::to_owned),
            name: name.value(row).to_owned(),
            start_ms: start.value(row),
        };
        let rank = (number(as_of, row), end.value(row), files.value(row).to_owned());
        let at = u32::try_from(row).map_err(|why| Error::internal("4 billion reservations").because(why))?;
        let known = last.entry(window).or_insert_with(|| (rank.clone(), at));
        if rank > known.0 {
            *known = (rank, at);
        }
    }
    let (mut begun, mut planned) = (BTreeMap::new(), Vec::new());
    for (window, ((as_of_ms, ..), at)) in last {
        let is_maintenance = word(flags, at as usize).is_some_and(|flags| flags.split(',').any(|flag| flag == "MAINT"));
        match as_of_ms.filter(|as_of_ms| *as_of_ms < window.start_ms) {
            _ if is_maintenance => {}
            Some(as_of_ms) => planned.push(window.planned(as_of_ms)),
            None => {
                begun.insert(window, at);
            }
        }
    }
    Ok(LastListings { begun, planned })
}

/// What stands for the record of a window.
fn identity(window: &ChargedWindow) -> u128 {
    let ChargedWindow {
        site,
        cluster,
        name,
        start_ms,
    } = window;
    let text = format!("reservation {site:?} {cluster:?} {name:?} {start_ms}");
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().first_chunk().copied().map_or(0, u128::from_be_bytes)
}

/// Windows as if they were jobs: the whole of what is set aside, held for the whole window.
fn records(windows: &RecordBatch, ids: &ArrayRef, sources: &ArrayRef) -> Result<RecordBatch> {
    let (start, end) = (time(windows, "start_utc")?, time(windows, "end_utc")?);
    let rows = windows.num_rows();
    let own = |name: &str| -> Result<ArrayRef> { Ok(ArrayRef::clone(column(windows, name)?)) };
    let accounts = text(windows, "accounts")?;
    // Several accounts that may use it are no account that pays.
    let payer = |row: usize| word(accounts, row).filter(|account| !account.contains(',') && !account.starts_with('-'));
    let wall_s = (0..rows).map(|row| Some((end.value(row) - start.value(row)) / 1000));
    let schema = schema::dataset("records")?.arrow();
    let columns = schema.fields().iter().map(|field| -> Result<ArrayRef> {
        Ok(match field.name().as_str() {
            "record_utc" | "start_utc" => own("start_utc")?,
            "end_utc" => own("end_utc")?,
            "record_id" => ArrayRef::clone(ids),
            "source" => ArrayRef::clone(sources),
            "job_id" | "reservation" => own("reservation")?,
            "cluster" | "partition" | "state" | "gpus" => own(field.name())?,
            "account" => texts((0..rows).map(payer)),
            "view" => texts((0..rows).map(|_| Some(RESERVATION_VIEW))),
            "wall_s" => ints(wall_s.clone()),
            "wall_fraction_ms" => ints((0..rows).map(|_| Some(0))),
            "alloc_core_n" => own("core_n")?,
            "alloc_node_n" => own("node_n")?,
            "alloc_gpu_n" => own("gpu_n")?,
            "alloc_memory_byte" => own("memory_byte")?,
            _ => new_null_array(field.data_type(), rows),
        })
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
