//! Records and messages as text.

use super::aggregate::{Aggregate, preferred, server_number};
use super::jobs::SendableJob;
use super::kind::MessageKind;
use super::users::Users;
use crate::reference::benchmark::Benchmark;
use crate::reference::decimal;
use crate::report::table::divide;
use crate::sources::fqan::Fqan;
use crate::time::Month;

/// Records that are gathered into one message by default, as APEL's own client does.
pub const BATCH_RECORDS: usize = 1000;

/// The most records of a message its server is used to.
pub const MAX_BATCH_RECORDS: usize = 5000;

/// The longest FQAN the server's column holds.
const FQAN_CHARS: usize = 255;

/// Memory the server's columns hold, in KB.
const MAX_MEMORY_KB: i64 = 2_147_483_647;

/// The text of one record: `Key: Value` lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordText {
    text: String,
    unwritable: Option<&'static str>,
}

impl RecordText {
    /// A text field; one that is unknown is left out.
    fn word(&mut self, key: &'static str, value: Option<&str>) {
        let Some(value) = value else { return };
        if !is_writable(value) {
            self.unwritable = self.unwritable.or(Some(key));
            return;
        }
        self.put(key, value);
    }

    fn int(&mut self, key: &'static str, value: i64) {
        self.put(key, &value.to_string());
    }

    fn put(&mut self, key: &str, value: &str) {
        for piece in [key, ": ", value, "\n"] {
            self.text.push_str(piece);
        }
    }

    /// The lines, or the key whose value no message can carry.
    ///
    /// # Errors
    /// That key.
    pub fn finish(self) -> Result<String, &'static str> {
        match self.unwritable {
            Some(key) => Err(key),
            None => Ok(self.text),
        }
    }
}

/// Whether a message can carry a text: it means no null and ends no line or record.
fn is_writable(value: &str) -> bool {
    let is_null = ["", "none", "null"].iter().any(|null| value.eq_ignore_ascii_case(null));
    !is_null && value.trim() == value && !value.contains("%%") && !value.contains(['\n', '\r'])
}

/// The spelling of a benchmark in messages.
#[must_use]
pub fn benchmark_word(place: usize) -> &'static str {
    match Benchmark::ALL.get(place) {
        Some(Benchmark::Hs06) => "HEPSPEC",
        Some(Benchmark::Hs23) => "HEPscore23",
        _ => "si2k",
    }
}

/// A level, without zeros behind.
#[must_use]
pub fn level_text(e3: i64) -> String {
    decimal::text(i128::from(e3), 3)
}

