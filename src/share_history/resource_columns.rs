//! What each job of the records has: its resources and its time limit.

use arrow_array::cast::AsArray;
use arrow_array::{Array, Int64Array, ListArray, RecordBatch, StringArray};

use crate::error::{Error, Result};
use crate::schema::batch::{column, int, number, word};

/// Bytes in the unit in which Slurm counts memory.
const MEBIBYTE: i64 = 1 << 20;

/// Names of resources of which no job is granted an amount: what was used of them is measured when it ends.
const MEASURED: [&str; 6] = ["energy", "fs/disk", "vmem", "pages", "gres/gpumem", "gres/gpuutil"];

/// GPUs of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelCount {
    model: String,
    gpu_n: i64,
}

/// What one job has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobResources {
    /// Its time limit, seconds; `None` where it has none, or none is known.
    pub(super) limit_s: Option<i64>,
    cpu_n: Option<i64>,
    memory_byte: Option<i64>,
    node_n: Option<i64>,
    gpu_n: Option<i64>,
    billing_n: Option<i64>,
    models: Vec<ModelCount>,
}

impl JobResources {
    /// The amount of a resource by the name it has in `AccountingStorageTRES`; `None` where records do not hold it.
    pub(super) fn amount(&self, name: &str) -> Option<i64> {
        match name {
            "cpu" => self.cpu_n,
            "mem" => self.memory_byte.map(|bytes| bytes / MEBIBYTE),
            "node" => self.node_n,
            "billing" => self.billing_n,
            "gres/gpu" => self.gpu_n,
            _ if MEASURED.contains(&name) => Some(0),
            _ => {
                let model = name.strip_prefix("gres/gpu:")?;
                let of_model = self.models.iter().filter(|of| of.model.eq_ignore_ascii_case(model));
                Some(of_model.map(|of| of.gpu_n).sum())
            }
        }
    }
}

/// The columns of records that state it.
pub(super) struct ResourceColumns<'a> {
    limit_s: &'a Int64Array,
    cpu_n: &'a Int64Array,
    memory_byte: &'a Int64Array,
    node_n: &'a Int64Array,
    gpu_n: &'a Int64Array,
    billing_n: &'a Int64Array,
    models: &'a ListArray,
}

impl<'a> ResourceColumns<'a> {
    /// Their names, but for the billing, which usage needs as well.
    pub(super) const NAMES: [&'static str; 6] = [
        "time_limit_s",
        "alloc_core_n",
        "alloc_memory_byte",
        "alloc_node_n",
        "alloc_gpu_n",
        "gpus",
    ];

    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self> {
        let models = column(batch, "gpus")?.as_list_opt::<i32>();
        Ok(Self {
            limit_s: int(batch, "time_limit_s")?,
            cpu_n: int(batch, "alloc_core_n")?,
            memory_byte: int(batch, "alloc_memory_byte")?,
            node_n: int(batch, "alloc_node_n")?,
            gpu_n: int(batch, "alloc_gpu_n")?,
            billing_n: int(batch, "alloc_billing_n")?,
            models: models.ok_or_else(other_type)?,
        })
    }

    pub(super) fn of(&self, row: usize) -> Result<JobResources> {
        Ok(JobResources {
            limit_s: number(self.limit_s, row),
            cpu_n: number(self.cpu_n, row),
            memory_byte: number(self.memory_byte, row),
            node_n: number(self.node_n, row),
            gpu_n: number(self.gpu_n, row),
            billing_n: number(self.billing_n, row),
            models: self.models_of(row)?,
        })
    }

    fn models_of(&self, row: usize) -> Result<Vec<ModelCount>> {
        if self.models.is_null(row) {
            return Ok(Vec::new());
        }
        let devices = self.models.value(row);
        let devices = devices.as_struct_opt().ok_or_else(other_type)?;
        let [models, counts] = devices.columns() else {
            return Err(other_type());
        };
        let names: &StringArray = models.as_string_opt().ok_or_else(other_type)?;
        let counts: &Int64Array = counts.as_primitive_opt().ok_or_else(other_type)?;
        let of_model = |at: usize| {
            Some(ModelCount {
                model: word(names, at)?.to_owned(),
                gpu_n: number(counts, at)?,
            })
        };
        Ok((0..names.len()).filter_map(of_model).collect())
    }
}

fn other_type() -> Error {
    Error::internal("the column gpus is of another type")
}
