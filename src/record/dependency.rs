//! What a job waits for: the dependencies of Slurm's `--dependency`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Display};

use crate::numbers::index;

/// Most tasks that the lists of one text may name. Longer texts are not kept.
pub const TASKS_MAX: usize = 10_000;
/// What a list of tasks begins with, after the number of its job.
const TASK_LIST: &str = "_[";

/// When a job that another one depends on lets it go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// When it started, or was cancelled before.
    After,
    /// When it ended.
    AfterAny,
    /// When it ended and its burst buffer was written out.
    AfterBurstBuffer,
    /// When its task of the same number ended well.
    AfterCorr,
    /// When it ended badly.
    AfterNotOk,
    /// When it ended well.
    AfterOk,
    /// When all earlier jobs of the same name and user ended.
    Singleton,
    /// Never: the job adds to the allocation of the other.
    Expand,
}

/// Kinds and their words in Slurm, longer ones before those they begin with.
const KINDS: [(DependencyKind, &str); 8] = [
    (DependencyKind::AfterBurstBuffer, "afterburstbuffer"),
    (DependencyKind::AfterNotOk, "afternotok"),
    (DependencyKind::AfterCorr, "aftercorr"),
    (DependencyKind::AfterAny, "afterany"),
    (DependencyKind::AfterOk, "afterok"),
    (DependencyKind::After, "after"),
    (DependencyKind::Singleton, "singleton"),
    (DependencyKind::Expand, "expand"),
];

impl DependencyKind {
    /// The word in Slurm.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, word)| *word)
    }
}

/// Which tasks of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyTask {
    /// The job itself, or all tasks where it is an array.
    Job,
    /// All tasks (`123_*`).
    All,
    /// One task (`123_4`).
    One(u32),
}

/// The job that another one depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DependencyJob {
    /// Its number.
    pub job: u32,
    /// Which tasks of it.
    pub task: DependencyTask,
    /// How long after, minutes; only of [`DependencyKind::After`] does Slurm use it.
    pub delay_minute: u32,
}

/// One dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// What must have happened.
    pub kind: DependencyKind,
    /// To which job; `None` for a singleton.
    pub on: Option<DependencyJob>,
}

/// The dependencies of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// Each of them, in the order of the text. Never empty.
    pub each: Vec<Dependency>,
    /// One of them is enough (`?` between them); otherwise all must be met (`,`).
    pub is_any: bool,
}

impl Dependencies {
    /// Reads what `--dependency` accepts, in any letter case: `afterok:1:2_3,afterany:4`, `after:5+10?singleton`, or numbers of jobs
    /// alone, which is `afterany`; `1_[2-4,7]` are these tasks, each by itself. `None` where it is something else, or more than
    /// [`TASKS_MAX`] tasks.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text: &str = &each_task(text)?;
        let is_any = text.contains('?');
        if is_any && text.contains(',') {
            return None;
        }
        let mut each = Vec::new();
        for part in text.split(['?', ',']) {
            let (kind, jobs) = kind_of(part)?;
            if kind == DependencyKind::Singleton {
                each.push(Dependency { kind, on: None });
                continue;
            }
            for job in jobs.split(':') {
                let on = Some(DependencyJob::parse(job)?);
                each.push(Dependency { kind, on });
            }
        }
        Some(Self { each, is_any })
    }
}

/// The text with every list of tasks as one job after another, as Slurm rewrites it: `afterok:1_[2-3]` is `afterok:1_2:1_3`. A delay
/// behind the list is of its last task.
fn each_task(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(TASK_LIST) {
        return Some(Cow::Borrowed(text));
    }
    let mut written = String::with_capacity(text.len());
    let (mut rest, mut task_n) = (text, 0);
    while let Some((before, list)) = rest.split_once(TASK_LIST) {
        let (list, after) = list.split_once(']')?;
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let job = before.get(before.len() - digits..).filter(|job| !job.is_empty())?;
        written.push_str(before);
        let tasks = tasks(list)?;
        task_n += tasks.len();
        if task_n > TASKS_MAX {
            return None;
        }
        for (at, task) in tasks.iter().enumerate() {
            let words = if at == 0 {
                format!("_{task}")
            } else {
                format!(":{job}_{task}")
            };
            written.push_str(&words);
        }
        rest = after;
    }
    written.push_str(rest);
    Some(Cow::Owned(written))
}

/// The tasks of a list such as `2-4,7` or `0-9:3`, each once; at least one.
fn tasks(list: &str) -> Option<BTreeSet<u32>> {
    let mut tasks = BTreeSet::new();
    for part in list.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, number(step).filter(|step| *step > 0)?),
            None => (part, 1),
        };
        let (from, until) = match range.split_once('-') {
            Some((from, until)) => (number(from)?, number(until)?),
            None => (number(range)?, number(range)?),
        };
        if from > until || index((until - from) / step) >= TASKS_MAX {
            return None;
        }
        tasks.extend((from..=until).step_by(index(step)));
    }
    Some(tasks)
}

/// The kind of one part, and the jobs behind it.
fn kind_of(part: &str) -> Option<(DependencyKind, &str)> {
    if part.starts_with(|first: char| first.is_ascii_digit()) {
        // Of releases long past: a job alone.
        return (!part.contains(':')).then_some((DependencyKind::AfterAny, part));
    }
    let (word, jobs) = part.split_once(':').unwrap_or((part, ""));
    let (kind, _) = KINDS.iter().find(|(_, known)| known.eq_ignore_ascii_case(word))?;
    let is_singleton = *kind == DependencyKind::Singleton;
    (part.contains(':') != is_singleton).then_some((*kind, jobs))
}

impl DependencyJob {
    fn parse(text: &str) -> Option<Self> {
        let (id, delay_minute) = match text.split_once('+') {
            Some((id, delay)) => (id, number(delay).filter(|delay| *delay > 0)?),
            None => (text, 0),
        };
        let (job, task) = match id.split_once('_') {
            Some((job, "*")) => (job, DependencyTask::All),
            Some((job, task)) => (job, DependencyTask::One(number(task)?)),
            None => (id, DependencyTask::Job),
        };
        let job = number(job).filter(|job| *job > 0)?;
        Some(Self {
            job,
            task,
            delay_minute,
        })
    }
}

/// Decimal digits and nothing else.
fn number(text: &str) -> Option<u32> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Fallback: a number beyond those of Slurm is not one of a job, as for any other text.
    is_digits.then(|| text.parse().ok()).flatten()
}

impl Display for DependencyJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.job)?;
        match self.task {
            DependencyTask::Job => {}
            DependencyTask::All => f.write_str("_*")?,
            DependencyTask::One(task) => write!(f, "_{task}")?,
        }
        if self.delay_minute > 0 {
            write!(f, "+{}", self.delay_minute)?;
        }
        Ok(())
    }
}

/// As Slurm accepts it: words in lower case, jobs of the same kind next to one another behind one word.
impl Display for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        for Dependency { kind, on } in &self.each {
            let is_next = before == Some(*kind) && on.is_some();
            if !is_next {
                if before.is_some() {
                    f.write_str(if self.is_any { "?" } else { "," })?;
                }
                f.write_str(kind.as_str())?;
            }
            if let Some(job) = on {
                write!(f, ":{job}")?;
            }
            before = Some(*kind);
        }
        Ok(())
    }
}
