//! One table of a TOML file: typed access that remembers the line of every value it returns.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Problems, did_you_mean};
use crate::hive::check_value;
use crate::numbers::Extent;

/// The text of a file, for turning byte offsets into lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionSource<'a> {
    /// The name of the file as problems show it.
    pub(crate) file: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
}

impl SectionSource<'_> {
    /// The 1-based line of a byte offset.
    pub(crate) fn line(self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        memchr::memchr_iter(b'\n', before).count() + 1
    }
}

/// Ends a text for the system: no path has it, and no name.
const NUL: char = '\0';

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its 1-based line.
    pub line: usize,
}

/// A table whose keys are known.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    source: SectionSource<'a>,
    table: &'a DeTable<'a>,
    title: &'a str,
    line: usize,
}

impl<'a> Section<'a> {
    /// Opens a table and reports every key it should not have.
    pub(crate) fn open(
        source: SectionSource<'a>,
        table: &'a DeTable<'a>,
        title: &'a str,
        line: usize,
        known: &[&str],
        problems: &mut Problems,
    ) -> Self {
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let mut hint = did_you_mean(name, known.iter().copied());
                if hint.is_empty() {
                    hint = format!("; known are {}", known.join(", "));
                }
                let at = source.line(key.span().start);
                problems.mistake(source.file, at, format!("unknown key \"{name}\" in {title}{hint}"));
            }
        }
        Self {
            source,
            table,
            title,
            line,
        }
    }

    /// The line of the table itself.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// The value of a key with its line.
    pub(crate) fn get(&self, key: &str) -> Option<(&'a DeValue<'a>, usize)> {
        let (name, value) = self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some((value.get_ref(), self.source.line(name.span().start)))
    }

    /// Whether the key is there, right or wrong.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Reports a mistake on a line of this file.
    pub(crate) fn wrong(&self, line: usize, message: impl Into<String>, problems: &mut Problems) {
        problems.mistake(self.source.file, line, message);
    }

    /// Warns of a line of this file.
    pub(crate) fn warn(&self, line: usize, message: impl Into<String>, problems: &mut Problems) {
        problems.warning(self.source.file, line, message);
    }

    /// A text that must not be empty, if the key is there.
    pub(crate) fn text(&self, key: &str, problems: &mut Problems) -> Option<At<String>> {
        let (value, line) = self.get(key)?;
        let Some(text) = value.as_str() else {
            let found = kind(value);
            self.wrong(line, format!("{key} must be a text in quotes, not {found}"), problems);
            return None;
        };
        if text.trim().is_empty() {
            self.wrong(line, format!("{key} must not be empty"), problems);
            return None;
        }
        if text.contains(NUL) {
            self.wrong(line, format!("{key} = {text:?} holds a NUL character"), problems);
            return None;
        }
        Some(At {
            value: text.to_owned(),
            line,
        })
    }

    /// A text that must be there.
    pub(crate) fn required_text(&self, key: &str, what: &str, problems: &mut Problems) -> Option<At<String>> {
        if !self.has(key) {
            let title = self.title;
            self.wrong(self.line, format!("{title} has no {key} ({what})"), problems);
        }
        self.text(key, problems)
    }

    /// A text that names a folder of the lake: a mistake where it is too long for one, or more than a line.
    pub(crate) fn folder_name(&self, key: &str, problems: &mut Problems) -> Option<At<String>> {
        let text = self.text(key, problems)?;
        let text = self.in_one_line(key, text, problems)?;
        match check_value(key, &text.value) {
            Ok(()) => Some(text),
            Err(why) => {
                self.wrong(text.line, why, problems);
                None
            }
        }
    }

    /// The name of a thing, which stands in a line of messages and reports, and must be there.
    pub(crate) fn required_name(&self, key: &str, what: &str, problems: &mut Problems) -> Option<At<String>> {
        let text = self.required_text(key, what, problems)?;
        self.in_one_line(key, text, problems)
    }

    /// A text without control characters, such as line breaks.
    fn in_one_line(&self, key: &str, text: At<String>, problems: &mut Problems) -> Option<At<String>> {
        if text.value.chars().any(char::is_control) {
            let message = format!(
                "{key} = {:?} holds a line break or another control character",
                text.value
            );
            self.wrong(text.line, message, problems);
            return None;
        }
        Some(text)
    }

    /// As [`Self::folder_name`], of a key that must be there.
    pub(crate) fn required_folder_name(&self, key: &str, what: &str, problems: &mut Problems) -> Option<At<String>> {
        if self.has(key) {
            self.folder_name(key, problems)
        } else {
            self.required_text(key, what, problems)
        }
    }

    /// One word of a closed list.
    pub(crate) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)], problems: &mut Problems) -> Option<At<T>> {
        self.word_or_alias(key, words, &[], problems)
    }

    /// One word of a closed list, whose words people call by other names: pairs of such a name and the word to suggest.
    pub(crate) fn word_or_alias<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        aliases: &[(&str, &str)],
        problems: &mut Problems,
    ) -> Option<At<T>> {
        let text = self.text(key, problems)?;
        let found = words.iter().find(|(word, _)| *word == text.value);
        let Some(&(_, value)) = found else {
            let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            let lower = text.value.to_lowercase();
            let alias = aliases
                .iter()
                .find(|(alias, word)| *alias == lower && known.contains(word));
            let hint = alias.map_or_else(
                || did_you_mean(&text.value, known.iter().copied()),
                |(_, word)| format!(", did you mean \"{word}\"?"),
            );
            let list = known.join("\", \"");
            let message = format!("{key} = \"{}\" is not one of \"{list}\"{hint}", text.value);
            self.wrong(text.line, message, problems);
            return None;
        };
        Some(At { value, line: text.line })
    }

    /// A list of texts that must not be empty.
    pub(crate) fn texts(&self, key: &str, problems: &mut Problems) -> Option<At<Vec<At<String>>>> {
        let (value, line) = self.get(key)?;
        let Some(array) = value.as_array() else {
            let found = kind(value);
            self.wrong(line, format!("{key} must be a list of texts, not {found}"), problems);
            return None;
        };
        let mut texts = Vec::new();
        for item in array {
            let line = self.source.line(item.span().start);
            match item.get_ref().as_str() {
                Some(text) if text.contains(NUL) => {
                    self.wrong(
                        line,
                        format!("{key} holds {text:?}, which has a NUL character"),
                        problems,
                    );
                }
                Some(text) if !text.trim().is_empty() => texts.push(At {
                    value: text.to_owned(),
                    line,
                }),
                Some(_) => self.wrong(line, format!("{key} holds an empty text"), problems),
                None => {
                    let found = kind(item.get_ref());
                    self.wrong(line, format!("{key} must hold texts only, not {found}"), problems);
                }
            }
        }
        if array.is_empty() {
            self.wrong(line, format!("{key} is empty"), problems);
        }
        Some(At { value: texts, line })
    }

    /// A table inside this one.
    pub(crate) fn section(
        &self,
        key: &str,
        title: &'a str,
        known: &[&str],
        problems: &mut Problems,
    ) -> Option<Section<'a>> {
        let (value, line) = self.get(key)?;
        let Some(table) = value.as_table() else {
            let found = kind(value);
            self.wrong(line, format!("{key} must be a table, not {found}"), problems);
            return None;
        };
        Some(Section::open(self.source, table, title, line, known, problems))
    }

    /// A table inside this one whose keys are names the writer chose.
    pub(crate) fn free_section(&self, key: &str, title: &'a str, problems: &mut Problems) -> Option<Section<'a>> {
        let (value, line) = self.get(key)?;
        let Some(table) = value.as_table() else {
            let found = kind(value);
            self.wrong(line, format!("{key} must be a table, not {found}"), problems);
            return None;
        };
        let source = self.source;
        Some(Section {
            source,
            table,
            title,
            line,
        })
    }

    /// Every key with its value and line, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(&'a str, &'a DeValue<'a>, usize)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(name, value)| (name.get_ref().as_ref(), value.get_ref(), name.span().start))
            .collect();
        entries.sort_by_key(|(_, _, start)| *start);
        let line = |(name, value, start)| (name, value, self.source.line(start));
        entries.into_iter().map(line).collect()
    }

    /// The line of a value inside this table.
    pub(crate) fn line_of(&self, value: &Spanned<DeValue<'_>>) -> usize {
        self.source.line(value.span().start)
    }

    /// The tables of `[[key]]`.
    pub(crate) fn sections(
        &self,
        key: &str,
        title: &'a str,
        known: &[&str],
        problems: &mut Problems,
    ) -> Vec<Section<'a>> {
        let Some((value, line)) = self.get(key) else {
            return Vec::new();
        };
        let Some(array) = value.as_array() else {
            self.wrong(line, format!("write [[{key}]], with two brackets"), problems);
            return Vec::new();
        };
        let mut sections = Vec::new();
        for item in array {
            let line = self.source.line(item.span().start);
            if let Some(table) = item.get_ref().as_table() {
                sections.push(Section::open(self.source, table, title, line, known, problems));
            } else {
                self.wrong(line, format!("{key} must hold tables only"), problems);
            }
        }
        sections
    }
}

