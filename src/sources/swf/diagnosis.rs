//! Facts from the first bytes of a workload, other than its dialect.

use super::{START_FROM, SwfHeader, UNIX_START_TIME, lacks_waits};
use crate::sources::hints::Hints;

pub(super) fn hints(head: &[u8]) -> Hints {
    let header = SwfHeader::of(head);
    let mut hints = Hints {
        version: header.version.clone(),
        ..Hints::default()
    };
    if header.unix_start_s.is_none() {
        hints.needed.push(UNIX_START_TIME);
        let problem = "no UnixStartTime in the header: set unix_start_time in the source (counted here as if times \
                       were Unix seconds)";
        hints.problems.push(problem.to_owned());
    }
    if lacks_waits(head) {
        hints.needed.push(START_FROM);
        let problem = "no wait times: when jobs ran is not known; set start_from = \"submit\" in the source if its \
                       submit times are starts (counted here as if they were)";
        hints.problems.push(problem.to_owned());
    }
    if header.has_burst_buffer {
        let problem = "the column of burst buffer requests is not kept";
        hints.problems.push(problem.to_owned());
    }
    hints
}
