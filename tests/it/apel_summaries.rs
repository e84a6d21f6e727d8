//! Summaries: what the server stores of them, which of them count, and that they never add up with jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gridtally::error::{Kind, Result};
use gridtally::ledger::Reason;
use gridtally::pipeline::plan::{Acceptance, Format};
use gridtally::pipeline::progress::Silent;
use gridtally::pipeline::report::RunReport;
use gridtally::pipeline::{Plan, RunOptions, run as pipeline, stale, verify};
use gridtally::records::{Summary, SummaryKind, SummaryRow};
use gridtally::sources::apel;
use gridtally::store::{Manifest, Store, lake, read_table};
use gridtally::time::Month;

use crate::collect_grid::{Collected, input, plan, run, shared};

const V02: &str = "APEL-summary-job-message: v0.2\n";
const V03: &str = "APEL-summary-job-message: v0.3\n";
const V04: &str = "APEL-summary-job-message: v0.4\n";
const NORMALISED: &str = "APEL-normalised-summary-message: v0.4\n";
const SYNC: &str = "APEL-sync-message: v0.1\n";

fn read(text: impl AsRef<[u8]>, acceptance: Acceptance) -> Collected {
    run(apel::pieces(input(text.as_ref()), plan(Format::Apel, acceptance)).unwrap())
}

/// What both kinds of summary have in common, for a month of 2017; `more` lines win over the ordinary ones.
pub(crate) fn record(month: u8, more: &str) -> String {
    format!(
        "Site: S\nMonth: {month}\nYear: 2017\nVO: reef\nNodeCount: 1\nProcessors: 8\nWallDuration: 100\n\
         CpuDuration: 50\nNumberOfJobs: 2\n{more}%%\n"
    )
}

fn one(header: &str, more: &str) -> std::result::Result<SummaryRow<'static>, Reason> {
    let all = read(format!("{header}{}", record(3, more)), Acceptance::StrictApel);
    assert_eq!(all.rows_read, 1);
    match all.summaries.first() {
        Some((row, _)) => Ok(row.clone()),
        None => Err(all.rejects[0].reason),
    }
}

#[test]
fn every_kind_has_its_own_fields() {
    let row = one(
        V02,
        "GlobalUserName:/DC=org/CN=Pat\nVOGroup: /reef\nVORole: Role=pilot\nSubmitHost: ce\nInfrastructureType: grid\n\
         ServiceLevelType: HEPscore23\nServiceLevel: 15.5\nEarliestEndTime: 1488326400\nLatestEndTime: 1491004800\n",
    );
    let expected = SummaryRow {
        kind: SummaryKind::Summary,
        site: Some("S"),
        month: Month::new(2017, 3),
        vo: Some("reef"),
        vo_group: Some("/reef"),
        vo_role: Some("Role=pilot"),
        global_user: Some("/DC=org/CN=Pat"),
        submit_host: Some("ce"),
        infrastructure: Some("grid"),
        service_level_type: Some("HEPscore23"),
        benchmark: Some("hs23"),
        benchmark_milli_per_core: Some(15_500),
        alloc_node_n: Some(1),
        alloc_core_n: Some(8),
        earliest_end_ms: Some(1_488_326_400_000),
        latest_end_ms: Some(1_491_004_800_000),
        wall_s: Some(100),
        cpu_s: Some(50),
        job_n: Some(2),
        ..SummaryRow::default()
    };
    assert_eq!(row, Ok(expected));
    // The server picks one benchmark of a dictionary, and cuts work off at the second.
    let row = one(V04, "ServiceLevel: {hepspec: 11.4, HEPscore23: 15.3}\n").unwrap();
    assert_eq!(
        (row.benchmark, row.benchmark_milli_per_core),
        (Some("hs23"), Some(15_300))
    );
    let work = "NormalisedWallDuration: {hepspec: 1999.9, si2k: 1}\nNormalisedCpuDuration: {hepspec: 7.0}\n";
    let row = one(NORMALISED, work).unwrap();
    assert_eq!((row.normalised_wall_s, row.normalised_cpu_s), (Some(1999), Some(7)));
    let row = one(
        V03,
        "NormalisedWallDuration: 1000\nNormalisedCpuDuration: 500\nInfrastructure: Gratia-OSG\n",
    )
    .unwrap();
    assert_eq!((row.kind, row.benchmark), (SummaryKind::NormalisedSummary, None));
    let sync = read(
        format!(
            "{SYNC}Site: S\nSubmitHost: ce\nNumberOfJobs: 27\nMonth: 1\nYear: 2025\n%%\nSite: S\nNumberOfJobs: 1\nMonth: 99\nYear: 2025\n"
        ),
        Acceptance::StrictApel,
    );
    let months: Vec<_> = sync
        .summaries
        .iter()
        .map(|(row, _)| (row.kind, row.month, row.job_n))
        .collect();
    // The server takes month 99 of a sync record; the records room refuses that one alone.
    let first = (SummaryKind::Sync, Month::new(2025, 1), Some(27));
    assert_eq!(months, [first, (SummaryKind::Sync, None, Some(1))]);
}

