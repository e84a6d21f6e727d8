//! What `DuckDB`, Polars and `PyArrow` make of what is written.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use gridtally::hive;
use gridtally::store::{TableOptions, TableWriter};

use super::contract::AWKWARD;
use super::{local, table};
use crate::support::python::python;

const PARTITIONS: &str = r#"
import sys, json, duckdb, polars as pl, pyarrow as pa, pyarrow.dataset as ds
root = sys.argv[1]
text = pa.schema([("site", pa.string()), ("vo", pa.string()), ("expected", pa.string())])
readers = {
  "duckdb": duckdb.execute(
      "select site, vo, expected from read_parquet(?, hive_partitioning=true, hive_types={'site': varchar, 'vo': varchar})",
      [root + "/usage/**/*.parquet"]).fetchall(),
  "polars": pl.scan_parquet(root + "/usage/**/*.parquet", hive_partitioning=True,
      hive_schema={"site": pl.String, "vo": pl.String}).select("site", "vo", "expected").collect().rows(),
  "pyarrow": [(r["site"], r["vo"], r["expected"]) for r in ds.dataset(root + "/usage", schema=text,
      partitioning=ds.partitioning(pa.schema([("site", pa.string()), ("vo", pa.string())]), flavor="hive"))
      .to_table(columns=["site", "vo", "expected"]).to_pylist()],
}
for name, rows in readers.items():
    for site, vo, expected in rows:
        assert site == expected, (name, site, expected)
        assert vo == "__unknown__", (name, vo)
        found = duckdb.execute(
            "select count(*) from read_parquet(?, hive_partitioning=true, hive_types={'site': varchar, 'vo': varchar}) where site = ?",
            [root + "/usage/**/*.parquet", expected]).fetchone()[0] if name == "duckdb" else 1
        assert found == 1, (expected, found)
    print(name, len(rows))
"#;

#[test]
fn partition_values_read_back_unchanged() {
    let (folder, store) = local();
    for value in AWKWARD {
        let column: ArrayRef = Arc::new(StringArray::from(vec![*value]));
        let batch = RecordBatch::try_from_iter([("expected", column)]).unwrap();
        let path = format!(
            "usage/{}/{}/part.parquet",
            hive::segment("site", Some(value)),
            hive::segment("vo", None)
        );
        let writer = store.writer(&path).unwrap();
        let mut table = TableWriter::create(writer, batch.schema(), &TableOptions::default()).unwrap();
        table.write(&batch).unwrap();
        table.finish().unwrap().1.finish().unwrap();
    }
    let n = AWKWARD.len();
    let read = python(PARTITIONS, &[folder.path().to_str().unwrap()]);
    assert_eq!(read, format!("duckdb {n}\npolars {n}\npyarrow {n}\n"));
}

const TYPES: &str = r#"
import sys, json, duckdb, polars as pl, pyarrow.parquet as pq
path = sys.argv[1]
for name, kind, *_ in duckdb.execute("describe select * from read_parquet(?)", [path]).fetchall():
    print(name, kind)
print("sum", duckdb.execute("select sum(wall_ms), sum(charge), count(distinct record_id) from read_parquet(?)", [path]).fetchone())
one = duckdb.execute("select record_id from read_parquet(?) where wall_ms = 7919 * 60011", [path]).fetchone()[0]
print("by id", duckdb.execute("select wall_ms from read_parquet(?) where record_id = ?", [path, one]).fetchone())
print("bloom", duckdb.execute("select bloom_filter_excludes from parquet_bloom_probe(?, 'record_id', ?::uuid)", [path, one]).fetchall())
schema = pq.read_schema(path)
print("pyarrow", schema.field("record_id").type, {k.decode(): v.decode() for k, v in sorted(schema.field("charge").metadata.items()) if k != b"PARQUET:field_id"})
print("footer", {k.decode(): v.decode() for k, v in sorted(pq.read_metadata(path).metadata.items()) if k != b"ARROW:schema"})
assert pq.read_table(path).num_rows == pl.read_parquet(path).height == 130000
print("polars", pl.read_parquet(path).schema["charge"], pl.read_parquet(path).schema["end_utc"])
"#;

const TYPES_SEEN: &str = "\
record_id UUID
site VARCHAR
vo VARCHAR
user VARCHAR
end_utc TIMESTAMP
day DATE
charge DECIMAL(38,6)
wall_ms BIGINT
cores INTEGER
gpus STRUCT(model VARCHAR, gpu_n BIGINT)[]
tags VARCHAR[]
sum (40217156235000, Decimal('4271304242.874287'), 130000)
by id (475227109,)
bloom [(False,), (True,)]
pyarrow extension<arrow.uuid> {'description': 'what it cost', 'unit': 'core-h'}
footer {'a': 'first', 'z': 'last'}
polars Decimal(precision=38, scale=6) Datetime(time_unit='ms', time_zone=None)
";

#[test]
fn columns_have_the_intended_types() {
    let (folder, store) = local();
    let all = table::sample(130_000);
    store
        .put("t.parquet", table::write(all.schema(), [all]).into())
        .unwrap();
    let seen = python(TYPES, &[folder.path().join("t.parquet").to_str().unwrap()]);
    assert_eq!(seen, TYPES_SEEN, "{seen}");
}
