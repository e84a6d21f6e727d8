//! Printed local times need a zone; a missing one is reported before any row is read.

use super::clock::{Clock, ClockTrouble};
use super::column::Role;
use super::fields::{RowFields, scan};
use super::layout::ColumnLayout;
use super::refusal::quoted;
use crate::error::{Error, Result};

/// Looks for the first time in rows of a source without a zone. `Ok(true)` when it contains its offset, `Ok(false)` when
/// there is none.
///
/// # Errors
/// [`crate::error::Kind::Config`] when it is a local time.
pub(super) fn check(layout: &ColumnLayout, text: &[u8]) -> Result<bool> {
    let mut clock = Clock::new(None);
    let mut at = 0;
    let mut cuts = Vec::new();
    while at < text.len() {
        cuts.clear();
        let line = scan(text, at, &layout.delimiter, layout.is_crlf, &mut cuts);
        at = line.next;
        if cuts.len() != layout.delimiters() {
            continue;
        }
        let fields = RowFields::new(text, line.start, line.end, &cuts, layout.delimiter.len());
        for role in [Role::End, Role::Start, Role::Submit, Role::Eligible] {
            let Some(value) = layout.column(role).and_then(|column| fields.get(column)) else {
                continue;
            };
            match clock.read(value) {
                Err(ClockTrouble::NoZone) => {
                    return Err(Error::config(format!(
                        "this sacct dump prints local times without an offset ({}: {}); set `timezone` of the source to \
                         the zone sacct ran in, or write the dump with SLURM_TIME_FORMAT=%s",
                        layout.name(role),
                        quoted(value)
                    )));
                }
                Ok(Some(_)) => return Ok(true),
                Ok(None) | Err(_) => {}
            }
        }
    }
    Ok(false)
}