#[test]
fn the_server_refuses() {
    let level = "ServiceLevelType: HEPSPEC\nServiceLevel: 10\n";
    let work = "NormalisedWallDuration: 1000\nNormalisedCpuDuration: 500\n";
    for (header, more, expected) in [
        (V02, String::new(), Err(Reason::MissingField)),
        (V02, format!("{level}Processors: null\n"), Err(Reason::MissingField)),
        (V02, format!("{level}NodeCount: none\n"), Err(Reason::MissingField)),
        (V02, format!("{level}NumberOfJobs:\n"), Err(Reason::MissingField)),
        (V02, format!("{level}Infrastructure: grid\n"), Err(Reason::UnknownField)),
        (V02, format!("{level}FQAN: /reef\n"), Err(Reason::UnknownField)),
        (V02, format!("{level}Month: 13\n"), Err(Reason::BadTime)),
        (V02, format!("{level}WallDuration: -1\n"), Err(Reason::BadDuration)),
        (V02, format!("{level}WallDuration: 10.0\n"), Err(Reason::BadDuration)),
        (
            V02,
            format!("{level}EarliestEndTime: 1488326399\n"),
            Err(Reason::BadTime),
        ),
        (V02, format!("{level}LatestEndTime: 1491004801\n"), Err(Reason::BadTime)),
        (
            V02,
            format!("{level}EarliestEndTime: 1488326402\nLatestEndTime: 1488326401\n"),
            Err(Reason::BadTime),
        ),
        (V03, work.to_owned(), Ok(None)),
        (V03, format!("{work}ServiceLevelType: HEPscore23\n"), Ok(Some("hs23"))),
        (
            V03,
            format!("{work}InfrastructureType: grid\n"),
            Err(Reason::UnknownField),
        ),
        (V03, String::new(), Err(Reason::MissingField)),
        (
            NORMALISED,
            "NormalisedWallDuration: {hepspec: 1}\nNormalisedCpuDuration: {HEPscore23: 1}\n".to_owned(),
            Err(Reason::BadBenchmark),
        ),
        (V02, format!("{level}WallDuration: 99999999999\n"), Ok(Some("hs06"))),
        (V02, format!("{level}ServiceLevelType: weird\n"), Ok(None)),
        (V04, "ServiceLevel: {weird: 1}\n".to_owned(), Err(Reason::BadBenchmark)),
    ] {
        assert_eq!(one(header, &more).map(|row| row.benchmark), expected, "{header}{more}");
    }
}

#[test]
fn salvage_reads_what_archives_hold() {
    let old = "Site: S\nGroup: reef\nMonth: 11\nYear: 2012\nWallDuration: 38\nCpuDuration: 27\n\
               NormalisedWallDuration: 325\nNormalisedCpuDuration: 229\nNumberOfJobs: 115\n%%\n";
    let text = format!("{V02}{old}Site: S\n%%\n");
    let all = read(&text, Acceptance::StrictApel);
    assert_eq!(all.reasons(), [Reason::UnknownField, Reason::MissingField]);
    let all = read(&text, Acceptance::Salvage);
    assert_eq!(all.reasons(), [Reason::MissingField]);
    let row = &all.summaries[0].0;
    assert_eq!((row.kind, row.vo), (SummaryKind::NormalisedSummary, Some("reef")));
    // Hours.
    assert_eq!((row.wall_s, row.normalised_cpu_s), (Some(136_800), Some(824_400)));
}

