//! Signed corrections: what people add to, take out of, or move within usage, and answer for with their name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::table_columns::CORRECTIONS;
use crate::diagnostics::Problems;
use crate::hive::check_value;
use crate::time::Month;
use crate::time::month::{Day, day_of};

/// The value of a filter that means "the field is empty".
const NONE: &str = "-";
/// More would not be corrections any more.
const LIMIT: usize = 10_000;
/// Bytes an id may have.
const ID_LIMIT: usize = 100;

const REQUIRED: [&str; 5] = ["id", "action", "author", "reason", "date"];
const FILTERS: [&str; 13] = [
    "site",
    "month",
    "source",
    "view",
    "vo",
    "account",
    "user",
    "cluster",
    "job_id",
    "record_id",
    "file_id",
    "partition",
    "qos",
];
const TARGETS: [&str; 2] = ["to_vo", "to_account"];
/// What an addition adds up; `alloc_memory_byte` is what each of its jobs had, for policies that charge memory.
const AMOUNTS: [&str; 7] = [
    "job_n",
    "wall_s",
    "alloc_core_s",
    "cpu_ms",
    "alloc_gpu_s",
    "alloc_node_s",
    "alloc_memory_byte",
];
/// No month of a site has more than this of any amount, in its unit.
const AMOUNT_LIMIT: u64 = 100_000_000_000_000_000;
/// The model of an addition's GPUs.
const GPU_MODEL: &str = "gpu_model";
/// Columns tables had from the start: the others are part of a row's hash only where they are not empty.
const FIRST: [&str; 16] = [
    "site",
    "month",
    "source",
    "view",
    "vo",
    "account",
    "user",
    "cluster",
    "job_id",
    "record_id",
    "to_vo",
    "to_account",
    "job_n",
    "wall_s",
    "alloc_core_s",
    "cpu_ms",
];
const UNDOES: &str = "undoes";

/// What a correction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Adds usage that is in no record.
    Add,
    /// Takes out what it matches.
    Void,
    /// Moves what it matches to another VO or account.
    Remap,
    /// Takes back another correction.
    Undo,
}

impl Action {
    const ALL: [Self; 4] = [Self::Add, Self::Void, Self::Remap, Self::Undo];

    /// The word in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Void => "void",
            Self::Remap => "remap",
            Self::Undo => "undo",
        }
    }
}

