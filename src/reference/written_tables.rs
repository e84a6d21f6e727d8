//! The tables people write: what names each, what its columns hold, what a bad row does, and an example.

use std::fmt::Write as _;

use super::allocation::AllocationTable;
use super::benchmark::{BenchmarkTable, NodeTable};
use super::correction::CorrectionTable;
use super::cpu_tres::CpuTresTable;
use super::energy::{IntensityTable, NodeEnergyTable, NodeMeterTable, PueTable, columns};
use super::federation_site::{self, FederationSites};
use super::first_match::MatchColumn;
use super::minute_limit::MinuteLimitTable;
use super::node_owner::NodeOwnerTable;
use super::node_type::NodeTypeTable;
use super::pledge::{self, Pledges};
use super::share_change::ShareChangeTable;
use super::site::{SiteColumn, SiteTable};
use super::site_rename::SiteRenames;
use super::stored::StoredTable;
use super::table_columns::{self, TableColumn};
use super::topology::Topology;
use super::vo::VoTable;
use super::vo_corrections::VoCorrections;
use super::vo_rule::VoColumn;
use crate::diagnostics::Problems;

/// What becomes of columns that a table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherColumns {
    /// The table is refused.
    Refused,
    /// They are passed over.
    Ignored,
}

/// Reads a table and reports its mistakes under the name of its file.
pub type TableCheck = fn(&[u8], &str, &mut Problems);

/// A table people write.
#[derive(Clone, Debug)]
pub struct WrittenTable {
    /// Its heading in the reference.
    pub title: &'static str,
    /// What names its file.
    pub named_by: &'static str,
    /// What it states.
    pub doc: &'static str,
    /// Its columns, in any order.
    pub columns: Vec<TableColumn>,
    /// What becomes of others.
    pub others: OtherColumns,
    /// What it does with several rows that fit, and what makes a row bad besides its cells.
    pub rows: &'static str,
    /// A table without a mistake.
    pub example: &'static str,
    /// Reads one; `None` where the reader of a `[[inventory]]` does.
    pub check: Option<TableCheck>,
}

/// A bad row of a table that a pipeline or a command names.
const STOPS: &str =
    "A bad row stops the command before it reads any data; every mistake is printed as `file:line: message`.";
/// A bad row of a listing.
const REJECTED: &str =
    "A bad row is rejected with its reason and counts against `max_rejected`; the other rows are read.";

/// Every table, in the order of the reference.
#[must_use]
pub fn written_tables() -> Vec<WrittenTable> {
    let mut tables = benchmarks();
    tables.extend(names());
    tables.extend(federations());
    tables.extend(books());
    tables.extend(shares());
    tables.extend(listings());
    tables.extend(energy());
    tables
}

