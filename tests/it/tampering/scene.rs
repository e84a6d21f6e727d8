//! A small lake that has rows in nearly every dataset, and every book.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gridtally::audit::verify;

const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Suspended|NCPUS|NNodes|AllocTRES|TotalCPU|NodeList\n";

/// Jobs of two months, one over their border; a row that is cut off.
const FIRST: &str = "1|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T12:00:00|43200|00:00:00|2|1|cpu=2,mem=4G,node=1|00:10:00|o1\n\
    2|oak|v|b|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T06:00:00|2026-10-30T18:00:00|43200|00:00:00|3|2|cpu=3,mem=6G,node=2|00:10:00|o[1-2]\n\
    3|oak|u|a|cpu|COMPLETED|2026-10-31T00:00:00|2026-10-31T18:00:00|2026-11-01T06:00:00|32400|03:00:00|4|1|cpu=4,mem=1G,node=1|00:10:00|o2\n\
    4|oak|u|a|excl|COMPLETED|2026-11-02T00:00:00|2026-11-02T00:00:00|2026-11-02T01:00:00|3600|00:00:00|4|1|cpu=4,mem=1G,node=1|00:10:00|o1\n\
    6|oak|u|a|cpu|RUNNING|2026-11-02T00:00:00|2026-11-02T02:00:00|Unknown|3600|00:00:00|1|1|cpu=1,mem=1G,node=1|00:10:00|o2\n\
    7|oak|u|a|cpu|COMPLETED|2026-11-02\n";

/// A job that ran on, and one of another account.
const SECOND: &str = "6|oak|u|a|cpu|COMPLETED|2026-11-02T00:00:00|2026-11-02T02:00:00|2026-11-02T04:00:00|7200|00:00:00|1|1|cpu=1,mem=1G,node=1|00:20:00|o2\n\
    8|oak|v|b|cpu|COMPLETED|2026-11-03T00:00:00|2026-11-03T02:00:00|2026-11-03T04:00:00|7200|00:00:00|2|1|cpu=2,mem=1G,node=1|00:20:00|o1\n";

const NODES: &str = "NodeName=o1 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=16384 Partitions=cpu,excl State=IDLE\n\
    NodeName=o2 CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=8192 Gres=gpu:t4:2 Partitions=cpu State=IDLE\n";
const CONF: &str = "ClusterName=oak\nNodeName=c[1-3] CPUs=2\n\
    PartitionName=p Nodes=c1 TRESBillingWeights=\"CPU=1.0,Mem=0.25G\"\n";
const EVENTS: &str = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n\
    oak|o1|2026-10-30T15:00:00|2026-10-30T20:00:00|DRAIN|fan\n\
    oak|o2|2026-10-30T20:00:00|2026-10-30T22:00:00|MAINT|firmware\n";
const ASSOC: &str = "Cluster|Account|User|Share\noak|root||1\noak|bio|ada|parent\n";
const RESERVATIONS: &str = "reservation,cluster,start,end,node_n,core_n,gpus,accounts,as_of\n\
    workshop,oak,2026-10-29T00:00:00Z,2026-10-29T08:00:00Z,1,4,,a,2026-10-01\n";

const SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: S\nMonth: 10\nYear: 2026\nVO: reef\nSubmitHost: ce1\n\
    InfrastructureType: grid\nNodeCount: 1\nProcessors: 8\nWallDuration: 3600\nCpuDuration: 7200\nNumberOfJobs: 5\n\
    ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";
const LATER_SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: S\nMonth: 10\nYear: 2026\nVO: reef\nSubmitHost: ce1\n\
    InfrastructureType: grid\nNodeCount: 1\nProcessors: 8\nWallDuration: 4000\nCpuDuration: 8000\nNumberOfJobs: 6\n\
    ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";

const BENCHMARKS: &str = "site,cluster,benchmark,value_per_core,valid_from,valid_to\nA,oak,hs06,10,2020-01-01,\nA,oak,hs23,11.5,2020-01-01,\n";
const NODE_TYPES: &str = "site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to\n\
    A,oak,o-2020,2,1,4,hs23,11.5,2026-10-01,2026-12-01\n";
