//! The pipeline file and the tables it names: what is taken, what is refused, and how it is reported.

use gridtally::sources::{apel, sacct};
use std::fs;
use std::path::PathBuf;

use gridtally::config::Plan;
use gridtally::config::reject_limits::RejectLimit;
use gridtally::error::{Error, Kind};
use gridtally::normalise::plan::MissingBenchmark;
use gridtally::record::JobRow;
use gridtally::reference::benchmark::{Benchmark, BenchmarkLevel};
use gridtally::reference::vo_rule::{VoColumn, VoRule};
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::summarise::attribution::Attribution;
use gridtally::time::YearStart;
use gridtally::time::grain::Grain;
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

/// A table of fixed width, for example, which no dialect recognises.
#[test]
fn of_a_file_that_is_not_toml_the_first_mistakes_are_reported_and_the_others_counted() {
    let mistakes = House::new(&"17 alice cpu COMPLETED\n".repeat(1_000)).mistakes();
    assert_eq!(mistakes.len(), 21, "{mistakes:?}");
    assert!(mistakes[0].starts_with("zoo.toml:1: "), "{mistakes:?}");
    assert_eq!(
        mistakes[20],
        "zoo.toml:21: 980 more mistakes from here on: this is not TOML"
    );
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
layout = "apel"
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
    assert_eq!(plan.allocation_year_start, YearStart { month: 4, day: 1 });
    assert_eq!(plan.calendar_zone.name(), "Europe/Zurich");
    assert_eq!((plan.attribution, plan.grain), (Attribution::ByEnd, Grain::Day));
    assert_eq!(plan.limits.max_rejected, Some(RejectLimit::Fraction(0.25)));
    let [slurm, apel, auto] = plan.sources.as_slice() else {
        panic!("three sources are expected")
    };
    assert_eq!(
        (slurm.name.as_str(), slurm.format()),
        ("zoo-slurm", sacct::DIALECT.format())
    );
    assert_eq!(
        slurm.paths,
        [
            format!("{base}/../shared/*.xz"),
            "s3://bucket/x/".to_owned(),
            "/abs/file".to_owned()
        ]
    );
    assert_eq!(slurm.intake.site.as_deref(), Some("ZOO-T2"));
    assert_eq!(slurm.intake.cluster.as_deref(), Some("zoo24"));
    assert_eq!(
        slurm.reader.zone.as_ref().map(gridtally::time::Zone::name),
        Some("Europe/Zurich")
    );
    assert_eq!(slurm.reader.sacct.delimiter.as_deref(), Some("\t"));
    assert_eq!(slurm.reader.sacct.layout, Some(sacct::FixedOrder::Apel));
    assert!(matches!(slurm.intake.vo, VoRule::Column(VoColumn::Account)));
    assert_eq!(slurm.limits.max_rejected, Some(RejectLimit::Count(7)));
    assert_eq!(
        (apel.format(), apel.reader.acceptance),
        (apel::DIALECT.format(), Acceptance::Salvage)
    );
    let job = JobRow {
        account: Some("lhcb"),
        ..JobRow::default()
    };
    assert_eq!(apel.intake.vo.vo(&job), Some("LHCb"));
    assert_eq!(auto.intake.vo.vo(&job), Some("atlas"));
    let normalise = &plan.normalise;
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
    assert_eq!(plan.allocation_year_start, YearStart::CALENDAR_YEAR);
    assert_eq!(plan.calendar_zone.name(), "UTC");
    assert_eq!((plan.attribution, plan.grain), (Attribution::Prorated, Grain::Month));
    assert!(plan.limits.max_rejected.is_none());
    assert_eq!(plan.normalise.order, [BenchmarkLevel::Record]);
    assert_eq!(
        (plan.normalise.table.kinds(), &plan.normalise.missing),
        (Vec::new(), &MissingBenchmark::Null)
    );
    let source = plan.sources.first().unwrap();
    assert!(source.intake.site.is_none() && source.reader.zone.is_none() && source.reader.sacct.delimiter.is_none());
    assert!(matches!(source.intake.vo, VoRule::Record));
    assert_eq!(source.reader.acceptance, Acceptance::StrictApel);
}