/// One of the server's rows as text, under the names of our columns.
fn stored(row: &BTreeMap<String, String>) -> BTreeMap<&'static str, String> {
    let names = [
        ("Site", "site"),
        ("GlobalUserName", "global_user"),
        ("VO", "vo"),
        ("VOGroup", "vo_group"),
        ("VORole", "vo_role"),
        ("SubmitHost", "submit_host"),
        ("InfrastructureType", "infrastructure"),
        ("Infrastructure", "infrastructure"),
        ("ServiceLevelType", "service_level_type"),
        ("ServiceLevel", "benchmark"),
        ("NodeCount", "nodes"),
        ("Processors", "cores"),
        ("EarliestEndTime", "earliest"),
        ("LatestEndTime", "latest"),
        ("WallDuration", "wall"),
        ("CpuDuration", "cpu"),
        ("NormalisedWallDuration", "normalised wall"),
        ("NormalisedCpuDuration", "normalised cpu"),
        ("NumberOfJobs", "jobs"),
    ];
    let mut out: BTreeMap<&'static str, String> = names
        .into_iter()
        .filter_map(|(theirs, ours)| Some((ours, row.get(theirs)?.clone())))
        .collect();
    out.insert("month", format!("{}-{:0>2}", row["Year"], row["Month"]));
    out
}

