//! One builder per column of `records`, and the waiting batch they end in.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use arrow_buffer::Buffer;
use arrow_schema::Field;

use super::named_amounts::NamedAmounts;
use super::packed;
use super::packed::integer::IntegerNumbers;
use super::packed::text;
use super::packed::text::TextWords;
use crate::error::Result;
use crate::record::details::{Exclusivity, JobDetails};
use crate::record::energy::Energy;
use crate::record::jobstats::Jobstats;
use crate::record::row::JobRow;
use crate::record::unchanged_columns::UnchangedColumns;
use crate::schema::dataset::{amount_fields, gpu_fields};

/// What the records room adds to a [`JobRow`].
pub struct DerivedFields<'a> {
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
    /// Input file.
    pub file_id: &'a str,
    /// Whether the row pushed before is of the same file.
    pub is_file_repeated: bool,
    /// Line.
    pub line: i64,
    /// Offset.
    pub byte_offset: i64,
    /// Hash of the content.
    pub content_hash: u64,
    /// Texts that are those of the row pushed before.
    pub repeats: UnchangedColumns,
}

macro_rules! columns {
    ($(numbers: $($number:ident)+;)+ $(coded: $($coded:ident)+;)+ $(plain: $($plain:ident)+;)+) => {
        /// The builders. They keep their room from batch to batch.
        pub struct Columns {
            $($($number: IntegerNumbers,)+)+
            $($($coded: TextWords,)+)+
            $($($plain: TextWords,)+)+
            record_id: Vec<u8>,
            content_hash: Vec<u64>,
            gpus: NamedAmounts,
            burst_buffers: NamedAmounts,
            licenses: NamedAmounts,
            /// The row pushed last has something of Jobstats.
            is_jobstats_last: bool,
            /// The row pushed last has something of energy.
            is_energy_last: bool,
            /// The row pushed last has details.
            is_details_last: bool,
        }

        impl Columns {
            /// Empty builders.
            #[must_use]
            pub fn new() -> Self {
                Self {
                    $($($number: IntegerNumbers::default(),)+)+
                    $($($coded: TextWords::coded(),)+)+
                    $($($plain: TextWords::plain(),)+)+
                    record_id: Vec::new(),
                    content_hash: Vec::new(),
                    gpus: NamedAmounts::new(gpu_fields()),
                    burst_buffers: NamedAmounts::new(amount_fields()),
                    licenses: NamedAmounts::new(amount_fields()),
                    is_jobstats_last: false,
                    is_energy_last: false,
                    is_details_last: false,
                }
            }

            /// Bytes of all texts appended since the last [`Columns::finish`].
            #[must_use]
            pub fn text_bytes(&self) -> usize {
                0 $($(+ self.$coded.bytes())+)+ $($(+ self.$plain.bytes())+)+
            }

            fn finish_packed(&mut self, rows: usize, into: &mut Vec<(Field, ArrayRef)>) -> Result<()> {
                $($(into.extend(self.$number.finish(stringify!($number), rows));)+)+
                $($(into.extend(self.$coded.finish(stringify!($coded), rows)?);)+)+
                $($(into.extend(self.$plain.finish(stringify!($plain), rows)?);)+)+
                Ok(())
            }
        }
    };
}

