//! Values of the pipeline file as text.

use toml_writer::{ToTomlValue as _, TomlStringBuilder};

/// A text as a value of one line, whatever characters it has.
pub(super) fn quoted(text: &str) -> String {
    TomlStringBuilder::new(text).as_basic().to_toml_value()
}
