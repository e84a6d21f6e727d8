//! How much of every resource jobs of the records held and requested.

use arrow_array::{Array, Int64Array, RecordBatch, TimestampMillisecondArray};

use super::node_inventory::model_n;
use crate::error::Result;
use crate::occupancy::resource::AMOUNT_LIMIT;
use crate::occupancy::{LEDGER_N, Resource, Resources};
use crate::schema::batch::{addend, int, number, time};

/// All resources of the ledger, a bit each.
pub(crate) const EVERYTHING: u8 = (1 << LEDGER_N) - 1;

/// Largest number of cores or GPUs of a job on a node.
const COUNT_LIMIT: i64 = 1 << 32;

/// Amounts of a job by resource; `None` where it states none, or an impossible one.
#[derive(Default)]
pub(crate) struct JobAmounts {
    /// What it held.
    pub(super) amounts: Vec<Option<i64>>,
    /// Its request.
    pub(super) requests: Vec<Option<i64>>,
}

impl JobAmounts {
    /// Takes a request of GPUs that is not known for one of none.
    pub(super) fn request_no_gpus(&mut self, resources: &Resources) {
        for (resource, request) in resources.iter().zip(&mut self.requests) {
            if matches!(resource, Resource::Gpu | Resource::GpuModel(_)) {
                request.get_or_insert(0);
            }
        }
    }

    /// What it held; nothing of what it does not state.
    pub(crate) fn held(&self) -> Vec<i64> {
        self.amounts.iter().map(|amount| addend(*amount)).collect()
    }
}

/// The columns of amounts.
pub(crate) struct AmountColumns<'b> {
    batch: &'b RecordBatch,
    start: &'b TimestampMillisecondArray,
    core: &'b Int64Array,
    requested_core: &'b Int64Array,
    memory: &'b Int64Array,
    requested_memory: &'b Int64Array,
    gpu: &'b Int64Array,
}

impl<'b> AmountColumns<'b> {
    /// Those of a batch of records.
    pub(crate) fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            batch,
            start: time(batch, "start_utc")?,
            core: int(batch, "alloc_core_n")?,
            requested_core: int(batch, "requested_core_n")?,
            memory: int(batch, "alloc_memory_byte")?,
            requested_memory: int(batch, "requested_memory_byte")?,
            gpu: int(batch, "alloc_gpu_n")?,
        })
    }

    /// Whether a job started: only then it was given anything.
    pub(super) fn is_started(&self, row: usize) -> bool {
        self.start.is_valid(row)
    }

    /// Cores of a job.
    pub(super) fn core_n(&self, row: usize) -> Option<i64> {
        number(self.core, row)
    }

    /// The allocation and the request of a job.
    pub(crate) fn row(&self, row: usize, resources: &Resources) -> Result<JobAmounts> {
        let mut of_job = JobAmounts::default();
        self.fill(row, resources, &mut of_job)?;
        Ok(of_job)
    }

    /// The same in place of those of another job. The request of a job that started is what it was given, and the memory it
    /// requested; of one that never did nothing states how many GPUs it requested, unless its source states so in place of those given.
    pub(super) fn fill(&self, row: usize, resources: &Resources, of_job: &mut JobAmounts) -> Result<()> {
        let JobAmounts { amounts, requests } = of_job;
        amounts.clear();
        requests.clear();
        let is_started = self.is_started(row);
        let as_request = |given: Option<i64>| given.filter(|n| is_started || *n > 0);
        for resource in resources.iter() {
            let (amount, request, limit) = match resource {
                Resource::Core => {
                    let core_n = self.core_n(row);
                    let asked = number(self.requested_core, row).filter(|_| !is_started);
                    (core_n, asked.or(core_n).filter(|n| *n > 0), COUNT_LIMIT)
                }
                // The request is used where the allocation is not recorded, and the reverse.
                Resource::Memory => {
                    let (given, asked) = (number(self.memory, row), number(self.requested_memory, row));
                    (given.or(asked), asked.or(as_request(given)), AMOUNT_LIMIT)
                }
                // Jobs without GPUs do not mention them.
                Resource::Gpu => {
                    let gpu_n = Some(addend(number(self.gpu, row)));
                    (gpu_n, as_request(gpu_n), COUNT_LIMIT)
                }
                Resource::GpuModel(model) => {
                    let model_n = Some(model_n(self.batch, "gpus", row, model).map(addend)?);
                    (model_n, as_request(model_n), COUNT_LIMIT)
                }
            };
            let known = |amount: Option<i64>| amount.filter(|amount| (0..=limit).contains(amount));
            amounts.push(known(amount));
            requests.push(known(request));
        }
        Ok(())
    }
}
