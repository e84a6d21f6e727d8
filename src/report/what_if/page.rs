//! The page.

use std::fmt::Write as _;

use super::super::board::{PageTerm, board, definitions, section};
use super::super::html::{self, escape};
use super::super::sshare::ListedUsers;
use super::data::FairshareWhatIf;
use super::drawings::DrawnAssociations;
use super::tables::{WhatIfReader, WhatIfTable};
use crate::error::Result;
use crate::fairshare::standing::FactorOutcome;

const TERMS: [(&str, &str); 9] = [
    (
        "before, after",
        "The same jobs under what the pipeline states, and under what is assumed. Jobs stay what they were: nobody submits other \
         ones, and none starts earlier.",
    ),
    (
        "shares",
        "What an association was granted, relative to what is next to it in the same account. parent: it has none of its own.",
    ),
    (
        "effective usage",
        "The part of usage that the factor follows from: Fair Tree takes the part of the account's usage, the classic formula that \
         of the cluster with a part of the usage of siblings.",
    ),
    (
        "level FS",
        "Shares over usage among what is next to it; inf where nothing was used. Only Fair Tree has it.",
    ),
    (
        "factor",
        "From 0 to 1; the highest comes first. Fair Tree ranks users: the factor of an account is the mean of those of its users.",
    ),
    (
        "rank",
        "1 is first. Of users among all users, of accounts among those in the same account. Equals share a rank.",
    ),
    (
        "priority",
        "Points that the factor gives a waiting job: the factor times priority_weight, cut to a whole number.",
    ),
    (
        "gains, loses, same",
        "The factor is higher, lower, or the same in all of its nine decimals; between two algorithms, whose factors have other \
         scales, the rank.",
    ),
    (
        "recovery",
        "After how many days without jobs the factor is back at the threshold while all others continue as they do. above: it is \
         there. never: idleness does not bring it back.",
    ),
];

impl FairshareWhatIf {
    /// The page: one file that fetches nothing.
    ///
    /// # Errors
    /// As [`Self::associations_table`]; [`crate::error::Kind::Internal`] when a chart cannot be drawn.
    pub fn html(&self, users: ListedUsers) -> Result<String> {
        let mut body = String::new();
        let _ = writeln!(
            body,
            "<p class=\"basis\">{} at {}. Nothing is published or applied.</p>",
            escape(&self.cluster),
            escape(&self.at())
        );
        body.push_str(&self.figures());
        for note in &self.notes {
            let _ = writeln!(body, "<p class=\"note\">{}</p>", escape(note));
        }
        for (which, table) in self.all(WhatIfReader::Page, users)? {
            let mut inside = match which {
                WhatIfTable::Associations => {
                    let mut drawn = self.factors_drawing(DrawnAssociations::Accounts)?;
                    if users == ListedUsers::All {
                        drawn.push_str(&self.factors_drawing(DrawnAssociations::Users)?);
                    }
                    drawn
                }
                WhatIfTable::Period => self.course_drawing()?,
                _ => String::new(),
            };
            if which == WhatIfTable::Assumptions && table.rows.is_empty() {
                inside.push_str("<p>Nothing is assumed to be other than it is.</p>\n");
            } else {
                inside.push_str(&html::table(&table.without_empty_columns())?);
            }
            section(&mut body, which.as_str(), &table.title, &inside);
        }
        let terms = definitions(TERMS.map(|(term, meaning)| PageTerm { term, meaning }));
        section(&mut body, "definitions", "What the terms mean", &terms);
        Ok(board(&format!("What if: fairshare of {}", self.cluster), &body))
    }

    /// How many associations gain and lose, large.
    fn figures(&self) -> String {
        let outcomes: Vec<Option<FactorOutcome>> = (self.before.instant.tree.iter())
            .zip(self.outcomes())
            .filter(|((_, of), _)| of.key.is_user())
            .map(|(_, outcome)| outcome)
            .collect();
        let mut figures = "<dl class=\"figures\">".to_owned();
        for (outcome, words) in [
            (FactorOutcome::Gains, "users gain"),
            (FactorOutcome::Loses, "users lose"),
            (FactorOutcome::Same, "users stay"),
        ] {
            let user_n = outcomes.iter().filter(|of| **of == Some(outcome)).count();
            // Writing to a string cannot fail.
            let _ = writeln!(figures, "<div><dt>{words}</dt><dd>{user_n}</dd></div>");
        }
        figures.push_str("</dl>\n");
        figures
    }
}
