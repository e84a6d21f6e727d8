//! Every key of a `[[source]]`, one row each, in the order of the reference, of the example of `check` and of the fingerprint.
//!
//! A new key is a row here, a field of the options it sets, and the place that acts by it. [`ReaderOptions`] hold what readers
//! take, each reader's own under its name; [`IntakeOptions`] the values that complete the records of any reader.
//!
//! [`ReaderOptions`]: crate::sources::options::ReaderOptions
//! [`IntakeOptions`]: crate::dedupe::options::IntakeOptions

use super::reject_limits::{MAX_REJECTED_DOC, MAX_UNREAD_DOC};
use super::source_key::{KeyExample, Misplaced, SourceKey, StatedKey, UsedBy};
use super::source_rule::{is_table, site, site_form, vo, vo_form};
use super::source_spec::SourceSpec;
use super::{scaled_spec, summary_parts};
use crate::dedupe::summary::publishing::{Replacement, SummaryParts, SummaryPublication};
use crate::diagnostics::description::ValueForm::{Integer, Number, Text, Words};
use crate::diagnostics::description::{texts, words};
use crate::record::infrastructure::StatedInfrastructure;
use crate::reference::first_match::MatchColumn as _;
use crate::reference::vo_rule::VoRule;
use crate::sources::apel::acceptance::Acceptance;
use crate::sources::dialect::{Dialect, SourceOption};
use crate::sources::format::Format;
use crate::sources::sacct::FixedOrder;
use crate::sources::{registry, sacct, swf};
use crate::time::Zone;

