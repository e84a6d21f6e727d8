//! One XML element as a small tree: names without prefixes, text decoded, bounded in depth and number.
//!
//! Prefixes are dropped and never resolved: probes mix them, and the collector keeps records whose prefix is declared
//! nowhere. Document types are refused and only XML's own five entities are known, so nothing can expand.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use crate::ledger::Reason;
use crate::sources::refusal::Refusal;

/// Deepest nesting; a usage record needs four.
const DEPTH_LIMIT: usize = 32;
/// Most elements of a record; real ones have fifty.
const ELEMENT_LIMIT: usize = 100_000;

/// An element.
#[derive(Debug, Default)]
pub(super) struct XmlElement {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    /// Its own text, without that of its children.
    pub(super) text: String,
    pub(super) children: Vec<Self>,
}

impl XmlElement {
    /// Reads one element, which must be all there is.
    pub(super) fn parse(xml: &str) -> Result<Self, Refusal> {
        let mut reader = Reader::from_str(xml);
        // Open elements, outermost first; the first one is the document.
        let mut open = vec![Self::default()];
        let mut element_n = 0;
        loop {
            let event = reader.read_event().map_err(|why| bad(&why))?;
            match event {
                Event::Start(start) => {
                    open.push(Self::started(&start)?);
                    element_n += 1;
                }
                Event::Empty(start) => {
                    let element = Self::started(&start)?;
                    element_n += 1;
                    if let Some(parent) = open.last_mut() {
                        parent.children.push(element);
                    }
                }
                Event::End(_) => {
                    let ended = open.pop();
                    let (Some(ended), Some(parent)) = (ended, open.last_mut()) else {
                        return Err(bad(&"an end without a start"));
                    };
                    parent.children.push(ended);
                }
                Event::Text(text) => add(&mut open, &text.xml10_content().map_err(|why| bad(&why))?),
                Event::CData(text) => add(&mut open, &text.xml10_content().map_err(|why| bad(&why))?),
                Event::GeneralRef(entity) => {
                    if let Some(letter) = entity.resolve_char_ref().map_err(|why| bad(&why))? {
                        add(&mut open, letter.encode_utf8(&mut [0; 4]));
                    } else {
                        let name = entity.decode().map_err(|why| bad(&why))?;
                        let text = resolve_predefined_entity(&name)
                            .ok_or_else(|| bad(&format!("the entity &{name}; is not one of XML's own")))?;
                        add(&mut open, text);
                    }
                }
                Event::DocType(_) => return Err(bad(&"a document type is inside the record")),
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => break,
            }
            if open.len() > DEPTH_LIMIT || element_n > ELEMENT_LIMIT {
                return Err(Refusal {
                    reason: Reason::LimitExceeded,
                    detail: format!(
                        "the record has elements more than {DEPTH_LIMIT} deep, or more than {ELEMENT_LIMIT}"
                    ),
                });
            }
        }
        let (Some(mut document), true) = (open.pop(), open.is_empty()) else {
            return Err(bad(&"an element has no end"));
        };
        match (document.children.pop(), document.children.is_empty()) {
            (Some(root), true) if document.text.trim_ascii().is_empty() => Ok(root),
            _ => Err(bad(&"there is not exactly one element")),
        }
    }

    fn started(start: &BytesStart<'_>) -> Result<Self, Refusal> {
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|why| bad(&why))?;
            let value = std::str::from_utf8(&attribute.value).map_err(|why| bad(&why))?;
            let value = quick_xml::escape::unescape(value).map_err(|why| bad(&why))?;
            let name = String::from_utf8_lossy(attribute.key.local_name().into_inner()).into_owned();
            attributes.push((name, value.into_owned()));
        }
        Ok(Self {
            name: String::from_utf8_lossy(start.local_name().into_inner()).into_owned(),
            attributes,
            ..Self::default()
        })
    }

    /// An attribute by its name without prefix; an empty one counts as missing.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Children of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

fn add(open: &mut [XmlElement], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn bad(why: &dyn std::fmt::Display) -> Refusal {
    Refusal {
        reason: Reason::BadXml,
        detail: format!("the record is not well-formed XML: {why}"),
    }
}
