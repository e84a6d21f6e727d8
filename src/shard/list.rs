//! The numbered list: every input file, and the shard that reads it. Lines of JSON, the first of them about all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::assign::balanced;
use super::fingerprint::{FORM, VERSION, of_reading};
use super::roots::Roots;
use crate::config::Plan;
use crate::dedupe::Window;
use crate::error::{Error, Kind, Result};
use crate::ingest::reading::Reading;
use crate::lake::found::FoundFile;
use crate::numbers::{Extent, count_u64};
use crate::sources::input::{InputFile, Location, find};
use crate::sources::location::is_url;
use crate::time::Month;

/// Most shards of a list.
pub const SHARDS_MOST: u32 = 100_000;

/// What holds for all of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListHead {
    /// Form of the list.
    form: u32,
    /// Version of the program that made it.
    gridtally_version: String,
    /// Name of the pipeline.
    pipeline: String,
    /// What decides the candidates of a file besides its bytes.
    fingerprint: String,
    /// First month of records to take.
    from: Option<String>,
    /// Last month of records to take.
    to: Option<String>,
    /// How many shards there are.
    pub shard_n: u32,
    /// How many files follow.
    file_n: usize,
}

/// A file of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// The shard that reads it; none for one that is known, and for a listing of the machine, which the merge reads itself.
    pub shard: Option<u32>,
    /// Whether nobody reads it: the lake knows its bytes, or another file of the list has the same.
    pub is_known: bool,
    /// Source.
    pub source: String,
    /// Whether it is a log that completes the records of its source.
    pub is_log: bool,
    /// The path that the ledger has.
    pub path: String,
    /// Where it is on the host that made the list: an absolute path, or a URL.
    pub location: String,
    /// Its size as stored, bytes.
    pub bytes: u64,
    /// BLAKE3 of its bytes, where they had to be hashed to make the list.
    pub blake3: Option<String>,
}

/// The list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardList {
    /// What holds for all of it.
    pub head: ListHead,
    /// The files, in the order a run finds them.
    pub files: Vec<ListedFile>,
}

impl ShardList {
    /// Shares the files that a run would read out to at most `shard_n` shards.
    ///
    /// # Errors
    /// [`Kind::Config`] for a file whose name is not UTF-8, which no list can hold.
    pub(crate) fn new(
        plan: &Plan,
        window: Window,
        found: &[FoundFile],
        to_read: &[Reading],
        shard_n: u32,
    ) -> Result<Self> {
        let wanted: BTreeSet<*const InputFile> = to_read.iter().map(|of| std::sync::Arc::as_ptr(&of.file)).collect();
        let mut files = Vec::with_capacity(found.len());
        for found in found {
            files.push(ListedFile {
                shard: None,
                is_known: !wanted.contains(&std::sync::Arc::as_ptr(&found.file)),
                source: found.source.name.clone(),
                is_log: is_log(plan, found),
                path: found.file.path.clone(),
                location: location(&found.file)?,
                bytes: found.file.bytes,
                blake3: found.blake3.clone(),
            });
        }
        let is_shared_out = |listed: &ListedFile| !listed.is_known && !is_listing(plan, &listed.source);
        let bytes: Vec<u64> = files.iter().filter(|of| is_shared_out(of)).map(|of| of.bytes).collect();
        // Fallback: more files than a number of 32 bits can count are more than shards can be.
        let file_n = u32::try_from(bytes.len()).unwrap_or(SHARDS_MOST);
        let shard_n = shard_n.min(file_n);
        let mut shards = balanced(&bytes, shard_n).into_iter();
        for listed in files.iter_mut().filter(|of| is_shared_out(of)) {
            listed.shard = shards.next();
        }
        let head = ListHead {
            form: FORM,
            gridtally_version: VERSION.to_owned(),
            pipeline: plan.name.clone(),
            fingerprint: of_reading(plan, window),
            from: window.from.map(|month| month.to_string()),
            to: window.to.map(|month| month.to_string()),
            shard_n,
            file_n: files.len(),
        };
        Ok(Self { head, files })
    }

    /// The list as text: equal inputs give equal bytes.
    ///
    /// # Errors
    /// [`Kind::Internal`] never: everything in it is text and numbers.
    pub fn to_text(&self) -> Result<String> {
        let unwritten = |why: serde_json::Error| Error::internal("the list cannot be written").because(why);
        let mut text = serde_json::to_string(&self.head).map_err(unwritten)?;
        text.push('\n');
        for file in &self.files {
            text.push_str(&serde_json::to_string(file).map_err(unwritten)?);
            text.push('\n');
        }
        Ok(text)
    }

    /// Reads a list.
    ///
    /// # Errors
    /// [`Kind::Data`] when it is damaged, [`Kind::Config`] when another version made it in another form.
    pub fn parse(text: &str) -> Result<Self> {
        let damaged = |nth: usize, why: serde_json::Error| {
            let message = "the list of shards cannot be read: make it again with `gridtally plan`";
            Error::new(Kind::Data, message).at("line", nth).because(why)
        };
        let mut lines = (1..).zip(text.lines());
        let (_, first) = lines.next().ok_or_else(|| {
            Error::new(
                Kind::Data,
                "the list of shards is empty: make it again with `gridtally plan`",
            )
        })?;
        let head: ListHead = serde_json::from_str(first).map_err(|why| damaged(1, why))?;
        let files = lines.map(|(nth, line)| serde_json::from_str(line).map_err(|why| damaged(nth, why)));
        let files: Vec<ListedFile> = files.collect::<Result<_>>()?;
        if files.len() != head.file_n {
            let message = format!(
                "the list of shards names {} files and holds {}: make it again with `gridtally plan`",
                head.file_n,
                files.len()
            );
            return Err(Error::new(Kind::Data, message));
        }
        Ok(Self { head, files })
    }

