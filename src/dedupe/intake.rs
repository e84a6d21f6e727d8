//! The intake of `dedupe`: takes the rows of a reader, resolves site and VO, seals identity, and counts outcomes.

use std::rc::Rc;
use std::sync::Arc;

use super::columns::DerivedFields;
use super::contradictory_times::ContradictoryTimes;
use super::hashed_bytes::HashedBytes;
use super::identity::{IdentityContent, job_hash, record_id};
use super::intake_batch::{IntakeBatch, Reject};
use super::intake_rows::IntakeRows;
use super::limits::{
    Placement, anomalies_of, check_inventory, check_names, check_summary, check_texts, node_list_within_limit, place,
};
use super::mapping::MappingCounts;
use super::options::IntakeOptions;
use super::reject_text;
use super::tool_message::ToolMessage;
use super::unknown_cores::UnknownCores;
use super::window::Window;
use crate::error::{Error, Result};
use crate::ledger::{JobSampler, Places, Reason, RowPlace};
use crate::numbers::counted_i64;
use crate::privacy::{Field, Privacy};
use crate::record::anomaly::Anomaly;
use crate::record::row::JobRow;
use crate::record::unchanged_columns::UnchangedColumns;
use crate::record::{Summary, SummaryRow};
use crate::reference::benchmark::scaled_to::ScaledTo;
use crate::reference::inventory::{InventoryPlaced, InventoryRow};
use crate::reference::site::SiteRule;
use crate::reference::vo_corrections::VoOrigin;
use crate::reference::vo_rule::VoRule;
use crate::sources::dialect::Dialect;
use crate::sources::{Position, Sink};
use crate::time::{DAY_MS, Day, Month};

/// Summaries and rows about the machine that are held at most.
const HELD_ROWS: usize = 8192;

/// A [`Sink`] for one thread and one input file.
pub struct Intake {
    options: Rc<IntakeOptions>,
    dialect: Dialect,
    file_id: Arc<str>,
    window: Window,
    privacy: Option<Arc<Privacy>>,
    rows: IntakeRows,
    /// Whether the last of the rows is of this file.
    is_file_begun: bool,
    summaries: Vec<Summary>,
    rejects: Vec<Reject>,
    inventory: Vec<InventoryPlaced>,
    tally: Places,
    mapping: MappingCounts,
    times: ContradictoryTimes,
    cores: UnknownCores,
    sample: JobSampler,
    tool_message: Option<ToolMessage>,
    rows_read: u64,
    rows_candidate: u64,
    scratch: HashedBytes,
    content: IdentityContent,
    /// Whether the last job received is the last row of the columns.
    is_last_kept: bool,
    /// The day looked at last, and its month: rows of one day come together.
    day: (i64, Option<Month>),
    failure: Option<Error>,
}

impl Intake {
    /// An intake for `file_id`, read as `dialect`, completed by `options`; its candidates are put behind `rows`, which are of
    /// the same source.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "whoever makes one has the plan to give")]
    pub fn new(
        options: Arc<IntakeOptions>,
        dialect: Dialect,
        file_id: Arc<str>,
        window: Window,
        rows: IntakeRows,
    ) -> Self {
        Self {
            // A copy of its own: it is taken up for every job, and a counter that threads share costs more than the rest.
            options: Rc::new(IntakeOptions::clone(&options)),
            dialect,
            file_id,
            window,
            privacy: None,
            rows,
            is_file_begun: false,
            summaries: Vec::new(),
            rejects: Vec::new(),
            inventory: Vec::new(),
            tally: Places::default(),
            mapping: MappingCounts::default(),
            times: ContradictoryTimes::default(),
            cores: UnknownCores::default(),
            sample: JobSampler::default(),
            tool_message: None,
            rows_read: 0,
            rows_candidate: 0,
            scratch: HashedBytes::default(),
            content: IdentityContent::default(),
            is_last_kept: false,
            day: (0, Month::of_ms(0)),
            failure: None,
        }
    }

    /// With names masked before anything else sees them.
    #[must_use]
    pub fn under(mut self, privacy: Option<Arc<Privacy>>) -> Self {
        self.privacy = privacy;
        self
    }

