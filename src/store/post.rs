//! A JSON document posted to a server, by the HTTP client of object stores.

use std::time::Duration;

use crate::error::{Error, Result};

/// A request.
#[derive(Clone, Copy)]
pub struct Post<'a> {
    /// Where to.
    pub url: &'a str,
    /// Key of the server.
    pub bearer: Option<&'a str>,
    /// The document.
    pub json: &'a str,
    /// Longest time for all of it.
    pub timeout: Duration,
}

/// Posts a document, once.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the server is not reached in time or refuses it, and in builds without the feature
/// `cloud`, which have no HTTP client; [`crate::error::Kind::Config`] for a URL that cannot be understood.
#[cfg(feature = "cloud")]
pub fn post(request: &Post<'_>) -> Result<()> {
    use object_store::ClientOptions;
    use url::Url;

    use super::http_client::{MetadataPolicy, client};
    use crate::runtime::requests;

    let Post {
        url,
        bearer,
        json,
        timeout,
    } = *request;
    let to = Url::parse(url).map_err(|why| {
        Error::config("the URL cannot be understood")
            .because(why)
            .at("url", url)
    })?;
    // Fallback: an address without a host fails when it is connected to.
    if let Some(refusal) = MetadataPolicy::Refuse.refusal(to.host_str().unwrap_or_default()) {
        return Err(Error::io(refusal.to_string()));
    }
    let options = ClientOptions::new()
        .with_allow_http(true)
        .with_timeout(timeout)
        .with_connect_timeout(timeout);
    let client = client(&options, MetadataPolicy::Refuse)?;
    let runtime = requests::runtime("gridtally-post")?;
    let sent = async {
        let mut request = client
            .post(to)
            .header("Content-Type", "application/json")
            .body(json.to_owned());
        if let Some(key) = bearer {
            request = request.bearer_auth(key);
        }
        request.send().await?.error_for_status()
    };
    let answer = runtime.block_on(sent);
    // What is still looked up or read is left alone.
    runtime.shutdown_background();
    answer
        .map_err(|why| Error::io("the server did not take it").because(why))
        .map(drop)
}

/// As above; this build has no HTTP client.
#[cfg(not(feature = "cloud"))]
pub fn post(request: &Post<'_>) -> Result<()> {
    let message = "this build has no HTTP client (feature cloud): send to a file";
    Err(Error::io(message).at("url", request.url))
}
