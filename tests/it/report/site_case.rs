//! Sites whose names differ in letter case alone are one site to APEL's server, and their rows one row there.

use std::sync::atomic::{AtomicI64, Ordering};

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::ApelRequest;
use gridtally::report::apel::server_sites;
use gridtally::report::apel::users::Users;
use gridtally::report::federation::gather;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::exporter::Exporter;
use gridtally::report::publication::ledger::{PublicationState, load};
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::publication::plan::plan;
use gridtally::report::publication::terms::Terms;
use gridtally::report::site_case;

use super::scene::{Scene, send};
use crate::support::forge::carry_books;

/// The instant of the next publication: two of one instant would have one name.
static TURN: AtomicI64 = AtomicI64::new(1_780_000_000_000);

fn job(site: &str, id: u8, wall_s: i64) -> String {
    format!(
        "Site: {site}\nSubmitHost: ce1\nLocalJobId: {id}\nVO: atlas\nWallDuration: {wall_s}\nCpuDuration: {wall_s}\n\
         Processors: 1\nNodeCount: 1\nStartTime: 1710000000\nEndTime: {}\nInfrastructureType: grid\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n",
        1_710_032_400 + i64::from(id)
    )
}

fn lake(scene: &Scene, jobs: &[String]) -> Lake {
    scene.write(
        "in/1.msg",
        &format!("APEL-individual-job-message: v0.3\n{}", jobs.concat()),
    );
    scene.of_messages("lake", &[&scene.path("in")])
}

fn exporter(kind: MessageKind, sites: &[&str]) -> Exporter {
    Exporter::Apel(ApelRequest {
        selection: Selection {
            sites: sites.iter().map(|site| (*site).to_owned()).collect(),
            ..Selection::default()
        },
        kinds: vec![kind],
        users: Users::Withhold,
        batch_records: 10,
        ..ApelRequest::default()
    })
}

/// Sends what differs; the records in their order.
fn hand_over(lake: &Lake, exporter: &Exporter, receiver: &str) -> Vec<MessageRecord> {
    let planned = plan(lake, exporter, receiver, &Terms::default()).unwrap();
    let mut sent = Vec::new();
    send(
        lake,
        receiver,
        &planned,
        TURN.fetch_add(1, Ordering::Relaxed),
        &mut |_, _, _| Ok(()),
        &mut |_, _, _, _, text| {
            sent.append(&mut MessageRecord::read(&text)?);
            Ok(())
        },
    )
    .unwrap();
    sent
}

/// Jobs and wall seconds of records.
fn sums(records: &[MessageRecord]) -> Vec<(i64, Option<i64>)> {
    let of = |record: &MessageRecord| (record.job_n(), record.wall_s());
    records.iter().map(of).collect()
}

#[test]
fn a_receiver_is_sent_the_jobs_of_every_spelling_of_a_site() {
    let scene = Scene::new();
    let lake = lake(&scene, &[job("Site-A", 1, 100), job("SITE-a", 2, 1000)]);
    for kind in [MessageKind::SummaryV04, MessageKind::NormalisedV03, MessageKind::Sync] {
        let wall_s = (kind != MessageKind::Sync).then_some(1100);
        for sites in [&[][..], &["SITE-a"], &["Site-A"]] {
            let receiver = format!("{}-{sites:?}", kind.as_str());
            let exporter = exporter(kind, sites);
            let sent = hand_over(&lake, &exporter, &receiver);
            assert_eq!(sums(&sent), [(2, wall_s)], "{receiver}");
            let entries = load(&lake.store).unwrap();
            let own = entries.iter().filter(|entry| entry.receiver == receiver);
            let booked: Vec<MessageRecord> = own.map(|entry| entry.record.clone()).collect();
            assert_eq!(booked, sent, "{receiver}");
            assert_eq!(hand_over(&lake, &exporter, &receiver), []);
        }
    }
    let of = |sites: &[&str]| exporter(MessageKind::Sync, sites);
    let Exporter::Apel(request) = of(&["SITE-a"]) else {
        panic!()
    };
    let note = server_sites::note(&lake, &request.selection).unwrap();
    assert!(note.starts_with("Site-A is reported as well"), "{note}");
    assert_eq!(server_sites::note(&lake, &Selection::default()), None);
}

