//! The path under which a published file is kept.

use crate::store::machinery::KEPT;

/// Where the content of a file is kept that was published at `path`.
pub(crate) fn kept_path(path: &str, blake3: &str) -> String {
    let (folder, name) = path
        .rsplit_once('/')
        .map_or((String::new(), path), |(folder, name)| (format!("{folder}/"), name));
    let extension = name
        .rsplit_once('.')
        .map_or_else(String::new, |(_, extension)| format!(".{extension}"));
    format!("{KEPT}/{folder}{blake3}{extension}")
}
