//! The events of a run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::dataset_name::DatasetName;
use super::facet::{self, Facets};
use super::settings::LineageSettings;
use super::sink::{LineageSink, RequestLimits};
use crate::config::Plan;
use crate::error::Result;
use crate::report::lake::Lake;
use crate::run::RunOptions;
use crate::run::run_report::RunReport;
use crate::run::source_report::SourceReport;
use crate::runtime::clock;
use crate::schema;
use crate::schema::dataset::Dataset;
use crate::time::instant::instant_text;
use crate::time::month::date_of;

/// What makes the events, as a package URL.
pub const PRODUCER: &str = concat!("pkg:cargo/gridtally@", env!("CARGO_PKG_VERSION"));

/// The schema of the events.
pub const SCHEMA_URL: &str = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// It began.
    Start,
    /// It ended well.
    Complete,
    /// It failed.
    Fail,
    /// Somebody ended it.
    Abort,
}

impl EventType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Start => "START",
            Self::Complete => "COMPLETE",
            Self::Fail => "FAIL",
            Self::Abort => "ABORT",
        }
    }
}

/// A source as a dataset: named after the first of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageInput {
    /// Name of the source.
    pub source: String,
    /// Name of the dataset.
    pub name: DatasetName,
}

/// A run whose events are sent.
#[derive(Clone, Debug)]
pub struct LineageRun {
    settings: LineageSettings,
    inputs: Vec<LineageInput>,
    nominal: Option<Value>,
    is_begun: bool,
}

impl LineageRun {
    /// A run of which nothing is known yet.
    #[must_use]
    pub fn new(settings: LineageSettings) -> Self {
        Self {
            settings,
            inputs: Vec::new(),
            nominal: None,
            is_begun: false,
        }
    }

    /// Whether its events go to a server, which takes time.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self.settings.sink, LineageSink::Http { .. })
    }

    /// The file its events go to, if they go to one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.settings.sink {
            LineageSink::File(path) => Some(path),
            LineageSink::Log | LineageSink::Http { .. } => None,
        }
    }

    /// Takes the sources of the plan, and sends the event of the start.
    pub fn begin(&mut self, plan: &Plan, options: &RunOptions, report: &RunReport) {
        self.inputs = plan
            .sources
            .iter()
            .map(|source| LineageInput {
                source: source.name.clone(),
                // Fallback: a source without a path, which no plan has, has a name without one.
                name: DatasetName::of_place(source.paths.first().map_or("", String::as_str)),
            })
            .collect();
        self.nominal = nominal_time(options);
        self.start(report, RequestLimits::OfSettings);
    }

    fn start(&mut self, report: &RunReport, limits: RequestLimits) {
        self.is_begun = true;
        let inputs = self
            .inputs
            .iter()
            .map(|input| json!({ "namespace": input.name.namespace, "name": input.name.name }));
        let event = self.event(
            EventType::Start,
            report,
            &Body {
                inputs: inputs.collect(),
                outputs: Vec::new(),
            },
        );
        self.settings.sink.send(&event, limits);
    }

    /// Sends the event of the end, with the datasets of the lake where it is known. One that ended before its plan was read
    /// began only now.
    ///
    /// # Errors
    /// Where the lake cannot be looked at; nothing is sent then.
    pub fn end(
        &mut self,
        kind: EventType,
        report: &RunReport,
        lake: Option<&Lake>,
        limits: RequestLimits,
    ) -> Result<()> {
        if !self.is_begun {
            self.start(report, limits);
        }
        let outputs = match lake {
            Some(lake) if kind == EventType::Complete => outputs(lake, report)?,
            _ => Vec::new(),
        };
        let inputs = self.inputs.iter().map(|input| input_json(input, report)).collect();
        let event = self.event(kind, report, &Body { inputs, outputs });
        self.settings.sink.send(&event, limits);
        Ok(())
    }

    fn event(&self, kind: EventType, report: &RunReport, body: &Body) -> String {
        let mut run = Facets::default().with(
            facet::PROCESSING_ENGINE,
            json!({
                "name": "gridtally",
                "version": report.gridtally_version,
                "openlineageAdapterVersion": report.gridtally_version,
            }),
        );
        if let Some(parent) = &self.settings.parent {
            run = run.with(facet::PARENT, parent.json());
        }
        if let Some(nominal) = &self.nominal {
            run = run.with(facet::NOMINAL_TIME, nominal.clone());
        }
        if let Some(trace) = &report.identity.traceparent {
            let variables = json!([{ "name": "TRACEPARENT", "value": trace }]);
            run = run.with(facet::ENVIRONMENT, json!({ "environmentVariables": variables }));
        }
        if let Some(failure) = report.error.as_ref().filter(|_| kind != EventType::Start) {
            let fields = json!({ "message": failure.message, "programmingLanguage": "Rust" });
            run = run.with(facet::ERROR_MESSAGE, fields);
        }
        let job = Facets::default().with(
            facet::JOB_TYPE,
            json!({ "processingType": "BATCH", "integration": "GRIDTALLY", "jobType": "JOB" }),
        );
        let time = if kind == EventType::Start {
            Some(report.identity.started_utc.clone())
        } else {
            report.ending.finished_utc.clone()
        };
        json!({
            "eventType": kind.as_str(),
            // Fallback: an event without a time of its own is of now.
            "eventTime": time.or_else(|| instant_text(clock::now_ms())),
            "producer": PRODUCER,
            "schemaURL": SCHEMA_URL,
            "run": { "runId": report.identity.run_uuid, "facets": run.into_value() },
            "job": {
                "namespace": self.settings.namespace,
                "name": report.pipeline,
                "facets": job.into_value(),
            },
            "inputs": body.inputs,
            "outputs": body.outputs,
        })
        .to_string()
    }
}

