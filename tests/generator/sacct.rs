//! Rows as `sacct -P` prints them: <https://slurm.schedmd.com/sacct.html>.

use std::io::Write;

use super::clock;

/// The columns of every dump made here.
pub(crate) const HEADER: &str = "Cluster|JobIDRaw|JobID|JobName|Partition|QOS|Account|Group|GID|User|UID|WCKey|Submit|\
Eligible|Start|End|ElapsedRaw|Suspended|ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|TimelimitRaw|\
NodeList|CPUTimeRAW|TotalCPU|UserCPU|SystemCPU|MaxRSS\n";

/// A user with what hangs on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Person {
    /// Login.
    pub(crate) user: &'static str,
    /// Numeric user id.
    pub(crate) uid: i64,
    /// Unix group.
    pub(crate) group: &'static str,
    /// Slurm account.
    pub(crate) account: &'static str,
}

/// How a job names its GPUs.
#[derive(Clone, Debug)]
pub(crate) enum Gpus {
    /// None.
    None,
    /// `gres/gpu=N`
    Untyped(i64),
    /// `gres/gpu:model=N` without the plain entry.
    Typed(&'static [(&'static str, i64)]),
    /// Both: the same devices twice.
    Both(&'static [(&'static str, i64)]),
}

/// One attempt of one job, whole and true. What a dump shows of it depends on when the dump was taken.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Slurm cluster.
    pub(crate) cluster: &'static str,
    /// `JobIDRaw`.
    pub(crate) raw_id: i64,
    /// `JobID`, where it differs.
    pub(crate) id: Option<String>,
    /// `JobName`.
    pub(crate) name: String,
    /// Partition.
    pub(crate) partition: &'static str,
    /// Who.
    pub(crate) person: Person,
    /// Submitted, Unix seconds.
    pub(crate) submit: i64,
    /// Started; `None` never.
    pub(crate) start: Option<i64>,
    /// Ended; `None` not within the sample.
    pub(crate) end: Option<i64>,
    /// Seconds suspended.
    pub(crate) suspended: i64,
    /// `ExitCode`.
    pub(crate) exit: &'static str,
    /// Its last `State`.
    pub(crate) state: &'static str,
    /// Nodes.
    pub(crate) nodes: i64,
    /// CPUs.
    pub(crate) cpus: i64,
    /// Memory, MiB.
    pub(crate) memory_mib: i64,
    /// GPUs.
    pub(crate) gpus: Gpus,
    /// Time limit, minutes; `None` is `UNLIMITED`.
    pub(crate) limit_min: Option<i64>,
    /// `NodeList`.
    pub(crate) node_list: String,
    /// CPU time in user mode, milliseconds.
    pub(crate) user_ms: i64,
    /// CPU time in the kernel, milliseconds.
    pub(crate) system_ms: i64,
    /// Largest resident set, KiB.
    pub(crate) max_rss_kib: i64,
    /// Whether step rows follow.
    pub(crate) has_steps: bool,
}

/// Where an attempt stands when a dump is taken.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Pending,
    Running,
    Ended,
}

impl Attempt {
    /// Seconds it ran until `until`, suspension taken off.
    fn elapsed(&self, until: i64) -> i64 {
        self.start.map_or(0, |start| (until - start - self.suspended).max(0))
    }

    fn phase(&self, taken: i64) -> Phase {
        match (self.start, self.end) {
            (_, Some(end)) if end <= taken => Phase::Ended,
            (Some(start), _) if start <= taken => Phase::Running,
            _ => Phase::Pending,
        }
    }

    /// The rows a dump taken at `taken` has for it.
    pub(crate) fn write(&self, out: &mut Vec<u8>, taken: i64) {
        let phase = self.phase(taken);
        self.job_row(out, phase, taken);
        if self.has_steps && phase != Phase::Pending && self.start.is_some() {
            self.step_row(out, "batch", phase, taken);
            self.step_row(out, "extern", phase, taken);
        }
    }

