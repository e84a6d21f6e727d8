//! `gridtally.sql`: the views are those of the lake that is meant, a dataset without files is an empty view of the right
//! types, and a sum that means nothing is not the easy one.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::support::python::python;
use super::support::sample::{self, run};

const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU";

/// Rows and types of every view, from several working directories.
const LOOK: &str = r#"
import duckdb, os, sys
lake = sys.argv[1]
above = os.path.dirname
script = open(lake + "/gridtally.sql").read()
def look(folder, root):
    os.chdir(folder)
    con = duckdb.connect()
    con.execute("SET VARIABLE gridtally_root = '" + root.replace("'", "''") + "'")
    con.execute(script)
    views = [name for (name,) in con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()]
    rows = {name: con.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in views}
    types = {name: con.execute(f'SELECT column_name, column_type FROM (DESCRIBE "{name}")').fetchall() for name in views}
    return rows, types
seen = [look(lake, "."), look(above(lake), os.path.basename(lake)), look("/", lake)]
assert all(one == seen[0] for one in seen), seen
rows, types = seen[0]
print(rows["records"], rows["rejects"], rows["history"])
print(dict(types["rejects"])["row_n"], dict(types["history"])["record_id"], dict(types["history"])["site"])
"#;

fn gridtally(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// A lake of some jobs of one core and an hour.
fn lake(folder: &Path, name: &str, out: &str, jobs: u32) {
    let mut dump = format!("{HEADER}\n");
    for job in 1..=jobs {
        let row = format!(
            "{job}|c|u|a|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|1|00:10:00\n"
        );
        dump.push_str(&row);
    }
    fs::write(folder.join("dump"), dump).unwrap();
    let text = format!(
        "[pipeline]\nname = \"{name}\"\noutput = \"{out}\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\n\
         paths = [\"dump\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n"
    );
    fs::write(folder.join("p.toml"), text).unwrap();
    run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["run", "p.toml"])
        .current_dir(folder));
}

#[test]
fn views_find_their_lake_and_are_typed_when_empty() {
    let here = tempfile::tempdir().unwrap();
    for (nth, name) in ["plain", r#"it's \"a\" name"#].into_iter().enumerate() {
        let out = format!("a/b/lake-{nth}");
        lake(here.path(), name, &out, 1);
        let seen = python(LOOK, &[here.path().join(out).to_str().unwrap()]);
        assert_eq!(seen, "1 0 0\nBIGINT UUID VARCHAR\n", "{name}");
    }
}

/// DuckDB takes a path for a pattern: the wildcards in that of a lake are letters.
#[test]
fn a_lake_may_have_any_path() {
    let here = tempfile::tempdir().unwrap();
    for (jobs, folder) in (1..).zip(["a[1]", "a1", "a?", "a*", "[b]/c [[d]] ]", "[^e]/**"]) {
        let out = format!("{folder}/lake");
        lake(here.path(), "one", &out, jobs);
        let out = here.path().join(out);
        let seen = python(LOOK, &[out.to_str().unwrap()]);
        assert_eq!(seen, format!("{jobs} 0 0\nBIGINT UUID VARCHAR\n"), "{folder}");
        let script = here.path().join("lake.sql");
        fs::write(&script, gridtally(&["sql", out.to_str().unwrap()], here.path()).stdout).unwrap();
        let printed = python(OPEN, &["/", script.to_str().unwrap()]);
        assert_eq!(printed, format!("{jobs}\n"), "{folder}");
    }
    let script = here.path().join("a[1]/lake/gridtally.sql");
    let other = here.path().join("a[2]");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("gridtally.sql"), "-- another script").unwrap();
    let root = other.to_str().unwrap();
    let printed = python(OPEN, &["/", script.to_str().unwrap(), root]);
    assert!(printed.contains(&format!("the lake at {root}:")), "{printed}");
}

/// What a script comes to in DuckDB, from a working directory: jobs, or the first line of what it stops with.
const OPEN: &str = r#"
import duckdb, os, sys
folder, script, *root = sys.argv[1:]
os.chdir(folder)
con = duckdb.connect()
try:
    for one in root:
        con.execute("SET VARIABLE gridtally_root = '" + one.replace("'", "''") + "'")
    for one in script.split(":"):
        con.execute(open(one).read())
    print(con.execute("SELECT sum(job_n) FROM usage").fetchone()[0])
except duckdb.Error as stop:
    print("stopped:", str(stop).splitlines()[0])
"#;