    /// Whether it holds enough to be harvested. Refusals come with their raw text and do not wait.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rows.is_full() || self.summaries.len() + self.inventory.len() >= HELD_ROWS || !self.rejects.is_empty()
    }

    /// Everything taken in, and the candidates, its own behind those it was given.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the texts of a batch are too long.
    pub fn harvest(mut self) -> Result<(IntakeBatch, IntakeRows)> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let harvest = IntakeBatch {
            summaries: self.summaries,
            rejects: self.rejects,
            inventory: self.inventory,
            tally: self.tally,
            mapping: self.mapping,
            times: self.times,
            cores: self.cores,
            sample: self.sample.finish(),
            tool_message: self.tool_message,
            rows_read: self.rows_read,
            rows_candidate: self.rows_candidate,
        };
        Ok((harvest, self.rows))
    }

    /// The day of an instant, and its month.
    fn place_in_time(&mut self, ms: i64) -> (i64, Option<Month>) {
        let day = ms.div_euclid(DAY_MS);
        if day != self.day.0 {
            self.day = (day, Month::of_ms(ms));
        }
        self.day
    }

    /// Takes a job that ran, with the number of a batch system, into the sample of the file.
    fn take_sample(&mut self, row: &JobRow<'_>) {
        let (Some(start_ms), Some(end_ms)) = (row.start_ms, row.end_ms) else {
            return;
        };
        // Fallback: never taken, `limits::place` refuses instants after 2200.
        let ended = Day::try_from(end_ms.div_euclid(DAY_MS)).unwrap_or(Day::MAX);
        if self.dialect.row().has_job_numbers {
            self.sample
                .add(ended, job_hash(row, start_ms, end_ms, &mut self.scratch));
        }
    }

    fn refuse_job(&mut self, reason: Reason, at: Position, rows: u64, row: &JobRow<'_>, detail: &str) {
        let raw = match &self.privacy {
            // Refused before it is placed in time: there is no period for a pseudonym.
            Some(privacy) => reject_text::job(&privacy.mask(row, "", None).apply(row)),
            None => reject_text::job(row),
        };
        self.refuse(reason, at, rows, &raw, detail);
    }

    fn refuse_summary(&mut self, reason: Reason, at: Position, row: &SummaryRow<'_>, detail: &str) {
        let mut row = row.clone();
        if let Some(privacy) = &self.privacy {
            row.global_user = row.global_user.filter(|_| privacy.keeps(Field::GlobalUser));
        }
        self.refuse(reason, at, 1, &reject_text::summary(&row), detail);
    }

    fn refuse(&mut self, reason: Reason, at: Position, rows: u64, raw: &str, detail: &str) {
        self.count(None, None, reason, rows);
        // The sentence is this room's own and the row is masked: nothing is left to withhold.
        self.rejects
            .push(Reject::new(reason, at, rows, detail, raw.as_bytes(), false));
    }

    /// The site by a rule; which one fired is counted.
    fn site<'r>(&mut self, rule: &'r SiteRule, row: &JobRow<'r>) -> Option<&'r str> {
        let (site, fired) = rule.site(row);
        if let Some(fired) = fired {
            let unknown = (fired == "unmapped").then(|| rule.unmapped_name(row));
            self.mapping.site(fired, unknown.as_deref());
        }
        site
    }

    /// The VO by a rule; which of GRACC's corrections fired is counted.
    fn vo<'r>(&mut self, rule: &'r VoRule, row: &JobRow<'r>) -> Option<&'r str> {
        if let VoRule::Corrections(corrections) = rule {
            let (vo, origin) = corrections.resolve(row);
            let is_unknown = matches!(origin, VoOrigin::Unmapped | VoOrigin::Sentinel);
            let unknown = row.vo_name.or(row.vo).filter(|_| is_unknown);
            self.mapping.vo(origin.as_str(), unknown);
            return vo;
        }
        let vo = rule.vo(row);
        if let (VoRule::Table(_), None) = (rule, vo) {
            self.mapping.vo("unmapped", row.vo_name.or(row.vo).or(row.account));
        }
        vo
    }

    fn count(&mut self, site: Option<&str>, month: Option<Month>, reason: Reason, rows: u64) {
        let site = site.map(str::to_owned);
        self.tally.add(RowPlace { site, month, reason }, rows);
    }
}

