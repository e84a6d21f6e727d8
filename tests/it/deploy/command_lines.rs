//! Command lines of the files: every option in them is one that the program has.

use clap::CommandFactory as _;

use super::site::deployed;

/// How a file has its command lines.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    /// As in a shell: the program and its words, up to the end of the line or a redirection.
    AsShell,
    /// The same in strings of Python, which may continue in the next line.
    InPython,
    /// A service of systemd, with the options of its environment file.
    AsService,
    /// `args:` of a container, a list.
    AsArgs,
    /// `arguments =` of a submit file.
    AsArguments,
    /// `command="..."` of a DAG.
    AsVars,
    /// The list of options that the asset of Dagster sets, and those that its launcher adds.
    AsOptions,
    /// None, or some that a test of its own runs.
    Nowhere,
}

/// Every file, and how many command lines it has.
pub(super) const FILES: [(&str, Written, usize); 18] = [
    ("airflow/gridtally_nightly.py", Written::InPython, 2),
    ("container/Containerfile", Written::Nowhere, 0),
    ("cron/gridtally", Written::AsShell, 1),
    ("dagster/gridtally_assets.py", Written::AsOptions, 1),
    ("dagster/gridtally_pipes.py", Written::Nowhere, 0),
    ("debian/build", Written::Nowhere, 0),
    ("htcondor/gridtally.dag", Written::AsVars, 3),
    ("htcondor/gridtally.sub", Written::AsArguments, 1),
    ("kubernetes/cronjob.yaml", Written::AsArgs, 1),
    ("slurm/gridtally.sbatch", Written::AsShell, 1),
    ("slurm/scrontab", Written::AsShell, 1),
    ("systemd/gridtally-failure@.service", Written::AsShell, 1),
    ("systemd/gridtally.sysusers", Written::Nowhere, 0),
    ("systemd/gridtally.tmpfiles", Written::Nowhere, 0),
    ("systemd/gridtally@.service", Written::AsService, 1),
    ("systemd/gridtally@.timer", Written::Nowhere, 0),
    ("systemd/on-failure", Written::Nowhere, 0),
    ("systemd/site.env", Written::Nowhere, 0),
];

const PROGRAM: &str = "/usr/bin/gridtally ";

/// Words up to a redirection or the end of the quotation that they are in. A variable with a default is its default.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        if word.starts_with(['>', '|', ';', '&', '#']) {
            break;
        }
        let bare = word.trim_matches(['"', '\'', ',']);
        let value = bare.split_once(":-").map(|(_, rest)| rest.replacen('}', "", 1));
        words.push(value.unwrap_or_else(|| bare.to_owned()));
        if word.len() > 1 && !word.starts_with('"') && word.trim_end_matches(',').ends_with('"') {
            break;
        }
    }
    words
}

/// The words after each mention of the program.
fn after_program(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let found = lines.filter_map(|line| line.split_once(PROGRAM));
    found.map(|(_, rest)| shell_words(rest)).collect()
}

/// What follows `name =` in the first line that sets it.
pub(super) fn setting<'a>(text: &'a str, name: &str) -> &'a str {
    let set = |line: &'a str| Some(line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim());
    text.lines()
        .find_map(set)
        .unwrap_or_else(|| panic!("nothing sets {name}"))
}

/// A list of strings, such as JSON, YAML and Python write it.
fn list(text: &str, head: &str) -> Vec<String> {
    let (_, rest) = text.split_once(head).unwrap_or_else(|| panic!("no {head}"));
    let (inside, _) = rest.split_once(']').unwrap();
    serde_json::from_str(&format!("[{inside}]")).unwrap()
}

/// The options of the environment file of the service.
pub(super) fn run_options() -> Vec<String> {
    shell_words(setting(&deployed("systemd/site.env"), "GRIDTALLY_RUN_OPTIONS").trim_matches('"'))
}

/// The command lines of a file, each without the program.
fn command_lines(text: &str, written: Written) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    match written {
        Written::Nowhere => Vec::new(),
        Written::AsShell => after_program(&joined),
        Written::InPython => {
            let parts = joined.lines().map(str::trim);
            let mut whole = String::new();
            // A string that continues: its end, and the beginning of the next.
            for line in parts {
                let continued = line.strip_prefix("f\"").or_else(|| line.strip_prefix("\" "));
                match continued {
                    Some(rest) if whole.ends_with("\"\n") => {
                        whole.truncate(whole.len() - 2);
                        whole.push_str(rest);
                    }
                    _ => whole.push_str(line),
                }
                whole.push('\n');
            }
            after_program(&whole.replace("{UNCHANGED}", setting(text, "UNCHANGED")))
        }
        Written::AsService => {
            let mut lines = after_program(&joined);
            for line in &mut lines {
                let at = line.iter().position(|word| word == "$GRIDTALLY_RUN_OPTIONS").unwrap();
                line.splice(at..=at, run_options());
            }
            lines
        }
        Written::AsArgs => vec![list(&joined, "args: [")],
        Written::AsArguments => vec![shell_words(setting(&joined, "arguments"))],
        Written::AsVars => {
            let vars = joined.lines().filter_map(|line| line.split_once("command=\""));
            vars.map(|(_, rest)| shell_words(rest.strip_suffix('"').unwrap()))
                .collect()
        }
        Written::AsOptions => {
            let mut line = vec!["run".to_owned(), "/etc/gridtally/site.toml".to_owned()];
            line.extend(list(&joined, "options = ["));
            vec![line]
        }
    }
}

/// What the program has against a command line.
fn refusal(words: &[String]) -> Option<String> {
    let line = std::iter::once("gridtally").chain(words.iter().map(String::as_str));
    let refused = gridtally::cli::Cli::command().try_get_matches_from(line).err()?;
    Some(format!("{words:?}: {refused}"))
}

#[test]
fn every_command_line_is_one_of_the_program() {
    let mut wrong = Vec::new();
    for (file, written, expected_n) in FILES {
        let lines = command_lines(&deployed(file), written);
        assert_eq!(lines.len(), expected_n, "{file}: {lines:?}");
        wrong.extend(
            lines
                .iter()
                .filter_map(|words| Some(format!("{file}: {}", refusal(words)?))),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same with every option renamed: no file passes that has one.
#[test]
fn an_option_that_the_program_does_not_have_is_found() {
    for (file, written, expected_n) in FILES {
        let renamed = deployed(file)
            .replace(" --", " --former-")
            .replace("\"--", "\"--former-");
        let lines = command_lines(&renamed, written);
        assert_eq!(lines.len(), expected_n, "{file}");
        for words in lines {
            let has_option = words.iter().any(|word| word.starts_with("--"));
            assert_eq!(refusal(&words).is_some(), has_option, "{file}: {words:?}");
        }
    }
    assert!(refusal(&["runn".to_owned(), "site.toml".to_owned()]).is_some());
}
