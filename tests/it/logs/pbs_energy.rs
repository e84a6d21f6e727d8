//! Energy that PBS Professional states of its jobs.

use gridtally::record::{Energy, EnergyReading};
use gridtally::sources::pbs;

use super::golden::{PBS, one};

#[test]
fn energy_of_pbs_is_in_kilowatt_hours_and_a_bad_figure_refuses_no_job() {
    let energy = |text: &str| {
        let line = format!(
            "{}\n",
            PBS.replace(
                "resources_used.mem",
                &format!("resources_used.energy={text} resources_used.mem")
            )
        );
        one(pbs::DIALECT, &line).energy
    };
    let measured = |energy_j: i64| {
        Some(Energy {
            reading: EnergyReading::Measured,
            energy_j: Some(energy_j),
        })
    };
    assert_eq!(energy("0.25"), measured(900_000));
    assert_eq!(energy("0.0000003"), measured(1), "1.08 J");
    assert_eq!(energy("0"), Some(Energy::unknown(EnergyReading::Zero)));
    assert_eq!(energy("much"), Some(Energy::unknown(EnergyReading::Unreadable)));
    // Two nodes at 50 kW for an hour and a minute are 101.7 kWh.
    assert_eq!(energy("101"), measured(363_600_000));
    assert_eq!(energy("102"), Some(Energy::unknown(EnergyReading::Impossible)));
    let torque = PBS.replace(
        "resources_used.mem",
        "resources_used.energy_used=900000 resources_used.mem",
    );
    assert_eq!(
        one(pbs::DIALECT, &format!("{torque}\n")).energy,
        None,
        "of no stated unit"
    );
}
