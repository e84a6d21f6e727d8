//! GRACC's daily summary documents.
//!
//! Where received summaries count, they are exported in place of batch jobs, as far as they are of one day: documents are.
//! Those of other views are not, because jobs of these views are in the documents whatever summaries there are.
//!
//! The keys are GRACC's. A field that the lake does not keep is written as GRACC writes a missing value: the host a payload
//! ran on is `N/A`. The VO stands for a reportable name that is not known, and unknown cores are taken for one. CPU time that is unknown is null, and so are
//! its user and system part where they are not known of all CPU time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use hashbrown::HashMap;
use serde_json::Value;

use super::apel::users::Users;
use super::gracc_summaries::add_summaries;
use super::group_index::{KnownBy, Owned};
use super::lake::{Lake, LakePiece, Selection, on_all_processors};
use super::render::json_object;
use super::table::{Cell, ColumnKind, Table, divide};
use crate::amounts::finer;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::{addend, int, number, text, time, word};
use crate::summarise::correction_effect::{Corrections, added_view};
use crate::time::{DAY_MS, Month};

/// What a document is of, in the order of the documents.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GraccKey {
    /// Days since the Unix epoch.
    day: i64,
    vo: String,
    reportable_vo: String,
    project: String,
    dn: String,
    core_n: i64,
    gpu_n: i64,
    resource_type: String,
    exit_code: i64,
    grid: String,
    probe: String,
    site: String,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GraccSums {
    pub(super) job_n: i128,
    pub(super) wall_ms: i128,
    /// Of the jobs of which it is known; as are its parts.
    pub(super) cpu_ms: Option<i128>,
    pub(super) cpu_user_ms: Option<i128>,
    pub(super) cpu_system_ms: Option<i128>,
    /// Some CPU time is known whose parts are not: the parts of the others are not those of all.
    pub(super) is_split_unknown: bool,
    pub(super) core_wall_ms: i128,
}

impl GraccSums {
    pub(super) fn add(&mut self, other: &Self) {
        self.job_n += other.job_n;
        self.wall_ms += other.wall_ms;
        self.cpu_ms = known(self.cpu_ms, other.cpu_ms);
        self.cpu_user_ms = known(self.cpu_user_ms, other.cpu_user_ms);
        self.cpu_system_ms = known(self.cpu_system_ms, other.cpu_system_ms);
        self.is_split_unknown |= other.is_split_unknown;
        self.core_wall_ms += other.core_wall_ms;
    }
}

/// The sums of a piece of the lake by the key of its documents.
type GraccGroups = HashMap<Owned<8, 4>, GraccSums, ahash::RandomState>;

/// The sum of what is known of two; unknown where neither is.
fn known(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a.zip(b).map(|(a, b)| a + b).or(a).or(b)
}

pub(super) const MISSING: &str = "N/A";

/// Words of GRACC for what a record is about that are not the view with a capital letter.
const RESOURCE_TYPES: [&str; 4] = ["GridMonitor", "OneVM", "AWSVM", "RawCPU"];

/// The first version of `records` with the reportable name of a VO.
const REPORTABLE_VO_SINCE: u32 = 8;
const REPORTABLE_VO: &str = "reportable_vo";

