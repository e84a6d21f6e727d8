//! `[[charge]]` as it is written, and what it means.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compiler::Compiler;
use crate::charge::options::Options;
use crate::charge::page::period;
use crate::charge::policy::Subject;
use crate::charge::{Policy, Tariff};
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section, kind};
use crate::time::Day;

/// `[[charge]]`
#[derive(Debug)]
pub struct ChargeSpec {
    /// `policies`
    pub policies: Vec<At<String>>,
    /// `options`
    pub options: Vec<(String, At<String>)>,
}

/// Reads every `[[charge]]`.
pub(crate) fn charges(top: &Section<'_>, problems: &mut Problems) -> Vec<ChargeSpec> {
    let sections = top.sections("charge", "[[charge]]", &["policies", "options"], problems);
    let specs = sections.iter().map(|section| {
        if !section.has("policies") {
            section.wrong(
                section.line(),
                "[[charge]] has no policies (files or folders of them)",
                problems,
            );
        }
        ChargeSpec {
            policies: section.texts("policies", problems).map_or_else(Vec::new, |at| at.value),
            options: options(section, problems),
        }
    });
    specs.collect()
}

/// `options`: names of options of policies, each with its value.
pub(super) fn options(section: &Section<'_>, problems: &mut Problems) -> Vec<(String, At<String>)> {
    let mut options = Vec::new();
    let chosen = section.free_section("options", "options", problems);
    for (name, found, line) in chosen.iter().flat_map(Section::entries) {
        match found.as_str() {
            Some(text) => options.push((
                name.to_owned(),
                At {
                    value: text.to_owned(),
                    line,
                },
            )),
            None => section.wrong(
                line,
                format!("{name} must be a text in quotes, not {}", kind(found)),
                problems,
            ),
        }
    }
    options
}

impl Compiler {
    /// The policies a run charges by, in order. Policies that are wrong, or whose examples fail, are reported.
    pub(crate) fn tariffs(&mut self, specs: &[ChargeSpec]) -> Vec<Arc<Tariff>> {
        let mut tariffs: Vec<(usize, Arc<Tariff>)> = Vec::new();
        for spec in specs {
            let options: Options = spec
                .options
                .iter()
                .map(|(name, at)| (name.clone(), at.value.clone()))
                .collect();
            for named in &spec.policies {
                for policy in self.policies(named) {
                    match Tariff::new(policy, &options) {
                        Ok(tariff) => tariffs.push((named.line, Arc::new(tariff))),
                        Err(why) => {
                            let line = spec.options.first().map_or(named.line, |(_, at)| at.line);
                            self.wrong(line, why);
                        }
                    }
                }
            }
        }
        tariffs.sort_by(|a, b| a.1.key().cmp(&b.1.key()));
        for (at, (line, tariff)) in tariffs.iter().enumerate() {
            for (_, other) in tariffs.iter().take(at) {
                if let Some(why) = clash(tariff, other) {
                    self.wrong(*line, why);
                }
            }
        }
        for gap in gaps(tariffs.iter().map(|(_, tariff)| tariff.as_ref())) {
            let line = specs.first().and_then(|spec| spec.policies.first());
            self.doubt(line.map_or(0, |named| named.line), gap);
        }
        tariffs.into_iter().map(|(_, tariff)| tariff).collect()
    }

