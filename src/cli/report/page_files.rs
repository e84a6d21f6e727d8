//! A page in a folder or at a URL, with the CSV files next to it.

use bytes::Bytes;

use crate::error::Result;
use crate::report::render::{TableFormat, render};
use crate::report::table::Table;
use crate::store::Store;

/// One file next to a page: its name, and its rows where the page has any.
pub(crate) struct PageFile {
    /// Name.
    pub(crate) name: &'static str,
    /// Rows; `None` deletes the file of an earlier page.
    pub(crate) table: Option<Table>,
}

/// Writes `index.html` and the files; returns the names of what was written.
pub(crate) fn write_page(url: &str, html: String, files: &[PageFile]) -> Result<Vec<&'static str>> {
    let out = Store::open(url)?;
    out.put("index.html", Bytes::from(html))?;
    let mut written = vec!["index.html"];
    for PageFile { name, table } in files {
        if let Some(table) = table {
            out.put(name, Bytes::from(render(table, TableFormat::Csv)?))?;
            written.push(name);
        } else if out.exists(name)? {
            out.delete(name)?;
        }
    }
    out.leave_no_machinery()?;
    Ok(written)
}
