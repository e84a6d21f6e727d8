//! Every key of a pipeline file, described for the reference and for editors.

use super::daemon_run_spec::EndWord;
use super::energy_spec::{BASES, SHARED};
use super::fairshare_plan::DecayMode;
use super::fairshare_spec::{ALGORITHMS, PARENTLESS, RESETS};
use super::reject_limits::{MAX_REJECTED_DOC, MAX_UNREAD_DOC};
use super::source_key::SourceKey;
use super::source_options::SOURCE_KEYS;
use crate::diagnostics::description::{
    KeyDescription, SectionDescription, ValueForm, optional, required, table, tables, texts, words,
};
use crate::occupancy::{PRESETS, Scheme};
use crate::privacy::{Field, PrivacyAction, Rotation};
use crate::sources::inventory::InventoryKind;

use ValueForm::{Date, Integer, Named, Number, OneOf, Text, Truth, Words};

/// The pipeline file.
#[must_use]
pub fn pipeline_file() -> SectionDescription {
    SectionDescription {
        title: "Pipeline file",
        doc: "What is read, what dumps do not state themselves, and how usage is counted. Paths are relative to the file.",
        keys: vec![
            required("pipeline", pipeline(), "Name, output, calendar and limits."),
            optional("source", source(), "Dumps of one kind, read by the same rules."),
            optional("inventory", inventory(), "Listings of the machine."),
            optional("overhead", overhead(), "What nodes could still have run."),
            optional("normalise", normalise(), "Work by dated benchmarks."),
            optional("charge", charge(), "What jobs cost."),
            optional("privacy", privacy(), "What is withheld before anything is written."),
            optional(
                "capacity",
                table(
                    "[capacity]",
                    "What could be delivered.",
                    vec![optional("node_types", Text, "The table of node types.")],
                ),
                "What could be delivered.",
            ),
            optional(
                "fairshare",
                fairshare(),
                "Shares, decayed usage and factors of accounts and users.",
            ),
            optional("awards", awards(), "Who may use how much."),
            optional("energy", energy(), "Energy and carbon of jobs."),
        ],
    }
}

fn energy() -> ValueForm {
    let keys = vec![
        optional("pue", Text, "The table of PUE."),
        optional("intensity", Text, "The table of carbon intensity."),
        optional(
            "basis",
            words(BASES),
            "By which rows of `intensity` carbon is counted: the grid at the place, or contracts; needed with `intensity`.",
        ),
        optional(
            "nodes",
            Text,
            "The table of what nodes draw, and of what it took to make them.",
        ),
        optional(
            "shared",
            words(SHARED),
            "Which part of a reading of shared nodes is a job's: its share of their cores, of their CPU time, or none; needed with \
             `nodes`.",
        ),
        optional(
            "meters",
            Text,
            "The table of what meters of nodes counted: for jobs that state no energy, and with `[overhead]` for `node_energy`.",
        ),
        optional(
            "known_on",
            Date,
            "Rows recorded after this day do not count; default: all count.",
        ),
    ];
    table("[energy]", "At most once.", keys)
}

fn limits() -> [KeyDescription; 2] {
    [
        optional("max_rejected", Number, MAX_REJECTED_DOC),
        optional("max_unread", Number, MAX_UNREAD_DOC),
    ]
}

