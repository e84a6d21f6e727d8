//! How much of every resource jobs of the records held and requested.

use arrow_array::{Int64Array, RecordBatch};

use super::node_inventory::model_n;
use crate::error::Result;
use crate::occupancy::resource::AMOUNT_LIMIT;
use crate::occupancy::{LEDGER_N, Resource, Resources};
use crate::schema::batch::{addend, int, number};

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
    /// What it held; nothing of what it does not state.
    pub(crate) fn held(&self) -> Vec<i64> {
        self.amounts.iter().map(|amount| addend(*amount)).collect()
    }
}

/// The columns of amounts.
pub(crate) struct AmountColumns<'b> {
    batch: &'b RecordBatch,
    core: &'b Int64Array,
    memory: &'b Int64Array,
    requested_memory: &'b Int64Array,
    gpu: &'b Int64Array,
}

impl<'b> AmountColumns<'b> {
    /// Those of a batch of records.
    pub(crate) fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            batch,
            core: int(batch, "alloc_core_n")?,
            memory: int(batch, "alloc_memory_byte")?,
            requested_memory: int(batch, "requested_memory_byte")?,
            gpu: int(batch, "alloc_gpu_n")?,
        })
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

    /// The same in place of those of another job.
    pub(super) fn fill(&self, row: usize, resources: &Resources, of_job: &mut JobAmounts) -> Result<()> {
        let JobAmounts { amounts, requests } = of_job;
        amounts.clear();
        requests.clear();
        for resource in resources.iter() {
            let (amount, request, limit) = match resource {
                Resource::Core => {
                    let core_n = self.core_n(row);
                    (core_n, core_n.filter(|n| *n > 0), COUNT_LIMIT)
                }
                // The request is used where the allocation is not recorded, and the reverse.
                Resource::Memory => {
                    let (given, asked) = (number(self.memory, row), number(self.requested_memory, row));
                    (given.or(asked), asked.or(given), AMOUNT_LIMIT)
                }
                // Jobs without GPUs do not mention them.
                Resource::Gpu => {
                    let gpu_n = Some(addend(number(self.gpu, row)));
                    (gpu_n, gpu_n, COUNT_LIMIT)
                }
                Resource::GpuModel(model) => {
                    let model_n = Some(model_n(self.batch, "gpus", row, model).map(addend)?);
                    (model_n, model_n, COUNT_LIMIT)
                }
            };
            let known = |amount: Option<i64>| amount.filter(|amount| (0..=limit).contains(amount));
            amounts.push(known(amount));
            requests.push(known(request));
        }
        Ok(())
    }
}
