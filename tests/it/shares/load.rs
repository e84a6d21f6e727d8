//! Reads a file for `sacctmgr load` as sacctmgr does: comments, escapes, quotes, and parents before what is in them.

use std::collections::{BTreeMap, BTreeSet};

/// One association of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// `Cluster`, `Account` or `User`.
    pub(super) object: String,
    /// Its name.
    pub(super) name: String,
    /// The account above it; empty for the cluster.
    pub(super) parent: String,
    /// Its options by their names, in the order of the line.
    pub(super) options: Vec<(String, String)>,
}

impl Loaded {
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Bytes of a line with its end that sacctmgr takes at once.
const LINE_BYTES: usize = 4095;

/// Everything of a file.
pub(super) fn load(text: &str) -> Vec<Loaded> {
    let (mut loaded, mut accounts) = (Vec::new(), BTreeSet::from(["root".to_owned()]));
    let (mut cluster, mut parent) = (None, "root".to_owned());
    for line in text.lines() {
        assert!(line.len() < LINE_BYTES, "{line}");
        let line = unescaped(line);
        if line.is_empty() {
            continue;
        }
        let (object, rest) = line.split_once(" - ").unwrap_or_else(|| panic!("no object: {line}"));
        let (name, options) = parsed(rest);
        match object {
            "Cluster" => {
                assert_eq!(cluster, None, "one cluster a file");
                assert!(loaded.is_empty(), "the cluster is first");
                cluster = Some(name.clone());
            }
            "Parent" => {
                assert!(accounts.contains(&name), "add this parent ({name}) as a child first");
                assert_eq!(options, []);
                parent = name;
                continue;
            }
            "Account" => assert!(accounts.insert(name.clone()), "account {name} is there twice"),
            "User" => {}
            other => panic!("unknown object {other}"),
        }
        assert!(cluster.is_some(), "you need to specify a cluster name first");
        loaded.push(Loaded {
            object: object.to_owned(),
            parent: if object == "Cluster" {
                String::new()
            } else {
                parent.clone()
            },
            name,
            options,
        });
    }
    loaded
}

/// Without a comment, which begins with `#` behind an even number of backslashes, and without backslashes that escape.
fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(one) = characters.next() {
        match one {
            '\\' => text.extend(characters.next()),
            '#' => break,
            other => text.push(other),
        }
    }
    text
}

/// Name and options. A part ends with a colon; one in quotes does not count, and the quote it is in ends the part.
fn parsed(rest: &str) -> (String, Vec<(String, String)>) {
    let bytes: Vec<char> = rest.chars().collect();
    let (mut at, mut name, mut options) = (0, None, Vec::new());
    while at < bytes.len() {
        let (start, mut quote) = (at, None);
        while at < bytes.len() && bytes[at] != ':' {
            if matches!(bytes[at], '"' | '\'') {
                quote = match quote {
                    None => Some(bytes[at]),
                    Some(open) if open == bytes[at] => None,
                    open => open,
                };
            }
            at += 1;
        }
        if let Some(open) = quote {
            while bytes[at] != open {
                at += 1;
            }
            at += 1;
        }
        let part: String = bytes[start..at].iter().collect();
        match part.split_once('=') {
            None => {
                assert_eq!(name, None, "end your option with an '=' sign: {part}");
                name = Some(stripped(&part));
            }
            Some((option, value)) => options.push((option.to_owned(), stripped(value))),
        }
        assert!(at == bytes.len() || bytes[at] == ':', "behind a quote: {rest}");
        at += 1;
    }
    (name.unwrap_or_else(|| panic!("no name given: {rest}")), options)
}

/// Without the quotes around it.
fn stripped(text: &str) -> String {
    let open = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let Some(open) = open else {
        return text.to_owned();
    };
    let inner = &text[1..];
    inner[..inner.find(open).unwrap_or_else(|| panic!("an open quote: {text}"))].to_owned()
}

/// Shares of accounts.
pub(super) fn shares(loaded: &[Loaded]) -> BTreeMap<String, String> {
    let accounts = loaded.iter().filter(|of| of.object == "Account");
    let shares = accounts.map(|of| (of.name.clone(), of.option("Fairshare").unwrap_or_default().to_owned()));
    shares.collect()
}

#[test]
fn a_file_is_read_as_sacctmgr_reads_it() {
    let loaded = load(
        "# a comment\nCluster - 'oak':Fairshare=1\nParent - 'root'\nAccount - 'a:\\#\\\\b':QOS='x,y':MaxJobs=4 # 5\n",
    );
    assert_eq!(loaded.len(), 2);
    assert_eq!(loaded[1].name, "a:#\\b");
    assert_eq!(loaded[1].option("qos"), Some("x,y"));
    assert_eq!(loaded[1].option("maxjobs"), Some("4 "));
}
