//! The same documents, whatever they come in.

use gridtally::record::JobRow;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::read;
use crate::support::collect::Collected;
use crate::support::tar::{gzip, tar};

/// One record before it is written down.
#[derive(Clone, Debug)]
struct Record {
    id: u32,
    text: String,
    wall_cs: u32,
    user_cs: u32,
    system_cs: u32,
    start_s: u32,
    core_n: u8,
    resource_type: &'static str,
    is_dn_known: bool,
    is_status_known: bool,
}

fn record() -> impl Strategy<Value = Record> {
    (
        any::<u32>(),
        // Texts with everything that must be escaped in one of the encodings.
        r#"[a-zA-Z0-9é😀|&<>"'{}\[\],:/\\._-]{1,12}"#,
        (0_u32..100_000_000, 0_u32..100_000_000, 0_u32..100_000),
        0_u32..1_400_000_000,
        0_u8..65,
        prop::sample::select(vec!["", "Batch", "BatchPilot", "Storage", "AWSVM"]),
        any::<(bool, bool)>(),
    )
        .prop_map(
            |(
                id,
                text,
                (wall_cs, user_cs, system_cs),
                start_s,
                core_n,
                resource_type,
                (is_dn_known, is_status_known),
            )| Record {
                id,
                text,
                wall_cs,
                user_cs,
                system_cs,
                start_s,
                core_n,
                resource_type,
                is_dn_known,
                is_status_known,
            },
        )
}

fn time(s: u32) -> String {
    jiff::Timestamp::from_second(i64::from(s)).unwrap().to_string()
}

fn print(what: std::fmt::Arguments<'_>) -> String {
    what.to_string()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&#62;")
        .replace('"', "&quot;")
}

impl Record {
    /// As the probe prints it.
    fn duration(cs: u32) -> String {
        let (s, cs) = (cs / 100, cs % 100);
        let (d, h, m, s) = (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60);
        let mut text = "P".to_owned();
        if d > 0 {
            text += &print(format_args!("{d}D"));
        }
        text += "T";
        if h > 0 {
            text += &print(format_args!("{h}H"));
        }
        if m > 0 {
            text += &print(format_args!("{m}M"));
        }
        text + &format!("{s}.{cs:02}S")
    }

    fn xml(&self) -> String {
        let (text, id) = (escape(&self.text), self.id);
        let mut xml = format!(
            "<JobUsageRecord xmlns:urwg=\"http://www.gridforum.org/2003/ur-wg\">\n<!-- </JobUsageRecord> -->\n\
             <RecordIdentity urwg:recordId=\"h:{id}\" />\n\
             <JobIdentity><GlobalJobId >{text}#{id}</GlobalJobId><LocalJobId>{id}</LocalJobId></JobIdentity>\n<UserIdentity>"
        );
        if self.is_dn_known {
            xml += &print(format_args!("<DN>/CN={text}</DN>"));
        }
        xml += &print(format_args!(
            "<VOName>/{text}/Role=pilot</VOName><ReportableVOName><![CDATA[{}]]></ReportableVOName></UserIdentity>\n\
             <WallDuration urwg:description=\"a > b\" >{}</WallDuration>\n\
             <CpuDuration urwg:usageType=\"user\">{}</CpuDuration><CpuDuration urwg:usageType=\"system\">{}</CpuDuration>\n\
             <Processors>{}</Processors><StartTime>{}</StartTime><EndTime>{}</EndTime><SiteName>{text}</SiteName>\n\
             <ProbeName>p:{text}</ProbeName><Memory urwg:storageUnit=\"KB\" urwg:metric=\"max\">12.5</Memory>",
            self.text.replace("]]>", "]]"),
            Self::duration(self.wall_cs),
            Self::duration(self.user_cs),
            Self::duration(self.system_cs),
            self.core_n,
            time(self.start_s),
            time(self.start_s + self.wall_cs / 100),
        ));
        if self.is_status_known {
            xml += "<Resource urwg:description=\"condor.JobStatus\">4</Resource>";
        }
        if !self.resource_type.is_empty() {
            xml += &print(format_args!(
                "<Resource urwg:description=\"ResourceType\">{}</Resource>",
                self.resource_type
            ));
        }
        xml + "</JobUsageRecord>"
    }

