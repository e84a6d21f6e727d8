//! What is gone from a lake is gone from its receivers: every form is sent twice, the second time with a file withdrawn, and
//! both publications are read by a receiver who replaces by key and deletes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::check::message;
use gridtally::report::apel::publish::ApelRequest;
use gridtally::report::apel::users::Users;
use gridtally::report::federation::{gather, site_vo_month, sums_by};
use gridtally::report::gracc;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::diff::{FieldChange, PublicationChange, diff, in_brief};
use gridtally::report::publication::exporter::Exporter;
use gridtally::report::publication::ledger::{self, PublicationPlace, PublicationState};
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::publication::outbox::{Outbox, OutboxLayout, OutboxListed, put_delete_list};
use gridtally::report::publication::plan::{PublicationPlan, plan};
use gridtally::report::publication::record_format::RecordFormat;
use gridtally::report::publication::send::List;
use gridtally::report::publication::terms::Terms;
use gridtally::report::render::{ndjson, objects};
use gridtally::report::work_scale::WorkScale;
use gridtally::store::Outgoing;

use super::scene::{Scene, send, texts};
use crate::support::forge::carry_books;

const MARCH_S: i64 = 1_740_787_200;
const NOW_MS: i64 = 1_780_000_000_000;

/// One job of a VO that ended so many hours into March 2025.
fn job(id: &str, vo: &str, hours: i64, wall_s: i64) -> String {
    let end = MARCH_S + hours * 3600;
    format!(
        "Site: REEF\nSubmitHost: ce1\nLocalJobId: {id}\nGlobalUserName: /CN=anna\nVO: {vo}\nWallDuration: {wall_s}\n\
         CpuDuration: {}\nProcessors: 4\nNodeCount: 1\nStartTime: {}\nEndTime: {end}\nInfrastructureType: grid\n\
         ServiceLevel: {{hepspec: 10.5, HEPscore23: 12}}\n%%\n",
        wall_s * 3,
        end - wall_s
    )
}

fn messages(jobs: &[String]) -> String {
    format!("APEL-individual-job-message: v0.4\n{}", jobs.concat())
}

/// What stays: two jobs of one VO in March, one in April. What is withdrawn: a job of the same group, one that was all of
/// its group, one that was all of its month.
fn scene(is_withdrawn: bool, other_wall_s: i64) -> (Scene, Lake) {
    let scene = Scene::new();
    let stays = [
        job("1", "reef", 5, 3600),
        job("2", "reef", 6, other_wall_s),
        job("3", "reef", 31 * 24 + 5, 60),
    ];
    scene.write("in/1.msg", &messages(&stays));
    if !is_withdrawn {
        let goes = [
            job("4", "reef", 7, 500),
            job("4a", "kelp", 8, 700),
            job("5", "kelp", 61 * 24 + 9, 900),
        ];
        scene.write("in/2.msg", &messages(&goes));
    }
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    (scene, lake)
}

/// Carries what a lake remembers of its publications over to another.
fn carry(from: &Scene, to: &Scene) {
    carry_books(&from.path("lake"), &to.path("lake"));
}

fn request(kind: MessageKind) -> ApelRequest {
    ApelRequest {
        kinds: vec![kind],
        users: Users::Keep,
        batch_records: 2,
        ..ApelRequest::default()
    }
}

/// Sends what differs into a spool; gives the plan.
fn hand_over(lake: &Lake, exporter: &Exporter, spool: &Path, now_ms: i64) -> PublicationPlan {
    hand_over_by(lake, exporter, spool, now_ms, &Terms::default(), &mut |_, _, _| Ok(()))
}

/// The same by other terms.
fn hand_over_by(
    lake: &Lake,
    exporter: &Exporter,
    spool: &Path,
    now_ms: i64,
    terms: &Terms,
    list: &mut List<'_>,
) -> PublicationPlan {
    let planned = plan(lake, exporter, "them", terms).unwrap();
    let mut outbox = Outbox::open(spool.to_str().unwrap(), OutboxLayout::Spool, now_ms, lake.store.url()).unwrap();
    send(
        lake,
        "them",
        &planned,
        now_ms,
        list,
        &mut |form, site, month, n, text| {
            if let RecordFormat::Apel(_) = form {
                assert_eq!(message(&text, None), [], "{text}");
            }
            outbox.put(form, site, month, n, text).map(drop)
        },
    )
    .unwrap();
    outbox.deliver().unwrap();
    planned
}

