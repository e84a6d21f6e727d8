//! `report sshare --drift`: every cause planted in data of our own, and none where nothing is planted.

mod past;
mod reset;
mod stated;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{DAY_S, DumpJob, HEAD, Scene, at, dump, fairshare, listing};

/// Exit code of data that is not as it should be.
const DATA: i32 = 65;
/// Exit code of a dataset or listing that a lake lacks.
const NO_INPUT: i32 = 66;

/// Two labs, of two users and of one.
const TREE: &str = "root||||1\nlab|root|||30\ninst|root|||10\nlab||ann||2\nlab||bob||1\ninst||cid||1\n";

/// The users of [`TREE`].
const USERS: [(&str, &str); 3] = [("lab", "ann"), ("lab", "bob"), ("inst", "cid")];

const NO_DECAY: &str = "half_life = \"none\"";
const ONE_DAY: &str = "half_life = \"1-00:00:00\"\ndecay = \"continuous\"";

/// Billing seconds of users by name.
type Counters = BTreeMap<&'static str, i64>;

/// Listings of shares, dated by their names.
const COUNTERS: &str = "[[inventory]]\nname = \"counters\"\npaths = [\"sshare-*.txt\"]\nsite = \"A\"\nas_of = \"path\"\n\
     timezone = \"UTC\"\n";

/// A listing as `sshare -a -l -P` prints it. Accounts hold what is in them, and `extra` more in `lab`.
fn sshare(counters: &Counters, extra: i64) -> String {
    let of = |user: &str| counters[user];
    let (lab, inst) = (of("ann") + of("bob") + extra, of("cid"));
    let mut text = "Account|User|RawShares|RawUsage\n".to_owned();
    let _ = writeln!(text, "root|||{}", lab + inst);
    let _ = writeln!(text, " inst||10|{inst}\n  inst|cid|1|{inst}");
    let _ = writeln!(
        text,
        " lab||30|{lab}\n  lab|ann|2|{}\n  lab|bob|1|{}",
        of("ann"),
        of("bob")
    );
    text
}

/// A job a day of every user from 2026-03-01 to 2026-03-10, of other lengths for each user and day.
fn jobs() -> Vec<DumpJob> {
    let begin = at("2026-03-01T06:00:00");
    let mut jobs = Vec::new();
    for (nth, (account, user)) in (1_i64..).zip(USERS) {
        for day in 0_i64..10 {
            let mut job = DumpJob::new(0, account, user, "2026-03-01T06:00:00", 0, 4);
            job.id = u32::try_from(100 * nth + day).unwrap();
            job.start_s = begin + day * DAY_S + 600 * nth;
            job.wall_s = 1000 * nth * nth + 700 * day * (3 - nth) + 900;
            job.end_s = Some(job.start_s + job.wall_s);
            jobs.push(job);
        }
    }
    jobs
}

/// A lake of jobs with the listings written so far.
struct DriftScene {
    scene: Scene,
    keys: String,
}

impl DriftScene {
    fn new(jobs: &[DumpJob], keys: &str) -> Self {
        Self::of_listing(TREE, jobs, keys)
    }

    /// The same with other associations.
    fn of_listing(tree: &str, jobs: &[DumpJob], keys: &str) -> Self {
        let scene = Scene::new(&[("shares.txt", &listing("oak", tree)), ("jobs-1.txt", &dump(jobs))]);
        let scene = Self {
            scene,
            keys: keys.to_owned(),
        };
        scene.run();
        scene
    }

