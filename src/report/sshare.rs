//! What `sshare` prints, of any instant: shares, usage and factors from the jobs of a lake.

use super::lake::Lake;
use super::recovery::{DAY_DIGITS, Recovery, RecoveryRequest, recoveries};
use super::table::{Cell, ColumnKind, Table};
use super::tres_names::tres_names;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Kind, Result};
use crate::fairshare::{AssociationId, AssociationScore, FairshareAlgorithm, LevelFairshare, RawShares};
use crate::numbers::Extent;
use crate::share_history::LakeFairshare;
use crate::share_history::context::FairshareContext;
use crate::share_history::instant::ClusterInstant;
use crate::share_history::resources::{ClusterResources, ResourceMinutes};
use crate::time::instant::instant_text_s;

/// Digits behind the point of fractions, as sshare prints them.
const DIGITS: u8 = 6;
/// Units of stored usage in a billing second.
const E6: i128 = 1_000_000;

/// Whether users are listed below their accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedUsers {
    /// Accounts alone.
    None,
    /// All users, as `sshare -a`.
    All,
}

/// Which columns are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshareColumns {
    /// Those of `sshare`.
    Usual,
    /// Those of `sshare -l`.
    Long,
    /// Those of `sshare -l` with `GrpTRESRaw`.
    LongWithUsed,
}

impl SshareColumns {
    /// Whether columns of `sshare -l` are among them.
    #[must_use]
    pub fn is_long(self) -> bool {
        self != Self::Usual
    }
}

/// Shares of one cluster at one instant, as `sshare` has them.
#[derive(Clone, Debug)]
pub struct Sshare {
    /// What it is computed from.
    pub(super) context: FairshareContext,
    /// Its state.
    pub instant: ClusterInstant,
    /// Resource minutes, where they are printed.
    pub resources: Option<ClusterResources>,
    /// When what is below a threshold is back at it, in the order of the tree; none where it is not requested.
    recoveries: Option<Vec<Recovery>>,
}

/// One column of sshare.
struct SshareColumn {
    name: &'static str,
    width: usize,
    is_left: bool,
    cell: fn(&Sshare, &AssociationScore) -> Option<Cell>,
}

impl Sshare {
    /// Computes it for one cluster of a lake; `change` may replace what the pipeline states. `at_s` is the end of the last job
    /// where no other instant is requested.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when the lake has no fairshare; [`Kind::Usage`] when it has several clusters and none is chosen; as
    /// [`ClusterInstant::read`].
    pub fn of_lake(
        lake: &Lake,
        cluster: Option<&str>,
        at_s: Option<i64>,
        change: impl FnOnce(&mut FairsharePlan) -> Result<()>,
    ) -> Result<Self> {
        let known = LakeFairshare::of_manifest(&lake.manifest);
        let mut plan = choose(&known, cluster)?;
        change(&mut plan)?;
        let at_s = instant_or_last(&known, &plan, at_s)?;
        let context = FairshareContext::read(&known, &lake.manifest, &lake.store, &lake.zone()?, plan)?;
        Self::of_context(lake, context, at_s)
    }

    /// The same of a cluster whose listings are read.
    ///
    /// # Errors
    /// As [`ClusterInstant::read`].
    pub(super) fn of_context(lake: &Lake, context: FairshareContext, at_s: i64) -> Result<Self> {
        let context = context.at(at_s);
        let instant = ClusterInstant::read(&lake.store, &context, at_s, thread_n())?;
        Ok(Self::of_instant(context, instant))
    }

    /// Of a state that is computed already.
    #[must_use]
    pub(super) fn of_instant(context: FairshareContext, instant: ClusterInstant) -> Self {
        Self {
            context,
            instant,
            resources: None,
            recoveries: None,
        }
    }

    /// With the columns of recovery: when the factor of what is below a threshold is back at it.
    ///
    /// # Errors
    /// As [`recoveries`].
    pub fn with_recovery(mut self, request: RecoveryRequest) -> Result<Self> {
        let settings = &self.context.settings;
        self.recoveries = Some(recoveries(
            &self.instant,
            &settings.method,
            settings.rule.decay,
            request,
        )?);
        Ok(self)
    }

    /// With the resource minutes that some columns need.
    ///
    /// # Errors
    /// As [`ClusterResources::read`].
    pub fn with_columns(mut self, lake: &Lake, which: SshareColumns) -> Result<Self> {
        let minutes = match which {
            SshareColumns::Usual => return Ok(self),
            SshareColumns::Long => ResourceMinutes::Running,
            SshareColumns::LongWithUsed => ResourceMinutes::RunningAndUsed,
        };
        let names = tres_names(lake, &self.context)?;
        let (store, at_s) = (&lake.store, self.instant.at_s);
        let resources = ClusterResources::read(store, &self.context, at_s, names, minutes, thread_n())?;
        self.resources = Some(resources);
        Ok(self)
    }