#[test]
fn an_unknown_key_is_reported_with_its_line_and_a_suggestion() {
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
fn all_mistakes_are_reported_at_once() {
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
            "zoo.toml:3: allocation_year_start = \"02-29\" is not a month and day of every year",
            "zoo.toml:4: there is no time zone called \"Europe/Zurych\", did you mean \"Europe/Zurich\"?",
            "zoo.toml:5: attribution = \"by-start\" is not one of \"prorated\", \"by-end\"",
            "zoo.toml:6: grain must be a text in quotes, not an integer",
            "zoo.toml:7: max_rejected must be a number of rows",
            "zoo.toml:10: format = \"sact\" is not one of \"sacct\", \"apel\", \"gracc\"",
            "zoo.toml:11: paths is empty",
            "zoo.toml:12: sacct names no site",
            "zoo.toml:13: the source of line 9 is also called \"a\"",
            "zoo.toml:15: paths must hold texts only, not an integer",
            "zoo.toml:16: there is no time zone called \"Nowhere\"",
            "zoo.toml:17: vo takes exactly one of column, table, value",
            "zoo.toml:18: max_rejected must be a number of rows",
            "zoo.toml:21: missing must be \"null\", \"reject\" or { fallback = 10.0 }",
            "b.csv:2: \"hs07\" is not a benchmark",
            "b.csv:2: value_per_core: \"0\" must be above zero",
            "b.csv:2: valid_from: \"2020-13-01\" is not a day",
            "b.csv:3: value_per_core: \"1.23456\" has more than 4 decimals",
            "b.csv:3: valid_to 2020-01-01 is not after valid_from 2021-01-01",
        ],
    );
}

#[test]
fn broken_toml_is_reported_with_its_line() {
    let lines = mistakes("[pipeline]\nname = \"zoo\noutput = \"out\"\n");
    assert!(lines.iter().any(|line| line.starts_with("zoo.toml:2: ")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("[[source]]")), "{lines:?}");
}

#[test]
fn sections_that_are_missing_or_misshapen_are_reported() {
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
            "zoo.toml:4: [[source]] has no name",
            "zoo.toml:4: [[source]] has no format",
            "zoo.toml:4: [[source]] has no paths",
        ],
    );
    // Without a table, the values of records count; what becomes of the others is reported.
    starts(
        &mistakes(&format!("{HEAD}{SOURCE}[normalise]\n")),
        &["zoo.toml:8: [normalise] does not set what becomes of jobs without a benchmark"],
    );
}

#[test]
fn a_fallback_states_which_benchmark_it_is_unless_the_table_does() {
    let text = format!("{HEAD}{SOURCE}[normalise]\nbenchmarks = \"b.csv\"\nmissing = {{ fallback = 10 }}\n");
    let house = House::new(&text);
    let head = "site,cluster,benchmark,value_per_core,valid_from,valid_to\n";
    house.file("b.csv", &format!("{head}A,,HEPscore23,9.5,,\n"));
    assert_eq!(
        house.plan().normalise.missing,
        MissingBenchmark::Fallback {
            benchmark: Benchmark::Hs23,
            value_e4_per_core: 100_000
        }
    );
    house.file("b.csv", &format!("{head}A,,hs06,9.5,,\nA,,hs23,9.5,,\n"));
    starts(
        &house.mistakes(),
        &["zoo.toml:10: the fallback does not state which benchmark it is"],
    );
    let alone = House::new(&format!(
        "{HEAD}{SOURCE}[normalise]\nmissing = {{ fallback = 10.0, benchmark = \"si00\" }}\n"
    ));
    assert!(alone.plan().normalise.table.kinds().is_empty());
}

/// `fallback` and `scaled_to.value` are numbers, or texts of one.
#[test]
fn a_value_per_core_may_be_a_text() {
    let text = |value: &str| {
        format!(
            "{HEAD}[[source]]\nname = \"a\"\nformat = \"pbs\"\npaths = [\"in\"]\nsite = \"S\"\nvo = {{ value = \"v\" }}\n\
             scaled_to = {{ benchmark = \"si00\", value = {value} }}\n\
             [normalise]\nmissing = {{ fallback = {value}, benchmark = \"si00\" }}\n"
        )
    };
    for value in ["1000.5", "1_000.5", "\"1000.5\""] {
        let plan = House::new(&text(value)).plan();
        assert_eq!(
            plan.normalise.missing,
            MissingBenchmark::Fallback {
                benchmark: Benchmark::Si00,
                value_e4_per_core: 10_005_000
            }
        );
        assert_eq!(plan.normalise.scaled["a"].value_e4_per_core, 10_005_000);
    }
    starts(
        &mistakes(&text("\"fast\"")),
        &[
            "zoo.toml:10: value: \"fast\" is not",
            "zoo.toml:12: fallback: \"fast\" is not",
        ],
    );
}

