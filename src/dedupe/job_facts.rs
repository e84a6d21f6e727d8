//! The facts of a job other than number and duration, by which two records are taken for one job.

use xxhash_rust::xxh3::xxh3_64;

/// What a record states; `None` where its dump has no such column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobFacts {
    /// Hash of the user's name.
    user: Option<u64>,
    core_n: Option<i64>,
    cpu_ms: Option<i64>,
    wait_ms: Option<i64>,
}

impl JobFacts {
    /// Of a user and what was measured.
    pub(super) fn new(user: Option<&str>, core_n: Option<i64>, cpu_ms: Option<i64>, wait_ms: Option<i64>) -> Self {
        Self {
            user: user.map(|name| xxh3_64(name.as_bytes())),
            core_n,
            cpu_ms,
            wait_ms,
        }
    }

    /// Whether they do not differ in cores.
    pub(super) fn agree_in_cores(self, other: Self) -> bool {
        is_equal(self.core_n, other.core_n)
    }

    /// Whether they do not differ in user and cores.
    pub(super) fn agree_in_user_and_cores(self, other: Self) -> bool {
        is_equal(self.user, other.user) && is_equal(self.core_n, other.core_n)
    }

    /// Whether both state how long it waited, and as long.
    pub(super) fn have_one_wait(self, other: Self) -> bool {
        self.wait_ms.is_some() && self.wait_ms == other.wait_ms
    }

    /// Whether both can be of one job: they differ in nothing that both state. Dumps of one job need not have the same
    /// columns.
    pub(super) fn agree_with(self, other: Self) -> bool {
        self.agree_in_user_and_cores(other)
            && is_equal(self.cpu_ms, other.cpu_ms)
            && is_equal(self.wait_ms, other.wait_ms)
    }
}

/// Whether both are equal as far as both are known.
fn is_equal<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}
