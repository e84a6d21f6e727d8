//! The `key=value` words of a record.

use crate::sources::refusal::known;

/// The values that are looked at.
#[derive(Default)]
pub(super) struct PbsValues<'a> {
    pub(super) user: Option<&'a str>,
    pub(super) group: Option<&'a str>,
    pub(super) account: Option<&'a str>,
    pub(super) job_name: Option<&'a str>,
    pub(super) queue: Option<&'a str>,
    pub(super) ctime: Option<&'a str>,
    pub(super) etime: Option<&'a str>,
    pub(super) start: Option<&'a str>,
    pub(super) end: Option<&'a str>,
    pub(super) exec_host: Option<&'a str>,
    pub(super) slots: Option<&'a str>,
    pub(super) nodes: Option<&'a str>,
    pub(super) used_ncpus: Option<&'a str>,
    pub(super) asked_ncpus: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) exit_status: Option<&'a str>,
    pub(super) cput: Option<&'a str>,
    pub(super) walltime: Option<&'a str>,
    pub(super) mem: Option<&'a str>,
    pub(super) vmem: Option<&'a str>,
    pub(super) limit: Option<&'a str>,
    pub(super) gpus: Option<&'a str>,
    pub(super) exec_gpus: Option<&'a str>,
    pub(super) node_spec: Option<&'a str>,
    pub(super) energy: Option<&'a str>,
}

impl<'a> PbsValues<'a> {
    /// Reads `key=value` words. Of a key that comes twice the last value counts, but the owner of the job comes first,
    /// before any text that a user may have chosen.
    pub(super) fn of(message: &'a str) -> Self {
        let mut values = Self::default();
        for PbsValue { key, text } in PbsWords::of(message) {
            let slot = match key {
                "user" if values.user.is_none() => &mut values.user,
                "group" if values.group.is_none() => &mut values.group,
                "account" if values.account.is_none() => &mut values.account,
                "jobname" if values.job_name.is_none() => &mut values.job_name,
                "queue" => &mut values.queue,
                "ctime" => &mut values.ctime,
                "etime" => &mut values.etime,
                "start" => &mut values.start,
                "end" => &mut values.end,
                "exec_host" => &mut values.exec_host,
                "total_execution_slots" => &mut values.slots,
                "unique_node_count" => &mut values.nodes,
                "resources_used.ncpus" => &mut values.used_ncpus,
                "Resource_List.ncpus" => &mut values.asked_ncpus,
                "session" => &mut values.session,
                "Exit_status" => &mut values.exit_status,
                "resources_used.cput" => &mut values.cput,
                "resources_used.walltime" => &mut values.walltime,
                "resources_used.mem" => &mut values.mem,
                "resources_used.vmem" => &mut values.vmem,
                "Resource_List.walltime" => &mut values.limit,
                "Resource_List.ngpus" => &mut values.gpus,
                "exec_gpus" => &mut values.exec_gpus,
                "Resource_List.nodes" => &mut values.node_spec,
                "resources_used.energy" => &mut values.energy,
                _ => continue,
            };
            *slot = known(text);
        }
        values
    }
}

/// One key with its value.
struct PbsValue<'a> {
    key: &'a str,
    text: &'a str,
}

/// The words of a message, in order. A word without `=` belongs to the value before it, after a blank, and is passed over.
///
/// PBS Pro and `OpenPBS` put accounts always, and projects and resources with a blank, in quotes: `"`, or `'` around a resource
/// that has `"` in it. Torque knows no quotes.
struct PbsWords<'a> {
    rest: &'a str,
    /// Quotes that nothing in the rest closes, so that no line is searched for them more than once.
    unclosed: Vec<char>,
}

impl<'a> PbsWords<'a> {
    fn of(message: &'a str) -> Self {
        Self {
            rest: message,
            unclosed: Vec::new(),
        }
    }

    /// The value that the rest begins with. Without a quote that closes it, as Torque may write it or on a damaged line, a value that
    /// begins with a quote ends at the first blank and keeps its quote: no key behind it is lost.
    fn value_of(&mut self, key: &str) -> &'a str {
        let text = self.rest;
        // The name of a job is never put in quotes, and its owner may begin it with one.
        let quote = text
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'') && key != "jobname");
        if let Some(quote) = quote.filter(|quote| !self.unclosed.contains(quote)) {
            match Quoted::at_start(text, quote) {
                Some(Quoted { text, behind }) => {
                    self.rest = behind;
                    return text;
                }
                None => self.unclosed.push(quote),
            }
        }
        let end = text.bytes().position(|byte| byte.is_ascii_whitespace());
        let Some((value, behind)) = end.and_then(|end| text.split_at_checked(end)) else {
            self.rest = "";
            return text;
        };
        self.rest = behind;
        value
    }
}

impl<'a> Iterator for PbsWords<'a> {
    type Item = PbsValue<'a>;

    fn next(&mut self) -> Option<PbsValue<'a>> {
        let (before, value) = self.rest.split_once('=')?;
        let key = before.rsplit(|c: char| c.is_ascii_whitespace()).next()?;
        self.rest = value;
        let text = self.value_of(key);
        Some(PbsValue { key, text })
    }
}

/// A value in quotes, and what is behind it.
struct Quoted<'a> {
    text: &'a str,
    behind: &'a str,
}

impl<'a> Quoted<'a> {
    /// The quoted value at the start of `text`. A quote within it is not marked, so the one that ends it is the first one with the end of
    /// the line or another key behind it.
    fn at_start(text: &'a str, quote: char) -> Option<Self> {
        let inner = text.strip_prefix(quote)?;
        inner.match_indices(quote).find_map(|(at, _)| {
            let (text, behind) = inner.split_at_checked(at)?;
            let behind = behind.strip_prefix(quote)?;
            ends_value(behind).then_some(Self { text, behind })
        })
    }
}

/// Whether nothing is behind a quote, or a blank and a word with a key.
fn ends_value(behind: &str) -> bool {
    let is_apart = behind.is_empty() || behind.starts_with(|c: char| c.is_ascii_whitespace());
    let next = behind.split_ascii_whitespace().next();
    is_apart && next.is_none_or(|word| word.contains('='))
}
