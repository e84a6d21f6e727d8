//! Notes for people from the first bytes of a file, beyond its dialect.

use super::sacct::FixedOrder;
use crate::byte_order_mark::without_mark;

/// Columns by which a header of `sacct` is recognised. One of the first two must be there.
const SACCT_COLUMNS: &[&str] = &[
    "JobID",
    "JobIDRaw",
    "JobName",
    "Account",
    "AllocCPUS",
    "AllocNodes",
    "AllocTRES",
    "AssocID",
    "Cluster",
    "CPUTime",
    "CPUTimeRAW",
    "DBIndex",
    "Elapsed",
    "ElapsedRaw",
    "Eligible",
    "End",
    "ExitCode",
    "GID",
    "Group",
    "MaxRSS",
    "MaxVMSize",
    "NCPUS",
    "NNodes",
    "NodeList",
    "Partition",
    "QOS",
    "ReqCPUS",
    "ReqMem",
    "ReqNodes",
    "ReqTRES",
    "Reservation",
    "Start",
    "State",
    "Submit",
    "Suspended",
    "SystemCPU",
    "Timelimit",
    "TimelimitRaw",
    "TotalCPU",
    "UID",
    "User",
    "UserCPU",
    "WCKey",
    "WorkDir",
    "AveRSS",
    "AveCPU",
    "NTasks",
    "Priority",
    "Comment",
];

/// Columns that `squeue` prints, whose first one is a `JOBID` too.
const SQUEUE_COLUMNS: &[&str] = &["SUBMIT_TIME", "START_TIME", "END_TIME", "TIME_LEFT", "NODELIST(REASON)"];

/// Columns that came with a release of Slurm, newest first.
pub(crate) const SACCT_RELEASES: &[(&str, &str)] = &[
    ("SLUID", "Slurm 24.11 or later"),
    ("Restarts", "Slurm 24.11 or later"),
    ("StdOut", "Slurm 24.05 or later"),
    ("Planned", "Slurm 23.02 or later"),
    ("FailedNode", "Slurm 23.02 or later"),
    ("Reserved", "Slurm before 23.02"),
    ("SubmitLine", "Slurm 21.08 or later"),
    ("Container", "Slurm 21.08 or later"),
];

/// The first line of a `sacct` dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SacctHeader {
    /// The separator of two columns; only blanks when the columns have a fixed width.
    pub delimiter: String,
    /// The columns as they are spelled.
    pub columns: Vec<String>,
}

impl SacctHeader {
    /// The header, if one of the first lines is one with a delimiter. Messages of the tool may precede it.
    #[must_use]
    pub fn find(head: &[u8]) -> Option<Self> {
        Self::any(head).filter(|header| !header.is_fixed_width())
    }

    fn is_fixed_width(&self) -> bool {
        self.delimiter.trim_matches(' ').is_empty()
    }

    /// The header, whatever is between its columns.
    pub(super) fn any(head: &[u8]) -> Option<Self> {
        /// Lines looked at.
        const FIRST: usize = 8;
        let lines = without_mark(head).split(|&byte| byte == b'\n');
        lines.take(FIRST).find_map(Self::in_line)
    }

    fn in_line(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let line = line.trim_end_matches('\r').trim_start_matches(' ');
        // Names of columns are letters only, so what ends the first one is the delimiter.
        let first = line.find(|letter: char| !letter.is_ascii_alphanumeric())?;
        let rest = line.get(first..)?;
        let delimiter = rest.get(..rest.find(|letter: char| letter.is_ascii_alphanumeric())?)?;
        let columns: Vec<String> = if delimiter.trim_matches(' ').is_empty() {
            line.split_ascii_whitespace().map(str::to_owned).collect()
        } else {
            line.split(delimiter)
                .map(|name| name.trim_end_matches(delimiter).to_owned())
                .collect()
        };
        let header = Self {
            delimiter: delimiter.to_owned(),
            columns,
        };
        let known = SACCT_COLUMNS.iter().filter(|name| header.has(name)).count();
        if SQUEUE_COLUMNS.iter().any(|name| header.has(name)) {
            return None;
        }
        ((header.has("JobID") || header.has("JobIDRaw")) && known >= 2).then_some(header)
    }

    /// The header a dump of a fixed order goes without.
    pub(crate) fn fixed(order: FixedOrder) -> Self {
        Self {
            delimiter: "|".to_owned(),
            columns: order.columns().map(str::to_owned).collect(),
        }
    }

    /// Whether a column exists, regardless of letter case and requested width (`JobName%30`).
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| {
            let column = column.split('%').next().unwrap_or(column);
            column.eq_ignore_ascii_case(name)
        })
    }
}

/// The notes from the head of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Version of the format or of the software that wrote it.
    pub version: Option<String>,
    /// Number of columns of a table.
    pub column_n: Option<usize>,
    /// Delimiter of a table.
    pub delimiter: Option<String>,
    /// Fixed order of the columns of a table without a header.
    pub layout: Option<FixedOrder>,
    /// How a table prints its times.
    pub times: Option<String>,
    /// Whether times are printed without a zone or offset.
    pub naive_times: bool,
    /// Whether the table has a column for measured CPU time.
    pub has_cpu_column: bool,
    /// Keys the source must set: files do not state these.
    pub needed: Vec<&'static str>,
    /// What is missing or in the way, one sentence each.
    pub problems: Vec<String>,
}
