//! The use of awards: what was charged with the submitter, month by month, and what it comes to for each award.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use crate::award::AwardPlan;
use crate::award::use_rows::AwardUse;
use crate::charge::charged_view::is_counted;
use crate::config::Plan;
use crate::error::{Error, Result};
use crate::lake::award_tables;
use crate::lake::state::State;
use crate::record::SiteMonth;
use crate::schema;
use crate::schema::batch::{id, text, texts, word};
use crate::store::lake::{self, AWARD_ENTRIES, AWARDS, LakeTable};
use crate::store::{Current, Fact, Publication, footer, read_table};
use crate::summarise::charges::charges_added_up;
use crate::time::Calendar;

/// Rows read at once.
const BATCH_ROWS: usize = 16_384;
/// The rule by which charges become use. Another rule makes the use again of lakes that are there: since 2 reservations count, since
/// 3 what has no charge is in rows of its own.
const COUNTING_RULE: u8 = 3;

/// Columns of `award_part` that distinguish rows, in their order.
pub(crate) const KEYS: [&str; 11] = [
    "allocation_year",
    "year_s",
    "month",
    "day",
    "pool",
    "policy",
    "options",
    "unit",
    "cluster",
    "account",
    "submitter",
];

/// The settings of a plan that decide awards; `None` when it has none.
pub(crate) fn fingerprint(plan: &Plan) -> Option<String> {
    let awards = plan.awards.as_ref()?;
    let settings = format!("counting {COUNTING_RULE}\n{}", awards.canonical());
    Some(blake3::hash(settings.as_bytes()).to_hex().to_string())
}

/// Whether what is published was made of another table.
pub(crate) fn is_changed(plan: &Plan, state: &State) -> bool {
    state.fact(Fact::Awards) != fingerprint(plan).as_deref()
}

/// Stages the awards and their use, after charges are staged: of sites whose charges are not as they were, or of all
/// when the awards changed. Takes all of it away when the pipeline states no awards.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written; [`crate::error::Kind::Data`] when a sum does not fit.
pub(crate) fn publish(plan: &Plan, publication: &Publication, state: &mut State) -> Result<()> {
    let is_new = is_changed(plan, state);
    state.set_fact(Fact::Awards, fingerprint(plan));
    let Some(awards) = &plan.awards else {
        for dataset in ["awards", "award_entry", "award_use", "award_part"] {
            for path in publication.paths(dataset) {
                publication.remove(&path);
            }
        }
        return Ok(());
    };
    if is_new {
        stage(
            publication,
            "award_entry",
            AWARD_ENTRIES,
            &award_tables::entries(&awards.entries)?,
        )?;
        stage(publication, "awards", AWARDS, &award_tables::awards(awards)?)?;
    }
    let mut sites = stage_parts(publication)?;
    if is_new {
        sites.extend(of_sites(publication, "award_part").into_keys());
        let published = publication.paths("award_use").into_iter();
        sites.extend(published.filter_map(|path| Some(lake::parse_award_use_path(&path)?.0)));
    }
    let parts = of_sites(publication, "award_part");
    let summing = plan.summing();
    let calendar = Calendar::new(
        summing.calendar_zone.clone(),
        summing.grain,
        summing.allocation_year_start,
    );
    for site in sites {
        let own = parts.get(&site).map_or(&[][..], Vec::as_slice);
        publish_site(awards, publication, &site, own, calendar.clone())?;
    }
    Ok(())
}

fn stage(publication: &Publication, dataset: &str, path: &str, batch: &RecordBatch) -> Result<()> {
    let mut table = LakeTable::create(publication, dataset, path)?;
    table.write(batch)?;
    table.finish(&[])?;
    Ok(())
}

/// The files of a dataset as they will be, by site.
fn of_sites(publication: &Publication, dataset: &str) -> BTreeMap<String, Vec<Current>> {
    let mut sites: BTreeMap<String, Vec<Current>> = BTreeMap::new();
    for file in publication.current(dataset) {
        if let Some(SiteMonth { site, .. }) = lake::parse_month_path(&file.path) {
            sites.entry(site).or_default().push(file);
        }
    }
    sites
}

/// Stages the parts of every site and month whose charges or records are not those of its part; gives the sites.
fn stage_parts(publication: &Publication) -> Result<BTreeSet<String>> {
    let mut charged: BTreeMap<SiteMonth, Vec<Current>> = BTreeMap::new();
    for file in publication.current("job_charges") {
        if let Some(place) = lake::parse_month_path(&file.path) {
            charged.entry(place).or_default().push(file);
        }
    }
    let records = publication.current("records");
    let records: BTreeMap<&str, &Current> = records.iter().map(|file| (file.path.as_str(), file)).collect();
    let known: BTreeMap<String, Current> = publication
        .current("award_part")
        .into_iter()
        .map(|file| (file.path.clone(), file))
        .collect();
    let mut sites = BTreeSet::new();
    let mut kept = BTreeSet::new();
    for (SiteMonth { site, month }, files) in &charged {
        let path = lake::month_path("award_part", site, *month);
        let of_month = records.get(lake::month_path("records", site, *month).as_str());
        let basis = basis(files, of_month.copied());
        kept.insert(path.clone());
        let is_same = match known.get(&path) {
            Some(part) => footer_basis(publication, part)?.as_deref() == Some(basis.as_str()),
            None => false,
        };
        if is_same {
            continue;
        }
        sites.insert(site.clone());
        match part(publication, files, of_month.copied())? {
            Some(batch) => {
                let mut table = LakeTable::create(publication, "award_part", &path)?;
                table.write(&batch)?;
                table.finish(&[(BASIS.to_owned(), basis)])?;
            }
            None => publication.remove(&path),
        }
    }
    for (path, _) in known.iter().filter(|(path, _)| !kept.contains(*path)) {
        publication.remove(path);
        sites.extend(lake::parse_month_path(path).map(|of| of.site));
    }
    Ok(sites)
}

