//! The wanted fields of one job object; everything else is stepped over.

use super::list::{self, Allocated, KindCount};
use super::value::{self, Number};
use crate::numbers::Comparand;
use crate::schema::batch::addend;
use crate::sources::json::{JsonText, Malformed, Scalar, Scanner};
use crate::sources::sacct::job::is_no_node;
use crate::sources::sacct::tres::Alloc;

/// CPU time as seconds and microseconds.
#[expect(clippy::struct_field_names, reason = "a unit belongs to its name")]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CpuTime {
    /// User and system, microseconds.
    pub(super) total_us: Option<i64>,
    /// User part.
    pub(super) user_us: Option<i64>,
    /// System part.
    pub(super) system_us: Option<i64>,
}

impl CpuTime {
    /// The sum of two; what only one knows counts.
    pub(super) fn plus(self, other: Self) -> Self {
        let sum = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.sum_to_compare(b)),
            (a, b) => a.or(b),
        };
        Self {
            total_us: sum(self.total_us, other.total_us),
            user_us: sum(self.user_us, other.user_us),
            system_us: sum(self.system_us, other.system_us),
        }
    }
}

/// `steps`, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepSums {
    /// How many there are.
    pub(super) count: u32,
    /// CPU time as measured at their ends.
    pub(super) cpu: CpuTime,
    /// The last poll of steps whose measured time is zero, milliseconds.
    pub(super) polled_ms: i64,
    /// Largest resident set of any task, bytes.
    pub(super) max_rss_byte: Option<i64>,
    /// Largest virtual size, bytes.
    pub(super) max_virtual_byte: Option<i64>,
}

/// One job object.
#[derive(Debug, Default)]
pub(super) struct SacctJsonFields<'a> {
    /// `job_id`
    pub(super) job_id: Number<'a>,
    /// `array.job_id`, 0 for none
    pub(super) array_job_id: Number<'a>,
    /// `array.task_id`
    pub(super) array_task_id: Number<'a>,
    /// `array.task`: the tasks that have not started
    pub(super) array_rest: Option<JsonText<'a>>,
    /// `het.job_id`, 0 for none
    pub(super) het_job_id: Number<'a>,
    /// `het.job_offset`
    pub(super) het_offset: Number<'a>,
    /// `cluster`
    pub(super) cluster: Option<JsonText<'a>>,
    /// `account`
    pub(super) account: Option<JsonText<'a>>,
    /// `user`
    pub(super) user: Option<JsonText<'a>>,
    /// `association.user`
    pub(super) association_user: Option<JsonText<'a>>,
    /// `group`
    pub(super) group: Option<JsonText<'a>>,
    /// `partition`
    pub(super) partition: Option<JsonText<'a>>,
    /// `qos`
    pub(super) qos: Option<JsonText<'a>>,
    /// `wckey.wckey`
    pub(super) wckey: Option<JsonText<'a>>,
    /// `reservation.name`; 22.05 prints a number of its memory there
    pub(super) reservation: Option<JsonText<'a>>,
    /// `reservation.id`, 0 for none
    pub(super) reservation_id: Number<'a>,
    /// `name`
    pub(super) name: Option<JsonText<'a>>,
    /// `comment.administrator`
    pub(super) admin_comment: Option<JsonText<'a>>,
    /// `submit_line`
    pub(super) submit_line: Option<JsonText<'a>>,
    /// `nodes`
    pub(super) nodes: Option<JsonText<'a>>,
    /// `allocation_nodes`
    pub(super) allocation_nodes: Number<'a>,
    /// `time.submission`
    pub(super) submit: Number<'a>,
    /// `time.eligible`
    pub(super) eligible: Number<'a>,
    /// `time.start`
    pub(super) start: Number<'a>,
    /// `time.end`
    pub(super) end: Number<'a>,
    /// `time.elapsed`, seconds
    pub(super) elapsed: Number<'a>,
    /// `time.suspended`, seconds
    pub(super) suspended: Number<'a>,
    /// `time.limit`, minutes
    pub(super) limit: Number<'a>,
    /// `time.total`, `time.user`, `time.system`
    pub(super) cpu: CpuTime,
    /// `exit_code.return_code`
    pub(super) return_code: Number<'a>,
    /// Whether that is a bare value, as v0.0.38 and older print it.
    pub(super) is_code_bare: bool,
    /// `exit_code.signal.id`, `.signal_id` in old plugins
    pub(super) signal: Number<'a>,
    /// `state.current`: a word or a list of them
    pub(super) states: Vec<JsonText<'a>>,
    /// `tres.allocated`
    pub(super) allocated: Allocated<'a>,
    /// `required.CPUs`
    pub(super) required_core_n: Number<'a>,
    /// `tres.requested`
    pub(super) requested: Allocated<'a>,
    /// `steps`
    pub(super) steps: StepSums,
}

