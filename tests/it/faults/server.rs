//! Runs into a server of objects that fails many of their requests: nothing is lost or counted twice, no reader finds half a
//! run, every run ends in bounded time and states what failed, and a run that ends well leaves the bytes of a local one.

use std::collections::BTreeMap;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::proxy::{FaultProxy, WireFault};
use super::{Files, as_now, as_of_newest, run_of, words};
use crate::objects::parts::{dump, of_dump};
use crate::promises::scene::{assert_same, lake_hash};
use crate::snapshots::{Nights, pipeline};
use crate::support::s3::S3;

/// Requests that fail; `GRIDTALLY_WIRE_FAULTS` raises it.
const FAULTS: usize = 300;

/// Of a thousand requests so many fail.
const PER_MILLE: u32 = 250;

/// Lakes that are written at once.
const LANES: usize = 3;

/// Nights of a lake, before the next one begins.
const NIGHTS: usize = 60;

/// No run takes longer: requests are repeated for 90 s at most.
const LONGEST: Duration = Duration::from_mins(3);

/// Runs of one night at most.
const TRIES: usize = 12;

/// What happened.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    failed: usize,
    expired: usize,
    nights: usize,
    longest: Duration,
    faults: BTreeMap<WireFault, usize>,
    messages: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, lane: Self) {
        self.runs += lane.runs;
        self.failed += lane.failed;
        self.expired += lane.expired;
        self.nights += lane.nights;
        self.longest = self.longest.max(lane.longest);
        for (fault, n) in lane.faults {
            *self.faults.entry(fault).or_default() += n;
        }
        for (message, n) in lane.messages {
            *self.messages.entry(message).or_default() += n;
        }
    }

    /// Counts a run and how it ended.
    fn run(&mut self, output: &Output, lasted: Duration) {
        self.runs += 1;
        self.longest = self.longest.max(lasted);
        let said = words(output);
        assert!(lasted < LONGEST, "a run of {lasted:?}: {said}");
        if !output.status.success() {
            self.failed += 1;
            let last = said.lines().rfind(|line| line.starts_with("gridtally: ")).unwrap_or("");
            let why = last.rsplit("): ").next().unwrap_or(last);
            let kind: String = why.chars().filter(|c| !c.is_ascii_digit()).take(300).collect();
            *self.messages.entry(kind).or_default() += 1;
        }
    }
}

/// A run by way of the proxy.
fn run_by(s3: &S3, proxy: &FaultProxy, nights: &Nights, out: &str) -> (Output, Duration) {
    let mut command = run_of(&nights.path(""), &["run", "p.toml", "--out", out]);
    s3.introduce(&mut command);
    proxy.introduce(&mut command);
    let since = Instant::now();
    (command.output().unwrap(), since.elapsed())
}

/// One lake after the other, until enough requests have failed.
fn lane(s3: &S3, lane: usize, wanted: usize, faults: &AtomicUsize) -> Tally {
    let proxy = FaultProxy::before(s3.port(), 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(lane as u64 + 1));
    let mut tally = Tally::default();
    let mut counted = 0;
    for lake in 0.. {
        let name = format!("lake-{lane}-{lake}");
        let url = format!("s3://bucket/{name}");
        let nights = Nights::new();
        let mut old = Files::new();
        for nth in 0..NIGHTS {
            if faults.load(Ordering::SeqCst) >= wanted {
                break;
            }
            nights.arrive(nth * 5);
            let local = run_of(&nights.path(""), &["run", "p.toml"]).output().unwrap();
            assert!(local.status.success(), "{}", words(&local));
            let new = lake_hash(&nights.path("lake"));
            proxy.fail(PER_MILLE);
            for attempt in 0.. {
                assert!(attempt < TRIES, "night {nth} of {name} is never published: {tally:#?}");
                let expires = nth % 4 == 3 && attempt == 0;
                proxy.expire_in(if expires { 3 + u32::try_from(nth).unwrap() } else { 0 });
                let (output, lasted) = run_by(s3, &proxy, &nights, &url);
                tally.run(&output, lasted);
                proxy.expire_in(0);
                let said = words(&output);
                let published = s3.lake(&name);
                let newest = as_of_newest(&published);
                assert!(newest == old || newest == new, "half published: {said}");
                if output.status.success() {
                    assert_same(&new, &as_now(&published), &said);
                    assert_same(&new, &newest, &said);
                    break;
                }
                let code = output.status.code();
                assert!(matches!(code, Some(74 | 75)), "{said}");
                assert!(said.lines().any(|line| line.starts_with("gridtally: ")), "{said}");
                if expires && said.contains("ExpiredToken") {
                    tally.expired += 1;
                }
                if !published.exists(".gridtally/journal.json").unwrap() {
                    let found = as_now(&published);
                    assert!(found == old || found == new, "half published: {said}");
                }
            }
            tally.nights += 1;
            old = new;
            let now: usize = proxy.counts().values().sum();
            faults.fetch_add(now - counted, Ordering::SeqCst);
            counted = now;
        }
        proxy.fail(0);
        if !old.is_empty() {
            let mut verify = run_of(&nights.path(""), &["verify", &url]);
            s3.introduce(&mut verify);
            let output = verify.output().unwrap();
            assert!(output.status.success(), "{}", words(&output));
        }
        if faults.load(Ordering::SeqCst) >= wanted {
            break;
        }
    }
    tally.faults = proxy.counts();
    tally
}

