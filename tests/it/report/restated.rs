//! What was sent is sent otherwise: voids, other VOs, other benchmarks, and back. The model of the server, which is given
//! every message in its turn and adds up after each publication, holds the content of the lake, in every kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::ApelRequest;
use gridtally::report::apel::users::Users;
use gridtally::report::lake::Lake;
use gridtally::report::publication::exporter::Exporter;
use gridtally::report::publication::ledger::PublicationPlace;
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::publication::outbox::{OutboxListed, put_delete_list};
use gridtally::report::publication::plan::{PublicationPlan, plan};
use gridtally::report::publication::terms::Terms;
use gridtally::store::Outgoing;

use super::corrected::{a_job, lake as sample};
use super::scene::{Scene, send, texts};
use super::server::Server;
use super::stored::{Totals, publish_all, sent};
use crate::support::forge::carry_books;

const NOW_MS: i64 = 1_780_000_000_000;
static TURN: AtomicI64 = AtomicI64::new(0);

/// How the people of a receiver get rid of what is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Zeros,
    Repairs,
    Lists,
}

impl Way {
    fn terms(self) -> Terms {
        Terms {
            is_listing: self == Self::Lists,
            is_repairing: self == Self::Repairs,
            ..Terms::default()
        }
    }
}

fn exporter(kinds: &[MessageKind]) -> Exporter {
    Exporter::Apel(ApelRequest {
        kinds: kinds.to_vec(),
        users: Users::Keep,
        batch_records: 3,
        is_leaving_out: true,
        ..ApelRequest::default()
    })
}

/// Somebody who is sent one kind, and sync records.
struct Receiver {
    kind: MessageKind,
    way: Way,
    server: Server,
}

impl Receiver {
    fn new(kind: MessageKind, way: Way) -> Self {
        Self {
            kind,
            way,
            server: Server::default(),
        }
    }

    /// Sends what differs; the server adds up.
    fn send(&mut self, lake: &Lake) -> PublicationPlan {
        let name = format!("{}-{:?}", self.kind.as_str(), self.way);
        let planned = plan(
            lake,
            &exporter(&[self.kind, MessageKind::Sync]),
            &name,
            &self.way.terms(),
        )
        .unwrap();
        let lists = tempfile::tempdir().unwrap();
        let mut outgoing = Outgoing::open(lists.path().to_str().unwrap()).unwrap();
        // A publication is named by its time.
        let now_ms = NOW_MS + TURN.fetch_add(1, Ordering::Relaxed);
        let mut list = |place: &PublicationPlace, listed: OutboxListed, gone: &[MessageRecord]| {
            put_delete_list(&mut outgoing, place, listed, now_ms, gone).map(drop)
        };
        let mut messages = Vec::new();
        send(lake, &name, &planned, now_ms, &mut list, &mut |_, _, _, _, text| {
            messages.push(text);
            Ok(())
        })
        .unwrap();
        outgoing.deliver().unwrap();
        for text in messages {
            self.server.load(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        }
        self.server.summarise();
        self.delete(lists.path());
        planned
    }

    /// What people do with the lists: single jobs are taken out, and the server adds up before its rows are.
    fn delete(&mut self, lists: &std::path::Path) {
        let mut supers: Vec<BTreeMap<String, String>> = Vec::new();
        for file in std::fs::read_dir(lists).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|end| end != "csv") {
                continue;
            }
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let rows: Vec<BTreeMap<String, String>> = csv::Reader::from_path(&file)
                .unwrap()
                .deserialize()
                .map(Result::unwrap)
                .collect();
            for row in rows {
                if name.contains("HybridSuperSummaries") {
                    supers.push(row);
                    continue;
                }
                let table = match self.kind {
                    _ if name.contains("sync") => &mut self.server.sync,
                    MessageKind::JobV03 | MessageKind::JobV04 => &mut self.server.jobs,
                    MessageKind::SummaryV02 | MessageKind::SummaryV04 => &mut self.server.summaries,
                    _ => &mut self.server.normalised,
                };
                assert_eq!(Server::delete(table, &row), 1, "{name} {row:?}");
                if !self.kind.is_job() && !name.contains("sync") {
                    Server::delete(&mut self.server.super_summaries, &row);
                }
            }
        }
        self.server.summarise();
        for row in supers {
            assert_eq!(Server::delete(&mut self.server.super_summaries, &row), 1, "{row:?}");
        }
        self.server.summarise();
    }

    /// What the server should hold: what an empty receiver would be sent; jobs that were taken back by zeros
    /// are jobs still.
    fn expected(&self, lake: &Lake) -> Totals {
        let mut expected = sent(&publish_all(lake, self.kind).0);
        if self.kind.is_job() {
            for ((site, month), [jobs, ..]) in self.server.job_totals() {
                let of = expected.entry((site, month)).or_default();
                of[0] = jobs;
            }
        }
        expected
    }
}

fn total(totals: &Totals) -> [i128; 3] {
    totals.values().fold([0; 3], |mut sum, more| {
        for (sum, more) in sum.iter_mut().zip(more) {
            *sum += more;
        }
        sum
    })
}