/// Tables of energy and carbon.
fn energy() -> Vec<WrittenTable> {
    vec![
        WrittenTable {
            title: "PUE",
            named_by: "`pue` of `[energy]`",
            doc: "What a site takes for each joule of its nodes, and since when.",
            columns: columns::PUE.to_vec(),
            others: OtherColumns::Refused,
            rows: "A site with rows of its own takes none of those of any site. Of rows that hold at once the one recorded last counts; \
                   rows of one site that were recorded at once and overlap, and a time between two rows that no row is for, are mistakes.",
            example: "site,pue,valid_from,valid_to,recorded_at,source\n\
                      OAK,1.4,2025-01-01,2026-03-16,,meters of 2025\nOAK,1.25,2026-03-16,,,new chillers\n",
            check: Some(|bytes, file, problems| {
                let _ = PueTable::read(bytes, file, None, problems);
            }),
        },
        WrittenTable {
            title: "Carbon intensity",
            named_by: "`intensity` of `[energy]`",
            doc: "What a kilowatt hour of a site emits: by the year, the month, the hour or any other time. Rows of both bases may be in \
                  one table; the pipeline names the one that counts.",
            columns: columns::CARBON_INTENSITY.to_vec(),
            others: OtherColumns::Refused,
            rows: "As in the table of PUE, for each basis apart.",
            example: "site,basis,g_per_kwh,valid_from,valid_to,source\n\
                      OAK,location,301.5,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,grid operator\n\
                      OAK,location,287.25,2026-01-01T01:00:00Z,2026-01-01T02:00:00Z,grid operator\n",
            check: Some(|bytes, file, problems| {
                let _ = IntensityTable::read(bytes, file, None, problems);
            }),
        },
        WrittenTable {
            title: "Energy of nodes",
            named_by: "`nodes` of `[energy]`",
            doc: "What nodes of a type draw, what it took to make them, and whether jobs share them.",
            columns: columns::NODE_ENERGY.to_vec(),
            others: OtherColumns::Refused,
            rows: "Of the rows that hold for a node the closest counts: nodes, partition, cluster, site; of those the one recorded last. \
                   Rows of one scope that were recorded at once and overlap are a mistake.",
            example: "site,node_type,nodes,cores,core_idle_w,core_full_w,embodied_kg,lifetime_years,valid_from,valid_to\n\
                      OAK,epyc,\"n[01-20]\",128,1.2,3.4,1300,5,2024-01-01,\n",
            check: Some(|bytes, file, problems| {
                let _ = NodeEnergyTable::read(bytes, file, None, problems);
            }),
        },
        WrittenTable {
            title: "Meters of nodes",
            named_by: "`meters` of `[energy]`, and `--meters` of `report node-energy`",
            doc: "What each node took between two readings of its meter.",
            columns: columns::NODE_METERS.to_vec(),
            others: OtherColumns::Refused,
            rows: "Of rows of one node and the same times the one recorded last counts; others that overlap are a mistake.",
            example: "node,valid_from,valid_to,joules\nn01,2026-03-01,2026-03-02,34560000\nn01,2026-03-02,2026-03-03,31104000\n",
            check: Some(|bytes, file, problems| {
                let _ = NodeMeterTable::read(bytes, file, None, problems);
            }),
        },
    ]
}