impl Sink for Intake {
    fn rows_read(&mut self, n: u64) {
        self.rows_read += n;
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        let rows = 1 + u64::from(step_n);
        let is_last_kept = std::mem::take(&mut self.is_last_kept);
        let options = Rc::clone(&self.options);
        let apart = options.scaled_to.map(|scaled_to| set_apart(row, scaled_to));
        let row = apart.as_ref().unwrap_or(row);
        let site = match &options.site {
            Some(site) => Some(site.as_str()),
            None => self.site(&options.site_rule, row),
        };
        let Some(site) = site.filter(|site| !site.is_empty()) else {
            return self.refuse_job(
                Reason::SiteUnknown,
                at,
                rows,
                row,
                "neither the record nor the source names the site",
            );
        };
        let named = check_names(Some(site), None).and_then(|()| check_texts(row));
        let placed = named.and_then(|()| place(self.dialect, row));
        let Placement { record_ms, wall_ms } = match placed {
            Ok(placement) => placement,
            Err((reason, detail)) => return self.refuse_job(reason, at, rows, row, detail),
        };
        // Of all months: which of them a run takes is no matter of the file.
        self.take_sample(row);
        let (day, month) = self.place_in_time(record_ms);
        if month.is_some_and(|month| !self.window.holds(month)) {
            return self.count(Some(site), month, Reason::OutsidePeriod, rows);
        }
        let mut anomalies = row.anomalies | anomalies_of(row, wall_ms);
        if row.cpu_ms.is_some_and(|cpu| cpu < 0) {
            anomalies |= Anomaly::ValueDropped.bit() | Anomaly::CpuUnknown.bit();
        }
        if row.node_list.is_some() && node_list_within_limit(row).is_none() {
            anomalies |= Anomaly::ValueDropped.bit();
        }
        let completed = options.completed(row);
        let row = completed.as_ref().unwrap_or(row);
        let vo = self.vo(&options.vo, row).filter(|vo| !vo.is_empty());
        if let Err((reason, detail)) = check_names(None, vo) {
            return self.refuse_job(reason, at, rows, row, detail);
        }
        if vo.is_none() {
            anomalies |= Anomaly::VoUnmapped.bit();
        }
        self.times.look(row, wall_ms, anomalies);
        self.cores.look(row, wall_ms);
        // The VO is found by the names as they are; nothing behind this line sees them, hashes included.
        let masks = self.privacy.as_ref().map(|privacy| privacy.mask(row, site, month));
        let masked = masks.as_ref().map(|masks| masks.apply(row));
        let row = masked.as_ref().unwrap_or(row);
        let repeats = repeated(row, &options.vo).when(is_last_kept);
        let mut scratch = std::mem::take(&mut self.scratch);
        let sealed = DerivedFields {
            record_id: record_id(self.dialect, site, row, record_ms, &mut scratch),
            record_ms,
            format: self.dialect.as_str(),
            vo,
            wall_ms,
            anomalies,
            step_n,
            file_id: &self.file_id,
            is_file_repeated: self.is_file_begun,
            line: counted_i64(at.line),
            byte_offset: counted_i64(at.byte_offset),
            content_hash: self.content.hash(row, wall_ms, vo, repeats),
            repeats,
        };
        if let Err(e) = self.rows.columns.push(row, &sealed) {
            self.failure.get_or_insert(e);
        }
        self.scratch = scratch;
        // Fallback: never taken, `limits::place` refuses instants after 2200.
        self.rows.place(site, i32::try_from(day).unwrap_or(i32::MAX));
        self.is_file_begun = true;
        self.rows_candidate += rows;
        self.is_last_kept = true;
    }

