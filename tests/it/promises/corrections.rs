//! Signed corrections: entries of their own, which can be undone to the byte, and are never silent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};
use sha2::{Digest, Sha256};

use super::scene::{Pipeline, Scene, assert_same, lake_times, published};
use super::tables::{all, files, int, read, sum, text};

const HEAD: &str = "id,action,site,month,vo,account,user,job_id,record_id,to_vo,to_account,job_n,wall_s,alloc_core_s,\
                    cpu_ms,undoes,author,reason,date\n";
const SIGNED: &str = "E. Office,as agreed,2026-06-01";

/// A row: the cells before the signature.
fn row(cells: &str) -> String {
    let given = cells.split(',').count();
    format!("{cells}{}{SIGNED}\n", ",".repeat(17 - given))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

struct House {
    scene: Scene,
    pipeline: Pipeline,
}

impl House {
    fn new() -> Self {
        Self {
            scene: Scene::sample(),
            pipeline: Pipeline::sample().with("corrections", "\"corrections.csv\""),
        }
    }

    fn sign(&self, rows: &[&str]) {
        let rows: String = rows.iter().map(|cells| row(cells)).collect();
        self.scene.write("corrections.csv", format!("{HEAD}{rows}").as_bytes());
    }

    fn run(&self, out: &str) -> RunReport {
        self.scene.run(&self.pipeline, out)
    }

    fn refused(&self, out: &str) -> String {
        let error = self
            .scene
            .try_run(&self.pipeline, out, RunOptions::default())
            .unwrap_err();
        assert_eq!(error.kind(), Kind::Config, "{error}");
        error.to_string()
    }

    fn corrections(&self, out: &str) -> RecordBatch {
        all(&self.scene.path(out), "corrections/corrections.parquet")
    }

    /// SHA-256 of the files of datasets.
    fn sha256(&self, out: &str, datasets: &[&str]) -> BTreeMap<String, String> {
        let root = self.scene.path(out);
        let of = |path: &Path| hex(&Sha256::digest(fs::read(path).unwrap()));
        datasets
            .iter()
            .flat_map(|dataset| published(&root.join(dataset)))
            .map(|path| {
                (
                    path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
                    of(&path),
                )
            })
            .collect()
    }
}

const COUNTED: [&str; 4] = ["job_n", "wall_s", "alloc_core_s", "cpu_ms"];

/// Sums over the rows of usage of one path fragment, of records (`None`) or of one correction.
fn usage(lake: &Path, of: &str, correction: Option<&str>, takes: impl Fn(&RecordBatch, usize) -> bool) -> [i64; 4] {
    let mut sums = [0; 4];
    for path in files(lake, "usage")
        .iter()
        .filter(|path| path.to_str().unwrap().contains(of))
    {
        let batch = read(path);
        for row in 0..batch.num_rows() {
            if text(&batch, "correction_id", row).as_deref() == correction && takes(&batch, row) {
                for (sum, name) in sums.iter_mut().zip(COUNTED) {
                    *sum += int(&batch, name, row).unwrap_or(0);
                }
            }
        }
    }
    sums
}

fn any(_: &RecordBatch, _: usize) -> bool {
    true
}

/// 2026-03-01 as days since 1970.
const MARCH: i64 = 20_513;

#[test]
fn corrections_are_entries_of_their_own() {
    let house = House::new();
    house.sign(&[]);
    house.run("plain");
    house.sign(&[
        "C1,void,ALP-T2,2026-03,,firn",
        "C2,remap,ALP-T2,,-,,,,,firn",
        "C3,add,ALP-T2,2026-04,firn,firn,,,,,,7,3600,7200,1000",
        "C4,remap,,,,lawine,,,,,moraene",
        "C5,void,ALP-T2,2026-03,,moraene",
        "C6,void,,,,no-such-account",
    ]);
    let report = house.run("lake");
    assert_eq!(report.unmatched_corrections, ["C6"]);
    assert!(report.text().contains("corrections that match nothing: C6"));
    assert_eq!(house.scene.findings("lake"), []);
    let (plain, lake) = (house.scene.path("plain"), house.scene.path("lake"));
    let in_march = |account: &'static str| {
        move |batch: &RecordBatch, row: usize| {
            int(batch, "month", row) == Some(MARCH) && text(batch, "account", row).as_deref() == Some(account)
        }
    };
    // Recorded usage stays unchanged.
    assert_eq!(usage(&plain, "", None, any), usage(&lake, "", None, any));
    // C1 takes out what the account had in March, exactly.
    let firn = usage(&plain, "site=ALP-T2", None, in_march("firn"));
    assert!(firn.iter().all(|sum| *sum > 0), "{firn:?}");
    assert_eq!(usage(&lake, "", Some("C1"), any), firn.map(|sum| -sum));
    // C2 gives the VO what had none; nothing is lost on the way.
    let unmapped = usage(&plain, "site=ALP-T2/vo=__unknown__", None, any);
    assert!(unmapped[2] > 0, "{unmapped:?}");
    assert_eq!(usage(&lake, "vo=firn", Some("C2"), any), unmapped);
    assert_eq!(usage(&lake, "", Some("C2"), any), [0; 4]);
    // C3 adds exactly its amounts.
    assert_eq!(usage(&lake, "vo=firn", Some("C3"), any), [7, 3600, 7200, 1000]);
    // C5 sees what C4 has moved: lawine's March is gone together with moraene's.
    let both: Vec<_> = ["lawine", "moraene"]
        .map(|account| usage(&plain, "", None, in_march(account)))
        .into();
    let taken = usage(&lake, "", Some("C5"), any);
    assert_eq!(taken, [0, 1, 2, 3].map(|at| -(both[0][at] + both[1][at])));
    // The table of corrections contains the same, and who signed them.
    let reported = house.corrections("lake");
    let of = |id: &str, entry: Option<&str>, name: &str| -> i64 {
        (0..reported.num_rows())
            .filter(|row| text(&reported, "correction_id", *row).as_deref() == Some(id))
            .filter(|row| entry.is_none() || text(&reported, "entry", *row).as_deref() == entry)
            .filter_map(|row| int(&reported, name, row))
            .sum()
    };
    assert_eq!(of("C1", Some("taken"), "alloc_core_s"), -firn[2]);
    assert_eq!(
        (of("C2", Some("taken"), "wall_s"), of("C2", Some("given"), "wall_s")),
        (-unmapped[1], unmapped[1])
    );
    assert_eq!(
        (of("C3", Some("given"), "job_n"), of("C3", Some("given"), "cpu_ms")),
        (7, 1000)
    );
    let status: BTreeSet<_> = (0..reported.num_rows())
        .map(|row| {
            (
                text(&reported, "correction_id", row).unwrap(),
                text(&reported, "status", row).unwrap(),
            )
        })
        .collect();
    let status: Vec<_> = status.iter().map(|(id, status)| format!("{id} {status}")).collect();
    assert_eq!(
        status,
        [
            "C1 applied",
            "C2 applied",
            "C3 applied",
            "C4 applied",
            "C5 applied",
            "C6 no_match"
        ]
    );
    assert_eq!(text(&reported, "author", 0).as_deref(), Some("E. Office"));
    assert_eq!(house.run("lake").status, Status::Unchanged);
}