/// The same of a row as we read it.
fn ours(row: &SummaryRow<'_>) -> BTreeMap<&'static str, String> {
    let word = |word: Option<&str>| word.unwrap_or("None").to_owned();
    let number = |n: Option<i64>| n.unwrap_or(0).to_string();
    let time = |ms: Option<i64>| {
        let time = jiff::Timestamp::from_millisecond(ms.unwrap()).unwrap();
        time.strftime("%Y-%m-%d %H:%M:%S").to_string()
    };
    let mut out = BTreeMap::from([
        ("site", word(row.site)),
        ("month", row.month.unwrap().to_string()),
        ("submit_host", word(row.submit_host)),
        ("jobs", number(row.job_n)),
    ]);
    if row.kind == SummaryKind::Sync {
        return out;
    }
    out.extend([
        ("global_user", word(row.global_user)),
        ("vo", word(row.vo)),
        ("vo_group", word(row.vo_group)),
        ("vo_role", word(row.vo_role)),
        ("infrastructure", word(row.infrastructure)),
        ("service_level_type", word(row.service_level_type)),
        ("nodes", number(row.alloc_node_n)),
        ("cores", number(row.alloc_core_n)),
        ("earliest", time(row.earliest_end_ms)),
        ("latest", time(row.latest_end_ms)),
        ("wall", number(row.wall_s)),
        ("cpu", number(row.cpu_s)),
    ]);
    match row.benchmark_milli_per_core {
        Some(milli) => out.extend([("benchmark", format!("{}.{:03}", milli / 1000, milli % 1000))]),
        None => out.extend([
            ("normalised wall", number(row.normalised_wall_s)),
            ("normalised cpu", number(row.normalised_cpu_s)),
        ]),
    }
    out
}

/// Record by record, what the real server stored of every message that is not of jobs.
#[test]
fn golden_summaries_are_what_the_server_stored() {
    let Some(folder) = shared("golden_summaries_are_what_the_server_stored", "data/apel/golden") else {
        return;
    };
    let mut read_rows: BTreeMap<SummaryKind, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(folder.join("messages")).unwrap() {
        let all = read(fs::read(entry.unwrap().path()).unwrap(), Acceptance::StrictApel);
        assert_eq!(all.rejects, []);
        for (row, _) in all.summaries {
            // The server keeps one spelling per text, the first it saw.
            let text = format!("{:?}", ours(&row)).to_lowercase();
            assert!(read_rows.entry(row.kind).or_default().insert(text));
        }
    }
    for (kind, file, n) in [
        (SummaryKind::Summary, "VSummaries.csv", 90),
        (SummaryKind::NormalisedSummary, "VNormalisedSummaries.csv", 120),
        (SummaryKind::Sync, "VSyncRecords.csv", 20),
    ] {
        let mut table = csv::Reader::from_path(folder.join(file)).unwrap();
        let rows = table.deserialize().map(|row| {
            let row: BTreeMap<String, String> = row.unwrap();
            format!("{:?}", stored(&row)).to_lowercase()
        });
        let rows: BTreeSet<String> = rows.collect();
        assert_eq!(rows.len(), n);
        assert_eq!(read_rows[&kind], rows, "{file}");
    }
}

/// A folder with files and a pipeline.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Runs a pipeline of one source over `paths`, and verifies the lake.
    fn run(&self, lake: &str, head: &str, keys: &str, paths: &[&str]) -> Result<RunReport> {
        let mut text = format!("[pipeline]\nname = \"p\"\noutput = \"{lake}\"\nmax_rejected = 1.0\n{head}\n");
        let _ = writeln!(
            text,
            "[[source]]\nname = \"apel\"\nformat = \"apel\"\npaths = {paths:?}\n{keys}"
        );
        text.push_str("[normalise]\nmissing = { fallback = 10.0, benchmark = \"hs06\" }\n");
        let file = self.path().join("p.toml");
        fs::write(&file, text).unwrap();
        let (plan, _) = Plan::load(&file)?;
        let report = pipeline::run(&plan, &RunOptions::default(), &Silent)?;
        let verdict = verify::verify(self.path().join(lake).to_str().unwrap())?;
        assert!(verdict.is_sound(), "{}", verdict.text());
        Ok(report)
    }

    /// Hash of every published file.
    fn bytes(&self, lake: &str) -> BTreeMap<String, String> {
        let store = Store::open_existing(self.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let files = manifest.files().filter(|file| file.dataset != "runs");
        files.map(|file| (file.path.clone(), file.blake3.clone())).collect()
    }

    /// The rows of `summary` or `summary_history`.
    fn summaries(&self, lake: &str, dataset: &str) -> Vec<Summary> {
        let store = Store::open_existing(self.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let mut rows = Vec::new();
        for file in manifest.dataset(dataset) {
            let (site, month) = lake::parse_month_path(&file.path).unwrap();
            for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
                rows.extend(gridtally::records::summary::from_batch(&batch.unwrap(), &site, month).unwrap());
            }
        }
        rows
    }

    /// Jobs, CPU seconds and HEPSPEC06 work of `usage`, by view.
    fn usage(&self, lake: &str) -> BTreeMap<String, (i64, i64, i128)> {
        use gridtally::schema::batch::{decimal, int, text};
        let store = Store::open_existing(self.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let mut sums: BTreeMap<String, (i64, i64, i128)> = BTreeMap::new();
        for file in manifest.dataset("usage") {
            for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
                let batch = batch.unwrap();
                let (view, jobs) = (text(&batch, "view").unwrap(), int(&batch, "job_n").unwrap());
                let (cpu, work) = (int(&batch, "cpu_ms").unwrap(), decimal(&batch, "cpu_hs06_s").unwrap());
                for row in 0..batch.num_rows() {
                    let sum = sums.entry(view.value(row).to_owned()).or_default();
                    sum.0 += jobs.value(row);
                    sum.1 += cpu.value(row) / 1000;
                    sum.2 += work.value(row) / 10_000_000;
                }
            }
        }
        sums
    }
}

fn totals<'a>(rows: impl IntoIterator<Item = &'a Summary>) -> (usize, i64, i64) {
    rows.into_iter().fold((0, 0, 0), |(n, jobs, work), row| {
        let number = |name| row.number(name).unwrap_or(0);
        (n + 1, jobs + number("job_n"), work + number("normalised_cpu_s"))
    })
}

fn normalised(site: &str, month: u8, user: &str, jobs: u32) -> String {
    record(
        month,
        &format!(
            "Site: {site}\nGlobalUserName: {user}\nNumberOfJobs: {jobs}\nNormalisedWallDuration: 1000\n\
             NormalisedCpuDuration: 500\n"
        ),
    )
}

