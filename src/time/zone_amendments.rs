//! What the IANA database changed after the release that `chrono-tz` bundles.
//!
//! `chrono-tz` 0.10.4 has release 2025b; these amendments make its zones those of release 2026e, between 1970 and 2100. A
//! test compares all zones with the `tzdata` of Python; it names those that differ when either side moves on.

use super::zone::OffsetChange;

/// Changes of offset that differ from the bundled release.
pub(super) struct ZoneAmendment {
    /// IANA names, aliases included.
    zones: &'static [&'static str],
    kind: AmendmentKind,
}

enum AmendmentKind {
    /// In place of the changes from one Unix second to before another.
    Replaced {
        from_s: i64,
        until_s: i64,
        by: &'static [OffsetChange],
    },
    /// Changes from a Unix second on happen later.
    Delayed { from_s: i64, by_s: i64 },
}

const AMENDMENTS: &[ZoneAmendment] = &[
    // Permanent daylight time: the last change is that of spring 2026.
    ZoneAmendment {
        zones: &[
            "America/Edmonton",
            "America/Inuvik",
            "America/Rainy_River",
            "America/Vancouver",
            "America/Winnipeg",
            "America/Yellowknife",
            "Canada/Central",
            "Canada/Mountain",
            "Canada/Pacific",
        ],
        kind: AmendmentKind::Replaced {
            from_s: 1_793_516_400,
            until_s: i64::MAX,
            by: &[],
        },
    },
    // Permanent UTC from September 2026.
    ZoneAmendment {
        zones: &["Africa/Casablanca", "Africa/El_Aaiun"],
        kind: AmendmentKind::Replaced {
            from_s: 1_789_866_000,
            until_s: i64::MAX,
            by: &[OffsetChange::new(1_789_866_000, 0)],
        },
    },
    // Changes at the instant of the EU since 2022.
    ZoneAmendment {
        zones: &["Europe/Chisinau", "Europe/Tiraspol"],
        kind: AmendmentKind::Delayed {
            from_s: 1_648_339_200,
            by_s: 3600,
        },
    },
    ZoneAmendment {
        zones: &["America/Bogota"],
        kind: AmendmentKind::Replaced {
            from_s: 704_782_800,
            until_s: 704_869_201,
            by: &[OffsetChange::new(704_782_800, -14_400)],
        },
    },
    ZoneAmendment {
        zones: &["Asia/Tehran", "Iran"],
        kind: AmendmentKind::Replaced {
            from_s: 296_512_200,
            until_s: 296_598_601,
            by: &[OffsetChange::new(296_512_200, 16_200)],
        },
    },
    // Daylight time of 1970 to 1975.
    ZoneAmendment {
        zones: &[
            "America/Ensenada",
            "America/Santa_Isabel",
            "America/Tijuana",
            "Mexico/BajaNorte",
        ],
        kind: AmendmentKind::Replaced {
            from_s: 0,
            until_s: 199_274_400,
            by: &[
                OffsetChange::new(9_972_000, -25_200),
                OffsetChange::new(25_693_200, -28_800),
                OffsetChange::new(41_421_600, -25_200),
                OffsetChange::new(57_747_600, -28_800),
                OffsetChange::new(73_476_000, -25_200),
                OffsetChange::new(89_197_200, -28_800),
                OffsetChange::new(104_925_600, -25_200),
                OffsetChange::new(120_646_800, -28_800),
                OffsetChange::new(126_698_400, -25_200),
                OffsetChange::new(152_096_400, -28_800),
                OffsetChange::new(162_381_600, -25_200),
                OffsetChange::new(183_546_000, -28_800),
            ],
        },
    },
];

/// Applies the amendments of a zone to its changes in order, the first from always.
pub(super) fn amend(zone: &str, changes: &mut Vec<OffsetChange>) {
    for amendment in AMENDMENTS.iter().filter(|amendment| amendment.zones.contains(&zone)) {
        match amendment.kind {
            AmendmentKind::Replaced { from_s, until_s, by } => {
                changes.retain(|change| change.from_s < from_s || change.from_s >= until_s);
                changes.extend_from_slice(by);
                changes.sort_unstable();
            }
            AmendmentKind::Delayed { from_s, by_s } => {
                for change in changes.iter_mut().filter(|change| change.from_s >= from_s) {
                    // Fallback: a change at the beginning of all time stays there.
                    change.from_s = change.from_s.saturating_add(by_s);
                }
            }
        }
    }
}
