"""What `usage` must hold for the sample data, worked out without gridtally, and whether a lake agrees.

    python3 usage.py OUT [--attribution prorated|by-end] [--grain month|day]    compare; exit code 1 on differences
    python3 usage.py --print                                                   only show what is expected
"""
import argparse
import collections
import datetime
import pathlib
import sys

import dumps

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "sample-data"
MEASURES = ("job_n", "wall_s", "alloc_core_s", "alloc_gpu_s", "cpu_ms")
KEYS = ("site", "vo", "allocation_year", "month", "day", "cluster", "account", "view")


def period_of(unix_s, grain):
    """(first second, second after the last, month, day, allocation year) of the period that holds a second."""
    local = unix_s + dumps.zurich_offset(unix_s)
    date = datetime.date.fromordinal(dumps.EPOCH + local // 86_400)
    month = date.replace(day=1)
    first = date if grain == "day" else month
    after = date + datetime.timedelta(1) if grain == "day" else (month + datetime.timedelta(32)).replace(day=1)
    year = date.year if date.month >= 4 else date.year - 1
    bounds = [dumps.zurich(f"{day}T00:00:00") for day in (first, after)]
    return bounds[0], bounds[1], month, date if grain == "day" else None, year


def shares(total, lengths):
    """Largest remainder: whole shares first, what is left to the largest remainders, the earliest on a tie."""
    whole = sum(lengths)
    floors = [total * length // whole for length in lengths]
    order = sorted(range(len(lengths)), key=lambda at: (-(total * lengths[at] % whole), at))
    for at in order[: total - sum(floors)]:
        floors[at] += 1
    return floors


def spread(job, attribution, grain):
    """The job's usage by period: (period, measures)."""
    start, end = job["start"], job["end"]
    held_s = job["wall_s"] + job["suspended_s"]
    if attribution == "by-end" and end is None:
        return
    until = end if end is not None else start + held_s
    pieces = []
    at = start
    while attribution == "prorated" and at is not None and at < until:
        period = period_of(at, grain)
        pieces.append((period, min(until, period[1]) - at))
        at = period[1]
    # The last piece holds the instant of the end, and counts the job: periods are half-open, so a job that ends on the
    # stroke of a period counts in the one that begins there, as APEL counts it. A job that took no time, or is not
    # split, is in the period its end is in.
    if not pieces:
        pieces = [(period_of(until, grain), 1)]
    elif end is not None and pieces[-1][0][1] == end:
        pieces.append((period_of(end, grain), 0))
    lengths = [length for _, length in pieces]
    wall = shares(job["wall_s"], lengths)
    held = shares(held_s, lengths)
    cpu = shares(job["cpu_ms"] or 0, lengths)
    for n, (period, _) in enumerate(pieces):
        is_last = n == len(pieces) - 1
        yield period, (
            int(is_last and end is not None),
            wall[n],
            wall[n] * (job["cores"] or 0),
            held[n] * (job["gpus"] or 0),
            cpu[n],
        )


def expected(attribution, grain):
    cells = collections.defaultdict(lambda: [0] * len(MEASURES))
    for job in dumps.winners(SAMPLE):
        for (_, _, month, day, year), measures in spread(job, attribution, grain):
            cell = cells[job["site"], job["vo"], year, month, day, job["cluster"], job["account"], job["view"]]
            for n, value in enumerate(measures):
                cell[n] += value
    return {key: tuple(cell) for key, cell in cells.items()}


def published(out):
    import duckdb

    duckdb.sql("SET TimeZone = 'UTC'")
    sums = ", ".join(f"sum({name})::HUGEINT::VARCHAR" for name in MEASURES)
    # The folder of an unknown VO has a word, as `gridtally.sql` and the README state.
    keys = ", ".join("nullif(vo, '__unknown__') AS vo" if key == "vo" else key for key in KEYS)
    rows = duckdb.sql(
        f"SELECT {keys}, {sums} FROM read_parquet('{out}/usage/*/*/*/usage.parquet', "
        "hive_partitioning = true, hive_types = {'site': VARCHAR, 'vo': VARCHAR, 'allocation_year': BIGINT}) "
        f"GROUP BY ALL"
    ).fetchall()
    width = len(KEYS)
    return {tuple(row[:width]): tuple(int(value or 0) for value in row[width:]) for row in rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?")
    parser.add_argument("--print", action="store_true", dest="show")
    parser.add_argument("--attribution", default="prorated", choices=["prorated", "by-end"])
    parser.add_argument("--grain", default="month", choices=["month", "day"])
    args = parser.parse_args()
    want = expected(args.attribution, args.grain)
    order = lambda item: tuple(str(part) for part in item[0])
    if args.show:
        print(*KEYS, *MEASURES, sep="\t")
        for key, cell in sorted(want.items(), key=order):
            print(*key, *cell, sep="\t")
        return 0
    have = published(args.out)
    differences = 0
    for key in sorted(want.keys() | have.keys(), key=lambda key: tuple(str(part) for part in key)):
        if want.get(key) != have.get(key):
            differences += 1
            print(dict(zip(KEYS, map(str, key))))
            print("  expected ", dict(zip(MEASURES, want[key])) if key in want else "nothing")
            print("  published", dict(zip(MEASURES, have[key])) if key in have else "nothing")
    totals = [sum(cell[n] for cell in want.values()) for n in range(len(MEASURES))]
    print(f"{len(want)} cells expected, {len(have)} published, {differences} differ")
    print("totals", dict(zip(MEASURES, totals)))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