/// The datasets of an event.
struct Body {
    inputs: Vec<Value>,
    outputs: Vec<Value>,
}

/// The months that a run was limited to, as times.
fn nominal_time(options: &RunOptions) -> Option<Value> {
    let midnight = |day| date_of(day).map(|date| format!("{date}T00:00:00Z"));
    let from = midnight(options.from?.first_day())?;
    let to = options.to.and_then(|to| midnight(to.next().first_day()));
    Some(json!({ "nominalStartTime": from, "nominalEndTime": to }))
}

/// A source with what the run read of it, and the newest record that the lake has of it.
fn input_json(input: &LineageInput, report: &RunReport) -> Value {
    // Fallback: of a source that is not in the report nothing was read.
    let read = report.sources.get(&input.source).cloned().unwrap_or_default();
    let SourceReport {
        files_read_n,
        bytes_read_n,
        rows_read_n,
        rejected_n,
        ..
    } = read;
    let empty_n = report.empty.iter().filter(|file| file.source == input.source).count();
    let assertion = |name: &str, actual: u64| {
        json!({
            "assertion": name,
            "success": actual == 0,
            "severity": "warn",
            "expected": "0",
            "actual": actual.to_string(),
        })
    };
    let facets = Facets::default()
        .with(
            facet::INPUT_STATISTICS,
            json!({ "rowCount": rows_read_n, "size": bytes_read_n, "fileCount": files_read_n }),
        )
        .with(
            facet::QUALITY_METRICS,
            json!({
                "rowCount": rows_read_n,
                "bytes": bytes_read_n,
                "fileCount": files_read_n,
                "lastUpdated": report.ending.newest_records.get(&input.source),
                "columnMetrics": {},
            }),
        )
        .with(
            facet::QUALITY_ASSERTIONS,
            json!({ "assertions": [
                assertion("rejected_rows", rejected_n),
                assertion("empty_files", crate::numbers::count_u64(empty_n)),
            ] }),
        );
    json!({
        "namespace": input.name.namespace,
        "name": input.name.name,
        "inputFacets": facets.into_value(),
    })
}

/// What was written of a dataset.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    rows: u64,
    bytes: u64,
    files: u64,
}

/// Every dataset of the lake, with what the run wrote of it.
fn outputs(lake: &Lake, report: &RunReport) -> Result<Vec<Value>> {
    let place = DatasetName::of_place(lake.store.url());
    let version = lake.manifest.blake3()?;
    let mut written: BTreeMap<&str, Written> = BTreeMap::new();
    for file in lake.manifest.files() {
        let of = written.entry(&file.dataset).or_default();
        if report.written.binary_search(&file.path).is_ok() {
            of.rows += file.rows;
            of.bytes += file.bytes;
            of.files += 1;
        }
    }
    let mut outputs = Vec::new();
    for dataset in schema::lake_datasets()? {
        let Some(of) = written.get(dataset.name.as_str()) else {
            continue;
        };
        outputs.push(output_json(&place, &version, dataset, *of));
    }
    Ok(outputs)
}

fn output_json(place: &DatasetName, version: &str, dataset: &Dataset, written: Written) -> Value {
    // The folder that its files are in, which a few datasets do not have the name of.
    let folder = dataset.path.split('/').next();
    let name = place.below(folder.map_or(dataset.name.as_str(), |folder| folder));
    let fields: Vec<Value> = dataset
        .partition
        .iter()
        .chain(&dataset.columns)
        .enumerate()
        .map(|(at, column)| {
            json!({
                "name": column.name,
                "type": column.kind.sql(),
                "description": column.doc,
                "ordinal_position": at + 1,
            })
        })
        .collect();
    let facets = Facets::default()
        .with(facet::SCHEMA, json!({ "fields": fields }))
        .with(facet::VERSION, json!({ "datasetVersion": version }))
        .with(
            facet::STORAGE,
            json!({ "storageLayer": place.storage_layer(), "fileFormat": "parquet" }),
        );
    let statistics = Facets::default().with(
        facet::OUTPUT_STATISTICS,
        json!({ "rowCount": written.rows, "size": written.bytes, "fileCount": written.files }),
    );
    json!({
        "namespace": name.namespace,
        "name": name.name,
        "facets": facets.into_value(),
        "outputFacets": statistics.into_value(),
    })
}
