//! The pipeline file and the tables it names: what is taken, what is refused, and how it is told.

use std::fs;
use std::path::PathBuf;

use gridtally::error::{Error, Kind};
use gridtally::pipeline::plan::{Acceptance, Attribution, Grain, MissingBenchmark, RejectLimit, VoColumn, VoRule};
use gridtally::pipeline::{Format, Plan};
use gridtally::problems::Problems;
use gridtally::records::JobRow;
use gridtally::reference::benchmark::{Benchmark, BenchmarkTable};
use gridtally::reference::decimal::ten_thousandths;
use gridtally::reference::vo::VoTable;
use tempfile::TempDir;

const HEAD: &str = "[pipeline]\nname = \"zoo\"\noutput = \"out\"\n";
const SOURCE: &str = "[[source]]\nname = \"a\"\nformat = \"gracc\"\npaths = [\"in\"]\n";

/// A folder with a pipeline file and tables.
struct House {
    folder: TempDir,
}

impl House {
    fn new(pipeline: &str) -> Self {
        let house = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        house.file("zoo.toml", pipeline);
        house
    }

    fn file(&self, name: &str, content: &str) -> &Self {
        fs::write(self.folder.path().join(name), content).unwrap();
        self
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("zoo.toml")
    }

    fn load(&self) -> Result<(Plan, Vec<String>), Error> {
        Plan::load(&self.path())
    }

    fn plan(&self) -> Plan {
        self.load().unwrap().0
    }

    /// The mistakes, without the folder.
    fn mistakes(&self) -> Vec<String> {
        let error = self.load().expect_err("the pipeline file should be refused");
        assert_eq!(error.kind(), Kind::Config);
        let folder = format!("{}/", self.folder.path().display());
        error
            .to_string()
            .lines()
            .map(|line| line.replace(&folder, ""))
            .collect()
    }
}

fn mistakes(pipeline: &str) -> Vec<String> {
    House::new(pipeline).mistakes()
}

fn starts(lines: &[String], expected: &[&str]) {
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "{line:?} does not start with {start:?}");
    }
}

#[test]
fn the_example_is_taken_with_every_key() {
    let house = House::new(
        r#"
[pipeline]
name = "zoo"
output = "out"
allocation_year_start = "04-01"
calendar_timezone = "Europe/Zurich"
attribution = "by-end"
grain = "day"
max_rejected = 0.25
[[source]]
name = "zoo-slurm"
format = "sacct"
paths = ["../shared/*.xz", "s3://bucket/x/", "/abs/file"]
site = "ZOO-T2"
cluster = "zoo24"
timezone = "Europe/Zurich"
delimiter = "\t"
vo = { column = "account" }
max_rejected = 7
[[source]]
name = "zoo-apel"
format = "apel"
paths = ["spool"]
vo = { table = "vo.csv" }
acceptance = "salvage"
[[source]]
name = "zoo-auto"
format = "auto"
paths = ["mixed"]
vo = { value = "atlas" }
[normalise]
benchmarks = "benchmarks.csv"
missing = { fallback = 10.8, benchmark = "hs06" }
"#,
    );
    house.file("vo.csv", "account,vo\nlhcb,LHCb\n").file(
        "benchmarks.csv",
        "site,cluster,benchmark,value_per_core,valid_from,valid_to\nZOO-T2,,hs06,10,2020-01-01,\n*,,hs23,11.25,,\n",
    );
    let (plan, warnings) = house.load().unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let base = house.folder.path().to_str().unwrap();
    assert_eq!(
        (plan.name.as_str(), plan.output.as_str()),
        ("zoo", format!("{base}/out").as_str())
    );
    assert_eq!(plan.file, house.path());
    assert_eq!(plan.allocation_year_start, (4, 1));
    assert_eq!(plan.calendar_zone.name(), "Europe/Zurich");
    assert_eq!((plan.attribution, plan.grain), (Attribution::ByEnd, Grain::Day));
    assert_eq!(plan.max_rejected, Some(RejectLimit::Fraction(0.25)));
    let [slurm, apel, auto] = plan.sources.as_slice() else {
        panic!("three sources are expected")
    };
    assert_eq!((slurm.name.as_str(), slurm.format), ("zoo-slurm", Format::Sacct));
    assert_eq!(
        slurm.paths,
        [
            format!("{base}/../shared/*.xz"),
            "s3://bucket/x/".to_owned(),
            "/abs/file".to_owned()
        ]
    );
    assert_eq!(slurm.site.as_deref(), Some("ZOO-T2"));
    assert_eq!(slurm.cluster.as_deref(), Some("zoo24"));
    assert_eq!(
        slurm.zone.as_ref().map(gridtally::time::Zone::name),
        Some("Europe/Zurich")
    );
    assert_eq!(slurm.delimiter.as_deref(), Some("\t"));
    assert!(matches!(slurm.vo, VoRule::Column(VoColumn::Account)));
    assert_eq!(slurm.max_rejected, Some(RejectLimit::Count(7)));
    assert_eq!((apel.format, apel.acceptance), (Format::Apel, Acceptance::Salvage));
    let job = JobRow {
        account: Some("lhcb"),
        ..JobRow::default()
    };
    assert_eq!(apel.vo.vo(&job), Some("LHCb"));
    assert_eq!(auto.vo.vo(&job), Some("atlas"));
    let normalise = plan.normalise.as_ref().unwrap();
    assert_eq!(normalise.table.kinds(), [Benchmark::Hs06, Benchmark::Hs23]);
    assert_eq!(
        normalise.missing,
        MissingBenchmark::Fallback {
            benchmark: Benchmark::Hs06,
            value_e4_per_core: 108_000
        }
    );
}