    /// The association of a job of an account, user and partition with its factor; none where it has none.
    pub(super) fn association_of(
        &self,
        account: Option<&str>,
        user: Option<&str>,
        partition: &str,
    ) -> Option<(AssociationId, f64)> {
        let id = self.instant.tree.of_job(account?, user?, partition)?;
        Some((id, self.instant.scores.get(id.index())?.factor?))
    }

    /// What the pipeline states of the scheduler's operation that counts up to the instant, in words for people.
    #[must_use]
    pub fn stated_operation(&self) -> Vec<String> {
        let (context, at_s) = (&self.context, self.instant.at_s);
        let dated = context.settings.dated_usage_n(at_s);
        let of_runs = context.daemon.words_at(at_s, &context.settings.rule);
        let of_usage = (dated > 0)
            .then(|| format!("dated_usage states {dated} times in which jobs are counted by something else"));
        of_runs.into_iter().chain(of_usage).collect()
    }

    fn is_fair_tree(&self) -> bool {
        matches!(self.context.plan.algorithm, FairshareAlgorithm::FairTree { .. })
    }

    fn columns(&self, which: SshareColumns) -> Vec<SshareColumn> {
        let all = [
            column("Account", 20, Self::account),
            column("User", 10, |of, score| {
                Some(Cell::word(of.instant.tree.get(score.id)?.key.user.as_deref()))
            }),
            column("RawShares", 10, Self::raw_shares),
            column("NormShares", 11, |_, score| fraction(score.norm_shares)),
            column("RawUsage", 11, |_, score| {
                Some(Cell::Int(score.usage_e6.div_euclid(E6)))
            }),
            column("NormUsage", 11, Self::norm_usage),
            column("EffectvUsage", 13, |_, score| fraction(score.effective_usage)),
            column("FairShare", 10, |_, score| fraction(score.factor?)),
            column("LevelFS", 10, |_, score| match score.level_fs {
                LevelFairshare::Finite(level_fs) => fraction(level_fs),
                LevelFairshare::Infinite => Some(Cell::text("inf")),
                LevelFairshare::Blank => None,
            }),
            column("GrpTRESMins", 30, |of, score| {
                // Fallback: never taken, the instant was computed of this tree.
                let listed = of.context.listed_at(of.instant.at_s).ok()?;
                let limits = listed.limits(score.id)?;
                Some(Cell::word(limits.grp_tres_mins.as_deref()))
            }),
            column("GrpTRESRaw", 30, |of, score| {
                Some(Cell::text(of.resources.as_ref()?.used_text(score.id.index())?))
            }),
            column("TRESRunMins", 30, |of, score| {
                Some(Cell::text(of.resources.as_ref()?.running_text(score.id.index())?))
            }),
            column("RecoveryDays", 12, |of, score| of.recovery(score)?.days_cell()),
            column("Recovery", 9, |of, score| {
                Some(Cell::text(of.recovery(score)?.as_str()?))
            }),
        ];
        let is_wanted = |column: &SshareColumn| match column.name {
            "NormUsage" | "GrpTRESMins" | "TRESRunMins" => which.is_long(),
            "LevelFS" => which.is_long() && self.is_fair_tree(),
            "GrpTRESRaw" => which == SshareColumns::LongWithUsed,
            "RecoveryDays" | "Recovery" => self.recoveries.is_some(),
            _ => true,
        };
        all.into_iter().filter(is_wanted).collect()
    }

    fn recovery(&self, score: &AssociationScore) -> Option<&Recovery> {
        self.recoveries.as_ref()?.get(score.id.index())
    }

    fn account(&self, score: &AssociationScore) -> Option<Cell> {
        let association = self.instant.tree.get(score.id)?;
        Some(Cell::text(format!(
            "{}{}",
            " ".repeat(association.depth),
            association.key.account
        )))
    }

    fn raw_shares(&self, score: &AssociationScore) -> Option<Cell> {
        if score.id == self.instant.tree.root() {
            return None;
        }
        match self.instant.tree.get(score.id)?.shares {
            RawShares::Number(shares) => Some(Cell::int(shares)),
            RawShares::Parent => Some(Cell::text("parent")),
        }
    }

    /// Nothing of the root, and while nothing was used.
    fn norm_usage(&self, score: &AssociationScore) -> Option<Cell> {
        let has_usage = self.instant.scores.first().is_some_and(|root| root.usage_e6 > 0);
        let is_root = score.id == self.instant.tree.root();
        fraction(score.norm_usage).filter(|_| has_usage && !is_root)
    }

    /// The scores that are listed.
    fn listed(&self, users: ListedUsers) -> impl Iterator<Item = &AssociationScore> {
        let is_listed = move |score: &&AssociationScore| {
            let association = self.instant.tree.get(score.id);
            users == ListedUsers::All || association.is_some_and(|association| !association.key.is_user())
        };
        self.instant.scores.iter().filter(is_listed)
    }