/// GRACC's word for a view, which is that word in lower case.
pub(super) fn resource_type(view: &str) -> String {
    if let Some(word) = RESOURCE_TYPES.iter().find(|word| word.eq_ignore_ascii_case(view)) {
        return (*word).to_owned();
    }
    let mut letters = view.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The one key of a document that GRACC's id of it does not have.
pub const SITE: &str = "SiteName";

/// The key of a document.
pub const KEYS: [&str; 14] = [
    "EndTime",
    "VOName",
    "ReportableVOName",
    "ProjectName",
    "DN",
    "CommonName",
    "Processors",
    "GPUs",
    "ResourceType",
    "Host_description",
    "Resource_ExitCode",
    "Grid",
    "ProbeName",
    SITE,
];

/// What is added up.
pub const METRICS: [&str; 7] = [
    "WallDuration",
    "CpuDuration_user",
    "CpuDuration_system",
    "CpuDuration",
    "CoreHours",
    "Njobs",
    "Count",
];

/// Keys that are numbers.
const NUMBERS: [&str; 3] = ["Processors", "GPUs", "Resource_ExitCode"];

/// The values of a document by key, as they are written; `None` for text that is not a document.
#[must_use]
pub fn fields_of(document: &str) -> BTreeMap<String, String> {
    // Fallback: a text that is no document has no fields, as stated above.
    let values: BTreeMap<String, Value> = serde_json::from_str(document).unwrap_or_default();
    let spelled = |value: Value| match value {
        Value::String(text) => text,
        value => value.to_string(),
    };
    values.into_iter().map(|(key, value)| (key, spelled(value))).collect()
}

/// The document of such values, in the order of the keys.
#[must_use]
pub fn text_of(fields: &BTreeMap<String, String>) -> String {
    let value = |key: &str, value: &String| {
        let is_number = METRICS.contains(&key) || NUMBERS.contains(&key);
        // Fallback: what is not a number is written as the text that it is.
        let number = is_number.then(|| serde_json::from_str(value).ok()).flatten();
        number.unwrap_or_else(|| Value::String(value.clone()))
    };
    let values = fields.iter().map(|(key, text)| (key.clone(), value(key, text)));
    Value::Object(values.collect()).to_string()
}

/// The documents of one month and site.
#[derive(Default)]
struct GraccDocuments {
    /// One to a line, sorted.
    lines: Vec<String>,
    sums: GraccSums,
}

/// Passes on the documents of each site and month; see [`table`]. Returns what was left out, a line for people each.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read, and what `take` fails with.
pub fn export(
    lake: &Lake,
    selection: &Selection,
    users: &Users,
    mut take: impl FnMut(&str, Month, String, [i64; 3]) -> Result<()>,
) -> Result<Vec<String>> {
    let mut places: BTreeMap<(String, Month), GraccDocuments> = BTreeMap::new();
    let (groups, left_out) = groups(lake, selection, users)?;
    let columns = empty().columns;
    for (key, sums) in &groups {
        let day = i32::try_from(key.day).ok().and_then(Month::of_day);
        let month = day.ok_or_else(|| Error::internal("a day that no calendar has"))?;
        let documents = places.entry((key.site.clone(), month)).or_default();
        documents.lines.push(json_object(&columns, &row(key, sums)?)?);
        documents.sums.add(sums);
    }
    for ((site, month), GraccDocuments { lines, sums }) in places {
        let [job_n, wall_s, cpu_s] =
            [sums.job_n, sums.wall_ms / 1000, sums.cpu_ms.map_or(0, |ms| ms / 1000)].map(i64::try_from);
        let too_large = |why| {
            let message = "the sums of a month do not fit 63 bits";
            Error::new(Kind::Data, message)
                .at("site", &site)
                .at("month", month)
                .because(why)
        };
        let sums = [
            job_n.map_err(too_large)?,
            wall_s.map_err(too_large)?,
            cpu_s.map_err(too_large)?,
        ];
        take(&site, month, lines.join("\n") + "\n", sums)?;
    }
    Ok(left_out)
}

/// Every document of the selection, sorted. Views are kept separate: they describe the same hours. Corrections are applied: those
/// of one month concern jobs that ended in it, and additions count on its first day. Subjects are written as set by
/// `users`. Returns also what was left out, a line for people each.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub fn table(lake: &Lake, selection: &Selection, users: &Users) -> Result<(Table, Vec<String>)> {
    let mut table = empty();
    let (groups, left_out) = groups(lake, selection, users)?;
    for (key, sums) in &groups {
        table.push(row(key, sums)?);
    }
    Ok((table, left_out))
}

