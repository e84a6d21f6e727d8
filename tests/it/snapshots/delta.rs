//! Delta logs: readers of Delta Lake see every state of a dataset that was kept.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::{JOBS, Nights, pipeline};
use crate::support::policy::{CHARGE_CORES, CORES};
use crate::support::python::{package, python, unattended};

const KEEP: &str = "keep = { nights = 30, months = 24 }\ndelta_log = \"on\"\n";

/// Every version of every table by deltalake (pyarrow, and its own engine) and Polars, which read the same of it. Printed are
/// the jobs of the versions of `usage`.
const DELTALAKE: &str = r#"
import os, sys
import polars
from deltalake import DeltaTable, QueryBuilder
root, jobs = sys.argv[1], []
names = sorted(name for name in os.listdir(root) if os.path.isdir(f"{root}/{name}/_delta_log"))
for name in names:
    for version in range(DeltaTable(f"{root}/{name}").version() + 1):
        table = DeltaTable(f"{root}/{name}", version=version)
        read = table.to_pyarrow_table()
        builder = QueryBuilder().register("t", table)
        asked = builder.execute("SELECT count(*) AS n FROM t").read_all()["n"][0].as_py()
        builder.execute("SELECT * FROM t").read_all()
        frame = polars.scan_delta(f"{root}/{name}", version=version).collect()
        stated = sum(table.get_add_actions(flatten=True)["num_records"].to_pylist())
        assert read.num_rows == asked == frame.height == stated, (name, version, read.num_rows, asked, frame.height, stated)
        assert read.column_names == frame.columns, (name, read.column_names, frame.columns)
        for column in ("job_n", "charge", "alloc_core_s", "record_id", "start_utc", "vo"):
            if column in read.column_names:
                # Polars takes the values of partitions from the folders.
                known = lambda value: None if value == "__unknown__" else value
                one, other = read[column].to_pylist(), [known(value) for value in frame[column].to_list()]
                assert sorted(map(str, one)) == sorted(map(str, other)), (name, version, column)
        if name == "usage":
            jobs.append(sum(read["job_n"].to_pylist()))
            for vo in set(read["vo"].to_pylist()):
                part = table.to_pyarrow_table(filters=[("vo", "=", vo)]) if vo else read.filter(read["vo"].is_null())
                assert 0 < part.num_rows < read.num_rows and set(part["vo"].to_pylist()) == {vo}, (vo, part.num_rows)
    history = DeltaTable(f"{root}/{name}").history()
    assert all(entry["snapshot"] > 0 for entry in history), history
    assert DeltaTable(f"{root}/{name}").vacuum(dry_run=True) == [], name
print(names, jobs, flush=True)
# The threads of two engines in one process do not always end with it.
os._exit(0)
"#;

/// Every version of every table by DuckDB, whose extension comes as a package, against the views of the snapshots it was true
/// for: the same rows, column by column. Printed is how many versions were compared.
const DELTA_SCAN: &str = r#"
import glob, json, os, sys
sys.path[:0] = sys.argv[4:6]
import duckdb, duckdb_extension_delta
root, views, snapshots = sys.argv[1], sys.argv[2], sys.argv[3].split()
extension = glob.glob(os.path.dirname(duckdb_extension_delta.__file__) + "/extensions/*/delta.duckdb_extension")[0]
con = duckdb.connect()
con.execute(f"LOAD '{extension}'")
compared = 0
for snapshot in snapshots:
    con.execute(open(f"{views}/{snapshot}.sql").read())
    for log in sorted(glob.glob(f"{root}/*/_delta_log")):
        folder, newest = log.split("/")[-2], None
        name = {"policies": "policy"}.get(folder, folder)
        for path in sorted(glob.glob(f"{log}/*.json")):
            info = json.loads(open(path).readline())["commitInfo"]
            if info["snapshot"] <= int(snapshot):
                newest = int(os.path.basename(path).split(".")[0])
        if newest is None:
            continue
        scan = f"(SELECT * FROM delta_scan('{root}/{folder}', version => {newest}))"
        columns = con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        kinds = {column[0]: column[1] for column in con.execute(f'DESCRIBE SELECT * FROM "{name}"').fetchall()}
        assert set(kinds) - {column[0] for column in columns} <= {"content_hash"}, (name, kinds)
        # Where the view has an amount with its unit, the table has the two columns.
        is_amount = lambda column: kinds[column].startswith("STRUCT(amount")
        of_view = lambda column: f'"{column}".amount' if is_amount(column) else f'"{column}"'
        same = [column for column in columns if column[0] in kinds]
        def rows(source, spell):
            cells = ", ".join(f"CAST({spell(column)} AS {kind})" for column, kind, *_ in same)
            return con.execute(f"SELECT count(*), sum(hash({cells})::HUGEINT) FROM {source}").fetchone()
        got, want = rows(scan, lambda column: f'"{column}"'), rows(f'"{name}"', of_view)
        assert got == want, (name, newest, snapshot, got, want)
        compared += 1
