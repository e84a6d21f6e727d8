//! The columns of a row of an accounting file, also where one of them holds colons.

use crate::ledger::Reason;
use crate::numbers::{Extent, tally};
use crate::sources::decimal;
use crate::sources::refusal::{Refusal, instant_ms, known, seconds_ms, whole};

/// Up to `maxvmem`; later versions append more.
pub(super) const FIELDS_LEAST: usize = 43;

/// A column by its 0-based place and its name in `accounting(5)`.
#[derive(Clone, Copy)]
pub(super) struct SgeColumn(usize, &'static str);

pub(super) const QUEUE: usize = 0;
pub(super) const HOST: usize = 1;
pub(super) const GROUP: usize = 2;
pub(super) const OWNER: usize = 3;
pub(super) const JOB_NAME: usize = 4;
pub(super) const ACCOUNT: usize = 6;
pub(super) const PROJECT: usize = 31;
pub(super) const PARALLEL_ENVIRONMENT: usize = 33;
/// What a job requested. It may hold colons (`-l h_rt=24:00:00`), which shift the columns behind it.
const CATEGORY: usize = 39;
pub(super) const PE_TASK: usize = 41;
pub(super) const JOB_NUMBER: SgeColumn = SgeColumn(5, "job_number");
pub(super) const SUBMIT: SgeColumn = SgeColumn(8, "submission_time");
pub(super) const START: SgeColumn = SgeColumn(9, "start_time");
pub(super) const END: SgeColumn = SgeColumn(10, "end_time");
pub(super) const FAILED: SgeColumn = SgeColumn(11, "failed");
pub(super) const EXIT_STATUS: SgeColumn = SgeColumn(12, "exit_status");
pub(super) const WALL: SgeColumn = SgeColumn(13, "ru_wallclock");
pub(super) const MAX_RSS: SgeColumn = SgeColumn(16, "ru_maxrss");
pub(super) const SLOTS: SgeColumn = SgeColumn(34, "slots");
pub(super) const TASK: SgeColumn = SgeColumn(35, "task_number");
pub(super) const CPU: SgeColumn = SgeColumn(36, "cpu");
const IO_WAIT: SgeColumn = SgeColumn(40, "iow");
pub(super) const MAX_VMEM: SgeColumn = SgeColumn(42, "maxvmem");
const RESERVATION: SgeColumn = SgeColumn(43, "arid");
const RESERVATION_SUBMIT: SgeColumn = SgeColumn(44, "ar_sub_time");

/// From here on a number is milliseconds: as seconds it would be beyond the year 5000, as milliseconds in 1973.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// Whether the columns that distinguish a row from any other line with colons are numbers.
pub(super) fn has_numbers(fields: &[&str]) -> bool {
    let is_number = |column: SgeColumn| fields.get(column.0).is_some_and(|text| whole(column.1, text).is_ok());
    [JOB_NUMBER, SUBMIT, START, END, EXIT_STATUS, SLOTS]
        .into_iter()
        .all(is_number)
}

/// A row with the number of a job, and columns that can be distinguished.
pub(super) struct SgeRow<'a> {
    fields: Vec<&'a str>,
    /// Number of the job.
    pub(super) number: i64,
    /// Colons within its category.
    surplus: usize,
}

impl<'a> SgeRow<'a> {
    /// The row of this text.
    pub(super) fn of(text: &'a str) -> Result<Self, Refusal> {
        let fields: Vec<&str> = text.split(':').collect();
        if fields.len() < FIELDS_LEAST {
            let detail = format!(
                "{} fields with colons between them, not at least {FIELDS_LEAST}",
                fields.len()
            );
            return Err(Refusal::new(Reason::FieldCount, detail));
        }
        let mut row = Self {
            fields,
            number: 0,
            surplus: 0,
        };
        row.number = row.whole(JOB_NUMBER)?;
        if row.number <= 0 {
            let detail = format!("job_number {} is none", row.number);
            return Err(Refusal::new(Reason::BadJobId, detail));
        }
        row.surplus = row.colons_of_category()?;
        Ok(row)
    }

    /// How many colons the category has: as many as let all columns behind it be what they are. The number of columns does not show it,
    /// as every version has its own.
    fn colons_of_category(&self) -> Result<usize, Refusal> {
        let mut fitting = (0..=self.fields.len().less(FIELDS_LEAST)).filter(|surplus| self.fits(*surplus));
        match (fitting.next(), fitting.next()) {
            (Some(surplus), None) => Ok(surplus),
            // One of the numbers is damaged.
            (None, _) if self.is_task_at(0) => Ok(0),
            (first, _) => {
                let found = if first.is_some() { "more than one way" } else { "no way" };
                let detail = format!(
                    "{} fields, and {found} to part them at the colons so that iow, pe_taskid and maxvmem follow the category",
                    self.fields.len()
                );
                Err(Refusal::new(Reason::FieldCount, detail))
            }
        }
    }

    fn fits(&self, surplus: usize) -> bool {
        let field = |column: SgeColumn| self.fields.get(column.0 + surplus);
        let is_number = |column| field(column).is_some_and(|text| is_decimal(text));
        let is_whole = |column: SgeColumn| field(column).is_none_or(|text| whole(column.1, text).is_ok());
        self.is_task_at(surplus) && is_number(MAX_VMEM) && is_whole(RESERVATION) && is_whole(RESERVATION_SUBMIT)
    }

    /// Whether a number, and `NONE` or a task such as `1.n8`, follow a category with so many colons.
    fn is_task_at(&self, surplus: usize) -> bool {
        let is_task = |text: &&str| {
            let numbered = text.split_once('.');
            *text == "NONE"
                || numbered.is_some_and(|(n, host)| {
                    !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()) && !host.is_empty()
                })
        };
        let io_wait = self.fields.get(IO_WAIT.0 + surplus);
        io_wait.is_some_and(|text| is_decimal(text)) && self.fields.get(PE_TASK + surplus).is_some_and(is_task)
    }

    /// Whether it has columns behind the last that is looked at, which is whole then.
    pub(super) fn has_later_columns(&self) -> bool {
        self.fields.len() > FIELDS_LEAST + self.surplus
    }

    /// Whether a column had colons.
    pub(super) fn is_reassembled(&self) -> bool {
        self.surplus > 0
    }

    fn text(&self, at: usize) -> &'a str {
        let at = if at > CATEGORY { at + self.surplus } else { at };
        tally(self.fields.get(at).copied())
    }

    /// A name; `NONE` counts as none.
    pub(super) fn name(&self, at: usize) -> Option<&'a str> {
        known(self.text(at)).filter(|text| *text != "NONE")
    }

    pub(super) fn whole(&self, column: SgeColumn) -> Result<i64, Refusal> {
        whole(column.1, self.text(column.0))
    }

    /// An instant; zero counts as none.
    pub(super) fn time_ms(&self, column: SgeColumn) -> Result<Option<i64>, Refusal> {
        let ms = instant_ms(column.1, self.text(column.0))?;
        Ok(match ms / 1000 {
            0 => None,
            MILLISECONDS_FROM.. => Some(ms / 1000),
            _ => Some(ms),
        })
    }

    pub(super) fn seconds_ms(&self, column: SgeColumn) -> Result<i64, Refusal> {
        seconds_ms(column.1, self.text(column.0))
    }
}

fn is_decimal(text: &str) -> bool {
    decimal::scaled(text.trim(), 0).is_some()
}
