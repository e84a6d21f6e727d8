//! One builder per column of `records`, and the waiting batch they end in.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Builder, ListBuilder, RecordBatch, StringBuilder, StructBuilder};
use arrow::array::{FixedSizeBinaryArray, UInt64Array};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field};

use super::row::JobRow;
use super::waiting;
use super::waiting::number::Numbers;
use super::waiting::word::{self, Words};
use crate::error::Result;
use crate::schema::dataset::gpu_fields;

/// What all records of one piece of input have in common.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Source name.
    pub source: &'a str,
    /// Input file.
    pub file_id: &'a str,
}

/// What the records room adds to a [`JobRow`].
pub struct Sealed<'a> {
    /// Identity.
    pub record_id: u128,
    /// Instant that places it, Unix milliseconds.
    pub record_ms: i64,
    /// Dialect family: an archive may hold several.
    pub format: &'a str,
    /// VO after the pipeline's rule.
    pub vo: Option<&'a str>,
    /// Wall time, known by now.
    pub wall_ms: i64,
    /// All anomalies.
    pub anomalies: u32,
    /// Steps folded in.
    pub step_n: u32,
    /// Line.
    pub line: i64,
    /// Offset.
    pub byte_offset: i64,
    /// Hash of the content.
    pub content_hash: u64,
}

macro_rules! columns {
    ($(numbers: $($number:ident)+;)+ $(coded: $($coded:ident)+;)+ $(plain: $($plain:ident)+;)+) => {
        /// The builders. They keep their room from batch to batch.
        pub struct Columns {
            $($($number: Numbers,)+)+
            $($($coded: Words,)+)+
            $($($plain: Words,)+)+
            record_id: Vec<u8>,
            content_hash: Vec<u64>,
            gpus: ListBuilder<StructBuilder>,
        }

        impl Columns {
            /// Empty builders.
            #[must_use]
            pub fn new() -> Self {
                let element = Field::new("element", DataType::Struct(gpu_fields()), false);
                Self {
                    $($($number: Numbers::default(),)+)+
                    $($($coded: Words::coded(),)+)+
                    $($($plain: Words::plain(),)+)+
                    record_id: Vec::new(),
                    content_hash: Vec::new(),
                    gpus: ListBuilder::new(StructBuilder::from_fields(gpu_fields(), 0)).with_field(element),
                }
            }

            fn finish_packed(&mut self, into: &mut Vec<(Field, ArrayRef)>) -> Result<()> {
                $($(into.extend(self.$number.finish(stringify!($number)));)+)+
                $($(into.extend(self.$coded.finish(stringify!($coded))?);)+)+
                $($(into.extend(self.$plain.finish(stringify!($plain))?);)+)+
                Ok(())
            }
        }
    };
}

columns! {
    numbers: record_utc submit_utc eligible_utc start_utc end_utc received_utc wall_s wall_fraction_ms suspended_s;
    numbers: cpu_ms cpu_user_ms cpu_system_ms alloc_core_n alloc_node_n alloc_gpu_n alloc_memory_byte;
    numbers: requested_memory_byte max_rss_byte max_virtual_byte network_byte alloc_billing_n time_limit_s exit_code;
    numbers: exit_signal scaled_cpu_ms scaled_wall_ms benchmark_per_core anomalies step_n line byte_offset;
    coded: format view cluster submit_host vo vo_group vo_role account user user_group global_user partition;
    coded: qos reservation infrastructure node_list state benchmark;
    plain: job_id raw_job_id global_job_id job_name;
}

impl Default for Columns {
    fn default() -> Self {
        Self::new()
    }
}

impl Columns {
    /// Rows appended since the last [`Columns::finish`].
    #[must_use]
    pub fn rows(&self) -> usize {
        self.content_hash.len()
    }

    /// Appends one record.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the texts of one batch exceed 2 GiB.
    pub fn push(&mut self, row: &JobRow<'_>, sealed: &Sealed<'_>) -> Result<()> {
        self.record_id.extend_from_slice(&sealed.record_id.to_be_bytes());
        self.content_hash.push(sealed.content_hash);
        self.push_numbers(row, sealed);
        self.push_texts(row, sealed)?;
        self.push_gpus(row.gpus);
        Ok(())
    }

