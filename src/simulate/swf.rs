//! The Standard Workload Format, version 2.2: comments with a header, then 18 numbers a line, -1 where one is unknown.
//!
//! The dialect of the room `sources` makes accounting records of such logs: jobs that ran, with the time they did. A
//! simulation needs what was requested, also of jobs whose start is unknown, and on which other job they wait.

use std::collections::BTreeMap;

/// How many fields a line has; logs of some simulators have more. The next is read where the header has `BurstBuffer`, as
/// logs for `CQSim` do.
const FIELD_N: usize = 18;
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
    /// The entries `Key: value` before the first job; of a key that occurs several times the first.
    pub header: BTreeMap<String, String>,
    /// The lines with a job.
    pub lines: Vec<SwfLine>,
    /// The lines that could not be read.
    pub problems: Vec<SwfProblem>,
    /// Numbers with a fraction, which was cut off.
    pub fraction_n: u64,
}

impl SwfLog {
    /// Reads a log. What is not UTF-8 can only be in comments and unreadable lines.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut log = Self::default();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").map_or(bytes, |rest| rest);
        for (at, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let text = line.trim_ascii();
            match text.first() {
                None => {}
                Some(b';') => log.comment(&String::from_utf8_lossy(text)),
                Some(_) => match log.job(at, text) {
                    Ok(job) => log.lines.push(job),
                    Err(reason) => log.problems.push(SwfProblem { line: at, reason }),
                },
            }
        }
        log
    }

    /// A number of the header, such as that of `MaxProcs`.
    #[must_use]
    pub fn header_number(&self, key: &str) -> Option<i64> {
        let words = self.header.get(key)?;
        words.split_whitespace().next()?.parse().ok()
    }

    /// Whether its lines state burst buffer.
    #[must_use]
    pub fn has_burst_buffer(&self) -> bool {
        self.header.contains_key("BurstBuffer")
    }

    fn comment(&mut self, text: &str) {
        if !self.lines.is_empty() {
            return;
        }
        let entry = text.trim_start_matches(';').split_once(':');
        if let Some((key, value)) = entry {
            let key = key.trim();
            if !key.is_empty() && !key.contains(' ') {
                let entry = self.header.entry(key.to_owned());
                entry.or_insert_with(|| value.trim().to_owned());
            }
        }
    }

    fn job(&mut self, line: u64, text: &[u8]) -> Result<SwfLine, &'static str> {
        let mut fields = [0; FIELD_N];
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for field in &mut fields {
            let word = words.next().ok_or("it has fewer than 18 fields")?;
            let number = number(word).ok_or("a field is not a number, or is out of range")?;
            *field = number.whole;
            self.fraction_n += u64::from(number.has_fraction);
        }
        let burst_buffer = match words.next() {
            Some(word) if self.has_burst_buffer() => number(word).map(|number| number.whole),
            _ => Some(-1),
        };
        let burst_buffer = burst_buffer.ok_or("its burst buffer is not a number, or is out of range")?;
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

/// A number as written: its whole part, and whether more than that was written.
struct Number {
    whole: i64,
    has_fraction: bool,
}

/// Digits with a sign and a fraction; an exponent is refused.
fn number(word: &[u8]) -> Option<Number> {
    let (is_negative, digits) = match word.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, word),
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let whole = parts.next()?;
    let fraction = parts.next();
    if whole.is_empty() && fraction.is_none_or(<[u8]>::is_empty) {
        return None;
    }
    let mut number = 0_i64;
    for byte in whole {
        number = number * 10 + i64::from(digit(*byte)?);
        if number > LARGEST {
            return None;
        }
    }
    let mut has_fraction = false;
    for byte in fraction.into_iter().flatten() {
        has_fraction |= digit(*byte)? != 0;
    }
    Some(Number {
        whole: if is_negative { -number } else { number },
        has_fraction,
    })
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}
