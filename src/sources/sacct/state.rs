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

/// Flags in the order in which the text shows them for the job, the strongest first.
const FLAGS: &[&str] = &[
    "COMPLETING",
    "STAGE_OUT",
    "CONFIGURING",
    "EXPEDITING",
    "RESIZING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "STOPPED",
    "REVOKED",
    "RESV_DEL_HOLD",
    "SIGNALING",
];

/// Which of several state words the text prints: the one with the highest number. Base states have 0.
pub(super) fn precedence(state: &str) -> usize {
    FLAGS
        .iter()
        .position(|flag| *flag == state)
        .map_or(0, |at| FLAGS.len() - at)
}

/// Flags that only JSON contains, next to the state.
pub(super) fn is_silent_flag(word: &str) -> bool {
    matches!(word, "LAUNCH_FAILED" | "UPDATE_DB" | "RECONFIG_FAIL" | "POWER_UP_NODE")
}
