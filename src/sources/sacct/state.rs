//! State words.

/// Every state word of every release, base states before the flags that replace them.
const STATES: &[&str] = &[
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "TIMEOUT",
    "RUNNING",
    "PENDING",
    "OUT_OF_MEMORY",
    "NODE_FAIL",
    "PREEMPTED",
    "REQUEUED",
    "SUSPENDED",
    "BOOT_FAIL",
    "DEADLINE",
    "COMPLETING",
    "CONFIGURING",
    "RESIZING",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "STOPPED",
    "REVOKED",
    "RESV_DEL_HOLD",
    "SIGNALING",
    "STAGE_OUT",
    "EXPEDITING",
    "?",
];

/// The first word: `CANCELLED by 0` is `CANCELLED`.
pub(super) fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&b| b == b' ').unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// The state word `word`, if any release knows it.
pub(super) fn known(word: &[u8]) -> Option<&'static str> {
    STATES.iter().copied().find(|state| state.as_bytes() == word)
}
