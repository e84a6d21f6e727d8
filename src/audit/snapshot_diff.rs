//! What changed between two snapshots of a lake: cells of `usage` and `charges`, and the runs, inputs and corrections that
//! changed them.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;
use arrow_schema::DataType;

use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, count_u64};
use crate::report::table::{Cell, ColumnKind, Table, known_sum};
use crate::schema::batch::{column, date, decimal, int, number, text, word};
use crate::store::snapshots::{Snapshot, SnapshotName, names, snapshots};
use crate::store::{Manifest, Store, lake, read_table};
use crate::summarise::charges::SUMMED;
use crate::summarise::sums::summed_columns;
use crate::time::{Day, Month};

/// Rows read at once.
const BATCH_ROWS: usize = 16_384;

/// Inputs that a row names; how many there are more is stated.
const NAMED_INPUTS: usize = 3;

/// A dataset whose cells are compared.
struct ComparedDataset {
    name: &'static str,
    /// What distinguishes cells, besides site, VO and month: columns of the table.
    words: &'static [&'static str],
    /// The columns that are added up of a cell: all that may be.
    measures: Vec<&'static str>,
}

/// Columns of words, of all datasets.
const WORDS: [&str; 6] = ["view", "policy", "policy_version", "options", "subject", "unit"];

fn compared() -> [ComparedDataset; 2] {
    [
        ComparedDataset {
            name: "usage",
            words: &["view"],
            measures: summed_columns().collect(),
        },
        ComparedDataset {
            name: "charges",
            words: &WORDS,
            measures: SUMMED.to_vec(),
        },
    ]
}

/// What a cell is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DiffKey {
    site: String,
    vo: Option<String>,
    month: Option<Day>,
    words: Vec<Option<String>>,
}

/// Sums of the measures of a cell, by the correction that made them, `None` for what was recorded.
type DiffSums = BTreeMap<Option<String>, Vec<Option<i128>>>;

/// The cells of one file, or of all files of a place.
type DiffCells = BTreeMap<DiffKey, DiffSums>;

/// What is between two snapshots.
#[derive(Debug)]
pub struct SnapshotDiff {
    /// A row for each measure of a cell that differs.
    pub table: Table,
    /// Cells that differ.
    pub cell_n: usize,
    /// Runs whose snapshots are compared, after the first one.
    pub run_n: usize,
    /// Runs between that have no snapshot: their changes are those of the next one.
    pub missing_n: u64,
    /// Input files that the later one has and the earlier one has not.
    pub input_n: usize,
}

/// Whose files are compared together: a month may be in those of two allocation years.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DiffPlace {
    site: String,
    vo: Option<String>,
}

/// The files of a snapshot, by place.
type PlaceFiles = BTreeMap<DiffPlace, Vec<FileVersion>>;

/// One version of a file, in a snapshot that has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileVersion {
    path: String,
    blake3: String,
}

/// The lake as it was, and its cells, read once for each version of a file.
struct VersionReader<'a> {
    lake: &'a str,
    dataset: &'a ComparedDataset,
    read: BTreeMap<FileVersion, DiffCells>,
    scales: BTreeMap<usize, u8>,
}

/// Compares two snapshots of a lake.
///
/// # Errors
/// [`Kind::Usage`] when the first is the later one; [`Kind::Data`] when a snapshot is damaged.
pub fn diff(lake: &str, before: &SnapshotName, after: &SnapshotName) -> Result<SnapshotDiff> {
    if before > after {
        let message = format!(
            "snapshot {} is later than snapshot {}: name the earlier one first",
            before.number, after.number
        );
        return Err(Error::new(Kind::Usage, message));
    }
    let store = Store::open_existing(lake)?;
    let between: Vec<SnapshotName> = names(&store)?
        .into_iter()
        .filter(|name| (before..=after).contains(&name))
        .collect();
    let all = snapshots(&store, &between)?;
    let inputs = new_inputs(&before.place(lake), &after.place(lake))?;
    let mut found = SnapshotDiff {
        table: empty_table(before, after),
        cell_n: 0,
        run_n: all.len().less(1),
        missing_n: (after.number.less(before.number)).less(count_u64(all.len()).less(1)),
        input_n: inputs.file_n,
    };
    for dataset in &compared() {
        let mut reader = VersionReader {
            lake,
            dataset,
            read: BTreeMap::new(),
            scales: BTreeMap::new(),
        };
        compare(&mut reader, &all, &inputs, &mut found)?;
    }
    Ok(found)
}

