//! Folders of dumps of one kind, which a pipeline file names in place of their files.

use std::collections::BTreeMap;

/// Whether a path is in a folder, at any depth.
pub(super) fn is_in(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.starts_with('/'))
}

/// The outermost folders of an input all of whose files are of one source, with the source. A file that was named itself
/// is in no folder.
pub(super) fn whole_folders<'a>(input: &'a str, owners: &BTreeMap<&'a str, Option<usize>>) -> Vec<(&'a str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for path in owners.keys().filter(|path| is_in(path, input)) {
        if found.iter().any(|(folder, _)| is_in(path, folder)) {
            continue;
        }
        let root = input.trim_end_matches('/');
        let below = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > root.len());
        let mut folders = std::iter::once(input).chain(below.filter_map(|at| path.get(..at)));
        let whole = folders.find_map(|folder| {
            let mut inner = owners
                .iter()
                .filter(|(path, _)| is_in(path, folder))
                .map(|(_, place)| *place);
            let place = inner.next().flatten()?;
            inner.all(|other| other == Some(place)).then_some((folder, place))
        });
        found.extend(whole);
    }
    found
}
