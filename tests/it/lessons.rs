//! The outcome of each anomaly that `sample-data/README.md` documents, queried from the lake.

use crate::support::python::python;
use crate::support::sample::lake;

/// Runs each query; one line of answer each.
const ASK: &str = r#"
import sys
import duckdb
lake, *queries = sys.argv[1:]
for dataset, files in dict(records="**/*", ledger="ledger", rejects="**/*").items():
    duckdb.sql(f"CREATE VIEW {dataset} AS FROM read_parquet('{lake}/{dataset}/{files}.parquet', hive_partitioning = true)")
duckdb.sql("CREATE MACRO slurm(number) AS TABLE SELECT * FROM records WHERE source = 'alp-slurm' AND raw_job_id = number::VARCHAR")
duckdb.sql("CREATE MACRO grid(id) AS TABLE SELECT * FROM records WHERE source <> 'alp-slurm' AND job_id = id")
for query in queries:
    rows = duckdb.sql(query).fetchall()
    print("; ".join(", ".join("NULL" if cell is None else str(cell) for cell in row) for row in rows).replace("\n", "\\n"))
"#;

/// Question and answer.
const LESSONS: &[(&str, &str)] = &[
    ("SELECT count(*) FROM slurm(900001)", "1"),
    (
        "SELECT wall_s, start_utc, end_utc FROM slurm(900003)",
        "10800, 2026-03-28 23:30:00, 2026-03-29 02:30:00",
    ),
    (
        "SELECT wall_s, suspended_s, alloc_gpu_n FROM slurm(900004)",
        "16200, 5400, 2",
    ),
    (
        "SELECT state, wall_s FROM slurm(900010) ORDER BY start_utc",
        "REQUEUED, 7200; NODE_FAIL, 1234; COMPLETED, 14400",
    ),
    (
        "SELECT state, start_utc, wall_s FROM slurm(900011)",
        "CANCELLED, NULL, 0",
    ),
    ("SELECT state, wall_s FROM slurm(900012)", "CANCELLED, 5000"),
    ("SELECT cpu_ms, is_cpu_unknown FROM slurm(900013)", "NULL, True"),
    (
        "SELECT job_id FROM records WHERE raw_job_id BETWEEN '900020' AND '900023' AND site = 'ALP-T2' ORDER BY 1",
        "900020_1; 900020_2; 900022+0; 900022+1",
    ),
    (
        "SELECT job_name, is_reassembled FROM slurm(900030)",
        "fit|stage 2|final, True",
    ),
    (
        "SELECT job_name, is_reassembled FROM slurm(900031)",
        "first line\\nsecond line, True",
    ),
    (
        "SELECT job_name, user, vo FROM slurm(900032)",
        "Gletscher-Säule ❄ 氷河, jürg, Schnee & Eis",
    ),
    ("SELECT job_name FROM slurm(900033)", " leading, 'quoted' and `ticked` "),
    (
        "SELECT account, vo, is_vo_unmapped FROM slurm(900034)",
        "wanderer, NULL, True",
    ),
    (
        "SELECT alloc_gpu_n FROM records WHERE raw_job_id IN ('900040', '900041', '900042') ORDER BY raw_job_id",
        "3; 3; 4",
    ),
    ("SELECT alloc_memory_byte FROM slurm(900043)", "13194139533312"),
    (
        "SELECT state, end_utc IS NOT NULL FROM slurm(900050)",
        "COMPLETED, True",
    ),
    (
        "SELECT state, end_utc, wall_s FROM slurm(900051)",
        "RUNNING, NULL, 241740",
    ),
    (
        "SELECT count(*) FROM records WHERE raw_job_id IN ('900052', '900060', '900061')",
        "0",
    ),
    (
        "SELECT alloc_core_n IS NULL OR alloc_core_n = 0, is_core_unknown FROM records \
         WHERE job_id IN ('690001.0', '690002.0', '7900002')",
        "True, True; True, True; True, True",
    ),
    ("SELECT vo, is_vo_unmapped FROM grid('690003.0')", "NULL, True"),
    ("SELECT is_cpu_above_core_wall FROM grid('690005.0')", "True"),
    (
        "SELECT global_user FROM grid('690006.0')",
        "/DC=example/OU=People/CN=Zoë Erfunden-Müller",
    ),
    ("SELECT cpu_ms FROM grid('640001.0')", "370111000"),
    ("SELECT alloc_core_n, is_core_assumed FROM grid('7900001')", "1, True"),
    ("SELECT count(*) FROM grid('7004005')", "1"),
    (
        "SELECT reason, sum(row_n) FROM rejects GROUP BY ALL ORDER BY ALL",
        "bad_duration, 1; bad_json, 1; field_count, 1; message_refused, 2; truncated, 1",
    ),
    (
        "SELECT reason, sum(row_n) FROM ledger WHERE outcome = 'rejected' GROUP BY ALL ORDER BY ALL",
        "bad_duration, 1; bad_json, 1; field_count, 1; message_refused, 2; truncated, 1",
    ),
    (
        "SELECT reason, sum(row_n) FROM ledger WHERE outcome = 'out_of_scope' GROUP BY ALL ORDER BY ALL",
        "jobs_count, 1; not_started, 3; other_record_type, 1; tool_message, 2",
    ),
    (
        "SELECT source, sum(row_n) FROM ledger WHERE outcome = 'superseded' AND source <> 'alp-slurm' GROUP BY ALL",
        "bay-apel, 3",
    ),
    (
        "SELECT source, reason, sum(row_n) FROM ledger WHERE outcome = 'duplicate' AND source <> 'alp-slurm' \
         GROUP BY ALL ORDER BY ALL",
        "bay-apel, same_file, 40; bay-gracc, same_content, 1",
    ),
    // Every accepted row is a record or one of its steps.
    (
        "SELECT (SELECT sum(row_n) FROM ledger WHERE outcome = 'accepted' AND reason <> 'inventory') - (SELECT count(*) + sum(step_n) FROM records)",
        "0",
    ),
    // Rows of the dumps: 1779 of sacct, 253 of APEL, 126 of GRACC.
    ("SELECT sum(row_n) FROM ledger", "2160"),
];

#[test]
fn sample_data_becomes_what_its_readme_states() {
    let lake = lake().to_string_lossy();
    let mut args: Vec<&str> = vec![&lake];
    args.extend(LESSONS.iter().map(|(question, _)| *question));
    let answers = python(ASK, &args);
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), LESSONS.len(), "{answers:#?}");
    let mut wrong = Vec::new();
    for ((question, want), have) in LESSONS.iter().zip(answers) {
        if have != *want {
            wrong.push(format!("{question}\n  want {want}\n  have {have}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