fn empty_table(before: &SnapshotName, after: &SnapshotName) -> Table {
    let text = |name| (name, "", ColumnKind::Text);
    let mut columns = vec![text("dataset"), text("site"), text("vo"), text("month")];
    columns.extend(WORDS.map(text));
    columns.push(text("measure"));
    columns.extend(["before", "after", "change"].map(|name| (name, "", ColumnKind::Number)));
    columns.extend(["runs", "inputs", "corrections"].map(text));
    let title = format!("From snapshot {} to {}", before.number, after.number);
    Table::new(title, &columns)
}

/// Compares the cells of one dataset.
fn compare(
    reader: &mut VersionReader<'_>,
    all: &[Snapshot],
    inputs: &NewInputs,
    found: &mut SnapshotDiff,
) -> Result<()> {
    let files = all.iter().map(|snapshot| place_files(snapshot, reader.dataset.name));
    let files: Vec<PlaceFiles> = files.collect::<Result<_>>()?;
    let (Some((first, of_first)), Some((last, of_last))) =
        (all.iter().zip(&files).next(), all.iter().zip(&files).next_back())
    else {
        return Ok(());
    };
    let places: BTreeSet<&DiffPlace> = of_first.keys().chain(of_last.keys()).collect();
    for place in places {
        if of_first.get(place) == of_last.get(place) {
            continue;
        }
        reader.read.clear();
        let was = reader.cells(first, place, of_first)?;
        let is = reader.cells(last, place, of_last)?;
        let mut runs: BTreeMap<DiffKey, Vec<String>> = BTreeMap::new();
        for (before, after) in all.iter().zip(&files).zip(all.iter().zip(&files).skip(1)) {
            let ((earlier, of_earlier), (later, of_later)) = (before, after);
            if of_earlier.get(place) == of_later.get(place) {
                continue;
            }
            let a = reader.cells(earlier, place, of_earlier)?;
            let made = reader.cells(later, place, of_later)?;
            let run = later
                .run_id
                .clone()
                .unwrap_or_else(|| format!("snapshot {}", later.name.number));
            for key in a.keys().chain(made.keys()).collect::<BTreeSet<_>>() {
                if a.get(key) != made.get(key) {
                    runs.entry(key.clone()).or_default().push(run.clone());
                }
            }
        }
        for key in was.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
            let (a, b) = (was.get(key), is.get(key));
            if a != b {
                let changes = CellChange {
                    before: a,
                    after: b,
                    // Fallback: what differs between the ends changed on the way, and is in the list.
                    runs: runs.remove(key).unwrap_or_default().join(" "),
                    inputs: inputs.of(key),
                };
                changes.add_rows(reader, key, &mut found.table);
                found.cell_n += 1;
            }
        }
    }
    Ok(())
}

/// The files of a dataset that a snapshot has.
fn place_files(snapshot: &Snapshot, dataset: &str) -> Result<PlaceFiles> {
    let mut found = PlaceFiles::new();
    for file in snapshot.manifest.dataset(dataset) {
        let (site, vo, _) = lake::parse_usage_path(&file.path).ok_or_else(|| {
            Error::new(Kind::Data, "the path names no site, VO and allocation year").at("path", &file.path)
        })?;
        found.entry(DiffPlace { site, vo }).or_default().push(FileVersion {
            path: file.path.clone(),
            blake3: file.blake3.clone(),
        });
    }
    Ok(found)
}

/// A cell that differs, and why.
struct CellChange<'a> {
    before: Option<&'a DiffSums>,
    after: Option<&'a DiffSums>,
    runs: String,
    inputs: String,
}

