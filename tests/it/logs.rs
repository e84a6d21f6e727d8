//! Logs of batch systems and workloads: what each line means, and that no damage loses a row.

mod damage;
mod golden;
mod real;
mod recognised;
mod settings;

use std::io::Read;
use std::sync::Arc;

use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::format::Format;
use gridtally::sources::lines::LogLimits;
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::{Pieces, blah, htcondor, lsf, pbs, sge, swf};

use crate::support::collect::{Collected, input, run, source};

/// Every log format of this kind.
const FORMATS: [Format; 6] = [
    Format::Pbs,
    Format::Sge,
    Format::Lsf,
    Format::Htcondor,
    Format::Blah,
    Format::Swf,
];

/// Submit times count from here where a header does not say it.
fn told(format: Format) -> Arc<ReaderOptions> {
    Arc::new(ReaderOptions {
        unix_start_time: Some(0),
        is_start_submit: false,
        ..source(format, Acceptance::StrictApel)
    })
}

fn pieces(format: Format, from: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    match format {
        Format::Pbs => pbs::pieces(from, limits),
        Format::Sge => sge::pieces(from, limits),
        Format::Lsf => lsf::pieces(from, limits),
        Format::Htcondor => htcondor::pieces(from, limits).unwrap(),
        Format::Blah => blah::pieces(from, limits),
        Format::Swf => swf::pieces(from, &told(format), limits).unwrap(),
        other => panic!("{other:?} is no log"),
    }
}

/// Reads all of a text.
fn read(format: Format, text: impl AsRef<[u8]>) -> Collected {
    run(pieces(format, input(text.as_ref()), LogLimits::default()))
}
