//! The dated tables beside the dumps.

use std::collections::BTreeMap;

const BENCHMARKS: &str = "\
site,cluster,benchmark,value_per_core,valid_from,valid_to
ALP-T2,glacier,hs06,10.84,2024-01-01,2026-03-01
ALP-T2,glacier,hs06,12.40,2026-03-01,
ALP-T2,glacier,hs23,11.20,2024-01-01,2026-03-01
ALP-T2,glacier,hs23,13.05,2026-03-01,
ALP-T2,moraine,hs23,17.5,2025-10-01,
";

const VO: &str = "\
account,vo
firn,firn
lawine,lawine
schnee-eis,Schnee & Eis
moraene,moräne
";

/// One node too few: `moraine` once had a `g007`.
const NODES: &str = "\
# what the nodes of the two clusters have
node,cluster,cpu_n,memory_byte,gpus,partitions
g[001-060],glacier,64,274877906944,,cpu
fat1,glacier,192,13194139533312,,himem
m[01-12],moraine,32,137438953472,gpu:4,gpu
";

/// Adds the tables.
pub(crate) fn tables(files: &mut BTreeMap<&'static str, Vec<u8>>) {
    files.insert("benchmarks.csv", BENCHMARKS.as_bytes().to_vec());
    files.insert("alp/nodes.csv", NODES.as_bytes().to_vec());
    files.insert("vo.csv", VO.as_bytes().to_vec());
}