fn pipeline() -> ValueForm {
    let mut keys = vec![
        required("name", Text, "A short name."),
        required(
            "output",
            Text,
            "The folder or URL that results are published to; `run --out` replaces it.",
        ),
        optional(
            "allocation_year_start",
            Text,
            "First day of an allocation year, `MM-DD`; default `01-01`.",
        ),
        optional(
            "calendar_timezone",
            Text,
            "Zone in which days, months and years are cut; default `UTC`.",
        ),
        optional(
            "attribution",
            Words(vec!["prorated", "by-end"]),
            "Whether a job over the edge of a period is split, or counts whole where it ends, under the policy that holds at that instant; \
             default `prorated`.",
        ),
        optional(
            "grain",
            Words(vec!["month", "day"]),
            "The shortest period of usage; default `month`.",
        ),
        optional(
            "overlap",
            Words(vec!["jobs", "summaries", "reject"]),
            "What counts where jobs and summaries of a site, month and view arrive; without it such a run stops.",
        ),
        optional(
            "copied_jobs",
            Words(vec!["keep", "stop"]),
            "What becomes of jobs that two files hold in two zones or under two clusters; default `stop`.",
        ),
        optional("corrections", Text, "The table of signed corrections."),
        optional(
            "keep",
            keep(),
            "Which snapshots of the lake are kept; without it none is made. A run makes one each time it publishes, and \
             `gridtally gc` removes what the policy does not keep.",
        ),
        optional(
            "delta_log",
            Words(vec!["on", "off"]),
            "Whether each dataset gets a Delta log over its kept files, for DuckDB's `delta_scan` and other readers of Delta \
             Lake; needs `keep`; default `off`.",
        ),
    ];
    keys.extend(limits());
    table("[pipeline]", "Exactly once.", keys)
}

fn keep() -> ValueForm {
    let keys = vec![
        required(
            "nights",
            Integer,
            "Of so many of the last days on which the lake was published, the last snapshot is kept.",
        ),
        required("months", Integer, "Of so many of the last months likewise."),
        optional(
            "tags",
            Words(vec!["all"]),
            "Snapshots with a tag are always kept, as is the newest; the word makes it visible.",
        ),
    ];
    table(
        "keep = { .. }",
        "Days and months are those of `calendar_timezone`.",
        keys,
    )
}

fn source() -> ValueForm {
    let keys = SOURCE_KEYS.iter().map(SourceKey::described);
    tables("[[source]]", "Once for each kind of dump.", keys.collect())
}

fn inventory() -> ValueForm {
    let formats = ["auto"]
        .into_iter()
        .chain(InventoryKind::all().map(InventoryKind::as_str));
    let mut keys = vec![
        required("name", Text, "One of its own for every inventory and source."),
        optional(
            "format",
            Words(formats.collect()),
            "The form of the listing; default `auto`.",
        ),
        required("paths", texts(), "Files, folders, globs or URLs."),
        optional("site", Text, "The site of the machine."),
        optional("cluster", Text, "The cluster of files that do not name one."),
        optional(
            "as_of",
            OneOf(vec![Date, Text]),
            "The day or instant at which it was so, or `path` where the path names it.",
        ),
        optional("complete", Truth, "Whether each listing names all nodes."),
        optional("timezone", Text, "Zone of printed times and of `as_of`."),
        optional(
            "nodes",
            Named(Box::new(Text)),
            "Lists of nodes by kind, of a `.machines` file.",
        ),
    ];
    keys.extend(limits());
    tables("[[inventory]]", "Once for each kind of listing.", keys)
}

fn overhead() -> ValueForm {
    let period = vec![
        required("from", OneOf(vec![Date, Text]), "Its first day."),
        required("to", OneOf(vec![Date, Text]), "The day after its last."),
    ];
    let unit = vec![
        optional("name", Text, "One of its own for every unit; a preset has its own."),
        optional("preset", words(PRESETS), "Resources by a name that is known."),
        optional("core", Integer, "Cores."),
        optional("memory", Text, "Memory with its unit, such as `2GiB`."),
        optional("gpu", Integer, "GPUs."),
        optional(
            "gpu_model",
            Text,
            "The model of these GPUs. GPUs of other models are of no use to the unit.",
        ),
        optional("disk", Text, "Refused: no source states what jobs hold of local disks."),
        optional(
            "partition",
            OneOf(vec![Text, texts()]),
            "Only nodes of these partitions; default all.",
        ),
    ];
    let keys = vec![
        optional(
            "nodes",
            OneOf(vec![texts(), Words(vec!["from-jobs"])]),
            "Listings of nodes; default the inventories.",
        ),
        optional(
            "period",
            table("period = { .. }", "What is swept.", period),
            "Default: what jobs span.",
        ),
        optional(
            "billing",
            words(Scheme::WORDS),
            "Who is charged for what is not used; without it no job is.",
        ),
        required(
            "unit",
            tables("[[overhead.unit]]", "A canonical unit.", unit),
            "Canonical units.",
        ),
    ];
    table("[overhead]", "At most once.", keys)
}