const FIRST: &str = "in/00000001/55d0000000000a";
const SECOND: &str = "in/00000001/55e0000000000b";

/// Two publications of March: the second renames a site, repeats a row and changes another; April comes once.
fn publications() -> Scene {
    let scene = Scene::new();
    let first = [
        normalised("OLD-NAME", 3, "/CN=a", 5),
        normalised("B", 3, "/CN=a", 7),
        normalised("B", 3, "/CN=b", 8),
        normalised("B", 4, "/CN=a", 1),
    ];
    let second = [
        normalised("NEW-NAME", 3, "/CN=a", 5),
        normalised("B", 3, "/CN=A", 7).replace("/CN=A", "/CN=a"),
        normalised("B", 3, "/cn=B", 9),
    ];
    // Names that say the opposite of their order: the arrival in the name decides.
    scene.write(FIRST, &format!("{V03}{}", first.concat()));
    scene.write(SECOND, &format!("{V03}{}", second.concat()));
    scene.write("in/00000001/55e0000000000b.lck", "in use");
    scene
}

#[test]
fn upsert_keeps_what_snapshot_drops_and_says_which() {
    let scene = publications();
    let upsert = scene.run("upsert", "", "publication = \"source\"", &["in"]).unwrap();
    assert_eq!(upsert.reasons["accepted/summary_record"], 5);
    assert_eq!(upsert.reasons["duplicate/same_summary"], 1);
    assert_eq!(upsert.reasons["superseded/later_summary"], 1);
    let rows = scene.summaries("upsert", "summary");
    assert_eq!(totals(&rows).1, 5 + 5 + 7 + 9 + 1);
    let stale: Vec<&str> = rows
        .iter()
        .filter(|row| row.is_stale == Some(true))
        .map(|row| row.site.as_str())
        .collect();
    assert_eq!(stale, ["OLD-NAME"]);
    let snapshot = scene
        .run(
            "snapshot",
            "",
            "publication = \"source\"\nsummaries = \"snapshot\"",
            &["in"],
        )
        .unwrap();
    assert_eq!(snapshot.reasons["superseded/stale_summary"], 1);
    assert_eq!(totals(&scene.summaries("snapshot", "summary")).1, 5 + 7 + 9 + 1);
    // Where every site publishes for itself, one that is not named again stays.
    let per_site = scene
        .run(
            "per-site",
            "",
            "publication = \"site\"\nsummaries = \"snapshot\"",
            &["in"],
        )
        .unwrap();
    assert_eq!(per_site.reasons["accepted/summary_record"], 5);
    // Both lakes tell both totals and the row that makes the difference.
    for lake in ["upsert", "snapshot"] {
        let text = stale::report(scene.path().join(lake).to_str().unwrap()).unwrap().text();
        assert!(
            text.contains("upsert    4 rows, 26 jobs") && text.contains("snapshot  3 rows, 21 jobs"),
            "{text}"
        );
        assert!(
            text.contains("stale: OLD-NAME reef /CN=a -: 5 jobs, 100 s wall"),
            "{text}"
        );
    }
    // Undeclared, nobody knows what is stale.
    scene.run("unsaid", "", "", &["in"]).unwrap();
    assert!(
        scene
            .summaries("unsaid", "summary")
            .iter()
            .all(|row| row.is_stale.is_none())
    );
    let none = scene.run("none", "", "summaries = \"snapshot\"", &["in"]).unwrap_err();
    assert!(none.to_string().contains("publication"), "{none}");
}

#[test]
fn the_order_of_reading_changes_no_byte() {
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
    let scene = publications();
    scene.run("once", "", keys, &["in"]).unwrap();
    scene.run("twice", "", keys, &[FIRST]).unwrap();
    scene.run("twice", "", keys, &["in"]).unwrap();
    scene.run("backwards", "", keys, &[SECOND]).unwrap();
    scene.run("backwards", "", keys, &["in"]).unwrap();
    let again = scene.run("backwards", "", keys, &["in"]).unwrap();
    assert_eq!(again.written, Vec::<String>::new());
    assert_eq!(scene.bytes("once"), scene.bytes("twice"));
    assert_eq!(scene.bytes("once"), scene.bytes("backwards"));
    // A change of mind is a rebuild.
    scene.run("backwards", "", "", &["in"]).unwrap();
    scene.run("plain", "", "", &["in"]).unwrap();
    assert_eq!(scene.bytes("backwards"), scene.bytes("plain"));
}

