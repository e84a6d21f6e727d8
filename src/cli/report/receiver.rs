//! What a receiver holds, and what is done about it: for every report that is sent to somebody.

use tracing::info;

use super::print::print;
use crate::cli::publication::{note_cut_off, note_heads};
use crate::cli::reading::reading;
use crate::cli::wait::WaitArgs;
use crate::error::{Error, Kind, Result};
use crate::reference::decimal;
use crate::report::apel::MessageKind;
use crate::report::lake::{Lake, Selection};
use crate::report::publication::exporter::Exporter;
use crate::report::publication::ledger::{PublicationEntry, PublicationPlace, PublicationState};
use crate::report::publication::message_record::MessageRecord;
use crate::report::publication::outbox::{Outbox, OutboxLayout, OutboxListed, put_delete_list};
use crate::report::publication::plan::{PublicationPlan, plan};
use crate::report::publication::record_format::RecordFormat;
use crate::report::publication::terms::Terms;
use crate::report::publication::{diff, send};
use crate::report::render::TableFormat;
use crate::report::table::divide;
use crate::runtime::clock;
use crate::store::{BookLock, Manifest, Outgoing, Sending, StatePart};

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

    /// A kind the receiver may count in addition to another of the same site and month; may be given several times. Without it
    /// a second kind, which would count the same jobs once more, is an error. Sync records are held in addition to any.
    #[arg(long, value_name = "KIND")]
    beside: Vec<RecordFormat>,

    /// Put summaries over the rows of the super-summaries of APEL's server that its jobs no longer give, with zeros. When
    /// messages of single jobs change the VO, the benchmark or another part of such a row, the server writes a new row and
    /// keeps the old one. What is once put over a row is kept true from then on.
    #[arg(long, requires = "receiver", conflicts_with = "delete_list")]
    repair_summaries: bool,

    #[command(flatten)]
    wait: WaitArgs,
}

/// Where what is sent goes.
pub(super) struct Destination<'a> {
    pub(super) out: Option<&'a str>,
    pub(super) layout: OutboxLayout,
    pub(super) format: TableFormat,
}

impl ReceiverArgs {
    /// The receiver, where one is named.
    pub(super) fn receiver(&self) -> Option<&str> {
        self.receiver.as_deref()
    }

    /// Refuses kinds that may be counted as well where none of the messages is counted, or one alone that no receiver holds.
    pub(super) fn refuse_idle(&self, kinds: &[MessageKind]) -> Result<()> {
        let counted_n = kinds.iter().filter(|kind| RecordFormat::Apel(**kind).counts()).count();
        let message = match (counted_n, self.receiver()) {
            _ if self.beside.is_empty() => return Ok(()),
            (0, _) => "--beside does nothing for sync",
            (1, None) => "--beside does nothing for one kind of message without --receiver",
            _ => return Ok(()),
        };
        Err(Error::new(Kind::Usage, message))
    }

    /// Of kinds that go to one place, only one may be counted there.
    pub(super) fn refuse_doubles(&self, kinds: &[MessageKind]) -> Result<()> {
        let counted = kinds
            .iter()
            .map(|kind| RecordFormat::Apel(*kind))
            .filter(|form| form.counts());
        let unagreed: Vec<&str> = counted
            .filter(|form| !self.beside.contains(form))
            .map(RecordFormat::as_str)
            .collect();
        if unagreed.len() < 2 {
            return Ok(());
        }
        let message = format!(
            "{} describe the same jobs: a receiver counts each of them; choose one, or name with --beside KIND what it may \
             count as well",
            unagreed.join(" and ")
        );
        Err(Error::new(Kind::Usage, message))
    }

    /// Sends what differs from what the receiver holds, or shows it. `select` gives the selection and the exporter for a lake.
    pub(super) fn run(
        &self,
        receiver: &str,
        lake: &str,
        to: &Destination<'_>,
        select: impl Fn(&Lake) -> Result<(Selection, Exporter)>,
    ) -> Result<()> {
        let compare = || {
            let lake = Lake::open(lake)?;
            let (selection, exporter) = select(&lake)?;
            if !selection.vos.is_empty() {
                let message = "what a receiver holds is compared by complete site and month: --vo cannot restrict it";
                return Err(Error::new(Kind::Usage, message));
            }
            if to.out.is_none() && !self.diff {
                let message = "--receiver needs --out, where to send, or --diff";
                return Err(Error::new(Kind::Usage, message));
            }
            let plan = plan(&lake, &exporter, receiver, &self.terms())?;
            note(&plan);
            Ok((lake, plan))
        };
        let title = format!("What differs from what {receiver} holds");
        let Some(out) = to.out.filter(|_| !self.diff) else {
            return reading(&[lake], StatePart::Book, || {
                let (_, plan) = compare()?;
                print(&diff::table(&title, &plan.changes), to.format)?;
                info!("{}", diff::in_brief(&plan.changes));
                if let Some(doubled) = &plan.doubled {
                    info!("{doubled}");
                }
                note_new_receiver(&plan);
                Ok(())
            });
        };
        // Checked before locking: a folder that is not a lake is left as it is.
        let (store, _) = Manifest::open(lake)?;
        let book = BookLock::take(&store, self.wait.or(0))?;
        note_cut_off(&book);
        let (lake, plan) = compare()?;
        let sent = self.send(&book, receiver, &lake, &plan, out, to.layout)?;
        print(&diff::table(&title, &plan.changes), to.format)?;
        note_sent(&plan, &sent);
        note_new_receiver(&plan);
        Ok(())
    }

