//! What holds for any jobs, tried on a million of them: pools never mix, more never costs less, order, cuts and threads
//! change nothing, and the pieces of a job add up to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array, new_null_array};
use arrow_schema::{DataType, Field};
use arrow_select::take::take_record_batch;
use gridtally::charge::facts::Facts;
use gridtally::charge::{Policy, price};
use gridtally::config::Plan;
use gridtally::schema;
use gridtally::schema::batch::{decimal, id, identities, int, times, words};
use gridtally::schema::dataset::gpu_fields;
use gridtally::summarise::charges::Charges;

use super::shipped::shipped;
use crate::generator::rng::Rng;

/// Clusters and partitions the policies know, and one of each they do not.
const PLACES: [(&str, &str); 13] = [
    ("cedar", "p"),
    ("graham", "p"),
    ("niagara", "p"),
    ("beluga", "p"),
    ("narval", "p"),
    ("fir", "p"),
    ("saga", "normal"),
    ("saga", "a100"),
    ("odyssey", "broadwell"),
    ("odyssey", "abudhabi"),
    ("odyssey", "serial_requeue"),
    ("frontier", "batch"),
    ("elsewhere", "q"),
];
const MODELS: [&str; 6] = ["p100-12", "v100-32", "a100-40", "t4-16", "h100-80", "unheard-of"];

/// 2025-10-25T00:00:00 UTC: long jobs run into the next month.
const FIRST_MS: i64 = 1_761_350_400_000;

/// One job: place, cores, nodes, memory in MiB, seconds, GPUs.
#[derive(Clone)]
struct Job {
    place: (&'static str, &'static str),
    amounts: [i64; 4],
    gpus: Option<(&'static str, i64)>,
}

fn jobs(seed: u64, count: usize) -> Vec<Job> {
    let mut rng = Rng::new(seed);
    let mut job = |_| Job {
        place: rng.pick(&PLACES),
        amounts: [
            rng.between(1, 512),
            rng.between(1, 16),
            rng.between(0, 4_000_000),
            rng.between(0, 1_000_000),
        ],
        gpus: rng.one_in(2).then(|| (rng.pick(&MODELS), rng.between(1, 8))),
    };
    (0..count).map(&mut job).collect()
}

/// As a batch with the columns of `records`.
fn records(jobs: &[Job]) -> RecordBatch {
    let element = Field::new("element", DataType::Struct(gpu_fields()), false);
    let mut gpus = ListBuilder::new(StructBuilder::from_fields(gpu_fields(), 0)).with_field(element);
    for job in jobs {
        if let Some((model, count)) = job.gpus {
            gpus.values()
                .field_builder::<StringBuilder>(0)
                .unwrap()
                .append_value(model);
            gpus.values()
                .field_builder::<Int64Builder>(1)
                .unwrap()
                .append_value(count);
            gpus.values().append(true);
        }
        gpus.append(job.gpus.is_some());
    }
    let gpus: ArrayRef = Arc::new(gpus.finish());
    let ints = |of: &dyn Fn(&Job) -> i64| -> ArrayRef {
        Arc::new(jobs.iter().map(|job| Some(of(job))).collect::<Int64Array>())
    };
    let texts = |of: fn(&Job) -> &'static str| -> ArrayRef {
        Arc::new(jobs.iter().map(|job| Some(of(job))).collect::<StringArray>())
    };
    let one_word: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n("x", jobs.len())));
    let ends = |at: usize, job: &Job| Some(FIRST_MS + i64::try_from(at).unwrap() * 1000 + job.amounts[3] * 1000);
    let starts = |at: usize| Some(FIRST_MS + i64::try_from(at).unwrap() * 1000);
    let schema = schema::dataset("records").unwrap().arrow();
    let columns = schema.fields().iter().map(|field| match field.name().as_str() {
        "alloc_core_n" => ints(&|job| job.amounts[0]),
        "alloc_node_n" => ints(&|job| job.amounts[1]),
        "alloc_memory_byte" => ints(&|job| job.amounts[2] << 20),
        "wall_s" => ints(&|job| job.amounts[3]),
        "wall_fraction_ms" => ints(&|_| 0),
        "alloc_gpu_n" => ints(&|job| job.gpus.map_or(0, |(_, count)| count)),
        "gpus" => Arc::clone(&gpus),
        "cluster" => texts(|job| job.place.0),
        "partition" => texts(|job| job.place.1),
        "record_id" => identities((0..jobs.len()).map(|at| Some(at as u128))).unwrap(),
        "record_utc" | "end_utc" => times(jobs.iter().enumerate().map(|(at, job)| ends(at, job))),
        "start_utc" => times((0..jobs.len()).map(starts)),
        "job_id" | "source" | "view" => Arc::clone(&one_word),
        _ => new_null_array(field.data_type(), jobs.len()),
    });
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect();
    RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), columns.collect()).unwrap()
}