columns! {
    numbers: record_utc submit_utc eligible_utc start_utc end_utc received_utc wall_s wall_fraction_ms suspended_s;
    numbers: cpu_ms cpu_user_ms cpu_system_ms alloc_core_n alloc_node_n alloc_gpu_n alloc_memory_byte;
    numbers: requested_core_n requested_memory_byte max_rss_byte max_virtual_byte network_byte alloc_billing_n time_limit_s exit_code;
    numbers: jobstats_span_s jobstats_memory_used_byte jobstats_memory_total_byte gpu_stated_ms gpu_busy_ms;
    numbers: gpu_memory_used_byte gpu_memory_total_byte energy_j;
    numbers: exit_signal scaled_cpu_ms scaled_wall_ms benchmark_per_core anomalies step_n line byte_offset;
    coded: file_id format view cluster submit_host vo vo_group vo_role account user user_group global_user partition;
    coded: fqan vo_name reportable_vo qos wckey reservation infrastructure node_list state benchmark jobstats;
    coded: energy_reading requested_exclusive;
    plain: job_id raw_job_id global_job_id job_name requested_dependency;
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
    pub fn push(&mut self, row: &JobRow<'_>, sealed: &DerivedFields<'_>) -> Result<()> {
        let at = self.rows();
        self.record_id.extend_from_slice(&sealed.record_id.to_be_bytes());
        self.content_hash.push(sealed.content_hash);
        self.push_numbers(at, row, sealed);
        if !row.gpus.is_empty() {
            self.gpus.push(at, row.gpus);
        }
        // Few sources have any, and their columns need not be looked at for all others.
        if row.jobstats.is_some() || self.is_jobstats_last {
            self.push_jobstats(at, row.jobstats.as_ref())?;
        }
        if row.energy.is_some() || self.is_energy_last {
            self.push_energy(at, row.energy)?;
        }
        if row.details.is_some() || self.is_details_last {
            self.push_details(at, row.details)?;
        }
        self.push_texts(at, row, sealed)
    }

    fn push_numbers(&mut self, at: usize, row: &JobRow<'_>, sealed: &DerivedFields<'_>) {
        self.record_utc.push(at, Some(sealed.record_ms));
        self.submit_utc.push(at, row.submit_ms);
        self.eligible_utc.push(at, row.eligible_ms);
        self.start_utc.push(at, row.start_ms);
        self.end_utc.push(at, row.end_ms);
        self.received_utc.push(at, row.received_ms);
        self.wall_s.push(at, Some(sealed.wall_ms.div_euclid(1000)));
        self.wall_fraction_ms.push(at, Some(sealed.wall_ms.rem_euclid(1000)));
        self.suspended_s.push(at, row.suspended_s);
        self.cpu_ms.push(at, row.cpu_ms);
        self.cpu_user_ms.push(at, row.cpu_user_ms);
        self.cpu_system_ms.push(at, row.cpu_system_ms);
        self.alloc_core_n.push(at, row.alloc_core_n);
        self.alloc_node_n.push(at, row.alloc_node_n);
        self.alloc_gpu_n.push(at, row.alloc_gpu_n);
        self.alloc_memory_byte.push(at, row.alloc_memory_byte);
        self.requested_core_n.push(at, row.requested_core_n);
        self.requested_memory_byte.push(at, row.requested_memory_byte);
        self.max_rss_byte.push(at, row.max_rss_byte);
        self.max_virtual_byte.push(at, row.max_virtual_byte);
        self.network_byte.push(at, row.network_byte);
        self.alloc_billing_n.push(at, row.alloc_billing_n);
        self.time_limit_s.push(at, row.time_limit_s);
        self.exit_code.push(at, row.exit_code);
        self.exit_signal.push(at, row.exit_signal);
        self.scaled_cpu_ms.push(at, row.scaled_cpu_ms);
        self.scaled_wall_ms.push(at, row.scaled_wall_ms);
        self.benchmark_per_core.push(at, row.benchmark_milli_per_core);
        self.anomalies.push(at, Some(i64::from(sealed.anomalies)));
        self.step_n.push(at, Some(i64::from(sealed.step_n)));
        self.line.push(at, Some(sealed.line));
        self.byte_offset.push(at, Some(sealed.byte_offset));
    }

    fn push_texts(&mut self, at: usize, row: &JobRow<'_>, sealed: &DerivedFields<'_>) -> Result<()> {
        let is = |text| sealed.repeats.has(text);
        self.file_id
            .push_or_repeat(at, Some(sealed.file_id), sealed.is_file_repeated)?;
        self.format.push(at, Some(sealed.format))?;
        self.view
            .push_or_repeat(at, Some(row.view), is(UnchangedColumns::VIEW))?;
        self.cluster
            .push_or_repeat(at, row.cluster, is(UnchangedColumns::CLUSTER))?;
        self.submit_host
            .push_or_repeat(at, row.submit_host, is(UnchangedColumns::SUBMIT_HOST))?;
        self.job_id.push(at, Some(row.job_id))?;
        self.raw_job_id.push(at, row.raw_job_id)?;
        self.global_job_id.push(at, row.global_job_id)?;
        self.vo.push_or_repeat(at, sealed.vo, is(UnchangedColumns::VO))?;
        let is_other = |name: &&str| Some(*name) != sealed.vo;
        self.vo_name.push(at, row.vo_name.filter(is_other))?;
        self.reportable_vo.push(at, row.reportable_vo.filter(is_other))?;
        self.fqan.push_or_repeat(at, row.fqan, is(UnchangedColumns::FQAN))?;
        self.vo_group
            .push_or_repeat(at, row.vo_group, is(UnchangedColumns::VO_GROUP))?;
        self.vo_role
            .push_or_repeat(at, row.vo_role, is(UnchangedColumns::VO_ROLE))?;
        self.account
            .push_or_repeat(at, row.account, is(UnchangedColumns::ACCOUNT))?;
        self.user.push_or_repeat(at, row.user, is(UnchangedColumns::USER))?;
        self.user_group.push(at, row.user_group)?;
        self.global_user
            .push_or_repeat(at, row.global_user, is(UnchangedColumns::GLOBAL_USER))?;
        self.partition
            .push_or_repeat(at, row.partition, is(UnchangedColumns::PARTITION))?;
        self.qos.push_or_repeat(at, row.qos, is(UnchangedColumns::QOS))?;
        self.wckey.push_or_repeat(at, row.wckey, is(UnchangedColumns::WCKEY))?;
        self.reservation.push(at, row.reservation)?;
        self.infrastructure
            .push_or_repeat(at, row.infrastructure, is(UnchangedColumns::INFRASTRUCTURE))?;
        self.job_name.push(at, row.job_name)?;
        self.node_list.push(at, row.node_list)?;
        self.state.push_or_repeat(at, row.state, is(UnchangedColumns::STATE))?;
        self.benchmark
            .push_or_repeat(at, row.benchmark, is(UnchangedColumns::BENCHMARK))
    }

    fn push_jobstats(&mut self, at: usize, jobstats: Option<&Jobstats>) -> Result<()> {
        self.is_jobstats_last = jobstats.is_some();
        let number = |of: fn(&Jobstats) -> Option<i64>| jobstats.and_then(of);
        self.jobstats_span_s.push(at, number(|found| found.span_s));
        self.jobstats_memory_used_byte
            .push(at, number(|found| found.memory_used_byte));
        self.jobstats_memory_total_byte
            .push(at, number(|found| found.memory_total_byte));
        self.gpu_stated_ms.push(at, number(|found| found.gpu_stated_ms));
        self.gpu_busy_ms.push(at, number(|found| found.gpu_busy_ms));
        self.gpu_memory_used_byte
            .push(at, number(|found| found.gpu_memory_used_byte));
        self.gpu_memory_total_byte
            .push(at, number(|found| found.gpu_memory_total_byte));
        self.jobstats.push(at, jobstats.map(|found| found.outcome.as_str()))
    }

    fn push_energy(&mut self, at: usize, energy: Option<Energy>) -> Result<()> {
        self.is_energy_last = energy.is_some();
        self.energy_j.push(at, energy.and_then(|energy| energy.energy_j));
        self.energy_reading
            .push(at, energy.map(|energy| energy.reading.as_str()))
    }

    fn push_details(&mut self, at: usize, details: Option<&JobDetails<'_>>) -> Result<()> {
        self.is_details_last = details.is_some();
        let dependency = details.and_then(|details| details.dependency);
        let exclusive = details.and_then(|details| details.exclusive);
        if let Some(details) = details {
            self.burst_buffers.push(at, details.burst_buffers);
            self.licenses.push(at, details.licenses);
        }
        self.requested_dependency.push(at, dependency)?;
        self.requested_exclusive.push(at, exclusive.map(Exclusivity::as_str))
    }

    /// The batch of everything pushed, from this source; the builders start empty.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the builders disagree.
    pub fn finish(&mut self, source: &str) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(64);
        let rows = self.rows();
        columns.push(text::constant("source", source, rows)?);
        let ids = FixedSizeBinaryArray::try_new(16, Buffer::from(self.record_id.as_slice()), None)?;
        columns.push(whole("record_id", Arc::new(ids)));
        let hashes = UInt64Array::from(self.content_hash.clone());
        columns.push(whole("content_hash", Arc::new(hashes)));
        columns.extend(self.gpus.finish("gpus", rows));
        columns.extend(self.burst_buffers.finish("burst_buffer_byte", rows));
        columns.extend(self.licenses.finish("licenses", rows));
        self.finish_packed(rows, &mut columns)?;
        self.record_id.clear();
        self.content_hash.clear();
        self.is_jobstats_last = false;
        self.is_energy_last = false;
        self.is_details_last = false;
        packed::batch(columns)
    }
}

fn whole(name: &str, array: ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, array.data_type().clone(), true), array)
}
