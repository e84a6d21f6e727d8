//! Finding input files in object stores.

use std::sync::Arc;

use object_store::{ObjectMeta, ObjectStore, ObjectStoreScheme};
use url::Url;

use super::file_stamp::FileStamp;
use super::input::{InputFile, Location, is_skipped};
use super::remote;
use crate::display_text::{cut_off_of, secret_of};
use crate::error::{Error, Kind, Result};
use crate::store::connect::ConnectError;

/// Whether a URL is of a store or a web server at all, whatever is wrong with reaching it.
fn names_a_store(url: &Url) -> bool {
    let is_placed = url.scheme() == "file" || url.host_str().is_some_and(|host| !host.is_empty());
    is_placed && ObjectStoreScheme::parse(url).is_ok()
}

/// The objects a URL means: the one of that name, or those below it, or those that match its pattern.
pub(super) fn find(pattern: &str) -> Result<Vec<InputFile>> {
    if let Some(why) = secret_of(pattern) {
        return Err(Error::config(why).at("input", pattern));
    }
    if let Some(why) = cut_off_of(pattern, "an input") {
        return Err(Error::config(format!("{pattern}: {why}")));
    }
    let (prefix, wild) = split(pattern);
    let url = Url::parse(prefix).map_err(|why| Error::config(format!("{pattern} is not a URL")).because(why))?;
    let (store, path) = remote::connect(&url).map_err(|why| match why {
        ConnectError::Variable(why) => why.at("input", pattern),
        ConnectError::Store(why) if names_a_store(&url) => Error::from(why).at("input", pattern),
        ConnectError::Store(why) => {
            let message = "this is not the location of an input";
            Error::config(message).at("input", pattern).because(why)
        }
    })?;
    // The root of a bucket is a folder, though a request for it is answered, with a listing.
    let is_bucket = path.is_root() && !matches!(ObjectStoreScheme::parse(&url), Ok((ObjectStoreScheme::Http, _)));
    let root = without_password(url);
    let below = Below {
        store: &store,
        prefix: &path,
        url: root.trim_end_matches('/'),
    };
    if let Some(wild) = wild {
        let wanted = glob::Pattern::new(wild)
            .map_err(|why| Error::config(format!("\"{pattern}\" is not a pattern")).because(why))?;
        return below.list(Some(&wanted)).map_err(|why| why.at("input", pattern));
    }
    let is_web = is_web(below.url);
    if !prefix.ends_with('/') && !is_bucket {
        let head = if is_web { remote::head_of_web } else { remote::head };
        if let Some(meta) = head(&store, &path).map_err(|why| why.at("input", pattern))? {
            return Ok(vec![below.file(meta)]);
        }
    }
    if is_web && !prefix.ends_with('/') {
        // It may still be a folder of a server that lists its folders; most web servers do not.
        // Fallback: a web server that lists no folder has nothing there, as for a file that is not found.
        return Ok(below.list(None).unwrap_or_default());
    }
    below.list(None).map_err(|why| why.at("input", pattern))
}

/// A URL up to its last folder without wildcards, and the rest.
fn split(pattern: &str) -> (&str, Option<&str>) {
    let Some(wild) = pattern.find(['*', '[']) else {
        return (pattern, None);
    };
    let cut = pattern
        .get(..wild)
        .and_then(|head| head.rfind('/'))
        .map_or(0, |slash| slash + 1);
    let (prefix, rest) = pattern.split_at_checked(cut).unwrap_or((pattern, ""));
    (prefix, Some(rest))
}

fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

fn without_password(mut url: Url) -> String {
    // A URL that cannot have a password has none to show.
    let _ = url.set_password(None);
    url.into()
}

struct Below<'a> {
    store: &'a Arc<dyn ObjectStore>,
    prefix: &'a object_store::path::Path,
    /// The URL of the prefix.
    url: &'a str,
}

impl Below<'_> {
    /// The part of an object's path below the prefix.
    fn rest<'o>(&self, meta: &'o ObjectMeta) -> &'o str {
        let whole = meta.location.as_ref();
        whole
            .strip_prefix(self.prefix.as_ref())
            .unwrap_or(whole)
            .trim_start_matches('/')
    }

    fn file(&self, meta: ObjectMeta) -> InputFile {
        let rest = self.rest(&meta);
        let path = if rest.is_empty() {
            self.url.to_owned()
        } else {
            format!("{}/{rest}", self.url)
        };
        // Web servers make tags of size and time of modification, which can be set.
        let stamp = FileStamp::of_object(meta.size, meta.e_tag.as_deref()).filter(|_| !is_web(self.url));
        InputFile {
            path,
            stamp,
            bytes: meta.size,
            location: Location::Remote {
                store: Arc::clone(self.store),
                path: meta.location,
            },
        }
    }

    fn list(&self, wanted: Option<&glob::Pattern>) -> Result<Vec<InputFile>> {
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let listed = remote::list(self.store, self.prefix).map_err(|why| match why.kind() {
            Kind::Io if is_web(self.url) => {
                let message = "the web server does not list its files (WebDAV); name each of them";
                Error::io(message).at("listing", self.url).because(why)
            }
            Kind::Io => why.at("listing", self.url),
            _ => why,
        })?;
        let is_wanted = |meta: &ObjectMeta| {
            let rest = self.rest(meta);
            // What has the name of the folder itself is its marker.
            let sound = !rest.is_empty() && !rest.split('/').any(is_skipped);
            sound && wanted.is_none_or(|pattern| matches_or_lies_below(pattern, rest, options))
        };
        let mut objects: Vec<ObjectMeta> = listed.into_iter().filter(is_wanted).collect();
        if !is_web(self.url) {
            objects = remote::without_markers(self.store, objects).map_err(|why| why.at("listing", self.url))?;
        }
        Ok(objects.into_iter().map(|meta| self.file(meta)).collect())
    }
}

/// As on a local disk, a pattern that matches a folder means everything in it.
fn matches_or_lies_below(pattern: &glob::Pattern, rest: &str, options: glob::MatchOptions) -> bool {
    let folders = rest.match_indices('/').filter_map(|(at, _)| rest.get(..at));
    folders.chain([rest]).any(|path| pattern.matches_with(path, options))
}
