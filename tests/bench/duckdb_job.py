"""The same work in DuckDB with two threads.

    python3 duckdb_job.py sacct|gracc lake INPUT OUT     parse, cast every column, write zstd Parquet, group the usage
    python3 duckdb_job.py sacct|gracc group INPUT OUT    parse and group: only the columns that takes, OUT.totals gets totals
    python3 duckdb_job.py sacct|sites|gracc partitions INPUT OUT   the jobs are counted in OUT.totals
                                                         like a lake, in the folder OUT: one row per job, sorted by month and start,
                                                         zstd Parquet in partitions, usage by account and year; `sites` are files
    python3 duckdb_job.py sacct partitions INPUT OUT POLICIES   and what the first so many of two policies charge, by job and by group
    python3 duckdb_job.py apel-summaries|gratia-rows partitions INPUT OUT   the same of summaries, one row each

It does less than gridtally: no duplicates, no reassembly, no zones, no proration, no ledger.
"""
import sys

import duckdb

SACCT = r"""
CREATE MACRO clock_ms(t) AS CASE
    WHEN length(t) - length(replace(t, ':', '')) = 2 THEN
        (split_part(t, ':', 1)::BIGINT * 3600 + split_part(t, ':', 2)::BIGINT * 60) * 1000
        + (split_part(t, ':', 3)::DOUBLE * 1000)::BIGINT
    ELSE split_part(t, ':', 1)::BIGINT * 60000 + (split_part(t, ':', 2)::DOUBLE * 1000)::BIGINT END;
CREATE MACRO duration_ms(t) AS CASE
    WHEN t = '' OR t IS NULL THEN NULL
    WHEN contains(t, '-') THEN split_part(t, '-', 1)::BIGINT * 86400000 + clock_ms(split_part(t, '-', 2))
    ELSE clock_ms(t) END;
CREATE MACRO byte_n(t, base) AS CASE
    WHEN t = '' OR t IS NULL THEN NULL
    WHEN ends_with(t, 'K') THEN (rtrim(t, 'K')::DOUBLE * 1024)::BIGINT
    WHEN ends_with(t, 'M') THEN (rtrim(t, 'M')::DOUBLE * 1048576)::BIGINT
    WHEN ends_with(t, 'G') THEN (rtrim(t, 'G')::DOUBLE * 1073741824)::BIGINT
    WHEN ends_with(t, 'T') THEN (rtrim(t, 'T')::DOUBLE * 1099511627776)::BIGINT
    ELSE t::BIGINT * base END;
CREATE MACRO tres(t, name) AS TRY_CAST(regexp_extract(t, '(?:^|,)' || name || '=([0-9]+)', 1) AS BIGINT);

CREATE TEMP TABLE job AS
SELECT Cluster AS cluster, JobIDRaw::BIGINT AS raw_job_id, JobID AS job_id, JobName AS job_name, Partition AS partition,
    QOS AS qos, Account AS account, "Group" AS user_group, GID::BIGINT AS gid, "User" AS user, UID::BIGINT AS uid,
    WCKey AS wckey, TRY_CAST(Submit AS TIMESTAMP) AS submit, TRY_CAST(Eligible AS TIMESTAMP) AS eligible,
    TRY_CAST(Start AS TIMESTAMP) AS start, TRY_CAST("End" AS TIMESTAMP) AS "end", ElapsedRaw::BIGINT AS wall_s,
    duration_ms(Suspended) // 1000 AS suspended_s, split_part(ExitCode, ':', 1)::INT AS exit_code,
    split_part(ExitCode, ':', 2)::INT AS exit_signal, split_part(State, ' ', 1) AS state, NNodes::BIGINT AS alloc_node_n,
    NCPUS::BIGINT AS alloc_core_n, ReqCPUS::BIGINT AS requested_core_n, byte_n(ReqMem, 1048576) AS requested_memory_byte,
    tres(AllocTRES, 'gres/gpu') AS alloc_gpu_n, tres(AllocTRES, 'billing') AS alloc_billing_n,
    byte_n(regexp_extract(AllocTRES, 'mem=([0-9.]+[KMGT]?)', 1), 1048576) AS alloc_memory_byte,
    TRY_CAST(TimelimitRaw AS BIGINT) * 60 AS time_limit_s, NodeList AS node_list, CPUTimeRAW::BIGINT AS core_wall_s,
    duration_ms(TotalCPU) AS cpu_ms, duration_ms(UserCPU) AS cpu_user_ms, duration_ms(SystemCPU) AS cpu_system_ms,
    byte_n(MaxRSS, 1) AS max_rss_byte
FROM read_csv($INPUT, delim = '|', quote = '', escape = '', header = true, all_varchar = true, auto_detect = false,
    columns = {COLUMNS})
WHERE NOT contains(JobIDRaw, '.');
"""

