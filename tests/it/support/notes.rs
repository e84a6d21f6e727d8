//! What a lake notes for itself, and what is the same in no two lakes.

/// The files of the machinery that stay between runs. The hashes of inputs are there once a file was old enough to be known
/// by its times.
const NOTES: [&str; 3] = ["input_hashes.json", "last_run.json", "lock"];

/// Whether a path of a lake is one of them.
pub(crate) fn is_note(path: &str) -> bool {
    path.strip_prefix(".gridtally/")
        .is_some_and(|name| NOTES.contains(&name))
}

/// Fails where the machinery of a lake, by its names, has other files.
pub(crate) fn assert_notes_alone(machinery: impl IntoIterator<Item = String>, what: &str) {
    let others: Vec<String> = machinery
        .into_iter()
        .filter(|name| !NOTES.contains(&name.as_str()))
        .collect();
    assert_eq!(others, [] as [String; 0], "{what}");
}