/// Whether each job is in scope of each policy, and its charge.
fn charges(policies: &[Policy], batch: &RecordBatch) -> Vec<Vec<(bool, Option<i128>)>> {
    let needs: BTreeSet<&str> = policies.iter().flat_map(Policy::needs).collect();
    let facts = Facts::of_records(batch, "SITE", &needs).unwrap();
    let each = policies.iter().map(|policy| {
        let options = policy.choose(&gridtally::charge::Options::new()).unwrap();
        let priced = price(policy, &options, &facts, false).unwrap();
        priced.is_in_scope.into_iter().zip(priced.charge).collect()
    });
    each.collect()
}

/// Policies whose formula never charges less for more.
const MONOTONE: [&str; 7] = [
    "compute-canada-core",
    "compute-canada-gpu",
    "drac-rgu",
    "fasrc-tres",
    "olcf-frontier",
    "sigma2-saga",
    "slurm-tres",
];

/// Those of them that hold for all time, so that the pieces of a job are all of it.
const TIMELESS: [&str; 2] = ["slurm-tres", "sigma2-saga"];

fn policies() -> Vec<Policy> {
    let mut policies = shipped();
    policies.retain(|policy| MONOTONE.contains(&policy.id.as_str()));
    assert_eq!(policies.len(), MONOTONE.len());
    policies
}

/// Jobs that are worked on at once.
const CHUNK: usize = 62_500;
const CHUNKS: usize = 16;

/// A million jobs, a chunk at a time on two threads; in the end what was seen of each policy.
#[test]
fn a_million_jobs_are_charged_as_promised() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let policies = policies();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut seen = Seen::default();
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= CHUNKS {
                return seen;
            }
            seen.add(chunk(nth, &policies, &plan));
        }
    };
    let seen = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(work));
        let mut all = Seen::default();
        for thread in threads {
            all.add(thread.join().unwrap());
        }
        all
    });
    assert_eq!(seen.job_n, 1_000_000);
    for id in MONOTONE {
        assert!(seen.charged[id] > 20_000, "{id}: {:?}", seen.charged);
    }
    // Each resource makes some job dearer under some policy.
    assert!(seen.dearer.iter().all(|n| *n > 1000), "{:?}", seen.dearer);
    assert!(seen.cut > 100_000, "{}", seen.cut);
}

/// What the assertions were about.
#[derive(Default)]
struct Seen {
    job_n: usize,
    charged: BTreeMap<String, usize>,
    dearer: [usize; 5],
    cut: usize,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.job_n += other.job_n;
        self.cut += other.cut;
        for (id, n) in other.charged {
            *self.charged.entry(id).or_default() += n;
        }
        for (sum, n) in self.dearer.iter_mut().zip(other.dearer) {
            *sum += n;
        }
    }
}

fn chunk(nth: usize, policies: &[Policy], plan: &Plan) -> Seen {
    let jobs = jobs(11 + nth as u64, CHUNK);
    let batch = records(&jobs);
    let charged = charges(policies, &batch);
    let mut seen = Seen {
        job_n: jobs.len(),
        ..Seen::default()
    };
    for (policy, charged) in policies.iter().zip(&charged) {
        let n = charged.iter().filter(|(_, charge)| charge.is_some()).count();
        seen.charged.insert(policy.id.clone(), n);
    }
    pools_never_mix(policies, &charged);
    more_never_costs_less(policies, &jobs, &charged, &mut seen);
    order_and_threads_change_nothing(policies, &batch, &charged);
    seen.cut = pieces_add_up(policies, &batch, &charged, plan);
    seen
}

fn of<'c>(policies: &[Policy], charged: &'c [Vec<(bool, Option<i128>)>], id: &str) -> &'c [(bool, Option<i128>)] {
    &charged[policies.iter().position(|policy| policy.id == id).unwrap()]
}

fn pools_never_mix(policies: &[Policy], charged: &[Vec<(bool, Option<i128>)>]) {
    let cores = of(policies, charged, "compute-canada-core");
    for id in ["compute-canada-gpu", "drac-rgu"] {
        let gpus = of(policies, charged, id);
        assert!(
            !cores.iter().zip(gpus).any(|((core, _), (gpu, _))| *core && *gpu),
            "{id}"
        );
    }
}

