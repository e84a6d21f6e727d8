//! The charges of a batch by group, added up by the codes of their texts: a first step that leaves few rows to
//! [`part`].

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;

use super::part::{KEYS, part};
use super::row::{ChargeRow, RECORDED};
use crate::amounts::{add, add_known};
use crate::charge::amount::CHARGE_SCALE;
use crate::error::{Error, Result};
use crate::schema;
use crate::schema::batch::{column, decimals, decoded, ints, plain, words};
use crate::schema::combinations::combinations;
use crate::summarise::dimension_groups::KnownGroups;

/// What the rows of a group come to.
#[derive(Clone, Copy, Debug, Default)]
struct ChargeSums {
    job_n: i64,
    unpriced_job_n: i64,
    alloc_core_s: i64,
    alloc_core_fraction_ms: i64,
    alloc_gpu_s: i64,
    /// `None` while no charge is known.
    charge: Option<i128>,
}

impl ChargeSums {
    fn add(&mut self, row: &ChargeRow) -> Result<()> {
        add(&mut self.job_n, row.job_n, "job_n")?;
        add(&mut self.unpriced_job_n, row.unpriced_job_n, "unpriced_job_n")?;
        add(&mut self.alloc_core_s, row.alloc_core_s, "alloc_core_s")?;
        add(
            &mut self.alloc_core_fraction_ms,
            row.alloc_core_fraction_ms,
            "alloc_core_fraction_ms",
        )?;
        add(&mut self.alloc_gpu_s, row.alloc_gpu_s, "alloc_gpu_s")?;
        add_known(&mut self.charge, row.charge, "charge")
    }
}

/// A group by one of its rows.
struct ChargeGroup {
    row: u32,
    sums: ChargeSums,
}

/// `rows` and the batch of `job_charges` made of them, as `charge_part`; rows of one group may remain several.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a sum does not fit.
pub(super) fn grouped(charged: &RecordBatch, rows: &[ChargeRow]) -> Result<RecordBatch> {
    match groups(charged, rows)? {
        Some(groups) => to_part(charged, &groups),
        None => part(&[decoded(charged)?]),
    }
}

/// The groups in the order they are met; `None` where codes do not distinguish them.
fn groups(charged: &RecordBatch, rows: &[ChargeRow]) -> Result<Option<Vec<ChargeGroup>>> {
    if rows.iter().any(|row| row.correction_id.is_some()) {
        return Ok(None);
    }
    // What a job states of the keys; the tariff, which a code of its own distinguishes, and the period have the others.
    let stated = KEYS.iter().filter(|key| RECORDED.contains(*key));
    let columns = stated.chain(&["policy"]).map(|name| words(charged, name));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let Some(alike) = combinations(columns, rows.len()) else {
        return Ok(None);
    };
    let mut known = KnownGroups::default();
    let mut groups: Vec<ChargeGroup> = Vec::new();
    for ((row, combination), at) in rows.iter().zip(alike).zip(0..) {
        let place = known.group(combination, row.period.from_ms, || {
            let sums = ChargeSums::default();
            groups.push(ChargeGroup { row: at, sums });
            groups.len() - 1
        });
        let group = groups.get_mut(place);
        group
            .ok_or_else(|| Error::internal("a group of charges that is not there"))?
            .sums
            .add(row)?;
    }
    Ok(Some(groups))
}

fn to_part(charged: &RecordBatch, groups: &[ChargeGroup]) -> Result<RecordBatch> {
    let dataset = schema::dataset("charge_part")?;
    let at: UInt32Array = groups.iter().map(|group| Some(group.row)).collect();
    let counted = |of: fn(&ChargeSums) -> i64| ints(groups.iter().map(|group| Some(of(&group.sums))));
    let array = |name: &str| -> Result<ArrayRef> {
        if KEYS.contains(&name) {
            return plain(&take(column(charged, name)?, &at, None)?);
        }
        Ok(match name {
            "job_n" => counted(|sums| sums.job_n),
            "unpriced_job_n" => counted(|sums| sums.unpriced_job_n),
            "alloc_core_s" => counted(|sums| sums.alloc_core_s),
            "alloc_core_fraction_ms" => counted(|sums| sums.alloc_core_fraction_ms),
            "alloc_gpu_s" => counted(|sums| sums.alloc_gpu_s),
            "charge" => {
                let scale = i8::try_from(CHARGE_SCALE).map_err(|why| Error::internal("a scale").because(why))?;
                decimals(groups.iter().map(|group| group.sums.charge), scale)?
            }
            other => return Err(Error::internal(format!("no sum fills the column {other}"))),
        })
    };
    let columns = dataset.columns.iter().map(|column| array(&column.name));
    dataset.batch(columns.collect::<Result<_>>()?)
}