    /// The months of records to take.
    ///
    /// # Errors
    /// [`Kind::Data`] when the list is damaged.
    pub fn window(&self) -> Result<Window> {
        let month = |text: &Option<String>| -> Result<Option<Month>> {
            let text = text.as_deref();
            let month = text.map(str::parse::<Month>).transpose();
            month.map_err(|_| Error::new(Kind::Data, "the list of shards has an unknown month"))
        };
        Ok(Window {
            from: month(&self.head.from)?,
            to: month(&self.head.to)?,
        })
    }

    /// Checks that this version, with this pipeline, reads what the list was made for.
    ///
    /// # Errors
    /// [`Kind::Config`] when the program or the pipeline is another one.
    pub fn hold(&self, plan: &Plan) -> Result<()> {
        let ListHead {
            form,
            gridtally_version: version,
            ..
        } = &self.head;
        if *form != FORM || version != VERSION {
            return Err(Error::config(format!(
                "the list of shards was made by gridtally {version} and this is {VERSION}: make it again with `gridtally plan`"
            )));
        }
        if self.head.fingerprint != of_reading(plan, self.window()?) {
            return Err(Error::config(
                "the pipeline is another one than that of the list of shards: make it again with `gridtally plan`",
            )
            .at("pipeline", plan.file.display()));
        }
        Ok(())
    }

    /// The files of a shard, with their places in the list.
    pub fn of_shard(&self, shard: u32) -> impl Iterator<Item = (usize, &ListedFile)> {
        let files = self.files.iter().enumerate();
        files.filter(move |(_, listed)| listed.shard == Some(shard))
    }

    /// Bytes of the files of each shard, in the order of their numbers.
    #[must_use]
    pub fn bytes(&self) -> Vec<u64> {
        let mut bytes = vec![0_u64; crate::numbers::index(self.head.shard_n)];
        for listed in &self.files {
            let at = listed
                .shard
                .and_then(|shard| usize::try_from(shard.checked_sub(1)?).ok());
            if let Some(sum) = at.and_then(|at| bytes.get_mut(at)) {
                *sum = sum.further(listed.bytes);
            }
        }
        bytes
    }

    /// How many files no shard reads.
    #[must_use]
    pub fn others_n(&self) -> u64 {
        count_u64(self.files.iter().filter(|listed| listed.shard.is_none()).count())
    }

    /// How many files shards read.
    #[must_use]
    pub fn shared_out_n(&self) -> u64 {
        count_u64(self.files.iter().filter(|listed| listed.shard.is_some()).count())
    }
}

/// Whether files of a source describe the machine.
fn is_listing(plan: &Plan, source: &str) -> bool {
    (plan.sources.iter()).any(|of| of.name == source && of.is_inventory())
}

/// Whether a file is a log that completes the records of its source.
fn is_log(plan: &Plan, found: &FoundFile) -> bool {
    let source = plan.sources.iter().find(|of| of.name == found.source.name);
    source.is_some_and(|of| !of.blah.is_empty() && of.reader.format != found.source.reader.format)
}

fn location(file: &InputFile) -> Result<String> {
    match &file.location {
        Location::Remote { .. } => Ok(file.path.clone()),
        Location::Local(path) => path.to_str().map(str::to_owned).ok_or_else(|| {
            Error::config("its name is not UTF-8: no list of shards can hold it; rename the file")
                .at("file", &file.path)
        }),
    }
}

impl ListedFile {
    /// The file on this host.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when an object is not there, [`Kind::Io`] when its store cannot be reached.
    pub(crate) fn input(&self, roots: &Roots) -> Result<InputFile> {
        let here = roots.here(&self.location);
        if is_url(&here) && !here.starts_with("file://") {
            let mut found = find(&here, Path::new("/"))?.into_iter();
            let gone = || self.gone(&here);
            let file = found.next().ok_or_else(gone)?;
            return Ok(InputFile {
                path: self.path.clone(),
                ..file
            });
        }
        Ok(InputFile {
            path: self.path.clone(),
            location: Location::Local(PathBuf::from(here.trim_start_matches("file://"))),
            bytes: self.bytes,
            stamp: None,
        })
    }

    /// Checks that the file is there as it was when the list was made.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when it is not there, [`Kind::Data`] when its size is another one.
    pub(crate) fn hold(&self, file: &InputFile) -> Result<()> {
        use std::io::ErrorKind::NotFound;
        let bytes = match &file.location {
            Location::Remote { .. } => file.bytes,
            Location::Local(path) => match std::fs::metadata(path) {
                Ok(meta) if meta.is_file() => meta.len(),
                Err(why) if why.kind() == NotFound && std::fs::symlink_metadata(path).is_err() => {
                    return Err(self.gone(&path.display().to_string()).because(why));
                }
                // A link to nothing, or what may not be looked at, is reported as one process reports it.
                Ok(_) | Err(_) => return Ok(()),
            },
        };
        if bytes == self.bytes {
            return Ok(());
        }
        let message = format!(
            "it has {bytes} bytes and had {} when the list of shards was made: make the list again with `gridtally plan`",
            self.bytes
        );
        Err(Error::new(Kind::Data, message).at("file", &self.path))
    }

    fn gone(&self, here: &str) -> Error {
        let message = "a file of the list of shards is not there; where this host has it under another path, name that \
                       with --map FROM=TO";
        Error::new(Kind::NoInput, message)
            .at("file", &self.path)
            .at("looked for", here)
    }
}
