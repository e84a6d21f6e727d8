//! The words by which Slurm states that there is no value.

/// The words Slurm prints for an absent value.
#[must_use]
pub fn is_absent(text: &str) -> bool {
    matches!(
        text,
        "" | "(null)" | "N/A" | "n/a" | "n/s" | "None" | "none" | "Unknown" | "UNKNOWN_TIME" | "NONE"
    )
}