/// The root table as a section.
pub(crate) fn root<'a>(
    source: SectionSource<'a>,
    table: &'a Spanned<DeTable<'a>>,
    title: &'a str,
    known: &[&str],
    problems: &mut Problems,
) -> Section<'a> {
    Section::open(source, table.get_ref(), title, 1, known, problems)
}

/// Mistakes of syntax that are reported of one file; more of them are no TOML at all.
const SYNTAX_MISTAKES_MOST: usize = 20;

/// The table of a file; `None` where it is not TOML, whose lines are reported then: what is recovered of it would only give
/// mistakes that are not there.
pub(crate) fn table_of<'t>(source: SectionSource<'t>, problems: &mut Problems) -> Option<Spanned<DeTable<'t>>> {
    let (table, errors) = DeTable::parse_recoverable(source.text);
    let (shown, others) = errors.split_at(errors.len().min(SYNTAX_MISTAKES_MOST));
    for error in shown {
        let line = error.span().map_or(0, |span| source.line(span.start));
        let message = if error.message() == "duplicate key" {
            duplicate_key(source, line)
        } else {
            toml_mistake(source, line, error.message())
        };
        problems.mistake(source.file, line, message);
    }
    if let Some(next) = others.first() {
        let line = next.span().map_or(0, |span| source.line(span.start));
        let message = format!("{} more mistakes from here on: this is not TOML", others.len());
        problems.mistake(source.file, line, message);
    }
    errors.is_empty().then_some(table)
}

