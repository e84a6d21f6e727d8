//! Whatever one record contains, the run ends well and the lake is sound.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{DUMPS, HEADER, Scene, pipeline, policy, row};

/// Numbers at and around the limits of everything.
const NUMBERS: [i64; 16] = [
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    -1,
    0,
    1 << 31,
    1 << 32,
    1 << 53,
    99_999_999,
    100_000_000,
    100_000_001,
    1_000_000_000_000,
    10_000_000_000_000,
    100_000_000_000_000,
    1_000_000_000_000_000_000,
    3600,
];

/// Texts that file systems, tables or Hive folders know better than to like.
const NAMES: [&str; 43] = [
    "",
    ".",
    "..",
    "/",
    "a/b",
    "../../x",
    "a=b",
    "=",
    "%",
    "%2F",
    "__HIVE_DEFAULT_PARTITION__",
    "__unknown__",
    "CON",
    "nul.txt",
    "a\u{0}b",
    "a\nb",
    "a\r\nb",
    "\t",
    " ",
    "\u{feff}x",
    "e\u{301}",
    "\u{202e}abc",
    "\u{1f980}",
    "'",
    "\"",
    "a;b",
    "a,b",
    "-",
    "*",
    "null",
    "NaN",
    "2026",
    "true",
    "a|b",
    "\\",
    "a\\b",
    "~",
    "$HOME",
    "#",
    "?",
    "[x]",
    "{y}",
    "[",
];

/// Instants at and around the edges of calendars.
const INSTANTS: [&str; 9] = [
    "1970-01-01T00:00:00",
    "1970-01-01T00:00:01",
    "2199-12-31T23:59:59",
    "2200-01-01T00:00:00",
    "0001-01-01T00:00:00",
    "9999-12-31T23:59:59",
    "Unknown",
    "None",
    "",
];

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        3 => 0_i64..5000,
        1 => prop::sample::select(NUMBERS.to_vec()),
        1 => any::<i64>(),
        1 => (0_u32..63).prop_map(|bits| 1_i64 << bits),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-z]{1,8}",
        2 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        1 => ".{0,40}",
        1 => (150_usize..300, "[a-zé]").prop_map(|(n, letter)| letter.repeat(n)),
    ]
}

/// An instant: mostly of these years, else any.
fn instant() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0_u32..365, 0_u32..24).prop_map(|(day, hour)| format!("2026-{:02}-{:02}T{hour:02}:00:00", day / 31 + 1, day % 28 + 1)),
        1 => (0_i32..10_000, 1_u32..13, 1_u32..32).prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}T00:00:00")),
        1 => prop::sample::select(INSTANTS.to_vec()).prop_map(str::to_owned),
    ]
}

fn tres() -> impl Strategy<Value = String> {
    (number(), number(), number(), number(), name()).prop_map(|(cpu, mem, gpu, billing, model)| {
        format!("cpu={cpu},mem={mem}M,gres/gpu={gpu},gres/gpu:{model}={gpu},billing={billing},node=1")
    })
}

fn node_list() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}\\[[0-9]{1,2}-[0-9]{1,3}\\]",
        name(),
        prop::sample::select(vec!["", "None assigned", "c[1-3,5],d", "a[1-", "[1-3]", "a[1-2][1-2]"])
            .prop_map(str::to_owned),
    ]
}

/// Cells of a dump hold no bars and no line breaks, which end them.
fn cell(text: &str) -> String {
    text.replace(['|', '\n', '\r'], "_")
}

/// What follows the source: everything that looks at records.
fn rooms() -> String {
    format!(
        "[[charge]]\npolicies = [{:?}, {:?}, {:?}]\n[overhead]\nnodes = \"from-jobs\"\nbilling = \"overhead-aware\"\n\
         [[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n[[overhead.unit]]\nname = \"gpu\"\ngpu = 1\n\
         [normalise]\nmissing = \"null\"\n",
        policy("slurm-tres.toml"),
        policy("wlcg-work.toml"),
        policy("csc-puhti-gpu.toml"),
    )
}

