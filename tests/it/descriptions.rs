//! The descriptions of pipeline and policy files hold what their readers take, and their JSON Schemas accept what ships.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gridtally::charge::description::policy_file;
use gridtally::config::description::pipeline_file;
use gridtally::diagnostics::description::{SectionDescription, ValueForm};
use serde_json::{Value, json};

use crate::inspect::gridtally;
use crate::support::sample::repository;

/// A table of a described file: the headers that lead to it, and what it is.
struct DescribedTable<'a> {
    headers: String,
    section: &'a SectionDescription,
}

/// Every table of a file, the file itself first.
fn places<'a>(section: &'a SectionDescription, path: &str, headers: &str, found: &mut Vec<DescribedTable<'a>>) {
    found.push(DescribedTable {
        headers: headers.to_owned(),
        section,
    });
    for key in &section.keys {
        let path = if path.is_empty() {
            key.name.to_owned()
        } else {
            format!("{path}.{}", key.name)
        };
        let forms = match &key.form {
            ValueForm::OneOf(forms) => forms.iter().collect(),
            form => vec![form],
        };
        for form in forms {
            match form {
                ValueForm::Section(inner) => places(inner, &path, &format!("{headers}[{path}]\n"), found),
                ValueForm::Sections(inner) => places(inner, &path, &format!("{headers}[[{path}]]\n"), found),
                _ => {}
            }
        }
    }
}

/// What the program prints of a file that is wrong.
fn reported(command: &[&str], text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file.toml"), text).unwrap();
    let output = gridtally(dir.path(), &[command, &["file.toml"]].concat());
    assert!(!output.status.success(), "{text}");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// The list behind some words of the line that has `start`.
fn listed(reported: &str, start: &str, words: &str) -> Option<BTreeSet<String>> {
    let line = reported.lines().find(|line| line.contains(start))?;
    let (_, list) = line.split_once(words)?;
    let plain = list.replace('"', "");
    Some(plain.split(", ").map(|word| word.trim().to_owned()).collect())
}

/// A kind of file: its description, its reader, and the text before a table that is tried.
struct DescribedFile {
    description: SectionDescription,
    command: &'static [&'static str],
    head: &'static str,
}

fn files() -> [DescribedFile; 2] {
    [
        DescribedFile {
            description: pipeline_file(),
            command: &["check"],
            head: "",
        },
        DescribedFile {
            description: policy_file(),
            command: &["policy", "test"],
            // Examples are read of policies that are whole.
            head: "id = \"a\"\nversion = \"1\"\ntitle = \"t\"\nsource = \"s\"\npool = \"p\"\nunit = \"u\"\nformula = \"cores\"\n",
        },
    ]
}

/// Keys without which a reader does not come to `key`.
fn companions(key: &str) -> &'static str {
    match key {
        "level" => "topology = \"resources.csv\"\n",
        "times" => "benchmark = \"si00\"\nvalue = 1000\n",
        _ => "",
    }
}

#[test]
fn every_table_is_described_with_the_keys_its_reader_takes() {
    for file in files() {
        let mut found = Vec::new();
        places(&file.description, "", "", &mut found);
        for place in found {
            let reported = reported(file.command, &format!("{}{}zz = 1\n", file.head, place.headers));
            let keys: BTreeSet<String> = place.section.keys.iter().map(|key| key.name.to_owned()).collect();
            let known = listed(&reported, "unknown key \"zz\"", "; known are ");
            assert_eq!(known, Some(keys), "{}: {reported}", place.section.title);
        }
    }
}

#[test]
fn every_word_of_a_closed_list_is_described() {
    let mut n = 0;
    for file in files() {
        let mut found = Vec::new();
        places(&file.description, "", "", &mut found);
        for place in found {
            for key in &place.section.keys {
                let ValueForm::Words(words) = &key.form else { continue };
                let before = format!("{}{}{}", file.head, place.headers, companions(key.name));
                let reported = reported(file.command, &format!("{before}{} = \"zz\"\n", key.name));
                let words: BTreeSet<String> = words.iter().map(|word| (*word).to_owned()).collect();
                let known = listed(&reported, &format!("{} = \"zz\"", key.name), "is not one of ");
                assert_eq!(known, Some(words), "{} {}: {reported}", place.section.title, key.name);
                n += 1;
            }
        }
    }
    assert!(n > 20, "{n} lists");
}

