//! What a receiver holds, and what is done about it: for every report that is sent to somebody.

use super::print;
use crate::cli::output;
use crate::error::{Error, Kind, Result};
use crate::report::lake::{Lake, Selection};
use crate::report::publication::diff;
use crate::report::publication::ledger::{Entry, State};
use crate::report::publication::outbox::{Layout, Outbox, put_delete_list};
use crate::report::publication::send::{self, Gone};
use crate::report::publication::teller::Teller;
use crate::report::render::TableFormat;
use crate::store::Store;

/// The book of what a receiver was sent.
#[derive(Debug, clap::Args)]
pub(super) struct ReceiverArgs {
    /// Keep book in the lake of what this receiver was sent: only months that differ from what it holds are sent, whole,
    /// and what is gone is taken back by records of the same key with zeros, which replace it there. Locked months fail.
    #[arg(long, value_name = "NAME")]
    receiver: Option<String>,

    /// Show what differs from what the receiver holds, and send nothing.
    #[arg(long, requires = "receiver", conflicts_with = "out")]
    diff: bool,

    /// Take nothing back by zeros: write what is gone by its keys into CSV files in this folder or URL, for people at the
    /// receiver who delete it there. APEL's server counts a job with zeros as a job still.
    #[arg(long, value_name = "URL", requires = "receiver", conflicts_with = "diff")]
    delete_list: Option<String>,
}

/// Where what is sent goes.
pub(super) struct Destination<'a> {
    pub(super) out: Option<&'a str>,
    pub(super) layout: Layout,
    pub(super) format: TableFormat,
    pub(super) now_ms: i64,
}

impl ReceiverArgs {
    /// The receiver, where one is named.
    pub(super) fn receiver(&self) -> Option<&str> {
        self.receiver.as_deref()
    }

    /// Sends what differs from what the receiver holds, or shows it.
    pub(super) fn send(
        &self,
        receiver: &str,
        lake: &Lake,
        selection: &Selection,
        teller: &Teller,
        to: &Destination<'_>,
    ) -> Result<()> {
        if !selection.vos.is_empty() {
            let message = "what a receiver holds is told by site and month, whole: --vo cannot be part of it";
            return Err(Error::new(Kind::Usage, message));
        }
        if to.out.is_none() && !self.diff {
            let message = "--receiver needs --out, where to send, or --diff";
            return Err(Error::new(Kind::Usage, message));
        }
        let plan = send::plan(lake, teller, receiver)?;
        for line in &plan.all.left_out {
            output::people(line);
        }
        for (form, site, month) in &plan.unnamed {
            output::people(&format!(
                "{} {site} {month}: it was sent before single jobs were kept: those that are gone cannot be named",
                form.as_str()
            ));
        }
        let title = format!("What differs from what {receiver} holds");
        let table = diff::table(&title, &plan.changes);
        let Some(out) = to.out.filter(|_| !self.diff) else {
            print(&table, to.format)?;
            output::people(&diff::in_brief(&plan.changes));
            return Ok(());
        };
        let lists = self.delete_list.as_deref().map(Store::open).transpose()?;
        let mut list = |place: &_, gone: &[_]| {
            let Some(lists) = &lists else { return Ok(()) };
            let name = put_delete_list(lists, place, to.now_ms, gone)?;
            output::people(&format!("{} records to delete: {name}", gone.len()));
            Ok(())
        };
        let gone = if lists.is_some() {
            Gone::List(&mut list)
        } else {
            Gone::Zeros
        };
        let mut outbox = Outbox::open(out, to.layout, to.now_ms)?;
        let sent = send::send(
            lake,
            teller,
            receiver,
            &plan,
            to.now_ms,
            gone,
            &mut |form, site, month, number, text| outbox.put(form, site, month, number, text).map(drop),
        );
        outbox.close()?;
        if let Some(lists) = &lists {
            lists.leave_no_machinery()?;
        }
        let sent = sent?;
        print(&table, to.format)?;
        let records = |state: State| -> i64 {
            let of = sent.iter().filter(|entry| entry.state == state);
            of.map(Entry::record_n).sum()
        };
        output::people(&format!(
            "{} sent (kinds of message of a site and month), {} records taken back by zeros, {} listed to be deleted",
            plan.places.len(),
            records(State::Retracted),
            records(State::Listed)
        ));
        let zero_jobs = sent
            .iter()
            .filter(|entry| entry.state == State::Retracted && entry.place.0.is_job());
        let zero_jobs: i64 = zero_jobs.map(Entry::record_n).sum();
        if zero_jobs > 0 {
            output::people(&format!(
                "the usage of {zero_jobs} jobs is taken back; APEL's server still counts them as jobs (--delete-list names \
                 them for people who delete)"
            ));
        }
        Ok(())
    }
}