const AWARDS: &str = "account,policy,amount,valid_from\na,wlcg-work,1000,2026-10-01\n";
const CORRECTIONS: &str = "id,action,site,month,vo,account,job_id,to_account,job_n,alloc_core_s,cpu_ms,undoes,author,reason,date\n\
    C1,remap,A,,v,b,2,a,,,,,E. Office,paid by a,2026-11-05\n\
    C2,add,A,2026-10,v,a,,,12,432000,430000000,,E. Office,log lost,2026-11-05\n";

fn pipeline() -> String {
    let policies = crate::support::sample::repository("pipelines/policies");
    let policies = policies.display();
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 1.0\ngrain = \"day\"\ncorrections = \"corrections.csv\"\n\
         [[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs-*.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\n\
         vo = {{ value = \"v\" }}\n\
         [[source]]\nname = \"sums\"\nformat = \"apel\"\npaths = [\"sums\"]\nacceptance = \"salvage\"\n\
         [[inventory]]\nname = \"state\"\npaths = [\"events.txt\", \"slurm.conf\", \"assoc.txt\", \"reservations.csv\"]\n\
         timezone = \"UTC\"\nas_of = \"2026-10-01\"\nsite = \"A\"\ncluster = \"oak\"\n\
         [overhead]\nnodes = [\"nodes.txt\"]\nbilling = \"overhead-aware\"\n\
         [[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n\
         [[charge]]\npolicies = [\"{policies}/slurm-tres.toml\", \"{policies}/wlcg-work.toml\"]\n\
         [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n\
         [capacity]\nnode_types = \"node_types.csv\"\n[awards]\ntable = \"awards.csv\"\n"
    )
}

/// A folder with a lake, and the lake of the night before.
pub(super) struct Scene(tempfile::TempDir);

impl Scene {
    /// Two nights: each with a run, a publication, and a lock of a month.
    pub(super) fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for (name, text) in [
            ("nodes.txt", NODES),
            ("slurm.conf", CONF),
            ("events.txt", EVENTS),
            ("assoc.txt", ASSOC),
            ("reservations.csv", RESERVATIONS),
            ("sums/1.msg", SUMMARY),
            ("benchmarks.csv", BENCHMARKS),
            ("node_types.csv", NODE_TYPES),
            ("corrections.csv", CORRECTIONS),
            ("awards.csv", AWARDS),
            ("p.toml", &pipeline()),
        ] {
            scene.write(name, text);
        }
        scene.night("1", FIRST, "2025-01");
        crate::support::forge::copy_lake(&scene.lake(), &scene.path("before"));
        scene.write("sums/2.msg", LATER_SUMMARY);
        scene.night("2", SECOND, "2025-02");
        scene
    }

    fn night(&self, name: &str, jobs: &str, locked: &str) {
        self.write(&format!("jobs-{name}.txt"), &format!("{HEADER}{jobs}"));
        self.done(&["run", "p.toml"]);
        let kinds = ["--message", "job-v0.4", "--message", "sync"];
        let to = ["--receiver", "egi", "--leave-out", "--out", "spool"];
        self.done(&[&["report", "apel", "lake"][..], &kinds, &to].concat());
        let why = ["--reason", "report", "--author", "E. Office"];
        self.done(&[&["publication", "lock", "lake", "--month", locked][..], &why].concat());
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn lake(&self) -> PathBuf {
        self.path("lake")
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Runs a command; whether it succeeded, and what it printed.
    pub(super) fn ask(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        let output = command.args(args).current_dir(self.0.path()).output().unwrap();
        let stated = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(stated).unwrap())
    }

    fn done(&self, args: &[&str]) {
        let (is_done, stated) = self.ask(args);
        assert!(is_done, "{args:?}: {stated}");
    }
}

/// What a verification names: what is wrong, and what does not belong to what is published.
pub(super) fn findings(lake: &Path) -> Vec<(String, String)> {
    let report = verify::verify(lake.to_str().unwrap()).unwrap();
    [report.findings, report.leftovers].concat()
}