impl CellChange<'_> {
    fn add_rows(&self, reader: &VersionReader<'_>, key: &DiffKey, table: &mut Table) {
        let total = |sums: Option<&DiffSums>, nth: usize| {
            let parts = sums.into_iter().flat_map(BTreeMap::values);
            parts.fold(None, |sum, part| known_sum(sum, part.get(nth).copied().flatten()))
        };
        let ids: BTreeSet<&Option<String>> = [self.before, self.after]
            .into_iter()
            .flatten()
            .flat_map(BTreeMap::keys)
            .collect();
        let of = |sums: Option<&DiffSums>, id: &Option<String>| sums.and_then(|sums| sums.get(id).cloned());
        let corrections: Vec<&str> = ids
            .into_iter()
            .filter(|id| of(self.before, id) != of(self.after, id))
            .filter_map(|id| id.as_deref())
            .collect();
        let measures = &reader.dataset.measures;
        let mut changed: Vec<usize> = (0..measures.len())
            .filter(|nth| total(self.before, *nth) != total(self.after, *nth))
            .collect();
        if changed.is_empty() {
            // Entries of corrections that add up to nothing, as those that move usage between accounts of a VO.
            changed.push(0);
        }
        for nth in changed {
            let (before, after) = (total(self.before, nth), total(self.after, nth));
            let shown = |value: Option<i128>| match (value, reader.scales.get(&nth)) {
                (None, _) => Cell::Empty,
                (Some(value), Some(scale)) => Cell::Decimal { value, scale: *scale },
                (Some(value), None) => Cell::Int(value),
            };
            // Fallback: a cell that is not there adds nothing to its site.
            let change = after.unwrap_or(0) - before.unwrap_or(0);
            let mut row = vec![
                Cell::text(reader.dataset.name),
                Cell::text(&key.site),
                Cell::word(key.vo.as_deref()),
                key.month
                    .and_then(Month::of_day)
                    .map_or(Cell::Empty, |month| Cell::text(month.to_string())),
            ];
            for word in WORDS {
                let at = reader.dataset.words.iter().position(|own| *own == word);
                let stated = at.and_then(|at| key.words.get(at)).and_then(Option::as_deref);
                row.push(Cell::word(stated));
            }
            row.push(measures.get(nth).map_or(Cell::Empty, |measure| Cell::text(*measure)));
            row.extend([shown(before), shown(after), shown(Some(change))]);
            row.extend([
                Cell::text(&self.runs),
                Cell::text(&self.inputs),
                Cell::text(corrections.join(" ")),
            ]);
            table.push(row);
        }
    }
}

impl VersionReader<'_> {
    /// The cells of a place as a snapshot has them, of all files it has there.
    fn cells(&mut self, snapshot: &Snapshot, place: &DiffPlace, files: &PlaceFiles) -> Result<DiffCells> {
        let mut all = DiffCells::new();
        for version in files.get(place).into_iter().flatten() {
            for (key, sums) in self.of_file(snapshot, place, version)? {
                let of_key = all.entry(key.clone()).or_default();
                for (id, parts) in sums {
                    match of_key.get_mut(id) {
                        Some(known) => add_known(known, parts.iter().copied()),
                        None => drop(of_key.insert(id.clone(), parts.clone())),
                    }
                }
            }
        }
        Ok(all)
    }

    /// The cells of one file.
    fn of_file(&mut self, snapshot: &Snapshot, place: &DiffPlace, version: &FileVersion) -> Result<&DiffCells> {
        if !self.read.contains_key(version) {
            let cells = self.read_file(snapshot, place, &version.path)?;
            self.read.insert(version.clone(), cells);
        }
        let known = self.read.get(version);
        known.ok_or_else(|| Error::internal("a file that was read is not known"))
    }

    fn read_file(&mut self, snapshot: &Snapshot, place: &DiffPlace, path: &str) -> Result<DiffCells> {
        let store = Store::open_existing(&snapshot.name.place(self.lake))?;
        let mut cells = DiffCells::new();
        for batch in read_table(store.reader(path)?, None, BATCH_ROWS)? {
            let batch = batch?;
            let months = date(&batch, "month")?;
            let corrections = text(&batch, "correction_id")?;
            let words = self
                .dataset
                .words
                .iter()
                .map(|name| text(&batch, name))
                .collect::<Result<Vec<_>>>()?;
            let mut measures = Vec::new();
            for (nth, name) in self.dataset.measures.iter().enumerate() {
                let read = NumberColumn::read(&batch, name)?;
                if let Some(scale) = read.scale {
                    self.scales.insert(nth, scale);
                }
                measures.push(read.values);
            }
            for row in 0..batch.num_rows() {
                let key = DiffKey {
                    site: place.site.clone(),
                    vo: place.vo.clone(),
                    month: number(months, row),
                    words: words
                        .iter()
                        .map(|column| word(column, row).map(str::to_owned))
                        .collect(),
                };
                let id = word(corrections, row).map(str::to_owned);
                let sums = cells
                    .entry(key)
                    .or_default()
                    .entry(id)
                    .or_insert_with(|| vec![None; measures.len()]);
                add_known(sums, measures.iter().map(|values| values.get(row).copied().flatten()));
            }
        }
        Ok(cells)
    }
}

