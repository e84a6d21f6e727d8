//! Every key of a pipeline file, described for the reference and for editors.

use crate::diagnostics::description::{
    KeyDescription, SectionDescription, ValueForm, optional, required, table, tables, texts, words,
};
use crate::occupancy::{PRESETS, Scheme};
use crate::privacy::{Field, PrivacyAction, Rotation};
use crate::record::infrastructure::StatedInfrastructure;
use crate::reference::first_match::MatchColumn as _;
use crate::reference::site::SiteColumn;
use crate::reference::topology::LEVELS;
use crate::reference::vo_rule::VoColumn;
use crate::sources::dialect::Dialect;
use crate::sources::inventory::InventoryKind;
use crate::sources::registry;
use crate::sources::sacct::FixedOrder;

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
        ],
    }
}

fn limits() -> [KeyDescription; 2] {
    [
        optional(
            "max_rejected",
            Number,
            "Rows that may be refused before the run fails: a whole number of them, or a fraction from 0.0 to 1.0.",
        ),
        optional(
            "max_unread",
            Number,
            "New files of which nothing need be read: a whole number of them, or a fraction.",
        ),
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
            "Whether a job over the edge of a period is split, or counts whole where it ends; default `prorated`.",
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
    ];
    keys.extend(limits());
    table("[pipeline]", "Stands once.", keys)
}

fn site() -> ValueForm {
    let keys = vec![
        optional(
            "column",
            words(SiteColumn::KNOWN),
            "The column of the record that is the site.",
        ),
        optional("table", Text, "A table of sites with `to_site`."),
        optional("topology", Text, "OSG's table of resources."),
        optional("level", words(LEVELS), "The level of the topology that is the site."),
    ];
    OneOf(vec![
        Text,
        table(
            "site = { .. }",
            "A rule for the site: exactly one of `column`, `table` and `topology`.",
            keys,
        ),
    ])
}

fn vo() -> ValueForm {
    let keys = vec![
        optional(
            "column",
            words(VoColumn::KNOWN),
            "The column of the record that is the VO.",
        ),
        optional("table", Text, "A table of VOs with `to_vo`."),
        optional("value", Text, "The VO of all jobs."),
        optional("corrections", Text, "A table of corrections of VO names."),
        optional("known", Text, "A table of known VOs."),
    ];
    table(
        "vo = { .. }",
        "A rule for the VO: exactly one of `column`, `table`, `value`, and `corrections` with or without `known`.",
        keys,
    )
}

fn scaled_to() -> ValueForm {
    let keys = vec![
        required("benchmark", Words(vec!["hs06", "hs23", "si00"]), "The scale."),
        required("value", OneOf(vec![Number, Text]), "The reference, per core."),
        optional(
            "times",
            Words(vec!["both", "cpu", "wall"]),
            "Which times are scaled; default `both`.",
        ),
        optional("unscale", Truth, "Whether rows of nodes give the raw times back."),
    ];
    table(
        "scaled_to = { .. }",
        "What worker nodes scale the times they log to.",
        keys,
    )
}

fn source() -> ValueForm {
    let within = vec![required(
        "within_s",
        Integer,
        "Longest pause between messages of one publication, seconds.",
    )];
    let parts = OneOf(vec![
        Words(vec!["file", "folder"]),
        table(
            "publication_parts = { .. }",
            "Messages that arrive shortly after one another.",
            within,
        ),
    ]);
    let formats = registry::declarable().map(Dialect::as_str).chain(["auto"]);
    let mut keys = vec![
        required("name", Text, "One of its own for every source."),
        required(
            "format",
            Words(formats.collect()),
            "The dialect, or `auto` to have it recognised.",
        ),
        required("paths", texts(), "Files, folders, globs or URLs."),
        optional(
            "site",
            site(),
            "The site, or a rule for it, where records do not name it.",
        ),
        optional("cluster", Text, "The cluster of records that name none."),
        optional(
            "infrastructure",
            words(StatedInfrastructure::WORDS),
            "Through what the jobs came, where records do not state it.",
        ),
        optional(
            "timezone",
            Text,
            "Zone of times that are printed without an offset; there is no default.",
        ),
        optional("delimiter", Text, "Of sacct text; found from the header if absent."),
        optional(
            "layout",
            words(FixedOrder::WORDS),
            "Order of the columns of sacct text without a header.",
        ),
        optional("vo", vo(), "A rule for the VO."),
        optional(
            "acceptance",
            Words(vec!["strict-apel", "salvage"]),
            "What a bad record does to its APEL message.",
        ),
        optional("blah", texts(), "Logs of the CE, of a source of batch logs."),
        optional(
            "unix_start_time",
            Integer,
            "Of a workload trace: the Unix second that its times count from.",
        ),
        optional(
            "start_from",
            Words(vec!["submit"]),
            "Of a workload trace without wait times.",
        ),
        optional("scaled_to", scaled_to(), "To what the worker nodes scale times."),
        optional(
            "summaries",
            Words(vec!["upsert", "snapshot"]),
            "What a later summary replaces: its row, or its month.",
        ),
        optional(
            "publication",
            Words(vec!["source", "site"]),
            "What a publication of summaries is complete for.",
        ),
        optional("publication_parts", parts, "Which messages are one publication."),
    ];
    keys.extend(limits());
    tables("[[source]]", "Stands once for each kind of dump.", keys)
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
        optional("cluster", Text, "The cluster of files that name none."),
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
    tables("[[inventory]]", "Stands once for each kind of listing.", keys)
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
        optional("gpu_model", Text, "The model of these GPUs."),
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
    table("[overhead]", "Stands at most once.", keys)
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
    table("[normalise]", "Stands at most once.", keys)
}

fn charge() -> ValueForm {
    let keys = vec![
        required("policies", texts(), "Policy files, or folders of them."),
        optional("options", Named(Box::new(Text)), "What a policy leaves open."),
    ];
    tables(
        "[[charge]]",
        "Stands once for each set of policies with the same options.",
        keys,
    )
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
            "Check value of the former key: all pseudonyms are made anew.",
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
    table("[privacy]", "Stands at most once.", keys)
}
