//! What jobs have of parts of the machine that are no longer theirs: of a reservation that began while they ran, of what was taken
//! from theirs, of nodes that take no jobs now.

use super::demand::Demand;

/// A part of the machine. Together the parts are the machine, and none has what another has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A reservation that is in force, by its place.
    Reserved(usize),
    /// What is not reserved.
    Open,
    /// What takes no jobs.
    Unavailable,
}

/// A part of the machine now.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartState {
    pub(super) part: Part,
    /// What it has, free or not.
    pub(super) amounts: Demand,
    /// What its own jobs leave of that; less than nothing where they have more than the part.
    pub(super) free: Demand,
}

/// What jobs of other parts have of a part.
#[derive(Clone, Copy, Debug)]
struct HeldPart {
    part: Part,
    amounts: Demand,
    /// What jobs of other parts have.
    held: Demand,
    /// What its own jobs leave, at least nothing.
    room: Demand,
    /// What the part has more than when it was last settled.
    gained: Demand,
}

impl HeldPart {
    /// Holds as much of `missing` as is within `most` and has room, and takes it from that.
    fn hold(&mut self, most: &Demand, missing: &mut Demand) {
        let room = self.room.without(&self.held);
        let more = missing.at_least_nothing().smaller(most).smaller(&room);
        self.held.add(&more);
        missing.take(&more);
    }
}

/// What jobs have of parts that are not theirs, by part.
///
/// Where jobs of a part have more than the part, the rest is on other parts, which have that much less for jobs of their own. What
/// all of these hold is together what all parts lack. So jobs never start on more than the machine has: what is free of
/// all parts without what they hold is what is free of the machine.
#[derive(Debug, Default)]
pub(super) struct Displaced {
    /// By part.
    parts: Vec<HeldPart>,
    /// Whether any part lacks anything.
    is_any: bool,
}

impl Displaced {
    /// Whether any jobs have anything of a part that is not theirs.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    fn part(&self, part: Part) -> Option<&HeldPart> {
        self.parts.iter().find(|held| held.part == part)
    }

    /// What jobs of other parts have of a part.
    pub(super) fn held(&self, part: Part) -> Demand {
        self.part(part).map_or(Demand::NOTHING, |held| held.held)
    }

    /// The parts have become these, in order. What they lack more than is held is on what parts gained since, reservations
    /// first. What is held and no longer lacked is first free of what takes no jobs, and of reservations last.
    pub(super) fn settle(&mut self, states: &[PartState]) {
        let mut missing = Demand::NOTHING;
        let mut parts: Vec<HeldPart> = states
            .iter()
            .map(|state| {
                let (amounts, room) = (state.amounts, state.free.at_least_nothing());
                missing.add(&room.without(&state.free));
                let before = self.part(state.part);
                let before_amounts = before.map_or(Demand::NOTHING, |before| before.amounts);
                let held = before.map_or(Demand::NOTHING, |before| before.held.smaller(&room));
                HeldPart {
                    part: state.part,
                    amounts,
                    held,
                    room,
                    gained: amounts.without(&before_amounts).at_least_nothing(),
                }
            })
            .collect();
        self.is_any = missing != Demand::NOTHING;
        for one in &parts {
            missing.take(&one.held);
        }
        for one in &mut parts {
            let gained = one.gained;
            one.hold(&gained, &mut missing);
        }
        for one in &mut parts {
            let room = one.room;
            one.hold(&room, &mut missing);
        }
        let mut surplus = Demand::NOTHING.without(&missing).at_least_nothing();
        for one in parts.iter_mut().rev() {
            let less = one.held.smaller(&surplus);
            one.held.take(&less);
            surplus.take(&less);
        }
        self.parts = parts;
    }
}