#[test]
fn a_script_opens_the_lake_that_is_meant_or_stops() {
    let here = tempfile::tempdir().unwrap();
    let path = |name: &str| here.path().join(name).to_str().unwrap().to_owned();
    lake(here.path(), "twin", "out", 1);
    let copied = Command::new("cp")
        .args(["-r", "out", "backup copy"])
        .current_dir(here.path())
        .status();
    assert!(copied.unwrap().success());
    // The lake changes, its copy does not: the content shows which one was opened.
    lake(here.path(), "twin", "out", 3);
    let open = |folder: &str, script: &str, root: &[&str]| {
        python(OPEN, &[&[folder, script], root].concat()).trim_end().to_owned()
    };
    let (out, backup) = (path("out"), path("backup copy"));
    for folder in [path(""), out.clone(), backup.clone(), "/".to_owned()] {
        for (script, jobs) in [(&out, "3"), (&backup, "1")] {
            let file = format!("{script}/gridtally.sql");
            // The intended lake is unknown: not even the only one found is taken.
            let stopped = open(&folder, &file, &[]);
            assert!(
                stopped.starts_with("stopped: ") && stopped.contains("gridtally_root"),
                "{stopped}"
            );
            assert_eq!(open(&folder, &file, &[script]), jobs);
        }
        // The setting of one script is not taken for the next.
        let two = open(&folder, &format!("{out}/gridtally.sql:{backup}/gridtally.sql"), &[&out]);
        assert!(two.starts_with("stopped: "), "{two}");
    }
    let nowhere = open("/", &format!("{out}/gridtally.sql"), &[&path("")]);
    assert!(nowhere.contains("not that of the lake"), "{nowhere}");

    // The program writes a script with the path set, from anywhere.
    let other = tempfile::tempdir().unwrap();
    for (folder, named, jobs) in [
        (here.path(), "out", "3"),
        (here.path(), "./backup copy", "1"),
        (other.path(), out.as_str(), "3"),
        (Path::new(&backup), ".", "1"),
    ] {
        let printed = gridtally(&["sql", named], folder);
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let script = other.path().join("lake.sql");
        fs::write(&script, printed.stdout).unwrap();
        assert_eq!(open("/", script.to_str().unwrap(), &[]), jobs, "{named}");
    }
    assert_eq!(gridtally(&["sql", "none"], here.path()).status.code(), Some(66));
    // It names no folder.
    let copy = fs::read_to_string(here.path().join("backup copy/gridtally.sql")).unwrap();
    assert!(!copy.contains(here.path().to_str().unwrap()));
}

const SAFE: &str = r#"
import duckdb, sys
con = duckdb.connect()
con.execute(open(sys.argv[1]).read())
lake = sys.argv[2]
one = lambda query: con.execute(query).fetchall()
# A sum over units is refused; in one unit it is that of the files.
try:
    print(one("SELECT sum(charge) FROM charges"))
except duckdb.Error as stop:
    assert "sum" in str(stop), stop
units = [unit for (unit,) in one("SELECT DISTINCT unit FROM charges ORDER BY ALL")]
assert len(units) > 3, units
for unit in units:
    plain = one(f"SELECT sum(charge) FROM '{lake}/charges/**/*.parquet' WHERE unit = '{unit}'")
    assert one(f"SELECT sum(charge) FROM charges_in('{unit}')") == plain, unit
    assert one(f"SELECT sum(charge.amount) FROM charges WHERE unit = '{unit}'") == plain, unit
    assert one(f"SELECT sum(amount) FROM charge_units WHERE unit = '{unit}'") == plain, unit
    assert one(f"SELECT sum(charge) FROM job_charges_in('{unit}')") == one(f"SELECT sum(charge) FROM '{lake}/job_charges/**/*.parquet' WHERE unit = '{unit}'"), unit
# One account of hours at a time.
for view in ("batch", "payload", "storage", "summary"):
    plain = one(f"SELECT sum(job_n), sum(alloc_core_s) FROM '{lake}/usage/**/*.parquet' WHERE view = '{view}'")
    assert one(f"SELECT sum(job_n), sum(alloc_core_s) FROM usage_{view}") == plain, view
    assert one(f"SELECT sum(job_n), sum(alloc_core_s) FROM usage_of('{view}')") == plain, view
assert one("SELECT core_hours(7200), gpu_hours(1800), cpu_hours(7200000), cpu_percent(1800000, 3600), gib(1073741824)") == [(2, 0.5, 2, 50, 1)]
assert one("SELECT cpu_percent(1, 0)") == [(None,)]
assert one("SELECT count(DISTINCT unit) FROM overhead_of('osg-gpu')") == [(1,)]
one("SELECT * FROM overhead_queue_of('osg-gpu')")
# Every column of every dataset states what it is.
bare = one("""SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal AND comment IS NULL
              AND table_name IN (SELECT view_name FROM duckdb_views() WHERE sql LIKE '%gridtally_lake%')""")
assert not bare, bare
assert one("SELECT comment FROM duckdb_columns() WHERE table_name = 'usage' AND column_name = 'alloc_core_s'")[0][0].endswith("[core s]")
print("safe")
"#;

#[test]
fn the_safe_question_is_the_easy_one() {
    let here = tempfile::tempdir().unwrap();
    let lake = sample::lake();
    let script = here.path().join("lake.sql");
    fs::write(&script, gridtally(&["sql", lake.to_str().unwrap()], here.path()).stdout).unwrap();
    let answer = python(SAFE, &[script.to_str().unwrap(), lake.to_str().unwrap()]);
    assert_eq!(answer, "safe\n");
}
