//! Options of all commands: one name means one thing.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgAction, Command, CommandFactory};
use gridtally::cli::Cli;

/// What an option is to somebody who reads the help.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    /// Type of its value.
    value: String,
    /// What stands for the value.
    name: String,
    /// Whether it may be given several times.
    is_list: bool,
    /// The first sentence of its help.
    expected: String,
}

impl Meaning {
    fn of(option: &Arg) -> Self {
        let names = option.get_value_names().unwrap_or_default();
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let sentence = help.split(['.', ';', ':']).next().unwrap_or_default();
        Self {
            value: format!("{:?}", option.get_value_parser().type_id()),
            name: names
                .iter()
                .map(clap::builder::Str::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            is_list: matches!(option.get_action(), ArgAction::Append | ArgAction::Count),
            expected: sentence.to_owned(),
        }
    }
}

/// Options that are different things in commands nobody takes for one another.
const EXCEPTIONS: [(&str, &str); 6] = [
    (
        "for",
        "programs that read balances, awards or shares, each of them others",
    ),
    ("from", "a month or a day; a month where whole ones are read"),
    ("reason", "why a month is locked; why a row was refused"),
    ("table", "tables of overhead or of a what-if, each of them others"),
    ("to", "as from"),
    (
        "users",
        "what becomes of names that leave the house; whether a table for the house names anybody",
    ),
];

/// Every option of a command and of those below it: the command, and what it means there.
fn options(command: &Command, path: &str, into: &mut BTreeMap<String, Vec<(String, Meaning)>>) {
    for option in command.get_arguments() {
        let Some(long) = option.get_long() else { continue };
        assert!(option.get_help().is_some(), "{path} --{long} has no help");
        let of = into.entry(long.to_owned()).or_default();
        of.push((path.to_owned(), Meaning::of(option)));
    }
    for below in command.get_subcommands() {
        options(below, &format!("{path} {}", below.get_name()), into);
    }
}

#[test]
fn an_option_means_one_thing_in_all_commands() {
    let mut all = BTreeMap::new();
    options(&Cli::command(), "gridtally", &mut all);
    for name in ["report", "format", "from", "to", "site", "vo"] {
        assert!(all.contains_key(name), "{name}");
    }
    let mut odd = Vec::new();
    for (name, uses) in &all {
        let meanings: BTreeSet<&Meaning> = uses.iter().map(|(_, meaning)| meaning).collect();
        let is_exception = EXCEPTIONS.iter().any(|(exception, _)| exception == name);
        assert!(
            meanings.len() > 1 || !is_exception,
            "--{name} is not an exception any more"
        );
        if meanings.len() > 1 && !is_exception {
            odd.push(format!("--{name}:\n{uses:#?}"));
        }
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}