SACCT_COLUMNS = (
    "Cluster JobIDRaw JobID JobName Partition QOS Account Group GID User UID WCKey Submit Eligible Start End ElapsedRaw "
    "Suspended ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES TimelimitRaw NodeList CPUTimeRAW TotalCPU "
    "UserCPU SystemCPU MaxRSS"
).split()

GRACC = """
CREATE TEMP TABLE job AS
SELECT _id AS id, d.SiteName AS site, d.ProbeName AS cluster, d.SubmitHost AS submit_host, d.LocalJobId AS job_id,
    d.GlobalJobId AS global_job_id, d.VOName AS vo_name, d.ReportableVOName AS vo, d.ProjectName AS account,
    d.LocalUserId AS "user", d.DN AS global_user, d.CommonName AS common_name, d.Queue AS partition, d.Grid AS infrastructure,
    d.JobName AS job_name, d.ResourceType AS view, d.Host AS node_list, d.StartTime AS start, d.EndTime AS "end",
    d."@received" AS received, d.WallDuration AS wall_s, round(d.CpuDuration * 1000)::BIGINT AS cpu_ms,
    round(d.CpuDuration_user * 1000)::BIGINT AS cpu_user_ms, round(d.CpuDuration_system * 1000)::BIGINT AS cpu_system_ms,
    d.Processors AS alloc_core_n, d.NodeCount::BIGINT AS alloc_node_n, TRY_CAST(d.Resource_ExitCode AS INT) AS exit_code
FROM (SELECT _id, _source AS d FROM read_json($INPUT, format = 'newline_delimited', columns = {
    _id: 'VARCHAR', _source: 'STRUCT(SiteName VARCHAR, ProbeName VARCHAR, SubmitHost VARCHAR, LocalJobId VARCHAR, GlobalJobId VARCHAR, VOName VARCHAR, ReportableVOName VARCHAR, ProjectName VARCHAR, LocalUserId VARCHAR, DN VARCHAR, CommonName VARCHAR, Queue VARCHAR, Grid VARCHAR, JobName VARCHAR, ResourceType VARCHAR, Host VARCHAR, StartTime TIMESTAMP, EndTime TIMESTAMP, "@received" TIMESTAMP, WallDuration BIGINT, CpuDuration DOUBLE, CpuDuration_user DOUBLE, CpuDuration_system DOUBLE, Processors BIGINT, NodeCount VARCHAR, Resource_ExitCode VARCHAR)'}));
"""

APEL_SUMMARIES = """
CREATE TABLE summary AS
SELECT of['Site'] AS site, of['Month']::INT AS month_n, of['Year']::INT AS year_n, make_date(year_n, month_n, 1) AS record_month,
    of['GlobalUserName'] AS global_user, of['VO'] AS vo, of['VOGroup'] AS vo_group, of['VORole'] AS vo_role,
    of['SubmitHost'] AS submit_host, of['InfrastructureType'] AS infrastructure, of['ServiceLevelType'] AS benchmark,
    of['ServiceLevel']::DECIMAL(12, 3) AS benchmark_per_core, of['NodeCount']::BIGINT AS node_n,
    of['Processors']::BIGINT AS core_n, of['WallDuration']::BIGINT AS wall_s, of['CpuDuration']::BIGINT AS cpu_s,
    of['NumberOfJobs']::BIGINT AS job_n, row_number() OVER () AS nth
FROM (SELECT map_from_entries([row(split_part(line, ': ', 1), line[strpos(line, ': ') + 2:])
        for line in string_split(block, chr(10)) if contains(line, ': ')]) AS of
    FROM (SELECT unnest(string_split(content, '%%')) AS block FROM read_text($INPUT)) WHERE contains(block, 'Site: '));
"""

