"""Reads the sample dumps the plain way: no shared code with gridtally, whole numbers only.

Yields one dict per job row: identity, who, start, end (Unix ms or None), wall_s, suspended_s, cpu_ms, cores, gpus.
"""
import datetime
import gzip
import json
import pathlib
import re

EPOCH = datetime.date(1970, 1, 1).toordinal()


def last_sunday(year, month):
    """Days since 1970 of the last Sunday of a month with 31 days."""
    day = datetime.date(year, month, 31)
    return day.toordinal() - EPOCH - (day.weekday() + 1) % 7


def zurich_offset(unix_s):
    """Seconds Zurich is ahead of UTC: European rule, changes at 01:00 UTC."""
    year = datetime.date.fromordinal(EPOCH + unix_s // 86_400).year
    summer = last_sunday(year, 3) * 86_400 + 3_600
    winter = last_sunday(year, 10) * 86_400 + 3_600
    return 7_200 if summer <= unix_s < winter else 3_600


def clock_s(text):
    """`2026-03-29T01:00:00` as seconds on whatever clock was read."""
    date, time = text.split("T")
    hours, minutes, seconds = (int(part) for part in time.split(":"))
    return (datetime.date.fromisoformat(date).toordinal() - EPOCH) * 86_400 + hours * 3_600 + minutes * 60 + seconds


def zurich(text):
    """A printed Zurich time as Unix seconds; the sample has none that exists twice or never."""
    if text in ("Unknown", "None", ""):
        return None
    local = clock_s(text)
    found = [local - offset for offset in (7_200, 3_600) if zurich_offset(local - offset) == offset]
    assert len(found) == 1, text
    return found[0]


def lines_of(path):
    """Physical lines without their ends, and whether the last one had an end."""
    name = path.name
    if name.endswith(".gz"):
        data = gzip.decompress(path.read_bytes())
    elif name.endswith(".zst"):
        import duckdb

        rows = duckdb.sql(
            f"SELECT line FROM read_csv('{path}', compression='zstd', columns={{'line': 'VARCHAR'}}, header=false, "
            "auto_detect=false, delim='\x01', quote='', escape='', parallel=false)"
        ).fetchall()
        return [row[0] or "" for row in rows], True
    else:
        data = path.read_bytes()
    lines = data.decode().split("\n")
    return (lines[:-1], True) if lines[-1] == "" else (lines, False)


RECORD = re.compile(r"^[a-z]+\|[0-9]+(\.[a-z]+)?\|")


def duration_ms(text):
    """`[D-]HH:MM:SS` or `MM:SS.mmm`."""
    days, _, rest = text.rpartition("-")
    rest, _, fraction = rest.partition(".")
    total = 0
    for part in rest.split(":"):
        total = total * 60 + int(part)
    return (int(days or 0) * 86_400 + total) * 1_000 + int((fraction or "0").ljust(3, "0"))


def gpu_count(tres):
    """The untyped entry when there is one, else the sum of the typed ones."""
    entries = dict(part.split("=") for part in tres.split(",") if part)
    if "gres/gpu" in entries:
        return int(entries["gres/gpu"])
    return sum(int(n) for name, n in entries.items() if name.startswith("gres/gpu:"))


def sacct(path, vos):
    lines, is_whole = lines_of(path)
    names = lines[0].split("|")
    records = []
    for number, line in enumerate(lines, 1):
        if line == lines[0] or line.startswith("sacct: "):
            continue
        if RECORD.match(line):
            records.append([number, line])
        else:
            records[-1][1] += "\n" + line
    if not is_whole:
        records.pop()
    rows, with_steps = [], set()
    for number, text in records:
        cells = text.split("|")
        surplus = len(cells) - len(names)
        if surplus < 0:
            continue
        at = names.index("JobName")
        cells[at : at + surplus + 1] = ["|".join(cells[at : at + surplus + 1])]
        row = dict(zip(names, cells))
        if "." in row["JobIDRaw"]:
            with_steps.add((row["Cluster"], row["JobIDRaw"].split(".")[0], row["Start"]))
        elif row["State"] != "PENDING":
            rows.append((number, row))
    for number, row in rows:
        start, end = zurich(row["Start"]), zurich(row["End"])
        cpu = duration_ms(row["TotalCPU"])
        has_steps = (row["Cluster"], row["JobIDRaw"], row["Start"]) in with_steps
        placed = start if start is not None else zurich(row["Submit"])
        yield dict(
            key=("sacct", row["Cluster"], row["JobIDRaw"], placed),
            rank=(end is not None, int(row["ElapsedRaw"]), cpu, 0, str(path), number),
            site="ALP-T2",
            vo=vos.get(row["Account"]),
            cluster=row["Cluster"],
            account=row["Account"],
            view="batch",
            start=start,
            end=end,
            wall_s=int(row["ElapsedRaw"]),
            suspended_s=duration_ms(row["Suspended"]) // 1_000,
            cpu_ms=cpu if end is not None and (cpu or has_steps) else None,
            cores=int(row["NCPUS"]) or None,
            gpus=gpu_count(row["AllocTRES"]),
        )


def apel(path):
    header, *lines = path.read_text().split("\n")
    if not header.startswith("APEL-individual-job-message"):
        return
    records, record = [], {}
    for line in lines:
        if line == "%%":
            records.append(record)
            record = {}
        elif line:
            key, value = line.split(":", 1)
            record[key] = value.strip()
    numbers = ("WallDuration", "CpuDuration", "StartTime", "EndTime")
    if not all(record[name].isdigit() for record in records for name in numbers):
        return
    for number, record in enumerate(records):
        fqan = record.get("FQAN")
        yield dict(
            key=("apel", record["Site"], record["LocalJobId"], record["EndTime"]),
            rank=(path.name, number),
            site=record["Site"],
            vo=fqan.split("/")[1] if fqan else None,
            cluster=record["MachineName"],
            account=None,
            view="batch",
            start=int(record["StartTime"]),
            end=int(record["EndTime"]),
            wall_s=int(record["WallDuration"]),
            suspended_s=0,
            cpu_ms=int(record["CpuDuration"]) * 1_000,
            cores=int(record.get("Processors", 0)) or None,
            gpus=0,
        )


def gracc(path):
    for number, line in enumerate(lines_of(path)[0]):
        try:
            hit = json.loads(line, parse_float=str)
        except ValueError:
            continue
        doc = hit["_source"]
        if doc["type"] != "JobUsageRecord":
            continue
        whole, _, fraction = str(doc["CpuDuration"]).partition(".")
        vo = doc["VOName"]
        yield dict(
            key=("gracc", hit["_id"]),
            rank=(doc["@received"], str(path), number),
            site=doc["SiteName"],
            vo=vo.split("/")[1] if vo.startswith("/") else vo,
            cluster=doc["ProbeName"],
            account=doc.get("ProjectName"),
            view=doc["ResourceType"].lower(),
            start=clock_s(doc["StartTime"].rstrip("Z")),
            end=clock_s(doc["EndTime"].rstrip("Z")),
            wall_s=doc["WallDuration"],
            suspended_s=0,
            cpu_ms=int(whole) * 1_000 + int(fraction.ljust(3, "0") or 0),
            cores=doc.get("Processors", 1) or None,
            gpus=0,
        )


def everything(sample):
    """Every version of every job in the sample data."""
    vos = {}
    for line in (sample / "vo.csv").read_text().splitlines()[1:]:
        account, vo = line.split(",")
        vos[account] = vo
    for path in sorted((sample / "alp").glob("sacct-*")):
        yield from sacct(path, vos)
    for path in sorted((sample / "bay" / "apel").glob("*/*")):
        yield from apel(path)
    for path in sorted((sample / "bay" / "gracc").iterdir()):
        yield from gracc(path)


def winners(sample):
    """One version of each job: the one worth most."""
    best = {}
    for job in everything(pathlib.Path(sample)):
        known = best.get(job["key"])
        if known is None or job["rank"] > known["rank"]:
            best[job["key"]] = job
    return list(best.values())
