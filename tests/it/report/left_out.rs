//! What messages for APEL leave out: all kinds leave out the same jobs, and nothing is written where it is an error.

use std::process::Command;

use gridtally::privacy::{Privacy, PrivacyAction, PrivacyKey, Pseudonyms, Rotation};
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::{ApelRequest, publish};
use gridtally::report::apel::users::Users;
use gridtally::time::Month;

use super::scene::Scene;

/// Two jobs, of which one ends in another year.
fn scene(year_of_second: u32) -> Scene {
    let scene = Scene::new();
    let record = |id: u32, end_s: i64| {
        format!(
            "Site: S\nSubmitHost: ce\nMachineName: m\nQueue: q\nLocalJobId: {id}\nVO: reef\nWallDuration: 3600\n\
             CpuDuration: 3600\nProcessors: 1\nNodeCount: 1\nStartTime: {}\nEndTime: {end_s}\nInfrastructureType: grid\n\
             ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n",
            end_s - 3600
        )
    };
    let second = i64::from(year_of_second - 1970) * 31_556_952;
    let rows = [record(1, 1_739_617_200), record(2, second)];
    scene.write(
        "in/1.msg",
        &format!("APEL-individual-job-message: v0.3\n{}", rows.concat()),
    );
    scene
}

/// The server refuses a job that ends in the future: a sync record that counted it would never agree.
#[test]
fn jobs_of_the_future_are_in_no_kind_of_message() {
    let scene = scene(2030);
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    for (now_s, expected) in [(1_800_000_000, 1), (1_956_528_000, 2)] {
        for kind in MessageKind::ALL {
            let request = ApelRequest {
                kinds: vec![kind],
                batch_records: 100,
                is_leaving_out: true,
                now_s: Some(now_s),
                ..ApelRequest::default()
            };
            let published = publish(&lake, &request, &mut |_, _, _, _, _| Ok(())).unwrap();
            let job_n: i64 = published.sent.values().map(|sent| sent.job_n).sum();
            assert_eq!(job_n, expected, "{kind:?}");
            let lines = published.left_out_lines();
            assert_eq!(
                lines.iter().any(|line| line.contains("refused (future)")),
                expected == 1,
                "{kind:?}: {lines:?}"
            );
        }
    }
}

/// A subject that was withheld before is nobody, and gets no pseudonym.
#[test]
fn a_withheld_subject_is_no_person() {
    let privacy = Privacy {
        actions: [PrivacyAction::Pseudonym; 4],
        pseudonyms: Some(Pseudonyms {
            key: PrivacyKey::new(&[7; 32]).unwrap(),
            rotation: Rotation::Year,
            replaces: None,
        }),
    };
    let users = Users::Pseudonym(Box::new(privacy));
    let month = Month::of_ms(0).unwrap();
    assert_eq!(users.subject(Some("withheld"), "S", month).as_deref(), Some("withheld"));
    let of_person = users.subject(Some("/CN=pat"), "S", month);
    assert!(of_person.is_some_and(|name| name.starts_with("1970:")));
    // A local user may have any name.
    assert_ne!(users.local(Some("withheld"), "S", month).as_deref(), Some("withheld"));
}

/// Without `--leave-out` such a job is an error, and no message is written: neither of this kind nor of others.
#[test]
fn an_export_that_fails_writes_nothing() {
    let scene = scene(2090);
    scene.of_messages("lake", &[&scene.path("in")]);
    let run = |more: &[&str]| {
        let words = [
            "report",
            "apel",
            "lake",
            "--message",
            "job-v0.3",
            "--message",
            "sync",
            "--batch",
            "1",
        ];
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .current_dir(scene.path(""))
            .args(words)
            .args(more)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&[]), (Some(65), String::new()));
    let (code, written) = run(&["--leave-out"]);
    assert_eq!((code, written.matches("APEL-").count()), (Some(0), 2), "{written}");
}
