# What a lake of everything holds, one fact a line. argv: lake, folder of the pipeline, folder of the data.
import datetime, glob, json, lzma, os, re, sys, zoneinfo
import duckdb

lake, folder, data = sys.argv[1:]
db = duckdb.connect()
db.execute("create view inputs as from read_parquet('" + lake + "/inputs/inputs.parquet')")
db.execute("create view ledger as from read_parquet('" + lake + "/ledger/ledger.parquet')")
db.execute("create view records as from read_parquet('" + lake + "/records/*/*/*.parquet', hive_partitioning=true)")
SUMS = ["rows_read_n", "accepted_n", "duplicate_n", "superseded_n", "rejected_n", "out_of_scope_n"]


def rows(sql, *args):
    return db.execute(sql, list(args)).fetchall()


for row in rows("select source, format, count(*), " + ", ".join(f"sum({s})" for s in SUMS)
                + " from inputs group by all order by all"):
    print("source", *row)
for row in rows("select outcome, reason, sum(row_n) from ledger group by all order by all"):
    print("outcome", *row)
for path, *sums in rows("select path, " + ", ".join(SUMS) + " from inputs order by path, source"):
    full = os.path.realpath(os.path.join(folder, path))
    print("file", os.path.relpath(full, data), *sums)
reported = rows("""select path, sum(row_n) from ledger group by path
               except all select path, sum(rows_read_n)::hugeint from inputs group by path""")
print("ledger_unlike_inputs", len(reported))


def packed(path):
    read = lzma.open if path.endswith(".xz") else open
    with read(path, "rb") as file:
        return file.read().decode("utf8", "replace")


def unix(text, zone):
    return int(datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(zone)).timestamp())


# Which runs of which jobs a cluster had, by other means than gridtally: the JSON dumps and the first timestamp of each
# job of the fixed orders (names may hold anything, but come after it or hold no two timestamps).
TIME = r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)"
for release, site in (("22.05", "ZOO-22"), ("24.11", "ZOO-24"), ("24.11-history", "ZOO-24-HISTORY")):
    folder = f"{data}/slurm/{release}"
    truth = set()
    for name in ("sacct_all", "sacct_dupl_json"):
        for job in json.loads(packed(f"{folder}/{name}.json.xz"))["jobs"]:
            truth.add((job["job_id"], job["time"]["submission"]))
    (xdmod,) = glob.glob(f"{folder}/sacct_xdmod.txt*")
    for job, at in re.findall(r"^[^|\n]*\|(\d+)\|zoo(?:24)?\|(?:[^|\n]*\|){7}" + TIME + r"\|", packed(xdmod), re.M):
        truth.add((int(job), unix(at, "UTC")))
    for months in glob.glob(f"{folder}/sacct_months_D_P.txt.xz"):
        for job, at in re.findall(r"^zoo24\|(\d+)\|[^|\n]*\|[\s\S]*?\|" + TIME + r"\|", packed(months), re.M):
            truth.add((int(job), unix(at, "Europe/Zurich")))
    found = set(rows("select coalesce(raw_job_id, job_id)::bigint, epoch(submit_utc)::bigint from records where site = ?", site))
    n = rows("select count(*) from records where site = ?", site)[0][0]
    print("jobs", site, n, len(truth), len(truth - found), len(found - truth))
