//! Where the files of a source are.

/// Whether a path of the pipeline file is a URL.
pub(crate) fn is_url(path: &str) -> bool {
    path.split_once("://")
        .is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Where a pipeline file names a source and its paths, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The pipeline file as people named it.
    pub file: String,
    /// Line of the source.
    pub line: usize,
    /// Line of each path.
    pub path_lines: Vec<usize>,
}

impl Written {
    /// `file:line: ` of the path with this place in the list; nothing where no file names it.
    #[must_use]
    pub fn of_path(&self, nth: usize) -> String {
        if self.file.is_empty() {
            return String::new();
        }
        let line = self.path_lines.get(nth).unwrap_or(&self.line);
        format!("{}:{line}: ", self.file)
    }
}

/// Where the files of one source are looked for.
#[derive(Clone, Copy, Debug)]
pub struct SearchPaths<'a> {
    /// Name of the source, for messages.
    pub source: &'a str,
    /// Paths, globs, directories and URLs, made absolute against the pipeline file.
    pub paths: &'a [String],
    /// Where the pipeline file names them.
    pub written: &'a Written,
}
