//! The ledger of publications: changes, retractions, locks.

use std::collections::BTreeMap;

use gridtally::error::Kind;
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::ApelRequest;
use gridtally::report::apel::users::Users;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::diff::{FieldChange, PublicationChange, apply, by_key, diff, in_brief};
use gridtally::report::publication::exporter::Exporter;
use gridtally::report::publication::ledger::{held, load};
use gridtally::report::publication::lock::{LockEvent, append};
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::publication::plan::{PublicationPlan, plan};
use gridtally::report::publication::terms::Terms;
use gridtally::store::BookLock;
use gridtally::time::DaySpan;

use super::scene::{Scene, send};
use crate::support::collect::shared;
use crate::support::forge::carry_books;

fn versions(test: &str) -> Option<Vec<Vec<MessageRecord>>> {
    let folder = shared(test, "data/apel/real-2015")?;
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let of_may = files
        .iter()
        .filter(|path| path.to_string_lossy().contains("send_05_2015"));
    let texts = of_may.map(|path| std::fs::read_to_string(path).unwrap());
    Some(texts.map(|text| MessageRecord::read(&text).unwrap()).collect())
}

/// The six versions of May 2015: the changes from each to the next are all there are, and no more than there are.
#[test]
fn what_changed_between_versions_of_a_month_is_named_exactly() {
    let Some(versions) = versions("what_changed_between_versions_of_a_month_is_named_exactly") else {
        return;
    };
    assert_eq!(versions.len(), 6);
    let mut counts = Vec::new();
    for pair in versions.windows(2) {
        let [before, after] = pair else { panic!() };
        let changes = diff(before, after);
        let sorted =
            |reported: &[MessageRecord]| -> Vec<MessageRecord> { by_key(reported).into_values().cloned().collect() };
        assert_eq!(apply(before, &changes), sorted(after));
        let mut fields: BTreeMap<String, usize> = BTreeMap::new();
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        for change in &changes {
            *words.entry(change.as_str()).or_default() += 1;
            if let PublicationChange::Changed { before, after } = change {
                assert_ne!(before, after);
                assert_eq!(before.key(), after.key());
            }
            for FieldChange { field, before, after } in change.fields() {
                assert_ne!(before, after);
                *fields.entry(field).or_default() += 1;
            }
        }
        counts.push((words, fields));
    }
    let jobs: Vec<i64> = versions
        .iter()
        .map(|reported| reported.iter().map(MessageRecord::job_n).sum())
        .collect();
    // Empty DNs kept, wall time no longer times cores, VO case folded: the amendments its publisher wrote down.
    assert_eq!(jobs.first(), Some(&9_964_970));
    assert_eq!(jobs.last(), Some(&10_890_306));
    assert!(versions.iter().flatten().all(|reported| reported.month().is_some()));
    // From the first to the second, the impossible ends were mended in every record that stayed.
    let (words, fields) = &counts[0];
    assert_eq!(fields.get("LatestEndTime"), words.get("changed"), "{counts:?}");
    let [before, after, ..] = versions.as_slice() else {
        panic!()
    };
    let reported = in_brief(&diff(before, after));
    assert!(
        reported.contains(&format!("{} changed", words["changed"])),
        "{reported}"
    );
    assert!(
        reported.contains(&format!("LatestEndTime in {}", fields["LatestEndTime"])),
        "{reported}"
    );
    // Wall time lost its cores in one step: there only durations changed.
    let durations_only = counts.iter().any(|(_, fields)| {
        fields.get("WallDuration").is_some_and(|n| *n > 30) && !fields.contains_key("NumberOfJobs")
            || fields.get("WallDuration") > fields.get("CpuDuration")
    });
    assert!(durations_only, "{counts:?}");
}

fn summary(vo: &str, jobs: i64) -> String {
    format!(
        "APEL-summary-job-message: v0.2\nSite: S\nMonth: 3\nYear: 2025\nVO: {vo}\nSubmitHost: ce1\nInfrastructureType: grid\n\
         NodeCount: 1\nProcessors: 8\nWallDuration: 3600\nCpuDuration: 7200\nNumberOfJobs: {jobs}\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
    )
}

fn exporter(selection: Selection) -> Exporter {
    Exporter::Apel(ApelRequest {
        selection,
        kinds: vec![MessageKind::SummaryV02],
        users: Users::Keep,
        batch_records: 10,
        ..ApelRequest::default()
    })
}

fn everything() -> Exporter {
    exporter(Selection::default())
}

fn planned(lake: &Lake, exporter: &Exporter, receiver: &str) -> PublicationPlan {
    plan(lake, exporter, receiver, &Terms::default()).unwrap()
}

/// Sends to `apel`; the texts handed over.
fn hand_over(lake: &Lake, now_ms: i64) -> gridtally::error::Result<Vec<String>> {
    let mut texts = Vec::new();
    let planned = planned(lake, &everything(), "apel");
    send(
        lake,
        "apel",
        &planned,
        now_ms,
        &mut |_, _, _| Ok(()),
        &mut |_, _, _, _, text| {
            texts.push(text);
            Ok(())
        },
    )?;
    Ok(texts)
}