/// The same row under another spelling is not taken back: zeros would replace it on the server.
#[test]
fn a_site_that_is_spelled_otherwise_is_not_taken_back() {
    let kinds = [
        MessageKind::SummaryV02,
        MessageKind::NormalisedV04,
        MessageKind::Sync,
        MessageKind::JobV03,
        MessageKind::JobV04,
    ];
    for kind in kinds {
        let exporter = exporter(kind, &[]);
        let (before, after) = (Scene::new(), Scene::new());
        hand_over(&lake(&before, &[job("site-a", 1, 100)]), &exporter, "apel");
        let renamed = lake(&after, &[job("Site-A", 1, 100)]);
        carry_books(&before.path("lake"), &after.path("lake"));
        let sent = hand_over(&renamed, &exporter, "apel");
        let named: Vec<(&str, i64)> = sent.iter().map(|record| (record.site(), record.job_n())).collect();
        assert_eq!(named, [("Site-A", 1)], "{kind:?}");
        let entries = load(&renamed.store).unwrap();
        let respelled = entries
            .iter()
            .filter(|entry| entry.state == PublicationState::Respelled);
        assert_eq!(
            respelled.map(|entry| entry.place.site.as_str()).collect::<Vec<_>>(),
            ["site-a"]
        );
        assert_eq!(hand_over(&renamed, &exporter, "apel"), []);
    }
}

/// Of single jobs only those are taken back that are under no spelling any more, also when the other spelling was there
/// before, and when a job returns to the former one.
#[test]
fn jobs_under_another_spelling_are_not_taken_back() {
    let exporter = exporter(MessageKind::JobV04, &[]);
    let jobs = [
        vec![job("site-a", 1, 100), job("site-a", 2, 200), job("Site-A", 3, 300)],
        vec![job("Site-A", 1, 100), job("Site-A", 3, 300)],
        vec![job("site-a", 1, 100), job("Site-A", 3, 300)],
    ];
    let sent = [
        vec![("Site-A", 300), ("site-a", 100), ("site-a", 200)],
        vec![("Site-A", 100), ("Site-A", 300), ("site-a", 0)],
        vec![("Site-A", 300), ("site-a", 100)],
    ];
    let mut last: Option<Scene> = None;
    for (jobs, expected) in jobs.iter().zip(sent) {
        let scene = Scene::new();
        let lake = lake(&scene, jobs);
        if let Some(last) = &last {
            carry_books(&last.path("lake"), &scene.path("lake"));
        }
        let sent = hand_over(&lake, &exporter, "apel");
        let named = sent.iter().map(|record| (record.site(), record.wall_s().unwrap()));
        let mut named: Vec<(&str, i64)> = named.collect();
        named.sort_unstable();
        named.dedup();
        assert_eq!(named, expected);
        assert_eq!(hand_over(&lake, &exporter, "apel"), []);
        last = Some(scene);
    }
}

#[test]
fn reports_of_federations_note_sites_in_other_letters() {
    let scene = Scene::new();
    let lake = lake(
        &scene,
        &[job("Site-A", 1, 100), job("SITE-a", 2, 1000), job("Site-B", 3, 10)],
    );
    let groups = gather(&lake, &Selection::default()).unwrap().groups;
    let both = site_case::note(&groups).unwrap();
    assert!(both.contains(": SITE-a/Site-A: kept apart"), "{both}");
    let other: Vec<_> = groups.into_iter().filter(|group| group.site != "SITE-a").collect();
    assert_eq!(site_case::note(&other), None);
}
