//! A Gratia usage record in XML, made flat by the rules of the collector that fills the index.

use super::element::XmlElement;
use super::flat::{Flat, FlatValue};
use super::iso_duration::{decimal, nanos};
use crate::absent;
use crate::ledger::Reason;
use crate::sources::byte_text::text_of;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;

/// Local names of the elements that are records.
pub(super) const RECORDS: [&[u8]; 4] = [
    b"JobUsageRecord",
    b"UsageRecord",
    b"StorageElementRecord",
    b"StorageElement",
];

/// Reads one record. Of other records than job usage only `type` is read.
///
/// What differs from the collector, on purpose: a duration that cannot be read refuses the record instead of becoming
/// 0, and a `WallDuration` or `CpuDuration` that is not there is unknown instead of 0: of CPU time the flat record is
/// read so, too.
pub(super) fn read(xml: &[u8]) -> Result<Flat, Refusal> {
    let text = text_of(xml);
    let mut flat = Flat::default();
    flat.is_invalid = matches!(text, std::borrow::Cow::Owned(_));
    let root = XmlElement::parse(&text)?;
    if !matches!(root.name.as_str(), "JobUsageRecord" | "UsageRecord") {
        flat.text("type", &root.name);
        return Ok(flat);
    }
    flat.text("type", "JobUsageRecord");
    for child in &root.children {
        one(child, &mut flat)?;
    }
    cpu(&root, &mut flat)?;
    resources(&root, &mut flat);
    Ok(flat)
}

fn one(element: &XmlElement, flat: &mut Flat) -> Result<(), Refusal> {
    let name = element.name.as_str();
    match name {
        "RecordIdentity" => {
            // The flat record has no empty texts.
            flat.text("RecordId", absent::text(element.attribute("recordId")));
            flat.text("CreateTime", absent::text(element.attribute("createTime")));
        }
        "JobIdentity" => {
            for id in ["GlobalJobId", "LocalJobId"] {
                for child in element.all(id) {
                    flat.text(id, &child.text);
                }
            }
            let processes: Vec<&XmlElement> = element.all("ProcessId").collect();
            for (nth, process) in processes.iter().enumerate() {
                let key = match processes.len() {
                    1 => "ProcessId".to_owned(),
                    _ => format!("ProcessId{nth}"),
                };
                flat.text(&key, &process.text);
            }
        }
        "UserIdentity" => {
            const NAMES: [&str; 6] = [
                "GlobalUsername",
                "LocalUserId",
                "VOName",
                "ReportableVOName",
                "CommonName",
                "DN",
            ];
            for child in &element.children {
                if NAMES.contains(&child.name.as_str()) {
                    flat.text(&child.name, &child.text);
                }
            }
        }
        "WallDuration" => {
            flat.number(name, seconds(name, &element.text)?);
            describe(element, name, flat);
        }
        // The collector keeps no description of times (`calculated`, `Was entered in seconds`).
        "StartTime" | "EndTime" | "QueueTime" => flat.text(name, element.text.trim_ascii()),
        "TimeDuration" => {
            // No part of the usage: one that cannot be read is left out.
            let key = format!("TimeDuration_{}", element.attribute("type").unwrap_or("unknown"));
            if let Ok(seconds) = seconds(name, &element.text) {
                flat.number(&key, seconds);
                describe(element, &key, flat);
            }
        }
        "TimeInstant" => {
            let key = format!("TimeInstant_{}", element.attribute("type").unwrap_or("unknown"));
            flat.text(&key, element.text.trim_ascii());
            describe(element, &key, flat);
        }
        "Origin" => origin(element, flat),
        "CpuDuration" | "Resource" | "ConsumableResource" | "PhaseResource" | "VolumeResource" => {}
        _ => {
            flat.text(name, &element.text);
            describe(element, name, flat);
        }
    }
    Ok(())
}

/// The attributes that become fields of their own.
fn describe(element: &XmlElement, key: &str, flat: &mut Flat) {
    for attribute in ["description", "unit", "storageUnit", "formula", "metric"] {
        if let Some(value) = element.attribute(attribute) {
            flat.text(&format!("{key}_{attribute}"), value);
        }
    }
    if let Some(Ok(phase)) = element.attribute("phaseUnit").map(nanos) {
        flat.number(&format!("{key}_phaseUnit"), decimal(phase));
    }
}

/// `CpuDuration` is the sum of all its elements; of one usage type the last counts.
fn cpu(root: &XmlElement, flat: &mut Flat) -> Result<(), Refusal> {
    let (mut total, mut is_there) = (0_i128, false);
    for element in root.all("CpuDuration") {
        let key = format!("CpuDuration_{}", absent::text(element.attribute("usageType")));
        let part = duration("CpuDuration", &element.text)?;
        (total, is_there) = (total + part, true);
        if element.attribute("usageType").is_some() {
            flat.number(&key, decimal(part));
        }
        describe(element, &key, flat);
    }
    if is_there {
        flat.number("CpuDuration", decimal(total));
    }
    Ok(())
}

fn resources(root: &XmlElement, flat: &mut Flat) {
    if root.all("Resource").next().is_some() {
        for name in ["Resource", "ConsumableResource", "PhaseResource", "VolumeResource"] {
            for element in root.all(name) {
                let what = element.attribute("description").unwrap_or("unknown");
                let key = format!("Resource_{}", what.replace(['.', ' '], "-"));
                if key == "Resource_ResourceType" {
                    resource_type(&element.text, flat);
                    continue;
                }
                flat.text(&key, &element.text);
                for attribute in ["unit", "storageUnit"] {
                    if let Some(value) = element.attribute(attribute) {
                        flat.text(&format!("{key}_{attribute}"), value);
                    }
                }
                if let Some(Ok(phase)) = element.attribute("phaseUnit").map(nanos) {
                    flat.number(&format!("{key}_phaseUnit"), decimal(phase));
                }
            }
        }
    }
    if flat.get("ResourceType").is_none() {
        resource_type("", flat);
    }
}

fn resource_type(text: &str, flat: &mut Flat) {
    flat.text(
        "ResourceType",
        match text {
            "" => "Batch",
            "BatchPilot" => "Payload",
            other => other,
        },
    );
}

fn origin(element: &XmlElement, flat: &mut Flat) {
    if let Some(hop) = element.attribute("hop") {
        flat.put("Origin_hop", FlatValue::Number(hop.to_owned()));
    }
    for date in element.all("ServerDate") {
        flat.text("OriginServerDate", &date.text);
    }
    for connection in element.all("Connection") {
        for child in &connection.children {
            if matches!(child.name.as_str(), "SenderHost" | "Sender" | "Collector") {
                flat.text(&format!("Origin{}", child.name), &child.text);
            }
        }
    }
}

fn seconds(name: &str, text: &str) -> Result<String, Refusal> {
    duration(name, text).map(decimal)
}

fn duration(name: &str, text: &str) -> Result<i128, Refusal> {
    nanos(text.trim_ascii()).map_err(|why| Refusal {
        reason: Reason::BadDuration,
        detail: format!("{name} {:?} is not a duration such as PT2H27M33.0S: {why}", clip(text)),
    })
}
