//! Things that are odd about a record without making it unusable. Columns, not drops.

macro_rules! anomalies {
    ($($(#[doc = $doc:literal])+ $name:ident = $bit:literal, $column:literal;)+) => {
        /// One kind of oddity; each is a Boolean column of `records`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Anomaly { $($(#[doc = $doc])+ $name,)+ }

        impl Anomaly {
            /// Every anomaly in column order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The bit in [`super::row::JobRow::anomalies`].
            #[must_use]
            pub const fn bit(self) -> u32 {
                match self { $(Self::$name => 1 << $bit,)+ }
            }

            /// The column of `records`.
            #[must_use]
            pub const fn column(self) -> &'static str {
                match self { $(Self::$name => $column,)+ }
            }
        }
    };
}

anomalies! {
    /// Measured CPU time exceeds wall time times cores by more than 10 % and a minute.
    CpuAboveCoreWall = 0, "is_cpu_above_core_wall";
    /// CPU time is exactly wall time times cores: allocated time sent as used time.
    CpuEqualsCoreWall = 1, "is_cpu_equal_core_wall";
    /// CPU time of 18 446 744 073 s or more: a 64-bit counter of nanoseconds that wrapped.
    CpuCounterWrap = 2, "is_cpu_counter_wrap";
    /// Wall time plus suspension differs from end minus start by more than a second.
    WallUnlikeSpan = 3, "is_wall_unlike_span";
    /// The job ended before it started.
    EndBeforeStart = 4, "is_end_before_start";
    /// The start is in the first day of 1970: an unset clock.
    EpochStart = 5, "is_epoch_start";
    /// The source names no number of cores, or zero.
    CoreUnknown = 6, "is_core_unknown";
    /// The number of cores is the dialect's own stand-in for a missing one (GRACC: 1).
    CoreAssumed = 7, "is_core_assumed";
    /// A local time that exists twice (end of summer time) and nothing decided which; the earlier was taken.
    AmbiguousTime = 8, "is_ambiguous_time";
    /// A local time that does not exist (start of summer time); the offset before the change was taken.
    SkippedTime = 9, "is_skipped_time";
    /// Bytes that are not UTF-8 are written as escapes.
    InvalidText = 10, "is_invalid_text";
    /// The record was put together from a line with surplus delimiters or from several lines.
    Reassembled = 11, "is_reassembled";
    /// CPU time is unknown: the dump carries none (`sacct -X`) or the steps were purged.
    CpuUnknown = 12, "is_cpu_unknown";
    /// No VO: the record does not name one and the table has no match.
    VoUnmapped = 13, "is_vo_unmapped";
    /// A value that cannot be (negative duration, sentinel), or a list of nodes of more than 30 000 bytes, was read as unknown.
    ValueDropped = 14, "is_value_dropped";
    /// A time the source does not state was derived from others: the wall time is the end less the start, of GRACC the start or end
    /// is the other one and the wall time, or the start is the time of submission, as the pipeline configures.
    TimeAssumed = 15, "is_time_assumed";
    /// The comment of the job is a summary of Jobstats that cannot be read: what it measured is unknown.
    JobstatsDamaged = 16, "is_jobstats_damaged";
}
