//! The content of a header line: delimiter, columns, and how a record of it begins and ends.

use super::column::{self, Role, STEP_ROLES, SacctKind};
use super::fields::{RowFields, RowLine, place};
use super::fixed::FixedOrder;
use super::solve::{self, ColumnGroup, GroupedColumn};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::numbers::Part;

/// The columns of one header line.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a layout, not states of one machine"
)]
#[derive(Debug)]
pub(super) struct ColumnLayout {
    /// Text between two fields.
    pub(super) delimiter: Vec<u8>,
    /// Every row ends with a delimiter (`--parsable`).
    pub(super) is_trailing: bool,
    /// Every line ends with CR LF.
    pub(super) is_crlf: bool,
    /// Kind of every column.
    pub(super) kinds: Vec<SacctKind>,
    /// The header line itself, to recognise it again.
    pub(super) header: Vec<u8>,
    /// How columns of a job row may share surplus fields: workload keys taken by their form.
    pub(super) job_groups: Vec<ColumnGroup>,
    /// The same with workload keys as free text.
    pub(super) loose_job_groups: Vec<ColumnGroup>,
    /// The same for step rows, of which little is read.
    pub(super) step_groups: Vec<ColumnGroup>,
    /// The first identifier column.
    pub(super) id_column: usize,
    /// The last identifier column that no free text precedes, else the first one.
    pub(super) prefix_end: usize,
    /// A free text precedes the first identifier column.
    pub(super) is_id_behind_free_text: bool,
    /// A line that cannot start a row continues the last column of the row before it.
    pub(super) is_tail_open: bool,
    columns: [Option<usize>; Role::COUNT],
}

/// What a line is, taken as a header.
pub(super) enum Header {
    /// No header.
    No,
    /// A header of fixed-width output.
    FixedWidth,
    /// A header with these columns.
    Names {
        /// Text between two names.
        delimiter: Vec<u8>,
        /// A delimiter follows the last name.
        is_trailing: bool,
        /// The names.
        names: Vec<Vec<u8>>,
    },
}

/// Looks at `line` (without its line end) as a header, with the delimiter the pipeline names, if it names one.
pub(super) fn header(line: &[u8], declared: Option<&[u8]>) -> Header {
    let delimiter = match declared.filter(|declared| !declared.is_empty()) {
        Some(declared) => declared.to_vec(),
        None => match find_delimiter(line) {
            Some(found) if found.iter().all(|b| *b == b' ') => {
                let known = line
                    .split(|&b| b == b' ')
                    .filter(|name| column::lookup(name).is_some())
                    .count();
                return if known >= 2 { Header::FixedWidth } else { Header::No };
            }
            Some(found) => found,
            None => return Header::No,
        },
    };
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(line, &delimiter) {
        names.push(line.part(from..at).to_vec());
        from = at + delimiter.len();
    }
    let rest = line.part(from..);
    let is_trailing = rest.is_empty();
    if !is_trailing {
        names.push(rest.to_vec());
    }
    let is_name = |name: &Vec<u8>| !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let known = names.iter().filter(|name| column::lookup(name).is_some()).count();
    if names.iter().all(is_name) && known >= 2 && known * 2 > names.len() {
        Header::Names {
            delimiter,
            is_trailing,
            names,
        }
    } else {
        Header::No
    }
}

/// The text between the first two names of a header.
fn find_delimiter(line: &[u8]) -> Option<Vec<u8>> {
    let first = line.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    column::lookup(line.get(..first)?)?;
    let rest = line.get(first..)?;
    let len = rest.iter().take_while(|b| !b.is_ascii_alphanumeric()).count();
    // One column only: a list of states, or a word of prose.
    (len > 0 && len < rest.len())
        .then(|| rest.get(..len).map(<[u8]>::to_vec))
        .flatten()
}

impl ColumnLayout {
    /// The layout of a header line, which may end in CR.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] when it is fixed-width output, or lacks a column nothing can be accounted without.
    pub(super) fn of(line: &[u8], declared: Option<&[u8]>) -> Result<Option<Self>> {
        let (text, is_crlf) = match line.strip_suffix(b"\r") {
            Some(text) => (text, true),
            None => (line, false),
        };
        match header(text, declared) {
            Header::No => Ok(None),
            Header::FixedWidth => Err(Error::new(
                ErrorKind::Data,
                "this is fixed-width sacct output, which cuts values off; write the dump with --parsable2 (-P) or --parsable (-p)",
            )),
            Header::Names {
                delimiter,
                is_trailing,
                names,
            } => Self::from_names(text, is_crlf, delimiter, is_trailing, &names).map(Some),
        }
    }

    /// The layout of a dump without a header.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] when the order lacks a column nothing can be accounted without: none does.
    pub(super) fn fixed(order: FixedOrder, delimiter: Vec<u8>, is_trailing: bool, is_crlf: bool) -> Result<Self> {
        let names: Vec<Vec<u8>> = order.columns().map(|name| name.as_bytes().to_vec()).collect();
        let mut header = names.join(delimiter.as_slice());
        if is_trailing {
            header.extend_from_slice(&delimiter);
        }
        Self::from_names(&header, is_crlf, delimiter, is_trailing, &names)
    }