#[test]
fn only_what_differs_is_sent_and_what_is_gone_is_taken_back() {
    let scene = Scene::new();
    scene.write("in/1.msg", &(summary("reef", 5) + &summary("kelp", 7)));
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    assert_eq!(hand_over(&lake, 1_000).unwrap().len(), 1);
    // Nothing new: nothing is sent, and nothing is entered.
    assert_eq!(hand_over(&lake, 2_000).unwrap(), Vec::<String>::new());
    assert_eq!(load(&lake.store).unwrap().len(), 2);
    // The month is published again, with one VO less and another number.
    let again = Scene::new();
    again.write("in/1.msg", &summary("reef", 6));
    let other = again.of_messages("lake", &[&again.path("in")]);
    carry_books(&scene.path("lake"), &again.path("lake"));
    let changes = planned(&other, &everything(), "apel").changes;
    let words: Vec<&str> = changes.iter().map(PublicationChange::as_str).collect();
    assert_eq!(words, ["vanished", "changed"]);
    assert_eq!(
        changes[1].fields(),
        [FieldChange {
            field: "NumberOfJobs".to_owned(),
            before: "5".to_owned(),
            after: "6".to_owned(),
        }]
    );
    let lock = |is_locked: bool, at_ms: i64| {
        let event = LockEvent {
            at_ms,
            site: None,
            month: "2025-03".parse().unwrap(),
            is_locked,
            reason: "reported to the board".to_owned(),
            author: "E. Office".to_owned(),
        };
        append(
            &BookLock::take(&other.store, std::time::Duration::ZERO).unwrap(),
            &event,
        )
        .unwrap();
    };
    lock(true, 1);
    let error = hand_over(&other, 3_000).unwrap_err();
    assert_eq!(error.kind(), Kind::Data);
    assert!(
        error.to_string().contains("locked by E. Office: reported to the board"),
        "{error}"
    );
    std::thread::sleep(std::time::Duration::from_millis(2));
    lock(false, 2);
    let texts = hand_over(&other, 3_000).unwrap();
    assert_eq!(texts.len(), 2);
    assert!(texts[0].contains("VO: reef\n") && !texts[0].contains("kelp"));
    let kelp = MessageRecord::read(&texts[1]).unwrap();
    assert_eq!((kelp.len(), kelp[0].vo(), kelp[0].job_n()), (1, "kelp", 0));
    assert_eq!(gridtally::report::apel::check::message(&texts[1], None), []);
    // A receiver of all messages in their order holds the content of the lake, and nothing twice.
    let entries = load(&other.store).unwrap();
    let of = held(&entries, "apel");
    let live: i64 = of
        .values()
        .flatten()
        .filter_map(|entry| entry.record.number("NumberOfJobs"))
        .sum();
    assert_eq!(live, 6);
    assert_eq!(planned(&other, &everything(), "apel").changes, []);
    // Another receiver has nothing yet; months and sites that are not requested stay.
    assert_eq!(planned(&other, &everything(), "egi").changes.len(), 1);
    let elsewhere = exporter(Selection {
        days: DaySpan::of_months(Some("2025-04".parse().unwrap()), None),
        ..Selection::default()
    });
    assert_eq!(planned(&other, &elsewhere, "apel").changes, []);
    // The lake is sound with its ledger in it.
    let verdict = gridtally::audit::verify::verify(again.path("lake").to_str().unwrap()).unwrap();
    assert!(verdict.is_sound(), "{}", verdict.text());
}

#[test]
fn a_record_under_another_key_has_moved() {
    let before = MessageRecord::read(&(summary("reef", 5) + &summary("kelp", 7))).unwrap();
    let after = MessageRecord::read(&(summary("reef", 5).replace("ce1", "ce2") + &summary("KELP", 7))).unwrap();
    let changes = diff(&before, &after);
    let reported: Vec<_> = changes
        .iter()
        .map(|change| (change.as_str(), change.fields()))
        .collect();
    let field = |field: &str, before: &str, after: &str| {
        vec![FieldChange {
            field: field.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
        }]
    };
    assert_eq!(
        reported,
        [
            ("changed", field("VO", "kelp", "KELP")),
            ("moved", field("SubmitHost", "ce1", "ce2")),
        ]
    );
    assert_eq!(apply(&before, &changes).len(), 2);
}

/// Part of a publication, behind a header in the middle of its file, does not stand for a month.
#[test]
fn a_file_without_its_first_line_is_no_publication() {
    let scene = Scene::new();
    scene.write("in/1.msg", &(summary("reef", 5) + &summary("kelp", 7)));
    let (_, rest) = summary("reef", 6)
        .split_once('\n')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    scene.write("in/2.msg", &(rest + &summary("kelp", 8)));
    let folder = scene.path("in");
    scene.write(
        "lake.toml",
        &format!(
            "[pipeline]\nname = \"p\"\noutput = \"lake\"\nmax_rejected = 1.0\nmax_unread = 1.0\nattribution = \"by-end\"\noverlap = \"jobs\"\n\
             [[source]]\nname = \"s\"\nformat = \"apel\"\npaths = [{folder:?}]\nacceptance = \"salvage\"\nsummaries = \"snapshot\"\npublication = \"source\"\n"
        ),
    );
    let lake = scene.run("lake");
    let rows = lake.summaries(&Selection::default()).unwrap();
    let jobs: i64 = rows.iter().filter_map(|row| row.numbers.job_n).sum();
    assert_eq!(jobs, 12);
}
