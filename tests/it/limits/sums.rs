//! Numbers that no job has are refused one by one; sums that do not fit are told, never cut.

use super::{DUMPS, HEADER, Scene, pipeline, row};

/// As much CPU time as a job may have: 10^12 s.
const MOST: &str = "11574074-01:46:40";

fn source() -> String {
    format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}")
}

/// A job of ten times as much was taken, and some ninety of a hundred times as much made the sum of their group wrong.
#[test]
fn more_cpu_time_than_any_job_has_is_refused() {
    let scene = Scene::new();
    let rows: String = [(1, MOST), (2, "115740740-01:46:40"), (3, "00:10:00")]
        .map(|(id, cpu)| row(id, &[("TotalCPU", cpu)]))
        .concat();
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    let report = scene.run(&pipeline(&source(), ""));
    let refused = &report.refused[0];
    assert_eq!((refused.rows_read_n, refused.rejected_n), (3, 1), "{}", report.text());
    let first = refused.reasons[0].first.as_ref().unwrap();
    assert_eq!(first.line, 3, "{}", report.text());
}

/// The sum stood still at 2^63 - 1, and the run ended well.
#[test]
fn a_sum_that_does_not_fit_names_its_group() {
    let scene = Scene::new();
    let rows: String = (0..9_300).map(|id| row(id, &[("TotalCPU", MOST)])).collect();
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    let why = scene.try_run(&pipeline(&source(), "")).unwrap_err().to_string();
    assert!(why.contains("the sum of cpu_ms does not fit"), "{why}");
    assert!(
        why.contains("2026-10") && why.contains("account \"a\"") && why.contains('S'),
        "{why}"
    );
}
