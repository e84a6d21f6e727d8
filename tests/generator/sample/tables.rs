//! The dated tables for the dumps.

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

/// Two nodes too few: `moraine` once had a `g007`, and nobody listed `fat1`.
const LISTED_NODES: &str = "\
# what the nodes of the two clusters have
node,cluster,cpu_n,memory_byte,gpus,partitions
g[001-002],glacier,64,137438953472,,cpu
m[01-02],moraine,32,137438953472,gpu:4,gpu
";

/// Accounts and users of `glacier` with their shares. Nobody listed the account `wanderer`.
const SHARES: &str = "\
Cluster|Account|ParentName|User|Partition|Share|DefaultQOS|QOS|GrpTRES|GrpTRESMins
glacier|root||||1||normal||
glacier|ice|root|||60||normal||
glacier|rock|root|||40||normal||
glacier|firn|ice|||30||normal||
glacier|lawine|ice|||20||normal||
glacier|schnee-eis|ice|||10||normal||
glacier|moraene|rock|||1||normal||
glacier|firn||anouk||2||normal||
glacier|firn||bastian||1||normal||
glacier|lawine||chiara||1||normal||
glacier|lawine||emil||1||normal||
glacier|schnee-eis||jürg||parent||normal||
glacier|moraene||zoë||1||normal||
";

const NODES: &str = "\
site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to
ALP-T2,glacier,g-2019,60,2,32,hs23,11.20,2024-01-01,2026-03-01
ALP-T2,glacier,g-2019,30,2,32,hs23,11.20,2026-03-01,
ALP-T2,glacier,g-2026,30,2,32,hs23,14.90,2026-03-01,
ALP-T2,moraine,m-2025,13,1,16,hs23,17.5,2025-10-01,
";

/// Adds the tables.
pub(crate) fn tables(files: &mut BTreeMap<&'static str, Vec<u8>>) {
    files.insert("benchmarks.csv", BENCHMARKS.as_bytes().to_vec());
    files.insert("alp/nodes.csv", LISTED_NODES.as_bytes().to_vec());
    files.insert("alp/shares.txt", SHARES.as_bytes().to_vec());
    files.insert("node_types.csv", NODES.as_bytes().to_vec());
    files.insert("vo.csv", VO.as_bytes().to_vec());
}
