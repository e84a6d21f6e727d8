//! A folder with files, pipelines and lakes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gridtally::config::Plan;
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::{ApelRequest, Published, publish};
use gridtally::report::apel::users::Users;
use gridtally::report::lake::Lake;
use gridtally::report::publication::exporter::ExportTake;
use gridtally::report::publication::ledger::PublicationEntry;
use gridtally::report::publication::plan::PublicationPlan as SendPlan;
use gridtally::report::publication::send::{self, List};
use gridtally::run::{RunOptions, stages as pipeline};
use gridtally::runtime::progress::Silent;
use gridtally::store::{BookLock, Sending};

pub(super) struct Scene(tempfile::TempDir);

impl Scene {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        crate::promises::scene::keep_private(&file);
    }

    /// A lake of these inputs, by end, with further settings of the pipeline.
    pub(super) fn lake(&self, name: &str, source: &str, rest: &str) -> Lake {
        let mut text = format!(
            "[pipeline]\nname = \"p\"\noutput = \"{name}\"\nmax_rejected = 1.0\nattribution = \"by-end\"\noverlap = \"jobs\"\n"
        );
        let _ = write!(text, "[[source]]\nname = \"s\"\n{source}\n{rest}\n");
        self.write(&format!("{name}.toml"), &text);
        self.run(name)
    }

    /// The lake of a pipeline that was written.
    pub(super) fn run(&self, name: &str) -> Lake {
        let (plan, _) = Plan::load(&self.path(&format!("{name}.toml"))).unwrap();
        pipeline::run(&plan, &RunOptions::default(), &Silent).unwrap();
        Lake::open(self.path(name).to_str().unwrap()).unwrap()
    }

    /// A lake of APEL messages.
    pub(super) fn of_messages(&self, name: &str, files: &[&Path]) -> Lake {
        let paths: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
        let source = format!("format = \"apel\"\npaths = {paths:?}\nacceptance = \"strict-apel\"\n");
        self.lake(name, &source, "")
    }

    /// Writes the messages of a lake into a folder.
    pub(super) fn send(&self, lake: &Lake, kind: MessageKind, folder: &str) -> Published {
        let request = ApelRequest {
            kinds: vec![kind],
            users: Users::Keep,
            batch_records: 100,
            ..ApelRequest::default()
        };
        publish(lake, &request, &mut |_, site, month, number, text| {
            self.write(&format!("{folder}/{site}-{month}-{number}.msg"), &text);
            Ok(())
        })
        .unwrap()
    }
}

/// Every file of a folder as one text.
pub(super) fn texts(folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// Sends a plan at once, and keeps book of it.
pub(super) fn send(
    lake: &Lake,
    receiver: &str,
    plan: &SendPlan,
    now_ms: i64,
    list: &mut List<'_>,
    take: &mut ExportTake<'_>,
) -> gridtally::error::Result<Vec<PublicationEntry>> {
    let book = BookLock::take(&lake.store, std::time::Duration::ZERO)?;
    let sending = Sending::begin(&book, &mut [])?;
    let sent = send::send(&sending, lake, receiver, plan, now_ms, list, take)?;
    sending.commit(Vec::new())?;
    Ok(sent)
}