impl<'a> SacctJsonFields<'a> {
    /// Reads one object, all of which must be JSON.
    pub(super) fn read(raw: &'a [u8]) -> Result<Self, Malformed> {
        let mut fields = Self::default();
        let mut scanner = Scanner::new(raw);
        scanner.object(|scanner, key| fields.field(scanner, key))?;
        scanner.end()?;
        Ok(fields)
    }

    /// Whether the job names no node.
    pub(super) fn names_no_node(&self) -> bool {
        self.nodes.is_none_or(|nodes| is_no_node(nodes.decode().0.as_bytes()))
    }

    /// Whether the job has something that is not stated: it is in a reservation whose name is unknown, or has a billing or GPUs that
    /// are not set.
    pub(super) fn lacks_a_value(&self) -> bool {
        let is_reservation_unnamed =
            self.reservation.is_none() && self.reservation_id.known().is_some_and(|id| id != 0);
        is_reservation_unnamed || self.allocated.alloc.is_some_and(Alloc::is_unset)
    }

    /// What states burst buffer and licences: the allocation, or the request where there is none.
    pub(super) fn allocated_or_requested(&self) -> &Allocated<'a> {
        if self.allocated.is_nothing() {
            &self.requested
        } else {
            &self.allocated
        }
    }

    fn field(&mut self, scanner: &mut Scanner<'a>, key: JsonText<'a>) -> Result<(), Malformed> {
        // Fallback: a key with an escape is none of these.
        match key.plain().unwrap_or_default() {
            b"job_id" => self.job_id = Number::read(scanner)?,
            b"cluster" => self.cluster = value::text(scanner)?,
            b"account" => self.account = value::text(scanner)?,
            b"user" => self.user = value::text(scanner)?,
            b"group" => self.group = value::text(scanner)?,
            b"partition" => self.partition = value::text(scanner)?,
            b"qos" => self.qos = value::text(scanner)?,
            b"wckey" => self.wckey = text_of(scanner, b"wckey")?,
            b"name" => self.name = value::text(scanner)?,
            b"comment" => self.admin_comment = text_of(scanner, b"administrator")?,
            b"submit_line" => self.submit_line = value::text(scanner)?,
            b"nodes" => self.nodes = value::text(scanner)?,
            b"allocation_nodes" => self.allocation_nodes = Number::read(scanner)?,
            b"array" => object(scanner, |scanner, key| {
                match key {
                    b"job_id" => self.array_job_id = Number::read(scanner)?,
                    b"task_id" => self.array_task_id = Number::read(scanner)?,
                    b"task" => self.array_rest = value::text(scanner)?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"het" => object(scanner, |scanner, key| {
                match key {
                    b"job_id" => self.het_job_id = Number::read(scanner)?,
                    b"job_offset" => self.het_offset = Number::read(scanner)?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"reservation" => object(scanner, |scanner, key| {
                match key {
                    b"id" => self.reservation_id = Number::read(scanner)?,
                    b"name" => self.reservation = value::text(scanner)?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"association" => self.association_user = text_of(scanner, b"user")?,
            b"time" => object(scanner, |scanner, key| {
                let slot = match key {
                    b"submission" => &mut self.submit,
                    b"eligible" => &mut self.eligible,
                    b"start" => &mut self.start,
                    b"end" => &mut self.end,
                    b"elapsed" => &mut self.elapsed,
                    b"suspended" => &mut self.suspended,
                    b"limit" => &mut self.limit,
                    _ => return cpu_part(&mut self.cpu, scanner, key),
                };
                *slot = Number::read(scanner)?;
                Ok(())
            })?,
            b"exit_code" => object(scanner, |scanner, key| {
                match key {
                    b"return_code" => {
                        self.is_code_bare = scanner.peek() != Some(b'{');
                        self.return_code = Number::read(scanner)?;
                    }
                    b"signal" => object(scanner, |scanner, key| {
                        match key {
                            b"id" | b"signal_id" => self.signal = Number::read(scanner)?,
                            _ => skip(scanner)?,
                        }
                        Ok(())
                    })?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"state" => object(scanner, |scanner, key| {
                match key {
                    b"current" => self.states = words(scanner)?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"required" => object(scanner, |scanner, key| {
                match key {
                    b"CPUs" => self.required_core_n = Number::read(scanner)?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"tres" => object(scanner, |scanner, key| {
                match key {
                    b"allocated" => self.allocated = list::allocated(scanner)?,
                    b"requested" => self.requested = list::allocated(scanner)?,
                    _ => skip(scanner)?,
                }
                Ok(())
            })?,
            b"steps" if scanner.peek() == Some(b'[') => {
                scanner.items(|scanner| step(&mut self.steps, scanner))?;
            }
            _ => skip(scanner)?,
        }
        Ok(())
    }
}

/// The text under `name` in an object.
fn text_of<'a>(scanner: &mut Scanner<'a>, name: &[u8]) -> Result<Option<JsonText<'a>>, Malformed> {
    let mut found = None;
    object(scanner, |scanner, key| {
        if key == name {
            found = value::text(scanner)?;
            return Ok(());
        }
        skip(scanner)
    })?;
    Ok(found)
}

fn skip(scanner: &mut Scanner<'_>) -> Result<(), Malformed> {
    scanner.scalar().map(|_| ())
}

/// Reads an object; anything else in its place (`null`) has no fields.
fn object<'a, F>(scanner: &mut Scanner<'a>, mut each: F) -> Result<(), Malformed>
where
    F: FnMut(&mut Scanner<'a>, &[u8]) -> Result<(), Malformed>,
{
    if scanner.peek() != Some(b'{') {
        return skip(scanner);
    }
    // Fallback: as for the fields of a job, a key with an escape is unknown.
    scanner.object(|scanner, key| each(scanner, key.plain().unwrap_or_default()))
}

/// A word, or a list of words.
fn words<'a>(scanner: &mut Scanner<'a>) -> Result<Vec<JsonText<'a>>, Malformed> {
    let mut words = Vec::new();
    if scanner.peek() == Some(b'[') {
        scanner.items(|scanner| {
            if let Scalar::Text(word) = scanner.scalar()? {
                words.push(word);
            }
            Ok(())
        })?;
    } else {
        words.extend(value::text(scanner)?);
    }
    Ok(words)
}

/// `total`, `user` or `system` of `time`; other keys are stepped over.
fn cpu_part(cpu: &mut CpuTime, scanner: &mut Scanner<'_>, key: &[u8]) -> Result<(), Malformed> {
    let slot = match key {
        b"total" => &mut cpu.total_us,
        b"user" => &mut cpu.user_us,
        b"system" => &mut cpu.system_us,
        _ => return skip(scanner),
    };
    let (mut second, mut microsecond) = (Number::Absent, Number::Absent);
    object(scanner, |scanner, key| {
        match key {
            b"seconds" => second = Number::read(scanner)?,
            b"microseconds" => microsecond = Number::read(scanner)?,
            _ => skip(scanner)?,
        }
        Ok(())
    })?;
    *slot = second
        .known()
        .and_then(|second| second.checked_mul(1_000_000))
        .and_then(|us| us.checked_add(addend(microsecond.known())));
    Ok(())
}

/// Adds one step up. In steps, `tres.requested` is what went in (usage), memory in bytes and CPU in milliseconds.
fn step(sums: &mut StepSums, scanner: &mut Scanner<'_>) -> Result<(), Malformed> {
    let mut cpu = CpuTime::default();
    let mut largest = ["mem", "vmem"].map(KindCount::of);
    let mut total = ["cpu"].map(KindCount::of);
    object(scanner, |scanner, key| {
        match key {
            b"time" => object(scanner, |scanner, key| cpu_part(&mut cpu, scanner, key))?,
            b"tres" => object(scanner, |scanner, key| {
                if key != b"requested" {
                    return skip(scanner);
                }
                object(scanner, |scanner, key| match key {
                    b"max" => list::count(scanner, &mut largest),
                    b"total" => list::count(scanner, &mut total),
                    _ => skip(scanner),
                })
            })?,
            _ => skip(scanner)?,
        }
        Ok(())
    })?;
    let [rss, virtual_size] = largest.map(|largest| largest.count);
    let [polled] = total.map(|total| total.count);
    sums.count += 1;
    if cpu.total_us == Some(0) || cpu.total_us.is_none() {
        sums.polled_ms = sums.polled_ms.sum_to_compare(addend(polled));
    }
    sums.cpu = sums.cpu.plus(cpu);
    sums.max_rss_byte = sums.max_rss_byte.max(rss);
    sums.max_virtual_byte = sums.max_virtual_byte.max(virtual_size);
    Ok(())
}