/// What is wrong with a value by the part of JSON Schema that the descriptions use.
fn faults(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (word, rule) in schema.as_object().unwrap() {
        match word.as_str() {
            "$schema" | "$id" | "title" | "description" => {}
            "type" => {
                let is_right = match rule.as_str().unwrap() {
                    "string" => value.is_string(),
                    "integer" => value.is_i64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("type {other}"),
                };
                if !is_right {
                    found.push(format!("{at} is not of type {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().unwrap().contains(value) {
                    found.push(format!("{at} is not one of {rule}"));
                }
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults(rule, item, &format!("{at}[{n}]"), found);
                }
            }
            "required" => {
                for name in rule.as_array().unwrap().iter().filter_map(Value::as_str) {
                    if value.get(name).is_none() {
                        found.push(format!("{at} has no {name}"));
                    }
                }
            }
            "properties" | "additionalProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let own = schema.get("properties").and_then(|properties| properties.get(name));
                    let at = format!("{at}.{name}");
                    match (own, word.as_str(), rule) {
                        (Some(own), "properties", _) => faults(own, inner, &at, found),
                        (None, "additionalProperties", Value::Bool(false)) => found.push(format!("{at} is unknown")),
                        (None, "additionalProperties", rule) => faults(rule, inner, &at, found),
                        _ => {}
                    }
                }
            }
            "anyOf" => {
                let fits = rule.as_array().unwrap().iter().any(|schema| {
                    let mut wrong = Vec::new();
                    faults(schema, value, at, &mut wrong);
                    wrong.is_empty()
                });
                if !fits {
                    found.push(format!("{at} has none of its forms"));
                }
            }
            other => panic!("the schema has {other}, which this test does not know"),
        }
    }
}

/// A TOML value as JSON: dates are texts.
fn as_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::Datetime(day) => json!(day.to_string()),
        toml::Value::Table(table) => table
            .iter()
            .map(|(name, value)| (name.clone(), as_json(value)))
            .collect(),
        toml::Value::Array(items) => items.iter().map(as_json).collect(),
        other => serde_json::to_value(other).unwrap(),
    }
}

pub(crate) fn wrong_in(file: &SectionDescription, text: &str) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).unwrap();
    let mut found = Vec::new();
    faults(
        &file.json_schema("test"),
        &as_json(&toml::Value::Table(table)),
        "file",
        &mut found,
    );
    found
}

fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect()
}

#[test]
fn shipped_files_are_valid_by_the_schemas_and_unknown_keys_are_not() {
    for (file, folder) in [(pipeline_file(), "pipelines"), (policy_file(), "pipelines/policies")] {
        let paths = toml_files(&repository(folder));
        assert!(!paths.is_empty());
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(wrong_in(&file, &text), Vec::<String>::new(), "{}", path.display());
            let odd = format!("zz = 1\n{text}");
            assert_eq!(wrong_in(&file, &odd), ["file.zz is unknown"], "{}", path.display());
        }
    }
    let odd = "[pipeline]\nname = \"a\"\noutput = \"o\"\n[[source]]\nname = \"s\"\nformat = \"sact\"\npaths = [\"p\"]\nsites = \"x\"\n";
    let found = wrong_in(&pipeline_file(), odd).join("\n");
    assert!(found.contains("file.source[0].format is not one of"), "{found}");
    assert!(found.contains("file.source[0].sites is unknown"), "{found}");
}

#[test]
fn the_published_schemas_are_those_of_the_program() {
    for name in ["pipeline", "policy"] {
        let output = gridtally(&repository("."), &["schema", "--json-schema", name]);
        let made = String::from_utf8(output.stdout).unwrap();
        let path = repository("docs/schema").join(format!("{name}.schema.json"));
        if std::env::var_os("UPDATE_README").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &made).unwrap();
        }
        let stands = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            stands,
            made,
            "UPDATE_README=1 cargo test descriptions writes {}",
            path.display()
        );
    }
}

#[test]
fn an_unknown_key_or_word_suggests_the_nearest() {
    for (command, text, hint) in [
        ("check", "[pipelin]\n", "did you mean \"pipeline\"?"),
        ("check", "[pipeline]\noutptu = \"o\"\n", "did you mean \"output\"?"),
        ("check", "[pipeline]\ngrain = \"moth\"\n", "did you mean \"month\"?"),
        ("check", "[[source]]\nformat = \"sact\"\n", "did you mean \"sacct\"?"),
        (
            "check",
            "[[source]]\nsite = { colum = \"cluster\" }\n",
            "did you mean \"column\"?",
        ),
        (
            "check",
            "[[overhead.unit]]\npreset = \"osg-gpus\"\n",
            "did you mean \"osg-gpu\"?",
        ),
    ] {
        let reported = reported(&[command], text);
        assert!(reported.contains(hint), "{text}: {reported}");
    }
}