GRATIA_ROWS = """
CREATE TABLE summary AS
SELECT _id AS id, d.SiteName AS site, d.EndTime::DATE AS day, date_trunc('month', day)::DATE AS record_month, d.ProbeName AS cluster,
    d.VOName AS vo_name, d.ReportableVOName AS vo, d.ProjectName AS account, d.DN AS global_user, d.CommonName AS common_name,
    d.Grid AS infrastructure, d.ResourceType AS view, d.Processors AS core_n, d.WallDuration::BIGINT AS wall_s,
    d.CpuDuration::BIGINT AS cpu_s, d.CpuDuration_user::BIGINT AS cpu_user_s, d.CpuDuration_system::BIGINT AS cpu_system_s,
    d.CoreHours AS core_h, d.Count AS job_n, row_number() OVER () AS nth
FROM (SELECT _id, _source AS d FROM read_json($INPUT, format = 'newline_delimited', columns = {
    _id: 'VARCHAR', _source: 'STRUCT(EndTime TIMESTAMP, VOName VARCHAR, ReportableVOName VARCHAR, ProjectName VARCHAR, DN VARCHAR, CommonName VARCHAR, Processors BIGINT, ResourceType VARCHAR, Grid VARCHAR, ProbeName VARCHAR, SiteName VARCHAR, WallDuration DOUBLE, CpuDuration DOUBLE, CpuDuration_user DOUBLE, CpuDuration_system DOUBLE, CoreHours DOUBLE, Count BIGINT)'}));
"""

# By kind: the table, and what two summaries of the same have in common.
SUMMARIES = {
    "apel-summaries": (
        APEL_SUMMARIES,
        "site, record_month, global_user, vo, vo_group, vo_role, submit_host, infrastructure, benchmark, benchmark_per_core, "
        "node_n, core_n",
    ),
    "gratia-rows": (GRATIA_ROWS, "id"),
}

# Those of the benchmark, in GiB and seconds; GPUs of any model weigh 10.
MEMORY = "coalesce(alloc_memory_byte, 0) / 1073741824"
POLICIES = [
    ("largest", f"greatest(alloc_core_n, {MEMORY} / 4) * wall_s / 3600"),
    ("sum", f"floor(alloc_core_n + {MEMORY} * 0.25 + coalesce(alloc_gpu_n, 0) * 10) * wall_s / 3600"),
]

kind, work, source, out, *policy_n = sys.argv[1:]
if kind in SUMMARIES:
    text, identity = SUMMARIES[kind]
    duckdb.sql("SET threads = 2")
    duckdb.sql(text.replace("$INPUT", f"'{source}'"))
    duckdb.sql(
        f"COPY (SELECT * EXCLUDE (nth) FROM summary QUALIFY row_number() OVER (PARTITION BY {identity} ORDER BY nth DESC) = 1 "
        f"ORDER BY site, record_month, vo) TO '{out}/summary' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site, record_month))"
    )
    summary = f"read_parquet('{out}/summary/**/*.parquet', hive_partitioning = true)"
    duckdb.sql(
        "COPY (SELECT site, vo, year(record_month) AS allocation_year, record_month AS month, infrastructure, sum(job_n) AS job_n, "
        "sum(wall_s) AS wall_s, sum(wall_s * core_n) AS alloc_core_s, sum(cpu_s) AS cpu_s "
        f"FROM {summary} GROUP BY ALL) TO '{out}/usage' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site, vo, allocation_year))"
    )
    with open(f"{out}.totals", "w") as totals:
        totals.write(str(duckdb.sql(f"SELECT count(*) FROM {summary}").fetchall()[0][0]))
    sys.exit()
text = GRACC if kind == "gracc" else SACCT
text = text.replace("{COLUMNS}", "{" + ", ".join(f"'{name}': 'VARCHAR'" for name in SACCT_COLUMNS) + "}")
text = text.replace(", all_varchar = true", "").replace("$INPUT", f"'{source}'")
if kind == "sites":
    text = text.replace("SELECT Cluster AS cluster", "SELECT parse_filename(filename, true) AS site, Cluster AS cluster")
    text = text.replace("auto_detect = false", "auto_detect = false, filename = true")
