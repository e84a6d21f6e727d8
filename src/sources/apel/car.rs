//! CAR, the XML of the EMI compute accounting record: one job per `UsageRecord`.
//!
//! Rules of the APEL 2.5 server, with names matched by namespace and not by prefix. Deviations: `GroupAttribute` of type
//! `vo-group` and `vo-role`, which every writer writes and the server does not read, are taken. A document type is
//! refused, because no accounting record needs one and entities are how small documents become large.

use std::borrow::Cow;

use quick_xml::NsReader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

use super::duration::iso8601_s;
use super::limits::ApelLimits;
use super::message::{line_ends, to_u64, too_long};
use super::record::ApelJob;
use super::{car_frames, python_scalars, service_level};
use crate::ledger::Reason;
use crate::numbers::{Extent, Part, index_u64};
use crate::record::UnchangedColumns;
use crate::record::anomaly::Anomaly;
use crate::sources::Position;
use crate::sources::fqan::Fqan;
use crate::sources::instant::rfc3339_ms;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;

/// Namespace of the record.
pub(super) const NAMESPACE: &[u8] = b"http://eu-emi.eu/namespaces/2012/11/computerecord";
/// Local name of the element that is a record.
pub(super) const RECORD: &[u8] = b"UsageRecord";
/// Deepest element; real ones are four deep.
const DEPTH_LIMIT: usize = 64;

/// One `UsageRecord` element.
pub(super) struct CarFields {
    pub(super) at: Position,
    /// Its position in the document.
    pub(super) span: std::ops::Range<usize>,
    pub(super) car: Result<Car, Refusal>,
}

/// The texts of a record that are read, the first of each name.
#[derive(Clone, Debug, Default)]
pub(super) struct Car {
    texts: Vec<(&'static str, String)>,
}

/// Names of ISO 8859-1 in the declaration of a document.
const LATIN1: [&[u8]; 4] = [b"ISO-8859-1", b"ISO_8859-1", b"latin1", b"l1"];

/// Elements whose text is read.
const ELEMENTS: &[&str] = &[
    "Site",
    "SubmitHost",
    "MachineName",
    "Queue",
    "LocalJobId",
    "LocalUserId",
    "GlobalUserName",
    "Group",
    "WallDuration",
    "CpuDuration",
    "Processors",
    "NodeCount",
    "StartTime",
    "EndTime",
    "ServiceLevel",
];

/// The records of a document, and why it could not be read to its end. Then its records are cut out and read one by one,
/// so that damage costs only the record it is in.
pub(super) fn read(document: &[u8], at: Position, limits: ApelLimits) -> (Vec<CarFields>, Option<String>) {
    let text = CarText {
        limits,
        is_latin1: is_latin1(document),
    };
    match text.read(document, at) {
        Ok((found, 0)) => (found, None),
        Ok(_) => (
            car_frames::read(document, at, text),
            Some("elements are left open".to_owned()),
        ),
        Err(bad) => (car_frames::read(document, at, text), Some(bad.detail)),
    }
}

/// How the bytes of a document are read.
#[derive(Clone, Copy)]
pub(super) struct CarText {
    pub(super) limits: ApelLimits,
    /// The document declares ISO 8859-1; otherwise it is UTF-8.
    is_latin1: bool,
}

impl CarText {
    /// The records of `part`, which begins at this position, and how many elements it leaves open.
    pub(super) fn read(self, part: &[u8], at: Position) -> Result<(Vec<CarFields>, usize), Refusal> {
        let mut walk = CarWalk {
            reader: NsReader::from_reader(part),
            document: part,
            text: self,
            base: at,
            reached: 0,
            lines: 0,
            depth: 0,
            open: None,
            found: Vec::new(),
        };
        walk.run()?;
        Ok((walk.found, walk.depth))
    }

    fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, Refusal> {
        match std::str::from_utf8(bytes) {
            Ok(text) if !self.is_latin1 || bytes.is_ascii() => Ok(Cow::Borrowed(text)),
            // The code points of ISO 8859-1 are the first of Unicode.
            _ if self.is_latin1 => Ok(Cow::Owned(bytes.iter().copied().map(char::from).collect())),
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(why) => Err(bad(&format!("{why}, and the document does not declare ISO 8859-1"))),
        }
    }
}

/// Whether a document declares to be ISO 8859-1.
fn is_latin1(document: &[u8]) -> bool {
    let mut reader = NsReader::from_reader(document);
    let Ok(Event::Decl(declaration)) = reader.read_event() else {
        return false;
    };
    let Some(Ok(name)) = declaration.encoding() else {
        return false;
    };
    LATIN1.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// A record or a part of the document that is not well-formed.
fn bad(why: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Reason::BadXml, format!("it is not well-formed XML: {why}"))
}

struct CarWalk<'a> {
    reader: NsReader<&'a [u8]>,
    document: &'a [u8],
    text: CarText,
    base: Position,
    reached: usize,
    lines: u64,
    depth: usize,
    open: Option<CarFields>,
    found: Vec<CarFields>,
}

impl CarWalk<'_> {
    /// Reads up to the end; elements may be left open there, records may not.
    fn run(&mut self) -> Result<(), Refusal> {
        // Name of the element whose text is wanted, its depth, and the text so far.
        let mut wanted: Option<(&'static str, usize, String)> = None;
        loop {
            let start = self.place();
            let (of, event) = self.reader.read_resolved_event().map_err(|why| bad(&why))?;
            let is_ours = of == ResolveResult::Bound(Namespace(NAMESPACE));
            match event {
                Event::Start(tag) => {
                    self.depth += 1;
                    if self.depth > DEPTH_LIMIT {
                        let detail = format!("elements are nested more than {DEPTH_LIMIT} deep");
                        return Err(Refusal::new(Reason::LimitExceeded, detail));
                    }
                    let tag = tag.into_owned();
                    if let Some(name) = self.enter(&tag, start, is_ours)? {
                        wanted = Some((name, self.depth, String::new()));
                    }
                }
                Event::Empty(tag) => {
                    let tag = tag.into_owned();
                    self.enter(&tag, start, is_ours)?;
                    if is_ours && tag.local_name().as_ref() == RECORD {
                        self.leave();
                    }
                }
                Event::End(tag) => {
                    let is_record = is_ours && tag.local_name().as_ref() == RECORD;
                    if let Some((name, _, text)) = wanted.take_if(|(_, depth, _)| *depth == self.depth) {
                        self.put(name, text.trim().to_owned());
                    }
                    self.depth = self.depth.less(1);
                    if is_record {
                        self.leave();
                    }
                }
                Event::Text(text) => {
                    if let Some((_, _, into)) = &mut wanted {
                        into.push_str(&self.text.decode(&text)?);
                    }
                }
                Event::CData(text) => {
                    if let Some((_, _, into)) = &mut wanted {
                        into.push_str(&self.text.decode(&text)?);
                    }
                }
                Event::GeneralRef(name) => {
                    let character = name.resolve_char_ref().map_err(|why| bad(&why))?;
                    let name = self.text.decode(&name)?;
                    let known = character.map(String::from);
                    let known = known.or_else(|| resolve_predefined_entity(&name).map(str::to_owned));
                    let Some(known) = known else {
                        return Err(bad(&format!("the entity &{}; is not one of XML's own", clip(&name))));
                    };
                    if let Some((_, _, into)) = &mut wanted {
                        into.push_str(&known);
                    }
                }
                Event::DocType(_) => {
                    let detail = "it declares a document type, which no accounting record needs";
                    return Err(Refusal::new(Reason::BadMessage, detail));
                }
                Event::Eof if self.open.is_some() => return Err(bad(&"the record has no end tag")),
                Event::Eof => return Ok(()),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
            if let Some(open) = &self.open
                && self.place().less(open.span.start) > self.text.limits.record
            {
                return Err(too_long(self.text.limits));
            }
        }
    }

    fn place(&self) -> usize {
        index_u64(self.reader.buffer_position())
    }

    /// Opens a record, or sets which text is wanted next.
    fn enter(&mut self, tag: &BytesStart<'_>, start: usize, is_ours: bool) -> Result<Option<&'static str>, Refusal> {
        let local = tag.local_name();
        let local = local.as_ref();
        if !is_ours {
            return Ok(None);
        }
        if local == RECORD {
            if self.open.is_some() {
                return Err(bad(&"a record begins inside another"));
            }
            self.lines += line_ends(self.document.part(self.reached..start));
            self.reached = start;
            self.open = Some(CarFields {
                at: Position {
                    line: self.base.line + self.lines,
                    byte_offset: self.base.byte_offset + to_u64(start),
                },
                span: start..start,
                car: Ok(Car::default()),
            });
            return Ok(None);
        }
        if self.open.is_none() {
            return Ok(None);
        }
        let attribute = |name: &str| self.attribute(tag, name);
        match local {
            b"Infrastructure" => {
                let kind = attribute("type")?;
                if let Some(kind) = kind {
                    self.put("Infrastructure", kind);
                }
                Ok(None)
            }
            b"ServiceLevel" => {
                if let Some(kind) = attribute("type")? {
                    self.put("ServiceLevelType", kind);
                }
                Ok(Some("ServiceLevel"))
            }
            b"CpuDuration" => {
                let is_all = attribute("usageType")?.is_some_and(|kind| kind == "all");
                Ok(Some(if is_all { "CpuDuration of all" } else { "CpuDuration" }))
            }
            b"GroupAttribute" => Ok(match attribute("type")?.as_deref() {
                Some("FQAN") => Some("FQAN"),
                Some("group" | "vo-group") => Some("VOGroup"),
                Some("role" | "vo-role") => Some("VORole"),
                _ => None,
            }),
            other => Ok(ELEMENTS.iter().find(|name| name.as_bytes() == other).copied()),
        }
    }

    /// An attribute, with the record's namespace or without one.
    fn attribute(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, Refusal> {
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|why| bad(&why))?;
            let (of, local) = self.reader.resolver().resolve_attribute(attribute.key);
            let is_ours = matches!(of, ResolveResult::Unbound) || of == ResolveResult::Bound(Namespace(NAMESPACE));
            if is_ours && local.as_ref() == name.as_bytes() {
                let attribute = Attribute {
                    key: attribute.key,
                    value: match self.text.decode(&attribute.value)? {
                        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                    },
                };
                let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
                return value
                    .map(|value| Some(value.trim().to_owned()))
                    .map_err(|why| bad(&why));
            }
        }
        Ok(None)
    }

    fn put(&mut self, name: &'static str, text: String) {
        if let Some(CarFields { car: Ok(car), .. }) = &mut self.open
            && !car.texts.iter().any(|(known, _)| *known == name)
        {
            car.texts.push((name, text));
        }
    }

    fn leave(&mut self) {
        let end = self.place();
        if let Some(mut open) = self.open.take() {
            open.span.end = end;
            self.found.push(open);
        }
    }
}

/// The namespace and local name of the root element, if the start of a document shows it.
pub(super) fn root(head: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut reader = NsReader::from_reader(head);
    loop {
        // Fallback: a head that is no XML shows no root, and is not recognised.
        match reader.read_resolved_event().ok()? {
            (of, Event::Start(tag) | Event::Empty(tag)) => {
                let of = match of {
                    ResolveResult::Bound(Namespace(of)) => of.to_vec(),
                    ResolveResult::Unbound | ResolveResult::Unknown(_) => Vec::new(),
                };
                return Some((of, tag.local_name().as_ref().to_vec()));
            }
            (_, Event::Eof) => return None,
            _ => {}
        }
    }
}

impl Car {
    fn get(&self, name: &str) -> Option<&str> {
        let (_, text) = self.texts.iter().find(|(known, _)| *known == name)?;
        Some(text.as_str()).filter(|text| !python_scalars::is_null(text))
    }

    fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.get(name)
            .ok_or_else(|| Refusal::new(Reason::MissingField, format!("{name} is missing")))
    }

    fn time_s(&self, name: &'static str) -> Result<i64, Refusal> {
        let text = self.required(name)?;
        let has_zone = text.ends_with(['Z', 'z']) || text.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
        let zoned = if has_zone {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(format!("{text}Z"))
        };
        let seconds = rfc3339_ms(&zoned).map(|ms| ms.div_euclid(1000)).filter(|s| *s >= 0);
        seconds.ok_or_else(|| {
            Refusal::new(
                Reason::BadTime,
                format!("{name} {:?} is not an ISO 8601 time", clip(text)),
            )
        })
    }

    fn count(&self, name: &'static str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = python_scalars::int(text).filter(|n| i32::try_from(*n).is_ok());
        let number = number.ok_or_else(|| {
            let detail = format!("{name} {:?} is not an integer that fits 32 bits", clip(text));
            Refusal::new(Reason::BadNumber, detail)
        })?;
        Ok(Some(number).filter(|n| *n > 0))
    }

    /// The job, by the rules that hold for text messages.
    pub(super) fn job(&self) -> Result<ApelJob<'_>, Refusal> {
        let cpu = self
            .get("CpuDuration of all")
            .map_or_else(|| self.required("CpuDuration"), Ok)?;
        let core_n = self.count("Processors")?;
        let level = service_level::plain(self.get("ServiceLevelType"), self.get("ServiceLevel"))?;
        let mut job = ApelJob {
            site: self.required("Site")?,
            submit_host: self.get("SubmitHost"),
            machine_name: self.get("MachineName"),
            queue: self.get("Queue"),
            local_job_id: self.required("LocalJobId")?,
            local_user_id: self.get("LocalUserId"),
            global_user_name: self.get("GlobalUserName"),
            fqan: self.get("FQAN"),
            vo: self.get("Group"),
            vo_group: self.get("VOGroup"),
            vo_role: self.get("VORole"),
            wall_s: duration_s("WallDuration", self.required("WallDuration")?)?,
            cpu_s: duration_s("CpuDuration", cpu)?,
            core_n,
            node_n: self.count("NodeCount")?,
            start_s: self.time_s("StartTime")?,
            end_s: self.time_s("EndTime")?,
            end_digits: None,
            infrastructure: self.get("Infrastructure"),
            memory_real_kb: None,
            memory_virtual_kb: None,
            service_level: Some(level).filter(|level| level.milli_per_core >= 0),
            anomalies: if core_n.is_none() {
                Anomaly::CoreUnknown.bit()
            } else {
                0
            },
            repeats: UnchangedColumns::default(),
            // An entity of XML may be longer than its name.
            row_byte_n: None,
        };
        if let Some(fqan) = job.fqan.map(Fqan::parse) {
            job.vo = Some(fqan.vo).filter(|vo| !python_scalars::is_null(vo));
            job.vo_group = fqan.group;
            job.vo_role = fqan.role;
        }
        job.check()?;
        Ok(job)
    }
}

fn duration_s(name: &str, text: &str) -> Result<i64, Refusal> {
    let seconds = iso8601_s(text).filter(|s| i32::try_from(*s).is_ok());
    seconds.ok_or_else(|| {
        let detail = format!(
            "{name} {:?} is not a duration such as P1DT2H3M4.5S (fractions of seconds alone), or does not fit 32 bits",
            clip(text)
        );
        Refusal::new(Reason::BadDuration, detail)
    })
}