#[test]
fn undoing_restores_the_former_bytes() {
    let house = House::new();
    let steps: [&[&str]; 4] = [
        &["C1,void,ALP-T2,2026-03,,firn"],
        &[
            "C1,void,ALP-T2,2026-03,,firn",
            "C2,remap,,,kelp,,,,,tide.example",
            "C3,add,NEW-SITE,2024-04,x,,,,,,,1,1",
        ],
        &[
            "C1,void,ALP-T2,2026-03,,firn",
            "C2,remap,,,kelp,,,,,tide.example",
            "C3,add,NEW-SITE,2024-04,x,,,,,,,1,1",
            "U3,undo,,,,,,,,,,,,,,C3",
            "U2,undo,,,,,,,,,,,,,,C2",
        ],
        &[
            "C1,void,ALP-T2,2026-03,,firn",
            "C2,remap,,,kelp,,,,,tide.example",
            "C3,add,NEW-SITE,2024-04,x,,,,,,,1,1",
            "U3,undo,,,,,,,,,,,,,,C3",
            "U2,undo,,,,,,,,,,,,,,C2",
            "U1,undo,,,,,,,,,,,,,,C1",
        ],
    ];
    house.sign(&[]);
    house.run("lake");
    let data = ["usage", "usage_part", "records", "history", "rejects"];
    let mut states = vec![house.sha256("lake", &data)];
    for step in steps {
        house.sign(step);
        let report = house.run("lake");
        assert_eq!((report.status, report.files_read_n), (Status::Published, 0));
        assert_eq!(house.scene.findings("lake"), []);
        assert_eq!(house.run("lake").status, Status::Unchanged);
        states.push(house.sha256("lake", &data));
    }
    let [plain, one, three, undone, all_undone] = states.as_slice() else {
        panic!("{}", states.len())
    };
    assert!(plain != one && one != three);
    assert!(
        three.keys().any(|path| path.contains("NEW-SITE")),
        "an addition needs no records"
    );
    assert_same(one, undone, "two undone");
    assert_same(plain, all_undone, "all undone");
}

