//! What a record states of its VO and CPU time, and what it leaves open, whatever its encoding.

use gridtally::record::anomaly::Anomaly;

use crate::gracc::{one, read};

#[test]
fn the_vo_is_that_of_the_name_by_which_gracc_groups() {
    let vo = |fields| {
        let row = one(fields);
        (row.vo, row.vo_name, row.reportable_vo)
    };
    let (reef, coral) = (Some("reef"), Some("CORAL"));
    assert_eq!(
        vo(r#"{"VOName":"reef","ReportableVOName":"CORAL"}"#),
        (reef, reef, coral)
    );
    let name = "/reef/deep/Role=pilot/Capability=NULL";
    let fields = format!(r#"{{"VOName":"{name}","ReportableVOName":"CORAL"}}"#);
    let row = one(&fields);
    assert_eq!(
        (row.vo, row.vo_group, row.reportable_vo),
        (reef, Some("/reef/deep"), coral)
    );
    assert_eq!(row.vo_name, Some(name));
    assert_eq!(vo(r#"{"ReportableVOName":"CORAL"}"#), (coral, None, coral));
    assert_eq!(vo("{}"), (None, None, None));
}

#[test]
fn a_cpu_time_of_zero_without_parts_is_unknown_in_both_encodings() {
    const XML: &str = r#"<JobUsageRecord xmlns="http://www.gridforum.org/2003/ur-wg" xmlns:urwg="http://www.gridforum.org/2003/ur-wg"><JobIdentity><LocalJobId>1</LocalJobId></JobIdentity><WallDuration>PT1.5S</WallDuration>CPU<Processors>1</Processors><StartTime>2020-01-01T00:00:00Z</StartTime><EndTime>2020-01-01T01:00:00Z</EndTime><SiteName>S</SiteName><ProbeName>p</ProbeName></JobUsageRecord>"#;
    let xml = |cpu: &str| {
        let all = read(XML.replace("CPU", cpu));
        assert_eq!(all.rejects, []);
        let row = &all.jobs[0].row;
        (row.cpu_ms, row.cpu_user_ms, row.cpu_system_ms, row.anomalies)
    };
    let flat = |fields| {
        let row = one(fields);
        (row.cpu_ms, row.cpu_user_ms, row.cpu_system_ms, row.anomalies)
    };
    let unknown = (None, None, None, Anomaly::CpuUnknown.bit());
    assert_eq!(flat(r#"{"CpuDuration":0}"#), unknown);
    assert_eq!(flat(r#"{"CpuDuration":null}"#), unknown);
    assert_eq!(xml(""), unknown);
    assert_eq!(xml("<CpuDuration>PT0S</CpuDuration>"), unknown);
    // A part of 0 was measured.
    let zero = (Some(0), Some(0), None, 0);
    assert_eq!(flat(r#"{"CpuDuration":0,"CpuDuration_user":0}"#), zero);
    assert_eq!(xml(r#"<CpuDuration urwg:usageType="user">PT0S</CpuDuration>"#), zero);
}

#[test]
fn records_without_a_job_id_are_the_same_where_all_that_was_measured_is() {
    const XML: &str = r#"<JobUsageRecord xmlns="http://www.gridforum.org/2003/ur-wg" xmlns:urwg="http://www.gridforum.org/2003/ur-wg"><RecordIdentity urwg:recordId="r"/><WallDuration>PT1H</WallDuration><CpuDuration>PT30M</CpuDuration><Processors>1</Processors><Memory urwg:storageUnit="MB">2</Memory><StartTime>2020-01-01T00:00:00Z</StartTime><EndTime>2020-01-01T01:00:00Z</EndTime><SiteName>S</SiteName><ProbeName>p</ProbeName></JobUsageRecord>"#;
    let key = |fields: &str| one(fields).identity_key.unwrap();
    let pilot = |memory: &str| {
        let memory = format!("\"Memory\":{memory},\"Memory_storageUnit\":\"MB\"");
        key(&format!("{{\"LocalJobId\":null,\"RecordId\":\"r\",{memory}}}"))
    };
    let keys = ["1", "2", "3", "1.5"].map(pilot);
    let apart: std::collections::BTreeSet<&str> = keys.into_iter().collect();
    assert_eq!(apart.len(), 4, "{apart:?}");
    // The spelling of a number, and who sent the record when, are no part of it.
    for memory in [
        "1.0",
        "\"1\"",
        "0.1e1",
        "1,\"_id\":\"x\",\"CreateTime\":\"2020-01-02T00:00:00Z\"",
    ] {
        assert_eq!(pilot(memory), keys[0], "{memory}");
    }
    let network = |byte: &str| {
        key(&format!(
            "{{\"LocalJobId\":null,\"RecordId\":\"r\",\"Network\":{byte}}}"
        ))
    };
    assert_ne!(network("1"), network("2"));
    // With a job id, what was measured does not matter.
    assert_eq!(key("{\"Memory\":1}"), key("{\"Memory\":2}"));
    assert_eq!(read(XML).jobs[0].row.identity_key, Some(keys[1]));
}
