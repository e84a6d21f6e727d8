//! The pages of a book: each carries its path, its number, and the hash of the page before it.

use super::finding::Finding;
use super::location::Store;
use super::seal::{PAGE_KEY, PAGE_N_KEY, PREVIOUS_KEY, PUT_BACK, Seal, SealHead};
use super::table_reader::describe;
use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;

/// A page of a book.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page {
    /// Its number, from 1.
    pub number: u64,
    /// Its path.
    pub path: String,
    /// BLAKE3 of its contents, hexadecimal.
    pub blake3: String,
    /// BLAKE3 of the page before it, as recorded in it.
    previous: String,
}

/// A book as it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Its pages, in order.
    pub pages: Vec<Page>,
    /// What is not as it was written.
    pub findings: Vec<Finding>,
}

impl Chain {
    /// Looks at every page of a book that ends at `head`.
    ///
    /// # Errors
    /// `Io` when the lake cannot be read.
    pub fn examine(store: &Store, book: &str, head: &SealHead) -> Result<Self> {
        let mut chain = Self::default();
        for file in store.list(book)? {
            match page(store, &file.path)? {
                Ok(page) => chain.pages.push(page),
                Err(problem) => chain.find(&file.path, problem),
            }
        }
        chain.pages.sort();
        chain.link(book, head);
        Ok(chain)
    }

    /// Holds each page against the one behind it, and the last against the end of the chain.
    fn link(&mut self, book: &str, head: &SealHead) {
        let pages = std::mem::take(&mut self.pages);
        let mut next = 1;
        let mut last: Option<&Page> = None;
        for page in &pages {
            if page.number < next {
                self.find(&page.path, format!("page {} of the book is there twice", page.number));
                continue;
            }
            if page.number > head.page_n {
                let problem = format!("page {} of a book that ends with page {}", page.number, head.page_n);
                self.find(&page.path, problem);
                continue;
            }
            self.miss(book, next..page.number);
            let before = last.filter(|last| last.number + 1 == page.number);
            if let Some(before) = before.filter(|before| before.blake3 != page.previous) {
                self.find(
                    &before.path,
                    "its contents are not those that the next page was written after",
                );
            }
            if page.number == 1 && !page.previous.is_empty() {
                self.find(&page.path, "the first page names one before it");
            }
            next = page.number + 1;
            last = Some(page);
        }
        self.miss(book, next..head.page_n.further(1));
        if let Some(last) = last.filter(|last| last.number == head.page_n && last.blake3 != head.blake3) {
            self.find(
                &last.path,
                "its contents are not those the seal names as the end of the book",
            );
        }
        self.pages = pages;
    }

    fn miss(&mut self, book: &str, numbers: std::ops::Range<u64>) {
        if numbers.is_empty() {
            return;
        }
        let (first, last) = (numbers.start, numbers.end - 1);
        let problem = if first == last {
            format!("page {first} of the book is gone")
        } else {
            format!("pages {first} to {last} of the book are gone")
        };
        self.find(book, problem);
    }

    fn find(&mut self, path: &str, problem: impl Into<String>) {
        self.findings.push(Finding::new(path, problem));
    }
}

impl Store {
    /// The paths of the pages of a book, in order.
    ///
    /// # Errors
    /// `Data` when a page was altered, taken away or put there by somebody else.
    pub fn pages(&self, book: &str) -> Result<Vec<String>> {
        let seal = match Seal::load(self)? {
            Some(seal) => seal,
            None => Seal::held(self)?,
        };
        let chain = Chain::examine(self, book, &seal.head(book))?;
        match chain.findings.first() {
            None => Ok(chain.pages.into_iter().map(|page| page.path).collect()),
            Some(finding) => {
                let message = format!(
                    "{book} is not the book that was written: {}; {PUT_BACK}",
                    finding.problem
                );
                Err(Error::new(Kind::Data, message)
                    .at("path", &finding.path)
                    .at("lake", self.url()))
            }
        }
    }
}

/// The page at a path, or why the object is not a page.
fn page(store: &Store, path: &str) -> Result<Result<Page, String>> {
    let blake3 = store.reader(path)?.blake3()?;
    let footer = match describe(&store.reader(path)?) {
        Ok((footer, _)) => footer,
        Err(why) => return Ok(Err(format!("not readable as Parquet: {why}"))),
    };
    let of = |wanted: &str| {
        let found = footer.iter().find(|(key, _)| key == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let (Some(written), Some(number), Some(previous)) = (of(PAGE_KEY), of(PAGE_N_KEY), of(PREVIOUS_KEY)) else {
        return Ok(Err(
            "no page of the book: it does not name the page before it".to_owned()
        ));
    };
    let Some(number) = number.parse().ok().filter(|number| *number > 0) else {
        return Ok(Err(format!("no page of the book: its number is {number:?}")));
    };
    if written != path {
        return Ok(Err(format!("it was written as {written}")));
    }
    Ok(Ok(Page {
        number,
        path: path.to_owned(),
        blake3,
        previous: previous.to_owned(),
    }))
}