    fn push_numbers(&mut self, row: &JobRow<'_>, sealed: &Sealed<'_>) {
        self.record_utc.push(Some(sealed.record_ms));
        self.submit_utc.push(row.submit_ms);
        self.eligible_utc.push(row.eligible_ms);
        self.start_utc.push(row.start_ms);
        self.end_utc.push(row.end_ms);
        self.received_utc.push(row.received_ms);
        self.wall_s.push(Some(sealed.wall_ms.div_euclid(1000)));
        self.wall_fraction_ms.push(Some(sealed.wall_ms.rem_euclid(1000)));
        self.suspended_s.push(row.suspended_s);
        self.cpu_ms.push(row.cpu_ms);
        self.cpu_user_ms.push(row.cpu_user_ms);
        self.cpu_system_ms.push(row.cpu_system_ms);
        self.alloc_core_n.push(row.alloc_core_n);
        self.alloc_node_n.push(row.alloc_node_n);
        self.alloc_gpu_n.push(row.alloc_gpu_n);
        self.alloc_memory_byte.push(row.alloc_memory_byte);
        self.requested_memory_byte.push(row.requested_memory_byte);
        self.max_rss_byte.push(row.max_rss_byte);
        self.max_virtual_byte.push(row.max_virtual_byte);
        self.network_byte.push(row.network_byte);
        self.alloc_billing_n.push(row.alloc_billing_n);
        self.time_limit_s.push(row.time_limit_s);
        self.exit_code.push(row.exit_code);
        self.exit_signal.push(row.exit_signal);
        self.scaled_cpu_ms.push(row.scaled_cpu_ms);
        self.scaled_wall_ms.push(row.scaled_wall_ms);
        self.benchmark_per_core.push(row.benchmark_milli_per_core);
        self.anomalies.push(Some(i64::from(sealed.anomalies)));
        self.step_n.push(Some(i64::from(sealed.step_n)));
        self.line.push(Some(sealed.line));
        self.byte_offset.push(Some(sealed.byte_offset));
    }

    fn push_texts(&mut self, row: &JobRow<'_>, sealed: &Sealed<'_>) -> Result<()> {
        self.format.push(Some(sealed.format))?;
        self.view.push(Some(row.view))?;
        self.cluster.push(row.cluster)?;
        self.submit_host.push(row.submit_host)?;
        self.job_id.push(Some(row.job_id))?;
        self.raw_job_id.push(row.raw_job_id)?;
        self.global_job_id.push(row.global_job_id)?;
        self.vo.push(sealed.vo)?;
        self.vo_group.push(row.vo_group)?;
        self.vo_role.push(row.vo_role)?;
        self.account.push(row.account)?;
        self.user.push(row.user)?;
        self.user_group.push(row.user_group)?;
        self.global_user.push(row.global_user)?;
        self.partition.push(row.partition)?;
        self.qos.push(row.qos)?;
        self.reservation.push(row.reservation)?;
        self.infrastructure.push(row.infrastructure)?;
        self.job_name.push(row.job_name)?;
        self.node_list.push(row.node_list)?;
        self.state.push(row.state)?;
        self.benchmark.push(row.benchmark)
    }

    fn push_gpus(&mut self, gpus: &[(&str, i64)]) {
        let devices = self.gpus.values();
        for (model, device_n) in gpus {
            if let Some(builder) = devices.field_builder::<StringBuilder>(0) {
                builder.append_value(model);
            }
            if let Some(builder) = devices.field_builder::<Int64Builder>(1) {
                builder.append_value(*device_n);
            }
            devices.append(true);
        }
        self.gpus.append(!gpus.is_empty());
    }

    /// The waiting batch of everything pushed; the builders start anew.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the builders disagree.
    pub fn finish(&mut self, origin: Origin<'_>) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(64);
        let rows = self.rows();
        columns.push(word::constant("source", origin.source, rows)?);
        columns.push(word::constant("file_id", origin.file_id, rows)?);
        let ids = FixedSizeBinaryArray::try_new(16, Buffer::from(self.record_id.as_slice()), None)?;
        columns.push(whole("record_id", Arc::new(ids)));
        let hashes = UInt64Array::from(self.content_hash.clone());
        columns.push(whole("content_hash", Arc::new(hashes)));
        let gpus = self.gpus.finish();
        if gpus.null_count() < gpus.len() {
            columns.push(whole("gpus", Arc::new(gpus)));
        }
        self.finish_packed(&mut columns)?;
        self.record_id.clear();
        self.content_hash.clear();
        waiting::batch(columns)
    }
}

fn whole(name: &str, array: ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, array.data_type().clone(), true), array)
}
