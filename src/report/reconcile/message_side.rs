//! Messages and XML records as one side of a comparison.

use std::collections::BTreeMap;
use std::path::Path;

use super::amount::{Amount, WORK_UNITS_PER_S};
use super::level::DifferenceLevel;
use super::stated_jobs::{StatedJob, StatedJobs};
use super::usage_source::{CellKey, Fine, JobStore, UsageOrigin, UsageSource};
use crate::amounts::add;
use crate::error::{Error, Kind, Result};
use crate::report::apel::MessageKind;
use crate::report::apel::server_key::ServerTable;
use crate::report::lake::Selection;
use crate::report::publication::message_record::{MessageKey, MessageRecord};
use crate::report::publication::messages::{MessageFile, texts};
use crate::report::publication::record_format::RecordFormat;
use crate::report::work_scale::WorkScale;
use crate::schema::batch::addend;
use crate::time::Month;

/// Which record of APEL's server a message becomes: the versions of a kind are loaded into one table. Documents of GRACC have
/// none.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RecordRow {
    table: Option<ServerTable>,
    parts: Vec<String>,
}

impl RecordRow {
    fn of(record: &MessageRecord) -> Self {
        let MessageKey { form, parts } = record.key();
        let table = match form {
            RecordFormat::Apel(kind) => Some(kind.table()),
            RecordFormat::Gracc => None,
        };
        Self { table, parts }
    }
}

/// A message with the file it is of; empty where it is of none.
struct StatedRecord<'t> {
    record: &'t MessageRecord,
    file: &'t str,
}