/// `{HEPSPEC: 10.5, HEPscore23: 12.25}`
fn dictionary<T>(values: &[Option<T>], show: impl Fn(&T) -> String) -> String {
    let entries = values.iter().enumerate().filter_map(|(place, value)| {
        let value = value.as_ref()?;
        Some(format!("{}: {}", benchmark_word(place), show(value)))
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn levels(record: &mut RecordText, levels_e3: &[Option<i64>; 3], kind: MessageKind, wanted: Option<Benchmark>) {
    let place = preferred(|place| levels_e3.get(place).is_some_and(Option::is_some), wanted);
    let level = place.and_then(|place| Some((place, (*levels_e3.get(place)?)?)));
    if kind.has_dictionary() {
        let mut named = *levels_e3;
        if wanted.is_some() {
            for (at, level) in named.iter_mut().enumerate() {
                *level = level.filter(|_| Some(at) == place);
            }
        }
        record.put("ServiceLevel", &dictionary(&named, |e3| level_text(*e3)));
    } else if let Some((place, e3)) = level {
        record.put("ServiceLevelType", benchmark_word(place));
        record.put("ServiceLevel", &level_text(e3));
    }
}

/// The VOMS name of a job as its record states it. The server takes VO, group and role from it whatever the other fields contain, so it
/// is sent only where it gives the same values: not for a VO that was renamed or corrected. A name that no message can carry is
/// left out, since group and role carry the values that count.
fn fqan<'a>(job: &SendableJob<'a>) -> Option<&'a str> {
    let fqan = job.fqan.filter(|fqan| is_writable(fqan))?;
    let parts = Fqan::parse(fqan);
    let is_same = Some(parts.vo) == job.vo && parts.group == job.vo_group && parts.role == job.vo_role;
    (is_same && fqan.chars().count() <= FQAN_CHARS).then_some(fqan)
}

/// One job.
#[must_use]
pub fn job(
    site: &str,
    job: &SendableJob<'_>,
    kind: MessageKind,
    wanted: Option<Benchmark>,
    users: &Users,
) -> RecordText {
    let mut record = RecordText::default();
    record.word("Site", Some(site));
    record.word("SubmitHost", job.submit_host);
    record.word("MachineName", job.cluster);
    record.word("Queue", job.queue);
    record.word("LocalJobId", Some(job.job_id));
    record.word("LocalUserId", users.local(job.user, site, job.month).as_deref());
    record.word(
        "GlobalUserName",
        users.subject(job.global_user, site, job.month).as_deref(),
    );
    record.word("FQAN", fqan(job));
    record.word("VO", job.vo);
    record.word("VOGroup", job.vo_group);
    record.word("VORole", job.vo_role);
    record.int("WallDuration", job.wall_s);
    let cpu_s = divide(i128::from(job.cpu_ms), 1000).and_then(|s| i64::try_from(s).ok());
    record.int("CpuDuration", server_number(cpu_s));
    record.int("Processors", server_number(job.core_n));
    record.int("NodeCount", server_number(job.node_n));
    record.int("StartTime", job.start_s);
    record.int("EndTime", job.end_s);
    record.put(
        "InfrastructureDescription",
        &format!("GRIDTALLY-{}", job.format.to_uppercase()),
    );
    record.word("InfrastructureType", job.infrastructure);
    for (key, byte_n) in [
        ("MemoryReal", job.max_rss_byte),
        ("MemoryVirtual", job.max_virtual_byte),
    ] {
        // A value the server's column does not hold would refuse the whole message: memory is not worth that.
        let kb = byte_n.map(|byte_n| byte_n / 1024);
        if let Some(kb) = kb.filter(|kb| (0..=MAX_MEMORY_KB).contains(kb)) {
            record.int(key, kb);
        }
    }
    levels(&mut record, &job.levels_e3, kind, wanted);
    record
}

/// One summary, normalised or not.
#[must_use]
pub fn summary(row: &Aggregate, kind: MessageKind) -> RecordText {
    let mut record = RecordText::default();
    let [subject, vo, vo_group, vo_role, submit_host, infrastructure] = &row.words;
    record.word("Site", Some(&row.site));
    month(&mut record, row.month);
    record.word("GlobalUserName", subject.as_deref());
    record.word("VO", vo.as_deref());
    record.word("VOGroup", vo_group.as_deref());
    record.word("VORole", vo_role.as_deref());
    record.word("SubmitHost", submit_host.as_deref());
    let key = if kind.is_normalised() {
        "Infrastructure"
    } else {
        "InfrastructureType"
    };
    record.word(key, infrastructure.as_deref());
    record.int("NodeCount", row.node_n);
    record.int("Processors", row.core_n);
    for (key, end_ms) in [
        ("EarliestEndTime", row.sums.earliest_end_ms),
        ("LatestEndTime", row.sums.latest_end_ms),
    ] {
        if let Some(end_ms) = end_ms {
            record.int(key, end_ms.div_euclid(1000));
        }
    }
    record.int("WallDuration", row.sums.wall_s);
    record.int("CpuDuration", row.sums.cpu_s());
    match kind {
        MessageKind::NormalisedV03 => {
            let place = row.works.iter().position(Option::is_some);
            if let Some(named) = place.filter(|place| *place < 3) {
                record.put("ServiceLevelType", benchmark_word(named));
            }
            // A row without work has none of these fields, by which it is refused before it is sent.
            if let Some(work) = place.and_then(|place| *row.works.get(place)?) {
                record.int("NormalisedWallDuration", work.wall_s);
                record.int("NormalisedCpuDuration", work.cpu_s);
            }
        }
        MessageKind::NormalisedV04 => {
            let [a, b, c, _] = row.works;
            let named = [a, b, c];
            record.put(
                "NormalisedWallDuration",
                &dictionary(&named, |work| work.wall_s.to_string()),
            );
            record.put(
                "NormalisedCpuDuration",
                &dictionary(&named, |work| work.cpu_s.to_string()),
            );
        }
        _ => levels(&mut record, &row.levels_e3, kind, None),
    }
    record.int("NumberOfJobs", row.sums.job_n);
    record
}

/// One sync record.
#[must_use]
pub fn sync(site: &str, of: Month, submit_host: Option<&str>, job_n: i64) -> RecordText {
    let mut record = RecordText::default();
    record.word("Site", Some(site));
    record.word("SubmitHost", submit_host);
    record.int("NumberOfJobs", job_n);
    month(&mut record, of);
    record
}

fn month(record: &mut RecordText, of: Month) {
    record.int("Month", i64::from(of.number()));
    record.int("Year", i64::from(of.year()));
}

/// Records gathered into one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageBatch {
    text: String,
    record_n: usize,
}

impl MessageBatch {
    /// Adds a record.
    pub fn push(&mut self, kind: MessageKind, record: &str) {
        if self.record_n == 0 {
            self.text.push_str(kind.header());
            self.text.push('\n');
        }
        self.text.push_str(record);
        self.text.push_str("%%\n");
        self.record_n += 1;
    }

    /// Records so far.
    #[must_use]
    pub fn record_n(&self) -> usize {
        self.record_n
    }

    /// The text, and an empty batch in its place; `None` when there is none.
    pub fn take(&mut self) -> Option<(String, usize)> {
        let full = std::mem::take(self);
        (full.record_n > 0).then_some((full.text, full.record_n))
    }
}
