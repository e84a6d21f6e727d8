//! The paths of one input file. A lake knows very many files with one path each, so these take little memory.

use std::sync::Arc;

/// A path of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath {
    /// As the pipeline names it.
    pub path: Arc<str>,
    /// Which content of the path the file is, in the order in which they were found: 1 for the first.
    pub content_n: u32,
}

/// The paths under which the bytes of one file were found, sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePaths(Vec<FilePath>);

impl FilePaths {
    /// The first of them: the one the rows of the file are accounted to.
    #[must_use]
    pub fn first(&self) -> Option<&Arc<str>> {
        self.0.first().map(|of| &of.path)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, FilePath> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this path is one of them.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.content_n(path).is_some()
    }

    /// Which content of a path the file is; `None` where it was not found there.
    #[must_use]
    pub fn content_n(&self, path: &str) -> Option<u32> {
        match self.place(path) {
            Ok(at) => self.0.get(at).map(|of| of.content_n),
            Err(_) => None,
        }
    }

    /// Adds a path. Of one that is there already the later content counts: the file was found again where another one was in
    /// between.
    pub fn insert(&mut self, path: &str, content_n: u32) {
        match self.place(path) {
            Ok(at) => {
                if let Some(of) = self.0.get_mut(at) {
                    of.content_n = of.content_n.max(content_n);
                }
            }
            Err(at) => {
                let path = Arc::from(path);
                self.0.reserve_exact(1);
                self.0.insert(at, FilePath { path, content_n });
            }
        }
    }

    /// Where a path is, or would have to be inserted.
    fn place(&self, path: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|known| (*known.path).cmp(path))
    }
}

impl<'a> IntoIterator for &'a FilePaths {
    type Item = &'a FilePath;
    type IntoIter = std::slice::Iter<'a, FilePath>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
