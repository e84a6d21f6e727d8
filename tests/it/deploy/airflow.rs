//! The DAG, run by Airflow itself.

use std::path::PathBuf;
use std::process::Command;

use super::command_lines::setting;
use super::site::{Site, deployed, words_of};
use super::{final_codes, numbers, skipped};
use crate::support::environment::Environment;

const DAG: &str = "airflow/gridtally_nightly.py";

/// What Airflow keeps of a run of the DAG: state and tries of its two tasks, the value that `run` passed on, and the number of
/// events of the asset.
const KEPT: &str = "
import json, sqlite3, sys
kept = sqlite3.connect(sys.argv[1])
last, = kept.execute('SELECT run_id FROM dag_run ORDER BY id DESC LIMIT 1').fetchone()
tasks = {task: [state, tries] for task, state, tries in kept.execute(
    'SELECT task_id, state, try_number FROM task_instance WHERE run_id = ?', [last])}
passed = kept.execute(\"SELECT value FROM xcom WHERE run_id = ? AND task_id = 'run' AND key = 'return_value'\", [last]).fetchone()
events, = kept.execute('SELECT count(*) FROM asset_event').fetchone()
passed = passed and passed[0]
print(json.dumps({'tasks': tasks, 'passed': json.loads(passed) if passed else None, 'events': events}))
";

/// Airflow with the DAG of a site.
struct Airflow<'a> {
    site: &'a Site,
    programs: PathBuf,
}

impl Airflow<'_> {
    fn command(&self, program: &str) -> Command {
        let mut command = self.site.command(self.programs.join(program));
        command.env("AIRFLOW_HOME", self.site.path("airflow"));
        command.env("AIRFLOW__CORE__DAGS_FOLDER", self.site.path("dags"));
        command.env("AIRFLOW__CORE__LOAD_EXAMPLES", "False");
        command
    }

    fn must(&self, words: &[&str]) {
        let done = self.command("airflow").args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", words_of(&done));
    }

    /// Runs the DAG for a day. What Airflow keeps of it.
    fn run(&self, day: &str) -> serde_json::Value {
        let ran = self
            .command("airflow")
            .args(["dags", "test", "gridtally_nightly", day])
            .output()
            .unwrap();
        let kept = self
            .command("python")
            .args(["-c", KEPT])
            .arg(self.site.path("airflow/airflow.db"))
            .output();
        let kept = kept.unwrap();
        serde_json::from_slice(&kept.stdout).unwrap_or_else(|_| panic!("{}\n{}", words_of(&kept), words_of(&ran)))
    }
}

#[test]
fn airflow_skips_a_run_that_changes_nothing() {
    let environment = Environment {
        name: "airflow-venv",
        requirements: include_str!("airflow.txt").to_owned(),
        is_complete: true,
    };
    let programs = match environment.programs() {
        Ok(programs) => programs,
        Err(why) => return skipped("airflow_skips_a_run_that_changes_nothing", &why),
    };
    let site = Site::new();
    site.place(DAG, "dags/gridtally_nightly.py");
    let airflow = Airflow { site: &site, programs };
    airflow.must(&["db", "migrate"]);
    airflow.must(&["dags", "reserialize"]);

    let first = airflow.run("2026-10-01");
    assert_eq!(
        first["tasks"],
        serde_json::json!({"run": ["success", 1], "verify": ["success", 1]}),
        "{first}"
    );
    assert_eq!(
        first["passed"]["status"], "published",
        "the summary is what the next tasks get"
    );
    assert_eq!(first["events"], 1);
    assert!(site.has_lake());

    let second = airflow.run("2026-10-02");
    assert_eq!(
        second["tasks"],
        serde_json::json!({"run": ["skipped", 1], "verify": ["skipped", 0]}),
        "{second}"
    );
    assert_eq!(second["events"], 1, "who waits for the asset is not started");

    // A failure that another try does not cure is not tried again, though the task may be.
    site.broken_dump();
    let third = airflow.run("2026-10-03");
    assert_eq!(third["tasks"]["run"], serde_json::json!(["failed", 1]), "{third}");
    assert_eq!(third["tasks"]["verify"][0], "upstream_failed");
    assert_eq!(third["events"], 1);
}

#[test]
fn the_dag_states_what_exit_codes_mean() {
    let text = deployed(DAG);
    assert_eq!(numbers(setting(&text, "FINAL")), final_codes());
    assert!(text.contains("skip_on_exit_code=UNCHANGED,"));
    assert!(text.contains(" --exit-code-if-unchanged {UNCHANGED} "));
}