    /// As a table with typed cells.
    #[must_use]
    pub fn table(&self, which: SshareColumns, users: ListedUsers) -> Table {
        let columns = self.columns(which);
        let described: Vec<(&str, &str, ColumnKind)> = columns.iter().map(|column| described(column.name)).collect();
        let at = instant_text_s(self.instant.at_s).unwrap_or_else(|| self.instant.at_s.to_string());
        let mut table = Table::new(format!("Shares of {} at {at}", self.context.plan.cluster), &described);
        for score in self.listed(users) {
            let cells = columns
                .iter()
                .map(|column| (column.cell)(self, score).unwrap_or(Cell::Empty));
            table.push(cells.collect());
        }
        table
    }

    /// As `sshare -P` prints it.
    #[must_use]
    pub fn parsable(&self, which: SshareColumns, users: ListedUsers) -> String {
        let columns = self.columns(which);
        let head: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let mut text = head.join("|");
        text.push('\n');
        for score in self.listed(users) {
            let cells = columns.iter().map(|column| self.printed(column, score));
            text.push_str(&cells.collect::<Vec<_>>().join("|"));
            text.push('\n');
        }
        text
    }

    /// As `sshare` prints it: columns of a fixed width; what is too wide is cut and marked with a plus.
    #[must_use]
    pub fn fixed(&self, which: SshareColumns, users: ListedUsers) -> String {
        let columns = self.columns(which);
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            for (column, cell) in columns.iter().zip(cells) {
                text.push_str(&padded(column, &cell));
                text.push(' ');
            }
            text.push('\n');
        };
        line(columns.iter().map(|column| column.name.to_owned()).collect());
        line(columns.iter().map(|column| "-".repeat(column.width)).collect());
        for score in self.listed(users) {
            line(columns.iter().map(|column| self.printed(column, score)).collect());
        }
        text
    }

    fn printed(&self, column: &SshareColumn, score: &AssociationScore) -> String {
        (column.cell)(self, score).map_or_else(String::new, |cell| cell.to_string())
    }
}

fn column(name: &'static str, width: usize, cell: fn(&Sshare, &AssociationScore) -> Option<Cell>) -> SshareColumn {
    SshareColumn {
        name,
        width,
        is_left: name == "Account",
        cell,
    }
}

/// Name, unit and kind of a column in tables.
fn described(name: &'static str) -> (&'static str, &'static str, ColumnKind) {
    match name {
        "Account" | "User" | "RawShares" | "LevelFS" | "Recovery" => (name, "", ColumnKind::Text),
        "GrpTRESMins" | "GrpTRESRaw" | "TRESRunMins" => (name, "min", ColumnKind::Text),
        "RecoveryDays" => (name, "day", ColumnKind::Decimal(DAY_DIGITS)),
        "RawUsage" => (name, "billing s", ColumnKind::Number),
        _ => (name, "1", ColumnKind::Decimal(DIGITS)),
    }
}

/// A fraction with the digits of sshare: C's `%.6f` of the exact value of the double; nothing where it is too large.
pub(super) fn fraction(fraction: f64) -> Option<Cell> {
    let text = format!("{fraction:.6}");
    let digits: String = text.chars().filter(|character| *character != '.').collect();
    let value = digits.parse().ok()?;
    Some(Cell::Decimal { value, scale: DIGITS })
}

fn padded(column: &SshareColumn, cell: &str) -> String {
    let width = column.width;
    if cell.chars().count() > width {
        let kept: String = cell.chars().take(width.less(1)).collect();
        return format!("{kept}+");
    }
    if column.is_left {
        format!("{cell:<width$}")
    } else {
        format!("{cell:>width$}")
    }
}

/// Threads that read records.
pub(super) fn thread_n() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// An instant, or the end of the last job of a cluster.
pub(super) fn instant_or_last(known: &LakeFairshare, plan: &FairsharePlan, at_s: Option<i64>) -> Result<i64> {
    let at_s = at_s.or_else(|| known.last_job_end_s(plan));
    at_s.ok_or_else(|| {
        Error::new(
            Kind::Data,
            "the lake has no job of the cluster: choose an instant with --at",
        )
    })
}

/// The fairshare of the pipeline that is requested.
pub(super) fn choose(known: &LakeFairshare, cluster: Option<&str>) -> Result<FairsharePlan> {
    let names: Vec<&str> = known.plans().map(|plan| plan.cluster.as_str()).collect();
    if names.is_empty() {
        let message = "the lake has no fairshare: its pipeline has no [[fairshare]]";
        return Err(Error::new(Kind::NoInput, message));
    }
    let listed = names.join(", ");
    let mut found = known
        .plans()
        .filter(|plan| cluster.is_none_or(|cluster| plan.cluster == cluster));
    match (found.next(), found.next()) {
        (Some(plan), None) => Ok(plan.clone()),
        (Some(_), Some(_)) => {
            let message = format!("the lake has the fairshare of several clusters: choose with --cluster ({listed})");
            Err(Error::new(Kind::Usage, message))
        }
        (None, _) => {
            let message = format!("the lake has no fairshare of that cluster; it has that of {listed}");
            Err(Error::new(Kind::Usage, message))
        }
    }
}