    fn terms(&self) -> Terms {
        Terms {
            also_counted: self.beside.iter().copied().collect(),
            is_listing: self.delete_list.is_some(),
            is_repairing: self.repair_summaries,
        }
    }

    /// Sends a plan, and enters it into the book.
    fn send(
        &self,
        book: &BookLock,
        receiver: &str,
        lake: &Lake,
        plan: &PublicationPlan,
        out: &str,
        layout: OutboxLayout,
    ) -> Result<Vec<PublicationEntry>> {
        send::permit(lake, plan)?;
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        // Not before the lock is held: what is sent later has later names.
        let now_ms = clock::now_ms();
        let mut outbox = Outbox::open(out, layout, now_ms, lake.store.url())?;
        let mut lists = self.delete_list.as_deref().map(Outgoing::open).transpose()?;
        let mut folders: Vec<&mut Outgoing> = vec![outbox.outgoing()];
        folders.extend(lists.as_mut());
        let sending = Sending::begin(book, &mut folders)?;
        let mut list = |place: &_, listed: OutboxListed, gone: &[_]| {
            let Some(lists) = &mut lists else { return Ok(()) };
            let name = put_delete_list(lists, place, listed, now_ms, gone)?;
            info!("{} records to delete: {name}", gone.len());
            Ok(())
        };
        let sent = send::send(
            &sending,
            lake,
            receiver,
            plan,
            now_ms,
            &mut list,
            &mut |form, site, month, number, text| outbox.put(form, site, month, number, text).map(drop),
        )?;
        let outgoing = std::iter::once(outbox.into_outgoing()).chain(lists);
        note_heads(&sending.commit(outgoing.collect())?);
        Ok(sent)
    }
}

/// What people have to know of a plan.
fn note(plan: &PublicationPlan) {
    for line in &plan.all.left_out {
        info!("{line}");
    }
    for PublicationPlace { form, site, month } in &plan.unnamed {
        info!(
            "{} {site} {month}: it was sent before single jobs were kept: those that are gone cannot be named",
            form.as_str()
        );
    }
    for line in stale_lines(plan) {
        info!("{line}");
    }
}

/// Whether nothing was sent to the receiver before: the last line, for a name may be misspelt.
fn note_new_receiver(plan: &PublicationPlan) {
    if let Some(new) = &plan.new_receiver {
        info!("{new}");
    }
}

/// What was sent, in numbers.
fn note_sent(plan: &PublicationPlan, sent: &[PublicationEntry]) {
    let records = |state: PublicationState| -> i64 {
        let of = sent.iter().filter(|entry| entry.state == state);
        of.map(PublicationEntry::record_n).sum()
    };
    info!(
        "{} sent (kinds of message of a site and month), {} records taken back by zeros, {} listed to be deleted",
        plan.places.len(),
        records(PublicationState::Retracted),
        records(PublicationState::Listed) + records(PublicationState::SuperListed)
    );
    let respelled = records(PublicationState::Respelled);
    if respelled > 0 {
        info!("{respelled} records replaced by the same under another name of their site, and not taken back");
    }
    let overlaid = records(PublicationState::Overlaid);
    if overlaid > 0 {
        info!("{overlaid} summaries put over rows of the server's super-summaries");
    }
    let zero_jobs = sent
        .iter()
        .filter(|entry| entry.state == PublicationState::Retracted && entry.place.form.is_job());
    let zero_jobs: i64 = zero_jobs.map(PublicationEntry::record_n).sum();
    if zero_jobs > 0 {
        info!(
            "the usage of {zero_jobs} jobs is taken back; APEL's server still counts them as jobs (--delete-list names \
             them for people who delete)"
        );
    }
}

/// What APEL's server keeps of jobs that are there no more, a line for each site and month.
fn stale_lines(plan: &PublicationPlan) -> Vec<String> {
    let mut lines = Vec::new();
    for (PublicationPlace { site, month, .. }, rows) in &plan.stale {
        let sum = |of: &dyn Fn(&MessageRecord) -> Option<i64>| rows.iter().filter_map(of).map(i128::from).sum::<i128>();
        let hours = |seconds: i128| {
            let hundredths = divide(seconds * 100, 3600);
            hundredths.map_or_else(String::new, |hundredths| decimal::text(hundredths, 2))
        };
        let remedy = if plan.terms.is_repairing {
            "zeros are put over them"
        } else if plan.terms.is_listing {
            "they are listed to be deleted"
        } else {
            "--repair-summaries puts zeros over them, --delete-list names them for people who delete, and messages of \
             summaries in place of jobs never leave any"
        };
        lines.push(format!(
            "{site} {month}: the server keeps {} rows of its super-summaries whose jobs are under other keys now: {} jobs, \
             {} wall hours and {} CPU hours too many; {remedy}",
            rows.len(),
            sum(&|reported| Some(reported.job_n())),
            hours(sum(&MessageRecord::wall_s)),
            hours(sum(&MessageRecord::cpu_s)),
        ));
    }
    lines
}
