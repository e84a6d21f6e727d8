//! The options of `sbatch`, `srun` and `salloc`: which there are, and which take the next word as their argument.
//!
//! They are those of all releases that keep the line of submission (21.08 to 26.05), so an abbreviation that was unique in an
//! old release can be ambiguous here: what it stands for is unknown then. Options of plugins (SPANK) are not among them.

/// A command that submits jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubmitCommand {
    /// `sbatch`
    Sbatch,
    /// `srun`
    Srun,
    /// `salloc`
    Salloc,
}

/// Whether an option has an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// It always has one, which is the next word where it is not attached.
    Required,
    /// It has none, or an attached one.
    Attached,
}

/// A long option as it is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongOption {
    /// Its complete name; empty where an abbreviation stands for one of several that differ in nothing that is read.
    pub(super) name: &'static str,
    /// Whether the next word is its argument.
    pub(super) argument: Argument,
}

/// Options that some commands share.
struct OptionGroup {
    commands: &'static [SubmitCommand],
    argument: Argument,
    names: &'static [&'static str],
}

use SubmitCommand::{Salloc, Sbatch, Srun};

const LONG: &[OptionGroup] = &[
    OptionGroup {
        commands: &[Sbatch, Srun, Salloc],
        argument: Argument::Required,
        names: &[
            "account",
            "acctg-freq",
            "autocomplete",
            "bb",
            "bbf",
            "begin",
            "chdir",
            "cluster",
            "cluster-constraint",
            "clusters",
            "comment",
            "constraint",
            "container",
            "container-id",
            "context",
            "core-spec",
            "cores-per-socket",
            "cpu-freq",
            "cpus-per-gpu",
            "cpus-per-task",
            "deadline",
            "delay-boot",
            "dependency",
            "distribution",
            "exclude",
            "extra",
            "extra-node-info",
            "gid",
            "gpu-bind",
            "gpu-freq",
            "gpus",
            "gpus-per-node",
            "gpus-per-socket",
            "gpus-per-task",
            "gres",
            "gres-flags",
            "hint",
            "job-name",
            "licenses",
            "mail-type",
            "mail-user",
            "mcs-label",
            "mem",
            "mem-bind",
            "mem-per-cpu",
            "mem-per-gpu",
            "mem-update",
            "mincpus",
            "network",
            "nodefile",
            "nodelist",
            "nodes",
            "ntasks",
            "ntasks-per-core",
            "ntasks-per-gpu",
            "ntasks-per-node",
            "ntasks-per-socket",
            "ntasks-per-tres",
            "partition",
            "power",
            "prefer",
            "priority",
            "profile",
            "qos",
            "reservation",
            "resources",
            "runtime",
            "segment",
            "signal",
            "sockets-per-node",
            "switches",
            "tasks-per-node",
            "thread-spec",
            "threads-per-core",
            "time",
            "time-min",
            "tmp",
            "tres-bind",
            "tres-per-task",
            "uid",
            "wckey",
        ],
    },
    OptionGroup {
        commands: &[Sbatch, Srun, Salloc],
        argument: Argument::Attached,
        names: &[
            "consolidate-segments",
            "contiguous",
            "exclusive",
            "help",
            "hold",
            "nice",
            "no-kill",
            "oom-kill-step",
            "overcommit",
            "oversubscribe",
            "quiet",
            "reboot",
            "resv-ports",
            "spread-job",
            "spread-segments",
            "stepmgr",
            "usage",
            "use-min-nodes",
            "verbose",
            "version",
        ],
    },
    OptionGroup {
        commands: &[Sbatch, Salloc],
        argument: Argument::Required,
        names: &["wait-all-nodes"],
    },
    OptionGroup {
        commands: &[Sbatch, Srun],
        argument: Argument::Required,
        names: &["error", "export", "input", "open-mode", "output"],
    },
    OptionGroup {
        commands: &[Sbatch, Srun],
        argument: Argument::Attached,
        names: &["parsable", "propagate", "test-only"],
    },
    OptionGroup {
        commands: &[Srun, Salloc],
        argument: Argument::Attached,
        names: &["immediate", "x11"],
    },
    OptionGroup {
        commands: &[Salloc],
        argument: Argument::Attached,
        names: &["bell", "kill-command", "no-bell", "no-shell"],
    },
    OptionGroup {
        commands: &[Sbatch],
        argument: Argument::Required,
        names: &["array", "batch", "export-file", "kill-on-invalid-dep", "wrap"],
    },
    OptionGroup {
        commands: &[Sbatch],
        argument: Argument::Attached,
        names: &[
            "external",
            "get-user-env",
            "ignore-pbs",
            "no-requeue",
            "requeue",
            "wait",
        ],
    },
    OptionGroup {
        commands: &[Srun],
        argument: Argument::Required,
        names: &[
            "accel-bind",
            "bcast-exclude",
            "cpu-bind",
            "cpu_bind",
            "epilog",
            "het-group",
            "ignore-signals",
            "jobid",
            "mpi",
            "msg-timeout",
            "pack-group",
            "prolog",
            "relative",
            "slurmd-debug",
            "task-epilog",
            "task-prolog",
            "threads",
            "treewidth",
            "wait",
        ],
    },
    OptionGroup {
        commands: &[Srun],
        argument: Argument::Attached,
        names: &[
            "async",
            "bcast",
            "compress",
            "debugger-test",
            "disable-status",
            "exact",
            "external-launcher",
            "interactive",
            "kill-on-bad-exit",
            "label",
            "multi-prog",
            "no-allocate",
            "overlap",
            "preserve-env",
            "pty",
            "quit-on-interrupt",
            "send-libs",
            "unbuffered",
            "wait-for-children",
            "whole",
        ],
    },
];

