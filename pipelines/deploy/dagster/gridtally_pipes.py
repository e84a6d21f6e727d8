#!/usr/bin/env python3
"""One command `run` of gridtally under Dagster Pipes: gridtally_pipes.py PIPELINE [OPTION]...

Speaks the protocol of Pipes (version 0.1) without its library: where the run is, Python 3 and gridtally are all that is needed.
It reports what the run read and wrote as a materialization of the asset, the warnings of the run as the asset check `no_warnings`,
and ends with the exit code of gridtally. The data version is the head of `runs`: a run that changes nothing leaves it as it was.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import zlib

GRIDTALLY = "/usr/bin/gridtally"


def variable(name):
    """What Dagster states in a variable: JSON, compressed with zlib, in base64."""
    return json.loads(zlib.decompress(base64.b64decode(os.environ[name])))


def context():
    """What Dagster states of the step."""
    params = variable("DAGSTER_PIPES_CONTEXT")
    if "path" in params:
        with open(params["path"], encoding="utf-8") as file:
            return json.load(file)
    return params["data"]


def send(params, method, **content):
    """One message: a line of a file, of stdout or of stderr, whichever Dagster reads."""
    line = json.dumps({"__dagster_pipes_version": "0.1", "method": method, "params": content or None}) + "\n"
    if "path" in params:
        with open(params["path"], "a", encoding="utf-8") as file:
            file.write(line)
    else:
        stream = {"stdout": sys.stdout, "stderr": sys.stderr}[params["stdio"]]
        stream.write(line)
        stream.flush()


def run(arguments):
    """Exit code and summary of a run. Its report and its events are passed through, and so are signals to it."""
    command = [GRIDTALLY, "run", *arguments, "--summary-json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _frame: process.send_signal(received))
    summary = None
    for line in process.stdout:
        if line.startswith("{"):
            summary = json.loads(line)
        else:
            print(line, end="", flush=True)
    return process.wait(), summary


def typed(kind, value):
    return {"type": kind, "raw_value": value}


def metadata(summary):
    """What Dagster shows of a run."""
    return {
        "status": typed("text", summary["status"]),
        "lake": typed("text", summary["output"]),
        "run_id": typed("text", summary["run_id"]),
        "seconds": typed("float", summary["seconds"]),
        "files_read_n": typed("int", summary["files_read_n"]),
        "rows_read_n": typed("int", summary["rows_read_n"]),
        "bytes_read_n": typed("int", summary["bytes_read_n"]),
        "partitions": typed("json", summary["partitions"]),
        "outcomes": typed("json", summary["outcomes"]),
        "newest_records": typed("json", summary["newest_records"]),
    }


def main():
    messages, step = variable("DAGSTER_PIPES_MESSAGES"), context()
    key = step["asset_keys"][0]
    send(messages, "opened", extras={})
    code, summary = run(sys.argv[1:])
    failure = None
    if code == 0:
        version = summary["runs_head"]
        send(messages, "report_asset_materialization", asset_key=key, data_version=version, metadata=metadata(summary))
        warnings = {"warnings": typed("json", summary["warnings"])}
        send(
            messages,
            "report_asset_check",
            asset_key=key,
            check_name="no_warnings",
            passed=summary["warning_n"] == 0,
            severity="WARN",
            metadata=warnings,
        )
    else:
        why = (summary or {}).get("error") or "see stderr of the run"
        failure = {"name": f"exit code {code}", "message": f"gridtally: {why}", "stack": [], "cause": None, "context": None}
    send(messages, "closed", **({"exception": failure} if failure else {}))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
