//! What is mutated: the sample data, every text literal of the tests, and pieces of the real data where it is.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use gridtally::sources::compression::decompress;
use gridtally::sources::dialect;
use gridtally::sources::repair::is_repair;

use crate::support::sample::repository;

/// Bytes of a file that are taken: enough for whole documents of the wordier dialects.
const TAKEN: usize = 16 * 1024;
/// Literals shorter than this say too little, if they are not hosts.
const SHORTEST: usize = 12;

/// Inputs by what they look like.
pub(super) struct Pool {
    by_kind: BTreeMap<String, Vec<Vec<u8>>>,
    all_n: usize,
}

/// Host lists, which no test has as one text.
const HOSTS: &[&str] = &[
    "n[001-004,007],rack[1-2]n[01-02]",
    "a[1-2]b[1-2]c[1-2]",
    "n1,n2 n3",
    "None assigned",
    "(null)",
    "tux[0-9,12,015-020]-ib,login",
];

/// Tables, one of each kind; the tests hold more.
const TABLES: &[&str] = &[
    "site,cluster,benchmark,value_per_core,valid_from,valid_to\nA,*,hs06,10.5,2020-01-01,2021-01-01\nA,c,hs23,1,,\n",
    "account,vo\nphys,atlas\n*,other\n",
    "vo,account,to_vo\natlas,*,ATLAS\n",
    "cluster,site\nc1,A\n*,B\n",
    "id,action,author,reason,date,site,month,vo,to_vo,job_n,wall_s,alloc_core_s,cpu_ms\n\
     c1,move,Ada,wrong VO,2026-02-01,A,2026-01,x,y,,,,\nc2,add,Ada,lost log,2026-02-01,A,2026-01,x,,5,3600,7200,1000\n\
     c3,exclude,Ada,test jobs,2026-02-02,A,2026-01,,,,,,\n",
    "VOName,ReportableVOName,CorrectedVOName\nlight,ilc,light\n/ilc/Role=x,ilc,ilc\n",
    "Resource,ResourceGroup,Site,Facility\nr1,g1,s1,f1\nr2,g1,s1,f1\n",
];

impl Pool {
    pub(super) fn load() -> Self {
        let mut pool = Self {
            by_kind: BTreeMap::new(),
            all_n: 0,
        };
        for text in HOSTS {
            pool.add("hosts", text.as_bytes().to_vec());
        }
        for text in TABLES {
            pool.add("table", text.as_bytes().to_vec());
        }
        pool.folder(&repository("sample-data"));
        pool.folder(&repository("pipelines"));
        pool.literals(&repository("tests"));
        if let Some(shared) = crate::support::collect::shared("fuzz with real data", "data") {
            pool.folder(&shared);
        }
        let tar = pool.archive();
        pool.add("archive", tar);
        pool
    }

    /// The kinds every target needs.
    pub(super) fn check_complete(&self) {
        for kind in super::target::kinds() {
            assert!(self.by_kind.contains_key(kind), "no input looks like {kind}");
        }
    }

    /// How many inputs of every kind there are.
    pub(super) fn told(&self) -> String {
        let counts: Vec<String> = self
            .by_kind
            .iter()
            .map(|(kind, inputs)| format!("{kind} {}", inputs.len()))
            .collect();
        format!("{} inputs: {}", self.all_n, counts.join(", "))
    }

    /// An input of a kind; `nth` decides which.
    pub(super) fn of(&self, kind: &str, nth: u64) -> &[u8] {
        let Some(inputs) = self.by_kind.get(kind).filter(|inputs| !inputs.is_empty()) else {
            return b"";
        };
        let at = nth % u64::try_from(inputs.len()).unwrap();
        &inputs[usize::try_from(at).unwrap()]
    }

    /// Any input; `nth` decides which.
    pub(super) fn any(&self, nth: u64) -> &[u8] {
        let kinds: Vec<&String> = self.by_kind.keys().collect();
        let at = usize::try_from(nth % u64::try_from(kinds.len()).unwrap()).unwrap();
        self.of(kinds[at], nth >> 8)
    }

    fn add(&mut self, kind: &str, input: Vec<u8>) {
        self.all_n += 1;
        self.by_kind.entry(kind.to_owned()).or_default().push(input);
    }