#[test]
fn defaults_are_the_documented_ones() {
    let plan = House::new(&format!("{HEAD}{SOURCE}")).plan();
    assert_eq!(plan.allocation_year_start, (1, 1));
    assert_eq!(plan.calendar_zone.name(), "UTC");
    assert_eq!((plan.attribution, plan.grain), (Attribution::Prorated, Grain::Month));
    assert!(plan.normalise.is_none() && plan.max_rejected.is_none());
    let source = plan.sources.first().unwrap();
    assert!(source.site.is_none() && source.zone.is_none() && source.delimiter.is_none());
    assert!(matches!(source.vo, VoRule::Record));
    assert_eq!(source.acceptance, Acceptance::StrictApel);
}

#[test]
fn an_unknown_key_is_told_with_its_line_and_a_suggestion() {
    let text = format!("{HEAD}atribution = \"by-end\"\n{SOURCE}sitee = \"X\"\n");
    let lines = mistakes(&text);
    assert_eq!(
        lines,
        [
            "zoo.toml:4: unknown key \"atribution\" in [pipeline], did you mean \"attribution\"?",
            "zoo.toml:9: unknown key \"sitee\" in [[source]], did you mean \"site\"?",
        ]
    );
    let lines = mistakes(&format!("{HEAD}{SOURCE}[normalize]\nmissing = \"null\"\n"));
    assert_eq!(
        lines,
        ["zoo.toml:8: unknown key \"normalize\" in the pipeline file, did you mean \"normalise\"?"]
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let house = House::new(
        r#"[pipeline]
name = ""
allocation_year_start = "02-29"
calendar_timezone = "Europe/Zurych"
attribution = "by-start"
grain = 3
max_rejected = 1.5
[[source]]
name = "a"
format = "sact"
paths = []
[[source]]
name = "a"
format = "sacct"
paths = ["x", 3]
timezone = "Nowhere"
vo = { column = "acount", value = "x" }
max_rejected = -1
[normalise]
benchmarks = "b.csv"
missing = "zero"
"#,
    );
    house.file(
        "b.csv",
        "site,cluster,benchmark,value_per_core,valid_from,valid_to\nA,,hs07,0,2020-13-01,\nA,,hs06,1.23456,2021-01-01,2020-01-01\n",
    );
    starts(
        &house.mistakes(),
        &[
            "zoo.toml:1: [pipeline] has no output",
            "zoo.toml:2: name must not be empty",
            "zoo.toml:3: allocation_year_start = \"02-29\" is no month and day of every year",
            "zoo.toml:4: there is no time zone called \"Europe/Zurych\", did you mean \"Europe/Zurich\"?",
            "zoo.toml:5: attribution = \"by-start\" is none of \"prorated\", \"by-end\"",
            "zoo.toml:6: grain must be a text in quotes, not an integer",
            "zoo.toml:7: max_rejected must be a number of rows",
            "zoo.toml:10: format = \"sact\" is none of \"sacct\", \"apel\", \"gracc\", \"auto\", did you mean \"sacct\"?",
            "zoo.toml:11: paths is empty",
            "zoo.toml:12: sacct names no site",
            "zoo.toml:13: the source of line 9 is also called \"a\"",
            "zoo.toml:15: paths must hold texts only, not an integer",
            "zoo.toml:16: there is no time zone called \"Nowhere\"",
            "zoo.toml:17: vo takes exactly one of column, table and value",
            "zoo.toml:18: max_rejected must be a number of rows",
            "zoo.toml:21: missing must be \"null\", \"reject\" or { fallback = 10.0 }",
            "b.csv:2: \"hs07\" is no benchmark",
            "b.csv:2: value_per_core: \"0\" must be above zero",
            "b.csv:2: valid_from: \"2020-13-01\" is no day",
            "b.csv:3: value_per_core: \"1.23456\" has more than 4 decimals",
        ],
    );
}

#[test]
fn broken_toml_is_told_with_its_line() {
    let lines = mistakes("[pipeline]\nname = \"zoo\noutput = \"out\"\n");
    assert!(lines.iter().any(|line| line.starts_with("zoo.toml:2: ")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("[[source]]")), "{lines:?}");
}

#[test]
fn sections_that_are_missing_or_misshapen_are_told() {
    starts(
        &mistakes(""),
        &["zoo.toml: there is no [pipeline]", "zoo.toml: there is no [[source]]"],
    );
    starts(
        &mistakes(&format!("{HEAD}[source]\nname = \"a\"\n")),
        &["zoo.toml:4: write [[source]], with two brackets"],
    );
    starts(
        &mistakes(&format!("{HEAD}[[source]]\n")),
        &[
            "zoo.toml:4: [[source]] has no format",
            "zoo.toml:4: [[source]] has no paths",
            "zoo.toml:4: [[source]] has no name",
        ],
    );
    starts(
        &mistakes(&format!("{HEAD}{SOURCE}[normalise]\nmissing = \"reject\"\n")),
        &["zoo.toml:8: [normalise] has no benchmarks"],
    );
}

#[test]
fn a_fallback_says_which_benchmark_it_is_unless_the_table_does() {
    let text = format!("{HEAD}{SOURCE}[normalise]\nbenchmarks = \"b.csv\"\nmissing = {{ fallback = 10 }}\n");
    let house = House::new(&text);
    let head = "site,cluster,benchmark,value_per_core,valid_from,valid_to\n";
    house.file("b.csv", &format!("{head}A,,HEPscore23,9.5,,\n"));
    assert_eq!(
        house.plan().normalise.unwrap().missing,
        MissingBenchmark::Fallback {
            benchmark: Benchmark::Hs23,
            value_e4_per_core: 100_000
        }
    );
    house.file("b.csv", &format!("{head}A,,hs06,9.5,,\nA,,hs23,9.5,,\n"));
    starts(
        &house.mistakes(),
        &["zoo.toml:10: the fallback does not say which benchmark it is"],
    );
    let alone = House::new(&format!(
        "{HEAD}{SOURCE}[normalise]\nmissing = {{ fallback = 10.0, benchmark = \"si00\" }}\n"
    ));
    assert!(alone.plan().normalise.is_some());
}

#[test]
fn what_is_legal_and_probably_not_meant_is_a_warning() {
    let text = format!("{HEAD}[[source]]\nname = \"a\"\nformat = \"sacct\"\npaths = [\"in\"]\nsite = \"S\"\n");
    let (_, warnings) = House::new(&text).load().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().any(|line| line.contains("zoo.toml:4: no timezone")));
    let (_, warnings) = House::new(&format!("{HEAD}{SOURCE}delimiter = \"|\"\nacceptance = \"salvage\"\n"))
        .load()
        .unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn fingerprints_follow_what_decides_bytes_and_nothing_else() {
    let with = |pipeline: &str, source: &str, table: &str| {
        let text = format!("{HEAD}{pipeline}\n{SOURCE}vo = {{ table = \"vo.csv\" }}\n{source}\n");
        let house = House::new(&text);
        house.file("vo.csv", table);
        let plan = house.plan();
        (
            plan.fingerprint.clone(),
            plan.sources.first().unwrap().fingerprint.clone(),
        )
    };
    let table = "account,vo\na,b\n";
    let plain = with("", "", table);
    assert_eq!(plain.0.len(), 64);
    assert_eq!(
        plain,
        with("max_rejected = 3", "max_rejected = 3", "account , vo\n# note\na, b\n")
    );
    assert_eq!(plain, with("grain = \"month\"", "", table));
    assert_ne!(plain.0, with("grain = \"day\"", "", table).0);
    assert_eq!(plain.1, with("grain = \"day\"", "", table).1);
    assert_ne!(plain.1, with("", "site = \"S\"", table).1);
    assert_ne!(plain.1, with("", "cluster = \"S\"", table).1);
    assert_ne!(plain.1, with("", "", "account,vo\na,c\n").1);
}

#[test]
fn a_limit_of_rejects_holds_exactly() {
    assert!(!RejectLimit::Count(0).exceeded(0, 10));
    assert!(RejectLimit::Count(0).exceeded(1, 10));
    for percent in 1..100_u32 {
        let limit = RejectLimit::Fraction(format!("0.{percent:02}").parse().unwrap());
        assert!(!limit.exceeded(u64::from(percent), 100), "{percent}");
        assert!(limit.exceeded(u64::from(percent) + 1, 100), "{percent}");
    }
    assert!(!RejectLimit::Fraction(1.0).exceeded(10, 10));
    assert!(RejectLimit::Fraction(0.0).exceeded(1, u64::MAX));
    assert!(!RejectLimit::Fraction(0.0).exceeded(0, 0));
}

#[test]
fn decimals_are_read_without_a_float() {
    assert_eq!(ten_thousandths("10"), Ok(100_000));
    assert_eq!(ten_thousandths("9.8765"), Ok(98_765));
    assert_eq!(ten_thousandths("0.000100"), Ok(1));
    for wrong in [
        "",
        ".",
        "1.",
        ".5",
        "-1",
        "1e3",
        "1,5",
        "0",
        "0.00001",
        "99999999999999999999",
        "nan",
    ] {
        assert!(ten_thousandths(wrong).is_err(), "{wrong}");
    }
}

fn benchmarks(rows: &str) -> (BenchmarkTable, Vec<String>) {
    let text = format!("site,cluster,benchmark,value_per_core,valid_from,valid_to\n{rows}");
    let mut problems = Problems::default();
    let table = BenchmarkTable::read(text.as_bytes(), "b.csv", &mut problems);
    let mistakes = problems.finish().map_or_else(
        |error| error.to_string().lines().map(str::to_owned).collect(),
        |_| Vec::new(),
    );
    (table, mistakes)
}

const DAY_MS: i64 = 86_400_000;
const JAN_1_2024_MS: i64 = 19_723 * DAY_MS;

#[test]
fn the_most_specific_benchmark_that_holds_counts() {
    let (table, mistakes) =
        benchmarks("A,c1,hs06,4,2024-01-01,2024-02-01\nA,,hs06,3,,\n*,c1,hs06,2,,\n,,hs06,1,,\nA,c1,hs23,40,,\n");
    assert_eq!(mistakes, Vec::<String>::new());
    let at = |site, cluster, ms| table.value(site, cluster, Benchmark::Hs06, ms);
    assert_eq!(at(Some("A"), Some("c1"), JAN_1_2024_MS), Some(40_000));
    assert_eq!(at(Some("A"), Some("c1"), JAN_1_2024_MS - 1), Some(30_000));
    assert_eq!(at(Some("A"), Some("c2"), JAN_1_2024_MS), Some(30_000));
    assert_eq!(at(Some("A"), None, JAN_1_2024_MS), Some(30_000));
    assert_eq!(at(Some("B"), Some("c1"), JAN_1_2024_MS), Some(20_000));
    assert_eq!(at(Some("B"), None, JAN_1_2024_MS), Some(10_000));
    assert_eq!(at(None, None, JAN_1_2024_MS), Some(10_000));
    assert_eq!(table.value(Some("A"), Some("c1"), Benchmark::Hs23, 0), Some(400_000));
    assert_eq!(table.value(Some("A"), Some("c2"), Benchmark::Hs23, 0), None);
}

#[test]
fn benchmark_days_are_half_open() {
    let (table, mistakes) = benchmarks("A,,HEPSPEC06,1,2024-01-01,2024-01-02\nA,,hepspec,2,2024-01-02,2024-01-03\n");
    assert_eq!(mistakes, Vec::<String>::new());
    let at = |ms| table.value(Some("A"), None, Benchmark::Hs06, ms);
    assert_eq!(at(JAN_1_2024_MS - 1), None);
    assert_eq!(at(JAN_1_2024_MS), Some(10_000));
    assert_eq!(at(JAN_1_2024_MS + DAY_MS - 1), Some(10_000));
    assert_eq!(at(JAN_1_2024_MS + DAY_MS), Some(20_000));
    assert_eq!(at(JAN_1_2024_MS + 2 * DAY_MS), None);
}

#[test]
fn overlapping_benchmarks_are_refused_with_both_lines() {
    // The long first row overlaps the third although the second lies between them.
    let (_, mistakes) = benchmarks(
        "A,,hs06,1,2024-01-01,2025-01-01\nA,,hs06,2,2024-02-01,2024-03-01\nA,,hs06,2,2024-04-01,\nB,,hs06,2,,\nA,x,hs06,2,,\n",
    );
    starts(
        &mistakes,
        &["b.csv:3: line 3 overlaps line 2", "b.csv:4: line 4 overlaps line 2"],
    );
}

#[test]
fn a_table_with_the_wrong_columns_is_refused() {
    let mut problems = Problems::default();
    let text = "site,cluster,benchmark,value,valid_from,valid_to\nA,,hs06,1,,\nA,,hs06\n";
    BenchmarkTable::read(text.as_bytes(), "b.csv", &mut problems);
    let error = problems.finish().unwrap_err().to_string();
    assert!(error.contains("b.csv:1: unknown column \"value\""), "{error}");
    assert!(
        error.contains("b.csv:1: the header has no column \"value_per_core\""),
        "{error}"
    );
    assert!(error.contains("b.csv:3: 3 cells where the header has 6"), "{error}");
}

fn vo_table(text: &str) -> VoTable {
    let mut problems = Problems::default();
    let table = VoTable::read(text.as_bytes(), "vo.csv", &mut problems);
    problems.finish().unwrap();
    table
}

#[test]
fn the_first_matching_row_names_the_vo() {
    let table = vo_table("account,vo\na,ATLAS\nb,CMS\n*,other\na,never\n");
    let of = |account| {
        let row = JobRow {
            account,
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of(Some("a")).as_deref(), Some("ATLAS"));
    assert_eq!(of(Some("b")).as_deref(), Some("CMS"));
    assert_eq!(of(Some("z")).as_deref(), Some("other"));
    assert_eq!(of(None).as_deref(), Some("other"));

    let table = vo_table("vo,partition,to_vo\n,grid,wlcg\natlas,,ATLAS\natlas,gpu,never\n");
    let of = |vo, partition| {
        let row = JobRow {
            vo,
            partition,
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of(Some("atlas"), Some("grid")).as_deref(), Some("wlcg"));
    assert_eq!(of(Some("atlas"), Some("gpu")).as_deref(), Some("ATLAS"));
    assert_eq!(of(Some("cms"), Some("gpu")), None);
}

#[test]
fn a_vo_table_without_a_result_is_refused() {
    for (text, wanted) in [
        ("account,user\na,b\n", "names no result"),
        ("vo\na\n", "no column to match"),
        ("acount,vo\na,b\n", "did you mean \"account\"?"),
        ("account,vo\na,\n", "vo.csv:2: the row names no VO"),
    ] {
        let mut problems = Problems::default();
        VoTable::read(text.as_bytes(), "vo.csv", &mut problems);
        let error = problems.finish().unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
