//! How many contents were found under each path.

use ahash::AHashMap;

use super::book::Book;

/// A path of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourcePath<'a> {
    /// The source.
    pub source: &'a str,
    /// The path, as the pipeline names it.
    pub path: &'a str,
}

/// The last content of paths, counted from 1.
#[derive(Clone, Debug, Default)]
pub struct PathContents<'a> {
    places: AHashMap<SourcePath<'a>, usize>,
    /// By place.
    last_n: Vec<u32>,
}

impl<'a> PathContents<'a> {
    /// Of `paths`: the last content that any of the books knows.
    pub fn of(paths: impl IntoIterator<Item = SourcePath<'a>>, books: &[&Book]) -> Self {
        let mut contents = Self::default();
        for path in paths {
            contents.note(path, 0);
        }
        for (of, content_n) in books.iter().flat_map(|book| all(book)) {
            let place = contents.places.get(&of).copied();
            if let Some(last_n) = place.and_then(|place| contents.last_n.get_mut(place)) {
                *last_n = content_n.max(*last_n);
            }
        }
        contents
    }

    /// Of the paths of a book that had more than one content.
    #[must_use]
    pub fn replaced(book: &'a Book) -> Self {
        let mut contents = Self::default();
        for (of, content_n) in all(book).filter(|(_, content_n)| *content_n > 1) {
            contents.note(of, content_n);
        }
        contents
    }

    /// Notes that a path has had so many contents.
    pub fn note(&mut self, of: SourcePath<'a>, content_n: u32) {
        let place = *self.places.entry(of).or_insert(self.last_n.len());
        match self.last_n.get_mut(place) {
            Some(last_n) => *last_n = content_n.max(*last_n),
            None => self.last_n.push(content_n),
        }
    }

    /// The last content of a path; `None` where none is known.
    #[must_use]
    pub fn last(&self, of: SourcePath<'_>) -> Option<u32> {
        let place = *self.places.get(&of)?;
        self.last_n.get(place).copied().filter(|last_n| *last_n > 0)
    }

    /// Which content of its path a file is that was not there before.
    #[must_use]
    pub fn next(&self, of: SourcePath<'_>) -> u32 {
        self.last(of).map_or(1, |last_n| last_n + 1)
    }
}

/// All paths of a book, with which of its contents each file is.
fn all(book: &Book) -> impl Iterator<Item = (SourcePath<'_>, u32)> {
    book.inputs().values().flat_map(|input| {
        let source = input.source.as_str();
        let of = move |path| SourcePath { source, path };
        input.paths.iter().map(move |file| (of(&*file.path), file.content_n))
    })
}
