//! The single jobs of a lake, a month at a time.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};

use super::job::{JobIdentityJob, JobIdentityNames, JobIdentityPlace, JobIdentityStanding, UNKNOWN, id_hash};
use super::level::{DifferenceLevel, FACTORS_SINCE, LEVEL_COLUMNS, LevelColumns};
use crate::absent;
use crate::error::Result;
use crate::report::lake::{Lake, LakePiece, Selection};
use crate::report::work_scale::WorkScale;
use crate::schema::batch::{addend, id, identity, int, number, text, time, word, word_or_empty};
use crate::summarise::correction_effect::{CorrectionEffects, Corrections, EffectColumns};
use crate::time::{DAY_MS, Month, Zone};

/// How far beyond the edges of a month jobs are looked at: another zone, or another version, may place them inside.
const EDGE_MS: i64 = 3 * 86_400_000;

const COLUMNS: [&str; 20] = [
    "record_id",
    "source",
    "view",
    "cluster",
    "submit_host",
    "job_id",
    "raw_job_id",
    "global_job_id",
    "vo",
    "submit_utc",
    "start_utc",
    "end_utc",
    "wall_s",
    "cpu_ms",
    "cpu_user_ms",
    "alloc_core_n",
    "file_id",
    "line",
    "benchmark",
    "benchmark_per_core",
];

/// The single jobs of a lake, or of one of its sources.
#[derive(Debug)]
pub struct LakeJobs {
    lake: Lake,
    source: Option<String>,
    scale: WorkScale,
    corrections: Corrections,
    /// Sites (in lower case) and months in which summaries count.
    summarised: BTreeSet<(String, Month)>,
    /// Input files by their ids.
    pub files: BTreeMap<String, LakeJobsInputFile>,
}

/// An input file of a lake.
#[derive(Clone, Debug)]
pub struct LakeJobsInputFile {
    /// Path as the pipeline names it.
    pub path: String,
    /// Hash of its bytes.
    pub blake3: String,
}

impl LakeJobs {
    /// The jobs of a lake.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read.
    pub fn new(lake: Lake, source: Option<&str>, scale: WorkScale) -> Result<Self> {
        let mut files = BTreeMap::new();
        for file in lake.manifest.dataset("inputs") {
            for batch in lake.batches(&file.path, Some(&["path", "file_id", "blake3"]))? {
                let batch = batch?;
                let (paths, ids, hashes) = (text(&batch, "path")?, text(&batch, "file_id")?, text(&batch, "blake3")?);
                for row in 0..batch.num_rows() {
                    let [path, blake3] = [paths, hashes].map(|column| column.value(row).to_owned());
                    files.insert(ids.value(row).to_owned(), LakeJobsInputFile { path, blake3 });
                }
            }
        }
        Ok(Self {
            source: source.map(str::to_owned),
            scale,
            corrections: lake.corrections()?,
            summarised: lake.summarised_places()?,
            lake,
            files,
        })
    }

    /// The zone in which the lake cuts months, where it is recorded.
    #[must_use]
    pub fn zone(&self) -> Option<Zone> {
        // Fallback: a lake of an earlier version records no zone, which the caller states.
        self.lake.zone().ok()
    }

    /// The jobs that ended in a month or near its edges, counted or not, and those of the month that have no end.
    /// `held` are the record months that are known to contain jobs of this month.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when they cannot be read.
    pub fn month(
        &self,
        month: Month,
        held: &BTreeSet<Month>,
        names: &mut JobIdentityNames,
    ) -> Result<Vec<JobIdentityJob>> {
        let window = LakeJobsWindow::of(month);
        let near = |at: Month| [Some(month), window.before, Some(month.next())].contains(&Some(at));
        let mut jobs = Vec::new();
        for piece in self.lake.record_pieces(&Selection::default())? {
            if near(piece.month) || held.contains(&piece.month) {
                self.piece(&piece, window, names, &mut jobs)?;
            }
        }
        Ok(jobs)
    }

    fn piece(
        &self,
        piece: &LakePiece,
        window: LakeJobsWindow,
        names: &mut JobIdentityNames,
        into: &mut Vec<JobIdentityJob>,
    ) -> Result<()> {
        let version = self
            .lake
            .manifest
            .file(&piece.path)
            .map_or(0, |file| file.schema_version);
        let effects = self.corrections.of_site(&piece.site);
        let mut columns: BTreeSet<&str> = COLUMNS.into_iter().chain(effects.columns()).collect();
        if version >= FACTORS_SINCE {
            columns.extend(LEVEL_COLUMNS);
        }
        let columns: Vec<&str> = columns.into_iter().collect();
        let is_summarised = self.summarised.contains(&(piece.site.to_lowercase(), piece.month));
        let site = names.id(&piece.site);
        let refused = self.lake.refused_records(piece)?;
        for batch in self.lake.whole_piece_batches(piece, &columns)? {
            let batch = batch?;
            let rows = Rows::new(&batch)?;
            let looked_at = effects.of_batch(&batch)?;
            for row in 0..batch.num_rows() {
                let Some(month) = window.month_of(number(rows.end_utc, row), piece.month) else {
                    continue;
                };
                if self
                    .source
                    .as_deref()
                    .is_some_and(|source| source != rows.source.value(row))
                {
                    continue;
                }
                let mut job = rows.job(row, site, month, names)?;
                job.level = DifferenceLevel::chosen(&rows.levels.of(row), self.scale);
                standing(&mut job, &rows, row, is_summarised, &effects, &looked_at, names);
                if refused.is_beyond_sums(rows.record_id.value(row)) {
                    job.standing = JobIdentityStanding::BeyondSums;
                }
                job.check()?;
                into.push(job);
            }
        }
        Ok(())
    }
}