    fn summary(&mut self, row: &SummaryRow<'_>, at: Position) {
        let options = Rc::clone(&self.options);
        let as_job = as_job(row);
        let site = match &options.site {
            Some(site) => Some(site.as_str()),
            None => self.site(&options.site_rule, &as_job),
        };
        let Some(site) = site.filter(|site| !site.is_empty()) else {
            let detail = "neither the record nor the source names the site";
            return self.refuse_summary(Reason::SiteUnknown, at, row, detail);
        };
        let Some(month) = row.month else {
            return self.refuse_summary(Reason::BadTime, at, row, "the record names no month that exists");
        };
        if let Err((reason, detail)) = check_names(Some(site), None).and_then(|()| check_summary(row)) {
            return self.refuse_summary(reason, at, row, detail);
        }
        if !self.window.holds(month) {
            return self.count(Some(site), Some(month), Reason::OutsidePeriod, 1);
        }
        let vo = self.vo(&options.vo, &as_job).filter(|vo| !vo.is_empty());
        if let Err((reason, detail)) = check_names(None, vo) {
            return self.refuse_summary(reason, at, row, detail);
        }
        let masked = self
            .privacy
            .as_ref()
            .map(|privacy| privacy.mask(&as_job, site, Some(month)));
        let mut row = row.clone();
        row.infrastructure = row.infrastructure.or(options.stated_infrastructure());
        if let Some(masked) = &masked {
            row.global_user = masked.apply(&as_job).global_user;
        }
        let mut summary = Summary::seal(&row, site, month, &options.source, vo);
        summary.file_id = Arc::clone(&self.file_id);
        summary.line = counted_i64(at.line);
        summary.byte_offset = counted_i64(at.byte_offset);
        self.summaries.push(summary);
        self.rows_candidate += 1;
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        self.count(None, None, reason, rows);
        let is_withheld = self.privacy.is_some();
        self.rejects
            .push(Reject::new(reason, at, rows, detail, raw, is_withheld));
    }

    fn inventory(&mut self, row: &InventoryRow, at: Position, rows: u64) {
        if let Err((reason, detail)) = check_inventory(row) {
            // A row that lists several nodes is refused once.
            if rows > 0 || self.rejects.last().is_none_or(|last| last.at != at) {
                self.refuse(reason, at, rows, "", detail);
            }
            return;
        }
        if rows > 0 {
            self.count(None, None, Reason::Inventory, rows);
        }
        let mut row = row.clone();
        if self.privacy.as_ref().is_some_and(|privacy| !privacy.keeps(Field::User)) {
            row.withhold_users();
        }
        self.inventory.push(InventoryPlaced {
            row,
            line: at.line,
            input_row_n: rows,
        });
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.count(None, None, reason, rows);
    }

    fn tool_message(&mut self, at: Position, text: &[u8]) {
        self.out_of_scope(Reason::ToolMessage, 1);
        let message = ToolMessage::new(at, text, self.privacy.is_some());
        self.tool_message = ToolMessage::first(self.tool_message.take(), Some(message));
    }

    fn dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }
}

/// The texts that are as in the row before, of which the VO is found by a rule.
fn repeated(row: &JobRow<'_>, rule: &VoRule) -> UnchangedColumns {
    match rule {
        VoRule::Record | VoRule::Value(_) => row.repeats,
        // Whatever they look at.
        _ => row.repeats.without(UnchangedColumns::VO),
    }
}

/// The fields of a summary that rules of sites, VOs and names read.
fn as_job<'a>(row: &SummaryRow<'a>) -> JobRow<'a> {
    JobRow {
        view: row.view,
        site: row.site,
        cluster: row.cluster,
        submit_host: row.submit_host,
        payload_site: row.payload_site,
        vo: row.vo,
        vo_name: row.vo_name,
        reportable_vo: row.reportable_vo,
        vo_group: row.vo_group,
        vo_role: row.vo_role,
        account: row.account,
        global_user: row.global_user,
        ..JobRow::default()
    }
}

/// The row of a source whose times arrive scaled: they are set apart, and what they were before is not known from it.
/// Start and end are instants and scaled by nothing.
fn set_apart<'a>(row: &JobRow<'a>, scaled_to: ScaledTo) -> JobRow<'a> {
    let mut row = row.clone();
    if scaled_to.is_cpu {
        row.scaled_cpu_ms = row.cpu_ms.take().filter(|cpu_ms| *cpu_ms >= 0);
        (row.cpu_user_ms, row.cpu_system_ms) = (None, None);
    }
    if scaled_to.is_wall {
        row.scaled_wall_ms = row.wall_ms.take().filter(|wall_ms| *wall_ms >= 0);
    }
    row
}
