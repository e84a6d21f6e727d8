//! Documents as a dump of a GRACC raw index holds them: flat fields next to the XML they were made from.

use std::fmt::Write as _;
use std::io::Write as _;

use super::clock;

/// One document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Number that makes its ids.
    pub(crate) number: i64,
    /// `ResourceType`: `Batch` or `Payload`.
    pub(crate) resource_type: &'static str,
    /// The host behind `ProbeName`.
    pub(crate) probe_host: &'static str,
    /// `SiteName`
    pub(crate) site: &'static str,
    /// `VOName`
    pub(crate) vo_name: &'static str,
    /// `ReportableVOName`
    pub(crate) reportable_vo: &'static str,
    /// `ProjectName`; `None` leaves the key out.
    pub(crate) project: Option<&'static str>,
    /// `CommonName` and `DN`.
    pub(crate) person: &'static str,
    /// Unix seconds.
    pub(crate) start: i64,
    /// Unix seconds.
    pub(crate) end: i64,
    /// Seconds.
    pub(crate) wall: i64,
    /// User CPU time in hundredths of a second.
    pub(crate) user_cs: i64,
    /// System CPU time, seconds.
    pub(crate) system: i64,
    /// `None` leaves the key out.
    pub(crate) processors: Option<i64>,
    /// Seconds between the end and the arrival.
    pub(crate) delay: i64,
    /// Whether the XML carries everything the probes send (about 4.6 kB a line) or only the heart of it.
    pub(crate) is_wide: bool,
}

/// Seconds with a fraction where there is one: dumps mix `65` and `65.32` in one column.
fn seconds(centi: i64) -> String {
    match (centi / 100, centi % 100) {
        (s, 0) => s.to_string(),
        (s, c) if c % 10 == 0 => format!("{s}.{}", c / 10),
        (s, c) => format!("{s}.{c:02}"),
    }
}

/// `PT2H49M15.0S`
fn iso(centi: i64) -> String {
    if centi == 0 {
        return "PT0S".to_owned();
    }
    let s = centi / 100;
    let mut text = "PT".to_owned();
    for (n, unit) in [(s / 3_600, 'H'), (s / 60 % 60, 'M')] {
        if n > 0 {
            text.push_str(&n.to_string());
            text.push(unit);
        }
    }
    if centi % 6_000 != 0 {
        let _ = write!(text, "{}.{}S", s % 60, centi % 100);
    }
    text
}

fn zulu(unix_s: i64) -> String {
    let mut out = Vec::with_capacity(20);
    clock::stamp(&mut out, unix_s);
    out.push(b'Z');
    String::from_utf8(out).expect("digits")
}

impl Document {
    /// The 32 hexadecimal digits of `_id`.
    fn id(&self) -> String {
        let mut rng = super::rng::Rng::new(u64::try_from(self.number).expect("not negative"));
        format!("{:016x}{:016x}", rng.bits(), rng.bits())
    }