fn check(scene: &Scene, pipeline: &str, input: &str) -> Result<(), TestCaseError> {
    let ended = scene.try_run(pipeline);
    prop_assert!(
        ended.is_ok(),
        "{}\n{input}",
        ended.err().map(|why| why.to_string()).unwrap_or_default()
    );
    let found = gridtally::audit::verify::verify(scene.path("lake").to_str().unwrap()).unwrap();
    prop_assert!(found.is_sound(), "{}\n{input}", found.text());
    Ok(())
}

/// Mostly nothing: a record is odd in few of its fields.
fn rarely<S: Strategy>(odd: S) -> impl Strategy<Value = Option<S::Value>> {
    prop::option::weighted(0.15, odd)
}

/// Every odd value in every column by itself, all in one dump.
#[test]
fn no_odd_cell_ends_a_run() {
    let numbers = NUMBERS.map(|number| number.to_string());
    let of = |column: &'static str| -> Vec<String> {
        match column {
            "ElapsedRaw" | "Suspended" | "NCPUS" | "NNodes" | "TotalCPU" => numbers.to_vec(),
            "Submit" | "Start" | "End" => INSTANTS.map(str::to_owned).to_vec(),
            "AllocTRES" => (numbers.iter())
                .flat_map(|n| {
                    ["cpu", "mem", "gres/gpu", "gres/gpu:a100", "billing", "node", "energy"]
                        .map(|tres| format!("{tres}={n}"))
                })
                .collect(),
            _ => NAMES.map(cell).to_vec(),
        }
    };
    let columns = HEADER.trim_end().split('|');
    let cells = columns.flat_map(|column| of(column).into_iter().map(move |odd| (column, odd)));
    let rows: String = (1..)
        .zip(cells)
        .map(|(id, (column, odd))| row(id, &[(column, &odd)]))
        .collect();
    let scene = Scene::new();
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    let source = format!("{DUMPS}\nsite = {{ column = \"partition\" }}\nvo = {{ column = \"account\" }}");
    let report = scene.run(&pipeline(&source, &rooms()));
    let accepted = report.reasons.get("accepted/job").copied().unwrap_or(0);
    // Most of them are refused or kept one by one; the run continues.
    assert!(accepted > 200, "{}", report.text());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_row_of_a_dump_ends_a_run(
        names in prop::collection::vec(rarely(name()), 4),
        instants in prop::collection::vec(rarely(instant()), 3),
        numbers in prop::collection::vec(rarely(number()), 5),
        (tres, list) in (rarely(tres()), rarely(node_list())),
    ) {
        const WORDS: [&str; 4] = ["Cluster", "User", "Account", "Partition"];
        const TIMES: [&str; 3] = ["Submit", "Start", "End"];
        const COUNTS: [&str; 5] = ["ElapsedRaw", "Suspended", "NCPUS", "NNodes", "TotalCPU"];
        let words = WORDS.into_iter().chain(TIMES).zip(names.into_iter().chain(instants));
        let counts = COUNTS.into_iter().zip(numbers.iter().map(|n| n.map(|n| n.to_string())));
        let others = [("AllocTRES", tres), ("NodeList", list)];
        let odd: Vec<(&str, String)> = (words.chain(counts).chain(others))
            .filter_map(|(column, odd)| Some((column, cell(&odd?))))
            .collect();
        let odd: Vec<(&str, &str)> = odd.iter().map(|(column, odd)| (*column, odd.as_str())).collect();
        // Twice: sums are of more than one.
        let text = format!("{HEADER}{}{}{}", row(1, &[]), row(2, &odd), row(3, &odd));
        let scene = Scene::new();
        scene.write("dumps/a.txt", &text);
        let source = format!("{DUMPS}\nsite = {{ column = \"partition\" }}\nvo = {{ column = \"account\" }}");
        check(&scene, &pipeline(&source, &rooms()), &text)?;
    }

    #[test]
    fn no_document_ends_a_run(
        names in prop::collection::vec(rarely(name()), 14),
        numbers in prop::collection::vec(rarely(number()), 8),
        times in prop::collection::vec(rarely(instant()), 2),
    ) {
        const WORDS: [&str; 14] = [
            "SiteName", "VOName", "ReportableVOName", "ProbeName", "GlobalJobId", "LocalJobId", "LocalUserId", "DN",
            "ProjectName", "Grid", "JobName", "MachineName", "SubmitHost", "Queue",
        ];
        const COUNTS: [&str; 8] = [
            "WallDuration", "CpuDuration", "CpuDuration_user", "CpuDuration_system", "Processors", "NodeCount", "GPUs", "Njobs",
        ];
        let Value::Object(mut source) = json!({
            "ResourceType": "Batch", "SiteName": "S", "EndTime": "2026-01-08T10:51:07Z", "WallDuration": 100, "Processors": 2,
            "VOName": "v",
        }) else { unreachable!() };
        let texts = WORDS.iter().zip(&names).filter_map(|(key, value)| Some((*key, json!(value.as_ref()?))));
        let counts = COUNTS.iter().zip(&numbers).filter_map(|(key, value)| Some((*key, json!(value.as_ref()?))));
        let instants = ["StartTime", "EndTime"].iter().zip(&times);
        let instants = instants.filter_map(|(key, value)| Some((*key, json!(format!("{}Z", value.as_ref()?)))));
        source.extend(texts.chain(counts).chain(instants).map(|(key, value)| (key.to_owned(), value)));
        let document = |id: &str| {
            let mut source = source.clone();
            source.insert("RecordId".to_owned(), json!(id));
            json!({"_index": "gracc.osg.raw2-2026.01", "_type": "JobUsageRecord", "_id": id, "_source": source})
        };
        let text = format!("{}\n{}\n", document("1"), document("2"));
        let scene = Scene::new();
        scene.write("dumps/a.ndjson", &text);
        check(&scene, &pipeline("format = \"gracc\"\npaths = [\"dumps\"]", &rooms()), &text)?;
    }

    #[test]
    fn no_summary_ends_a_run(
        names in prop::collection::vec(rarely(name()), 7),
        numbers in prop::collection::vec(rarely(number()), 11),
        is_normalised in any::<bool>(),
    ) {
        const WORDS: [&str; 7] = ["Site", "VO", "VOGroup", "VORole", "GlobalUserName", "SubmitHost", "InfrastructureType"];
        let counts = [
            ("Month", 3), ("Year", 2026), ("WallDuration", 100), ("CpuDuration", 50), ("NumberOfJobs", 2), ("NodeCount", 1),
            ("Processors", 2), ("EarliestEndTime", 1_772_600_000), ("LatestEndTime", 1_772_700_000),
            if is_normalised { ("NormalisedWallDuration", 1000) } else { ("ServiceLevel", 10) },
            ("NormalisedCpuDuration", 500),
        ];
        let mut record = String::new();
        for (key, value) in WORDS.iter().zip(&names) {
            let _ = writeln!(record, "{key}: {}", value.as_deref().map_or("x".to_owned(), cell));
        }
        for ((key, usual), value) in counts.iter().zip(&numbers) {
            if is_normalised || *key != "NormalisedCpuDuration" {
                let _ = writeln!(record, "{key}: {}", value.unwrap_or(*usual));
            }
        }
        let (version, benchmark) = if is_normalised { ("v0.3", "") } else { ("v0.2", "ServiceLevelType: HEPSPEC\n") };
        let other = record.replacen("VOGroup: ", "VOGroup: other", 1);
        let text = format!("APEL-summary-job-message: {version}\n{record}{benchmark}%%\n{other}{benchmark}%%\n");
        let scene = Scene::new();
        scene.write("dumps/a", &text);
        check(&scene, &pipeline("format = \"apel\"\npaths = [\"dumps\"]", &rooms()), &text)?;
    }
}

/// Beyond 63 bits in milliseconds an elapsed time is no less a mistake: it was passed over, and the span taken for it.
#[test]
fn an_elapsed_time_beyond_63_bits_is_refused() {
    let scene = Scene::new();
    let elapsed = ["3600", "100000000000", "9223372036854776", "9223372036854775807"];
    let rows = (1..)
        .zip(elapsed)
        .map(|(id, elapsed)| row(id, &[("ElapsedRaw", elapsed)]));
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows.collect::<String>());
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}\n");
    scene.run(&pipeline(&source, ""));
    let lines: Vec<i64> = super::rejects(&scene).into_iter().map(|(_, line, _)| line).collect();
    assert_eq!(lines, [3, 4, 5]);
}
