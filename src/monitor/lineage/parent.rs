//! The run that started this one, as a scheduler names it in variables.

use serde_json::{Value, json};

/// A run of another system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageName {
    /// Namespace of its job.
    pub namespace: String,
    /// Name of its job.
    pub name: String,
    /// Its UUID.
    pub run_id: String,
}

/// What started a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageParent {
    /// The run that started it.
    pub parent: LineageName,
    /// The run that everything belongs to.
    pub root: LineageName,
}

impl LineageName {
    /// Reads `NAMESPACE/JOB/RUN_ID`. A namespace may contain slashes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(3, '/');
        let (run_id, name, namespace) = (parts.next()?, parts.next()?, parts.next()?);
        Self::new(namespace, name, run_id)
    }

    /// Reads the object of `OPENLINEAGE_CONTEXT` and of the facet `parent`: `{"run": {"runId"}, "job": {"namespace", "name"}}`.
    #[must_use]
    pub fn of_json(value: &Value) -> Option<Self> {
        let text = |of: &str, field: &str| value.get(of)?.get(field)?.as_str();
        Self::new(text("job", "namespace")?, text("job", "name")?, text("run", "runId")?)
    }

    fn new(namespace: &str, name: &str, run_id: &str) -> Option<Self> {
        let is_whole = !namespace.is_empty() && !name.is_empty() && is_uuid(run_id);
        is_whole.then(|| Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            run_id: run_id.to_owned(),
        })
    }

    fn json(&self) -> Value {
        json!({
            "run": { "runId": self.run_id },
            "job": { "namespace": self.namespace, "name": self.name },
        })
    }
}

impl LineageParent {
    /// The fields of the facet `parent`.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut fields = self.parent.json();
        if let Value::Object(fields) = &mut fields {
            fields.insert("root".to_owned(), self.root.json());
        }
        fields
    }
}

/// Whether a text is a UUID, as the schema requires of the id of a run.
fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == lengths.len()
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, length)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
