//! Prices and comparisons for people.

use std::fmt::Write as _;

use super::{Comparison, Priced};
use crate::reference::decimal::text as amount;

impl Priced {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} ({}): {} jobs, charge unknown for {}\n",
            self.policy, self.unit, self.job_n, self.unpriced_job_n
        );
        if let Some(left_out) = &self.left_out {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {left_out}");
        }
        for account in &self.accounts {
            let name = account.account.as_deref().unwrap_or("-");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<20} {:<10} {:>24}", account.view, account.charge);
        }
        text
    }
}

impl Comparison {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let [both, only_a, only_b, neither] = self.job_n;
        let [unpriced_a, unpriced_b] = self.unpriced_job_n;
        let left_out = ["A", "B"].iter().zip(&self.left_out);
        let left_out = left_out.filter_map(|(name, why)| why.as_ref().map(|why| format!("{name}: {why}\n")));
        let left_out: String = left_out.collect();
        let mut text = format!(
            "A: {} ({})\nB: {} ({})\n{both} jobs priced by both, {only_a} by A alone, {only_b} by B alone, {neither} by neither; \
             charge unknown for {unpriced_a} under A, {unpriced_b} under B\n{left_out}\n{:<20} {:<10} {:>22} {:>22} {:>9} {:>9} {:>9}\n",
            self.a, self.unit_a, self.b, self.unit_b, "account", "view", "A", "B", "part of A", "part of B", "change"
        );
        for payer in &self.reassignments {
            let percent = |e4: i64| amount(i128::from(e4), 2) + " %";
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{:<20} {:<10} {:>22} {:>22} {:>9} {:>9} {:>9}",
                payer.account.as_deref().unwrap_or("-"),
                payer.view,
                payer.a,
                payer.b,
                percent(payer.share_a_e4),
                percent(payer.share_b_e4),
                percent(payer.change_e4)
            );
        }
        text
    }
}
