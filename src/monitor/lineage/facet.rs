//! Facets: what events state in addition to names, each with its producer and the schema it follows.

use serde_json::{Map, Value, json};

use super::event::PRODUCER;

/// A facet: its key, and the schema that states its fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct FacetSchema {
    pub(super) key: &'static str,
    url: &'static str,
}

macro_rules! facets {
    ($($name:ident: $key:literal = $version:literal $file:literal;)*) => {$(
        pub(super) const $name: FacetSchema = FacetSchema {
            key: $key,
            url: concat!("https://openlineage.io/spec/facets/", $version, "/", $file, ".json#/$defs/", $file),
        };
    )*};
}

facets! {
    SCHEMA: "schema" = "1-2-0" "SchemaDatasetFacet";
    VERSION: "version" = "1-0-1" "DatasetVersionDatasetFacet";
    STORAGE: "storage" = "1-0-1" "StorageDatasetFacet";
    OUTPUT_STATISTICS: "outputStatistics" = "1-0-2" "OutputStatisticsOutputDatasetFacet";
    INPUT_STATISTICS: "inputStatistics" = "1-0-0" "InputStatisticsInputDatasetFacet";
    QUALITY_METRICS: "dataQualityMetrics" = "1-0-3" "DataQualityMetricsInputDatasetFacet";
    QUALITY_ASSERTIONS: "dataQualityAssertions" = "1-1-0" "DataQualityAssertionsDatasetFacet";
    ERROR_MESSAGE: "errorMessage" = "1-0-1" "ErrorMessageRunFacet";
    JOB_TYPE: "jobType" = "2-0-4" "JobTypeJobFacet";
    PROCESSING_ENGINE: "processing_engine" = "1-1-1" "ProcessingEngineRunFacet";
    PARENT: "parent" = "1-2-0" "ParentRunFacet";
    NOMINAL_TIME: "nominalTime" = "1-0-1" "NominalTimeRunFacet";
    ENVIRONMENT: "environmentVariables" = "1-0-0" "EnvironmentVariablesRunFacet";
}

/// The facets of one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Facets(Map<String, Value>);

impl Facets {
    /// Adds a facet with its fields, an object.
    pub(super) fn with(mut self, schema: FacetSchema, fields: Value) -> Self {
        let mut facet = Map::new();
        facet.insert("_producer".to_owned(), json!(PRODUCER));
        facet.insert("_schemaURL".to_owned(), json!(schema.url));
        if let Value::Object(fields) = fields {
            facet.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        }
        self.0.insert(schema.key.to_owned(), facet.into());
        self
    }

    pub(super) fn into_value(self) -> Value {
        self.0.into()
    }
}
