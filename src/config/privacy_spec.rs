//! `[privacy]` of the pipeline file: from words to what the intake does.

use super::source_spec::SourceSpec;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::privacy::{Field, KeyPlace, Privacy, PrivacyAction, PrivacyKey, Pseudonyms, Rotation};

/// `[privacy]` as it is written.
#[derive(Debug)]
pub struct PrivacySpec {
    /// Line of the table.
    pub line: usize,
    /// In the order of [`Field::ALL`].
    pub actions: [Option<At<PrivacyAction>>; 4],
    /// `rotate`
    pub rotation: Option<At<Rotation>>,
    /// `key = { file = .. }` or `{ env = .. }`
    pub key: Option<At<KeyPlace>>,
    /// `replaces` next to it
    pub replaces: Option<At<String>>,
    /// Whether there is a `key`, right or wrong.
    has_key: bool,
    /// Whether there is a `rotate`, right or wrong.
    has_rotation: bool,
}

/// Reads the table.
pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<PrivacySpec> {
    let known: Vec<&str> = Field::ALL.iter().map(|f| f.as_str()).chain(["rotate", "key"]).collect();
    let section = top.section("privacy", "[privacy]", &known, problems)?;
    let actions = Field::ALL.map(|field| section.word(field.as_str(), PrivacyAction::WORDS, problems));
    let (key, replaces) = key(&section, problems).unzip();
    Some(PrivacySpec {
        line: section.line(),
        actions,
        replaces: replaces.flatten(),
        rotation: section.word("rotate", Rotation::WORDS, problems),
        key,
        has_key: section.has("key"),
        has_rotation: section.has("rotate"),
    })
}

fn key(section: &Section<'_>, problems: &mut Problems) -> Option<(At<KeyPlace>, Option<At<String>>)> {
    let (value, line) = section.get("key")?;
    if value.as_str().is_some() {
        // Whoever wrote it here must not find it in a log as well: the message does not repeat it.
        let message = "the key must not be in the pipeline file: key = { file = \"..\" } or key = { env = \"..\" }";
        section.wrong(line, message, problems);
        return None;
    }
    let table = section.section("key", "key", &["file", "env", "readable_by", "replaces"], problems)?;
    let readable_by = table.word("readable_by", &[("all", true), ("owner", false)], problems);
    let value = match (table.text("file", problems), table.text("env", problems)) {
        (Some(file), None) => KeyPlace::File {
            path: file.value,
            is_open: readable_by.is_some_and(|all| all.value),
        },
        (None, Some(_)) if readable_by.is_some() => {
            section.wrong(line, "readable_by is of a file, not of a variable", problems);
            return None;
        }
        (None, Some(env)) => KeyPlace::Env(env.value),
        _ => {
            section.wrong(line, "key takes exactly one of file and env", problems);
            return None;
        }
    };
    Some((At { value, line }, table.text("replaces", problems)))
}

impl PrivacySpec {
    /// Checks it against the sources and fetches the key. `resolve` makes a path absolute.
    pub(crate) fn compile(
        self,
        sources: &[SourceSpec],
        label: &str,
        resolve: impl Fn(&str) -> String,
        problems: &mut Problems,
    ) -> Option<Privacy> {
        let mut actions = [PrivacyAction::Keep; 4];
        for (action, stated) in actions.iter_mut().zip(&self.actions) {
            *action = stated.as_ref().map_or(PrivacyAction::Keep, |at| at.value);
        }
        let mut privacy = Privacy {
            actions,
            pseudonyms: None,
        };
        let wants_key = actions.contains(&PrivacyAction::Pseudonym);
        if wants_key {
            if !self.has_key {
                let message = "[privacy] has pseudonyms and no key: key = { file = \"..\" } or key = { env = \"..\" }";
                problems.mistake(label, self.line, message);
            }
            if !self.has_rotation {
                let message = "[privacy] does not set how long a pseudonym lasts: rotate = \"year\", \"quarter\" or \
                               \"month\"";
                problems.mistake(label, self.line, message);
            }
            let At { value: place, line } = self.key?;
            let place = match place {
                KeyPlace::File { path, is_open } => KeyPlace::File {
                    path: resolve(&path),
                    is_open,
                },
                env @ KeyPlace::Env(_) => env,
            };
            let key = PrivacyKey::fetch(&place)
                .map_err(|why| problems.mistake(label, line, why))
                // Fallback: the mistake of the key is reported by the line above.
                .ok();
            privacy.pseudonyms = Some(Pseudonyms {
                key: key?,
                rotation: self.rotation?.value,
                replaces: self.replaces.map(|at| at.value),
            });
        } else if !privacy.withholds() {
            problems.warning(label, self.line, "[privacy] keeps every field: it does nothing");
        } else if self.has_key || self.has_rotation {
            problems.warning(label, self.line, "key and rotate do nothing without a pseudonym");
        }
        for source in sources {
            source.forbid_vo_of(&privacy, label, problems);
        }
        Some(privacy)
    }
}

impl SourceSpec {
    /// A VO that is the name of a user would publish what privacy withholds.
    fn forbid_vo_of(&self, privacy: &Privacy, label: &str, problems: &mut Problems) {
        use super::source_rule::VoSpec;
        use crate::reference::vo_rule::VoColumn;
        let field = match &self.vo {
            Some(VoSpec::Column(VoColumn::User)) => Field::User,
            Some(VoSpec::Column(VoColumn::GlobalUser)) => Field::GlobalUser,
            Some(VoSpec::Column(VoColumn::UserGroup)) => Field::UserGroup,
            _ => return,
        };
        if privacy.action(field) != PrivacyAction::Keep {
            let message = format!(
                "vo takes the column {0}, and [privacy] withholds {0}: take the VO from a table",
                field.as_str()
            );
            problems.mistake(label, self.line, message);
        }
    }
}
