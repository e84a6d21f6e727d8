//! How `OpenLineage` names a dataset: a namespace, which is where it is, and a name in it.

use std::path::Path;

use serde::Serialize;
use url::Url;

use crate::display_text::without_passwords;

/// The name of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DatasetName {
    /// `file`, or the scheme and host of an object store.
    pub namespace: String,
    /// Its path or key.
    pub name: String,
}

impl DatasetName {
    /// Of what is at a path or URL. A relative path starts at the working directory.
    #[must_use]
    pub fn of_place(place: &str) -> Self {
        // Fallback: what is not a URL is shown as it was written.
        let url = place.contains("://").then(|| Url::parse(place).ok()).flatten();
        match url {
            Some(url) if url.scheme() != "file" => Self {
                namespace: format!("{}://{}", url.scheme(), authority(&url)),
                name: url.path().trim_matches('/').to_owned(),
            },
            // Fallback: a URL of a file without a path is shown as it was written.
            Some(url) => Self::of_file(url.path()),
            None if place.contains("://") => Self {
                namespace: "unknown".to_owned(),
                name: without_passwords(place).into_owned(),
            },
            None => Self::of_file(place),
        }
    }

    fn of_file(path: &str) -> Self {
        // Fallback: without a working directory a path stays relative.
        let name =
            std::path::absolute(Path::new(path)).map_or_else(|_| path.to_owned(), |path| path.display().to_string());
        Self {
            namespace: "file".to_owned(),
            name,
        }
    }

    /// What is below it.
    #[must_use]
    pub fn below(&self, name: &str) -> Self {
        let within = self.name.trim_end_matches('/');
        Self {
            namespace: self.namespace.clone(),
            name: if within.is_empty() {
                name.to_owned()
            } else {
                format!("{within}/{name}")
            },
        }
    }

    /// What stores it, in the word of the facet `storage`.
    #[must_use]
    pub fn storage_layer(&self) -> &str {
        // Fallback: a namespace without a scheme is the layer itself.
        self.namespace
            .split_once("://")
            .map_or(self.namespace.as_str(), |(scheme, _)| scheme)
    }
}

/// Host and port, or the container with its account, without a password.
fn authority(url: &Url) -> String {
    // Fallback: a URL without a host names a place without one.
    let host = url.host_str().unwrap_or_default();
    // abfss://CONTAINER@ACCOUNT
    let user = if url.username().is_empty() || url.password().is_some() {
        String::new()
    } else {
        format!("{}@", url.username())
    };
    match url.port() {
        Some(port) => format!("{user}{host}:{port}"),
        None => format!("{user}{host}"),
    }
}
