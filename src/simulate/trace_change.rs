//! How jobs are simulated differently from what their trace states.

/// Why a job is simulated differently from what the log states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceChange {
    /// It has no time limit: its run time stands for it.
    NoLimit,
    /// It ran longer than its limit: it ends there.
    RanOverLimit,
    /// It waits for a job that is not simulated: it waits for the others, and for none where one of them is enough.
    UnknownPredecessor,
    /// Another job has the same number.
    RepeatedNumber,
    /// The rules made it a job of one second on one processor.
    MadeMinimal,
    /// It ran longer than its limit, and keeps what it used: its run time stands for the limit.
    LimitRaised,
    /// It has no submission: its start stands for it.
    NoSubmission,
    /// It could not start when it was submitted: it is submitted when it was eligible.
    HeldUntilEligible,
    /// It states no allocated cores: those it requested stand for them.
    RequestedCores,
    /// It states no memory: it requests none.
    NoMemory,
    /// It states no nodes: it requests none.
    NoNodes,
    /// It states no model of GPUs it had: it requests these of no model.
    NoGpuModel,
    /// It started, as recorded, before what it depends on, or depends on itself: that holds it no longer.
    DependencyContradicted,
    /// No listing knows the reservation it ran in at that time: it runs on what is not reserved.
    ReservationUnlisted,
    /// It requests more than the reservation it ran in ever has: it runs on what is not reserved.
    BeyondReservation,
}

impl TraceChange {
    const ALL: [Self; 15] = [
        Self::NoLimit,
        Self::RanOverLimit,
        Self::UnknownPredecessor,
        Self::RepeatedNumber,
        Self::MadeMinimal,
        Self::LimitRaised,
        Self::NoSubmission,
        Self::HeldUntilEligible,
        Self::RequestedCores,
        Self::NoMemory,
        Self::NoNodes,
        Self::NoGpuModel,
        Self::DependencyContradicted,
        Self::ReservationUnlisted,
        Self::BeyondReservation,
    ];

    /// The word of tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NoLimit => "no_limit",
            Self::RanOverLimit => "ran_over_limit",
            Self::UnknownPredecessor => "unknown_predecessor",
            Self::RepeatedNumber => "repeated_number",
            Self::MadeMinimal => "made_minimal",
            Self::LimitRaised => "limit_raised",
            Self::NoSubmission => "no_submission",
            Self::HeldUntilEligible => "held_until_eligible",
            Self::RequestedCores => "requested_cores",
            Self::NoMemory => "no_memory",
            Self::NoNodes => "no_nodes",
            Self::NoGpuModel => "no_gpu_model",
            Self::DependencyContradicted => "dependency_contradicted",
            Self::ReservationUnlisted => "reservation_unlisted",
            Self::BeyondReservation => "beyond_reservation",
        }
    }
}

/// The changes of one job: a bit for each, in the order of their declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobChanges(u16);

impl JobChanges {
    /// Those of a job that was stored.
    pub(super) fn of_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// As they are stored.
    pub(super) fn bits(self) -> u16 {
        self.0
    }

    /// Adds a change.
    pub fn add(&mut self, change: TraceChange) {
        let place = TraceChange::ALL.iter().position(|known| *known == change);
        self.0 |= place.map_or(0, |place| 1 << place);
    }

    /// Whether a change is among them.
    #[must_use]
    pub fn has(self, change: TraceChange) -> bool {
        self.each().any(|own| own == change)
    }

    /// Each of them.
    pub fn each(self) -> impl Iterator<Item = TraceChange> {
        let all = TraceChange::ALL.into_iter().enumerate();
        all.filter(move |(place, _)| self.0 & (1 << place) != 0)
            .map(|(_, change)| change)
    }
}
