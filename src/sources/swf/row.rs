//! The columns of a line, as accounting and simulation read them.

use crate::numbers::tally;
use crate::sources::decimal::{self, Scaled};

/// Columns of the format.
pub const COLUMNS: usize = 18;
/// Thousandths of one: times are read to the millisecond.
const THOUSAND: i64 = 1000;

/// A column of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwfColumn {
    /// Its 0-based place.
    pub place: usize,
    /// Its name in the definition of the format.
    pub name: &'static str,
}

impl SwfColumn {
    /// 1: number of the job.
    pub const JOB: Self = Self::new(0, "job number");
    /// 2: submission, seconds since the log began.
    pub const SUBMIT: Self = Self::new(1, "submit time");
    /// 3: wait, seconds.
    pub const WAIT: Self = Self::new(2, "wait time");
    /// 4: run time, seconds.
    pub const RUN: Self = Self::new(3, "run time");
    /// 5: allocated processors.
    pub const PROCESSORS: Self = Self::new(4, "number of allocated processors");
    /// 6: CPU time, seconds per processor.
    pub const AVERAGE_CPU: Self = Self::new(5, "average CPU time used");
    /// 7: used memory, kilobytes per processor.
    pub const MEMORY: Self = Self::new(6, "used memory");
    /// 8: requested processors.
    pub const ASKED_PROCESSORS: Self = Self::new(7, "requested number of processors");
    /// 9: requested time, seconds.
    pub const ASKED_TIME: Self = Self::new(8, "requested time");
    /// 10: requested memory, kilobytes per processor.
    pub const ASKED_MEMORY: Self = Self::new(9, "requested memory");
    /// 11: 1 completed, 0 failed, 5 cancelled; 2 to 4 are parts of a job.
    pub const STATUS: Self = Self::new(10, "status");
    /// 12: user.
    pub const USER: Self = Self::new(11, "user ID");
    /// 13: group.
    pub const GROUP: Self = Self::new(12, "group ID");
    /// 14: application.
    pub const EXECUTABLE: Self = Self::new(13, "executable number");
    /// 15: queue.
    pub const QUEUE: Self = Self::new(14, "queue number");
    /// 16: partition.
    pub const PARTITION: Self = Self::new(15, "partition number");
    /// 17: the job that must end first.
    pub const PRECEDING: Self = Self::new(16, "preceding job number");
    /// 18: seconds between the end of that job and the submission.
    pub const THINK: Self = Self::new(17, "think time from preceding job");
    /// 19, where the header has `BurstBuffer`: requested burst buffer, gigabytes.
    pub const BURST_BUFFER: Self = Self::new(COLUMNS, "burst buffer");

    /// All that every log has, in their order.
    pub const ALL: [Self; COLUMNS] = [
        Self::JOB,
        Self::SUBMIT,
        Self::WAIT,
        Self::RUN,
        Self::PROCESSORS,
        Self::AVERAGE_CPU,
        Self::MEMORY,
        Self::ASKED_PROCESSORS,
        Self::ASKED_TIME,
        Self::ASKED_MEMORY,
        Self::STATUS,
        Self::USER,
        Self::GROUP,
        Self::EXECUTABLE,
        Self::QUEUE,
        Self::PARTITION,
        Self::PRECEDING,
        Self::THINK,
    ];

    const fn new(place: usize, name: &'static str) -> Self {
        Self { place, name }
    }
}

/// A number of a line, cut to a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwfWhole {
    /// What is before the point.
    pub whole: i64,
    /// Whether more than that was written.
    pub has_fraction: bool,
}

/// One line of a log, in columns.
#[derive(Clone, Copy, Debug)]
pub struct SwfRow<'a> {
    columns: &'a [&'a str],
}

impl<'a> SwfRow<'a> {
    /// A line, if it has all columns of the format.
    #[must_use]
    pub fn of(columns: &'a [&'a str]) -> Option<Self> {
        (columns.len() >= COLUMNS).then_some(Self { columns })
    }

    /// A column as written; what the line does not have is empty.
    #[must_use]
    pub fn text(&self, column: SwfColumn) -> &'a str {
        tally(self.columns.get(column.place).copied())
    }

    /// The columns behind those of the format.
    #[must_use]
    pub fn further(&self) -> &'a [&'a str] {
        self.columns.get(COLUMNS..).map_or(&[], |rest| rest)
    }

    /// A number times ten to the `places`; `None` when it is not a number, or too large.
    #[must_use]
    pub fn scaled(&self, column: SwfColumn, places: u32) -> Option<Scaled> {
        decimal::scaled(self.text(column), places)
    }

    /// A number without its fraction, as simulators count in whole seconds; `None` as for [`Self::scaled`].
    #[must_use]
    pub fn whole(&self, column: SwfColumn) -> Option<SwfWhole> {
        let thousandths = self.scaled(column, 3)?;
        Some(SwfWhole {
            whole: thousandths.value / THOUSAND,
            has_fraction: !thousandths.is_exact || thousandths.value % THOUSAND != 0,
        })
    }
}
