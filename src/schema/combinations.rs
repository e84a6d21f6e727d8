//! Distinguishes the rows of a batch by several columns of texts, using the codes of the texts: texts are compared once for each
//! combination instead of once for each row.

use arrow_array::Array;

use super::batch::ColumnWords;

/// The number of the combination that each row has of these columns; `None` when one is not coded, or a number of 64 bits
/// cannot distinguish all combinations.
#[must_use]
pub fn combinations<'a>(columns: impl IntoIterator<Item = ColumnWords<'a>>, rows: usize) -> Option<Vec<u64>> {
    let mut step = 1_u64;
    let mut combinations = vec![0; rows];
    for column in columns {
        match column {
            ColumnWords::Plain(texts) if texts.null_count() == texts.len() => {}
            ColumnWords::Plain(_) => return None,
            ColumnWords::Coded(codes, entries) if entries.len() == 1 && codes.null_count() == 0 => {}
            ColumnWords::Coded(codes, entries) => {
                let next = step.checked_mul(entries.len() as u64 + 1)?;
                let all = combinations.iter_mut().zip(codes.values());
                match codes.nulls() {
                    None => all.for_each(|(sum, code)| *sum += (u64::from(*code) + 1) * step),
                    // A null is a text of its own, and its code is arbitrary.
                    Some(nulls) => all.zip(nulls).for_each(|((sum, code), is_valid)| {
                        if is_valid {
                            *sum += (u64::from(*code) + 1) * step;
                        }
                    }),
                }
                step = next;
            }
        }
    }
    Some(combinations)
}