/// Letters of options with an argument, which all commands have.
const LETTERS: &[u8] = b"AbDMCScdmxBGJLFwNnpqt";

impl SubmitCommand {
    /// The command a program is, by its path.
    pub(super) fn of(program: &[u8]) -> Option<Self> {
        match program.rsplit(|&b| b == b'/').next()? {
            b"sbatch" => Some(Sbatch),
            b"srun" => Some(Srun),
            b"salloc" => Some(Salloc),
            _ => None,
        }
    }

    /// The long option that `name` stands for, whole or abbreviated; `None` where it is unknown or ambiguous.
    pub(super) fn long(self, name: &[u8]) -> Option<LongOption> {
        let mut found: Option<LongOption> = None;
        let mut is_ambiguous = false;
        let groups = LONG.iter().filter(|group| group.commands.contains(&self));
        for option in groups.flat_map(OptionGroup::options) {
            if option.name.as_bytes() == name {
                return Some(option);
            }
            if option.name.as_bytes().starts_with(name) {
                is_ambiguous |= found.is_some_and(|found| !found.reads_like(option));
                let name = if found.is_some() { "" } else { option.name };
                found = Some(LongOption { name, ..option });
            }
        }
        found.filter(|_| !is_ambiguous && !name.is_empty())
    }

    /// Whether an option of one letter has an argument; `None` where there is no such option.
    pub(super) fn short(self, letter: u8) -> Option<Argument> {
        match (self, letter) {
            (Sbatch, b'a' | b'e' | b'i' | b'o') | (Srun, b'e' | b'i' | b'o' | b'r' | b'T' | b'W') => {
                Some(Argument::Required)
            }
            (_, letter) if LETTERS.contains(&letter) => Some(Argument::Required),
            (_, b'h' | b'H' | b'k' | b'O' | b's' | b'Q' | b'v' | b'V')
            | (Sbatch, b'W')
            | (Srun, b'X' | b'l' | b'Z' | b'E' | b'u')
            | (Srun | Salloc, b'I' | b'K') => Some(Argument::Attached),
            _ => None,
        }
    }

    /// Whether the rest of a word belongs to an option without a required argument: `-k`, `-I` and `-K` have an optional one.
    pub(super) fn is_rest_attached(letter: u8) -> bool {
        matches!(letter, b'k' | b'I' | b'K')
    }
}

impl OptionGroup {
    fn options(&self) -> impl Iterator<Item = LongOption> {
        self.names.iter().map(|name| LongOption {
            name,
            argument: self.argument,
        })
    }
}

impl LongOption {
    /// Whether it makes no difference which of the two is meant: nothing of either is kept, and both take as much of the line.
    fn reads_like(self, other: Self) -> bool {
        self.argument == other.argument && !self.is_kept() && !other.is_kept()
    }

    fn is_kept(self) -> bool {
        matches!(self.name, "dependency" | "exclusive" | "oversubscribe" | "wrap")
    }
}