/// Every job once more, with one resource raised: each resource has a fifth of the jobs.
fn more_never_costs_less(policies: &[Policy], before: &[Job], charged: &[Vec<(bool, Option<i128>)>], seen: &mut Seen) {
    let mut more = before.to_vec();
    for (nth, job) in more.iter_mut().enumerate() {
        let step = i64::try_from(nth % 7).unwrap() + 1;
        match (nth % 5, &mut job.gpus) {
            (4, Some((_, count))) => *count += step,
            (4, None) => {}
            (nth, _) => job.amounts[nth] += step * if nth == 2 { 1000 } else { 1 },
        }
    }
    let after = charges(policies, &records(&more));
    for ((policy, charged), after) in policies.iter().zip(charged).zip(&after) {
        for (nth, ((_, less), (_, more))) in charged.iter().zip(after).enumerate() {
            assert_eq!(less.is_some(), more.is_some(), "{} row {nth}", policy.id);
            assert!(less <= more, "{} row {nth}: {less:?} {more:?}", policy.id);
            seen.dearer[nth % 5] += usize::from(less < more);
        }
    }
}

/// The jobs in another order, in pieces of odd sizes, on another thread.
fn order_and_threads_change_nothing(policies: &[Policy], batch: &RecordBatch, charged: &[Vec<(bool, Option<i128>)>]) {
    let rows = u32::try_from(batch.num_rows()).unwrap();
    // Steps of a number that has no divisor in common with the number of rows meet each row once.
    let order: Vec<u32> = (0..rows).map(|at| at * 7_919 % rows).collect();
    let mut cut = Vec::new();
    let mut rest = order.as_slice();
    for length in [1, 0, 777, 30_001, usize::MAX] {
        let (piece, after) = rest.split_at(length.min(rest.len()));
        cut.push(piece);
        rest = after;
    }
    let others = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let pieces = cut.iter().map(|piece| {
                let rows = UInt32Array::from(piece.to_vec());
                charges(policies, &take_record_batch(batch, &rows).unwrap())
            });
            pieces.collect::<Vec<_>>()
        });
        other.join().unwrap()
    });
    for (nth, policy) in policies.iter().enumerate() {
        let other = others.iter().flat_map(|piece| &piece[nth]);
        for (row, other) in order.iter().zip(other) {
            assert_eq!(charged[nth][*row as usize], *other, "{} row {row}", policy.id);
        }
    }
}

/// What a run makes of the jobs, month by month, against their price; gives the number of jobs that were cut.
fn pieces_add_up(
    policies: &[Policy],
    batch: &RecordBatch,
    charged: &[Vec<(bool, Option<i128>)>],
    plan: &Plan,
) -> usize {
    let mut run = Charges::new(plan.summing(), "SITE", gridtally::charge::policy::Subject::Jobs);
    let rows = run.add(batch, &[]).unwrap().unwrap();
    let (ids, names) = (id(&rows, "record_id").unwrap(), words(&rows, "policy").unwrap());
    let (charge, jobs) = (decimal(&rows, "charge").unwrap(), int(&rows, "job_n").unwrap());
    let mut sums = TIMELESS.map(|_| vec![(0_i128, 0_i64, 0_usize); batch.num_rows()]);
    for row in 0..rows.num_rows() {
        let at = ids
            .value(row)
            .last_chunk::<8>()
            .map(|bytes| u64::from_be_bytes(*bytes))
            .unwrap();
        let policy = usize::from(names.value(row) == TIMELESS[1]);
        let sum = &mut sums[policy][usize::try_from(at).unwrap()];
        if charge.is_valid(row) {
            sum.0 += charge.value(row);
        }
        sum.1 += jobs.value(row);
        sum.2 += 1;
    }
    let mut cut = 0;
    for (id, sums) in TIMELESS.iter().zip(&sums) {
        for (row, ((is_in_scope, whole), (sum, job_n, piece_n))) in
            of(policies, charged, id).iter().zip(sums).enumerate()
        {
            assert_eq!(*sum, whole.unwrap_or(0), "{id} row {row}");
            assert_eq!(*job_n, i64::from(whole.is_some()), "{id} row {row}");
            assert_eq!(*piece_n > 0, *is_in_scope, "{id} row {row}");
            cut += usize::from(*piece_n > 1);
        }
    }
    cut
}

/// A pipeline that charges by the policies that hold for all time.
fn plan(folder: &std::path::Path) -> Plan {
    let files = TIMELESS.map(|id| crate::support::sample::repository(&format!("pipelines/policies/{id}.toml")));
    let text = format!(
        "[pipeline]\nname = \"million\"\noutput = \"out\"\n[[source]]\nname = \"x\"\nformat = \"sacct\"\npaths = [\"x.txt\"]\n\
         site = \"SITE\"\ntimezone = \"UTC\"\nvo = {{ value = \"x\" }}\n[[charge]]\npolicies = {files:?}\n"
    );
    let path = folder.join("p.toml");
    std::fs::write(&path, text).unwrap();
    Plan::load(&path).unwrap().0
}
