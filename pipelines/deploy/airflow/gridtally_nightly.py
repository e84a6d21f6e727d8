"""Nightly run of gridtally, for Apache Airflow 3 (provider `standard`).

A run that changes nothing is skipped, and so is what comes after it: no proof, no event of the asset.
"""

import json
from datetime import datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Asset

# Chosen for `--exit-code-if-unchanged`; gridtally itself never ends with it, nor with 99, for which Airflow skips by itself.
UNCHANGED = 79
# Failures that another try does not cure; see the page "Exit codes" of the manual.
FINAL = (2, 65, 66, 78)


class GridtallyOperator(BashOperator):
    """A command of gridtally: a failure is tried again only where that can help."""

    def execute(self, context):
        try:
            return super().execute(context)
        except AirflowSkipException:
            raise
        except AirflowException as failure:
            if any(str(failure).endswith(f"exit code {code}.") for code in FINAL):
                raise AirflowFailException(str(failure)) from failure
            raise


with DAG(
    dag_id="gridtally_nightly",
    schedule="30 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    run = GridtallyOperator(
        task_id="run",
        bash_command="exec /usr/bin/gridtally run /etc/gridtally/site.toml --out /var/lib/gridtally/site"
        f" --exit-code-if-unchanged {UNCHANGED} --wait 600 --summary-json",
        skip_on_exit_code=UNCHANGED,
        # The last line of stdout is the summary of the run: the tasks behind read it as the XCom of this one.
        output_processor=json.loads,
        outlets=[Asset(name="gridtally_site", uri="file:///var/lib/gridtally/site")],
        execution_timeout=timedelta(hours=6),
    )
    verify = GridtallyOperator(
        task_id="verify",
        bash_command="exec /usr/bin/gridtally verify /var/lib/gridtally/site",
        do_xcom_push=False,
    )
    run >> verify