    /// As the collector stores it; numbers as texts when it is `typed` no more than the archive is.
    fn flat(&self, is_typed: bool) -> Map<String, Value> {
        let seconds = |cs: u32| json!(f64::from(cs) / 100.0);
        let number = |n: u8| if is_typed { json!(n) } else { json!(n.to_string()) };
        let mut flat = json!({
            "type": "JobUsageRecord", "RecordId": format!("h:{}", self.id),
            "GlobalJobId": format!("{}#{}", self.text, self.id), "LocalJobId": self.id.to_string(),
            "VOName": format!("/{}/Role=pilot", self.text), "ReportableVOName": self.text.replace("]]>", "]]"),
            "WallDuration": seconds(self.wall_cs), "CpuDuration": seconds(self.user_cs + self.system_cs),
            "CpuDuration_user": seconds(self.user_cs), "CpuDuration_system": seconds(self.system_cs),
            "Processors": number(self.core_n), "StartTime": time(self.start_s),
            "EndTime": time(self.start_s + self.wall_cs / 100), "SiteName": self.text,
            "ProbeName": format!("p:{}", self.text), "Memory": "12.5", "Memory_storageUnit": "KB", "Memory_metric": "max",
            "ResourceType": match self.resource_type { "" => "Batch", "BatchPilot" => "Payload", other => other },
            "RawXML": self.xml(),
        });
        let object = flat.as_object_mut().unwrap();
        if self.is_dn_known {
            object.insert("DN".to_owned(), format!("/CN={}", self.text).into());
        }
        if self.is_status_known {
            object.insert("Resource_condor-JobStatus".to_owned(), "4".into());
        }
        object.clone()
    }

    /// The layout of May 2016.
    fn nested(&self) -> Value {
        json!({"_index": "gracc.osg.raw-2016.05", "_source": {
            "type": "JobUsageRecord", "EndTime": [time(self.start_s)], "Status": {"value": ["0"]},
            "WallDuration": {"iso8601": ["PT1S"], "seconds": 1}, "message": format!("replication|{}||", self.xml()),
        }})
    }
}

fn rows(all: &Collected) -> Vec<JobRow<'static>> {
    assert_eq!(all.rejects, []);
    all.rows().cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn one_answer_from_every_encoding(records in prop::collection::vec(record(), 1..6)) {
        let join = |each: &dyn Fn(&Record) -> String, between: &str| {
            records.iter().map(each).collect::<Vec<_>>().join(between)
        };
        let source = |typed: bool| move |r: &Record| Value::Object(r.flat(typed)).to_string();
        let hit = |r: &Record| json!({"_index": "gracc.osg.raw3-2020.01", "_source": r.flat(true)}).to_string();
        let pretty = |r: &Record| serde_json::to_string_pretty(&r.flat(false)).unwrap();
        let lines = join(&hit, "\n");
        let expected = rows(&read(lines.as_bytes()));
        prop_assert_eq!(expected.len(), records.len());
        // Texts, not values, where the two cannot be distinguished.
        let response = format!(
            "{{\"_scroll_id\":\"x]}}\\\"\",\"took\":3,\"_shards\":{{\"total\":1}},\"hits\":{{\"total\":{{\"value\":9}},\
             \"max_score\":null,\"hits\":[{}]}}}}",
            join(&hit, " ,\n"),
        );
        let members: Vec<(String, Vec<u8>)> = records
            .iter()
            .enumerate()
            .map(|(nth, r)| (format!("gracc/2020/01/02/03/record-{nth}-abc"), pretty(r).into_bytes()))
            .collect();
        let archive = |pack: &dyn Fn(&[u8]) -> Vec<u8>| {
            let members: Vec<(&str, Vec<u8>)> = members.iter().map(|(name, data)| (name.as_str(), pack(data))).collect();
            let members: Vec<(&str, &[u8])> = members.iter().map(|(name, data)| (*name, data.as_slice())).collect();
            tar(&members)
        };
        let envelope = format!("<?xml version=\"1.0\"?>\n<RecordEnvelope>\n{}\n</RecordEnvelope>\n", join(&Record::xml, "\n"));
        let bundle = join(&|r| format!("replication|{0}|{0}|<extra a=\"|\"/>|", r.xml()), "");
        for (what, bytes) in [
            ("documents", join(&source(true), "\n").into_bytes()),
            ("texts for numbers", join(&source(false), "\r\n\n").into_bytes()),
            ("response", response.clone().into_bytes()),
            ("several responses", format!("{response}\n{{\"took\":1,\"hits\":{{\"hits\":[]}}}}\n").into_bytes()),
            ("list", format!("[{}]", join(&hit, ",")).into_bytes()),
            ("spread documents", join(&pretty, "\n").into_bytes()),
            ("nested", join(&|r| r.nested().to_string(), "\n").into_bytes()),
            ("archive", archive(&<[u8]>::to_vec)),
            ("archive of packed members", archive(&gzip)),
            ("XML", join(&Record::xml, "").into_bytes()),
            ("envelope", envelope.into_bytes()),
            ("bundle", bundle.into_bytes()),
        ] {
            let mut found = rows(&read(&bytes));
            if what.starts_with("archive") {
                for row in &mut found {
                    // Arrival, from the name of the member.
                    prop_assert_eq!(row.received_ms.take(), Some(1_577_934_000_000));
                }
            }
            prop_assert_eq!(&found, &expected, "{}", what);
        }
    }
}
