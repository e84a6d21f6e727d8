//! Corrections in reports for billing.

use super::money::{assert_focus, charged, e9, gridtally, rows, stdout};
use crate::support::python::python;

/// Corrections are separate rows next to the earlier report and marked as such; together they are the amount owed.
#[test]
fn corrections_are_reported_as_corrections() {
    let scene = charged("month");
    let text = std::fs::read_to_string(scene.path("lake.toml")).unwrap();
    let with = text.replacen(
        "output = \"lake\"",
        "output = \"lake\"\ncorrections = \"corrections.csv\"",
        1,
    );
    assert_ne!(text, with);
    scene.write("lake.toml", &with);
    scene.write(
        "corrections.csv",
        "id,action,site,month,vo,account,job_id,to_vo,to_account,job_n,wall_s,alloc_core_s,cpu_ms,undoes,author,reason,date\n\
         C1,void,ALP-T2,2026-03,firn,,,,,,,,,,E. Office,ran on a broken node,2026-04-02\n\
         C2,add,ALP-T2,2026-02,firn,a,,,,12,3600,28800,1000,,E. Office,log lost,2026-04-03\n",
    );
    scene.run("lake");
    let output = gridtally(
        &scene,
        &["report", "focus", "lake", "--policy", "dollars", "--leave-out"],
    );
    let (header, reported) = rows(&stdout(&output));
    assert_focus(&header, &reported);
    let sum = |id: &str| -> i128 {
        let own = reported.iter().filter(|row| row["x_CorrectionId"] == id);
        own.map(|row| e9(&row["BilledCost"])).sum()
    };
    assert!(sum("C1") < 0 && sum("C2") == 240_000_000, "{} {}", sum("C1"), sum("C2"));
    let taken = reported
        .iter()
        .filter(|row| row["x_CorrectionId"] == "C1")
        .collect::<Vec<_>>();
    assert!(
        taken
            .iter()
            .all(|row| row["ChargeDescription"].starts_with("Correction C1: ")),
        "{taken:?}"
    );
    let lake = python(
        "import duckdb, sys\n\
         print(*duckdb.sql(f\"SELECT coalesce(correction_id, ''), sum(charge) FROM read_parquet('{sys.argv[1]}/charges/**/*.parquet') \
         WHERE policy = 'dollars' AND view = 'batch' GROUP BY 1 ORDER BY 1\").fetchall(), sep='\\n')",
        &[scene.path("lake").to_str().unwrap()],
    );
    for id in ["", "C1", "C2"] {
        let line = lake
            .lines()
            .find(|line| line.starts_with(&format!("('{id}',")))
            .unwrap();
        let number = line.split('\'').nth(3).unwrap();
        assert_eq!(e9(number), sum(id), "{id}: {lake}");
    }
}