/// One signed row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// Its own name, never used twice.
    pub id: String,
    /// What it does.
    pub action: Action,
    /// Who signs.
    pub author: String,
    /// Why.
    pub reason: String,
    /// When it was signed.
    pub signed_on: Day,
    /// Site; `None` is any.
    pub site: Option<String>,
    /// Month of usage; `None` is any.
    pub month: Option<Month>,
    /// Other columns that must be equal, by name; an inner `None` means that they must be empty.
    pub filters: Vec<(&'static str, Option<String>)>,
    /// VO it moves to.
    pub to_vo: Option<String>,
    /// Account it moves to.
    pub to_account: Option<String>,
    /// Amounts an addition states, by column.
    pub added: Vec<(&'static str, i64)>,
    /// Model of the GPUs an addition states.
    pub gpu_model: Option<String>,
    /// The correction an undo takes back.
    pub undoes: Option<String>,
    /// Whether a later row takes it back.
    pub is_undone: bool,
    /// What it takes and gives.
    rule: String,
    /// Hash of the content of the row.
    hash: String,
}

impl Correction {
    /// Whether it changes usage.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.is_undone && self.action != Action::Undo
    }

    /// The filter on a column, if there is one.
    #[must_use]
    pub fn filter(&self, column: &str) -> Option<Option<&str>> {
        let found = self.filters.iter().find(|(name, _)| *name == column);
        found.map(|(_, value)| value.as_deref())
    }

    /// What it takes and gives, as name=value joined by semicolons; `%`, `;` and `=` in a value are escaped as in a URL.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// What an addition states in a column of amounts.
    #[must_use]
    pub fn adds(&self, column: &str) -> Option<i64> {
        let found = self.added.iter().find(|(name, _)| *name == column);
        found.map(|(_, amount)| *amount)
    }

    /// The jobs of an addition of which a column of amounts is unknown: all, where it does not state it.
    pub(crate) fn unknown_job_n(&self, column: &str) -> i64 {
        // Fallback: an addition without a number of jobs adds none.
        self.adds(column).map_or(self.adds("job_n").unwrap_or_default(), |_| 0)
    }

    /// Whether it takes usage of a month whose columns are these, by its filters; one of a month takes none of an unknown one.
    pub fn takes<'v>(
        &self,
        month: Option<Day>,
        record_id: Option<&[u8]>,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> bool {
        self.is_of_month(month)
            && self
                .filters
                .iter()
                .all(|(name, wanted)| match (*name, wanted.as_deref()) {
                    ("record_id", wanted) => wanted.zip(record_id).is_some_and(|(wanted, id)| is_id(id, wanted)),
                    (name, wanted) => value(name) == wanted,
                })
    }

    fn is_of_month(&self, month: Option<Day>) -> bool {
        self.month.is_none_or(|own| Some(own.first_day()) == month)
    }

    fn is_of_site(&self, site: &str) -> bool {
        self.site.as_deref().is_none_or(|own| own == site)
    }

    /// Whether it is about usage of a site and month.
    #[must_use]
    pub fn is_about(&self, site: &str, month: Day) -> bool {
        self.is_of_site(site) && self.is_of_month(Some(month))
    }

    /// Whether usage in the records of a site and month may depend on it. Records are filed by their UTC month of start
    /// or end and usage by the month it ran in: never before the month before.
    #[must_use]
    pub fn may_touch(&self, site: &str, record_month: Month) -> bool {
        self.is_of_site(site) && self.month.is_none_or(|month| record_month <= month.next())
    }

    /// Whether usage of this VO and account is what it gives (rather than what it takes).
    #[must_use]
    pub fn gives(&self, vo: Option<&str>, account: Option<&str>) -> bool {
        match self.action {
            Action::Add => true,
            Action::Void | Action::Undo => false,
            Action::Remap => {
                self.to_vo.as_deref().is_none_or(|to| vo == Some(to))
                    && self.to_account.as_deref().is_none_or(|to| account == Some(to))
            }
        }
    }
}

/// The table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorrectionTable {
    /// Every row, also undone ones.
    pub rows: Vec<Correction>,
}