usage = f"delta_scan('{root}/usage')"
of = lambda where: con.execute(f"SELECT count(*) FROM {usage} WHERE {where}").fetchone()[0]
assert of("vo = 'a/b'") > 0 and of("vo = '50%'") > 0 and of("vo IS NULL") > 0 and of("allocation_year = 2026") > 0
print(compared)
"#;

/// Jobs of accounts whose names a path has to escape, and of none.
fn odd_names(nights: &Nights) {
    let mut text =
        "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n".to_owned();
    for (nth, account) in ["a/b", "50%", "a b", "\u{fc}+=#?", "%2F", ""].into_iter().enumerate() {
        let _ = writeln!(
            text,
            "{nth}|oak|u|{account}|COMPLETED|2026-01-02T03:00:00|2026-01-02T03:00:00|2026-01-02T04:00:00|3600|4|\
             cpu=4,node=1,gres/gpu:a100=2|00:50:00"
        );
    }
    nights.write("dumps/odd.txt", &text);
}

fn kept(nights: &Nights) -> String {
    nights.path("lake/.gridtally/kept").to_str().unwrap().to_owned()
}

/// What the versions of a table are, as `gridtally snapshots --delta` lists them: the version, the snapshot, and whether it can
/// be read.
fn versions(nights: &Nights, dataset: &str) -> Vec<(usize, usize, bool)> {
    let list = nights.done(&["snapshots", "lake", "--delta", "--format", "csv"]);
    let rows = list.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    let number = |cell: &str| cell.parse::<usize>().unwrap();
    rows.filter(|row| row[0] == dataset)
        .map(|row| (number(row[1]), number(row[2]), row[5] == "0"))
        .collect()
}

/// Jobs of one version of `usage`, by deltalake; what it fails with where it cannot be read.
fn jobs_of(nights: &Nights, version: usize) -> Result<usize, String> {
    let script = "import os, sys; from deltalake import DeltaTable\n\
                  try: print(sum(DeltaTable(sys.argv[1], version=int(sys.argv[2])).to_pyarrow_table()['job_n'].to_pylist()))\n\
                  except Exception as why: print('failed:', type(why).__name__)\n\
                  sys.stdout.flush(); os._exit(0)";
    let root = format!("{}/usage", kept(nights));
    let answer = python(script, &[&root, &version.to_string()]);
    answer.trim().parse().map_err(|_| answer)
}

#[test]
fn versions_of_delta_tables_are_the_lake_as_it_was() {
    let nights = Nights::new();
    nights.write("cores.toml", CORES);
    nights.write("p.toml", &(pipeline(KEEP) + CHARGE_CORES));
    odd_names(&nights);
    for nth in 0..3 {
        nights.night(nth * 9);
    }
    // A correction, and its undoing: states of their own.
    let corrections = "id,action,site,month,account,job_n,wall_s,alloc_core_s,undoes,author,reason,date\n\
                       C1,add,OAK,2026-01,vo1,1,3600,14400,,E. Office,log of a node lost,2026-02-03\n";
    nights.write("corrections.csv", corrections);
    let corrected = format!("{KEEP}corrections = \"corrections.csv\"\n");
    nights.write("p.toml", &(pipeline(&corrected) + CHARGE_CORES));
    nights.done(&["run", "p.toml"]);
    let undone = format!("{corrections}C2,undo,,,,,,,C1,E. Office,it was found,2026-02-04\n");
    nights.write("corrections.csv", &undone);
    nights.done(&["run", "p.toml"]);
    // The same run once more is no version.
    let before = nights.files("lake");
    nights.done(&["run", "p.toml"]);
    assert_eq!(nights.files("lake"), before);
    let expected: Vec<_> = (0..5).map(|version| (version, version + 1, true)).collect();
    assert_eq!(versions(&nights, "usage"), expected);
    let read = python(DELTALAKE, &[&kept(&nights)]);
    let jobs = [JOBS + 6, 2 * JOBS + 6, 3 * JOBS + 6, 3 * JOBS + 7, 3 * JOBS + 6];
    assert!(read.trim().ends_with(&format!("{jobs:?}")), "{read}");
    for dataset in [
        "records",
        "usage",
        "charges",
        "inputs",
        "ledger",
        "corrections",
        "policies",
    ] {
        assert!(read.contains(&format!("'{dataset}'")), "{dataset}: {read}");
    }
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        fs::create_dir(nights.path("views")).unwrap();
        for snapshot in 1..=5 {
            let views = nights.done(&["sql", "lake", "--as-of", &snapshot.to_string()]);
            nights.write(&format!("views/{snapshot}.sql"), &views);
        }
        let (duckdb, extension) = (package("duckdb==1.5.5"), package("duckdb-extension-delta==1.5.5"));
        let mut command = Command::new("python3");
        command.args(["-c", &unattended(DELTA_SCAN), &kept(&nights)]);
        command
            .arg(nights.path("views"))
            .arg("1 2 3 4 5")
            .args([&duckdb, &extension]);
        let output = command.output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words}");
        let compared: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        assert!(compared > 30, "{compared} versions");
    }
    nights.done(&["verify", "lake"]);
}