fn job(id: u32, vo: &str, hour: i64, level: &str) -> String {
    let end = 1_740_787_200 + hour * 3600;
    format!(
        "Site: REEF\nSubmitHost: ce{}\nLocalJobId: {id}\nGlobalUserName: /CN=anna\nVO: {vo}\nWallDuration: {}\n\
         CpuDuration: {}\nProcessors: 4\nNodeCount: 1\nStartTime: {}\nEndTime: {end}\nInfrastructureType: grid\n\
         ServiceLevel: {level}\n%%\n",
        id % 2,
        100 + id,
        200 + id,
        end - 100 - i64::from(id),
    )
}

const LEVEL: &str = "{hepspec: 10.5, HEPscore23: 12}";

/// The first publication, and its changes.
fn versions() -> Vec<(&'static str, String)> {
    let all = |vo: &dyn Fn(u32) -> &'static str, level: &dyn Fn(u32) -> &'static str, skip: &[u32]| {
        let ids = (1..=9).filter(|id| !skip.contains(id));
        let jobs: Vec<String> = ids.map(|id| job(id, vo(id), i64::from(id), level(id))).collect();
        format!("APEL-individual-job-message: v0.4\n{}", jobs.concat())
    };
    let vo = |id: u32| if id < 6 { "reef" } else { "kelp" };
    let first = all(&vo, &|_| LEVEL, &[]);
    vec![
        ("first", first.clone()),
        ("two jobs are void", all(&vo, &|_| LEVEL, &[2, 7])),
        ("they come back", first.clone()),
        (
            "a VO is another",
            all(&|id| if id < 6 { "reef" } else { "drift" }, &|_| LEVEL, &[]),
        ),
        (
            "a new benchmark, for some",
            all(&vo, &|id| if id % 3 == 0 { LEVEL } else { "{HEPscore23: 13.25}" }, &[]),
        ),
        ("all of a VO are void", all(&vo, &|_| LEVEL, &[6, 7, 8, 9])),
        ("back again", first),
    ]
}

/// A lake of each version, which remembers what the one before was asked to send.
fn in_turn(mut see: impl FnMut(&str, &Lake)) {
    let scene = Scene::new();
    for (nth, (what, text)) in versions().into_iter().enumerate() {
        let name = format!("lake{nth}");
        scene.write(&format!("in{nth}/1.msg"), &text);
        let lake = scene.of_messages(&name, &[&scene.path(&format!("in{nth}"))]);
        if let Some(before) = nth.checked_sub(1) {
            carry_books(&scene.path(&format!("lake{before}")), &scene.path(&name));
        }
        see(what, &lake);
    }
}

#[test]
fn the_server_holds_what_the_lake_states_whatever_changes() {
    let kinds = MessageKind::ALL.into_iter().filter(|kind| *kind != MessageKind::Sync);
    let ways = |kind: MessageKind| {
        let ways = [Way::Zeros, Way::Repairs, Way::Lists];
        ways.into_iter().filter(move |way| !kind.is_job() || *way != Way::Zeros)
    };
    let mut receivers: Vec<Receiver> = kinds
        .flat_map(|kind| ways(kind).map(move |way| Receiver::new(kind, way)))
        .collect();
    in_turn(|what, lake| {
        for receiver in &mut receivers {
            let word = format!("{what}: {} {:?}", receiver.kind.as_str(), receiver.way);
            receiver.send(lake);
            assert_eq!(receiver.server.totals(), receiver.expected(lake), "{word}");
            // Sync records count as many jobs as the server holds, those without usage too.
            let counted: Totals = receiver
                .server
                .counted()
                .into_iter()
                .map(|(k, n)| (k, [n, 0, 0]))
                .collect();
            let held = if receiver.kind.is_job() {
                receiver.server.job_totals()
            } else {
                receiver.server.totals()
            };
            assert_eq!(total(&counted)[0], total(&held)[0], "{word}");
            if receiver.way == Way::Lists {
                assert_eq!(
                    total(&held)[0],
                    total(&sent(&publish_all(lake, receiver.kind).0))[0],
                    "{word}"
                );
            }
            assert_eq!(receiver.send(lake).changes, [], "{word}");
        }
    });
}

/// Without a repair the server keeps rows of jobs that are there no more; the reported surplus is the actual one.
#[test]
fn what_the_server_keeps_is_reported_in_numbers() {
    for kind in [MessageKind::JobV03, MessageKind::JobV04] {
        let mut receiver = Receiver::new(kind, Way::Zeros);
        let mut worst = 0;
        in_turn(|what, lake| {
            let planned = receiver.send(lake);
            let mut stated = [0; 3];
            for reported in planned.stale.values().flatten() {
                let sums = [reported.job_n(), reported.wall_s().unwrap(), reported.cpu_s().unwrap()];
                for (stated, more) in stated.iter_mut().zip(sums) {
                    *stated += i128::from(more);
                }
            }
            let (held, expected) = (total(&receiver.server.totals()), total(&receiver.expected(lake)));
            let kept: Vec<i128> = held.iter().zip(expected).map(|(held, own)| held - own).collect();
            assert_eq!(kept, stated, "{what}");
            worst = worst.max(stated[0]);
        });
        assert!(worst >= 4, "{worst}");
    }
}

