//! Jobs of two invented sites, to be changed and made a lake of.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gridtally::report::lake::{Lake, Selection};
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::work_scale::WorkScale;

use super::super::scene::Scene;

/// 2026-03-01 and 2026-04-01.
pub(super) const MARCH: i64 = 1_772_323_200;
pub(super) const APRIL: i64 = MARCH + 31 * 86_400;

pub(super) const HOUR: i64 = 3600;

/// One job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeedJob {
    pub(super) site: &'static str,
    pub(super) vo: &'static str,
    pub(super) id: String,
    pub(super) start: i64,
    /// None while it runs.
    pub(super) end: Option<i64>,
    pub(super) wall: i64,
    pub(super) cpu: i64,
    pub(super) cores: i64,
    pub(super) benchmark: &'static str,
    /// Hundredths.
    pub(super) level: i64,
    pub(super) file: String,
    pub(super) is_payload: bool,
}

impl SeedJob {
    /// Whether it is of this site and ends in the month that begins at `from`.
    pub(super) fn is_of(&self, site: &str, from: i64) -> bool {
        let until = if from == MARCH { APRIL } else { from + 30 * 86_400 };
        self.site == site && self.end.is_some_and(|end| (from..until).contains(&end))
    }
}

/// In which form jobs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dump {
    Apel,
    Gracc,
    Slurm,
}

/// What a lake is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct World {
    pub(super) dump: Dump,
    pub(super) jobs: Vec<SeedJob>,
    pub(super) corrections: String,
    /// Further messages, by file name.
    pub(super) messages: BTreeMap<String, String>,
    pub(super) overlap: &'static str,
    /// Benchmarks of the pipeline, as a table.
    pub(super) benchmarks: Option<String>,
}

impl World {
    pub(super) fn new(dump: Dump) -> Self {
        let mut jobs = Vec::new();
        for (site, benchmark_of) in [("NORD", [1000, 1200]), ("SUED", [1100, 1100])] {
            for (month, from, days, level) in [("03", MARCH, 31, benchmark_of[0]), ("04", APRIL, 30, benchmark_of[1])] {
                // Two jobs end each day, and one shortly before the month does.
                for nth in 0..=days * 2 {
                    let last = from + days * 86_400 - 1200;
                    let end = if nth == days * 2 {
                        last
                    } else {
                        from + nth * 12 * HOUR + 1800
                    };
                    let wall = 7200 + nth * 411;
                    let cores = [1, 8, 1, 4][usize::try_from(nth % 4).unwrap()];
                    jobs.push(SeedJob {
                        site,
                        vo: ["kelp", "reef", "atoll"][usize::try_from(nth % 3).unwrap()],
                        id: format!("{}{month}{nth:03}", site.len() + usize::from(site == "SUED")),
                        start: end - wall,
                        end: Some(end),
                        wall,
                        cpu: wall * cores * 4 / 5 - nth,
                        cores,
                        benchmark: "HEPSPEC",
                        level,
                        file: format!("{}-{month}-{}", site.to_lowercase(), nth / 20),
                        is_payload: nth % 10 == 9,
                    });
                }
            }
        }
        if dump == Dump::Gracc {
            // A payload runs inside of a job that ended shortly after.
            for job in &mut jobs {
                job.is_payload &= job.site == "SUED";
            }
        }
        Self {
            dump,
            jobs,
            corrections: String::new(),
            messages: BTreeMap::new(),
            overlap: "jobs",
            benchmarks: None,
        }
    }

    /// The jobs of a site and month.
    pub(super) fn of(&mut self, site: &'static str, from: i64) -> impl Iterator<Item = &mut SeedJob> {
        self.jobs.iter_mut().filter(move |job| job.is_of(site, from))
    }

    /// The jobs of a site.
    pub(super) fn of_site(&mut self, site: &'static str) -> impl Iterator<Item = &mut SeedJob> {
        self.jobs.iter_mut().filter(move |job| job.site == site)
    }

    /// Removes jobs and returns their number.
    pub(super) fn lose(&mut self, is_lost: impl Fn(&SeedJob) -> bool) -> i128 {
        let before = self.jobs.len();
        self.jobs.retain(|job| !is_lost(job));
        i128::try_from(before - self.jobs.len()).unwrap()
    }

    /// Adds a signed correction.
    pub(super) fn sign(&mut self, cells: &str) {
        let given = cells.split(',').count();
        let _ = writeln!(
            self.corrections,
            "{cells}{}E. Office,as agreed,2026-06-01",
            ",".repeat(15 - given)
        );
    }