fn normalise() -> ValueForm {
    let fallback = vec![
        required("fallback", OneOf(vec![Number, Text]), "A value per core."),
        optional("benchmark", Words(vec!["hs06", "hs23", "si00"]), "Its scale."),
    ];
    let missing = OneOf(vec![
        Words(vec!["null", "reject"]),
        table("missing = { .. }", "A value for jobs without a benchmark.", fallback),
    ]);
    let keys = vec![
        optional("benchmarks", Text, "The table of benchmarks."),
        optional("nodes", Text, "The table that states which nodes are of which class."),
        optional(
            "order",
            texts(),
            "Where a benchmark is looked for first: `record`, `node`, `cluster`, `site`.",
        ),
        optional(
            "known_on",
            OneOf(vec![Date, Text]),
            "Benchmarks that were recorded later do not count.",
        ),
        required("missing", missing, "What becomes of jobs without a benchmark."),
    ];
    table("[normalise]", "At most once.", keys)
}

fn charge() -> ValueForm {
    let keys = vec![
        required("policies", texts(), "Policy files, or folders of them."),
        optional("options", Named(Box::new(Text)), "What a policy leaves open."),
    ];
    tables(
        "[[charge]]",
        "Once for each set of policies with the same options.",
        keys,
    )
}

fn fairshare() -> ValueForm {
    let keys = vec![
        required("site", Text, "The site of the cluster."),
        required("cluster", Text, "The cluster, as its jobs name it."),
        required(
            "listing",
            Text,
            "Name of the `[[inventory]]` with the associations, dated by the files or `as_of`; from each listing on its tree \
             and shares hold, and before the first one those of the first.",
        ),
        required(
            "usage",
            Text,
            "`recorded-billing` counts jobs by the billing their dump contains, a whole number; the id of a policy of a \
             `[[charge]]` counts what they are charged under it.",
        ),
        optional(
            "dated_usage",
            dated_usage(),
            "Times in which `usage` is something else, in order, such as the hours in which `PriorityFlags` had `MAX_TRES`. Seconds \
             of a job before and after such an instant are counted by what holds then.",
        ),
        optional(
            "decay",
            words(DecayMode::WORDS),
            "How past usage counts less; default `slurm-steps`.",
        ),
        optional(
            "half_life",
            Text,
            "After how long usage counts half, `D-HH:MM:SS`, or `none`; default what a listing of settings \
             (PriorityDecayHalfLife) of the cluster states.",
        ),
        optional(
            "calc_period",
            Text,
            "Time between two calculations under `slurm-steps`; default what a listing of settings states \
             (PriorityCalcPeriod), else Slurm's five minutes.",
        ),
        optional(
            "calc_anchor",
            Text,
            "An instant of such a calculation, `2026-11-21T02:13:50Z`: the others are whole periods from it. A batch system that \
             is started again shifts them. Without it reports of an instant take the starts that listings of settings state \
             (BOOT_TIME), and all else whole periods from 1970 on.",
        ),
        optional(
            "daemon_runs",
            daemon_runs(),
            "Runs of the batch system's daemon, in order: each start has its own calculations, and a daemon that was killed lost \
             usage. Starts that listings of settings state (BOOT_TIME) are added. Before the first one `calc_anchor` holds, or \
             whole periods from its first calculation back. Reports of an instant follow them; days of the dataset do not.",
        ),
        optional(
            "reset",
            words(RESETS),
            "When usage begins again at zero: at local midnight, or where usage follows the calculations of `slurm-steps` at the \
             first one after it; default `none`.",
        ),
        optional(
            "algorithm",
            words(ALGORITHMS),
            "From shares and usage to a factor; default `fair-tree`.",
        ),
        optional(
            "dampening_factor",
            Integer,
            "Damps the factor of `classic` and `depth-oblivious`; default 1.",
        ),
        optional(
            "accounts_without_parent",
            words(PARENTLESS),
            "What accounts are whose parent no listing states; default `refuse`.",
        ),
        optional(
            "priority_weight",
            Integer,
            "Priority points of a factor of one; without it there are no points.",
        ),
        optional(
            "usage_factors",
            Named(Box::new(OneOf(vec![Number, Text]))),
            "By QOS, how many times usage counts; QOS that are not named count as the listing of QOS states, else once.",
        ),
    ];
    tables("[[fairshare]]", "Once for each cluster with fairshare.", keys)
}