fn benchmarks() -> Vec<WrittenTable> {
    vec![
        WrittenTable {
            title: "Benchmarks",
            named_by: "`benchmarks` of `[normalise]`, and `--site-values` of `work`",
            doc: "What a core is worth, and since when.",
            columns: table_columns::BENCHMARKS.to_vec(),
            others: OtherColumns::Refused,
            rows: "Of the rows that hold for a job those of its site come before those of any site, then the closest counts: \
                   nodes, node class, partition, CE, cluster, site. Rows of one place that overlap in time are a mistake.",
            example: "site,cluster,benchmark,value_per_core,valid_from,valid_to\n\
                      OAK,,hs06,10.5,2023-01-01,2024-01-01\nOAK,,hs23,11.2,2024-01-01,\n",
            check: Some(|bytes, file, problems| {
                BenchmarkTable::read(bytes, file, None, problems);
            }),
        },
        WrittenTable {
            title: "Nodes of benchmarks",
            named_by: "`nodes` of `[normalise]`",
            doc: "Which nodes are of a class that benchmarks name, and how many cores each has.",
            columns: table_columns::BENCHMARK_NODES.to_vec(),
            others: OtherColumns::Refused,
            rows: "Two rows that describe one node at the same time are a mistake.",
            example: "site,cluster,nodes,node_class,cores,valid_from,valid_to\nOAK,,n[01-20],old,16,,2024-01-01\n",
            check: Some(|bytes, file, problems| {
                NodeTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Node types",
            named_by: "`node_types` of `[capacity]`",
            doc: "What a site has, by type of node: installed capacity is counted from it.",
            columns: table_columns::NODE_TYPES.to_vec(),
            others: OtherColumns::Refused,
            rows: "Rows of one type that overlap in time are a mistake: its nodes would count twice.",
            example: "site,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to\n\
                      OAK,epyc,20,2,128,hs23,14.1,2024-01-01,\n",
            check: Some(|bytes, file, problems| {
                NodeTypeTable::read(bytes, file, problems);
            }),
        },
    ]
}

/// Tables of names.
fn names() -> Vec<WrittenTable> {
    const FIRST: &str = "The first row that matches gives the name; an empty or `*` cell matches anything, every other cell \
                         must be equal, letter case included.";
    vec![
        WrittenTable {
            title: "VOs",
            named_by: "`table` of `vo = { .. }`",
            doc: "The VO of a job by columns of its record. At least one column to match by, and `to_vo`; without `to_vo` \
                  the last column is `vo`, and that is the result.",
            columns: matched::<VoColumn>("The VO."),
            others: OtherColumns::Refused,
            rows: FIRST,
            example: "account,to_vo\nkelp,atlas\n*,local\n",
            check: Some(|bytes, file, problems| {
                VoTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Sites",
            named_by: "`table` of `site = { .. }`",
            doc: "The site of a job by columns of its record. At least one column to match by.",
            columns: matched::<SiteColumn>("The site."),
            others: OtherColumns::Refused,
            rows: FIRST,
            example: "cluster,to_site\noak,OAK-T2\n",
            check: Some(|bytes, file, problems| {
                SiteTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Corrections of VO names",
            named_by: "`corrections` of `vo = { .. }`",
            doc: "VO names put right as GRACC does. Without `known`, a name that no row lists stays as it is.",
            columns: table_columns::VO_CORRECTIONS.to_vec(),
            others: OtherColumns::Refused,
            rows: "Both names must be equal, letter case included; the first row that matches counts.",
            example: "vo_name,reportable_vo,to_vo\n/kelp/Role=prod,,kelp\n",
            check: Some(|bytes, file, problems| VoCorrections::default().read(bytes, file, problems)),
        },
        WrittenTable {
            title: "Known VOs",
            named_by: "`known` of `vo = { .. }`",
            doc: "VOs that are known as they are, such as OSG topology's list.",
            columns: table_columns::KNOWN_VOS.to_vec(),
            others: OtherColumns::Ignored,
            rows: "Of two spellings of one name the first counts.",
            example: "VO,Active\nkelp,true\n",
            check: Some(|bytes, file, problems| VoCorrections::default().read_known(bytes, file, problems)),
        },
        WrittenTable {
            title: "Topology",
            named_by: "`topology` of `site = { .. }`",
            doc: "Resources and the groups, sites and facilities they belong to, as OSG's topology lists them.",
            columns: table_columns::TOPOLOGY.to_vec(),
            others: OtherColumns::Ignored,
            rows: "Of several resources with one name the first counts.",
            example: "Facility,Site,ResourceGroup,Resource,FQDN\nOak Labs,OAK,OAK-T2,OAK-CE1,ce1.oak.example\n",
            check: Some(|bytes, file, problems| {
                Topology::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Site renames",
            named_by: "`--rename` of `work`",
            doc: "Sites that are published under another name.",
            columns: table_columns::SITE_RENAMES.to_vec(),
            others: OtherColumns::Refused,
            rows: "The first row that matches gives the name.",
            example: "site,vo,to_site\nOAK,atlas,OAK-ATLAS\n",
            check: Some(|bytes, file, problems| {
                SiteRenames::read(bytes, file, problems);
            }),
        },
    ]
}

/// Tables of federations.
fn federations() -> Vec<WrittenTable> {
    vec![
        WrittenTable {
            title: "Sites of a federation",
            named_by: "`--sites` of `report egi`, `wlcg` and `osg`",
            doc: "What a federation knows of its sites and a lake does not. Of a site without a row it is unknown.",
            columns: federation_site::COLUMNS.to_vec(),
            others: OtherColumns::Refused,
            rows: "A second row of a site is a mistake.",
            example: "site,federation,country,tier\nOAK,US-OAK,US,2\n",
            check: Some(|bytes, file, problems| {
                FederationSites::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Pledges",
            named_by: "`--pledges` of `report wlcg`",
            doc: "The power a federation promised to a VO, whole pledge years.",
            columns: pledge::COLUMNS.to_vec(),
            others: OtherColumns::Refused,
            rows: "A second pledge of a federation for a VO and year is a mistake.",
            example: "federation,vo,pledge_year,power\nUS-OAK,atlas,2026,12000\n",
            check: Some(|bytes, file, problems| {
                Pledges::read(bytes, file, problems);
            }),
        },
    ]
}

/// Tables of what people sign or grant.
fn books() -> Vec<WrittenTable> {
    vec![
        WrittenTable {
            title: "Signed corrections",
            named_by: "`corrections` of `[pipeline]`",
            doc: "What people add to, take out of, or move within usage. Rows are only ever added at the end.",
            columns: table_columns::CORRECTIONS.to_vec(),
            others: OtherColumns::Refused,
            rows: "`void` and `remap` take of the recorded jobs what equals all of their filters, and nothing that an `add` gave; rows are applied in their order, each to what \
                   those before it left. At most 10 000 rows. A row that was applied and is changed or gone stops the run.",
            example: "id,action,site,month,job_id,alloc_core_s,author,reason,date\n\
                      C1,void,OAK,2024-03,2,,E. Office,ran on a broken node,2024-04-02\n\
                      C2,add,OAK,2024-03,,14400,E. Office,log of node n7 lost,2024-04-03\n",
            check: Some(|bytes, file, problems| {
                CorrectionTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Allocations",
            named_by: "`--allocations` of `report balance`, and `table` of `[awards]`",
            doc: "How much of what a policy counts an account may use, from when until when; and entries that change it later.",
            columns: table_columns::ALLOCATIONS.to_vec(),
            others: OtherColumns::Refused,
            rows: "Awards for the same account, policy, place and days add up; awards that only overlap, until an `expiry` of one of \
                   them, are a mistake. `report balance` \
                   takes awards of accounts alone, in the unit of their policy.",
            example: "kind,account,policy,amount,valid_from,valid_to,author,reason\n\
                      award,kelp,oak,1000,2024-04-01,2025-04-01,,\n\
                      adjustment,kelp,oak,-50,2024-06-01,,E. Office,granted twice\n",
            check: Some(|bytes, file, problems| {
                AllocationTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Stored bytes",
            named_by: "`--stored` of `report awards`",
            doc: "What accounts had stored on some days: the use of awards of storage, which no job states.",
            columns: table_columns::STORED.to_vec(),
            others: OtherColumns::Refused,
            rows: "A second row of an account, site and day is a mistake. An award of any site takes the sum of the rows of a day: state \
                   all sites on the same days.",
            example: "account,day,stored_byte,site\n\
                      kelp,2024-06-01,7250000000000,OAK\n\
                      kelp,2024-07-01,8100000000000,OAK\n",
            check: Some(|bytes, file, problems| {
                StoredTable::read(bytes, file, problems);
            }),
        },
    ]
}

/// Tables of what shares are granted for.
fn shares() -> Vec<WrittenTable> {
    vec![
        WrittenTable {
            title: "Owners of nodes",
            named_by: "`--owners` of `report shares`",
            doc: "Which account bought which nodes, alone (lab) or with others (communal), from when until when.",
            columns: table_columns::NODE_OWNERS.to_vec(),
            others: OtherColumns::Refused,
            rows: "On each day the parts of a node add up to the whole; less, more, and a node that two rows own as a whole are \
                   mistakes.",
            example: "account,nodes,part,valid_from,valid_to\n\
                      lab_a,h[01-04],,2025-07-01,\nlab_a,s01,1/3,2026-01-01,\nlab_b,s01,2/3,2026-01-01,\n",
            check: Some(|bytes, file, problems| {
                NodeOwnerTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "CPU TRES of cores",
            named_by: "`--core-tres` of `report shares`",
            doc: "What a core counts for. The example is FASRC's: peak operations of a core by those of a Broadwell core.",
            columns: table_columns::CPU_TRES.to_vec(),
            others: OtherColumns::Refused,
            rows: "The first row that matches counts. A node that grants shares and matches no row is a mistake.",
            example: "feature,tres_per_core\nabudhabi,0.25\nnehalem,0.25\nsandybridge,0.5\nivybridge,0.5\n\
                      haswell,1.0\nbroadwell,1.0\nskylake,1.2\n",
            check: Some(|bytes, file, problems| {
                CpuTresTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Limits of minutes",
            named_by: "`--minutes` of `report shares`",
            doc: "How many minutes of a resource an account may use: `GrpTRESMins` of Slurm.",
            columns: table_columns::MINUTE_LIMITS.to_vec(),
            others: OtherColumns::Refused,
            rows: "Rows for one account and resource that overlap in time are a mistake.",
            example: "account,tres,minutes\nlab_a,billing,600000\nlab_a,gres/gpu,12000\n",
            check: Some(|bytes, file, problems| {
                MinuteLimitTable::read(bytes, file, problems);
            }),
        },
        WrittenTable {
            title: "Changed shares",
            named_by: "`--shares-table` and `shares_table` of `report fairshare`",
            doc: "Which accounts and users would have other shares. What `report shares --format csv` prints is such a table.",
            columns: table_columns::SHARE_CHANGES.to_vec(),
            others: OtherColumns::Refused,
            rows: "Two rows for one association, and an association that no listing has, are mistakes.",
            example: "account,user,shares\nlab_a,,+40\nlab_b,,90\nlab_b,ann,parent\n",
            check: Some(|bytes, file, problems| {
                ShareChangeTable::read(bytes, file, problems);
            }),
        },
    ]
}

/// Listings of the machine in CSV; those of Slurm's own tools are among the dialects.
fn listings() -> Vec<WrittenTable> {
    vec![
        WrittenTable {
            title: "Listing of nodes",
            named_by: "`paths` of an `[[inventory]]`, or `nodes` of `[overhead]`",
            doc: "Nodes and what each has, where the batch system prints no listing. Lines that begin with `#` are comments.",
            columns: table_columns::NODE_LISTING.to_vec(),
            others: OtherColumns::Refused,
            rows: REJECTED,
            example: "node,cluster,cpu_n,memory_byte,partitions\nn[1-2],oak,4,17179869184,batch\n",
            check: None,
        },
        WrittenTable {
            title: "Listing of reservations",
            named_by: "`paths` of an `[[inventory]]`",
            doc: "Windows in which resources are set aside. Lines that begin with `#` are comments.",
            columns: table_columns::RESERVATION_LISTING.to_vec(),
            others: OtherColumns::Refused,
            rows: REJECTED,
            example: "reservation,cluster,start,end,node_n,nodes\n\
                      upgrade,oak,2024-03-09T08:00:00Z,2024-03-09T12:00:00Z,2,n[1-2]\n",
            check: None,
        },
    ]
}

/// The columns of a table whose first matching row answers.
fn matched<C: MatchColumn>(result: &'static str) -> Vec<TableColumn> {
    let column = |name| TableColumn {
        name,
        value: "text",
        unit: "",
        is_required: false,
        doc: "Matched with this column of the record.",
    };
    let mut columns: Vec<TableColumn> = C::KNOWN.iter().map(|(name, _)| column(*name)).collect();
    columns.push(TableColumn {
        is_required: C::TABLE.last.is_none(),
        doc: result,
        ..column(C::TABLE.result)
    });
    columns
}

impl WrittenTable {
    /// Its section of the reference.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "\n## {}\n\nNamed by {}. {}\n\n| column | value | unit | meaning |\n|---|---|---|---|\n",
            self.title, self.named_by, self.doc
        );
        for column in &self.columns {
            let TableColumn { name, value, unit, .. } = column;
            let must = if column.is_required { ", required" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{name}` | {value}{must} | {unit} | {} |", column.doc);
        }
        let others = match self.others {
            OtherColumns::Refused => "Other columns are a mistake.",
            OtherColumns::Ignored => "Other columns are passed over.",
        };
        let _ = write!(text, "\n{others} {}", self.rows);
        if self.check.is_some() {
            let _ = write!(text, " {STOPS}");
        }
        let _ = write!(text, "\n\n```csv\n{}```\n", self.example);
        text
    }
}