/// Corrections of the sample's lake: a job is void, a VO is moved, and both are undone.
#[test]
fn corrections_of_the_sample_reach_the_server_in_every_kind() {
    let scene = Scene::new();
    let plain = sample(&scene, "");
    let (job, vo, _) = a_job(&scene, "ALP-T2");
    let kinds = MessageKind::ALL.into_iter().filter(|kind| *kind != MessageKind::Sync);
    let mut receivers: Vec<Receiver> = kinds.map(|kind| Receiver::new(kind, Way::Repairs)).collect();
    let mut check = |lake: &Lake, what: &str| {
        for receiver in &mut receivers {
            receiver.send(lake);
            let word = format!("{what}: {}", receiver.kind.as_str());
            assert_eq!(receiver.server.totals(), receiver.expected(lake), "{word}");
        }
    };
    check(&plain, "plain");
    let corrections = format!(
        "C1,void,ALP-T2,,,,{job},,,,,,,,E. Office,ran on a broken node,2026-04-02\n\
         C2,remap,ALP-T2,2026-03,{vo},,,drift,,,,,,,E. Office,moved for a month,2026-04-02\n"
    );
    check(&sample(&scene, &corrections), "corrected");
    let undone = format!(
        "{corrections}C3,undo,,,,,,,,,,,,C1,E. Office,it was another,2026-04-03\n\
         C4,undo,,,,,,,,,,,,C2,E. Office,not for this month,2026-04-03\n"
    );
    check(&sample(&scene, &undone), "undone");
}

fn doubled(lake: &Lake, kinds: &[MessageKind], terms: &Terms) -> Option<String> {
    plan(lake, &exporter(kinds), "them", terms).unwrap().doubled
}

/// One receiver, site and month: one kind that counts.
#[test]
fn a_second_kind_that_counts_is_an_error() {
    let scene = Scene::new();
    scene.write("in/1.msg", &versions()[0].1);
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    let (jobs, summaries, normalised) = (MessageKind::JobV04, MessageKind::SummaryV02, MessageKind::NormalisedV03);
    let plain = Terms::default();
    let both = doubled(&lake, &[jobs, normalised], &plain).unwrap();
    assert!(
        both.contains("9 jobs as job-v0.4 (to be sent), 9 jobs as normalised-v0.3 (to be sent)"),
        "{both}"
    );
    let hand_over = |kinds: &[MessageKind], terms: &Terms| {
        let planned = plan(&lake, &exporter(kinds), "them", terms).unwrap();
        send(
            &lake,
            "them",
            &planned,
            NOW_MS,
            &mut |_, _, _| Ok(()),
            &mut |_, _, _, _, _| Ok(()),
        )
    };
    hand_over(&[jobs, MessageKind::Sync], &plain).unwrap();
    // The same kind and sync may be sent as often as one likes.
    assert_eq!(doubled(&lake, &[jobs, MessageKind::Sync], &plain), None);
    assert_eq!(doubled(&lake, &[MessageKind::Sync], &plain), None);
    let error = hand_over(&[summaries], &plain).unwrap_err();
    assert_eq!(error.kind(), gridtally::error::Kind::Data);
    let error = error.to_string();
    for word in [
        "reef 2025-03",
        "9 jobs as job-v0.4 (sent before)",
        "9 jobs as summary-v0.2 (to be sent)",
        "--beside",
    ] {
        assert!(error.contains(word), "{error}");
    }
    let agreed = Terms {
        also_counted: BTreeSet::from([jobs.into()]),
        ..Terms::default()
    };
    hand_over(&[summaries], &agreed).unwrap();
    // A third is one too many still.
    assert!(doubled(&lake, &[normalised], &agreed).is_some());
    let all = Terms {
        also_counted: BTreeSet::from([jobs.into(), summaries.into()]),
        ..Terms::default()
    };
    assert_eq!(doubled(&lake, &[normalised], &all), None);
    // Somebody else holds nothing.
    assert_eq!(
        plan(&lake, &exporter(&[normalised]), "others", &plain).unwrap().doubled,
        None
    );
}

#[test]
fn two_kinds_are_not_written_to_one_place_unasked() {
    let scene = Scene::new();
    scene.write("in/1.msg", &versions()[0].1);
    scene.of_messages("lake", &[&scene.path("in")]);
    let run = |more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["report", "apel"])
            .arg(scene.path("lake"))
            .args([
                "--message",
                "summary-v0.4",
                "--message",
                "normalised-v0.4",
                "--message",
                "sync",
                "--out",
            ])
            .arg(scene.path("outgoing"))
            .args(more)
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, people) = run(&[]);
    assert!(
        code == 2 && people.contains("summary-v0.4 and normalised-v0.4 describe the same jobs"),
        "{people}"
    );
    assert!(!scene.path("outgoing").exists());
    assert_eq!(run(&["--beside", "normalised-v0.4"]).0, 0);
    assert_eq!(texts(&scene.path("outgoing")).len(), 3);
}