impl CorrectionTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Those that change usage.
    pub fn active(&self) -> impl Iterator<Item = &Correction> {
        self.rows.iter().filter(|rule| rule.is_active())
    }

    /// Those that change usage of a site.
    pub fn of_site<'t>(&'t self, site: &str) -> impl Iterator<Item = &'t Correction> {
        self.active()
            .filter(move |rule| rule.site.as_deref().is_none_or(|own| own == site))
    }

    /// Reads a table; see [`Self::load`].
    ///
    /// `void` and `remap` take what equals all of their filters (`site`, `month` of usage, `source`, `view`, `vo`,
    /// `account`, `user`, `cluster`, `job_id`, `record_id`, `file_id`, `partition`, `qos`); an empty or `*` cell takes anything, `-` takes what has no
    /// such value. Rows are applied in their order, each to what those before it have left.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(CORRECTIONS, file, problems) {
            return table;
        }
        if csv.rows.len() > LIMIT {
            problems.mistake(file, 0, format!("more than {LIMIT} corrections"));
            return table;
        }
        let mut ids: BTreeSet<String> = BTreeSet::new();
        for (line, cells) in &csv.rows {
            let cell = |name: &str| {
                let place = csv.columns.iter().position(|column| column == name);
                place.and_then(|place| cells.get(place)).map_or("", String::as_str)
            };
            match parse(&cell) {
                Ok(row) if !ids.insert(row.id.clone()) => {
                    problems.mistake(file, *line, format!("the id \"{}\" occurs twice", row.id));
                }
                Ok(row) => {
                    if let Err(why) = table.add(row) {
                        problems.mistake(file, *line, why);
                    }
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table
    }

    /// Adds a row as a lake keeps it: who signed it and when, and its rule (see [`Correction::rule`]).
    ///
    /// # Errors
    /// A sentence when the row is not a valid correction.
    pub fn add_kept(&mut self, signed: [(&str, &str); 5], rule: &str) -> Result<(), String> {
        let given = rule.split(';').filter_map(|part| part.split_once('='));
        let cells: Vec<(&str, String)> = (signed.iter().map(|(name, value)| (*name, (*value).to_owned())))
            .chain(given.map(|(name, value)| (name, unescaped(value))))
            .collect();
        let row = parse(&|name| {
            let cell = cells.iter().find(|(known, _)| *known == name);
            cell.map_or("", |(_, value)| value.as_str())
        })?;
        self.add(row)
    }

    fn add(&mut self, row: Correction) -> Result<(), String> {
        if let Some(undoes) = &row.undoes {
            let target = self.rows.iter_mut().find(|earlier| earlier.id == *undoes);
            let target = target.ok_or_else(|| format!("no row before this one has the id \"{undoes}\""))?;
            if target.action == Action::Undo {
                return Err(format!(
                    "\"{undoes}\" is an undo: write the correction again under a new id"
                ));
            }
            if target.is_undone {
                return Err(format!("\"{undoes}\" is undone already"));
            }
            target.is_undone = true;
        }
        self.rows.push(row);
        Ok(())
    }

    /// The row with an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Correction> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The rows signed so far, a line each: id and hash of the content. Only appended to.
    #[must_use]
    pub fn signed(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}\t{}", row.id, row.hash);
        }
        text
    }

    /// The rows behind those of an earlier table.
    ///
    /// # Errors
    /// In a sentence, when a row of the earlier table was changed, removed, or is not in its place any more.
    pub fn since(&self, signed: &str) -> Result<&[Correction], String> {
        let mut rows = self.rows.iter();
        for line in signed.lines() {
            let (id, hash) = line.split_once('\t').unwrap_or((line, ""));
            match rows.next() {
                Some(row) if row.id == id && row.hash == hash => {}
                Some(row) if row.id == id => {
                    return Err(format!(
                        "the correction \"{id}\" was changed after it was applied; restore it, undo it in a new row \
                         (action undo, undoes {id}) and write it again under a new id"
                    ));
                }
                _ if self.get(id).is_some() => {
                    return Err(format!(
                        "the correction \"{id}\" is not in its place any more; rows may only be added at the end"
                    ));
                }
                _ => {
                    return Err(format!(
                        "the correction \"{id}\" was applied and is gone; restore its row and undo it in a new one \
                         (action undo, undoes {id})"
                    ));
                }
            }
        }
        Ok(rows.as_slice())
    }
}