#[test]
fn what_is_legal_and_probably_not_meant_is_a_warning() {
    let text = format!("{HEAD}[[source]]\nname = \"a\"\nformat = \"sacct\"\npaths = [\"in\"]\nsite = \"S\"\n");
    let (_, warnings) = House::new(&text).load().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let (_, warnings) = House::new(&format!("{HEAD}{SOURCE}delimiter = \"|\"\nacceptance = \"salvage\"\n"))
        .load()
        .unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let keys = "summaries = \"snapshot\"\npublication = \"source\"\npublication_parts = \"folder\"\n";
    let (_, warnings) = House::new(&format!("{text}{keys}")).load().unwrap();
    for key in ["summaries", "publication", "publication_parts"] {
        let end = format!(": {key} does nothing for sacct");
        assert!(warnings.iter().any(|it| it.ends_with(&end)), "{warnings:?}");
    }
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

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Whatever the value of a key, the answer is a plan or mistakes, never a panic.
    #[test]
    fn no_value_makes_the_reader_panic(nth in 0_usize..17, value in "(\"[ -~é]{0,8}\"|[0-9+._e-]{1,8}|\\[[0-9,\"]{0,5}\\]|\\{ ?[a-z]{0,6} = [0-9.]{1,4} ?\\}|[ -~]{0,10})") {
        const KEYS: &[&str] = &[
            "name", "output", "allocation_year_start", "calendar_timezone", "attribution", "grain", "max_rejected",
            "format", "paths", "site", "cluster", "timezone", "delimiter", "layout", "vo", "acceptance", "missing",
        ];
        let key = KEYS.get(nth).unwrap();
        for table in ["[pipeline]", "[[source]]", "[normalise]"] {
            let text = format!("{table}\n{key} = {value}\n");
            let mut problems = gridtally::diagnostics::Problems::default();
            let _ = gridtally::config::spec::Spec::read("f", &text, &mut problems);
            proptest::prop_assert!(problems.finish().is_err());
        }
    }
}

#[test]
fn a_key_or_table_that_is_stated_twice_is_named() {
    let lines = mistakes(&format!("{HEAD}grain = \"month\"\ngrain = \"day\"\n{SOURCE}"));
    assert_eq!(
        lines,
        ["zoo.toml:5: duplicate key: \"grain\" is stated twice in this table"]
    );
    let single = SOURCE.replace("[[source]]", "[source]");
    for text in [format!("{HEAD}{SOURCE}{single}"), format!("{HEAD}{single}{SOURCE}")] {
        let lines = mistakes(&text);
        assert_eq!(
            lines,
            ["zoo.toml:8: duplicate key: \"source\" is both [source] and [[source]]: write [[source]] each time"]
        );
    }
    assert_eq!(
        mistakes(&format!("{HEAD}{SOURCE}[pipeline]\n")),
        ["zoo.toml:8: duplicate key: the table [pipeline] is there twice"]
    );
}

#[test]
fn a_name_is_one_line_and_a_file_is_utf8() {
    for (text, line) in [
        (format!("{HEAD}{SOURCE}").replacen("zoo", "a\\nb", 1), 2),
        (format!("{HEAD}{SOURCE}").replacen("\"a\"", "\"a\\tb\"", 1), 5),
    ] {
        let lines = mistakes(&text);
        let start = format!("zoo.toml:{line}: name = \"a\\");
        assert!(
            lines[0].starts_with(&start) && lines[0].contains("control character"),
            "{lines:?}"
        );
    }
    let house = House::new("");
    let text = format!("{HEAD}{SOURCE}# Z\u{fc}rich\n");
    let latin: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
    fs::write(house.path(), latin).unwrap();
    let why = house.load().unwrap_err().to_string();
    assert!(why.contains("line 8 is not in UTF-8"), "{why}");
}

#[test]
fn an_abbreviation_is_no_zone_and_suggests_none() {
    let lines = mistakes(&format!("{HEAD}calendar_timezone = \"CEST\"\n{SOURCE}"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("no time zone called \"CEST\"; an abbreviation") && lines[0].contains("Europe/Berlin"),
        "{lines:?}"
    );
}
