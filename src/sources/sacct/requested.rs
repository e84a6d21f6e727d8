//! What a job requested.

use super::column::Role;
use super::memory::{MIB, Per};
use super::refusal::Refusal;
use super::row::SacctRow;
use super::tres;
use crate::record::Anomaly;

/// Cores requested. No usage depends on them: a value that cannot be read is unknown.
pub(super) fn core_n(row: &mut SacctRow<'_, '_>, allocated_n: Option<i64>) -> Option<i64> {
    let reported = match row.text(Role::ReqCpus) {
        b"" => match row.text(Role::ReqTres) {
            b"" => return None,
            // Fallback: a request that cannot be read is noted as a dropped value below.
            tres => tres::cpu_n(tres).ok(),
        },
        // Nearly every job is given what it requested: the number was read before.
        text if allocated_n.is_some() && text == row.text(Role::AllocCpus) => return allocated_n,
        // Fallback: as for the TRES, a dropped value is noted below.
        _ => row.count(Role::ReqCpus).ok(),
    };
    if reported.is_none() {
        row.note(Anomaly::ValueDropped);
    }
    reported.flatten()
}

/// Memory requested, of the complete job. Before 21.08 it is printed for each CPU or node requested, which can be fewer than
/// were allocated: without a column of them `ReqTRES` has the sum.
pub(super) fn memory_byte(
    row: &mut SacctRow<'_, '_>,
    core_n: Option<i64>,
    node_n: Option<i64>,
) -> Result<Option<i64>, Refusal> {
    let Some((byte, per)) = row.size(Role::ReqMem, MIB)? else {
        return Ok(None);
    };
    let asked_n = match per {
        Per::Job => return Ok(Some(byte)),
        Per::Cpu => row.count(Role::ReqCpus)?,
        Per::Node => row.count(Role::ReqNodes)?,
    };
    let mut requested = asked_n.and_then(|n| byte.checked_mul(n));
    if asked_n.is_none() {
        let reported = match row.text(Role::ReqTres) {
            b"" => Some(tres::Alloc::default()),
            // Fallback: a request that cannot be read is unknown, no usage depends on it.
            text => tres::alloc(text, &mut tres::NamedTres::default()).ok(),
        };
        requested = reported.and_then(|reported| {
            let times = match per {
                Per::Cpu => reported.cpu.or(core_n),
                Per::Node | Per::Job => reported.node.or(node_n),
            };
            reported.memory_byte.or_else(|| byte.checked_mul(times?))
        });
    }
    if requested.is_none() {
        row.note(Anomaly::ValueDropped);
    }
    Ok(requested)
}
