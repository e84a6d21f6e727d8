//! APEL individual job messages: <https://docs.egi.eu/internal/accounting/grid-accounting/>.

use std::io::Write;

/// Which layout of the benchmark a message has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Version {
    /// `ServiceLevelType` and `ServiceLevel`.
    V03,
    /// `ServiceLevel: {hepspec: 10.5, HEPscore23: 12.25}`
    V04,
}

/// One job.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// `LocalJobId`
    pub(crate) job_id: String,
    /// `LocalUserId`
    pub(crate) user: String,
    /// `GlobalUserName`
    pub(crate) global_user: String,
    /// `FQAN`; `None` leaves out every line about the VO.
    pub(crate) fqan: Option<String>,
    /// Number of the computing element.
    pub(crate) element: i64,
    /// Unix seconds.
    pub(crate) start: i64,
    /// Unix seconds.
    pub(crate) end: i64,
    /// Seconds.
    pub(crate) wall: i64,
    /// Seconds.
    pub(crate) cpu: i64,
    /// `None` leaves the line out.
    pub(crate) processors: Option<i64>,
    /// HEPscore23 per core in hundredths.
    pub(crate) score_centi: i64,
}

/// The header line of a message.
pub(crate) fn header(out: &mut Vec<u8>, version: Version) {
    out.extend_from_slice(match version {
        Version::V03 => b"APEL-individual-job-message: v0.3\n",
        Version::V04 => b"APEL-individual-job-message: v0.4\n",
    });
}

impl Record {
    /// The record with the `%%` that closes it.
    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        let ce = self.element;
        let _ = write!(
            out,
            "Site: BAY/GRID\nSubmitHost: ce{ce}.bay.example:9619/ce-condor\nMachineName: ce{ce}.bay.example\nQueue: grid\n\
             LocalJobId: {}\nLocalUserId: {}\nGlobalUserName: {}\n",
            self.job_id, self.user, self.global_user
        );
        if let Some(fqan) = &self.fqan {
            let _ = writeln!(out, "FQAN: {fqan}");
        }
        let _ = write!(out, "WallDuration: {}\nCpuDuration: {}\n", self.wall, self.cpu);
        if let Some(n) = self.processors {
            let _ = writeln!(out, "Processors: {n}");
        }
        let _ = write!(
            out,
            "NodeCount: 1\nStartTime: {}\nEndTime: {}\nInfrastructureDescription: APEL-HTCONDORCE-CONDOR\n\
             InfrastructureType: grid\nMemoryReal: {}\nMemoryVirtual: {}\n",
            self.start,
            self.end,
            self.wall * 37 % 4_000_000 + 1_000,
            self.wall * 91 % 16_000_000 + 2_000
        );
        let (whole, hundredths) = (self.score_centi / 100, self.score_centi % 100);
        let _ = match version {
            Version::V03 => write!(
                out,
                "ServiceLevelType: HEPSPEC\nServiceLevel: {whole}.{hundredths:02}\n%%\n"
            ),
            Version::V04 => write!(
                out,
                "ServiceLevel: {{hepspec: {whole}.{hundredths:02}, HEPscore23: {}.{hundredths:02}}}\n%%\n",
                whole + 1
            ),
        };
    }
}
