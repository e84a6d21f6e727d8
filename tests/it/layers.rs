//! The rooms of the house: in which order they stand, and that no file knows a later one.

mod circles;
mod imports;
mod signatures;
mod tokens;

use std::collections::BTreeSet;

use imports::Crate;
use signatures::{parameters, tuple_aliases};

/// Every folder and file directly under `src`, in order: each imports only from those before it. `lib.rs` declares the
/// rooms and `main.rs` calls the last one.
pub(crate) const ROOMS: [&str; 48] = [
    "display_text",
    "error",
    "numbers",
    "amounts",
    "absent",
    "leb128",
    "byte_order_mark",
    "lines",
    "short_texts",
    "small_file",
    "time",
    "schema",
    "hive",
    "diagnostics",
    "expr",
    "runtime",
    "ledger",
    "record",
    "reference",
    "privacy",
    "store",
    "occupancy",
    "sources",
    "dedupe",
    "normalise",
    "energy",
    "charge",
    "capacity",
    "award",
    "fairshare",
    "simulate",
    "summarise",
    "config",
    "lake",
    "ingest",
    "shard",
    "overhead",
    "share_history",
    "simulation",
    "run",
    "submit",
    "inspect",
    "report",
    "monitor",
    "compat",
    "audit",
    "cli",
    "lib",
];

/// The longest circle of files there may be.
const LONGEST_CIRCLE: usize = 4;

/// The tuples that functions do take, and why: each is a key with its value, as whoever hands it over has it.
const PAIRS: [(&str, &str); 24] = [
    ("charge/facts.rs: of_example(gpus)", GPUS),
    ("dedupe/named_amounts.rs: push(named)", AMOUNTS),
    ("sources/sacct/tres.rs: borrowed(named)", AMOUNTS),
    ("dedupe/columns.rs: finish_packed(into)", ARROW),
    ("dedupe/packed/kind.rs: batch(columns)", ARROW),
    ("summarise/charges/columns.rs: job_charges(made)", ARROW),
    ("dedupe/merge.rs: pick_fresh(rows)", INTERLEAVE),
    ("dedupe/merge.rs: pick(rows)", INTERLEAVE),
    ("diagnostics/description.rs: words(list)", WORDS),
    ("diagnostics/section.rs: word(words)", WORDS),
    ("diagnostics/section.rs: word_or_alias(words)", WORDS),
    ("diagnostics/section.rs: word_or_alias(aliases)", WORDS),
    ("config/source_key.rs: word(words)", WORDS),
    ("sources/apel/duration.rs: part(units)", WORDS),
    ("cli/report/fairshare_rule.rs: word(words)", WORDS),
    ("report/what_if/assumptions.rs: word(words)", WORDS),
    (
        "award/use_rows.rs: array(rows)",
        "keys of groups and what each adds up to",
    ),
    (
        "report/table.rs: new(columns)",
        "the name, unit and kind of columns, written out one a line",
    ),
    ("expr/evaluate.rs: evaluate(formulas)", NAMED),
    ("reference/correction.rs: add_kept(signed)", NAMED),
    ("sources/gracc/document.rs: of(fields)", NAMED),
    ("store/connect.rs: options(variables)", VARIABLES),
    ("run/partition_tables.rs: finish(provenance)", FOOTER),
    ("store/lake.rs: finish(provenance)", FOOTER),
];
const FOOTER: &str = "keys and values of the footer of a Parquet file";
const GPUS: &str = "models of GPUs and how many there are of each";
const AMOUNTS: &str = "names of resources and how much there is of each";
const ARROW: &str = "columns as Arrow makes batches of them";
const INTERLEAVE: &str = "places of rows as Arrow interleaves them";
const WORDS: &str = "words and what each stands for, written out as a table";
const NAMED: &str = "names of fields and what they hold";
const VARIABLES: &str = "variables of the environment as the standard library has them";

/// Place of a room in the order.
fn place(room: &str) -> Option<usize> {
    ROOMS.iter().position(|known| *known == room)
}