key = "site, vo, view, cluster" if kind == "gracc" else "cluster, account"
usage = (
    f"SELECT date_trunc('month', \"end\") AS month, {key}, count(*) AS job_n, sum(wall_s) AS wall_s, "
    "sum(wall_s * alloc_core_n) AS alloc_core_s, sum(cpu_ms) AS cpu_ms FROM {jobs} GROUP BY ALL"
)
# Straight from the parser to the file, as the fastest plan does it: no table in between.
view = text.replace("CREATE TEMP TABLE job", "CREATE VIEW job")
duckdb.sql("SET threads = 2; SET preserve_insertion_order = false")
duckdb.sql(view)
if work == "group":
    groups = duckdb.sql(usage.format(jobs="job")).fetchall()
    with open(f"{out}.totals", "w") as totals:
        totals.write(" ".join(str(sum(row[at] for row in groups)) for at in (-4, -3, -2)))
elif work == "partitions":
    site = "" if kind == "sacct" else "site, "
    identity, last, vo = {
        "gracc": ("view, cluster, global_job_id, start", "received", ""),
    }.get(kind, (f"{site}cluster, raw_job_id, submit", '"end"', f"{site}account AS vo, "))
    duckdb.sql("SET preserve_insertion_order = true")
    duckdb.sql(
        f"COPY (SELECT *, date_trunc('month', start)::DATE AS record_month FROM job QUALIFY row_number() OVER (PARTITION BY {identity} "
        f"ORDER BY {last} DESC) = 1 ORDER BY {site}record_month, start) TO '{out}/records' (FORMAT parquet, COMPRESSION "
        f"zstd, PARTITION_BY ({site}record_month))"
    )
    jobs = f"read_parquet('{out}/records/**/*.parquet', hive_partitioning = true)"
    grouped = usage.format(jobs=jobs).replace("SELECT ", f"SELECT {vo}year(\"end\") AS allocation_year, ", 1)
    duckdb.sql(
        f"COPY ({grouped}) TO '{out}/usage' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ({site}vo, allocation_year))"
    )
    charges = [
        f"SELECT start, raw_job_id, job_id, cluster, account AS vo, account, partition, qos, record_month, '{policy}' AS policy, "
        f"wall_s * alloc_core_n AS alloc_core_s, wall_s * coalesce(alloc_gpu_n, 0) AS alloc_gpu_s, ({charge})::DECIMAL(38, 9) AS charge, "
        f'year("end") AS allocation_year FROM {jobs}'
        for policy, charge in POLICIES[: int(policy_n[0]) if policy_n else 0]
    ]
    if charges:
        duckdb.sql(
            f"COPY (FROM ({' UNION ALL '.join(charges)}) ORDER BY record_month, start, raw_job_id, policy) TO '{out}/job_charges' "
            "(FORMAT parquet, COMPRESSION zstd, PARTITION_BY (record_month))"
        )
        charged = f"read_parquet('{out}/job_charges/**/*.parquet', hive_partitioning = true)"
        duckdb.sql(
            f"COPY (SELECT vo, allocation_year, record_month AS month, policy, cluster, account, partition, qos, count(*) AS job_n, "
            f"sum(alloc_core_s) AS alloc_core_s, sum(alloc_gpu_s) AS alloc_gpu_s, sum(charge) AS charge FROM {charged} GROUP BY ALL) "
            f"TO '{out}/charges' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (vo, allocation_year))"
        )
    with open(f"{out}.totals", "w") as totals:
        totals.write(str(duckdb.sql(f"SELECT count(*) FROM {jobs}").fetchall()[0][0]))
else:
    duckdb.sql(f"COPY (FROM job) TO '{out}.parquet' (FORMAT parquet, COMPRESSION zstd)")
    jobs = f"'{out}.parquet'"
    duckdb.sql(f"COPY ({usage.format(jobs=jobs)}) TO '{out}.usage.parquet' (FORMAT parquet, COMPRESSION zstd)")