#[test]
fn requests_that_fail_lose_nothing_and_double_nothing() {
    let wanted = std::env::var("GRIDTALLY_WIRE_FAULTS").map_or(FAULTS, |text| text.parse().unwrap());
    let s3 = S3::start();
    let faults = AtomicUsize::new(0);
    let all = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for nth in 0..LANES {
            let (s3, faults, all) = (&s3, &faults, &all);
            scope.spawn(move || {
                let tally = lane(s3, nth, wanted, faults);
                all.lock().unwrap().add(tally);
            });
        }
    });
    let all = all.into_inner().unwrap();
    eprintln!("{all:#?}");
    assert!(
        all.faults.values().sum::<usize>() >= wanted && all.nights > 0,
        "{all:#?}"
    );
}

/// Uploads in parts, of which parts, ends and answers are lost.
#[test]
fn torn_uploads_in_parts_are_whole_in_the_end() {
    let s3 = S3::start();
    let proxy = FaultProxy::before(s3.port(), 7);
    let nights = Nights::new();
    nights.write("large.txt", &dump(50_000));
    let keep = "[pipeline]\nkeep = { nights = 1, months = 1 }\n";
    nights.write("p.toml", &of_dump("large.txt").replace("[pipeline]\n", keep));
    let local = run_of(&nights.path(""), &["run", "p.toml"]).output().unwrap();
    assert!(local.status.success(), "{}", words(&local));
    let new = lake_hash(&nights.path("lake"));
    proxy.fail(PER_MILLE);
    let mut tally = Tally::default();
    loop {
        let (output, lasted) = run_by(&s3, &proxy, &nights, "s3://bucket/large");
        tally.run(&output, lasted);
        assert!(tally.runs < TRIES, "{tally:#?}");
        if output.status.success() {
            break;
        }
    }
    assert_same(&new, &as_now(&s3.lake("large")), "uploads in parts");
    assert!(s3.log().contains("partNumber=2"), "a table is larger than a part");
    eprintln!("{tally:#?} {:?}", proxy.counts());
}

/// The answers that begin uploads in parts are cut off, so that the ids in them are lost: one run publishes all the same.
#[test]
fn uploads_in_parts_whose_first_answers_are_lost_are_begun_again() {
    const TORN: u32 = 6;
    let s3 = S3::start();
    let proxy = FaultProxy::before(s3.port(), 11);
    let nights = Nights::new();
    nights.write("large.txt", &dump(50_000));
    nights.write("p.toml", &of_dump("large.txt"));
    let local = run_of(&nights.path(""), &["run", "p.toml"]).output().unwrap();
    assert!(local.status.success(), "{}", words(&local));
    proxy.tear_begins(TORN);
    let (output, lasted) = run_by(&s3, &proxy, &nights, "s3://bucket/begun");
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(proxy.counts(), BTreeMap::from([(WireFault::TornAnswer, TORN as usize)]));
    assert!(lasted < LONGEST, "{lasted:?}");
    let new = lake_hash(&nights.path("lake"));
    assert_same(&new, &as_now(&s3.lake("begun")), "uploads in parts");
    // What nobody knows the id of is for the rule of the bucket, and nothing else is left.
    assert!(s3.uploads() <= TORN as usize, "{} uploads", s3.uploads());
}

/// A server that fails every request is given up, and in a time that is stated.
#[test]
fn a_server_that_never_answers_is_given_up() {
    if std::env::var_os("GRIDTALLY_WIRE_FAULTS").is_none() {
        eprintln!("SKIPPED: a server that never answers, which takes two minutes: GRIDTALLY_WIRE_FAULTS is not set");
        return;
    }
    let s3 = S3::start();
    let proxy = FaultProxy::before(s3.port(), 9);
    let nights = Nights::new();
    nights.write("p.toml", &pipeline(""));
    nights.arrive(0);
    proxy.fail(1000);
    let (output, lasted) = run_by(&s3, &proxy, &nights, "s3://bucket/lake");
    let said = words(&output);
    eprintln!("{lasted:?}: {said}");
    assert_eq!(output.status.code(), Some(74), "{said}");
    assert!(lasted < LONGEST && said.contains("waiting for 127.0.0.1"), "{said}");
}