/// Jobs, wall and CPU milliseconds and HS23 work by VO and month; what is nothing is left out.
fn totals(lake: &Lake) -> BTreeMap<(String, String), [i128; 5]> {
    let usage = gather(lake, &Selection::default()).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, site_vo_month)
        .unwrap()
        .into_iter();
    sums.map(|((_, vo, month), sums)| {
        let all = [
            sums.job_n,
            sums.wall_ms,
            sums.cpu_ms,
            sums.wall_work_e9,
            sums.cpu_work_e9,
        ];
        ((vo, month.to_string()), all)
    })
    .filter(|(_, all)| *all != [0; 5])
    .collect()
}

/// The same without the number of jobs.
fn usage(totals: &BTreeMap<(String, String), [i128; 5]>) -> BTreeMap<(String, String), [i128; 4]> {
    let kept = totals.iter().map(|(key, [_, rest @ ..])| (key.clone(), *rest));
    kept.filter(|(_, rest)| *rest != [0; 4]).collect()
}

#[test]
fn whoever_takes_all_messages_of_a_kind_holds_what_the_lake_states() {
    for kind in MessageKind::ALL {
        let exporter = Exporter::Apel(request(kind));
        let (first_scene, first) = scene(false, 1800);
        let (second_scene, second) = scene(true, 1900);
        let spool = first_scene.path("spool");
        hand_over(&first, &exporter, &spool, NOW_MS);
        carry(&first_scene, &second_scene);
        let planned = hand_over(&second, &exporter, &spool, NOW_MS + 1000);
        let word = kind.as_str();
        let read = second_scene.lake(
            "back",
            &format!("format = \"apel\"\npaths = [{spool:?}]\nacceptance = \"strict-apel\"\nsummaries = \"upsert\"\n"),
            "",
        );
        if kind == MessageKind::Sync {
            let counted = |lake: &Lake| -> i64 {
                let rows = lake.summaries(&Selection::default()).unwrap();
                rows.iter().filter_map(|row| row.numbers.sync_job_n).sum()
            };
            assert_eq!(counted(&read), 3);
            assert_eq!(planned.vanished.values().flatten().count(), 1);
        } else {
            let (theirs, ours) = (totals(&read), totals(&second));
            assert_eq!(usage(&theirs), usage(&ours), "{word}");
            if kind.is_job() {
                // APEL's server counts records: a job without usage is one.
                let jobs = |totals: &BTreeMap<_, [i128; 5]>| totals.values().map(|all| all[0]).sum::<i128>();
                assert_eq!(jobs(&theirs), jobs(&ours) + 3, "{word}");
            } else {
                assert_eq!(theirs, ours, "{word}");
            }
        }
        // All of it was sent, and is recorded as sent.
        assert_eq!(
            plan(&second, &exporter, "them", &Terms::default()).unwrap().changes,
            [],
            "{word}"
        );
        let verdict = gridtally::audit::verify::verify(second_scene.path("lake").to_str().unwrap()).unwrap();
        assert!(verdict.is_sound(), "{}", verdict.text());
    }
}

