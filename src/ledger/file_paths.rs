//! The paths of one input file. A lake knows very many files with one path each, so these take little memory.

use std::sync::Arc;

/// The paths under which the bytes of one file were found, sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePaths(Vec<Arc<str>>);

impl FilePaths {
    /// The first of them: the one the rows of the file are accounted to.
    #[must_use]
    pub fn first(&self) -> Option<&Arc<str>> {
        self.0.first()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<str>> {
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
        self.place(path).is_ok()
    }

    /// Adds a path; false if it is one of them already.
    pub fn insert(&mut self, path: &str) -> bool {
        match self.place(path) {
            Ok(_) => false,
            Err(at) => {
                self.0.reserve_exact(1);
                self.0.insert(at, Arc::from(path));
                true
            }
        }
    }

    /// Where a path is, or would have to be inserted.
    fn place(&self, path: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|known| (**known).cmp(path))
    }
}

impl<'a> IntoIterator for &'a FilePaths {
    type Item = &'a Arc<str>;
    type IntoIter = std::slice::Iter<'a, Arc<str>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> FromIterator<&'a str> for FilePaths {
    fn from_iter<I: IntoIterator<Item = &'a str>>(paths: I) -> Self {
        let mut all = Self::default();
        for path in paths {
            all.insert(path);
        }
        all
    }
}