#[test]
fn a_correction_rewrites_what_it_concerns_and_no_more() {
    let house = House::new();
    house.sign(&[]);
    house.run("lake");
    let before = lake_times(&house.scene.path("lake"));
    house.sign(&["C1,void,ALP-T2,2026-04,,firn"]);
    house.run("lake");
    let touched: Vec<_> = lake_times(&house.scene.path("lake"))
        .into_iter()
        .filter(|(path, time)| before.get(path) != Some(time))
        .map(|(path, _)| path)
        .collect();
    let data: Vec<_> = touched.iter().filter(|path| path.starts_with("usage")).collect();
    assert!(!data.is_empty());
    assert!(data.iter().all(|path| path.contains("site=ALP-T2")), "{touched:?}");
    let later = ["2026-05", "2026-06", "2026-01", "2026-02"];
    assert!(
        !data.iter().any(|path| later.iter().any(|month| path.contains(month))),
        "{touched:?}"
    );
    assert!(
        !touched
            .iter()
            .any(|path| path.starts_with("records") || path.starts_with("history")),
        "{touched:?}"
    );
    assert!(!data.iter().any(|path| path.contains("vo=lawine")), "{touched:?}");
    house.run("fresh");
    assert_same(&house.scene.lake("fresh"), &house.scene.lake("lake"), "in one go");
}

#[test]
fn corrections_hold_for_what_comes_later() {
    let house = House::new();
    house.sign(&[
        "C1,remap,,,,firn,,,,snow",
        "C2,add,ALP-T2,2026-03,snow,,,,,,,1,60,60,60",
    ]);
    let files = house.pipeline.files();
    for upto in 1..=files.len() {
        if upto % 8 == 0 || upto == files.len() {
            house.scene.run(&house.pipeline.only(&files[..upto]), "lake");
            assert_eq!(house.scene.findings("lake"), [], "{upto} files");
        }
    }
    house.run("fresh");
    assert_same(&house.scene.lake("fresh"), &house.scene.lake("lake"), "night by night");
    // Other settings change what is corrected, not that it is.
    let by_day = house
        .pipeline
        .clone()
        .with("grain", "\"day\"")
        .with("attribution", "\"by-end\"");
    house.scene.run(&by_day, "lake");
    assert_eq!(house.scene.findings("lake"), []);
    house.scene.run(&by_day, "fresh-by-day");
    assert_same(&house.scene.lake("fresh-by-day"), &house.scene.lake("lake"), "by day");
}

#[test]
fn one_job_can_be_taken_out() {
    let house = House::new();
    house.sign(&[]);
    house.run("plain");
    let records = all(&house.scene.path("plain"), "records");
    let row = (0..records.num_rows())
        .find(|row| {
            text(&records, "source", *row).as_deref() == Some("alp-slurm") && int(&records, "end_utc", *row).is_some()
        })
        .unwrap();
    let (user, job) = (
        text(&records, "user", row).unwrap(),
        text(&records, "job_id", row).unwrap(),
    );
    let bytes = records.column_by_name("record_id").unwrap();
    let bytes = arrow_array::cast::AsArray::as_fixed_size_binary(bytes).value(row);
    let id = hex(bytes);
    let dashed = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
    let wanted = int(&records, "wall_s", row).unwrap();
    for (at, cells) in [
        format!("C1,void,,,,,,,{id}"),
        format!("C1,void,,,,,,,{dashed}"),
        format!("C1,void,ALP-T2,,,,{user},,{id}"),
        format!("C1,void,ALP-T2,,,,{user},{job}"),
    ]
    .iter()
    .enumerate()
    {
        house.sign(&[cells]);
        let out = format!("lake{at}");
        let report = house.run(&out);
        assert_eq!(report.unmatched_corrections, Vec::<String>::new(), "{cells}");
        assert_eq!(
            usage(&house.scene.path(&out), "", Some("C1"), any)[..2],
            [-1, -wanted],
            "{cells}"
        );
        assert_eq!(sum(&house.corrections(&out), "wall_s"), -wanted);
    }
    house.sign(&["C1,void,,,,,,,00112233445566778899aabbccddeeff", "C2,void,,,,,,,xyz"]);
    assert_eq!(house.run("none").unmatched_corrections, ["C1", "C2"]);
}

