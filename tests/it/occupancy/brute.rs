//! The same questions answered second by second: plain loops over every job at every second, no events, no sorting, no
//! shared code.

use std::collections::BTreeMap;

/// A job on the one node.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) start_s: i64,
    pub(super) end_s: i64,
    /// Cores, bytes, GPUs, GPUs of the one model.
    pub(super) held: [i64; 4],
    pub(super) is_exclusive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Up,
    Down,
    Reserved,
}

/// What the node is from a second on.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) from_s: i64,
    pub(super) mood: Mood,
    pub(super) has: [i64; 4],
    pub(super) kept_back: [i64; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payer {
    Aware,
    Usage,
    Whole,
}

/// Cores, bytes and GPUs times seconds.
pub(super) type Three = [i128; 3];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) there_s: i64,
    pub(super) up_s: i64,
    pub(super) capacity: Three,
    pub(super) allocated: Three,
    pub(super) down: Three,
    pub(super) reserved: Three,
    pub(super) over: Three,
    pub(super) units: Vec<UnitDay>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitDay {
    pub(super) unit_s: i128,
    pub(super) overhead: Three,
    pub(super) stranded: Three,
    pub(super) billed: Three,
}

#[derive(Debug, Default)]
pub(super) struct Answer {
    /// By date as printed.
    pub(super) days: BTreeMap<String, Day>,
    /// By unit, hour of the week and number of units.
    pub(super) histogram: BTreeMap<(usize, i64, i64), i64>,
    /// By free cores, whole GiB and GPUs.
    pub(super) shapes: BTreeMap<[i64; 3], i64>,
    /// By job: billed by the first unit, cores, bytes and GPUs times seconds.
    pub(super) billed: Vec<[f64; 3]>,
    /// Seconds with too much of each resource.
    pub(super) over_s: [i64; 3],
}

/// `units`: what each of the four resources must offer for one unit; 0 where it does not matter.
pub(super) fn answer(
    phases: &[Phase],
    jobs: &[Job],
    units: &[[i64; 4]],
    payer: Payer,
    zone: &str,
    span: (i64, i64),
) -> Answer {
    let zone = jiff::tz::TimeZone::get(zone).unwrap();
    let mut answer = Answer {
        billed: vec![[0.0; 3]; jobs.len()],
        ..Answer::default()
    };
    for second in span.0..span.1 {
        let local = jiff::Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
        let hour = i64::from(local.weekday().to_monday_zero_offset()) * 24 + i64::from(local.hour());
        let phase = phases.iter().rev().find(|phase| phase.from_s <= second);
        let now: Vec<usize> = (0..jobs.len())
            .filter(|nth| jobs[*nth].start_s <= second && second < jobs[*nth].end_s)
            .collect();
        if phase.is_none() && now.iter().all(|nth| jobs[*nth].held == [0; 4]) {
            continue;
        }
        let held: [i64; 4] = std::array::from_fn(|r| now.iter().map(|nth| jobs[*nth].held[r]).sum());
        let has = phase.map_or([0; 4], |phase| phase.has);
        let mood = phase.map_or(Mood::Up, |phase| phase.mood);
        let is_alone = now.iter().any(|nth| jobs[*nth].is_exclusive);
        let day = answer.days.entry(local.date().to_string()).or_default();
        day.units.resize(units.len(), UnitDay::default());
        let is_there = has.iter().any(|n| *n > 0);
        day.there_s += i64::from(is_there);
        day.up_s += i64::from(is_there && mood == Mood::Up);
        let mut free = [0; 4];
        for r in 0..4 {
            let given = if held[r] > has[r] { has[r] } else { held[r] };
            let left = has[r] - given;
            let back = phase.map_or(0, |phase| phase.kept_back[r]);
            let back = if back > left { left } else { back };
            free[r] = if mood == Mood::Up { left - back } else { 0 };
            if r == 3 {
                continue;
            }
            day.capacity[r] += i128::from(has[r]);
            day.allocated[r] += i128::from(given);
            match mood {
                Mood::Up => day.reserved[r] += i128::from(back),
                Mood::Down => day.down[r] += i128::from(left),
                Mood::Reserved => day.reserved[r] += i128::from(left),
            }
            if held[r] > has[r] {
                day.over[r] += i128::from(held[r] - has[r]);
                answer.over_s[r] += 1;
            }
        }
        if mood == Mood::Up && is_there {
            *answer
                .shapes
                .entry([free[0], free[1] / (1 << 30), free[2]])
                .or_default() += 1;
        }
        for (nth, unit) in units.iter().enumerate() {
            let unit = held_by(unit);
            // As many as fit, tried one after the other.
            let mut fit = 0;
            while !is_alone && (0..4).all(|r| unit[r] * (fit + 1) <= free[r] || unit[r] == 0) {
                fit += 1;
            }
            let of = &mut day.units[nth];
            of.unit_s += i128::from(fit);
            for r in 0..3 {
                let over_head = fit * unit[r];
                of.overhead[r] += i128::from(over_head);
                of.stranded[r] += i128::from(free[r] - over_head);
                let given = held[r].min(has[r]);
                if given == 0 {
                    continue;
                }
                let bill = match payer {
                    Payer::Usage => given,
                    Payer::Aware => given + free[r] - over_head,
                    Payer::Whole => given + free[r],
                };
                of.billed[r] += i128::from(bill);
                if nth == 0 {
                    for job in &now {
                        let share = f64::from(i32::try_from(jobs[*job].held[r]).unwrap())
                            / f64::from(i32::try_from(held[r]).unwrap());
                        answer.billed[*job][r] += share * f64::from(i32::try_from(bill).unwrap());
                    }
                }
            }
            if mood == Mood::Up && is_there {
                *answer.histogram.entry((nth, hour, fit)).or_default() += 1;
            }
        }
    }
    answer
}

/// What one unit holds of a node: a GPU of the model it names is a GPU.
pub(super) fn held_by(unit: &[i64; 4]) -> [i64; 4] {
    let [core_n, byte, gpu_n, model_n] = *unit;
    [core_n, byte, gpu_n.max(model_n), model_n]
}
