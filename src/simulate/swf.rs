//! The Standard Workload Format, version 2.2: comments with a header, then 18 numbers a line, -1 where one is unknown.
//!
//! The room `sources` reads the header and the columns of a line, and makes accounting records of them: jobs that ran, with
//! the time they did. A simulation needs what was requested, also of jobs whose start is unknown, and on which other job they
//! wait.

use std::io::{BufRead as _, BufReader, Read};

use crate::byte_order_mark::without_mark;
use crate::error::Result;
use crate::runtime::column::{Column, ColumnBudget, ColumnWriter};
use crate::runtime::column_value::{ByteFields, ColumnValue};
use crate::sources::swf::{SwfColumn, SwfHeader, SwfRow};

/// Longest header that is read.
const HEAD_BYTE: u64 = 1 << 20;
/// The largest number read; what is beyond is no time, amount or number of a job.
const LARGEST: i64 = 1 << 40;

/// One line. A field that is unknown is -1, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwfLine {
    /// Number of the line in the file, from 1.
    pub line: u64,
    /// 1: number of the job.
    pub id: i64,
    /// 2: submission, seconds since the log began.
    pub submit_s: i64,
    /// 3: wait, seconds.
    pub wait_s: i64,
    /// 4: run time, seconds.
    pub run_s: i64,
    /// 5: allocated processors.
    pub allocated_n: i64,
    /// 8: requested processors.
    pub requested_n: i64,
    /// 9: requested time, seconds.
    pub requested_s: i64,
    /// 10: requested memory, kilobytes per processor.
    pub requested_kb: i64,
    /// 11: status: 1 completed, 0 failed, 5 cancelled; 2 to 4 are parts of a job.
    pub status: i64,
    /// 12: user.
    pub user: i64,
    /// 13: group.
    pub group: i64,
    /// 17: the job that must end first.
    pub preceding: i64,
    /// 18: seconds between the end of that job and the submission.
    pub think_s: i64,
    /// 19, where the header has `BurstBuffer`: requested burst buffer, gigabytes.
    pub burst_buffer: i64,
}

impl ColumnValue for SwfLine {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Self {
            line,
            id,
            submit_s,
            wait_s,
            run_s,
            allocated_n,
            requested_n,
            requested_s,
            requested_kb,
            status,
            user,
            group,
            preceding,
            think_s,
            burst_buffer,
        } = self;
        bytes.extend_from_slice(&line.to_le_bytes());
        for number in [
            id,
            submit_s,
            wait_s,
            run_s,
            allocated_n,
            requested_n,
            requested_s,
            requested_kb,
            status,
            user,
            group,
            preceding,
            think_s,
            burst_buffer,
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            line: bytes.number64(),
            id: bytes.signed(),
            submit_s: bytes.signed(),
            wait_s: bytes.signed(),
            run_s: bytes.signed(),
            allocated_n: bytes.signed(),
            requested_n: bytes.signed(),
            requested_s: bytes.signed(),
            requested_kb: bytes.signed(),
            status: bytes.signed(),
            user: bytes.signed(),
            group: bytes.signed(),
            preceding: bytes.signed(),
            think_s: bytes.signed(),
            burst_buffer: bytes.signed(),
        }
    }
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwfProblem {
    /// Number of the line in the file, from 1.
    pub line: u64,
    /// Why.
    pub reason: &'static str,
}

/// A log as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfLog {
    /// What the comments before the first job state.
    pub header: SwfHeader,
    /// The lines with a job.
    pub lines: Column<SwfLine>,
    /// The lines that could not be read.
    pub problems: Vec<SwfProblem>,
    /// Numbers with a fraction, which was cut off.
    pub fraction_n: u64,
    /// Lines with a number in column 19, which is not read because the header does not state what it is.
    pub unread_column_n: u64,
}

impl SwfLog {
    /// Reads a log. What is not UTF-8 can only be in comments and unreadable lines.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read, or its lines cannot be put into a temporary file.
    pub fn read(mut input: impl Read, budget: ColumnBudget) -> Result<Self> {
        let mut head = Vec::new();
        input.by_ref().take(HEAD_BYTE).read_to_end(&mut head)?;
        let head = without_mark(&head);
        let mut log = Self {
            header: SwfHeader::of(head),
            ..Self::default()
        };
        let mut lines = ColumnWriter::new(budget);
        let mut input = BufReader::new(head.chain(input));
        let (mut line, mut at) = (Vec::new(), 0);
        while input.read_until(b'\n', &mut line)? > 0 {
            at += 1;
            let text = line.trim_ascii();
            if !matches!(text.first(), None | Some(b';')) {
                match log.job(at, text) {
                    Ok(job) => lines.push(job)?,
                    Err(reason) => log.problems.push(SwfProblem { line: at, reason }),
                }
            }
            line.clear();
        }
        log.lines = lines.finish()?;
        Ok(log)
    }

    /// Whether its lines state burst buffer.
    #[must_use]
    pub fn has_burst_buffer(&self) -> bool {
        self.header.has_burst_buffer
    }

    fn job(&mut self, line: u64, text: &[u8]) -> std::result::Result<SwfLine, &'static str> {
        let text = str::from_utf8(text).map_err(|_| "it is not text")?;
        let columns: Vec<&str> = text.split_ascii_whitespace().collect();
        let row = SwfRow::of(&columns).ok_or("it has fewer than 18 fields")?;
        let mut fields = [0; SwfColumn::ALL.len()];
        for (field, column) in fields.iter_mut().zip(SwfColumn::ALL) {
            let number = row.whole(column).filter(|number| number.whole.abs() <= LARGEST);
            let number = number.ok_or("a field is not a number, or is out of range")?;
            *field = number.whole;
            self.fraction_n += u64::from(number.has_fraction);
        }
        let has_burst_buffer = self.has_burst_buffer() && !row.further().is_empty();
        let burst_buffer = if has_burst_buffer {
            let number = row.whole(SwfColumn::BURST_BUFFER);
            let number = number.filter(|number| number.whole.abs() <= LARGEST);
            let wrong = "its burst buffer is not a number, or is out of range";
            number.ok_or(wrong)?.whole
        } else {
            // Other programs append texts, such as a list of nodes.
            let has_number = row.scaled(SwfColumn::BURST_BUFFER, 0).is_some();
            self.unread_column_n += u64::from(has_number && !self.has_burst_buffer());
            -1
        };
        let [
            id,
            submit_s,
            wait_s,
            run_s,
            allocated_n,
            _,
            _,
            requested_n,
            requested_s,
            requested_kb,
            status,
            user,
            group,
            _,
            _,
            _,
            preceding,
            think_s,
        ] = fields;
        Ok(SwfLine {
            line,
            id,
            submit_s,
            wait_s,
            run_s,
            allocated_n,
            requested_n,
            requested_s,
            requested_kb,
            status,
            user,
            group,
            preceding,
            think_s,
            burst_buffer,
        })
    }
}