    fn job_row(&self, out: &mut Vec<u8>, phase: Phase, taken: i64) {
        let raw = self.raw_id;
        let _ = write!(out, "{}|{raw}|", self.cluster);
        match &self.id {
            Some(id) => out.extend_from_slice(id.as_bytes()),
            None => {
                let _ = write!(out, "{raw}");
            }
        }
        let Person {
            user,
            uid,
            group,
            account,
        } = &self.person;
        let _ = write!(
            out,
            "|{}|{}|normal|{account}|{group}|{uid}|{user}|{uid}|*|",
            self.name, self.partition
        );
        clock::zurich_stamp(out, self.submit);
        out.push(b'|');
        clock::zurich_stamp(out, self.submit);
        out.push(b'|');
        match (phase, self.start) {
            (Phase::Pending, _) => out.extend_from_slice(b"Unknown"),
            (_, None) => out.extend_from_slice(b"None"),
            (_, Some(start)) => clock::zurich_stamp(out, start),
        }
        let until = self.times(out, phase, taken);
        let (state, exit) = match phase {
            Phase::Pending => ("PENDING", "0:0"),
            Phase::Running => ("RUNNING", "0:0"),
            Phase::Ended => (self.state, self.exit),
        };
        let has_nodes = phase != Phase::Pending && self.start.is_some();
        let elapsed = if has_nodes { self.elapsed(until) } else { 0 };
        let nodes = if has_nodes { self.nodes } else { 1 };
        let cpus = if has_nodes { self.cpus } else { 0 };
        let _ = write!(out, "{exit}|{state}|{nodes}|{cpus}|{}|", self.cpus);
        memory(out, self.memory_mib);
        out.push(b'|');
        self.tres(out, true);
        out.push(b'|');
        if has_nodes {
            self.tres(out, true);
        }
        match self.limit_min {
            Some(limit) => {
                let _ = write!(out, "|{limit}|");
            }
            None => out.extend_from_slice(b"|UNLIMITED|"),
        }
        let node_list = if has_nodes { &self.node_list } else { "None assigned" };
        let _ = write!(out, "{node_list}|{}|", elapsed * cpus);
        let is_measured = phase == Phase::Ended && self.start.is_some();
        let (user_ms, system_ms) = if is_measured {
            (self.user_ms, self.system_ms)
        } else {
            (0, 0)
        };
        cpu_times(out, user_ms, system_ms);
        out.extend_from_slice(b"|\n");
    }

    /// `|End|ElapsedRaw|Suspended|`; returns until when it ran.
    fn times(&self, out: &mut Vec<u8>, phase: Phase, taken: i64) -> i64 {
        out.push(b'|');
        let until = if let (Phase::Ended, Some(end)) = (phase, self.end) {
            clock::zurich_stamp(out, end);
            end
        } else {
            out.extend_from_slice(b"Unknown");
            taken
        };
        let (elapsed, suspended) = match phase {
            Phase::Pending => (0, 0),
            _ => (self.elapsed(until), self.suspended),
        };
        let _ = write!(out, "|{elapsed}|");
        duration(out, suspended);
        out.push(b'|');
        until
    }

