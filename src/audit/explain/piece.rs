//! The parts a charge was split into.

use arrow_array::RecordBatch;

use super::job::{ExplainedPiece, day_text};
use crate::charge::amount::CHARGE_SCALE;
use crate::error::Result;
use crate::numbers::Comparand;
use crate::reference::decimal::text as amount;
use crate::schema::batch::{date, decimal, id, int, number, text, word};
use crate::store::lake;
use crate::summarise::share::PeriodShare;
use crate::time::MsSpan;

/// What a job was charged by.
#[derive(Clone, Copy)]
pub(crate) struct ExplainedTariff<'a> {
    /// Policy, version and options.
    pub(crate) key: (&'a str, &'a str, &'a str),
    /// The pool, where a policy has several.
    pub(crate) pool: Option<&'a str>,
}

/// The parts of a job's charge by one payer.
pub(crate) fn pieces(
    rows: &[RecordBatch],
    site: &str,
    record_id: &[u8],
    wanted: ExplainedTariff<'_>,
    shares: &[PeriodShare],
    holds: Option<MsSpan>,
) -> Result<Vec<ExplainedPiece>> {
    let mut pieces = Vec::new();
    for batch in rows {
        let (ids, charge) = (id(batch, "record_id")?, decimal(batch, "charge")?);
        let of = |name: &str| text(batch, name);
        let (policy, version, options) = (of("policy")?, of("policy_version")?, of("options")?);
        let (vo, why, pools) = (of("vo")?, of("why_unpriced")?, of("pool")?);
        let (account, correction) = (of("account")?, of("correction_id")?);
        let (year, month) = (int(batch, "allocation_year")?, date(batch, "month")?);
        let day = date(batch, "day")?;
        for row in 0..batch.num_rows() {
            let key = (policy.value(row), version.value(row), options.value(row));
            let is_of_pool = wanted.pool.is_none_or(|pool| pools.value(row) == pool);
            if key != wanted.key || !is_of_pool || ids.value(row) != record_id {
                continue;
            }
            let share = shares.iter().find(|share| {
                let period = &share.period;
                (period.allocation_year, period.month, period.day)
                    == (year.value(row), month.value(row), number(day, row))
            });
            let ran_ms = share.zip(holds).map(|(share, holds)| {
                let until_ms = holds.until_ms.min(share.from_ms.sum_to_compare(share.ran_ms));
                let ran_ms = until_ms.difference_to_compare(holds.from_ms.max(share.from_ms)).max(0);
                [ran_ms, share.of_ms]
            });
            pieces.push(ExplainedPiece {
                month: day_text(month.value(row)),
                day: number(day, row).map(day_text),
                vo: word(vo, row).map(str::to_owned),
                account: word(account, row).map(str::to_owned),
                correction_id: word(correction, row).map(str::to_owned),
                ran_ms,
                charge: number(charge, row).map(|charge| amount(charge, CHARGE_SCALE)),
                why_unpriced: word(why, row).map(str::to_owned),
                cell: lake::charges_path(site, word(vo, row), year.value(row)),
            });
        }
    }
    Ok(pieces)
}
