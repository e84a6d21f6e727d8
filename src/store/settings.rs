//! The variables that set up an object store, checked before they are used and named where they are wrong.

use std::collections::BTreeMap;

use object_store::ObjectStoreScheme;
use url::Url;

use super::http_client::is_yes;
use crate::error::{Error, Result};

/// Checks the URL of the server, which the client of a store takes as it is. The variables are by lower-case name.
///
/// # Errors
/// [`crate::error::Kind::Config`] naming a variable that holds no URL, or an `http://` one that is not permitted.
pub(super) fn check_endpoint(scheme: &ObjectStoreScheme, variables: &BTreeMap<String, String>) -> Result<()> {
    let is_set = |name: &str| variables.get(name).is_some_and(|value| is_yes(value));
    // The first one that is set is used: a builder takes variables in the order of their names, and the last of a setting counts.
    let (names, allow_http): (&[&str], _) = match scheme {
        ObjectStoreScheme::AmazonS3 => (
            &["aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint"],
            "aws_allow_http",
        ),
        ObjectStoreScheme::GoogleCloudStorage => (&["google_base_url"], "google_allow_http"),
        ObjectStoreScheme::MicrosoftAzure if !is_set("azure_storage_use_emulator") => {
            (&["azure_storage_endpoint", "azure_endpoint"], "azure_allow_http")
        }
        _ => return Ok(()),
    };
    let Some((name, value)) = names.iter().find_map(|name| variables.get_key_value(*name)) else {
        return Ok(());
    };
    let name = name.to_ascii_uppercase();
    let url = Url::parse(value)
        // Fallback: a text that is not a URL is refused as one of no server is.
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        let message = format!("{name} is not the URL of a server, which begins with https:// or http://");
        return Err(Error::config(message));
    };
    if url.scheme() == "http" && !is_set(allow_http) {
        let message = format!(
            "{name} is an http:// URL, whose requests are not encrypted: set {}=true to permit that",
            allow_http.to_ascii_uppercase()
        );
        return Err(Error::config(message).at("endpoint", value));
    }
    Ok(())
}

/// Names the variables whose value a store could not understand; `None` where it was refused for something else. The libraries
/// quote the value alone.
pub(super) fn named(
    scheme: &ObjectStoreScheme,
    variables: &BTreeMap<String, String>,
    why: &object_store::Error,
) -> Option<Error> {
    let prefix = match scheme {
        ObjectStoreScheme::AmazonS3 => "aws_",
        ObjectStoreScheme::GoogleCloudStorage => "google_",
        ObjectStoreScheme::MicrosoftAzure => "azure_",
        _ => return None,
    };
    let text = why.to_string();
    let is_quoted = |value: &str| text.contains(&format!("\"{value}\""));
    let names: Vec<String> = variables
        .iter()
        .filter(|(key, value)| key.starts_with(prefix) && is_quoted(value))
        .map(|(key, _)| key.to_ascii_uppercase())
        .collect();
    (!names.is_empty()).then(|| Error::config(format!("{} cannot be understood", names.join(" or "))))
}