    fn sort_in(&mut self, mut input: Vec<u8>) {
        if input.len() > TAKEN {
            input.truncate(TAKEN);
            // Whole lines, where there are any.
            if let Some(end) = memchr::memrchr(b'\n', &input) {
                input.truncate(end + 1);
            }
        }
        let kind = kind_of(&input);
        self.add(kind, input);
    }

    fn folder(&mut self, folder: &Path) {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                self.folder(&path);
            } else if let Ok(file) = std::fs::File::open(&path) {
                let Ok(text) = decompress(Box::new(file)) else { continue };
                let mut head = Vec::new();
                // Test data may be damaged on purpose: what came before the damage is taken.
                let _ = text.take(u64::try_from(TAKEN + 1).unwrap()).read_to_end(&mut head);
                self.sort_in(head);
            }
        }
    }

    /// Every text literal of the Rust files in a folder.
    fn literals(&mut self, folder: &Path) {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() && !path.ends_with("fuzz") {
                self.literals(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                for literal in literals(&std::fs::read_to_string(&path).unwrap()) {
                    if literal.len() >= SHORTEST {
                        // A template for `format!`.
                        let plain = literal.replace("{{", "{").replace("}}", "}");
                        if plain != literal {
                            self.sort_in(plain.into_bytes());
                        }
                        self.sort_in(literal.into_bytes());
                    } else if literal.contains('[') {
                        self.add("hosts", literal.into_bytes());
                    }
                }
            }
        }
    }

    /// One input of every kind, as members of a tar.
    fn archive(&self) -> Vec<u8> {
        let members: Vec<(String, &[u8])> = self
            .by_kind
            .iter()
            .map(|(kind, inputs)| (format!("spool/{kind}"), inputs[inputs.len() / 2].as_slice()))
            .collect();
        let members: Vec<(&str, &[u8])> = members.iter().map(|(name, data)| (name.as_str(), *data)).collect();
        crate::support::tar::tar(&members)
    }
}

/// What an input looks like: the word of its dialect, finer where one dialect has several readers.
fn kind_of(input: &[u8]) -> &'static str {
    let has = |word: &str| memchr::memmem::find(input, word.as_bytes()).is_some();
    if is_repair(input) {
        return "repair";
    }
    if has("[[source]]") || has("[pipeline]") || has("[[inventory]]") {
        return "pipeline";
    }
    let is_json = matches!(input.trim_ascii_start().first(), Some(b'{' | b'['));
    let is_xml = input.trim_ascii_start().first() == Some(&b'<') || input.starts_with(b"replication|");
    match dialect::recognise(input).map(dialect::Dialect::as_str) {
        Some("sacct") if is_json => "sacct json",
        Some("sacct") if gridtally::sources::hints::SacctHeader::find(input).is_none() => "sacct headerless",
        Some("apel") if is_json => "apel json",
        Some("apel") if is_xml => "apel xml",
        Some("apel") if has("summary") => "apel summaries",
        Some("gracc") if is_xml => "gratia xml",
        Some("htcondor") if is_json => "htcondor json",
        Some(word) => word,
        None if memchr::memchr_iter(b',', input).count() > 2 && has("\n") => "table",
        None => "other",
    }
}

/// The text literals of a Rust file, unescaped as far as need be.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, here) = rest.split_at(at);
        if here.starts_with("//") {
            rest = here.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        if let Some(after) = here.strip_prefix("'\"'") {
            rest = after;
            continue;
        }
        if !here.starts_with('"') {
            rest = &here[1..];
            continue;
        }
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        let body = &here[1..];
        if is_raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let Some((text, after)) = body.split_once(&close) else {
                break;
            };
            found.push(text.to_owned());
            rest = after;
        } else {
            let (text, after) = unescape(body);
            found.push(text);
            rest = after;
        }
    }
    found
}

/// The text up to the closing quote, and what follows it.
fn unescape(body: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = body.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (text, &body[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, 't')) => text.push('\t'),
                Some((_, '0')) => text.push('\0'),
                // A line that goes on: its indentation is no text.
                Some((_, '\n')) => {
                    while chars.clone().next().is_some_and(|(_, next)| next.is_whitespace()) {
                        chars.next();
                    }
                }
                Some((_, other)) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    (text, "")
}
