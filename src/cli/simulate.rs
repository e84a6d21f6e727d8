//! `gridtally simulate`

use std::path::Path;

use tracing::info;

use super::as_of::AsOfArgs;
use super::output;
use super::reading::reading;
use super::report::page_files::{PageFile, write_page};
use super::report::print::print;
use super::selection::{Finest, PeriodArgs, SiteArgs};
use super::simulate_priorities::PriorityArgs;
use super::simulate_window::{WindowArgs, refuse_seed};
use crate::error::{Error, Kind, Result};
use crate::report::lake::Lake;
use crate::report::render::{TableFormat, text};
use crate::report::simulation::{SimulationTable, explain, page, sentences};
use crate::runtime::column::ColumnBudget;
use crate::simulate::machine::ResourceKind;
use crate::simulate::settings::{Backfill, BaseOrder, Estimate, EventOrder, Settings};
use crate::simulate::swf::SwfLog;
use crate::simulate::trace::SwfRules;
use crate::simulate::window::method::Method;
use crate::simulate::workload::Workload;
use crate::simulation::answers::Answers;
use crate::simulation::dataset::write_simulated;
use crate::simulation::group_limits::LimitRequest;
use crate::simulation::input::SimulationInput;
use crate::simulation::lake_input::lake_input;
use crate::simulation::lake_rows::LakeSelection;
use crate::simulation::question::{MachineOutages, MeasuredTime, SimulationQuestion};
use crate::simulation::run::Simulation;
use crate::sources::compression::decompress;
use crate::sources::input::{InputFile, legible};
use crate::store::{Manifest, StatePart, Store};
use crate::time::MsSpan;
use crate::time::month::day_after;

/// What drawn requests and random searches depend on, where nothing else is stated.
const SEED: u64 = 1;

/// What if: simulate a scheduler over the jobs of a log or a lake, and measure the schedule that was not.
///
/// Reads a log in the Standard Workload Format, packed or not, or the records of one cluster of a lake. Simulates each method over
/// the same jobs and prints wait, slowdown and use next to what was recorded; above that, where the recorded starts take more than
/// the machine has, and the back-test: the base policy against what happened. Every line or record is simulated or counted under
/// a reason, and every schedule is verified: capacity is never exceeded, no job starts before it is submitted, each runs once and
/// as long as it did.
///
/// The machine of a lake is that of its inventory of nodes. While nodes are down or drained no job starts on them, and while they
/// are reserved only jobs whose records state the reservation.
///
/// The settings named after `CQSim` and `PySS` reproduce the schedules of these simulators job by job. The methods and workloads
/// are those of `BBSched` (Fan et al., HPDC'19).
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  FCFS with EASY backfilling on the machine of the log's header:
    gridtally simulate KTH-SP2-1996-2.1-cln.swf.gz

  The jobs of a lake that started in March, with twenty more GPUs:
    gridtally simulate out --cluster alps --from 2026-03 --to 2026-03 --add gpus=20

  The same with the priorities of the site, and with another half-life of its fairshare:
    gridtally simulate out --cluster alps --order multifactor
    gridtally simulate out --cluster alps --order multifactor --half-life 2-00:00:00

  The eight methods of the paper, with requests of burst buffer drawn for three quarters of the jobs:
    gridtally simulate theta.swf --machine nodes=4392 --machine burst_buffer_gb=1260000 --workload s4 --order wfp --methods all

  Why a job starts when it does:
    gridtally simulate theta.swf --explain 4711

  The schedule as Parquet:
    gridtally simulate theta.swf --table schedule --format parquet > schedule.parquet")]
pub(super) struct Args {
    /// A log in the Standard Workload Format, or the folder or URL that the results of a pipeline were published to.
    jobs: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    sites: SiteArgs,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    #[command(flatten)]
    period: PeriodArgs,

