//! What `sprio` prints of the waiting jobs of a listing: the terms of their priority, computed again from shares, usage and
//! settings.

use super::lake::Lake;
use super::queue::{Queue, QueuedJob, mebibytes};
use super::sshare::{Sshare, choose};
use super::table::{Cell, ColumnKind, Table};
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::{PriorityFacts, PriorityHold, PriorityTerms, TresAmount, printed};
use crate::fairshare::two_term::TwoTermPriority;
use crate::numbers::Comparand;
use crate::share_history::LakeFairshare;
use crate::share_history::context::FairshareContext;
use crate::share_history::listed_priorities::ListedPartition;
use crate::time::instant::instant_text_s;

/// How a priority is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityForm {
    /// Slurm's multifactor priority.
    Multifactor,
    /// Fairshare and age alone, as FASRC describes it.
    TwoTerm,
}

/// One waiting job in one of its partitions.
#[derive(Clone, Debug)]
struct SprioLine {
    job: QueuedJob,
    partition: String,
    factor: f64,
    waiting_s: i64,
    terms: PriorityTerms,
}

/// The priority of a waiting job in one of its partitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingPriority<'a> {
    pub(super) job: &'a QueuedJob,
    pub(super) partition: &'a str,
    pub(super) priority: u32,
}

/// The waiting jobs of a cluster with their priorities.
#[derive(Clone, Debug)]
pub struct Sprio {
    cluster: String,
    /// The instant of calculation, Unix seconds.
    pub at_s: i64,
    lines: Vec<SprioLine>,
    /// Jobs that wait without a priority: held, or their age does not count yet.
    pub without_priority_n: usize,
    /// Jobs of accounts or users that no listing of associations has.
    pub unlisted: Vec<String>,
    /// Whether the term of associations is known: it has no weight, or a listing states priorities of associations.
    pub has_association_priorities: bool,
    /// Whether the size of jobs has a weight: that of jobs that take whole nodes is not known exactly.
    pub has_size_weight: bool,
}

/// What the association of a job decides of its priority.
#[derive(Clone, Copy, Debug)]
struct AssociationTerms {
    factor: f64,
    priority: u32,
}

impl Sprio {
    /// Computes the priorities of the newest listing of waiting jobs of a cluster, as of the last calculation before it.
    ///
    /// # Errors
    /// As [`Queue::read`] and [`Sshare::of_lake`]; [`Kind::Data`] when a listing lacks the partition or an amount of a job.
    pub fn of_lake(lake: &Lake, cluster: Option<&str>) -> Result<Self> {
        let known = LakeFairshare::of_manifest(&lake.manifest);
        let plan = choose(&known, cluster)?;
        let context = FairshareContext::read(&known, &lake.manifest, &lake.store, &lake.zone()?, plan)?;
        let queue = Queue::read(lake, &context)?;
        let listed_s = queue.as_of_ms.div_euclid(1000);
        let sshare = Sshare::of_context(lake, context, listed_s)?;
        Self::of_queue(&queue, &sshare)
    }

    /// The priorities of a queue with the factors of the instant of its listing.
    ///
    /// # Errors
    /// [`Kind::Data`] when a listing lacks the partition or an amount of a job.
    pub(super) fn of_queue(queue: &Queue, sshare: &Sshare) -> Result<Self> {
        let listed_s = queue.as_of_ms.div_euclid(1000);
        let listed = sshare.context.listed_at(listed_s)?;
        let at_s = sshare.context.calculated_s(listed_s);
        let mut sprio = Self {
            cluster: sshare.context.plan.cluster.clone(),
            has_association_priorities: listed.highest_priority() > 0 || queue.rule.weights.association == 0,
            has_size_weight: queue.rule.weights.job_size > 0,
            at_s,
            lines: Vec::new(),
            without_priority_n: 0,
            unlisted: Vec::new(),
        };
        for job in &queue.jobs {
            let accrue_s = job.accrue_ms.map(|ms| ms.div_euclid(1000));
            let Some(accrue_s) = accrue_s.filter(|_| !job.is_held) else {
                sprio.without_priority_n += 1;
                continue;
            };
            for partition in &job.partitions {
                let of_job = sshare.association_of(job.account.as_deref(), job.user.as_deref(), partition);
                let Some((id, factor)) = of_job else {
                    sprio.unlisted.push(job.job_id.clone());
                    continue;
                };
                let waiting_s = at_s.difference_to_compare(accrue_s).max(0);
                let of_association = AssociationTerms {
                    factor,
                    priority: listed.priority(id),
                };
                let facts = facts(job, partition, queue, of_association, waiting_s)?;
                sprio.lines.push(SprioLine {
                    job: job.clone(),
                    partition: partition.clone(),
                    factor,
                    waiting_s,
                    terms: queue.rule.terms(&facts),
                });
            }
        }
        Ok(sprio)
    }