const JOB: &str = "APEL-individual-job-message: v0.3\nSite: B\nLocalJobId: 1\nVO: reef\nWallDuration: 10\nCpuDuration: 5\n\
    Processors: 2\nStartTime: 1489000000\nEndTime: 1489000010\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";

#[test]
fn jobs_and_summaries_are_never_added_up() {
    let scene = publications();
    scene.write("jobs", JOB);
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
    let none = scene.run("none", "", keys, &["in", "jobs"]).unwrap_err();
    assert_eq!(none.kind(), Kind::Config);
    assert!(none.to_string().contains("B 2017-03"), "{none}");
    assert!(!scene.path().join("none/manifest.json").exists());
    // March of B has 16 jobs in summaries and 1 by itself; the rest is only in summaries.
    for (overlap, batch, summary, lost, n) in [
        (
            "jobs",
            Some((1, 5, 50)),
            Some((6, 100, 1000)),
            "out_of_scope/jobs_count",
            2,
        ),
        (
            "reject",
            Some((1, 5, 50)),
            Some((6, 100, 1000)),
            "rejected/overlaps_jobs",
            2,
        ),
        (
            "summaries",
            None,
            Some((22, 200, 2000)),
            "out_of_scope/summaries_count",
            1,
        ),
    ] {
        let by = format!("by-{overlap}");
        let head = format!("overlap = \"{overlap}\"");
        let report = scene.run(&by, &head, keys, &["in", "jobs"]).unwrap();
        assert_eq!(report.reasons[lost], n, "{overlap}");
        let usage = scene.usage(&by);
        assert_eq!(usage.get("batch").copied(), batch, "{overlap}");
        assert_eq!(usage.get("summary").copied(), summary, "{overlap}");
        // Whichever comes first.
        for (lake, before) in [("jobs-first", ["jobs"]), ("summaries-first", ["in"])] {
            let lake = format!("{by}-{lake}");
            scene.run(&lake, &head, keys, &before).unwrap();
            scene.run(&lake, &head, keys, &["in", "jobs"]).unwrap();
            assert_eq!(scene.bytes(&by), scene.bytes(&lake), "{lake}");
        }
    }
    // A change of mind changes what counts, both ways.
    scene
        .run("by-reject", "overlap = \"summaries\"", keys, &["in", "jobs"])
        .unwrap();
    assert_eq!(scene.bytes("by-reject"), scene.bytes("by-summaries"));
    scene
        .run("by-reject", "overlap = \"jobs\"", keys, &["in", "jobs"])
        .unwrap();
    assert_eq!(scene.bytes("by-reject"), scene.bytes("by-jobs"));
}

#[test]
fn sync_records_are_kept_and_are_no_usage() {
    let scene = Scene::new();
    scene.write("sync", &format!("{SYNC}Site: B\nSubmitHost: ce\nNumberOfJobs: 27\nMonth: 3\nYear: 2017\n%%\nSite: B\nNumberOfJobs: 1\nMonth: 99\nYear: 2017\n"));
    scene.write("jobs", JOB);
    let report = scene.run("out", "", "", &["sync", "jobs"]).unwrap();
    assert_eq!(report.reasons["accepted/sync_record"], 1);
    assert_eq!(report.reasons["rejected/bad_time"], 1);
    let rows = scene.summaries("out", "summary");
    assert_eq!(
        (rows[0].number("job_n"), rows[0].number("sync_job_n")),
        (None, Some(27))
    );
    assert_eq!(scene.usage("out").into_keys().collect::<Vec<_>>(), ["batch"]);
}