    /// How much the machine has of a kind of resource; may be given again. Of a log: first processors or nodes, under any name,
    /// then `burst_buffer_gb`; `large_ssd_nodes` are those with 256 GB of local storage in place of 128. Of a lake: `cores`, `nodes`,
    /// `gpus`, `gpus:MODEL` and `memory_mib`, and what the cluster has as a whole: `burst_buffer_gb`, `burst_buffer_gb:POOL`,
    /// `licenses:NAME`, in any order. Without it, the processors of the log's header or the nodes of the inventory.
    #[arg(long, value_name = "KIND=AMOUNT", value_parser = kind)]
    machine: Vec<ResourceKind>,

    /// Add so much of a kind of resource to the machine; may be given again. Of a lake, burst buffer and licences are stated so
    /// next to the nodes of the inventory.
    #[arg(long, value_name = "KIND=AMOUNT", value_parser = kind)]
    add: Vec<ResourceKind>,

    /// What becomes of the times in which nodes of a lake took no jobs, or only those of a reservation.
    #[arg(long, value_name = "OUTAGES", default_value = "recorded")]
    outages: MachineOutages,

    /// The methods to compare: of `baseline`, `weighted`, `weighted_cpu`, `weighted_bb`, `constrained_cpu`,
    /// `constrained_bb`, `constrained_ssd`, `bin_packing` and `bbsched`, or `all` of the paper. All but `baseline` choose from a
    /// window.
    #[arg(long, value_name = "METHOD", value_delimiter = ',', default_value = "baseline", value_parser = methods)]
    methods: Vec<NamedMethods>,

    /// In which order jobs wait.
    #[arg(long, value_name = "ORDER", default_value = "fcfs")]
    order: BaseOrder,

    #[command(flatten)]
    priorities: PriorityArgs,

    /// A limit on what the jobs of each user, account, partition or QOS have at a time, or of one of them: `user:jobs=10`,
    /// `partition/gpu:cores=256`; may be given again. What is limited are `jobs` or a kind of resource of the machine.
    #[arg(long, value_name = "GROUP:WHAT=MOST", value_parser = LimitRequest::parse)]
    limit: Vec<LimitRequest>,

    /// Which jobs may start before others that wait longer.
    #[arg(long, value_name = "RULE", default_value = "easy")]
    backfill: Backfill,

    /// What stands for the length of a job before it has ended.
    #[arg(long, value_name = "LENGTH", default_value = "requested")]
    estimate: Estimate,

    /// In which order things of one second happen, and when the scheduler runs.
    #[arg(long, value_name = "ORDER", default_value = "batched")]
    events: EventOrder,

    /// How jobs are made of the lines of the log.
    #[arg(long, value_name = "RULES", default_value = "standard")]
    rules: SwfRules,

    #[command(flatten)]
    windows: WindowArgs,

    /// Draw requests of burst buffer, and from s5 on of local storage, for the jobs.
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<Workload>,

    /// What drawn requests and random searches depend on.
    #[arg(long, value_name = "NUMBER", default_value_t = SEED)]
    seed: u64,

    /// Which time is measured.
    #[arg(long, value_name = "TIME", default_value = "whole")]
    measured: MeasuredTime,

    /// The table to print.
    #[arg(long, value_name = "TABLE", default_value = "methods")]
    table: SimulationTable,

    /// Print why this job starts when it does, in place of a table.
    #[arg(long, value_name = "JOB", conflicts_with_all = ["table", "format"])]
    explain: Option<String>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,

    /// Folder or URL to write to: index.html, the CSV files next to it, and simulate.parquet with every job once for each method.
    #[arg(long, value_name = "URL", conflicts_with = "explain", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: Option<String>,
}

