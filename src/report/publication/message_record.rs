//! A record of a message or document, whoever wrote it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::record_format::RecordFormat;
use crate::absent;
use crate::error::{Error, Kind, Result};
use crate::reference::benchmark::Benchmark;
use crate::report::apel::aggregate::{BenchmarkWork, Works};
use crate::report::apel::server_key::{ServerKey, benchmark_of};
use crate::report::apel::{MessageKind, dictionary};
use crate::report::gracc;
use crate::sources::apel::python_scalars;
use crate::time::Month;

/// One record of a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageRecord {
    /// The form it is written in.
    pub form: RecordFormat,
    /// Values by key; null words are left out.
    pub fields: BTreeMap<String, String>,
}

/// The key by which the receiver distinguishes records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageKey {
    /// The form they are written in.
    pub form: RecordFormat,
    /// The values of its fields.
    pub parts: Vec<String>,
}

impl MessageRecord {
    /// A record from its text: `Key: Value` lines, or a document. Lines without a colon are passed over: whoever reads an
    /// archive wants what is in it.
    #[must_use]
    pub fn parse(form: RecordFormat, text: &str) -> Self {
        if form == RecordFormat::Gracc {
            let fields = gracc::fields_of(text);
            return Self { form, fields };
        }
        let mut fields = BTreeMap::new();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let (key, value) = (key.trim(), value.trim());
            let is_null = ["", "none", "null"].iter().any(|null| value.eq_ignore_ascii_case(null));
            if is_null {
                fields.remove(key);
            } else {
                fields.insert(key.to_owned(), value.to_owned());
            }
        }
        Self { form, fields }
    }

    /// Every record of what was handed over in a form.
    ///
    /// # Errors
    /// As [`MessageRecord::read`]; [`Kind::Data`] for a line that is not a document.
    pub fn read_form(form: RecordFormat, text: &str) -> Result<Vec<Self>> {
        match form {
            RecordFormat::Apel(_) => Self::read(text),
            RecordFormat::Gracc => {
                let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
                let document = |(line, number): (&str, usize)| {
                    let reported = Self::parse(form, line);
                    let is_one = reported
                        .key_fields()
                        .iter()
                        .all(|key| reported.fields.contains_key(*key));
                    let message = "a line is not exactly one summary document of GRACC";
                    is_one
                        .then_some(reported)
                        .ok_or_else(|| Error::new(Kind::Data, message).at("line", number))
                };
                lines.map(document).collect()
            }
        }
    }

    /// Every record of a file: messages, or documents one to a line.
    ///
    /// # Errors
    /// As [`MessageRecord::read`].
    pub fn read_file(text: &str) -> Result<Vec<Self>> {
        if text.trim_start().starts_with('{') {
            return Self::read_form(RecordFormat::Gracc, text);
        }
        Self::read(text)
    }

    /// Every record of a text of messages.
    ///
    /// # Errors
    /// [`Kind::Data`] when there is no header the server knows.
    pub fn read(text: &str) -> Result<Vec<Self>> {
        let mut reported = Vec::new();
        let mut kind = None;
        for piece in text.split("%%") {
            let mut body = String::new();
            for line in piece.lines() {
                if let Some(found) = MessageKind::of_header(line.trim()) {
                    kind = Some(found);
                } else {
                    body.push_str(line);
                    body.push('\n');
                }
            }
            if body.trim().is_empty() {
                continue;
            }
            let Some(kind) = kind else {
                return Err(Error::new(
                    Kind::Data,
                    "there is no header APEL's server knows before the first record",
                ));
            };
            reported.push(Self::parse(kind.into(), &body));
        }
        Ok(reported)
    }

    /// The keys of its identity.
    #[must_use]
    pub fn key_fields(&self) -> Vec<&'static str> {
        match self.form {
            RecordFormat::Gracc => gracc::KEYS.to_vec(),
            RecordFormat::Apel(kind) => kind.table().names(),
        }
    }

    /// Its identity: of messages the key of APEL's server.
    #[must_use]
    pub fn key(&self) -> MessageKey {
        let of = |name: &&str| self.value(name).to_owned();
        let parts = self
            .server_key()
            .map_or_else(|| gracc::KEYS.iter().map(of).collect(), |key| key.parts);
        MessageKey { form: self.form, parts }
    }

    /// The row of APEL's server it becomes; documents of GRACC become none.
    #[must_use]
    pub fn server_key(&self) -> Option<ServerKey> {
        let RecordFormat::Apel(kind) = self.form else {
            return None;
        };
        let field = |name: &str| self.word(name).map(Cow::Borrowed);
        let (benchmark, level) = benchmark_of(kind, |name| self.word(name));
        Some(ServerKey::new(kind, field, benchmark, level))
    }

    /// The value of a field of its key, as the server holds it: of a dictionary of benchmarks what it picks.
    #[must_use]
    pub fn key_value(&self, name: &str) -> Option<&str> {
        if let RecordFormat::Apel(kind) = self.form
            && kind.has_dictionary()
            && !kind.is_job()
        {
            let (benchmark, level) = benchmark_of(kind, |name| self.word(name));
            match name {
                "ServiceLevelType" => return benchmark,
                "ServiceLevel" => return level,
                _ => {}
            }
        }
        self.word(name)
    }

    /// A text field.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// The value of a text field; empty where the record does not have it. The server takes an empty value, and a word for
    /// null, for a field that is absent, so that [`MessageRecord::parse`] keeps none of them.
    #[must_use]
    pub fn value(&self, name: &str) -> &str {
        absent::text(self.word(name))
    }

    /// A whole number; the first of a dictionary.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        let value = self.word(name)?;
        let inside = value.trim_start_matches('{').trim_end_matches('}');
        let first = before(inside, ',');
        let number = first.split_once(':').map_or(first, |(_, number)| number);
        python_scalars::truncated(number)
    }

    /// Wall time, not times cores, seconds; sync records have none.
    #[must_use]
    pub fn wall_s(&self) -> Option<i64> {
        self.number("WallDuration")
    }

    /// CPU time, seconds; sync records have none.
    #[must_use]
    pub fn cpu_s(&self) -> Option<i64> {
        self.number("CpuDuration")
    }

    /// Wall and CPU work, seconds of the benchmark, of records that contain work in place of a benchmark.
    #[must_use]
    pub fn work_s(&self) -> (Option<i64>, Option<i64>) {
        (
            self.number("NormalisedWallDuration"),
            self.number("NormalisedCpuDuration"),
        )
    }

    /// The benchmarks its work is in, as they are written; none of a record without a dictionary.
    pub fn work_benchmarks(&self) -> impl Iterator<Item = &str> {
        dictionary::names(self.value("NormalisedWallDuration"))
    }

    /// The id of a single job in its batch system.
    #[must_use]
    pub fn job_id(&self) -> Option<&str> {
        self.word("LocalJobId")
    }

    /// Start of a single job, Unix seconds.
    #[must_use]
    pub fn start_s(&self) -> Option<i64> {
        python_scalars::datetime_s(self.word("StartTime")?)
    }

    /// End of a single job, Unix seconds.
    #[must_use]
    pub fn end_s(&self) -> Option<i64> {
        python_scalars::datetime_s(self.word("EndTime")?)
    }

    /// Seconds in the unit of its durations: summaries v0.2 of before 2014, which name the VO `Group` or have work in place of
    /// a benchmark, are in hours.
    #[must_use]
    pub fn duration_unit_s(&self) -> i64 {
        const OLD: [&str; 3] = ["Group", "NormalisedWallDuration", "NormalisedCpuDuration"];
        let is_old =
            self.form == MessageKind::SummaryV02.into() && OLD.iter().any(|key| self.fields.contains_key(*key));
        if is_old { 3600 } else { 1 }
    }

    /// Values per core in thousandths, by [`Benchmark::ALL`]: of a dictionary all that it names. None is below zero, which no
    /// benchmark can be.
    #[must_use]
    pub fn levels_e3(&self) -> [Option<i64>; 3] {
        let kind = self.value("ServiceLevelType");
        let value = self.word("ServiceLevel");
        Benchmark::ALL.map(|wanted| {
            let number = number_of(value?, kind, Some(wanted))?;
            python_scalars::thousandths(number).filter(|e3| *e3 >= 0)
        })
    }

    /// Wall and CPU work in seconds, by [`Benchmark::ALL`]; the last is of a benchmark that is not named.
    #[must_use]
    pub fn works_s(&self) -> Works {
        let kind = self.value("ServiceLevelType");
        let of = |field: &str, wanted: Option<Benchmark>| {
            let number = number_of(self.word(field)?, kind, wanted)?;
            python_scalars::truncated(number)
        };
        let [hs06, hs23, si00] = Benchmark::ALL;
        [Some(hs06), Some(hs23), Some(si00), None].map(|wanted| {
            let work = |field| of(field, wanted);
            Some(BenchmarkWork {
                wall_s: work("NormalisedWallDuration")?,
                cpu_s: work("NormalisedCpuDuration")?,
            })
        })
    }

    /// Grid, local or another word.
    #[must_use]
    pub fn infrastructure(&self) -> Option<&str> {
        self.word("InfrastructureType").or_else(|| self.word("Infrastructure"))
    }

    /// What the ledger keeps of the single jobs of a site and month: their number, their sums in seconds, and a hash of
    /// all of them.
    #[must_use]
    pub fn of_jobs(
        form: RecordFormat,
        site: &str,
        month: Month,
        [job_n, wall_s, cpu_s]: [i64; 3],
        content: &str,
    ) -> Self {
        let fields = [
            ("Site", site.to_owned()),
            ("Month", month.number().to_string()),
            ("Year", month.year().to_string()),
            ("NumberOfJobs", job_n.to_string()),
            ("WallDuration", wall_s.to_string()),
            ("CpuDuration", cpu_s.to_string()),
            ("Content", content.to_owned()),
        ];
        Self {
            form,
            fields: fields.map(|(key, value)| (key.to_owned(), value)).into(),
        }
    }

    /// Number of jobs in it.
    #[must_use]
    pub fn job_n(&self) -> i64 {
        let reported = self.number("NumberOfJobs").or_else(|| self.number("Njobs"));
        reported.unwrap_or(i64::from(self.form.is_job()))
    }

    /// Its site; empty when it names none.
    #[must_use]
    pub fn site(&self) -> &str {
        absent::text(self.word("Site").or_else(|| self.word("SiteName")))
    }

    /// Its VO: the one it names, or the first part of its FQAN.
    #[must_use]
    pub fn vo(&self) -> &str {
        let fqan = || {
            let fqan = self.word("FQAN")?.split(';').next()?;
            fqan.trim_start_matches('/').split('/').next()
        };
        let named = self.word("VO").or_else(|| self.word("Group"));
        absent::text(named.or_else(|| self.word("VOName")).or_else(fqan))
    }

    /// Its month, if it names one.
    #[must_use]
    pub fn month(&self) -> Option<Month> {
        if self.word("Month").is_none() {
            let end = self.word("EndTime")?;
            let end_s = python_scalars::datetime_s(end).or_else(|| crate::time::instant::parse_instant_s(end))?;
            return Month::of_ms(end_s.checked_mul(1000)?);
        }
        let number = |name: &str| self.number(name);
        let year = i16::try_from(number("Year")?).ok()?;
        Month::new(year, i8::try_from(number("Month")?).ok()?)
    }

    /// The same key, and all that the receiver adds up by, with nothing in it: what takes a record back, because the
    /// receiver replaces by key. A job stays a job to APEL's server, which counts records: its usage is gone, and it is
    /// still one.
    #[must_use]
    pub fn retraction(&self) -> Self {
        let mut nothing = self.clone();
        for (key, value) in &mut nothing.fields {
            match key.as_str() {
                "WallDuration" | "CpuDuration" | "NumberOfJobs" => "0".clone_into(value),
                "NormalisedWallDuration" | "NormalisedCpuDuration" => *value = zeroed(value),
                key if self.form == RecordFormat::Gracc && gracc::METRICS.contains(&key) => "0".clone_into(value),
                _ => {}
            }
        }
        nothing
    }

    /// Its text: lines in the order of their keys, or a document.
    #[must_use]
    pub fn text(&self) -> String {
        if self.form == RecordFormat::Gracc {
            return gracc::text_of(&self.fields);
        }
        let lines = self.fields.iter().map(|(key, value)| format!("{key}: {value}\n"));
        lines.collect()
    }
}

/// The number of a benchmark in a dictionary, where of names that differ in case the last holds, as for the server; of a plain
/// number itself, if the field next to it names that benchmark.
fn number_of<'a>(value: &'a str, kind: &'a str, wanted: Option<Benchmark>) -> Option<&'a str> {
    let inside = value.trim_start_matches('{').trim_end_matches('}');
    let entries = inside
        .split(',')
        .map(|entry| entry.split_once(':').unwrap_or((kind, entry)));
    let mut last_first = entries.rev();
    let (_, number) = last_first.find(|(name, _)| Benchmark::parse(name.trim()) == wanted)?;
    Some(number)
}

/// What precedes the first `delimiter`: all of a text without one.
fn before(text: &str, delimiter: char) -> &str {
    text.split_once(delimiter).map_or(text, |(before, _)| before)
}

/// `{HEPSPEC: 0}` of `{HEPSPEC: 17}`, `0` of `17`.
fn zeroed(value: &str) -> String {
    if !value.starts_with('{') {
        return "0".to_owned();
    }
    let inside = value.trim_start_matches('{').trim_end_matches('}');
    let entries = inside.split(',').map(|entry| {
        let name = before(entry, ':').trim();
        format!("{name}: 0")
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}