/// The table before there are documents in it.
fn empty() -> Table {
    const WORD: ColumnKind = ColumnKind::Text;
    // Views describe the same hours, so there is no total.
    const SECONDS: ColumnKind = ColumnKind::Decimal(3);
    let kind = |name: &str| match name {
        name if NUMBERS.contains(&name) => ("", ColumnKind::Number),
        "CoreHours" => ("h", ColumnKind::Decimal(6)),
        "Njobs" | "Count" => ("1", ColumnKind::Number),
        name if METRICS.contains(&name) => ("s", SECONDS),
        _ => ("", WORD),
    };
    let columns: Vec<(&str, &'static str, ColumnKind)> = (KEYS.iter().chain(&METRICS))
        .map(|name| {
            let (unit, kind) = kind(name);
            (*name, unit, kind)
        })
        .collect();
    Table::new("Summary documents of GRACC", &columns)
}

/// Sums by the key of their documents, and what no document can hold.
type GraccGathered = (BTreeMap<GraccKey, GraccSums>, Vec<String>);

fn groups(lake: &Lake, selection: &Selection, users: &Users) -> Result<GraccGathered> {
    let corrections = lake.corrections()?;
    let pieces = lake.record_pieces(selection)?;
    let displaced = lake.summarised_places()?;
    let parts = on_all_processors(&pieces, |piece| {
        // Batch jobs do not count where summaries do.
        let counts_batch = !displaced.contains(&(piece.site.to_lowercase(), piece.month));
        let found = gather(lake, selection, piece, &corrections, counts_batch)?;
        found
            .into_iter()
            .map(|(key, sums)| Ok((sorted(key, users)?, sums)))
            .collect::<Result<Vec<_>>>()
    })?;
    let mut groups: BTreeMap<GraccKey, GraccSums> = BTreeMap::new();
    for (key, sums) in parts.into_iter().flatten() {
        groups.entry(key).or_default().add(&sums);
    }
    for (site, month, rule) in corrections.additions() {
        let rule_value = |name: &str| rule.filter(name).flatten();
        if !selection.has_site(site) || !selection.days.has(month.first_day()) || !selection.has_vo(rule_value("vo")) {
            continue;
        }
        let of = |name: &str| rule_value(name).unwrap_or(MISSING).to_owned();
        let key = GraccKey {
            day: i64::from(month.first_day()),
            vo: of("vo"),
            reportable_vo: of("vo"),
            project: of("account"),
            dn: MISSING.to_owned(),
            core_n: 1,
            gpu_n: 0,
            resource_type: resource_type(added_view(rule)),
            exit_code: 0,
            grid: MISSING.to_owned(),
            probe: of("cluster"),
            site: site.to_owned(),
        };
        let amount = |name: &str| i128::from(addend(rule.adds(name)));
        groups.entry(key).or_default().add(&GraccSums {
            job_n: amount("job_n"),
            wall_ms: amount("wall_s") * 1000,
            cpu_ms: rule.adds("cpu_ms").map(i128::from),
            is_split_unknown: rule.adds("cpu_ms").is_some(),
            // Unknown cores are taken for one, as of jobs.
            core_wall_ms: rule.adds("alloc_core_s").map_or(amount("wall_s"), i128::from) * 1000,
            ..GraccSums::default()
        });
    }
    let left_out = add_summaries(&lake.summaries_of_all_views(selection)?, selection, users, &mut groups)?;
    Ok((groups, left_out))
}

fn gather(
    lake: &Lake,
    selection: &Selection,
    piece: &LakePiece,
    corrections: &Corrections,
    counts_batch: bool,
) -> Result<GraccGroups> {
    const COLUMNS: [&str; 15] = [
        "view",
        "cluster",
        "vo",
        "account",
        "global_user",
        "infrastructure",
        "end_utc",
        "wall_s",
        "wall_fraction_ms",
        "cpu_ms",
        "cpu_user_ms",
        "cpu_system_ms",
        "alloc_core_n",
        "alloc_gpu_n",
        "exit_code",
    ];
    let mut groups = GraccGroups::default();
    let (mut last_view, mut kind) = (String::new(), String::new());
    let effects = corrections.of_site(&piece.site);
    let mut columns: BTreeSet<&str> = COLUMNS.into_iter().chain(effects.columns()).collect();
    let version = lake.manifest.file(&piece.path).map_or(0, |file| file.schema_version);
    columns.extend((version >= REPORTABLE_VO_SINCE).then_some(REPORTABLE_VO));
    let columns: Vec<&str> = columns.into_iter().collect();
    for batch in lake.piece_batches(piece, &columns)? {
        let batch = batch?;
        let looked_at = effects.of_batch(&batch)?;
        let words = |name| text(&batch, name);
        let (vo, account, user) = (words("vo")?, words("account")?, words("global_user")?);
        let (view, grid, probe) = (words("view")?, words("infrastructure")?, words("cluster")?);
        let reportable = batch
            .column_by_name(REPORTABLE_VO)
            .and_then(|column| column.as_string_opt());
        let end = time(&batch, "end_utc")?;
        let numbers = |name| int(&batch, name);
        let (wall, fraction, cpu) = (numbers("wall_s")?, numbers("wall_fraction_ms")?, numbers("cpu_ms")?);
        let (cpu_user, cpu_system) = (numbers("cpu_user_ms")?, numbers("cpu_system_ms")?);
        let (cores, gpus, exit) = (numbers("alloc_core_n")?, numbers("alloc_gpu_n")?, numbers("exit_code")?);
        for row in 0..batch.num_rows() {
            let Some(end_ms) = number(end, row).filter(|_| counts_batch || view.value(row) != "batch") else {
                continue;
            };
            if Month::of_ms(end_ms).is_none() || !selection.days.has_ms(end_ms) {
                continue;
            }
            let (mut vo, mut account) = (word(vo, row), word(account, row));
            let stated_vo = vo;
            if !effects.is_empty() {
                let effect = effects.of(&looked_at, row, end_ms);
                if effect.is_void {
                    continue;
                }
                (vo, account) = (effect.vo, effect.account);
            }
            if !selection.has_vo(vo) {
                continue;
            }
            let of = |column| word(column, row).unwrap_or(MISSING);
            // Fallback: GRACC takes unknown cores for one; lakes of before held 0 for some.
            let core_n = number(cores, row).filter(|n| *n > 0).unwrap_or(1);
            // A VO that was corrected is known by its new name alone.
            let reportable = reportable
                .filter(|_| vo == stated_vo)
                .and_then(|column| word(column, row));
            if view.value(row) != last_view {
                view.value(row).clone_into(&mut last_view);
                kind = resource_type(&last_view);
            }
            let key = KnownBy {
                words: [
                    vo.unwrap_or(MISSING),
                    reportable.or(vo).unwrap_or(MISSING),
                    account.unwrap_or(MISSING),
                    of(user),
                    &kind,
                    of(grid),
                    of(probe),
                    &piece.site,
                ],
                numbers: [
                    end_ms.div_euclid(DAY_MS),
                    core_n,
                    addend(number(gpus, row)),
                    addend(number(exit, row)),
                ],
            };
            let wall_ms = i128::from(wall.value(row)) * 1000 + i128::from(fraction.value(row));
            let known = |column| number(column, row).map(i128::from);
            let (cpu_ms, cpu_user_ms, cpu_system_ms) = (known(cpu), known(cpu_user), known(cpu_system));
            groups.entry_ref(&key).or_default().add(&GraccSums {
                job_n: 1,
                wall_ms,
                cpu_ms,
                cpu_user_ms,
                cpu_system_ms,
                is_split_unknown: cpu_ms.is_some() && (cpu_user_ms.is_none() || cpu_system_ms.is_none()),
                core_wall_ms: wall_ms * i128::from(core_n),
            });
        }
    }
    Ok(groups)
}

/// A group with the key that orders the documents, its subject as set by `users`.
pub(super) fn sorted(key: Owned<8, 4>, users: &Users) -> Result<GraccKey> {
    let ([vo, reportable_vo, project, dn, resource_type, grid, probe, site], [day, core_n, gpu_n, exit_code]) =
        (key.words, key.numbers);
    let month = i32::try_from(day).ok().and_then(Month::of_day);
    let month = month.ok_or_else(|| Error::internal("a day that no calendar has"))?;
    let name = (dn != MISSING).then_some(dn.as_str());
    let dn = users
        .subject(name, &site, month)
        .map_or_else(|| MISSING.to_owned(), Cow::into_owned);
    Ok(GraccKey {
        day,
        vo,
        reportable_vo,
        project,
        dn,
        core_n,
        gpu_n,
        resource_type,
        exit_code,
        grid,
        probe,
        site,
    })
}

fn row(key: &GraccKey, sums: &GraccSums) -> Result<Vec<Cell>> {
    let date = i32::try_from(key.day).ok().and_then(crate::time::month::date_of);
    let date = date.ok_or_else(|| Error::internal("a day that no calendar has"))?;
    // As GRACC does when it knows no project.
    let project = if key.project == MISSING { &key.vo } else { &key.project };
    let seconds = |ms: i128| Cell::Decimal { value: ms, scale: 3 };
    let part = |ms: Option<i128>| ms.filter(|_| !sums.is_split_unknown).map_or(Cell::Empty, seconds);
    // Fallback: never taken, the divisor is not 0.
    let core_hours = divide(finer(sums.core_wall_ms, 1_000_000), 3_600_000).unwrap_or(0);
    Ok(vec![
        Cell::text(format!("{date}T00:00:00.000Z")),
        Cell::text(&key.vo),
        Cell::text(&key.reportable_vo),
        Cell::text(project),
        Cell::text(&key.dn),
        Cell::text(MISSING),
        Cell::int(key.core_n),
        Cell::int(key.gpu_n),
        Cell::text(&key.resource_type),
        Cell::text(MISSING),
        Cell::int(key.exit_code),
        Cell::text(&key.grid),
        Cell::text(&key.probe),
        Cell::text(&key.site),
        seconds(sums.wall_ms),
        part(sums.cpu_user_ms),
        part(sums.cpu_system_ms),
        sums.cpu_ms.map_or(Cell::Empty, seconds),
        Cell::Decimal {
            value: core_hours,
            scale: 6,
        },
        Cell::Int(sums.job_n),
        Cell::Int(sums.job_n),
    ])
}
