//! What holds for any jobs: pools never mix, more never costs less, order and cuts of the work change nothing.
//!
//! Some thousand rows by default; `GRIDTALLY_ROWS=1000000 cargo test policies::properties` for a million.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int64Array, Int64Builder, ListBuilder, RecordBatch, StringArray, StringBuilder, StructBuilder,
    UInt32Array, new_null_array,
};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{DataType, Field};
use gridtally::charge::facts::Facts;
use gridtally::charge::{Policy, price};
use gridtally::schema;
use gridtally::schema::dataset::gpu_fields;

use super::shipped::shipped;
use crate::generator::rng::Rng;

/// Clusters and partitions the policies know, and one of each they do not.
const PLACES: [(&str, &str); 12] = [
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
    ("elsewhere", "q"),
];
const MODELS: [&str; 6] = ["p100-12", "v100-32", "a100-40", "t4-16", "h100-80", "unheard-of"];

/// One job: place, cores, nodes, memory in MiB, seconds, GPUs.
#[derive(Clone)]
struct Job {
    place: (&'static str, &'static str),
    amounts: [i64; 4],
    gpus: Option<(&'static str, i64)>,
}

fn jobs(count: usize) -> Vec<Job> {
    let mut rng = Rng::new(11);
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
        _ => new_null_array(field.data_type(), jobs.len()),
    });
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect();
    RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields)), columns.collect()).unwrap()
}

/// Whether each job is in scope, and its charge.
fn charges(policy: &Policy, batch: &RecordBatch) -> Vec<(bool, Option<i128>)> {
    let mut reads = policy.reads();
    reads.extend(policy.scope.only.iter().map(|(name, _)| name.as_str()));
    reads.insert("gpus");
    let facts = Facts::of_records(batch, "SITE", &reads).unwrap();
    let options = policy.choose(&gridtally::charge::Options::new()).unwrap();
    let priced = price(policy, &options, &facts, false).unwrap();
    priced.is_in_scope.into_iter().zip(priced.charge).collect()
}

/// Policies whose formula never charges less for more.
fn policies() -> Vec<Policy> {
    let known = [
        "compute-canada-core",
        "compute-canada-gpu",
        "drac-rgu",
        "fasrc-tres",
        "sigma2-saga",
        "slurm-tres",
    ];
    let mut policies = shipped();
    policies.retain(|policy| known.contains(&policy.id.as_str()));
    assert_eq!(policies.len(), known.len());
    policies
}

fn rows() -> usize {
    std::env::var("GRIDTALLY_ROWS").map_or(4_000, |rows| rows.parse().unwrap())
}

#[test]
fn pools_never_mix() {
    let batch = records(&jobs(rows()));
    let of = |id: &str| {
        let policies = policies();
        charges(policies.iter().find(|policy| policy.id == id).unwrap(), &batch)
    };
    let (cores, gpus) = (of("compute-canada-core"), of("compute-canada-gpu"));
    let both = cores
        .iter()
        .zip(&gpus)
        .filter(|((core, _), (gpu, _))| *core && *gpu)
        .count();
    assert_eq!(both, 0);
    for charged in [&cores, &gpus] {
        assert!(charged.iter().filter(|(_, charge)| charge.is_some()).count() > rows() / 50);
    }
}

#[test]
fn more_never_costs_less() {
    let before = jobs(rows());
    let batch = records(&before);
    for policy in policies() {
        let charged = charges(&policy, &batch);
        for resource in 0..5 {
            let mut more = before.clone();
            for (nth, job) in more.iter_mut().enumerate() {
                let step = i64::try_from(nth % 7).unwrap() + 1;
                match (resource, &mut job.gpus) {
                    (4, Some((_, count))) => *count += step,
                    (4, None) => {}
                    (nth, _) => job.amounts[nth] += step * if nth == 2 { 1000 } else { 1 },
                }
            }
            let after = charges(&policy, &records(&more));
            for (nth, ((_, less), (_, more))) in charged.iter().zip(&after).enumerate() {
                assert_eq!(less.is_some(), more.is_some(), "{} {resource} row {nth}", policy.id);
                assert!(less <= more, "{} {resource} row {nth}: {less:?} {more:?}", policy.id);
            }
        }
    }
}

#[test]
fn order_and_cuts_change_nothing() {
    let jobs = jobs(rows());
    let batch = records(&jobs);
    let backwards: UInt32Array = (0..u32::try_from(jobs.len()).unwrap()).rev().collect();
    let reversed = take_record_batch(&batch, &backwards).unwrap();
    for policy in policies() {
        let charged = charges(&policy, &batch);
        let mut other = charges(&policy, &reversed);
        other.reverse();
        assert_eq!(charged, other, "{}", policy.id);
        let mut cut = Vec::new();
        let mut at = 0;
        for length in [1, 0, 777, 3].into_iter().cycle() {
            let length = usize::min(length, jobs.len() - at);
            let piece = concat_batches(&batch.schema(), &[batch.slice(at, length)]).unwrap();
            cut.extend(charges(&policy, &piece));
            at += length;
            if at == jobs.len() {
                break;
            }
        }
        assert_eq!(charged, cut, "{}", policy.id);
    }
}
