//! Builders for every column of `records`, and the batch they end in.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanBuilder, Decimal128Builder, FixedSizeBinaryBuilder, Int64Builder, ListBuilder,
    RecordBatch, StringBuilder, StructBuilder, TimestampMillisecondBuilder, UInt64Builder,
};
use arrow::datatypes::{DataType, Field};

use super::anomaly::Anomaly;
use super::row::JobRow;
use crate::error::Result;
use crate::schema::{self, dataset::gpu_fields};

/// What the records room adds to a [`JobRow`].
pub struct Sealed<'a> {
    /// Identity.
    pub record_id: u128,
    /// Instant that places it, Unix milliseconds.
    pub record_ms: i64,
    /// Source name.
    pub source: &'a str,
    /// Dialect family.
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
    /// Line.
    pub line: i64,
    /// Offset.
    pub byte_offset: i64,
    /// Hash of the content.
    pub content_hash: u64,
}

macro_rules! columns {
    ($($name:ident: $builder:ty,)+) => {
        /// One builder per column, in the order of the schema.
        pub struct Columns {
            $($name: $builder,)+
            gpus: ListBuilder<StructBuilder>,
            benchmark_per_core: Decimal128Builder,
            anomalies: Vec<u32>,
            rows: usize,
        }

        impl Columns {
            /// Empty builders.
            #[must_use]
            pub fn new() -> Self {
                let element = Field::new("element", DataType::Struct(gpu_fields()), false);
                Self {
                    $($name: <$builder as NewBuilder>::fresh(),)+
                    gpus: ListBuilder::new(StructBuilder::from_fields(gpu_fields(), 0)).with_field(element),
                    benchmark_per_core: Decimal128Builder::new().with_data_type(DataType::Decimal128(12, 3)),
                    anomalies: Vec::new(),
                    rows: 0,
                }
            }
        }
    };
}

columns! {
    record_id: FixedSizeBinaryBuilder,
    record_utc: TimestampMillisecondBuilder,
    source: StringBuilder,
    format: StringBuilder,
    view: StringBuilder,
    cluster: StringBuilder,
    submit_host: StringBuilder,
    job_id: StringBuilder,
    raw_job_id: StringBuilder,
    global_job_id: StringBuilder,
    vo: StringBuilder,
    vo_group: StringBuilder,
    vo_role: StringBuilder,
    account: StringBuilder,
    user: StringBuilder,
    user_group: StringBuilder,
    global_user: StringBuilder,
    partition: StringBuilder,
    qos: StringBuilder,
    infrastructure: StringBuilder,
    job_name: StringBuilder,
    submit_utc: TimestampMillisecondBuilder,
    eligible_utc: TimestampMillisecondBuilder,
    start_utc: TimestampMillisecondBuilder,
    end_utc: TimestampMillisecondBuilder,
    received_utc: TimestampMillisecondBuilder,
    wall_s: Int64Builder,
    wall_fraction_ms: Int64Builder,
    suspended_s: Int64Builder,
    cpu_ms: Int64Builder,
    cpu_user_ms: Int64Builder,
    cpu_system_ms: Int64Builder,
    alloc_core_n: Int64Builder,
    alloc_node_n: Int64Builder,
    alloc_gpu_n: Int64Builder,
    alloc_memory_byte: Int64Builder,
    requested_memory_byte: Int64Builder,
    max_rss_byte: Int64Builder,
    max_virtual_byte: Int64Builder,
    alloc_billing_n: Int64Builder,
    time_limit_s: Int64Builder,
    node_list: StringBuilder,
    state: StringBuilder,
    exit_code: Int64Builder,
    exit_signal: Int64Builder,
    benchmark: StringBuilder,
    step_n: Int64Builder,
    file_id: StringBuilder,
    line: Int64Builder,
    byte_offset: Int64Builder,
    content_hash: UInt64Builder,
}

/// How each kind of builder starts out.
trait NewBuilder {
    fn fresh() -> Self;
}

macro_rules! new_builder {
    ($($builder:ty => $fresh:expr,)+) => {$(
        impl NewBuilder for $builder {
            fn fresh() -> Self { $fresh }
        }
    )+};
}