    /// The priority of every waiting job in each of its partitions, in the order of the listing.
    pub(super) fn priorities(&self) -> impl Iterator<Item = WaitingPriority<'_>> {
        self.lines.iter().map(|line| WaitingPriority {
            job: &line.job,
            partition: &line.partition,
            priority: line.terms.priority,
        })
    }

    /// As a table: the columns of `sprio -l`, or the two terms. Users are named where it is requested.
    ///
    /// # Errors
    /// [`Kind::Data`] when a factor is none.
    pub fn table(&self, form: PriorityForm, users: super::sshare::ListedUsers) -> Result<Table> {
        let number = ColumnKind::Number;
        let mut columns = vec![("JOBID", "", ColumnKind::Text), ("PARTITION", "", ColumnKind::Text)];
        let names_users = users == super::sshare::ListedUsers::All;
        if names_users {
            columns.push(("USER", "", ColumnKind::Text));
        }
        columns.push(("ACCOUNT", "", ColumnKind::Text));
        columns.push(("PRIORITY", "1", number));
        match form {
            PriorityForm::TwoTerm => columns.extend([("FAIRSHARE", "1", number), ("AGE", "1", number)]),
            PriorityForm::Multifactor => columns.extend([
                ("SITE", "1", number),
                ("AGE", "1", number),
                ("ASSOC", "1", number),
                ("FAIRSHARE", "1", number),
                ("JOBSIZE", "1", number),
                ("PARTITION_TERM", "1", number),
                ("QOSNAME", "", ColumnKind::Text),
                ("QOS", "1", number),
                ("NICE", "1", number),
                ("TRES", "", ColumnKind::Text),
            ]),
        }
        let at = instant_text_s(self.at_s).unwrap_or_else(|| self.at_s.to_string());
        let mut table = Table::new(
            format!("Priorities of waiting jobs of {} at {at}", self.cluster),
            &columns,
        );
        for line in &self.lines {
            let mut cells = vec![
                Cell::text(line.job.job_id.as_str()),
                Cell::text(line.partition.as_str()),
            ];
            if names_users {
                cells.push(Cell::word(line.job.user.as_deref()));
            }
            cells.push(Cell::word(line.job.account.as_deref()));
            cells.extend(match form {
                PriorityForm::TwoTerm => line.two_term()?,
                PriorityForm::Multifactor => line.multifactor(),
            });
            table.push(cells);
        }
        Ok(table)
    }
}

impl SprioLine {
    fn two_term(&self) -> Result<Vec<Cell>> {
        let score = TwoTermPriority::FASRC.score(self.factor, self.waiting_s)?;
        Ok(vec![
            Cell::Int(score.total),
            Cell::Int(score.fairshare),
            Cell::Int(score.age),
        ])
    }

    fn multifactor(&self) -> Vec<Cell> {
        let terms = &self.terms;
        let whole = |term: f64| Cell::text(format!("{:.0}", printed(term)));
        let tres: Vec<String> = (terms.tres.iter())
            .filter(|of| of.term != 0.0)
            .map(|of| format!("{}={:.0}", of.name, printed(of.term)))
            .collect();
        vec![
            Cell::int(terms.priority),
            Cell::int(terms.site),
            whole(terms.age),
            whole(terms.association),
            whole(terms.fairshare),
            whole(terms.job_size),
            whole(terms.partition),
            Cell::word(self.job.qos.as_deref()),
            whole(terms.qos),
            Cell::int(terms.nice),
            Cell::text(tres.join(",")),
        ]
    }
}

/// What the priority of a job in a partition is computed from.
fn facts(
    job: &QueuedJob,
    partition: &str,
    queue: &Queue,
    association: AssociationTerms,
    waiting_s: i64,
) -> Result<PriorityFacts> {
    let unknown = |what: &str| Error::new(Kind::Data, format!("{what} is unknown")).at("job", &job.job_id);
    let of = queue.partitions.get(partition);
    let of = of.ok_or_else(|| unknown(&format!("the partition {partition} of a waiting job")))?;
    let unsigned = |number: Option<i64>, what: &str| {
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| unknown(what))
    };
    let limit_s = job.time_limit_s.or(of.max_time_s);
    let qos = job.qos.as_ref().and_then(|qos| queue.qos.get(qos)).copied();
    Ok(PriorityFacts {
        waiting_s,
        fairshare: association.factor,
        node_n: unsigned(job.node_n, "the number of nodes")?,
        cpu_n: unsigned(job.cpu_n, "the number of CPUs")?,
        // Without any limit a job may run for ever: the longest there is.
        limit_min: limit_s.map_or(Ok(u32::MAX), |limit_s| unsigned(Some(limit_s / 60), "the time limit"))?,
        association_priority: association.priority,
        partition_priority: of.factor,
        // Fallback: a job of a QOS that no listing has counts like one without.
        qos_priority: qos.unwrap_or(0),
        tres: amounts(job, of),
        site: 0,
        nice: job.nice,
        hold: PriorityHold::Waiting,
    })
}

/// What a job requests of what its partition has; amounts that are unknown are left out.
fn amounts(job: &QueuedJob, of: &ListedPartition) -> Vec<TresAmount> {
    let of_resource = |name: &str, amount: Option<i64>, all: Option<i64>| {
        let amount = u64::try_from(amount?).ok()?;
        let of_partition = u64::try_from(all?).ok()?;
        Some(TresAmount {
            name: name.to_owned(),
            amount,
            of_partition,
        })
    };
    let found = [
        of_resource("cpu", job.cpu_n, of.cpu_n),
        of_resource("mem", job.memory_byte.map(mebibytes), of.memory_byte.map(mebibytes)),
        of_resource("gres/gpu", job.gpu_n, of.gpu_n),
    ];
    found.into_iter().flatten().collect()
}