    /// The policies of a file or folder.
    fn policies(&mut self, named: &At<String>) -> Vec<Policy> {
        let place = PathBuf::from(self.resolve(&named.value));
        let is_folder = place.is_dir();
        let files: Vec<(PathBuf, String)> = if is_folder {
            let inside = std::fs::read_dir(&place).into_iter().flatten().flatten();
            let files_inside = inside.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let mut files_inside: Vec<String> = files_inside
                .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "toml"))
                .collect();
            files_inside.sort();
            if files_inside.is_empty() {
                self.wrong(named.line, format!("there is no policy file in {}", named.value));
            }
            let label = |name: &String| Path::new(&named.value).join(name).to_string_lossy().into_owned();
            files_inside
                .iter()
                .map(|name| (place.join(name), self.table_label(&label(name))))
                .collect()
        } else {
            vec![(place, self.table_label(&named.value))]
        };
        let mut policies = Vec::new();
        let mut left_out: Vec<String> = Vec::new();
        for (path, label) in files {
            let Some(policy) = Policy::load(&path, &label, &mut self.problems) else {
                continue;
            };
            match policy.subject {
                Subject::Jobs | Subject::Reservations => {}
                Subject::Storage if is_folder => {
                    left_out.push(format!("{} ({})", policy.id, policy.subject.as_str()));
                    continue;
                }
                other @ Subject::Storage => {
                    let message = format!(
                        "{} charges for {}, which no input contains: it can be tested, not run",
                        policy.id,
                        other.as_str()
                    );
                    self.wrong(named.line, message);
                    continue;
                }
            }
            if self.holds(&policy) {
                policies.push(policy);
            }
        }
        if !left_out.is_empty() {
            let message = format!(
                "of the policies in {} these are left out, because no input contains what they charge for: {}",
                named.value,
                left_out.join(", ")
            );
            self.doubt(named.line, message);
        }
        policies
    }

    /// Whether every example holds; reports those that do not.
    fn holds(&mut self, policy: &Policy) -> bool {
        let verdicts = match policy.test() {
            Ok(verdicts) => verdicts,
            Err(why) => {
                self.problems.mistake(&policy.file, 0, why.to_string());
                return false;
            }
        };
        let failed = verdicts.iter().filter(|verdict| !verdict.failures.is_empty());
        let mut holds = true;
        for verdict in failed {
            let why = verdict.failures.first().map_or("", String::as_str);
            let message = format!("example \"{}\" fails: {why}", verdict.name);
            self.problems.mistake(&policy.file, verdict.line, message);
            holds = false;
        }
        holds
    }
}

/// Why two tariffs cannot be in one run.
fn clash(a: &Tariff, b: &Tariff) -> Option<String> {
    if a.policy.id != b.policy.id || a.chosen != b.chosen {
        return None;
    }
    let name = a.policy.name();
    if a.policy.version == b.policy.version {
        return Some(format!("the policy {name} is named twice"));
    }
    let (a_days, b_days) = (days(&a.policy), days(&b.policy));
    let message = format!(
        "two versions of {} hold at once: {} and {}",
        a.policy.id, a.policy.version, b.policy.version
    );
    (a_days.start < b_days.end && b_days.start < a_days.end).then_some(message)
}

/// The days on which a policy holds.
fn days(policy: &Policy) -> Range<Day> {
    // Fallback: a policy without a first day has always held, and one without a last day holds for ever.
    policy.valid_from.unwrap_or(Day::MIN)..policy.valid_to.unwrap_or(Day::MAX)
}

/// Spans between two versions of a policy in which none holds. Tariffs are in the order of policies.
fn gaps<'t>(tariffs: impl Iterator<Item = &'t Tariff>) -> Vec<String> {
    let mut versions: Vec<&Tariff> = tariffs.collect();
    versions.sort_by_key(|tariff| (&tariff.policy.id, &tariff.chosen, days(&tariff.policy).start));
    let pairs = versions.iter().zip(versions.iter().skip(1));
    let gaps = pairs.filter_map(|(before, after)| {
        let is_one_policy = before.policy.id == after.policy.id && before.chosen == after.chosen;
        let (from, until) = (days(&before.policy).end, days(&after.policy).start);
        (is_one_policy && from < until).then(|| {
            format!(
                "no version of {} holds {}: what jobs use then is not charged by it",
                before.policy.id,
                period(Some(from), Some(until))
            )
        })
    });
    gaps.collect()
}
