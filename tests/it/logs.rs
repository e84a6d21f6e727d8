//! Logs of batch systems and workloads: what each line means, and that no damage loses a row.

mod damage;
mod golden;
mod hosts;
mod htcondor_cores;
mod pbs_energy;
mod pbs_values;
mod real;
mod recognised;
mod settings;
mod sge_columns;
mod sge_tasks;

use std::io::Read;
use std::sync::Arc;

use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::dialect::{Dialect, ReadSizes};
use gridtally::sources::lines::LogLimits;
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::swf::SwfOptions;
use gridtally::sources::{Pieces, blah, htcondor, lsf, pbs, sge, swf};

use crate::support::collect::{Collected, input, run, source};

/// Every log format of this kind.
const FORMATS: [Dialect; 6] = [
    pbs::DIALECT,
    sge::DIALECT,
    lsf::DIALECT,
    htcondor::DIALECT,
    blah::DIALECT,
    swf::DIALECT,
];

/// The beginning of submit times where a header does not state it.
fn reported(format: Dialect) -> Arc<ReaderOptions> {
    Arc::new(ReaderOptions {
        swf: SwfOptions {
            unix_start_time: Some(0),
            is_start_submit: false,
        },
        ..source(format.format(), Acceptance::StrictApel)
    })
}

fn pieces(format: Dialect, from: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    let sizes = ReadSizes {
        block_byte: Some(limits.block),
        record_byte: Some(limits.record),
    };
    format.pieces_sized(from, reported(format), sizes).unwrap()
}

/// Reads all of a text.
fn read(format: Dialect, text: impl AsRef<[u8]>) -> Collected {
    run(pieces(format, input(text.as_ref()), LogLimits::default()))
}
