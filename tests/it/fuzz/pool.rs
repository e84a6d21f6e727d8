//! What is mutated: the sample data, every text literal of the tests, and pieces of the real data where it is.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use gridtally::sources::compression::decompress;
use gridtally::sources::repair::is_repair;
use gridtally::sources::{dialect, registry};

use crate::sacct::json;
use crate::support::sample::repository;

/// Bytes of a file that are taken: enough for whole documents of the wordier dialects.
const TAKEN: usize = 16 * 1024;
/// Literals shorter than this are not specific enough, unless they are hosts.
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

/// Tables without a mistake, one for each reader in its order; the tests hold more.
pub(super) const TABLES: [&str; 9] = [
    "site,cluster,partition,nodes,benchmark,value_per_core,cores,valid_from,valid_to,recorded_at,source\n\
     A,c,p,,hs06,10.84,,2024-01-01,2026-03-01,2024-01-10,tender\nA,c,,\"g[001-040]\",hs23,17.5,64,2025-10-01,,2025-10-01,t\n",
    "site,cluster,nodes,node_class,cores,valid_from,valid_to\nA,c,\"n[1-4],m\",old,32,2024-01-01,2025-01-01\nA,c,n5,new,64,,\n",
    "account,vo\nphys,atlas\n*,other\n",
    "cluster,submit_host,to_site\nc1,*,A\n*,ce.example.org,B\n",
    "Facility,Site,ResourceGroup,Resource,FQDN\nf1,s1,g1,r1,ce1.example.org\nf1,s1,g1,r2,ce2.example.org\n",
    "id,action,site,month,vo,account,job_id,to_account,job_n,alloc_core_s,cpu_ms,undoes,author,reason,date\n\
     C1,void,A,2026-03,,firn,48120,,,,,,Ada,broken node,2026-04-02\nC2,remap,A,,-,snow,,firn,,,,,Ada,no VO,2026-04-02\n\
     C3,add,A,2026-03,firn,firn,,,12,432000,430000000,,Ada,log lost,2026-04-03\n\
     C4,undo,,,,,,,,,,C1,Ada,it was fine,2026-04-09\n",
    "vo_name,reportable_vo,to_vo\nlight,ilc,light\n/ilc/Role=x,,ilc\n",
    "site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,slot_n,cpumult,valid_from,valid_to\n\
     A,c,g-2019,60,2,32,hs06,11.20,32,1.1,2024-01-01,2026-03-01\nA,c,g-2026,30,2,64,hs23,14.9,,,2026-03-01,\n",
    "site,vo,to_site\nCrane,,Nebraska\nMIT_CMS,lhcb,MIT_LHCb\n",
];

/// Documents and messages of which the tests have parts only.
const DOCUMENTS: &[&str] = &[
    r#"{"_index":"gracc.osg.summary4-2022","_id":"5f","_source":{"EndTime":"2022-05-03T00:00:00.000Z","RawVOName":"/reef/Role=pilot","VOName":"reef","RawProjectName":"N/A","ProjectName":"reef","DN":"N/A","Processors":8,"GPUs":2,"ResourceType":"Batch","Host_description":"N/A","Resource_ExitCode":1,"Grid":"OSG","ProbeName":"htcondor-ce:gate.example.org","SiteName":"EXAMPLE","WallDuration":7200,"CpuDuration":50000.25,"CpuDuration_user":48000,"CpuDuration_system":2000.25,"CoreHours":16.0,"Njobs":5,"Count":2,"OIM_FieldOfScience":["a","b"],"OIM_WLCGAPELNormalFactor":14.54}}
{"_index":"gracc.osg.summary4-2022","_id":"6f","_source":{"EndTime":"2022-05-04T00:00:00.000Z","VOName":"reef","Processors":1,"ResourceType":"Payload","Host_description":"REEF_T2","SiteName":"EXAMPLE","WallDuration":1.5,"CpuDuration":0,"Count":1}}
"#,
    r#"{"took":4,"_shards":{},"hits":{"total":1,"hits":[{"_index":"gracc.osg.summary","_source":{"EndTime":"2022-05-03T00:00:00Z","SiteName":"A","ResourceType":"Storage","WallDuration":3,"CpuDuration":1,"Count":7}}]}}"#,
    "APEL-sync-message: v0.1\nSite: A\nSubmitHost: ce.example.org:8443/cream\nNumberOfJobs: 27\nMonth: 3\nYear: 2017\n%%\n\
     Site: B\nNumberOfJobs: 1\nMonth: 99\nYear: 2017\n%%\n",
    "%YAML 1.1\n--- !!map\n!!str nodes: !!seq\n- !!map\n  !!str name: !!str ice1\n  !!str cpus: !!int 64\n  \
     !!str real_memory: !!int 256000\n  !!str gres: !!str 'gpu:a100:2(S:0-1)'\n  !!str state: !!seq\n  - !!str IDLE\n  - !!str DRAIN\n  \
     !!str reason: !!str 'set: by | hand'\n!!str last_update: !!map\n  !!str set: !!bool true\n  !!str number: !!int 1790000000\n...\n",
    "%YAML 1.1\n--- !!map\n!!str partitions: !!seq\n- !!map\n  !!str name: !!str gpu\n  !!str nodes: !!map\n    \
     !!str configured: !!str ice[1-2]\n    !!str total: !!int 2\n  !!str maximums: !!map\n    !!str oversubscribe: !!map\n      \
     !!str jobs: !!int 4\n      !!str flags: !!seq []\n  !!str tres: !!map\n    !!str billing_weights: !!str\n...\n",
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
        for text in DOCUMENTS {
            pool.sort_in(text.as_bytes().to_vec());
        }
        for job in [json::OLD, json::NEW] {
            pool.sort_in(format!("{{\n  \"jobs\": [\n{job}\n  ]\n}}\n").into_bytes());
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
    pub(super) fn reported(&self) -> String {
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
    if has("\nformula = ") || has("[[example]]") {
        return "policy";
    }
    if has("[[source]]") || has("[pipeline]") || has("[[inventory]]") {
        return "pipeline";
    }
    let is_json = matches!(input.trim_ascii_start().first(), Some(b'{' | b'['));
    let is_xml = input.trim_ascii_start().first() == Some(&b'<') || input.starts_with(b"replication|");
    match registry::recognise(input).map(dialect::Dialect::as_str) {
        Some("sacct") if is_json => "sacct json",
        Some("sacct") if gridtally::sources::hints::SacctHeader::find(input).is_none() => "sacct headerless",
        Some("apel") if is_json => "apel json",
        Some("apel") if is_xml => "apel xml",
        Some("apel") if has("APEL-sync-message") => "apel sync",
        Some("apel") if has("summary") => "apel summaries",
        Some("gracc") if is_xml => "gratia xml",
        Some("gracc") if has("\"Count\"") => "gracc summaries",
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
                // A line that continues: its indentation is not text.
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