/// A month and its edges.
#[derive(Clone, Copy)]
struct LakeJobsWindow {
    month: Month,
    before: Option<Month>,
    from_ms: i64,
    until_ms: i64,
}

impl LakeJobsWindow {
    fn of(month: Month) -> Self {
        let first_ms = |month: Month| i64::from(month.first_day()) * DAY_MS;
        Self {
            month,
            before: Month::of_day(month.first_day() - 1),
            from_ms: first_ms(month) - EDGE_MS,
            until_ms: first_ms(month.next()) + EDGE_MS,
        }
    }

    /// The month in which a job counts that is looked at: that of its end, or of its record where it has none.
    fn month_of(self, end_ms: Option<i64>, filed: Month) -> Option<Month> {
        match end_ms {
            Some(end_ms) => {
                let is_near = (self.from_ms..self.until_ms).contains(&end_ms);
                Month::of_ms(end_ms).filter(|_| is_near)
            }
            None => (filed == self.month).then_some(filed),
        }
    }
}

macro_rules! rows {
    ($($name:ident: $array:ident = $get:ident,)+) => {
        struct Rows<'a> {
            $($name: &'a $array,)+
            levels: LevelColumns<'a>,
        }

        impl<'a> Rows<'a> {
            fn new(batch: &'a RecordBatch) -> Result<Self> {
                Ok(Self {
                    $($name: $get(batch, stringify!($name))?,)+
                    levels: LevelColumns::new(batch)?,
                })
            }
        }
    };
}

rows! {
    record_id: FixedSizeBinaryArray = id,
    source: StringArray = text,
    view: StringArray = text,
    cluster: StringArray = text,
    submit_host: StringArray = text,
    job_id: StringArray = text,
    raw_job_id: StringArray = text,
    global_job_id: StringArray = text,
    vo: StringArray = text,
    submit_utc: TimestampMillisecondArray = time,
    start_utc: TimestampMillisecondArray = time,
    end_utc: TimestampMillisecondArray = time,
    wall_s: Int64Array = int,
    cpu_ms: Int64Array = int,
    cpu_user_ms: Int64Array = int,
    alloc_core_n: Int64Array = int,
    file_id: StringArray = text,
    line: Int64Array = int,
}

impl Rows<'_> {
    fn job(&self, row: usize, site: u32, month: Month, names: &mut JobIdentityNames) -> Result<JobIdentityJob> {
        let mut name = |column: &StringArray| names.id(word_or_empty(column, row));
        let (vo, cluster, host) = (name(self.vo), name(self.cluster), name(self.submit_host));
        let (source, file) = (name(self.source), name(self.file_id));
        let id = word(self.raw_job_id, row).unwrap_or_else(|| word_or_empty(self.job_id, row));
        let own_vo = names.folded(vo);
        Ok(JobIdentityJob {
            record: identity(self.record_id, row)?,
            number: id_hash(id),
            global: id_hash(word_or_empty(self.global_job_id, row)),
            place: JobIdentityPlace {
                site: names.folded(site),
                vo: own_vo,
                month,
            },
            own_vo,
            spelled: (site, vo),
            cluster: names.folded(cluster),
            host: names.folded(host),
            source,
            file,
            line: self.line.value(row),
            submit_ms: number(self.submit_utc, row).unwrap_or(UNKNOWN),
            start_ms: number(self.start_utc, row).unwrap_or(UNKNOWN),
            end_ms: number(self.end_utc, row).unwrap_or(UNKNOWN),
            wall_s: self.wall_s.value(row),
            cpu_ms: number(self.cpu_ms, row).unwrap_or(UNKNOWN),
            cpu_user_ms: number(self.cpu_user_ms, row).unwrap_or(UNKNOWN),
            core_n: addend(number(self.alloc_core_n, row)).max(0),
            level: None,
            standing: JobIdentityStanding::Counted,
        })
    }
}

/// Whether the lake counts a job, and where, after corrections.
fn standing(
    job: &mut JobIdentityJob,
    rows: &Rows<'_>,
    row: usize,
    is_summarised: bool,
    effects: &CorrectionEffects<'_>,
    looked_at: &EffectColumns<'_>,
    names: &mut JobIdentityNames,
) {
    if job.end_ms == UNKNOWN {
        job.standing = JobIdentityStanding::Running;
    } else if rows.view.value(row) != "batch" {
        job.standing = JobIdentityStanding::OtherView;
    } else if is_summarised {
        job.standing = JobIdentityStanding::Summarised;
    } else if job.start_ms == UNKNOWN {
        job.standing = JobIdentityStanding::NeverStarted;
    }
    if job.standing == JobIdentityStanding::Counted && !effects.is_empty() {
        let effect = effects.of(looked_at, row, job.end_ms);
        if effect.is_void {
            job.standing = JobIdentityStanding::Void;
        } else {
            let vo = names.id(absent::text(effect.vo));
            job.spelled.1 = vo;
            job.place.vo = names.folded(vo);
        }
    }
}