/// Adds to each sum what is known of it.
fn add_known(sums: &mut [Option<i128>], more: impl Iterator<Item = Option<i128>>) {
    for (sum, part) in sums.iter_mut().zip(more) {
        *sum = known_sum(*sum, part);
    }
}

/// Whole numbers, or decimals and their scale.
struct NumberColumn {
    values: Vec<Option<i128>>,
    scale: Option<u8>,
}

impl NumberColumn {
    /// Reads a column; nothing is known of one that the version of the file does not have.
    fn read(batch: &RecordBatch, name: &str) -> Result<Self> {
        if batch.column_by_name(name).is_none() {
            return Ok(Self {
                values: vec![None; batch.num_rows()],
                scale: None,
            });
        }
        let DataType::Decimal128(_, scale) = column(batch, name)?.data_type() else {
            let values = int(batch, name)?.iter().map(|value| value.map(i128::from)).collect();
            return Ok(Self { values, scale: None });
        };
        let scale = u8::try_from(*scale).map_err(|why| {
            Error::internal("a decimal has a negative scale")
                .because(why)
                .at("column", name)
        })?;
        Ok(Self {
            values: decimal(batch, name)?.iter().collect(),
            scale: Some(scale),
        })
    }
}

/// Input files that came between two states, by the sites and months of their accepted rows.
struct NewInputs {
    file_n: usize,
    places: BTreeMap<String, BTreeMap<Day, BTreeSet<String>>>,
}

impl NewInputs {
    /// The inputs whose rows may be in a cell: those of its site whose records are filed in its month, or the one before, as
    /// are jobs that end in it.
    fn of(&self, key: &DiffKey) -> String {
        let (Some(places), Some(month)) = (self.places.get(&key.site), key.month) else {
            return String::new();
        };
        let is_near =
            |filed: Day| filed <= month && Month::of_day(filed).is_some_and(|filed| filed.next().first_day() >= month);
        let near = places.iter().filter(|(filed, _)| is_near(**filed));
        let paths: BTreeSet<&str> = near.flat_map(|(_, paths)| paths.iter().map(String::as_str)).collect();
        let mut named: Vec<String> = paths.iter().take(NAMED_INPUTS).map(|path| (*path).to_owned()).collect();
        if paths.len() > NAMED_INPUTS {
            named.push(format!("and {} more", paths.len() - NAMED_INPUTS));
        }
        named.join(" ")
    }
}

/// The inputs of the later place that the earlier one has not.
fn new_inputs(before: &str, after: &str) -> Result<NewInputs> {
    let known = file_ids(before)?;
    let new: BTreeSet<String> = file_ids(after)?.difference(&known).cloned().collect();
    let mut found = NewInputs {
        file_n: new.len(),
        places: BTreeMap::new(),
    };
    let (store, _) = Manifest::open(after)?;
    for batch in read_table(store.reader(lake::LEDGER)?, None, BATCH_ROWS)? {
        let batch = batch?;
        let (files, paths, sites) = (text(&batch, "file_id")?, text(&batch, "path")?, text(&batch, "site")?);
        let months = date(&batch, "record_month")?;
        for row in 0..batch.num_rows() {
            let place = word(sites, row).zip(number(months, row));
            if let Some((site, month)) = place.filter(|_| new.contains(files.value(row))) {
                let of_site = found.places.entry(site.to_owned()).or_default();
                of_site.entry(month).or_default().insert(paths.value(row).to_owned());
            }
        }
    }
    Ok(found)
}

fn file_ids(place: &str) -> Result<BTreeSet<String>> {
    let (store, manifest) = Manifest::open(place)?;
    let mut ids = BTreeSet::new();
    for batch in read_table(
        store.reader(lake::inputs_path(&manifest))?,
        Some(&["file_id"]),
        BATCH_ROWS,
    )? {
        let batch = batch?;
        ids.extend(text(&batch, "file_id")?.iter().flatten().map(str::to_owned));
    }
    Ok(ids)
}