    fn run(&self) {
        let has_counters = std::fs::read_dir(self.scene.path(""))
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("sshare-"));
        let counters = if has_counters { COUNTERS } else { "" };
        self.scene
            .run(&format!("{HEAD}{counters}{}", fairshare("oak", &self.keys)));
    }

    /// What is computed at the midnight of a day, with more options of the report.
    fn computed(&self, date: &str, options: &[&str]) -> Counters {
        let instant = format!("{date}T00:00:00Z");
        let mut args = vec!["report", "sshare", "lake", "--users", "--parsable", "--at", &instant];
        args.extend(options);
        let (printed, _) = self.scene.done(&args);
        let cells = printed.lines().map(|line| line.split('|').collect::<Vec<_>>());
        let mut found = Counters::new();
        for cells in cells {
            if let Some((_, user)) = USERS.iter().find(|(_, user)| *user == cells[1]) {
                found.insert(user, cells[4].parse().unwrap());
            }
        }
        assert_eq!(found.len(), USERS.len(), "{printed}");
        found
    }

    /// Writes the listing of a midnight.
    fn states(&self, date: &str, counters: &Counters) {
        self.scene.write(&format!("sshare-{date}.txt"), &sshare(counters, 0));
    }

    /// Runs again; the rows of the report by account, user and counter.
    fn drift(&self, options: &[&str]) -> Vec<Row> {
        self.run();
        let mut args = vec!["report", "sshare", "lake", "--drift", "--users", "--format", "json"];
        args.extend(options);
        let (printed, _) = self.scene.done(&args);
        let rows: Vec<serde_json::Value> = serde_json::from_str(&printed).unwrap();
        let text = |row: &serde_json::Value, name: &str| match &row[name] {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        let rows = rows.iter().map(|row| Row {
            name: format!("{}/{}", text(row, "account"), text(row, "user")),
            counter: text(row, "counter"),
            difference: text(row, "difference"),
            cause: text(row, "cause"),
            evidence: text(row, "evidence"),
        });
        rows.collect()
    }

    /// The cause of each association.
    fn causes(&self) -> BTreeMap<String, String> {
        let rows = self.drift(&[]).into_iter();
        rows.map(|row| (row.name, row.cause)).collect()
    }
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    counter: String,
    difference: String,
    cause: String,
    evidence: String,
}

#[track_caller]
fn row<'a>(rows: &'a [Row], name: &str) -> &'a Row {
    let found = rows.iter().find(|row| row.name == name && row.counter == "RawUsage");
    found.unwrap_or_else(|| panic!("{name} is not in {rows:#?}"))
}

#[track_caller]
fn assert_causes(causes: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    for (name, cause) in expected {
        assert_eq!(
            causes.get(*name).map(String::as_str),
            Some(*cause),
            "{name} of {causes:#?}"
        );
    }
}

/// All six associations.
const ALL: [&str; 6] = ["root/", "inst/", "inst/cid", "lab/", "lab/ann", "lab/bob"];

fn all(cause: &str) -> Vec<(&'static str, &str)> {
    ALL.iter().map(|name| (*name, cause)).collect()
}

#[test]
fn counters_that_are_what_the_records_come_to_agree() {
    for keys in [NO_DECAY, ONE_DAY, "half_life = \"2-00:00:00\""] {
        let scene = DriftScene::new(&jobs(), keys);
        scene.states("2026-03-11", &scene.computed("2026-03-11", &[]));
        let causes = scene.causes();
        assert_eq!(causes.len(), ALL.len());
        assert_causes(&causes, &all("agrees"));
        let (_, people) = scene.scene.done(&["report", "sshare", "lake", "--drift", "--strict"]);
        assert!(people.contains("0 of 6 counters drift: agrees 6"), "{people}");
    }
}