/// Every import of a later room, as `file:line: path`.
fn upward(house: &Crate) -> Vec<String> {
    let mut found = Vec::new();
    for file in house.files() {
        let Some(here) = place(file.room()) else {
            found.push(format!("{}: its room is not listed", file.path));
            continue;
        };
        for import in house.imports(file) {
            let room = import.path.first().map(String::as_str).unwrap_or_default();
            match place(room) {
                Some(there) if there <= here => {}
                Some(_) => found.push(format!("{}:{}: {}", file.path, import.line, import.path.join("::"))),
                None => found.push(format!("{}:{}: {room} is not a room", file.path, import.line)),
            }
        }
    }
    found
}

#[test]
fn rooms_import_only_from_the_rooms_before_them() {
    let house = Crate::read();
    let found = upward(&house);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_room_is_listed_once_and_exists() {
    let house = Crate::read();
    let there: BTreeSet<&str> = house.files().map(imports::File::room).collect();
    assert_eq!(there, ROOMS.into_iter().collect::<BTreeSet<_>>());
    assert_eq!(there.len(), ROOMS.len());
}

#[test]
fn an_upward_import_is_found_in_every_room_and_spelling() {
    let house = Crate::read();
    for (here, room) in ROOMS.iter().enumerate().take(ROOMS.len() - 2) {
        let later = ROOMS[here + 1];
        for text in [
            format!("use crate::{later}::Planted;"),
            format!("use crate::{{\n    display_text::line,\n    {later}::{{inner::{{Deep, Planted}}, self}},\n}};"),
            format!("use super::super::{later} as other;"),
            format!("pub fn f() -> u8 {{ println!(\"{{}}\", crate::{later}::value()); 0 }}"),
            format!("use crate as house;\nfn f() {{ house::{later}::value(); }}"),
        ] {
            let planted = house.with(&format!("{room}/planted.rs"), &text);
            let found = upward(&planted);
            assert!(!found.is_empty(), "{room} may import {later}: {text}");
            assert!(found.iter().all(|line| line.contains("planted.rs")), "{found:?}");
        }
    }
}

#[test]
fn circles_of_files_are_short() {
    let house = Crate::read();
    let long: Vec<String> = circles::circles(&house)
        .into_iter()
        .filter(|circle| {
            circle.len() > LONGEST_CIRCLE || circle.iter().any(|file| room_of(file) != room_of(&circle[0]))
        })
        .map(|circle| format!("{} files: {}", circle.len(), circle.join(", ")))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

fn room_of(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

#[test]
fn a_circle_of_files_is_found() {
    let house = Crate::read()
        .with("time/one.rs", "use super::two::Two; pub struct One;")
        .with("time/two.rs", "pub use super::three::Three as Other; pub struct Two;")
        .with("time/three.rs", "pub struct Three(super::one::One);");
    let circle = ["time::one", "time::three", "time::two"].map(str::to_owned);
    assert!(circles::circles(&house).contains(&circle.to_vec()));
}

/// Every parameter whose type is, holds or refers to a tuple, also by an alias, as `file: function(parameter)`.
fn tuples(path: &str, text: &str, aliases: &BTreeSet<String>) -> Vec<String> {
    let tuples = parameters(text).into_iter().filter(|of| of.has_tuple(aliases));
    tuples
        .map(|of| format!("{path}: {}({})", of.function, of.name.trim_start_matches("mut ")))
        .collect()
}

#[test]
fn functions_take_no_tuples() {
    let house = Crate::read();
    let aliases = tuple_aliases(house.files().map(|file| file.text.as_str()));
    let found: Vec<String> = (house.files())
        .flat_map(|file| tuples(&file.path, &file.text, &aliases))
        .collect();
    let is_pair = |place: &&String| PAIRS.iter().any(|(pair, _)| pair == place);
    let (pairs, others): (Vec<&String>, Vec<&String>) = found.iter().partition(is_pair);
    assert!(
        others.is_empty(),
        "name what belongs together, or take it one by one: {others:#?}"
    );
    for (pair, why) in PAIRS {
        assert!(
            pairs.iter().any(|place| *place == pair),
            "{pair} ({why}) is no longer there"
        );
    }
}

#[test]
fn a_tuple_that_a_function_takes_is_found_in_every_spelling() {
    let taken = [
        "(a, b): (u8, u8)",
        "pair: (u8, u8)",
        "pair: &(u8, u8)",
        "pair: &mut (u8, u8)",
        "pair: &'a (u8, u8)",
        "pair: Option<(u8, u8)>",
        "pairs: &[(u8, u8)]",
        "pairs: &[((u8, u8), u8)]",
        "pairs: [(u8, u8); 4]",
        "pairs: Vec<(u8, BTreeMap<u8, u8>)>",
        "pairs: &BTreeMap<(u8, u8), u8>",
        "pairs: impl Iterator<Item = (u8, u8)>",
        "each: impl Fn(u8) -> u8, pair: (u8, u8)",
        "map: Map<fn(u8) -> u8, (u8, u8)>",
    ];
    for parameters in taken {
        for text in [
            format!("pub fn f<'a>(first: u8, {parameters}) {{}}"),
            format!("impl<T: Fn(u8) -> u8> Of<T> {{ fn f<F: Fn((u8, u8)) -> (u8, u8)>(&mut self, {parameters}); }}"),
            format!("mod inner {{ trait Of {{ fn f(#[cfg(unix)] {parameters}) -> u8; }} }}"),
        ] {
            let found = tuples("planted.rs", &text, &BTreeSet::new());
            assert!(
                found.len() == 1 && found[0].starts_with("planted.rs: f("),
                "{text}: {found:?}"
            );
        }
    }
    let not_taken = [
        "one: u8, other: u8",
        "map: &BTreeMap<u8, u8>",
        "array: [u8; 2]",
        "unit: Result<()>",
        "each: impl Fn((u8, u8), u8) -> (u8, u8)",
        "each: &mut dyn FnMut(&(u8, u8)) -> Result<(u8, u8)>",
        "each: impl Fn(u8) -> Result<(u8, u8)> + Sync",
        "each: fn(u8, u8)",
    ];
    for parameters in not_taken {
        let text = format!("fn f({parameters}) -> (u8, u8) {{ let g = |(a, b): (u8, u8)| a; (1, 2) }}");
        assert!(tuples("planted.rs", &text, &BTreeSet::new()).is_empty(), "{text}");
    }
}

#[test]
fn a_tuple_behind_an_alias_of_another_file_is_found() {
    let aliases = [
        "type Planted = (u8, u8);",
        "/// Words.\npub(crate) type Planted<'a> = (\n    &'a str,\n    [u8; 4],\n);",
        "pub type Planted = BTreeMap<(u8, u8), u8>;",
        "pub type Planted = Option<[(u8, u8); 2]>;",
        "type Other = (u8, u8); mod inner { pub type Planted = Vec<super::Other>; }",
        "pub type Planted = Vec<Third>; type Third = Other; type Other = (u8, u8);",
        "type Other = (u8, u8); use crate::inner::Other as Planted;",
        "fn g() -> impl Fn(u8) -> u8 { type Planted = (u8, u8); }",
    ];
    let taken = [
        "pair: Planted",
        "pair: &inner::Planted<'_>",
        "pair: Option<&mut Planted>",
        "pair: &[Planted]",
        "pair: BTreeMap<Planted, Vec<u8>>",
        "pair: Box<dyn Of<Planted>>",
    ];
    for alias in aliases {
        let known = tuple_aliases([alias, "struct Kept;"]);
        for parameter in taken {
            let text = format!("impl Of for Kept {{ fn f(&self, first: u8, {parameter}) {{}} }}");
            let found = tuples("taking.rs", &text, &known);
            assert_eq!(found, ["taking.rs: f(pair)"], "{alias} {text}");
        }
    }
    let others = [
        "type Planted = u8; type Other = (u8, u8);",
        "type Planted = fn((u8, u8)) -> (u8, u8);",
        "type Planted<'a> = dyn FnMut(&(u8, u8), u8) -> Result<()> + 'a;",
        "impl Iterator for Kept { type Planted = (u8, u8); fn f() {} }",
        "trait Of { type Planted: Into<(u8, u8)>; }",
        "struct Planted((u8, u8));",
        "fn g() { h((1, 2), 3) as Planted; (1, 2) as Planted }",
    ];
    for other in others {
        let known = tuple_aliases([other]);
        assert!(
            tuples("taking.rs", "fn f(pair: Planted) {}", &known).is_empty(),
            "{other}"
        );
    }
}
