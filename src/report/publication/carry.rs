//! The books of a rebuilt lake: those of the former lake, page by page.

use crate::error::{Error, Kind, Result};
use crate::store::machinery::PUBLICATION_BOOKS;
use crate::store::{BookLock, Heads, Seal, Sending, Store};

/// Puts the books of publications of another lake into one that has none; gives where they end.
///
/// # Errors
/// [`Kind::Usage`] when the lake has such a book; [`Kind::Data`] when a book of the other is not what was written;
/// [`Kind::Io`] when one of them cannot be read or written.
pub fn carry(from: &Store, book: &BookLock) -> Result<Heads> {
    let store = book.lock().store();
    let seal = Seal::held(store)?;
    if let Some(own) = PUBLICATION_BOOKS.into_iter().find(|name| seal.head(name).page_n > 0) {
        let message =
            format!("the lake has a {own} of its own, and two books do not become one: carry into a new lake");
        return Err(Error::new(Kind::Usage, message).at("lake", store.url()));
    }
    Seal::held(from)?;
    let sending = Sending::begin(book, &mut [])?;
    for name in PUBLICATION_BOOKS {
        for path in from.pages(name)? {
            let page = from.get(&path)?.ok_or_else(|| {
                let message = "a page of a book is gone since it was listed: try again";
                Error::new(Kind::Io, message).at("path", &path)
            })?;
            sending.enter(&path, page)?;
        }
    }
    sending.commit(Vec::new())
}
