//! Two runs on one lake in an object store: one writes, the other reports it and ends.

use super::*;
use std::process::Child;
use std::time::Duration;

const LOCK: &str = "lake/.gridtally/lock";
const BUSY: Option<i32> = Some(75);

fn prepare(here: &Path) -> BTreeMap<String, String> {
    let data = repository("sample-data");
    std::fs::write(here.join("local.toml"), pipeline(data.to_str().unwrap())).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    super::super::support::sample::run(command.args(["run", "local.toml", "--out", "here"]).current_dir(here));
    lake_hash(&here.join("here"))
}

fn begin(s3: &S3, here: &Path) -> Child {
    let mut command = gridtally(s3, &["run", "local.toml", "--out", "s3://bucket/lake"], here);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Starts a run and waits until it has the lock.
fn begun(s3: &S3, here: &Path) -> Child {
    let child = begin(s3, here);
    let patience = Instant::now();
    while !s3.bucket().exists(LOCK).unwrap() {
        assert!(patience.elapsed() < Duration::from_mins(1), "the run takes its lock");
    }
    child
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
    assert!(sent.success(), "{name}");
}

#[test]
fn of_two_runs_at_once_one_is_instructed_to_come_back() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let local = prepare(here);

    let first = begun(&s3, here);
    let second = begin(&s3, here).wait_with_output().unwrap();
    assert_eq!(second.status.code(), BUSY, "{}", reported(&second));
    assert!(
        reported(&second).contains("another run or publication holds the output"),
        "{}",
        reported(&second)
    );
    let first = first.wait_with_output().unwrap();
    assert!(first.status.success(), "{}", reported(&first));
    assert_same(&local, &published(&s3, "lake"), "two at once");

    // All at once, each until it is let in.
    s3.bucket()
        .list("lake")
        .unwrap()
        .iter()
        .for_each(|entry| s3.bucket().delete(&entry.path).unwrap());
    let mut waiting = 3;
    let patience = Instant::now();
    while waiting > 0 {
        let runs: Vec<_> = (0..waiting).map(|_| begin(&s3, here)).collect();
        for run in runs {
            let run = run.wait_with_output().unwrap();
            match run.status.code() {
                Some(0) => waiting -= 1,
                code => assert_eq!(code, BUSY, "{}", reported(&run)),
            }
        }
        assert!(patience.elapsed() < Duration::from_mins(3));
    }
    assert_same(&local, &published(&s3, "lake"), "three at once, and no lock is left");
}

#[test]
fn a_lock_is_taken_over_when_its_owner_is_gone_and_not_before() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let local = prepare(here);
    let claim =
        |renewals: u32| format!("{{\"token\": \"other\", \"process\": \"elsewhere/1/1\", \"renewals\": {renewals}}}");

    // One that lives on another machine renews its lock.
    s3.put(LOCK, claim(0).as_bytes());
    let mut run = begin(&s3, here);
    let mut renewals = 0;
    let ended = loop {
        if let Some(ended) = run.try_wait().unwrap() {
            break ended;
        }
        renewals += 1;
        s3.put(LOCK, claim(renewals).as_bytes());
        std::thread::sleep(Duration::from_millis(500));
    };
    assert_eq!(ended.code(), BUSY);
    assert!(published(&s3, "lake").keys().all(|path| path == ".gridtally/lock"));

    // One that does not is waited for, then replaced.
    let since = Instant::now();
    super::run(&s3, &["run", "local.toml", "--out", "s3://bucket/lake"], here);
    assert!(
        since.elapsed() >= Duration::from_secs(20),
        "an owner elsewhere is given its time"
    );
    assert_same(&local, &published(&s3, "lake"), "after an abandoned lock");
}

#[test]
fn a_run_that_has_lost_its_lock_publishes_nothing() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    prepare(here);
    let run = begun(&s3, here);
    // It pauses, at any step, while another one takes over.
    signal(&run, "STOP");
    s3.put(LOCK, b"{\"token\": \"other\"}");
    s3.put("lake/.gridtally/staging/other-00000000", b"of the new owner");
    signal(&run, "CONT");
    let run = run.wait_with_output().unwrap();
    assert_eq!(run.status.code(), BUSY, "{}", reported(&run));
    let left: Vec<_> = published(&s3, "lake").into_keys().collect();
    assert_eq!(left, [".gridtally/lock", ".gridtally/staging/other-00000000"]);
}
