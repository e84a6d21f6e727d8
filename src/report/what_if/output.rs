//! A what-if for terminals, wikis and programs.

use std::fmt::Write as _;

use super::super::render::{self, json_object, markdown};
use super::super::sshare::ListedUsers;
use super::super::table::Table;
use super::data::FairshareWhatIf;
use super::tables::{WhatIfReader, WhatIfTable};
use crate::error::{Error, Result};

/// What stands for a table of assumptions without a row.
const NOTHING: &str = "Nothing is assumed to be other than it is.";

impl FairshareWhatIf {
    /// One table.
    ///
    /// # Errors
    /// As [`Self::associations_table`].
    pub fn table(&self, which: WhatIfTable, reader: WhatIfReader, users: ListedUsers) -> Result<Table> {
        Ok(match which {
            WhatIfTable::Assumptions => self.assumptions_table(),
            WhatIfTable::Totals => self.totals_table(),
            WhatIfTable::Associations => self.associations_table(reader, users)?,
            WhatIfTable::Period => self.period_table(users),
            WhatIfTable::Days => self.days_table(users),
            WhatIfTable::Queue => self.queue_table(users),
        })
    }

    /// The tables that there are, but for that of the days.
    pub(super) fn all(&self, reader: WhatIfReader, users: ListedUsers) -> Result<Vec<(WhatIfTable, Table)>> {
        let mut wanted = vec![WhatIfTable::Assumptions, WhatIfTable::Totals, WhatIfTable::Associations];
        if self.course.is_some() {
            wanted.push(WhatIfTable::Period);
        }
        if self.queue.is_some() {
            wanted.push(WhatIfTable::Queue);
        }
        let tables = wanted
            .into_iter()
            .map(|which| Ok((which, self.table(which, reader, users)?)));
        tables.collect()
    }

    /// What the comparison is.
    #[must_use]
    pub fn title(&self) -> String {
        format!("What if: fairshare of {} at {}", self.cluster, self.at())
    }

    /// The tables for a terminal.
    ///
    /// # Errors
    /// As [`Self::associations_table`].
    pub fn text(&self, users: ListedUsers) -> Result<String> {
        let mut text = self.title() + "\n";
        for (which, table) in self.all(WhatIfReader::Terminal, users)? {
            let body = if which == WhatIfTable::Assumptions && table.rows.is_empty() {
                format!("{NOTHING}\n")
            } else {
                render::text(&table.without_empty_columns())?
            };
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}\n{body}", table.title);
        }
        Ok(text)
    }

    /// The tables for wikis.
    ///
    /// # Errors
    /// As [`Self::associations_table`].
    pub fn markdown(&self, users: ListedUsers) -> Result<String> {
        let mut text = format!("## {}\n\n", self.title());
        for (which, table) in self.all(WhatIfReader::Page, users)? {
            let body = if which == WhatIfTable::Assumptions && table.rows.is_empty() {
                format!("{NOTHING}\n")
            } else {
                markdown(&table.without_empty_columns())?
            };
            // Writing to a string cannot fail.
            let _ = write!(text, "### {}\n\n{body}\n", table.title);
        }
        Ok(text)
    }

    /// The tables for programs: an object for every row, with the table it is of.
    ///
    /// # Errors
    /// As [`Self::associations_table`]; [`crate::error::Kind::Internal`] when it cannot be written.
    pub fn objects(&self, users: ListedUsers) -> Result<Vec<String>> {
        let quoted = |text: &str| {
            serde_json::to_string(text)
                .map_err(|why| Error::internal("a report cannot be written as JSON").because(why))
        };
        let (cluster, at) = (quoted(&self.cluster)?, quoted(&self.at())?);
        let mut objects = Vec::new();
        for (which, table) in self.all(WhatIfReader::Program, users)? {
            let name = quoted(which.as_str())?;
            for row in &table.rows {
                let row = json_object(&table.columns, row)?;
                objects.push(format!(
                    "{{\"cluster\": {cluster}, \"at_utc\": {at}, \"table\": {name}, \"row\": {row}}}"
                ));
            }
        }
        Ok(objects)
    }
}

impl WhatIfTable {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assumptions => "assumptions",
            Self::Totals => "totals",
            Self::Associations => "associations",
            Self::Period => "period",
            Self::Days => "days",
            Self::Queue => "queue",
        }
    }
}