#[test]
fn what_a_job_used_after_its_dump_is_running() {
    let mut jobs = jobs();
    let mut open = DumpJob::new(900, "inst", "cid", "2026-03-10T20:00:00", 3600, 2);
    open.end_s = None;
    jobs.push(open);
    let scene = DriftScene::new(&jobs, NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    // It ran until midnight, three hours more than its record states.
    *counters.get_mut("cid").unwrap() += 3 * 3600 * 2;
    scene.states("2026-03-11", &counters);
    let causes = scene.causes();
    assert_causes(
        &causes,
        &[("inst/cid", "running"), ("inst/", "running"), ("lab/ann", "agrees")],
    );
    let (_, people) = scene.scene.done(&["report", "sshare", "lake", "--drift", "--strict"]);
    assert!(people.contains("0 of 6 counters drift"), "{people}");
    // More than that, and than billing without digits behind the point lacks, it cannot have used.
    *counters.get_mut("cid").unwrap() += 40 * 3600;
    scene.states("2026-03-11", &counters);
    assert_causes(&scene.causes(), &[("inst/cid", "unknown")]);
}

#[test]
fn usage_of_jobs_that_are_not_counted_is_named() {
    let mut jobs = jobs();
    jobs.iter_mut()
        .filter(|job| job.user == "bob")
        .for_each(|job| job.billing = 0);
    let scene = DriftScene::new(&jobs, NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    counters.insert("bob", 5000);
    scene.states("2026-03-11", &counters);
    let rows = scene.drift(&[]);
    let of = row(&rows, "lab/bob");
    assert_eq!(
        (of.cause.as_str(), of.evidence.as_str()),
        ("uncounted", "10 jobs of it are not counted")
    );
}

#[test]
fn usage_of_users_that_are_not_listed_is_their_accounts() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let counters = scene.computed("2026-03-11", &[]);
    scene.scene.write("sshare-2026-03-11.txt", &sshare(&counters, 60_000));
    assert_causes(
        &scene.causes(),
        &[
            ("lab/", "unlisted"),
            ("root/", "unlisted"),
            ("lab/ann", "agrees"),
            ("inst/", "agrees"),
        ],
    );
}

#[test]
fn what_one_side_does_not_have_is_not_compared() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let counters = scene.computed("2026-03-11", &[]);
    let text = sshare(&counters, 0);
    let without_ann: Vec<&str> = text.lines().filter(|line| !line.contains("ann")).collect();
    let text = format!("{}\n  lab|dan|1|5\n", without_ann.join("\n"));
    scene.scene.write("sshare-2026-03-11.txt", &text);
    let rows = scene.drift(&[]);
    assert_eq!(row(&rows, "lab/ann").cause, "not_compared");
    assert_eq!(row(&rows, "lab/ann").evidence, "the listing does not state it");
    assert_eq!(row(&rows, "lab/dan").cause, "not_compared");
    assert_eq!(
        row(&rows, "lab/dan").evidence,
        "the listing of associations does not have it"
    );
}

#[test]
fn drift_is_in_the_last_line_and_with_strict_in_the_exit_code() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let mut counters = scene.computed("2026-03-11", &[]);
    counters.insert("ann", 0);
    scene.states("2026-03-11", &counters);
    scene.run();
    let (csv, people) = scene
        .scene
        .done(&["report", "sshare", "lake", "--drift", "--format", "csv"]);
    assert!(
        csv.starts_with("account,user,partition,counter,scheduler,computed,difference,percent,cause,evidence"),
        "{csv}"
    );
    assert!(people.contains("3 of 6 counters drift: agrees 3, reset 3"), "{people}");
    let (text, _) = scene.scene.done(&["report", "sshare", "lake", "--drift"]);
    assert!(text.contains("reset"), "{text}");
    // Nobody is named without a request.
    assert!(USERS.iter().all(|(_, user)| !text.contains(user)), "{text}");
    let output = scene
        .scene
        .gridtally(&["report", "sshare", "lake", "--drift", "--strict"]);
    assert_eq!(output.status.code(), Some(DATA));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("3 of 6 counters are not what the records come to"),
        "{stderr}"
    );
    // A tolerance of everything is met by anything.
    scene
        .scene
        .done(&["report", "sshare", "lake", "--drift", "--strict", "--tolerance", "100"]);
}

#[test]
fn what_is_missing_for_a_comparison_is_named() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let refused = |args: &[&str]| {
        let output = scene
            .scene
            .gridtally(&[&["report", "sshare", "lake", "--drift"], args].concat());
        assert_eq!(output.status.code(), Some(NO_INPUT), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(
        refused(&[]).contains("add an [[inventory]] of sshare -a -l -m -P"),
        "{}",
        refused(&[])
    );
    scene.states("2026-03-11", &scene.computed("2026-03-11", &[]));
    scene.run();
    let why = refused(&["--at", "2026-03-10T00:00:00Z"]);
    assert!(why.contains("it has those of 2026-03-11T00:00:00Z"), "{why}");
    let output = scene.scene.gridtally(&["report", "sprio", "lake"]);
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(NO_INPUT), "{why}");
    assert!(why.contains("add an [[inventory]] of scontrol show job"), "{why}");
}