    fn from_names(
        header: &[u8],
        is_crlf: bool,
        delimiter: Vec<u8>,
        is_trailing: bool,
        names: &[Vec<u8>],
    ) -> Result<Self> {
        let mut columns = [None; Role::COUNT];
        let mut kinds = Vec::with_capacity(names.len());
        let mut of_jobs = Vec::with_capacity(names.len());
        let mut of_steps = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let (kind, role) = column::lookup(name).unwrap_or((SacctKind::Free, None));
            kinds.push(kind);
            let slot = role.and_then(|role| columns.get_mut(role.index()));
            let is_first = match slot.filter(|slot| slot.is_none()) {
                Some(slot) => {
                    *slot = Some(i);
                    true
                }
                None => false,
            };
            let grouped = |is_used: fn(Role) -> bool| GroupedColumn {
                kind,
                is_used: is_first && role.is_some_and(is_used),
                is_always_stated: role.is_some_and(Role::is_always_stated),
            };
            of_jobs.push(grouped(Role::is_separated));
            of_steps.push(grouped(|role| STEP_ROLES.contains(&role)));
        }
        let has = |role: Role| columns.get(role.index()).is_some_and(Option::is_some);
        check(&has)?;
        // Fallback: never taken, `check` refuses a header without an id.
        let id_column = kinds.iter().position(|kind| *kind == SacctKind::Id).unwrap_or(0);
        let first_free = kinds.iter().position(|kind| kind.is_free()).unwrap_or(kinds.len());
        let prefix_end = (0..first_free)
            .rev()
            .find(|&i| kinds.get(i) == Some(&SacctKind::Id))
            .unwrap_or(id_column);
        let is_tail_open = !is_trailing && kinds.last().is_some_and(|kind| kind.is_free());
        Ok(Self {
            delimiter,
            is_trailing,
            is_crlf,
            job_groups: solve::groups(&of_jobs, true),
            loose_job_groups: solve::groups(&of_jobs, false),
            step_groups: solve::groups(&of_steps, false),
            kinds,
            header: header.to_vec(),
            id_column,
            prefix_end,
            is_id_behind_free_text: first_free < id_column,
            is_tail_open,
            columns,
        })
    }

    /// How many columns a row has.
    pub(super) fn width(&self) -> usize {
        self.kinds.len()
    }

    /// How many delimiters a sound row has.
    pub(super) fn delimiters(&self) -> usize {
        self.width() - usize::from(!self.is_trailing)
    }

    /// The fields of a line, whose delimiters are `cuts`, that has exactly one per column.
    pub(super) fn exact<'t, 'c>(&self, text: &'t [u8], line: RowLine, cuts: &'c [u32]) -> Option<RowFields<'t, 'c>> {
        (cuts.len() == self.delimiters()).then_some(())?;
        if self.is_trailing {
            let last = cuts.last().map(|last| place(*last))?;
            (last + self.delimiter.len() == line.end).then_some(())?;
        }
        Some(self.fields(text, line, cuts))
    }

    /// The fields of a line, however many, without the empty one after the delimiter that ends a row.
    pub(super) fn fields<'t, 'c>(&self, text: &'t [u8], line: RowLine, cuts: &'c [u32]) -> RowFields<'t, 'c> {
        let (cuts, end) = match cuts.split_last() {
            Some((last, cuts)) if self.is_trailing => (cuts, place(*last)),
            _ => (cuts, line.end),
        };
        RowFields::new(text, line.start, end, cuts, self.delimiter.len())
    }

    /// Whether some column of a row may hold delimiters and line breaks.
    pub(super) fn has_free_text(&self) -> bool {
        self.kinds.iter().any(|kind| kind.is_free())
    }

    /// The column `role` is in.
    pub(super) fn column(&self, role: Role) -> Option<usize> {
        self.columns.get(role.index()).copied().flatten()
    }

    /// The name of the column `role` is in, as the header spells it.
    pub(super) fn name(&self, role: Role) -> String {
        let names = RowFields::split(&self.header, &self.delimiter);
        self.column(role).and_then(|i| names.into_iter().nth(i)).map_or_else(
            || format!("{role:?}"),
            |name| String::from_utf8_lossy(name).into_owned(),
        )
    }
}

/// The columns nothing can be accounted without.
fn check(has: &dyn Fn(Role) -> bool) -> Result<()> {
    let mut missing = Vec::new();
    if !has(Role::JobId) && !has(Role::JobIdRaw) {
        missing.push("JobID or JobIDRaw");
    }
    if !has(Role::State) && !has(Role::End) {
        missing.push("State or End");
    }
    if !(has(Role::ElapsedRaw) || has(Role::Elapsed) || has(Role::Start) && has(Role::End)) {
        missing.push("ElapsedRaw, Elapsed, or both Start and End");
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Data,
        format!(
            "this sacct dump lacks columns nothing can be accounted without: {}; add them to --format",
            missing.join("; ")
        ),
    ))
}