    fn step_row(&self, out: &mut Vec<u8>, step: &str, phase: Phase, taken: i64) {
        let raw = self.raw_id;
        let _ = write!(out, "{}|{raw}.{step}|", self.cluster);
        match &self.id {
            Some(id) => {
                let _ = write!(out, "{id}.{step}");
            }
            None => {
                let _ = write!(out, "{raw}.{step}");
            }
        }
        let _ = write!(out, "|{step}|||{}||||||", self.person.account);
        for _ in 0..3 {
            clock::zurich_stamp(out, self.start.unwrap_or(self.submit));
            out.push(b'|');
        }
        out.pop();
        let until = self.times(out, phase, taken);
        let is_batch = step == "batch";
        let (state, exit) = match (phase, self.state) {
            (Phase::Running | Phase::Pending, _) => ("RUNNING", "0:0"),
            (_, "TIMEOUT" | "NODE_FAIL" | "PREEMPTED" | "REQUEUED") if is_batch => ("CANCELLED", "0:15"),
            (_, _) if is_batch => (self.state.split(' ').next().unwrap_or("COMPLETED"), self.exit),
            _ => ("COMPLETED", "0:0"),
        };
        let elapsed = self.elapsed(until);
        let cpus = if is_batch {
            (self.cpus / self.nodes).max(1)
        } else {
            self.cpus
        };
        let nodes = if is_batch { 1 } else { self.nodes };
        let _ = write!(out, "{exit}|{state}|{nodes}|{cpus}|{cpus}|||");
        if is_batch {
            let _ = write!(out, "cpu={cpus},mem=");
            memory(out, self.memory_mib / self.nodes);
            out.extend_from_slice(b",node=1");
        } else {
            self.tres(out, true);
        }
        let host = self.node_list.split(',').next().unwrap_or_default();
        let host = if is_batch {
            first_host(host)
        } else {
            self.node_list.clone()
        };
        let _ = write!(out, "||{host}|{}|", elapsed * cpus);
        if phase == Phase::Ended && is_batch {
            cpu_times(out, self.user_ms, (self.system_ms - 1).max(0));
            let _ = writeln!(out, "|{}K", self.max_rss_kib);
        } else if phase == Phase::Ended {
            cpu_times(out, 0, 1.min(self.system_ms));
            out.extend_from_slice(b"|1792K\n");
        } else {
            cpu_times(out, 0, 0);
            out.extend_from_slice(b"|\n");
        }
    }

    fn tres(&self, out: &mut Vec<u8>, with_billing: bool) {
        if with_billing {
            let _ = write!(out, "billing={},", self.cpus);
        }
        let _ = write!(out, "cpu={},", self.cpus);
        match &self.gpus {
            Gpus::None => {}
            Gpus::Untyped(n) => {
                let _ = write!(out, "gres/gpu={n},");
            }
            Gpus::Typed(models) | Gpus::Both(models) => {
                for (model, n) in *models {
                    let _ = write!(out, "gres/gpu:{model}={n},");
                }
                if matches!(self.gpus, Gpus::Both(_)) {
                    let n: i64 = models.iter().map(|(_, n)| n).sum();
                    let _ = write!(out, "gres/gpu={n},");
                }
            }
        }
        out.extend_from_slice(b"mem=");
        memory(out, self.memory_mib);
        let _ = write!(out, ",node={}", self.nodes);
    }
}

/// `g[007-009]` starts with `g007`.
fn first_host(list: &str) -> String {
    let (prefix, rest) = list.split_once('[').unwrap_or((list, ""));
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    format!("{prefix}{number}")
}

/// Whole seconds as `[D-]HH:MM:SS`.
fn duration(out: &mut Vec<u8>, s: i64) {
    if s >= 86_400 {
        let _ = write!(out, "{}-", s / 86_400);
    }
    clock::pad(out, s / 3_600 % 24, 2);
    out.push(b':');
    clock::pad(out, s / 60 % 60, 2);
    out.push(b':');
    clock::pad(out, s % 60, 2);
}

/// CPU time: milliseconds are shown below an hour and dropped above, as `sacct` does.
fn cpu_time(out: &mut Vec<u8>, ms: i64) {
    if ms >= 3_600_000 || ms % 1_000 == 0 {
        duration(out, ms / 1_000);
    } else {
        clock::pad(out, ms / 60_000, 2);
        out.push(b':');
        clock::pad(out, ms / 1_000 % 60, 2);
        out.push(b'.');
        clock::pad(out, ms % 1_000, 3);
    }
}

/// `TotalCPU|UserCPU|SystemCPU`
fn cpu_times(out: &mut Vec<u8>, user_ms: i64, system_ms: i64) {
    cpu_time(out, user_ms + system_ms);
    out.push(b'|');
    cpu_time(out, user_ms);
    out.push(b'|');
    cpu_time(out, system_ms);
}

/// Memory given in MiB, divided by 1024 while nothing is lost.
fn memory(out: &mut Vec<u8>, mib: i64) {
    let _ = match mib {
        0 => write!(out, "0"),
        m if m % 1_048_576 == 0 => write!(out, "{}T", m / 1_048_576),
        m if m % 1_024 == 0 => write!(out, "{}G", m / 1_024),
        m => write!(out, "{m}M"),
    };
}
