//! The asset of Dagster and its launcher: with Dagster itself, and by the protocol of Pipes alone.

use std::path::PathBuf;

use super::command_lines::setting;
use super::site::{Site, deployed, words_of};
use super::{final_codes, numbers, skipped};
use crate::support::environment::Environment;

const ASSETS: &str = "dagster/gridtally_assets.py";
const LAUNCHER: &str = "dagster/gridtally_pipes.py";

/// Materializes the asset three times, before the last time with a dump that cannot be read; a line of JSON for each.
const THREE_RUNS: &str = "
import json, pathlib, sys
import dagster as dg
import gridtally_assets as assets
kept = dg.DagsterInstance.ephemeral()
for round in range(3):
    if round == 2:
        pathlib.Path('dumps/sacct-2.txt').write_text('broken\\n')
    done = dg.materialize([assets.gridtally_site], resources={'pipes': assets.defs.resources['pipes']}, instance=kept, raise_on_error=False)
    made = done.asset_materializations_for_node('gridtally_site')
    print('RUN', json.dumps({
        'success': done.success,
        'metadata': [{name: entry.value for name, entry in one.metadata.items()} for one in made],
        'versions': [one.tags['dagster/data_version'] for one in made],
        'checks': [[check.check_name, check.passed] for check in done.get_asset_check_evaluations()],
        'tries': sum(event.event_type_value in ('STEP_START', 'STEP_RESTARTED') for event in done.all_events),
    }))
print('RUN', json.dumps([schedule.cron_schedule for schedule in assets.defs.schedules]))
";

/// Sets the variables of Pipes, runs the launcher and prints its exit code and its messages.
const BY_HAND: &str = "
import base64, json, os, subprocess, sys, zlib
launcher, *arguments = sys.argv[1:]
def packed(value):
    return base64.b64encode(zlib.compress(json.dumps(value).encode())).decode()
context = {'asset_keys': ['gridtally_site'], 'run_id': 'r', 'extras': {}}
with open('context', 'w') as file:
    json.dump(context, file)
os.environ['DAGSTER_PIPES_CONTEXT'] = packed({'path': 'context'})
os.environ['DAGSTER_PIPES_MESSAGES'] = packed({'path': 'messages'})
ended = subprocess.run([sys.executable, launcher, *arguments])
print(json.dumps({'code': ended.returncode, 'messages': [json.loads(line) for line in open('messages')]}))
";

#[test]
fn dagster_materializes_the_lake() {
    let environment = Environment {
        name: "dagster-venv",
        requirements: include_str!("dagster.txt").to_owned(),
        is_complete: true,
    };
    let programs = match environment.programs() {
        Ok(programs) => programs,
        Err(why) => return skipped("dagster_materializes_the_lake", &why),
    };
    let site = Site::new();
    site.place(ASSETS, "gridtally_assets.py");
    site.place(LAUNCHER, "gridtally_pipes.py");
    let mut python = site.command(programs.join("python"));
    python
        .args(["-W", "ignore", "-c", THREE_RUNS])
        .env("DAGSTER_HOME", "")
        .env("DAGSTER_DISABLE_TELEMETRY", "1");
    let ran = python.output().unwrap();
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let lines = stdout.lines().filter_map(|line| line.strip_prefix("RUN "));
    let runs: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(runs.len(), 4, "{}", words_of(&ran));
    for (run, status) in runs.iter().zip(["published", "unchanged"]) {
        assert_eq!(run["success"], true, "{}", words_of(&ran));
        assert_eq!(run["metadata"][0]["status"], status);
        assert_eq!(run["checks"], serde_json::json!([["no_warnings", true]]));
    }
    assert_eq!(runs[0]["metadata"][0]["rows_read_n"], 1);
    assert_eq!(
        runs[1]["versions"], runs[0]["versions"],
        "what is made of the lake is not out of date"
    );
    assert_eq!(runs[2]["success"], false);
    assert_eq!(runs[2]["tries"], 1, "another try does not cure it");
    assert_eq!(runs[2]["metadata"], serde_json::json!([]));
    assert_eq!(runs[3], serde_json::json!(["30 3 * * *"]));
}

/// Exit code and messages of the launcher under a Dagster that is not there.
fn by_hand(site: &Site, launcher: &PathBuf) -> serde_json::Value {
    let _ = std::fs::remove_file(site.path("messages"));
    let mut python = site.command("python3");
    python
        .args(["-c", BY_HAND])
        .arg(launcher)
        .arg(site.path("etc/site.toml"));
    let ran = python.arg("--out").arg(site.path("lakes/site")).output().unwrap();
    let stdout = String::from_utf8_lossy(&ran.stdout);
    serde_json::from_str(stdout.lines().last().unwrap_or_else(|| panic!("{}", words_of(&ran)))).unwrap()
}

#[test]
fn the_launcher_speaks_the_protocol_of_pipes() {
    let site = Site::new();
    let launcher = site.place(LAUNCHER, "gridtally_pipes.py");
    let methods = |ran: &serde_json::Value| -> Vec<String> {
        let messages = ran["messages"].as_array().unwrap();
        assert!(
            messages
                .iter()
                .all(|message| message["__dagster_pipes_version"] == "0.1")
        );
        messages
            .iter()
            .map(|message| message["method"].as_str().unwrap().to_owned())
            .collect()
    };
    let first = by_hand(&site, &launcher);
    assert_eq!(first["code"], 0, "{first}");
    assert_eq!(
        methods(&first),
        ["opened", "report_asset_materialization", "report_asset_check", "closed"]
    );
    let made = &first["messages"][1]["params"];
    assert_eq!(made["asset_key"], "gridtally_site");
    assert_eq!(
        made["metadata"]["rows_read_n"],
        serde_json::json!({"type": "int", "raw_value": 1})
    );
    assert_eq!(
        made["data_version"],
        by_hand(&site, &launcher)["messages"][1]["params"]["data_version"]
    );

    site.broken_dump();
    let failed = by_hand(&site, &launcher);
    assert_eq!(failed["code"], 65);
    assert_eq!(methods(&failed), ["opened", "closed"]);
    let exception = &failed["messages"][1]["params"]["exception"];
    assert_eq!(exception["name"], "exit code 65");
    assert!(
        exception["message"]
            .as_str()
            .unwrap()
            .contains("more was refused than the pipeline allows"),
        "{failed}"
    );
}

#[test]
fn the_asset_states_what_exit_codes_mean() {
    assert_eq!(numbers(setting(&deployed(ASSETS), "FINAL")), final_codes());
}