fn parse<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<Correction, String> {
    let id = cell("id");
    if id.is_empty() || id.len() > ID_LIMIT || id.chars().any(char::is_control) {
        return Err(format!("an id is a text of 1 to {ID_LIMIT} bytes"));
    }
    let action = Action::ALL.into_iter().find(|action| action.as_str() == cell("action"));
    let action = action.ok_or_else(|| format!("\"{}\" is not an action (add, void, remap, undo)", cell("action")))?;
    for name in ["author", "reason"] {
        if cell(name).is_empty() {
            return Err(format!("a correction is signed: {name} is empty"));
        }
    }
    let given = |name: &&str| !is_any(cell(name));
    let forbid = |names: &[&str]| match names.iter().find(|name| given(name)) {
        Some(name) => Err(format!("{name} means nothing to {}", action.as_str())),
        None => Ok(()),
    };
    match action {
        Action::Add => forbid(&[&TARGETS[..], &["user", "job_id", "record_id", "file_id", UNDOES]].concat())?,
        Action::Void => forbid(&[&TARGETS[..], &AMOUNTS, &[GPU_MODEL, UNDOES]].concat())?,
        Action::Remap => forbid(&[&AMOUNTS[..], &[GPU_MODEL, UNDOES]].concat())?,
        Action::Undo => forbid(&[&FILTERS[..], &TARGETS, &AMOUNTS, &[GPU_MODEL]].concat())?,
    }
    let amount = |name: &str| match cell(name) {
        "" => Ok(None),
        text => match text.parse::<i64>() {
            Ok(amount) if amount.unsigned_abs() <= AMOUNT_LIMIT => Ok(Some(amount)),
            Ok(_) => Err(format!("{name}: {text} is beyond 10^17, and no month has as much")),
            Err(_) => Err(format!("{name}: \"{text}\" is no whole number")),
        },
    };
    let text = |name: &str| Some(cell(name)).filter(|text| !is_any(text)).map(str::to_owned);
    let month = text("month").map(|text| text.parse::<Month>()).transpose()?;
    let mut added = Vec::new();
    for name in AMOUNTS {
        added.extend(amount(name)?.map(|amount| (name, amount)));
    }
    if action == Action::Add {
        if cell("site").is_empty() || month.is_none() {
            return Err("add needs a site and a month".to_owned());
        }
        let adds = |(name, amount): &(&str, i64)| *name != "alloc_memory_byte" && *amount != 0;
        if !added.iter().any(adds) {
            return Err("add adds nothing".to_owned());
        }
    }
    if matches!(action, Action::Void | Action::Remap) && !FILTERS.iter().any(given) {
        return Err(format!("{} without a filter would take everything", action.as_str()));
    }
    if action == Action::Remap && !TARGETS.iter().any(given) {
        return Err("remap needs to_vo or to_account".to_owned());
    }
    check_names(cell)?;
    let undoes = text(UNDOES);
    if (action == Action::Undo) != undoes.is_some() {
        return Err("undo needs undoes, the id of a row before it".to_owned());
    }
    let filters = FILTERS
        .into_iter()
        .filter(|name| !matches!(*name, "site" | "month"))
        .filter_map(|name| Some((name, text(name)?)))
        .map(|(name, value)| (name, Some(value).filter(|value| value != NONE)))
        .collect();
    let canonical: Vec<String> = REQUIRED
        .iter()
        .chain(&FILTERS)
        .chain(&TARGETS)
        .chain(&AMOUNTS)
        .chain(&[GPU_MODEL, UNDOES])
        .filter(|name| REQUIRED.contains(name) || FIRST.contains(name) || **name == UNDOES || given(name))
        .map(|name| format!("{name}={:?}", if is_any(cell(name)) { "" } else { cell(name) }))
        .collect();
    let rule: Vec<String> = FILTERS
        .iter()
        .chain(&TARGETS)
        .chain(&AMOUNTS)
        .chain(&[GPU_MODEL, UNDOES])
        .filter(|name| given(name))
        .map(|name| format!("{name}={}", escaped(cell(name))))
        .collect();
    let date: crate::time::Date = cell("date")
        .parse()
        .map_err(|_| format!("date: \"{}\" is not a day such as 2026-04-01", cell("date")))?;
    Ok(Correction {
        id: id.to_owned(),
        action,
        author: cell("author").to_owned(),
        reason: cell("reason").to_owned(),
        signed_on: day_of(date),
        site: text("site"),
        month,
        filters,
        to_vo: text("to_vo"),
        to_account: text("to_account"),
        added,
        gpu_model: text(GPU_MODEL),
        undoes,
        is_undone: false,
        rule: rule.join(";"),
        hash: blake3::hash(canonical.join("\n").as_bytes()).to_hex().to_string(),
    })
}

/// What usage is given to must be able to name a folder.
fn check_names<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<(), String> {
    let names = [("site", "site"), ("VO", "vo"), ("VO", "to_vo")];
    names
        .into_iter()
        .try_for_each(|(noun, name)| check_value(noun, cell(name)))
}

fn escaped(value: &str) -> String {
    value.replace('%', "%25").replace(';', "%3B").replace('=', "%3D")
}

fn unescaped(value: &str) -> String {
    value.replace("%3D", "=").replace("%3B", ";").replace("%25", "%")
}

/// Whether bytes are an identity as people write it: hexadecimal, with or without dashes.
fn is_id(bytes: &[u8], text: &str) -> bool {
    let mut digits = text.bytes().filter(|byte| *byte != b'-').map(|byte| {
        let digit = char::from(byte).to_digit(16)?;
        u8::try_from(digit).ok()
    });
    let equal = bytes.iter().all(|byte| {
        let high = digits.next().flatten();
        let low = digits.next().flatten();
        high.zip(low).is_some_and(|(high, low)| (high << 4 | low) == *byte)
    });
    equal && digits.next().is_none()
}
