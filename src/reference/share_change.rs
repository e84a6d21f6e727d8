//! Changed shares: which accounts and users would have which shares in place of those of a listing.

use std::fmt;
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable};
use super::table_columns::SHARE_CHANGES;
use crate::diagnostics::Problems;

/// What becomes of the shares of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareAmount {
    /// This number.
    Number(u32),
    /// The number of the listing and so many more, or fewer.
    More(i64),
    /// `parent`: those of the account it is in.
    Parent,
}

impl ShareAmount {
    /// Reads `40`, `+40`, `-10` or `parent`.
    ///
    /// # Errors
    /// A sentence when it is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        let why = || format!("\"{text}\" is not a number of shares (40), a change of it (+40, -10) or parent");
        if text == "parent" {
            return Ok(Self::Parent);
        }
        let (sign, digits) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(digits), _) => (1, digits),
            (_, Some(digits)) => (-1, digits),
            (None, None) => (0, text),
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u32 = Some(digits)
            .filter(|_| is_number)
            .ok_or_else(why)?
            .parse()
            .map_err(|_| why())?;
        Ok(match sign {
            0 => Self::Number(number),
            sign => Self::More(sign * i64::from(number)),
        })
    }
}

impl fmt::Display for ShareAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::More(more) => write!(f, "{more:+}"),
            Self::Parent => f.write_str("parent"),
        }
    }
}

/// Changed shares of one association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareChange {
    /// The account.
    pub account: String,
    /// The user in it, if it is not the account itself.
    pub user: Option<String>,
    /// The partition the user's association is for, if it is for one only.
    pub partition: Option<String>,
    /// What becomes of the shares.
    pub amount: ShareAmount,
    /// Where it was written, as mistakes name it.
    pub place: String,
}

impl ShareChange {
    /// Whether an option of the command line states it, and not a file.
    #[must_use]
    pub fn is_of_command_line(&self) -> bool {
        self.place.starts_with("--")
    }

    /// The change of `ACCOUNT`, `ACCOUNT/USER` or `ACCOUNT/USER/PARTITION`.
    ///
    /// # Errors
    /// A sentence when it is no such name.
    pub fn named(name: &str, amount: ShareAmount, place: String) -> Result<Self, String> {
        let parts: Vec<&str> = name.split('/').collect();
        if parts.iter().any(|part| part.trim().is_empty()) || parts.len() > 3 {
            return Err(format!(
                "\"{name}\" is not the name of an account, ACCOUNT/USER or ACCOUNT/USER/PARTITION"
            ));
        }
        let part = |at: usize| parts.get(at).map(|part| (*part).to_owned());
        Ok(Self {
            // Fallback: never taken, a name that is split has a first part.
            account: part(0).unwrap_or_default(),
            user: part(1),
            partition: part(2),
            amount,
            place,
        })
    }

    /// `ACCOUNT`, `ACCOUNT/USER` or `ACCOUNT/USER/PARTITION`.
    #[must_use]
    pub fn name(&self) -> String {
        let parts = [Some(&self.account), self.user.as_ref(), self.partition.as_ref()];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        parts.join("/")
    }
}

/// The table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareChangeTable {
    /// Every row without a mistake.
    pub rows: Vec<ShareChange>,
}

impl ShareChangeTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table. Two rows of one association are a mistake.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(SHARE_CHANGES, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            match row(&|name: &str| csv.cell(cells, name), format!("{file}:{line}")) {
                Ok(row) => {
                    if table.rows.iter().any(|other| other.name() == row.name()) {
                        problems.mistake(file, *line, format!("{} has a row before this one", row.name()));
                    }
                    table.rows.push(row);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table
    }
}

fn row<'c>(cell: &impl Fn(&str) -> &'c str, place: String) -> Result<ShareChange, String> {
    let owned = |name: &str| Some(cell(name)).filter(|text| !text.is_empty()).map(str::to_owned);
    let account = owned("account").ok_or_else(|| "account is missing".to_owned())?;
    let (user, partition) = (owned("user"), owned("partition"));
    if user.is_none() && partition.is_some() {
        return Err("partition: only users have shares of a partition".to_owned());
    }
    Ok(ShareChange {
        account,
        user,
        partition,
        amount: ShareAmount::parse(cell("shares")).map_err(|why| format!("shares: {why}"))?,
        place,
    })
}