impl UsageSource {
    /// A file or folder of messages and XML records.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is none; [`Kind::Io`] when it cannot be read; [`Kind::Data`] when a file is neither.
    pub fn of_files(path: &Path, selection: &Selection, scale: WorkScale) -> Result<Self> {
        let mut records: BTreeMap<RecordRow, (MessageRecord, String)> = BTreeMap::new();
        let mut jobs = StatedJobs::default();
        let mut notes = Vec::new();
        let found = texts(path)?;
        if found.is_empty() {
            return Err(Error::new(Kind::NoInput, format!("{} holds no files", path.display())));
        }
        for MessageFile { path: file, text } in found {
            let name = file.strip_prefix(path).unwrap_or(&file).display().to_string();
            let name = if name.is_empty() {
                file.display().to_string()
            } else {
                name
            };
            if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
                notes.extend(jobs.read_xml(&name, &text, scale)?);
                continue;
            }
            for record in MessageRecord::read(&text).map_err(|e| e.at("file", file.display()))? {
                records.insert(RecordRow::of(&record), (record, name.clone()));
            }
        }
        let stated = records.values().map(|(record, file)| StatedRecord { record, file });
        let mut side = Self::of_records(stated, jobs, selection, scale)?;
        side.notes.extend(notes);
        Ok(side)
    }

    /// Messages of any kind. Of several with one key the last holds.
    ///
    /// # Errors
    /// [`Kind::Data`] naming the sum that is too large.
    pub fn of_messages(record: &[MessageRecord], selection: &Selection, scale: WorkScale) -> Result<Self> {
        let by_row: BTreeMap<_, _> = record.iter().map(|record| (RecordRow::of(record), record)).collect();
        let stated = by_row.into_values().map(|record| StatedRecord { record, file: "" });
        Self::of_records(stated, StatedJobs::default(), selection, scale)
    }

    fn of_records<'t>(
        records: impl Iterator<Item = StatedRecord<'t>>,
        mut jobs: StatedJobs,
        selection: &Selection,
        scale: WorkScale,
    ) -> Result<Self> {
        let mut side = Self::default();
        let mut endless_n = 0_u64;
        for StatedRecord { record, file } in records {
            if record.form.is_job() {
                match StatedJob::of_message(record, file, scale)? {
                    Some(job) => jobs.put(job),
                    None => endless_n += 1,
                }
            } else {
                side.note_names(record.site(), record.vo());
                side.add_record(record, selection, scale)
                    .map_err(|e| if file.is_empty() { e } else { e.at("file", file) })?;
            }
        }
        if endless_n > 0 {
            side.notes.push(format!(
                "{endless_n} messages of single jobs have no end or no wall time and were left out"
            ));
        }
        side.add_jobs(&jobs, selection)?;
        if !jobs.is_empty() {
            side.jobs = Some(JobStore::Stated(jobs));
        }
        Ok(side)
    }

    fn note_names(&mut self, site: &str, vo: &str) {
        if !self.known.sites.contains(site) {
            self.known.sites.insert(site.to_owned());
        }
        if !self.known.vos.contains(vo) {
            self.known.vos.insert(vo.to_owned());
        }
    }

    fn add_record(&mut self, record: &MessageRecord, selection: &Selection, scale: WorkScale) -> Result<()> {
        let Some(month) = record.month().filter(|month| selection.has_month(*month)) else {
            return Ok(());
        };
        let (site, vo) = (record.site(), record.vo());
        let number = |name: &str| addend(record.number(name));
        if !selection.has_site(site) {
            return Ok(());
        }
        if record.form == MessageKind::Sync.into() {
            self.add_count(site, month, i128::from(record.job_n()), selection);
            return Ok(());
        }
        if !selection.has_vo(Some(vo)) {
            return Ok(());
        }
        let cores = number("Processors");
        let level = DifferenceLevel::chosen(&record.levels_e3(), scale);
        let unit_s = i128::from(record.duration_unit_s());
        let [wall_s, cpu_s] = [record.wall_s(), record.cpu_s()].map(|s| i128::from(addend(s)) * unit_s);
        let mut amount = Amount::of_jobs(i128::from(record.job_n()), wall_s, cpu_s * 1000, cores, level)?;
        if let (None, Some(work)) = (level, scale.of_works(&record.works_s())) {
            amount.wall_work = i128::from(work.wall_s) * unit_s * WORK_UNITS_PER_S;
            amount.cpu_work = i128::from(work.cpu_s) * unit_s * WORK_UNITS_PER_S;
        }
        let mut key = BTreeMap::new();
        for (name, value) in [
            ("user", record.word("GlobalUserName").map(str::to_owned)),
            ("vo_group", record.word("VOGroup").map(str::to_owned)),
            ("vo_role", record.word("VORole").map(str::to_owned)),
            ("submit_host", record.word("SubmitHost").map(str::to_owned)),
            ("infrastructure", record.infrastructure().map(str::to_owned)),
            ("nodes", Some(number("NodeCount").to_string())),
            ("cores", Some(cores.to_string())),
            ("benchmark", level.map(DifferenceLevel::in_words)),
        ] {
            if let Some(value) = value {
                key.insert(name, value.to_lowercase());
            }
        }
        if let Some(level) = level {
            let host = record.value("SubmitHost");
            self.note_level([site, host], level, month, None, None);
        }
        self.add_rounded([site, vo], month, Fine { key, amount }, UsageOrigin::Sums, 1)
    }

    fn add_jobs(&mut self, jobs: &StatedJobs, selection: &Selection) -> Result<()> {
        type StatedPlace = (String, String, Month);
        let mut of_all = Amount::default();
        let mut rows: BTreeMap<(StatedPlace, BTreeMap<&'static str, String>), Amount> = BTreeMap::new();
        for job in jobs.iter() {
            self.note_names(&job.site, &job.vo);
            // Of all jobs: those of a month next to these are compared as well.
            let amount = job.amount().map_err(|e| e.at("file", &job.file))?;
            of_all.add_size(amount)?;
            let Some(month) = job.month().filter(|month| selection.has_month(*month)) else {
                continue;
            };
            if !selection.has_site(&job.site) || !selection.has_vo(Some(&job.vo)) {
                continue;
            }
            let mut key: BTreeMap<&'static str, String> = BTreeMap::new();
            key.insert("submit_host", job.host.to_lowercase());
            key.insert("nodes", job.node_n.to_string());
            key.insert("cores", job.core_n.to_string());
            if let Some(infrastructure) = &job.infrastructure {
                key.insert("infrastructure", infrastructure.to_lowercase());
            }
            if let Some(level) = job.level {
                key.insert("benchmark", level.in_words());
                let end = Some(job.end_ms);
                self.note_level([&job.site, &job.host], level, month, end, end);
            }
            let place = (job.site.clone(), job.vo.clone(), month);
            let sum = rows.entry((place, key)).or_default();
            *sum = sum.plus(amount);
        }
        for (((site, vo, month), key), amount) in rows {
            let row = Fine { key, amount };
            self.add_rounded([&site, &vo], month, row, UsageOrigin::Jobs, amount.job_n)?;
        }
        Ok(())
    }

    fn add_rounded(
        &mut self,
        [site, vo]: [&str; 2],
        month: Month,
        row: Fine,
        origin: UsageOrigin,
        rounded_n: i128,
    ) -> Result<()> {
        self.add([site, vo], month, row, origin)?;
        let key = CellKey::new([site, vo], month);
        if let Some(cell) = self.cells.get_mut(&key) {
            add(&mut cell.rounded_n, rounded_n, "rounded durations")?;
        }
        Ok(())
    }
}