/// One method, or all of the paper.
#[derive(Clone, Copy, Debug)]
enum NamedMethods {
    One(Method),
    All,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if Manifest::is_there(&args.jobs)? {
        let place = args.as_of.place(&args.jobs)?;
        return reading(&[place], StatePart::Published, || {
            let lake = Lake::open(place)?;
            let question = args.question()?;
            let selection = args.lake_selection(&lake)?;
            let input = lake_input(&lake.store, &lake.manifest, &selection, &question)?;
            answer(args, &question, input, Some(&lake))
        });
    }
    args.refuse_lake_options()?;
    let path = Path::new(&args.jobs);
    let file = InputFile::local(path, legible(path.as_os_str()))?;
    let log = SwfLog::read(decompress(file.open()?)?, ColumnBudget::default())?;
    let question = args.question()?;
    let input = question.input(&log).map_err(|why| why.at("file", &file.path))?;
    answer(args, &question, input, None)
}

fn answer(args: &Args, question: &SimulationQuestion, input: SimulationInput, lake: Option<&Lake>) -> Result<()> {
    if let Some(job) = &args.explain {
        return output::text(&explain(question, &input, job)?);
    }
    let mut simulation = Simulation::new(question, input)?;
    let is_for_people = args.format == TableFormat::Table && args.table == SimulationTable::Methods;
    let is_asked = is_for_people || args.out.is_some() || SimulationTable::OF_LAKE.contains(&args.table);
    if let Some(lake) = lake.filter(|_| is_asked) {
        simulation.answers = Some(Answers::of(&lake.store, &lake.manifest, &simulation)?);
    }
    let notes = simulation.answers.as_ref().map(|answers| answers.notes.as_slice());
    for note in simulation.input.notes.iter().chain(notes.into_iter().flatten()) {
        info!("note: {note}");
    }
    if let Some(out) = &args.out {
        write(out, &args.jobs, &simulation)?;
    }
    // Files and pipes hold one table; people see first what it rests on.
    if args.format == TableFormat::Table && !SimulationTable::TRIAL.contains(&args.table) {
        for trial in SimulationTable::TRIAL {
            let table = trial.of(&simulation)?;
            if !table.rows.is_empty() {
                output::text(&format!("{}\n{}\n", table.title, text(&table)?))?;
            }
        }
    }
    print(&args.table.of(&simulation)?, args.format)?;
    match &simulation.answers {
        Some(answers) if is_for_people => output::text(&format!("\n{}", sentences(answers))),
        _ => Ok(()),
    }
}

/// Writes the page, its tables as CSV and the dataset.
fn write(out: &str, jobs: &str, simulation: &Simulation) -> Result<()> {
    let parquet = Store::open(out)?.writer("simulate.parquet")?;
    write_simulated(simulation, parquet)?.finish()?;
    let of = |name: &'static str, which: SimulationTable| -> Result<PageFile> {
        let is_known = simulation.answers.is_some() || !SimulationTable::OF_LAKE.contains(&which);
        let table = if is_known { Some(which.of(simulation)?) } else { None };
        Ok(PageFile {
            name,
            table: table.filter(|table| !table.rows.is_empty()),
        })
    };
    let files = [
        of("methods.csv", SimulationTable::Methods)?,
        of("sizes.csv", SimulationTable::Sizes)?,
        of("replay.csv", SimulationTable::Replay)?,
        of("back-test.csv", SimulationTable::BackTest)?,
        of("agreement.csv", SimulationTable::Agreement)?,
        of("lines.csv", SimulationTable::Lines)?,
        of("charges.csv", SimulationTable::Charges)?,
        of("awards.csv", SimulationTable::Awards)?,
        of("overhead.csv", SimulationTable::Overhead)?,
        of("energy.csv", SimulationTable::Energy)?,
    ];
    let written = write_page(out, page(simulation, jobs)?, &files)?;
    info!("{}, simulate.parquet in {out}", written.join(", "));
    Ok(())
}

