//! `SubmitLine`: the command a job was submitted by, of which two options are kept and nothing else.
//!
//! Slurm joins the arguments by blanks and quotes nothing, so an argument that has blanks itself looks like two. Words
//! are read as `getopt_long` does, up to the script or command, and only as long as it is certain what they are: behind a
//! word that may be the script, a command of `--wrap`, or an option of a plugin, nothing is read. What the line does not state is
//! unknown and not refused: lines `#SBATCH` of the script and variables of the environment are not in it.

use super::column::Role;
use super::row::SacctRow;
use super::submit_options::{Argument, LongOption, SubmitCommand};
use crate::record::dependency::Dependencies;
use crate::record::{Anomaly, Exclusivity, JobDetails};

/// Bytes of the dependencies of a job beyond which they are left out: those of 700 jobs.
const LIMIT_BYTE: usize = 8 << 10;

/// What is kept of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SubmitOptions {
    dependency: Option<String>,
    exclusive: Option<Exclusivity>,
    /// There is a dependency that cannot be read, or is too long.
    pub(super) is_dropped: bool,
}

impl SubmitOptions {
    /// What the line of submission states. Of a row with surplus fields it is not certain whose text the column has.
    #[inline]
    pub(super) fn of_row(row: &mut SacctRow<'_, '_>) -> Option<Self> {
        row.projected.column(Role::SubmitLine)?;
        let found = Self::read(row.text(Role::SubmitLine))?;
        if row.fields.has_surplus(&row.layout.delimiter) {
            return None;
        }
        if found.is_dropped {
            row.note(Anomaly::ValueDropped);
        }
        Some(found)
    }

    /// What a line states; `None` where it states nothing that is kept.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let mut stated = Stated::default();
        let mut words = line.split(|&b| b == b' ');
        let command = SubmitCommand::of(words.next()?)?;
        stated.read(command, &mut words);
        let text = stated.dependency.filter(|text| !matches!(*text, b"" | b"0"));
        if text.is_none() && stated.exclusive.is_none() {
            return None;
        }
        // Fallback: a dependency that is not text is dropped, and noted as one that cannot be read.
        let dependency = text.and_then(|text| Dependencies::parse(std::str::from_utf8(text).ok()?));
        let dependency = dependency.map(|dependencies| dependencies.to_string());
        let dependency = dependency.filter(|text| text.len() <= LIMIT_BYTE);
        Some(Self {
            is_dropped: text.is_some() && dependency.is_none(),
            dependency,
            // Components of a heterogeneous job have options of their own, and one line.
            exclusive: stated
                .exclusive
                .filter(|_| !words.any(|word| word == b":") && !stated.is_divided),
        })
    }

    /// The same, as part of a job.
    pub(super) fn details(found: Option<&Self>) -> JobDetails<'_> {
        JobDetails {
            dependency: found.and_then(|found| found.dependency.as_deref()),
            exclusive: found.and_then(|found| found.exclusive),
            ..JobDetails::default()
        }
    }
}

/// The arguments of the options that are kept, the last one of each.
#[derive(Debug, Default)]
struct Stated<'l> {
    dependency: Option<&'l [u8]>,
    exclusive: Option<Exclusivity>,
    is_divided: bool,
}

/// What is known of the word behind an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// It is an option, the script or the command.
    Next,
    /// It may also be an argument: only what looks like an option is one.
    Unclear,
    /// Nothing that is read.
    End,
}

impl<'l> Stated<'l> {
    fn read(&mut self, command: SubmitCommand, words: &mut dyn Iterator<Item = &'l [u8]>) {
        let mut behind = Behind::Next;
        while let Some(word) = words.next() {
            behind = match word {
                b"--" | b"-" => Behind::End,
                [b'-', b'-', long @ ..] => self.long(command, long, words),
                [b'-', letters @ ..] => self.letters(command, letters, words),
                _ => {
                    self.is_divided = word == b":" && behind == Behind::Next;
                    Behind::End
                }
            };
            if behind == Behind::End {
                return;
            }
        }
    }

    /// Reads an option of a name.
    fn long(&mut self, command: SubmitCommand, text: &'l [u8], words: &mut dyn Iterator<Item = &'l [u8]>) -> Behind {
        let (name, attached) = match memchr::memchr(b'=', text) {
            Some(equals) => (text.get(..equals), text.get(equals + 1..)),
            None => (Some(text), None),
        };
        let Some(option) = name.and_then(|name| command.long(name)) else {
            return if attached.is_some() {
                Behind::Next
            } else {
                Behind::Unclear
            };
        };
        let LongOption { name, argument } = option;
        let value = match (attached, argument) {
            (None, Argument::Required) => words.next(),
            (attached, _) => attached,
        };
        match name {
            "dependency" => self.dependency = value,
            "exclusive" => self.exclusive = exclusivity(value).or(self.exclusive),
            "oversubscribe" => self.exclusive = Some(Exclusivity::Shared),
            _ => {}
        }
        if name == "wrap" { Behind::End } else { Behind::Next }
    }

    /// Reads options of one letter behind one dash.
    fn letters(&mut self, command: SubmitCommand, text: &'l [u8], words: &mut dyn Iterator<Item = &'l [u8]>) -> Behind {
        for (at, letter) in text.iter().enumerate() {
            let rest = text.get(at + 1..).filter(|rest| !rest.is_empty());
            match command.short(*letter) {
                None => return Behind::Unclear,
                Some(Argument::Required) => {
                    let value = rest.or_else(|| words.next());
                    if *letter == b'd' {
                        self.dependency = value;
                    }
                    return Behind::Next;
                }
                Some(Argument::Attached) if SubmitCommand::is_rest_attached(*letter) => return Behind::Next,
                Some(Argument::Attached) => {}
            }
            if *letter == b's' {
                self.exclusive = Some(Exclusivity::Shared);
            }
        }
        Behind::Next
    }
}

/// What an argument of `--exclusive` requests.
fn exclusivity(value: Option<&[u8]>) -> Option<Exclusivity> {
    let Some(value) = value else {
        return Some(Exclusivity::Node);
    };
    match value.to_ascii_lowercase().as_slice() {
        b"exclusive" | b"allocation" => Some(Exclusivity::Node),
        b"oversubscribe" => Some(Exclusivity::Shared),
        b"user" => Some(Exclusivity::User),
        b"mcs" => Some(Exclusivity::Mcs),
        b"topo" => Some(Exclusivity::Topology),
        _ => None,
    }
}