/// Every job that is gone, new or different is named by its key, and its retraction has all fields of the server's sums.
#[test]
fn jobs_that_are_gone_are_named_and_taken_back_one_by_one() {
    let exporter = Exporter::Apel(request(MessageKind::JobV04));
    let (first_scene, first) = scene(false, 1800);
    let (second_scene, second) = scene(true, 1900);
    let planned = hand_over(&first, &exporter, &first_scene.path("spool"), NOW_MS);
    let words: BTreeSet<&str> = planned.changes.iter().map(PublicationChange::as_str).collect();
    assert_eq!(
        (words, planned.changes.len()),
        (BTreeSet::from(["added"]), 3),
        "counted by month"
    );
    carry(&first_scene, &second_scene);
    let planned = hand_over(&second, &exporter, &second_scene.path("spool"), NOW_MS + 1000);
    let named: Vec<(&str, &str, i64)> = (planned.changes.iter())
        .map(|change| {
            let reported = change.record();
            (
                change.as_str(),
                reported.word("LocalJobId").unwrap(),
                reported.wall_s().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        named,
        [
            ("changed", "2", 1900),
            ("vanished", "4", 500),
            ("vanished", "4a", 700),
            ("vanished", "5", 900)
        ]
    );
    let fields = planned.changes[0].fields();
    let changed = FieldChange {
        field: "WallDuration".to_owned(),
        before: "1800".to_owned(),
        after: "1900".to_owned(),
    };
    assert!(fields.contains(&changed), "{fields:?}");
    let sent: Vec<MessageRecord> = spooled(&second_scene.path("spool"));
    let of = |id: &str| {
        sent.iter()
            .filter(|reported| reported.word("LocalJobId") == Some(id))
            .collect::<Vec<_>>()
    };
    for (id, vo) in [("4", "reef"), ("4a", "kelp"), ("5", "kelp")] {
        let [taken_back] = of(id)[..] else { panic!("{id}") };
        assert_eq!(
            (taken_back.wall_s(), taken_back.cpu_s(), taken_back.vo()),
            (Some(0), Some(0), vo)
        );
        // In another group the server would keep what the old one came to.
        assert_eq!(taken_back.word("ServiceLevel"), Some("{HEPscore23: 12}"));
        assert_eq!(
            (taken_back.number("Processors"), taken_back.word("SubmitHost")),
            (Some(4), Some("ce1"))
        );
    }
    // Months that did not change are not sent again, those that did are sent whole.
    assert_eq!((of("1").len(), of("3").len()), (1, 0));
    // A job that comes back is new again, and is sent as it is.
    carry(&second_scene, &first_scene);
    let planned = plan(&first, &exporter, "them", &Terms::default()).unwrap();
    let named: Vec<&str> = planned.changes.iter().map(PublicationChange::as_str).collect();
    assert_eq!(named.iter().filter(|word| **word == "added").count(), 3, "{named:?}");
    hand_over(&first, &exporter, &second_scene.path("spool"), NOW_MS + 2000);
    let back = second_scene.of_messages("back", &[&first_scene.path("spool"), &second_scene.path("spool")]);
    assert_eq!(totals(&back), totals(&first));
}

fn spooled(spool: &Path) -> Vec<MessageRecord> {
    let mut reported = Vec::new();
    for file in gridtally::report::publication::messages::texts(spool).unwrap() {
        let text = file.text;
        reported.extend(MessageRecord::read(&text).unwrap());
    }
    reported
}

/// For a receiver whose people delete: nothing is sent in place of what is gone, and the list names it all.
#[test]
fn a_delete_list_names_what_is_gone_in_place_of_zeros() {
    for kind in MessageKind::ALL {
        let exporter = Exporter::Apel(request(kind));
        let (first_scene, first) = scene(false, 1800);
        let (second_scene, second) = scene(true, 1800);
        let spool = first_scene.path("spool");
        hand_over(&first, &exporter, &spool, NOW_MS);
        carry(&first_scene, &second_scene);
        let lists = second_scene.path("lists");
        let mut outgoing = Outgoing::open(lists.to_str().unwrap()).unwrap();
        let mut list = |place: &PublicationPlace, listed: OutboxListed, gone: &[MessageRecord]| {
            if listed == OutboxListed::SuperSummaries {
                return Ok(());
            }
            put_delete_list(&mut outgoing, place, listed, NOW_MS + 1000, gone).map(drop)
        };
        let terms = Terms {
            is_listing: true,
            ..Terms::default()
        };
        hand_over_by(&second, &exporter, &spool, NOW_MS + 1000, &terms, &mut list);
        outgoing.deliver().unwrap();
        let mut held: BTreeMap<_, MessageRecord> = BTreeMap::new();
        for reported in spooled(&spool) {
            assert!(reported.job_n() > 0 && reported.wall_s() != Some(0), "{reported:?}");
            held.insert(reported.key(), reported);
        }
        // What people do with the lists.
        let mut listed = 0;
        for text in texts(&lists) {
            let mut rows = csv::Reader::from_reader(text.as_bytes());
            for row in rows.deserialize::<BTreeMap<String, String>>() {
                let fields = row.unwrap().into_iter().filter(|(_, value)| !value.is_empty());
                let key = MessageRecord {
                    form: kind.into(),
                    fields: fields.collect(),
                }
                .key();
                assert!(held.remove(&key).is_some(), "{key:?} is not there");
                listed += 1;
            }
        }
        let expected = match kind {
            MessageKind::Sync => 1,
            MessageKind::JobV03 | MessageKind::JobV04 => 3,
            _ => 2,
        };
        assert_eq!(listed, expected, "{}", kind.as_str());
        let jobs: i64 = held.values().map(MessageRecord::job_n).sum();
        assert_eq!(jobs, 3, "{}", kind.as_str());
        let states: Vec<PublicationState> = (ledger::load(&second.store).unwrap().iter())
            .filter(|entry| entry.published_ms > NOW_MS)
            .map(|entry| entry.state)
            .collect();
        assert!(
            states.contains(&PublicationState::Listed) && !states.contains(&PublicationState::Retracted),
            "{states:?}"
        );
        assert_eq!(plan(&second, &exporter, "them", &Terms::default()).unwrap().changes, []);
    }
}

/// GRACC replaces documents by their keys: removed ones are sent with zeros.
#[test]
fn documents_of_gracc_are_taken_back() {
    let raw = |id: &str, vo: &str, wall: i64| {
        format!(
            "{{\"_index\":\"i\",\"_id\":\"{id}\",\"_source\":{{\"type\":\"JobUsageRecord\",\"RecordId\":\"{id}\",\"ResourceType\":\"Batch\",\
             \"SiteName\":\"REEF\",\"ProbeName\":\"slurm:ce1\",\"Grid\":\"OSG\",\"VOName\":\"{vo}\",\"ReportableVOName\":\"{vo}\",\
             \"LocalUserId\":\"u\",\"LocalJobId\":\"{id}\",\"StartTime\":\"2025-03-01T01:00:00Z\",\"EndTime\":\"2025-03-01T05:00:00Z\",\
             \"WallDuration\":{wall},\"CpuDuration\":{wall},\"CpuDuration_user\":{wall},\"CpuDuration_system\":0,\"Processors\":2,\
             \"Njobs\":1,\"@received\":\"2025-03-02T00:00:00Z\",\"@timestamp\":\"2025-03-01T05:00:00Z\"}}}}\n"
        )
    };
    let of = |lines: &str| {
        let scene = Scene::new();
        scene.write("in/raw.ndjson", lines);
        let input = scene.path("in/raw.ndjson");
        let lake = scene.lake("lake", &format!("format = \"gracc\"\npaths = [{input:?}]\n"), "");
        (scene, lake)
    };
    let (first_scene, first) = of(&(raw("a", "reef", 100) + &raw("b", "kelp", 70)));
    let (second_scene, second) = of(&raw("a", "reef", 110));
    let exporter = Exporter::Gracc {
        selection: Selection::default(),
        users: Users::Keep,
    };
    let mut received: BTreeMap<String, String> = BTreeMap::new();
    let mut all = String::new();
    // Files of documents compare as files of messages do.
    let file =
        |lake: &Lake| ndjson(&objects(&gracc::table(lake, &Selection::default(), &Users::Keep).unwrap().0).unwrap());
    let [before, after] = [&first, &second].map(|lake| MessageRecord::read_file(&file(lake)).unwrap());
    let broken = MessageRecord::read_file("{\"EndTime\": 1}\n").unwrap_err().to_string();
    assert!(
        broken.contains("is not exactly one summary document") && broken.contains("line 1"),
        "{broken}"
    );
    let changes = diff(&before, &after);
    let words: Vec<&str> = changes.iter().map(PublicationChange::as_str).collect();
    assert_eq!(words, ["vanished", "changed"]);
    assert!(
        in_brief(&changes).starts_with("1 changed, 1 vanished; CoreHours in 1, "),
        "{}",
        in_brief(&changes)
    );
    for (lake, now_ms) in [(&first, NOW_MS), (&second, NOW_MS + 1000)] {
        let planned = plan(lake, &exporter, "gracc", &Terms::default()).unwrap();
        send(
            lake,
            "gracc",
            &planned,
            now_ms,
            &mut |_, _, _| Ok(()),
            &mut |form, _, _, _, text| {
                assert_eq!(form, RecordFormat::Gracc);
                for line in text.lines() {
                    let fields = gracc::fields_of(line);
                    let key: Vec<&String> = gracc::KEYS.iter().map(|key| &fields[*key]).collect();
                    received.insert(format!("{key:?}"), line.to_owned());
                    let _ = writeln!(
                        all,
                        "{{\"_index\":\"gracc.osg.summary4-2025\",\"_type\":\"_doc\",\"_id\":\"1\",\"_source\":{line}}}"
                    );
                }
                Ok(())
            },
        )
        .unwrap();
        if now_ms == NOW_MS {
            carry(&first_scene, &second_scene);
        } else {
            let words: Vec<&str> = planned.changes.iter().map(PublicationChange::as_str).collect();
            assert_eq!(words, ["vanished", "changed"]);
        }
    }
    let sum = |key: &str| -> f64 {
        let numbers = received
            .values()
            .map(|line| gracc::fields_of(line)[key].parse::<f64>().unwrap());
        numbers.sum()
    };
    assert_eq!(received.len(), 2);
    assert_eq!(
        [sum("WallDuration"), sum("Njobs"), sum("Count")].map(|sum| format!("{sum}")),
        ["110", "1", "1"]
    );
    assert_eq!(
        plan(&second, &exporter, "gracc", &Terms::default()).unwrap().changes,
        []
    );
    // Our own reader, in the order in which they came.
    second_scene.write("docs/summary.ndjson", &all);
    let docs = second_scene.path("docs/summary.ndjson");
    let back = second_scene.lake(
        "back",
        &format!("format = \"gracc\"\npaths = [{docs:?}]\nsummaries = \"upsert\"\n"),
        "",
    );
    let only = |totals: BTreeMap<(String, String), [i128; 5]>| -> Vec<((String, String), [i128; 3])> {
        totals
            .into_iter()
            .map(|(key, [jobs, wall, cpu, ..])| (key, [jobs, wall, cpu]))
            .collect()
    };
    assert_eq!(only(totals(&back)), only(totals(&second)));
}
