//! Object stores by URL, set up by the environment variables their own tools use.

use std::collections::BTreeMap;

use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

use crate::error::Error;

/// How the variables that set up an object store begin. Others are not offered: some of the keys also have short names
/// (`endpoint`, `token`, `timeout`) anyone could have exported.
const VARIABLES: &[&str] = &["aws_", "azure_", "google_"];

/// Why a store cannot be set up.
pub(crate) enum ConnectError {
    /// A variable is wrong, which the error names.
    #[cfg_attr(not(feature = "cloud"), expect(dead_code, reason = "no server is asked"))]
    Variable(Error),
    /// The URL is of no store, or something else is missing.
    Store(object_store::Error),
}

impl From<object_store::Error> for ConnectError {
    fn from(why: object_store::Error) -> Self {
        Self::Store(why)
    }
}

/// The store a URL names, and the path in it. The store interprets each variable; it ignores those it
/// does not know.
pub(crate) fn connect(url: &Url) -> Result<(Box<dyn ObjectStore>, Path), ConnectError> {
    build(url, options(url, std::env::vars_os()).collect())
}

/// As the crate does it, with patience and a wire of our own.
#[cfg(feature = "cloud")]
fn build(url: &Url, options: BTreeMap<String, String>) -> Result<(Box<dyn ObjectStore>, Path), ConnectError> {
    use object_store::aws::AmazonS3Builder;
    use object_store::azure::MicrosoftAzureBuilder;
    use object_store::gcp::GoogleCloudStorageBuilder;
    use object_store::http::HttpBuilder;
    use object_store::{BackoffConfig, ObjectStoreScheme, RetryConfig};

    use super::outage::PATIENCE;
    use super::settings;
    use super::wire::Wire;

    // Time decides how long is waited, not a number of attempts.
    let retry = RetryConfig {
        backoff: BackoffConfig {
            max_backoff: std::time::Duration::from_secs(2),
            ..BackoffConfig::default()
        },
        max_retries: usize::MAX,
        retry_timeout: PATIENCE,
    };
    let (scheme, path) = ObjectStoreScheme::parse(url).map_err(object_store::Error::from)?;
    settings::check_endpoint(&scheme, &options).map_err(ConnectError::Variable)?;
    macro_rules! store {
        ($builder:ty, $url:expr) => {{
            let builder = <$builder>::new().with_url($url);
            let builder = options.iter().fold(builder, |builder, (key, value)| match key.parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            });
            let built = builder.with_retry(retry).with_http_connector(Wire::new()).build();
            Box::new(built.map_err(|why| match settings::named(&scheme, &options, &why) {
                Some(named) => ConnectError::Variable(named.because(why)),
                None => ConnectError::Store(why),
            })?)
        }};
    }
    let whole = url.as_str();
    let store: Box<dyn ObjectStore> = match scheme {
        ObjectStoreScheme::AmazonS3 => store!(AmazonS3Builder, whole),
        ObjectStoreScheme::GoogleCloudStorage => store!(GoogleCloudStorageBuilder, whole),
        ObjectStoreScheme::MicrosoftAzure => store!(MicrosoftAzureBuilder, whole),
        ObjectStoreScheme::Http => store!(HttpBuilder, &url[..url::Position::BeforePath]),
        _ => return Ok(object_store::parse_url_opts(url, options)?),
    };
    Ok((store, path))
}

#[cfg(not(feature = "cloud"))]
fn build(url: &Url, options: BTreeMap<String, String>) -> Result<(Box<dyn ObjectStore>, Path), ConnectError> {
    Ok(object_store::parse_url_opts(url, options)?)
}

fn options(
    url: &Url,
    variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> impl Iterator<Item = (String, String)> {
    let is_plain = url.scheme() == "http";
    let is_web = is_plain || url.scheme() == "https";
    // A server without ranges sends a whole file in one answer, which has no time limit while bytes arrive.
    let of_web = [
        ("allow_http", "true", is_plain),
        ("timeout", "1day", is_web),
        ("read_timeout", "1min", is_web),
    ];
    let of_web = of_web.into_iter().filter(|(_, _, holds)| *holds);
    variables
        // Fallback: variables of other programs may be no text, those of stores are.
        .filter_map(|(key, value)| Some((key.into_string().ok()?.to_ascii_lowercase(), value.into_string().ok()?)))
        .filter(|(key, _)| VARIABLES.iter().any(|prefix| key.starts_with(prefix)))
        .chain(of_web.map(|(key, value, _)| (key.to_owned(), value.to_owned())))
}