fn dated_usage() -> ValueForm {
    let keys = vec![
        required(
            "from",
            Text,
            "The first second in which it holds, `2026-11-21T02:13:50Z`.",
        ),
        optional("until", Text, "The second from which it does not; default never."),
        required(
            "usage",
            Text,
            "What jobs are counted by then; a policy charged under several options is named with them, `id[option=value option=value]`.",
        ),
    ];
    tables("[[fairshare.dated_usage]]", "Once for each time.", keys)
}

fn daemon_runs() -> ValueForm {
    let keys = vec![
        required("start", Text, "When it started (BOOT_TIME), `2026-11-21T02:13:50Z`."),
        optional(
            "first_calculation",
            Text,
            "Its first calculation, when it had read its state; default `start`.",
        ),
        optional("end", Text, "When it ended; default before the next start."),
        optional(
            "ended",
            words(EndWord::WORDS),
            "`killed` for a daemon that ended without saving its state; default `stopped`.",
        ),
        optional(
            "usage_saved",
            Text,
            "When a daemon that was killed had last written `assoc_usage`, the time of that file; before `start` where it never did. \
             Default the last whole 300 seconds from `start`, as Slurm saves.",
        ),
        optional(
            "last_calculation",
            Text,
            "What the next start read in `priority_last_decay_ran` after a kill; default the last calculation of the run. An earlier \
             one is of a state that was restored.",
        ),
    ];
    tables("[[fairshare.daemon_runs]]", "Once for each run.", keys)
}

fn awards() -> ValueForm {
    let keys = vec![
        required("table", Text, "The table of awards."),
        optional("period_rules", texts(), "Files of the period rules that awards name."),
        optional(
            "core_year",
            Words(vec!["allocation-year", "8760", "8766"]),
            "Length of a year of a unit: that of the allocation year in which the award begins, or hours; default `allocation-year`.",
        ),
        optional(
            "projection_window",
            Text,
            "Days of the recent window of projections, such as `28 days`, which is the default.",
        ),
    ];
    table("[awards]", "At most once.", keys)
}

fn privacy() -> ValueForm {
    let key = vec![
        optional("file", Text, "A file that holds the key."),
        optional("env", Text, "A variable that holds the key."),
        optional(
            "readable_by",
            Words(vec!["all", "owner"]),
            "Who may read the file; default `owner`.",
        ),
        optional(
            "replaces",
            Text,
            "Check value of the former key: all pseudonyms are replaced.",
        ),
    ];
    let fields = Field::ALL.map(|field| {
        optional(
            field.as_str(),
            words(PrivacyAction::WORDS),
            "What becomes of it; default `keep`.",
        )
    });
    let mut keys = Vec::from(fields);
    keys.extend([
        optional("rotate", words(Rotation::WORDS), "How long a pseudonym lasts."),
        optional(
            "key",
            table("key = { .. }", "Exactly one of `file` and `env`.", key),
            "Where the key of pseudonyms is.",
        ),
    ]);
    table("[privacy]", "At most once.", keys)
}
