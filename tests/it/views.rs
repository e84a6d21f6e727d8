//! `gridtally.sql`: the views find their lake, and a dataset without files is an empty view of the right types.

use std::fs;
use std::process::Command;

use super::support::python::python;
use super::support::sample::run;

const LOOK: &str = r#"
import duckdb, os, sys
lake = sys.argv[1]
above = os.path.dirname
sql = open(lake + "/gridtally.sql").read()
def look(folder, root=None):
    os.chdir(folder)
    con = duckdb.connect()
    if root:
        con.execute("SET VARIABLE gridtally_root = '" + root.replace("'", "''") + "'")
    con.execute(sql)
    views = [name for (name,) in con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()]
    rows = {name: con.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in views}
    types = {name: con.execute(f'SELECT column_name, column_type FROM (DESCRIBE "{name}")').fetchall() for name in views}
    return rows, types
seen = [look(lake), look(above(lake)), look(above(above(above(lake)))), look("/", lake)]
assert all(one == seen[0] for one in seen), seen
rows, types = seen[0]
print(rows["records"], rows["rejects"], rows["history"])
print(dict(types["rejects"])["row_n"], dict(types["history"])["record_id"], dict(types["history"])["site"])
"#;

#[test]
fn views_find_their_lake_and_are_typed_when_empty() {
    let here = tempfile::tempdir().unwrap();
    let job = "1|c|u|a|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|2|00:10:00";
    let header = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU";
    fs::write(here.path().join("file"), format!("{header}\n{job}\n")).unwrap();
    for (nth, name) in ["plain", r#"it's \"a\" name"#].into_iter().enumerate() {
        let lake = format!("a/b/lake-{nth}");
        let text = format!(
            "[pipeline]\nname = \"{name}\"\noutput = \"{lake}\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\n\
             paths = [\"file\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n"
        );
        let file = here.path().join("p.toml");
        fs::write(&file, text).unwrap();
        run(Command::new(env!("CARGO_BIN_EXE_gridtally")).arg("run").arg(&file));
        let seen = python(LOOK, &[here.path().join(lake).to_str().unwrap()]);
        assert_eq!(seen, "1 0 0\nBIGINT UUID VARCHAR\n", "{name}");
    }
}