/// Key of the footer that names what a part was made of.
const BASIS: &str = "gridtally.basis";

/// What a part is made of: the bytes of the charges and records of its month.
fn basis(charges: &[Current], records: Option<&Current>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[COUNTING_RULE]);
    for file in charges.iter().chain(records) {
        hasher.update(file.path.as_bytes());
        hasher.update(b"\0");
        hasher.update(file.blake3.as_bytes());
        hasher.update(b"\0");
    }
    hasher.finalize().to_hex().to_string()
}

fn footer_basis(publication: &Publication, part: &Current) -> Result<Option<String>> {
    let footer = footer(&publication.reader(&part.place)?)?;
    let basis = footer.into_iter().find(|(key, _)| key == BASIS);
    Ok(basis.map(|(_, basis)| basis))
}

/// What a month was charged with the submitter, for jobs and what else is charged for; `None` when nothing was.
fn part(publication: &Publication, charges: &[Current], records: Option<&Current>) -> Result<Option<RecordBatch>> {
    let mut submitters = Submitters::default();
    if let Some(records) = records {
        let reader = publication.reader(&records.place)?;
        for batch in read_table(reader, Some(&["record_id", "user"]), BATCH_ROWS)? {
            submitters.note(&batch?)?;
        }
    }
    let dataset = schema::dataset("award_part")?;
    let mut added = Vec::new();
    for file in charges {
        for batch in read_table(publication.reader(&file.place)?, None, BATCH_ROWS)? {
            let batch = batch?;
            let (subjects, views) = (text(&batch, "subject")?, text(&batch, "view")?);
            let counted = (0..batch.num_rows()).map(|row| Some(is_counted(subjects.value(row), views.value(row))));
            let batch = filter_record_batch(&batch, &counted.collect::<BooleanArray>())?;
            if batch.num_rows() > 0 {
                let columns = dataset.columns.iter().map(|column| match column.name.as_str() {
                    "submitter" => submitters.of(&batch),
                    name => Ok(Arc::clone(schema::batch::column(&batch, name)?)),
                });
                added.push(add(&[dataset.batch(columns.collect::<Result<_>>()?)?])?);
            }
        }
    }
    if added.is_empty() {
        Ok(None)
    } else {
        add(&added).map(Some)
    }
}

/// One row for each combination of [`KEYS`] of what has a charge, and one of what has none, as a batch of `award_part`.
fn add(batches: &[RecordBatch]) -> Result<RecordBatch> {
    charges_added_up(batches, &KEYS, schema::dataset("award_part")?)
}

/// Who submitted the records of a month.
#[derive(Default)]
struct Submitters {
    names: Vec<String>,
    by_name: HashMap<String, u32, RandomState>,
    by_record: HashMap<[u8; 16], u32, RandomState>,
}

impl Submitters {
    fn note(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = &schema::batch::decoded(batch)?;
        let (ids, users) = (id(batch, "record_id")?, text(batch, "user")?);
        for row in 0..batch.num_rows() {
            let Some(user) = word(users, row) else { continue };
            let known = self.by_name.get(user).copied();
            let at = if let Some(at) = known {
                at
            } else {
                let at = u32::try_from(self.names.len())
                    .map_err(|why| Error::internal("there are too many submitters").because(why))?;
                self.names.push(user.to_owned());
                self.by_name.insert(user.to_owned(), at);
                at
            };
            if let Ok(record) = <[u8; 16]>::try_from(ids.value(row)) {
                self.by_record.insert(record, at);
            }
        }
        Ok(())
    }

    fn of(&self, charges: &RecordBatch) -> Result<ArrayRef> {
        let ids = id(charges, "record_id")?;
        let names = (0..charges.num_rows()).map(|row| {
            let record = <[u8; 16]>::try_from(ids.value(row)).ok()?;
            let at = usize::try_from(*self.by_record.get(&record)?).ok()?;
            self.names.get(at).map(String::as_str)
        });
        Ok(texts(names))
    }
}

fn publish_site(
    awards: &AwardPlan,
    publication: &Publication,
    site: &str,
    parts: &[Current],
    calendar: Calendar,
) -> Result<()> {
    let mut used = AwardUse::new(awards, site, calendar);
    for part in parts {
        for batch in read_table(publication.reader(&part.place)?, None, BATCH_ROWS)? {
            used.add(&batch?)?;
        }
    }
    let mut written = BTreeSet::new();
    for (year, batch) in used.into_batches()? {
        let path = lake::award_use_path(site, year);
        stage(publication, "award_use", &path, &batch)?;
        written.insert(path);
    }
    for path in publication.paths("award_use") {
        let is_of_site = lake::parse_award_use_path(&path).is_some_and(|(of, _)| of == site);
        if is_of_site && !written.contains(&path) {
            publication.remove(&path);
        }
    }
    Ok(())
}