new_builder! {
    FixedSizeBinaryBuilder => FixedSizeBinaryBuilder::new(16),
    TimestampMillisecondBuilder => TimestampMillisecondBuilder::new(),
    StringBuilder => StringBuilder::new(),
    Int64Builder => Int64Builder::new(),
    UInt64Builder => UInt64Builder::new(),
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
        self.rows
    }

    /// Appends one record.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a builder refuses a value of its own type.
    pub fn push(&mut self, row: &JobRow<'_>, sealed: &Sealed<'_>) -> Result<()> {
        self.record_id.append_value(sealed.record_id.to_be_bytes())?;
        self.record_utc.append_value(sealed.record_ms);
        self.source.append_value(sealed.source);
        self.format.append_value(sealed.format);
        self.view.append_value(row.view);
        self.cluster.append_option(row.cluster);
        self.submit_host.append_option(row.submit_host);
        self.job_id.append_value(row.job_id);
        self.raw_job_id.append_option(row.raw_job_id);
        self.global_job_id.append_option(row.global_job_id);
        self.vo.append_option(sealed.vo);
        self.vo_group.append_option(row.vo_group);
        self.vo_role.append_option(row.vo_role);
        self.account.append_option(row.account);
        self.user.append_option(row.user);
        self.user_group.append_option(row.user_group);
        self.global_user.append_option(row.global_user);
        self.partition.append_option(row.partition);
        self.qos.append_option(row.qos);
        self.infrastructure.append_option(row.infrastructure);
        self.job_name.append_option(row.job_name);
        self.submit_utc.append_option(row.submit_ms);
        self.eligible_utc.append_option(row.eligible_ms);
        self.start_utc.append_option(row.start_ms);
        self.end_utc.append_option(row.end_ms);
        self.received_utc.append_option(row.received_ms);
        self.wall_s.append_value(sealed.wall_ms.div_euclid(1000));
        self.wall_fraction_ms.append_value(sealed.wall_ms.rem_euclid(1000));
        self.suspended_s.append_option(row.suspended_s);
        self.cpu_ms.append_option(row.cpu_ms);
        self.cpu_user_ms.append_option(row.cpu_user_ms);
        self.cpu_system_ms.append_option(row.cpu_system_ms);
        self.alloc_core_n.append_option(row.alloc_core_n);
        self.alloc_node_n.append_option(row.alloc_node_n);
        self.alloc_gpu_n.append_option(row.alloc_gpu_n);
        self.push_gpus(row.gpus);
        self.alloc_memory_byte.append_option(row.alloc_memory_byte);
        self.requested_memory_byte.append_option(row.requested_memory_byte);
        self.max_rss_byte.append_option(row.max_rss_byte);
        self.max_virtual_byte.append_option(row.max_virtual_byte);
        self.alloc_billing_n.append_option(row.alloc_billing_n);
        self.time_limit_s.append_option(row.time_limit_s);
        self.node_list.append_option(row.node_list);
        self.state.append_option(row.state);
        self.exit_code.append_option(row.exit_code);
        self.exit_signal.append_option(row.exit_signal);
        self.benchmark.append_option(row.benchmark);
        self.benchmark_per_core
            .append_option(row.benchmark_milli_per_core.map(i128::from));
        self.anomalies.push(sealed.anomalies);
        self.step_n.append_value(i64::from(sealed.step_n));
        self.file_id.append_value(sealed.file_id);
        self.line.append_value(sealed.line);
        self.byte_offset.append_value(sealed.byte_offset);
        self.content_hash.append_value(sealed.content_hash);
        self.rows += 1;
        Ok(())
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

    /// The batch of everything pushed; the builders start anew.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(80);
        macro_rules! take {
            ($($name:ident)+) => {$( arrays.push(Arc::new(self.$name.finish())); )+};
        }
        take!(record_id record_utc source format view cluster submit_host job_id raw_job_id global_job_id);
        take!(vo vo_group vo_role account user user_group global_user partition qos infrastructure job_name);
        take!(submit_utc eligible_utc start_utc end_utc received_utc wall_s wall_fraction_ms suspended_s);
        take!(cpu_ms cpu_user_ms cpu_system_ms alloc_core_n alloc_node_n alloc_gpu_n gpus alloc_memory_byte);
        take!(requested_memory_byte max_rss_byte max_virtual_byte alloc_billing_n time_limit_s node_list state);
        take!(exit_code exit_signal benchmark benchmark_per_core);
        for anomaly in Anomaly::ALL {
            let mut flags = BooleanBuilder::with_capacity(self.anomalies.len());
            for bits in &self.anomalies {
                flags.append_value(bits & anomaly.bit() != 0);
            }
            arrays.push(Arc::new(flags.finish()));
        }
        take!(step_n file_id line byte_offset content_hash);
        self.anomalies.clear();
        self.rows = 0;
        let dataset = schema::dataset("records")?;
        let batch = RecordBatch::try_new(dataset.arrow(), arrays)?;
        dataset.admit(&batch)?;
        Ok(batch)
    }
}

/// `batch` with every value of a text column replaced.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when there is no such column.
pub fn with_text<'a>(batch: &'a RecordBatch, name: &str, replace: impl Fn(&'a str) -> &'a str) -> Result<RecordBatch> {
    let at = batch.schema_ref().index_of(name)?;
    let mut builder = StringBuilder::with_capacity(batch.num_rows(), 16 * batch.num_rows());
    for value in batch
        .columns()
        .get(at)
        .map(AsArray::as_string::<i32>)
        .into_iter()
        .flatten()
    {
        builder.append_option(value.map(&replace));
    }
    let mut columns = batch.columns().to_vec();
    if let Some(column) = columns.get_mut(at) {
        *column = Arc::new(builder.finish());
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}
