//! An explanation for people.

use std::fmt::Write as _;

use super::job::{Explained, JobCharge};

impl Explained {
    /// The page.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut add_line = |line: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        add_line(&format!(
            "Job {} of {}: record {}",
            self.job_id, self.site, self.record_id
        ));
        add_line("\nWhere it comes from");
        add_line(&format!(
            "  source {}, format {}, input {}",
            self.source, self.format, self.file_id
        ));
        add_line(&format!(
            "  {} line {}, byte {}",
            self.path, self.line, self.byte_offset
        ));
        match (&self.raw, &self.raw_missing) {
            (Some([header, row]), _) => {
                for line in header.lines().chain(row.lines()) {
                    add_line(&format!("  | {line}"));
                }
            }
            (None, why) => add_line(&format!(
                "  the row is not shown: {}",
                // Fallback: a charge whose reason was not recorded is shown as unknown only.
                why.as_deref().unwrap_or_default()
            )),
        }
        add_line("\nHow it was read");
        if let Some(zone) = &self.zone {
            add_line(&format!(
                "  times without an offset are those of {zone}; *_utc are in UTC"
            ));
        }
        for field in &self.fields {
            let unit = if matches!(field.unit.as_str(), "" | "1") {
                String::new()
            } else {
                format!(" {}", field.unit)
            };
            add_line(&format!("  {} = {}{unit}   ({})", field.name, field.value, field.from));
        }
        add_line("\nOther rows of the same job");
        if self.history.is_empty() {
            add_line("  none");
        }
        for past in &self.history {
            add_line(&format!(
                "  {}: {} line {}; that row does not count and is not charged",
                past.outcome, past.path, past.line
            ));
        }
        add_line("\nWork, by the benchmark that held when it ended");
        if self.work.is_empty() {
            add_line("  no benchmark is known");
        }
        for line in &self.work {
            add_line(&format!("  {line}"));
        }
        if !self.energy.is_empty() {
            add_line("\nEnergy and carbon, in all of its run");
        }
        for line in &self.energy {
            add_line(&format!("  {line}"));
        }
        let is_split = self.usage.is_empty() || self.usage.iter().any(|used| !is_whole(used.ran_ms));
        let how = if is_split {
            "its parts by period, in proportion to its time from start to end in each, as recorded"
        } else {
            "all of it in one period, as recorded"
        };
        let is_corrected = self.usage.iter().any(|used| !used.corrections.is_empty());
        let what_then = if is_corrected {
            ", and what corrections took and gave"
        } else {
            ""
        };
        add_line(&format!("\nUsage: {how}{what_then}"));
        if let Some(why) = &self.uncounted {
            add_line(&format!("  none: {why}; it is not charged either"));
        }
        for used in &self.usage {
            for line in used.lines() {
                add_line(&format!("  {line}"));
            }
        }
        let none = match &self.uncounted {
            Some(why) => format!("none: {why}"),
            None => "no policy of the lake is for this job".to_owned(),
        };
        text.push_str(&charges_text(&self.charges, &none));
        text
    }
}

/// Whether a period has all of a job without regard to time: by the attribution of the lake, or as it took none.
fn is_whole([_, of_ms]: [i64; 2]) -> bool {
    of_ms == 0
}

/// What was charged, and how; `none` where nothing was.
pub(super) fn charges_text(charges: &[JobCharge], none: &str) -> String {
    let mut text = String::new();
    let mut add_line = |line: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    add_line("\nCharges");
    if charges.is_empty() {
        add_line(&format!("  {none}"));
    }
    for charge in charges {
        let options = if charge.options.is_empty() {
            String::new()
        } else {
            format!(" ({})", charge.options)
        };
        add_line(&format!(
            "  {} {}{options}: {}",
            charge.policy, charge.version, charge.title
        ));
        for line in &charge.steps {
            add_line(&format!("    {line}"));
        }
        for piece in &charge.pieces {
            let amount = piece.charge.as_deref().map_or_else(
                // Fallback: as for the job, a piece may lack its reason.
                || format!("unknown, {}", piece.why_unpriced.as_deref().unwrap_or_default()),
                |amount| format!("{amount} {}", charge.unit),
            );
            let ran = piece
                .ran_ms
                .filter(|ran_ms| !is_whole(*ran_ms))
                .map_or_else(String::new, |[ran, all]| format!(" for {ran} of {all} ms"));
            let payer = piece.account.as_deref().unwrap_or("no account");
            let entry = piece.correction_id.as_ref();
            let entry = entry.map_or_else(String::new, |id| format!(" by correction {id}"));
            add_line(&format!(
                "    {}: {amount}{ran}{entry}, {payer} -> {}",
                piece.day.as_ref().unwrap_or(&piece.month),
                piece.cell
            ));
        }
    }
    text
}
