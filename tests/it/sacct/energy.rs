//! Energy of jobs, in the columns and forms in which Slurm prints it.

use gridtally::record::{Energy, EnergyReading};
use proptest::prelude::*;

use super::json::document;
use super::only;
use crate::support::collect::Job;

/// A job of an hour on two nodes.
fn job(raw: &str, prefixed: &str, allocated: &str) -> Job {
    only(format!(
        "JobIDRaw|State|Start|End|ElapsedRaw|NNodes|NCPUS|AllocTRES|ConsumedEnergyRaw|ConsumedEnergy\n\
         7|COMPLETED|10|3610|3600|2|8|{allocated}|{raw}|{prefixed}\n"
    ))
}

fn measured(energy_j: i64) -> Energy {
    Energy {
        reading: EnergyReading::Measured,
        energy_j: Some(energy_j),
    }
}

#[test]
fn the_exact_figure_is_taken_before_the_rounded_one() {
    assert_eq!(job("101630", "102K", "").row.energy, Some(measured(101_630)));
    assert_eq!(
        job("", "101.63K", "cpu=8,energy=101631,node=2").row.energy,
        Some(measured(101_631))
    );
    assert_eq!(job("", "101.63K", "cpu=8,node=2").row.energy, Some(measured(101_630)));
    assert_eq!(job("", "", "cpu=8,node=2").row.energy, None);
}

#[test]
fn prefixes_are_powers_of_a_thousand() {
    for (text, energy_j) in [
        ("794", 794),
        ("1K", 1000),
        ("4.58M", 4_580_000),
        ("0.12G", 120_000_000),
        ("1.5k", 1500),
        ("7.4", 7),
        ("7.5", 8),
    ] {
        assert_eq!(job("", text, "").row.energy, Some(measured(energy_j)), "{text}");
    }
}

#[test]
fn figures_that_are_none_are_unknown_with_a_reason() {
    for (text, reading) in [
        ("0", EnergyReading::Zero),
        ("0.00K", EnergyReading::Zero),
        ("18446744073709551614", EnergyReading::NotSet),
        ("18446744073709551615", EnergyReading::NotSet),
        ("4294967294", EnergyReading::NotSet),
        ("4294967295", EnergyReading::NotSet),
        ("-2", EnergyReading::NotSet),
        ("18446744073709551613", EnergyReading::Impossible),
        ("12x", EnergyReading::Unreadable),
        ("K", EnergyReading::Unreadable),
        ("1.2.3", EnergyReading::Unreadable),
        ("99999999999999999999999", EnergyReading::Unreadable),
    ] {
        let job = job(text, "", "");
        assert_eq!(job.row.energy, Some(Energy::unknown(reading)), "{text}");
        assert_eq!(job.row.wall_ms, Some(3_600_000));
    }
}

#[test]
fn no_node_draws_more_than_fifty_kilowatts() {
    // Two nodes, an hour and the minute a counter may be late.
    let most_j = 2 * 50_000 * 3660;
    assert_eq!(job(&most_j.to_string(), "", "").row.energy, Some(measured(most_j)));
    let more = job(&(most_j + 1).to_string(), "", "");
    assert_eq!(more.row.energy, Some(Energy::unknown(EnergyReading::Impossible)));
}

#[test]
fn the_json_of_a_dump_has_the_same_figure() {
    let with = |count: &str| {
        let text = format!(
            r#"{{"job_id": 7, "state": {{"current": ["COMPLETED"]}}, "time": {{"start": 10, "end": 3610, "elapsed": 3600}},
            "tres": {{"allocated": [{{"type": "cpu", "name": "", "id": 1, "count": 8}}, {{"type": "node", "name": "", "id": 4, "count": 2}},
            {{"type": "energy", "name": "", "id": 3, "count": {count}}}]}}}}"#
        );
        only(document(&[text])).row.energy
    };
    assert_eq!(with("101630"), Some(measured(101_630)));
    assert_eq!(with("0"), Some(Energy::unknown(EnergyReading::Zero)));
    assert_eq!(with("-2"), Some(Energy::unknown(EnergyReading::NotSet)));
    assert_eq!(
        with("18446744073709551614"),
        Some(Energy::unknown(EnergyReading::NotSet))
    );
    assert_eq!(with("366000001"), Some(Energy::unknown(EnergyReading::Impossible)));
    assert_eq!(with("null"), None);
    assert_eq!(with("\"many\""), Some(Energy::unknown(EnergyReading::Unreadable)));
}

#[test]
fn a_row_with_surplus_fields_states_no_energy() {
    let energy = |comment: &str| {
        only(format!(
            "JobIDRaw|State|Start|End|ElapsedRaw|NNodes|Comment|ConsumedEnergyRaw|Constraints|NCPUS\n\
             7|COMPLETED|10|3610|3600|2|{comment}|1000||8\n"
        ))
        .row
        .energy
    };
    assert_eq!(energy("fine"), Some(measured(1000)));
    assert_eq!(energy("a|5|b"), None);
}

proptest! {
    #[test]
    fn no_text_refuses_the_job(text in "[0-9.KMGTPEx-]{0,24}") {
        let job = job(&text, &text, "");
        prop_assert_eq!(job.row.wall_ms, Some(3_600_000));
        if let Some(Energy { reading, energy_j }) = job.row.energy {
            prop_assert_eq!(energy_j.is_some(), reading == EnergyReading::Measured);
            prop_assert!(energy_j.is_none_or(|energy_j| energy_j > 0));
        }
    }
}