#[test]
fn a_delta_log_pauses_with_its_key_and_outlives_gc() {
    let nights = Nights::new();
    nights.write("p.toml", &pipeline(KEEP));
    nights.night(0);
    nights.night(9);
    // Without the key no version is written; with it again, the next one continues from what the log names.
    nights.write("p.toml", &pipeline("keep = { nights = 30, months = 24 }\n"));
    nights.night(40);
    nights.done(&["verify", "lake"]);
    nights.write("p.toml", &pipeline(KEEP));
    nights.night(50);
    assert_eq!(versions(&nights, "usage"), [(0, 1, true), (1, 2, true), (2, 4, true)]);
    assert_eq!(versions(&nights, "records"), [(0, 1, true), (1, 2, true), (2, 4, true)]);
    for (version, jobs) in [(0, JOBS), (1, 2 * JOBS), (2, 4 * JOBS)] {
        assert_eq!(jobs_of(&nights, version), Ok(jobs));
    }
    // `gc` leaves logs, states that versions are gone, and what is gone fails where it is read: no part of it is given.
    nights.done(&["tag", "lake", "first", "--as-of", "1"]);
    let output = nights.output(&["gc", "lake", "--keep", "nights=1"]);
    let said = super::reported(&output);
    assert!(
        output.status.success() && said.contains("snapshots lake --delta"),
        "{said}"
    );
    assert_eq!(versions(&nights, "usage"), [(0, 1, true), (1, 2, false), (2, 4, true)]);
    assert_eq!(jobs_of(&nights, 0), Ok(JOBS));
    assert!(jobs_of(&nights, 1).is_err());
    assert_eq!(jobs_of(&nights, 2), Ok(4 * JOBS));
    nights.done(&["verify", "lake"]);
    nights.night(51);
    assert_eq!(jobs_of(&nights, 3), Ok(5 * JOBS));
}

#[test]
fn a_damaged_delta_log_is_found_and_can_be_begun_anew() {
    let nights = Nights::new();
    nights.write("p.toml", &pipeline(KEEP));
    nights.night(0);
    nights.night(9);
    let log = nights.path("lake/.gridtally/kept/usage/_delta_log");
    let second = log.join("00000000000000000001.json");
    let text = fs::read_to_string(&second).unwrap();
    // An action that is missing, a version that another program wrote, and no version.
    let part: Vec<&str> = text.lines().filter(|line| !line.contains("\"remove\"")).collect();
    assert_ne!(part.join("\n"), text.trim());
    for (damage, why) in [
        (Some(part.join("\n")), "does not name the files that are published"),
        (Some("{\"txn\":{}}\n".to_owned()), "names no snapshot"),
        (Some("half of a li".to_owned()), "not JSON"),
        (None, "does not name the files that are published"),
    ] {
        match damage {
            Some(damage) => fs::write(&second, damage).unwrap(),
            None => fs::remove_file(&second).unwrap(),
        }
        let output = nights.output(&["verify", "lake"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(65), "{said}");
        assert!(said.contains("kept/usage") && said.contains(why), "{said}");
    }
    fs::remove_dir_all(&log).unwrap();
    nights.night(18);
    assert_eq!(versions(&nights, "usage"), [(0, 3, true)]);
    assert_eq!(jobs_of(&nights, 0), Ok(3 * JOBS));
    nights.done(&["verify", "lake"]);
}

#[test]
fn a_delta_log_without_kept_files_is_refused() {
    let nights = Nights::new();
    nights.write("p.toml", &pipeline("delta_log = \"on\"\n"));
    nights.arrive(0);
    let said = nights.refused(&["check", "p.toml"], 78);
    assert!(said.contains("delta_log") && said.contains("keep = {"), "{said}");
}