    /// The files of its jobs.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = self.messages.clone();
        for job in &self.jobs {
            let (name, head, text) = match self.dump {
                Dump::Apel => ("msg", "APEL-individual-job-message: v0.3\n", message(job)),
                Dump::Gracc => ("ndjson", "", document(job)),
                Dump::Slurm => ("txt", SLURM_HEAD, slurm(job)),
            };
            let file = files
                .entry(format!("{}.{name}", job.file))
                .or_insert_with(|| head.to_owned());
            file.push_str(&text);
        }
        files
    }

    /// Writes it into a folder.
    pub(super) fn write(&self, scene: &Scene, folder: &str) {
        for (name, text) in self.files() {
            scene.write(&format!("{folder}/{name}"), &text);
        }
    }

    /// A lake of it.
    pub(super) fn lake(&self, scene: &Scene, name: &str) -> Lake {
        self.write(scene, &format!("in-{name}"));
        let mut text = format!(
            "[pipeline]\nname = \"p\"\noutput = \"{name}\"\nattribution = \"by-end\"\ncalendar_timezone = \"UTC\"\n\
             overlap = \"{}\"\n",
            self.overlap
        );
        if !self.corrections.is_empty() {
            let head = "id,action,site,month,vo,account,job_id,to_vo,to_account,job_n,wall_s,alloc_core_s,cpu_ms,undoes,\
                        author,reason,date";
            scene.write(&format!("{name}.csv"), &format!("{head}\n{}", self.corrections));
            let _ = writeln!(text, "corrections = \"{name}.csv\"");
        }
        let sources: &[(&str, &str)] = match self.dump {
            Dump::Apel => &[("grid", "format = \"apel\"\npaths = [\"in-NAME\"]\n")],
            Dump::Gracc => &[("grid", "format = \"gracc\"\npaths = [\"in-NAME\"]\n")],
            Dump::Slurm => &[
                (
                    "nord",
                    "format = \"sacct\"\nsite = \"NORD\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\npaths = [\"in-NAME/nord*\"]\n",
                ),
                (
                    "sued",
                    "format = \"sacct\"\nsite = \"SUED\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\npaths = [\"in-NAME/sued*\"]\n",
                ),
            ],
        };
        for (source, keys) in sources {
            let _ = write!(text, "[[source]]\nname = \"{source}\"\n{}", keys.replace("NAME", name));
        }
        if let Some(benchmarks) = &self.benchmarks {
            scene.write(&format!("{name}-benchmarks.csv"), benchmarks);
            let _ = write!(
                text,
                "[normalise]\nbenchmarks = \"{name}-benchmarks.csv\"\nmissing = \"null\"\n"
            );
        }
        scene.write(&format!("{name}.toml"), &text);
        scene.run(name)
    }

    /// A lake of it as one side.
    pub(super) fn side(&self, scene: &Scene, name: &str) -> UsageSource {
        let lake = self.lake(scene, name);
        UsageSource::of_lake(lake, None, &Selection::default(), WorkScale::Hs23).unwrap()
    }
}

fn message(job: &SeedJob) -> String {
    let end = job.end.unwrap();
    format!(
        "Site: {}\nSubmitHost: ce.{}.example\nMachineName: lrms\nLocalJobId: {}\nGlobalUserName: /CN=pat\nVO: {}\n\
         WallDuration: {}\nCpuDuration: {}\nProcessors: {}\nNodeCount: 1\nStartTime: {}\nEndTime: {end}\n\
         InfrastructureType: grid\nServiceLevelType: {}\nServiceLevel: {}.{:02}\n%%\n",
        job.site,
        job.site.to_lowercase(),
        job.id,
        job.vo,
        job.wall,
        job.cpu,
        job.cores,
        job.start,
        job.benchmark,
        job.level / 100,
        job.level % 100
    )
}

fn instant(unix_s: i64) -> String {
    jiff::Timestamp::from_second(unix_s).unwrap().to_string()
}

fn document(job: &SeedJob) -> String {
    let kind = if job.is_payload { "Payload" } else { "Batch" };
    format!(
        "{{\"type\":\"JobUsageRecord\",\"SiteName\":\"{}\",\"ResourceType\":\"{kind}\",\"ProbeName\":\"p:ce\",\
         \"WallDuration\":{},\"CpuDuration\":{},\"Processors\":{},\"StartTime\":\"{}\",\"EndTime\":\"{}\",\
         \"LocalJobId\":\"{}\",\"VOName\":\"{}\",\"ReportableVOName\":\"{}\"}}\n",
        job.site,
        job.wall,
        job.cpu,
        job.cores,
        instant(job.start),
        instant(job.end.unwrap()),
        job.id,
        job.vo,
        job.vo
    )
}

const SLURM_HEAD: &str =
    "Cluster|JobIDRaw|JobID|JobName|Account|User|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU\n";

fn slurm(job: &SeedJob) -> String {
    let local = |unix_s: i64| instant(unix_s).trim_end_matches('Z').to_owned();
    let (state, end) = match job.end {
        Some(end) => ("COMPLETED", local(end)),
        None => ("RUNNING", "Unknown".to_owned()),
    };
    let cpu = format!("{:02}:{:02}:{:02}", job.cpu / 3600, job.cpu / 60 % 60, job.cpu % 60);
    let (site, id) = (job.site.to_lowercase(), &job.id);
    let times = format!(
        "{}|{}|{end}|{}|{state}|{}|cpu={}|{cpu}",
        local(job.start - 60),
        local(job.start),
        job.wall,
        job.cores,
        job.cores
    );
    format!(
        "{site}|{id}|{id}|fit|{}|pat|{times}\n{site}|{id}.batch|{id}.batch|batch|{}||{times}\n",
        job.vo, job.vo
    )
}