/// The key or table that a line states once more. Of tables of which there may be many, such as sources, one is mostly written
/// in single brackets.
fn duplicate_key(source: SectionSource<'_>, line: usize) -> String {
    // Fallback: a line past the end of the file is shown as an empty one.
    let written = source.text.lines().nth(line.less(1)).unwrap_or_default().trim();
    let Some(table) = written.strip_prefix('[') else {
        // Fallback: never taken, a split has a first part.
        let key = written.split('=').next().unwrap_or_default().trim();
        return format!("duplicate key: \"{key}\" is stated twice in this table");
    };
    // Fallback: never taken, a split has a first part.
    let name = table.split(']').next().unwrap_or_default();
    let name = name.trim_start_matches('[').trim();
    let is_list = source
        .text
        .lines()
        .any(|line| line.trim_start().starts_with(&format!("[[{name}]]")));
    if is_list {
        return format!("duplicate key: \"{name}\" is both [{name}] and [[{name}]]: write [[{name}]] each time");
    }
    format!("duplicate key: the table [{name}] is there twice")
}

/// What is wrong with a line that is not TOML; most often it is a text without quotes.
fn toml_mistake(source: SectionSource<'_>, line: usize, message: &str) -> String {
    // Fallback: a line past the end of the file is shown as an empty one.
    let written = source.text.lines().nth(line.less(1)).unwrap_or_default();
    // Fallback: a line without a key has nothing to compare.
    let (key, value) = written.split_once('=').unwrap_or_default();
    // Fallback: never taken, a split has a first part.
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let is_key = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    // Numbers, days, lists and tables begin otherwise, and are written without quotes.
    let begins = value.chars().next();
    let is_text = begins.is_some_and(|first| first.is_alphabetic() || matches!(first, '/' | '.' | '~' | '*'));
    let is_word = ["true", "false", "inf", "nan"].contains(&value);
    if is_key && is_text && !is_word && !value.contains(['"', '\'']) {
        return format!("{key} = {value}: text needs quotes: {key} = \"{value}\"");
    }
    message.to_owned()
}

/// What a value is, with its article.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
