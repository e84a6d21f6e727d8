//! Sums that cannot wrap: columns are split into limbs before they are added up and joined again afterwards.
//!
//! Polars adds integers and decimals with wrapping arithmetic in their own width. Here an `Int64` is added up in 128
//! bits, and a decimal as two limbs of 19 digits. A limb has at most 19 digits, so that 10^18 rows cannot exceed 128
//! bits.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};

use crate::error::{Error, Kind, Result};

/// What a limb counts in.
const LIMB: i128 = 10_i128.pow(19);

/// Decimals of 38 digits end here.
const DECIMAL_END: i128 = 10_i128.pow(38);

/// Type of a limb.
pub(super) const LIMB_TYPE: DataType = DataType::Decimal128(38, 0);

/// The limbs of a column, the lowest first: one for an `Int64`, two for a decimal.
///
/// # Errors
/// [`Kind::Internal`] for types that are not added up.
pub(super) fn split(array: &ArrayRef) -> Result<Vec<ArrayRef>> {
    let limb = |values: Decimal128Array| Ok::<ArrayRef, Error>(Arc::new(values.with_precision_and_scale(38, 0)?));
    if let Some(values) = array.as_primitive_opt::<Int64Type>() {
        return Ok(vec![limb(values.unary(i128::from))?]);
    }
    let Some(values) = array.as_primitive_opt::<Decimal128Type>() else {
        return Err(not_added_up(array.data_type()));
    };
    Ok(vec![
        limb(values.unary(|value| value % LIMB))?,
        limb(values.unary(|value| value / LIMB))?,
    ])
}

/// How many limbs [`split`] makes of a type.
///
/// # Errors
/// [`Kind::Internal`] for types that are not added up.
pub(super) fn limbs(kind: &DataType) -> Result<usize> {
    match kind {
        DataType::Int64 => Ok(1),
        DataType::Decimal128(_, _) => Ok(2),
        other => Err(not_added_up(other)),
    }
}

/// The sums of limbs as sums of `kind`. A null limb is a null sum.
///
/// # Errors
/// [`Kind::Data`] when a sum does not fit `kind`.
pub(super) fn join(limbs: &[ArrayRef], kind: &DataType) -> Result<ArrayRef> {
    let sums: Vec<&Decimal128Array> = limbs.iter().filter_map(|limb| limb.as_primitive_opt()).collect();
    match (sums.as_slice(), kind) {
        ([low], DataType::Int64) => {
            let joined = low.try_unary::<_, Int64Type, _>(|sum| i64::try_from(sum).map_err(|_| too_large()))?;
            Ok(Arc::new(joined))
        }
        ([low, high], DataType::Decimal128(precision, scale)) => {
            let joined: Decimal128Array = arrow::compute::try_binary(*low, *high, |low, high| {
                high.checked_mul(LIMB)
                    .and_then(|high| high.checked_add(low))
                    .filter(|sum| (1 - DECIMAL_END..DECIMAL_END).contains(sum))
                    .ok_or_else(|| arrow::error::ArrowError::ArithmeticOverflow(TOO_LARGE.to_owned()))
            })
            .map_err(|_| too_large())?;
            Ok(Arc::new(joined.with_precision_and_scale(*precision, *scale)?))
        }
        _ => Err(not_added_up(kind)),
    }
}

const TOO_LARGE: &str = "a sum does not fit its column";

fn too_large() -> Error {
    Error::new(Kind::Data, TOO_LARGE)
}

fn not_added_up(kind: &DataType) -> Error {
    Error::internal("columns of this type are not added up").at("type", kind)
}