#[test]
fn the_table_grows_at_its_end_only() {
    let house = House::new();
    house.sign(&["C1,void,ALP-T2,2026-03,,firn", "C2,remap,,,kelp,,,,,tide.example"]);
    house.run("lake");
    let cases: [(&[&str], &str); 4] = [
        (&["C1,void,ALP-T2,2026-03,,firn"], "\"C2\" was applied and is gone"),
        (
            &["C1,void,ALP-T2,2026-04,,firn", "C2,remap,,,kelp,,,,,tide.example"],
            "\"C1\" was changed after",
        ),
        (
            &[
                "C0,void,ALP-T2,2026-03,,lawine",
                "C1,void,ALP-T2,2026-03,,firn",
                "C2,remap,,,kelp,,,,,tide.example",
            ],
            "\"C1\" is not in its place",
        ),
        (&[], "\"C1\" was applied and is gone"),
    ];
    for (rows, why) in cases {
        house.sign(rows);
        let reported = house.refused("lake");
        assert!(reported.contains(why), "{reported}");
    }
    // Nor may the table as a whole go away.
    let without = Pipeline::sample();
    let error = house
        .scene
        .try_run(&without, "lake", RunOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("is gone"), "{error}");
    assert_eq!(house.scene.findings("lake"), []);
}

#[test]
fn unsigned_or_senseless_corrections_are_refused() {
    let house = House::new();
    let cases = [
        ("C1,erase,ALP-T2", "is not an action"),
        ("C1,void", "would take everything"),
        ("C1,remap,ALP-T2", "needs to_vo or to_account"),
        ("C1,void,ALP-T2,,,,,,,firn", "to_vo means nothing to void"),
        ("C1,add,ALP-T2", "needs a site and a month"),
        ("C1,add,ALP-T2,2026-03", "adds nothing"),
        ("C1,add,ALP-T2,2026-03,,,,,,,,1.5", "no whole number"),
        ("C1,void,,2026-13", "is not a month"),
        ("C1,undo", "undo needs undoes"),
        ("C1,undo,,,,,,,,,,,,,,C9", "no row before this one"),
        (",void,ALP-T2", "an id is a text"),
    ];
    for (cells, why) in cases {
        house.sign(&[cells]);
        let reported = house.refused("never");
        assert!(
            reported.contains(why) && reported.contains("corrections.csv:2"),
            "{cells}: {reported}"
        );
    }
    house.sign(&[
        "C1,void,A",
        "C1,void,B",
        "U,undo,,,,,,,,,,,,,,C1",
        "V,undo,,,,,,,,,,,,,,C1",
        "W,undo,,,,,,,,,,,,,,U",
    ]);
    let reported = house.refused("never");
    for why in ["the id \"C1\" occurs twice", "is undone already", "is an undo"] {
        assert!(reported.contains(why), "{reported}");
    }
    let text = format!("{HEAD}{}", row("C1,void,A").replace("E. Office", ""));
    house.scene.write("corrections.csv", text.as_bytes());
    assert!(
        house
            .refused("never")
            .contains("a correction is signed: author is empty")
    );
    let text = format!("{HEAD}{}", row("C1,void,A").replace("2026-06-01", "yesterday"));
    house.scene.write("corrections.csv", text.as_bytes());
    assert!(house.refused("never").contains("is not a day such as"));
    assert!(!house.scene.path("never").exists());
}