impl Args {
    fn lake_selection(&self, lake: &Lake) -> Result<LakeSelection> {
        if self.rules != SwfRules::default() {
            let why = "--rules states how jobs are made of the lines of a log: a lake has records";
            return Err(Error::new(Kind::Usage, why));
        }
        let mut sites = self.sites.names().into_iter();
        let (site, other) = (sites.next(), sites.next());
        if other.is_some() {
            return Err(Error::new(
                Kind::Usage,
                "one site is simulated at a time: --site NAME, once",
            ));
        }
        if let Some(workload) = self.workload {
            let why = format!(
                "--workload {} draws requests for the jobs of a log: jobs of a lake have their own",
                workload.word()
            );
            return Err(Error::new(Kind::Usage, why));
        }
        let days = self.period.days(Finest::Day)?;
        let started = if days.from.is_some() || days.to.is_some() {
            let zone = lake.zone()?;
            Some(MsSpan {
                from_ms: days.from.map_or(i64::MIN, |day| zone.begins_ms(day)),
                until_ms: days.to.map_or(i64::MAX, |day| zone.begins_ms(day_after(day))),
            })
        } else {
            None
        };
        Ok(LakeSelection {
            site,
            cluster: self.cluster.clone(),
            started,
            budget: ColumnBudget::default(),
        })
    }

    /// A log is one machine, and has no past states.
    fn refuse_lake_options(&self) -> Result<()> {
        let days = self.period.days(Finest::Day)?;
        let has_lake_option = self.as_of.moment().is_some()
            || !self.sites.names().is_empty()
            || self.cluster.is_some()
            || days.from.is_some()
            || days.to.is_some();
        self.priorities.refuse_file()?;
        if self.outages != MachineOutages::default() {
            let why = "--outages is about the nodes of a lake: a log states no outages";
            return Err(Error::new(Kind::Usage, why));
        }
        if has_lake_option {
            let why = format!(
                "--as-of, --site, --cluster, --from and --to select of a lake, and {} is none",
                self.jobs
            );
            return Err(Error::new(Kind::Usage, why));
        }
        Ok(())
    }

    fn question(&self) -> Result<SimulationQuestion> {
        let has_ssd = self
            .workload
            .is_some_and(|workload| workload.small_ssd_per_million().is_some());
        let mut methods = Vec::new();
        for named in &self.methods {
            match named {
                NamedMethods::One(method) => methods.push(*method),
                NamedMethods::All if has_ssd => methods.extend(Method::SEVEN_WITH_SSD),
                NamedMethods::All => methods.extend(Method::EIGHT),
            }
        }
        let mut distinct: Vec<Method> = Vec::new();
        methods.retain(|method| {
            let is_new = !distinct.contains(method);
            distinct.push(*method);
            is_new
        });
        self.windows.refuse_unused(&methods)?;
        if self.seed != SEED && self.workload.is_none() {
            refuse_seed(&methods)?;
        }
        Ok(SimulationQuestion {
            machine: self.machine.clone(),
            added: self.add.clone(),
            outages: self.outages,
            rules: self.rules,
            methods,
            scheduler: Settings {
                base: self.order,
                backfill: self.backfill,
                estimate: self.estimate,
                events: self.events,
                multifactor: None,
                limits: None,
                window: None,
            },
            priorities: self.priorities.stated(self.order)?,
            limits: self.limit.clone(),
            window: self.windows.settings(self.seed),
            decision: self.windows.decision,
            workload: self.workload,
            seed: self.seed,
            measured: self.measured,
        })
    }
}

fn kind(text: &str) -> Result<ResourceKind, String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, amount) = parts.ok_or_else(|| "not a kind and an amount, such as nodes=4392".to_owned())?;
    let capacity = amount
        .parse()
        .map_err(|_| format!("{amount:?} is not a whole number"))?;
    Ok(ResourceKind {
        name: name.to_owned(),
        capacity,
    })
}

fn methods(text: &str) -> Result<NamedMethods, String> {
    if text == "all" {
        return Ok(NamedMethods::All);
    }
    let known = || Method::EIGHT.into_iter().chain([Method::ConstrainedSsd]);
    known()
        .find(|method| method.word() == text)
        .map(NamedMethods::One)
        .ok_or_else(|| {
            let words: Vec<&str> = known().map(Method::word).collect();
            format!("one of {} or all", words.join(", "))
        })
}