/// Real messages of before 2014, in hours, and the report published from them.
#[test]
fn real_months_in_hours() {
    let Some(folder) = shared("real_months_in_hours", "data/gracc/gratia-monthly") else {
        return;
    };
    let scene = Scene::new();
    let messages = format!("{}/*.apel-messages", folder.display());
    scene.run("out", "", "acceptance = \"salvage\"", &[&messages]).unwrap();
    let rows = scene.summaries("out", "summary");
    for name in ["2012-11", "2013-03", "2013-06", "2013-09", "2014-01", "2014-06"] {
        let month: Month = name.parse().unwrap();
        let sum = |column| -> i64 {
            rows.iter()
                .filter(|row| row.month == month)
                .filter_map(|row| row.number(column))
                .sum()
        };
        let report = fs::read_to_string(folder.join(format!("{name}.summary.dat"))).unwrap();
        let said = |at: usize| -> i64 {
            report
                .lines()
                .map(|line| line.split('\t').nth(at).unwrap().parse::<i64>().unwrap())
                .sum()
        };
        // CPU and wall hours of all sites.
        assert_eq!(
            (sum("cpu_s"), sum("wall_s")),
            (said(4) * 3600, said(5) * 3600),
            "{name}"
        );
        // The messages hold a few jobs of no length that the report leaves out.
        assert!(
            (0..100).contains(&(sum("job_n") - said(3))),
            "{name}: {} and {}",
            sum("job_n"),
            said(3)
        );
    }
}

/// Real months in several versions: the totals of the real server for both ways.
#[test]
fn real_months_in_several_versions() {
    let Some(folder) = shared("real_months_in_several_versions", "data/apel/real-2015") else {
        return;
    };
    let scene = Scene::new();
    let folder = format!("{}/*.msg", folder.display());
    let upsert = scene.run("upsert", "", "publication = \"source\"", &[&folder]).unwrap();
    // Six files are refused whole: five with a latest end outside their month, one with a record without a site.
    assert_eq!(upsert.outcomes["rejected"], 1586);
    let keys = "publication = \"source\"\nsummaries = \"snapshot\"";
    scene.run("snapshot", "", keys, &[&folder]).unwrap();
    let (upserted, snapped) = (
        scene.summaries("upsert", "summary"),
        scene.summaries("snapshot", "summary"),
    );
    // (month, rows, jobs, normalised CPU) with upsert, then with snapshot.
    for (month, upsert, snapshot) in [
        (
            5,
            (300, 10_890_670, 1_499_345_074_562),
            (294, 10_890_306, 1_499_284_801_443),
        ),
        (
            6,
            (325, 10_625_679, 1_544_307_599_503),
            (315, 10_622_941, 1_544_264_126_916),
        ),
        (
            7,
            (316, 14_777_767, 1_844_887_529_405),
            (316, 14_777_767, 1_844_887_529_405),
        ),
        (
            8,
            (313, 12_944_271, 1_709_754_766_406),
            (276, 11_001_806, 1_478_468_621_344),
        ),
        (
            9,
            (279, 17_819_140, 1_930_568_162_115),
            (279, 17_819_140, 1_930_568_162_115),
        ),
        (
            10,
            (244, 13_188_748, 1_977_583_015_797),
            (244, 13_188_748, 1_977_583_015_797),
        ),
    ] {
        let month = Month::new(2015, month).unwrap();
        let of = |rows: &'_ [Summary]| {
            rows.iter()
                .filter(|row| row.month == month)
                .cloned()
                .collect::<Vec<_>>()
        };
        let (upserted, snapped) = (of(&upserted), of(&snapped));
        assert_eq!(totals(&upserted), upsert, "{month}");
        assert_eq!(totals(&snapped), snapshot, "{month}");
        // The difference is named.
        let key = |row: &Summary| (row.site.clone(), row.summary_id);
        let kept: BTreeSet<_> = snapped.iter().map(key).collect();
        let stale = upserted.iter().filter(|row| row.is_stale == Some(true));
        let missing = upserted.iter().filter(|row| !kept.contains(&key(row)));
        assert_eq!(
            stale.map(key).collect::<BTreeSet<_>>(),
            missing.map(key).collect(),
            "{month}"
        );
    }
}
