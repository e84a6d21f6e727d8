//! `sacctmgr dump`: the tree of accounts and users as a file that can be loaded again; since 25.05 with the qualities of
//! service.

use std::collections::BTreeMap;

use super::assoc::association;
use super::fields::InventoryFields;
use super::lines::lines;
use super::qos::quality;
use super::trouble::{missing, settle};
use crate::ledger::Reason;
use crate::reference::inventory::InventoryRow;
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

/// Where in the tree the next lines belong.
struct Tree {
    cluster: Option<String>,
    parent: String,
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let mut tree = Tree {
        cluster: None,
        parent: "root".to_owned(),
    };
    for line in lines(bytes) {
        if line.is_blank() || line.bytes.trim_ascii_start().starts_with(b"#") {
            continue;
        }
        sink.rows_read(1);
        let text = line.text();
        match one(text.trim(), &mut tree) {
            Ok(Some(row)) => settle(Ok(row), line.at, line.bytes, sink),
            Ok(None) => sink.out_of_scope(Reason::Setting, 1),
            Err(trouble) => settle(Err(trouble), line.at, line.bytes, sink),
        }
    }
}

fn one(line: &str, tree: &mut Tree) -> Result<Option<InventoryRow>, Refusal> {
    let shape = || {
        let detail = "not of the form  Account - 'name':Key=value:...";
        Refusal::new(Reason::FieldCount, detail)
    };
    let (what, rest) = line.split_once('-').ok_or_else(shape)?;
    let (name, mut rest) = quoted(rest.trim_start()).ok_or_else(shape)?;
    if name.is_empty() {
        return Err(missing("the name"));
    }
    let mut options: Vec<(String, &str)> = Vec::new();
    while let Some(option) = rest.strip_prefix(':') {
        let (key, value) = option.split_once('=').ok_or_else(shape)?;
        let (value, behind) = match quoted(value) {
            Some(found) => found,
            None => value.split_at(value.find(':').unwrap_or(value.len())),
        };
        options.push((key.trim().to_ascii_lowercase(), value));
        rest = behind;
    }
    if !rest.trim().is_empty() {
        return Err(shape());
    }
    let mut fields: BTreeMap<&str, &str> = options.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let cluster = tree.cluster.clone();
    if let Some(cluster) = &cluster {
        fields.insert("cluster", cluster);
    }
    match what.trim().to_ascii_lowercase().as_str() {
        "cluster" => {
            tree.cluster = Some(name.to_owned());
            "root".clone_into(&mut tree.parent);
            fields.insert("cluster", name);
            fields.insert("account", "root");
        }
        "parent" => {
            name.clone_into(&mut tree.parent);
            return Ok(None);
        }
        "account" => {
            fields.insert("account", name);
            fields.insert("parentname", &tree.parent);
        }
        "user" => {
            fields.insert("account", &tree.parent);
            fields.insert("user", name);
        }
        "qos" => {
            fields.insert("name", name);
            return quality(&InventoryFields(fields)).map(|row| Some(InventoryRow::Qos(Box::new(row))));
        }
        _ => {
            return Err(Refusal::new(
                Reason::UnknownField,
                format!("{:?} is not a kind of line of a dump", what.trim()),
            ));
        }
    }
    association(&InventoryFields(fields)).map(|row| Some(InventoryRow::Association(Box::new(row))))
}

/// A text in single quotes and what follows it. A quote inside is one that neither `:` nor the end follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('\'')?;
    let end = inner.match_indices('\'').map(|(at, _)| at).find(|at| {
        inner
            .get(at + 1..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}
