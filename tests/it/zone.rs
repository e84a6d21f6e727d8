//! Printed times and what they can mean.

use gridtally::time::{Local, Zone};

const OCT_25_2026: i64 = 1_792_886_400; // 2026-10-25T00:00:00 read off a clock

#[test]
fn autumn_fold_has_two_instants() {
    let zone = Zone::named("Europe/Zurich").unwrap();
    let half_past_two = OCT_25_2026 + 2 * 3600 + 1800;
    assert_eq!(
        zone.resolve(half_past_two),
        Local::Fold {
            earlier: half_past_two - 7200,
            later: half_past_two - 3600
        }
    );
    assert_eq!(zone.resolve(OCT_25_2026), Local::Unique(OCT_25_2026 - 7200));
    assert_eq!(
        zone.resolve(OCT_25_2026 + 3 * 3600),
        Local::Unique(OCT_25_2026 + 2 * 3600)
    );
}

#[test]
fn spring_gap_has_none() {
    let zone = Zone::named("Europe/Zurich").unwrap();
    let skipped = 1_774_751_400; // 2026-03-29T02:30:00
    assert_eq!(zone.resolve(skipped), Local::Gap(skipped - 3600));
}