    /// The record as XML, escaped for a JSON string.
    fn xml(&self, start: &str, end: &str) -> String {
        let number = self.number;
        let (host, person) = (self.probe_host, self.person);
        let wall = iso(self.wall * 100);
        let (user, system) = (iso(self.user_cs), iso(self.system * 100));
        let (vo, short_vo, site) = (self.vo_name, self.reportable_vo, self.site);
        let mut xml = format!(
            r#"<JobUsageRecord xmlns=\"http://www.gridforum.org/2003/ur-wg\"\n\t\txmlns:urwg=\"http://www.gridforum.org/2003/ur-wg\">\n<RecordIdentity urwg:recordId=\"{host}:{number}.1\" urwg:createTime=\"{end}\" />\n<JobIdentity>\n<LocalJobId >{number}</LocalJobId>\n</JobIdentity>\n<UserIdentity>\n\t<VOName>{vo}</VOName>\n\t<ReportableVOName>{short_vo}</ReportableVOName>\n</UserIdentity>\n<WallDuration urwg:description=\"Was entered in seconds\" >{wall}</WallDuration>\n<CpuDuration urwg:usageType=\"user\" >{user}</CpuDuration>\n<CpuDuration urwg:usageType=\"system\" >{system}</CpuDuration>\n"#
        );
        if let Some(n) = self.processors {
            let _ = write!(xml, r#"<Processors urwg:metric=\"max\" >{n}</Processors>\n"#);
        }
        let _ = write!(
            xml,
            r"<StartTime >{start}</StartTime>\n<EndTime >{end}</EndTime>\n<SiteName >{site}</SiteName>\n"
        );
        if self.is_wide {
            let _ = write!(
                xml,
                r#"<JobName >job-{number}-of-a-long-campaign</JobName>\n<Status urwg:description=\"Condor Exit Status\" >0</Status>\n<NodeCount urwg:metric=\"max\" >1</NodeCount>\n<MachineName >{host}</MachineName>\n<SubmitHost >{host}</SubmitHost>\n<Queue urwg:description=\"Condor&apos;s JobUniverse field\" >5</Queue>\n<Host urwg:description=\"{site}\" >worker-{number}.bay.example (primary) </Host>\n<Network urwg:phaseUnit=\"{wall}\" urwg:storageUnit=\"b\" urwg:metric=\"total\" >0.0</Network>\n<TimeDuration urwg:type=\"RemoteUserCpu\" >{user}</TimeDuration>\n<TimeDuration urwg:type=\"LocalUserCpu\" >PT0S</TimeDuration>\n<TimeDuration urwg:type=\"RemoteSysCpu\" >{system}</TimeDuration>\n<TimeDuration urwg:type=\"LocalSysCpu\" >PT0S</TimeDuration>\n<TimeDuration urwg:type=\"CumulativeSuspensionTime\" >PT0S</TimeDuration>\n<TimeDuration urwg:type=\"CommittedSuspensionTime\" >PT0S</TimeDuration>\n<TimeDuration urwg:type=\"CommittedTime\" >{wall}</TimeDuration>\n<Resource urwg:description=\"CondorMyType\" >Job</Resource>\n<Resource urwg:description=\"AccountingGroup\" >group_of_{person}</Resource>\n<Resource urwg:description=\"ExitBySignal\" >false</Resource>\n<Resource urwg:description=\"ExitCode\" >0</Resource>\n<Resource urwg:description=\"condor.JobStatus\" >4</Resource>\n<ProbeName >condor:{host}</ProbeName>\n<Grid >OSG</Grid>\n<Resource urwg:description=\"ResourceType\" >Batch</Resource>\n"#
            );
        }
        xml.push_str(r"</JobUsageRecord>\n");
        xml
    }

    /// The document as one line of a dump.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (start, end) = (zulu(self.start), zulu(self.end));
        let received = zulu(self.end + self.delay);
        let received = received.trim_end_matches('Z');
        let at = end.trim_end_matches('Z');
        let month = end.get(..7).unwrap_or_default().replace('-', ".");
        let (id, number, host, person) = (self.id(), self.number, self.probe_host, self.person);
        let cpu = seconds(self.user_cs + self.system * 100);
        let (user, system, wall) = (seconds(self.user_cs), self.system, self.wall);
        let core_hours_milli = wall * self.processors.unwrap_or(1) * 1_000 / 3_600;
        let xml = self.xml(&start, &end);
        let (site, vo, short_vo, kind) = (self.site, self.vo_name, self.reportable_vo, self.resource_type);
        let _ = write!(
            out,
            r#"{{"_index":"gracc.osg.raw2-{month}","_type":"JobUsageRecord","_id":"{id}","_score":1,"_source":{{"SubmitHost":"{host}","SiteName":"{site}","Queue_description":"Condor's JobUniverse field","CoreHours":{}.{:03},"DN":"/DC=example/OU=People/CN={person}","TimeDuration_CommittedSuspensionTime":0,"type":"JobUsageRecord","RawXML":"{xml}","WallDuration":{wall},"Status":"0","GlobalJobId":"condor.{host}#{number}.0#{}","CpuDuration_system":{system},"NodeCount":"1","StartTime":"{start}","GlobalUsername":"{person}@{host}","MachineName":"{host}","#,
            core_hours_milli / 1_000,
            core_hours_milli % 1_000,
            self.start - 60,
        );
        if let Some(n) = self.processors {
            let _ = write!(out, r#""Processors_metric":"max","Processors":{n},"#);
        }
        if let Some(project) = self.project {
            let _ = write!(out, r#""ProjectName":"{project}","#);
        }
        if self.is_wide {
            let _ = write!(
                out,
                r#""TimeDuration_RemoteSysCpu":{system},"Network":0,"Network_phaseUnit":{wall},"Status_description":"Condor Exit Status","TimeDuration_CumulativeSuspensionTime":0,"Network_metric":"total","Resource_condor-JobStatus":"4","Resource_ExitBySignal":"false","TimeDuration_LocalUserCpu":0,"TimeDuration_LocalSysCpu":0,"CpuDuration_user_description":"Was entered in seconds","NodeCount_metric":"max","Network_storageUnit":"b","TimeDuration_RemoteUserCpu":{user},"CpuDuration_system_description":"Was entered in seconds","Resource_AccountingGroup":"group_of_{person}","Resource_CondorMyType":"Job","WallDuration_description":"Was entered in seconds","#
            );
        }
        let _ = writeln!(
            out,
            r#""TimeDuration_CommittedTime":{wall},"EndTime":"{end}","LocalUserId":"{person}","@received":"{received}.369Z","Grid":"OSG","JobName":"job-{number}","ProbeName":"condor:{host}","@version":"1","VOName":"{vo}","RecordId":"{host}:{number}.1","CpuDuration":{cpu},"Queue":"5","CommonName":"/CN={person}","CpuDuration_user":{user},"CreateTime":"{end}","ResourceType":"{kind}","Host":"worker-{number}.bay.example (primary) ","ReportableVOName":"{short_vo}","LocalJobId":"{number}","@timestamp":"{at}.000Z","Resource_ExitCode":"0","checksum":"{id}"}}}}"#
        );
    }
}
