//! How a charge comes about under every name that a job is charged under: a correction may have given it to another one, for which
//! the policy has another price, or is for alone.

use arrow_array::{ArrayRef, RecordBatch};

use super::job::ExplainedPiece;
use super::trace::steps;
use crate::charge::facts::Facts;
use crate::charge::{Tariff, price};
use crate::error::Result;
use crate::schema::batch::{text, texts, word};

/// The name that a job is charged under.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ExplainedPayer<'p> {
    vo: Option<&'p str>,
    account: Option<&'p str>,
}

/// The steps of a charge of the one row of `record` that has these pieces: as it is recorded, and as corrections gave it to others
/// where that differs. `facts_of` gives what the policy reads of a record.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a column is not there, or the formulas contradict what they were compiled for.
pub(super) fn steps_by_payer(
    tariff: &Tariff,
    record: &RecordBatch,
    pieces: &[ExplainedPiece],
    mut facts_of: impl FnMut(&RecordBatch) -> Result<Facts>,
) -> Result<Vec<String>> {
    let recorded = ExplainedPayer {
        vo: word(text(record, "vo")?, 0),
        account: word(text(record, "account")?, 0),
    };
    let mut known: Vec<ExplainedPayer<'_>> = Vec::new();
    let (mut lines, mut recorded_steps) = (Vec::new(), Vec::new());
    let of_recorded = |piece: &&ExplainedPiece| piece.payer() == recorded;
    let others = pieces.iter().filter(|piece| piece.payer() != recorded);
    for piece in pieces.iter().filter(of_recorded).chain(others) {
        let payer = piece.payer();
        if known.contains(&payer) {
            continue;
        }
        known.push(payer);
        let facts = facts_of(&under(record, payer)?)?;
        let priced = price(&tariff.policy, &tariff.options, &facts, true)?;
        let steps = steps(tariff, &facts, &priced);
        if payer == recorded {
            recorded_steps.clone_from(&steps);
            lines.extend(steps);
        } else if steps != recorded_steps {
            let vo = payer.vo.unwrap_or("no VO");
            let account = payer.account.unwrap_or("no account");
            // Fallback: never taken, a payer that is not recorded is one that a correction names.
            let correction = piece.correction_id.as_deref().unwrap_or_default();
            lines.push(format!("given to {vo}, {account} by correction {correction}:"));
            lines.extend(steps.into_iter().map(|step| format!("  {step}")));
        }
    }
    Ok(lines)
}

impl ExplainedPiece {
    fn payer(&self) -> ExplainedPayer<'_> {
        ExplainedPayer {
            vo: self.vo.as_deref(),
            account: self.account.as_deref(),
        }
    }
}

/// A record under the name of a payer.
fn under(record: &RecordBatch, payer: ExplainedPayer<'_>) -> Result<RecordBatch> {
    let columns = record.schema_ref().fields().iter().zip(record.columns());
    let columns = columns.map(|(field, array)| match field.name().as_str() {
        "vo" => texts([payer.vo]),
        "account" => texts([payer.account]),
        _ => ArrayRef::clone(array),
    });
    Ok(RecordBatch::try_new(record.schema(), columns.collect())?)
}
