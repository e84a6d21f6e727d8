"""The lake of one pipeline as an asset of Dagster, made each night: dagster dev -f gridtally_assets.py

A run that changes nothing gives the lake the data version it had: assets made of it are not out of date. A copy of
gridtally_pipes.py is in the same folder.
"""

import sys
from pathlib import Path

import dagster as dg
from dagster._core.errors import DagsterPipesExecutionError

# Failures that another try does not cure; see the page "Exit codes" of the manual.
FINAL = (2, 65, 66, 78)


@dg.asset(
    check_specs=[dg.AssetCheckSpec("no_warnings", asset="gridtally_site")],
    retry_policy=dg.RetryPolicy(max_retries=2, delay=600),
)
def gridtally_site(context: dg.AssetExecutionContext, pipes: dg.PipesSubprocessClient):
    """The lake /var/lib/gridtally/site of the pipeline /etc/gridtally/site.toml."""
    launcher = [sys.executable, str(Path(__file__).with_name("gridtally_pipes.py"))]
    options = ["--out", "/var/lib/gridtally/site", "--wait", "600"]
    try:
        done = pipes.run(context=context, command=[*launcher, "/etc/gridtally/site.toml", *options])
    except DagsterPipesExecutionError as failure:
        if any(str(failure).endswith(f"code {code}") for code in FINAL):
            raise dg.Failure(f"{failure}: another try does not cure it", allow_retries=False) from failure
        raise
    yield from done.get_results()


nightly = dg.ScheduleDefinition(name="gridtally_nightly", target=[gridtally_site], cron_schedule="30 3 * * *")

defs = dg.Definitions(
    assets=[gridtally_site],
    schedules=[nightly],
    resources={"pipes": dg.PipesSubprocessClient(termination_timeout_seconds=30)},
)
