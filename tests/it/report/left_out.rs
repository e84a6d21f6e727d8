//! What messages for APEL leave out: nothing is written where it is an error.

use std::process::Command;

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
