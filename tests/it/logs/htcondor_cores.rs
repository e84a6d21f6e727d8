//! Cores, hosts and suspension of HTCondor's jobs: what was provisioned counts, a slot is on a host, and the wall time holds
//! the suspension.

use gridtally::record::Anomaly;
use gridtally::sources::htcondor;

use super::golden::one;

/// A job of an hour with these attributes more.
fn job(more: &str) -> String {
    format!(
        "{{\"GlobalJobId\":\"s#1.0#1\",\"JobStatus\":4,\"RemoteWallClockTime\":3600.0,\"RemoteUserCpu\":10.0,\
         \"RemoteSysCpu\":1.0,\"JobStartDate\":1772355600,\"EnteredCurrentStatus\":1772359200{more}}}\n"
    )
}

#[test]
fn the_cores_that_were_provisioned_count() {
    for (more, allocated, requested, is_dropped) in [
        (",\"RequestCpus\":8,\"CpusProvisioned\":16", Some(16), Some(8), false),
        (",\"RequestCpus\":8", Some(8), Some(8), false),
        (",\"CpusProvisioned\":16", Some(16), None, false),
        (
            ",\"RequestCpus\":\"ifThenElse(NumJobStarts>1,16,8)\",\"CpusProvisioned\":16",
            Some(16),
            None,
            true,
        ),
        (
            ",\"RequestCpus\":\"\\/Expr(2*4)\\/\",\"CpusProvisioned\":16",
            Some(16),
            None,
            false,
        ),
    ] {
        let row = one(htcondor::DIALECT, &job(more));
        assert_eq!(
            (row.alloc_core_n, row.requested_core_n),
            (allocated, requested),
            "{more}"
        );
        let has_dropped = row.anomalies & Anomaly::ValueDropped.bit() != 0;
        assert_eq!(has_dropped, is_dropped, "{more}");
    }
}

/// The manual: `RemoteWallClockTime` includes the time of suspension. It is no addition to the time a job held its cores.
#[test]
fn suspension_is_part_of_the_wall_time() {
    let row = one(
        htcondor::DIALECT,
        &job(",\"RequestCpus\":1,\"CumulativeSuspensionTime\":600"),
    );
    assert_eq!((row.wall_ms, row.suspended_s), (Some(3_600_000), None));
}

/// A slot is named `slot@host`; slots of glideins have an @ of their own.
#[test]
fn the_host_of_a_slot_is_behind_its_last_at() {
    for (slot, host) in [
        ("slot1@n05.oak", Some("n05.oak")),
        ("slot1_3@n05.oak", Some("n05.oak")),
        ("slot1_1@glidein_123_456@n05.oak", Some("n05.oak")),
        ("n05.oak", Some("n05.oak")),
        ("slot1@", None),
        ("", None),
    ] {
        let row = one(htcondor::DIALECT, &job(&format!(",\"LastRemoteHost\":\"{slot}\"")));
        assert_eq!(row.node_list, host, "{slot}");
    }
}
