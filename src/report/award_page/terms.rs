//! What the terms of the page mean.

/// Terms, and what they mean.
pub(super) const TERMS: [(&str, &str); 19] = [
    (
        "award",
        "Who may use how much, from when until when, by all entries of the ledger known on the day. Its amount limits nothing: use beyond it is reported and refuses nothing.",
    ),
    (
        "used",
        "Settled use: of jobs that ended, and of running ones up to their dump, as the policy of the award counts it.",
    ),
    (
        "peak",
        "Of awards of storage: the most that was stored on a day of the award that a table states. Used is the latest.",
    ),
    (
        "in flight",
        "What running jobs will still use at most: to their time limits, at their rate so far. Empty where no dump states running jobs.",
    ),
    (
        "pending",
        "What waiting jobs will use at most: to their time limits, with what they request. Empty where no listing states waiting jobs.",
    ),
    (
        "remaining",
        "What is allocated less what is used. Below zero more was used.",
    ),
    ("days left", "Days that the rest lasts at the present rate."),
    (
        "projected",
        "Use at the end of the award when it continues by the method of this page. What is over has none.",
    ),
    (
        "constant-rate",
        "Use continues at the average rate of the days that went by.",
    ),
    (
        "recent-window",
        "Use continues at the rate of the last days (projection_window of the pipeline).",
    ),
    (
        "jobs-to-limits",
        "Running and waiting jobs run to their limits, and nothing else. It cannot be tested on the past: jobs that ran then are not known any more.",
    ),
    (
        "low, high",
        "The projection less the largest overestimate of the method in past months, and more its largest underestimate, each in per cent of what was used by then.",
    ),
    (
        "target to date",
        "What should have been used by the end of the day to meet the average. Days on which nothing could run count.",
    ),
    ("owed", "The target to date less what was used."),
    (
        "elapsed",
        "Days of the award that went by, of those it was granted for. Above 100 % after an extension.",
    ),
    (
        "maintenance",
        "Days of reservations for maintenance (MAINT) that a listing states.",
    ),
    (
        "no job used anything",
        "Days on which no account used anything of the cluster, between days on which one did.",
    ),
    (
        "level",
        "How many awards are above it. Use counts once for each award on the way up: never add up levels.",
    ),
    ("unknown", "No record states it. Unknown is never counted as zero."),
];
