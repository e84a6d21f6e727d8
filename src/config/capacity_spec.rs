//! `[capacity]` of the pipeline file.

use super::compiler::Compiler;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::reference::node_type::NodeTypeTable;

/// Reads the table: its path.
pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<At<String>> {
    let section = top.section("capacity", "[capacity]", &["node_types"], problems)?;
    section.required_text("node_types", "the table of node types", problems)
}

impl Compiler {
    /// The table of node types that `[capacity]` names.
    pub(crate) fn node_types(&mut self, path: &At<String>) -> Option<NodeTypeTable> {
        let place = self.relative_path(path, "a table of node types")?;
        let label = self.table_label(&path.value);
        Some(NodeTypeTable::load(place.as_ref(), &label, &mut self.problems))
    }
}
