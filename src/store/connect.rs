//! Object stores by URL, set up by the environment variables their own tools use.

use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

/// How the variables that set up an object store begin. Others are not offered: some of the keys also have short names
/// (`endpoint`, `token`, `timeout`) anyone could have exported.
const VARIABLES: &[&str] = &["aws_", "azure_", "google_"];

/// The store a URL names, and the path in it. What each variable means is for the store to say; it leaves out what it
/// does not know.
pub(crate) fn connect(url: &Url) -> object_store::Result<(Box<dyn ObjectStore>, Path)> {
    object_store::parse_url_opts(url, options(url, std::env::vars_os()))
}

fn options(
    url: &Url,
    variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> impl Iterator<Item = (String, String)> {
    let is_plain = url.scheme() == "http";
    let is_web = is_plain || url.scheme() == "https";
    // A server without ranges sends a whole file in one answer, which may take as long as it takes if it goes on.
    let of_web = [
        ("allow_http", "true", is_plain),
        ("timeout", "1day", is_web),
        ("read_timeout", "1min", is_web),
    ];
    let of_web = of_web.into_iter().filter(|(_, _, holds)| *holds);
    variables
        .filter_map(|(key, value)| Some((key.into_string().ok()?.to_ascii_lowercase(), value.into_string().ok()?)))
        .filter(|(key, _)| VARIABLES.iter().any(|prefix| key.starts_with(prefix)))
        .chain(of_web.map(|(key, value, _)| (key.to_owned(), value.to_owned())))
}