/// The keys.
pub static SOURCE_KEYS: &[SourceKey] = &[
    SourceKey {
        key: "name",
        form: || Text,
        required: Some(|| "one of its own for every source".to_owned()),
        doc: "One of its own for every source.",
        example: example("\"zoo-slurm\"", &[]),
        used_by: UsedBy::Every,
        read: |key, spec| spec.name = key.folder_name(),
        fingerprint: Some(|plan, text| text.line("name", &plan.name)),
    },
    SourceKey {
        key: "format",
        form: || Words(formats().collect()),
        required: Some(|| {
            let words: Vec<String> = registry::declarable()
                .map(|dialect| format!("\"{}\"", dialect.as_str()))
                .collect();
            format!("{} or \"auto\"", words.join(", "))
        }),
        doc: "The dialect, or `auto` to have it recognised.",
        example: example("\"sacct\"", &["@sources"]),
        used_by: UsedBy::Every,
        read: |key, spec| spec.format = key.format(),
        fingerprint: Some(|plan, text| text.line("format", plan.reader.format.as_str())),
    },
    SourceKey {
        key: "paths",
        form: texts,
        required: Some(|| "files, folders, globs or URLs".to_owned()),
        doc: "Files, folders, globs or URLs.",
        example: example(
            "[\"dumps/*.txt.xz\"]",
            &["files, folders, globs, URLs; relative to this file"],
        ),
        used_by: UsedBy::Every,
        read: |key, spec| spec.paths = key.texts(),
        fingerprint: None,
    },
    SourceKey {
        key: "site",
        form: site_form,
        required: None,
        doc: "The site, or a rule for it, where records do not name it.",
        example: example(
            "\"ZOO-T2\"",
            &[
                "may be absent where the records name it; or a rule:",
                "{ column = \"cluster\" }, { table = \"sites.csv\" },",
                "{ topology = \"resources.csv\", level = \"site\" }",
            ],
        ),
        used_by: UsedBy::Every,
        read: read_site,
        fingerprint: Some(|plan, text| {
            text.optional("site", plan.intake.site.as_deref());
            text.optional("site.rule", plan.intake.site_rule.canonical().as_deref());
        }),
    },
    SourceKey {
        key: "cluster",
        form: || Text,
        required: None,
        doc: "The cluster of records that name none.",
        example: example("\"zoo\"", &["for records that do not name one"]),
        used_by: UsedBy::Every,
        read: |key, spec| spec.intake.cluster = key.text().map(|at| at.value),
        fingerprint: Some(|plan, text| text.optional("cluster", plan.intake.cluster.as_deref())),
    },
    SourceKey {
        key: "infrastructure",
        form: || words(StatedInfrastructure::WORDS),
        required: None,
        doc: "Through what the jobs came, where records do not state it.",
        example: example("\"grid\"", &["or \"local\": for records that state none"]),
        used_by: UsedBy::Every,
        read: |key, spec| spec.intake.infrastructure = key.word(StatedInfrastructure::WORDS),
        fingerprint: Some(|plan, text| text.optional("infrastructure", plan.intake.stated_infrastructure())),
    },
    SourceKey {
        key: "timezone",
        form: || Text,
        required: None,
        doc: "Zone of times that are printed without an offset; there is no default.",
        example: example(
            "\"Europe/Zurich\"",
            &["zone of times printed without an offset; no default"],
        ),
        used_by: UsedBy::Listed(
            SourceOption::Timezone,
            Misplaced::Remark(": its times carry their zone"),
        ),
        read: |key, spec| spec.timezone = key.text(),
        fingerprint: Some(|plan, text| text.optional("zone", plan.reader.zone.as_ref().map(Zone::name))),
    },
    SourceKey {
        key: "delimiter",
        form: || Text,
        required: None,
        doc: "Of sacct text; found from the header if absent.",
        example: example("\"|\"", &["of sacct text; found from the header if absent"]),
        used_by: UsedBy::Reader(sacct::DIALECT),
        read: |key, spec| spec.reader.sacct.delimiter = key.delimiter(),
        fingerprint: Some(|plan, text| text.optional("delimiter", plan.reader.sacct.delimiter.as_deref())),
    },
    SourceKey {
        key: "layout",
        form: || words(FixedOrder::WORDS),
        required: None,
        doc: "Order of the columns of sacct text without a header.",
        example: example(
            "\"xdmod\"",
            &[
                "of sacct text without a header: xdmod, xdmod-9.5,",
                "xdmod-9.0, xdmod-8, apel",
            ],
        ),
        used_by: UsedBy::Reader(sacct::DIALECT),
        read: |key, spec| spec.reader.sacct.layout = key.word(FixedOrder::WORDS),
        fingerprint: Some(|plan, text| text.optional("layout", plan.reader.sacct.layout.map(FixedOrder::as_str))),
    },
    SourceKey {
        key: "vo",
        form: vo_form,
        required: None,
        doc: "A rule for the VO.",
        example: example(
            "{ column = \"account\" }",
            &[
                "or { table = \"vo.csv\" }, { value = \"atlas\" },",
                "{ corrections = \"vo.csv\", known = \"vos.csv\" }",
            ],
        ),
        used_by: UsedBy::Every,
        read: |key, spec| spec.vo = vo(key.section, key.problems),
        fingerprint: Some(|plan, text| match &plan.intake.vo {
            VoRule::Record => text.line("vo", "record"),
            VoRule::Column(column) => text.line("vo.column", column.as_str()),
            VoRule::Table(table) => text.line("vo.table", &table.canonical()),
            VoRule::Corrections(corrections) => text.line("vo.corrections", &corrections.canonical()),
            VoRule::Value(vo) => text.line("vo.value", vo),
        }),
    },
    SourceKey {
        key: "blah",
        form: texts,
        required: None,
        doc: "Logs of the CE, of a source of batch logs.",
        example: example("[\"blahp.log-*\"]", &["CE logs, of a source of batch logs"]),
        used_by: UsedBy::Listed(
            SourceOption::CeLogs,
            Misplaced::Mistake(": it completes the log of a batch system"),
        ),
        read: |key, spec| spec.blah = key.texts(),
        // Which logs there are is found out run by run; that jobs are completed from some is a setting.
        fingerprint: Some(|plan, text| text.optional("blah", (!plan.blah.is_empty()).then_some("joined"))),
    },
    SourceKey {
        key: swf::UNIX_START_TIME,
        form: || Integer,
        required: None,
        doc: "Of a workload trace: the Unix second that its times count from.",
        example: example("1356996147", &["of a swf trace that does not name its own"]),
        used_by: UsedBy::Reader(swf::DIALECT),
        read: |key, spec| spec.reader.swf.unix_start_time = key.integer("seconds since 1970-01-01 UTC"),
        fingerprint: Some(|plan, text| {
            let second = plan.reader.swf.unix_start_time.map(|second| second.to_string());
            text.optional(swf::UNIX_START_TIME, second.as_deref());
        }),
    },
    SourceKey {
        key: swf::START_FROM,
        form: || words(START_FROM),
        required: None,
        doc: "Of a workload trace without wait times.",
        example: example(
            "\"submit\"",
            &["of a swf trace without wait times: when its jobs start"],
        ),
        used_by: UsedBy::Reader(swf::DIALECT),
        read: |key, spec| spec.reader.swf.is_start_submit = key.word(START_FROM).is_some(),
        fingerprint: Some(|plan, text| {
            text.optional(swf::START_FROM, plan.reader.swf.is_start_submit.then_some("submit"));
        }),
    },
    SourceKey {
        key: "scaled_to",
        form: scaled_spec::form,
        required: None,
        doc: "To what the worker nodes scale times.",
        example: example(
            "{ benchmark = \"si00\", value = 1000, times = \"both\", unscale = true }",
            &["times are scaled by the worker nodes (or \"cpu\", \"wall\")"],
        ),
        used_by: UsedBy::Listed(SourceOption::ScaledTo, Misplaced::CheckedApart),
        read: |key, spec| spec.scaled_to = scaled_spec::read(key.section, key.problems),
        // To what is a matter of benchmarks: records hold the times as they are logged.
        fingerprint: Some(|plan, text| {
            let scaled_to = plan.intake.scaled_to;
            let times = scaled_to.map(|scaled_to| format!("cpu {} wall {}", scaled_to.is_cpu, scaled_to.is_wall));
            text.optional("scaled", times.as_deref());
        }),
    },
    SourceKey {
        key: "acceptance",
        form: || words(Acceptance::WORDS),
        required: None,
        doc: "What a bad record does to its APEL message.",
        example: example(
            "\"strict-apel\"",
            &["or \"salvage\": what a bad record does to its APEL message"],
        ),
        used_by: UsedBy::Listed(SourceOption::Acceptance, Misplaced::Remark("")),
        // Fallback: a key that is absent takes its default, and a wrong word is reported.
        read: |key, spec| spec.reader.acceptance = key.word(Acceptance::WORDS).unwrap_or_default(),
        fingerprint: Some(|plan, text| {
            if plan.reader.format.may_use(SourceOption::Acceptance) {
                text.line("acceptance", plan.reader.acceptance.as_str());
            }
        }),
    },
    SourceKey {
        key: "summaries",
        form: || words(Replacement::WORDS),
        required: None,
        doc: "What a later summary replaces: its row, or its month.",
        example: example("\"snapshot\"", &["or \"upsert\": what a later summary replaces"]),
        used_by: UsedBy::Listed(SourceOption::Summaries, Misplaced::Remark("")),
        // Fallback: as for the acceptance, the default is that of the reference.
        read: |key, spec| spec.publishing.replacement = key.word(Replacement::WORDS).unwrap_or_default(),
        fingerprint: Some(|plan, text| {
            let is_snapshot = plan.publishing.replacement == Replacement::Snapshot;
            text.optional("summaries", is_snapshot.then_some("snapshot"));
        }),
    },
    SourceKey {
        key: "publication",
        form: || words(SummaryPublication::WORDS),
        required: None,
        doc: "What a publication of summaries is complete for.",
        example: example(
            "\"source\"",
            &["or \"site\": whose month one file of summaries holds whole"],
        ),
        used_by: UsedBy::Listed(SourceOption::Summaries, Misplaced::Remark("")),
        read: |key, spec| spec.publishing.publication = key.word(SummaryPublication::WORDS),
        fingerprint: Some(|plan, text| {
            let publication = plan.publishing.publication;
            text.optional("publication", publication.map(SummaryPublication::as_str));
        }),
    },
    SourceKey {
        key: "publication_parts",
        form: summary_parts::form,
        required: None,
        doc: "Which messages are one publication.",
        example: example("\"folder\"", &["or \"file\", { within_s = 600 }: what one is made of"]),
        used_by: UsedBy::Listed(SourceOption::Summaries, Misplaced::Remark("")),
        read: |key, spec| {
            let parts = summary_parts::read(key.section, key.problems);
            spec.publishing.parts = parts.map_or_else(SummaryParts::default, |at| at.value);
        },
        fingerprint: Some(|plan, text| match plan.publishing.parts {
            SummaryParts::File => {}
            SummaryParts::Folder => text.line("publication_parts", "folder"),
            SummaryParts::Within { pause_ms } => text.line("publication_parts", &format!("within {pause_ms} ms")),
        }),
    },
    SourceKey {
        key: "max_rejected",
        form: || Number,
        required: None,
        doc: MAX_REJECTED_DOC,
        example: example(
            "100",
            &[
                "default: 5 % of the rows that are new, or what [pipeline]",
                "allows if that is more; rows the pipeline is configured to",
                "reject are not among them",
            ],
        ),
        used_by: UsedBy::Every,
        read: |key, spec| spec.limits.max_rejected = key.limit("rows"),
        fingerprint: None,
    },
    SourceKey {
        key: "max_unread",
        form: || Number,
        required: None,
        doc: MAX_UNREAD_DOC,
        example: example("0.1", &["in place of the pipeline's; both also in [[inventory]]"]),
        used_by: UsedBy::Every,
        read: |key, spec| spec.limits.max_unread = key.limit("files"),
        fingerprint: None,
    },
];

const START_FROM: &[(&str, ())] = &[("submit", ())];

const fn example(value: &'static str, comment: &'static [&'static str]) -> KeyExample {
    KeyExample { value, comment }
}

/// The words of `format`.
pub(crate) fn formats() -> impl Iterator<Item = &'static str> {
    registry::declarable().map(Dialect::as_str).chain(["auto"])
}

fn read_site(key: &mut StatedKey<'_, '_>, spec: &mut SourceSpec) {
    if is_table(key.section, key.key) {
        spec.site_rule = site(key.section, key.problems);
    } else {
        spec.intake.site = key.folder_name().map(|at| at.value);
    }
}

/// The keys that only some dialects use and this one does, by name.
#[must_use]
pub fn keys_of(dialect: Dialect) -> Vec<&'static str> {
    let own = SOURCE_KEYS
        .iter()
        .filter(|row| !matches!(row.used_by, UsedBy::Every) && row.may_serve(Format::Dialect(dialect)));
    let mut keys: Vec<&str> = own.map(|row| row.key).collect();
    keys.sort_unstable();
    keys
}
