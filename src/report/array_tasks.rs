//! Tasks of an array as Slurm prints them: `7`, `1-10`, `1-9:2`, `1,4-6%2` (at most two at a time).

/// Tasks from one to another.
#[derive(Clone, Copy, Debug)]
struct TaskRange {
    first: u32,
    last: u32,
    step: u32,
}

/// The tasks of one row of a listing.
#[derive(Clone, Debug)]
pub(super) struct ArrayTasks(Vec<TaskRange>);

impl ArrayTasks {
    /// Reads them; `None` for anything else, such as a list that Slurm cut off.
    pub(super) fn parse(tasks: &str) -> Option<Self> {
        let listed = tasks.split_once('%').map_or(tasks, |(listed, _)| listed);
        let ranges = listed.split(',').map(|range| {
            let (range, step) = match range.split_once(':') {
                Some((range, step)) => (range, step.parse::<u32>().ok().filter(|step| *step > 0)?),
                None => (range, 1),
            };
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(TaskRange {
                first: first.parse().ok()?,
                last: last.parse().ok()?,
                step,
            })
        });
        ranges.collect::<Option<_>>().map(Self)
    }

    /// How many they are; `None` where a range ends before it begins, or they are too many.
    pub(super) fn task_n(&self) -> Option<u32> {
        self.0.iter().try_fold(0_u32, |task_n, range| {
            let of_range = (range.last.checked_sub(range.first)? / range.step).checked_add(1)?;
            task_n.checked_add(of_range)
        })
    }

    /// Whether a task is one of them.
    pub(super) fn has(&self, task: u32) -> bool {
        let is_in = |range: &TaskRange| {
            let after = task.checked_sub(range.first).filter(|_| task <= range.last);
            after.is_some_and(|after| after % range.step == 0)
        };
        self.0.iter().any(is_in)
    }
}
